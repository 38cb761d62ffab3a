// Contacts of kept edges with the other body's field (docs/spec.md, section 10). Edge k has two
// slots side by side, 2 k of the point drawn to its first end and 2 k + 1 of the other one.
//
// `edges` has the planes EDGE_* of layout.h, whose rows are as long as the mesh's edges are padded;
// index (poses, kept + 1) has the ranked ones of a selection. head and shape are those of the other
// body, in whose frame the points are found. places (poses, EDGE_PLACES, slots) are plain reals.

// A block of kept edges of one pose.
typedef struct edge_block {
  GLOBAL const real *edges;
  GLOBAL const int *at; // which edges they are, or 0 where all are kept
  int slots;            // 1 where `at` has two slots of each instead
  int first, count, padded;
} edge_block;

static edge_block edge_block_of(GLOBAL const real *edges, GLOBAL const int *index,
                                GLOBAL const pair_elements *e, int first, int pose)
{
  edge_block b;
  b.edges = edges;
  b.at = e->selected ? ROW(index, pose, e->kept + 1) : NO_ORDER;
  b.slots = 0;
  b.first = first;
  b.count = e->kept;
  b.padded = e->padded;
  return b;
}

static lane edge_plane(const edge_block *b, int plane)
{
  GLOBAL const real *from = b->edges + plane * b->padded;
  if (!b->at) {
    return lane_load(from + b->first);
  }
#if LANES == 1
  return from[b->at[b->first << b->slots] >> b->slots];
#else
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = from[b->at[MIN_INT(b->first + i, b->count - 1) << b->slots] >> b->slots];
  }
  return lane_load(t);
#endif
}

static vec edge_plane3(const edge_block *b, int plane)
{
  return FN(make)(n_of(edge_plane(b, plane)), n_of(edge_plane(b, plane + 1)),
                  n_of(edge_plane(b, plane + 2)));
}

// Returns a block's edges in the frame that `frame` leads to.
static FN(rail) load_rail(const edge_block *b, GLOBAL const pair_elements *e,
                          GLOBAL const coefficients *c, GLOBAL const real *frame)
{
  FN(rail) r;
  const num zero = n_lit(R(0.0));
  r.arcs = e->arcs;
  r.p = place(frame, edge_plane3(b, EDGE_P));
  r.u = turn(frame, edge_plane3(b, EDGE_U));
  r.e1 = r.e2 = FN(make)(zero, zero, zero);
  if (e->arcs) {
    r.e1 = turn(frame, edge_plane3(b, EDGE_E1));
    r.e2 = turn(frame, edge_plane3(b, EDGE_E2));
  }
  r.angle = edge_plane(b, EDGE_ANGLE);
  const lane length = edge_plane(b, EDGE_LENGTH);
  const ilane straight = r.angle == lane_lit(R(0.0));
  r.length = lane_select(straight, lane_sqrt(length * length + c->distance), length);
  r.radius = edge_plane(b, EDGE_RADIUS);
  r.quarter = e->arcs > 1 ? edge_plane(b, EDGE_QUARTER) : lane_lit(R(0.0));
  r.cone = no_cone();
  if (c->cones > R(0.0)) {
    r.cone.axis = turn(frame, edge_plane3(b, EDGE_CONE));
    r.cone.angle = edge_plane(b, EDGE_CONE + CONE_ANGLE);
    r.cone.cosine = edge_plane(b, EDGE_CONE + CONE_COSINE);
    r.cone.sine = edge_plane(b, EDGE_CONE + CONE_SINE);
    r.cone.inset = edge_plane(b, EDGE_CONE + CONE_INSET);
  }
  return r;
}

static vec3_r vec_values(vec v)
{
  return make_r(n_value(v.x), n_value(v.y), n_value(v.z));
}

static rail_r rail_values(const FN(rail) *r)
{
  rail_r v;
  v.p = vec_values(r->p);
  v.u = vec_values(r->u);
  v.e1 = vec_values(r->e1);
  v.e2 = vec_values(r->e2);
  v.angle = r->angle;
  v.length = r->length;
  v.radius = r->radius;
  v.quarter = r->quarter;
  v.arcs = r->arcs;
  v.cone.axis = vec_values(r->cone.axis);
  v.cone.angle = r->cone.angle;
  v.cone.cosine = r->cone.cosine;
  v.cone.sine = r->cone.sine;
  v.cone.inset = r->cone.inset;
  return v;
}

