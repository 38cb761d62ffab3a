#include "base/memory.h"

#include "base/error.h"
#include <abut/files.h>
#include <stdint.h>
#include <stdlib.h>

abut_status allocate(void **out, size_t count, size_t size)
{
  *out = calloc(count ? count : 1, size ? size : 1);
  if (!*out) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for %zu elements of %zu bytes", count, size);
  }
  return ABUT_SUCCESS;
}

abut_status grow(void **array, size_t *capacity, size_t needed, size_t size)
{
  if (needed <= *capacity) {
    return ABUT_SUCCESS;
  }
  size_t wanted = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
  wanted = wanted < needed ? needed : wanted;
  wanted = wanted < 64 ? 64 : wanted;
  void *bigger = wanted > SIZE_MAX / size ? NULL : realloc(*array, wanted * size);
  if (!bigger) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for %zu elements of %zu bytes", wanted, size);
  }
  *array = bigger;
  *capacity = wanted;
  return ABUT_SUCCESS;
}

abut_status arena_allocate(arena *a, void **out, size_t count, size_t size)
{
  void *at = a->at;
  *out = NULL;
  TRY(grow(&at, &a->room, a->count + 1, sizeof *a->at));
  a->at = at;
  TRY(allocate(out, count, size));
  a->at[a->count++] = *out;
  return ABUT_SUCCESS;
}

void arena_free(arena *a)
{
  for (size_t i = 0; i < a->count; ++i) {
    free(a->at[i]);
  }
  free(a->at);
  *a = (arena){0};
}

void abut_free(void *memory)
{
  free(memory);
}

char *bytes_behind(void *array, size_t bytes)
{
  return array ? (char *)array + bytes : NULL;
}
