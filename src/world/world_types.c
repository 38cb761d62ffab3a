/* World types of a call: given contacts sorted into groups, or worlds of several scenes. */
#include "base/error.h"
#include "world/pair_batches.h"

static bool same_group(const contact_group *g, const abut_given_contacts *c, size_t i)
{
  return g->pair == c->pair[i] && g->link[0] == c->owner[i] && g->link[1] == c->opposing[i];
}

static abut_status check_given(const loaded_scene *s, const abut_given_contacts *c)
{
  const int links = (int)s->def.link_count, pairs = (int)s->def.listed_count;
  if (c->count &&
      (!c->owner || !c->opposing || !c->pair || !c->p || !c->d || !c->n || !c->activity)) {
    return fail(ABUT_ERROR_ARGUMENT, "given contacts: an array is NULL");
  }
  for (size_t i = 0; i < c->count; ++i) {
    if (c->owner[i] < WORLD || c->owner[i] >= links || c->opposing[i] < WORLD ||
        c->opposing[i] >= links || c->owner[i] == c->opposing[i]) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "contact %zu names links %d and %d, but there are only %d links", i,
                  (int)c->owner[i], (int)c->opposing[i], links);
    }
    if (c->pair[i] < 0 || c->pair[i] >= pairs) {
      return fail(ABUT_ERROR_ARGUMENT, "contact %zu names pair %d, but there are only %d pairs", i,
                  (int)c->pair[i], pairs);
    }
  }
  return ABUT_SUCCESS;
}

abut_status group_given(steps_call *c)
{
  const abut_given_contacts *g = c->worlds->contacts;
  world_type *k = c->types;
  void *memory = NULL;
  if (g->count > TABLES_SLOTS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "there are %zu given contacts; the kernels take at most %zu",
                g->count, TABLES_SLOTS_MOST);
  }
  TRY(check_given(c->scene, g));
  TRY(allocate(&memory, g->count + 1, sizeof *k->groups));
  k->groups = memory;
  TRY(allocate(&memory, g->count + 1, sizeof *c->places));
  c->places = memory;
  for (size_t i = 0; i < g->count; ++i) {
    size_t at = 0;
    while (at < k->group_count && !same_group(&k->groups[at], g, i)) {
      ++at;
    }
    if (at == k->group_count) {
      k->groups[k->group_count++] =
        (contact_group){.link = {g->owner[i], g->opposing[i]}, .pair = g->pair[i], .given = true};
    }
    ++k->groups[at].contacts;
  }
  for (size_t i = 0, at = 0; i < k->group_count; ++i) {
    for (size_t n = 0; n < g->count; ++n) {
      if (same_group(&k->groups[i], g, n)) {
        c->places[at++] = (int)n;
      }
    }
  }
  return ABUT_SUCCESS;
}

/* ---- worlds of several scenes ---- */

/* Whether two scenes have the same tree of joints, numbers of pairs, actuators, tendons and
 * equality constraints, integrator and law. Their worlds' arrays then have the same shape and take
 * the same steps. */
static bool same_shape(const loaded_scene *a, const loaded_scene *b)
{
  bool same =
    a->def.link_count == b->def.link_count && a->def.pair_count == b->def.pair_count &&
    a->def.listed_count == b->def.listed_count && a->def.column_count == b->def.column_count &&
    a->def.actuator_count == b->def.actuator_count && a->def.tendon_count == b->def.tendon_count &&
    a->def.equality_count == b->def.equality_count && a->def.integrator == b->def.integrator &&
    a->def.law == b->def.law;
  for (size_t i = 0; same && i < a->def.link_count; ++i) {
    same = a->def.links[i].parent == b->def.links[i].parent &&
           a->def.links[i].joint.type == b->def.links[i].joint.type;
  }
  return same;
}

static size_t slots_of_scene(loaded_scene *s)
{
  const world_type k = world_type_of(s);
  return slots_before(&k, k.group_count);
}

abut_status check_scenes(const loaded_scene *own, const abut_worlds *w)
{
  if (!w->scenes || !w->scene_count || (w->count && !w->scene)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "worlds of several scenes need a list of scenes, and a scene index for each world");
  }
  if (w->contacts || w->memory == ABUT_MEMORY_STATE || w->count > UINT32_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "worlds of several scenes take no given contacts, cannot be "
                                     "in a state, and can be at most 2^32 - 1");
  }
  loaded_scene *any = scene_get(w->scenes[0]);
  const size_t first = any ? slots_of_scene(any) : 0;
  for (size_t i = 0; i < w->scene_count; ++i) {
    loaded_scene *s = scene_get(w->scenes[i]);
    if (!s || s->context != own->context) {
      return fail(ABUT_ERROR_HANDLE,
                  "scene %zu of the worlds' list is null, destroyed, or belongs to another context",
                  i);
    }
    if (!same_shape(own, s)) {
      return fail(
        ABUT_ERROR_ARGUMENT,
        "scene %zu of the worlds' list must have the same links, joints, pairs, actuators, "
        "tendons, equalities, integrator and contact model as the scene of the call",
        i);
    }
    if (s->given) {
      return fail(ABUT_ERROR_ARGUMENT, "scene %zu of the worlds' list has pairs without bodies", i);
    }
    if (w->multipliers && slots_of_scene(s) != first) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "multipliers need scenes with equal numbers of contacts; scene %zu of the "
                  "worlds' list has a different number",
                  i);
    }
  }
  for (size_t i = 0; i < w->count; ++i) {
    if (w->scene[i] >= w->scene_count) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "world %zu names scene %u, but the worlds' list has only %zu scenes", i,
                  (unsigned)w->scene[i], w->scene_count);
    }
  }
  return ABUT_SUCCESS;
}

world_type world_type_of(loaded_scene *s)
{
  return (world_type){s, s->groups, s->group_count};
}

abut_status group_scenes(steps_call *c, batch_order *order)
{
  const abut_worlds *w = c->worlds;
  void *memory = NULL;
  TRY(batch_order_create(w->count, w->scene_count, w->scene, order));
  TRY(allocate(&memory, order->group_count + 1, sizeof *c->types));
  c->types = memory;
  c->type_count = order->group_count;
  for (size_t i = 0; i < order->group_count; ++i) {
    loaded_scene *s = scene_get(w->scenes[order->kinds[i]]);
    c->types[i] = world_type_of(s);
    order->groups[i].rates = s->rates;
  }
  c->base.groups = order->groups;
  c->base.group_count = order->group_count;
  c->base.rows = order->rows;
  return ABUT_SUCCESS;
}
