// The field of one body at points of every pose, with a varying number of its derivatives, and the
// use of these in the reverse pass. points and frame are as in kernels/field.h.
//
// In the kernels that evaluate fields one work-item has a block of LANES points of one pose. The
// global size is (padded / LANES, poses), and out has planes of `padded` numbers per pose, in the
// body's frame.

// Writes the planes phi and normal (3).
KERNEL void field(GLOBAL const real *points, int point_base, int point_stride, int padded,
                  GLOBAL const real *frames, int frame, GLOBAL const int *head,
                  GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec x = field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  put_field(head, shape, c, x, out, padded, block, pose);
}

// Writes the plane phi.
KERNEL void field_distance(GLOBAL const real *points, int point_base, int point_stride, int padded,
                           GLOBAL const real *frames, int frame, GLOBAL const int *head,
                           GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec x = field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  put_distance(head, shape, c, x, out, padded, block, pose);
}

// Writes the planes phi, normal (3), gradient of phi (3) and the Jacobian of the normal (9) row by
// row: JET_* of layout.h.
ADJOINT_KERNEL void field_jet(GLOBAL const real *points, int point_base, int point_stride,
                              int padded, GLOBAL const real *frames, int frame,
                              GLOBAL const int *head, GLOBAL const real *shape,
                              GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec x = field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, JET_JACOBIAN, REAL_BIG, &jet);
  const int stride = JET_PLANES * padded;
  GLOBAL real *row = NUMS(out, pose, stride) + block * LANES;
  store(row, stride, steady(jet.phi, COTANGENT_LIMIT));
  store3(row + JET_PLANE_NORMAL * padded, stride, padded, steady3(jet.normal, COTANGENT_LIMIT));
  store3(row + JET_PLANE_GRADIENT * padded, stride, padded, steady3(jet.gradient, COTANGENT_LIMIT));
  for (int i = 0; i < 9; ++i) {
    const num slope = bounded(jet.jacobian[i], JACOBIAN_LIMIT);
    const ilane known = n_value(slope) == n_value(slope); // NaN means overflow of opposite signs
    store(row + (JET_PLANE_JACOBIAN + i) * padded, stride, n_select(known, slope, n_lit(R(0.0))));
  }
}

// Writes the planes phi and gradient of phi (3).
ADJOINT_KERNEL void field_gradient(GLOBAL const real *points, int point_base, int point_stride,
                                   int padded, GLOBAL const real *frames, int frame,
                                   GLOBAL const int *head, GLOBAL const real *shape,
                                   GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec x = field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, JET_GRADIENT, REAL_BIG, &jet);
  GLOBAL real *row = NUMS(out, pose, FIELD_PLANES * padded) + block * LANES;
  store(row, FIELD_PLANES * padded, steady(jet.phi, COTANGENT_LIMIT));
  store3(row + padded, FIELD_PLANES * padded, padded, steady3(jet.gradient, COTANGENT_LIMIT));
}

// Returns J' bar, the cotangent of the point for a cotangent of the normal. jet is a block of the
// planes of field_jet.
static vec adjoint_normal(GLOBAL const real *jet, int padded, vec bar)
{
  const int stride = JET_PLANES * padded;
  GLOBAL const real *j = jet + JET_PLANE_JACOBIAN * padded;
  vec r;
  r.x = n_mul(load(j, stride), bar.x);
  r.y = n_mul(load(j + padded, stride), bar.x);
  r.z = n_mul(load(j + 2 * padded, stride), bar.x);
  r.x = n_mad(load(j + 3 * padded, stride), bar.y, r.x);
  r.y = n_mad(load(j + 4 * padded, stride), bar.y, r.y);
  r.z = n_mad(load(j + 5 * padded, stride), bar.y, r.z);
  r.x = n_mad(load(j + 6 * padded, stride), bar.z, r.x);
  r.y = n_mad(load(j + 7 * padded, stride), bar.z, r.y);
  r.z = n_mad(load(j + 8 * padded, stride), bar.z, r.z);
  return r;
}

// ---- sites: places at which the field of a body is evaluated, for derivatives with respect to its
// shape ----

// Writes a block of sites of a body, starting at `first`: places, and the cotangents of phi, of the
// normal and of the gradient of phi there, in the body's frame. Only calls with derivatives with
// respect to shapes have sites. Duals have none.
static void store_graded_sites(GLOBAL real *sites, int count, int first, int pose, vec x,
                               num phi_bar, vec normal_bar, vec gradient_bar)
{
#if TANGENTS
  (void)sites;
  (void)count;
  (void)first;
  (void)pose;
  (void)x;
  (void)phi_bar;
  (void)normal_bar;
  (void)gradient_bar;
#else
  if (count) {
    const int stride = SITE_PLANES * count;
    GLOBAL real *row = NUMS(sites, pose, stride) + first;
    store3(row, stride, count, x);
    store(row + SITE_PHI * count, stride, bounded(phi_bar, COTANGENT_LIMIT));
    store3(row + SITE_NORMAL * count, stride, count, bounded3(normal_bar, COTANGENT_LIMIT));
    store3(row + SITE_GRADIENT * count, stride, count, bounded3(gradient_bar, COTANGENT_LIMIT));
  }
#endif
}

