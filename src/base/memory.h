/* Allocation of host memory with checks for overflow of sizes. */
#ifndef ABUT_BASE_MEMORY_H
#define ABUT_BASE_MEMORY_H

#include <abut/status.h>
#include <stddef.h>

/* Allocates count * size zeroed bytes, at least one, or fails with ABUT_ERROR_MEMORY. *out is NULL
 * on failure. */
abut_status allocate(void **out, size_t count, size_t size);

/* Makes room for `needed` elements in *array, which has *capacity elements. Growth at least doubles
 * the capacity. */
abut_status grow(void **array, size_t *capacity, size_t needed, size_t size);

/* An arena holds allocations that are freed together. */
typedef struct arena {
  void **at;
  size_t count, room;
} arena;

/* Allocates like `allocate`; arena_free frees it. */
abut_status arena_allocate(arena *a, void **out, size_t count, size_t size);
void arena_free(arena *a);

/* Returns the address `bytes` after an array's start; NULL if the array is NULL. */
char *bytes_behind(void *array, size_t bytes);

#endif
