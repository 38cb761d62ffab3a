#include "query/closest.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "geometry/closest.h"
#include "geometry/shape.h"
#include "engine/self_test/runner.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab0c1051u
#define CHUNK_ROWS ((size_t)1 << 20)
#define COPIED_CHUNK ((size_t)1 << 15) /* keeps copies in a CPU's cache */
#define LANES_MOST 16
#define ITERATIONS_USUAL 256
#define CORNERS_USUAL 256
#define CORNERS_LEAST 8
#define CORNERS_MOST 4096
/* work-items per core of a CPU that share scratch memory: enough for an even load */
#define WORKERS_OF_CORE 32
#define WORKERS_MOST ((size_t)1 << 16)

_Static_assert((int)ABUT_CLOSEST_CONVERGED == CLOSEST_CONVERGED &&
                 (int)ABUT_CLOSEST_ITERATION_LIMIT == CLOSEST_ITERATION_LIMIT &&
                 (int)ABUT_CLOSEST_DEGENERATE == CLOSEST_DEGENERATE &&
                 (int)ABUT_CLOSEST_BAD_INPUT == CLOSEST_BAD_INPUT &&
                 (int)ABUT_CLOSEST_BEYOND == CLOSEST_BEYOND &&
                 (int)ABUT_CLOSEST_FLAT == CLOSEST_FLAT && (int)ABUT_CLOSEST_STEEP == CLOSEST_STEEP,
               "kernels and callers name what became of a row alike");

/* ---- on a device ---- */

#define AT(id) memory_buffer(&on->memory[slot][0], id)

static abut_status test(const batch_call *b, size_t place)
{
  const closest_call *c = (const closest_call *)b;
  TRY(test_member(b->context, place, MODULE_CLOSEST, PROGRAM_PLAIN, false, SELF_TEST_MAIN));
  return c->smoothing
           ? test_member(b->context, place, MODULE_CLOSEST, PROGRAM_PLAIN, true, SELF_TEST_MAIN)
           : ABUT_SUCCESS;
}

size_t closest_workers(const device *d, size_t bytes, size_t rows)
{
  const abut_device_info *info = device_info(d);
  const size_t room =
    (size_t)device_scratch_bytes(d, MODULE_CLOSEST) / (CLOSEST_SCRATCH_SHARES * bytes);
  const size_t wanted =
    device_on_host_memory(d) || info->type == ABUT_DEVICE_HOST
      ? WORKERS_OF_CORE * (size_t)(info->compute_units ? info->compute_units : 1)
      : WORKERS_MOST;
  const size_t most = room < wanted ? room : wanted, used = most < rows ? most : rows;
  return used ? used : 1;
}

/* Allocates room for polytopes. */
static abut_status make_polytopes(const closest_call *c, device *d, closest_on *at)
{
  const size_t numbers = POLYTOPE_REALS(c->corners) * sizeof(double),
               places = POLYTOPE_INTS(c->corners) * sizeof(int);
  at->workers = closest_workers(d, numbers + places, c->base.count);
  for (size_t slot = 0; slot < device_slots(d); ++slot) {
    TRY(buffer_create(d, at->workers * numbers, &at->reals[slot]));
    TRY(buffer_create(d, at->workers * places, &at->places[slot]));
  }
  return ABUT_SUCCESS;
}

static abut_status place(batch_on *on)
{
  static const int32_t first[2] = {0, 1};
  const closest_call *c = (const closest_call *)on->call;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(closest_on)));
  closest_on *at = memory;
  on->user = at;
  on->granule = device_lanes(on->device);
  on->most = device_on_host_memory(on->device) ? COPIED_CHUNK : CHUNK_ROWS;
  TRY(shape_list_on(c->list, on->place));
  TRY(buffer_upload(on->device, sizeof *first, first, &at->one));
  TRY(buffer_upload(on->device, sizeof *first, first + 1, &at->two));
  return make_polytopes(c, on->device, at);
}

static void leave(batch_on *on)
{
  closest_on *at = on->user;
  if (at) {
    buffer_destroy(at->one);
    buffer_destroy(at->two);
    buffer_destroy(at->marks);
    for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
      buffer_destroy(at->reals[slot]);
      buffer_destroy(at->places[slot]);
    }
    free(at);
  }
}

