/* What is suspicious about a mesh by its size alone. */
#ifndef ABUT_SURFACE_DIAGNOSTICS_H
#define ABUT_SURFACE_DIAGNOSTICS_H

#include <stdint.h>

/* Returns bits of abut_suspicion: that a box's diagonal [m] looks like millimetres, or that no
 * smoothing can be fitted to it. */
uint32_t diagonal_suspicions(double diagonal);

#endif
