#include "world/extent.h"

#include "base/memory.h"
#include "body/body.h"
#include "world/place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABOVE 0.25 /* of the lower body's height: so much two may overlap, and one rests on the other */
#define SINKING_MOST 0.01

/* A body's box in its own frame, and how thick it is; 0: not known. */
typedef struct extent {
  double lower[3], upper[3], thickness;
} extent;

static const scene_body *body_of(const loaded_scene *s, const scene_pair *p, int side)
{
  return &s->def.links[p->link[side]].bodies[p->body[side]];
}

static size_t number_of(const loaded_scene *s, const scene_pair *p, int side)
{
  return scene_body_number(&s->def, (size_t)p->link[side]) + (size_t)p->body[side];
}

static double least(const double *x, size_t count)
{
  double out = HUGE_VAL;
  for (size_t i = 0; i < count; ++i) {
    out = fmin(out, x[i]);
  }
  return out;
}

static extent extent_of_plane(const scene_body *b)
{
  const double deep = fmin(b->size[0], b->size[1]);
  return (extent){{-b->size[0], -b->size[1], -deep}, {b->size[0], b->size[1], 0.0}, deep};
}

/* Of a cloud of a file the least side of its box, which may be more than it is thick. */
static extent extent_of_cloud(const scene_body *b, const abut_cloud *c)
{
  extent e = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0.0};
  for (size_t i = 0; i < 3 * c->count; ++i) {
    e.lower[i % 3] = fmin(e.lower[i % 3], c->points[i]);
    e.upper[i % 3] = fmax(e.upper[i % 3], c->points[i]);
  }
  const double sides[3] = {e.upper[0] - e.lower[0], e.upper[1] - e.lower[1],
                           e.upper[2] - e.lower[2]};
  e.thickness = b->shape == SHAPE_FILE      ? least(sides, 3)
                : b->shape == SHAPE_CAPSULE ? 2.0 * b->size[0]
                                            : 2.0 * least(b->size, body_shape_sizes[b->shape]);
  return e;
}

static abut_status extent_of(const loaded_scene *s, const scene_pair *p, int side, extent *out)
{
  const scene_body *b = body_of(s, p, side);
  if (b->shape == SHAPE_PLANE) {
    *out = extent_of_plane(b);
    return ABUT_SUCCESS;
  }
  if (s->def.law == LAW_SPRING) {
    *out = extent_of_cloud(b, &s->clouds.clouds[s->clouds.of[number_of(s, p, side)]]);
    return ABUT_SUCCESS;
  }
  const body *of = body_get(s->bodies[number_of(s, p, side)]);
  if (!of) {
    return ABUT_ERROR_HANDLE;
  }
  memcpy(out->lower, of->info.lower, sizeof out->lower);
  memcpy(out->upper, of->info.upper, sizeof out->upper);
  out->thickness = of->info.thickness;
  return ABUT_SUCCESS;
}

static double diagonal_of(const extent *e)
{
  return hypot(hypot(e->upper[0] - e->lower[0], e->upper[1] - e->lower[1]),
               e->upper[2] - e->lower[2]);
}

/* ---- too fast for a step ---- */

static void put_ball(const scene_body *b, const extent *e, double ball[4])
{
  double middle[3], at[3], place[PLACE];
  const double identity[PLACE] = {0, 0, 0, 1, 0, 0, 0};
  place_body(b, identity, place);
  for (int k = 0; k < 3; ++k) {
    middle[k] = 0.5 * (e->lower[k] + e->upper[k]);
  }
  place_turn(place, middle, at);
  for (int k = 0; k < 3; ++k) {
    ball[k] = place[k] + at[k];
  }
  ball[3] = 0.5 * diagonal_of(e);
}

/* What is thin does not pass through a plane, from whose inside all comes out; of springs it is a half space. */
static double half_of(const loaded_scene *s, const scene_pair *p, const extent of[2])
{
  double thin = HUGE_VAL;
  int planes = 0;
  for (int side = 0; side < 2; ++side) {
    planes += body_of(s, p, side)->shape == SHAPE_PLANE;
  }
  for (int side = 0; side < 2; ++side) {
    if (!planes || body_of(s, p, side)->shape == SHAPE_PLANE) {
      thin = fmin(thin, of[side].thickness);
    }
  }
  return planes && s->def.law == LAW_SPRING ? 0.0 : 0.5 * thin;
}

abut_status scene_measure_pairs(loaded_scene *s)
{
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    scene_pair *p = &s->def.pairs[i];
    extent of[2];
    if (p->link[0] == WORLD || p->link[1] == WORLD) {
      continue;
    }
    for (int side = 0; side < 2; ++side) {
      TRY(extent_of(s, p, side, &of[side]));
      put_ball(body_of(s, p, side), &of[side], p->ball[side]);
    }
    p->half = half_of(s, p, of);
  }
  return ABUT_SUCCESS;
}

/* ---- what springs give way ---- */

/* A pair at the scene's start: which side rests on the other, if one does. */
typedef struct support {
  int upper, lower; /* trees' roots; -1 upper: none rests on the other */
  double size;      /* the smaller body's diagonal, planes apart */
} support;

typedef struct loads {
  const loaded_scene *s;
  double up[3], g;
  double (*places)[PLACE]; /* of links */
  int *root;               /* of links */
  double *mass;            /* of roots, their trees' */
  bool *held;              /* of roots: hinged to the world, or fast in it */
  bool *seen;
  support *of; /* of pairs */
} loads;

