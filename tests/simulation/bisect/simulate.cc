// bisect_simulator: searches by lauka-bisect's own rules and lauka's own gates on simulated
// commits. scripts/bench bisect runs it. Exits with 1 where a limit is broken.
//
//   bisect_simulator SEARCHES [PART OF]
//
// It prints a row for each kind of search, whose heading is in scripts/bench bisect. With PART and
// OF, it takes every OF-th row from row number PART (from 0) on.
//
// The change is 5 %. The noise of a round is the standard deviation of the logarithm of its ratio,
// as a multiple of the change. Placement is what the linker adds to each build, whatever its code:
// the standard deviation of its logarithm, as a multiple of the change.
//
// Next to each search, the same line of commits is searched as git bisect run does: each answer of
// a gate is believed. The gate has an error of 5 % at each step, and a limit of half the change.

#include "bisect/rules.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace lauka::simulation {
namespace {

using bisect::EndsChange;
using bisect::Level;
using bisect::Search;
using bisect::StepAnswer;
using bisect::StepResult;

constexpr double kChange = 0.05;
constexpr double kError = 0.05;
constexpr std::size_t kPlanned = 250;  ///< rounds up to the first planned look
constexpr std::size_t kPlannedWithoutLimit = 4000;
constexpr std::size_t kLayouts = 16;  ///< layouts of each build, if it has several

enum class Shape : unsigned char { OneStep, TwoSteps, NoChange };

struct Case {
  std::string name;
  std::size_t commits = 128;
  double noise = 1.0;
  Shape shape = Shape::OneStep;
  bool drifts = false;
  bool has_heavy_tails = false;
  double unbuildable = 0.0;  ///< share of commits that do not build
  double placement = 0.0;
  std::size_t layouts = 1;
  std::size_t planned = kPlanned;
  std::size_t searches_divisor = 1;  ///< for cases that take long

  /// Without placement, a named commit must be right.
  bool is_checked() const { return placement == 0.0; }
};

/// A commit as it is built.
struct Build {
  double level = 0.0;
  std::vector<double> placements{};  ///< of each layout, as a logarithm
  bool succeeds = true;
};

/// A line of commits.
struct Line {
  std::vector<Build> builds;
  std::vector<std::size_t> culprits;
};

/// What a session has shown about one gate.
struct GateResult {
  std::optional<gate::Answer> answer{};  ///< nullopt before its decision
  stats::Delta delta{};
};

struct Session {
  std::vector<GateResult> gates;
  std::size_t rounds = 0;
};

/// Takes a look at a gate as gate::decide_at_look() does, but without the bounds of its decision,
/// which no rule uses, and which take longer than all looks.
GateResult look_at_gate(const Condition& condition, const Comparison& samples,
                        const gate::LookErrors& levels, bool is_last) {
  const gate::Evidence evidence{.reference = samples.reference,
                                .candidate = samples.candidate,
                                .paired = samples.paired,
                                .reference_layouts = samples.reference_layouts,
                                .candidate_layouts = samples.candidate_layouts};
  const gate::Judgement judgement = gate::judge(
      evidence,
      {.limit = condition.limit.fraction(),
       .fails_when = condition.fails_below_limit ? gate::FailsWhen::Below : gate::FailsWhen::Above,
       .levels = levels,
       .is_last_look = is_last});
  if (!judgement.answer) return {};
  return {.answer = judgement.answer,
          .delta = evidence.has_layouts()
                       ? stats::delta_over_layouts(evidence.samples_with_layouts(), levels.tails)
                       : stats::estimate_delta(evidence.samples(), levels.tails)};
}

/// The machine on which a search takes place.
class Machine {
 public:
  Machine(const Case& what, noise::Source& source) : what_(what), source_(source) {}

  /// `planned`: rounds up to the first planned look.
  Session compare(const Build& reference, const Build& candidate,
                  const std::vector<Condition>& gates, double error, std::size_t planned);
  /// Measures until the interval of the change has this half width, for at most four times the
  /// planned rounds. Returns the change, and adds the rounds to `rounds`.
  stats::Delta measure_precisely(const Build& reference, const Build& candidate, double half_width,
                                 std::size_t& rounds);

