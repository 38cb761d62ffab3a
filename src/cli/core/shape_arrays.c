#include "core/shape_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the order of abut_shape_gradients; components 1: the rows are numbers. */
static const struct {
  const char *names[2];
  size_t of, components;
} kinds[SHAPE_NAMES] = {
#define KIND(name, of, components)                                       \
  {                                                                      \
    {"a_" #name, "b_" #name}, offsetof(abut_shape_sizes, of), components \
  }
  KIND(vertices, vertices, 3),
  KIND(axes, superquadrics, 3),
  KIND(exponents, superquadrics, 2),
  KIND(position, superquadrics, 3),
  KIND(rotation, superquadrics, 3),
  KIND(plane_normals, planes, 3),
  KIND(plane_points, planes, 3),
  KIND(cloud_points, points, 3),
  KIND(cloud_normals, points, 3),
  KIND(cloud_widths, points, 1),
  KIND(grid_coefficients, coefficients, 1),
  KIND(core_half, cores, 3),
  KIND(core_radius, cores, 1),
  KIND(core_position, cores, 3),
  KIND(core_rotation, cores, 3),
  KIND(feature_vertices, feature_vertices, 3),
  KIND(vertex_radius, feature_vertices, 1),
  KIND(edge_radius, feature_edges, 1)};

/* In addition `gradient` writes two arrays per body, and hessian, value, status, smoothing and
 * soft. */
_Static_assert(2 * SHAPE_NAMES + 9 <= OUTPUTS_MOST,
               "there is no room for all arrays of `gradient --by shape`");

exit_code shape_room(shape_arrays *a, const session *s, size_t rows)
{
  a->rows = rows;
  for (int side = 0; side < 2; ++side) {
    abut_shape_sizes sizes;
    CLI_TRY(report_status(abut_get_shape_sizes(s->bodies[side], &sizes)));
    double **n = a->numbers[side];
    for (size_t i = 0; i < SHAPE_NAMES; ++i) {
      const size_t count = *(const size_t *)((const char *)&sizes + kinds[i].of);
      size_t bytes = 0;
      a->counts[side][i] = count;
      if (count) {
        n[i] = multiply(rows ? rows : 1, count, kinds[i].components * sizeof(double), &bytes)
                 ? calloc(bytes ? bytes : 1, 1)
                 : NULL;
        CLI_TRY(n[i]
                  ? EXIT_GOOD
                  : report(EXIT_RUN, "not enough memory for %zu times %zu numbers", rows, count));
      }
    }
    a->to[side] = (abut_shape_gradients){n[0],  n[1],  n[2],  n[3],  n[4],  n[5],
                                         n[6],  n[7],  n[8],  n[9],  n[10], n[11],
                                         n[12], n[13], n[14], n[15], n[16], n[17]};
  }
  return EXIT_GOOD;
}

void shape_free(shape_arrays *a)
{
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < SHAPE_NAMES; ++i) {
      free(a->numbers[side][i]);
    }
  }
}

void shape_add(const shape_arrays *a, outputs *l)
{
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < SHAPE_NAMES; ++i) {
      const size_t count = a->counts[side][i], components = kinds[i].components;
      const uint32_t dimensions = components > 1 ? 2 : 1;
      if (count && a->rows) {
        outputs_add(l, kinds[i].names[side], ABUT_ARRAY_FLOAT64, a->numbers[side][i],
                    dimensions + 1, a->rows, count, components);
      } else if (count) {
        outputs_add(l, kinds[i].names[side], ABUT_ARRAY_FLOAT64, a->numbers[side][i], dimensions,
                    count, components, 0);
      }
    }
  }
}

exit_code shape_read(inputs *f, const session *s, size_t rows, abut_shape_tangents to[2],
                     bool *found)
{
  *found = false;
  for (int side = 0; side < 2; ++side) {
    abut_shape_sizes sizes;
    const void *n[SHAPE_NAMES];
    CLI_TRY(report_status(abut_get_shape_sizes(s->bodies[side], &sizes)));
    for (size_t i = 0; i < SHAPE_NAMES; ++i) {
      const size_t count = *(const size_t *)((const char *)&sizes + kinds[i].of);
      const size_t shape[3] = {rows, count, kinds[i].components};
      const uint32_t rank = kinds[i].components > 1 ? 2 : 1;
      CLI_TRY(inputs_finite(f, kinds[i].names[side], rows ? rank + 1 : rank,
                            rows ? shape : shape + 1,
                            rows ? "the body's numbers, one row per pose" : "the body's numbers",
                            ABUT_FLOAT64, &n[i]));
      *found = *found || n[i];
    }
    to[side] = (abut_shape_tangents){n[0], n[1],  n[2],  n[3],  n[4],  n[5],  n[6],  n[7],  n[8],
                                     n[9], n[10], n[11], n[12], n[13], n[14], n[15], n[16], n[17]};
  }
  return EXIT_GOOD;
}

bool shape_is_name(const char *name)
{
  for (size_t i = 0; i < SHAPE_NAMES; ++i) {
    if (!strcmp(name, kinds[i].names[0]) || !strcmp(name, kinds[i].names[1])) {
      return true;
    }
  }
  return false;
}

double shape_largest(const shape_arrays *a)
{
  double largest = 0.0;
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < SHAPE_NAMES; ++i) {
      const size_t count = (a->rows ? a->rows : 1) * a->counts[side][i] * kinds[i].components;
      for (size_t k = 0; k < count; ++k) {
        largest = fmax(largest, fabs(a->numbers[side][i][k]));
      }
    }
  }
  return largest;
}
