// Back from cotangents of listed contacts to wrenches of their poses: the adjoints of listed.cl and
// of near.cl's pairs and selection. They compute on plain numbers alone, as what is listed has no
// Hessian products. A field's derivatives are computed where they are used. One work-group has one
// pose, and each of its items leaves its wrenches in a block of its own.
//
// `bars` has cotangents, VALUE_PLANES planes by place in a list, as values lie.

// Bounds the Jacobian of a normal; where it is NaN it has overflowed against itself, and counts as
// 0.
static void steady_jet(FN(jet) *jet)
{
  for (int i = 0; i < 9; ++i) {
    const num slope = bounded(jet->jacobian[i], JACOBIAN_LIMIT);
    jet->jacobian[i] = n_select(n_value(slope) == n_value(slope), slope, n_lit(R(0.0)));
  }
}

// Returns J' bar, what a cotangent of the normal becomes at the point.
static vec adjoint_jet(const FN(jet) *jet, vec bar)
{
  const num *j = jet->jacobian;
  return FN(make)(n_mad(j[6], bar.z, n_mad(j[3], bar.y, n_mul(j[0], bar.x))),
                  n_mad(j[7], bar.z, n_mad(j[4], bar.y, n_mul(j[1], bar.x))),
                  n_mad(j[8], bar.z, n_mad(j[5], bar.y, n_mul(j[2], bar.x))));
}

// A block of a list's cotangents, which are 0 past its end.
typedef struct bar_block {
  GLOBAL const real *row;
  int stride, plane;
  ilane there;
} bar_block;

static num bar_of(const bar_block *b, int which)
{
  return n_select(b->there, load(b->row + which * b->plane, b->stride), n_lit(R(0.0)));
}

static vec bar3_of(const bar_block *b, int which)
{
  return FN(make)(bar_of(b, which), bar_of(b, which + 1), bar_of(b, which + 2));
}

static ilane lanes_below(int first, int count)
{
  return lane_iota() + (real)first < lane_lit((real)count);
}

static vec only_there(ilane there, vec v)
{
  const num zero = n_lit(R(0.0));
  return FN(make)(n_select(there, v.x, zero), n_select(there, v.y, zero),
                  n_select(there, v.z, zero));
}

