// The values of the contacts that near.cl has listed.

// Lane i of a block handles entry first + i of a list.

// One work-item computes the values of a block of one pose's listed vertices of a body, values
// (poses, VALUE_PLANES, padded) by place in the list. points has planes in the vertices' own frame,
// and field the distances by place. With `given` there are no distances, because the vertices may
// be anywhere. head and shape are those of the other body.
MERGED
KERNEL void listed_vertices(GLOBAL const real *points1, GLOBAL const real *points2,
                            GLOBAL const int *list1, GLOBAL const int *list2,
                            GLOBAL const real *field1, GLOBAL const real *field2,
                            GLOBAL const real *radii1, GLOBAL const real *radii2, int given,
                            real reach, GLOBAL const real *frames, GLOBAL const int *head1,
                            GLOBAL const int *head2, GLOBAL const real *shape1,
                            GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks1,
                            int blocks2, int want, GLOBAL real *values1, GLOBAL real *values2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks1, blocks2);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  GLOBAL const coefficients *c = &pair->c;
  if (first < 0) {
    return;
  }
  GLOBAL const int *listed = ROW(OF_BODY(side, list1, list2), pose, padded + 1);
  const int count = listed[0], stride = VALUE_PLANES * padded;
  if (first >= count) {
    return;
  }
  GLOBAL const real *points = OF_BODY(side, points1, points2);
  GLOBAL const real *field = OF_BODY(side, field1, field2);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *row = NUMS(OF_BODY(side, values1, values2), pose, stride) + first;
  const int rounds = pair->n.elements[VERTICES_OF(side)].radii, coned = c->cones > R(0.0);
  lane radius = lane_lit(R(0.0));
  if (rounds) {
    radius = gather_part_at(OF_BODY(side, radii1, radii2), listed + 1, first, count);
  }
  num phi = n_lit(R(0.0));
  vec v = FN(make)(phi, phi, phi);
  if (!given) {
    phi = gather_at(NUMS(field, pose, padded), padded, listed + 1, first, count);
  }
  if (given || want & (WANT_P | WANT_N) || coned) {
    v = gather3_at(points, 0, padded, listed + 1, first, count);
  }
  vec out = FN(make)(phi, phi, phi);
  num counts = n_lit(R(1.0));
  FN(cone) cone = no_cone();
  if (given || want & WANT_N || (rounds && want & WANT_P) || coned) {
    const vec x = FN(limit3)(place(frame + FRAME_ACROSS(side), v), R(2.0) * SEPARATION_LIMIT);
    vec raw;
    const num exact =
      field_within(head, shape, c, x, 1, reach + pair->reals[PAIR_ROUND + side], &raw);
    phi = given ? steady(exact, COTANGENT_LIMIT) : phi;
    vec normal = steady3(raw, COTANGENT_LIMIT);
    if (coned) {
      cone = load_cone(OF_BODY(side, radii1, radii2) + RADII_CONES(0, padded), padded, listed + 1,
                       first, count, frame + FRAME_ACROSS(side));
      const num depth = seam_depth(phi, n_of(radius));
      const vec field_normal = normal;
      phi = n_mad(FN(dot3)(normal, cone.axis), n_of(cone.inset), phi);
      counts = FN(cone_slot)(normal, &cone, c, &normal);
      if (has_seams(pair)) {
        vec of_field, of_own;
        counts =
          n_mul(counts, seam_share(pair, side, x, field_normal, depth, v, &of_field, &of_own));
      }
    }
    out = turn(frame + FRAME_WORLD(!side), normal);
    store3(row + VALUE_N * padded, stride, padded, steady3(out, REAL_BIG));
  }
  if (want & WANT_P) {
    v = c->cone_inset > R(0.0) ? beyond_inset(frame, side, v, &cone) : v;
    const vec at_point = FN(mad3)(out, n_of(-radius), place(frame + FRAME_WORLD(side), v));
    store3(row + VALUE_P * padded, stride, padded, steady3(at_point, REAL_BIG));
  }
  phi = n_sub(phi, n_of(radius));
  store(row + VALUE_D * padded, stride, steady(phi, REAL_BIG));
  num a = FN(sigmoid)(FN(beneath)(phi, c));
  if (coned) {
    a = n_mul(a, counts);
  }
  if (c->floor > R(0.0)) {
    a = FN(above_floor)(a, c->floor, c->floor_inv);
  }
  store(row + VALUE_ACTIVITY * padded, stride, steady(a, REAL_BIG));
}

