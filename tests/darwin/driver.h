#pragma once

#include "fakes/darwin/host.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Drives the model as a program would, by the bare calls: nothing of lauka's engine is in it.

namespace lauka::darwin {

/// A machine of the model: chip `name` with the tables of tests/data.
Setup machine(const std::string& name);

class Driver {
 public:
  explicit Driver(Setup setup, CallRules rules = {});

  Host host;
  const os::DarwinCalls& calls;

  /// The programs' scripts; any other name is refused.
  std::map<std::string, Script> programs{};

  // Each gives 0 or the errno.
  int set(const std::string& name, std::uint32_t value) const;
  int set(const std::string& name, std::uint64_t which, std::uint64_t value) const;
  std::uint32_t get(const std::string& name) const;
  std::uint32_t count(const std::string& name, std::uint32_t classes) const;
  int set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words) const;
  int trigger(std::uint8_t code, std::uint32_t debugid) const;
  int kdebug(int operation, int value = 0) const;
  int filter(const std::array<std::uint32_t, 5>& what) const;
  int typefilter(const std::vector<std::uint32_t>& classes) const;
  std::vector<Record> read(std::size_t capacity = 1'000'000) const;

  /// The counters for `words` (word 0 is PMC2's), and kperf's trigger at each thread's end.
  void count_at_exit(const std::vector<std::uint64_t>& words, std::uint32_t samplers = 0x10,
                     std::uint32_t classes = 3, bool force = true) const;
  /// The four debugids of facts 6.1, and tracing on.
  void trace_on() const;

  pid_t spawn_suspended(const std::string& name) const;
  /// Runs it to its end; it stays a zombie.
  Process& run(const std::string& name);
  Process& run_script(const std::string& script);
};

/// The values of the last sample of each thread that has a THREAD_TERMINATE_PID.
std::map<Tid, std::vector<std::uint64_t>> collect_samples(const std::vector<Record>& records,
                                                          std::size_t count);

/// The selector of an event of the chip, for user space alone or not.
std::uint64_t word_of(const Chip& chip, const std::string& event);

}  // namespace lauka::darwin
