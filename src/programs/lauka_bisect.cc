#include "app/deliver.h"
#include "app/inquiries.h"
#include "app/prepare.h"
#include "app/tuning.h"
#include "bisect/command_line.h"
#include "bisect/git.h"
#include "bisect/rules.h"
#include "bisect/search_record.h"
#include "bisect/words.h"
#include "cli/describe.h"
#include "core/program_name.h"
#include "core/text.h"
#include "os/export_files.h"
#include "os/signals.h"
#include "os/users.h"
#include "programs/bisect/worker.h"
#include "report/format.h"
#include "report/screen.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

// lauka-bisect joins the rules of the search (bisect/rules) with git (bisect/git) and with builds
// and sessions (programs/bisect/worker).

namespace lauka::bisect {

namespace {

/// Changes below this, as a fraction, may come from the placement of code (docs/layouts.md).
constexpr double kPlacementChange = 0.03;

constexpr const char* kHowToGoOn =
    "call lauka-bisect with the same command line to continue from here";

// The first word of an entry of the log; the rest is JSON (bisect/search_record.h).
constexpr std::string_view kEndsEntry = "ends";
constexpr std::string_view kStepEntry = "step";
constexpr std::string_view kSearchEntry = "search";

StepAnswer make_step_answer(gate::Answer answer) {
  if (answer == gate::Answer::Inconclusive) return StepAnswer::Undecided;
  return answer == gate::Answer::Fail ? StepAnswer::After : StepAnswer::Before;
}

/// Describes the search in the first line of its log. What changes the builds or the measurement
/// makes another search.
std::string make_head(std::span<const std::string> words, const std::vector<Commit>& commits) {
  return one_line(fmt::format("lauka-bisect {} {} {} {}", cli::version(), commits.front().id,
                              commits.back().id, shell_quoted(words)));
}

/// True if a commit was measured by this search. The first parent of a commit on a merged branch
/// may not have been.
bool is_known_to_run(const Commit& commit, const SearchRecord& record) {
  return commit.id == record.good.id ||
         std::ranges::any_of(record.steps, [&](const StepRecord& step) {
           return step.commit.id == commit.id && step.answer != StepAnswer::Untestable;
         });
}

/// Returns what has been measured of a commit in a step; for one that could not be tested, why.
StepRecord make_step_record(const Commit& commit, double limit, const MeasuredCandidate& result) {
  StepRecord record{.commit = commit, .limit = limit};
  const bool is_testable = result.failure.empty();
  if (is_testable) {
    record.answer = make_step_answer(result.verdicts.front().answer);  // the step has one gate
    record.change = result.change();
  } else {
    record.answer = StepAnswer::Untestable;
    record.reason = one_line(result.failure);
  }
  return record;
}

/// Returns a line of progress about a step that was done.
std::string describe_step(const StepRecord& record, bool asked_again) {
  if (!record.change)
    return fmt::format("{} {}, so lauka-bisect tries a neighbour", record.commit.short_id(),
                       record.reason);
  return fmt::format("{}: {} after {}, {}", record.commit.short_id(), change_text(*record.change),
                     plural(record.change->rounds, "round"),
                     meaning_of(record.answer, asked_again));
}

/// Sets in `record` what the comparison of a commit with its parent has shown. If the change has
/// the direction of the whole change, the commit is confirmed.
void take_change_from_parent(MeasuredCandidate result, SearchRecord& record) {
  record.from_parent = result.change();
  record.functions_of = std::move(result.functions_of);
  record.functions_unit = result.functions_unit;
  record.functions = std::move(result.functions);

  const bool is_confirmed = result.verdicts.front().answer == gate::Answer::Fail;
  if (is_confirmed)
    record.answer = SearchAnswer::Commit;
  else
    record.doubt = fmt::format("a comparison with its parent does not confirm it ({})",
                               change_text(*record.from_parent));
}

/// True if the interval of a change contains 0, so that no step can be judged by the change. The
/// end of the interval that is nearer to 0 then is 0, or has the other sign than the change.
bool may_be_zero(const EndsChange& ends) {
  return ends.near_end * ends.change <= 0.0;
}

/// Returns the exit status of a search that has ended.
ExitStatus status_of(SearchAnswer answer) {
  if (answer == SearchAnswer::NoChange) return ExitStatus::Done;
  return answer == SearchAnswer::Commit ? ExitStatus::GateFailed : ExitStatus::GateInconclusive;
}

/// Returns the number of commits that the steps were about. A commit that stayed undecided has two
/// steps, one after the other.
std::size_t count_commits(const std::vector<StepRecord>& steps) {
  std::size_t commits = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (i == 0 || steps[i].commit.id != steps[i - 1].commit.id) ++commits;
  return commits;
}

/// Returns the change between two ends that do not differ significantly. The answer tells it
/// together with the change that could be detected. So both must come from as many rounds as
/// possible, and a gate may have been decided before the last round.
MeasuredChange find_insignificant_change(const MeasuredCandidate& bad_end) {
  const gate::Verdict& longest = gate::find_verdict_with_most_rounds(bad_end.verdicts);
  return {.rounds = longest.rounds,
          .change = longest.delta,
          .detectable = bad_end.change_of_all_rounds.detectable};
}

class Bisection {
 public:
  Bisection(const Request& request, const Repository& repository, Worker& worker)
      : request_(request), repository_(repository), worker_(worker) {}

