/* Arrays of reals have the precision of a context, and are filled from double. */
#ifndef ABUT_BASE_REALS_H
#define ABUT_BASE_REALS_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* Number i of an array whose elements have so many bytes. */
static inline double real_of(const void *data, size_t size, size_t i)
{
  return size == sizeof(double) ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline double reals_get(const reals *r, size_t i)
{
  return real_of(r->data, r->size, i);
}

/* Copies them, in double. */
static inline abut_status reals_widen(const reals *from, reals *out)
{
  const abut_status status = reals_create(out, from->count, sizeof(double));
  for (size_t i = 0; status == ABUT_SUCCESS && i < from->count; ++i) {
    reals_set(out, i, reals_get(from, i));
  }
  return status;
}

/* Whether all are floats. They are compared by their bits, so that -0 stays itself. */
static inline bool reals_are_floats(const double *x, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    const double back = (double)(float)x[i];
    if (memcmp(&back, &x[i], sizeof back) != 0) {
      return false;
    }
  }
  return true;
}

#endif
