/* Prints a value with an effect of placement of its own: 100 * exp(PERCENT/100 * a + NOISE/100 * b), where a is
   standard normal and depends on SEED, SIDE and LAYOUT alone, and b is another draw in each run.

   placed SEED SIDE LAYOUT PERCENT NOISE */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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

int main(int argc, char** argv) {
  struct timespec now;
  if (argc != 6) return 2;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t seed = mixed(strtoull(argv[1], NULL, 10));
  const uint64_t place = mixed(seed + 1000 * strtoull(argv[2], NULL, 10) + strtoull(argv[3], NULL, 10));
  const uint64_t run = mixed(place + ((uint64_t)now.tv_nsec << 20U) + (uint64_t)getpid());
  const double effect = strtod(argv[4], NULL) * normal(place) + strtod(argv[5], NULL) * normal(run);
  printf("%.9g\n", 100.0 * exp(effect / 100.0));
  return 0;
}
