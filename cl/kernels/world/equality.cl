// Equality constraints: connections, welds, and coupled coordinates; docs/dev/cone-formulas.md,
// section 9. Each has up to six rows that act in both directions, so its cost is quadratic in the
// accelerations. It is part of the mass matrix, as M + J' D J, and needs no iterations of the
// solver. All links that an equality joins are in the block of one tree (scene/trees.h).

// The pose of one side of an equality: its point and its orientation.
typedef struct equality_side {
  vec at;
  FN(quaternion) turn;
} equality_side;

// One equality in a block of worlds. Its rows J are at at_equality of the worlds' numbers, six per
// degree of freedom. r are their residuals, `norm` is the length of r, and `impedance` is that of
// all rows.
typedef struct equality {
  int kind, rows;
  GLOBAL const int *ints;
  GLOBAL const real *reals;
  mass_tree tree;
  equality_side sides[2]; // if it joins links
  num r[6], norm, impedance;
} equality;

static equality_side equality_side_of(const world_block *b, GLOBAL const world_sizes *n,
                                      const equality *e, int side)
{
  const int link = e->ints[side ? EQUALITY_B : EQUALITY_A];
  GLOBAL const real *place = e->reals + (side ? EQUALITY_PLACE_B : EQUALITY_PLACE_A);
  equality_side s;
  s.at = real3(place);
  s.turn = quaternion_real(place + 3);
  if (link >= 0) {
    s.at = FN(add3)(block_get3(b, n->at_origin + 3 * link),
                    block_rotate(b, n->at_rotation + 9 * link, s.at));
    s.turn = FN(quaternion_times)(block_quaternion(b, n->at_quaternion + 4 * link), s.turn);
  }
  return s;
}

static FN(quaternion) FN(quaternion_conjugate)(FN(quaternion) a)
{
  a.v = FN(neg3)(a.v);
  return a;
}

// Returns conj(Q_b) x Q_a, where Q_a and Q_b are the orientations of the sides.
static FN(quaternion) between_turns(const equality *e, FN(quaternion) x)
{
  return FN(quaternion_times)(FN(quaternion_conjugate)(e->sides[1].turn),
                              FN(quaternion_times)(x, e->sides[0].turn));
}

// ---- coordinates: weighted sums of joint positions ----

static GLOBAL const int *coordinate_ints(GLOBAL const world_sizes *n, GLOBAL const int *ints, int i)
{
  return ints + n->at_coordinates + COORDINATE_INTS * i;
}

// Returns the weighted sum of numbers of rows (worlds, width). `which` selects a member's number:
// MEMBER_Q for positions, MEMBER_V for rates.
static num coordinate_sum(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *reals, int i, GLOBAL const real *rows, int width,
                          int which)
{
  GLOBAL const int *own = coordinate_ints(n, ints, i);
  num sum = n_lit(R(0.0));
  for (int k = own[COORDINATE_AT]; k < own[COORDINATE_AT] + own[COORDINATE_COUNT]; ++k) {
    sum = n_smad(row_get(b, rows, width, ints[n->at_members + MEMBER_INTS * k + which]),
                 reals[n->at_member_reals + k], sum);
  }
  return sum;
}

// Adds x times the weights of a coordinate to numbers at `at`, which are `step` apart.
static void coordinate_add(const world_block *b, GLOBAL const world_sizes *n,
                           GLOBAL const int *ints, GLOBAL const real *reals, int i, num x, int at,
                           int step)
{
  GLOBAL const int *own = coordinate_ints(n, ints, i);
  for (int k = own[COORDINATE_AT]; k < own[COORDINATE_AT] + own[COORDINATE_COUNT]; ++k) {
    block_add(b, at + step * ints[n->at_members + MEMBER_INTS * k + MEMBER_V],
              n_scale(x, reals[n->at_member_reals + k]));
  }
}

// Returns the distance of the second coordinate of an equality from its start value.
static num equality_other(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *reals, const equality *e, GLOBAL const real *q)
{
  return n_shift(coordinate_sum(b, n, ints, reals, e->ints[EQUALITY_B], q, n->nq, MEMBER_Q),
                 -e->reals[EQUALITY_START_B]);
}

// Returns derivative 0, 1 or 2 of the equality's polynomial at x.
static num equality_polynomial(const equality *e, num x, int derivative)
{
  num sum = n_lit(R(0.0));
  for (int k = 4; k >= derivative; --k) {
    const real factor = derivative == 0 ? R(1.0) : derivative == 1 ? (real)k : (real)(k * (k - 1));
    sum = n_shift(n_mul(sum, x), factor * e->reals[EQUALITY_POLYNOMIAL + k]);
  }
  return sum;
}

// ---- rows ----

