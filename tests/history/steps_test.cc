#include "history/answer_text.h"
#include "history/database.h"
#include "history/page.h"
#include "history/session_record.h"
#include "history/sessions.h"
#include "history/store.h"
#include "history/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace lauka::history {
namespace {

/// A commit each, with this value and an error of 0.1 %.
MetricHistory series_of_values(const std::vector<double>& values) {
  MetricHistory series{.metric = {.name = "wall_time", .unit = Unit::Seconds}};
  series.variant.benchmark = "it";
  int number = 0;
  for (const double value : values) {
    SessionPoint point{.began = 600 * ++number, .commit = fmt::format("c{}", number)};
    point.values = series.metric;
    point.values.mean = value;
    point.values.stddev = 0.001 * value * 4;
    point.values.summarized_values = 16;
    series.points.push_back(point);
  }
  return series;
}

/// Twenty commits at 1, then as many at each of `levels`, all with a little noise.
std::vector<double> levels(const std::vector<double>& more) {
  std::vector<double> values;
  std::vector<double> all = {1.0};
  all.insert(all.end(), more.begin(), more.end());
  for (const double level : all)
    for (int i = 0; i < 20; ++i) values.push_back(level * (1 + 0.002 * std::sin(7.0 * i)));
  return values;
}

struct Opened {
  Scratch scratch{};
  Database database = *open_history(scratch.file("h.db"), Access::CreateMissing);
};

}  // namespace

TEST_CASE("a step to the worse is an alarm until it is acknowledged or made up for") {
  Opened opened;
  Loader loader(opened.database);
  const auto found = [&](const std::vector<double>& more) {
    return find_steps_and_notes(loader, series_of_values(levels(more)),
                                ComparedWith::AnchorIfPresent)
        .value();
  };
  CHECK(found({1.0}).steps.empty());
  const SteppedSeries slower = found({1.1});
  REQUIRE(slower.steps.size() == 1);
  CHECK(slower.steps[0].state == StepState::Alarm);
  CHECK(slower.trend.observations[slower.steps[0].step.first_point].commit == "c21");
  CHECK(std::exp(slower.steps[0].step.change) == doctest::Approx(1.1).epsilon(0.01));
  const SteppedSeries faster = found({0.9});
  REQUIRE(faster.steps.size() == 1);
  CHECK(faster.steps[0].state == StepState::Better);
  const SteppedSeries mended = found({1.1, 0.99});
  REQUIRE(mended.steps.size() == 2);
  CHECK(mended.steps[0].state == StepState::CancelledLater);
  const SteppedSeries half = found({1.1, 1.05});
  REQUIRE(half.steps.size() == 2);
  CHECK(half.steps[0].state == StepState::Alarm);

  const std::int64_t began = slower.trend.observations[slower.steps[0].step.first_point].began;
  REQUIRE(acknowledge(opened.database,
                      {.variant = 0, .metric = "wall_time", .began = began, .text = "new parser"}));
  const SteppedSeries known = found({1.1});
  CHECK(known.steps[0].state == StepState::Acknowledged);
  CHECK(known.steps[0].note == "new parser");
  CHECK(has(steps_text(known, {}), "acknowledged: new parser"));
}

TEST_CASE("sessions of few runs, surer of themselves than they should be, make no steps") {
  Opened opened;
  Loader loader(opened.database);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.0, 0.01);
  constexpr int runs = 4;
  std::size_t steps = 0;
  for (int one = 0; one < 40; ++one) {
    MetricHistory series = series_of_values(std::vector<double>(100, 1.0));
    for (SessionPoint& point : series.points) {
      double sum = 0.0;
      double squares = 0.0;
      for (int run = 0; run < runs; ++run) {
        const double value = 1.0 + normal(random);
        sum += value;
        squares += (value - 1.0) * (value - 1.0);
      }
      point.values.mean = sum / runs;
      const double off = point.values.mean - 1.0;
      point.values.stddev = std::sqrt((squares - runs * off * off) / (runs - 1));
      point.values.summarized_values = runs;
    }
    steps += find_steps_and_notes(loader, series, ComparedWith::Nothing).value().steps.size();
  }
  CHECK(steps <= 4);  // one in a thousand commits
}

