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

/// A tool of Valgrind that runs a program and counts.
enum class Tool : unsigned char { Cachegrind, Dhat };

/// The model that an event of Cachegrind needs besides the instructions, which are always counted.
enum class Model : unsigned char { None, Caches, Branches };

/// An event that a tool of Valgrind counts.
struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  Tool tool;
  /// The tool's own names for the counts that make it up; empty: no more of them.
  std::array<std::string_view, 3> parts;
  Model model = Model::None;
  bool is_bytes = false;
  bool is_peak =
      false;  ///< true if the count is of the process with the largest heap, not of all processes
};

/// An event that is counted in this session: in the whole program or in one function.
struct Wanted {
  const SimulatedEvent* event;
  std::string function{};  ///< normalized; empty: the whole program
};

/// The names of a run's files, in Valgrind's terms: %p is the process, %n a number that counts its
/// files from 1. The first file of a program that was started by execve is its log, so a process
/// without a log number 1 continues a program that its parent had begun.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// The files of all processes of one run. The sum is exact within two limits. A program's counts
/// are written when it ends, and those before an execve are lost, so only programs that ended are
/// counted, each from its execve on. And a forked process that never called execve begins with its
/// parent's counts, which are in the parent's file too: if they could be more than 1% of the sum,
/// it is missing; if less, a note says so. The sum is also missing if a process left no counts: it
/// was killed, or ran without Valgrind. So is the sum of DHAT if a process shows no allocation: its
/// allocator is most likely one that Valgrind does not replace.
class Processes {
 public:
  Processes(Tool tool, std::span<const Wanted> wanted);

  /// Reads a file of the run; files with other names are ignored.
  void add(std::string_view name, Pieces pieces);

  /// Returns the sums of all processes; under Cachegrind also the counts of each function. May be
  /// called once.
  Counted finish();

 private:
  struct Process {
    std::vector<Totals> totals;  ///< more than one only if its number was used again
    bool began_program = false;  ///< true if the process called execve
    bool is_complete = true;     ///< every file could be read to its end
    std::optional<std::uint64_t> parent{};
  };

  /// The count of an event in all processes.
  struct Sum {
    std::uint64_t counted = 0;
    std::uint64_t inherited = 0;  ///< most that can have been counted twice, after a fork
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
  std::span<const Wanted> wanted_;
  std::vector<const SimulatedEvent*> events_;  // the different ones of wanted_
  std::vector<std::size_t> event_of_;          // one per wanted_: index into events_
  std::map<std::uint64_t, Process> processes_;
  std::unordered_map<std::string, std::vector<std::uint64_t>> functions_;  // as events_
  std::size_t functions_bytes_ = 0;  // about what functions_ takes
  /// For each event of the file being read: places in events_ of the sums that it is a part of.
  std::vector<std::vector<std::size_t>> places_;
  std::string last_name_;                              // as written, of the latest line
  std::vector<std::uint64_t>* last_counts_ = nullptr;  // its entry in functions_
};

}  // namespace lauka::engine::valgrind
