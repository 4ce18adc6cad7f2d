#include "confirm/confirm.h"
#include "confirm/counting.h"
#include "core/choices.h"
#include "engine/kperf/strategy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::confirm {
namespace {

using namespace engine::kperf;

// ---- a table of calls that records the kernel's answers

// A table of plain functions reaches its object no other way.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
const os::DarwinCalls* kernel_calls = nullptr;
std::vector<std::pair<std::string, unsigned>> answers;  ///< each once, in order, and how often
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::string bytes_of(const void* value, std::size_t count) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; value != nullptr && i < std::min(count, most); ++i)
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(value)[i]);
  return text.empty() ? "-" : text;
}

template <typename Call>
int noted(const std::string& name, const void* old_value, const std::size_t* length,
          const void* new_value, std::size_t new_length, const Call& call) {
  std::string line = fmt::format("{} new {} ({}) room {}", name, bytes_of(new_value, new_length),
                                 new_length, length != nullptr ? std::to_string(*length) : "-");
  const int given = call();
  const int error = given == 0 ? 0 : errno;
  // Counts differ from call to call; flags and numbers of things do not.
  const bool is_short = length != nullptr && *length <= sizeof(std::uint64_t);
  line += fmt::format(" -> {} errno {} length {}", given, error,
                      length != nullptr ? std::to_string(*length) : "-");
  if (given == 0 && is_short && old_value != nullptr)
    line += fmt::format(" value {}", bytes_of(old_value, *length));
  const auto known = std::find_if(answers.begin(), answers.end(),
                                  [&line](const auto& answer) { return answer.first == line; });
  constexpr std::size_t most = 300;
  if (known != answers.end())
    ++known->second;
  else if (answers.size() < most)
    answers.emplace_back(line, 1);
  errno = error;
  return given;
}

int by_number(int* name, unsigned count, void* old_value, std::size_t* old_length, void* new_value,
              std::size_t new_length) {
  const auto text = fmt::format("{}", fmt::join(std::span<int>(name, count), "."));
  return noted(text, old_value, old_length, new_value, new_length, [&] {
    return kernel_calls->sysctl(name, count, old_value, old_length, new_value, new_length);
  });
}

int by_name(const char* name, void* old_value, std::size_t* old_length, void* new_value,
            std::size_t new_length) {
  return noted(name, old_value, old_length, new_value, new_length, [&] {
    return kernel_calls->sysctlbyname(name, old_value, old_length, new_value, new_length);
  });
}

/// The same calls without Apple's framework, so that all are recorded.
os::DarwinCalls noting(const os::DarwinCalls& calls) {
  kernel_calls = &calls;
  answers.clear();
  os::DarwinCalls table = calls;
  table.sysctl = by_number;
  table.sysctlbyname = by_name;
  table.dlopen = [](const char*, int) -> void* { return nullptr; };
  return table;
}

// ---- the questions

/// In milliseconds, of `runs` runs: the median.
std::optional<double> wall_of(const Setting& setting, const std::vector<std::string>& words,
                              CountingStrategy* strategy) {
  os::ProgramSpec spec;
  spec.words = words;
  spec.words.front() = setting.fixtures + "/" + words.front();
  spec.output.sink = OutputKind::Pipe;  // which chatty fills again and again
  const auto program = setting.launcher.add_program(spec);
  if (!program) return std::nullopt;
  std::vector<double> walls;
  for (unsigned i = 0; i < std::max(setting.runs, 3U); ++i) {
    os::Launch launch{*program, os::kNoCounters};
    if (strategy != nullptr) launch.run_observers = {strategy};
    const auto ended = setting.launcher.run({&launch, 1}, os::AfterFailure::GoOn, {});
    if (!ended || ended->empty()) return std::nullopt;
    if (strategy != nullptr) static_cast<void>(strategy->finish(ended->front()));
    walls.push_back(static_cast<double>(ended->front().usage.wall_ns) * 1e-6);
  }
  std::sort(walls.begin(), walls.end());
  return walls[walls.size() / 2];
}

