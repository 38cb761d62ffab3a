/* Steps of worlds on a device. The engine (engine/batch/batch.h) hands a chunk of a call's worlds
 * to a device; all steps of these worlds then run there, one behind the other. A `stepping` is such
 * a chunk at work. */
#ifndef ABUT_WORLD_STAGE_H
#define ABUT_WORLD_STAGE_H

#include "engine/batch/batch.h"
#include "engine/batch/order.h"
#include "world/buffers.h"
#include "world/loaded.h"

/* A scene of which a call has worlds, with the groups of their contacts. */
typedef struct world_type {
  loaded_scene *scene;
  contact_group *groups; /* where contacts are given, groups of these; else the scene's own */
  size_t group_count;
} world_type;

/* A call: one of gradients, tangents and transition is there where derivatives are asked for. */
typedef struct steps_call {
  batch_call base;
  loaded_scene *scene; /* All worlds have links, joints, pairs and law of this scene. */
  world_type *types;   /* one for each of the batch's groups, see engine/batch/batch.h */
  size_t type_count;
  const abut_worlds *worlds;
  const abut_worlds_gradients *gradients; /* of a VJP, else NULL */
  const abut_worlds_tangents *tangents;   /* of a JVP, else NULL */
  const abut_worlds_transition *transition;
  double world_bytes; /* abut_worlds.bytes, once chunks are whole */
  bool in_world;      /* `multipliers` are forces on body 1 along the world's axes, and of automatic
                         pairs, too */
  int *places; /* which of the given contacts are those of the first group, then of the next; else
                  NULL */
} steps_call;

/* World pairs of a type that go through the manifold side by side, as one pair batch. */
typedef struct batch_rows {
  size_t type, first, count; /* the first one, among the world pairs of all types, and how many */
} batch_rows;

/* Pair batches, from the first one on, that go through the manifold side by side, and their pairs.
 */
typedef struct launch_set {
  size_t first, count, pair, pairs;
} launch_set;

typedef struct pair_batch_memory pair_batch_memory;

/* The world pairs and the pool of a device's slot, as the last find_contacts has left them. */
typedef struct slot_pairs {
  batch_rows *pair_batches;
  size_t pair_batch_count, pair_batch_room; /* how many there are; capacity of `pair_batches` */
  launch_set *launch_sets;
  size_t launch_set_count, launch_set_room;
  pair_batch_memory **memories; /* of pair batches that are not alone in their launch set */
  size_t memory_count, memory_room;
  size_t count, most;          /* of world pairs; of contacts, if every slot of these had one */
  size_t pair_room, pool_room; /* capacity of the chunk's buffers, in world pairs and contacts */
} slot_pairs;

typedef struct chunk_pairs chunk_pairs;

/* What the call has on one device, for all its chunks. */
typedef struct steps_on {
  const resident_tables **tables; /* (kind_count) */
  resident_tables own; /* the tables of given contacts, whose groups are not the scene's */
  buffer *places;      /* steps_call.places */
  slot_pairs pairs[DEVICE_SLOTS];
  int *totals; /* memory: how many world pairs of each type the broad phase has kept */
  chunk_pairs *found[DEVICE_SLOTS]; /* of a call that asks for world pairs alone: those of a chunk
                                     until it is whole */
  ccd_scratch sweep[DEVICE_SLOTS];  /* of the kernel ccd_bodies, where scenes sweep */
  bool guessed;       /* Of some scene it was not known how many contacts its worlds have. */
  double world_bytes; /* the most memory that a world of a chunk has taken so far */
  uint64_t paced;     /* how many launches the device had counted when keep_pace last waited */
} steps_on;

/* A chunk of worlds at work. */
typedef struct stepping {
  const steps_call *call;
  const steps_on *at;
  const world_type *type;
  const resident_tables *tables;
  batch_on *on;
  size_t slot, count; /* the device's slot; how many worlds */
  device *device;
  bool other; /* Derivatives go by HARD_OTHER, the classes that descent chooses, not by the
                 answer's own. */
  bool again; /* Steps are computed a second time, for a reverse pass: the first time has set what
                 the caller is told, so that statuses only gain bits, and iterations and records
                 stay. */
  bool pulls_pushes;    /* Cotangents of what contacts push with are of the solve at work. */
  bool keeps_stages;    /* A step of RK4 keeps its stages in WORLD_STAGES, for its derivatives. */
  bool keeps_impacts;   /* What impacts within a step act on is kept, for their derivatives. */
  int *impacts;         /* takes how many of these the world has that has most; NULL: nobody asks */
  int *segment_impacts; /* of a VJP: the same of each step of the segment at work */
} stepping;

stepping stepping_of(batch_on *on, size_t slot, chunk c);

/* A buffer of the worlds' pool as the chunk's slot has it: the pool's own, or the caller's
 * memory. */
buffer *world_buffer_of(const stepping *s, world_buffer id);

/* Arguments of launches: a buffer, the scene's tables, and the parameters that worlds share or each
 * has. */
#define OF(s, id) ARG_BUFFER(world_buffer_of(s, id))
#define TABLES(s) ARG_BUFFER((s)->tables->head), ARG_BUFFER((s)->tables->ints)
#define REALS(s) ARG_BUFFER((s)->tables->reals)
/* What kernels note of whose WORLD_FAST is, and whether they do. */
#define FAST_LINKS(s) OF(s, OUT_FAST_LINKS), ARG_INT(!(s)->again && (s)->call->worlds->fast_links)
#define PARAMETERS_OF(s)                                                      \
  ARG_BUFFER(shares_parameters(s) ? (s)->tables->parameters                   \
                                  : world_buffer_of(s, WORLD_PARAMETERS_OF)), \
    ARG_INT(shares_parameters(s))

