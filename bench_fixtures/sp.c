/* Three functions with the same loop, whose parts of the time are known: `sp 50 30 20` spends half
   of its time in fifty(), three tenths in thirty() and a fifth in twenty(). A unit is 800,000
   turns. A function whose argument is 0 is not called. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The number keeps a compiler or linker from making one function of all. */
#define FUNCTION(name, n)                                                   \
  static __attribute__((noinline, aligned(64))) void name(uint64_t units) { \
    for (uint64_t i = 0; i < units * 800000; ++i) __asm__ volatile("");     \
    __asm__ volatile("" : : "i"(n));                                        \
  }
FUNCTION(fifty, 50)
FUNCTION(thirty, 30)
FUNCTION(twenty, 20)

int main(int count, char** words) {
  unsigned long units[3] = {0, 0, 0};
  int is_understood = count == 4;
  for (int i = 0; is_understood && i < 3; ++i) {
    char* end = NULL;
    units[i] = strtoul(words[i + 1], &end, 10);
    is_understood = words[i + 1][0] >= '0' && words[i + 1][0] <= '9' && *end == '\0';
  }
  if (!is_understood) {
    fprintf(stderr, "usage: sp UNITS_OF_FIFTY UNITS_OF_THIRTY UNITS_OF_TWENTY\n");
    return 2;
  }
  if (units[0] > 0) fifty(units[0]);
  if (units[1] > 0) thirty(units[1]);
  if (units[2] > 0) twenty(units[2]);
  return 0;
}
