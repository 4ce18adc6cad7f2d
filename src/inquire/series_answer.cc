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

std::string write_change(const SeriesDecision& decision) {
  stats::Change change{.change = decision.change};
  if (decision.low && decision.high)
    change.bounds = stats::IntervalEnds{*decision.low, *decision.high};
  change.is_exact = change.bounds && decision.low == decision.high;
  return report::delta_text(change);
}

/// Returns "2026-11-28 14:02".
std::string write_time(UtcTime time) {
  constexpr std::size_t size_without_seconds = 16;
  std::string text = rfc3339(time).substr(0, size_without_seconds);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

KeptRow make_kept_row(const SeriesDecision& decision) {
  return {std::to_string(decision.number), one_line(decision.candidate.name),
          write_change(decision),          std::to_string(decision.rounds),
          write_time(decision.time),       list_labels(decision)};
}

/// Returns the kept candidates as a table; empty without any.
std::string write_table_of_kept(const std::vector<SeriesDecision>& kept) {
  if (kept.empty()) return "";
  std::vector<KeptRow> rows{{"number", "kept", "change", "rounds", "time (UTC)", "labels"}};
  rows.reserve(kept.size() + 1);
  for (const SeriesDecision& decision : kept) rows.push_back(make_kept_row(decision));

  std::array<std::size_t, kKeptColumnCount> widths{};
  for (const KeptRow& row : rows)
    for (std::size_t i = 0; i < kKeptColumnCount; ++i)
      widths[i] = std::max(widths[i], report::display_width(row[i]));

  std::string text = "\n";
  for (const KeptRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kKeptColumnCount; ++i) {
      const std::size_t blanks = widths[i] + 2 - report::display_width(row[i]);
      line += row[i] + std::string(blanks, ' ');
    }

    const std::size_t size_without_blanks = line.find_last_not_of(' ') + 1;
    text += line.substr(0, size_without_blanks) + "\n";
  }
  return text;
}

/// Says how probably a useless candidate would be kept next, and which change would be kept.
std::string write_outlook(const CandidateSeries& series) {
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

std::string write_advice_on_total(const CandidateSeries& series,
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

  text += write_table_of_kept(kept) + "\n";
  text += report::wrapped_to_cells(write_outlook(series), columns) + "\n";
  if (!kept.empty())
    text += "\n" + report::wrapped_to_cells(write_advice_on_total(series, kept), columns) +
            "\n    lauka -- FIRST LAST\n";
  return text;
}

}  // namespace lauka::inquire
