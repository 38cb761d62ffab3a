// The accelerations that a world's contacts, limits and friction leave: Newton's method on a convex
// cost, one world a work-item, lanes over its contacts. Plain numbers alone.

#define SUMS_WRENCH 6                // moment, force
#define SUMS_BLOCK 21                // of the (6, 6) curvature
#define SUMS (SUMS_WRENCH + SUMS_BLOCK)
#define ROW_TERM_D 0
#define ROW_TERM_REF 1
#define ROW_TERM_ACTIVE 2            // 0: not there
#define ROW_TERMS 3
#define VECTOR_FREE 0
#define VECTOR_ACC 1
#define VECTOR_STEP 2
#define VECTOR_GRADIENT 3
#define VECTOR_SCALE 4
#define VECTOR_PUSH 5                // J' lambda
#define VECTOR_TURN 6                // M (acc - free)
#define VECTOR_ALONG 7               // M step
#define VECTORS 8

// What a work-item has of its world.
typedef struct newton {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *reals, *parameters;
  int shared, world;
  world_one tree;
  GLOBAL const real *contacts;
  GLOBAL const int *marks;
  GLOBAL real *columns, *hessian, *vectors, *row_terms, *sums;
} newton;

static GLOBAL real *newton_vector(const newton *s, int i) { return s->vectors + i * s->n->nv; }

static real mass_entry(const newton *s, int i, int k)
{
  const int nv = s->n->nv;
  return one_real(&s->tree, s->n->at_mass + (i > k ? i * nv + k : k * nv + i));
}

static void mass_times(const newton *s, GLOBAL const real *x, GLOBAL real *out)
{
  for (int i = 0; i < s->n->nv; ++i) {
    real sum = R(0.0);
    for (int k = 0; k < s->n->nv; ++k) {
      sum += mass_entry(s, i, k) * x[k];
    }
    out[i] = sum;
  }
}

static real dot_n(int count, GLOBAL const real *a, GLOBAL const real *b)
{
  real sum = R(0.0);
  for (int i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// ---- the penalty and its derivatives ----

// max(z, 0)^2 made twice differentiable within t of 0: value, slope, curvature.
typedef struct penalty {
  lane value, slope, bend;
} penalty;

static penalty penalty_of(lane z, real t)
{
  const lane zero = lane_lit(R(0.0)), p = lane_max(z, zero);
  penalty r;
  r.value = lane_select(z > zero, p * p + t * t * R(0.333333333333333333), zero);
  r.slope = R(2.0) * p;
  r.bend = lane_select(z > zero, lane_lit(R(2.0)), zero);
  if (t > R(0.0)) {
    const ilane inside = lane_abs(z) < lane_lit(t);
    const lane c = lane_max(z + t, zero), part = c / t;
    r.value = lane_select(inside, c * c * part * R(0.166666666666666667), r.value);
    r.slope = lane_select(inside, c * part * R(0.5), r.slope);
    r.bend = lane_select(inside, part, r.bend);
  }
  return r;
}

// Mean of the curvature between low and high, low <= high.
static lane penalty_mean(lane low, lane high, real t)
{
  const lane width = high - low, slope = penalty_of(high, t).slope - penalty_of(low, t).slope;
  const ilane some = width > lane_lit(R(0.0));
  lane mean = lane_select(some, slope / lane_select(some, width, lane_lit(R(1.0))),
                          penalty_of(low, t).bend);
  mean = lane_select(low >= lane_lit(t), lane_lit(R(2.0)), mean);
  mean = lane_select(high <= lane_lit(-t), lane_lit(R(0.0)), mean);
  if (t > R(0.0)) {
    const ilane both = (low > lane_lit(-t)) & (high < lane_lit(t));
    mean = lane_select(both, ((low + high) * R(0.5) + t) / t, mean);
  }
  return mean;
}

// A contact's cost, gradient by j and its derivative (nn, n1, n2, 11, 12, 22), all for D = 1.
typedef struct contact_terms {
  lane cost;
  lane g[3];
  lane h[6];
} contact_terms;

typedef struct cone_of {
  real friction, mu, root, length; // root: of impratio; length: sqrt(1 + mu^2)
  real tau;
  int kind; // 0 elliptic, 1 pyramidal, 2 without friction
} cone_of;

static void flat_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const penalty p = penalty_of(-j[0], c->tau);
  t->cost = R(0.5) * p.value;
  t->g[0] = R(-0.5) * p.slope;
  t->h[0] = R(0.5) * p.bend;
  t->g[1] = t->g[2] = t->h[1] = t->h[2] = t->h[3] = t->h[4] = t->h[5] = lane_lit(R(0.0));
}

static void pyramid_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const real f = c->friction;
  t->cost = t->g[0] = t->h[0] = t->h[4] = lane_lit(R(0.0));
  for (int k = 1; k < 3; ++k) {
    const penalty a = penalty_of(-(j[0] + f * j[k]), c->tau);
    const penalty b = penalty_of(-(j[0] - f * j[k]), c->tau);
    t->cost += R(0.5) * (a.value + b.value);
    t->g[0] -= R(0.5) * (a.slope + b.slope);
    t->g[k] = R(-0.5) * f * (a.slope - b.slope);
    t->h[0] += R(0.5) * (a.bend + b.bend);
    t->h[k] = R(0.5) * f * (a.bend - b.bend);
    t->h[k == 1 ? 3 : 5] = R(0.5) * f * f * (a.bend + b.bend);
  }
}

