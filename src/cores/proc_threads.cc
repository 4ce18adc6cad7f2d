#include "core/text.h"
#include "cores/thread_counters.h"
#include "cores/threads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka::cores {
namespace {

/// The unit of times in /proc: 100 in a second on every system that perf counts on, whatever the
/// kernel's own tick (USER_HZ; 1024 was Alpha's).
constexpr double kTicksPerSecond = 100.0;

struct TimesInProc {
  double user = 0.0;
  double system = 0.0;
  double exact = 0.0;  ///< both, by the scheduler's own clock where it is told
};

std::string path_of(std::int32_t process, const std::string& thread, std::string_view file) {
  return fmt::format("/proc/{}/task/{}/{}", process, thread, file);
}

/// The words behind the name, which stands in brackets and may hold anything.
std::vector<std::string_view> words_behind_name(std::string_view stat) {
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return {};
  return split(trimmed(stat.substr(bracket + 1)), ' ');
}

std::optional<TimesInProc> read_times(const os::LinuxCalls& calls, std::int32_t process,
                                      const std::string& thread) {
  constexpr std::size_t user_field =
      11;  // fields 14 and 15; the state, which is the first here, is 3
  const auto stat = calls.read_file(path_of(process, thread, "stat"));
  if (!stat) return std::nullopt;
  const auto words = words_behind_name(*stat);
  if (words.size() <= user_field + 1) return std::nullopt;
  const auto user = parse_number(words[user_field]);
  const auto system = parse_number(words[user_field + 1]);
  if (!user || !system) return std::nullopt;
  TimesInProc times{static_cast<double>(*user) / kTicksPerSecond,
                    static_cast<double>(*system) / kTicksPerSecond};
  times.exact = times.user + times.system;
  if (const auto text = calls.read_file(path_of(process, thread, "schedstat")))
    if (const auto ns = parse_number(split(*text, ' ').front()))
      times.exact = static_cast<double>(*ns) / 1e9;
  return times;
}

using AllTimes = std::map<std::string, TimesInProc>;

AllTimes read_all_times(const os::LinuxCalls& calls, std::int32_t process) {
  AllTimes all;
  for (const std::string& thread : calls.list_folder(fmt::format("/proc/{}/task", process)))
    if (const auto times = read_times(calls, process, thread)) all.emplace(thread, *times);
  return all;
}

std::string name_of(const os::LinuxCalls& calls, std::int32_t process, const std::string& thread) {
  const auto name = calls.read_file(path_of(process, thread, "comm"));
  return name ? std::string(trimmed(*name)) : std::string();
}

/// The effective user of a process; none where it cannot be read.
std::optional<std::uint64_t> user_of(const os::LinuxCalls& calls, const std::string& process) {
  const auto status = calls.read_file("/proc/" + process + "/status");
  if (!status) return std::nullopt;
  const std::size_t line = status->find("\nUid:\t");
  if (line == std::string::npos) return std::nullopt;
  const auto words = split(std::string_view(*status).substr(line + 6, 64), '\t');
  return words.size() < 2 ? std::nullopt : parse_number(words[1]);
}

ThreadLine line_of(const std::string& thread, const TimesInProc& times, std::size_t columns) {
  ThreadLine line;
  line.id = parse_number(thread).value_or(0);
  line.cpu_seconds = times.exact;
  line.parts.resize(columns);
  line.parts.front().user_seconds = times.user;
  line.parts.front().system_seconds = times.system;
  return line;
}

void add_parts(ThreadLine& line, const std::vector<ThreadPart>& counted) {
  for (std::size_t i = 0; i < counted.size(); ++i) {
    ThreadPart& part = line.parts[i];
    part.cpu_seconds = counted[i].cpu_seconds;
    part.cycles = counted[i].cycles;
    part.instructions = counted[i].instructions;
  }
}

Threads since_birth(std::int32_t process, const os::LinuxCalls& calls) {
  Threads threads;
  threads.columns = {{"", true, false, false}};
  threads.notes = {
      "cycles, instructions and kinds of core are counted from now on only: add -d 2s"};
  for (const auto& [thread, times] : read_all_times(calls, process)) {
    threads.lines.push_back(line_of(thread, times, 1));
    threads.lines.back().name = name_of(calls, process, thread);
  }
  return threads;
}

}  // namespace

Result<void> check_process(const os::LinuxCalls& calls, std::int32_t process) {
  const auto user = user_of(calls, std::to_string(process));
  if (!user) return Error{fmt::format("there is no process {}", process), "pgrep -l NAME finds it"};
  const auto own = user_of(calls, "self");
  if (own && *own != 0 && *own != *user)
    return Error{fmt::format("process {} belongs to another user (uid {})", process, *user),
                 "run lauka as that user, or with sudo"};
  return {};
}

Result<Threads> linux_threads(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                              const os::LinuxCalls& calls) {
  if (auto able = check_process(calls, wanted.process); !able) return able.error();
  if (!wanted.during) return since_birth(wanted.process, calls);
  const ThreadCounting counting(kinds, calls);
  const AllTimes before = read_all_times(calls, wanted.process);
  std::map<std::string, std::pair<std::string, AttachedThread>> attached;
  for (const auto& [thread, times] : before) {
    const auto id = static_cast<int>(parse_number(thread).value_or(0));
    auto one = AttachedThread::attach(counting, id);
    if (!one) return one.error();
    attached.emplace(thread, std::pair(name_of(calls, wanted.process, thread), *std::move(one)));
  }
  wait(*wanted.during);
  Threads threads{counting.columns(), {}, counting.notes()};
  const AllTimes after = read_all_times(calls, wanted.process);
  if (after.empty()) threads.notes.emplace_back("the process ended in the meantime");
  std::size_t shared = 0;
  for (const auto& [thread, named] : attached) {
    const auto end = after.find(thread);
    TimesInProc times{};
    if (end != after.end()) {
      const TimesInProc& start = before.at(thread);
      times = {end->second.user - start.user, end->second.system - start.system,
               end->second.exact - start.exact};
    }
    ThreadLine line = line_of(thread, times, threads.columns.size());
    if (end == after.end()) line.parts.front() = {};  // ended: only its counters are left
    line.name = named.first;
    add_parts(line, named.second.read());
    if (!named.second.held_its_counters()) ++shared;
    threads.lines.push_back(std::move(line));
  }
  if (shared > 0)
    threads.notes.push_back(
        fmt::format("other programs used the counters: no cycles and instructions of {} thread{}",
                    shared, shared == 1 ? "" : "s"));
  for (const auto& [thread, times] : after) {
    if (attached.contains(thread)) continue;
    threads.lines.push_back(line_of(thread, times, threads.columns.size()));
    threads.lines.back().name = name_of(calls, wanted.process, thread);
  }
  return threads;
}

Result<Threads> threads_of(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                           const os::LinuxCalls* linux, const os::DarwinCalls* darwin) {
  auto threads = darwin != nullptr ? darwin_threads(wanted, wait, *darwin)
                 : linux != nullptr
                     ? linux_threads(wanted, kinds, wait, *linux)
                     : Result<Threads>(Error{"--threads is for Linux and macOS", "leave it out"});
  if (threads)
    std::ranges::stable_sort(threads->lines, [](const ThreadLine& a, const ThreadLine& b) {
      return a.cpu_seconds != b.cpu_seconds ? a.cpu_seconds > b.cpu_seconds : a.id < b.id;
    });
  return threads;
}

}  // namespace lauka::cores
