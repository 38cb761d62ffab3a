// The derivative of impacts within a step: sweep.cl on duals. What has been decided holds: which
// impacts there are, which features meet, whether they stick or slide; all else is differentiated.
// A work-item has one world, and each of its lanes another direction of derivative, so that values
// are the same on all lanes. docs/dynamics.md, "Sweeping".

// as CCD_GRAZING: of the speed. What closes slower has a time that changes without bound
#define IMPACT_GRAZING R(1e-6)

// One world at work: its tree, its vectors (v at 0, J at nv, inv(L) J' at 4 nv, memory at 7 nv),
// rows of LANES of where the rest of the step begins, where it leads and where bodies meet, rows of
// parameters, and tangents (SWEEP_SEED, LANES).
typedef struct impact_world {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *reals, *bodies;
  world_block tree, vectors;
  GLOBAL real *from, *to, *meet, *parameters, *seeds;
} impact_world;

static GLOBAL real *impact_numbers(world_block *b, GLOBAL real *at, int count)
{
  b->at = at;
  b->stride = count * LANES;
  b->first = 0;
  b->last = LANES - 1;
  return at + PARTS * b->stride;
}

static impact_world impact_world_at(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                    GLOBAL const real *reals, GLOBAL const real *bodies,
                                    GLOBAL real *memory, int world)
{
  impact_world w;
  const int parameters = PARAMETERS(n->links, n->columns), rows = PARTS * LANES;
  w.n = n;
  w.ints = ints;
  w.reals = reals;
  w.bodies = bodies;
  GLOBAL real *at =
    ROW(memory, world, LANES * SWEEP_DUAL_REALS(n->numbers, n->nq, n->nv, parameters));
  at = impact_numbers(&w.tree, at, n->numbers);
  w.from = impact_numbers(&w.vectors, at, 8 * n->nv);
  w.to = w.from + rows * n->nq;
  w.meet = w.to + rows * n->nq;
  w.parameters = w.meet + rows * n->nq;
  w.seeds = w.parameters + rows * parameters;
  return w;
}

// ---- tangents ----

static num impact_seed(const impact_world *w, int i)
{
  return n_with_part(n_lit(R(0.0)), 1, lane_load(w->seeds + i * LANES));
}

static void impact_keep(const impact_world *w, int i, num x)
{
  lane_store(n_get_part(x, 1), w->seeds + i * LANES);
}

// Writes positions with the tangents from `at` on to rows.
static void impact_put_positions(const impact_world *w, GLOBAL const real *values, int at,
                                 GLOBAL real *rows)
{
  for (int k = 0; k < w->n->nq; ++k) {
    row_put(&w->tree, rows, w->n->nq, k, n_lit(values[k]));
  }
  for (int i = 0; i < w->n->nv; ++i) {
    block_put(&w->tree, w->n->at_free + i, impact_seed(w, at + i));
  }
  joints_moved(&w->tree, w->n, w->ints, rows, rows);
}

// Takes the tangents of positions out of rows, to `at`.
static void impact_keep_positions(const impact_world *w, GLOBAL const real *rows, int at)
{
  const int nq = w->n->nq;
  for (int i = 0; i < w->n->links; ++i) {
    const tree_link l = link_at(w->n, w->ints, i);
    const int plain = l.type == JOINT_IS_FREE ? 3 : l.dofs == 1;
    for (int k = 0; k < plain; ++k) {
      impact_keep(w, at + l.v + k, row_get(&w->tree, rows, nq, l.q + k));
    }
    if (l.dofs > 1) {
      const FN(quaternion) turned = quaternion_row(&w->tree, rows, nq, l.q + plain);
      FN(quaternion) back;
      back.w = n_of(n_value(turned.w));
      back.v = FN(make)(n_of(-n_value(turned.v.x)), n_of(-n_value(turned.v.y)),
                        n_of(-n_value(turned.v.z)));
      const vec turn = FN(quaternion_log)(FN(quaternion_times)(back, turned));
      impact_keep(w, at + l.v + plain, turn.x);
      impact_keep(w, at + l.v + plain + 1, turn.y);
      impact_keep(w, at + l.v + plain + 2, turn.z);
    }
  }
}

// ---- how a body goes ----

// Its joint's place at both ends, the whole turn between them; at the beginning the turns of its
// link and of itself, and how far it is from its joint.
typedef struct impact_body {
  vec from, to, turn, arm;
  FN(quaternion) link, turned;
  real radius;
} impact_body;

// Returns where a link is; link -1 is the world.
static vec impact_place(const impact_world *w, int link, FN(quaternion) *turned)
{
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  if (link < 0) {
    turned->w = n_lit(R(1.0));
    turned->v = none;
    return none;
  }
  *turned = block_quaternion(&w->tree, w->n->at_quaternion + 4 * link);
  return block_get3(&w->tree, w->n->at_origin + 3 * link);
}

static vec impact_joint(const impact_world *w, int link)
{
  return link < 0 ? lit3(R(0.0), R(0.0), R(0.0))
                  : real3(w->reals + w->n->at_link_reals + LINK_REALS * link + LINK_JOINT);
}