TEST_CASE("a clear change in a series too short for steps is shown as not judged yet") {
  Opened opened;
  Loader loader(opened.database);
  const auto text = [&](const std::vector<double>& values) {
    return steps_text(
        find_steps_and_notes(loader, series_of_values(values), ComparedWith::AnchorIfPresent)
            .value(),
        {});
  };
  const std::string clear = text({1.0, 1.0, 1.3});
  CHECK(has(clear, "  c3 +30.0% ± 0."));
  CHECK(has(clear, "%, which cannot be judged yet with 3 of 6 commits\n"));
  CHECK(text({1.0, 1.0, 1.0001}).empty());
  CHECK(text({1.0}).empty());
}

TEST_CASE("sessions of one commit are one observation, and none is surer than its runs make it") {
  // 3 runs that happen to agree, at 5 ms, and 40 at 5.506 ms, among sessions of 40 runs.
  MetricHistory series = series_of_values({5.506, 5.5, 5.51, 5.505, 5.0, 5.506});
  for (SessionPoint& point : series.points) {
    point.values.summarized_values = 40;
    point.values.stddev = 0.05;
  }
  series.points[4].values.summarized_values = 3;
  series.points[4].values.stddev = 1e-6;
  series.points[5].commit = series.points[4].commit;
  const Trend trend = make_trend(series, ComparedWith::Nothing);
  REQUIRE(trend.observations.size() == 5);
  CHECK(std::exp(trend.observations[4].value) > 5.2);
  CHECK(trend.observations[4].error.value_or(0) > 0.05 / 5.5 / std::sqrt(43.0));
  // Where nothing varies between sessions either: 5.49 counts as 3 runs alongside 40, of 0.05 each.
  series.points[4].values.mean = 5.49;
  const double weighted = (3 * std::log(5.49) + 40 * std::log(5.506)) / 43;
  CHECK(make_trend(series, ComparedWith::Nothing).observations[4].value ==
        doctest::Approx(weighted).epsilon(1e-5));
  // Without a commit each is alone.
  for (SessionPoint& point : series.points) point.commit.clear();
  CHECK(make_trend(series, ComparedWith::Nothing).observations.size() == 6);
}

TEST_CASE("the interval of 3 and 20 runs of a commit holds the truth despite noise of sessions") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0.0, 1.0);
  int locked = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    MetricHistory series = series_of_values(std::vector<double>(12, 1.0));
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      MetricRecord& values = series.points[i].values;
      values.summarized_values = i % 2 == 0 ? 3 : 20;
      series.points[i].commit = fmt::format("c{}", i / 2);
      const double session = 1.0 + 0.01 * normal(random);
      std::vector<double> runs;
      double sum = 0.0;
      for (std::uint64_t run = 0; run < values.summarized_values; ++run)
        sum += runs.emplace_back(session * (1.0 + 0.005 * normal(random)));
      values.mean = sum / static_cast<double>(values.summarized_values);
      double squares = 0.0;
      for (const double run : runs) squares += (run - values.mean) * (run - values.mean);
      values.stddev = std::sqrt(squares / static_cast<double>(values.summarized_values - 1));
    }
    const CommitValue last = make_trend(series, ComparedWith::Nothing).observations.back();
    locked += std::abs(last.value) <= last.half_width_95();
  }
  CHECK(locked >= 0.88 * trials);
}

