#include "mesh/surface/level_set.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* least distance of a crossing from a side's ends, as a share of the side, so that triangles have
 * an area */
#define END_LEAST 1e-3
#define LOOP_MOST 12 /* crossings per cube */
#define NO_POINT UINT32_MAX

/* Corner c of a cube is at (c & 1, c >> 1 & 1, c >> 2 & 1). The corners of each face are
 * counterclockwise seen from outside. */
static const unsigned char faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                          {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

typedef struct marcher {
  const lattice *l;
  const float *values;
  surface *out;
  size_t point_room, triangle_room;
  uint32_t *crossing[2][3]; /* (size[1], size[2]) for each node of a layer: the point on its side
                               along an axis; for one layer and the next */
} marcher;

size_t lattice_count(const lattice *l)
{
  return l->size[0] * l->size[1] * l->size[2];
}

static abut_status add_point(marcher *m, const double x[3], uint32_t *name)
{
  surface *s = m->out;
  TRY(grow((void **)&s->points, &m->point_room, s->point_count + 1, 3 * sizeof(double)));
  memcpy(s->points + 3 * s->point_count, x, 3 * sizeof(double));
  *name = (uint32_t)s->point_count++;
  return ABUT_SUCCESS;
}

static abut_status add_triangle(marcher *m, uint32_t a, uint32_t b, uint32_t c)
{
  surface *s = m->out;
  const uint32_t corners[3] = {a, b, c};
  TRY(grow((void **)&s->triangles, &m->triangle_room, s->triangle_count + 1, sizeof corners));
  memcpy(s->triangles + 3 * s->triangle_count++, corners, sizeof corners);
  return ABUT_SUCCESS;
}

/* Puts points on the crossed sides of the lattice that begin in layer i. */
static abut_status cross_layer(marcher *m, size_t i)
{
  const lattice *l = m->l;
  const size_t layer = l->size[1] * l->size[2], step[3] = {layer, l->size[2], 1};
  for (size_t at = 0; at < layer; ++at) {
    const size_t place[3] = {i, at / l->size[2], at % l->size[2]};
    const float *value = m->values + i * layer + at;
    for (int a = 0; a < 3; ++a) {
      uint32_t *name = &m->crossing[i & 1][a][at];
      *name = NO_POINT;
      if (place[a] + 1 == l->size[a] || (value[0] > 0.0f) == (value[step[a]] > 0.0f)) {
        continue;
      }
      const double v = (double)value[0], w = (double)value[step[a]];
      double x[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = l->origin[k] + l->spacing * (double)place[k];
      }
      x[a] += l->spacing * fmin(fmax(v / (v - w), END_LEAST), 1.0 - END_LEAST);
      TRY(add_point(m, x, name));
    }
  }
  return ABUT_SUCCESS;
}

/* Triangulates a loop of points. Longer loops get a centre point, because a diagonal could be in a
 * face of the cube and coincide with one of the next cube. */
static abut_status fill_loop(marcher *m, const uint32_t *loop, size_t count)
{
  double middle[3] = {0.0, 0.0, 0.0};
  uint32_t name;
  if (count < 5) {
    TRY(add_triangle(m, loop[0], loop[1], loop[2]));
    return count == 4 ? add_triangle(m, loop[0], loop[2], loop[3]) : ABUT_SUCCESS;
  }
  for (size_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      middle[k] += m->out->points[3 * (size_t)loop[i] + (size_t)k] / (double)count;
    }
  }
  TRY(add_point(m, middle, &name));
  for (size_t i = 0; i < count; ++i) {
    TRY(add_triangle(m, loop[i], loop[(i + 1) % count], name));
  }
  return ABUT_SUCCESS;
}

/* Returns the side of the cube between two corners: its axis and its lower corner. */
static unsigned side_between(unsigned a, unsigned b)
{
  return (a ^ b) / 2 * 8 + (a & b); /* corner bits 1, 2, 4 give axes 0, 1, 2 */
}

/* Finds the next side of the loop for each crossed side of a cube. On a face with alternating
 * corners, the inside corners are separated, which is consistent for both adjacent cubes. */
