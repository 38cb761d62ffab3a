/* The corners of a polyhedron that is given by its planes. */
#ifndef ABUT_QUERY_HALF_SPACES_H
#define ABUT_QUERY_HALF_SPACES_H

#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct corners {
  double *at;      /* (count, 3) */
  size_t count;    /* 0: the half spaces have nothing in common */
  bool is_bounded; /* whether all lies within +-1e6 m */
} corners;

/* Finds the corners of what `count` half spaces have in common. planes: (count, 6), an outward
 * normal of any length above 0 and a point of the plane, within +-1e6 m. Time grows with the square
 * of the count. */
abut_status find_corners(corners *out, const double *planes, size_t count);
void corners_free(corners *c);

#endif
