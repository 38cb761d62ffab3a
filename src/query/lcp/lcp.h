/* Declarations for other users of boxed problems. */
#ifndef ABUT_LCP_LCP_H
#define ABUT_LCP_LCP_H

#include "engine/device/device.h"

/* Returns the factor, at least 1, by which the kernels' tolerances are increased so that a residual
 * of `tolerance` times the largest b is accepted. */
double lcp_loose(double tolerance, device *d);

#endif
