/* Frames of a world: contacts of all its pairs in one, and curves of some. */
#include "view/live_parts.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is computed of `count` frames. */
typedef struct world_contacts {
  size_t count, placed; /* frames, and those whose links have places */
  size_t *of;           /* (placed) which frame each is, from 0 */
  float *q;             /* (placed, nq) */
  const abut_pair *by;  /* (kinds) what contacts are found by */
  abut_items items;
  abut_compact list;
  float *values;        /* (rows, count) curves */
  uint32_t *candidates; /* (list.count) */
  float *pushes;        /* (nv) */
  uint32_t *kinds;      /* (kind_count, KIND_WHOLES) */
  size_t kind_count;
} world_contacts;

/* ---- smoothing ---- */

static bool same_pair(abut_pair a, abut_pair b)
{
  return a.index == b.index && a.generation == b.generation;
}

void world_end(live *l)
{
  for (size_t i = 0; i < l->kinds; ++i) {
    if (!same_pair(l->by[i], l->own[i])) {
      abut_destroy_pair(l->by[i]);
    }
    l->by[i] = l->own[i];
  }
  free(l->smoothing);
  l->smoothing = NULL;
}

/* Makes the pair of one kind by a text of its coefficients. */
static bool make_pair(const live *l, size_t kind, const json_t *coefficients, abut_pair *made, answer *out)
{
  abut_smoothing smoothing;
  abut_body bodies[2];
  char *text = json_is_object(coefficients) ? json_dumps(coefficients, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  if (!text) {
    answer_text(out, BAD, "smoothing: that of kind %zu is not an object", kind);
    return false;
  }
  const bool good = !answer_error(out, abut_parse_smoothing("smoothing", text, strlen(text), &smoothing)) &&
                    !answer_error(out, abut_get_pair_bodies(l->own[kind], &bodies[0], &bodies[1])) &&
                    !answer_error(out, abut_create_pair(bodies[0], bodies[1], &smoothing, made));
  free(text);
  return good;
}

/* A kind's number, whose digits are all there is. */
static bool read_kind(const live *l, const char *key, size_t *kind)
{
  char *end = NULL;
  const unsigned long number = *key >= '0' && *key <= '9' ? strtoul(key, &end, 10) : 0;
  *kind = number;
  return end && !*end && number < l->kinds;
}

/* Makes the pairs that a request's smoothing asks for, unless they are there: an object of each kind's coefficients, by
 * its number. Those that cannot be made leave the last. */
static bool take_smoothing(live *l, const char *text, answer *out)
{
  const char *key;
  json_t *value;
  if (!*text || (l->smoothing && strcmp(text, l->smoothing) == 0)) {
    return true; /* the scene's own are there, and those of the sliders stay for their next request */
  }
  json_t *root = json_loads(text, 0, NULL);
  live next = {.kinds = l->kinds, .own = l->own, .by = calloc(l->kinds + 1, sizeof *next.by), .smoothing = strdup(text)};
  bool good = root && next.by && next.smoothing;
  if (!good) {
    answer_text(out, FAILED, "no memory");
    next.kinds = next.by ? next.kinds : 0;
  }
  for (size_t i = 0; i < next.kinds; ++i) {
    next.by[i] = l->own[i];
  }
  json_object_foreach(root, key, value) {
    size_t kind = 0;
    if (good && !read_kind(l, key, &kind)) {
      answer_text(out, BAD, "smoothing: `%s` is no kind of pairs; there are %zu, from 0 on", key, l->kinds);
      good = false;
    }
    if (good && !same_pair(next.by[kind], l->own[kind])) { /* "00" is another key than "0" */
      answer_text(out, BAD, "smoothing: kind %zu is named twice", kind);
      good = false;
    }
    good = good && make_pair(l, kind, value, &next.by[kind], out);
  }
  json_decref(root);
  if (good) { /* the last ones are given back in place of the new ones */
    live last = *l;
    l->by = next.by;
    l->smoothing = next.smoothing;
    next.by = last.by;
    next.smoothing = last.smoothing;
  }
  world_end(&next);
  free(next.by);
  return good;
}

/* ---- frames ---- */

static bool take_frames(const live *l, const request *r, world_contacts *c, answer *out)
{
  const size_t nq = l->info.nq;
  double *links = calloc(PLACE * l->info.links + 1, sizeof *links);
  c->count = r->count;
  c->q = calloc(c->count * nq + 1, sizeof *c->q);
  c->of = calloc(c->count, sizeof *c->of);
  const bool good = links && c->q && c->of;
  for (size_t i = 0; good && i < c->count; ++i) {
    const double *q = l->q + (r->first + i) * nq;
    if (abut_place_links(l->links, q, links) != ABUT_SUCCESS) {
      continue;
    }
    for (size_t k = 0; k < nq; ++k) {
      c->q[c->placed * nq + k] = to_float(q[k]);
    }
    c->of[c->placed++] = i;
  }
  free(links);
  if (!good) {
    answer_text(out, FAILED, "no memory for %zu frames", r->count);
  }
  return good;
}

static abut_status find_contacts(const live *l, const request *r, world_contacts *c)
{
  c->by = *r->smoothing ? l->by : l->own;
  c->list = (abut_compact){.threshold = r->threshold, .grows = true};
  return l->kinds && c->placed ? abut_find_contacts_by(l->links, c->by, l->kinds, c->q, c->placed, &c->items, &c->list) : ABUT_SUCCESS;
}

/* What contacts push the joints with in a step from the frame. Where there is no step there are no forces. */
static bool find_pushes(const live *l, const request *r, world_contacts *c, answer *out)
{
  const size_t nq = l->info.nq, nv = l->info.nv;
  abut_worlds w = abut_default_worlds();
  uint32_t status = 0;
  float *memory = l->v && c->placed && nv ? calloc(3 * nv + nq + 1, sizeof *memory) : NULL;
  if (!memory) {
    if (l->v && c->placed && nv) {
      answer_text(out, FAILED, "no memory for forces");
      return false;
    }
    return true;
  }
  float *v = memory + nv;
  for (size_t i = 0; i < nv; ++i) {
    v[i] = to_float(l->v[r->first * nv + i]);
  }
  w.count = 1;
  w.q = c->q;
  w.v = v;
  w.v_next = v + nv;
  w.q_next = v + 2 * nv;
  w.constraint = memory;
  w.status = &status;
  if (answer_error(out, abut_step_worlds(l->links, &w))) {
    free(memory);
    return false;
  }
  c->pushes = memory;
  for (size_t i = 0; i < nv; ++i) {
    c->pushes[i] = status & ABUT_WORLD_STOPS ? NAN : c->pushes[i];
  }
  return true;
}

/* Rows of the least distance of each frame, and of its sum of activity; then of one contact. */
static bool make_curves(const request *r, world_contacts *c, size_t rows, answer *out)
{
  const size_t n = c->count;
  c->values = calloc(rows * n, sizeof *c->values);
  if (!c->values) {
    answer_text(out, FAILED, "no memory for curves of %zu frames", n);
    return false;
  }
  for (size_t i = 0; i < rows * n; ++i) {
    c->values[i] = i / n == 1 ? 0.0f : NAN;
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    const uint32_t item = c->list.pose[i];
    const size_t at = c->of[c->items.items[3 * (size_t)item]];
    const float d = ((const float *)c->list.d)[i], activity = ((const float *)c->list.activity)[i];
    c->values[at] = d > c->values[at] ? c->values[at] : d;
    c->values[n + at] += activity;
    if (r->follows && rows > 2 && c->items.candidates[item] == r->contact[0] && c->list.slot[i] == r->contact[1]) {
      c->values[2 * n + at] = activity;
      c->values[3 * n + at] = d;
    }
  }
  return true;
}

/* What slots mean of the kinds that have another smoothing than the scene's. */
static bool take_layouts(const live *l, world_contacts *c, answer *out)
{
  c->kinds = calloc(KIND_WHOLES * l->kinds + 1, sizeof *c->kinds);
  if (!c->kinds) {
    answer_text(out, FAILED, "no memory for %zu kinds", l->kinds);
    return false;
  }
  for (size_t i = 0; i < l->kinds; ++i) {
    uint32_t *to = c->kinds + KIND_WHOLES * c->kind_count;
    abut_layout layout;
    size_t numbers[9];
    if (same_pair(c->by[i], l->own[i])) {
      continue;
    }
    if (answer_error(out, abut_get_layout(c->by[i], &layout))) {
      return false;
    }
    layout_numbers(&layout, numbers);
    to[0] = (uint32_t)i;
    for (int k = 0; k < 9; ++k) {
      to[1 + k] = (uint32_t)numbers[k];
    }
    ++c->kind_count;
  }
  return true;
}

static void answer_world_frame(const live *l, const request *r, world_contacts *c, answer *out)
{
  c->candidates = calloc(c->list.count + 1, sizeof *c->candidates);
  if (!c->candidates) {
    answer_text(out, FAILED, "no memory for %zu contacts", c->list.count);
    return;
  }
  if (!make_curves(r, c, 2, out) || !find_pushes(l, r, c, out) || !take_layouts(l, c, out)) {
    return;
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    c->candidates[i] = c->items.candidates[c->list.pose[i]];
  }
  answer_frame(out, &(frame_answer){.layout = {c->kind_count},
                                    .kinds = c->kinds,
                                    .kind_count = c->kind_count,
                                    .numbers = {(double)c->values[0], (double)c->values[1]},
                                    .list = &c->list,
                                    .candidates = c->candidates,
                                    .pushes = c->pushes,
                                    .push_count = c->pushes ? l->info.nv : 0});
}

void world_compute(live *l, const request *r, answer *out)
{
  world_contacts c = {0};
  if (r->what == OF_POSES || r->reduction >= 0) {
    answer_text(out, BAD, "a request of a world is for a frame or for curves, without poses and a reduction");
    return;
  }
  if (take_smoothing(l, r->smoothing, out) && take_frames(l, r, &c, out) && !answer_error(out, find_contacts(l, r, &c))) {
    if (r->what == OF_FRAME) {
      answer_world_frame(l, r, &c, out);
    } else if (make_curves(r, &c, r->follows ? 4 : 2, out)) {
      answer_curves(out, r->follows ? 4 : 2, c.count, c.values);
    }
  }
  abut_free_items(&c.items);
  abut_free_compact(&c.list);
  free(c.of);
  free(c.q);
  free(c.values);
  free(c.candidates);
  free(c.pushes);
  free(c.kinds);
}
