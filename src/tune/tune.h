#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/setting_files.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

std::string list_text(const std::vector<SettingState>& found, const CpuChoice& cpus);

// Tuning is a transaction. Before lauka changes the first setting, the journal has the old values.
// Only the process that holds the lock of the journal's folder changes or restores settings: lauka;
// its launcher process if lauka is killed; or a later lauka. The folder exists while the machine is
// tuned, and longer if a setting could not be restored.

inline constexpr const char* kJournalFolder = "/run/lauka";

struct SettingChange {
  const Switch* row = nullptr;
  std::string path{};
  std::string value_before_tuning{};
  std::string tuned_value{};

  bool operator==(const SettingChange&) const = default;
};

struct Journal {
  std::string boot{};
  int pid = 0;
  std::vector<SettingChange> changes{};
  bool is_whole = false;  ///< true if complete; if false, lauka has not changed any setting
};

std::string journal_text(const Journal& journal);

/// Reads a journal; nullopt if its first line is not valid. Skips other lines that are not valid.
std::optional<Journal> parse_journal(std::string_view text);

struct RestoreResult {
  std::size_t restored_count = 0;
  /// Messages about settings that another program changed, or that TuningSession::go_on() could not
  /// tune again.
  std::vector<std::string> foreign_change_messages{};
  std::vector<std::string> failure_messages{};
};

/// Restores the settings of a killed lauka, if any. Waits up to `patience` for the lock. nullopt if
/// another process keeps the lock for longer. On an error, keeps the journal.
Result<std::optional<RestoreResult>> restore_leftover_settings(
    os::SettingFiles& files, std::chrono::milliseconds patience = {});

/// Restores the settings of a killed lauka if the process `pid` wrote the journal.
void restore_if_written_by(os::SettingFiles& files, int pid);

/// Returns the id of the process that wrote the journal; nullopt without a valid journal.
std::optional<int> journal_writer_pid(os::SettingFiles& files);

/// A tuned machine. The destructor calls restore().
class TuningSession : NonCopyable {
 public:
  /// Restores the settings of a killed lauka, writes the journal and changes the settings. On an
  /// error, tunes nothing.
  static Result<std::unique_ptr<TuningSession>> begin(os::SettingFiles& files,
                                                      const TuneRequest& request,
                                                      const CpuChoice& cpus);

  ~TuningSession() { restore(); }

  /// Restores the changed settings, the last change first, except settings that another program has
  /// changed. Further calls only return the same result.
  const RestoreResult& restore();

  /// Restores the changed settings for the time until go_on(). Keeps the lock and the journal.
  void pause();

  /// Tunes again after pause(). Leaves out settings that another program changed after pause().
  void go_on();

  const Tuning& in_force() const { return in_force_; }

  /// Returns the path of the file with which runs join the control group that has CPUs of its own;
  /// empty without such a group, or while tuning is paused.
  const std::string& own_cpus_group_file() const { return own_cpus_group_file_; }

  /// Returns what begin() restored of a killed lauka; nullopt without a journal.
  const std::optional<RestoreResult>& leftovers_restored() const { return leftovers_restored_; }

 private:
  explicit TuningSession(os::SettingFiles& files) : files_(files) {}

  int apply(const SettingChange& change);
  void hold_latency_and_note(const std::vector<SettingState>& found);

  os::SettingFiles& files_;
  std::vector<SettingChange> changes_{};
  std::map<std::string, std::string> refused_{};
  std::vector<std::string> retuning_failure_messages_{};
  Tuning in_force_{};
  std::string own_cpus_group_file_{};
  std::optional<std::pair<std::string, std::int32_t>> latency_{};
  std::optional<RestoreResult> leftovers_restored_{};
  RestoreResult restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
