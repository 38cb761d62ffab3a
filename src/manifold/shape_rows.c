#include "manifold/shape_rows.h"

#include "base/error.h"
#include "family/grid_slopes.h"
#include "geometry/layout.h"
#include "geometry/sites.h"
#include <math.h>
#include <string.h>

/* The families' places in the list of geometry/families.h. */
enum { SUPERQUADRICS, POLYHEDRA, POINTCLOUDS, GRIDS, HEIGHT_FIELDS, CORES };
_Static_assert(CORES + 1 == FAMILY_COUNT, "each family has derivatives by its shape, or says why not");

shape_walk shape_walk_begin(const body *b, size_t sites, bool vertices)
{
  const size_t mesh = 3 * b->info.vertices;
  return (shape_walk){.of = b, .sites = sites, .row = vertices ? mesh : 0, .sum = mesh};
}

/* Finds the next polyhedron, cloud or grid of the walk's operation in the caller's order. */
static void find_place(shape_walk *w, shape_part *p)
{
  const body_parts *of = &w->of->parts;
  for (shape_place *at = &w->next[p->family];; ++at->one) {
    const bool polyhedron = p->family == SHAPE_POLYHEDRON, cloud = p->family == SHAPE_CLOUD;
    const int its = (int)(polyhedron ? of->polyhedra[at->one].operation
                          : cloud    ? of->pointclouds[at->one].operation
                                     : of->grids[at->one].operation);
    const size_t count = polyhedron ? of->polyhedra[at->one].count
                         : cloud    ? of->pointclouds[at->one].count
                                    : grid_coefficient_count(&of->grids[at->one]);
    const size_t first = at->number;
    at->number += count;
    if (its == w->operation) {
      p->number = first;
      p->one = at->one++;
      return;
    }
  }
}

/* The real behind a ranged primitive's last one: where the next begins, or the next entry. */
static size_t end_of(const shape_walk *w, const int *entry)
{
  const int *ranges = w->of->head + entry[ENTRY_RANGES];
  if (w->one + 1 < (size_t)entry[ENTRY_COUNT]) {
    return (size_t)(entry[ENTRY_BASE] + ranges[(w->one + 1) * RANGE_INTS]);
  }
  const bool last = w->operation == 1 && w->family == FAMILY_COUNT - 1;
  return last ? w->of->shape.count : (size_t)entry[ENTRY_INTS + ENTRY_BASE];
}

/* Sets the part of a ranged primitive. */
static void set_ranged(shape_walk *w, const int *entry, size_t *row, size_t *sum)
{
  static const int kinds[] = {SHAPE_SUPERQUADRICS, SHAPE_POLYHEDRON, SHAPE_CLOUD, SHAPE_GRID};
  const int *range = w->of->head + entry[ENTRY_RANGES] + w->one * RANGE_INTS;
  shape_part *p = &w->part;
  p->family = kinds[w->family];
  p->first = (size_t)(entry[ENTRY_BASE] + range[0]);
  p->count = (size_t)range[1];
  p->reals = end_of(w, entry) - p->first;
  find_place(w, p);
  if (p->family == SHAPE_GRID) {
    *row = NODE_SITE_PLANES * w->sites;
    *sum = p->reals;
  } else {
    *row = *sum = (p->family == SHAPE_CLOUD ? BY_CLOUD_POINT : BY_PLANE) * p->count;
  }
}

bool shape_walk_next(shape_walk *w)
{
  for (; w->operation < 2; ++w->operation, w->family = 0, memset(w->next, 0, sizeof w->next)) {
    for (; w->family < FAMILY_COUNT; ++w->family, w->one = 0) {
      const int *entry = w->of->head + HEAD_ENTRY(w->operation, w->family);
      const bool together = w->family == SUPERQUADRICS || w->family == CORES;
      const size_t count = w->family == HEIGHT_FIELDS ? 0 : (size_t)entry[ENTRY_COUNT];
      size_t row = (w->family == CORES ? BY_CORE : BY_SUPERQUADRIC) * count, sum = row;
      if (w->one >= (together ? count > 0 : count)) {
        continue;
      }
      w->part = (shape_part){.operation = w->operation,
                             .family = w->family == CORES ? SHAPE_CORES : SHAPE_SUPERQUADRICS,
                             .first = (size_t)entry[ENTRY_BASE], .count = count};
      if (!together) {
        set_ranged(w, entry, &row, &sum);
      }
      w->part.row = w->row;
      w->part.sum = w->sum;
      w->row += row;
      w->sum += sum;
      ++w->one;
      return true;
    }
  }
  return false;
}

