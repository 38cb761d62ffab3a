/* The mesh from any file that a body can be loaded from. */
#ifndef ABUT_IO_BODY_MESH_H
#define ABUT_IO_BODY_MESH_H

#include "format/mesh.h"

/* Reads a mesh file, or the mesh named by a body file, or makes the surface of the height field if
 * a body file names no mesh. If a body file names a surface, reads the surface if the mesh has no
 * faces, or always with `surface_first`. The caller frees *m, which is empty on failure. */
abut_status body_mesh_read(const char *path, bool surface_first, mesh *m);

#endif
