
#include "inquire/check.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka::inquire {
namespace {

using Lines = std::vector<CheckLine>;

/// A machine that is as quiet as can be.
MachineFacts quiet() {
  MachineFacts facts;
  facts.machine = {"lab", "Linux", "Debian 12", "6.1.0", "x86_64", "A Processor", 8};
  facts.clock_source = "tsc";
  facts.clock_step = std::chrono::nanoseconds(25);
  facts.governors = {{"performance", 8}};
  facts.turbo = SwitchFacts{false, ""};
  facts.smt = SwitchFacts{false, ""};
  facts.load = 0.1;
  facts.on_battery = false;
  facts.hypervisor_is_certain = true;
  facts.aslr = true;
  return facts;
}

const CheckLine& line_of(const Lines& lines, const std::string& topic) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const CheckLine& line) { return line.topic == topic; });
  REQUIRE(found != lines.end());
  return *found;
}

CheckLine line_of(const MachineFacts& facts, const std::string& topic) {
  return line_of(check(facts, {}), topic);
}

}  // namespace

TEST_CASE("--tune is the remedy for what it can switch here") {
  MachineFacts facts = quiet();
  facts.governors = {{"schedutil", 8}};
  facts.turbo = SwitchFacts{true, "x"};
  facts.smt = SwitchFacts{true, "y"};
  CHECK(line_of(facts, "turbo").remedy == "x");
  facts.helpful_switches = {"governor", "governor", "turbo", "+smt", "+thp"};
  CHECK(line_of(facts, "CPU governor").remedy == "sudo lauka --tune ...");
  CHECK(line_of(facts, "turbo").remedy == "sudo lauka --tune ...");
  CHECK(line_of(facts, "SMT").remedy == "sudo lauka --tune=+smt ...");
  CHECK(line_of(facts, "tune").finding ==
        "lauka can change these settings for a session: governor, turbo");
}

TEST_CASE("a quiet machine has nothing to mend") {
  const EngineFacts perf{EngineChoice::Perf, {"cycles", "instructions"}, {}, {}};
  for (const CheckLine& line : check(quiet(), {&perf, 1})) {
    CAPTURE(line.topic);
    CHECK(line.severity == Severity::Ok);
    CHECK(line.remedy.empty());
  }
}

TEST_CASE("an engine that does not count says why and what mends it") {
  const std::vector<EngineFacts> engines = {
      {EngineChoice::Perf, {}, {}, Error{"perf_event_paranoid is 4", "sudo sysctl x=1"}},
      {EngineChoice::Cachegrind, {}, {}, Error{"no Valgrind", "apt-get install valgrind"}},
      {EngineChoice::Kperf, {"cycles"}, {"user space only"}, {}}};
  const Lines lines = check(quiet(), engines);
  CHECK(line_of(lines, "engine perf").severity == Severity::Problem);
  CHECK(line_of(lines, "engine perf").finding == "perf_event_paranoid is 4");
  CHECK(line_of(lines, "engine perf").remedy == "sudo sysctl x=1");
  CHECK(line_of(lines, "engine cachegrind").severity == Severity::Note);
  CHECK(line_of(lines, "engine kperf").finding == "counts cycles; user space only");
}

TEST_CASE("the counters that count are reported, and who holds the rest") {
  const auto line = [](const CounterFacts& counters) {
    EngineFacts perf{EngineChoice::Perf, {"cycles"}, {}, {}};
    perf.counters = {counters};
    return line_of(check(quiet(), {&perf, 1}), "counters");
  };
  CHECK(line({"cpu", 6, 6, 6, false}).severity == Severity::Ok);
  CHECK(line({"cpu", 6, 6, 6, false}).finding == "6 of 6 count");
  const CheckLine dead = line({"cpu", 6, 6, 5, false});
  CHECK(dead.severity == Severity::Note);
  CHECK(dead.finding == "5 of 6 count; the host of this virtual machine holds 1");
  const CheckLine watched = line({"cpu", 6, 5, 5, true});
  CHECK(watched.severity == Severity::Note);
  CHECK(watched.finding == "5 of 6 count; the NMI watchdog holds 1");
  CHECK(watched.remedy == "sudo sysctl kernel.nmi_watchdog=0");
  const CheckLine held = line({"cpu", 6, 3, 2, true});
  CHECK(held.severity == Severity::Problem);
  CHECK(held.finding ==
        "2 of 6 count; the host of this virtual machine holds 1; the "
        "NMI watchdog holds 1; 2 cannot be used now, so runs may not be counted");
  CHECK(held.remedy ==
        "sudo find /proc/[0-9]*/fd -lname '*perf_event*' shows which programs hold some");
}

