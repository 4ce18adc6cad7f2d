#include "app/tuning.h"

#include "app/call.h"
#include "app/deliver.h"
#include "app/inquiries.h"
#include "app/prepare.h"
#include "core/machine.h"
#include "core/text.h"
#include "os/linux_calls.h"
#include "os/users.h"
#include "report/lines.h"
#include "results/analyse.h"
#include "tune/switches.h"
#include "tune/transaction.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

os::SettingFiles* open_settings(Call& call) {
  if (!call.settings) call.settings = os::open_setting_files();
  return call.settings.get();
}

tune::CpuFacts read_cpu_facts(const CountingOptions& options) {
  const os::LinuxCalls& calls = *os::linux_calls();
  tune::CpuFacts facts{.allowed = calls.allowed_cpus()};
  const CoreKinds kinds =
      options.core_kinds.empty() ? cores::detect_linux_kinds(calls).kinds : options.core_kinds;
  if (kinds.size() > 1)
    facts.preferred_kind_cpus = options.core_preference == CorePreference::Efficiency
                                    ? kinds.back().cpus
                                    : kinds.front().cpus;
  return facts;
}

std::vector<std::string> list_restore_messages(const tune::RestoreResult& restored) {
  std::vector<std::string> lines = restored.failure_messages;
  lines.insert(lines.end(), restored.foreign_change_messages.begin(),
               restored.foreign_change_messages.end());
  return lines;
}

void say_what_needs_root(Call& call) {
  std::vector<std::string> more;
  for (const tune::SettingState& setting :
       tune::find_settings(*call.settings, *call.options.run.tune, call.tune_cpus))
    if (setting.is_requested && setting.needs_root &&
        std::ranges::find(more, setting.row->name) == more.end())
      more.emplace_back(setting.row->name);
  std::string note = "--tune needs root's rights, so ";
  note += call.tune_cpus.command_cpus.empty()
              ? std::string("nothing is changed")
              : fmt::format("the commands get their own CPUs ({}), but nothing else is changed",
                            cpu_list_text(call.tune_cpus.command_cpus));
  if (!more.empty()) note += fmt::format("; with sudo, it would also change {}", listed(more));
  say_notes(call, {note});
}

void pause_tuning(Call& call) {
  call.launcher->ignore_program_cpus();
  if (!call.tuning_session) return;
  std::vector<std::uint32_t> all = call.tune_cpus.command_cpus;
  all.insert(all.end(), call.tune_cpus.other_cpus.begin(), call.tune_cpus.other_cpus.end());
  if (!call.tune_cpus.command_cpus.empty()) os::linux_calls()->run_on(all);
  call.tuning_session->pause();
}

void resume_tuning(Call& call) {
  if (call.tuning_session) {
    if (!call.tune_cpus.command_cpus.empty()) os::linux_calls()->run_on(call.tune_cpus.other_cpus);
    call.tuning_session->go_on();
  }
  call.launcher->use_program_cpus(call.tuning_session ? call.tuning_session->own_cpus_group_file()
                                                      : "");
}

class TunedByCall final : public TunedMachine {
 public:
  explicit TunedByCall(Call& call)
      : call_(call), latest_throttles_(call.tuning->before.throttles) {}

  bool watches_throttling() const override { return call_.tuning->before.throttles.has_value(); }
  bool was_throttled() override {
    if (!watches_throttling()) return false;
    const auto now = tune::read_vitals(*call_.settings, call_.tuning->cpus).throttles;
    return std::exchange(latest_throttles_, now) != now;
  }

  bool compares_tuning() const override {
    return call_.options.run.tune->compares &&
           std::ranges::any_of(call_.tuning->switched,
                               [](const auto& entry) { return entry.before != entry.during; });
  }
  void tune(bool on) override { on ? resume_tuning(call_) : pause_tuning(call_); }

 private:
  Call& call_;
  std::optional<std::uint64_t> latest_throttles_;
};

