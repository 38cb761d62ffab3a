#include "world/boxes.h"

#include "base/error.h"
#include "body/features.h"
#include "body/touching.h"
#include "body/family/family.h"
#include "contact/active.h"
#include "math/rigid.h"
#include "math/vector.h"
#include <float.h>
#include <math.h>

/* Covers the devices' rounding of sums and products of a few coefficients. */
#define COEFFICIENT_SLACK (1.0 + 64.0 * (double)FLT_EPSILON)

/* ---- a body's boxes ---- */

static const box nothing = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
static const body_box endless = {{0.0, 0.0, 0.0}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
static const body_box empty = {{0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}};

/* Returns the centre and half sides, rounded outwards. */
static body_box centred(const box *b)
{
  body_box c;
  for (int k = 0; k < 3; ++k) {
    if (!(b->lower[k] <= b->upper[k])) {
      return empty;
    }
    const bool has_ends = b->lower[k] > -HUGE_VAL && b->upper[k] < HUGE_VAL;
    c.centre[k] = has_ends ? 0.5 * (b->lower[k] + b->upper[k]) : 0.0;
    c.half[k] =
      fmax(b->upper[k] - c.centre[k], c.centre[k] - b->lower[k]) * (1.0 + 2.0 * DBL_EPSILON);
  }
  return c;
}

/* A witness point is p + a (q - p) with a = con u + (1 - con) s. Here s, a mean of clipped numbers,
 * is in [0, 1], and con is at most sigmoid((1 - u) / c) and sigmoid(u / c) with c = `compare`
 * (docs/dev/spec.md, 6.1). Beyond an end, at u = 1 + x, a - 1 is at most con x <= x / (1 + exp(x /
 * c)), so at most edge_overshoot; likewise at the other end. */
static void cover_edge(box *b, const double *p, const double *q, const abut_smoothing *s)
{
  const double way[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
  const double beyond = edge_overshoot(s);
  double before[3], behind[3];
  for (int k = 0; k < 3; ++k) {
    before[k] = p[k] - beyond * way[k];
    behind[k] = q[k] + beyond * way[k];
  }
  box_cover(b, before);
  box_cover(b, behind);
}

/* ---- in fields ----
 *
 * A feature with radius r evaluates the field at points x that cones move into its body by up to
 * `cone_inset` along their axes. Its contact is active if phi(x) is below its reach + r; the reach
 * includes the depth that the inset removes, at most all of it. If phi is a distance, and along the
 * rays of a superquadric, phi falls below the reach within r of x. Only the field of a polyhedron
 * may reach farther, since it grows more slowly off its corners; there the field's own box includes
 * the radii (field_reach). */

static bool field_takes_radii(const body *field)
{
  return field->info.polyhedra > 0;
}

static void cover_ball(box *b, const double x[3], double radius)
{
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    low[k] = x[k] - radius;
    high[k] = x[k] + radius;
  }
  box_cover(b, low);
  box_cover(b, high);
}

/* Returns how far an arc of up to a right angle bulges beyond its ends. */
static double bulge_of(const abut_feature_edge *e, const double *from, const double *to)
{
  double out[3], middle[3];
  for (int k = 0; k < 3; ++k) {
    out[k] = from[k] - e->centre[k];
    middle[k] = 0.5 * (from[k] + to[k]) - e->centre[k];
  }
  return length(out) * COEFFICIENT_SLACK - length(middle);
}

/* The points of a quarter may be beyond its ends, on the rest of its circle. */
static void cover_circle(box *b, const abut_feature_edge *e, const double *from,
                         const double inside[3], double radius)
{
  const double out[3] = {from[0] - e->centre[0], from[1] - e->centre[1], from[2] - e->centre[2]};
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    const double across = sqrt(fmax(1.0 - e->axis[k] * e->axis[k], 0.0));
    const double half = (length(out) * across + radius) * COEFFICIENT_SLACK;
    low[k] = e->centre[k] - inside[k] - half;
    high[k] = e->centre[k] - inside[k] + half;
  }
  box_cover(b, low);
  box_cover(b, high);
}

