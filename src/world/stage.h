/* Steps of worlds on a device. The engine (engine/batch/batch.h) passes a chunk of a call's worlds
 * to a device, where all their steps run in sequence. A `stepping` is such a chunk in progress. */
#ifndef ABUT_WORLD_STAGE_H
#define ABUT_WORLD_STAGE_H

#include "engine/batch/batch.h"
#include "engine/batch/order.h"
#include "world/buffers.h"
#include "world/loaded.h"

/* The worlds of one scene in a call, with their contact groups. */
typedef struct world_type {
  loaded_scene *scene;
  contact_group *groups; /* the groups of given contacts, if any, else the scene's own */
  size_t group_count;
} world_type;

/* A call. At most one of gradients, tangents and transition is set; one is if derivatives are
 * wanted. */
typedef struct steps_call {
  batch_call base;
  loaded_scene *scene; /* All worlds share the links, joints, pairs and law of this scene. */
  world_type *types;   /* one per group of the batch, see engine/batch/batch.h */
  size_t type_count;
  const abut_worlds *worlds;
  const abut_worlds_gradients *gradients; /* of a VJP, else NULL */
  const abut_worlds_tangents *tangents;   /* of a JVP, else NULL */
  const abut_worlds_transition *transition;
  double world_bytes; /* abut_worlds.bytes, once chunks are complete */
  bool in_world; /* `multipliers` are forces on body 1 in world axes, also for automatic pairs */
  int *places;   /* indices of the given contacts, sorted by group; NULL without given contacts */
} steps_call;

/* World pairs of one pair type that the manifold computes together: a pair batch. */
typedef struct batch_rows {
  size_t type, first, count; /* first: index among the world pairs of all types */
} batch_rows;

/* Consecutive pair batches whose kernels are launched together, and their world pairs. */
typedef struct launch_set {
  size_t first, count, pair, pairs;
} launch_set;

typedef struct pair_batch_memory pair_batch_memory;

/* The world pairs and the contact pool of a device's slot, after the last find_contacts. */
typedef struct slot_pairs {
  batch_rows *pair_batches;
  size_t pair_batch_count, pair_batch_room; /* how many there are; capacity of `pair_batches` */
  launch_set *launch_sets;
  size_t launch_set_count, launch_set_room;
  pair_batch_memory **memories; /* scratch of pair batches that share a launch set with others */
  size_t memory_count, memory_room;
  size_t count, most;          /* world pairs; upper bound of their contacts, all slots counted */
  size_t pair_room, pool_room; /* capacity of the chunk's buffers, in world pairs and contacts */
} slot_pairs;

typedef struct chunk_pairs chunk_pairs;

/* The call's data on one device, shared by all its chunks. */
typedef struct steps_on {
  const resident_tables **tables; /* (type_count) */
  resident_tables own;            /* tables of given contacts, which have groups of their own */
  buffer *places;                 /* steps_call.places */
  slot_pairs pairs[DEVICE_SLOTS];
  int *totals; /* scratch: world pairs of each type that the broad phase keeps */
  chunk_pairs *found[DEVICE_SLOTS]; /* for calls that only find world pairs: those of a chunk until
                                       it is complete */
  ccd_scratch sweep[DEVICE_SLOTS];  /* scratch of the kernel ccd_bodies, for scenes that sweep */
  bool guessed;                     /* A scene's number of contacts per world was not yet known. */
  double world_bytes;               /* the most memory per world of any chunk so far */
  uint64_t paced; /* launches counted by the device at the last wait of keep_pace */
} steps_on;

