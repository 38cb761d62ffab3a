// The adjoints of listed.cl, from cotangents of listed contacts to wrenches of their poses. The
// adjoints of pairs and selection follow in near_adjoint.cl. These kernels compute only on plain
// numbers, because listed contacts have no Hessian products. A field's derivatives are computed at
// the place of their use. One work-group has one pose, and each of its work-items writes its
// wrenches to a separate block.
//
// `bars` has cotangents in VALUE_PLANES planes by place in a list, like the values.

// Bounds the Jacobian of a normal. NaN, which is an overflow of opposite signs, is replaced by 0.
static void steady_jet(FN(jet) *jet)
{
  for (int i = 0; i < 9; ++i) {
    const num slope = bounded(jet->jacobian[i], JACOBIAN_LIMIT);
    jet->jacobian[i] = n_select(n_value(slope) == n_value(slope), slope, n_lit(R(0.0)));
  }
}

// Returns J' bar, the cotangent of the point for a cotangent of the normal.
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

// The adjoint of listed_vertices for body `side`. head and shape are those of the other body, and
// `have` has WANT_* bits of the cotangents that exist.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void listed_vertices_adjoint(
  GLOBAL const real *points, GLOBAL const int *list, GLOBAL const real *frames,
  GLOBAL const int *head, GLOBAL const real *shape, GLOBAL const real *radii,
  GLOBAL const pair_head *pair, int side, int have, GLOBAL const real *bars, GLOBAL real *wrenches,
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
    vec normal = no_bar(), held = normal; // the field's, and the one that the contact reports
    if (normals || coned) {
      normal = held = steady3(jet.normal, COTANGENT_LIMIT);
    }
    FN(cone) cone = no_cone();
    if (coned) {
      cone = load_cone(radii + RADII_CONES(0, padded), padded, listed + 1, first, count,
                       frame + FRAME_ACROSS(side));
      counts = FN(cone_slot)(normal, &cone, c, &held);
    }
    // With seams `counts` is the product of both shares, and `beside` is only the share of the
    // seams.
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
    // from seam_share
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
      pull = FN(mad3)(push, n_of(-radius), pull); // from p = v - radius n
      normal_bar = side ? pull : turn(frame + FRAME_1_TO_2, pull);
      twist_normal(frame, side, held, pull, &relative, &carried);
    }
    if (coned) {
      normal_bar = coned_normal_bar(frame, side, normal, &cone, n_mul(counts_bar, beside), phi_bar,
                                    of_field, seam, normal_bar, c, &relative);
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

// Evaluates a block's fields. The opposing fields matter only to activities, and are 0 if
// activities have no cotangents.
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

// Goes back through all fields to the points: first both bodies' own fields, then the other body's
// field at each point.
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

// Returns the cotangents of all inputs of a block's values. factor_bar gets the cotangents of both
// factors.
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

// Converts a block's cotangents, except the cotangents of its factors, to cotangents of its points,
// and adds wrenches.
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

// The adjoint of listed_pairs and of the fields that it uses. Writes pair_bars (poses,
// PAIR_BAR_PLANES, near_plane), zero for pairs that are not listed.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void listed_pairs_adjoint(
  GLOBAL const real *pairs, GLOBAL const int *list, GLOBAL const real *frames,
  GLOBAL const int *head1, GLOBAL const real *shape1, GLOBAL const int *head2,
  GLOBAL const real *shape2, GLOBAL const pair_head *pair, int have, GLOBAL const real *bars,
  GLOBAL real *pair_bars, GLOBAL real *wrenches, int wrench_stride, int wrench_block)
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

// Replaces the values of listed contacts by the cotangents of a sum over them. For the energy these
// are -2 activity depth and depth^2, for the activity 1. `count` numbers of each plane belong to
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

// One work-group does this in one pose: for the vertices of body `of`, 0 or 1, or with 2 for edge
// contacts of both sides.
ADJOINT_KERNEL ADJOINT_GROUPED void listed_sum_bars(GLOBAL const int *list,
                                                    GLOBAL const pair_head *pair, int of,
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
