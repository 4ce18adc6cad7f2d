/* Prints VALUES lines "v1=...", "v2=...", each with an effect of placement of its own: 100 *
   exp(PERCENT/100 * a + NOISE/100 * b). `a` is standard normal and depends on SEED, SIDE, LAYOUT
   and the line alone. `b` depends on SEED, SIDE and the line, too, and is another draw in each run:
   autoregressive, with the coefficient AR. The runs so far are the bytes of the file COUNT, to
   which each run adds one.

   placed SEED SIDE LAYOUT PERCENT NOISE COUNT [VALUES [AR]] */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

static double uniform(uint64_t bits) {
  return ((double)(bits >> 11U) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958. */
static double normal(uint64_t seed) {
  const double pi = 3.14159265358979323846;
  return sqrt(-2.0 * log(uniform(mixed(seed)))) * cos(2.0 * pi * uniform(mixed(~seed)));
}

/* Returns the number of runs before this one, or -1. */
static long count_run(const char* file) {
  const int to = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  return to >= 0 && write(to, "x", 1) == 1 ? (long)lseek(to, 0, SEEK_CUR) - 1 : -1;
}

int main(int argc, char** argv) {
  if (argc < 7 || argc > 9) return 2;
  const uint64_t side = mixed(mixed(strtoull(argv[1], NULL, 10)) + strtoull(argv[2], NULL, 10));
  const uint64_t layout = strtoull(argv[3], NULL, 10);
  const long values = argc > 7 ? strtol(argv[7], NULL, 10) : 1;
  const double ar = argc > 8 ? strtod(argv[8], NULL) : 0.0;
  const long runs = count_run(argv[6]);
  if (runs < 0) return 1;
  for (long value = 1; value <= values; ++value) {
    const uint64_t line = mixed(side + (uint64_t)value);
    double noise = normal(mixed(line));
    for (long run = 1; run <= runs; ++run)
      noise = ar * noise + sqrt(1.0 - ar * ar) * normal(mixed(line) + (uint64_t)run);
    const double place = normal(mixed(line + layout));
    printf("v%ld=%.9g\n", value,
           100.0 * exp((strtod(argv[4], NULL) * place + strtod(argv[5], NULL) * noise) / 100.0));
  }
  return 0;
}
