/* Bodies, poses and output arrays that the tests of the core share. */
#ifndef ABUT_TESTS_SCENE_H
#define ABUT_TESTS_SCENE_H

#include "support/check.h"

/* A context on the tests' device with a bound on chunks and scratch; 0 leaves either to the
 * library. */
bool open_context(abut_precision precision, uint32_t chunk, uint64_t scratch, abut_context *out);

/* f32 where the first argument says so, else f64. */
abut_precision precision_of(int argc, char **argv);

/* A cube mesh of eight vertices, x varying slowest, and twelve edges, scaled by `half` along each
 * axis. */
void cube_def(const double half[3], double vertices[24], abut_body_def *def);

/* A pair of two cubes of 1 m, rounded a little, with fitted smoothing. */
abut_status make_cubes(abut_context context, abut_pair *pair);

/* A box: that mesh and one superquadric of the same half lengths with both exponents 0.1. */
bool make_box(abut_context context, const double half[3], abut_body *out);

/* A mesh of 7 to 10 random vertices within half a metre and mixed primitives, one subtracted. */
bool random_body(abut_context context, uint64_t *seed, abut_body *out);

/* The same with exponents of 0.5 and 1 alone: without the edges of superquadrics, of a millionth,
 * that no step of a difference quotient can be shorter than. */
bool smooth_body(abut_context context, uint64_t *seed, abut_body *out);

/* A body of any kind: 3 to 9 random vertices (at times two in one place), triangles and quads
 * among them, one to four primitives of all kinds, the first of them added, or a cloud made of the
 * mesh. */
bool any_body(abut_context context, uint64_t *seed, abut_body *out);

/* Bodies that hurt: a vertex at a superquadric's centre, edges of no length and parallel ones, one
 * vertex, no faces, sharp and pointed exponents, the largest and the least axes, the narrowest
 * cloud points, a bare mesh of a millimetre, and a cube whose scores tie. */
enum { AWKWARD = 9 };
bool awkward_bodies(abut_context context, abut_body bodies[AWKWARD]);

/* Position within +-reach and a random unit quaternion. */
void random_pose(uint64_t *seed, double reach, double pose[7]);

/* The product of two poses (position, quaternion), `first` applied last. */
void compose(const double first[7], const double second[7], double out[7]);

/* A pose applied to a point; with `turn_only`, its rotation alone. */
void apply(const double pose[7], const double x[3], bool turn_only, double out[3]);

/* The pose of a twist, in closed form. */
void exponential(const double twist[6], double pose[7]);

enum {
  OUT_P,
  OUT_D,
  OUT_N,
  OUT_ACTIVITY,
  OUT_MEAN,
  OUT_SUM,
  OUT_ENERGY,
  OUT_LEAST,
  OUT_SOFT,
  OUT_DISTANCE,
  OUT_SOFT_DISTANCE,
  OUT_WEIGHT, /* behind: those before the means are what slopes.h counts */
  OUT_ARRAYS
};

/* Everything that a call can give. */
typedef struct outputs {
  abut_precision precision;
  size_t count, contacts, rejected;
  void *arrays[OUT_ARRAYS];
  uint8_t *status;
  abut_compact compact;
} outputs;

size_t out_width(const outputs *o, int array); /* reals a pose */
double out_at(const outputs *o, int array, size_t i);

bool outputs_create(outputs *o, abut_pair pair, abut_precision precision, size_t count,
                    size_t capacity, double threshold);
void outputs_free(outputs *o);

/* Lets a batch of poses from `first` on write into the arrays of `wanted`, bits 1 << OUT_.... */
void outputs_attach(const outputs *o, abut_batch *batch, size_t first, unsigned wanted);
#define OUT_ALL ((1u << OUT_ARRAYS) - 1u)

/* Runs poses (count, 6 or 7), given in double, for all of `o`. */
abut_status run_poses(abut_pair pair, abut_pose_kind kind, const double *pose1, const double *pose2,
                      outputs *o);

/* Whether all arrays, statuses and the compact lists agree to the bit. */
bool outputs_same(const outputs *a, const outputs *b, const char *what);

#endif
