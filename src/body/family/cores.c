#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/superquadric_row.h"
#include "geometry/layout.h"
#include <float.h>
#include <math.h>

#define SOFT 0.01 /* of the radius: keeps roots away from 0 */

/* ---- definitions and files ---- */

static const char *name_of(const abut_core *c)
{
  return c->kind == ABUT_CORE_DISC ? "disc" : "box";
}

static size_t length_count(const abut_core *c)
{
  return c->kind == ABUT_CORE_DISC ? 2 : 3;
}

static bool is_half(const abut_core *c, double x)
{
  return x >= 0.0 && x <= COORDINATE_MOST && !(c->kind == ABUT_CORE_DISC && x <= 0.0);
}

static abut_status check(const void *one, size_t i)
{
  const abut_core *c = one;
  if (c->kind != ABUT_CORE_BOX && c->kind != ABUT_CORE_DISC) {
    return fail(ABUT_ERROR_BODY, "core %zu: unknown kind %d", i, (int)c->kind);
  }
  for (size_t k = 0; k < length_count(c); ++k) {
    if (!is_half(c, c->half[k])) {
      return fail(ABUT_ERROR_BODY,
                  "core %zu: length %zu of its %s is %g; it must be %s and at most %g", i, k,
                  name_of(c), c->half[k], c->kind == ABUT_CORE_DISC ? "above 0" : "0 or above",
                  COORDINATE_MOST);
    }
  }
  if (!(c->radius >= CORE_RADIUS_LEAST && c->radius <= COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "core %zu: radius is %g, not in [%g, %g]", i, c->radius,
                CORE_RADIUS_LEAST, COORDINATE_MOST);
  }
  const double *x = c->position, *q = c->quaternion;
  if (!all_within(x, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "core %zu: position is %g %g %g, not within +-%g", i, x[0], x[1],
                x[2], COORDINATE_MOST);
  }
  if (!has_length(q, 4)) {
    return fail(ABUT_ERROR_BODY,
                "core %zu: the quaternion %g %g %g %g has a length of 0, or one that is not finite",
                i, q[0], q[1], q[2], q[3]);
  }
  return ABUT_SUCCESS;
}