// Adds the rows of one side: the motion of its pose per degree of freedom that moves its link.
static void equality_side_rows(const world_block *b, GLOBAL const world_sizes *n,
                               GLOBAL const int *ints, const equality *e, int side)
{
  const num sign = n_lit(side ? R(-1.0) : R(1.0));
  const real share = R(0.5) * e->reals[EQUALITY_TORQUE];
  for (int link = e->ints[side ? EQUALITY_B : EQUALITY_A]; link >= 0;) {
    const tree_link l = link_at(n, ints, link);
    const vec joint =
      FN(sub3)(block_get3(b, n->at_origin + 3 * link), block_get3(b, n->at_arm + 3 * link));
    for (int k = 0; k < l.dofs; ++k) {
      const int at = n->at_equality + 6 * (l.v + k);
      const vec axis = FN(scale3)(block_get3(b, n->at_axis + 3 * (l.v + k)), sign);
      num twist[6];
      FN(joint_twist)(dof_turns(&l, k), axis, FN(sub3)(e->sides[side].at, joint), twist);
      block_add3(b, at, FN(make)(twist[3], twist[4], twist[5]));
      if (e->rows == 6) {
        const FN(quaternion) turn = {n_lit(R(0.0)), FN(make)(twist[0], twist[1], twist[2])};
        block_add3(b, at + 3, FN(scale3)(between_turns(e, turn).v, n_lit(share)));
      }
    }
    link = l.parent;
  }
}

static void equality_residual3(equality *e, int at, vec r)
{
  e->r[at] = r.x;
  e->r[at + 1] = r.y;
  e->r[at + 2] = r.z;
}

// Evaluates equality i with links placed by q. Writes its rows to at_equality, for the degrees of
// freedom of its tree, and returns everything else.
static equality equality_at(const world_block *b, GLOBAL const world_sizes *n,
                            GLOBAL const int *ints, GLOBAL const real *reals, GLOBAL const real *q,
                            int i)
{
  equality e;
  e.ints = ints + n->at_equalities + EQUALITY_INTS * i;
  e.reals = reals + n->at_equality_reals + EQUALITY_REALS * i;
  e.kind = e.ints[EQUALITY_KIND];
  e.rows = EQUALITY_ROWS(e.kind);
  e.tree = mass_tree_of(n, ints, e.ints[EQUALITY_TREE]);
  for (int k = 0; k < 6 * e.tree.count; ++k) {
    block_put(b, n->at_equality + 6 * e.tree.dofs[k / 6] + k % 6, n_lit(R(0.0)));
  }
  for (int k = 0; k < 6; ++k) {
    e.r[k] = n_lit(R(0.0));
  }
  if (e.kind == EQUALITY_COORDINATES) {
    num r = n_shift(coordinate_sum(b, n, ints, reals, e.ints[EQUALITY_A], q, n->nq, MEMBER_Q),
                    -e.reals[EQUALITY_START_A]);
    num other = n_lit(R(0.0));
    coordinate_add(b, n, ints, reals, e.ints[EQUALITY_A], n_lit(R(1.0)), n->at_equality, 6);
    if (e.ints[EQUALITY_B] >= 0) {
      other = equality_other(b, n, ints, reals, &e, q);
      coordinate_add(b, n, ints, reals, e.ints[EQUALITY_B],
                     n_neg(equality_polynomial(&e, other, 1)), n->at_equality, 6);
    }
    e.r[0] = n_sub(r, equality_polynomial(&e, other, 0));
  } else {
    e.sides[0] = equality_side_of(b, n, &e, 0);
    e.sides[1] = equality_side_of(b, n, &e, 1);
    equality_residual3(&e, 0, FN(sub3)(e.sides[0].at, e.sides[1].at));
    if (e.rows == 6) {
      const FN(quaternion) one = {n_lit(R(1.0)), lit3(R(0.0), R(0.0), R(0.0))};
      equality_residual3(&e, 3,
                         FN(scale3)(between_turns(&e, one).v, n_lit(e.reals[EQUALITY_TORQUE])));
    }
    equality_side_rows(b, n, ints, &e, 0);
    equality_side_rows(b, n, ints, &e, 1);
  }
  num square = n_lit(R(0.0));
  for (int k = 0; k < e.rows; ++k) {
    square = n_mad(e.r[k], e.r[k], square);
  }
  const n_mask none = n_value(square) <= n_plain(R(0.0));
  const num root = n_sqrt(n_select(none, n_lit(R(1.0)), square));
  e.norm = n_select(none, n_lit(R(0.0)), root);
  e.impedance = FN(impedance)(e.reals + EQUALITY_SOFT, e.norm);
  return e;
}

// Returns the stiffness D of a row.
static num equality_stiffness(const equality *e, int row)
{
  const real weight = e->reals[row < 3 ? EQUALITY_WEIGHT : EQUALITY_TURN_WEIGHT];
  return FN(row_stiffness)(e->impedance, n_lit(weight));
}

// Returns J rates of a row, for rates (worlds, nv).
static num equality_rate(const world_block *b, GLOBAL const world_sizes *n, const equality *e,
                         int row, GLOBAL const real *rates)
{
  num sum = n_lit(R(0.0));
  for (int k = 0; k < e->tree.count; ++k) {
    const int dof = e->tree.dofs[k];
    sum = n_mad(block_get(b, n->at_equality + 6 * dof + row), row_get(b, rates, n->nv, dof), sum);
  }
  return sum;
}

