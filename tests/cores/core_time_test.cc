#include "core/machine.h"
#include "cores/cores.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {

namespace {

using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;

using fakes::kMs;

/// Three kinds of five CPUs: the largest is E.
CoreKinds three_kinds() {
  return {{"P", {4}}, {"M", {3}}, {"E", {0, 1, 2}}};
}

FakePerf::Program on_all_kinds() {
  FakePerf::Program program;
  program.ns_on_cpu = {{0, 5 * kMs}, {1, 0}, {2, 6 * kMs}, {3, 20 * kMs}, {4, 69 * kMs}};
  program.usage.user_ns = 100 * kMs;
  return program;
}

struct Armed {
  std::unique_ptr<engine::CounterEngine> engine;
  std::unique_ptr<engine::ArmedPass> counting;
  std::vector<os::CounterRequest> requests;

  engine::CountsOfRun count(FakePerf& perf, const FakePerf::Program& program) const {
    return counting->finish(perf.run(requests, program), 0);
  }
};

Armed armed(const FakePerf& perf, std::unique_ptr<engine::CounterEngine> inner,
            const CoreKinds& kinds, const std::vector<std::string>& events,
            std::optional<double> min_share = std::nullopt) {
  Armed it;
  CoreDecision decided;
  decided.session_kinds = kinds;
  for (const CoreKind& kind : kinds) decided.core_plan.timed_kinds.push_back(kind.name);
  decided.core_plan.min_share_on_first_kind = min_share;
  it.engine = add_core_time_measurement(std::move(inner), decided, &perf.calls());
  if (!events.empty()) must(it.engine->select({events, false}));
  it.counting = must(it.engine->arm(0));
  it.requests = it.counting->requests();
  return it;
}

Armed clocks_only(const FakePerf& perf, const CoreKinds& kinds = three_kinds()) {
  return armed(perf, engine::make_accounted_engine(std::nullopt), kinds, {});
}

}  // namespace

TEST_CASE("a clock for each CPU of the smaller kinds and one for all give the time on every kind") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Armed it = clocks_only(perf);
  std::string on;
  for (const os::CounterRequest& request : it.requests) on += std::to_string(request.cpu) + " ";
  CHECK(on == "-1 4 3 ");
  const auto counted = it.count(perf, on_all_kinds());
  CHECK(counted.counts == Counts{69 * kMs, 20 * kMs, 11 * kMs});
  CHECK_FALSE(counted.why_missing_counts.has_value());
}

TEST_CASE("a CPU that is switched off has no time") {
  FakePerf perf;
  perf.switched_off = {3};
  auto program = on_all_kinds();
  program.ns_on_cpu[3] = 0;
  const Armed it = clocks_only(perf);
  CHECK(it.count(perf, program).counts == Counts{69 * kMs, 0, 11 * kMs});
}

TEST_CASE("the times follow another engine's counts, and leave those as they are") {
  FakePerf perf(fakes::usual_pmu());
  const Armed it = armed(perf, engine::perf::make_perf_engine(perf.calls(), false), three_kinds(),
                         {"cycles", "instructions"});
  auto program = on_all_kinds();
  program.ns_on = {{"cpu", 100 * kMs}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}},
                    {{"cpu", fakes::kInstructions}, {2000, 500}}};
  const auto counted = it.count(perf, program);
  CHECK(counted.counts == Counts{1300, 2500, 69 * kMs, 20 * kMs, 11 * kMs});
  CHECK(it.requests[2].leader == 2);
}

TEST_CASE("if the counters of every kind of core are in use, they give the time: no clock") {
  fakes::FakeHybrid perf;
  const CoreKinds kinds{{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};
  const Armed it =
      armed(perf, engine::perf::make_perf_engine(perf.calls(), false, kinds), kinds, {"cycles"});
  CHECK(it.requests.size() == 2);
  FakePerf::Program program;
  program.ns_on = {{"cpu_core", 60 * kMs}, {"cpu_atom", 40 * kMs}};
  program.counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                    {{"cpu_atom", fakes::kCycles}, {200, 0}}};
  program.usage.user_ns = 100 * kMs;
  // The sum, its parts on P and E, then the times.
  CHECK(it.count(perf, program).counts == Counts{1200, 1000, 200, 60 * kMs, 40 * kMs});
}

TEST_CASE("kinds named by hand are timed by clocks also where the PMUs have other kinds") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, engine::perf::make_perf_engine(perf.calls(), false),
                         {{"P", {0}}, {"E", {1, 2, 3, 4, 5, 6, 7}}}, {"cycles"});
  CHECK(it.requests.size() == 4);
}

