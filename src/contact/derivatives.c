/* VJPs and their derivatives, JVPs, gradients and Hessians of reductions, and Jacobian blocks. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/call.h"
#include "contact/outputs.h"
#include "contact/reductions.h"
#include <stdlib.h>

abut_status call_add_derivatives(call *c, abut_pair handle_, abut_pair derivatives,
                                 program_id program)
{
  const wanted *w = &c->runs[0].wanted;
  const abut_pair *own = c->lists[0] ? c->lists[0] : &handle_;
  if (c->lists[0] && has_pair(derivatives)) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch with its own list of pairs takes the pairs for "
                                     "derivatives from that batch: pass ABUT_SAME_PAIR");
  }
  if (has_pair(derivatives) || c->batch->derivatives) {
    return call_add_run(c, c->lists[0] ? c->batch->derivatives : &derivatives, program);
  }
  if (program != PROGRAM_PLAIN && (w->reduced || w->compact)) {
    return call_add_run(c, own, program);
  }
  c->runs[0].program = program;
  c->runs[0].wanted.active = false; /* the derivatives are those of all contacts */
  return ABUT_SUCCESS;
}

abut_status call_launch_derivatives(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  return on->call->run_count > 1 ? run_forward(derivatives_on(on, slot), c.count) : ABUT_SUCCESS;
}

/* ---- VJP ---- */

static abut_status vjp_launch(batch_on *b, size_t slot, chunk c)
{
  TRY(call_launch_derivatives(b, slot, c));
  return run_reverse(derivatives_on(b->user, slot), c.count);
}

static const operation vjp_operation = {.base = &poses_operation,
                                        .module = MODULE_MANIFOLD,
                                        .launch = vjp_launch};

void call_add_cotangents(call *c, const abut_cotangents *bars, const abut_cotangents *tangents)
{
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    call_add_bars(c, o, bars ? output_array(o, OUTPUT_COTANGENTS, bars) : NULL,
                  tangents ? output_array(o, OUTPUT_COTANGENT_TANGENTS, tangents) : NULL);
  }
}

abut_status abut_vjp(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                     const abut_cotangents *cotangents, const abut_gradients *gradients)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  const int given = outputs_given(OUTPUT_COTANGENTS, cotangents);
  if (!given || !gradients) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "abut_vjp needs the cotangent of at least one output, and at least one gradient array");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(call_add_derivatives(&c, handle_, derivatives, PROGRAM_PLAIN));
  derivatives_run(&c)->wanted.cotangents = given;
  call_add_cotangents(&c, cotangents, NULL);
  call_add_gradients(&c, 0, gradients);
  c.base.operation = &vjp_operation;
  return call_finish(&c);
}

/* abut_vjp on duals, with tangents for both poses and cotangents. */
abut_status abut_vjp_tangent(abut_pair handle_, abut_batch *batch,
                             const abut_cotangents *cotangents,
                             const abut_cotangents *cotangent_tangents,
                             const abut_pose_tangents *along, const abut_gradients *gradients,
                             const abut_gradients *tangents)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  const int given = outputs_given(OUTPUT_COTANGENTS, cotangents) |
                    outputs_given(OUTPUT_COTANGENT_TANGENTS, cotangent_tangents);
  if (!given || !tangents) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_vjp_tangent needs the cotangent of at least one output or a tangent of it, "
                "and an array for a tangent of the gradients");
  }
  TRY(call_start(&c, handle_, batch));
  if (batch->derivatives) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_vjp_tangent does not take a second smoothing");
  }
  TRY(call_add_derivatives(&c, handle_, ABUT_SAME_PAIR, PROGRAM_DUAL));
  derivatives_run(&c)->wanted.cotangents = given;
  call_add_cotangents(&c, cotangents, cotangent_tangents);
  c.along = along;
  if (gradients) {
    call_add_gradients(&c, 0, gradients);
  }
  call_add_gradients(&c, 1, tangents);
  c.base.operation = &vjp_operation;
  return call_finish(&c);
}

/* ---- JVP ---- */

