/* Bounds on input from callers and files. File readers use the same bounds as the library, so that
 * errors can name the line of a bad number. */
#ifndef ABUT_BASE_LIMITS_H
#define ABUT_BASE_LIMITS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Bounds on smoothing coefficients. Lengths, and other coefficients that are inverted or multiplied
 * by distances, are well within the range of float. The others only need to be positive there. */
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

/* Bounds on bodies [m]. */
#define COORDINATE_MOST 1e6
#define AXIS_LEAST 1e-6
#define CORE_RADIUS_LEAST 1e-9 /* at most COORDINATE_MOST */
#define SCALE_LEAST 1e-9       /* of a mesh file's unit */
#define SCALE_MOST 1e9
#define WIDTH_LEAST 1e-6   /* of a point in a point cloud; at most COORDINATE_MOST */
#define SPACING_LEAST 1e-9 /* of a grid's nodes; at most COORDINATE_MOST */
#define GRID_SIDE_LEAST 6
#define GRID_SIDE_MOST 1024
#define GRID_NODES_MOST ((size_t)1 << 26)
#define GRID_DISTANCE_MOST 4e6
#define GRID_LEVELS_MOST 8
#define HEIGHT_SIDE_LEAST 2 /* nodes */
#define HEIGHT_SIDE_MOST 2048
#define HEIGHT_SLOPE_MOST 1e4 /* between neighbouring nodes */

/* Bounds on convex shapes, whose lengths are at most COORDINATE_MOST. */
#define SHAPE_AXIS_LEAST 1e-9    /* of lengths that a shape divides by [m] */
#define SHAPE_EXPONENT_LEAST 0.1 /* of superquadrics */
#define SHAPE_EXPONENT_MOST 1.9

/* Returns whether all |x| are at most a limit; false if any is not a number. */
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