/* A chunk of worlds in progress. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  const world_type *type;
  const resident_tables *tables;
  batch_on *on;
  size_t slot, count; /* the device's slot; the number of worlds */
  device *device;
  bool other; /* Derivatives use the contact classes that descent chooses (HARD_OTHER), not the
                 classes of the solution. */
  bool again; /* Steps are recomputed for a reverse pass. The first run has set the caller's
                 outputs: statuses only gain bits; iterations and records remain. */
  bool pulls_pushes;    /* The cotangents of contact forces belong to the current solve. */
  bool keeps_stages;    /* An RK4 step keeps its stages in WORLD_STAGES for its derivatives. */
  bool keeps_impacts;   /* The inputs of impacts within a step are kept for their derivatives. */
  int *impacts;         /* receives the largest number of impacts of any world; NULL: not wanted */
  int *segment_impacts; /* VJP: the same for each step of the current segment */
} stepping;

stepping stepping_of(batch_on *on, size_t slot, chunk c);

/* Returns a buffer of the worlds' pool for the chunk's slot: the pool's own, or the caller's
 * memory. */
buffer *world_buffer_of(const stepping *s, world_buffer id);

/* Launch arguments: a buffer, the scene's tables, and the parameters, shared or per world. */
#define OF(s, id) ARG_BUFFER(world_buffer_of(s, id))
#define TABLES(s) ARG_BUFFER((s)->tables->head), ARG_BUFFER((s)->tables->ints)
#define REALS(s) ARG_BUFFER((s)->tables->reals)
/* Where kernels record the links that set WORLD_FAST, and whether they do. */
#define FAST_LINKS(s) OF(s, OUT_FAST_LINKS), ARG_INT(!(s)->again && (s)->call->worlds->fast_links)
#define PARAMETERS_OF(s)                                                      \
  ARG_BUFFER(shares_parameters(s) ? (s)->tables->parameters                   \
                                  : world_buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares_parameters(s))

/* Returns which parameters the caller gives per world, as bits: 1 mass_scale, 2 friction, 4
 * stiffness, 8 gravity. */
int given_parameters(const abut_worlds *w);

/* Whether all worlds use the scene's own parameters, so one row serves all. */
bool shares_parameters(const stepping *s);

const world_sizes *sizes_of(const stepping *s);

/* Returns the number of blocks of LANES worlds in the chunk; the last block may be partial. */
size_t world_blocks(const stepping *s);

/* Statistics of the solves of a call (abut_world_count): whether they are wanted; sums of world
 * pairs and contacts; sums of islands, only for laws with an order of elimination. */
bool counts_work(const stepping *s);
abut_status count_contacts_of(const stepping *s);
abut_status count_islands_of(const stepping *s);

/* Called in every loop of launches. After a number of launches it flushes the queue and waits for
 * the earlier ones. Otherwise the work in flight would grow with a call's steps, pairs and degrees
 * of freedom, and exceed the device's time-out. */
abut_status keep_pace(const stepping *s);

/* ---- steps ----
 *
 * A step applies its controls, checks the state, computes the tree and the contacts, solves for the
 * law's acceleration, integrates (RK4 needs more solves), and sweeps if the scene does. At the end
 * each world accepts the new state or stops. */

/* For each world, copies `width` numbers from its row in `from` (from_width wide, starting at
 * from_at) to its row in `to`. add_columns adds them instead. */
abut_status copy_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                         world_buffer to, size_t to_width, size_t to_at, size_t width);

abut_status add_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                        world_buffer to, size_t to_width, size_t to_at, size_t width);

/* Fills rows of `width` numbers with zeros. */
abut_status clear_rows(const stepping *s, world_buffer rows, size_t width);

/* Copies the controls of a step to WORLD_U. */
abut_status step_controls(const stepping *s, size_t step);

/* Fills WORLD_SCRATCH with the tree at a state, without mobilities. */
abut_status place_worlds(const stepping *s, world_buffer q, world_buffer v);

/* Fills WORLD_SCRATCH with the tree at a state (docs/dev/cone-formulas.md, sections 4 to 6),
 * including mobilities if the law needs them, then finds the contacts. */
abut_status step_tree(const stepping *s, world_buffer q, world_buffer v);

/* is_implicit: whether steps use v' = v + h (M - h df/dv)^-1 f (docs/spring.md, "Worlds"). is_rk4:
 * whether steps have four stages (docs/dev/cone-formulas.md, section 11). */
