// Contacts of retained edges with the other body's field, and their adjoints.

// One work-item computes the contacts of a block of LANES retained edges of body `side` in one
// pose. The global size is (blocks, poses). weights are the gate weights.
KERNEL void edges_in_field(GLOBAL const real *edges, GLOBAL const int *index,
                           GLOBAL const real *weights, GLOBAL const real *frames,
                           GLOBAL const int *head, GLOBAL const real *shape,
                           GLOBAL const pair_head *pair, int side, int want, GLOBAL real *places,
                           OUTPUT_ARRAYS_TO_WRITE)
{
  const int first = (int)get_global_id(0) * LANES, pose = (int)get_global_id(1);
  put_edges(edges, index, weights, frames, head, shape, pair, side, want, NO_MOVES, places,
            OUTPUT_MEMBERS, first, pose);
}

// ---- back ----

// The cotangents of one contact, in the field's frame. The cotangent of the normal includes the
// point's share. With cones this normal is the clamped one.
typedef struct edge_slot_bar {
  vec p, n;
  num d, activity, weight;
} edge_slot_bar;

// The cotangents of a contact collected at its point: of s, of how closely both places meet, and of
// the gate weight.
typedef struct edge_bar {
  num s, meet, gate;
} edge_bar;

// The cotangents of an edge's parameters (geometry/edge_field.inl), in the field's frame.
typedef struct rail_bars {
  vec p, u, e1, e2;
  num angle, length, radius;
} rail_bars;

// Additional data for derivatives with respect to shapes, computed if `on` is set: the cotangents
// of the edges, and those of the field at the places of SITES_OF_EDGE.
typedef struct edge_traces {
  int on;
  rail_bars rail;
  num phi_bar[2], end_bar[2]; // of distances at the contacts and at the edge's ends
  vec normal_bar[2], gradient_bar[2];
  vec way_bar[2]; // of gradients at the places before they are shifted
  vec x[SITES_OF_EDGE];
} edge_traces;

static edge_traces edge_traces_none(int on)
{
  const num zero = n_lit(R(0.0));
  edge_traces t;
  t.on = on;
  t.rail.p = t.rail.u = t.rail.e1 = t.rail.e2 = no_bar();
  t.rail.angle = t.rail.length = t.rail.radius = zero;
  return t;
}

// Adds the cotangent of an edge's point at s.
static void trace_point(rail_bars *b, const FN(rail) *rail, num s, vec bar)
{
  b->p = FN(add3)(b->p, bar);
  b->u = FN(mad3)(bar, s, b->u);
  if (rail->arcs) {
    const num turn = n_mul(s, rail->angle), sine = n_sin(turn),
              halved = n_sin(n_scale(turn, R(0.5)));
    const num less = n_scale(n_mul(halved, halved), R(-2.0));
    const vec across = FN(sub3)(FN(scale3)(rail->e2, n_cos(turn)), FN(scale3)(rail->e1, sine));
    b->e1 = FN(mad3)(bar, less, b->e1);
    b->e2 = FN(mad3)(bar, sine, b->e2);
    b->angle = n_mad(s, FN(dot3)(bar, across), b->angle);
  }
}

// Adds the cotangent of the derivative with respect to s there.
static void trace_slope(rail_bars *b, const FN(rail) *rail, num s, vec bar)
{
  b->u = FN(add3)(b->u, bar);
  if (rail->arcs) {
    const num turn = n_mul(s, rail->angle), sine = n_sin(turn), cosine = n_cos(turn);
    const vec across = FN(sub3)(FN(scale3)(rail->e2, cosine), FN(scale3)(rail->e1, sine));
    const vec inward = FN(mad3)(rail->e1, cosine, FN(scale3)(rail->e2, sine));
    b->e1 = FN(mad3)(bar, n_neg(n_mul(rail->angle, sine)), b->e1);
    b->e2 = FN(mad3)(bar, n_mul(rail->angle, cosine), b->e2);
    b->angle = n_add(b->angle, n_sub(FN(dot3)(bar, across), n_mul(turn, FN(dot3)(bar, inward))));
  }
}

