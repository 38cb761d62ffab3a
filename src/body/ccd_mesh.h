/* Meshes for swept collision (CCD), as kernels read them (cl/geometry/ccd.h). */
#ifndef ABUT_BODY_CCD_MESH_H
#define ABUT_BODY_CCD_MESH_H

#include "base/reals.h"
#include "engine/device/context.h"
#include "geometry/ccd.h"
#include <abut/ccd.h>

/* A mesh. After creation, only its buffers and measured rates change. */
typedef struct ccd_mesh {
  owned base;
  context *context;
  abut_ccd_mesh_info info;
  double *vertices;    /* (info.vertices, 3) as given */
  double origin[3];    /* origin of the coordinates in `numbers` */
  uint32_t *triangles; /* (info.triangles, 3) without degenerate ones */
  uint32_t *edges;     /* (info.edges, 2) unique, i < j, in lexicographic order */
  int *ints;
  size_t ints_count;
  reals numbers;
  double rates[2][MEMBERS]; /* pairs of poses per second, without and with derivatives; see
                               batch_group.rates */
  buffer *ints_on[MEMBERS]; /* by the context's members; NULL: not uploaded */
  buffer *numbers_on[MEMBERS];
} ccd_mesh;

/* Returns the mesh of a handle, or NULL with an error text. */
ccd_mesh *ccd_mesh_get(abut_ccd_mesh m);

/* Ensures that a mesh is on a member of its context. */
abut_status ccd_mesh_on(ccd_mesh *m, size_t place);

#endif
