/* Collision in time and its derivatives as XLA calls them; python/xla.c says how.
 *
 * Attributes, 64-bit whole numbers:
 *   op        0: queries of features, 1: two meshes
 *   slopes    whether derivatives of toi are computed, too
 *   owners    handles, index in the low half, generation in the high one: the context; or both
 *             meshes
 *   iterations_most   as of <abut/ccd.h>
 *   reals     the bits of doubles: separation, keep, tolerance, end, error, relative_error; or
 *             separation, keep,
 *             tolerance, center1 (3), center2 (3)
 *   kind, method, plain, given   of queries; bit k of `given`: the array k of x0_low, x1_low,
 *                                separations, keeps,
 *             tolerances, ends, errors, relative_errors is there
 *   motion    of meshes
 * Arguments: x0, x1, what is given; or from1, to1, from2, to2. Leading axes of the first are N.
 * Results: of queries toi, status, n, d0, iterations; of meshes toi, status, kind, feature1,
 * feature2, p1, p2, n, candidates; then slopes by x0 and x1, or by the four poses.
 */
#include "xla_call.h"

#include <abut/ccd.h>

#include <stdbool.h>
#include <string.h>

enum {
  OP_QUERIES = 0,
  OP_MESHES = 1,
  QUERY_REALS = 6,
  BATCH_REALS = 9,
  GIVEN = 8,
  LOW = 2,
  POSES = 4
};

uintptr_t abutpy_xla_ccd_handler(void);

typedef struct call {
  xla_call x;
  xla_handle owners[2];
  double reals[BATCH_REALS];
  bool wants_slopes;
} call;

/* Numbers of 64 bits each, as many as are expected. */
static const int64_t *array_attribute(call *c, const char *name, size_t count)
{
  const xla_array *array = xla_attribute(c->x.frame, name, XLA_ATTRIBUTE_ARRAY);
  if (!array || array->type != XLA_S64 || array->count != count) {
    xla_refuse(&c->x, "abut was called without its %s", name);
    return NULL;
  }
  return array->data;
}

static void read_settings(call *c, size_t owners, size_t reals)
{
  const int64_t *handles = array_attribute(c, "owners", owners);
  const int64_t *bits = array_attribute(c, "reals", reals);
  if (c->x.text[0]) {
    return;
  }
  for (size_t i = 0; i < owners; ++i) {
    c->owners[i] = xla_handle_of(handles[i]);
  }
  memcpy(c->reals, bits, reals * sizeof *c->reals);
  c->wants_slopes = xla_number(c->x.frame, "slopes") != 0;
}

/* Reads the batch's size and precision off the first argument, which has so many numbers an
 * entry. */
static const xla_buffer *read_first(call *c, int64_t axes)
{
  const xla_buffers *all = &c->x.frame->arguments;
  const xla_buffer *first = all->count && all->kinds[0] == XLA_BUFFER ? all->items[0] : NULL;
  if (!first || first->rank < axes || (first->type != XLA_F32 && first->type != XLA_F64)) {
    xla_refuse(&c->x, "abut was called without numbers");
    return NULL;
  }
  c->x.type = first->type;
  c->x.count = 1;
  for (int64_t i = 0; i < first->rank - axes; ++i) {
    c->x.count *= (size_t)first->shape[i];
  }
  return first;
}

static void *result_of(call *c, int type, size_t width)
{
  return xla_next(&c->x, &c->x.frame->results, &c->x.result, type, width);
}

static void read_queries(call *c, abut_ccd_queries *q, size_t width)
{
  const int64_t given = xla_number(c->x.frame, "given");
  const void **arrays[GIVEN] = {&q->x0_low,     &q->x1_low, &q->separations, &q->keeps,
                                &q->tolerances, &q->ends,   &q->errors,      &q->relative_errors};
  double *numbers[QUERY_REALS] = {&q->separation, &q->keep,  &q->tolerance,
                                  &q->end,        &q->error, &q->relative_error};
  q->count = c->x.count;
  q->x0 = xla_argument(&c->x, width);
  q->x1 = xla_argument(&c->x, width);
  for (int k = 0; k < GIVEN; ++k) {
    if (given >> k & 1) {
      *arrays[k] = xla_argument(&c->x, k < LOW ? width : 1);
    }
  }
  for (int k = 0; k < QUERY_REALS; ++k) {
    *numbers[k] = c->reals[k];
  }
}