static void link_sides(unsigned inside, unsigned char next[24])
{
  memset(next, 0xff, 24);
  for (int f = 0; f < 6; ++f) {
    for (int k = 0; k < 4; ++k) {
      const unsigned a = faces[f][k], b = faces[f][(k + 1) % 4];
      if (inside >> a & 1 || !(inside >> b & 1)) {
        continue;
      }
      int last = k + 1; /* from a to b, then to the last inside corner */
      while (inside >> faces[f][(last + 1) % 4] & 1) {
        ++last;
      }
      next[side_between(a, b)] =
        (unsigned char)side_between(faces[f][last % 4], faces[f][(last + 1) % 4]);
    }
  }
}

/* Returns the point on a side of the cube at (i, at). */
static uint32_t point_on(const marcher *m, size_t i, size_t at, unsigned side)
{
  const unsigned corner = side % 8;
  const size_t there = at + (corner >> 1 & 1) * m->l->size[2] + (corner >> 2 & 1);
  return m->crossing[(i + (corner & 1)) & 1][side / 8][there];
}

static abut_status cut_cube(marcher *m, size_t i, size_t at, unsigned inside)
{
  unsigned char next[24];
  link_sides(inside, next);
  for (unsigned first = 0; first < 24; ++first) {
    uint32_t loop[LOOP_MOST];
    size_t count = 0;
    for (unsigned side = first; next[side] != 0xff;) {
      const unsigned after = next[side];
      loop[count++] = point_on(m, i, at, side);
      next[side] = 0xff;
      side = after;
    }
    if (count) {
      TRY(fill_loop(m, loop, count));
    }
  }
  return ABUT_SUCCESS;
}

/* Triangulates the cubes between layers i and i + 1. */
static abut_status cut_layer(marcher *m, size_t i)
{
  const size_t rows = m->l->size[1], row = m->l->size[2];
  for (size_t j = 0; j + 1 < rows; ++j) {
    for (size_t k = 0; k + 1 < row; ++k) {
      const size_t at = j * row + k;
      unsigned inside = 0;
      for (unsigned c = 0; c < 8; ++c) {
        const size_t there = (i + (c & 1)) * rows * row + at + (c >> 1 & 1) * row + (c >> 2);
        inside |= (unsigned)!(m->values[there] > 0.0f) << c;
      }
      if (inside && inside != 0xff) {
        TRY(cut_cube(m, i, at, inside));
      }
    }
  }
  return ABUT_SUCCESS;
}

double level_set_volume(const surface *s, size_t triangle)
{
  double area[3], off[3];
  triangle_area(s, triangle, area);
  difference(s->points + 3 * (size_t)s->triangles[3 * triangle], s->lower, off);
  return dot(area, off) / 3.0;
}

void level_set_measure(surface *s)
{
  double d[3] = {0.0, 0.0, 0.0};
  s->area = s->volume = 0.0;
  for (size_t i = 0; i < s->point_count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double x = s->points[3 * i + k];
      s->lower[k] = i ? fmin(s->lower[k], x) : x;
      s->upper[k] = i ? fmax(s->upper[k], x) : x;
      d[k] = s->upper[k] - s->lower[k];
    }
  }
  s->diagonal = sqrt(dot(d, d));
  for (size_t t = 0; t < s->triangle_count; ++t) {
    double area[3];
    triangle_area(s, t, area);
    s->area += sqrt(dot(area, area));
    s->volume += level_set_volume(s, t);
  }
}

abut_status level_set_create(const lattice *l, const float *values, surface *out)
{
  marcher m = {.l = l, .values = values, .out = out};
  const size_t layer = l->size[1] * l->size[2];
  abut_status status = ABUT_SUCCESS;
  arena memory = {0};
  *out = (surface){0};
  for (int i = 0; i < 6; ++i) {
    void *names;
    TRY_DONE(arena_allocate(&memory, &names, layer, sizeof(uint32_t)));
    m.crossing[i / 3][i % 3] = names;
  }
  for (size_t i = 0; i < l->size[0]; ++i) {
    TRY_DONE(cross_layer(&m, i));
    if (i) {
      TRY_DONE(cut_layer(&m, i - 1));
    }
  }
  level_set_measure(out);
done:
  arena_free(&memory);
  if (status != ABUT_SUCCESS) {
    surface_free(out);
  }
  return status;
}