size_t shape_row_width(const body *b, size_t sites, bool vertices)
{
  shape_walk w = shape_walk_begin(b, sites, vertices);
  while (shape_walk_next(&w)) {
  }
  return w.row;
}

size_t shape_sum_width(const body *b)
{
  shape_walk w = shape_walk_begin(b, 0, true);
  while (shape_walk_next(&w)) {
  }
  return w.sum;
}

static double number(const void *row, size_t size, size_t i)
{
  return size == sizeof(double) ? ((const double *)row)[i] : (double)((const float *)row)[i];
}

static void add_numbers(const void *row, size_t size, size_t from, size_t count, double *to)
{
  for (size_t i = 0; i < count; ++i) {
    to[i] += number(row, size, from + i);
  }
}

void shape_add_row(const body *b, size_t sites, bool vertices, const void *row, size_t size,
                   double *sum)
{
  shape_walk w = shape_walk_begin(b, sites, vertices);
  add_numbers(row, size, 0, w.row, sum); /* of vertices, where rows have them */
  for (size_t done = w.row; shape_walk_next(&w); done = w.row) {
    double *to = sum + w.part.sum;
    if (w.part.family != SHAPE_GRID) {
      add_numbers(row, size, done, w.row - done, to);
      continue;
    }
    for (size_t i = 0; i < sites; ++i) {
      double site[NODE_SITE_PLANES];
      for (size_t k = 0; k < NODE_SITE_PLANES; ++k) {
        site[k] = number(row, size, done + k * sites + i);
      }
      grid_add_slopes(&b->shape, w.part.first, w.part.count, site, site[NODE_SITE_PHI],
                      site + NODE_SITE_SLOPE, to);
    }
  }
}

/* ---- the caller's arrays ---- */

abut_shape_sizes shape_sizes_of(const body *b)
{
  abut_shape_sizes s = {.vertices = b->info.vertices, .superquadrics = b->info.superquadrics,
                        .planes = b->info.planes, .points = b->info.points, .polyhedra = b->info.polyhedra,
                        .pointclouds = b->info.pointclouds, .grids = b->info.grids, .cores = b->info.cores};
  for (size_t i = 0; i < b->parts.grid_count; ++i) {
    s.coefficients += grid_coefficient_count(&b->parts.grids[i]);
  }
  return s;
}

static void put(double *to, size_t width, size_t at, size_t i, const double *from)
{
  for (size_t k = 0; to && k < width; ++k) {
    to[at + i * width + k] = from[k];
  }
}

static double *row_of(double *array, size_t at, size_t width)
{
  return array ? array + at * width : NULL;
}

static void write_superquadric(const abut_shape_gradients *to, size_t i, const double *from)
{
  put(to->axes, 3, 0, i, from + BY_AXES);
  put(to->exponents, 2, 0, i, from + BY_EXPONENTS);
  put(to->position, 3, 0, i, from + BY_POSITION);
  put(to->rotation, 3, 0, i, from + BY_ROTATION);
}

/* Of a disc the third length is 0. */
static void write_core(const abut_shape_gradients *to, size_t i, const double *from)
{
  put(to->core_half, 3, 0, i, from + BY_CORE_HALF);
  put(to->core_radius, 1, 0, i, from + BY_CORE_RADIUS);
  put(to->core_position, 3, 0, i, from + BY_CORE_POSITION);
  put(to->core_rotation, 3, 0, i, from + BY_CORE_ROTATION);
}

/* Of a plane kernels hold n . p: with d that number's derivative, it is -d n by p and what they have less
 * d p by n. */
