/* The box of the points below planes: six linear programs in three variables. */
#ifndef ABUT_FAMILY_PLANES_BOX_H
#define ABUT_FAMILY_PLANES_BOX_H

#include "body/family/family.h"

/* Packed planes of a family (PLANE_STRIDE), from real `first` on: n . x - d. */
typedef struct plane_set {
  const packed *of;
  size_t first, count;
} plane_set;

/* Finds a tight box that contains every point x with n . x - d <= reach for all planes. Returns
 * false without changing the box if it finds no such points, if the region is unbounded, or if
 * rounding makes the result uncertain. */
bool planes_box(const plane_set *p, double reach, box *out);

#endif
