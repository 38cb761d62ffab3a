#include "surface/measure.h"

#include "support/check.h"
#include "mesh/surface/regions.h"
#include "mesh/surface/tree.h"

#include <math.h>
#include <stdlib.h>

void check_sound(const skin *k, const char *name)
{
  size_t wrong = 0;
  for (size_t i = 0; i < k->edge_count; ++i) {
    const uint32_t *e = k->edges + 2 * i;
    wrong += !(e[0] < e[1] && e[1] < k->vertex_count - k->added);
    wrong += i && !(e[-2] < e[0] || (e[-2] == e[0] && e[-1] < e[1]));
  }
  for (size_t i = 0; i < 3 * k->vertex_count; ++i) {
    wrong += !isfinite(k->vertices[i]);
  }
  check(!wrong, "%s: %zu edges or coordinates are wrong", name, wrong);
}

/* The distance from x to the nearest vertex. */
static double to_vertex(const skin *k, const double x[3])
{
  double least = HUGE_VAL;
  for (size_t i = 0; i < k->vertex_count; ++i) {
    const double *v = k->vertices + 3 * i;
    const double d[3] = {v[0] - x[0], v[1] - x[1], v[2] - x[2]};
    least = fmin(least, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  return sqrt(least);
}

double covering_radius(const surface *s, const skin *k)
{
  double most = 0.0, walked = 0.0;
  size_t done = 0;
  uint64_t state = 1;
  for (size_t t = 0; t < s->triangle_count - s->closing_count; ++t) {
    double area[3];
    triangle_area(s, t, area);
    walked += sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]);
    for (; (double)done * s->area < 10000.0 * walked; ++done) {
      const double u = sqrt(random_uniform(&state)), v = random_uniform(&state);
      double x[3];
      for (size_t i = 0; i < 3; ++i) {
        x[i] = (1.0 - u) * s->points[3 * (size_t)s->triangles[3 * t] + i] +
               u * (1.0 - v) * s->points[3 * (size_t)s->triangles[3 * t + 1] + i] +
               u * v * s->points[3 * (size_t)s->triangles[3 * t + 2] + i];
      }
      most = fmax(most, to_vertex(k, x));
    }
  }
  return most;
}

double off_surface(const surface *s, const skin *k)
{
  tree t;
  double most = 0.0;
  REQUIRE_OK(tree_create(s, NULL, s->triangle_count, &t));
  for (size_t i = 0; i < k->vertex_count; ++i) {
    most = fmax(most, tree_nearest(&t, k->vertices + 3 * i, HUGE_VAL).distance2);
  }
  tree_free(&t);
  return sqrt(most);
}

double spacing_of(const surface *s, size_t vertices)
{
  return sqrt(2.0 * s->area / (sqrt(3.0) * (double)vertices));
}
