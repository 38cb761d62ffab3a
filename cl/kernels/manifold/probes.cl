// How deep the edges of a pair lie in the other body, for `agree` (docs/spec.md, 6.4): the depth is
// the soft least of the other body's distances at the edge's witness point and at two probes, the
// points of the edge that lie as far to both sides of it as the pair claims to be deep. Only pairs
// that could be active without it are asked.

#include "kernels/manifold/probes.h"

// exp(-PROBE_STEPS) is below rounding.
#if REAL_DOUBLE
#define PROBE_STEPS 36.0
#else
#define PROBE_STEPS 18.0f
#endif

// Writes upper bounds of both activities of a block of pairs: what they are without the opposing
// distances (`shared`), times [opposing <= 0] and [other <= near].
static void bound_activities(const lane shared[2], const lane phi[2],
                             GLOBAL const coefficients *c, lane bounds[2])
{
  for (int side = 0; side < 2; ++side) {
    bounds[side] = shared[side] * sigmoid_r(phi[side] * -c->penetration_inv);
    if (c->near_steps > R(0.0)) {
      const lane other = phi[!side] * c->penetration_inv;
      bounds[side] = bounds[side] * sigmoid_r(lane_lit(c->near_steps) - other);
    }
  }
}

// Lists the pairs of a pose of which one of two planes reaches `cutoff`. `from` are the pairs to
// look at, in order, or all where it is NULL. All work-items of a group call it.
static void list_pairs(GLOBAL const real *plane1, GLOBAL const real *plane2, int pairs,
                       GLOBAL const int *from, real cutoff, LOCAL int *part, int item,
                       GLOBAL int *list)
{
  const int run = (pairs + WG - 1) / WG;
  const int begin = MIN_INT(item * run, pairs), end = MIN_INT(begin + run, pairs);
  int found = 0;
#if WG > 1
  for (int i = begin; i < end; ++i) {
    const int id = from ? from[i] : i;
    found += plane1[id] >= cutoff || plane2[id] >= cutoff;
  }
#endif
  int next = group_before(part, found, item, &found);
  for (int i = begin; i < end; ++i) {
    const int id = from ? from[i] : i;
    if (plane1[id] >= cutoff || plane2[id] >= cutoff) {
      list[1 + next++] = id;
    }
  }
  if (item == WG - 1) {
    list[0] = next;
  }
}

// Multiplies bounds of activities of a block of a body's kept edges, with all of the other body's,
// by the softmax of their distances and by all gate weights (own, others). It is done with values
// alone.
static void bound_neighbours(GLOBAL const real *dbar, GLOBAL real *bound, const pair_matrix *m,
                             GLOBAL const real *own, GLOBAL const real *others, int first,
                             GLOBAL const coefficients *c)
{
  const lane none = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  const lane weight = own ? gather_part(own, first, m->rows - 1, 1) : one;
  lane least = lane_lit(REAL_BIG), sum = none;
  for (int j = 0; j < m->columns; ++j) {
    const lane x = gather_part(dbar + j * m->column_step, first, m->rows - 1, m->row_step);
    least = !others || others[j] > R(0.0) ? lane_select(x < least, x, least) : least;
  }
  for (int turn = 0; turn < 2 * m->columns; ++turn) { // one loop, so that the text is compiled once
    const int j = turn % m->columns;
    const real w = others ? others[j] : R(1.0);
    const lane x = gather_part(dbar + j * m->column_step, first, m->rows - 1, m->row_step);
    const lane e = lane_exp2((least - x) * c->neighbour_log2e) * w;
    const lane share = w > R(0.0) ? e : none;
    if (turn < m->columns) {
      sum = sum + share;
      continue;
    }
    GLOBAL real *to = bound + j * m->column_step;
    const lane b = gather_part(to, first, m->rows - 1, m->row_step);
    const lane over = lane_select(sum > none, one / sum, none);
    store_part(to, NO_ORDER, 0, first, m->rows, m->row_step, b * weight * w * share * over);
  }
}

