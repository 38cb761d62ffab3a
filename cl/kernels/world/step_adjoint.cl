// From cotangents of the next state to those of accelerations: the adjoint of step.cl,
// docs/dev/cone-formulas.md, sections 10 and 11.

// Returns the first of the three rotational degrees of freedom of a ball or free joint.
static int turning_at(const tree_link *l)
{
  return l->v + JOINT_MOVES(l->type);
}

// Writes the cotangents of q and s from the cotangent c of q (+) s for a rotation: R(s) c, and
// J(s)' c, where J is the exponential's derivative.
static void moved_adjoint(vec s, vec c, vec *q_bar, vec *s_bar)
{
  num a, b, d, cosine;
  FN(exp_coefficients)(FN(dot3)(s, s), &a, &b, &d, &cosine);
  const vec turned = FN(cross3)(s, c), twice = FN(cross3)(s, turned);
  *s_bar = FN(mad3)(twice, d, FN(mad3)(turned, b, c));
  *q_bar = FN(mad3)(twice, b, FN(mad3)(turned, a, c));
}

// Finds the step's own acceleration inv(M + h damping) M a, where a is the solver's (worlds, nv).
// Leaves it at at_free of b, and the factor of M + h damping at at_factor. The difference between
// the two accelerations goes to at_back_less of k. h is the step's length, or 0 if nothing is
// damped within it and the two are equal.
static void step_acceleration(const world_block *b, const world_block *k,
                              GLOBAL const world_sizes *n, GLOBAL const int *ints,
                              GLOBAL const real *reals, GLOBAL const real *acceleration, real h)
{
  const int nv = n->nv;
  for (int i = 0; i < nv && !(h > R(0.0)); ++i) {
    block_put(b, n->at_free + i, row_get(b, acceleration, nv, i));
  }
  for (int tree = 0; tree < n->trees && h > R(0.0); ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      num sum = n_lit(R(0.0));
      for (int j = 0; j < t.count; ++j) {
        sum = n_mad(block_get(b, n->at_mass + lower_place(&t, i, j)),
                    row_get(b, acceleration, nv, t.dofs[j]), sum);
      }
      block_put(b, n->at_free + t.dofs[i], sum);
    }
  }
  if (h > R(0.0)) {
    block_factor(b, n, ints, reals, n->at_mass, n->at_factor, h);
    block_solve(b, n, ints, n->at_factor, n->at_free);
  }
  for (int i = 0; i < nv; ++i) {
    block_put(k, n->at_back_less + i,
              n_sub(block_get(b, n->at_free + i), row_get(b, acceleration, nv, i)));
  }
}

// Converts the cotangent of the step's own acceleration, at at_back_slow of k, to that of the
// solver's: out (worlds, nv) = M y_h, where y_h = inv(M + h damping) times it. -y_h remains at
// at_back_slow, where the tree reads it.
static void acceleration_adjoint(const world_block *b, const world_block *k,
                                 GLOBAL const world_sizes *n, GLOBAL const int *ints, real h,
                                 GLOBAL real *out)
{
  const int nv = n->nv, slow = n->at_back_slow;
  if (h > R(0.0)) { // solving needs the vector in b, where the factor is
    for (int i = 0; i < nv; ++i) {
      block_put(b, n->at_free + i, block_get(k, slow + i));
    }
    block_solve(b, n, ints, n->at_factor, n->at_free);
    for (int i = 0; i < nv; ++i) {
      block_put(k, slow + i, block_get(b, n->at_free + i));
    }
  }
  for (int i = 0; i < nv && !(h > R(0.0)); ++i) {
    row_put(b, out, nv, i, block_get(k, slow + i));
  }
  for (int tree = 0; tree < n->trees && h > R(0.0); ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      num sum = n_lit(R(0.0));
      for (int j = 0; j < t.count; ++j) {
        sum = n_mad(block_get(b, n->at_mass + lower_place(&t, i, j)),
                    block_get(k, slow + t.dofs[j]), sum);
      }
      row_put(b, out, nv, t.dofs[i], sum);
    }
  }
  for (int i = 0; i < nv; ++i) {
    block_put(k, slow + i, n_neg(block_get(k, slow + i)));
  }
}

