#include "report/suite.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "report/ansi.h"
#include "report/cells.h"
#include "report/compact.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/lines.h"
#include "report/marked_delta.h"
#include "report/screen.h"
#include "report/warnings.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {
namespace {

/// The roomiest that fits is taken.
constexpr auto kSuiteLayouts = std::to_array<SuiteLayout>(
    {{4, true, true}, {2, true, true}, {2, false, true}, {2, false, false}});

constexpr std::size_t kShortestName = 10;

std::string value_cell(const SuiteRow& row, std::size_t command, bool deviation) {
  const Results& results = *row.results;
  if (!row.metric) return "n/a";
  const MetricResult* values = shown_row(results.commands[command], *row.metric);
  if (values == nullptr) return "n/a";
  const Metric& metric = results.metrics[*row.metric];
  if (values->quantile) return quantile_cell(*values, metric, false);
  return deviation || !values->summary ? mean_cell(*values, metric)
                                       : quantity(values->summary->mean, metric);
}

std::string base_cell(const SuiteRow& row, bool deviation) {
  const Results& results = *row.results;
  if (!results.reference.baseline) return value_cell(row, results.reference.command, deviation);
  return row.candidate ? one_line(results.reference_of(*row.candidate)) : "";
}

const stats::Delta* delta_of(const SuiteRow& row) {
  if (!row.candidate || !row.metric) return nullptr;
  const MetricResult* values = shown_row(row.results->commands[*row.candidate], *row.metric);
  return values != nullptr && values->delta ? &*values->delta : nullptr;
}

Cell cell_of(const stats::Delta* delta, Better better, const SuiteLayout& layout) {
  if (delta == nullptr) return {};
  MarkedDelta marked = marked_delta(*delta, better, layout.interval);
  return {std::move(marked.text), marked.ink};
}

Ink ink_of(const std::string& verdict) {
  return verdict == "pass" ? Ink::Green : verdict == "fail" ? Ink::Red : Ink::Bold;
}

struct Table {
  std::vector<GridRow> grid;
  std::size_t texts = 1;  ///< columns of names, whose middle may be cut
};

Table table_of(const Report& suite, const SuiteLayout& layout, bool ascii) {
  const bool names = has_candidate_names(suite);
  const bool metrics = has_metrics(suite);
  const bool gates = !suite.verdicts().empty();
  Table table{{}, names ? std::size_t{2} : 1};
  const auto add = [&](Cell benchmark, Cell command, Cell metric, Cell base, Cell candidate,
                       Cell delta, Cell verdict) {
    GridRow& row = table.grid.emplace_back(GridRow{std::move(benchmark)});
    if (names) row.push_back(std::move(command));
    if (metrics) row.push_back(std::move(metric));
    row.insert(row.end(), {std::move(base), std::move(candidate), std::move(delta)});
    if (gates) row.push_back(std::move(verdict));
  };
  const auto title = [](const char* text) { return Cell{text, Ink::Bold}; };
  add(title("benchmark"), title("command"), title("metric"), title("base"), title("candidate"),
      title("delta"), title("verdict"));
  for (SuiteCells& cells : cells_of(suite, layout))
    add({one_line(cells.benchmark), cells.is_total ? Ink::Bold : Ink::Plain},
        {one_line(cells.command)}, {one_line(cells.metric)}, {cells.base}, {cells.candidate},
        std::move(cells.delta), {cells.verdict, ink_of(cells.verdict)});
  if (ascii) make_ascii(table.grid);
  return table;
}

/// In a narrower terminal the table gives up spacing, deviations, intervals, and the middle of
/// names.
std::string table_text(const Report& suite, const Style& style) {
  Table table;
  std::vector<std::size_t> widths;
  SuiteLayout taken = kSuiteLayouts.front();
  for (const SuiteLayout& layout : kSuiteLayouts) {
    table = table_of(suite, layout, style.ascii);
    widths = widths_of(table.grid);
    taken = layout;
    auto cut = widths;
    for (std::size_t i = 0; i < table.texts; ++i) cut[i] = std::min(cut[i], 2 * kShortestName);
    if (style.width == 0 || line_width(cut, layout.gap) <= style.width) break;
  }
  const auto numbers = widths.begin() + static_cast<std::ptrdiff_t>(table.texts);
  std::vector<std::size_t> of_texts(widths.begin(), numbers);
  const std::size_t others = line_width({numbers, widths.end()}, taken.gap) + taken.gap;
  if (style.width > 0)
    narrow(of_texts, taken.gap, style.width > others ? style.width - others : 1, kShortestName);
  std::copy(of_texts.begin(), of_texts.end(), widths.begin());
  return grid_text(table.grid, widths, taken.gap, style.color) +
         (taken.interval ? "" : dim_note(kNoRoomForIntervals, style));
}

}  // namespace

