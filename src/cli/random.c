#include "random.h"

#include <math.h>

#define PI 3.14159265358979323846

/* splitmix64 */
double random_uniform(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double random_normal(uint64_t *state)
{
  const double radius = sqrt(-2.0 * log(random_uniform(state)));
  return radius * cos(2.0 * PI * random_uniform(state));
}
