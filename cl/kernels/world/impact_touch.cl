// Impacts on duals: the state of one world, the bodies of a group over a step, which features meet,
// and when and where they meet.

// like CCD_GRAZING, relative to the speed: slower approaches have unbounded time derivatives
#define IMPACT_GRAZING R(1e-6)

// The state of one world: its tree, its vectors (v at 0, J at nv, inv(L) J' at 4 nv, scratch at 7
// nv), rows of LANES positions at the start of the rest of the step, at its planned end and at the
// impact, rows of parameters and of controls, and tangents (SWEEP_SEED, LANES).
typedef struct impact_world {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *reals, *bodies;
  world_block tree, vectors;
  GLOBAL real *from, *to, *meet, *parameters, *controls, *seeds;
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
    ROW(memory, world, LANES * SWEEP_DUAL_REALS(n->numbers, n->nq, n->nv, n->nu, parameters));
  at = impact_numbers(&w.tree, at, n->numbers);
  w.from = impact_numbers(&w.vectors, at, 8 * n->nv);
  w.to = w.from + rows * n->nq;
  w.meet = w.to + rows * n->nq;
  w.parameters = w.meet + rows * n->nq;
  w.controls = w.parameters + rows * parameters;
  w.seeds = w.controls + rows * n->nu;
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

// Writes positions, with the tangents that begin at `at`, to rows.
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

// Extracts the tangents of positions from rows and writes them to `at`.
static void impact_keep_positions(const impact_world *w, GLOBAL const real *rows, int at)
{
  const int nq = w->n->nq;
  for (int i = 0; i < w->n->links; ++i) {
    const tree_link l = link_at(w->n, w->ints, i);
    const int plain = JOINT_PLAIN(l.type);
    for (int k = 0; k < plain; ++k) {
      impact_keep(w, at + l.v + k, row_get(&w->tree, rows, nq, l.q + k));
    }
    if (JOINT_HAS_QUATERNION(l.type)) {
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

// ---- the motion of a body ----

// The motion of a body: its joint's position at both ends and the total rotation between them; at
// the beginning the vector from its joint to the body and the orientations of its link and of
// itself.
typedef struct impact_body {
  vec from, to, turn, arm;
  FN(quaternion) link, turned;
  real radius;
} impact_body;

// Returns the position of a link, and its orientation in *turned. Link -1 is the world.
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
    place_link(&w->tree, w->n, w->ints, w->reals, i, q, w->controls);
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

// Returns the position of a body's joint at a time.
static vec impact_middle(const impact_body *b, num time)
{
  return FN(mad3)(FN(sub3)(b->to, b->from), time, b->from);
}

// Returns the position of a body's point x at a time.
static vec impact_point(const impact_body *b, vec x, num time)
{
  const FN(quaternion) more = FN(quaternion_exp)(FN(scale3)(b->turn, time));
  const vec arm = FN(add3)(b->arm, FN(quaternion_rotate)(b->turned, x));
  return FN(add3)(impact_middle(b, time), FN(quaternion_rotate)(more, arm));
}

// Returns the velocity of a body's material point at p at a time.
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

// ---- contact of features ----

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

// The nearest points of two features. They are inside both features, or they are a corner and a
// point of the edge from corner a to b. If a and b are equal, they are two corners.
typedef struct impact_choice {
  int inside, point, a, b;
  real square; // squared distance
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

// Sets *t to the contact of the features at a time. `x` are their corners in the meshes' own axes.
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

// Returns the time of impact with its derivative. The derivative keeps the distance of the nearest
// points constant. Their motion along the features does not matter.
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

// Returns the point of the impulse: between the nearest points, or in the middle of the patch.
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

// Returns the length of a. Its derivative at 0 counts as 0.
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

// Returns the share of the motion after which the bodies are stopped.
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
