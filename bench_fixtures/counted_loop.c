/* Two loops that benchmarks inside of a program are made of, on lauka/counters.h, and how their
   results are handed to lauka: through the file that LAUKA_METRICS names.

   `per_turn` times a function by itself, as nanobench does: it finds how many turns take a
   millisecond, does that eleven times, and gives the median. `keep_running` leaves the loop to the
   benchmark, as google-benchmark does. What they measure is one turn of a loop of two instructions.

     lauka -- 'counted_loop epochs' 'counted_loop loop' */
#include <lauka/counters.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one turn takes. */
struct per_turn {
  double ns;
  double cycles; /* below 0: not counted */
  double instructions;
};

/* Without lauka nothing is handed over. */
static void tell(const char* name, double value, const char* rest) {
  const char* path = getenv("LAUKA_METRICS");
  FILE* file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fprintf(file, "%s %.17g %s\n", name, value, rest);
  fclose(file);
}

static struct per_turn between(const struct lauka_reading* before,
                               const struct lauka_reading* after, uint64_t turns) {
  const double n = (double)turns;
  struct per_turn result = {(double)(after->all.cpu_ns - before->all.cpu_ns) / n, -1, -1};
  if (before->has_counts && after->has_counts) {
    result.cycles = (double)(after->all.cycles - before->all.cycles) / n;
    result.instructions = (double)(after->all.instructions - before->all.instructions) / n;
  }
  return result;
}

static int by_time(const void* left, const void* right) {
  const double a = ((const struct per_turn*)left)->ns;
  const double b = ((const struct per_turn*)right)->ns;
  return (a > b) - (a < b);
}

/* nanobench's way. */

enum { EPOCHS = 11 };

static struct per_turn per_turn(lauka_counters* counters, void (*work)(uint64_t turns)) {
  struct per_turn epochs[EPOCHS];
  struct lauka_reading before;
  struct lauka_reading after;
  uint64_t turns = 1;
  do {
    turns *= 2;
    lauka_counters_read(counters, &before);
    work(turns);
    lauka_counters_read(counters, &after);
  } while (after.all.cpu_ns - before.all.cpu_ns < 1000000);
  for (int i = 0; i < EPOCHS; ++i) {
    lauka_counters_read(counters, &before);
    work(turns);
    lauka_counters_read(counters, &after);
    epochs[i] = between(&before, &after, turns);
  }
  qsort(epochs, EPOCHS, sizeof epochs[0], by_time);
  return epochs[EPOCHS / 2];
}

/* google-benchmark's way. */

struct state {
  lauka_counters* counters;
  struct lauka_reading before;
  struct lauka_reading after;
  uint64_t wanted;
  uint64_t done;
};

/* The counters are read at the first and at the last call only. */
static int keep_running(struct state* state) {
  if (state->done == 0) lauka_counters_read(state->counters, &state->before);
  if (state->done < state->wanted) {
    ++state->done;
    return 1;
  }
  lauka_counters_read(state->counters, &state->after);
  return 0;
}

/* What is measured. */

static void turn(uint64_t turns) {
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
  __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  for (volatile uint64_t i = 0; i < turns;) i = i + 1;
#endif
}

int main(int argc, char** argv) {
  const int is_loop = argc == 2 && strcmp(argv[1], "loop") == 0;
  if (argc != 2 || !(is_loop || strcmp(argv[1], "epochs") == 0)) {
    fprintf(stderr, "usage: counted_loop epochs|loop\n");
    return 2;
  }
  lauka_counters* counters = lauka_counters_begin();
  if (counters == NULL) return 1;
  struct per_turn result;
  if (is_loop) {
    struct state state = {.counters = counters, .wanted = 10000};
    while (keep_running(&state)) turn(1000);
    result = between(&state.before, &state.after, state.done * 1000);
  } else {
    result = per_turn(counters, turn);
  }
  printf("turn: %.3f ns\n", result.ns);
  tell("turn_time", result.ns, "ns");
  if (result.cycles >= 0) {
    printf("turn: %.3f cycles, %.3f instructions\n", result.cycles, result.instructions);
    tell("turn_cycles", result.cycles, "");
    tell("turn_instructions", result.instructions, "");
  } else {
    printf("turn: no cycles and instructions: %s\n", lauka_counters_why_not(counters));
  }
  lauka_counters_end(counters);
  return 0;
}