abut_status closest_launch_query(batch_on *on, size_t slot, chunk c, const closest_query *q,
                                 size_t width)
{
  const closest_call *call = (const closest_call *)on->call;
  const closest_on *at = on->user;
  const bool each = call->batch->one != NULL;
  const size_t lanes = device_lanes(on->device);
  const size_t workers = at->workers < c.count ? at->workers : c.count;
#define ROWS                                                                                    \
  ARG_BUFFER(call->list->ints_on[on->place]), ARG_BUFFER(call->list->numbers_on[on->place]),    \
    ARG_BUFFER(each ? AT(CLOSEST_ONE) : at->one), ARG_BUFFER(each ? AT(CLOSEST_TWO) : at->two), \
    ARG_INT(each), ARG_BUFFER(q->pose1), ARG_BUFFER(q->pose2), ARG_INT(width), ARG_INT(c.count)
#define ANSWERS                                                                                 \
  ARG_BUFFER(q->d), ARG_BUFFER(q->n), ARG_BUFFER(q->p1), ARG_BUFFER(q->p2), ARG_BUFFER(q->gap), \
    ARG_BUFFER(q->status), ARG_BUFFER(q->iterations), ARG_BUFFER(q->simplex)
  TRY(LAUNCH(on->device, KERNEL_CLOSEST_APART, (c.count + lanes - 1) / lanes, 1, ROWS,
             ARG_BUFFER(q->warm), ARG_INT(q->warm != NULL), ARG_REAL(call->tolerance),
             ARG_REAL(q->cutoff), ARG_INT(call->iterations), ANSWERS));
  TRY(LAUNCH(on->device, KERNEL_CLOSEST_OVERLAP, workers, 1, ROWS, ARG_INT(workers),
             ARG_REAL(call->tolerance), ARG_INT(call->iterations), ARG_REAL(q->cutoff),
             ARG_INT(call->corners), ARG_BUFFER(at->reals[slot]), ARG_BUFFER(at->places[slot]),
             ANSWERS));
  return call->curved ? LAUNCH(on->device, KERNEL_CLOSEST_REFINE, c.count, 1, ROWS,
                               ARG_REAL(call->tolerance), ANSWERS)
                      : ABUT_SUCCESS;
#undef ROWS
#undef ANSWERS
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const closest_call *call = (const closest_call *)on->call;
  const closest_query q = {
    AT(CLOSEST_POSE_1),     AT(CLOSEST_POSE_2),  call->batch->warm ? AT(CLOSEST_WARM) : NULL,
    AT(CLOSEST_D),          AT(CLOSEST_N),       AT(CLOSEST_P1),
    AT(CLOSEST_P2),         AT(CLOSEST_GAP),     AT(CLOSEST_STATUS),
    AT(CLOSEST_ITERATIONS), AT(CLOSEST_SIMPLEX), call->batch->cutoff};
  return call->solved ? ABUT_SUCCESS : closest_launch_query(on, slot, c, &q, call->width);
}

/* Counts the outcomes of a chunk's rows; called by one thread at a time. */
static void count(batch_on *on, chunk c)
{
  closest_call *call = (closest_call *)on->call;
  for (size_t i = 0; call->status && i < c.count; ++i) {
    const int end = call->status[c.first + i] & CLOSEST_END;
    call->unsettled += end == CLOSEST_ITERATION_LIMIT || end == CLOSEST_DEGENERATE;
    call->rejected += end == CLOSEST_BAD_INPUT;
  }
}

/* Resets the counts, because all rows will be computed again. */
static void again(batch_call *b)
{
  closest_call *call = (closest_call *)b;
  call->unsettled = call->rejected = 0;
}

const operation closest_operation = {.module = MODULE_CLOSEST,
                                     .test = test,
                                     .place = place,
                                     .launch = launch,
                                     .add = count,
                                     .leave = leave,
                                     .again = again};

/* ---- the caller's arrays ---- */

void closest_add(closest_call *c, const char *name, size_t id, size_t width, const void *in,
                 void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = c->batch->memory,
                                    .width = width,
                                    .size = context_real_bytes(c->base.context),
                                    .buffer = id,
                                    .zeros = false,
                                    .in_place = true});
}

