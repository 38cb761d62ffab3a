/* Active contacts alone, at the price of those that can be; and those of a caller's list. */
#ifndef ABUT_MANIFOLD_ACTIVE_H
#define ABUT_MANIFOLD_ACTIVE_H

#include "manifold/run.h"

/* For lists that the caller gives, of contacts of any activity. */
#define ANY_CUTOFF 0.5

/* Activities below it need not be computed for contacts of at least `threshold`. */
double active_cutoff(const pair *p, double threshold);

/* Whether bounds can decide what reaches a cutoff for a run's pair, and derivatives of some
 * contacts can do without the others'. */
bool can_skip_inactive(const run *r, double cutoff);

/* For PAIR_REALS. Every point of an edge lies within this part of its length from one of its ends.
 * A selection needs exact distances beyond what touches, of the nearest edges: so far it looks at
 * first, and where that is not enough, it asks for more. */
double edge_part(const abut_smoothing *s);
double scored_reach(const resident_body *b, size_t selected);

/* What run_active and run_listed need beside the poses and the selected edges. */
void active_sizes(const run *r, sizes *s);

/* Lists and computes what can reach wanted.cutoff. */
abut_status run_active(const run *r, size_t poses);

/* Then: sums of activity and of energy to SCRATCH_REDUCED; or how many contacts of at least
 * `threshold` each pose has, SCRATCH_OFFSETS, and these to SCRATCH_LIST and SCRATCH_VALUES, made
 * for `capacity` entries. */
abut_status run_active_sums(const run *r, size_t poses);
abut_status run_active_counts(const run *r, size_t poses, double threshold);
abut_status run_entries(const run *r, size_t poses, double threshold, size_t capacity);

/* A list on a device: offsets of the poses' entries, of which there are `count`, and their slots,
 * `step` ints apart from the `at`th on. */
typedef struct entry_list {
  buffer *offsets, *slots;
  size_t at, step, count;
} entry_list;

#define ENTRY_LIST(l) \
  ARG_BUFFER((l)->offsets), ARG_BUFFER((l)->slots), ARG_INT((l)->at), ARG_INT((l)->step), \
    ARG_INT((l)->count)

/* Reads a list and prepares its contacts; then computes their values, with derivatives on duals;
 * then those of `room` entries, from `first` on, to SCRATCH_ROWS. */
abut_status run_listed(const run *r, size_t poses, const entry_list *list);
abut_status run_listed_values(const run *r, size_t poses);
abut_status run_listed_rows(const run *r, size_t poses, size_t first, size_t room);

/* The same of a run that has computed all contacts. */
abut_status run_picked_rows(const run *r, size_t poses, const entry_list *list, size_t first,
                            size_t room);

/* Back from cotangents of listed contacts, in the place of their values, to SCRATCH_GRADIENT_*.
 * First the cotangents: SCRATCH_ROWS of the caller's entries, or those of a sum over what is
 * active. */
void active_reverse_sizes(const run *r, sizes *s);
abut_status run_row_bars(const run *r, size_t poses);
abut_status run_sum_bars(const run *r, size_t poses, bool energy);
abut_status run_active_reverse(const run *r, size_t poses);

/* ---- shared by the two passes ---- */
abut_status run_listed_depths(const run *r, size_t poses); /* of the pairs of the caller's list */
bool lists_vertices(const run *r, int side);
size_t near_plane(const run *r);             /* numbers of a plane of pairs */

#endif
