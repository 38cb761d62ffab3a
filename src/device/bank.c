#include "device/bank.h"

#include "base/error.h"
#include <stdlib.h>

abut_status bank_prepare(bank *b, device *d, size_t buffer_, size_t bytes)
{
  buffer **at = &b->buffers[buffer_];
  if (!bytes || (*at && buffer_bytes(*at) >= bytes)) {
    return ABUT_SUCCESS;
  }
  buffer_destroy(*at);
  *at = NULL;
  return buffer_create(d, bytes, at);
}

void banks_empty(banks *b, size_t slot)
{
  for (size_t i = 0; i < BANKS; ++i) {
    for (size_t k = 0; k < BANK_BUFFERS; ++k) {
      buffer_destroy(b->of[slot][i].buffers[k]);
      b->of[slot][i].buffers[k] = NULL;
    }
  }
}

void banks_free(banks *b)
{
  for (size_t i = 0; b && i < DEVICE_SLOTS; ++i) {
    banks_empty(b, i);
  }
  free(b);
}
