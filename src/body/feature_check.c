#include "body/feature_check.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/parts.h"
#include "math/vector.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUARTER 1.57079632679489661923
/* Tolerances for the ends of an arc: deviation from one circle, as a share of its radius, and from
 * a quarter turn [rad]. Numbers with six digits are more accurate. */
#define ARC_SLACK 1e-5
#define ARC_LEAST 1e-6 /* [rad] */

__attribute__((format(printf, 2, 3))) static bool wrong(char *why, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, FEATURE_WHY, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- rows ---- */

static bool radius_fits(double radius, char *why)
{
  return radius >= 0.0 && radius <= COORDINATE_MOST
           ? true
           : wrong(why, "its radius is %g, not in [0, %g]", radius, COORDINATE_MOST);
}

bool feature_vertex_fits(const double v[4], char why[FEATURE_WHY])
{
  if (!all_within(v, 3, COORDINATE_MOST)) {
    return wrong(why, "its place is %g %g %g, not within +-%g", v[0], v[1], v[2], COORDINATE_MOST);
  }
  return radius_fits(v[3], why);
}

/* Normalises a vector; false if it is zero or not finite. */
static bool make_unit(double v[3])
{
  const double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
  if (!(most > 0.0 && isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]))) {
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    v[k] /= most;
  }
  const double length = sqrt(dot(v, v));
  for (int k = 0; k < 3; ++k) {
    v[k] /= length;
  }
  return true;
}

bool cone_fits(const double cone[4], char why[FEATURE_WHY])
{
  double axis[3] = {cone[0], cone[1], cone[2]};
  if (!(cone[3] >= 0.0 && cone[3] <= 180.0)) {
    return wrong(why, "its half angle is %g degrees, not in [0, 180]", cone[3]);
  }
  const bool none = axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0;
  return (none && cone[3] == 180.0) || make_unit(axis)
           ? true
           : wrong(why, "its axis is %g %g %g, not a direction", cone[0], cone[1], cone[2]);
}

bool sharp_fits(double degrees, char why[FEATURE_WHY])
{
  return degrees >= 0.0 && degrees < 180.0
           ? true
           : wrong(why, "sharp is %g degrees, not in [0, 180)", degrees);
}

/* ---- arcs ---- */

/* An end of an arc relative to the centre: height along the axis, and perpendicular part. */
typedef struct arc_end {
  double height, across[3], radius;
} arc_end;

static arc_end arc_end_of(const abut_feature_edge *e, const double axis[3], const double *vertex)
{
  arc_end out;
  difference(vertex, e->centre, out.across);
  out.height = dot(out.across, axis);
  for (int k = 0; k < 3; ++k) {
    out.across[k] -= out.height * axis[k];
  }
  out.radius = sqrt(dot(out.across, out.across));
  return out;
}

static bool arc_fits(const abut_feature_edge *e, const double *vertices, char *why)
{
  double axis[3] = {e->axis[0], e->axis[1], e->axis[2]}, turn[3];
  if (!all_within(e->centre, 3, COORDINATE_MOST)) {
    return wrong(why, "its centre is %g %g %g, not within +-%g", e->centre[0], e->centre[1],
                 e->centre[2], COORDINATE_MOST);
  }
  if (!make_unit(axis)) {
    return wrong(why, "its axis is %g %g %g, not a direction", e->axis[0], e->axis[1], e->axis[2]);
  }
  const arc_end from = arc_end_of(e, axis, vertices + 4 * (size_t)e->from);
  const arc_end to = arc_end_of(e, axis, vertices + 4 * (size_t)e->to);
  const double most = fmax(from.radius, to.radius);
  if (!(fabs(from.radius - to.radius) <= ARC_SLACK * most && most > 0.0)) {
    return wrong(why, "its ends are %.9g and %.9g from the axis, so they are not on one circle",
                 from.radius, to.radius);
  }
  if (!(fabs(from.height - to.height) <= ARC_SLACK * most)) {
    return wrong(why, "its ends are at %.9g and %.9g along the axis, so they are not on one circle",
                 from.height, to.height);
  }
  cross(from.across, to.across, turn);
  const double angle = atan2(dot(turn, axis), dot(from.across, to.across));
  return angle > ARC_LEAST && angle <= QUARTER + ARC_SLACK
           ? true
           : wrong(why,
                   "it turns by %.7g rad about its axis; the angle must be above 0 and at most a "
                   "quarter turn",
                   angle);
}

