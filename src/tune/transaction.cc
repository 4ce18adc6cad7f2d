#include "tune/transaction.h"

#include "core/numbers.h"
#include "core/text.h"
#include "tune/switches.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace lauka::tune {

namespace {

// A journal has a line "lauka-tune-1 BOOT PID", a line "PATH\tBEFORE\tTUNED" for each change, and
// the line "end", without which it was not written to its end.
constexpr const char* kJournalFile = "/run/lauka/journal";
constexpr std::string_view kFormatWord = "lauka-tune-1";
constexpr std::string_view kLastLine = "end";

/// How long to wait for the lock of a process that is ending.
constexpr std::chrono::milliseconds kPatience{5000};

std::string read_boot_id(os::SettingFiles& files) {
  return std::string(trimmed(files.read("/proc/sys/kernel/random/boot_id").value_or("")));
}

std::string message_of(int error) {
  return std::generic_category().message(error);
}

/// True if lauka can have made the change in a journal, so that restoring the change writes only
/// such values to such files, whoever wrote the journal.
bool is_possible(const SettingChange& change) {
  if (change.row == nullptr) return false;
  const Form form = change.row->form;
  const auto is_canonical = [&](const std::string& value) {
    return parse_value(form, value) == value;
  };
  if (!is_canonical(change.value_before_tuning) || !is_canonical(change.tuned_value)) return false;
  if (change.value_before_tuning == change.tuned_value) return false;

  const std::string_view wanted = change.row->wanted;
  const bool tunes_as_in_table = wanted.empty() || change.tuned_value == wanted;
  const bool may_have_had_value = form != Form::Group || change.value_before_tuning == "none";
  return tunes_as_in_table && may_have_had_value;
}

/// Returns the value in force; nullopt if it cannot be read. For a group: `tuned_value` if the
/// group exists, even if lauka has not completed it.
std::optional<std::string> read_current_value(os::SettingFiles& files,
                                              const SettingChange& change) {
  if (change.row->form == Form::Group)
    return files.list(change.path).empty() ? change.value_before_tuning : change.tuned_value;
  const auto text = files.read(change.path);
  return text ? parse_value(change.row->form, *text) : std::nullopt;
}

// The functions below that return an int return 0 or errno.

int make_group(os::SettingFiles& files, const SettingChange& change) {
  const std::string& group = change.path;
  if (const int error = files.make_folder(group); error != 0) return error;

  // The value is the kind of the partition and its CPUs: "root 2-3".
  const std::string partition = change.tuned_value.substr(0, change.tuned_value.find(' '));
  const std::string cpus = change.tuned_value.substr(partition.size() + 1);
  int error = files.write(group + "/cpuset.cpus", cpus);
  if (error == 0) error = files.write(group + "/cpuset.cpus.partition", partition);

  // The kernel shows "isolated invalid (...)" if the group cannot have the CPUs for itself.
  const auto state = files.read(group + "/cpuset.cpus.partition");
  if (error == 0 && (!state || trimmed(*state) != partition)) error = EINVAL;
  return error;
}

/// Moves the processes that are left in a group to lauka's own group, because only an empty group
/// can be removed.
int remove_group(os::SettingFiles& files, const std::string& group) {
  // The line of cgroup v2 is "0::" and the path below the mount point; "0::/" is the root.
  constexpr std::string_view v2_prefix = "0::";
  const std::string own_groups =
      files.read(fmt::format("/proc/{}/cgroup", files.own_pid())).value_or("");
  std::string own_group = "/sys/fs/cgroup";
  for (const std::string_view line : split(own_groups, '\n'))
    if (line.starts_with("0::/") && line != "0::/") own_group += line.substr(v2_prefix.size());

  const std::string pids = files.read(group + "/cgroup.procs").value_or("");
  for (const std::string_view pid : split(pids, '\n'))
    if (!pid.empty()) static_cast<void>(files.write(own_group + "/cgroup.procs", pid));
  return files.remove(group);
}

int write_value(os::SettingFiles& files, const SettingChange& change, const std::string& value) {
  if (change.row->form != Form::Group) return files.write(change.path, value);
  return value == change.value_before_tuning ? remove_group(files, change.path)
                                             : make_group(files, change);
}

/// True if the governor of the same CPUs has its value before tuning again.
bool has_old_governor(os::SettingFiles& files, const std::vector<SettingChange>& changes,
                      const SettingChange& energy) {
  return std::ranges::any_of(changes, [&](const SettingChange& change) {
    const std::string folder = change.path.substr(0, change.path.rfind('/') + 1);
    return change.row->name == "governor" && energy.path.starts_with(folder) &&
           read_current_value(files, change) == change.value_before_tuning;
  });
}

/// True if another program has changed the setting since lauka tuned it.
bool was_changed_by_others(os::SettingFiles& files, const std::vector<SettingChange>& changes,
                           const SettingChange& change) {
  const auto current = read_current_value(files, change);
  if (!current || *current == change.value_before_tuning || *current == change.tuned_value)
    return false;

  // The kernel may change an energy preference itself when the governor changes back.
  return !(change.row->name == "energy" && has_old_governor(files, changes, change));
}

/// Returns the changes whose settings another program has changed since.
std::set<const SettingChange*> find_foreign_changes(os::SettingFiles& files,
                                                    const std::vector<SettingChange>& changes) {
  std::set<const SettingChange*> changed_by_others;
  for (const SettingChange& change : changes)
    if (was_changed_by_others(files, changes, change)) changed_by_others.insert(&change);
  return changed_by_others;
}

/// Restores one setting, and adds the result to those of others.
void restore_change(os::SettingFiles& files, const SettingChange& change, RestoreResult& restored) {
  // A controller that another group uses by now cannot be switched off. That is no failure.
  const int error = write_value(files, change, change.value_before_tuning);
  const bool has_failed = error != 0 && change.row->form != Form::Controllers;
  if (has_failed)
    restored.failure_messages.push_back(fmt::format("cannot restore {} to {}: {}", change.path,
                                                    change.value_before_tuning, message_of(error)));
  else
    ++restored.restored_count;
}

/// Gives settings the values that they had before tuning, except those that another program has
/// changed since.
RestoreResult restore_changes(os::SettingFiles& files, const std::vector<SettingChange>& changes) {
  // All settings are checked before the first is restored. When a CPU's governor is restored, the
  // kernel may change the CPU's energy preference. A later check would take this for the change of
  // another program.
  const auto changed_by_others = find_foreign_changes(files, changes);

  // The last change is undone first, because a change may need an earlier one: a control group
  // needs its controller.
  RestoreResult restored;
  for (std::size_t i = changes.size(); i-- > 0;) {
    const SettingChange& change = changes[i];
    const auto current = read_current_value(files, change);
    const bool has_nothing_to_restore = !current || *current == change.value_before_tuning;
    if (has_nothing_to_restore) continue;

    if (changed_by_others.contains(&change))
      restored.foreign_change_messages.push_back(fmt::format(
          "another program changed {} to {}, so lauka did not restore its earlier value, {}",
          change.path, one_line(*current), change.value_before_tuning));
    else
      restore_change(files, change, restored);
  }

  return restored;
}

/// Restores the journal's settings, if the journal is whole and of this boot. Removes the journal's
/// file, unless restoring a setting fails. The lock must be held.
RestoreResult restore_journal(os::SettingFiles& files, const Journal& journal) {
  RestoreResult restored;
  if (journal.is_whole && journal.boot == read_boot_id(files))
    restored = restore_changes(files, journal.changes);
  if (restored.failure_messages.empty()) static_cast<void>(files.remove(kJournalFile));
  return restored;
}

/// Restores what the journal on this machine lists; nullopt if there is no journal. The lock must
/// be held.
Result<std::optional<RestoreResult>> restore_from_journal_file(os::SettingFiles& files) {
  const auto text = files.read_journal(kJournalFile);
  if (!text) return text.error();
  if (!*text) return std::optional<RestoreResult>{};
  const auto journal = parse_journal(**text);
  // Without a complete line, lauka was killed while writing the first line: nothing was changed.
  if (!journal && (*text)->find('\n') != std::string::npos)
    return Error{fmt::format("{} is not a journal of this version of lauka", kJournalFile),
                 "restore by hand what was tuned, then remove this file"};
  return std::optional(restore_journal(files, journal.value_or(Journal{})));
}

/// Locks the journal's folder. Tries again for `patience` while another process has the lock.
int lock_patiently(os::SettingFiles& files, std::chrono::milliseconds patience) {
  // SettingFiles::pause() sleeps for a millisecond, so `patience` counts the tries.
  int error = files.lock(kJournalFolder);
  for (; error == EWOULDBLOCK && patience.count() > 0; --patience) {
    files.pause();
    error = files.lock(kJournalFolder);
  }
  return error;
}

/// Locks the journal's folder, unless another process has the lock. Waits for the lock of
/// `writer_pid`, which has written the journal, only if this process was killed, because its lock
/// may take a moment to go.
int lock_after_writer(os::SettingFiles& files, const std::optional<int>& writer_pid) {
  constexpr std::chrono::milliseconds no_patience{0};
  const bool has_writer_died = writer_pid && !files.is_alive(*writer_pid);
  return lock_patiently(files, has_writer_died ? kPatience : no_patience);
}

/// Returns the error for the errno of making or locking the journal's folder.
Error make_claim_error(int error) {
  // SettingFiles::lock() returns EPERM for a folder that others may write to.
  return {
      fmt::format("--tune cannot keep its journal in {}: {}", kJournalFolder, message_of(error)),
      error == EPERM ? "remove this folder, because users other than root may write to it"
                     : "run lauka as root where /run can be written"};
}

/// Makes and locks the journal's folder, so that only one lauka tunes the machine. Tries again
/// while another process has the lock only for a moment.
Result<void> claim_machine(os::SettingFiles& files) {
  constexpr int max_tries = 100;  // SettingFiles::pause() sleeps for a millisecond
  int error = 0;

  for (int tries = 0; tries < max_tries; ++tries) {
    error = files.make_folder(kJournalFolder);
    const bool has_folder = error == 0 || error == EEXIST;
    if (!has_folder) break;

    const auto writer_pid = journal_writer_pid(files);
    error = lock_after_writer(files, writer_pid);
    if (error == 0) return {};

    const bool is_locked_by_another = error == EWOULDBLOCK;
    const bool is_machine_tuned = is_locked_by_another && writer_pid.has_value();
    if (is_machine_tuned)
      return Error{fmt::format("another lauka (process {}) has tuned this machine", *writer_pid),
                   "wait until it has ended"};

    // Without a journal, the other process keeps the lock only for a moment. It is about to write
    // the journal, or to remove the folder.
    const bool was_folder_removed = error == ENOENT;
    if (!is_locked_by_another && !was_folder_removed) break;
    files.pause();
  }
  return make_claim_error(error);
}

/// Returns the changes that the journal must know. A latency ends when its device is closed, and
/// the commands' CPUs are no file, so neither of them has to be restored.
std::vector<SettingChange> list_changes(const std::vector<SettingState>& settings) {
  std::vector<SettingChange> changes;
  for (const SettingState& setting : settings) {
    const Form form = setting.row->form;
    if (setting.must_be_changed() && form != Form::Latency && form != Form::Affinity)
      changes.push_back({.row = setting.row,
                         .path = setting.path,
                         .value_before_tuning = setting.current_value,
                         .tuned_value = setting.wanted});
  }
  return changes;
}

Result<void> write_journal(os::SettingFiles& files, const std::vector<SettingChange>& changes) {
  const Journal journal{
      .boot = read_boot_id(files), .pid = files.own_pid(), .changes = changes, .is_whole = true};
  const int error = files.append(kJournalFile, journal_text(journal));
  if (error == 0) return {};
  return Error{
      fmt::format("--tune cannot write its journal {}: {}", kJournalFile, message_of(error)),
      "run lauka as root where /run can be written"};
}

/// Reads the first line of a journal, "lauka-tune-1 BOOT PID"; nullopt if it is not valid.
std::optional<Journal> parse_head(std::string_view line) {
  enum HeadWord : std::size_t { FormatWord, Boot, Pid, HeadWordCount };
  const auto head = blank_separated(line);
  if (head.size() != HeadWordCount || head[FormatWord] != kFormatWord) return std::nullopt;
  const auto pid = parse_whole_number(head[Pid], 1, std::numeric_limits<int>::max());
  if (!pid) return std::nullopt;
  return Journal{.boot = std::string(head[Boot]), .pid = static_cast<int>(*pid)};
}

/// Reads a line "PATH\tBEFORE\tTUNED" of a journal; nullopt for the line "end", which has only one
/// field, and for a change that lauka would not make, because somebody else may have written it.
std::optional<SettingChange> parse_change(std::string_view line) {
  enum Field : std::size_t { Path, ValueBefore, TunedValue, FieldCount };
  const auto fields = split(line, '\t');
  if (fields.size() != FieldCount) return std::nullopt;
  SettingChange change{.row = find_switch(fields[Path]),
                       .path = std::string(fields[Path]),
                       .value_before_tuning = std::string(fields[ValueBefore]),
                       .tuned_value = std::string(fields[TunedValue])};
  return is_possible(change) ? std::optional(std::move(change)) : std::nullopt;
}

/// Appends a value to a list such as "powersave; ondemand", unless the list has it.
void add_distinct_value(std::string& values, const std::string& value) {
  if (values.empty()) {
    values = value;
    return;
  }
  const bool is_listed = std::ranges::any_of(
      split(values, ';'), [&](std::string_view text) { return trimmed(text) == value; });
  if (!is_listed) values += "; " + value;
}

}  // namespace

