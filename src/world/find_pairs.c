/* Finds the pairs of a scene's bodies that may touch at given positions, and their contacts there,
 * by the broad phase of a step. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "engine/self_test/runner.h"
#include "world/broad.h"
#include "world/law/law.h"
#include "scene/place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The world pairs of a chunk: rows of WORLD_PAIR_INTS ints, as kernels write them. */
struct chunk_pairs {
  chunk_pairs *next;
  size_t first, count; /* its first world; the number of world pairs */
  bool all;            /* every candidate of `worlds` worlds is kept; no ints are stored */
  size_t worlds;
  int ints[];
};

typedef struct pairs_call {
  steps_call steps;
  abut_worlds worlds;
  double rates[MEMBERS]; /* throughput of these calls, apart from that of steps */
  chunk_pairs *parts;
} pairs_call;

/* ---- on a device ---- */

static abut_status test(const batch_call *b, size_t place)
{
  return test_member(b->context, place, MODULE_WORLD, PROGRAM_PLAIN, false, SELF_TEST_MAIN);
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const stepping s = stepping_of(on, slot, c);
  if (!s.tables->broad) {
    return ABUT_SUCCESS;
  }
  TRY(place_worlds(&s, IN_Q, IN_V));
  return find_world_pairs(&s, false);
}

static abut_status collect(batch_on *on, size_t slot, chunk c)
{
  const stepping s = stepping_of(on, slot, c);
  steps_on *at = on->user;
  const bool all = !s.tables->broad;
  const size_t count = all ? 0 : slot_pairs_of(&s)->count,
               bytes = count * WORLD_PAIR_INTS * sizeof(int);
  void *memory = NULL;
  TRY(allocate(&memory, sizeof(chunk_pairs) + bytes, 1));
  chunk_pairs *part = memory;
  *part = (chunk_pairs){.first = c.first, .count = count, .all = all, .worlds = c.count};
  const abut_status status =
    count ? buffer_read(world_buffer_of(&s, WORLD_PAIRS), 0, bytes, part->ints) : ABUT_SUCCESS;
  if (status != ABUT_SUCCESS) {
    free(part);
    return status;
  }
  free(at->found[slot]); /* of a chunk that failed later and is computed again */
  at->found[slot] = part;
  return ABUT_SUCCESS;
}

static void add(batch_on *on, chunk c)
{
  pairs_call *call = (pairs_call *)on->call;
  steps_on *at = on->user;
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    chunk_pairs *found = at->found[slot];
    if (found && found->first == c.first && found->worlds == c.count) {
      found->next = call->parts;
      call->parts = found;
      at->found[slot] = NULL;
    }
  }
}

static const operation pairs_operation = {.module = MODULE_WORLD,
                                          .test = test,
                                          .place = worlds_place,
                                          .enter = worlds_enter,
                                          .launch = launch,
                                          .collect = collect,
                                          .add = add,
                                          .leave = worlds_leave};

static abut_status run_pairs(pairs_call *c, loaded_scene *s, const void *q, size_t count)
{
  world_type own = world_type_of(s);
  c->worlds = abut_default_worlds();
  c->steps = (steps_call){.base = {.operation = &pairs_operation,
                                   .context = s->context,
                                   .count = count,
                                   .rates = c->rates},
                          .scene = s,
                          .worlds = &c->worlds,
                          .types = &own,
                          .type_count = 1};
  add_reals(&c->steps, "q", IN_Q, (size_t)s->constants.nq, q, NULL);
  add_reals(&c->steps, "v", IN_V, (size_t)s->constants.nv, NULL, NULL);
  add_reals(&c->steps, "u", WORLD_U, scene_control_count(&s->def), NULL, NULL);
  return batch_run(&c->steps.base);
}

/* ---- all world pairs ---- */

typedef struct world_pair {
  uint32_t world, candidate;
} world_pair;

