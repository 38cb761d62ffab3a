#include "world/candidates.h"

#include "base/error.h"
#include "geometry/spring.h"
#include "world/law/law.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- links ---- */

/* Links that cannot move against each other: a body in MuJoCo's terms. Links without bodies and
 * mass that only carry these links by further joints are included. `name` is the first of these
 * links, or WORLD. */
typedef struct unit {
  int name, parent; /* parent: the unit against which the joint of the first link moves it */
  bool free;        /* some degree of freedom moves it */
} unit;

static bool is_bare(const scene_link *l)
{
  bool bare = !l->body_count && l->mass == 0.0;
  for (int i = 0; i < 9; ++i) {
    bare = bare && l->inertia[i] == 0.0;
  }
  return bare;
}

/* Whether a link has nothing but the joint of its only child: a link of several joints is a chain
 * of such links. */
static bool only_carries(const scene_def *s, size_t link, const int *children)
{
  const scene_link *l = &s->links[link];
  return joint_dofs(l->joint.type) && children[link] == 1 && is_bare(l);
}

static void find_units(const scene_def *s, const int *children, unit *out)
{
  static const unit still = {WORLD, WORLD, false};
  for (size_t i = 0; i < s->link_count; ++i) {
    const int above = s->links[i].parent;
    const unit *parent = above == WORLD ? &still : &out[above];
    const bool moves = joint_moves(s->links[i].joint.type);
    const bool carried = above != WORLD && only_carries(s, (size_t)above, children);
    out[i] = moves && !carried ? (unit){(int)i, parent->name, parent->free} : *parent;
    out[i].free = out[i].free || joint_dofs(s->links[i].joint.type);
  }
}

static bool are_joined(const unit *a, const unit *b)
{
  return (b->name != WORLD && a->parent == b->name) || (a->name != WORLD && b->parent == a->name);
}

/* ---- bodies ---- */

typedef struct search {
  scene_def *s;
  const size_t *first;
  size_t body_count;
  int *link;          /* (body_count) */
  unit *units;        /* (links) */
  uint64_t *listed;   /* (listed_some) pairs of body numbers, sorted, as keys */
  uint64_t *excluded; /* (excluded_count) pairs of links */
  size_t listed_some;
  int *shape;    /* (body_count) number of the shape and margin of a body that may collide; -1 for
                    others */
  size_t *alike; /* (shapes, shapes) the first pair of each two shapes, SIZE_MAX: none */
  size_t shape_count;
  arena memory;
} search;

