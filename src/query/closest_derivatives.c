/* Derivatives of closest points: Jacobians, and their products from the left and the right. */
#include "query/closest.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "geometry/closest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab0c1052u
#define LEVELS_MOST 16
#define SAMPLES_MOST 65536
#define QUERIES_MOST 4096 /* samples computed by queries, each of which takes several launches */
#define EPSILON_GAUSSIAN 0.3
#define EPSILON_ZEROTH 0.02
#define EPSILON_FINITE 1e-6

_Static_assert((int)ABUT_CLOSEST_EXACT == CLOSEST_EXACT &&
                 (int)ABUT_CLOSEST_GUMBEL == CLOSEST_GUMBEL &&
                 (int)ABUT_CLOSEST_GAUSSIAN == CLOSEST_GAUSSIAN &&
                 (int)ABUT_CLOSEST_ZEROTH == CLOSEST_ZEROTH &&
                 (int)ABUT_CLOSEST_FINITE == CLOSEST_FINITE,
               "kernels and callers name methods alike");

/* Additional buffers besides those of queries. */
enum {
  IN_P1 = CLOSEST_BUFFERS, /* cotangents, or twists in the first one */
  IN_P2,
  IN_N,
  IN_D,
  OUT_P1, /* Jacobians or tangents; gradients with respect to twists and poses in the first ones */
  OUT_P2,
  OUT_N,
  OUT_D,
  CURVATURES, /* or sums of changes */
  MOVED_1,
  MOVED_2,
  MOVED_D,
  MOVED_N,
  MOVED_P1,
  MOVED_P2,
  MOVED_GAP,
  MOVED_STATUS,
  MOVED_ITERATIONS,
  MOVED_SIMPLEX
};

typedef enum wanted_product { JACOBIAN, VJP, JVP } wanted_product;

typedef struct derivative_call {
  closest_call query; /* first, because an operation's call must start with it */
  wanted_product wanted;
  double epsilon;
} derivative_call;

#define AT(id) memory_buffer(&on->memory[slot][0], id)

static bool by_queries(const derivative_call *c)
{
  const abut_closest_method method = c->query.smoothing->method;
  return method == ABUT_CLOSEST_ZEROTH || method == ABUT_CLOSEST_FINITE;
}

/* ---- on a device ---- */

static abut_status place(batch_on *on)
{
  const derivative_call *c = (const derivative_call *)on->call;
  closest_on *at = on->user;
  const size_t row = 2 * c->query.list->vertices_most * sizeof(int),
               needed = row ? row : sizeof(int);
  at->choosers = closest_workers(on->device, needed, c->query.base.count);
  return buffer_create(on->device, device_slots(on->device) * at->choosers * needed, &at->marks);
}

static closest_settings settings_of(const derivative_call *c, uint64_t row)
{
  const abut_closest_smoothing *s = c->query.smoothing;
  const uint64_t first = s->first + row;
  return (closest_settings){.method = (int)s->method,
                            .level = (int)s->level,
                            .samples = (int)s->samples,
                            .vertices_most = (int)c->query.list->vertices_most,
                            .seed_low = (int)(uint32_t)s->seed,
                            .seed_high = (int)(uint32_t)(s->seed >> 32),
                            .first_low = (int)(uint32_t)first,
                            .first_high = (int)(uint32_t)(first >> 32)};
}

#define ROWS                                                                                     \
  ARG_BUFFER(call->list->ints_on[on->place]), ARG_BUFFER(call->list->numbers_on[on->place]),     \
    ARG_BUFFER(call->batch->one ? AT(CLOSEST_ONE) : at->one),                                    \
    ARG_BUFFER(call->batch->one ? AT(CLOSEST_TWO) : at->two), ARG_INT(call->batch->one != NULL), \
    ARG_BUFFER(AT(CLOSEST_POSE_1)), ARG_BUFFER(AT(CLOSEST_POSE_2)), ARG_INT(call->width),        \
    ARG_INT(c.count)
#define POINTS                                                                      \
  ARG_BUFFER(AT(CLOSEST_D)), ARG_BUFFER(AT(CLOSEST_N)), ARG_BUFFER(AT(CLOSEST_P1)), \
    ARG_BUFFER(AT(CLOSEST_P2))
#define BLOCKS ((c.count + device_lanes(on->device) - 1) / device_lanes(on->device))
#define COTANGENTS \
  ARG_BUFFER(AT(IN_D)), ARG_BUFFER(AT(IN_N)), ARG_BUFFER(AT(IN_P1)), ARG_BUFFER(AT(IN_P2))
