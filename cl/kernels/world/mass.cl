// The masses of links, the mass matrix M by the composite-rigid-body algorithm
// (docs/dev/cone-formulas.md, section 5) and its factor.

// The mass of a link in the world's axes.
typedef struct link_mass {
  num mass;
  vec com;      // its centre of mass, relative to its origin
  vec diagonal; // its inertia about the centre of mass: xx, yy, zz
  vec products; // and xy, xz, yz
} link_mass;

static vec FN(inertia_times)(vec diagonal, vec products, vec a)
{
  return FN(make)(n_mad(diagonal.x, a.x, n_mad(products.x, a.y, n_mul(products.y, a.z))),
                  n_mad(products.x, a.x, n_mad(diagonal.y, a.y, n_mul(products.z, a.z))),
                  n_mad(products.y, a.x, n_mad(products.z, a.y, n_mul(diagonal.z, a.z))));
}

// Returns the mass of link i as given in the scene. Callers multiply it by the world's mass_scale.
static link_mass mass_of(const world_block *b, GLOBAL const world_sizes *n,
                         GLOBAL const real *reals, int i)
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

// ---- trees ----

// A tree's degrees of freedom in order, and the offset of its square block (count, count) among the
// blocks of all trees, which hold M and its factor.
typedef struct mass_tree {
  GLOBAL const int *dofs;
  int count, block;
} mass_tree;

static mass_tree mass_tree_of(GLOBAL const world_sizes *n, GLOBAL const int *ints, int tree)
{
  GLOBAL const int *of = ints + n->at_trees + TREE_INTS * tree;
  mass_tree t;
  t.dofs = ints + n->at_tree_dofs + of[TREE_DOF_AT];
  t.count = of[TREE_DOFS];
  t.block = of[TREE_BLOCK];
  return t;
}

// Writes the trees of the two links of a group, or -1 for a link that cannot move.
static void trees_of_group(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                           GLOBAL const int *group, int out[2])
{
  const int links[2] = {group[GROUP_A], group[GROUP_B]};
  for (int k = 0; k < 2; ++k) {
    out[k] = links[k] < 0 ? -1 : ints[n->at_links + LINK_INTS * links[k] + LINK_TREE];
  }
}

static int dof_tree(GLOBAL const world_sizes *n, GLOBAL const int *ints, int dof)
{
  return ints[n->at_dofs + DOF_INTS * dof + DOF_TREE];
}

static int dof_place(GLOBAL const world_sizes *n, GLOBAL const int *ints, int dof)
{
  return ints[n->at_dofs + DOF_INTS * dof + DOF_PLACE];
}

// ---- the mass matrix, by composite bodies ----

// Moves an inertia's origin by -r, for a body of mass m whose first moment about the old origin is
// h: adds m (|r|^2 1 - r r') + 2 (r . h) 1 - r h' - h r'.
static void FN(move_inertia)(vec *diagonal, vec *products, num m, vec h, vec r)
{
  const vec k = FN(mad3)(r, m, FN(scale3)(h, n_lit(R(2.0)))); // m r + 2 h
  const num square = FN(dot3)(r, k);
  *diagonal =
    FN(add3)(*diagonal, FN(make)(n_sub(square, n_mul(r.x, k.x)), n_sub(square, n_mul(r.y, k.y)),
                                 n_sub(square, n_mul(r.z, k.z))));
  const vec g = FN(mad3)(r, n_scale(m, R(0.5)), h); // m r / 2 + h
  *products =
    FN(sub3)(*products, FN(make)(n_mad(r.x, g.y, n_mul(g.x, r.y)), n_mad(r.x, g.z, n_mul(g.x, r.z)),
                                 n_mad(r.y, g.z, n_mul(g.y, r.z))));
}