static void impact_place_links(const impact_world *w, GLOBAL const real *q)
{
  for (int i = 0; i < w->n->links; ++i) {
    place_link(&w->tree, w->n, w->ints, w->reals, i, q);
  }
}

static void impact_set_bodies(const impact_world *w, int group, impact_body body[2])
{
  GLOBAL const int *g = w->ints + w->n->at_groups + GROUP_INTS * group;
  GLOBAL const real *of = w->reals + w->n->at_group_reals + GROUP_REALS * group;
  impact_place_links(w, w->from);
  for (int side = 0; side < 2; ++side) {
    const int link = g[side ? GROUP_B : GROUP_A];
    GLOBAL const real *pose = w->bodies + 14 * group + 7 * side;
    const vec origin = impact_place(w, link, &body[side].link);
    const vec joint = FN(quaternion_rotate)(body[side].link, impact_joint(w, link));
    body[side].from = FN(add3)(origin, joint);
    body[side].arm = FN(sub3)(FN(quaternion_rotate)(body[side].link, real3(pose)), joint);
    body[side].turned = FN(quaternion_times)(body[side].link, quaternion_real(pose + 3));
    body[side].radius = of[GROUP_BALLS + BALL_REALS * side + 3];
  }
  impact_place_links(w, w->to);
  for (int side = 0; side < 2; ++side) {
    const int link = g[side ? GROUP_B : GROUP_A];
    FN(quaternion) turned, back = body[side].link;
    const vec origin = impact_place(w, link, &turned);
    back.v = FN(neg3)(back.v);
    body[side].to = FN(add3)(origin, FN(quaternion_rotate)(turned, impact_joint(w, link)));
    body[side].turn = FN(quaternion_log)(FN(quaternion_times)(turned, back));
  }
}

// Returns where a body's joint is at a time.
static vec impact_middle(const impact_body *b, num time)
{
  return FN(mad3)(FN(sub3)(b->to, b->from), time, b->from);
}

// Returns where a body's point x is at a time.
static vec impact_point(const impact_body *b, vec x, num time)
{
  const FN(quaternion) more = FN(quaternion_exp)(FN(scale3)(b->turn, time));
  const vec arm = FN(add3)(b->arm, FN(quaternion_rotate)(b->turned, x));
  return FN(add3)(impact_middle(b, time), FN(quaternion_rotate)(more, arm));
}

// Returns how fast what a body has at p at a time goes there.
static vec impact_speed(const impact_body *b, vec p, num time)
{
  return FN(add3)(FN(sub3)(b->to, b->from),
                  FN(cross3)(b->turn, FN(sub3)(p, impact_middle(b, time))));
}

static num impact_closing(const impact_body body[2], const vec p[2], vec n, num time)
{
  return FN(dot3)(n,
                  FN(sub3)(impact_speed(&body[1], p[1], time), impact_speed(&body[0], p[0], time)));
}

// ---- where features meet ----

static vec3_r impact_value(vec a)
{
  return make_r(n_value(a.x), n_value(a.y), n_value(a.z));
}

static real impact_dot(vec3_r a, vec3_r b)
{
  return lane_first(dot3_r(a, b));
}

static vec impact_unit(vec a)
{
  return FN(scale3)(a, n_rcp(n_sqrt(FN(dot3)(a, a))));
}

// The nearest points of two features: inside of both, or a corner and the edge from corner a to b,
// or where a and b are the same a corner and a corner.
typedef struct impact_choice {
  int inside, point, a, b;
  real square; // of their distance
} impact_choice;

static void impact_try_edge(const vec3_r x[4], int point, int a, int b, impact_choice *best)
{
  const vec3_r e = sub3_r(x[b], x[a]), w = sub3_r(x[point], x[a]);
  const real ee = impact_dot(e, e), along = ee > R(0.0) ? impact_dot(w, e) / ee : R(0.0);
  const real s = real_min(real_max(along, R(0.0)), R(1.0));
  const vec3_r apart = mad3_r(e, lane_lit(-s), w);
  const real square = impact_dot(apart, apart);
  if (square < best->square) {
    best->square = square;
    best->inside = 0;
    best->point = point;
    best->a = along >= R(1.0) ? b : a;
    best->b = along <= R(0.0) ? a : b;
  }
}

static void impact_try_inside(const vec3_r x[4], int edges, impact_choice *best)
{
  const vec3_r e = sub3_r(x[edges ? 1 : 2], x[edges ? 0 : 1]), f = sub3_r(x[3], x[edges ? 2 : 1]);
  const vec3_r w = sub3_r(x[0], x[edges ? 2 : 1]), normal = cross3_r(e, f);
  const real nn = impact_dot(normal, normal), height = impact_dot(w, normal);
  if (!(nn > R(0.0))) {
    return;
  }
  const real u = impact_dot(cross3_r(w, f), normal) / nn,
             t = impact_dot(cross3_r(e, w), normal) / nn, s = edges ? -u : u;
  const int inside = s >= R(0.0) && t >= R(0.0) &&
                     (edges ? s <= R(1.0) && t <= R(1.0) : s + t <= R(1.0));
  if (inside && height * height / nn < best->square) {
    best->square = height * height / nn;
    best->inside = 1;
  }
}

