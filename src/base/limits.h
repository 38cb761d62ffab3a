/* What a caller or a file may give has these bounds. The readers of files hold to the same ones as
 * the library, so that a bad number is told with its line. */
#ifndef ABUT_BASE_LIMITS_H
#define ABUT_BASE_LIMITS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* These are of smoothing coefficients. Lengths, and what else is inverted and multiplied by
 * distances, stay well inside float; the others need only be positive there. */
#define SMOOTHING_LENGTH_LEAST 1e-6
#define SMOOTHING_LEAST 1e-18
#define SMOOTHING_MOST 1e9
#define TEMPERATURE_LEAST 1e-12 /* of a soft distance: its inverse is finite in float */
#define FLOOR_MOST 0.5
#define TILT_LEAST 1e-6
#define TILT_MOST 0.5
#define CONE_MOST 180.0 /* [degrees] */
#define TRACE_MOST 64   /* steps */

#define ELEMENT_LIMIT ((size_t)1 << 24) /* vertices, faces; planes, points of one primitive */

/* These are of bodies [m]. */
#define COORDINATE_MOST 1e6
#define AXIS_LEAST 1e-6
#define CORE_RADIUS_LEAST 1e-9 /* at most COORDINATE_MOST */
#define SCALE_LEAST 1e-9       /* of a mesh file's unit */
#define SCALE_MOST 1e9
#define WIDTH_LEAST 1e-6   /* of a cloud's point; at most COORDINATE_MOST */
#define SPACING_LEAST 1e-9 /* of a grid's nodes; at most COORDINATE_MOST */
#define GRID_SIDE_LEAST 6
#define GRID_SIDE_MOST 1024
#define GRID_NODES_MOST ((size_t)1 << 26)
#define GRID_DISTANCE_MOST 4e6
#define GRID_LEVELS_MOST 8
#define HEIGHT_SIDE_LEAST 2 /* nodes */
#define HEIGHT_SIDE_MOST 2048
#define HEIGHT_SLOPE_MOST 1e4 /* between neighbouring nodes */

/* These are of convex shapes; their lengths are at most COORDINATE_MOST. */
#define SHAPE_AXIS_LEAST 1e-9    /* of what a form divides by [m] */
#define SHAPE_EXPONENT_LEAST 0.1 /* of superquadrics */
#define SHAPE_EXPONENT_MOST 1.9

/* Whether all |x| are at most a limit; false where one is not a number. */
static inline bool all_within(const double *x, size_t count, double limit)
{
  for (size_t i = 0; i < count; ++i) {
    if (!(fabs(x[i]) <= limit)) {
      return false;
    }
  }
  return true;
}

#endif
