#include "core/metric.h"
#include "plan/rows.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

EventSet counted(const std::vector<std::string>& names, std::vector<Pass> passes) {
  EventSet set;
  for (const std::string& name : names)
    set.events.push_back({.name = name, .meaning = name, .role = role_of_event(name)});
  set.passes = std::move(passes);
  return set;
}

/// Makes these events the times by kind of core, the fastest named P.
void make_core_times(EventSet& set, const std::vector<std::size_t>& times) {
  for (const std::size_t index : times) {
    set.events[index].is_time = true;
    set.events[index].role = Role::CoreTime;
    set.events[index].core_kind = index == times.front() ? "P" : "E";
  }
}

/// The names of the rows with that place in the table, in order.
std::string rows(const std::vector<Metric>& metrics, Shown shown) {
  std::string text;
  for (const Metric& metric : metrics)
    if (metric.shown == shown) text += (text.empty() ? "" : " ") + metric.name;
  return text;
}

const Metric* find(const std::vector<Metric>& metrics, std::string_view name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

const std::string kTheRest =
    "minor_faults major_faults voluntary_switches involuntary_switches block_reads block_writes";

}  // namespace

TEST_CASE("by default the table shows wall time, CPU time, peak memory, the counters and ipc") {
  const auto metrics = make_metrics(counted({"cycles", "instructions"}, {Pass{{0, 1}}}),
                                    MetricSelection::Default, false);
  CHECK(rows(metrics, Shown::Always) == "wall_time cpu_time peak_rss cycles instructions ipc");
  CHECK(rows(metrics, Shown::Verbose) == "user_time system_time " + kTheRest);
}

TEST_CASE("--metrics time shows the times, and the events that were asked for") {
  const auto set = counted({"cycles"}, {Pass{{0}}});
  CHECK(rows(make_metrics({}, MetricSelection::Time, false), Shown::Always) ==
        "wall_time cpu_time user_time system_time");
  CHECK(rows(make_metrics(set, MetricSelection::Time, true), Shown::Always) ==
        "wall_time cpu_time user_time system_time cycles");
  CHECK(rows(make_metrics(set, MetricSelection::Time, false), Shown::Verbose) ==
        "peak_rss " + kTheRest + " cycles");
}

TEST_CASE("--metrics all shows everything") {
  const auto metrics = make_metrics(counted({"r01c2"}, {Pass{{0}}}), MetricSelection::All, true);
  CHECK(rows(metrics, Shown::Always) ==
        "wall_time cpu_time user_time system_time peak_rss " + kTheRest + " r01c2");
  CHECK(rows(metrics, Shown::Verbose).empty());
}

TEST_CASE("ipc is instructions by cycles, more of it is better, and it has no unit") {
  const auto metrics =
      make_metrics(counted({"instructions", "cache-misses", "cycles"}, {Pass{{1}}, Pass{{0, 2}}}),
                   MetricSelection::Default, true);
  const Metric* ipc = find(metrics, "ipc");
  REQUIRE(ipc != nullptr);
  CHECK(ipc == &metrics.back());
  CHECK(ipc->unit == Unit::Ratio);
  CHECK(ipc->better == Better::More);
  CHECK(ipc->role == Role::Ipc);
  CHECK_FALSE(ipc->event.has_value());
  REQUIRE(ipc->source.terms.size() == 3);
  CHECK(std::get<CountedEvent>(ipc->source.terms[0]).event == 0);
  CHECK(std::get<CountedEvent>(ipc->source.terms[1]).event == 2);
  CHECK(std::get<Operation>(ipc->source.terms[2]) == Operation::Divide);
}

TEST_CASE("there is no ipc of events that are never counted in the same run") {
  CHECK(find(make_metrics(counted({"cycles", "instructions"}, {Pass{{0}}, Pass{{1}}}),
                          MetricSelection::All, true),
             "ipc") == nullptr);
  CHECK(find(make_metrics(counted({"cycles"}, {Pass{{0}}}), MetricSelection::All, true), "ipc") ==
        nullptr);
}

TEST_CASE("a counted event is a number of which less is better, by its place in the session") {
  const auto metrics =
      make_metrics(counted({"a", "b"}, {Pass{{0, 1}}}), MetricSelection::Default, true);
  const Metric* b = find(metrics, "b");
  REQUIRE(b != nullptr);
  CHECK(b->unit == Unit::Count);
  CHECK(b->better == Better::Less);
  CHECK(b->event == 1U);
  CHECK(b->source.first_event() == 1U);
}

