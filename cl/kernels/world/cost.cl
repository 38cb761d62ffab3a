// The cost of a world's contacts, limits and friction losses as a function of joint accelerations:
// docs/dev/cone-formulas.md, sections 8 and 9. A group's contacts depend on joints only through the
// relative twist of its links. So their terms are summed in the six dimensions of that twist, and
// mapped to joints once per group. On CPUs the terms of links that touch immovable bodies are
// mapped once per tree (passes.cl).

// ---- a world pair's contacts ----

// A world pair's group and contacts: `rows` (CONTACT_PLANES, plane), of which the first `count` are
// valid, and `centre`, the reference point of relative twists of its links.
typedef struct newton_group {
  GLOBAL const int *world_pair, *ints;
  GLOBAL const real *rows;
  int plane, count;
  real centre[3];
  cone_of cone;
} newton_group;

// Returns a world pair's group without its cone.
static newton_group bare_group(const newton *s, int world_pair)
{
  newton_group g;
  g.world_pair = ROW(s->world_pairs, world_pair, WORLD_PAIR_INTS);
  g.ints = world_pair_group(s, world_pair);
  g.plane = g.world_pair[WORLD_PAIR_PLANE];
  g.rows = s->contacts + (size_t)CONTACT_PLANES * g.world_pair[WORLD_PAIR_AT];
  g.count = g.world_pair[WORLD_PAIR_END];
  for (int k = 0; k < 3; ++k) {
    g.centre[k] = one_real(&s->tree, s->n->at_origin + 3 * group_centre(g.ints) + k);
  }
  return g;
}

// Sets the cone of a group with the given friction.
static void set_cone(const newton *s, newton_group *g, real friction)
{
  GLOBAL const real *reals =
    s->reals + s->n->at_group_reals + GROUP_REALS * g->world_pair[WORLD_PAIR_GROUP];
  cone_of *c = &g->cone;
  c->friction = friction;
  c->root = lane_first(lane_sqrt(lane_lit(s->reals[WORLD_IMPRATIO])));
  c->mu = friction / c->root;
  c->length = lane_first(lane_sqrt(lane_lit(R(1.0) + c->mu * c->mu)));
  c->tau = s->reals[WORLD_CONE_SMOOTHING];
  c->kind = reals[GROUP_FLAT] != R(0.0) ? 2 : s->n->pyramidal ? 1 : 0;
}

static real group_friction(const newton *s, const newton_group *g)
{
  return lane_first(parameters_of(s->n, s->parameters, s->world, g->ints, s->shared).friction);
}

static newton_group newton_group_of(const newton *s, int world_pair)
{
  newton_group g = bare_group(s, world_pair);
  set_cone(s, &g, group_friction(s, &g));
  return g;
}

static GLOBAL const int *mover_at(const newton *s, const newton_group *g, int k)
{
  return s->ints + s->n->at_group_dofs + MOVER_INTS * (g->ints[GROUP_DOF_AT] + k);
}

// Writes the column of X of mover k of a group: the twist of link a relative to link b about the
// group's centre at a rate of 1. Columns are recomputed on each use, because storing them would
// take more memory than contacts do.
static void group_column(const newton *s, const newton_group *g, int k, real out[6])
{
  GLOBAL const int *mover = mover_at(s, g, k);
  GLOBAL const real *axis = s->axes + AXIS_REALS * mover[MOVER_DOF];
  const real sign = (real)mover[MOVER_SIGN], x = sign * axis[0], y = sign * axis[1],
             z = sign * axis[2];
  const real a = g->centre[0] - axis[AXIS_AT], b = g->centre[1] - axis[AXIS_AT + 1];
  const real c = g->centre[2] - axis[AXIS_AT + 2];
  out[0] = x;
  out[1] = y;
  out[2] = z;
  out[3] = sign * axis[3] + (y * c - z * b);
  out[4] = sign * axis[4] + (z * a - x * c);
  out[5] = sign * axis[5] + (x * b - y * a);
}

// Writes the twist of link a relative to link b of a group if joints move by x (nv): X x.
static void group_twist(const newton *s, const newton_group *g, GLOBAL const real *x, real out[6])
{
  out[0] = out[1] = out[2] = out[3] = out[4] = out[5] = R(0.0);
  for (int k = 0; k < g->ints[GROUP_DOFS]; ++k) {
    real column[6];
    group_column(s, g, k, column);
    add6(out, column, x[mover_at(s, g, k)[MOVER_DOF]]);
  }
}