#define GRADIENTS ARG_BUFFER(AT(OUT_P1)), ARG_BUFFER(AT(OUT_P2)), ARG_BUFFER(AT(OUT_N))
#define JACOBIANS \
  ARG_BUFFER(AT(OUT_P1)), ARG_BUFFER(AT(OUT_P2)), ARG_BUFFER(AT(OUT_N)), ARG_BUFFER(AT(OUT_D))
#define TANGENTS \
  ARG_BUFFER(AT(OUT_D)), ARG_BUFFER(AT(OUT_N)), ARG_BUFFER(AT(OUT_P1)), ARG_BUFFER(AT(OUT_P2))

static abut_status launch_curvature(batch_on *on, size_t slot, chunk c)
{
  const derivative_call *d = (const derivative_call *)on->call;
  const closest_call *call = &d->query;
  const closest_on *at = on->user;
  const closest_settings settings = settings_of(d, c.first);
  const size_t workers = at->choosers < BLOCKS ? at->choosers : BLOCKS;
  const double ridge = call->smoothing->ridge;
  TRY(LAUNCH(on->device, KERNEL_CLOSEST_CURVATURE, workers, 1, ROWS, ARG_INT(workers),
             ARG_STRUCT(settings), ARG_REAL(call->smoothing->temperature), ARG_REAL(d->epsilon),
             POINTS, ARG_BUFFER(AT(CLOSEST_STATUS)), ARG_BUFFER(at->marks),
             ARG_INT(slot * at->choosers * 2 * call->list->vertices_most),
             ARG_BUFFER(AT(CURVATURES))));
#define GIVEN \
  ROWS, ARG_BUFFER(AT(CLOSEST_STATUS)), POINTS, ARG_BUFFER(AT(CURVATURES)), ARG_REAL(ridge)
  switch (d->wanted) {
  case VJP:
    return LAUNCH(on->device, KERNEL_CLOSEST_VJP, BLOCKS, 1, GIVEN, COTANGENTS, GRADIENTS);
  case JVP:
    return LAUNCH(on->device, KERNEL_CLOSEST_JVP, BLOCKS, 1, GIVEN, ARG_BUFFER(AT(IN_P1)),
                  TANGENTS);
  default:
    return LAUNCH(on->device, KERNEL_CLOSEST_JACOBIAN, BLOCKS, 1, GIVEN, JACOBIANS);
  }
#undef GIVEN
}

/* Runs one query after another at perturbed poses, each started from the row's own result. */
static abut_status launch_queries(batch_on *on, size_t slot, chunk c)
{
  const derivative_call *d = (const derivative_call *)on->call;
  const closest_call *call = &d->query;
  const closest_on *at = on->user;
  const closest_settings settings = settings_of(d, c.first);
  const closest_query moved = {AT(MOVED_1),          AT(MOVED_2),       AT(CLOSEST_SIMPLEX),
                               AT(MOVED_D),          AT(MOVED_N),       AT(MOVED_P1),
                               AT(MOVED_P2),         AT(MOVED_GAP),     AT(MOVED_STATUS),
                               AT(MOVED_ITERATIONS), AT(MOVED_SIMPLEX), INFINITY};
  const size_t lanes = device_lanes(on->device), plane = BLOCKS * lanes;
  const size_t rounds = settings.method == CLOSEST_FINITE ? 12 : call->smoothing->samples;
  for (size_t i = 0; i < rounds; ++i) {
    TRY(LAUNCH(on->device, KERNEL_CLOSEST_MOVE, BLOCKS, 1, ROWS, ARG_STRUCT(settings),
               ARG_REAL(d->epsilon), ARG_INT(i), ARG_BUFFER(AT(MOVED_1)), ARG_BUFFER(AT(MOVED_2))));
    TRY(closest_launch_query(on, slot, c, &moved, 7));
    TRY(LAUNCH(on->device, KERNEL_CLOSEST_GATHER_SLOPES, BLOCKS, 1, ROWS, ARG_STRUCT(settings),
               ARG_REAL(d->epsilon), ARG_INT(i), POINTS, ARG_BUFFER(AT(MOVED_D)),
               ARG_BUFFER(AT(MOVED_N)), ARG_BUFFER(AT(MOVED_P1)), ARG_BUFFER(AT(MOVED_P2)),
               ARG_INT(plane), ARG_BUFFER(AT(CURVATURES))));
  }
#define GIVEN \
  ROWS, ARG_BUFFER(AT(CLOSEST_STATUS)), POINTS, ARG_INT(plane), ARG_BUFFER(AT(CURVATURES))
  switch (d->wanted) {
  case VJP:
    return LAUNCH(on->device, KERNEL_CLOSEST_VJP_SUMS, BLOCKS, 1, GIVEN, COTANGENTS, GRADIENTS);
  case JVP:
    return LAUNCH(on->device, KERNEL_CLOSEST_JVP_SUMS, BLOCKS, 1, GIVEN, ARG_BUFFER(AT(IN_P1)),
                  TANGENTS);
  default:
    return LAUNCH(on->device, KERNEL_CLOSEST_JACOBIAN_SUMS, BLOCKS, 1, GIVEN, JACOBIANS);
  }
#undef GIVEN
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const derivative_call *d = (const derivative_call *)on->call;
  return by_queries(d) ? launch_queries(on, slot, c) : launch_curvature(on, slot, c);
}

