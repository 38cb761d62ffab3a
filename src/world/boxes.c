#include "world/boxes.h"

#include "base/error.h"
#include "body/features.h"
#include "family/family.h"
#include "manifold/active.h"
#include "pose/rigid.h"
#include <float.h>
#include <math.h>

/* Of sums and products of a few coefficients, which devices round. */
#define COEFFICIENT_SLACK (1.0 + 64.0 * (double)FLT_EPSILON)

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double a[3])
{
  return sqrt(dot(a, a));
}

/* ---- a body's boxes ---- */

static const box nothing = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
static const body_box endless = {{0.0, 0.0, 0.0}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
static const body_box empty = {{0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}};

/* The centre and half sides, rounded outwards. */
static body_box centred(const box *b)
{
  body_box c;
  for (int k = 0; k < 3; ++k) {
    if (!(b->lower[k] <= b->upper[k])) {
      return empty;
    }
    const bool has_ends = b->lower[k] > -HUGE_VAL && b->upper[k] < HUGE_VAL;
    c.centre[k] = has_ends ? 0.5 * (b->lower[k] + b->upper[k]) : 0.0;
    c.half[k] = fmax(b->upper[k] - c.centre[k], c.centre[k] - b->lower[k]) * (1.0 + 2.0 * DBL_EPSILON);
  }
  return c;
}

/* A witness point is p + a (q - p) with a = con u + (1 - con) s, where s, a mean of clipped numbers, is
 * within [0, 1], and con is at most sigmoid((1 - u) / c) and sigmoid(u / c), with c the edge's own `compare`
 * (docs/spec.md, 6.1). Beyond an end, at u = 1 + x, a - 1 is at most con x <= x / (1 + exp(x / c)), which is
 * edge_overshoot or less, and likewise at the other end. */
static void cover_edge(box *b, const double *p, const double *q, const abut_smoothing *s)
{
  const double way[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
  const double beyond = edge_overshoot(s, length(way) * (1.0 - 8.0 * DBL_EPSILON));
  double before[3], behind[3];
  for (int k = 0; k < 3; ++k) {
    before[k] = p[k] - beyond * way[k];
    behind[k] = q[k] + beyond * way[k];
  }
  box_cover(b, before);
  box_cover(b, behind);
}

/* Features have radii, and arcs bulge from between their ends by no more than they are long. */
static body_box features_box(const pair *p, const body *of, int side)
{
  const body_features *f = of->touches;
  double most = 0.0;
  box b = nothing;
  for (size_t i = 0; i < (p->layout.vertices[side] ? f->held : 0); ++i) {
    box_cover(&b, f->vertices + 4 * i);
    most = fmax(most, f->vertices[4 * i + 3]);
  }
  for (size_t i = 0; i < (p->layout.edges[side] ? f->edge_count : 0); ++i) {
    const abut_feature_edge *e = &f->edges[i];
    const double *from = f->vertices + 4 * (size_t)e->from, *to = f->vertices + 4 * (size_t)e->to;
    const double way[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    box_cover(&b, from);
    box_cover(&b, to);
    most = fmax(most, e->radius + (e->arc ? length(way) : 0.0));
  }
  for (int k = 0; k < 3; ++k) {
    b.lower[k] -= most;
    b.upper[k] += most;
  }
  return centred(&b);
}

/* Kept edges are some of the body's. */
static body_box points_box(const pair *p, const body *of, int side)
{
  box b = nothing;
  if (is_in_fields(p)) {
    return features_box(p, of, side);
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

/* Where N primitives are added, their soft union lies at most union ln N below the least of them, and what
 * is subtracted only adds. So where all of them are beyond the reach and that together, the field is
 * beyond the reach. */
static body_box field_box(const pair *p, const body *of, double reach)
{
  const double below = p->smoothing.union_ * log((double)of->head[HEAD_ADDED]);
  box b = nothing;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed added = packed_of(of->head, &of->shape, ABUT_ADD, i);
    families[i]->enclose(&added, (reach + below) * COEFFICIENT_SLACK, &b);
  }
  return centred(&b);
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
    out->points[side] = points_box(p, of[side], side);
    out->field[side] = field_box(p, of[side], reach);
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
  const body_box field = field_box(p, of[!side], active_reach(&p->smoothing, cutoff) + p->smoothing.near);
  if (pair_can_skip_inactive(p, cutoff) && has_end(&field)) {
    out->points[side] = points_box(p, of[side], side);
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

/* ---- two boxes ---- */

/* A box in the world, and the size of the numbers that its points are made of. */
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

/* A share of a half side, which may have no end. */
static double share(double by, double half)
{
  return by != 0.0 ? fabs(by) * half : 0.0; /* NaN stays */
}

/* How far a box reaches from its centre along a direction. */
static double extent(const placed *p, const double along[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += share(dot(p->axes[k], along), p->half[k]);
  }
  return sum;
}

/* The shortest axis that tells anything; others are of nearly parallel edges, which the boxes' own axes
 * tell apart as well. */
#define AXIS2_LEAST 1e-6

/* Any direction along which two boxes do not meet has them apart, however it was found. It is no longer
 * than 1, so that the slack is enough for all. */
static bool apart_along(const placed *a, const placed *b, const double along[3], double slack)
{
  const double between[3] = {b->centre[0] - a->centre[0], b->centre[1] - a->centre[1],
                             b->centre[2] - a->centre[2]};
  return dot(along, along) >= AXIS2_LEAST &&
         fabs(dot(between, along)) > extent(a, along) + extent(b, along) + slack;
}

static bool apart_across(const placed *a, const placed *b, const double p[3], const double q[3], double slack)
{
  const double across[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
  return apart_along(a, b, across, slack);
}

/* Devices place a point by a frame of rounded numbers, take it to the other body's, and make points of
 * edges of such: together at most some twelve roundings of what these are made of. */
#define PLACING_ROUNDINGS 16.0

bool boxes_apart(const body_box *a, const double pose_a[7], const body_box *b, const double pose_b[7],
                 double eps)
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
