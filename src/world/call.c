/* Calls that step worlds, as operations of the engine (engine/batch/batch.h). An element of the
 * batch is a world; all its steps run on one device. */
#include "base/call_lock.h"
#include "base/error.h"
#include "contact/active.h"
#include "engine/self_test/runner.h"
#include "world/broad.h"
#include "world/law/law.h"
#include "world/sweep.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071507u
#define CHUNK_WORLDS 65535 /* the most worlds of a chunk; see contact/call_chunk.c */
#define ALIGNED_WORLDS 128 /* Chunks begin at multiples of this in arrays on a device. */

/* ---- a device ---- */

static bool is_listed(const world_type *k, const pair *p)
{
  return active_cutoff(p, 0.0) > 0.0 && !k->scene->def.capacity;
}

static abut_status test_type(const steps_call *c, const world_type *k, size_t place)
{
  for (size_t i = 0; !c->worlds->contacts && i < k->scene->pair_type_count; ++i) {
    const pair *p =
      pair_get(k->scene->parts[k->scene->pair_order[k->scene->pair_types[i].first]].pair);
    if (!p) {
      return ABUT_ERROR_HANDLE;
    }
    for (int adjoint = 0; adjoint < (is_differentiated(c) ? 2 : 1); ++adjoint) {
      TRY(test_member(c->base.context, place, MODULE_MANIFOLD, PROGRAM_PLAIN, adjoint,
                      is_in_fields(p)   ? SELF_TEST_FIELDS
                      : is_listed(k, p) ? SELF_TEST_ACTIVE
                                        : SELF_TEST_MAIN));
    }
  }
  return ABUT_SUCCESS;
}

abut_status test_manifolds(const steps_call *c, size_t place)
{
  for (size_t i = 0; i < c->type_count; ++i) {
    TRY(test_type(c, &c->types[i], place));
  }
  return ABUT_SUCCESS;
}

static abut_status test(const batch_call *b, size_t place)
{
  const steps_call *c = (const steps_call *)b;
  const bool both = is_differentiated(c) || is_implicit(c);
  for (int adjoint = 0; adjoint < (both ? 2 : 1); ++adjoint) {
    TRY(test_member(b->context, place, MODULE_WORLD, PROGRAM_PLAIN, adjoint, SELF_TEST_MAIN));
  }
  if (sweeps(c)) {
    TRY(test_member(b->context, place, MODULE_CCD, PROGRAM_PLAIN, false, SELF_TEST_MESHES));
    TRY(is_differentiated(c)
          ? test_member(b->context, place, MODULE_WORLD, PROGRAM_DUAL, true, SELF_TEST_MAIN)
          : ABUT_SUCCESS);
  }
  return law_of(c)->test ? law_of(c)->test(c, place) : ABUT_SUCCESS;
}

static void at_least(size_t *size, size_t needed)
{
  *size = needed > *size ? needed : *size;
}

static void world_bytes(const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS])
{
  const size_t nq = (size_t)n->nq, nv = (size_t)n->nv;
  bytes[OUT_Q] = bytes[WORLD_NEXT_Q] = nq * real;
  bytes[OUT_V] = bytes[OUT_W] = bytes[WORLD_NEXT_V] = nv * real;
  bytes[WORLD_ACCELERATION] = bytes[WORLD_CONSTRAINT_FORCE] = nv * real;
  bytes[WORLD_STAGE_Q] = nq * real;
  bytes[WORLD_STAGE_V] = bytes[WORLD_RATES] = nv * real;
  bytes[WORLD_SUMS] = 2 * nv * real;
  bytes[WORLD_U] = (size_t)n->nu * real;
  bytes[WORLD_PARAMETERS_OF] = (size_t)PARAMETERS(n->links, n->columns) * real;
  bytes[WORLD_ENERGY] = ENERGY_REALS * real;
  bytes[WORLD_SCRATCH] = (size_t)n->numbers * real;
  bytes[WORLD_SINGULARS] = real;
  bytes[WORLD_WORK] = (size_t)n->work * real;
  bytes[OUT_STATUS] = bytes[OUT_ITERATIONS] = sizeof(int);
}