bool feature_circle_fits(const abut_feature_circle *c, char why[FEATURE_WHY])
{
  double axis[3] = {c->axis[0], c->axis[1], c->axis[2]};
  if (!all_within(c->centre, 3, COORDINATE_MOST)) {
    return wrong(why, "its centre is %g %g %g, not within +-%g", c->centre[0], c->centre[1],
                 c->centre[2], COORDINATE_MOST);
  }
  if (!make_unit(axis)) {
    return wrong(why, "its axis is %g %g %g, not a direction", c->axis[0], c->axis[1], c->axis[2]);
  }
  return c->size > 0.0 && c->size <= COORDINATE_MOST
           ? radius_fits(c->radius, why)
           : wrong(why, "its size is %g, not in (0, %g]", c->size, COORDINATE_MOST);
}

/* ---- edges ---- */

bool feature_edge_fits(const abut_feature_edge *e, const double *vertices, size_t count,
                       char why[FEATURE_WHY])
{
  if (e->from >= count || e->to >= count) {
    return wrong(why, "it uses vertex %u, but there are only %zu vertices",
                 e->from >= count ? e->from : e->to, count);
  }
  if (e->from == e->to) {
    return wrong(why, "both of its ends are vertex %u", e->from);
  }
  return radius_fits(e->radius, why) && (!e->arc || arc_fits(e, vertices, why));
}

abut_feature_edge feature_edge_settled(const abut_feature_edge *edge, const double *vertices)
{
  const bool turned = edge->from > edge->to;
  abut_feature_edge e = *edge;
  e.from = turned ? edge->to : edge->from;
  e.to = turned ? edge->from : edge->to;
  if (!e.arc) {
    memset(e.centre, 0, sizeof e.centre);
    memset(e.axis, 0, sizeof e.axis);
    return e;
  }
  make_unit(e.axis);
  const arc_end from = arc_end_of(&e, e.axis, vertices + 4 * (size_t)e.from);
  const arc_end to = arc_end_of(&e, e.axis, vertices + 4 * (size_t)e.to);
  for (int k = 0; k < 3; ++k) {
    e.centre[k] += 0.5 * (from.height + to.height) * e.axis[k];
  }
  for (int k = 0; turned && k < 3; ++k) {
    e.axis[k] = -e.axis[k];
  }
  return e;
}

static int compare_coded(const void *a, const void *b)
{
  const coded_edge *x = a, *y = b;
  if (x->code != y->code) {
    return x->code < y->code ? -1 : 1;
  }
  return x->index < y->index ? -1 : x->index > y->index;
}

void sort_coded(coded_edge *edges, size_t count)
{
  qsort(edges, count, sizeof *edges, compare_coded);
}

/* Sorts the codes of edges. The caller frees *out. */
static abut_status code_edges(const abut_feature_edge *edges, size_t count, coded_edge **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof **out));
  *out = memory;
  for (size_t i = 0; i < count; ++i) {
    (*out)[i] = (coded_edge){edge_code(edges[i].from, edges[i].to), (uint32_t)i};
  }
  sort_coded(*out, count);
  return ABUT_SUCCESS;
}

abut_status find_equal_edges(const abut_feature_edge *edges, size_t count, size_t *earlier,
                             size_t *later)
{
  coded_edge *coded = NULL;
  *earlier = *later = count;
  TRY(code_edges(edges, count, &coded));
  for (size_t i = 1; i < count; ++i) {
    if (coded[i].code == coded[i - 1].code && coded[i].index < *later) {
      *earlier = coded[i - 1].index;
      *later = coded[i].index;
    }
  }
  free(coded);
  return ABUT_SUCCESS;
}

/* ---- definitions ---- */

static abut_status check_counts(const abut_body_def *def)
{
  if ((def->feature_vertex_count && !def->feature_vertices) ||
      (def->feature_edge_count && !def->feature_edges) ||
      (def->feature_circle_count && !def->feature_circles)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count of features is above 0, but their array is NULL");
  }
  if ((def->vertex_cone_count && !def->vertex_cones) ||
      (def->edge_cone_count && !def->edge_cones)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count of cones is above 0, but their array is NULL");
  }
  if (!def->states_features &&
      (def->feature_vertex_count || def->feature_edge_count || def->feature_circle_count)) {
    return fail(ABUT_ERROR_ARGUMENT, "features are given, but states_features is false");
  }
  return def->feature_vertex_count <= ELEMENT_LIMIT && def->feature_edge_count <= ELEMENT_LIMIT &&
             def->feature_circle_count <= ELEMENT_LIMIT
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY,
                  "the body has %zu feature vertices, %zu feature edges and %zu feature circles; "
                  "at most %zu are possible",
                  def->feature_vertex_count, def->feature_edge_count, def->feature_circle_count,
                  ELEMENT_LIMIT);
}