#if WITH_FORWARD
// One work-group lists the pairs of one pose that could have an activity of `cutoff` without
// `agree`; the clash of normals is not looked at. depth (poses, DEPTH_PLANES, pair_slots) is set to
// where nothing agrees; edge_probes then writes that of the listed pairs. dbar has room for a
// plane.
KERNEL void probed_pairs(GLOBAL const real *witness, int base, int witness_stride,
                         GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                         int opposing_stride, GLOBAL const real *weights1,
                         GLOBAL const real *weights2, real cutoff, GLOBAL const pair_head *pair,
                         GLOBAL real *dbar, GLOBAL real *depth, GLOBAL int *list)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const coefficients *c = &pair->c;
  const int plane = pair->n.pair_slots, stride = DEPTH_PLANES * plane;
  GLOBAL const pair_elements *edges1 = &pair->n.elements[EDGES_OF(0)];
  GLOBAL const pair_elements *edges2 = &pair->n.elements[EDGES_OF(1)];
  GLOBAL const real *at = NUMS(witness, pose, witness_stride);
  GLOBAL const real *phi1 = NUMS(opposing1, pose, opposing_stride);
  GLOBAL const real *phi2 = NUMS(opposing2, pose, opposing_stride);
  GLOBAL const real *own1 = edges1->weighted ? NUMS(weights1, pose, edges1->slots) : 0;
  GLOBAL const real *own2 = edges2->weighted ? NUMS(weights2, pose, edges2->slots) : 0;
  GLOBAL real *gaps = NUMS(dbar, pose, FACTORS_PLANES * plane);
  GLOBAL real *row = NUMS(depth, pose, stride);
  for (int first = item * LANES; first < plane; first += WG * LANES) {
    const lane shared = lane_load(at + WITNESS_CON * plane + first);
    const lane both[2] = {shared, shared};
    const lane phi[2] = {lane_load(phi1 + first), lane_load(phi2 + first)};
    lane bounds[2], gap2 = lane_lit(R(0.0));
    bound_activities(both, phi, c, bounds);
    for (int j = 0; j < 3; ++j) {
      GLOBAL const real *e1 = at + base + j * plane + first;
      const lane gap = lane_load(e1) - lane_load(e1 + WITNESS_E2 * plane);
      gap2 = gap2 + gap * gap;
    }
    lane_store(bounds[0], row + first);
    lane_store(bounds[1], row + plane + first);
    lane_store(gap2 / lane_sqrt(gap2 + lane_lit(c->distance)), gaps + first);
  }
  BARRIER_GLOBAL;
  const pair_matrix rows = matrix_of(&pair->n, 0), columns = matrix_of(&pair->n, 1);
  for (int first = item * LANES; first < rows.rows; first += WG * LANES) {
    bound_neighbours(gaps, row, &rows, own1, own2, first, c);
  }
  for (int first = item * LANES; first < columns.rows; first += WG * LANES) {
    bound_neighbours(gaps, row + plane, &columns, own2, own1, first, c);
  }
  BARRIER_GLOBAL;
  list_pairs(row, row + plane, pair->n.pairs, 0, cutoff, part, item, ROW(list, pose, plane + 1));
  BARRIER_GLOBAL;
  const num none = n_lit(c->penetration * (real)DEPTH_NONE);
  for (int first = item * LANES; first < plane; first += WG * LANES) {
    store(row + first, stride, none);
    store(row + plane + first, stride, none);
  }
}
#endif

// Returns the distance below which fields are to be exact at the points of pairs that may be
// active. Activities end at `reach`. With `agree` distances are depths too, and what they confirm
// (see `confirming`) falls below exp(-PROBE_STEPS) only farther out. With `near` no pair is active
// whose points are farther than `reach`.
static real claimed_reach(real reach, lane dbar, GLOBAL const coefficients *c)
{
  if (c->agree > R(0.0) && !(c->near_steps > R(0.0))) {
    const real steps = R(1.5) + R(0.5) * PROBE_STEPS;
    return real_max(reach, steps * c->penetration - c->agree * lane_least(-dbar));
  }
  return reach;
}

// Returns how deep the edges of body `side` of a block of listed pairs lie in the other one (head,
// shape), whose distance at their witness points is phi. A probe that lies PROBE_STEPS temperatures
// farther out than phi has no share in the soft least distance, so its distance need not be exact.
static num edge_depth(const listed_edge *edge, num a, num dbar, num phi, int side,
                      GLOBAL const real *frame, GLOBAL const int *head, GLOBAL const real *shape,
                      GLOBAL const coefficients *c)
{
  const real most = PROBE_STEPS / DEPTH_SHARPNESS * c->penetration - lane_least(-n_value(phi));
  FN(least) depth = FN(least_of)(phi);
  for (int k = 0; k < 2; ++k) {
    const FN(probe) probe = FN(probe_of)(edge->along, a, k ? dbar : n_neg(dbar), c);
    const vec x = probe_point(edge, probe.at, side, frame);
    const num there = distance_within(head, shape, c, x, most);
    FN(least_add)(&depth, steady(there, COTANGENT_LIMIT), c);
  }
  return FN(least_value)(&depth, c);
}

