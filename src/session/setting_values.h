#pragma once

#include "core/command.h"
#include "core/metric.h"
#include "core/recording.h"
#include "core/session_setting.h"
#include "core/settings.h"
#include "plan/plan.h"

#include <cstddef>
#include <string>
#include <vector>

// One comparison of how two sessions measured serves baselines, joined sessions, the history and
// --resume: each makes SettingValues of its two sides, and calls find_differences().

namespace lauka {

/// Returns how a command was run, as far as every file of lauka says. `shell`: words of the shell's
/// command line; empty without a shell.
SettingValues settings_of_saved(const Setting& setting, const Command& command,
                                const std::vector<std::string>& shell);

/// Returns how a command of a plan is run. Values of environment variables are hashed, because they
/// may be secret.
SettingValues settings_of_planned(const Setting& setting, const Command& command,
                                  const std::vector<std::string>& shell);

/// Returns how a metric was measured.
SettingValues settings_of_metric(const Metric& metric);

/// Returns how the values of settings_of_metric of two metrics of one name differ. Values of which
/// nothing is known cover whole runs, because only counters count a region.
std::vector<SettingDifference> find_method_differences(SettingValues reference,
                                                       SettingValues candidate);

/// Returns where and with which priority a session was measured.
SettingValues settings_of_session(const Circumstances& circumstances);

/// Returns what differs between the runs of `candidate` and those of its reference. If both were
/// measured in one session, only what is seen of their programs and processes (SettingUse) is
/// compared, because the user has given the rest in one command line.
std::vector<SettingDifference> find_command_differences(const Recording& recording,
                                                        std::size_t candidate);

/// Returns what differs in how a metric of `candidate` and that of its reference were measured;
/// empty if both were measured in the same session. Values of such a metric cannot be compared.
std::vector<SettingDifference> find_metric_differences(const Recording& session, std::size_t metric,
                                                       std::size_t candidate);

/// Returns the differences because of which a metric of `candidate` and of its reference cannot be
/// compared.
std::vector<SettingDifference> find_obstacles(const Recording& session, std::size_t metric,
                                              std::size_t candidate);

/// Returns the same for a session that will carry out `plan`, before its first run.
std::vector<SettingDifference> find_obstacles(const Plan& plan, std::size_t metric,
                                              std::size_t candidate);

}  // namespace lauka
