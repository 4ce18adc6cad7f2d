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
  CpuList,      ///< a list of CPUs: "0-3,8"; tuning takes the commands' CPUs out
  CpuMask,      ///< a mask of CPUs: "ff,00000003"; tuning takes the commands' CPUs out
  Latency,      ///< no value to read: a latency in microseconds, in force while its device is open
  Controllers,  ///< a list of controllers, of which cpuset counts: "+cpuset" or "-cpuset"
  Group,        ///< a control group that lauka creates
  Affinity,     ///< no file: the commands run on CPUs of their own
};

/// A setting of the machine that makes times vary.
struct Switch {
  std::string_view name;  ///< name as in --tune=+name; several rows may share it
  bool by_default;
  Form form;
  std::string_view path;    ///< '*' stands for a number; empty: no file
  std::string_view wanted;  ///< value to write; empty: depends on the commands' CPUs
  std::string_view help{};
  std::string_view values{};    ///< file in the same folder that must list `wanted`
  bool is_alternative = false;  ///< true: replaces missing earlier rows with this name
};

/// Returns the switch with the file `path`; null if there is none.
const Switch* find_switch(std::string_view path);

/// Returns the value in a file's text in canonical form; nullopt if `text` is not in `form`.
std::optional<std::string> parse_value(Form form, std::string_view text);

struct CpuChoice {
  std::vector<std::uint32_t> commands{};
  std::vector<std::uint32_t> rest{};
  std::string why_not{};  ///< reason why `commands` is empty
};

struct CpuFacts {
  std::vector<std::uint32_t> allowed{};
  std::vector<std::uint32_t> fastest{};  ///< CPUs of the preferred core kind; may be empty
};

/// Chooses the commands' CPUs as `request` asks. By default: cores of one kind and one memory node,
/// but not the first CPU's core. Refuses CPUs that the request names if lauka may not run there, or
/// if no CPU would be left.
Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts);

struct FoundSetting {
  const Switch* row = nullptr;
  bool asked = false;
  std::string path{};
  std::string now{};     ///< current value; empty if unknown
  std::string wanted{};  ///< value to write; empty if the setting cannot be changed
  std::string why_not{};
  bool needs_root = false;  ///< true if lauka lacks the rights to change the setting

  bool changes() const { return asked && !wanted.empty() && now != wanted; }
};

std::vector<FoundSetting> find_settings(os::SettingFiles& files, const TuneRequest& request,
                                        const CpuChoice& cpus);

Result<void> check_names(const TuneRequest& request);

/// True if the request, or else the default, switches `name` on. The table must have `name`.
bool is_asked(const TuneRequest& request, std::string_view name);

/// Reads the state of the machine. `cpus`: the commands' CPUs; empty: all CPUs.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus);

std::string list_text(const std::vector<FoundSetting>& found, const CpuChoice& cpus);

// Tuning is a transaction. The journal holds all old values before the first value is changed. Only
// the process that locks the journal's folder changes or restores settings: lauka, its launcher
// process if lauka is killed, or the next lauka if both are killed. The folder exists while the
// machine is tuned, and if settings could not be restored.

inline constexpr const char* kJournalFolder = "/run/lauka";

struct SettingChange {
  const Switch* row = nullptr;
  std::string path{};
  std::string before{};
  std::string during{};

  bool operator==(const SettingChange&) const = default;
};

struct Journal {
  std::string boot{};
  int pid = 0;
  std::vector<SettingChange> changes{};
  bool is_whole = false;  ///< true if complete; else lauka had not changed anything yet
};

std::string journal_text(const Journal& journal);

/// Reads a journal; nullopt if its first line is not valid. Skips lines that lauka cannot have
/// written.
std::optional<Journal> parse_journal(std::string_view text);

struct RestoreResult {
  std::size_t settings = 0;
  std::vector<std::string>
      changed{};  ///< messages: another program changed a setting, or go_on() failed
  std::vector<std::string> failed{};
};

/// Restores the settings of a killed lauka, if there are any. Waits up to `patience` for the lock.
/// nullopt if another process holds the lock. On an error, keeps the journal.
Result<std::optional<RestoreResult>> restore_left(os::SettingFiles& files,
                                                  std::chrono::milliseconds patience = {});

/// Restores the settings that the process `pid` changed, if the journal is its own.
void restore_after(os::SettingFiles& files, int pid);

/// Returns the id of the process that wrote the journal; nullopt without a valid journal.
std::optional<int> holder(os::SettingFiles& files);

/// A tuned machine. The destructor restores all settings.
class TuningSession : NonCopyable {
 public:
  /// Restores what a killed lauka left, writes the journal and changes the settings. On an error,
  /// tunes nothing.
  static Result<std::unique_ptr<TuningSession>> begin(os::SettingFiles& files,
                                                      const TuneRequest& request,
                                                      const CpuChoice& cpus);

  ~TuningSession() { restore(); }

  /// Restores all changed settings, the last change first. A second call does nothing.
  const RestoreResult& restore();

  /// Restores all settings until go_on(). Keeps the lock and the journal.
  void pause();

  /// Tunes again after pause(). Leaves out settings that another program changed meanwhile.
  void go_on();

  const Tuning& in_force() const { return in_force_; }

  /// Returns the path of a file; commands that write to it join the control group with CPUs of its
  /// own. Empty without such a group, or while tuning is paused.
  const std::string& group() const { return group_; }

  /// Returns what was restored of a killed lauka; nullopt if there was nothing.
  const std::optional<RestoreResult>& found_left() const { return found_left_; }

 private:
  explicit TuningSession(os::SettingFiles& files) : files_(files) {}

  int apply(const SettingChange& change);
  void note(const std::vector<FoundSetting>& found);

  os::SettingFiles& files_;
  std::vector<SettingChange> changes_{};
  std::map<std::string, std::string> refused_{};
  std::vector<std::string> not_changed_again_{};
  Tuning in_force_{};
  std::string group_{};
  std::optional<std::pair<std::string, std::int32_t>> latency_{};
  std::optional<RestoreResult> found_left_{};
  RestoreResult restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
