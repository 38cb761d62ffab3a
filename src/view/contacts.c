#include "view/parts.h"

#include "base/error.h"
#include "base/reals.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab073501u
#define THRESHOLD_LEAST (1.0 / WIRE_ACTIVITY_SHARES)
#define PIXELS_MOST 4096

_Static_assert(ABUT_NO_FEATURE == WIRE_NO_INDEX32, "features go into a page as they are");

abut_page_options abut_default_page_options(void)
{
  abut_page_options o;
  memset(&o, 0, sizeof o);
  o.threshold = 0.05;
  o.picture_width = 640;
  o.picture_height = 480;
  o.cookie = COOKIE;
  return o;
}

abut_status check_page_options(const abut_page_options *o, size_t count)
{
  if (o->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the page options were not made by abut_default_page_options");
  }
  if (!count || count > UINT32_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "a page cannot have %zu frames", count);
  }
  if (!(o->threshold >= THRESHOLD_LEAST && o->threshold <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the threshold of a page is %g, not in [1/255, 1]",
                o->threshold);
  }
  if (o->first >= count) {
    return fail(ABUT_ERROR_ARGUMENT, "a page cannot begin with frame %zu (0-based) of %zu",
                o->first, count);
  }
  if (o->picture_width > PIXELS_MOST || o->picture_height > PIXELS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the picture of a page has %u x %u pixels; a side can have at most %d",
                o->picture_width, o->picture_height, PIXELS_MOST);
  }
  for (size_t i = 0; o->time && i < count; ++i) {
    if (!isfinite(o->time[i]) || (i && o->time[i] < o->time[i - 1])) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the time of frame %zu must be after the time of the previous frame", i);
    }
  }
  return ABUT_SUCCESS;
}

