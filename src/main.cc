#include "app/call.h"
#include "app/deliver.h"
#include "app/inquiries.h"
#include "app/measure.h"
#include "app/prepare.h"
#include "app/tuning.h"
#include "cli/parse.h"

#include <exception>
#include <utility>

namespace lauka {
namespace {

/// False for a single option, which is usually an inquiry.
bool may_run_something(int argc, const char* const* argv) {
  return argc != 2 || *argv[1] != '-';
}

int run(int argc, const char* const* argv) {
  std::unique_ptr<os::Launcher> launcher;
  if (may_run_something(argc, argv)) {  // first, while this process is small
    auto started = os::start_launcher(restore_after_lauka);
    if (started) launcher = *std::move(started);  // an error matters only if the launcher is needed
  }
  auto options = cli::parse(argc, argv);
  if (!options) return print_error(options.error(), ExitStatus::Usage);
  Call call{*std::move(options), std::move(launcher)};
  if (call.options.inquiry) return answer_inquiry(call);
  if (const auto status = add_benchmarks(call)) return *status;
  if (const auto status = prepare(call)) return *status;
  if (!call.reads_saved_sessions())
    if (const auto status = measure(call)) return *status;
  return deliver(call);
}

}  // namespace
}  // namespace lauka

int main(int argc, char** argv) {
  try {
    return lauka::run(argc, argv);
  } catch (const std::exception& error) {
    const std::string what = std::string("internal error: ") + error.what();
    return lauka::print_error({what, "please report this"}, lauka::ExitStatus::Failed);
  }
}
