/* A question with known answers, asked to each device before its first use. */
#ifndef ABUT_MANIFOLD_SELF_TEST_H
#define ABUT_MANIFOLD_SELF_TEST_H

#include "device/context.h"

/* Has a member compute, once for each program, contacts or derivatives of two small bodies, and
 * compares them with answers that were made without this library. Fails with ABUT_ERROR_SELF_TEST
 * and a text that names the device where a number is not what it must be; with the device's own
 * error where it cannot answer. Leaves nothing on the device, and of its counters only the builds.
 * For the member's thread. */
abut_status test_member(context *c, size_t place, program_id program, bool reverse);

#endif
