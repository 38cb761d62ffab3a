// Edge-edge contacts (docs/dev/spec.md, section 6): first witness points, then fields there
// (field.cl), then contacts and their soft nearest neighbours. Each kernel is followed by its
// adjoint, written by hand.
//
// Pairs of retained edges are ordered with slot k of body 1 varying slowest. In most kernels one
// work-item has a block of LANES pairs of one pose. `witness` has rows of witness_stride numbers
// per pose, in planes of pair_slots in body 1's frame: e1 and e2 before sphere tracing, then con at
// WITNESS_CON. The traced points follow, as far as the host requests them.

typedef struct edge_ends {
  vec p0, p1, q0, q1; // p in body 1's frame, q in body 2's
} edge_ends;

// Reads the ends of a block of pairs, six planes per body, in the body's own frame.
static edge_ends load_ends(GLOBAL const real *ends1, GLOBAL const real *ends2,
                           GLOBAL const pair_head *pair, int block, int pose)
{
  GLOBAL const pair_elements *edges1 = &pair->n.elements[EDGES_OF(0)];
  GLOBAL const pair_elements *edges2 = &pair->n.elements[EDGES_OF(1)];
  const int kept1 = edges1->kept, padded1 = edges1->plane;
  const int kept2 = edges2->kept, padded2 = edges2->plane;
  const int stride1 = kept_stride(edges1, ENDS_PLANES);
  const int stride2 = kept_stride(edges2, ENDS_PLANES);
  edge_ends r;
  const num zero = n_lit(R(0.0));
  r.p0 = r.p1 = r.q0 = r.q1 = FN(make)(zero, zero, zero);
  num *const to1[6] = {&r.p0.x, &r.p0.y, &r.p0.z, &r.p1.x, &r.p1.y, &r.p1.z};
  num *const to2[6] = {&r.q0.x, &r.q0.y, &r.q0.z, &r.q1.x, &r.q1.y, &r.q1.z};
  EACH_PART (part) {
    GLOBAL const real *from1 = kept_row(ends1, &pair->n, 0, pose) + part * stride1;
    GLOBAL const real *from2 = kept_row(ends2, &pair->n, 1, pose) + part * stride2;
    int k = block * LANES / kept2;
    int l = block * LANES % kept2;
    real p[ENDS_PLANES][LANES], q[ENDS_PLANES][LANES];
    for (int i = 0; i < LANES; ++i) {
      for (int j = 0; j < ENDS_PLANES; ++j) {
        p[j][i] = part && !stride1 ? R(0.0) : from1[j * padded1 + k];
        q[j][i] = part && !stride2 ? R(0.0) : from2[j * padded2 + l];
      }
      if (l + 1 < kept2) {
        ++l;
      } else if (k + 1 < kept1) {
        ++k;
        l = 0;
      }
    }
    for (int j = 0; j < ENDS_PLANES; ++j) {
      *to1[j] = n_with_part(*to1[j], part, lane_load(p[j]));
      *to2[j] = n_with_part(*to2[j], part, lane_load(q[j]));
    }
  }
  return r;
}

// One work-item finds the witness points of a block of pairs. From the ends of both bodies'
// retained edges it computes the planes e1, e2 and con of `witness`.
KERNEL void edge_witnesses(GLOBAL const real *ends1, GLOBAL const real *ends2,
                           GLOBAL const real *frames, GLOBAL const pair_head *pair,
                           GLOBAL real *witness, int witness_stride)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int slots = pair->n.pair_slots;
  if (block * LANES >= slots) {
    return;
  }
  const edge_ends at = load_ends(ends1, ends2, pair, block, pose);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1;
  vec e1, e2;
  num con;
  FN(edge_witness)(at.p0, at.p1, place(frame, at.q0), place(frame, at.q1), &pair->c, &e1, &e2,
                   &con);
  GLOBAL real *row = NUMS(witness, pose, witness_stride) + block * LANES;
  store3(row, witness_stride, slots, steady3(e1, COTANGENT_LIMIT));
  store3(row + WITNESS_E2 * slots, witness_stride, slots, steady3(e2, COTANGENT_LIMIT));
  store(row + WITNESS_CON * slots, witness_stride, steady(con, COTANGENT_LIMIT));
}