// One work-item starts the reverse pass of an Euler step in a block of worlds. From the cotangents
// of q' and v', state (worlds, 2 nv), it makes that of the solver's acceleration, out (worlds, nv).
// The direct effects of q and v on the step's end go to the back block.
ADJOINT_KERNEL void world_euler_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                        GLOBAL const real *reals, GLOBAL const real *next_v,
                                        GLOBAL const real *acceleration, GLOBAL const real *state,
                                        GLOBAL real *scratch, GLOBAL real *memory, GLOBAL real *out,
                                        int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, slow = n->at_back_slow;
  const real h = reals[WORLD_STEP], damped = n->damped ? h : R(0.0);
  if (b.first > b.last) {
    return;
  }
  step_acceleration(&b, &k, n, ints, reals, acceleration, damped);
  for (int i = 0; i < nv; ++i) {
    block_put(&k, n->at_back_q + i, row_get(&b, state, 2 * nv, i));
    block_put(&k, slow + i, n_scale(row_get(&b, state, 2 * nv, i), h));
    block_put(&b, n->at_free + i, n_scale(row_get(&b, next_v, nv, i), h));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      vec q_bar, s_bar;
      moved_adjoint(block_get3(&b, n->at_free + at), block_get3(&k, n->at_back_q + at), &q_bar,
                    &s_bar);
      block_put3(&k, n->at_back_q + at, q_bar);
      block_put3(&k, slow + at, FN(scale3)(s_bar, n_lit(h)));
    }
  }
  for (int i = 0; i < nv; ++i) {
    const num v_bar = n_add(block_get(&k, slow + i), row_get(&b, state, 2 * nv, nv + i));
    block_put(&k, n->at_back_v + i, v_bar);
    block_put(&k, slow + i, n_scale(v_bar, h));
  }
  acceleration_adjoint(&b, &k, n, ints, damped, out);
}

// One work-item starts a reverse pass in a block of worlds that gives one row of a Jacobian: degree
// of freedom `dof` of the step's own acceleration has cotangent 1, and everything else 0. `slow` is
// 1 if dampers act within the step.
ADJOINT_KERNEL void world_unit_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                       GLOBAL const real *reals, GLOBAL const real *acceleration,
                                       int dof, int slow, GLOBAL real *scratch, GLOBAL real *memory,
                                       GLOBAL real *out, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const real h = slow && n->damped ? reals[WORLD_STEP] : R(0.0);
  if (b.first > b.last) {
    return;
  }
  step_acceleration(&b, &k, n, ints, reals, acceleration, h);
  for (int i = 0; i < n->nv; ++i) {
    block_put(&k, n->at_back_q + i, n_lit(R(0.0)));
    block_put(&k, n->at_back_v + i, n_lit(R(0.0)));
    block_put(&k, n->at_back_slow + i, n_lit(i == dof ? R(1.0) : R(0.0)));
  }
  for (int i = 0; i < PARAMETERS(n->links, n->columns); ++i) {
    block_put(&k, n->at_back_parameters + i, n_lit(R(0.0)));
  }
  acceleration_adjoint(&b, &k, n, ints, h, out);
}