static uint64_t key_of(size_t a, size_t b)
{
  return (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
}

static int compare_keys(const void *a_, const void *b_)
{
  const uint64_t a = *(const uint64_t *)a_, b = *(const uint64_t *)b_;
  return (a > b) - (a < b);
}

static bool has_key(const uint64_t *keys, size_t count, uint64_t key)
{
  return count && bsearch(&key, keys, count, sizeof key, compare_keys);
}

static const scene_body *body_at(const search *f, size_t i)
{
  const scene_link *l = &f->s->links[f->link[i]];
  return &l->bodies[i - l->first_body];
}

/* Whether two bodies of `automatic` collide, by the rules of docs/scene-contacts.md in the same
 * order. */
static bool may_collide(const search *f, size_t i, size_t k)
{
  const scene_body *a = body_at(f, i), *b = body_at(f, k);
  const unit *one = &f->units[f->link[i]], *other = &f->units[f->link[k]];
  if (!((a->contact.contype & b->contact.conaffinity) |
        (b->contact.contype & a->contact.conaffinity)) ||
      one->name == other->name || (!one->free && !other->free) ||
      (a->shape == SHAPE_PLANE && b->shape == SHAPE_PLANE) ||
      (!f->s->parents && are_joined(one, other))) {
    return false;
  }
  return !has_key(f->excluded, f->s->excluded_count,
                  key_of((size_t)f->link[i], (size_t)f->link[k])) &&
         !has_key(f->listed, f->listed_some, key_of(i, k));
}

/* ---- pairs ---- */

void body_contact_mix(const body_contact *a, const body_contact *b, body_contact *out)
{
  const bool direct = !(a->soft.solref[0] > 0.0 && b->soft.solref[0] > 0.0);
  *out = (body_contact){.friction = fmax(a->friction, b->friction),
                        .margin = fmax(a->margin, b->margin),
                        .condim = a->condim > b->condim ? a->condim : b->condim};
  for (int i = 0; i < 2; ++i) {
    const double x = a->soft.solref[i], y = b->soft.solref[i];
    out->soft.solref[i] = direct ? fmin(x, y) : 0.5 * x + 0.5 * y;
  }
  for (int i = 0; i < 5; ++i) {
    out->soft.solimp[i] = 0.5 * a->soft.solimp[i] + 0.5 * b->soft.solimp[i];
  }
}

/* Writes pair `at` of bodies i < k. Its columns are body numbers until all pairs are found. */
static void put_pair(const search *f, size_t i, size_t k, size_t at)
{
  const bool turned = f->first[k] < f->first[i];
  const size_t bodies[2] = {turned ? k : i, turned ? i : k};
  size_t *alike =
    &f->alike[(size_t)f->shape[bodies[0]] * f->shape_count + (size_t)f->shape[bodies[1]]];
  scene_pair *p = &f->s->pairs[at];
  body_contact mixed;
  body_contact_mix(&body_at(f, i)->contact, &body_at(f, k)->contact, &mixed);
  *alike = *alike == SIZE_MAX ? at : *alike;
  *p = f->s->usual;
  for (int side = 0; side < 2; ++side) {
    p->link[side] = f->link[bodies[side]];
    p->body[side] = (int)(bodies[side] - f->s->links[p->link[side]].first_body);
    p->column[side] = (int)bodies[side];
  }
  p->alike = *alike;
  p->friction = p->spring[SPRING_MU] = mixed.friction;
  p->margin = mixed.margin;
  p->soft = mixed.soft;
  p->condim = mixed.condim;
}

/* Assigns columns to the bodies of automatic pairs, in the order of their numbers. */
static abut_status number_columns(search *f)
{
  scene_def *s = f->s;
  void *memory;
  TRY(arena_allocate(&f->memory, &memory, f->body_count, sizeof(int)));
  int *column = memory;
  TRY(arena_allocate(&s->memory, &memory, f->body_count, sizeof *s->column_bodies));
  s->column_bodies = memory;
  for (size_t i = s->listed_count; i < s->pair_count; ++i) {
    column[s->pairs[i].column[0]] = column[s->pairs[i].column[1]] = 1;
  }
  s->column_count = s->listed_count;
  for (size_t i = 0; i < f->body_count; ++i) {
    if (column[i]) {
      s->column_bodies[s->column_count - s->listed_count] = (int)i;
      column[i] = (int)s->column_count++;
    }
  }
  for (size_t i = s->listed_count; i < s->pair_count; ++i) {
    for (int side = 0; side < 2; ++side) {
      s->pairs[i].column[side] = column[s->pairs[i].column[side]];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status put_pairs(search *f)
{
  scene_def *s = f->s;
  void *memory;
  size_t count = s->listed_count;
  for (size_t i = 0; i < f->body_count; ++i) {
    for (size_t k = i + 1; k < f->body_count; ++k) {
      count += may_collide(f, i, k);
    }
  }
  TRY(arena_allocate(&s->memory, &memory, count, sizeof *s->pairs));
  if (s->listed_count) {
    memcpy(memory, s->pairs, s->listed_count * sizeof *s->pairs);
  }
  s->pairs = memory;
  s->pair_count = s->listed_count;
  for (size_t i = 0; i < f->body_count; ++i) {
    for (size_t k = i + 1; k < f->body_count; ++k) {
      if (may_collide(f, i, k)) {
        put_pair(f, i, k, s->pair_count++);
      }
    }
  }
  return number_columns(f);
}

/* ---- all of it ---- */

static abut_status make_links(search *f)
{
  const scene_def *s = f->s;
  void *memory;
  TRY(arena_allocate(&f->memory, &memory, s->link_count, sizeof(int)));
  int *children = memory;
  TRY(arena_allocate(&f->memory, &memory, s->link_count, sizeof *f->units));
  f->units = memory;
  TRY(arena_allocate(&f->memory, &memory, f->body_count, sizeof *f->link));
  f->link = memory;
  for (size_t i = 0; i < s->link_count; ++i) {
    if (s->links[i].parent != WORLD) {
      ++children[s->links[i].parent];
    }
    for (size_t k = 0; k < s->links[i].body_count; ++k) {
      f->link[s->links[i].first_body + k] = (int)i;
    }
  }
  find_units(s, children, f->units);
  return ABUT_SUCCESS;
}

static abut_status make_keys(search *f)
{
  const scene_def *s = f->s;
  void *memory;
  TRY(arena_allocate(&f->memory, &memory, s->listed_count, sizeof *f->listed));
  f->listed = memory;
  TRY(arena_allocate(&f->memory, &memory, s->excluded_count, sizeof *f->excluded));
  f->excluded = memory;
  for (size_t i = 0; i < s->listed_count; ++i) {
    const scene_pair *p = &s->pairs[i];
    if (p->link[0] != WORLD) {
      f->listed[f->listed_some++] = key_of(scene_pair_body(s, p, 0), scene_pair_body(s, p, 1));
    }
  }
  for (size_t i = 0; i < s->excluded_count; ++i) {
    f->excluded[i] = key_of((size_t)s->excluded[i][0], (size_t)s->excluded[i][1]);
  }
  if (f->listed_some) {
    qsort(f->listed, f->listed_some, sizeof *f->listed, compare_keys);
  }
  if (s->excluded_count) {
    qsort(f->excluded, s->excluded_count, sizeof *f->excluded, compare_keys);
  }
  return ABUT_SUCCESS;
}

static double margin_of(const search *f, size_t i)
{
  return f->s->law->margins ? body_at(f, i)->contact.margin : 0.0;
}

/* Returns a number that is equal for bodies of equal shape and margin. The smoothing of a pair
 * depends only on these two numbers. */
static int shape_number(search *f, size_t i, int *latest, int *before)
{
  const double margin = margin_of(f, i);
  for (int at = *latest; at; at = before[at - 1]) {
    if (margin_of(f, (size_t)at - 1) == margin) {
      return f->shape[at - 1];
    }
  }
  before[i] = *latest;
  *latest = (int)i + 1;
  return (int)f->shape_count++;
}

static abut_status make_shapes(search *f)
{
  void *memory;
  TRY(arena_allocate(&f->memory, &memory, f->body_count, sizeof *f->shape));
  f->shape = memory;
  TRY(arena_allocate(&f->memory, &memory, f->body_count, sizeof(int)));
  int *latest = memory; /* per shape (its first body): 1 + the last body numbered; 0: none yet */
  TRY(arena_allocate(&f->memory, &memory, f->body_count, sizeof(int)));
  int *before = memory; /* 1 + the previously numbered body of the same shape */
  for (size_t i = 0; i < f->body_count; ++i) {
    const body_contact *c = &body_at(f, i)->contact;
    f->shape[i] = c->contype || c->conaffinity ? shape_number(f, i, &latest[f->first[i]], before)
                                               : -1;
  }
  const size_t square = f->shape_count * f->shape_count;
  TRY(arena_allocate(&f->memory, &memory, square, sizeof *f->alike));
  f->alike = memory;
  for (size_t i = 0; i < square; ++i) {
    f->alike[i] = SIZE_MAX;
  }
  return ABUT_SUCCESS;
}

abut_status scene_find_candidates(scene_def *s, const size_t *first)
{
  search f = {.s = s, .first = first, .body_count = scene_body_number(s, s->link_count)};
  abut_status status = ABUT_SUCCESS;
  if (!s->automatic || !f.body_count) {
    return ABUT_SUCCESS;
  }
  TRY_DONE(make_links(&f));
  TRY_DONE(make_keys(&f));
  TRY_DONE(make_shapes(&f));
  status = put_pairs(&f);
done:
  arena_free(&f.memory);
  return status;
}
