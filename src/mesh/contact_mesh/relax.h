/* A local search makes the triangles of a mesh on a field's surface even, and keeps them near the
 * surface. */
#ifndef ABUT_CONTACT_MESH_RELAX_H
#define ABUT_CONTACT_MESH_RELAX_H

#include "mesh/contact_mesh/probe.h"

/* Moves the points of a closed manifold onto the surface. Then turns edges and moves points along
 * the surface while that lowers the cost (docs/dev/remesh.md). fine: the same surface at high
 * resolution. The box, area and volume stored in the mesh are not updated. */
abut_status relax(probe *p, const surface *fine, size_t sweeps, surface *mesh);

#endif
