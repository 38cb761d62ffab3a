/* Meshes of collision in time, as kernels read them (cl/geometry/ccd.h). */
#ifndef ABUT_BODY_CCD_MESH_H
#define ABUT_BODY_CCD_MESH_H

#include "base/reals.h"
#include "engine/device/context.h"
#include "geometry/ccd.h"
#include <abut/ccd.h>

/* A mesh. Nothing of it changes once it is made, but for where it lies and how fast that goes. */
typedef struct ccd_mesh {
  owned base;
  context *context;
  abut_ccd_mesh_info info;
  double *vertices;    /* (info.vertices, 3) as they were given */
  double origin[3];    /* from which `numbers` see them */
  uint32_t *triangles; /* (info.triangles, 3) none of which has a vertex twice */
  uint32_t *edges;     /* (info.edges, 2) unique, i < j, in lexicographic order */
  int *ints;
  size_t ints_count;
  reals numbers;
  double rates[2]
              [MEMBERS]; /* pairs of poses a second, and with derivatives; see batch_group.rates */
  buffer *ints_on[MEMBERS]; /* by the context's members; NULL: not there yet */
  buffer *numbers_on[MEMBERS];
} ccd_mesh;

/* Returns the mesh of a handle, or NULL with an error text. */
ccd_mesh *ccd_mesh_get(abut_ccd_mesh m);

/* Brings a mesh to a member of its context; it is there afterwards. */
abut_status ccd_mesh_on(ccd_mesh *m, size_t place);

#endif
