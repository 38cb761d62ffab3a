/* Penetration of springs at rest in a scene's initial state (docs/spring.md, "What a scene's
 * numbers mean"). Whether one body of a listed pair rests on the other is decided only by the
 * heights of their boxes; bodies of an automatic pair must also be above each other. A pair carries
 * the trees of links that would fall without it. */
#include "world/law/spring.h"

#include "world/extent.h"
#include "scene/place.h"
#include <math.h>
#include <string.h>

/* A resting body overlaps the height of the body below by at most this share. */
#define ABOVE 0.25
/* report penetrations above this share of the smaller body's diagonal */
#define SINKING_MOST 0.01

/* A pair in the initial state: which side rests on the other, if any. */
typedef struct support {
  int upper,
    lower;     /* the roots of both trees of links; upper is -1 if neither rests on the other */
  double size; /* the diagonal of the smaller body that is not a plane */
} support;

typedef struct loads {
  const loaded_scene *s;
  double up[3], across[2][3], g; /* across: two directions at right angles to `up` */
  double (*places)[PLACE];       /* (links) */
  int *root;                     /* (links) the root of the link's tree */
  double *mass;                  /* (links) at roots, the mass of the whole tree */
  bool *held;  /* (links) at roots: the tree is attached to the world and cannot fall */
  bool *seen;  /* (links) at roots: reached by `join` */
  support *of; /* (pairs) */
  size_t *resting, resting_count; /* (pairs) those with one body resting on the other */
} loads;

/* Finds the interval of a body's box along a direction. */
static void find_span(const loads *l, const scene_pair *p, int side, const extent *e,
                      const double along[3], double out[2])
{
  double place[PLACE], ball[3], axis[3];
  const scene_body *b = scene_side(&l->s->def, p, side);
  place_body(b, l->places[p->link[side]], place);
  out[0] = out[1] = place[0] * along[0] + place[1] * along[1] + place[2] * along[2];
  for (int k = 0; k < 3; ++k) {
    memset(axis, 0, sizeof axis);
    axis[k] = 1.0;
    place_turn(place, axis, ball);
    const double part = ball[0] * along[0] + ball[1] * along[1] + ball[2] * along[2];
    out[0] += fmin(part * e->lower[k], part * e->upper[k]);
    out[1] += fmax(part * e->lower[k], part * e->upper[k]);
  }
}

/* Whether the boxes of a pair are above each other. */
static bool are_above(const loads *l, const scene_pair *p, const extent e[2])
{
  bool above = true;
  for (int k = 0; k < 2; ++k) {
    double span[2][2];
    find_span(l, p, 0, &e[0], l->across[k], span[0]);
    find_span(l, p, 1, &e[1], l->across[k], span[1]);
    above = above && span[0][0] <= span[1][1] && span[1][0] <= span[0][1];
  }
  return above;
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
    find_span(l, p, side, &e[side], l->up, high[side]);
    if (!scene_body_is_ground(scene_side(&l->s->def, p, side))) {
      l->of[i].size = fmin(l->of[i].size, extent_diagonal(&e[side]));
    }
  }
  if (scene_pair_is_automatic(&l->s->def, i) && !are_above(l, p, e)) {
    return ABUT_SUCCESS;
  }
  for (int side = 0; side < 2; ++side) { /* Does `side` rest on the other side? */
    const double overlap = high[!side][1] - high[side][0];
    if (overlap <= ABOVE * (high[!side][1] - high[!side][0]) && high[side][1] > high[!side][1] &&
        l->root[p->link[side]] != l->root[p->link[!side]]) {
      l->of[i].upper = l->root[p->link[side]];
      l->of[i].lower = l->root[p->link[!side]];
    }
  }
  if (l->of[i].upper >= 0) {
    l->resting[l->resting_count++] = i;
  }
  return ABUT_SUCCESS;
}

/* Marks the trees that are connected with a tree, directly or through others, by resting pairs
 * other than `without`. Returns whether any of them is attached to the world. */
static bool join(const loads *l, int root, size_t without)
{
  bool held = false;
  memset(l->seen, 0, l->s->def.link_count * sizeof *l->seen);
  l->seen[root] = true;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < l->resting_count; ++i) {
      const support *o = &l->of[l->resting[i]];
      if (l->resting[i] != without && l->seen[o->upper] != l->seen[o->lower]) {
        l->seen[o->upper] = l->seen[o->lower] = more = true;
      }
    }
  }
  for (size_t i = 0; i < l->s->def.link_count; ++i) {
    held = held || (l->seen[i] && l->held[i]);
  }
  return held;
}

/* Returns the mass that a pair carries. If everything connected with the upper tree rests only on
 * this pair, it is the total mass of these trees. If other pairs carry part of it, the shares are
 * unknown, and it is the mass of the upper tree. */
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
    l->held[i] = parent == WORLD && !JOINT_IS_OF_WORLD(d->links[i].joint.type);
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
  TRY(arena_allocate(memory, &at, pairs, sizeof *l->resting));
  l->resting = at;
  memset(l->mass, 0, links * sizeof *l->mass);
  find_trees(l);
  TRY(scene_place_links(l->s, l->s->constants.q0, l->places[0]));
  for (size_t i = 0; i < pairs; ++i) {
    TRY(find_support(l, i));
  }
  return ABUT_SUCCESS;
}

static void find_across(loads *l)
{
  const double *u = l->up;
  const int k = fabs(u[0]) < 0.6 ? 0 : 1; /* an axis far from `up` */
  double length = 0.0;
  for (int i = 0; i < 3; ++i) {
    l->across[0][i] = (i == k) - u[k] * u[i];
    length += l->across[0][i] * l->across[0][i];
  }
  for (int i = 0; i < 3; ++i) {
    l->across[0][i] /= sqrt(length);
  }
  for (int i = 0; i < 3; ++i) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    l->across[1][i] = u[a] * l->across[0][b] - u[b] * l->across[0][a];
  }
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
  find_across(&l);
  TRY_DONE(loads_make(&l, &memory));
  for (size_t n = 0; n < l.resting_count; ++n) {
    const size_t i = l.resting[n];
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
