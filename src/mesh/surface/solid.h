/* The solid that a surface bounds has exact signed distances, negative inside.
 *
 * Inside is where the surface winds around more than half a time, so that shells may overlap; what
 * lies of one shell inside another is no part of the border. */
#ifndef ABUT_SURFACE_SOLID_H
#define ABUT_SURFACE_SOLID_H

#include "mesh/surface/tree.h"
#include <stdatomic.h>
#include <stdbool.h>

typedef struct solid {
  tree all;         /* every triangle: winding numbers */
  tree border;      /* where shells overlap: what of it bounds the solid */
  const tree *near; /* the one to measure distances from */
  double diagonal;
  double blur_centre[3], blur_radius; /* a ball [m]: outside of it inside and outside are apart by
                          the surface alone; inside, winding numbers may pass from one to the other
                          where edges are open. Negative: there are none */
  float *drift; /* (drift_size) [1/m] how fast the winding number may change in a cell of a map over
                   the surface's box, where no triangle is crossed; NULL: there are no open edges */
  size_t drift_size[3];
  double drift_origin[3], drift_cell; /* [m] */
  atomic_int overlaps;                /* whether some place was found in two shells */
} solid;

abut_status solid_create(solid *out, const surface *s);
void solid_free(solid *s);

/* Leaves out of `near` what lies inside. Pieces that many triangles cross are cut to `least` [m]
 * and no further. ABUT_ERROR_BODY where there are too many. */
abut_status solid_find_border(solid *s, double least);

/* Gives the signed distances at the nodes origin + spacing (i, j, k) of a lattice, the last index
 * fastest. */
void solid_lattice(solid *s, const double origin[3], double spacing, const size_t size[3],
                   double *out);

double solid_distance(solid *s, const double x[3]);

/* A place whose signed distance is known, the triangle of `near` that is nearest there, and how far
 * the winding number is from that of a border at least. */
typedef struct solid_place {
  double x[3], distance, margin;
  uint32_t nearest;
} solid_place;

/* Finds the signed distance at out->x, sooner where that of a place beside it is known; else
 * `beside` is NULL. */
void solid_measure(solid *s, const solid_place *beside, solid_place *out);

/* Whether inside and outside are apart by the surface alone around x, where places that are
 * compared are `spacing` [m] apart. */
bool solid_is_clear(const solid *s, const double x[3], double spacing);

#endif