static const operation derivative_operation = {.base = &closest_operation,
                                               .module = MODULE_CLOSEST,
                                               .place = place,
                                               .launch = launch};

/* ---- the caller's arrays ---- */

static void add_room(derivative_call *c, const char *name, size_t id, size_t width)
{
  closest_add(&c->query, name, id, width, NULL, NULL);
}

static void add_scratch(derivative_call *c)
{
  if (!by_queries(c)) {
    add_room(c, "curvatures", CURVATURES, 2 * SYMMETRIC);
    return;
  }
  add_room(c, "sums of changes", CURVATURES, 6 * CLOSEST_VALUES);
  add_room(c, "moved pose1", MOVED_1, 7);
  add_room(c, "moved pose2", MOVED_2, 7);
  add_room(c, "moved d", MOVED_D, 1);
  add_room(c, "moved n", MOVED_N, 3);
  add_room(c, "moved p1", MOVED_P1, 3);
  add_room(c, "moved p2", MOVED_P2, 3);
  add_room(c, "moved gap", MOVED_GAP, 1);
  add_room(c, "moved status", MOVED_STATUS, 1);
  closest_add_integers(&c->query, "moved iterations", MOVED_ITERATIONS, 1, sizeof(int32_t), NULL,
                       NULL);
  closest_add_integers(&c->query, "moved simplex", MOVED_SIMPLEX, 8, sizeof(int32_t), NULL, NULL);
}

/* ---- checks ---- */

abut_closest_smoothing abut_default_closest_smoothing(void)
{
  abut_closest_smoothing s;
  memset(&s, 0, sizeof s);
  s.method = ABUT_CLOSEST_GUMBEL;
  s.temperature = 0.05;
  s.level = 1;
  s.samples = 20;
  s.ridge = 1e-6;
  s.cookie = COOKIE;
  return s;
}

static abut_status check_method(const abut_closest_smoothing *s, const context *owner)
{
  if ((uint32_t)s->method > ABUT_CLOSEST_FINITE) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown method of derivatives %d", (int)s->method);
  }
  if (s->method == ABUT_CLOSEST_FINITE && context_real_bytes(owner) != sizeof(double)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "central differences need float64: in float32 their rounding errors are too large");
  }
  return s->solved && s->method >= ABUT_CLOSEST_ZEROTH
           ? fail(ABUT_ERROR_ARGUMENT, "a method that only uses queries takes no solved answers")
           : ABUT_SUCCESS;
}

static abut_status check(const abut_closest_smoothing *s, const context *owner)
{
  if (!s || s->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the settings were not made by abut_default_closest_smoothing");
  }
  if (!(s->temperature >= 1e-6 && s->temperature <= 1e3)) {
    return fail(ABUT_ERROR_ARGUMENT, "the temperature is %g, not from 1e-6 to 1e3 of a shape's L",
                s->temperature);
  }
  if (s->level > LEVELS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "the level is %u; it must be at most %d", s->level,
                LEVELS_MOST);
  }
  if (!(s->epsilon == 0.0 || (s->epsilon >= 1e-6 && s->epsilon <= 1e3))) {
    return fail(ABUT_ERROR_ARGUMENT, "epsilon is %g; it must be 0 or in [1e-6, 1e3]", s->epsilon);
  }
  const uint32_t most = s->method == ABUT_CLOSEST_ZEROTH ? QUERIES_MOST : SAMPLES_MOST;
  if (s->samples < 1 || s->samples > most) {
    return fail(ABUT_ERROR_ARGUMENT, "the number of samples is %u; give 1 to %u", s->samples, most);
  }
  if (!(s->ridge >= 1e-15 && s->ridge <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the ridge is %g, not in [1e-15, 1]", s->ridge);
  }
  return check_method(s, owner);
}

