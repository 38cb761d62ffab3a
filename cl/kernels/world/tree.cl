// Trees of links: where they are, how they move, what moves them. A link's numbers are seen in the
// world's axes from the link's own origin, so that little is lost far from the world's origin.

typedef struct tree_link {
  int parent, type, q, v, dofs;
} tree_link;

static tree_link link_at(GLOBAL const world_sizes *n, GLOBAL const int *ints, int i)
{
  GLOBAL const int *l = ints + n->at_links + LINK_INTS * i;
  tree_link r;
  r.parent = l[LINK_PARENT];
  r.type = l[LINK_TYPE];
  r.q = l[LINK_Q];
  r.v = l[LINK_V];
  r.dofs = r.type == JOINT_IS_FREE ? 6 : r.type == JOINT_IS_BALL ? 3 : r.type != JOINT_IS_FIXED;
  return r;
}

// Whether a degree of freedom of a joint turns its link; else it moves it along.
static int dof_turns(const tree_link *l, int k)
{
  return l->type == JOINT_IS_HINGE || l->type == JOINT_IS_BALL || (l->type == JOINT_IS_FREE && k > 2);
}

// ---- rotations ----
typedef struct FN(quaternion) {
  num w;
  vec v;
} FN(quaternion);

static FN(quaternion) FN(quaternion_times)(FN(quaternion) a, FN(quaternion) b)
{
  FN(quaternion) r;
  r.w = n_sub(n_mul(a.w, b.w), FN(dot3)(a.v, b.v));
  r.v = FN(add3)(FN(mad3)(b.v, a.w, FN(scale3)(a.v, b.w)), FN(cross3)(a.v, b.v));
  return r;
}

// Of a length that need not be 1; one without a length stays what it is.
static FN(quaternion) FN(quaternion_unit)(FN(quaternion) a)
{
  const num square = n_mad(a.w, a.w, FN(dot3)(a.v, a.v));
  const num inverse = n_rcp(n_sqrt(n_select(n_value(square) > n_plain(R(0.0)), square, n_lit(R(1.0)))));
  FN(quaternion) r;
  r.w = n_mul(a.w, inverse);
  r.v = FN(scale3)(a.v, inverse);
  return r;
}

// exp(s / 2)
static FN(quaternion) FN(quaternion_exp)(vec s)
{
  num a, b, c, cosine;
  FN(quaternion) r;
  FN(exp_coefficients)(n_scale(FN(dot3)(s, s), R(0.25)), &a, &b, &c, &cosine);
  r.w = cosine;
  r.v = FN(scale3)(s, n_scale(a, R(0.5)));
  return r;
}

// The rotation vector, of at most pi, of a unit quaternion.
static vec FN(quaternion_log)(FN(quaternion) a)
{
  const n_mask flip = n_value(a.w) < n_plain(R(0.0));
  const num sign = n_select(flip, n_lit(R(-1.0)), n_lit(R(1.0)));
  const num w = n_mul(a.w, sign);
  const vec v = FN(scale3)(a.v, sign);
  const num square = FN(dot3)(v, v);
  const n_mask small = n_value(square) < n_plain(R(1e-4));
  const num root = n_sqrt(n_select(small, n_lit(R(1.0)), square));
  const num large = n_mul(n_scale(n_atan2(root, w), R(2.0)), n_rcp(root));
  // atan(x) / x with x = |v| / w
  const num w_safe = n_select(small, w, n_lit(R(1.0)));
  const num x2 = n_mul(n_select(small, square, n_lit(R(0.0))), n_rcp(n_mul(w_safe, w_safe)));
  const num series = n_shift(n_mul(x2, n_shift(n_mul(x2, n_shift(n_mul(x2, n_shift(
    n_scale(x2, R(0.111111111111111111)), R(-0.142857142857142857))), R(0.2))),
    R(-0.333333333333333333))), R(1.0));
  const num near = n_mul(n_scale(series, R(2.0)), n_rcp(w_safe));
  return FN(scale3)(v, n_select(small, near, large));
}