TEST_CASE("values are medians, which a slow run does not move, and intervals Student's") {
  const auto record =
      read_record(json_of({1, "abc", "CPU", {{"it", {1.0, 1.01, 1.02, 1.03, 9.0}}}})).value();
  const auto series = make_histories(record, {});
  REQUIRE(series.size() == 1);
  const Trend trend = make_trend(series.front(), ComparedWith::Nothing);
  CHECK(std::exp(trend.observations[0].value) == doctest::Approx(1.02));
  const double error = 1.2533 * 1.4826 * 0.01 / (1.02 * std::sqrt(5.0));
  CHECK(trend.observations[0].error.value_or(0) == doctest::Approx(error));
  CHECK(trend.observations[0].half_width_95() == doctest::Approx(2.7764 * error).epsilon(1e-4));
}

TEST_CASE("a session's interval holds the truth in 94 % and more, once it is not the only one") {
  // Alone it knows no more than its runs' median absolute deviation, which is too small for few.
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(0.0, 1.0);
  const auto median_of = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
  };
  const auto share_held = [&](std::size_t sessions, std::size_t runs) {
    constexpr std::size_t all = 2000;
    std::size_t locked = 0;
    for (std::size_t trial = 0; trial < all / sessions; ++trial) {
      MetricHistory series = series_of_values(std::vector<double>(sessions, 1.0));
      for (SessionPoint& point : series.points) {
        std::vector<double> values;
        for (std::size_t run = 0; run < runs; ++run) values.push_back(1.0 + 0.01 * normal(random));
        point.values.summarized_values = runs;
        point.values.median = median_of(values);
        for (double& value : values) value = std::abs(value - *point.values.median);
        point.values.mad = median_of(values);
      }
      for (const CommitValue& one : make_trend(series, ComparedWith::Nothing).observations)
        locked += std::abs(one.value) <= one.half_width_95() ? 1U : 0U;
    }
    return static_cast<double>(locked) / static_cast<double>(all / sessions * sessions);
  };
  // Of 200,000 sessions: 81.6, 86.6 and 92.1 % alone, 93.8 to 96.2 % of two, 97.5 to 97.9 % of 20.
  const double chance = 0.02;  // four standard errors of 2,000
  CHECK(share_held(1, 3) >= 0.816 - 2 * chance);
  CHECK(share_held(1, 3) < 0.90);
  CHECK(share_held(1, 10) >= 0.921 - chance);
  for (const std::size_t runs : {3U, 5U, 10U}) {
    CAPTURE(runs);
    CHECK(share_held(2, runs) >= 0.938 - chance);
    CHECK(share_held(20, runs) >= 0.975 - chance);
  }
}

TEST_CASE("with an anchor the history is of ratios to it, which the machine's drift is not in") {
  Opened opened;
  Store store(opened.database);
  std::vector<SessionRecord> sessions;
  for (int i = 0; i < 30; ++i) {
    const double drift = 1.0 + 0.05 * i;  // the machine becomes slower and slower
    auto made = read_record(json_of({i,
                                     fmt::format("c{}", i),
                                     "CPU",
                                     {{"old", times_of(drift), "a", "anchor"},
                                      {"new", times_of(1.5 * drift), "a", "candidate"}}}))
                    .value();
    sessions.push_back(std::move(made));
  }
  REQUIRE(store.add(sessions));
  Loader loader(opened.database);
  const auto variants = loader.load_variants({.benchmark = "a"}).value();
  const auto series = loader.load_series(variants.front(), {}).value();
  const Trend trend = make_trend(series.front(), ComparedWith::AnchorIfPresent);
  CHECK(trend.against == ComparedWith::Anchor);
  for (const CommitValue& one : trend.observations)
    CHECK(std::exp(one.value) == doctest::Approx(1.5).epsilon(1e-6));
  CHECK(value_text({series.front(), trend}, trend.observations.front()).find("+50") == 0);
  CHECK(find_steps_and_notes(loader, series.front(), ComparedWith::AnchorIfPresent)
            .value()
            .steps.empty());
}

