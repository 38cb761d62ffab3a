#include "mesh/surface/sides.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>

#define FEW 24 /* lists up to this length use insertion sort */

static int compare(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void sort_few(uint64_t *list, size_t count)
{
  for (size_t i = 1; i < count; ++i) {
    const uint64_t e = list[i];
    size_t k = i;
    for (; k && list[k - 1] > e; --k) {
      list[k] = list[k - 1];
    }
    list[k] = e;
  }
}

/* Pairs the sides with a common lower corner. list: sorted entries of the higher corner and the
 * side. */
static void pair_list(const uint32_t *triangles, const uint64_t *list, size_t count,
                      uint32_t *across)
{
  for (size_t i = 0, end = 0; i < count; i = end) {
    for (end = i + 1; end < count && list[end] >> 32 == list[i] >> 32; ++end) {
    }
    const uint32_t a = (uint32_t)list[i], b = (uint32_t)list[end - 1];
    if (end - i == 2 && triangles[a] != triangles[b]) {
      across[a] = b;
      across[b] = a;
      continue;
    }
    for (size_t k = i; k < end; ++k) {
      across[(uint32_t)list[k]] = end - i == 1 ? SIDE_OPEN : SIDE_TANGLED;
    }
  }
}

abut_status sides_pair(const uint32_t *triangles, size_t triangle_count, size_t point_count,
                       uint32_t *across)
{
  const size_t count = 3 * triangle_count;
  void *starts = NULL, *lists = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&starts, point_count + 2, sizeof(size_t)));
  TRY_DONE(allocate(&lists, count, sizeof(uint64_t)));
  size_t *start = starts;
  uint64_t *list = lists;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t a = triangles[i], b = triangles[side_next(i)];
    ++start[(a < b ? a : b) + (size_t)2];
  }
  for (size_t i = 2; i < point_count + 2; ++i) {
    start[i] += start[i - 1];
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t a = triangles[i], b = triangles[side_next(i)];
    list[start[(a < b ? a : b) + (size_t)1]++] = (uint64_t)(a < b ? b : a) << 32 | i;
  }
  for (size_t i = 0; i < point_count; ++i) {
    uint64_t *mine = list + start[i];
    const size_t size = start[i + 1] - start[i];
    if (size > FEW) {
      qsort(mine, size, sizeof *mine, compare);
    } else {
      sort_few(mine, size);
    }
    pair_list(triangles, mine, size, across);
  }
done:
  free(starts);
  free(lists);
  return status;
}