static impact_choice impact_choose(const vec corners[4], int edges)
{
  vec3_r x[4];
  impact_choice best = {0, 0, 0, 0, REAL_MOST};
  for (int i = 0; i < 4; ++i) {
    x[i] = impact_value(corners[i]);
  }
  for (int i = 0; i < (edges ? 4 : 3); ++i) {
    // A corner of one edge and the other edge, or the vertex and an edge of the triangle.
    const int a = edges ? (i < 2 ? 2 : 0) : i < 2 ? 1 : 2, b = edges ? a + 1 : i ? 3 : 2;
    impact_try_edge(x, edges ? i : 0, a, b, &best);
  }
  impact_try_inside(x, edges, &best);
  return best;
}

// The nearest points of both bodies, and the unit normal out of body 2.
typedef struct impact_touch {
  vec p[2], n;
} impact_touch;

static void impact_touch_inside(const vec x[4], int edges, vec p[2], vec *n)
{
  const vec e = FN(sub3)(x[edges ? 1 : 2], x[edges ? 0 : 1]), f = FN(sub3)(x[3], x[edges ? 2 : 1]);
  const vec w = FN(sub3)(x[0], x[edges ? 2 : 1]), normal = FN(cross3)(e, f),
            unit = impact_unit(normal);
  const num height = FN(dot3)(unit, w);
  if (edges) {
    const num nn = n_rcp(FN(dot3)(normal, normal));
    const num s = n_mul(FN(dot3)(FN(cross3)(w, f), normal), nn),
              t = n_mul(FN(dot3)(FN(cross3)(e, w), normal), nn);
    p[0] = FN(mad3)(e, n_neg(s), x[0]);
    p[1] = FN(mad3)(f, t, x[2]);
  } else {
    p[0] = x[0];
    p[1] = FN(mad3)(unit, n_neg(height), x[0]);
  }
  *n = FN(scale3)(unit, n_lit(lane_first(n_value(height)) < R(0.0) ? R(-1.0) : R(1.0)));
}

static void impact_touch_edge(const vec x[4], int before, const impact_choice *c, vec p[2], vec *n)
{
  vec foot = x[c->a];
  if (c->a != c->b) {
    const vec e = FN(sub3)(x[c->b], x[c->a]);
    const num along = n_div(FN(dot3)(FN(sub3)(x[c->point], x[c->a]), e), FN(dot3)(e, e));
    foot = FN(mad3)(e, along, foot);
  }
  const int first = c->point < before;
  p[!first] = x[c->point];
  p[first] = foot;
  *n = impact_unit(FN(sub3)(p[0], p[1]));
}

// Sets *t to where the features meet at a time: `x` are their corners in the meshes' own axes.
static void impact_touch_at(const impact_body body[2], GLOBAL const real *x, int kind, num time,
                            impact_touch *t)
{
  const int edges = kind == CCD_EDGES, before = edges ? 2 : 1, turned = kind == CCD_TRIANGLE_VERTEX;
  vec corners[4], p[2];
  for (int i = 0; i < 4; ++i) {
    corners[i] = impact_point(&body[i < before ? turned : !turned], real3(x + 3 * i), time);
  }
  const impact_choice c = impact_choose(corners, edges);
  if (c.inside) {
    impact_touch_inside(corners, edges, p, &t->n);
  } else {
    impact_touch_edge(corners, before, &c, p, &t->n);
  }
  t->p[0] = p[turned];
  t->p[1] = p[!turned];
  t->n = FN(scale3)(t->n, n_lit(turned ? R(-1.0) : R(1.0)));
}

// Returns the time of impact with its derivative: the nearest points stay as far from each other as
// they are, and how they move along their features does not count.
static num impact_time(const impact_body body[2], const impact_touch *t, real toi)
{
  const num time = n_lit(toi);
  const vec3_r n = impact_value(t->n), apart = impact_value(impact_speed(&body[0], t->p[0], time));
  const vec3_r other = impact_value(impact_speed(&body[1], t->p[1], time));
  const vec between = FN(sub3)(t->p[0], t->p[1]);
  const vec3_r slope =
    make_r(n_get_part(between.x, 1), n_get_part(between.y, 1), n_get_part(between.z, 1));
  const real closing = impact_dot(n, sub3_r(other, apart));
  const real speed = real_sqrt(impact_dot(apart, apart)) + real_sqrt(impact_dot(other, other));
  return closing > IMPACT_GRAZING * speed ? n_with_part(time, 1, dot3_r(n, slope) / closing) : time;
}

