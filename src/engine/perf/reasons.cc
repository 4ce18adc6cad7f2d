#include "engine/perf/reasons.h"

#include "core/text.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace lauka::engine::perf {
namespace {

constexpr const char* kEndOthers =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

std::optional<int> read_integer(const os::LinuxCalls& calls, const std::string& path) {
  const auto text = calls.read_file(path);
  if (!text) return std::nullopt;
  std::string_view digits = trimmed(*text);
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const auto number = parse_number(digits);
  if (!number || *number > 1000) return std::nullopt;
  return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
}

Error why_no_access(const Asked& asked, const Situation& situation) {
  const int level = situation.paranoid.value_or(0);
  if (!asked.kernel_excluded && level >= 2)
    return {fmt::format("perf_event_paranoid is {}, which hides the kernel from users", level),
            "sudo sysctl kernel.perf_event_paranoid=1"};
  // Only the distributions' kernels know levels above 2: 3 is Debian's, 4 Ubuntu's.
  if (level >= 3)
    return {fmt::format("perf_event_paranoid is {}, which denies users all counters", level),
            "sudo sysctl kernel.perf_event_paranoid=1 (2 is enough with --user-only)"};
  return {"a security module forbids perf_event_open", "allow it in its policy, or run as root"};
}

Error why_no_entry(const Asked& asked, const Situation& situation) {
  if (asked.core && !situation.has_core_pmu)
    return {"there is no PMU here, as in most virtual machines",
            "switch on the virtual PMU in the hypervisor (KVM: -cpu host,pmu=on), or count "
            "instructions with --engine cachegrind"};
  return {"not on this machine", "lauka --list-events shows what is"};
}

}  // namespace

Situation situation_of(const os::LinuxCalls& calls) {
  Situation situation;
  situation.paranoid = read_integer(calls, "/proc/sys/kernel/perf_event_paranoid");
  situation.has_core_pmu = !os::Sysfs(calls).core_pmus().empty();
  situation.watchdog = read_integer(calls, "/proc/sys/kernel/nmi_watchdog").value_or(0) > 0;
  return situation;
}

Error why_not_opened(int error, const Asked& asked, const Situation& situation) {
  switch (error) {
    case EACCES:
      return why_no_access(asked, situation);
    case EPERM:
      return {"perf_event_open is blocked, as in most containers",
              "start the container with --cap-add PERFMON"};
    case ENOSYS:
      return {"this kernel has no perf_event_open", "use a kernel with CONFIG_PERF_EVENTS"};
    case ENOENT:
      return why_no_entry(asked, situation);
    case ENODEV:
    case EOPNOTSUPP:
      return {"this processor cannot count it", "lauka --list-events shows what it can"};
    case EINVAL:
      if (asked.kernel_excluded)
        return {"the kernel cannot count it for a single program in user space only",
                "leave out --user-only or the modifier"};
      return {"the kernel cannot count it for a single program",
              "lauka --list-events shows what it takes"};
    case EMFILE:
      return {"the limit of open files leaves no room for counters",
              "raise it with ulimit -n, or count fewer events"};
    case ENFILE:
      return {"the system has no more open files to give",
              "raise it with sudo sysctl fs.file-max, or close programs"};
    case EBUSY:
      return {"another program has reserved the counters", "end it"};
    case E2BIG:
      return {"this kernel does not support config3", "Linux 6.3 and later do"};
    default:
      return {fmt::format("perf_event_open: {}", std::generic_category().message(error)), ""};
  }
}

Error why_not_all_the_time(const Situation& before, const Situation& now) {
  if (now.watchdog && !before.watchdog)
    return {"the NMI watchdog was switched on and took a counter",
            "sudo sysctl kernel.nmi_watchdog=0, or begin the session again"};
  return {"other programs used the counters",
          now.watchdog ? "sudo sysctl kernel.nmi_watchdog=0 frees one; or count fewer events"
                       : kEndOthers};
}

Error why_held(std::size_t held, std::size_t listed, std::string_view of_pmu) {
  return {held == listed
              ? fmt::format("another program holds all {} counters{}", listed, of_pmu)
              : fmt::format("another program holds {} of the {} counters{}", held, listed, of_pmu),
          kEndOthers};
}

Error why_fewer(std::size_t running, std::size_t listed, std::string_view of_pmu) {
  return {fmt::format("only {} of the {} counters{} can be used", running, listed, of_pmu),
          "sudo find /proc/[0-9]*/fd -lname '*perf_event*' shows which programs hold some; or "
          "count fewer events"};
}

Error why_died(std::size_t died, std::size_t listed, std::string_view of_pmu) {
  return {fmt::format("{} of the {} counters{} stopped counting: the host of this virtual machine "
                      "took {}; the counts since then are in doubt",
                      died, listed, of_pmu, died == 1 ? "it" : "them"),
          "repeat the session, or count on the host"};
}

Error why_on_dead_ones() {
  return {"other programs took some of the counters", kEndOthers};
}

Error why_not_switched() {
  return {"the program could not switch the counters of its region on and off",
          "see that it does not close descriptors that it was given"};
}

Error why_lost() {
  return {"the counters stopped where a program began, as at one that is setuid or unreadable",
          "measure a readable copy without setuid, or run lauka as root"};
}

}  // namespace lauka::engine::perf