TEST_CASE("a new anchor is chained by a session that has measured both") {
  const Scratch scratch;
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    auto database = open_history(where, Access::CreateMissing).value();
    Store store(database);
    const auto add = [&](int number, const std::vector<MadeCommand>& commands) {
      auto made =
          read_record(json_of({number, fmt::format("c{}", number), "CPU", commands})).value();
      REQUIRE(store.add(std::vector{std::move(made)}));
    };
    // v1 takes 1 s and v2 0.8 s, on a machine that becomes slower; the candidate stays at 1.6 s.
    for (int i = 0; i < 20; ++i) {
      const double drift = 1.0 + 0.05 * i;
      const bool is_new = i >= 10;
      add(i, {{is_new ? "v2" : "v1", times_of((is_new ? 0.8 : 1.0) * drift), "a", "anchor"},
              {"new", times_of(1.6 * drift), "a", "candidate"}});
    }
    Loader loader(database);
    const auto variants = loader.load_variants({.benchmark = "a"}).value();
    auto series = loader.load_series(variants.front(), {}).value();
    CHECK(series.front().removed_anchor_ratios == 10);
    const Trend alone = make_trend(series.front(), ComparedWith::AnchorIfPresent);
    CHECK(alone.observations.size() == 10);
    CHECK(has(series_text({series.front(), alone}, {}),
              "10 sessions with an older anchor are not shown"));

    // A link over an anchor that was never measured with the candidate.
    SUBCASE("over another one") {
      add(30, {{"v3", times_of(0.5), "a", "anchor"}, {"v1", times_of(1.0), "a", "reference"}});
      add(31, {{"v3", times_of(0.5), "a", "anchor"}, {"v2", times_of(0.8), "a", "reference"}});
    }
    // Whichever of the two is the anchor there.
    SUBCASE("the new one") {
      add(30, {{"v2", times_of(0.8), "a", "anchor"}, {"v1", times_of(1.0), "a", "reference"}});
    }
    SUBCASE("the old one") {
      add(30, {{"v1", times_of(1.0), "a", "anchor"}, {"v2", times_of(0.8), "a", "reference"}});
    }
    series = loader.load_series(variants.front(), {}).value();
    CHECK(series.front().removed_anchor_ratios == 0);
    const Trend trend = make_trend(series.front(), ComparedWith::AnchorIfPresent);
    REQUIRE(trend.observations.size() == 20);
    for (const CommitValue& one : trend.observations)
      CHECK(std::exp(one.value) == doctest::Approx(2.0).epsilon(1e-6));
    CHECK(find_steps_and_notes(loader, series.front(), ComparedWith::AnchorIfPresent)
              .value()
              .steps.empty());
  }
}

TEST_CASE("what a link says of an anchor it does not say surely: its error makes no step") {
  // The link is 1% off, and its error is 1%; each side has points that vary by 0.1%.
  const auto stepped_by = [](double off) {
    Opened opened;
    Loader loader(opened.database);
    MetricHistory series = series_of_values({});
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0.0, 0.001);
    for (int i = 0; i < 60; ++i) {
      SessionPoint point{.began = 1000 + i, .commit = fmt::format("c{}", i)};
      const bool is_old = i < 30;
      point.anchor = "v2";
      point.values = {
          .name = "wall_time", .unit = Unit::Seconds, .mean = 1.0, .summarized_values = 10};
      point.values.ratio_to_anchor = LogRatio{noise(random) + (is_old ? off : 0.0), 0.001};
      point.link_error = is_old ? 0.01 : 0.0;
      series.points.push_back(point);
    }
    return find_steps_and_notes(loader, series, ComparedWith::Anchor).value();
  };
  CHECK(stepped_by(0.01).steps.empty());
  const auto sure = stepped_by(-0.05);
  REQUIRE(sure.steps.size() == 1);
  CHECK(sure.steps[0].step.bounds.high - sure.steps[0].step.bounds.low > 2 * 1.9 * 0.01);
  const CommitValue& old = sure.trend.observations.front();
  CHECK(old.whole_error().value_or(0) == doctest::Approx(std::hypot(0.001, 0.01)));
}