static void block_put_rotation(const world_block *b, int i, FN(quaternion) a)
{
  const num w = a.w, x = a.v.x, y = a.v.y, z = a.v.z;
  const num xx = n_mul(x, x), yy = n_mul(y, y), zz = n_mul(z, z), one = n_lit(R(1.0));
  const num xy = n_mul(x, y), xz = n_mul(x, z), yz = n_mul(y, z);
  const num wx = n_mul(w, x), wy = n_mul(w, y), wz = n_mul(w, z);
  block_put(b, i, n_sub(one, n_scale(n_add(yy, zz), R(2.0))));
  block_put(b, i + 1, n_scale(n_sub(xy, wz), R(2.0)));
  block_put(b, i + 2, n_scale(n_add(xz, wy), R(2.0)));
  block_put(b, i + 3, n_scale(n_add(xy, wz), R(2.0)));
  block_put(b, i + 4, n_sub(one, n_scale(n_add(xx, zz), R(2.0))));
  block_put(b, i + 5, n_scale(n_sub(yz, wx), R(2.0)));
  block_put(b, i + 6, n_scale(n_sub(xz, wy), R(2.0)));
  block_put(b, i + 7, n_scale(n_add(yz, wx), R(2.0)));
  block_put(b, i + 8, n_sub(one, n_scale(n_add(xx, yy), R(2.0))));
}

static vec block_rotate(const world_block *b, int i, vec a)
{
  return FN(make)(FN(dot3)(block_get3(b, i), a), FN(dot3)(block_get3(b, i + 3), a),
                  FN(dot3)(block_get3(b, i + 6), a));
}

static FN(quaternion) quaternion_real(GLOBAL const real *p)
{
  FN(quaternion) r;
  r.w = n_lit(p[0]);
  r.v = real3(p + 1);
  return r;
}

static FN(quaternion) block_quaternion(const world_block *b, int i)
{
  FN(quaternion) r;
  r.w = block_get(b, i);
  r.v = block_get3(b, i + 1);
  return r;
}

static FN(quaternion) quaternion_row(const world_block *b, GLOBAL const real *q, int nq, int k)
{
  FN(quaternion) r;
  r.w = row_get(b, q, nq, k);
  r.v = row_get3(b, q, nq, k + 1);
  return FN(quaternion_unit)(r);
}

static vec FN(quaternion_rotate)(FN(quaternion) a, vec x)
{
  const vec t = FN(scale3)(FN(cross3)(a.v, x), n_lit(R(2.0)));
  return FN(add3)(FN(mad3)(t, a.w, x), FN(cross3)(a.v, t));
}

// ---- where links are ----

static vec link_vector(GLOBAL const world_sizes *n, GLOBAL const real *reals, int i, int place)
{
  return real3(reals + n->at_link_reals + LINK_REALS * i + place);
}

static vec unit_axis(int k)
{
  return lit3(k == 0 ? R(1.0) : R(0.0), k == 1 ? R(1.0) : R(0.0), k == 2 ? R(1.0) : R(0.0));
}

// The link's rotation, the place about which its joint turns it against its parent's origin
// (anchor), its own origin against that (arm), the axes of its degrees of freedom.
static void place_link(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                       GLOBAL const real *reals, int i, GLOBAL const real *q)
{
  const tree_link l = link_at(n, ints, i);
  const int parent = n->at_rotation + 9 * l.parent;
  GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
  FN(quaternion) turn = quaternion_real(own + LINK_QUATERNION), moved;
  vec origin = lit3(R(0.0), R(0.0), R(0.0)), anchor = real3(own + LINK_POSITION);
  vec arm = origin, axis = real3(own + LINK_AXIS);
  if (l.parent >= 0) {
    turn = FN(quaternion_times)(block_quaternion(b, n->at_quaternion + 4 * l.parent), turn);
    origin = block_get3(b, n->at_origin + 3 * l.parent);
    anchor = block_rotate(b, parent, anchor);
  }
  if (l.type == JOINT_IS_FREE) {
    moved = quaternion_row(b, q, n->nq, l.q + 3);
    anchor = row_get3(b, q, n->nq, l.q);
  } else if (l.type == JOINT_IS_HINGE) {
    const num middle = n_scale(row_get(b, q, n->nq, l.q), R(0.5));
    FN(quaternion) hinge;
    hinge.w = n_cos(middle);
    hinge.v = FN(scale3)(axis, n_sin(middle));
    moved = FN(quaternion_times)(turn, hinge);
  } else if (l.type == JOINT_IS_BALL) {
    moved = FN(quaternion_times)(turn, quaternion_row(b, q, n->nq, l.q));
  } else {
    moved = turn;
  }
  moved = FN(quaternion_unit)(moved);
  block_put(b, n->at_quaternion + 4 * i, moved.w);
  block_put3(b, n->at_quaternion + 4 * i + 1, moved.v);
  block_put_rotation(b, n->at_rotation + 9 * i, moved);
  axis = FN(quaternion_rotate)(turn, axis);
  if (l.type == JOINT_IS_HINGE || l.type == JOINT_IS_BALL) {
    const vec joint = real3(own + LINK_JOINT);
    anchor = FN(add3)(anchor, FN(quaternion_rotate)(turn, joint));
    arm = FN(neg3)(block_rotate(b, n->at_rotation + 9 * i, joint));
  } else if (l.type == JOINT_IS_SLIDE) {
    arm = FN(scale3)(axis, row_get(b, q, n->nq, l.q));
  }
  block_put3(b, n->at_anchor + 3 * i, anchor);
  block_put3(b, n->at_arm + 3 * i, arm);
  block_put3(b, n->at_origin + 3 * i, FN(add3)(origin, FN(add3)(anchor, arm)));
  for (int k = 0; k < l.dofs; ++k) {
    const int column = k % 3, at = n->at_rotation + 9 * i + column;
    const vec turned = FN(make)(block_get(b, at), block_get(b, at + 3), block_get(b, at + 6));
    const vec along = l.type == JOINT_IS_FREE && k < 3 ? unit_axis(k)
                      : l.dofs > 1 ? turned : axis;
    block_put3(b, n->at_axis + 3 * (l.v + k), along);
  }
}

