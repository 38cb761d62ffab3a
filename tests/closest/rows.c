#include "closest/rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

static double between(uint64_t *seed, double least, double most)
{
  return least + (most - least) * random_uniform(seed);
}

static void random_vertices(uint64_t *seed, solid *s)
{
  static const size_t counts[] = {4, 6, 8, 12, 20, 48};
  const double scale[3] = {between(seed, 0.2, 1.0), between(seed, 0.2, 1.0),
                           between(seed, 0.2, 1.0)};
  const size_t count = counts[(size_t)(random_uniform(seed) * 6.0)];
  for (size_t i = 0; i < count; ++i) {
    double *v = s->vertices + 3 * i, length = 0.0;
    for (int k = 0; k < 3; ++k) {
      v[k] = random_normal(seed);
      length += v[k] * v[k];
    }
    for (int k = 0; k < 3; ++k) {
      v[k] *= scale[k] / sqrt(length);
    }
  }
  s->def.vertex_count = count;
}

void random_solid(uint64_t *seed, abut_shape_kind kind, solid *out)
{
  memset(out, 0, sizeof *out);
  out->def = abut_default_shape_def();
  out->def.kind = kind;
  if (kind == ABUT_SHAPE_HULL) {
    random_vertices(seed, out);
  }
  for (int k = 0; k < 3; ++k) {
    out->def.size[k] = between(seed, 0.15, 0.8);
  }
  out->def.exponents[0] = between(seed, 0.3, 1.7);
  out->def.exponents[1] = between(seed, 0.3, 1.7);
  if (random_uniform(seed) < 1.0 / 3.0) {
    out->def.radius = between(seed, 0.01, 0.2);
  }
  if (random_uniform(seed) < 1.0 / 3.0) {
    double pose[7];
    random_pose(seed, 0.3, pose);
    memcpy(out->def.position, pose, sizeof out->def.position);
    memcpy(out->def.quaternion, pose + 3, sizeof out->def.quaternion);
  }
}

