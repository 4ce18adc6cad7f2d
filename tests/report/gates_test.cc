#include "report/example.h"
#include "report/format.h"
#include "report/lines.h"

#include <algorithm>
#include <regex>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

using gate::Answer;

gate::Verdict verdict(Answer answer, stats::Delta delta, std::size_t rounds) {
  gate::Verdict result;
  result.condition = {"wall_time", GateLimit::of_change(10)};
  result.candidate = 1;
  result.answer = answer;
  result.delta = delta;
  result.rounds = rounds;
  return result;
}

/// A session of `old` and `new` with one verdict; no rows but wall and CPU time of `new`.
Results with(gate::Verdict one, double cpu_half_width) {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds), metric("cpu_time", Unit::Seconds)};
  set_commands(results,
               {command("old", 9, {}),
                command("new", 9,
                        {row(0, summary(9, 1, 0.1, 0.9, 1.1), one.delta),
                         row(1, summary(9, 1, 0.1, 0.9, 1.1), changed(0.09, cpu_half_width))})});
  results.findings.verdicts = {std::move(one)};
  return results;
}

std::string line_of(gate::Verdict one, double cpu_half_width = 0.01) {
  return gate_lines(with(std::move(one), cpu_half_width), false);
}

/// Returns the numbers of the evidence in a gate's line, in their order:
/// "+15.2% +13.1% 36".
std::string figures_of(const std::string& line) {
  static const std::regex kFigure("(?:[+]|\u2212)?[0-9]+(?:[.][0-9]+)?(?:%|ms)?");
  const std::string evidence = line.substr(line.find("measured"));
  std::string figures;
  for (std::sregex_iterator at(evidence.begin(), evidence.end(), kFigure), end; at != end; ++at)
    figures += (figures.empty() ? "" : " ") + at->str();
  return figures;
}

}  // namespace

TEST_CASE("a gate's line can be read aloud: the answer, what was measured, how often") {
  CHECK(
      line_of(verdict(Answer::Fail, changed(0.152, 0.021), 36)) ==
      "wall_time > 10%: fail: more than 10% slower with 95% confidence (measured +15.2%, at least "
      "+13.1%; 36 rounds)\n");
  auto passed = verdict(Answer::Pass, changed(0.042, 0.007), 57);
  passed.estimated_rounds_without_gates = 250;
  CHECK(
      line_of(passed) ==
      "wall_time > 10%: pass: at most 10% slower with 95% confidence (measured +4.2%, at most "
      "+4.9%; 57 of about 250 planned rounds, so slow runs that happen less than once in 20 could "
      "have been missed)\n");
}

TEST_CASE("a limit of 0, a drop and a required gain have their own words") {
  const auto reported = [](const char* metric, double percent, bool below, Answer answer) {
    auto one = verdict(answer, changed(0.0, 0.5), 9);
    one.condition = {metric, GateLimit::of_change(percent), below};
    const std::string line = line_of(one);
    const std::size_t from = line.find(": ", line.find(": ") + 2) + 2;
    return line.substr(from, line.find(" with 95% confidence") - from);
  };
  using enum gate::Answer;
  CHECK(reported("wall_time", 0, false, Pass) == "not slower");
  CHECK(reported("wall_time", 0, false, Fail) == "slower");
  CHECK(reported("wall_time", -5, false, Pass) == "at least 5% faster");
  CHECK(reported("wall_time", -5, false, Fail) == "less than 5% faster");
  CHECK(reported("cpu_time", 0.5, false, Fail) == "more than 0.5% higher");
  CHECK(reported("cpu_time", -5, true, Fail) == "more than 5% lower");
  CHECK(reported("cpu_time", -5, true, Pass) == "at most 5% lower");
  CHECK(reported("cpu_time", 5, true, Pass) == "at least 5% higher");
  CHECK(reported("cpu_time", 5, true, Fail) == "less than 5% higher");
  CHECK(reported("cpu_time", 0, true, Fail) == "lower");
}

