#pragma once

#include "core/metric.h"
#include "core/record.h"
#include "gate/verdict.h"
#include "results/results.h"
#include "stats/delta.h"

#include <limits>
#include <string_view>

// Words and sections of JSON files, for format/ and history/ only.

namespace lauka {

/// The mark of a missing value in a list of measured values.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Names a type as the argument of an overloaded function.
template <typename T>
struct As {};

/// A value and its name in JSON. An empty name is null in JSON.
template <typename Value>
struct NamedValue {
  Value value;
  std::string_view word;
};

inline constexpr auto kOrderWords = std::to_array<NamedValue<Order>>({
    {Order::Random, "random"},
    {Order::Interleaved, "interleaved"},
    {Order::Sequential, "sequential"},
});
inline constexpr auto kLossWords = std::to_array<NamedValue<CounterLoss>>({
    {CounterLoss::SetUser, "setuid"},
    {CounterLoss::SetGroup, "setgid"},
    {CounterLoss::Capabilities, "capabilities"},
    {CounterLoss::Unreadable, "unreadable"},
});
inline constexpr auto kProgramWords = std::to_array<NamedValue<ProgramKind>>({
    {ProgramKind::Unknown, ""},
    {ProgramKind::Native, "native"},
    {ProgramKind::Launcher, "launcher"},
});
inline constexpr auto kBetterWords = std::to_array<NamedValue<Better>>({
    {Better::Less, "less"},
    {Better::More, "more"},
    {Better::Neither, "neither"},
});
inline constexpr auto kUnitWords = std::to_array<NamedValue<Unit>>({
    {Unit::Count, unit_symbol(Unit::Count)},
    {Unit::Seconds, unit_symbol(Unit::Seconds)},
    {Unit::Bytes, unit_symbol(Unit::Bytes)},
    {Unit::Ratio, unit_symbol(Unit::Ratio)},
    {Unit::Fraction, unit_symbol(Unit::Fraction)},
    {Unit::Joules, unit_symbol(Unit::Joules)},
});
inline constexpr auto kKindWords = std::to_array<NamedValue<RoundKind>>({
    {RoundKind::Timed, "timed"},
    {RoundKind::Counting, "counting"},
    {RoundKind::Simulated, "simulated"},
    {RoundKind::Warmup, "warmup"},
    {RoundKind::Settling, "settling"},
    {RoundKind::Untuned, "untuned"},
});
inline constexpr auto kDecisionWords = std::to_array<NamedValue<gate::Decision>>({
    {gate::Decision::Inconclusive, "inconclusive"},
    {gate::Decision::Pass, "pass"},
    {gate::Decision::Fail, "fail"},
    {gate::Decision::Kept, "kept"},
    {gate::Decision::Worse, "worse"},
    {gate::Decision::Equal, "equal"},
    {gate::Decision::Undecided, "undecided"},
});
inline constexpr auto kErrorRateWords = std::to_array<NamedValue<gate::ErrorRate>>({
    {gate::ErrorRate::AnyFalseFail, "family-wise"},
    {gate::ErrorRate::ShareOfFalseFails, "false-discovery"},
});
inline constexpr auto kDecidedByWords = std::to_array<NamedValue<gate::DecidedBy>>({
    {gate::DecidedBy::Nothing, ""},
    {gate::DecidedBy::Ranks, "ranks"},
    {gate::DecidedBy::Mean, "mean"},
    {gate::DecidedBy::Both, "both"},
});
inline constexpr auto kObstacleWords = std::to_array<NamedValue<gate::Obstacle>>({
    {gate::Obstacle::None, ""},
    {gate::Obstacle::NoSuccess, "no_success"},
    {gate::Obstacle::FailureRates, "failure_rates"},
    {gate::Obstacle::NoValue, "no_value"},
    {gate::Obstacle::NoCommonRound, "no_common_round"},
    {gate::Obstacle::UpperBounds, "upper_bounds"},
    {gate::Obstacle::NoPercentage, "no_percentage"},
    {gate::Obstacle::FewLayouts, "few_layouts"},
    {gate::Obstacle::NoFunction, "no_function"},
    {gate::Obstacle::NoCallers, "no_callers"},
    {gate::Obstacle::NoSamples, "no_samples"},
    {gate::Obstacle::OtherSettings, "other_settings"},
    {gate::Obstacle::SameRuns, "same_runs"},
    {gate::Obstacle::CutShort, "cut_short"},
    {gate::Obstacle::NotRecorded, "not_recorded"},
});
inline constexpr auto kAcceptanceUseWords = std::to_array<NamedValue<gate::AcceptanceUse>>({
    {gate::AcceptanceUse::None, ""},
    {gate::AcceptanceUse::Used, "used"},
    {gate::AcceptanceUse::Unneeded, "unneeded"},
    {gate::AcceptanceUse::Exceeded, "exceeded"},
    {gate::AcceptanceUse::Undecided, "undecided"},
    {gate::AcceptanceUse::Expired, "expired"},
});
inline constexpr auto kSideWords = std::to_array<NamedValue<gate::Side>>({
    {gate::Side::Both, ""},
    {gate::Side::Reference, "reference"},
    {gate::Side::Candidate, "candidate"},
});
inline constexpr auto kBasisWords = std::to_array<NamedValue<stats::Basis>>({
    {stats::Basis::Mean, "mean"},
    {stats::Basis::Typical, "typical"},
    {stats::Basis::Quantile, "quantile"},
    {stats::Basis::Layouts, "layouts"},
});
inline constexpr auto kPrecisionEndWords = std::to_array<NamedValue<PrecisionEnd>>({
    {PrecisionEnd::Reached, "reached"},
    {PrecisionEnd::MaxRuns, "max_runs"},
    {PrecisionEnd::Duration, "duration"},
    {PrecisionEnd::HooksPreventedRuns, "reference_gone"},
    {PrecisionEnd::LostInGateRounds, "gates"},
    {PrecisionEnd::Unfinished, "cut_short"},
});
inline constexpr auto kRaceEndWords = std::to_array<NamedValue<gate::RaceEnd>>({
    {gate::RaceEnd::OneLeft, "one_left"},
    {gate::RaceEnd::Equal, "equal"},
    {gate::RaceEnd::MaxRuns, "max_runs"},
    {gate::RaceEnd::Duration, "duration"},
    {gate::RaceEnd::Unfinished, "cut_short"},
});
inline constexpr auto kLevelsWords = std::to_array<NamedValue<CountedPrivilegeLevels>>({
    {CountedPrivilegeLevels::Unknown, ""},
    {CountedPrivilegeLevels::UserAndKernel, "user_and_kernel"},
    {CountedPrivilegeLevels::UserOnly, "user"},
    {CountedPrivilegeLevels::KernelOnly, "kernel"},
    {CountedPrivilegeLevels::HypervisorOnly, "neither"},
});
inline constexpr auto kRedoWords = std::to_array<NamedValue<RedoReason>>({
    {RedoReason::Other, ""},
    {RedoReason::Counting, "counting"},
    {RedoReason::CoreShare, "core_share"},
    {RedoReason::Throttled, "throttled"},
});
inline constexpr auto kRoleWords = std::to_array<NamedValue<Role>>({
    {Role::Other, ""},
    {Role::WallTime, metric_name_of(Role::WallTime)},
    {Role::CpuTime, metric_name_of(Role::CpuTime)},
    {Role::UserTime, metric_name_of(Role::UserTime)},
    {Role::SystemTime, metric_name_of(Role::SystemTime)},
    {Role::PeakRss, metric_name_of(Role::PeakRss)},
    {Role::VoluntarySwitches, metric_name_of(Role::VoluntarySwitches)},
    {Role::InvoluntarySwitches, metric_name_of(Role::InvoluntarySwitches)},
    {Role::Cycles, event_name_of(Role::Cycles)},
    {Role::Instructions, event_name_of(Role::Instructions)},
    {Role::CacheReferences, event_name_of(Role::CacheReferences)},
    {Role::CacheMisses, event_name_of(Role::CacheMisses)},
    {Role::Branches, event_name_of(Role::Branches)},
    {Role::BranchMisses, event_name_of(Role::BranchMisses)},
    {Role::CoreTime, "core_time"},
    {Role::CoreShare, "core_share"},
    {Role::Ipc, "ipc"},
    {Role::Throughput, "throughput"},
    {Role::Clock, "clock"},
    {Role::SampledTime, "sampled_time"},
});

inline constexpr auto kWallPartWords = std::to_array<NamedValue<WallFactorKind>>({
    {WallFactorKind::Instructions, "instructions"},
    {WallFactorKind::InstructionsPerCycle, "ipc"},
    {WallFactorKind::Cycles, "cycles"},
    {WallFactorKind::Clock, "clock"},
    {WallFactorKind::CpuTimePerCycle, "cpu_time_per_cycle"},
    {WallFactorKind::CpuTimePerInstruction, "cpu_time_per_instruction"},
    {WallFactorKind::CpuTime, "cpu_time"},
    {WallFactorKind::Utilisation, "cpu_utilization"},
});

/// Returns the word for `value`; the first word if `value` has none.
template <typename Words, typename Value>
constexpr std::string_view word_in(const Words& words, Value value) {
  for (const auto& row : words)
    if (row.value == value) return row.word;
  return words.front().word;
}

/// Returns the value for `word`; the first value if `word` is unknown.
template <typename Words>
constexpr auto value_in(const Words& words, std::string_view word) {
  for (const auto& row : words)
    if (row.word == word) return row.value;
  return words.front().value;
}

constexpr const auto& words_of(As<Order> /*type*/) {
  return kOrderWords;
}
constexpr const auto& words_of(As<CounterLoss> /*type*/) {
  return kLossWords;
}
constexpr const auto& words_of(As<ProgramKind> /*type*/) {
  return kProgramWords;
}
constexpr const auto& words_of(As<Better> /*type*/) {
  return kBetterWords;
}
constexpr const auto& words_of(As<Unit> /*type*/) {
  return kUnitWords;
}
constexpr const auto& words_of(As<RoundKind> /*type*/) {
  return kKindWords;
}
constexpr const auto& words_of(As<gate::Decision> /*type*/) {
  return kDecisionWords;
}
constexpr const auto& words_of(As<gate::DecidedBy> /*type*/) {
  return kDecidedByWords;
}
constexpr const auto& words_of(As<gate::Obstacle> /*type*/) {
  return kObstacleWords;
}
constexpr const auto& words_of(As<gate::AcceptanceUse> /*type*/) {
  return kAcceptanceUseWords;
}
constexpr const auto& words_of(As<gate::Side> /*type*/) {
  return kSideWords;
}
constexpr const auto& words_of(As<stats::Basis> /*type*/) {
  return kBasisWords;
}
constexpr const auto& words_of(As<PrecisionEnd> /*type*/) {
  return kPrecisionEndWords;
}
constexpr const auto& words_of(As<gate::RaceEnd> /*type*/) {
  return kRaceEndWords;
}
constexpr const auto& words_of(As<CountedPrivilegeLevels> /*type*/) {
  return kLevelsWords;
}
constexpr const auto& words_of(As<RedoReason> /*type*/) {
  return kRedoWords;
}
constexpr const auto& words_of(As<Role> /*type*/) {
  return kRoleWords;
}
constexpr const auto& words_of(As<WallFactorKind> /*type*/) {
  return kWallPartWords;
}

/// Returns the value's word in JSON; empty for null.
template <typename Enum>
constexpr std::string_view word_of(Enum value) {
  return word_in(words_of(As<Enum>()), value);
}
constexpr std::string_view word_of(Ending ending) {
  return ending_word(ending);
}

/// Returns the value for `word`; the first value if `word` is unknown.
template <typename Enum>
constexpr Enum value_of_word(std::string_view word, As<Enum> type) {
  return value_in(words_of(type), word);
}
constexpr Ending value_of_word(std::string_view word, As<Ending> /*type*/) {
  return parse_ending(word);
}

}  // namespace lauka
