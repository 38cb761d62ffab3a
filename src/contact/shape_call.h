/* Calls whose derivatives are by the bodies' shapes. */
#ifndef ABUT_CONTACT_SHAPE_CALL_H
#define ABUT_CONTACT_SHAPE_CALL_H

#include "contact/call.h"

/* Refuses bits of abut_shape_want that there are not, and batches that these calls do not take. */
abut_status shape_call_check(const call *c, uint32_t want);

#endif
