#include "engine/device/buffer_pool.h"

#include "base/error.h"
#include <stdlib.h>

abut_status buffer_pool_prepare(buffer_pool *p, device *d, size_t buffer_, size_t bytes)
{
  buffer **at = &p->buffers[buffer_];
  if (!bytes || (*at && buffer_bytes(*at) >= bytes)) {
    return ABUT_SUCCESS;
  }
  buffer_destroy(*at);
  *at = NULL;
  return buffer_create(d, bytes, at);
}

void buffer_pools_empty(buffer_pools *p, size_t slot)
{
  for (size_t i = 0; i < BUFFER_POOLS; ++i) {
    for (size_t k = 0; k < POOL_BUFFERS; ++k) {
      buffer_destroy(p->of[slot][i].buffers[k]);
      p->of[slot][i].buffers[k] = NULL;
    }
  }
}

void buffer_pools_free(buffer_pools *p)
{
  for (size_t i = 0; p && i < DEVICE_SLOTS; ++i) {
    buffer_pools_empty(p, i);
  }
  free(p);
}
