/* What the library says of derivatives against central differences of its own steps. */
#ifndef ABUT_TESTS_DERIVE_COMPARE_H
#define ABUT_TESTS_DERIVE_COMPARE_H

#include "derive.h"

typedef struct derive_trial {
  char name[256];
  double step_limit, roll_limit; /* of differences, relative to the largest entry of a world's
                                    array */
  double faint;                  /* of arrays whose largest entry is less, differences are mostly
                                    rounding */
  double left_out;               /* the largest share of columns at borders of zones */
  bool without[BY_ALL];          /* what has no effect */
} derive_trial;

/* Gradients and tangents, of one step its matrices too. Prints for each input the largest
 * difference and how many columns were left out, those at borders of zones. */
void derive_compare(const derive_trial *of, const derive *d, uint64_t *random);

#endif
