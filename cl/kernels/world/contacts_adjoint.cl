// From a cotangent b of a world's accelerations back to its contacts, limits and friction losses,
// by the implicit function theorem at the solution: docs/dev/cone-formulas.md, section 10. The
// multiplier is y = inv(H) b. A contact's cotangents follow from Y = J y and from its terms at the
// solution. They depend on joints only through three relative twists of the group's links: those
// under y, under the acceleration and under the velocity.

// Returns d'(r), the derivative of the impedance; at r = 0 it counts as 0.
static lane impedance_slope(GLOBAL const real *soft, lane r)
{
  const real d0 = soft[SOFT_D0], d1 = soft[SOFT_D1], middle = soft[SOFT_MIDDLE];
  const real power = soft[SOFT_POWER], width = soft[SOFT_WIDTH];
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  if (width <= R(1e-15) || d0 == d1) {
    return zero;
  }
  const lane part = lane_abs(r) / width;
  const lane x = lane_select(part >= one, one, part);
  const ilane first = x <= lane_lit(middle);
  const lane from = lane_select(first, x / middle, (R(1.0) - x) / (R(1.0) - middle));
  const lane rise = power == R(1.0) ? one : power_r(from, power - R(1.0));
  const lane slope = rise * (power * (d1 - d0) / width);
  return lane_select(part >= one, zero,
                     lane_select(r > zero, slope, lane_select(r < zero, -slope, zero)));
}

// ---- derivatives with respect to the coefficient of friction ----

// Returns the change of rho_t'(z) if z changes by dz and the width t by dt.
static lane penalty_slope_change(lane z, real t, lane dz, real dt)
{
  lane change = penalty_of(z, t).bend * dz;
  if (t > R(0.0)) {
    const lane part = (z + t) / t;
    const ilane inside = lane_abs(z) < lane_lit(t);
    change += lane_select(inside, (part - R(0.5) * part * part) * dt, lane_lit(R(0.0)));
  }
  return change;
}

// The next three functions write the derivative of a contact's gradient g with respect to its
// friction, for D = 1: of an elliptic cone, of a pyramid, and of the cone's actual kind.
static void cone_by_friction(const cone_of *c, const lane j[3], lane out[3])
{
  const real f = c->friction, mu = c->mu, k = c->root, inverse = R(1.0) / c->length;
  const real mu_rate = R(1.0) / k, part = mu * mu_rate * inverse * inverse; // length' / length
  const lane square = j[1] * j[1] + j[2] * j[2], zero = lane_lit(R(0.0));
  const ilane flat = square < lane_lit(R(1e-30));
  const lane s = lane_select(flat, zero, lane_sqrt(square));
  const lane z1 = (f * s - j[0]) * inverse, z2 = -(mu * j[0] + k * s) * inverse;
  const penalty p1 = penalty_of(z1, c->tau), p2 = penalty_of(z2, mu * c->tau);
  const lane d1 = penalty_slope_change(z1, c->tau, s * inverse - z1 * part, R(0.0));
  const lane d2 =
    penalty_slope_change(z2, mu * c->tau, -j[0] * mu_rate * inverse - z2 * part, mu_rate * c->tau);
  const lane n =
    R(-0.5) * inverse * (d1 + mu * d2 + mu_rate * p2.slope - part * (p1.slope + mu * p2.slope));
  const lane t =
    R(0.5) * inverse * (p1.slope + f * d1 - k * d2 - part * (f * p1.slope - k * p2.slope));
  // A sticking contact's force does not depend on friction, and the terms above would cancel.
  const ilane stuck = (z1 >= lane_lit(c->tau)) & (z2 >= lane_lit(mu * c->tau));
  const lane along = lane_select(flat | stuck, zero, t / lane_select(flat, lane_lit(R(1.0)), s));
  out[0] = lane_select(stuck, zero, n);
  out[1] = along * j[1];
  out[2] = along * j[2];
}

