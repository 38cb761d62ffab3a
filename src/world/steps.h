/* Steps of worlds on a device. The engine (engine/batch/batch.h) hands a chunk of a call's worlds to a device;
 * all steps of these worlds then run there, one behind the other. A `stepping` is such a chunk at work.
 *
 * Where a comment says that an array is (worlds, a, b), the chunk's worlds lie in it one behind the other,
 * each with an array (a, b). nq, nv and nu are the numbers of positions, degrees of freedom and actuators;
 * other sizes are those of world_sizes and the macros of geometry/world.h. */
#ifndef ABUT_WORLD_STEPS_H
#define ABUT_WORLD_STEPS_H

#include "engine/batch/batch.h"
#include "engine/batch/order.h"
#include "contact/run.h"
#include "world/loaded.h"

#define POSE_WIDTH 7     /* of a body's pose: position, quaternion */
#define POOL_OF_WORLDS 1 /* contacts of pairs are found in the other buffer pool, number 0 */

/* The buffers of the worlds' buffer pool. IN_ are inputs of the caller's and OUT_ outputs, in the shapes that
 * include/abut/world.h names. WORLD_ are the steps' own; a comment has the shape of one world's row, and rows
 * lie one behind the other unless it names blocks. BAR stands for a cotangent. A buffer that a call does not
 * use has no bytes. */
