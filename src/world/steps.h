/* Steps of worlds on a device: what a call, a chunk of its worlds and a step of them have. */
#ifndef ABUT_WORLD_STEPS_H
#define ABUT_WORLD_STEPS_H

#include "batch/batch.h"
#include "batch/order.h"
#include "manifold/run.h"
#include "world/loaded.h"

#define POSE_WIDTH 7
#define POOL_OF_WORLDS 1 /* the manifold's runs have the other */

/* Buffers of the worlds' buffer pool. */
enum {
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
  IN_STATE_BAR,
  IN_RECORD_BAR,
  IN_ACCELERATION_BAR,
  OUT_Q,
  OUT_V,
  OUT_W,
  OUT_Q_RECORD,
  OUT_V_RECORD,
  OUT_STATUS,
  OUT_STATUS_STEP,
  OUT_ITERATIONS,
  OUT_MASS,
  OUT_BIAS,
  OUT_SMOOTH,
  OUT_ACCELERATION,
  OUT_CONSTRAINT,
  OUT_MULTIPLIERS,
  OUT_ENERGY,
  OUT_MOMENTUM,
  OUT_ENERGY_RECORD,
  WORLD_ENERGY,
  WORLD_SLOTS,
  WORLD_U,
  WORLD_PARAMETERS_OF,
  WORLD_SCRATCH,
  WORLD_SINGULARS,
  WORLD_CONTACTS,
  WORLD_CONTACT_PLACES,
  WORLD_MARKS,
  WORLD_WORK,
  WORLD_NEXT_Q,
  WORLD_NEXT_V,
  WORLD_ACCELERATION,
  WORLD_CONSTRAINT_FORCE,
  WORLD_STAGE_Q,
  WORLD_STAGE_V,
  WORLD_RATES,
  WORLD_SUMS, /* of RK4 */
  OUT_Q_BAR,
  OUT_V_BAR,
  OUT_U_BAR,
  OUT_MASS_BAR,
  OUT_FRICTION_BAR,
  OUT_STIFFNESS_BAR,
  OUT_GRAVITY_BAR,
  OUT_P_BAR,
  OUT_D_BAR,
  OUT_N_BAR,
  OUT_ACTIVITY_BAR,
  WORLD_CHECKPOINTS, /* states at the beginning of segments */
  WORLD_SEGMENT,     /* and within the one at work */
  WORLD_ITERATIONS,  /* of steps that are made once more */
  WORLD_Q,           /* before a step */
  WORLD_V,
  WORLD_W, /* hard contacts' guess */
  WORLD_STATE_BAR,
  WORLD_U_BAR,
  WORLD_ACCELERATION_BAR,
  WORLD_MULTIPLIERS,
  WORLD_BARS,
  WORLD_GROUP_ADJOINT,
  WORLD_ROW_ADJOINT,
  WORLD_ADJOINT,
  WORLD_STAGES, /* of RK4 */
  WORLD_STAGE_BARS,
  WORLD_U_SUM,
  WORLD_END,
  WORLD_GOOD,
  WORLD_BASIS,
  WORLD_JACOBIAN,
  WORLD_TANGENT_WORK,
  WORLD_MATRIX,
  WORLD_TANGENT,
  IN_U_TANGENT,
  OUT_Q_TANGENT,
  OUT_V_TANGENT,
  OUT_Q_RECORD_TANGENT,
  OUT_V_RECORD_TANGENT,
  OUT_A,
  OUT_B,
  OUT_P_MASS,
  OUT_P_FRICTION,
  OUT_P_STIFFNESS,
  OUT_P_GRAVITY,
  WORLD_LAW_KEPT, /* what a law's step leaves for its derivatives */
  OUT_ESCAPED,
  IN_SPRINGS,
  IN_A,
  OUT_INVERSE,
  OUT_SPRINGS_BAR,
  WORLD_IMPLICIT, /* the acceleration over an implicit step */
  WORLD_BUFFERS   /* from here on each law counts its own: only one is at work */
};

/* One of these, or a law's own. */
typedef size_t world_buffer;

/* Worlds of a scene, with the groups of their contacts. */
typedef struct steps_kind {
  loaded_scene *scene;
  contact_group *groups; /* of given contacts, else the scene's */
  size_t group_count;
} steps_kind;

typedef struct steps_call {
  batch_call base;
  loaded_scene *scene; /* whose shape all worlds have */
  steps_kind *kinds;   /* by the batch's groups */
  size_t kind_count;
  const abut_worlds *worlds;
  const abut_worlds_gradients *gradients; /* of a VJP, else NULL */
  const abut_worlds_tangents *tangents;   /* of a JVP */
  const abut_worlds_transition *transition;
  int *places; /* of given contacts: those of each group, one group behind the other */
} steps_call;

/* The call at work on a device. */
typedef struct steps_on {
  const resident_model **models; /* by kind */
  resident_model own;            /* of given contacts */
  buffer *places;
  uint64_t paced; /* launches of the device when keep_pace waited last */
} steps_on;

