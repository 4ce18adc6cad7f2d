#include "os/running.h"
#include "os/signals.h"

#include <array>
#include <csignal>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

int reported = -1;

constexpr useconds_t kLaterUs = 600'000;  // longer than the time of one request

void tell() {
  static_cast<void>(write(reported, "x", 1));
}

}  // namespace

TEST_CASE("a second signal ends the process at once, after what is to be given back was") {
  for (const int number : std::array{SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    CAPTURE(number);
    std::array ends = {-1, -1};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
      reported = ends[1];
      std::signal(number, SIG_DFL);
      set_forced_end_action(tell);
      watch_for_interrupts();
      std::raise(number);
      if (first_interrupt_signal() != number) _exit(1);
      usleep(kLaterUs);
      std::raise(number);
      _exit(2);
    }
    close(ends[1]);
    char byte = 0;
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
}

TEST_CASE("signals of one moment are one request, such as timeout(1)'s") {
  // On a busy machine the process may have to wait between two of them for longer than that.
  bool are_one = false;
  for (int i = 0; i < 20 && !are_one; ++i)
    are_one = status_of_child([] {
                watch_for_interrupts();
                for (const int number : std::array{SIGINT, SIGINT, SIGTERM}) std::raise(number);
                return first_interrupt_signal() == SIGINT ? 0 : 1;
              }) == 0;
  CHECK(are_one);
}

}  // namespace lauka::os
