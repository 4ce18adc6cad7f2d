#include "on_model/on_model.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// Everything that can go wrong on a Mac, by the list of the facts; each time the program reports
// it, ends correctly, and gives everything back.

namespace lauka::darwin {
namespace {

using nlohmann::json;

struct Run {
  Mac mac;
  Reported reported;

  Run(const json& scenario, std::vector<std::string> options)
      : mac(scenario), reported(start(mac, std::move(options))) {}

  /// The count of each run.
  std::vector<double> counts(const std::string& name) const {
    return column(mac.text_of("runs.csv"), name);
  }
  /// Every run's count is the truth.
  void check_exact() const {
    const auto all = counts("inst_all");
    CHECK(all.size() == 3);
    for (const double count : all)
      CHECK(count == reported.run(0).at("tree").at("events").at("INST_ALL").get<double>());
  }
  void check_ended(int status) const { reported.check_ended(status); }

  /// True if the session has a note of that kind.
  bool has_note(const std::string& kind) const {
    const auto kinds = json::parse(mac.text_of("session.json")).at("lauka").at("note_kinds");
    return std::ranges::find(kinds, json(kind)) != kinds.end();
  }

 private:
  static Reported start(const Mac& mac, std::vector<std::string> options) {
    options.insert(options.end(),
                   {"-r3", "-w0", "--export-runs", mac.folder.file("runs.csv"), "--export-json",
                    mac.folder.file("session.json"),
                    mac.folder.program("work", "run 3ms\nthreads 4 {\nrun 1ms e\n}\njoin")});
    return mac.lauka(options);
  }
};

const json kInstruments = {{"pid", 77}, {"name", "Instruments"}};

/// Machines whose counters fail once they were taken: when they are read, and when programmed.
std::vector<json> failing_when_taken() {
  return {{{"tracer", kInstruments}, {"fail", {{"kpc.counters", {{"error", "EPERM"}}}}}},
          {{"fail", {{"kpc.config", {{"error", "EBUSY"}}}}}}};
}

Run run_on(const json& scenario, std::vector<std::string> options = {}) {
  return {scenario, std::move(options)};
}

}  // namespace

TEST_CASE("1: without root the kernel's own counts are shown, and one line says what root adds") {
  const Run run = run_on({{"root", false}});
  run.check_ended(0);
  CHECK(run.has_note("events_left_out"));
  CHECK(run.reported.says("sudo lauka ..."));
  CHECK(run.counts("instructions").at(0) ==
        run.reported.run(0).at("kernel").at("instructions").get<double>());
  CHECK(run.counts("cycles").at(0) == run.reported.run(0).at("kernel").at("cycles").get<double>());
  CHECK(run.reported.says("energy"));
  const Run named = run_on({{"root", false}}, {"-e", "inst_all"});
  named.check_ended(2);
  CHECK(named.reported.says("'inst_all' cannot be "));
  CHECK(named.reported.report.at("runs").empty());
}

TEST_CASE("2: the holder of the tracing is named, and the whole machine is counted instead") {
  const Run run = run_on({{"tracer", kInstruments}});
  run.check_ended(0);
  CHECK(run.reported.says("Instruments (process 77)"));
  CHECK(run.reported.says("inst_all (system-wide) (user)"));
  const Run background =
      run_on({{"tracer", {{"pid", 77}, {"name", "perfd"}, {"background", true}}}});
  background.check_ended(0);
  background.check_exact();
}

TEST_CASE(
    "2, 3: where counters fail once they were taken, the kernel's own counts are shown, and every "
    "reason") {
  for (const json& scenario : failing_when_taken()) {
    CAPTURE(scenario.dump());
    const Run run = run_on(scenario);
    run.check_ended(0);
    CHECK(run.has_note("events_left_out"));
    CHECK(std::count(run.reported.err.begin(), run.reported.err.end(), '\n') == 1);
    CHECK(run.counts("instructions").at(0) ==
          run.reported.run(0).at("kernel").at("instructions").get<double>());
    const bool is_traced = scenario.contains("tracer");
    CHECK(run.reported.says("Instruments (process 77)") == is_traced);
    CHECK(run.reported.says("whole machine") == is_traced);
    CHECK(run.reported.says("a system service") == !is_traced);
  }
}

TEST_CASE("2, 3: where counters fail once they were taken, those asked for by name are refused") {
  for (const json& scenario : failing_when_taken()) {
    for (const auto& options : {std::vector<std::string>{"-e", "inst_all"},
                                {"--engine", "kperf"},
                                {"--strategy", "cpu", "-e", "inst_all"}}) {
      CAPTURE(scenario.dump());
      CAPTURE(options.back());
      const Run run = run_on(scenario, options);
      run.check_ended(2);
      CHECK(std::count(run.reported.err.begin(), run.reported.err.end(), '\n') == 1);
      CHECK(run.reported.out.empty());
      // The known command may have run, never the user's.
      for (const json& one : run.reported.report.at("runs"))
        CHECK(one.at("own").at("threads") == 1);
    }
  }
}

TEST_CASE("3: counters that a system service holds are reported") {
  const Run run = run_on({{"cpmu_busy", true}});
  run.check_ended(0);
  CHECK(run.has_note("events_left_out"));
  CHECK(run.reported.says("a system service"));
}

TEST_CASE("4: counters that another process has forced are reported") {
  const Run run = run_on({{"force_taken", true}});
  run.check_ended(0);
  CHECK(run.reported.says("another process"));
}

TEST_CASE("5: an event that the kernel refuses is named, the others are counted") {
  const Run run = run_on({{"refused_selector", 203}}, {"-e", "inst_all,branch_mispred_nonspec"});
  run.check_ended(0);
  CHECK(run.has_note("events_left_out"));
  CHECK(run.reported.says("branch_mispred_nonspec"));
  CHECK(run.reported.says("0xcb"));
  run.check_exact();
}

TEST_CASE("6: a run of which records were lost is repeated, with a note") {
  for (const json& loss : {json{{"lose_in_run", 3}}, json{{"lose_in_run", 3}, {"loss_argument", 1}},
                           json{{"wrapped_in_run", 3}}}) {
    CAPTURE(loss.dump());
    const Run run = run_on(loss);
    run.check_ended(0);
    CHECK(run.has_note("runs_repeated"));
    run.check_exact();
    CHECK(run.reported.report.at("runs").size() ==
          1 + 3 + 1);  // the trial, the runs, the one again
  }
}

TEST_CASE("7: tracing that went off without a word is noticed by the missing end") {
  const Run run = run_on({{"silent_in_run", 3}});
  run.check_ended(0);
  CHECK(run.has_note("runs_repeated"));
  run.check_exact();
}

TEST_CASE("8: an event that its counter does not count is doubted, not shown as a plain 0") {
  const Run run = run_on({{"chip", "m4"}, {"dead_mask", 0x80}}, {"-e", "inst_ldst,instructions"});
  run.check_ended(0);
  CHECK(run.reported.says("0 (not counted?)"));
  CHECK(run.reported.says("warning: inst_ldst "));
}

TEST_CASE("9: without the framework, or one of its functions, sysctls do") {
  for (const auto& [frameworks, missing] :
       {std::pair{json(false), "kperf.framework is missing"},
        std::pair{json{"kpc_set_config"}, "kpc_set_config is missing"}}) {
    const Run run = run_on({{"frameworks", frameworks}});
    run.check_ended(0);
    CHECK(run.has_note("other_strategy"));
    CHECK(run.reported.says(missing));
    run.check_exact();
  }
}

TEST_CASE("10: no database for the processor, or a damaged one, is reported; totals are shown") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 3ms");
  std::filesystem::remove(mac.database("1b588bb3"));
  const Reported none = mac.lauka({"-r2", "-w0", work});
  none.check_ended(0);
  CHECK(none.says("cpu_100000c_2_1b588bb3"));
  CHECK(none.says("KPEP_DB_PATH"));
  std::ofstream(mac.database("1b588bb3")) << "<plist><dict>";
  const Reported damaged = mac.lauka({"-r2", "-w0", work});
  damaged.check_ended(0);
  CHECK(damaged.says("cpu_100000c_2_1b588bb3.plist"));
  const Reported asked = mac.lauka({"-r2", "-e", "inst_all", work});
  CHECK(asked.status == 2);
  CHECK(asked.report.at("runs").empty());
}

