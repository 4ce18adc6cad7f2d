#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/setting_files.h"
#include "tune/switches.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The machine is tuned as a transaction. All old values are in a journal on the disk, or in the
// memory of /run, before the first one changes. Only the process that holds the lock of the
// journal's folder changes or restores settings: lauka at the end of its session, its launcher
// process if lauka was killed, the next lauka if both were. The folder exists only as long as the
// machine is tuned, so any other lauka only has to check whether it exists.

namespace lauka::tune {

inline constexpr const char* kJournalFolder = "/run/lauka";

/// A setting that is changed.
struct Change {
  const Switch* row = nullptr;
  std::string path{};
  std::string before{};  ///< as value_of returns it, as the next
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
  std::size_t settings = 0;            ///< that have their old value again
  std::vector<std::string> changed{};  ///< by another program meanwhile, so they were left alone
  std::vector<std::string> failed{};   ///< could not be restored
};

/// Restores a killed lauka's settings; nullopt if there are none, or a running lauka holds them.
/// Waits up to `patience` for the lock.
std::optional<Restored> restore_left(os::SettingFiles& files,
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

  /// Restores all settings for a while. The lock and the journal are kept, so that a lauka that
  /// restores after a kill finds the old values.
  void pause();

  /// Tunes again, except settings that another program has changed meanwhile.
  void go_on();

  /// Returns the settings in force.
  const Tuning& in_force() const { return in_force_; }

  /// File by which commands join the group that has CPUs of its own; empty if missing.
  const std::string& group() const { return group_; }

  /// Returns the settings that an earlier lauka had left, if any.
  const std::optional<Restored>& found_left() const { return found_left_; }

 private:
  explicit Tuned(os::SettingFiles& files) : files_(files) {}

  int apply(const Change& change);
  void note(const std::vector<Found>& found);

  os::SettingFiles& files_;
  std::vector<Change> changes_{};
  std::vector<UntunedSwitch> refused_{};
  std::vector<std::string> not_again_{};  // settings that go_on() could not change, one line each
  Tuning in_force_{};
  std::string group_{};
  std::optional<std::pair<std::string, std::int32_t>> latency_{};  // device and bound that is held
  std::optional<Restored> found_left_{};
  Restored restored_{};
  bool is_over_ = false;
};

}  // namespace lauka::tune