  /// Searches `commits`, from the good end to the bad end, and with --all what is left on both
  /// sides. Returns the exit status.
  int run(std::vector<Commit> commits);

  const std::vector<SearchRecord>& searches() const { return finished_searches_; }

  /// True if something was measured that another call can use.
  bool has_results() const { return has_results_; }

 private:
  struct Ends {
    std::string good;
    std::string bad;
  };

  std::optional<Stop> search(std::vector<Commit> commits);
  std::optional<Stop> finish_search(SearchRecord& record);
  std::optional<Stop> compare_ends(SearchRecord& record);
  OrStop<MeasuredCandidate> ask_about_ends(const SearchRecord& record, Question question);
  OrStop<MeasuredCandidate> ask_whether_ends_differ(const SearchRecord& record);
  Stop refuse_undefined_change(const SearchRecord& record) const;
  std::optional<Stop> take_equal_ends(SearchRecord& record) const;
  std::optional<Stop> measure_ends_precisely(bool is_counted_separately, SearchRecord& record);
  std::optional<Stop> take_second_change(const MeasuredChange& measured,
                                         SearchRecord& record) const;

  std::optional<Stop> do_steps(SearchRecord& record);
  void repeat_steps(const EndsChange& ends, SearchRecord& record, Search& search) const;
  std::optional<Stop> do_new_steps(const EndsChange& ends, SearchRecord& record, Search& search);
  std::string describe_next_step(const Step& step, const SearchRecord& record,
                                 const Search& search) const;
  OrStop<StepRecord> do_step(const Step& step, const EndsChange& ends);
  OrStop<MeasuredCandidate> measure_step(const Step& step, const EndsChange& ends);
  std::vector<std::size_t> rank_by_git(const Known& known);

  std::optional<Stop> confirm_commit(const Commit& culprit, SearchRecord& record);
  OrStop<std::string> build_sides(const CommitInTree& before, const CommitInTree& after);
  Question make_question_about_culprit(const Commit& parent, const SearchRecord& record) const;
  std::optional<Stop> compare_with_parent(const CommitInTree& before, const CommitInTree& after,
                                          SearchRecord& record);
  void say_remarks(const SearchRecord& record);

  void read_entries();
  /// Where other commits of a search may contribute to its change.
  struct Rest {
    bool is_before = false;
    bool is_after = false;
  };
  Rest find_rest(const SearchRecord& record) const;
  std::string describe_rest(const SearchRecord& record, const Rest& rest) const;
  void add_rest(const SearchRecord& record, std::vector<Ends>& ranges_to_search) const;
  static bool explains_most(const SearchRecord& record);
  std::string metric() const { return request_.metric(); }
  double error() const {
    return 1.0 - request_.options.gates.confidence.value_or(kDefaultConfidence);
  }
  /// A quarter of the error is for the question whether the ends differ, and a quarter for the size
  /// of the change. The steps share the other half.
  double error_of_ends() const { return error() / 4.0; }
  double error_of_steps() const { return error() / 2.0; }

  const Request& request_;
  const Repository& repository_;
  Worker& worker_;
  std::vector<Commit> commits_{};  ///< those of the present search
  std::optional<Error> ranking_error_{};
  std::vector<SearchRecord> finished_searches_{};
  bool has_results_ = false;

