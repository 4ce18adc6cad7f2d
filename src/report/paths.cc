#include "report/paths.h"

#include "core/reference.h"
#include "core/text.h"
#include "report/format.h"
#include "report/function_name.h"
#include "report/table.h"
#include "results/path_changes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kMaxNamedCallers = 3;
constexpr std::size_t kMaxCallerWidth = 30;
constexpr std::size_t kMaxFrameWidth = 60;

/// True if the path is of a program, or of the function by which a program or thread begins.
bool is_beginning(std::span<const PathChange> paths, std::uint32_t path) {
  const std::uint32_t caller = paths[path].caller;
  return caller == kNoCaller || paths[caller].caller == kNoCaller;
}

/// Returns the callers, the nearest one last: "main > parse". Of many, returns the nearest ones
/// after "…".
std::string list_callers(std::span<const PathChange> paths, const PathChange& path) {
  std::string callers;
  std::size_t named = 0;
  for (std::uint32_t at = path.caller; at != kNoCaller && !is_beginning(paths, at);
       at = paths[at].caller) {
    if (++named > kMaxNamedCallers) return "… > " + callers;
    std::string name = shortened_function(one_line(paths[at].name), kMaxCallerWidth);
    if (!callers.empty()) name.append(" > ").append(callers);
    callers = std::move(name);
  }
  return callers;
}

struct ChosenPaths {
  std::set<std::size_t> indices{};  ///< of the chosen paths and of all their callers
  bool has_all = true;              ///< false if some were left out
  /// The largest number of lines that the table would have had with a path that was left out.
  std::size_t max_lines_needed = 0;
};

/// Returns the indices of the paths with a weight above 0, those with a larger weight first.
std::vector<std::size_t> list_by_weight(const MetricByFunction& changes,
                                        const std::function<double(const PathChange&)>& weight_of) {
  std::vector<double> weights;
  std::vector<std::size_t> indices;
  weights.reserve(changes.paths.size());
  for (std::size_t index = 0; index < changes.paths.size(); ++index) {
    weights.push_back(weight_of(changes.paths[index]));
    if (weights.back() > 0.0) indices.push_back(index);
  }
  std::ranges::stable_sort(indices, std::greater<>(),
                           [&](std::size_t index) { return weights[index]; });
  return indices;
}

/// Chooses the paths for a table of at most `max_lines` lines. A path takes a line, and so does
/// each of its callers. Paths with a larger weight are chosen first. A path of weight 0 is chosen
/// only as the caller of another one.
ChosenPaths choose_paths(const MetricByFunction& changes, std::size_t max_lines,
                         const std::function<double(const PathChange&)>& weight_of) {
  ChosenPaths chosen;
  std::vector<std::size_t> new_lines;
  for (const std::size_t path_index : list_by_weight(changes, weight_of)) {
    // The path and its callers need lines, up to the first caller that has one already.
    new_lines.clear();
    std::size_t index = path_index;
    while (index != kNoCaller && !chosen.indices.contains(index)) {
      new_lines.push_back(index);
      index = changes.paths[index].caller;
    }

    // A path that needs too many lines is passed over. A lighter one with fewer callers may fit.
    const std::size_t lines_needed = chosen.indices.size() + new_lines.size();
    if (lines_needed <= max_lines) {
      chosen.indices.insert(new_lines.begin(), new_lines.end());
    } else {
      chosen.has_all = false;
      chosen.max_lines_needed = std::max(chosen.max_lines_needed, lines_needed);
    }
  }
  return chosen;
}

Ink choose_path_ink(const PathChange& change) {
  if (!change.is_certain) return Ink::Dim;
  return change.difference() > 0.0 ? Ink::Red : Ink::Green;
}

/// Returns the column of a command's times, which a narrow terminal may leave out with `part`.
TableColumn make_time_column(const Command& command, OmittedPart part) {
  return {.heading = {one_line(command.name)}, .dropped_when_omitting = part, .cut = Cut::Middle};
}

/// Returns a column of call paths, and one for the time of `command`. If the command has a
/// reference, the reference's time stands before it, and the difference behind it.
std::vector<TableColumn> list_path_columns(const Results& results, std::size_t command) {
  std::vector<TableColumn> columns = {{.heading = {"call path"},
                                       .cell_content = CellContent::Code,
                                       .is_left_aligned = true,
                                       .cut = Cut::Middle}};

  // In a narrow terminal, the difference is enough. Without one, the command's time has to stay.
  const Command& own = results.session.commands[command];
  if (results.session.reference.is_candidate(command)) {
    columns.push_back(make_time_column(results.reference_of(command), OmittedPart::Values));
    columns.push_back(make_time_column(own, OmittedPart::Values));
    columns.push_back({.heading = {"difference"}, .cell_content = CellContent::Delta});
  } else {
    columns.push_back(make_time_column(own, OmittedPart::Never));
  }
  return columns;
}

/// Returns a table without rows.
Table make_empty_path_table(const Results& results, std::size_t command) {
  // The first of these attempts that fits into the terminal is used.
  return {.columns = list_path_columns(results, command),
          .steps = {{.gap = 3, .min_cut_width = 60},
                    {.min_cut_width = 40},
                    {.last_omitted_part = OmittedPart::Values, .min_cut_width = 20}},
          .heading_ink = Ink::Bold};
}

