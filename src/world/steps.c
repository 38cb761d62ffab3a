/* Steps of worlds as an operation of the engine: an element is a world, whose steps all run on the
 * device that has it, one behind the other. */
#include "base/error.h"
#include "base/gate.h"
#include "batch/batch.h"
#include "geometry/layout.h"
#include "manifold/active.h"
#include "manifold/run.h"
#include "modules/modules.h"
#include "world/loaded.h"
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071501u
#define CHUNK_WORLDS 65535 /* as of poses: manifold/call_chunk.c */
#define POSE_WIDTH 7
#define LEAST_DOUBLE 1e-12 /* activities that count as none */
#define LEAST_FLOAT 1e-9
#define BANK_OF_WORLDS 1 /* the manifold's runs have the other */

/* Buffers of the worlds' bank. */
typedef enum world_buffer {
  IN_Q,
  IN_V,
  IN_W,
  IN_U,
  IN_MASS_SCALE,
  IN_FRICTION,
  IN_STIFFNESS,
  IN_GRAVITY,
  IN_P,
  IN_D,
  IN_N,
  IN_ACTIVITY,
  OUT_Q,
  OUT_V,
  OUT_W,
  OUT_Q_RECORD,
  OUT_V_RECORD,
  OUT_STATUS,
  OUT_ITERATIONS,
  OUT_MASS,
  OUT_BIAS,
  OUT_SMOOTH,
  OUT_ACCELERATION,
  OUT_CONSTRAINT,
  WORLD_U,
  WORLD_PARAMETERS_OF,
  WORLD_SCRATCH,
  WORLD_SINGULARS,
  WORLD_CONTACTS,
  WORLD_CONTACT_NUMBERS,
  WORLD_MARKS,
  WORLD_WORK,
  WORLD_NEXT_Q,
  WORLD_NEXT_V,
  WORLD_ACCELERATION,
  WORLD_PUSH,
  WORLD_STAGE_Q,
  WORLD_STAGE_V,
  WORLD_RATES,
  WORLD_SUMS /* of RK4 */
} world_buffer;

typedef struct steps_call {
  batch_call base;
  loaded_scene *scene;
  const abut_worlds *worlds;
  contact_group *groups; /* of given contacts, else the scene's */
  size_t group_count;
  int *places; /* of given contacts: those of each group, one group behind the other */
} steps_call;

/* The call at work on a device. */
typedef struct steps_on {
  const resident_model *model;
  resident_model own; /* of given contacts */
  buffer *places;
} steps_on;

/* One step of a chunk. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  batch_on *on;
  size_t slot, count;
  device *device;
} stepping;

static buffer *buffer_of(const stepping *s, world_buffer id)
{
  return memory_buffer(&s->on->memory[s->slot][BANK_OF_WORLDS], (size_t)id);
}

#define OF(s, id) ARG_BUFFER(buffer_of(s, id))
#define MODEL(s) ARG_BUFFER((s)->at->model->head), ARG_BUFFER((s)->at->model->ints)
#define REALS(s) ARG_BUFFER((s)->at->model->reals)
#define PARAMETERS_OF(s)                                                                  \
  ARG_BUFFER(shares(s) ? (s)->at->model->parameters : buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares(s))

static int given_parameters(const abut_worlds *w)
{
  return (w->mass_scale ? 1 : 0) | (w->friction ? 2 : 0) | (w->stiffness ? 4 : 0) |
         (w->gravity ? 8 : 0);
}

/* All worlds have the scene's own parameters. */
static bool shares(const stepping *s)
{
  return !given_parameters(s->call->worlds);
}

static const world_sizes *sizes_of(const stepping *s)
{
  return &s->at->model->sizes;
}

static size_t blocks(const stepping *s)
{
  const uint32_t lanes = device_lanes(s->device);
  return padded(s->count, lanes) / lanes;
}

/* ---- contacts ---- */