// Bounds the entries of a field's jet that overflow.
static void steady_field(FN(jet) *jet)
{
  num *const all[15] = {&jet->jacobian[0], &jet->jacobian[1], &jet->jacobian[2], &jet->jacobian[3],
                        &jet->jacobian[4], &jet->jacobian[5], &jet->jacobian[6], &jet->jacobian[7],
                        &jet->jacobian[8], &jet->curve.xx,    &jet->curve.yy,    &jet->curve.zz,
                        &jet->curve.xy,    &jet->curve.xz,    &jet->curve.yz};
  for (int i = 0; i < 15; ++i) {
    const num x = bounded(*all[i], JACOBIAN_LIMIT);
    *all[i] = n_select(n_value(x) == n_value(x), x, n_lit(R(0.0))); // NaN means overflow
  }
  jet->phi = steady(jet->phi, COTANGENT_LIMIT);
  jet->normal = steady3(jet->normal, COTANGENT_LIMIT);
  jet->gradient = steady3(jet->gradient, COTANGENT_LIMIT);
}

// Returns J' bar.
static vec jet_normal_adjoint(const FN(jet) *jet, vec bar)
{
  const num *j = jet->jacobian;
  return FN(make)(n_mad(j[6], bar.z, n_mad(j[3], bar.y, n_mul(j[0], bar.x))),
                  n_mad(j[7], bar.z, n_mad(j[4], bar.y, n_mul(j[1], bar.x))),
                  n_mad(j[8], bar.z, n_mad(j[5], bar.y, n_mul(j[2], bar.x))));
}

