#define DOCTEST_CONFIG_IMPLEMENT
#include "skip.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

namespace lauka {
namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in CMakeLists.txt
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): asked when all is over
bool any_skipped = false;

/// Returns ctest's file for skipped tests, a line for each; null: run by hand.
const char* list_of_skips() {
  return std::getenv("LAUKA_SKIPS");  // NOLINT(concurrency-mt-unsafe): one thread
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void skip(const std::string& why) {
  const char* name = doctest::getContextOptions()->currentTest->m_name;
  MESSAGE("skipped: " << why);
  any_skipped = true;
  if (const char* list = list_of_skips(); list != nullptr)
    std::ofstream(list, std::ios::app) << name << ": " << on_one_line(why) << '\n';
}

}  // namespace lauka

int main(int argc, char** argv) {
  const char* list = lauka::list_of_skips();
  if (list != nullptr) std::ofstream(list).flush();  // empty: what an earlier run skipped is past
  doctest::Context context(argc, argv);
  const int status = context.run();
  // A skip never hides a failure.
  return status == 0 && list != nullptr && lauka::any_skipped ? lauka::kSkipped : status;
}