// ---- how links move ----

// What a joint adds: turning and moving along, by numbers of its degrees of freedom.
typedef struct joint_motion {
  vec turn, along;
} joint_motion;

static joint_motion joint_motion_of(const world_block *b, GLOBAL const world_sizes *n, const tree_link *l,
                              GLOBAL const real *z)
{
  joint_motion m;
  m.turn = m.along = lit3(R(0.0), R(0.0), R(0.0));
  for (int k = 0; k < l->dofs; ++k) {
    const vec axis = block_get3(b, n->at_axis + 3 * (l->v + k));
    const num rate = row_get(b, z, n->nv, l->v + k);
    if (dof_turns(l, k)) {
      m.turn = FN(mad3)(axis, rate, m.turn);
    } else {
      m.along = FN(mad3)(axis, rate, m.along);
    }
  }
  return m;
}

static vec of_parent(const world_block *b, int parent, int at)
{
  return parent < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : block_get3(b, at + 6 * parent);
}

// Angular velocity, and velocity of the origin, of each link where the joints move by z.
static void tree_twists(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *z, int at)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const joint_motion m = joint_motion_of(b, n, &l, z);
    const vec before = of_parent(b, l.parent, at);
    const vec w = FN(add3)(before, m.turn);
    const vec anchor = block_get3(b, n->at_anchor + 3 * i), arm = block_get3(b, n->at_arm + 3 * i);
    const vec swing = l.parent < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : FN(cross3)(before, anchor);
    block_put3(b, at + 6 * i, w);
    block_put3(b, at + 6 * i + 3,
               FN(add3)(FN(add3)(of_parent(b, l.parent, at + 3), swing),
                        FN(add3)(FN(cross3)(w, arm), m.along)));
  }
}

// a + alpha x r + w x (w x r)
static vec FN(carried)(vec a, vec alpha, vec w, vec r)
{
  return FN(add3)(a, FN(add3)(FN(cross3)(alpha, r), FN(cross3)(w, FN(cross3)(w, r))));
}

// Angular acceleration, and acceleration of the origin, of each link: of joints that move by v and
// accelerate by z (or not at all where it is NULL), seen from a frame that falls.
static void tree_accelerations(const world_block *b, GLOBAL const world_sizes *n,
                               GLOBAL const int *ints, GLOBAL const real *v, GLOBAL const real *z,
                               vec gravity)
{
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const joint_motion m = joint_motion_of(b, n, &l, v);
    const vec before = of_parent(b, l.parent, n->at_velocity);
    const vec w = block_get3(b, n->at_velocity + 6 * i);
    const vec base = of_parent(b, l.parent, n->at_acceleration);
    vec alpha = FN(add3)(base, FN(cross3)(before, m.turn));
    vec a = l.parent < 0 ? FN(neg3)(gravity) : block_get3(b, n->at_acceleration + 6 * l.parent + 3);
    if (l.parent >= 0) {
      a = FN(carried)(a, base, before, block_get3(b, n->at_anchor + 3 * i));
      a = FN(add3)(a, FN(scale3)(FN(cross3)(before, m.along), n_lit(R(2.0))));
    }
    const joint_motion more = z ? joint_motion_of(b, n, &l, z) : (joint_motion){none, none};
    alpha = FN(add3)(alpha, more.turn);
    a = FN(carried)(FN(add3)(a, more.along), alpha, w, block_get3(b, n->at_arm + 3 * i));
    block_put3(b, n->at_acceleration + 6 * i, alpha);
    block_put3(b, n->at_acceleration + 6 * i + 3, a);
  }
}

