#include "engine/batch/batch.h"

#include "base/error.h"
#include "engine/batch/arrays.h"
#include "engine/batch/owning_devices.h"
#include "engine/batch/schedule.h"

void batch_add(batch_call *c, batch_array a)
{
  if (c->array_count < BATCH_ARRAYS) {
    c->arrays[c->array_count] = a;
  }
  ++c->array_count;
}

static size_t count_failures(const context *c)
{
  size_t count = 0;
  for (size_t i = 0; i < MEMBERS; ++i) {
    count += c->members[i].status != ABUT_SUCCESS;
  }
  return count;
}

static abut_status share(batch_call *c)
{
  batch_group whole = {.end = c->count, .rates = c->rates}, *const given = c->groups;
  if (!given) {
    c->groups = &whole;
    c->group_count = 1;
  }
  const size_t before = count_failures(c->context);
  const abut_status status = c->state ? run_on_owning_devices(c) : schedule(c);
  c->groups = given;
  c->failures = count_failures(c->context) - before;
  return status;
}

abut_status batch_run(batch_call *c)
{
  void *copies[BATCH_ARRAYS] = {NULL};
  c->failures = 0;
  if (c->array_count > BATCH_ARRAYS) {
    return fail(ABUT_ERROR_ARGUMENT, "a call has %zu arrays; at most %d are possible",
                c->array_count, BATCH_ARRAYS);
  }
  if (c->beside_count > BATCH_BESIDE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a call has %zu ranges besides its arrays; at most %d are possible",
                c->beside_count, BATCH_BESIDE);
  }
  TRY(arrays_check(c));
  pthread_mutex_init(&c->lock, NULL);
  abut_status status = arrays_part(c, copies);
  status = status == ABUT_SUCCESS ? share(c) : status;
  arrays_forget(copies);
  pthread_mutex_destroy(&c->lock);
  return status;
}