/* One step of a chunk. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  const steps_kind *kind;
  const resident_model *model;
  batch_on *on;
  size_t slot, count;
  device *device;
  bool other; /* derivatives go by the law's other choice of what contacts do */
  bool again; /* what has been computed is once more: statuses and iterations stay */
} stepping;

stepping stepping_of(batch_on *on, size_t slot, chunk c);

buffer *world_buffer_of(const stepping *s, world_buffer id);

#define OF(s, id) ARG_BUFFER(world_buffer_of(s, id))
#define MODEL(s) ARG_BUFFER((s)->model->head), ARG_BUFFER((s)->model->ints)
#define REALS(s) ARG_BUFFER((s)->model->reals)
#define PARAMETERS_OF(s)                                                      \
  ARG_BUFFER(shares_parameters(s) ? (s)->model->parameters                    \
                                  : world_buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares_parameters(s))

/* Bits of the parameters that the caller gives by world. */
int given_parameters(const abut_worlds *w);

/* All worlds have the scene's own parameters. */
bool shares_parameters(const stepping *s);

const world_sizes *sizes_of(const stepping *s);

/* Of LANES worlds, the last one maybe not full. */
size_t world_blocks(const stepping *s);

/* Called wherever launches come again and again: after so many of them it sends them off and waits
 * for those before, so that what is under way, and what the device's time-out is for, does not grow
 * with a call's steps, pairs and degrees of freedom. */
abut_status keep_pace(const stepping *s);

/* ---- contacts ---- */

/* Where the numbers of contacts are: see world_contacts. */
typedef struct contact_source {
  buffer *p, *d, *n, *activity;
  size_t row, at[4], step3, plane;
  bool rows3;
  buffer *list;
  size_t list_row;
  int places, count; /* -1: none, as the list says */
  buffer *order;     /* of what the list names: its slots, or NULL where it names slots */
  size_t slot;       /* of the first */
} contact_source;

#define SOURCE_STRIDES(c)                                                               \
  ARG_INT((c)->row), ARG_INT((c)->at[0]), ARG_INT((c)->at[1]), ARG_INT((c)->at[2]),     \
    ARG_INT((c)->at[3]), ARG_INT((c)->step3), ARG_INT((c)->plane), ARG_INT((c)->rows3), \
    ARG_BUFFER((c)->list), ARG_INT((c)->list_row), ARG_INT((c)->places), ARG_INT((c)->count)

/* Segment 0 to 3 of a pair's contacts. */
contact_source segment_source(const run *r, int segment);

/* Segments with their cotangents' places in them, as the reverse pass wants them. */
contact_source segment_bars(const run *r, int segment);

/* Group i of given contacts, `at` in the list of their places. */
contact_source given_source(const stepping *s, size_t i, int at);

/* A pair's manifold on a device, for the worlds of a slot. */
abut_status run_of(const steps_call *c, const steps_kind *kind, size_t i, batch_on *on, size_t slot,
                   run *r);

/* The manifold of pair i for the links' places that are there. */
abut_status run_pair(const stepping *s, size_t i, run *r);

/* Slots of contacts of the pairs before pair i. */
size_t slots_before(const steps_kind *k, size_t i);

/* Contacts of all pairs for the links' places that are there: those that are given, or the law's; and,
 * for laws, those of the bodies by the manifold. */
abut_status find_contacts(const stepping *s);
abut_status find_contacts_of_pairs(const stepping *s);

/* ---- steps ---- */
abut_status take(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                 world_buffer to, size_t to_width, size_t to_at, size_t width);

abut_status take_more(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                      world_buffer to, size_t to_width, size_t to_at, size_t width);

/* The controls of a step: all worlds' own row. */
abut_status step_controls(const stepping *s, size_t step);

/* Tree, contacts, and where links can move against each other, at a state. */
abut_status step_tree(const stepping *s, world_buffer q, world_buffer v);

/* Whether a step goes by v' = v + h (M - h df/dv)^-1 f; by four stages. */
bool is_implicit(const steps_call *c);
bool is_rk4(const steps_call *c);

/* Accelerations at a state, from an acceleration to start with. */
abut_status solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

/* Stage 0 to 3 of RK4, whose accelerations are known; what comes after it. */
abut_status step_stage(const stepping *s, int stage);

/* The state before the first step, and one step. */
abut_status steps_start(const stepping *s);
abut_status one_step(const stepping *s, size_t step);

/* What one_step begins with, after its controls: before it nobody knows statuses of a first step. */
abut_status check_step(const stepping *s, size_t step);

/* Whether what step_tree has found for a step is still there after it. */
bool keeps_tree(const stepping *s, size_t step);
abut_status keep_record(const stepping *s, size_t step); /* unless once more */

/* Steps a chunk of worlds, all steps one behind the other. */
abut_status steps_launch(batch_on *on, size_t slot, chunk c);

