// How easily a group's links move against each other: the group's mobility, for exact diagonals and
// for groups whose inverse weights may say nothing (contacts.cl).

// Writes the column of X that belongs to a mover: the twist of link a against link b at the group's
// centre c when its degree of freedom has a rate of 1.
static void mover_column(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const int *mover, vec c, num out[6])
{
  const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
  const tree_link l = link_at(n, ints, link);
  const num sign = n_lit((real)mover[MOVER_SIGN]);
  const vec axis = FN(scale3)(block_get3(b, n->at_axis + 3 * dof), sign);
  const vec joint = FN(sub3)(block_get3(b, n->at_origin + 3 * link),
                             block_get3(b, n->at_arm + 3 * link));
  FN(joint_twist)(dof_turns(&l, dof - l.v), axis, FN(sub3)(c, joint), out);
}

// One work-item finds mobilities of a block of worlds. In scratch it writes for each group X inv(M)
// X' (6, 6), where X (6, nv) takes rates of joints to the relative twist of the group's links, and
// the diagonal of inv(M) (nv); the columns of X at at_columns are room.
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
    const vec c = block_get3(&b, n->at_origin + 3 * group_centre(g));
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
