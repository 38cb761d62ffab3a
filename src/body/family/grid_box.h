/* The box of the points where a grid's distance may be small. */
#ifndef ABUT_FAMILY_GRID_BOX_H
#define ABUT_FAMILY_GRID_BOX_H

#include "body/family/family.h"

/* Widens a box by the region where the distance of a packed grid, as devices compute it, may be at
 * most `reach`. first: index of the grid's record in the reals. */
void grid_box(const packed *p, size_t first, double reach, box *b);

#endif
