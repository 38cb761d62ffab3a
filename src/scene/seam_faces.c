#include "scene/seam_faces.h"

#include "base/memory.h"
#include <math.h>
#include <string.h>

#define CORE_ROUND 2.5 /* core radii: beyond 3/2 radii from an edge a core has flat faces */
#define GRID_ROUND 3.0 /* cells of a grid */
/* rows of a height field that must be level beside a wall, because the spline spreads bumps */
#define LEVEL_NODES 4
/* relative to the diagonal: largest distance of a vertex from a side of the box that contains it */
#define ON_PLANE 1e-6
#define WHOLE_FACE 1e-4 /* relative tolerance of a side's area against its rectangle */

double seam_roundness(const body *b)
{
  const body_parts *p = &b->parts;
  double most = 0.0;
  if (b->info.superquadrics || b->info.pointclouds) {
    return HUGE_VAL;
  }
  for (size_t i = 0; i < p->core_count; ++i) {
    most = fmax(most, CORE_ROUND * p->cores[i].radius);
  }
  for (size_t i = 0; i < p->grid_count; ++i) {
    most = fmax(most, GRID_ROUND * p->grids[i].spacing);
  }
  return most;
}

/* ---- faces of boxes ---- */

/* A box along its own axes. Side 2 k is the lower one across axis k, 2 k + 1 the upper one. */
typedef struct box {
  double low[3], high[3];
  bool whole[6]; /* The side is a flat rectangle. */
} box;

static seam_face face_of(const box *b, int side)
{
  const int k = side / 2, along[2] = {(k + 1) % 3, (k + 2) % 3};
  const double sign = side % 2 ? 1.0 : -1.0;
  seam_face f = {.depth = b->high[k] - b->low[k], .flat = b->high[k] - b->low[k]};
  f.axes[0][k] = sign;
  f.axes[1][along[0]] = 1.0;
  f.axes[2][along[1]] = sign; /* makes the axes right-handed */
  f.centre[k] = side % 2 ? b->high[k] : b->low[k];
  for (int i = 0; i < 2; ++i) {
    const int axis = along[i];
    const bool turned = i && sign < 0.0;
    f.centre[axis] = 0.5 * (b->low[axis] + b->high[axis]);
    f.half[i] = 0.5 * (b->high[axis] - b->low[axis]);
    f.square[2 * i] = b->whole[2 * axis + (turned ? 1 : 0)];
    f.square[2 * i + 1] = b->whole[2 * axis + (turned ? 0 : 1)];
  }
  return f;
}

static size_t faces_of_box(const box *b, seam_face out[SEAM_FACES])
{
  size_t count = 0;
  for (int side = 0; side < 6; ++side) {
    if (b->whole[side]) {
      out[count++] = face_of(b, side);
    }
  }
  return count;
}

static box whole_box(const double low[3], const double high[3])
{
  box b;
  memcpy(b.low, low, sizeof b.low);
  memcpy(b.high, high, sizeof b.high);
  for (int i = 0; i < 6; ++i) {
    b.whole[i] = true;
  }
  return b;
}

/* ---- shapes described by a word ---- */

static size_t faces_of_word(const scene_body *b, seam_face out[SEAM_FACES])
{
  const double *h = b->size, thin = fmin(h[0], h[1]); /* thickness of a plane's slab */
  const double upper[3] = {h[0], h[1], b->shape == SHAPE_PLANE ? 0.0 : h[2]};
  const double lower[3] = {-h[0], -h[1], b->shape == SHAPE_PLANE ? -thin : -h[2]};
  const box all = whole_box(lower, upper);
  return b->round > 0.0 ? 0 : faces_of_box(&all, out);
}

/* ---- height fields ---- */

/* Returns the height at the node `in` nodes inwards from wall `side`, at index `along` along the
 * wall. */
static double height_at(const abut_height_field *h, int side, size_t in, size_t along)
{
  const size_t last = side < 2 ? h->columns - 1 : h->rows - 1, place = side % 2 ? last - in : in;
  return side < 2 ? h->heights[along * h->columns + place] : h->heights[place * h->columns + along];
}

/* Returns whether the ground is level along a wall, and flat inwards up to `within`. */
static bool is_level(const abut_height_field *h, int side, const seam_lengths *l)
{
  const size_t across = side < 2 ? h->columns : h->rows, beside = side < 2 ? h->rows : h->columns;
  const double spacing = 2.0 * h->size[side / 2] / (double)(across - 1);
  const double need = ceil(l->within / spacing) + LEVEL_NODES;
  const size_t rows = need < (double)across ? (size_t)need : across;
  const double level = height_at(h, side, 0, 0);
  for (size_t in = 0; in < rows; ++in) {
    for (size_t i = 0; i < beside; ++i) {
      if (fabs(height_at(h, side, in, i) - level) > l->flat) {
        return false;
      }
    }
  }
  return true;
}

