#include "app/series_entry.h"

#include "app/call.h"
#include "app/deliver.h"
#include "core/text.h"
#include "format/series_file.h"
#include "gate/schedule.h"
#include "os/clock.h"
#include "os/users.h"
#include "report/lines.h"
#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::size_t kMaxSeriesBytes = std::size_t{1} << 28U;

/// Null if no condition is for keeping.
const gate::Verdict* find_first_for_keeping(const std::vector<gate::Verdict>& verdicts) {
  const auto found = std::ranges::find_if(
      verdicts, [](const gate::Verdict& verdict) { return verdict.condition.is_for_keeping(); });
  return found == verdicts.end() ? nullptr : &*found;
}

/// Lists the conditions for keeping a candidate first, and then the gates, by which it can fail.
std::vector<std::string> list_condition_texts(const std::vector<Gate>& gates) {
  std::vector<std::string> texts_for_keeping;
  std::vector<std::string> gate_texts;
  for (const Gate& gate : gates) {
    std::vector<std::string>& texts =
        gate.condition.is_for_keeping() ? texts_for_keeping : gate_texts;
    texts.push_back(report::condition_text(gate.condition));
  }
  texts_for_keeping.insert(texts_for_keeping.end(), gate_texts.begin(), gate_texts.end());
  return texts_for_keeping;
}

/// Returns the condition by which candidates are compared. The options of a series require that
/// there is one.
const Condition& first_condition_for_keeping(const std::vector<Gate>& gates) {
  const auto found =
      std::ranges::find_if(gates, [](const Gate& gate) { return gate.condition.is_for_keeping(); });
  return found->condition;
}

/// Returns what the candidates of a series (--series) must have in common, as this benchmark has
/// it. They are tried one after the other, and their decisions must be comparable.
SeriesTerms make_terms(const Benchmark& benchmark) {
  const Plan& plan = benchmark.plan;
  const Condition& condition = first_condition_for_keeping(plan.gates);
  SeriesTerms terms{.confidence = plan.confidence,
                    .engine = std::string(benchmark.chosen.engine->name()),
                    .layouts = plan.setting.layouts,
                    .jobs = plan.setting.jobs};
  terms.conditions = list_condition_texts(plan.gates);
  terms.metric = condition.metric;

  // A limit that is no change in percent, but a value of the metric, counts as 0%.
  if (condition.limit.is_change()) terms.limit_percent = condition.limit.number;

  // A condition fails if it does not keep the candidate, so one that fails above its limit keeps
  // lower values.
  terms.keeps_lower = !condition.fails_below_limit;
  return terms;
}

SeriesProgram make_series_program(const Command& command) {
  return {command.name, command.fingerprint.executable_sha256,
          command.fingerprint.argument_files_sha256};
}

Result<SeriesFile> parse_series_file(const std::string& text, const std::string& path) {
  auto file = read_series(text);
  if (!file) return file.error().about("the series " + cited(path));
  return file;
}

/// Adds what was measured to a decision: the change, its interval and its noise.
void add_evidence(const Results& results, SeriesDecision& decision) {
  const gate::Verdict* verdict = find_first_for_keeping(results.findings.verdicts);
  decision.rounds = verdict->rounds;
  decision.rounds_at_last_look = std::max(verdict->rounds, verdict->rounds_at_last_look);
  decision.change = verdict->delta.change;
  if (!verdict->delta.bounds) return;

  decision.low = verdict->delta.bounds->low;
  decision.high = verdict->delta.bounds->high;
  const double tail =
      results.findings
          .tail_probabilities_of(verdict->metric, stats::tails_of(results.session.confidence))
          .tail_of_delta;

  // Half of the interval is as many standard errors as its tail demands. The noise is the standard
  // deviation of one round: the standard error times the root of the number of rounds.
  decision.noise = (*decision.high - *decision.low) / 2.0 / stats::normal_quantile_above(tail) *
                   std::sqrt(static_cast<double>(verdict->rounds));
}

/// Notes that the number of runs is limited to fewer than the ranks of values that vary need to
/// keep a candidate at its level.
void note_few_runs(const Call& call, const Plan& plan) {
  const StopRule& stop = plan.setting.stop;
  const auto most = stop.exact_runs ? stop.exact_runs : stop.max_runs;
  if (!most || plan.setting.layouts > 1 ||
      gate::rank_test_can_decide(*most, *plan.error_of_keeping))
    return;

  say_notes(
      call,
      {fmt::format("{} are too few to keep a candidate at a level of {:.2g} if its values "
                   "vary; leave out {}, or use a larger number",
                   plural(*most, "run"), *plan.error_of_keeping, stop.exact_runs ? "-r" : "-M")});
}

