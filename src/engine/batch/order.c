#include "engine/batch/order.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>

/* Lists the groups of kinds that have elements; `ends` has the end of each kind's elements, in
 * order. */
static void name_groups(size_t kind_count, const size_t *ends, batch_order *o)
{
  for (size_t i = 0; i < kind_count; ++i) {
    if (ends[i] > (i ? ends[i - 1] : 0)) {
      o->groups[o->group_count] = (batch_group){.end = ends[i]};
      o->kinds[o->group_count++] = (uint32_t)i;
    }
  }
}

static void sort_elements(size_t count, size_t kind_count, const uint32_t *kind, size_t *ends,
                          batch_order *o)
{
  for (size_t i = 0; i < count; ++i) {
    ++ends[kind[i]];
  }
  for (size_t i = 1; i < kind_count; ++i) {
    ends[i] += ends[i - 1];
  }
  name_groups(kind_count, ends, o);
  for (size_t i = count; i-- > 0;) { /* backwards, so that elements of one kind keep their order */
    o->rows[--ends[kind[i]]] = (uint32_t)i;
  }
}

static size_t lesser(size_t a, size_t b)
{
  return a < b ? a : b;
}

abut_status batch_order_create(size_t count, size_t kind_count, const uint32_t *kind,
                               batch_order *out)
{
  abut_status status = ABUT_SUCCESS;
  void *ends = NULL, *rows = NULL, *groups = NULL, *kinds = NULL;
  const size_t most = lesser(kind_count, count);
  *out = (batch_order){NULL, NULL, NULL, 0};
  TRY_DONE(allocate(&ends, kind_count, sizeof(size_t)));
  TRY_DONE(allocate(&rows, count, sizeof *out->rows));
  TRY_DONE(allocate(&groups, most, sizeof *out->groups));
  TRY_DONE(allocate(&kinds, most, sizeof *out->kinds));
  *out = (batch_order){rows, groups, kinds, 0};
  sort_elements(count, kind_count, kind, ends, out);
done:
  free(ends);
  if (status != ABUT_SUCCESS) {
    free(rows);
    free(groups);
  }
  return status;
}

void batch_order_free(batch_order *o)
{
  free(o->rows);
  free(o->groups);
  free(o->kinds);
  *o = (batch_order){NULL, NULL, NULL, 0};
}
