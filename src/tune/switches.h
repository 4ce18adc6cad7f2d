#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/setting_files.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::tune {

/// The format of a setting in its file.
enum class Form : unsigned char {
  Word,         ///< "powersave"
  Chosen,       ///< "always [madvise] never", of which the word is written
  Number,       ///< "60"
  CpuList,      ///< "0-3,8"; it gets its CPUs but for the commands' own
  CpuMask,      ///< "ff,00000003"; likewise
  Latency,      ///< a device that is held open
  Controllers,  ///< of a control group: "+cpuset" if its children have it, else "-cpuset"
  Group,        ///< a control group that is made
  Affinity,     ///< no file: the commands run on CPUs of their own
};

/// A setting of the machine that makes times scatter, and the value that it gets. Only the files
/// and values of this table are ever written.
struct Switch {
  std::string_view name;  ///< as in --tune=+name; several rows may share it
  bool by_default;
  Form form;
  std::string_view path;    ///< with a '*' for a number
  std::string_view wanted;  ///< empty: depends on the commands' CPUs
  std::string_view
      values{};  ///< file in the same folder that must list `wanted`; empty if not needed
  bool is_alternative = false;  ///< used only if earlier rows of its name are missing here
  std::string_view help;        ///< what it is
};

/// All of them, in the order in which they are tuned.
std::span<const Switch> switches();

/// The row that `path` belongs to; null if lauka does not write to it.
const Switch* switch_of(std::string_view path);

/// Returns the value in the text of a file, in its canonical form; nullopt if it has another form.
std::optional<std::string> value_of(Form form, std::string_view text);

/// The CPUs reserved for the commands.
struct CpuChoice {
  std::vector<std::uint32_t> commands{};  ///< empty: no choice
  std::vector<std::uint32_t> rest{};      ///< all others that are online
  std::string why_not{};                  ///< if no choice is possible
};

/// CPUs from which the commands' own are chosen.
struct CpuFacts {
  std::vector<std::uint32_t> allowed{};  ///< that lauka may run on
  std::vector<std::uint32_t> fastest{};  ///< of the fastest kind of core; empty: all are alike
};

/// Chooses whole cores of one kind and one node, except the core of the first CPU; with `no_smt`
/// one CPU of each. Refuses CPUs that do not exist, or all of them.
Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts);

/// A setting, as found.
struct Found {
  const Switch* row = nullptr;
  bool asked = false;       ///< by default or by name
  std::string path{};       ///< empty if the machine has no such setting
  std::string now{};        ///< empty if it cannot be read
  std::string wanted{};     ///< empty if it cannot be changed
  std::string why_not{};    ///< in that case
  bool needs_root = false;  ///< that is why

  bool changes() const { return asked && !wanted.empty() && now != wanted; }
};

/// Reads all settings of the table; changes nothing.
std::vector<Found> find_settings(os::SettingFiles& files, const TuneRequest& request,
                                 const CpuChoice& cpus);

/// Refuses names that are in no row.
Result<void> check_names(const TuneRequest& request);

/// True if the switch is asked for, by default or by name.
bool is_asked(const TuneRequest& request, std::string_view name);

/// Reads the state of the machine; `cpus` are the commands' own; if empty, all.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus);

/// The text of --tune=list: a line for each switch.
std::string list_text(const std::vector<Found>& found, const CpuChoice& cpus);

}  // namespace lauka::tune