/* Where the numbers of contacts are: see world_contacts. */
typedef struct contact_source {
  buffer *p, *d, *n, *activity;
  size_t row, at[4], step3, plane;
  bool rows3;
  buffer *list;
  size_t list_row;
  int places, count; /* -1: none, as the list says */
} contact_source;

static abut_status append(const stepping *s, size_t group, int segment, int sign,
                          const contact_source *c)
{
  const bool wide = device_real_bytes(s->device) == sizeof(double);
  return LAUNCH(s->device, KERNEL_WORLD_CONTACTS, s->count, 1, MODEL(s), REALS(s), PARAMETERS_OF(s),
                OF(s, WORLD_SCRATCH), ARG_INT(group), ARG_INT(segment), ARG_INT(sign),
                ARG_BUFFER(c->p), ARG_BUFFER(c->d), ARG_BUFFER(c->n), ARG_BUFFER(c->activity),
                ARG_INT(c->row), ARG_INT(c->at[0]), ARG_INT(c->at[1]), ARG_INT(c->at[2]),
                ARG_INT(c->at[3]), ARG_INT(c->step3), ARG_INT(c->plane), ARG_INT(c->rows3),
                ARG_BUFFER(c->list), ARG_INT(c->list_row), ARG_INT(c->places), ARG_INT(c->count),
                ARG_REAL(wide ? LEAST_DOUBLE : LEAST_FLOAT), OF(s, WORLD_CONTACTS),
                OF(s, WORLD_CONTACT_NUMBERS), OF(s, WORLD_MARKS), OF(s, OUT_STATUS),
                ARG_INT(s->count));
}

/* Those of all slots, `count` from the first on. */
static contact_source dense_source(const run *r, size_t first, size_t count)
{
  const size_t contacts = r->pair->layout.contacts;
  return (contact_source){.p = run_buffer(r, SCRATCH_P),
                          .d = run_buffer(r, SCRATCH_D),
                          .n = run_buffer(r, SCRATCH_N),
                          .activity = run_buffer(r, SCRATCH_ACTIVITY),
                          .row = 3 * contacts,
                          .at = {3 * first, first, 3 * first, first},
                          .step3 = 3,
                          .plane = 1,
                          .rows3 = true,
                          .places = -1,
                          .count = (int)count};
}

static abut_status append_all(const stepping *s, size_t group, const run *r)
{
  const abut_layout *l = &r->pair->layout;
  for (int side = 0; side < 2; ++side) {
    const contact_source c = dense_source(r, l->vertex_offset[side], l->vertices[side]);
    TRY(append(s, group, side, side ? -1 : 1, &c));
  }
  for (int side = 0; side < 2; ++side) {
    const contact_source c = dense_source(r, l->edge_offset[side], l->edges[0] * l->edges[1]);
    TRY(append(s, group, 2 + side, side ? -1 : 1, &c));
  }
  return ABUT_SUCCESS;
}

static contact_source listed_source(buffer *values, size_t row, size_t at, size_t plane,
                                    buffer *list, size_t list_row)
{
  return (contact_source){.p = values,
                          .d = values,
                          .n = values,
                          .activity = values,
                          .row = row,
                          .at = {at + VALUE_P * plane, at + VALUE_D * plane, at + VALUE_N * plane,
                                 at + VALUE_ACTIVITY * plane},
                          .step3 = 1,
                          .plane = plane,
                          .list = list,
                          .list_row = list_row,
                          .places = -1,
                          .count = -1};
}

