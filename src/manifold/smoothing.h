/* Smoothing coefficients: checks, and what kernels read. */
#ifndef ABUT_MANIFOLD_SMOOTHING_H
#define ABUT_MANIFOLD_SMOOTHING_H

#include "device/context.h"
#include <abut/manifold.h>

/* Refuses what is out of range, naming the coefficient. */
abut_status check_smoothing(const abut_smoothing *s);

/* Uploads the coefficients (cl/geometry/coefficients.h). */
abut_status upload_coefficients(device *d, const abut_smoothing *s, buffer **out);

#endif
