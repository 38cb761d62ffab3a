/* Continuous collision detection of two meshes between two poses each, as an operation of the
 * engine: an element is a row. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "body/ccd_bodies.h"
#include "geometry/ccd.h"
#include "query/ccd_queries.h"
#include "engine/self_test/runner.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab0c1062u
#define CHUNK_ROWS ((size_t)1 << 16)
#define CENTRE_MOST 1e6

_Static_assert((int)ABUT_CCD_VERTEX_TRIANGLE == CCD_VERTEX_TRIANGLE &&
                 (int)ABUT_CCD_TRIANGLE_VERTEX == CCD_TRIANGLE_VERTEX &&
                 (int)ABUT_CCD_EDGES == CCD_EDGES &&
                 (int)ABUT_CCD_EDGE_TRIANGLE == CCD_EDGE_TRIANGLE &&
                 (int)ABUT_CCD_TRIANGLE_EDGE == CCD_TRIANGLE_EDGE,
               "kernels and callers name features alike");

/* Buffers of buffer pool 0. */
enum {
  FROM_1,
  TO_1,
  FROM_2,
  TO_2,
  TOI,
  STATUS,
  KIND,
  FEATURE_1,
  FEATURE_2,
  P1,
  P2,
  N,
  CANDIDATES,
  PLACES, /* of the first pair in the order in which kernels sort features */
  BAR,
  BY_1,
  BY_2,
  FROM_1_BY,
  TO_1_BY,
  FROM_2_BY,
  TO_2_BY
};

typedef struct bodies_call {
  batch_call base;
  abut_ccd_batch *batch;
  ccd_mesh *mesh[2];
  const abut_ccd_gradients *gradients; /* or NULL */
  size_t width;                        /* numbers per pose */
  double tolerance;
  ccd_room room;
  uint8_t *status; /* the caller's array, or our own */
  uint8_t *own;
  ccd_counts counts;
} bodies_call;

typedef struct bodies_on {
  buffer *settings;
  ccd_scratch scratch[DEVICE_SLOTS];
} bodies_on;

/* ---- on a device ---- */

#define AT(id) memory_buffer(&on->memory[slot][0], id)

static abut_status test(const batch_call *b, size_t place)
{
  const bodies_call *c = (const bodies_call *)b;
  TRY(test_member(b->context, place, MODULE_CCD, PROGRAM_PLAIN, false, SELF_TEST_MESHES));
  return c->gradients
           ? test_member(b->context, place, MODULE_CCD, PROGRAM_PLAIN, true, SELF_TEST_MESHES)
           : ABUT_SUCCESS;
}

static abut_status upload_settings(const bodies_call *c, device *d, buffer **out)
{
  const abut_ccd_batch *b = c->batch;
  ccd_settings all = {.separation = b->separation, .keep = b->keep, .tolerance = c->tolerance};
  memcpy(all.centre[0], b->center1, sizeof b->center1);
  memcpy(all.centre[1], b->center2, sizeof b->center2);
  return ccd_settings_upload(d, &all, out);
}

static abut_status place(batch_on *on)
{
  const bodies_call *c = (const bodies_call *)on->call;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(bodies_on)));
  bodies_on *at = memory;
  on->user = at;
  on->granule = device_lanes(on->device);
  on->most = CHUNK_ROWS;
  TRY(ccd_mesh_on(c->mesh[0], on->place));
  TRY(ccd_mesh_on(c->mesh[1], on->place));
  TRY(upload_settings(c, on->device, &at->settings));
  for (size_t slot = 0; slot < device_slots(on->device); ++slot) {
    TRY(ccd_scratch_make(on->device, &c->room, c->base.count, &at->scratch[slot]));
  }
  return ABUT_SUCCESS;
}

static void leave(batch_on *on)
{
  bodies_on *at = on->user;
  if (at) {
    buffer_destroy(at->settings);
    for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
      ccd_scratch_free(&at->scratch[slot]);
    }
    free(at);
  }
}

