// The impulse between two links that collide, and its effect on joint velocities.

// The collision of two links: the velocity of the first relative to the second, its change by an
// impulse on the first and the opposite impulse on the second, the normal out of the second,
// friction and restitution.
typedef struct sweep_touch {
  real v[3], k[3][3], n[3], friction, restitution;
} sweep_touch;

// The same along its own axes: the normal and two tangents.
typedef struct sweep_frame {
  real axis[3][3], v[3], k[3][3];
} sweep_frame;

static void sweep_set_frame(sweep_frame *s, const sweep_touch *t)
{
  for (int i = 0; i < 3; ++i) {
    s->axis[0][i] = t->n[i];
  }
  sweep_tangent(t->n, s->axis[1]);
  sweep_cross(s->axis[0], s->axis[1], s->axis[2]);
  for (int i = 0; i < 3; ++i) {
    s->v[i] = sweep_dot(s->axis[i], t->v);
    for (int j = 0; j < 3; ++j) {
      const real column[3] = {sweep_dot(t->k[0], s->axis[j]), sweep_dot(t->k[1], s->axis[j]),
                              sweep_dot(t->k[2], s->axis[j])};
      s->k[i][j] = sweep_dot(s->axis[i], column);
    }
  }
}

// Finds the impulse f that changes the normal speed by `change` and either stops the tangential
// motion or slides. f is unchanged if friction jams.
static void sweep_rub(const sweep_frame *s, real change, real friction, real f[3])
{
  const real plain = change / s->k[0][0];
  // The equations of the tangents after eliminating the normal.
  const real a = s->k[1][1] - s->k[1][0] * s->k[0][1] / s->k[0][0],
             c = s->k[2][2] - s->k[2][0] * s->k[0][2] / s->k[0][0];
  const real d = s->k[1][2] - s->k[1][0] * s->k[0][2] / s->k[0][0],
             more = SWEEP_LEAST * (s->k[1][1] + s->k[2][2]);
  const real g = -s->v[1] - s->k[1][0] * plain, h = -s->v[2] - s->k[2][0] * plain;
  const real size = (a + more) * (c + more) - d * d;
  const real held[2] = {((c + more) * g - d * h) / size, ((a + more) * h - d * g) / size};
  const real push = (change - s->k[0][1] * held[0] - s->k[0][2] * held[1]) / s->k[0][0];
  if (size > R(0.0) && real_sqrt(held[0] * held[0] + held[1] * held[1]) <= friction * push) {
    f[0] = push;
    f[1] = held[0];
    f[2] = held[1];
    return;
  }
  const real slip = real_sqrt(s->v[1] * s->v[1] + s->v[2] * s->v[2]);
  const real along[2] = {slip > R(0.0) ? -friction * s->v[1] / slip : R(0.0),
                         slip > R(0.0) ? -friction * s->v[2] / slip : R(0.0)};
  const real whole = s->k[0][0] + s->k[0][1] * along[0] + s->k[0][2] * along[1];
  if (whole > SWEEP_JAMS * s->k[0][0]) {
    f[0] = change / whole;
    f[1] = f[0] * along[0];
    f[2] = f[0] * along[1];
  }
}

// Finds the impulse p after which bodies separate along the normal at the approach speed times the
// restitution. Friction sticks if the force is within its cone; otherwise it acts against the slip.
// Friction is omitted if it would jam the bodies or add energy.
static void sweep_impulse(const sweep_touch *t, real p[3])
{
  sweep_frame s;
  real energy = R(0.0);
  sweep_set_frame(&s, t);
  const int closes = s.v[0] < R(0.0) && s.k[0][0] > R(0.0);
  const real change = -(R(1.0) + t->restitution) * s.v[0],
             plain = closes ? change / s.k[0][0] : R(0.0);
  real f[3] = {plain, R(0.0), R(0.0)};
  if (closes && t->friction > R(0.0)) {
    sweep_rub(&s, change, t->friction, f);
  }
  for (int i = 0; i < 3; ++i) {
    energy += f[i] * (s.v[i] + R(0.5) * sweep_dot(s.k[i], f));
  }
  if (!(energy <= R(0.0))) {
    f[0] = plain;
    f[1] = f[2] = R(0.0);
  }
  for (int i = 0; i < 3; ++i) {
    p[i] = s.axis[0][i] * f[0] + s.axis[1][i] * f[1] + s.axis[2][i] * f[2];
  }
}

// Writes J (3, nv), which maps rates to the velocity of a group's first link relative to its second
// at their contact, followed by inv(L) J' (3, nv).
static void sweep_jacobian(GLOBAL const world_sizes *n, GLOBAL const int *ints, const world_one *o,
                           int group, const real at[3], GLOBAL real *work)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  const int nv = n->nv;
  for (int i = 0; i < 3 * nv; ++i) {
    work[i] = R(0.0);
  }
  for (int m = 0; m < g[GROUP_DOFS]; ++m, mover += MOVER_INTS) {
    const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
    const tree_link l = link_at(n, ints, link);
    real axis[3], arm[3], swing[3];
    for (int k = 0; k < 3; ++k) {
      axis[k] = one_real(o, n->at_axis + 3 * dof + k);
      arm[k] =
        at[k] - one_real(o, n->at_origin + 3 * link + k) + one_real(o, n->at_arm + 3 * link + k);
    }
    sweep_cross(axis, arm, swing);
    for (int k = 0; k < 3; ++k) {
      work[k * nv + dof] =
        (real)mover[MOVER_SIGN] * (dof_turns(&l, dof - l.v) ? swing[k] : axis[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    GLOBAL real *x = work + (3 + k) * nv;
    for (int tree = 0; tree < n->trees; ++tree) {
      const mass_tree t = mass_tree_of(n, ints, tree);
      for (int i = 0; i < t.count; ++i) {
        const int row = n->at_factor + t.block + i * t.count;
        real sum = work[k * nv + t.dofs[i]];
        for (int j = 0; j < i; ++j) {
          sum -= one_real(o, row + j) * x[t.dofs[j]];
        }
        x[t.dofs[i]] = sum * one_real(o, row + i);
      }
    }
  }
}

// Adds inv(M) J' p to v, from inv(L) J' p.
static void sweep_push(GLOBAL const world_sizes *n, GLOBAL const int *ints, const world_one *o,
                       GLOBAL real *work, const real p[3], GLOBAL real *v)
{
  const int nv = n->nv;
  GLOBAL real *x = work + 6 * nv;
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = t.count - 1; i >= 0; --i) {
      const int column = n->at_factor + t.block + i, dof = t.dofs[i];
      real sum = work[3 * nv + dof] * p[0] + work[4 * nv + dof] * p[1] + work[5 * nv + dof] * p[2];
      for (int j = i + 1; j < t.count; ++j) {
        sum -= one_real(o, column + j * t.count) * x[t.dofs[j]];
      }
      x[dof] = sum * one_real(o, column + i * t.count);
      v[dof] += x[dof];
    }
  }
}
