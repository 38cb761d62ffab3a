/* Forces of single contacts, and their sums on links: one step from a state, whose multipliers are
 * assigned to contacts. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/reals.h"
#include "contact/pair.h"
#include "world/law/law.h"

#include <math.h>
#include <stdlib.h>

/* While a step is made, each contact slot of a world's candidates has a row of three numbers. */
#define SLOTS_MOST ((size_t)1 << 24)
#define ROWS_BYTES ((size_t)64 << 20) /* for several worlds together */

typedef struct forces_call {
  loaded_scene *scene;
  const void *q, *v, *u;
  size_t count, size; /* worlds; bytes of a real */
  size_t slots;       /* per world; 0: too many */
  size_t *first;      /* (candidates) the first slot of each */
  const abut_items *items;
  const abut_compact *list;
  reals forces;     /* (list->count, 3) */
  reals pushes;     /* (count, links, 3); NULL: not wanted */
  uint32_t *status; /* (count) */
} forces_call;

static abut_status check(const loaded_scene *s, const abut_items *items, const abut_compact *list,
                         const void *q, size_t count, const void *forces)
{
  if (!items != !list || (list && list->count && (!forces || !list->pose || !list->slot))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "forces of contacts: the contacts or the output array is NULL");
  }
  if (count && s->constants.nq && !q) {
    return fail(ABUT_ERROR_ARGUMENT, "forces of contacts need positions");
  }
  if (s->given || (list && !s->def.law->drawable)) {
    return fail(ABUT_ERROR_ARGUMENT, "a call with %s has no list of contacts",
                s->given ? "given contacts" : "springs");
  }
  for (size_t i = 0; list && i < list->count; ++i) {
    const size_t item = list->pose[i];
    if (item >= items->count || items->items[3 * item] >= count ||
        items->candidates[item] >= s->def.pair_count) {
      return fail(ABUT_ERROR_ARGUMENT, "contact %zu belongs to no pair of these worlds", i);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status count_slots(forces_call *c)
{
  const loaded_scene *s = c->scene;
  void *memory = NULL;
  TRY(allocate(&memory, s->def.pair_count, sizeof *c->first));
  c->first = memory;
  c->slots =
    slots_before(&(world_type){.groups = s->groups, .group_count = s->group_count}, s->group_count);
  c->slots = c->slots > SLOTS_MOST ? 0 : c->slots;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    c->first[i] = s->groups[i].slot;
  }
  return ABUT_SUCCESS;
}

/* Returns the part of an array from a row on; NULL stays NULL. */
static const void *row_of(const void *all, size_t row, size_t width, size_t size)
{
  return all ? (const char *)all + row * width * size : NULL;
}

/* Returns the width of the data from which a world's contact forces on links are computed. The data
 * are the forces on each link, or J' lambda for laws that do not compute these forces. For a free
 * joint, J' lambda is the force on its link and all links below. */
static size_t pushes_width(const loaded_scene *s)
{
  return s->def.law->pushes ? 6 * s->def.link_count : (size_t)s->constants.nv;
}

static abut_status step_rows(const forces_call *c, size_t first, size_t count, void *multipliers,
                             void *pushes)
{
  const loaded_scene *s = c->scene;
  const size_t nq = (size_t)s->constants.nq, nv = (size_t)s->constants.nv;
  reals v = {.size = c->size};
  abut_worlds w = abut_default_worlds();
  if (!c->v) {
    TRY(reals_create(&v, count * nv, c->size));
  }
  w.count = count;
  w.q = row_of(c->q, first, nq, c->size);
  w.v = c->v ? row_of(c->v, first, nv, c->size) : v.data;
  w.u = row_of(c->u, first, scene_control_count(&s->def), c->size);
  w.multipliers = multipliers;
  w.link_forces = s->def.law->pushes ? pushes : NULL;
  w.constraint = s->def.law->pushes ? NULL : pushes;
  w.status = c->status + first;
  const abut_status status = step_worlds(c->scene, &w, true);
  free(v.data);
  return status;
}

static bool has_row(const loaded_scene *s, size_t candidate, size_t slot)
{
  const pair *p = pair_get(s->pairs[s->def.pairs[candidate].alike]);
  return p && slot < p->layout.contacts;
}

static void copy_forces(forces_call *c, size_t first, size_t count, const reals *rows)
{
  for (size_t i = 0; c->list && i < c->list->count; ++i) {
    const size_t item = c->list->pose[i], world = c->items->items[3 * item],
                 candidate = c->items->candidates[item];
    if (world < first || world >= first + count) {
      continue;
    }
    const bool known = rows->data && !(c->status[world] & ABUT_WORLD_STOPS) &&
                       has_row(c->scene, candidate, c->list->slot[i]);
    const size_t from = 3 * ((world - first) * c->slots + c->first[candidate] + c->list->slot[i]);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&c->forces, 3 * i + k, known ? reals_get(rows, from + k) : (double)NAN);
    }
  }
}

/* Component k of the contact force on a link itself. */
static double push_of(const loaded_scene *s, const reals *rows, size_t row, size_t link, size_t k)
{
  const size_t at = row * pushes_width(s);
  if (s->def.law->pushes) {
    return reals_get(rows, at + 6 * link + k);
  }
  return JOINT_IS_OF_WORLD(s->def.links[link].joint.type)
           ? reals_get(rows, at + (size_t)s->constants.vadr[link] + k)
           : (double)NAN;
}