void closest_add_input(closest_call *c, const char *name, size_t id, size_t width, const void *in)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .memory = c->batch->memory,
                                    .width = width,
                                    .size = context_real_bytes(c->base.context),
                                    .buffer = id,
                                    .zeros = !in,
                                    .in_place = true});
}

void closest_add_integers(closest_call *c, const char *name, size_t id, size_t width, size_t size,
                          const void *in, void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = ABUT_MEMORY_HOST,
                                    .width = width,
                                    .size = size,
                                    .buffer = id});
}

static void add_arrays(closest_call *c)
{
  abut_closest_batch *b = c->batch;
  if (b->one) {
    closest_add_integers(c, "one", CLOSEST_ONE, 1, sizeof *b->one, b->one, NULL);
    closest_add_integers(c, "two", CLOSEST_TWO, 1, sizeof *b->two, b->two, NULL);
  }
  closest_add(c, "pose1", CLOSEST_POSE_1, c->width, b->pose1, NULL);
  closest_add(c, "pose2", CLOSEST_POSE_2, c->width, b->pose2, NULL);
  if (b->warm) {
    closest_add_integers(c, "warm", CLOSEST_WARM, 8, sizeof *b->warm, b->warm, NULL);
  }
  void *const answers[] = {b->d, b->n, b->p1, b->p2};
  static const char *const names[] = {"d", "n", "p1", "p2"};
  for (size_t i = 0; i < 4; ++i) {
    closest_add(c, names[i], CLOSEST_D + i, i ? 3 : 1, c->solved ? answers[i] : NULL,
                c->solved ? NULL : answers[i]);
  }
  closest_add_integers(c, "status", CLOSEST_STATUS, 1, 1, c->solved ? b->status : NULL, c->status);
  if (!c->solved) {
    closest_add(c, "gap", CLOSEST_GAP, 1, NULL, b->gap);
    closest_add_integers(c, "iterations", CLOSEST_ITERATIONS, 1, sizeof *b->iterations, NULL,
                         b->iterations);
    closest_add_integers(c, "simplex", CLOSEST_SIMPLEX, 8, sizeof *b->simplex, NULL, b->simplex);
  }
}

/* ---- checks ---- */

static abut_status check_settings(const abut_closest_batch *b)
{
  if (!(b->tolerance >= 0.0 && b->tolerance < 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the tolerance is %g, not in [0, 1)", b->tolerance);
  }
  if (isnan(b->cutoff)) {
    return fail(ABUT_ERROR_ARGUMENT, "the cutoff is NaN");
  }
  if (b->iterations_most > INT_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "iterations_most is %u; it must be at most %d",
                b->iterations_most, INT_MAX);
  }
  if (b->corners_most && (b->corners_most < CORNERS_LEAST || b->corners_most > CORNERS_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "corners_most is %u, not in [%d, %d]", b->corners_most,
                CORNERS_LEAST, CORNERS_MOST);
  }
  return (uint32_t)b->poses > ABUT_POSE_QUATERNION
           ? fail(ABUT_ERROR_ARGUMENT, "unknown pose kind %d", (int)b->poses)
           : ABUT_SUCCESS;
}

