/* The box of the points that lie below planes: six linear programs in three variables. */
#ifndef ABUT_FAMILY_PLANES_BOX_H
#define ABUT_FAMILY_PLANES_BOX_H

#include "body/family/family.h"

/* Some of a family's packed planes (PLANE_STRIDE) from real `first` on: n . x - d. */
typedef struct plane_set {
  const packed *of;
  size_t first, count;
} plane_set;

/* Finds a box that holds every point x with n . x - d <= reach for all planes, and is hardly larger
 * than these need. Returns false, and leaves the box alone, where there are none that it can find,
 * where they have no end in some direction, or where their numbers do not tell. */
bool planes_box(const plane_set *p, double reach, box *out);

#endif
