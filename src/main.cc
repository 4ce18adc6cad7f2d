#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include "cli/help.h"
#include "cli/parse.h"
#include "cli/version.h"
#include "core/exit_status.h"
#include "core/observer.h"
#include "engine/choose.h"
#include "inquire/list_events.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/terminal.h"
#include "plan/plan.h"
#include "report/csv.h"
#include "report/ending.h"
#include "report/gates.h"
#include "report/progress.h"
#include "report/table.h"
#include "results/analyse.h"
#include "run/runner.h"

namespace lauka {
namespace {

using Text = std::string_view;

int refuse(const Error& error, ExitStatus status) {
  os::write_all(STDERR_FILENO, "lauka: " + error.line() + "\n");
  return static_cast<int>(status);
}

/// An export that was found writable, and what makes its bytes.
struct Export {
  os::ExportFile file;
  std::string (*bytes_of)(const Results&);
};

Result<std::vector<Export>> open_exports(const Options& options) {
  std::vector<Export> exports;
  const auto open = [&](const std::optional<std::string>& target, std::string (*bytes_of)(const Results&)) {
    if (!target) return Result<void>();
    auto file = os::ExportFile::open(*target);
    if (!file) return Result<void>(file.error());
    exports.push_back({*std::move(file), bytes_of});
    return Result<void>();
  };
  if (auto opened = open(options.export_csv, report::summary_csv); !opened) return opened.error();
  if (auto opened = open(options.export_runs, report::runs_csv); !opened) return opened.error();
  return exports;
}

ExitStatus status_of(const std::vector<gate::Verdict>& verdicts) {
  const bool failed = std::any_of(verdicts.begin(), verdicts.end(),
                                  [](const auto& verdict) { return verdict.answer == gate::Answer::Fail; });
  return failed ? ExitStatus::GateFailed : ExitStatus::Done;
}

int run(int argc, const char* const* argv) {
  auto launcher = os::start_launcher(os::linux_calls());  // first, while this process is small
  if (!launcher) return refuse(launcher.error(), ExitStatus::Failed);
  const auto options = cli::parse(argc, argv);
  if (!options) return refuse(options.error(), ExitStatus::Usage);
  auto chosen = engine::choose(options->engine, options->user_only);
  if (!chosen) return refuse(chosen.error(), ExitStatus::Usage);
  if (options->inquiry) return answer(*options->inquiry, *chosen->engine);

  const os::MonotonicClock clock;
  const auto select = [&](const std::vector<std::string>& names, bool single_pass) {
    return chosen->engine->select({names, single_pass});
  };
  const auto plan = make_plan(*options, select, static_cast<std::uint64_t>(clock.now().count()));
  if (!plan) return refuse(plan.error(), ExitStatus::Usage);
  auto exports = open_exports(*options);
  if (!exports) return refuse(exports.error(), ExitStatus::Usage);
}

}  // namespace
}  // namespace lauka

int main(int argc, char** argv) {
  try {
    return lauka::run(argc, argv);
  } catch (const std::exception& error) {
    return lauka::refuse({std::string("internal error: ") + error.what(), "please report it"}, lauka::ExitStatus::Failed);
  }
}