enum {
  /* State, controls, parameters and given contacts. */
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
  /* Cotangents that a VJP is given. A JVP's tangents of q and v take the first and the third of these. */
  IN_STATE_BAR,
  IN_RECORD_BAR,
  IN_ACCELERATION_BAR,
  /* The first three are the state from which the next step starts, and so the answer after the last. */
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
  /* What every step uses. */
  WORLD_ENERGY,         /* (ENERGY_REALS) energy and momentum */
  WORLD_U,              /* (nu) the controls of the step at work */
  WORLD_PARAMETERS_OF,  /* (PARAMETERS) filled where the caller gives any of them */
  WORLD_SCRATCH,        /* blocks of LANES worlds: the tree, from world_sizes' at_rotation on */
  WORLD_SINGULARS,      /* 0 where the mass matrix is positive definite, else 1 */
  /* Items and their contacts, of which only the chunk as a whole has rows. The pool is the contacts of all items, one
   * behind the other. */
  WORLD_ITEMS,          /* (items, ITEM_INTS) ints, kind by kind and world by world */
  WORLD_ITEM_COUNTS,    /* (kinds + 1, worlds) ints: items of each kind; the last row is the broad phase's own */
  WORLD_ITEM_FIRSTS,    /* (kinds + 1, worlds) ints: the first item of each kind, and the first place in the list below */
  WORLD_ENTRY_LIST,     /* (items) ints: items that have contacts, world by world */
  WORLD_ENTRY_SUMS,     /* (items, ENTRY_REALS): what the contacts of entries add up to */
  WORLD_ENTRIES,        /* (worlds, ENTRIES_INTS) ints: where a world's entries are in that list */
  WORLD_CONTACTS,       /* (pool, CONTACT_PLANES) what CONTACT_... of geometry/world.h names, item by item */
  WORLD_CONTACT_PLACES, /* (pool) ints: the place of each contact in its segment */
  WORLD_SLOTS,          /* (pool) ints: the slot of each contact, written where somebody asks */
  WORLD_POOL_SUMS,      /* (blocks of ITEM_BLOCK items) ints: what the items of a bundle take of the pool */
  WORLD_POOL_TOTALS,    /* (bundles + 1) ints: how many contacts all bundles before each one have */
  WORLD_WORK,           /* (work) the memory of Newton's method */
  WORLD_ORDER,          /* (ORDER_INTS) ints: its graph of trees and their order of elimination */
  WORLD_ORDER_SUMS,     /* two ints; the chunk as a whole has one for each block of ITEM_BLOCK worlds, and one */
  WORLD_NEXT_Q,         /* (nq) the state after the step, until it is accepted */
  WORLD_NEXT_V,         /* (nv) */
  WORLD_ACCELERATION,   /* (nv) what a law's `solve` finds */
  WORLD_CONSTRAINT_FORCE, /* (nv) J' lambda, the sum of contacts, limits and friction losses */
  /* Of RK4: a stage's state, its rates, and the sums over stages of rates and accelerations. */
  WORLD_STAGE_Q, /* (nq) */
  WORLD_STAGE_V, /* (nv) */
  WORLD_RATES,   /* (nv) */
  WORLD_SUMS,    /* (2 nv) */
  /* The gradients of a VJP. The tangents of parameters that a JVP is given take OUT_MASS_BAR to
   * OUT_GRAVITY_BAR. */
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
  /* States of a rollout: a state is q, v and the last acceleration, state_width numbers. */
  WORLD_CHECKPOINTS, /* (segments, state_width) where each segment begins */
  WORLD_SEGMENT,     /* (steps of a segment + 1, state_width) all states of the segment at work */
  WORLD_ITERATIONS,  /* takes OUT_ITERATIONS' place where steps are computed a second time */
  /* The step that is differentiated: the state before it, and the cotangents of a reverse pass. */
  WORLD_Q,                /* (nq) */
  WORLD_V,                /* (nv) */
  WORLD_W,                /* (nv) the acceleration from which the step was solved, for `keeps_guess` */
  WORLD_STATE_BAR,        /* (2 nv) of q' and v', then in their place of q and v */
  WORLD_U_BAR,            /* (nu) */
  WORLD_ACCELERATION_BAR, /* (nv) b of docs/cone.md, section 10 */
  WORLD_MULTIPLIERS,      /* (nv) y = H^-1 b there */
  WORLD_BARS,             /* (pool, BAR_PLANES) of each contact's p, d, n and activity */
  WORLD_GROUP_ADJOINT,    /* (items, GROUP_ADJOINT); springs have (worlds, groups, GROUP_ADJOINT) */
  WORLD_ROW_ADJOINT,      /* (ROW_ADJOINT, nv) */
  WORLD_ADJOINT,          /* blocks of LANES worlds, from world_sizes' at_back_links on */
  /* Of RK4: q, v, acceleration and rates of each stage; the cotangents of the step's q and v and of the
   * stages' rates and accelerations; the sum of the stages' cotangents of controls. */
  WORLD_STAGES,     /* (4, nq + 3 nv) */
  WORLD_STAGES_KEPT, /* (steps, 4, nq + 3 nv) those of steps of the segment at work before its last one */
  WORLD_STAGE_BARS, /* (10, nv) */
  WORLD_U_SUM,      /* (nu) */
  WORLD_END,        /* (state_width) the rollout's last state, while a reverse pass uses OUT_Q to OUT_W */
  WORLD_GOOD,       /* an int: 0 where the step of a world has no derivatives */
  /* Of Jacobians and tangents. Rows of `seed_width` numbers are by q, v, controls and parameters. */
  WORLD_BASIS,        /* (6 or nv, items, GROUP_ADJOINT), see basis_by_dof of law/law.h; springs have (worlds, 6,
                         groups, GROUP_ADJOINT) */
  WORLD_JACOBIAN,     /* (stages, nv, seed_width) of the accelerations */
  WORLD_TANGENT_WORK, /* (2 seed_width + 8 nv) memory */
  WORLD_MATRIX,       /* (2 nv, seed_width) of the whole step */
  WORLD_TANGENT,      /* (seed_width) */
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
  WORLD_KEPT, /* what a law's step leaves for its derivatives; only hard contacts have it */
  OUT_ESCAPED,    /* how hard contacts' derivatives went: docs/lcp-formulas.md, section 9 */
  /* Of springs. */
  IN_SPRINGS,
  IN_A,
  OUT_INVERSE,
  OUT_SPRINGS_BAR,
  WORLD_IMPLICIT, /* (nv) the acceleration (v' - v) / h of an implicit step */
  /* Of scenes that sweep. */
  SWEEP_FROM,       /* (nq) where the rest of the step begins */
  SWEEP_MEET,       /* (nq) memory: where bodies meet */
  SWEEP_TREE,       /* as WORLD_SCRATCH: links at SWEEP_FROM */
  SWEEP_END_TREE,   /* links at WORLD_NEXT_Q; then links where bodies meet, and the mass matrix there */
  SWEEP_MARKS,      /* (SWEEP_INTS) ints: what sweeping knows of a world */
  SWEEP_STATE,      /* (SWEEP_REALS) */
  SWEEP_ROOM,       /* (SWEEP_WORK) memory of an impact */
  SWEEP_FROM_1,     /* (7) poses of the bodies of the pair at work, and what ccd_bodies says of them */
  SWEEP_TO_1,
  SWEEP_FROM_2,
  SWEEP_TO_2,
  SWEEP_TIME,
  SWEEP_FOUND,      /* a byte */
  SWEEP_KIND,
  SWEEP_FEATURE_1,
  SWEEP_FEATURE_2,
  SWEEP_P1,
  SWEEP_P2,
  SWEEP_NORMAL,
  SWEEP_CANDIDATES,
  SWEEP_PLACES,
  /* Of their derivatives. */
  SWEEP_V,          /* (nv) the velocity at the step's end before any impact */
  SWEEP_KEPT,       /* (SWEEP_EVENTS + 1, SWEEP_KEPT_REALS) what the step's impacts have acted on */
  SWEEP_KEPT_ROWS,  /* (SWEEP_KEPT_ROW) ints */
  SWEEP_DUALS_OF,   /* (LANES, SWEEP_DUAL_REALS) memory */
  SWEEP_BARS,       /* (SWEEP_SEED + SWEEP_SEEDS) cotangents of what an impact acts on, first of q */
  SWEEP_SLOPES,     /* (links + columns) cotangents of mass scales and of friction */
  /* Of the broad phase. Of the last two only the chunk as a whole has rows. */
  BROAD_BOXES,    /* blocks of LANES worlds: (bodies, BROAD_NUMBERS) */
  BROAD_MASKS,    /* (runs) ints, a bit for each candidate that is kept */
  BROAD_SUMS,     /* (kinds + 1, blocks of ITEM_BLOCK worlds) ints: items before each block */
  BROAD_TOTALS,   /* (kinds) ints */
  OUT_COUNTS,     /* (WORLD_COUNTS) ints */
  OUT_FAST_LINKS, /* (2) ints */
  WORLD_BUFFERS   /* Each law numbers its own buffers from here on: a call has one law. */
};

