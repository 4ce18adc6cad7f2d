#include "session/setting_values.h"

#include "core/numbers.h"
#include "core/sha256.h"
#include "core/text.h"
#include "session/baseline.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr const char* kWholeRuns = "whole runs";

std::string describe_environment(std::vector<std::string> variables) {
  constexpr std::size_t digits = 8;
  std::ranges::sort(variables);

  std::string text;
  for (const std::string& variable : variables) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    Sha256 hash;
    hash.add(std::string_view(variable).substr(equals));
    text += fmt::format("{}{}=#{}", text.empty() ? "" : " ", variable.substr(0, equals),
                        hash.hex_digest().substr(0, digits));
  }
  return text;
}

std::string describe_levels(CountedPrivilegeLevels levels) {
  switch (levels) {
    case CountedPrivilegeLevels::UserAndKernel:
      return "user space and the kernel";
    case CountedPrivilegeLevels::UserOnly:
      return "user space only";
    case CountedPrivilegeLevels::KernelOnly:
      return "the kernel only";
    case CountedPrivilegeLevels::HypervisorOnly:
      return "neither user space nor the kernel";
    case CountedPrivilegeLevels::Unknown:
      break;
  }
  return "";
}

void add_allowance(const Machine& machine, SettingValues& values) {
  if (!machine.allowance) return;
  const Allowance& allowance = *machine.allowance;
  values[SettingKind::AllowedCpus] = fmt::format("{} of {}", allowance.cpus.size(), machine.cpus);
  values.set_or_none(SettingKind::CpuQuota,
                     allowance.cpu_quota ? fmt::format("{:.4g}", *allowance.cpu_quota) : "");
  values.set_or_none(
      SettingKind::MemoryLimit,
      allowance.memory_limit ? fmt::format("{} bytes", *allowance.memory_limit) : "");
}

void add_machine(const Machine& machine, SettingValues& values) {
  values.set_if_known(SettingKind::Host, machine.name);
  values.set_if_known(SettingKind::Processor, machine.cpu_model);
  values.set_if_known(SettingKind::ProcessorModel, machine.cpu_identity);
  values.set_if_known(SettingKind::ProcessorFeatures, machine.cpu_features);
  values.set_if_known(SettingKind::Microcode, machine.microcode);
  values.set_if_known(SettingKind::Architecture, machine.architecture);
  values.set_if_known(SettingKind::Kernel, machine.kernel);
  if (machine.cpus > 0) values[SettingKind::Cpus] = std::to_string(machine.cpus);
  values.set_if_known(SettingKind::Governor, machine.governor);
  values.set_if_known(SettingKind::Hypervisor, machine.hypervisor);
  values.set_or_none(SettingKind::Tuning, machine.tuning);
}

/// Returns the part of a run that a counted metric covers.
std::string describe_counted_part(const Metric& metric) {
  if (metric.of_region) return "the region";
  return metric.kind == RoundKind::Simulated ? "simulated runs" : kWholeRuns;
}

/// Returns the differences between two commands of one session. The settings that come from options
/// differ only if the user has asked for it, so they are left out. The others are what was seen of
/// the programs and processes.
std::vector<SettingDifference> find_differences_within_session(const SettingValues& reference,
                                                               const SettingValues& candidate) {
  auto differences = find_differences(reference, candidate);
  std::erase_if(differences, [](const SettingDifference& difference) {
    return row_of(difference.kind).use == SettingUse::BetweenSessions;
  });
  return differences;
}

/// Returns the settings of the command with a number (Pair). Its own settings replace those of its
/// session, because its process may, for example, have another priority.
SettingValues settings_of_measured(const Recording& recording, std::size_t number) {
  SettingValues values = settings_of_session(circumstances_of(recording, number));
  values.add(find_measured(recording, number).command().settings);
  return values;
}

/// Returns the differences that are obstacles: those of a command's runs that change what is
/// measured, and all of a metric.
std::vector<SettingDifference> join_obstacles(std::vector<SettingDifference> of_command,
                                              std::vector<SettingDifference> of_metric) {
  std::erase_if(of_command, std::not_fn(changes_what_is_measured));
  std::ranges::move(of_metric, std::back_inserter(of_command));
  return of_command;
}

}  // namespace

SettingValues settings_of_saved(const Setting& setting, const Command& command,
                                const std::vector<std::string>& shell) {
  SettingValues values;
  values[SettingKind::Jobs] = std::to_string(setting.jobs);
  values.set_or_none(SettingKind::Until, setting.until.value_or(""));
  values.set_or_none(SettingKind::OutputCheck, command.expected ? text_of(*command.expected) : "");
  // Sessions with 8 and with 6 layouts can be compared.
  values[SettingKind::Layouts] = setting.layouts > 1 ? "several builds" : "one build";
  values.set_or_none(SettingKind::Shell, shell_quoted(shell));
  values.set_or_none(SettingKind::Folder, command.folder);
  values[SettingKind::Warmup] = std::to_string(setting.warmup_runs);
  return values;
}

SettingValues settings_of_planned(const Setting& setting, const Command& command,
                                  const std::vector<std::string>& shell) {
  SettingValues values = settings_of_saved(setting, command, shell);
  values[SettingKind::Output] = text_of(command.output);
  values.set_or_none(SettingKind::Environment, describe_environment(command.environment));
  values.set_or_none(SettingKind::Input, command.input);
  values.set_or_none(SettingKind::Prepare, command.hooks[HookKind::Prepare].value_or(""));
  values.set_or_none(SettingKind::Conclude, command.hooks[HookKind::Conclude].value_or(""));
  return values;
}

