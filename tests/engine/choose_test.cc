#include "engine/armed.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"

#include <doctest/doctest.h>

namespace lauka::engine {

using fakes::FakePerf;

TEST_CASE("auto takes perf where the kernel has it, and opens no event to see that") {
  FakePerf perf;
  const ChosenEngine chosen = must(choose({.choice = Choice::Auto, .calls = &perf.calls()}));
  CHECK(chosen.engine->name() == "perf");
  CHECK_FALSE(chosen.note.has_value());
  CHECK(perf.opened() == 0);
}

TEST_CASE("auto does without counters where there are none, and says what is missing") {
  FakePerf perf;
  perf.has_perf = false;
  const ChosenEngine chosen = must(choose({.choice = Choice::Auto, .calls = &perf.calls()}));
  CHECK(chosen.engine->name() == "none");
  const std::string why = perf::can_count(perf.calls()).error().line();
  CHECK(chosen.note == "there are no hardware counters: " + why +
                           "; or use --engine cachegrind to count instructions by simulation");
  check_order(chosen.engine->select({{"cycles"}, false}).error().line(), {"'cycles'", why});
  const ChosenEngine elsewhere = must(choose({.choice = Choice::Auto, .calls = nullptr}));
  CHECK(elsewhere.engine->name() == "none");
  check_order(elsewhere.note.value(), {"no engine for this system", "--engine cachegrind"});
}

TEST_CASE("perf asked for by name is an error where it does not work") {
  FakePerf perf;
  perf.blocked_by_container = true;
  CHECK(choose({.choice = Choice::Perf, .calls = &perf.calls()}).error() ==
        perf::can_count(perf.calls()).error().prefixed("--engine perf"));
  CHECK_FALSE(choose({.choice = Choice::Perf, .calls = nullptr}).has_value());
}

TEST_CASE("kperf asked for by name is for macOS") {
  FakePerf perf;
  CHECK(choose({.choice = Choice::Kperf, .calls = &perf.calls()}).error().line() ==
        "--engine kperf works on macOS only; leave it out");
}

TEST_CASE("perf asked for by name works where only user space may be counted") {
  FakePerf perf;
  perf.set_paranoid(2);
  CHECK(choose({.choice = Choice::Perf, .calls = &perf.calls()}).has_value());
}

TEST_CASE("engine none counts nothing by default and says so when asked for an event") {
  const ChosenEngine chosen = must(choose({.choice = Choice::None, .calls = nullptr}));
  CHECK_FALSE(chosen.note.has_value());
  const EventSet nothing = must(chosen.engine->select({}));
  CHECK(nothing.events.empty());
  CHECK(nothing.passes.empty());
  CHECK(chosen.engine->select({{"cycles"}, false}).error().line() ==
        "'cycles' is not counted with --engine none; leave out --engine none");
}

TEST_CASE("what the kernel accounts is there without counters too") {
  const Armed none(make_accounted_engine(std::nullopt),
                   {{"page-faults", "context-switches"}, true});
  CHECK(none.set.passes.size() == 1);
  CHECK(none.requests.empty());
  os::Ended ended{Exited{0}, {}};
  ended.usage.minor_faults = 7;
  ended.usage.major_faults = 2;
  ended.usage.involuntary_switches = 1;
  CHECK(none.counting->finish(ended, 0).counts == Counts{9, 1});
}

TEST_CASE("of the engines that are meant for this system each is tried, with the reason apart") {
  FakePerf perf;
  perf.has_perf = false;
  MacosEngineOptions nowhere;
  nowhere.calls = nullptr;
  const auto engines = try_engines(false, &perf.calls(), nowhere);
  REQUIRE(engines.size() == 3);
  CHECK(engines[0].engine == Choice::Perf);
  CHECK(engines[0].why_unusable.value().remedy == perf::can_count(perf.calls()).error().remedy);
  CHECK(engines[1].engine == Choice::Cachegrind);
  CHECK(engines[2].engine == Choice::Dhat);

  FakePerf without_pmu;
  without_pmu.set_paranoid(2);
  const auto virtual_machine = try_engines(false, &without_pmu.calls(), nowhere);
  CHECK(virtual_machine[0].counters.empty());
  CHECK(virtual_machine[0].why_unusable.value().what.starts_with("there are no counters"));

  FakePerf whole;
  whole.add(fakes::usual_pmu());
  const auto counting = try_engines(false, &whole.calls(), nowhere);
  CHECK_FALSE(counting[0].why_unusable.has_value());
  CHECK(counting[0].default_event_names.size() == 5);
  REQUIRE(counting[0].counters.size() == 1);
  CHECK(counting[0].counters[0].listed_counter_count == 5);
  CHECK(counting[0].counters[0].working_counters == 5);
}

}  // namespace lauka::engine
