/* Reports of a context: its devices, their counters, and the timeline. */
#include "base/call_lock.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/device/context.h"
#include <stdio.h>
#include <string.h>

abut_status abut_context_device(abut_context handle_, abut_device_info *info)
{
  ENTER(context_pool, handle_);
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_context_device needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *info = *device_info(c->members[0].device);
  return ABUT_SUCCESS;
}

abut_status abut_context_devices(abut_context handle_, abut_device_report *reports, size_t capacity,
                                 size_t *count)
{
  ENTER(context_pool, handle_);
  if (!count || (capacity && !reports)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_context_devices: the pointer to the count is NULL, or "
                                     "the capacity is above 0 and reports is NULL");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *count = context_members(c);
  for (size_t i = 0; i < *count && i < capacity; ++i) {
    const member *m = &c->members[i];
    reports[i] = (abut_device_report){.info = *device_info(m->device),
                                      .status = m->status,
                                      .chunks = m->chunks,
                                      .elements = m->elements};
    snprintf(reports[i].text, sizeof reports[i].text, "%.*s", (int)sizeof reports[i].text - 1,
             m->text);
  }
  return ABUT_SUCCESS;
}

abut_status abut_context_precision(abut_context handle_, abut_precision *precision)
{
  ENTER(context_pool, handle_);
  if (!precision) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_context_precision needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *precision = c->def.precision;
  return ABUT_SUCCESS;
}

abut_status abut_get_counters(abut_context handle_, abut_counters *counters)
{
  ENTER(context_pool, handle_);
  if (!counters) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_counters needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  memset(counters, 0, sizeof *counters);
  for (size_t i = 0; i < MEMBERS && c->members[i].device; ++i) {
    const abut_counters *of = device_counters(c->members[i].device);
    counters->bytes_up += of->bytes_up;
    counters->bytes_down += of->bytes_down;
    counters->launches += of->launches;
    counters->builds += of->builds;
    counters->chunks += of->chunks;
    counters->resident += of->resident;
  }
  return ABUT_SUCCESS;
}

/* ---- the timeline ---- */

void context_span(context *c, const abut_span *span)
{
  pthread_mutex_lock(&c->lock);
  void *spans = c->spans;
  if (c->timed &&
      grow(&spans, &c->span_capacity, c->span_count + 1, sizeof(abut_span)) == ABUT_SUCCESS) {
    c->spans = spans;
    abut_span *s = &c->spans[c->span_count++];
    *s = *span;
    s->begin -= c->timeline_begin;
    s->end -= c->timeline_begin;
  }
  pthread_mutex_unlock(&c->lock);
}

abut_status abut_start_timeline(abut_context handle_)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  c->timed = true;
  c->span_count = 0;
  c->timeline_begin = now();
  return ABUT_SUCCESS;
}

abut_status abut_stop_timeline(abut_context handle_)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  c->timed = false;
  return ABUT_SUCCESS;
}

abut_status abut_get_timeline(abut_context handle_, abut_span *spans, size_t capacity,
                              size_t *count)
{
  ENTER(context_pool, handle_);
  if (!count || (capacity && !spans)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_timeline: the pointer to the count is NULL, or the "
                                     "capacity is above 0 and spans is NULL");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *count = c->span_count;
  const size_t copied = capacity < c->span_count ? capacity : c->span_count;
  if (copied) {
    memcpy(spans, c->spans, copied * sizeof *spans);
  }
  return ABUT_SUCCESS;
}