static void cone_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const real f = c->friction, mu = c->mu, k = c->root, length_inv = R(1.0) / c->length;
  const lane square = j[1] * j[1] + j[2] * j[2];
  const ilane flat = square < lane_lit(R(1e-30));
  const lane s = lane_select(flat, lane_lit(R(0.0)), lane_sqrt(square));
  const lane z1 = (f * s - j[0]) * length_inv, z2 = -(mu * j[0] + k * s) * length_inv;
  const penalty p1 = penalty_of(z1, c->tau), p2 = penalty_of(z2, mu * c->tau);
  // The tangential gradient over s without its cancellation at rest: docs/dynamics.md, section 15.
  const lane across = R(0.5) * k * k * penalty_mean(z2, mu * z1, mu * c->tau);
  const real unit = R(0.5) * length_inv * length_inv;
  const lane along = unit * (f * f * p1.bend + k * k * p2.bend);
  const lane mixed = unit * (mu * k * p2.bend - f * p1.bend);
  const lane inverse = lane_select(flat, lane_lit(R(0.0)),
                                   R(1.0) / lane_select(flat, lane_lit(R(1.0)), s));
  const lane e1 = j[1] * inverse, e2 = j[2] * inverse, more = along - across;
  t->cost = R(0.5) * (p1.value + p2.value);
  t->g[0] = R(-0.5) * length_inv * (p1.slope + mu * p2.slope);
  t->g[1] = across * j[1];
  t->g[2] = across * j[2];
  t->h[0] = unit * (p1.bend + mu * mu * p2.bend);
  t->h[1] = mixed * e1;
  t->h[2] = mixed * e2;
  t->h[3] = across + more * e1 * e1;
  t->h[4] = more * e1 * e2;
  t->h[5] = across + more * e2 * e2;
}

static void terms_of(const cone_of *c, const lane j[3], contact_terms *t)
{
  if (c->kind == 2) {
    flat_terms(c, j, t);
  } else if (c->kind == 1) {
    pyramid_terms(c, j, t);
  } else {
    cone_terms(c, j, t);
  }
}

// ---- a group's contacts ----

typedef struct newton_group {
  GLOBAL const int *ints;
  GLOBAL const real *rows;
  int plane, count;
  cone_of cone;
} newton_group;

static newton_group newton_group_of(const newton *s, int group)
{
  newton_group g;
  g.ints = s->ints + s->n->at_groups + GROUP_INTS * group;
  g.plane = g.ints[GROUP_PLANE];
  g.rows = s->contacts + (size_t)CONTACT_PLANES * g.ints[GROUP_AT];
  g.count = s->marks[GROUP_MARKS * group + SEGMENTS_MOST];
  const int pair = g.ints[GROUP_PAIR];
  const pair_parameters p = parameters_of(s->n, s->parameters, s->world, pair, s->shared);
  GLOBAL const real *reals = s->reals + s->n->at_group_reals + GROUP_REALS * group;
  g.cone.friction = lane_first(p.friction);
  g.cone.root = lane_first(lane_sqrt(lane_lit(s->reals[WORLD_IMPRATIO])));
  g.cone.mu = g.cone.friction / g.cone.root;
  g.cone.length = lane_first(lane_sqrt(lane_lit(R(1.0) + g.cone.mu * g.cone.mu)));
  g.cone.tau = s->reals[WORLD_CONE_SMOOTHING];
  g.cone.kind = reals[GROUP_FLAT] != R(0.0) ? 2 : s->n->pyramidal ? 1 : 0;
  return g;
}