// Takes the cotangents of one contact back to its place and to the motion of its edge: `moved` gets
// forces on the edge. own is the field at the contact's point, far the field at the edge's end.
// *held gets the normal that the contact reports.
static edge_bar edge_slot_adjoint(int end, num s, num meet, num gate, const FN(jet) *own,
                                  const FN(jet) *far, const FN(rail) *rail,
                                  const edge_slot_bar *bar, GLOBAL const pair_head *pair, int side,
                                  GLOBAL const real *frame, wrench *moved, vec *held,
                                  edge_traces *t)
{
  GLOBAL const coefficients *c = &pair->c;
  edge_bar r;
  *held = own->normal;
  const FN(rail_point) at = FN(rail_at)(rail, s);
  const FN(edge_weight) w = FN(edge_weighed)(end, s, far->phi, own->phi, meet, rail, c);
  num rate, sigmoid_slope;
  const num steep =
    FN(edge_steep)(own->gradient, c, pair->n.elements[EDGES_OF(side)].of_distance, &rate);
  num d = n_sub(n_mul(own->phi, steep), rail->radius);
  if (c->cones > R(0.0)) {
    d = n_mad(FN(dot3)(own->normal, rail->cone.axis), n_of(rail->cone.inset), d);
  }
  const num sigmoid = FN(sigmoid_and_slope)(FN(beneath)(d, c), &sigmoid_slope);
  num counts = n_lit(R(1.0)), beside = counts, seam = n_lit(R(0.0)), weight = n_mul(w.weight, gate);
  vec of_field = no_bar(), of_own = of_field;
  if (c->cones > R(0.0)) {
    counts = FN(cone_slot)(own->normal, &rail->cone, c, held);
    if (has_seams(pair)) {
      seam = seam_depth(own->phi, rail->radius);
      beside =
        edge_seam_share(pair, side, frame, in_range(at.x), own->normal, seam, &of_field, &of_own);
    }
    weight = n_mul(weight, n_mul(counts, beside));
  }
  num active = bar->activity;
  if (c->floor > R(0.0)) {
    num slope;
    FN(above_floor_and_slope)(n_mul(weight, sigmoid), c->floor, c->floor_inv, &slope);
    active = n_mul(active, slope);
  }
  num weight_bar = n_mad(active, sigmoid, bar->weight);
  vec normal_bar = bar->n;
  if (c->cones > R(0.0)) {
    const num counts_bar = n_mul(weight_bar, n_mul(w.weight, gate));
    vec axis_bar;
    const num inset_bar =
      n_times(n_mad(n_mul(active, weight), n_scale(sigmoid_slope, -c->penetration_inv), bar->d),
              rail->cone.inset);
    const num beside_bar = n_mul(counts_bar, counts);
    of_field = FN(scale3)(of_field, beside_bar);
    of_own = FN(scale3)(of_own, beside_bar);
    normal_bar =
      FN(cone_adjoint)(own->normal, &rail->cone, c, n_mul(counts_bar, beside), bar->n, &axis_bar);
    normal_bar = FN(mad3)(rail->cone.axis, inset_bar, normal_bar);
    normal_bar = FN(mad3)(of_field, n_neg(seam), normal_bar); // from seam_share
    axis_bar = FN(mad3)(own->normal, inset_bar, axis_bar);
    axis_bar = FN(mad3)(bar->p, n_of(rail->cone.inset), axis_bar);
    twist_direction(moved, rail->cone.axis, axis_bar);
    weight_bar = n_mul(weight_bar, n_mul(counts, beside));
  }
  r.gate = n_mul(weight_bar, w.weight);
  const num own_bar = n_mul(weight_bar, gate);
  const num d_bar =
    n_mad(n_mul(active, weight), n_scale(sigmoid_slope, -c->penetration_inv), bar->d);
  const num won_bar =
    n_scale(n_mul(n_mul(own_bar, n_mul(w.rest, w.pair)), w.won_slope), c->gain_inv);
  const num rest_part =
    n_scale(n_mul(n_mul(own_bar, n_mul(w.won, w.pair)), w.rest_slope), c->part_inv);
  const num rest_bar = n_mul(rest_part, rail->length);
  r.meet = n_scale(n_mul(own_bar, n_mul(w.won, w.rest)), R(-0.5));
  const num pulled = n_mul(n_mul(won_bar, w.tau), n_scale(rail->length, c->tilt));
  const num tau_bar = n_neg(n_add(rest_bar, pulled));
  // from seam_share
  const num drawn_bar = seam_depth(FN(dot3)(of_field, own->normal), rail->radius);
  const num phi_bar = n_sub(n_mul(d_bar, steep), n_add(won_bar, drawn_bar));
  // d (phi steep) by the gradient g: -phi rate g
  const num fall = n_neg(n_mul(n_mul(d_bar, own->phi), rate));
  vec x_bar = FN(add3)(of_field, FN(mad3)(own->gradient, phi_bar, bar->p));
  x_bar = FN(add3)(x_bar, jet_normal_adjoint(own, normal_bar));
  x_bar = FN(mad3)(FN(symmetric_times)(&own->curve, own->gradient), fall, x_bar);
  x_bar = bounded3(x_bar, COTANGENT_LIMIT);
  push_at(moved, at.x, x_bar);
  push_at(moved, FN(rail_at)(rail, n_lit((real)end)).x, FN(scale3)(far->gradient, won_bar));
  r.s = n_add(FN(dot3)(x_bar, at.slope), end ? n_neg(tau_bar) : tau_bar);
  r.s = n_mad(own_bar, w.turned, n_add(r.s, FN(dot3)(of_own, at.slope)));
  if (t->on) {
    const num one = n_lit(R(1.0));
    trace_point(&t->rail, rail, s, FN(add3)(x_bar, of_own));
    trace_point(&t->rail, rail, n_lit((real)end), FN(scale3)(far->gradient, won_bar));
    const num drawn = n_scale(n_mul(won_bar, n_mul(w.tau, w.tau)), R(-0.5) * c->tilt);
    t->rail.length = n_add(t->rail.length, n_mad(rest_part, n_sub(one, w.tau), drawn));
    t->rail.radius = n_sub(t->rail.radius, n_add(d_bar, FN(dot3)(bar->p, *held)));
    t->phi_bar[end] = phi_bar;
    t->end_bar[end] = won_bar;
    t->normal_bar[end] = normal_bar;
    t->gradient_bar[end] = FN(scale3)(own->gradient, fall);
  }
  return r;
}