TEST_CASE("11: a virtual machine has no counters: rows are missing, not 0") {
  const Run run = run_on({{"virtual", true}});
  run.check_ended(0);
  CHECK_FALSE(run.has_note("no_counters"));  // nothing is there to mend
  CHECK(run.reported.out.find("instructions") == std::string::npos);
  CHECK(run.reported.out.find("cycles") == std::string::npos);
  CHECK(run.reported.says("cpu_time"));
}

TEST_CASE("12: words that another client changes in a run spoil it, and it is run again") {
  const Run run = run_on({{"words_change_in_run", 3}});
  run.check_ended(0);
  CHECK(run.has_note("runs_repeated"));
  run.check_exact();
}

TEST_CASE("13: what a killed run left is reset at the start") {
  const Run run = run_on({{"leftovers", true}});
  run.check_ended(0);
  CHECK(run.has_note("counters_in_use"));
  run.check_exact();
}

TEST_CASE("14: where forcing frees nothing, fewer counters are planned with") {
  const Run run = run_on({{"chip", "m4"}, {"forcing_frees_nothing", true}},
                         {"-e", "inst_all,core_active_cycle,retire_uop,map_stall"});
  run.check_ended(0);
  CHECK(run.has_note("counters_in_use"));
  CHECK(run.reported.says("5 of 8"));
  run.check_exact();
}