/* Vertices and edges that are listed; what a pair has none of leaves an empty segment. */
static abut_status append_listed(const stepping *s, size_t group, const run *r)
{
  for (int side = 0; side < 2; ++side) {
    const size_t plane = r->bodies[side]->vertex_padded;
    contact_source c =
      listed_source(run_buffer(r, OF_SIDE(SCRATCH_VERTEX_VALUES_1, side)), VALUE_PLANES * plane, 0,
                    plane, run_buffer(r, OF_SIDE(SCRATCH_VERTEX_LIST_1, side)), plane + 1);
    c.count = lists_vertices(r, side) ? -1 : 0;
    TRY(append(s, group, side, side ? -1 : 1, &c));
  }
  for (int side = 0; side < 2; ++side) {
    const size_t plane = near_plane(r);
    contact_source c = listed_source(run_buffer(r, SCRATCH_PAIR_VALUES), 2 * VALUE_PLANES * plane,
                                     (size_t)side * VALUE_PLANES * plane, plane,
                                     run_buffer(r, SCRATCH_PAIR_LIST), plane + 1);
    c.count = edges_run(r) ? -1 : 0;
    TRY(append(s, group, 2 + side, side ? -1 : 1, &c));
  }
  return ABUT_SUCCESS;
}

/* A pair's manifold on a device, for the worlds of a slot. */
static abut_status run_of(const steps_call *c, size_t i, batch_on *on, size_t slot, run *r)
{
  *r = (run){.pair = pair_get(c->scene->pairs[i]),
             .pose_width = POSE_WIDTH,
             .device = on->device,
             .memory = &on->memory[slot][0],
             .wanted = {.arrays = WANT_P | WANT_D | WANT_N | WANT_ACTIVITY}};
  if (!r->pair) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(pair_on(r->pair, on->place, &r->on));
  for (int k = 0; k < 2; ++k) {
    body *of = body_get(r->pair->bodies[k]);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(of, on->place, &r->bodies[k]));
  }
  const double cutoff = active_cutoff(r->pair, 0.0);
  /* A capacity counts contacts in the order of slots, which lists do not keep. */
  const bool listed = !c->scene->def.capacity && can_skip_inactive(r, cutoff);
  r->wanted.cutoff = listed ? cutoff : 0.0;
  return ABUT_SUCCESS;
}

static abut_status put_pose(const stepping *s, const run *r, size_t i, int side)
{
  const int link = s->call->scene->groups[i].link[side];
  return LAUNCH(s->device, KERNEL_WORLD_POSES, blocks(s), 1, ARG_BUFFER(s->at->model->head),
                OF(s, WORLD_SCRATCH), ARG_BUFFER(s->at->model->bodies),
                ARG_INT(POSE_WIDTH * (2 * (int)i + side)), ARG_INT(link), ARG_INT(s->count),
                BUFFER(r, OF_SIDE(SCRATCH_POSE_1, side)));
}

static abut_status pair_contacts(const stepping *s, size_t i)
{
  run r;
  TRY(run_of(s->call, i, s->on, s->slot, &r));
  TRY(put_pose(s, &r, i, 0));
  TRY(put_pose(s, &r, i, 1));
  if (r.wanted.cutoff > 0.0) {
    TRY(run_active(&r, s->count));
    return append_listed(s, i, &r);
  }
  TRY(run_forward(&r, s->count));
  return append_all(s, i, &r);
}

static abut_status given_contacts(const stepping *s)
{
  const size_t contacts = s->call->worlds->contacts->count;
  int at = 0;
  for (size_t i = 0; i < s->call->group_count; ++i) {
    const size_t count = s->call->groups[i].contacts;
    const contact_source c = {.p = buffer_of(s, IN_P),
                              .d = buffer_of(s, IN_D),
                              .n = buffer_of(s, IN_N),
                              .activity = buffer_of(s, IN_ACTIVITY),
                              .row = 3 * contacts,
                              .step3 = 3,
                              .plane = 1,
                              .rows3 = true,
                              .list = s->at->places,
                              .places = at,
                              .count = (int)count};
    TRY(append(s, i, 0, 1, &c));
    at += (int)count;
  }
  return ABUT_SUCCESS;
}

/* ---- a step ---- */