/* One of these numbers, or one of a law's own. */
typedef size_t world_buffer;

/* A scene of which a call has worlds, with the groups of their contacts. */
typedef struct steps_kind {
  loaded_scene *scene;
  contact_group *groups; /* where contacts are given, groups of these; else the scene's own */
  size_t group_count;
} steps_kind;

/* A call: one of gradients, tangents and transition is there where derivatives are asked for. */
typedef struct steps_call {
  batch_call base;
  loaded_scene *scene; /* All worlds have links, joints, pairs and law of this scene. */
  steps_kind *kinds;   /* one for each of the batch's groups, see engine/batch/batch.h */
  size_t kind_count;
  const abut_worlds *worlds;
  const abut_worlds_gradients *gradients; /* of a VJP, else NULL */
  const abut_worlds_tangents *tangents;   /* of a JVP, else NULL */
  const abut_worlds_transition *transition;
  double world_bytes;  /* abut_worlds.bytes, once chunks are whole */
  bool in_world; /* `multipliers` are forces on body 1 along the world's axes, and of automatic pairs, too */
  int *places; /* which of the given contacts are those of the first group, then of the next; else NULL */
} steps_call;

/* Items of a kind that go through the manifold side by side, as one wave. */
typedef struct wave_rows {
  size_t kind, first, count; /* the first one, among the items of all kinds, and how many */
} wave_rows;

/* Waves, from the first one on, that go through the manifold side by side, and their items. */
typedef struct wave_bundle {
  size_t first, count, item, items;
} wave_bundle;

typedef struct wave_memory wave_memory;

/* The items and the pool of a device's slot, as the last find_contacts has left them. */
typedef struct slot_items {
  wave_rows *waves;
  size_t wave_count, wave_room; /* how many waves there are; how many `waves` has room for */
  wave_bundle *bundles;
  size_t bundle_count, bundle_room;
  wave_memory **memories; /* of waves that are not alone in their bundle */
  size_t memory_count, memory_room;
  size_t count, most;           /* of items; of contacts, if every slot of these had one */
  size_t item_room, pool_room;  /* how many items and contacts the chunk's buffers have room for */
} slot_items;

typedef struct item_part item_part;

