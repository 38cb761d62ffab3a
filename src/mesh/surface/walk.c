#include "mesh/surface/walk.h"

#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

#define STEPS_MOST 1000

static double square_to(const double a[3], const double b[3])
{
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return dot(d, d);
}

/* Replaces `best` by the nearest point of a segment if that is nearer. */
static void try_segment(const double *a, const double *b, const double x[3], double best[3],
                        double *distance2)
{
  double ab[3], ax[3], p[3];
  for (int k = 0; k < 3; ++k) {
    ab[k] = b[k] - a[k];
    ax[k] = x[k] - a[k];
  }
  const double length2 = dot(ab, ab);
  const double share = length2 > 0.0 ? fmin(fmax(dot(ab, ax) / length2, 0.0), 1.0) : 0.0;
  for (int k = 0; k < 3; ++k) {
    p[k] = a[k] + share * ab[k];
  }
  const double there = square_to(p, x);
  if (there < *distance2) {
    *distance2 = there;
    memcpy(best, p, sizeof p);
  }
}

/* Does the same for a triangle. Returns whether it was nearer. */
static bool try_triangle(const double *const v[3], const double x[3], double best[3],
                         double *distance2)
{
  const double before = *distance2;
  double u[3], w[3], n[3], off[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = v[1][k] - v[0][k];
    w[k] = v[2][k] - v[0][k];
    off[k] = x[k] - v[0][k];
  }
  for (int k = 0; k < 3; ++k) {
    const int j = (k + 1) % 3, l = (k + 2) % 3;
    n[k] = u[j] * w[l] - u[l] * w[j];
  }
  /* Barycentric coordinates of the projection on the plane. */
  const double uu = dot(u, u), uw = dot(u, w), ww = dot(w, w), ou = dot(off, u), ow = dot(off, w);
  const double size = dot(n, n), b = (ww * ou - uw * ow), c = (uu * ow - uw * ou);
  if (size > 0.0 && b >= 0.0 && c >= 0.0 && b + c <= size) {
    const double height = dot(off, n);
    if (height * height < *distance2 * size) {
      *distance2 = height * height / size;
      for (int k = 0; k < 3; ++k) {
        best[k] = v[0][k] + (b * u[k] + c * w[k]) / size;
      }
    }
  } else {
    for (int k = 0; k < 3; ++k) {
      try_segment(v[k], v[(k + 1) % 3], x, best, distance2);
    }
  }
  return *distance2 < before;
}

/* Tests the triangles around a side's first corner. Returns the side that begins at their corner
 * nearest to the point found, or the given side if none is nearer. */
static uint32_t try_fan(const surface *s, uint32_t side, const double x[3], double best[3],
                        double *distance2)
{
  const size_t real = 3 * (s->triangle_count - s->closing_count);
  uint32_t found = side, at = side;
  bool backwards = false;
  while (true) {
    const uint32_t sides[3] = {at, side_next(at), side_before(at)};
    const double *v[3];
    for (int k = 0; k < 3; ++k) {
      v[k] = s->points + 3 * (size_t)s->triangles[sides[k]];
    }
    if (at < real && try_triangle(v, x, best, distance2)) {
      int nearest = 0;
      for (int k = 1; k < 3; ++k) {
        nearest = square_to(v[k], best) < square_to(v[nearest], best) ? k : nearest;
      }
      found = sides[nearest];
    }
    uint32_t next = backwards ? s->across[at] : s->across[sides[2]];
    if (next >= SIDE_TANGLED && !backwards) {
      backwards = true;
      next = s->across[side];
    }
    if (next >= SIDE_TANGLED) {
      return found;
    }
    at = backwards ? side_next(next) : next;
    if (at == side) {
      return found;
    }
  }
}

void walk_to_nearest(const surface *s, uint32_t side, double x[3])
{
  double best[3] = {x[0], x[1], x[2]}, distance2 = HUGE_VAL;
  for (int i = 0; i < STEPS_MOST; ++i) {
    const double before = distance2;
    const uint32_t point = s->triangles[side];
    side = try_fan(s, side, x, best, &distance2);
    if (!(distance2 < before) || s->triangles[side] == point) {
      break;
    }
  }
  memcpy(x, best, sizeof best);
}