// The twist of a group's links against each other where joints move by x.
static void group_twist(const newton *s, const newton_group *g, GLOBAL const real *x, real out[6])
{
  GLOBAL const int *mover = s->ints + s->n->at_group_dofs + MOVER_INTS * g->ints[GROUP_DOF_AT];
  GLOBAL const real *column = s->columns + 6 * g->ints[GROUP_DOF_AT];
  for (int i = 0; i < 6; ++i) {
    out[i] = R(0.0);
  }
  for (int k = 0; k < g->ints[GROUP_DOFS]; ++k) {
    const real rate = x[mover[MOVER_INTS * k + MOVER_DOF]];
    for (int i = 0; i < 6; ++i) {
      out[i] += column[6 * k + i] * rate;
    }
  }
}

typedef struct contact_block {
  vec3_r p, f[3];
  lane ref[3], d;
} contact_block;

static contact_block block_of(const newton_group *g, int first)
{
  GLOBAL const real *row = g->rows + first;
  const int plane = g->plane;
  contact_block c;
  c.p = load3(row + CONTACT_POINT * plane, 0, plane);
  for (int k = 0; k < 3; ++k) {
    c.f[k] = load3(row + (CONTACT_FRAME + 3 * k) * plane, 0, plane);
    c.ref[k] = load(row + (CONTACT_REFERENCE + k) * plane, 0);
  }
  c.d = load(row + CONTACT_D * plane, 0);
  // Lanes behind the last contact hold what another world left there.
  real on[LANES];
  for (int l = 0; l < LANES; ++l) {
    on[l] = first + l < g->count ? R(1.0) : R(0.0);
  }
  const ilane mask = lane_load(on) > lane_lit(R(0.5));
  if (first + LANES > g->count) {
    const lane zero = lane_lit(R(0.0));
    const vec3_r none = make_r(zero, zero, zero);
    c.p = make_r(lane_select(mask, c.p.x, zero), lane_select(mask, c.p.y, zero),
                 lane_select(mask, c.p.z, zero));
    for (int k = 0; k < 3; ++k) {
      c.f[k] = make_r(lane_select(mask, c.f[k].x, zero), lane_select(mask, c.f[k].y, zero),
                      lane_select(mask, c.f[k].z, zero));
      c.ref[k] = lane_select(mask, c.ref[k], zero);
    }
    c.d = lane_select(mask, c.d, zero);
    (void)none;
  }
  return c;
}

static void block_moves(const contact_block *c, const real t[6], lane out[3])
{
  const vec3_r w = make_r(lane_lit(t[0]), lane_lit(t[1]), lane_lit(t[2]));
  const vec3_r v = make_r(lane_lit(t[3]), lane_lit(t[4]), lane_lit(t[5]));
  const vec3_r u = add3_r(v, cross3_r(w, c->p));
  for (int k = 0; k < 3; ++k) {
    out[k] = dot3_r(c->f[k], u);
  }
}

static lane shifted(lane j, lane ref) { return j - ref; }

static real group_cost(const newton *s, int group, GLOBAL const real *x)
{
  const newton_group g = newton_group_of(s, group);
  real t[6];
  lane sum = lane_lit(R(0.0));
  group_twist(s, &g, x, t);
  for (int first = 0; first < g.count; first += LANES) {
    const contact_block c = block_of(&g, first);
    lane j[3];
    contact_terms e;
    block_moves(&c, t, j);
    for (int k = 0; k < 3; ++k) {
      j[k] = shifted(j[k], c.ref[k]);
    }
    terms_of(&g.cone, j, &e);
    sum += c.d * e.cost;
  }
  return lane_sum(sum);
}

