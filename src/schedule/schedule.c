#include "schedule/schedule.h"

#include "base/clock.h"
#include "base/error.h"
#include <math.h>
#include <string.h>

/* First chunk of a device whose throughput is not known; the host path, which is slow, takes 1. */
#define PROBE ((size_t)64)
#define LEAST_SECONDS 1e-3 /* smaller chunks cost more by their launches than they balance */
#define WARY_SECONDS 1e-2 /* of a chunk while another device's throughput is not known */
#define MEMORY_SECONDS 0.05 /* what jobs before count for in a device's throughput */
/* Pieces that can lie returned: what all hold, and one more each time a device takes less. */
#define RETURNED_MOST (MEMBERS * (DEVICE_SLOTS + 64))

/* What a worker has taken, oldest first. */
typedef struct hand {
  worker worker;
  struct sharing *sharing;
  chunk held[DEVICE_SLOTS];
  size_t slots; /* that it uses of its device's */
  size_t oldest, count;
  bool bare;    /* a chunk found no memory: since then one at a time */
  double begun[DEVICE_SLOTS], submitted[DEVICE_SLOTS];
  double ended;       /* the last chunk's kernels */
  double started;     /* the first chunk */
  size_t elements;    /* done since */
  double rate_before; /* measured by jobs before this one */
  bool working;
  pthread_t thread;
  bool threaded;
} hand;

/* What the threads share, under `lock`. */
typedef struct sharing {
  job *job;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t next, done, flying;
  size_t told; /* how much was done when the caller was told last */
  chunk returned[RETURNED_MOST];
  size_t returned_count;
  abut_status status; /* of the whole job */
  char text[ERROR_TEXT_BYTES];
  bool unfit[MEMBERS]; /* members for which one element is too large */
  char unfit_text[ERROR_TEXT_BYTES];
  hand hands[MEMBERS];
  size_t hand_count, working;
} sharing;

/* ---- how much ---- */

static double rate_of(const sharing *s, const hand *h)
{
  return s->job->rates[h->worker.member];
}

/* Of how many working devices the throughput is known, and the sum of it. */
static size_t count_known(const sharing *s, double *sum)
{
  size_t known = 0;
  *sum = 0.0;
  for (size_t i = 0; i < s->hand_count; ++i) {
    const double rate = s->hands[i].working ? rate_of(s, &s->hands[i]) : 0.0;
    *sum += rate;
    known += rate > 0.0;
  }
  return known;
}

/* A device's part of all throughput; those not measured yet count as the mean of the others. */
static double part_of(const sharing *s, const hand *h, double sum, size_t known)
{
  if (rate_of(s, h) <= 0.0) {
    return 1.0 / (double)s->working;
  }
  return rate_of(s, h) / (sum / (double)known * (double)s->working);
}

/* Half of the device's part of what is left; towards the end its part, of next to nothing all. */
static double guided_size(double rate, double fair)
{
  const double least = rate * LEAST_SECONDS;
  return fair > 2.0 * least ? 0.5 * fair : fair > 0.5 * least ? fmin(fair, least) : least;
}

/* Alone, equal chunks as large as memory lets them be; with others, by throughput. */
static size_t wanted_size(const sharing *s, const hand *h, size_t left)
{
  const size_t most = h->worker.most;
  if (s->working == 1) {
    const size_t chunks = (left + most - 1) / most;
    return (left + chunks - 1) / chunks;
  }
  double sum;
  const size_t known = count_known(s, &sum);
  const double rate = rate_of(s, h);
  size_t size = 1 + (size_t)guided_size(rate, part_of(s, h, sum, known) * (double)left);
  const size_t probe = device_info(h->worker.device)->type == ABUT_DEVICE_HOST ? 1 : PROBE;
  size = rate > 0.0 || size < probe ? size : probe;
  if (rate > 0.0 && known < s->working) { /* it may be slow beside the others */
    size = (size_t)fmin((double)size, 1.0 + rate * WARY_SECONDS);
  }
  return size < most ? size : most;
}

