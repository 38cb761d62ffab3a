#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const kind_names[ABUT_CCD_KINDS] = {"points", "point and edge", "point and triangle",
                                                "edges"};
const size_t kind_vertices[ABUT_CCD_KINDS] = {2, 3, 4, 4};
const char *const group_names[GROUPS] = {"random",   "near",     "parallel", "degenerate",
                                         "touching", "coplanar", "still",    "huge",
                                         "tiny",     "scales",   "grid"};

static void *new_reals(const pairs *p, size_t width)
{
  const size_t reals = p->count * width;
  void *at = calloc(reals > 0 ? reals : 1, real_size(p->precision));
  REQUIRE(at != NULL);
  return at;
}

void pairs_create(pairs *p, abut_precision precision, abut_ccd_kind kind, size_t count)
{
  *p =
    (pairs){.precision = precision, .kind = kind, .count = count, .width = 3 * kind_vertices[kind]};
  p->x0 = new_reals(p, p->width);
  p->x1 = new_reals(p, p->width);
  p->by_x0 = new_reals(p, p->width);
  p->by_x1 = new_reals(p, p->width);
  p->toi = new_reals(p, 1);
  p->n = new_reals(p, 3);
  p->d0 = new_reals(p, 1);
  p->status = malloc(count ? count : 1);
  p->iterations = calloc(count ? count : 1, 2 * sizeof *p->iterations);
  REQUIRE(p->status && p->iterations);
  memset(p->status, 77, count);
}

