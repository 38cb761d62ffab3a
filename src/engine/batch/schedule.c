#include "engine/batch/schedule.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/batch/sharing.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#define MEMORY_SECONDS 0.05 /* weight of earlier calls in a device's throughput [s] */

/* ---- one chunk ---- */

static void span(const hand *h, abut_phase phase, chunk c, double begin, double end)
{
  const abut_span s = {(uint32_t)h->member, phase, c.first, c.count, begin, end};
  context_span(h->sharing->call->context, &s);
}

static abut_status begin(hand *h, size_t slot)
{
  const chunk c = h->held[slot];
  const double start = now();
  device_select(h->device, slot);
  h->begun[slot] = start;
  TRY(batch_on_upload(h->on, slot, c));
  h->submitted[slot] = now();
  span(h, ABUT_PHASE_UPLOAD, c, start, h->submitted[slot]);
  TRY(batch_on_launch(h->on, slot, c));
  return device_submit(h->device);
}

/* Throughput is measured over all chunks of a group so far. A single chunk is too noisy: the system
 * may notice its end late, or two ends at once. */
static void report(hand *h, size_t slot, double finished)
{
  sharing *s = h->sharing;
  const chunk c = h->held[slot];
  member *m = &s->call->context->members[h->member];
  double *rate = &s->call->groups[c.group].rates[h->member];
  if (!h->elements || h->group != c.group) {
    h->group = c.group;
    h->started = fmax(h->begun[slot], h->reported); /* earlier time was spent on other groups */
    h->rate_before = *rate;
    h->elements = 0;
  }
  h->reported = finished;
  h->elements += c.count;
  const double memory = h->rate_before > 0.0 ? MEMORY_SECONDS : 0.0;
  const double seconds = memory + fmax(finished - h->started, 1e-9);
  pthread_mutex_lock(&s->lock);
  *rate = (h->rate_before * memory + (double)h->elements) / seconds;
  ++m->chunks;
  m->elements += c.count;
  ++device_counters(h->device)->chunks;
  s->done += c.count;
  s->flying -= c.count;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

/* computed: its kernels have ended, so any error is from a later step. */
static abut_status finish(hand *h, size_t slot, bool *computed)
{
  const chunk c = h->held[slot];
  double ended = 0.0;
  *computed = false;
  device_select(h->device, slot);
  TRY(device_wait(h->device, &ended));
  *computed = true;
  const double submitted = h->submitted[slot];
  const double began = h->ended > submitted ? h->ended : submitted;
  double start = now();
  const abut_status status = batch_on_collect(h->on, slot, c);
  const double end = now();
  if (h->on->computed > 0.0) {
    ended = start = h->on->computed;
  }
  span(h, ABUT_PHASE_COMPUTE, c, began < ended ? began : ended, ended);
  TRY(status);
  span(h, ABUT_PHASE_DOWNLOAD, c, start, end);
  report(h, slot, end);
  h->ended = ended > h->ended ? ended : h->ended; /* a driver may run two queues concurrently */
  return ABUT_SUCCESS;
}

/* ---- one device ---- */

/* A call fails with its first error. */
static void fail_call(sharing *s, abut_status status)
{
  if (s->status == ABUT_SUCCESS) {
    s->status = status;
    keep_error_text(s->text);
  }
}

/* Returns the chunks that were taken and not completed, under the lock. */
static void return_held(hand *h)
{
  sharing *s = h->sharing;
  for (; h->count; --h->count) {
    const chunk c = h->held[h->oldest];
    s->returned[s->returned_count++] = c;
    s->flying -= c.count;
    h->oldest = (h->oldest + 1) % h->slots;
  }
  pthread_cond_broadcast(&s->changed);
}

static void give_back(hand *h, abut_status status)
{
  sharing *s = h->sharing;
  if (is_device_error(status)) {
    context_fail(s->call->context, h->member, status);
  }
  pthread_mutex_lock(&s->lock);
  if (status == ABUT_ERROR_TOO_LARGE) { /* other devices may be able to */
    s->unfit[h->member] = true;
    keep_error_text(s->unfit_text);
  } else if (status != ABUT_SUCCESS && !is_device_error(status)) {
    fail_call(s, status);
  }
  h->working = false;
  --s->working;
  return_held(h);
  pthread_mutex_unlock(&s->lock);
}

/* Called on the caller's thread. */
static abut_status report_progress(sharing *s)
{
  const batch_call *c = s->call;
  pthread_mutex_lock(&s->lock);
  const size_t done = s->done;
  const bool news = done != s->reported;
  s->reported = done;
  pthread_mutex_unlock(&s->lock);
  return !news || !c->progress || c->progress(done, c->count, c->progress_user)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_CANCELLED, "the progress function stopped the call after %zu of %zu",
                  done, c->count);
}

