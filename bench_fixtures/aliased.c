// aliased TURNS: a loop in a function that has several names, as aliases and linkers that fold
// equal functions make them; on macOS it has one.

#include <stdio.h>
#include <stdlib.h>

unsigned fold_old(unsigned turns);

__attribute__((noinline)) unsigned fold_old(unsigned turns) {
  unsigned sum = 1;
  for (unsigned i = 0; i < turns; ++i) sum = sum * 31U + (i ^ (sum >> 3U));
  return sum;
}

#if defined __ELF__ && !defined LAUKA_HAS_ONE_NAME
unsigned fold(unsigned turns) __attribute__((alias("fold_old")));
unsigned fold_other(unsigned turns) __attribute__((alias("fold_old")));
unsigned _fold_internal(unsigned turns) __attribute__((alias("fold_old")));
#endif

int main(int count, char** words) {
  printf("%u\n", fold_old(count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1000U));
  return 0;
}
