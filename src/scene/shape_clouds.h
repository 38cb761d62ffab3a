/* Oriented point clouds of simple shapes, for springs. */
#ifndef ABUT_SCENE_SHAPE_CLOUDS_H
#define ABUT_SCENE_SHAPE_CLOUDS_H

#include "scene/definition.h"

/* Makes the cloud of a shape.
 *
 * box, cylinder   A point for each cell of a side. Cells grow away from sharp edges, at which the
 * cells on
 *                 both sides are equally deep: the field changes planes where their centres are
 *                 equally far.
 * sphere, ellipsoid, capsule   A point for each face of a fine mesh, weighted by its area.
 * plane           One point, whose field is z everywhere, and which is no point that could touch.
 *
 * With eps1 0 it takes what suits the cells. Fails with ABUT_ERROR_BODY where lengths are too
 * unlike. */
abut_status shape_cloud_make(body_shape shape, const double size[3], double eps1, abut_cloud *out);

#endif
