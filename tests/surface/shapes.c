#include "surface/shapes.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *more(void *array, size_t *room, size_t count, size_t size)
{
  if (count < *room) {
    return array;
  }
  *room = 2 * count + 64;
  array = realloc(array, *room * size);
  REQUIRE(array);
  return array;
}

uint32_t shape_vertex(shape *s, double x, double y, double z)
{
  s->vertices = more(s->vertices, &s->vertex_room, s->vertex_count, 3 * sizeof(double));
  double *v = s->vertices + 3 * s->vertex_count;
  v[0] = x;
  v[1] = y;
  v[2] = z;
  return (uint32_t)s->vertex_count++;
}

void shape_face(shape *s, uint32_t a, uint32_t b, uint32_t c)
{
  s->faces = more(s->faces, &s->face_room, s->face_count, 3 * sizeof(uint32_t));
  uint32_t *f = s->faces + 3 * s->face_count++;
  f[0] = a;
  f[1] = b;
  f[2] = c;
}

void shape_quad(shape *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  shape_face(s, a, b, c);
  shape_face(s, a, c, d);
}

void shape_box(shape *s, const double low[3], const double high[3], size_t parts)
{
  for (size_t face = 0; face < 6; ++face) {
    const size_t axis = face / 2, up = face % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const uint32_t first = (uint32_t)s->vertex_count, row = (uint32_t)parts + 1;
    for (size_t i = 0; i <= parts; ++i) {
      for (size_t j = 0; j <= parts; ++j) {
        double x[3];
        x[axis] = up ? high[axis] : low[axis];
        x[u] = i == parts ? high[u] : low[u] + (high[u] - low[u]) * (double)i / (double)parts;
        x[v] = j == parts ? high[v] : low[v] + (high[v] - low[v]) * (double)j / (double)parts;
        shape_vertex(s, x[0], x[1], x[2]);
      }
    }
    for (uint32_t i = 0; i < parts; ++i) {
      for (uint32_t j = 0; j < parts; ++j) {
        const uint32_t a = first + i * row + j, b = a + row, c = b + 1, d = a + 1;
        if (up) {
          shape_quad(s, a, b, c, d);
        } else {
          shape_quad(s, a, d, c, b);
        }
      }
    }
  }
}

void shape_rough_box(shape *s, size_t parts, double by)
{
  uint64_t state = 7;
  shape_box(s, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1}, parts);
  for (size_t i = 0; i < s->vertex_count; ++i) {
    double *v = s->vertices + 3 * i;
    if (v[2] == 1.0 && v[0] > 0.0 && v[0] < 1.0 && v[1] > 0.0 && v[1] < 1.0) {
      v[2] += by * (random_uniform(&state) - 0.5);
    }
  }
}

void shape_prism(shape *s, size_t sides, double height)
{
  const uint32_t n = (uint32_t)sides;
  const uint32_t low = shape_vertex(s, 0, 0, 0), high = shape_vertex(s, 0, 0, height);
  for (uint32_t i = 0; i < n; ++i) {
    const double angle = 6.283185307179586 * i / n;
    shape_vertex(s, cos(angle), sin(angle), 0);
    shape_vertex(s, cos(angle), sin(angle), height);
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t a = 2 + 2 * i, b = 2 + 2 * ((i + 1) % n);
    shape_quad(s, a, b, b + 1, a + 1);
    shape_face(s, low, b, a);
    shape_face(s, high, a + 1, b + 1);
  }
}

void shape_turned(shape *s, const double (*profile)[2], size_t count, size_t sides)
{
  const uint32_t n = (uint32_t)sides, rings = (uint32_t)count - 2;
  const uint32_t low = shape_vertex(s, 0, 0, profile[0][1]);
  for (uint32_t r = 1; r <= rings; ++r) {
    for (uint32_t i = 0; i < n; ++i) {
      const double angle = 6.283185307179586 * i / n;
      shape_vertex(s, profile[r][0] * cos(angle), profile[r][0] * sin(angle), profile[r][1]);
    }
  }
  const uint32_t high = shape_vertex(s, 0, 0, profile[count - 1][1]), first = low + 1;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t next = (i + 1) % n;
    shape_face(s, low, first + next, first + i);
    shape_face(s, high, first + (rings - 1) * n + i, first + (rings - 1) * n + next);
    for (uint32_t r = 0; r + 1 < rings; ++r) {
      const uint32_t a = first + r * n, b = a + n;
      shape_quad(s, a + i, a + next, b + next, b + i);
    }
  }
}

void shape_spindle(shape *s, size_t sides)
{
  const uint32_t n = (uint32_t)sides;
  uint64_t state = 3;
  shape_vertex(s, 0, 0, -1);
  shape_vertex(s, 0, 0, 1);
  for (uint32_t i = 0; i < n; ++i) {
    const double angle = 6.283185307179586 * i / n, out = 1.0 + 0.1 * random_uniform(&state);
    shape_vertex(s, out * cos(angle), out * sin(angle), 0.1 * random_uniform(&state));
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t a = 2 + i, b = 2 + (i + 1) % n;
    shape_face(s, 0, b, a);
    shape_face(s, 1, a, b);
  }
}