TEST_CASE("a condition for keeping says if the command is kept, and if not, why") {
  const auto line = [](Answer answer, stats::Delta delta, double percent) {
    auto one = verdict(answer, delta, 36);
    one.condition = {.metric = "wall_time",
                     .limit = GateLimit::of_change(percent),
                     .purpose = ConditionPurpose::Keep};
    const std::string text = line_of(one);
    return text.substr(0, text.find(" ("));
  };
  CHECK(line(Answer::Pass, changed(-0.05, 0.01), -1) ==
        "keep if wall_time < -1%: kept: more than 1% faster with 95% confidence");
  CHECK(line(Answer::Fail, changed(0.05, 0.01), -1) ==
        "keep if wall_time < -1%: not kept, worse: slower with 95% confidence");
  CHECK(line(Answer::Fail, changed(0.0, 0.005), -1) ==
        "keep if wall_time < -1%: not kept, gain too small: at most 1% faster with 95% confidence");
  CHECK(line(Answer::Pass, changed(-0.05, 0.01), 0) ==
        "keep if wall_time < 0%: kept: faster with 95% confidence");
  CHECK(line(Answer::Fail, changed(0.05, 0.01), 0) ==
        "keep if wall_time < 0%: not kept, worse: slower with 95% confidence");
  CHECK(line(Answer::Inconclusive, changed(-0.01, 0.02), -1)
            .starts_with("keep if wall_time < -1%: not kept, undecided: "));
}

TEST_CASE("a pass shows the bound of its one-sided decision, whatever the interval says") {
  auto passed = verdict(Answer::Pass, changed(-0.49, 0.73), 36);
  passed.bounds.ranks = 0.08;
  CHECK(figures_of(line_of(passed)) == "−49% +8% 36");
}

TEST_CASE("a gate's line says what was accepted, why and until when") {
  auto accepted = verdict(Answer::Pass, changed(0.031, 0.004), 57);
  accepted.condition.limit = GateLimit::of_change(5.0);
  accepted.condition.acceptance = Acceptance{.own_limit = GateLimit::of_change(2.0),
                                             .reason = "new parser",
                                             .last_day = "2027-03-01",
                                             .entry = "a.toml:3"};
  CHECK(line_of(accepted) ==
        "wall_time > 2%: pass: accepted: measured +3.1%, and at most +5% is accepted (new parser, "
        "until 2027-03-01)\n");
  CHECK(verdict_cell(with(accepted, 0.01), accepted).text == "pass, accepted limit 5%");

  accepted.delta = changed(0.004, 0.003);
  CHECK(line_of(accepted) ==
        "wall_time > 2%: pass: at most 5% slower with 95% confidence (measured +0.4%, at most "
        "+0.7%; 57 rounds)\n  note: a.toml:3 (new parser) is no longer needed, because the whole "
        "interval is within the gate's own limit of 2%; remove the entry\n");

  accepted.answer = Answer::Fail;
  accepted.delta = changed(0.07, 0.01);
  CHECK(line_of(accepted) ==
        "wall_time > 2%: fail: more than 5% slower with 95% confidence (measured +7.0%, at least "
        "+6.0%; 57 rounds); at most +5% is accepted (new parser, until 2027-03-01)\n");

  accepted.condition.acceptance->has_expired = true;
  CHECK(has(line_of(accepted),
            "\n  note: a.toml:3 (new parser) expired on 2027-03-01, so the gate's own limit "
            "applies again; remove the entry\n"));
}

TEST_CASE("an end of the interval is named only where it bears the answer out") {
  // Ranks and mean share the error, so that the interval of one of them may reach over the limit.
  CHECK(figures_of(line_of(verdict(Answer::Pass, changed(0.05, 0.06), 36))) ==
        "+5.0% −1.0% +11.0% 36");
  // As many decimals as distinguish it from the limit.
  CHECK(figures_of(line_of(verdict(Answer::Fail, changed(0.14, 0.03996), 36))) ==
        "+14.000% +10.004% 36");
}