/* Adds each link's forces to its parent's, from the last link on, since parents come before
 * children. */
static void add_pushes_up(const scene_def *s, reals *pushes, size_t world)
{
  const size_t first = 3 * s->link_count * world;
  for (size_t link = s->link_count; link-- > 0;) {
    const int parent = s->links[link].parent;
    for (size_t k = 0; k < 3 && parent != WORLD; ++k) {
      const size_t to = first + 3 * (size_t)parent + k;
      reals_set(pushes, to, reals_get(pushes, to) + reals_get(pushes, first + 3 * link + k));
    }
  }
}

static void copy_pushes(forces_call *c, size_t first, size_t count, const reals *rows)
{
  const loaded_scene *s = c->scene;
  const size_t numbers = 3 * s->def.link_count;
  for (size_t row = 0; row < count; ++row) {
    const bool known = !(c->status[first + row] & ABUT_WORLD_STOPS);
    for (size_t i = 0; i < numbers; ++i) {
      reals_set(&c->pushes, (first + row) * numbers + i,
                known ? push_of(s, rows, row, i / 3, i % 3) : (double)NAN);
    }
    if (s->def.law->pushes) {
      add_pushes_up(&s->def, &c->pushes, first + row);
    }
  }
}

static abut_status find_forces(forces_call *c)
{
  abut_status status = ABUT_SUCCESS;
  TRY(c->list ? count_slots(c) : ABUT_SUCCESS);
  const size_t row = 3 * c->slots * c->size, fit = row ? ROWS_BYTES / row : c->count,
               most = fit ? fit : 1;
  const size_t together = most < c->count ? most : c->count;
  reals rows = {.size = c->size}, pushes = {.size = c->size};
  if (c->slots) {
    TRY(reals_create(&rows, 3 * c->slots * together, c->size));
  }
  if (c->pushes.data) {
    status = reals_create(&pushes, pushes_width(c->scene) * together, c->size);
  }
  for (size_t first = 0; first < c->count && status == ABUT_SUCCESS; first += most) {
    const size_t count = most < c->count - first ? most : c->count - first;
    status = step_rows(c, first, count, rows.data, pushes.data);
    if (status == ABUT_SUCCESS) {
      copy_forces(c, first, count, &rows);
    }
    if (status == ABUT_SUCCESS && pushes.data) {
      copy_pushes(c, first, count, &pushes);
    }
  }
  free(rows.data);
  free(pushes.data);
  return status;
}

/* Refuses controls that move links: the contacts of a list are found with links at their positions
 * only. */
static abut_status check_moved(const loaded_scene *s, const void *u, size_t count)
{
  const size_t first = s->def.actuator_count, nu = scene_control_count(&s->def);
  const reals controls = {(void *)(uintptr_t)u, 0, context_real_bytes(s->context)};
  for (size_t i = 0; u && i < count; ++i) {
    for (size_t k = first; k < nu; ++k) {
      if (reals_get(&controls, i * nu + k) != 0.0) {
        return fail(ABUT_ERROR_ARGUMENT,
                    "control %zu of world %zu moves a link, but contacts are computed with moved "
                    "links at the poses in the scene",
                    k, i);
      }
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_find_contact_forces(abut_scene handle_, size_t count, const void *q, const void *v,
                                     const void *u, const abut_items *items,
                                     const abut_compact *list, void *forces, void *pushes,
                                     uint32_t *status)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  void *memory = NULL;
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(s, items, list, q, count, forces));
  TRY(list ? check_moved(s, u, count) : ABUT_SUCCESS);
  const size_t size = context_real_bytes(s->context), nv = (size_t)s->constants.nv * size;
  const size_t contacts = list ? list->count : 0, pairs = items ? items->count : 0;
  const memory_range all[] = {
    {"q", q, rows_bytes(count, (size_t)s->constants.nq * size), MEMORY_READ},
    {"v", v, rows_bytes(count, nv), MEMORY_READ},
    {"u", u, rows_bytes(count, scene_control_count(&s->def) * size), MEMORY_READ},
    {"the items", items ? items->items : NULL, rows_bytes(pairs, 3 * sizeof *items->items),
     MEMORY_READ},
    {"the items' candidates", items ? items->candidates : NULL,
     rows_bytes(pairs, sizeof *items->candidates), MEMORY_READ},
    {"the list's pose", list ? list->pose : NULL, rows_bytes(contacts, sizeof *list->pose),
     MEMORY_READ},
    {"the list's slot", list ? list->slot : NULL, rows_bytes(contacts, sizeof *list->slot),
     MEMORY_READ},
    {"forces", list ? forces : NULL, rows_bytes(contacts, 3 * size), MEMORY_WRITTEN},
    {"pushes", pushes, rows_bytes(count, 3 * s->def.link_count * size), MEMORY_WRITTEN},
    {"status", status, rows_bytes(count, sizeof *status), MEMORY_WRITTEN}};
  TRY(check_ranges(all, sizeof all / sizeof *all));
  forces_call c = {.scene = s,
                   .q = q,
                   .v = v,
                   .u = u,
                   .count = count,
                   .size = size,
                   .items = items,
                   .list = list,
                   .forces = {forces, list ? 3 * list->count : 0, size},
                   .pushes = {pushes, 3 * s->def.link_count * count, size},
                   .status = status};
  if (!status) {
    TRY(allocate(&memory, count, sizeof *status));
    c.status = memory;
  }
  const abut_status done = find_forces(&c);
  free(c.first);
  free(memory);
  return done;
}