// Slope and curvature of the cost along `along`, `at` of it from x.
static void group_slope(const newton *s, int group, GLOBAL const real *x, GLOBAL const real *along,
                        real at, real out[2])
{
  const newton_group g = newton_group_of(s, group);
  real t[6], dt[6];
  lane slope = lane_lit(R(0.0)), bend = slope;
  group_twist(s, &g, x, t);
  group_twist(s, &g, along, dt);
  for (int first = 0; first < g.count; first += LANES) {
    const contact_block c = block_of(&g, first);
    lane j[3], d[3];
    contact_terms e;
    block_moves(&c, t, j);
    block_moves(&c, dt, d);
    for (int k = 0; k < 3; ++k) {
      j[k] = shifted(j[k], c.ref[k]) + at * d[k];
    }
    terms_of(&g.cone, j, &e);
    slope += c.d * (e.g[0] * d[0] + e.g[1] * d[1] + e.g[2] * d[2]);
    bend += c.d * (e.h[0] * d[0] * d[0] + e.h[3] * d[1] * d[1] + e.h[5] * d[2] * d[2] +
                   R(2.0) * (e.h[1] * d[0] * d[1] + e.h[2] * d[0] * d[2] + e.h[4] * d[1] * d[2]));
  }
  out[0] += lane_sum(slope);
  out[1] += lane_sum(bend);
}

// The wrench of a group's contacts on link a, about the centre, and with `curved` its derivative
// by minus the twist: moments first, the lower triangle row by row.
static void group_wrench(const newton *s, int group, GLOBAL const real *x, int curved,
                         real out[SUMS])
{
  const newton_group g = newton_group_of(s, group);
  const int some = curved ? SUMS : SUMS_WRENCH;
  real t[6];
  lane sum[SUMS];
  for (int i = 0; i < SUMS; ++i) {
    sum[i] = lane_lit(R(0.0));
  }
  group_twist(s, &g, x, t);
  for (int first = 0; first < g.count; first += LANES) {
    const contact_block c = block_of(&g, first);
    lane j[3];
    contact_terms e;
    block_moves(&c, t, j);
    for (int k = 0; k < 3; ++k) {
      j[k] = shifted(j[k], c.ref[k]);
    }
    terms_of(&g.cone, j, &e);
    vec3_r force = scale3_r(c.f[0], -c.d * e.g[0]);
    force = mad3_r(c.f[1], -c.d * e.g[1], mad3_r(c.f[2], -c.d * e.g[2], force));
    const vec3_r moment = cross3_r(c.p, force);
    sum[0] += moment.x;
    sum[1] += moment.y;
    sum[2] += moment.z;
    sum[3] += force.x;
    sum[4] += force.y;
    sum[5] += force.z;
    if (curved) {
      // rows of W: of each frame vector its moment, then itself
      vec3_r m[3], gm[3], gf[3];
      const lane h[9] = {e.h[0], e.h[1], e.h[2], e.h[1], e.h[3], e.h[4], e.h[2], e.h[4], e.h[5]};
      for (int k = 0; k < 3; ++k) {
        m[k] = cross3_r(c.p, c.f[k]);
      }
      for (int k = 0; k < 3; ++k) {
        gm[k] = mad3_r(m[0], c.d * h[3 * k], mad3_r(m[1], c.d * h[3 * k + 1],
                                                    scale3_r(m[2], c.d * h[3 * k + 2])));
        gf[k] = mad3_r(c.f[0], c.d * h[3 * k], mad3_r(c.f[1], c.d * h[3 * k + 1],
                                                      scale3_r(c.f[2], c.d * h[3 * k + 2])));
      }
      for (int k = 0; k < 3; ++k) {
        const lane row[6] = {m[k].x, m[k].y, m[k].z, c.f[k].x, c.f[k].y, c.f[k].z};
        const lane of[6] = {gm[k].x, gm[k].y, gm[k].z, gf[k].x, gf[k].y, gf[k].z};
        int at = SUMS_WRENCH;
        for (int i = 0; i < 6; ++i) {
          for (int l = 0; l <= i; ++l) {
            sum[at++] += row[i] * of[l];
          }
        }
      }
    }
  }
  for (int i = 0; i < some; ++i) {
    out[i] = lane_sum(sum[i]);
  }
}

