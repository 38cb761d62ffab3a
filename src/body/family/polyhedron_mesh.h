/* Faces of a polyhedron's body whose mesh has vertices alone. */
#ifndef ABUT_FAMILY_POLYHEDRON_MESH_H
#define ABUT_FAMILY_POLYHEDRON_MESH_H

#include "base/memory.h"
#include <abut/body.h>

/* Gives a definition that has vertices, but no faces, edges or stated features, and whose field is
 * one polyhedron, the faces that its vertices have on the planes. Without edges such a body would
 * pass through others between its corners. Leaves any other as it is. What it adds is of `memory`;
 * the polyhedron must be in range (check of its family). */
abut_status polyhedron_faces_add(arena *memory, abut_body_def *def);

#endif
