#include "app/call.h"
#include "cli/suite.h"
#include "core/sha256.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/signals.h"
#include "report/screen.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lauka {

namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // of a suite's file

/// Returns a benchmark's own seed, so that orders differ.
std::uint64_t seed_of(std::uint64_t session, const std::string& benchmark) {
  Sha256 hash;
  hash.add(benchmark);
  return session ^ parse_hex(hash.digest().substr(0, 12)).value_or(0);
}

/// Opens the files of LAUKA_METRICS, to which all benchmarks write; null if they cannot be made and
/// no metric was announced.
Result<std::unique_ptr<os::MetricFiles>> open_metric_files(const Call& call) {
  auto files = os::open_metric_files(call.user);
  const bool is_needed = std::ranges::any_of(call.benchmarks, [](const Benchmark& one) {
    return std::ranges::any_of(one.plan.reported, &OwnMetric::is_written);
  });
  if (files || is_needed) return files;
  return std::unique_ptr<os::MetricFiles>();
}

/// Prints likely slips on standard error.
void say_hints(const Call& call) {
  std::vector<std::string> hints;
  for (const Benchmark& one : call.benchmarks)
    for (const std::string& hint : one.plan.hints)
      hints.push_back(one.name.empty() ? hint : cited(one.name) + ": " + hint);
  say_notes(call.options, hints);
}

/// Returns the progress bar, or an observer that ignores everything.
std::unique_ptr<Observer> choose_observer(const Call& call) {
  const Options& options = call.options;
  // The commands' output on the same terminal would leave pieces of the bar there.
  const bool is_shared = std::ranges::any_of(call.benchmarks, [](const Benchmark& one) {
    return std::ranges::any_of(one.plan.commands, [](const Command& command) {
      return command.output.kind == OutputKind::Inherit;
    });
  });
  const bool draws = options.progress && options.verbosity != Verbosity::Quiet && !is_shared &&
                     os::wants_drawing(os::Stream::Error);
  if (!draws) return std::make_unique<NoObserver>();
  const auto draw = [](std::string_view text) {
    static_cast<void>(os::say(os::Stream::Error, text));
  };
  const auto width = [] { return os::terminal_width(os::Stream::Error, 80); };
  return std::make_unique<report::ProgressBar>(draw, width, !os::speaks_utf8(),
                                               options.presentation.time_unit);
}

std::optional<int> measure_tuned(Call& call) {
  const os::MonotonicClock clock;
  const auto metric_files = open_metric_files(call);
  if (!metric_files) return refuse(metric_files.error(), ExitStatus::Failed);
  const auto observer = choose_observer(call);
  const os::TextFiles texts(call.user);
  call.began = os::time_of_day();
  std::vector<BenchmarkRun> runs;
  for (Benchmark& one : call.benchmarks)
    runs.push_back({one.name,
                    one.plan,
                    {*call.launcher, *one.chosen.engine, clock, *observer, os::interrupt, call.user,
                     metric_files->get(), one.groups, &texts, describes_session(call.options)}});
  const auto was_throttled = throttle_watch(call);
  const auto tune = tuning_switch(call);
  for (BenchmarkRun& run : runs) {
    run.context.end_background = [&] { find_labels(call); };
    if (was_throttled) run.context.was_throttled = std::ref(was_throttled);
    run.context.tune = tune;
  }
  if (auto kept = keep_rounds(call, runs); !kept) return refuse(kept.error(), ExitStatus::Usage);
  auto measured = carry_out(runs, call.options.seed.value_or(0));
  if (!measured) return refuse(measured.error(), ExitStatus::Failed);
  find_labels(call);
  for (std::size_t i = 0; i < measured->size(); ++i) {
    Benchmark& one = call.benchmarks[i];
    SessionResult& result = (*measured)[i];
    one.session = std::move(result.session);
    one.findings = std::move(result.findings);
    one.discovered = {std::move(result.discovered), one.options.metrics != MetricSelection::Listed};
  }
  return std::nullopt;
}

}  // namespace

Result<void> add_suite(Call& call) {
  os::watch_for_interrupts();  // the file may be a named pipe
  auto text = read_text(call, *call.options.suite, "--suite", kMostBytes);
  if (!text) return text.error();
  auto suite = cli::suite_of(call.options, *text);
  if (!suite) return suite.error();
  call.suite_text = *std::move(text);
  suite->session.typed = std::move(call.options.typed);
  suite->session.resumes = call.options.resumes;
  call.options = std::move(suite->session);
  if (auto taken = take_seed(call); !taken) return taken;
  if (!call.options.seed)
    call.options.seed = static_cast<std::uint64_t>(os::MonotonicClock().now().count());
  call.risk = call.options.controls_fdr ? gate::Risk::Share : gate::Risk::Any;
  for (cli::Benchmark& one : suite->benchmarks) {
    one.options.seed = seed_of(*call.options.seed, one.name);
    call.benchmarks.push_back({.name = std::move(one.name), .options = std::move(one.options)});
  }
  return {};
}

std::optional<int> measure(Call& call) {
  say_hints(call);
  if (auto begun = begin_tuning(call); !begun) return refuse(begun.error(), ExitStatus::Failed);
  const auto status = measure_tuned(call);
  end_tuning(call);
  compare_tuning(call);
  return status;
}

}  // namespace lauka
