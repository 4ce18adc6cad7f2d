#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/setting_files.h"
#include "tune/switches.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::tune {

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

  int change_setting(const SettingChange& change);
  void change_settings();
  Result<void> restore_leftovers();
  void unlock_without_restoring();
  int hold_latency(const SettingState& setting);
  void note_tuned(const std::string& switch_name, const SettingState& setting);
  void note_untuned(const std::string& switch_name, const std::string& why_not);
  void hold_latency_and_note_switches(const std::vector<SettingState>& settings);

  os::SettingFiles& files_;
  std::vector<SettingChange> changes_{};
  std::map<std::string, std::string> refused_{};  // by path: why begin() could not change it
  std::vector<std::string> retuning_failure_messages_{};
  Tuning in_force_{};
  std::string own_cpus_group_file_{};
  std::optional<std::pair<std::string, std::int32_t>> latency_{};  // device, microseconds
  std::optional<RestoreResult> leftovers_restored_{};
  RestoreResult restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