static size_t faces_of_heights(const abut_height_field *h, const seam_lengths *l,
                               seam_face out[SEAM_FACES])
{
  size_t count = 0;
  for (int side = 0; side < 4; ++side) {
    if (is_level(h, side, l)) {
      const double level = height_at(h, side, 0, 0);
      const double low[3] = {-h->size[0], -h->size[1], -h->base},
                   high[3] = {h->size[0], h->size[1], level};
      const box all = whole_box(low, high);
      out[count] = face_of(&all, side);
      out[count++].flat = l->within;
    }
  }
  return count;
}

/* ---- meshes ---- */

/* Consecutive faces with any number of corners. */
typedef struct faces {
  const double *vertices;
  size_t vertex_count, count;
  const uint32_t *sizes, *indices;
} faces;

static faces faces_of_mesh(const body *b)
{
  const body_parts *p = &b->parts;
  const bool surface = p->surface_face_count > 0;
  return surface
           ? (faces){p->surface_vertices, p->surface_vertex_count, p->surface_face_count,
                     p->surface_sizes, p->surface_indices}
           : (faces){b->vertices, b->info.vertices, b->info.faces, b->face_sizes, b->face_indices};
}

/* Returns the area of a face projected along axis k. */
static double area_along(const faces *f, const uint32_t *at, uint32_t corners, int k)
{
  const int u = (k + 1) % 3, v = (k + 2) % 3;
  const double *first = f->vertices + 3 * (size_t)at[0];
  double twice = 0.0;
  for (uint32_t i = 1; i + 1 < corners; ++i) {
    const double *a = f->vertices + 3 * (size_t)at[i], *b = f->vertices + 3 * (size_t)at[i + 1];
    twice += (a[u] - first[u]) * (b[v] - first[v]) - (a[v] - first[v]) * (b[u] - first[u]);
  }
  return 0.5 * fabs(twice);
}

/* Returns the side of the box that contains a face, or -1. */
static int side_of_face(const faces *f, const uint32_t *at, uint32_t corners, const box *b,
                        double near)
{
  for (int side = 0; side < 6; ++side) {
    const double place = side % 2 ? b->high[side / 2] : b->low[side / 2];
    uint32_t on = 0;
    while (on < corners &&
           fabs(f->vertices[3 * (size_t)at[on] + (size_t)(side / 2)] - place) <= near) {
      ++on;
    }
    if (on == corners) {
      return side;
    }
  }
  return -1;
}

static bool find_box(const faces *f, box *b)
{
  if (!f->count || !f->vertex_count) {
    return false;
  }
  memcpy(b->low, f->vertices, sizeof b->low);
  memcpy(b->high, f->vertices, sizeof b->high);
  for (size_t i = 0; i < 3 * f->vertex_count; ++i) {
    b->low[i % 3] = fmin(b->low[i % 3], f->vertices[i]);
    b->high[i % 3] = fmax(b->high[i % 3], f->vertices[i]);
  }
  return b->low[0] < b->high[0] && b->low[1] < b->high[1] && b->low[2] < b->high[2];
}

static size_t faces_of_file(const body *loaded, seam_face out[SEAM_FACES])
{
  const faces f = faces_of_mesh(loaded);
  double area[6] = {0.0};
  box b = {{0.0}, {0.0}, {false}};
  if (!find_box(&f, &b)) {
    return 0;
  }
  const double near = ON_PLANE * loaded->info.diagonal;
  const uint32_t *at = f.indices;
  for (size_t i = 0; i < f.count; at += f.sizes[i++]) {
    const int side = side_of_face(&f, at, f.sizes[i], &b, near);
    if (side < 0) {
      return 0; /* It is not a box. */
    }
    area[side] += area_along(&f, at, f.sizes[i], side / 2);
  }
  for (int side = 0; side < 6; ++side) {
    const int u = (side / 2 + 1) % 3, v = (side / 2 + 2) % 3;
    const double whole = (b.high[u] - b.low[u]) * (b.high[v] - b.low[v]);
    b.whole[side] = fabs(area[side] - whole) <= WHOLE_FACE * whole;
  }
  return faces_of_box(&b, out);
}

size_t seam_faces_of(const scene_body *b, const body *loaded, const seam_lengths *lengths,
                     seam_face out[SEAM_FACES])
{
  switch (b->shape) {
  case SHAPE_BOX:
  case SHAPE_PLANE:
    return faces_of_word(b, out);
  case SHAPE_HEIGHT_FIELD:
    return faces_of_heights(b->heights, lengths, out);
  case SHAPE_FILE:
    return faces_of_file(loaded, out);
  default:
    return 0;
  }
}