TEST_CASE("15: sampling or filters that the kernel refuses are left for the next strategy") {
  const Run sampling =
      run_on({{"fail", {{"kperf.sampling", {{"error", "ECANCELED"}, {"from", 2}}}}}});
  sampling.check_ended(0);
  CHECK(sampling.has_note("other_strategy"));
  const Run filter = run_on({{"fail", {{"kperf.kdebug.filter", {{"error", "EINVAL"}}}}}});
  filter.check_ended(0);
  CHECK(filter.has_note("sampled"));
}

TEST_CASE("15: a change of sampling that the kernel refuses costs no more than what it was for") {
  const auto run_it = [](const Mac& mac, const std::string& script) {
    return mac.lauka({"-r4", "-w0", "--export-runs", mac.folder.file("runs.csv"),
                      mac.folder.program("work", script)});
  };
  // Sampling alongside the threads' ends, for those that do not end with the command.
  const Mac pet = mac_with({{"fail", {{"kperf.timer.pet_timer", {{"error", "EINVAL"}}}}}});
  const Reported without = run_it(pet, "run 1ms\ndaemon {\nsleep 90ms\n}\nrun 2ms");
  without.check_ended(0);
  CHECK(without.says("note: 1 thread "));
  const auto pet_counts = column(pet.text_of("runs.csv"), "inst_all");
  CHECK(pet_counts.size() == 4);
  for (const double count : pet_counts) CHECK(count > 0);
  // A larger buffer.
  const Mac large =
      mac_with({{"lose_in_run", 3},
                {"fail", {{"sysctl", {{"error", "ENOMEM"}, {"from", 32}, {"times", 1}}}}}});
  const Reported small = run_it(large, "run 3ms");
  small.check_ended(0);
  const auto counts = column(large.text_of("runs.csv"), "inst_all");
  REQUIRE(counts.size() == 4);
  for (const double count : counts)
    CHECK(count == small.run(0).at("tree").at("events").at("INST_ALL").get<double>());
}

TEST_CASE("15: sampling that is busy in the middle of being started is cleared") {
  const Run run =
      run_on({{"fail", {{"kperf.sampling", {{"error", "EBUSY"}, {"from", 3}, {"times", 1}}}}}},
             {"--strategy", "exit"});
  run.check_ended(2);
  CHECK(run.reported.says("the kernel's tracing is already in use"));
}

TEST_CASE("2: asked for by name alongside another tracer, a strategy is refused with one remedy") {
  const Run run = run_on({{"tracer", kInstruments}}, {"--strategy", "exit"});
  run.check_ended(2);
  CHECK(run.reported.err ==
        "lauka: sampling threads as they end does not work here: Instruments (process 77) is using "
        "the kernel's tracing; quit Instruments (process 77)\n");
}

