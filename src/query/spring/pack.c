#include "query/spring/pack.h"

#include "base/error.h"
#include "body/parts.h"
#include "geometry/spring.h"
#include <limits.h>
#include <math.h>

#define LOG2E 1.44269504088896340736
#define FAR 4.0 /* cloud radii: from there exponents are relative to the cloud's centre */
#define COORDINATE_MOST 1e6 /* [m] */

size_t cloud_padded(const abut_cloud *cloud)
{
  return (cloud->count + SPRING_PAD - 1) / SPRING_PAD * SPRING_PAD;
}

void packed_free(packed_clouds *p)
{
  free(p->heads);
  free(p->shapes.data);
}

static size_t tiles_of(const abut_cloud *c)
{
  return (c->count + SPRING_TILE - 1) / SPRING_TILE;
}

static size_t numbers_of(const abut_cloud *c)
{
  return SPRING_ABOUT + c->count * (SPRING_RECORD + (c->kernels ? SPRING_KERNEL : 0)) +
         SPRING_PLANE_COUNT * cloud_padded(c) + SPRING_TILE_RECORD * tiles_of(c);
}

/* ---- checks ---- */

/* Inverts a symmetric matrix. Returns whether it is symmetric and positive definite. */
static bool invert(const double e[9], double out[SPRING_KERNEL])
{
  const double a = e[4] * e[8] - e[5] * e[5], b = e[2] * e[5] - e[1] * e[8],
               c = e[1] * e[5] - e[2] * e[4];
  const double minor = e[0] * e[4] - e[1] * e[1], whole = e[0] * a + e[1] * b + e[2] * c;
  const double size = e[0] + e[4] + e[8];
  const bool symmetric = fabs(e[1] - e[3]) + fabs(e[2] - e[6]) + fabs(e[5] - e[7]) <=
                         1e-9 * fabs(size);
  const double all[SPRING_KERNEL] = {
    a, b, c, e[0] * e[8] - e[2] * e[2], e[1] * e[2] - e[0] * e[5], minor};
  for (int k = 0; k < SPRING_KERNEL; ++k) {
    out[k] = all[k] / whole;
  }
  return symmetric && e[0] > 0.0 && minor > 0.0 && whole > 0.0 && isfinite(1.0 / whole);
}

static bool within(const double *x, size_t count, double most)
{
  bool good = true;
  for (size_t i = 0; i < count; ++i) {
    good = good && fabs(x[i]) <= most;
  }
  return good;
}

static abut_status check_point(const abut_cloud *c, size_t i)
{
  const double *n = c->normals + 3 * i;
  double inverse[SPRING_KERNEL];
  if (!within(c->points + 3 * i, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "point %zu of a cloud is beyond 1e6 m or not finite", i);
  }
  if (!within(n, 3, COORDINATE_MOST) || !(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 0.0)) {
    return fail(ABUT_ERROR_BODY, "point %zu of a cloud has a normal of length 0", i);
  }
  if (c->kernels ? !invert(c->kernels + 9 * i, inverse)
                 : !(c->eps1[i] >= 1e-18 && c->eps1[i] <= 1e18)) {
    return fail(ABUT_ERROR_BODY, "eps1 of point %zu of a cloud is not positive", i);
  }
  if (c->log_weights && !(c->log_weights[i] <= 1e3 && c->log_weights[i] >= -SPRING_NEVER)) {
    return fail(ABUT_ERROR_BODY, "point %zu of a cloud has a weight that is out of range", i);
  }
  return ABUT_SUCCESS;
}

static abut_status check_cloud(const abut_cloud *c)
{
  if (!c->count || c->count > ABUT_CLOUD_POINTS_MOST || !c->points || !c->normals ||
      (!c->eps1 && !c->kernels)) {
    return fail(
      ABUT_ERROR_BODY,
      "a cloud has %zu points (expected 1 to %d), or its points, normals or eps1 are NULL",
      c->count, ABUT_CLOUD_POINTS_MOST);
  }
  for (size_t i = 0; i < c->count; ++i) {
    TRY(check_point(c, i));
  }
  return ABUT_SUCCESS;
}

/* ---- numbers ---- */

typedef struct writer {
  reals *to;
  size_t at;
} writer;

static void put(writer *w, double x)
{
  reals_set(w->to, w->at++, x);
}

static double weight_of(const abut_cloud *c, size_t i)
{
  return c->log_weights ? c->log_weights[i] : 0.0;
}

/* Returns an upper bound on the largest eigenvalue of E. */
static double reach_of(const abut_cloud *c, size_t i)
{
  const double *e = c->kernels ? c->kernels + 9 * i : NULL;
  return e ? e[0] + e[4] + e[8] : c->eps1[i];
}

static void put_about(writer *w, const abut_cloud *c)
{
  double centre[3] = {0.0, 0.0, 0.0}, far2 = 0.0, kernel[SPRING_KERNEL] = {0.0};
  size_t widest = 0;
  for (size_t i = 0; i < c->count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      centre[k] += c->points[3 * i + k] / (double)c->count;
    }
    widest = reach_of(c, i) > reach_of(c, widest) ? i : widest;
  }
  for (size_t i = 0; i < c->count; ++i) {
    const double *p = c->points + 3 * i;
    const double x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2];
    far2 = fmax(far2, FAR * FAR * (x * x + y * y + z * z));
  }
  if (c->kernels) {
    (void)invert(c->kernels + 9 * widest, kernel);
  } else {
    kernel[0] = 1.0 / c->eps1[widest];
  }
  for (size_t k = 0; k < 3; ++k) {
    put(w, centre[k]);
  }
  put(w, far2);
  for (size_t k = 0; k < SPRING_KERNEL; ++k) {
    put(w, kernel[k] * LOG2E);
  }
}