static double epsilon_of(const abut_closest_smoothing *s)
{
  if (s->method == ABUT_CLOSEST_FINITE) {
    return s->epsilon > 0.0 ? s->epsilon : EPSILON_FINITE;
  }
  return s->epsilon > 0.0                     ? s->epsilon
         : s->method == ABUT_CLOSEST_GAUSSIAN ? EPSILON_GAUSSIAN
                                              : EPSILON_ZEROTH;
}

/* ---- calls ---- */

static abut_status start(derivative_call *c, abut_context handle_, abut_closest_batch *batch,
                         const abut_closest_smoothing *smoothing, wanted_product wanted)
{
  memset(c, 0, sizeof *c);
  const context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(smoothing, owner));
  TRY(closest_start(&c->query, handle_, batch, &derivative_operation, smoothing));
  c->wanted = wanted;
  c->epsilon = epsilon_of(smoothing);
  add_scratch(c);
  return ABUT_SUCCESS;
}

static abut_status run(derivative_call *c, abut_status status)
{
  if (status == ABUT_SUCCESS) {
    status = closest_run(&c->query);
  }
  closest_end(&c->query);
  return status;
}

abut_status abut_closest_jacobian(abut_context handle_, abut_closest_batch *batch,
                                  const abut_closest_smoothing *smoothing,
                                  const abut_closest_jacobians *jacobians)
{
  ENTER(context_pool, handle_);
  derivative_call c;
  if (!jacobians) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_closest_jacobian needs at least one array for Jacobians");
  }
  const abut_status status = start(&c, handle_, batch, smoothing, JACOBIAN);
  if (status == ABUT_SUCCESS) {
    closest_add(&c.query, "the Jacobian of p1", OUT_P1, 36, NULL, jacobians->p1);
    closest_add(&c.query, "the Jacobian of p2", OUT_P2, 36, NULL, jacobians->p2);
    closest_add(&c.query, "the Jacobian of n", OUT_N, 36, NULL, jacobians->n);
    closest_add(&c.query, "the Jacobian of d", OUT_D, 12, NULL, jacobians->d);
  }
  return run(&c, status);
}

abut_status abut_closest_vjp(abut_context handle_, abut_closest_batch *batch,
                             const abut_closest_smoothing *smoothing,
                             const abut_closest_cotangents *cotangents,
                             const abut_closest_gradients *gradients)
{
  ENTER(context_pool, handle_);
  derivative_call c;
  if (!cotangents || !gradients) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_closest_vjp needs at least one cotangent and at least one gradient array");
  }
  const abut_status status = start(&c, handle_, batch, smoothing, VJP);
  if (status == ABUT_SUCCESS) {
    closest_add_input(&c.query, "the cotangent of p1", IN_P1, 3, cotangents->p1);
    closest_add_input(&c.query, "the cotangent of p2", IN_P2, 3, cotangents->p2);
    closest_add_input(&c.query, "the cotangent of n", IN_N, 3, cotangents->n);
    closest_add_input(&c.query, "the cotangent of d", IN_D, 1, cotangents->d);
    closest_add(&c.query, "the gradient by twists", OUT_P1, 12, NULL, gradients->twists);
    closest_add(&c.query, "the gradient of pose1", OUT_P2, c.query.width, NULL, gradients->pose1);
    closest_add(&c.query, "the gradient of pose2", OUT_N, c.query.width, NULL, gradients->pose2);
  }
  return run(&c, status);
}

abut_status abut_closest_jvp(abut_context handle_, abut_closest_batch *batch,
                             const abut_closest_smoothing *smoothing, const void *twists,
                             const abut_closest_tangents *tangents)
{
  ENTER(context_pool, handle_);
  derivative_call c;
  if (!tangents || (batch && batch->count && !twists)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_closest_jvp needs at least one twist and at least one array for tangents");
  }
  const abut_status status = start(&c, handle_, batch, smoothing, JVP);
  if (status == ABUT_SUCCESS) {
    closest_add_input(&c.query, "twists", IN_P1, 12, twists);
    closest_add(&c.query, "the tangent of p1", OUT_P1, 3, NULL, tangents->p1);
    closest_add(&c.query, "the tangent of p2", OUT_P2, 3, NULL, tangents->p2);
    closest_add(&c.query, "the tangent of n", OUT_N, 3, NULL, tangents->n);
    closest_add(&c.query, "the tangent of d", OUT_D, 1, NULL, tangents->d);
  }
  return run(&c, status);
}