static abut_status run_queries(call *c)
{
  static const size_t vertices[ABUT_CCD_KINDS] = {2, 3, 4, 4};
  abut_ccd_queries q = abut_default_ccd_queries();
  const int64_t kind = xla_number(c->x.frame, "kind");
  read_settings(c, 1, QUERY_REALS);
  if (kind < 0 || kind >= ABUT_CCD_KINDS) {
    xla_refuse(&c->x, "abut has no such kind of features");
  }
  if (c->x.text[0] || !read_first(c, 2)) {
    return ABUT_SUCCESS;
  }
  const size_t width = vertices[kind] * 3;
  q.kind = (abut_ccd_kind)kind;
  q.method = (abut_ccd_method)xla_number(c->x.frame, "method");
  q.iterations_most = (uint32_t)xla_number(c->x.frame, "iterations_most");
  q.plain = xla_number(c->x.frame, "plain") != 0;
  read_queries(c, &q, width);
  q.toi = xla_result(&c->x, 1);
  q.status = result_of(c, XLA_U8, 1);
  q.n = xla_result(&c->x, 3);
  q.d0 = xla_result(&c->x, 1);
  q.iterations = result_of(c, XLA_U32, 2);
  void *by_x0 = c->wants_slopes ? xla_result(&c->x, width) : NULL;
  void *by_x1 = c->wants_slopes ? xla_result(&c->x, width) : NULL;
  const abut_context context = {c->owners[0].index, c->owners[0].generation};
  if (c->x.text[0]) {
    return ABUT_SUCCESS;
  }
  return c->wants_slopes ? abut_ccd_queries_gradient(context, &q, by_x0, by_x1)
                         : abut_run_ccd_queries(context, &q);
}

static void read_batch(call *c, abut_ccd_batch *b, size_t width)
{
  b->count = c->x.count;
  b->poses = width == 7 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  b->from1 = xla_argument(&c->x, width);
  b->to1 = xla_argument(&c->x, width);
  b->from2 = xla_argument(&c->x, width);
  b->to2 = xla_argument(&c->x, width);
  b->motion = (abut_ccd_motion)xla_number(c->x.frame, "motion");
  b->iterations_most = (uint32_t)xla_number(c->x.frame, "iterations_most");
  b->separation = c->reals[0];
  b->keep = c->reals[1];
  b->tolerance = c->reals[2];
  memcpy(b->center1, c->reals + 3, sizeof b->center1);
  memcpy(b->center2, c->reals + 6, sizeof b->center2);
}

static void place_answers(call *c, abut_ccd_batch *b)
{
  b->toi = xla_result(&c->x, 1);
  b->status = result_of(c, XLA_U8, 1);
  b->kind = result_of(c, XLA_S32, 1);
  b->feature1 = result_of(c, XLA_U32, 1);
  b->feature2 = result_of(c, XLA_U32, 1);
  b->p1 = xla_result(&c->x, 3);
  b->p2 = xla_result(&c->x, 3);
  b->n = xla_result(&c->x, 3);
  b->candidates = result_of(c, XLA_U32, 1);
}

static abut_status run_meshes(call *c)
{
  abut_ccd_batch b = abut_default_ccd_batch();
  read_settings(c, 2, BATCH_REALS);
  const xla_buffer *first = c->x.text[0] ? NULL : read_first(c, 1);
  const size_t width = first ? (size_t)first->shape[first->rank - 1] : 0;
  if (width != 6 && width != 7) {
    xla_refuse(&c->x, "abut was called without poses");
    return ABUT_SUCCESS;
  }
  read_batch(c, &b, width);
  place_answers(c, &b);
  abut_ccd_gradients slopes = {0};
  if (c->wants_slopes) {
    void **places[POSES] = {&slopes.from1, &slopes.to1, &slopes.from2, &slopes.to2};
    for (int k = 0; k < POSES; ++k) {
      *places[k] = xla_result(&c->x, width);
    }
  }
  const abut_ccd_mesh one = {c->owners[0].index, c->owners[0].generation};
  const abut_ccd_mesh two = {c->owners[1].index, c->owners[1].generation};
  if (c->x.text[0]) {
    return ABUT_SUCCESS;
  }
  return c->wants_slopes ? abut_ccd_gradient(one, two, &b, &slopes) : abut_ccd(one, two, &b);
}

static xla_error *execute(const xla_frame *frame)
{
  call c = {.x = {.frame = frame}};
  abut_status status = ABUT_SUCCESS;
  switch (xla_number(frame, "op")) {
  case OP_QUERIES:
    status = run_queries(&c);
    break;
  case OP_MESHES:
    status = run_meshes(&c);
    break;
  default:
    xla_refuse(&c.x, "abut has no such operation of collision in time");
  }
  return xla_end(&c.x, status);
}

static xla_error *handle(xla_frame *frame)
{
  return xla_handle_call(frame, execute);
}

uintptr_t abutpy_xla_ccd_handler(void)
{
  return (uintptr_t)handle;
}
