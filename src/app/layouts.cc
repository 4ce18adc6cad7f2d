#include "app/call.h"
#include "os/signals.h"
#include "report/lines.h"
#include "run/builds.h"

#include <algorithm>
#include <vector>

namespace lauka {

std::optional<int> build_layouts(Call& call, Observer& shown) {
  std::vector<const Plan*> plans;
  std::uint64_t at_once = 1;
  for (const Benchmark& benchmark : call.benchmarks) {
    plans.push_back(&benchmark.plan);
    at_once = std::max(at_once, benchmark.options.run.build_jobs);
  }
  const auto failed = run_builds(list_builds(plans), at_once, call.user,
                                 [&](std::string_view what) { shown.building(what); });
  shown.finished();
  if (const int signal = os::first_interrupt_signal(); signal != 0) return status_of_signal(signal);
  if (failed) {
    print_to_standard_error(report::failed_build_lines(
        failed->build.name_in_messages, failed->outcome, failed->output_end,
        os::terminal_width(os::StandardStream::Error, 0)));
    return static_cast<int>(ExitStatus::Failed);
  }
  const std::function<int()> interrupt = os::first_interrupt_signal;
  for (const Benchmark& benchmark : call.benchmarks)
    if (auto differ = check_layout_files_differ(benchmark.plan, {call.user, interrupt}); !differ)
      return refuse(with_benchmark_name(differ.error(), benchmark), ExitStatus::Usage);
  return std::nullopt;
}

}  // namespace lauka