bool make_shapes(abut_context context, solid *solids, size_t count, abut_shape *out)
{
  bool made = true;
  for (size_t i = 0; i < count && made; ++i) {
    solids[i].def.vertices = solids[i].def.vertex_count ? solids[i].vertices : NULL;
    made = CHECK_OK(abut_create_shape(context, &solids[i].def, &out[i]));
  }
  return made;
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void support_superquadric(const abut_shape_def *d, const double u[3], double out[3])
{
  const double p1 = 2.0 / (2.0 - d->exponents[0]), p2 = 2.0 / (2.0 - d->exponents[1]);
  double y[3], big = 0.0;
  for (int k = 0; k < 3; ++k) {
    y[k] = fabs(d->size[k] * u[k]);
    big = fmax(big, y[k]);
  }
  for (int k = 0; k < 3; ++k) {
    y[k] = fmax(y[k] / big, 1e-30);
  }
  const double larger = fmax(y[0], y[1]);
  const double m = larger * pow(pow(y[0] / larger, p2) + pow(y[1] / larger, p2), 1.0 / p2);
  const double total = pow(pow(m, p1) + pow(y[2], p1), 1.0 / p1), across = pow(m / total, p1 - 1.0);
  out[0] = copysign(d->size[0] * across * pow(y[0] / m, p2 - 1.0), u[0]);
  out[1] = copysign(d->size[1] * across * pow(y[1] / m, p2 - 1.0), u[1]);
  out[2] = copysign(d->size[2] * pow(y[2] / total, p1 - 1.0), u[2]);
}

static void support_hull(const solid *s, const double u[3], double out[3])
{
  size_t best = 0;
  for (size_t i = 1; i < s->def.vertex_count; ++i) {
    best = dot(s->vertices + 3 * i, u) > dot(s->vertices + 3 * best, u) ? i : best;
  }
  memcpy(out, s->vertices + 3 * best, 3 * sizeof *out);
}

/* Of cylinders, cones and capsules. */
static void support_around_z(const abut_shape_def *d, const double u[3], double out[3])
{
  const double r = d->size[0], h = d->size[1], length = sqrt(dot(u, u)), k = hypot(u[0], u[1]);
  if (d->kind == ABUT_SHAPE_CAPSULE) {
    for (int i = 0; i < 3; ++i) {
      out[i] = r * u[i] / length;
    }
    out[2] += copysign(h, u[2]);
    return;
  }
  const bool apex = d->kind == ABUT_SHAPE_CONE && 2.0 * h * u[2] >= r * k;
  out[0] = apex || k <= 0.0 ? 0.0 : r * u[0] / k;
  out[1] = apex || k <= 0.0 ? 0.0 : r * u[1] / k;
  out[2] = d->kind == ABUT_SHAPE_CYLINDER ? copysign(h, u[2]) : apex ? h : -h;
}

/* In the shape's own frame, without the radius. */
static void support_own(const solid *s, const double u[3], double out[3])
{
  const abut_shape_def *d = &s->def;
  const double au[3] = {d->size[0] * u[0], d->size[1] * u[1], d->size[2] * u[2]};
  switch (d->kind) {
  case ABUT_SHAPE_HULL:
    support_hull(s, u, out);
    break;
  case ABUT_SHAPE_SUPERQUADRIC:
    support_superquadric(d, u, out);
    break;
  case ABUT_SHAPE_SPHERE:
  case ABUT_SHAPE_BOX:
  case ABUT_SHAPE_ELLIPSOID:
    for (int k = 0; k < 3; ++k) {
      out[k] = d->kind == ABUT_SHAPE_BOX      ? copysign(d->size[k], u[k])
               : d->kind == ABUT_SHAPE_SPHERE ? d->size[0] * u[k] / sqrt(dot(u, u))
                                              : d->size[k] * au[k] / sqrt(dot(au, au));
    }
    break;
  default:
    support_around_z(d, u, out);
  }
}

static void place_of(const abut_shape_def *d, double pose[7])
{
  memcpy(pose, d->position, sizeof d->position);
  memcpy(pose + 3, d->quaternion, sizeof d->quaternion);
}

static void turn_back(const double pose[7], const double x[3], double out[3])
{
  const double back[7] = {0, 0, 0, pose[3], -pose[4], -pose[5], -pose[6]};
  apply(back, x, true, out);
}

/* Makes the quaternion's length 1. */
static void normalize(double pose[7])
{
  double most = 0.0, sum = 0.0;
  for (int k = 3; k < 7; ++k) {
    most = fmax(most, fabs(pose[k]));
  }
  for (int k = 3; k < 7; ++k) {
    pose[k] /= most;
    sum += pose[k] * pose[k];
  }
  for (int k = 3; k < 7; ++k) {
    pose[k] /= sqrt(sum);
  }
}

void support_of(const solid *s, const double u[3], double out[3])
{
  double place[7], own[3], at[3];
  place_of(&s->def, place);
  normalize(place);
  turn_back(place, u, own);
  support_own(s, own, at);
  apply(place, at, false, out);
  for (int k = 0; k < 3; ++k) {
    out[k] += s->def.radius * u[k] / sqrt(dot(u, u));
  }
}

double span_of(const solid *s)
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double ahead[3] = {k == 0, k == 1, k == 2}, back[3] = {-ahead[0], -ahead[1], -ahead[2]};
    double a[3], b[3];
    support_own(s, ahead, a);
    support_own(s, back, b);
    const double extent = a[k] - b[k] + 2.0 * s->def.radius;
    sum += extent * extent;
  }
  return sqrt(sum);
}

double separation(const solid *one, const solid *two, const double pose1[7], const double pose2[7],
                  const double n[3])
{
  const double back[3] = {-n[0], -n[1], -n[2]};
  double x1[7], x2[7], u1[3], u2[3], at1[3], at2[3], s1[3], s2[3];
  memcpy(x1, pose1, sizeof x1);
  memcpy(x2, pose2, sizeof x2);
  normalize(x1);
  normalize(x2);
  turn_back(x1, n, u1);
  turn_back(x2, back, u2);
  support_of(one, u1, at1);
  support_of(two, u2, at2);
  apply(x1, at1, true, s1);
  apply(x2, at2, true, s2);
  double g = 0.0;
  for (int k = 0; k < 3; ++k) {
    g += n[k] * (x2[k] - x1[k] + (s2[k] - s1[k]));
  }
  return g;
}

/* ---- rows ---- */

size_t rows_size(int array)
{
  return array == ROW_D || array == ROW_GAP ? 1 : 3;
}

void rows_create(rows *r, abut_precision precision, abut_pose_kind kind, size_t count)
{
  const size_t size = real_size(precision), room = count ? count : 1;
  *r = (rows){.precision = precision,
              .kind = kind,
              .count = count,
              .width = kind == ABUT_POSE_TWIST ? 6 : 7};
  r->one = calloc(room, sizeof *r->one);
  r->two = calloc(room, sizeof *r->two);
  for (int side = 0; side < 2; ++side) {
    r->pose[side] = calloc(room * r->width, size);
    REQUIRE(r->pose[side] != NULL);
  }
  for (int i = 0; i < ROW_REALS; ++i) {
    r->reals[i] = calloc(room * rows_size(i), size);
    REQUIRE(r->reals[i] != NULL);
  }
  r->status = calloc(room, 1);
  r->iterations = calloc(room, sizeof *r->iterations);
  r->simplex = calloc(room * 8, sizeof *r->simplex);
  REQUIRE(r->one && r->two && r->status && r->iterations && r->simplex);
}

