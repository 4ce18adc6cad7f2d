#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

/// A property of a measurement that may differ between two sessions.
enum class SettingKind : unsigned char {
  // Properties of a command's runs.
  Jobs,
  Until,
  OutputCheck,
  Layouts,
  Shell,
  Output,
  Environment,
  Input,
  Folder,
  Prepare,
  Conclude,
  Warmup,
  // Properties of a command's program and process, as far as lauka sees them.
  Libraries,
  Variables,
  Affinity,
  Limits,
  VariableNames,
  Compiler,
  CompilerFlags,
  TextSize,
  // Properties of a metric.
  Region,
  Engine,
  PrivilegeLevels,
  SampledClock,
  SamplingPeriod,
  // Properties of the session; a command's process may have others.
  Nice,
  SchedulingPolicy,
  // Properties of the session.
  Host,
  Processor,
  ProcessorModel,
  ProcessorFeatures,
  Microcode,
  Architecture,
  Kernel,
  Cpus,
  Governor,
  Hypervisor,
  Tuning,
  AllowedCpus,
  CpuQuota,
  MemoryLimit,
  Lauka,
};

/// What another value of a setting means for a comparison.
enum class SettingEffect : unsigned char {
  Circumstance,       ///< the same is measured under other circumstances
  OtherMeasurements,  ///< something else is measured, so values cannot be compared
};

/// Where a difference between two commands is shown. JSON and pages show all differences.
enum class SettingUse : unsigned char {
  BetweenSessions,  ///< always shown, between sessions; commands of one session have it from
                    ///< options
  Always,           ///< always shown, also between commands of one session
  Verbose,          ///< shown with --verbose, also between commands of one session
};

struct SettingRow {
  SettingKind kind;
  std::string_view key;    ///< name in JSON
  std::string_view title;  ///< name in messages
  SettingEffect effect = SettingEffect::Circumstance;
  SettingUse use = SettingUse::BetweenSessions;
  /// True if values are lists of entries NAME or NAME=VALUE, quoted as for a shell.
  bool is_list = false;
};

inline constexpr auto kSettings = std::to_array<SettingRow>({
    {SettingKind::Jobs, "jobs", "--jobs", SettingEffect::OtherMeasurements},
    {SettingKind::Until, "until", "--until", SettingEffect::OtherMeasurements},
    {SettingKind::OutputCheck, "expected_output", "--expect-output",
     SettingEffect::OtherMeasurements},
    {SettingKind::Layouts, "layouts", "--layouts", SettingEffect::OtherMeasurements},
    {SettingKind::Shell, "shell", "shell"},
    {SettingKind::Output, "output", "--output"},
    {SettingKind::Environment, "environment", "--env"},
    {SettingKind::Input, "input", "--input"},
    {SettingKind::Folder, "cwd", "--cwd"},
    {SettingKind::Prepare, "prepare", "--prepare"},
    {SettingKind::Conclude, "conclude", "--conclude"},
    {SettingKind::Warmup, "warmup_runs", "--warmup"},
    {SettingKind::Libraries, "libraries", "libraries", SettingEffect::Circumstance,
     SettingUse::Always, true},
    {SettingKind::Variables, "variables", "variables", SettingEffect::Circumstance,
     SettingUse::Always, true},
    {SettingKind::Affinity, "affinity", "CPU affinity", SettingEffect::Circumstance,
     SettingUse::Always},
    {SettingKind::Limits, "limits", "limits", SettingEffect::Circumstance, SettingUse::Always,
     true},
    {SettingKind::VariableNames, "variable_names", "names of variables",
     SettingEffect::Circumstance, SettingUse::Verbose, true},
    {SettingKind::Compiler, "compiler", "compiler", SettingEffect::Circumstance,
     SettingUse::Verbose, true},
    {SettingKind::CompilerFlags, "compiler_flags", "compiler flags", SettingEffect::Circumstance,
     SettingUse::Verbose, true},
    {SettingKind::TextSize, "text_size", "size of the text section", SettingEffect::Circumstance,
     SettingUse::Verbose},
    {SettingKind::Region, "region", "measured part", SettingEffect::OtherMeasurements},
    {SettingKind::Engine, "engine", "counted by", SettingEffect::OtherMeasurements},
    {SettingKind::PrivilegeLevels, "levels", "counted in", SettingEffect::OtherMeasurements},
    {SettingKind::SampledClock, "sampled_clock", "sampled clock", SettingEffect::OtherMeasurements},
    {SettingKind::SamplingPeriod, "sampling_period", "sampling period",
     SettingEffect::OtherMeasurements},
    {SettingKind::Nice, "nice", "nice value", SettingEffect::Circumstance, SettingUse::Always},
    {SettingKind::SchedulingPolicy, "scheduling_policy", "scheduling policy",
     SettingEffect::Circumstance, SettingUse::Always},
    {SettingKind::Host, "name", "machine"},
    {SettingKind::Processor, "cpu_model", "processor"},
    {SettingKind::ProcessorModel, "cpu_identity", "processor's identity"},
    {SettingKind::ProcessorFeatures, "cpu_features", "processor's features"},
    {SettingKind::Microcode, "microcode", "microcode", SettingEffect::Circumstance,
     SettingUse::Verbose},
    {SettingKind::Architecture, "architecture", "architecture"},
    {SettingKind::Kernel, "kernel", "kernel"},
    {SettingKind::Cpus, "cpus", "CPUs"},
    {SettingKind::Governor, "governor", "governor"},
    {SettingKind::Hypervisor, "hypervisor", "hypervisor"},
    {SettingKind::Tuning, "tuning", "tuning"},
    {SettingKind::AllowedCpus, "allowed_cpus", "allowed CPUs"},
    {SettingKind::CpuQuota, "cpu_quota", "CPU quota"},
    {SettingKind::MemoryLimit, "memory_limit", "memory limit"},
    {SettingKind::Lauka, "version", "lauka"},
});

