#include "history/session_diff.h"

#include "core/text.h"
#include "report/warning_lines.h"
#include "session/setting_values.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::history {

namespace {

/// A difference as text, and what it is of: commands and metrics, or nothing if it is of the
/// sessions.
struct FoundDifference {
  std::string text{};
  std::vector<std::string> owners{};
};

/// Collects the differences between two files.
class SessionDiff {
 public:
  SessionDiff(const ReadFile& a, const ReadFile& b) : a_(a), b_(b) {}

  std::string write_text() {
    compare_all();
    std::string text =
        found_.empty()
            ? fmt::format("{} does not differ from {} in anything that both files record.\n",
                          cited(b_.name), cited(a_.name))
            : fmt::format("{} differs from {} in:\n", cited(b_.name), cited(a_.name));
    for (const FoundDifference& difference : found_)
      text += fmt::format(
          "  {}{}\n", difference.text,
          difference.owners.empty() ? "" : fmt::format(" ({})", listed(difference.owners)));
    for (const std::string& line : unmatched_) text += line + "\n";
    return text;
  }

 private:
  /// Adds the differences between two settings. `owner`: what has them, empty for the sessions. A
  /// difference that several owners have is listed once.
  void add_differences(const std::string& owner, const SettingValues& in_a,
                       const SettingValues& in_b) {
    constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
    for (const SettingDifference& difference : find_differences(in_a, in_b)) {
      std::string text =
          report::difference_text(difference, report::DifferenceSide::Candidate, no_limit);
      auto known = std::ranges::find(found_, text, &FoundDifference::text);
      if (known == found_.end())
        known = found_.insert(found_.end(), FoundDifference{std::move(text)});
      if (!owner.empty() && std::ranges::find(known->owners, owner) == known->owners.end())
        known->owners.push_back(owner);
    }
  }

  void compare_all() {
    const auto& [name_of_a, sessions_of_a] = a_;
    add_differences("",
                    settings_of_session(sessions_of_a.benchmarks.front().recording.circumstances),
                    settings_of_session(b_.sessions.benchmarks.front().recording.circumstances));

    for (const SessionFromFile& benchmark : b_.sessions.benchmarks) {
      const auto other = std::ranges::find(sessions_of_a.benchmarks, benchmark.benchmark,
                                           &SessionFromFile::benchmark);
      if (other != sessions_of_a.benchmarks.end())
        compare_recordings(benchmark.benchmark, other->recording, benchmark.recording);
      else
        note_unmatched("benchmark", benchmark.benchmark, name_of_a);
    }
  }

  /// Adds the differences between the commands of two recordings, and between their metrics.
  /// `benchmark`: the benchmark of a suite that both recordings are of; empty outside suites.
  void compare_recordings(const std::string& benchmark, const Recording& recording_in_a,
                          const Recording& recording_in_b) {
    // The differences are listed with the name of what has them, such as "'parse': wall_time".
    const std::string name_prefix = benchmark.empty() ? "" : cited(benchmark) + ": ";
    compare_commands(name_prefix, recording_in_a.commands, recording_in_b.commands);
    compare_metrics(name_prefix, recording_in_a.metrics, recording_in_b.metrics);
  }

  /// Adds the differences between the settings of each command in one file and those of the same
  /// command in the other file. Does not mention commands that only file A has.
  void compare_commands(const std::string& name_prefix, const std::vector<Command>& commands_in_a,
                        const std::vector<Command>& commands_in_b) {
    // A single command on each side may have been renamed, so it is compared in any case.
    const bool may_be_renamed = commands_in_a.size() == 1 && commands_in_b.size() == 1;
    for (const Command& command : commands_in_b) {
      const auto in_a = may_be_renamed
                            ? commands_in_a.begin()
                            : std::ranges::find(commands_in_a, command.name, &Command::name);
      if (in_a != commands_in_a.end())
        add_differences(name_prefix + cited(command.name), in_a->settings, command.settings);
      else
        note_unmatched("command", command.name, a_.name);
    }
  }

  /// Adds the differences between the settings of each metric in both files. A metric that only one
  /// file has was measured in only one way, so there is no difference.
  void compare_metrics(const std::string& name_prefix, const std::vector<Metric>& metrics_in_a,
                       const std::vector<Metric>& metrics_in_b) {
    for (const Metric& metric : metrics_in_b) {
      const auto index_in_a = find_metric(metrics_in_a, metric.name);
      if (index_in_a)
        add_differences(name_prefix + metric.name, settings_of_metric(metrics_in_a[*index_in_a]),
                        settings_of_metric(metric));
    }
  }

  void note_unmatched(std::string_view kind, const std::string& name, const std::string& file) {
    unmatched_.push_back(fmt::format("The {} {} is not in {}, so it was not compared.", kind,
                                     cited(name), cited(file)));
  }

  const ReadFile& a_;
  const ReadFile& b_;
  std::vector<FoundDifference> found_;
  std::vector<std::string> unmatched_;
};

}  // namespace

std::string diff_text(const ReadFile& a, const ReadFile& b) {
  return SessionDiff(a, b).write_text();
}

}  // namespace lauka::history
