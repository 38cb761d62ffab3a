/* abut as XLA calls it: one handler for all of abut.jax's operations, with nothing of Python in it,
 * for XLA's threads do not hold Python's lock.
 *
 * Attributes, 64-bit whole numbers:
 *   op         one of `operation`
 *   pairs      (pair_count) index in the low half, generation in the high one
 *   indexed    whether the argument behind the poses tells each entry's pair
 *   want       outputs, bit k of p, d, n, activity
 *   along      tangents of poses that are given, bit k of body k + 1
 *   wrt        poses whose gradients are wanted, likewise
 *   bars       cotangents that are given, as `want`
 *   slopes     tangents of cotangents that are given, as `want`
 *   reduction  of abut_reduction, or 4 for the least distance
 *   nearest    whether the least distance follows the reduction's value
 * Arguments: both poses, the index, then what `along`, `bars` and `slopes` name, in this order.
 * Leading axes of pose 1 are N. Results: those of each operation, below.
 */
#include "xla_ffi.h"

#include <abut/abut.h>

#include <fenv.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUTS = 4, MINIMUM_DISTANCE = 4, FEW_PAIRS = 16 };

typedef enum operation {
  OP_CONTACTS = 0,   /* what is wanted, then the poses' statuses */
  OP_JVP = 1,        /* tangents of what is wanted */
  OP_VJP = 2,        /* gradients */
  OP_VJP_TANGENT = 3, /* their tangents */
  OP_VALUE = 4,      /* a reduction's value */
  OP_GRADIENT = 5,   /* value, then gradients */
  OP_HESSIAN_PRODUCT = 6 /* tangents of the gradients */
} operation;

uintptr_t abutpy_xla_handler(void);

typedef struct call {
  const xla_frame *frame;
  int64_t argument, result; /* the next ones */
  int type;                 /* of reals */
  size_t count, width, contacts;
  abut_pair own;
  abut_pair few[FEW_PAIRS], *pairs;
  abut_batch batch;
  char text[256]; /* "" as long as all is well */
} call;

static void refuse(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(call *c, const char *format, ...)
{
  if (!c->text[0]) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->text, sizeof c->text, format, list);
    va_end(list);
  }
}

static xla_error *error_of(const xla_frame *frame, int code, const char *text)
{
  xla_error_args args = {sizeof args, NULL, text, code};
  return frame->api->create_error(&args);
}

static xla_error *error_of_status(const xla_frame *frame, abut_status status)
{
  if (!status) {
    return NULL;
  }
  char text[1024];
  snprintf(text, sizeof text, "%s: %s", abut_status_name(status), abut_last_error());
  switch (status) {
  case ABUT_ERROR_ARGUMENT:
  case ABUT_ERROR_HANDLE:
    return error_of(frame, XLA_INVALID_ARGUMENT, text);
  case ABUT_ERROR_MEMORY:
  case ABUT_ERROR_TOO_LARGE:
    return error_of(frame, XLA_RESOURCE_EXHAUSTED, text);
  default:
    return error_of(frame, XLA_INTERNAL, text);
  }
}

/* ---- attributes ---- */

static const void *attribute(const xla_frame *frame, const char *name, int kind)
{
  const xla_attributes *all = &frame->attributes;
  const size_t length = strlen(name);
  for (int64_t i = 0; i < all->count; ++i) {
    if (all->names[i]->length == length && !memcmp(all->names[i]->characters, name, length)) {
      return all->kinds[i] == kind ? all->items[i] : NULL;
    }
  }
  return NULL;
}

/* A number; 0 where it is not there. */
static int64_t number(const xla_frame *frame, const char *name)
{
  const xla_scalar *scalar = attribute(frame, name, XLA_ATTRIBUTE_SCALAR);
  return scalar && scalar->type == XLA_S64 ? *(const int64_t *)scalar->value : 0;
}

static void read_pairs(call *c)
{
  const xla_array *handles = attribute(c->frame, "pairs", XLA_ATTRIBUTE_ARRAY);
  if (!handles || handles->type != XLA_S64 || !handles->count) {
    refuse(c, "abut was called without a pair");
    return;
  }
  c->pairs = c->few;
  if (handles->count > FEW_PAIRS) {
    c->pairs = calloc(handles->count, sizeof *c->pairs);
    if (!c->pairs) {
      refuse(c, "host memory ran out");
      return;
    }
  }
  for (size_t i = 0; i < handles->count; ++i) {
    const uint64_t handle = (uint64_t)((const int64_t *)handles->data)[i];
    c->pairs[i] = (abut_pair){(uint32_t)handle, (uint32_t)(handle >> 32)};
  }
  c->own = c->pairs[0];
  if (number(c->frame, "indexed")) {
    c->own = ABUT_BATCH_PAIRS;
    c->batch.pairs = c->pairs;
    c->batch.pair_count = handles->count;
  }
}