json_t *page_layout(const abut_layout *l)
{
#define NUMBER(name, member) l->member,
  const size_t numbers[] = {WIRE_LAYOUT(NUMBER)};
#undef NUMBER
  _Static_assert(sizeof numbers == WIRE_LAYOUT_NUMBERS * sizeof *numbers,
                 "a layout has as many numbers as names");
  json_t *list = json_array();
  for (int i = 0; list && i < WIRE_LAYOUT_NUMBERS; ++i) {
    if (json_array_append_new(list, page_count(numbers[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

abut_status page_add_options(page *p, const abut_page_options *o, size_t frames)
{
  TRY(page_set(p->root, "abut", json_string(abut_version())));
  TRY(page_set(p->root, "frames", page_count(frames)));
  TRY(page_set(p->root, "first", page_count(o->first)));
  TRY(page_set(p->root, "threshold", json_real(o->threshold)));
  if (!o->time) {
    return ABUT_SUCCESS;
  }
  void *memory = NULL;
  TRY(allocate(&memory, frames, sizeof(float)));
  for (size_t i = 0; i < frames; ++i) {
    ((float *)memory)[i] = (float)o->time[i];
  }
  const abut_status status = page_add(p, "time", PAGE_F32, frames, 1, memory);
  free(memory);
  return status;
}

static abut_status append(json_t *list, json_t *one)
{
  return one && json_array_append_new(list, one) == 0
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
}

abut_status page_add_live(page *p, json_t **smoothings)
{
  json_t *live = json_object();
  p->live = true;
  TRY(page_set(p->root, "live", live));
  *smoothings = json_array();
  return page_set(live, "smoothing", *smoothings);
}

abut_status page_add_smoothing(json_t *smoothings, const abut_smoothing *smoothing)
{
  char *text = NULL;
  TRY(abut_format_smoothing(smoothing, &text));
  const abut_status status = append(smoothings, json_string(text));
  abut_free(text);
  return status;
}

abut_status page_name_curve(json_t *curves, const char *name, const char *unit)
{
  return append(curves, json_pack("{s:s, s:s}", "name", name, "unit", unit));
}

abut_status page_add_curve(page *p, json_t *curves, const char *name, const char *unit,
                           size_t frames, const float *values)
{
  TRY(page_name_curve(curves, name, unit));
  return page_add(p, name, PAGE_F32, frames, 1, values);
}

/* Stores numbers as 16-bit fractions of `most`. */
static abut_status add_shares(page *p, const char *name, size_t rows, size_t columns,
                              const void *from, double most, size_t real_bytes)
{
  void *memory = NULL;
  TRY(allocate(&memory, rows * columns, sizeof(int16_t)));
  for (size_t i = 0; i < rows * columns; ++i) {
    const double share = fmin(fmax(real_of(from, real_bytes, i) / most, -1.0), 1.0);
    ((int16_t *)memory)[i] = (int16_t)lround(WIRE_SHARES * share);
  }
  const abut_status status = page_add(p, name, PAGE_I16, rows, columns, memory);
  free(memory);
  return status;
}

static abut_status add_activities(page *p, const abut_compact *list, size_t real_bytes)
{
  void *memory = NULL;
  TRY(allocate(&memory, list->count, 1));
  for (size_t i = 0; i < list->count; ++i) {
    ((uint8_t *)memory)[i] =
      (uint8_t)lround(WIRE_ACTIVITY_SHARES * fmin(real_of(list->activity, real_bytes, i), 1.0));
  }
  const abut_status status = page_add(p, "activity", PAGE_U8, list->count, 1, memory);
  free(memory);
  return status;
}

static abut_status add_positions(page *p, const abut_compact *list, size_t real_bytes)
{
  void *memory = NULL;
  TRY(allocate(&memory, 3 * list->count, sizeof(float)));
  for (size_t i = 0; i < 3 * list->count; ++i) {
    ((float *)memory)[i] = (float)real_of(list->p, real_bytes, i);
  }
  const abut_status status = page_add(p, "p", PAGE_F32, list->count, 3, memory);
  free(memory);
  return status;
}

/* Adds the index of each frame's first contact. */
static abut_status add_starts(page *p, size_t frames, const uint32_t *frame, size_t count)
{
  void *memory = NULL;
  TRY(allocate(&memory, frames + 1, sizeof(uint32_t)));
  uint32_t *starts = memory;
  for (size_t i = 0; i < count; ++i) {
    ++starts[frame[i] + 1];
  }
  for (size_t i = 0; i < frames; ++i) {
    starts[i + 1] += starts[i];
  }
  const abut_status status = page_add(p, "starts", PAGE_U32, frames + 1, 1, starts);
  free(memory);
  return status;
}

/* Adds indices, with one more than the largest valid index. */
static abut_status add_list_indices(page *p, const char *name, size_t rows, size_t columns,
                                    const uint32_t *data)
{
  uint32_t end = 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    end = data[i] != ABUT_NO_FEATURE && data[i] >= end ? data[i] + 1 : end;
  }
  return page_add_indices(p, name, rows, columns, end, data);
}

abut_status page_add_contacts(page *p, size_t frames, const abut_compact *list,
                              const uint32_t *frame, const uint32_t *pair, size_t pairs,
                              size_t real_bytes)
{
  double deepest = 0.0;
  if (list->count > UINT32_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "a page has too many contacts: %zu", list->count);
  }
  for (size_t i = 0; i < list->count; ++i) {
    deepest = fmax(deepest, fabs(real_of(list->d, real_bytes, i)));
  }
  deepest = deepest > 0.0 ? deepest : 1.0;
  TRY(page_set(p->root, "deepest", json_real(deepest)));
  TRY(add_starts(p, frames, frame, list->count));
  if (pairs > 1) {
    TRY(page_add_indices(p, "pair", list->count, 1, pairs, pair));
  }
  TRY(add_list_indices(p, "slot", list->count, 1, list->slot));
  TRY(add_list_indices(p, "feature", list->count, 2, list->feature));
  TRY(add_positions(p, list, real_bytes));
  TRY(add_shares(p, "d", list->count, 1, list->d, deepest, real_bytes));
  TRY(add_shares(p, "n", list->count, 3, list->n, 1.0, real_bytes));
  return add_activities(p, list, real_bytes);
}
