/* Directions of a body's numbers: the caller's arrays, and the kernels' format. */
#ifndef ABUT_CONTACT_SHAPE_MOVES_H
#define ABUT_CONTACT_SHAPE_MOVES_H

#include "contact/call.h"
#include "contact/shape_rows.h"
#include <abut/shape.h>

/* Return whether a direction has vertices or features of a body, and whether it has primitives. */
bool shape_moves_mesh(const abut_shape_tangents *t);
bool shape_moves_field(const abut_shape_tangents *t);

/* Rejects a direction for `rows` poses with a number that is not finite. number: the body's number
 * in texts. */
abut_status shape_moves_check(const body *b, const abut_shape_tangents *t, size_t rows, int number);

/* Adds the arrays of a body's direction, or of its gradients, with `rows` rows to the memory that
 * the call reads or writes. side: 0 or 1. */
void shape_add_ranges(call *c, const body *b, const void *of, size_t rows, int side,
                      memory_use use);

/* Numbers of a direction: its packed numbers (cl/kernels/shape/along.cl), followed by those with
 * which written sums begin (contact/shape_rows.h). In the kernels' format, they are followed by
 * those with which rows begin. */
size_t shape_moves_mesh_at(const body *b);
size_t shape_moves_own_width(const body *b);
size_t shape_moves_width(const shaped_body *b);

/* Writes row `at` of the caller's arrays. */
abut_status shape_moves_pack(const body *b, const abut_shape_tangents *t, size_t at, double *out);

/* Converts it to the kernels' format. */
void shape_moves_settle(const shaped_body *b, const double *own, double *out);

#endif
