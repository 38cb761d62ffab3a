/* Computations of fits on a device: fields of sets over blocks of samples, and products of their
 * Jacobians. */
#ifndef ABUT_DECOMPOSE_FITTER_H
#define ABUT_DECOMPOSE_FITTER_H

#include "mesh/decompose/decompose.h"

/* Packs an entry of a set. A superquadric is packed as in bodies (geometry/layout.h), without the
 * values that only bodies need. */
void fitter_pack(reals *to, size_t at, const primitive *p);

/* Computes the fields of items, which f->ints holds. most: the largest number of primitives of an
 * item. */
abut_status fitter_values(fitter *f, const sample_set *s, size_t items, size_t most, double width);

/* Returns an item's list of primitives (LIST_INTS), after fitter_values. */
const int *fitter_list(const fitter *f, size_t item);

/* Sums the objective's terms over `count` items, after fitter_values. */
double fitter_terms(const fitter *f, size_t first, size_t count);

/* Reads back the products (f->numbers) of the Jacobians of some items, after fitter_values. wanted:
 * (count, PRODUCT_INTS). `rows` and `products` are totals over these items. */
abut_status fitter_products(fitter *f, const sample_set *s, double width, const int *wanted,
                            size_t count, size_t rows, size_t products);

#endif
