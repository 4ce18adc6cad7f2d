#include "on_model/on_model.h"

#include <csignal>
#include <string>

#include <doctest/doctest.h>

// Runs on the model of macOS without counters: the launcher of macOS under the whole program.

namespace lauka::darwin {

TEST_CASE("on macOS times, status and standard error of a run are the model's") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 20ms kernel=250\nsleep 10ms");
  const Told told = mac.lauka(
      {"--engine", "none", "-r3", "-w0", "--export-runs", mac.folder.file("runs.csv"), work});
  CHECK_MESSAGE(told.status == 0, told.err);
  const std::string runs = mac.text_of("runs.csv");
  for (const double value : column(runs, "user_time")) CHECK(value == doctest::Approx(0.015));
  for (const double value : column(runs, "wall_time"))
    CHECK(value == doctest::Approx(0.030).epsilon(0.01));
  CHECK(told.held().empty());
  const Told failed = mac.lauka({"--engine", "none", "-r3", "-w0",
                                 mac.folder.program("work", "write err no cheese\nexit 4")});
  CHECK(failed.status == 1);
  CHECK(failed.says("no cheese"));
}

TEST_CASE("on macOS a command that never ends is killed at its time-out, with its tree") {
  const Mac mac;
  const Told told =
      mac.lauka({"--engine", "none", "-r3", "-w0", "--timeout", "50ms",
                 mac.folder.program("work", "fork group {\nsleep 90s\n}\nsleep 90s")});
  CHECK(told.status == 1);
  CHECK(told.says("took longer than 50ms and was killed"));
  CHECK(told.held().empty());
}

TEST_CASE("on macOS an interruption in any call ends with 128 + its number") {
  const Mac calm;
  const auto session = [](const Mac& mac) {
    return mac.lauka({"--engine", "none", "-r2", "-w0", mac.folder.program("work", "run 3ms")});
  };
  const std::uint64_t calls = session(calm).report.at("calls");
  CHECK(calls > 20);
  int interrupted = 0;
  for (std::uint64_t call = calls / 2; call <= calls; ++call) {
    CAPTURE(call);
    const Mac mac(nlohmann::json{{"interrupt", {{"call", call}, {"signal", SIGTERM}}}});
    const Told told = session(mac);
    CHECK_MESSAGE((told.status == 128 + SIGTERM || told.status == 0), told.status);
    if (told.status != 0) ++interrupted;
    for (const std::string& held : told.held()) FAIL_CHECK("still held: ", held);
  }
  CHECK(interrupted > 5);
}

}  // namespace lauka::darwin
