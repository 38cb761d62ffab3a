/* Frames of a world: contacts of all its pairs in one frame, and curves over several. */
#include "world/view/live_parts.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Curves are computed in pieces of at most PIECE_FRAMES frames. The slots of a piece's frames, or
 * their pairs of bodies, are at most PIECE_MOST in all. */
#define PIECE_FRAMES ((size_t)256)
#define PIECE_MOST ((size_t)1 << 20)

/* Results for `count` frames. */
typedef struct world_contacts {
  size_t first, count, placed; /* frames, and number of frames with valid places of links */
  size_t *of;                  /* (placed) index of each frame, from 0 */
  float *q, *v, *u;            /* (placed, nq), (placed, nv), (placed, nu) */
  const abut_pair *by;         /* (kinds) pairs that contacts are computed with */
  abut_items items;
  abut_compact list;
  uint32_t *candidates;   /* (list.count) */
  float *forces, *pushes; /* (list.count, 3), (placed, links, 3); NULL: unknown */
  uint32_t *kinds;        /* (kind_count, KIND_WHOLES) */
  size_t kind_count;
} world_contacts;

/* ---- smoothing ---- */

/* Callers compare handles themselves: the library has no call for it. */
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

/* Makes the pair of one kind from a text of its coefficients. */
static bool make_pair(const live *l, size_t kind, const json_t *coefficients, abut_pair *made,
                      answer *out)
{
  abut_smoothing smoothing;
  abut_body bodies[2];
  char *text = json_is_object(coefficients)
                 ? json_dumps(coefficients, JSON_COMPACT | JSON_REAL_PRECISION(17))
                 : NULL;
  if (!text) {
    answer_text(out, BAD, "smoothing: kind %zu must be an object", kind);
    return false;
  }
  const bool good =
    !answer_error(out, abut_parse_smoothing("smoothing", text, strlen(text), &smoothing)) &&
    !answer_error(out, abut_get_pair_bodies(l->own[kind], &bodies[0], &bodies[1])) &&
    !answer_error(out, abut_create_pair(bodies[0], bodies[1], &smoothing, made));
  free(text);
  return good;
}

/* Reads a kind's number; no other characters are allowed. */
static bool read_kind(const live *l, const char *key, size_t *kind)
{
  char *end = NULL;
  const unsigned long number = *key >= '0' && *key <= '9' ? strtoul(key, &end, 10) : 0;
  *kind = number;
  return end && !*end && number < l->kinds;
}

/* Makes the pairs for a request's smoothing, unless they exist: an object with each kind's
 * coefficients, by its number. After a failure the previous pairs remain. */
