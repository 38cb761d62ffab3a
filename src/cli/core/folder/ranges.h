/* Ranges of poses: parts, and the remaining work. */
#ifndef ABUT_CLI_RANGES_H
#define ABUT_CLI_RANGES_H

#include "core/cli.h"

#include <stdint.h>

/* Poses first .. end - 1, and their number of list entries. */
typedef struct range {
  uint64_t first, end, entries;
} range;

typedef struct ranges {
  range *at;
  size_t count, room;
} ranges;

/* Returns part i of k of n poses, as Python's abut.shard does: from n i / k to n (i + 1) / k,
 * rounded down. */
range range_of_part(uint64_t n, uint64_t i, uint64_t k);

exit_code ranges_add(ranges *r, range one);
/* Sorts by start, then by end. */
void ranges_sort(ranges *r);
/* Finds the parts of `whole` that none of these sorted ranges covers. */
exit_code ranges_gaps(const ranges *r, range whole, ranges *gaps);
uint64_t ranges_total(const ranges *r);
void ranges_free(ranges *r);

#endif
