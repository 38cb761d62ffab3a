/* Wrenches between pairs of oriented point clouds, as an operation of the engine: an element is a
 * pair. */
#include "query/spring/spring.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "geometry/spring.h"
#include "engine/self_test/runner.h"
#include <math.h>

#define COOKIE 0xab075b01u
#define GRADIENTS_COOKIE 0xab075b02u
#define CHUNK_PAIRS 65536
#define SOFT_POINTS_MOST 4096
#define TAU_LEAST 1e-30 /* also a normal number in float */

static bool is_second(const spring_call *c)
{
  return c->gradients && c->gradients->jacobian_along;
}

static abut_status test(const batch_call *b, size_t place)
{
  const spring_call *c = (const spring_call *)b;
  if (is_second(c)) {
    TRY(test_member(b->context, place, MODULE_SPRING, PROGRAM_DUAL, 0, SELF_TEST_MAIN));
    TRY(test_member(b->context, place, MODULE_SPRING, PROGRAM_DUAL, 1, SELF_TEST_MAIN));
  }
  TRY(test_member(b->context, place, MODULE_SPRING, PROGRAM_PLAIN, 0, SELF_TEST_MAIN));
  return c->gradients
           ? test_member(b->context, place, MODULE_SPRING, PROGRAM_PLAIN, 1, SELF_TEST_MAIN)
           : ABUT_SUCCESS;
}

static abut_status upload_law(const spring_call *c, device *d, buffer **out)
{
  const abut_spring *s = c->pairs;
  const double all[SPRING_PARAMETER_COUNT] = {s->k, s->mu, s->v_d, s->v_s, s->eps2, s->eps3};
  reals row;
  TRY(reals_create(&row, SPRING_PARAMETER_COUNT, device_real_bytes(d)));
  for (size_t i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    reals_set(&row, i, all[i]);
  }
  const abut_status status = buffer_upload(d, row.count * row.size, row.data, out);
  free(row.data);
  return status;
}

static abut_status upload(const spring_call *c, device *d, spring_on *at)
{
  static const int32_t first[2] = {0, 1};
  const packed_clouds *p = &c->clouds;
  TRY(buffer_upload(d, p->head_count * sizeof(int), p->heads, &at->heads));
  TRY(buffer_upload(d, p->shapes.count * p->shapes.size, p->shapes.data, &at->shapes));
  if (c->surfaces.ints) {
    TRY(buffer_upload(d, c->surfaces.int_count * sizeof(int), c->surfaces.ints, &at->surfaces));
    TRY(buffer_upload(d, c->surfaces.vertices.count * c->surfaces.vertices.size,
                      c->surfaces.vertices.data, &at->vertices));
  }
  TRY(upload_law(c, d, &at->law));
  return buffer_upload(d, sizeof first, first, &at->pair);
}

static abut_status place(batch_on *on)
{
  const spring_call *c = (const spring_call *)on->call;
  const size_t real = device_real_bytes(on->device);
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(spring_on)));
  on->user = memory;
  TRY(upload(c, on->device, memory));
  spring_run_bytes(c->room, real, c->gradients != NULL, on->bytes[0]);
  if (is_second(c)) {
    spring_tangent_bytes(c->room, real, on->bytes[0]);
  }
  on->granule = 1;
  on->most = CHUNK_PAIRS;
  return ABUT_SUCCESS;
}

static abut_status tell(const spring_run *r, size_t width)
{
#define AT(id) ARG_BUFFER(memory_buffer(r->memory, id))
  return LAUNCH(r->device, KERNEL_SPRING_TELL, r->room / device_lanes(r->device), r->count,
                ARG_BUFFER(r->heads), ARG_BUFFER(r->shapes), ARG_BUFFER(r->pairs),
                ARG_INT(r->first_pair), ARG_INT(r->pair_stride), AT(SPRING_FRAMES),
                ARG_INT(r->room), ARG_INT(width), ARG_INT(r->count), AT(SPRING_ROWS_OF_PHI),
                AT(SPRING_MEANS_OF), AT(SPRING_SEPARATION), AT(SPRING_WEIGHTS));
#undef AT
}

