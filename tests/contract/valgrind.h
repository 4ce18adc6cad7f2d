#pragma once

#include "contract/program.h"
#include "places.h"
#include "skip.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

// Sessions with the real Valgrind, if installed.

namespace lauka::contract {

/// Returns whether Valgrind is installed; if not, the test counts as skipped.
inline bool has_valgrind() {
  if (std::system("command -v valgrind >/dev/null 2>&1") == 0) return true;  // NOLINT
  skip("valgrind is not installed (scripts/setup --ci brings it)");
  return false;
}

/// Returns a metric from what csv_of() returns.
inline long long counted(const std::string& csv, const std::string& metric) {
  return std::stoll(csv_value(csv, "it", metric, "mean"));
}

/// Returns the CSV of a session with one run of `command` in a nearly empty environment.
inline std::string csv_of(const std::string& command, const std::string& engine = "cachegrind") {
  const Folder folder;
  const std::string target = folder.file("out.csv");
  const std::string line = std::string("env -i PATH=\"$PATH\" ") + places::kProgram +
                           " -qr1 -w0 -n it --engine " + engine + " --export-csv " + target +
                           " -- '" + command + "'";
  REQUIRE(std::system(line.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  return text_of(target);
}

}  // namespace lauka::contract
