/* Directions of a body's numbers: the caller's arrays, and as kernels read them. */
#ifndef ABUT_CONTACT_SHAPE_MOVES_H
#define ABUT_CONTACT_SHAPE_MOVES_H

#include "contact/call.h"
#include "contact/shape_rows.h"
#include <abut/shape.h>

/* Tell whether there is a direction of a body's vertices or features, and of its primitives. */
bool shape_moves_mesh(const abut_shape_tangents *t);
bool shape_moves_field(const abut_shape_tangents *t);

/* Refuses a direction, of `rows` poses, with a number that is not finite. number: the body's, in
 * texts. */
abut_status shape_moves_check(const body *b, const abut_shape_tangents *t, size_t rows, int number);

/* Adds the arrays of a body's direction, or of its gradients, with `rows` rows to what the call
 * reads or writes. side: 0 or 1. */
void shape_add_ranges(call *c, const body *b, const void *of, size_t rows, int side,
                      memory_use use);

/* How many numbers a direction has: its packed numbers, as cl/kernels/shape/along.cl says, and
 * behind them those that sums that are written begin with (contact/shape_rows.h); as kernels read
 * it, behind them those that rows do. */
size_t shape_moves_mesh_at(const body *b);
size_t shape_moves_own_width(const body *b);
size_t shape_moves_width(const shaped_body *b);

/* Writes row `at` of the caller's. */
abut_status shape_moves_pack(const body *b, const abut_shape_tangents *t, size_t at, double *out);

/* Writes it as kernels read it. */
void shape_moves_settle(const shaped_body *b, const double *own, double *out);

#endif
