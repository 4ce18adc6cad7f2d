#include "run/programs.h"

#include "os/files.h"
#include "os/program_files.h"
#include "plan/command_layouts.h"
#include "plan/make_commands.h"
#include "run/output.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace lauka {
namespace {

// A simulator is slower than the processor, so a run in it has this multiple of --timeout.
constexpr std::int64_t kSlowdownAllowed = 100;

os::ProgramSpec put_into_simulator(os::ProgramSpec spec, const engine::ArmedPass& counting) {
  spec.words = counting.launched_as(spec.words);
  if (spec.timeout) {
    const auto limit = std::chrono::nanoseconds::max() / kSlowdownAllowed;
    spec.timeout = std::min(*spec.timeout, limit) * kSlowdownAllowed;
  }
  return spec;
}

os::ProgramSpec make_hook(const HookRow& row, const Command& command,
                          const std::optional<User>& user) {
  os::ProgramSpec spec;
  spec.words = {kSystemShell, "-c", *command.hooks[row.kind]};
  const bool inherits = command.output.kind == OutputKind::Inherit;
  spec.output.sink = inherits ? OutputKind::Inherit : OutputKind::Capture;
  spec.environment_changes = command.environment;
  spec.folder = command.folder;
  if (row.is_of_a_run()) spec.launch_variable = "LAUKA_ITERATION";
  spec.user = user;
  return spec;
}

/// Returns LAUKA_ITERATION: "3" in a timed run, "warmup-3" in a warm-up run.
std::string write_iteration(const Step& step) {
  // In the order of RoundKind.
  constexpr std::array<std::string_view, 6> prefixes = {"warmup-",    "",          "counting-",
                                                        "simulated-", "settling-", "untuned-"};
  return std::string(prefixes.at(static_cast<std::size_t>(step.kind))) + std::to_string(step.round);
}

/// True if a hook does something else in each layout, and so must run in each of them.
bool depends_on_layout(const Command& command, const HookRow& row) {
  return mentions_layout(*command.hooks[row.kind]) || mentions_layout(command.folder) ||
         std::ranges::any_of(command.environment, mentions_layout);
}

/// True if a setup or prepare hook might make the program of a command.
bool may_be_made_later(const Command& command) {
  return std::ranges::any_of(kHookKinds, [&](const HookRow& row) {
    return !row.follows_runs() && command.hooks[row.kind].has_value();
  });
}

// How long the start of a shell or program is measured.
constexpr std::size_t kMinStarts = 10;
constexpr std::size_t kMaxStarts = 200;
constexpr std::size_t kStartsPerBatch = 10;
constexpr std::chrono::nanoseconds kEnoughTime = std::chrono::milliseconds(500);

/// True if the shell takes equally long to start for two commands.
bool do_shells_start_alike(const Command& a, const Command& b) {
  return a.environment == b.environment && a.output == b.output && a.folder == b.folder;
}

/// Returns the median of wall times, and the means of CPU times. There must be a run.
ShellOverhead summarize_starts(std::vector<Usage> runs) {
  ShellOverhead overhead;
  for (const Usage& run : runs) {
    overhead.user_ns += run.user_ns;
    overhead.system_ns += run.system_ns;
  }
  overhead.user_ns /= runs.size();
  overhead.system_ns /= runs.size();
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [](const Usage& a, const Usage& b) { return a.wall_ns < b.wall_ns; });
  overhead.wall_ns = middle->wall_ns;
  return overhead;
}

Error make_shell_start_error(const os::ProgramSpec& spec, std::string_view why,
                             std::string remedy) {
  return {"the start of the shell cannot be measured: '" + spec.words.front() + "' " +
              std::string(why) + " with an empty command",
          std::move(remedy)};
}

bool wants_terminal(const Outcome& outcome) {
  const auto* stopped = std::get_if<Stopped>(&outcome);
  return stopped != nullptr && (stopped->signal == SIGTTIN || stopped->signal == SIGTTOU);
}

/// Returns why a shell that was started with an empty command cannot be measured; nullopt if it has
/// succeeded.
std::optional<Error> find_start_failure(const os::ProgramSpec& spec, const Outcome& outcome) {
  if (std::holds_alternative<TimedOut>(outcome))
    return make_shell_start_error(spec, "took longer than --timeout", "raise --timeout, or use -N");
  if (wants_terminal(outcome))
    return make_shell_start_error(spec, "was stopped because it tried to use the terminal",
                                  "write --shell 'setsid -w " + spec.words.front() + " ...'");
  if (!succeeded(outcome))
    return make_shell_start_error(spec, "failed", "check that it accepts -c, or use -N");
  return std::nullopt;
}

