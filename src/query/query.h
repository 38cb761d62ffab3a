/* Calls of many small queries without a pair, as operations of the engine. */
#ifndef ABUT_QUERY_QUERY_H
#define ABUT_QUERY_QUERY_H

#include "engine/batch/batch.h"
#include <abut/manifold.h>

/* A call. Its buffers are those of buffer pool 0. */
typedef struct query_call {
  batch_call base;
  const abut_smoothing *smoothing;
  program_id program;
  kernel_id kernel;
  bool adjoint; /* the kernel is an adjoint one */
} query_call;

/* The data of a call on a device. */
typedef struct query_on {
  buffer *coefficients;
} query_on;

/* Sets up a call of `count` queries; its numbers are plain unless q->program is set afterwards. */
abut_status query_start(query_call *q, context *owner, const operation *o, size_t count,
                        const abut_smoothing *smoothing);

/* Add arrays of `width` reals per query. An input of NULL is zero; an output of NULL is not wanted.
 * On duals an input has a tangent, of which NULL is zero, and outputs are only the tangents. */
void query_input(query_call *q, const char *name, size_t id, size_t width, const void *in,
                 const void *tangent);
void query_output(query_call *q, const char *name, size_t id, size_t width, void *out);

/* The base of all these operations. */
extern const operation query_operation;

/* A buffer of the chunk as an argument of a launch. */
#define AT(on, slot, id) ARG_BUFFER(memory_buffer(&(on)->memory[slot][0], id))

#endif
