/* Two small bodies with every kind of primitive, and their smoothing, about which devices are
 * asked. */
#ifndef ABUT_SELF_TEST_BODIES_H
#define ABUT_SELF_TEST_BODIES_H

#include <abut/manifold.h>

abut_smoothing self_test_smoothing(void);
abut_status self_test_body(abut_context c, int which, abut_body *out);

#endif
