/* Signed distances of pairs of a scene in a batch of worlds, from the fields of their bodies.
 * Derivatives with respect to positions are computed from derivatives with respect to body poses,
 * through the tree of links. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/reals.h"
#include "math/vector.h"
#include "scene/motion.h"
#include "world/law/law.h"

#include <abut/kinematics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071506u
#define ENTRIES_MOST ((size_t)1 << 16) /* evaluated together */

typedef struct distance_call {
  loaded_scene *s;
  abut_distances *d;
  size_t size;         /* of a real */
  size_t worlds, most; /* of a piece, and of the largest piece */
  abut_batch batch;    /* of a piece: its worlds, each with its candidates */
  abut_pair *pairs;    /* (types) */
  uint32_t *types;     /* (all candidates of the scene) */
  uint32_t *of;        /* (entries of a piece) */
  reals poses[2], slopes[2], values;
  double (*places)[PLACE];       /* (worlds of a piece, links) */
  size_t *least;                 /* (pairs) the entry that determines each distance of a world */
  double *q, *row, *sum, *along; /* of one world: (nq), (nv) each */
  arena memory;
} distance_call;

abut_distances abut_default_distances(void)
{
  return (abut_distances){.reduction = ABUT_REDUCE_SOFT_DISTANCE, .cookie = COOKIE};
}

static abut_status check_arrays(const abut_distances *d, const loaded_scene *s)
{
  if (d->count && ((!d->q && s->constants.nq) || (d->pairs && !d->candidates))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "distances of worlds need positions and candidates; one of them is NULL");
  }
  if ((d->q_gradient && !d->d_bar) || (d->d_tangent && !d->along)) {
    return fail(ABUT_ERROR_ARGUMENT, "%s of distances need %s",
                d->d_tangent ? "tangents" : "a gradient", d->d_tangent ? "`along`" : "`d_bar`");
  }
  if (d->reduction != ABUT_REDUCE_SOFT_DISTANCE && d->reduction != ABUT_REDUCE_DISTANCE) {
    return fail(ABUT_ERROR_ARGUMENT, "reduction %d is not a distance", (int)d->reduction);
  }
  return s->given || !s->def.law->drawable
           ? fail(ABUT_ERROR_ARGUMENT, "a scene whose contacts are %s has no distances of pairs",
                  s->given ? "given" : "springs")
           : ABUT_SUCCESS;
}

static abut_status check_candidates(const abut_distances *d, const loaded_scene *s, bool *has)
{
  for (size_t i = 0; i < d->candidate_count; ++i) {
    const uint32_t candidate = d->candidates[2 * i], at = d->candidates[2 * i + 1];
    if (candidate >= s->def.pair_count || at >= d->pairs) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "candidate %u of distance %u is out of range: the scene has %zu candidates, and "
                  "the call has %zu distances",
                  candidate, at, s->def.pair_count, d->pairs);
    }
    has[at] = true;
  }
  for (size_t i = 0; i < d->pairs; ++i) {
    if (!has[i]) {
      return fail(ABUT_ERROR_ARGUMENT, "distance %zu has no candidate pair", i);
    }
  }
  return ABUT_SUCCESS;
}

/* Worlds are computed in pieces, so outputs must not overlap inputs. */
static abut_status check_apart(const abut_distances *d, const loaded_scene *s)
{
  const size_t real = context_real_bytes(s->context), nv = (size_t)s->constants.nv * real;
  const size_t pairs = rows_bytes(d->pairs, real), count = d->count;
  const memory_range all[] = {
    {"q", d->q, rows_bytes(count, (size_t)s->constants.nq * real), MEMORY_READ},
    {"candidates", d->candidates, rows_bytes(d->candidate_count, 2 * sizeof *d->candidates),
     MEMORY_READ},
    {"d_bar", d->q_gradient ? d->d_bar : NULL, rows_bytes(count, pairs), MEMORY_READ},
    {"along", d->d_tangent ? d->along : NULL, rows_bytes(count, nv), MEMORY_READ},
    {"d", d->d, rows_bytes(count, pairs), MEMORY_WRITTEN},
    {"gradient", d->gradient, rows_bytes(count, rows_bytes(d->pairs, nv)), MEMORY_WRITTEN},
    {"q_gradient", d->q_gradient, rows_bytes(count, nv), MEMORY_WRITTEN},
    {"d_tangent", d->d_tangent, rows_bytes(count, pairs), MEMORY_WRITTEN}};
  return check_ranges(all, sizeof all / sizeof *all);
}

