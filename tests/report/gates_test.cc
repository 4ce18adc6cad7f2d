#include "report/gates.h"

#include "report/example.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::report {

namespace {

gate::Verdict verdict(gate::Answer answer, stats::Delta delta, std::size_t rounds) {
  gate::Verdict result;
  result.condition = {"wall_time", 10};
  result.candidate = 1;
  result.answer = answer;
  result.delta = delta;
  result.rounds = rounds;
  return result;
}

/// A session of `old` and `new` with one verdict; no rows but wall and CPU time of `new`.
Results with(gate::Verdict one, double cpu_half_width) {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds), metric("cpu_time", Unit::Seconds)};
  results.commands = {
      command("old", 9, {}),
      command("new", 9,
              {row(0, summary(9, 1, 0.1, 0.9, 1.1), one.delta),
               row(1, summary(9, 1, 0.1, 0.9, 1.1), stats::Delta{0.09, cpu_half_width, true})})};
  results.verdicts = {std::move(one)};
  return results;
}

}  // namespace

TEST_CASE("a failed gate names the delta, the rounds and the typical round") {
  auto failed = verdict(gate::Answer::Fail, {0.152, 0.021, true}, 36);
  failed.typical = gate::Typical{0.150, 0.132, 0.169};
  CHECK(gate_lines(with(failed, 0.01), false) ==
        "wall_time > 10%: fail: +15.2% ± 2.1% after 36 rounds "
        "(typical round +15.0%, between +13.2% and +16.9%)\n");
}

TEST_CASE(
    "a passed gate is told in the same way, and without a typical round where there is none") {
  auto passed = verdict(gate::Answer::Pass, {-0.003, 0.005, false}, 10);
  passed.typical = gate::Typical{-0.002, -0.006, 0.003};
  CHECK(gate_lines(with(passed, 0.01), false) ==
        "wall_time > 10%: pass: −0.3% ± 0.5% after 10 rounds "
        "(typical round −0.2%, between −0.6% and +0.3%)\n");
  passed.typical.reset();
  CHECK(gate_lines(with(passed, 0.01), false) ==
        "wall_time > 10%: pass: −0.3% ± 0.5% after 10 rounds\n");
}

TEST_CASE("an inconclusive gate says what would decide") {
  auto open = verdict(gate::Answer::Inconclusive, {0.091, 0.060, true}, 100);
  open.times_as_many = 3.1;
  CHECK(gate_lines(with(open, 0.005), false) ==
        "wall_time > 10%: inconclusive: +9.1% ± 6.0% after 100 rounds; "
        "about 3 times as many would decide, or gate cpu time, whose noise is 12 times smaller\n");
}

TEST_CASE("advice is given only where it is known and helps") {
  auto open = verdict(gate::Answer::Inconclusive, {0.091, 0.060, true}, 100);
  CHECK(gate_lines(with(open, 0.05), false) ==
        "wall_time > 10%: inconclusive: +9.1% ± 6.0% after 100 rounds\n");
  CHECK(gate_lines(with(open, 0.005), false) ==
        "wall_time > 10%: inconclusive: +9.1% ± 6.0% after 100 rounds; "
        "gate cpu time, whose noise is 12 times smaller\n");
  open.times_as_many = 1.34;
  CHECK(gate_lines(with(open, 0.05), false) ==
        "wall_time > 10%: inconclusive: +9.1% ± 6.0% after 100 rounds; "
        "about 1.3 times as many would decide\n");
}

TEST_CASE("with several candidates each line begins with the candidate") {
  Results results = with(verdict(gate::Answer::Pass, {0.01, 0.005, true}, 10), 0.01);
  results.commands.push_back(command("new\n-O3", 9, {}));
  auto other = verdict(gate::Answer::Fail, {0.5, 0.01, true}, 10);
  other.candidate = 2;
  other.condition = {"instructions", 0.5};
  results.verdicts.push_back(other);
  CHECK(gate_lines(results, false) ==
        "new: wall_time > 10%: pass: +1.0% ± 0.5% after 10 rounds\n"
        "new\\n-O3: instructions > 0.5%: fail: +50.0% ± 1.0% after 10 rounds\n");
}

TEST_CASE("a gate on what is too small to be measured names the command") {
  auto bounded = verdict(gate::Answer::Inconclusive, {}, 0);
  bounded.condition.metric = "peak_rss";
  bounded.too_small = 0;
  CHECK(gate_lines(with(bounded, 0.01), false) ==
        "peak_rss > 10%: inconclusive: that of 'old' is too small to be measured here (see its "
        "row)\n");
}

TEST_CASE("a gate with little behind it says so") {
  CHECK(gate_lines(with(verdict(gate::Answer::Inconclusive, {}, 0), 0.01), false) ==
        "wall_time > 10%: inconclusive: no round has a value of both commands\n");
  CHECK(gate_lines(with(verdict(gate::Answer::Inconclusive, {0.5, std::nullopt, false}, 1), 0.01),
                   false) == "wall_time > 10%: inconclusive: +50.0% after 1 round\n");
  CHECK(gate_lines(with(verdict(gate::Answer::Fail, {std::nullopt, std::nullopt, false}, 12), 0.01),
                   false) ==
        "wall_time > 10%: fail: new, as the reference's mean is 0, after 12 rounds\n");
}

TEST_CASE("the answer is coloured, and its line otherwise the same") {
  CHECK(gate_lines(with(verdict(gate::Answer::Fail, {0.5, 0.01, true}, 9), 0.01), true) ==
        "wall_time > 10%: \x1b[31mfail\x1b[0m: +50.0% ± 1.0% after 9 rounds\n");
  CHECK(gate_lines(with(verdict(gate::Answer::Pass, {0.0, 0.01, false}, 9), 0.01), true) ==
        "wall_time > 10%: \x1b[32mpass\x1b[0m: 0.0% ± 1.0% after 9 rounds\n");
  CHECK(gate_lines({}, true).empty());
}

}  // namespace lauka::report
