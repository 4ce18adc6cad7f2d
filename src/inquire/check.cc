#include "inquire/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::inquire {
namespace {

constexpr double kQuietLoad = 0.5;    // runnable processes, of a machine that rests
constexpr double kMuchStolen = 0.01;  // of the CPU time
constexpr std::chrono::microseconds kCoarseStep{1};

const std::string kCpuFolder = "/sys/devices/system/cpu";

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

CheckLine engine_line(const EngineFacts& engine) {
  const std::string topic = "engine " + engine.name;
  if (engine.missing) {
    // Valgrind is an extra: that it is not there spoils nothing.
    const bool simulates = engine.name == "cachegrind";
    return {topic, simulates ? Standing::Note : Standing::Problem, engine.missing->why,
            engine.missing->remedy};
  }
  std::string finding = "counts " + listed(engine.events);
  if (engine.notes.empty()) return {topic, Standing::Ok, finding, ""};
  return {topic, Standing::Note, finding + "; " + fmt::format("{}", fmt::join(engine.notes, "; ")),
          ""};
}

CheckLine cores_line(const MachineFacts& facts) {
  const std::string cpus =
      facts.machine.cpus > 0 ? plural(facts.machine.cpus, "CPU") : "an unknown number of CPUs";
  if (facts.core_kinds.size() < 2)
    return {"core kinds", Standing::Ok, cpus + ", of one kind as far as the system tells", ""};
  std::vector<std::string> kinds;
  for (const CoreKindFacts& kind : facts.core_kinds)
    kinds.push_back(fmt::format("{} {}", kind.cpus, kind.name));
  return {"core kinds", Standing::Note,
          fmt::format("{} of several kinds ({}): where a run happens to be changes its times", cpus,
                      listed(kinds)),
          "lauka --cores p ... keeps the commands on the fast ones"};
}

CheckLine clock_line(const MachineFacts& facts) {
  const auto step = std::chrono::duration_cast<std::chrono::nanoseconds>(facts.clock_step).count();
  const std::string finding =
      fmt::format("{}steps of {}ns", facts.clock_source ? *facts.clock_source + ", " : "", step);
  if (facts.clock_step < kCoarseStep) return {"clock", Standing::Ok, finding, ""};
  const auto& better = facts.better_clock_sources;
  const bool can_change = !better.empty() && facts.clock_source != better.front();
  return {"clock", Standing::Problem, finding + ": too coarse for short runs",
          can_change
              ? fmt::format("echo {} | sudo tee "
                            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                            better.front())
              : ""};
}

/// A driver that chooses the clock itself calls its usual way of doing so "powersave".
bool chooses_itself(const std::string& driver) {
  return driver == "intel_pstate" || driver == "amd-pstate-epp" || driver == "amd_pstate_epp";
}

CheckLine governor_line(const MachineFacts& facts) {
  if (facts.governors.empty())
    return {"CPU governor", Standing::Note,
            facts.is_linux ? "not told here (a virtual machine, a container, or firmware decides)"
                           : "macOS chooses the clock itself and does not tell",
            ""};
  std::vector<std::string> names;
  bool steady = true;
  bool slow = false;
  for (const GovernorFacts& governor : facts.governors) {
    names.push_back(fmt::format("{} on {}", governor.name, plural(governor.cpus, "CPU")));
    steady = steady && governor.name == "performance";
    slow = slow || (governor.name == "powersave" && !chooses_itself(facts.governor_driver));
  }
  std::string finding = listed(names);
  if (!facts.governor_driver.empty()) finding += fmt::format(" ({})", facts.governor_driver);
  if (steady) return {"CPU governor", Standing::Ok, finding, ""};
  finding += slow ? ": the lowest clock" : ": the clock follows the load, so short runs are slower";
  return {"CPU governor", slow ? Standing::Problem : Standing::Note, finding,
          "echo performance | sudo tee " + kCpuFolder + "/cpu*/cpufreq/scaling_governor"};
}

CheckLine turbo_line(const MachineFacts& facts) {
  if (!facts.turbo) return {"turbo", Standing::Note, "whether it is on is not told here", ""};
  if (!facts.turbo->on) return {"turbo", Standing::Ok, "off", ""};
  return {"turbo", Standing::Note,
          "on: the clock depends on temperature and on how many cores are busy",
          facts.turbo->turn_off};
}

CheckLine smt_line(const MachineFacts& facts) {
  if (!facts.smt) return {"SMT", Standing::Note, "whether it is on is not told here", ""};
  if (!facts.smt->on) return {"SMT", Standing::Ok, "off, or not there", ""};
  return {"SMT", Standing::Note, "on: two CPUs share a core, and a busy one slows the other",
          facts.smt->turn_off};
}

CheckLine load_line(const MachineFacts& facts) {
  if (!facts.load) return {"load", Standing::Note, "not told here", ""};
  const double cpus = std::max(1.0, static_cast<double>(facts.machine.cpus));
  const std::string finding =
      fmt::format("{:.2f} in the last minute, on {}", *facts.load,
                  facts.machine.cpus > 0 ? plural(facts.machine.cpus, "CPU") : "this machine");
  if (*facts.load < kQuietLoad) return {"load", Standing::Ok, finding, ""};
  const bool full = *facts.load > 0.75 * cpus;
  return {"load", full ? Standing::Problem : Standing::Note,
          finding + (full ? ": commands have to wait for a CPU" : ": something else is running"),
          facts.is_linux ? "ps -eo pcpu,pid,args --sort=-pcpu | head shows what to stop"
                         : "ps -Aceo pcpu,pid,comm -r | head shows what to stop"};
}

CheckLine quota_line(const MachineFacts& facts) {
  return {"CPU quota", Standing::Problem,
          fmt::format("the control group may use {:.2f} CPUs and is stopped when it had them",
                      *facts.cpu_quota),
          "start the container without a CPU limit (docker run without --cpus)"};
}

CheckLine power_line(const MachineFacts& facts) {
  if (facts.on_battery == true)
    return {"power", Standing::Problem, "on battery: the clock is kept low", "plug it in"};
  if (facts.power_saving)
    return {"power", Standing::Problem, fmt::format("the profile is {}", *facts.power_saving),
            "echo performance | sudo tee /sys/firmware/acpi/platform_profile"};
  const std::string finding = facts.on_battery ? "plugged in" : "no battery that is in use";
  if (facts.is_linux) return {"power", Standing::Ok, finding, ""};
  return {"power", Standing::Note,
          finding + "; whether low-power mode is on is not told to programs",
          "pmset -g | grep lowpowermode tells, sudo pmset -a lowpowermode 0 turns it off"};
}

CheckLine virtual_line(const MachineFacts& facts) {
  if (!facts.knows_hypervisor)
    return {"virtual machine", Standing::Note, "whether this is one is not told here", ""};
  if (!facts.hypervisor) return {"virtual machine", Standing::Ok, "no", ""};
  std::string finding = facts.hypervisor->empty() ? "yes" : *facts.hypervisor;
  if (facts.stolen && *facts.stolen > kMuchStolen)
    return {"virtual machine", Standing::Problem,
            fmt::format("{}: {:.1f}% of the CPU time since the start went to other machines",
                        finding, 100 * *facts.stolen),
            "gate on cpu_time, or on instructions with --engine cachegrind"};
  return {"virtual machine", Standing::Note,
          finding + ": what other machines on the same host do is in the times", ""};
}

CheckLine aslr_line(const MachineFacts& facts) {
  if (!facts.aslr) return {"ASLR", Standing::Note, "not told here", ""};
  if (*facts.aslr)
    return {"ASLR", Standing::Ok,
            "on: each run has other addresses, so no layout favours a command", ""};
  return {"ASLR", Standing::Note, "off: every run has the same layout, by luck a good or a bad one",
          "sudo sysctl kernel.randomize_va_space=2"};
}

CheckLine tracing_line(const TracingFacts& tracing) {
  const std::string topic = "left over by kperf";
  if (tracing.owner > 0)
    return {topic, Standing::Problem,
            fmt::format("tracing is held by process {}{}", tracing.owner,
                        tracing.owner_name.empty() ? "" : " (" + tracing.owner_name + ")"),
            fmt::format("quit it, or: sudo kill {}", tracing.owner)};
  if (!tracing.readable) return {topic, Standing::Note, "only root may look", "sudo lauka --check"};
  if (tracing.thread_counting)
    return {topic, Standing::Problem,
            "counting is on, which slows every context switch, and could not be switched off",
            "quit what counts, such as Instruments"};
  return {topic, Standing::Ok, "nothing", ""};
}

/// `text` in lines of at most `room` cells, broken at spaces; 0: one line.
std::vector<std::string> wrapped(const std::string& text, std::size_t room) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (room > 0 && rest.size() > room) {
    std::size_t at = rest.rfind(' ', room);
    if (at == std::string_view::npos || at == 0) at = rest.find(' ');
    if (at == std::string_view::npos) break;
    lines.emplace_back(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  lines.emplace_back(rest);
  return lines;
}

void add_wrapped(std::string& text, const std::string& first, std::size_t indent,
                 const std::string& words, std::size_t width) {
  std::string margin = first;
  const std::size_t room = width == 0 ? 0 : std::max<std::size_t>(width, indent + 20) - indent;
  for (const std::string& line : wrapped(words, room)) {
    text += margin + line + "\n";
    margin.assign(indent, ' ');
  }
}

}  // namespace

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::Ok:
      return "ok";
    case Standing::Note:
      return "note";
    case Standing::Problem:
      break;
  }
  return "problem";
}

