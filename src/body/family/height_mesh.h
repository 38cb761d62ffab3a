/* Meshes for bodies of height fields. */
#ifndef ABUT_FAMILY_HEIGHT_MESH_H
#define ABUT_FAMILY_HEIGHT_MESH_H

#include "base/memory.h"
#include <abut/body.h>

/* If a definition has no vertices but an added height field, adds the meshes described for
 * abut_create_body: a contact mesh of the first height field and, if missing, the surface. Other
 * definitions do not change. New arrays are allocated from `memory`. The height field must be valid
 * (check of its family). */
abut_status height_mesh_add(arena *memory, abut_body_def *def);

#endif
