/* The arrays of a batch, in host memory or in the caller's OpenCL memory. */
#ifndef ABUT_MANIFOLD_CALLER_ARRAYS_H
#define ABUT_MANIFOLD_CALLER_ARRAYS_H

#include "manifold/call.h"

/* Refuses a batch whose own arrays are none of the context's OpenCL memory, or too short. */
abut_status check_arrays(const call *c);

/* Outputs of plain runs that the caller wants in OpenCL memory are written there, for a chunk;
 * until unbind. */
abut_status bind_outputs(const call *c, run *r, chunk at_);
void unbind(run *r);

#endif
