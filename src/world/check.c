/* Warnings about a scene: drives that are unstable at its step, and problems of automatic pairs. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "contact/active.h"
#include "world/boxes.h"
#include "world/broad.h"
#include "world/drives.h"
#include "world/law/law.h"
#include "scene/place.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP_MOST 0.1     /* of the smaller body's diagonal; deeper overlaps are reported */
#define OVERLAPS_REPORTED 10 /* the deepest ones */
#define TEXT_ROOM 512

__attribute__((format(printf, 2, 3))) static abut_status warn_of(loaded_scene *s,
                                                                 const char *format, ...)
{
  char text[TEXT_ROOM];
  void *memory;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memory = s->warnings;
  TRY(grow(&memory, &s->warning_room, s->warning_count + 1, sizeof *s->warnings));
  s->warnings = memory;
  TRY(arena_allocate(&s->warning_texts, &memory, strlen(text) + 1, 1));
  memcpy(memory, text, strlen(text) + 1);
  s->warnings[s->warning_count++] = memory;
  return ABUT_SUCCESS;
}

void scene_forget_warnings(loaded_scene *s)
{
  free(s->warnings);
  arena_free(&s->warning_texts);
  s->warnings = NULL;
  s->warning_count = s->warning_room = 0;
}

/* Whether a type consists of tiles. Their pairs are checked as a whole, by the type of their first
 * group. */
static bool is_of_tiles(const loaded_scene *s, const pair_type *k)
{
  return s->groups[s->pair_order[k->first]].is_tile;
}

/* ---- types that are never left out ---- */

/* Returns why the contacts of a pair have no bound, or NULL if they have one. */
static const char *unbounded_for(const pair *p, bool bounded)
{
  const bool ranks = p->selected_vertices[0] || p->selected_vertices[1],
             in_fields = is_in_fields(p);
  const bool selects = p->selected_edges[0] || p->selected_edges[1];
  const bool sorts = selects && p->smoothing.select != ABUT_SELECT_GATE;
  if (p->smoothing.floor <= 0.0) {
    return "the smoothing has no floor, so contacts are active at any distance";
  }
  return bounded                            ? NULL
         : ranks                            ? "the smoothing selects vertices by rank"
         : in_fields && selects             ? "the smoothing selects edges by rank"
         : !in_fields && p->smoothing.trace ? "the smoothing traces edges"
         : sorts                            ? "the smoothing sorts edges"
                                            : "the field of a body is unbounded";
}

static abut_status warn_of_type(loaded_scene *s, const pair_type *k)
{
  const size_t of = (size_t)s->pair_order[k->first];
  const scene_pair *first = &s->def.pairs[of];
  const pair *p = pair_get(s->pairs[of]);
  bool bounded;
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(pair_is_bounded(p, active_cutoff(p, 0.0), &bounded));
  const char *why = unbounded_for(p, bounded);
  char others[48] = "";
  if (k->count > 1) {
    snprintf(others, sizeof others, ", and of %zu similar pairs", k->count - 1);
  }
  return why ? warn_of(s,
                       "automatic: each step computes the contacts of links[%d].bodies[%d] and "
                       "links[%d].bodies[%d]%s at any distance: %s",
                       first->link[0], first->body[0], first->link[1], first->body[1], others, why)
             : ABUT_SUCCESS;
}

/* ---- overlaps ---- */

typedef struct overlap {
  size_t candidate;
  double depth, share;
} overlap;

typedef struct overlaps {
  loaded_scene *s;
  double (*places)[PLACE]; /* (links) initial poses */
  overlap worst[OVERLAPS_REPORTED];
  size_t count, all; /* number of entries in `worst`; number of all overlaps */
  size_t *near;      /* (pairs of the largest type) candidates of one type that may touch */
  arena memory;
} overlaps;

static void place_side(const overlaps *o, const scene_pair *p, int side, double out[PLACE])
{
  place_body(scene_side(&o->s->def, p, side), o->places[p->link[side]], out);
}

static bool may_touch(const overlaps *o, const scene_pair *p, const pair_boxes *boxes)
{
  double pose[2][PLACE];
  place_side(o, p, 0, pose[0]);
  place_side(o, p, 1, pose[1]);
  return !boxes_apart(&boxes->points[0], pose[0], &boxes->field[1], pose[1], DBL_EPSILON) ||
         !boxes_apart(&boxes->field[0], pose[0], &boxes->points[1], pose[1], DBL_EPSILON);
}

