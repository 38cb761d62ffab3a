// Both contacts of a block of edges with a field (edge_field.h). No include guard: the file is
// included once for fixed fields, with FIELD_MOVES 0, and once for moving fields, on duals of one
// tangent. EDGE(name) gives each copy its own name. `moves` is a direction of the parameters of the
// field's body (kernels/shape/along.cl), or NO_MOVES.

// Returns a place with its tangents, by the implicit function theorem: when the edge moves, the
// slope of the field along it stays equal to the pull.
static num EDGE(place_along)(GLOBAL const int *head, GLOBAL const real *shape,
                             GLOBAL const coefficients *c, const FN(rail) *rail, int end, lane s,
                             GLOBAL const real *moves)
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
  const lane rate =
    lane_select(edge_fixed(s, rail->quarter, rail->arcs, end), lane_lit(R(0.0)), over);
  const lane middle = edge_range_of(rail->quarter, rail->arcs, end).middle;
  // of a length of 1
  const lane pull = edge_pull(rail->quarter, rail->arcs, lane_lit(R(1.0)), c) * (s - middle);
  num r = n_of(s);
  TANGENT_DO(i, {
    const vec3_r moved =
      make_r(n_get_part(at.x.x, i), n_get_part(at.x.y, i), n_get_part(at.x.z, i));
    const vec3_r turned =
      make_r(n_get_part(at.slope.x, i), n_get_part(at.slope.y, i), n_get_part(at.slope.z, i));
    r = n_with_part(r, i,
                    rate * (dot3_r(bent, moved) + dot3_r(jet.gradient, turned) +
                            pull * n_get_part(rail->length, i)));
  })
#if FIELD_MOVES
  if (moves) {
    vec normal, gradient;
    body_along(head, shape, moves, c, limit3_r(plain.x, R(2.0) * SEPARATION_LIMIT),
               JET_NORMAL | JET_GRADIENT, &normal, &gradient);
    const vec3_r change = make_r(known_change(n_get_part(gradient.x, 1)),
                                 known_change(n_get_part(gradient.y, 1)),
                                 known_change(n_get_part(gradient.z, 1)));
    r = n_with_part(r, 1, n_get_part(r, 1) + rate * dot3_r(change, plain.slope));
  }
#else
  (void)moves;
#endif
  return steady(r, COTANGENT_LIMIT);
#else
  (void)head;
  (void)shape;
  (void)c;
  (void)rail;
  (void)end;
  (void)moves;
  return s;
#endif
}

#if FIELD_MOVES
// Return x plus the change found at its place.
static num with_change(num x, num by)
{
  return n_with_part(x, 1, n_get_part(x, 1) + known_change(n_get_part(by, 1)));
}

static vec with_change3(vec x, vec by)
{
  return FN(make)(with_change(x.x, by.x), with_change(x.y, by.y), with_change(x.z, by.z));
}
#endif

// Evaluates the field at x. On duals the tangents are computed from the field's derivatives
// (field.h).
static edge_value EDGE(edge_value_at)(GLOBAL const int *head, GLOBAL const real *shape,
                                      GLOBAL const coefficients *c, vec x, GLOBAL const real *moves)
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
#if FIELD_MOVES
  if (moves) {
    vec normal, gradient;
    const num phi = body_along(head, shape, moves, c, vec_values(x), JET_NORMAL | JET_GRADIENT,
                               &normal, &gradient);
    r.phi = with_change(r.phi, phi);
    r.normal = with_change3(r.normal, normal);
    r.gradient = with_change3(r.gradient, gradient);
  }
#else
  (void)moves;
#endif
#else
  FN(jet) jet;
  (void)moves;
  FN(body_jet)(head, shape, c, x, JET_NORMAL | JET_GRADIENT, REAL_BIG, &jet);
  r.phi = jet.phi;
  r.normal = jet.normal;
  r.gradient = jet.gradient;
#endif
  return r;
}

// Returns the field at an edge's end. Without tangents this is the known value.
static num EDGE(end_value)(GLOBAL const int *head, GLOBAL const real *shape,
                           GLOBAL const coefficients *c, vec x, lane known,
                           GLOBAL const real *moves)
{
#if TANGENTS
  vec normal;
  (void)known;
  num phi = field_within(head, shape, c, x, 0, REAL_BIG, &normal);
#if FIELD_MOVES
  if (moves) {
    phi = with_change(phi, body_along(head, shape, moves, c, vec_values(x), JET_NORMAL, &normal,
                                      &normal));
  }
#else
  (void)moves;
#endif
  return phi;
#else
  (void)moves;
  (void)head;
  (void)shape;
  (void)c;
  (void)x;
  return known;
#endif
}