// ---- mass ----

typedef struct link_mass {
  num mass;
  vec com;         // of the link, against its origin, in the world's axes
  vec diagonal;    // inertia about the com: xx, yy, zz
  vec products;    // xy, xz, yz
} link_mass;

static vec FN(inertia_times)(vec diagonal, vec products, vec a)
{
  return FN(make)(
    n_mad(diagonal.x, a.x, n_mad(products.x, a.y, n_mul(products.y, a.z))),
    n_mad(products.x, a.x, n_mad(diagonal.y, a.y, n_mul(products.z, a.z))),
    n_mad(products.y, a.x, n_mad(products.z, a.y, n_mul(diagonal.z, a.z))));
}

// Without the parameter that scales it.
static link_mass mass_of(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                         int i)
{
  GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
  const int at = n->at_rotation + 9 * i;
  const vec rows[3] = {block_get3(b, at), block_get3(b, at + 3), block_get3(b, at + 6)};
  const vec diagonal = real3(own + LINK_INERTIA), products = real3(own + LINK_INERTIA + 3);
  vec turned[3];
  link_mass m;
  for (int k = 0; k < 3; ++k) {
    turned[k] = FN(inertia_times)(diagonal, products, rows[k]);
  }
  m.mass = n_lit(own[LINK_MASS]);
  m.com = block_rotate(b, at, real3(own + LINK_COM));
  m.diagonal = FN(make)(FN(dot3)(rows[0], turned[0]), FN(dot3)(rows[1], turned[1]),
                        FN(dot3)(rows[2], turned[2]));
  m.products = FN(make)(FN(dot3)(rows[0], turned[1]), FN(dot3)(rows[0], turned[2]),
                        FN(dot3)(rows[1], turned[2]));
  return m;
}

// ---- inverse dynamics ----

// What acts on each link for the accelerations that are there: force, and moment about its origin.
static void tree_forces(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared)
{
  const int width = PARAMETERS(n->links, n->pairs);
  for (int i = 0; i < n->links; ++i) {
    const link_mass m = mass_of(b, n, reals, i);
    const num scale = parameter_get(b, parameters, width, i, shared);
    const vec w = block_get3(b, n->at_velocity + 6 * i);
    const vec alpha = block_get3(b, n->at_acceleration + 6 * i);
    const vec a = FN(carried)(block_get3(b, n->at_acceleration + 6 * i + 3), alpha, w, m.com);
    const vec force = FN(scale3)(a, n_mul(m.mass, scale));
    const vec spin = FN(inertia_times)(m.diagonal, m.products, w);
    const vec turn = FN(add3)(FN(inertia_times)(m.diagonal, m.products, alpha), FN(cross3)(w, spin));
    block_put3(b, n->at_force + 6 * i, force);
    block_put3(b, n->at_force + 6 * i + 3,
               FN(add3)(FN(cross3)(m.com, force), FN(scale3)(turn, scale)));
  }
}

// Sums forces towards the roots; leaves what each degree of freedom must do, without armature, in
// `out`.
static void tree_gather(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        int out)
{
  for (int i = n->links - 1; i >= 0; --i) {
    const tree_link l = link_at(n, ints, i);
    const vec force = block_get3(b, n->at_force + 6 * i);
    const vec arm = block_get3(b, n->at_arm + 3 * i);
    const vec moment = FN(add3)(block_get3(b, n->at_force + 6 * i + 3), FN(cross3)(arm, force));
    for (int k = 0; k < l.dofs; ++k) {
      const vec axis = block_get3(b, n->at_axis + 3 * (l.v + k));
      block_put(b, out + l.v + k, FN(dot3)(axis, dof_turns(&l, k) ? moment : force));
    }
    if (l.parent >= 0) {
      const vec anchor = block_get3(b, n->at_anchor + 3 * i);
      block_add3(b, n->at_force + 6 * l.parent, force);
      block_add3(b, n->at_force + 6 * l.parent + 3,
                 FN(add3)(moment, FN(cross3)(anchor, force)));
    }
  }
}

