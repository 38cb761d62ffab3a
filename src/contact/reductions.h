/* Derivatives of reductions: the cotangents that they give to contacts. */
#ifndef ABUT_CONTACT_REDUCTIONS_H
#define ABUT_CONTACT_REDUCTIONS_H

#include "contact/call.h"

abut_status check_reduction(abut_reduction reduction);

/* Sets what the reduction reads in `values`, and which cotangents it gives in `r`. On duals, the
 * reduction reads the run's own values. */
void prepare_reduction(run *values, run *r, abut_reduction reduction);

/* Steps for operations of calls whose `user` begins with the reduction: upload of cotangents shared
 * by all poses, and launch of the kernels for the others. */
abut_status reduction_upload(batch_on *b, size_t slot, chunk c);
abut_status reduction_cotangents(call_on *on, size_t slot, size_t count);

/* Adds cotangents and their tangents. Either may be NULL. */
void call_add_cotangents(call *c, const abut_cotangents *bars, const abut_cotangents *tangents);

#endif