static vec in_range(vec x)
{
  return FN(limit3)(x, R(2.0) * SEPARATION_LIMIT);
}

// Returns a place with its tangents, by the implicit function theorem: the edge moves, and the
// slope of the field along it stays what the pull makes of it.
static num place_along(GLOBAL const int *head, GLOBAL const real *shape,
                       GLOBAL const coefficients *c, const FN(rail) *rail, int end, lane s)
{
#if TANGENTS
  const FN(rail_point) at = FN(rail_at)(rail, n_of(s));
  const rail_r still = rail_values(rail);
  const rail_point_r plain = rail_at_r(&still, s);
  jet_r jet;
  body_jet_r(head, shape, c, limit3_r(plain.x, R(2.0) * SEPARATION_LIMIT), JET_HESSIAN, REAL_BIG,
             &jet);
  const vec3_r bent = symmetric_times_r(&jet.curve, plain.slope);
  const lane over = lane_lit(R(-1.0)) / edge_curvature_r(&plain, &jet, bent, &still, c);
  const lane rate = lane_select(edge_fixed(s, rail->quarter, rail->arcs, end), lane_lit(R(0.0)), over);
  num r = n_of(s);
  TANGENT_DO(i, {
    const vec3_r moved = make_r(n_get_part(at.x.x, i), n_get_part(at.x.y, i),
                                n_get_part(at.x.z, i));
    const vec3_r turned = make_r(n_get_part(at.slope.x, i), n_get_part(at.slope.y, i),
                                 n_get_part(at.slope.z, i));
    r = n_with_part(r, i, rate * (dot3_r(bent, moved) + dot3_r(jet.gradient, turned)));
  })
  return steady(r, COTANGENT_LIMIT);
#else
  (void)head;
  (void)shape;
  (void)c;
  (void)rail;
  (void)end;
  return s;
#endif
}

// The field at a point of an edge.
typedef struct edge_value {
  num phi;
  vec normal, gradient;
} edge_value;

// Evaluates it; on duals tangents come from the field's own derivatives (field.h).
static edge_value edge_value_at(GLOBAL const int *head, GLOBAL const real *shape,
                                GLOBAL const coefficients *c, vec x)
{
  edge_value r;
#if TANGENTS
  jet_r jet;
  body_jet_r(head, shape, c, vec_values(x), JET_JACOBIAN | JET_HESSIAN, REAL_BIG, &jet);
  const symmetric_r *h = &jet.curve;
  const lane rows[9] = {h->xx, h->xy, h->xz, h->xy, h->yy, h->yz, h->xz, h->yz, h->zz};
  r.phi = along_slopes(jet.phi, jet.gradient.x, jet.gradient.y, jet.gradient.z, x);
  r.normal = FN(make)(normal_along(jet.normal.x, jet.jacobian, x),
                      normal_along(jet.normal.y, jet.jacobian + 3, x),
                      normal_along(jet.normal.z, jet.jacobian + 6, x));
  r.gradient = FN(make)(normal_along(jet.gradient.x, rows, x),
                        normal_along(jet.gradient.y, rows + 3, x),
                        normal_along(jet.gradient.z, rows + 6, x));
#else
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, JET_NORMAL | JET_GRADIENT, REAL_BIG, &jet);
  r.phi = jet.phi;
  r.normal = jet.normal;
  r.gradient = jet.gradient;
#endif
  return r;
}

// Returns the field at an edge's end, whose value is known.
static num end_value(GLOBAL const int *head, GLOBAL const real *shape, GLOBAL const coefficients *c,
                     vec x, lane known)
{
#if TANGENTS
  vec normal;
  (void)known;
  return field_within(head, shape, c, x, 0, REAL_BIG, &normal);
#else
  (void)head;
  (void)shape;
  (void)c;
  (void)x;
  return known;
#endif
}

// Returns the share that seams leave to an edge's contact at x, in the field's frame; *of_own, the gradient by
// the place on the edge, is in this frame, too.
static num edge_seam_share(GLOBAL const pair_head *pair, int side, GLOBAL const real *frame, vec x, vec *of_field,
                           vec *of_own)
{
  vec turned;
  const num share = seam_share(pair, side, x, place(frame + FRAME_ACROSS(!side), x), of_field, &turned);
  *of_own = turn(frame + FRAME_ACROSS(side), turned);
  return share;
}

// Both contacts of a block of edges, in the field's frame: activities before the gates' weights.
typedef struct edge_slots {
  vec x[2], normal[2];
  num d[2], weight[2];
} edge_slots;

