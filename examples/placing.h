/* What examples/gauss_newton.c and examples/lbfgs.c share: two bodies, where B begins, what pulls
 * at it, and whether it has come to lie on A, by a measure that knows nothing of contacts. */
#ifndef ABUT_EXAMPLES_PLACING_H
#define ABUT_EXAMPLES_PLACING_H

#include <abut/abut.h>

/* A spring keeps B's centre near the vertical line that it began on, for there is no friction: so
 * far to the side, as a part of the size, it pulls with B's weight. */
#define PLACING_TETHER 0.1

typedef struct placing {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair;   /* to be placed by */
  abut_pair fitted; /* to be judged by: of abut_fit_smoothing */
  abut_smoothing smoothing;
  size_t edges;      /* first slot of contacts of edges */
  double size;       /* larger bounding diagonal [m] */
  double lever;      /* a turn of 1 counts as a way of so much [m] */
  double centre[3];  /* mean of B's vertices, where its weight acts, in its own frame [m] */
  double above[2];   /* x and y of that centre at the begin, over A [m] */
  double pose[2][7]; /* of A, which stays, and of B */
} placing;

/* Loads A and B in float64, on the default device where it has that, else on the host path, and
 * puts B above A, its box's middle over A's, tilted a little and turned. `softness` is the pair's
 * coefficient `penetration`, as a part of the size. */
abut_status placing_open(placing *p, const char *a, const char *b, double softness);

/* The height of B's centre, and how far it is from the vertical line that it began on, along x and
 * y [m]. */
double placing_height(const placing *p, const double pose[7]);
void placing_drift(const placing *p, const double pose[7], double drift[2]);

/* The gradient of the centre's coordinate along one of the world's axes, by a step of B in its own
 * frame (ABUT_FRAME_BODY): what a unit force there does. */
void placing_centre_slope(const placing *p, const double pose[7], int axis, double slope[6]);

/* Length of a step, turns by the lever [m]. */
double placing_length(const placing *p, const double step[6]);

/* Whether B lies on A, and prints why: at rest, by the gradient of what was minimised along a step
 * in B's frame, in weights of B; by three active contacts or more; hardly held aside by the tether;
 * and no surface inside the other body. That asks the bodies' fields alone: at the vertices of both
 * and at the middles of their edges, which are first brought onto the surface. */
abut_status placing_judge(const placing *p, const double gradient[6], bool *placed);

/* OUT-NAME.npz, which `abut render` draws. */
abut_status placing_save(const placing *p, const char *out, const char *name);

#endif
