/* Suspicions about a mesh that follow from its size. */
#ifndef ABUT_SURFACE_DIAGNOSTICS_H
#define ABUT_SURFACE_DIAGNOSTICS_H

#include <stdint.h>

/* Returns bits of abut_suspicion: a box's diagonal [m] suggests millimetres, or no smoothing can be
 * fitted to it. */
uint32_t diagonal_suspicions(double diagonal);

#endif
