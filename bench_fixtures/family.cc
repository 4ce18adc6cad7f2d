// A tree of processes of known CPU time: so many children at once, each a new program (fork and
// exec of this one) which uses the CPU time, starts one child of its own that does the same, and
// waits for it. All in all CHILDREN * 2 * CPU_TIME, and what 2 * CHILDREN starts of a program cost.
#include "arguments.h"
#include "burning.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Starts this program again with these arguments; false: it could not be.
bool start(const char* program, const char* role, const char* cpu_time) {
  const pid_t child = fork();
  if (child == 0) {
    execlp(program, program, role, cpu_time, nullptr);
    _exit(127);
  }
  return child > 0;
}

/// Whether every child there is has ended with status 0.
bool all_ended_well() {
  bool well = true;
  int status = 0;
  while (wait(&status) > 0) {
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage = "family CHILDREN CPU_TIME   (CPU_TIME of each descendant: 10ms)";
  const auto arguments = fixture::arguments_of(argc, argv);
  const auto cpu_time = arguments.size() == 2 ? fixture::to_time(arguments[1]) : std::nullopt;
  if (!cpu_time) {
    fixture::refuse(usage);
  }
  const bool is_child = arguments[0] == "child";
  if (is_child || arguments[0] == "grandchild") {
    fixture::burn(*cpu_time);
    return (!is_child || start(argv[0], "grandchild", argv[2])) && all_ended_well() ? 0 : 1;
  }
  const auto children = fixture::to_number(arguments[0], 10'000);
  if (!children) {
    fixture::refuse(usage);
  }
  bool well = true;
  for (std::uint64_t i = 0; i < *children; ++i) {
    well = start(argv[0], "child", argv[2]) && well;
  }
  well = all_ended_well() && well;
  if (!well) {
    static_cast<void>(std::fputs("family: a descendant could not be started\n", stderr));
  }
  return well ? 0 : 1;
}