// Returns where the impulse acts: between the nearest points, or in the middle of the patch.
static vec impact_acts_at(const impact_body body[2], const impact_touch *t, num time,
                          GLOBAL const real *kept, GLOBAL const int *ints)
{
  const vec p = FN(scale3)(FN(add3)(t->p[0], t->p[1]), n_lit(R(0.5)));
  vec off = lit3(R(0.0), R(0.0), R(0.0));
  for (int side = 0; side < 2 && ints[SWEEP_KEPT_WHOLE]; ++side) {
    const vec x = impact_point(&body[side], real3(kept + SWEEP_KEPT_MEANS + 3 * side), time);
    const real share = (real)ints[SWEEP_KEPT_COUNTS + side] / SWEEP_DIRECTIONS;
    off = FN(mad3)(FN(sub3)(x, p), n_lit(share), off);
  }
  return FN(add3)(p, FN(mad3)(t->n, n_neg(FN(dot3)(t->n, off)), off));
}

// Returns the length of a, whose derivative at 0 counts as 0.
static num impact_length(vec a)
{
  const num square = FN(dot3)(a, a);
  const n_mask some = n_value(square) > n_plain(R(0.0));
  return n_select(some, n_sqrt(n_select(some, square, n_lit(R(1.0)))), n_lit(R(0.0)));
}

static int impact_above(num a, num b)
{
  return lane_first(n_value(a)) > lane_first(n_value(b));
}

// Returns the share of the way at which bodies are stopped.
static num impact_stop(const impact_body body[2], const impact_touch *t, num time, real apart)
{
  const num closing = impact_closing(body, t->p, t->n, time), zero = n_lit(R(0.0));
  num most = impact_above(closing, zero) ? closing : zero;
  for (int side = 0; side < 2; ++side) {
    most =
      n_smad(impact_length(FN(cross3)(body[side].turn, t->n)), R(2.0) * body[side].radius, most);
  }
  const num slowest = n_scale(most, SWEEP_SLOWEST),
            speed = impact_above(slowest, closing) ? slowest : closing;
  const num stop = n_sub(time, n_scale(n_rcp(speed), apart));
  return impact_above(stop, zero) ? stop : zero;
}

// ---- what bodies do there ----

// Writes J (3, nv) of the velocity of a group's first link against its second at p, and inv(L) J'.
static void impact_jacobian(const impact_world *w, int group, vec p)
{
  GLOBAL const int *g = w->ints + w->n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = w->ints + w->n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  const int nv = w->n->nv, j = nv, x = 4 * nv;
  for (int i = 0; i < 3 * nv; ++i) {
    block_put(&w->vectors, j + i, n_lit(R(0.0)));
  }
  for (int m = 0; m < g[GROUP_DOFS]; ++m, mover += MOVER_INTS) {
    const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
    const tree_link l = link_at(w->n, w->ints, link);
    const vec axis = block_get3(&w->tree, w->n->at_axis + 3 * dof);
    const vec arm = FN(add3)(FN(sub3)(p, block_get3(&w->tree, w->n->at_origin + 3 * link)),
                             block_get3(&w->tree, w->n->at_arm + 3 * link));
    const vec column = FN(scale3)(dof_turns(&l, dof - l.v) ? FN(cross3)(axis, arm) : axis,
                                  n_lit((real)mover[MOVER_SIGN]));
    block_put(&w->vectors, j + dof, column.x);
    block_put(&w->vectors, j + nv + dof, column.y);
    block_put(&w->vectors, j + 2 * nv + dof, column.z);
  }
  for (int k = 0; k < 3; ++k) {
    for (int tree = 0; tree < w->n->trees; ++tree) {
      const mass_tree t = mass_tree_of(w->n, w->ints, tree);
      for (int i = 0; i < t.count; ++i) {
        const int row = w->n->at_factor + t.block + i * t.count;
        num sum = block_get(&w->vectors, j + k * nv + t.dofs[i]);
        for (int c = 0; c < i; ++c) {
          sum = n_sub(sum, n_mul(block_get(&w->tree, row + c),
                                 block_get(&w->vectors, x + k * nv + t.dofs[c])));
        }
        block_put(&w->vectors, x + k * nv + t.dofs[i], n_mul(sum, block_get(&w->tree, row + i)));
      }
    }
  }
}

static num impact_product(const world_block *b, int i, int k, int count)
{
  num sum = n_lit(R(0.0));
  for (int d = 0; d < count; ++d) {
    sum = n_mad(block_get(b, i + d), block_get(b, k + d), sum);
  }
  return sum;
}

// Along the normal and two tangents: the velocity, and what an impulse adds to it.
typedef struct impact_frame {
  vec axis[3];
  num v[3], k[3][3];
} impact_frame;

