/* Positions of worlds and their tangent space: docs/dev/cone-formulas.md, section 2. */
#include "world/loaded.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/handle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double get(abut_precision precision, const void *array, size_t i)
{
  return precision == ABUT_FLOAT64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Writes x; clamped, so a finite number stays finite in float. */
static void put(abut_precision precision, void *array, size_t i, double x)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)array)[i] = x;
  } else {
    ((float *)array)[i] = (float)(isfinite(x) ? fmax(fmin(x, FLT_MAX), -FLT_MAX) : x);
  }
}

/* ---- quaternions w, x, y, z ---- */

/* Normalizes q and returns its previous length; 0 or NaN: not possible. */
static double unit(double q[4])
{
  const double largest = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) {
    q[k] /= largest;
    sum += q[k] * q[k];
  }
  for (int k = 0; k < 4; ++k) {
    q[k] /= sqrt(sum);
  }
  return largest * sqrt(sum);
}

static void product(const double a[4], const double b[4], double out[4])
{
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* Computes q (+) d = q exp(d / 2) for a unit quaternion q and a rotation vector d (3). */
static void turn(const double q[4], const double d[3], double out[4])
{
  const double angle = hypot(hypot(d[0], d[1]), d[2]);
  const double half = 0.5 * angle;
  const double scale = angle < 1e-4 ? 0.5 - angle * angle / 48.0 : sin(half) / angle;
  const double by[4] = {cos(half), scale * d[0], scale * d[1], scale * d[2]};
  product(q, by, out);
  unit(out);
}

/* Computes a (-) b, the shortest rotation vector d with b (+) d = a or -a, for unit quaternions a
 * and b. */
static void turn_between(const double a[4], const double b[4], double d[3])
{
  const double back[4] = {b[0], -b[1], -b[2], -b[3]};
  double r[4];
  product(back, a, r);
  const double sine = hypot(hypot(r[1], r[2]), r[3]), sign = r[0] < 0.0 ? -1.0 : 1.0;
  const double angle = 2.0 * atan2(sine, fabs(r[0]));
  const double scale = sine < 1e-8 ? 2.0 : angle / sine;
  for (int k = 0; k < 3; ++k) {
    d[k] = sign * scale * r[k + 1];
  }
}

/* Computes E(q) d = q (0, d); for small d, q (+) d changes by E(q) d / 2, with E (4, 3). */
static void along(const double q[4], const double d[3], double out[4])
{
  const double by[4] = {0.0, d[0], d[1], d[2]};
  product(q, by, out);
}

/* Computes E(q)' x. */
static void across(const double q[4], const double x[4], double out[3])
{
  const double back[4] = {q[0], -q[1], -q[2], -q[3]};
  double r[4];
  product(back, x, r);
  memcpy(out, r + 1, 3 * sizeof *out);
}

/* ---- worlds ---- */

/* A map from x to y at positions q of a world. Numbers outside quaternions are mapped one by one.
 * For each quaternion the function receives it normalized, its previous length, and its parts of x
 * and y. */
typedef struct position_map {
  double (*number)(double q, double x);
  void (*quaternion)(const double q[4], double length, const double *x, double *y);
  bool from_positions,
    to_positions; /* whether x and y have 4 numbers per quaternion, instead of 3 */
} position_map;

static bool all_finite(const double *x, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

static bool has_nan(const double *x, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (isnan(x[i])) {
      return true;
    }
  }
  return false;
}

/* Computes y of one world. Returns false if a quaternion has no positive length. */
static bool map_world(const loaded_scene *s, const position_map *m, const double *q,
                      const double *x, double *y)
{
  const scene_constants *c = &s->constants;
  for (size_t i = 0; i < s->def.link_count; ++i) {
    const joint_type type = s->def.links[i].joint.type;
    const int plain = JOINT_PLAIN(type);
    const int at = c->qadr[i], dof = c->vadr[i];
    const int from = m->from_positions ? at : dof, to = m->to_positions ? at : dof;
    for (int k = 0; k < plain; ++k) {
      y[to + k] = m->number(q[at + k], x[from + k]);
    }
    if (JOINT_HAS_QUATERNION(type)) {
      double of[4];
      memcpy(of, q + at + plain, sizeof of);
      const double length = unit(of);
      if (!(length > 0.0)) {
        return false;
      }
      m->quaternion(of, length, x + from + plain, y + to + plain);
    }
  }
  return true;
}

/* names: of the call, then of its arrays */
static abut_status map_worlds(abut_scene handle_, const char *const names[4], const position_map *m,
                              size_t count, const void *q, const void *x, void *y)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (count && !(q && x && y)) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: an array is NULL", names[0]);
  }
  const abut_precision precision = s->context->def.precision;
  const size_t nq = (size_t)s->constants.nq, nv = (size_t)s->constants.nv;
  const size_t in = m->from_positions ? nq : nv, out = m->to_positions ? nq : nv;
  const size_t width = nq > nv ? nq : nv, real = context_real_bytes(s->context);
  const memory_range all[] = {{names[1], q, rows_bytes(count, nq * real), MEMORY_REPLACED},
                              {names[2], x, rows_bytes(count, in * real), MEMORY_REPLACED},
                              {names[3], y, rows_bytes(count, out * real), MEMORY_WRITTEN}};
  TRY(check_ranges(all, 3));
  void *memory;
  TRY(allocate(&memory, 3 * width, sizeof(double)));
  double *own = memory, *from = own + width, *to = from + width;
  for (size_t world = 0; world < count; ++world) {
    for (size_t k = 0; k < nq; ++k) {
      own[k] = get(precision, q, world * nq + k);
    }
    for (size_t k = 0; k < in; ++k) {
      from[k] = get(precision, x, world * in + k);
    }
    const bool good = all_finite(own, nq) && all_finite(from, in) &&
                      map_world(s, m, own, from, to) && !has_nan(to, out);
    for (size_t k = 0; k < out; ++k) {
      put(precision, y, world * out + k, good ? to[k] : NAN);
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* ---- adding and subtracting ---- */

static double add(double q, double x)
{
  return q + x;
}

static void add_quaternion(const double q[4], double length, const double *x, double *y)
{
  (void)length;
  turn(q, x, y);
}

static double subtract(double q, double x)
{
  return x - q;
}

static void subtract_quaternion(const double q[4], double length, const double *x, double *y)
{
  (void)length;
  double of[4];
  memcpy(of, x, sizeof of);
  if (unit(of) > 0.0) {
    turn_between(of, q, y);
  } else {
    y[0] = y[1] = y[2] = NAN;
  }
}

abut_status abut_add_positions(abut_scene scene, size_t count, const void *q, const void *d,
                               void *moved)
{
  static const char *const names[] = {"abut_add_positions", "q", "d", "moved"};
  const position_map m = {add, add_quaternion, false, true};
  return map_worlds(scene, names, &m, count, q, d, moved);
}

abut_status abut_subtract_positions(abut_scene scene, size_t count, const void *left,
                                    const void *right, void *d)
{
  static const char *const names[] = {"abut_subtract_positions", "right", "left", "d"};
  const position_map m = {subtract, subtract_quaternion, true, false};
  return map_worlds(scene, names, &m, count, right, left, d);
}

/* ---- linear maps ---- */

static double keep(double q, double x)
{
  (void)q;
  return x;
}

static void scaled(double *y, int count, double factor)
{
  for (int k = 0; k < count; ++k) {
    y[k] *= factor;
  }
}

static void slope_to_tangent(const double q[4], double length, const double *x, double *y)
{
  across(q, x, y);
  scaled(y, 3, 2.0 / length);
}

static void slope_from_tangent(const double q[4], double length, const double *x, double *y)
{
  along(q, x, y);
  scaled(y, 4, 0.5 * length);
}

static void gradient_to_tangent(const double q[4], double length, const double *x, double *y)
{
  across(q, x, y);
  scaled(y, 3, 0.5 * length);
}

static void gradient_from_tangent(const double q[4], double length, const double *x, double *y)
{
  along(q, x, y);
  scaled(y, 4, 2.0 / length);
}

abut_status abut_map_positions(abut_scene scene, abut_position_map map, size_t count, const void *q,
                               const void *from, void *to)
{
  static const char *const names[] = {"abut_map_positions", "q", "from", "to"};
  static const position_map maps[] = {
    [ABUT_SLOPE_TO_TANGENT] = {keep, slope_to_tangent, true, false},
    [ABUT_SLOPE_FROM_TANGENT] = {keep, slope_from_tangent, false, true},
    [ABUT_GRADIENT_TO_TANGENT] = {keep, gradient_to_tangent, true, false},
    [ABUT_GRADIENT_FROM_TANGENT] = {keep, gradient_from_tangent, false, true},
  };
  if ((int)map < 0 || map > ABUT_GRADIENT_FROM_TANGENT) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown map of positions %d", (int)map);
  }
  return map_worlds(scene, names, &maps[map], count, q, from, to);
}
