#include "world/extent.h"

#include "base/memory.h"
#include "body/body.h"
#include "world/law/law.h"
#include "scene/place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static extent extent_of_plane(const scene_body *b)
{
  const double deep = fmin(b->size[0], b->size[1]);
  return (extent){{-b->size[0], -b->size[1], -deep}, {b->size[0], b->size[1], 0.0}, deep};
}

abut_status extent_of_body(const loaded_scene *s, const scene_pair *p, int side, extent *out)
{
  const body *of = body_get(s->bodies[scene_pair_body(&s->def, p, side)]);
  if (!of) {
    return ABUT_ERROR_HANDLE;
  }
  memcpy(out->lower, of->info.lower, sizeof out->lower);
  memcpy(out->upper, of->info.upper, sizeof out->upper);
  out->thickness = of->info.thickness;
  return ABUT_SUCCESS;
}

abut_status extent_of(const loaded_scene *s, const scene_pair *p, int side, extent *out)
{
  const scene_body *b = scene_side(&s->def, p, side);
  if (b->shape == SHAPE_PLANE) {
    *out = extent_of_plane(b);
    return ABUT_SUCCESS;
  }
  return s->def.law->measure(s, p, side, out);
}

double extent_diagonal(const extent *e)
{
  return hypot(hypot(e->upper[0] - e->lower[0], e->upper[1] - e->lower[1]),
               e->upper[2] - e->lower[2]);
}

/* ---- too fast for a step ---- */

/* Finds the bounding sphere of a body's box, with its centre in the link's frame. */
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
  ball[3] = 0.5 * extent_diagonal(e);
}

/* Returns half the thickness of the thinner body. Two bodies must not move farther against each
 * other in a step, or one could leave the other on its far side. With ground only the ground's
 * thickness counts, since its field pushes everything inside it back to its upper face. A
 * half-space has no far side: 0. */
static double half_of(const loaded_scene *s, const scene_pair *p, const extent of[2])
{
  double thin = HUGE_VAL;
  int planes = 0, grounds = 0;
  for (int side = 0; side < 2; ++side) {
    planes += scene_side(&s->def, p, side)->shape == SHAPE_PLANE;
    grounds += scene_body_is_ground(scene_side(&s->def, p, side));
  }
  for (int side = 0; side < 2; ++side) {
    if (!grounds || scene_body_is_ground(scene_side(&s->def, p, side))) {
      thin = fmin(thin, of[side].thickness);
    }
  }
  return planes && s->def.law->half_spaces ? 0.0 : 0.5 * thin;
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
      put_ball(scene_side(&s->def, p, side), &of[side], p->ball[side]);
    }
    p->half = half_of(s, p, of);
    p->thin = 0.5 * fmin(of[0].thickness, of[1].thickness);
  }
  return ABUT_SUCCESS;
}
