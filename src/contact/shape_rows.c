#include "contact/shape_rows.h"

#include "base/error.h"
#include "body/family/grid_slopes.h"
#include "geometry/layout.h"
#include "geometry/sites.h"
#include "contact/shape_features.h"
#include <math.h>
#include <string.h>

shaped_body shaped_of(const pair *p, int side)
{
  return (shaped_body){body_get(p->bodies[side]), p->touching[side]};
}

/* The families' indices in the list of geometry/families.h. */
enum { SUPERQUADRICS, POLYHEDRA, POINTCLOUDS, GRIDS, HEIGHT_FIELDS, CORES };
_Static_assert(CORES + 1 == FAMILY_COUNT,
               "each family has derivatives by its shape, or says why not");

shape_walk shape_walk_begin(const body *b, size_t sites, size_t row, size_t sum)
{
  return (shape_walk){.of = b, .sites = sites, .row = row, .sum = sum};
}

size_t shape_row_first(const shaped_body *b)
{
  return b->features ? feature_numbers(b->features) : 3 * b->of->info.vertices;
}

size_t shape_own_first(const body *b)
{
  const kept_features *f = &b->parts.features;
  return 3 * b->info.vertices + (f->stated ? 4 * f->vertex_count + f->edge_count : 0);
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

/* The real after a ranged primitive's last one: the start of the next, or of the next entry. */
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
                             .first = (size_t)entry[ENTRY_BASE],
                             .count = count};
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

static shape_walk ended(shape_walk w)
{
  while (shape_walk_next(&w)) {
  }
  return w;
}

size_t shape_row_width(const shaped_body *b, size_t sites)
{
  return ended(shape_walk_begin(b->of, sites, shape_row_first(b), 0)).row;
}

size_t shape_sum_width(const shaped_body *b)
{
  return ended(shape_walk_begin(b->of, 0, 0, shape_row_first(b))).sum;
}

size_t shape_fields_width(const body *b, size_t sites)
{
  return ended(shape_walk_begin(b, sites, 0, 0)).row;
}

size_t shape_own_width(const body *b)
{
  return ended(shape_walk_begin(b, 0, 0, shape_own_first(b))).sum;
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

void shape_add_row(shape_walk w, const void *row, size_t size, double *sum)
{
  const size_t sites = w.sites;
  add_numbers(row, size, 0, w.row, sum);
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
      grid_add_slopes(&w.of->shape, w.part.first, w.part.count, site, site[NODE_SITE_PHI],
                      site + NODE_SITE_SLOPE, site + NODE_SITE_CURVE, to);
    }
  }
}

void shape_settle(const shaped_body *b, const double *sum, double *own)
{
  const size_t first = shape_own_first(b->of), mesh = 3 * b->of->info.vertices;
  memset(own, 0, first * sizeof *own);
  if (b->features) {
    features_back(b->of, b->features, sum, own);
  } else {
    memcpy(own, sum, mesh * sizeof *own);
  }
  memcpy(own + first, sum + shape_row_first(b), (shape_own_width(b->of) - first) * sizeof *own);
}

/* ---- the caller's arrays ---- */

abut_shape_sizes shape_sizes_of(const body *b)
{
  abut_shape_sizes s = {.vertices = b->info.vertices,
                        .superquadrics = b->info.superquadrics,
                        .planes = b->info.planes,
                        .points = b->info.points,
                        .polyhedra = b->info.polyhedra,
                        .pointclouds = b->info.pointclouds,
                        .grids = b->info.grids,
                        .cores = b->info.cores};
  for (size_t i = 0; i < b->parts.grid_count; ++i) {
    s.coefficients += grid_coefficient_count(&b->parts.grids[i]);
  }
  if (b->parts.features.stated) {
    s.feature_vertices = b->parts.features.vertex_count;
    s.feature_edges = b->parts.features.edge_count;
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

/* The third length of a disc is 0. */
static void write_core(const abut_shape_gradients *to, size_t i, const double *from)
{
  put(to->core_half, 3, 0, i, from + BY_CORE_HALF);
  put(to->core_radius, 1, 0, i, from + BY_CORE_RADIUS);
  put(to->core_position, 3, 0, i, from + BY_CORE_POSITION);
  put(to->core_rotation, 3, 0, i, from + BY_CORE_ROTATION);
}

/* Kernels hold n . p for a plane. With d that number's derivative, the derivative with respect to p
 * is -d n, and that by n is the kernels' minus d p. */
static void write_plane(const abut_shape_gradients *to, size_t i, const double *plane,
                        const double *from)
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
    .core_rotation = row_of(to->core_rotation, at, 3 * n->cores),
    .feature_vertices = row_of(to->feature_vertices, at, 3 * n->feature_vertices),
    .vertex_radius = row_of(to->vertex_radius, at, n->feature_vertices),
    .edge_radius = row_of(to->edge_radius, at, n->feature_edges)};
  shape_walk w = shape_walk_begin(b, 0, 0, shape_own_first(b));
  const double *features = sum + 3 * n->vertices;
  put(row.vertices, 3 * n->vertices, 0, 0, sum);
  put(row.feature_vertices, 3 * n->feature_vertices, 0, 0, features);
  put(row.vertex_radius, n->feature_vertices, 0, 0, features + 3 * n->feature_vertices);
  put(row.edge_radius, n->feature_edges, 0, 0, features + 4 * n->feature_vertices);
  while (shape_walk_next(&w)) {
    TRY(write_part(b, &w.part, sum + w.part.sum, &row));
  }
  return ABUT_SUCCESS;
}
