#include "contact/mixed.h"

#include "base/error.h"
#include "base/handle.h"

bool is_mixed(const abut_batch *b)
{
  return b->pairs || b->pair;
}

static call_lock *call_lock_of(abut_pair p)
{
  return pool_call_lock(&pair_pool, (handle){p.index, p.generation});
}

static abut_status check_pair(const abut_batch *b, size_t i)
{
  const call_lock *its = call_lock_of(b->pairs[i]);
  if (!its) {
    return fail(ABUT_ERROR_HANDLE, "pair %zu of the batch's list is null or destroyed", i);
  }
  if (its != call_lock_of(b->pairs[0])) {
    return fail(ABUT_ERROR_HANDLE,
                "pair %zu of the batch's list belongs to another context than pair 0", i);
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
      return fail(ABUT_ERROR_ARGUMENT,
                  "entry %zu names pair %u, but the batch's list has only %zu pairs", i, b->pair[i],
                  b->pair_count);
    }
  }
  return ABUT_SUCCESS;
}

abut_status mixed_check(const abut_batch *b, size_t *most)
{
  if (!b->pairs || !b->pair_count || (b->count && !b->pair)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a batch of several pairs needs a list of pairs, and a pair index for each entry");
  }
  if (b->count > UINT32_MAX) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a batch of several pairs has at most 2^32 - 1 poses; split the batch");
  }
  *most = 0;
  for (size_t i = 0; i < b->pair_count; ++i) {
    TRY(check_pair(b, i));
    const size_t contacts = pair_get(b->pairs[i])->layout.contacts;
    *most = contacts > *most ? contacts : *most;
  }
  return check_entries(b);
}

void mixed_count(const abut_batch *b)
{
  for (size_t i = 0; b->contacts && i < b->count; ++i) {
    b->contacts[i] = (uint32_t)pair_get(b->pairs[b->pair[i]])->layout.contacts;
  }
}
