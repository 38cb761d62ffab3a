#include "query/ccd_queries.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "body/ccd_bodies.h"
#include "geometry/ccd.h"
#include "engine/self_test/runner.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab0c1061u
#define CHUNK_ROWS ((size_t)1 << 20)
#define MANY_ITEMS ((size_t)1 << 15)   /* work-items that occupy a large GPU */
#define COPIED_CHUNK ((size_t)1 << 15) /* keeps copies in a CPU's cache */
#define LANES_MOST 16

_Static_assert((int)ABUT_CCD_POINT_POINT == CCD_POINT_POINT &&
                 (int)ABUT_CCD_POINT_EDGE == CCD_POINT_EDGE &&
                 (int)ABUT_CCD_POINT_TRIANGLE == CCD_POINT_TRIANGLE &&
                 (int)ABUT_CCD_EDGE_EDGE == CCD_EDGE_EDGE,
               "kernels and callers name kinds of features alike");
_Static_assert((int)ABUT_CCD_FREE == CCD_FREE && (int)ABUT_CCD_HIT == CCD_HIT &&
                 (int)ABUT_CCD_LIMIT == CCD_LIMIT && (int)ABUT_CCD_WITHIN == CCD_WITHIN &&
                 (int)ABUT_CCD_BAD_INPUT == CCD_BAD_INPUT && (int)ABUT_CCD_ROUGH == CCD_ROUGH,
               "kernels and callers name what became of a row alike");

/* Buffers of buffer pool 0. */
enum {
  X0,
  X1,
  X0_LOW,
  X1_LOW,
  OWN, /* CCD_SETTINGS of them */
  TOI = OWN + CCD_SETTINGS,
  N,
  D0,
  STATUS,
  ROUNDS,
  BY_X0,
  BY_X1
};

typedef struct queries_call {
  batch_call base;
  abut_ccd_queries *batch;
  uint8_t *status; /* the caller's array, or our own */
  uint8_t *own;
  bool lows, gradient;
  ccd_counts counts;
} queries_call;

typedef struct queries_on {
  buffer *all; /* settings that apply to all rows */
} queries_on;

static const size_t vertices_of[ABUT_CCD_KINDS] = {2, 3, 4, 4};

/* ---- on a device ---- */

#define AT(id) memory_buffer(&on->memory[slot][0], id)

static abut_status test(const batch_call *b, size_t place)
{
  const queries_call *q = (const queries_call *)b;
  const self_test_part part = (self_test_part)(SELF_TEST_KIND + (int)q->batch->kind);
  TRY(test_member(b->context, place, MODULE_CCD, PROGRAM_PLAIN, false, part));
  return q->gradient ? test_member(b->context, place, MODULE_CCD, PROGRAM_PLAIN, true, part)
                     : ABUT_SUCCESS;
}

static abut_status place(batch_on *on)
{
  const queries_call *q = (const queries_call *)on->call;
  const abut_ccd_queries *b = q->batch;
  const double all[CCD_SETTINGS] = {b->separation, b->keep,  b->tolerance,
                                    b->end,        b->error, b->relative_error};
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(queries_on)));
  queries_on *at = memory;
  on->user = at;
  on->granule = device_lanes(on->device);
  on->most = device_on_host_memory(on->device) ? COPIED_CHUNK : CHUNK_ROWS;
  return ccd_numbers_upload(on->device, all, CCD_SETTINGS, &at->all);
}

static void leave(batch_on *on)
{
  queries_on *at = on->user;
  if (at) {
    buffer_destroy(at->all);
    free(at);
  }
}

static size_t segments(size_t count, size_t rows)
{
  return (count + rows - 1) / rows;
}

/* Returns the number of rows that a work-item searches for those needing doubled numbers. With one
 * lane it processes these rows one after the other, which is slow. It therefore searches few rows
 * if the batch is small compared with MANY_ITEMS. */
