#include "contact/smoothing.h"

#include "base/error.h"
#include "base/limits.h"
#include <abut/body.h>
#include <math.h>
#include <string.h>

typedef double real; /* for the list's struct; unused here */
#include "geometry/coefficients.h"

/* Returns the number of a body's edges to retain: that of its primitives, within bounds that keep
 * the number of pairs of two bodies between 16^2 and 32^2; 0, for all, if it has few. */
static uint32_t edges_to_keep(const abut_body_info *info)
{
  if (info->edges <= 32) {
    return 0;
  }
  const size_t primitives = info->primitives < 32 ? info->primitives : 32;
  return primitives > 16 ? (uint32_t)primitives : 16;
}

/* A body is treated as a block if its diagonal is at most this number of thicknesses. Beyond that
 * its thickness decides: a plate of 10 mm has the scale of a block of 80 mm. */
#define THICKNESSES 8.0
#define SCALE_SMALLEST (250.0 * SMOOTHING_LENGTH_LEAST)
/* Parts of an edge in which the least field is searched, if the field may have several minima. */
#define SAMPLES_FITTED 8
/* Normal cones of fitted smoothing [degrees]. The inset, in penetrations, exceeds the rounding of a
 * box's field along the diagonal of a corner. */
#define CONE_INNER 15.0
#define CONE_OUTER 35.0
#define CONE_HOLD 2.0
#define CONE_INSETS 3.0

/* Returns the size for the smoothing of a body's contacts [m]; HUGE_VAL for a single point. */
static double scale_of(const abut_body_info *info)
{
  return fmin(info->diagonal > 0.0 ? info->diagonal : HUGE_VAL,
              info->thickness > 0.0 ? THICKNESSES * info->thickness : HUGE_VAL);
}

/* Returns the temperature of selections. Scores of a large body's edges vary more than those of a
 * small one's. Below a hundredth of the smaller body's size, the selected edges of that body retain
 * their weights. */
static double fitted_sort(const abut_body_info *info1, const abut_body_info *info2, double size)
{
  const double small = fmin(info1->diagonal, info2->diagonal);
  const double large = fmax(info1->diagonal, info2->diagonal);
  return small > 0.0 ? fmin(0.005 * large, 0.01 * small) : 0.005 * size;
}

/* Returns the temperature of unions [m]. Where primitives blend, only the temperature with which
 * they were fitted keeps the surface on the mesh: a body of several primitives has its own
 * temperature, which its file may specify. If both bodies have one, the smaller is used: a blend
 * that is too wide closes bores and fills notches, while one that is too narrow only leaves
 * slightly deeper seams. */
static double fitted_union(const abut_body_info *info1, const abut_body_info *info2, double size)
{
  const abut_body_info *infos[2] = {info1, info2};
  double least = HUGE_VAL;
  for (int i = 0; i < 2; ++i) {
    if (infos[i]->union_ > 0.0) {
      least = fmin(least, infos[i]->union_);
    } else if (infos[i]->primitives > 1) {
      least = fmin(least, 0.004 * scale_of(infos[i]));
    }
  }
  return fmax(least < HUGE_VAL ? least : 0.004 * size, SMOOTHING_LENGTH_LEAST);
}

/* Whether a body's field is that of one convex primitive, with a single minimum along an edge. */
static bool is_convex(const abut_body_info *info)
{
  return info->primitives == 1 && info->superquadrics + info->polyhedra + info->cores == 1;
}

/* The coefficients of edges in fields, from the penetration. They are also set for pairs of edges,
 * which do not use them, so that they are valid if `edge_contacts` is changed. */
static void fit_edges_in_fields(const abut_body_info *info1, const abut_body_info *info2,
                                abut_smoothing *out)
{
  out->inset = out->penetration;
  out->part = 2.0 * out->penetration;
  out->gain = fmax(0.5 * out->penetration, SMOOTHING_LENGTH_LEAST);
  out->samples = is_convex(info1) && is_convex(info2) ? 1 : SAMPLES_FITTED;
  if (info1->height_fields || info2->height_fields) {
    out->slope = -1.0; /* Above curved ground, the field's slope grows with the height. Dividing by
                          it would make far points touch. */
  }
}