std::string journal_text(const Journal& journal) {
  std::string text = fmt::format("{} {} {}\n", kFormatWord, journal.boot, journal.pid);
  for (const SettingChange& change : journal.changes)
    text +=
        fmt::format("{}\t{}\t{}\n", change.path, change.value_before_tuning, change.tuned_value);
  return text + std::string(kLastLine) + "\n";
}

// A journal lists the settings that lauka changes, so that they can be restored. Without its last
// line, "end", lauka was killed while it wrote.
std::optional<Journal> parse_journal(std::string_view text) {
  // What follows the last line break is empty, unless the last line was not written to its end.
  auto lines = split(text, '\n');
  const std::string_view unfinished_line = lines.back();
  lines.pop_back();
  if (lines.empty()) return std::nullopt;

  auto journal = parse_head(lines.front());
  if (!journal) return std::nullopt;
  journal->is_whole = unfinished_line.empty() && lines.back() == kLastLine;
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (auto change = parse_change(lines[i])) journal->changes.push_back(*std::move(change));
  return journal;
}

std::optional<int> journal_writer_pid(os::SettingFiles& files) {
  const auto journal = parse_journal(files.read(kJournalFile).value_or(""));
  return journal ? std::optional(journal->pid) : std::nullopt;
}

Result<std::optional<RestoreResult>> restore_leftover_settings(os::SettingFiles& files,
                                                               std::chrono::milliseconds patience) {
  const int error = lock_patiently(files, patience);
  if (error == EWOULDBLOCK) return std::optional<RestoreResult>{};
  if (error == ENOENT) return std::optional(RestoreResult{});
  if (error != 0)
    return Error{
        fmt::format("cannot lock {}: {}", kJournalFolder,
                    error == EPERM ? "it belongs to another user, or others may write to it"
                                   : message_of(error)),
        fmt::format("restore by hand what was tuned, then remove {}", kJournalFolder)};
  auto restored = restore_from_journal_file(files);
  static_cast<void>(files.remove(kJournalFolder));  // fails if the journal is still in it
  files.unlock();
  if (!restored) return restored.error();
  return std::optional(restored->value_or(RestoreResult{}));
}

