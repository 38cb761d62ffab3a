/* The order of computation for a batch with elements of several kinds. */
#ifndef ABUT_BATCH_ORDER_H
#define ABUT_BATCH_ORDER_H

#include "engine/batch/batch.h"

/* Elements sorted by their kind (a pair or a scene). Elements of one kind stay in the caller's
 * order. */
typedef struct batch_order {
  uint32_t *rows;      /* (N) the element that is computed at each position */
  batch_group *groups; /* one for each kind that has elements; without rates */
  uint32_t *kinds;     /* each group's index in the caller's list of kinds */
  size_t group_count;
} batch_order;

/* Sorts elements by their kinds, each below kind_count. *out is empty on failure. */
abut_status batch_order_create(size_t count, size_t kind_count, const uint32_t *kind,
                               batch_order *out);
void batch_order_free(batch_order *o);

#endif