abut_status worlds_place(batch_on *on)
{
  steps_call *c = (steps_call *)on->call;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(steps_on)));
  steps_on *at = memory;
  on->user = at;
  TRY(allocate(&memory, c->type_count, sizeof *at->tables));
  at->tables = memory;
  if (c->worlds->contacts) {
    TRY(resident_make(c->scene, on->device, c->types->groups, c->types->group_count, &at->own));
    TRY(buffer_upload(on->device, (c->worlds->contacts->count + 1) * sizeof(int), c->places,
                      &at->places));
    at->tables[0] = &at->own;
  }
  for (size_t i = 0; !c->worlds->contacts && i < c->type_count; ++i) {
    TRY(scene_on(c->types[i].scene, on->place, &at->tables[i]));
  }
  size_t types = 1;
  for (size_t i = 0; i < c->type_count; ++i) {
    at_least(&types,
             c->worlds->contacts ? c->types[i].group_count : c->types[i].scene->pair_type_count);
  }
  TRY(allocate(&memory, types, sizeof *at->totals));
  at->totals = memory;
  TRY(sweeps(c) ? sweep_place(c, on) : ABUT_SUCCESS);
  on->granule = device_lanes(on->device);
  at_least(&on->granule, law_of(c)->granule);
  on->most = CHUNK_WORLDS;
  return ABUT_SUCCESS;
}

/* Limits the worlds of a chunk: kernels index a chunk's array by int. */
static abut_status bound_chunk(batch_on *on)
{
  size_t widest = 1;
  for (size_t i = 0; i < POOL_BUFFERS; ++i) {
    at_least(&widest, on->bytes[POOL_OF_WORLDS][i] / device_real_bytes(on->device));
  }
  for (size_t i = 0; i < on->call->array_count; ++i) { /* controls and records of many steps */
    at_least(&widest, on->call->arrays[i].width);
  }
  if (widest > INT_MAX) {
    return fail(ABUT_ERROR_MEMORY,
                "a world needs %zu numbers in one array, which is too many for the kernels",
                widest);
  }
  const size_t most = INT_MAX / widest;
  on->most = most < CHUNK_WORLDS ? most : CHUNK_WORLDS;
  return ABUT_SUCCESS;
}

/* Marks large rows, which should not be padded to whole lanes for a single world of many bodies. */
static void mark_rows(batch_on *on)
{
  static const world_buffer rows[] = {WORLD_CONTACTS, WORLD_CONTACT_PLACES, WORLD_SLOTS,
                                      WORLD_PAIRS,    WORLD_ACTIVE_LIST,    WORLD_ACTIVE_SUMS,
                                      WORLD_WORK,     WORLD_ORDER,          WORLD_BARS,
                                      WORLD_BASIS,    WORLD_GROUP_ADJOINT,  WORLD_JACOBIAN,
                                      WORLD_MATRIX,   WORLD_PUSHES};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    on->rows[POOL_OF_WORLDS][rows[i]] = true;
  }
}

/* Sets the bytes of each buffer per world of the group's scene. */
abut_status worlds_enter(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const steps_on *at = on->user;
  const world_sizes *n = &at->tables[group]->sizes;
  const size_t real = device_real_bytes(on->device);
  world_bytes(n, real, on->bytes[POOL_OF_WORLDS]);
  mark_rows(on);
  if (at->tables[group]->broad) {
    broad_bytes(at->tables[group]->broad, real, on->bytes[POOL_OF_WORLDS]);
  }
  if (at->tables[group]->sweep) {
    sweep_bytes(n, real, on->bytes[POOL_OF_WORLDS]);
    if (is_differentiated(c)) {
      impact_bytes(n, real, device_lanes(on->device), on->bytes[POOL_OF_WORLDS]);
    }
  }
  TRY(law_of(c)->bytes ? law_of(c)->bytes(on, slot, group) : ABUT_SUCCESS);
  if (c->gradients) {
    gradient_bytes(c, n, real, on->bytes[POOL_OF_WORLDS]);
  } else if (is_differentiated(c)) {
    tangent_bytes(c, n, real, on->bytes[POOL_OF_WORLDS]);
  }
  if (finds_pairs(c)) {
    pool_bytes(c, &c->types[group], on->place, n, real, on->bytes[POOL_OF_WORLDS]);
  }
  TRY(bound_chunk(on));
  return finds_pairs(c) ? bound_by_pair_batch(on, slot, group) : ABUT_SUCCESS;
}

void worlds_leave(batch_on *on)
{
  steps_on *at = on->user;
  if (at) {
    sweep_leave(at);
    resident_free_tables(&at->own);
    for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
      free(at->pairs[slot].pair_batches);
      launch_sets_free(&at->pairs[slot]);
      free(at->found[slot]);
    }
    free(at->totals);
    buffer_destroy(at->places);
    free(at->tables);
    free(at);
  }
}

static void add_bytes(batch_on *on, chunk c)
{
  steps_call *call = (steps_call *)on->call;
  const steps_on *at = on->user;
  (void)c;
  call->world_bytes = at->world_bytes > call->world_bytes ? at->world_bytes : call->world_bytes;
}