// Adds what a group's wrench does to joints.
static void add_wrench(const newton *s, int group, const real push[6], real factor,
                       GLOBAL real *out)
{
  GLOBAL const int *g = s->ints + s->n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = s->ints + s->n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  GLOBAL const real *column = s->columns + 6 * g[GROUP_DOF_AT];
  for (int k = 0; k < g[GROUP_DOFS]; ++k) {
    real sum = R(0.0);
    for (int i = 0; i < 6; ++i) {
      sum += column[6 * k + i] * push[i];
    }
    out[mover[MOVER_INTS * k + MOVER_DOF]] += factor * sum;
  }
}

static void add_curvature(const newton *s, int group, const real sums[SUMS])
{
  const int nv = s->n->nv;
  GLOBAL const int *g = s->ints + s->n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = s->ints + s->n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  GLOBAL const real *column = s->columns + 6 * g[GROUP_DOF_AT];
  for (int k = 0; k < g[GROUP_DOFS]; ++k) {
    real row[6];
    for (int i = 0; i < 6; ++i) {
      row[i] = R(0.0);
      for (int l = 0; l < 6; ++l) {
        const int low = MIN_INT(i, l), high = i + l - low;
        row[i] += sums[SUMS_WRENCH + high * (high + 1) / 2 + low] * column[6 * k + l];
      }
    }
    const int dof = mover[MOVER_INTS * k + MOVER_DOF];
    for (int m = 0; m < g[GROUP_DOFS]; ++m) {
      const int other = mover[MOVER_INTS * m + MOVER_DOF];
      real sum = R(0.0);
      for (int i = 0; i < 6; ++i) {
        sum += row[i] * column[6 * m + i];
      }
      if (other <= dof) {
        s->hessian[dof * nv + other] += sum;
      }
    }
  }
}

// ---- rows on one degree of freedom ----

typedef struct row_terms_of {
  real cost, slope, bend;
} row_terms_of;

static real penalty_part(lane x) { return lane_first(x); }

// j: J acc - ref, which of an upper limit has J = -1.
static row_terms_of single_terms(const newton *s, int row, real acc)
{
  GLOBAL const int *of = s->ints + s->n->at_rows + ROW_INTS * row;
  GLOBAL const real *own = s->reals + s->n->at_row_reals + ROW_REALS * row;
  GLOBAL const real *t = s->row_terms + ROW_TERMS * row;
  const real tau = s->reals[WORLD_CONE_SMOOTHING], d = t[ROW_TERM_D];
  const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
  const real j = side * acc - t[ROW_TERM_REF];
  row_terms_of r = {R(0.0), R(0.0), R(0.0)};
  if (d == R(0.0)) {
    return r;
  }
  if (of[ROW_KIND] == ROW_LOSS) {
    const real knee = own[ROW_END] / d;
    const penalty a = penalty_of(lane_lit(j - knee), tau), b = penalty_of(lane_lit(-j - knee), tau);
    r.cost = R(0.5) * d * (j * j - penalty_part(a.value) - penalty_part(b.value));
    r.slope = R(0.5) * d * (R(2.0) * j - penalty_part(a.slope) + penalty_part(b.slope));
    r.bend = R(0.5) * d * (R(2.0) - penalty_part(a.bend) - penalty_part(b.bend));
    return r;
  }
  const penalty p = penalty_of(lane_lit(-j), tau);
  r.cost = R(0.5) * d * penalty_part(p.value);
  r.slope = R(-0.5) * d * side * penalty_part(p.slope);
  r.bend = R(0.5) * d * penalty_part(p.bend);
  return r;
}

static int row_dof(const newton *s, int row)
{
  return (s->ints + s->n->at_rows + ROW_INTS * row)[ROW_V];
}

