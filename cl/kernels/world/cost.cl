// The cost of a world's contacts, limits and friction losses as a function of joints'
// accelerations: docs/cone.md, sections 8 and 9. A group's contacts depend on joints only through
// the relative twist of its links, so their terms are summed up in the six dimensions of that
// twist, and taken to joints once a group.

// The sums over a group's contacts: a wrench (moment, force), and the lower triangle of the (6, 6)
// curvature by the twist.
#define SUMS_WRENCH 6
#define SUMS_BLOCK 21
#define SUMS (SUMS_WRENCH + SUMS_BLOCK)

// ---- an item's contacts ----

// An item's group and contacts: `rows` (CONTACT_PLANES, plane), of which the first `count` are
// there; and `centre`, where relative twists of its links are seen from.
typedef struct newton_group {
  GLOBAL const int *item, *ints;
  GLOBAL const real *rows;
  int plane, count;
  vec3_r centre;
  cone_of cone;
} newton_group;

// Returns an item's group without its cone.
static newton_group bare_group(const newton *s, int item)
{
  newton_group g;
  g.item = ROW(s->items, item, ITEM_INTS);
  g.ints = item_group(s, item);
  g.plane = g.item[ITEM_PLANE];
  g.rows = s->contacts + (size_t)CONTACT_PLANES * g.item[ITEM_AT];
  g.count = g.item[ITEM_END];
  g.centre = one_get3(&s->tree, s->n->at_origin + 3 * group_centre(g.ints));
  return g;
}

static newton_group newton_group_of(const newton *s, int item)
{
  newton_group g = bare_group(s, item);
  const pair_parameters p = parameters_of(s->n, s->parameters, s->world, g.ints, s->shared);
  GLOBAL const real *reals = s->reals + s->n->at_group_reals + GROUP_REALS * g.item[ITEM_GROUP];
  g.cone.friction = lane_first(p.friction);
  g.cone.root = lane_first(lane_sqrt(lane_lit(s->reals[WORLD_IMPRATIO])));
  g.cone.mu = g.cone.friction / g.cone.root;
  g.cone.length = lane_first(lane_sqrt(lane_lit(R(1.0) + g.cone.mu * g.cone.mu)));
  g.cone.tau = s->reals[WORLD_CONE_SMOOTHING];
  g.cone.kind = reals[GROUP_FLAT] != R(0.0) ? 2 : s->n->pyramidal ? 1 : 0;
  return g;
}

static GLOBAL const int *mover_at(const newton *s, const newton_group *g, int k)
{
  return s->ints + s->n->at_group_dofs + MOVER_INTS * (g->ints[GROUP_DOF_AT] + k);
}

// Writes the column of X of mover k of a group: the twist of link a against link b about the
// group's centre at a rate of 1. Columns are made wherever they are asked for, because keeping them
// would take more memory than contacts do.
static void group_column(const newton *s, const newton_group *g, int k, real out[6])
{
  GLOBAL const int *mover = mover_at(s, g, k);
  GLOBAL const real *axis = s->axes + AXIS_REALS * mover[MOVER_DOF];
  const real sign = (real)mover[MOVER_SIGN], x = sign * axis[0], y = sign * axis[1],
             z = sign * axis[2];
  if (axis[AXIS_TURNS] == R(0.0)) {
    out[0] = out[1] = out[2] = R(0.0);
    out[3] = x;
    out[4] = y;
    out[5] = z;
    return;
  }
  const real a = lane_first(g->centre.x) - axis[AXIS_JOINT],
             b = lane_first(g->centre.y) - axis[AXIS_JOINT + 1];
  const real c = lane_first(g->centre.z) - axis[AXIS_JOINT + 2];
  out[0] = x;
  out[1] = y;
  out[2] = z;
  out[3] = y * c - z * b;
  out[4] = z * a - x * c;
  out[5] = x * b - y * a;
}

// Writes the twist of link a against link b of a group where joints move by x (nv): X x.
static void group_twist(const newton *s, const newton_group *g, GLOBAL const real *x, real out[6])
{
  for (int i = 0; i < 6; ++i) {
    out[i] = R(0.0);
  }
  for (int k = 0; k < g->ints[GROUP_DOFS]; ++k) {
    const real rate = x[mover_at(s, g, k)[MOVER_DOF]];
    real column[6];
    group_column(s, g, k, column);
    for (int i = 0; i < 6; ++i) {
      out[i] += column[i] * rate;
    }
  }
}

// Returns the velocity that a twist about the centre gives to what is at p.
static vec3_r twist_at(const real t[6], vec3_r p)
{
  const vec3_r w = make_r(lane_lit(t[0]), lane_lit(t[1]), lane_lit(t[2]));
  const vec3_r v = make_r(lane_lit(t[3]), lane_lit(t[4]), lane_lit(t[5]));
  return add3_r(v, cross3_r(w, p));
}

// LANES contacts: points, frames' rows, reference accelerations and stiffnesses.
typedef struct contact_block {
  vec3_r p, f[3];
  lane ref[3], d;
} contact_block;

