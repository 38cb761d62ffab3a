/* The mesh of whatever a body is loaded from. */
#ifndef ABUT_IO_BODY_MESH_H
#define ABUT_IO_BODY_MESH_H

#include "format/mesh.h"

/* Reads a mesh file, or the mesh that a body file names, or makes the surface of the height field
 * of one that names none. Of a body file that names a surface it reads that where the mesh has no
 * faces, and with `surface_first` always. *m is the caller's to free, and empty on failure. */
abut_status body_mesh_read(const char *path, bool surface_first, mesh *m);

#endif