static void start_rows(const newton *s, GLOBAL const real *q, GLOBAL const real *v)
{
  GLOBAL const world_sizes *n = s->n;
  for (int i = 0; i < n->rows; ++i) {
    GLOBAL const int *of = s->ints + n->at_rows + ROW_INTS * i;
    GLOBAL const real *own = s->reals + n->at_row_reals + ROW_REALS * i;
    GLOBAL real *t = s->row_terms + ROW_TERMS * i;
    const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
    const real weight = n->exact ? one_real(&s->tree, n->at_row_weights + of[ROW_V]) : own[ROW_WEIGHT];
    const real smooth = s->reals[WORLD_LIMIT_SMOOTHING];
    real r = R(0.0), a = R(1.0);
    if (of[ROW_KIND] != ROW_LOSS) {
      r = side * (q[of[ROW_Q]] - own[ROW_END]);
      a = r < R(0.0) ? R(1.0) : R(0.0);
      if (smooth > R(0.0)) {
        a = lane_first(sigmoid_r(lane_lit(-r / smooth)));
      }
    }
    const real imp = lane_first(impedance_r(own + ROW_SOFT, lane_lit(r)));
    t[ROW_TERM_D] = lane_first(row_stiffness_r(lane_lit(a * imp), lane_lit(weight)));
    t[ROW_TERM_REF] = -own[ROW_SOFT + SOFT_B] * side * v[of[ROW_V]] -
                      (of[ROW_KIND] == ROW_LOSS ? R(0.0) : own[ROW_SOFT + SOFT_K] * imp * r);
  }
}

// ---- the whole cost ----

static real newton_cost(const newton *s, GLOBAL const real *x)
{
  const int nv = s->n->nv;
  GLOBAL real *off = newton_vector(s, VECTOR_STEP), *turned = newton_vector(s, VECTOR_TURN);
  real sum = R(0.0);
  for (int i = 0; i < nv; ++i) {
    off[i] = x[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  mass_times(s, off, turned);
  sum = R(0.5) * dot_n(nv, off, turned);
  for (int g = 0; g < s->n->groups; ++g) {
    sum += group_cost(s, g, x);
  }
  for (int i = 0; i < s->n->rows; ++i) {
    sum += single_terms(s, i, x[row_dof(s, i)]).cost;
  }
  return sum;
}

// J' lambda at x to VECTOR_PUSH; with `curved` the Hessian too.
static void newton_push(const newton *s, GLOBAL const real *x, int curved)
{
  const int nv = s->n->nv;
  GLOBAL real *push = newton_vector(s, VECTOR_PUSH);
  for (int i = 0; i < nv; ++i) {
    push[i] = R(0.0);
    for (int k = 0; curved && k <= i; ++k) {
      s->hessian[i * nv + k] = mass_entry(s, i, k);
    }
  }
  for (int g = 0; g < s->n->groups; ++g) {
    real sums[SUMS];
    group_wrench(s, g, x, curved, sums);
    add_wrench(s, g, sums, R(1.0), push);
    if (curved) {
      add_curvature(s, g, sums);
    }
  }
  for (int i = 0; i < s->n->rows; ++i) {
    const int dof = row_dof(s, i);
    const row_terms_of t = single_terms(s, i, x[dof]);
    push[dof] -= t.slope;
    if (curved) {
      s->hessian[dof * (nv + 1)] += t.bend;
    }
  }
}

// Cholesky's factor of the Hessian in its place, with the mass matrix' diagonal as scale, inverses
// of the roots on its diagonal: 0 where it is not positive.
static int newton_factor(const newton *s)
{
  const int nv = s->n->nv;
  GLOBAL real *h = s->hessian;
  GLOBAL const real *scale = newton_vector(s, VECTOR_SCALE);
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j <= i; ++j) {
      real sum = h[i * nv + j] * scale[i] * scale[j] - dot_n(j, h + i * nv, h + j * nv);
      if (i == j) {
        if (!(sum > R(0.0))) {
          return 0;
        }
        sum = R(1.0) / lane_first(lane_sqrt(lane_lit(sum)));
      } else {
        sum *= h[j * (nv + 1)];
      }
      h[i * nv + j] = sum;
    }
  }
  return 1;
}

