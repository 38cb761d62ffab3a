/* Checks smoothing coefficients, and prepares the kernels' coefficients. */
#ifndef ABUT_CONTACT_SMOOTHING_H
#define ABUT_CONTACT_SMOOTHING_H

#include "base/reals.h"
#include "engine/device/context.h"
#include <abut/manifold.h>

/* Rejects a coefficient out of range, and names it. */
abut_status check_smoothing(const abut_smoothing *s);

/* Whether normal cones weigh contacts. */
static inline bool smoothing_has_cones(const abut_smoothing *s)
{
  return s->cone_outer > s->cone_inner;
}

/* Whether two smoothings have equal coefficients. */
bool smoothing_is_like(const abut_smoothing *a, const abut_smoothing *b);

/* Makes the coefficients (cl/geometry/coefficients.h) in reals of `size` bytes, with room for
 * `more` reals after them. */
abut_status coefficients_of(const abut_smoothing *s, size_t size, size_t more, reals *out);
abut_status upload_coefficients(device *d, const abut_smoothing *s, buffer **out);

#endif