/* What the call has on one device, for all its chunks. */
typedef struct steps_on {
  const resident_model **models; /* (kind_count) */
  resident_model own; /* the tables of given contacts, whose groups are not the scene's */
  buffer *places;     /* steps_call.places */
  slot_items items[DEVICE_SLOTS];
  int *totals; /* memory: how many items of each kind the broad phase has kept */
  item_part *found[DEVICE_SLOTS]; /* of a call that asks for items alone: those of a chunk until it is whole */
  ccd_scratch sweep[DEVICE_SLOTS]; /* of the kernel ccd_bodies, where scenes sweep */
  bool guessed;       /* Of some scene it was not known how many contacts its worlds have. */
  double world_bytes; /* the most memory that a world of a chunk has taken so far */
  uint64_t paced;     /* how many launches the device had counted when keep_pace last waited */
} steps_on;

/* A chunk of worlds at work. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  const steps_kind *kind;
  const resident_model *model;
  batch_on *on;
  size_t slot, count; /* the device's slot; how many worlds */
  device *device;
  bool other; /* Derivatives go by HARD_OTHER, the classes that descent chooses, not by the answer's own. */
  bool again; /* Steps are computed a second time, for a reverse pass: the first time has set what the
                 caller is told, so that statuses only gain bits, and iterations and records stay. */
  bool keeps_stages;  /* A step of RK4 keeps its stages in WORLD_STAGES, for its derivatives. */
  bool keeps_impacts; /* What impacts within a step act on is kept, for their derivatives. */
  int *impacts;       /* takes how many of these the world has that has most; NULL: nobody asks */
  int *segment_impacts; /* of a VJP: the same of each step of the segment at work */
} stepping;

stepping stepping_of(batch_on *on, size_t slot, chunk c);

/* A buffer of the worlds' pool as the chunk's slot has it: the pool's own, or the caller's memory. */
buffer *world_buffer_of(const stepping *s, world_buffer id);

/* Arguments of launches: a buffer, the scene's tables, and the parameters that worlds share or each has. */
#define OF(s, id) ARG_BUFFER(world_buffer_of(s, id))
#define MODEL(s) ARG_BUFFER((s)->model->head), ARG_BUFFER((s)->model->ints)
#define REALS(s) ARG_BUFFER((s)->model->reals)
/* What kernels note of whose WORLD_FAST is, and whether they do. */
#define FAST_LINKS(s) OF(s, OUT_FAST_LINKS), ARG_INT(!(s)->again && (s)->call->worlds->fast_links)
#define PARAMETERS_OF(s)                                                      \
  ARG_BUFFER(shares_parameters(s) ? (s)->model->parameters                    \
                                  : world_buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares_parameters(s))

/* Which parameters the caller gives for each world: 1 mass_scale, 2 friction, 4 stiffness, 8 gravity. */
int given_parameters(const abut_worlds *w);

/* Whether all worlds have the scene's own parameters, of which one row then serves all. */
bool shares_parameters(const stepping *s);

const world_sizes *sizes_of(const stepping *s);

/* How many blocks of LANES worlds the chunk makes; the last one need not be full. */
size_t world_blocks(const stepping *s);

/* Adds up what the caller wants to know of the solves of a call: whether it does, items and contacts, and islands, of which
 * only laws know that have an order of elimination. */
bool counts_work(const stepping *s);
abut_status count_contacts_of(const stepping *s);
abut_status count_islands_of(const stepping *s);

/* Is called wherever launches repeat. After so many of them it sends them off and waits for those before,
 * because the device's time-out bounds what is under way, and that would grow with a call's steps, pairs
 * and degrees of freedom. */
abut_status keep_pace(const stepping *s);

/* ---- contacts ----
 *
 * The contacts of an item are counted, get their place in the pool WORLD_CONTACTS, and are written there segment by
 * segment (SEGMENTS_MOST of geometry/world.h). The manifold leaves the four segments of a pair in four places, of
 * which a contact_source describes one; given contacts are one segment. */

/* Where a segment's contacts lie, as the kernel world_contacts takes it. */
typedef struct contact_source {
  buffer *p, *d, *n, *activity;
  buffer *list; /* which contacts there are; NULL: all of them */
  contact_layout layout;
  buffer *order; /* the slots of what the list names; NULL where the list names slots themselves */
  size_t slot;   /* the slot of the segment's first contact, within its pair */
} contact_source;

#define SOURCE(c)                                                                        \
  ARG_BUFFER((c)->p), ARG_BUFFER((c)->d), ARG_BUFFER((c)->n), ARG_BUFFER((c)->activity), \
    ARG_BUFFER((c)->list), ARG_STRUCT((c)->layout)