void rows_free(rows *r)
{
  free(r->one);
  free(r->two);
  free(r->pose[0]);
  free(r->pose[1]);
  for (int i = 0; i < ROW_REALS; ++i) {
    free(r->reals[i]);
  }
  free(r->status);
  free(r->iterations);
  free(r->simplex);
}

void rows_put(rows *r, size_t row, uint32_t one, uint32_t two, const double *pose1,
              const double *pose2)
{
  r->one[row] = one;
  r->two[row] = two;
  for (size_t k = 0; k < r->width; ++k) {
    real_put(r->pose[0], r->precision, r->width * row + k, pose1[k]);
    real_put(r->pose[1], r->precision, r->width * row + k, pose2[k]);
  }
}

void rows_pose(const rows *r, size_t row, int side, double *out)
{
  for (size_t k = 0; k < r->width; ++k) {
    out[k] = real_at(r->pose[side], r->precision, r->width * row + k);
  }
}

double rows_at(const rows *r, int array, size_t i)
{
  return real_at(r->reals[array], r->precision, i);
}

static char *row_of(const rows *r, void *reals, size_t row, size_t width)
{
  return (char *)reals + row * width * real_size(r->precision);
}

abut_closest_batch rows_batch(const rows *r, const abut_shape *shapes, size_t shape_count,
                              size_t first, size_t count)
{
  abut_closest_batch b = abut_default_closest_batch();
  b.count = count;
  b.shapes = shapes;
  b.shape_count = shape_count;
  b.one = r->one + first;
  b.two = r->two + first;
  b.poses = r->kind;
  b.pose1 = row_of(r, r->pose[0], first, r->width);
  b.pose2 = row_of(r, r->pose[1], first, r->width);
  b.d = row_of(r, r->reals[ROW_D], first, 1);
  b.n = row_of(r, r->reals[ROW_N], first, 3);
  b.p1 = row_of(r, r->reals[ROW_P1], first, 3);
  b.p2 = row_of(r, r->reals[ROW_P2], first, 3);
  b.gap = row_of(r, r->reals[ROW_GAP], first, 1);
  b.status = r->status + first;
  b.iterations = r->iterations + first;
  b.simplex = r->simplex + 8 * first;
  return b;
}

bool rows_same(const rows *a, size_t first_a, const rows *b, size_t first_b, size_t count,
               const char *what)
{
  static const char *const names[ROW_REALS] = {"d", "n", "p1", "p2", "gap"};
  bool same = true;
  for (int i = 0; i < ROW_REALS; ++i) {
    const size_t width = rows_size(i), bytes = count * width * real_size(a->precision);
    same &= check(!memcmp(row_of(a, a->reals[i], first_a, width),
                          row_of(b, b->reals[i], first_b, width), bytes),
                  "%s: %s differs", what, names[i]);
  }
  same &=
    check(!memcmp(a->status + first_a, b->status + first_b, count), "%s: statuses differ", what);
  same &=
    check(!memcmp(a->iterations + first_a, b->iterations + first_b, count * sizeof *a->iterations),
          "%s: iterations differ", what);
  same &= check(!memcmp(a->simplex + 8 * first_a, b->simplex + 8 * first_b,
                        8 * count * sizeof *a->simplex),
                "%s: simplices differ", what);
  return same;
}

void random_row(uint64_t *seed, rows *r, size_t row, const solid *solids, size_t solid_count)
{
  const uint32_t one = (uint32_t)(random_uniform(seed) * (double)solid_count);
  const uint32_t two = (uint32_t)(random_uniform(seed) * (double)solid_count);
  double pose[2][7], u[3], length = 0.0;
  random_pose(seed, 1.0, pose[0]);
  random_pose(seed, 1.0, pose[1]);
  for (int k = 0; k < 3; ++k) {
    u[k] = random_normal(seed);
    length += u[k] * u[k];
  }
  const double reach = random_uniform(seed) * 0.6 * (span_of(&solids[one]) + span_of(&solids[two]));
  for (int k = 0; k < 3; ++k) {
    pose[1][k] = pose[0][k] + u[k] / sqrt(length) * reach;
  }
  double twists[2][6];
  CHECK_OK(abut_pose_log(ABUT_FLOAT64, 2, pose, twists));
  if (r->kind == ABUT_POSE_TWIST) {
    rows_put(r, row, one, two, twists[0], twists[1]);
  } else {
    rows_put(r, row, one, two, pose[0], pose[1]);
  }
}
