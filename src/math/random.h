/* Random numbers by their place in a sequence, which are the same everywhere. */
#ifndef ABUT_MATH_RANDOM_H
#define ABUT_MATH_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15u /* from one state of splitmix64 to the next */

/* Gives what splitmix64 makes of the state that follows x. */
static inline uint64_t random_mix(uint64_t x)
{
  x += RANDOM_STEP;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Gives the number of [0, 1) that the upper 53 bits of z tell. */
static inline double random_share(uint64_t z)
{
  return (double)(z >> 11) * 0x1p-53;
}

/* Gives number `at` of a sequence, in [0, 1). */
static inline double random_number(uint64_t seed, uint64_t at)
{
  return random_share(random_mix((seed << 40 | seed >> 24) + at * RANDOM_STEP));
}

#endif