bool has_metrics(const Report& suite) {
  const auto name_of = [](const Results& one) {
    const auto metric = headline_of(one);
    return metric ? one.metrics[*metric].name : std::string();
  };
  return std::any_of(suite.benchmarks.begin(), suite.benchmarks.end(), [&](const auto& one) {
    return name_of(one) != name_of(suite.benchmarks.front());
  });
}

std::string suite_title(const Report& suite) {
  const Results& first = suite.benchmarks.front();
  const auto metric = headline_of(first);
  std::string title = plural(suite.benchmarks.size(), "benchmark");
  if (!has_metrics(suite) && metric) title = one_line(first.metrics[*metric].name) + " of " + title;
  return title;
}

std::vector<SuiteRow> rows_of(const Report& suite) {
  std::vector<SuiteRow> rows;
  for (const Results& one : suite.benchmarks) {
    const auto metric = headline_of(one);
    const auto candidates = candidates_of(one);
    if (candidates.empty()) rows.push_back({&one, std::nullopt, metric, true});
    for (const std::size_t candidate : candidates)
      rows.push_back({&one, candidate, metric, candidate == candidates.front()});
  }
  return rows;
}

std::vector<SuiteCells> cells_of(const Report& suite, const SuiteLayout& layout) {
  const bool names = has_candidate_names(suite);
  std::vector<SuiteCells> all;
  for (const SuiteRow& row : rows_of(suite)) {
    const Results& results = *row.results;
    const Better better = row.metric ? results.metrics[*row.metric].better : Better::Neither;
    const stats::Delta* delta = delta_of(row);
    SuiteCells& cells = all.emplace_back();
    if (row.is_first) cells.benchmark = row.results->benchmark;
    if (row.candidate && names) cells.command = results.commands[*row.candidate].name;
    if (row.metric) cells.metric = results.metrics[*row.metric].name;
    cells.base = base_cell(row, layout.deviation);
    if (row.candidate) cells.candidate = value_cell(row, *row.candidate, layout.deviation);
    cells.delta = cell_of(delta, better, layout);
    cells.verdict = verdict_of(row);
    cells.is_sure = delta != nullptr && delta->is_significant();
  }
  for (const Geomean& mean : suite.geomeans)
    all.push_back({.benchmark = geomean_title(suite, mean),
                   .command = names ? mean.candidate : "",
                   .metric = mean.metric,
                   .delta = cell_of(&mean.change, mean.better, layout),
                   .is_sure = mean.change.is_significant(),
                   .is_total = true});
  return all;
}

std::string verdict_of(const SuiteRow& row) {
  bool passes = false;
  bool is_open = false;
  for (const gate::Verdict& verdict : row.results->verdicts) {
    if (verdict.candidate != row.candidate.value_or(0)) continue;
    if (verdict.answer == gate::Answer::Fail) return "fail";
    is_open = is_open || verdict.answer == gate::Answer::Inconclusive;
    passes = true;
  }
  return is_open ? "inconclusive" : passes ? "pass" : "";
}

std::string geomean_title(const Report& suite, const Geomean& mean) {
  if (mean.benchmarks == suite.benchmarks.size()) return "geomean";
  return fmt::format("geomean of {}", mean.benchmarks);
}

bool has_candidate_names(const Report& suite) {
  return std::any_of(suite.benchmarks.begin(), suite.benchmarks.end(),
                     [](const auto& one) { return candidates_of(one).size() > 1; });
}

