#include "contact/shape_moves.h"

#include "base/error.h"
#include "body/family/grid_slopes.h"
#include "geometry/layout.h"
#include "contact/shape_features.h"
#include <math.h>
#include <string.h>

enum { ARRAYS = 18 };

/* The arrays of a direction, which have the same members as those of gradients. */
static const struct {
  const char *name, *of_side[2];
  size_t offset, of, components;
} arrays[ARRAYS] = {
#define ARRAY(name, of, components)                                                        \
  {                                                                                        \
#name, {#name " of body 1", #name " of body 2" }, offsetof(abut_shape_tangents, name), \
            offsetof(abut_shape_sizes, of), components                                     \
  }
  ARRAY(vertices, vertices, 3),
  ARRAY(axes, superquadrics, 3),
  ARRAY(exponents, superquadrics, 2),
  ARRAY(position, superquadrics, 3),
  ARRAY(rotation, superquadrics, 3),
  ARRAY(plane_normals, planes, 3),
  ARRAY(plane_points, planes, 3),
  ARRAY(cloud_points, points, 3),
  ARRAY(cloud_normals, points, 3),
  ARRAY(cloud_widths, points, 1),
  ARRAY(grid_coefficients, coefficients, 1),
  ARRAY(core_half, cores, 3),
  ARRAY(core_radius, cores, 1),
  ARRAY(core_position, cores, 3),
  ARRAY(core_rotation, cores, 3),
  ARRAY(feature_vertices, feature_vertices, 3),
  ARRAY(vertex_radius, feature_vertices, 1),
  ARRAY(edge_radius, feature_edges, 1)
#undef ARRAY
};

_Static_assert(sizeof(abut_shape_tangents) == sizeof(abut_shape_gradients) &&
                 offsetof(abut_shape_tangents, edge_radius) ==
                   offsetof(abut_shape_gradients, edge_radius),
               "directions and gradients have the same arrays in the same order");

void shape_add_ranges(call *c, const body *b, const void *of, size_t rows, int side, memory_use use)
{
  const abut_shape_sizes numbers = shape_sizes_of(b);
  for (int i = 0; i < ARRAYS; ++i) {
    const void *array;
    memcpy(&array, (const char *)of + arrays[i].offset, sizeof array);
    const size_t count = *(const size_t *)(const void *)((const char *)&numbers + arrays[i].of);
    call_add_range(c, arrays[i].of_side[side], array, rows,
                   count * arrays[i].components * sizeof(double), use);
  }
}

static const double **array_of(abut_shape_tangents *t, int i)
{
  return (const double **)(void *)((char *)t + arrays[i].offset);
}

/* Returns the arrays of one row, and the number of elements of each in `counts`. */
static abut_shape_tangents row_of(const body *b, const abut_shape_tangents *t, size_t at,
                                  size_t counts[ARRAYS])
{
  const abut_shape_sizes numbers = shape_sizes_of(b);
  abut_shape_tangents row = *t;
  for (int i = 0; i < ARRAYS; ++i) {
    const double **array = array_of(&row, i);
    counts[i] =
      *(const size_t *)(const void *)((const char *)&numbers + arrays[i].of) * arrays[i].components;
    *array = *array && counts[i] ? *array + at * counts[i] : NULL;
  }
  return row;
}

bool shape_moves_mesh(const abut_shape_tangents *t)
{
  return t && (t->vertices || t->feature_vertices || t->vertex_radius || t->edge_radius);
}

bool shape_moves_field(const abut_shape_tangents *t)
{
  return t && (t->axes || t->exponents || t->position || t->rotation || t->plane_normals ||
               t->plane_points || t->cloud_points || t->cloud_normals || t->cloud_widths ||
               t->grid_coefficients || t->core_half || t->core_radius || t->core_position ||
               t->core_rotation);
}

abut_status shape_moves_check(const body *b, const abut_shape_tangents *t, size_t rows, int number)
{
  size_t counts[ARRAYS];
  abut_shape_tangents all = row_of(b, t, 0, counts);
  for (int i = 0; i < ARRAYS; ++i) {
    const double *array = *array_of(&all, i);
    for (size_t k = 0; array && k < rows * counts[i]; ++k) {
      if (!isfinite(array[k])) {
        return fail(ABUT_ERROR_ARGUMENT, "the direction of body %d's %s: number %zu is not finite",
                    number, arrays[i].name, k);
      }
    }
  }
  return ABUT_SUCCESS;
}

size_t shape_moves_mesh_at(const body *b)
{
  return b->shape.count;
}

size_t shape_moves_own_width(const body *b)
{
  return b->shape.count + shape_own_first(b);
}

size_t shape_moves_width(const shaped_body *b)
{
  return b->of->shape.count + shape_row_first(b);
}

void shape_moves_settle(const shaped_body *b, const double *own, double *out)
{
  const size_t mesh = shape_moves_mesh_at(b->of);
  memcpy(out, own, mesh * sizeof *out);
  if (b->features) {
    features_along(b->of, b->features, own + mesh, out + mesh);
  } else {
    memcpy(out + mesh, own + mesh, shape_row_first(b) * sizeof *out);
  }
}