/* Reads the box or the disc; exactly one is required. */
static abut_status read_lengths(const json_file *f, const json_at *at, abut_core *c)
{
  json_at box_at, disc_at;
  const bool is_box = json_find(at, "box", &box_at), is_disc = json_find(at, "disc", &disc_at);
  if (is_box == is_disc) {
    return json_fail(f, at,
                     is_box ? "has both a box and a disc; a core has only one of them"
                            : "has no box and no disc; a core has one of them");
  }
  const json_at *lengths = is_box ? &box_at : &disc_at;
  c->kind = is_box ? ABUT_CORE_BOX : ABUT_CORE_DISC;
  TRY(json_numbers(f, lengths, length_count(c), c->half));
  for (size_t k = 0; k < length_count(c); ++k) {
    if (!is_half(c, c->half[k])) {
      json_at element = json_element(lengths, k);
      return json_fail(f, &element, "is %.9g; it must be %s and at most %g", c->half[k],
                       is_box ? "0 or above" : "above 0", COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  static const char *const keys[] = {"box",      "disc",       "radius",
                                     "position", "quaternion", "operation"};
  abut_core *c = one;
  json_at member;
  (void)memory;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(read_lengths(f, at, c));
  TRY(json_need(f, at, "radius", &member));
  TRY(json_number(f, &member, &c->radius));
  if (!(c->radius >= CORE_RADIUS_LEAST && c->radius <= COORDINATE_MOST)) {
    return json_fail(f, &member, "%.9g is not in [%g, %g]", c->radius, CORE_RADIUS_LEAST,
                     COORDINATE_MOST);
  }
  return read_placement(f, at, c->position, c->quaternion);
}

static void inform(const void *one, abut_body_info *info)
{
  (void)one;
  ++info->cores;
}

/* ---- packing ---- */

static size_t room(const void *const *ones, size_t count)
{
  (void)ones;
  return count * CORE_STRIDE;
}

/* Rounding error of a distance, from coordinates in the core's frame. They are at most the lengths
 * plus the distance. */
static double rounding_of(const abut_core *c, double epsilon)
{
  double size = c->radius;
  for (size_t k = 0; k < 3; ++k) {
    size += fabs(c->position[k]) + (k < length_count(c) ? c->half[k] : 0.0);
  }
  return FIELD_ROUNDINGS * epsilon * size;
}

static void pack_core(packer *p, const abut_core *c)
{
  const bool disc = c->kind == ABUT_CORE_DISC;
  const double width = 0.5 * c->radius, soft = SOFT * c->radius;
  double m[9];
  superquadric_rotation(c->quaternion, m);
  for (size_t i = 0; i < 9; ++i) {
    reals_set(p->shape, p->at + i, m[i]);
  }
  for (size_t k = 0; k < 3; ++k) {
    reals_set(p->shape, p->at + CORE_POSITION + k, c->position[k]);
    reals_set(p->shape, p->at + CORE_HALF + k, k < length_count(c) ? c->half[k] : 0.0);
  }
  reals_set(p->shape, p->at + CORE_WIDTH, width);
  reals_set(p->shape, p->at + CORE_WIDTH_INV, 1.0 / width);
  reals_set(p->shape, p->at + CORE_SOFT, soft * soft);
  reals_set(p->shape, p->at + CORE_OFFSET, hypot(c->radius, soft));
  reals_set(p->shape, p->at + CORE_KIND, disc ? CORE_IS_DISC : CORE_IS_BOX);
  reals_set(p->shape, p->at + CORE_SOLID,
            disc || (c->half[0] > 0.0 && c->half[1] > 0.0 && c->half[2] > 0.0) ? 1.0 : 0.0);
  reals_set(p->shape, p->at + CORE_ROUNDING,
            rounding_of(c, p->shape->size == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON));
  p->at += CORE_STRIDE;
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    pack_core(p, ones[i]);
  }
  return ABUT_SUCCESS;
}

/* ---- boxes ---- */

/* Extent of the core without its radius along an axis of the body. */
static double core_reach(const packed *p, size_t at, size_t axis)
{
  double m[3], half[3];
  for (size_t k = 0; k < 3; ++k) {
    m[k] = fabs(packed_number(p, at + 3 * axis + k));
    half[k] = packed_number(p, at + CORE_HALF + k);
  }
  return packed_number(p, at + CORE_KIND) > 0.5 ? hypot(m[0], m[1]) * half[0] + m[2] * half[1]
                                                : m[0] * half[0] + m[1] * half[1] + m[2] * half[2];
}

static void widen(const packed *p, size_t at, double more, box *b)
{
  double low[3], high[3];
  for (size_t k = 0; k < 3; ++k) {
    const double centre = packed_number(p, at + CORE_POSITION + k),
                 reach = core_reach(p, at, k) + more;
    low[k] = centre - reach;
    high[k] = centre + reach;
  }
  box_cover(b, low);
  box_cover(b, high);
}

/* With d the distance from the core without its radius, phi is at least d - CORE_OFFSET if d
 * exceeds the radius (cl/geometry/cores.inl). So phi exceeds a reach of 0 or more from d =
 * CORE_OFFSET + reach on. */
static void cover(const packed *p, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    widen(p, i * CORE_STRIDE, packed_number(p, i * CORE_STRIDE + CORE_OFFSET), b);
  }
}

/* Far from the core, the rounding error grows with the distance, as for other primitives. */
static void enclose(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    const size_t at = i * CORE_STRIDE;
    const double rounding =
      packed_number(p, at + CORE_ROUNDING) + FIELD_ROUNDINGS * packed_epsilon(p) * reach;
    widen(p, at, packed_number(p, at + CORE_OFFSET) + reach + rounding, b);
  }
}

extern const family cores_family;
const family cores_family = {
  .key = "cores",
  .one = "core",
  .size = sizeof(abut_core),
  .operation = offsetof(abut_core, operation),
  .array = offsetof(abut_body_def, cores),
  .count = offsetof(abut_body_def, core_count),
  .stride = CORE_STRIDE,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
};
