#include "base/ranges.h"

#include "base/error.h"
#include <stdint.h>

size_t rows_bytes(size_t count, size_t row)
{
  return row && count > SIZE_MAX / row ? SIZE_MAX : count * row;
}

bool ranges_meet(const memory_range *a, const memory_range *b)
{
  const uintptr_t x = (uintptr_t)a->at, y = (uintptr_t)b->at;
  if (!a->at || !b->at || !a->bytes || !b->bytes) {
    return false;
  }
  return x <= y ? y - x < a->bytes : x - y < b->bytes;
}

static abut_status check_two(const memory_range *a, const memory_range *b)
{
  if ((a->use != MEMORY_WRITTEN && b->use != MEMORY_WRITTEN) || !ranges_meet(a, b)) {
    return ABUT_SUCCESS;
  }
  if (a->use == MEMORY_WRITTEN && b->use == MEMORY_WRITTEN) {
    return fail(ABUT_ERROR_ARGUMENT, "the outputs %s and %s overlap in memory", a->name, b->name);
  }
  const memory_range *out = a->use == MEMORY_WRITTEN ? a : b, *in = out == a ? b : a;
  if (in->use == MEMORY_REPLACED) {
    return in->at == out->at && in->bytes == out->bytes
             ? ABUT_SUCCESS
             : fail(ABUT_ERROR_ARGUMENT,
                    "the output %s partly overlaps the input %s in memory: use the same array, or "
                    "separate arrays",
                    out->name, in->name);
  }
  return fail(ABUT_ERROR_ARGUMENT, "the output %s overlaps the input %s in memory", out->name,
              in->name);
}

abut_status check_ranges(const memory_range *all, size_t count)
{
  for (size_t i = 1; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      TRY(check_two(&all[k], &all[i]));
    }
  }
  return ABUT_SUCCESS;
}
