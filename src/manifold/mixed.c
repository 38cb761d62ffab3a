#include "manifold/mixed.h"

#include "base/error.h"
#include "base/handle.h"
#include "base/memory.h"
#include <stdlib.h>

bool is_mixed(const abut_batch *b)
{
  return b->pairs || b->pair;
}

/* ---- checks ---- */

static gate *gate_of(abut_pair p)
{
  return pool_gate(&pair_pool, (handle){p.index, p.generation});
}

static abut_status check_pair(const abut_batch *b, size_t i)
{
  const gate *its = gate_of(b->pairs[i]);
  if (!its) {
    return fail(ABUT_ERROR_HANDLE, "pair %zu of the batch's list is none, or destroyed", i);
  }
  if (its != gate_of(b->pairs[0])) {
    return fail(ABUT_ERROR_HANDLE, "pair %zu of the batch's list is of another context than pair 0",
                i);
  }
  const pair *p = pair_get(b->pairs[i]);
  if (!body_get(p->bodies[0]) || !body_get(p->bodies[1])) {
    return fail(ABUT_ERROR_HANDLE, "a body of pair %zu of the batch's list is destroyed", i);
  }
  return ABUT_SUCCESS;
}

static abut_status check_entries(const abut_batch *b)
{
  for (size_t i = 0; i < b->count; ++i) {
    if (b->pair[i] >= b->pair_count) {
      return fail(ABUT_ERROR_ARGUMENT, "entry %zu is of pair %u; the batch's list has %zu", i,
                  b->pair[i], b->pair_count);
    }
  }
  return ABUT_SUCCESS;
}

abut_status mixed_check(const abut_batch *b, size_t *most)
{
  if (!b->pairs || !b->pair_count || (b->count && !b->pair)) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch of several pairs needs a list of them, and an index "
                "for each entry");
  }
  if (b->count > UINT32_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch of several pairs counts poses in 32 bits; split it");
  }
  *most = 0;
  for (size_t i = 0; i < b->pair_count; ++i) {
    TRY(check_pair(b, i));
    const size_t contacts = pair_get(b->pairs[i])->layout.contacts;
    *most = contacts > *most ? contacts : *most;
  }
  return check_entries(b);
}

/* ---- the order ---- */

/* ends: of the entries of each kind, in order. */
static void name_groups(size_t kind_count, const size_t *ends, mixed *m)
{
  for (size_t i = 0; i < kind_count; ++i) {
    if (ends[i] > (i ? ends[i - 1] : 0)) {
      m->groups[m->group_count] = (job_group){.end = ends[i]};
      m->kinds[m->group_count++] = (uint32_t)i;
    }
  }
}

static void sort_entries(size_t count, size_t kind_count, const uint32_t *kind, size_t *ends,
                         mixed *m)
{
  for (size_t i = 0; i < count; ++i) {
    ++ends[kind[i]];
  }
  for (size_t i = 1; i < kind_count; ++i) {
    ends[i] += ends[i - 1];
  }
  name_groups(kind_count, ends, m);
  for (size_t i = count; i-- > 0;) { /* from the last one, so that equals keep their order */
    m->rows[--ends[kind[i]]] = (uint32_t)i;
  }
}

static size_t lesser(size_t a, size_t b)
{
  return a < b ? a : b;
}

abut_status mixed_create(size_t count, size_t kind_count, const uint32_t *kind, mixed *out)
{
  abut_status status = ABUT_SUCCESS;
  void *ends = NULL, *rows = NULL, *groups = NULL, *kinds = NULL;
  const size_t most = lesser(kind_count, count);
  *out = (mixed){NULL, NULL, NULL, 0};
  TRY_DONE(allocate(&ends, kind_count, sizeof(size_t)));
  TRY_DONE(allocate(&rows, count, sizeof *out->rows));
  TRY_DONE(allocate(&groups, most, sizeof *out->groups));
  TRY_DONE(allocate(&kinds, most, sizeof *out->kinds));
  *out = (mixed){rows, groups, kinds, 0};
  sort_entries(count, kind_count, kind, ends, out);
done:
  free(ends);
  if (status != ABUT_SUCCESS) {
    free(rows);
    free(groups);
  }
  return status;
}

void mixed_free(mixed *m)
{
  free(m->rows);
  free(m->groups);
  free(m->kinds);
  *m = (mixed){NULL, NULL, NULL, 0};
}

void mixed_count(const abut_batch *b)
{
  for (size_t i = 0; b->contacts && i < b->count; ++i) {
    b->contacts[i] = (uint32_t)pair_get(b->pairs[b->pair[i]])->layout.contacts;
  }
}