// Takes the cotangent of a place back to the motion of its edge, by the implicit function theorem.
static void place_adjoint(int end, lane found, num s, num s_bar, const FN(jet) *jet,
                          const FN(rail) *rail, GLOBAL const coefficients *c, wrench *moved,
                          edge_traces *t)
{
  const FN(rail_point) at = FN(rail_at)(rail, s);
  const vec bent = FN(symmetric_times)(&jet->curve, at.slope);
  const num curve = FN(edge_curvature)(&at, jet, bent, rail, c);
  const num share = n_select(edge_fixed(found, rail->quarter, rail->arcs, end), n_lit(R(0.0)),
                             n_neg(n_div(s_bar, curve)));
  const num bar = bounded(share, COTANGENT_LIMIT);
  const vec push = bounded3(FN(scale3)(bent, bar), COTANGENT_LIMIT);
  push_at(moved, at.x, push);
  twist_direction(moved, at.slope, FN(scale3)(jet->gradient, bar));
  if (t->on) {
    const lane middle = edge_range_of(rail->quarter, rail->arcs, end).middle;
    const lane pull = edge_pull(rail->quarter, rail->arcs, lane_lit(R(1.0)), c); // of a length of 1
    trace_point(&t->rail, rail, s, push);
    trace_slope(&t->rail, rail, s, FN(scale3)(jet->gradient, bar));
    t->rail.length = n_mad(n_times(n_sub(s, n_of(middle)), pull), bar, t->rail.length);
    t->way_bar[end] = FN(scale3)(at.slope, bar);
  }
}

// Takes the cotangents of both contacts of a block of edges back to forces on the edges, in the
// field's frame, and returns the cotangents of the gates' weights. x and normal get the positions
// and normals of the contacts.
static wrench edge_slots_adjoint(GLOBAL const int *head, GLOBAL const real *shape,
                                 GLOBAL const pair_head *pair, int side, GLOBAL const real *frame,
                                 const FN(rail) *rail, const lane found[2], num gate,
                                 const vec p_bar[2], const vec n_bar[2], const num d_bar[2],
                                 const num a_bar[2], const num w_bar[2], vec x[2], vec normal[2],
                                 num *gate_bar, edge_traces *t)
{
  GLOBAL const coefficients *c = &pair->c;
  wrench moved = no_wrench();
  num own[2], s[2], s_bar[2];
  own[0] = own[1] = n_lit(R(0.0));
  for (int end = 0; end < 2; ++end) {
    own[end] = place_along(head, shape, c, rail, end, found[end], NO_MOVES);
  }
  const FN(edge_shift) shift = FN(edge_shifted)(own, rail, c);
  s[0] = n_add(own[0], shift.by);
  s[1] = n_sub(own[1], shift.by);
  // One loop evaluates the fields at the contacts, at the places before they are shifted, and at
  // the edge's ends, so that the code is compiled once.
  FN(jet) at[6];
  for (int i = 0; i < 6; ++i) {
    const int end = i & 1;
    const num place_of = i < 2 ? s[end] : i < 4 ? own[end] : n_lit((real)end);
    const vec point = in_range(FN(rail_at)(rail, place_of).x);
    FN(body_jet)(head, shape, c, point, JET_JACOBIAN | JET_HESSIAN, REAL_BIG, &at[i]);
    steady_field(&at[i]);
    if (t->on) {
      t->x[i] = point;
    }
  }
  num meet_bar = n_lit(R(0.0));
  *gate_bar = meet_bar;
  for (int end = 0; end < 2; ++end) {
    edge_slot_bar bar;
    bar.p = p_bar[end];
    bar.n = FN(mad3)(p_bar[end], n_neg(rail->radius), n_bar[end]);
    bar.d = d_bar[end];
    bar.activity = a_bar[end];
    bar.weight = w_bar[end];
    const edge_bar r = edge_slot_adjoint(end, s[end], shift.meet, gate, &at[end], &at[4 + end],
                                         rail, &bar, pair, side, frame, &moved, &normal[end], t);
    s_bar[end] = r.s;
    meet_bar = n_add(meet_bar, r.meet);
    *gate_bar = n_add(*gate_bar, r.gate);
    x[end] = FN(mad3)(rail->cone.axis, n_of(rail->cone.inset), FN(rail_at)(rail, s[end]).x);
  }
  // by = meet gap / 2 + (1 - meet) inset / L, meet = exp(-near), near = (gap L / part)^2
  num by_bar = n_sub(s_bar[0], s_bar[1]);
  if (rail->arcs > 1) {
    const ilane of_circle = rail->quarter > lane_lit(R(0.5));
    by_bar = n_select(of_circle, n_lit(R(0.0)), by_bar);
    meet_bar = n_select(of_circle, n_lit(R(0.0)), meet_bar);
  }
  const num halved = n_scale(shift.gap, R(0.5));
  const num inset = n_div(n_lit(c->inset), rail->length);
  const num away = n_sub(halved, inset);
  meet_bar = n_mad(by_bar, away, meet_bar);
  const num steps = n_scale(rail->length, c->part_inv);
  const num near_slope = n_mul(n_mul(shift.meet, shift.gap), n_scale(n_mul(steps, steps), R(-2.0)));
  const num gap_bar = n_mad(meet_bar, near_slope, n_scale(n_mul(by_bar, shift.meet), R(0.5)));
  s_bar[0] = n_sub(s_bar[0], gap_bar);
  s_bar[1] = n_add(s_bar[1], gap_bar);
  if (t->on) {
    const num back = n_mul(n_mul(by_bar, n_sub(n_lit(R(1.0)), shift.meet)), inset);
    const num apart = n_mul(n_mul(meet_bar, near_slope), shift.gap);
    t->rail.length = n_add(t->rail.length, n_div(n_sub(apart, back), rail->length));
  }
  for (int end = 0; end < 2; ++end) {
    place_adjoint(end, found[end], own[end], s_bar[end], &at[2 + end], rail, c, &moved, t);
  }
  return moved;
}

