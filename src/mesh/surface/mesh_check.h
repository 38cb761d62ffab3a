/* Whether a definition's mesh is one. */
#ifndef ABUT_SURFACE_MESH_CHECK_H
#define ABUT_SURFACE_MESH_CHECK_H

#include <abut/body.h>

/* Refuses what of the mesh is out of range, naming the element; primitives are not looked at. */
abut_status check_mesh(const abut_body_def *def);

#endif
