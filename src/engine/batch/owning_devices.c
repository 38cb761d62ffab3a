#include "engine/batch/owning_devices.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/batch_on.h"
#include <stdlib.h>

/* A member working on its ranges. All its chunks use one slot, whose queue runs them in order. */
typedef struct hand {
  batch_call *call;
  size_t member; /* index in the context */
  device *device;
  batch_on *on; /* NULL: the member has not started */
  const state *state;
  abut_status status;
  char *text; /* (ERROR_TEXT_BYTES) its error text */
  pthread_t thread;
  bool threaded;
} hand;

/* ---- a chunk ---- */

static void span(const hand *h, abut_phase phase, chunk c, double begin, double end)
{
  const abut_span s = {(uint32_t)h->member, phase, c.first, c.count, begin, end};
  context_span(h->call->context, &s);
}

static void report(const hand *h, chunk c)
{
  context *owner = h->call->context;
  member *m = &owner->members[h->member];
  pthread_mutex_lock(&owner->lock);
  ++m->chunks;
  m->elements += c.count;
  ++device_counters(h->device)->chunks;
  pthread_mutex_unlock(&owner->lock);
}

/* Collects a chunk when a timeline is recorded. The timeline needs the end time of kernels, so this
 * waits for them. */
static abut_status collect_timed(hand *h, chunk c, double uploaded)
{
  double ended = 0.0;
  TRY(device_submit(h->device));
  TRY(device_wait(h->device, &ended));
  TRY(batch_on_collect(h->on, 0, c));
  ended = h->on->computed > 0.0 ? h->on->computed : ended;
  span(h, ABUT_PHASE_COMPUTE, c, uploaded < ended ? uploaded : ended, ended);
  TRY(device_pace(h->device)); /* copies of outputs may have been launched */
  span(h, ABUT_PHASE_DOWNLOAD, c, ended, now());
  return ABUT_SUCCESS;
}

static abut_status start_chunk(hand *h, chunk c, double *uploaded)
{
  const double begin = now();
  TRY(batch_on_upload(h->on, 0, c));
  *uploaded = now();
  span(h, ABUT_PHASE_UPLOAD, c, begin, *uploaded);
  return batch_on_launch(h->on, 0, c);
}

static abut_status do_chunk(hand *h, chunk c)
{
  double uploaded = 0.0;
  TRY(start_chunk(h, c, &uploaded));
  if (h->call->context->timed) {
    TRY(collect_timed(h, c, uploaded));
  } else {
    TRY(batch_on_collect(h->on, 0, c));
    TRY(device_pace(h->device));
  }
  report(h, c);
  return ABUT_SUCCESS;
}

/* Returns whether a failed chunk may be repeated with fewer rows, and sets their number. The inputs
 * must be unchanged, which they are not if kernels replace them. */
static bool can_shrink(hand *h, abut_status status, chunk c)
{
  if (!is_memory_error(status) || h->call->replaces || c.count < 2) {
    return false;
  }
  device_drain(h->device);
  batch_on_let_go(h->on, 0);
  h->on->mosts[0] = c.count / 2;
  return !device_lost(h->device);
}

/* ---- a device ---- */

static chunk next_chunk(const hand *h, size_t first, size_t end)
{
  const size_t multiple = h->call->multiple ? h->call->multiple : 1;
  const size_t most = h->on->mosts[0], whole = most > multiple ? most - most % multiple : most;
  return (chunk){first, end - first < whole ? end - first : whole, 0};
}