void call_add_output_tangents(call *c, const abut_tangents *t)
{
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    call_add_tangents(c, o, output_array(o, OUTPUT_TANGENTS, t));
  }
}

static const operation jvp_operation = {.base = &poses_operation,
                                        .module = MODULE_MANIFOLD,
                                        .launch = call_launch_derivatives};

abut_status abut_jvp(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                     const abut_pose_tangents *along, const abut_tangents *tangents)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  if (!along || !tangents) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_jvp needs a tangent of a pose, and an array for the tangent of an output");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(call_add_derivatives(&c, handle_, derivatives, PROGRAM_DUAL));
  derivatives_run(&c)->wanted.arrays |= outputs_given(OUTPUT_TANGENTS, tangents);
  call_add_output_tangents(&c, tangents);
  c.along = along;
  c.base.operation = &jvp_operation;
  return call_finish(&c);
}

/* ---- reductions ---- */

/* Makes a row of C equal numbers that all poses share as cotangents, unless it exists. */
static abut_status make_shared_bar(const run *r, double value, buffer **out)
{
  if (*out) {
    return ABUT_SUCCESS;
  }
  reals row;
  const size_t contacts = r->pair->layout.contacts;
  TRY(reals_create(&row, contacts, device_real_bytes(r->device)));
  for (size_t i = 0; i < contacts; ++i) {
    reals_set(&row, i, value);
  }
  const abut_status status = buffer_upload(r->device, row.count * row.size, row.data, out);
  free(row.data);
  return status;
}

