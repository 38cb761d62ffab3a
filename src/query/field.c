/* Evaluates a body's field at points of its frame. */
#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"
#include "query/query.h"

enum { POINTS, FIELD }; /* buffers of buffer pool 0 */

typedef struct field_call {
  query_call query;
  body *of;
} field_call;

/* Uploads the body to the device before the first chunk. */
static abut_status place(batch_on *on)
{
  const field_call *f = (const field_call *)on->call; /* its query call is the first member */
  const resident_body *there;
  return body_on(f->of, on->place, &there);
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const field_call *f = (const field_call *)on->call;
  const query_on *at = on->user;
  const resident_body *b = f->of->on[on->place];
  const uint32_t lanes = device_lanes(on->device);
  const size_t slots = padded(c.count, lanes);
  return LAUNCH(on->device, f->query.kernel, slots / lanes, 1, AT(on, slot, POINTS), ARG_INT(slots),
                ARG_BUFFER(b->head), ARG_BUFFER(b->shape), ARG_BUFFER(at->coefficients),
                AT(on, slot, FIELD));
}

static const operation field_operation = {.base = &query_operation,
                                          .module = MODULE_FIELD,
                                          .place = place,
                                          .launch = launch};

abut_status abut_evaluate_body(abut_body handle_, double union_tau, double plane_tau, size_t count,
                               const void *points, void *distance, void *normal)
{
  ENTER(body_pool, handle_);
  field_call f = {.of = body_get(handle_)};
  if (!f.of) {
    return ABUT_ERROR_HANDLE;
  }
  if (count && !points) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu points, but their array is NULL", count);
  }
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.union_ = union_tau;
  smoothing.plane = plane_tau;
  context *owner = f.of->context;
  const size_t size = context_real_bytes(owner);
  TRY(query_start(&f.query, owner, &field_operation, count, &smoothing));
  f.query.kernel = normal ? KERNEL_QUERY_FIELD : KERNEL_QUERY_DISTANCE;
  f.query.base.rates = f.of->rates[normal ? BODY_NORMALS : BODY_DISTANCES];
  batch_add(&f.query.base, (batch_array){.name = "points",
                                         .in = points,
                                         .width = 3,
                                         .size = size,
                                         .buffer = POINTS,
                                         .form = FORM_PLANES});
  batch_add(&f.query.base, (batch_array){.name = "distance",
                                         .out = distance,
                                         .width = 1,
                                         .size = size,
                                         .buffer = FIELD,
                                         .form = FORM_PLANES});
  if (normal) {
    batch_add(&f.query.base, (batch_array){.name = "normal",
                                           .out = normal,
                                           .width = 3,
                                           .size = size,
                                           .buffer = FIELD,
                                           .form = FORM_PLANES,
                                           .part = 1});
  }
  return batch_run(&f.query.base);
}
