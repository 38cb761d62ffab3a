// The contributions of equality constraints to q and v in the reverse pass of a tree: the gradient
// of -y . J' lambda at fixed accelerations a, where y is minus the multiplier;
// docs/dev/cone-formulas.md, section 10.

// The cotangents of an equality's rows: of their products with y, a and v, and of their residuals.
typedef struct equality_bars {
  lane of[3][6], r[6];
} equality_bars;

#define EQUALITY_OF_Y 0
#define EQUALITY_OF_A 1
#define EQUALITY_OF_V 2

// Finds the cotangents. rates[0], [1] and [2] are the rows' products with y, a and v.
static void equality_pull(const equality *e, lane rates[3][6], equality_bars *out)
{
  GLOBAL const real *soft = e->reals + EQUALITY_SOFT;
  const lane d = e->impedance, slope = impedance_slope(soft, e->norm);
  const real stiff = soft[SOFT_K], damp = soft[SOFT_B];
  lane d_bar = lane_lit(R(0.0));
  for (int k = 0; k < e->rows; ++k) {
    const lane by = equality_stiffness(e, k), y = -rates[EQUALITY_OF_Y][k];
    const lane force =
      -by * (rates[EQUALITY_OF_A][k] + damp * rates[EQUALITY_OF_V][k] + stiff * d * e->r[k]);
    out->of[EQUALITY_OF_Y][k] = -force;
    out->of[EQUALITY_OF_A][k] = -by * y;
    out->of[EQUALITY_OF_V][k] = -by * damp * y;
    out->r[k] = -by * stiff * d * y;
    d_bar += force * y / (d * (R(1.0) - d)) - by * stiff * e->r[k] * y;
  }
  const ilane none = e->norm <= lane_lit(R(0.0));
  const lane share = lane_select(none, lane_lit(R(0.0)),
                                 d_bar * slope / lane_select(none, lane_lit(R(1.0)), e->norm));
  for (int k = 0; k < e->rows; ++k) {
    out->r[k] += share * e->r[k];
  }
}

static vec3_r bars_at(const lane bars[6], int at)
{
  return make_r(bars[at], bars[at + 1], bars[at + 2]);
}

// Returns Q_b c conj(Q_a), which maps the cotangent c of between_turns to that of its x.
static quaternion_r between_turns_adjoint(const equality *e, vec3_r c)
{
  quaternion_r y;
  y.w = lane_lit(R(0.0));
  y.v = c;
  return quaternion_times_r(e->sides[1].turn,
                            quaternion_times_r(y, quaternion_conjugate_r(e->sides[0].turn)));
}

// Returns the torque on a side from the rotations of Q_a and Q_b. x is the factor between them and
// g its cotangent.
static vec3_r between_turns_torque(quaternion_r g, quaternion_r x, lane sign)
{
  const vec3_r along = sub3_r(scale3_r(g.v, x.w), scale3_r(x.v, g.w));
  return scale3_r(mad3_r(along, sign, cross3_r(g.v, x.v)), lane_lit(R(0.5)));
}

// Returns the angular velocity of a link, either under y or its own.
static vec3_r equality_turn(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                            int link, int which)
{
  if (link < 0) {
    return lit3(R(0.0), R(0.0), R(0.0));
  }
  return which == EQUALITY_OF_V ? block_get3(b, n->at_velocity + 6 * link)
                                : pair_first(k, link_adjoint(n, link) + LINK_BACK_TWIST_Y);
}

// One side in the reverse pass: its link, the offset of the link's numbers, and its sign.
typedef struct equality_back {
  int link, at;
  lane sign;
  vec3_r arm, moment; // from the link's origin; the torque of the link's pose cotangent
} equality_back;