/* Computes soft points from the weights that `tell` has computed. */
static abut_status find_points(const spring_call *c, const spring_on *at, const spring_run *r)
{
#define AT(id) ARG_BUFFER(memory_buffer(r->memory, id))
#define SURFACES \
  ARG_BUFFER(at->surfaces), ARG_BUFFER(at->vertices), ARG_BUFFER(r->pairs), ARG_INT(r->pair_stride)
  const abut_spring *s = c->pairs;
  TRY(LAUNCH(r->device, KERNEL_SPRING_VERTEX_WEIGHTS, c->vertex_room, r->count, SURFACES,
             AT(SPRING_WEIGHTS), ARG_INT(c->width), ARG_INT(c->vertex_room), ARG_INT(r->count),
             AT(SPRING_VERTEX_WEIGHTS)));
  if (!s->points) {
    return ABUT_SUCCESS;
  }
  TRY(LAUNCH(r->device, KERNEL_SPRING_TOPS, r->count, 1, AT(SPRING_VERTEX_WEIGHTS),
             ARG_INT(c->vertex_room), ARG_INT(s->soft_points), ARG_INT(r->count), AT(SPRING_TOPS)));
  TRY(LAUNCH(r->device, KERNEL_SPRING_SOFT_SUMS, s->soft_points, r->count, SURFACES,
             AT(SPRING_VERTEX_WEIGHTS), ARG_INT(c->vertex_room), AT(SPRING_TOPS),
             ARG_INT(s->soft_points), ARG_REAL(s->tau), ARG_INT(r->count), AT(SPRING_POINT_SUMS)));
  return LAUNCH(r->device, KERNEL_SPRING_SOFT_PLACES, s->soft_points, r->count, AT(SPRING_POSES_1),
                AT(SPRING_POSES_2), ARG_INT(r->pose_width), AT(SPRING_FRAMES),
                AT(SPRING_POINT_SUMS), ARG_INT(s->soft_points), ARG_INT(r->count),
                AT(SPRING_POINTS));
#undef SURFACES
#undef AT
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const spring_call *call = (const spring_call *)on->call;
  const abut_spring *s = call->pairs;
  const spring_on *at = on->user;
  const chunk_memory *memory = &on->memory[slot][0];
  const spring_run r = {.device = on->device,
                        .memory = memory,
                        .count = c.count,
                        .heads = at->heads,
                        .shapes = at->shapes,
                        .pairs = s->pairs ? memory_buffer(memory, SPRING_PAIRS) : at->pair,
                        .pair_stride = s->pairs ? 2 : 0,
                        .pose_width = s->poses == ABUT_POSE_TWIST ? 6 : 7,
                        .law = s->parameters ? memory_buffer(memory, SPRING_LAWS) : at->law,
                        .law_stride = s->parameters ? SPRING_PARAMETER_COUNT : 0,
                        .options = spring_options(s->dissipation, s->reaction),
                        .room = call->room};
  TRY(spring_run_separations(&r));
  TRY(call->tells ? tell(&r, call->width) : ABUT_SUCCESS);
  TRY(call->surfaces.ints ? find_points(call, at, &r) : ABUT_SUCCESS);
  TRY(spring_run_forces(&r));
  TRY(call->gradients ? spring_run_slopes(&r) : ABUT_SUCCESS);
  TRY(call->gradients ? spring_run_adjoint(&r) : ABUT_SUCCESS);
  return is_second(call) ? spring_run_second(&r) : ABUT_SUCCESS;
}

static void leave(batch_on *on)
{
  spring_on *at = on->user;
  if (at) {
    buffer_destroy(at->heads);
    buffer_destroy(at->shapes);
    buffer_destroy(at->surfaces);
    buffer_destroy(at->vertices);
    buffer_destroy(at->law);
    buffer_destroy(at->pair);
    free(at);
  }
}

static const operation spring_operation = {
  .module = MODULE_SPRING, .test = test, .place = place, .launch = launch, .leave = leave};

/* ---- the caller's arrays ---- */

static bool is_input(size_t id)
{
  return id <= SPRING_TWISTS_2 || id == SPRING_DIRECTIONS ||
         (id >= SPRING_WRENCHES_1_BAR && id <= SPRING_DISTANCES_BAR);
}

static void add(spring_call *c, const char *name, size_t id, size_t width, size_t size,
                const void *in, void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = ABUT_MEMORY_HOST,
                                    .width = width,
                                    .size = size,
                                    .buffer = id,
                                    .zeros = is_input(id) && !in});
}

static void add_gradients(spring_call *c, size_t pose, size_t real)
{
  const abut_spring_gradients *g = c->gradients;
  add(c, "cotangents of wrench1", SPRING_WRENCHES_1_BAR, 6, real, g->wrench1, NULL);
  add(c, "cotangents of wrench2", SPRING_WRENCHES_2_BAR, 6, real, g->wrench2, NULL);
  add(c, "cotangents of distance", SPRING_DISTANCES_BAR, 1, real, g->distance, NULL);
  add(c, "gradient of pose1", SPRING_POSES_1_BAR, pose, real, NULL, g->pose1);
  add(c, "gradient of pose2", SPRING_POSES_2_BAR, pose, real, NULL, g->pose2);
  add(c, "gradient of twist1", SPRING_TWISTS_1_BAR, 6, real, NULL, g->twist1);
  add(c, "gradient of twist2", SPRING_TWISTS_2_BAR, 6, real, NULL, g->twist2);
  add(c, "gradient of parameters", SPRING_LAWS_BAR, SPRING_PARAMETER_COUNT, real, NULL,
      g->parameters);
  add(c, "jacobian", SPRING_JACOBIANS, SPRING_SLOPES, real, NULL, g->jacobian);
  if (g->jacobian_along) {
    add(c, "direction", SPRING_DIRECTIONS, 12, real, g->direction, NULL);
    add(c, "jacobian_along", SPRING_JACOBIANS_TANGENT, SPRING_SLOPES, real, NULL,
        g->jacobian_along);
  }
}

