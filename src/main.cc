#include "choosing.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/version.h"
#include "cores/core_time.h"
#include "cores/cores.h"
#include "delivery.h"
#include "engine/kperf/database_engine.h"
#include "engine/kperf/plist.h"
#include "inquire/explain_events.h"
#include "inquire/list_events.h"
#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/program.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"
#include "os/sudo.h"
#include "os/terminal.h"
#include "report/progress.h"
#include "run/runner.h"

#include <algorithm>
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

using os::Stream;

int print(const std::string& text) {
  const auto said = os::say(Stream::Output, text);
  return said ? static_cast<int>(ExitStatus::Done) : refuse(said.error(), ExitStatus::Failed);
}

int explain(const Options& options, engine::CounterEngine& engine) {
  const auto explanation = engine.explain({options.events});
  if (!explanation) return refuse(explanation.error(), ExitStatus::Usage);
  return print(inquire::explain_events(*explanation));
}

int answer(const Options& options, engine::CounterEngine& engine) {
  const Inquiry& inquiry = *options.inquiry;
  if (std::holds_alternative<ExplainEvents>(inquiry)) return explain(options, engine);
  const auto* list = std::get_if<ListEvents>(&inquiry);
  if (list == nullptr)
    return print(std::holds_alternative<ShowVersion>(inquiry) ? cli::version_line() : cli::help());
  return print(
      inquire::list_events(engine.catalog(), list->filter, os::terminal_width(Stream::Output, 0)));
}

/// An inquiry about the events of a kpep database.
int answer_from_kpep(const Options& options, const char* const* argv) {
  if (engine::kperf::plist_reader() == nullptr) os::go_on_as("lauka-kpep", argv);
  const auto engine =
      engine::kperf::open_database_engine(options.kpep.value_or(""), options.user_only);
  return engine ? answer(options, **engine) : refuse(engine.error(), ExitStatus::Usage);
}

std::unique_ptr<Observer> observer_for(const Options& options, const Plan& plan) {
  // What the commands write to the same terminal would leave pieces of the bar behind.
  const bool is_shared = std::any_of(
      plan.commands.begin(), plan.commands.end(),
      [](const Command& command) { return command.output.kind == OutputKind::Inherit; });
  const bool draws = options.progress && options.verbosity != Verbosity::Quiet && !is_shared &&
                     os::wants_drawing(Stream::Error);
  if (!draws) return std::make_unique<NoObserver>();
  const auto draw = [](std::string_view text) { static_cast<void>(os::say(Stream::Error, text)); };
  return std::make_unique<report::ProgressBar>(draw, os::terminal_width(Stream::Error, 80));
}

/// What a question that runs nothing does not ask for is not refused.
cores::Wanted wanted_of(const Options& options) {
  if (options.inquiry && !std::holds_alternative<ShowThreads>(*options.inquiry)) return {};
  return {options.core_kinds, options.cores, options.min_p_share};
}

int run(int argc, const char* const* argv) {
  if (const std::string_view only = argc == 2 ? argv[1] : ""; only == "--version" || only == "-V") {
    return print(
        cli::version_line());  // without a launcher, whose start is half of what this takes
  }
  const os::DarwinCalls* darwin = os::darwin_calls();
  auto launcher = darwin != nullptr  // first, while this process is small
                      ? os::start_spawning_launcher(*darwin)
                      : os::start_launcher(os::linux_calls());
  if (!launcher) return refuse(launcher.error(), ExitStatus::Failed);
  const auto options = cli::parse(argc, argv);
  if (!options) return refuse(options.error(), ExitStatus::Usage);
  const auto cores = cores::decide(wanted_of(*options), os::linux_calls(), os::darwin_calls());
  if (!cores) return refuse(cores.error(), ExitStatus::Usage);
  if (const auto* threads =
          options->inquiry ? std::get_if<ShowThreads>(&*options->inquiry) : nullptr)
    return deliver_threads(*threads, cores->kinds);
  if (options->inquiry && options->kpep) return answer_from_kpep(*options, argv);
  const auto user = os::user_behind_sudo(options->as_root);
  if (!user) return refuse(user.error(), ExitStatus::Usage);
  if (options->inquiry && std::holds_alternative<CheckMachine>(*options->inquiry))
    return deliver_check(*options, *user);
  os::watch_for_interrupts();  // before counters are taken, which are to be given back
  auto chosen = choose_engine(*options, cores->kinds, *user, **launcher);
  if (!chosen) return refuse(chosen.error(), ExitStatus::Usage);
  if (options->inquiry) return answer(*options, *chosen->engine);
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

  const auto observer = observer_for(*options, *plan);
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
