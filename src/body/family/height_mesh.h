/* The meshes of a height field's body. */
#ifndef ABUT_FAMILY_HEIGHT_MESH_H
#define ABUT_FAMILY_HEIGHT_MESH_H

#include "base/memory.h"
#include <abut/body.h>

/* Gives a definition that has no vertices and an added height field what abut_create_body says: a
 * contact mesh of the first of these and, unless it has one, the surface. Leaves any other as it
 * is. What it adds is of `memory`; the height field must be in range (check of its family). */
abut_status height_mesh_add(arena *memory, abut_body_def *def);

#endif