void shape_plate(shape *s, size_t n)
{
  const uint32_t sides = 8 * (uint32_t)n;
  for (uint32_t i = 0; i < sides; ++i) {
    const double angle = 6.283185307179586 * i / sides, x = cos(angle), y = sin(angle);
    const double out = fmax(fabs(x), fabs(y));
    const double wide[2] = {x / out, y / out}; /* one of them is 1 or -1 to the bit */
    shape_vertex(s, wide[0], wide[1], 0);
    shape_vertex(s, wide[0], wide[1], 0.2);
    shape_vertex(s, 0.5 * x, 0.5 * y, 0);
    shape_vertex(s, 0.5 * x, 0.5 * y, 0.2);
  }
  for (uint32_t i = 0; i < sides; ++i) {
    const uint32_t a = 4 * i, b = 4 * ((i + 1) % sides);
    shape_quad(s, a, b, b + 1, a + 1);
    shape_quad(s, b + 2, a + 2, a + 3, b + 3);
    shape_quad(s, a + 1, b + 1, b + 3, a + 3);
    shape_quad(s, b, a, a + 2, b + 2);
  }
}

static void cut_sphere(shape *s, const double *a, const double *b, const double *c, size_t times)
{
  if (!times) {
    const uint32_t i = shape_vertex(s, a[0], a[1], a[2]), j = shape_vertex(s, b[0], b[1], b[2]);
    shape_face(s, i, j, shape_vertex(s, c[0], c[1], c[2]));
    return;
  }
  const double *const corner[4] = {a, b, c, a};
  double middle[3][3];
  for (int i = 0; i < 3; ++i) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
      middle[i][k] = corner[i][k] + corner[i + 1][k]; /* the same from both sides */
      square += middle[i][k] * middle[i][k];
    }
    for (int k = 0; k < 3; ++k) {
      middle[i][k] /= sqrt(square);
    }
  }
  cut_sphere(s, a, middle[0], middle[2], times - 1);
  cut_sphere(s, middle[0], b, middle[1], times - 1);
  cut_sphere(s, middle[2], middle[1], c, times - 1);
  cut_sphere(s, middle[0], middle[1], middle[2], times - 1);
}

void shape_sphere(shape *s, size_t times)
{
  static const uint32_t faces[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10},
                                        {0, 10, 11}, {1, 5, 9},  {5, 11, 4}, {11, 10, 2},
                                        {10, 7, 6},  {7, 1, 8},  {3, 9, 4},  {3, 4, 2},
                                        {3, 2, 6},   {3, 6, 8},  {3, 8, 9},  {4, 9, 5},
                                        {2, 4, 11},  {6, 2, 10}, {8, 6, 7},  {9, 8, 1}};
  const double l = sqrt((5.0 + sqrt(5.0)) / 10.0), o = sqrt((5.0 - sqrt(5.0)) / 10.0);
  const double v[12][3] = {{-o, l, 0}, {o, l, 0}, {-o, -l, 0}, {o, -l, 0},
                           {0, -o, l}, {0, o, l}, {0, -o, -l}, {0, o, -l},
                           {l, 0, -o}, {l, 0, o}, {-l, 0, -o}, {-l, 0, o}};
  for (int i = 0; i < 20; ++i) {
    cut_sphere(s, v[faces[i][0]], v[faces[i][1]], v[faces[i][2]], times);
  }
}

void shape_ball(shape *s, const double centre[3], double radius, size_t times)
{
  const size_t first = s->vertex_count;
  shape_sphere(s, times);
  for (size_t i = 3 * first; i < 3 * s->vertex_count; ++i) {
    s->vertices[i] = centre[i % 3] + radius * s->vertices[i];
  }
}

void shape_turn(shape *s, size_t i)
{
  uint32_t *f = s->faces + 3 * i;
  const uint32_t corner = f[1];
  f[1] = f[2];
  f[2] = corner;
}

void shape_drop(shape *s, size_t i)
{
  --s->face_count;
  memmove(s->faces + 3 * i, s->faces + 3 * s->face_count, 3 * sizeof *s->faces);
}

abut_body_def shape_def(shape *s)
{
  abut_body_def def = abut_default_body_def();
  free(s->sizes);
  s->sizes = malloc(s->face_count * sizeof *s->sizes);
  REQUIRE(s->sizes);
  for (size_t i = 0; i < s->face_count; ++i) {
    s->sizes[i] = 3;
  }
  def.vertices = s->vertices;
  def.vertex_count = s->vertex_count;
  def.face_sizes = s->sizes;
  def.face_indices = s->faces;
  def.face_count = s->face_count;
  return def;
}

void shape_free(shape *s)
{
  free(s->vertices);
  free(s->faces);
  free(s->sizes);
  *s = (shape){0};
}

surface shape_surface(shape *s)
{
  const abut_body_def def = shape_def(s);
  surface out;
  surface_report report;
  REQUIRE_OK(surface_create(&def, &out, &report));
  shape_free(s);
  return out;
}

double box_distance(const double low[3], const double high[3], const double x[3])
{
  double inside = -HUGE_VAL, outside2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double d = fmax(low[k] - x[k], x[k] - high[k]);
    inside = fmax(inside, d);
    outside2 += fmax(d, 0.0) * fmax(d, 0.0);
  }
  return inside < 0.0 ? inside : sqrt(outside2);
}
