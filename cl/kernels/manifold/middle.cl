// How deep the middles of bodies are inside each other (docs/dev/spec.md, section 11.7). A body's
// middle is its deepest place, with a ball of radius r around it inside the body. If the other
// body's field is phi at the middle, and phi is not below the distance, the bodies are at most phi
// - r apart. Normal cones exclude every contact that would report this when bodies overlap by more
// than half.

static vec middle_of(GLOBAL const real *middle)
{
  return FN(make)(n_lit(middle[MIDDLE_AT]), n_lit(middle[MIDDLE_AT + 1]),
                  n_lit(middle[MIDDLE_AT + 2]));
}

// Returns a body's middle in the other body's frame.
static vec middle_across(GLOBAL const real *middle, int side, GLOBAL const real *frame)
{
  return FN(limit3)(place(frame + FRAME_ACROSS(side), middle_of(middle)),
                    R(2.0) * SEPARATION_LIMIT);
}

// Returns whether a pair uses a middle: cones exclude contacts, and the body has a middle.
static int has_middle(GLOBAL const pair_head *pair, GLOBAL const real *middle)
{
  return pair->c.cones > R(0.0) && middle[MIDDLE_RADIUS] > R(0.0);
}

// One work-item writes an upper bound of the distance between the bodies of one pose, by the middle
// of each: out (poses, 2).
MERGED
KERNEL void middles(GLOBAL const real *frames, GLOBAL const int *head1, GLOBAL const int *head2,
                    GLOBAL const real *shape1, GLOBAL const real *shape2,
                    GLOBAL const pair_head *pair, GLOBAL real *out)
{
  const int pose = (int)get_global_id(1);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  if ((int)get_global_id(0) > 0) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    GLOBAL const real *middle = pair->reals + PAIR_MIDDLE(side);
    num phi = n_lit(REAL_BIG);
    if (has_middle(pair, middle)) {
      const vec x = middle_across(middle, side, frame);
      phi = steady(distance_within(OF_BODY(!side, head1, head2), OF_BODY(!side, shape1, shape2),
                                   &pair->c, x, REAL_BIG),
                   COTANGENT_LIMIT);
      const num least = n_lit(middle[MIDDLE_LEAST]);
      phi = n_select(n_value(phi) > lane_lit(R(0.0)), n_scale(phi, middle[MIDDLE_RISE]), phi);
      phi =
        n_sub(n_select(n_value(phi) < n_value(least), least, phi), n_lit(middle[MIDDLE_RADIUS]));
    }
    store_row(NUMS(out, pose, 2) + side, 2, NO_ORDER, 0, 0, 1, phi);
  }
}

// The adjoint of middles. bars (poses, 2) are the cotangents of its results. It writes one block of
// wrenches, and sites of both fields if there are any.
ADJOINT_KERNEL void middles_adjoint(GLOBAL const real *frames, GLOBAL const int *head1,
                                    GLOBAL const int *head2, GLOBAL const real *shape1,
                                    GLOBAL const real *shape2, GLOBAL const pair_head *pair,
                                    GLOBAL const real *bars, field_sites sites, GLOBAL real *sites1,
                                    GLOBAL real *sites2, GLOBAL real *wrenches, int wrench_stride,
                                    int wrench_block)
{
  const int pose = (int)get_global_id(1);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  wrench relative = no_wrench(), carried = relative;
  if ((int)get_global_id(0) > 0) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    GLOBAL const real *middle = pair->reals + PAIR_MIDDLE(side);
    const vec x = middle_across(middle, side, frame);
    if (!has_middle(pair, middle)) {
      store_sites(OF_BODY(!side, sites1, sites2), sites.count[!side], sites.middles[!side], pose, x,
                  n_lit(R(0.0)), no_bar());
      continue;
    }
    FN(jet) jet;
    FN(body_jet)(OF_BODY(!side, head1, head2), OF_BODY(!side, shape1, shape2), &pair->c, x,
                 JET_GRADIENT, REAL_BIG, &jet);
    // All lanes have the same pose, and blocks are summed over lanes. Only one lane may therefore
    // count.
    const ilane counts = (lane_iota() == lane_lit(R(0.0))) &
                         (n_value(jet.phi) >= lane_lit(middle[MIDDLE_LEAST]));
    num bar = n_select(counts, load_one(NUMS(bars, pose, 2) + side, 2), n_lit(R(0.0)));
    bar = n_select(n_value(jet.phi) > lane_lit(R(0.0)), n_scale(bar, middle[MIDDLE_RISE]), bar);
    store_sites(OF_BODY(!side, sites1, sites2), sites.count[!side], sites.middles[!side], pose, x,
                bar, no_bar());
    const vec push = FN(scale3)(steady3(jet.gradient, COTANGENT_LIMIT), bar);
    push_vertex(frame, side, middle_of(middle), push, 0, push, &relative, &carried);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block, relative, carried);
}