TEST_CASE("the mean comes first if it decided, or contradicts the typical round") {
  auto failed = verdict(Answer::Fail, changed(0.003, 0.005), 114);
  failed.delta.basis = stats::Basis::Typical;
  failed.delta.change_of_mean = changed(0.203, 0.091);
  failed.decided_by = gate::DecidedBy::Mean;
  const std::string by_mean = line_of(failed);
  CHECK(has(by_mean,
            "(measured +20.3%, at least +11.2% on average, and +0.3%, between −0.2% and +0.8% in "
            "the typical round; 114 rounds)"));
  failed.decided_by = gate::DecidedBy::Ranks;
  CHECK(line_of(failed) != by_mean);
  failed.delta.mean_and_typical_differ = true;
  CHECK(line_of(failed) == by_mean);
}

TEST_CASE("a table's verdict has the measured value only if the row's delta is another one") {
  auto failed = verdict(Answer::Fail, changed(0.152, 0.021), 36);
  const auto cell = [&] { return verdict_cell(with(failed, 0.01), failed); };
  CHECK(cell().text == "fail, limit 10%");
  CHECK(cell().verdict_reason == "limit 10%");
  failed.delta.basis = stats::Basis::Typical;
  failed.delta.change_of_mean = changed(0.203, 0.091);
  failed.decided_by = gate::DecidedBy::Mean;
  CHECK(cell().text == "fail: +20.3%, limit 10%");
  CHECK(cell().shorter_texts == std::vector<std::string>{"fail, limit 10%", "fail"});
}

TEST_CASE("a gate of a drop, and one against a bound, are shown as they were typed") {
  auto drop = verdict(Answer::Fail, changed(-0.12, 0.01), 20);
  drop.condition = {"cpu_time", GateLimit::of_change(-5), true};
  drop.metric = 1;
  CHECK(line_of(drop).starts_with("cpu_time < -5%: fail: "));
  CHECK(figures_of(line_of(drop)) == "−12.0% −11.0% 20");
  auto bound = verdict(Answer::Fail, changed(0.075, 0.0125), 15);
  bound.condition = {"wall_time", GateLimit::of_value(0.2, "200ms")};
  CHECK(line_of(bound).starts_with("wall_time > 200ms: fail: more than 200ms"));
  CHECK(figures_of(line_of(bound)) == "215.0ms 212.5ms 15");
}

TEST_CASE("an inconclusive gate says what would decide") {
  auto open = verdict(Answer::Inconclusive, changed(0.091, 0.060), 100);
  open.rounds_factor = 3.1;
  CHECK(line_of(open, 0.005) ==
        "wall_time > 10%: inconclusive: measured +9.1%, between +3.1% and +15.1%; 100 rounds; "
        "about 4 times as many rounds would probably be enough to decide, or gate on cpu_time, "
        "which is 12 times less noisy here\n");
}

TEST_CASE("an undecided candidate of a series is told what would decide, in a series of its own") {
  auto open = verdict(Answer::Inconclusive, changed(-0.091, 0.120), 100);
  open.condition = {
      .metric = "wall_time", .limit = GateLimit::of_change(-1), .purpose = ConditionPurpose::Keep};
  CHECK(
      has(line_of(open), "; 100 rounds; decide on cpu_time, which is 12 times less noisy here\n"));
  Results results = with(open, 0.01);
  results.session.series = SeriesPlace{.number = 2};
  CHECK(has(gate_lines(results, false), "decide on cpu_time (in a new series), which is 12 times"));
}

TEST_CASE("an inconclusive gate whose interval seems to decide says what it lacks") {
  // Several looks or gates share the error: each asks for more than the interval does.
  CHECK(line_of(verdict(Answer::Inconclusive, changed(0.16, 0.03), 12), 0.1) ==
        "wall_time > 10%: inconclusive: probably more than 10% slower, but not with the confidence "
        "that a gate needs (measured +16.0%, between +13.0% and +19.0%; 12 rounds)\n");
  CHECK(has(line_of(verdict(Answer::Inconclusive, changed(0.01, 0.03), 12), 0.1),
            "probably at most 10% slower, but not with"));
}