void restore_if_written_by(os::SettingFiles& files, int pid) {
  if (journal_writer_pid(files) == pid)
    static_cast<void>(restore_leftover_settings(files, kPatience));
}

// Changes settings of the machine that make times vary, such as the CPUs' clock. The session
// restores them at its end. If lauka is killed before, a later lauka restores them with the
// journal's help.
Result<std::unique_ptr<TuningSession>> TuningSession::begin(os::SettingFiles& files,
                                                            const TuneRequest& request,
                                                            const CpuChoice& cpus) {
  if (auto claimed = claim_machine(files); !claimed) return claimed.error();
  std::unique_ptr<TuningSession> session(new TuningSession(files));

  // What a killed lauka has left must not pass for the values before tuning, so it is restored
  // first. If this fails, the old journal must stay, which the destructor would remove otherwise.
  if (auto restored = session->restore_leftovers(); !restored) {
    session->unlock_without_restoring();
    return restored.error();
  }

  const std::vector<SettingState> settings = find_settings(files, request, cpus);
  session->changes_ = list_changes(settings);

  // The journal is written before the first change, so that a later lauka can restore what was
  // changed. After an error, the destructor of the session unlocks the machine.
  if (auto written = write_journal(files, session->changes_); !written) return written.error();
  session->change_settings();
  session->in_force_.cpus = cpus.command_cpus;
  session->hold_latency_and_note_switches(settings);
  return session;
}

