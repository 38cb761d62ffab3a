/* A buffer pool is a set of numbered buffers in a slot of a device, reused from call to call. The
 * buffers belong to no body or pair: each call overwrites the content of the previous one. */
#ifndef ABUT_DEVICE_BUFFER_POOL_H
#define ABUT_DEVICE_BUFFER_POOL_H

#include "engine/device/device.h"

/* Pools per slot: a call may need this many independent sets of buffers. */
#define BUFFER_POOLS 2
/* Buffers per pool; each operation numbers them for itself. */
#define POOL_BUFFERS 176

typedef struct buffer_pool {
  buffer *buffers[POOL_BUFFERS];
} buffer_pool;

/* The pools of a device, by slot. They are empty at first. */
typedef struct buffer_pools {
  buffer_pool of[DEVICE_SLOTS][BUFFER_POOLS];
} buffer_pools;

/* Ensures that a buffer has at least `bytes`. Buffers are retained and only grow. */
abut_status buffer_pool_prepare(buffer_pool *p, device *d, size_t buffer, size_t bytes);

/* Frees a slot's buffers. */
void buffer_pools_empty(buffer_pools *p, size_t slot);

void buffer_pools_free(buffer_pools *p); /* NULL is allowed */

#endif