constexpr const SettingRow& row_of(SettingKind kind) {
  return kSettings.at(static_cast<std::size_t>(kind));
}

constexpr bool are_settings_in_order() {
  for (std::size_t i = 0; i < kSettings.size(); ++i)
    if (kSettings.at(i).kind != static_cast<SettingKind>(i)) return false;
  return kSettings.back().kind == SettingKind::Lauka;
}
static_assert(are_settings_in_order(), "kSettings follows the order of SettingKind");

/// The value in messages of a setting that was not used: "--until none".
inline constexpr std::string_view kNoSetting = "none";

/// The values of settings, as messages show them; nullopt: unknown, or not a property of what is
/// described.
class SettingValues {
 public:
  std::optional<std::string>& operator[](SettingKind kind) {
    return all_.at(static_cast<std::size_t>(kind));
  }
  const std::optional<std::string>& operator[](SettingKind kind) const {
    return all_.at(static_cast<std::size_t>(kind));
  }

  /// Sets `kind` to `text`, or to kNoSetting if `text` is empty.
  void set_or_none(SettingKind kind, std::string text) {
    (*this)[kind] = text.empty() ? std::string(kNoSetting) : std::move(text);
  }

  /// Sets `kind` to `text`; leaves it unknown if `text` is empty.
  void set_if_known(SettingKind kind, std::string text) {
    if (!text.empty()) (*this)[kind] = std::move(text);
  }

  /// Takes over the known values of `others`.
  void add(const SettingValues& others);

  bool operator==(const SettingValues&) const = default;

 private:
  std::array<std::optional<std::string>, kSettings.size()> all_{};
};

/// A setting that is known on both sides of a comparison, and differs.
struct SettingDifference {
  SettingKind kind = SettingKind::Jobs;
  std::string reference_value{};
  std::string candidate_value{};

  bool operator==(const SettingDifference&) const = default;
};

/// Returns the settings that are known on both sides and differ, in the order of kSettings.
std::vector<SettingDifference> find_differences(const SettingValues& reference,
                                                const SettingValues& candidate);

/// An entry of a list (SettingRow::is_list) that differs between two sides; nullopt: the side has
/// no entry of this name. The value of an entry without one is empty.
struct EntryDifference {
  std::string name{};
  std::optional<std::string> reference_value{};
  std::optional<std::string> candidate_value{};

  bool operator==(const EntryDifference&) const = default;
};

/// Returns the entries in which two lists differ, by name. Entries of one name have a difference
/// each, unless either side has only one of them.
std::vector<EntryDifference> find_differing_entries(const SettingDifference& difference);

/// Returns the words (separated by blanks) that only one of two texts has, in the order of `a` and
/// then of `b`.
std::vector<std::string> words_of_only_one(std::string_view a, std::string_view b);

/// True if sessions that differ in this setting measured different things.
constexpr bool changes_what_is_measured(const SettingDifference& difference) {
  return row_of(difference.kind).effect == SettingEffect::OtherMeasurements;
}

/// True if the difference is shown without --verbose.
constexpr bool is_always_shown(const SettingDifference& difference) {
  return row_of(difference.kind).use != SettingUse::Verbose;
}

}  // namespace lauka