// x <- inv(H) x
static void newton_solve(const newton *s, GLOBAL real *x)
{
  const int nv = s->n->nv;
  GLOBAL const real *h = s->hessian, *scale = newton_vector(s, VECTOR_SCALE);
  for (int i = 0; i < nv; ++i) {
    x[i] = (x[i] * scale[i] - dot_n(i, h + i * nv, x)) * h[i * (nv + 1)];
  }
  for (int i = nv - 1; i >= 0; --i) {
    real sum = x[i];
    for (int k = i + 1; k < nv; ++k) {
      sum -= h[k * nv + i] * x[k];
    }
    x[i] = sum * h[i * (nv + 1)];
  }
  for (int i = 0; i < nv; ++i) {
    x[i] *= scale[i];
  }
}

// How far to go along VECTOR_STEP: a zero of the cost's slope, of which `start` is the one at 0.
static real newton_line(const newton *s, real start)
{
  const int nv = s->n->nv;
  GLOBAL const real *x = newton_vector(s, VECTOR_ACC), *along = newton_vector(s, VECTOR_STEP);
  const real turned = dot_n(nv, along, newton_vector(s, VECTOR_TURN));
  const real bent = dot_n(nv, along, newton_vector(s, VECTOR_ALONG));
  const real enough = s->reals[WORLD_LINE_TOLERANCE] * start;
  real at = R(1.0), low = R(0.0), high = REAL_BIG;
  for (int k = 0; k < s->n->line_iterations; ++k) {
    real p[2] = {turned + at * bent, bent};
    for (int g = 0; g < s->n->groups; ++g) {
      group_slope(s, g, x, along, at, p);
    }
    for (int i = 0; i < s->n->rows; ++i) {
      const int dof = row_dof(s, i);
      const row_terms_of t = single_terms(s, i, x[dof] + at * along[dof]);
      p[0] += t.slope * along[dof];
      p[1] += t.bend * along[dof] * along[dof];
    }
    const real size = p[0] < R(0.0) ? -p[0] : p[0];
    if (!(size > enough)) {
      break;
    }
    low = p[0] < R(0.0) ? at : low;
    high = p[0] < R(0.0) ? high : at;
    const real next = at - p[0] / p[1];
    const real middle = high < REAL_BIG ? R(0.5) * (low + high) : R(2.0) * at;
    at = next > low && next < high ? next : middle;
  }
  return at;
}

// Columns of what each degree of freedom does to the groups that it moves.
static void start_columns(const newton *s)
{
  GLOBAL const world_sizes *n = s->n;
  for (int group = 0; group < n->groups; ++group) {
    GLOBAL const int *g = s->ints + n->at_groups + GROUP_INTS * group;
    const vec3_r c = one_get3(&s->tree, n->at_origin + 3 * group_centre(g));
    for (int k = 0; k < g[GROUP_DOFS]; ++k) {
      GLOBAL const int *mover =
        s->ints + n->at_group_dofs + MOVER_INTS * (g[GROUP_DOF_AT] + k);
      GLOBAL real *out = s->columns + 6 * (g[GROUP_DOF_AT] + k);
      const tree_link l = link_at(n, s->ints, mover[MOVER_LINK]);
      const lane sign = lane_lit((real)mover[MOVER_SIGN]), zero = lane_lit(R(0.0));
      const vec3_r axis = scale3_r(one_get3(&s->tree, n->at_axis + 3 * mover[MOVER_DOF]), sign);
      vec3_r w = make_r(zero, zero, zero), v = axis;
      if (dof_turns(&l, mover[MOVER_DOF] - l.v)) {
        const int link = mover[MOVER_LINK];
        const vec3_r joint = sub3_r(one_get3(&s->tree, n->at_origin + 3 * link),
                                    one_get3(&s->tree, n->at_arm + 3 * link));
        w = axis;
        v = cross3_r(axis, sub3_r(c, joint));
      }
      out[0] = lane_first(w.x);
      out[1] = lane_first(w.y);
      out[2] = lane_first(w.z);
      out[3] = lane_first(v.x);
      out[4] = lane_first(v.y);
      out[5] = lane_first(v.z);
    }
  }
}

static newton newton_of(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
                        GLOBAL const real *contacts, GLOBAL const int *marks, GLOBAL real *work,
                        int world)
{
  newton s;
  GLOBAL real *own = ROW(work, world, n->work);
  s.n = n;
  s.ints = ints;
  s.reals = reals;
  s.parameters = parameters;
  s.shared = shared;
  s.world = world;
  s.tree = one_at(scratch, n, world);
  s.contacts = ROW(contacts, world, n->contact_planes);
  s.marks = ROW(marks, world, GROUP_MARKS * n->groups);
  s.columns = own + n->at_columns_of;
  s.hessian = own + n->at_hessian;
  s.vectors = own + n->at_vectors;
  s.row_terms = own + n->at_row_terms;
  s.sums = own + n->at_sums;
  return s;
}