// The adjoint of listed_vertices of body `side`; head and shape are those of the other body, and
// `have` has WANT_* bits of the cotangents that there are.
MERGED
ADJOINT_KERNEL void listed_vertices_adjoint(GLOBAL const real *points, GLOBAL const int *list,
                                            GLOBAL const real *frames, GLOBAL const int *head,
                                            GLOBAL const real *shape, GLOBAL const real *radii,
                                            GLOBAL const pair_head *pair, int side, int have,
                                            GLOBAL const real *bars, GLOBAL real *wrenches,
                                            int wrench_stride, int wrench_block)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const coefficients *c = &pair->c;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded, stride = VALUE_PLANES * padded;
  GLOBAL const int *listed = ROW(list, pose, padded + 1);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const int count = pair->n.listed & (LISTED_VERTICES_1 << side) ? listed[0] : 0;
  wrench relative = no_wrench(), carried = relative;
  for (int first = item * LANES; first < count; first += WG * LANES) {
    const bar_block in = {NUMS(bars, pose, stride) + first, stride, padded,
                          lanes_below(first, count)};
    const vec own = gather3_at(points, 0, padded, listed + 1, first, count);
    const vec at = FN(limit3)(place(frame + FRAME_ACROSS(side), own), R(2.0) * SEPARATION_LIMIT);
    FN(jet) jet;
    const int rounds = pair->n.elements[VERTICES_OF(side)].radii;
    const int normals = have & WANT_N || (rounds && have & WANT_P);
    const int coned = needs_cones(c, &pair->n.elements[VERTICES_OF(side)], have);
    lane radius = lane_lit(R(0.0));
    if (rounds) {
      radius = gather_part_at(radii, listed + 1, first, count);
    }
    if (normals || coned) {
      FN(body_jet)(head, shape, c, at, JET_JACOBIAN, REAL_BIG, &jet);
      steady_jet(&jet);
    } else {
      FN(body_jet)(head, shape, c, at, JET_GRADIENT, REAL_BIG, &jet);
    }
    num phi_bar = n_lit(R(0.0)), counts_bar = phi_bar, counts = n_lit(R(1.0));
    vec normal = no_bar(), held = normal; // of the field, and what the contact reports
    if (normals || coned) {
      normal = held = steady3(jet.normal, COTANGENT_LIMIT);
    }
    FN(cone) cone = no_cone();
    if (coned) {
      cone = load_cone(radii + RADII_CONES(0, padded), padded, listed + 1, first, count,
                       frame + FRAME_ACROSS(side));
      counts = FN(cone_slot)(normal, &cone, c, &held);
    }
    // With seams `counts` is of both, and `beside` of them alone.
    num beside = n_lit(R(1.0)), seam = n_lit(R(0.0));
    vec of_field = no_bar(), of_own = of_field;
    const num coned_counts = counts;
    if (coned && has_seams(pair)) {
      seam = seam_depth(jet.phi, n_of(radius));
      beside = seam_share(pair, side, at, normal, seam, own, &of_field, &of_own);
      counts = n_mul(counts, beside);
    }
    if (have & WANT_D) {
      phi_bar = bar_of(&in, VALUE_D);
    }
    if (have & WANT_ACTIVITY) {
      num depth = n_sub(jet.phi, n_of(radius));
      depth = n_mad(FN(dot3)(normal, cone.axis), n_of(cone.inset), depth);
      phi_bar = add_activity_bar(phi_bar, depth, bar_of(&in, VALUE_ACTIVITY), coned, counts,
                                 &counts_bar, c);
    }
    of_field = FN(scale3)(of_field, n_mul(counts_bar, coned_counts));
    // of seam_share
    const num surface_bar = n_sub(phi_bar, seam_depth(FN(dot3)(of_field, normal), n_of(radius)));
    vec bar = FN(scale3)(steady3(jet.gradient, COTANGENT_LIMIT), surface_bar);
    bar = FN(add3)(of_field, bar);
    vec push = no_bar(), normal_bar = push;
    if (have & WANT_P) {
      push = turn_back(frame + FRAME_WORLD_1, bar3_of(&in, VALUE_P));
    }
    if (normals) {
      vec pull = no_bar();
      if (have & WANT_N) {
        pull = turn_back(frame + FRAME_WORLD_1, bar3_of(&in, VALUE_N));
      }
      pull = FN(mad3)(push, n_of(-radius), pull); // of p = v - radius n
      normal_bar = side ? pull : turn(frame + FRAME_1_TO_2, pull);
      twist_normal(frame, side, held, pull, &relative, &carried);
    }
    if (coned) {
      vec axis_bar;
      normal_bar =
        FN(cone_adjoint)(normal, &cone, c, n_mul(counts_bar, beside), normal_bar, &axis_bar);
      const num inset_bar = n_times(phi_bar, cone.inset);
      normal_bar = FN(mad3)(cone.axis, inset_bar, normal_bar);
      normal_bar = FN(mad3)(of_field, n_neg(seam), normal_bar);
      axis_bar = FN(mad3)(normal, inset_bar, axis_bar);
      twist_axis(frame, side, cone.axis, axis_bar, &relative);
    }
    if (normals || coned) {
      bar = FN(add3)(bar, adjoint_jet(&jet, normal_bar));
    }
    push_vertex(frame, side, own, bar, 0, bar, &relative, &carried);
    if (have & WANT_P) {
      const vec out = coned ? beyond_inset(frame, side, own, &cone) : own;
      push_point(frame, side, out, push, &relative, &carried);
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, carried);
}

// A block of listed pairs: points and normals in body 1's frame, distances, both bodies' own fields
// at their own points, and the gradients of the opposing fields there, each in its body's frame.
typedef struct pair_block {
  vec e1, e2, m1, m2;
  FN(pair_depths) at;
  FN(jet) jet[2];
  vec slope[2];
} pair_block;

// The fields of both bodies.
typedef struct pair_fields {
  GLOBAL const int *head[2];
  GLOBAL const real *shape[2];
} pair_fields;