std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines) {
  std::vector<CheckLine> lines;
  for (const EngineFacts& engine : engines) lines.push_back(engine_line(engine));
  lines.push_back(cores_line(facts));
  lines.push_back(clock_line(facts));
  lines.push_back(governor_line(facts));
  lines.push_back(turbo_line(facts));
  lines.push_back(smt_line(facts));
  lines.push_back(load_line(facts));
  if (facts.cpu_quota) lines.push_back(quota_line(facts));
  lines.push_back(power_line(facts));
  lines.push_back(virtual_line(facts));
  if (facts.container)
    lines.push_back({"container", Standing::Note,
                     *facts.container + ": what runs beside it shares its CPUs and its caches",
                     ""});
  lines.push_back(aslr_line(facts));
  if (facts.tracing) lines.push_back(tracing_line(*facts.tracing));
  return lines;
}

std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width) {
  const Machine& machine = facts.machine;
  std::string text = machine.os;
  if (!machine.kernel.empty()) text += fmt::format(", {} {}", machine.system, machine.kernel);
  if (!machine.architecture.empty()) text += ", " + machine.architecture;
  if (!machine.cpu_model.empty()) text += ", " + machine.cpu_model;
  text += "\n\n";
  std::size_t topics = 0;
  for (const CheckLine& line : lines) topics = std::max(topics, line.topic.size());
  const std::size_t indent = topics + 11;
  for (const CheckLine& line : lines) {
    const std::string front =
        fmt::format("{:<{}}  {:<7}  ", line.topic, topics, name_of(line.standing));
    add_wrapped(text, front, indent, line.finding, width);
    // A command is not broken: it is there to be copied.
    if (!line.remedy.empty()) text += std::string(indent, ' ') + "-> " + line.remedy + "\n";
  }
  const auto count = [&](Standing standing) {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(),
                      [&](const CheckLine& line) { return line.standing == standing; }));
  };
  return text + fmt::format("\n{}, {}, {} ok\n", plural(count(Standing::Problem), "problem"),
                            plural(count(Standing::Note), "note"), count(Standing::Ok));
}

}  // namespace lauka::inquire
