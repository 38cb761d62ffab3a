#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/superquadric_row.h"
#include "geometry/layout.h"
#include <math.h>

#define EXPONENT_INVERSE_MOST 1e30 /* keeps differences times 1/e finite in float */

/* ---- definitions and files ---- */

static abut_status check(const void *one, size_t i)
{
  const abut_superquadric *s = one;
  for (int k = 0; k < 3; ++k) {
    if (!(s->axes[k] >= AXIS_LEAST && s->axes[k] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu: axis %d is %g, not in [%g, %g]", i, k,
                  s->axes[k], AXIS_LEAST, COORDINATE_MOST);
    }
  }
  for (int k = 0; k < 2; ++k) {
    if (!(s->exponents[k] > 0.0 && s->exponents[k] <= 2.0)) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu: exponent %d is %g, not in (0, 2]", i, k,
                  s->exponents[k]);
    }
  }
  const double *x = s->position, *q = s->quaternion;
  if (!all_within(x, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "superquadric %zu: position is %g %g %g, not within +-%g", i, x[0],
                x[1], x[2], COORDINATE_MOST);
  }
  if (!has_length(q, 4)) {
    return fail(
      ABUT_ERROR_BODY,
      "superquadric %zu: the quaternion %g %g %g %g has a length of 0, or one that is not finite",
      i, q[0], q[1], q[2], q[3]);
  }
  return ABUT_SUCCESS;
}

static abut_status read_exponents(const json_file *f, const json_at *parent, double *out)
{
  json_at at;
  TRY(read_vector(f, parent, "exponents", 2, out, &at));
  for (size_t i = 0; i < 2; i++) {
    if (!(out[i] > 0 && out[i] <= 2)) {
      json_at element = json_element(&at, i);
      return json_fail(f, &element, "%.9g is not in (0, 2]", out[i]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  static const char *const keys[] = {"axes", "exponents", "position", "quaternion", "operation"};
  abut_superquadric *s = one;
  json_at member;
  (void)memory;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(read_vector(f, at, "axes", 3, s->axes, &member));
  TRY(check_range(f, &member, 0, 3, AXIS_LEAST, COORDINATE_MOST));
  TRY(read_exponents(f, at, s->exponents));
  return read_placement(f, at, s->position, s->quaternion);
}

static void inform(const void *one, abut_body_info *info)
{
  (void)one;
  ++info->superquadrics;
}

/* ---- packing ---- */

static size_t room(const void *const *ones, size_t count)
{
  (void)ones;
  return count * SUPERQUADRIC_STRIDE + BALL_PLANES * PADDED_BALLS(count);
}

void superquadric_rotation(const double q[4], double m[9])
{
  const double scale = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double w = q[0] / scale, x = q[1] / scale, y = q[2] / scale, z = q[3] / scale;
  const double length = sqrt(w * w + x * x + y * y + z * z);
  w /= length;
  x /= length;
  y /= length;
  z /= length;
  m[0] = 1 - 2 * (y * y + z * z);
  m[1] = 2 * (x * y - w * z);
  m[2] = 2 * (x * z + w * y);
  m[3] = 2 * (x * y + w * z);
  m[4] = 1 - 2 * (x * x + z * z);
  m[5] = 2 * (y * z - w * x);
  m[6] = 2 * (x * z - w * y);
  m[7] = 2 * (y * z + w * x);
  m[8] = 1 - 2 * (x * x + y * y);
}

/* The largest or the least A u + B w on u^(1/e) + w^(1/e) = 1, u, w >= 0. By the sign of 1 - e, one
 * is at a corner and the other is a dual norm. */
static double extreme(double a, double b, double e, bool largest)
{
  const double corner = largest ? fmax(a, b) : fmin(a, b);
  if (largest == (e >= 1.0)) {
    return corner;
  }
  const double q = 1.0 / (1.0 - e);
  return corner * pow(pow(a / corner, q) + pow(b / corner, q), 1.0 - e);
}

/* The largest or the least sum of (A_i y_i / axes_i)^2 over the surface, slightly widened. If A are
 * the axes, it is the squared distance from the centre. */
static double extreme2(const abut_superquadric *s, const double a[3], bool largest)
{
  const double across = extreme(a[0] * a[0], a[1] * a[1], s->exponents[1], largest);
  const double all = extreme(across, a[2] * a[2], s->exponents[0], largest);
  return all * (largest ? 1.0 + 2e-5 : 1.0 - 2e-5);
}

static void pack_superquadric(packer *p, const abut_superquadric *s)
{
  double m[9], size2 = 0.0;
  superquadric_rotation(s->quaternion, m);
  for (size_t i = 0; i < 9; ++i) {
    reals_set(p->shape, p->at + i, m[i]);
  }
  for (size_t i = 0; i < 3; ++i) {
    reals_set(p->shape, p->at + SUPERQUADRIC_POSITION + i, s->position[i]);
    reals_set(p->shape, p->at + SUPERQUADRIC_AXES_INV + i, 1.0 / s->axes[i]);
    size2 += s->axes[i] * s->axes[i];
  }
  const double e1 = s->exponents[0], e2 = s->exponents[1];
  reals_set(p->shape, p->at + SUPERQUADRIC_E1, e1);
  reals_set(p->shape, p->at + SUPERQUADRIC_E1_INV, fmin(1.0 / e1, EXPONENT_INVERSE_MOST));
  reals_set(p->shape, p->at + SUPERQUADRIC_E2, e2);
  reals_set(p->shape, p->at + SUPERQUADRIC_E2_INV, fmin(1.0 / e2, EXPONENT_INVERSE_MOST));
  reals_set(p->shape, p->at + SUPERQUADRIC_FLOOR, 1e-12 * size2);
  static const double even[3] = {1.0, 1.0, 1.0};
  reals_set(p->shape, p->at + SUPERQUADRIC_OUTER, sqrt(extreme2(s, s->axes, true)));
  reals_set(p->shape, p->at + SUPERQUADRIC_MOST, sqrt(extreme2(s, even, true)));
  reals_set(p->shape, p->at + SUPERQUADRIC_LEAST, sqrt(extreme2(s, even, false)));
  for (size_t i = 0; i < 9; ++i) {
    reals_set(p->shape, p->at + SUPERQUADRIC_MAP + i, m[i % 3 * 3 + i / 3] / s->axes[i / 3]);
  }
  p->at += SUPERQUADRIC_STRIDE;
}

/* Packs bounding spheres. Padding is not read. */
static void pack_balls(packer *p, const void *const *ones, size_t count)
{
  const size_t padded = PADDED_BALLS(count);
  for (size_t i = 0; i < count; ++i) {
    const abut_superquadric *s = ones[i];
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, p->at + k * padded + i, s->position[k]);
    }
    reals_set(p->shape, p->at + 3 * padded + i, sqrt(extreme2(s, s->axes, true)));
  }
  p->at += BALL_PLANES * padded;
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    pack_superquadric(p, ones[i]);
  }
  pack_balls(p, ones, count);
  return ABUT_SUCCESS;
}