TEST_CASE("a command whose program loses its clocks at exec has no times") {
  FakePerf perf;
  perf.programs["/bin/sh"] = {.owner = 1, .mode = 0104755, .first_bytes = "\177ELF"};
  auto program = on_all_kinds();
  program.is_setuid = true;
  const Armed it = clocks_only(perf);
  CHECK(it.engine->find_counter_loss_file(0, {{"/bin/sh"}}).value().file == "/bin/sh");
  const auto counted = it.count(perf, program);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt, std::nullopt});
  CHECK_FALSE(counted.why_missing_counts.has_value());
}

TEST_CASE("CPU time that no clock saw is no reason to drop times") {
  FakePerf perf;
  auto program = on_all_kinds();
  program.usage.system_ns = 900 * kMs;
  CHECK(clocks_only(perf).count(perf, program).counts == Counts{69 * kMs, 20 * kMs, 11 * kMs});
}

TEST_CASE("where descriptors do not suffice for the clocks, the run is counted without them") {
  FakePerf perf(fakes::usual_pmu());
  const Armed it =
      armed(perf, engine::perf::make_perf_engine(perf.calls(), false), three_kinds(), {"cycles"});
  perf.descriptor_limit = 2;
  auto program = on_all_kinds();
  program.ns_on = {{"cpu", 100 * kMs}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}}};
  const os::Ended ended = perf.run(it.requests, program);
  CHECK(ended.counter_error == 0);
  const auto counted = it.counting->finish(ended, 0);
  CHECK(counted.counts == Counts{1300, std::nullopt, std::nullopt, std::nullopt});
  CHECK(has(counted.why_missing_counts.value().what, "limit of open files"));
}

TEST_CASE("clocks that are more than are opened for a run are left out, and that is said") {
  FakePerf perf;
  CoreKinds kinds{{"P", {}}, {"E", {}}};
  for (std::uint32_t cpu = 0; cpu < 400; ++cpu) kinds[cpu % 2].cpus.push_back(cpu);
  const Armed it = clocks_only(perf, kinds);
  CHECK(it.requests.empty());
  const auto counted = it.count(perf, on_all_kinds());
  CHECK(counted.why_missing_counts.value().what.ends_with(
      ": it needs 201 counters, but a run can have at most 128"));
}

TEST_CASE("clocks that contradict each other are not believed") {
  FakePerf perf;
  const Armed it = clocks_only(perf);
  os::Ended ended = perf.run(it.requests, on_all_kinds());
  ended.readings[1].value += 60 * kMs;
  const auto counted = it.counting->finish(ended, 0);
  CHECK_FALSE(counted.counts[0].has_value());
  CHECK(counted.why_missing_counts->what.ends_with(
      ": the CPU times on the individual CPUs add up to more than the total CPU time"));
}

TEST_CASE("with one kind of core the engine is left as it is: nothing is paid") {
  FakePerf perf;
  auto none = engine::make_accounted_engine(std::nullopt);
  const auto* before = none.get();
  CHECK(add_core_time_measurement(std::move(none), CoreDecision{}, &perf.calls()).get() == before);
}

TEST_CASE("a run with too small a share of its time on P is asked to be run again, thrice") {
  FakePerf perf;
  const auto with_least = [&](double share) {
    const Armed it =
        armed(perf, engine::make_accounted_engine(std::nullopt), three_kinds(), {}, share);
    return it.count(perf, on_all_kinds()).redo;
  };
  CHECK_FALSE(with_least(0.69).has_value());  // 69 of 100 ms are on P
  const engine::RepeatRequest redo = with_least(0.7).value();
  CHECK(redo.max_repetitions == 3);
  CHECK(redo.why == "less than 70% of the CPU time was spent on P cores");
}