/* ---- arrays ---- */

static size_t size_of(const xla_buffer *buffer)
{
  size_t size = 1;
  for (int64_t i = 0; i < buffer->rank; ++i) {
    size *= (size_t)buffer->shape[i];
  }
  return size;
}

/* The next argument or result, which has so many numbers an entry. */
static void *next(call *c, const xla_buffers *all, int64_t *place, int type, size_t width)
{
  const int64_t i = (*place)++;
  if (c->text[0]) {
    return NULL;
  }
  if (i >= all->count || all->kinds[i] != XLA_BUFFER) {
    refuse(c, "abut was called with %lld arrays, which are too few", (long long)all->count);
    return NULL;
  }
  const xla_buffer *buffer = all->items[i];
  if (buffer->type != type || size_of(buffer) != c->count * width) {
    refuse(c, "array %lld of a call of abut has %zu entries of type %d, not %zu of type %d",
           (long long)i, size_of(buffer), buffer->type, c->count * width, type);
    return NULL;
  }
  return buffer->data;
}

static void *argument(call *c, size_t width)
{
  return next(c, &c->frame->arguments, &c->argument, c->type, width);
}

static void *result(call *c, size_t width)
{
  return next(c, &c->frame->results, &c->result, c->type, width);
}

static size_t width_of_output(const call *c, int k)
{
  return k % 2 ? c->contacts : 3 * c->contacts;
}

static void read_outputs(call *c, int64_t bits, const void *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) {
    out[k] = bits >> k & 1 ? argument(c, width_of_output(c, k)) : NULL;
  }
}

static void write_outputs(call *c, int64_t bits, void *out[OUTPUTS])
{
  for (int k = 0; k < OUTPUTS; ++k) {
    out[k] = bits >> k & 1 ? result(c, width_of_output(c, k)) : NULL;
  }
}

static abut_pose_tangents read_tangents(call *c)
{
  const int64_t bits = number(c->frame, "along");
  const void *pose1 = bits & 1 ? argument(c, c->width) : NULL;
  const void *pose2 = bits & 2 ? argument(c, c->width) : NULL;
  return (abut_pose_tangents){pose1, pose2};
}

static abut_cotangents read_cotangents(call *c, const char *name)
{
  const void *out[OUTPUTS];
  read_outputs(c, number(c->frame, name), out);
  return (abut_cotangents){out[0], out[1], out[2], out[3]};
}

static abut_gradients write_gradients(call *c)
{
  const int64_t bits = number(c->frame, "wrt");
  void *pose1 = bits & 1 ? result(c, c->width) : NULL;
  void *pose2 = bits & 2 ? result(c, c->width) : NULL;
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
  const xla_buffers *all = &c->frame->arguments;
  const xla_buffer *pose = all->count && all->kinds[0] == XLA_BUFFER ? all->items[0] : NULL;
  const int64_t width = pose && pose->rank > 0 ? pose->shape[pose->rank - 1] : 0;
  if ((width != 6 && width != 7) || (pose->type != XLA_F32 && pose->type != XLA_F64)) {
    refuse(c, "abut was called without poses");
    return;
  }
  c->type = pose->type;
  c->width = (size_t)width;
  c->count = size_of(pose) / c->width;
  c->batch.count = c->count;
  c->batch.poses = width == 7 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  c->batch.pose1 = argument(c, c->width);
  c->batch.pose2 = argument(c, c->width);
  if (c->batch.pairs) {
    c->batch.pair = next(c, all, &c->argument, XLA_U32, 1);
  }
}

/* ---- operations ---- */

static void write_contacts(call *c)
{
  void *out[OUTPUTS];
  write_outputs(c, number(c->frame, "want"), out);
  c->batch.p = out[0];
  c->batch.d = out[1];
  c->batch.n = out[2];
  c->batch.activity = out[3];
  c->batch.status = next(c, &c->frame->results, &c->result, XLA_U8, 1);
}

static void write_value(call *c)
{
  abut_reductions *r = &c->batch.reductions;
  void **const places[] = {&r->mean_distance, &r->activity, &r->energy, &r->soft_minimum,
                           &r->minimum_distance};
  const int64_t kind = number(c->frame, "reduction");
  const bool nearest = number(c->frame, "nearest");
  if (kind < 0 || kind > MINIMUM_DISTANCE || (nearest && kind == MINIMUM_DISTANCE)) {
    refuse(c, "there is no reduction %lld, or it is asked for twice", (long long)kind);
    return;
  }
  *places[kind] = result(c, 1);
  if (nearest) {
    r->minimum_distance = result(c, 1);
  }
}

