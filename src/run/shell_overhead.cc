#include "run/shell_overhead.h"

#include "run/programs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace lauka {
namespace {

// Runs are cheap, so there are as many as half a second allows, up to 200 (the median of 50 is
// twice as uncertain); of a slow shell, one that reads a long profile, there are fewer.
constexpr std::size_t kFewestRuns = 10;
constexpr std::size_t kMostRuns = 200;
constexpr std::size_t kBatch = 10;
constexpr std::chrono::nanoseconds kEnoughTime = std::chrono::milliseconds(500);

/// What makes the start of a shell take another time.
bool is_alike(const Command& a, const Command& b) {
  return a.environment == b.environment && a.output.kind == b.output.kind &&
         a.output.path == b.output.path;
}

ShellOverhead summary_of(std::vector<Usage> runs) {
  ShellOverhead overhead;
  for (const Usage& run : runs) {
    overhead.user_ns += run.user_ns;
    overhead.system_ns += run.system_ns;
  }
  overhead.user_ns /= runs.size();
  overhead.system_ns /= runs.size();
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [](const Usage& a, const Usage& b) { return a.wall_ns < b.wall_ns; });
  overhead.wall_ns = middle->wall_ns;
  return overhead;
}

/// The runs of the empty command; empty when the user interrupts.
class EmptyRuns {
 public:
  EmptyRuns(os::Launcher& launcher, const std::function<int()>& interrupt)
      : launcher_(launcher), interrupt_(interrupt) {}

  Result<std::vector<Usage>> of(const os::ProgramSpec& spec) {
    const auto program = launcher_.add_program(spec);
    if (!program) return program.error();
    std::vector<Usage> runs;
    std::chrono::nanoseconds spent{};
    // The first run is a warm-up: it loads the shell into memory.
    std::vector<os::Launch> launches(1, os::Launch{*program});
    bool counts = false;
    while (runs.size() < kFewestRuns || (runs.size() < kMostRuns && spent < kEnoughTime)) {
      const auto all = launcher_.run(launches, false, {});
      if (!all) return all.error();
      if (is_interrupted(*all)) return std::vector<Usage>{};
      for (const os::Ended& ended : *all) {
        if (!succeeded(ended.outcome)) return why_not(spec);
        if (counts) runs.push_back(ended.usage);
        spent += ended.whole;
      }
      counts = true;
      // One by one where each run's output has to be read before the next.
      launches.assign(spec.output.sink == os::Sink::Pipe ? 1 : kBatch, os::Launch{*program});
    }
    return runs;
  }

 private:
  bool is_interrupted(const std::vector<os::Ended>& all) const {
    return interrupt_() != 0 || all.empty() ||
           std::any_of(all.begin(), all.end(), [](const os::Ended& ended) {
             return std::holds_alternative<Cancelled>(ended.outcome);
           });
  }

  static Error why_not(const os::ProgramSpec& spec) {
    return Error{"the start-up of the shell cannot be measured: '" + spec.words.front() +
                     "' failed with an empty command",
                 "see whether it takes -c, or use -N"};
  }

  os::Launcher& launcher_;
  const std::function<int()>& interrupt_;
};

}  // namespace

Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt) {
  std::vector<ShellOverhead> overheads;
  if (!plan.shell) return overheads;
  for (std::size_t i = 0; i < plan.commands.size(); ++i) {
    const auto first =
        std::find_if(plan.commands.begin(), plan.commands.end(),
                     [&](const Command& other) { return is_alike(other, plan.commands[i]); });
    const auto known = static_cast<std::size_t>(first - plan.commands.begin());
    if (known < i) {
      overheads.push_back(overheads[known]);
      continue;
    }
    Command empty = plan.commands[i];
    empty.words = plan.shell->words;
    empty.words.insert(empty.words.end(), {"-c", ""});
    os::ProgramSpec spec = program_of(plan, empty, user);
    spec.timeout.reset();  // it is meant for the commands
    auto runs = EmptyRuns(launcher, interrupt).of(spec);
    if (!runs) return runs.error();
    if (runs->empty()) return std::vector<ShellOverhead>{};
    overheads.push_back(summary_of(*std::move(runs)));
  }
  return overheads;
}

bool subtract(const ShellOverhead& overhead, Usage& usage) {
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  const std::uint64_t cpu_ns = usage.user_ns + usage.system_ns;
  const std::uint64_t shell_cpu_ns = overhead.user_ns + overhead.system_ns;
  const bool below = usage.wall_ns < overhead.wall_ns || cpu_ns < shell_cpu_ns;
  usage.wall_ns = less(usage.wall_ns, overhead.wall_ns);
  const std::uint64_t left_ns = less(cpu_ns, shell_cpu_ns);
  usage.user_ns = std::min(less(usage.user_ns, overhead.user_ns), left_ns);
  usage.system_ns = left_ns - usage.user_ns;
  return below;
}

}  // namespace lauka
