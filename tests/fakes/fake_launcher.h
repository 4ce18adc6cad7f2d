#pragma once

#include "os/process.h"

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace lauka::fakes {

/// A launcher that runs nothing: each run takes the time that the test sets, and is recorded.
class FakeLauncher final : public os::Launcher {
 public:
  struct Script {
    std::chrono::nanoseconds time = std::chrono::milliseconds(1);
    std::deque<Outcome> outcomes{};  ///< of its runs in order; after the last: exited with 0
  };

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): what a test sets
  /// Scripts of the programs by the order of registration; a program without one gets the default.
  std::vector<Script> scripts;
  /// Called before each run with the number of runs so far.
  std::function<void(std::size_t)> before_run;
  /// Has the last word on how a run ended.
  std::function<void(os::ProgramId, os::Ended&)> adjust;
  std::string output;  ///< of the latest run, if it is kept
  std::string error;
  int counter_error = 0;
  std::size_t found_after = ~std::size_t{0};  ///< runs, until the program "nosuch" is there
  std::size_t counters_fail_at = ~std::size_t{0};
  // NOLINTEND(misc-non-private-member-variables-in-classes)

  Result<os::ProgramId> add_program(const os::ProgramSpec& spec) override {
    if (spec.words.front() == "nosuch" && log_.size() < found_after)
      return Error{"nosuch: command not found", ""};
    programs_.push_back(spec);
    return static_cast<os::ProgramId>(programs_.size() - 1);
  }

  Result<os::CounterSetId> add_counters(std::span<const os::CounterRequest> requests) override {
    sets_.push_back(requests.size());
    return static_cast<os::CounterSetId>(sets_.size() - 1);
  }

  Result<std::vector<os::Ended>> run(std::span<const os::Launch> launches,
                                     os::AfterFailure after_failure,
                                     const os::ProgressCallback& tick) override {
    ++requests_;
    launches_ += launches.size();
    std::vector<os::Ended> all;
    std::chrono::nanoseconds time{};
    for (const os::Launch& launch : launches) {
      if (launch.latest_start.count() > 0 && time > launch.latest_start) break;
      if (before_run) before_run(log_.size());
      if (tick) tick();
      for (os::RunObserver* watch : launch.run_observers) {
        watch->before_start();
        watch->made(static_cast<int>(log_.size()) + 1);
      }
      all.push_back(end_of(launch));
      time += all.back().time_with_preparation;
      const bool failed = !succeeded(all.back().outcome);
      if (all.back().counter_error != 0 || (failed && after_failure == os::AfterFailure::Stop))
        break;
      if (std::holds_alternative<Cancelled>(all.back().outcome)) break;
    }
    return all;
  }

  std::string error_output_end() const override { return "it said why"; }

  std::uint64_t stored_stream_bytes(os::OutputStream which) const override {
    return kept(which).size();
  }

  std::size_t read_kept(os::OutputStream which, std::uint64_t from,
                        std::span<char> into) const override {
    return kept(which).copy(into.data(), into.size(), static_cast<std::size_t>(from));
  }

  /// The words of every run begun, in order.
  std::string log() const {
    std::string text;
    for (const std::string& one : log_) text += (text.empty() ? "" : " ") + one;
    return text;
  }
  std::size_t runs() const { return log_.size(); }
  std::size_t requests() const { return requests_; }
  /// The launches of all requests, of which run() may not carry out all.
  std::size_t launches() const { return launches_; }
  const std::vector<os::ProgramSpec>& programs() const { return programs_; }

 private:
  const std::string& kept(os::OutputStream which) const {
    return which == os::OutputStream::Output ? output : error;
  }

  os::Ended end_of(const os::Launch& launch) {
    Script plain;
    Script& script = launch.program < scripts.size() ? scripts[launch.program] : plain;
    os::Ended ended;
    if (log_.size() == counters_fail_at) {
      ended.counter_error = counter_error;
      return ended;
    }
    const os::ProgramSpec& spec = programs_[launch.program];
    const bool is_hook = spec.words.front() == "/bin/sh";
    std::string entry = is_hook ? spec.words.at(2) : spec.words.front();
    if (!launch.launch_variable_value.empty()) entry += "(" + launch.launch_variable_value + ")";
    if (launch.goes_on_after_interrupt) entry += "!";
    if (launch.counters != os::kNoCounters) entry += "/" + std::to_string(launch.counters);
    log_.push_back(entry);
    ended.outcome = Exited{0};
    if (!script.outcomes.empty()) {
      ended.outcome = script.outcomes.front();
      script.outcomes.pop_front();
    }
    ended.usage.wall_ns = static_cast<std::uint64_t>(script.time.count());
    ended.time_with_preparation = script.time;
    if (launch.reads_end_state) ended.end_state = os::ProcessState{};
    if (adjust) adjust(launch.program, ended);
    if (launch.counters != os::kNoCounters) {
      ended.readings.assign(sets_[launch.counters], os::Reading{log_.size(), 100, 100});
    }
    return ended;
  }

  std::vector<os::ProgramSpec> programs_;
  std::vector<std::size_t> sets_;
  std::vector<std::string> log_;
  std::size_t requests_ = 0;
  std::size_t launches_ = 0;
};

}  // namespace lauka::fakes