/// Measures the cost of counting a run, by what the run does most.
void add_cost(const Setting& setting, CountingStrategy& strategy, const char* way,
              std::vector<std::string>& all) {
  struct Work {
    const char* unit;
    double units;
    std::vector<std::string> words;
  };
  const std::array<Work, 4> works = {
      {{"thread", 2000, {"short_threads", "2000", "1"}},
       {"process (fork, exec)", 100, {"family", "50", "1ms"}},
       {"run of 5 ms", 1, {"burn", "5ms"}},
       {"MB through a pipe, which is switches", 20, {"chatty", "20MB", "0"}}}};
  strategy.use_words({});
  for (const Work& work : works) {
    const auto without = wall_of(setting, work.words, nullptr);
    const auto with = wall_of(setting, work.words, &strategy);
    if (!without || !with) continue;
    all.push_back(fmt::format("cost of counting ({}), per {}: {:.3f} us ({:.3f} ms against {:.3f})",
                              way, work.unit, (*with - *without) * 1e3 / work.units, *with,
                              *without));
  }
}

void add_losses(const Setting& setting, CountingStrategy& strategy, std::vector<std::string>& all) {
  os::ProgramSpec spec;
  spec.words = {setting.fixtures + "/burn", "1ms"};
  const auto program = setting.launcher.add_program(spec);
  if (!program) return;
  strategy.use_words({});
  std::map<std::string, unsigned> faults;
  double least = 10;
  for (unsigned i = 0; i < setting.short_runs; ++i) {
    const os::Launch launch{*program, os::kNoCounters, {&strategy}};
    const auto ended = setting.launcher.run({&launch, 1}, os::AfterFailure::GoOn, {});
    if (!ended || ended->empty()) return;
    const RunValues run = strategy.finish(ended->front());
    if (run.uncounted_reason) ++faults[run.uncounted_reason->what];
    if (run.instruction_coverage) least = std::min(least, *run.instruction_coverage);
  }
  all.push_back(
      fmt::format("least coverage of {} runs of 1 ms: {:.4f}", setting.short_runs, least));
  all.push_back(fmt::format("of these not counted: {}", faults.empty() ? "none" : ""));
  for (const auto& [why, times] : faults) all.back() += fmt::format("{} x {}; ", times, why);
}

/// Values of all CPUs come only for those that are on: their number, now and then for half a
/// second.
void add_powered(const Kernel& kernel, const os::DarwinCalls& calls,
                 std::vector<std::string>& all) {
  const std::size_t each = std::max<std::size_t>(kernel.counter_count(kBothClasses), 1);
  std::map<std::size_t, unsigned> answering;
  std::vector<std::uint64_t> values;
  const std::uint32_t cpus = kernel.read_sysctl_number("hw.ncpu").value_or(1);
  const int queue = calls.kqueue();  // nothing is registered: it waits
  for (int i = 0; i < 50; ++i) {
    ++answering[kernel.machine_counters(cpus, values) == 0 ? values.size() / each : 0];
    const timespec pause{0, 10'000'000};
    os::Kevent none;
    calls.kevent(queue, nullptr, 0, &none, 1, &pause);
  }
  all.push_back(fmt::format("CPUs of {} that answered, of 50 times each:", cpus));
  for (const auto& [count, times] : answering) all.back() += fmt::format(" {} x {}", times, count);
}

void add_words(const Setting& setting, Claim& claim, const Kernel& kernel, CounterMask counters,
               std::vector<std::string>& all) {
  std::vector<std::string> refused;
  std::size_t tried = 0;
  std::uint64_t allowed = 0;  // on the first counter
  for (const KpepEvent& event : setting.database.events) {
    if (event.is_fixed || (event.mask & counters) == 0) continue;
    ++tried;
    const auto counter = static_cast<unsigned>(std::countr_zero(event.mask & counters));
    std::vector<std::uint64_t> words(static_cast<std::size_t>(std::popcount(counters)));
    words.at(rank_of_counter(counters, counter)) = event.selector_number;
    const int error = claim.try_words(words);
    if (error == 0 && (event.mask & counters & -counters) != 0) allowed = event.selector_number;
    if (error != 0)
      refused.push_back(
          fmt::format("{} {:#x} (errno {})", event.name, event.selector_number, error));
  }
  all.push_back(
      fmt::format("events refused: {} of {}: {}", refused.size(), tried, fmt::join(refused, ", ")));
  for (const std::uint64_t bits : {0x0U, 0x10000U, 0x20000U, 0x40000U, 0x80000U, 0x30000U}) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(std::popcount(counters)));
    words.front() = bits | allowed;
    const int error = kernel.set_configuration_words(words);
    std::vector<std::uint64_t> back;
    static_cast<void>(kernel.read_configuration_words(back));
    all.push_back(fmt::format("word {:#x} (errno {}) comes back as {:#x} before counting",
                              words.front(), error, back.empty() ? 0 : back.front()));
  }
}

