/* A hundred functions whose parts of the time are known: function k, from 1, takes 1/k parts of
   5.187 (the sum of 1/1 to 1/100), as their loops are the same and the turns are so divided.

     hundred TURNS [FUNCTION PERCENT]

   TURNS: millions of turns in all. FUNCTION, from 1, takes PERCENT more than that: of the fourth
   50 % more are 2.4 % of the whole. They take turns in 200 slices, so that each is everywhere. */
#include "turns.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 100, SLICES = 200 };

/* The number keeps a compiler from making one function of all. */
#define FUNCTION(n)                                                             \
  static __attribute__((noinline, aligned(64))) void part_##n(uint64_t turns) { \
    take_turns(turns);                                                          \
    __asm__ volatile("" : : "i"(n));                                            \
  }
#define TEN(x, t) t(x##0) t(x##1) t(x##2) t(x##3) t(x##4) t(x##5) t(x##6) t(x##7) t(x##8) t(x##9)
#define HUNDRED(t) \
  TEN(1, t)        \
  TEN(2, t) TEN(3, t) TEN(4, t) TEN(5, t) TEN(6, t) TEN(7, t) TEN(8, t) TEN(9, t) TEN(10, t)

/* They are named part_10 to part_109: no number begins with 0, which C reads in base 8. */
HUNDRED(FUNCTION)

#define ADDRESS(n) part_##n,
static void (*const functions[FUNCTIONS])(uint64_t) = {HUNDRED(ADDRESS)};

int main(int count, char** words) {
  if (count != 2 && count != 4) {
    fprintf(stderr, "usage: hundred TURNS [FUNCTION PERCENT]\n");
    return 2;
  }
  const double turns = strtod(words[1], NULL) * 1e6;
  const int changed = count == 4 ? atoi(words[2]) - 1 : -1;
  const double factor = count == 4 ? 1 + strtod(words[3], NULL) / 100 : 1;
  double sum = 0;
  for (int k = 1; k <= FUNCTIONS; ++k) sum += 1.0 / k;
  for (int slice = 0; slice < SLICES; ++slice)
    for (int i = 0; i < FUNCTIONS; ++i)
      functions[i]((uint64_t)(turns / sum / (i + 1) / SLICES * (i == changed ? factor : 1)));
  return 0;
}
