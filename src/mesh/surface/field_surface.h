/* What a field keeps of the mesh that it is made of: bodies collide in time with it, since contact
 * meshes have no faces. */
#ifndef ABUT_SURFACE_FIELD_SURFACE_H
#define ABUT_SURFACE_FIELD_SURFACE_H

#include "base/memory.h"
#include <abut/body.h>

/* Copies the faces of a mesh, and their vertices, into def->surface, of the arena's memory.
 * Vertices at one place become one, and those of no face are left out. */
abut_status field_hold_surface(arena *memory, const abut_body_def *mesh, abut_body_def *def);

#endif