// One work-item finds how deep the edges of body `side` lie, for a block of one pose's listed
// pairs, and writes its plane of depth (poses, DEPTH_PLANES, pair_slots). opposing has planes of
// the other body's field (head, shape) at their witness points.
KERNEL void edge_probes(GLOBAL const real *witness, int base, int witness_stride,
                        GLOBAL const real *opposing, int opposing_stride, GLOBAL const int *list,
                        GLOBAL const real *ends, GLOBAL const real *frames,
                        GLOBAL const int *head, GLOBAL const real *shape,
                        GLOBAL const pair_head *pair, int side, GLOBAL real *depth)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  const int plane = pair->n.pair_slots, stride = DEPTH_PLANES * plane;
  GLOBAL const int *listed = ROW(list, pose, plane + 1), *at = listed + 1;
  const int count = listed[0];
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const pair_planes from = witness_planes(witness, base, witness_stride, &pair->n, pose);
  const listed_edge edge = listed_edge_of(ends, &pair->n, side, at, first, count, frame, pose);
  const pair_claim claim = claim_of(&from, at, first, count, c);
  const num phi =
    gather_at(NUMS(opposing, pose, opposing_stride), opposing_stride, at, first, count);
  const num r = edge_depth(&edge, witness_parameters(&from, side, at, first, count), claim.dbar, phi,
                           side, frame, head, shape, c);
  store_row(NUMS(depth, pose, stride) + side * plane, stride, at, 1, first, count,
            steady(r, COTANGENT_LIMIT));
}

// ---- adjoints ----

// Where the sites of a block's probes lie: those of the first one, and how far behind those of the
// second. count is 0 where there are none.
typedef struct probe_sites {
  GLOBAL real *row;
  int count, first, step, pose;
} probe_sites;

// The adjoint of a block's probes, without the witness points' own distances: adds to the
// cotangents of the parameters a, of dbar and of the edges' two ends, in body 1's frame, and to the
// wrench.
static void edge_depth_adjoint(const listed_edge *edge, num a, num dbar, num depth, num depth_bar,
                               int side, GLOBAL const real *frame, GLOBAL const int *head,
                               GLOBAL const real *shape, GLOBAL const coefficients *c, num *a_bar,
                               num *dbar_bar, vec bar[2], const probe_sites *sites, wrench *relative)
{
  for (int k = 0; k < 2; ++k) {
    const num reach = k ? dbar : n_neg(dbar);
    const FN(probe) probe = FN(probe_of)(edge->along, a, reach, c);
    const vec x = probe_point(edge, probe.at, side, frame);
    num reach_bar = n_lit(R(0.0));
    FN(jet) jet;
    FN(body_jet)(head, shape, c, x, JET_GRADIENT, REAL_BIG, &jet);
    const num phi_bar = n_mul(depth_bar, FN(least_share)(depth, jet.phi, c));
    store_sites(sites->row, sites->count, sites->first + k * sites->step, sites->pose, x, phi_bar,
                no_bar());
    vec push = FN(scale3)(steady3(jet.gradient, COTANGENT_LIMIT), phi_bar);
    if (!side) {
      push = turn_back(frame + FRAME_1_TO_2, push);
      push_at(relative, FN(mad3)(edge->along, probe.at, edge->end), FN(neg3)(push));
    }
    FN(probe_adjoint)(&probe, edge->along, reach, push, c, a_bar, &reach_bar, bar);
    *dbar_bar = k ? n_add(*dbar_bar, reach_bar) : n_sub(*dbar_bar, reach_bar);
  }
  for (int i = 0; i < 2; ++i) {
    bar[i] = bounded3(bar[i], COTANGENT_LIMIT);
  }
  if (side) { // body 2's edges move with it
    push_at(relative, edge->end, bar[0]);
    push_at(relative, FN(add3)(edge->end, edge->along), bar[1]);
  }
}

// Returns what the cotangent of dbar gives to e1, and with the opposite sign to e2: the derivative
// of dbar along gap / length is 2 - dbar / length.
static vec claim_adjoint(const pair_claim *claim, num dbar_bar)
{
  const num less = n_mul(claim->dbar, claim->length_inv);
  const num steep = n_mul(dbar_bar, n_sub(n_lit(R(2.0)), less));
  return bounded3(FN(scale3)(claim->gap, n_mul(steep, claim->length_inv)), COTANGENT_LIMIT);
}

