#include "choosing.h"

#include "os/linux_calls.h"

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
  macos.kpep = options.kpep;
  return engine::choose(choice_of(options.engine), options.user_only, os::linux_calls(), kinds,
                        user, macos);
}

}  // namespace lauka
