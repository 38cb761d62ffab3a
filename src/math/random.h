/* Random numbers from a seed and an index, which are the same on every machine. */
#ifndef ABUT_MATH_RANDOM_H
#define ABUT_MATH_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15u /* difference between successive states of splitmix64 */

/* Returns the output of splitmix64 for the state after x. */
static inline uint64_t random_mix(uint64_t x)
{
  x += RANDOM_STEP;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Returns the number in [0, 1) that the upper 53 bits of z represent. */
static inline double random_share(uint64_t z)
{
  return (double)(z >> 11) * 0x1p-53;
}

/* Returns number `at` of the sequence of a seed, in [0, 1). */
static inline double random_number(uint64_t seed, uint64_t at)
{
  return random_share(random_mix((seed << 40 | seed >> 24) + at * RANDOM_STEP));
}

#endif