TEST_CASE("with several PMUs each has its line, and the JSON has the numbers") {
  EngineFacts perf{EngineChoice::Perf, {"cycles"}, {}, {}};
  perf.counters = {{"cpu_core", 9, 9, 9, false}, {"cpu_atom", 7, 6, 6, false}};
  const Lines lines = check(quiet(), {&perf, 1});
  CHECK(line_of(lines, "counters cpu_core").severity == Severity::Ok);
  CHECK(line_of(lines, "counters cpu_atom").severity == Severity::Problem);
  const auto json = nlohmann::json::parse(check_json(quiet(), {&perf, 1}, lines));
  const auto& counters = json.at("check").at("engines").at(0).at("counters");
  CHECK(counters.at(1).at("pmu") == "cpu_atom");
  CHECK(counters.at(1).at("listed") == 7);
  CHECK(counters.at(1).at("free") == 6);
  CHECK(counters.at(1).at("alive") == 6);
}

TEST_CASE("a clock that follows the load is a note, the lowest clock a problem") {
  MachineFacts facts = quiet();
  facts.governors = {{"powersave", 8}};
  facts.governor_driver = "intel_pstate";
  CHECK(line_of(facts, "CPU governor").severity == Severity::Note);
  CHECK(line_of(facts, "CPU governor").remedy ==
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
  facts.governor_driver = "acpi-cpufreq";
  CHECK(line_of(facts, "CPU governor").severity == Severity::Problem);
  facts.governors = {{"ondemand", 4}, {"performance", 4}};
  CHECK(line_of(facts, "CPU governor").severity == Severity::Note);
  CHECK(line_of(facts, "CPU governor").finding ==
        "ondemand on 4 CPUs, performance on 4 CPUs (acpi-cpufreq), so the clock follows the load, "
        "and short runs are slower");
}

TEST_CASE("load is judged by the number of CPUs") {
  MachineFacts facts = quiet();
  facts.load = 2.0;
  CHECK(line_of(facts, "load").severity == Severity::Note);
  facts.load = 7.0;
  CHECK(line_of(facts, "load").severity == Severity::Problem);
  facts.machine.cpus = 64;
  CHECK(line_of(facts, "load").severity == Severity::Note);
}

TEST_CASE("a coarse clock names the better one, if the machine has one") {
  MachineFacts facts = quiet();
  facts.clock_source = "hpet";
  facts.clock_step = std::chrono::microseconds(2);
  CHECK(line_of(facts, "clock").severity == Severity::Problem);
  CHECK(line_of(facts, "clock").remedy.empty());
  facts.good_clock_sources = {"tsc"};
  CHECK(line_of(facts, "clock").remedy ==
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource");
}

TEST_CASE("time that the hypervisor gave to others is a problem from 1% on") {
  MachineFacts facts = quiet();
  facts.hypervisor = "KVM";
  facts.stolen_share = 0.004;
  CHECK(line_of(facts, "virtual machine").severity == Severity::Note);
  facts.stolen_share = 0.032;
  CHECK(line_of(facts, "virtual machine").severity == Severity::Problem);
  CHECK(line_of(facts, "virtual machine").finding ==
        "KVM, and 3.2% of the CPU time since the start went to other machines");
}

TEST_CASE("what lauka may use of the machine is shown if it is not all") {
  MachineFacts facts = quiet();
  facts.machine.cpus = 2;
  facts.machine.allowance = Allowance{{0, 1}};
  const auto has = [&](const char* topic) {
    return std::ranges::any_of(check(facts, {}),
                               [&](const CheckLine& line) { return line.topic == topic; });
  };
  CHECK_FALSE((has("allowed CPUs") || has("CPU quota") || has("memory limit")));
  facts.machine.allowance = Allowance{{1}, 0.5, std::uint64_t{512} << 20U};
  CHECK(line_of(facts, "allowed CPUs").finding == "1 of 2, so commands run only on CPU 1");
  CHECK(line_of(facts, "CPU quota").finding.find("0.50") != std::string::npos);
  CHECK(line_of(facts, "memory limit").severity == Severity::Note);
  CHECK(check_json(facts, {}, {}).find("\"memory_limit\": 536870912") != std::string::npos);
}

TEST_CASE("what cannot be known is a note, never ok") {
  MachineFacts nothing;
  for (const char* topic : {"CPU governor", "turbo", "SMT", "load", "virtual machine", "ASLR"}) {
    CAPTURE(topic);
    CHECK(line_of(nothing, topic).severity == Severity::Note);
  }
}

TEST_CASE("battery, quota and what kperf left over are problems with their remedies") {
  MachineFacts facts = quiet();
  facts.on_battery = true;
  CHECK(line_of(facts, "power").remedy == "plug in the power supply");
  facts.machine.allowance = Allowance{{0, 1}, 1.5};
  CHECK(line_of(facts, "CPU quota").severity == Severity::Problem);
  facts.tracing = TracingFacts{true, true, 0, ""};
  CHECK(line_of(facts, "left over by kperf").severity == Severity::Problem);
  facts.tracing = TracingFacts{true, false, 77, "Instruments"};
  CHECK(line_of(facts, "left over by kperf").finding ==
        "process 77 (Instruments) is using the kernel's tracing");
  CHECK(line_of(facts, "left over by kperf").remedy == "quit this process, or run sudo kill 77");
  facts.tracing = TracingFacts{false, false, 0, ""};
  CHECK(line_of(facts, "left over by kperf").remedy == "sudo lauka --check");
  facts.tracing = TracingFacts{true, false, 0, ""};
  CHECK(line_of(facts, "left over by kperf").severity == Severity::Ok);
}

TEST_CASE("a machine whose system has no name is described by the rest") {
  MachineFacts facts = quiet();
  facts.machine.os.clear();
  CHECK(check_text(facts, {}, 0).starts_with("Linux 6.1.0, x86_64, A Processor\n"));
}

TEST_CASE("the report has a line for each topic, its remedy below, and a count at its end") {
  const Lines lines = {{"clock", Severity::Ok, "tsc, steps of 25ns", ""},
                       {"power", Severity::Problem, "on battery, so the clock is kept low",
                        "plug in the power supply"}};
  CHECK(check_text(quiet(), lines, 0) ==
        "Debian 12, Linux 6.1.0, x86_64, A Processor\n\nclock  ok       tsc, steps of 25ns\npower  "
        "problem  on battery, so the clock is kept low\n                -> plug in the power "
        "supply\n\n1 "
        "problem, 0 notes, 1 ok\n");
  CHECK(check_text(quiet(), lines, 40)
            .find("power  problem  on battery, so the clock\n                is kept low\n") !=
        std::string::npos);
}

TEST_CASE("the report for programs holds the same") {
  const EngineFacts perf{EngineChoice::Perf, {}, {}, Error{"no PMU", "switch it on"}};
  const MachineFacts facts = quiet();
  const Lines lines = check(facts, {&perf, 1});
  const auto json = nlohmann::json::parse(check_json(facts, {&perf, 1}, lines));
  const auto& report = json.at("check");
  CHECK(report.at("machine").at("cpus") == 8);
  CHECK(report.at("engines").at(0).at("counts") == false);
  CHECK(report.at("engines").at(0).at("remedy") == "switch it on");
  REQUIRE(report.at("checks").size() == lines.size());
  CHECK(report.at("checks").at(0).at("standing") == "problem");
  CHECK(report.at("checks").at(1).at("remedy").is_null());
}

}  // namespace lauka::inquire