static abut_status check(const abut_distances *d, const loaded_scene *s)
{
  void *has = NULL;
  if (!d || d->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the distances were not made by abut_default_distances");
  }
  TRY(check_arrays(d, s));
  TRY(check_apart(d, s));
  TRY(allocate(&has, d->pairs, sizeof(bool)));
  const abut_status status = check_candidates(d, s, has);
  free(has);
  return status;
}

static bool has_derivatives(const abut_distances *d)
{
  return d->gradient || d->q_gradient || d->d_tangent;
}

static abut_status allocate_reals(distance_call *c, reals *r, size_t count, size_t width)
{
  *r = (reals){.count = count * width, .size = c->size};
  return arena_allocate(&c->memory, &r->data, count, width * c->size);
}

static abut_status allocate_arrays(distance_call *c)
{
  const loaded_scene *s = c->s;
  const size_t entries = c->most * c->d->candidate_count;
  void *at;
  TRY(arena_allocate(&c->memory, &at, s->pair_type_count, sizeof *c->pairs));
  c->pairs = at;
  TRY(arena_allocate(&c->memory, &at, s->def.pair_count, sizeof *c->types));
  c->types = at;
  TRY(arena_allocate(&c->memory, &at, entries, sizeof *c->of));
  c->of = at;
  for (int side = 0; side < 2; ++side) {
    TRY(allocate_reals(c, &c->poses[side], entries, PLACE));
    TRY(allocate_reals(c, &c->slopes[side], has_derivatives(c->d) ? entries : 0, PLACE));
  }
  TRY(allocate_reals(c, &c->values, entries, 1));
  TRY(arena_allocate(&c->memory, &at, c->most, s->def.link_count * sizeof *c->places));
  c->places = at;
  TRY(arena_allocate(&c->memory, &at, c->d->pairs, sizeof *c->least));
  c->least = at;
  TRY(
    arena_allocate(&c->memory, &at, (size_t)(s->constants.nq + 3 * s->constants.nv), sizeof *c->q));
  c->q = at;
  c->row = c->q + s->constants.nq;
  c->sum = c->row + s->constants.nv;
  c->along = c->sum + s->constants.nv;
  return ABUT_SUCCESS;
}

/* ---- a piece ---- */

static const scene_pair *pair_of(const distance_call *c, size_t candidate)
{
  return &c->s->def.pairs[c->d->candidates[2 * candidate]];
}

static void place_side(const distance_call *c, size_t world, size_t candidate, int side,
                       double place[PLACE])
{
  const scene_pair *p = pair_of(c, candidate);
  place_body(scene_side(&c->s->def, p, side),
             c->places[world * c->s->def.link_count + (size_t)p->link[side]], place);
}

/* A world with invalid positions has NaN poses, and so NaN results. */
static void place_piece(distance_call *c, size_t first)
{
  const size_t nq = (size_t)c->s->constants.nq, count = c->d->candidate_count;
  for (size_t world = 0; world < c->worlds; ++world) {
    for (size_t k = 0; k < nq; ++k) {
      c->q[k] = real_of(c->d->q, c->size, (first + world) * nq + k);
    }
    const bool good = scene_has_places(c->s, c->q);
    if (good) {
      scene_put_links(c->s, c->q, c->places + world * c->s->def.link_count);
    }
    for (size_t i = 0; i < count; ++i) {
      for (int side = 0; side < 2; ++side) {
        double place[PLACE];
        if (good) {
          place_side(c, world, i, side, place);
        }
        for (size_t k = 0; k < PLACE; ++k) {
          reals_set(&c->poses[side], (world * count + i) * PLACE + k,
                    good ? place[k] : (double)NAN);
        }
      }
      c->of[world * count + i] = c->types[c->d->candidates[2 * i]];
    }
  }
}

static abut_status find_piece(distance_call *c)
{
  const abut_gradients slopes = {c->slopes[0].data, c->slopes[1].data};
  const bool soft = c->d->reduction == ABUT_REDUCE_SOFT_DISTANCE;
  c->batch.count = c->worlds * c->d->candidate_count;
  c->batch.reductions = (abut_reductions){.temperature = c->d->temperature};
  *(soft ? &c->batch.reductions.soft_distance : &c->batch.reductions.distance) = c->values.data;
  const abut_status status =
    has_derivatives(c->d)
      ? abut_gradient(ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, &c->batch, c->d->reduction, &slopes)
      : abut_contacts(ABUT_BATCH_PAIRS, &c->batch);
  c->d->failures += c->batch.failures;
  return status;
}

/* ---- what a world gets ---- */

/* Finds the entry of each distance: the smallest among its candidates. */
static void find_least(const distance_call *c, size_t world)
{
  const size_t count = c->d->candidate_count;
  for (size_t i = 0; i < c->d->pairs; ++i) {
    c->least[i] = SIZE_MAX;
  }
  for (size_t i = 0; i < count; ++i) {
    size_t *least = &c->least[c->d->candidates[2 * i + 1]];
    if (*least == SIZE_MAX ||
        reals_get(&c->values, world * count + i) < reals_get(&c->values, world * count + *least)) {
      *least = i;
    }
  }
}

