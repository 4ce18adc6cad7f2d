// Ends at once with status 0, but leaves a child which holds standard output and error for so many
// milliseconds more.
#include "arguments.h"
#include "lasting.h"

#include <ctime>
#include <string_view>

#include <sys/types.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* const usage = "leaves_a_child MILLISECONDS [--setsid]";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.empty() || arguments.size() > 2) {
    fixture::refuse(usage);
  }
  const auto milliseconds = fixture::to_number(arguments[0], 600'000);
  const bool leaves_session = arguments.size() == 2 && arguments[1] == "--setsid";
  if (!milliseconds || (arguments.size() == 2 && !leaves_session)) {
    fixture::refuse(usage);
  }
  if (fork() == 0) {
    if (leaves_session) {
      setsid();
    }
    fixture::print_pid("child");
    const auto whole = static_cast<std::time_t>(*milliseconds / 1000);
    const auto rest = static_cast<long>(*milliseconds % 1000) * 1'000'000;
    const timespec time{whole, rest};
    nanosleep(&time, nullptr);
  }
  return 0;
}
