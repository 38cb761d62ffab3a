/* VJPs and gradients of reductions with respect to the shapes of bodies. */
#include <abut/shape.h>

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "body/family/grid_slopes.h"
#include "geometry/layout.h"
#include "contact/reductions.h"
#include "contact/shape_call.h"
#include "contact/shape_follow.h"
#include "contact/shape_moves.h"
#include "contact/shape_rows.h"
#include "contact/shape_sums.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

abut_status abut_get_shape_sizes(abut_body handle_, abut_shape_sizes *out)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_shape_sizes: the output pointer is NULL");
  }
  *out = shape_sizes_of(b);
  return ABUT_SUCCESS;
}

abut_status abut_get_shape_counts(abut_body handle_, size_t *planes, size_t *points,
                                  size_t *coefficients)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  for (size_t i = 0; planes && i < b->parts.polyhedron_count; ++i) {
    planes[i] = b->parts.polyhedra[i].count;
  }
  for (size_t i = 0; points && i < b->parts.pointcloud_count; ++i) {
    points[i] = b->parts.pointclouds[i].count;
  }
  for (size_t i = 0; coefficients && i < b->parts.grid_count; ++i) {
    coefficients[i] = grid_coefficient_count(&b->parts.grids[i]);
  }
  return ABUT_SUCCESS;
}

/* ---- a call ---- */

typedef struct shape_call {
  abut_reduction reduction; /* first, where the steps of reductions read it */
  bool reduces, each_pose, follow;
  const abut_shape_gradients *to[2];
  shaped_body bodies[2]; /* of NULL: no result for the body is wanted */
  shape_sums *sums;
  const abut_smoothing *smoothing;
  size_t real_bytes;
} shape_call;

static bool wants_shape(const abut_shape_gradients *s)
{
  return s && (s->vertices || s->axes || s->exponents || s->position || s->rotation ||
               s->plane_normals || s->plane_points || s->cloud_points || s->cloud_normals ||
               s->cloud_widths || s->grid_coefficients || s->core_half || s->core_radius ||
               s->core_position || s->core_rotation || s->feature_vertices || s->vertex_radius ||
               s->edge_radius);
}

static abut_status shape_launch(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const shape_call *s = on->call->user;
  const run *r = derivatives_on(on, slot);
  TRY(s->reduces ? reduction_cotangents(on, slot, c.count) : ABUT_SUCCESS);
  TRY(run_wrenches(r, c.count));
  return run_shapes(r, c.count);
}

static abut_status shape_upload(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const shape_call *s = on->call->user;
  run *r = derivatives_on(on, slot);
  if (is_in_fields(r->pair)) { /* radii vary, even if all are 0 */
    const bool still[2] = {false, false};
    TRY(on->moving.head ? ABUT_SUCCESS : pair_moving(r->pair, b->place, still, &on->moving));
    r->on = &on->moving;
  }
  return s->reduces ? reduction_upload(b, slot, c) : ABUT_SUCCESS;
}

/* Writes the rows of a chunk's poses to the caller's arrays. */
static abut_status write_rows(const shape_call *s, int side, chunk c, const char *rows,
                              size_t sites, const bool *rejected)
{
  const shaped_body *b = &s->bodies[side];
  const size_t width = shape_row_width(b, sites), sums = shape_sum_width(b),
               first = shape_row_first(b);
  const size_t owns = shape_own_width(b->of);
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, sums + owns, sizeof(double)));
  double *sum = memory, *own = sum + sums;
  for (size_t i = 0; i < c.count && status == ABUT_SUCCESS; ++i) {
    memset(sum, 0, sums * sizeof *sum);
    if (!rejected[i]) {
      shape_add_row(shape_walk_begin(b->of, sites, first, first), rows + i * width * s->real_bytes,
                    s->real_bytes, sum);
    }
    shape_settle(b, sum, own);
    for (size_t k = 0; rejected[i] && k < owns; ++k) {
      own[k] = (double)NAN;
    }
    status = s->follow && !rejected[i] ? shape_follow(b->of, s->smoothing, own) : ABUT_SUCCESS;
    if (status == ABUT_SUCCESS) {
      status = shape_write(b->of, own, s->to[side], c.first + i);
    }
  }
  free(sum);
  return status;
}

/* Writes the sums over all poses to the caller's arrays. */
static abut_status write_sums(const shape_call *s, int side, const double *sum)
{
  const shaped_body *b = &s->bodies[side];
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, shape_own_width(b->of), sizeof(double)));
  double *own = memory;
  shape_settle(b, sum, own);
  TRY_DONE(s->follow ? shape_follow(b->of, s->smoothing, own) : ABUT_SUCCESS);
  TRY_DONE(shape_write(b->of, own, s->to[side], 0));
done:
  free(memory);
  return status;
}

/* Reads a chunk's rows of a body. The caller frees *rows. */
static abut_status read_rows(const shape_call *s, const run *r, int side, size_t count,
                             size_t *sites, void **rows)
{
  *sites = (size_t)run_sites(r).count[side];
  const size_t bytes = shape_row_width(&s->bodies[side], *sites) * s->real_bytes;
  TRY(allocate(rows, count, bytes));
  return buffer_read(run_buffer(r, OF_SIDE(SCRATCH_SHAPE_1, side)), 0, count * bytes, *rows);
}