/* Where the manifold leaves the contacts of segment 0 to 3 of its pair. */
contact_source segment_source(const run *r, int segment);

/* Where the manifold's reverse pass reads the cotangents of these contacts. */
contact_source segment_bars(const run *r, int segment);

/* Where the given contacts of group i lie, whose places begin at `at` in steps_call.places. */
contact_source given_source(const stepping *s, size_t i, int at);

/* ---- waves ----
 *
 * Pairs of equal bodies and smoothings are of one kind. The items of a kind are its pairs in each of the
 * chunk's worlds, world by world, and go through the manifold side by side, in waves of as many as its memory
 * holds. Given contacts have a kind for each of their groups, which no manifold computes. */
typedef struct item_wave {
  run run;      /* of the kind's pairs; empty where contacts are given */
  size_t index; /* which wave it is */
  wave_rows rows;
} item_wave;

/* Arguments of launches: all items with the first one of a wave, and what kernels of worlds read of contacts. */
#define WAVE_ITEMS(s, w) OF(s, WORLD_ITEMS), ARG_INT((w)->rows.first)
#define ENTRIES(s) \
  OF(s, WORLD_CONTACTS), OF(s, WORLD_ITEMS), OF(s, WORLD_ENTRY_LIST), OF(s, WORLD_ENTRIES)

/* A buffer of the manifold's pool: panels of worlds that have no room for them in WORLD_WORK. */
#define PANEL_POOL (BATCH_ROWS - 1)
_Static_assert(SCRATCH_BUFFERS <= PANEL_POOL, "panels lie behind the manifold's buffers");

/* Whether contacts of the call's worlds are in a pool: they are given, or the manifold finds them. */
bool finds_items(const steps_call *c);

slot_items *items_of(const stepping *s);

/* How many kinds of items the chunk's worlds have. */
size_t kind_count_of(const stepping *s);

/* Finds the kinds of a scene's pairs. */
abut_status kinds_of_pairs(loaded_scene *s);

/* How many bytes of a device's memory waves may take, in all of its slots. */
uint64_t wave_bytes(const batch_on *on);

/* Sets the bytes that a world's items and contacts take of each buffer, as far as they are known before they are found:
 * by what the scene's worlds have had so far. */
void pool_bytes(const steps_call *c, const steps_kind *k, size_t place, const world_sizes *n, size_t real,
                size_t bytes[POOL_BUFFERS]);

/* Bounds the worlds of a chunk that is differentiated to as many as one wave has, where that is all of a step's items: what the
 * reverse pass needs is then there still, and no wave is run again. */
abut_status bound_by_waves(batch_on *on, size_t slot, size_t group);

/* Makes room for the waves of a chunk, and lists the items where none are left out. */
abut_status waves_start(const stepping *s);

/* Makes room for items and, of the pool, for contacts. Buffers must not grow while kernels run, since what waits for these
 * then tells nobody of a failure: it is called before the first one is launched, or after a read. */
abut_status grow_pool(const stepping *s, size_t items, size_t contacts);

/* Refuses, as want of memory, a pool of so many contacts, where the chunk was sized by a guess, has several worlds and
 * would take more than is meant for it: it is done again smaller then. One that was sized by what its worlds have had is
 * let grow, since a long call would lose its steps. */
abut_status check_budget(const stepping *s, size_t contacts);

/* Notes what a world of the chunk takes of the memory that it has now (abut_worlds.bytes). */
void note_bytes(const stepping *s);

/* Makes the waves of items of which each kind has totals[kind], and counts them. */
abut_status list_waves(const stepping *s, const int *totals);

/* Keeps in mind how many items a world needs, of those that are listed, by the mean of the chunk. */
void note_items(const stepping *s);

/* Whether there may be room for so many contacts from the start: then nobody need count them. */
bool pool_is_small(const stepping *s, size_t contacts);

/* Sets *r to the manifold of a kind of a scene's pairs on a device, for the items of a slot; it launches nothing. */
abut_status run_of(const steps_call *c, const steps_kind *kind, size_t which, batch_on *on, size_t slot, run *r);

/* Runs the manifold of a wave, for the places of links that the last step_tree has left. */
abut_status run_wave(const stepping *s, const item_wave *w);

/* Sets the bytes that an item of a manifold takes of each buffer, and returns their sum. */
size_t bytes_of_run(const steps_call *c, const run *r, size_t bytes[SCRATCH_BUFFERS]);

