#include "manifold/smoothing.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/reals.h"
#include "body/body.h"
#include <math.h>
#include <string.h>

#define COOKIE 0xab070003u

#define LN2_DOUBLE 0.69314718055994530942
#define LOG2E_DOUBLE 1.44269504088896340736

abut_smoothing abut_default_smoothing(void)
{
  abut_smoothing s;
  memset(&s, 0, sizeof s);
  s.length = 1.0;
  s.union_ = s.plane = 0.01;
  s.normal = 1e-12;
  s.penetration = s.neighbour = s.sort = 0.01;
  s.clash = s.sign = 0.1;
  s.clip = s.minimum = s.compare = 0.1;
  s.ridge = 0.01;
  s.distance = 1e-10;
  s.select = ABUT_SELECT_SOFTSORT;
  s.edge_edge = s.two_sided = true;
  s.cookie = COOKIE;
  return s;
}

/* As many edges as primitives, within bounds that keep the pairs between 16^2 and 32^2. */
static uint32_t edges_to_keep(const abut_body_info *info)
{
  if (info->edges <= 32) {
    return 0;
  }
  const size_t primitives = info->primitives < 32 ? info->primitives : 32;
  return primitives > 16 ? (uint32_t)primitives : 16;
}

abut_status abut_fit_smoothing(abut_body body1, abut_body body2, abut_smoothing *out)
{
  abut_body_info info1, info2;
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_fit_smoothing needs a place for the smoothing");
  }
  TRY(abut_get_body_info(body1, &info1));
  TRY(abut_get_body_info(body2, &info2));
  double size = fmax(info1.diagonal, info2.diagonal);
  size = size > 0.0 ? size : 1.0; /* two single points */
  *out = abut_default_smoothing();
  out->length = 0.06 * size;
  out->union_ = out->plane = 0.004 * size;
  out->penetration = out->neighbour = 0.005 * size;
  out->sort = 0.001 * size;
  out->distance = 1e-10 * size * size;
  out->edges[0] = edges_to_keep(&info1);
  out->edges[1] = edges_to_keep(&info2);
  return ABUT_SUCCESS;
}

abut_status check_smoothing(const abut_smoothing *s)
{
  const struct {
    const char *name;
    double value, least;
  } positive[] = {
    {"length", s->length, SMOOTHING_LENGTH_LEAST},
    {"union", s->union_, SMOOTHING_LENGTH_LEAST},
    {"plane", s->plane, SMOOTHING_LENGTH_LEAST},
    {"penetration", s->penetration, SMOOTHING_LENGTH_LEAST},
    {"neighbour", s->neighbour, SMOOTHING_LENGTH_LEAST},
    {"sort", s->sort, SMOOTHING_LENGTH_LEAST},
    {"normal", s->normal, SMOOTHING_LEAST},
    {"clash", s->clash, SMOOTHING_LEAST},
    {"sign", s->sign, SMOOTHING_LEAST},
    {"clip", s->clip, SMOOTHING_LEAST},
    {"minimum", s->minimum, SMOOTHING_LEAST},
    {"compare", s->compare, SMOOTHING_LEAST},
    {"ridge", s->ridge, SMOOTHING_LEAST},
    {"distance", s->distance, SMOOTHING_LEAST},
  };
  if (s->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "make smoothing sets by abut_default_smoothing");
  }
  for (size_t i = 0; i < sizeof positive / sizeof positive[0]; ++i) {
    if (!(positive[i].value >= positive[i].least && positive[i].value <= SMOOTHING_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "smoothing: %s is %g, not in [%g, %g]", positive[i].name,
                  positive[i].value, positive[i].least, SMOOTHING_MOST);
    }
  }
  if (s->trace > TRACE_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: trace is %u, not in [0, %d]", s->trace,
                TRACE_MOST);
  }
  if (s->select != ABUT_SELECT_SOFTSORT && s->select != ABUT_SELECT_GATE) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: there is no selection %d", (int)s->select);
  }
  return ABUT_SUCCESS;
}

abut_status upload_coefficients(device *d, const abut_smoothing *s, buffer **out)
{
  const double values[] = { /* in the order of cl/geometry/coefficients.h */
    1.0 / s->length,
    s->union_ * LN2_DOUBLE, LOG2E_DOUBLE / s->union_,
    s->plane * LN2_DOUBLE, LOG2E_DOUBLE / s->plane,
    s->normal,
    s->penetration, 1.0 / s->penetration,
    LOG2E_DOUBLE / s->neighbour,
    1.0 / s->clash, 1.0 / s->sign,
    1.0 / s->sort, LOG2E_DOUBLE / s->sort,
    s->clip, 1.0 / s->clip,
    LOG2E_DOUBLE / s->minimum,
    1.0 / s->compare,
    s->ridge, s->distance,
    s->inside ? 1.0 : 0.0,
  };
  const size_t count = sizeof values / sizeof values[0];
  reals r;
  TRY(reals_create(&r, count, device_real_bytes(d)));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&r, i, values[i]);
  }
  const abut_status status = buffer_upload(d, r.count * r.size, r.data, out);
  free(r.data);
  return status;
}