// ---- the mass matrix, by composite bodies ----
#define COMPOSITE_NUMBERS 10 // mass, mass times com, inertia about the origin

// m (|r|^2 1 - r r') + 2 (r.h) 1 - r h' - h r', added: what moving the origin by -r does to a body of
// mass m whose first moment about the old origin is h.
static void FN(move_inertia)(vec *diagonal, vec *products, num m, vec h, vec r)
{
  const vec k = FN(mad3)(r, m, FN(scale3)(h, n_lit(R(2.0)))); // m r + 2 h
  const num square = FN(dot3)(r, k);
  *diagonal = FN(add3)(*diagonal, FN(make)(n_sub(square, n_mul(r.x, k.x)),
                                           n_sub(square, n_mul(r.y, k.y)),
                                           n_sub(square, n_mul(r.z, k.z))));
  const vec g = FN(mad3)(r, n_scale(m, R(0.5)), h); // m r / 2 + h
  *products = FN(sub3)(*products, FN(make)(n_mad(r.x, g.y, n_mul(g.x, r.y)),
                                           n_mad(r.x, g.z, n_mul(g.x, r.z)),
                                           n_mad(r.y, g.z, n_mul(g.y, r.z))));
}

static void start_composites(const world_block *b, GLOBAL const world_sizes *n,
                             GLOBAL const real *reals, GLOBAL const real *parameters, int shared)
{
  const int width = PARAMETERS(n->links, n->pairs);
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < n->links; ++i) {
    const int at = n->at_composite + COMPOSITE_NUMBERS * i;
    const num scale = parameter_get(b, parameters, width, i, shared);
    link_mass m = mass_of(b, n, reals, i);
    FN(move_inertia)(&m.diagonal, &m.products, m.mass, none, m.com);
    block_put(b, at, n_mul(m.mass, scale));
    block_put3(b, at + 1, FN(scale3)(m.com, n_mul(m.mass, scale)));
    block_put3(b, at + 4, FN(scale3)(m.diagonal, scale));
    block_put3(b, at + 7, FN(scale3)(m.products, scale));
  }
}

static void add_composite(const world_block *b, GLOBAL const world_sizes *n, int i, int parent)
{
  const int from = n->at_composite + COMPOSITE_NUMBERS * i;
  const int to = n->at_composite + COMPOSITE_NUMBERS * parent;
  const vec r = FN(add3)(block_get3(b, n->at_anchor + 3 * i), block_get3(b, n->at_arm + 3 * i));
  const num mass = block_get(b, from);
  const vec h = block_get3(b, from + 1);
  vec diagonal = block_get3(b, from + 4), products = block_get3(b, from + 7);
  FN(move_inertia)(&diagonal, &products, mass, h, r);
  block_add(b, to, mass);
  block_add3(b, to + 1, FN(mad3)(r, mass, h));
  block_add3(b, to + 4, diagonal);
  block_add3(b, to + 7, products);
}

// A column of the mass matrix, from what moving degree of freedom k of link i alone takes, upwards.
static void mass_column(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        int i, int dof, int turns)
{
  const int at = n->at_composite + COMPOSITE_NUMBERS * i, nv = n->nv;
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  const vec axis = block_get3(b, n->at_axis + 3 * dof);
  const vec w = turns ? axis : none;
  const vec v = turns ? FN(cross3)(axis, block_get3(b, n->at_arm + 3 * i)) : axis;
  const vec h = block_get3(b, at + 1);
  vec force = FN(mad3)(v, block_get(b, at), FN(cross3)(w, h));
  vec moment = FN(add3)(FN(inertia_times)(block_get3(b, at + 4), block_get3(b, at + 7), w),
                        FN(cross3)(h, v));
  for (int j = i; j >= 0;) {
    const tree_link l = link_at(n, ints, j);
    moment = FN(add3)(moment, FN(cross3)(block_get3(b, n->at_arm + 3 * j), force));
    for (int k = 0; k < l.dofs && l.v + k <= dof; ++k) {
      const vec other = block_get3(b, n->at_axis + 3 * (l.v + k));
      block_put(b, n->at_mass + dof * nv + l.v + k,
                FN(dot3)(other, dof_turns(&l, k) ? moment : force));
    }
    moment = FN(add3)(moment, FN(cross3)(block_get3(b, n->at_anchor + 3 * j), force));
    j = l.parent;
  }
}