static void add_arrays(spring_call *c, abut_spring *s)
{
  const size_t real = context_real_bytes(c->base.context);
  const size_t pose = s->poses == ABUT_POSE_TWIST ? 6 : 7;
  add(c, "pose1", SPRING_POSES_1, pose, real, s->pose1, NULL);
  add(c, "pose2", SPRING_POSES_2, pose, real, s->pose2, NULL);
  add(c, "twist1", SPRING_TWISTS_1, 6, real, s->twist1, NULL);
  add(c, "twist2", SPRING_TWISTS_2, 6, real, s->twist2, NULL);
  if (s->parameters) {
    add(c, "parameters", SPRING_LAWS, SPRING_PARAMETER_COUNT, real, s->parameters, NULL);
  }
  if (s->pairs) {
    add(c, "pairs", SPRING_PAIRS, 2, sizeof(uint32_t), s->pairs, NULL);
  }
  add(c, "wrench1", SPRING_WRENCHES_1, 6, real, NULL, s->wrench1);
  add(c, "wrench2", SPRING_WRENCHES_2, 6, real, NULL, s->wrench2);
  add(c, "distance", SPRING_DISTANCES, 1, real, NULL, s->distance);
  if (c->tells) {
    add(c, "separation", SPRING_SEPARATION, c->width, real, NULL, s->separation);
    add(c, "weights", SPRING_WEIGHTS, c->width, real, NULL, s->weights);
  }
  if (c->surfaces.ints) {
    const size_t most = s->points ? s->soft_points : 0;
    add(c, "vertex_weights", SPRING_VERTEX_WEIGHTS, c->vertex_room, real, NULL, s->vertex_weights);
    add(c, "largest weights", SPRING_TOPS, most ? most : 1, real, NULL, NULL);
    add(c, "sums of points", SPRING_POINT_SUMS, SPRING_SOFT_SUMS * (most ? most : 1), real, NULL,
        NULL);
    add(c, "points", SPRING_POINTS, 3 * (most ? most : 1), real, NULL, s->points);
  }
  if (c->gradients) {
    add_gradients(c, pose, real);
  }
}

/* ---- checks ---- */

static abut_status check_law(const abut_spring *s)
{
  const double positive[] = {s->k, s->v_d, s->v_s, s->eps2, s->eps3};
  bool good = s->mu >= 0.0 && isfinite(s->mu);
  for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
    good = good && positive[i] > 0.0 && isfinite(positive[i]);
  }
  if (!good && !s->parameters) {
    return fail(ABUT_ERROR_ARGUMENT,
                "mu must be at least 0, and k, v_d, v_s, eps2 and eps3 must be above 0");
  }
  if (s->points && (!s->soft_points || s->soft_points > SOFT_POINTS_MOST ||
                    !(s->tau >= TAU_LEAST) || !isfinite(s->tau))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the number of soft points must be 1 to %d, and tau at least 1e-30",
                SOFT_POINTS_MOST);
  }
  if ((uint32_t)s->dissipation > ABUT_DISSIPATION_SMOOTH ||
      (uint32_t)s->reaction > ABUT_REACTION_PLANE || (uint32_t)s->poses > ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown dissipation, reaction or pose kind");
  }
  return ABUT_SUCCESS;
}

static abut_status check(const abut_spring *s)
{
  if (!s || s->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the pairs were not made by abut_default_spring");
  }
  if (s->count && (!s->pose1 || !s->pose2)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu pairs, but their poses are NULL", s->count);
  }
  if (!s->clouds || s->cloud_count < (s->pairs ? 1 : 2)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "pairs need clouds: either two clouds, or the clouds that `pairs` names");
  }
  return check_law(s);
}

/* Finds the largest number of vertices of a pair. Soft points are computed from the weights of all
 * vertices, in rows as wide as the caller's. */