static abut_status launch(batch_on *on, size_t slot, chunk k)
{
  const bodies_call *c = (const bodies_call *)on->call;
  const bodies_on *at = on->user;
  const abut_ccd_batch *b = c->batch;
  const ccd_rows rows = {.mesh = {c->mesh[0], c->mesh[1]},
                         .place = on->place,
                         .count = k.count,
                         .from = {AT(FROM_1), AT(FROM_2)},
                         .to = {AT(TO_1), AT(TO_2)},
                         .width = c->width,
                         .arc = b->motion == ABUT_CCD_ARC,
                         .settings = at->settings,
                         .iterations = b->iterations_most ? b->iterations_most
                                                          : CCD_ITERATIONS_USUAL,
                         .toi = AT(TOI),
                         .status = AT(STATUS),
                         .kind = AT(KIND),
                         .feature = {AT(FEATURE_1), AT(FEATURE_2)},
                         .p = {AT(P1), AT(P2)},
                         .n = AT(N),
                         .candidates = AT(CANDIDATES),
                         .places = AT(PLACES)};
  TRY(ccd_launch(on->device, &rows, &at->scratch[slot]));
  if (!c->gradients) {
    return ABUT_SUCCESS;
  }
  const bool barred = c->gradients->toi_bar != NULL;
  return LAUNCH(on->device, KERNEL_CCD_BODIES_GRADIENT, k.count, 1, CCD_PATHS(&rows),
                ARG_BUFFER(AT(TOI)), ARG_BUFFER(AT(STATUS)), ARG_BUFFER(AT(KIND)),
                ARG_BUFFER(AT(N)), ARG_BUFFER(AT(PLACES)), ARG_BUFFER(barred ? AT(BAR) : AT(TOI)),
                ARG_INT(barred), ARG_BUFFER(AT(BY_1)), ARG_BUFFER(AT(BY_2)),
                ARG_BUFFER(AT(FROM_1_BY)), ARG_BUFFER(AT(TO_1_BY)), ARG_BUFFER(AT(FROM_2_BY)),
                ARG_BUFFER(AT(TO_2_BY)));
}

/* Called by one thread at a time. */
static void count(batch_on *on, chunk k)
{
  bodies_call *c = (bodies_call *)on->call;
  ccd_count(&c->counts, c->status, k);
}

static void again(batch_call *b)
{
  bodies_call *c = (bodies_call *)b;
  c->counts = (ccd_counts){0};
}

static const operation bodies_operation = {.module = MODULE_CCD,
                                           .test = test,
                                           .place = place,
                                           .launch = launch,
                                           .add = count,
                                           .leave = leave,
                                           .again = again};

/* ---- the caller's arrays ---- */

static void add(bodies_call *c, const char *name, size_t id, size_t width, const void *in,
                void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = c->batch->memory,
                                    .width = width,
                                    .size = context_real_bytes(c->base.context),
                                    .buffer = id,
                                    .in_place = true});
}

static void add_integers(bodies_call *c, const char *name, size_t id, size_t width, size_t size,
                         void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .out = out,
                                    .memory = ABUT_MEMORY_HOST,
                                    .width = width,
                                    .size = size,
                                    .buffer = id});
}

static void add_gradients(bodies_call *c)
{
  const abut_ccd_gradients *g = c->gradients;
  if (g->toi_bar) {
    add(c, "the cotangent of toi", BAR, 1, g->toi_bar, NULL);
  }
  add(c, "by1", BY_1, 12, NULL, g->by1);
  add(c, "by2", BY_2, 12, NULL, g->by2);
  add(c, "the gradient by from1", FROM_1_BY, c->width, NULL, g->from1);
  add(c, "the gradient by to1", TO_1_BY, c->width, NULL, g->to1);
  add(c, "the gradient by from2", FROM_2_BY, c->width, NULL, g->from2);
  add(c, "the gradient by to2", TO_2_BY, c->width, NULL, g->to2);
}

static void add_arrays(bodies_call *c)
{
  abut_ccd_batch *b = c->batch;
  add(c, "from1", FROM_1, c->width, b->from1, NULL);
  add(c, "to1", TO_1, c->width, b->to1, NULL);
  add(c, "from2", FROM_2, c->width, b->from2, NULL);
  add(c, "to2", TO_2, c->width, b->to2, NULL);
  add(c, "toi", TOI, 1, NULL, b->toi);
  add_integers(c, "status", STATUS, 1, 1, c->status);
  add_integers(c, "kind", KIND, 1, sizeof *b->kind, b->kind);
  add_integers(c, "feature1", FEATURE_1, 1, sizeof *b->feature1, b->feature1);
  add_integers(c, "feature2", FEATURE_2, 1, sizeof *b->feature2, b->feature2);
  add(c, "p1", P1, 3, NULL, b->p1);
  add(c, "p2", P2, 3, NULL, b->p2);
  add(c, "n", N, 3, NULL, b->n);
  add_integers(c, "candidates", CANDIDATES, 1, sizeof *b->candidates, b->candidates);
  add_integers(c, "places of features", PLACES, 2, sizeof(int), NULL);
  if (c->gradients) {
    add_gradients(c);
  }
}

/* ---- checks ---- */