// The lower triangle.
static void mass_matrix(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *parameters, int shared)
{
  start_composites(b, n, reals, parameters, shared);
  for (int i = n->links - 1; i >= 0; --i) {
    const tree_link l = link_at(n, ints, i);
    if (l.parent >= 0) {
      add_composite(b, n, i, l.parent);
    }
  }
  for (int i = 0; i < n->nv * n->nv; ++i) {
    block_put(b, n->at_mass + i, n_lit(R(0.0)));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    for (int k = 0; k < l.dofs; ++k) {
      const int dof = l.v + k, at = n->at_mass + dof * (n->nv + 1);
      mass_column(b, n, ints, i, dof, dof_turns(&l, k));
      block_put(b, at, n_shift(block_get(b, at),
                               reals[n->at_dof_reals + DOF_REALS * dof + DOF_ARMATURE]));
    }
  }
}

// ---- Cholesky's factor, for each world of a block ----

// The lower triangle of `from`, with `extra` times each dof's damping added, to `to`, inverses of
// the roots on its diagonal. Lanes of what is not positive get ones there and a mark in the result.
static lane block_factor(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                         int from, int to, real extra)
{
  const int nv = n->nv;
  lane worst = lane_lit(R(1.0));
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j <= i; ++j) {
      num sum = block_get(b, from + i * nv + j);
      if (i == j) {
        sum = n_shift(sum, extra * reals[n->at_dof_reals + DOF_REALS * i + DOF_DAMPING]);
      }
      for (int k = 0; k < j; ++k) {
        sum = n_sub(sum, n_mul(block_get(b, to + i * nv + k), block_get(b, to + j * nv + k)));
      }
      if (i == j) {
        const n_mask good = n_value(sum) > n_plain(R(0.0));
        worst = lane_select(good, worst, lane_lit(R(0.0)));
        block_put(b, to + i * nv + i, n_rcp(n_sqrt(n_select(good, sum, n_lit(R(1.0))))));
      } else {
        block_put(b, to + i * nv + j, n_mul(sum, block_get(b, to + j * nv + j)));
      }
    }
  }
  return worst;
}

// Solves in place at `x`.
static void block_solve(const world_block *b, int nv, int factor, int x)
{
  for (int i = 0; i < nv; ++i) {
    num sum = block_get(b, x + i);
    for (int k = 0; k < i; ++k) {
      sum = n_sub(sum, n_mul(block_get(b, factor + i * nv + k), block_get(b, x + k)));
    }
    block_put(b, x + i, n_mul(sum, block_get(b, factor + i * nv + i)));
  }
  for (int i = nv - 1; i >= 0; --i) {
    num sum = block_get(b, x + i);
    for (int k = i + 1; k < nv; ++k) {
      sum = n_sub(sum, n_mul(block_get(b, factor + k * nv + i), block_get(b, x + k)));
    }
    block_put(b, x + i, n_mul(sum, block_get(b, factor + i * nv + i)));
  }
}

// ---- other forces ----

static void add_springs(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, int out)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
    const real k = own[LINK_STIFFNESS];
    if (k != R(0.0) && l.type == JOINT_IS_BALL) {
      const vec s = FN(quaternion_log)(quaternion_row(b, q, n->nq, l.q));
      block_add3(b, out + l.v, FN(scale3)(s, n_lit(-k)));
    } else if (k != R(0.0)) {
      block_add(b, out + l.v, n_scale(n_shift(row_get(b, q, n->nq, l.q), -own[LINK_REST]), -k));
    }
  }
}

