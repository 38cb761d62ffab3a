/* One call by XLA: its attributes, its arrays one after the other, and what is wrong with them. */
#ifndef ABUT_XLA_CALL_H
#define ABUT_XLA_CALL_H

#include "xla_ffi.h"

#include <abut/status.h>

typedef struct xla_call {
  const xla_frame *frame;
  int64_t argument, result; /* the next ones */
  int type;                 /* of reals */
  size_t count;             /* entries */
  char text[256];           /* "" as long as all is well */
} xla_call;

/* Says what is wrong; the first one counts. */
void xla_refuse(xla_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An attribute of a kind, or NULL. */
const void *xla_attribute(const xla_frame *frame, const char *name, int kind);

/* A number; 0 where it is not there. */
int64_t xla_number(const xla_frame *frame, const char *name);

/* A handle of the library's, index in the low half of each number and generation in the high
 * one. */
typedef struct xla_handle {
  uint32_t index, generation;
} xla_handle;

xla_handle xla_handle_of(int64_t number);

size_t xla_size(const xla_buffer *buffer);

/* The next argument or result, which has so many numbers an entry; NULL once something is wrong. */
void *xla_next(xla_call *c, const xla_buffers *all, int64_t *place, int type, size_t width);
void *xla_argument(xla_call *c, size_t width);
void *xla_result(xla_call *c, size_t width);

/* What a handler returns after a call: an error of what is wrong, or of the library's status. */
xla_error *xla_end(const xla_call *c, abut_status status);

/* A handler: runs `execute` with the library's own rounding, and answers XLA's question which
 * version of its interface that is of. */
xla_error *xla_handle_call(xla_frame *frame, xla_error *(*execute)(const xla_frame *frame));

#endif
