#include "contact/shape_features.h"

#include "body/features.h"
#include "geometry/layout.h"
#include "geometry/sites.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

size_t feature_radii_at(const body *features)
{
  return 3 * features->info.vertices;
}

size_t feature_rails_at(const body *features)
{
  return 4 * features->info.vertices;
}

size_t feature_numbers(const body *features)
{
  return feature_rails_at(features) + BY_RAIL * features->info.edges;
}

/* Offsets of a vertex and its radius in a body's own numbers; SIZE_MAX: none. */
typedef struct own_places {
  size_t vertex, radius;
} own_places;

static own_places vertex_places(const body *b, const body_features *f, size_t i)
{
  const kept_features *stated = &b->parts.features;
  const size_t mesh = 3 * b->info.vertices, name = f->names[i];
  if (f->of_surface || i + f->quarters >= f->vertex_count) { /* circles: as many ends as quarters */
    return (own_places){SIZE_MAX, SIZE_MAX};
  }
  return stated->stated ? (own_places){mesh + 3 * name, mesh + 3 * stated->vertex_count + name}
                        : (own_places){3 * name, SIZE_MAX};
}

static size_t edge_radius_place(const body *b, const body_features *f, size_t i)
{
  const kept_features *stated = &b->parts.features;
  return stated->stated && i + f->quarters < f->edge_count
           ? 3 * b->info.vertices + 4 * stated->vertex_count + f->edge_names[i]
           : SIZE_MAX;
}

/* ---- edges ---- */

/* Data from which an arc's numbers are computed. */
typedef struct arc {
  const double *axis;
  double e1[3], e2[3], end[3], x, y, square, size, angle;
} arc;

static arc arc_of(const body_features *f, const abut_feature_edge *e)
{
  const double *from = f->vertices + 4 * (size_t)e->from, *to = f->vertices + 4 * (size_t)e->to;
  arc a = {.axis = e->axis};
  for (size_t k = 0; k < 3; ++k) {
    a.e1[k] = from[k] - e->centre[k];
    a.end[k] = to[k] - e->centre[k];
  }
  cross(a.axis, a.e1, a.e2);
  a.x = dot(a.end, a.e1);
  a.y = dot(a.end, a.e2);
  a.square = a.x * a.x + a.y * a.y;
  a.size = sqrt(dot(a.e1, a.e1));
  a.angle = atan2(a.y, a.x);
  return a;
}

/* Writes the direction of a straight edge; 0 if its length is 0. */
static void direction_of(const body_features *f, const abut_feature_edge *e, double out[3])
{
  const double *from = f->vertices + 4 * (size_t)e->from, *to = f->vertices + 4 * (size_t)e->to;
  double square = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    out[k] = to[k] - from[k];
    square += out[k] * out[k];
  }
  for (size_t k = 0; k < 3; ++k) {
    out[k] = square > 0.0 ? out[k] / sqrt(square) : 0.0;
  }
}

/* Writes the change of an edge's numbers when its ends move. The centre of an arc stays in the
 * plane half-way between its ends. */
static void rail_along(const body_features *f, const abut_feature_edge *e, const double from[3],
                       const double to[3], double radius, double *out)
{
  double length = 0.0;
  memset(out, 0, BY_RAIL * sizeof *out);
  memcpy(out + EDGE_P, from, 3 * sizeof *out);
  if (e->arc) {
    const arc a = arc_of(f, e);
    const double up = 0.5 * (dot(a.axis, from) + dot(a.axis, to));
    double *e1 = out + EDGE_E1, *e2 = out + EDGE_E2, end[3];
    for (size_t k = 0; k < 3; ++k) {
      e1[k] = from[k] - up * a.axis[k];
      end[k] = to[k] - up * a.axis[k];
    }
    cross(a.axis, e1, e2);
    const double x = dot(end, a.e1) + dot(a.end, e1), y = dot(end, a.e2) + dot(a.end, e2);
    out[EDGE_ANGLE] = (a.x * y - a.y * x) / a.square;
    length = out[EDGE_ANGLE] * a.size + a.angle * dot(a.e1, e1) / a.size;
  } else {
    double along[3];
    direction_of(f, e, along);
    for (size_t k = 0; k < 3; ++k) {
      out[EDGE_U + k] = to[k] - from[k];
      length += along[k] * (to[k] - from[k]);
    }
  }
  out[EDGE_LENGTH] = length;
  out[EDGE_RADIUS] = radius;
  out[EDGE_SCORE] = 0.5 * length + radius;
}

