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

/// Returns the indices of the paths that differ significantly.
std::string list_sure(std::span<const PathChange> paths) {
  std::string list;
  for (std::size_t path = 0; path < paths.size(); ++path)
    if (paths[path].is_sure) list += fmt::format("{}{}", list.empty() ? "" : " ", path);
  return list;
}

/// The frames' names, each once.
class Names {
 public:
  std::size_t index_of(const std::string& name) {
    const auto [known, is_new] = indices_.try_emplace(name, indices_.size());
    if (is_new) lines_ += (lines_.empty() ? "" : "\n") + html_text(name);
    return known->second;
  }

  const std::string& lines() const { return lines_; }

 private:
  std::map<std::string, std::size_t> indices_;
  std::string lines_;
};

/// Returns the element for `changes` between two commands, or of a single one.
std::string element_of(std::span<const PathChange> paths, std::span<const DrawnCommand> commands) {
  std::string attributes;
  const auto add = [&](std::string_view name, const std::string& value) {
    attributes += fmt::format(" data-{}=\"{}\"", name, value);
  };

  std::string lines;
  for (const DrawnCommand& command : commands)
    lines += fmt::format("{}{}|{}", lines.empty() ? "" : "\n", command.css_class,
                         html_text(command.name));
  add("commands", lines);

  // -1 stands for a missing caller and for a missing half width.
  const auto caller_of = [](const PathChange& path) {
    return path.caller == kNoCaller ? -1LL : static_cast<long long>(path.caller);
  };
  const auto half_width_of = [](const PathChange& path) {
    return path.half_width ? to_microseconds(*path.half_width) : std::int64_t{-1};
  };
  Names names;
  add("parent", list_of(paths, caller_of));
  add("name", list_of(paths, [&](const PathChange& path) { return names.index_of(path.name); }));

  const std::string candidate_times =
      list_of(paths, [](const PathChange& path) { return to_microseconds(path.candidate_mean); });
  if (commands.size() == 1) {
    add("times", candidate_times);
  } else {
    const std::string reference_times =
        list_of(paths, [](const PathChange& path) { return to_microseconds(path.reference_mean); });
    add("times", reference_times + "|" + candidate_times);
    add("half-width", list_of(paths, half_width_of));
    add("sure", list_sure(paths));
  }
  return fmt::format("<div class=\"chart icicle\"{}><pre class=\"names\" hidden>{}</pre></div>\n",
                     attributes, names.lines());
}

}  // namespace

std::string path_graphs(const Results& results) {
  const std::vector<std::string> classes = command_classes(results);
  const auto drawn = [&](std::size_t command) {
    return DrawnCommand{classes[command], results.session.commands[command].name};
  };

  std::string html;
  const Reference& references = results.session.reference;
  for (const std::size_t c : candidates_or_all(references, results.commands.size())) {
    const auto changes = show_paths(results, c);
    if (!changes) continue;

    std::vector<DrawnCommand> commands{drawn(c)};
    if (references.is_candidate(c)) {
      // A baseline's command has no colour of its own.
      const auto reference = references.index_in_session(c);
      const DrawnCommand of_baseline{"c7", name_of_references(results)};
      commands.insert(commands.begin(), reference ? drawn(*reference) : of_baseline);
    }
    html += element_of(changes->paths, commands);
  }
  if (html.empty()) return "";

  return "<h3>Call paths</h3>\n" + html +
         "<p class=\"aside\">The width of a frame is the sampled CPU time of the function and of "
         "everything that it called. Choose a frame to enlarge it, or use the arrow keys, Enter "
         "and Escape. In the difference, only paths that differ significantly have a colour: red "
         "if they take longer, blue if they take less time.</p>\n";
}

}  // namespace lauka::report
