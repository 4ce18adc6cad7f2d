#pragma once

#include "fakes/fake_engine.h"
#include "fakes/fake_launcher.h"
#include "os/control_groups.h"
#include "run/runner.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

class StillClock final : public os::Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(0); }
};

class Listener final : public Observer {
 public:
  bool wants = false;
  std::vector<Progress> seen;
  std::vector<std::string> names;
  bool is_finished = false;
  std::function<void(const Command&, const CounterLossFile&)> lost{};
  bool wants_progress() const override { return wants; }
  void progress(const Progress& progress) override {
    seen.push_back(progress);
    names.emplace_back(progress.command);
  }
  void counts_lost(const Command& command, const CounterLossFile& file) override {
    if (lost) lost(command, file);
  }
  void finished() override { is_finished = true; }
};

/// A plan of so many runs of commands named by one word each, in the order given.
inline Plan plan_of(const std::vector<std::string>& names, std::uint64_t runs = 2) {
  Plan plan;
  for (const std::string& name : names) plan.commands.push_back({name, name, {name}});
  plan.setting.order = Order::Interleaved;
  plan.setting.warmup_runs = 0;
  plan.setting.stop.exact_runs = runs;
  return plan;
}

/// Adds a metric for each event of a plan, in their order.
inline void add_count_metrics(Plan& plan) {
  for (std::size_t event = 0; event < plan.setting.events.events.size(); ++event)
    plan.metrics.push_back(
        {.name = plan.setting.events.events[event].name, .source = CountedEvent{event}});
}

/// Carries out one plan alone.
inline Result<SessionResult> carry_out(const BenchmarkToRun& run, const RunContext& context) {
  auto measured = run_benchmarks({&run, 1}, context, 0);
  if (!measured) return measured.error();
  return std::move(measured->front());
}

/// A machine that tells its test what it is asked to do.
class FakeMachine final : public TunedMachine {
 public:
  std::function<bool()> throttled{};
  std::function<void(bool)> switched{};
  bool watches_throttling() const override { return throttled != nullptr; }
  bool was_throttled() override { return throttled && throttled(); }
  bool compares_tuning() const override { return switched != nullptr; }
  void tune(bool on) override { switched(on); }
};

struct Bench {
  fakes::FakeLauncher launcher;
  fakes::FakeEngine engine;
  StillClock clock;
  Listener listener;
  int interrupted_by = 0;

  gate::Findings findings;  // of the last session

  std::optional<User> user{};
  os::MetricFiles* metric_files = nullptr;
  os::MemoryGroups* groups = nullptr;
  FakeMachine machine;
  std::vector<OwnMetric> discovered{};  // of the last session

  RunContext context() {
    return {launcher, clock,        listener, [this] { return interrupted_by; },
            user,     metric_files, &machine};
  }

  Result<Session> carry_out(const Plan& plan) {
    auto measured = lauka::carry_out({"", plan, engine, groups}, context());
    if (!measured) return measured.error();
    findings = measured->findings;
    discovered = measured->unannounced_metrics;
    return measured->session;
  }
};

}  // namespace lauka
