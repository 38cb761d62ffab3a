/* A pair's head: what kernels are told of a pair that no call changes, see
 * cl/kernels/manifold/pair.h. */
#ifndef ABUT_CONTACT_PAIR_HEAD_H
#define ABUT_CONTACT_PAIR_HEAD_H

#include "contact/pair.h"

/* Returns the sizes of a pair that has been laid out, for its bodies on a device with so many
 * lanes. */
pair_sizes pair_sizes_of(const pair *p, const resident_body *const bodies[2], uint32_t lanes);

/* Returns pair_sizes.near_stride. For the largest pairs it does not fit an int; nothing of theirs
 * is computed. */
size_t near_stride_of(const pair_sizes *n, uint32_t lanes);

/* zones: as many as n says, ZONE_REALS numbers each. */
abut_status upload_head(device *d, const abut_smoothing *s, const double reals[PAIR_REALS],
                        const pair_sizes *n, const double *zones, buffer **out);

#endif