/// Runs a batch of starts, and returns how they ended; nullopt if the user interrupts, and an error
/// if one fails.
Result<std::optional<std::vector<os::Ended>>> run_starts(const os::ProgramSpec& spec,
                                                         os::Launcher& launcher,
                                                         std::span<const os::Launch> launches,
                                                         const std::function<int()>& interrupt) {
  using Batch = std::optional<std::vector<os::Ended>>;
  auto batch = launcher.run(launches, os::AfterFailure::Stop, {});
  if (!batch) return batch.error();
  if (interrupt() != 0) return Batch();

  for (const os::Ended& ended : *batch) {
    const bool is_interrupted = std::holds_alternative<Cancelled>(ended.outcome);
    if (is_interrupted) return Batch();
    if (auto failure = find_start_failure(spec, ended.outcome)) return *std::move(failure);
  }
  return Batch(*std::move(batch));
}

/// The starts of a program that were measured so far.
struct MeasuredStarts {
  std::vector<Usage> runs{};
  std::chrono::nanoseconds spent{};

  bool are_enough(std::size_t max_starts) const {
    return runs.size() >= kMinStarts && (runs.size() >= max_starts || spent >= kEnoughTime);
  }
};

/// Runs a program that does nothing but start, until there are enough runs. Returns the usage of
/// each run but the first; an empty list if the user interrupts.
Result<std::vector<Usage>> measure_starts(const os::ProgramSpec& spec, os::Launcher& launcher,
                                          const std::function<int()>& interrupt,
                                          std::size_t max_starts = kMaxStarts) {
  const auto program = launcher.add_program(spec);
  if (!program) return program.error();

  // Several starts at a time cost less, but a pipe is read for one run at a time.
  const std::size_t batch_size = spec.output.sink == OutputKind::Pipe ? 1 : kStartsPerBatch;

  // The first batch is a single start, which only brings the program into the caches.
  bool is_warmup = true;
  std::vector<os::Launch> launches = {os::Launch{.program = *program}};

  MeasuredStarts starts;
  while (!starts.are_enough(max_starts)) {
    const auto batch_unless_interrupted = run_starts(spec, launcher, launches, interrupt);
    if (!batch_unless_interrupted) return batch_unless_interrupted.error();
    const bool is_interrupted = !batch_unless_interrupted->has_value();
    if (is_interrupted) return std::vector<Usage>{};

    const std::vector<os::Ended>& batch = **batch_unless_interrupted;
    for (const os::Ended& ended : batch) {
      if (!is_warmup) starts.runs.push_back(ended.usage);
      starts.spent += ended.time_with_preparation;
    }

    is_warmup = false;
    launches.assign(batch_size, os::Launch{.program = *program});
  }
  return std::move(starts.runs);
}

/// Returns the index of the first command for which the shell starts as for `command`.
std::size_t find_first_alike(const Plan& plan, std::size_t command) {
  return *find_place_if(plan.commands, [&](const Command& other) {
    return do_shells_start_alike(other, plan.commands[command]);
  });
}

/// Returns the shell of the plan, which must have one, with an empty command.
os::ProgramSpec make_shell_start(const Plan& plan, std::size_t command,
                                 const std::optional<User>& user) {
  Command empty_command = *command_in_layout(plan, command, 0);
  empty_command.words = plan.shell->words;
  empty_command.words.insert(empty_command.words.end(), {"-c", ""});
  os::ProgramSpec spec = make_program(plan, empty_command, user);
  spec.output.has_listener = false;  // an empty command writes nothing to wait for
  return spec;
}

}  // namespace

os::ProgramSpec make_program(const Plan& plan, const Command& command,
                             const std::optional<User>& user) {
  os::ProgramSpec spec;
  spec.words = command.words;
  if (!command.input.empty()) spec.input_path = command.input;
  spec.output = {command.output.kind, command.output.path, has_scraped_metrics(plan),
                 plan.setting.until.has_value()};
  spec.timeout = plan.timeout;
  spec.cpus = plan.cores.command_cpus;
  spec.prefer = plan.cores.prefer;
  spec.environment_changes = command.environment;
  spec.folder = command.folder;
  spec.jobs = plan.setting.jobs;
  spec.jobs_outlive_failure = plan.ignore_failure.has_value();
  spec.user = user;
  return spec;
}

std::optional<std::size_t> find_command_without_program(const Plan& plan,
                                                        const std::optional<User>& user) {
  if (plan.shell) return std::nullopt;
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    if (may_be_made_later(plan.commands[c])) continue;
    if (!os::find_program(make_program(plan, *command_in_layout(plan, c, 0), user))) return c;
  }
  return std::nullopt;
}

/// Returns the error about a missing program, with the remedy that fits the command line.
Error Programs::advise_on_missing_program(Error error, std::size_t command) const {
  const Command& wanted = plan_.commands[command];
  const std::string file = path_seen_from(wanted.folder, wanted.text);
  if (!plan_.shell && wanted.words.size() > 1 && os::is_regular_file(file))
    return {std::move(error.what),
            fmt::format("the file {} exists, so quote its name inside the command, as in \"'{}'\"",
                        cited(wanted.text), one_line(wanted.text))};
  return add_suggestion(std::move(error), plan_, command);
}