void note_other_reference(const SeriesEntry& entry, Results& results) {
  results.session.notes.push_back(
      {"other_reference",
       fmt::format("the reference {} is not {} of the series; compare each candidate with the last "
                   "one that was kept, or with the first reference if none was kept",
                   cited(results.session.commands.front().name),
                   entry.has_kept ? "the last kept candidate" : "the first reference")});
}

/// Adds the decision to the file. Returns the number of candidates that are kept now.
Result<std::size_t> write_decision(const SeriesDecision& decision, const std::string& path,
                                   SeriesEntry& entry) {
  std::size_t kept = 0;
  const auto added = entry.log.add([&](const std::string& text) -> Result<os::LogAddition> {
    auto file = parse_series_file(text, path);
    if (!file) return file.error();
    kept = file->series.list_kept().size() + (decision.is_kept() ? 1 : 0);
    return os::LogAddition{file->bytes_of_whole_lines,
                           file->seals.seal_json(to_line(decision)) + "\n"};
  });
  if (!added) return added.error();
  return kept;
}

/// Without a decision in the file, no verdict may say that the candidate is kept.
void withdraw_keeping(Results& results) {
  for (gate::Verdict& verdict : results.findings.verdicts)
    if (verdict.condition.is_for_keeping() && verdict.answer == gate::Answer::Pass)
      gate::make_inconclusive(verdict, {gate::Obstacle::NotRecorded});
}

/// The first candidate of a series sets its terms, which hold for all later ones. Returns the line
/// with the terms for the first one, and an empty text for a later one. Refuses a later one that
/// has other terms.
Result<std::string> write_terms_of_first(SeriesFile& file, const std::string& path,
                                         const SeriesTerms& terms) {
  // Each line of the file is sealed: it ends with a checksum of all lines so far.
  if (!file.series.terms) return file.seals.seal_json(to_line(terms)) + "\n";
  const auto difference = find_difference(*file.series.terms, terms);
  if (!difference) return std::string();
  return Error{"the series " + cited(path) + " " + *difference,
               "use the options of the series, or begin a new one in another file"};
}

/// Reserves the next number of a series for a candidate, and the error with which it may be kept.
/// Returns the lines to add to the series' file, and sets what `entry` has from the file.
Result<os::LogAddition> make_reservation(SeriesFile file, const std::string& path,
                                         const SeriesTerms& terms, SeriesEntry& entry) {
  auto lines = write_terms_of_first(file, path, terms);
  if (!lines) return lines.error();

  const CandidateSeries& series = file.series;
  entry.reservation = {.number = series.reservations.size() + 1,
                       .level = series.next_level(terms.confidence),
                       .time = os::utc_now()};
  entry.expected_reference = series.expected_reference();
  entry.has_kept = !series.list_kept().empty();
  *lines += file.seals.seal_json(to_line(entry.reservation)) + "\n";
  return os::LogAddition{file.bytes_of_whole_lines, *std::move(lines)};
}

void say_unfinished_line_was_removed(const Call& call, const std::string& path) {
  say_notes(call, {fmt::format("the last line of {} was incomplete, as can happen after a kill "
                               "or on a full disk, so lauka removed it",
                               cited(path))});
}

/// Adds a reservation to the series' file, and sets what `entry` has from the file. Returns true if
/// an unfinished last line was removed.
Result<bool> add_reservation(const std::string& path, const SeriesTerms& terms,
                             SeriesEntry& entry) {
  // add() calls the function with the text of the file, and appends the lines that it returns.
  // Meanwhile, other processes wait for the file's lock, so no number is reserved twice.
  bool has_unfinished_line = false;
  const auto added = entry.log.add([&](const std::string& text) -> Result<os::LogAddition> {
    auto file = parse_series_file(text, path);
    if (!file) return file.error();
    has_unfinished_line = file->has_unfinished_line;
    return make_reservation(*std::move(file), path, terms, entry);
  });
  if (!added) return added.error();
  return has_unfinished_line;
}

/// True if the user has taken another reference than the series expects: the candidate that was
/// kept last, or the first reference if none was kept.
bool has_other_reference(const SeriesEntry& entry, const SeriesProgram& reference) {
  return entry.expected_reference && reference.has_other_bytes_than(*entry.expected_reference);
}

