// Vertex-SDF contacts: kept vertices and the opposing field there -> rows of the manifold.
//
// points as in field.cl, in the vertices' own frame; order: the slot of each point, where
// `ordered`; own and opposing: offsets of both bodies' world frames; field_stride: numbers of
// `field` a pose, planes phi and, where normals are wanted, normal; weights: gate weights, used
// where `weighted`; slot: the first contact's; contacts: C.
KERNEL void vertex_contacts(GLOBAL const real *points, int point_stride, int padded, int count,
                            GLOBAL const int *order, int ordered,
                            GLOBAL const real *field, int field_stride,
                            GLOBAL const real *weights, int weighted,
                            GLOBAL const real *frames, int own, int opposing,
                            GLOBAL const coefficients *c, int want, int slot, int contacts,
                            GLOBAL real *p, GLOBAL real *d, GLOBAL real *n, GLOBAL real *activity)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *at = NUMS(field, pose, field_stride) + first;
  const num phi = load(at, field_stride);
  if (want & WANT_P) {
    const vec v = load3(NUMS(points, pose, point_stride) + first, point_stride, padded);
    store_row3(NUMS(p, pose, 3 * contacts) + 3 * slot, 3 * contacts, order, ordered, first, count,
               poisoned3(frame, place(frame + own, v)));
  }
  if (want & WANT_D) {
    store_row(NUMS(d, pose, contacts) + slot, contacts, order, ordered, first, count,
              poisoned(frame, phi));
  }
  if (want & WANT_N) {
    const vec w = turn(frame + opposing, load3(at + padded, field_stride, padded));
    store_row3(NUMS(n, pose, 3 * contacts) + 3 * slot, 3 * contacts, order, ordered, first, count,
               poisoned3(frame, w));
  }
  if (want & WANT_ACTIVITY) {
    num a = FN(sigmoid)(n_scale(phi, -c->penetration_inv));
    if (weighted) {
      a = n_mul(a, load(NUMS(weights, pose, padded) + first, padded));
    }
    store_row(NUMS(activity, pose, contacts) + slot, contacts, order, ordered, first, count,
              poisoned(frame, a));
  }
}

// Adjoint of vertex_contacts and of the field under it, by hand: the field's derivatives are there
// (field_jet where n has cotangents, else field_gradient, whose gradient lies at plane
// `gradient_plane`).
//
// have: WANT_* bits of the cotangents that there are, p_bar .. activity_bar, rows of the manifold
// with bar strides (0: one row for all poses); scores_bar: planes of `padded`, cotangents of phi at
// the points from a selection, used where `scored`. side: 0 for body 1's vertices, 1 for body 2's.
// Writes each block's wrenches; where `kept`, points_bar (3 planes of `padded`, in the points' own
// frame) and, where `weighted`, weights_bar.
ADJOINT_KERNEL void vertex_adjoint(GLOBAL const real *points, int point_stride, int padded,
                                   int count, GLOBAL const int *order, int ordered,
                                   GLOBAL const real *field, int field_stride, int gradient_plane,
                                   GLOBAL const real *weights, int weighted,
                                   GLOBAL const real *scores_bar, int scored,
                                   GLOBAL const real *frames, int side,
                                   GLOBAL const coefficients *c, int have, int slot, int contacts,
                                   GLOBAL const real *p_bar, GLOBAL const real *d_bar, int d_shared,
                                   GLOBAL const real *n_bar, GLOBAL const real *activity_bar,
                                   int a_shared, int kept, GLOBAL real *points_bar,
                                   GLOBAL real *weights_bar, GLOBAL real *wrenches,
                                   int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= padded) {
    return;
  }
  const num zero = n_lit(R(0.0));
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *at = NUMS(field, pose, field_stride) + first;
  const int d_stride = d_shared ? 0 : contacts, a_stride = a_shared ? 0 : contacts;
  num phi_bar = zero;
  if (scored) {
    phi_bar = load(NUMS(scores_bar, pose, padded) + first, padded);
  }
  if (have & WANT_D) {
    phi_bar = n_add(phi_bar, cotangent(NUMS(d_bar, pose, d_stride) + slot, d_stride, order,
                                       ordered, first, count));
  }
  if (have & WANT_ACTIVITY) {
    num slope; // of the activity, which falls as phi grows
    const num x = n_scale(load(at, field_stride), -c->penetration_inv);
    const num a = FN(sigmoid_and_slope)(x, &slope);
    num bar = cotangent(NUMS(activity_bar, pose, a_stride) + slot, a_stride, order, ordered, first,
                        count);
    if (weighted) {
      store(NUMS(weights_bar, pose, padded) + first, padded, n_mul(bar, a));
      bar = n_mul(bar, load(NUMS(weights, pose, padded) + first, padded));
    }
    phi_bar = n_mad(bar, n_scale(slope, -c->penetration_inv), phi_bar);
  }
  // The point's cotangent in the field's frame, then everything in body 1's frame.
  vec bar = FN(scale3)(load3(at + gradient_plane * padded, field_stride, padded), phi_bar);
  wrench relative = no_wrench(), carried = relative;
  GLOBAL const real *to_2 = frame + FRAME_1_TO_2;
  if (have & WANT_N) {
    const vec n = load3(at + JET_PLANE_NORMAL * padded, field_stride, padded);
    const vec world = cotangent3(NUMS(n_bar, pose, 3 * contacts) + 3 * slot, 3 * contacts, order,
                                 ordered, first, count);
    const vec pull = turn_back(frame + FRAME_WORLD_1, world);
    const vec normal = side ? n : turn_back(to_2, n);
    bar = FN(add3)(bar, pull_normal(at, padded, side ? pull : turn(to_2, pull)));
    twist_direction(&carried, normal, pull);
    if (!side) {
      twist_direction(&relative, normal, pull);
    }
  }
  const vec own = load3(NUMS(points, pose, point_stride) + first, point_stride, padded);
  const vec x = side ? place(frame + FRAME_2_TO_1, own) : own;
  bar = side ? bar : turn_back(to_2, bar);
  if (!side) {
    push_at(&relative, x, FN(neg3)(bar));
  }
  if (have & WANT_P) {
    const vec world = cotangent3(NUMS(p_bar, pose, 3 * contacts) + 3 * slot, 3 * contacts, order,
                                 ordered, first, count);
    const vec push = turn_back(frame + FRAME_WORLD_1, world);
    push_at(&carried, x, push);
    bar = FN(add3)(bar, push);
  }
  if (side) {
    push_at(&relative, x, bar);
  }
  if (kept) {
    store3(NUMS(points_bar, pose, 3 * padded) + first, 3 * padded, padded,
           side ? turn(to_2, bar) : bar);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, carried);
}
