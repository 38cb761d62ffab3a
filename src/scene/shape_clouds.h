/* Oriented point clouds of simple shapes, for springs. */
#ifndef ABUT_SCENE_SHAPE_CLOUDS_H
#define ABUT_SCENE_SHAPE_CLOUDS_H

#include "scene/definition.h"

/* Makes the cloud of a shape.
 * - box, cylinder: a point for each cell of a side. Cells grow with the distance from sharp edges.
 *   At an edge, the cells on both sides are equally deep, because the field switches planes where
 *   their centres are equally far.
 * - sphere, ellipsoid, capsule: a point for each face of a fine mesh, weighted by its area.
 * - plane: one point, whose field is z everywhere and which never makes a contact itself.
 * If eps1 is 0, it is chosen to suit the cells. Fails with ABUT_ERROR_BODY if lengths differ too
 * much. */
abut_status shape_cloud_make(body_shape shape, const double size[3], double eps1, abut_cloud *out);

#endif