static abut_status run_jvp(call *c)
{
  void *out[OUTPUTS];
  const abut_pose_tangents along = read_tangents(c);
  write_outputs(c, number(c->frame, "want"), out);
  const abut_tangents tangents = {out[0], out[1], out[2], out[3]};
  return c->text[0] ? 0 : abut_jvp(c->own, ABUT_SAME_PAIR, &c->batch, &along, &tangents);
}

static abut_status run_vjp(call *c)
{
  const abut_cotangents bars = read_cotangents(c, "bars");
  const abut_gradients gradients = write_gradients(c);
  return c->text[0] ? 0 : abut_vjp(c->own, ABUT_SAME_PAIR, &c->batch, &bars, &gradients);
}

static abut_status run_vjp_tangent(call *c)
{
  const abut_pose_tangents along = read_tangents(c);
  const abut_cotangents bars = read_cotangents(c, "bars");
  const abut_cotangents slopes = read_cotangents(c, "slopes");
  const abut_gradients tangents = write_gradients(c);
  return c->text[0] ? 0 : abut_vjp_tangent(c->own, &c->batch, &bars, &slopes, &along, NULL,
                                           &tangents);
}

static abut_status run_gradient(call *c)
{
  write_value(c);
  const abut_gradients gradients = write_gradients(c);
  const abut_reduction reduction = (abut_reduction)number(c->frame, "reduction");
  return c->text[0] ? 0 : abut_gradient(c->own, ABUT_SAME_PAIR, &c->batch, reduction, &gradients);
}

static abut_status run_hessian_product(call *c)
{
  const abut_pose_tangents along = read_tangents(c);
  const abut_gradients products = write_gradients(c);
  const abut_reduction reduction = (abut_reduction)number(c->frame, "reduction");
  return c->text[0] ? 0 : abut_hessian_product(c->own, &c->batch, reduction, &along, NULL,
                                               &products);
}

static abut_status run(call *c)
{
  switch ((operation)number(c->frame, "op")) {
  case OP_CONTACTS:
    write_contacts(c);
    return c->text[0] ? 0 : abut_contacts(c->own, &c->batch);
  case OP_JVP:
    return run_jvp(c);
  case OP_VJP:
    return run_vjp(c);
  case OP_VJP_TANGENT:
    return run_vjp_tangent(c);
  case OP_VALUE:
    write_value(c);
    return c->text[0] ? 0 : abut_contacts(c->own, &c->batch);
  case OP_GRADIENT:
    return run_gradient(c);
  case OP_HESSIAN_PRODUCT:
    return run_hessian_product(c);
  }
  refuse(c, "abut has no such operation");
  return 0;
}

/* XLA asks at registration which version of its interface a handler is of. */
static bool answers_metadata(const xla_frame *frame)
{
  const xla_extension *extension = frame->extensions;
  if (!extension || extension->kind != XLA_EXTENSION_METADATA) {
    return false;
  }
  xla_metadata *metadata = ((const xla_metadata_query *)(const void *)extension)->metadata;
  metadata->version = (xla_version){sizeof metadata->version, NULL, XLA_MAJOR, XLA_MINOR};
  metadata->traits = 0;
  return true;
}

static xla_error *execute(const xla_frame *frame)
{
  call c = {.frame = frame, .batch = abut_default_batch()};
  read_pairs(&c);
  abut_status status = c.text[0] ? 0 : count_contacts(&c);
  if (!status && !c.text[0]) {
    read_poses(&c);
    status = c.text[0] ? 0 : run(&c);
  }
  if (c.pairs != c.few) {
    free(c.pairs);
  }
  return c.text[0] ? error_of(frame, XLA_INVALID_ARGUMENT, c.text) : error_of_status(frame, status);
}

/* XLA's threads make subnormal numbers zero; the library's results are those of any thread. */
static xla_error *handle(xla_frame *frame)
{
  if (answers_metadata(frame) || frame->stage != XLA_STAGE_EXECUTE) {
    return NULL;
  }
  fenv_t kept;
  fegetenv(&kept);
  fesetenv(FE_DFL_ENV);
  xla_error *error = execute(frame);
  fesetenv(&kept);
  return error;
}

uintptr_t abutpy_xla_handler(void)
{
  return (uintptr_t)handle;
}
