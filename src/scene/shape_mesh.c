#include "scene/shape_mesh.h"

#include "base/error.h"
#include "body/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* A mesh under construction. `begin` allocates all the room that it needs. */
typedef struct builder {
  double *vertices;
  uint32_t *sizes, *corners;
  size_t vertex_count, face_count, corner_count;
} builder;

static abut_status begin(arena *memory, size_t vertices, size_t faces, size_t corners, builder *b)
{
  void *at;
  memset(b, 0, sizeof *b);
  TRY(arena_allocate(memory, &at, vertices, 3 * sizeof(double)));
  b->vertices = at;
  TRY(arena_allocate(memory, &at, faces, sizeof(uint32_t)));
  b->sizes = at;
  TRY(arena_allocate(memory, &at, corners, sizeof(uint32_t)));
  b->corners = at;
  return ABUT_SUCCESS;
}

static void put_vertex(builder *b, double x, double y, double z)
{
  double *to = b->vertices + 3 * b->vertex_count++;
  to[0] = x;
  to[1] = y;
  to[2] = z;
}

static void put_corner(builder *b, size_t vertex)
{
  b->corners[b->corner_count++] = (uint32_t)vertex;
  ++b->sizes[b->face_count];
}

static void put_face(builder *b, const size_t *vertices, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    put_corner(b, vertices[i]);
  }
  ++b->face_count;
}

static void end(const builder *b, abut_body_def *out)
{
  out->vertices = b->vertices;
  out->vertex_count = b->vertex_count;
  out->face_sizes = b->sizes;
  out->face_indices = b->corners;
  out->face_count = b->face_count;
}

/* ---- boxes ---- */

abut_status make_box_mesh(const double lower[3], const double upper[3], arena *memory,
                          abut_body_def *out)
{
  static const size_t sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  builder b;
  TRY(begin(memory, 8, 6, 24, &b));
  for (int i = 0; i < 8; ++i) {
    put_vertex(&b, (i & 1 ? upper : lower)[0], (i & 2 ? upper : lower)[1],
               (i & 4 ? upper : lower)[2]);
  }
  for (int i = 0; i < 6; ++i) {
    put_face(&b, sides[i], 4);
  }
  end(&b, out);
  return ABUT_SUCCESS;
}

/* ---- solids of revolution about z ---- */

static void put_rings(builder *b, double (*rings)[2], size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    for (int k = 0; k < SHAPE_SIDES; ++k) {
      const double angle = 2.0 * PI * k / SHAPE_SIDES;
      put_vertex(b, rings[i][0] * cos(angle), rings[i][0] * sin(angle), rings[i][1]);
    }
  }
}

static void put_sides(builder *b, size_t count)
{
  for (size_t i = 0; i + 1 < count; ++i) {
    const size_t at = i * SHAPE_SIDES, above = at + SHAPE_SIDES;
    for (size_t k = 0; k < SHAPE_SIDES; ++k) {
      const size_t next = (k + 1) % SHAPE_SIDES;
      put_face(b, (const size_t[]){at + k, at + next, above + next, above + k}, 4);
    }
  }
}

/* Adds the faces beyond an outermost ring: a polygon, or triangles to a pole. */
static void put_end(builder *b, size_t ring, bool upper, bool pole)
{
  const size_t at = ring * SHAPE_SIDES, tip = b->vertex_count - (upper ? 1 : 2);
  for (size_t k = 0; k < SHAPE_SIDES; ++k) {
    const size_t next = (k + 1) % SHAPE_SIDES;
    if (pole) {
      put_face(b, (const size_t[]){tip, at + (upper ? k : next), at + (upper ? next : k)}, 3);
    } else {
      put_corner(b, at + (upper ? k : SHAPE_SIDES - 1 - k));
    }
  }
  b->face_count += pole ? 0 : 1;
}

abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, arena *memory,
                             abut_body_def *out)
{
  const bool pole = top != 0.0;
  const size_t quads = (count - 1) * SHAPE_SIDES;
  builder b;
  TRY(begin(memory, count * SHAPE_SIDES + 2, quads + (pole ? 2 * SHAPE_SIDES : 2),
            4 * quads + (pole ? 6 : 2) * SHAPE_SIDES, &b));
  put_rings(&b, rings, count);
  if (pole) {
    put_vertex(&b, 0.0, 0.0, -top);
    put_vertex(&b, 0.0, 0.0, top);
  }
  put_sides(&b, count);
  put_end(&b, 0, false, pole);
  put_end(&b, count - 1, true, pole);
  end(&b, out);
  return ABUT_SUCCESS;
}