#define SLOPE(member, id, word, file, over_, bars_, reads_) \
  [ABUT_REDUCE_##id] = {.over = (over_), .bars = (bars_), .reads = (reads_)},

#define SAME_NUMBER(member, id, word, file, over_, bars_, reads_) \
  _Static_assert((int)ABUT_REDUCE_##id == (int)REDUCED_##id, "the table is in this order");
SLOPED_REDUCTIONS(SAME_NUMBER)

static const struct {
  int over, bars, reads;
} slopes[REDUCTIONS_SLOPED] = {SLOPED_REDUCTIONS(SLOPE)};

void prepare_reduction(run *values, run *r, abut_reduction reduction)
{
  const int over = slopes[reduction].over;
  if (over == OVER_VERTICES) {
    values->wanted.vertices_alone = !values->wanted.arrays && !values->wanted.reduced;
    r->wanted.vertices_alone = r != values || values->wanted.vertices_alone;
  }
  const bool of_weights = over == OVER_WEIGHED;
  values->wanted.middles = values->wanted.middles || of_weights;
  r->wanted.middles_back = of_weights;
  values->wanted.arrays |= slopes[reduction].reads;
  r->wanted.cotangents = slopes[reduction].bars;
  r->wanted.shared_d = reduction == ABUT_REDUCE_MEAN_DISTANCE;
  r->wanted.shared_activity = reduction == ABUT_REDUCE_ACTIVITY;
}

static run *reduced_run(call *c)
{
  run *r = derivatives_run(c);
  return r->program == PROGRAM_DUAL ? r : values_run(c);
}

abut_status reduction_upload(batch_on *b, size_t slot, chunk c)
{
  (void)c;
  const run *r = derivatives_on(b->user, slot);
  if (r->wanted.cutoff > 0.0) {
    return ABUT_SUCCESS;
  }
  if (r->wanted.shared_d) {
    TRY(make_shared_bar(r, 1.0 / (double)r->pair->layout.contacts, &r->on->mean_bar));
  }
  return r->wanted.shared_activity ? make_shared_bar(r, 1.0, &r->on->one_bar) : ABUT_SUCCESS;
}

abut_status reduction_cotangents(call_on *on, size_t slot, size_t count)
{
  const abut_reduction reduction = *(const abut_reduction *)on->call->user;
  const run *r = derivatives_on(on, slot);
  const run *from = r->program == PROGRAM_DUAL ? r : values_on(on, slot);
  const abut_layout *l = &r->pair->layout;
  if (reduction == ABUT_REDUCE_ENERGY) {
    return LAUNCH_RUN(r, KERNEL_ENERGY_COTANGENTS, lane_blocks(r, l->contacts), count,
                      BUFFER(from, SCRATCH_D), BUFFER(from, SCRATCH_ACTIVITY), HEAD(r),
                      BUFFER(r, SCRATCH_D_BAR), BUFFER(r, SCRATCH_ACTIVITY_BAR));
  }
  if (reduction == ABUT_REDUCE_SOFT_MINIMUM) {
    return LAUNCH_RUN(r, KERNEL_SOFT_MINIMUM_COTANGENTS, count, 1, BUFFER(from, SCRATCH_D),
                      HEAD(from), BUFFER(r, SCRATCH_D_BAR));
  }
  if (reduction == ABUT_REDUCE_DISTANCE) {
    return LAUNCH_RUN(r, KERNEL_DISTANCE_COTANGENTS, count, 1, BUFFER(from, SCRATCH_D),
                      BUFFER(from, SCRATCH_WEIGHT), BUFFER(from, SCRATCH_MIDDLES), HEAD(from),
                      BUFFER(r, SCRATCH_D_BAR), BUFFER(r, SCRATCH_MIDDLES_BAR));
  }
  if (reduction == ABUT_REDUCE_SOFT_DISTANCE) {
    const double temperature = soft_temperature(from, &on->call->batch->reductions);
    return LAUNCH_RUN(r, KERNEL_SOFT_DISTANCE_COTANGENTS, count, 1, BUFFER(from, SCRATCH_D),
                      BUFFER(from, SCRATCH_WEIGHT), BUFFER(from, SCRATCH_MIDDLES), HEAD(from),
                      ARG_REAL(temperature), BUFFER(r, SCRATCH_D_BAR),
                      BUFFER(r, SCRATCH_WEIGHT_BAR), BUFFER(r, SCRATCH_MIDDLES_BAR));
  }
  return ABUT_SUCCESS;
}

/* Launches the derivatives of a reduction. For a sum over active contacts, contacts that bounds
 * exclude are skipped. */
static abut_status reduction_launch(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const abut_reduction reduction = *(const abut_reduction *)on->call->user;
  const run *r = derivatives_on(on, slot);
  if (r->wanted.cutoff > 0.0) {
    TRY(run_sum_bars(r, c.count, reduction == ABUT_REDUCE_ENERGY));
    return run_active_reverse(r, c.count);
  }
  TRY(call_launch_derivatives(b, slot, c));
  TRY(reduction_cotangents(on, slot, c.count));
  return run_reverse(derivatives_on(on, slot), c.count);
}

static const operation reduction_operation = {.base = &poses_operation,
                                              .module = MODULE_MANIFOLD,
                                              .upload = reduction_upload,
                                              .launch = reduction_launch};

abut_status check_reduction(abut_reduction reduction)
{
  return (int)reduction >= 0 && (int)reduction < REDUCTIONS_SLOPED
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown reduction %d", (int)reduction);
}

/* Returns whether only a sum over active contacts is wanted, and nothing else that needs its own
 * run or a list. */
static bool sums_active(const call *c, abut_pair derivatives, abut_reduction reduction)
{
  const abut_batch *b = c->batch;
  return slopes[reduction].over == OVER_ACTIVE && !has_pair(derivatives) && !b->derivatives &&
         !b->compact;
}

static abut_status run_reduction(call *c, const abut_reduction *reduction)
{
  prepare_reduction(reduced_run(c), derivatives_run(c), *reduction);
  c->base.operation = &reduction_operation;
  c->user = reduction;
  return call_finish(c);
}

abut_status abut_gradient(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                          abut_reduction reduction, const abut_gradients *gradients)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  if (!gradients) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_gradient needs at least one gradient array");
  }
  TRY(check_reduction(reduction));
  TRY(call_start(&c, handle_, batch));
  TRY(call_add_derivatives(&c, handle_, derivatives, PROGRAM_PLAIN));
  c.runs[0].wanted.active = c.runs[0].wanted.sum = sums_active(&c, derivatives, reduction);
  call_add_gradients(&c, 0, gradients);
  return run_reduction(&c, &reduction);
}