static int compare_pairs(const void *a_, const void *b_)
{
  const world_pair *a = a_, *b = b_;
  return a->world != b->world ? (a->world > b->world) - (a->world < b->world)
                              : (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

/* A pair with a tiled body has several groups. */
static size_t fill_part(const loaded_scene *s, const chunk_pairs *p, world_pair *to)
{
  const size_t candidates = s->def.pair_count;
  for (size_t i = 0; i < p->count; ++i) {
    const int *of = p->ints + WORLD_PAIR_INTS * i;
    to[i] = (world_pair){(uint32_t)(p->first + (size_t)of[WORLD_PAIR_WORLD]),
                         (uint32_t)s->groups[of[WORLD_PAIR_GROUP]].pair};
  }
  for (size_t i = 0; p->all && i < p->worlds * candidates; ++i) {
    to[i] = (world_pair){(uint32_t)(p->first + i / candidates), (uint32_t)(i % candidates)};
  }
  return p->all ? p->worlds * candidates : p->count;
}

/* Sorts world pairs and removes duplicates. Returns how many remain. */
static size_t sort_pairs(world_pair *all, size_t count)
{
  size_t left = 0;
  if (count) {
    qsort(all, count, sizeof *all, compare_pairs);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!i || compare_pairs(&all[i], &all[left - 1])) {
      all[left++] = all[i];
    }
  }
  return left;
}

/* Fills *out, which the caller frees, also after a failure. */
static abut_status copy_pairs(const loaded_scene *s, const chunk_pairs *parts, abut_items *out)
{
  const size_t candidates = s->def.pair_count;
  void *memory = NULL;
  size_t room = 0;
  for (const chunk_pairs *p = parts; p; p = p->next) {
    const size_t own = !p->all ? p->count
                       : candidates > SIZE_MAX / sizeof(world_pair) / p->worlds
                         ? SIZE_MAX
                         : candidates * p->worlds;
    room = own > SIZE_MAX - room ? SIZE_MAX : room + own;
  }
  TRY(allocate(&memory, room, sizeof(world_pair)));
  world_pair *all = memory;
  abut_status status = ABUT_SUCCESS;
  for (const chunk_pairs *p = parts; p; p = p->next) {
    out->count += fill_part(s, p, all + out->count);
  }
  out->count = sort_pairs(all, out->count);
  TRY_DONE(allocate(&memory, out->count, 3 * sizeof *out->items));
  out->items = memory;
  TRY_DONE(allocate(&memory, out->count, sizeof *out->candidates));
  out->candidates = memory;
  for (size_t i = 0; i < out->count; ++i) {
    const scene_pair *p = &s->def.pairs[all[i].candidate];
    out->items[3 * i] = all[i].world;
    out->items[3 * i + 1] = (uint32_t)scene_pair_body(&s->def, p, 0);
    out->items[3 * i + 2] = (uint32_t)scene_pair_body(&s->def, p, 1);
    out->candidates[i] = all[i].candidate;
  }
done:
  free(all);
  return status;
}

static void free_chunk_pairs(chunk_pairs *p)
{
  while (p) {
    chunk_pairs *next = p->next;
    free(p);
    p = next;
  }
}

/* Reads the positions of a world; refuses invalid ones. */
static abut_status read_world(const loaded_scene *s, const reals *q, size_t world, double *to)
{
  const size_t nq = (size_t)s->constants.nq;
  for (size_t k = 0; k < nq; ++k) {
    to[k] = reals_get(q, world * nq + k);
  }
  const abut_status status = scene_check_positions(s, to);
  if (status != ABUT_SUCCESS) {
    char cause[ERROR_TEXT_BYTES];
    keep_error_text(cause);
    return fail(status, "world %zu: %s", world, cause);
  }
  return ABUT_SUCCESS;
}

static abut_status check(const loaded_scene *s, const void *q, size_t count)
{
  if (count && s->constants.nq && !q) {
    return fail(ABUT_ERROR_ARGUMENT, "candidate pairs need positions");
  }
  if (s->given) {
    return fail(ABUT_ERROR_ARGUMENT, "the scene has pairs without bodies");
  }
  return count <= UINT32_MAX
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "%zu worlds are too many: at most 2^32 - 1 are possible",
                  count);
}

static abut_status check_worlds(const loaded_scene *s, const void *q_, size_t count)
{
  const reals q = {(void *)(uintptr_t)q_, 0, context_real_bytes(s->context)};
  void *row = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&row, (size_t)s->constants.nq, sizeof(double)));
  for (size_t i = 0; status == ABUT_SUCCESS && i < count; ++i) {
    status = read_world(s, &q, i, row);
  }
  free(row);
  return status;
}

/* all: return every candidate. */
static abut_status find(loaded_scene *s, const void *q, size_t count, bool all, abut_items *out)
{
  abut_status status = ABUT_SUCCESS;
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "candidate pairs: the output pointer is NULL");
  }
  *out = (abut_items){0};
  TRY(check(s, q, count));
  TRY(check_worlds(s, q, count));
  chunk_pairs whole = {.all = true, .worlds = count};
  pairs_call c = {.parts = NULL};
  const bool broad = broad_may_leave_out(s) && !all;
  TRY_DONE(broad && count ? run_pairs(&c, s, q, count) : ABUT_SUCCESS);
  status = copy_pairs(s, broad || !count ? c.parts : &whole, out);
