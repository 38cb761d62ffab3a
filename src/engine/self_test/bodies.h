/* Two small bodies with every kind of primitive, and their smoothing, for testing devices. */
#ifndef ABUT_SELF_TEST_BODIES_H
#define ABUT_SELF_TEST_BODIES_H

#include <abut/manifold.h>

abut_smoothing self_test_smoothing(void);
abut_status self_test_body(abut_context c, int which, abut_body *out);

/* The same with explicit features, including round ones and arcs, and a core; without grid and
 * height field. */
abut_status self_test_touching_body(abut_context c, int which, abut_body *out);

#endif