Cell make_name_cell(const PathChange& path, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  return {.text = indent + shortened_function(one_line(path.name), kMaxFrameWidth)};
}

Cell make_difference_cell(const PathChange& path, const Metric& metric) {
  return {.text = difference_of_means(path.difference(), path.half_width, metric),
          .ink = choose_path_ink(path),
          .is_significant_delta = path.is_certain};
}

/// Makes a table with a row for each chosen path, indented below its caller. The callers of chosen
/// paths are chosen, too.
Table make_path_table(const Results& results, std::size_t command, const MetricByFunction& changes,
                      const std::set<std::size_t>& chosen_paths) {
  const bool is_compared = results.session.reference.is_candidate(command);
  const Metric& metric = results.session.metrics[changes.metric];
  Table table = make_empty_path_table(results, command);

  std::vector<std::size_t> depths(changes.paths.size());  // of all paths; outermost ones have 0
  for (const std::size_t index : chosen_paths) {
    const PathChange& path = changes.paths[index];

    // A caller precedes the paths that it calls, so its depth is known here.
    const bool has_caller = path.caller != kNoCaller;
    if (has_caller) depths[index] = depths[path.caller] + 1;

    TableRow& row = table.rows.emplace_back(TableRow{make_name_cell(path, depths[index])});
    if (is_compared) row.push_back({.text = quantity(path.reference_mean, metric)});
    row.push_back({.text = quantity(path.candidate_mean, metric)});
    if (is_compared) row.push_back(make_difference_cell(path, metric));
  }
  return table;
}

/// Returns why no path was chosen: none differs significantly, or each needs more lines.
std::string explain_empty_choice(const MetricByFunction& changes, const ChosenPaths& chosen,
                                 std::size_t max_lines) {
  if (chosen.has_all)
    return fmt::format("no call path differs significantly in {}",
                       plural(changes.rounds, "sampled run"));
  return fmt::format("the call paths do not fit into {}; --paths={} shows some",
                     plural(max_lines, "line"), chosen.max_lines_needed);
}

/// Returns "cpu_time by call path, significant changes (the largest; --paths=80 shows more)". Only
/// the changes of a command with a reference are significant.
std::string make_title(const Results& results, std::size_t command, const MetricByFunction& changes,
                       const ChosenPaths& chosen) {
  std::string title = one_line(results.session.metrics[changes.metric].name) + " by call path";
  if (results.session.reference.is_candidate(command)) title += ", significant changes";
  if (!chosen.has_all)
    title += fmt::format(" (the largest; --paths={} shows more)", 2 * *results.presentation.paths);
  return title;
}

/// Returns the table of a command's call paths with its title, or a note that says why none is
/// shown. If the command has a reference, the table has only the paths that differ significantly.
std::string make_section(const Results& results, std::size_t command,
                         const MetricByFunction& changes, const Style& style) {
  const bool is_compared = results.session.reference.is_candidate(command);
  const std::size_t max_lines = *results.presentation.paths;  // given by --paths=LINES

  // A command without a reference shows the paths that took most time.
  const auto weight_of = [&](const PathChange& path) {
    if (!is_compared) return path.candidate_mean;
    return path.is_certain ? std::fabs(path.difference()) : 0.0;
  };
  const ChosenPaths chosen = choose_paths(changes, max_lines, weight_of);

  if (chosen.indices.empty())
    return "\n" + dim_note(explain_empty_choice(changes, chosen, max_lines), style);

  const std::string title = make_title(results, command, changes, chosen);
  return "\n" + inked(title, Ink::Bold, style.color) + "\n" +
         terminal_text(make_path_table(results, command, changes, chosen.indices), style);
}

}  // namespace

std::string callers_with_most_of(const FunctionChange& change, std::span<const PathChange> paths) {
  constexpr double min_share = 0.5;
  if (change.difference() == 0.0) return "";

  // Of paths that change in opposite directions, several may have more than the whole change.
  double share = 0.0;
  const PathChange* largest = nullptr;
  for (const PathChange& path : paths) {
    if (path.name != change.name || !path.is_own_certain) continue;
    const double of_path = path.own_difference() / change.difference();
    if (of_path < min_share || of_path <= share) continue;
    share = of_path;
    largest = &path;
  }
  return largest == nullptr ? "" : list_callers(paths, *largest);
}

std::string path_text(const Results& results, const Style& style) {
  if (!results.presentation.paths) return "";

  std::string text;
  for (const std::size_t c : candidates_or_all(results.session.reference, results.commands.size()))
    if (const auto changes = show_paths(results, c))
      text += make_section(results, c, *changes, style);

  if (!text.empty()) return text;
  const bool has_paths =
      std::ranges::any_of(results.session.function_tables,
                          [](const FunctionTable& table) { return !table.paths.empty(); });
  return "\n" + dim_note(has_paths ? "the call paths are not compared, because one side has none, "
                                     "has failed runs, or was sampled in another way"
                                   : "there are no call paths to show; measure with --profile",
                         style);
}

}  // namespace lauka::report