static void pyramid_by_friction(const cone_of *c, const lane j[3], lane out[3])
{
  const real f = c->friction;
  out[0] = lane_lit(R(0.0));
  for (int k = 1; k < 3; ++k) {
    const penalty a = penalty_of(-(j[0] + f * j[k]), c->tau);
    const penalty b = penalty_of(-(j[0] - f * j[k]), c->tau);
    out[0] += R(0.5) * j[k] * (a.bend - b.bend);
    out[k] = R(-0.5) * (a.slope - b.slope) + R(0.5) * f * j[k] * (a.bend + b.bend);
  }
}

static void by_friction(const cone_of *c, const lane j[3], lane out[3])
{
  if (c->kind == 2) {
    out[0] = out[1] = out[2] = lane_lit(R(0.0));
  } else if (c->kind == 1) {
    pyramid_by_friction(c, j, out);
  } else {
    cone_by_friction(c, j, out);
  }
}

// ---- frames ----

// Returns the cotangent of n, given the tangents t1 and t2 of its frame and the cotangents of the
// frame's rows. *turn becomes the cotangent of a rotation of the tangents about n. It is 0 for
// cones, which are invariant to that rotation. A pyramid's tangents turn by `spin` times the change
// of n / |n|.
static vec3_r frame_adjoint(vec3_r n, const vec3_r t[2], const vec3_r bar[3], vec3_r spin,
                            lane *turn)
{
  const lane length = lane_sqrt(dot3_r(n, n) + R(1e-20)), inverse = R(1.0) / length;
  const vec3_r m = scale3_r(n, inverse);
  const lane stretched = dot3_r(t[0], bar[1]) + dot3_r(t[1], bar[2]);
  *turn = length * (dot3_r(t[1], bar[1]) - dot3_r(t[0], bar[2]));
  const vec3_r tipped =
    add3_r(scale3_r(t[0], dot3_r(m, bar[1])), scale3_r(t[1], dot3_r(m, bar[2])));
  const vec3_r along = sub3_r(scale3_r(m, stretched), tipped);
  return add3_r(bar[0], mad3_r(spin, *turn * inverse, along));
}

// Returns the gradient, by the unit normal m, of the angle by which the tangents t1 and t2 of a
// pyramid turn about m while the axes are fixed.
static vec3_r pyramid_spin(const pyramid_axes *a, vec3_r m, const vec3_r t[2])
{
  const cross_sums s =
    cross_sums_of(a->across, seen_along(a, m), seen_along(a, t[0]), seen_along(a, t[1]));
  const lane inverse = -R(1.0) / (s.re + CROSS_LEAST);
  return mad3_r(t[0], s.slope_im * inverse, scale3_r(t[1], s.slope_re * inverse));
}

// ---- a group ----

// The relative twists of a group's links if joints move by the multiplier, by the acceleration and
// by the velocity.
typedef struct adjoint_twists {
  real of[3][6];
} adjoint_twists;

// The sums over a group's contacts: the wrenches that belong to the three twists, then the
// cotangents of friction and of stiffness. From ADJOINT_MOBILITY on, they are the cotangents of the
// lower triangle of the mobility. From ADJOINT_TURN on, they are the moment on the body that
// orients the pyramids.
#define ADJOINT_SUMS 44
#define ADJOINT_MOBILITY 20
#define ADJOINT_TURN 41

// Returns -1 in lanes in which body 2 owns the contact's point, else 1. For -1 the rows of the
// contact's frame were reversed.
static lane sides_of(const newton_group *g, int first)
{
  GLOBAL const int *mark = g->world_pair + WORLD_PAIR_MARKS;
  real side[LANES];
  for (int l = 0; l < LANES; ++l) {
    const int i = first + l;
    side[l] = (i >= mark[1] && i < mark[2]) || (i >= mark[3] && i < mark[4]) ? R(-1.0) : R(1.0);
  }
  return lane_load(side);
}

// Writes the cotangents of LANES contacts to a group's planes (BAR_PLANES, plane).
static void put_bars(GLOBAL real *to, int plane, vec3_r p, lane d, vec3_r n, lane activity)
{
  store3(to + BAR_P * plane, 0, plane, p);
  store(to + BAR_D * plane, 0, d);
  store3(to + BAR_N * plane, 0, plane, n);
  store(to + BAR_ACTIVITY * plane, 0, activity);
}