Result<void> Programs::prepare() {
  // The command without a simulator, and in each simulated pass.
  std::vector<std::optional<std::size_t>> simulated_by = {std::nullopt};
  for (std::size_t pass = 0; pass < armed_.size(); ++pass)
    if (plan_.setting.events.kind_of(pass) == RoundKind::Simulated) simulated_by.emplace_back(pass);
  for (const auto& pass : simulated_by) {
    for (std::size_t command = 0; command < plan_.commands.size(); ++command) {
      for (std::uint32_t layout = 0; layout < plan_.setting.layouts; ++layout) {
        const auto id = find_or_register(pass, !pass && has_metric_files_, command, layout);
        if (!id && !may_be_made_later(plan_.commands[command]))
          return advise_on_missing_program(id.error(), command);
      }
    }
  }
  return {};
}

Result<os::ProgramId> Programs::program_of_run(const Step& step, bool writes_metrics) {
  auto timed = find_or_register(std::nullopt, has_metric_files_, step.command, step.layout);
  if (!timed || !step.gives_counts_only()) return timed;
  const bool is_simulated = plan_.setting.events.kind_of(step.pass) == RoundKind::Simulated;
  return find_or_register(is_simulated ? std::optional<std::size_t>(step.pass) : std::nullopt,
                          has_metric_files_ && writes_metrics, step.command, step.layout);
}

Result<os::ProgramId> Programs::find_or_register(std::optional<std::size_t> simulated_by,
                                                 bool writes_metrics, std::size_t command,
                                                 std::uint32_t layout) {
  const auto known = known_.find({simulated_by, writes_metrics, command, layout});
  if (known != known_.end()) return known->second;
  os::ProgramSpec spec = make_program(plan_, *command_in_layout(plan_, command, layout), user_);
  spec.has_region = plan_.setting.measures_region;
  if (writes_metrics) spec.launch_variable = kMetricsVariable;
  if (simulated_by) spec = put_into_simulator(std::move(spec), *armed_[*simulated_by]);
  auto id = launcher_.add_program(spec);
  if (id) known_.emplace(std::tuple(simulated_by, writes_metrics, command, layout), *id);
  return id;
}

Result<void> check_shell(std::string_view option, const std::string& shell) {
  const auto found = os::find_program(shell);
  if (found) return {};
  return Error{fmt::format("{} needs a shell: {}", option, found.error().what),
               fmt::format("leave out {}, or use lauka where there is a shell, such as in another "
                           "container image (docs/ci.md)",
                           option)};
}

Result<void> HookRunner::register_hooks(const std::optional<User>& user) {
  to_clean_up_.assign(plan_.commands.size(), false);
  for (std::size_t c = 0; c < plan_.commands.size(); ++c)
    for (std::uint32_t layout = 0; layout < plan_.setting.layouts; ++layout)
      if (auto added = add_programs(c, layout, user); !added) return added;
  return {};
}

Result<void> HookRunner::add_programs(std::size_t index, std::uint32_t layout,
                                      const std::optional<User>& user) {
  const auto command = command_in_layout(plan_, index, layout);
  Programs& programs = programs_.emplace_back();
  for (const HookRow& row : kHookKinds) {
    if (!command->hooks[row.kind]) continue;
    if (layout > 0 && !row.is_of_a_run() && !depends_on_layout(plan_.commands[index], row))
      continue;
    if (auto shell = check_shell(fmt::format("--{}", row.name)); !shell) return shell;
    const auto id = launcher_.add_program(make_hook(row, *command, user));
    if (!id) return id.error();
    programs[row.kind] = *id;
    if (row.is_of_a_run()) has_hooks_between_runs_ = true;
  }
  return {};
}

std::optional<HookFailed> HookRunner::run(Moment moment, std::uint32_t command,
                                          const std::optional<Step>& step) {
  std::optional<HookFailed> failure;
  for (const HookRow& row : kHookKinds) {
    if (row.moment != moment) continue;
    const std::uint32_t first = step ? step->layout : 0;
    const std::uint32_t end = step ? step->layout + 1 : plan_.setting.layouts;
    for (std::uint32_t layout = first; layout < end; ++layout) {
      auto failed = run(row, command, layout, step);
      if (failed && !row.follows_runs()) return failed;
      if (!failure) failure = std::move(failed);
    }
  }
  return failure;
}