/// Restores what an earlier lauka has left. The error says what cannot be restored.
Result<void> TuningSession::restore_leftovers() {
  auto leftovers = restore_from_journal_file(files_);
  if (!leftovers) return leftovers.error();

  const bool had_journal = leftovers->has_value();
  if (had_journal && !(*leftovers)->failure_messages.empty())
    return Error{"what an earlier lauka changed cannot be restored: " +
                     (*leftovers)->failure_messages.front(),
                 fmt::format("restore this by hand, then remove {}", kJournalFolder)};

  leftovers_restored_ = *std::move(leftovers);
  return {};
}

/// A setting that the kernel refuses does not prevent the others. The user learns of it later.
void TuningSession::change_settings() {
  for (const SettingChange& change : changes_)
    if (const int error = change_setting(change); error != 0)
      refused_[change.path] = fmt::format("{}: {}", change.path, message_of(error));
}

/// Unlocks the machine, so that another lauka may tune it. This session has nothing to restore.
void TuningSession::unlock_without_restoring() {
  is_over_ = true;
  files_.unlock();
}

/// Changes a setting. If the kernel refuses or alters the new value, restores the old value.
/// Returns 0 or errno.
int TuningSession::change_setting(const SettingChange& change) {
  int error = write_value(files_, change, change.tuned_value);
  if (error == 0 && read_current_value(files_, change) != change.tuned_value) error = EINVAL;
  if (error == 0) {
    if (change.row->form == Form::Group) own_cpus_group_file_ = change.path + "/cgroup.procs";
    return 0;
  }

  const auto current = read_current_value(files_, change);
  if (current && *current != change.value_before_tuning)
    static_cast<void>(write_value(files_, change, change.value_before_tuning));
  return error;
}