// Returns the gradient of mobility_of_point with respect to the point.
static vec3_r mobility_slope(const world_one *o, int at, vec3_r p)
{
  const vec3_r t[3] = {one_get3(o, at), one_get3(o, at + 6), one_get3(o, at + 12)};
  const vec3_r turned = make_r(dot3_r(t[0], p), dot3_r(t[1], p), dot3_r(t[2], p));
  const vec3_r slope = mad3_r(p, t[0].x + t[1].y + t[2].z, sub3_r(mobility_turn(o, at), turned));
  return scale3_r(slope, lane_lit(R(2.0)));
}

// Returns entry (i, k) of the sum of w w' over any three orthonormal axes e. w is the wrench
// of a force along e at the point x: the cross product of x and e, then e. The sum is the
// derivative of mobility_of_point with respect to the mobility; `square` is |x|^2.
static lane point_product(const lane x[3], lane square, int i, int k)
{
  if (i < 3) {
    return (i == k ? square : lane_lit(R(0.0))) - x[i] * x[k];
  }
  if (k < 3) {
    return i - 3 == k ? lane_lit(R(0.0)) : (i - 3 + 1) % 3 == k ? x[(k + 1) % 3] : -x[(k + 2) % 3];
  }
  return lane_lit(i == k ? R(1.0) : R(0.0));
}

// Propagates the cotangent `bar` of a contact's diagonal A to its point, its rows, its friction and
// its group's mobility, if A is made from the mobility: the adjoint of contact_diagonal.
static void diagonal_adjoint(const newton *s, const newton_group *g, const world_group *w,
                             const contact_block *c, lane side, lane bar, vec3_r *p_bar,
                             vec3_r row_bar[3], lane sums[ADJOINT_SUMS])
{
  const int exact = s->n->exact, cone = g->cone.kind == 1;
  const lane friction = w->of.friction, zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  if (w->mobility < 0) {
    return;
  }
  // A is constant if it is the links' inverse weight or was raised to a share of it.
  const lane square = exact && !cone ? dot3_r(c->f[0], c->f[0]) + R(1e-20) : one;
  const vec3_r f = exact && cone ? mad3_r(c->f[1], friction, c->f[0]) : c->f[0];
  lane row[6], moved[6], made = zero;
  row_wrench(c->p, f, row);
  if (exact) {
    mobility_times(&s->tree, w->mobility, row, moved);
    for (int i = 0; i < 6; ++i) {
      made += row[i] * moved[i];
    }
    made = made / square;
  } else {
    made = mobility_of_point(&s->tree, w->mobility, c->p);
  }
  const real least = (exact ? R(1e-6) : WEAK_RATIO) * w->reals[GROUP_WEIGHT];
  const lane share = cone && !exact ? one + friction * friction : one;
  const lane unit = lane_select(made > lane_lit(least), bar * share, zero) / square;
  if (exact) {
    const vec3_r zm = make_r(moved[0], moved[1], moved[2]),
                 zf = make_r(moved[3], moved[4], moved[5]);
    const vec3_r f_bar = scale3_r(add3_r(cross3_r(zm, c->p), zf), R(2.0) * unit);
    *p_bar = mad3_r(cross3_r(f, zm), R(2.0) * unit, *p_bar);
    row_bar[0] = mad3_r(f_bar, side, row_bar[0]);
    if (cone) {
      row_bar[1] = mad3_r(f_bar, side * friction, row_bar[1]);
      sums[18] += dot3_r(f_bar, c->f[1]);
    } else {
      row_bar[0] = mad3_r(c->f[0], R(-2.0) * side * unit * made, row_bar[0]);
    }
  } else {
    *p_bar = mad3_r(mobility_slope(&s->tree, w->mobility, c->p), unit, *p_bar);
  }
  const lane x[3] = {c->p.x, c->p.y, c->p.z}, long2 = dot3_r(c->p, c->p);
  int at = ADJOINT_MOBILITY;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k <= i; ++k) {
      sums[at++] += unit * (exact ? row[i] * row[k] : point_product(x, long2, i, k));
    }
  }
}

