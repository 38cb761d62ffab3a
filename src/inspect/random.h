/* Random numbers by their place in a sequence, which are the same everywhere. */
#ifndef ABUT_INSPECT_RANDOM_H
#define ABUT_INSPECT_RANDOM_H

#include <stdint.h>

/* Gives number `at` of a sequence, in [0, 1) (splitmix64). */
static inline double random_number(uint64_t seed, uint64_t at)
{
  uint64_t z = (seed << 40 | seed >> 24) + (at + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

#endif