static abut_status take(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                        world_buffer to, size_t to_width, size_t to_at, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_TAKE, s->count, 1, OF(s, from), ARG_INT(from_width),
                ARG_INT(from_at), OF(s, to), ARG_INT(to_width), ARG_INT(to_at), ARG_INT(width),
                ARG_INT(s->count));
}

static abut_status show(const stepping *s, int at, size_t width, world_buffer to, const void *asked)
{
  return asked
           ? LAUNCH(s->device, KERNEL_WORLD_SHOW, s->count, 1, ARG_BUFFER(s->at->model->head),
                    OF(s, WORLD_SCRATCH), ARG_INT(at), ARG_INT(width), OF(s, to), ARG_INT(s->count))
           : ABUT_SUCCESS;
}

/* Of the step's beginning. */
static abut_status show_all(const stepping *s)
{
  const abut_worlds *w = s->call->worlds;
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv;
  TRY(show(s, n->at_mass, nv * nv, OUT_MASS, w->mass));
  TRY(show(s, n->at_bias, nv, OUT_BIAS, w->bias));
  TRY(show(s, n->at_free, nv, OUT_SMOOTH, w->smooth));
  return w->constraint ? take(s, WORLD_PUSH, nv, 0, OUT_CONSTRAINT, nv, 0, nv) : ABUT_SUCCESS;
}

/* The controls of a step: all worlds' own row. */
static abut_status controls(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nu = (size_t)sizes_of(s)->nu;
  return take(s, IN_U, w->controls ? w->steps * nu : nu, w->controls ? step * nu : 0, WORLD_U, nu,
              0, nu);
}

/* Accelerations at a state, from an acceleration to start with. */
static abut_status solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  const world_sizes *n = sizes_of(s);
  TRY(LAUNCH(s->device, KERNEL_WORLD_TREE, blocks(s), 1, MODEL(s), REALS(s), OF(s, q), OF(s, v),
             OF(s, WORLD_U), PARAMETERS_OF(s), ARG_INT(s->count), OF(s, WORLD_SCRATCH),
             OF(s, WORLD_SINGULARS)));
  if (n->at_columns != n->numbers) {
    TRY(LAUNCH(s->device, KERNEL_WORLD_MOBILITY, blocks(s), 1, MODEL(s), ARG_INT(s->count),
               OF(s, WORLD_SCRATCH)));
  }
  for (size_t i = 0; !s->call->worlds->contacts && i < s->call->group_count; ++i) {
    TRY(pair_contacts(s, i));
  }
  TRY(s->call->worlds->contacts ? given_contacts(s) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_SOLVE, s->count, 1, MODEL(s), REALS(s), OF(s, q), OF(s, v),
                OF(s, start), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), OF(s, WORLD_CONTACTS),
                OF(s, WORLD_MARKS), OF(s, WORLD_WORK), OF(s, WORLD_ACCELERATION), OF(s, WORLD_PUSH),
                OF(s, OUT_ITERATIONS), OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status euler(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_EULER, blocks(s), 1, MODEL(s), REALS(s), OF(s, OUT_Q),
                OF(s, OUT_V), OF(s, WORLD_ACCELERATION), OF(s, WORLD_PUSH), ARG_INT(s->count),
                OF(s, WORLD_SCRATCH), OF(s, WORLD_NEXT_Q), OF(s, WORLD_NEXT_V));
}

static abut_status stage(const stepping *s, double weight, double ahead, bool first)
{
  const bool last = ahead == 0.0;
  return LAUNCH(s->device, KERNEL_WORLD_STAGE, blocks(s), 1, MODEL(s), REALS(s), OF(s, OUT_Q),
                OF(s, OUT_V), OF(s, WORLD_ACCELERATION), OF(s, WORLD_RATES), ARG_REAL(weight),
                ARG_REAL(ahead), ARG_INT(first), ARG_INT(s->count), OF(s, WORLD_SUMS),
                OF(s, WORLD_SCRATCH), OF(s, last ? WORLD_NEXT_Q : WORLD_STAGE_Q),
                OF(s, last ? WORLD_NEXT_V : WORLD_STAGE_V));
}