// Adds the effect of the cotangents of a contact's point and normal on a pose. All are in body 1's
// frame.
static void carry_point(int side, vec at, vec normal, vec p_bar, vec n_bar, wrench *relative,
                        wrench *carried)
{
  push_at(carried, at, p_bar);
  twist_direction(carried, normal, n_bar);
  if (!side) {
    push_at(relative, at, p_bar);
    twist_direction(relative, normal, n_bar);
  }
}

// The same for a point and a normal in the field's frame.
static void carry_slot(GLOBAL const real *frame, int side, vec x, vec normal, vec p_bar, vec n_bar,
                       wrench *relative, wrench *carried)
{
  const vec at = side ? x : place(frame + FRAME_2_TO_1, x);
  const vec n = side ? normal : turn(frame + FRAME_2_TO_1, normal);
  carry_point(side, at, n, p_bar, n_bar, relative, carried);
}

// Subtracts from a pose the force and moment on body 1's edges. `origin` is the origin of the
// field's frame; all are in body 1's frame.
static void move_back(vec origin, vec force, vec moment, wrench *relative)
{
  push_at(relative, origin, FN(neg3)(force));
  relative->moment = FN(sub3)(relative->moment, moment);
}

// Adds the effect of forces on body `side`'s edges on a pose. The forces are in the frame of the
// other body's field.
static void move_edges(GLOBAL const real *frame, int side, const wrench *moved, wrench *relative)
{
  if (side) {
    relative->force = FN(add3)(relative->force, moved->force);
    relative->moment = FN(add3)(relative->moment, moved->moment);
    return;
  }
  const num zero = n_lit(R(0.0));
  const vec origin = place(frame + FRAME_2_TO_1, FN(make)(zero, zero, zero));
  move_back(origin, turn(frame + FRAME_2_TO_1, moved->force),
            turn(frame + FRAME_2_TO_1, moved->moment), relative);
}

