#include "engine/batch/owning_devices.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/batch.h"
#include <stdlib.h>

/* A member at work on its ranges. All its chunks go to one slot, whose queue does them in order. */
typedef struct hand {
  worker worker;
  const state *state;
  abut_status status;
  char *text; /* (ERROR_TEXT_BYTES) what its error says */
  pthread_t thread;
  bool threaded;
} hand;

/* ---- a chunk ---- */

static void span(const hand *h, abut_phase phase, chunk c, double begin, double end)
{
  const abut_span s = {(uint32_t)h->worker.member, phase, c.first, c.count, begin, end};
  context_span(h->worker.job->context, &s);
}

static void report(const hand *h, chunk c)
{
  context *owner = h->worker.job->context;
  member *m = &owner->members[h->worker.member];
  pthread_mutex_lock(&owner->lock);
  ++m->chunks;
  m->elements += c.count;
  ++device_counters(h->worker.device)->chunks;
  pthread_mutex_unlock(&owner->lock);
}

/* Collects a chunk for a timeline, which must know when kernels have ended and therefore waits for
 * them. */
static abut_status collect_timed(hand *h, chunk c, double uploaded)
{
  worker *w = &h->worker;
  double ended = 0.0;
  TRY(device_submit(w->device));
  TRY(device_wait(w->device, &ended));
  w->computed = 0.0;
  TRY(w->job->steps.collect(w, 0, c));
  ended = w->computed > 0.0 ? w->computed : ended;
  span(h, ABUT_PHASE_COMPUTE, c, uploaded < ended ? uploaded : ended, ended);
  TRY(device_pace(w->device)); /* copies of outputs may have been launched */
  span(h, ABUT_PHASE_DOWNLOAD, c, ended, now());
  return ABUT_SUCCESS;
}

static abut_status start_chunk(hand *h, chunk c, double *uploaded)
{
  worker *w = &h->worker;
  const double begin = now();
  TRY(w->job->steps.upload(w, 0, c));
  *uploaded = now();
  span(h, ABUT_PHASE_UPLOAD, c, begin, *uploaded);
  return w->job->steps.launch(w, 0, c);
}

static abut_status do_chunk(hand *h, chunk c)
{
  worker *w = &h->worker;
  double uploaded = 0.0;
  TRY(start_chunk(h, c, &uploaded));
  if (w->job->context->timed) {
    TRY(collect_timed(h, c, uploaded));
  } else {
    TRY(w->job->steps.collect(w, 0, c));
    TRY(device_pace(w->device));
  }
  report(h, c);
  return ABUT_SUCCESS;
}

/* Tells whether a chunk that failed may be tried again with fewer rows, and sets their number. What
 * it read must be as it was, which is not so where kernels replace what they read. */
static bool can_shrink(hand *h, abut_status status, chunk c)
{
  worker *w = &h->worker;
  const batch_call *call = w->job->user;
  if (!is_memory_error(status) || call->replaces || c.count < 2) {
    return false;
  }
  device_drain(w->device);
  w->job->steps.let_go(w, 0);
  w->most[0] = c.count / 2;
  return !device_lost(w->device);
}

/* ---- a device ---- */

static chunk next_chunk(const worker *w, size_t first, size_t end)
{
  const size_t multiple = w->job->multiple ? w->job->multiple : 1;
  const size_t most = w->most[0], whole = most > multiple ? most - most % multiple : most;
  return (chunk){first, end - first < whole ? end - first : whole, 0};
}

static abut_status do_range(hand *h, const range *r)
{
  const size_t end = r->first + r->count;
  for (size_t first = r->first; first < end;) {
    const chunk c = next_chunk(&h->worker, first, end);
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
  worker *w = &h->worker;
  const size_t bound = w->job->bound;
  device_select(w->device, 0);
  TRY(w->job->steps.open(w));
  w->most[0] = bound && bound < w->most[0] ? bound : w->most[0];
  for (size_t i = 0; i < h->state->range_count; ++i) {
    if (h->state->ranges[i].place == w->member) {
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
    device_drain(h->worker.device);
  }
  if (is_device_error(h->status)) {
    context_fail(h->worker.job->context, h->worker.member, h->status);
  }
  h->worker.job->steps.close(&h->worker);
  return NULL;
}

/* ---- all of them ---- */

/* Sets up a hand for each member whose device owns a range. */
static size_t find_hands(job *j, const state *s, hand hands[MEMBERS])
{
  size_t count = 0;
  for (size_t i = 0; i < s->range_count; ++i) {
    const size_t place = s->ranges[i].place; /* a member's ranges follow one another */
    if (!count || hands[count - 1].worker.member != place) {
      hands[count] = (hand){.state = s, .text = hands[count].text};
      hands[count++].worker =
        (worker){.job = j, .member = place, .device = j->context->members[place].device};
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

/* Returns an error if there is any; that of a failed device counts before all others. */
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

static abut_status try_once(job *j, state *s, hand hands[MEMBERS])
{
  const batch_call *c = j->user;
  TRY(state_place(s));
  const size_t count = find_hands(j, s, hands);
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

/* Does the job again after a device has failed, as long as the state was at its copy before, so
 * that nothing but this job is lost. */
static abut_status try_all(job *j, state *s, hand hands[MEMBERS])
{
  batch_call *c = j->user;
  for (;;) {
    const bool fresh = !state_changed(s);
    const abut_status status = try_once(j, s, hands);
    if (!is_device_error(status) || !s->range_count) {
      return status;
    }
    if (!fresh) {
      return state_fall_back(s);
    }
    state_go_back(s);
    if (c->operation->again) {
      c->operation->again(c);
    }
  }
}

abut_status run_on_owning_devices(job *j)
{
  const batch_call *c = j->user;
  void *memory = NULL;
  if (!j->total) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, MEMBERS, sizeof(hand)));
  hand *hands = memory;
  const abut_status status = try_all(j, c->state, hands);
  for (size_t i = 0; i < MEMBERS; ++i) {
    free(hands[i].text);
  }
  free(hands);
  return status;
}
