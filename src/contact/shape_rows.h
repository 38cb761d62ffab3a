/* Rows of derivatives with respect to a body's shape: per pose as kernels write them, as sums over
 * poses, and as arrays of the public struct. */
#ifndef ABUT_CONTACT_SHAPE_ROWS_H
#define ABUT_CONTACT_SHAPE_ROWS_H

#include "contact/pair.h"
#include <abut/shape.h>

/* A body whose numbers vary, and its features (body/touching.h) if the pair's edges are in fields,
 * otherwise NULL. With features, rows and sums have the numbers of their vertices and edges
 * (contact/shape_features.h) in place of the mesh's. */
typedef struct shaped_body {
  const body *of, *features;
} shaped_body;

/* Returns the shaped body for a side of a pair. */
shaped_body shaped_of(const pair *p, int side);

/* One operation's primitives of a family, or one primitive of a ranged family, with the offsets of
 * its numbers in the body's reals, in a kernel's row and in a sum. */
typedef struct shape_part {
  int family; /* SHAPE_* */
  int operation;
  size_t first; /* real */
  size_t count; /* number of superquadrics, planes, points, levels or cores */
  size_t row, sum;
  size_t reals;       /* for a grid: number of its packed numbers, in a sum too */
  size_t one, number; /* for a ranged primitive: its index in the body's definition, and the offset
                         of its planes, points or coefficients among the family's */
} shape_part;

enum { SHAPE_SUPERQUADRICS, SHAPE_POLYHEDRON, SHAPE_CLOUD, SHAPE_GRID, SHAPE_CORES };

/* The next primitive of a family and an operation, and its first index in the caller's arrays. */
typedef struct shape_place {
  size_t one, number;
} shape_place;

/* Iterates over the parts of a body in packing order. `sites`: the number of its field's sites. */
typedef struct shape_walk {
  const body *of;
  size_t sites;
  int operation, family;
  size_t one;
  shape_part part;
  shape_place next[SHAPE_GRID + 1];
  size_t row, sum; /* offsets after the visited parts; at the end, the widths */
} shape_walk;

/* row, sum: offsets of the primitives' numbers. */
shape_walk shape_walk_begin(const body *b, size_t sites, size_t row, size_t sum);
bool shape_walk_next(shape_walk *w);

/* Return the offset of the primitives' numbers: in rows and sums of rows; and in written sums.
 * Written sums begin with the mesh's vertices, the stated features' vertices (3) and radii, and
 * their edges' radii. */
size_t shape_row_first(const shaped_body *b);
size_t shape_own_first(const body *b);

/* Widths of the kernels' rows, of sums of rows, and of written sums. */
size_t shape_row_width(const shaped_body *b, size_t sites);
size_t shape_sum_width(const shaped_body *b);
size_t shape_own_width(const body *b);

/* Returns the width of a row with only primitives. */
size_t shape_fields_width(const body *b, size_t sites);

/* Returns the numbers of elements that describe it. */
abut_shape_sizes shape_sizes_of(const body *b);

/* Adds a kernels' row to a sum, along a walk at its start. The row has reals of `size` bytes. */
void shape_add_row(shape_walk w, const void *row, size_t size, double *sum);

/* Converts a sum of rows to a written sum. */
void shape_settle(const shaped_body *b, const double *sum, double *own);

/* Writes a sum into the arrays that are not NULL, at row `at` of each. */
abut_status shape_write(const body *b, const double *sum, const abut_shape_gradients *to,
                        size_t at);

#endif