// Reads the cotangents of one end's slots of a block of edges.
static num slot_bar(GLOBAL const real *bars, int shared, int pose, int contacts, int slot,
                    int first, int count)
{
  const int stride = shared ? 0 : contacts;
  return cotangent_step(NUMS(bars, pose, stride) + slot, stride, NO_ORDER, 0, first, count, 2);
}

// The same for vectors in the world, rotated into body 1's frame.
static vec slot_bar3(GLOBAL const real *bars, int pose, int contacts, int slot, int first,
                     int count, GLOBAL const real *frame)
{
  const int stride = 3 * contacts;
  GLOBAL const real *row = NUMS(bars, pose, stride) + 3 * slot;
  const vec world = FN(make)(cotangent_step(row, stride, NO_ORDER, 0, first, count, 6),
                             cotangent_step(row + 1, stride, NO_ORDER, 0, first, count, 6),
                             cotangent_step(row + 2, stride, NO_ORDER, 0, first, count, 6));
  return turn_back(frame + FRAME_WORLD_1, world);
}

#if TANGENTS == 0
// Writes the parameters of a block of edges, given as planes, to rows of BY_RAIL numbers per edge.
static void store_rails(GLOBAL real *rows, const edge_block *b, const num numbers[BY_RAIL - 1])
{
  for (int k = 0; k < BY_RAIL - 1; ++k) {
    real t[LANES];
    lane_store(bounded(numbers[k], COTANGENT_LIMIT), t);
    for (int i = 0; i < MIN_INT(LANES, b->count - b->first); ++i) {
      const int edge = b->at ? b->at[b->first + i] : b->first + i;
      rows[BY_RAIL * edge + k] = t[i];
    }
  }
}
#endif

// Writes the results that a block of edges has traced. The cotangents of the edges, in their body's
// frame, are written to that body's row if `rows` has one (row_stride). The sites of the field are
// written if there are any.
static void store_traces(const edge_traces *t, const edge_block *b, const FN(rail) *rail,
                         GLOBAL const real *frame, GLOBAL real *rows, int row_stride, int row_first,
                         GLOBAL real *sites, int site_count, int site_first, int padded, int pose)
{
#if TANGENTS
  (void)t;
  (void)b;
  (void)rail;
  (void)frame;
  (void)rows;
  (void)row_stride;
  (void)row_first;
  (void)sites;
  (void)site_count;
  (void)site_first;
  (void)padded;
  (void)pose;
#else
  for (int i = 0; site_count && i < SITES_OF_EDGE; ++i) {
    const int end = i & 1, first = site_first + i * padded + b->first;
    const num zero = n_lit(R(0.0));
    const vec none = no_bar();
    store_graded_sites(sites, site_count, first, pose, t->x[i],
                       i < 2   ? t->phi_bar[end]
                       : i < 4 ? zero
                               : t->end_bar[end],
                       i < 2 ? t->normal_bar[end] : none,
                       i < 2   ? t->gradient_bar[end]
                       : i < 4 ? t->way_bar[end]
                               : none);
  }
  if (row_stride) {
    const rail_bars *r = &t->rail;
    const vec p = turn_back(frame, r->p), u = turn_back(frame, r->u);
    const vec e1 = turn_back(frame, r->e1), e2 = turn_back(frame, r->e2);
    const lane length = edge_constant(b, EDGE_LENGTH);
    // a straight edge's length has a distance under its root
    const ilane straight = rail->angle == lane_lit(R(0.0));
    const num numbers[BY_RAIL - 1] = {
      p.x,      p.y,
      p.z,      u.x,
      u.y,      u.z,
      e1.x,     e1.y,
      e1.z,     e2.x,
      e2.y,     e2.z,
      r->angle, n_select(straight, r->length * (length / rail->length), r->length),
      r->radius};
    store_rails(ROW(rows, pose, row_stride) + row_first, b, numbers);
  }
#endif
}