/* The common part of both forms of edge contacts. */
static abut_status fit(const char *who, abut_body body1, abut_body body2, abut_body_info infos[2],
                       abut_smoothing *out)
{
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: the output pointer is NULL", who);
  }
  TRY(abut_get_body_info(body1, &infos[0]));
  TRY(abut_get_body_info(body2, &infos[1]));
  const abut_body_info info1 = infos[0], info2 = infos[1];
  double size = fmax(info1.diagonal, info2.diagonal);
  if (size > 0.0 && size < SCALE_SMALLEST) {
    return fail(ABUT_ERROR_ARGUMENT,
                "bodies of %g m are too small to fit a smoothing, whose lengths are at least %g m: "
                "use a larger unit of length",
                size, SMOOTHING_LENGTH_LEAST);
  }
  size = fmin(scale_of(&info1), scale_of(&info2));
  size = size < HUGE_VAL ? fmax(size, SCALE_SMALLEST) : 1.0; /* two single points */
  *out = abut_default_smoothing();
  out->length = 0.06 * size;
  out->union_ = fitted_union(&info1, &info2, size);
  out->plane = 0.004 * size;
  out->penetration = 0.0056 * size;
  /* Edges that cross another one at similar depths share it: a bar that tilts on two edges is
   * supported by both, including the deeper one, which is not the nearest. */
  out->neighbour = 2.0 * out->penetration;
  out->distance = 1e-10 * size * size;
  /* Gates retain true elements near their bodies, where SoftSort would use means. So gradients
   * along a path agree with the values (bench/paths.py). */
  out->select = ABUT_SELECT_GATE;
  out->sort = fmax(fitted_sort(&info1, &info2, size), SMOOTHING_LENGTH_LEAST);
  fit_edges_in_fields(&info1, &info2, out);
  return ABUT_SUCCESS;
}

abut_status abut_fit_smoothing(abut_body body1, abut_body body2, abut_smoothing *out)
{
  abut_body_info infos[2];
  TRY(fit("abut_fit_smoothing", body1, body2, infos, out));
  out->edge_contacts = ABUT_EDGES_FIELD;
  out->cone_inner = CONE_INNER;
  out->cone_outer = CONE_OUTER;
  out->cone_hold = CONE_HOLD;
  out->cone_inset = CONE_INSETS * out->penetration;
  return ABUT_SUCCESS;
}

abut_status abut_fit_edge_pairs(abut_body body1, abut_body body2, abut_smoothing *out)
{
  abut_body_info infos[2];
  TRY(fit("abut_fit_edge_pairs", body1, body2, infos, out));
  out->edge_contacts = ABUT_EDGES_PAIRS;
  for (int k = 0; k < 2; ++k) {
    out->edges[k] = edges_to_keep(&infos[k]);
  }
  return ABUT_SUCCESS;
}

/* Checks the coefficients of normal cones, which need edges in fields. Vertices of only one side
 * would miss contacts: what a cone excludes on one side is found by the other's vertices. */
static abut_status check_cones(const abut_smoothing *s)
{
  const struct {
    const char *name;
    double value;
  } angles[] = {{"cone_inner", s->cone_inner},
                {"cone_outer", s->cone_outer},
                {"cone_hold", s->cone_hold}};
  for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i) {
    if (!(angles[i].value >= 0.0 && angles[i].value <= CONE_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "smoothing: %s is %g degrees, not in [0, %g]",
                  angles[i].name, angles[i].value, CONE_MOST);
    }
  }
  if (!(s->cone_inset >= 0.0 && s->cone_inset <= SMOOTHING_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: cone_inset is %g, not in [0, %g]", s->cone_inset,
                SMOOTHING_MOST);
  }
  if (!smoothing_has_cones(s)) {
    return ABUT_SUCCESS;
  }
  if (s->edge_contacts != ABUT_EDGES_FIELD) {
    return fail(ABUT_ERROR_ARGUMENT,
                "smoothing: cone_outer is %g, but cones need edge contacts in fields "
                "(edge_contacts \"field\")",
                s->cone_outer);
  }
  if (!s->edge_edge || !s->two_sided) {
    return fail(ABUT_ERROR_ARGUMENT,
                "smoothing: cone_outer is %g, but cones need edge_edge and two_sided: the vertices "
                "of one body would miss contacts",
                s->cone_outer);
  }
  return ABUT_SUCCESS;
}