// Evaluates a block's fields. The opposing ones matter to activities alone, and are 0 where these
// have no cotangents.
static void load_fields(const pair_fields *of, GLOBAL const coefficients *c,
                        GLOBAL const real *frame, int active, pair_block *b)
{
  GLOBAL const real *to_2 = frame + FRAME_1_TO_2;
  num phi[2];
  for (int side = 0; side < 2; ++side) {
    const vec own = side ? place(to_2, b->e2) : b->e1, other = side ? place(to_2, b->e1) : b->e2;
    FN(body_jet)(of->head[side], of->shape[side], c, FN(limit3)(own, R(2.0) * SEPARATION_LIMIT),
                 JET_JACOBIAN, REAL_BIG, &b->jet[side]);
    steady_jet(&b->jet[side]);
    phi[side] = n_lit(R(0.0));
    b->slope[side] = FN(make)(phi[side], phi[side], phi[side]);
    if (active) {
      FN(jet) across;
      FN(body_jet)(of->head[side], of->shape[side], c, FN(limit3)(other, R(2.0) * SEPARATION_LIMIT),
                   JET_GRADIENT, REAL_BIG, &across);
      b->slope[side] = steady3(across.gradient, COTANGENT_LIMIT);
      phi[side] = across.phi;
    }
  }
  b->m1 = steady3(b->jet[0].normal, COTANGENT_LIMIT);
  b->m2 = turn(frame + FRAME_2_TO_1, steady3(b->jet[1].normal, COTANGENT_LIMIT));
  b->at.own1 = b->jet[0].phi;
  b->at.own2 = b->jet[1].phi;
  b->at.opposing1 = phi[1];
  b->at.opposing2 = phi[0];
}

static FN(edge_contact) value_bars(const bar_block in[2], GLOBAL const real *frame, int have)
{
  const num zero = n_lit(R(0.0));
  const vec zero3 = FN(make)(zero, zero, zero);
  FN(edge_contact) bar = {zero, zero, zero, zero3, zero3, zero, zero};
  if (have & WANT_D) {
    bar.d1 = bar_of(&in[0], VALUE_D);
    bar.d2 = bar_of(&in[1], VALUE_D);
  }
  if (have & WANT_N) {
    bar.n1 = turn_back(frame + FRAME_WORLD_1, bar3_of(&in[0], VALUE_N));
    bar.n2 = turn_back(frame + FRAME_WORLD_1, bar3_of(&in[1], VALUE_N));
  }
  return bar;
}

// An activity is factor times a, less the floor: returns the cotangent of a, and that of factor in
// *factor_bar.
static num factored_bar(num bar, num factor, num a, GLOBAL const coefficients *c, num *factor_bar)
{
  num slope;
  if (c->floor > R(0.0)) {
    FN(above_floor_and_slope)(n_mul(factor, a), c->floor, c->floor_inv, &slope);
    bar = n_mul(bar, slope);
  }
  *factor_bar = n_mul(bar, a);
  return n_mul(bar, factor);
}

// Goes back through all fields to the points: both bodies' own ones, then the other body's at each
// point.
static void fields_adjoint(const pair_block *b, GLOBAL const real *to_2, FN(edge_pair_bar) *r,
                           wrench *relative)
{
  r->e1 = FN(add3)(r->e1, adjoint_jet(&b->jet[0], r->m1));
  r->e1 = FN(mad3)(steady3(b->jet[0].gradient, COTANGENT_LIMIT), r->at.own1, r->e1);
  vec across = adjoint_jet(&b->jet[1], turn(to_2, r->m2));
  across = FN(mad3)(steady3(b->jet[1].gradient, COTANGENT_LIMIT), r->at.own2, across);
  across = turn_back(to_2, across);
  r->e2 = FN(add3)(r->e2, across);
  push_at(relative, b->e2, FN(neg3)(across));
  twist_direction(relative, b->m2, r->m2);
  const vec push = turn_back(to_2, FN(scale3)(b->slope[1], r->at.opposing1));
  r->e1 = FN(add3)(r->e1, push);
  push_at(relative, b->e1, FN(neg3)(push));
  r->e2 = FN(mad3)(b->slope[0], r->at.opposing2, r->e2);
}

// Returns what the cotangents of a block's values give to everything that these are made of, and in
// factor_bar what they give to both factors.
static FN(edge_pair_bar) pair_values_adjoint(const pair_block *b, const bar_block in[2],
                                             GLOBAL const real *frame, GLOBAL const coefficients *c,
                                             int have, const num factor[2], num factor_bar[2])
{
  const num one = n_lit(R(1.0));
  FN(edge_contact) bar = value_bars(in, frame, have);
  factor_bar[0] = factor_bar[1] = n_lit(R(0.0));
  if (have & WANT_ACTIVITY) {
    const FN(edge_contact) r = FN(edge_pair)(b->e1, b->e2, one, b->m1, b->m2, &b->at, c);
    bar.a1 = factored_bar(bar_of(&in[0], VALUE_ACTIVITY), factor[0], r.a1, c, &factor_bar[0]);
    bar.a2 = factored_bar(bar_of(&in[1], VALUE_ACTIVITY), factor[1], r.a2, c, &factor_bar[1]);
  }
  return FN(edge_pair_adjoint)(b->e1, b->e2, one, b->m1, b->m2, &b->at, c, &bar, 1);
}