static abut_status shape_collect(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const shape_call *s = on->call->user;
  const run *r = derivatives_on(on, slot);
  abut_status status = ABUT_SUCCESS;
  void *rows[2] = {NULL, NULL}, *memory = NULL;
  size_t sites[2] = {0, 0};
  TRY_DONE(allocate(&memory, c.count, sizeof(bool)));
  bool *rejected = memory;
  for (size_t i = 0; i < c.count; ++i) {
    rejected[i] = (on->status[i] & ABUT_POSE_REJECTED) != 0;
  }
  for (int side = 0; side < 2; ++side) {
    TRY_DONE(s->bodies[side].of ? read_rows(s, r, side, c.count, &sites[side], &rows[side])
                                : ABUT_SUCCESS);
    TRY_DONE(s->bodies[side].of && s->each_pose
               ? write_rows(s, side, c, rows[side], sites[side], rejected)
               : ABUT_SUCCESS);
  }
  shape_pieces_free(on->shapes);
  on->shapes = NULL;
  if (!s->each_pose) {
    status = shape_pieces_create(s->sums, c.first, c.count, rows, sites, rejected, &on->shapes);
  }
done:
  free(memory);
  free(rows[0]);
  free(rows[1]);
  return status;
}

static void shape_add(batch_on *b, chunk c)
{
  (void)c;
  call_on *on = b->user;
  const shape_call *s = on->call->user;
  if (!s->each_pose) {
    shape_sums_add(s->sums, on->shapes);
    on->shapes = NULL;
  }
}

static void shape_again(batch_call *b)
{
  const shape_call *s = ((const call *)b)->user; /* base is its first member */
  shape_sums_empty(s->sums);
}

static const operation shape_operation = {.base = &poses_operation,
                                          .module = MODULE_MANIFOLD,
                                          .upload = shape_upload,
                                          .launch = shape_launch,
                                          .collect = shape_collect,
                                          .add = shape_add,
                                          .again = shape_again};

static abut_status finish(call *c, shape_call *s)
{
  static const shaped_body none[2] = {{NULL, NULL}, {NULL, NULL}};
  abut_status status = ABUT_SUCCESS;
  shape_sums sums;
  s->sums = &sums;
  s->real_bytes = c->real_bytes;
  c->user = s;
  c->base.operation = &shape_operation;
  c->base.multiple = SHAPE_BLOCK;
  TRY_DONE(
    shape_sums_create(s->each_pose ? none : s->bodies, c->batch->count, s->real_bytes, &sums));
  for (int side = 0; side < 2; ++side) {
    if (s->bodies[side].of) {
      shape_add_ranges(c, s->bodies[side].of, s->to[side], s->each_pose ? c->batch->count : 1, side,
                       MEMORY_WRITTEN);
    }
  }
  TRY_DONE(call_finish(c));
  for (int side = 0; side < 2; ++side) {
    TRY_DONE(s->bodies[side].of && !s->each_pose ? write_sums(s, side, sums.total[side])
                                                 : ABUT_SUCCESS);
  }
done:
  shape_sums_free(&sums);
  return status;
}

abut_status shape_call_check(const call *c, uint32_t want)
{
  const abut_batch *batch = c->batch;
  if (want & ~(uint32_t)(ABUT_SHAPE_EACH_POSE | ABUT_SHAPE_FOLLOW)) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown kind %u of derivatives by shapes", (unsigned)want);
  }
  return c->lists[0] || batch->memory == ABUT_MEMORY_STATE || batch->compact || batch->derivatives
           ? fail(ABUT_ERROR_ARGUMENT, "derivatives by shapes need a batch of one pair that is not "
                                       "on a state and has no compact list and no second smoothing")
           : ABUT_SUCCESS;
}

/* Starts a call with derivatives with respect to shapes. */
static abut_status start(call *c, abut_pair pair_, abut_batch *batch, uint32_t want, shape_call *s)
{
  TRY(call_start(c, pair_, batch));
  TRY(shape_call_check(c, want));
  s->each_pose = (want & ABUT_SHAPE_EACH_POSE) != 0;
  s->follow = (want & ABUT_SHAPE_FOLLOW) != 0;
  run *r = &c->runs[0];
  s->smoothing = &r->pair->smoothing;
  r->wanted.active = false; /* the derivatives are those of all contacts */
  for (int side = 0; side < 2; ++side) {
    r->wanted.shaped[side] = wants_shape(s->to[side]);
    s->bodies[side] = r->wanted.shaped[side] ? shaped_of(r->pair, side) : (shaped_body){NULL, NULL};
  }
  return s->bodies[0].of || s->bodies[1].of
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT,
                  "derivatives by shapes need the arrays of at least one body");
}

abut_status abut_shape_vjp(abut_pair handle_, abut_batch *batch, const abut_cotangents *cotangents,
                           const abut_shape_gradients *shape1, const abut_shape_gradients *shape2,
                           uint32_t want)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  shape_call s = {.to = {shape1, shape2}};
  const int given = outputs_given(OUTPUT_COTANGENTS, cotangents);
  if (!given || given & WANT_WHOLE) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "abut_shape_vjp needs a cotangent of an output, and takes no cotangent of the weights");
  }
  TRY(start(&c, handle_, batch, want, &s));
  c.runs[0].wanted.cotangents = given;
  call_add_cotangents(&c, cotangents, NULL);
  return finish(&c, &s);
}

abut_status abut_shape_gradient(abut_pair handle_, abut_batch *batch, abut_reduction reduction,
                                const abut_shape_gradients *shape1,
                                const abut_shape_gradients *shape2, uint32_t want)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  shape_call s = {.reduction = reduction, .reduces = true, .to = {shape1, shape2}};
  TRY(check_reduction(reduction));
  if (reduction == ABUT_REDUCE_SOFT_DISTANCE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the soft distance has no gradient by shapes, because it is made of weights");
  }
  TRY(start(&c, handle_, batch, want, &s));
  prepare_reduction(&c.runs[0], &c.runs[0], reduction);
  return finish(&c, &s);
}
