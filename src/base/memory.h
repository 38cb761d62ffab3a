/* Host memory whose sizes cannot wrap around. */
#ifndef ABUT_BASE_MEMORY_H
#define ABUT_BASE_MEMORY_H

#include <abut/status.h>
#include <stddef.h>

/* count * size zeroed bytes, at least one; fails with ABUT_ERROR_MEMORY. *out is NULL on
 * failure. */
abut_status allocate(void **out, size_t count, size_t size);

/* Makes room for `needed` elements in *array of *capacity, at least doubling it. */
abut_status grow(void **array, size_t *capacity, size_t needed, size_t size);

/* Memory that goes together. */
typedef struct arena {
  void **at;
  size_t count, room;
} arena;

/* As `allocate`; arena_free frees it. */
abut_status arena_allocate(arena *a, void **out, size_t count, size_t size);
void arena_free(arena *a);

/* `bytes` behind an array's begin; NULL of none. */
char *bytes_behind(void *array, size_t bytes);

#endif
