/* Samples say how far a spline is off the surface that it was made of, at points spread over it. */
#ifndef ABUT_SURFACE_SAMPLES_H
#define ABUT_SURFACE_SAMPLES_H

#include "mesh/surface/solid.h"
#include "mesh/surface/spline.h"

/* This is a point of the surface, and what the spline says there. */
typedef struct sample {
  double x[3];
  double error;          /* of the distance [m], at x or, in a thin part, halfway through it */
  double area;           /* of the surface that it stands for [m^2] */
  double through;        /* of a thin part: its thickness [m]; else 0 */
  bool at_edge;          /* near a sharp edge */
  bool is_thin, is_lost; /* a thin part; the spline is not negative inside */
  bool is_wedge;  /* thinner than finer cells are made for, as towards any sharp edge or rim */
  bool is_rim;    /* thin because a sharp edge or a rim is near, which any field rounds */
  bool is_filled; /* the spline is not positive in a narrow gap before the surface */
  double across;  /* of such a gap: its width [m]; else 0 */
} sample;

typedef struct sampler {
  const surface *of;
  solid *inside;
  const spline *s;
  double thin;       /* [m]: parts of less thickness are looked through; 0: none are */
  double wedge;      /* [m]: parts of less thickness are wedges */
  bool gaps;         /* gaps narrower than `thin` are looked across, too */
  double edge_reach; /* [m] */
  const tree *edges; /* sharp ones, as triangles without area; NULL: at_edge is false */
} sampler;

/* Makes points on the faces, of which every point of a face has one within `spacing` that is of a
 * face that leans by less than 60 degrees against its own. Triangles of less height than that share
 * theirs with those beside them: there is about a point for each square of `spacing`, and where
 * faces are lower, one for each 0.6 of it along them, however many triangles they are cut into.
 * level: only where the spline has blocks of this level, 0 for everywhere; all its levels are
 * looked at. *out is the caller's to free. */
abut_status samples_take(const sampler *from, double spacing, size_t level, sample **out,
                         size_t *count);

/* Finds the largest errors away from sharp edges and at them, searched for uphill on the surface
 * from the worst samples, which lie `spacing` apart; sorts these. */
void samples_climb(const sampler *from, double spacing, sample *samples, size_t count,
                   double most[2]);

/* Lists the sides between faces that lean by more than 30 degrees against each other, (count, 3, 3)
 * as triangles of which two corners are one. *corners is the caller's to free. */
abut_status sharp_sides(const surface *s, double **corners, size_t *count);

#endif