/// Returns the decision whether to keep the candidate, with what was measured.
SeriesDecision make_decision(const Call& call, const Results& results, int status_of_results) {
  // A session of a series has one benchmark, with a reference and then a candidate.
  const std::vector<Command>& commands = results.session.commands;
  SeriesDecision decision{.number = call.series->reservation.number,
                          .time = os::utc_now(),
                          .decision = decision_of(results.findings.verdicts, status_of_results),
                          .reference = make_series_program(commands.front()),
                          .candidate = make_series_program(commands.back()),
                          .labels = call.labels};
  decision.has_other_reference = has_other_reference(*call.series, decision.reference);
  add_evidence(results, decision);
  return decision;
}

/// Prints that the decision could not be written. Returns lauka's exit status.
int print_unwritten_decision(const Error& error) {
  return print_error(
      {"the candidate is not kept, because its decision could not be written: " + error.what,
       error.remedy},
      ExitStatus::Failed);
}

/// Adds the decision about the candidate to the series' file and to the results. Returns lauka's
/// exit status.
int record_decision(Call& call, Results& results, int status_of_results) {
  const SeriesDecision decision = make_decision(call, results, status_of_results);
  SeriesPlace& place = *results.session.series;
  place.has_other_reference = decision.has_other_reference;
  if (decision.has_other_reference) note_other_reference(*call.series, results);

  const auto number_of_kept = write_decision(decision, place.file, *call.series);
  if (!number_of_kept) {
    withdraw_keeping(results);
    return print_unwritten_decision(number_of_kept.error());
  }
  place.decision = decision.decision;
  place.kept = *number_of_kept;
  return status_of_results;
}

}  // namespace

// A series (--series) is a file of candidates that are tried one after the other. Before its runs,
// a session reserves a number for its candidate.
Result<void> reserve_in_series(Call& call) {
  if (!call.options.gates.series_file) return {};
  const std::string& path = *call.options.gates.series_file;

  // A series has no suites, so there is one benchmark.
  Benchmark& benchmark = call.benchmarks.front();
  const SeriesTerms terms = make_terms(benchmark);

  // With sudo, the file belongs to the user who called sudo, so lauka opens it as this user.
  const os::ActAs file_owner(call.user);
  if (file_owner.error()) return *file_owner.error();
  auto log = os::SharedLog::open(path, kMaxSeriesBytes);
  if (!log) return log.error().prefixed("--series");
  SeriesEntry& entry = call.series.emplace(SeriesEntry{.log = *std::move(log)});

  // Sets the reservation of `entry`, too.
  const auto has_unfinished_line = add_reservation(path, terms, entry);
  if (!has_unfinished_line) return has_unfinished_line.error();
  if (*has_unfinished_line) say_unfinished_line_was_removed(call, path);

  // The level of the reservation is the probability with which a useless candidate may be kept.
  benchmark.plan.error_of_keeping = entry.reservation.level;
  note_few_runs(call, benchmark.plan);
  return {};
}

// A series (--series) is a file of candidates that were tried one after the other. Its lines are
// the terms, a reservation for each candidate, and the decisions whether to keep them.
int record_in_series(Call& call, Report& report, int status_of_results) {
  if (!call.series) return status_of_results;
  const SeriesReservation& reservation = call.series->reservation;
  Results& results = report.benchmarks.front();
  results.session.series = SeriesPlace{.file = *call.options.gates.series_file,
                                       .number = reservation.number,
                                       .level = reservation.level};

  // Without a decision in the file, the candidate counts as not kept. The report must say so, too.
  const bool has_failed = status_of_results == static_cast<int>(ExitStatus::Failed);
  if (has_failed || call.benchmarks.front().was_cut_short()) {
    withdraw_keeping(results);
    return status_of_results;
  }

  return record_decision(call, results, status_of_results);
}

Result<CandidateSeries> read_series_of(const Call& call) {
  const std::string& path = *call.options.gates.series_file;
  const os::ActAs owner(call.user);
  if (owner.error()) return *owner.error();
  const auto text = os::SharedLog::read(path, kMaxSeriesBytes);
  if (!text) return text.error().prefixed("--series");

  auto file = parse_series_file(*text, path);
  if (!file) return file.error();
  if (file->series.terms) return std::move(file->series);
  return Error{"there is no series in " + cited(path),
               "begin one with lauka --series FILE --keep-if-faster -- ./best ./candidate"};
}

}  // namespace lauka
