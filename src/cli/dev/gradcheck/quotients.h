/* Comparison of derivatives with central differences of three steps, and with other derivatives.
 *
 * The error of a quotient comes from the function's third derivative and from rounding; at a kink
 * the quotient is meaningless. The three steps h, h/2 and h/4 distinguish these cases. On a smooth
 * function, each step reduces the error to a quarter. Extrapolations from the first two and from
 * the last two steps then agree, and second differences over h vanish with h. Otherwise the entry
 * has not settled: it is tried again with shorter steps. If it never settles, it is counted as not
 * smooth and is not judged. Whether it settles depends only on the function, so this cannot hide a
 * wrong derivative. */
#ifndef ABUT_CLI_GRADCHECK_QUOTIENTS_H
#define ABUT_CLI_GRADCHECK_QUOTIENTS_H

#include <stdbool.h>
#include <stddef.h>

#define STEPS 3

/* A function at x, and at x - h and x + h for each h. */
typedef struct quotients {
  double span[STEPS]; /* from x - h to x + h after rounding */
  double middle, low[STEPS], high[STEPS];
} quotients;

/* The current judgement of one derivative. */
typedef struct entry {
  double error;      /* at the last settled step, relative to its scale; NaN before */
  bool sloped;       /* the error of the smallest step exceeded rounding */
  bool second_order; /* and the errors decreased as the square of the step */
} entry;

/* Position of an entry. */
typedef struct place {
  size_t pose, column;
} place;

typedef struct tally {
  double worst; /* largest difference of a smooth entry, relative to its scale */
  place at;     /* of the worst */
  size_t entries;
  size_t rough;        /* number of entries that are not smooth */
  size_t sloped;       /* entries whose error at the smallest step exceeds rounding */
  size_t second_order; /* of these, entries whose errors decrease as the square of the step */
} tally;

typedef enum verdict {
  VERDICT_OK,
  VERDICT_PARTS, /* a smooth entry differs by more than the limit */
  VERDICT_ROUGH  /* too many entries are not smooth: the check is inconclusive */
} verdict;

/* Limits for comparisons with differences, and of derivatives with each other. */
#define DIFFERENCE_LIMIT 1e-5
#define EXACT_LIMIT 1e-8

/* The scale of a parameter's derivatives: their largest magnitude, if it is not negligible compared
 * with the largest one of the same pose by any parameter. A motion without effect, such as a
 * capsule's spin about its axis, leaves only rounding errors. */
double parameter_scale(double largest, double largest_of_pose);
/* The smallest scale at which quotients exceed rounding. */
double rounding_scale(const quotients *q);
entry entry_start(void);
/* Returns false if shorter steps should be tried, because the entry has not settled or differs. */
bool entry_try(entry *e, const quotients *q, double derivative, double scale);
bool entry_agrees(const entry *e);
void tally_entry(tally *t, const entry *e, place at);
void tally_exact(tally *t, double derivative, double other, double scale, place at);
verdict judge(const tally *t, double limit);

#endif