static size_t whole_multiple(const sharing *s, size_t size, size_t left, size_t most)
{
  const size_t m = s->job->multiple;
  if (m > 1 && size < left) {
    const size_t up = (size + m - 1) / m * m, down = size / m * m;
    size = up <= most ? up : down ? down : size;
  }
  return size < left ? size : left;
}

static bool take_returned(sharing *s, const hand *h, chunk *out)
{
  if (!s->returned_count) {
    return false;
  }
  chunk *last = &s->returned[s->returned_count - 1];
  const size_t size = whole_multiple(s, wanted_size(s, h, last->count), last->count,
                                     h->worker.most);
  *out = (chunk){last->first, size};
  last->first += size;
  last->count -= size;
  s->returned_count -= last->count == 0;
  return true;
}

/* Takes work; with `wait`, until there is some, or nothing that others hold can come back. */
static bool take(hand *h, bool wait, chunk *out)
{
  sharing *s = h->sharing;
  bool found = false;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    const size_t left = s->job->total - s->next;
    if (s->status != ABUT_SUCCESS) {
      break;
    }
    found = take_returned(s, h, out);
    if (!found && left) {
      *out = (chunk){s->next, whole_multiple(s, wanted_size(s, h, left), left, h->worker.most)};
      s->next += out->count;
      found = true;
    }
    if (found || !wait || !s->flying) {
      break;
    }
    pthread_cond_wait(&s->changed, &s->lock);
  }
  s->flying += found ? out->count : 0;
  pthread_mutex_unlock(&s->lock);
  return found;
}

/* ---- one chunk ---- */

static void span(const hand *h, abut_phase phase, chunk c, double begin, double end)
{
  const abut_span s = {(uint32_t)h->worker.member, phase, c.first, c.count, begin, end};
  context_span(h->sharing->job->context, &s);
}

static abut_status begin(hand *h, size_t slot)
{
  worker *w = &h->worker;
  const job_steps *steps = &w->job->steps;
  const chunk c = h->held[slot];
  const double start = now();
  device_select(w->device, slot);
  h->begun[slot] = start;
  TRY(steps->upload(w, slot, c));
  h->submitted[slot] = now();
  span(h, ABUT_PHASE_UPLOAD, c, start, h->submitted[slot]);
  TRY(steps->launch(w, slot, c));
  return device_submit(w->device);
}

/* Throughput is that of the whole job so far: when a chunk's end is noticed is for the system to
 * say, and two may be noticed at once. */
