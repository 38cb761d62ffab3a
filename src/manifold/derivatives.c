/* VJP, JVP, gradients and Hessians of reductions, Jacobian blocks. */
#include "base/error.h"
#include "base/reals.h"
#include "geometry/layout.h"
#include "manifold/call.h"
#include <abut/derivatives.h>
#include <stdlib.h>

static bool has_pair(abut_pair p)
{
  return p.index || p.generation;
}

/* Makes the derivatives' run: the values' own, unless they have another smoothing, or are on duals
 * while the batch wants what only the plain program computes. */
static abut_status add_derivatives(call *c, abut_pair handle_, abut_pair derivatives,
                                   program_id program)
{
  const wanted *w = &c->runs[0].wanted;
  if (has_pair(derivatives)) {
    return call_add_run(c, derivatives, program);
  }
  if (program == PROGRAM_DUAL && (w->reduced || w->compact)) {
    return call_add_run(c, handle_, program);
  }
  c->runs[0].program = program;
  return ABUT_SUCCESS;
}

/* The derivatives' own forward pass, where it is not the values'. */
static abut_status forward_derivatives(call_on *on, size_t slot, chunk c)
{
  return on->call->run_count > 1 ? run_forward(derivatives_on(on, slot), c.count) : ABUT_SUCCESS;
}

static abut_status check_gradients(const call *c, const abut_gradients *g)
{
  const size_t width = (size_t)c->runs[0].pose_width;
  TRY(check_array(c, g->pose1, width, "the gradient of pose1"));
  return check_array(c, g->pose2, width, "the gradient of pose2");
}

static abut_status check_along(const call *c, const abut_pose_tangents *along)
{
  const size_t width = (size_t)c->runs[0].pose_width;
  TRY(check_array(c, along->pose1, width, "the tangent of pose1"));
  return check_array(c, along->pose2, width, "the tangent of pose2");
}

static abut_status get_gradients(const run *r, int part, const abut_gradients *to, chunk c)
{
  const size_t width = (size_t)r->pose_width;
  TRY(get_rows(r, SCRATCH_GRADIENT_1, part, to->pose1, c, width));
  return get_rows(r, SCRATCH_GRADIENT_2, part, to->pose2, c, width);
}

/* ---- VJP ---- */

typedef struct vjp_call {
  const abut_cotangents *cotangents;
  const abut_gradients *gradients;
} vjp_call;

