#include "on_model/on_model.h"

#include <cctype>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// The whole program's output about runs on the model, against the model's own knowledge.

namespace lauka::darwin {
namespace {

/// Runs `script` three times; every count of the exported runs must be the truth of the whole tree.
Reported check_counts(const Mac& mac, const std::string& script,
                      const std::vector<std::string>& events) {
  std::vector<std::string> words = {"-r3", "-w0", "--export-runs", mac.folder.file("runs.csv")};
  std::string list = "cycles,instructions";
  for (const std::string& event : events) list += "," + event;
  words.insert(words.end(), {"-e", list, mac.folder.program("work", script)});
  Reported reported = mac.lauka(words);
  reported.check_ended(0);
  const std::string runs = mac.text_of("runs.csv");
  const auto check = [&](const std::string& name, const auto& truth_of) {
    const auto values = column(runs, name);
    REQUIRE(values.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK_MESSAGE(values[i] == truth_of(reported.run(2 - i).at("tree")).template get<double>(),
                    name);
  };
  check("cycles", [](const auto& tree) { return tree.at("cycles"); });
  check("instructions", [](const auto& tree) { return tree.at("instructions"); });
  for (const std::string& event : events) {
    std::string row = event;
    for (char& c : row) c = static_cast<char>(std::tolower(c));
    check(row, [&event](const auto& tree) { return tree.at("events").at(event); });
  }
  return reported;
}

/// Returns the part of all.json about its only command.
nlohmann::json exported_of(const Mac& mac) {
  return nlohmann::json::parse(mac.text_of("all.json")).at("results").at(0).at("lauka");
}

/// The coverage of each run.
std::vector<double> coverages_of(const nlohmann::json& exported) {
  std::vector<double> coverages;
  for (const auto& run : exported.at("runs")) coverages.push_back(run.at("coverage"));
  return coverages;
}

}  // namespace

TEST_CASE("on each of the five chips every thread is counted, to the last one") {
  for (const std::string chip : {"m1", "m2", "m3", "m4", "m5"}) {
    CAPTURE(chip);
    const Mac mac = mac_with({{"chip", chip}});
    check_counts(
        mac,
        "run 3ms\nthreads 20 {\nrun 10us kernel=100\nsleep 50us\nrun 900us e\n}\nrun 1ms\njoin",
        {"CORE_ACTIVE_CYCLE", "INST_ALL", "L1D_CACHE_MISS_LD_NONSPEC", "BRANCH_MISPRED_NONSPEC"});
  }
}

TEST_CASE("the default events are shown, with cycles and instructions from the fixed counters") {
  const Mac mac;
  const Reported reported = mac.lauka({"-r2", "-w0", mac.folder.program("work", "run 5ms")});
  CHECK(reported.status == 0);
  for (const char* row :
       {"cycles ", "instructions ", "core_active_cycle (user)", "inst_all (user)",
        "l1d_cache_miss_ld_nonspec (user)", "branch_mispred_nonspec (user)", "ipc "})
    CHECK_MESSAGE(reported.out.find(row) != std::string::npos, row);
  CHECK(reported.err.empty());
}

TEST_CASE("before macOS 15 configurable counters count the kernel too, and the rows say nothing") {
  const Mac mac = mac_with({{"os", "14.6"}});
  check_counts(mac, "run 5ms kernel=400", {"INST_ALL"});
  const Reported reported = mac.lauka({"-r2", "-w0", "-e", "inst_all", mac.folder.file("work")});
  CHECK(reported.out.find("(user)") == std::string::npos);
}

TEST_CASE("on macOS 26, where words count from the switching on only, passes count right") {
  const Mac mac = mac_with({{"os", "26.0"}, {"chip", "m4"}});
  const std::string work = mac.folder.program("work", "run 4ms");
  const Reported reported = mac.lauka({"-r6", "-w0", "-e", "INST_LDST,INST_INT_ALU",
                                       "--export-runs", mac.folder.file("runs.csv"), work});
  CHECK(reported.status == 0);
  const std::string runs = mac.text_of("runs.csv");
  for (const auto& [name, event] :
       {std::pair{"inst_ldst", "INST_LDST"}, std::pair{"inst_int_alu", "INST_INT_ALU"}}) {
    int counted = 0;
    for (const double value : column(runs, name)) {
      if (value < 0) continue;  // of a run of the other pass
      ++counted;
      CHECK(value == reported.run(0).at("tree").at("events").at(event).get<double>());
    }
    CHECK(counted == 3);
  }
}

TEST_CASE("in a suite each benchmark counts its own events exactly, and gives the counters back") {
  const std::vector<std::pair<std::string, std::string>> events = {
      {"inst_ldst", "INST_LDST"}, {"inst_int_alu", "INST_INT_ALU"}, {"retire_uop", "RETIRE_UOP"}};
  for (const char* counting : {"apart", "together"}) {
    CAPTURE(counting);
    const Mac mac = mac_with({{"chip", "m4"}});
    const std::string work = mac.folder.program("work", "run 4ms");
    std::string suite;
    for (const auto& [name, event] : events)
      suite += "[[benchmark]]\nname = '" + name + "'\ncommands = ['" + work + "', '" + work +
               " again']\nevent = '" + event + "'\n";
    std::ofstream(mac.folder.file("suite.toml")) << suite;
    const Reported reported = mac.lauka({"--suite", mac.folder.file("suite.toml"), "-r6", "-w0",
                                         std::string("--counting=") + counting, "--export-runs",
                                         mac.folder.file("runs.csv")});
    CAPTURE(reported.err);
    reported.check_ended(0);
    const std::string runs = mac.text_of("runs.csv");
    for (const auto& [name, named] : events) {
      const std::string event = named;  // clang 14 captures no binding
      CAPTURE(event);
      int counted = 0;
      for (const double value : column(runs, name)) {
        if (value < 0) continue;  // of another benchmark, or a timed run
        ++counted;
        CHECK(value == reported.run(0).at("tree").at("events").at(event).get<double>());
      }
      CHECK(counted > 0);
    }
  }
}

TEST_CASE("from one to ten thousand threads of ten microseconds each one is counted") {
  for (const char* count : {"1", "2", "10", "100", "1000", "10000"}) {
    CAPTURE(count);
    const Mac mac;
    const Reported reported =
        check_counts(mac, std::string("threads ") + count + " {\nrun 10us\n}\njoin", {"INST_ALL"});
    CHECK(reported.run(0).at("tree").at("threads") == std::stoi(count) + 1);
  }
}

TEST_CASE(
    "a tree of fifty processes is counted whole, alongside neighbours and with pids that come "
    "back") {
  const Mac mac = mac_with({{"neighbours", true}});
  mac.folder.program("leaf", "run 150us");
  const Reported reported = check_counts(
      mac, "repeat 25 {\nfork {\nrun 300us\nfork {\nrun 200us\nexec leaf\n}\nwait\n}\n}\nwait",
      {"INST_ALL"});
  // Twenty-five children and as many grandchildren, each with two threads, the second by exec.
  CHECK(reported.run(0).at("tree").at("threads") == 1 + 25 + 2 * 25);
  const Mac few = mac_with({{"neighbours", true}, {"few_pids", true}});
  check_counts(few, "repeat 40 {\nfork {\nrun 100us\n}\nsleep 1ms\nwait\n}\nrun 2ms", {"INST_ALL"});
}

TEST_CASE("an exec is counted once, a failed one not at all") {
  const Mac mac;
  mac.folder.program("second", "run 2ms");
  const Reported reported = check_counts(mac, "run 1ms\nfailed_exec\nexec second", {"INST_ALL"});
  CHECK(reported.run(0).at("tree").at("threads") == 2);
  CHECK(reported.run(0).at("tree").at("events").at("INST_ALL") == 3'000'000 * 112 / 10);
}

TEST_CASE("the JSON has the coverage of every run, which is what the model's kernel says") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 2ms\nthreads 9 {\nrun 40us\n}\njoin");
  const Reported reported =
      mac.lauka({"-r2", "-w0", "--export-json", mac.folder.file("all.json"), work});
  const double kernel = reported.run(0).at("kernel").at("instructions");
  const double seen = reported.run(0).at("own").at("instructions");
  const auto coverages = coverages_of(exported_of(mac));
  REQUIRE(coverages.size() == 2);
  for (const double coverage : coverages)
    CHECK(coverage == doctest::Approx(seen / kernel).epsilon(1e-12));
}

TEST_CASE("with sampling every millisecond the coverage shown is what the model's samples saw") {
  for (const char* script : {"run 12300us", "run 3ms\nthreads 6 {\nrun 2700us\n}\njoin\nrun 900us",
                             "repeat 9 {\nrun 1400us\nsleep 300us\n}"}) {
    CAPTURE(script);
    const Mac mac;
    const Reported reported =
        mac.lauka({"--strategy", "pet", "--period", "1ms", "-r1", "-w0", "--export-json",
                   mac.folder.file("all.json"), mac.folder.program("work", script)});
    CHECK_MESSAGE(reported.status == 0, reported.err);
    const nlohmann::json exported = exported_of(mac);
    const nlohmann::json& run = reported.run(0);
    const double kernel = run.at("kernel").at("instructions");
    const double sampled = run.at("own").at("sampled");
    CHECK(sampled < run.at("own").at("instructions").get<double>());
    CHECK(coverages_of(exported).at(0) == doctest::Approx(sampled / kernel).epsilon(1e-12));
    // Below 95% a run is made again, once.
    if (sampled / kernel < 0.95) CHECK(exported.at("redone_runs").size() == 1);
  }
}

TEST_CASE("the JSON has the counts of the command's own process next to those of its tree") {
  const Mac mac;
  const Reported reported =
      mac.lauka({"-r2", "-w0", "-e", "instructions,inst_all,page-faults", "--export-json",
                 mac.folder.file("all.json"),
                 mac.folder.program("work", "run 2ms\nfork {\nrun 6ms\n}\nwait")});
  REQUIRE_MESSAGE(reported.status == 0, reported.err);
  const nlohmann::json exported = exported_of(mac);
  for (std::size_t i = 0; i < 2; ++i) {
    const nlohmann::json& truth = reported.run(1 - i);
    const nlohmann::json own = {{"instructions", truth.at("own").at("instructions")},
                                {"inst_all", truth.at("own").at("events").at("INST_ALL")}};
    CHECK(exported.at("runs").at(i).at("own") == own);
    CHECK(exported.at("metrics").at("inst_all").at("samples").at(i) ==
          truth.at("tree").at("events").at("INST_ALL"));
  }
  mac.lauka({"-r2", "-w0", "--export-json", mac.folder.file("all.json"),
             mac.folder.program("alone", "run 2ms")});
  CHECK_FALSE(exported_of(mac).at("runs").at(0).contains("own"));
}

TEST_CASE("the whole machine's fixed counters are found among any number of others") {
  for (const bool few : {false, true}) {
    CAPTURE(few);
    const Mac mac = mac_with({{"chip", "m4"}, {"forcing_frees_nothing", few}});
    const Reported reported = mac.lauka(
        {"-r2", "-w0", "--strategy", "cpu", "-e", "cycles,instructions", "--export-runs",
         mac.folder.file("runs.csv"), mac.folder.program("work", "threads 3 {\nrun 9ms\n}\njoin")});
    REQUIRE_MESSAGE(reported.status == 0, reported.err);
    for (const char* name : {"cycles", "instructions"}) {
      CAPTURE(name);
      const double truth = reported.run(0).at("tree").at(name);
      for (const double count : column(mac.text_of("runs.csv"), name))
        CHECK(count == doctest::Approx(truth).epsilon(0.02));
    }
    CHECK(reported.out.find("ipc (system-wide)") != std::string::npos);
  }
}

TEST_CASE(
    "what does not fit the counters at once is refused under --single-pass, with the reason") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 1ms");
  const Reported reported =
      mac.lauka({"--single-pass", "-r3", "-e", "INST_ALL,INST_LDST,RETIRE_UOP", work});
  reported.check_ended(2);
  CHECK(reported.says("--single-pass"));
  CHECK(reported.says("PMC7"));
  CHECK(reported.report.at("runs").empty());
}

