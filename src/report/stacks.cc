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

}  // namespace

void write_folded(const Report& report, const ExportTarget& target, const Sink& sink) {
  const Results& results = report.benchmarks.at(target.benchmark);
  const bool is_compared = results.session.reference.is_candidate(target.command);

  const auto changes = show_paths(results, target.command);
  if (!changes) return;

  // A path follows its caller's path, or the paths through one of the caller's other calls. So
  // `stack` always begins with the caller's own stack, whose size is known.
  std::string stack;
  std::vector<std::size_t> stack_sizes;  // by path
  stack_sizes.reserve(changes->paths.size());
  for (const PathChange& path : changes->paths) {
    const bool is_program = path.caller == kNoCaller;
    stack.resize(is_program ? 0 : stack_sizes[path.caller]);
    stack += (is_program ? "" : ";") + folded_frame(path.name);
    stack_sizes.push_back(stack.size());

    const std::int64_t before = to_microseconds(path.reference_own);
    const std::int64_t after = to_microseconds(path.candidate_own);
    if (before == 0 && after == 0) continue;
    sink(is_compared ? fmt::format("{} {} {}\n", stack, before, after)
                     : fmt::format("{} {}\n", stack, after));
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