static abut_status vjp_upload(call_on *on, size_t slot, chunk c)
{
  const vjp_call *v = on->call->user;
  const abut_cotangents *bar = v->cotangents;
  run *r = derivatives_on(on, slot);
  const size_t contacts = r->pair->layout.contacts;
  const struct {
    scratch_id id;
    const void *array;
    size_t width;
  } rows[] = {{SCRATCH_P_BAR, bar->p, 3 * contacts}, {SCRATCH_D_BAR, bar->d, contacts},
              {SCRATCH_N_BAR, bar->n, 3 * contacts},
              {SCRATCH_ACTIVITY_BAR, bar->activity, contacts}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if (rows[i].array) {
      TRY(put_rows(r, rows[i].id, rows[i].array, c, rows[i].width));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status vjp_launch(call_on *on, size_t slot, chunk c)
{
  TRY(forward_derivatives(on, slot, c));
  return run_reverse(derivatives_on(on, slot), c.count);
}

static abut_status vjp_collect(call_on *on, size_t slot, chunk c)
{
  const vjp_call *v = on->call->user;
  return get_gradients(derivatives_on(on, slot), 0, v->gradients, c);
}

static abut_status check_vjp(const call *c, const abut_cotangents *bar, const abut_gradients *g)
{
  const size_t contacts = c->runs[0].pair->layout.contacts;
  TRY(check_array(c, bar->p, 3 * contacts, "the cotangent of p"));
  TRY(check_array(c, bar->d, contacts, "the cotangent of d"));
  TRY(check_array(c, bar->n, 3 * contacts, "the cotangent of n"));
  TRY(check_array(c, bar->activity, contacts, "the cotangent of activity"));
  return check_gradients(c, g);
}

static int given(const void *p, const void *d, const void *n, const void *activity)
{
  return (p ? WANT_P : 0) | (d ? WANT_D : 0) | (n ? WANT_N : 0) | (activity ? WANT_ACTIVITY : 0);
}

abut_status abut_vjp(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                     const abut_cotangents *cotangents, const abut_gradients *gradients)
{
  call c;
  if (!cotangents || !gradients ||
      !given(cotangents->p, cotangents->d, cotangents->n, cotangents->activity)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_vjp needs cotangents of an output, and gradients");
  }
  const vjp_call v = {cotangents, gradients};
  TRY(call_start(&c, handle_, batch));
  TRY(check_vjp(&c, cotangents, gradients));
  TRY(add_derivatives(&c, handle_, derivatives, PROGRAM_PLAIN));
  derivatives_run(&c)->wanted.cotangents =
    given(cotangents->p, cotangents->d, cotangents->n, cotangents->activity);
  c.upload = vjp_upload;
  c.launch = vjp_launch;
  c.collect = vjp_collect;
  c.user = &v;
  return call_finish(&c);
}

/* ---- JVP ---- */

static abut_status jvp_collect(call_on *on, size_t slot, chunk c)
{
  const abut_tangents *t = on->call->user;
  const run *r = derivatives_on(on, slot);
  const size_t contacts = r->pair->layout.contacts;
  TRY(get_rows(r, SCRATCH_P, 1, t->p, c, 3 * contacts));
  TRY(get_rows(r, SCRATCH_D, 1, t->d, c, contacts));
  TRY(get_rows(r, SCRATCH_N, 1, t->n, c, 3 * contacts));
  return get_rows(r, SCRATCH_ACTIVITY, 1, t->activity, c, contacts);
}

static abut_status check_tangents(const call *c, const abut_tangents *t)
{
  const size_t contacts = c->runs[0].pair->layout.contacts;
  TRY(check_array(c, t->p, 3 * contacts, "the tangent of p"));
  TRY(check_array(c, t->d, contacts, "the tangent of d"));
  TRY(check_array(c, t->n, 3 * contacts, "the tangent of n"));
  return check_array(c, t->activity, contacts, "the tangent of activity");
}

abut_status abut_jvp(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                     const abut_pose_tangents *along, const abut_tangents *tangents)
{
  call c;
  if (!along || !tangents) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_jvp needs tangents of the poses and of the outputs");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(check_along(&c, along));
  TRY(check_tangents(&c, tangents));
  TRY(add_derivatives(&c, handle_, derivatives, PROGRAM_DUAL));
  derivatives_run(&c)->wanted.arrays |=
    given(tangents->p, tangents->d, tangents->n, tangents->activity);
  c.along[0] = along->pose1;
  c.along[1] = along->pose2;
  c.launch = forward_derivatives;
  c.collect = jvp_collect;
  c.user = tangents;
  return call_finish(&c);
}

/* ---- reductions ---- */

typedef struct reduction_call {
  abut_reduction reduction;
  const abut_gradients *gradients, *products;
} reduction_call;

/* C numbers that all poses share as cotangents. */
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

/* What the reduction reads, `values`, and what its cotangents are of, in `r`. Values of duals are
 * the run's own. */
static void prepare_reduction(run *values, run *r, abut_reduction reduction)
{
  static const int bars[] = {WANT_D, WANT_ACTIVITY, WANT_D | WANT_ACTIVITY, WANT_D};
  static const int reads[] = {0, 0, WANT_D | WANT_ACTIVITY, WANT_D};
  if (reduction == ABUT_REDUCE_SOFT_MINIMUM) {
    values->wanted.vertices_alone = !values->wanted.arrays && !values->wanted.reduced;
    r->wanted.vertices_alone = r != values || values->wanted.vertices_alone;
  }
  values->wanted.arrays |= reads[reduction];
  r->wanted.cotangents = bars[reduction];
  r->wanted.shared_d = reduction == ABUT_REDUCE_MEAN_DISTANCE;
  r->wanted.shared_activity = reduction == ABUT_REDUCE_ACTIVITY;
}

static run *reduced_run(call *c)
{
  run *r = derivatives_run(c);
  return r->program == PROGRAM_DUAL ? r : values_run(c);
}

static abut_status reduction_upload(call_on *on, size_t slot, chunk c)
{
  (void)c;
  const run *r = derivatives_on(on, slot);
  if (r->wanted.shared_d) {
    TRY(make_shared_bar(r, 1.0 / (double)r->pair->layout.contacts, &r->on->mean_bar));
  }
  return r->wanted.shared_activity ? make_shared_bar(r, 1.0, &r->on->one_bar) : ABUT_SUCCESS;
}

static abut_status reduction_cotangents(call_on *on, size_t slot, size_t count)
{
  const reduction_call *g = on->call->user;
  const run *r = derivatives_on(on, slot);
  const run *from = r->program == PROGRAM_DUAL ? r : values_on(on, slot);
  const abut_layout *l = &r->pair->layout;
  if (g->reduction == ABUT_REDUCE_ENERGY) {
    return LAUNCH_RUN(r, KERNEL_ENERGY_COTANGENTS, lane_blocks(r, l->contacts), count,
                      BUFFER(from, SCRATCH_D), BUFFER(from, SCRATCH_ACTIVITY),
                      ARG_INT(l->contacts), BUFFER(r, SCRATCH_D_BAR),
                      BUFFER(r, SCRATCH_ACTIVITY_BAR));
  }
  if (g->reduction == ABUT_REDUCE_SOFT_MINIMUM) {
    return LAUNCH_RUN(r, KERNEL_SOFT_MINIMUM_COTANGENTS, count, 1, BUFFER(from, SCRATCH_D),
                      ARG_INT(l->contacts), ARG_INT(l->edge_offset[0]),
                      ARG_BUFFER(from->on->coefficients), BUFFER(r, SCRATCH_D_BAR));
  }
  return ABUT_SUCCESS;
}

static abut_status reduction_launch(call_on *on, size_t slot, chunk c)
{
  TRY(forward_derivatives(on, slot, c));
  TRY(reduction_cotangents(on, slot, c.count));
  return run_reverse(derivatives_on(on, slot), c.count);
}

static abut_status reduction_collect(call_on *on, size_t slot, chunk c)
{
  const reduction_call *g = on->call->user;
  const run *r = derivatives_on(on, slot);
  if (g->gradients) {
    TRY(get_gradients(r, 0, g->gradients, c));
  }
  return g->products ? get_gradients(r, 1, g->products, c) : ABUT_SUCCESS;
}

static abut_status check_reduction(abut_reduction reduction)
{
  return (int)reduction >= ABUT_REDUCE_MEAN_DISTANCE && reduction <= ABUT_REDUCE_SOFT_MINIMUM
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "there is no reduction %d", (int)reduction);
}

static abut_status run_reduction(call *c, const reduction_call *g)
{
  if (g->gradients) {
    TRY(check_gradients(c, g->gradients));
  }
  if (g->products) {
    TRY(check_gradients(c, g->products));
  }
  prepare_reduction(reduced_run(c), derivatives_run(c), g->reduction);
  c->upload = reduction_upload;
  c->launch = reduction_launch;
  c->collect = reduction_collect;
  c->user = g;
  return call_finish(c);
}

abut_status abut_gradient(abut_pair handle_, abut_pair derivatives, abut_batch *batch,
                          abut_reduction reduction, const abut_gradients *gradients)
{
  call c;
  const reduction_call g = {reduction, gradients, NULL};
  if (!gradients) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_gradient needs gradients");
  }
  TRY(check_reduction(reduction));
  TRY(call_start(&c, handle_, batch));
  TRY(add_derivatives(&c, handle_, derivatives, PROGRAM_PLAIN));
  return run_reduction(&c, &g);
}

abut_status abut_hessian_product(abut_pair handle_, abut_batch *batch, abut_reduction reduction,
                                 const abut_pose_tangents *along, const abut_gradients *gradients,
                                 const abut_gradients *products)
{
  call c;
  const reduction_call g = {reduction, gradients, products};
  if (!along || !products) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_hessian_product needs tangents and products");
  }
  TRY(check_reduction(reduction));
  TRY(call_start(&c, handle_, batch));
  TRY(check_along(&c, along));
  TRY(add_derivatives(&c, handle_, ABUT_SAME_PAIR, PROGRAM_DUAL));
  c.along[0] = along->pose1;
  c.along[1] = along->pose2;
  return run_reduction(&c, &g);
}

