#include "core/random.h"

#include "math/random.h"
#include <math.h>

#define PI 3.14159265358979323846

double random_uniform(uint64_t *state)
{
  const uint64_t z = random_mix(*state);
  *state += RANDOM_STEP;
  return random_share(z) + 0x1p-54; /* never 0 */
}

double random_normal(uint64_t *state)
{
  const double radius = sqrt(-2.0 * log(random_uniform(state)));
  return radius * cos(2.0 * PI * random_uniform(state));
}
