/* How derivatives fare against central differences of three steps. */
#ifndef ABUT_TESTS_TALLY_H
#define ABUT_TESTS_TALLY_H

#include <math.h>
#include <stddef.h>

/* Over all points so far. */
typedef struct tally {
  double value;           /* largest difference of plain and dual values, relative */
  double worst;           /* largest difference from the extrapolated quotient, relative */
  size_t entries, sloped; /* derivatives; those whose quotient's error is above rounding */
  size_t second_order;    /* of these, with errors that fall as the square of the step */
} tally;

/* One derivative along one tangent: quotients at steps h, h/2 and h/4. */
static inline void tally_entry(tally *t, const double quotient[3], double derivative, double scale)
{
  const double finest = (4.0 * quotient[2] - quotient[1]) / 3.0;
  const double e1 = fabs(quotient[0] - derivative), e2 = fabs(quotient[1] - derivative);
  const double e3 = fabs(quotient[2] - derivative);
  ++t->entries;
  t->worst = fmax(t->worst, fabs(finest - derivative) / scale);
  if (e3 > 1e-7 * scale) {
    ++t->sloped;
    t->second_order += e1 > 3.0 * e2 && e1 < 5.0 * e2 && e2 > 3.0 * e3 && e2 < 5.0 * e3;
  }
}

#endif