// The motion of the link of a side: its angular velocity, angular acceleration and acceleration, in
// the frame in which the world accelerates by `base`.
typedef struct equality_motion {
  vec turn, alpha, along;
} equality_motion;

static equality_motion equality_motion_of(const world_block *b, GLOBAL const world_sizes *n,
                                          const equality *e, int side, vec base)
{
  const int link = e->ints[side ? EQUALITY_B : EQUALITY_A];
  equality_motion m;
  m.turn = m.alpha = lit3(R(0.0), R(0.0), R(0.0));
  m.along = base;
  if (link >= 0) {
    m.turn = block_get3(b, n->at_velocity + 6 * link);
    m.alpha = block_get3(b, n->at_acceleration + 6 * link);
    m.along = FN(carried)(block_get3(b, n->at_acceleration + 6 * link + 3), m.alpha, m.turn,
                          FN(sub3)(e->sides[side].at, block_get3(b, n->at_origin + 3 * link)));
  }
  return m;
}

// Returns the part between Q_a and Q_b of the second time derivative of rotational rows: the
// angular accelerations, and the terms in the angular velocities.
static FN(quaternion) equality_spin(const equality_motion *a, const equality_motion *b)
{
  const vec off = FN(sub3)(a->turn, b->turn);
  FN(quaternion) y;
  y.w = n_scale(FN(dot3)(off, off), R(-0.5));
  y.v = FN(add3)(FN(sub3)(a->alpha, b->alpha), FN(cross3)(a->turn, b->turn));
  return y;
}

// Writes the accelerations of rows, J a + dJ/dt v, for the links' accelerations in at_acceleration.
// Coordinates get zeros: they have no dJ/dt v (MuJoCo omits that of polynomials).
static void equality_accelerations(const world_block *b, GLOBAL const world_sizes *n,
                                   const equality *e, vec base, num out[6])
{
  for (int k = 0; k < 6; ++k) {
    out[k] = n_lit(R(0.0));
  }
  if (e->kind != EQUALITY_COORDINATES) {
    const equality_motion a = equality_motion_of(b, n, e, 0, base),
                          c = equality_motion_of(b, n, e, 1, base);
    const vec off = FN(sub3)(a.along, c.along);
    out[0] = off.x;
    out[1] = off.y;
    out[2] = off.z;
    if (e->rows == 6) {
      const vec turned = FN(scale3)(between_turns(e, equality_spin(&a, &c)).v,
                                    n_lit(R(0.5) * e->reals[EQUALITY_TORQUE]));
      out[3] = turned.x;
      out[4] = turned.y;
      out[5] = turned.z;
    }
  }
}

// Returns a row's reference acceleration -B J v - K d(r) r.
static num equality_reference(const world_block *b, GLOBAL const world_sizes *n, const equality *e,
                              int row, GLOBAL const real *v)
{
  const num spring = n_mul(e->impedance, n_scale(e->r[row], -e->reals[EQUALITY_SOFT + SOFT_K]));
  return n_smad(equality_rate(b, n, e, row, v), -e->reals[EQUALITY_SOFT + SOFT_B], spring);
}

// ---- the mass matrix with equalities ----

// Writes M + J' D J to at_system, with links placed by q. If v is given, it adds J' D (ref - dJ/dt
// v) to the numbers at at_free. at_acceleration must then be that of zero joint accelerations, in
// the frame in which the world accelerates by `base`.
static void equality_system(const world_block *b, GLOBAL const world_sizes *n,
                            GLOBAL const int *ints, GLOBAL const real *reals, GLOBAL const real *q,
                            GLOBAL const real *v, vec base)
{
  for (int i = 0; i < n->blocks && n->equalities; ++i) {
    block_put(b, n->at_system + i, block_get(b, n->at_mass + i));
  }
  for (int i = 0; i < n->equalities; ++i) {
    const equality e = equality_at(b, n, ints, reals, q, i);
    const mass_tree t = e.tree;
    num carried[6];
    if (v) {
      equality_accelerations(b, n, &e, base, carried);
    }
    for (int row = 0; row < e.rows; ++row) {
      const num d = equality_stiffness(&e, row);
      const num push = v ? n_mul(d, n_sub(equality_reference(b, n, &e, row, v), carried[row]))
                         : n_lit(R(0.0));
      for (int k = 0; k < t.count; ++k) {
        const num own = block_get(b, n->at_equality + 6 * t.dofs[k] + row), stiff = n_mul(d, own);
        for (int j = 0; j <= k; ++j) {
          const num other = block_get(b, n->at_equality + 6 * t.dofs[j] + row);
          const int at = n->at_system + t.block + k * t.count + j;
          block_put(b, at, n_mad(stiff, other, block_get(b, at)));
        }
        if (v) {
          block_put(b, n->at_free + t.dofs[k],
                    n_mad(push, own, block_get(b, n->at_free + t.dofs[k])));
        }
      }
    }
  }
}