/* Covers the capsule around a straight edge. Its ends extend by `beyond` instead of the radius. */
static void cover_capsule(box *b, const double from[3], const double to[3], double radius,
                          double beyond)
{
  const double way[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]}, along = length(way);
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    const double share = along > 0.0 ? fmin(fabs(way[k]) / along, 1.0) : 0.0;
    const double half = along > 0.0 ? radius * sqrt(1.0 - share * share) + beyond * share : radius;
    low[k] = fmin(from[k], to[k]) - half * COEFFICIENT_SLACK;
    high[k] = fmax(from[k], to[k]) + half * COEFFICIENT_SLACK;
  }
  box_cover(b, low);
  box_cover(b, high);
}

/* Returns how far beyond its ends a round edge makes contacts. The field of a single core is a
 * convex distance. With such a field, the point of an active contact was moved to a place inside
 * its edge. The field's slope along the edge is at most `tilt` there, and phi is below the reach +
 * the radius, apart from what the slope adds on the way. So the touched point is farther along the
 * edge by at most `tilt` times that sum. With other fields it may be a whole radius. */
static double beyond_ends(const pair *p, const body *field, double radius, double reach)
{
  const abut_smoothing *s = &p->smoothing;
  const bool is_core = field->info.cores == 1 && field->info.primitives == 1;
  return is_core ? fmin(radius, 1.1 * s->tilt * (radius + reach + s->part + s->inset)) : radius;
}

static void cover_rail(box *b, const pair *p, const body *of, const body *field, size_t i,
                       double reach)
{
  const body_features *f = of->touches;
  const abut_feature_edge *e = &f->edges[i];
  const double *from = f->vertices + 4 * (size_t)e->from, *to = f->vertices + 4 * (size_t)e->to;
  const double *cone = f->edge_cones + 4 * i, inset = feature_inset(cone, e->radius, of->inset);
  const double inside[3] = {inset * cone[0], inset * cone[1], inset * cone[2]};
  const double radius = field_takes_radii(field) ? 0.0 : e->radius;
  double x[3], y[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = from[k] - inside[k];
    y[k] = to[k] - inside[k];
  }
  if (i + f->quarters >= f->edge_count) {
    cover_circle(b, e, from, inside, radius);
  } else if (e->arc) {
    cover_ball(b, x, radius + bulge_of(e, from, to));
    cover_ball(b, y, radius + bulge_of(e, from, to));
  } else {
    const double more = radius > 0.0 ? p->smoothing.tilt * (p->smoothing.part + p->smoothing.inset)
                                     : 0.0;
    cover_capsule(b, x, y, radius + more, beyond_ends(p, field, radius + more, reach));
  }
}

static body_box features_box(const pair *p, const body *of, const body *field, int side,
                             double reach)
{
  const body_features *f = of->touches;
  const double own = field_takes_radii(field) ? 0.0 : 1.0;
  box b = nothing;
  for (size_t i = 0; i < (p->layout.vertices[side] ? f->held : 0); ++i) {
    cover_ball(&b, of->vertices + 3 * i, own * f->vertices[4 * i + 3]);
  }
  for (size_t i = 0; i < (p->layout.edges[side] ? f->edge_count : 0); ++i) {
    cover_rail(&b, p, of, field, i, reach);
  }
  return centred(&b);
}

/* Returns how far the field of a body reaches the features of the other body, on `side`. */
static double field_reach(const pair *p, const body *const bodies[2], int side, double reach)
{
  const body_features *f = bodies[side]->touches;
  const bool takes = field_takes_radii(bodies[!side]);
  const double by_vertices = reach + bodies[side]->inset;
  const double by_edges = edge_field_reach(bodies, side, reach);
  double most = by_vertices;
  for (size_t i = 0; i < (p->layout.vertices[side] ? f->held : 0); ++i) {
    most = fmax(most, by_vertices + (takes ? f->vertices[4 * i + 3] : 0.0));
  }
  for (size_t i = 0; i < (p->layout.edges[side] ? f->edge_count : 0); ++i) {
    most = fmax(most, by_edges + (takes ? f->edges[i].radius : 0.0));
  }
  return most;
}