static bool take_smoothing(live *l, const char *text, answer *out)
{
  const char *key;
  json_t *value;
  if (!*text || (l->smoothing && strcmp(text, l->smoothing) == 0)) {
    return true; /* the scene's own pairs exist, and those of the sliders are retained for their
                    next request */
  }
  json_t *root = json_loads(text, 0, NULL);
  live next = {.kinds = l->kinds,
               .own = l->own,
               .by = calloc(l->kinds + 1, sizeof *next.by),
               .smoothing = strdup(text)};
  bool good = root && next.by && next.smoothing;
  if (!good) {
    answer_text(out, FAILED, "no memory");
    next.kinds = next.by ? next.kinds : 0;
  }
  for (size_t i = 0; i < next.kinds; ++i) {
    next.by[i] = l->own[i];
  }
  json_object_foreach(root, key, value)
  {
    size_t kind = 0;
    if (good && !read_kind(l, key, &kind)) {
      answer_text(out, BAD, "smoothing: `%s` is not a kind of pairs (0-based); there are %zu", key,
                  l->kinds);
      good = false;
    }
    if (good && !same_pair(next.by[kind], l->own[kind])) { /* "00" and "0" are different keys */
      answer_text(out, BAD, "smoothing: kind %zu is named twice", kind);
      good = false;
    }
    good = good && make_pair(l, kind, value, &next.by[kind], out);
  }
  json_decref(root);
  if (good) { /* destroys the previous pairs instead of the new ones */
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

/* (kinds) The pairs that a request's contacts are computed with, after its smoothing is taken. */
static const abut_pair *pairs_of(const live *l, const request *r)
{
  return *r->smoothing ? l->by : l->own;
}

/* ---- frames ---- */

static void forget(world_contacts *c)
{
  abut_free_items(&c->items);
  abut_free_compact(&c->list);
  free(c->of);
  free(c->q);
  free(c->candidates);
  free(c->forces);
  free(c->pushes);
  free(c->kinds);
  *c = (world_contacts){0};
}

/* Allocates `count` rows of floats. */
static float *reals_for(size_t count, size_t width)
{
  return width && count > SIZE_MAX / sizeof(float) / width
           ? NULL
           : calloc(count * width + 1, sizeof(float));
}

static void put_row(float *to, const double *from, size_t width)
{
  for (size_t k = 0; from && k < width; ++k) {
    to[k] = to_float(from[k]);
  }
}

static bool take_frames(const live *l, size_t first, size_t count, world_contacts *c, answer *out)
{
  const size_t nq = l->info.nq, nv = l->info.nv, nu = l->info.nu;
  double *links = calloc(PLACE * l->info.links + 1, sizeof *links);
  c->first = first;
  c->count = count;
  c->q = reals_for(count, nq + nv + nu);
  c->of = calloc(count, sizeof *c->of);
  const bool good = links && c->q && c->of;
  c->v = good ? c->q + count * nq : NULL;
  c->u = good ? c->v + count * nv : NULL;
  for (size_t i = 0; good && i < count; ++i) {
    const size_t row = first + i, to = c->placed;
    if (abut_place_links(l->links, l->q + row * nq, links) != ABUT_SUCCESS) {
      continue;
    }
    put_row(c->q + to * nq, l->q + row * nq, nq);
    put_row(c->v + to * nv, l->v ? l->v + row * nv : NULL, nv);
    put_row(c->u + to * nu, l->u ? l->u + row * nu : NULL, nu);
    c->of[c->placed++] = i;
  }
  free(links);
  if (!good) {
    answer_text(out, FAILED, "no memory for %zu frames", count);
  }
  return good;
}

static abut_status find_contacts(const live *l, const request *r, world_contacts *c)
{
  c->by = pairs_of(l, r);
  c->list = (abut_compact){.threshold = r->threshold, .grows = true};
  return l->kinds && c->placed
           ? abut_find_contacts_by(l->links, c->by, l->kinds, c->q, c->placed, &c->items, &c->list)
           : ABUT_SUCCESS;
}

static bool are_own(const live *l, const world_contacts *c)
{
  for (size_t i = 0; i < l->kinds; ++i) {
    if (!same_pair(c->by[i], l->own[i])) {
      return false;
    }
  }
  return l->kinds > 0;
}

/* Computes contact forces in a step from each frame. Forces of single contacts are available only
 * for the scene's own smoothing, which the step uses. Without a step there are no forces. */
static bool find_forces(const live *l, world_contacts *c, answer *out)
{
  if (!l->v || !c->placed || !l->info.nv) {
    return true;
  }
  const bool single = are_own(l, c);
  c->pushes = reals_for(c->placed, 3 * l->info.links);
  c->forces = single ? reals_for(c->list.count, 3) : NULL;
  if (!c->pushes || (single && !c->forces)) {
    answer_text(out, FAILED, "no memory for forces");
    return false;
  }
  return !answer_error(out,
                       abut_find_contact_forces(l->links, c->placed, c->q, c->v, c->u,
                                                single ? &c->items : NULL, single ? &c->list : NULL,
                                                c->forces, c->pushes, NULL));
}

/* ---- curves ---- */

enum {
  LEAST_DISTANCE,
  ACTIVITY_SUM,
  OWN_ACTIVITY,
  OWN_DISTANCE,
  OWN_NORMAL,
  OWN_FRICTION,
  CURVE_ROWS
};

/* Splits a contact's force into its normal and its friction magnitude. */
static void split_force(const float f[3], const float n[3], float *normal, float *friction)
{
  double along = 0.0, squared = 0.0, across = 0.0;
  for (int k = 0; k < 3; ++k) {
    along += (double)f[k] * (double)n[k];
    squared += (double)n[k] * (double)n[k];
  }
  for (int k = 0; k < 3; ++k) {
    const double rest = (double)f[k] - (squared > 0.0 ? along / squared * (double)n[k] : 0.0);
    across += rest * rest;
  }
  *normal = (float)(squared > 0.0 ? fabs(along) / sqrt(squared) : 0.0);
  *friction = (float)sqrt(across);
}

/* Writes the frames' values from contacts into rows of `all` numbers, starting at `at`. */
static void put_curves(const request *r, const world_contacts *c, size_t rows, size_t all,
                       size_t at, float *values)
{
  for (size_t i = 0; i < rows * c->count; ++i) {
    values[i / c->count * all + at + i % c->count] = i / c->count == ACTIVITY_SUM ? 0.0f : NAN;
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    const uint32_t item = c->list.pose[i];
    float *to = values + at + c->of[c->items.items[3 * (size_t)item]];
    const float d = ((const float *)c->list.d)[i], activity = ((const float *)c->list.activity)[i];
    to[LEAST_DISTANCE * all] = d > to[LEAST_DISTANCE * all] ? to[LEAST_DISTANCE * all] : d;
    to[ACTIVITY_SUM * all] += activity;
    if (rows > OWN_DISTANCE && c->items.candidates[item] == r->contact[0] &&
        c->list.slot[i] == r->contact[1]) {
      to[OWN_ACTIVITY * all] = activity;
      to[OWN_DISTANCE * all] = d;
      if (rows > OWN_FRICTION && c->forces) {
        split_force(c->forces + 3 * i, (const float *)c->list.n + 3 * i, &to[OWN_NORMAL * all],
                    &to[OWN_FRICTION * all]);
      }
    }
  }
}

/* Returns the number of slots, or pairs, that a frame needs with the requested smoothing. */
static size_t weight_of(const live *l, const request *r)
{
  const abut_pair *by = pairs_of(l, r);
  size_t slots = 0;
  abut_layout layout = {0};
  for (size_t i = 0; i < l->kinds && r->threshold <= 0.0; ++i) {
    slots += abut_get_layout(by[i], &layout) == ABUT_SUCCESS ? layout.contacts * l->candidates[i]
                                                             : 0;
  }
  return r->threshold > 0.0 ? l->info.candidates : slots;
}

/* Computes curves piece by piece, to bound memory for any request. */
static void answer_all_curves(const live *l, const request *r, answer *out)
{
  const bool forces = r->follows && l->v && l->info.nv;
  const size_t rows = !r->follows ? OWN_ACTIVITY
                      : forces    ? CURVE_ROWS
                                  : OWN_NORMAL,
               weight = weight_of(l, r);
  const size_t fit = PIECE_MOST / (weight ? weight : 1), piece = fit < 1              ? 1
                                                                 : fit > PIECE_FRAMES ? PIECE_FRAMES
                                                                                      : fit;
  float *values = reals_for(r->count, rows);
  bool good = values != NULL;
  if (!good) {
    answer_text(out, FAILED, "no memory for curves of %zu frames", r->count);
  }
  for (size_t at = 0; good && at < r->count; at += piece) {
    world_contacts c = {0};
    good = take_frames(l, r->first + at, piece < r->count - at ? piece : r->count - at, &c, out) &&
           !answer_error(out, find_contacts(l, r, &c)) && (!forces || find_forces(l, &c, out));
    if (good) {
      put_curves(r, &c, rows, r->count, at, values);
    }
    forget(&c);
  }
  if (good) {
    answer_curves(out, rows, r->count, values);
  }
  free(values);
}

/* ---- one frame ---- */

/* Adds the layouts of the kinds that have another smoothing than the scene's. */
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
    size_t numbers[WIRE_LAYOUT_NUMBERS];
    if (same_pair(c->by[i], l->own[i])) {
      continue;
    }
    if (answer_error(out, abut_get_layout(c->by[i], &layout))) {
      return false;
    }
    layout_numbers(&layout, numbers);
    to[KIND_kind] = (uint32_t)i;
    for (int k = 0; k < WIRE_LAYOUT_NUMBERS; ++k) {
      to[KIND_layout + k] = (uint32_t)numbers[k];
    }
    ++c->kind_count;
  }
  return true;
}

