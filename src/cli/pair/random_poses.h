/* Random poses of a pair, to measure with. */
#ifndef ABUT_CLI_RANDOM_POSES_H
#define ABUT_CLI_RANDOM_POSES_H

#include "core/cli.h"

#include <math.h>

/* So many poses around touching, the same on every machine up to rounding, and of fewer the first
 * ones. abut_free_poses frees them. Both bodies get a random rotation; body 2 lies in a random
 * direction, so far that between the farthest mesh points along it there is `apart` of the smaller
 * body's diagonal, which may be negative. RANDOM_APART: from -5 to 5 %, at random. */
#define RANDOM_APART INFINITY
exit_code random_poses(const abut_body bodies[2], size_t count, double apart, abut_poses *out);

#endif