// Returns how a metric was measured. Its values are compared only if both sides measured it in the
// same way. Settings that are unknown have no value.
SettingValues settings_of_metric(const Metric& metric) {
  SettingValues values;
  const CountingMethod& method = metric.method;
  const std::string privilege_levels = describe_levels(metric.counted_privilege_levels);
  const bool is_simulated = metric.kind == RoundKind::Simulated;

  // Only a counted metric has any of these properties.
  const bool is_counted = metric.event || metric.of_region || !method.engine.empty() ||
                          !privilege_levels.empty() || is_simulated;

  // A counted metric may cover only a region of a run. Others, such as wall time, cover whole runs.
  if (is_counted) values[SettingKind::Region] = describe_counted_part(metric);

  // The engine of a simulation is not compared, because older files do not name it.
  if (!is_simulated) values.set_if_known(SettingKind::Engine, method.engine);
  values.set_if_known(SettingKind::PrivilegeLevels, privilege_levels);

  if (const auto& sampled = method.sampled) {
    values.set_if_known(SettingKind::SampledClock, sampled->clock);
    if (sampled->period.count() > 0)
      values[SettingKind::SamplingPeriod] = exact_duration(sampled->period);
  }

  return values;
}

std::vector<SettingDifference> find_method_differences(SettingValues reference,
                                                       SettingValues candidate) {
  for (auto* values : {&reference, &candidate})
    if (!(*values)[SettingKind::Region]) (*values)[SettingKind::Region] = kWholeRuns;
  return find_differences(reference, candidate);
}

// What a file does not say stays unknown, and is not compared. kNoSetting stands for a property
// that the machine is known not to have.
SettingValues settings_of_session(const Circumstances& circumstances) {
  SettingValues values;
  if (const auto& priority = circumstances.priority) {
    values[SettingKind::Nice] = std::to_string(priority->nice);
    values.set_if_known(SettingKind::SchedulingPolicy, priority->scheduling_policy);
  }
  add_machine(circumstances.machine, values);
  add_allowance(circumstances.machine, values);
  values.set_if_known(SettingKind::Lauka, circumstances.version);
  return values;
}

std::vector<SettingDifference> find_command_differences(const Recording& recording,
                                                        std::size_t candidate) {
  // The reference may be a command of a baseline, an earlier session.
  const std::size_t reference = pair_of(recording, candidate).reference;
  if (are_of_one_session(recording, candidate))
    return find_differences_within_session(find_measured(recording, reference).command().settings,
                                           recording.commands[candidate].settings);

  SettingValues of_reference = settings_of_measured(recording, reference);
  const SettingValues of_candidate = settings_of_measured(recording, candidate);

  // The CPUs that a command may use (Affinity) say more than those that lauka may use. If they are
  // known of both sides, the latter are removed from one side, and so are not compared.
  if (of_reference[SettingKind::Affinity] && of_candidate[SettingKind::Affinity])
    of_reference[SettingKind::AllowedCpus].reset();
  return find_differences(of_reference, of_candidate);
}

namespace {

/// Returns the metric of which "METRIC@FUNCTION" is a part; other names as they are.
std::string metric_of_all_functions(const std::string& name) {
  const std::string metric = name.substr(0, name.find(kFunctionSeparator));
  return metric == kTotalTime ? std::string(kSampledTime) : metric;
}

/// Returns how a metric of a command was measured. `metric`: the metric in the session that
/// measured the command. `name`: its name, or that of the metric of which it is a percentile.
SettingValues metric_settings_of(const MeasuredCommand& command, const Metric& metric,
                                 const std::string& name) {
  const Recording& session = command.session;
  if (session.origins.empty()) return settings_of_metric(metric);

  // In a joined session, each of the sessions that were joined has its own settings. A metric of
  // one function was measured as that of all functions.
  const auto& known_settings = origin_of(session, command.index).metric_settings;
  auto found = known_settings.find(name);
  if (found == known_settings.end()) found = known_settings.find(metric_of_all_functions(name));
  return found == known_settings.end() ? SettingValues() : found->second;
}

}  // namespace

std::vector<SettingDifference> find_metric_differences(const Recording& session, std::size_t metric,
                                                       std::size_t candidate) {
  if (are_of_one_session(session, candidate)) return {};

  // A percentile was measured as the metric of whose values it is one.
  const std::string& name = session.metrics[metric].source_metric();
  const MeasuredCommand reference = find_measured(session, pair_of(session, candidate).reference);
  const auto index_in_reference = find_metric(reference.session.metrics, name);
  if (!index_in_reference) return {};

  return find_method_differences(
      metric_settings_of(reference, reference.session.metrics[*index_in_reference], name),
      metric_settings_of(find_measured(session, candidate), session.metrics[metric], name));
}

std::vector<SettingDifference> find_obstacles(const Recording& session, std::size_t metric,
                                              std::size_t candidate) {
  return join_obstacles(find_command_differences(session, candidate),
                        find_metric_differences(session, metric, candidate));
}

std::vector<SettingDifference> find_obstacles(const Plan& plan, std::size_t metric,
                                              std::size_t candidate) {
  const auto reference = find_in_baseline(plan.reference, candidate);
  if (!reference) return {};

  // A shell, like every property of the session, is a circumstance and no obstacle.
  const SettingValues here = settings_of_planned(plan.setting, plan.commands[candidate], {});
  const Recording& there = reference->session;
  const auto place = find_metric(there.metrics, plan.metrics[metric].source_metric());
  std::vector<SettingDifference> of_metric;
  if (place)
    of_metric = find_method_differences(settings_of_metric(there.metrics[*place]),
                                        settings_of_metric(plan.metrics[metric]));
  return join_obstacles(find_differences(reference->command().settings, here),
                        std::move(of_metric));
}

}  // namespace lauka
