// Forks so many children, one after the other, each of which ends at once.
#include "arguments.h"

#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const auto arguments = fixture::arguments_of(argc, argv);
  const auto children = arguments.size() == 1 ? fixture::to_number(arguments[0], 1'000'000)
                                              : std::optional<std::uint64_t>();
  if (!children) {
    fixture::refuse("forks CHILDREN");
  }
  for (std::uint64_t i = 0; i < *children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(0);
    }
    if (child < 0 || waitpid(child, nullptr, 0) != child) {
      return 1;
    }
  }
  return 0;
}
