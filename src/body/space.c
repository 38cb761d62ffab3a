#include "body/parts.h"
#include <float.h>

static int longest_side(const double *vertices, const uint32_t *order, size_t count)
{
  int longest = 0;
  double length = -1.0;
  for (int k = 0; k < 3; ++k) {
    double low = DBL_MAX, high = -DBL_MAX;
    for (size_t i = 0; i < count; ++i) {
      const double x = vertices[3 * (size_t)order[i] + (size_t)k];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > length) {
      length = high - low;
      longest = k;
    }
  }
  return longest;
}

/* Compares by a total order, so that the result is always the same: coordinate, then index. */
static int before(const double *vertices, int side, uint32_t a, uint32_t b)
{
  const double x = vertices[3 * (size_t)a + (size_t)side];
  const double y = vertices[3 * (size_t)b + (size_t)side];
  return x < y || (x == y && a < b);
}

/* Partially sorts: the first `middle` elements precede the others (Hoare's selection). */
static void split(const double *vertices, int side, uint32_t *order, size_t count, size_t middle)
{
  size_t low = 0, high = count - 1;
  while (low < high) {
    const uint32_t pivot = order[low + (high - low) / 2];
    size_t i = low, j = high;
    while (i <= j) {
      while (before(vertices, side, order[i], pivot)) {
        ++i;
      }
      while (before(vertices, side, pivot, order[j])) {
        --j;
      }
      if (i <= j) {
        const uint32_t swap = order[i];
        order[i++] = order[j];
        order[j] = swap;
        if (!j) {
          break;
        }
        --j;
      }
    }
    if (middle <= j) {
      high = j;
    } else if (middle >= i) {
      low = i;
    } else {
      return;
    }
  }
}

static void sort_part(const double *vertices, uint32_t *order, size_t count, size_t block)
{
  while (count > block) { /* recursion only for the first part, which is at most half as large */
    const size_t blocks = (count + block - 1) / block;
    const size_t middle = blocks / 2 * block;
    split(vertices, longest_side(vertices, order, count), order, count, middle);
    sort_part(vertices, order, middle, block);
    order += middle;
    count -= middle;
  }
}

void sort_in_space(const double *vertices, size_t count, size_t block, uint32_t *order)
{
  for (size_t i = 0; i < count; ++i) {
    order[i] = (uint32_t)i;
  }
  sort_part(vertices, order, count, block);
}
