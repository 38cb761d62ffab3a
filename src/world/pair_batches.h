/* Contacts of worlds on a device, and the pair batches in which the manifold computes them. */
#ifndef ABUT_WORLD_PAIR_BATCHES_H
#define ABUT_WORLD_PAIR_BATCHES_H

#include "contact/run.h"
#include "world/stage.h"

/* ---- contacts ----
 *
 * The contacts of a world pair are counted, get a range in the pool WORLD_CONTACTS, and are written
 * there segment by segment (SEGMENTS_MOST of geometry/world.h). The manifold writes the four
 * segments of a pair to four places; a contact_source describes one of them. Given contacts have
 * one segment. */

/* Where the contacts of a segment are, as an argument of the kernel world_contacts. */
typedef struct contact_source {
  buffer *p, *d, *n, *activity;
  buffer *list; /* which contacts exist; NULL: all */
  contact_layout layout;
  buffer *order; /* the slots of the listed contacts; NULL if the list holds slots */
  size_t slot;   /* the slot of the segment's first contact in its pair */
} contact_source;

#define SOURCE(c)                                                                        \
  ARG_BUFFER((c)->p), ARG_BUFFER((c)->d), ARG_BUFFER((c)->n), ARG_BUFFER((c)->activity), \
    ARG_BUFFER((c)->list), ARG_STRUCT((c)->layout)

/* Where the manifold writes the contacts of segment 0 to 3 of its pair. */
contact_source segment_source(const run *r, int segment);

/* Where the manifold's reverse pass reads the cotangents of these contacts. */
contact_source segment_bars(const run *r, int segment);

/* Where the given contacts of group i are; their indices begin at `at` in steps_call.places. */
contact_source given_source(const stepping *s, size_t i, int at);

/* ---- pair batches ----
 *
 * Pairs with equal bodies and smoothings are of one pair type. The world pairs of a type are its
 * pairs in each world of the chunk, world by world. The manifold computes as many of them together
 * as its memory holds: a pair batch. Each group of given contacts has a type of its own, which
 * needs no manifold. */
typedef struct pair_batch {
  run run;      /* the manifold of the type's pairs; empty for given contacts */
  size_t index; /* index of the pair batch */
  batch_rows rows;
} pair_batch;

/* Launch arguments: all world pairs and the first one of a pair batch; the contacts that kernels of
 * worlds read. */
#define BATCH_PAIRS(s, w) OF(s, WORLD_PAIRS), ARG_INT((w)->rows.first)
#define ACTIVE_PAIRS(s) \
  OF(s, WORLD_CONTACTS), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS)

/* A buffer of the manifold's pool, for panels that are too large for WORLD_WORK. */
#define PANEL_POOL (BATCH_ROWS - 1)
_Static_assert(SCRATCH_BUFFERS <= PANEL_POOL, "panels lie behind the manifold's buffers");

/* Whether the contacts of the call's worlds are in a pool: they are given, or found by the
 * manifold. */
bool finds_pairs(const steps_call *c);

slot_pairs *slot_pairs_of(const stepping *s);

/* Returns the number of pair types of the chunk's worlds. */
size_t pair_type_count_of(const stepping *s);

/* Finds the pair types of a scene. */
abut_status find_pair_types(loaded_scene *s);

/* Returns how much of a device's memory pair batches may use, over all its slots. */
uint64_t pair_batch_bytes(const batch_on *on);

/* Sets the bytes per world of each buffer for world pairs and contacts. Before these are found, the
 * sizes are estimates from earlier worlds of the scene. */
void pool_bytes(const steps_call *c, const world_type *k, size_t place, const world_sizes *n,
                size_t real, size_t bytes[POOL_BUFFERS]);

/* Limits a differentiated chunk to the worlds of one pair batch, if that batch covers all world
 * pairs of a step. Then the data for the reverse pass is still there and the batch need not run
 * again. */
abut_status bound_by_pair_batch(batch_on *on, size_t slot, size_t group);