TEST_CASE("16: a command that never ends is killed at its time-out, and all is given back") {
  const Mac mac;
  const Reported reported =
      mac.lauka({"-r3", "-w0", "--timeout", "50ms",
                 mac.folder.program("work", "fork group {\nsleep 90s\n}\nsleep 90s")});
  reported.check_ended(1);
  CHECK(reported.says("50ms"));
}

TEST_CASE("17: an interruption in any call ends with 128 + its number, and all is given back") {
  // The whole program makes about 170 calls; the signal may come at each of them.
  const Mac calm;
  const std::uint64_t calls =
      calm.lauka({"-r2", "-w0", calm.folder.program("work", "run 3ms")}).report.at("calls");
  CHECK(calls > 80);
  // The first nine open the launcher, before lauka watches for signals.
  for (std::uint64_t call = 10; call <= calls + 1; call += 3) {
    CAPTURE(call);
    const int number = call % 2 == 0 ? SIGINT : SIGTERM;
    const Mac mac = mac_with({{"interrupt", {{"call", call}, {"signal", number}}}});
    const Reported reported = mac.lauka({"-r2", "-w0", mac.folder.program("work", "run 3ms")});
    const bool was_late = reported.status == 0 && call > calls - 20;
    reported.check_ended(was_late ? 0 : 128 + number);
  }
}

TEST_CASE("18: a descendant that outlives the command is reported") {
  const Mac mac;
  const Reported reported = mac.lauka(
      {"-r2", "-w0", "-i",
       mac.folder.program("work", "daemon {\nthreads 2 {\nsleep 50s\n}\njoin\n}\nrun 2ms")});
  reported.check_ended(0);
  CHECK(reported.says("note: 3 threads "));
}

TEST_CASE("19: pids that come back, and neighbours on the same CPUs, mix nothing") {
  const Run run = run_on({{"few_pids", true}, {"neighbours", true}});
  run.check_ended(0);
  run.check_exact();
}

TEST_CASE("20: samples of threads whose buffer is not there yet are dropped") {
  // With sampling alone, idle threads and old ones give samples of zeros.
  const Run run =
      run_on({{"neighbours", true}, {"fail", {{"kperf.kdebug.filter", {{"error", "EINVAL"}}}}}});
  run.check_ended(0);
  const auto& truth = run.reported.run(0).at("tree").at("events").at("INST_ALL");
  CHECK(run.counts("inst_all").size() == 3);
  for (const double count : run.counts("inst_all")) {
    CHECK(count > 0);
    CHECK(count <= truth.get<double>());
  }
}

TEST_CASE("21: a chain of shell and command is summed once") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 2ms");
  const Reported reported =
      mac.lauka({"-r2", "-w0", "-S", "--export-runs", mac.folder.file("runs.csv"), work});
  CHECK(reported.status == 0);
  const auto counts = column(mac.text_of("runs.csv"), "inst_all");
  CHECK(counts.size() == 2);
  for (const double count : counts)
    CHECK(count == reported.run(0).at("tree").at("events").at("INST_ALL").get<double>());
}

TEST_CASE("23: a selector of 16 bits is right, whichever layout kperfdata's events have") {
  // The databases' own files are read: the framework whose structures differ is not even loaded.
  const Run run = run_on({{"chip", "m4"}}, {"-e", "l1i_cache_miss_demand"});
  run.check_ended(0);
  const auto& truth =
      run.reported.run(0).at("tree").at("events").at("L1I_CACHE_MISS_DEMAND");  // 16390
  CHECK(truth > 0);
  CHECK(run.counts("l1i_cache_miss_demand").size() == 3);
  for (const double count : run.counts("l1i_cache_miss_demand"))
    CHECK(count == truth.get<double>());
  const std::vector<std::string> kperf_alone = {
      "/System/Library/PrivateFrameworks/kperf.framework/kperf"};
  CHECK(run.reported.report.at("libraries") == kperf_alone);
}

}  // namespace lauka::darwin
