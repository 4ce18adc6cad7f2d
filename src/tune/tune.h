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

/// The format in which a file shows a setting.
enum class Form : unsigned char {
  Word,     ///< a word: "powersave"
  Chosen,   ///< a list with the chosen word in brackets: "always [madvise] never"; only the word is
            ///< written
  Number,   ///< a number: "60"
  CpuList,  ///< a list of CPUs: "0-3,8"; loses the commands' CPUs, or if none is left, gets all
            ///< others
  CpuMask,  ///< a mask of CPUs: "ff,00000003"; changes like CpuList
  Latency,  ///< a device that takes a latency in microseconds and is held open
  Controllers,  ///< a controller of a control group: "+cpuset" if child groups have it, else
                ///< "-cpuset"
  Group,        ///< a control group that lauka creates
  Affinity,     ///< no file: the commands run on CPUs of their own
};

/// A setting of the machine that makes times vary, and the value that lauka gives it. lauka writes
/// only the files and values of this table.
struct Switch {
  std::string_view name;  ///< name as in --tune=+name; several rows may share it
  bool by_default;        ///< true if --tune changes it without naming it
  Form form;
  std::string_view path;    ///< path; '*' matches a number; empty: no file
  std::string_view wanted;  ///< value to write; empty: depends on the commands' CPUs
  std::string_view help{};  ///< text for --tune=list; empty except in the first row of a name
  std::string_view
      values{};  ///< file in the same folder that must list `wanted`; empty: no such file
  bool is_alternative =
      false;  ///< true: used only if earlier rows of its name are missing on this machine
};

/// Returns the row that `path` belongs to; null if lauka never writes to `path`.
const Switch* find_switch(std::string_view path);

/// Returns the value in a file's text in canonical form; nullopt if the text is not in `form`, or
/// if the form has no text (Latency, Affinity).
std::optional<std::string> parse_value(Form form, std::string_view text);

/// The CPUs that are reserved for the commands.
struct CpuChoice {
  std::vector<std::uint32_t> commands{};  ///< ascending; empty: no CPU, because of `why_not`
  std::vector<std::uint32_t> rest{};      ///< all other CPUs that are online
  std::string why_not{};                  ///< reason; empty if there are CPUs for the commands
};

/// The CPUs from which the commands' CPUs are chosen.
struct CpuFacts {
  std::vector<std::uint32_t> allowed{};  ///< CPUs on which lauka may run
  std::vector<std::uint32_t>
      fastest{};  ///< CPUs of the fastest core kind; empty: all cores are alike
};

/// Chooses the commands' CPUs: whole cores of one kind and one memory node, but not the core of the
/// first CPU; one CPU of each core if the request switches SMT off. CPUs that the request names are
/// taken as they are; refuses those on which lauka may not run, and all CPUs at once.
Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts);

/// A setting as found on this machine.
struct FoundSetting {
  const Switch* row = nullptr;
  bool asked = false;       ///< is_asked()
  std::string path{};       ///< empty if this machine lacks the setting, or if it has no file
  std::string now{};        ///< current value; empty if it cannot be read
  std::string wanted{};     ///< value to write; empty if the setting cannot be changed
  std::string why_not{};    ///< reason why the setting cannot be changed; empty if it can
  bool needs_root = false;  ///< true if `why_not` is missing rights

  bool changes() const { return asked && !wanted.empty() && now != wanted; }
};

/// Reads all settings of the table. Changes nothing.
std::vector<FoundSetting> find_settings(os::SettingFiles& files, const TuneRequest& request,
                                        const CpuChoice& cpus);

/// Refuses names that the table does not have.
Result<void> check_names(const TuneRequest& request);

/// True if the request switches `name`, which must be in the table, on; if it does not name it,
/// true if it is on by default.
bool is_asked(const TuneRequest& request, std::string_view name);

/// Reads the state of the machine. `cpus` are the commands' own CPUs; empty: all CPUs.
Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus);

/// Returns the text of --tune=list: a line for each switch.
std::string list_text(const std::vector<FoundSetting>& found, const CpuChoice& cpus);