done:
  free_chunk_pairs(c.parts);
  if (status != ABUT_SUCCESS) {
    abut_free_items(out);
  }
  return status;
}

void abut_free_items(abut_items *items)
{
  if (items) {
    free(items->items);
    free(items->candidates);
    *items = (abut_items){0};
  }
}

abut_status abut_find_items(abut_scene handle_, const void *q, size_t count, abut_items *items)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  return s ? find(s, q, count, false, items) : ABUT_ERROR_HANDLE;
}

/* ---- contacts ---- */

/* A batch of contacts whose elements are world pairs. Pairs of one type have equal bodies and
 * smoothings, so the first represents all. */
typedef struct contact_batch {
  abut_batch batch;
  abut_pair *pairs; /* (type_count) */
  size_t type_count;
  uint32_t *types;            /* (candidates) */
  uint32_t *of;               /* (world pairs) */
  reals poses[2];             /* (world pairs, PLACE) */
  double *q, (*links)[PLACE]; /* of one world */
  arena memory;
} contact_batch;

static abut_status allocate_batch(contact_batch *b, const loaded_scene *s, size_t items)
{
  void *at;
  TRY(arena_allocate(&b->memory, &at, s->pair_type_count, sizeof *b->pairs));
  b->pairs = at;
  TRY(arena_allocate(&b->memory, &at, s->def.pair_count, sizeof *b->types));
  b->types = at;
  TRY(arena_allocate(&b->memory, &at, items, sizeof *b->of));
  b->of = at;
  TRY(arena_allocate(&b->memory, &at, (size_t)s->constants.nq, sizeof *b->q));
  b->q = at;
  TRY(arena_allocate(&b->memory, &at, s->def.link_count, sizeof *b->links));
  b->links = at;
  for (int side = 0; side < 2; ++side) {
    b->poses[side] = (reals){.size = context_real_bytes(s->context)};
    TRY(arena_allocate(&b->memory, &b->poses[side].data, items, PLACE * b->poses[side].size));
  }
  return ABUT_SUCCESS;
}

/* Groups after those of all pairs are tiles. */
size_t scene_number_types(const loaded_scene *s, abut_pair *pairs, uint32_t *types)
{
  size_t count = 0;
  for (size_t type = 0; type < s->pair_type_count; ++type) {
    const pair_type *k = &s->pair_types[type];
    bool any = false;
    for (size_t i = k->first; i < k->first + k->count; ++i) {
      const size_t group = (size_t)s->pair_order[i];
      if (group < s->def.pair_count) {
        pairs[count] = any ? pairs[count] : s->pairs[group];
        types[group] = (uint32_t)count;
        any = true;
      }
    }
    count += any;
  }
  return count;
}

static abut_status place_pairs(contact_batch *b, const loaded_scene *s, const void *q_,
                               const abut_items *items)
{
  const reals q = {(void *)(uintptr_t)q_, 0, context_real_bytes(s->context)};
  for (size_t i = 0; i < items->count; ++i) {
    const uint32_t world = items->items[3 * i];
    if (!i || world != items->items[3 * (i - 1)]) {
      TRY(read_world(s, &q, world, b->q));
      TRY(scene_place_links(s, b->q, b->links[0]));
    }
    const scene_pair *p = &s->def.pairs[items->candidates[i]];
    for (int side = 0; side < 2; ++side) {
      double place[PLACE];
      place_body(scene_side(&s->def, p, side), b->links[p->link[side]], place);
      for (size_t k = 0; k < PLACE; ++k) {
        reals_set(&b->poses[side], PLACE * i + k, place[k]);
      }
    }
    b->of[i] = b->types[items->candidates[i]];
  }
  return ABUT_SUCCESS;
}

/* by: (types) pairs that replace the scene's; NULL: the scene's own. */
static abut_status list_contacts(const loaded_scene *s, const abut_pair *by, const void *q,
                                 const abut_items *items, abut_compact *list)
{
  contact_batch b = {.batch = abut_default_batch()};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate_batch(&b, s, items->count));
  b.type_count = scene_number_types(s, b.pairs, b.types);
  TRY_DONE(place_pairs(&b, s, q, items));
  b.batch.count = items->count;
  b.batch.poses = ABUT_POSE_QUATERNION;
  b.batch.pose1 = b.poses[0].data;
  b.batch.pose2 = b.poses[1].data;
  b.batch.pairs = by ? by : b.pairs;
  b.batch.pair_count = b.type_count;
  b.batch.pair = b.of;
  b.batch.compact = list;
  status = abut_contacts(ABUT_BATCH_PAIRS, &b.batch);
