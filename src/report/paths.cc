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
  std::set<std::size_t> paths{};     ///< with all their callers
  bool has_all = true;               ///< false if some were left out
  std::size_t lines_of_largest = 0;  ///< the most lines for which a path was left out
};

/// Chooses the paths for which `weight` is above 0, those with the largest weight first.
template <typename Weight>
ChosenPaths choose_paths(const MetricByFunction& changes, std::size_t max_lines,
                         const Weight& weight) {
  struct WeighedPath {
    double weight;
    std::size_t path;
  };
  std::vector<WeighedPath> sorted;
  for (std::size_t path = 0; path < changes.paths.size(); ++path) {
    const double weight_of_path = weight(changes.paths[path]);
    if (weight_of_path > 0.0) sorted.push_back({weight_of_path, path});
  }
  std::ranges::stable_sort(sorted, std::greater<>(), &WeighedPath::weight);

  ChosenPaths chosen;
  std::vector<std::size_t> to_add;  // a path with those of its callers that are not chosen yet
  for (const WeighedPath& candidate : sorted) {
    to_add.clear();
    std::size_t path = candidate.path;
    while (path < changes.paths.size() && !chosen.paths.contains(path)) {
      to_add.push_back(path);
      path = changes.paths[path].caller;
    }

    const std::size_t lines = chosen.paths.size() + to_add.size();
    if (lines <= max_lines) {
      chosen.paths.insert(to_add.begin(), to_add.end());
    } else {
      chosen.has_all = false;
      chosen.lines_of_largest = std::max(chosen.lines_of_largest, lines);
    }
  }
  return chosen;
}

Ink choose_path_ink(const PathChange& change) {
  if (!change.is_sure) return Ink::Dim;
  return change.difference() > 0.0 ? Ink::Red : Ink::Green;
}

/// Makes a table with a row for each chosen path, indented below its caller.
Table make_path_table(const Results& results, std::size_t command, const MetricByFunction& changes,
                      const std::set<std::size_t>& chosen) {
  // Without a reference, there is only the command's own time, which is never left out.
  const bool is_compared = results.session.reference.is_candidate(command);
  const Metric& metric = results.session.metrics[changes.metric];
  Table table;
  table.columns = {{.heading = {"call path"}, .is_left_aligned = true, .cut = Cut::Middle}};
  if (is_compared)
    table.columns.push_back({.heading = {one_line(results.reference_of(command).name)},
                             .dropped_when_omitting = OmittedPart::Values,
                             .cut = Cut::Middle});
  table.columns.push_back(
      {.heading = {one_line(results.session.commands[command].name)},
       .dropped_when_omitting = is_compared ? OmittedPart::Values : OmittedPart::Never,
       .cut = Cut::Middle});
  if (is_compared)
    table.columns.push_back({.heading = {"difference"}, .cell_content = CellContent::Delta});
  table.columns.front().cell_content = CellContent::Code;
  table.steps = {{.gap = 3, .min_cut_width = 60},
                 {.min_cut_width = 40},
                 {.last_omitted_part = OmittedPart::Values, .min_cut_width = 20}};
  table.heading_ink = Ink::Bold;

  std::vector<std::size_t> depths(changes.paths.size());
  for (const std::size_t path : chosen) {
    // A caller is before its calls, so its depth is known.
    const PathChange& change = changes.paths[path];
    if (change.caller != kNoCaller) depths[path] = depths[change.caller] + 1;

    const std::string indent(2 * depths[path], ' ');
    TableRow row = {{.text = indent + shortened_function(one_line(change.name), kMaxFrameWidth)}};
    if (is_compared) row.push_back({.text = quantity(change.reference_mean, metric)});
    row.push_back({.text = quantity(change.candidate_mean, metric)});
    if (is_compared)
      row.push_back({.text = difference_of_means(change.difference(), change.half_width, metric),
                     .ink = choose_path_ink(change),
                     .is_significant_delta = change.is_sure});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string make_section(const Results& results, std::size_t command,
                         const MetricByFunction& changes, const Style& style) {
  const bool is_compared = results.session.reference.is_candidate(command);
  const std::size_t max_lines = *results.presentation.paths;
  const auto weight_of = [&](const PathChange& path) {
    if (!is_compared) return path.candidate_mean;
    return path.is_sure ? std::fabs(path.difference()) : 0.0;
  };
  const ChosenPaths chosen = choose_paths(changes, max_lines, weight_of);

  if (chosen.paths.empty()) {
    const std::string why =
        chosen.has_all ? fmt::format("no call path differs significantly in {}",
                                     plural(changes.rounds, "sampled run"))
                       : fmt::format("the call paths do not fit into {}; --paths={} shows some",
                                     plural(max_lines, "line"), chosen.lines_of_largest);
    return "\n" + dim_note(why, style);
  }

  std::string title = one_line(results.session.metrics[changes.metric].name) + " by call path";
  if (is_compared) title += ", significant changes";
  if (!chosen.has_all) title += fmt::format(" (the largest; --paths={} shows more)", 2 * max_lines);
  return "\n" + inked(title, Ink::Bold, style.color) + "\n" +
         terminal_text(make_path_table(results, command, changes, chosen.paths), style);
}

}  // namespace

std::string callers_with_most_of(const FunctionChange& change, std::span<const PathChange> paths) {
  constexpr double min_share = 0.5;
  if (change.difference() == 0.0) return "";

  // Of paths that change in opposite directions, several may have more than the whole change.
  double share = 0.0;
  const PathChange* largest = nullptr;
  for (const PathChange& path : paths) {
    if (path.name != change.name || !path.is_own_sure) continue;
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
