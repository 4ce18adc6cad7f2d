#include "report/path_graph.h"

#include "core/reference.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/table.h"
#include "results/path_changes.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// A command as the graph shows it.
struct DrawnCommand {
  std::string css_class;
  std::string name;
};

/// Returns what `text_of` makes of each path, separated by spaces.
template <typename TextOf>
std::string list_of(std::span<const PathChange> paths, TextOf text_of) {
  std::string list;
  for (const PathChange& path : paths) {
    if (!list.empty()) list += ' ';
    fmt::format_to(std::back_inserter(list), "{}", text_of(path));
  }
  return list;
}

/// Returns the indices of the paths that differ significantly, separated by spaces.
std::string list_significant(std::span<const PathChange> paths) {
  std::string list;
  for (std::size_t path = 0; path < paths.size(); ++path)
    if (paths[path].is_certain) list += fmt::format("{}{}", list.empty() ? "" : " ", path);
  return list;
}

/// The frames' names, each once.
class NameList {
 public:
  /// Returns the index of the name, which is added if it is new.
  std::size_t find_or_add(const std::string& name) {
    const auto [entry, is_new] = indices_.try_emplace(name, indices_.size());
    if (is_new) lines_ += (lines_.empty() ? "" : "\n") + html_text(name);
    return entry->second;
  }

  const std::string& lines() const { return lines_; }

 private:
  std::map<std::string, std::size_t> indices_;
  std::string lines_;
};

std::string list_commands(std::span<const DrawnCommand> commands) {
  std::string lines;
  for (const DrawnCommand& command : commands)
    lines += fmt::format("{}{}|{}", lines.empty() ? "" : "\n", command.css_class,
                         html_text(command.name));
  return lines;
}

/// Returns the index of each path's caller. The outermost path, the program itself, has none: -1.
std::string list_callers(std::span<const PathChange> paths) {
  return list_of(paths, [](const PathChange& path) {
    return path.caller == kNoCaller ? -1LL : static_cast<long long>(path.caller);
  });
}

std::string list_candidate_times(std::span<const PathChange> paths) {
  return list_of(paths,
                 [](const PathChange& path) { return to_microseconds(path.candidate_mean); });
}

std::string list_reference_times(std::span<const PathChange> paths) {
  return list_of(paths,
                 [](const PathChange& path) { return to_microseconds(path.reference_mean); });
}

/// Returns the half width of each difference's interval. The script shows no interval for -1.
std::string list_half_widths(std::span<const PathChange> paths) {
  return list_of(paths, [](const PathChange& path) {
    return path.half_width ? to_microseconds(*path.half_width) : std::int64_t{-1};
  });
}

std::string make_attribute(std::string_view name, const std::string& value) {
  return fmt::format(" data-{}=\"{}\"", name, value);
}

/// Returns the attributes with the times of a reference and its candidate, and their differences.
std::string make_comparison_attributes(std::span<const PathChange> paths) {
  return make_attribute("times", list_reference_times(paths) + "|" + list_candidate_times(paths)) +
         make_attribute("half-width", list_half_widths(paths)) +
         make_attribute("sure", list_significant(paths));
}

/// Returns an HTML element with the data from which page/icicle.js draws the paths of one command,
/// or of a reference and its candidate (in this order). Each attribute lists a number for each
/// path, in the order of `paths`.
std::string make_graph_element(std::span<const PathChange> paths,
                               std::span<const DrawnCommand> commands) {
  // Many paths end in the same function. They refer to its name by the index in a list.
  NameList names;
  const std::string name_indices =
      list_of(paths, [&](const PathChange& path) { return names.find_or_add(path.name); });

  const bool is_comparison = commands.size() == 2;
  const std::string attributes =
      make_attribute("commands", list_commands(commands)) +
      make_attribute("parent", list_callers(paths)) + make_attribute("name", name_indices) +
      (is_comparison ? make_comparison_attributes(paths)
                     : make_attribute("times", list_candidate_times(paths)));
  return fmt::format("<div class=\"chart icicle\"{}><pre class=\"names\" hidden>{}</pre></div>\n",
                     attributes, names.lines());
}

/// Returns the commands of a graph: the command, and before it its reference if it has one.
std::vector<DrawnCommand> list_graph_commands(const Results& results, std::size_t command,
                                              const std::vector<std::string>& css_classes) {
  const auto drawn_command = [&](std::size_t index) {
    return DrawnCommand{css_classes[index], results.session.commands[index].name};
  };

  std::vector<DrawnCommand> graph_commands;
  const Reference& reference = results.session.reference;
  if (reference.is_candidate(command)) {
    // A reference in a baseline file has no number in this session, and so no colour. It gets the
    // last of the eight colours.
    const auto reference_index = reference.index_in_session(command);
    graph_commands.push_back(reference_index ? drawn_command(*reference_index)
                                             : DrawnCommand{"c7", name_of_references(results)});
  }
  graph_commands.push_back(drawn_command(command));
  return graph_commands;
}

}  // namespace

// On a page, the call paths of a command are an icicle graph. A candidate has one graph together
// with its reference, in which the reader can switch to the difference.
std::string call_path_graphs(const Results& results) {
  const std::vector<std::string> css_classes = command_classes(results);
  std::string html;
  for (const std::size_t command :
       candidates_or_all(results.session.reference, results.commands.size())) {
    // Commands without call paths, or whose paths cannot be compared, have no graph.
    if (const auto changes = show_paths(results, command))
      html +=
          make_graph_element(changes->paths, list_graph_commands(results, command, css_classes));
  }
  if (html.empty()) return "";

  return "<h3>Call paths</h3>\n" + html +
         "<p class=\"aside\">The width of a frame is the sampled CPU time of the function and of "
         "everything that it called. Choose a frame to enlarge it, or use the arrow keys, Enter "
         "and Escape. In the difference, only paths that differ significantly have a colour: red "
         "if they take longer, blue if they take less time.</p>\n";
}

}  // namespace lauka::report