std::string suite_gate_lines(const Report& suite, bool all, bool color) {
  std::string text;
  for (const Results& one : suite.benchmarks) {
    const std::vector<std::string> lines = lines_of(gate_lines(one, color));
    for (std::size_t i = 0; i < lines.size() && i < one.verdicts.size(); ++i)
      if (all || one.verdicts[i].answer != gate::Answer::Pass)
        text += one_line(one.benchmark) + ": " + lines[i] + "\n";
  }
  return text;
}

std::string gates_in_one_line(const Report& suite) {
  const std::vector<gate::Verdict> verdicts = suite.verdicts();
  if (verdicts.empty()) return "";
  std::string counts;
  constexpr auto answers = std::to_array<std::pair<gate::Answer, std::string_view>>(
      {{gate::Answer::Fail, "fail"},
       {gate::Answer::Inconclusive, "inconclusive"},
       {gate::Answer::Pass, "pass"}});
  for (const auto& [answer, word] : answers) {
    const auto count =
        std::count_if(verdicts.begin(), verdicts.end(),
                      [wanted = answer](const auto& one) { return one.answer == wanted; });
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, word);
  }
  const double percent = 100.0 * (1.0 - suite.benchmarks.front().confidence);
  return plural(verdicts.size(), "gate") + ": " + counts +
         (suite.risk == gate::Risk::Any
              ? fmt::format(" (any false alarm: at most {:.3g}%)\n", percent)
              : fmt::format(" (false alarms among those that fail: at most {:.3g}%)\n", percent));
}

std::string suite_screen(const Report& suite, const Style& style, bool quiet) {
  const bool any =
      std::any_of(suite.benchmarks.begin(), suite.benchmarks.end(), [](const Results& one) {
        return std::any_of(one.commands.begin(), one.commands.end(),
                           [](const CommandResult& command) { return command.runs > 0; });
      });
  if (!any) return "";
  std::string text;
  if (style.verbose && !quiet) {
    for (const Results& one : suite.benchmarks)
      text += inked(one_line(one.benchmark), Ink::Bold, style.color) + "\n\n" +
              screen(one, style, false) + "\n";
  }
  if (!quiet)
    text += inked(suite_title(suite), Ink::Bold, style.color) + "\n" + table_text(suite, style);
  std::string below = suite_gate_lines(suite, quiet || style.verbose, style.color);
  if (!quiet) below += gates_in_one_line(suite);
  if (!text.empty() && !below.empty()) text += "\n";
  for (const std::string& line : lines_of(below))
    text += wrapped(style.ascii ? ascii_of(line) : line, style.width) + "\n";
  return style.ascii ? ascii_of(text) : text;
}

namespace {

/// Texts, each once, in the order in which they first came, behind the names of their benchmarks
/// where these are not all.
std::vector<std::string> with_names(const Report& suite,
                                    const std::vector<std::vector<std::string>>& texts) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const std::string& text : texts[i]) {
      if (names.count(text) == 0) order.push_back(text);
      auto& of_text = names[text];
      const std::string name = cited(suite.benchmarks[i].benchmark);
      if (of_text.empty() || of_text.back() != name) of_text.push_back(name);
    }
  }
  std::vector<std::string> lines;
  constexpr std::size_t most_named = 3;
  for (const std::string& text : order) {
    std::vector<std::string>& of_text = names[text];
    if (of_text.size() == suite.benchmarks.size()) {
      lines.push_back(text);
      continue;
    }
    const std::string who =
        of_text.size() > most_named ? plural(of_text.size(), "benchmark") : listed(of_text);
    lines.push_back(fmt::format("{}: {}", who, text));
  }
  return lines;
}

}  // namespace

std::vector<std::string> warning_texts(const Report& suite, const Style& style) {
  if (!suite.is_suite()) return warning_texts(suite.benchmarks.front(), style);
  std::vector<std::vector<std::string>> texts;
  for (const Results& one : suite.benchmarks) texts.push_back(warning_texts(one, style));
  return with_names(suite, texts);
}

std::vector<std::string> notes_of(const Report& suite) {
  if (!suite.is_suite()) return suite.benchmarks.front().notes;
  std::vector<std::vector<std::string>> texts;
  for (const Results& one : suite.benchmarks) texts.push_back(one.notes);
  return with_names(suite, texts);
}

}  // namespace lauka::report
