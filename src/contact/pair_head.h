/* A pair's head: the data of a pair that kernels read and no call changes, see
 * cl/kernels/manifold/pair.h. */
#ifndef ABUT_CONTACT_PAIR_HEAD_H
#define ABUT_CONTACT_PAIR_HEAD_H

#include "contact/pair.h"

/* Returns the sizes of a pair with a complete layout, for its bodies on a device with `lanes`
 * lanes. */
pair_sizes pair_sizes_of(const pair *p, const resident_body *const bodies[2], uint32_t lanes);

/* Returns pair_sizes.near_stride. For the largest pairs it exceeds int; then it is not used. */
size_t near_stride_of(const pair_sizes *n, uint32_t lanes);

/* zones: ZONE_REALS numbers each; n has their count. */
abut_status upload_head(device *d, const abut_smoothing *s, const double reals[PAIR_REALS],
                        const pair_sizes *n, const double *zones, buffer **out);

#endif
