#include "run/hooks.h"

#include <string>
#include <utility>

namespace lauka {
namespace {

constexpr std::array kKinds = {HookKind::Setup, HookKind::Prepare, HookKind::Conclude,
                               HookKind::Cleanup};

const std::optional<std::string>& text_of(const Hooks& hooks, HookKind kind) {
  switch (kind) {
    case HookKind::Setup:
      return hooks.setup;
    case HookKind::Prepare:
      return hooks.prepare;
    case HookKind::Conclude:
      return hooks.conclude;
    case HookKind::Cleanup:
      break;
  }
  return hooks.cleanup;
}

bool is_of_a_run(HookKind kind) {
  return kind == HookKind::Prepare || kind == HookKind::Conclude;
}

}  // namespace

Result<void> HookRunner::prepare(const std::optional<User>& user) {
  to_clean_up_.assign(plan_.commands.size(), false);
  for (const Command& command : plan_.commands) {
    Programs& programs = programs_.emplace_back();
    for (const HookKind kind : kKinds) {
      const auto id = add(kind, command, user);
      if (!id) return id.error();
      programs.at(static_cast<std::size_t>(kind)) = *id;
      if (!*id) continue;
      (is_of_a_run(kind) ? between_runs_ : around_commands_) = true;
    }
  }
  return {};
}

Result<std::optional<os::ProgramId>> HookRunner::add(HookKind kind, const Command& command,
                                                     const std::optional<User>& user) {
  const std::optional<std::string>& text = text_of(command.hooks, kind);
  if (!text) return std::optional<os::ProgramId>{};
  os::ProgramSpec spec;
  spec.words = {"/bin/sh", "-c", *text};
  const bool inherits = command.output.kind == OutputKind::Inherit;
  spec.output.sink = inherits ? os::Sink::Inherit : os::Sink::Capture;
  spec.environment = command.environment;
  if (is_of_a_run(kind)) spec.launch_variable = "LAUKA_ITERATION";
  spec.user = user;
  const auto id = launcher_.add_program(spec);
  if (!id) return id.error();
  return std::optional<os::ProgramId>{*id};
}

std::optional<HookFailed> HookRunner::run(HookKind kind, std::uint32_t command,
                                          const std::optional<Step>& step) {
  const auto program = programs_.at(command).at(static_cast<std::size_t>(kind));
  if (!program) return std::nullopt;
  const bool undoes = kind == HookKind::Conclude || kind == HookKind::Cleanup;
  const os::Launch launch{.program = *program,
                          .value = step ? iteration_of(*step, plan_.events) : "",
                          .despite_interrupt = undoes};
  const auto all = launcher_.run({&launch, 1}, false, {});
  HookFailed failed{kind, command, step, {}, {}};
  if (!all || all->empty()) {
    failed.outcome = NotStarted{LaunchStep::Fork, 0};
    failed.output_end = all ? "the launcher ran nothing" : all.error().line();
    return failed;
  }
  if (is_of_a_run(kind)) time_ += all->front().whole;
  failed.outcome = all->front().outcome;
  if (succeeded(failed.outcome)) return std::nullopt;
  failed.output_end = launcher_.error_output_end();
  return failed;
}

std::chrono::nanoseconds HookRunner::take_time() {
  return std::exchange(time_, {});
}

std::optional<HookFailed> HookRunner::set_up(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t command = first; command < first + count; ++command) {
    to_clean_up_[command] = true;  // a setup that fails half-way leaves things behind too
    if (auto failed = run(HookKind::Setup, command)) return failed;
  }
  return std::nullopt;
}

std::vector<HookFailed> HookRunner::clean_up(std::uint32_t first, std::uint32_t count) {
  std::vector<HookFailed> all;
  for (std::uint32_t command = first; command < first + count; ++command) {
    if (!to_clean_up_[command]) continue;
    to_clean_up_[command] = false;
    if (auto failed = run(HookKind::Cleanup, command)) all.push_back(*std::move(failed));
  }
  return all;
}

std::string iteration_of(const Step& step, const EventSet& events) {
  const std::string kind = step.warmup                      ? "warmup-"
                           : events.is_simulated(step.pass) ? "simulated-"
                                                            : "";
  return kind + std::to_string(step.round);
}

}  // namespace lauka