/* Where a device merges launches, waves are bundled that have room beside each other: each of their kernels is then
 * launched once for all of them. Elsewhere each wave is a bundle. list_bundles makes those of the waves that are listed,
 * with room for them, as grow_pool does. */
abut_status list_bundles(const stepping *s);
void bundles_free(slot_items *own);

/* The items of a bundle as one wave, which has no manifold and is of no kind. */
item_wave bundle_items(const stepping *s, size_t i);

/* Has `work` launch what it has to for each wave of bundle i of the last find_contacts. Waves do not wait for each other. */
typedef abut_status (*wave_work)(const stepping *s, const item_wave *w, const void *user);
abut_status each_wave(const stepping *s, size_t i, wave_work work, const void *user);

/* How many slots of contacts the pairs before pair i have: contacts of pair i begin there in
 * `multipliers`. */
size_t slots_before(const steps_kind *k, size_t i);

/* Finds the contacts of all pairs for the places of links that the last tree kernel has left: takes those
 * that are given, or has the law find its own. find_contacts_of_pairs is how laws find them by manifolds. */
abut_status find_contacts(const stepping *s);
abut_status find_contacts_of_pairs(const stepping *s);

/* ---- steps ----
 *
 * A step is: its controls, a check of the state, the tree and contacts there, the law's acceleration, then
 * the integrator, which asks for more solves with RK4, and the sweep of scenes that have it; at last each world
 * takes the new state or stops. */

/* For each world, copies `width` numbers from its row in `from`, which is from_width wide, from from_at on,
 * to its row in `to`. take_more adds them to what is there. */
abut_status take(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                 world_buffer to, size_t to_width, size_t to_at, size_t width);

abut_status take_more(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                      world_buffer to, size_t to_width, size_t to_at, size_t width);

/* Fills rows of `width` numbers with zeros. */
abut_status clear_rows(const stepping *s, world_buffer rows, size_t width);

/* Copies each world's controls of a step to WORLD_U. */
abut_status step_controls(const stepping *s, size_t step);

/* Fills WORLD_SCRATCH with the tree at a state, without mobilities. */
abut_status place_worlds(const stepping *s, world_buffer q, world_buffer v);

/* Fills WORLD_SCRATCH with the tree at a state (docs/cone.md, sections 4 to 6), with mobilities where the
 * law needs them, and then finds the contacts there. */
abut_status step_tree(const stepping *s, world_buffer q, world_buffer v);

/* is_implicit: whether a step goes by v' = v + h (M - h df/dv)^-1 f (docs/spring.md, "Worlds"). is_rk4:
 * whether it has four stages (docs/cone.md, section 11). */
bool is_implicit(const steps_call *c);
bool is_rk4(const steps_call *c);

/* Has step_tree and then the law find WORLD_ACCELERATION at a state. The solver starts at `start`. */
abut_status solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

/* Ends stage 0 to 3 of RK4 once its acceleration is known: makes the next stage's state and rates, or after
 * the last one the step's end. */
abut_status step_stage(const stepping *s, int stage);

/* steps_start copies the caller's state to OUT_Q, OUT_V and OUT_W and makes rows of parameters; one_step
 * takes the state there to the one after it. */
abut_status steps_start(const stepping *s);
abut_status one_step(const stepping *s, size_t step);

/* Sets WORLD_BAD_INPUT where a state or what the caller gives for it is out of range; the first step's
 * statuses begin with this. one_step does it after step_controls. Who solves the first step before one_step
 * calls it earlier, since solving adds to statuses. */
abut_status check_step(const stepping *s, size_t step);

/* Whether WORLD_SCRATCH and the contacts still are those of a step's beginning after one_step and
 * keep_record. They are not with RK4, nor where a record's energy has moved the tree to the step's end. */
bool keeps_tree(const stepping *s, size_t step);

/* After a step, notes statuses and copies the state to the records that the caller asks for; does nothing
 * where the steps are computed a second time. */
abut_status keep_record(const stepping *s, size_t step);

/* Steps a chunk of worlds: the `launch` of calls without derivatives. */
abut_status steps_launch(batch_on *on, size_t slot, chunk c);

/* ---- kinds of worlds ----
 *
 * A call's worlds are of one scene, whose contacts may be given, or of several scenes. */

