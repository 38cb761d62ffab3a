/* Reductions as what derivatives are of: the cotangents that they give to contacts. */
#ifndef ABUT_CONTACT_REDUCTIONS_H
#define ABUT_CONTACT_REDUCTIONS_H

#include "contact/call.h"

abut_status check_reduction(abut_reduction reduction);

/* Sets what the reduction reads, in `values`, and which cotangents it gives, in `r`. On duals the
 * reduction reads values of the run itself. */
void prepare_reduction(run *values, run *r, abut_reduction reduction);

/* For operations of calls whose `user` begins with the reduction: they bring up what cotangents
 * poses share, and launch what makes the others. */
abut_status reduction_upload(batch_on *b, size_t slot, chunk c);
abut_status reduction_cotangents(call_on *on, size_t slot, size_t count);

/* Adds cotangents and their own tangents, either of which may be NULL. */
void call_add_cotangents(call *c, const abut_cotangents *bars, const abut_cotangents *tangents);

#endif
