/* Closest points of convex shapes and their derivatives as XLA calls them; python/xla.c says how.
 *
 * Attributes, 64-bit whole numbers:
 *   op        0: queries, 1: gradients, 2: tangents
 *   context, shapes   handles, index in the low half, generation in the high one
 *   indexed   whether rows of the shapes follow the poses
 *   bars      cotangents that are given, bit k of d, n, p1, p2
 *   iterations_most, corners_most, method, level, samples, seed, first   as of <abut/closest.h>
 *   tolerance, cutoff, temperature, epsilon, ridge   likewise, the bits of a double
 * Arguments: both poses, the rows; of derivatives then d, n, p1, p2 and status, and twists or what
 * `bars` names. Leading axes of pose 1 are N. Results: d, n, p1, p2 and, of queries, status; of
 * gradients those by twists.
 */
#include "xla_call.h"

#include <abut/abut.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OP_QUERY = 0, OP_VJP = 1, OP_JVP = 2, ANSWERS = 4, TWISTS = 12 };

static const size_t widths[ANSWERS] = {1, 3, 3, 3};

uintptr_t abutpy_xla_closest_handler(void);

typedef struct call {
  xla_call x;
  abut_context context;
  abut_shape *shapes;
  uint8_t *status;
  abut_closest_batch batch;
  abut_closest_smoothing smoothing;
} call;

