/* abut as XLA calls it: one handler for all of abut.jax's operations, with nothing of Python in it,
 * for XLA's threads do not hold Python's lock.
 *
 * Attributes, 64-bit whole numbers:
 *   op         one of `operation`
 *   pairs      (pair_count) index in the low half, generation in the high one
 *   indexed    whether the argument behind the poses tells each entry's pair
 *   want       outputs, bit k of p, d, n, activity, weight
 *   along      tangents of poses that are given, bit k of body k + 1
 *   wrt        poses whose gradients are wanted, likewise
 *   bars       cotangents that are given, as `want`
 *   slopes     tangents of cotangents that are given, as `want`
 *   reduction  of abut_reduction, or 6 for the least distance of a vertex
 *   nearest    whether the least distance follows the reduction's value
 * Arguments: both poses, the index, then what `along`, `bars` and `slopes` name, in this order.
 * Leading axes of pose 1 are N. Results: those of each operation, below.
 */
#include "xla_call.h"

#include <abut/abut.h>

#include <stdbool.h>
#include <stdlib.h>

enum { OUTPUTS = 5, MINIMUM_DISTANCE = 6, FEW_PAIRS = 16 };

typedef enum operation {
  OP_CONTACTS = 0,       /* what is wanted, then the poses' statuses */
  OP_JVP = 1,            /* tangents of what is wanted */
  OP_VJP = 2,            /* gradients */
  OP_VJP_TANGENT = 3,    /* their tangents */
  OP_VALUE = 4,          /* a reduction's value */
  OP_GRADIENT = 5,       /* value, then gradients */
  OP_HESSIAN_PRODUCT = 6 /* tangents of the gradients */
} operation;

uintptr_t abutpy_xla_handler(void);

typedef struct call {
  xla_call x;
  size_t width, contacts;
  abut_pair own;
  abut_pair few[FEW_PAIRS], *pairs;
  abut_batch batch;
} call;

/* ---- what is given ---- */

static void read_pairs(call *c)
{
  const xla_array *handles = xla_attribute(c->x.frame, "pairs", XLA_ATTRIBUTE_ARRAY);
  if (!handles || handles->type != XLA_S64 || !handles->count) {
    xla_refuse(&c->x, "abut was called without a pair");
    return;
  }
  c->pairs = c->few;
  if (handles->count > FEW_PAIRS) {
    c->pairs = calloc(handles->count, sizeof *c->pairs);
    if (!c->pairs) {
      xla_refuse(&c->x, "host memory ran out");
      return;
    }
  }
  for (size_t i = 0; i < handles->count; ++i) {
    const xla_handle handle = xla_handle_of(((const int64_t *)handles->data)[i]);
    c->pairs[i] = (abut_pair){handle.index, handle.generation};
  }
  c->own = c->pairs[0];
  if (xla_number(c->x.frame, "indexed")) {
    c->own = ABUT_BATCH_PAIRS;
    c->batch.pairs = c->pairs;
    c->batch.pair_count = handles->count;
  }
}

static size_t width_of_output(const call *c, int k)
{
  return k == 0 || k == 2 ? 3 * c->contacts : c->contacts; /* p and n are vectors */
}

static void read_outputs(call *c, int64_t bits, const void *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) {
    out[k] = bits >> k & 1 ? xla_argument(&c->x, width_of_output(c, k)) : NULL;
  }
}

static void write_outputs(call *c, int64_t bits, void *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) {
    out[k] = bits >> k & 1 ? xla_result(&c->x, width_of_output(c, k)) : NULL;
  }
}

static abut_pose_tangents read_tangents(call *c)
{
  const int64_t bits = xla_number(c->x.frame, "along");
  const void *pose1 = bits & 1 ? xla_argument(&c->x, c->width) : NULL;
  const void *pose2 = bits & 2 ? xla_argument(&c->x, c->width) : NULL;
  return (abut_pose_tangents){pose1, pose2};
}

static abut_cotangents read_cotangents(call *c, const char *name)
{
  const void *out[OUTPUTS];
  read_outputs(c, xla_number(c->x.frame, name), out);
  return (
    abut_cotangents){.p = out[0], .d = out[1], .n = out[2], .activity = out[3], .weight = out[4]};
}

static abut_gradients write_gradients(call *c)
{
  const int64_t bits = xla_number(c->x.frame, "wrt");
  void *pose1 = bits & 1 ? xla_result(&c->x, c->width) : NULL;
  void *pose2 = bits & 2 ? xla_result(&c->x, c->width) : NULL;
  return (abut_gradients){pose1, pose2};
}

/* Slots of an entry: programs carry shapes, which must be those of the pairs. */
static abut_status count_contacts(call *c)
{
  const size_t pairs = c->batch.pairs ? c->batch.pair_count : 1;
  for (size_t i = 0; i < pairs; ++i) {
    abut_layout layout;
    const abut_status status = abut_get_layout(c->pairs[i], &layout);
    if (status) {
      return status;
    }
    c->contacts = layout.contacts > c->contacts ? layout.contacts : c->contacts;
  }
  return ABUT_SUCCESS;
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
  c->width = (size_t)width;
  c->x.count = xla_size(pose) / c->width;
  c->batch.count = c->x.count;
  c->batch.poses = width == 7 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  c->batch.pose1 = xla_argument(&c->x, c->width);
  c->batch.pose2 = xla_argument(&c->x, c->width);
  if (c->batch.pairs) {
    c->batch.pair = xla_next(&c->x, all, &c->x.argument, XLA_U32, 1);
  }
}

