#include "inquire/series_answer.h"

#include "core/text.h"
#include "report/format.h"
#include "report/style.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

constexpr std::size_t kKeptColumnCount = 6;
using KeptRow = std::array<std::string, kKeptColumnCount>;

std::string list_labels(const SeriesDecision& decision) {
  std::string text;
  for (const Label& label : decision.labels)
    text += (text.empty() ? "" : ", ") + label.key + "=" + label.value;
  return one_line(text);
}

std::string format_change(const SeriesDecision& decision) {
  stats::Change change{.change = decision.change};
  if (decision.low && decision.high)
    change.bounds = stats::IntervalEnds{*decision.low, *decision.high};
  change.is_exact = change.bounds && decision.low == decision.high;
  return report::delta_text(change);
}

/// Returns "2026-11-28 14:02".
std::string format_time(UtcTime time) {
  constexpr std::size_t size_without_seconds = 16;
  std::string text = rfc3339(time).substr(0, size_without_seconds);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

KeptRow make_kept_row(const SeriesDecision& decision) {
  return {std::to_string(decision.number), one_line(decision.candidate.name),
          format_change(decision),         std::to_string(decision.rounds),
          format_time(decision.time),      list_labels(decision)};
}

/// Returns a table of the candidates that were kept; an empty text if there are none.
std::string make_table_of_kept(const std::vector<SeriesDecision>& kept_decisions) {
  if (kept_decisions.empty()) return "";
  std::vector<KeptRow> rows{{"number", "kept", "change", "rounds", "time (UTC)", "labels"}};
  for (const SeriesDecision& decision : kept_decisions) rows.push_back(make_kept_row(decision));

  // Widths are counted in cells of the terminal, because names may have any characters.
  std::array<std::size_t, kKeptColumnCount> widths{};
  for (const KeptRow& row : rows)
    for (std::size_t column = 0; column < kKeptColumnCount; ++column)
      widths[column] = std::max(widths[column], report::display_width(row[column]));

  constexpr std::size_t blanks_after_column = 2;
  std::string text = "\n";
  for (const KeptRow& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < kKeptColumnCount; ++column) {
      const std::size_t padding = widths[column] - report::display_width(row[column]);
      line += row[column] + std::string(padding + blanks_after_column, ' ');
    }

    const std::size_t size_without_final_blanks = line.find_last_not_of(' ') + 1;
    text += line.substr(0, size_without_final_blanks) + "\n";
  }
  return text;
}

/// Says how probably a useless candidate would be kept next, and which change would be kept.
std::string describe_outlook_for_next(const CandidateSeries& series) {
  const KeepingOutlook outlook = make_outlook(series);
  std::string text = fmt::format(
      "The next candidate is kept with a probability of at most {:.2g} if it is useless.",
      outlook.level);
  if (outlook.change)
    text += fmt::format(
        " A change of {} in {} would be kept in four of five sessions of {} rounds.",
        report::signed_percent(*outlook.change, 1), series.terms->metric, outlook.rounds);
  else if (outlook.rounds > 0)
    text += fmt::format(
        " Sessions of {} rounds are too short to keep any candidate, or their noise is not known.",
        outlook.rounds);
  return text;
}

/// Says how to measure the change by all kept candidates together, with a command line that
/// compares FIRST with LAST.
std::string advise_how_to_measure_total(const CandidateSeries& series,
                                        const std::vector<SeriesDecision>& kept) {
  const SeriesProgram& first = series.decisions.front().reference;
  const SeriesProgram& last = kept.back().candidate;
  constexpr std::size_t shown_hash_digits = 12;
  const auto name_with_hash = [](const SeriesProgram& program) {
    return program.executable_sha256.empty()
               ? cited(program.name)
               : fmt::format("{} (SHA-256 {}...)", cited(program.name),
                             program.executable_sha256.substr(0, shown_hash_digits));
  };
  return fmt::format(
      "The changes must not be added up, because each of them is too large on average. For the "
      "total, compare the first base, {}, with the last kept candidate, {}:",
      name_with_hash(first), name_with_hash(last));
}

/// Returns how many candidates were tried and kept. Each try is reserved before it is measured, so
/// that a try which was broken off counts, too.
std::string describe_candidate_counts(const CandidateSeries& series, std::size_t kept_count) {
  const std::size_t tried_count = series.reservations.size();
  const std::size_t undecided_count = tried_count - series.decisions.size();
  std::string text = fmt::format("{} tried, {} kept", plural(tried_count, "candidate"), kept_count);
  if (undecided_count > 0)
    text += fmt::format("; {} without a decision, which {} as not kept", undecided_count,
                        undecided_count == 1 ? "counts" : "count");
  return text;
}

}  // namespace

// A series tests one candidate after the other against a base, and keeps those that are better.
std::string series_text(const CandidateSeries& series, const std::string& file,
                        std::size_t terminal_width) {
  const std::vector<SeriesDecision> kept_decisions = series.kept_decisions();
  std::string text = cited(file) + ": " + describe_candidate_counts(series, kept_decisions.size());

  // The first candidate of a series sets its terms, such as the conditions for keeping. A series
  // without candidates has no terms yet, but is not shown.
  const double confidence_percent = 100.0 * series.terms->confidence;
  text += fmt::format("\n{}, at --confidence {:g}\n", one_line(list_conditions(*series.terms)),
                      confidence_percent);

  text += make_table_of_kept(kept_decisions) + "\n";
  text += report::wrapped_to_cells(describe_outlook_for_next(series), terminal_width) + "\n";

  // The advice says which programs FIRST and LAST are: those before and after all kept changes.
  if (!kept_decisions.empty()) {
    const std::string advice = advise_how_to_measure_total(series, kept_decisions);
    text += "\n" + report::wrapped_to_cells(advice, terminal_width) + "\n    lauka -- FIRST LAST\n";
  }
  return text;
}

}  // namespace lauka::inquire
