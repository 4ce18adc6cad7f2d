#include "report/stacks.h"

#include "core/reference.h"
#include "core/text.h"
#include "report/format.h"
#include "results/path_changes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Returns a name that cannot be taken for several frames, or for a frame and a number.
std::string folded_frame(std::string_view name) {
  std::string frame = one_line(name);
  std::ranges::replace(frame, ';', ':');
  if (frame.empty()) return "(no name)";

  const std::size_t blank = frame.find_last_not_of("0123456789.");
  if (blank != std::string::npos && blank + 1 < frame.size() && frame[blank] == ' ')
    frame[blank] = '_';
  return frame;
}

/// The frames of a path. Paths are in depth-first order, so the stack of the caller is the
/// beginning of the previous path's stack, or all of it.
struct FoldedStack {
  std::string text{};
  std::vector<std::size_t> lengths_by_path{};  ///< in characters, of the paths so far

  void go_to_next(const PathChange& path) {
    const bool is_outermost = path.caller == kNoCaller;
    text.resize(is_outermost ? 0 : lengths_by_path[path.caller]);
    text += (is_outermost ? "" : ";") + folded_frame(path.name);
    lengths_by_path.push_back(text.size());
  }
};

}  // namespace

// Writes the folded stacks from which flame graph tools draw. A line has a stack and its time in
// microseconds: "prog;main;parse 120". If the command is compared with a reference, the time of the
// reference comes first: "prog;main;parse 120 95".
void write_folded(const Report& report, const ExportTarget& target, const Sink& sink) {
  const Results& results = report.benchmarks.at(target.benchmark);
  const bool is_compared = results.session.reference.is_candidate(target.command);

  const auto call_paths = show_paths(results, target.command);
  if (!call_paths) return;

  FoldedStack stack;
  stack.lengths_by_path.reserve(call_paths->paths.size());
  for (const PathChange& path : call_paths->paths) {
    stack.go_to_next(path);

    // A path without a microsecond of its own, such as one that only calls others, needs no line.
    const std::int64_t reference_us = to_microseconds(path.reference_own);
    const std::int64_t candidate_us = to_microseconds(path.candidate_own);
    if (reference_us == 0 && candidate_us == 0) continue;
    sink(is_compared ? fmt::format("{} {} {}\n", stack.text, reference_us, candidate_us)
                     : fmt::format("{} {}\n", stack.text, candidate_us));
  }
}

void write_first_folded(const Report& report, const Sink& sink) {
  const Results& results = report.benchmarks.front();
  const std::vector<std::size_t> shown =
      candidates_or_all(results.session.reference, results.commands.size());
  ExportTarget first;
  first.command = shown.front();
  write_folded(report, first, sink);
}

}  // namespace lauka::report
