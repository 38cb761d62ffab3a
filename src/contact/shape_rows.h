/* Rows of derivatives by a body's shape: as kernels leave them for a pose, as sums over poses hold
 * them, and by the arrays of the public struct. */
#ifndef ABUT_CONTACT_SHAPE_ROWS_H
#define ABUT_CONTACT_SHAPE_ROWS_H

#include "contact/pair.h"
#include <abut/shape.h>

/* A body whose numbers vary, and what it touches fields with (body/touching.h) in a pair whose
 * edges are in fields, else NULL. Where that is there, numbers of its vertices and edges
 * (contact/shape_features.h) stand in rows and sums in the place of those of the mesh. */
typedef struct shaped_body {
  const body *of, *features;
} shaped_body;

/* Returns that of a side of a pair. */
shaped_body shaped_of(const pair *p, int side);

/* One operation's primitives of a family, or one primitive of a ranged family: where its numbers
 * begin in the body's reals, in a kernel's row and in a sum. */
typedef struct shape_part {
  int family; /* SHAPE_* */
  int operation;
  size_t first; /* real */
  size_t count; /* superquadrics, planes, points, levels, cores */
  size_t row, sum;
  size_t reals;       /* of a grid, its packed numbers; a sum has as many */
  size_t one, number; /* of a ranged primitive: which of its family the body's definition has it
                         as, and where its planes, points or coefficients begin among the
                         family's */
} shape_part;

enum { SHAPE_SUPERQUADRICS, SHAPE_POLYHEDRON, SHAPE_CLOUD, SHAPE_GRID, SHAPE_CORES };

/* The next primitive of a family and an operation, and its first number in the caller's arrays. */
typedef struct shape_place {
  size_t one, number;
} shape_place;

/* Goes through the parts of a body in the order in which they are packed. `sites` is how many sites
 * its field has. */
typedef struct shape_walk {
  const body *of;
  size_t sites;
  int operation, family;
  size_t one;
  shape_part part;
  shape_place next[SHAPE_GRID + 1];
  size_t row, sum; /* of what has been passed; at the end the widths */
} shape_walk;

/* row, sum: how many numbers they have before those of primitives. */
shape_walk shape_walk_begin(const body *b, size_t sites, size_t row, size_t sum);
bool shape_walk_next(shape_walk *w);

/* Returns how many numbers stand before those of primitives: in rows, and in sums of rows; and in
 * the sums that are written, which have those of the mesh, of the stated features' vertices, (3)
 * and radii, and their edges' radii. */
size_t shape_row_first(const shaped_body *b);
size_t shape_own_first(const body *b);

/* How many numbers kernels leave in a row, sums of rows have, and sums that are written. */
size_t shape_row_width(const shaped_body *b, size_t sites);
size_t shape_sum_width(const shaped_body *b);
size_t shape_own_width(const body *b);

/* How many of these a row of primitives alone has. */
size_t shape_fields_width(const body *b, size_t sites);

/* How many numbers describe it. */
abut_shape_sizes shape_sizes_of(const body *b);

/* Adds a row of kernels' to a sum, along a walk that has begun. The row has reals of `size`
 * bytes. */
void shape_add_row(shape_walk w, const void *row, size_t size, double *sum);

/* Turns a sum of rows into one that is written. */
void shape_settle(const shaped_body *b, const double *sum, double *own);

/* Writes a sum into the arrays that are not NULL, at row `at` of each. */
abut_status shape_write(const body *b, const double *sum, const abut_shape_gradients *to,
                        size_t at);

#endif