// One work-item copies the cotangents of the contacts of one of `pair_count` world pairs, starting
// at `first`, in one segment from `bars`, of world_contacts_adjoint, to the manifold's cotangents
// of the segment. These are laid out in ps, ds, ns and as like the contacts in world_contacts. All
// elements of the segment are set to zero first.
MERGED
ADJOINT_KERNEL void world_contact_bars(GLOBAL const int *world_pairs, int first, int segment,
                                       GLOBAL const real *bars, GLOBAL const int *contact_places,
                                       GLOBAL real *ps, GLOBAL real *ds, GLOBAL real *ns,
                                       GLOBAL real *as, GLOBAL const int *list,
                                       contact_layout layout, int pair_count)
{
  const int row_at = (int)get_global_id(0);
  if (row_at >= pair_count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, first + row_at, WORLD_PAIR_INTS),
                   *mark = world_pair + WORLD_PAIR_MARKS;
  const int room = world_pair[WORLD_PAIR_PLANE];
  GLOBAL const int *places = contact_places + world_pair[WORLD_PAIR_AT],
                   *listed = segment_places(list, &layout);
  GLOBAL const real *from = ROW(bars, world_pair[WORLD_PAIR_AT], BAR_PLANES);
  const int count = segment_count(list, &layout, row_at);
  const int row = layout.row, row1 = layout.rows3 ? row / 3 : row;
  const int step3 = layout.step3, plane = layout.plane;
  GLOBAL real *p = ROW(ps, row_at, row) + layout.at_p, *d = ROW(ds, row_at, row1) + layout.at_d;
  GLOBAL real *normal = ROW(ns, row_at, row) + layout.at_n;
  GLOBAL real *a = ROW(as, row_at, row1) + layout.at_activity;
  for (int i = 0; i < count; ++i) {
    const int at = place_in(listed, i);
    d[at] = a[at] = R(0.0);
    for (int k = 0; k < 3; ++k) {
      p[step3 * at + k * plane] = normal[step3 * at + k * plane] = R(0.0);
    }
  }
  for (int i = mark[segment]; i < mark[segment + 1]; ++i) {
    const int at = places[i];
    d[at] = from[BAR_D * room + i];
    a[at] = from[BAR_ACTIVITY * room + i];
    for (int k = 0; k < 3; ++k) {
      p[step3 * at + k * plane] = from[(BAR_P + k) * room + i];
      normal[step3 * at + k * plane] = from[(BAR_N + k) * room + i];
    }
  }
}

// One work-item fills one world's row of rows (worlds, width) with zeros if the world has stopped,
// because a stopped world has no derivatives.
ADJOINT_KERNEL void world_silence(GLOBAL const int *status, int width, GLOBAL real *rows,
                                  int worlds)
{
  const int world = (int)get_global_id(0);
  if (world < worlds && (status[world] & WORLD_STOPPED)) {
    for (int i = 0; i < width; ++i) {
      ROW(rows, world, width)[i] = R(0.0);
    }
  }
}

// One work-item sets the cotangents of a block's parameters to zero, to which later kernels add.
ADJOINT_KERNEL void world_parameters_start(GLOBAL const world_sizes *n, GLOBAL real *memory,
                                           int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int width = PARAMETERS(n->links, n->columns);
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < width; ++i) {
    block_put(&k, n->at_back_parameters + i, n_lit(R(0.0)));
  }
}

// One work-item adds, in a block of worlds, the contributions of impacts within a step, slopes
// (worlds, SWEEP_SLOPES_OF), to the cotangents of mass scales and of friction. The friction of
// springs is not a parameter.
ADJOINT_KERNEL void world_impact_parameters(GLOBAL const world_sizes *n, GLOBAL const real *slopes,
                                            GLOBAL real *memory, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int some = n->pair_springs ? n->links : n->links + n->columns;
  const int width = SWEEP_SLOPES_OF(n->links, n->columns, n->nu - n->actuators);
  for (int i = 0; k.first <= k.last && i < some; ++i) {
    block_add(&k, n->at_back_parameters + i, row_get(&k, slopes, width, i));
  }
}

// One work-item copies `width` cotangents of a block's parameters, starting at `from`, to out
// (worlds, width).
ADJOINT_KERNEL void world_parameters_adjoint(GLOBAL const world_sizes *n, GLOBAL real *memory,
                                             int from, int width, GLOBAL real *out, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < width; ++i) {
    row_put(&k, out, width, i, block_get(&k, n->at_back_parameters + from + i));
  }
}

// ---- RK4 ----

// Sizes of rows: a step's four stages, each with its q, v, acceleration and rates (worlds, 4,
// STAGE_NUMBERS), and their cotangents (worlds, STAGE_BARS): those of q and of v at the step's
// beginning, then those of four rates and of four accelerations, nv numbers each.
#define STAGE_NUMBERS(nq, nv) ((nq) + 3 * (nv))
#define STAGE_BARS(nv) (10 * (nv))

