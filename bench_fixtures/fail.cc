// Ends as it is told: with an exit status, or by a signal it sends itself.
#include "arguments.h"

#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <unistd.h>

namespace {

/// Dies of `number` with its default action, whatever it was started with, and leaves no core file.
void die_of(int number) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  static_cast<void>(std::signal(number, SIG_DFL));
  sigset_t all{};
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  static_cast<void>(std::raise(number));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage =
      "fail status N [MESSAGE] | fail signal N [MESSAGE]   (MESSAGE to standard error first)";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.size() < 2 || arguments.size() > 3) {
    fixture::refuse(usage);
  }
  const bool by_signal = arguments[0] == "signal";
  const auto number = fixture::to_number(arguments[1], by_signal ? 64 : 255);
  if ((!by_signal && arguments[0] != "status") || !number || (by_signal && *number == 0)) {
    fixture::refuse(usage);
  }
  if (arguments.size() == 3) {
    static_cast<void>(std::fprintf(stderr, "%s\n", argv[3]));
  }
  if (!by_signal) {
    return static_cast<int>(*number);
  }
  die_of(static_cast<int>(*number));
  static_cast<void>(
      std::fprintf(stderr, "fail: signal %d did not end it\n", static_cast<int>(*number)));
  return 1;
}
