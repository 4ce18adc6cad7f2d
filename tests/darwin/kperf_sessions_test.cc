#include "darwin/session.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

// Whole sessions at random. scripts/bench kperf plays more of them.

namespace lauka::darwin {
namespace {

/// Returns a variable of the environment, or `otherwise`.
std::uint64_t asked(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

TEST_CASE("in random sessions every value is exact or absent, and nothing is left taken") {
  const std::uint64_t first = asked("LAUKA_KPERF_SEED", 1);
  const std::uint64_t count = asked("LAUKA_KPERF_SESSIONS", 300);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Session session = session_of(seed);
    const std::string faults = faults_in_child(session);
    if (!faults.empty()) FAIL_CHECK("seed ", seed, " (", session.reported, "): ", faults);
  }
}

}  // namespace lauka::darwin
