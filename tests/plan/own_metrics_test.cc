#include "plan/options_of.h"
#include "plan/rows.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka {
namespace {

OwnMetric own(std::string_view head, std::string text = "") {
  auto metric = parse_own_metric(head);
  REQUIRE(metric);
  metric->text = std::move(text);
  return *metric;
}

Options with_rows(std::vector<std::string> rows = {}) {
  Options options = options_of({"a", "b"});
  options.metrics = rows.empty() ? MetricSelection::Default : MetricSelection::Listed;
  options.metric_list = std::move(rows);
  return options;
}

}  // namespace

TEST_CASE("what is scraped and what is announced are metrics, which gates and formulas may be on") {
  Options options = with_rows({"wall_time", "served:1:higher", "rate"});
  options.scraped = {own("rate:higher", "(x)")};
  options.derived = {own("each:ms", "wall_time / served")};
  options.gates.push_back({.metric = "served", .limit_percent = -5, .below = true});
  const auto plan = make_plan(options, no_events, 1);
  if (!plan) FAIL(plan.error().line());
  REQUIRE(plan->reported.size() == 2);
  CHECK(plan->reported[0].name == "rate");
  CHECK(plan->reported[1].name == "served");
  CHECK(plan->metrics[1].name == "served");
  CHECK(plan->metrics[1].better == Better::More);
  CHECK(plan->metrics[1].shown == Shown::Always);
  CHECK(plan->metrics[2].name == "rate");
}

TEST_CASE("two metrics of one name are refused") {
  Options twice = with_rows();
  twice.scraped = {own("rate", "(x)"), own("rate", "(y)")};
  CHECK(answer_to(twice) == "--scrape names rate twice; give each metric a name of its own");
  Options taken = with_rows();
  taken.scraped = {own("wall_time", "(x)")};
  CHECK(answer_to(taken) ==
        "--scrape wall_time has the name of another metric; give it a name of its own");
  CHECK(answer_to(with_rows({"wall_time:ms:higher"})) ==
        "--metrics wall_time has the name of another metric; give it a name of its own");
  Options both = with_rows({"rate:higher"});
  both.scraped = {own("rate", "(x)")};
  CHECK(answer_to(both) ==
        "--metrics announces rate, which is there already; leave out the part after its name");
  CHECK(
      answer_to(with_rows({"1x:higher"})) ==
      "--metrics '1x:higher' has '1x' for a name; begin it with a letter, and go on with letters, "
      "digits, _ . - / or %");
}

}  // namespace lauka