// Returns the velocity that a twist about the centre gives to a point at p.
static vec3_r twist_at(const real t[6], vec3_r p)
{
  const vec3_r w = make_r(lane_lit(t[0]), lane_lit(t[1]), lane_lit(t[2]));
  const vec3_r v = make_r(lane_lit(t[3]), lane_lit(t[4]), lane_lit(t[5]));
  return add3_r(v, cross3_r(w, p));
}

// LANES contacts: points, rows of frames, reference accelerations and stiffnesses.
typedef struct contact_block {
  vec3_r p, f[3];
  lane ref[3], d;
} contact_block;

// Returns a mask of the lanes, starting at contact `first`, whose contact index is below `count`.
static ilane lanes_before(int first, int count)
{
  return LANES_UNTIL(MAX_INT(0, MIN_INT(count - first, LANES)));
}

static vec3_r select3(ilane mask, vec3_r v)
{
  const lane zero = lane_lit(R(0.0));
  return make_r(lane_select(mask, v.x, zero), lane_select(mask, v.y, zero),
                lane_select(mask, v.z, zero));
}

// Reads the block of contacts that begins with `first`. Lanes behind the last contact get zeros,
// because the memory there holds leftovers of other worlds.
static void block_of(const newton_group *g, int first, contact_block *c)
{
  GLOBAL const real *row = g->rows + first;
  const int plane = g->plane;
  c->p = load3(row + CONTACT_POINT * plane, 0, plane);
  for (int k = 0; k < 3; ++k) {
    c->f[k] = load3(row + (CONTACT_FRAME + 3 * k) * plane, 0, plane);
    c->ref[k] = load(row + (CONTACT_REFERENCE + k) * plane, 0);
  }
  c->d = load(row + CONTACT_D * plane, 0);
  if (first + LANES > g->count) {
    const ilane mask = lanes_before(first, g->count);
    const lane zero = lane_lit(R(0.0));
    c->p = select3(mask, c->p);
    for (int k = 0; k < 3; ++k) {
      c->f[k] = select3(mask, c->f[k]);
      c->ref[k] = lane_select(mask, c->ref[k], zero);
    }
    c->d = lane_select(mask, c->d, zero);
  }
}

// Writes, along the rows of their frames, the velocities that a twist gives to the block's points.
static void block_moves(const contact_block *c, const real t[6], lane out[3])
{
  const vec3_r w = make_r(lane_lit(t[0]), lane_lit(t[1]), lane_lit(t[2]));
  const vec3_r v = make_r(lane_lit(t[3]), lane_lit(t[4]), lane_lit(t[5]));
  const vec3_r u = add3_r(v, cross3_r(w, c->p));
  for (int k = 0; k < 3; ++k) {
    out[k] = dot3_r(c->f[k], u);
  }
}

// A block of contacts, its acceleration j = J acc - ref for a given relative twist acceleration of
// the links, and the terms of its cost there.
typedef struct contact_there {
  contact_block c;
  lane j[3];
  contact_terms e;
} contact_there;

static void contact_at(const newton_group *g, int first, const real t[6], contact_there *r)
{
  block_of(g, first, &r->c);
  block_moves(&r->c, t, r->j);
  for (int k = 0; k < 3; ++k) {
    r->j[k] -= r->c.ref[k];
  }
  terms_of(&g->cone, r->j, &r->e);
}

// ---- sums of active pairs ----

// The number of work-items of a work-group that process the contacts of one active pair together.
#if WG > 8
#define ACTIVE_SHARES 8
#else
#define ACTIVE_SHARES WG
#endif
#define ACTIVE_AT_ONCE (WG / ACTIVE_SHARES)

// How many sums of each work-item are in memory at once. All SUMS need TEAM_PARTS if groups have
// up to 64 work-items.
#define SUMS_AT_ONCE MAX_INT(1, MIN_INT(SUMS, 2048 / WG))
#define TEAM_PARTS (SUMS_AT_ONCE * WG)

static GLOBAL real *active_row(const newton *s, int active)
{
  return s->sums + ACTIVE_REALS * active;
}

// Stores the friction of each active pair's group in its row.
static void start_active_pairs(const newton *s)
{
  for (int active = s->team.item; active < s->active_count; active += s->team.items) {
    const newton_group g = bare_group(s, world_pair_of(s, active));
    active_row(s, active)[ACTIVE_FRICTION] = group_friction(s, &g);
  }
}

static newton_group active_group(const newton *s, int active, int world_pair)
{
  newton_group g = bare_group(s, world_pair);
  set_cone(s, &g, active_row(s, active)[ACTIVE_FRICTION]);
  return g;
}

