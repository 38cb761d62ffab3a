/* Host memory is allocated here, where sizes cannot wrap around. */
#ifndef ABUT_BASE_MEMORY_H
#define ABUT_BASE_MEMORY_H

#include <abut/status.h>
#include <stddef.h>

/* Allocates count * size zeroed bytes, at least one, or fails with ABUT_ERROR_MEMORY. *out is NULL
 * on failure. */
abut_status allocate(void **out, size_t count, size_t size);

/* Makes room for `needed` elements in *array, which has *capacity, and at least doubles it. */
abut_status grow(void **array, size_t *capacity, size_t needed, size_t size);

/* An arena holds memory that is freed together. */
typedef struct arena {
  void **at;
  size_t count, room;
} arena;

/* Allocates as `allocate` does; arena_free frees it. */
abut_status arena_allocate(arena *a, void **out, size_t count, size_t size);
void arena_free(arena *a);

/* Returns the place `bytes` behind an array's begin; NULL where there is no array. */
char *bytes_behind(void *array, size_t bytes);

#endif