/* The least and the largest height of a body's box. */
static void heights(const loads *l, const scene_pair *p, int side, const extent *e, double out[2])
{
  double place[PLACE], ball[3], axis[3];
  const scene_body *b = body_of(l->s, p, side);
  place_body(b, l->places[p->link[side]], place);
  out[0] = out[1] = place[0] * l->up[0] + place[1] * l->up[1] + place[2] * l->up[2];
  for (int k = 0; k < 3; ++k) {
    memset(axis, 0, sizeof axis);
    axis[k] = 1.0;
    place_turn(place, axis, ball);
    const double along = ball[0] * l->up[0] + ball[1] * l->up[1] + ball[2] * l->up[2];
    out[0] += fmin(along * e->lower[k], along * e->upper[k]);
    out[1] += fmax(along * e->lower[k], along * e->upper[k]);
  }
}

static abut_status find_support(loads *l, size_t i)
{
  const scene_pair *p = &l->s->def.pairs[i];
  extent e[2];
  double high[2][2];
  l->of[i] = (support){-1, -1, HUGE_VAL};
  if (p->link[0] == WORLD || p->link[1] == WORLD) {
    return ABUT_SUCCESS;
  }
  for (int side = 0; side < 2; ++side) {
    TRY(extent_of(l->s, p, side, &e[side]));
    heights(l, p, side, &e[side], high[side]);
    if (body_of(l->s, p, side)->shape != SHAPE_PLANE) {
      l->of[i].size = fmin(l->of[i].size, diagonal_of(&e[side]));
    }
  }
  for (int side = 0; side < 2; ++side) { /* `side` rests on the other */
    const double overlap = high[!side][1] - high[side][0];
    if (overlap <= ABOVE * (high[!side][1] - high[!side][0]) && high[side][1] > high[!side][1] &&
        l->root[p->link[side]] != l->root[p->link[!side]]) {
      l->of[i].upper = l->root[p->link[side]];
      l->of[i].lower = l->root[p->link[!side]];
    }
  }
  return ABUT_SUCCESS;
}

/* Takes in what is joined with a tree by pairs other than one; whether any of it is held. */
static bool join(const loads *l, int root, size_t without)
{
  bool held = false;
  memset(l->seen, 0, l->s->def.link_count * sizeof *l->seen);
  l->seen[root] = true;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < l->s->def.pair_count; ++i) {
      const support *o = &l->of[i];
      if (i != without && o->upper >= 0 && l->seen[o->upper] != l->seen[o->lower]) {
        l->seen[o->upper] = l->seen[o->lower] = more = true;
      }
    }
  }
  for (size_t i = 0; i < l->s->def.link_count; ++i) {
    held = held || (l->seen[i] && l->held[i]);
  }
  return held;
}

/* The mass that a pair bears: all that rests on it alone, or what rests on others too by itself. */
static double borne(const loads *l, size_t i)
{
  const int upper = l->of[i].upper;
  double sum = 0.0;
  if (upper < 0 || l->held[upper]) {
    return 0.0;
  }
  if (join(l, upper, i)) {
    return l->mass[upper];
  }
  for (size_t k = 0; k < l->s->def.link_count; ++k) {
    sum += l->seen[k] ? l->mass[k] : 0.0;
  }
  return sum;
}

static void find_trees(loads *l)
{
  const scene_def *d = &l->s->def;
  for (size_t i = 0; i < d->link_count; ++i) {
    const int parent = d->links[i].parent;
    l->root[i] = parent == WORLD ? (int)i : l->root[parent];
    l->held[i] = parent == WORLD && d->links[i].joint.type != JOINT_FREE;
    l->mass[l->root[i]] += l->s->constants.masses[i].mass;
  }
}

static abut_status loads_make(loads *l, arena *memory)
{
  const size_t links = l->s->def.link_count, pairs = l->s->def.pair_count;
  void *at;
  TRY(arena_allocate(memory, &at, links, sizeof *l->places));
  l->places = at;
  TRY(arena_allocate(memory, &at, links, sizeof *l->root));
  l->root = at;
  TRY(arena_allocate(memory, &at, links, sizeof *l->mass));
  l->mass = at;
  TRY(arena_allocate(memory, &at, links, sizeof *l->held));
  l->held = at;
  TRY(arena_allocate(memory, &at, links, sizeof *l->seen));
  l->seen = at;
  TRY(arena_allocate(memory, &at, pairs, sizeof *l->of));
  l->of = at;
  memset(l->mass, 0, links * sizeof *l->mass);
  find_trees(l);
  TRY(scene_place_links(l->s, l->s->constants.q0, l->places[0]));
  for (size_t i = 0; i < pairs; ++i) {
    TRY(find_support(l, i));
  }
  return ABUT_SUCCESS;
}

abut_status scene_find_sinking(loaded_scene *s)
{
  const double *g = s->def.gravity;
  loads l = {.s = s, .g = hypot(hypot(g[0], g[1]), g[2])};
  arena memory = {0};
  abut_status status = ABUT_SUCCESS;
  if (!(l.g > 0.0) || !s->def.pair_count) {
    return ABUT_SUCCESS;
  }
  for (int k = 0; k < 3; ++k) {
    l.up[k] = -g[k] / l.g;
  }
  TRY_DONE(loads_make(&l, &memory));
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const double k = s->def.pairs[i].spring[0], force = l.g * borne(&l, i);
    const double share = force / k / l.of[i].size;
    s->sinking.pairs += share > SINKING_MOST;
    if (share > s->sinking.share) {
      s->sinking.share = share;
      s->sinking.depth = force / k;
      s->sinking.k = force / (SINKING_MOST * l.of[i].size);
      s->sinking.pair = i;
    }
  }
done:
  arena_free(&memory);
  return status;
}