/* Copies the i-th `width` numbers of an array unless it is NULL. */
static void copy_row(const double *from, size_t width, size_t i, double *to)
{
  for (size_t k = 0; from && k < width; ++k) {
    to[k] = from[i * width + k];
  }
}

static void pack_superquadric(const abut_shape_tangents *t, size_t i, double *to)
{
  double exponents[2] = {0.0, 0.0};
  copy_row(t->rotation, 3, i, to);
  copy_row(t->position, 3, i, to + SUPERQUADRIC_POSITION);
  copy_row(t->axes, 3, i, to + SUPERQUADRIC_AXES_INV);
  copy_row(t->exponents, 2, i, exponents);
  to[SUPERQUADRIC_E1] = exponents[0];
  to[SUPERQUADRIC_E2] = exponents[1];
}

/* A disc's third length does not vary. */
static void pack_core(const abut_shape_tangents *t, size_t i, abut_core_kind kind, double *to)
{
  copy_row(t->core_rotation, 3, i, to);
  copy_row(t->core_position, 3, i, to + CORE_POSITION);
  copy_row(t->core_half, 3, i, to + CORE_HALF);
  copy_row(t->core_radius, 1, i, to + CORE_WIDTH);
  to[CORE_HALF + 2] *= kind == ABUT_CORE_BOX;
}

/* The change of n . p for unit n is dn . p + n . dp. */
static void pack_plane(const abut_shape_tangents *t, size_t i, const double *plane, double *to)
{
  const double length = sqrt(plane[0] * plane[0] + plane[1] * plane[1] + plane[2] * plane[2]);
  double point[3] = {0.0, 0.0, 0.0};
  copy_row(t->plane_normals, 3, i, to);
  copy_row(t->plane_points, 3, i, point);
  for (int k = 0; k < 3; ++k) {
    to[3] += to[k] * plane[3 + k] + point[k] * plane[k] / length;
  }
}

static void pack_point(const abut_shape_tangents *t, size_t i, double inverse2, double *to)
{
  copy_row(t->cloud_points, 3, i, to);
  copy_row(t->cloud_normals, 3, i, to + 3);
  copy_row(t->cloud_widths, 1, i, to + 6);
  to[6] *= sqrt(inverse2);
}

static abut_status pack_grid(const body *b, const shape_part *p, const abut_shape_tangents *t,
                             double *to)
{
  const abut_grid *g = &b->parts.grids[p->one];
  for (size_t i = 0; i < p->reals; ++i) {
    to[i] = reals_get(&b->shape, p->first + i);
  }
  return grid_moves_pack(g, t->grid_coefficients ? t->grid_coefficients + p->number : NULL, to);
}

static abut_status pack_part(const body *b, const shape_part *p, const abut_shape_tangents *t,
                             double *out)
{
  const body_parts *of = &b->parts;
  if (p->family == SHAPE_SUPERQUADRICS) {
    for (size_t i = 0, next = 0; i < of->superquadric_count; ++i) {
      if ((int)of->superquadrics[i].operation == p->operation) {
        pack_superquadric(t, i, out + p->first + SUPERQUADRIC_STRIDE * next++);
      }
    }
    return ABUT_SUCCESS;
  }
  if (p->family == SHAPE_CORES) {
    for (size_t i = 0, next = 0; i < of->core_count; ++i) {
      if ((int)of->cores[i].operation == p->operation) {
        pack_core(t, i, of->cores[i].kind, out + p->first + CORE_STRIDE * next++);
      }
    }
    return ABUT_SUCCESS;
  }
  if (p->family == SHAPE_GRID) {
    return pack_grid(b, p, t, out + p->first);
  }
  for (size_t i = 0; i < p->count; ++i) {
    if (p->family == SHAPE_POLYHEDRON) {
      pack_plane(t, p->number + i, of->planes + 6 * (p->number + i),
                 out + p->first + PLANE_STRIDE * i);
    } else {
      const size_t point = p->first + (i + 1) * POINT_STRIDE;
      pack_point(t, p->number + i, reals_get(&b->shape, point + 6), out + point);
    }
  }
  return ABUT_SUCCESS;
}

abut_status shape_moves_pack(const body *b, const abut_shape_tangents *t, size_t at, double *out)
{
  size_t counts[ARRAYS];
  const abut_shape_tangents row = row_of(b, t, at, counts);
  const abut_shape_sizes numbers = shape_sizes_of(b);
  double *mesh = out + shape_moves_mesh_at(b), *features = mesh + 3 * numbers.vertices;
  memset(out, 0, shape_moves_own_width(b) * sizeof *out);
  copy_row(row.vertices, 3 * numbers.vertices, 0, mesh);
  copy_row(row.feature_vertices, 3 * numbers.feature_vertices, 0, features);
  copy_row(row.vertex_radius, numbers.feature_vertices, 0, features + 3 * numbers.feature_vertices);
  copy_row(row.edge_radius, numbers.feature_edges, 0, features + 4 * numbers.feature_vertices);
  shape_walk w = shape_walk_begin(b, 0, 0, 0);
  while (shape_walk_next(&w)) {
    TRY(pack_part(b, &w.part, &row, out));
  }
  return ABUT_SUCCESS;
}