/* The classical tableau, after its first solve; each starts from the acceleration before. */
static abut_status rk4(const stepping *s)
{
  static const double ahead[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  for (int i = 0; i < 4; ++i) {
    TRY(i ? solve(s, WORLD_STAGE_Q, WORLD_STAGE_V, WORLD_ACCELERATION) : ABUT_SUCCESS);
    TRY(stage(s, weight[i], ahead[i], i == 0));
  }
  return ABUT_SUCCESS;
}

static abut_status one_step(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nv = (size_t)sizes_of(s)->nv;
  const bool last = step + 1 == w->steps;
  TRY(controls(s, step));
  TRY(LAUNCH(s->device, KERNEL_WORLD_CHECK, s->count, 1, MODEL(s), OF(s, OUT_Q), OF(s, OUT_V),
             OF(s, WORLD_U), OF(s, OUT_W), PARAMETERS_OF(s), ARG_INT(step == 0), OF(s, OUT_STATUS),
             ARG_INT(s->count)));
  TRY(solve(s, OUT_Q, OUT_V, OUT_W));
  TRY(last ? show_all(s) : ABUT_SUCCESS);
  TRY(s->call->scene->def.integrator == INTEGRATOR_RK4 ? rk4(s) : euler(s));
  if (last && w->acceleration) {
    TRY(take(s, WORLD_ACCELERATION, nv, 0, OUT_ACCELERATION, nv, 0, nv));
  }
  return LAUNCH(s->device, KERNEL_WORLD_ACCEPT, s->count, 1, ARG_BUFFER(s->at->model->head),
                REALS(s), OF(s, WORLD_SINGULARS), OF(s, OUT_Q), OF(s, OUT_V), OF(s, OUT_W),
                OF(s, WORLD_NEXT_Q), OF(s, WORLD_NEXT_V), OF(s, WORLD_ACCELERATION),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status keep(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  if (!w->record || (step + 1) % w->record) {
    return ABUT_SUCCESS;
  }
  const size_t kept = w->steps / w->record, at = (step + 1) / w->record - 1;
  TRY(w->q_record ? take(s, OUT_Q, nq, 0, OUT_Q_RECORD, kept * nq, at * nq, nq) : ABUT_SUCCESS);
  return w->v_record ? take(s, OUT_V, nv, 0, OUT_V_RECORD, kept * nv, at * nv, nv) : ABUT_SUCCESS;
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const steps_call *call = (const steps_call *)on->call;
  const stepping s = {call, on->user, on, slot, c.count, on->device};
  const size_t nq = (size_t)sizes_of(&s)->nq, nv = (size_t)sizes_of(&s)->nv;
  const int given = given_parameters(call->worlds);
  TRY(take(&s, IN_Q, nq, 0, OUT_Q, nq, 0, nq));
  TRY(take(&s, IN_V, nv, 0, OUT_V, nv, 0, nv));
  TRY(take(&s, IN_W, nv, 0, OUT_W, nv, 0, nv));
  if (given) {
    TRY(LAUNCH(s.device, KERNEL_WORLD_PARAMETERS, s.count, 1, ARG_BUFFER(s.at->model->head),
               ARG_BUFFER(s.at->model->parameters), OF(&s, IN_MASS_SCALE), OF(&s, IN_FRICTION),
               OF(&s, IN_STIFFNESS), OF(&s, IN_GRAVITY), ARG_INT(given),
               OF(&s, WORLD_PARAMETERS_OF), ARG_INT(s.count)));
  }
  for (size_t step = 0; step < call->worlds->steps; ++step) {
    TRY(one_step(&s, step));
    TRY(keep(&s, step));
  }
  return ABUT_SUCCESS;
}

/* ---- a device ---- */

static abut_status test(const batch_call *b, size_t place)
{
  const steps_call *c = (const steps_call *)b;
  TRY(test_member(b->context, place, MODULE_WORLD, PROGRAM_PLAIN, false, QUESTION_MAIN));
  for (size_t i = 0; !c->worlds->contacts && i < c->group_count; ++i) {
    const pair *p = pair_get(c->scene->pairs[i]);
    if (!p) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(test_member(b->context, place, MODULE_MANIFOLD, PROGRAM_PLAIN, false,
                    active_cutoff(p, 0.0) > 0.0 && !c->scene->def.capacity ? QUESTION_ACTIVE
                                                                           : QUESTION_MAIN));
  }
  return ABUT_SUCCESS;
}

static void at_least(size_t *size, size_t needed)
{
  *size = needed > *size ? needed : *size;
}

static abut_status manifold_bytes(const steps_call *c, batch_on *on)
{
  const size_t real = device_real_bytes(on->device);
  for (size_t i = 0; !c->worlds->contacts && i < c->group_count; ++i) {
    size_t bytes[SCRATCH_BUFFERS] = {0};
    run r;
    TRY(run_of(c, i, on, 0, &r));
    TRY(check_scratch(&r));
    scratch_bytes(&r, bytes);
    bytes[SCRATCH_POSE_1] = bytes[SCRATCH_POSE_2] = POSE_WIDTH * real;
    const size_t contacts = r.wanted.cutoff > 0.0 ? 0 : r.pair->layout.contacts;
    bytes[SCRATCH_P] = bytes[SCRATCH_N] = 3 * contacts * real;
    bytes[SCRATCH_D] = bytes[SCRATCH_ACTIVITY] = contacts * real;
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      at_least(&on->bytes[0][k], bytes[k]);
    }
  }
  return ABUT_SUCCESS;
}

static void world_bytes(const world_sizes *n, size_t real, size_t bytes[BANK_BUFFERS])
{
  const size_t nq = (size_t)n->nq, nv = (size_t)n->nv, planes = (size_t)n->contact_planes;
  bytes[OUT_Q] = bytes[WORLD_NEXT_Q] = nq * real;
  bytes[OUT_V] = bytes[OUT_W] = bytes[WORLD_NEXT_V] = nv * real;
  bytes[WORLD_ACCELERATION] = bytes[WORLD_PUSH] = nv * real;
  bytes[WORLD_STAGE_Q] = nq * real;
  bytes[WORLD_STAGE_V] = bytes[WORLD_RATES] = nv * real;
  bytes[WORLD_SUMS] = 2 * nv * real;
  bytes[WORLD_U] = (size_t)n->nu * real;
  bytes[WORLD_PARAMETERS_OF] = (size_t)PARAMETERS(n->links, n->pairs) * real;
  bytes[WORLD_SCRATCH] = (size_t)n->numbers * real;
  bytes[WORLD_SINGULARS] = real;
  bytes[WORLD_CONTACTS] = planes * real;
  bytes[WORLD_CONTACT_NUMBERS] = planes / CONTACT_PLANES * CONTACT_INTS * sizeof(int);
  bytes[WORLD_MARKS] = GROUP_MARKS * (size_t)n->groups * sizeof(int);
  bytes[WORLD_WORK] = (size_t)n->work * real;
  bytes[OUT_STATUS] = bytes[OUT_ITERATIONS] = sizeof(int);
}

static abut_status place(batch_on *on)
{
  steps_call *c = (steps_call *)on->call;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(steps_on)));
  steps_on *at = memory;
  on->user = at;
  if (c->worlds->contacts) {
    TRY(resident_make(c->scene, on->device, c->groups, c->group_count, &at->own));
    TRY(buffer_upload(on->device, (c->worlds->contacts->count + 1) * sizeof(int), c->places,
                      &at->places));
    at->model = &at->own;
  } else {
    TRY(scene_on(c->scene, on->place, &at->model));
  }
  on->granule = device_lanes(on->device);
  on->most = CHUNK_WORLDS;
  TRY(manifold_bytes(c, on));
  world_bytes(&at->model->sizes, device_real_bytes(on->device), on->bytes[BANK_OF_WORLDS]);
  return ABUT_SUCCESS;
}

