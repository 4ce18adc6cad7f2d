#pragma once

#include "fakes/fake_engine.h"
#include "fakes/fake_launcher.h"
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
  bool wants_progress() const override { return wants; }
  void progress(const Progress& progress) override {
    seen.push_back(progress);
    names.emplace_back(progress.command);
  }
  void finished() override { is_finished = true; }
};

/// A plan of so many runs of commands named by one word each, in the order given.
inline Plan plan_of(const std::vector<std::string>& names, std::uint64_t runs = 2) {
  Plan plan;
  for (const std::string& name : names) plan.commands.push_back({name, name, {name}});
  plan.order = Order::Interleaved;
  plan.warmup = 0;
  plan.stop.exact_runs = runs;
  return plan;
}

/// Carries out one plan alone.
inline Result<SessionResult> carry_out(const Plan& plan, const RunContext& context) {
  BenchmarkRun run{"", plan, context};
  auto measured = carry_out({&run, 1}, 0);
  if (!measured) return measured.error();
  return std::move(measured->front());
}

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
  std::function<bool()> was_throttled{};
  std::function<void(std::size_t, const UncountedFile&)> counts_lost{};
  std::function<void(bool)> tune{};
  std::vector<OwnMetric> discovered{};  // of the last session

  Result<Session> carry_out(const Plan& plan) {
    RunContext context{launcher, engine,       clock, listener, [this] { return interrupted_by; },
                       user,     metric_files, groups};
    context.was_throttled = was_throttled;
    context.counts_lost = counts_lost;
    context.tune = tune;
    auto measured = lauka::carry_out(plan, context);
    if (!measured) return measured.error();
    findings = measured->findings;
    discovered = measured->discovered;
    return measured->session;
  }
};

}  // namespace lauka
