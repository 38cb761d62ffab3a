/* Queries of a scene: its sizes, bodies, pairs, and numbers in its initial state. */
#include "base/call_lock.h"
#include "world/law/law.h"
#include "world/loaded.h"
#include <string.h>

/* Whether an earlier body in the scene has the same handle. */
static bool is_earlier(const loaded_scene *s, size_t number)
{
  size_t i = 0;
  while (s->bodies[i].index != s->bodies[number].index ||
         s->bodies[i].generation != s->bodies[number].generation) {
    ++i;
  }
  return i < number;
}

/* Counts the bodies of files with diagnostics, each handle once, and reports those of the first. */
static void find_diagnostics(const loaded_scene *s, abut_scene_info *info)
{
  size_t at = 0;
  for (size_t l = 0; l < s->def.link_count; ++l) {
    for (size_t i = 0; i < s->def.links[l].body_count; ++i, ++at) {
      abut_body_info of;
      if (s->def.links[l].bodies[i].shape != SHAPE_FILE || !s->bodies[at].generation ||
          is_earlier(s, at) || abut_get_body_info(s->bodies[at], &of) != ABUT_SUCCESS ||
          !of.suspicions) {
        continue;
      }
      if (!info->suspicious_bodies++) {
        info->suspicious_link = l;
        info->suspicious_body = i;
        info->suspicions = of.suspicions;
        info->misfit = of.misfit;
        info->feature_misfit = of.feature_misfit;
        info->diagonal = of.diagonal;
        abut_get_body_report(s->bodies[at], &info->report);
      }
    }
  }
}

void scene_inform_of_pairs(const loaded_scene *s, abut_scene_info *info)
{
  for (size_t i = 0; i < s->group_count; ++i) {
    info->contacts += (size_t)s->groups[i].pair < s->def.listed_count ? s->groups[i].contacts : 0;
  }
  find_diagnostics(s, info);
}

static size_t count_trees(const scene_def *s)
{
  size_t count = 0;
  for (size_t i = 0; i < s->link_count; ++i) {
    count += joint_dofs(s->links[i].joint.type) && scene_root(s, i) == i;
  }
  return count;
}

abut_status abut_get_scene_info(abut_scene handle_, abut_scene_info *info)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_scene_info needs a place for its answer");
  }
  *info = (abut_scene_info){.links = s->def.link_count,
                            .pairs = s->def.listed_count,
                            .nq = (size_t)s->constants.nq,
                            .nv = (size_t)s->constants.nv,
                            .nu = scene_control_count(&s->def),
                            .cloud_gap = s->clouds.gap,
                            .cloud_link = s->clouds.gap_link,
                            .cloud_body = s->clouds.gap_body,
                            .sinking = s->sinking.depth,
                            .sinking_share = s->sinking.share,
                            .sinking_k = s->sinking.k,
                            .sinking_pair = s->sinking.pair,
                            .sinking_pairs = s->sinking.pairs,
                            .timestep = s->def.timestep,
                            .automatic = s->def.automatic,
                            .bodies = s->body_count,
                            .candidates = s->def.pair_count,
                            .kinds = s->pair_type_count,
                            .parameters = s->def.column_count,
                            .trees = count_trees(&s->def),
                            .starts = s->def.start_count,
                            .moved = (scene_control_count(&s->def) - s->def.actuator_count) / 6};
  s->def.law->inform(s, info);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_body(abut_scene handle_, size_t index, size_t *link, size_t *place)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->body_count) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no body %zu (0-based); there are %zu", index,
                s->body_count);
  }
  const size_t of = scene_body_link(&s->def, index);
  if (link) {
    *link = of;
  }
  if (place) {
    *place = index - s->def.links[of].first_body;
  }
  return ABUT_SUCCESS;
}

abut_status abut_get_candidate(abut_scene handle_, size_t index, size_t *a, size_t *b)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->def.pair_count || !a || !b) {
    return fail(ABUT_ERROR_ARGUMENT,
                a && b ? "there is no candidate %zu (0-based); there are %zu"
                       : "abut_get_candidate: an output pointer for candidate %zu of %zu is NULL",
                index, s->def.pair_count);
  }
  const scene_pair *p = &s->def.pairs[index];
  if (p->link[0] == WORLD) {
    return fail(ABUT_ERROR_ARGUMENT, "pair %zu has no bodies", index);
  }
  *a = scene_pair_body(&s->def, p, 0);
  *b = scene_pair_body(&s->def, p, 1);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_start(abut_scene handle_, double *q)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!q) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_scene_start needs a place for its answer");
  }
  memcpy(q, s->constants.q0, (size_t)s->constants.nq * sizeof *q);
  return ABUT_SUCCESS;
}

abut_status abut_get_named_start(abut_scene handle_, size_t index, const char **name, double *q,
                                 double *v, double *u)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->def.start_count) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no start %zu (0-based); there are %zu", index,
                s->def.start_count);
  }
  const scene_start *from = &s->def.starts[index];
  if (name) {
    *name = from->name;
  }
  if (q) {
    memcpy(q, from->q, (size_t)s->constants.nq * sizeof *q);
  }
  if (v) {
    memcpy(v, from->v, (size_t)s->constants.nv * sizeof *v);
  }
  if (u) {
    memcpy(u, from->u, scene_control_count(&s->def) * sizeof *u);
  }
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_parameters(abut_scene handle_, double *friction, double *gravity)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  for (size_t i = 0; friction && i < s->def.column_count; ++i) {
    friction[i] = scene_column_friction(&s->def, i);
  }
  if (gravity) {
    memcpy(gravity, s->def.gravity, sizeof s->def.gravity);
  }
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_springs(abut_scene handle_, double *springs)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!springs || !s->def.law->numbers) {
    return fail(ABUT_ERROR_ARGUMENT, springs
                                       ? "the contacts of the scene are not springs"
                                       : "abut_get_scene_springs needs a place for its answer");
  }
  for (size_t i = 0; i < s->def.listed_count; ++i) {
    memcpy(springs + SPRING_NUMBERS * i, s->def.pairs[i].spring, sizeof s->def.pairs[i].spring);
  }
  return ABUT_SUCCESS;
}