static abut_status finish_oldest(hand *h, bool *computed)
{
  TRY(finish(h, h->oldest, computed));
  h->oldest = (h->oldest + 1) % h->slots;
  --h->count;
  return h->threaded ? ABUT_SUCCESS : report_progress(h->sharing);
}

/* Limits chunks of a group to `most` elements, and shrinks those of other groups in proportion. */
static void shrink(batch_on *on, size_t group, size_t most)
{
  const double part = (double)most / (double)on->mosts[group];
  for (size_t i = 0; i < on->call->group_count; ++i) {
    const size_t fewer = (size_t)(part * (double)on->mosts[i]);
    on->mosts[i] = i == group ? most : fewer ? fewer : 1;
  }
}

static size_t least_of(const hand *h)
{
  const size_t least = h->sharing->call->least;
  return least > 1 ? least : 1;
}

/* Returns whether a chunk that ran out of memory may be retried. It may not if a chunk of the least
 * useful size has failed with nothing else on the device, not even memory of other groups. The
 * device is then removed. */
static bool can_make_do(const hand *h, abut_status status, chunk c)
{
  const bool tried = h->bare && h->bare_for == c.group;
  return is_memory_error(status) && !(tried && c.count / 2 < least_of(h));
}

/* Frees what a device without enough memory holds for chunks, and continues with one chunk at a
 * time. The size stays the same if other chunks were in progress, else it is halved. */
static void make_do(hand *h, chunk c, bool others)
{
  sharing *s = h->sharing;
  device_drain(h->device); /* kernels of chunks may be running already */
  pthread_mutex_lock(&s->lock);
  return_held(h);
  pthread_mutex_unlock(&s->lock);
  for (size_t i = 0; i < h->slots; ++i) {
    batch_on_let_go(h->on, i);
  }
  h->bare = true;
  h->bare_for = c.group;
  h->slots = 1;
  h->oldest = 0;
  shrink(h->on, c.group, others || c.count / 2 < least_of(h) ? c.count : c.count / 2);
}

/* The steps after the kernels may need memory too, for example for a list's entries. */
static abut_status end_oldest(hand *h)
{
  bool computed = false;
  const chunk c = h->held[h->oldest];
  const bool others = h->count > 1;
  const abut_status status = finish_oldest(h, &computed);
  if (status == ABUT_SUCCESS || !computed || !can_make_do(h, status, c)) {
    return status;
  }
  make_do(h, c, others);
  return ABUT_SUCCESS;
}

static abut_status begin_chunk(hand *h, size_t slot)
{
  const chunk c = h->held[slot];
  const bool others = h->count++ > 0;
  const abut_status status = begin(h, slot);
  if (status == ABUT_SUCCESS || !can_make_do(h, status, c)) {
    return status;
  }
  while (h->count > 1) {
    bool computed = false;
    const abut_status before = finish_oldest(h, &computed);
    if (computed && is_memory_error(before)) {
      break;
    }
    TRY(before);
  }
  make_do(h, c, others);
  return ABUT_SUCCESS;
}

static abut_status work(hand *h)
{
  TRY(batch_on_open(h->sharing->call, h->member, &h->on));
  for (;;) {
    const size_t slot = (h->oldest + h->count) % h->slots;
    if (h->count < h->slots && sharing_take(h, h->count == 0, &h->held[slot])) {
      TRY(begin_chunk(h, slot));
    } else if (h->count) {
      TRY(end_oldest(h));
    } else {
      return ABUT_SUCCESS;
    }
  }
}

static void *work_on(void *user)
{
  hand *h = user;
  const abut_status status = work(h);
  if (status != ABUT_SUCCESS && h->on && h->on->borrows) {
    device_drain(h->device);
  }
  give_back(h, status);
  if (status != ABUT_SUCCESS) {
    device_drain(h->device);
  }
  batch_on_close(h->on);
  return NULL;
}

