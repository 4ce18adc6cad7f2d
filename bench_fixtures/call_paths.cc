// Three call paths to one function that does all work: through first() with 50 % of the turns,
// second() with 30 % and third() with 20 %.
//
//   call_paths TURNS [PERCENT [DEPTH]]
//
// TURNS: millions of turns in all. The path through first() takes PERCENT more than that. DEPTH:
// how often first() calls itself before it goes on (default 0). The paths take turns in 100 slices,
// so that each is everywhere.

#include "turns.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Each function has code after its call, so that the call is not made a jump.
#define AFTER_THE_CALL __asm__ volatile("" : : : "memory")

extern "C" {
void work(std::uint64_t turns);
void first(std::uint64_t turns, unsigned depth);
void second(std::uint64_t turns);
void third(std::uint64_t turns);
}

[[gnu::noinline, gnu::aligned(64)]] void work(std::uint64_t turns) {
  // GCC leaves out the frame pointer of a function that needs no space on the stack.
  std::uint64_t on_stack = turns;
  __asm__ volatile("" : "+m"(on_stack));

  take_turns(turns);
  AFTER_THE_CALL;
}

[[gnu::noinline]] void first(std::uint64_t turns, unsigned depth) {
  if (depth > 0)
    first(turns, depth - 1);
  else
    work(turns);
  AFTER_THE_CALL;
}

[[gnu::noinline]] void second(std::uint64_t turns) {
  work(turns);
  AFTER_THE_CALL;
}

[[gnu::noinline]] void third(std::uint64_t turns) {
  work(turns);
  AFTER_THE_CALL;
}

static std::uint64_t whole(double turns) {
  return static_cast<std::uint64_t>(turns);
}

int main(int count, char** words) {
  if (count < 2 || count > 4) {
    std::fprintf(stderr, "usage: call_paths TURNS [PERCENT [DEPTH]]\n");
    return 2;
  }

  constexpr int slices = 100;
  const double turns = std::strtod(words[1], nullptr) * 1e6 / slices;
  const double factor = count > 2 ? 1.0 + std::strtod(words[2], nullptr) / 100.0 : 1.0;
  const auto depth = static_cast<unsigned>(count > 3 ? std::strtoul(words[3], nullptr, 10) : 0UL);

  for (int slice = 0; slice < slices; ++slice) {
    first(whole(0.5 * turns * factor), depth);
    second(whole(0.3 * turns));
    third(whole(0.2 * turns));
  }
  return 0;
}