/// Does for --tune what is possible on macOS, where programs cannot change settings: unless the
/// user chose cores, makes the commands prefer the performance cores.
Result<void> prefer_performance_cores(const TuneRequest& request, Call& call) {
  if (request.compares)
    return Error{
        "--tune=compare has nothing to compare on macOS, where programs cannot change these "
        "settings",
        "use --tune"};
  if (call.options.counting.core_preference == CorePreference::Any)
    for (Benchmark& benchmark : call.benchmarks)
      benchmark.options.counting.core_preference = CorePreference::Performance;
  say_notes(call, {"--tune can only make the commands prefer the performance cores on macOS, as "
                   "--cores p does"});
  return {};
}

/// Refuses to compare tuned with untuned runs if --cores chooses CPUs, which a suite can do for
/// each benchmark.
Result<void> check_no_benchmark_has_cores(const std::vector<Benchmark>& benchmarks) {
  for (const Benchmark& benchmark : benchmarks)
    if (benchmark.options.counting.core_preference != CorePreference::Any)
      return with_benchmark_name(
          {"--tune=compare cannot be combined with --cores, because untuned runs may use any CPU",
           "leave one of them out"},
          benchmark);
  return {};
}

/// Returns the error that another process holds the lock of the journal of tuned settings.
Error make_locked_error(os::SettingFiles& files) {
  const std::optional<int> writer_pid = tune::journal_writer_pid(files);
  const bool is_measuring = writer_pid && files.is_alive(*writer_pid);
  const std::string what =
      is_measuring ? fmt::format("another lauka (process {}) is measuring with --tune", *writer_pid)
                   : fmt::format("another process has locked {}", tune::kJournalFolder);
  return {what, "wait until it has ended, or end it"};
}

/// Prints what was tuned, and what was restored before, because a killed lauka had left it tuned.
void say_what_was_tuned(const Call& call) {
  std::vector<std::string> changed_switches;
  for (const TunedSwitch& entry : call.tuning->switched)
    if (entry.before != entry.during) changed_switches.push_back(entry.name);

  std::vector<std::string> notes;
  const auto& leftovers = call.tuning_session->leftovers_restored();
  if (leftovers) notes = list_restore_messages(*leftovers);

  if (changed_switches.empty())
    notes.emplace_back("--tune found no setting that it can change here");
  else
    notes.push_back(
        fmt::format("this machine is tuned for the session: {}", listed(changed_switches)));
  say_notes(call, notes);
}

void say_what_was_restored(const Call& call, const tune::RestoreResult& restored) {
  std::vector<std::string> notes = list_restore_messages(restored);
  if (restored.restored_count > 0)
    notes.push_back(
        fmt::format("lauka restored {} that an earlier lauka had tuned before it was killed",
                    plural(restored.restored_count, "setting")));
  say_notes(call, notes);
}

/// Returns the settings if the folder of their journal exists, which it does while the machine is
/// tuned; null if not, and on macOS.
os::SettingFiles* open_tuned_settings(Call& call) {
  std::error_code ignored;  // a folder that cannot be read counts as missing
  const auto folder = std::filesystem::symlink_status(tune::kJournalFolder, ignored);
  return std::filesystem::exists(folder) ? open_settings(call) : nullptr;
}

/// Prints what --untune has restored. Returns the exit status.
int show_restored(const Call& call, const tune::RestoreResult& restored) {
  // Settings that another program has changed since are left alone. One failure is enough to tell
  // the user what to do.
  say_notes(call, restored.foreign_change_messages);
  if (!restored.failure_messages.empty())
    return print_error({restored.failure_messages.front(),
                        fmt::format("restore this by hand, then remove {}", tune::kJournalFolder)},
                       ExitStatus::Failed);

  return show(plural(restored.restored_count, "setting") + " restored\n");
}

/// Prints how to restore the settings of a killed lauka. A lauka that is still running restores
/// them itself.
void say_how_to_restore(const Call& call, os::SettingFiles& files) {
  const std::optional<int> writer_pid = tune::journal_writer_pid(files);
  const bool has_writer_died = writer_pid && !files.is_alive(*writer_pid);
  if (has_writer_died)
    say_notes(call, {"an earlier lauka was killed and left this machine tuned; run sudo lauka "
                     "--untune to undo this"});
}