/* The kind of a scene's worlds with the scene's own groups, which it borrows. */
steps_kind kind_of(loaded_scene *s);

/* Checks given contacts and sorts them into groups, each of one pair between the same two links, since
 * kernels sum up by group. Allocates the groups of c->kinds[0] and c->places, which the caller frees. */
abut_status group_given(steps_call *c);

/* check_scenes refuses scenes whose worlds cannot be in one call with `own`. group_scenes then makes of each
 * scene a group of the batch and a kind, allocates c->kinds, and sets c->base by *order, which must live as
 * long as the call. */
abut_status check_scenes(const loaded_scene *own, const abut_worlds *w);
abut_status group_scenes(steps_call *c, batch_order *order);

/* ---- derivatives ----
 *
 * A reverse pass goes through one solve at a time (docs/cone.md, section 10): from the cotangent of its
 * acceleration to multipliers, to contacts, through the manifold to the poses of links, and through the
 * tree to the state, controls and parameters. A Jacobian is one such pass for each degree of freedom. */

/* Whether the call asks for derivatives, so that their kernels and buffers are needed. */
static inline bool is_differentiated(const steps_call *c)
{
  return c->gradients || c->tangents || c->transition;
}

/* How many numbers a state has that is kept: q, v and w, the last acceleration, one behind the other.
 * read_state and write_state copy one between three buffers and rows of `width` numbers, at `at`. */
size_t state_width(const world_sizes *n);
abut_status read_state(const stepping *s, world_buffer from, size_t width, size_t at,
                       world_buffer q, world_buffer v, world_buffer w);
abut_status write_state(const stepping *s, world_buffer q, world_buffer v, world_buffer w,
                        world_buffer to, size_t width, size_t at);

/* Derivatives of a step of RK4 go through stages, whose states are gone when the step has been made: keep_stage keeps one
 * that has just been solved in WORLD_STAGES, a row of stages_width numbers. keep_stages solves them for that alone, from
 * OUT_Q, OUT_V and OUT_W on. */
size_t stages_width(const world_sizes *n);
abut_status keep_stage(const stepping *s, int stage);
abut_status keep_stages(const stepping *s);

/* Where the cotangents of items' groups go: rows (items, GROUP_ADJOINT) from row `at` on. So the same kernels fill
 * WORLD_GROUP_ADJOINT and a part of WORLD_BASIS. */
typedef struct group_rows {
  buffer *groups;
  size_t at;
} group_rows;

/* The whole of WORLD_GROUP_ADJOINT. */
group_rows group_rows_of(const stepping *s);

/* Goes back through one solve, whose step_tree must be there: from WORLD_ACCELERATION_BAR, the cotangent of
 * WORLD_ACCELERATION at WORLD_Q and WORLD_V, to WORLD_STATE_BAR and WORLD_U_BAR. Cotangents of parameters
 * are added to those in WORLD_ADJOINT. */
abut_status solve_adjoint(const stepping *s);

/* Fills WORLD_JACOBIAN with the rows of one stage of `stages` (1 or, with RK4, 4): its acceleration by q, v,
 * controls and parameters. */
abut_status acceleration_jacobian(const stepping *s, int stage, int stages);

/* A law's `jacobian` where contacts see of the multipliers y only the relative twist that y gives the two
 * links of a group, and are linear in it. Six passes through all pairs then serve all degrees of freedom. */
abut_status jacobian_by_twists(const stepping *s, int stage, int stages);

/* Its second half: the rows of the Jacobian, of what WORLD_BASIS holds. */
abut_status jacobian_of_basis(const stepping *s, int stage, int stages);

/* For laws whose contacts are the manifold's: has `pull` and then the manifold go back through each bundle. `pull`
 * makes the cotangents of the contacts of a bundle's items in WORLD_BARS, and of their groups in *to; it is called
 * with numbers 0 to `times` - 1, each with rows of its own: those of a number come behind the last one's.
 * The manifold takes cotangents of contacts on to the forces and moments on links in *to. Where contacts are
 * given theirs are copied to the caller's arrays instead. */
typedef abut_status (*wave_pull)(const stepping *s, const item_wave *w, size_t number, const group_rows *to);
abut_status waves_adjoint(const stepping *s, const group_rows *to, size_t times, wave_pull pull);

