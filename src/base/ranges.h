/* The memory ranges that a call reads and writes, and the check of their overlaps. */
#ifndef ABUT_BASE_RANGES_H
#define ABUT_BASE_RANGES_H

#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum memory_use {
  MEMORY_WRITTEN,
  MEMORY_READ,    /* no written range may overlap it */
  MEMORY_REPLACED /* read, too; a written range may coincide with it but not overlap it otherwise */
} memory_use;

typedef struct memory_range {
  const char *name; /* name in error texts */
  const void *at;   /* NULL: there is none */
  size_t bytes;
  memory_use use;
} memory_range;

/* Returns the bytes of `count` rows, saturated at the largest size. */
size_t rows_bytes(size_t count, size_t row);

/* Returns whether two ranges have a byte in common. */
bool ranges_meet(const memory_range *a, const memory_range *b);

/* Refuses a written range that overlaps another range, except as above: ABUT_ERROR_ARGUMENT with
 * the names of both. */
abut_status check_ranges(const memory_range *all, size_t count);

#endif