TEST_CASE("advice is given only where it is known and helps") {
  auto open = verdict(Answer::Inconclusive, changed(0.091, 0.060), 100);
  const auto advice = [&](double cpu_half_width) {
    const std::string line = line_of(open, cpu_half_width);
    return line.substr(line.find("rounds") + 6);
  };
  CHECK(advice(0.05) == "\n");
  CHECK(has(advice(0.005), "cpu_time"));
  CHECK(has(advice(0.005), "12 times"));
  open.rounds_factor = 6.2;
  CHECK(has(advice(0.05), "about 7 times"));
  CHECK_FALSE(has(advice(0.05), "cpu_time"));
}

TEST_CASE("with several candidates each line begins with the candidate") {
  Results results = with(verdict(Answer::Pass, changed(0.01, 0.005), 10), 0.01);
  add_command(command("new\n-O3", 9, {}), results);
  auto other = verdict(Answer::Fail, changed(0.5, 0.01), 10);
  other.candidate = 2;
  other.condition = {"instructions", GateLimit::of_change(0.5)};
  results.session.metrics.push_back(metric("instructions", Unit::Count));
  results.findings.verdicts.push_back(other);
  const std::string lines = gate_lines(results, false);
  CHECK(lines.starts_with("new: wall_time > 10%: pass: "));
  CHECK(has(lines, "\nnew\\n-O3: instructions > 0.5%: fail: "));
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
}

TEST_CASE("many equal lines of candidates are one, which counts them") {
  Results results = with(verdict(Answer::Inconclusive, {}, 0), 0.01);
  results.findings.verdicts[0].hindrance = {gate::Obstacle::NoSamples};
  results.is_inconclusive_ok = true;
  const auto add_candidates_up_to = [&](std::size_t last) {
    for (std::size_t c = results.commands.size(); c <= last; ++c) {
      add_command(command("more " + std::to_string(c), 9, {}), results);
      results.findings.verdicts.push_back(results.findings.verdicts[0]);
      results.findings.verdicts.back().candidate = c;
    }
    return gate_lines(results, false);
  };

  const std::string few = add_candidates_up_to(5);
  CHECK(std::ranges::count(few, '\n') == 5);
  CHECK(has(few, "more 4: wall_time > 10%: inconclusive: no sample of this event was taken\n"));
  CHECK(add_candidates_up_to(6) ==
        "6 commands: wall_time > 10%: inconclusive: no sample of this event was taken (exit status "
        "0; --fail-if-inconclusive makes it 4)\n");
}

TEST_CASE("a gate on what is too small to be measured names the command") {
  auto bounded = verdict(Answer::Inconclusive, {}, 0);
  bounded.condition.metric = "peak_rss";
  bounded.hindrance = {gate::Obstacle::UpperBounds, gate::Side::Reference};
  CHECK(line_of(bounded) ==
        "peak_rss > 10%: inconclusive: peak RSS of 'old' is below what can be measured here\n");
}

TEST_CASE("a gate of a session that was cut short says so, and after how many rounds") {
  auto cut = verdict(Answer::Inconclusive, changed(0.05, 0.1), 9);
  cut.hindrance = {gate::Obstacle::CutShort};
  CHECK(line_of(cut) ==
        "wall_time > 10%: inconclusive: the session was cut short after 9 rounds\n");
  cut.rounds = 0;
  CHECK(line_of(cut) ==
        "wall_time > 10%: inconclusive: the session was cut short before the first round\n");
}

TEST_CASE("a gate on few rounds says so") {
  CHECK(line_of(verdict(Answer::Inconclusive, {}, 0)) ==
        "wall_time > 10%: inconclusive: no round measured both commands\n");
  CHECK(figures_of(line_of(verdict(Answer::Inconclusive, changed(0.5, std::nullopt), 1))) ==
        "+50.0% 1");
  CHECK(has(line_of(verdict(Answer::Fail, changed(std::nullopt, std::nullopt), 12)),
            "a change that has no percentage, because the reference has values of 0 or below; 12 "
            "rounds)"));
}

TEST_CASE("the answer is coloured, and its line otherwise the same") {
  const Results failed = with(verdict(Answer::Fail, changed(0.5, 0.01), 9), 0.01);
  std::string plain = gate_lines(failed, false);
  CHECK(gate_lines(failed, true) == plain.replace(plain.find("fail"), 4, "\x1b[31mfail\x1b[0m"));
  CHECK(has(gate_lines(with(verdict(Answer::Pass, changed(0.0, 0.01), 9), 0.01), true),
            ": \x1b[32mpass\x1b[0m: "));
  CHECK(gate_lines({}, true).empty());
}

