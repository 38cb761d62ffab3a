/* A call in progress on one device: the engine's work around the steps of its operation.
 *
 * The device's slot must be selected before each step. An error caused by the device
 * (is_device_error) removes the device from the context. ABUT_ERROR_TOO_LARGE removes it from this
 * call only. Any other error ends the whole call. */
#ifndef ABUT_BATCH_BATCH_ON_H
#define ABUT_BATCH_BATCH_ON_H

#include "engine/batch/batch.h"

/* Starts the call on a member of the context. *out must be closed even after a failure. */
abut_status batch_on_open(batch_call *c, size_t place, batch_on **out);
abut_status batch_on_upload(batch_on *on, size_t slot, chunk c);
abut_status batch_on_launch(batch_on *on, size_t slot, chunk c); /* may return before kernels end */
abut_status batch_on_collect(batch_on *on, size_t slot, chunk c); /* after all has ended */
void batch_on_let_go(batch_on *on, size_t slot); /* frees what an idle slot holds for chunks */
void batch_on_close(batch_on *on);               /* NULL is allowed */

/* Returns the largest number of elements in a chunk on any device; 0: no bound. */
static inline size_t batch_bound(const batch_call *c)
{
  return c->unbounded ? 0 : c->context->def.chunk;
}

#endif