/* ---- kinds of worlds ---- */
steps_kind kind_of(loaded_scene *s);

/* Contacts of the same links and pair, group by group, to c->kinds. */
abut_status group_given(steps_call *c);

/* Worlds of several scenes: refuses what cannot be; then the batch's groups, scene by scene. */
abut_status check_scenes(const loaded_scene *own, const abut_worlds *w);
abut_status group_scenes(steps_call *c, batch_order *order);

/* ---- derivatives ---- */

/* Whether the call wants any: contacts' derivatives then. */
static inline bool is_differentiated(const steps_call *c)
{
  return c->gradients || c->tangents || c->transition;
}

/* Positions, velocities, last accelerations of a world. */
size_t state_width(const world_sizes *n);
abut_status read_state(const stepping *s, world_buffer from, size_t width, size_t at,
                       world_buffer q, world_buffer v, world_buffer w);
abut_status write_state(const stepping *s, world_buffer q, world_buffer v, world_buffer w,
                        world_buffer to, size_t width, size_t at);

/* RK4's stages from OUT_Q, OUT_V and OUT_W on, each kept in WORLD_STAGES. */
abut_status keep_stages(const stepping *s);

/* Where what a reverse pass knows of groups goes: rows of `width`, from `at` on. */
typedef struct group_rows {
  buffer *groups;
  size_t width, at;
} group_rows;

/* WORLD_GROUP_ADJOINT. */
group_rows group_rows_of(const stepping *s);

/* From WORLD_ACCELERATION_BAR, the cotangent of WORLD_ACCELERATION at WORLD_Q and WORLD_V, to
 * WORLD_STATE_BAR, WORLD_U_BAR and the block's parameters; after step_tree. */
abut_status solve_adjoint(const stepping *s);

/* Of the accelerations of a stage, of so many, by everything, to WORLD_JACOBIAN. */
abut_status acceleration_jacobian(const stepping *s, int stage, int stages);

/* The same by what unit twists of groups give, for laws whose contacts depend on nothing else of the
 * multipliers. */
abut_status jacobian_by_twists(const stepping *s, int stage, int stages);

/* For laws whose contacts are the manifold's: the manifold of pair i as it was found; the way back
 * through it for cotangents of its contacts; that of all pairs, or to contacts that are given. */
abut_status manifold_of(const stepping *s, size_t i, run *r);
abut_status manifold_adjoint(const stepping *s, const run *r, size_t i, const group_rows *to);
abut_status pairs_adjoint(const stepping *s, const group_rows *to);

/* Parts of it: a cotangent of 1 of a degree of freedom; multipliers -> the state and all else, where
 * joints accelerate so; a row of a Jacobian. */
abut_status unit_cotangent(const stepping *s, int dof, int stages);
abut_status tree_adjoint(const stepping *s, world_buffer acceleration);
abut_status put_jacobian_row(const stepping *s, int stage, int dof, int stages);

void back_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* ---- for contact laws ---- */

/* Zeroes of all slots' forces. */
abut_status clear_forces(const stepping *s, size_t width);

/* The slots of all pairs' contacts; the manifold's self-tests for them; its memory. */
size_t slots_of_pairs(const steps_call *c);
abut_status test_manifolds(const steps_call *c, size_t place);
abut_status manifold_bytes(batch_on *on, size_t slot, size_t group);

/* The way back of an explicit step: what the step has found is found once more unless it is_there. Its
 * two halves: to WORLD_ACCELERATION_BAR, and from there on. */
abut_status explicit_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status begin_adjoint(const stepping *s, size_t step);

/* ---- gradients ---- */
size_t segment_of(const steps_call *c); /* steps of one */
abut_status check_gradients(const steps_call *c);
void add_gradients(steps_call *c);
void gradient_bytes(const steps_call *c, const world_sizes *n, size_t real,
                    size_t bytes[POOL_BUFFERS]);
abut_status gradients_launch(batch_on *on, size_t slot, chunk c);

/* ---- along tangents ---- */
abut_status check_tangents(const steps_call *c);
void add_tangents(steps_call *c);
/* Numbers of a tangent: q, v, controls, parameters. */
size_t seed_width(const world_sizes *n);

void tangent_bytes(const steps_call *c, const world_sizes *n, size_t real,
                 size_t bytes[POOL_BUFFERS]);
abut_status tangent_launch(batch_on *on, size_t slot, chunk c);

/* An array of the caller's, read or written; NULL on both sides: neither given nor wanted. */
typedef struct named_array {
  const char *name;
  world_buffer id;
  size_t width;
  const void *in;
  void *out;
} named_array;

/* Those that are given or wanted. */
void add_named(steps_call *c, const named_array *all, size_t count);

/* Whole numbers of a world, where they are asked for. */
void add_counts(steps_call *c, const char *name, world_buffer id, size_t width, uint32_t *out);

/* An array of reals of a call. */
void add_reals(steps_call *c, const char *name, world_buffer id, size_t width, const void *in,
               void *out);

#endif
