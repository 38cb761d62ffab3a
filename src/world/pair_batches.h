/* Where the contacts of worlds lie on a device, and the pair batches in which the manifold computes
 * them. */
#ifndef ABUT_WORLD_PAIR_BATCHES_H
#define ABUT_WORLD_PAIR_BATCHES_H

#include "contact/run.h"
#include "world/stage.h"

/* ---- contacts ----
 *
 * The contacts of a world pair are counted, get their place in the pool WORLD_CONTACTS, and are
 * written there segment by segment (SEGMENTS_MOST of geometry/world.h). The manifold leaves the
 * four segments of a pair in four places, of which a contact_source describes one; given contacts
 * are one segment. */

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

/* ---- pair batches ----
 *
 * Pairs of equal bodies and smoothings are of one type. The world pairs of a type are its pairs in
 * each of the chunk's worlds, world by world, and go through the manifold side by side, in pair
 * batches of as many as its memory holds. Given contacts have a type for each of their groups,
 * which no manifold computes. */
typedef struct pair_batch {
  run run;      /* of the type's pairs; empty where contacts are given */
  size_t index; /* which pair batch it is */
  batch_rows rows;
} pair_batch;

/* Arguments of launches: all world pairs with the first one of a pair batch, and what kernels of
 * worlds read of contacts. */
#define BATCH_PAIRS(s, w) OF(s, WORLD_PAIRS), ARG_INT((w)->rows.first)
#define ACTIVE_PAIRS(s) \
  OF(s, WORLD_CONTACTS), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS)

/* A buffer of the manifold's pool: panels of worlds that have no room for them in WORLD_WORK. */
#define PANEL_POOL (BATCH_ROWS - 1)
_Static_assert(SCRATCH_BUFFERS <= PANEL_POOL, "panels lie behind the manifold's buffers");

/* Whether contacts of the call's worlds are in a pool: they are given, or the manifold finds
 * them. */
bool finds_pairs(const steps_call *c);

slot_pairs *slot_pairs_of(const stepping *s);

/* How many types of world pairs the chunk's worlds have. */
size_t pair_type_count_of(const stepping *s);

/* Finds the types of a scene's pairs. */
abut_status find_pair_types(loaded_scene *s);

/* How many bytes of a device's memory pair batches may take, in all of its slots. */
uint64_t pair_batch_bytes(const batch_on *on);

/* Sets the bytes that a world's world pairs and contacts take of each buffer, as far as they are
 * known before they are found: by what the scene's worlds have had so far. */
void pool_bytes(const steps_call *c, const world_type *k, size_t place, const world_sizes *n,
                size_t real, size_t bytes[POOL_BUFFERS]);

/* Bounds the worlds of a chunk that is differentiated to as many as one pair batch has, where that
 * is all of a step's world pairs: what the reverse pass needs is then there still, and no pair
 * batch is run again. */
abut_status bound_by_pair_batch(batch_on *on, size_t slot, size_t group);

/* Makes room for the pair batches of a chunk, and lists the world pairs where none are left out. */
abut_status pair_batches_start(const stepping *s);

/* Makes room for world pairs and, of the pool, for contacts. Buffers must not grow while kernels
 * run, since what waits for these then tells nobody of a failure: it is called before the first one
 * is launched, or after a read. */
abut_status grow_pool(const stepping *s, size_t pairs, size_t contacts);

/* Refuses, as want of memory, a pool of so many contacts, where the chunk was sized by a guess, has
 * several worlds and would take more than is meant for it: it is done again smaller then. One that
 * was sized by what its worlds have had is let grow, since a long call would lose its steps. */
abut_status check_budget(const stepping *s, size_t contacts);

/* Notes what a world of the chunk takes of the memory that it has now (abut_worlds.bytes). */
void note_bytes(const stepping *s);

/* Makes the pair batches of world pairs of which each type has totals[type], and counts them. */
abut_status list_pair_batches(const stepping *s, const int *totals);

/* Keeps in mind how many world pairs a world needs, of those that are listed, by the mean of the
 * chunk. */
void note_pairs(const stepping *s);

/* Whether there may be room for so many contacts from the start: then nobody need count them. */
bool pool_is_small(const stepping *s, size_t contacts);

/* Sets *r to the manifold of a type of a scene's pairs on a device, for the world pairs of a slot;
 * it launches nothing. run_of brings the pair and its bodies there. Of run_sizes only the sizes are
 * of use: of a scene's types most are never near, and some devices take long for many buffers. */
abut_status run_of(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                   size_t slot, run *r);
abut_status run_sizes(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                      size_t slot, run *r);

/* Runs the manifold of a pair batch, for the places of links that the last step_tree has left. */
abut_status run_pair_batch(const stepping *s, const pair_batch *w);

/* Sets the bytes that a world pair of a manifold takes of each buffer, and returns their sum. */
size_t bytes_of_run(const steps_call *c, const run *r, size_t bytes[SCRATCH_BUFFERS]);

/* Where a device merges launches, pair batches are bundled that have room beside each other: each
 * of their kernels is then launched once for all of them. Elsewhere each pair batch is a launch
 * set. list_launch_sets makes those of the pair batches that are listed, with room for them, as
 * grow_pool does. */
abut_status list_launch_sets(const stepping *s);
void launch_sets_free(slot_pairs *own);

/* The world pairs of a launch set as one pair batch, which has no manifold and is of no type. */
pair_batch launch_set_pairs(const stepping *s, size_t i);

/* Has `work` launch what it has to for each pair batch of launch set i of the last find_contacts.
 * Pair batches do not wait for each other. */
typedef abut_status (*pair_batch_work)(const stepping *s, const pair_batch *w, const void *user);
abut_status each_pair_batch(const stepping *s, size_t i, pair_batch_work work, const void *user);

/* How many slots of contacts the pairs before pair i have: contacts of pair i begin there in
 * `multipliers`. */
size_t slots_before(const world_type *k, size_t i);

/* Finds the contacts of all pairs for the places of links that the last tree kernel has left: takes
 * those that are given, or has the law find its own. find_contacts_of_pairs is how laws find them
 * by manifolds. */
abut_status find_contacts(const stepping *s);
abut_status find_contacts_of_pairs(const stepping *s);

/* ---- for contact laws ---- */

/* For `forces` of laws whose contacts are the manifold's: fills OUT_MULTIPLIERS with zeros, since a
 * slot without a contact has no force, then has `put` write those of the others, in rows of `width`
 * numbers. */
abut_status forces_of_pairs(const stepping *s, abut_status (*put)(const stepping *s, size_t width));

/* The members `slots`, `test` and `bytes` of laws whose contacts are the manifold's. */
size_t slots_of_pairs(const steps_call *c);
abut_status test_manifolds(const steps_call *c, size_t place);
abut_status manifold_bytes(batch_on *on, size_t slot, size_t group);

#endif