// Tuning is a transaction. The journal holds all old values before the first value is changed. Only
// the process that locks the journal's folder changes or restores settings: lauka; its launcher
// process if lauka is killed; the next lauka if both are killed. The folder exists only while the
// machine is tuned, and if settings could not be restored.

inline constexpr const char* kJournalFolder = "/run/lauka";

/// A setting that is changed, with its old and new value.
struct SettingChange {
  const Switch* row = nullptr;
  std::string path{};
  std::string before{};  ///< old value, as parse_value returns it
  std::string during{};  ///< new value, as parse_value returns it

  bool operator==(const SettingChange&) const = default;
};

/// The contents of the journal.
struct Journal {
  std::string boot{};  ///< id of the boot during which the journal was written
  int pid = 0;         ///< lauka's process id
  std::vector<SettingChange> changes{};
  bool is_whole =
      false;  ///< false if lauka was killed while writing the journal, before changing anything
};

/// Returns the text of a journal, which parse_journal reads.
std::string journal_text(const Journal& journal);

/// Reads a journal; nullopt if its first line is not valid. Skips lines that lauka cannot have
/// written, such as lines with an unknown path.
std::optional<Journal> parse_journal(std::string_view text);

/// The result of restoring.
struct RestoreResult {
  std::size_t settings = 0;            ///< number of settings that were given their old value
  std::vector<std::string> changed{};  ///< settings that another program changed meanwhile and that
                                       ///< were left alone, or that go_on() could not change; one
                                       ///< line each
  std::vector<std::string> failed{};   ///< settings that could not be restored; one line each
};

/// Restores the settings of a killed lauka, if there are any; waits up to `patience` for the lock.
/// nullopt if another process holds the lock. Returns an error, and keeps the journal, if the
/// folder cannot be locked or the journal cannot be read.
Result<std::optional<RestoreResult>> restore_left(os::SettingFiles& files,
                                                  std::chrono::milliseconds patience = {});

/// Restores the settings that the ending process `pid` changed, if the journal is its own.
void restore_after(os::SettingFiles& files, int pid);

/// Returns the id of the process that tuned the machine; nullopt if there is no valid journal.
std::optional<int> holder(os::SettingFiles& files);

/// Keeps the machine tuned; the destructor restores all settings.
class Tuned : NonCopyable {
 public:
  /// Restores what a killed lauka left, writes the journal and changes the settings. Tunes nothing
  /// and returns an error if another lauka has tuned the machine, what is left cannot be restored,
  /// or the journal cannot be written.
  static Result<std::unique_ptr<Tuned>> begin(os::SettingFiles& files, const TuneRequest& request,
                                              const CpuChoice& cpus);

  ~Tuned() { restore(); }

  /// Restores all changed settings, the last change first. Does nothing if called again.
  const RestoreResult& restore();

  /// Restores all settings temporarily. Keeps the lock and the journal, in case lauka is killed.
  void pause();

  /// Tunes again after pause(), except settings that another program changed meanwhile.
  void go_on();

  const Tuning& in_force() const { return in_force_; }

  /// Returns the path of the file with which commands join the control group with CPUs of its own;
  /// empty if missing, or while tuning is paused.
  const std::string& group() const { return group_; }

  /// Returns what was restored of a killed lauka; nullopt if there was nothing.
  const std::optional<RestoreResult>& found_left() const { return found_left_; }

 private:
  explicit Tuned(os::SettingFiles& files) : files_(files) {}

  int apply(const SettingChange& change);
  void note(const std::vector<FoundSetting>& found);

  os::SettingFiles& files_;
  std::vector<SettingChange> changes_{};
  std::map<std::string, std::string> refused_{};  // reason by path
  std::vector<std::string>
      not_changed_again_{};  // settings that go_on() could not change again, one line each
  Tuning in_force_{};
  std::string group_{};
  std::optional<std::pair<std::string, std::int32_t>>
      latency_{};  // device and latency in microseconds
  std::optional<RestoreResult> found_left_{};
  RestoreResult restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
