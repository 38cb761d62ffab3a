/* The faces that a field retains from its mesh. Contact meshes have no faces, so swept collision
 * tests (CCD) use these. */
#ifndef ABUT_SURFACE_FIELD_SURFACE_H
#define ABUT_SURFACE_FIELD_SURFACE_H

#include "base/memory.h"
#include <abut/body.h>

/* Copies the faces of a mesh and their vertices into def->surface, with memory from the arena.
 * Vertices at the same position are merged, and unused ones are left out. */
abut_status field_hold_surface(arena *memory, const abut_body_def *mesh, abut_body_def *def);

#endif