/* Fills c->row with the gradient of a distance. The gradients with respect to the poses of its two
 * bodies are wrenches on their links, projected onto the joints below. */
static void find_row(const distance_call *c, size_t world, size_t candidate)
{
  const scene_pair *p = pair_of(c, candidate);
  const size_t links = c->s->def.link_count, entry = world * c->d->candidate_count + candidate;
  const double(*places)[PLACE] = (const double(*)[PLACE])c->places + world * links;
  const bool good = !isnan(reals_get(&c->values, entry));
  for (int k = 0; k < c->s->constants.nv; ++k) {
    c->row[k] = good ? 0.0 : (double)NAN;
  }
  for (int side = 0; good && side < 2; ++side) {
    double place[PLACE], bar[PLACE], wrench[6], way[3], more[3];
    place_side(c, world, candidate, side, place);
    for (size_t k = 0; k < PLACE; ++k) {
      bar[k] = reals_get(&c->slopes[side], PLACE * entry + k);
    }
    motion_wrench(place, bar, wrench);
    difference(place, places[p->link[side]], way);
    cross(way, wrench, more);
    for (int k = 0; k < 3; ++k) {
      wrench[3 + k] += more[k];
    }
    for (int link = p->link[side]; link != WORLD;) {
      link = motion_pull(&c->s->def, &c->s->constants, places, link, wrench, c->row);
    }
  }
}

static void put(const distance_call *c, void *array, size_t at, double value)
{
  reals to = {array, 0, c->size};
  reals_set(&to, at, value);
}

/* Writes the distances and derivatives of world `row` of all, which is `world` of the piece. */
static void put_world(const distance_call *c, size_t world, size_t row)
{
  const abut_distances *d = c->d;
  const size_t nv = (size_t)c->s->constants.nv;
  memset(c->sum, 0, nv * sizeof *c->sum);
  for (size_t k = 0; d->d_tangent && k < nv; ++k) {
    c->along[k] = real_of(d->along, c->size, row * nv + k);
  }
  find_least(c, world);
  for (size_t i = 0; i < d->pairs; ++i) {
    const size_t at = row * d->pairs + i;
    double slope = 0.0;
    if (d->d) {
      put(c, d->d, at, reals_get(&c->values, world * d->candidate_count + c->least[i]));
    }
    if (has_derivatives(d)) {
      find_row(c, world, c->least[i]);
    }
    const double bar = d->q_gradient ? real_of(d->d_bar, c->size, at) : 0.0;
    for (size_t k = 0; has_derivatives(d) && k < nv; ++k) {
      c->sum[k] += bar * c->row[k];
      slope += d->d_tangent ? c->along[k] * c->row[k] : 0.0;
      if (d->gradient) {
        put(c, d->gradient, at * nv + k, c->row[k]);
      }
    }
    if (d->d_tangent) {
      put(c, d->d_tangent, at, slope);
    }
  }
  for (size_t k = 0; d->q_gradient && k < nv; ++k) {
    put(c, d->q_gradient, row * nv + k, c->sum[k]);
  }
}

/* ---- the call ---- */

static abut_status find_distances(distance_call *c)
{
  const size_t count = c->d->candidate_count;
  const size_t fit = count ? ENTRIES_MOST / count : c->d->count;
  c->most = fit < 1 ? 1 : fit < c->d->count ? fit : c->d->count;
  TRY(allocate_arrays(c));
  c->batch = abut_default_batch();
  c->batch.poses = ABUT_POSE_QUATERNION;
  c->batch.pose1 = c->poses[0].data;
  c->batch.pose2 = c->poses[1].data;
  c->batch.pairs = c->pairs;
  c->batch.pair_count = scene_number_types(c->s, c->pairs, c->types);
  c->batch.pair = c->of;
  for (size_t first = 0; first < c->d->count; first += c->worlds) {
    c->worlds = c->most < c->d->count - first ? c->most : c->d->count - first;
    place_piece(c, first);
    TRY(count ? find_piece(c) : ABUT_SUCCESS);
    for (size_t world = 0; world < c->worlds; ++world) {
      put_world(c, world, first + world);
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_find_distances(abut_scene handle_, abut_distances *d)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(d, s));
  d->failures = 0;
  distance_call c = {.s = s, .d = d, .size = context_real_bytes(s->context)};
  const abut_status status = d->count ? find_distances(&c) : ABUT_SUCCESS;
  arena_free(&c.memory);
  return status;
}
