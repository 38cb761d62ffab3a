/* The solid bounded by a surface, with exact signed distances, negative inside. A point is inside
 * if its winding number exceeds 1/2, so shells may overlap. Parts of a shell inside another are not
 * part of the border. */
#ifndef ABUT_SURFACE_SOLID_H
#define ABUT_SURFACE_SOLID_H

#include "mesh/surface/tree.h"
#include <stdatomic.h>
#include <stdbool.h>

typedef struct solid {
  tree all;         /* all triangles, for winding numbers */
  tree border;      /* if shells overlap: the triangles that bound the solid */
  const tree *near; /* the tree for distances */
  double diagonal;
  double blur_centre[3], blur_radius; /* a ball [m]. Outside it, only the surface separates inside
                                         from outside. Inside it, winding numbers may change through
                                         open edges. Negative radius: no open edges */
  float *drift; /* (drift_size) [1/m] bound on the winding number's gradient in each cell of a map
                   over the surface's box, apart from triangles; NULL: no open edges */
  size_t drift_size[3];
  double drift_origin[3], drift_cell; /* [m] */
  atomic_int overlaps;                /* whether some point was found inside two shells */
} solid;

abut_status solid_create(solid *out, const surface *s);
void solid_free(solid *s);

/* Removes the parts inside the solid from `near`. Pieces crossed by many triangles are cut down to
 * the size `least` [m]. Fails with ABUT_ERROR_BODY if there are too many. */
abut_status solid_find_border(solid *s, double least);

/* Gives the signed distances at the nodes origin + spacing (i, j, k) of a lattice, the last index
 * fastest. */
void solid_lattice(solid *s, const double origin[3], double spacing, const size_t size[3],
                   double *out);

double solid_distance(solid *s, const double x[3]);

/* A point with known signed distance, its nearest triangle of `near`, and a lower bound on the
 * difference between its winding number and that of the border. */
typedef struct solid_place {
  double x[3], distance, margin;
  uint32_t nearest;
} solid_place;

/* Finds the signed distance at out->x. A known adjacent point makes this faster; otherwise `beside`
 * is NULL. */
void solid_measure(solid *s, const solid_place *beside, solid_place *out);

/* Whether only the surface separates inside from outside around x, for points that are `spacing`
 * [m] apart. */
bool solid_is_clear(const solid *s, const double x[3], double spacing);

#endif