void TuningSession::pause() {
  files_.release_latency();
  own_cpus_group_file_.clear();
  static_cast<void>(restore_changes(files_, changes_));
}

void TuningSession::go_on() {
  for (const SettingChange& change : changes_) {
    if (read_current_value(files_, change) != change.value_before_tuning) continue;
    const int error = change_setting(change);
    if (error == 0 || refused_.contains(change.path)) continue;

    // A session may pause several times, but lists a failure once.
    std::string note = fmt::format("cannot tune {} again: {}", change.path, message_of(error));
    if (std::ranges::find(retuning_failure_messages_, note) == retuning_failure_messages_.end())
      retuning_failure_messages_.push_back(std::move(note));
  }
  if (latency_) static_cast<void>(files_.hold_latency(latency_->first, latency_->second));
}

/// Bounds the latency with the device of a setting. Returns 0 or errno.
int TuningSession::hold_latency(const SettingState& setting) {
  const std::uint64_t microseconds = parse_number(setting.wanted).value_or(0);
  latency_ = {setting.path, static_cast<std::int32_t>(microseconds)};
  return files_.hold_latency(setting.path, latency_->second);
}

/// A switch may have many settings, such as one for each CPU, but only the first reason is noted.
void TuningSession::note_untuned(const std::string& switch_name, const std::string& why_not) {
  auto& untuned = in_force_.not_possible;
  const bool is_noted =
      std::ranges::find(untuned, switch_name, &UntunedSwitch::name) != untuned.end();
  if (!is_noted) untuned.push_back({switch_name, why_not});
}

/// A switch is noted once, with all different values before and during tuning.
void TuningSession::note_tuned(const std::string& switch_name, const SettingState& setting) {
  auto& tuned = in_force_.switched;
  auto note = std::ranges::find(tuned, switch_name, &TunedSwitch::name);
  if (note == tuned.end()) note = tuned.insert(tuned.end(), {switch_name});
  add_distinct_value(note->before, setting.current_value);
  add_distinct_value(note->during, setting.wanted);
  ++note->files;
}

/// Bounds the latency if the user asked for it. Then notes in `in_force_`, which the report shows,
/// which switches were tuned, and which could not be tuned.
void TuningSession::hold_latency_and_note_switches(const std::vector<SettingState>& settings) {
  for (const SettingState& setting : settings) {
    if (!setting.is_requested) continue;
    const bool can_be_tuned = !setting.wanted.empty();

    // Switching on a controller of control groups only prepares another setting, so it is not
    // noted.
    if (setting.row->form == Form::Controllers && can_be_tuned) continue;

    // Some reasons are known from the look at the setting, others only from the attempt to change
    // it.
    std::string why_not_tuned = setting.why_not;
    if (setting.row->form == Form::Latency && can_be_tuned) {
      const int error = hold_latency(setting);
      if (error != 0) why_not_tuned = message_of(error);
    }
    const auto refusal = refused_.find(setting.path);
    if (refusal != refused_.end()) why_not_tuned = refusal->second;

    const std::string switch_name(setting.row->name);
    if (why_not_tuned.empty())
      note_tuned(switch_name, setting);
    else
      note_untuned(switch_name, why_not_tuned);
  }
}

const RestoreResult& TuningSession::restore() {
  if (std::exchange(is_over_, true)) return restored_;
  files_.release_latency();
  const Journal journal{.boot = read_boot_id(files_), .changes = changes_, .is_whole = true};
  restored_ = restore_journal(files_, journal);
  std::ranges::copy(retuning_failure_messages_,
                    std::back_inserter(restored_.foreign_change_messages));
  static_cast<void>(files_.remove(kJournalFolder));  // fails if the journal is still in it
  files_.unlock();
  return restored_;
}

}  // namespace lauka::tune