// Gradient and step at VECTOR_ACC: 0 where the Hessian is not positive.
static int newton_step(const newton *s)
{
  const int nv = s->n->nv;
  GLOBAL real *acc = newton_vector(s, VECTOR_ACC), *step = newton_vector(s, VECTOR_STEP);
  GLOBAL real *turned = newton_vector(s, VECTOR_TURN), *g = newton_vector(s, VECTOR_GRADIENT);
  newton_push(s, acc, 1);
  for (int i = 0; i < nv; ++i) {
    step[i] = acc[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  mass_times(s, step, turned);
  for (int i = 0; i < nv; ++i) {
    g[i] = turned[i] - newton_vector(s, VECTOR_PUSH)[i];
    step[i] = -g[i];
  }
  if (!newton_factor(s)) {
    return 0;
  }
  newton_solve(s, step);
  return 1;
}

// Each world's acceleration, what contacts, limits and friction push joints with, how many
// iterations it took, and its status.
KERNEL void world_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *q, GLOBAL const real *v, GLOBAL const real *start,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
                        GLOBAL const real *contacts, GLOBAL const int *marks, GLOBAL real *work,
                        GLOBAL real *acceleration, GLOBAL real *push, GLOBAL int *iterations,
                        GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, marks, work, world);
  GLOBAL real *acc = newton_vector(&s, VECTOR_ACC), *step = newton_vector(&s, VECTOR_STEP);
  GLOBAL real *free = newton_vector(&s, VECTOR_FREE);
  const real tolerance = reals[WORLD_TOLERANCE];
  int found = 0, iteration = 0, done = 0;
  if (status[world] & WORLD_STOPPED) {
    for (int i = 0; i < nv; ++i) {
      ROW(acceleration, world, nv)[i] = ROW(push, world, nv)[i] = R(0.0);
    }
    iterations[world] = 0;
    return;
  }
  for (int i = 0; i < nv; ++i) {
    free[i] = one_real(&s.tree, n->at_free + i);
    acc[i] = ROW(start, world, nv)[i];
    newton_vector(&s, VECTOR_SCALE)[i] =
      R(1.0) / lane_first(lane_sqrt(lane_lit(mass_entry(&s, i, i))));
  }
  start_columns(&s);
  start_rows(&s, ROW(q, world, n->nq), ROW(v, world, nv));
  if (!(newton_cost(&s, acc) < newton_cost(&s, free))) {
    for (int i = 0; i < nv; ++i) {
      acc[i] = free[i];
    }
  }
  for (;; ++iteration) {
    if (!newton_step(&s)) {
      found = WORLD_SINGULAR;
      break;
    }
    const real decrement = -dot_n(nv, newton_vector(&s, VECTOR_GRADIENT), step);
    GLOBAL real *along = newton_vector(&s, VECTOR_ALONG);
    mass_times(&s, free, along);
    real size = dot_n(nv, free, along);
    mass_times(&s, acc, along);
    size += dot_n(nv, acc, along);
    done = decrement <= tolerance * tolerance * size;
    if (done || iteration >= n->iterations) {
      found = iteration >= n->iterations ? WORLD_NOT_CONVERGED : 0;
      break;
    }
    mass_times(&s, step, along);
    const real at = newton_line(&s, decrement);
    for (int i = 0; i < nv; ++i) {
      acc[i] += at * step[i];
    }
  }
  for (int i = 0; i < nv; ++i) {
    acc[i] += step[i]; // one full step at last: the answer does not depend on the start
    ROW(acceleration, world, nv)[i] = acc[i];
  }
  newton_push(&s, acc, 0);
  for (int i = 0; i < nv; ++i) {
    ROW(push, world, nv)[i] = newton_vector(&s, VECTOR_PUSH)[i];
  }
  iterations[world] = iteration;
  status[world] |= found;
}