// Propagates the cotangents of rows' products with y or v to the link of a side.
static void equality_twists_adjoint(const world_block *b, const world_block *k,
                                    GLOBAL const world_sizes *n, const equality *e,
                                    const equality_bars *bars, int which, equality_back *s)
{
  const int place = s->at + (which == EQUALITY_OF_V ? LINK_BACK_V : LINK_BACK_Y);
  const vec3_r turn = equality_turn(b, k, n, s->link, which),
               force = scale3_r(bars_at(bars->of[which], 0), s->sign);
  pair_add(k, place, cross3_r(s->arm, force), force);
  s->moment = add3_r(s->moment, cross3_r(s->arm, cross3_r(force, turn)));
  if (e->rows == 6) {
    const real share = R(0.5) * e->reals[EQUALITY_TORQUE];
    const quaternion_r g =
      between_turns_adjoint(e, scale3_r(bars_at(bars->of[which], 3), lane_lit(share)));
    quaternion_r x;
    x.w = lane_lit(R(0.0));
    x.v = sub3_r(equality_turn(b, k, n, e->ints[EQUALITY_A], which),
                 equality_turn(b, k, n, e->ints[EQUALITY_B], which));
    block_add3(k, place, scale3_r(g.v, s->sign));
    s->moment = add3_r(s->moment, between_turns_torque(g, x, s->sign));
  }
}

// Propagates the cotangents of rows' accelerations to the link of a side.
static void equality_accelerations_adjoint(const world_block *b, const world_block *k,
                                           GLOBAL const world_sizes *n, const equality *e,
                                           const equality_bars *bars, int side, equality_back *s)
{
  const vec3_r none = lit3(R(0.0), R(0.0), R(0.0)); // the base is not used here
  const equality_motion sides[2] = {equality_motion_of(b, n, e, 0, none),
                                    equality_motion_of(b, n, e, 1, none)};
  const vec3_r w = sides[side].turn, alpha = sides[side].alpha, arm = s->arm,
               force = scale3_r(bars_at(bars->of[EQUALITY_OF_A], 0), s->sign);
  const vec3_r fw = cross3_r(force, w);
  pair_add(k, s->at + LINK_BACK_A, cross3_r(arm, force), force);
  block_add3(k, s->at + LINK_BACK_V, add3_r(cross3_r(cross3_r(w, arm), force), cross3_r(arm, fw)));
  s->moment = add3_r(s->moment, cross3_r(arm, add3_r(cross3_r(force, alpha), cross3_r(fw, w))));
  if (e->rows == 6) {
    const real share = R(0.5) * e->reals[EQUALITY_TORQUE];
    const quaternion_r g =
      between_turns_adjoint(e, scale3_r(bars_at(bars->of[EQUALITY_OF_A], 3), lane_lit(share)));
    const vec3_r off = sub3_r(sides[0].turn, sides[1].turn), other = sides[!side].turn;
    const vec3_r by_turns = scale3_r(cross3_r(other, g.v), s->sign);
    block_add3(k, s->at + LINK_BACK_A, scale3_r(g.v, s->sign));
    block_add3(k, s->at + LINK_BACK_V, mad3_r(off, -s->sign * g.w, by_turns));
    s->moment =
      add3_r(s->moment, between_turns_torque(g, equality_spin(&sides[0], &sides[1]), s->sign));
  }
}

// Propagates the cotangents of an equality between links to the link of a side.
static void equality_side_adjoint(const world_block *b, const world_block *k,
                                  GLOBAL const world_sizes *n, const equality *e,
                                  const equality_bars *bars, int side)
{
  equality_back s;
  s.link = e->ints[side ? EQUALITY_B : EQUALITY_A];
  s.sign = lane_lit(side ? R(-1.0) : R(1.0));
  if (s.link < 0) { // the world does not turn, and its acceleration is minus gravity
    block_add3(k, n->at_back_parameters + n->links + 2 * n->columns,
               scale3_r(bars_at(bars->of[EQUALITY_OF_A], 0), -s.sign));
    return;
  }
  const vec3_r point_bar = scale3_r(bars_at(bars->r, 0), s.sign);
  s.at = link_adjoint(n, s.link);
  s.arm = sub3_r(e->sides[side].at, block_get3(b, n->at_origin + 3 * s.link));
  s.moment = cross3_r(s.arm, point_bar);
  equality_twists_adjoint(b, k, n, e, bars, EQUALITY_OF_Y, &s);
  equality_twists_adjoint(b, k, n, e, bars, EQUALITY_OF_V, &s);
  equality_accelerations_adjoint(b, k, n, e, bars, side, &s);
  if (e->rows == 6) {
    const quaternion_r g =
      between_turns_adjoint(e, scale3_r(bars_at(bars->r, 3), lane_lit(e->reals[EQUALITY_TORQUE])));
    quaternion_r one;
    one.w = lane_lit(R(1.0));
    one.v = lit3(R(0.0), R(0.0), R(0.0));
    s.moment = add3_r(s.moment, between_turns_torque(g, one, s.sign));
  }
  pair_add(k, s.at + LINK_BACK_POSE, s.moment, point_bar);
}