static void impact_set_frame(const impact_world *w, vec n, impact_frame *f)
{
  const int nv = w->n->nv;
  const vec3_r of = impact_value(n);
  const real x = real_abs(lane_first(of.x)), y = real_abs(lane_first(of.y)),
             z = real_abs(lane_first(of.z));
  vec v, k[3];
  f->axis[0] = n;
  f->axis[1] = impact_unit(FN(cross3)(n, unit_axis(x <= y && x <= z ? 0 : y <= z ? 1 : 2)));
  f->axis[2] = FN(cross3)(n, f->axis[1]);
  v = FN(make)(impact_product(&w->vectors, nv, 0, nv), impact_product(&w->vectors, 2 * nv, 0, nv),
               impact_product(&w->vectors, 3 * nv, 0, nv));
  for (int i = 0; i < 3; ++i) {
    k[i] = FN(make)(impact_product(&w->vectors, (4 + i) * nv, 4 * nv, nv),
                    impact_product(&w->vectors, (4 + i) * nv, 5 * nv, nv),
                    impact_product(&w->vectors, (4 + i) * nv, 6 * nv, nv));
  }
  for (int i = 0; i < 3; ++i) {
    f->v[i] = FN(dot3)(f->axis[i], v);
    for (int j = 0; j < 3; ++j) {
      const vec column = FN(make)(FN(dot3)(k[0], f->axis[j]), FN(dot3)(k[1], f->axis[j]),
                                  FN(dot3)(k[2], f->axis[j]));
      f->k[i][j] = FN(dot3)(f->axis[i], column);
    }
  }
}

// As sweep_rub.
static void impact_rub(const impact_frame *s, num change, num friction, num f[3])
{
  const num zero = n_lit(R(0.0)), own = n_rcp(s->k[0][0]), plain = n_mul(change, own);
  const num b = n_mul(s->k[1][0], own), e = n_mul(s->k[2][0], own);
  const num more = n_scale(n_add(s->k[1][1], s->k[2][2]), SWEEP_LEAST);
  const num a = n_add(n_sub(s->k[1][1], n_mul(b, s->k[0][1])), more);
  const num c = n_add(n_sub(s->k[2][2], n_mul(e, s->k[0][2])), more);
  const num d = n_sub(s->k[1][2], n_mul(b, s->k[0][2]));
  const num g = n_neg(n_mad(s->k[1][0], plain, s->v[1])),
            h = n_neg(n_mad(s->k[2][0], plain, s->v[2]));
  const num size = n_sub(n_mul(a, c), n_mul(d, d));
  if (impact_above(size, zero)) {
    const num x = n_div(n_sub(n_mul(c, g), n_mul(d, h)), size),
              y = n_div(n_sub(n_mul(a, h), n_mul(d, g)), size);
    const num push = n_mul(n_sub(change, n_mad(s->k[0][1], x, n_mul(s->k[0][2], y))), own);
    const real rubs = lane_first(n_value(x)) * lane_first(n_value(x)) +
                      lane_first(n_value(y)) * lane_first(n_value(y));
    if (real_sqrt(rubs) <= lane_first(n_value(friction)) * lane_first(n_value(push))) {
      f[0] = push;
      f[1] = x;
      f[2] = y;
      return;
    }
  }
  num along[2] = {zero, zero};
  const num square = n_mad(s->v[1], s->v[1], n_mul(s->v[2], s->v[2]));
  if (impact_above(square, zero)) {
    const num by = n_neg(n_div(friction, n_sqrt(square)));
    along[0] = n_mul(by, s->v[1]);
    along[1] = n_mul(by, s->v[2]);
  }
  const num whole = n_add(s->k[0][0], n_mad(s->k[0][1], along[0], n_mul(s->k[0][2], along[1])));
  if (impact_above(whole, n_scale(s->k[0][0], SWEEP_JAMS))) {
    f[0] = n_div(change, whole);
    f[1] = n_mul(f[0], along[0]);
    f[2] = n_mul(f[0], along[1]);
  }
}

// As sweep_impulse, in the world's axes.
static vec impact_impulse(const impact_frame *s, num friction, real restitution)
{
  const num zero = n_lit(R(0.0)), change = n_scale(s->v[0], -(R(1.0) + restitution));
  num f[3] = {zero, zero, zero}, energy = zero;
  if (!impact_above(zero, s->v[0]) || !impact_above(s->k[0][0], zero)) {
    return lit3(R(0.0), R(0.0), R(0.0));
  }
  const num plain = n_div(change, s->k[0][0]);
  f[0] = plain;
  if (impact_above(friction, zero)) {
    impact_rub(s, change, friction, f);
  }
  for (int i = 0; i < 3; ++i) {
    const num half_way =
      n_scale(n_mad(s->k[i][0], f[0], n_mad(s->k[i][1], f[1], n_mul(s->k[i][2], f[2]))), R(0.5));
    energy = n_mad(f[i], n_add(s->v[i], half_way), energy);
  }
  if (!(lane_first(n_value(energy)) <= R(0.0))) {
    f[0] = plain;
    f[1] = f[2] = zero;
  }
  return FN(mad3)(s->axis[0], f[0], FN(mad3)(s->axis[1], f[1], FN(scale3)(s->axis[2], f[2])));
}