static void report(hand *h, size_t slot, double finished)
{
  sharing *s = h->sharing;
  const chunk c = h->held[slot];
  member *m = &s->job->context->members[h->worker.member];
  double *rate = &s->job->rates[h->worker.member];
  h->started = h->elements ? h->started : h->begun[slot];
  h->elements += c.count;
  const double memory = h->rate_before > 0.0 ? MEMORY_SECONDS : 0.0;
  const double seconds = memory + fmax(finished - h->started, 1e-9);
  pthread_mutex_lock(&s->lock);
  *rate = (h->rate_before * memory + (double)h->elements) / seconds;
  ++m->chunks;
  m->elements += c.count;
  ++device_counters(h->worker.device)->chunks;
  s->done += c.count;
  s->flying -= c.count;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static abut_status finish(hand *h, size_t slot)
{
  worker *w = &h->worker;
  const chunk c = h->held[slot];
  double ended = 0.0;
  device_select(w->device, slot);
  TRY(device_wait(w->device, &ended));
  const double submitted = h->submitted[slot];
  const double began = h->ended > submitted ? h->ended : submitted;
  double start = now();
  w->computed = 0.0;
  const abut_status status = w->job->steps.collect(w, slot, c);
  const double end = now();
  if (w->computed > 0.0) {
    ended = start = w->computed;
  }
  span(h, ABUT_PHASE_COMPUTE, c, began < ended ? began : ended, ended);
  TRY(status);
  span(h, ABUT_PHASE_DOWNLOAD, c, start, end);
  report(h, slot, end);
  h->ended = ended > h->ended ? ended : h->ended; /* a driver may run two queues side by side */
  return ABUT_SUCCESS;
}

/* ---- one device ---- */

/* The first error of a job is the one it fails with. */
static void fail_job(sharing *s, abut_status status)
{
  if (s->status == ABUT_SUCCESS) {
    s->status = status;
    keep_error_text(s->text);
  }
}

static void give_back(hand *h, abut_status status)
{
  sharing *s = h->sharing;
  if (is_device_error(status)) {
    context_fail(s->job->context, h->worker.member, status);
  }
  pthread_mutex_lock(&s->lock);
  if (status == ABUT_ERROR_TOO_LARGE) { /* others may do */
    s->unfit[h->worker.member] = true;
    keep_error_text(s->unfit_text);
  } else if (status != ABUT_SUCCESS && !is_device_error(status)) {
    fail_job(s, status);
  }
  for (; h->count; --h->count) {
    const chunk c = h->held[h->oldest];
    s->returned[s->returned_count++] = c;
    s->flying -= c.count;
    h->oldest = (h->oldest + 1) % DEVICE_SLOTS;
  }
  h->working = false;
  --s->working;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

/* On the caller's thread. */
static abut_status tell_caller(sharing *s)
{
  const job *j = s->job;
  pthread_mutex_lock(&s->lock);
  const size_t done = s->done;
  const bool news = done != s->told;
  s->told = done;
  pthread_mutex_unlock(&s->lock);
  return !news || !j->progress || j->progress(done, j->total, j->progress_user)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_CANCELLED, "stopped by the caller after %zu of %zu", done, j->total);
}

static abut_status finish_oldest(hand *h)
{
  TRY(finish(h, h->oldest));
  h->oldest = (h->oldest + 1) % h->slots;
  --h->count;
  return h->threaded ? ABUT_SUCCESS : tell_caller(h->sharing);
}

/* Gives back what was taken last; how much that was. */
static size_t return_newest(hand *h)
{
  sharing *s = h->sharing;
  pthread_mutex_lock(&s->lock);
  const chunk c = h->held[(h->oldest + --h->count) % h->slots];
  s->returned[s->returned_count++] = c;
  s->flying -= c.count;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return c.count;
}

/* A device without the memory for a chunk lets go of what it holds for chunks, and goes on with one
 * at a time: no larger where others were under way, else half as large. One element for which all
 * of that was not enough costs the device. */
static abut_status make_do(hand *h, abut_status status)
{
  worker *w = &h->worker;
  const bool others = h->count > 1;
  const size_t count = return_newest(h);
  if (!is_memory_error(status) || (h->bare && count == 1)) {
    return status;
  }
  while (h->count) {
    TRY(finish_oldest(h));
  }
  device_drain(w->device); /* kernels of the chunk may run already */
  for (size_t i = 0; i < h->slots; ++i) {
    w->job->steps.let_go(w, i);
  }
  h->bare = true;
  h->slots = 1;
  h->oldest = 0;
  w->most = others || count == 1 ? count : count / 2;
  return ABUT_SUCCESS;
}

static abut_status work(hand *h)
{
  const size_t bound = h->worker.job->bound;
  TRY(h->worker.job->steps.open(&h->worker));
  h->worker.most = bound && bound < h->worker.most ? bound : h->worker.most;
  for (;;) {
    const size_t slot = (h->oldest + h->count) % h->slots;
    if (h->count < h->slots && take(h, h->count == 0, &h->held[slot])) {
      ++h->count;
      const abut_status status = begin(h, slot);
      TRY(status == ABUT_SUCCESS ? status : make_do(h, status));
    } else if (h->count) {
      TRY(finish_oldest(h));
    } else {
      return ABUT_SUCCESS;
    }
  }
}

static void *work_on(void *user)
{
  hand *h = user;
  const abut_status status = work(h);
  give_back(h, status);
  if (status != ABUT_SUCCESS) {
    device_drain(h->worker.device);
  }
  h->worker.job->steps.close(&h->worker);
  return NULL;
}

/* ---- all of them ---- */

/* Whether a member may take part. The host path does so only where no other is left. */
static bool is_fit(const sharing *s, size_t i)
{
  return context_works(s->job->context, i) && !s->unfit[i];
}

static bool any_fit(const sharing *s)
{
  size_t i = 0;
  while (i < MEMBERS && !is_fit(s, i)) {
    ++i;
  }
  return i < MEMBERS;
}

/* The host path for a job that no other member does. */
static abut_status stand_in(const sharing *s)
{
  context *c = s->job->context;
  const bool can = c->def.fallback == ABUT_FALLBACK_HOST && !c->members[c->count].device;
  return can || !s->unfit_text[0] ? context_stand_in(c)
                                  : fail(ABUT_ERROR_TOO_LARGE, "%s", s->unfit_text);
}

/* No more hands than elements. */
static void start(sharing *s)
{
  context *c = s->job->context;
  const size_t left = s->job->total - s->done;
  s->hand_count = s->working = 0;
  for (size_t i = 0; i < MEMBERS && s->hand_count < left; ++i) {
    if (is_fit(s, i) && (i < c->count || !s->hand_count)) {
      hand *h = &s->hands[s->hand_count++];
      device *d = c->members[i].device;
      *h = (hand){.sharing = s, .slots = device_slots(d), .working = true};
      h->worker = (worker){.job = s->job, .member = i, .device = d, .most = 1};
      h->rate_before = rate_of(s, h);
    }
  }
  s->working = s->hand_count;
}

/* On the caller's thread: waits for the hands and tells of what they do, the last of it too. */
static void wait_for_hands(sharing *s)
{
  bool over = false;
  while (!over) {
    pthread_mutex_lock(&s->lock);
    while (s->working && (s->done == s->told || s->status != ABUT_SUCCESS)) {
      pthread_cond_wait(&s->changed, &s->lock);
    }
    over = !s->working;
    const bool well = s->status == ABUT_SUCCESS;
    pthread_mutex_unlock(&s->lock);
    const abut_status status = well ? tell_caller(s) : ABUT_SUCCESS;
    if (status != ABUT_SUCCESS) {
      pthread_mutex_lock(&s->lock);
      fail_job(s, status);
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

/* Every working device until nothing is left to do or no device works. A device alone works on the
 * caller's thread; of several, one for which there is no thread leaves its work to the others. */
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

abut_status schedule(job *j)
{
  if (!j->total) {
    return ABUT_SUCCESS;
  }
  sharing s = {.job = j};
  pthread_mutex_init(&s.lock, NULL);
  pthread_cond_init(&s.changed, NULL);
  while (s.status == ABUT_SUCCESS && s.done < j->total) {
    if (!any_fit(&s)) {
      const abut_status status = stand_in(&s);
      if (status != ABUT_SUCCESS) {
        fail_job(&s, status);
        break;
      }
    }
    run_round(&s);
  }
  pthread_cond_destroy(&s.changed);
  pthread_mutex_destroy(&s.lock);
  return s.status == ABUT_SUCCESS ? ABUT_SUCCESS : fail(s.status, "%s", s.text);
}

abut_status size_chunk(const size_t *bytes, size_t buffers, uint64_t budget, uint64_t allocation,
                       size_t *most)
{
  uint64_t sum = 0, largest = 1;
  for (size_t i = 0; i < buffers; ++i) {
    sum += bytes[i];
    largest = bytes[i] > largest ? bytes[i] : largest;
  }
  uint64_t fits = budget / (sum ? sum : 1);
  if (allocation / largest == 0) {
    return fail(ABUT_ERROR_TOO_LARGE,
                "one pose needs a buffer of %llu bytes; the device allows %llu",
                (unsigned long long)largest, (unsigned long long)allocation);
  }
  fits = fits ? fits : 1; /* one element may exceed the budget, not the device */
  fits = allocation / largest < fits ? allocation / largest : fits;
  *most = (size_t)fits;
  return ABUT_SUCCESS;
}