static edge_slots edge_slots_at(GLOBAL const int *head, GLOBAL const real *shape,
                                GLOBAL const pair_head *pair, int side, GLOBAL const real *frame,
                                const FN(rail) *rail, const lane found[2], const lane at_ends[2])
{
  GLOBAL const coefficients *c = &pair->c;
  edge_slots r;
  num own[2];
  own[0] = own[1] = n_lit(R(0.0));
  for (int end = 0; end < 2; ++end) {
    own[end] = place_along(head, shape, c, rail, end, found[end]);
  }
  const FN(edge_shift) shift = FN(edge_shifted)(own, rail, c);
  for (int end = 0; end < 2; ++end) {
    const num s = end ? n_sub(own[1], shift.by) : n_add(own[0], shift.by);
    const vec x = in_range(FN(rail_at)(rail, s).x);
    const edge_value at = edge_value_at(head, shape, c, x);
    const vec far = FN(rail_at)(rail, n_lit((real)end)).x;
    const num phi_end = end_value(head, shape, c, in_range(far), at_ends[end]);
    const FN(edge_weight) w =
      FN(edge_weighed)(end, s, phi_end, at.phi, shift.meet, rail, c);
    num over;
    const num steep = FN(edge_steep)(at.gradient, c, &over);
    r.x[end] = x;
    r.normal[end] = at.normal;
    r.d[end] = n_sub(n_mul(at.phi, steep), n_of(rail->radius));
    r.weight[end] = w.weight;
    if (c->cones > R(0.0)) {
      const num counts = FN(cone_slot)(at.normal, &rail->cone, c, &r.normal[end]);
      r.weight[end] = n_mul(w.weight, counts);
      if (has_seams(pair)) {
        vec of_field, of_own;
        r.weight[end] = n_mul(r.weight[end], edge_seam_share(pair, side, frame, x, &of_field, &of_own));
      }
      r.d[end] = n_mad(FN(dot3)(at.normal, rail->cone.axis), n_of(rail->cone.inset), r.d[end]);
      r.x[end] = FN(mad3)(rail->cone.axis, n_of(rail->cone.inset), x);
    }
  }
  return r;
}

// Returns the point of a contact: on the surface of the edge's own capsule.
static vec edge_point(vec x, vec normal, lane radius)
{
  return FN(mad3)(normal, n_of(-radius), x);
}

// One work-item makes the contacts of a block of LANES kept edges of body `side` in one pose; the
// global size is (blocks, poses). weights are those of gates.
KERNEL void edges_in_field(GLOBAL const real *edges, GLOBAL const int *index,
                           GLOBAL const real *weights, GLOBAL const real *frames,
                           GLOBAL const int *head, GLOBAL const real *shape,
                           GLOBAL const pair_head *pair, int side, int want,
                           GLOBAL real *places, GLOBAL real *p, GLOBAL real *d, GLOBAL real *n,
                           GLOBAL real *activity, GLOBAL real *weight)
{
  const int first = (int)get_global_id(0) * LANES, pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  const int count = e->kept, contacts = pair->n.contacts;
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *world = frame + FRAME_WORLD(!side);
  const edge_block block = edge_block_of(edges, index, e, first, pose);
  const FN(rail) rail = load_rail(&block, e, c, frame + FRAME_ACROSS(side));
  const rail_r still = rail_values(&rail);
  lane found[2], at_ends[2];
  edge_places(head, shape, c, &still, found, at_ends);
  GLOBAL real *to = ROW(places, pose, EDGE_PLACES * e->slots) + first;
  lane_store(found[0], to);
  lane_store(found[1], to + e->slots);
  const edge_slots slots = edge_slots_at(head, shape, pair, side, frame, &rail, found, at_ends);
  for (int end = 0; end < 2; ++end) {
    const int slot = e->contact + end;
    num w = slots.weight[end];
    if (e->weighted) {
      w = n_mul(w, load(NUMS(weights, pose, e->slots) + first, e->slots));
    }
    if (want & WANT_P) {
      const vec at = edge_point(slots.x[end], slots.normal[end], rail.radius);
      store_step3(NUMS(p, pose, 3 * contacts) + 3 * slot, 3 * contacts, NO_ORDER, 0, first, count,
                  6, poisoned3(frame, place(world, at)));
    }
    if (want & WANT_D) {
      store_step(NUMS(d, pose, contacts) + slot, contacts, NO_ORDER, 0, first, count, 2,
                 poisoned(frame, slots.d[end]));
    }
    if (want & WANT_N) {
      store_step3(NUMS(n, pose, 3 * contacts) + 3 * slot, 3 * contacts, NO_ORDER, 0, first,
                  count, 6, poisoned3(frame, turn(world, slots.normal[end])));
    }
    if (want & WANT_ACTIVITY) {
      num a = n_mul(w, FN(sigmoid)(n_scale(slots.d[end], -c->penetration_inv)));
      if (c->floor > R(0.0)) {
        a = FN(above_floor)(a, c->floor, c->floor_inv);
      }
      store_step(NUMS(activity, pose, contacts) + slot, contacts, NO_ORDER, 0, first, count, 2,
                 poisoned(frame, a));
    }
    if (want & WANT_WEIGHT) {
      store_step(NUMS(weight, pose, contacts) + slot, contacts, NO_ORDER, 0, first, count, 2,
                 poisoned(frame, w));
    }
  }
}