 private:
  double run(const Build& build, std::size_t layout);
  void add_rounds(const Build& reference, const Build& candidate, std::size_t rounds,
                  Comparison& samples);
  /// Rounds up to whole sweeps through the layouts.
  std::size_t whole_sweeps(std::size_t rounds) const {
    return (rounds + what_.layouts - 1) / what_.layouts * what_.layouts;
  }

  const Case& what_;
  noise::Source& source_;
  double heat_ = 0.0;
};

/// Heavy tails: Student's t with three degrees of freedom, scaled to the same deviation.
double Machine::run(const Build& build, std::size_t layout) {
  double deviate = source_.normal();
  if (what_.has_heavy_tails) {
    double squares = 0.0;
    for (int i = 0; i < 3; ++i) squares += std::pow(source_.normal(), 2);
    deviate /= std::sqrt(squares);
  }
  if (what_.drifts) heat_ += 1e-5;
  const double deviation = what_.noise * kChange / std::sqrt(2.0);
  return std::exp(std::log1p(kChange * build.level) + build.placements[layout] + heat_ +
                  deviation * deviate);
}

void Machine::add_rounds(const Build& reference, const Build& candidate, std::size_t rounds,
                         Comparison& samples) {
  while (samples.reference.size() < whole_sweeps(rounds)) {
    const std::size_t layout = samples.reference.size() % what_.layouts;
    const bool is_reference_first = source_.uniform() < 0.5;
    const double first = run(is_reference_first ? reference : candidate, layout);
    const double second = run(is_reference_first ? candidate : reference, layout);
    samples.reference.push_back(is_reference_first ? first : second);
    samples.candidate.push_back(is_reference_first ? second : first);
    if (what_.layouts == 1) continue;
    samples.reference_layouts.push_back(static_cast<std::uint32_t>(layout));
    samples.candidate_layouts.push_back(static_cast<std::uint32_t>(layout));
  }
}

Session Machine::compare(const Build& reference, const Build& candidate,
                         const std::vector<Condition>& gates, double error, std::size_t planned) {
  gate::Schedule schedule(1.0 - error, gates.size(), 10, gate::LookTiming::Early);
  Comparison samples;
  Session session{.gates = std::vector<GateResult>(gates.size())};

  const auto look = [&](std::size_t rounds, const gate::LookErrors& levels, bool last) {
    add_rounds(reference, candidate, rounds, samples);
    session.rounds = samples.reference.size();
    for (std::size_t g = 0; g < gates.size(); ++g)
      if (!session.gates[g].answer)
        session.gates[g] = look_at_gate(gates[g], samples, levels, last);
    return std::ranges::all_of(session.gates,
                               [](const GateResult& of) { return of.answer.has_value(); });
  };

  for (auto next = schedule.rounds_at_next_early_look(); next && *next < planned;
       next = schedule.rounds_at_next_early_look()) {
    const auto levels = schedule.look_early(*next);
    if (levels && look(*next, *levels, false)) return session;
  }
  for (const std::size_t rounds : gate::look_rounds(planned)) {
    const bool last = rounds == 4 * planned;
    if (look(rounds, schedule.look_as_planned(rounds, last), last)) return session;
  }
  return session;
}

stats::Delta Machine::measure_precisely(const Build& reference, const Build& candidate,
                                        double half_width, std::size_t& rounds) {
  constexpr std::size_t first_check = 10;
  constexpr double growth = 1.05;
  const std::size_t most = 4 * what_.planned;
  Comparison samples;
  for (std::size_t next = first_check;;
       next = static_cast<std::size_t>(std::ceil(static_cast<double>(next) * growth))) {
    add_rounds(reference, candidate, std::min(next, most), samples);
    const stats::IntervalTails tails = stats::tails_of(1.0 - kError / 4.0);
    const stats::Delta delta =
        samples.has_layouts()
            ? stats::delta_over_layouts({{samples.reference, samples.reference_layouts},
                                         {samples.candidate, samples.candidate_layouts}},
                                        tails)
            : stats::estimate_delta({.reference = samples.reference,
                                     .candidate = samples.candidate,
                                     .paired = samples.paired},
                                    tails);
    const auto reached = delta.half_width();
    if (next < most && !(reached && *reached <= half_width)) continue;
    rounds += samples.reference.size();
    return delta;
  }
}

Line make_line(const Case& what, noise::Source& source) {
  const auto pick = [&] {
    return 1 + static_cast<std::size_t>(source.uniform() * static_cast<double>(what.commits));
  };
  Line line{std::vector<Build>(what.commits + 1), {}};

  const auto add = [&](std::size_t culprit, double size) {
    line.culprits.push_back(culprit);
    for (std::size_t i = culprit; i <= what.commits; ++i) line.builds[i].level += size;
  };
  if (what.shape == Shape::OneStep) add(pick(), 1.0);
  if (what.shape == Shape::TwoSteps) {
    add(pick(), 0.6);
    add(pick(), 0.4);
  }

  for (std::size_t i = 0; i <= what.commits; ++i) {
    Build& build = line.builds[i];
    build.placements = what.placement == 0.0
                           ? std::vector<double>(what.layouts)
                           : source.normals(what.layouts, 0.0, what.placement * kChange);
    if (i > 0 && i < what.commits) build.succeeds = source.uniform() >= what.unbuildable;
  }
  return line;
}

enum class Answer : unsigned char { NoChange, Commit, Range };

struct Found {
  Answer answer = Answer::NoChange;
  std::size_t commit = 0;
  std::size_t builds = 0;
  std::size_t failed_builds = 0;
  std::size_t rounds = 0;
  std::size_t asked_again = 0;  ///< commits that were measured twice
};

std::optional<EndsChange> to_ends(const stats::Delta& delta) {
  const auto near_end = bisect::near_end_of(delta);
  if (!near_end) return std::nullopt;
  return EndsChange{.change = *delta.change, .near_end = *near_end};
}

StepAnswer answer_of(const GateResult& gate) {
  if (gate.answer == gate::Answer::Inconclusive) return StepAnswer::Undecided;
  return gate.answer == gate::Answer::Fail ? StepAnswer::After : StepAnswer::Before;
}

/// Asks whether a build is beyond `limit` percent of the good end.
GateResult test_step(Machine& machine, const Line& line, const bisect::Step& step,
                     double limit_percent, std::size_t planned, Found& found) {
  const Session session = machine.compare(line.builds.front(), line.builds[step.commit],
                                          {{.metric = "v",
                                            .limit = GateLimit::of_change(limit_percent),
                                            .fails_below_limit = limit_percent < 0.0}},
                                          step.error, planned);
  found.rounds += session.rounds;
  return session.gates.front();
}

Found search_line(const Line& line, const Case& what, noise::Source& source) {
  Machine machine(what, source);
  Found found{.builds = 2};
  const Session first = machine.compare(
      line.builds.front(), line.builds.back(),
      {{.metric = "v"}, {.metric = "v", .fails_below_limit = true}}, kError / 4.0, what.planned);
  found.rounds += first.rounds;
  const auto failed = std::ranges::find(first.gates, gate::Answer::Fail, &GateResult::answer);
  if (failed == first.gates.end()) return found;

  found.answer = Answer::Range;
  auto ends = to_ends(failed->delta);
  if (ends && !ends->is_precise())
    ends = to_ends(machine.measure_precisely(line.builds.front(), line.builds.back(),
                                             std::abs(ends->change) * bisect::kPreciseShareOfChange,
                                             found.rounds));
  if (!ends || ends->near_end * ends->change <= 0.0) return found;

  Search search(what.commits, kError / 2.0);
  std::size_t in_test_tree = what.commits;
  while (const auto step = search.next_step()) {
    (step->asks_again ? found.asked_again : found.builds) += 1;
    StepResult result{.commit = step->commit, .answer = StepAnswer::Untestable};
    if (line.builds[step->commit].succeeds) {
      in_test_tree = step->commit;
      const std::size_t planned =
          what.planned * (step->asks_again ? bisect::kTimesToAskAgain : std::size_t{1});
      const GateResult gate = test_step(
          machine, line, *step, bisect::limit_percent(*ends, step->dividing_level), planned, found);
      result.answer = answer_of(gate);
      result.level = bisect::find_level(*ends, gate.delta);
    } else {
      ++found.failed_builds;
      in_test_tree = 0;
    }
    search.take(result);
  }
  if (!search.is_found()) return found;

  found.commit = search.first_after();
  const std::size_t parent = found.commit - 1;  // of a line
  ++found.builds;                               // the culprit, in a worktree of its own
  if (parent != 0 && in_test_tree != parent) ++found.builds;
  const Session last = machine.compare(line.builds[parent], line.builds[found.commit],
                                       {{.metric = "v", .fails_below_limit = ends->change < 0.0}},
                                       kError, what.planned);
  found.rounds += last.rounds;
  if (last.gates.front().answer == gate::Answer::Fail) found.answer = Answer::Commit;
  return found;
}

/// Searches a line as git bisect run does. Commits that do not build, or that a gate cannot decide,
/// are skipped. Git asks neither whether the ends differ nor whether its answer is right.
Found search_as_git(const Line& line, const Case& what, noise::Source& source) {
  Machine machine(what, source);
  Found found;
  std::vector<bool> is_skipped(what.commits + 1);
  // Git takes the middle of all commits, whether they can be tested or not.
  bisect::Known known{.after = what.commits, .is_passed_over = std::vector<bool>(what.commits + 1)};

  for (;;) {
    const std::vector<std::size_t> ranked = bisect::rank_line(known);
    const auto next =
        std::ranges::find_if(ranked, [&](std::size_t commit) { return !is_skipped[commit]; });
    if (next == ranked.end()) {
      found.answer = ranked.empty() ? Answer::Commit : Answer::Range;
      found.commit = known.after;
      return found;
    }

    ++found.builds;
    StepAnswer answer = StepAnswer::Untestable;
    if (line.builds[*next].succeeds)
      answer = answer_of(test_step(machine, line, {.commit = *next, .error = kError},
                                   100.0 * kChange / 2.0, what.planned, found));
    if (answer == StepAnswer::Before)
      known.before.push_back(*next);
    else if (answer == StepAnswer::After)
      known.after = *next;
    else
      is_skipped[*next] = true;
  }
}

/// How often searches gave which answer, and what they took.
struct Tally {
  double named = 0;
  double right = 0;
  double ranges = 0;
  double unchanged = 0;
  double builds = 0;
  double rounds = 0;
  double asked_again = 0;