// One work-item evaluates a body's own field at its points of a block of one pose's listed pairs,
// out (poses, 4, near_plane): planes phi and normal, by place in the list. Each body has `blocks`
// blocks.
MERGED
KERNEL void listed_own(GLOBAL const real *pairs, GLOBAL const int *list, GLOBAL const real *frames,
                       GLOBAL const int *head1, GLOBAL const int *head2, GLOBAL const real *shape1,
                       GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks,
                       GLOBAL real *out1, GLOBAL real *out2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks, blocks);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  GLOBAL const int *head = OF_BODY(side, head1, head2);
  GLOBAL const real *shape = OF_BODY(side, shape1, shape2);
  const int count = listed[0];
  if (first < 0 || first >= count) {
    return;
  }
  const vec x = listed_points(NUMS(pairs, pose, stride), &pair->n, side, side, listed + 1, first,
                              count, frames, pose);
  vec normal;
  const num phi = field_within(head, shape, &pair->c, x, 1, REAL_BIG, &normal);
  GLOBAL real *row = NUMS(OF_BODY(side, out1, out2), pose, FIELD_PLANES * plane) + first;
  store(row, FIELD_PLANES * plane, steady(phi, COTANGENT_LIMIT));
  store3(row + plane, FIELD_PLANES * plane, plane, steady3(normal, COTANGENT_LIMIT));
}

// Stores one side of a block of listed pairs: VALUE_PLANES planes of `plane`.
static void store_values(GLOBAL real *row, int stride, int plane, vec p, num d, vec n, num a,
                         int want)
{
  if (want & WANT_P) {
    store3(row + VALUE_P * plane, stride, plane, steady3(p, REAL_BIG));
  }
  store(row + VALUE_D * plane, stride, steady(d, REAL_BIG));
  if (want & WANT_N) {
    store3(row + VALUE_N * plane, stride, plane, steady3(n, REAL_BIG));
  }
  store(row + VALUE_ACTIVITY * plane, stride, steady(a, REAL_BIG));
}

// One work-item computes the values of a block of one pose's listed pairs, values (poses, 2,
// VALUE_PLANES, near_plane) by place in the list: first for body 1's points, then for body 2's.
MERGED
KERNEL void listed_pairs(GLOBAL const real *pairs, GLOBAL const int *list, GLOBAL const real *own1,
                         GLOBAL const real *own2, GLOBAL const real *frames,
                         GLOBAL const pair_head *pair, int want, GLOBAL real *values)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  const int count = listed[0], out_stride = 2 * VALUE_PLANES * plane;
  if (first >= count) {
    return;
  }
  GLOBAL const int *at = listed + 1;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *row = NUMS(pairs, pose, stride);
  GLOBAL const real *row1 = NUMS(own1, pose, FIELD_PLANES * plane) + first;
  GLOBAL const real *row2 = NUMS(own2, pose, FIELD_PLANES * plane) + first;
  const vec e1 = gather3_at(row + NEAR_E1 * plane, stride, plane, at, first, count);
  const vec e2 = gather3_at(row + NEAR_E2 * plane, stride, plane, at, first, count);
  const vec m1 = load3(row1 + plane, FIELD_PLANES * plane, plane);
  const vec m2 = turn(frame + FRAME_2_TO_1, load3(row2 + plane, FIELD_PLANES * plane, plane));
  const num factor1 = gather_at(row + NEAR_FACTORS * plane, stride, at, first, count);
  const num factor2 = gather_at(row + (NEAR_FACTORS + 1) * plane, stride, at, first, count);
  const FN(pair_depths) of = {load(row1, FIELD_PLANES * plane), load(row2, FIELD_PLANES * plane),
                              gather_at(row + NEAR_OPPOSING * plane, stride, at, first, count),
                              gather_at(row + (NEAR_OPPOSING + 1) * plane, stride, at, first,
                                        count)};
  const FN(edge_contact) r = FN(edge_pair)(e1, e2, n_lit(R(1.0)), m1, m2, &of, c);
  num a1 = n_mul(r.a1, factor1), a2 = n_mul(r.a2, factor2);
  if (c->floor > R(0.0)) {
    a1 = FN(above_floor)(a1, c->floor, c->floor_inv);
    a2 = FN(above_floor)(a2, c->floor, c->floor_inv);
  }
  GLOBAL real *to = NUMS(values, pose, out_stride) + first;
  GLOBAL const real *world = frame + FRAME_WORLD_1;
  store_values(to, out_stride, plane, place(world, e1), r.d1, turn(world, r.n1), a1, want);
  store_values(to + VALUE_PLANES * plane, out_stride, plane, place(world, e2), r.d2,
               turn(world, r.n2), a2, want);
}
