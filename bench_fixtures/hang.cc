// Sleeps for ever (well, ten minutes); a child that has left its process group and session can do
// so beside it.
#include "arguments.h"
#include "lasting.h"

#include <csignal>
#include <string_view>

#include <sys/types.h>
#include <unistd.h>

int main(int argc, char** argv) {
  bool with_child = false;
  for (const std::string_view argument : fixture::arguments_of(argc, argv)) {
    if (argument == "--ignore-term") {
      static_cast<void>(std::signal(SIGTERM, SIG_IGN));
    } else if (argument == "--setsid-child") {
      with_child = true;
    } else {
      fixture::refuse("hang [--ignore-term] [--setsid-child]");
    }
  }
  if (with_child && fork() == 0) {
    setsid();
    fixture::print_pid("child");
    fixture::sleep_for_ever();
  }
  fixture::print_pid("hang");
  fixture::sleep_for_ever();
}