static size_t rows_again(size_t lanes, size_t count)
{
  const size_t most = CCD_SEGMENT_AGAIN(lanes), few = 1 + count / MANY_ITEMS;
  return lanes > 1 || few > most ? most : few;
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  static const kernel_id stages[2][ABUT_CCD_KINDS] = {
    {KERNEL_CCD_QUERIES_PP, KERNEL_CCD_QUERIES_PE, KERNEL_CCD_QUERIES_PT, KERNEL_CCD_QUERIES_EE},
    {KERNEL_CCD_DECIDE_PP, KERNEL_CCD_DECIDE_PE, KERNEL_CCD_DECIDE_PT, KERNEL_CCD_DECIDE_EE}};
  const queries_call *q = (const queries_call *)on->call;
  const queries_on *at = on->user;
  const abut_ccd_queries *b = q->batch;
  const void *const own[CCD_SETTINGS] = {b->separations, b->keeps,  b->tolerances,
                                         b->ends,        b->errors, b->relative_errors};
  const size_t lanes = device_lanes(on->device),
               most = b->iterations_most ? b->iterations_most : CCD_ITERATIONS_USUAL;
  const bool additive = b->method == ABUT_CCD_ADDITIVE, plain = b->plain || additive;
  const bool detailed = b->n || b->d0;
  buffer *set[CCD_SETTINGS];
  int given = 0;
  for (size_t i = 0; i < CCD_SETTINGS; ++i) {
    set[i] = own[i] ? AT(OWN + i) : at->all;
    given |= own[i] ? 1 << i : 0;
  }
  buffer *const low0 = q->lows ? AT(X0_LOW) : AT(X0), *const low1 = q->lows ? AT(X1_LOW) : AT(X1);
#define ROWS                                                                                       \
  ARG_BUFFER(AT(X0)), ARG_BUFFER(AT(X1)), ARG_BUFFER(low0), ARG_BUFFER(low1), ARG_BUFFER(at->all), \
    ARG_BUFFER(set[0]), ARG_BUFFER(set[1]), ARG_BUFFER(set[2]), ARG_BUFFER(set[3]),                \
    ARG_BUFFER(set[4]), ARG_BUFFER(set[5]), ARG_INT(given), ARG_INT(q->lows), ARG_INT(c.count),    \
    ARG_BUFFER(AT(TOI)), ARG_BUFFER(AT(N)), ARG_BUFFER(AT(D0)), ARG_BUFFER(AT(STATUS)),            \
    ARG_BUFFER(AT(ROUNDS))
  TRY(LAUNCH(on->device, stages[0][b->kind], segments(c.count, CCD_SEGMENT(lanes)), 1, ROWS,
             ARG_INT(detailed), ARG_INT(additive), ARG_INT(most), ARG_INT(plain)));
  if (!plain) {
    const size_t each = rows_again(lanes, c.count);
    TRY(LAUNCH(on->device, stages[1][b->kind], segments(c.count, each), 1, ROWS, ARG_INT(each),
               ARG_INT(most)));
  }
#undef ROWS
  return q->gradient
           ? LAUNCH(on->device, KERNEL_CCD_QUERIES_GRADIENT, c.count, 1, ARG_BUFFER(AT(X0)),
                    ARG_BUFFER(AT(X1)), ARG_BUFFER(low0), ARG_BUFFER(low1), ARG_INT(q->lows),
                    ARG_INT(b->kind), ARG_INT(c.count), ARG_BUFFER(AT(TOI)), ARG_BUFFER(AT(N)),
                    ARG_BUFFER(AT(STATUS)), ARG_BUFFER(AT(BY_X0)), ARG_BUFFER(AT(BY_X1)))
           : ABUT_SUCCESS;
}

void ccd_count(ccd_counts *to, const uint8_t *status, chunk c)
{
  for (size_t i = 0; status && i < c.count; ++i) {
    const int end = status[c.first + i] & ABUT_CCD_END;
    to->undecided += end == ABUT_CCD_LIMIT;
    to->rejected += end == ABUT_CCD_BAD_INPUT;
  }
}