TEST_CASE("anchors are linked over others, with the errors of all links") {
  const std::vector<AnchorRatio> measured = {
      {"v1", "v2", {0.1, 0.03}},
      {"v3", "v2", {0.2, 0.04}},
      {"v3", "v2", {0.4, 0.04}},  // 0.3 +- 0.04 / sqrt(2) of both
      {"x", "y", {1.0, 0.01}},
  };
  const auto links = ratios_to_anchor("v3", measured);
  CHECK(links.size() == 2);
  CHECK(links.at("v2").value == doctest::Approx(-0.3));
  CHECK(links.at("v1").value == doctest::Approx(-0.2));
  CHECK(links.at("v1").error.value_or(0) ==
        doctest::Approx(std::hypot(0.03, 0.04 / std::sqrt(2.0))));
}

TEST_CASE("the sessions of several machines become one change, which says how much they differ") {
  std::vector<MetricHistory> all;
  for (const int machine : {1, 2, 3}) {
    MetricHistory series = series_of_values({1.0, 1.0});
    series.variant.machine_class = fmt::format("m{}", machine);
    for (SessionPoint& point : series.points)
      point.values.ratio_to_reference = LogRatio{0.02 * machine, 0.002};
    all.push_back(series);
  }
  const auto effects = combine_by_title(all);
  REQUIRE(effects.size() == 1);
  CHECK(effects[0].machines.size() == 3);
  CHECK(effects[0].machines[0].error == doctest::Approx(0.002 / std::sqrt(2.0)));
  CHECK(effects[0].combined.value == doctest::Approx(0.04).epsilon(1e-6));
  const std::string text = fleet_text(effects[0], {});
  CHECK(has(text, "the change differs between machines by 2.0%"));
  CHECK(has(text, "with only 3 machines this is uncertain"));
  CHECK_FALSE(is_worse_than(effects[0], 0.0, false));  // ± 5%, as three are few
  CHECK(is_worse_than(effects[0], 5.0, true));
  CHECK_FALSE(is_worse_than(effects[0], 7.0, true));
}

TEST_CASE("a small difference between machines is written as a number") {
  std::vector<MetricHistory> all;
  for (const int machine : {1, 2, 3}) {
    MetricHistory series = series_of_values({1.0, 1.0});
    series.variant.machine_class = fmt::format("m{}", machine);
    for (SessionPoint& point : series.points)
      point.values.ratio_to_reference = LogRatio{0.0002 * machine, 0.00002};
    all.push_back(series);
  }
  const std::string text = fleet_text(combine_by_title(all).at(0), {});
  CHECK(has(text, "the change differs between machines by 0.0% (standard deviation)"));
}

TEST_CASE("a combined change that is not significant says which one would have been found") {
  const auto text_of = [](double change) {
    std::vector<MetricHistory> all;
    for (const int machine : {-3, -1, 0, 1, 3}) {
      MetricHistory series = series_of_values({1.0, 1.0});
      series.variant.machine_class = fmt::format("m{}", machine);
      for (SessionPoint& point : series.points)
        point.values.ratio_to_reference = LogRatio{change + 0.001 * machine, 0.002};
      all.push_back(series);
    }
    return fleet_text(combine_by_title(all).at(0), {.width = 400});
  };
  CHECK(has(text_of(0.0), "% would have been found in four of five such combinations of sessions"));
  CHECK(has(text_of(0.1), "I²"));
  CHECK_FALSE(has(text_of(0.1), "would have been found"));
}