static void leave(batch_on *on)
{
  steps_on *at = on->user;
  if (at) {
    resident_free_model(&at->own);
    buffer_destroy(at->places);
    free(at);
  }
}

static const operation steps_operation = {
  .module = MODULE_WORLD, .test = test, .place = place, .launch = launch, .leave = leave};

/* ---- calls ---- */

abut_worlds abut_default_worlds(void)
{
  abut_worlds w;
  memset(&w, 0, sizeof w);
  w.steps = 1;
  w.cookie = COOKIE;
  return w;
}

static void add(steps_call *c, const char *name, world_buffer id, size_t width, const void *in,
                void *out)
{
  batch_add(&c->base, (batch_array){.name = name,
                                    .in = in,
                                    .out = out,
                                    .memory = c->worlds->memory,
                                    .width = width,
                                    .size = context_real_bytes(c->base.context),
                                    .bank = BANK_OF_WORLDS,
                                    .buffer = (size_t)id,
                                    .zeros = !in && !out});
}

static void add_counts(steps_call *c, const char *name, world_buffer id, uint32_t *out)
{
  if (out) {
    batch_add(&c->base, (batch_array){.name = name,
                                      .out = out,
                                      .memory = ABUT_MEMORY_HOST,
                                      .width = 1,
                                      .size = sizeof(uint32_t),
                                      .bank = BANK_OF_WORLDS,
                                      .buffer = (size_t)id});
  }
}

