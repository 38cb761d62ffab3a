/* Rows of queries in a precision, with room for every answer; and the distance of two features in
 * double. */
#ifndef ABUT_TESTS_PAIRS_H
#define ABUT_TESTS_PAIRS_H

#include "support/check.h"

typedef struct pairs {
  abut_precision precision;
  abut_ccd_kind kind;
  size_t count, width; /* width: reals of a row's vertices */
  void *x0, *x1, *toi, *n, *d0, *by_x0, *by_x1;
  uint8_t *status;
  uint32_t *iterations;
} pairs;

extern const char *const kind_names[ABUT_CCD_KINDS];
extern const size_t kind_vertices[ABUT_CCD_KINDS];

void pairs_create(pairs *p, abut_precision precision, abut_ccd_kind kind, size_t count);
void pairs_free(pairs *p);

/* Sets a row's vertices, rounded to the precision. */
void pairs_put(pairs *p, size_t row, const double x0[12], const double x1[12]);

/* A row's vertices as they are held; numbers that the kind has not are 0. */
void pairs_get(const pairs *p, size_t row, double x0[12], double x1[12]);

/* A batch of some of the rows, that asks for all answers. */
abut_ccd_queries pairs_batch(const pairs *p, size_t first, size_t count);

/* Computes some of the rows with gradients. */
abut_status pairs_gradient(abut_context context, const pairs *p, abut_ccd_queries *q, size_t first);

/* Checks that rows have the same answers to the bit. */
void pairs_same(const pairs *a, size_t first_a, const pairs *b, size_t first_b, size_t count,
                const char *what);

/* Random vertices of one of the groups. */
enum {
  RANDOM,
  NEAR,
  PARALLEL,
  DEGENERATE,
  TOUCHING,
  COPLANAR,
  STILL,
  HUGE_,
  TINY,
  SCALES,
  GRID,
  GROUPS
};
extern const char *const group_names[GROUPS];
void random_pair(uint64_t *seed, int group, abut_precision precision, abut_ccd_kind kind,
                 double x0[12], double x1[12]);

/* The vertices at a time, and the distance between the features there, both in long double. */
void vertices_at(const double x0[12], const double x1[12], double t, long double x[12]);
long double distance_of(abut_ccd_kind kind, const long double x[12]);

#endif