abut_status abut_hessian_product(abut_pair handle_, abut_batch *batch, abut_reduction reduction,
                                 const abut_pose_tangents *along, const abut_gradients *gradients,
                                 const abut_gradients *products)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  if (!along || !products) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "abut_hessian_product needs at least one tangent and at least one array for products");
  }
  TRY(check_reduction(reduction));
  TRY(call_start(&c, handle_, batch));
  if (batch->derivatives) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_hessian_product does not take a second smoothing");
  }
  TRY(call_add_derivatives(&c, handle_, ABUT_SAME_PAIR, PROGRAM_DUAL));
  c.along = along;
  if (gradients) {
    call_add_gradients(&c, 0, gradients);
  }
  call_add_gradients(&c, 1, products);
  return run_reduction(&c, &reduction);
}

/* ---- whole Hessians ---- */

typedef struct hessian_call {
  abut_reduction reduction; /* first, where the steps of reductions read it */
  size_t first, columns;    /* among both poses' numbers, those of pose 1 first */
} hessian_call;

/* Launches whole Hessians. Reductions depend on distances and activities, which only depend on the
 * motion of one body relative to the other. So derivatives along six of these motions are enough
 * for every pose format. */
static abut_status hessian_launch(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const hessian_call *h = on->call->user;
  run r = *derivatives_on(on, slot);
  for (r.motion = 0; r.motion < MOTIONS; ++r.motion) {
    TRY(run_forward(&r, c.count));
    TRY(reduction_cotangents(on, slot, c.count));
    TRY(run_wrenches(&r, c.count));
    TRY(LAUNCH_RUN(&r, KERNEL_WRENCH_SLOPES, c.count, 1, BUFFER(&r, SCRATCH_FRAMES),
                   BUFFER(&r, SCRATCH_WRENCHES), ARG_INT(wrench_blocks(&r)), ARG_INT(r.motion),
                   BUFFER(&r, SCRATCH_SLOPES)));
  }
  return LAUNCH_RUN(&r, KERNEL_POSES_HESSIAN, h->columns, c.count, BUFFER(&r, SCRATCH_POSE_1),
                    BUFFER(&r, SCRATCH_POSE_2), ARG_INT(r.pose_width), ARG_INT(h->first),
                    ARG_INT(h->columns), BUFFER(&r, SCRATCH_SLOPES), BUFFER(&r, SCRATCH_STATUS),
                    BUFFER(&r, SCRATCH_GRADIENT_1), BUFFER(&r, SCRATCH_GRADIENT_2),
                    BUFFER(&r, SCRATCH_HESSIAN));
}

static const operation hessian_operation = {.base = &poses_operation,
                                            .module = MODULE_MANIFOLD,
                                            .upload = reduction_upload,
                                            .launch = hessian_launch};

/* Adds a run for derivatives along motions if values are wanted, since its frames differ. */
static abut_status add_own_run(call *c, const abut_pair *one, program_id program)
{
  const wanted *w = &c->runs[0].wanted;
  if (w->arrays || w->reduced || w->compact) {
    return call_add_run(c, c->lists[0] ? c->lists[0] : one, program);
  }
  c->runs[0].program = program;
  return ABUT_SUCCESS;
}

static abut_status check_hessian(const abut_batch *batch, abut_reduction reduction,
                                 abut_moving moving, const void *hessian)
{
  TRY(check_reduction(reduction));
  if (!hessian && batch && batch->count) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_hessian: the array for the Hessians is NULL");
  }
  return (int)moving >= ABUT_BOTH_BODIES && moving <= ABUT_BODY_2
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown value %d for the bodies to move", (int)moving);
}

abut_status abut_hessian(abut_pair handle_, abut_batch *batch, abut_reduction reduction,
                         abut_moving moving, const abut_gradients *gradients, void *hessian)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  TRY(check_hessian(batch, reduction, moving, hessian));
  TRY(call_start(&c, handle_, batch));
  if (batch->derivatives) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_hessian does not take a second smoothing");
  }
  TRY(add_own_run(&c, &handle_, PROGRAM_DUAL));
  run *r = derivatives_run(&c);
  const size_t width = (size_t)r->pose_width;
  const hessian_call h = {reduction, moving == ABUT_BODY_2 ? width : 0,
                          moving == ABUT_BOTH_BODIES ? 2 * width : width};
  r->wanted.motions = true;
  prepare_reduction(r, r, reduction);
  if (gradients) {
    call_add_gradients(&c, 0, gradients);
  }
  call_add_rows(&c, "the Hessian", SCRATCH_HESSIAN, hessian, h.columns * h.columns);
  c.base.operation = &hessian_operation;
  c.user = &h;
  return call_finish(&c);
}