/* The kept edges are a subset of the body's edges. */
static body_box points_box(const pair *p, const body *const bodies[2], int side, double reach)
{
  const body *of = bodies[side];
  box b = nothing;
  if (is_in_fields(p)) {
    return features_box(p, of, bodies[!side], side, reach);
  }
  for (size_t i = 0; p->layout.vertices[side] && i < of->info.vertices; ++i) {
    box_cover(&b, of->vertices + 3 * i);
  }
  const bool edges = p->layout.edges[0] && p->layout.edges[1];
  for (size_t i = 0; edges && i < of->info.edges; ++i) {
    const uint32_t *ends = of->edges + 2 * i;
    cover_edge(&b, of->vertices + 3 * (size_t)ends[0], of->vertices + 3 * (size_t)ends[1],
               &p->smoothing);
  }
  return centred(&b);
}

/* The soft union of N added primitives is at most union ln N below the smallest of them, and
 * subtraction only increases the field. So if all primitives exceed the reach plus union ln N, the
 * field exceeds the reach. all: include families with bounded boxes; otherwise skip them. */
static body_box box_of_families(const pair *p, const body *of, double reach, bool all)
{
  const double below = p->smoothing.union_ * log((double)of->head[HEAD_ADDED]);
  box b = nothing;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed added = packed_of(of->head, &of->shape, ABUT_ADD, i);
    if (all || !families[i]->ends) {
      families[i]->enclose(&added, (reach + below) * COEFFICIENT_SLACK, &b);
    }
  }
  return centred(&b);
}

static body_box field_box(const pair *p, const body *of, double reach)
{
  return box_of_families(p, of, reach, true);
}

static bool is_empty(const body_box *b)
{
  return b->half[0] < 0.0 || b->half[1] < 0.0 || b->half[2] < 0.0;
}

static bool has_end(const body_box *b)
{
  return b->half[0] < HUGE_VAL || b->half[1] < HUGE_VAL || b->half[2] < HUGE_VAL;
}

static void find_boxes(const pair *p, const body *const of[2], double cutoff, pair_boxes *out)
{
  const double reach = active_reach(&p->smoothing, cutoff);
  for (int side = 0; side < 2; ++side) {
    const double own = is_in_fields(p) ? field_reach(p, of, !side, reach) : reach;
    out->points[side] = points_box(p, of, side, reach);
    out->field[side] = field_box(p, of[side], own);
  }
  out->bounded = (has_end(&out->field[0]) || is_empty(&out->points[1])) &&
                 (has_end(&out->field[1]) || is_empty(&out->points[0]));
}

static abut_status begin_boxes(const pair *p, const body *of[2], pair_boxes *out)
{
  for (int side = 0; side < 2; ++side) {
    of[side] = pair_body(p, side);
    if (!of[side]) {
      return ABUT_ERROR_HANDLE;
    }
  }
  *out = (pair_boxes){{endless, endless}, {endless, endless}, false};
  return ABUT_SUCCESS;
}

abut_status boxes_of_tile(const pair *p, int side, double cutoff, pair_boxes *out)
{
  const body *of[2];
  TRY(begin_boxes(p, of, out));
  const double reach = active_reach(&p->smoothing, cutoff);
  const body_box field = field_box(p, of[!side], reach);
  if (pair_can_skip_inactive(p, cutoff) && has_end(&field)) {
    out->points[side] = points_box(p, of, side, reach);
    out->field[!side] = field;
    out->points[!side] = out->field[side] = empty;
    out->bounded = true;
  }
  return ABUT_SUCCESS;
}

abut_status boxes_of_pair(const pair *p, double cutoff, pair_boxes *out)
{
  const body *of[2];
  TRY(begin_boxes(p, of, out));
  if (pair_can_skip_inactive(p, cutoff)) {
    pair_boxes found;
    find_boxes(p, of, cutoff, &found);
    *out = found.bounded ? found : *out;
  }
  return ABUT_SUCCESS;
}