bool is_implicit(const steps_call *c);
bool is_rk4(const steps_call *c);

/* Runs step_tree and the law's solver: computes WORLD_ACCELERATION at a state, starting from
 * `start`. */
abut_status solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

/* Completes stage 0 to 3 of RK4 once its acceleration is known: computes the next stage's state and
 * rates, or the end of the step after the last stage. */
abut_status step_stage(const stepping *s, int stage);

/* steps_start copies the caller's state to OUT_Q, OUT_V and OUT_W and fills the parameter rows.
 * one_step advances that state by one step. */
abut_status steps_start(const stepping *s);
abut_status one_step(const stepping *s, size_t step);

/* Sets WORLD_BAD_INPUT if a state or the caller's input for it is out of range; it initializes the
 * statuses of the first step. one_step calls it after step_controls. Solving adds to statuses, so
 * code that solves before the first one_step must call it first. */
abut_status check_step(const stepping *s, size_t step);

/* Whether WORLD_SCRATCH and the contacts still belong to the start of the step after one_step and
 * keep_record. False with RK4, and if recording energy has moved the tree to the end of the step.
 */
bool keeps_tree(const stepping *s, size_t step);

/* After a step, records statuses and copies the state to the requested records; does nothing when
 * steps are recomputed. */
abut_status keep_record(const stepping *s, size_t step);

/* Steps a chunk of worlds: the `launch` of calls without derivatives. */
abut_status steps_launch(batch_on *on, size_t slot, chunk c);

/* Whether the caller wants contact forces on links or between the bodies of pairs. */
static inline bool wants_pushes(const abut_worlds *w)
{
  return w->link_forces || w->pair_forces || w->pair_normals;
}

/* Whether the call wants derivatives, so their kernels and buffers are needed. */
static inline bool is_differentiated(const steps_call *c)
{
  return c->gradients || c->tangents || c->transition;
}

/* ---- types of worlds ----
 *
 * The worlds of a call belong to one scene, whose contacts may be given, or to several scenes. */

/* The world type of a scene with its own groups, which are borrowed. */
world_type world_type_of(loaded_scene *s);

/* Checks given contacts and sorts them into groups, since kernels sum by group; a group is one pair
 * between the same two links. Allocates the groups of c->types[0] and c->places; the caller frees
 * both. */
abut_status group_given(steps_call *c);

/* check_scenes refuses scenes whose worlds cannot share a call with `own`. group_scenes makes a
 * batch group and a world type per scene, allocates c->types, and sets c->base from *order, which
 * must outlive the call. */
abut_status check_scenes(const loaded_scene *own, const abut_worlds *w);
abut_status group_scenes(steps_call *c, batch_order *order);

/* ---- operations ---- */

/* Implements abut_step_worlds; in_world: see steps_call. */
abut_status step_worlds(loaded_scene *s, abut_worlds *w, bool in_world);

/* The `place`, `enter` and `leave` that all operations of worlds share (engine/batch/batch.h). */
abut_status worlds_place(batch_on *on);
abut_status worlds_enter(batch_on *on, size_t slot, size_t group);
void worlds_leave(batch_on *on);

/* ---- arrays of calls ---- */

/* A caller's array that is read (in) or written (out). Both NULL: absent. */
typedef struct named_array {
  const char *name;
  world_buffer id;
  size_t width;
  const void *in;
  void *out;
} named_array;

/* Adds the arrays that are present to the call. */
void add_named(steps_call *c, const named_array *all, size_t count);

/* Adds an output array of `width` integers per world, unless `out` is NULL. */
void add_counts(steps_call *c, const char *name, world_buffer id, size_t width, uint32_t *out);

/* Adds an array of `width` reals per world. If `in` and `out` are both NULL it holds zeros. */
void add_reals(steps_call *c, const char *name, world_buffer id, size_t width, const void *in,
               void *out);

#endif