/* ---- operations ---- */

static void write_contacts(call *c)
{
  void *out[OUTPUTS];
  write_outputs(c, xla_number(c->x.frame, "want"), out);
  c->batch.p = out[0];
  c->batch.d = out[1];
  c->batch.n = out[2];
  c->batch.activity = out[3];
  c->batch.weight = out[4];
  c->batch.status = xla_next(&c->x, &c->x.frame->results, &c->x.result, XLA_U8, 1);
}

static void write_value(call *c)
{
  abut_reductions *r = &c->batch.reductions;
  void **const places[] = {&r->mean_distance,   &r->activity, &r->energy,
                           &r->soft_minimum,    &r->distance, &r->soft_distance,
                           &r->minimum_distance};
  const int64_t kind = xla_number(c->x.frame, "reduction");
  const bool nearest = xla_number(c->x.frame, "nearest");
  if (kind < 0 || kind > MINIMUM_DISTANCE || (nearest && kind == MINIMUM_DISTANCE)) {
    xla_refuse(&c->x, "there is no reduction %lld, or it is asked for twice", (long long)kind);
    return;
  }
  *places[kind] = xla_result(&c->x, 1);
  if (nearest) {
    r->minimum_distance = xla_result(&c->x, 1);
  }
}

static abut_status run_jvp(call *c)
{
  void *out[OUTPUTS];
  const abut_pose_tangents along = read_tangents(c);
  write_outputs(c, xla_number(c->x.frame, "want"), out);
  const abut_tangents tangents = {.p = out[0],
                                  .d = out[1],
                                  .n = out[2],
                                  .activity = out[3],
                                  .weight = out[4]};
  return c->x.text[0] ? 0 : abut_jvp(c->own, ABUT_SAME_PAIR, &c->batch, &along, &tangents);
}

static abut_status run_vjp(call *c)
{
  const abut_cotangents bars = read_cotangents(c, "bars");
  const abut_gradients gradients = write_gradients(c);
  return c->x.text[0] ? 0 : abut_vjp(c->own, ABUT_SAME_PAIR, &c->batch, &bars, &gradients);
}

static abut_status run_vjp_tangent(call *c)
{
  const abut_pose_tangents along = read_tangents(c);
  const abut_cotangents bars = read_cotangents(c, "bars");
  const abut_cotangents slopes = read_cotangents(c, "slopes");
  const abut_gradients tangents = write_gradients(c);
  return c->x.text[0]
           ? 0
           : abut_vjp_tangent(c->own, &c->batch, &bars, &slopes, &along, NULL, &tangents);
}

static abut_status run_gradient(call *c)
{
  write_value(c);
  const abut_gradients gradients = write_gradients(c);
  const abut_reduction reduction = (abut_reduction)xla_number(c->x.frame, "reduction");
  return c->x.text[0] ? 0 : abut_gradient(c->own, ABUT_SAME_PAIR, &c->batch, reduction, &gradients);
}

static abut_status run_hessian_product(call *c)
{
  const abut_pose_tangents along = read_tangents(c);
  const abut_gradients products = write_gradients(c);
  const abut_reduction reduction = (abut_reduction)xla_number(c->x.frame, "reduction");
  return c->x.text[0] ? 0
                      : abut_hessian_product(c->own, &c->batch, reduction, &along, NULL, &products);
}

static abut_status run(call *c)
{
  switch ((operation)xla_number(c->x.frame, "op")) {
  case OP_CONTACTS:
    write_contacts(c);
    return c->x.text[0] ? 0 : abut_contacts(c->own, &c->batch);
  case OP_JVP:
    return run_jvp(c);
  case OP_VJP:
    return run_vjp(c);
  case OP_VJP_TANGENT:
    return run_vjp_tangent(c);
  case OP_VALUE:
    write_value(c);
    return c->x.text[0] ? 0 : abut_contacts(c->own, &c->batch);
  case OP_GRADIENT:
    return run_gradient(c);
  case OP_HESSIAN_PRODUCT:
    return run_hessian_product(c);
  }
  xla_refuse(&c->x, "abut has no such operation");
  return 0;
}

static xla_error *execute(const xla_frame *frame)
{
  call c = {.x = {.frame = frame}, .batch = abut_default_batch()};
  read_pairs(&c);
  abut_status status = c.x.text[0] ? 0 : count_contacts(&c);
  if (!status && !c.x.text[0]) {
    read_poses(&c);
    status = c.x.text[0] ? 0 : run(&c);
  }
  if (c.pairs != c.few) {
    free(c.pairs);
  }
  return xla_end(&c.x, status);
}

static xla_error *handle(xla_frame *frame)
{
  return xla_handle_call(frame, execute);
}

uintptr_t abutpy_xla_handler(void)
{
  return (uintptr_t)handle;
}