// Writes the cotangents of p, d, n and activity of LANES contacts, starting at `first`, and adds
// the group's part to `sums`. In the notation of docs/dev/cone-formulas.md, section 10, `y` is Y,
// `bent` is GY, and d_bar is the cotangent of the stiffness D. `coefficient` holds the factors of
// the frame's rows in the wrenches of the three twists: lambda, -GY and -B GY.
static void adjoint_block(const newton *s, const newton_group *g, const world_group *w, int first,
                          const adjoint_twists *t, GLOBAL real *bars, lane sums[ADJOINT_SUMS])
{
  GLOBAL const real *soft = w->reals + GROUP_SOFT;
  const ilane there = lanes_before(first, g->count);
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0)), side = sides_of(g, first);
  contact_there at;
  contact_at(g, first, t->of[1], &at);
  const contact_block c = at.c;
  const contact_terms e = at.e;
  const lane chi = w->of.stiffness, friction = w->of.friction;
  const lane k = chi * soft[SOFT_K], damping = lane_sqrt(chi) * soft[SOFT_B];
  lane y[3], change[3], coefficient[3][3];
  block_moves(&c, t->of[0], y);
  by_friction(&g->cone, at.j, change);
  const lane bent[3] = {c.d * (e.h[0] * y[0] + e.h[1] * y[1] + e.h[2] * y[2]),
                        c.d * (e.h[1] * y[0] + e.h[3] * y[1] + e.h[4] * y[2]),
                        c.d * (e.h[2] * y[0] + e.h[4] * y[1] + e.h[5] * y[2])};
  const lane d_bar = -(y[0] * e.g[0] + y[1] * e.g[1] + y[2] * e.g[2]);
  vec3_r p_bar = make_r(zero, zero, zero), row_bar[3] = {p_bar, p_bar, p_bar};
  for (int i = 0; i < 3; ++i) {
    coefficient[0][i] = -c.d * e.g[i];
    coefficient[1][i] = -bent[i];
    coefficient[2][i] = -damping * bent[i];
  }
  for (int z = 0; z < 3; ++z) {
    const vec3_r u = twist_at(t->of[z], c.p);
    const vec3_r turn = make_r(lane_lit(t->of[z][0]), lane_lit(t->of[z][1]), lane_lit(t->of[z][2]));
    vec3_r h = scale3_r(c.f[0], coefficient[z][0]);
    h = mad3_r(c.f[1], coefficient[z][1], mad3_r(c.f[2], coefficient[z][2], h));
    const vec3_r moment = cross3_r(c.p, h);
    sums[6 * z] += moment.x;
    sums[6 * z + 1] += moment.y;
    sums[6 * z + 2] += moment.z;
    sums[6 * z + 3] += h.x;
    sums[6 * z + 4] += h.y;
    sums[6 * z + 5] += h.z;
    p_bar = add3_r(p_bar, cross3_r(h, turn));
    for (int i = 0; i < 3; ++i) {
      row_bar[i] = mad3_r(u, side * coefficient[z][i], row_bar[i]);
    }
  }
  const int plane = g->plane;
  const lane r = lane_select(there, load(g->rows + CONTACT_DISTANCE * plane + first, 0), zero);
  const lane a = lane_select(there, load(g->rows + CONTACT_ACTIVITY * plane + first, 0), zero);
  const lane imp = impedance_r(soft, r), slope = impedance_slope(soft, r);
  const contact_frame_r f = {c.f[0], c.f[1], c.f[2]};
  const lane diagonal = contact_diagonal(&s->tree, s->n, w, c.p, &f);
  const lane rest = one - imp;
  lane scale = one;
  if (g->cone.kind == 1) {
    scale = R(0.5) / (lane_lit(g->cone.mu) * g->cone.mu);
  }
  const lane held = lane_select(diagonal > zero, diagonal, one);
  const lane below = lane_max(rest * held, lane_lit(MIN_DIAGONAL));
  const lane e_bar = lane_select(there, d_bar * scale / (below * rest), zero);
  const lane r_bar = a * slope * e_bar - k * (imp + r * slope) * bent[0];
  diagonal_adjoint(s, g, w, &c, side, lane_select(there, -d_bar * c.d / held, zero), &p_bar,
                   row_bar, sums);
  const vec3_r n = scale3_r(c.f[0], side);
  const lane inverse = side / lane_sqrt(dot3_r(n, n) + R(1e-20));
  const vec3_r tangents[2] = {scale3_r(c.f[1], inverse), scale3_r(c.f[2], inverse)};
  vec3_r spin = make_r(zero, zero, zero);
  lane turn;
  if (w->pyramidal) {
    spin = pyramid_spin(&w->axes, scale3_r(c.f[0], inverse), tangents);
  }
  const vec3_r n_bar = mad3_r(p_bar, lane_lit(-w->reals[GROUP_MIDDLE]),
                              frame_adjoint(n, tangents, row_bar, spin, &turn));
  put_bars(bars + first, plane, p_bar, r_bar, n_bar, imp * rest * e_bar);
  if (w->pyramidal) { // tangents turn with axes and normal if both turn alike
    const vec3_r m = scale3_r(c.f[0], inverse);
    const vec3_r moment = scale3_r(sub3_r(m, cross3_r(m, spin)), turn);
    sums[ADJOINT_TURN] += moment.x;
    sums[ADJOINT_TURN + 1] += moment.y;
    sums[ADJOINT_TURN + 2] += moment.z;
  }
  sums[18] -= c.d * (y[0] * change[0] + y[1] * change[1] + y[2] * change[2]);
  if (g->cone.kind == 1) { // a pyramid's D falls with the friction
    const lane more = s->n->exact ? zero : friction / (R(1.0) + friction * friction);
    sums[18] -= R(2.0) * d_bar * c.d * (more + R(1.0) / friction);
  }
  const vec3_r u = twist_at(t->of[2], c.p);
  const lane pressed =
    bent[0] * dot3_r(c.f[0], u) + bent[1] * dot3_r(c.f[1], u) + bent[2] * dot3_r(c.f[2], u);
  sums[19] -= (R(0.5) * damping * pressed + k * imp * r * bent[0]) / chi;
}