TEST_CASE("events are listed without root, and an unknown one is refused before anything runs") {
  const Mac mac = mac_with({{"root", false}});
  const Reported list = mac.lauka({"-l", "inst_ldst"});
  list.check_ended(0);
  CHECK(list.says("INST_LDST"));
  CHECK(list.says("PMC7"));
  const Mac root;
  const Reported unknown =
      root.lauka({"-e", "no_such_event", root.folder.program("work", "run 1ms")});
  unknown.check_ended(2);
  CHECK(unknown.says("no_such_event"));
  CHECK(unknown.report.at("runs").empty());
}

TEST_CASE("a period that the kernel raises is reported") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 5ms");
  const auto sampled = [&](const char* period) {
    return mac.lauka({"--strategy", "pet", "--period", period, "-r2", "-w0", work});
  };
  CHECK(sampled("0.5ms").says("raised to 1 ms"));
  CHECK_FALSE(sampled("1ms").says("raised"));
}

TEST_CASE("times are right where a mach unit is a nanosecond") {
  const Mac mac = mac_with({{"timebase", {1, 1}}});
  const Reported reported = mac.lauka({"-r2", "-w0", "--export-runs", mac.folder.file("runs.csv"),
                                       mac.folder.program("work", "run 25ms")});
  CHECK(reported.status == 0);
  for (const double value : column(mac.text_of("runs.csv"), "user_time"))
    CHECK(value == doctest::Approx(0.025).epsilon(1e-3));
}

