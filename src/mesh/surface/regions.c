/* Regions grow from the largest triangles, across sides, while neighbours are in the region's
 * plane. This plane has the mean normal and passes through the mean centre. A finely triangulated
 * sphere becomes caps whose height is the deviation. */
#include "mesh/surface/regions.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/outline.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 0.99984770 /* cosine of a degree */
#define SLIVER 5e-5     /* of the diagonal: normals of lower triangles are unreliable */
#define SIZES 2200      /* binary exponents of areas */
#define UNKNOWN (UINT32_MAX - 1)

typedef struct grower {
  const surface *s;
  double deviation;
  uint32_t *region, *queue, *order;
  /* the plane of the growing region */
  double normal[3], centre[3], size;
} grower;

static const double *corner(const surface *s, size_t triangle, size_t k)
{
  return s->points + 3 * (size_t)s->triangles[3 * triangle + k];
}

/* Sorts triangles by size rounded to powers of two, the largest first; then by index. */
static abut_status sort_by_size(grower *g, size_t count)
{
  void *memory = NULL, *sizes = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&memory, SIZES + 1, sizeof(size_t)));
  TRY_DONE(allocate(&sizes, count, sizeof(uint16_t)));
  size_t *start = memory;
  uint16_t *size = sizes;
  for (size_t i = 0; i < count; ++i) {
    double area[3];
    int exponent = -1100;
    triangle_area(g->s, i, area);
    const double square = sqrt(dot(area, area));
    if (square > 0.0) {
      frexp(square, &exponent);
    }
    size[i] = (uint16_t)(1099 - exponent);
    ++start[size[i] + 1];
  }
  for (size_t i = 1; i <= SIZES; ++i) {
    start[i] += start[i - 1];
  }
  for (size_t i = 0; i < count; ++i) {
    g->order[start[size[i]]++] = (uint32_t)i;
  }
done:
  free(memory);
  free(sizes);
  return status;
}

/* Whether a triangle is so low that its normal is unreliable. */
static bool is_sliver(const surface *s, size_t triangle, double size)
{
  double longest = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double *a = corner(s, triangle, k), *b = corner(s, triangle, (k + 1) % 3);
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    longest = fmax(longest, dot(d, d));
  }
  return 2.0 * size <= SLIVER * s->diagonal * sqrt(longest);
}

static bool lies_in_plane(const grower *g, size_t triangle)
{
  const double square = dot(g->normal, g->normal);
  for (size_t k = 0; k < 3; ++k) {
    const double *x = corner(g->s, triangle, k);
    double off = 0.0;
    for (int i = 0; i < 3; ++i) {
      off += (x[i] - g->centre[i] / g->size) * g->normal[i];
    }
    if (!(off * off <= g->deviation * g->deviation * square)) {
      return false;
    }
  }
  double area[3];
  triangle_area(g->s, triangle, area);
  const double size = sqrt(dot(area, area));
  return (size > 0.0 && dot(area, g->normal) >= FLAT * size * sqrt(square)) ||
         is_sliver(g->s, triangle, size);
}

static void take(grower *g, size_t triangle)
{
  double area[3];
  triangle_area(g->s, triangle, area);
  const double size = sqrt(dot(area, area));
  for (size_t i = 0; i < 3; ++i) {
    const double middle =
      (corner(g->s, triangle, 0)[i] + corner(g->s, triangle, 1)[i] + corner(g->s, triangle, 2)[i]) /
      3.0;
    g->normal[i] += area[i];
    g->centre[i] += size * middle;
  }
  g->size += size;
}

/* Returns the region's number of triangles. */
static size_t grow_region(grower *g, uint32_t seed, uint32_t name)
{
  size_t head = 0, tail = 0;
  memset(g->normal, 0, sizeof g->normal);
  memset(g->centre, 0, sizeof g->centre);
  g->size = 0.0;
  g->queue[tail++] = seed;
  g->region[seed] = name;
  take(g, seed);
  while (head < tail && g->size > 0.0) {
    const uint32_t t = g->queue[head++];
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t side = g->s->across[3 * t + k];
      if (side < SIDE_TANGLED && g->region[side / 3] == UNKNOWN && lies_in_plane(g, side / 3)) {
        g->region[side / 3] = name;
        g->queue[tail++] = side / 3;
        take(g, side / 3);
      }
    }
  }
  return tail;
}

abut_status regions_find(const surface *s, double deviation, uint32_t *region, size_t *merged)
{
  const size_t real = s->triangle_count - s->closing_count;
  grower g = {.s = s, .deviation = deviation, .region = region};
  void *queue = NULL, *order = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&queue, real, sizeof(uint32_t)));
  TRY_DONE(allocate(&order, real, sizeof(uint32_t)));
  g.queue = queue;
  g.order = order;
  TRY_DONE(sort_by_size(&g, real));
  uint32_t name = 0;
  *merged = 0;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    region[i] = i < real ? UNKNOWN : REGION_CLOSING;
  }
  for (size_t i = 0; i < real; ++i) {
    if (region[g.order[i]] == UNKNOWN) {
      const size_t size = grow_region(&g, g.order[i], name++);
      *merged += size > 1 ? size : 0;
    }
  }
done:
  free(queue);
  free(order);
  return status;
}