// A mask of the lanes whose contact, the first one being `first`, is one of `count`.
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

// Reads the block of contacts that begins with `first`. Memory behind the last contact holds what
// another world left there, so lanes behind it get zeros.
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
  if (first + LANES > g->count) {
    const ilane mask = lanes_before(first, g->count);
    const lane zero = lane_lit(R(0.0));
    c.p = select3(mask, c.p);
    for (int k = 0; k < 3; ++k) {
      c.f[k] = select3(mask, c.f[k]);
      c.ref[k] = lane_select(mask, c.ref[k], zero);
    }
    c.d = lane_select(mask, c.d, zero);
  }
  return c;
}

// Writes the parts along their frames' rows of the velocities that a twist gives to the block's
// points.
static void block_moves(const contact_block *c, const real t[6], lane out[3])
{
  const vec3_r w = make_r(lane_lit(t[0]), lane_lit(t[1]), lane_lit(t[2]));
  const vec3_r v = make_r(lane_lit(t[3]), lane_lit(t[4]), lane_lit(t[5]));
  const vec3_r u = add3_r(v, cross3_r(w, c->p));
  for (int k = 0; k < 3; ++k) {
    out[k] = dot3_r(c->f[k], u);
  }
}

// A block of contacts, its acceleration j = J acc - ref where links accelerate against each other
// by a twist, and the terms of its cost there.
typedef struct contact_there {
  contact_block c;
  lane j[3];
  contact_terms e;
} contact_there;

static contact_there contact_at(const newton_group *g, int first, const real t[6])
{
  contact_there r;
  r.c = block_of(g, first);
  block_moves(&r.c, t, r.j);
  for (int k = 0; k < 3; ++k) {
    r.j[k] -= r.c.ref[k];
  }
  terms_of(&g->cone, r.j, &r.e);
  return r;
}

// ---- what entries add up to ----

// So many items of a group go through the contacts of an entry side by side.
#if WG > 8
#define ENTRY_SHARES 8
#else
#define ENTRY_SHARES WG
#endif
#define ENTRIES_AT_ONCE (WG / ENTRY_SHARES)

// How many sums of each item have room at once; SUMS need TEAM_PARTS of it where groups have up to
// 64 items.
#define SUMS_AT_ONCE MAX_INT(1, MIN_INT(SUMS, 2048 / WG))
#define TEAM_PARTS (SUMS_AT_ONCE * WG)

static GLOBAL real *entry_row(const newton *s, int entry)
{
  return s->sums + ENTRY_REALS * entry;
}

// Writes, to `at` of their rows, the twists of the groups of entries whose islands are in one of
// some states, where joints move by x (nv).
static void entry_twists(const newton *s, int state, GLOBAL const real *x, int at)
{
  for (int entry = s->team.item; entry < s->entry_count; entry += s->team.items) {
    const int item = entry_at(s, entry, state);
    if (item >= 0) {
      const newton_group g = bare_group(s, item);
      real t[6];
      group_twist(s, &g, x, t);
      for (int i = 0; i < 6; ++i) {
        entry_row(s, entry)[at + i] = t[i];
      }
    }
  }
}

static void entry_twist(const newton *s, int entry, int at, real out[6])
{
  for (int i = 0; i < 6; ++i) {
    out[i] = entry_row(s, entry)[at + i];
  }
}

// Adds up what the items that share an entry have found, in the order of items, and writes it to
// the entry's row where its island is in one of some states.
static void put_sums(const newton *s, int entry, int state, int is_there, const int count,
                     const real sums[SUMS])
{
#if WG > 1
  const int item = s->team.item, first = entry - item / ENTRY_SHARES;
  LOCAL real *part = s->team.part;
  (void)is_there;
  for (int from = 0; from < count; from += SUMS_AT_ONCE) {
    const int some = MIN_INT(count - from, SUMS_AT_ONCE);
    for (int i = 0; i < some; ++i) {
      part[i * WG + item] = sums[from + i];
    }
    BARRIER;
    for (int i = item; i < some * ENTRIES_AT_ONCE; i += WG) {
      const int which = i % ENTRIES_AT_ONCE, at = i / ENTRIES_AT_ONCE;
      LOCAL const real *own = part + at * WG + which * ENTRY_SHARES;
      real sum = own[0];
      for (int k = 1; k < ENTRY_SHARES; ++k) {
        sum += own[k];
      }
      if (first + which < s->entry_count && entry_at(s, first + which, state) >= 0) {
        entry_row(s, first + which)[ENTRY_SUMS + from + at] = sum;
      }
    }
    BARRIER;
  }
#else
  (void)state;
  for (int i = 0; i < count && is_there; ++i) {
    entry_row(s, entry)[ENTRY_SUMS + i] = sums[i];
  }
#endif
}

// Returns an item's share of the cost of a group's contacts, which begins with contact `first` and
// goes on by `step`; t is the twist of link a against link b.
static real group_cost(const newton_group *g, int first, int step, const real t[6])
{
  lane sum = lane_lit(R(0.0));
  for (; first < g->count; first += step) {
    const contact_there at = contact_at(g, first, t);
    sum += at.c.d * at.e.cost;
  }
  return lane_sum(sum);
}