TEST_CASE("what is shown of a series fits the terminal, and no name steers it") {
  MetricHistory series = series_of_values({1.0, 1.5});
  series.variant.benchmark = "it\x1b[2J";
  series.points[0].commit = "0123456789abcdef0123456789abcdef01234567+dirty";
  const Trend trend = make_trend(series, ComparedWith::Nothing);
  const std::string wide = series_text({series, trend}, {});
  CHECK(wide.find("it\\x1b[2J, wall_time") == 0);
  CHECK(has(wide, "0123456789+dirty"));
  CHECK(has(wide, "+50.0% ± 0.4%"));
  CHECK(has(wide, "●"));
  CHECK_FALSE(has(series_text({series, trend}, {.width = 60}), "●"));
  CHECK(has(series_text({series, trend}, {.width = 70}), "measured"));
  const std::string narrow = series_text({series, trend}, {.width = 40});
  CHECK_FALSE(has(narrow, "measured"));
  CHECK(has(narrow, "+50.0% ± 0.4%"));
  const std::string plain = series_text({series, trend}, {.ascii = true});
  CHECK(has(plain, "+-"));
  CHECK_FALSE(has(plain, "●"));
}

TEST_CASE("the page of a history draws no chart of a single commit") {
  const auto page_of = [](const std::vector<double>& values) {
    MetricHistory series = series_of_values(values);
    Trend trend = make_trend(series, ComparedWith::Nothing);
    const SteppedSeries stepped{std::move(series), std::move(trend)};
    std::string page;
    write_history_page("it", "", {&stepped, 1}, [&](std::string_view text) { page += text; });
    return page;
  };
  CHECK(has(page_of({1.0, 1.5}), "<div class=\"chart c0\""));
  const std::string single = page_of({1.0});
  CHECK(has(single, "<details><summary>The last 1</summary>"));
  CHECK_FALSE(has(single, "<div class=\"chart"));
}

TEST_CASE("a step that one more commit would confirm is named, and one more confirms it") {
  Opened opened;
  Loader loader(opened.database);
  std::vector<double> values = levels({1.0});
  const auto stepped = [&] {
    return find_steps_and_notes(loader, series_of_values(values), ComparedWith::AnchorIfPresent)
        .value();
  };
  CHECK_FALSE(stepped().possible_step_at.has_value());
  values.push_back(1.1);
  values.push_back(1.101);
  const SteppedSeries pending = stepped();
  CHECK(pending.steps.empty());
  REQUIRE(pending.possible_step_at.has_value());
  CHECK(pending.trend.observations[*pending.possible_step_at].commit == "c41");
  CHECK(pending_text(pending) == "there may be a step at c41; one more commit will decide");
  CHECK(has(steps_text(pending, {}), pending_text(pending)));
  CHECK(has(series_text(pending, {}), pending_text(pending)));
  std::string page;
  write_history_page("it", "", {&pending, 1}, [&](std::string_view text) { page += text; });
  CHECK(has(page, pending_text(pending)));
  values.push_back(1.1);
  CHECK_FALSE(stepped().possible_step_at.has_value());
  REQUIRE(stepped().steps.size() == 1);
  CHECK(stepped().trend.observations[stepped().steps[0].step.first_point].commit == "c41");
}

TEST_CASE("failed runs are kept in a history, and shown with their commit") {
  Opened opened;
  auto record = read_record(json_of({1, "abc", "CPU", {{"it", {1.0, 1.01, 1.02, 1.03}}}})).value();
  CHECK(record.results[0].endings.failed_run_groups.empty());
  record.results[0].endings = {4, {{Ending::Failed, 9, 3}, {Ending::Signalled, 139, 1}}};
  const std::string numbers = encode_values(record.results[0].metrics, record.results[0].endings);
  CHECK(decode_endings(numbers).failed_run_groups == record.results[0].endings.failed_run_groups);
  MetricRecord last = record.results[0].metrics.back();
  last.mean = 0.0;
  CHECK(decode_values(last, record.results[0].metrics.size() - 1, numbers));
  CHECK(last.mean == record.results[0].metrics.back().mean);
  Store store(opened.database);
  REQUIRE(store.add({&record, 1}));
  Loader loader(opened.database);
  const auto variants = loader.load_variants({}).value();
  REQUIRE(variants.size() == 1);
  const auto series = loader.load_series(variants[0], {}).value();
  const auto stepped =
      find_steps_and_notes(loader, series[0], ComparedWith::AnchorIfPresent).value();
  CHECK(has(series_text(stepped, {}), "4 of 4 runs failed (3 with status 9, 1 by SIGSEGV)"));
}

