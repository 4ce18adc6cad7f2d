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

/// The format of a setting in its file.
enum class Form : unsigned char {
  Word,         ///< "powersave"
  Chosen,       ///< "always [madvise] never", of which the word is written
  Number,       ///< "60"
  CpuList,      ///< "0-3,8"; it gets its CPUs but for the commands' own
  CpuMask,      ///< "ff,00000003"; likewise
  Latency,      ///< a device that is held open
  Controllers,  ///< controller of a control group: "+cpuset" if its children have it, else
                ///< "-cpuset"
  Group,        ///< a control group that is made
  Affinity,     ///< no file: the commands run on CPUs of their own
};

/// A setting of the machine that makes times scatter, and the value that it gets. Only the files
/// and values of this table are ever written.
struct Switch {
  std::string_view name;  ///< name in --tune=+name; several rows may share it
  bool by_default;
  Form form;
  std::string_view path;        ///< path with a '*' for a number
  std::string_view wanted;      ///< empty: depends on the commands' CPUs
  std::string_view help{};      ///< empty except in the first row of its name
  std::string_view values{};    ///< file in the same folder that must list `wanted`; may be empty
  bool is_alternative = false;  ///< used only if earlier rows of its name are missing here
};

/// Returns the row that `path` belongs to; null if lauka does not write to it.
const Switch* find_switch(std::string_view path);

/// Returns the value in the text of a file, in its canonical form; nullopt if it has another form.
std::optional<std::string> parse_value(Form form, std::string_view text);

/// The CPUs reserved for the commands.
struct CpuChoice {
  std::vector<std::uint32_t> commands{};  ///< empty: none, because of `why_not`
  std::vector<std::uint32_t> rest{};      ///< all others that are online
  std::string why_not{};
};

/// CPUs from which the commands' own are chosen.
struct CpuFacts {
  std::vector<std::uint32_t> allowed{};  ///< CPUs that lauka may run on
  std::vector<std::uint32_t> fastest{};  ///< CPUs of the fastest kind; empty: all are alike
};

/// Chooses whole cores of one kind and one node, except the core of the first CPU; with `no_smt`
/// one CPU of each. Refuses CPUs that do not exist, or all of them.
Result<CpuChoice> choose_cpus(os::SettingFiles& files, const TuneRequest& request,
                              const CpuFacts& facts);

/// A setting, as found.
struct Found {
  const Switch* row = nullptr;
  bool asked = false;       ///< true if the setting is a default or was named
  std::string path{};       ///< empty if the machine has no such setting
  std::string now{};        ///< empty if it cannot be read
  std::string wanted{};     ///< empty if it cannot be changed
  std::string why_not{};    ///< reason why the setting cannot be changed; else empty
  bool needs_root = false;  ///< true if missing rights are the reason

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

// The machine is tuned as a transaction. All old values are in a journal before the first one
// changes. Only the process that holds the lock of the journal's folder changes or restores
// settings: lauka, its launcher process if lauka was killed, the next lauka if both were. The
// folder exists only as long as the machine is tuned.

inline constexpr const char* kJournalFolder = "/run/lauka";

/// A setting that is changed.
struct Change {
  const Switch* row = nullptr;
  std::string path{};
  std::string before{};  ///< value as parse_value returns it
  std::string during{};

  bool operator==(const Change&) const = default;
};

/// The contents of the journal.
struct Journal {
  std::string boot{};  ///< id of the boot in which it was written
  int pid = 0;         ///< lauka's
  std::vector<Change> changes{};
  bool is_whole = false;  ///< false if lauka was killed while it wrote it: nothing was changed yet
};

std::string journal_text(const Journal& journal);

/// Reads a journal; nullopt if it has no valid first line. Lines that lauka cannot have written,
/// such as lines with an unknown path, are left out.
std::optional<Journal> parse_journal(std::string_view text);

/// The outcome of restoring, one line each for the user.
struct Restored {
  std::size_t settings = 0;  ///< settings that have their old value again
  std::vector<std::string>
      changed{};  ///< settings that another program changed meanwhile, so they were left alone
  std::vector<std::string> failed{};  ///< could not be restored
};

/// Restores a killed lauka's settings, if it left any; waits up to `patience` for the lock. nullopt
/// if another process holds the lock. Refused with the reason, and the journal stays, if the folder
/// cannot be locked or the journal cannot be read.
Result<std::optional<Restored>> restore_left(os::SettingFiles& files,
                                             std::chrono::milliseconds patience = {});

/// Restores the settings of the process `pid`, which is ending.
void restore_after(os::SettingFiles& files, int pid);

/// Returns the id of the process that tuned the machine; nullopt if there is no journal.
std::optional<int> holder(os::SettingFiles& files);

/// A machine that is tuned until this is destroyed.
class Tuned : NonCopyable {
 public:
  /// Restores leftovers, writes the journal and changes the settings. Refused, without any change,
  /// if another lauka has tuned the machine, or the journal cannot be written.
  static Result<std::unique_ptr<Tuned>> begin(os::SettingFiles& files, const TuneRequest& request,
                                              const CpuChoice& cpus);

  ~Tuned() { restore(); }

  /// Restores all that was changed, the last first; again, it does nothing.
  const Restored& restore();

  /// Restores all settings for a while; the lock and the journal stay, in case lauka is killed.
  void pause();

  /// Tunes again, except settings that another program has changed meanwhile.
  void go_on();

  const Tuning& in_force() const { return in_force_; }

  /// Returns the file by which commands join the group that has CPUs of its own; may be empty.
  const std::string& group() const { return group_; }

  /// Returns what an earlier lauka had left, if anything.
  const std::optional<Restored>& found_left() const { return found_left_; }

 private:
  explicit Tuned(os::SettingFiles& files) : files_(files) {}

  int apply(const Change& change);
  void note(const std::vector<Found>& found);

  os::SettingFiles& files_;
  std::vector<Change> changes_{};
  std::map<std::string, std::string> refused_{};  // why, by path
  std::vector<std::string> not_again_{};  // settings that go_on() could not change, one line each
  Tuning in_force_{};
  std::string group_{};
  std::optional<std::pair<std::string, std::int32_t>> latency_{};  // device and bound that is held
  std::optional<Restored> found_left_{};
  Restored restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
