/* Samples measure the error of a spline at points spread over its surface. */
#ifndef ABUT_SURFACE_SAMPLES_H
#define ABUT_SURFACE_SAMPLES_H

#include "mesh/surface/solid.h"
#include "mesh/surface/spline.h"

/* A point of the surface, and the spline's error there. */
typedef struct sample {
  double x[3];
  double error;          /* of the distance [m], at x or halfway through a thin part */
  double area;           /* area that it represents [m^2] */
  double through;        /* thickness of a thin part [m]; else 0 */
  bool at_edge;          /* near a sharp edge */
  bool is_thin, is_lost; /* a thin part; the spline is not negative inside */
  bool is_wedge;         /* thinner than the limit for refinement, as near any sharp edge or rim */
  bool is_rim;           /* thin because a sharp edge or a rim is near, which any field rounds */
  bool is_filled;        /* the spline is not positive in a narrow gap in front of the surface */
  double across;         /* width of such a gap [m]; else 0 */
} sample;

typedef struct sampler {
  const surface *of;
  solid *inside;
  const spline *s;
  double thin;       /* [m]: thickness below which parts are thin; 0: parts are not measured */
  double wedge;      /* [m]: thickness below which parts are wedges */
  bool gaps;         /* whether gaps narrower than `thin` are examined too */
  double edge_reach; /* [m] */
  const tree *edges; /* sharp edges, as triangles without area; NULL: at_edge is false */
} sampler;

/* Samples the faces. Every point of a face has a sample within `spacing` whose face is inclined by
 * less than 60 degrees to its own. Triangles lower than `spacing` share samples with adjacent ones.
 * There is about one sample per square of `spacing`. On low faces, there is one per 0.6 of
 * `spacing` along them, independent of the triangulation. level: samples are only taken where the
 * spline has blocks of this level, 0 for everywhere; all its levels are evaluated. The caller frees
 * *out. */
abut_status samples_take(const sampler *from, double spacing, size_t level, sample **out,
                         size_t *count);

/* Finds the largest errors away from sharp edges and at them. Searches uphill on the surface from
 * the worst samples, which are `spacing` apart, and sorts the samples. */
void samples_climb(const sampler *from, double spacing, sample *samples, size_t count,
                   double most[2]);

/* Lists the sides between faces inclined by more than 30 degrees to each other, (count, 3, 3), as
 * degenerate triangles with two equal corners. The caller frees *corners. */
abut_status sharp_sides(const surface *s, double **corners, size_t *count);

#endif