static abut_status check_stated(const abut_body_def *def)
{
  char why[FEATURE_WHY];
  size_t earlier, later;
  for (size_t i = 0; i < def->feature_vertex_count; ++i) {
    if (!feature_vertex_fits(def->feature_vertices + 4 * i, why)) {
      return fail(ABUT_ERROR_BODY, "feature vertex %zu: %s", i, why);
    }
  }
  for (size_t i = 0; i < def->feature_edge_count; ++i) {
    if (!feature_edge_fits(&def->feature_edges[i], def->feature_vertices, def->feature_vertex_count,
                           why)) {
      return fail(ABUT_ERROR_BODY, "feature edge %zu: %s", i, why);
    }
  }
  for (size_t i = 0; i < def->feature_circle_count; ++i) {
    if (!feature_circle_fits(&def->feature_circles[i], why)) {
      return fail(ABUT_ERROR_BODY, "feature circle %zu: %s", i, why);
    }
  }
  TRY(find_equal_edges(def->feature_edges, def->feature_edge_count, &earlier, &later));
  return later == def->feature_edge_count
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "feature edge %zu has the same ends as edge %zu", later,
                  earlier);
}

static abut_status check_cones(const abut_body_def *def)
{
  const size_t vertices = def->states_features ? def->feature_vertex_count : def->vertex_count;
  char why[FEATURE_WHY];
  if (def->vertex_cone_count && def->vertex_cone_count != vertices) {
    return fail(ABUT_ERROR_BODY, "%zu cones are given for %zu vertices", def->vertex_cone_count,
                vertices);
  }
  if (!def->edge_cone_ends && def->edge_cone_count &&
      def->edge_cone_count != def->feature_edge_count) {
    return fail(ABUT_ERROR_BODY, "%zu cones are given for %zu stated edges", def->edge_cone_count,
                def->feature_edge_count);
  }
  for (size_t i = 0; i < def->vertex_cone_count; ++i) {
    if (!cone_fits(def->vertex_cones + 4 * i, why)) {
      return fail(ABUT_ERROR_BODY, "cone of vertex %zu: %s", i, why);
    }
  }
  for (size_t i = 0; i < def->edge_cone_count; ++i) {
    if (!cone_fits(def->edge_cones + 4 * i, why)) {
      return fail(ABUT_ERROR_BODY, "edge cone %zu: %s", i, why);
    }
  }
  return ABUT_SUCCESS;
}

abut_status check_features(const abut_body_def *def)
{
  char why[FEATURE_WHY];
  TRY(check_counts(def));
  if (!sharp_fits(def->sharp, why)) {
    return fail(ABUT_ERROR_BODY, "%s", why);
  }
  TRY(check_stated(def));
  switch (def->cones) {
  case ABUT_CONES_OF_MESH:
  case ABUT_CONES_NONE:
    return ABUT_SUCCESS;
  case ABUT_CONES_GIVEN:
    return check_cones(def);
  }
  return fail(ABUT_ERROR_BODY, "unknown source of cones %d", (int)def->cones);
}

/* ---- cones of edges ---- */

static bool has_code(const coded_edge *sorted, size_t count, uint64_t code)
{
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (sorted[middle].code < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && sorted[low].code == code;
}

static abut_status code_pairs(const uint32_t *pairs, size_t count, coded_edge **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof **out));
  *out = memory;
  for (size_t i = 0; i < count; ++i) {
    (*out)[i] = (coded_edge){edge_code(pairs[2 * i], pairs[2 * i + 1]), (uint32_t)i};
  }
  sort_coded(*out, count);
  return ABUT_SUCCESS;
}

abut_status check_edge_cones(const abut_body_def *def, const uint32_t *edges, size_t edge_count)
{
  abut_status status = ABUT_SUCCESS;
  coded_edge *there = NULL, *asked = NULL;
  const size_t count = def->states_features ? def->feature_edge_count : edge_count;
  if (def->cones != ABUT_CONES_GIVEN || !def->edge_cone_count || !def->edge_cone_ends) {
    return ABUT_SUCCESS;
  }
  TRY_DONE(def->states_features ? code_edges(def->feature_edges, count, &there)
                                : code_pairs(edges, count, &there));
  TRY_DONE(code_pairs(def->edge_cone_ends, def->edge_cone_count, &asked));
  for (size_t i = 0; i < def->edge_cone_count; ++i) {
    const uint32_t *ends = def->edge_cone_ends + 2 * (size_t)asked[i].index;
    if (!has_code(there, count, asked[i].code)) {
      TRY_DONE(fail(ABUT_ERROR_BODY,
                    "edge cone %u names vertices %u and %u, but no edge joins them", asked[i].index,
                    ends[0], ends[1]));
    }
    if (i && asked[i].code == asked[i - 1].code) {
      TRY_DONE(fail(ABUT_ERROR_BODY, "edge cone %u has the same ends as edge cone %u",
                    asked[i].index, asked[i - 1].index));
    }
  }
done:
  free(there);
  free(asked);
  return status;
}