static void write_plane(const abut_shape_gradients *to, size_t i, const double *plane, const double *from)
{
  const double length = sqrt(plane[0] * plane[0] + plane[1] * plane[1] + plane[2] * plane[2]);
  double normal[3], point[3];
  for (int k = 0; k < 3; ++k) {
    normal[k] = from[k] - from[3] * plane[3 + k];
    point[k] = -from[3] * plane[k] / length;
  }
  put(to->plane_normals, 3, 0, i, normal);
  put(to->plane_points, 3, 0, i, point);
}

static void write_point(const abut_shape_gradients *to, size_t i, double width, const double *from)
{
  const double by_width = from[BY_CLOUD_WIDTH] / width;
  put(to->cloud_points, 3, 0, i, from);
  put(to->cloud_normals, 3, 0, i, from + BY_CLOUD_NORMAL);
  put(to->cloud_widths, 1, 0, i, &by_width);
}

static abut_status write_part(const body *b, const shape_part *p, const double *from,
                              const abut_shape_gradients *to)
{
  const body_parts *of = &b->parts;
  if (p->family == SHAPE_SUPERQUADRICS) {
    for (size_t i = 0, next = 0; i < of->superquadric_count; ++i) {
      if ((int)of->superquadrics[i].operation == p->operation) {
        write_superquadric(to, i, from + BY_SUPERQUADRIC * next++);
      }
    }
    return ABUT_SUCCESS;
  }
  if (p->family == SHAPE_CORES) {
    for (size_t i = 0, next = 0; i < of->core_count; ++i) {
      if ((int)of->cores[i].operation == p->operation) {
        write_core(to, i, from + BY_CORE * next++);
      }
    }
    return ABUT_SUCCESS;
  }
  const size_t first = p->number;
  if (p->family == SHAPE_GRID) {
    return to->grid_coefficients
             ? grid_slopes_write(&of->grids[p->one], from, to->grid_coefficients + first)
             : ABUT_SUCCESS;
  }
  for (size_t i = 0; i < p->count; ++i) {
    if (p->family == SHAPE_POLYHEDRON) {
      write_plane(to, first + i, of->planes + 6 * (first + i), from + BY_PLANE * i);
    } else {
      const double inverse2 = reals_get(&b->shape, p->first + (i + 1) * POINT_STRIDE + 6);
      write_point(to, first + i, 1.0 / sqrt(inverse2), from + BY_CLOUD_POINT * i);
    }
  }
  return ABUT_SUCCESS;
}

abut_status shape_write(const body *b, const double *sum, const abut_shape_gradients *to, size_t at)
{
  const abut_shape_sizes sizes = shape_sizes_of(b), *n = &sizes;
  const abut_shape_gradients row = {
    .vertices = row_of(to->vertices, at, 3 * n->vertices),
    .axes = row_of(to->axes, at, 3 * n->superquadrics),
    .exponents = row_of(to->exponents, at, 2 * n->superquadrics),
    .position = row_of(to->position, at, 3 * n->superquadrics),
    .rotation = row_of(to->rotation, at, 3 * n->superquadrics),
    .plane_normals = row_of(to->plane_normals, at, 3 * n->planes),
    .plane_points = row_of(to->plane_points, at, 3 * n->planes),
    .cloud_points = row_of(to->cloud_points, at, 3 * n->points),
    .cloud_normals = row_of(to->cloud_normals, at, 3 * n->points),
    .cloud_widths = row_of(to->cloud_widths, at, n->points),
    .grid_coefficients = row_of(to->grid_coefficients, at, n->coefficients),
    .core_half = row_of(to->core_half, at, 3 * n->cores),
    .core_radius = row_of(to->core_radius, at, n->cores),
    .core_position = row_of(to->core_position, at, 3 * n->cores),
    .core_rotation = row_of(to->core_rotation, at, 3 * n->cores)};
  shape_walk w = shape_walk_begin(b, 0, true);
  put(row.vertices, 3 * n->vertices, 0, 0, sum);
  while (shape_walk_next(&w)) {
    TRY(write_part(b, &w.part, sum + w.part.sum, &row));
  }
  return ABUT_SUCCESS;
}
