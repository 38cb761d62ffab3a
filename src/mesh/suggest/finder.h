/* The data of the search for a suggestion. */
#ifndef ABUT_SUGGEST_FINDER_H
#define ABUT_SUGGEST_FINDER_H

#include "base/error.h"
#include "base/memory.h"
#include "math/vector.h"
#include <abut/suggest.h>

#define BETWEEN 3 /* points between the ends of an edge */

/* A body's mesh and the edges of each vertex. */
typedef struct side {
  abut_body body;
  abut_body_info info;
  double *vertices; /* (vertices, 3) */
  uint32_t *edges;  /* (edges, 2) */
  size_t places;    /* number of points: the vertices, then BETWEEN for each edge */
} side;

typedef struct pose {
  double turn[2][9]; /* rotations of both bodies, by rows; the first body stays at the origin */
  double along[3];   /* unit vector from the first body to the second */
  double apart;      /* distance in this direction [m] */
  double depth;      /* wanted [m] */
  bool collides;
} pose;

/* Two edges that are mutually nearest and cross. */
typedef struct meeting {
  size_t pose; /* index among the poses in collision */
  uint32_t rank[2];
  double at[2][3]; /* nearest points of edge 0, 1 in the frame of the other body */
} meeting;

typedef struct finder {
  side sides[2];
  const abut_smoothing *smoothing;
  abut_suggest_options o;
  pose *poses;
  double *places;
  float *field[2]; /* (poses of a piece, places): of side 0 in body 2, and of side 1 in body 1 */
  uint32_t *pairs, *deepest[2];
  meeting *meetings; /* for a piece of the poses */
  size_t meeting_count, meeting_room;
  uint32_t *rank; /* (rank_count, 2) for each crossing, the number of retained edges that includes
                     each of its edges */
  size_t rank_count, rank_room;
  arena memory;
} finder;

static inline void finder_turned(const double m[9], const double x[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = dot(m + 3 * k, x);
  }
}

static inline void finder_turned_back(const double m[9], const double x[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
  }
}

/* Draws the rotations of pose i, the direction of its second body, and the wanted depth. */
void finder_draw(const finder *f, size_t i, pose *p);

/* Moves the second bodies until the wanted depth is reached. lower, upper: room for `count`
 * distances between which a bisection searches, from overlapping to separated. */
abut_status finder_bring_together(finder *f, pose *poses, size_t count, double *lower,
                                  double *upper);

/* Counts the elements that contacts of poses in collision need. Results follow the previous *found
 * ones. */
abut_status finder_count(finder *f, const pose *poses, size_t count, size_t *found);

#endif
