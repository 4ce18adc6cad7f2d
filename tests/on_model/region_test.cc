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

Reported region(const Mac& mac, const std::string& script, std::vector<std::string> options = {}) {
  std::vector<std::string> words = {"--region", "-r3",           "-w0",
                                    "-N",       "--export-runs", mac.folder.file("runs.csv")};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(mac.folder.program("work", script));
  return mac.lauka(words);
}

/// The values of a column, of the runs that have one.
std::vector<double> values(const Mac& mac, const std::string& name) {
  const std::string runs = mac.text_of("runs.csv");
  if (runs.find("," + name) == std::string::npos) return {};
  std::vector<double> all = column(runs, name);
  std::erase(all, -1.0);  // absent
  return all;
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
    const Reported reported = region(mac, kTwice);
    reported.check_ended(0);
    CHECK(reported.says("\nregion_time "));
    CHECK(reported.says("instructions (region) (calling threads)"));
    CHECK(reported.says("lauka_region_end"));
    CHECK_FALSE(reported.says("\nwall_time "));
    check_each(values(mac, "region_time"), 3, 2e-3);
    check_each(values(mac, "region_entries"), 3, 2);
    check_each(values(mac, "cycles"), 3, kCycles);
    check_each(values(mac, "instructions"), 3, kInstructions);
  }
}

TEST_CASE("region: what other threads and children do while it is open is not in its counts") {
  for (const char* meanwhile : {"threads 3 {\nrun 2ms\n}\njoin", "fork {\nrun 2ms\n}\nwait"}) {
    CAPTURE(meanwhile);
    const Mac mac;
    const Reported reported = region(
        mac, std::string("run 1ms\nregion begin\nrun 2ms\n") + meanwhile + "\nregion end\nrun 1ms");
    CHECK_MESSAGE(reported.status == 0, reported.err);
    for (const double cycles : values(mac, "cycles")) {
      CHECK(cycles >= kCycles);
      CHECK(cycles < kCycles * 1.1);  // to start them, and to wait for them
    }
    for (const double time : values(mac, "region_time")) CHECK(time > 3.9e-3);
  }
}

TEST_CASE("region: each thread that calls has its own counts, and nested calls count once") {
  const Mac mac;
  const Reported reported = region(mac,
                                   "run 1ms\nthreads 2 {\nregion begin\nrun 500us\nregion begin\n"
                                   "run 500us\nregion end\nregion end\nrun 2ms\n}\njoin\nrun 1ms");
  CHECK_MESSAGE(reported.status == 0, reported.err);
  check_each(values(mac, "cycles"), 3, kCycles);
  check_each(values(mac, "instructions"), 3, kInstructions);
  // The two are in it at once, but for the start of the second.
  for (const double time : values(mac, "region_time")) CHECK(time < 1.5e-3);
}

TEST_CASE("region: with --metrics all the whole run's rows are alongside it") {
  for (const bool root : {true, false}) {
    CAPTURE(root);
    const Mac mac = mac_with({{"root", root}});
    const Reported reported =
        region(mac, kTwice, {"--metrics", "all", "-e", "cycles,instructions"});
    reported.check_ended(0);
    CHECK(reported.says("\nwall_time "));
    check_each(values(mac, "region_time"), 3, 2e-3);
    // Both are counted in runs of their own, which take turns.
    check_each(values(mac, "instructions"), values(mac, "instructions").size(), kInstructions);
    const auto whole = values(mac, "cycles (whole run)");
    CHECK_FALSE(whole.empty());
    for (const double cycles : whole) CHECK(cycles == doctest::Approx(14e6 * 3.5).epsilon(0.01));
    CHECK(region(mac, kTwice, {"--metrics", "all"}).status == 0);
    CHECK(region(mac, kTwice, {"--metrics", "all", "--counting", "together"}).status == 0);
    CHECK_FALSE(values(mac, "instructions").empty());
  }
}

TEST_CASE("region: what was not marked as it should be is reported on macOS, too") {
  const auto is_refused_with = [](const std::string& script, const std::string& expected) {
    CAPTURE(script);
    const Mac mac;
    const Reported reported = region(mac, script);
    reported.check_ended(1);
    CHECK_MESSAGE(reported.says(expected), reported.err);
  };
  is_refused_with("run 1ms", "it did not call lauka_region_begin");
  is_refused_with("region begin\nrun 1ms", "its region was still open when it ended");
  is_refused_with("run 1ms\nregion end", "it called lauka_region_end without lauka_region_begin");
}

TEST_CASE("region: unknown counts are left out, with a note; its time is there") {
  const auto has_no_counts = [](const nlohmann::json& scenario, const std::string& script,
                                const std::string& why) {
    CAPTURE(why);
    const Mac mac = mac_with(scenario);
    const Reported reported = region(mac, script);
    CHECK_MESSAGE(reported.status == 0, reported.err);
    CHECK_MESSAGE(reported.says(why), reported.err);
    CHECK(reported.says("\nregion_time "));
    CHECK(values(mac, "cycles").empty());
  };
  has_no_counts({{"self_counts", "zero"}}, kTwice,
                "the kernel counts no cycles and instructions, as is usual in a virtual machine");
  has_no_counts({{"self_counts", "refused"}}, kTwice,
                "a thread that began a region did not end it, or cannot read its counts");
  const char* by_another = "threads 1 {\nregion begin\nrun 1ms\n}\njoin\nregion end\nrun 1ms";
  has_no_counts(nlohmann::json::object(), by_another,
                "call lauka_region_end in the thread that called lauka_region_begin");
  has_no_counts({{"virtual", true}}, kTwice, "region_time");
}

TEST_CASE("region: on macOS events that a thread cannot read are refused") {
  const Mac mac;
  const Reported reported = region(mac, kTwice, {"-e", "INST_ALL"});
  CHECK(reported.status == 2);
  CHECK(reported.err ==
        "lauka: 'INST_ALL' cannot be counted with --region, because macOS tells a thread only its "
        "cycles and instructions; leave it out, or leave out --region\n");
}

TEST_CASE("region: a command gets its memory, and hooks and other runs do not") {
  const Mac mac;
  const std::string other = mac.folder.program("other", "region end\nrun 1ms");
  CHECK(region(mac, kTwice, {"-p", other}).status == 0);
  CHECK(mac.lauka({"-r2", "-w0", "-N", other}).status == 0);
}

}  // namespace lauka::darwin
