/* Rows of closest points: shapes with support maps of the tests' own, random poses, arrays for
 * every output. */
#ifndef ABUT_TESTS_ROWS_H
#define ABUT_TESTS_ROWS_H

#include "support/check.h"

/* ---- shapes ---- */

enum { VERTICES_MOST = 48 };

/* A definition together with its vertices. */
typedef struct solid {
  abut_shape_def def;
  double vertices[3 * VERTICES_MOST];
} solid;

/* A random shape of a kind, of about a metre, turned and moved in its frame in one of three, with a
 * radius in one of three. */
void random_solid(uint64_t *seed, abut_shape_kind kind, solid *out);

/* Makes shapes of definitions, whose vertices are their own. */
bool make_shapes(abut_context context, solid *solids, size_t count, abut_shape *out);

/* Finds the point of a shape that is farthest along u, in the frame that poses move, with the
 * radius. */
void support_of(const solid *s, const double u[3], double out[3]);

/* The norm of the extents along the shape's own axes, as abut_shape_info has it, with the
 * radius. */
double span_of(const solid *s);

/* g(n) = n . s2(-n) - n . s1(n), for poses of seven numbers: a lower bound of the distance for
 * every unit n. */
double separation(const solid *one, const solid *two, const double pose1[7], const double pose2[7],
                  const double n[3]);

/* ---- rows ---- */

enum { ROW_D, ROW_N, ROW_P1, ROW_P2, ROW_GAP, ROW_REALS };

typedef struct rows {
  abut_precision precision;
  abut_pose_kind kind;
  size_t count, width;
  uint32_t *one, *two;
  void *pose[2];
  void *reals[ROW_REALS];
  uint8_t *status;
  uint32_t *iterations;
  int32_t *simplex;
} rows;

/* Room for so many rows of poses of seven numbers, or of twists; all is 0. */
void rows_create(rows *r, abut_precision precision, abut_pose_kind kind, size_t count);
void rows_free(rows *r);

/* Sets a row's shapes and poses. */
void rows_put(rows *r, size_t row, uint32_t one, uint32_t two, const double *pose1,
              const double *pose2);

/* A pose as the precision holds it. */
void rows_pose(const rows *r, size_t row, int side, double *out);

double rows_at(const rows *r, int array, size_t i);
size_t rows_size(int array); /* reals a row */

/* A batch of rows from `first` on, with all outputs. */
abut_closest_batch rows_batch(const rows *r, const abut_shape *shapes, size_t shape_count,
                              size_t first, size_t count);

/* Whether rows agree to the bit, `count` of them from the given ones on. */
bool rows_same(const rows *a, size_t first_a, const rows *b, size_t first_b, size_t count,
               const char *what);

/* Random shapes, and two poses near each other: so that about half of random pairs overlap. */
void random_row(uint64_t *seed, rows *r, size_t row, const solid *solids, size_t solid_count);

#endif
