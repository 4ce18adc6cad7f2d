#include "os/signals.h"

#include <csignal>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

std::size_t first(std::span<const std::size_t> waiting) {
  return waiting.front();
}

}  // namespace

TEST_CASE("activities take turns: first each in order, then as it is chosen, until all are over") {
  std::string log;
  const auto letters = [&](char letter, int times) {
    return [&log, letter, times](const Yield& yield) {
      for (int i = 0; i < times; ++i) {
        log += letter;
        yield();
      }
      log += '.';
    };
  };
  take_turns({letters('a', 3), letters('b', 1), letters('c', 2)},
             [](auto waiting) { return waiting.back(); });
  CHECK(log == "abcc..aa.");
}

TEST_CASE("what an activity throws comes out when the others are over") {
  int done = 0;
  const auto fails = [](const Yield&) { throw std::runtime_error("no"); };
  const auto works = [&](const Yield& yield) {
    yield();
    ++done;
  };
  CHECK_THROWS_AS(take_turns({fails, works, works}, first), std::runtime_error);
  CHECK(done == 2);
}

TEST_CASE("a signal comes to the activity whose turn it is") {
  static volatile std::sig_atomic_t came = 0;
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = [](int) { came = 1; };
  sigaction(SIGUSR1, &action, &before);
  bool was_at_once = false;
  const auto waits = [](const Yield& yield) { yield(); };
  const auto is_signalled = [&](const Yield& yield) {
    yield();
    raise(SIGUSR1);
    was_at_once = came == 1;
  };
  take_turns({waits, is_signalled, waits}, first);
  CHECK(was_at_once);
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace lauka::os