// Starts each link's composite body with the link only, scaled by mass_scale.
static void start_composites(const world_block *b, GLOBAL const world_sizes *n,
                             GLOBAL const real *reals, GLOBAL const real *parameters, int shared)
{
  const int width = PARAMETERS(n->links, n->columns);
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

// Adds the composite body of link i to that of its parent.
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

// Writes the row of a degree of freedom in the lower triangle of its tree's block. A unit
// acceleration of only this degree of freedom requires a force and a moment on the composite body
// of its link i. The row has their components along this degree of freedom and those before it on
// the way to the root.
static void mass_column(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        int i, int dof, int turns)
{
  const int at = n->at_composite + COMPOSITE_NUMBERS * i;
  const mass_tree t = mass_tree_of(n, ints, dof_tree(n, ints, dof));
  const int row = n->at_mass + t.block + t.count * dof_place(n, ints, dof);
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  const vec axis = block_get3(b, n->at_axis + 3 * dof);
  const vec w = turns ? axis : none;
  const vec v = turns ? FN(cross3)(axis, block_get3(b, n->at_arm + 3 * i)) : axis;
  const vec h = block_get3(b, at + 1);
  vec force = FN(mad3)(v, block_get(b, at), FN(cross3)(w, h));
  vec moment =
    FN(add3)(FN(inertia_times)(block_get3(b, at + 4), block_get3(b, at + 7), w), FN(cross3)(h, v));
  for (int j = i; j >= 0;) {
    const tree_link l = link_at(n, ints, j);
    moment = FN(add3)(moment, FN(cross3)(block_get3(b, n->at_arm + 3 * j), force));
    for (int k = 0; k < l.dofs && l.v + k <= dof; ++k) {
      const vec other = block_get3(b, n->at_axis + 3 * (l.v + k));
      block_put(b, row + dof_place(n, ints, l.v + k),
                FN(dot3)(other, dof_turns(&l, k) ? moment : force));
    }
    moment = FN(add3)(moment, FN(cross3)(block_get3(b, n->at_anchor + 3 * j), force));
    j = l.parent;
  }
}

// Fills the lower triangles of M's blocks, armature included.
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
  for (int i = 0; i < n->blocks; ++i) {
    block_put(b, n->at_mass + i, n_lit(R(0.0)));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    for (int k = 0; k < l.dofs; ++k) {
      const int dof = l.v + k;
      const mass_tree t = mass_tree_of(n, ints, dof_tree(n, ints, dof));
      const int at = n->at_mass + t.block + (t.count + 1) * dof_place(n, ints, dof);
      mass_column(b, n, ints, i, dof, dof_turns(&l, k));
      block_put(b, at,
                n_shift(block_get(b, at), reals[n->at_dof_reals + DOF_REALS * dof + DOF_ARMATURE]));
    }
  }
}

// ---- Cholesky factor, for each world of a block ----

// Factors the lower triangle of the blocks at `from`, with `extra` times each degree of freedom's
// damping added to the diagonal, into those at `to`. The diagonal holds the inverses of the roots.
// A pivot that is not positive is replaced by 1. The result is 0 in lanes with such a pivot, else
// 1.
static lane block_factor(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, int from, int to, real extra)
{
  lane worst = lane_lit(R(1.0));
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      const int row = to + t.block + i * t.count;
      for (int j = 0; j <= i; ++j) {
        const int other = to + t.block + j * t.count;
        num sum = block_get(b, from + t.block + i * t.count + j);
        if (i == j) {
          sum = n_shift(sum, extra * reals[n->at_dof_reals + DOF_REALS * t.dofs[i] + DOF_DAMPING]);
        }
        for (int k = 0; k < j; ++k) {
          sum = n_sub(sum, n_mul(block_get(b, row + k), block_get(b, other + k)));
        }
        if (i == j) {
          const n_mask good = n_value(sum) > n_plain(R(0.0));
          worst = lane_select(good, worst, lane_lit(R(0.0)));
          block_put(b, row + i, n_rcp(n_sqrt(n_select(good, sum, n_lit(R(1.0))))));
        } else {
          block_put(b, row + j, n_mul(sum, block_get(b, other + j)));
        }
      }
    }
  }
  return worst;
}

// Replaces a tree's part of x by inv(L) x, where L is the factor's lower triangle. x begins at `x`
// of the block's numbers, and its entries are `step` apart.
static void tree_forward(const world_block *b, const mass_tree *t, int factor, int x, int step)
{
  for (int i = 0; i < t->count; ++i) {
    const int row = factor + t->block + i * t->count, at = x + step * t->dofs[i];
    num sum = block_get(b, at);
    for (int k = 0; k < i; ++k) {
      sum = n_sub(sum, n_mul(block_get(b, row + k), block_get(b, x + step * t->dofs[k])));
    }
    block_put(b, at, n_mul(sum, block_get(b, row + i)));
  }
}

// Replaces that part by inv(L') x.
static void tree_backward(const world_block *b, const mass_tree *t, int factor, int x, int step)
{
  for (int i = t->count - 1; i >= 0; --i) {
    const int column = factor + t->block + i, at = x + step * t->dofs[i];
    num sum = block_get(b, at);
    for (int k = i + 1; k < t->count; ++k) {
      sum =
        n_sub(sum, n_mul(block_get(b, column + k * t->count), block_get(b, x + step * t->dofs[k])));
    }
    block_put(b, at, n_mul(sum, block_get(b, column + i * t->count)));
  }
}

// Replaces the vector at `x` by inv(L L') x.
static void block_solve(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        int factor, int x)
{
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    tree_forward(b, &t, factor, x, 1);
    tree_backward(b, &t, factor, x, 1);
  }
}

// Returns the offset of entry (i, k) in a symmetric block's lower triangle.
static int lower_place(const mass_tree *t, int i, int k)
{
  return t->block + (i > k ? i * t->count + k : k * t->count + i);
}