/* ---- pictures ---- */

/* The box of its rotated axes. */
static void cover_one(const packed *p, size_t at, box *b)
{
  double m[9], position[3], half[3];
  for (size_t i = 0; i < 9; ++i) {
    m[i] = packed_number(p, at + i);
  }
  for (size_t k = 0; k < 3; ++k) {
    position[k] = packed_number(p, at + SUPERQUADRIC_POSITION + k);
    half[k] = 1.0 / packed_number(p, at + SUPERQUADRIC_AXES_INV + k);
  }
  for (int i = 0; i < 8; ++i) {
    const double x = i & 1 ? half[0] : -half[0];
    const double y = i & 2 ? half[1] : -half[1];
    const double z = i & 4 ? half[2] : -half[2];
    double corner[3];
    for (int k = 0; k < 3; ++k) {
      corner[k] = m[3 * k] * x + m[3 * k + 1] * y + m[3 * k + 2] * z + position[k];
    }
    box_cover(b, corner);
  }
}

static void cover(const packed *p, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    cover_one(p, i * SUPERQUADRIC_STRIDE, b);
  }
}

/* ---- bounds ---- */

/* The largest a u + b w on u^(2/e) + w^(2/e) = 1: the dual norm. */
static double dual_norm(double a, double b, double e)
{
  return fmax(a, b) > 0.0 ? extreme(a, b, 0.5 * e, true) : 0.0;
}

/* Extent of the surface from its centre along an axis of the body, slightly rounded up. */
static double surface_reach(const packed *p, size_t at, size_t axis)
{
  double along[3];
  for (size_t k = 0; k < 3; ++k) {
    along[k] =
      fabs(packed_number(p, at + 3 * axis + k) / packed_number(p, at + SUPERQUADRIC_AXES_INV + k));
  }
  const double across = dual_norm(along[0], along[1], packed_number(p, at + SUPERQUADRIC_E2));
  return (1.0 + 1e-9) * dual_norm(across, along[2], packed_number(p, at + SUPERQUADRIC_E1));
}

/* Let n be a direction, h0 the function h without its 1e-12, which only raise h, and s the largest
 * n . y where h0(y) = 1. As h0 is homogeneous, h0(y) >= n . y / s. Where n . y > s + reach, phi = r
 * (1 - 1/h) >= |y| (1 - s / (n . y)) >= n . y - s > reach. So the box of the surface, grown by the
 * reach, contains all points with phi <= reach, for all exponents, although phi is not a Euclidean
 * distance.
 *
 * Devices round phi by at most 16 eps |y|. With S the surface's farthest point, phi >= |y| - S.
 * Within |y| <= 2 (S + reach), rounding takes at most 32 eps (S + reach). For larger |y|, it is a
 * small part of the excess of phi over the reach, |y| / 2. */
static void enclose_one(const packed *p, size_t at, double reach, box *b)
{
  const double farthest = packed_number(p, at + SUPERQUADRIC_OUTER);
  const double more = reach + FIELD_ROUNDINGS * packed_epsilon(p) * (farthest + reach);
  double lower[3], upper[3];
  for (size_t k = 0; k < 3; ++k) {
    const double centre = packed_number(p, at + SUPERQUADRIC_POSITION + k);
    const double half = surface_reach(p, at, k) + more;
    lower[k] = centre - half;
    upper[k] = centre + half;
  }
  box_cover(b, lower);
  box_cover(b, upper);
}

static void enclose(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    enclose_one(p, i * SUPERQUADRIC_STRIDE, reach, b);
  }
}

extern const family superquadrics_family;
const family superquadrics_family = {
  .key = "superquadrics",
  .one = "superquadric",
  .size = sizeof(abut_superquadric),
  .operation = offsetof(abut_superquadric, operation),
  .array = offsetof(abut_body_def, superquadrics),
  .count = offsetof(abut_body_def, superquadric_count),
  .stride = SUPERQUADRIC_STRIDE,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
};