// The adjoint of edge_witnesses. `bars` has the cotangents of e1, e2 and con in WITNESS_PLANES
// planes of pair_slots, 0 past the last pair. The kernel writes wrenches. If `ends` is set, it also
// writes ends_bar (poses, 12, pair_slots), the cotangents of each pair's ends in their own frames.
ADJOINT_KERNEL void edge_witnesses_adjoint(GLOBAL const real *ends1, GLOBAL const real *ends2,
                                           GLOBAL const real *frames, GLOBAL const pair_head *pair,
                                           GLOBAL const real *bars, int ends, GLOBAL real *ends_bar,
                                           GLOBAL real *wrenches, int wrench_stride,
                                           int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int pair_padded = pair->n.pair_slots;
  if (block * LANES >= pair_padded) {
    return;
  }
  const edge_ends at = load_ends(ends1, ends2, pair, block, pose);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const vec q0 = place(frame + FRAME_2_TO_1, at.q0);
  const vec q1 = place(frame + FRAME_2_TO_1, at.q1);
  const int stride = WITNESS_PLANES * pair_padded;
  GLOBAL const real *row = NUMS(bars, pose, stride) + block * LANES;
  vec bar[4];
  FN(edge_witness_adjoint)(at.p0, at.p1, q0, q1, &pair->c, load3(row, stride, pair_padded),
                           load3(row + WITNESS_E2 * pair_padded, stride, pair_padded),
                           load(row + WITNESS_CON * pair_padded, stride), bar);
  for (int i = 0; i < 4; ++i) {
    bar[i] = bounded3(bar[i], COTANGENT_LIMIT);
  }
  wrench relative = no_wrench();
  push_at(&relative, q0, bar[2]);
  push_at(&relative, q1, bar[3]);
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, no_wrench());
  if (ends) {
    const int to_stride = PAIR_ENDS_PLANES * pair_padded;
    GLOBAL real *to = NUMS(ends_bar, pose, to_stride) + block * LANES;
    for (int i = 0; i < 4; ++i) {
      store3(to, to_stride, pair_padded, i < 2 ? bar[i] : turn(frame + FRAME_1_TO_2, bar[i]));
      to += POINT_PLANES * pair_padded;
    }
  }
}

// The matrix of pairs from the view of one body: its own retained edges are the rows, the other
// body's the columns.
typedef struct pair_matrix {
  int rows, row_slots, row_step, columns, column_slots, column_step;
} pair_matrix;

static pair_matrix matrix_of(GLOBAL const pair_sizes *n, int side)
{
  GLOBAL const pair_elements *own = &n->elements[EDGES_OF(side)];
  GLOBAL const pair_elements *other = &n->elements[EDGES_OF(!side)];
  const int kept2 = n->elements[EDGES_OF(1)].kept;
  pair_matrix m;
  m.rows = own->kept;
  m.row_slots = own->slots;
  m.row_step = side ? 1 : kept2;
  m.columns = other->kept;
  m.column_slots = other->slots;
  m.column_step = side ? kept2 : 1;
  return m;
}

// One work-item adds up the cotangents of a block of one body's retained edges in one pose, over
// the other body's edges in its part of ends_bar. Lanes run over the body's own edges. out has
// ENDS_PLANES planes of whole blocks.
ADJOINT_KERNEL void ends_adjoint(GLOBAL const real *ends_bar, GLOBAL const pair_head *pair,
                                 int side, GLOBAL real *out)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const pair_matrix m = matrix_of(&pair->n, side);
  const int pair_padded = pair->n.pair_slots, padded = m.row_slots;
  if (first >= m.rows) {
    return;
  }
  const int stride = PAIR_ENDS_PLANES * pair_padded;
  GLOBAL const real *from = NUMS(ends_bar, pose, stride) + (side ? ENDS_PLANES * pair_padded : 0);
  GLOBAL real *to = NUMS(out, pose, ENDS_PLANES * padded) + first;
  for (int i = 0; i < ENDS_PLANES; ++i) {
    num sum = n_lit(R(0.0));
    for (int j = 0; j < m.columns; ++j) {
      sum = n_add(sum, gather(from + i * pair_padded + j * m.column_step, stride, first, m.rows - 1,
                              m.row_step));
    }
    store(to + i * padded, ENDS_PLANES * padded, sum);
  }
}