static abut_status measure_vertices(spring_call *c)
{
  const abut_spring *s = c->pairs;
  size_t least = SIZE_MAX, most = 0;
  for (size_t i = 0; c->surfaces.ints && i < (s->pairs ? s->count : 1); ++i) {
    const size_t a = s->pairs ? s->pairs[2 * i] : 0, b = s->pairs ? s->pairs[2 * i + 1] : 1;
    const size_t vertices = s->clouds[a].vertex_count + s->clouds[b].vertex_count;
    least = vertices < least ? vertices : least;
    most = vertices > most ? vertices : most;
  }
  c->vertex_room = s->vertex_weights ? s->vertex_width : most ? most : 1;
  if (c->vertex_room < most) {
    return fail(ABUT_ERROR_ARGUMENT, "rows of %zu entries are too short for pairs of %zu vertices",
                s->vertex_width, most);
  }
  return s->points && s->soft_points > least
           ? fail(ABUT_ERROR_ARGUMENT,
                  "%zu soft points are requested, but a pair has only %zu vertices", s->soft_points,
                  least)
           : ABUT_SUCCESS;
}

/* Finds the largest number of points of a pair, and refuses a pair with an invalid cloud index. */
static abut_status measure(spring_call *c)
{
  const abut_spring *s = c->pairs;
  size_t most = 0;
  for (size_t i = 0; i < (s->pairs ? s->count : 1); ++i) {
    const size_t a = s->pairs ? s->pairs[2 * i] : 0, b = s->pairs ? s->pairs[2 * i + 1] : 1;
    if (a >= s->cloud_count || b >= s->cloud_count) {
      return fail(ABUT_ERROR_ARGUMENT, "pair %zu names cloud %zu, but there are only %zu clouds", i,
                  a > b ? a : b, s->cloud_count);
    }
    const size_t points = s->clouds[a].count + s->clouds[b].count;
    const size_t room = cloud_padded(s->clouds + a) + cloud_padded(s->clouds + b);
    most = points > most ? points : most;
    c->room = room > c->room ? room : c->room;
  }
  c->width = s->separation || s->weights ? s->width : most;
  if (c->tells && c->width < most) {
    return fail(ABUT_ERROR_ARGUMENT, "rows of %zu entries are too short for pairs of %zu points",
                s->width, most);
  }
  return measure_vertices(c);
}

/* ---- calls ---- */

abut_spring abut_default_spring(void)
{
  abut_spring s;
  memset(&s, 0, sizeof s);
  s.poses = ABUT_POSE_QUATERNION;
  s.k = 5000.0;
  s.mu = 0.5;
  s.v_d = 0.1;
  s.v_s = 0.01;
  s.eps2 = 5e-4;
  s.eps3 = 2e-4;
  s.tau = 0.002;
  s.cookie = COOKIE;
  return s;
}

static abut_status run(spring_call *c, abut_spring *s)
{
  TRY(pack_clouds(s->clouds, s->cloud_count, context_real_bytes(c->base.context), &c->clouds));
  if (s->points || s->vertex_weights) {
    TRY(
      pack_surfaces(s->clouds, s->cloud_count, context_real_bytes(c->base.context), &c->surfaces));
  }
  TRY(measure(c));
  add_arrays(c, s);
  const abut_status status = batch_run(&c->base);
  s->failures = c->base.failures;
  return status;
}

abut_spring_gradients abut_default_spring_gradients(void)
{
  abut_spring_gradients g;
  memset(&g, 0, sizeof g);
  g.cookie = GRADIENTS_COOKIE;
  return g;
}

static abut_status call_of(context *owner, abut_spring *s, abut_spring_gradients *g)
{
  TRY(check(s));
  spring_call c = {.base.operation = &spring_operation,
                   .pairs = s,
                   .tells = s->separation || s->weights || s->points || s->vertex_weights,
                   .gradients = g};
  c.base.context = owner;
  c.base.count = s->count;
  c.base.rates = owner->query_rates[g ? QUERY_SPRING_BACK : QUERY_SPRING];
  const abut_status status = run(&c, s);
  packed_free(&c.clouds);
  surfaces_free(&c.surfaces);
  return status;
}

abut_status abut_spring_forces(abut_context handle_, abut_spring *s)
{
  ENTER(context_pool, handle_);
  context *owner = context_get(handle_);
  return owner ? call_of(owner, s, NULL) : ABUT_ERROR_HANDLE;
}

abut_status abut_spring_vjp(abut_context handle_, abut_spring *s, abut_spring_gradients *g)
{
  ENTER(context_pool, handle_);
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!g || g->cookie != GRADIENTS_COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the gradients were not made by abut_default_spring_gradients");
  }
  if (s && s->reaction == ABUT_REACTION_PLANE) {
    return fail(ABUT_ERROR_ARGUMENT, "springs have derivatives only with reactions at the points");
  }
  return call_of(owner, s, g);
}
