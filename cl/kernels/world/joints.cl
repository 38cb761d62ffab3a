// Moved joint positions, and differences of positions, in the joints' tangent coordinates. The
// coordinates of a rotation are those of its exponential map.

// Writes q (+) factor d for the joint of link l to out (worlds, nq). d begins at `d` of the worlds'
// numbers.
static void joint_moved(const world_block *b, GLOBAL const world_sizes *n, const tree_link *l,
                        GLOBAL const real *q, int d, real factor, GLOBAL real *out)
{
  int at = l->q, dof = l->v;
  const int plain = JOINT_PLAIN(l->type);
  for (int k = 0; k < plain; ++k) {
    row_put(b, out, n->nq, at + k,
            n_smad(block_get(b, d + dof + k), factor, row_get(b, q, n->nq, at + k)));
  }
  if (JOINT_HAS_QUATERNION(l->type)) {
    at += plain;
    dof += plain;
    const FN(quaternion) r = FN(quaternion_unit)(
      FN(quaternion_times)(quaternion_row(b, q, n->nq, at),
                           FN(quaternion_exp)(FN(scale3)(block_get3(b, d + dof), n_lit(factor)))));
    row_put(b, out, n->nq, at, r.w);
    row_put3(b, out, n->nq, at + 1, r.v);
  }
}

// Writes `share` times the difference from q to next_q (worlds, nq) to at_free.
static void joints_share(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *q, GLOBAL const real *next_q, num share)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const int plain = JOINT_PLAIN(l.type);
    for (int k = 0; k < plain; ++k) {
      const num way = n_sub(row_get(b, next_q, n->nq, l.q + k), row_get(b, q, n->nq, l.q + k));
      block_put(b, n->at_free + l.v + k, n_mul(share, way));
    }
    if (JOINT_HAS_QUATERNION(l.type)) {
      FN(quaternion) from = quaternion_row(b, q, n->nq, l.q + plain);
      from.v = FN(neg3)(from.v);
      const vec turn = FN(quaternion_log)(
        FN(quaternion_times)(from, quaternion_row(b, next_q, n->nq, l.q + plain)));
      block_put3(b, n->at_free + l.v + plain, FN(scale3)(turn, share));
    }
  }
}

// Writes q moved by at_free to out (worlds, nq), which may be q.
static void joints_moved(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *q, GLOBAL real *out)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    joint_moved(b, n, &l, q, n->at_free, R(1.0), out);
  }
}
