/* Computes only active contacts, at the cost of those that can be active, and the contacts of a
 * caller's list. */
#ifndef ABUT_CONTACT_ACTIVE_H
#define ABUT_CONTACT_ACTIVE_H

#include "contact/run.h"

/* Cutoff for lists of the caller, whose contacts may have any activity. Its value only has to be a
 * valid cutoff. */
#define ANY_CUTOFF 0.5

/* Returns the activity below which contacts can be skipped if contacts of at least `threshold` are
 * wanted. */
double active_cutoff(const pair *p, double threshold);

/* Return whether bounds can decide what reaches a cutoff for a pair or a run, and whether
 * derivatives of some contacts are independent of the others. */
bool pair_can_skip_inactive(const pair *p, double cutoff);
bool can_skip_inactive(const run *r, double cutoff);

/* Returns the distance to the opposing body, at least 0, beyond which no contact exceeds the
 * cutoff. */
double active_reach(const abut_smoothing *s, double cutoff);

/* Returns the largest distance of an edge's point beyond an end of the edge, as a share of its
 * length. */
double edge_overshoot(const abut_smoothing *s);

/* For edges in fields. field_slope is an upper bound on a body's field's slope along a distance.
 * edge_field_reach is the largest distance from the other body's field, beyond its radius, of an
 * edge of body `side` with an active contact: the depth is divided by that slope before the radius
 * is subtracted. */
double field_slope(const abut_body_info *field);
double edge_field_reach(const body *const bodies[2], int side, double reach);

/* Two of a pair's reals (PAIR_REALS). Every point of an edge is within edge_part of its length from
 * one of its ends. A selection needs exact distances of the nearest edges even if nothing touches.
 * scored_reach is the initial search distance, which increases if it is insufficient. */
double edge_part(const abut_smoothing *s);
double scored_reach(const resident_body *b, size_t selected);

/* Adds the sizes for run_active and run_listed, without those for poses and selected edges. */
void active_sizes(const run *r, sizes *s);

/* Lists and computes everything that can reach wanted.cutoff. */
abut_status run_active(const run *r, size_t poses);

/* Optional steps after run_active. run_active_sums writes sums of activity and of energy to
 * SCRATCH_REDUCED. run_active_counts writes the number of contacts of at least `threshold` for each
 * pose to SCRATCH_OFFSETS. run_entries writes these contacts to SCRATCH_LIST and SCRATCH_VALUES,
 * where it makes room for `capacity` entries. */
abut_status run_active_sums(const run *r, size_t poses);
abut_status run_active_counts(const run *r, size_t poses, double threshold);
abut_status run_entries(const run *r, size_t poses, double threshold, size_t capacity);

/* A list of `count` entries on a device: the offsets of the poses' entries, and the entries' slots,
 * which begin with int `at` and have a stride of `step` ints. */
typedef struct entry_list {
  buffer *offsets, *slots;
  size_t at, step, count;
} entry_list;

#define ENTRY_LIST(l)                                                                     \
  ARG_BUFFER((l)->offsets), ARG_BUFFER((l)->slots), ARG_INT((l)->at), ARG_INT((l)->step), \
    ARG_INT((l)->count)

/* run_listed reads a list and prepares its contacts. Then run_listed_values computes their values,
 * with derivatives on duals. run_listed_rows writes the values of `room` entries, from `first` on,
 * to SCRATCH_ROWS. */
abut_status run_listed(const run *r, size_t poses, const entry_list *list);
abut_status run_listed_values(const run *r, size_t poses);
abut_status run_listed_rows(const run *r, size_t poses, size_t first, size_t room);

/* Does the same as run_listed_rows for a run that has computed all contacts. */
abut_status run_picked_rows(const run *r, size_t poses, const entry_list *list, size_t first,
                            size_t room);

/* The reverse pass from cotangents of listed contacts, which replace their values, to
 * SCRATCH_GRADIENT_*. First, run_row_bars takes the cotangents of the caller's entries from
 * SCRATCH_ROWS, or run_sum_bars makes those of a sum over active contacts. active_reverse_sizes
 * adds the sizes for the pass. */
void active_reverse_sizes(const run *r, sizes *s);
abut_status run_row_bars(const run *r, size_t poses);
abut_status run_sum_bars(const run *r, size_t poses, bool energy);
abut_status run_active_reverse(const run *r, size_t poses);

/* ---- shared by the two passes ---- */
bool lists_vertices(const run *r, int side);
size_t near_plane(const run *r); /* numbers in a plane of pairs */

#endif
