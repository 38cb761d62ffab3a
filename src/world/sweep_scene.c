/* What a scene that sweeps has beside others: meshes of its bodies, and settings of its pairs. */
#include "base/error.h"
#include "world/law/law.h"
#include "world/scene_file.h"
#include "world/sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_HALF 0.01 /* of the smaller body's radius: `half` of a pair of which it is not known */
#define APART 0.01        /* of `half`, or of the smaller body's radius where that is less */
#define CERTIFIED 0.125   /* of that: how near to each other bodies count as met, and how exactly that is found */

/* ---- meshes ---- */

static bool is_swept(const scene_pair *p)
{
  return p->sweep_half > 0.0;
}

/* Returns the first body that shares a body's handle, which may be itself. */
static size_t first_of(const loaded_scene *s, size_t number)
{
  size_t i = 0;
  while (s->bodies[i].index != s->bodies[number].index || s->bodies[i].generation != s->bodies[number].generation) {
    ++i;
  }
  return i;
}

ccd_mesh *sweep_mesh(const loaded_scene *s, const scene_pair *p, int side)
{
  return ccd_mesh_get(s->meshes[first_of(s, scene_pair_body(&s->def, p, side))]);
}

static abut_status make_mesh(loaded_scene *s, const scene_pair *p, int side)
{
  const size_t first = first_of(s, scene_pair_body(&s->def, p, side));
  return s->meshes[first].generation ? ABUT_SUCCESS : abut_create_body_ccd_mesh(s->bodies[first], &s->meshes[first]);
}

void sweep_destroy_meshes(loaded_scene *s)
{
  for (size_t i = 0; s->meshes && i < s->body_count; ++i) {
    ccd_mesh *m = s->meshes[i].generation ? ccd_mesh_get(s->meshes[i]) : NULL;
    if (m) {
      context_discard(m->context, &m->base);
    }
    s->meshes[i] = (abut_ccd_mesh){0, 0};
  }
}

/* ---- pairs ---- */

/* A plane that is a half space has no other side, so that nothing passes through it. */
static void measure(const scene_def *s, scene_pair *p)
{
  const bool plane = scene_side(s, p, 0)->shape == SHAPE_PLANE || scene_side(s, p, 1)->shape == SHAPE_PLANE;
  const double smaller = fmin(p->ball[0][3], p->ball[1][3]);
  p->sweep_half = p->half > 0.0 ? p->half : plane && s->law->half_spaces ? 0.0 : UNKNOWN_HALF * smaller;
  p->apart = APART * fmin(p->sweep_half, smaller);
}

static abut_status load_pair(loaded_scene *s, scene_pair *p)
{
  measure(&s->def, p);
  if (!is_swept(p)) {
    return ABUT_SUCCESS;
  }
  TRY(make_mesh(s, p, 0));
  TRY(make_mesh(s, p, 1));
  const ccd_room room = ccd_room_of(sweep_mesh(s, p, 0), sweep_mesh(s, p, 1));
  return ccd_check_room(&room);
}

abut_status sweep_load(loaded_scene *s)
{
  void *memory = NULL;
  TRY(scene_need_bodies(s));
  TRY(allocate(&memory, s->body_count + 1, sizeof *s->meshes));
  s->meshes = memory;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const scene_place place = {.list = "pairs", .index = i};
    TRY(scene_blame(&s->def, place, "", load_pair(s, &s->def.pairs[i])));
  }
  return ABUT_SUCCESS;
}

/* ---- settings ---- */

/* Finds the place in a body's own frame about which its link turns: its joint's. */
static void find_centre(const scene_def *s, const scene_pair *p, int side, double out[3])
{
  const scene_body *b = scene_side(s, p, side);
  const double *about = s->links[p->link[side]].joint.position, *q = b->quaternion;
  double from[3], across[3], twice[3];
  for (int k = 0; k < 3; ++k) {
    from[k] = about[k] - b->position[k];
  }
  for (int k = 0; k < 3; ++k) { /* turned back */
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    across[k] = -2.0 * (q[1 + i] * from[j] - q[1 + j] * from[i]);
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    twice[k] = -(q[1 + i] * across[j] - q[1 + j] * across[i]);
    out[k] = from[k] + q[0] * across[k] + twice[k];
  }
}

abut_status sweep_upload(const scene_def *s, device *d, buffer ***out)
{
  void *memory = NULL;
  TRY(allocate(&memory, s->pair_count + 1, sizeof **out));
  *out = memory;
  for (size_t i = 0; i < s->pair_count; ++i) {
    const scene_pair *p = &s->pairs[i];
    ccd_settings of = {.separation = CERTIFIED * p->apart, .tolerance = CERTIFIED * p->apart};
    if (is_swept(p)) {
      find_centre(s, p, 0, of.centre[0]);
      find_centre(s, p, 1, of.centre[1]);
      TRY(ccd_settings_upload(d, &of, &(*out)[i]));
    }
  }
  return ABUT_SUCCESS;
}
