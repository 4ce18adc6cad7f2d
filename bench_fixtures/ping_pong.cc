// Hands a byte to a child and waits until it comes back, so often: two switches each, and no work.
#include "arguments.h"

#include <array>
#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using Pipe = std::array<int, 2>;

/// Whether a byte went out and one came in.
bool pass_on(int out, int in) {
  char byte = 0;
  return write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1;
}

/// Gives each byte back, until there are no more.
[[noreturn]] void answer(const Pipe& to, const Pipe& from) {
  close(to[1]);
  char byte = 0;
  while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1) {
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = fixture::arguments_of(argc, argv);
  const auto rounds = arguments.size() == 1 ? fixture::to_number(arguments[0], 10'000'000)
                                            : std::optional<std::uint64_t>();
  if (!rounds) {
    fixture::refuse("ping_pong ROUNDS");
  }
  Pipe to{};
  Pipe from{};
  if (pipe(to.data()) != 0 || pipe(from.data()) != 0) {
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    answer(to, from);
  }
  bool good = child > 0;
  for (std::uint64_t i = 0; i < *rounds && good; ++i) {
    good = pass_on(to[1], from[0]);
  }
  close(to[1]);
  return good && waitpid(child, nullptr, 0) == child ? 0 : 1;
}