namespace {

/// A commit for each count, which is the same in all three runs of its session.
MetricHistory series_of_counts(const std::vector<double>& counts) {
  MetricHistory series = series_of_values(counts);
  series.metric = {.name = "instructions", .unit = Unit::Count};
  for (SessionPoint& point : series.points) {
    point.values.unit = Unit::Count;
    point.values.stddev = 0.0;
    point.values.summarized_values = 3;
  }
  return series;
}

}  // namespace

TEST_CASE("counts that repeat are exact in a history, with all digits, and so are their steps") {
  Opened opened;
  Loader loader(opened.database);
  std::vector<double> counts(20, 16172215.0);
  counts.insert(counts.end(), 20, 16206904.0);
  const auto stepped =
      find_steps_and_notes(loader, series_of_counts(counts), ComparedWith::Nothing).value();
  CHECK(value_text(stepped, stepped.trend.observations[0]) == "16,172,215 exact");
  CHECK(change_text(stepped, 1) == "0% exact");
  CHECK(change_text(stepped, 20) == "+0.214% exact");
  REQUIRE(stepped.steps.size() == 1);
  CHECK(step_change_text(stepped, stepped.steps[0].step) == "+0.214% exact");

  MetricHistory varying = series_of_counts(counts);
  varying.points[3].values.stddev = 5.0;
  const auto other = find_steps_and_notes(loader, varying, ComparedWith::Nothing).value();
  CHECK(has(value_text(other, other.trend.observations[3]), " ± "));
  CHECK_FALSE(has(value_text(other, other.trend.observations[3]), "exact"));
  REQUIRE(other.steps.size() == 1);
  CHECK_FALSE(has(step_change_text(other, other.steps[0].step), "exact"));
}

TEST_CASE("counts of which some are 0 have exact differences, and no rounding errors") {
  Opened opened;
  Loader loader(opened.database);
  MetricHistory series = series_of_counts({0.0, 12345678.0, 12345678.0, 12345670.0});
  const auto stepped = find_steps_and_notes(loader, series, ComparedWith::Nothing).value();
  CHECK_FALSE(stepped.trend.is_logarithm);
  CHECK(change_text(stepped, 1) == "+12,345,678 exact");
  CHECK(change_text(stepped, 2) == "0 exact");
  CHECK(change_text(stepped, 3) == "−8 exact");
}

TEST_CASE("sessions of one commit with different counts are not exact") {
  Opened opened;
  Loader loader(opened.database);
  MetricHistory series = series_of_counts({100000.0, 100004.0});
  series.points[1].commit = series.points[0].commit;
  const auto stepped = find_steps_and_notes(loader, series, ComparedWith::Nothing).value();
  REQUIRE(stepped.trend.observations.size() == 1);
  CHECK_FALSE(stepped.trend.observations[0].exact_value.has_value());
  CHECK(has(value_text(stepped, stepped.trend.observations[0]), " ± "));
}

TEST_CASE("exact ratios to the reference are shown without an interval") {
  Opened opened;
  Loader loader(opened.database);
  MetricHistory series = series_of_counts({100000.0});
  series.points[0].values.ratio_to_reference = LogRatio{std::log(1.00214505268), 1e-17};
  const auto stepped = find_steps_and_notes(loader, series, ComparedWith::Reference).value();
  CHECK(value_text(stepped, stepped.trend.observations[0]) == "+0.215% exact");
}

}  // namespace lauka::history
