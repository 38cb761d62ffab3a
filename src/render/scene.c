#include "render/scene.h"

#include "base/error.h"
#include "base/reals.h"
#include "geometry/layout.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define BOX_SLACK 0.01    /* of the diagonal, around a body */
#define LOOSE_SLACK 0.15  /* the same around one with polyhedra, whose planes bound no box */

/* A body's packed primitives. */
typedef struct packed {
  const int *head;
  const void *shape;
  size_t real_bytes;
} packed;

static double number(const packed *p, size_t i)
{
  return p->real_bytes == sizeof(double) ? ((const double *)p->shape)[i]
                                         : (double)((const float *)p->shape)[i];
}

static v3 vector(const packed *p, size_t i)
{
  return (v3){number(p, i), number(p, i + 1), number(p, i + 2)};
}

static void cover(actor *a, v3 point)
{
  a->lower = v3_min(a->lower, point);
  a->upper = v3_max(a->upper, point);
}

/* The box around a superquadric into the actor's. */
static void add_superquadric(actor *a, const packed *p, size_t at)
{
  rigid f;
  for (size_t i = 0; i < 9; ++i) {
    f.m[i] = number(p, at + i);
  }
  f.t = vector(p, at + SUPERQUADRIC_POSITION);
  const double half[3] = {1.0 / number(p, at + SUPERQUADRIC_AXES_INV),
                          1.0 / number(p, at + SUPERQUADRIC_AXES_INV + 1),
                          1.0 / number(p, at + SUPERQUADRIC_AXES_INV + 2)};
  for (int i = 0; i < 8; ++i) {
    const v3 corner = {i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                       i & 4 ? half[2] : -half[2]};
    cover(a, rigid_apply(&f, corner));
  }
}

/* The added clouds' points, into the box and as the places near which the surface lies. */
static abut_status add_clouds(actor *a, const packed *p)
{
  const int *head = p->head;
  const int *range =
    head + HEAD_RANGES + 2 * (head[HEAD_POLYHEDRA] + head[HEAD_POLYHEDRA + 1]);
  size_t points = 0;
  for (int i = 0; i < head[HEAD_POINTCLOUDS]; ++i) {
    points += (size_t)range[2 * i + 1];
  }
  const bool alone = points && !head[HEAD_SUPERQUADRICS] && !head[HEAD_POLYHEDRA];
  void *memory = NULL;
  TRY(allocate(&memory, points, sizeof(v3)));
  a->cloud = memory;
  TRY(allocate(&memory, points, sizeof(double)));
  a->reach = memory;
  size_t n = 0;
  for (int i = 0; i < head[HEAD_POINTCLOUDS]; ++i) {
    for (int k = 0; k < range[2 * i + 1]; ++k, ++n) {
      const size_t at =
        (size_t)head[HEAD_POINT_BASE] + (size_t)(range[2 * i] + 1 + k) * POINT_STRIDE;
      a->cloud[n] = vector(p, at);
      a->reach[n] = 1.0 / sqrt(fmax(number(p, at + 6), 1e-300));
      cover(a, a->cloud[n]);
    }
  }
  a->cloud_count = alone ? points : 0;
  return ABUT_SUCCESS;
}

static void finish_box(actor *a, const int *head, double union_tau)
{
  const int added = head[HEAD_SUPERQUADRICS] + head[HEAD_POLYHEDRA] + head[HEAD_POINTCLOUDS];
  const v3 span = v3_sub(a->upper, a->lower);
  const double size = fmax(sqrt(v3_dot(span, span)), 1e-9);
  a->margin = union_tau * log(fmax(added, 1.0));
  const double slack =
    size * (head[HEAD_POLYHEDRA] ? LOOSE_SLACK : BOX_SLACK) + fmin(a->margin, size);
  const v3 by = {slack, slack, slack};
  a->lower = v3_sub(a->lower, by);
  a->upper = v3_add(a->upper, by);
  a->diagonal = size + 2.0 * slack;
  a->reach_mean = 0.0;
  for (size_t i = 0; i < a->cloud_count; ++i) {
    a->reach_mean += a->reach[i] / (double)a->cloud_count;
  }
}