#if WG == 1
// Writes the twist of a group in which only link `lone` can move. Returns the sign that relates it
// to that link's twist.
static real lone_twist(const newton *s, const newton_group *g, int lone, real out[6])
{
  const real sign = lone == g->ints[GROUP_A] ? R(1.0) : R(-1.0);
  COPY6(link_pass(s, lone) + PASS_TWIST, out);
  scale6(out, sign);
  return sign;
}
#endif

// Writes the twists of groups, if joints move by x (nv), to `at` of their active pairs' rows. Only
// active pairs whose islands are in one of some states are written.
static void active_twists(const newton *s, int state, GLOBAL const real *x, int at)
{
#if WG == 1
  pass_twists(s, state, x);
#endif
  for (int active = s->team.item; active < s->active_count; active += s->team.items) {
    const int world_pair = world_pair_in(s, active, state);
    if (world_pair >= 0) {
      const newton_group g = bare_group(s, world_pair);
      real t[6];
#if WG == 1
      const int lone = lone_link(s, g.ints);
      if (lone >= 0) {
        lone_twist(s, &g, lone, t);
      } else {
        group_twist(s, &g, x, t);
      }
#else
      group_twist(s, &g, x, t);
#endif
      COPY6(t, active_row(s, active) + at);
    }
  }
}

// Adds up, in the order of work-items, the sums of the work-items that share an active pair, and
// writes them to the active pair's row if its island is in one of some states.
static void put_sums(const newton *s, int active, int state, int is_there, const int count,
                     const real sums[SUMS])
{
#if WG > 1
  const int item = s->team.item, first = active - item / ACTIVE_SHARES;
  LOCAL real *part = s->team.part;
  (void)is_there;
  for (int from = 0; from < count; from += SUMS_AT_ONCE) {
    const int some = MIN_INT(count - from, SUMS_AT_ONCE);
    for (int i = 0; i < some; ++i) {
      part[i * WG + item] = sums[from + i];
    }
    BARRIER;
    for (int i = item; i < some * ACTIVE_AT_ONCE; i += WG) {
      const int which = i % ACTIVE_AT_ONCE, at = i / ACTIVE_AT_ONCE;
      LOCAL const real *own = part + at * WG + which * ACTIVE_SHARES;
      real sum = own[0];
      for (int k = 1; k < ACTIVE_SHARES; ++k) {
        sum += own[k];
      }
      if (first + which < s->active_count && world_pair_in(s, first + which, state) >= 0) {
        active_row(s, first + which)[ACTIVE_SUMS + from + at] = sum;
      }
    }
    MEET;
  }
#else
  (void)state;
  for (int i = 0; i < count && is_there; ++i) {
    active_row(s, active)[ACTIVE_SUMS + i] = sums[i];
  }
#endif
}

// Returns a work-item's share of the cost of a group's contacts: contact `first` and every
// `step`-th after it. t is the twist of link a relative to link b.
static real group_cost(const newton_group *g, int first, int step, const real t[6])
{
  lane sum = lane_lit(R(0.0));
  for (; first < g->count; first += step) {
    contact_there at;
    contact_at(g, first, t, &at);
    sum += at.c.d * at.e.cost;
  }
  return lane_sum(sum);
}

// Writes the first and second derivative with respect to `at` of a share of the cost of a group's
// contacts at twist t + at dt.
static void group_slope(const newton_group *g, int first, int step, const real t[6],
                        const real dt[6], real at, real out[2])
{
  lane slope = lane_lit(R(0.0)), bend = slope;
  for (; first < g->count; first += step) {
    contact_block c;
    contact_terms e;
    lane j[3], d[3];
    block_of(g, first, &c);
    block_moves(&c, t, j);
    block_moves(&c, dt, d);
    for (int k = 0; k < 3; ++k) {
      j[k] = j[k] - c.ref[k] + at * d[k];
    }
    terms_of(&g->cone, j, &e);
    slope += c.d * (e.g[0] * d[0] + e.g[1] * d[1] + e.g[2] * d[2]);
    bend += c.d * (e.h[0] * d[0] * d[0] + e.h[3] * d[1] * d[1] + e.h[5] * d[2] * d[2] +
                   R(2.0) * (e.h[1] * d[0] * d[1] + e.h[2] * d[0] * d[2] + e.h[4] * d[1] * d[2]));
  }
  out[0] = lane_sum(slope);
  out[1] = lane_sum(bend);
}

