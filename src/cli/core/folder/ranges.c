#include "core/folder/ranges.h"

#include <stdlib.h>

/* Computes n i / k without overflow; k is at most SHARDS_MOST. */
static uint64_t share(uint64_t n, uint64_t i, uint64_t k)
{
  return n / k * i + n % k * i / k;
}

range range_of_part(uint64_t n, uint64_t i, uint64_t k)
{
  return (range){share(n, i, k), share(n, i + 1, k), 0};
}

exit_code ranges_add(ranges *r, range one)
{
  if (r->count == r->room) {
    const size_t room = r->room ? 2 * r->room : 64;
    range *more = realloc(r->at, room * sizeof *more);
    if (!more) {
      return report(EXIT_RUN, "not enough memory for %zu blocks", room);
    }
    r->at = more;
    r->room = room;
  }
  r->at[r->count++] = one;
  return EXIT_GOOD;
}

static int compare(const void *a, const void *b)
{
  const range *x = a, *y = b;
  const int first = (x->first > y->first) - (x->first < y->first);
  return first ? first : (x->end > y->end) - (x->end < y->end);
}

void ranges_sort(ranges *r)
{
  if (r->count) {
    qsort(r->at, r->count, sizeof *r->at, compare);
  }
}

exit_code ranges_gaps(const ranges *r, range whole, ranges *gaps)
{
  uint64_t at = whole.first;
  for (size_t i = 0; i < r->count && at < whole.end; ++i) {
    const range *one = &r->at[i];
    if (one->first > at) {
      CLI_TRY(ranges_add(gaps, (range){at, one->first < whole.end ? one->first : whole.end, 0}));
    }
    at = one->end > at ? one->end : at;
  }
  return at < whole.end ? ranges_add(gaps, (range){at, whole.end, 0}) : EXIT_GOOD;
}

uint64_t ranges_total(const ranges *r)
{
  uint64_t total = 0;
  for (size_t i = 0; i < r->count; ++i) {
    total += r->at[i].end - r->at[i].first;
  }
  return total;
}

void ranges_free(ranges *r)
{
  free(r->at);
  *r = (ranges){0};
}
