/* A buffer pool is a set of numbered buffers of a slot of a device, whose memory calls reuse. The
 * buffers belong to no body and no pair: one call overwrites what another one has left there. */
#ifndef ABUT_DEVICE_BUFFER_POOL_H
#define ABUT_DEVICE_BUFFER_POOL_H

#include "engine/device/device.h"

/* A slot has so many pools, because a call may need so many runs of kernels beside each other. */
#define BUFFER_POOLS 2
/* A pool has so many buffers, which each operation numbers for itself. */
#define POOL_BUFFERS 176

typedef struct buffer_pool {
  buffer *buffers[POOL_BUFFERS];
} buffer_pool;

/* The pools of a device, by slot. They are empty at first. */
typedef struct buffer_pools {
  buffer_pool of[DEVICE_SLOTS][BUFFER_POOLS];
} buffer_pools;

/* Makes a buffer of at least `bytes` where there is none so large. A buffer is kept, and only
 * grows. */
abut_status buffer_pool_prepare(buffer_pool *p, device *d, size_t buffer, size_t bytes);

/* Lets go of a slot's buffers. */
void buffer_pools_empty(buffer_pools *p, size_t slot);

void buffer_pools_free(buffer_pools *p); /* NULL is allowed */

#endif