/* Checks the coefficients of edges in fields if they are used. */
static abut_status check_edge_contacts(const abut_smoothing *s)
{
  const struct {
    const char *name;
    double value, least, most;
  } bounded[] = {
    {"tilt", s->tilt, TILT_LEAST, TILT_MOST},
    {"inset", s->inset, 0.0, SMOOTHING_MOST},
    {"part", s->part, SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST},
    {"gain", s->gain, SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST},
    {"slope", s->slope, -SMOOTHING_MOST, SMOOTHING_MOST},
    {"samples", s->samples, 1.0, ABUT_SAMPLES_MOST},
  };
  if (s->edge_contacts == ABUT_EDGES_PAIRS) {
    return ABUT_SUCCESS;
  }
  if (s->edge_contacts != ABUT_EDGES_FIELD) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: unknown kind of edge contacts %d",
                (int)s->edge_contacts);
  }
  for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; ++i) {
    if (!(bounded[i].value >= bounded[i].least && bounded[i].value <= bounded[i].most)) {
      return fail(ABUT_ERROR_ARGUMENT, "smoothing: %s is %g, not in [%g, %g]", bounded[i].name,
                  bounded[i].value, bounded[i].least, bounded[i].most);
    }
  }
  const bool keeps = s->edges[0] || s->edges[1] || s->vertices[0] || s->vertices[1];
  if (keeps && s->select != ABUT_SELECT_GATE) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: edge contacts in fields need select \"gate\": "
                                     "\"softsort\" would average vertices and edges");
  }
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
  if (s->cookie != abut_default_smoothing().cookie) {
    return fail(ABUT_ERROR_ARGUMENT, "the smoothing was not made by abut_default_smoothing");
  }
  for (size_t i = 0; i < sizeof positive / sizeof positive[0]; ++i) {
    if (!(positive[i].value >= positive[i].least && positive[i].value <= SMOOTHING_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "smoothing: %s is %g, not in [%g, %g]", positive[i].name,
                  positive[i].value, positive[i].least, SMOOTHING_MOST);
    }
  }
  if (!(s->floor >= 0.0 && s->floor <= FLOOR_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: floor is %g, not in [0, %g]", s->floor,
                FLOOR_MOST);
  }
  if (!(fabs(s->margin) <= SMOOTHING_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: margin is %g, not in [%g, %g]", s->margin,
                -SMOOTHING_MOST, SMOOTHING_MOST);
  }
  if (s->trace > TRACE_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: trace is %u, not in [0, %d]", s->trace,
                TRACE_MOST);
  }
  if (s->select != ABUT_SELECT_SOFTSORT && s->select != ABUT_SELECT_GATE) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing: unknown selection %d", (int)s->select);
  }
  TRY(check_edge_contacts(s));
  return check_cones(s);
}

bool smoothing_is_like(const abut_smoothing *a, const abut_smoothing *b)
{
#define SAME(member) (a->member == b->member)
  return SAME(length) && SAME(union_) && SAME(plane) && SAME(normal) && SAME(penetration) &&
         SAME(neighbour) && SAME(clash) && SAME(sign) && SAME(sort) && SAME(clip) &&
         SAME(minimum) && SAME(compare) && SAME(ridge) && SAME(distance) && SAME(trace) &&
         SAME(inside) && SAME(select) && SAME(edge_edge) && SAME(two_sided) &&
         SAME(edge_contacts) && SAME(tilt) && SAME(inset) && SAME(part) && SAME(gain) &&
         SAME(slope) && SAME(samples) && SAME(cone_inner) && SAME(cone_outer) && SAME(cone_hold) &&
         SAME(cone_inset) && SAME(floor) && SAME(margin) && SAME(edges[0]) && SAME(edges[1]) &&
         SAME(vertices[0]) && SAME(vertices[1]);
#undef SAME
}

abut_status coefficients_of(const abut_smoothing *s, size_t size, size_t more, reals *out)
{
#define COEFFICIENT_VALUE(name, value) value,
  const double values[] = {COEFFICIENTS(COEFFICIENT_VALUE)};
#undef COEFFICIENT_VALUE
  const size_t count = sizeof values / sizeof values[0];
  TRY(reals_create(out, count + more, size));
  for (size_t i = 0; i < count; ++i) {
    reals_set(out, i, values[i]);
  }
  return ABUT_SUCCESS;
}

abut_status upload_coefficients(device *d, const abut_smoothing *s, buffer **out)
{
  reals r;
  TRY(coefficients_of(s, device_real_bytes(d), 0, &r));
  const abut_status status = buffer_upload(d, r.count * r.size, r.data, out);
  free(r.data);
  return status;
}
