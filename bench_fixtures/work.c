/* Work in units of 100 000 steps: 1.1 million instructions each on x86-64 with gcc 12, and as many
   for every unit. In C, so that little comes before them (0.115 million instructions): from 25
   units on, p percent more units are p percent more instructions, within half a percent of p. What
   it prints depends on every step. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One unit: 100 000 steps of Marsaglia's xorshift64. */
static uint64_t one_unit(uint64_t state) {
  for (int step = 0; step < 100000; ++step) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

int main(int argc, char** argv) {
  char* end = NULL;
  const unsigned long long units = argc == 2 ? strtoull(argv[1], &end, 10) : 0;
  if (argc != 2 || argv[1][0] < '0' || argv[1][0] > '9' || *end != '\0' || units > 100000000) {
    fprintf(stderr, "usage: work UNITS\n");
    return 2;
  }
  uint64_t state = 88172645463325252u;
  for (unsigned long long unit = 0; unit < units; ++unit) {
    state = one_unit(state);
  }
  printf("%016llx\n", (unsigned long long)state);
  return 0;
}