// Writes a share of the first and second derivative, by `at`, of the cost of a group's contacts at
// twist t + at dt.
static void group_slope(const newton_group *g, int first, int step, const real t[6],
                        const real dt[6], real at, real out[2])
{
  lane slope = lane_lit(R(0.0)), bend = slope;
  for (; first < g->count; first += step) {
    const contact_block c = block_of(g, first);
    contact_terms e;
    lane j[3], d[3];
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

// Writes a share of the wrench of a group's contacts on link a about the centre, at twist t, and
// with `curved` of its derivative by minus the twist, W'GW: the lower triangle row by row, moments
// before forces.
static void group_wrench(const newton_group *group, int first, int step, const real t[6],
                         const int curved, real out[SUMS])
{
  const newton_group g = *group;
  const int some = curved ? SUMS : SUMS_WRENCH;
  lane sum[SUMS];
  for (int i = 0; i < SUMS; ++i) {
    sum[i] = lane_lit(R(0.0));
  }
  for (; first < g.count; first += step) {
    const contact_there there = contact_at(&g, first, t);
    const contact_block c = there.c;
    const contact_terms e = there.e;
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
      // a row of W is the wrench of a frame's vector: its moment m about the centre, then itself
      vec3_r m[3], gm[3], gf[3];
      const lane h[9] = {e.h[0], e.h[1], e.h[2], e.h[1], e.h[3], e.h[4], e.h[2], e.h[4], e.h[5]};
      for (int k = 0; k < 3; ++k) {
        m[k] = cross3_r(c.p, c.f[k]);
      }
      for (int k = 0; k < 3; ++k) {
        gm[k] = mad3_r(m[0], c.d * h[3 * k],
                       mad3_r(m[1], c.d * h[3 * k + 1], scale3_r(m[2], c.d * h[3 * k + 2])));
        gf[k] = mad3_r(c.f[0], c.d * h[3 * k],
                       mad3_r(c.f[1], c.d * h[3 * k + 1], scale3_r(c.f[2], c.d * h[3 * k + 2])));
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

#define SUM_COST 0
#define SUM_SLOPE 1 // and bend, along a line
#define SUM_WRENCH 2
#define SUM_CURVED 3 // wrench and curvature

// Writes to their rows what entries whose islands are in one of some states add up to, at the
// twists there.
static void entry_sums(const newton *s, int state, const int what)
{
  const int count = what == SUM_COST     ? 1
                    : what == SUM_SLOPE  ? 2
                    : what == SUM_WRENCH ? SUMS_WRENCH
                                         : SUMS;
  const int begin = LANES * (s->team.item % ENTRY_SHARES), step = LANES * ENTRY_SHARES;
  for (int base = 0; HAS_TURN(base, s->entry_count); base += ENTRIES_AT_ONCE) {
    const int entry = base + s->team.item / ENTRY_SHARES;
    const int item = entry < s->entry_count ? entry_at(s, entry, state) : -1;
    real sums[SUMS];
#if WG > 1
    for (int i = 0; i < count; ++i) {
      sums[i] = R(0.0);
    }
#endif
    if (item >= 0) {
      const newton_group g = newton_group_of(s, item);
      real t[6], dt[6];
      entry_twist(s, entry, ENTRY_TWIST, t);
      if (what == SUM_COST) {
        sums[0] = group_cost(&g, begin, step, t);
      } else if (what == SUM_SLOPE) {
        entry_twist(s, entry, ENTRY_ALONG, dt);
        group_slope(&g, begin, step, t, dt, island_numbers(s, ISLAND_AT)[item_island(s, item)],
                    sums);
      } else {
        group_wrench(&g, begin, step, t, what == SUM_CURVED, sums);
      }
    }
    put_sums(s, entry, state, item >= 0, count, sums);
  }
  MEET;
}

// Returns the second derivative, along the twist at ENTRY_ALONG, of what an entry's curvature in
// its row gives.
static real entry_bend(const newton *s, int entry)
{
  GLOBAL const real *along = entry_row(s, entry) + ENTRY_ALONG,
                    *h = entry_row(s, entry) + ENTRY_SUMS + SUMS_WRENCH;
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

// The cost of a row on one degree of freedom, and its derivatives by that one's acceleration.
typedef struct row_terms_of {
  real cost, slope, bend;
} row_terms_of;

// Returns the terms of a row where its degree of freedom accelerates by acc: j = J acc - ref, where
// J is -1 for an upper limit and 1 for all else.
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

// Returns A of a row, the entry of inv(M)'s diagonal that it is held to have.
static real row_weight(const newton *s, int row)
{
  GLOBAL const int *of = s->ints + s->n->at_rows + ROW_INTS * row;
  return s->n->exact ? one_real(&s->tree, s->n->at_row_weights + of[ROW_V])
                     : (s->reals + s->n->at_row_reals + ROW_REALS * row)[ROW_WEIGHT];
}

// Writes D and ref of each row, at q and v.
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
