/* Computes active contacts alone, at the price of those that can be active; and the contacts of a
 * caller's list. */
#ifndef ABUT_CONTACT_ACTIVE_H
#define ABUT_CONTACT_ACTIVE_H

#include "contact/run.h"

/* The cutoff for lists that the caller gives, whose contacts may be of any activity. It only has to
 * be a cutoff. */
#define ANY_CUTOFF 0.5

/* Returns the activity below which nothing needs to be computed for contacts of at least
 * `threshold`. */
double active_cutoff(const pair *p, double threshold);

/* Tells whether bounds can decide what reaches a cutoff for a pair, or a run's, and whether
 * derivatives of some contacts can do without the others. */
bool pair_can_skip_inactive(const pair *p, double cutoff);
bool can_skip_inactive(const run *r, double cutoff);

/* Returns the distance of an opposing body, at least 0, from which on no contact is more active
 * than the cutoff. */
double active_reach(const abut_smoothing *s, double cutoff);

/* Returns by which part of its length an edge's point may lie beyond one of its ends. */
double edge_overshoot(const abut_smoothing *s);

/* Of edges in fields. field_slope is the most by which a body's field grows along a distance, as
 * bounds take it. edge_field_reach is how far beyond its radius from the other body's field an edge
 * of body `side` may be that has an active contact: its depth is divided by that slope, before the
 * radius is taken off. */
double field_slope(const abut_body_info *field);
double edge_field_reach(const body *const bodies[2], int side, double reach);

/* Two of a pair's reals (PAIR_REALS). Every point of an edge lies within edge_part of its length
 * from one of its ends. A selection needs exact distances of the nearest edges even where nothing
 * touches: scored_reach is how far it looks at first, and where that is not enough it asks for
 * more. */
double edge_part(const abut_smoothing *s);
double scored_reach(const resident_body *b, size_t selected);

/* Sets what run_active and run_listed need beside the poses and the selected edges. */
void active_sizes(const run *r, sizes *s);

/* Lists and computes what can reach wanted.cutoff. */
abut_status run_active(const run *r, size_t poses);

/* What may follow run_active. run_active_sums writes sums of activity and of energy to
 * SCRATCH_REDUCED. run_active_counts writes to SCRATCH_OFFSETS how many contacts of at least
 * `threshold` the poses have; run_entries writes these contacts to SCRATCH_LIST and SCRATCH_VALUES,
 * for which it makes room of `capacity` entries. */
abut_status run_active_sums(const run *r, size_t poses);
abut_status run_active_counts(const run *r, size_t poses, double threshold);
abut_status run_entries(const run *r, size_t poses, double threshold, size_t capacity);

/* A list of `count` entries on a device: the offsets of the poses' entries, and the entries' slots,
 * which begin with the `at`th int and are `step` ints apart. */
typedef struct entry_list {
  buffer *offsets, *slots;
  size_t at, step, count;
} entry_list;

#define ENTRY_LIST(l)                                                                     \
  ARG_BUFFER((l)->offsets), ARG_BUFFER((l)->slots), ARG_INT((l)->at), ARG_INT((l)->step), \
    ARG_INT((l)->count)

/* run_listed reads a list and prepares its contacts. Then run_listed_values computes their values,
 * with derivatives on duals, and run_listed_rows writes those of `room` entries, from `first` on,
 * to SCRATCH_ROWS. */
abut_status run_listed(const run *r, size_t poses, const entry_list *list);
abut_status run_listed_values(const run *r, size_t poses);
abut_status run_listed_rows(const run *r, size_t poses, size_t first, size_t room);

/* Does what run_listed_rows does, for a run that has computed all contacts. */
abut_status run_picked_rows(const run *r, size_t poses, const entry_list *list, size_t first,
                            size_t room);

/* The pass back from cotangents of listed contacts, which take the place of their values, to
 * SCRATCH_GRADIENT_*. Before run_active_reverse the cotangents are put there: run_row_bars takes
 * those of the caller's entries from SCRATCH_ROWS, run_sum_bars makes those of a sum over what is
 * active. active_reverse_sizes sets what the pass needs. */
void active_reverse_sizes(const run *r, sizes *s);
abut_status run_row_bars(const run *r, size_t poses);
abut_status run_sum_bars(const run *r, size_t poses, bool energy);
abut_status run_active_reverse(const run *r, size_t poses);

/* ---- shared by the two passes ---- */
bool lists_vertices(const run *r, int side);
size_t near_plane(const run *r); /* how many numbers a plane of pairs has */

#endif
