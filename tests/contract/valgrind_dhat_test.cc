#include "contract/program.h"
#include "contract/valgrind.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// --engine dhat with the real Valgrind, if installed.

namespace lauka::contract {

TEST_CASE("DHAT's counts are exactly what valgrind by itself prints") {
  if (!has_valgrind()) return;
  const Folder folder;
  const std::string log = folder.file("log");
  const std::string command = "sh -c \"ls / && exec ls /\"";
  const std::string line =
      "env -i PATH=\"$PATH\" valgrind --tool=dhat --trace-children=yes --log-file=" + log +
      ".%p --dhat-out-file=/dev/null " + command + " >/dev/null";
  REQUIRE(std::system(line.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  std::vector<long long> sums = {0, 0, 0,
                                 0};  // bytes, blocks, bytes and blocks of the largest peak
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    for (const std::string& written : lines_of(text_of(file.path().string()))) {
      std::string digits;
      for (const char c : written.substr(written.find(':') + 1))
        if (c != ',') digits += c;
      std::istringstream numbers(digits);
      std::string word;
      long long bytes = 0;
      long long blocks = 0;
      numbers >> bytes >> word >> word >> blocks;
      if (written.find("Total: ") != std::string::npos) {
        sums[0] += bytes;
        sums[1] += blocks;
      } else if (written.find("At t-gmax: ") != std::string::npos && bytes > sums[2]) {
        sums[2] = bytes;
        sums[3] = blocks;
      }
    }
  }
  REQUIRE(sums[1] > 0);
  const std::string csv = csv_of(command, "cachegrind,dhat");
  CHECK(counted(csv, "allocated_bytes") == sums[0]);
  CHECK(counted(csv, "allocations") == sums[1]);
  CHECK(counted(csv, "peak_heap") == sums[2]);
  CHECK(counted(csv, "peak_heap_blocks") == sums[3]);
  CHECK(counted(csv, "instructions") > 0);
}

TEST_CASE("a program whose allocations are not seen has no value, and its gate is inconclusive") {
  if (!has_valgrind()) return;
  const Said said = lauka("-r1 -w0 --engine dhat --fail-if 'allocations > 1'", {"true", "true"});
  CHECK(said.status == 0);
  CHECK(said.out_has("allocations > 1%: inconclusive"));
  CHECK(said.err_has("DHAT"));
}

}  // namespace lauka::contract
