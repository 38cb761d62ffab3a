/* A batch with everything that derivatives take and give, for tests. */
#ifndef ABUT_TESTS_SLOPES_H
#define ABUT_TESTS_SLOPES_H

#include "scene.h"

/* Arrays in the context's precision. Outputs come in the order p, d, n, activity. */
typedef struct slopes {
  abut_pair pair, derivatives; /* the latter ABUT_SAME_PAIR unless a test says otherwise */
  abut_precision precision;
  abut_pose_kind kind;
  size_t count, contacts, width; /* width: 6 or 7 */
  void *pose[2], *along[2];      /* (N, width) */
  void *bars[4], *tangents[4];   /* (N, C or 3 C) */
  void *bar_tangents[4];         /* likewise, of the cotangents */
  void *gradient[2], *product[2];
  uint8_t *status;
} slopes;

/* Poses are left at zero; tangents of poses, cotangents and their tangents are normal numbers of
 * `seed`. */
bool slopes_create(slopes *s, abut_pair pair, abut_precision precision, abut_pose_kind kind,
                   size_t count, uint64_t seed);
void slopes_free(slopes *s);

size_t slopes_out(const slopes *s, int output); /* reals a pose of one output */
void slopes_put(slopes *s, int side, size_t pose, const double *numbers);
double slopes_at(const slopes *s, const void *array, size_t i);

/* The poses alone as a batch. */
abut_batch slopes_batch(const slopes *s);

#define ALL_BARS 0xfu /* bit i: output i has cotangents */
abut_status slopes_vjp(slopes *s, unsigned given);
abut_status slopes_vjp_tangent(slopes *s, unsigned given); /* products, and gradients */
abut_status slopes_jvp(slopes *s);
abut_status slopes_gradient(slopes *s, abut_reduction reduction);
abut_status slopes_hessian(slopes *s, abut_reduction reduction); /* products, and gradients */

/* The sum over rows' products of two arrays of `count` numbers from `first` on; adds the sum of
 * their absolute values to *size. */
double slopes_dot(const slopes *s, const void *a, const void *b, size_t first, size_t count,
                  double *size);

#endif
