// Reads from the terminal, or sets its modes (to what they are): a process that is not in the
// foreground is stopped by SIGTTIN or SIGTTOU for that. In the foreground both return at once.
#include "arguments.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace {

bool read_from(int terminal) {
  char byte = 0;
  return read(terminal, &byte, 1) >= 0 || errno == EAGAIN;
}

bool set_modes_of(int terminal) {
  termios modes{};
  return tcgetattr(terminal, &modes) == 0 && tcsetattr(terminal, TCSANOW, &modes) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.size() != 1 || (arguments[0] != "read" && arguments[0] != "set")) {
    fixture::refuse("wants_terminal read|set");
  }
  const int terminal = open("/dev/tty", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (terminal < 0) {
    std::perror("wants_terminal: /dev/tty");
    return 1;
  }
  if (arguments[0] == "read" ? !read_from(terminal) : !set_modes_of(terminal)) {
    std::perror("wants_terminal");
    return 1;
  }
  return 0;
}