  void add(const Found& found, const Line& line) {
    builds += static_cast<double>(found.builds);
    rounds += static_cast<double>(found.rounds);
    asked_again += static_cast<double>(found.asked_again);
    named += found.answer == Answer::Commit ? 1 : 0;
    ranges += found.answer == Answer::Range ? 1 : 0;
    unchanged += found.answer == Answer::NoChange ? 1 : 0;
    const bool is_right = found.answer == Answer::Commit &&
                          std::ranges::find(line.culprits, found.commit) != line.culprits.end();
    right += is_right ? 1 : 0;
  }

  /// Share of decided searches that are right; where nothing changed, of all searches.
  double right_share(bool has_change) const {
    const double decided = has_change ? named : named + ranges + unchanged;
    return decided == 0 ? 1.0 : (has_change ? right : unchanged) / decided;
  }
};

/// Searches many lines, and prints a row. Returns false if a limit is broken.
bool simulate(const Case& what, std::size_t searches) {
  noise::Source source(20261128 + what.commits);
  Tally ours;
  Tally gits;
  std::size_t most_above_log = 0;

  for (std::size_t i = 0; i < searches; ++i) {
    const Line line = make_line(what, source);
    const Found found = search_line(line, what, source);
    ours.add(found, line);
    const std::size_t needed = bisect::steps_for(what.commits) + found.failed_builds;
    if (found.builds > needed) most_above_log = std::max(most_above_log, found.builds - needed);
    gits.add(search_as_git(line, what, source), line);
  }

  const auto all = static_cast<double>(searches);
  const bool has_change = what.shape != Shape::NoChange;
  const double right_share = ours.right_share(has_change);
  std::printf(
      "| %-22s | %4zu | %5.0f | %8zu | %6.1f | %6.1f | %6.1f | %6.1f | %6.1f | +%zu | %5.2f | "
      "%6.0f | %6.1f | %6.1f | %6.1f | %6.0f |\n",
      what.name.c_str(), what.commits, what.noise, searches, 100 * right_share,
      100 * ours.named / all, 100 * ours.ranges / all, 100 * ours.unchanged / all,
      ours.builds / all, most_above_log, ours.asked_again / all, ours.rounds / all,
      100 * gits.right_share(has_change), 100 * gits.named / all, gits.builds / all,
      gits.rounds / all);
  std::fflush(stdout);

  // Three standard errors allow for the number of searches.
  const double decided = has_change ? ours.named : all;
  const double allowance = 3.0 * std::sqrt(0.95 * 0.05 / std::max(decided, 1.0));
  constexpr std::size_t most_builds_above_log = 4;
  constexpr double least_named = 0.5;  // a search that never names a commit is useless
  const bool names_commits = !has_change || !what.is_checked() || ours.named >= least_named * all;
  const bool is_right = right_share >= 0.95 - allowance && names_commits;
  return (is_right || !what.is_checked()) && most_above_log <= most_builds_above_log;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const double noise : {1.0, 2.0}) {
    for (const std::size_t commits : std::vector<std::size_t>{2, 16, 128, 1024})
      cases.push_back({.name = "one step", .commits = commits, .noise = noise});
    cases.push_back({.name = "two steps, 60 and 40 %", .noise = noise, .shape = Shape::TwoSteps});
    cases.push_back({.name = "no change", .noise = noise, .shape = Shape::NoChange});
    cases.push_back({.name = "drift", .noise = noise, .drifts = true});
    cases.push_back({.name = "heavy tails", .noise = noise, .has_heavy_tails = true});
    cases.push_back({.name = "10 % do not build", .noise = noise, .unbuildable = 0.1});
  }