/* Which parameters the caller gives for each world: 1 mass_scale, 2 friction, 4 stiffness, 8
 * gravity. */
int given_parameters(const abut_worlds *w);

/* Whether all worlds have the scene's own parameters, of which one row then serves all. */
bool shares_parameters(const stepping *s);

const world_sizes *sizes_of(const stepping *s);

/* How many blocks of LANES worlds the chunk makes; the last one need not be full. */
size_t world_blocks(const stepping *s);

/* Adds up what the caller wants to know of the solves of a call: whether it does, world pairs and
 * contacts, and islands, of which only laws know that have an order of elimination. */
bool counts_work(const stepping *s);
abut_status count_contacts_of(const stepping *s);
abut_status count_islands_of(const stepping *s);

/* Is called wherever launches repeat. After so many of them it sends them off and waits for those
 * before, because the device's time-out bounds what is under way, and that would grow with a call's
 * steps, pairs and degrees of freedom. */
abut_status keep_pace(const stepping *s);

/* ---- steps ----
 *
 * A step is: its controls, a check of the state, the tree and contacts there, the law's
 * acceleration, then the integrator, which asks for more solves with RK4, and the sweep of scenes
 * that have it; at last each world takes the new state or stops. */

/* For each world, copies `width` numbers from its row in `from`, which is from_width wide, from
 * from_at on, to its row in `to`. add_columns adds them to what is there. */
abut_status copy_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                         world_buffer to, size_t to_width, size_t to_at, size_t width);

abut_status add_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                        world_buffer to, size_t to_width, size_t to_at, size_t width);

/* Fills rows of `width` numbers with zeros. */
abut_status clear_rows(const stepping *s, world_buffer rows, size_t width);

/* Copies each world's controls of a step to WORLD_U. */
abut_status step_controls(const stepping *s, size_t step);

/* Fills WORLD_SCRATCH with the tree at a state, without mobilities. */
abut_status place_worlds(const stepping *s, world_buffer q, world_buffer v);

/* Fills WORLD_SCRATCH with the tree at a state (docs/dev/cone-formulas.md, sections 4 to 6), with
 * mobilities where the law needs them, and then finds the contacts there. */
abut_status step_tree(const stepping *s, world_buffer q, world_buffer v);

/* is_implicit: whether a step goes by v' = v + h (M - h df/dv)^-1 f (docs/spring.md, "Worlds").
 * is_rk4: whether it has four stages (docs/dev/cone-formulas.md, section 11). */
bool is_implicit(const steps_call *c);
bool is_rk4(const steps_call *c);

/* Has step_tree and then the law find WORLD_ACCELERATION at a state. The solver starts at
 * `start`. */
abut_status solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start);

/* Ends stage 0 to 3 of RK4 once its acceleration is known: makes the next stage's state and rates,
 * or after the last one the step's end. */
abut_status step_stage(const stepping *s, int stage);

/* steps_start copies the caller's state to OUT_Q, OUT_V and OUT_W and makes rows of parameters;
 * one_step takes the state there to the one after it. */
abut_status steps_start(const stepping *s);
abut_status one_step(const stepping *s, size_t step);

/* Sets WORLD_BAD_INPUT where a state or what the caller gives for it is out of range; the first
 * step's statuses begin with this. one_step does it after step_controls. Who solves the first step
 * before one_step calls it earlier, since solving adds to statuses. */
abut_status check_step(const stepping *s, size_t step);

/* Whether WORLD_SCRATCH and the contacts still are those of a step's beginning after one_step and
 * keep_record. They are not with RK4, nor where a record's energy has moved the tree to the step's
 * end. */
bool keeps_tree(const stepping *s, size_t step);

/* After a step, notes statuses and copies the state to the records that the caller asks for; does
 * nothing where the steps are computed a second time. */
abut_status keep_record(const stepping *s, size_t step);

/* Steps a chunk of worlds: the `launch` of calls without derivatives. */
abut_status steps_launch(batch_on *on, size_t slot, chunk c);

/* Whether the caller asks for what contacts push links with, or bodies of pairs each other. */
static inline bool wants_pushes(const abut_worlds *w)
{
  return w->link_forces || w->pair_forces || w->pair_normals;
}

/* Whether the call asks for derivatives, so that their kernels and buffers are needed. */
static inline bool is_differentiated(const steps_call *c)
{
  return c->gradients || c->tangents || c->transition;
}

/* ---- types of worlds ----
 *
 * A call's worlds are of one scene, whose contacts may be given, or of several scenes. */

/* The type of a scene's worlds with the scene's own groups, which it borrows. */
world_type world_type_of(loaded_scene *s);

/* Checks given contacts and sorts them into groups, each of one pair between the same two links,
 * since kernels sum up by group. Allocates the groups of c->types[0] and c->places, which the
 * caller frees. */
abut_status group_given(steps_call *c);

/* check_scenes refuses scenes whose worlds cannot be in one call with `own`. group_scenes then
 * makes of each scene a group of the batch and a type, allocates c->types, and sets c->base by
 * *order, which must live as long as the call. */
abut_status check_scenes(const loaded_scene *own, const abut_worlds *w);
abut_status group_scenes(steps_call *c, batch_order *order);

/* ---- operations ---- */

/* abut_step_worlds; in_world: steps_call.in_world. */
abut_status step_worlds(loaded_scene *s, abut_worlds *w, bool in_world);

/* What operations of worlds have in common: their `place`, `enter` and `leave`
 * (engine/batch/batch.h). */
abut_status worlds_place(batch_on *on);
abut_status worlds_enter(batch_on *on, size_t slot, size_t group);
void worlds_leave(batch_on *on);

/* ---- arrays of calls ---- */

/* An array of the caller's that is read (in) or written (out). Where both are NULL it is neither
 * given nor asked for. */
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