// Finds the cotangents of a world pair's contacts, in `bars`, and writes those of its group to back
// (GROUP_ADJOINT): three wrenches, friction, stiffness and mobility. `y` is the twist under the
// multiplier.
static void group_pull(const newton *s, const newton_group *of, const real y[6],
                       GLOBAL const real *acc, GLOBAL real *bars, GLOBAL real *back)
{
  const newton_group g = *of;
  const world_group w = group_of(&s->tree, s->n, s->ints, s->reals, s->parameters, s->world,
                                 s->shared, g.world_pair[WORLD_PAIR_GROUP]);
  adjoint_twists t;
  lane sums[ADJOINT_SUMS];
  const lane v[6] = {w.w.x, w.w.y, w.w.z, w.v.x, w.v.y, w.v.z};
  group_twist(s, &g, acc, t.of[1]);
  for (int i = 0; i < 6; ++i) {
    t.of[0][i] = y[i];
    t.of[2][i] = lane_first(v[i]);
  }
  for (int i = 0; i < ADJOINT_SUMS; ++i) {
    sums[i] = lane_lit(R(0.0));
  }
  for (int first = 0; first < g.count; first += LANES) {
    adjoint_block(s, &g, &w, first, &t, bars, sums);
  }
  for (int i = 0; i < GROUP_ADJOINT; ++i) {
    back[i] = i < 18              ? lane_sum(sums[i])
              : i < BACK_MOBILITY ? R(0.0)
                                  : lane_sum(sums[ADJOINT_MOBILITY + i - BACK_MOBILITY]);
  }
  for (int i = 0; i < 3; ++i) {
    back[(g.ints[GROUP_TURNS] ? BACK_POSE_B : BACK_POSE_A) + i] = lane_sum(sums[ADJOINT_TURN + i]);
  }
  // A parameter that was raised to its minimum has no derivative.
  GLOBAL const real *given =
    s->shared ? s->parameters
              : ROW(s->parameters, s->world, PARAMETERS(s->n->links, s->n->columns));
  const real stiffness = given[s->n->links + s->n->columns + g.ints[GROUP_COLUMN_A]];
  back[BACK_FRICTION] = column_friction(s->n, g.ints, given) < MIN_FRICTION ? R(0.0)
                                                                            : lane_sum(sums[18]);
  back[BACK_STIFFNESS] = group_is_listed(g.ints) && stiffness < MIN_STIFFNESS ? R(0.0)
                                                                              : lane_sum(sums[19]);
}

