/* What a caller sees of a call while it runs, and of its chunks afterwards. */
#include "shares.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- progress ---- */

typedef struct seen {
  pthread_t caller;
  size_t calls, last, stop;
  bool elsewhere, falls, beyond;
} seen;

static bool see(size_t done, size_t total, void *user)
{
  seen *s = user;
  s->elsewhere = s->elsewhere || !pthread_equal(pthread_self(), s->caller);
  s->falls = s->falls || done < s->last;
  s->beyond = s->beyond || done > total;
  s->last = done;
  ++s->calls;
  return done < s->stop;
}

static abut_status watched(const world *w, seen *s, size_t stop, size_t count, void *d)
{
  static double pose1[7 * MOST], pose2[7 * MOST];
  make_poses(pose1, count, 7);
  make_poses(pose2, count, 8);
  void *p1 = to_reals(pose1, 7 * count, precision), *p2 = to_reals(pose2, 7 * count, precision);
  abut_batch batch = abut_default_batch();
  batch.count = count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = p1;
  batch.pose2 = p2;
  batch.d = d;
  batch.progress = see;
  batch.user = s;
  *s = (seen){.caller = pthread_self(), .stop = stop};
  const abut_status status = abut_contacts(w->pair, &batch);
  free(p1);
  free(p2);
  return status;
}

void test_progress(const variant *v)
{
  world w;
  abut_layout layout;
  seen s;
  if (!world_open(v, 7, ABUT_SELECT_SOFTSORT, &w) || !CHECK_OK(abut_get_layout(w.pair, &layout))) {
    return;
  }
  void *d[2] = {calloc(MOST * layout.contacts, sizeof(double)),
                calloc(MOST * layout.contacts, sizeof(double))};
  CHECK_OK(watched(&w, &s, SIZE_MAX, MOST, d[0]));
  check(s.calls && s.last == MOST, "%s: progress ends at %zu", v->name, s.last);
  check(!s.elsewhere, "%s: progress on another thread", v->name);
  check(!s.falls && !s.beyond, "%s: progress goes back, or beyond the end", v->name);
  const abut_status status = watched(&w, &s, MOST / 8, MOST, d[1]);
  check(status == ABUT_ERROR_CANCELLED, "%s: a stopped call gives %d", v->name, status);
  check(s.last >= MOST / 8 && !s.elsewhere, "%s: stopped at %zu", v->name, s.last);
  CHECK_OK(watched(&w, &s, SIZE_MAX, MOST, d[1])); /* all that was under way is forgotten */
  check(!memcmp(d[0], d[1], MOST * layout.contacts * real_size(precision)),
        "%s: another answer after a stop", v->name);
  free(d[0]);
  free(d[1]);
  world_close(&w);
}

/* ---- the timeline ---- */

/* Elements of the batch that a phase covers; each must be covered once. */
static void check_cover(const abut_span *spans, size_t count, abut_phase phase, const char *what)
{
  static unsigned char times[MOST];
  bool once = true;
  memset(times, 0, sizeof times);
  for (size_t i = 0; i < count; ++i) {
    for (uint64_t k = 0; spans[i].phase == phase && k < spans[i].count; ++k) {
      once = once && spans[i].first + k < MOST && ++times[spans[i].first + k] == 1;
    }
  }
  for (size_t i = 0; i < MOST; ++i) {
    once = once && times[i] == 1;
  }
  check(once, "%s: phase %d does not take each pose once", what, (int)phase);
}

static bool same_chunk(const abut_span *a, const abut_span *b)
{
  return a->device == b->device && a->first == b->first && a->count == b->count;
}

/* Whether two computes of one device cross. An empty one crosses none: where kernels that were
 * submitted last end first, a span begins where it ends, within the time of another. */
static bool computes_overlap(const abut_span *a, const abut_span *b)
{
  return a->device == b->device && a->phase == ABUT_PHASE_COMPUTE &&
         b->phase == ABUT_PHASE_COMPUTE && a->begin < a->end && b->begin < b->end &&
         a->begin < b->end && b->begin < a->end;
}

static void check_spans(const abut_span *spans, size_t count, size_t devices, const char *what)
{
  bool forward = true, alone = true, whole = true;
  for (size_t i = 0; i < count; ++i) {
    const abut_span *a = &spans[i];
    unsigned phases = 0;
    forward = forward && a->device < devices && a->begin >= 0.0 && a->begin <= a->end;
    for (size_t k = 0; k < count; ++k) {
      const abut_span *b = &spans[k];
      phases |= same_chunk(a, b) ? 1u << b->phase : 0;
      alone = alone && (i == k || !computes_overlap(a, b));
    }
    whole = whole && phases == 7;
  }
  check(forward, "%s: a span ends before it begins, or is no device's", what);
  check(alone, "%s: computes of one device overlap", what);
  check(whole, "%s: a chunk lacks a phase", what);
}

static void check_reports(const world *w, const abut_span *spans, size_t count, size_t devices,
                          const char *what)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t there = 0;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &there));
  check(there == devices, "%s: %zu devices of %zu", what, there, devices);
  for (size_t i = 0; i < devices && i < there; ++i) {
    uint64_t chunks = 0, elements = 0;
    for (size_t k = 0; k < count; ++k) {
      const bool its = spans[k].device == i && spans[k].phase == ABUT_PHASE_COMPUTE;
      chunks += its;
      elements += its ? spans[k].count : 0;
    }
    check(reports[i].chunks == chunks && reports[i].elements == elements &&
            reports[i].status == ABUT_SUCCESS,
          "%s: device %zu reports %d chunks of %d", what, i, (int)reports[i].chunks, (int)chunks);
  }
}

void test_timeline(const variant *v, uint32_t chunk)
{
  enum { SPANS = 3 * MOST };
  static abut_span spans[SPANS];
  world w;
  seen s;
  size_t count = 0;
  if (!world_open(v, chunk, ABUT_SELECT_GATE, &w)) {
    return;
  }
  CHECK_OK(abut_get_timeline(w.context, NULL, 0, &count));
  check(count == 0, "%s: %zu spans before a start", v->name, count);
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(watched(&w, &s, SIZE_MAX, MOST, NULL));
  CHECK_OK(abut_get_timeline(w.context, spans, SPANS, &count));
  if (check(count && count % 3 == 0 && count <= SPANS, "%s: %zu spans", v->name, count)) {
    for (int phase = 0; phase < 3; ++phase) {
      check_cover(spans, count, (abut_phase)phase, v->name);
    }
    check_spans(spans, count, v->count, v->name);
    check_reports(&w, spans, count, v->count, v->name);
  }
  const size_t recorded = count;
  CHECK_OK(abut_stop_timeline(w.context));
  CHECK_OK(watched(&w, &s, SIZE_MAX, 8, NULL));
  CHECK_OK(abut_get_timeline(w.context, NULL, 0, &count));
  check(count == recorded, "%s: %zu spans after a stop, not %zu", v->name, count, recorded);
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(abut_get_timeline(w.context, NULL, 0, &count));
  check(count == 0, "%s: %zu spans after another start", v->name, count);
  world_close(&w);
}