// ---- back ----

// The cotangents of one contact, in the field's frame; that of the normal, which with cones is the held one,
// has the point's share.
typedef struct edge_slot_bar {
  vec p, n;
  num d, activity, weight;
} edge_slot_bar;

// What the cotangents of a contact have come to at its point: of s, of the field at the edge's end,
// and of what both places share.
typedef struct edge_bar {
  num s, meet, gate;
} edge_bar;

// Bounds what a field's jet has where it overflows.
static void steady_field(FN(jet) *jet)
{
  num *const all[15] = {&jet->jacobian[0], &jet->jacobian[1], &jet->jacobian[2],
                        &jet->jacobian[3], &jet->jacobian[4], &jet->jacobian[5],
                        &jet->jacobian[6], &jet->jacobian[7], &jet->jacobian[8],
                        &jet->curve.xx, &jet->curve.yy, &jet->curve.zz,
                        &jet->curve.xy, &jet->curve.xz, &jet->curve.yz};
  for (int i = 0; i < 15; ++i) {
    const num x = bounded(*all[i], JACOBIAN_LIMIT);
    *all[i] = n_select(n_value(x) == n_value(x), x, n_lit(R(0.0))); // NaN has overflowed
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

// Takes the cotangents of one contact back to its place and to what moves its edge: `moved` gets
// forces on the edge. own is the field at its point, far that at the edge's end. *held gets the normal that
// the contact reports.
static edge_bar edge_slot_adjoint(int end, num s, num meet, num gate, const FN(jet) *own,
                                  const FN(jet) *far, const FN(rail) *rail,
                                  const edge_slot_bar *bar, GLOBAL const pair_head *pair, int side,
                                  GLOBAL const real *frame, wrench *moved, vec *held)
{
  GLOBAL const coefficients *c = &pair->c;
  edge_bar r;
  *held = own->normal;
  const FN(rail_point) at = FN(rail_at)(rail, s);
  const FN(edge_weight) w =
    FN(edge_weighed)(end, s, far->phi, own->phi, meet, rail, c);
  num over, sigmoid_slope;
  const num steep = FN(edge_steep)(own->gradient, c, &over);
  num d = n_sub(n_mul(own->phi, steep), n_of(rail->radius));
  if (c->cones > R(0.0)) {
    d = n_mad(FN(dot3)(own->normal, rail->cone.axis), n_of(rail->cone.inset), d);
  }
  const num sigmoid = FN(sigmoid_and_slope)(n_scale(d, -c->penetration_inv), &sigmoid_slope);
  num counts = n_lit(R(1.0)), beside = counts, weight = n_mul(w.weight, gate);
  vec of_field = no_bar(), of_own = of_field;
  if (c->cones > R(0.0)) {
    counts = FN(cone_slot)(own->normal, &rail->cone, c, held);
    if (has_seams(pair)) {
      beside = edge_seam_share(pair, side, frame, in_range(at.x), &of_field, &of_own);
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
    const num inset_bar = n_times(
      n_mad(n_mul(active, weight), n_scale(sigmoid_slope, -c->penetration_inv), bar->d),
      rail->cone.inset);
    const num beside_bar = n_mul(counts_bar, counts);
    of_field = FN(scale3)(of_field, beside_bar);
    of_own = FN(scale3)(of_own, beside_bar);
    normal_bar = FN(cone_adjoint)(own->normal, &rail->cone, c, n_mul(counts_bar, beside), bar->n, &axis_bar);
    normal_bar = FN(mad3)(rail->cone.axis, inset_bar, normal_bar);
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
  const num rest_bar = n_times(n_mul(n_mul(own_bar, n_mul(w.won, w.pair)), w.rest_slope),
                               rail->length * c->part_inv);
  r.meet = n_scale(n_mul(own_bar, n_mul(w.won, w.rest)), R(-0.5));
  const num pulled = n_times(n_mul(won_bar, w.tau), c->tilt * rail->length);
  const num tau_bar = n_neg(n_add(rest_bar, pulled));
  const num phi_bar = n_sub(n_mul(d_bar, steep), won_bar);
  // d (phi steep) by the gradient: -phi steep / (|g|^2 + slope) g
  const num fall = n_neg(n_mul(n_mul(n_mul(d_bar, own->phi), steep), over));
  vec x_bar = FN(add3)(of_field, FN(mad3)(own->gradient, phi_bar, bar->p));
  x_bar = FN(add3)(x_bar, jet_normal_adjoint(own, normal_bar));
  x_bar = FN(mad3)(FN(symmetric_times)(&own->curve, own->gradient), fall, x_bar);
  x_bar = bounded3(x_bar, COTANGENT_LIMIT);
  push_at(moved, at.x, x_bar);
  push_at(moved, FN(rail_at)(rail, n_lit((real)end)).x, FN(scale3)(far->gradient, won_bar));
  r.s = n_add(FN(dot3)(x_bar, at.slope), end ? n_neg(tau_bar) : tau_bar);
  r.s = n_mad(own_bar, w.turned, n_add(r.s, FN(dot3)(of_own, at.slope)));
  return r;
}

// Takes the cotangent of a place back to what moves its edge, by the implicit function theorem.
static void place_adjoint(int end, lane found, num s, num s_bar, const FN(jet) *jet, const FN(rail) *rail,
                          GLOBAL const coefficients *c, wrench *moved)
{
  const FN(rail_point) at = FN(rail_at)(rail, s);
  const vec bent = FN(symmetric_times)(&jet->curve, at.slope);
  const num curve = FN(edge_curvature)(&at, jet, bent, rail, c);
  const num share =
    n_select(edge_fixed(found, rail->quarter, rail->arcs, end), n_lit(R(0.0)),
             n_neg(n_div(s_bar, curve)));
  const num bar = bounded(share, COTANGENT_LIMIT);
  push_at(moved, at.x, bounded3(FN(scale3)(bent, bar), COTANGENT_LIMIT));
  twist_direction(moved, at.slope, FN(scale3)(jet->gradient, bar));
}

// Takes the cotangents of both contacts of a block of edges back to forces on the edges, in the
// field's frame, and gives those of the gates' weights. In x and normal it leaves where the
// contacts are.
static wrench edge_slots_adjoint(GLOBAL const int *head, GLOBAL const real *shape,
                                 GLOBAL const pair_head *pair, int side, GLOBAL const real *frame,
                                 const FN(rail) *rail, const lane found[2], num gate,
                                 const vec p_bar[2], const vec n_bar[2], const num d_bar[2],
                                 const num a_bar[2], const num w_bar[2], vec x[2], vec normal[2],
                                 num *gate_bar)
{
  GLOBAL const coefficients *c = &pair->c;
  wrench moved = no_wrench();
  num own[2], s[2], s_bar[2];
  own[0] = own[1] = n_lit(R(0.0));
  for (int end = 0; end < 2; ++end) {
    own[end] = place_along(head, shape, c, rail, end, found[end]);
  }
  const FN(edge_shift) shift = FN(edge_shifted)(own, rail, c);
  s[0] = n_add(own[0], shift.by);
  s[1] = n_sub(own[1], shift.by);
  // The fields at the contacts, at the places before they are moved, and at the edge's ends, by
  // one text.
  FN(jet) at[6];
  for (int i = 0; i < 6; ++i) {
    const int end = i & 1;
    const num place_of = i < 2 ? s[end] : i < 4 ? own[end] : n_lit((real)end);
    FN(body_jet)(head, shape, c, in_range(FN(rail_at)(rail, place_of).x),
                 JET_JACOBIAN | JET_HESSIAN, REAL_BIG, &at[i]);
    steady_field(&at[i]);
  }
  num meet_bar = n_lit(R(0.0));
  *gate_bar = meet_bar;
  for (int end = 0; end < 2; ++end) {
    edge_slot_bar bar;
    bar.p = p_bar[end];
    bar.n = FN(mad3)(p_bar[end], n_of(-rail->radius), n_bar[end]);
    bar.d = d_bar[end];
    bar.activity = a_bar[end];
    bar.weight = w_bar[end];
    const edge_bar r = edge_slot_adjoint(end, s[end], shift.meet, gate, &at[end], &at[4 + end],
                                         rail, &bar, pair, side, frame, &moved, &normal[end]);
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
  const num away = n_sub(halved, n_of(lane_lit(c->inset) / rail->length));
  meet_bar = n_mad(by_bar, away, meet_bar);
  const lane steps = rail->length * c->part_inv;
  const num near_slope = n_times(n_mul(shift.meet, shift.gap), R(-2.0) * steps * steps);
  const num gap_bar =
    n_mad(meet_bar, near_slope, n_scale(n_mul(by_bar, shift.meet), R(0.5)));
  s_bar[0] = n_sub(s_bar[0], gap_bar);
  s_bar[1] = n_add(s_bar[1], gap_bar);
  for (int end = 0; end < 2; ++end) {
    place_adjoint(end, found[end], own[end], s_bar[end], &at[2 + end], rail, c, &moved);
  }
  return moved;
}

// Adds what forces on body `side`'s edges, in the frame of the other body's field, and cotangents of
// a contact's point and normal, in body 1's frame, do to a pose.
static void carry_slot(GLOBAL const real *frame, int side, vec x, vec normal, vec p_bar, vec n_bar,
                       wrench *relative, wrench *carried)
{
  const vec at = side ? x : place(frame + FRAME_2_TO_1, x);
  const vec n = side ? normal : turn(frame + FRAME_2_TO_1, normal);
  push_at(carried, at, p_bar);
  twist_direction(carried, n, n_bar);
  if (!side) {
    push_at(relative, at, p_bar);
    twist_direction(relative, n, n_bar);
  }
}

static void move_edges(GLOBAL const real *frame, int side, const wrench *moved, wrench *relative)
{
  if (side) {
    relative->force = FN(add3)(relative->force, moved->force);
    relative->moment = FN(add3)(relative->moment, moved->moment);
    return;
  }
  const num zero = n_lit(R(0.0));
  const vec origin = place(frame + FRAME_2_TO_1, FN(make)(zero, zero, zero));
  const vec force = FN(neg3)(turn(frame + FRAME_2_TO_1, moved->force));
  push_at(relative, origin, force);
  relative->moment =
    FN(sub3)(relative->moment, turn(frame + FRAME_2_TO_1, moved->moment));
}

// Reads the cotangents of one end's slots of a block of edges: in rows of `components` numbers a
// slot.
static num slot_bar(GLOBAL const real *bars, int shared, int pose, int contacts, int slot,
                    int first, int count)
{
  const int stride = shared ? 0 : contacts;
  return cotangent_step(NUMS(bars, pose, stride) + slot, stride, NO_ORDER, 0, first, count, 2);
}

// The same of vectors in the world, turned into body 1's frame.
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

// The adjoint of edges_in_field. `have` has WANT_* bits of the cotangents that there are, as in
// vertex_adjoint. The kernel writes each block's wrenches and, with gates, weights_bar (poses,
// slots).
ADJOINT_KERNEL void edges_in_field_adjoint(GLOBAL const real *edges, GLOBAL const int *index,
                                           GLOBAL const real *weights, GLOBAL const real *frames,
                                           GLOBAL const int *head, GLOBAL const real *shape,
                                           GLOBAL const pair_head *pair, int side,
                                           GLOBAL const real *places, int have,
                                           GLOBAL const real *p_bar, GLOBAL const real *d_bar,
                                           int d_shared, GLOBAL const real *n_bar,
                                           GLOBAL const real *activity_bar, int a_shared,
                                           GLOBAL const real *weight_bar,
                                           GLOBAL real *weights_bar, GLOBAL real *wrenches,
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
  const wrench moved = edge_slots_adjoint(head, shape, pair, side, frame, &rail, s, gate, p, n, d, a, w,
                                          x, normal, &gate_bar);
  if (e->weighted) {
    store(NUMS(weights_bar, pose, e->slots) + first, e->slots, gate_bar);
  }
  wrench relative = no_wrench(), carried = relative;
  move_edges(frame, side, &moved, &relative);
  for (int end = 0; end < 2; ++end) {
    const vec twist = FN(mad3)(pulls[end], n_of(-rail.radius), twists[end]);
    carry_slot(frame, side, x[end], normal[end], pulls[end], twist, &relative, &carried);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + at, relative, carried);
}