static const operation worlds_operation = {.test = test,
                                           .place = worlds_place,
                                           .enter = worlds_enter,
                                           .add = add_bytes,
                                           .leave = worlds_leave};

static const operation steps_operation = {.base = &worlds_operation,
                                          .module = MODULE_WORLD,
                                          .launch = steps_launch};

static const operation gradients_operation = {.base = &worlds_operation,
                                              .module = MODULE_WORLD,
                                              .launch = gradients_launch};

static const operation tangent_operation = {.base = &worlds_operation,
                                            .module = MODULE_WORLD,
                                            .launch = tangent_launch};

/* ---- calls ---- */

abut_worlds abut_default_worlds(void)
{
  abut_worlds w;
  memset(&w, 0, sizeof w);
  w.steps = 1;
  w.cookie = COOKIE;
  return w;
}

void add_reals(steps_call *c, const char *name, world_buffer id, size_t width, const void *in,
               void *out)
{
  if (!width) { /* a tree without degrees of freedom, or no actuators */
    return;
  }
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = c->worlds->memory,
                                    .width = width,
                                    .size = context_real_bytes(c->base.context),
                                    .pool = POOL_OF_WORLDS,
                                    .buffer = (size_t)id,
                                    .zeros = !in && !out,
                                    .in_place = c->base.state != NULL});
}

void add_named(steps_call *c, const named_array *all, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (all[i].in || all[i].out) {
      add_reals(c, all[i].name, all[i].id, all[i].width, all[i].in, all[i].out);
    }
  }
}

void add_counts(steps_call *c, const char *name, world_buffer id, size_t width, uint32_t *out)
{
  if (out) {
    batch_add(&c->base, (batch_array){.name = name,
                                      .out = out,
                                      .memory = ABUT_MEMORY_HOST,
                                      .width = width,
                                      .size = sizeof(uint32_t),
                                      .pool = POOL_OF_WORLDS,
                                      .buffer = (size_t)id});
  }
}

static void add_wanted(steps_call *c, const char *name, world_buffer id, size_t width, void *out)
{
  if (out) {
    add_reals(c, name, id, width, NULL, out);
  }
}

static void add_given(steps_call *c, const char *name, world_buffer id, size_t width,
                      const void *in)
{
  if (in) {
    add_reals(c, name, id, width, in, NULL);
  }
}

/* check_scenes ensures that all scenes have as many slots as the first if multipliers are wanted.
 */
size_t slots_of_pairs(const steps_call *c)
{
  return slots_before(&c->types[0], c->types[0].group_count);
}

