/* Random poses of a pair, for measurements. */
#ifndef ABUT_CLI_RANDOM_POSES_H
#define ABUT_CLI_RANDOM_POSES_H

#include "core/cli.h"

#include <math.h>

/* Makes `count` poses near contact, the same on every machine up to rounding; a smaller count gives
 * the first ones. abut_free_poses frees them. Both bodies get a random rotation, and body 2 is in a
 * random direction. The gap between the farthest mesh points along that direction is `apart` times
 * the smaller body's diagonal, and may be negative. RANDOM_APART: from -5 to 5 %, at random. */
#define RANDOM_APART INFINITY
exit_code random_poses(const abut_body bodies[2], size_t count, double apart, abut_poses *out);

#endif
