/* What others know of boxed problems. */
#ifndef ABUT_LCP_LCP_H
#define ABUT_LCP_LCP_H

#include "engine/device/device.h"

/* Returns by which factor the kernels' tolerances are to be larger than usual, so that a residual
 * of `tolerance` times the largest b is accepted. It is never less than 1. */
double lcp_loose(double tolerance, device *d);

#endif