/* ---- Jacobian blocks ---- */

/* Every pose moves along its parameter `column`: of body 1's first, then of body 2's. */
static abut_status put_unit_tangents(const run *r, size_t count, size_t column)
{
  const size_t width = (size_t)r->pose_width, size = device_real_bytes(r->device);
  reals rows;
  TRY(reals_create(&rows, count * width, size));
  abut_status status = ABUT_SUCCESS;
  for (size_t side = 0; status == ABUT_SUCCESS && side < 2; ++side) {
    for (size_t i = 0; i < count * width; ++i) {
      reals_set(&rows, i, side * width + i % width == column ? 1.0 : 0.0);
    }
    status = buffer_write(r->scratch[OF_SIDE(SCRATCH_TANGENT_1, (int)side)], 0,
                          count * width * size, rows.data);
  }
  free(rows.data);
  return status;
}

/* How many entries there are is known once the values are there: columns are launched then. */
static abut_status jacobian_collect(call_on *on, size_t slot, chunk c)
{
  const run *r = derivatives_on(on, slot), *values = values_on(on, slot);
  const size_t columns = 2 * (size_t)r->pose_width, entries = on->piece->entries;
  if (!entries) {
    return ABUT_SUCCESS;
  }
  for (size_t column = 0; column < columns; ++column) {
    TRY(put_unit_tangents(r, c.count, column));
    TRY(run_forward(r, c.count));
    TRY(LAUNCH_RUN(r, KERNEL_JACOBIAN_COLUMN, entries, 1, BUFFER(values, SCRATCH_LIST),
                   ARG_INT(entries), BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D),
                   BUFFER(r, SCRATCH_N), BUFFER(r, SCRATCH_ACTIVITY),
                   ARG_INT(r->pair->layout.contacts), ARG_INT(column), ARG_INT(columns),
                   BUFFER(r, SCRATCH_JACOBIAN)));
    TRY(device_submit(r->device));
    TRY(device_wait(r->device, &on->computed));
  }
  return buffer_read(r->scratch[SCRATCH_JACOBIAN], 0, entries * on->call->list->block_bytes,
                     on->piece->blocks);
}

abut_status abut_jacobian(abut_pair handle_, abut_pair derivatives, abut_batch *batch, void *blocks)
{
  call c;
  if (!batch || !batch->compact || (batch->compact->capacity && !blocks)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_jacobian needs a batch with a compact list, and room "
                "for its blocks");
  }
  TRY(call_start(&c, handle_, batch));
  TRY(add_derivatives(&c, handle_, derivatives, PROGRAM_DUAL));
  derivatives_run(&c)->wanted.arrays = WANT_P | WANT_D | WANT_N | WANT_ACTIVITY;
  derivatives_run(&c)->wanted.blocks = true;
  compact_list list = {.blocks = blocks,
                       .block_bytes = 16 * (size_t)c.runs[0].pose_width * c.real_bytes};
  c.list = &list;
  c.collect = jacobian_collect;
  return call_finish(&c);
}
