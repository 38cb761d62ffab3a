/* JVPs by the shapes of bodies, and by poses too. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "contact/shape_call.h"
#include "contact/shape_follow.h"
#include "contact/shape_moves.h"
#include <limits.h>

typedef struct shape_jvp_call {
  const abut_shape_tangents *of[2]; /* for moving bodies */
  shaped_body bodies[2];            /* of NULL for a fixed body */
  bool each_pose, follow;
  const abut_smoothing *smoothing;
} shape_jvp_call;

/* Makes `count` rows of a body's direction in the kernels' format, from pose `first` on. */
static abut_status make_rows(const shape_jvp_call *s, int side, size_t first, size_t count,
                             size_t real_bytes, reals *out)
{
  const shaped_body *b = &s->bodies[side];
  const size_t own_width = shape_moves_own_width(b->of), width = shape_moves_width(b);
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(reals_create(out, count * width, real_bytes));
  TRY_DONE(allocate(&memory, own_width + width, sizeof(double)));
  double *own = memory, *row = own + own_width;
  for (size_t i = 0; i < count; ++i) {
    TRY_DONE(shape_moves_pack(b->of, s->of[side], first + i, own));
    TRY_DONE(s->follow && shape_moves_field(s->of[side])
               ? shape_follow_moves(b->of, s->smoothing, own)
               : ABUT_SUCCESS);
    shape_moves_settle(b, own, row);
    for (size_t k = 0; k < width; ++k) {
      reals_set(out, i * width + k, row[k]);
    }
  }
done:
  free(memory);
  return status;
}

/* Uploads a body's direction: once for the slot if all poses share it, otherwise a chunk's rows. */
static abut_status bring_rows(call_on *on, size_t slot, int side, chunk c)
{
  const shape_jvp_call *s = on->call->user;
  buffer **at = &on->moves[slot][side];
  reals rows = {.data = NULL};
  if (*at && !s->each_pose) {
    return ABUT_SUCCESS;
  }
  buffer_destroy(*at);
  *at = NULL;
  const run *r = derivatives_on(on, slot);
  abut_status status =
    make_rows(s, side, c.first, s->each_pose ? c.count : 1, device_real_bytes(r->device), &rows);
  if (status == ABUT_SUCCESS) {
    status = buffer_upload(r->device, rows.count * rows.size, rows.data, at);
  }
  free(rows.data);
  return status;
}

static abut_status jvp_upload(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const shape_jvp_call *s = on->call->user;
  run *r = derivatives_on(on, slot);
  for (int side = 0; side < 2; ++side) {
    if (s->bodies[side].of) {
      TRY(bring_rows(on, slot, side, c));
      const size_t width = shape_moves_width(&s->bodies[side]);
      r->moves[side] = (run_moves){on->moves[slot][side], s->each_pose ? width : 0,
                                   shape_moves_mesh_at(s->bodies[side].of)};
    }
  }
  if (!r->wanted.mesh_moves[0] && !r->wanted.mesh_moves[1]) {
    return ABUT_SUCCESS;
  }
  TRY(on->moving.head ? ABUT_SUCCESS
                      : pair_moving(r->pair, b->place, r->wanted.mesh_moves, &on->moving));
  r->on = &on->moving;
  return ABUT_SUCCESS;
}

static const operation shape_jvp_operation = {.base = &poses_operation,
                                              .module = MODULE_MANIFOLD,
                                              .upload = jvp_upload,
                                              .launch = call_launch_derivatives};

/* Finds which bodies move, and rejects directions that are not finite. */
static abut_status check_directions(call *c, shape_jvp_call *s)
{
  run *r = derivatives_run(c);
  for (int side = 0; side < 2; ++side) {
    const abut_shape_tangents *t = s->of[side];
    const bool field = shape_moves_field(t);
    if (!field && !shape_moves_mesh(t)) {
      continue;
    }
    const shaped_body b = shaped_of(r->pair, side);
    if (!b.of) {
      return ABUT_ERROR_HANDLE;
    }
    if (shape_moves_width(&b) > INT_MAX) {
      return fail(ABUT_ERROR_TOO_LARGE, "body %d has %zu numbers, but at most %d are possible",
                  side + 1, shape_moves_width(&b), INT_MAX);
    }
    TRY(shape_moves_check(b.of, t, s->each_pose ? c->batch->count : 1, side + 1));
    s->bodies[side] = b;
    shape_add_ranges(c, b.of, t, s->each_pose ? c->batch->count : 1, side, MEMORY_READ);
    r->wanted.field_moves[side] = field;
    r->wanted.mesh_moves[side] = shape_moves_mesh(t) || s->follow;
  }
  return ABUT_SUCCESS;
}

abut_status abut_shape_jvp(abut_pair handle_, abut_batch *batch, const abut_shape_tangents *shape1,
                           const abut_shape_tangents *shape2, const abut_pose_tangents *along,
                           const abut_tangents *tangents, uint32_t want)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  shape_jvp_call s = {.of = {shape1, shape2},
                      .each_pose = (want & ABUT_SHAPE_EACH_POSE) != 0,
                      .follow = (want & ABUT_SHAPE_FOLLOW) != 0};
  if (!tangents || (!shape1 && !shape2 && !along)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_shape_jvp needs a direction (of a body's numbers or of "
                                     "poses) and an array for the tangent of an output");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(shape_call_check(&c, want));
  TRY(call_add_derivatives(&c, handle_, ABUT_SAME_PAIR, PROGRAM_DUAL));
  TRY(check_directions(&c, &s));
  run *r = derivatives_run(&c);
  s.smoothing = &r->pair->smoothing;
  r->wanted.arrays |= outputs_given(OUTPUT_TANGENTS, tangents);
  call_add_output_tangents(&c, tangents);
  c.along = along;
  c.user = &s;
  c.base.operation = &shape_jvp_operation;
  return call_finish(&c);
}