// Adds the numbers of a block of listed pairs to theirs in a plane.
static void add_listed(GLOBAL real *plane, int stride, GLOBAL const int *at, int first, int count,
                       num x)
{
  const num there = gather_at(plane, stride, at, first, count);
  store_row(plane, stride, at, 1, first, count, bounded(n_add(there, x), COTANGENT_LIMIT));
}

static void add_listed3(GLOBAL real *planes, int stride, int plane, GLOBAL const int *at, int first,
                        int count, vec v)
{
  add_listed(planes, stride, at, first, count, v.x);
  add_listed(planes + plane, stride, at, first, count, v.y);
  add_listed(planes + 2 * plane, stride, at, first, count, v.z);
}

// Reads a plane at a block of listed pairs. Lanes past the end of the list hold its last pair,
// whose cotangent must count once: they get 0.
static num listed_bar(GLOBAL const real *plane, int stride, GLOBAL const int *at, int first,
                      int count)
{
  const ilane there = lane_iota() + (real)first < lane_lit((real)count);
  return n_select(there, gather_at(plane, stride, at, first, count), n_lit(R(0.0)));
}

// The adjoint of edge_probes: from the cotangents of depth in `bars` to those of e1, e2 and the
// parameters there, to wrenches of what moves the edges, where `moves` is set to ends_bar and, where
// there are sites, to those of both probes by their places in the list, without cotangents past its end.
ADJOINT_KERNEL void edge_probes_adjoint(GLOBAL const real *witness, int base, int witness_stride,
                                        GLOBAL const real *depth, GLOBAL const int *list,
                                        GLOBAL const real *ends, GLOBAL const real *frames,
                                        GLOBAL const int *head, GLOBAL const real *shape,
                                        GLOBAL const pair_head *pair, int side, GLOBAL real *bars,
                                        int moves, GLOBAL real *ends_bar, GLOBAL real *sites,
                                        int site_count, int site_first, GLOBAL real *wrenches,
                                        int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0), first = block * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  const int plane = pair->n.pair_slots;
  const int stride = DEPTH_PLANES * plane, bar_stride = WITNESS_BAR_PLANES * plane;
  GLOBAL const int *listed = ROW(list, pose, plane + 1), *at = listed + 1;
  const int count = listed[0];
  if (first >= plane) {
    return;
  }
  wrench relative = no_wrench();
  const probe_sites into = {sites, site_count, site_first + first, plane, pose};
  for (int k = 0; k < 2 && first >= count; ++k) {
    store_sites(sites, site_count, into.first + k * plane, pose, no_bar(), n_lit(R(0.0)), no_bar());
  }
  if (first < count) {
    GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
    GLOBAL real *row = NUMS(bars, pose, bar_stride);
    const pair_planes from = witness_planes(witness, base, witness_stride, &pair->n, pose);
    const listed_edge edge = listed_edge_of(ends, &pair->n, side, at, first, count, frame, pose);
    const pair_claim claim = claim_of(&from, at, first, count, c);
    const num lies = gather_at(NUMS(depth, pose, stride) + side * plane, stride, at, first, count);
    const num depth_bar =
      listed_bar(row + (WITNESS_BAR_DEPTH + side) * plane, bar_stride, at, first, count);
    const num zero = n_lit(R(0.0));
    num a_bar = zero, dbar_bar = zero;
    vec bar[2] = {FN(make)(zero, zero, zero), FN(make)(zero, zero, zero)};
    edge_depth_adjoint(&edge, witness_parameters(&from, side, at, first, count), claim.dbar, lies,
                       depth_bar, side, frame, head, shape, c, &a_bar, &dbar_bar, bar, &into,
                       &relative);
    const vec apart = claim_adjoint(&claim, dbar_bar);
    add_listed3(row, bar_stride, plane, at, first, count, apart);
    add_listed3(row + WITNESS_E2 * plane, bar_stride, plane, at, first, count, FN(neg3)(apart));
    add_listed(row + (WITNESS_A + side) * plane, bar_stride, at, first, count, a_bar);
    if (moves) {
      const int to_stride = PAIR_ENDS_PLANES * plane;
      GLOBAL real *to = NUMS(ends_bar, pose, to_stride) + side * ENDS_PLANES * plane;
      for (int i = 0; i < 2; ++i) {
        const vec own = side ? turn(frame + FRAME_1_TO_2, bar[i]) : bar[i];
        add_listed3(to + i * POINT_PLANES * plane, to_stride, plane, at, first, count, own);
      }
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, no_wrench());
}
