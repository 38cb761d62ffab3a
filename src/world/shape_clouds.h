/* Oriented point clouds of bodies that a word and a few lengths tell. */
#ifndef ABUT_WORLD_SHAPE_CLOUDS_H
#define ABUT_WORLD_SHAPE_CLOUDS_H

#include "world/scene_def.h"

/* box, cylinder   a point a cell; cells on both sides of a sharp edge are equally deep, since there
 *                 the field changes planes where their centres are equally far, and grow from there
 * sphere, ellipsoid, capsule   a point a face of a fine mesh, weighted by area
 * plane           one point, whose field is z everywhere and which never counts as a point
 *
 * eps1 0 takes what suits the cells. Fails with ABUT_ERROR_BODY where lengths are too unlike. */
abut_status shape_cloud_make(body_shape shape, const double size[3], double eps1, abut_cloud *out);

#endif