static abut_status check_rows(const abut_closest_batch *b)
{
  const uint32_t *const rows[] = {b->one, b->two};
  static const char *const names[] = {"one", "two"};
  if (!b->one != !b->two) {
    return fail(ABUT_ERROR_ARGUMENT, "give both one and two, or neither");
  }
  if (!b->one && b->shape_count < 2) {
    return fail(ABUT_ERROR_ARGUMENT,
                "without one and two a batch needs exactly two shapes, but %zu are listed",
                b->shape_count);
  }
  for (size_t side = 0; b->one && side < 2; ++side) {
    for (size_t i = 0; i < b->count; ++i) {
      if (rows[side][i] >= b->shape_count) {
        return fail(ABUT_ERROR_ARGUMENT, "%s of entry %zu is %u, but there are only %zu shapes",
                    names[side], i, rows[side][i], b->shape_count);
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check(const abut_closest_batch *b)
{
  if (!b || b->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the batch was not made by abut_default_closest_batch");
  }
  if (!b->shapes || !b->shape_count) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch needs shapes");
  }
  if (b->count && (!b->pose1 || !b->pose2)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu rows, but their poses are NULL", b->count);
  }
  TRY(check_settings(b));
  return check_rows(b);
}

static abut_status check_solved(const abut_closest_batch *b)
{
  for (size_t i = 0; b->status && i < b->count; ++i) {
    if ((b->status[i] & ~(CLOSEST_FLAT | CLOSEST_STEEP)) > CLOSEST_BEYOND) {
      return fail(ABUT_ERROR_ARGUMENT, "entry %zu is marked as solved, but its status is %d", i,
                  b->status[i]);
    }
  }
  return b->count && (!b->d || !b->n || !b->p1 || !b->p2 || !b->status)
           ? fail(ABUT_ERROR_ARGUMENT,
                  "solved answers need d, n, p1, p2 and status, and one of them is NULL")
           : ABUT_SUCCESS;
}

/* ---- calls ---- */

abut_closest_batch abut_default_closest_batch(void)
{
  abut_closest_batch b;
  memset(&b, 0, sizeof b);
  b.poses = ABUT_POSE_QUATERNION;
  b.cutoff = INFINITY;
  b.cookie = COOKIE;
  return b;
}

static void set_sizes(closest_call *c)
{
  const abut_closest_batch *b = c->batch;
  const size_t corners = b->corners_most ? b->corners_most : CORNERS_USUAL;
  const bool is_double = context_real_bytes(c->base.context) == sizeof(double);
  c->tolerance = b->tolerance > 0.0 ? b->tolerance : is_double ? 1e-12 : 1e-6;
  c->iterations = b->iterations_most ? b->iterations_most : ITERATIONS_USUAL;
  c->corners = (corners + SHAPE_PAD - 1) / SHAPE_PAD * SHAPE_PAD;
  c->width = b->poses == ABUT_POSE_TWIST ? 6 : 7;
  for (size_t i = 0; i < c->list->count; ++i) {
    c->curved = c->curved || SHAPE_IS_CURVED(c->list->ints[SHAPE_INTS * i + SHAPE_KIND]);
  }
}

abut_status closest_start(closest_call *c, abut_context handle_, abut_closest_batch *batch,
                          const operation *o, const abut_closest_smoothing *smoothing)
{
  context *owner = context_get(handle_);
  state *at = NULL;
  memset(c, 0, sizeof *c);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(batch));
  c->solved = smoothing && smoothing->solved;
  TRY(c->solved ? check_solved(batch) : ABUT_SUCCESS);
  TRY(state_of_memory(batch->memory, "poses", batch->pose1, batch->count, owner, &at));
  TRY(shape_list_of(owner, batch->shapes, batch->shape_count, &c->list));
  shape_list_hold(c->list);
  c->batch = batch;
  c->smoothing = smoothing;
  c->base = (batch_call){.operation = o,
                         .context = owner,
                         .count = batch->count,
                         .state = at,
                         .multiple = LANES_MOST,
                         .rates = c->list->rates[smoothing != NULL],
                         .progress = batch->progress,
                         .progress_user = batch->user};
  set_sizes(c);
  if (!batch->status && batch->memory != ABUT_MEMORY_STATE) {
    void *memory = NULL;
    TRY(allocate(&memory, batch->count ? batch->count : 1, sizeof *c->own));
    c->own = memory;
  }
  c->status = batch->status ? batch->status : c->own;
  add_arrays(c);
  return ABUT_SUCCESS;
}

abut_status closest_run(closest_call *c)
{
  const abut_status status = batch_run(&c->base);
  c->batch->unsettled = c->unsettled;
  c->batch->rejected = c->rejected;
  c->batch->failures = c->base.failures;
  return status;
}

void closest_end(closest_call *c)
{
  free(c->own);
  c->own = NULL;
  if (c->list) {
    shape_list_let_go(c->list);
  }
  c->list = NULL;
}

abut_status abut_closest(abut_context handle_, abut_closest_batch *batch)
{
  ENTER(context_pool, handle_);
  closest_call c;
  abut_status status = closest_start(&c, handle_, batch, &closest_operation, NULL);
  if (status == ABUT_SUCCESS) {
    status = closest_run(&c);
  }
  closest_end(&c);
  return status;
}