TEST_CASE(
    "timed runs are neither counted nor sampled, counting runs are, to the last instruction") {
  const Mac mac;
  const Reported reported =
      mac.lauka({"-r2", "-w0", "-e", "instructions", "--export-runs", mac.folder.file("runs.csv"),
                 mac.folder.program("work", "run 2ms\nthreads 3 {\nrun 1ms\n}\njoin")},
                true);
  reported.check_ended(0);
  // Launched: timed, counting, two settling runs, timed, counting; kept: without the settling ones.
  const auto counts = column(mac.text_of("runs.csv"), "instructions");
  const auto walls = column(mac.text_of("runs.csv"), "wall_time");
  REQUIRE(counts.size() == 4);
  const auto truth = [&](std::size_t from_the_end, const char* what) {
    return reported.run(from_the_end).at("tree").at(what).get<double>();
  };
  for (const std::size_t launched : {1U, 2U, 3U, 5U}) CHECK(truth(launched, "sampled") == 0.0);
  CHECK(counts[0] == -1);
  CHECK(walls[0] > 0);
  CHECK(counts[1] == truth(4, "instructions"));
  CHECK(truth(4, "sampled") > 0.0);
  CHECK(walls[1] == -1);
  CHECK(counts[2] == -1);
  CHECK(counts[3] == truth(0, "instructions"));
}

}  // namespace lauka::darwin