/* ---- spheres and ellipsoids ---- */

#define ROUNDS 3 /* subdivisions of each triangle into four: 642 vertices in the end */

static abut_status icosahedron(arena *memory, abut_body_def *out)
{
  static const size_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                      {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                      {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                      {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double golden = 0.5 * (1.0 + sqrt(5.0)), length = sqrt(1.0 + golden * golden);
  const double one = 1.0 / length, far = golden / length;
  builder b;
  TRY(begin(memory, 12, 20, 60, &b));
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 4; ++i) {
      double x[3];
      x[axis] = i & 1 ? one : -one;
      x[(axis + 1) % 3] = i < 2 ? far : -far;
      x[(axis + 2) % 3] = 0.0;
      put_vertex(&b, x[0], x[1], x[2]);
    }
  }
  for (int i = 0; i < 20; ++i) {
    put_face(&b, faces[i], 3);
  }
  end(&b, out);
  return ABUT_SUCCESS;
}

static int compare_edges(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Returns the vertex in the middle of an edge. These vertices follow the others, in the order of
 * the edges. */
static size_t middle(const abut_body_def *m, const uint32_t *edges, size_t count, uint32_t a,
                     uint32_t b)
{
  const uint32_t key[2] = {a < b ? a : b, a < b ? b : a};
  const uint32_t *found = bsearch(key, edges, count, sizeof key, compare_edges);
  return m->vertex_count + (size_t)(found - edges) / 2;
}

static void put_middles(builder *b, const uint32_t *edges, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    double x[3], square = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      x[k] =
        b->vertices[3 * (size_t)edges[2 * i] + k] + b->vertices[3 * (size_t)edges[2 * i + 1] + k];
      square += x[k] * x[k];
    }
    put_vertex(b, x[0] / sqrt(square), x[1] / sqrt(square), x[2] / sqrt(square));
  }
}

/* Replaces each triangle by four, with new vertices on the unit sphere. */
static abut_status refine(arena *memory, abut_body_def *m)
{
  uint32_t *edges;
  size_t count;
  builder b;
  TRY(make_edges(m, &edges, &count));
  const abut_status status =
    begin(memory, m->vertex_count + count, 4 * m->face_count, 12 * m->face_count, &b);
  if (status == ABUT_SUCCESS) {
    memcpy(b.vertices, m->vertices, m->vertex_count * 3 * sizeof(double));
    b.vertex_count = m->vertex_count;
    put_middles(&b, edges, count);
    for (size_t i = 0; i < m->face_count; ++i) {
      const uint32_t *f = m->face_indices + 3 * i;
      const size_t ab = middle(m, edges, count, f[0], f[1]);
      const size_t bc = middle(m, edges, count, f[1], f[2]);
      const size_t ca = middle(m, edges, count, f[2], f[0]);
      put_face(&b, (const size_t[]){f[0], ab, ca}, 3);
      put_face(&b, (const size_t[]){f[1], bc, ab}, 3);
      put_face(&b, (const size_t[]){f[2], ca, bc}, 3);
      put_face(&b, (const size_t[]){ab, bc, ca}, 3);
    }
    end(&b, m);
  }
  free(edges);
  return status;
}

abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out)
{
  abut_body_def m = {0};
  void *at;
  TRY(icosahedron(memory, &m));
  for (int i = 0; i < ROUNDS; ++i) {
    TRY(refine(memory, &m));
  }
  TRY(arena_allocate(memory, &at, m.vertex_count, 3 * sizeof(double)));
  double *vertices = at;
  for (size_t i = 0; i < 3 * m.vertex_count; ++i) {
    vertices[i] = half[i % 3] * m.vertices[i];
  }
  out->vertices = vertices;
  out->vertex_count = m.vertex_count;
  out->face_sizes = m.face_sizes;
  out->face_indices = m.face_indices;
  out->face_count = m.face_count;
  return ABUT_SUCCESS;
}