// The adjoint of edges_in_field. `have` has WANT_* bits of the cotangents that exist, as in
// vertex_adjoint. The kernel writes each block's wrenches and, with gates, weights_bar (poses,
// slots). If they exist, it also writes the row of the edges' body, starting at `row_first`, and
// the sites of the field.
ADJOINT_KERNEL void edges_in_field_adjoint(
  GLOBAL const real *edges, GLOBAL const int *index, GLOBAL const real *weights,
  GLOBAL const real *frames, GLOBAL const int *head, GLOBAL const real *shape,
  GLOBAL const pair_head *pair, int side, GLOBAL const real *places, int have, OUTPUT_BARS_TO_READ,
  int d_shared, int a_shared, GLOBAL real *weights_bar, GLOBAL real *rows, int row_stride,
  int row_first, GLOBAL real *sites, int site_count, int site_first, GLOBAL real *wrenches,
  int wrench_stride, int wrench_block)
{
  const int at = (int)get_global_id(0), pose = (int)get_global_id(1), first = at * LANES;
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  const int count = e->kept, contacts = pair->n.contacts;
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *found = ROW(places, pose, EDGE_PLACES * e->slots) + first;
  const edge_block block = edge_block_of(edges, index, e, first, pose);
  const FN(rail) rail = load_rail(&block, e, &pair->c, frame + FRAME_ACROSS(side));
  const lane s[2] = {lane_load(found), lane_load(found + e->slots)};
  const num zero = n_lit(R(0.0));
  const vec none = FN(make)(zero, zero, zero);
  vec pulls[2] = {none, none}, twists[2] = {none, none}; // in body 1's frame
  vec p[2] = {none, none}, n[2] = {none, none};          // in the field's
  num d[2] = {zero, zero}, a[2] = {zero, zero}, w[2] = {zero, zero};
  for (int end = 0; end < 2; ++end) {
    const int slot = e->contact + end;
    if (have & WANT_P) {
      pulls[end] = slot_bar3(p_bar, pose, contacts, slot, first, count, frame);
      p[end] = side ? pulls[end] : turn(frame + FRAME_1_TO_2, pulls[end]);
    }
    if (have & WANT_N) {
      twists[end] = slot_bar3(n_bar, pose, contacts, slot, first, count, frame);
      n[end] = side ? twists[end] : turn(frame + FRAME_1_TO_2, twists[end]);
    }
    if (have & WANT_D) {
      d[end] = slot_bar(d_bar, d_shared, pose, contacts, slot, first, count);
    }
    if (have & WANT_ACTIVITY) {
      a[end] = slot_bar(activity_bar, a_shared, pose, contacts, slot, first, count);
    }
    if (have & WANT_WEIGHT) {
      w[end] = slot_bar(weight_bar, 0, pose, contacts, slot, first, count);
    }
  }
  num gate = n_lit(R(1.0)), gate_bar = zero;
  if (e->weighted) {
    gate = load(NUMS(weights, pose, e->slots) + first, e->slots);
  }
  vec x[2], normal[2];
  edge_traces traces = edge_traces_none(!TANGENTS && (row_stride || site_count));
  const wrench moved = edge_slots_adjoint(head, shape, pair, side, frame, &rail, s, gate, p, n, d,
                                          a, w, x, normal, &gate_bar, &traces);
  if (traces.on) {
    store_traces(&traces, &block, &rail, frame + FRAME_ACROSS(side), rows, row_stride, row_first,
                 sites, site_count, site_first, e->slots, pose);
  }
  if (e->weighted) {
    store(NUMS(weights_bar, pose, e->slots) + first, e->slots, gate_bar);
  }
  wrench relative = no_wrench(), carried = relative;
  move_edges(frame, side, &moved, &relative);
  for (int end = 0; end < 2; ++end) {
    const vec twist = FN(mad3)(pulls[end], n_neg(rail.radius), twists[end]);
    carry_slot(frame, side, x[end], normal[end], pulls[end], twist, &relative, &carried);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + at, relative, carried);
}