/* The transpose: adds to the derivatives with respect to the ends, and returns the derivative with
 * respect to the radius. */
static double rail_back(const body_features *f, const abut_feature_edge *e, const double *bars,
                        double from[3], double to[3])
{
  const double length = bars[EDGE_LENGTH] + 0.5 * bars[EDGE_SCORE];
  double along[3];
  for (size_t k = 0; k < 3; ++k) {
    from[k] += bars[EDGE_P + k];
  }
  if (e->arc) {
    const arc a = arc_of(f, e);
    const double angle = bars[EDGE_ANGLE] + length * a.size;
    const double y = angle * a.x / a.square, x = -angle * a.y / a.square;
    double e1[3], e2[3], end[3], back[3], up = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      e1[k] = bars[EDGE_E1 + k] + x * a.end[k] + length * a.angle * a.e1[k] / a.size;
      e2[k] = bars[EDGE_E2 + k] + y * a.end[k];
      end[k] = x * a.e1[k] + y * a.e2[k];
    }
    cross(e2, a.axis, back);
    for (size_t k = 0; k < 3; ++k) {
      from[k] += e1[k] + back[k];
      to[k] += end[k];
      up += a.axis[k] * (e1[k] + back[k] + end[k]);
    }
    for (size_t k = 0; k < 3; ++k) {
      from[k] -= 0.5 * up * a.axis[k];
      to[k] -= 0.5 * up * a.axis[k];
    }
  } else {
    direction_of(f, e, along);
    for (size_t k = 0; k < 3; ++k) {
      const double pull = bars[EDGE_U + k] + length * along[k];
      from[k] -= pull;
      to[k] += pull;
    }
  }
  return bars[EDGE_RADIUS] + bars[EDGE_SCORE];
}

/* ---- all of them ---- */

static void add3(const double *by, size_t at, double *own)
{
  for (size_t k = 0; k < 3 && at != SIZE_MAX; ++k) {
    own[at + k] += by[k];
  }
}

void features_back(const body *b, const body *features, const double *sum, double *own)
{
  const body_features *f = features->touches;
  for (size_t i = 0; i < f->vertex_count; ++i) {
    const own_places at = vertex_places(b, f, i);
    add3(sum + 3 * i, at.vertex, own);
    if (at.radius != SIZE_MAX) {
      own[at.radius] += sum[feature_radii_at(features) + i];
    }
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    const abut_feature_edge *e = &f->edges[i];
    double from[3] = {0.0, 0.0, 0.0}, to[3] = {0.0, 0.0, 0.0};
    const double radius = rail_back(f, e, sum + feature_rails_at(features) + BY_RAIL * i, from, to);
    const size_t at = edge_radius_place(b, f, i);
    add3(from, vertex_places(b, f, e->from).vertex, own);
    add3(to, vertex_places(b, f, e->to).vertex, own);
    if (at != SIZE_MAX) {
      own[at] += radius;
    }
  }
}

void features_along(const body *b, const body *features, const double *own, double *out)
{
  static const double none[3] = {0.0, 0.0, 0.0};
  const body_features *f = features->touches;
  memset(out, 0, feature_numbers(features) * sizeof *out);
  for (size_t i = 0; i < f->vertex_count; ++i) {
    const own_places at = vertex_places(b, f, i);
    memcpy(out + 3 * i, at.vertex != SIZE_MAX ? own + at.vertex : none, sizeof none);
    out[feature_radii_at(features) + i] = at.radius != SIZE_MAX ? own[at.radius] : 0.0;
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    const abut_feature_edge *e = &f->edges[i];
    const size_t at = edge_radius_place(b, f, i);
    rail_along(f, e, out + 3 * (size_t)e->from, out + 3 * (size_t)e->to,
               at != SIZE_MAX ? own[at] : 0.0, out + feature_rails_at(features) + BY_RAIL * i);
  }
}
