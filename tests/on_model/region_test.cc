#include "on_model/on_model.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

// --region on the model: the header's own code for macOS, called by the model's programs.

namespace lauka::darwin {
namespace {

/// 2 ms in two entries, by the main thread on a performance core.
constexpr const char* kTwice =
    "run 3ms\nrepeat 2 {\nregion begin\nrun 1ms\nregion end\nrun 4ms\n}\nrun 1ms";
constexpr double kCycles = 2e6 * 3.5;
constexpr double kInstructions = 2e6 * 11.2;

Told region(const Mac& mac, const std::string& script, std::vector<std::string> options = {}) {
  std::vector<std::string> words = {"--region", "-r3", "-w0", "-N", "--export-runs",
                                    mac.folder.file("runs.csv")};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(mac.folder.program("work", script));
  return mac.lauka(words);
}

/// The values of a column, of the runs that have one.
std::vector<double> values(const Mac& mac, const std::string& name) {
  return column(mac.text_of("runs.csv"), name);
}

void check_each(const std::vector<double>& all, std::size_t count, double expected) {
  CHECK(all.size() == count);
  for (const double value : all) CHECK(value == doctest::Approx(expected).epsilon(1e-4));
}

}  // namespace

TEST_CASE("region: its time, and cycles and instructions of the thread that calls, root or not") {
  for (const bool root : {true, false}) {
    CAPTURE(root);
    const Mac mac = mac_with({{"root", root}});
    const Told told = region(mac, kTwice);
    CHECK_MESSAGE(told.status == 0, told.err);
    CHECK(told.held().empty());
    CHECK(told.says("\nregion_time "));
    CHECK(told.says("instructions (region) (calling threads)"));
    CHECK(told.says("lauka_region_begin and lauka_region_end: what other threads and children"));
    CHECK_FALSE(told.says("\nwall_time "));
    check_each(values(mac, "region_time"), 3, 2e-3);
    check_each(values(mac, "region_entries"), 3, 2);
    check_each(values(mac, "cycles"), 3, kCycles);
    check_each(values(mac, "instructions"), 3, kInstructions);
  }
}

}  // namespace lauka::darwin