// Adds W'GW of a block of contacts with second derivatives h to `out`.
static void block_curvature(const contact_block *c, const lane h[6], real out[SUMS_BLOCK])
{
  // a row of W is the wrench of a frame's vector: its moment m about the centre, then the vector
  const vec3_r m[3] = {cross3_r(c->p, c->f[0]), cross3_r(c->p, c->f[1]), cross3_r(c->p, c->f[2])};
  const lane g[6] = {c->d * h[0], c->d * h[1], c->d * h[2], c->d * h[3], c->d * h[4], c->d * h[5]};
#define OVER_FRAME(v, i, k, l) mad3_r(v[0], g[i], mad3_r(v[1], g[k], scale3_r(v[2], g[l])))
  const vec3_r gm[3] = {OVER_FRAME(m, 0, 1, 2), OVER_FRAME(m, 1, 3, 4), OVER_FRAME(m, 2, 4, 5)};
  const vec3_r gf[3] = {OVER_FRAME(c->f, 0, 1, 2), OVER_FRAME(c->f, 1, 3, 4),
                        OVER_FRAME(c->f, 2, 4, 5)};
#undef OVER_FRAME
#define OVER_ROWS(a, b, x, y) lane_sum(a[0].x *b[0].y + (a[1].x * b[1].y + a[2].x * b[2].y))
  out[0] += OVER_ROWS(m, gm, x, x);
  out[1] += OVER_ROWS(m, gm, y, x);
  out[2] += OVER_ROWS(m, gm, y, y);
  out[3] += OVER_ROWS(m, gm, z, x);
  out[4] += OVER_ROWS(m, gm, z, y);
  out[5] += OVER_ROWS(m, gm, z, z);
  out[6] += OVER_ROWS(m, gf, x, x);
  out[7] += OVER_ROWS(m, gf, y, x);
  out[8] += OVER_ROWS(m, gf, z, x);
  out[9] += OVER_ROWS(c->f, gf, x, x);
  out[10] += OVER_ROWS(m, gf, x, y);
  out[11] += OVER_ROWS(m, gf, y, y);
  out[12] += OVER_ROWS(m, gf, z, y);
  out[13] += OVER_ROWS(c->f, gf, y, x);
  out[14] += OVER_ROWS(c->f, gf, y, y);
  out[15] += OVER_ROWS(m, gf, x, z);
  out[16] += OVER_ROWS(m, gf, y, z);
  out[17] += OVER_ROWS(m, gf, z, z);
  out[18] += OVER_ROWS(c->f, gf, z, x);
  out[19] += OVER_ROWS(c->f, gf, z, y);
  out[20] += OVER_ROWS(c->f, gf, z, z);
#undef OVER_ROWS
}

// Writes a share of the wrench of a group's contacts on link a about the centre, at twist t. With
// `curved` it also writes the wrench's derivative with respect to minus the twist, W'GW: the lower
// triangle row by row, moments before forces.
static void group_wrench(const newton_group *g, int first, int step, const real t[6],
                         const int curved, real out[SUMS])
{
  for (int i = 0; i < (curved ? SUMS : SUMS_WRENCH); ++i) {
    out[i] = R(0.0);
  }
  for (; first < g->count; first += step) {
    contact_there at;
    contact_at(g, first, t, &at);
    const contact_block *c = &at.c;
    vec3_r force = scale3_r(c->f[0], -c->d * at.e.g[0]);
    force = mad3_r(c->f[1], -c->d * at.e.g[1], mad3_r(c->f[2], -c->d * at.e.g[2], force));
    const vec3_r moment = cross3_r(c->p, force);
    out[0] += lane_sum(moment.x);
    out[1] += lane_sum(moment.y);
    out[2] += lane_sum(moment.z);
    out[3] += lane_sum(force.x);
    out[4] += lane_sum(force.y);
    out[5] += lane_sum(force.z);
    if (curved) {
      block_curvature(c, at.e.h, out + SUMS_WRENCH);
    }
  }
}

#define SUM_COST 0
#define SUM_SLOPE 1 // slope and bend along a line
#define SUM_WRENCH 2
#define SUM_CURVED 3 // wrench and curvature

