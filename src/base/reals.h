/* Arrays in the precision of a context, filled from double. */
#ifndef ABUT_BASE_REALS_H
#define ABUT_BASE_REALS_H

#include "base/memory.h"
#include <stdlib.h>

typedef struct reals {
  void *data;
  size_t count, size; /* elements, bytes of one */
} reals;

static inline abut_status reals_create(reals *r, size_t count, size_t size)
{
  r->count = count;
  r->size = size;
  return allocate(&r->data, count, size);
}

static inline void reals_set(reals *r, size_t i, double value)
{
  if (r->size == sizeof(double)) {
    ((double *)r->data)[i] = value;
  } else {
    ((float *)r->data)[i] = (float)value;
  }
}

#endif