// Force of an actuator before its gear, and by lanes 1 where it is not at a limit.
static num actuator_force(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *reals, int i, GLOBAL const real *q,
                          GLOBAL const real *v, GLOBAL const real *u, lane *within)
{
  GLOBAL const int *a = ints + n->at_actuators + ACTUATOR_INTS * i;
  GLOBAL const real *own = reals + n->at_actuator_reals + ACTUATOR_REALS * i;
  const real gear = own[ACTUATOR_GEAR];
  num f = row_get(b, u, n->nu, i);
  *within = lane_lit(R(1.0));
  if (a[ACTUATOR_KIND] == 1) {
    const num length = n_scale(row_get(b, q, n->nq, a[ACTUATOR_Q]), gear);
    const num speed = n_scale(row_get(b, v, n->nv, a[ACTUATOR_V]), gear);
    f = n_sub(n_scale(n_sub(f, length), own[ACTUATOR_KP]), n_scale(speed, own[ACTUATOR_KV]));
  } else if (a[ACTUATOR_KIND] == 2) {
    const num speed = n_scale(row_get(b, v, n->nv, a[ACTUATOR_V]), gear);
    f = n_scale(n_sub(f, speed), own[ACTUATOR_KV]);
  }
  if (a[ACTUATOR_LIMITED]) {
    const n_mask low = n_value(f) <= n_plain(own[ACTUATOR_LOW]);
    const n_mask high = n_value(f) >= n_plain(own[ACTUATOR_HIGH]);
    f = n_select(low, n_lit(own[ACTUATOR_LOW]), n_select(high, n_lit(own[ACTUATOR_HIGH]), f));
    *within = lane_select(low, lane_lit(R(0.0)), lane_select(high, lane_lit(R(0.0)), *within));
  }
  return f;
}

// Actuators, springs and dampers, to `out`.
static void other_forces(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                         GLOBAL const real *u, int out)
{
  for (int k = 0; k < n->nv; ++k) {
    block_put(b, out + k, n_scale(row_get(b, v, n->nv, k),
                                  -reals[n->at_dof_reals + DOF_REALS * k + DOF_DAMPING]));
  }
  add_springs(b, n, ints, reals, q, out);
  for (int i = 0; i < n->nu; ++i) {
    lane within;
    const real gear = reals[n->at_actuator_reals + ACTUATOR_REALS * i + ACTUATOR_GEAR];
    const num f = actuator_force(b, n, ints, reals, i, q, v, u, &within);
    block_add(b, out + ints[n->at_actuators + ACTUATOR_INTS * i + ACTUATOR_V], n_scale(f, gear));
  }
}

static vec gravity_of(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *parameters,
                      int shared)
{
  const int width = PARAMETERS(n->links, n->pairs), at = width - 3;
  return FN(make)(parameter_get(b, parameters, width, at, shared),
                  parameter_get(b, parameters, width, at + 1, shared),
                  parameter_get(b, parameters, width, at + 2, shared));
}

// ---- kernels ----

// Places links and moves them by v.
static void tree_move(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                      GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v)
{
  for (int i = 0; i < n->links; ++i) {
    place_link(b, n, ints, reals, i, q);
  }
  tree_twists(b, n, ints, v, n->at_velocity);
}

// Links, mass matrix and its factor, bias, other forces and the acceleration that they alone give,
// of each world. A world whose input is not finite, or that has stopped, is computed all the same.
KERNEL void world_tree(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                       GLOBAL const real *q, GLOBAL const real *v, GLOBAL const real *u,
                       GLOBAL const real *parameters, int shared, int count, GLOBAL real *scratch,
                       GLOBAL real *singular)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  tree_move(&b, n, ints, reals, q, v);
  mass_matrix(&b, n, ints, reals, parameters, shared);
  const lane worst = block_factor(&b, n, reals, n->at_mass, n->at_factor, R(0.0));
  store_part(singular, NO_ORDER, 0, b.first, count, 1, R(1.0) - worst);
  tree_accelerations(&b, n, ints, v, (GLOBAL const real *)0,
                     gravity_of(&b, n, parameters, shared));
  tree_forces(&b, n, reals, parameters, shared);
  tree_gather(&b, n, ints, n->at_bias);
  other_forces(&b, n, ints, reals, q, v, u, n->at_smooth);
  for (int k = 0; k < n->nv; ++k) {
    const num f = n_sub(block_get(&b, n->at_smooth + k), block_get(&b, n->at_bias + k));
    block_put(&b, n->at_smooth + k, f);
    block_put(&b, n->at_free + k, f);
  }
  block_solve(&b, n->nv, n->at_factor, n->at_free);
}