// Adds inv(M) J' p to v.
static void impact_push(const impact_world *w, vec p)
{
  const int nv = w->n->nv, x = 4 * nv, to = 7 * nv;
  for (int tree = 0; tree < w->n->trees; ++tree) {
    const mass_tree t = mass_tree_of(w->n, w->ints, tree);
    for (int i = t.count - 1; i >= 0; --i) {
      const int column = w->n->at_factor + t.block + i, dof = t.dofs[i];
      num sum = n_mad(block_get(&w->vectors, x + dof), p.x,
                      n_mad(block_get(&w->vectors, x + nv + dof), p.y,
                            n_mul(block_get(&w->vectors, x + 2 * nv + dof), p.z)));
      for (int k = i + 1; k < t.count; ++k) {
        sum = n_sub(sum, n_mul(block_get(&w->tree, column + k * t.count),
                               block_get(&w->vectors, to + t.dofs[k])));
      }
      sum = n_mul(sum, block_get(&w->tree, column + i * t.count));
      block_put(&w->vectors, to + dof, sum);
      block_add(&w->vectors, dof, sum);
    }
  }
}

// ---- an impact ----

// Finds the velocity after an impact at a time; p is where it acts. `mu` is the pair's friction.
static void impact_bounce(const impact_world *w, int group, const impact_touch *t, vec p, num time,
                          num mu)
{
  GLOBAL const real *of = w->reals + w->n->at_group_reals + GROUP_REALS * group;
  impact_frame f;
  joints_share(&w->tree, w->n, w->ints, w->from, w->to, time);
  joints_moved(&w->tree, w->n, w->ints, w->from, w->meet);
  impact_place_links(w, w->meet);
  mass_matrix(&w->tree, w->n, w->ints, w->reals, w->parameters, 0);
  block_factor(&w->tree, w->n, w->ints, w->reals, w->n->at_mass, w->n->at_factor, R(0.0));
  impact_jacobian(w, group, p);
  impact_set_frame(w, t->n, &f);
  const real bounces = lane_first(n_value(f.v[0])) < -w->reals[WORLD_BOUNCE] ? of[GROUP_RESTITUTION]
                                                                             : R(0.0);
  impact_push(w, impact_impulse(&f, of[GROUP_FLAT] > R(0.0) ? n_lit(R(0.0)) : mu, bounces));
}

// Takes the tangents of what an impact acts on to those of what it leaves.
static void impact_pass(const impact_world *w, GLOBAL const real *kept, GLOBAL const int *ints,
                        num mu)
{
  const int nq = w->n->nq, nv = w->n->nv, group = ints[SWEEP_KEPT_GROUP];
  GLOBAL const real *of = w->reals + w->n->at_group_reals + GROUP_REALS * group,
                    *state = kept + SWEEP_KEPT_STATE;
  impact_body body[2];
  impact_touch t;
  impact_put_positions(w, state, 0, w->from);
  impact_put_positions(w, state + nq, nv, w->to);
  for (int i = 0; i < nv; ++i) {
    block_put(&w->vectors, i, n_shift(impact_seed(w, 2 * nv + i), state[2 * nq + i]));
  }
  num rest = n_shift(impact_seed(w, 3 * nv), kept[SWEEP_KEPT_REST]);
  impact_set_bodies(w, group, body);
  impact_touch_at(body, kept + SWEEP_KEPT_CORNERS, ints[SWEEP_KEPT_KIND],
                  n_lit(kept[SWEEP_KEPT_TOI]), &t);
  const num time = impact_time(body, &t, kept[SWEEP_KEPT_TOI]);
  impact_touch_at(body, kept + SWEEP_KEPT_CORNERS, ints[SWEEP_KEPT_KIND], time, &t);
  const num stop = impact_stop(body, &t, time, of[GROUP_APART]);
  impact_bounce(w, group, &t, impact_acts_at(body, &t, time, kept, ints), time, mu);
  joints_share(&w->tree, w->n, w->ints, w->from, w->to, stop);
  joints_moved(&w->tree, w->n, w->ints, w->from, w->from);
  rest = ints[SWEEP_KEPT_LAST] ? n_lit(R(0.0)) : n_mul(rest, n_sub(n_lit(R(1.0)), stop));
  for (int i = 0; i < nv; ++i) {
    block_put(&w->tree, w->n->at_free + i,
              n_mul(n_scale(rest, w->reals[WORLD_STEP]), block_get(&w->vectors, i)));
  }
  joints_moved(&w->tree, w->n, w->ints, w->from, w->to);
  impact_keep_positions(w, w->from, 0);
  impact_keep_positions(w, w->to, nv);
  for (int i = 0; i < nv; ++i) {
    impact_keep(w, 2 * nv + i, block_get(&w->vectors, i));
  }
  impact_keep(w, 3 * nv, rest);
}

// ---- many directions ----

static GLOBAL const real *impact_own_parameters(GLOBAL const world_sizes *n,
                                                GLOBAL const real *parameters, int shared,
                                                int world)
{
  return shared ? parameters : ROW(parameters, world, PARAMETERS(n->links, n->columns));
}

// Where a world's parameters are: rows of scenes with springs have their own friction.
typedef struct impact_parameters {
  GLOBAL const real *own, *reals, *springs;
  int given, world;
} impact_parameters;

static impact_parameters impact_parameters_of(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                              GLOBAL const real *parameters, int shared,
                                              GLOBAL const real *springs, int given, int world)
{
  impact_parameters p;
  p.own = impact_own_parameters(n, parameters, shared, world);
  p.reals = reals;
  p.springs = springs;
  p.given = given;
  p.world = world;
  return p;
}

