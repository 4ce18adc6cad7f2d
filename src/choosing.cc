#include "choosing.h"

#include "os/files.h"
#include "os/linux_calls.h"
#include "os/terminal.h"
#include "report/progress.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace lauka {
namespace {

engine::Choice choice_of(EngineChoice choice) {
  switch (choice) {
    case EngineChoice::Kperf:
      return engine::Choice::Kperf;
    case EngineChoice::Perf:
      return engine::Choice::Perf;
    case EngineChoice::Cachegrind:
      return engine::Choice::Cachegrind;
    case EngineChoice::None:
      return engine::Choice::None;
    case EngineChoice::Auto:
      break;
  }
  return engine::Choice::Auto;
}

engine::kperf::StrategyChoice strategy_of(StrategyChoice choice) {
  using Of = engine::kperf::StrategyChoice;
  switch (choice) {
    case StrategyChoice::Exit:
      return Of::AtExit;
    case StrategyChoice::Pet:
      return Of::Pet;
    case StrategyChoice::Cpu:
      return Of::Machine;
    case StrategyChoice::Auto:
      break;
  }
  return Of::Auto;
}

}  // namespace

Result<engine::Chosen> choose_engine(const Options& options, const CoreKinds& kinds,
                                     const std::optional<User>& user, os::Launcher& launcher) {
  engine::OnMacos macos;
  macos.launcher = options.inquiry ? nullptr : &launcher;
  macos.strategy = strategy_of(options.strategy);
  macos.period = options.period;
  return engine::choose(choice_of(options.engine), options.user_only, os::linux_calls(), kinds,
                        user, macos);
}

cores::Wanted wanted_cores(const Options& options) {
  if (options.inquiry && !std::holds_alternative<ShowThreads>(*options.inquiry)) return {};
  return {options.core_kinds, options.cores, options.min_p_share};
}

std::unique_ptr<Observer> choose_observer(const Options& options, const Plan& plan) {
  // What the commands write to the same terminal would leave pieces of the bar behind.
  const bool is_shared = std::any_of(
      plan.commands.begin(), plan.commands.end(),
      [](const Command& command) { return command.output.kind == OutputKind::Inherit; });
  const bool draws = options.progress && options.verbosity != Verbosity::Quiet && !is_shared &&
                     os::wants_drawing(os::Stream::Error);
  if (!draws) return std::make_unique<NoObserver>();
  const auto draw = [](std::string_view text) {
    static_cast<void>(os::say(os::Stream::Error, text));
  };
  return std::make_unique<report::ProgressBar>(draw, os::terminal_width(os::Stream::Error, 80));
}

}  // namespace lauka