// ---- rows on one degree of freedom ----

// Returns the cotangent of a row's stiffness d if y moves the row by `moved`. The position of a
// friction loss's knee also depends on d.
static real row_by_stiffness(const newton *s, int row, real acc, real d, real moved)
{
  GLOBAL const int *of = s->ints + s->n->at_rows + ROW_INTS * row;
  GLOBAL const real *own = s->reals + s->n->at_row_reals + ROW_REALS * row;
  const real tau = s->reals[WORLD_CONE_SMOOTHING],
             side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
  real force = -side * single_terms(s, row, acc).slope;
  if (of[ROW_KIND] == ROW_LOSS) {
    const real j = acc - (s->row_terms + ROW_TERMS * row)[ROW_TERM_REF], knee = own[ROW_END] / d;
    force += R(0.5) * own[ROW_END] *
             (lane_first(penalty_of(lane_lit(j - knee), tau).bend) -
              lane_first(penalty_of(lane_lit(-j - knee), tau).bend));
  }
  return moved * force / d;
}

// Adds the contribution of a row that y moves to the cotangents of q, v and the diagonal of inv(M):
// back (ROW_ADJOINT, nv).
static void row_forces_adjoint(const newton *s, int row, GLOBAL const real *acc,
                               GLOBAL const real *q, GLOBAL const real *y, GLOBAL real *back)
{
  GLOBAL const int *of = s->ints + s->n->at_rows + ROW_INTS * row;
  GLOBAL const real *own = s->reals + s->n->at_row_reals + ROW_REALS * row;
  const real d = (s->row_terms + ROW_TERMS * row)[ROW_TERM_D], end = own[ROW_END];
  const int dof = of[ROW_V];
  const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
  const row_terms_of t = single_terms(s, row, acc[dof]);
  const real moved = side * y[dof], bent = t.bend * moved;
  const int nv = s->n->nv;
  const real d_bar = d > R(0.0) ? row_by_stiffness(s, row, acc[dof], d, moved) : R(0.0);
  back[ROW_BACK_V * nv + dof] -= own[ROW_SOFT + SOFT_B] * side * bent;
  back[ROW_BACK_WEIGHT * nv + dof] -= s->n->exact ? d_bar * d / row_weight(s, row) : R(0.0);
  if (of[ROW_KIND] != ROW_LOSS) {
    const real smooth = s->reals[WORLD_LIMIT_SMOOTHING], r = side * (q[of[ROW_Q]] - end);
    const real imp = lane_first(impedance_r(own + ROW_SOFT, lane_lit(r)));
    const real slope = lane_first(impedance_slope(own + ROW_SOFT, lane_lit(r)));
    real a = r < R(0.0) ? R(1.0) : R(0.0), steep = R(0.0);
    if (smooth > R(0.0)) {
      a = lane_first(sigmoid_r(lane_lit(-r / smooth)));
      steep = -a * (R(1.0) - a) / smooth;
    }
    const real rest = R(1.0) - a * imp, below = rest * rest * row_weight(s, row);
    const real e_bar = below > R(0.0) ? d_bar / below : R(0.0);
    const real r_bar =
      (a * slope + imp * steep) * e_bar - own[ROW_SOFT + SOFT_K] * (imp + r * slope) * bent;
    back[ROW_BACK_Q * nv + dof] += side * r_bar;
  }
}

