#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/polygon.h"
#include <stdlib.h>

typedef struct shell {
  double volume, lower[3], upper[3];
  uint32_t triangle; /* one of its triangles */
} shell;

double volume_under(const surface *s, size_t triangle, const double origin[3])
{
  const uint32_t *t = s->triangles + 3 * triangle;
  double a[3], b[3], c[3];
  for (int k = 0; k < 3; ++k) {
    a[k] = point_of(s, t[0])[k] - origin[k];
    b[k] = point_of(s, t[1])[k] - origin[k];
    c[k] = point_of(s, t[2])[k] - origin[k];
  }
  return (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
          a[2] * (b[0] * c[1] - b[1] * c[0])) /
         6.0;
}

static void measure_shells(const maker *m, shell *shells)
{
  const surface *s = m->s;
  for (size_t i = 0; i < m->shell_count; ++i) {
    for (int k = 0; k < 3; ++k) {
      shells[i].lower[k] = HUGE_VAL;
      shells[i].upper[k] = -HUGE_VAL;
    }
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    shell *one = &shells[m->shell[i]];
    one->volume += volume_under(s, i, s->lower);
    one->triangle = (uint32_t)i;
    for (size_t k = 0; k < 9; ++k) {
      const double x = point_of(s, s->triangles[3 * i + k / 3])[k % 3];
      one->lower[k % 3] = fmin(one->lower[k % 3], x);
      one->upper[k % 3] = fmax(one->upper[k % 3], x);
    }
  }
}

/* Whether a shell's box contains another one's. */
static bool box_holds(const shell *outer, const shell *inner)
{
  for (int k = 0; k < 3; ++k) {
    if (!(outer->lower[k] < inner->lower[k] && outer->upper[k] > inner->upper[k])) {
      return false;
    }
  }
  return true;
}

/* Counts the other shells that contain a shell, independently of their orientation, by their solid
 * angles. angles: (shell_count), overwritten. */
static size_t depth_of(const maker *m, const shell *shells, size_t which, double *angles)
{
  const surface *s = m->s;
  const uint32_t *t = s->triangles + 3 * (size_t)shells[which].triangle;
  double x[3];
  size_t depth = 0, around = 0;
  for (int k = 0; k < 3; ++k) {
    x[k] = (point_of(s, t[0])[k] + point_of(s, t[1])[k] + point_of(s, t[2])[k]) / 3.0;
  }
  for (size_t o = 0; o < m->shell_count; ++o) {
    angles[o] = o != which && box_holds(&shells[o], &shells[which]) ? 0.0 : NAN;
    around += angles[o] == 0.0;
  }
  for (size_t i = 0; around && i < s->triangle_count; ++i) {
    if (!isnan(angles[m->shell[i]])) {
      angles[m->shell[i]] += triangle_angle(point_of(s, s->triangles[3 * i]),
                                            point_of(s, s->triangles[3 * i + 1]),
                                            point_of(s, s->triangles[3 * i + 2]), x);
    }
  }
  for (size_t o = 0; around && o < m->shell_count; ++o) {
    depth += fabs(angles[o]) > 0.5;
  }
  return depth;
}

/* Groups shells that meet at edges of several faces, to judge them together. */
static void join_tangled(maker *m, uint32_t *group)
{
  for (size_t i = 0; i < m->shell_count; ++i) {
    group[i] = (uint32_t)i;
  }
  for (size_t i = 0; i < m->tangle_count; ++i) {
    uint32_t a = m->shell[m->tangles[2 * i]], b = m->shell[m->tangles[2 * i + 1]];
    while (group[a] != a) {
      a = group[a] = group[group[a]];
    }
    while (group[b] != b) {
      b = group[b] = group[group[b]];
    }
    group[a > b ? a : b] = a > b ? b : a;
  }
  for (size_t i = 0; i < m->shell_count; ++i) {
    group[i] = group[group[i]]; /* earlier entries are already roots */
  }
  for (size_t i = 0; i < m->s->triangle_count; ++i) {
    m->shell[i] = group[m->shell[i]];
  }
}

/* ---- nested shells ---- */

#define LOOKED_AT 16  /* triangles that are tested per shell */
#define OFF_FACE 1e-5 /* of the diagonal */
#define WOUND 0.5     /* a larger winding number is inside */

void before_face(const surface *s, size_t triangle, double out[3])
{
  double n[3];
  triangle_area(s, triangle, n);
  const double size = length(n);
  for (int k = 0; k < 3; ++k) {
    out[k] = OFF_FACE * s->diagonal * n[k] / (size > 0.0 ? size : 1.0);
    for (size_t i = 0; i < 3; ++i) {
      out[k] += point_of(s, s->triangles[3 * triangle + i])[k] / 3.0;
    }
  }
}

/* Whether the space in front of a triangle is inside. */
static bool is_within(const surface *s, size_t triangle, const void *user,
                      double (*winding)(const void *user, const double x[3]))
{
  double x[3];
  before_face(s, triangle, x);
  return winding(user, x) > WOUND;
}

/* A shell is nested if the space in front of each of its triangles is inside. This also holds for
 * cavities, which have the opposite orientation and a negative volume. */
abut_status surface_nested(const surface *s, double (*winding)(const void *user, const double x[3]),
                           const void *user, size_t *nested)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *order = NULL;
  *nested = 0;
  if (s->shell_count < 2) {
    goto done;
  }
  TRY_DONE(allocate(&memory, s->shell_count + 2, sizeof(size_t)));
  TRY_DONE(allocate(&order, s->triangle_count, sizeof(uint32_t)));
  size_t *start = memory;
  uint32_t *of = order;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    ++start[s->shell[i] + 2];
  }
  for (size_t i = 2; i < s->shell_count + 2; ++i) {
    start[i] += start[i - 1];
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    of[start[s->shell[i] + 1]++] = (uint32_t)i;
  }
  for (size_t i = 0; i < s->shell_count; ++i) {
    const size_t count = start[i + 1] - start[i], step = count / LOOKED_AT + 1;
    double volume = 0.0, area = 0.0;
    bool all = count > 0;
    for (size_t k = 0; k < count && all; k += step) {
      all = is_within(s, of[start[i] + k], user, winding);
    }
    for (size_t k = 0; k < count && all; ++k) {
      double vector[3];
      triangle_area(s, of[start[i] + k], vector);
      area += length(vector);
      volume += volume_under(s, of[start[i] + k], s->lower);
    }
    *nested += all && volume > SHEET_VOLUME * area * sqrt(area);
  }
done:
  free(memory);
  free(order);
  return status;
}

abut_status turn_shells(maker *m)
{
  surface *s = m->s;
  void *memory = NULL, *group = NULL, *angles = NULL;
  TRY(allocate(&group, m->shell_count, sizeof(uint32_t)));
  join_tangled(m, group);
  free(group);
  TRY(allocate(&angles, m->shell_count, sizeof(double)));
  const abut_status status = allocate(&memory, m->shell_count, sizeof(shell));
  if (status != ABUT_SUCCESS) {
    free(angles);
    return status;
  }
  shell *shells = memory;
  measure_shells(m, shells);
  for (size_t i = 0; i < m->shell_count; ++i) {
    if (shells[i].volume < 0.0) {
      const bool is_cavity = depth_of(m, shells, i, angles) % 2 == 1;
      shells[i].triangle = is_cavity ? NONE : 0;
      m->report->shells_turned += !is_cavity;
    } else {
      shells[i].triangle = NONE;
    }
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    if (shells[m->shell[i]].triangle != NONE) {
      turn(s, i);
    }
  }
  free(memory);
  free(angles);
  return ABUT_SUCCESS;
}
