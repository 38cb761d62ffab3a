/* Golden answers of springs, and pairs of bodies that ask for them. */
#ifndef ABUT_TESTS_SPRING_GOLDEN_H
#define ABUT_TESTS_SPRING_GOLDEN_H

#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;
static abut_precision precision;
static const char *root;

static inline double either(double in_double, double in_float)
{
  return precision == ABUT_FLOAT64 ? in_double : in_float;
}

static inline void *room(size_t count)
{
  void *at = calloc(count ? count : 1, real_size(precision));
  REQUIRE(at != NULL);
  return at;
}

static inline double number(const void *array, size_t i)
{
  return real_at(array, precision, i);
}

static inline void read_npz(const char *name, const char *file, abut_npz *out)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s/%s.npz", root, name, file);
  REQUIRE_OK(abut_read_npz(path, out));
}

static inline const double *reals_of(const abut_npz *from, const char *name)
{
  const abut_array *a = find_array(from, name);
  REQUIRE(a && a->type == ABUT_ARRAY_FLOAT64);
  return a->data;
}

static inline abut_cloud cloud_of(const char *name, const char *mesh, double eps1, bool area_weight)
{
  char path[1024];
  abut_cloud c;
  snprintf(path, sizeof path, "%s/%s/%s.obj", root, name, mesh);
  REQUIRE_OK(abut_load_cloud(path, eps1, area_weight, &c));
  return c;
}

static inline double largest(const double *x, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* The largest difference; one that is no number is beyond all bounds. */
static inline double off(const void *got, const double *wanted, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double d = fabs(number(got, i) - wanted[i]);
    most = d <= most ? most : isfinite(d) ? d : 1e300;
  }
  return most;
}

static inline void expect(const char *what, double error, double in_double, double in_float)
{
  printf("%-44s %.1e\n", what, error);
  check(error <= either(in_double, in_float), "%s is off by %g", what, error);
}

/* In float32 99 of 100 numbers are closer than all need be. */
static inline void expect_most(const char *what, const void *got, const double *wanted,
                               size_t count, double in_float)
{
  size_t beyond = 0;
  for (size_t i = 0; i < count; ++i) {
    beyond += !(fabs(number(got, i) - wanted[i]) <= in_float);
  }
  check(precision == ABUT_FLOAT64 || 100 * beyond <= count,
        "%s: %zu of %zu are off by more than %g", what, beyond, count, in_float);
}

/* Position and rotation vector -> position and quaternion. */
static inline void quaternion_pose(const double position[3], const double turn[3], double out[7])
{
  const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  const double share = angle > 1e-9 ? sin(0.5 * angle) / angle : 0.5;
  memcpy(out, position, 3 * sizeof *out);
  out[3] = cos(0.5 * angle);
  for (int k = 0; k < 3; ++k) {
    out[4 + k] = share * turn[k];
  }
}

static inline void cross(const double a[3], const double b[3], double out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Pairs of the first two clouds in double, and what comes back in the context's precision. */
typedef struct pairs {
  size_t count, points;
  double *pose1, *pose2, *twist1, *twist2;
  void *in[4];
  abut_spring call;
} pairs;

static inline double *doubles(size_t count)
{
  double *at = calloc(count ? count : 1, sizeof *at);
  REQUIRE(at != NULL);
  return at;
}

static inline pairs pairs_new(size_t count, const abut_cloud clouds[2])
{
  const double nowhere[3] = {0};
  pairs p = {.count = count, .points = clouds[0].count + clouds[1].count};
  p.pose1 = doubles(7 * count);
  p.pose2 = doubles(7 * count);
  p.twist1 = doubles(6 * count);
  p.twist2 = doubles(6 * count);
  for (size_t i = 0; i < count; ++i) {
    quaternion_pose(nowhere, nowhere, p.pose1 + 7 * i);
    quaternion_pose(nowhere, nowhere, p.pose2 + 7 * i);
  }
  p.call = abut_default_spring();
  p.call.clouds = clouds;
  p.call.cloud_count = 2;
  p.call.count = count;
  p.call.wrench1 = room(6 * count);
  p.call.wrench2 = room(6 * count);
  p.call.distance = room(count);
  p.call.width = p.points;
  p.call.separation = room(count * p.points);
  p.call.weights = room(count * p.points);
  return p;
}

static inline void pairs_put(pairs *p)
{
  const double *const from[4] = {p->pose1, p->pose2, p->twist1, p->twist2};
  for (int k = 0; k < 4; ++k) {
    free(p->in[k]);
    p->in[k] = to_reals(from[k], p->count * (k < 2 ? 7 : 6), precision);
  }
  p->call.pose1 = p->in[0];
  p->call.pose2 = p->in[1];
  p->call.twist1 = p->in[2];
  p->call.twist2 = p->in[3];
}

static inline void pairs_free(pairs *p)
{
  void *const all[] = {p->pose1,        p->pose2,        p->twist1,        p->twist2,
                       p->in[0],        p->in[1],        p->in[2],         p->in[3],
                       p->call.wrench1, p->call.wrench2, p->call.distance, p->call.separation,
                       p->call.weights};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

/* Body 1's wrench, then body 2's, with moments about the world's origin: (count, 2, 6). */
static inline double *world_wrenches(const pairs *p)
{
  double *out = doubles(12 * p->count);
  for (size_t i = 0; i < p->count; ++i) {
    for (size_t body = 0; body < 2; ++body) {
      const void *wrench = body ? p->call.wrench2 : p->call.wrench1;
      double *to = out + 12 * i + 6 * body, arm[3];
      for (size_t k = 0; k < 6; ++k) {
        to[k] = number(wrench, 6 * i + k);
      }
      cross((body ? p->pose2 : p->pose1) + 7 * i, to, arm);
      for (size_t k = 0; k < 3; ++k) {
        to[3 + k] += arm[k];
      }
    }
  }
  return out;
}

static inline double off_doubles(const double *got, const double *wanted, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double d = fabs(got[i] - wanted[i]);
    most = d <= most ? most : isfinite(d) ? d : 1e300;
  }
  return most;
}

/* A twist about the world's origin, spin first, as that of the body's own origin, velocity first.
 */
static inline void own_twist(const double spin[3], const double speed[3], const double position[3],
                             double out[6])
{
  cross(spin, position, out);
  for (int k = 0; k < 3; ++k) {
    out[k] += speed[k];
    out[3 + k] = spin[k];
  }
}

#endif
