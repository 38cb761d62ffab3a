/* The volumes of a mesh and of a field, by cells, and the largest components of one outside the
 * other. */
#ifndef ABUT_INSPECT_VOLUMES_H
#define ABUT_INSPECT_VOLUMES_H

#include "mesh/inspect/extent.h"
#include "mesh/surface/solid.h"
#include <abut/inspect.h>

typedef struct volumes {
  unsigned char *cells; /* (count): those of measure_cells, then each block's around them */
  size_t count;
  outskirts around;
} volumes;

/* Marks the cells of both. Fails with ABUT_ERROR_BODY if no cell is in the mesh. */
abut_status volumes_create(const field_of *f, const surface *s, const solid *inside,
                           const extent *e, volumes *out);
void volumes_free(volumes *v);

/* Fills in iou, coverage, precision, largest_uncovered and largest_surplus. Only the marks of cells
 * in both are preserved. */
abut_status volumes_compare(volumes *v, abut_fit *out);

#endif