abut_status pair_is_bounded(const pair *p, double cutoff, bool *out)
{
  const body *of[2];
  pair_boxes boxes;
  TRY(begin_boxes(p, of, &boxes));
  const double reach = active_reach(&p->smoothing, cutoff);
  *out = pair_can_skip_inactive(p, cutoff);
  for (int side = 0; side < 2 && *out; ++side) {
    const double own = is_in_fields(p) ? field_reach(p, of, !side, reach) : reach;
    const body_box field = box_of_families(p, of[side], own, false);
    boxes.points[!side] = points_box(p, of, !side, reach);
    *out = has_end(&field) || is_empty(&boxes.points[!side]);
  }
  return ABUT_SUCCESS;
}

/* ---- two boxes ---- */

/* A box in the world. `size` bounds the coordinates of its points, for rounding errors. */
typedef struct placed {
  double centre[3], axes[3][3], half[3], size;
} placed;

static placed place(const body_box *b, const double pose[7])
{
  const chart at = chart_at(ABUT_POSE_QUATERNION, pose);
  placed p;
  double ends[3];
  rigid_turn(&at.x, b->centre, p.centre);
  for (int k = 0; k < 3; ++k) {
    const double unit[3] = {k == 0, k == 1, k == 2};
    rigid_turn(&at.x, unit, p.axes[k]);
    p.centre[k] += at.x.t[k];
    p.half[k] = b->half[k];
    ends[k] = b->half[k] < HUGE_VAL ? b->half[k] : 0.0;
  }
  p.size = length(at.x.t) + length(b->centre) + length(ends);
  return p;
}

/* A share of a half side, which may be infinite. */
static double share(double by, double half)
{
  return by != 0.0 ? fabs(by) * half : 0.0; /* NaN stays */
}

/* Returns the half length of a box along a direction. */
static double extent(const placed *p, const double along[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += share(dot(p->axes[k], along), p->half[k]);
  }
  return sum;
}

/* The smallest squared length of an axis that is used. Shorter axes belong to nearly parallel
 * edges, which the boxes' own axes separate as well. */
#define AXIS2_LEAST 1e-6

/* Two boxes are apart if any direction separates them, however it was found. `along` is no longer
 * than 1, so the slack suffices for all. */
static bool apart_along(const placed *a, const placed *b, const double along[3], double slack)
{
  const double between[3] = {b->centre[0] - a->centre[0], b->centre[1] - a->centre[1],
                             b->centre[2] - a->centre[2]};
  return dot(along, along) >= AXIS2_LEAST &&
         fabs(dot(between, along)) > extent(a, along) + extent(b, along) + slack;
}

static bool apart_across(const placed *a, const placed *b, const double p[3], const double q[3],
                         double slack)
{
  const double across[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                            p[0] * q[1] - p[1] * q[0]};
  return apart_along(a, b, across, slack);
}

/* Devices place a point by a rounded frame, transform it to the other body's frame, and compute
 * points of edges from such points: together at most about twelve roundings of the operands. */
#define PLACING_ROUNDINGS 16.0

bool boxes_apart(const body_box *a, const double pose_a[7], const body_box *b,
                 const double pose_b[7], double eps)
{
  static const double axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  if (is_empty(a) || is_empty(b)) {
    return true;
  }
  const placed p = place(a, pose_a), q = place(b, pose_b);
  const double slack = PLACING_ROUNDINGS * eps * (p.size + q.size);
  bool apart = false;
  for (int k = 0; k < 3; ++k) {
    apart = apart || apart_along(&p, &q, axes[k], slack);
  }
  for (int k = 0; k < 3; ++k) {
    apart = apart || apart_along(&p, &q, p.axes[k], slack) || apart_along(&p, &q, q.axes[k], slack);
  }
  for (int k = 0; k < 9; ++k) {
    apart = apart || apart_across(&p, &q, p.axes[k / 3], q.axes[k % 3], slack);
  }
  return apart;
}
