#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lauka::engine::valgrind {

enum class Tool : unsigned char { Cachegrind, Dhat };

/// The part of the processor that Cachegrind must simulate for an event.
enum class SimulatedPart : unsigned char { None, Caches, Branches };

struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  Tool tool;
  /// Names of the tool's counts whose sum is the event's count, separated by blanks.
  std::string_view tool_counts;
  SimulatedPart simulated_part = SimulatedPart::None;
  bool is_bytes = false;
  bool is_of_largest_process = false;  ///< true: the count of the process with the largest heap;
                                       ///< false: the sum over all processes
};

struct WantedEvent {
  const SimulatedEvent* event;  ///< null if the kernel counts the event
  std::string function{};       ///< normalized name; empty: the whole program
};

/// Name of a process's log in Valgrind's notation: %p is the process id, %n the number of the file
/// among the process's files, from 1.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// A function that returns the next piece of a text, or an empty piece at the end. A piece is valid
/// until the next call.
using Pieces = std::function<std::string_view()>;

/// Longest line that is read, in bytes.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

class LineReader {
 public:
  explicit LineReader(Pieces pieces) : pieces_(std::move(pieces)) {}

  /// Returns the next line without its line break, valid until the next call; nullopt if no
  /// complete line of at most kMaxLine bytes follows.
  std::optional<std::string_view> next();

  /// True if next() has returned nullopt because no text was left.
  bool has_read_all() const { return has_read_all_; }

  /// Returns the beginning of the line because of which next() has returned nullopt; may be empty.
  const std::string& unfinished_line() const { return line_; }

 private:
  Pieces pieces_;
  std::string_view piece_{};
  std::string line_{};
  bool has_read_all_ = false;
};

/// The command line of a process, and the process's total counts by the tool's names for counts.
struct TotalsOfProcess {
  std::string command;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

/// Adds up the counts of all processes of one run, without counts from before an execve. A forked
/// process counts again what its parent counted before the fork. A sum is left out if more than 1%
/// of the sum may be counted twice.
class ProcessCounts {
 public:
  /// Reads the symbols of the run's files with the rights of `user` (nullopt: lauka's own rights),
  /// to find all names of functions that have several.
  ProcessCounts(Tool tool, std::span<const WantedEvent> wanted,
                std::optional<User> user = std::nullopt);

  /// Reads a file of Valgrind, named as in kLogName or kCountsName. Ignores a file without a
  /// process id in its name.
  void add_file(std::string_view file_name, Pieces pieces);

  /// Returns the run's counts and, if known, counts by function. Must be called at most once.
  CountsOfRun finish();

 private:
  static constexpr std::size_t kMaxFunctionsBytes = 40'000'000;

  struct Process {
    std::vector<TotalsOfProcess> totals;  ///< several if the process id was reused
    bool was_started_by_execve = false;
    bool is_complete = true;
    std::optional<std::uint64_t> parent{};
  };

  /// A function's counts, in the order of `events_`.
  struct Function {
    std::vector<std::uint64_t> counts;
    std::set<std::string> other_names{};
  };

  using Functions = std::unordered_map<std::string, Function>;

  struct Sum {
    std::uint64_t counted = 0;
    std::uint64_t inherited = 0;  ///< upper bound for the part of `counted` that is counted twice
    bool is_known = true;
  };

  void read_log(Process& process, Pieces pieces);
  std::optional<TotalsOfProcess> read_counts(Pieces pieces);
  void add_line(std::string_view symbol, const std::vector<std::uint64_t>& counts);
  Functions::value_type& find_or_add_function(std::string_view symbol);
  void name_functions();
  void add_names(std::span<const char* const> symbols);
  std::uint64_t find_max_inherited(const TotalsOfProcess& totals, const Process& process,
                                   const SimulatedEvent& event) const;
  Sum sum_over_processes(const SimulatedEvent& event) const;
  static std::optional<Error> find_fault(const Sum& sum);
  std::optional<std::uint64_t> count_in_largest_process(const SimulatedEvent& event) const;
  std::optional<Error> find_why_missing() const;
  const TotalsOfProcess* find_process_without_allocations() const;
  void enter_counts(CountsOfRun& counted) const;
  std::optional<Error> enter_count(std::size_t event_index, CountsOfRun& counted) const;
  void enter_wanted_functions(CountsOfRun& counted) const;
  void enter_functions(CountsOfRun& counted);
  std::map<std::string, Function> take_functions_by_name();
  bool has_too_many_functions() const { return functions_bytes_ > kMaxFunctionsBytes; }

  Tool tool_;
  std::span<const WantedEvent> wanted_;
  std::vector<const SimulatedEvent*> events_;
  std::vector<std::size_t> event_index_of_wanted_;
  std::map<std::uint64_t, Process> processes_;
  std::optional<User> user_;
  std::set<std::string> files_;  ///< whose symbols Valgrind read
  Functions functions_;
  std::unordered_map<std::string, Functions::value_type*> functions_by_symbol_;
  std::size_t functions_bytes_ = 0;
  std::vector<std::vector<std::size_t>> events_of_tool_count_;
  std::string last_symbol_;
  Functions::value_type* last_function_ = nullptr;
};

/// Returns the events of all tools, in the order in which they are selected by default.
std::span<const SimulatedEvent> simulated_events();

/// Finds an event by name, ignoring case; null if missing.
const SimulatedEvent* find_simulated(std::string_view name);

/// Makes an engine that runs commands under Cachegrind, DHAT or both, depending on `choice`.
/// `valgrind`: path of the program valgrind. `user`: owner of the tools' files; nullopt: lauka's
/// own user.
OwnedEngine make_valgrind_engine(EngineChoice choice, std::string valgrind,
                                 std::optional<User> user = std::nullopt);

/// Returns the command line that runs `command` under the tool that counts `wanted` (not empty, all
/// of one tool). The tool's files go to `folder`.
std::vector<std::string> make_valgrind_words(const std::string& valgrind, const std::string& folder,
                                             std::span<const WantedEvent> wanted,
                                             const std::vector<std::string>& command);

}  // namespace lauka::engine::valgrind
