#include "answering.h"
#include "choosing.h"
#include "cli/parse.h"
#include "cli/version.h"
#include "cores/core_time.h"
#include "cores/cores.h"
#include "delivery.h"
#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"
#include "os/sudo.h"
#include "run/runner.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lauka {
namespace {

int run(int argc, const char* const* argv) {
  if (const std::string_view only = argc == 2 ? argv[1] : ""; only == "--version" || only == "-V") {
    return show(cli::version_line());  // without a launcher, whose start is half of what this takes
  }
  const os::DarwinCalls* darwin = os::darwin_calls();
  auto launcher = darwin != nullptr  // first, while this process is small
                      ? os::start_spawning_launcher(*darwin)
                      : os::start_launcher(os::linux_calls());
  if (!launcher) return refuse(launcher.error(), ExitStatus::Failed);
  const auto options = cli::parse(argc, argv);
  if (!options) return refuse(options.error(), ExitStatus::Usage);
  const auto cores = cores::decide(wanted_cores(*options), os::linux_calls(), os::darwin_calls());
  if (!cores) return refuse(cores.error(), ExitStatus::Usage);
  if (const auto* threads =
          options->inquiry ? std::get_if<ShowThreads>(&*options->inquiry) : nullptr)
    return deliver_threads(*threads, cores->kinds);
  if (options->inquiry && options->kpep) return answer_from_kpep(*options, argv);
  const auto user = os::user_behind_sudo(options->as_root);
  if (!user) return refuse(user.error(), ExitStatus::Usage);
  os::watch_for_interrupts();  // before counters are taken, which are to be given back
  if (options->inquiry && std::holds_alternative<CheckMachine>(*options->inquiry))
    return deliver_check(*options, *user, **launcher);
  auto chosen = choose_engine(*options, cores->kinds, *user, **launcher);
  if (!chosen) return refuse(chosen.error(), ExitStatus::Usage);
  if (options->inquiry) return answer(*options, *chosen->engine, chosen->note);
  const auto timed = cores::with_core_time(std::move(chosen->engine), *cores, os::linux_calls(),
                                           os::darwin_calls());
  engine::CounterEngine& engine = *timed;

  const os::MonotonicClock clock;
  const auto select = [&](const std::vector<std::string>& names, bool single_pass) {
    return engine.select({names, single_pass});
  };
  auto plan =
      make_plan(*options, select, static_cast<std::uint64_t>(clock.now().count()), cores->use);
  if (!plan) return refuse(plan.error(), ExitStatus::Usage);
  if (!cores->note.empty()) plan->events.notes.push_back(cores->note);
  if (const auto compared = add_baseline(*options, *user, *plan); !compared)
    return refuse(compared.error(), ExitStatus::Usage);
  auto exports = open_exports(*options, *plan, *user);
  if (!exports) return refuse(exports.error(), ExitStatus::Usage);

  const auto observer = choose_observer(*options, *plan);
  const auto began = os::time_of_day();
  const auto carried =
      carry_out(*plan, {**launcher, engine, clock, *observer, os::interrupt, *user});
  if (!carried) return refuse(carried.error(), ExitStatus::Failed);
  return deliver(*options, *plan, *user, *carried, *std::move(exports), began);
}

}  // namespace
}  // namespace lauka

int main(int argc, char** argv) {
  try {
    return lauka::run(argc, argv);
  } catch (const std::exception& error) {
    const std::string what = std::string("internal error: ") + error.what();
    return lauka::refuse({what, "please report it"}, lauka::ExitStatus::Failed);
  }
}
