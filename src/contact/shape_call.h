/* Calls with derivatives with respect to the bodies' shapes. */
#ifndef ABUT_CONTACT_SHAPE_CALL_H
#define ABUT_CONTACT_SHAPE_CALL_H

#include "contact/call.h"

/* Rejects unknown bits of abut_shape_want, and batches that these calls do not support. */
abut_status shape_call_check(const call *c, uint32_t want);

#endif