static real impact_friction(GLOBAL const world_sizes *n, const impact_parameters *p,
                            GLOBAL const int *group)
{
  return n->pair_springs ? spring_of_pair(n, p->reals, p->springs, p->given, p->world,
                                          group[GROUP_PAIR])[SPRING_MU]
                         : column_friction(n, group, p->own);
}

// Returns the reals of an impact that is kept.
static GLOBAL const real *impact_kept(GLOBAL const world_sizes *n, GLOBAL const real *kept,
                                      int world, int event)
{
  const int width = SWEEP_KEPT_REALS(n->nq, n->nv);
  return ROW(kept, world, (SWEEP_EVENTS + 1) * width) + event * width;
}

static GLOBAL const int *impact_group(const impact_world *w, GLOBAL const int *ints)
{
  return w->ints + w->n->at_groups + GROUP_INTS * ints[SWEEP_KEPT_GROUP];
}

// Returns the friction of a group whose columns have derivatives.
static num impact_friction_along(const impact_world *w, GLOBAL const int *group)
{
  const int width = PARAMETERS(w->n->links, w->n->columns), at = w->n->links;
  const num a = row_get(&w->tree, w->parameters, width, at + group[GROUP_COLUMN_A]);
  return group_is_listed(group) ? a
                                : FN(larger_friction)(a, row_get(&w->tree, w->parameters, width,
                                                                 at + group[GROUP_COLUMN_B]));
}

static void impact_put_parameter(const impact_world *w, const impact_parameters *p, int k,
                                 lane slope)
{
  row_put(&w->tree, w->parameters, PARAMETERS(w->n->links, w->n->columns), k,
          n_with_part(n_lit(p->own[k]), 1, slope));
}

// One work-item takes LANES tangents of one world through its impacts: columns, from `first` on, of
// out (worlds, .., columns), whose rows are by q and by v, are those of where the step would lead
// and of the velocity, in whose place come those of the step's end. `before` (worlds, before_width)
// has a tangent of the step's beginning, controls and parameters; where `unit` is set, each
// column's is that of the unit matrix instead. `out_width` is how many numbers a world's row of
// `out` has. Arrays that are not named here are those of world_sweep_impulse and of
// world_sweep_least.
ADJOINT_KERNEL void world_impact_tangents(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *bodies, GLOBAL const real *parameters, int shared, GLOBAL const real *springs,
  int given, GLOBAL const real *kept, GLOBAL const int *kept_ints, GLOBAL const int *status,
  GLOBAL const real *before, int before_width, int unit, int first, int columns, GLOBAL real *out,
  int out_width, GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, links = n->links, at = 2 * nv + n->nu;
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      !ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  const impact_world w = impact_world_at(n, ints, reals, bodies, memory, world);
  const impact_parameters p =
    impact_parameters_of(n, reals, parameters, shared, springs, given, world);
  GLOBAL const int *events = ROW(kept_ints, world, SWEEP_KEPT_ROW);
  GLOBAL const real *own = ROW(before, world, before_width);
  GLOBAL real *to = ROW(out, world, out_width);
  real slope[LANES];
  for (int i = 0; i < 3 * nv; ++i) {
    for (int l = 0; l < LANES; ++l) {
      const int column = MIN_INT(first + l, columns - 1);
      slope[l] = i >= nv ? to[(i - nv) * columns + column] : unit ? (real)(i == column) : own[i];
    }
    lane_store(lane_load(slope), w.seeds + i * LANES);
  }
  lane_store(lane_lit(R(0.0)), w.seeds + 3 * nv * LANES);
  for (int k = 0; k < links + n->columns; ++k) {
    for (int l = 0; l < LANES; ++l) {
      slope[l] = unit ? (real)(at + k == MIN_INT(first + l, columns - 1)) : own[at + k];
    }
    impact_put_parameter(&w, &p, k, lane_load(slope));
  }
  for (int e = 0; e < events[0]; ++e) {
    GLOBAL const int *event = events + 1 + SWEEP_KEPT_INTS * e;
    GLOBAL const int *group = impact_group(&w, event);
    const num mu = n->pair_springs ? n_lit(impact_friction(n, &p, group))
                                   : impact_friction_along(&w, group);
    impact_pass(&w, impact_kept(n, kept, world, e), event, mu);
  }
  for (int i = 0; i < 2 * nv; ++i) {
    for (int l = 0; l < LANES && first + l < columns; ++l) {
      to[i * columns + first + l] = w.seeds[(nv + i) * LANES + l];
    }
  }
}

