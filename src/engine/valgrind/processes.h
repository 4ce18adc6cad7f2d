#pragma once

#include "core/functions.h"
#include "engine/engine.h"
#include "engine/valgrind/files.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lauka::engine::valgrind {

/// A tool of Valgrind that runs a program and counts events.
enum class Tool : unsigned char { Cachegrind, Dhat };

/// The part that Cachegrind must simulate for an event, in addition to counting instructions.
enum class Model : unsigned char { None, Caches, Branches };

/// An event that a tool of Valgrind counts.
struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  Tool tool;
  /// Names of the tool's counts whose sum is the event's count; unused elements are empty.
  std::array<std::string_view, 3> parts;
  Model model = Model::None;
  bool is_bytes = false;
  bool is_peak = false;  ///< true: the count of the process with the largest heap; false: the sum
                         ///< over all processes
};

/// An event that this session counts, in the whole program or in one function.
struct WantedEvent {
  const SimulatedEvent* event;
  std::string function{};  ///< normalized name; empty: the whole program
};

/// Names of a run's files, in Valgrind's notation: %p is the process id, %n counts the process's
/// files from 1. A program started by execve writes its log first. So a process without a log
/// number 1 continues a program that its parent started.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// The files of all processes of one run. Their sum is exact within limits. A program's counts are
/// written when it ends, and counts before an execve are lost: so only programs that ended count,
/// each from its execve on. A forked process that never called execve begins with its parent's
/// counts, which the parent's file also has: if they could be more than 1% of the sum, the sum is
/// missing; if less, there is a note. The sum is also missing if a process left no counts, because
/// it was killed or ran without Valgrind. DHAT's sum is also missing if a process has no
/// allocations: Valgrind probably does not replace its allocator.
class Processes {
 public:
  Processes(Tool tool, std::span<const WantedEvent> wanted);

  /// Reads a file of the run; ignores files with other names.
  void add(std::string_view name, Pieces pieces);

  /// Returns the sums over all processes, and for Cachegrind the counts of each function unless
  /// there are too many; a failure if a file is incomplete. Must be called at most once.
  Counted finish();

 private:
  struct Process {
    std::vector<Totals> totals;  ///< more than one entry only if the process id was reused
    bool began_program = false;  ///< true if the process called execve
    bool is_complete = true;     ///< true if every file was complete
    std::optional<std::uint64_t> parent{};
  };

  /// The count of an event in all processes.
  struct Sum {
    std::uint64_t counted = 0;
    std::uint64_t inherited =
        0;  ///< largest amount that may have been counted twice because of forks
    bool is_known = true;
  };

  std::optional<Totals> read_counts(Pieces pieces);
  void add_line(std::string_view function, const std::vector<std::uint64_t>& counts);
  std::uint64_t inherited_at_most(const Totals& totals, const Process& process,
                                  const SimulatedEvent& event) const;
  Sum sum(const SimulatedEvent& event) const;
  std::optional<std::uint64_t> peak(const SimulatedEvent& event) const;
  std::optional<Error> why_missing() const;
  const Totals* without_allocations() const;
  void enter_sum(std::size_t event, Counted& counted) const;
  void enter_wanted_functions(Counted& counted) const;
  void enter_functions(Counted& counted);
  bool has_too_many_functions() const;

  Tool tool_;
  std::span<const WantedEvent> wanted_;
  std::vector<const SimulatedEvent*> events_;  // the events of wanted_, without duplicates
  std::vector<std::size_t> event_of_;          // for each of wanted_, the index into events_
  std::map<std::uint64_t, Process> processes_;
  std::unordered_map<std::string, std::vector<std::uint64_t>>
      functions_;                    // by name; counts in the order of events_
  std::size_t functions_bytes_ = 0;  // approximate size of functions_ in bytes
  /// For each event of the current file, indices into events_ of the sums to which it belongs.
  std::vector<std::vector<std::size_t>> sums_of_;
  std::string last_name_;                              // name in the latest line, as written
  std::vector<std::uint64_t>* last_counts_ = nullptr;  // counts of last_name_ in functions_
};

}  // namespace lauka::engine::valgrind