// An interrupt does not end hooks that clean up.
Result<os::Ended> HookRunner::launch_hook(os::ProgramId hook, const HookRow& row,
                                          const std::optional<Step>& step) {
  const os::Launch launch{.program = hook,
                          .launch_variable_value = step ? write_iteration(*step) : "",
                          .goes_on_after_interrupt = row.follows_runs()};
  auto results = launcher_.run({&launch, 1}, os::AfterFailure::Stop, {});
  if (!results) return results.error();
  return std::move(results->front());  // there was one launch
}

// Runs one hook, which is a command of the user that prepares runs or cleans up after them. Adds
// its time to that of the rounds if it belongs to a single run.
std::optional<HookFailed> HookRunner::run(const HookRow& row, std::uint32_t command,
                                          std::uint32_t layout, const std::optional<Step>& step) {
  const std::size_t first_layout = std::size_t{command} * plan_.setting.layouts;
  const auto hook = programs_.at(first_layout + layout)[row.kind];
  const bool has_hook = hook.has_value();
  if (!has_hook) return std::nullopt;

  const auto ended = launch_hook(*hook, row, step);
  if (ended && row.is_of_a_run()) time_ += ended->time_with_preparation;
  if (ended && succeeded(ended->outcome)) return std::nullopt;

  return HookFailed{
      .kind = row.kind,
      .command = command,
      .step = step,
      .outcome = ended ? ended->outcome : Outcome(NotStarted{LaunchStep::ReachLauncher, 0}),
      .output_end = ended ? launcher_.error_output_end() : ended.error().line()};
}

std::optional<HookFailed> HookRunner::set_up(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t command = first; command < first + count; ++command) {
    to_clean_up_[command] = true;  // even a setup that fails half-way may need a cleanup
    if (auto failed = run(Moment::BeforeCommand, command)) return failed;
  }
  return std::nullopt;
}

std::vector<HookFailed> HookRunner::clean_up(std::uint32_t first, std::uint32_t count) {
  std::vector<HookFailed> all;
  for (std::uint32_t command = first; command < first + count; ++command) {
    if (!to_clean_up_[command]) continue;
    to_clean_up_[command] = false;
    if (auto failed = run(Moment::AfterCommand, command)) all.push_back(*std::move(failed));
  }
  return all;
}

// Each run of a command in a shell includes the start of the shell, which is subtracted later. So
// the shell is measured with an empty command. The result has an element for each command, or is
// empty without a shell.
Result<std::vector<ShellOverhead>> measure_shell(const Plan& plan, os::Launcher& launcher,
                                                 const std::optional<User>& user,
                                                 const std::function<int()>& interrupt) {
  if (!plan.shell) return std::vector<ShellOverhead>{};
  std::vector<ShellOverhead> overheads;

  for (std::size_t command = 0; command < plan.commands.size(); ++command) {
    // Commands for which the shell starts alike share a measurement. The first of them makes it.
    const std::size_t first_alike = find_first_alike(plan, command);
    const bool is_measured_already = first_alike < command;
    if (is_measured_already) {
      overheads.push_back(overheads[first_alike]);
      continue;
    }

    const os::ProgramSpec shell_start = make_shell_start(plan, command, user);
    auto runs = measure_starts(shell_start, launcher, interrupt);
    if (!runs) return runs.error();

    // After an interrupt, the session has no runs from which to subtract.
    const bool is_interrupted = runs->empty();
    if (is_interrupted) return std::vector<ShellOverhead>{};
    overheads.push_back(summarize_starts(*std::move(runs)));
  }
  return overheads;
}

std::optional<double> measure_process_start(const Plan& plan, os::Launcher& launcher,
                                            const std::optional<User>& user,
                                            const std::function<int()>& interrupt) {
  constexpr std::size_t max_starts = 20;
  Command nothing = *command_in_layout(plan, 0, 0);
  nothing.words = {"true"};
  os::ProgramSpec spec = make_program(plan, nothing, user);
  spec.output = {};
  auto runs = measure_starts(spec, launcher, interrupt, max_starts);
  if (!runs || runs->empty()) return std::nullopt;
  return to_seconds(summarize_starts(*std::move(runs)).wall_ns);
}

bool subtract(const ShellOverhead& overhead, Usage& usage) {
  const auto subtract_to_zero = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  const std::uint64_t cpu_ns = usage.user_ns + usage.system_ns;
  const std::uint64_t shell_cpu_ns = overhead.user_ns + overhead.system_ns;
  const bool is_below_overhead = usage.wall_ns < overhead.wall_ns || cpu_ns < shell_cpu_ns;
  usage.wall_ns = subtract_to_zero(usage.wall_ns, overhead.wall_ns);
  const std::uint64_t cpu_left_ns = subtract_to_zero(cpu_ns, shell_cpu_ns);
  usage.user_ns = std::min(subtract_to_zero(usage.user_ns, overhead.user_ns), cpu_left_ns);
  usage.system_ns = cpu_left_ns - usage.user_ns;
  return is_below_overhead;
}

}  // namespace lauka