static void add_arrays(steps_call *c)
{
  const abut_worlds *w = c->worlds;
  const size_t nq = (size_t)c->scene->constants.nq, nv = (size_t)c->scene->constants.nv;
  const size_t nu = scene_control_count(&c->scene->def),
               kept = w->record ? w->steps / w->record : 0;
  const size_t columns = c->scene->def.column_count;
  add_reals(c, "q", IN_Q, nq, w->q, NULL);
  add_reals(c, "v", IN_V, nv, w->v, NULL);
  add_reals(c, "w", IN_W, nv, w->w, NULL);
  add_reals(c, "u", IN_U, w->controls ? w->steps * nu : nu, w->u, NULL);
  add_given(c, "mass_scale", IN_MASS_SCALE, c->scene->def.link_count, w->mass_scale);
  add_given(c, "friction", IN_FRICTION, columns, w->friction);
  add_given(c, "stiffness", IN_STIFFNESS, columns, w->stiffness);
  add_given(c, "gravity", IN_GRAVITY, 3, w->gravity);
  add_given(c, "springs", IN_SPRINGS, SPRING_NUMBERS * c->scene->def.listed_count, w->springs);
  if (w->contacts) {
    add_reals(c, "p", IN_P, 3 * w->contacts->count, w->contacts->p, NULL);
    add_reals(c, "d", IN_D, w->contacts->count, w->contacts->d, NULL);
    add_reals(c, "n", IN_N, 3 * w->contacts->count, w->contacts->n, NULL);
    add_reals(c, "activity", IN_ACTIVITY, w->contacts->count, w->contacts->activity, NULL);
  }
  add_wanted(c, "q_next", OUT_Q, nq, w->q_next);
  add_wanted(c, "v_next", OUT_V, nv, w->v_next);
  add_wanted(c, "w_next", OUT_W, nv, w->w_next);
  add_wanted(c, "q_record", OUT_Q_RECORD, kept * nq, kept ? w->q_record : NULL);
  add_wanted(c, "v_record", OUT_V_RECORD, kept * nv, kept ? w->v_record : NULL);
  add_wanted(c, "mass", OUT_MASS, nv * nv, w->mass);
  add_wanted(c, "bias", OUT_BIAS, nv, w->bias);
  add_wanted(c, "smooth", OUT_SMOOTH, nv, w->smooth);
  add_wanted(c, "acceleration", OUT_ACCELERATION, nv, w->acceleration);
  add_wanted(c, "constraint", OUT_CONSTRAINT, nv, w->constraint);
  if (w->inverse) {
    add_reals(c, "a", IN_A, nv, w->a, NULL);
    add_wanted(c, "inverse", OUT_INVERSE, nv, w->inverse);
  }
  add_wanted(c, "multipliers", OUT_MULTIPLIERS, law_of(c)->slots ? 3 * law_of(c)->slots(c) : 0,
             w->multipliers);
  add_wanted(c, "link_forces", OUT_LINK_FORCES, 6 * c->scene->def.link_count, w->link_forces);
  add_wanted(c, "pair_forces", OUT_PAIR_FORCES, 3 * c->scene->def.pair_count, w->pair_forces);
  add_wanted(c, "pair_normals", OUT_PAIR_NORMALS, c->scene->def.pair_count, w->pair_normals);
  add_wanted(c, "energy", OUT_ENERGY, 2, w->energy);
  add_wanted(c, "momentum", OUT_MOMENTUM, 6, w->momentum);
  add_wanted(c, "energy_record", OUT_ENERGY_RECORD, 2 * kept, kept ? w->energy_record : NULL);
  add_counts(c, "status", OUT_STATUS, 1, w->status);
  add_counts(c, "status_step", OUT_STATUS_STEP, WORLD_STATUSES, w->status_step);
  add_counts(c, "iterations", OUT_ITERATIONS, 1, w->iterations);
  add_counts(c, "counts", OUT_COUNTS, WORLD_COUNTS, w->counts);
  add_counts(c, "fast_links", OUT_FAST_LINKS, 2, w->fast_links);
}

/* Refuses a row with `each` numbers for each of `count` steps if its length exceeds int. */
static abut_status check_row(const char *name, size_t count, size_t each)
{
  return !each || count <= INT_MAX / each
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT,
                  "%s: %zu times %zu numbers of a world are too many for the kernels", name, count,
                  each);
}

/* Refuses numbers of steps that exceed int, alone or in arrays with one row per step. */
static abut_status check_steps(const loaded_scene *s, const abut_worlds *w)
{
  if (!w->steps || w->steps > INT_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "the number of steps must be at least 1 and at most %d",
                INT_MAX);
  }
  const size_t kept = w->record ? w->steps / w->record : 0;
  TRY(check_row("u", w->controls ? w->steps : 1, scene_control_count(&s->def)));
  TRY(check_row("q_record", kept, (size_t)s->constants.nq));
  TRY(check_row("pair_forces", w->pair_forces ? s->def.pair_count : 0, 3));
  return check_row("states kept", kept, 2 * (size_t)s->constants.nv); /* a gradient's `record` */
}

/* in_world: steps_call.in_world */
static abut_status check(const loaded_scene *s, const abut_worlds *w, bool in_world)
{
  if (!w || w->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the worlds were not made by abut_default_worlds");
  }
  if (w->memory < ABUT_MEMORY_HOST || w->memory > ABUT_MEMORY_STATE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the memory of worlds must be host memory, OpenCL memory or a state");
  }
  if (w->memory == ABUT_MEMORY_OPENCL && !s->context->def.opencl_queue) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "arrays in OpenCL memory need a context that was made from the caller's command queue");
  }
  TRY(check_steps(s, w));
  if (w->count && ((!w->q && s->constants.nq) || (!w->v && s->constants.nv))) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu worlds, but q or v is NULL", w->count);
  }
  if (w->scenes || w->scene) {
    TRY(check_scenes(s, w));
  }
  if (!w->contacts && s->given) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the scene has pairs without bodies: give the contacts with the call");
  }
  if (w->springs && !s->def.law->numbers) {
    return fail(ABUT_ERROR_ARGUMENT, "the contacts of the scene are not springs");
  }
  TRY(s->def.law->check ? s->def.law->check(w) : ABUT_SUCCESS);
  if (w->inverse && !s->def.law->inverse) {
    return fail(ABUT_ERROR_ARGUMENT, "only springs have forces for given accelerations: the forces "
                                     "of other contacts follow from the solver");
  }
  if (w->multipliers && s->def.automatic && !in_world) {
    return fail(ABUT_ERROR_ARGUMENT, "multipliers need listed pairs, because they have one entry "
                                     "per slot; the scene has automatic pairs");
  }
  if (w->multipliers && !s->def.law->forces) {
    return fail(ABUT_ERROR_ARGUMENT, "the contact model of the scene has no multipliers");
  }
  if (wants_pushes(w) && !s->def.law->pushes) {
    return fail(ABUT_ERROR_ARGUMENT,
                "springs between point clouds have no forces on links and no forces of pairs");
  }
  if ((w->pair_forces || w->pair_normals) && w->scenes) {
    return fail(ABUT_ERROR_ARGUMENT, "forces of pairs need worlds that all have the same scene");
  }
  if (w->contacts && s->def.capacity) {
    return fail(ABUT_ERROR_ARGUMENT, "a scene with a capacity takes no given contacts");
  }
  if (w->contacts && s->def.sweep) {
    return fail(ABUT_ERROR_ARGUMENT, "a scene with \"sweep\" takes no given contacts");
  }
  return ABUT_SUCCESS;
}

