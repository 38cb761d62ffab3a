/* A call at work on one device: what the engine does there around the steps of its operation.
 *
 * The device's slot must be selected before each step. An error for which a device is to blame
 * (is_device_error) costs this device, and ABUT_ERROR_TOO_LARGE its part in this call; any other
 * one the whole call. */
#ifndef ABUT_BATCH_BATCH_ON_H
#define ABUT_BATCH_BATCH_ON_H

#include "engine/batch/batch.h"

/* Begins on a member of the context. After a failure, too, *out is to be closed. */
abut_status batch_on_open(batch_call *c, size_t place, batch_on **out);
abut_status batch_on_upload(batch_on *on, size_t slot, chunk c);
abut_status batch_on_launch(batch_on *on, size_t slot, chunk c);  /* need not wait */
abut_status batch_on_collect(batch_on *on, size_t slot, chunk c); /* all launched has ended */
void batch_on_let_go(batch_on *on, size_t slot); /* of what an idle slot holds for chunks */
void batch_on_close(batch_on *on);               /* NULL is allowed */

/* The most elements of a chunk that any device may take; 0: no bound. */
static inline size_t batch_bound(const batch_call *c)
{
  return c->unbounded ? 0 : c->context->def.chunk;
}

#endif