static double real_setting(const call *c, const char *name)
{
  const int64_t bits = xla_number(c->x.frame, name);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void read_settings(call *c)
{
  const xla_frame *frame = c->x.frame;
  const xla_handle context = xla_handle_of(xla_number(frame, "context"));
  c->context = (abut_context){context.index, context.generation};
  c->batch.tolerance = real_setting(c, "tolerance");
  c->batch.cutoff = real_setting(c, "cutoff");
  c->batch.iterations_most = (uint32_t)xla_number(frame, "iterations_most");
  c->batch.corners_most = (uint32_t)xla_number(frame, "corners_most");
  c->smoothing.method = (abut_closest_method)xla_number(frame, "method");
  c->smoothing.temperature = real_setting(c, "temperature");
  c->smoothing.level = (uint32_t)xla_number(frame, "level");
  c->smoothing.epsilon = real_setting(c, "epsilon");
  c->smoothing.samples = (uint32_t)xla_number(frame, "samples");
  c->smoothing.seed = (uint64_t)xla_number(frame, "seed");
  c->smoothing.first = (uint64_t)xla_number(frame, "first");
  c->smoothing.ridge = real_setting(c, "ridge");
}

static void read_shapes(call *c)
{
  const xla_array *handles = xla_attribute(c->x.frame, "shapes", XLA_ATTRIBUTE_ARRAY);
  if (!handles || handles->type != XLA_S64 || !handles->count) {
    xla_refuse(&c->x, "abut was called without a shape");
    return;
  }
  c->shapes = calloc(handles->count, sizeof *c->shapes);
  if (!c->shapes) {
    xla_refuse(&c->x, "host memory ran out");
    return;
  }
  for (size_t i = 0; i < handles->count; ++i) {
    const xla_handle handle = xla_handle_of(((const int64_t *)handles->data)[i]);
    c->shapes[i] = (abut_shape){handle.index, handle.generation};
  }
  c->batch.shapes = c->shapes;
  c->batch.shape_count = handles->count;
}

static void read_poses(call *c)
{
  const xla_buffers *all = &c->x.frame->arguments;
  const xla_buffer *pose = all->count && all->kinds[0] == XLA_BUFFER ? all->items[0] : NULL;
  const int64_t width = pose && pose->rank > 0 ? pose->shape[pose->rank - 1] : 0;
  if ((width != 6 && width != 7) || (pose->type != XLA_F32 && pose->type != XLA_F64)) {
    xla_refuse(&c->x, "abut was called without poses");
    return;
  }
  c->x.type = pose->type;
  c->x.count = xla_size(pose) / (size_t)width;
  c->batch.count = c->x.count;
  c->batch.poses = width == 7 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  c->batch.pose1 = xla_argument(&c->x, (size_t)width);
  c->batch.pose2 = xla_argument(&c->x, (size_t)width);
  if (xla_number(c->x.frame, "indexed")) {
    c->batch.one = xla_next(&c->x, all, &c->x.argument, XLA_U32, 1);
    c->batch.two = xla_next(&c->x, all, &c->x.argument, XLA_U32, 1);
  }
}

static void **const *answers_of(abut_closest_batch *b, void **places[ANSWERS])
{
  places[0] = &b->d;
  places[1] = &b->n;
  places[2] = &b->p1;
  places[3] = &b->p2;
  return places;
}

static abut_status run_query(call *c)
{
  void **places[ANSWERS];
  answers_of(&c->batch, places);
  for (int k = 0; k < ANSWERS; ++k) {
    *places[k] = xla_result(&c->x, widths[k]);
  }
  c->batch.status = xla_next(&c->x, &c->x.frame->results, &c->x.result, XLA_U8, 1);
  return c->x.text[0] ? ABUT_SUCCESS : abut_closest(c->context, &c->batch);
}

/* The answers that derivatives begin from, where the method does. The status, to which the call
 * adds, is copied. */
static void read_answers(call *c)
{
  void **places[ANSWERS], *answers[ANSWERS];
  for (int k = 0; k < ANSWERS; ++k) {
    answers[k] = xla_argument(&c->x, widths[k]);
  }
  const uint8_t *status = xla_next(&c->x, &c->x.frame->arguments, &c->x.argument, XLA_U8, 1);
  c->smoothing.solved = c->smoothing.method != ABUT_CLOSEST_ZEROTH &&
                        c->smoothing.method != ABUT_CLOSEST_FINITE;
  if (c->x.text[0] || !c->smoothing.solved) {
    return;
  }
  answers_of(&c->batch, places);
  for (int k = 0; k < ANSWERS; ++k) {
    *places[k] = answers[k];
  }
  c->status = malloc(c->x.count + 1);
  if (!c->status) {
    xla_refuse(&c->x, "host memory ran out");
    return;
  }
  memcpy(c->status, status, c->x.count);
  c->batch.status = c->status;
}

static abut_status run_vjp(call *c)
{
  const void *bars[ANSWERS];
  const int64_t given = xla_number(c->x.frame, "bars");
  read_answers(c);
  for (int k = 0; k < ANSWERS; ++k) {
    bars[k] = given >> k & 1 ? xla_argument(&c->x, widths[k]) : NULL;
  }
  const abut_closest_cotangents cotangents = {.d = bars[0],
                                              .n = bars[1],
                                              .p1 = bars[2],
                                              .p2 = bars[3]};
  const abut_closest_gradients gradients = {.twists = xla_result(&c->x, TWISTS)};
  return c->x.text[0]
           ? ABUT_SUCCESS
           : abut_closest_vjp(c->context, &c->batch, &c->smoothing, &cotangents, &gradients);
}

static abut_status run_jvp(call *c)
{
  void *made[ANSWERS];
  read_answers(c);
  const void *twists = xla_argument(&c->x, TWISTS);
  for (int k = 0; k < ANSWERS; ++k) {
    made[k] = xla_result(&c->x, widths[k]);
  }
  const abut_closest_tangents tangents = {.d = made[0], .n = made[1], .p1 = made[2], .p2 = made[3]};
  return c->x.text[0] ? ABUT_SUCCESS
                      : abut_closest_jvp(c->context, &c->batch, &c->smoothing, twists, &tangents);
}

static abut_status run(call *c)
{
  switch (xla_number(c->x.frame, "op")) {
  case OP_QUERY:
    return run_query(c);
  case OP_VJP:
    return run_vjp(c);
  case OP_JVP:
    return run_jvp(c);
  default:
    xla_refuse(&c->x, "abut has no such operation of closest points");
    return ABUT_SUCCESS;
  }
}

static xla_error *execute(const xla_frame *frame)
{
  call c = {.x = {.frame = frame},
            .batch = abut_default_closest_batch(),
            .smoothing = abut_default_closest_smoothing()};
  read_settings(&c);
  read_shapes(&c);
  if (!c.x.text[0]) {
    read_poses(&c);
  }
  const abut_status status = c.x.text[0] ? ABUT_SUCCESS : run(&c);
  free(c.shapes);
  free(c.status);
  return xla_end(&c.x, status);
}

static xla_error *handle(xla_frame *frame)
{
  return xla_handle_call(frame, execute);
}

uintptr_t abutpy_xla_closest_handler(void)
{
  return (uintptr_t)handle;
}