/* Called by one thread at a time. */
static void count(batch_on *on, chunk c)
{
  queries_call *q = (queries_call *)on->call;
  ccd_count(&q->counts, q->status, c);
}

static void again(batch_call *b)
{
  queries_call *q = (queries_call *)b;
  q->counts = (ccd_counts){0};
}

static const operation queries_operation = {.module = MODULE_CCD,
                                            .test = test,
                                            .place = place,
                                            .launch = launch,
                                            .add = count,
                                            .leave = leave,
                                            .again = again};

/* ---- the caller's arrays ---- */

static void add(queries_call *q, const char *name, size_t id, size_t width, const void *in,
                void *out)
{
  batch_add(&q->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = q->batch->memory,
                                    .width = width,
                                    .size = context_real_bytes(q->base.context),
                                    .buffer = id,
                                    .in_place = true});
}

static void add_integers(queries_call *q, const char *name, size_t id, size_t width, size_t size,
                         void *out)
{
  batch_add(&q->base, (batch_array){.name = name,
                                    .out = out,
                                    .memory = ABUT_MEMORY_HOST,
                                    .width = width,
                                    .size = size,
                                    .buffer = id});
}

static void add_arrays(queries_call *q, void *by_x0, void *by_x1)
{
  static const char *const names[CCD_SETTINGS] = {"separations", "keeps",  "tolerances",
                                                  "ends",        "errors", "relative_errors"};
  abut_ccd_queries *b = q->batch;
  const void *const own[CCD_SETTINGS] = {b->separations, b->keeps,  b->tolerances,
                                         b->ends,        b->errors, b->relative_errors};
  const size_t width = 3 * vertices_of[b->kind];
  add(q, "x0", X0, width, b->x0, NULL);
  add(q, "x1", X1, width, b->x1, NULL);
  if (q->lows) {
    add(q, "x0_low", X0_LOW, width, b->x0_low, NULL);
    add(q, "x1_low", X1_LOW, width, b->x1_low, NULL);
  }
  for (size_t i = 0; i < CCD_SETTINGS; ++i) {
    if (own[i]) {
      add(q, names[i], OWN + i, 1, own[i], NULL);
    }
  }
  add(q, "toi", TOI, 1, NULL, b->toi);
  add(q, "n", N, 3, NULL, b->n);
  add(q, "d0", D0, 1, NULL, b->d0);
  add_integers(q, "status", STATUS, 1, 1, q->status);
  add_integers(q, "iterations", ROUNDS, 2, sizeof *b->iterations, b->iterations);
  if (q->gradient) {
    add(q, "toi_by_x0", BY_X0, width, NULL, by_x0);
    add(q, "toi_by_x1", BY_X1, width, NULL, by_x1);
  }
}

/* ---- checks ---- */

static double rounded(double x, const context *owner)
{
  return context_real_bytes(owner) == sizeof(float) ? (double)(float)x : x;
}

abut_status ccd_check_settings(double separation, double keep, double tolerance,
                               uint32_t iterations_most, const context *owner)
{
  if (!(separation >= 0.0 && rounded(separation, owner) < INFINITY)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the separation is %g m; it must be at least 0 and not too large", separation);
  }
  if (!(keep >= 0.0 && rounded(keep, owner) < 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "keep, a share of the distance, is %.9g, not in [0, 1)", keep);
  }
  if (!(tolerance >= 0.0 && rounded(tolerance, owner) < INFINITY)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the tolerance is %g m; it must be at least 0 and not too large", tolerance);
  }
  return iterations_most > CCD_ITERATIONS_MOST
           ? fail(ABUT_ERROR_ARGUMENT, "iterations_most is %u; it must be at most %u",
                  iterations_most, CCD_ITERATIONS_MOST)
           : ABUT_SUCCESS;
}