done:
  arena_free(&b.memory);
  return status;
}

static abut_status find_by(loaded_scene *s, const abut_pair *by, const void *q, size_t count,
                           abut_items *items, abut_compact *list)
{
  if (!list || !list->grows || isnan(list->threshold)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "contacts of worlds need a list that grows and has a threshold");
  }
  if (!s->def.law->drawable) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "the contacts of the scene are springs between whole bodies, which have no list of contacts");
  }
  TRY(find(s, q, count, by || list->threshold <= 0.0, items));
  if (!items->count) {
    abut_free_compact(list);
    list->count = 0;
    return ABUT_SUCCESS;
  }
  const abut_status status = list_contacts(s, by, q, items, list);
  if (status != ABUT_SUCCESS) {
    abut_free_items(items);
  }
  return status;
}

abut_status abut_find_contacts(abut_scene handle_, const void *q, size_t count, abut_items *items,
                               abut_compact *list)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  return s ? find_by(s, NULL, q, count, items, list) : ABUT_ERROR_HANDLE;
}

/* ---- by other pairs ---- */

typedef struct numbered_types {
  abut_pair *pairs; /* (count), of the scene */
  uint32_t *types;  /* (candidates) */
  size_t count;
} numbered_types;

/* The caller frees both arrays, also after an error. */
static abut_status list_types(const loaded_scene *s, numbered_types *n)
{
  void *memory = NULL;
  if (s->given || !s->def.law->drawable) {
    return fail(ABUT_ERROR_ARGUMENT, "a scene whose contacts are %s has no kinds of pairs",
                s->given ? "given" : "springs");
  }
  TRY(allocate(&memory, s->pair_type_count, sizeof *n->pairs));
  n->pairs = memory;
  TRY(allocate(&memory, s->def.pair_count, sizeof *n->types));
  n->types = memory;
  n->count = scene_number_types(s, n->pairs, n->types);
  return ABUT_SUCCESS;
}

abut_status abut_get_kinds(abut_scene handle_, uint32_t *kinds, abut_pair *pairs, size_t *count)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  numbered_types n = {0};
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!count) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_kinds: the pointer to the count is NULL");
  }
  const abut_status status = list_types(s, &n);
  *count = status == ABUT_SUCCESS ? n.count : 0;
  if (status == ABUT_SUCCESS && kinds && s->def.pair_count) {
    memcpy(kinds, n.types, s->def.pair_count * sizeof *kinds);
  }
  if (status == ABUT_SUCCESS && pairs && n.count) {
    memcpy(pairs, n.pairs, n.count * sizeof *pairs);
  }
  free(n.types);
  free(n.pairs);
  return status;
}

static bool same_handle(abut_pair a, abut_pair b)
{
  return a.index == b.index && a.generation == b.generation;
}

/* *others: whether some pair is not the scene's own. */
static abut_status check_pairs(const numbered_types *n, const abut_pair *by, size_t count,
                               bool *others)
{
  if (!by || count != n->count) {
    return fail(ABUT_ERROR_ARGUMENT, "there are %zu pairs, but %zu kinds of candidates",
                by ? count : 0, n->count);
  }
  for (size_t i = 0; i < count; ++i) {
    const pair *own = pair_get(n->pairs[i]), *given = pair_get(by[i]);
    if (!own || !given) {
      return ABUT_ERROR_HANDLE;
    }
    for (int side = 0; side < 2; ++side) {
      if (!same_body(own->bodies[side], given->bodies[side])) {
        return fail(ABUT_ERROR_ARGUMENT,
                    "the bodies of pair %zu are not those of its kind of candidates", i);
      }
    }
    *others = *others || !same_handle(n->pairs[i], by[i]);
  }
  return ABUT_SUCCESS;
}

abut_status abut_find_contacts_by(abut_scene handle_, const abut_pair *pairs, size_t pair_count,
                                  const void *q, size_t count, abut_items *items,
                                  abut_compact *list)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  numbered_types n = {0};
  bool others = false;
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  abut_status status = list_types(s, &n);
  status = status == ABUT_SUCCESS ? check_pairs(&n, pairs, pair_count, &others) : status;
  free(n.types);
  free(n.pairs);
  return status == ABUT_SUCCESS ? find_by(s, others ? pairs : NULL, q, count, items, list) : status;
}
