#include "mesh/inspect/scatter.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/random.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>

/* Returns the first triangle whose cumulative area exceeds `area`. sum: (count), rising. */
static size_t triangle_at(const double *sum, size_t count, double area)
{
  size_t low = 0, high = count - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (sum[middle] > area) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

abut_status scatter(const surface *s, size_t triangles, uint64_t seed, size_t count, double *points)
{
  void *memory;
  double whole = 0.0;
  TRY(allocate(&memory, triangles, sizeof(double)));
  double *sum = memory;
  for (size_t t = 0; t < triangles; ++t) {
    double area[3];
    triangle_area(s, t, area);
    whole += sqrt(dot(area, area));
    sum[t] = whole;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint32_t *t =
      s->triangles + 3 * triangle_at(sum, triangles, whole * random_number(seed, 3 * i));
    const double *a = s->points + 3 * (size_t)t[0], *b = s->points + 3 * (size_t)t[1],
                 *c = s->points + 3 * (size_t)t[2];
    double u = random_number(seed, 3 * i + 1), v = random_number(seed, 3 * i + 2);
    if (u + v > 1.0) { /* mirror the point from the other half of the parallelogram */
      u = 1.0 - u;
      v = 1.0 - v;
    }
    for (int k = 0; k < 3; ++k) {
      points[3 * i + (size_t)k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}
