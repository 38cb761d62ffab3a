/* The ranges of memory that a call reads and writes, and what is refused of them. */
#ifndef ABUT_BASE_RANGES_H
#define ABUT_BASE_RANGES_H

#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum memory_use {
  MEMORY_WRITTEN,
  MEMORY_READ,    /* nothing that is written may overlap it */
  MEMORY_REPLACED /* read, too: what is written may lie where it does if it has the same bytes */
} memory_use;

typedef struct memory_range {
  const char *name; /* what errors call it */
  const void *at;   /* NULL: there is none */
  size_t bytes;
  memory_use use;
} memory_range;

/* Returns how many bytes `count` rows take, or the most that there are. */
size_t rows_bytes(size_t count, size_t row);

/* Tells whether two ranges have a byte in common. */
bool ranges_meet(const memory_range *a, const memory_range *b);

/* Refuses ranges of which one is written where another one is: ABUT_ERROR_ARGUMENT with the names
 * of both. */
abut_status check_ranges(const memory_range *all, size_t count);

#endif