/* ---- Jacobian blocks ---- */

/* Computes values with their derivatives along all motions, for the list's contacts or for all. */
static abut_status entries_along_motions(const run *r, size_t poses, const entry_list *list)
{
  if (!r->wanted.listed) {
    return run_forward(r, poses);
  }
  TRY(run_listed(r, poses, list));
  return run_listed_values(r, poses);
}

/* Makes the blocks of `count` entries, from `first` on. */
static abut_status make_blocks(const run *r, size_t poses, const entry_list *list, size_t first,
                               size_t count)
{
  TRY(r->wanted.listed ? run_listed_rows(r, poses, first, count)
                       : run_picked_rows(r, poses, list, first, count));
  return LAUNCH(r->device, KERNEL_JACOBIAN_BLOCKS, count, 1, ARG_BUFFER(list->slots),
                ARG_INT(first), ARG_INT(count), BUFFER(r, SCRATCH_ROWS), BUFFER(r, SCRATCH_STEPS),
                ARG_INT(r->pose_width), BUFFER(r, SCRATCH_JACOBIAN));
}

/* Makes a chunk's blocks. The number of entries is known after the values; then their derivatives
 * are launched. */
static abut_status jacobian_collect(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const run *r = derivatives_on(on, slot), *values = values_on(on, slot);
  const size_t entries = on->piece->entries, room = c.count * block_entries(r);
  const size_t bytes = on->call->list.block_bytes;
  const entry_list list = {run_buffer(values, SCRATCH_OFFSETS), run_buffer(values, SCRATCH_LIST), 1,
                           COMPACT_INTS, entries};
  if (!entries) {
    return ABUT_SUCCESS;
  }
  TRY(entries_along_motions(r, c.count, &list));
  TRY(LAUNCH(r->device, KERNEL_MOTION_STEPS, c.count, 1, BUFFER(r, SCRATCH_POSE_1),
             BUFFER(r, SCRATCH_POSE_2), ARG_INT(r->pose_width), ARG_INT(c.count),
             BUFFER(r, SCRATCH_STEPS)));
  for (size_t first = 0; first < entries; first += room) {
    const size_t count = entries - first < room ? entries - first : room;
    TRY(make_blocks(r, c.count, &list, first, count));
    TRY(device_submit(r->device));
    TRY(device_wait(r->device, &b->computed));
    TRY(buffer_read(run_buffer(r, SCRATCH_JACOBIAN), 0, count * bytes,
                    on->piece->blocks + first * bytes));
  }
  return ABUT_SUCCESS;
}

static const operation jacobian_operation = {.base = &poses_operation,
                                             .module = MODULE_MANIFOLD,
                                             .collect = jacobian_collect};

abut_status abut_jacobian(abut_pair handle_, abut_pair derivatives, abut_batch *batch, void *blocks)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  const abut_compact *list = batch ? batch->compact : NULL;
  if (!list || (!list->grows && list->capacity && !blocks)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_jacobian needs a batch with a compact list, and an array for the blocks");
  }
  if (list->grows && blocks) {
    return fail(ABUT_ERROR_ARGUMENT, "a list that grows allocates its blocks itself: pass NULL");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(call_add_derivatives(&c, handle_, derivatives, PROGRAM_DUAL6));
  derivatives_run(&c)->wanted = (wanted){.arrays = WANT_LISTED, .blocks = true, .motions = true};
  c.list.blocks = blocks;
  c.list.block_bytes = 16 * (size_t)c.runs[0].pose_width * c.real_bytes;
  c.base.operation = &jacobian_operation;
  return call_finish(&c);
}
