/* Rows of derivatives by a body's shape: as kernels leave them for a pose, as sums over poses hold them,
 * and by the arrays of the public struct. */
#ifndef ABUT_MANIFOLD_SHAPE_ROWS_H
#define ABUT_MANIFOLD_SHAPE_ROWS_H

#include "body/body.h"
#include <abut/shape.h>

/* One operation's primitives of a family, or one primitive of a ranged family: where its numbers begin in
 * the body's reals, in a kernel's row and in a sum. */
typedef struct shape_part {
  int family;      /* SHAPE_* */
  int operation;
  size_t first;    /* real */
  size_t count;    /* superquadrics, planes, points, levels, cores */
  size_t row, sum;
  size_t reals;    /* of a grid, its packed numbers; a sum has as many */
  size_t one, number; /* of a ranged primitive: which of its family the body's definition has it as, and where its planes,
                         points or coefficients begin among the family's */
} shape_part;

enum { SHAPE_SUPERQUADRICS, SHAPE_POLYHEDRON, SHAPE_CLOUD, SHAPE_GRID, SHAPE_CORES };

/* The next primitive of a family and an operation, and its first number in the caller's arrays. */
typedef struct shape_place {
  size_t one, number;
} shape_place;

/* Goes through the parts of a body in the order in which they are packed. `sites` is how many sites its
 * field has. */
typedef struct shape_walk {
  const body *of;
  size_t sites;
  int operation, family;
  size_t one;
  shape_part part;
  shape_place next[SHAPE_GRID + 1];
  size_t row, sum; /* of what has been passed; at the end the widths */
} shape_walk;

/* vertices: whether rows begin with those of the mesh; a follower's rows have none. */
shape_walk shape_walk_begin(const body *b, size_t sites, bool vertices);
bool shape_walk_next(shape_walk *w);

/* How many numbers kernels leave in a row, and sums have. */
size_t shape_row_width(const body *b, size_t sites, bool vertices);
size_t shape_sum_width(const body *b);

/* How many numbers describe it. */
abut_shape_sizes shape_sizes_of(const body *b);

/* Adds a row of kernels' to a sum. The row has reals of `size` bytes. */
void shape_add_row(const body *b, size_t sites, bool vertices, const void *row, size_t size,
                   double *sum);

/* Writes a sum into the arrays that are not NULL, at row `at` of each. */
abut_status shape_write(const body *b, const double *sum, const abut_shape_gradients *to, size_t at);

#endif