// Writes the sums of active pairs at their twists to their rows, for active pairs whose islands are
// in one of some states.
static void active_sums(const newton *s, int state, const int what)
{
  const int count = what == SUM_COST     ? 1
                    : what == SUM_SLOPE  ? 2
                    : what == SUM_WRENCH ? SUMS_WRENCH
                                         : SUMS;
  const int begin = LANES * (s->team.item % ACTIVE_SHARES), step = LANES * ACTIVE_SHARES;
  for (int base = 0; HAS_TURN(base, s->active_count); base += ACTIVE_AT_ONCE) {
    const int active = base + s->team.item / ACTIVE_SHARES;
    const int world_pair = active < s->active_count ? world_pair_in(s, active, state) : -1;
    real sums[SUMS];
#if WG > 1
    for (int i = 0; i < count; ++i) {
      sums[i] = R(0.0);
    }
#endif
    if (world_pair >= 0) {
      const newton_group g = active_group(s, active, world_pair);
      real t[6], dt[6];
      COPY6(active_row(s, active) + ACTIVE_TWIST, t);
      if (what == SUM_COST) {
        sums[0] = group_cost(&g, begin, step, t);
      } else if (what == SUM_SLOPE) {
        COPY6(active_row(s, active) + ACTIVE_ALONG, dt);
        group_slope(&g, begin, step, t, dt,
                    island_numbers(s, ISLAND_AT)[world_pair_island(s, world_pair)], sums);
      } else {
        group_wrench(&g, begin, step, t, what == SUM_CURVED, sums);
      }
    }
    put_sums(s, active, state, world_pair >= 0, count, sums);
  }
}

// Returns the second derivative, along the twist at ACTIVE_ALONG, from the curvature in an active
// pair's row.
static real active_bend(const newton *s, int active)
{
  GLOBAL const real *along = active_row(s, active) + ACTIVE_ALONG,
                    *h = active_row(s, active) + ACTIVE_SUMS + SUMS_WRENCH;
  real sum = R(0.0);
  for (int i = 0, at = 0; i < 6; ++i) {
    real row = R(0.0);
    for (int k = 0; k < i; ++k) {
      row += h[at++] * along[k];
    }
    sum += (R(2.0) * row + h[at++] * along[i]) * along[i];
  }
  return sum;
}

// ---- rows on one degree of freedom ----

// The cost of a row on one degree of freedom, and its derivatives with respect to the acceleration
// of that degree of freedom.
typedef struct row_terms_of {
  real cost, slope, bend;
} row_terms_of;

// Returns the terms of a row if its degree of freedom accelerates by acc: j = J acc - ref, where J
// is -1 for an upper limit and 1 for all other rows.
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
    r.cost = R(0.5) * d * (j * j - lane_first(a.value) - lane_first(b.value));
    r.slope = R(0.5) * d * (R(2.0) * j - lane_first(a.slope) + lane_first(b.slope));
    r.bend = R(0.5) * d * (R(2.0) - lane_first(a.bend) - lane_first(b.bend));
    return r;
  }
  const penalty p = penalty_of(lane_lit(-j), tau);
  r.cost = R(0.5) * d * lane_first(p.value);
  r.slope = R(-0.5) * d * side * lane_first(p.slope);
  r.bend = R(0.5) * d * lane_first(p.bend);
  return r;
}

static int row_dof(const newton *s, int row)
{
  return (s->ints + s->n->at_rows + ROW_INTS * row)[ROW_V];
}

// Returns whether a row has any cost.
static int row_is_on(const newton *s, int row)
{
  return s->row_terms[ROW_TERMS * row + ROW_TERM_D] != R(0.0);
}

// Returns A of a row, its assumed entry on the diagonal of inv(M).
static real row_weight(const newton *s, int row)
{
  GLOBAL const int *of = s->ints + s->n->at_rows + ROW_INTS * row;
  return s->n->exact ? one_real(&s->tree, s->n->at_row_weights + of[ROW_V])
                     : (s->reals + s->n->at_row_reals + ROW_REALS * row)[ROW_WEIGHT];
}

// Writes D and ref of each row at q and v.
static void start_rows(const newton *s, GLOBAL const real *q, GLOBAL const real *v)
{
  GLOBAL const world_sizes *n = s->n;
  for (int i = s->team.item; i < s->rows; i += s->team.items) {
    GLOBAL const int *of = s->ints + n->at_rows + ROW_INTS * i;
    GLOBAL const real *own = s->reals + n->at_row_reals + ROW_REALS * i;
    GLOBAL real *t = s->row_terms + ROW_TERMS * i;
    const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
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
    t[ROW_TERM_D] = lane_first(row_stiffness_r(lane_lit(a * imp), lane_lit(row_weight(s, i))));
    t[ROW_TERM_REF] = -own[ROW_SOFT + SOFT_B] * side * v[of[ROW_V]] -
                      (of[ROW_KIND] == ROW_LOSS ? R(0.0) : own[ROW_SOFT + SOFT_K] * imp * r);
  }
}