  // What earlier calls have done.
  std::vector<SearchRecord> known_searches_{};
  SearchRecord unfinished_{};  ///< only its `ends` and `steps` are known
};

void Bisection::read_entries() {
  for (const std::string& entry : worker_.earlier_entries()) {
    const std::size_t blank = entry.find(' ');
    const std::string_view kind = std::string_view(entry).substr(0, blank);
    const std::string_view rest = std::string_view(entry).substr(blank + 1);
    if (kind == kEndsEntry) {
      unfinished_ = {};
      unfinished_.ends = parse_change(rest);
    } else if (kind == kStepEntry) {
      // Steps mean nothing without the change that they divide.
      auto step = parse_step(rest);
      if (unfinished_.ends && step) unfinished_.steps.push_back(*std::move(step));
    } else if (kind == kSearchEntry) {
      if (auto search = parse_search(rest)) known_searches_.push_back(*std::move(search));
      unfinished_ = {};
    }
  }
}

// Without --all, there is one search, between the two ends that the user gave. With --all, the
// commits before and after a found commit are searched, too, if other commits contribute to the
// change. The exit status tells the answer of the first search.
int Bisection::run(std::vector<Commit> commits) {
  read_entries();
  has_results_ = unfinished_.ends || !known_searches_.empty();

  // The last of these ranges is searched next.
  std::vector<Ends> ranges_to_search{{.good = commits.front().id, .bad = commits.back().id}};
  while (!ranges_to_search.empty()) {
    const Ends ends = ranges_to_search.back();
    ranges_to_search.pop_back();

    // The caller has listed the commits of the first range.
    const bool is_first_range = finished_searches_.empty();
    if (!is_first_range) {
      auto listed = repository_.list_commits(ends.good, ends.bad, request_.parents);
      if (os::first_interrupt_signal() != 0) return status_of_signal(os::first_interrupt_signal());
      if (!listed) return print_error(listed.error(), ExitStatus::Failed);
      commits = *std::move(listed);
    }

    if (const auto stop = search(std::move(commits))) return stop->status;
    if (request_.finds_all) add_rest(finished_searches_.back(), ranges_to_search);
  }

  const auto first_answer = finished_searches_.front().answer;
  return static_cast<int>(status_of(first_answer.value_or(SearchAnswer::Range)));
}

/// Returns nothing if the commit explains most of the change, or was not found.
Bisection::Rest Bisection::find_rest(const SearchRecord& record) const {
  if (record.culprit() == nullptr || explains_most(record)) return {};
  return {.is_before = record.parent->id != record.good.id &&
                       repository_.is_ancestor(record.good.id, record.parent->id),
          .is_after = record.culprit()->id != record.bad.id};
}

/// Adds what is left on both sides of a commit that explains too little, the older part last, so
/// that it is searched next.
void Bisection::add_rest(const SearchRecord& record, std::vector<Ends>& ranges_to_search) const {
  const Rest rest = find_rest(record);
  if (rest.is_after) ranges_to_search.push_back({record.culprit()->id, record.bad.id});
  if (rest.is_before) ranges_to_search.push_back({record.good.id, record.parent->id});
}

/// Searches one range of commits, or takes its answer from an earlier call. Shows the answer, and
/// keeps it in finished_searches_. Returns a stop if the search cannot be finished.
std::optional<Stop> Bisection::search(std::vector<Commit> commits) {
  commits_ = std::move(commits);
  const auto finished_earlier =
      std::ranges::find_if(known_searches_, [&](const SearchRecord& earlier) {
        return earlier.good.id == commits_.front().id && earlier.bad.id == commits_.back().id;
      });
  const bool was_finished_earlier = finished_earlier != known_searches_.end();

  // If an earlier call began a search and did not finish it, that was the search of the first range
  // without an answer. So it continues here, and only here.
  SearchRecord record = was_finished_earlier ? *finished_earlier : std::exchange(unfinished_, {});
  if (!record.answer) {
    record.good = commits_.front();
    record.bad = commits_.back();
    record.commit_count = commits_.size() - 1;
    if (const auto stop = finish_search(record)) return stop;
    worker_.add_entry(fmt::format("{} {}", kSearchEntry, to_entry(record)));
  }

  worker_.print(answer_text(record, metric()));
  say_remarks(record);
  finished_searches_.push_back(std::move(record));
  return std::nullopt;
}

std::optional<Stop> Bisection::finish_search(SearchRecord& record) {
  if (!record.ends)
    if (const auto stop = compare_ends(record)) return stop;
  if (record.answer) return std::nullopt;
  worker_.say(fmt::format("{} changes by {} from {} to {}; the search takes about {}", metric(),
                          change_text(*record.ends), record.good.short_id(), record.bad.short_id(),
                          plural(steps_for(record.commit_count), "step")));
  return do_steps(record);
}

/// Compares the two ends, which are built. Stops the search if an end cannot be measured.
OrStop<MeasuredCandidate> Bisection::ask_about_ends(const SearchRecord& record, Question question) {
  auto compared =
      worker_.compare({Tree::Good, record.good}, {Tree::Test, record.bad}, std::move(question));
  const auto* const bad_end = std::get_if<MeasuredCandidate>(&compared);
  if (bad_end == nullptr || bad_end->failure.empty()) return compared;
  return Stop{
      print_error(worker_.make_failure_message({Tree::Test, commits_.back()}, bad_end->failure),
                  ExitStatus::Failed)};
}

/// Builds both ends, and measures until it is known whether they differ.
OrStop<MeasuredCandidate> Bisection::ask_whether_ends_differ(const SearchRecord& record) {
  if (const auto stop = worker_.build_or_stop(Tree::Good, record.good)) return *stop;
  if (const auto stop = worker_.build_or_stop(Tree::Test, record.bad)) return *stop;

  worker_.say(fmt::format("comparing the two ends, {} and {}", record.good.short_id(),
                          record.bad.short_id()));

  // One gate fails if the metric certainly rises, the other one if it certainly falls.
  const Condition rise{.metric = metric()};
  const Condition fall{.metric = metric(), .fails_below_limit = true};
  return ask_about_ends(record, {.gates = {rise, fall}, .error = error_of_ends()});
}

/// Ends the search because steps cannot divide a change that has no size.
Stop Bisection::refuse_undefined_change(const SearchRecord& record) const {
  return Stop{
      print_error({fmt::format("{} differs, but a change in percent is not defined, because "
                               "it is 0 at {}",
                               metric(), record.good.short_id()),
                   "use --metrics to choose a metric that is not 0 there"},
                  ExitStatus::Failed)};
}

/// Measures the change from the good end to the bad end, and sets it in `record`. If the ends do
/// not differ significantly, there is nothing to search, and that is the answer.
std::optional<Stop> Bisection::compare_ends(SearchRecord& record) {
  auto bad_end_or_stop = ask_whether_ends_differ(record);
  if (const auto* stop = std::get_if<Stop>(&bad_end_or_stop)) return *stop;
  const MeasuredCandidate bad_end = std::get<MeasuredCandidate>(std::move(bad_end_or_stop));

  // A gate fails if the metric certainly differs.
  const auto& verdicts = bad_end.verdicts;
  const auto failed_gate = std::ranges::find(verdicts, gate::Answer::Fail, &gate::Verdict::answer);
  const bool do_ends_differ = failed_gate != verdicts.end();
  if (!do_ends_differ) {
    record.ends = find_insignificant_change(bad_end);
    return take_equal_ends(record);
  }

  record.ends = MeasuredChange{.rounds = failed_gate->rounds, .change = failed_gate->delta};
  const bool is_change_defined = failed_gate->delta.change.has_value();
  if (!is_change_defined) return refuse_undefined_change(record);

  // The change is measured precisely before it goes into the log, for later calls.
  if (const auto stop = measure_ends_precisely(bad_end.is_counted_separately, record)) return stop;
  worker_.add_entry(fmt::format("{} {}", kEndsEntry, to_entry(*record.ends)));
  has_results_ = true;
  return std::nullopt;
}

/// Sets the answer that the ends do not differ significantly. Ends the search if too little is
/// known to say so.
std::optional<Stop> Bisection::take_equal_ends(SearchRecord& record) const {
  const stats::Change& change = record.ends->change;
  const bool could_tell = change.is_exact ? change.change == 0.0 : change.bounds.has_value();
  if (!could_tell)
    return Stop{print_error({fmt::format("{} cannot tell whether {} differs between the two ends",
                                         plural(record.ends->rounds, "round"), metric()),
                             "give --runs, --duration or --layouts a larger value, or use a lower "
                             "--confidence"},
                            ExitStatus::Failed)};
  record.answer = SearchAnswer::NoChange;
  return std::nullopt;
}

/// Sets the change of both ends to that of a second session, unless the first one remains the
/// better one. Ends the search if the ends may not differ after all.
std::optional<Stop> Bisection::take_second_change(const MeasuredChange& measured,
                                                  SearchRecord& record) const {
  // Without an interval, the first measurement remains the better one.
  const stats::Change& change = measured.change;
  const bool has_interval = change.change && (change.is_exact || change.bounds);
  if (!has_interval) return std::nullopt;
  record.ends = measured;
  record.ends->detectable.reset();  // is told only of ends that do not differ

  if (!may_be_zero(to_ends(change))) return std::nullopt;
  return Stop{
      print_error({fmt::format("a second measurement does not confirm that {} differs between "
                               "the two ends ({})",
                               metric(), change_text(*record.ends)),
                   "give --runs, --duration or --layouts a larger value"},
                  ExitStatus::Failed)};
}

/// Measures the change of both ends once more. The first session ended as soon as there was a
/// difference, which says little about its size. The steps ask whether a commit has about half of
/// the change, so they are decided sooner if the size is known precisely.
std::optional<Stop> Bisection::measure_ends_precisely(bool is_counted_separately,
                                                      SearchRecord& record) {
  const EndsChange first_measured = to_ends(record.ends->change);
  if (first_measured.is_precise()) return std::nullopt;

  // A session can go on until a precision is reached only for metrics of timed runs. Metrics that
  // are counted in separate runs get another session of the usual length.
  constexpr int times_of_duration = 4;
  Question question{.error = error_of_ends()};
  if (!is_counted_separately) {
    question.precision = std::abs(first_measured.change) * kPreciseShareOfChange;
    question.times_of_duration = times_of_duration;
  }

  worker_.say(fmt::format("measuring this change ({}) more precisely", change_text(*record.ends)));
  const auto compared = ask_about_ends(record, std::move(question));
  if (const auto* stop = std::get_if<Stop>(&compared)) return *stop;
  return take_second_change(std::get<MeasuredCandidate>(compared).change_of_all_rounds, record);
}

/// Builds and measures a commit. The result has a failure if the commit cannot be tested.
OrStop<MeasuredCandidate> Bisection::measure_step(const Step& step, const EndsChange& ends) {
  const Commit& commit = commits_[step.commit];
  const auto made = worker_.build(Tree::Test, commit);
  if (const auto* stop = std::get_if<Stop>(&made)) return *stop;
  if (const std::string& failure = std::get<std::string>(made); !failure.empty())
    return MeasuredCandidate{.failure = failure};

  if (const auto stop = worker_.build_or_stop(Tree::Good, commits_.front())) return *stop;
  const double limit = limit_percent(ends, step.dividing_level);
  return worker_.compare({Tree::Good, commits_.front()}, {Tree::Test, commit},
                         {.gates = {Condition{.metric = metric(),
                                              .limit = GateLimit::of_change(limit),
                                              .fails_below_limit = limit < 0.0}},
                          .error = step.error,
                          .times_of_duration = step.asks_again ? kTimesToAskAgain : 1});
}

/// Tests one commit: is more or less than a certain part of the change already in it? The answer
/// goes into the log, so that an interrupted search can continue after it.
OrStop<StepRecord> Bisection::do_step(const Step& step, const EndsChange& ends) {
  const auto measured = measure_step(step, ends);
  if (const auto* stop = std::get_if<Stop>(&measured)) return *stop;

  // The limit is stored as a fraction of the good end's value.
  const double limit = limit_percent(ends, step.dividing_level) / 100.0;
  StepRecord record =
      make_step_record(commits_[step.commit], limit, std::get<MeasuredCandidate>(measured));
  worker_.say(describe_step(record, step.asks_again));
  worker_.add_entry(fmt::format("{} {}", kStepEntry, to_entry(record)));
  return record;
}

/// Ranks commits as git bisect does. Returns nothing after an error, which ranking_error_ keeps.
std::vector<std::size_t> Bisection::rank_by_git(const Known& known) {
  std::vector<std::string> good;
  good.reserve(known.before.size());
  for (const std::size_t commit : known.before) good.push_back(commits_[commit].id);
  const auto ranked = repository_.rank(good, commits_[known.after].id);
  if (!ranked) {
    ranking_error_ = ranked.error();
    return {};
  }

  std::map<std::string_view, std::size_t> indices;
  for (std::size_t i = 0; i < commits_.size(); ++i) indices.emplace(commits_[i].id, i);
  std::vector<std::size_t> order;
  for (const std::string& id : *ranked)
    if (const auto found = indices.find(id); found != indices.end()) order.push_back(found->second);
  return order;
}

/// Takes up the steps of an earlier call, up to the first one that this search would not do.
void Bisection::repeat_steps(const EndsChange& ends, SearchRecord& record, Search& search) const {
  for (auto step = record.steps.begin(); step != record.steps.end(); ++step) {
    const auto next = search.next_step();
    if (!next || commits_[next->commit].id != step->commit.id) {
      record.steps.erase(step, record.steps.end());
      break;
    }
    search.take(to_result(*step, next->commit, ends));
  }
  if (!record.steps.empty())
    worker_.say(fmt::format("continuing after {} from an earlier call",
                            plural(count_commits(record.steps), "step")));
}

/// Returns a line of progress about a step that begins.
std::string Bisection::describe_next_step(const Step& step, const SearchRecord& record,
                                          const Search& search) const {
  if (step.asks_again)
    return fmt::format("measuring {} again, with another limit", commits_[step.commit].short_id());
  return fmt::format("step {}, {} left", count_commits(record.steps) + 1,
                     plural(search.steps_left(), "step"));
}

/// Does the steps that no earlier call has done. Returns a stop if they do not lead to an answer.
std::optional<Stop> Bisection::do_new_steps(const EndsChange& ends, SearchRecord& record,
                                            Search& search) {
  for (auto step = search.next_step(); step; step = search.next_step()) {
    worker_.say(describe_next_step(*step, record, search));
    auto done = do_step(*step, ends);
    if (const auto* stop = std::get_if<Stop>(&done)) return *stop;
    record.steps.push_back(std::get<StepRecord>(std::move(done)));
    search.take(to_result(record.steps.back(), step->commit, ends));
  }

  // After an interrupt or an error of git, the ranking is empty, which looks like the end of the
  // search.
  if (os::first_interrupt_signal() != 0)
    return Stop{status_of_signal(os::first_interrupt_signal())};
  if (ranking_error_) return Stop{print_error(*ranking_error_, ExitStatus::Failed)};
  return std::nullopt;
}

/// Tests one commit after another, each of which halves those that may have made the change, until
/// one is left, or until none of those that are left can be tested.
std::optional<Stop> Bisection::do_steps(SearchRecord& record) {
  // Git finds the middle of a history with merged branches. Without these, the commits are a line.
  const EndsChange ends = to_ends(record.ends->change);
  const Ranking by_git = [this](const Known& known) { return rank_by_git(known); };
  const bool has_branches = request_.parents == Parents::All;
  Search search(commits_.size() - 1, error_of_steps(), has_branches ? by_git : rank_line);

  repeat_steps(ends, record, search);
  if (const auto stop = do_new_steps(ends, record, search)) return stop;

  const Commit& first_with_change = commits_[search.first_after()];
  if (search.is_found()) return confirm_commit(first_with_change, record);

  for (const std::size_t suspect : search.suspects()) record.suspects.push_back(commits_[suspect]);
  record.suspects.push_back(first_with_change);
  record.answer = SearchAnswer::Range;
  return std::nullopt;
}

/// Builds two commits that are to be compared. Returns why a commit and its parent were not
/// compared; empty if both are built.
OrStop<std::string> Bisection::build_sides(const CommitInTree& before, const CommitInTree& after) {
  for (const CommitInTree& side : {before, after}) {
    const auto failure_or_stop = worker_.build(side.tree, side.commit);
    if (const auto* stop = std::get_if<Stop>(&failure_or_stop)) return *stop;
    const std::string& failure = std::get<std::string>(failure_or_stop);
    if (!failure.empty())
      return fmt::format("it was not compared with its parent, because {} {}",
                         side.commit.short_id(), failure);
  }
  return std::string();
}

/// Compares the commit to which the steps have led with its parent, because the steps may have been
/// wrong. Sets the answer in `record`: the commit, or a range with the reason for the doubt.
std::optional<Stop> Bisection::confirm_commit(const Commit& culprit, SearchRecord& record) {
  // The answer is a range of one suspect until the comparison confirms it.
  record.suspects = {culprit};
  record.answer = SearchAnswer::Range;

  auto parent = repository_.find_parent(culprit.id);
  if (os::first_interrupt_signal() != 0)
    return Stop{status_of_signal(os::first_interrupt_signal())};
  if (!parent) {
    record.doubt = "it has no parent to compare it with";
    return std::nullopt;
  }
  record.parent = *std::move(parent);

  // The good end is built already, in its own worktree. The culprit is built in a worktree without
  // files of other builds, because a build that makes nothing would leave those to be measured.
  const bool is_parent_good_end = record.parent->id == record.good.id;
  const Tree tree_of_parent = is_parent_good_end ? Tree::Good : Tree::Test;
  const CommitInTree before{.tree = tree_of_parent, .commit = *record.parent};
  const CommitInTree after{.tree = Tree::Last, .commit = culprit};

  const auto doubt_or_stop = build_sides(before, after);
  if (const auto* stop = std::get_if<Stop>(&doubt_or_stop)) return *stop;
  record.doubt = std::get<std::string>(doubt_or_stop);
  return record.doubt.empty() ? compare_with_parent(before, after, record) : std::nullopt;
}

/// Returns the question whether the metric certainly changes from a commit's parent to the commit,
/// in the direction in which it changes from the good end to the bad end.
Question Bisection::make_question_about_culprit(const Commit& parent,
                                                const SearchRecord& record) const {
  const bool has_fallen = to_ends(record.ends->change).change < 0.0;
  const Condition changes_alike{.metric = metric(), .fails_below_limit = has_fallen};
  const Options& options = request_.options;
  const bool counts_functions =
      options.output.presentation.functions || options.counting.profiling_period;
  return {.gates = {changes_alike},
          .error = error(),
          .lists_functions = counts_functions,
          .is_reference_untested = !is_known_to_run(parent, record)};
}

/// Compares a commit with its parent, and sets in `record` what that has shown. `before`: the
/// parent. Returns a stop if no commit is to blame for a failure.
std::optional<Stop> Bisection::compare_with_parent(const CommitInTree& before,
                                                   const CommitInTree& after,
                                                   SearchRecord& record) {
  worker_.say(fmt::format("comparing {} with its parent {}", after.commit.short_id(),
                          before.commit.short_id()));

  auto result_or_stop =
      worker_.compare(before, after, make_question_about_culprit(before.commit, record));
  if (const auto* stop = std::get_if<Stop>(&result_or_stop)) return *stop;
  MeasuredCandidate result = std::get<MeasuredCandidate>(std::move(result_or_stop));

  if (!result.failure.empty()) {
    const std::string failed_commit =
        result.is_failure_of_reference ? before.commit.short_id() : "it";
    record.doubt = fmt::format("it was not compared with its parent, because {} {}", failed_commit,
                               result.failure);
    return std::nullopt;
  }
  take_change_from_parent(std::move(result), record);
  return std::nullopt;
}

bool Bisection::explains_most(const SearchRecord& record) {
  return record.share_explained().value_or(1.0) >= kMostOfChange;
}

/// Returns a sentence that tells where the search goes on, or where the user can search.
std::string Bisection::describe_rest(const SearchRecord& record, const Rest& rest) const {
  const bool is_on_both_sides = rest.is_before && rest.is_after;
  if (request_.finds_all)
    return fmt::format(
        "The search goes on {} this commit.",
        is_on_both_sides ? "before and after" : (rest.is_before ? "before" : "after"));

  const std::string before = "up to " + record.parent->short_id();
  const std::string after = fmt::format("from {} on", record.culprit()->short_id());
  return fmt::format("Search again with --all, or search the commits {}.",
                     is_on_both_sides ? fmt::format("{} and those {} separately", after, before)
                                      : (rest.is_before ? before : after));
}

/// Says what qualifies an answer.
void Bisection::say_remarks(const SearchRecord& record) {
  if (record.culprit() == nullptr) return;

  const Rest rest = find_rest(record);
  if (rest.is_before || rest.is_after)
    worker_.print(
        fmt::format("The two ends differ by {}, so other commits contribute to the change. {}\n",
                    report::short_delta_text(record.ends->change), describe_rest(record, rest)));

  const auto change = record.from_parent->change.change;
  if (std::abs(change.value_or(0.0)) < kPlacementChange && !request_.options.run.layouts &&
      !row_of(request_.options.counting.engine).runs_in_valgrind)
    worker_.print(
        "A change this small may come from the placement of the code in these builds. Confirm it "
        "with --layouts ({layout} in --build) or with --engine cachegrind.\n");
}

BisectRecord make_record(const Request& request, const std::vector<SearchRecord>& searches) {
  return {.version = std::string(cli::version()),
          .metric = request.metric(),
          .confidence = request.options.gates.confidence.value_or(kDefaultConfidence),
          .build = request.build,
          .command = request.options.commands.command_lines.front(),
          .follows_first_parents = request.parents == Parents::First,
          .searches = searches};
}

/// Writes the exports. Returns an error if a file cannot be written.
Result<void> write_exports(const BisectRecord& record, const std::vector<os::OpenExport>& exports) {
  for (const os::OpenExport& target : exports) {
    target.file->write(target.target.kind == ExportKind::Json ? to_json(record)
                                                              : to_markdown(record));
    if (auto written = target.file->commit(); !written) return written.error();
  }
  return {};
}

struct Prepared {
  std::optional<User> user{};
  Repository repository;
  std::vector<Commit> commits;
  std::vector<os::OpenExport> exports{};
};

/// Writes the exports with the rights of the user who called sudo.
Result<void> write_exports_as_owner(const BisectRecord& record, const Prepared& prepared) {
  const os::ActAs owner(prepared.user);
  if (owner.error()) return *owner.error();
  return write_exports(record, prepared.exports);
}

/// Finds out what can be refused before anything is built.
Result<Prepared> prepare_search(const Request& request) {
  auto user = os::user_behind_sudo(request.options.run.as_root);
  if (!user) return user.error();
  auto repository = Repository::open("", *user);
  if (!repository) return repository.error();
  auto commits = repository->list_commits(request.good, request.bad, request.parents);
  if (!commits) return commits.error();

  const os::ActAs owner(*user);
  if (owner.error()) return *owner.error();
  auto exports = os::open_exports(request.options.output.exports, {});
  if (!exports) return exports.error();
  return Prepared{*std::move(user), *std::move(repository), *std::move(commits),
                  *std::move(exports)};
}

/// Removes what the search has made. Returns `status`, or that of a signal that came meanwhile.
int clean_up(Worker& worker, int status) {
  worker.end();
  const int signal = os::first_interrupt_signal();
  return signal != 0 ? status_of_signal(signal) : status;
}

/// Runs the search, writes its exports, and removes its log if no later call can use it. Returns
/// the exit status.
int search_and_export(const Request& request, const Prepared& prepared, Worker& worker,
                      Bisection& bisection) {
  int status = bisection.run(prepared.commits);
  const int signal = os::first_interrupt_signal();
  const bool was_interrupted = signal != 0;
  const bool has_failed = status == static_cast<int>(ExitStatus::Failed);
  bool is_finished = !was_interrupted && !has_failed && !worker.has_lost_output();

  // The exports are written even without an answer, so that the files of an earlier search are not
  // taken for those of this one.
  BisectRecord record = make_record(request, bisection.searches());
  record.is_complete = is_finished;
  if (auto written = write_exports_as_owner(record, prepared); !written) {
    is_finished = false;
    status = print_error(written.error(), ExitStatus::Failed);
  }

  const bool can_continue_later = !is_finished && (was_interrupted || bisection.has_results());
  if (can_continue_later) {
    print_to_standard_error(report::note_lines({kHowToGoOn}));
    return was_interrupted ? status_of_signal(signal) : static_cast<int>(ExitStatus::Failed);
  }

  return clean_up(worker, status);
}

/// Returns the folder for the worktrees and the log, as an absolute path.
std::string choose_work_folder(const Request& request, const Repository& repository) {
  return request.work_folder.empty() ? repository.shared_folder() + "/lauka-bisect"
                                     : std::filesystem::absolute(request.work_folder).string();
}

/// Runs the search that `head` describes (Worker::begin()). Returns the exit status.
int search_by(std::unique_ptr<os::Launcher> launcher, const Request& request,
              const Prepared& prepared, const std::string& head) {
  Worker worker({.request = request,
                 .repository = prepared.repository,
                 .launcher = std::move(launcher),
                 .user = prepared.user,
                 .work = choose_work_folder(request, prepared.repository)});
  if (const auto status_of_refusal = worker.check_options()) return *status_of_refusal;
  if (auto begun = worker.begin(head); !begun) return print_error(begun.error(), ExitStatus::Usage);

  Bisection bisection(request, prepared.repository, worker);
  return search_and_export(request, prepared, worker, bisection);
}

int run(int argc, const char* const* argv) {
  // The launcher is a copy of this process, so it starts first, while the process is small. Its
  // error is told only if it is needed.
  auto launcher = os::start_launcher(restore_after_lauka);

  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto request = parse(words);
  if (!request) return print_error(request.error(), ExitStatus::Usage);
  if (request->answer) return show(*request->answer);  // --help, for example
  if (!launcher) return print_error(launcher.error(), ExitStatus::Failed);

  os::watch_for_interrupts();
  const auto prepared = prepare_search(*request);
  if (os::first_interrupt_signal() != 0) return status_of_signal(os::first_interrupt_signal());
  if (!prepared) return print_error(prepared.error(), ExitStatus::Usage);

  return search_by(*std::move(launcher), *request, *prepared, make_head(words, prepared->commits));
}

}  // namespace
}  // namespace lauka::bisect

int main(int argc, char** argv) {
  lauka::set_program_name("lauka-bisect");
  try {
    return lauka::bisect::run(argc, argv);
  } catch (const std::exception& error) {
    const std::string what = std::string("internal error: ") + error.what();
    return lauka::print_error({what, "please report this"}, lauka::ExitStatus::Failed);
  }
}