/* ---- all of them ---- */

/* Returns whether a member may take part. Substitutes do so only if none before them is left. */
static bool is_fit(const sharing *s, size_t i)
{
  return context_works(s->call->context, i) && !s->unfit[i];
}

static bool any_fit(const sharing *s)
{
  size_t i = 0;
  while (i < MEMBERS && !is_fit(s, i)) {
    ++i;
  }
  return i < MEMBERS;
}

/* Adds a substitute if no other member can do the call. */
static abut_status stand_in(const sharing *s)
{
  context *c = s->call->context;
  return context_can_stand_in(c) || !s->unfit_text[0]
           ? context_stand_in(c)
           : fail(ABUT_ERROR_TOO_LARGE, "%s", s->unfit_text);
}

/* Starts no more threads than there are elements. */
static void start(sharing *s)
{
  context *c = s->call->context;
  const size_t left = s->call->count - s->done;
  s->hand_count = s->working = 0;
  for (size_t i = 0; i < MEMBERS && s->hand_count < left; ++i) {
    if (is_fit(s, i) && (i < c->count || !s->hand_count)) {
      hand *h = &s->hands[s->hand_count++];
      device *d = c->members[i].device;
      *h =
        (hand){.sharing = s, .member = i, .device = d, .slots = device_slots(d), .working = true};
    }
  }
  s->working = s->hand_count;
}

/* Runs on the caller's thread: waits for the devices and reports their progress, including the
 * final one. */
static void wait_for_hands(sharing *s)
{
  bool over = false;
  while (!over) {
    pthread_mutex_lock(&s->lock);
    while (s->working && (s->done == s->reported || s->status != ABUT_SUCCESS)) {
      pthread_cond_wait(&s->changed, &s->lock);
    }
    over = !s->working;
    const bool well = s->status == ABUT_SUCCESS;
    pthread_mutex_unlock(&s->lock);
    const abut_status status = well ? report_progress(s) : ABUT_SUCCESS;
    if (status != ABUT_SUCCESS) {
      pthread_mutex_lock(&s->lock);
      fail_call(s, status);
      pthread_cond_broadcast(&s->changed);
      pthread_mutex_unlock(&s->lock);
    }
  }
}

static void start_thread(hand *h)
{
  h->threaded = true;
  if (pthread_create(&h->thread, NULL, work_on, h) != 0) {
    h->threaded = false;
  }
}

/* Runs every working device until the work is done or no device works. A single device uses the
 * caller's thread. With several, a device for which no thread can be created leaves its work to the
 * others. */
static void run_round(sharing *s)
{
  start(s);
  for (size_t i = 0; i < s->hand_count && s->hand_count > 1; ++i) {
    start_thread(&s->hands[i]);
    if (i && !s->hands[i].threaded) {
      give_back(&s->hands[i], ABUT_SUCCESS);
    }
  }
  if (!s->hands[0].threaded) {
    work_on(&s->hands[0]);
  }
  wait_for_hands(s);
  for (size_t i = 0; i < s->hand_count; ++i) {
    if (s->hands[i].threaded) {
      pthread_join(s->hands[i].thread, NULL);
    }
  }
}

abut_status schedule(batch_call *c)
{
  if (!c->count) {
    return ABUT_SUCCESS;
  }
  sharing s;
  sharing_weigh_groups(c);
  memset(&s, 0, offsetof(sharing, hands));
  s.call = c;
  s.text[0] = s.unfit_text[0] = '\0';
  pthread_mutex_init(&s.lock, NULL);
  pthread_cond_init(&s.changed, NULL);
  while (s.status == ABUT_SUCCESS && s.done < c->count) {
    if (!any_fit(&s)) {
      const abut_status status = stand_in(&s);
      if (status != ABUT_SUCCESS) {
        fail_call(&s, status);
        break;
      }
    }
    run_round(&s);
  }
  pthread_cond_destroy(&s.changed);
  pthread_mutex_destroy(&s.lock);
  return s.status == ABUT_SUCCESS ? ABUT_SUCCESS : fail(s.status, "%s", s.text);
}