TEST_CASE("the built-in metrics read a run in base units") {
  Usage usage;
  usage.wall_ns = 1'500'000'000;
  usage.user_ns = 250'000'000;
  usage.system_ns = 500'000'000;
  usage.peak_rss_bytes = 4096;
  const auto metrics = make_metrics({}, MetricSelection::All, false);
  const auto read = [&](std::string_view name) {
    return std::get<UsageFunction>(find(metrics, name)->source.terms.front())(usage);
  };
  CHECK(read("wall_time") == doctest::Approx(1.5));
  CHECK(read("cpu_time") == doctest::Approx(0.75));
  CHECK(read("user_time") == doctest::Approx(0.25));
  CHECK(read("system_time") == doctest::Approx(0.5));
  CHECK(read("peak_rss") == 4096.0);
  CHECK(find(metrics, "wall_time")->unit == Unit::Seconds);
  CHECK(find(metrics, "peak_rss")->unit == Unit::Bytes);
}

TEST_CASE("times by kind of core follow the built-in metrics, with the share of the first") {
  EventSet set = counted({"cycles", "p_time", "e_time"}, {Pass{{0, 1, 2}}});
  make_core_times(set, {1, 2});
  const auto metrics = make_metrics(set, MetricSelection::Default, false);
  CHECK(rows(metrics, Shown::Always) == "wall_time cpu_time peak_rss p_time e_time p_share cycles");
  const Metric* share = find(metrics, "p_share");
  REQUIRE(share != nullptr);
  CHECK(share->unit == Unit::Fraction);
  CHECK(share->better == Better::Neither);
  CHECK(find(metrics, "p_time")->unit == Unit::Seconds);
  CHECK(rows(make_metrics(set, MetricSelection::Time, false), Shown::Always) ==
        "wall_time cpu_time user_time system_time p_time e_time");
}

TEST_CASE("the share is the first kind's part of the times' own sum") {
  EventSet set = counted({"p_time", "m_time", "e_time"}, {Pass{{0, 1, 2}}});
  make_core_times(set, {0, 1, 2});
  const auto metrics = make_metrics(set, MetricSelection::Default, false);
  const MetricReader share(*find(metrics, "p_share"), set);
  RunRecord run;
  run.outcome = Exited{0};
  run.usage.user_ns = 5000;  // of no account
  run.counts = {300, 100, 600};
  CHECK(share.value(run) == doctest::Approx(0.3));
  run.counts = {300, 100, std::nullopt};
  CHECK_FALSE(share.value(run).has_value());
  run.counts = {0, 0, 0};
  CHECK_FALSE(share.value(run).has_value());
}

TEST_CASE("what an event has on one kind of core is shown under --metrics all only, with notes") {
  EventSet set =
      counted({"cycles", "ref-cycles", "cycles (P)", "cycles (E)"}, {Pass{{0, 1, 2, 3}}});
  set.events[2].index_for_all_core_kinds = set.events[3].index_for_all_core_kinds = 0;
  set.events[1].name_suffix = "(P only)";
  const auto metrics = make_metrics(set, MetricSelection::Default, false);
  CHECK(rows(metrics, Shown::Always) == "wall_time cpu_time peak_rss cycles ref-cycles");
  CHECK(find(metrics, "ref-cycles")->metric_suffix == "(P only)");
  CHECK(find(make_metrics(set, MetricSelection::All, false), "cycles (E)")->shown == Shown::Always);
}

TEST_CASE("of two events for one role the one with the kernel's part has it, and ipc is of one") {
  EventSet set = counted({"cycles:u", "cycles", "instructions:u"}, {Pass{{0, 1, 2}}});
  set.events[0].role = set.events[1].role = Role::Cycles;
  set.events[2].role = Role::Instructions;
  set.events[0].privilege_levels = set.events[2].privilege_levels =
      CountedPrivilegeLevels::UserOnly;
  set.events[1].privilege_levels = CountedPrivilegeLevels::UserAndKernel;
  auto metrics = make_metrics(set, MetricSelection::Default, false);
  CHECK(metrics[find_metric(metrics, Role::Cycles).value()].name == "cycles");
  CHECK(find(metrics, "ipc") == nullptr);
  CHECK(why_not_derived("ipc", metrics)->remedy.find("modifier") != std::string::npos);

  set = counted({"cycles:u", "instructions:u"}, {Pass{{0, 1}}});
  set.events[0].role = Role::Cycles;
  set.events[1].role = Role::Instructions;
  set.events[0].privilege_levels = set.events[1].privilege_levels =
      CountedPrivilegeLevels::UserOnly;
  metrics = make_metrics(set, MetricSelection::Default, false);
  REQUIRE(find(metrics, "ipc") != nullptr);
  CHECK(find(metrics, "ipc")->counted_privilege_levels == CountedPrivilegeLevels::UserOnly);
}

}  // namespace lauka