// Propagates the cotangents to the positions and rates of the joints of both coordinates. The
// polynomial's effect on rates depends on the position of the second coordinate.
static void equality_coordinates_adjoint(const world_block *b, const world_block *k,
                                         GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                         GLOBAL const real *reals, const equality *e,
                                         const equality_bars *bars, GLOBAL const real *q,
                                         GLOBAL const real *rates[3])
{
  const int a = e->ints[EQUALITY_A], c = e->ints[EQUALITY_B];
  coordinate_add(k, n, ints, reals, a, bars->r[0], n->at_back_q, 1);
  coordinate_add(k, n, ints, reals, a, bars->of[EQUALITY_OF_V][0], n->at_back_v, 1);
  if (c >= 0) {
    const lane at = equality_other(b, n, ints, reals, e, q);
    const lane slope = equality_polynomial(e, at, 1), bend = equality_polynomial(e, at, 2);
    lane bar = -slope * bars->r[0];
    for (int which = 0; which < 3; ++which) {
      const lane rate = which == EQUALITY_OF_Y
                          ? coordinate_back(k, n, ints, reals, c, n->at_back_y)
                          : coordinate_sum(b, n, ints, reals, c, rates[which], n->nv, MEMBER_V);
      bar -= bend * rate * bars->of[which][0];
    }
    coordinate_add(k, n, ints, reals, c, bar, n->at_back_q, 1);
    coordinate_add(k, n, ints, reals, c, -slope * bars->of[EQUALITY_OF_V][0], n->at_back_v, 1);
  }
}

// Between world_tree_adjoint_start and world_tree_adjoint, one work-item adds, in a block of
// worlds, the contributions of equalities to links and joints.
ADJOINT_KERNEL void world_equalities_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                             GLOBAL const real *reals, GLOBAL const real *q,
                                             GLOBAL const real *v, GLOBAL const real *acceleration,
                                             GLOBAL const real *parameters, int shared,
                                             GLOBAL real *scratch, GLOBAL real *memory, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  GLOBAL const real *rows[3] = {(GLOBAL const real *)0, acceleration, v};
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < n->equalities; ++i) {
    const equality e = equality_at(&b, n, ints, reals, q, i);
    lane rates[3][6];
    equality_bars bars;
    // the links' accelerations are those of the start of the pass
    equality_accelerations(&b, n, &e, neg3_r(gravity_of(&b, n, parameters, shared)),
                           rates[EQUALITY_OF_A]);
    for (int row = 0; row < e.rows; ++row) {
      lane y = lane_lit(R(0.0));
      for (int j = 0; j < e.tree.count; ++j) {
        const int dof = e.tree.dofs[j];
        y += block_get(&b, n->at_equality + 6 * dof + row) * block_get(&k, n->at_back_y + dof);
      }
      rates[EQUALITY_OF_Y][row] = y;
      if (e.kind == EQUALITY_COORDINATES) {
        rates[EQUALITY_OF_A][row] = equality_rate(&b, n, &e, row, acceleration);
      }
      rates[EQUALITY_OF_V][row] = equality_rate(&b, n, &e, row, v);
    }
    equality_pull(&e, rates, &bars);
    if (e.kind == EQUALITY_COORDINATES) {
      equality_coordinates_adjoint(&b, &k, n, ints, reals, &e, &bars, q, rows);
    } else {
      equality_side_adjoint(&b, &k, n, &e, &bars, 0);
      equality_side_adjoint(&b, &k, n, &e, &bars, 1);
    }
  }
}