static void store_sites(GLOBAL real *sites, int count, int first, int pose, vec x, num phi_bar,
                        vec normal_bar)
{
  store_graded_sites(sites, count, first, pose, x, phi_bar, normal_bar, no_bar());
}

// ---- wrenches: the derivative of a scalar along rigid motions of one frame against another, as a
// force and a moment about the origin of the frame that they are written in ----
typedef struct wrench {
  vec force, moment;
} wrench;

static wrench no_wrench(void)
{
  const num zero = n_lit(R(0.0));
  wrench w;
  w.force = FN(make)(zero, zero, zero);
  w.moment = w.force;
  return w;
}

// Adds a force at a point.
static void push_at(wrench *w, vec at, vec force)
{
  w->force = FN(add3)(w->force, force);
  w->moment = FN(add3)(w->moment, FN(cross3)(at, force));
}

// Adds the cotangent of a direction, which rotates with the frame.
static void twist_direction(wrench *w, vec direction, vec bar)
{
  w->moment = FN(add3)(w->moment, FN(cross3)(direction, bar));
}

// Stores a block's share of a pose's wrenches, in body 1's frame. `relative` belongs to motions of
// body 2 against body 1, `carried` to motions of both bodies together in the world.
static void store_wrenches(GLOBAL real *wrenches, int wrench_stride, int pose, int block,
                           wrench relative, wrench carried)
{
  GLOBAL real *to = NUMS(wrenches, pose, wrench_stride) + block * WRENCH_REALS;
  store_sum3(to, wrench_stride, bounded3(relative.force, WRENCH_LIMIT));
  store_sum3(to + 3, wrench_stride, bounded3(relative.moment, WRENCH_LIMIT));
  store_sum3(to + 6, wrench_stride, bounded3(carried.force, WRENCH_LIMIT));
  store_sum3(to + 9, wrench_stride, bounded3(carried.moment, WRENCH_LIMIT));
}

// One work-item makes one sphere-tracing step of a block of a body's witness points onto the body's
// own surface, e' = e - phi n (docs/dev/spec.md, 6.2). `own` has the planes phi and normal of the
// body's own field at e.
KERNEL void trace_step(GLOBAL real *points, int from_base, int to_base, int point_stride,
                       GLOBAL const real *frames, GLOBAL const real *own, int own_stride,
                       GLOBAL const pair_head *pair, int side)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int padded = pair->n.pair_slots;
  if (block * LANES >= padded) {
    return;
  }
  GLOBAL real *row = NUMS(points, pose, point_stride) + block * LANES;
  GLOBAL const real *at = NUMS(own, pose, own_stride) + block * LANES;
  const num phi = load(at, own_stride);
  vec n = load3(at + padded, own_stride, padded);
  if (side) {
    n = turn(NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1, n);
  }
  const vec e = load3(row + from_base, point_stride, padded);
  store3(row + to_base, point_stride, padded, steady3(FN(mad3)(n, n_neg(phi), e), COTANGENT_LIMIT));
}

// The adjoint of trace_step: the cotangent of e' in `bars` (see edge_witnesses_adjoint) is replaced
// by that of e. `own` has the planes of field_jet at e; the cotangents of padded lanes are 0. If
// there are sites, the kernel writes those of the body's own field at e.
ADJOINT_KERNEL void trace_adjoint(GLOBAL const real *points, int from_base, int point_stride,
                                  GLOBAL const real *frames, GLOBAL const real *own,
                                  GLOBAL real *bars, GLOBAL const pair_head *pair, int side,
                                  GLOBAL real *sites, int site_count, int site_first,
                                  GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int padded = pair->n.pair_slots;
  if (block * LANES >= padded) {
    return;
  }
  const int stride = JET_PLANES * padded, bar_stride = WITNESS_PLANES * padded;
  GLOBAL const real *to_2 = NUMS(frames, pose, FRAME_STRIDE) + FRAME_1_TO_2;
  GLOBAL const real *jet = NUMS(own, pose, stride) + block * LANES;
  GLOBAL real *bar_at =
    NUMS(bars, pose, bar_stride) + (side ? WITNESS_E2 * padded : 0) + block * LANES;
  const vec e =
    load3(NUMS(points, pose, point_stride) + from_base + block * LANES, point_stride, padded);
  const vec bar = load3(bar_at, bar_stride, padded);
  const vec inside = side ? turn(to_2, bar) : bar;
  const num phi = load(jet, stride);
  const vec n = load3(jet + JET_PLANE_NORMAL * padded, stride, padded);
  const vec gradient = load3(jet + JET_PLANE_GRADIENT * padded, stride, padded);
  const vec pulled = adjoint_normal(jet, padded, inside);
  const num along = FN(dot3)(inside, n);
  store_sites(sites, site_count, site_first + block * LANES, pose, side ? place(to_2, e) : e,
              n_neg(along), FN(scale3)(inside, n_neg(phi)));
  vec change = FN(mad3)(gradient, n_neg(along), FN(scale3)(pulled, n_neg(phi)));
  wrench relative = no_wrench();
  if (side) {
    change = turn_back(to_2, change);
    push_at(&relative, e, FN(neg3)(change));
    twist_direction(&relative, turn_back(to_2, n), FN(scale3)(bar, n_neg(phi)));
  }
  store3(bar_at, bar_stride, padded, bounded3(FN(add3)(bar, change), COTANGENT_LIMIT));
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, no_wrench());
}