// Poses of a body on a link, as the manifold's kernels want them. body: its position and quaternion
// on the link; link -1 is the world.
KERNEL void world_poses(GLOBAL const world_sizes *n, GLOBAL real *scratch,
                        GLOBAL const real *body, int at, int link, int count, GLOBAL real *poses)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  vec x = real3(body + at);
  FN(quaternion) q = quaternion_real(body + at + 3);
  if (link >= 0) {
    const FN(quaternion) of = block_quaternion(&b, n->at_quaternion + 4 * link);
    x = FN(add3)(block_get3(&b, n->at_origin + 3 * link), FN(quaternion_rotate)(of, x));
    q = FN(quaternion_times)(of, q);
  }
  row_put3(&b, poses, 7, 0, x);
  row_put(&b, poses, 7, 3, q.w);
  row_put3(&b, poses, 7, 4, q.v);
}

// ---- how easily a group's links move against each other, where that is asked for ----

// Column of a mover: what its degree of freedom does to the group's twist at the centre.
static void mover_column(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const int *mover, vec c, num out[6])
{
  const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
  const tree_link l = link_at(n, ints, link);
  const num sign = n_lit((real)mover[MOVER_SIGN]);
  const vec axis = FN(scale3)(block_get3(b, n->at_axis + 3 * dof), sign);
  vec w = lit3(R(0.0), R(0.0), R(0.0)), v = axis;
  if (dof_turns(&l, dof - l.v)) {
    const vec joint = FN(sub3)(block_get3(b, n->at_origin + 3 * link),
                               block_get3(b, n->at_arm + 3 * link));
    w = axis;
    v = FN(cross3)(axis, FN(sub3)(c, joint));
  }
  out[0] = w.x;
  out[1] = w.y;
  out[2] = w.z;
  out[3] = v.x;
  out[4] = v.y;
  out[5] = v.z;
}

// x <- inv(L) x of the factor's lower triangle, at `x`, `step` apart.
static void block_forward(const world_block *b, int nv, int factor, int x, int step)
{
  for (int i = 0; i < nv; ++i) {
    num sum = block_get(b, x + step * i);
    for (int k = 0; k < i; ++k) {
      sum = n_sub(sum, n_mul(block_get(b, factor + i * nv + k), block_get(b, x + step * k)));
    }
    block_put(b, x + step * i, n_mul(sum, block_get(b, factor + i * nv + i)));
  }
}

// X inv(M) X' of each group (6, 6), and the diagonal of inv(M).
KERNEL void world_mobility(GLOBAL const world_sizes *n, GLOBAL const int *ints, int count,
                           GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv, x = n->at_columns;
  if (b.first > b.last) {
    return;
  }
  for (int group = 0; group < n->groups; ++group) {
    GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
    const int centre = g[GROUP_A] >= 0 ? g[GROUP_A] : g[GROUP_B];
    const vec c = block_get3(&b, n->at_origin + 3 * centre);
    for (int i = 0; i < 6 * nv; ++i) {
      block_put(&b, x + i, n_lit(R(0.0)));
    }
    for (int k = 0; k < g[GROUP_DOFS]; ++k) {
      GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * (g[GROUP_DOF_AT] + k);
      num column[6];
      mover_column(&b, n, ints, mover, c, column);
      for (int i = 0; i < 6; ++i) {
        block_put(&b, x + 6 * mover[MOVER_DOF] + i, column[i]);
      }
    }
    for (int i = 0; i < 6; ++i) {
      block_forward(&b, nv, n->at_factor, x + i, 6);
    }
    for (int i = 0; i < 36; ++i) {
      num sum = n_lit(R(0.0));
      for (int k = 0; k < nv; ++k) {
        sum = n_mad(block_get(&b, x + 6 * k + i / 6), block_get(&b, x + 6 * k + i % 6), sum);
      }
      block_put(&b, n->at_mobility + 36 * group + i, sum);
    }
  }
  for (int i = 0; i < nv; ++i) {
    num sum = n_lit(R(0.0));
    for (int k = 0; k < nv; ++k) {
      block_put(&b, x + k, n_lit(i == k ? R(1.0) : R(0.0)));
    }
    block_forward(&b, nv, n->at_factor, x, 1);
    for (int k = 0; k < nv; ++k) {
      sum = n_mad(block_get(&b, x + k), block_get(&b, x + k), sum);
    }
    block_put(&b, n->at_row_weights + i, sum);
  }
}