static void add_wanted(steps_call *c, const char *name, world_buffer id, size_t width, void *out)
{
  if (out) {
    add(c, name, id, width, NULL, out);
  }
}

static void add_given(steps_call *c, const char *name, world_buffer id, size_t width,
                      const void *in)
{
  if (in) {
    add(c, name, id, width, in, NULL);
  }
}

static void add_arrays(steps_call *c)
{
  const abut_worlds *w = c->worlds;
  const size_t nq = (size_t)c->scene->constants.nq, nv = (size_t)c->scene->constants.nv;
  const size_t nu = c->scene->def.actuator_count, kept = w->record ? w->steps / w->record : 0;
  const size_t pairs = c->scene->def.pair_count;
  add(c, "q", IN_Q, nq, w->q, NULL);
  add(c, "v", IN_V, nv, w->v, NULL);
  add(c, "w", IN_W, nv, w->w, NULL);
  if (nu) {
    add(c, "u", IN_U, w->controls ? w->steps * nu : nu, w->u, NULL);
  }
  add_given(c, "mass_scale", IN_MASS_SCALE, c->scene->def.link_count, w->mass_scale);
  add_given(c, "friction", IN_FRICTION, pairs, w->friction);
  add_given(c, "stiffness", IN_STIFFNESS, pairs, w->stiffness);
  add_given(c, "gravity", IN_GRAVITY, 3, w->gravity);
  if (w->contacts) {
    add(c, "p", IN_P, 3 * w->contacts->count, w->contacts->p, NULL);
    add(c, "d", IN_D, w->contacts->count, w->contacts->d, NULL);
    add(c, "n", IN_N, 3 * w->contacts->count, w->contacts->n, NULL);
    add(c, "activity", IN_ACTIVITY, w->contacts->count, w->contacts->activity, NULL);
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
  add_counts(c, "status", OUT_STATUS, w->status);
  add_counts(c, "iterations", OUT_ITERATIONS, w->iterations);
}

static bool same_group(const contact_group *g, const abut_given_contacts *c, size_t i)
{
  return g->pair == c->pair[i] && g->link[0] == c->owner[i] && g->link[1] == c->opposing[i];
}

static abut_status check_given(const loaded_scene *s, const abut_given_contacts *c)
{
  const int links = (int)s->def.link_count, pairs = (int)s->def.pair_count;
  if (!c->owner || !c->opposing || !c->pair || !c->p || !c->d || !c->n || !c->activity) {
    return fail(ABUT_ERROR_ARGUMENT, "given contacts need all of their arrays");
  }
  for (size_t i = 0; i < c->count; ++i) {
    if (c->owner[i] < WORLD || c->owner[i] >= links || c->opposing[i] < WORLD ||
        c->opposing[i] >= links || c->owner[i] == c->opposing[i]) {
      return fail(ABUT_ERROR_ARGUMENT, "contact %zu is between links %d and %d of %d", i,
                  (int)c->owner[i], (int)c->opposing[i], links);
    }
    if (c->pair[i] < 0 || c->pair[i] >= pairs) {
      return fail(ABUT_ERROR_ARGUMENT, "contact %zu is of pair %d of %d", i, (int)c->pair[i],
                  pairs);
    }
  }
  return ABUT_SUCCESS;
}

/* Contacts of the same links and pair, group by group. */
static abut_status group_given(steps_call *c)
{
  const abut_given_contacts *g = c->worlds->contacts;
  void *memory = NULL;
  TRY(check_given(c->scene, g));
  TRY(allocate(&memory, g->count + 1, sizeof *c->groups));
  c->groups = memory;
  TRY(allocate(&memory, g->count + 1, sizeof *c->places));
  c->places = memory;
  for (size_t i = 0; i < g->count; ++i) {
    size_t k = 0;
    while (k < c->group_count && !same_group(&c->groups[k], g, i)) {
      ++k;
    }
    if (k == c->group_count) {
      c->groups[c->group_count++] = (contact_group){{g->owner[i], g->opposing[i]}, g->pair[i], 0};
    }
    ++c->groups[k].contacts;
  }
  for (size_t k = 0, at = 0; k < c->group_count; ++k) {
    for (size_t i = 0; i < g->count; ++i) {
      if (same_group(&c->groups[k], g, i)) {
        c->places[at++] = (int)i;
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check(const loaded_scene *s, const abut_worlds *w)
{
  if (!w || w->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "make worlds by abut_default_worlds");
  }
  if (w->memory != ABUT_MEMORY_HOST && w->memory != ABUT_MEMORY_OPENCL) {
    return fail(ABUT_ERROR_ARGUMENT, "worlds lie in host or OpenCL memory");
  }
  if (w->memory == ABUT_MEMORY_OPENCL && !s->context->def.opencl_queue) {
    return fail(ABUT_ERROR_ARGUMENT, "arrays in OpenCL memory need a context made from the "
                                     "caller's queue");
  }
  if (w->count && (!w->q || !w->v)) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu worlds are counted but their q or v is not given",
                w->count);
  }
  if (!w->contacts && s->given) {
    return fail(ABUT_ERROR_ARGUMENT, "the scene has pairs without bodies: give the contacts");
  }
  if (w->contacts && s->def.capacity) {
    return fail(ABUT_ERROR_ARGUMENT, "a scene with a capacity takes no contacts that are given");
  }
  return ABUT_SUCCESS;
}

abut_status abut_step_worlds(abut_scene handle_, abut_worlds *w)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check(s, w));
  steps_call c = {.scene = s, .worlds = w, .groups = s->groups, .group_count = s->def.pair_count};
  c.base = (batch_call){.operation = &steps_operation,
                        .context = s->context,
                        .count = w->count,
                        .rates = s->rates};
  abut_status status = ABUT_SUCCESS;
  if (w->contacts) {
    c.groups = NULL;
    c.group_count = 0;
    status = group_given(&c);
  }
  if (status == ABUT_SUCCESS) {
    add_arrays(&c);
    status = batch_run(&c.base);
    w->failures = c.base.failures;
  }
  if (w->contacts) {
    free(c.groups);
    free(c.places);
  }
  return status;
}
