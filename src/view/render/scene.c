#include "view/render/scene.h"

#include "base/error.h"
#include "base/reals.h"
#include "body/family/family.h"
#include "geometry/layout.h"
#include "view/render/rays.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define BOX_SLACK 0.01   /* of the diagonal, around a body */
#define LOOSE_SLACK 0.15 /* the same if a family's bounds are loose */

/* Computes the box of the vertices and of all added primitives. Returns whether it may be too
 * tight. */
static bool cover_added(const body *b, box *around)
{
  bool loose = false;
  box_cover(around, b->info.lower);
  box_cover(around, b->info.upper);
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed p = packed_of(b->head, &b->shape, ABUT_ADD, i);
    families[i]->cover(&p, around);
    loose = loose || (p.count && families[i]->loose);
  }
  return loose;
}

/* Counts the spots and fills in `out` unless it is NULL. Returns 0 if any added primitive has no
 * spots. */
static size_t find_spots(const body *b, spot *out)
{
  size_t count = 0;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed p = packed_of(b->head, &b->shape, ABUT_ADD, i);
    if (p.count && !families[i]->spots) {
      return 0;
    }
    count += p.count ? families[i]->spots(&p, out ? out + count : NULL) : 0;
  }
  return count;
}

/* Stores points near the surface, if the whole surface is known to be near such points. */
static abut_status keep_spots(actor *a, const body *b)
{
  const size_t count = find_spots(b, NULL);
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(v3)));
  a->cloud = memory;
  TRY(allocate(&memory, count, sizeof(double)));
  a->reach = memory;
  TRY(allocate(&memory, count, sizeof(spot)));
  spot *spots = memory;
  a->cloud_count = find_spots(b, spots);
  for (size_t i = 0; i < count; ++i) {
    a->cloud[i] = (v3){spots[i].at[0], spots[i].at[1], spots[i].at[2]};
    a->reach[i] = spots[i].reach;
    a->reach_mean += a->reach[i] / (double)count;
  }
  free(spots);
  return ABUT_SUCCESS;
}

static void set_box(actor *a, const box *around, bool loose)
{
  const double *low = around->lower, *high = around->upper;
  const v3 lower = {low[0], low[1], low[2]}, upper = {high[0], high[1], high[2]};
  const v3 span = v3_sub(upper, lower);
  const double size = fmax(sqrt(v3_dot(span, span)), 1e-9);
  const double slack = size * (loose ? LOOSE_SLACK : BOX_SLACK) + fmin(a->margin, size);
  const v3 by = {slack, slack, slack};
  a->lower = v3_sub(lower, by);
  a->upper = v3_add(upper, by);
  a->diagonal = size + 2.0 * slack;
}

static abut_status create_actor(actor *a, const body *b, double union_tau)
{
  box around = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  const bool loose = cover_added(b, &around);
  a->margin = union_tau * log(fmax(b->head[HEAD_ADDED], 1.0));
  set_box(a, &around, loose);
  return keep_spots(a, b);
}

double in_range(double x, size_t real_bytes)
{
  return real_bytes == sizeof(float) && isfinite(x)
           ? fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX)
           : x;
}

static abut_status refuse(int status)
{
  return fail(ABUT_ERROR_ARGUMENT, status == ABUT_POSE_NOT_FINITE
                                     ? "the pose to draw is not finite"
                                     : "the pose to draw has a quaternion of length 0");
}