// One work-item begins the way back through one world's impacts. state (worlds, 2 nv) has the
// cotangents of the step's end; bars (worlds, SWEEP_SEED + SWEEP_SEEDS) get those of what the last
// impact leaves, and slopes (worlds, links + columns), of mass scales and of friction, zeros.
ADJOINT_KERNEL void world_impact_start(GLOBAL const world_sizes *n, GLOBAL const real *state,
                                       GLOBAL real *bars, GLOBAL real *slopes, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  for (int i = 0; i < SWEEP_SEED(nv); ++i) {
    ROW(bars, world, SWEEP_SEED(nv) + SWEEP_SEEDS(nv, n->links))
    [i] = i >= nv && i < 3 * nv ? ROW(state, world, 2 * nv)[i - nv] : R(0.0);
  }
  for (int i = 0; i < n->links + n->columns; ++i) {
    ROW(slopes, world, n->links + n->columns)[i] = R(0.0);
  }
}

// Fills seeds with LANES directions from `first` on: of what the impact acts on, then mass scales,
// then friction, whose part of each direction is returned.
static num impact_put_directions(const impact_world *w, const impact_parameters *p, int first,
                                 GLOBAL const int *group)
{
  const int nv = w->n->nv, links = w->n->links;
  real slope[LANES];
  for (int i = 0; i < SWEEP_SEEDS(nv, links); ++i) {
    for (int l = 0; l < LANES; ++l) {
      slope[l] = (real)(i == first + l);
    }
    if (i < SWEEP_SEED(nv)) {
      lane_store(lane_load(slope), w->seeds + i * LANES);
    } else if (i < SWEEP_SEED(nv) + links) {
      impact_put_parameter(w, p, i - SWEEP_SEED(nv), lane_load(slope));
    }
  }
  return n_with_part(n_lit(impact_friction(w->n, p, group)), 1, lane_load(slope));
}

// One work-item finds what LANES directions, from `first` on, of what an impact of one world acts
// on and of its parameters do to what it leaves, times the cotangents of that, the first SWEEP_SEED
// of bars: behind these.
ADJOINT_KERNEL void world_impact_cotangents(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                            GLOBAL const real *reals, GLOBAL const real *bodies,
                                            GLOBAL const real *parameters, int shared,
                                            GLOBAL const real *springs, int given,
                                            GLOBAL const real *kept, GLOBAL const int *kept_ints,
                                            GLOBAL const int *status, int event, int first,
                                            GLOBAL real *bars, GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, links = n->links;
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      event >= ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  const impact_world w = impact_world_at(n, ints, reals, bodies, memory, world);
  const impact_parameters p =
    impact_parameters_of(n, reals, parameters, shared, springs, given, world);
  GLOBAL const int *own = ROW(kept_ints, world, SWEEP_KEPT_ROW) + 1 + SWEEP_KEPT_INTS * event;
  GLOBAL real *bar = ROW(bars, world, SWEEP_SEED(nv) + SWEEP_SEEDS(nv, links));
  const num mu = impact_put_directions(&w, &p, first, impact_group(&w, own));
  impact_pass(&w, impact_kept(n, kept, world, event), own, mu);
  lane sum = lane_lit(R(0.0));
  for (int i = 0; i < SWEEP_SEED(nv); ++i) {
    sum += bar[i] * lane_load(w.seeds + i * LANES);
  }
  real each[LANES];
  lane_store(sum, each);
  for (int l = 0; l < LANES && first + l < SWEEP_SEEDS(nv, links); ++l) {
    bar[SWEEP_SEED(nv) + first + l] = each[l];
  }
}

// One work-item goes back to before an impact of one world: its cotangents take the place of those
// after it, and those of parameters are added to slopes. Before the first impact, 0, `state` gets
// those of where the step would lead and of the velocity; those of where it begins stay in bars,
// the first nv.
ADJOINT_KERNEL void world_impact_back(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                      GLOBAL const real *parameters, int shared,
                                      GLOBAL const int *kept_ints, GLOBAL const int *status,
                                      int event, GLOBAL real *bars, GLOBAL real *slopes,
                                      GLOBAL real *state, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, links = n->links, count = SWEEP_SEED(nv);
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      event >= ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  GLOBAL const int *own = ROW(kept_ints, world, SWEEP_KEPT_ROW) + 1 + SWEEP_KEPT_INTS * event;
  GLOBAL real *bar = ROW(bars, world, count + SWEEP_SEEDS(nv, links)), *next = bar + count;
  GLOBAL real *slope = ROW(slopes, world, links + n->columns);
  for (int i = 0; i < count; ++i) {
    bar[i] = next[i];
  }
  for (int i = 0; i < links; ++i) {
    slope[i] += next[count + i];
  }
  GLOBAL const int *group = ints + n->at_groups + GROUP_INTS * own[SWEEP_KEPT_GROUP];
  if (group_is_listed(group)) {
    slope[links + group[GROUP_COLUMN_A]] += next[count + links];
  } else if (!n->pair_springs) {
    for (int side = 0; side < 2; ++side) {
      slope[links + group[side ? GROUP_COLUMN_B : GROUP_COLUMN_A]] +=
        column_share(n, group, side, impact_own_parameters(n, parameters, shared, world)) *
        next[count + links];
    }
  }
  for (int i = 0; i < 2 * nv && event == 0; ++i) {
    ROW(state, world, 2 * nv)[i] = bar[nv + i];
  }
}
