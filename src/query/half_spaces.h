/* The corners of a polyhedron given by its planes. */
#ifndef ABUT_QUERY_HALF_SPACES_H
#define ABUT_QUERY_HALF_SPACES_H

#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct corners {
  double *at;      /* (count, 3) */
  size_t count;    /* 0: the half-spaces have no common point */
  bool is_bounded; /* all corners are within +-1e6 m */
} corners;

/* Finds the corners of the intersection of `count` half-spaces. planes: (count, 6), an outward
 * normal of any length above 0 and a point of the plane, within +-1e6 m. The time is quadratic in
 * the count. */
abut_status find_corners(corners *out, const double *planes, size_t count);
void corners_free(corners *c);

#endif
