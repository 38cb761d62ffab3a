/* Arrays of reals in the precision of a context, which are filled from double. */
#ifndef ABUT_BASE_REALS_H
#define ABUT_BASE_REALS_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct reals {
  void *data;
  size_t count, size; /* number of elements, bytes per element */
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

/* Sets elements from `i` on; to 0 if `from` is NULL. */
static inline void reals_put(reals *r, size_t i, const double *from, size_t count)
{
  if (!from) {
    memset((char *)r->data + i * r->size, 0, count * r->size);
  } else if (r->size == sizeof(double)) {
    memcpy((double *)r->data + i, from, count * sizeof(double));
  } else {
    float *to = (float *)r->data + i;
    for (size_t k = 0; k < count; ++k) {
      to[k] = (float)from[k];
    }
  }
}

/* Returns number i of an array whose elements have `size` bytes. */
static inline double real_of(const void *data, size_t size, size_t i)
{
  return size == sizeof(double) ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline double reals_get(const reals *r, size_t i)
{
  return real_of(r->data, r->size, i);
}

/* Copies the numbers to double. */
static inline abut_status reals_widen(const reals *from, reals *out)
{
  const abut_status status = reals_create(out, from->count, sizeof(double));
  for (size_t i = 0; status == ABUT_SUCCESS && i < from->count; ++i) {
    reals_set(out, i, reals_get(from, i));
  }
  return status;
}

/* Returns whether all numbers are exact in float. They are compared bitwise, so that -0 is
 * preserved. */
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
