#include "body/family/height_mesh.h"

#include "base/error.h"

#define POINTS_MOST ((size_t)2048)   /* of the contact mesh, without the base's corners */
#define SURFACE_MOST ((size_t)65536) /* nodes of the surface */

/* The nodes that are used: every step-th one along each axis, and the last one. */
typedef struct chosen {
  const abut_height_field *of;
  size_t step, rows, columns;
} chosen;

static size_t count_along(size_t nodes, size_t step)
{
  return (nodes - 1 + step - 1) / step + 1;
}

static chosen choose(const abut_height_field *h, size_t step)
{
  return (chosen){h, step, count_along(h->rows, step), count_along(h->columns, step)};
}

static chosen choose_at_most(const abut_height_field *h, size_t most)
{
  chosen c = choose(h, 1);
  while (c.rows * c.columns > most) {
    c = choose(h, c.step + 1);
  }
  return c;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Gives chosen node (r, c) of the ground, or the point below it on the base. */
static void put(const chosen *n, size_t r, size_t c, bool below, double out[3])
{
  const abut_height_field *h = n->of;
  const size_t row = smaller(r * n->step, h->rows - 1),
               column = smaller(c * n->step, h->columns - 1);
  out[0] = h->size[0] * (2.0 * (double)column / (double)(h->columns - 1) - 1.0);
  out[1] = h->size[1] * (2.0 * (double)row / (double)(h->rows - 1) - 1.0);
  out[2] = below ? -h->base : h->heights[row * h->columns + column];
}

/* ---- the contact mesh ---- */

static abut_status add_points(const abut_height_field *h, arena *memory, abut_body_def *def)
{
  const chosen n = h->step ? choose(h, h->step) : choose_at_most(h, POINTS_MOST);
  void *room;
  TRY(arena_allocate(memory, &room, n.rows * n.columns + 4, 3 * sizeof(double)));
  double *to = room;
  def->vertices = to;
  def->vertex_count = n.rows * n.columns + 4;
  for (size_t r = 0; r < n.rows; ++r) {
    for (size_t c = 0; c < n.columns; ++c, to += 3) {
      put(&n, r, c, false, to);
    }
  }
  for (size_t i = 0; i < 4; ++i, to += 3) {
    put(&n, i / 2 ? n.rows - 1 : 0, i % 2 ? n.columns - 1 : 0, true, to);
  }
  return ABUT_SUCCESS;
}

/* ---- the surface ---- */

/* A surface during construction. Its vertices are those of the ground, row by row, then the points
 * below its rim, counterclockwise seen from above, and the middle of the base. */
typedef struct maker {
  chosen n;
  uint32_t *corner;
} maker;

static size_t rim_length(const chosen *n)
{
  return 2 * (n->rows - 1) + 2 * (n->columns - 1);
}

/* Finds point i of the rim, which begins at row 0, column 0 and runs along the row first. */
static void rim_place(const chosen *n, size_t i, size_t *r, size_t *c)
{
  const size_t across = n->columns - 1, up = n->rows - 1;
  const size_t side = i < across ? 0 : i < across + up ? 1 : i < 2 * across + up ? 2 : 3;
  const size_t first[4] = {0, across, across + up, 2 * across + up}, along = i - first[side];
  *r = side == 0 ? 0 : side == 1 ? along : side == 2 ? up : up - along;
  *c = side == 0 ? along : side == 1 ? across : side == 2 ? across - along : 0;
}

static size_t rim_vertex(const chosen *n, size_t i)
{
  size_t r, c;
  rim_place(n, i % rim_length(n), &r, &c);
  return r * n->columns + c;
}

static void put_triangle(maker *m, size_t a, size_t b, size_t c)
{
  *m->corner++ = (uint32_t)a;
  *m->corner++ = (uint32_t)b;
  *m->corner++ = (uint32_t)c;
}

static void put_quad(maker *m, size_t a, size_t b, size_t c, size_t d)
{
  put_triangle(m, a, b, c);
  put_triangle(m, a, c, d);
}

static void put_faces(maker *m)
{
  const chosen *n = &m->n;
  const size_t ground = n->rows * n->columns, rim = rim_length(n), middle = ground + rim;
  for (size_t r = 0; r + 1 < n->rows; ++r) {
    for (size_t c = 0; c + 1 < n->columns; ++c) {
      const size_t at = r * n->columns + c, above = at + n->columns;
      put_quad(m, at, at + 1, above + 1, above);
    }
  }
  for (size_t i = 0; i < rim; ++i) {
    const size_t below = ground + i, next = ground + (i + 1) % rim;
    put_quad(m, below, next, rim_vertex(n, i + 1), rim_vertex(n, i));
    put_triangle(m, middle, next, below);
  }
}

static void put_vertices(const chosen *n, double *to)
{
  for (size_t r = 0; r < n->rows; ++r) {
    for (size_t c = 0; c < n->columns; ++c, to += 3) {
      put(n, r, c, false, to);
    }
  }
  for (size_t i = 0; i < rim_length(n); ++i, to += 3) {
    size_t r, c;
    rim_place(n, i, &r, &c);
    put(n, r, c, true, to);
  }
  to[0] = to[1] = 0.0;
  to[2] = -n->of->base;
}

static abut_status add_surface(const abut_height_field *h, arena *memory, abut_body_def *def)
{
  maker m = {.n = choose_at_most(h, SURFACE_MOST)};
  const size_t rim = rim_length(&m.n);
  const size_t faces = 2 * (m.n.rows - 1) * (m.n.columns - 1) + 3 * rim;
  abut_surface s = {.vertex_count = m.n.rows * m.n.columns + rim + 1, .face_count = faces};
  void *vertices, *sizes, *corners;
  TRY(arena_allocate(memory, &vertices, s.vertex_count, 3 * sizeof(double)));
  TRY(arena_allocate(memory, &sizes, faces, sizeof(uint32_t)));
  TRY(arena_allocate(memory, &corners, faces, 3 * sizeof(uint32_t)));
  uint32_t *size = sizes;
  for (size_t i = 0; i < faces; ++i) {
    size[i] = 3;
  }
  put_vertices(&m.n, vertices);
  m.corner = corners;
  put_faces(&m);
  s.vertices = vertices;
  s.face_sizes = size;
  s.face_indices = corners;
  def->surface = s;
  return ABUT_SUCCESS;
}

abut_status height_mesh_add(arena *memory, abut_body_def *def)
{
  size_t i = 0;
  while (i < def->height_field_count && def->height_fields[i].operation != ABUT_ADD) {
    ++i;
  }
  if (def->vertex_count || def->face_count || i == def->height_field_count) {
    return ABUT_SUCCESS;
  }
  TRY(add_points(&def->height_fields[i], memory, def));
  return def->surface.face_count ? ABUT_SUCCESS : add_surface(&def->height_fields[i], memory, def);
}
