/* Checks the mesh of a definition. */
#ifndef ABUT_SURFACE_MESH_CHECK_H
#define ABUT_SURFACE_MESH_CHECK_H

#include <abut/body.h>

/* Rejects invalid values in the mesh, and names the element. Primitives are not checked. */
abut_status check_mesh(const abut_body_def *def);

#endif
