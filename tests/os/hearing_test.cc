#include "os/process.h"
#include "os/running.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

// Launchers: runs with an output listener.

namespace lauka::os {
namespace {

/// Hears everything, and has enough when `awaited` was in it.
class Ear final : public OutputListener {
 public:
  explicit Ear(std::string awaited = "") : awaited_(std::move(awaited)) {}
  bool receive(OutputStream which, std::string_view bytes) override {
    std::string& text = which == OutputStream::Output ? output : error;
    text += bytes;
    return awaited_.empty() || text.find(awaited_) == std::string::npos;
  }
  std::string output;  // NOLINT(misc-non-private-member-variables-in-classes): what a test reads
  std::string error;   // NOLINT(misc-non-private-member-variables-in-classes): likewise

 private:
  std::string awaited_;
};

Ended run_shell(const std::string& text, OutputListener& ear,
                std::optional<std::chrono::nanoseconds> timeout = std::nullopt) {
  ProgramSpec spec = shell(text);
  spec.output.has_listener = true;
  spec.timeout = timeout;
  return run_once(spec, {.listener = &ear});
}

}  // namespace

TEST_CASE("all that a run writes is heard, each stream as such") {
  Ear ear;
  const Ended ended = run_shell("echo a; echo b >&2; echo c", ear);
  CHECK(succeeded(ended.outcome));
  CHECK_FALSE(ended.ended_by_listener);
  CHECK(ear.output == "a\nc\n");
  CHECK(ear.error == "b\n");
}

TEST_CASE("a run of which enough was heard is asked to end, and has succeeded") {
  Ear ear("ready");
  const Ended ended = run_shell("trap 'sleep 0.3; exit 9' TERM; echo ready; sleep 30 & wait", ear);
  CHECK(ended.ended_by_listener);
  CHECK(succeeded(ended.outcome));
  // The time is up to the line, not to the end.
  CHECK(ended.usage.wall_ns < static_cast<std::uint64_t>(ended.time_with_preparation.count()));
  CHECK(static_cast<std::uint64_t>(ended.time_with_preparation.count()) - ended.usage.wall_ns >=
        250'000'000);
}

TEST_CASE(
    "one that does not end when it is asked to is killed two seconds later, and has succeeded") {
  Ear ear("ready");
  const Ended ended =
      run_shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", ear, kPatience);
  CHECK(ended.ended_by_listener);
  CHECK(succeeded(ended.outcome));
  // The time is up to the line, and then the process had the grace.
  CHECK(ended.time_with_preparation >=
        std::chrono::nanoseconds(ended.usage.wall_ns) + kTerminateTimeout);
}

TEST_CASE("one that ended by itself while its line was on the way has succeeded as well") {
  Ear ear("ready");
  const Ended ended = run_shell("echo ready; exit 3", ear);
  CHECK(ended.ended_by_listener);
  CHECK(succeeded(ended.outcome));
}

TEST_CASE("a run that took too long is not saved by what it wrote before") {
  Ear ear("ready");
  const Ended ended = run_shell("echo no; sleep 30", ear, std::chrono::milliseconds(50));
  CHECK(std::holds_alternative<TimedOut>(ended.outcome));
  CHECK_FALSE(ended.ended_by_listener);
}

}  // namespace lauka::os
