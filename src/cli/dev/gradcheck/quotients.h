/* How derivatives fare against central differences of three steps, and against other derivatives.
 *
 * A quotient at one step errs by the function's third derivative and by rounding, and says
 * nothing at a kink. Three steps, h, h/2 and h/4, tell these apart: on a smooth function the
 * error falls to a quarter with each, so that extrapolations from the first two and from the last
 * two agree, and the second differences over h vanish with h. Where they do not, the entry has not
 * settled: it is tried again with shorter steps, and where it never settles it is counted as not
 * smooth there, and not judged. Whether it settles is a matter of the function alone, so that no
 * wrong derivative can hide behind it. */
#ifndef ABUT_CLI_GRADCHECK_QUOTIENTS_H
#define ABUT_CLI_GRADCHECK_QUOTIENTS_H

#include <stdbool.h>
#include <stddef.h>

#define STEPS 3

/* A function at x, and at x - h and x + h for each h. */
typedef struct quotients {
  double span[STEPS]; /* from x - h to x + h as they were rounded */
  double middle, low[STEPS], high[STEPS];
} quotients;

/* One derivative in the making. */
typedef struct entry {
  double error;      /* where it settled last, relative to its scale; NaN before */
  bool sloped;       /* the smallest step erred by more than rounding */
  bool second_order; /* and the errors fell as the square of the step */
} entry;

/* Which entry it was. */
typedef struct place {
  size_t pose, column;
} place;

typedef struct tally {
  double worst; /* largest difference of a smooth entry, relative to its scale */
  place at;     /* of the worst */
  size_t entries;
  size_t rough;        /* of these, not smooth there */
  size_t sloped;       /* whose smallest step errs by more than rounding */
  size_t second_order; /* of these, whose errors fall as the square of the step */
} tally;

typedef enum verdict {
  VERDICT_OK,
  VERDICT_PARTS, /* a smooth entry differs by more than the limit */
  VERDICT_ROUGH  /* too many entries are not smooth: nothing is shown */
} verdict;

/* Limits of tallies against differences, and of derivatives against each other. */
#define DIFFERENCE_LIMIT 1e-5
#define EXACT_LIMIT 1e-8

/* The scale of a parameter's derivatives: the largest of them, where it stands out from the largest
 * of the same pose by any parameter. A motion that changes nothing, such as a capsule's spin about
 * its axis, leaves only rounding. */
double parameter_scale(double largest, double largest_of_pose);
/* The least scale at which quotients stand out from rounding. */
double rounding_scale(const quotients *q);
entry entry_start(void);
/* False where shorter steps are to be tried: it has not settled, or it differs. */
bool entry_try(entry *e, const quotients *q, double derivative, double scale);
bool entry_agrees(const entry *e);
void tally_entry(tally *t, const entry *e, place at);
void tally_exact(tally *t, double derivative, double other, double scale, place at);
verdict judge(const tally *t, double limit);

#endif
