#include "inquire/check.h"

#include "core/metric.h"
#include "core/text.h"
#include "format/json_text.h"
#include "format/session_json.h"
#include "report/format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::inquire {

namespace {

constexpr double kQuietLoad = 0.5;         // load average below which a machine counts as idle
constexpr double kMuchStolenShare = 0.01;  // fraction of CPU time above which it is a problem
constexpr std::chrono::microseconds kCoarseStep{1};  // steps of this size and more are a problem

std::string comma_separated(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns how the user can change a setting: with --tune if its switch `name` helps here, else
/// with `other_command`.
std::string choose_remedy(const MachineFacts& facts, const std::string& name,
                          const std::string& other_command) {
  // A "+" marks a switch that is off by default, so --tune alone would not use it.
  const auto is_helpful = [&](const std::string& text) {
    return std::ranges::find(facts.helpful_switches, text) != facts.helpful_switches.end();
  };
  if (is_helpful(name)) return "sudo lauka --tune ...";
  if (is_helpful("+" + name)) return "sudo lauka --tune=+" + name + " ...";
  return other_command;
}

CheckLine check_engine(const EngineFacts& engine) {
  const EngineRow& row = row_of(engine.engine);
  const std::string topic = fmt::format("engine {}", row.name);
  if (engine.why_unusable)
    return {topic, row.runs_in_valgrind ? Severity::Note : Severity::Problem,
            engine.why_unusable->what, engine.why_unusable->remedy};
  const bool none_works = std::ranges::all_of(
      engine.counters, [](const CounterFacts& pmu) { return pmu.working_counters == 0; });
  if (!engine.counters.empty() && none_works)
    return {topic, Severity::Problem, "no counter is free at the moment (see below)"};
  std::string finding = "counts " + comma_separated(engine.default_event_names);
  for (const std::string& note : engine.notes) finding += "; " + note;
  return {topic, engine.notes.empty() ? Severity::Ok : Severity::Note, finding};
}

/// Adds a finding to a line. A line has one remedy, and keeps that of the last finding, so findings
/// must be added in the order of their severity.
void add_finding(CheckLine& line, Severity severity, const std::string& finding,
                 const char* remedy) {
  line.severity = std::max(line.severity, severity);
  line.finding += "; " + finding;
  line.remedy = remedy;
}

/// Adds what holds counters on this machine: one is held by the kernel's watchdog, and the others
/// are held by programs.
void add_findings_on_held_counters(CheckLine& line, const CounterFacts& counters) {
  std::size_t held_here = counters.listed_counter_count - counters.free_counters;
  if (held_here > 0 && counters.watchdog) {
    add_finding(line, Severity::Note, "the NMI watchdog holds 1",
                "sudo sysctl kernel.nmi_watchdog=0");
    --held_here;
  }
  if (held_here > 0)
    add_finding(line, Severity::Problem,
                fmt::format("{} cannot be used now, so runs may not be counted", held_here),
                "sudo find /proc/[0-9]*/fd -lname '*perf_event*' shows which programs hold some");
}

/// Says how many counters of the processor can be used, and what holds the others. `topic`: the
/// line's heading.
CheckLine check_counters(const CounterFacts& counters, const std::string& topic) {
  CheckLine line{.topic = topic,
                 .severity = Severity::Ok,
                 .finding = fmt::format("{} of {} count", counters.working_counters,
                                        counters.listed_counter_count)};

  // A counter that is free for the kernel of this machine, but does not count, is in use by the
  // host of the virtual machine.
  const std::size_t held_by_host = counters.free_counters - counters.working_counters;
  if (held_by_host > 0)
    add_finding(line, Severity::Note,
                fmt::format("the host of this virtual machine holds {}", held_by_host), "");

  add_findings_on_held_counters(line, counters);
  return line;
}

CheckLine check_core_kinds(const MachineFacts& facts) {
  const std::string cpus =
      facts.machine.cpus > 0 ? plural(facts.machine.cpus, "CPU") : "an unknown number of CPUs";
  if (facts.core_kinds.size() < 2)
    return {"core kinds", Severity::Ok, cpus + ", all of one kind as far as the system knows"};
  std::vector<std::string> kinds;
  for (const CpuCountByName& kind : facts.core_kinds)
    kinds.push_back(fmt::format("{} {}", kind.number_of_cpus, kind.name));
  return {"core kinds", Severity::Note,
          fmt::format("{} of several kinds ({}), so the time of a run depends on its CPU", cpus,
                      comma_separated(kinds)),
          "lauka --cores p ... keeps the commands on the fast ones"};
}

CheckLine describe_allowed_cpus(const Machine& machine, const Allowance& allowance) {
  return {.topic = "allowed CPUs",
          .severity = Severity::Note,
          .finding = fmt::format("{} of {}, so commands run only on CPU {}", allowance.cpus.size(),
                                 machine.cpus, cpu_list_text(allowance.cpus)),
          .remedy = "start lauka without taskset, or in a container without a cpuset"};
}

/// Says how many CPUs commands may use. A throttled command stands still for some time, so its
/// times cannot be trusted. This makes the quota a problem.
CheckLine describe_cpu_quota(double quota) {
  return {.topic = "CPU quota",
          .severity = Severity::Problem,
          .finding = fmt::format(
              "the control group may use {:.2f} CPUs and is throttled beyond that", quota),
          .remedy = "raise or remove the quota (docker --cpus, systemd CPUQuota=, cpu.max)"};
}

CheckLine describe_memory_limit(double limit_bytes) {
  return {.topic = "memory limit",
          .severity = Severity::Note,
          .finding = fmt::format(
              "the control group may use {}; beyond that, its caches shrink, and then commands are "
              "killed",
              report::quantity(limit_bytes, Unit::Bytes)),
          .remedy = "raise or remove the limit (docker --memory, systemd MemoryMax=)"};
}

/// Says which CPUs, how much CPU time and how much memory commands may use, if that is not all.
void add_lines_on_limits(const Machine& machine, const Allowance& allowance,
                         std::vector<CheckLine>& lines) {
  if (allows_only_some_cpus(machine)) lines.push_back(describe_allowed_cpus(machine, allowance));
  if (allowance.cpu_quota) lines.push_back(describe_cpu_quota(*allowance.cpu_quota));
  if (allowance.memory_limit)
    lines.push_back(describe_memory_limit(static_cast<double>(*allowance.memory_limit)));
}

CheckLine check_clock(const MachineFacts& facts) {
  const auto step = std::chrono::duration_cast<std::chrono::nanoseconds>(facts.clock_step).count();
  const std::string finding =
      fmt::format("{}steps of {}ns", facts.clock_source ? *facts.clock_source + ", " : "", step);
  if (facts.clock_step < kCoarseStep) return {"clock", Severity::Ok, finding};
  const auto& good_sources = facts.good_clock_sources;
  const bool can_change = !good_sources.empty() && facts.clock_source != good_sources.front();
  return {"clock", Severity::Problem, finding + ", which is too coarse for short runs",
          can_change
              ? fmt::format("echo {} | sudo tee "
                            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                            good_sources.front())
              : ""};
}

/// True if the driver chooses the clock itself, and calls its normal mode "powersave".
bool has_powersave_as_usual_mode(const std::string& driver) {
  return driver == "intel_pstate" || driver == "amd-pstate-epp" || driver == "amd_pstate_epp";
}

/// Returns which governors the CPUs have: "performance on 8 CPUs (acpi-cpufreq)".
std::string list_governors(const MachineFacts& facts) {
  std::vector<std::string> names;
  for (const CpuCountByName& governor : facts.governors)
    names.push_back(fmt::format("{} on {}", governor.name, plural(governor.number_of_cpus, "CPU")));
  const std::string driver =
      facts.governor_driver.empty() ? "" : fmt::format(" ({})", facts.governor_driver);
  return comma_separated(names) + driver;
}

/// True if a governor keeps the lowest clock speed: "powersave", unless the driver calls its normal
/// mode so.
bool has_slow_governor(const MachineFacts& facts) {
  return !has_powersave_as_usual_mode(facts.governor_driver) &&
         std::ranges::find(facts.governors, "powersave", &CpuCountByName::name) !=
             facts.governors.end();
}

CheckLine describe_unknown_governor(const MachineFacts& facts) {
  const char* const why =
      facts.is_linux ? "lauka cannot see the governor (a virtual machine, a container or the "
                       "firmware decides)"
                     : "macOS chooses the clock speed and does not show it";
  return {"CPU governor", Severity::Note, why};
}

/// Says whether the CPUs' governors, the kernel's rules for the clock speed, keep the speed steady.
CheckLine check_governor(const MachineFacts& facts) {
  if (facts.governors.empty()) return describe_unknown_governor(facts);
  const bool is_steady = std::ranges::all_of(
      facts.governors, [](const auto& governor) { return governor.name == "performance"; });
  if (is_steady) return {"CPU governor", Severity::Ok, list_governors(facts)};

  const bool is_slow = has_slow_governor(facts);
  return {.topic = "CPU governor",
          .severity = is_slow ? Severity::Problem : Severity::Note,
          .finding = list_governors(facts) +
                     (is_slow ? ", so the clock has its lowest speed"
                              : ", so the clock follows the load, and short runs are slower"),
          .remedy = choose_remedy(facts, "governor",
                                  "echo performance | sudo tee "
                                  "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")};
}

CheckLine check_turbo(const MachineFacts& facts) {
  if (!facts.turbo) return {"turbo", Severity::Note, "lauka cannot see this setting"};
  if (!facts.turbo->on) return {"turbo", Severity::Ok, "off"};
  return {"turbo", Severity::Note,
          "on, so the clock depends on the temperature and on how many cores are busy",
          choose_remedy(facts, "turbo", facts.turbo->turn_off_command)};
}

CheckLine check_smt(const MachineFacts& facts) {
  if (!facts.smt) return {"SMT", Severity::Note, "lauka cannot see this setting"};
  if (!facts.smt->on) return {"SMT", Severity::Ok, "off, or this machine has none"};
  return {"SMT", Severity::Note,
          "on, so two CPUs share a core, and a busy one slows down the other",
          choose_remedy(facts, "smt", facts.smt->turn_off_command)};
}

CheckLine list_helpful_switches(const MachineFacts& facts) {
  std::vector<std::string> names;
  for (const std::string& name : facts.helpful_switches)
    if (!name.starts_with('+') && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return {"tune", Severity::Note,
          "lauka can change these settings for a session: " + comma_separated(names),
          "sudo lauka --tune ..., and lauka --tune=list explains them"};
}

CheckLine check_load(const MachineFacts& facts) {
  if (!facts.load) return {"load", Severity::Note, "lauka cannot see the load"};
  const double cpus = std::max(1.0, static_cast<double>(facts.machine.cpus));
  const std::string finding =
      fmt::format("{:.2f} in the last minute, on {}", *facts.load,
                  facts.machine.cpus > 0 ? plural(facts.machine.cpus, "CPU") : "this machine");
  if (*facts.load < kQuietLoad) return {"load", Severity::Ok, finding};

  constexpr double busy_load_per_cpu = 0.75;
  const bool is_busy = *facts.load > busy_load_per_cpu * cpus;
  return {"load", is_busy ? Severity::Problem : Severity::Note,
          finding +
              (is_busy ? ", so commands have to wait for a CPU" : ", so something else is running"),
          facts.is_linux ? "ps -eo pcpu,pid,args --sort=-pcpu | head shows what to stop"
                         : "ps -Aceo pcpu,pid,comm -r | head shows what to stop"};
}

CheckLine check_power(const MachineFacts& facts) {
  if (facts.on_battery == true)
    return {"power", Severity::Problem, "on battery, so the clock is kept low",
            "plug in the power supply"};
  if (facts.power_saving)
    return {"power", Severity::Problem, fmt::format("the profile is {}", *facts.power_saving),
            "echo performance | sudo tee /sys/firmware/acpi/platform_profile"};
  const std::string finding = facts.on_battery ? "plugged in" : "no battery is in use";
  if (facts.is_linux) return {"power", Severity::Ok, finding};
  return {
      "power", Severity::Note, finding + "; programs cannot see whether low-power mode is on",
      "pmset -g | grep lowpowermode shows the mode, and sudo pmset -a lowpowermode 0 turns it off"};
}

CheckLine check_virtual_machine(const MachineFacts& facts) {
  if (!facts.hypervisor_is_certain)
    return {"virtual machine", Severity::Note,
            "lauka cannot see whether this is a virtual machine"};
  if (!facts.hypervisor) return {"virtual machine", Severity::Ok, "no"};
  std::string finding = facts.hypervisor->empty() ? "yes" : *facts.hypervisor;
  if (facts.stolen_share && *facts.stolen_share > kMuchStolenShare)
    return {"virtual machine", Severity::Problem,
            fmt::format("{}, and {:.1f}% of the CPU time since the start went to other machines",
                        finding, 100 * *facts.stolen_share),
            "gate on cpu_time, or on instructions with --engine cachegrind"};
  return {"virtual machine", Severity::Note,
          finding + ", so times include what other machines on the same host do"};
}

CheckLine check_aslr(const MachineFacts& facts) {
  if (!facts.aslr) return {"ASLR", Severity::Note, "lauka cannot see this setting"};
  if (*facts.aslr)
    return {"ASLR", Severity::Ok,
            "on, so each run has different addresses, and no layout favours a command"};
  return {
      "ASLR", Severity::Note,
      "off, so every run has the same memory layout, which may happen to be a good or a bad one",
      "sudo sysctl kernel.randomize_va_space=2"};
}

CheckLine check_leftover_tracing(const TracingFacts& tracing) {
  const std::string topic = "left over by kperf";
  if (tracing.owner_pid > 0)
    return {topic, Severity::Problem,
            fmt::format("process {}{} is using the kernel's tracing", tracing.owner_pid,
                        tracing.owner_name.empty() ? "" : " (" + tracing.owner_name + ")"),
            fmt::format("quit this process, or run sudo kill {}", tracing.owner_pid)};
  if (!tracing.readable)
    return {topic, Severity::Note, "only root can see this", "sudo lauka --check"};
  if (tracing.thread_counting)
    return {topic, Severity::Problem,
            "counting is on, which slows every context switch, and could not be switched off",
            "quit the program that counts, such as Instruments"};
  return {topic, Severity::Ok, "nothing"};
}

CheckLine check_tree_peak(const Error& why_not) {
  const std::string topic(kTreePeakMemory);
  if (!why_not.what.empty()) return {topic, Severity::Note, why_not.what, why_not.remedy};
  return {topic, Severity::Ok, "the memory of all processes of a run can be measured"};
}

CheckLine check_profile_source(const Result<std::string>& profile) {
  const std::string topic = "--profile";
  if (!profile) return {topic, Severity::Note, profile.error().what, profile.error().remedy};
  return {topic, Severity::Ok, "samples " + *profile};
}

void add_lines_on_engine(const EngineFacts& engine, std::vector<CheckLine>& lines) {
  lines.push_back(check_engine(engine));

  // A processor with several core kinds has a set of counters, a PMU, for each kind.
  const bool has_one_pmu = engine.counters.size() == 1;
  for (const CounterFacts& counters : engine.counters)
    lines.push_back(
        check_counters(counters, has_one_pmu ? "counters" : "counters " + counters.pmu));
}

/// Says how the machine is built and set, and whether --tune would help.
void add_lines_on_settings(const MachineFacts& facts, std::vector<CheckLine>& lines) {
  for (const auto check_topic :
       {check_core_kinds, check_clock, check_governor, check_turbo, check_smt})
    lines.push_back(check_topic(facts));

  // A "+" marks a switch that is off by default, so --tune alone would not use it.
  const bool tune_would_help = std::ranges::any_of(
      facts.helpful_switches, [](const auto& name) { return !name.starts_with('+'); });
  if (tune_would_help) lines.push_back(list_helpful_switches(facts));
}

/// Says what else uses the machine, or restricts what commands may use.
void add_lines_on_surroundings(const MachineFacts& facts, std::vector<CheckLine>& lines) {
  lines.push_back(check_load(facts));
  if (const auto& allowance = facts.machine.allowance)
    add_lines_on_limits(facts.machine, *allowance, lines);
  lines.push_back(check_power(facts));
  lines.push_back(check_virtual_machine(facts));
  if (facts.container)
    lines.push_back({"container", Severity::Note,
                     *facts.container + ", so other programs share its CPUs and caches"});
}

void encode_texts(const std::vector<std::string>& texts, Json& to) {
  make_list(to);
  for (const std::string& text : texts) encode_value(text, add_item(to));
}

void encode_counters(const CounterFacts& counters, Json& to) {
  encode_value(counters.pmu, add_member(to, "pmu"));
  encode_value(counters.listed_counter_count, add_member(to, "listed"));
  encode_value(counters.free_counters, add_member(to, "free"));
  encode_value(counters.working_counters, add_member(to, "alive"));
}

void encode_engine(const EngineFacts& engine, Json& to) {
  encode_value(row_of(engine.engine).name, add_member(to, "name"));
  encode_value(!engine.why_unusable.has_value(), add_member(to, "counts"));
  encode_texts(engine.default_event_names, add_member(to, "events"));
  encode_texts(engine.notes, add_member(to, "notes"));

  if (!engine.counters.empty()) {
    Json& list = add_member(to, "counters");
    for (const CounterFacts& counters : engine.counters) encode_counters(counters, add_item(list));
  }

  if (const std::optional<Error>& why_not = engine.why_unusable) {
    encode_value(why_not->what, add_member(to, "why_not"));
    encode_value(why_not->remedy, add_member(to, "remedy"));
  } else {
    for (const char* key : {"why_not", "remedy"}) add_member(to, key);  // null
  }
}

void encode_line(const CheckLine& line, Json& to) {
  encode_value(line.topic, add_member(to, "topic"));
  encode_value(name_of(line.severity), add_member(to, "standing"));
  encode_value(line.finding, add_member(to, "finding"));
  encode_word(line.remedy, add_member(to, "remedy"));
}

}  // namespace

std::string_view name_of(Severity standing) {
  static constexpr std::array<std::string_view, 3> kNames = {"ok", "note", "problem"};
  return kNames.at(static_cast<std::size_t>(standing));
}

// The lines are in the order of the output. Optional facts, and their lines, do not exist on every
// system.
std::vector<CheckLine> check(const MachineFacts& facts, std::span<const EngineFacts> engines) {
  std::vector<CheckLine> lines;
  for (const EngineFacts& engine : engines) add_lines_on_engine(engine, lines);
  add_lines_on_settings(facts, lines);
  add_lines_on_surroundings(facts, lines);
  lines.push_back(check_aslr(facts));
  if (facts.why_no_tree_peak) lines.push_back(check_tree_peak(*facts.why_no_tree_peak));
  if (facts.profile_source) lines.push_back(check_profile_source(*facts.profile_source));
  if (facts.tracing) lines.push_back(check_leftover_tracing(*facts.tracing));
  return lines;
}

namespace {

/// Returns the title, which names the machine. Each part may be unknown. For example, a container
/// may have no file that names its system.
std::string title_of(const Machine& machine) {
  std::string kernel_and_release;  // such as "Linux 6.1.0"
  if (!machine.kernel.empty())
    kernel_and_release = fmt::format("{} {}", machine.system, machine.kernel);
  std::vector<std::string> title = {machine.os, kernel_and_release, machine.architecture,
                                    machine.cpu_model};
  std::erase(title, "");
  return one_line(comma_separated(title));
}

constexpr std::size_t kSeverityWidth = std::string_view("problem").size();  // the longest name

/// The widths of a table with three columns: the topic, the severity and the finding. Two blanks
/// are between them. Only findings are wrapped.
struct CheckColumns {
  std::size_t topic_width = 0;
  std::size_t finding_column = 0;  ///< where findings begin
  std::size_t finding_width = 0;   ///< 0: findings are not wrapped
};

CheckColumns measure_columns(std::span<const CheckLine> lines, std::size_t terminal_width) {
  CheckColumns columns;
  for (const CheckLine& line : lines)
    columns.topic_width = std::max(columns.topic_width, line.topic.size());
  columns.finding_column = columns.topic_width + 2 + kSeverityWidth + 2;
  if (terminal_width == 0) return columns;

  // Findings take the rest of a line. In a narrow terminal, that may be too little to be readable.
  constexpr std::size_t min_finding_width = 20;
  const std::size_t width_left =
      terminal_width > columns.finding_column ? terminal_width - columns.finding_column : 0;
  columns.finding_width = std::max(width_left, min_finding_width);
  return columns;
}

std::string write_line(const CheckLine& line, const CheckColumns& columns) {
  std::string text;
  std::string first_columns = fmt::format("{:<{}}  {:<{}}  ", line.topic, columns.topic_width,
                                          name_of(line.severity), kSeverityWidth);
  const std::string finding = one_line(line.finding);
  for (const std::string_view part : wrapped(finding, columns.finding_width)) {
    text.append(first_columns).append(part) += '\n';
    first_columns.assign(columns.finding_column, ' ');  // for the further lines of the finding
  }

  // Remedies are not wrapped, so that commands in them can be copied.
  if (!line.remedy.empty())
    text += std::string(columns.finding_column, ' ') + "-> " + one_line(line.remedy) + "\n";
  return text;
}

std::size_t count_lines(std::span<const CheckLine> lines, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(lines, severity, &CheckLine::severity));
}

}  // namespace

// The text has a title, a table of the lines, and the number of lines of each severity. `width` is
// that of the terminal; if it is 0, nothing is wrapped.
std::string check_text(const MachineFacts& facts, std::span<const CheckLine> lines,
                       std::size_t width) {
  std::string text = title_of(facts.machine) + "\n\n";
  const CheckColumns columns = measure_columns(lines, width);
  for (const CheckLine& line : lines) text += write_line(line, columns);
  return text + fmt::format("\n{}, {}, {} ok\n",
                            plural(count_lines(lines, Severity::Problem), "problem"),
                            plural(count_lines(lines, Severity::Note), "note"),
                            count_lines(lines, Severity::Ok));
}

std::string check_json(const MachineFacts& facts, std::span<const EngineFacts> engines,
                       std::span<const CheckLine> lines) {
  const auto fill = [&](Json& document) {
    Json& answer = add_member(document, "check");
    encode_machine(facts.machine, add_member(answer, "machine"));

    Json& engine_list = add_member(answer, "engines");
    make_list(engine_list);
    for (const EngineFacts& engine : engines) encode_engine(engine, add_item(engine_list));

    Json& check_list = add_member(answer, "checks");
    make_list(check_list);
    for (const CheckLine& line : lines) encode_line(line, add_item(check_list));
  };

  return filled_json_text(fill, 2) + "\n";
}

}  // namespace lauka::inquire
