#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/setting_files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::tune {

enum class Form : unsigned char {
  Word,
  Chosen,  ///< a list with the value in brackets: "always [madvise] never"
  Number,
  CpuList,      ///< a list of CPUs: "0-3,8"; tuning removes the commands' CPUs
  CpuMask,      ///< a mask of CPUs: "ff,00000003"; tuning removes the commands' CPUs
  Latency,      ///< a latency in us, for a device whose value is not read
  Controllers,  ///< a list of controllers; only cpuset counts: value "+cpuset" or "-cpuset"
  Group,        ///< a control group that lauka creates: "isolated 3" or "root 2-3"; missing: "none"
  Affinity,     ///< the commands' CPUs; no file
};

/// A row of the table of settings that make times vary.
struct Switch {
  std::string_view name;  ///< NAME in --tune=+NAME; several rows may have the same name
  bool by_default;
  Form form;
  std::string_view path;    ///< path of the setting's files, with '*' for a number; empty: no file
  std::string_view wanted;  ///< value to write; empty: depends on the commands' CPUs
  std::string_view help{};
  /// File next to `path` that must list `wanted`; may be empty.
  std::string_view allowed_values_file{};
  bool is_alternative = false;  ///< true: used only if earlier rows of this name have no files
};

/// Returns the row for the file `path`; null if no row has this file.
const Switch* find_switch(std::string_view path);

/// Returns the value in the text of a setting's file, in canonical form; nullopt if `text` does not
/// have the form.
std::optional<std::string> parse_value(Form form, std::string_view text);

struct CpuChoice {
  std::vector<std::uint32_t> command_cpus{};
  std::vector<std::uint32_t> other_cpus{};
  std::string why_not{};  ///< reason if choose_cpus() chose no CPUs for the commands; else empty
};

struct CpuFacts {
  std::vector<std::uint32_t> allowed{};
  /// CPUs of the preferred core kind; empty if there is only one kind.
  std::vector<std::uint32_t> preferred_kind_cpus{};
};

/// Chooses the commands' CPUs: the CPUs that `request` names; else cores of one memory node,
/// without the first CPU's core; none if the switch "cpus" is off. Refuses named CPUs if lauka may
/// not run on them, or if no other CPU would be left.
Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts);

struct SettingState {
  const Switch* row = nullptr;
  bool is_requested = false;
  std::string path{};
  std::string current_value{};  ///< empty if unknown
  std::string wanted{};         ///< value for tuning; empty if the setting cannot be changed
  std::string why_not{};
  bool needs_root = false;  ///< true if lauka lacks the rights to change the setting

  bool must_be_changed() const {
    return is_requested && !wanted.empty() && current_value != wanted;
  }
};

std::vector<SettingState> find_settings(os::SettingFiles& files, const TuneRequest& request,
                                        const CpuChoice& cpus);

Result<void> check_names(const TuneRequest& request);

/// True if the request, or else the default, switches `name` on. The table must have a row `name`.
bool is_switched_on(const TuneRequest& request, std::string_view name);

/// Reads throttling, stolen time and temperature. `cpus`: the commands' CPUs; empty: all online
/// CPUs.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus);

std::string list_text(const std::vector<SettingState>& settings, const CpuChoice& cpus);

}  // namespace lauka::tune
