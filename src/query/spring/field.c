/* The field of a cloud at points of its frame, as an operation of the engine: an element is a
 * point. */
#include "base/error.h"
#include "base/call_lock.h"
#include "engine/self_test/runner.h"
#include "query/spring/pack.h"
#include "query/spring/spring.h"

#define CHUNK_POINTS ((size_t)1 << 20)

enum { POINTS, FIELD }; /* buffers */

typedef struct cloud_call {
  batch_call base;
  packed_clouds clouds;
  bool gradient;
} cloud_call;

static abut_status test(const batch_call *b, size_t place)
{
  return test_member(b->context, place, MODULE_SPRING, PROGRAM_PLAIN, 0, SELF_TEST_MAIN);
}

static abut_status place(batch_on *on)
{
  const packed_clouds *p = &((const cloud_call *)on->call)->clouds;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(spring_on)));
  spring_on *at = memory;
  on->user = at;
  on->granule = device_lanes(on->device);
  on->most = CHUNK_POINTS;
  TRY(buffer_upload(on->device, p->head_count * sizeof(int), p->heads, &at->heads));
  return buffer_upload(on->device, p->shapes.count * p->shapes.size, p->shapes.data, &at->shapes);
}

#define AT(id) ARG_BUFFER(memory_buffer(&on->memory[slot][0], id))

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const spring_on *at = on->user;
  const size_t lanes = device_lanes(on->device), blocks = (c.count + lanes - 1) / lanes;
  return LAUNCH(on->device, KERNEL_SPRING_QUERY, blocks, 1, AT(POINTS), ARG_INT(blocks * lanes),
                ARG_BUFFER(at->heads), ARG_BUFFER(at->shapes),
                ARG_INT(((const cloud_call *)on->call)->gradient), AT(FIELD));
}

static void leave(batch_on *on)
{
  spring_on *at = on->user;
  if (at) {
    buffer_destroy(at->heads);
    buffer_destroy(at->shapes);
    free(at);
  }
}

static const operation cloud_operation = {
  .module = MODULE_SPRING, .test = test, .place = place, .launch = launch, .leave = leave};

static void add_arrays(cloud_call *c, const void *points, void *phi, void *gradient)
{
  const size_t size = context_real_bytes(c->base.context);
  batch_add(&c->base, (batch_array){.name = "points",
                                    .in = points,
                                    .width = 3,
                                    .size = size,
                                    .buffer = POINTS,
                                    .form = FORM_PLANES});
  batch_add(&c->base, (batch_array){.name = "phi",
                                    .out = phi,
                                    .width = 1,
                                    .size = size,
                                    .buffer = FIELD,
                                    .form = FORM_PLANES});
  if (gradient) {
    batch_add(&c->base, (batch_array){.name = "gradient",
                                      .out = gradient,
                                      .width = 3,
                                      .size = size,
                                      .buffer = FIELD,
                                      .form = FORM_PLANES,
                                      .part = 1});
  }
}

abut_status abut_evaluate_cloud(abut_context handle_, const abut_cloud *cloud, size_t count,
                                const void *points, void *phi, void *gradient)
{
  ENTER(context_pool, handle_);
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!cloud || (count && !points)) {
    return fail(ABUT_ERROR_ARGUMENT, "the cloud or the array of %zu points is NULL", count);
  }
  cloud_call c = {.base.operation = &cloud_operation, .gradient = gradient != NULL};
  c.base.context = owner;
  c.base.count = count;
  c.base.rates = owner->query_rates[QUERY_CLOUD];
  abut_status status = pack_clouds(cloud, 1, context_real_bytes(owner), &c.clouds);
  if (status == ABUT_SUCCESS) {
    add_arrays(&c, points, phi, gradient);
    status = batch_run(&c.base);
  }
  packed_free(&c.clouds);
  return status;
}