static abut_status check_lows(const abut_ccd_queries *b, const context *owner)
{
  if (!b->x0_low != !b->x1_low) {
    return fail(ABUT_ERROR_ARGUMENT, "give both x0_low and x1_low, or neither");
  }
  return b->x0_low && context_real_bytes(owner) != sizeof(float)
           ? fail(
               ABUT_ERROR_ARGUMENT,
               "x0_low and x1_low are only for float32 contexts: float64 already has their digits")
           : ABUT_SUCCESS;
}

static abut_status check(const abut_ccd_queries *b, const context *owner)
{
  if (!b || b->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the batch was not made by abut_default_ccd_queries");
  }
  if ((uint32_t)b->kind >= ABUT_CCD_KINDS) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown kind of features %d", (int)b->kind);
  }
  if ((uint32_t)b->method > ABUT_CCD_ADDITIVE) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown method %d", (int)b->method);
  }
  if (b->count && (!b->x0 || !b->x1)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu rows, but their vertices are NULL",
                b->count);
  }
  TRY(ccd_check_settings(b->separation, b->keep, b->tolerance, b->iterations_most, owner));
  if (!(b->end >= 0.0 && b->end <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the end is %g, not in [0, 1]", b->end);
  }
  return !(b->error >= 0.0 && rounded(b->error, owner) < INFINITY) ||
             !(b->relative_error >= 0.0 && rounded(b->relative_error, owner) < INFINITY)
           ? fail(ABUT_ERROR_ARGUMENT,
                  "the errors of the input are %g m and %g; they must be at least 0", b->error,
                  b->relative_error)
           : ABUT_SUCCESS;
}

/* ---- calls ---- */

abut_ccd_queries abut_default_ccd_queries(void)
{
  abut_ccd_queries b;
  memset(&b, 0, sizeof b);
  b.end = 1.0;
  b.cookie = COOKIE;
  return b;
}

static abut_status start(queries_call *q, abut_context handle_, abut_ccd_queries *batch,
                         bool gradient)
{
  context *owner = context_get(handle_);
  state *at = NULL;
  memset(q, 0, sizeof *q);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(batch, owner));
  TRY(check_lows(batch, owner));
  TRY(state_of_memory(batch->memory, "inputs", batch->x0, batch->count, owner, &at));
  q->batch = batch;
  q->lows = batch->x0_low != NULL;
  q->gradient = gradient;
  q->base =
    (batch_call){.operation = &queries_operation,
                 .context = owner,
                 .count = batch->count,
                 .state = at,
                 .multiple = LANES_MOST,
                 .rates = owner->query_rates[QUERY_CCD + 2 * (size_t)batch->kind + gradient],
                 .progress = batch->progress,
                 .progress_user = batch->user};
  if (!batch->status && batch->memory != ABUT_MEMORY_STATE) {
    void *memory = NULL;
    TRY(allocate(&memory, batch->count ? batch->count : 1, sizeof *q->own));
    q->own = memory;
  }
  q->status = batch->status ? batch->status : q->own;
  return ABUT_SUCCESS;
}

static abut_status run(abut_context handle_, abut_ccd_queries *batch, bool gradient, void *by_x0,
                       void *by_x1)
{
  ENTER(context_pool, handle_);
  queries_call q;
  abut_status status = start(&q, handle_, batch, gradient);
  if (status == ABUT_SUCCESS) {
    add_arrays(&q, by_x0, by_x1);
    status = batch_run(&q.base);
    batch->undecided = q.counts.undecided;
    batch->rejected = q.counts.rejected;
    batch->failures = q.base.failures;
  }
  free(q.own);
  return status;
}

abut_status abut_run_ccd_queries(abut_context handle_, abut_ccd_queries *batch)
{
  return run(handle_, batch, false, NULL, NULL);
}

abut_status abut_ccd_queries_gradient(abut_context handle_, abut_ccd_queries *batch, void *by_x0,
                                      void *by_x1)
{
  return run(handle_, batch, true, by_x0, by_x1);
}
