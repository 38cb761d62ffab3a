// The relative mobility of a group's links, for exact diagonals and for groups whose inverse
// weights may be meaningless (contacts.cl).

// Writes the column of X of a mover: the twist of link a relative to link b at the group's centre c
// for a rate of 1 of its degree of freedom.
static void mover_column(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const int *mover, vec c, num out[6])
{
  const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
  const tree_link l = link_at(n, ints, link);
  const num sign = n_lit((real)mover[MOVER_SIGN]);
  const vec axis = FN(scale3)(block_get3(b, n->at_axis + 3 * dof), sign);
  const vec joint =
    FN(sub3)(block_get3(b, n->at_origin + 3 * link), block_get3(b, n->at_arm + 3 * link));
  FN(joint_twist)(dof_turns(&l, dof - l.v), axis, FN(sub3)(c, joint), out);
}

// Sets *t to the tree of body 1's link of a group, or for side 1 to that of body 2's. Returns 0 if
// there is no tree, or if it is the first one again.
static int group_tree(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const int *g,
                      int side, mass_tree *t)
{
  int trees[2];
  trees_of_group(n, ints, g, trees);
  if (trees[side] < 0 || (side && trees[0] == trees[1])) {
    return 0;
  }
  *t = mass_tree_of(n, ints, trees[side]);
  return 1;
}

// One work-item finds mobilities of a block of worlds. For each group it writes X inv(M) X' (6, 6)
// to scratch, where X (6, nv) maps joint rates to the relative twist of the group's links. It also
// writes the diagonal of inv(M) (nv). The columns of X at at_columns are scratch memory.
KERNEL void world_mobility(GLOBAL const world_sizes *n, GLOBAL const int *ints, int count,
                           GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int x = n->at_columns;
  mass_tree t;
  if (b.first > b.last) {
    return;
  }
  for (int group = 0; group < n->groups; ++group) {
    GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
    const vec c = block_get3(&b, n->at_origin + 3 * group_centre(g));
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; group_tree(n, ints, g, side, &t) && i < 6 * t.count; ++i) {
        block_put(&b, x + 6 * t.dofs[i / 6] + i % 6, n_lit(R(0.0)));
      }
    }
    for (int k = 0; k < g[GROUP_DOFS]; ++k) {
      GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * (g[GROUP_DOF_AT] + k);
      num column[6];
      mover_column(&b, n, ints, mover, c, column);
      for (int i = 0; i < 6; ++i) {
        block_put(&b, x + 6 * mover[MOVER_DOF] + i, column[i]);
      }
    }
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; group_tree(n, ints, g, side, &t) && i < 6; ++i) {
        tree_forward(&b, &t, n->at_mass_factor, x + i, 6);
      }
    }
    for (int i = 0; i < 36; ++i) {
      num sum = n_lit(R(0.0));
      for (int side = 0; side < 2; ++side) {
        for (int k = 0; group_tree(n, ints, g, side, &t) && k < t.count; ++k) {
          const int at = x + 6 * t.dofs[k];
          sum = n_mad(block_get(&b, at + i / 6), block_get(&b, at + i % 6), sum);
        }
      }
      block_put(&b, n->at_mobility + 36 * group + i, sum);
    }
  }
  for (int i = 0; i < n->nv; ++i) {
    num sum = n_lit(R(0.0));
    t = mass_tree_of(n, ints, dof_tree(n, ints, i));
    for (int k = 0; k < t.count; ++k) {
      block_put(&b, x + t.dofs[k], n_lit(i == t.dofs[k] ? R(1.0) : R(0.0)));
    }
    tree_forward(&b, &t, n->at_mass_factor, x, 1);
    for (int k = 0; k < t.count; ++k) {
      sum = n_mad(block_get(&b, x + t.dofs[k]), block_get(&b, x + t.dofs[k]), sum);
    }
    block_put(&b, n->at_row_weights + i, sum);
  }
}
