/* What others know of boxed problems. */
#ifndef ABUT_LCP_LCP_H
#define ABUT_LCP_LCP_H

#include "device/device.h"

/* By how much more than usual the kernels take for nothing, so that a residual of `tolerance` times the
 * largest b is accepted; never by less. */
double lcp_loose(double tolerance, device *d);

#endif