/* Allocates memory for the pair batches of a chunk. Without a broad phase it also lists the world
 * pairs. */
abut_status pair_batches_start(const stepping *s);

/* Allocates memory for world pairs and, in the pool, for contacts. Buffers must not grow while
 * kernels run, because a failure of these would go unreported. Call this before the first launch or
 * after a read. */
abut_status grow_pool(const stepping *s, size_t pairs, size_t contacts);

/* Fails for lack of memory if a pool of `contacts` contacts exceeds the chunk's budget. Only a
 * chunk of several worlds that was sized by a guess can fail; it is retried with fewer worlds. A
 * chunk that was sized from earlier worlds may grow, since a long call would lose its steps. */
abut_status check_budget(const stepping *s, size_t contacts);

/* Records the memory per world that the chunk uses now (abut_worlds.bytes). */
void note_bytes(const stepping *s);

/* Makes the pair batches for totals[type] world pairs of each type. */
abut_status list_pair_batches(const stepping *s, const int *totals);

/* Records the number of listed world pairs per world, as the mean of the chunk. */
void note_pairs(const stepping *s);

/* Whether a pool for all possible contacts is small enough to allocate at once, so contacts need
 * not be counted. */
bool pool_is_small(const stepping *s, size_t contacts);

/* Sets *r to the manifold of a pair type on a device, for the world pairs of a slot, without a
 * launch. run_of also uploads the pair and its bodies. run_sizes only provides sizes: most pair
 * types of a scene are never near, and some devices are slow to create buffers. */
abut_status run_of(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                   size_t slot, run *r);
abut_status run_sizes(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                      size_t slot, run *r);

/* Runs the manifold of a pair batch for the link poses of the last step_tree. */
abut_status run_pair_batch(const stepping *s, const pair_batch *w);

/* Sets the bytes of each buffer per world pair of a manifold, and returns their sum. */
size_t bytes_of_run(const steps_call *c, const run *r, size_t bytes[SCRATCH_BUFFERS]);

/* If the device merges launches, pair batches that fit into memory together form a launch set: each
 * of their kernels is launched once for all of them. Otherwise each pair batch is a launch set of
 * its own. list_launch_sets makes the sets of the listed pair batches and allocates their memory;
 * the condition of grow_pool applies. */
abut_status list_launch_sets(const stepping *s);
void launch_sets_free(slot_pairs *own);

/* The world pairs of a launch set as one pair batch, without manifold or type. */
pair_batch launch_set_pairs(const stepping *s, size_t i);

/* Calls `work` for each pair batch of launch set i of the last find_contacts; `work` launches its
 * kernels. Pair batches do not wait for each other. */
typedef abut_status (*pair_batch_work)(const stepping *s, const pair_batch *w, const void *user);
abut_status each_pair_batch(const stepping *s, size_t i, pair_batch_work work, const void *user);

/* Returns the number of contact slots of the pairs before pair i, where pair i begins in
 * `multipliers`. */
size_t slots_before(const world_type *k, size_t i);

/* Finds the contacts of all pairs for the link poses of the last tree kernel: uses the given
 * contacts, or calls the law. find_contacts_of_pairs is for laws whose contacts come from the
 * manifold. */
abut_status find_contacts(const stepping *s);
abut_status find_contacts_of_pairs(const stepping *s);

/* ---- for contact laws ---- */

/* For `forces` of laws whose contacts come from the manifold: zeroes OUT_MULTIPLIERS, then calls
 * `put` to write the forces of existing contacts, in rows of `width` numbers. */
abut_status forces_of_pairs(const stepping *s, abut_status (*put)(const stepping *s, size_t width));

/* The members `slots`, `test` and `bytes` of laws whose contacts come from the manifold. */
size_t slots_of_pairs(const steps_call *c);
abut_status test_manifolds(const steps_call *c, size_t place);
abut_status manifold_bytes(batch_on *on, size_t slot, size_t group);

#endif
