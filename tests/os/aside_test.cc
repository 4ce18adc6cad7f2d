#include "os/clock.h"
#include "os/process.h"
#include "os/running.h"

#include <chrono>

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kEnough = 1000;

}  // namespace

TEST_CASE("what a program aside wrote is there when it has ended well, once") {
  ProgramAside aside;
  aside.begin(shell("echo one; echo two; echo no >&2"), seconds(5));
  CHECK(aside.wait_for_output(kEnough) == "one\ntwo\n");
  CHECK(aside.wait_for_output(kEnough).empty());
  ProgramAside cut;
  cut.begin(shell("echo one"), seconds(5));
  CHECK(cut.wait_for_output(2) == "on");
}

TEST_CASE("of a program aside that fails, or is not there, nothing is taken") {
  ProgramAside failing;
  failing.begin(shell("echo one; exit 3"), seconds(5));
  CHECK(failing.wait_for_output(kEnough).empty());
  ProgramAside missing;
  missing.begin({.words = {"no-such-program"}}, seconds(5));
  CHECK(missing.wait_for_output(kEnough).empty());
}

TEST_CASE("a program aside is killed when its time is over, with what it started") {
  const MonotonicClock clock;
  const auto began = clock.now();
  ProgramAside aside;
  aside.begin(shell("echo one; sleep 100 & sleep 100"), milliseconds(20));
  CHECK(aside.wait_for_output(kEnough).empty());
  CHECK(clock.now() - began < seconds(50));
}

}  // namespace lauka::os
