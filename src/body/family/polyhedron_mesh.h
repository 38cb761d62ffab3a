/* Faces for a polyhedron's body whose mesh only has vertices. */
#ifndef ABUT_FAMILY_POLYHEDRON_MESH_H
#define ABUT_FAMILY_POLYHEDRON_MESH_H

#include "base/memory.h"
#include <abut/body.h>

/* Adds faces, made of the vertices on each plane, to a definition with vertices but without faces,
 * edges or stated features. Its field must be one polyhedron. Without edges, such a body would pass
 * through others between its corners. Other definitions do not change. New arrays are allocated
 * from `memory`. The polyhedron must be valid (check of its family). */
abut_status polyhedron_faces_add(arena *memory, abut_body_def *def);

#endif
