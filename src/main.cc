#include "cli/parse.h"
#include "invocation.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/signals.h"
#include "plan/told.h"

#include <array>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace lauka {
namespace {

int measure(Invocation& call) {
  const std::array stages = {kLauncherStarted, kCoresDecided, kUserFound,     kEngineChosen,
                             kGitAsked,        kPlanMade,     kBaselineAdded, kExportsOpened};
  if (const auto ended = pass(stages, call)) return *ended;
  tell_before(call.options, call.plan);
  const os::MonotonicClock clock;
  const auto told = open_told_files(call);
  if (!told) return refuse(told.error(), ExitStatus::Failed);
  const auto observer = choose_observer(call.options, call.plan);
  const auto began = os::time_of_day();
  const auto texts = os::text_files(call.user);
  RunContext context{*call.launcher, *call.chosen.engine,
                     clock,          *observer,
                     os::interrupt,  call.user,
                     told->get(),    call.groups.get(),
                     texts.get(),    tells_of_session(call.options)};
  context.end_aside = [&] { find_labels(call); };
  const auto measured = carry_out(call.plan, context);
  if (!measured) return refuse(measured.error(), ExitStatus::Failed);
  find_labels(call);
  add_discovered(call.plan, measured->discovered, call.options.metrics != MetricSelection::Listed);
  return deliver(call, *measured, began);
}

/// Shows what there is in saved sessions.
int retell(Invocation& call) {
  const std::array stages = {kUserFound, kSavedRead, kBaselineAdded, kExportsOpened};
  if (const auto ended = pass(stages, call)) return *ended;
  return deliver_saved(call);
}

/// An option that stands alone asks something, or is refused: no command is with it.
bool may_run_something(int argc, const char* const* argv) {
  return argc != 2 || *argv[1] != '-';
}

int run(int argc, const char* const* argv) {
  std::unique_ptr<os::Launcher> launcher;
  if (may_run_something(argc, argv)) {  // first, while this process is small
    auto started = os::start_launcher();
    if (started) launcher = *std::move(started);  // else it is refused where it is needed
  }
  auto options = cli::parse(argc, argv);
  if (!options) return refuse(options.error(), ExitStatus::Usage);
  Invocation call{*std::move(options), std::move(launcher)};
  if (call.options.inquiry) return answer(call);
  if (call.options.suite) return measure_suite(call);
  return call.options.from.empty() ? measure(call) : retell(call);
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
