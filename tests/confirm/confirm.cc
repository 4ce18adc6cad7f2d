#include "confirm/confirm.h"

#include "confirm/counting.h"
#include "os/process.h"
#include "os/spawning_launcher.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::confirm {
namespace {

using engine::kperf::CounterMask;
using engine::kperf::KpepDatabase;
using engine::kperf::KpepEvent;

/// A fixture and what each strategy must see of it.
struct Fixture {
  std::string_view name;
  std::vector<std::string> words;
  double least_at_exit;
  double least_by_pet;  ///< threads shorter than the period may be missed altogether: 0
};

const std::vector<Fixture>& all_fixtures() {
  static const std::vector<Fixture> all = {
      {"one thread, 200 ms", {"burn", "200ms"}, 0.98, 0.95},
      {"8 threads, 50 ms each", {"burn", "400ms", "8"}, 0.98, 0.9},
      {"2000 threads, 50 us each", {"short_threads", "2000", "50"}, 0.95, 0.0},
      {"10 children, 10 ms each (its own part)", {"family", "10", "10ms"}, 0.75, 0.0},
      {"the same instructions each time", {"work", "400"}, 0.98, 0.9},
  };
  return all;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string percent(double fraction) {
  return fmt::format("{:.2f}%", fraction * 100);
}

/// More than all that the kernel saw would be another's counts.
constexpr double kMaxSeen = 1.005;

Row coverage_row(const Fixture& fixture, Way way, Counting& counting, unsigned runs) {
  const double least = way == Way::AtExit ? fixture.least_at_exit : fixture.least_by_pet;
  Row row{std::string(fixture.name), std::string(name_of(way)),
          way == Way::Machine ? "at least 95%"
                              : fmt::format("{} to {}", percent(least), percent(kMaxSeen)),
          "", false};
  std::vector<double> seen;
  for (unsigned i = 0; i < runs; ++i) {
    const auto run = counting.run(fixture.words, {});
    if (!run) {
      row.seen = run.error().line();
      return row;
    }
    if (!run->coverage) {
      row.seen = "the kernel has no total";
      return row;
    }
    seen.push_back(*run->coverage);
  }
  const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
  row.seen = fmt::format("{} ({} to {})", percent(middle(seen)), percent(*low), percent(*high));
  row.holds = way == Way::Machine ? *low >= 0.95 : *low >= least && *high <= kMaxSeen;
  return row;
}

/// Runs that take the same instructions must count alike.
Row repeat_row(Way way, Counting& counting, unsigned runs) {
  Row row{"spread of instructions over equal runs", std::string(name_of(way)), "at most 1%", "",
          false};
  std::vector<double> seen;
  for (unsigned i = 0; i < std::max(runs, 2U); ++i) {
    const auto run = counting.run({"work", "400"}, {});
    if (!run) {
      row.seen = run.error().line();
      return row;
    }
    seen.push_back(static_cast<double>(run->instructions));
  }
  const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
  const double spread = *low > 0 ? (*high - *low) / *low : 1;
  row.seen = fmt::format("{} of {:.4g}", percent(spread), *low);
  row.holds = spread <= 0.01;
  return row;
}

/// For each set of counters that some events are bound to, an event that any program makes happen.
std::vector<const KpepEvent*> bound_events(const KpepDatabase& database) {
  std::vector<const KpepEvent*> chosen;
  for (const std::string_view name : {"INST_ALL", "INST_BRANCH", "INST_INT_ALU", "INST_INT_LD",
                                      "INST_LDST", "INST_BRANCH_TAKEN"}) {
    const KpepEvent* event = find_event(database, name);
    if (event == nullptr || event->is_fixed || event->mask == database.config_counters) continue;
    const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const KpepEvent* one) {
      return one->mask == event->mask;
    });
    if (is_new) chosen.push_back(event);
  }
  return chosen;
}