/* Whether the bounding spheres of two bodies intersect. */
static bool balls_meet(const overlaps *o, const scene_pair *p)
{
  double at[2][3], square = 0.0;
  for (int side = 0; side < 2; ++side) {
    const double *place = o->places[p->link[side]];
    place_turn(place, p->ball[side], at[side]);
    for (int k = 0; k < 3; ++k) {
      at[side][k] += place[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    square += (at[0][k] - at[1][k]) * (at[0][k] - at[1][k]);
  }
  const double reach = p->ball[0][3] + p->ball[1][3];
  return square <= reach * reach;
}

/* Returns the diagonal of the smaller body; planes have no size. */
static abut_status smaller_of(const overlaps *o, const scene_pair *p, double *out)
{
  *out = HUGE_VAL;
  for (int side = 0; side < 2; ++side) {
    abut_body_info info;
    TRY(abut_get_body_info(o->s->bodies[scene_pair_body(&o->s->def, p, side)], &info));
    *out = scene_body_is_ground(scene_side(&o->s->def, p, side)) ? *out : fmin(*out, info.diagonal);
  }
  return ABUT_SUCCESS;
}

/* Keeps the deepest overlaps, sorted by depth. */
static void keep_overlap(overlaps *o, overlap found)
{
  size_t at = o->count;
  ++o->all;
  while (at > 0 && o->worst[at - 1].share < found.share) {
    --at;
  }
  if (at < OVERLAPS_REPORTED) {
    o->count += o->count < OVERLAPS_REPORTED;
    memmove(&o->worst[at + 1], &o->worst[at], (o->count - at - 1) * sizeof found);
    o->worst[at] = found;
  }
}

static abut_status keep_deep(overlaps *o, const double *depths, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    double size;
    TRY(smaller_of(o, &o->s->def.pairs[o->near[i]], &size));
    if (depths[i] > OVERLAP_MOST * size) {
      keep_overlap(o, (overlap){o->near[i], depths[i], depths[i] / size});
    }
  }
  return ABUT_SUCCESS;
}

/* Fills depths (count) of the candidates at o->near, all of one type, with their depths by the pair
 * `p`. Contacts cannot be used: in deep overlaps no contact normal is within its cone. */
static abut_status find_depths(const overlaps *o, abut_pair p, size_t count, double *depths)
{
  const size_t size = context_real_bytes(o->s->context);
  abut_batch batch = abut_default_batch();
  reals poses[2] = {{0}, {0}}, distances = {0};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(reals_create(&distances, count, size));
  for (int side = 0; side < 2; ++side) {
    TRY_DONE(reals_create(&poses[side], PLACE * count, size));
    for (size_t i = 0; i < count; ++i) {
      double place[PLACE];
      place_side(o, &o->s->def.pairs[o->near[i]], side, place);
      for (size_t k = 0; k < PLACE; ++k) {
        reals_set(&poses[side], PLACE * i + k, place[k]);
      }
    }
  }
  batch.count = count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = poses[0].data;
  batch.pose2 = poses[1].data;
  batch.reductions.distance = distances.data;
  TRY_DONE(abut_contacts(p, &batch));
  for (size_t i = 0; i < count; ++i) {
    depths[i] = -reals_get(&distances, i);
  }
done:
  free(poses[0].data);
  free(poses[1].data);
  free(distances.data);
  return status;
}

static abut_status inspect_type(overlaps *o, const pair_type *k)
{
  const loaded_scene *s = o->s;
  const abut_pair by = s->pairs[s->pair_order[k->first]];
  const pair *p = pair_get(by);
  pair_boxes boxes;
  size_t count = 0;
  void *depths = NULL;
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  bool any = false;
  for (size_t i = k->first; i < k->first + k->count && !any; ++i) {
    any = balls_meet(o, &s->def.pairs[s->pair_order[i]]);
  }
  if (!any) {
    return ABUT_SUCCESS;
  }
  TRY(boxes_of_pair(p, active_cutoff(p, 0.0), &boxes));
  for (size_t i = k->first; i < k->first + k->count; ++i) {
    if (may_touch(o, &s->def.pairs[s->pair_order[i]], &boxes)) {
      o->near[count++] = (size_t)s->pair_order[i];
    }
  }
  if (!count) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&depths, count, sizeof(double)));
  abut_status status = find_depths(o, by, count, depths);
  status = status == ABUT_SUCCESS ? keep_deep(o, depths, count) : status;
  free(depths);
  return status;
}

