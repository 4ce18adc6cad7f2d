#pragma once

#include "engine/engine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::fakes {

/// Counts one event per pass: the number of the run, as the fake launcher reads it.
class FakeEngine final : public engine::CounterEngine {
 public:
  bool is_lost = false;             ///< no run has a count
  std::size_t max_batch_size = 64;  ///< of its passes
  /// May change the counts of a run, which counts its own number.
  std::function<void(std::uint64_t, engine::CountsOfRun&)> adjust;
  os::RunObserver* watch = nullptr;
  std::size_t first_counting_pass = 0;  ///< passes before it have no counters
  int asked_for_holders = 0;
  std::optional<CounterLossFile> uncounted{};  ///< of every command

  std::string_view name() const override { return "fake"; }
  Catalog catalog() const override { return {}; }
  Result<EventSet> select(const EventRequest&) override { return EventSet{}; }

  std::optional<CounterLossFile> find_counter_loss_file(
      std::size_t /*command*/, const os::ProgramSpec& /*program*/) override {
    return uncounted;
  }

  std::optional<Error> held_by_others() override {
    ++asked_for_holders;
    return std::nullopt;
  }

  Result<std::unique_ptr<engine::ArmedPass>> arm(std::size_t pass) override {
    if (pass < first_counting_pass) return engine::make_accounting_pass({});
    return std::unique_ptr<engine::ArmedPass>(std::make_unique<OnePass>(*this));
  }

 private:
  class OnePass final : public engine::ArmedPass {
   public:
    explicit OnePass(const FakeEngine& engine) : engine_(engine) {}
    std::vector<os::CounterRequest> requests() const override { return {os::CounterRequest{}}; }
    std::size_t max_batch_size() const override { return engine_.max_batch_size; }
    engine::CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
      if (ended.counter_error != 0) return {{}, Error{"out of counters", "use fewer"}};
      if (engine_.is_lost) return {{std::nullopt}, Error{"the counts were lost", "run it as root"}};
      engine::CountsOfRun counted{{ended.readings.at(0).value}};
      if (engine_.adjust) engine_.adjust(ended.readings.at(0).value, counted);
      return counted;
    }
    std::vector<os::RunObserver*> prepare_run() override {
      return engine_.watch != nullptr ? std::vector{engine_.watch}
                                      : std::vector<os::RunObserver*>{};
    }

   private:
    const FakeEngine& engine_;
  };
};

}  // namespace lauka::fakes