static abut_status check_centres(const abut_ccd_batch *b)
{
  for (size_t k = 0; k < 3; ++k) {
    if (!(fabs(b->center1[k]) <= CENTRE_MOST && fabs(b->center2[k]) <= CENTRE_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "a centre of rotation is not within +-%g m", CENTRE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check(const abut_ccd_batch *b, const context *owner)
{
  if (!b || b->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the batch was not made by abut_default_ccd_batch");
  }
  if (b->count && (!b->from1 || !b->to1 || !b->from2 || !b->to2)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the count is %zu rows, but the array from1, to1, from2 or to2 is NULL", b->count);
  }
  if ((uint32_t)b->poses > ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown pose kind %d", (int)b->poses);
  }
  if ((uint32_t)b->motion > ABUT_CCD_ARC) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown motion %d", (int)b->motion);
  }
  TRY(ccd_check_settings(b->separation, b->keep, b->tolerance, b->iterations_most, owner));
  return check_centres(b);
}

/* ---- calls ---- */

abut_ccd_batch abut_default_ccd_batch(void)
{
  abut_ccd_batch b;
  memset(&b, 0, sizeof b);
  b.poses = ABUT_POSE_QUATERNION;
  b.cookie = COOKIE;
  return b;
}

/* Returns the sum of the diagonals of both meshes. */
static double size_of(const bodies_call *c)
{
  double size = 0.0;
  for (size_t i = 0; i < 2; ++i) {
    const abut_ccd_mesh_info *m = &c->mesh[i]->info;
    size +=
      hypot(hypot(m->upper[0] - m->lower[0], m->upper[1] - m->lower[1]), m->upper[2] - m->lower[2]);
  }
  return size;
}

static abut_status set_sizes(bodies_call *c)
{
  const abut_ccd_batch *b = c->batch;
  const bool is_double = context_real_bytes(c->base.context) == sizeof(double);
  c->tolerance = b->tolerance > 0.0 ? b->tolerance : (is_double ? 1e-9 : 1e-6) * size_of(c);
  c->width = b->poses == ABUT_POSE_TWIST ? 6 : 7;
  c->room = ccd_room_of(c->mesh[0], c->mesh[1]);
  return ccd_check_room(&c->room);
}

static abut_status start(bodies_call *c, abut_ccd_mesh one, abut_ccd_mesh two,
                         abut_ccd_batch *batch, const abut_ccd_gradients *gradients)
{
  state *at = NULL;
  memset(c, 0, sizeof *c);
  c->mesh[0] = ccd_mesh_get(one);
  c->mesh[1] = c->mesh[0] ? ccd_mesh_get(two) : NULL;
  if (!c->mesh[1]) {
    return ABUT_ERROR_HANDLE;
  }
  context *owner = c->mesh[0]->context;
  if (c->mesh[1]->context != owner) {
    return fail(ABUT_ERROR_HANDLE, "the meshes belong to different contexts");
  }
  TRY(check(batch, owner));
  TRY(state_of_memory(batch->memory, "inputs", batch->from1, batch->count, owner, &at));
  c->batch = batch;
  c->gradients = gradients;
  c->base = (batch_call){.operation = &bodies_operation,
                         .context = owner,
                         .count = batch->count,
                         .state = at,
                         .rates = c->mesh[0]->rates[gradients != NULL],
                         .progress = batch->progress,
                         .progress_user = batch->user};
  TRY(set_sizes(c));
  if (!batch->status && batch->memory != ABUT_MEMORY_STATE) {
    void *memory = NULL;
    TRY(allocate(&memory, batch->count ? batch->count : 1, sizeof *c->own));
    c->own = memory;
  }
  c->status = batch->status ? batch->status : c->own;
  return ABUT_SUCCESS;
}

static abut_status run(abut_ccd_mesh one, abut_ccd_mesh two, abut_ccd_batch *batch,
                       const abut_ccd_gradients *gradients)
{
  ENTER(ccd_mesh_pool, one);
  bodies_call c;
  abut_status status = start(&c, one, two, batch, gradients);
  if (status == ABUT_SUCCESS) {
    add_arrays(&c);
    status = batch_run(&c.base);
    batch->undecided = c.counts.undecided;
    batch->rejected = c.counts.rejected;
    batch->failures = c.base.failures;
  }
  free(c.own);
  return status;
}

abut_status abut_ccd(abut_ccd_mesh one, abut_ccd_mesh two, abut_ccd_batch *batch)
{
  return run(one, two, batch, NULL);
}

abut_status abut_ccd_gradient(abut_ccd_mesh one, abut_ccd_mesh two, abut_ccd_batch *batch,
                              const abut_ccd_gradients *gradients)
{
  if (!gradients) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_ccd_gradient: the output arrays are missing");
  }
  return run(one, two, batch, gradients);
}