static abut_status do_range(hand *h, const range *r)
{
  const size_t end = r->first + r->count;
  for (size_t first = r->first; first < end;) {
    const chunk c = next_chunk(h, first, end);
    const abut_status status = do_chunk(h, c);
    if (status == ABUT_SUCCESS) {
      first += c.count;
    } else if (!can_shrink(h, status, c)) {
      return status;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status work(hand *h)
{
  const size_t bound = batch_bound(h->call);
  device_select(h->device, 0);
  TRY(batch_on_open(h->call, h->member, &h->on));
  size_t *most = &h->on->mosts[0];
  *most = bound && bound < *most ? bound : *most;
  for (size_t i = 0; i < h->state->range_count; ++i) {
    if (h->state->ranges[i].place == h->member) {
      TRY(do_range(h, &h->state->ranges[i]));
    }
  }
  return ABUT_SUCCESS;
}

static void *work_on(void *user)
{
  hand *h = user;
  h->status = work(h);
  if (h->status != ABUT_SUCCESS) {
    keep_error_text(h->text);
    device_drain(h->device);
  }
  if (is_device_error(h->status)) {
    context_fail(h->call->context, h->member, h->status);
  }
  batch_on_close(h->on);
  return NULL;
}

/* ---- all of them ---- */

/* Sets up a hand for each member whose device owns a range. */
static size_t find_hands(batch_call *c, const state *s, hand hands[MEMBERS])
{
  size_t count = 0;
  for (size_t i = 0; i < s->range_count; ++i) {
    const size_t place = s->ranges[i].place; /* a member's ranges are consecutive */
    if (!count || hands[count - 1].member != place) {
      hands[count] = (hand){.call = c,
                            .member = place,
                            .device = c->context->members[place].device,
                            .state = s,
                            .text = hands[count].text};
      ++count;
    }
  }
  return count;
}

static void run_hands(hand *hands, size_t count)
{
  for (size_t i = 1; i < count; ++i) {
    hands[i].threaded = pthread_create(&hands[i].thread, NULL, work_on, &hands[i]) == 0;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!hands[i].threaded) {
      work_on(&hands[i]);
    }
  }
  for (size_t i = 1; i < count; ++i) {
    if (hands[i].threaded) {
      pthread_join(hands[i].thread, NULL);
    }
  }
}

/* Returns an error if there is any. The error of a failed device has priority over others. */
static abut_status status_of(const hand *hands, size_t count)
{
  const hand *worst = &hands[0];
  for (size_t i = 1; i < count; ++i) {
    if (worst->status == ABUT_SUCCESS || is_device_error(hands[i].status)) {
      worst = &hands[i];
    }
  }
  return worst->status == ABUT_SUCCESS ? ABUT_SUCCESS : fail(worst->status, "%s", worst->text);
}

static abut_status try_once(batch_call *c, state *s, hand hands[MEMBERS])
{
  TRY(state_place(s));
  const size_t count = find_hands(c, s, hands);
  for (size_t i = 0; i < count; ++i) {
    void *memory = hands[i].text;
    TRY(memory ? ABUT_SUCCESS : allocate(&memory, 1, ERROR_TEXT_BYTES));
    hands[i].text = memory;
  }
  for (size_t i = 0; i < c->array_count; ++i) {
    if (c->arrays[i].out) {
      ++s->changes;
      break;
    }
  }
  run_hands(hands, count);
  return status_of(hands, count);
}

/* Repeats the call after a device has failed, as long as the state equalled its copy before, so
 * that only this call's work is lost. */
static abut_status try_all(batch_call *c, state *s, hand hands[MEMBERS])
{
  for (;;) {
    const bool fresh = !state_changed(s);
    const abut_status status = try_once(c, s, hands);
    if (!is_device_error(status) || !s->range_count) {
      return status;
    }
    if (!fresh) {
      return state_fall_back(s);
    }
    state_go_back(s);
    batch_again(c);
  }
}

abut_status run_on_owning_devices(batch_call *c)
{
  void *memory = NULL;
  if (!c->count) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, MEMBERS, sizeof(hand)));
  hand *hands = memory;
  const abut_status status = try_all(c, c->state, hands);
  for (size_t i = 0; i < MEMBERS; ++i) {
    free(hands[i].text);
  }
  free(hands);
  return status;
}