TEST_CASE(
    "a gate's line has the failures of both commands, and no figures where their rates differ") {
  Results results = with(verdict(Answer::Inconclusive, changed(-0.6, 0.1), 12), 0.01);
  results.commands[1].endings = {12, {{Ending::Failed, 9, 12}}};
  results.commands[0].endings = {12, {}};
  results.findings.verdicts[0].hindrance.obstacle = gate::Obstacle::FailureRates;
  CHECK(gate_lines(results, false) ==
        "wall_time > 10%: inconclusive: the commands failed at different rates; 12 of 12 runs of "
        "'new' failed (status 9), none of 12 runs of 'old'\n");
  results.findings.verdicts[0] = verdict(Answer::Pass, changed(0.042, 0.007), 12);
  results.commands[1].endings = {12, {{Ending::Signalled, 139, 2}, {Ending::TimedOut, 137, 1}}};
  CHECK(
      has(gate_lines(results, false),
          "; 3 of 12 runs of 'new' failed (2 by SIGSEGV, 1 timed out), none of 12 runs of 'old'"));
  results.commands[0].endings = {};  // not known
  CHECK_FALSE(has(gate_lines(results, false), "'old'"));
}

TEST_CASE("a gate's line has the failures of the runs that give its metric only") {
  Results results = with(verdict(Answer::Inconclusive, {}, 0), 0.01);
  results.findings.verdicts[0].hindrance = {gate::Obstacle::NoSuccess, gate::Side::Candidate};
  results.session.metrics[0].kind = RoundKind::Simulated;
  for (const std::size_t command : {0U, 1U})
    results.commands[command].endings = {15, {}, {{RoundKind::Simulated, 3}}};
  results.commands[1].endings.failed_run_groups = {
      {Ending::Signalled, 132, 3, RoundKind::Simulated}, {Ending::Failed, 9, 2}};
  CHECK(gate_lines(results, false) ==
        "wall_time > 10%: inconclusive: no simulated run of one command succeeded; 3 of 3 "
        "simulated runs "
        "of 'new' failed (SIGILL), none of 3 simulated runs of 'old'\n");
  CHECK(failures_text(results.commands[1].endings) ==
        "2 of 12 runs failed (status 9), 3 of 3 simulated runs failed (SIGILL)");
  CHECK(failed_runs_text(results.commands[1].endings) ==
        "2 of 12 (status 9), 3 of 3 simulated (SIGILL)");
}

TEST_CASE("each obstacle has a main clause, and names the side that it is about") {
  const auto reason = [](gate::Hindrance why) {
    auto one = verdict(Answer::Inconclusive, {}, 0);
    one.hindrance = std::move(why);
    const std::string line = line_of(one);
    const std::string start = "wall_time > 10%: inconclusive: ";
    REQUIRE(line.starts_with(start));
    return line.substr(start.size(), line.size() - start.size() - 1);
  };
  using gate::Obstacle;
  using gate::Side;
  CHECK(reason({Obstacle::NoSuccess, Side::Both}) == "no run succeeded");
  CHECK(reason({Obstacle::NoSuccess, Side::Reference}) == "no run of one command succeeded");
  CHECK(reason({Obstacle::NoValue, Side::Candidate}) ==
        "no run of 'new' gave a value for this metric");
  CHECK(reason({Obstacle::NoCommonRound}) == "no round measured both commands");
  CHECK(reason({Obstacle::NoPercentage}) ==
        "the metric has values below 0, so a change in percent is not defined");
  CHECK(reason({Obstacle::NoFunction, Side::Candidate}) ==
        "no run of 'new' was in a function of this name; the function may be inlined or have "
        "another name there (--functions lists the names)");
  CHECK(reason({Obstacle::NoSuccess, Side::Candidate, {{SettingKind::Jobs, "1", "2"}}}) ==
        "no run of one command succeeded; --jobs: 1 for 'old', 2 for 'new'");
}