/// The event on one counter: on each that it may use the same count, on the others nothing.
std::vector<Row> placement_rows(const KpepEvent& event, Counting& counting) {
  std::vector<Row> rows;
  std::optional<std::uint64_t> first;
  const CounterMask counters = counting.counters();
  for (unsigned counter = 0; counter < 32; ++counter) {
    const CounterMask bit = CounterMask{1} << counter;
    if ((counters & bit) == 0) continue;
    const bool may = (event.mask & bit) != 0;
    Row row{fmt::format("{} (mask {:#x}) on PMC{}", event.name, event.mask, counter),
            std::string(name_of(Way::AtExit)), may ? "the event's count" : "0", "", false};
    const auto run = counting.run({"work", "400"}, {{counter, event.selector_number}});
    if (!run) {
      row.seen = run.error().line();
    } else {
      const std::uint64_t count = run->configurable.at(0);
      row.seen = fmt::format("{}", count);
      if (!may) {
        row.holds = count == 0;
      } else {
        if (!first) first = count;
        const auto like = static_cast<double>(*first);
        if (count != *first) row.seen += fmt::format(", against {}", *first);
        row.holds = count > 0 && std::abs(static_cast<double>(count) - like) <= 0.01 * like;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> all_placements(const KpepDatabase& database, Counting& counting) {
  if (const auto begun = counting.begin(Way::AtExit); !begun)
    return {{"events on each counter", std::string(name_of(Way::AtExit)), "alike, or 0",
             "not tried", false}};
  std::vector<Row> rows;
  for (const KpepEvent* event : bound_events(database)) {
    const auto more = placement_rows(*event, counting);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

Row given_back_row(const std::vector<std::string>& held) {
  return {"what is still switched on afterwards", "", "nothing",
          held.empty() ? "nothing" : fmt::format("{}", fmt::join(held, ", ")), held.empty()};
}

}  // namespace

Result<std::vector<Row>> confirm(const Setting& setting) {
  std::vector<Row> rows;
  {
    Counting counting(setting);
    if (auto taken = counting.take(); !taken) return taken.error();
    for (const Way way : {Way::AtExit, Way::Pet, Way::Machine}) {
      if (auto begun = counting.begin(way); !begun) {
        rows.push_back(
            {"strategy", std::string(name_of(way)), "works", begun.error().line(), false});
        continue;
      }
      for (const Fixture& fixture : all_fixtures())
        rows.push_back(coverage_row(fixture, way, counting, setting.runs));
      // A shell that becomes the fixture: two images and threads, one process.
      const Fixture exec{"a shell that becomes the same",
                         {"/bin/sh", "-c", "exec " + setting.fixtures + "/work 400"},
                         0.97,
                         0.85};
      rows.push_back(coverage_row(exec, way, counting, setting.runs));
      if (way == Way::AtExit) rows.push_back(repeat_row(way, counting, setting.runs));
    }
    const auto more = all_placements(setting.database, counting);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  rows.push_back(given_back_row(still_held(setting.calls)));
  return rows;
}

std::string table(const std::vector<Row>& rows) {
  std::string text = "| check | strategy | expected | seen | |\n|---|---|---|---|---|\n";
  for (const Row& row : rows)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.check, row.strategy, row.expected,
                        row.seen, row.holds ? "ok" : "**no**");
  return text;
}

bool all_hold(const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.holds; });
}

int refuse(const Error& error) {
  std::fprintf(stderr, "lauka_confirm: %s\n", error.line().c_str());
  return 2;
}

int run(const os::DarwinCalls& calls, Result<engine::kperf::KpepDatabase> database,
        const std::string& fixtures) {
  if (calls.geteuid() != 0) return refuse({"counting needs root", "run it with sudo"});
  if (!database) return refuse(database.error());
  auto launcher = os::start_spawning_launcher(calls);
  if (!launcher) return refuse(launcher.error());
  const Setting setting{calls, **launcher, *std::move(database), fixtures};
  std::string text;
  for (const std::string& fact : facts(setting)) text += "- " + fact + "\n";
  for (const std::string& fact : left_by_others(calls)) text += "- " + fact + "\n";
  const auto rows = confirm(setting);
  if (!rows) return refuse(rows.error());
  text += "\n" + table(*rows) + "\n";
  for (const std::string& fact : unknowns(setting)) text += "- " + fact + "\n";
  std::fputs(text.c_str(), stdout);
  return all_hold(*rows) ? 0 : 1;
}

}  // namespace lauka::confirm