static abut_status find_overlaps(overlaps *o)
{
  void *memory;
  TRY(arena_allocate(&o->memory, &memory, o->s->def.link_count, sizeof *o->places));
  o->places = memory;
  TRY(arena_allocate(&o->memory, &memory, o->s->def.pair_count, sizeof *o->near));
  o->near = memory;
  TRY(scene_place_links(o->s, o->s->constants.q0, o->places[0]));
  for (size_t i = 0; i < o->s->pair_type_count; ++i) {
    TRY(is_of_tiles(o->s, &o->s->pair_types[i]) ? ABUT_SUCCESS
                                                : inspect_type(o, &o->s->pair_types[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status warn_of_overlaps(overlaps *o)
{
  for (size_t i = 0; i < o->count; ++i) {
    const overlap *of = &o->worst[i];
    const scene_pair *p = &o->s->def.pairs[of->candidate];
    TRY(warn_of(o->s,
                "links[%d].bodies[%d] and links[%d].bodies[%d] overlap by %.3g mm at the start, "
                "which is %.2g %% of the smaller body's diagonal",
                p->link[0], p->body[0], p->link[1], p->body[1], 1e3 * of->depth,
                100.0 * of->share));
  }
  return o->all > o->count
           ? warn_of(o->s, "%zu more pairs of bodies overlap by less", o->all - o->count)
           : ABUT_SUCCESS;
}

/* ---- drives ---- */

static abut_status warn_of_drives(loaded_scene *s)
{
  drive_limit l;
  char of[96], others[64] = "";
  TRY(drives_limit(&s->def, &s->constants, &l));
  if (!l.trees) {
    return ABUT_SUCCESS;
  }
  if (l.actuator < 0) {
    snprintf(of, sizeof of, "links[%zu].joint: its damping and stiffness are", l.link);
  } else {
    snprintf(of, sizeof of, "actuators[%d], on links[%zu]: its kp and kv are", l.actuator, l.link);
  }
  if (l.trees > 1) {
    snprintf(others, sizeof others, "; %zu more trees of links are similar", l.trees - 1);
  }
  return warn_of(s,
                 "%s too large for steps of %.4g ms: the speeds will oscillate and grow; near the "
                 "start, steps of up to %.4g ms are stable%s",
                 of, 1e3 * s->def.timestep, 1e3 * l.step, others);
}

/* ---- floors ---- */

#define FLOOR_MOST 0.05

/* Resting contacts have an activity of one half. A floor whose ramp ends there makes gradients at
 * rest too steep to use. */
static abut_status warn_of_floors(loaded_scene *s)
{
  size_t count = 0, first = 0;
  char others[64] = "";
  for (size_t i = s->def.pair_count; i-- > 0;) {
    const scene_pair *p = &s->def.pairs[i];
    if (p->link[0] != WORLD && p->link[1] != WORLD && p->smoothing.floor > FLOOR_MOST) {
      first = i;
      ++count;
    }
  }
  if (!count) {
    return ABUT_SUCCESS;
  }
  if (count > 1) {
    snprintf(others, sizeof others, "; %zu more pairs have a floor above %g", count - 1,
             FLOOR_MOST);
  }
  const scene_pair *p = &s->def.pairs[first];
  return warn_of(
    s,
    "links[%d].bodies[%d] and links[%d].bodies[%d]: the smoothing's floor of %g cuts into resting "
    "contacts, so their gradients become very steep; use a floor such as 1e-3%s",
    p->link[0], p->body[0], p->link[1], p->body[1], p->smoothing.floor, others);
}

/* ---- all checks ---- */

static abut_status check_types(loaded_scene *s)
{
  if (s->def.pair_count < BROAD_LEAST) {
    return ABUT_SUCCESS;
  }
  if (!s->def.law->drawable) {
    return warn_of(s,
                   "automatic: each step computes the springs of all %zu pairs at any distance, "
                   "because they have no known bounds",
                   s->def.pair_count);
  }
  for (size_t i = 0; i < s->pair_type_count; ++i) {
    TRY(is_of_tiles(s, &s->pair_types[i]) ? ABUT_SUCCESS : warn_of_type(s, &s->pair_types[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status check_scene(loaded_scene *s)
{
  overlaps o = {.s = s};
  scene_forget_warnings(s);
  TRY(warn_of_drives(s));
  TRY(warn_of_floors(s));
  if (!s->def.says_pairs && s->body_count > 1) {
    return warn_of(s, "no bodies can touch: the scene has neither `pairs` nor `automatic`; set "
                      "`automatic` to true, so that pairs are found");
  }
  if (!s->def.automatic) {
    return ABUT_SUCCESS;
  }
  if (!s->def.pair_count) {
    return warn_of(s, "automatic: no two bodies may collide");
  }
  TRY(s->def.broad_phase ? check_types(s) : ABUT_SUCCESS);
  abut_status status = find_overlaps(&o);
  status = status == ABUT_SUCCESS ? warn_of_overlaps(&o) : status;
  arena_free(&o.memory);
  return status;
}

abut_status abut_check_scene(abut_scene handle_, size_t *count)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!count) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_check_scene needs a place for its answer");
  }
  *count = 0;
  TRY(check_scene(s));
  *count = s->warning_count;
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_warning(abut_scene handle_, size_t index, const char **text)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->warning_count || !text) {
    return fail(ABUT_ERROR_ARGUMENT,
                text ? "there is no warning %zu (0-based); there are %zu"
                     : "abut_get_scene_warning: the output pointer for warning %zu of %zu is NULL",
                index, s->warning_count);
  }
  *text = s->warnings[index];
  return ABUT_SUCCESS;
}
