// The forces of equality constraints: docs/dev/cone-formulas.md, section 9.

// One work-item adds, in a block of worlds, the forces J' lambda of equalities at accelerations
// (worlds, nv) to constraint_force (worlds, nv). The forces of stopped worlds are 0. The links'
// accelerations are those of world_tree.
KERNEL void world_equality_forces(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                  GLOBAL const real *reals, GLOBAL const real *q,
                                  GLOBAL const real *v, GLOBAL const real *acceleration,
                                  GLOBAL const real *parameters, int shared,
                                  GLOBAL const int *status, int count, GLOBAL real *scratch,
                                  GLOBAL real *constraint_force)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < n->equalities; ++i) {
    const equality e = equality_at(&b, n, ints, reals, q, i);
    lane carried[6];
    equality_accelerations(&b, n, &e, neg3_r(gravity_of(&b, n, parameters, shared)), carried);
    for (int row = 0; row < e.rows; ++row) {
      const lane off = equality_rate(&b, n, &e, row, acceleration) + carried[row] -
                       equality_reference(&b, n, &e, row, v);
      const lane force = -equality_stiffness(&e, row) * off;
      for (int k = 0; k < e.tree.count; ++k) {
        const int dof = e.tree.dofs[k];
        row_put(&b, constraint_force, n->nv, dof,
                row_get(&b, constraint_force, n->nv, dof) +
                  force * block_get(&b, n->at_equality + 6 * dof + row));
      }
    }
  }
  rows_stop(&b, status, n->nv, constraint_force);
}
