#include "on_model/on_model.h"

#include <csignal>
#include <string>

#include <doctest/doctest.h>

namespace lauka::darwin {

// Runs on the model of macOS without counters: the launcher of macOS under the whole program.

TEST_CASE("on macOS times, status and standard error of a run are the model's") {
  const Mac mac;
  const std::string work = mac.folder.program("work", "run 20ms kernel=250\nsleep 10ms");
  const Reported reported = mac.lauka(
      {"--engine", "none", "-r3", "-w0", "--export-runs", mac.folder.file("runs.csv"), work});
  reported.check_ended(0);
  const std::string runs = mac.text_of("runs.csv");
  for (const double value : column(runs, "user_time")) CHECK(value == doctest::Approx(0.015));
  for (const double value : column(runs, "wall_time"))
    CHECK(value == doctest::Approx(0.030).epsilon(0.01));
  const Reported failed = mac.lauka({"--engine", "none", "-r3", "-w0",
                                     mac.folder.program("work", "write err no cheese\nexit 4")});
  CHECK(failed.status == 1);
  CHECK(failed.says("no cheese"));
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
    const Reported reported = session(mac);
    reported.check_ended(reported.status == 0 ? 0 : 128 + SIGTERM);
    if (reported.status != 0) ++interrupted;
  }
  CHECK(interrupted > 5);
}

// Why a program is faster, from the counts of the model's processor to the line.

TEST_CASE("a program that does half the work on the model is faster by that, at the same clock") {
  const Mac mac;
  const std::string old = mac.folder.program("old", "run 8ms\nsleep 2ms");
  const std::string now = mac.folder.program("new", "run 4ms\nsleep 5ms");
  const Reported reported =
      mac.lauka({"-v", "-r12", "-w0", "--export-json", mac.folder.file("all.json"), old, now});
  CAPTURE(reported.out);
  CHECK_MESSAGE(reported.status == 0, reported.err);
  CHECK(reported.out.find("\nwhy: ") != std::string::npos);
  CHECK(reported.out.find("x fewer instructions") != std::string::npos);
  CHECK(reported.out.find("x less busy") != std::string::npos);
  CHECK(reported.out.find("leaves out") == std::string::npos);
  const auto json = nlohmann::json::parse(mac.text_of("all.json"));
  const auto& of_new = json.at("results").at(1).at("lauka");
  double product = 1.0;
  for (const auto& factor : of_new.at("why").at("factors"))
    product *= factor.at("of_wall_time").get<double>();
  const double percent = of_new.at("metrics").at("wall_time").at("delta").at("percent");
  CHECK(product == doctest::Approx(1.0 + percent / 100.0).epsilon(1e-9));
  CHECK(of_new.at("why").at("factors").at(0).at("part") == "instructions");
  CHECK(of_new.at("why").at("factors").at(0).at("ratio").get<double>() ==
        doctest::Approx(0.5).epsilon(0.05));
}

}  // namespace lauka::darwin
