#include "scene/body_shapes.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/height_mesh.h"
#include "scene/shape_mesh.h"
#include "scene/word_features.h"
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define CAP_RINGS 8 /* per end of a capsule */

/* ---- fields ---- */

/* Makes the field of a box or a disc enlarged by a radius. `low` is the depth of its centre below
 * the origin. */
static abut_status core_field(abut_core_kind kind, const double half[3], double radius, double low,
                              arena *memory, abut_body_def *out)
{
  void *at;
  TRY(arena_allocate(memory, &at, 1, sizeof(abut_core)));
  abut_core *c = at;
  *c = (abut_core){.kind = kind,
                   .half = {half[0], half[1], half[2]},
                   .radius = radius,
                   .position = {0.0, 0.0, -low},
                   .quaternion = {1.0, 0.0, 0.0, 0.0},
                   .operation = ABUT_ADD};
  out->cores = c;
  out->core_count = 1;
  return ABUT_SUCCESS;
}

/* Makes the field of a box or a cylinder with half lengths `half`, without moving its faces. It
 * uses the first `count` of them. */
static abut_status edged_field(abut_core_kind kind, const double *half, size_t count, double round,
                               double low, arena *memory, abut_body_def *out)
{
  double radius = half[0], core[3] = {0.0, 0.0, 0.0};
  for (size_t k = 1; k < count; ++k) {
    radius = fmin(radius, half[k]);
  }
  radius = round > 0.0 ? round : SHAPE_SHARP * radius;
  for (size_t k = 0; k < count; ++k) {
    core[k] = half[k] - radius;
  }
  return core_field(kind, core, radius, low, memory, out);
}

/* ---- boxes ---- */

static abut_status make_box(const double half[3], double low, double round, arena *memory,
                            abut_body_def *out)
{
  const double lower[3] = {-half[0], -half[1], -half[2] - low},
               upper[3] = {half[0], half[1], half[2] - low};
  TRY(edged_field(ABUT_CORE_BOX, half, 3, round, low, memory, out));
  return make_box_mesh(lower, upper, memory, out);
}

/* ---- spheres and ellipsoids ---- */

static abut_status make_sphere(double radius, arena *memory, abut_body_def *out)
{
  static const double point[3] = {0.0, 0.0, 0.0};
  const double half[3] = {radius, radius, radius};
  TRY(core_field(ABUT_CORE_BOX, point, radius, 0.0, memory, out));
  return make_ball_mesh(half, memory, out);
}

static abut_status make_ellipsoid(const double half[3], arena *memory, abut_body_def *out)
{
  void *at;
  TRY(arena_allocate(memory, &at, 1, sizeof(abut_superquadric)));
  abut_superquadric *s = at;
  *s = (abut_superquadric){.exponents = {1.0, 1.0},
                           .quaternion = {1.0, 0.0, 0.0, 0.0},
                           .operation = ABUT_ADD};
  memcpy(s->axes, half, sizeof s->axes);
  out->superquadrics = s;
  out->superquadric_count = 1;
  out->cones = ABUT_CONES_NONE; /* round: held normals would brake it */
  return make_ball_mesh(half, memory, out);
}

/* ---- capsules and cylinders ---- */

static abut_status make_capsule(const double size[3], arena *memory, abut_body_def *out)
{
  const double r = size[0], straight = size[1], line[3] = {0.0, 0.0, straight};
  double rings[2 * CAP_RINGS][2];
  const size_t last = 2 * CAP_RINGS - 1;
  for (size_t i = 0; i < CAP_RINGS; ++i) {
    const double angle = 0.5 * PI * (double)(CAP_RINGS - 1 - i) / CAP_RINGS;
    double *below = rings[i], *above = rings[last - i];
    above[0] = below[0] = r * cos(angle);
    above[1] = straight + r * sin(angle);
    below[1] = -above[1];
  }
  TRY(core_field(ABUT_CORE_BOX, line, r, 0.0, memory, out));
  return make_turned_mesh(rings, last + 1, r + straight, memory, out);
}

static abut_status make_cylinder(const double size[3], double round, arena *memory,
                                 abut_body_def *out)
{
  double rings[2][2] = {{size[0], -size[1]}, {size[0], size[1]}};
  TRY(edged_field(ABUT_CORE_DISC, size, 2, round, 0.0, memory, out));
  return make_turned_mesh(rings, 2, 0.0, memory, out);
}

/* ---- all ---- */

bool body_shape_may_be_round(body_shape shape, const double size[3], double round)
{
  double least = HUGE_VAL;
  for (size_t k = 0; k < body_shape_sizes[shape]; ++k) {
    least = fmin(least, size[k]);
  }
  const bool edged = shape == SHAPE_BOX || shape == SHAPE_CYLINDER;
  return round == 0.0 || (edged && round >= SHAPE_ROUND_LEAST * least && round < least);
}

static abut_status check_sizes(body_shape shape, const double size[3], double round)
{
  if (shape <= SHAPE_FILE || shape >= SHAPE_HEIGHT_FIELD) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown shape %d", (int)shape);
  }
  for (size_t k = 0; k < body_shape_sizes[shape]; ++k) {
    if (!(size[k] >= AXIS_LEAST && size[k] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "length %zu of a shape \"%s\" is %g, not in [%g, %g]", k,
                  body_shape_words[shape], size[k], AXIS_LEAST, COORDINATE_MOST);
    }
  }
  if (!body_shape_may_be_round(shape, size, round)) {
    return fail(ABUT_ERROR_BODY, "round of a shape \"%s\" is %g, which does not fit its lengths",
                body_shape_words[shape], round);
  }
  return ABUT_SUCCESS;
}

static abut_status make_shape(body_shape shape, const double size[3], double round, arena *memory,
                              abut_body_def *out)
{
  const double thin = 0.5 * fmin(size[0], size[1]), slab[3] = {size[0], size[1], thin};
  switch (shape) {
  case SHAPE_BOX:
    return make_box(size, 0.0, round, memory, out);
  case SHAPE_SPHERE:
    return make_sphere(size[0], memory, out);
  case SHAPE_CAPSULE:
    return make_capsule(size, memory, out);
  case SHAPE_CYLINDER:
    return make_cylinder(size, round, memory, out);
  case SHAPE_ELLIPSOID:
    return make_ellipsoid(size, memory, out);
  default:
    return make_box(slab, thin, 0.0, memory, out);
  }
}

abut_status body_shape_make(body_shape shape, const double size[3], double round, arena *memory,
                            abut_body_def *out)
{
  *out = abut_default_body_def();
  TRY(check_sizes(shape, size, round));
  TRY(make_shape(shape, size, round, memory, out));
  return word_features_make(shape, size, round, memory, out);
}

abut_status body_of_heights(const abut_height_field *h, arena *memory, abut_body_def *out)
{
  *out = abut_default_body_def();
  out->height_fields = h;
  out->height_field_count = 1;
  return height_mesh_add(memory, out);
}