TEST_CASE("a note below a pass on CPU time tells that the wall time rose") {
  Results results = with(verdict(Answer::Pass, changed(0.002, 0.001), 12), 0.001);
  results.findings.verdicts[0].metric = 1;
  results.findings.verdicts[0].condition = {"cpu_time", GateLimit::of_change(5)};
  results.commands[1].rows[0].delta = changed(0.83, 0.02);
  CHECK(has(gate_lines(results, false),
            "\n  note: the wall time is significantly higher, +83.0% (at least +81.0%), but no "
            "gate checks it; add --fail-if-slower=5\n"));
  results.commands[1].rows[0].delta = changed(0.04, 0.001);
  const std::string lines = gate_lines(results, false);
  CHECK(has(lines, "pass"));
  CHECK_FALSE(has(lines, "note"));
}

TEST_CASE("the last inconclusive line says that lauka ends with 0, where it does") {
  Results results = with(verdict(Answer::Inconclusive, changed(0.09, 0.1), 9), 0.01);
  const auto says_it = [&] {
    return has(gate_lines(results, false), std::string(kToleratedVerdictNote));
  };
  CHECK_FALSE(says_it());
  results.is_inconclusive_ok = true;
  CHECK(says_it());
  results.findings.verdicts.push_back(results.findings.verdicts[0]);
  const std::string both = gate_lines(results, false);
  CHECK(both.find(kToleratedVerdictNote) == both.size() - kToleratedVerdictNote.size() - 1);
  results.findings.verdicts.push_back(verdict(Answer::Fail, changed(0.2, 0.1), 9));
  CHECK_FALSE(says_it());
  results.findings.verdicts.pop_back();
  results.session.complete = false;
  CHECK_FALSE(says_it());
  results.session.complete = true;
  results.commands[1].endings = {9, {{Ending::Failed, 1, 9}}};
  CHECK_FALSE(says_it());
}

TEST_CASE("an exact change has a few digits and no interval in a gate's line") {
  auto failed = verdict(Answer::Fail, changed(0.02034567890123, 0.0), 3);
  failed.condition = {"instructions", GateLimit::of_change(1)};
  failed.delta.is_exact = true;
  failed.bounds.mean = 0.02034565;
  Results results = with(failed, 0.01);
  results.session.metrics[0] = metric("instructions", Unit::Count);
  results.session.metrics[0].kind = RoundKind::Simulated;
  results.commands[1].rows[0] = row(0, summary(3, 1, 0.0, 1, 1), failed.delta);
  CHECK(
      gate_lines(results, false) ==
      "instructions > 1%: fail: more than 1% higher with 95% confidence (measured +2.03% exact; 3 "
      "simulated rounds)\n");
}

TEST_CASE("an exact value has all its digits in a gate's line") {
  auto passed = verdict(Answer::Pass, changed(0.5, 0.0), 3);
  passed.condition = {.metric = "peak_heap",
                      .limit = GateLimit::of_value(8'390'656.0, "8MiB", Unit::Bytes)};
  passed.delta.is_exact = true;
  Results results = with(passed, 0.01);
  results.session.metrics[0] = metric("peak_heap", Unit::Bytes);
  CHECK(has(gate_lines(results, false), "measured 12,585,984B exact; "));
}

TEST_CASE("a verdict of fewer rounds than the table says so") {
  auto passed = verdict(Answer::Pass, changed(0.042, 0.007), 57);
  passed.estimated_rounds_without_gates = 430;
  Results results = with(passed, 0.01);
  results.commands[1].rows[0] = row(0, summary(432, 1, 0.1, 0.9, 1.1), passed.delta);
  CHECK(has(gate_lines(results, false),
            "measured +4.2%, at most +4.9%; decided after 57 of the 432 rounds in the table, so "
            "slow runs"));
  results.findings.verdicts[0].rounds = 432;
  results.findings.verdicts[0].estimated_rounds_without_gates = 0;
  CHECK(has(gate_lines(results, false), "at most +4.9%; 432 rounds)"));
}

}  // namespace lauka::report