// ---- a world ----

// Sets the solver of a world to the acceleration that it has found: columns, rows, and the factor
// of the Hessian there, for all islands. Returns 0 if there is no factor or the world has stopped.
static int newton_at(newton *s, GLOBAL const real *q, GLOBAL const real *v,
                     GLOBAL const real *acceleration, int stopped)
{
  const int nv = s->n->nv;
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  int good = !stopped;
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    newton_vector(s, VECTOR_FREE)[i] = one_real(&s->tree, s->n->at_free + i);
    newton_vector(s, VECTOR_ACC)[i] = ROW(acceleration, s->world, nv)[i];
  }
  for (int tree = s->team.item; tree < s->trees; tree += s->team.items) {
    state[tree] = ISLAND_AT_WORK;
  }
  start_mass(s);
  start_axes(s);
#if WG == 1
  start_passes(s);
#endif
  start_rows(s, ROW(q, s->world, s->n->nq), ROW(v, s->world, nv));
  if (stopped) {
    newton_empty(s);
  }
  start_active_pairs(s);
  MEET;
  start_panels(s, ISLAND_AT_WORK);
  newton_constraint_force(s, newton_vector(s, VECTOR_ACC), ISLAND_AT_WORK, 1);
  scale_panels(s);
  factor_panels(s);
  for (int tree = 0; tree < s->trees; ++tree) {
    good = good && tree_is(s, tree, ISLAND_AT_WORK);
  }
  return good;
}

#if WITH_ADJOINT // only a kernel may declare local memory
// One work-group writes to one world's row of `work` what the kernels below need at its
// acceleration (worlds, nv). It sets good (worlds) to 1, or to 0 if the Hessian has no factor. sums
// (active pairs, ACTIVE_REALS) is scratch memory.
ADJOINT_KERNEL ADJOINT_GROUPED void world_factor(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *q, GLOBAL const real *v, GLOBAL const real *acceleration,
  GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL int *order, GLOBAL const int *order_sums,
  GLOBAL real *pool, GLOBAL const int *status, GLOBAL real *work, GLOBAL real *sums,
  GLOBAL int *good, int worlds)
{
  LOCAL_ARRAY(real, part, TEAM_PARTS);
  LOCAL_ARRAY(int, exchange, WG);
  const int world = (int)get_group_id(0);
  const team t = team_of_group(part, exchange);
  newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs, list,
                       active_pairs, work, world);
  newton_together(&s, &t, sums, active_pairs);
  newton_order(&s, order, order_sums, pool);
  const int found = newton_at(&s, q, v, acceleration, (status[world] & WORLD_STOPPED) != 0);
  (void)worlds;
  if (t.item == 0) {
    good[world] = found;
  }
}