  for (const Shape shape : {Shape::OneStep, Shape::NoChange})
    cases.push_back({.name = shape == Shape::OneStep ? "one step, no limit" : "no change, no limit",
                     .noise = 4.0,
                     .shape = shape,
                     .planned = kPlannedWithoutLimit,
                     .searches_divisor = 5});

  for (const std::size_t layouts : std::vector<std::size_t>{1, kLayouts})
    for (const double placement : {0.1, 0.25, 0.5})
      cases.push_back({.name = "placement " + std::to_string(placement).substr(0, 4) +
                               (layouts > 1 ? ", 16 layouts" : ""),
                       .placement = placement,
                       .layouts = layouts});
  return cases;
}

}  // namespace
}  // namespace lauka::simulation

int main(int argc, char** argv) {
  const auto number = [&](int place, std::size_t otherwise) {
    return argc > place ? static_cast<std::size_t>(std::atol(argv[place])) : otherwise;
  };
  const std::size_t searches = number(1, 0);
  const std::size_t part = number(2, 0);
  const std::size_t parts = number(3, 1);
  if (searches == 0 || part >= parts) {
    std::fputs("usage: bisect_simulator SEARCHES [PART OF]\n", stderr);
    return 2;
  }
  bool holds = true;
  const auto cases = lauka::simulation::all_cases();
  for (std::size_t row = part; row < cases.size(); row += parts)
    holds = lauka::simulation::simulate(
                cases[row], std::max<std::size_t>(searches / cases[row].searches_divisor, 1)) &&
            holds;
  if (!holds) std::puts("BROKEN: a named commit is wrong too often, or there are too many builds");
  return holds ? 0 : 1;
}