/// Keeps the commands on their CPUs, which lauka can do without root. This is listed as a tuned
/// switch.
void begin_tuning_without_root(Call& call) {
  const std::vector<std::uint32_t>& command_cpus = call.tune_cpus.command_cpus;
  say_what_needs_root(call);
  call.tuning = Tuning{.cpus = command_cpus};
  if (!command_cpus.empty())
    call.tuning->switched = {
        {.name = "cpus", .before = "any", .during = cpu_list_text(command_cpus), .files = 1}};
  call.tuning->before = tune::read_vitals(*call.settings, command_cpus);
}

/// Returns what to tune. Two switches are turned off where they would conflict with a measurement,
/// whatever the user chose.
TuneRequest choose_switches(const Call& call) {
  TuneRequest request = *call.options.run.tune;

  // A run whose memory is measured already has a control group of its own.
  if (call.groups) request.choices.push_back({.name = "partition", .on = false});

  // This switch throttles the profilers of other programs, and would throttle --profile as well.
  const bool is_profiled = std::ranges::any_of(call.benchmarks, [](const Benchmark& benchmark) {
    return benchmark.options.counting.profiling_period.has_value();
  });
  if (is_profiled) request.choices.push_back({.name = "perf-rate", .on = false});
  return request;
}

/// Tunes the machine for the session, and sets Call::tuning.
Result<void> begin_tuning_as_root(Call& call) {
  // The session restores the settings when it is destroyed, or end_tuning() does before.
  auto session = tune::TuningSession::begin(*call.settings, choose_switches(call), call.tune_cpus);
  if (!session) return session.error();
  call.tuning_session = *std::move(session);
  call.tuning = call.tuning_session->in_force();

  // Vitals are temperature, throttling and the like, for comparison with those after the session.
  call.tuning->before = tune::read_vitals(*call.settings, call.tuning->cpus);

  // Commands run on the tuned CPUs, and lauka on the others, so that it does not disturb them.
  call.launcher->use_program_cpus(call.tuning_session->own_cpus_group_file());
  if (!call.tune_cpus.command_cpus.empty()) os::linux_calls()->run_on(call.tune_cpus.other_cpus);

  say_what_was_tuned(call);
  return {};
}

}  // namespace

void restore_after_lauka(int lauka) {
  if (!os::is_there(tune::kJournalFolder)) return;
  if (const auto files = os::open_setting_files()) tune::restore_if_written_by(*files, lauka);
}

// Before lauka tunes the machine, it writes the old values of the settings to a journal, and it
// removes the journal's folder when they are restored. So a folder tells of a lauka that is still
// running, or that was killed.
void restore_leftovers(Call& call) {
  if (!os::is_there(tune::kJournalFolder)) return;
  os::SettingFiles* const files = open_settings(call);
  const bool is_macos = files == nullptr;
  if (is_macos) return;  // there, lauka changes no settings of the machine

  const Result<std::optional<tune::RestoreResult>> attempt =
      tune::restore_leftover_settings(*files);
  const bool has_failed = !attempt;
  if (!has_failed && attempt->has_value()) {
    say_what_was_restored(call, **attempt);
  } else if (has_failed && os::has_root_rights()) {
    say_notes(call, {attempt.error().line()});
  } else {
    // Nothing was restored: this user may not do it, or another process holds the journal's lock.
    say_how_to_restore(call, *files);
  }
}

// Answers --untune: restores the settings that a killed lauka left tuned.
int untune(Call& call) {
  os::SettingFiles* const files = open_tuned_settings(call);
  if (files == nullptr) return show("nothing is tuned, so nothing was restored\n");

  if (!os::has_root_rights())
    return print_error({"only root can restore what was tuned", "run sudo lauka --untune"},
                       ExitStatus::Failed);

  const Result<std::optional<tune::RestoreResult>> attempt =
      tune::restore_leftover_settings(*files);
  if (!attempt) return print_error(attempt.error(), ExitStatus::Failed);
  const std::optional<tune::RestoreResult>& restored_or_locked = *attempt;
  if (!restored_or_locked) return print_error(make_locked_error(*files), ExitStatus::Failed);
  return show_restored(call, *restored_or_locked);
}