static void put_point(writer *w, const abut_cloud *c, size_t i)
{
  const double *n = c->normals + 3 * i, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (size_t k = 0; k < 3; ++k) {
    put(w, c->points[3 * i + k]);
  }
  for (size_t k = 0; k < 3; ++k) {
    put(w, n[k] / length);
  }
  put(w, weight_of(c, i) * LOG2E);
  put(w, c->kernels ? 0.0 : LOG2E / c->eps1[i]);
}

static void put_kernel(writer *w, const abut_cloud *c, size_t i)
{
  double inverse[SPRING_KERNEL];
  (void)invert(c->kernels + 9 * i, inverse);
  for (size_t k = 0; k < SPRING_KERNEL; ++k) {
    put(w, inverse[k] * LOG2E);
  }
}

/* Writes the bounding sphere of a tile around the middle of its points' box. Its radius is slightly
 * enlarged, so that it contains the points after rounding. */
static void put_tile(writer *w, const abut_cloud *c, const uint32_t *order, size_t count)
{
  double centre[3], radius = 0.0, weight = -INFINITY, reach = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
      low = fmin(low, c->points[3 * order[i] + k]);
      high = fmax(high, c->points[3 * order[i] + k]);
    }
    centre[k] = 0.5 * (low + high);
  }
  for (size_t i = 0; i < count; ++i) {
    const double *p = c->points + 3 * order[i];
    const double x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2];
    radius = fmax(radius, sqrt(x * x + y * y + z * z));
    weight = fmax(weight, weight_of(c, order[i]));
    reach = fmax(reach, reach_of(c, order[i]));
  }
  const double size = fabs(centre[0]) + fabs(centre[1]) + fabs(centre[2]);
  put(w, centre[0]);
  put(w, centre[1]);
  put(w, centre[2]);
  put(w, radius * (1.0 + 1e-5) + 1e-6 * size);
  put(w, weight * LOG2E);
  put(w, LOG2E / reach);
}

/* Writes the planes. Padding repeats the last point, with a weight that is always ignored. */
static void put_planes(writer *w, const abut_cloud *c, const uint32_t *order)
{
  for (size_t k = 0; k < SPRING_PLANE_COUNT; ++k) {
    for (size_t i = 0; i < cloud_padded(c); ++i) {
      const uint32_t at = order[i < c->count ? i : c->count - 1];
      put(w, k < 3 ? c->points[3 * at + k] : i < c->count ? weight_of(c, at) : -SPRING_NEVER);
    }
  }
}

static void put_cloud(writer *w, const abut_cloud *c, int *head, const uint32_t *order)
{
  head[SPRING_COUNT] = (int)c->count;
  head[SPRING_PADDED] = (int)cloud_padded(c);
  head[SPRING_TILES] = (int)tiles_of(c);
  put_about(w, c);
  head[SPRING_RECORDS] = (int)w->at;
  for (size_t i = 0; i < c->count; ++i) {
    put_point(w, c, order[i]);
  }
  head[SPRING_KERNELS] = c->kernels ? (int)w->at : -1;
  for (size_t i = 0; c->kernels && i < c->count; ++i) {
    put_kernel(w, c, order[i]);
  }
  head[SPRING_PLANES] = (int)w->at;
  put_planes(w, c, order);
  head[SPRING_TILE_RECORDS] = (int)w->at;
  for (size_t i = 0; i < c->count; i += SPRING_TILE) {
    put_tile(w, c, order + i, c->count - i < SPRING_TILE ? c->count - i : SPRING_TILE);
  }
}

abut_status pack_clouds(const abut_cloud *clouds, size_t count, size_t real_size,
                        packed_clouds *out)
{
  size_t numbers = 0, places = 0;
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < count; ++i) {
    TRY(check_cloud(clouds + i));
    numbers += numbers_of(clouds + i);
    places += SPRING_HEAD_INTS + clouds[i].count;
    if (numbers > INT_MAX || places > INT_MAX) {
      return fail(ABUT_ERROR_BODY, "the clouds of a call have too many points");
    }
  }
  void *heads = NULL;
  TRY(allocate(&heads, places, sizeof(int)));
  out->heads = heads;
  out->head_count = places;
  TRY(reals_create(&out->shapes, numbers, real_size));
  writer w = {&out->shapes, 0};
  size_t order = SPRING_HEAD_INTS * count;
  for (size_t i = 0; i < count; ++i) {
    int *head = out->heads + SPRING_HEAD_INTS * i;
    head[SPRING_ORDER] = (int)order;
    sort_in_space(clouds[i].points, clouds[i].count, SPRING_TILE, (uint32_t *)(out->heads + order));
    put_cloud(&w, clouds + i, head, (const uint32_t *)(out->heads + order));
    order += clouds[i].count;
  }
  return ABUT_SUCCESS;
}