void pairs_free(pairs *p)
{
  void *const all[] = {p->x0, p->x1, p->by_x0,  p->by_x1,     p->toi,
                       p->n,  p->d0, p->status, p->iterations};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

void pairs_put(pairs *p, size_t row, const double x0[12], const double x1[12])
{
  for (size_t i = 0; i < p->width; ++i) {
    real_put(p->x0, p->precision, row * p->width + i, x0[i]);
    real_put(p->x1, p->precision, row * p->width + i, x1[i]);
  }
}

void pairs_get(const pairs *p, size_t row, double x0[12], double x1[12])
{
  for (size_t i = 0; i < 12; ++i) {
    x0[i] = i < p->width ? real_at(p->x0, p->precision, row * p->width + i) : 0.0;
    x1[i] = i < p->width ? real_at(p->x1, p->precision, row * p->width + i) : 0.0;
  }
}

static void *from_row(const pairs *p, void *array, size_t row, size_t width)
{
  return (char *)array + row * width * real_size(p->precision);
}

abut_ccd_queries pairs_batch(const pairs *p, size_t first, size_t count)
{
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = p->kind;
  q.count = count;
  q.x0 = from_row(p, p->x0, first, p->width);
  q.x1 = from_row(p, p->x1, first, p->width);
  q.toi = from_row(p, p->toi, first, 1);
  q.n = from_row(p, p->n, first, 3);
  q.d0 = from_row(p, p->d0, first, 1);
  q.status = p->status + first;
  q.iterations = p->iterations + 2 * first;
  return q;
}

abut_status pairs_gradient(abut_context context, const pairs *p, abut_ccd_queries *q, size_t first)
{
  return abut_ccd_queries_gradient(context, q, from_row(p, p->by_x0, first, p->width),
                                   from_row(p, p->by_x1, first, p->width));
}

static bool same(const pairs *p, const void *a, size_t first_a, const void *b, size_t first_b,
                 size_t count, size_t width)
{
  const size_t size = width * real_size(p->precision);
  return memcmp((const char *)a + first_a * size, (const char *)b + first_b * size, count * size) ==
         0;
}

void pairs_same(const pairs *a, size_t first_a, const pairs *b, size_t first_b, size_t count,
                const char *what)
{
  const char *name = kind_names[a->kind];
  check(same(a, a->toi, first_a, b->toi, first_b, count, 1), "%s, %s: toi differs", what, name);
  check(same(a, a->n, first_a, b->n, first_b, count, 3), "%s, %s: n differs", what, name);
  check(same(a, a->d0, first_a, b->d0, first_b, count, 1), "%s, %s: d0 differs", what, name);
  check(same(a, a->by_x0, first_a, b->by_x0, first_b, count, a->width), "%s, %s: by_x0 differs",
        what, name);
  check(same(a, a->by_x1, first_a, b->by_x1, first_b, count, a->width), "%s, %s: by_x1 differs",
        what, name);
  check(!memcmp(a->status + first_a, b->status + first_b, count), "%s, %s: statuses differ", what,
        name);
  check(!memcmp(a->iterations + 2 * first_a, b->iterations + 2 * first_b,
                count * 2 * sizeof *a->iterations),
        "%s, %s: iterations differ", what, name);
}

/* ---- random vertices ---- */

static double between(uint64_t *seed, double low, double high)
{
  return low + (high - low) * random_uniform(seed);
}

static void spread(uint64_t *seed, double size, double x[12])
{
  for (int i = 0; i < 12; ++i) {
    x[i] = size * between(seed, -1.0, 1.0);
  }
}

/* Moves the first feature so that a point of it is a point of the second. */
static void bring_together(uint64_t *seed, abut_ccd_kind kind, double x[12])
{
  const int first = kind == ABUT_CCD_EDGE_EDGE ? 2 : 1, all = (int)kind_vertices[kind];
  double weight[4] = {1.0, 1.0, 0.0, 0.0}, sum[2] = {0.0, 0.0};
  for (int i = 0; i < all; ++i) {
    weight[i] = random_uniform(seed) + 1e-3;
    sum[i >= first] += weight[i];
  }
  for (int k = 0; k < 3; ++k) {
    double apart = 0.0;
    for (int i = 0; i < all; ++i) {
      apart += (i < first ? 1.0 : -1.0) * weight[i] / sum[i >= first] * x[3 * i + k];
    }
    for (int i = 0; i < first; ++i) {
      x[3 * i + k] -= apart;
    }
  }
}

/* Lets edges be parallel, and points lie above one another. */
static void make_parallel(uint64_t *seed, abut_ccd_kind kind, double x[12])
{
  for (int k = 0; k < 3 && kind != ABUT_CCD_POINT_POINT; ++k) {
    const int a = kind == ABUT_CCD_EDGE_EDGE ? 6 : 3;
    x[a + 3 + k] = x[a + k] + (x[3 + k] - x[k]) * (random_uniform(seed) < 0.5 ? 1.0 : 0.5);
  }
}

static void degenerate(uint64_t *seed, abut_ccd_kind kind, double x[12])
{
  const int all = (int)kind_vertices[kind], from = (int)(random_uniform(seed) * all),
            to = (int)(random_uniform(seed) * all);
  const double slight = random_uniform(seed) < 0.5 ? 0.0 : 1e-6;
  for (int k = 0; k < 3; ++k) {
    x[3 * to + k] = x[3 * from + k] + slight * random_normal(seed);
  }
}

static void scale(double x[12], double by)
{
  for (int i = 0; i < 12; ++i) {
    x[i] *= by;
  }
}

void random_pair(uint64_t *seed, int group, abut_precision precision, abut_ccd_kind kind,
                 double x0[12], double x1[12])
{
  const bool is_double = precision == ABUT_FLOAT64;
  spread(seed, 1.0, x0);
  spread(seed, 1.0, x1);
  if (group == NEAR) {
    bring_together(seed, kind, x0);
    for (int i = 0; i < 12; ++i) {
      x1[i] = x0[i] + 0.05 * x1[i];
      x0[i] += 1e-3 * random_normal(seed);
    }
  } else if (group == PARALLEL) {
    make_parallel(seed, kind, x0);
    make_parallel(seed, kind, x1);
  } else if (group == DEGENERATE) {
    degenerate(seed, kind, x0);
    degenerate(seed, kind, x1);
  } else if (group == TOUCHING) {
    bring_together(seed, kind, random_uniform(seed) < 0.25 ? x0 : x1);
  } else if (group == COPLANAR) {
    for (int i = 2; i < 12; i += 3) {
      x0[i] = x1[i] = 0.25;
    }
  } else if (group == STILL) {
    memcpy(x1, x0, 12 * sizeof *x1);
  } else if (group == HUGE_) {
    scale(x0, is_double ? 1e300 : 1e37);
    scale(x1, is_double ? 1e300 : 1e37);
  } else if (group == TINY) {
    scale(x0, is_double ? 1e-300 : 1e-36);
    scale(x1, is_double ? 1e-300 : 1e-36);
  } else if (group == SCALES) {
    const double by = pow(10.0, floor(between(seed, -15.0, 16.0)));
    scale(x0, by);
    scale(x1, by);
  } else if (group == GRID) {
    for (int i = 0; i < 12; ++i) {
      x0[i] = floor(3.0 * x0[i]);
      x1[i] = floor(3.0 * x1[i]);
    }
  }
}

/* ---- distances ---- */

void vertices_at(const double x0[12], const double x1[12], double t, long double x[12])
{
  for (int i = 0; i < 12; ++i) {
    x[i] = x0[i] + ((long double)x1[i] - x0[i]) * (long double)t;
  }
}

static long double dot(const long double a[3], const long double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void sub(const long double a[3], const long double b[3], long double to[3])
{
  for (int k = 0; k < 3; ++k) {
    to[k] = a[k] - b[k];
  }
}

static void cross(const long double a[3], const long double b[3], long double to[3])
{
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

static long double to_edge(const long double p[3], const long double a[3], const long double b[3])
{
  long double e[3], w[3];
  sub(b, a, e);
  sub(p, a, w);
  const long double ee = dot(e, e), s = ee > 0.0L ? fminl(fmaxl(dot(w, e) / ee, 0.0L), 1.0L) : 0.0L;
  for (int k = 0; k < 3; ++k) {
    w[k] -= s * e[k];
  }
  return sqrtl(dot(w, w));
}

/* To the plane or between the lines, where the feet are inside; else as much as there is. */
static long double inside(abut_ccd_kind kind, const long double x[12])
{
  const bool is_triangle = kind == ABUT_CCD_POINT_TRIANGLE;
  const long double *base = is_triangle ? x + 3 : x + 6;
  long double e[3], f[3], w[3], n[3], u[3], v[3];
  sub(is_triangle ? x + 6 : x + 3, is_triangle ? x + 3 : x, e);
  sub(x + 9, base, f);
  sub(x, base, w);
  cross(e, f, n);
  const long double nn = dot(n, n);
  cross(w, f, u);
  cross(e, w, v);
  const long double s = (is_triangle ? 1.0L : -1.0L) * dot(u, n), t = dot(v, n);
  const bool is_inside = s >= 0.0L && t >= 0.0L && (is_triangle ? s + t <= nn : s <= nn && t <= nn);
  return nn > 0.0L && is_inside ? fabsl(dot(w, n)) / sqrtl(nn) : INFINITY;
}

long double distance_of(abut_ccd_kind kind, const long double given[12])
{
  long double x[12], most = 0.0L, d;
  for (size_t i = 0; i < 3 * kind_vertices[kind]; ++i) {
    most = fmaxl(most, fabsl(given[i]));
  }
  if (most == 0.0L) {
    return 0.0L;
  }
  for (size_t i = 0; i < 12; ++i) {
    x[i] = given[i] / most;
  }
  if (kind == ABUT_CCD_POINT_POINT) {
    return most * to_edge(x, x + 3, x + 3);
  }
  if (kind == ABUT_CCD_EDGE_EDGE) {
    d = fminl(fminl(to_edge(x, x + 6, x + 9), to_edge(x + 3, x + 6, x + 9)),
              fminl(to_edge(x + 6, x, x + 3), to_edge(x + 9, x, x + 3)));
    return most * fminl(d, inside(kind, x));
  }
  d = to_edge(x, x + 3, x + 6);
  if (kind == ABUT_CCD_POINT_TRIANGLE) {
    d = fminl(d, fminl(to_edge(x, x + 3, x + 9), to_edge(x, x + 6, x + 9)));
    d = fminl(d, inside(kind, x));
  }
  return most * d;
}
