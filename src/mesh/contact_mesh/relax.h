/* The triangles of a mesh on a field's surface are made even, and kept near it, by a local
 * search. */
#ifndef ABUT_CONTACT_MESH_RELAX_H
#define ABUT_CONTACT_MESH_RELAX_H

#include "mesh/contact_mesh/probe.h"

/* Moves the points of a closed manifold onto the surface, then turns edges and moves points along
 * it while that lowers the cost (docs/dev/remesh.md). fine: the same surface, fine. Box, area and
 * volume of the mesh are left as they were. */
abut_status relax(probe *p, const surface *fine, size_t sweeps, surface *mesh);

#endif
