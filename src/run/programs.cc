#include "run/programs.h"

#include <algorithm>
#include <chrono>
#include <variant>

namespace lauka {
namespace {

constexpr std::int64_t kSlowdownAllowed = 100;  // of a simulated run, as --timeout sees it

os::Sink sink_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::Pipe:
      return os::Sink::Pipe;
    case OutputKind::Inherit:
      return os::Sink::Inherit;
    case OutputKind::File:
      return os::Sink::File;
    case OutputKind::Null:
      break;
  }
  return os::Sink::Null;
}

/// The same as another program runs it.
os::ProgramSpec simulated(os::ProgramSpec spec, const engine::Counting& counting) {
  spec.words = counting.launched_as(spec.words);
  if (spec.timeout) {
    const auto limit = std::chrono::nanoseconds::max() / kSlowdownAllowed;
    spec.timeout = std::min(*spec.timeout, limit) * kSlowdownAllowed;
  }
  return spec;
}

bool may_be_made_later(const Command& command) {
  return command.hooks.setup || command.hooks.prepare;
}

}  // namespace

os::ProgramSpec program_of(const Plan& plan, const Command& command,
                           const std::optional<User>& user) {
  os::ProgramSpec spec;
  spec.words = command.words;
  if (const auto* file = std::get_if<InputFile>(&plan.input)) spec.input.path = file->path;
  spec.output = {sink_of(command.output.kind), command.output.path};
  spec.timeout = plan.timeout;
  spec.cpus = plan.cores.cpus;
  spec.prefer = plan.cores.prefer;
  spec.environment = command.environment;
  spec.user = user;
  return spec;
}

Result<void> Programs::prepare() {
  rows_.assign(1 + armed_.size(), Row(plan_.commands.size()));
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (row > 0 && !plan_.events.is_simulated(row - 1)) continue;
    for (std::size_t command = 0; command < plan_.commands.size(); ++command) {
      const auto id = find(row, command);
      if (!id && !may_be_made_later(plan_.commands[command])) return id.error();
    }
  }
  return {};
}

Result<os::ProgramId> Programs::of(const Step& step) {
  // What simulates is there, whether or not the command is.
  if (const auto timed = find(0, step.command); !timed) return timed.error();
  return find(row_of(step.pass), step.command);
}

Result<os::ProgramId> Programs::find(std::size_t row, std::size_t command) {
  auto& known = rows_[row][command];
  if (known) return *known;
  os::ProgramSpec spec = program_of(plan_, plan_.commands[command], user_);
  if (row > 0) spec = simulated(std::move(spec), *armed_[row - 1]);
  auto id = launcher_.add_program(spec);
  if (id) known = *id;
  return id;
}

}  // namespace lauka
