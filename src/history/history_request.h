#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "history/database.h"
#include "history/store.h"
#include "history/trend.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lauka::history {

struct HistoryCommand;

/// What the user typed. Members that belong to options of other commands are empty.
struct Request {
  const HistoryCommand* command = nullptr;  ///< null: print `answer`
  std::string answer{};
  std::string database = "lauka-history.db";
  std::vector<std::string> command_arguments{};
  SeriesSelection series_selection{};
  ComparedWith compared_with = ComparedWith::AnchorIfPresent;
  std::string before_date{};      ///< date before which sessions are forgotten
  bool lists_benchmarks = false;  ///< true: list benchmarks; false: list sessions
  std::string note{};
  std::string commit_url{};  ///< web address of a commit, with {} for the commit; empty: no links
  std::string title{};
  std::string output = "-";
  std::string worse_limit_text{};               ///< value of --fail-if-worse as it was typed
  std::optional<double> worse_limit_percent{};  ///< nullopt without --fail-if-worse
  bool judges_each_machine = false;

  /// Returns the first argument of the command; empty without arguments.
  std::string first_argument() const {
    return command_arguments.empty() ? "" : command_arguments.front();
  }
};

/// What a command prints, and the status that the program exits with.
struct Answer {
  std::string text{};
  ExitStatus status = ExitStatus::Done;
};

/// An option that one command has. A switch has no placeholder.
struct CommandOption {
  std::string_view name;  ///< the name, and a letter after a comma: "output,o"
  std::string_view placeholder;
  std::string_view help;
  std::variant<bool Request::*, std::string Request::*> place;
  bool is_required = false;
};

/// Options that several commands have.
inline constexpr unsigned kGroupNone = 0;
inline constexpr unsigned kGroupSeries = 1U << 0U;     ///< --metric, --role and --machine
inline constexpr unsigned kGroupBenchmark = 1U << 1U;  ///< --benchmark
inline constexpr unsigned kGroupBranch = 1U << 2U;     ///< --branch and --against
inline constexpr unsigned kGroupLast = 1U << 3U;       ///< --last
inline constexpr unsigned kGroupCommit = 1U << 4U;     ///< --commit
/// The command takes all metrics and roles unless options restrict them.
inline constexpr unsigned kGroupAllByDefault = 1U << 5U;

inline constexpr std::size_t kMaxSessions = 1'000'000;

/// A command of lauka-history: how it is typed and described, and the functions that carry it out.
struct HistoryCommand {
  std::string_view name;
  std::string_view argument_usage{};
  std::size_t fewest_arguments = 0;
  std::size_t most_arguments = 0;
  unsigned groups = kGroupNone;
  std::string_view purpose;
  std::size_t max_sessions = 0;  ///< default of --last
  std::span<const CommandOption> options{};
  std::string_view commit_help = "use only what was measured at this commit";

  /// Completes a request. Returns what is wrong with it; empty if it is right. May be null.
  std::string (*check_and_complete)(Request& request) = nullptr;
  Access access = Access::Read;
  /// Answers a request for which the database is not needed. Returns nullopt if the database is
  /// needed. May be null.
  std::optional<Answer> (*answer_without_database)(const Request& request) = nullptr;
  /// Answers a request. An error lacks its subject, the database. Null if the database is never
  /// needed.
  Result<Answer> (*answer)(Database& database, const Request& request) = nullptr;
};

/// Parses the command line of lauka-history, whose first word is the name of one of `commands`. The
/// request refers to that command.
Result<Request> parse(std::span<const std::string> arguments,
                      std::span<const HistoryCommand> commands);

/// Returns what is wrong with the web address of a commit, in which {} stands for the commit; empty
/// if it is right.
std::string fault_in_commit_url(const std::string& url);

}  // namespace lauka::history