#if !FIELD_MOVES // pairs with moving fields have no seams
// Returns seam_share of an edge's contact at x, in the field's frame. *of_own, the gradient with
// respect to the place on the edge, is also in this frame.
static num edge_seam_share(GLOBAL const pair_head *pair, int side, GLOBAL const real *frame, vec x,
                           vec normal, num depth, vec *of_field, vec *of_own)
{
  vec turned;
  const num share = seam_share(pair, side, x, normal, depth, place(frame + FRAME_ACROSS(!side), x),
                               of_field, &turned);
  *of_own = turn(frame + FRAME_ACROSS(side), turned);
  return share;
}
#endif

static edge_slots EDGE(edge_slots_at)(GLOBAL const int *head, GLOBAL const real *shape,
                                      GLOBAL const pair_head *pair, int side,
                                      GLOBAL const real *frame, const FN(rail) *rail,
                                      const lane found[2], const lane at_ends[2],
                                      GLOBAL const real *moves)
{
  GLOBAL const coefficients *c = &pair->c;
  edge_slots r;
  num own[2];
  own[0] = own[1] = n_lit(R(0.0));
  for (int end = 0; end < 2; ++end) {
    own[end] = EDGE(place_along)(head, shape, c, rail, end, found[end], moves);
  }
  const FN(edge_shift) shift = FN(edge_shifted)(own, rail, c);
  for (int end = 0; end < 2; ++end) {
    const num s = end ? n_sub(own[1], shift.by) : n_add(own[0], shift.by);
    const vec x = in_range(FN(rail_at)(rail, s).x);
    const edge_value at = EDGE(edge_value_at)(head, shape, c, x, moves);
    const vec far = FN(rail_at)(rail, n_lit((real)end)).x;
    const num phi_end = EDGE(end_value)(head, shape, c, in_range(far), at_ends[end], moves);
    const FN(edge_weight) w = FN(edge_weighed)(end, s, phi_end, at.phi, shift.meet, rail, c);
    num rate;
    const num steep =
      FN(edge_steep)(at.gradient, c, pair->n.elements[EDGES_OF(side)].of_distance, &rate);
    r.x[end] = x;
    r.normal[end] = at.normal;
    r.d[end] = n_sub(n_mul(at.phi, steep), rail->radius);
    r.weight[end] = w.weight;
    if (c->cones > R(0.0)) {
      const num counts = FN(cone_slot)(at.normal, &rail->cone, c, &r.normal[end]);
      r.weight[end] = n_mul(w.weight, counts);
#if !FIELD_MOVES
      if (has_seams(pair)) {
        vec of_field, of_own;
        const num depth = seam_depth(at.phi, rail->radius);
        r.weight[end] = n_mul(r.weight[end], edge_seam_share(pair, side, frame, x, at.normal, depth,
                                                             &of_field, &of_own));
      }
#else
      (void)side;
      (void)frame;
#endif
      r.d[end] = n_mad(FN(dot3)(at.normal, rail->cone.axis), n_of(rail->cone.inset), r.d[end]);
      r.x[end] = FN(mad3)(rail->cone.axis, n_of(rail->cone.inset), x);
    }
  }
  return r;
}

// Computes the contacts of a block of retained edges of body `side` in one pose. weights are the
// gate weights.
static void EDGE(put_edges)(GLOBAL const real *edges, GLOBAL const int *index,
                            GLOBAL const real *weights, GLOBAL const real *frames,
                            GLOBAL const int *head, GLOBAL const real *shape,
                            GLOBAL const pair_head *pair, int side, int want,
                            GLOBAL const real *moves, GLOBAL real *places, OUTPUT_ARRAYS_TO_WRITE,
                            int first, int pose)
{
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
  const edge_slots slots =
    EDGE(edge_slots_at)(head, shape, pair, side, frame, &rail, found, at_ends, moves);
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
      store_step3(NUMS(n, pose, 3 * contacts) + 3 * slot, 3 * contacts, NO_ORDER, 0, first, count,
                  6, poisoned3(frame, turn(world, slots.normal[end])));
    }
    if (want & WANT_ACTIVITY) {
      num a = n_mul(w, FN(sigmoid)(FN(beneath)(slots.d[end], c)));
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