// Takes a block's cotangents, all but those of its factors, to those of its points, and adds
// wrenches.
static void pair_points_adjoint(const pair_block *b, const bar_block in[2],
                                GLOBAL const real *frame, int have, FN(edge_pair_bar) *r,
                                wrench *relative, wrench *carried)
{
  if (have & WANT_N) {
    twist_pair(b->e1, b->e2, b->m1, b->m2, r, carried);
  }
  fields_adjoint(b, frame + FRAME_1_TO_2, r, relative);
  if (have & WANT_P) {
    const vec push1 = turn_back(frame + FRAME_WORLD_1, bar3_of(&in[0], VALUE_P));
    const vec push2 = turn_back(frame + FRAME_WORLD_1, bar3_of(&in[1], VALUE_P));
    push_at(carried, b->e1, push1);
    push_at(carried, b->e2, push2);
    r->e1 = FN(add3)(r->e1, push1);
    r->e2 = FN(add3)(r->e2, push2);
  }
  r->e1 = bounded3(r->e1, COTANGENT_LIMIT);
  r->e2 = bounded3(r->e2, COTANGENT_LIMIT);
}

// The adjoint of listed_pairs and of the fields under it. Writes pair_bars (poses, PAIR_BAR_PLANES,
// near_plane), zero for pairs that are not listed.
MERGED
ADJOINT_KERNEL void listed_pairs_adjoint(GLOBAL const real *pairs, GLOBAL const int *list,
                                         GLOBAL const real *frames, GLOBAL const int *head1,
                                         GLOBAL const real *shape1, GLOBAL const int *head2,
                                         GLOBAL const real *shape2, GLOBAL const pair_head *pair,
                                         int have, GLOBAL const real *bars, GLOBAL real *pair_bars,
                                         GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int plane = pair->n.near_plane, stride = pair->n.near_stride;
  const int bar_stride = 2 * VALUE_PLANES * plane, out_stride = PAIR_BAR_PLANES * plane;
  const pair_fields of = {{head1, head2}, {shape1, shape2}};
  GLOBAL const int *listed = ROW(list, pose, plane + 1), *at = listed + 1;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *row = NUMS(pairs, pose, stride);
  GLOBAL const real *factors = row + NEAR_FACTORS * plane;
  GLOBAL real *out = NUMS(pair_bars, pose, out_stride);
  const int count = listed[0];
  wrench relative = no_wrench(), carried = relative;
  if (count) {
    clear_row(out, PARTS * out_stride, item);
  }
  BARRIER_GLOBAL;
  for (int first = item * LANES; first < count; first += WG * LANES) {
    GLOBAL const real *from = NUMS(bars, pose, bar_stride) + first;
    const ilane there = lanes_below(first, count);
    const bar_block in[2] = {{from, bar_stride, plane, there},
                             {from + VALUE_PLANES * plane, bar_stride, plane, there}};
    const num factor[2] = {gather_at(factors, stride, at, first, count),
                           gather_at(factors + plane, stride, at, first, count)};
    pair_block b;
    num factor_bar[2];
    b.e1 = gather3_at(row + NEAR_E1 * plane, stride, plane, at, first, count);
    b.e2 = gather3_at(row + NEAR_E2 * plane, stride, plane, at, first, count);
    load_fields(&of, &pair->c, frame, have & WANT_ACTIVITY, &b);
    FN(edge_pair_bar) r = pair_values_adjoint(&b, in, frame, &pair->c, have, factor, factor_bar);
    pair_points_adjoint(&b, in, frame, have, &r, &relative, &carried);
    const num to[PAIR_BAR_LISTED] = {r.e1.x,
                                     r.e1.y,
                                     r.e1.z,
                                     r.e2.x,
                                     r.e2.y,
                                     r.e2.z,
                                     bounded(factor_bar[0], COTANGENT_LIMIT),
                                     bounded(factor_bar[1], COTANGENT_LIMIT)};
    for (int j = 0; j < PAIR_BAR_LISTED; ++j) {
      store_row(out + j * plane, out_stride, at, 1, first, count, to[j]);
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, carried);
}

// The adjoint of the softmax over a row or a column of pairs. Exponentials e are relative to the
// least dbar of an edge whose weight w is not 0, and u = e / sum of w e.
//
// With g = w u a factor is con own w g, where own is the row's or column's own weight. Its
// cotangent's share b = bar con own w has the mean m = sum g b, and the softmax gives g (m - b) /
// neighbour to dbar and u (b - m) to w.

// Of row k it writes the planes of dbar and con, leaves what the other body's weights get in plane
// PAIR_BAR_WEIGHTS, and returns what the row's own weight gets.
static num row_factors_adjoint(GLOBAL const real *row, int stride, int plane, int k,
                               const kept_edges *own, const kept_edges *others,
                               GLOBAL const coefficients *c, GLOBAL real *bars, int bar_stride)
{
  const int count = others->kept, from = k * count;
  const lane none = lane_lit(R(0.0));
  GLOBAL const real *dbar = row + NEAR_DBAR * plane + from;
  GLOBAL const real *con = row + NEAR_CON * plane + from;
  GLOBAL const real *factor_bar = bars + PAIR_BAR_FACTORS * plane + from;
  const num weight = kept_weight(own, k);
  lane low = lane_lit(REAL_BIG);
  for (int l = 0; l < count; l += LANES) {
    const lane x = n_value(load(dbar + l, stride));
    const ilane here = lanes_below(l, count);
    const ilane counts = here & (n_value(kept_weights(others, l)) > none);
    low = lane_select(counts & (x < low), x, low);
  }
  const num least = n_lit(lane_lit(lane_least(low)));
  num sum = n_lit(R(0.0)), mean = sum, weight_bar = sum;
  for (int pass = 0; pass < 3; ++pass) {
    for (int l = 0; l < count; l += LANES) {
      const ilane here = lanes_below(l, count);
      const num w = kept_weights(others, l);
      const ilane counts = here & (n_value(w) > none);
      const num e =
        n_select(counts, n_exp2(n_scale(n_sub(least, load(dbar + l, stride)), c->neighbour_log2e)),
                 n_lit(R(0.0)));
      if (pass == 0) {
        sum = n_add(sum, n_select(counts, n_mul(w, e), n_lit(R(0.0))));
        continue;
      }
      const num u = n_mul(e, sum), g = n_select(counts, n_mul(w, u), n_lit(R(0.0)));
      const num at = n_select(here, load(con + l, stride), n_lit(R(0.0)));
      const num bar = n_select(here, load(factor_bar + l, bar_stride), n_lit(R(0.0)));
      const num share = n_mul(n_mul(bar, at), n_mul(weight, n_select(counts, w, n_lit(R(0.0)))));
      if (pass == 1) {
        mean = n_add(mean, n_mul(g, share));
        continue;
      }
      GLOBAL real *to = bars + from + l;
      const num slope = n_scale(n_mul(g, n_sub(mean, share)), c->neighbour_log2e * LN2);
      const num by_softmax = n_mul(u, n_sub(share, mean));
      const num by_own = n_mul(n_mul(bar, at), g);
      weight_bar = n_add(weight_bar, n_select(counts, n_mul(by_own, w), n_lit(R(0.0))));
      store_row(to + PAIR_BAR_DBAR * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                bounded(slope, COTANGENT_LIMIT));
      store_row(to + PAIR_BAR_CON * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                n_select(counts, n_mul(n_mul(bar, weight), n_mul(w, g)), n_lit(R(0.0))));
      store_row(to + PAIR_BAR_WEIGHTS * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                bounded(n_mad(by_own, weight, by_softmax), COTANGENT_LIMIT));
    }
    if (pass == 0) {
      const num all = all_lanes(sum);
      sum = n_select(n_value(all) > none, n_rcp(all), n_lit(R(0.0)));
    } else if (pass == 1) {
      mean = all_lanes(mean);
    }
  }
  return all_lanes(weight_bar);
}

// Of the columns from l on it does the same from the other side, and adds to the planes of dbar and
// con. What body 1's weights get goes to plane PAIR_BAR_WEIGHTS + 1, and what body 2's own weights
// get is returned, with what the rows have left for them.
static num column_factors_adjoint(GLOBAL const real *row, int stride, int plane, int l,
                                  const kept_edges *own, const kept_edges *others,
                                  GLOBAL const coefficients *c, GLOBAL real *bars, int bar_stride)
{
  const int step = own->kept;
  const lane none = lane_lit(R(0.0));
  GLOBAL const real *dbar = row + NEAR_DBAR * plane + l;
  const num weight = kept_weights(own, l);
  num least = n_lit(REAL_BIG), sum = n_lit(R(0.0)), mean = sum, weight_bar = sum;
  for (int k = 0; k < others->kept; ++k) {
    const num x = load(dbar + k * step, stride);
    const ilane less = n_value(x) < n_value(least);
    const ilane counts = less & (n_value(kept_weight(others, k)) > none);
    least = n_select(counts, x, least);
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (int k = 0; k < others->kept; ++k) {
      const int at_pair = k * step + l;
      const num w = kept_weight(others, k);
      const ilane counts = n_value(w) > none;
      const num e =
        n_select(counts,
                 n_exp2(n_scale(n_sub(least, load(dbar + k * step, stride)), c->neighbour_log2e)),
                 n_lit(R(0.0)));
      if (pass == 0) {
        sum = n_mad(w, e, sum);
        continue;
      }
      const num u = n_mul(e, sum), g = n_mul(w, u);
      const num at = load(row + NEAR_CON * plane + at_pair, stride);
      const num bar = load(bars + (PAIR_BAR_FACTORS + 1) * plane + at_pair, bar_stride);
      const num share = n_mul(n_mul(bar, at), n_mul(weight, w));
      if (pass == 1) {
        mean = n_mad(g, share, mean);
        continue;
      }
      GLOBAL real *to = bars + at_pair;
      const num slope = n_scale(n_mul(g, n_sub(mean, share)), c->neighbour_log2e * LN2);
      const num by_softmax = n_mul(u, n_sub(share, mean));
      const num by_own = n_mul(n_mul(bar, at), g);
      weight_bar =
        n_add(weight_bar, n_add(n_mul(by_own, w), load(to + PAIR_BAR_WEIGHTS * plane, bar_stride)));
      const num dbar_bar = n_add(slope, load(to + PAIR_BAR_DBAR * plane, bar_stride));
      const num con_bar =
        n_add(n_mul(n_mul(bar, weight), n_mul(w, g)), load(to + PAIR_BAR_CON * plane, bar_stride));
      store_row(to + PAIR_BAR_DBAR * plane, bar_stride, NO_ORDER, 0, 0, step - l,
                bounded(dbar_bar, COTANGENT_LIMIT));
      store_row(to + PAIR_BAR_CON * plane, bar_stride, NO_ORDER, 0, 0, step - l, con_bar);
      store_row(to + (PAIR_BAR_WEIGHTS + 1) * plane, bar_stride, NO_ORDER, 0, 0, step - l,
                bounded(n_mad(by_own, weight, by_softmax), COTANGENT_LIMIT));
    }
    if (pass == 0) {
      sum = n_select(n_value(sum) > none, n_rcp(sum), n_lit(R(0.0)));
    }
  }
  return weight_bar;
}

// Returns what the columns have left for row k's weight.
static num row_weights_bar(GLOBAL const real *bars, int bar_stride, int plane, int k, int count)
{
  num sum = n_lit(R(0.0));
  for (int l = 0; l < count; l += LANES) {
    const num x = load(bars + (PAIR_BAR_WEIGHTS + 1) * plane + k * count + l, bar_stride);
    sum = n_add(sum, n_select(lanes_below(l, count), x, n_lit(R(0.0))));
  }
  return all_lanes(sum);
}

// Goes from the cotangents of both factors to those of dbar and con, in bars, and of the gate
// weights, bar1 and bar2 of a pose.
static void shares_adjoint(GLOBAL const real *row, GLOBAL const pair_head *pair,
                           const kept_edges *edges1, const kept_edges *edges2, GLOBAL real *bars,
                           GLOBAL real *bar1, GLOBAL real *bar2, int item)
{
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  const int bar_stride = PAIR_BAR_PLANES * plane;
  GLOBAL const coefficients *c = &pair->c;
  for (int k = item; k < edges1->kept; k += WG) {
    const num bar = row_factors_adjoint(row, stride, plane, k, edges1, edges2, c, bars, bar_stride);
    if (edges1->weighted) {
      store_first(bar1 + k, edges1->padded, bar);
    }
  }
  BARRIER_GLOBAL;
  for (int l = item * LANES; l < edges2->kept; l += WG * LANES) {
    const num bar =
      column_factors_adjoint(row, stride, plane, l, edges2, edges1, c, bars, bar_stride);
    if (edges2->weighted) {
      store(bar2 + l, edges2->padded, bounded(bar, COTANGENT_LIMIT));
    }
  }
  BARRIER_GLOBAL;
  for (int k = item; edges1->weighted && k < edges1->kept; k += WG) {
    const num bar = n_add(load_one(bar1 + k, edges1->padded),
                          row_weights_bar(bars, bar_stride, plane, k, edges2->kept));
    store_first(bar1 + k, edges1->padded, bounded(bar, COTANGENT_LIMIT));
  }
}

// Goes from the cotangents of a block's witness points, dbar and con to the wrench that moves its
// edges of body 2; row and bars are those of a pose.
static void witness_block_adjoint(GLOBAL const real *row, GLOBAL const pair_head *pair,
                                  const edge_ends *at, GLOBAL const real *bars, int first,
                                  wrench *relative)
{
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  const bar_block in = {bars + first, PAIR_BAR_PLANES * plane, plane,
                        lanes_below(first, pair->n.pairs)};
  const vec gap = FN(sub3)(load3(row + NEAR_E1 * plane + first, stride, plane),
                           load3(row + NEAR_E2 * plane + first, stride, plane));
  const num gap2 = FN(dot3)(gap, gap);
  const num length_inv = n_rcp(n_sqrt(n_shift(gap2, pair->c.distance)));
  // dbar = gap2 / length, whose derivative along gap / length is 2 - dbar / length.
  const num steep = n_mul(n_mul(bar_of(&in, PAIR_BAR_DBAR), length_inv),
                          n_sub(n_lit(R(2.0)), n_mul(n_mul(gap2, length_inv), length_inv)));
  const vec push = only_there(in.there, FN(scale3)(gap, steep));
  vec bar[4];
  FN(edge_witness_adjoint)(at->p0, at->p1, at->q0, at->q1, &pair->c,
                           FN(add3)(bar3_of(&in, PAIR_BAR_E1), push),
                           FN(sub3)(bar3_of(&in, PAIR_BAR_E2), push), bar_of(&in, PAIR_BAR_CON),
                           bar);
  for (int i = 2; i < 4; ++i) {
    const vec q = only_there(in.there, bounded3(bar[i], COTANGENT_LIMIT));
    push_at(relative, only_there(in.there, i == 2 ? at->q0 : at->q1), q);
  }
}

// The adjoint of near_pairs, from what listed_pairs_adjoint leaves: to wrenches of what moves the
// edges' ends, and to the gate weights, weights_bar1 and weights_bar2 of whole blocks.
MERGED
ADJOINT_KERNEL void near_pairs_adjoint(GLOBAL const real *ends1, GLOBAL const real *weights1,
                                       GLOBAL const real *weights2, GLOBAL const pair_head *pair,
                                       GLOBAL const int *list, GLOBAL const real *pairs,
                                       GLOBAL real *pair_bars, GLOBAL real *weights_bar1,
                                       GLOBAL real *weights_bar2, GLOBAL real *wrenches,
                                       int wrench_stride, int wrench_block)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int plane = pair->n.near_plane;
  const int any = ROW(list, pose, plane + 1)[0]; // no return: see KERNEL
  GLOBAL const real *row = NUMS(pairs, pose, pair->n.near_stride);
  GLOBAL real *bars = NUMS(pair_bars, pose, PAIR_BAR_PLANES * plane);
  wrench relative = no_wrench();
  const kept_edges edges1 = kept_edges_of(&pair->n, 0, any, weights1, pose);
  const kept_edges edges2 = kept_edges_of(&pair->n, 1, any, weights2, pose);
  shares_adjoint(row, pair, &edges1, &edges2, bars, NUMS(weights_bar1, pose, edges1.padded),
                 NUMS(weights_bar2, pose, edges2.padded), item);
  GLOBAL const real *placed = row + NEAR_PLANES * plane;
  for (int block = item; any && block * LANES < pair->n.pairs; block += WG) {
    const edge_ends at = near_ends(kept_row(ends1, &pair->n, 0, pose), placed, &pair->n, block);
    witness_block_adjoint(row, pair, &at, bars, block * LANES, &relative);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, no_wrench());
}

