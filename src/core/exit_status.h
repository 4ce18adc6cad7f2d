#pragma once

namespace lauka {

/// What lauka's exit status says. Ended by signal N: 128 + N.
enum class ExitStatus : int {
  Done = 0,
  Failed = 1,
  Usage = 2,
  GateFailed = 3,
  GateInconclusive = 4,
};

constexpr int status_of_signal(int signal_number) {
  return 128 + signal_number;
}

}  // namespace lauka
