#pragma once

/* Turns whose time depends on little but the clock speed. Each multiplication waits for the result
   of the one before, which leaves most of a core unused. A loop that keeps a core busy can take
   twice as long while another program runs on the core's other hardware thread. */

#include <stdint.h>

/* The loop's own instructions are few beside so many multiplications. */
#define TURNS_OF_A_LOOP 16
#define ONE_TURN                          \
  value *= UINT64_C(6364136223846793005); \
  __asm__ volatile("" : "+r"(value));
#define FOUR_TURNS ONE_TURN ONE_TURN ONE_TURN ONE_TURN

/* Multiplies `turns` times. */
static inline __attribute__((always_inline)) void take_turns(uint64_t turns) {
  uint64_t value = turns | 1;
  for (uint64_t i = 0; i < turns / TURNS_OF_A_LOOP; ++i) {
    FOUR_TURNS FOUR_TURNS FOUR_TURNS FOUR_TURNS
  }
  for (uint64_t i = 0; i < turns % TURNS_OF_A_LOOP; ++i) {
    ONE_TURN
  }
}

#undef ONE_TURN
#undef FOUR_TURNS
