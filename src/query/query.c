#include "query/query.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/self_test/runner.h"
#include "contact/smoothing.h"
#include <stdlib.h>

#define QUERY_CHUNK ((size_t)1 << 20)
#define COPIED_CHUNK ((size_t)1 << 15) /* keeps copies in a CPU's cache */
#define LEAST_CHUNK ((size_t)1 << 10)  /* see batch_call.least */
#define LANES_MOST 16

abut_status query_start(query_call *q, context *owner, const operation *o, size_t count,
                        const abut_smoothing *smoothing)
{
  TRY(check_smoothing(smoothing));
  *q = (query_call){.smoothing = smoothing};
  q->base = (batch_call){.operation = o,
                         .context = owner,
                         .count = count,
                         .borrows = true,
                         .multiple = LANES_MOST,
                         .least = LEAST_CHUNK};
  return ABUT_SUCCESS;
}

static void add(query_call *q, batch_array a)
{
  a.size = context_real_bytes(q->base.context);
  a.form = q->program == PROGRAM_DUAL ? FORM_DUAL_HALVES : FORM_ROWS;
  a.parts = number_parts(q->program);
  a.in_place = q->program == PROGRAM_PLAIN;
  batch_add(&q->base, a);
}

void query_input(query_call *q, const char *name, size_t id, size_t width, const void *in,
                 const void *tangent)
{
  add(q, (batch_array){.name = name, .in = in, .width = width, .buffer = id, .zeros = !in});
  if (q->program == PROGRAM_DUAL) {
    add(q, (batch_array){.name = name,
                         .in = tangent,
                         .width = width,
                         .buffer = id,
                         .part = 1,
                         .zeros = !tangent});
  }
}

void query_output(query_call *q, const char *name, size_t id, size_t width, void *out)
{
  add(q, (batch_array){.name = name,
                       .out = out,
                       .width = width,
                       .buffer = id,
                       .part = q->program == PROGRAM_DUAL});
}

static abut_status test(const batch_call *c, size_t place)
{
  const query_call *q = (const query_call *)c;
  return test_member(c->context, place, c->operation->module, q->program, q->adjoint,
                     SELF_TEST_MAIN);
}

static abut_status place(batch_on *on)
{
  const query_call *q = (const query_call *)on->call;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(query_on)));
  query_on *at = memory;
  on->user = at;
  on->granule = device_lanes(on->device);
  on->most = device_on_host_memory(on->device) && !on->borrows ? COPIED_CHUNK : QUERY_CHUNK;
  return upload_coefficients(on->device, q->smoothing, &at->coefficients);
}

static void leave(batch_on *on)
{
  query_on *at = on->user;
  if (at) {
    buffer_destroy(at->coefficients);
    free(at);
  }
}

const operation query_operation = {.test = test, .place = place, .leave = leave};
