#include "os/clock.h"

#include <chrono>

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

using namespace std::chrono_literals;

/// Moves by `step` with every `readings`th reading, and once by more.
class SteppingClock final : public Clock {
 public:
  SteppingClock(std::chrono::nanoseconds step, int readings) : step_(step), readings_(readings) {}
  std::chrono::nanoseconds now() const override {
    ++asked_;
    const int steps = asked_ / readings_;
    return step_ * (steps > 0 ? steps + 5 : 0);
  }

 private:
  std::chrono::nanoseconds step_;
  int readings_;
  mutable int asked_ = 0;
};

}  // namespace

TEST_CASE("the step of a clock is the smallest it makes, however often it is read between") {
  CHECK(observed_step(SteppingClock(4ms, 1000)) == 4ms);
  CHECK(observed_step(SteppingClock(1us, 3)) == 1us);
  CHECK(observed_step(SteppingClock(40ns, 1)) == 40ns);
}

TEST_CASE("a clock that stops ends the search") {
  CHECK(observed_step(SteppingClock(0ns, 1)) == 0ns);
}

TEST_CASE("the machine's own clock and tick are of a sensible size") {
  CHECK(MonotonicClock().resolution() >= 1ns);
  CHECK(MonotonicClock().resolution() <= 10ms);
  if (const auto tick = scheduler_tick()) {
    CHECK(*tick >= 500us);  // 100 to 1000 Hz are usual
    CHECK(*tick <= 20ms);
  }
}

}  // namespace lauka::os
