/* The box of the places where a grid's distance may be small. */
#ifndef ABUT_FAMILY_GRID_BOX_H
#define ABUT_FAMILY_GRID_BOX_H

#include "body/family/family.h"

/* Widens a box by where the distance of the packed grid whose record is at real `first`, as devices
 * compute it, may be `reach` or less. */
void grid_box(const packed *p, size_t first, double reach, box *b);

#endif