// Returns the coordinates s of a stage (4 is the step's end) for three degrees of freedom, starting
// at `at`.
static vec stage_move(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *stages,
                      int stage, real h, int at)
{
  const int one = STAGE_NUMBERS(n->nq, n->nv), width = 4 * one, rates = n->nq + 2 * n->nv + at;
  if (stage < 4) {
    const real ahead = stage == 3 ? h : R(0.5) * h;
    return FN(scale3)(row_get3(b, stages, width, (stage - 1) * one + rates), n_lit(ahead));
  }
  const vec inner =
    FN(add3)(row_get3(b, stages, width, one + rates), row_get3(b, stages, width, 2 * one + rates));
  const vec outer =
    FN(add3)(row_get3(b, stages, width, rates), row_get3(b, stages, width, 3 * one + rates));
  return FN(scale3)(FN(mad3)(inner, n_lit(R(2.0)), outer), n_lit(h / R(6.0)));
}

// One work-item starts the reverse pass of an RK4 step in a block of worlds. From the cotangents of
// the step's end, state (worlds, 2 nv), it makes those of q and v at its beginning and of the four
// stages' rates and accelerations, bars (worlds, STAGE_BARS).
ADJOINT_KERNEL void world_stages_start(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                       GLOBAL const real *reals, GLOBAL const real *stages,
                                       GLOBAL const real *state, GLOBAL real *memory,
                                       GLOBAL real *bars, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, width = STAGE_BARS(nv);
  const real h = reals[WORLD_STEP];
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < nv; ++i) {
    block_put(&k, n->at_back_q + i, row_get(&k, state, 2 * nv, i));
    block_put(&k, n->at_back_y + i, row_get(&k, state, 2 * nv, i));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      vec q_bar, s_bar;
      moved_adjoint(stage_move(&k, n, stages, 4, h, at), block_get3(&k, n->at_back_q + at), &q_bar,
                    &s_bar);
      block_put3(&k, n->at_back_q + at, q_bar);
      block_put3(&k, n->at_back_y + at, s_bar);
    }
  }
  for (int i = 0; i < nv; ++i) {
    const num v_bar = row_get(&k, state, 2 * nv, nv + i);
    row_put(&k, bars, width, i, block_get(&k, n->at_back_q + i));
    row_put(&k, bars, width, nv + i, v_bar);
    for (int j = 0; j < 4; ++j) {
      const real part = h * (j == 1 || j == 2 ? R(2.0) : R(1.0)) / R(6.0);
      row_put(&k, bars, width, (2 + j) * nv + i, n_scale(block_get(&k, n->at_back_y + i), part));
      row_put(&k, bars, width, (6 + j) * nv + i, n_scale(v_bar, part));
    }
  }
}

// One work-item starts the reverse pass of one stage in a block of worlds: it copies the cotangents
// of the stage's acceleration to out (worlds, nv), and clears the sums of the tree.
ADJOINT_KERNEL void world_stage_start(GLOBAL const world_sizes *n, GLOBAL const real *bars,
                                      int stage, GLOBAL real *memory, GLOBAL real *out, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < nv; ++i) {
    block_put(&k, n->at_back_q + i, n_lit(R(0.0)));
    block_put(&k, n->at_back_v + i, n_lit(R(0.0)));
    block_put(&k, n->at_back_slow + i, n_lit(R(0.0)));
    block_put(&k, n->at_back_less + i, n_lit(R(0.0)));
    row_put(&k, out, nv, i, row_get(&k, bars, STAGE_BARS(nv), (6 + stage) * nv + i));
  }
}

// Returns d kappa / d t^2, and kappa in *kappa.
static num kappa_slope(num t2, num *kappa)
{
  const n_mask small = n_value(t2) < n_plain(R(1e-3));
  const num safe = n_select(small, n_lit(R(1.0)), t2), t = n_sqrt(safe), u = n_scale(t, R(0.5));
  const num sine = n_sin(u), cot = n_div(n_cos(u), sine);
  *kappa = FN(kappa)(t2);
  const num rise = n_scale(n_sub(n_div(u, n_mul(sine, sine)), cot), R(0.5));
  const num slope = n_div(n_sub(n_div(n_scale(rise, R(0.5)), t), *kappa), safe);
  const num near =
    n_shift(n_mul(t2, n_shift(n_scale(t2, R(2.4801587301587302e-06)), R(6.6137566137566137e-05))),
            R(1.3888888888888889e-03));
  return n_select(small, near, slope);
}

