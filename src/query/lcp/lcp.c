/* Boxed linear complementarity problems as an operation of the engine: an element is a problem. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/batch.h"
#include "geometry/lcp.h"
#include "query/lcp/lcp.h"
#include "engine/self_test/runner.h"
#include <abut/lcp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071c01u
#define CHUNK_PROBLEMS 65536 /* at most, because rows of a chunk's matrices are counted in int */

_Static_assert(ABUT_LCP_NORMAL == LCP_NO_PARENT && ABUT_LCP_BOXED == LCP_BOXED, "rows");
_Static_assert((int)ABUT_LCP_TIED == LCP_TIED && (int)ABUT_LCP_LOWER == LCP_LOWER, "classes");
_Static_assert((int)ABUT_LCP_BAD == LCP_BAD && (int)ABUT_LCP_LEMKE == LCP_BY_LEMKE, "ends");

/* Buffers. */
enum {
  MATRICES,
  CONSTANTS,
  COEFFICIENTS,
  BOXES,
  GUESSES,
  FORCES,
  SPEEDS,
  CLASSES,
  ENDS,
  RESIDUALS,
  NUMBERS,
  PLACES,
  TABLES,
  TABLE_PLACES
};

typedef struct lcp_call {
  batch_call base;
  const abut_lcp *problems;
} lcp_call;

typedef struct lcp_on {
  buffer *parents;
} lcp_on;

static abut_status test(const batch_call *b, size_t place)
{
  return test_member(b->context, place, MODULE_LCP, PROGRAM_PLAIN, 0, SELF_TEST_MAIN);
}

static abut_status place(batch_on *on)
{
  const lcp_call *c = (const lcp_call *)on->call;
  const size_t m = c->problems->rows, real = device_real_bytes(on->device);
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(lcp_on)));
  lcp_on *at = memory;
  on->user = at;
  TRY(buffer_upload(on->device, m * sizeof(int32_t), c->problems->parent, &at->parents));
  on->bytes[0][NUMBERS] = LCP_NUMBERS(m) * real;
  on->bytes[0][PLACES] = LCP_PLACES(m) * sizeof(int);
  on->bytes[0][TABLES] = (LCP_TABLE(m) + LCP_SHARED - 1) / LCP_SHARED * sizeof(double);
  on->bytes[0][TABLE_PLACES] = (LCP_TABLE_PLACES(m) + LCP_SHARED - 1) / LCP_SHARED * sizeof(int);
  on->granule = LCP_SHARED;
  on->most = CHUNK_PROBLEMS;
  return ABUT_SUCCESS;
}

double lcp_loose(double tolerance, device *d)
{
  const double usual = device_real_bytes(d) == sizeof(double) ? LCP_USUAL_DOUBLE : LCP_USUAL_FLOAT;
  return tolerance > usual ? tolerance / usual : 1.0;
}

#define AT(id) ARG_BUFFER(memory_buffer(&on->memory[slot][0], id))

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const lcp_call *call = (const lcp_call *)on->call;
  const lcp_on *at = on->user;
  const size_t m = call->problems->rows;
  const double loose = lcp_loose(call->problems->tolerance, on->device);
  TRY(LAUNCH(on->device, KERNEL_LCP_SOLVE, c.count, 1, AT(MATRICES), AT(CONSTANTS),
             AT(COEFFICIENTS), AT(BOXES), ARG_BUFFER(at->parents), ARG_INT(0), AT(GUESSES),
             ARG_INT(call->problems->guess != NULL), ARG_INT(m), ARG_REAL(loose), AT(NUMBERS),
             AT(PLACES), AT(FORCES), AT(SPEEDS), AT(CLASSES), AT(ENDS), AT(RESIDUALS),
             ARG_INT(c.count)));
  return LAUNCH(on->device, KERNEL_LCP_REST, (c.count + LCP_SHARED - 1) / LCP_SHARED, 1,
                AT(MATRICES), AT(CONSTANTS), AT(COEFFICIENTS), AT(BOXES), ARG_BUFFER(at->parents),
                ARG_INT(0), ARG_INT(m), ARG_REAL(loose), AT(NUMBERS), AT(PLACES), AT(TABLES),
                AT(TABLE_PLACES), AT(FORCES), AT(SPEEDS), AT(CLASSES), AT(ENDS), AT(RESIDUALS),
                ARG_INT(c.count));
}

static void leave(batch_on *on)
{
  lcp_on *at = on->user;
  if (at) {
    buffer_destroy(at->parents);
    free(at);
  }
}

static const operation lcp_operation = {
  .module = MODULE_LCP, .test = test, .place = place, .launch = launch, .leave = leave};

static void add(lcp_call *c, const char *name, size_t id, size_t width, size_t size, const void *in,
                void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = ABUT_MEMORY_HOST,
                                    .width = width,
                                    .size = size,
                                    .buffer = id,
                                    .zeros = !in && !out});
}

static void add_arrays(lcp_call *c, abut_lcp *p)
{
  const size_t m = p->rows, real = context_real_bytes(c->base.context);
  add(c, "A", MATRICES, m * m, real, p->A, NULL);
  add(c, "b", CONSTANTS, m, real, p->b, NULL);
  add(c, "mu", COEFFICIENTS, m, real, p->mu, NULL);
  add(c, "box", BOXES, m, real, p->box, NULL);
  add(c, "guess", GUESSES, m, sizeof(int32_t), p->guess, NULL);
  add(c, "f", FORCES, m, real, NULL, p->f);
  add(c, "w", SPEEDS, m, real, NULL, p->w);
  add(c, "classes", CLASSES, m, sizeof(int32_t), NULL, p->classes);
  add(c, "how", ENDS, 1, sizeof(uint32_t), NULL, p->how);
  add(c, "residual", RESIDUALS, 1, real, NULL, p->residual);
}

static abut_status check(const abut_lcp *p)
{
  if (!p || p->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the problems were not made by abut_default_lcp");
  }
  if (p->rows < 1 || p->rows > ABUT_LCP_ROWS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "the problems have %zu rows, expected 1 to %d", p->rows,
                ABUT_LCP_ROWS_MOST);
  }
  if (!(p->tolerance >= 0.0 && p->tolerance < 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the tolerance is %g, not in [0, 1)", p->tolerance);
  }
  if (!p->parent || (p->count && (!p->A || !p->b))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the problems need A, b and the parents of the rows, and one of them is NULL");
  }
  for (size_t i = 0; i < p->rows; ++i) {
    const int32_t of = p->parent[i];
    if (of < ABUT_LCP_BOXED || (of >= 0 && ((size_t)of >= p->rows || p->parent[of] != -1))) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the parent of row %zu is %d; a parent must be one of the %zu rows, and have no "
                  "parent itself",
                  i, (int)of, p->rows);
    }
  }
  return ABUT_SUCCESS;
}

abut_lcp abut_default_lcp(void)
{
  abut_lcp p;
  memset(&p, 0, sizeof p);
  p.cookie = COOKIE;
  return p;
}

abut_status abut_solve_lcp(abut_context handle_, abut_lcp *p)
{
  ENTER(context_pool, handle_);
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(p));
  lcp_call c = {.base.operation = &lcp_operation, .problems = p};
  c.base.context = owner;
  c.base.count = p->count;
  c.base.rates = owner->query_rates[QUERY_LCP];
  add_arrays(&c, p);
  const abut_status status = batch_run(&c.base);
  p->failures = c.base.failures;
  return status;
}