/* Returns the state that contains q; all other arrays must belong to it, too. */
static abut_status worlds_state(const abut_worlds *w, const context *owner, state **out)
{
  return w->q ? state_for(w->q, owner, w->count, "worlds", out)
              : fail(ABUT_ERROR_ARGUMENT, "worlds in a state need q");
}

static abut_status run_types(steps_call *c, abut_worlds *w)
{
  batch_order order = {0};
  world_type own = world_type_of(c->scene);
  abut_status status = ABUT_SUCCESS;
  c->types = &own;
  c->type_count = 1;
  if (w->scenes && w->count) {
    TRY_DONE(group_scenes(c, &order));
  } else if (w->contacts) {
    own.groups = NULL;
    own.group_count = 0;
    TRY_DONE(group_given(c));
  }
  for (size_t i = 0; i < c->type_count; ++i) {
    TRY_DONE(law_of(c)->check_type ? law_of(c)->check_type(c, &c->types[i]) : ABUT_SUCCESS);
  }
  add_arrays(c);
  if (c->gradients) {
    add_gradients(c);
  } else if (is_differentiated(c)) {
    add_tangents(c);
  }
  status = batch_run(&c->base);
  w->failures = c->base.failures;
  w->bytes = c->world_bytes;
done:
  if (w->contacts) {
    free(own.groups);
    free(c->places);
  }
  if (c->types != &own) {
    free(c->types);
  }
  batch_order_free(&order);
  return status;
}

static abut_status run_call(steps_call *c, abut_worlds *w)
{
  c->base.context = c->scene->context;
  c->base.count = w->count;
  c->base.rates = c->scene->rates;
  c->base.wholes = true;
  if (w->memory == ABUT_MEMORY_STATE) {
    TRY(worlds_state(w, c->scene->context, &c->base.state));
  }
  if (w->memory != ABUT_MEMORY_HOST && !w->scenes) {
    c->base.multiple = ALIGNED_WORLDS;
  }
  return run_types(c, w);
}

abut_status step_worlds(loaded_scene *s, abut_worlds *w, bool in_world)
{
  TRY(check(s, w, in_world));
  steps_call c = {.base.operation = &steps_operation,
                  .scene = s,
                  .worlds = w,
                  .in_world = in_world};
  return run_call(&c, w);
}

abut_status abut_step_worlds(abut_scene handle_, abut_worlds *w)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  return s ? step_worlds(s, w, false) : ABUT_ERROR_HANDLE;
}

abut_status abut_vjp_worlds(abut_scene handle_, abut_worlds *w, const abut_worlds_gradients *g)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(s, w, false));
  steps_call c = {.base.operation = &gradients_operation, .scene = s, .worlds = w, .gradients = g};
  TRY(check_gradients(&c));
  return run_call(&c, w);
}

static abut_status run_tangents(abut_scene handle_, abut_worlds *w, const abut_worlds_tangents *t,
                                const abut_worlds_transition *m)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(s, w, false));
  steps_call c = {.base.operation = &tangent_operation,
                  .scene = s,
                  .worlds = w,
                  .tangents = t,
                  .transition = m};
  TRY(check_tangents(&c));
  return run_call(&c, w);
}

abut_status abut_jvp_worlds(abut_scene handle_, abut_worlds *w, const abut_worlds_tangents *t)
{
  return run_tangents(handle_, w, t, NULL);
}

abut_status abut_transition_worlds(abut_scene handle_, abut_worlds *w,
                                   const abut_worlds_transition *t)
{
  return run_tangents(handle_, w, NULL, t);
}