#if WITH_ADJOINT // only a kernel may declare local memory
// The adjoint of a body's gated selection: from the cotangents of the weights to those of the
// ranked scores, and from these to the distances at the ends of the kept edges and of the one
// behind them, in the other body's field (head, shape).
MERGED
ADJOINT_KERNEL void near_select_adjoint(GLOBAL const int *index, GLOBAL const real *top,
                                        GLOBAL const real *source, GLOBAL const real *weights_bar,
                                        GLOBAL const int *list, GLOBAL const real *frames,
                                        GLOBAL const int *head, GLOBAL const real *shape,
                                        GLOBAL const pair_head *pair, int side,
                                        GLOBAL real *ranked_bar, GLOBAL real *wrenches,
                                        int wrench_stride, int wrench_block)
{
  LOCAL_ARRAY(real, sums, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  const int kept = e->kept, padded = e->padded;
  wrench relative = no_wrench();
  // Where all are kept weights are 1, and nothing depends on them; no return: see KERNEL.
  const int any = ROW(list, pose, pair->n.near_plane + 1)[0] && kept < e->count;
  GLOBAL const int *found = ROW(index, pose, kept + 1);
  GLOBAL real *ranked = NUMS(ranked_bar, pose, kept + 1);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  gate_row_adjoint(NUMS(top, pose, kept + 1), e, &pair->c, NUMS(weights_bar, pose, e->slots),
                   ranked, sums, item, any);
  BARRIER_GLOBAL;
  const int ends = any ? 2 * (kept + 1) : 0;
  for (int first = item * LANES; first < ends; first += WG * LANES) {
    real at[3][LANES];
    num bar = n_lit(R(0.0));
    EACH_PART (part) {
      real t[LANES];
      for (int i = 0; i < LANES; ++i) {
        const int end = MIN_INT(first + i, ends - 1), k = end / 2;
        for (int j = 0; j < 3; ++j) {
          at[j][i] = source[(3 * (end % 2) + j) * padded + found[k]];
        }
        t[i] = R(-0.5) * ranked[part * (kept + 1) + k];
      }
      bar = n_with_part(bar, part, lane_load(t));
    }
    bar = n_select(lanes_below(first, ends), bar, n_lit(R(0.0)));
    const vec own =
      FN(make)(n_of(lane_load(at[0])), n_of(lane_load(at[1])), n_of(lane_load(at[2])));
    FN(jet) jet;
    const vec x = FN(limit3)(place(frame + FRAME_ACROSS(side), own), R(2.0) * SEPARATION_LIMIT);
    FN(body_jet)(head, shape, &pair->c, x, JET_GRADIENT, REAL_BIG, &jet);
    const vec push = FN(scale3)(steady3(jet.gradient, COTANGENT_LIMIT), bar);
    if (side) {
      push_at(&relative, place(frame + FRAME_2_TO_1, own), push);
    } else {
      push_at(&relative, own, FN(neg3)(turn_back(frame + FRAME_1_TO_2, push)));
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, no_wrench());
}
#endif

// Replaces the values of listed contacts by the cotangents of a sum over them: of the energy -2
// activity depth and depth^2, of the activity 1. `count` numbers of each plane are those of
// contacts.
static void sum_bars(GLOBAL real *row, int stride, int plane, int count, int energy, int item)
{
  const num zero = n_lit(R(0.0));
  for (int first = item * LANES; first < count; first += WG * LANES) {
    GLOBAL real *d = row + VALUE_D * plane + first, *a = row + VALUE_ACTIVITY * plane + first;
    const num x = load(d, stride);
    const num depth = n_select(n_value(x) < n_value(zero), n_neg(x), zero);
    const num d_bar = n_scale(n_mul(load(a, stride), depth), R(-2.0));
    store(d, stride, energy ? bounded(d_bar, COTANGENT_LIMIT) : zero);
    store(a, stride, energy ? bounded(n_mul(depth, depth), COTANGENT_LIMIT) : n_lit(R(1.0)));
  }
}

// One work-group does so in one pose: for the vertices of body `of`, 0 or 1, or with 2 for edge
// contacts of both sides.
ADJOINT_KERNEL void listed_sum_bars(GLOBAL const int *list, GLOBAL const pair_head *pair, int of,
                                    int energy, GLOBAL real *values)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  if (of < 2) {
    const int plane = pair->n.elements[VERTICES_OF(of)].padded, stride = VALUE_PLANES * plane;
    sum_bars(NUMS(values, pose, stride), stride, plane, ROW(list, pose, plane + 1)[0], energy,
             item);
    return;
  }
  for (int side = 0; side < 2; ++side) {
    const listed_row r = listed_edges_of(&pair->n, side, 1, pose, list, values);
    sum_bars(NUMS(values, pose, r.stride) + VALUE_PLANES * EDGE_ENTRIES_AT(&pair->n, side),
             r.stride, r.plane, r.count, energy, item);
  }
}