/* Converts both poses with the kernel that contacts use, in the context's precision. */
static abut_status read_frames(scene *s, size_t width, const double *const poses[2])
{
  abut_status status = ABUT_SUCCESS;
  const size_t size = context_real_bytes(s->context);
  reals r[2] = {{0}, {0}}, frames = {0};
  int bad = 0;
  for (int i = 0; i < 2; ++i) {
    TRY_DONE(reals_create(&r[i], width, size));
    for (size_t k = 0; k < width; ++k) {
      reals_set(&r[i], k, in_range(poses[i][k], size));
    }
  }
  TRY_DONE(reals_create(&frames, FRAME_STRIDE, size));
  TRY_DONE(frames_of_poses(s->context, width, r[0].data, r[1].data, frames.data, &bad));
  TRY_DONE(bad ? refuse(bad) : ABUT_SUCCESS);
  const packed p = {.shape = frames.data, .real_bytes = size};
  for (size_t i = 0; i < 2; ++i) {
    const size_t at = i ? FRAME_WORLD_2 : FRAME_WORLD_1;
    for (size_t k = 0; k < 9; ++k) {
      s->actors[i].frame.m[k] = packed_number(&p, at + k);
    }
    s->actors[i].frame.t =
      (v3){packed_number(&p, at + 9), packed_number(&p, at + 10), packed_number(&p, at + 11)};
  }
done:
  free(r[0].data);
  free(r[1].data);
  free(frames.data);
  return status;
}

/* A pair is blue and sand; the others are for scenes with more bodies. */
static const colour paints[] = {{0.17f, 0.35f, 0.58f}, {0.66f, 0.58f, 0.45f}, {0.30f, 0.48f, 0.26f},
                                {0.60f, 0.22f, 0.17f}, {0.40f, 0.30f, 0.55f}, {0.16f, 0.47f, 0.49f},
                                {0.70f, 0.44f, 0.12f}, {0.45f, 0.45f, 0.47f}};
#define PAINTS (sizeof paints / sizeof *paints)
#define FLOOR_PAINT ((colour){0.72f, 0.73f, 0.75f})

static abut_status make_room(scene *s, context *c, size_t count)
{
  void *memory = NULL;
  memset(s, 0, sizeof *s);
  s->context = c;
  TRY(allocate(&memory, count, sizeof *s->actors));
  s->actors = memory;
  s->count = count;
  return ABUT_SUCCESS;
}

static abut_status add_actor(actor *a, pair *p, int side, size_t paint)
{
  body *b = body_get(p->bodies[side]);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  a->pair = p;
  a->of = b;
  a->paint = paints[paint % PAINTS];
  return create_actor(a, b, p->smoothing.union_);
}

static v3_frame frame_of(const double place[7])
{
  const double w = place[3], x = place[4], y = place[5], z = place[6];
  return (v3_frame){{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
                     2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
                     2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)},
                    {place[0], place[1], place[2]}};
}

static abut_status add_part(actor *a, const part *p)
{
  TRY(add_actor(a, p->pair, p->side, p->paint));
  a->frame = frame_of(p->place);
  a->floor = p->floor;
  a->paint = a->floor ? FLOOR_PAINT : a->paint;
  return ABUT_SUCCESS;
}

abut_status scene_of_pair(scene *s, const touch *of, const part *others, size_t count)
{
  TRY(make_room(s, of->pair->context, 2 + count));
  for (int i = 0; i < 2; ++i) {
    TRY(add_actor(&s->actors[i], of->pair, i, (size_t)i));
  }
  const double *const poses[2] = {of->pose1, of->pose2};
  TRY(read_frames(s, of->kind == ABUT_POSE_TWIST ? 6 : 7, poses));
  for (size_t i = 0; i < count; ++i) {
    TRY(add_part(&s->actors[2 + i], &others[i]));
  }
  return ABUT_SUCCESS;
}

abut_status scene_of_parts(scene *s, context *c, const part *parts, size_t count)
{
  TRY(make_room(s, c, count));
  for (size_t i = 0; i < count; ++i) {
    TRY(add_part(&s->actors[i], &parts[i]));
  }
  return ABUT_SUCCESS;
}

void scene_free(scene *s)
{
  for (size_t i = 0; i < s->count; ++i) {
    free(s->actors[i].cloud);
    free(s->actors[i].reach);
  }
  free(s->actors);
}