// Writes the cotangents of s and v from the cotangent c of exponential_rate(s, v).
static void rate_adjoint(vec s, vec v, vec c, vec *s_bar, vec *v_bar)
{
  num kappa;
  const num slope = kappa_slope(FN(dot3)(s, s), &kappa);
  const vec sv = FN(cross3)(s, v), sc = FN(cross3)(s, c);
  const num along = n_scale(n_mul(slope, FN(dot3)(c, FN(cross3)(s, sv))), R(2.0));
  *v_bar = FN(add3)(c, FN(mad3)(FN(cross3)(s, sc), kappa, FN(scale3)(sc, n_lit(R(-0.5)))));
  const vec by = FN(sub3)(FN(cross3)(sv, c), FN(cross3)(v, sc));
  *s_bar = FN(mad3)(s, along, FN(mad3)(by, kappa, FN(scale3)(FN(cross3)(v, c), n_lit(R(0.5)))));
}

// One work-item propagates, in a block of worlds, the cotangents of a stage's own q and v, in state
// (worlds, 2 nv) after the solve, to those of the step's beginning and of the rates and
// accelerations of the stage before, in bars (worlds, STAGE_BARS). After the first stage (0),
// `state` gets the sums: the cotangents of the step's q and v.
ADJOINT_KERNEL void world_stage_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                        GLOBAL const real *reals, GLOBAL const real *stages,
                                        int stage, GLOBAL real *memory, GLOBAL real *state,
                                        GLOBAL real *bars, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, width = STAGE_BARS(nv), one = STAGE_NUMBERS(n->nq, nv);
  const real h = reals[WORLD_STEP], ahead = stage == 3 ? h : R(0.5) * h;
  if (k.first > k.last) {
    return;
  }
  // Except for rotations, the rate is v, and q moves by s. at_back_y gets the cotangent of s,
  // at_back_z that of v.
  for (int i = 0; i < nv; ++i) {
    const num own = row_get(&k, state, 2 * nv, i);
    block_put(&k, n->at_back_q + i, own);
    block_put(&k, n->at_back_y + i, own);
    block_put(&k, n->at_back_z + i,
              n_add(row_get(&k, state, 2 * nv, nv + i),
                    row_get(&k, bars, width, (2 + stage) * nv + i)));
  }
  for (int i = 0; i < n->links && stage; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      const vec s = stage_move(&k, n, stages, stage, h, at);
      const vec v = row_get3(&k, stages, 4 * one, stage * one + n->nq + at);
      vec q_bar, s_bar, s_more, v_bar;
      moved_adjoint(s, block_get3(&k, n->at_back_q + at), &q_bar, &s_bar);
      rate_adjoint(s, v, row_get3(&k, bars, width, (2 + stage) * nv + at), &s_more, &v_bar);
      block_put3(&k, n->at_back_q + at, q_bar);
      block_put3(&k, n->at_back_y + at, FN(add3)(s_bar, s_more));
      block_put3(&k, n->at_back_z + at, FN(add3)(row_get3(&k, state, 2 * nv, nv + at), v_bar));
    }
  }
  for (int i = 0; i < nv; ++i) {
    const num q = n_add(row_get(&k, bars, width, i), block_get(&k, n->at_back_q + i));
    const num v = n_add(row_get(&k, bars, width, nv + i), block_get(&k, n->at_back_z + i));
    row_put(&k, bars, width, i, q);
    row_put(&k, bars, width, nv + i, v);
    if (stage) {
      const int rate = (1 + stage) * nv + i, acc = (5 + stage) * nv + i;
      row_put(&k, bars, width, rate,
              n_smad(block_get(&k, n->at_back_y + i), ahead, row_get(&k, bars, width, rate)));
      row_put(&k, bars, width, acc,
              n_smad(block_get(&k, n->at_back_z + i), ahead, row_get(&k, bars, width, acc)));
    } else {
      row_put(&k, state, 2 * nv, i, q);
      row_put(&k, state, 2 * nv, nv + i, v);
    }
  }
}
