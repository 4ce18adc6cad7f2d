#include "inquire/series_answer.h"

#include "core/text.h"
#include "report/format.h"
#include "report/style.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lauka::inquire {

namespace {

constexpr std::size_t kKeptColumns = 6;
using KeptRow = std::array<std::string, kKeptColumns>;

std::string labels_of(const SeriesDecision& decision) {
  std::string text;
  for (const Label& label : decision.labels)
    text += (text.empty() ? "" : ", ") + label.key + "=" + label.value;
  return one_line(text);
}

std::string change_of(const SeriesDecision& decision) {
  stats::Change change{.change = decision.change};
  if (decision.low && decision.high)
    change.bounds = stats::IntervalEnds{*decision.low, *decision.high};
  change.is_exact = change.bounds && decision.low == decision.high;
  return report::delta_text(change);
}

/// Returns "2026-11-28 14:02".
std::string minute_of(UtcTime time) {
  std::string text = rfc3339(time).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

KeptRow kept_row_of(const SeriesDecision& decision) {
  return {std::to_string(decision.number), one_line(decision.candidate.name), change_of(decision),
          std::to_string(decision.rounds), minute_of(decision.time),          labels_of(decision)};
}

/// Returns the kept candidates as a table; empty without any.
std::string table_of_kept(const std::vector<SeriesDecision>& kept) {
  if (kept.empty()) return "";
  std::vector<KeptRow> rows{{"number", "kept", "change", "rounds", "time (UTC)", "labels"}};
  rows.reserve(kept.size() + 1);
  for (const SeriesDecision& decision : kept) rows.push_back(kept_row_of(decision));

  std::array<std::size_t, kKeptColumns> widths{};
  for (const KeptRow& row : rows)
    for (std::size_t i = 0; i < kKeptColumns; ++i)
      widths[i] = std::max(widths[i], report::display_width(row[i]));

  std::string text = "\n";
  for (const KeptRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kKeptColumns; ++i) {
      const std::size_t blanks = widths[i] + 2 - report::display_width(row[i]);
      line += row[i] + std::string(blanks, ' ');
    }

    const std::size_t size_without_blanks = line.find_last_not_of(' ') + 1;
    text += line.substr(0, size_without_blanks) + "\n";
  }
  return text;
}

std::string outlook_text(const CandidateSeries& series) {
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

std::string total_text(const CandidateSeries& series, const std::vector<SeriesDecision>& kept) {
  const SeriesProgram& first = series.decisions.front().reference;
  const SeriesProgram& last = kept.back().candidate;
  const auto named = [](const SeriesProgram& program) {
    return program.executable_sha256.empty()
               ? cited(program.name)
               : fmt::format("{} (SHA-256 {}...)", cited(program.name),
                             program.executable_sha256.substr(0, 12));
  };
  return fmt::format(
      "The changes must not be added up, because each of them is too large on average. For the "
      "total, compare the first base, {}, with the last kept candidate, {}:",
      named(first), named(last));
}

}  // namespace

std::string series_text(const CandidateSeries& series, const std::string& file,
                        std::size_t columns) {
  const std::vector<SeriesDecision> kept = series.kept_decisions();
  const std::size_t tried = series.reservations.size();
  const std::size_t undecided = tried - series.decisions.size();

  std::string text =
      fmt::format("{}: {} tried, {} kept", cited(file), plural(tried, "candidate"), kept.size());
  if (undecided > 0)
    text += fmt::format("; {} without a decision, which {} as not kept", undecided,
                        undecided == 1 ? "counts" : "count");
  text += fmt::format("\n{}, at --confidence {:g}\n", one_line(list_conditions(*series.terms)),
                      100.0 * series.terms->confidence);

  text += table_of_kept(kept) + "\n";
  text += report::wrapped_to_cells(outlook_text(series), columns) + "\n";
  if (!kept.empty())
    text += "\n" + report::wrapped_to_cells(total_text(series, kept), columns) +
            "\n    lauka -- FIRST LAST\n";
  return text;
}

}  // namespace lauka::inquire