/// The kernel has room for so many records for each CPU, each coprocessor and 16 more.
void add_coprocessors(const Kernel& kernel, Trace& trace, std::vector<std::string>& all) {
  constexpr std::uint32_t least_each = 4 * 2048;
  if (const int error = trace.set_up(1); error != 0) {
    all.push_back(fmt::format("coprocessors: not known (errno {})", error));
    return;
  }
  const std::uint32_t capacity = trace.info().capacity;
  trace.remove();
  all.push_back(fmt::format("records of the least buffer: {}; CPUs and coprocessors: {} of {} CPUs",
                            capacity, static_cast<int>(capacity / least_each) - 16,
                            kernel.read_sysctl_number("hw.ncpu").value_or(0)));
}

}  // namespace

std::vector<std::string> left_by_others(const os::DarwinCalls& calls) {
  const Kernel kernel(calls);
  std::vector<std::string> all;
  for (const char* name :
       {"kperf.action.count", "kperf.timer.count", "kperf.timer.pet_timer", "kperf.sampling",
        "kperf.kdebug.action", "kperf.lightweight_pet", "kperf.blessed_pid", "ktrace.state",
        "ktrace.owning_pid", "ktrace.background_pid", "ktrace.active_mask", "kpc.classes",
        "kpc.counting", "kpc.thread_counting", "kpc.force_all_ctrs", "kpc.pmu_version",
        "kern.cpc.secure", "kern.ngroups"}) {
    const auto value = kernel.read_sysctl_number(name);
    all.push_back(
        fmt::format("{} before: {}", name,
                    value ? std::to_string(static_cast<std::int32_t>(*value)) : "refused"));
  }
  all.push_back(fmt::format("ktrace.configured_by before: {}",
                            kernel.read_sysctl_text("ktrace.configured_by")));
  return all;
}

std::vector<std::string> unknowns(const Setting& setting) {
  const os::DarwinCalls calls = noting(setting.calls);
  std::vector<std::string> all;
  {
    const Kernel kernel(calls);
    Trace trace(calls);
    Claim claim(kernel, trace);
    if (auto taken = claim.take_counters(); !taken) return {taken.error().line()};
    const auto usable =
        usable_counters(setting.database.config_counters, setting.database.power_counters,
                        kernel.counter_count(kConfigurableClass));
    if (usable) add_words(setting, claim, kernel, *usable, all);
    static_cast<void>(claim.program({}, false));
    add_powered(kernel, calls, all);
    add_coprocessors(kernel, trace, all);
    for (const KperfStrategyChoice sampled :
         {KperfStrategyChoice::AtExit, KperfStrategyChoice::SampleRunningThreads}) {
      const char* way = sampled == KperfStrategyChoice::AtExit ? "exit" : "pet";
      const auto strategy =
          make_thread_strategy(claim, trace, sampled, std::chrono::milliseconds(1));
      if (const int error = strategy->begin(); error != 0) {
        all.push_back(fmt::format("{} cannot begin: errno {}", way, error));
        continue;
      }
      add_cost(setting, *strategy, way, all);
      if (sampled == KperfStrategyChoice::AtExit) add_losses(setting, *strategy, all);
    }
  }
  for (const auto& [line, times] : answers)
    all.push_back(fmt::format("call {} ({} x)", line, times));
  return all;
}

}  // namespace lauka::confirm