static void answer_world_frame(const live *l, const request *r, world_contacts *c, answer *out)
{
  float sums[2];
  c->candidates = calloc(c->list.count + 1, sizeof *c->candidates);
  if (!c->candidates) {
    answer_text(out, FAILED, "no memory for %zu contacts", c->list.count);
    return;
  }
  put_curves(r, c, 2, 1, 0, sums);
  if (!find_forces(l, c, out) || !take_layouts(l, c, out)) {
    return;
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    c->candidates[i] = c->items.candidates[c->list.pose[i]];
  }
  answer_frame(out, &(frame_answer){.layout = {c->kind_count},
                                    .kinds = c->kinds,
                                    .kind_count = c->kind_count,
                                    .numbers = {(double)sums[LEAST_DISTANCE],
                                                (double)sums[ACTIVITY_SUM]},
                                    .list = &c->list,
                                    .candidates = c->candidates,
                                    .forces = c->forces,
                                    .pushes = c->pushes,
                                    .push_count = c->pushes ? 3 * l->info.links : 0});
}

void world_compute(live *l, const request *r, answer *out)
{
  world_contacts c = {0};
  if (r->what == OF_POSES || r->reduction >= 0) {
    answer_text(
      out, BAD,
      "a request for a world must be for a frame or for curves, without poses and a reduction");
    return;
  }
  if (!take_smoothing(l, r->smoothing, out)) {
    return;
  }
  if (weight_of(l, r) > CONTACTS_MOST) {
    answer_text(out, BAD, "a frame has %zu %s, more than the maximum of %zu", weight_of(l, r),
                r->threshold > 0.0 ? "pairs of bodies"
                                   : "slots, all of which a threshold of 0 requests",
                CONTACTS_MOST);
    return;
  }
  if (r->what == OF_CURVES) {
    answer_all_curves(l, r, out);
    return;
  }
  if (take_frames(l, r->first, r->count, &c, out) && !answer_error(out, find_contacts(l, r, &c))) {
    answer_world_frame(l, r, &c, out);
  }
  forget(&c);
}