static abut_status create_actor(actor *a, const body *b, double union_tau)
{
  const packed p = {b->head, b->shape.data, b->shape.size};
  a->lower = (v3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
  a->upper = (v3){-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  const size_t squares = (size_t)p.head[HEAD_SUPERQUADRICS];
  const double *low = b->info.lower, *high = b->info.upper;
  cover(a, (v3){low[0], low[1], low[2]});
  cover(a, (v3){high[0], high[1], high[2]});
  for (size_t i = 0; i < squares; ++i) {
    add_superquadric(a, &p, (size_t)p.head[HEAD_SUPERQUADRIC_BASE] + i * SUPERQUADRIC_STRIDE);
  }
  TRY(add_clouds(a, &p));
  finish_box(a, p.head, union_tau);
  return ABUT_SUCCESS;
}

/* Saturates beyond float's range, so that a finite pose stays one in either precision. */
static double in_range(double x, size_t size)
{
  return size == sizeof(float) && isfinite(x) ? fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX)
                                              : x;
}

/* Both poses through the kernel that contacts use, in the context's precision. */
static abut_status read_frames(scene *s, int width, const double *const poses[2])
{
  abut_status status = ABUT_SUCCESS;
  device *d = s->device;
  const size_t size = device_real_bytes(d);
  buffer *in[2] = {NULL, NULL}, *out = NULL, *code = NULL;
  reals r[2] = {{0}, {0}}, frames = {0};
  for (int i = 0; i < 2; ++i) {
    TRY_DONE(reals_create(&r[i], (size_t)width, size));
    for (int k = 0; k < width; ++k) {
      reals_set(&r[i], (size_t)k, in_range(poses[i][k], size));
    }
    TRY_DONE(buffer_upload(d, r[i].count * size, r[i].data, &in[i]));
  }
  TRY_DONE(reals_create(&frames, FRAME_STRIDE, size));
  TRY_DONE(buffer_create(d, FRAME_STRIDE * size, &out));
  TRY_DONE(buffer_create(d, sizeof(int), &code));
  TRY_DONE(LAUNCH(d, KERNEL_POSES, 1, 1, ARG_BUFFER(in[0]), ARG_BUFFER(in[1]),
                  ARG_BUFFER(NULL), ARG_BUFFER(NULL), ARG_INT(width),
                  ARG_INT(1), ARG_BUFFER(out), ARG_BUFFER(code)));
  int bad = 0;
  TRY_DONE(buffer_read(out, 0, FRAME_STRIDE * size, frames.data));
  TRY_DONE(buffer_read(code, 0, sizeof bad, &bad));
  if (bad) {
    status = fail(ABUT_ERROR_ARGUMENT, bad == ABUT_POSE_NOT_FINITE
                                         ? "the pose to draw is not finite"
                                         : "the pose to draw has a quaternion of length 0");
    goto done;
  }
  const packed p = {NULL, frames.data, size};
  for (size_t i = 0; i < 2; ++i) {
    const size_t at = i ? FRAME_WORLD_2 : FRAME_WORLD_1;
    for (size_t k = 0; k < 9; ++k) {
      s->actors[i].frame.m[k] = number(&p, at + k);
    }
    s->actors[i].frame.t = vector(&p, at + 9);
  }
done:
  for (int i = 0; i < 2; ++i) {
    buffer_destroy(in[i]);
    free(r[i].data);
  }
  buffer_destroy(out);
  buffer_destroy(code);
  free(frames.data);
  return status;
}

abut_status scene_create(scene *s, pair *p, size_t place, abut_pose_kind kind,
                         const double *pose1, const double *pose2)
{
  memset(s, 0, sizeof *s);
  resident_pair *on = NULL;
  TRY(pair_on(p, place, &on));
  s->pair = p;
  s->on = on;
  s->device = p->context->members[place].device;
  device_select(s->device, 0);
  for (int i = 0; i < 2; ++i) {
    body *b = body_get(p->bodies[i]);
    if (!b) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(b, place, &s->actors[i].body));
    TRY(create_actor(&s->actors[i], b, p->smoothing.union_));
  }
  const double *const poses[2] = {pose1, pose2};
  return read_frames(s, kind == ABUT_POSE_TWIST ? 6 : 7, poses);
}

void scene_free(scene *s)
{
  for (int i = 0; i < 2; ++i) {
    free(s->actors[i].cloud);
    free(s->actors[i].reach);
  }
}