// After world_factor, one work-group finds the multiplier of one world, y (worlds, nv) = inv(H) b,
// where b (worlds, nv) is the cotangent of its acceleration, and the contribution of limits and
// friction losses, row_adjoint (worlds, ROW_ADJOINT, nv).
//
// If with_basis is set, basis (6, pair_count, GROUP_ADJOINT) holds the output of
// world_contacts_adjoint for the six unit twists of each world pair's group. The cotangents are
// linear in y's twist, so group_adjoint (pair_count, GROUP_ADJOINT) is a weighted sum of these.
ADJOINT_KERNEL ADJOINT_GROUPED void world_multipliers(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *q, GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL int *order, GLOBAL const int *order_sums,
  GLOBAL real *pool, GLOBAL const int *good, GLOBAL const real *b, GLOBAL const real *basis,
  int with_basis, int pair_count, GLOBAL real *work, GLOBAL real *y, GLOBAL real *group_adjoint,
  GLOBAL real *row_adjoint, int worlds)
{
  LOCAL_ARRAY(real, part, PANEL_PARTS);
  LOCAL_ARRAY(int, exchange, WG);
  const int world = (int)get_group_id(0), nv = n->nv;
  const team t = team_of_group(part, exchange);
  newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs, list,
                       active_pairs, work, world);
  s.team = t;
  newton_order(&s, order, order_sums, pool);
  GLOBAL real *step = newton_vector(&s, VECTOR_STEP),
              *own = ROW(row_adjoint, world, ROW_ADJOINT * nv);
  (void)worlds;
  for (int i = t.item; i < nv; i += t.items) {
    step[i] = good[world] ? ROW(b, world, nv)[i] : R(0.0);
    own[i] = own[nv + i] = own[2 * nv + i] = R(0.0);
  }
  s.trees = s.dofs = 0;
  if (good[world]) {
    s.trees = n->trees;
    s.dofs = nv;
  }
  MEET;
  newton_solve(&s, step);
  for (int i = t.item; i < nv; i += t.items) {
    ROW(y, world, nv)[i] = step[i];
  }
  for (int i = 0; i < n->rows; ++i) {
    if (is_own(&t, row_dof(&s, i))) {
      row_forces_adjoint(&s, i, newton_vector(&s, VECTOR_ACC), ROW(q, world, n->nq), step, own);
    }
  }
  for (int active = t.item; active < s.active_count && with_basis; active += t.items) {
    const int world_pair = world_pair_of(&s, active);
    const newton_group g = bare_group(&s, world_pair);
    GLOBAL const real *from = ROW(basis, world_pair, GROUP_ADJOINT);
    GLOBAL real *to = ROW(group_adjoint, world_pair, GROUP_ADJOINT);
    real twist[6];
    group_twist(&s, &g, step, twist);
    for (int k = 0; k < GROUP_ADJOINT; ++k) {
      real sum = R(0.0);
      for (int i = 0; i < 6; ++i) {
        sum += twist[i] * ROW(from, i, (size_t)GROUP_ADJOINT * pair_count)[k];
      }
      // The first wrench is that of the contacts themselves, which does not depend on y.
      to[k] = k < BACK_ACCELERATION ? from[k] : sum;
    }
  }
}
#endif

// One work-item finds the cotangents of the contacts of one of `count` world pairs, starting at
// `first`. It writes `bars`, in which the planes (BAR_PLANES, plane) of a world pair are placed as
// in the pool, and those of the group, group_adjoint (world pairs, GROUP_ADJOINT). The twist under
// the multiplier is given by y (worlds, nv) if `basis` is -1, and is unit twist `basis` if that is
// at least 0. If `basis` is -1, the twist of the cotangents of contact forces is added if these are
// given and the world has a factor, good (worlds). If `basis` is below -1, that twist is used
// without y.
ADJOINT_KERNEL void world_contacts_adjoint(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL const real *y, int basis, int with_links,
  GLOBAL const real *link_bars, int with_pairs, GLOBAL const real *pair_bars,
  GLOBAL const int *good, int first, GLOBAL real *work, GLOBAL real *bars,
  GLOBAL real *group_adjoint, int at, int count)
{
  const int world_pair = first + (int)get_global_id(0);
  if (world_pair >= first + count) {
    return;
  }
  const int world = ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_WORLD];
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs,
                             list, active_pairs, work, world);
  const newton_group g = newton_group_of(&s, world_pair);
  const push_bars pushed = push_bars_of(with_links, link_bars, with_pairs, pair_bars);
  real twist[6];
  if (basis == -1) {
    group_twist(&s, &g, ROW(y, world, n->nv), twist);
  }
  for (int i = 0; i < 6 && basis != -1; ++i) {
    twist[i] = i == basis ? R(1.0) : R(0.0);
  }
  if (basis < 0 && good[world]) {
    push_twist(&s, &g, &pushed, twist);
  }
  group_pull(&s, &g, twist, newton_vector(&s, VECTOR_ACC),
             ROW(bars, g.world_pair[WORLD_PAIR_AT], BAR_PLANES),
             ROW(group_adjoint, at + world_pair, GROUP_ADJOINT));
}