namespace {

/// "P 0-3 cpu_core, E 4-7 cpu_atom".
std::string reported(const CoreKinds& kinds) {
  std::string text;
  for (const CoreKind& kind : kinds) {
    if (!text.empty()) text += ", ";
    text += kind.name + " " + cpu_list_text(kind.cpus);
    if (!kind.pmu.empty()) text += " " + kind.pmu;
  }
  return text;
}

void set_cpus(FakePerf& perf, const std::string& present, const std::string& online) {
  perf.files["/sys/devices/system/cpu/present"] = present + "\n";
  perf.files["/sys/devices/system/cpu/online"] = online + "\n";
}

/// Writes a file of each CPU from the first on.
void set_of_cpus(FakePerf& perf, const std::string& file, const std::vector<int>& values) {
  for (std::size_t cpu = 0; cpu < values.size(); ++cpu)
    perf.files["/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file] =
        std::to_string(values[cpu]) + "\n";
}

/// A machine with two PMUs of Arm.
class ArmPmus : public FakePerf {
 public:
  ArmPmus() {
    add({"armv8_cortex_a53", 8, "0-1"});
    add({"armv8_cortex_a72", 9, "2-3"});
    set_cpus(*this, "0-3", "0-3");
  }
};

std::string why_not(const CoreKinds& by_hand, const FakePerf& perf) {
  const auto kinds = check_user_kinds(by_hand, perf.calls());
  return kinds ? "" : kinds.error().line();
}

}  // namespace

TEST_CASE("Intel's kinds of core follow from the names of their PMUs") {
  fakes::FakeHybrid perf;
  set_cpus(perf, "0-7", "0-7");
  CHECK(reported(detect_linux_kinds(perf.calls()).kinds) == "P 0-3 cpu_core, E 4-7 cpu_atom");
  set_cpus(perf, "0-9", "0-9");
  perf.add({"cpu_lowpower", 10, "8-9"});
  CHECK(reported(detect_linux_kinds(perf.calls()).kinds) ==
        "P 0-3 cpu_core, E 4-7 cpu_atom, LP 8-9 cpu_lowpower");
}

TEST_CASE("Arm's kinds of core are ranked by capacity, else by the highest frequency") {
  ArmPmus perf;
  SUBCASE("capacity") {
    set_of_cpus(perf, "cpu_capacity", {446, 446, 1024, 1024});
  }
  SUBCASE("frequency") {
    set_of_cpus(perf, "cpufreq/cpuinfo_max_freq", {1400000, 1400000, 1800000, 1800000});
  }
  CHECK(reported(detect_linux_kinds(perf.calls()).kinds) ==
        "P 2-3 armv8_cortex_a72, E 0-1 armv8_cortex_a53");
}

TEST_CASE("several PMUs that nothing ranks are no kinds, with the reason") {
  const ArmPmus perf;
  const LinuxCoreKinds found = detect_linux_kinds(perf.calls());
  CHECK(found.kinds.empty());
  CHECK(found.why_order_unknown ==
        "there are no times by kind of core, because the kernel does not say which of "
        "armv8_cortex_a53 and armv8_cortex_a72 is the fast one; name them with --core-kinds");
}

TEST_CASE("without several PMUs the capacities decide the kinds, gaps under a tenth merged") {
  FakePerf perf(fakes::usual_pmu());
  set_cpus(perf, "0-7", "0-7");
  struct Case {
    const char* what;
    std::vector<int> capacities;
    std::string kinds;
  };
  for (const Case& one : {Case{"the fastest with a favoured core",
                               {250, 250, 250, 250, 870, 870, 1009, 1024},
                               "P 6-7, M 4-5, E 0-3"},
                          Case{"four kinds",
                               {200, 200, 400, 400, 700, 700, 1024, 1024},
                               "P 6-7, M1 4-5, M2 2-3, E 0-1"},
                          Case{"one kind that differs a little",
                               {1009, 1009, 1009, 1009, 1024, 1024, 1024, 1024},
                               ""}}) {
    CAPTURE(one.what);
    set_of_cpus(perf, "cpu_capacity", one.capacities);
    CHECK(reported(detect_linux_kinds(perf.calls()).kinds) == one.kinds);
  }
}

TEST_CASE("where one CPU has no capacity, nothing is guessed") {
  FakePerf perf(fakes::usual_pmu());
  set_cpus(perf, "0-7", "0-7");
  set_of_cpus(perf, "cpu_capacity", {250, 250, 250, 250, 1024, 1024, 1024});
  CHECK(detect_linux_kinds(perf.calls()).kinds.empty());
}

TEST_CASE("a machine without such facts has one kind, and no rows for it") {
  FakePerf perf(fakes::usual_pmu());
  set_cpus(perf, "0-1", "0-1");
  set_of_cpus(perf, "cpufreq/cpuinfo_max_freq", {3000000, 2000000});
  const LinuxCoreKinds found = detect_linux_kinds(perf.calls());
  CHECK(found.kinds.empty());
  CHECK(found.why_order_unknown.empty());
}

TEST_CASE("PMUs that do not have every CPU give way to capacities") {
  fakes::FakeHybrid perf;
  set_cpus(perf, "0-9", "0-9");
  CHECK(detect_linux_kinds(perf.calls()).kinds.empty());
  set_of_cpus(perf, "cpu_capacity", {1024, 1024, 1024, 1024, 500, 500, 500, 500, 500, 500});
  CHECK(reported(detect_linux_kinds(perf.calls()).kinds) == "P 0-3, E 4-9");
}

TEST_CASE("kinds named by hand hold every CPU that is switched on and none that is not there") {
  FakePerf perf;
  set_cpus(perf, "0-3", "0-2");
  CHECK(why_not({{"P", {0, 1}}, {"E", {2, 3}}}, perf).empty());  // 3 is switched off
  CHECK(why_not({{"P", {0, 1}}, {"E", {2}}}, perf).empty());
  CHECK(why_not({{"P", {0, 1}}, {"E", {2, 4, 5}}}, perf) ==
        "--core-kinds names CPU 4-5, which this machine does not have; this machine has 0-3");
  CHECK(why_not({{"P", {0}}, {"E", {2, 3}}}, perf) ==
        "--core-kinds leaves out CPU 1; put each CPU into a kind");
}

TEST_CASE("the kind called P is the fast one at any place") {
  FakePerf perf;
  set_cpus(perf, "0-2", "0-2");
  const CoreKinds kinds =
      must(check_user_kinds({{"E", {0}}, {"M", {1}}, {"p", {2}}}, perf.calls()));
  CHECK(reported(kinds) == "p 2, E 0, M 1");
  CHECK(*cpus_of_preference(CorePreference::Performance, kinds, perf.calls()) ==
        std::vector<std::uint32_t>{2});
  CHECK(*cpus_of_preference(CorePreference::Efficiency, kinds, perf.calls()) ==
        std::vector<std::uint32_t>{0});
}

TEST_CASE("a preferred kind is narrowed to what lauka may run on") {
  FakePerf perf;
  const CoreKinds kinds{{"P", {0, 1, 2, 3}}, {"E", {4, 5, 6, 7}}};
  perf.allowed = {1, 3, 5};
  CHECK(*cpus_of_preference(CorePreference::Performance, kinds, perf.calls()) ==
        std::vector<std::uint32_t>{1, 3});
  CHECK(cpus_of_preference(CorePreference::Any, kinds, perf.calls())->empty());
  perf.allowed = {5};
  CHECK(cpus_of_preference(CorePreference::Performance, kinds, perf.calls()).error().line() ==
        "--cores p is not possible, because lauka may use only CPU 5, and the P cores are 0-3; "
        "start lauka without taskset, or change the container's cpuset");
}

TEST_CASE("on a machine with one kind of core nothing is measured, and no kind can be wanted") {
  FakePerf perf(fakes::usual_pmu());
  set_cpus(perf, "0-3", "0-3");
  const CoreDecision decided = must(plan_core_use({}, &perf.calls()));
  CHECK(decided.core_plan.timed_kinds.empty());
  CHECK(decided.no_times_note.empty());
  CHECK(plan_core_use({{}, CorePreference::Performance}, &perf.calls()).error().line() ==
        "--cores p has no effect, because this machine has only one kind of core; leave it out, or "
        "name the kinds with --core-kinds");
  CHECK(plan_core_use({{}, CorePreference::Any, 0.9}, &perf.calls())
            .error()
            .what.starts_with("--min-p-share has no effect, "));
}

TEST_CASE("where no clock can be opened there is no time by kind, with the reason and the remedy") {
  fakes::FakeHybrid perf;
  perf.is_debian = true;
  perf.set_paranoid(3);
  const CoreDecision decided = must(plan_core_use({}, &perf.calls()));
  CHECK(decided.core_plan.timed_kinds.empty());
  CHECK(has(decided.no_times_note, "perf_event_paranoid is 3"));
  CHECK(has(decided.no_times_note, "; run sudo sysctl "));
  CHECK_FALSE(plan_core_use({{}, CorePreference::Any, 0.9}, &perf.calls()).has_value());
  // A preference needs no clock.
  CHECK(plan_core_use({{}, CorePreference::Efficiency}, &perf.calls())->core_plan.command_cpus ==
        std::vector<std::uint32_t>{4, 5, 6, 7});
}

TEST_CASE("at perf_event_paranoid 2 the times are measured for ordinary users too") {
  fakes::FakeHybrid perf;
  perf.set_paranoid(2);
  CHECK(plan_core_use({}, &perf.calls())->core_plan.timed_kinds ==
        std::vector<std::string>{"P", "E"});
}

TEST_CASE("elsewhere than on Linux, kinds named by hand are refused") {
  CHECK(plan_core_use({}, nullptr).has_value());
  CHECK(
      plan_core_use({{{"P", {0}}, {"E", {1}}}}, nullptr).error().what ==
      "--core-kinds works only on Linux, because this system itself tells lauka the kinds of core");
}

}  // namespace lauka::cores
