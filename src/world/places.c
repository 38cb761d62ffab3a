/* Poses of a scene's links and of the bodies of its pairs, from positions q. */
#include "scene/place.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "world/loaded.h"
#include <math.h>
#include <stdlib.h>

abut_status scene_check_positions(const loaded_scene *s, const double *q)
{
  for (int i = 0; i < s->constants.nq; ++i) {
    if (!isfinite(q[i])) {
      return fail(ABUT_ERROR_ARGUMENT, "position %d (0-based) is %g; it must be finite", i, q[i]);
    }
  }
  const size_t bad = scene_bad_quaternion(&s->def, q);
  if (bad < s->def.link_count) {
    return fail(ABUT_ERROR_ARGUMENT, "the quaternion of link %zu has length 0", bad);
  }
  return ABUT_SUCCESS;
}

bool scene_has_places(const loaded_scene *s, const double *q)
{
  for (int i = 0; i < s->constants.nq; ++i) {
    if (!isfinite(q[i])) {
      return false;
    }
  }
  return scene_bad_quaternion(&s->def, q) == s->def.link_count;
}

void scene_put_links(const loaded_scene *s, const double *q, double (*places)[PLACE])
{
  for (size_t i = 0; i < s->def.link_count; ++i) {
    const scene_link *l = &s->def.links[i];
    const double *parent = l->parent == WORLD ? NULL : places[l->parent];
    place_link(l, parent, q + s->constants.qadr[i], places[i]);
  }
}

abut_status scene_place_links(const loaded_scene *s, const double *q, double *places)
{
  TRY(scene_check_positions(s, q));
  scene_put_links(s, q, (double(*)[PLACE])places);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_pair(abut_scene handle_, size_t index, abut_scene_pair *out)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->def.listed_count || !out) {
    return fail(ABUT_ERROR_ARGUMENT,
                out ? "there is no pair %zu (0-based); there are %zu"
                    : "abut_get_scene_pair: the output pointer for pair %zu of %zu is NULL",
                index, s->def.listed_count);
  }
  const scene_pair *p = &s->def.pairs[index];
  *out = (abut_scene_pair){s->pairs[index], {p->link[0], p->link[1]}};
  return ABUT_SUCCESS;
}

/* Finds the poses of both bodies of each pair from those of the links; NaN for a pair without
 * bodies. */
static void place_pairs(const loaded_scene *s, double (*links)[PLACE], double *pose1, double *pose2)
{
  for (size_t i = 0; i < s->def.listed_count; ++i) {
    const scene_pair *p = &s->def.pairs[i];
    for (int side = 0; side < 2; ++side) {
      double *to = (side ? pose2 : pose1) + PLACE * i;
      if (p->link[side] == WORLD) {
        for (int k = 0; k < PLACE; ++k) {
          to[k] = NAN;
        }
      } else {
        const scene_link *l = &s->def.links[p->link[side]];
        place_body(&l->bodies[p->body[side]], links[p->link[side]], to);
      }
    }
  }
}

abut_status abut_place_pairs(abut_scene handle_, const double *q, double *pose1, double *pose2)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if ((s->constants.nq && !q) || (s->def.listed_count && (!pose1 || !pose2))) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_place_pairs: the positions or an output array is NULL");
  }
  void *links = NULL;
  TRY(allocate(&links, s->def.link_count, PLACE * sizeof(double)));
  const abut_status status = scene_place_links(s, q, links);
  if (status == ABUT_SUCCESS) {
    place_pairs(s, links, pose1, pose2);
  }
  free(links);
  return status;
}

abut_status abut_place_links(abut_scene handle_, const double *q, double *poses)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if ((s->constants.nq && !q) || !poses) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_place_links: the positions or an output array is NULL");
  }
  return scene_place_links(s, q, poses);
}