/* The parts of a Jacobian's row. unit_cotangent makes WORLD_ACCELERATION_BAR of a cotangent that is 1 for
 * one degree of freedom of the step's own acceleration: with one stage, an Euler step, dampers act within
 * the step and change it. tree_adjoint goes from WORLD_MULTIPLIERS and the adjoints of groups and rows to
 * the state, controls and parameters, where joints accelerate by `acceleration`. put_jacobian_row copies
 * what it has found to WORLD_JACOBIAN. */
abut_status unit_cotangent(const stepping *s, int dof, int stages);
abut_status tree_adjoint(const stepping *s, world_buffer acceleration);
abut_status put_jacobian_row(const stepping *s, int stage, int dof, int stages);

/* Sets the bytes that every reverse pass needs of each buffer, for one world. */
void back_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* ---- for contact laws ---- */

/* For `forces` of laws whose contacts are the manifold's: fills OUT_MULTIPLIERS with zeros, since a slot
 * without a contact has no force, then has `put` write those of the others, in rows of `width` numbers. */
abut_status forces_of_pairs(const stepping *s,
                            abut_status (*put)(const stepping *s, size_t width));

/* The members `slots`, `test` and `bytes` of laws whose contacts are the manifold's. */
size_t slots_of_pairs(const steps_call *c);
abut_status test_manifolds(const steps_call *c, size_t place);
abut_status manifold_bytes(batch_on *on, size_t slot, size_t group);

/* explicit_step_adjoint is the `step_adjoint` of laws whose Euler steps need nothing but step_tree for their
 * derivatives; it makes that anew unless is_there. begin_adjoint is its beginning: it goes back through the
 * step's end, from WORLD_STATE_BAR to WORLD_ACCELERATION_BAR; solve_adjoint goes on from there. */
abut_status explicit_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status begin_adjoint(const stepping *s, size_t step);

/* ---- gradients ----
 *
 * A VJP keeps the states where segments of the rollout begin, and makes the states within a segment anew
 * before it goes back through it, so that memory grows with the root of the number of steps. */

/* How many steps a segment has; the last one may have fewer. */
size_t segment_of(const steps_call *c);

/* Of a VJP: refuses what cannot be, adds its arrays to the call, sets its bytes of one world, and launches a
 * chunk. */
abut_status check_gradients(const steps_call *c);
void add_gradients(steps_call *c);
void gradient_bytes(const steps_call *c, const world_sizes *n, size_t real,
                    size_t bytes[POOL_BUFFERS]);
abut_status gradients_launch(batch_on *on, size_t slot, chunk c);

/* ---- tangents ----
 *
 * A JVP and a transition make the Jacobian of each step's accelerations, and go forward through it. */

abut_status check_tangents(const steps_call *c);
void add_tangents(steps_call *c);

/* How many numbers a tangent has: of q and v (2 nv), controls (nu) and parameters (PARAMETERS). */
size_t seed_width(const world_sizes *n);

/* As gradient_bytes and gradients_launch. */
void tangent_bytes(const steps_call *c, const world_sizes *n, size_t real,
                 size_t bytes[POOL_BUFFERS]);
abut_status tangent_launch(batch_on *on, size_t slot, chunk c);

/* ---- operations ---- */

/* abut_step_worlds; in_world: steps_call.in_world. */
abut_status step_worlds(loaded_scene *s, abut_worlds *w, bool in_world);

/* What operations of worlds have in common: their `place`, `enter` and `leave` (engine/batch/batch.h). */
abut_status worlds_place(batch_on *on);
abut_status worlds_enter(batch_on *on, size_t slot, size_t group);
void worlds_leave(batch_on *on);

/* ---- arrays of calls ---- */

/* An array of the caller's that is read (in) or written (out). Where both are NULL it is neither given nor
 * asked for. */
typedef struct named_array {
  const char *name;
  world_buffer id;
  size_t width;
  const void *in;
  void *out;
} named_array;

/* Adds those arrays to the call that are given or asked for. */
void add_named(steps_call *c, const named_array *all, size_t count);

/* Adds an array of `width` whole numbers a world, unless `out` is NULL. */
void add_counts(steps_call *c, const char *name, world_buffer id, size_t width, uint32_t *out);

/* Adds an array of `width` reals a world. Where both `in` and `out` are NULL it holds zeros. */
void add_reals(steps_call *c, const char *name, world_buffer id, size_t width, const void *in,
               void *out);

#endif