int list_tuning(Call& call) {
  os::SettingFiles* const files = open_settings(call);
  if (files == nullptr)
    return print_error(
        {"--tune cannot change any setting on macOS", "use --cores p to prefer the fast cores"},
        ExitStatus::Failed);
  const TuneRequest& request = *call.options.run.tune;
  if (auto known = tune::check_names(request); !known)
    return print_error(known.error(), ExitStatus::Usage);
  const auto cpus = tune::choose_cpus(*files, request, read_cpu_facts(call.options.counting));
  if (!cpus) return print_error(cpus.error(), ExitStatus::Usage);
  return show(tune::list_text(tune::find_settings(*files, request, *cpus), *cpus));
}

std::vector<std::string> tunable_settings() {
  const auto files = os::open_setting_files();
  if (!files) return {};
  const auto cpus = tune::choose_cpus(*files, {}, read_cpu_facts({}));
  std::vector<std::string> names;
  for (const tune::SettingState& setting : tune::find_settings(*files, {}, *cpus)) {
    const std::string name(setting.row->name);
    const bool helps = setting.must_be_changed() || setting.needs_root ||
                       (!setting.is_requested && !setting.wanted.empty() &&
                        setting.current_value != setting.wanted);
    if (helps && !setting.path.empty()) names.push_back(setting.is_requested ? name : "+" + name);
  }
  return names;
}

// --tune changes settings of the machine that disturb measurements, such as the CPU frequency's
// governor. --tune=compare also measures untuned runs, and compares both.
Result<void> choose_tuning(Call& call) {
  if (!call.options.run.tune) return {};
  const TuneRequest& request = *call.options.run.tune;

  os::SettingFiles* const files = open_settings(call);
  const bool is_macos = files == nullptr;
  if (is_macos) return prefer_performance_cores(request, call);

  if (auto known = tune::check_names(request); !known) return known;

  if (request.compares)
    if (auto fits = check_no_benchmark_has_cores(call.benchmarks); !fits) return fits;

  auto cpus = tune::choose_cpus(*files, request, read_cpu_facts(call.options.counting));
  if (!cpus) return cpus.error();
  call.tune_cpus = *std::move(cpus);
  return {};
}

void use_tuned_cpus(const Call& call, Benchmark& benchmark) {
  const auto& own = call.tune_cpus.command_cpus;
  auto& cpus = benchmark.cores.core_plan.command_cpus;
  if (own.empty()) return;
  const auto both = common_cpus(own, cpus);
  if (cpus.empty()) cpus = own;
  if (!both.empty()) cpus = both;
}

Result<void> begin_tuning(Call& call) {
  const bool has_settings = call.settings != nullptr;  // false on macOS
  if (!call.options.run.tune || !has_settings) return {};
  if (os::has_root_rights()) return begin_tuning_as_root(call);
  begin_tuning_without_root(call);
  return {};
}

std::unique_ptr<TunedMachine> tuned_machine(Call& call) {
  return call.tuning ? std::make_unique<TunedByCall>(call) : nullptr;
}

void compare_tuned_with_untuned_runs(Call& call) {
  if (!call.tuning) return;
  auto& compared = call.tuning->compare;
  for (const Benchmark& benchmark : call.benchmarks)
    for (TunedComparison& of_command :
         compare_tuned(benchmark.plan, benchmark.session_result.session)) {
      of_command.benchmark = benchmark.name;
      compared.push_back(std::move(of_command));
    }
  if (!compared.empty()) say_notes(call, {report::tuning_line(compared)});
}

void end_tuning(Call& call) {
  if (call.tuning) call.tuning->after = tune::read_vitals(*call.settings, call.tuning->cpus);
  if (!call.tuning_session) return;
  call.launcher->use_program_cpus("");
  say_notes(call, list_restore_messages(call.tuning_session->restore()));
  call.tuning_session.reset();
}

}  // namespace lauka
