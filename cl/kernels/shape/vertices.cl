// The cotangents of a body's vertices and features: of vertices in contact and of the ends of
// edges.

// One work-item distributes the cotangents of retained elements, `bars` (poses, columns, slots), to
// a block of all elements of the mesh in one pose, out (poses, columns, padded). With gates they
// belong to true elements; otherwise each is spread by the weights of SoftSort. `of` selects the
// elements, and thus the number of columns. scores, top, sums and index are those of their
// selection.
KERNEL void spread_kept(GLOBAL const real *scores, GLOBAL const real *top, GLOBAL const real *sums,
                        GLOBAL const int *index, GLOBAL const real *bars,
                        GLOBAL const pair_head *pair, int of, GLOBAL real *out)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  GLOBAL const coefficients *c = &pair->c;
  const int kept = e->kept, padded = e->padded, slots = e->slots, gated = pair->n.gated;
  const int columns = of < EDGES_OF(0) ? POINT_PLANES : ENDS_PLANES;
  if (first >= padded) {
    return;
  }
  const lane none = lane_lit(R(0.0)), at = lane_iota() + (real)first;
  GLOBAL const real *ranks = NUMS(top, pose, kept + 1);
  GLOBAL const real *from = NUMS(bars, pose, columns * slots);
  GLOBAL const int *true_at = ROW(index, pose, kept + 1);
  lane sum[ENDS_PLANES];
  for (int j = 0; j < columns; ++j) {
    sum[j] = none;
  }
  const lane s = gated ? none : lane_load(NUMS(scores, pose, padded) + first);
  for (int k = 0; k < kept; ++k) {
    lane w;
    if (gated) {
      w = lane_select(at == lane_lit((real)true_at[k]), lane_lit(R(1.0)), none);
    } else {
      const lane x = lane_abs(lane_lit(ranks[k]) - s) * -c->sort_log2e;
      w = lane_exp2(x) * NUMS(sums, pose, slots)[k];
      w = lane_select(x > lane_lit(WEIGHT_CUTOFF), w, none);
    }
    if (lane_any(w > none)) {
      for (int j = 0; j < columns; ++j) {
        sum[j] = w * from[j * slots + k] + sum[j];
      }
    }
  }
  GLOBAL real *to = NUMS(out, pose, columns * padded) + first;
  for (int j = 0; j < columns; ++j) {
    lane_store(sum[j], to + j * padded);
  }
}

// Bits of the sources of vertices' cotangents: `own` by places of the sorted mesh, `kept` by
// indices of the mesh, `ends` by its edges.
#define VERTEX_OWN 1
#define VERTEX_KEPT 2
#define VERTEX_ENDS 4

// One work-item adds up the cotangents of one vertex in one pose, by its place i in the sorted
// mesh: own and kept (poses, 3, padded), ends (poses, 6, edges padded). `order` and the lists of
// edges are the body's; `rows` gets 3 numbers for each vertex of the mesh.
KERNEL void vertices_by_shape(GLOBAL const real *own, GLOBAL const real *kept,
                              GLOBAL const real *ends, GLOBAL const int *order,
                              GLOBAL const int *starts, GLOBAL const int *incident,
                              GLOBAL const int *edges, GLOBAL const pair_head *pair, int side,
                              int given, GLOBAL real *rows, int row_stride)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  GLOBAL const pair_elements *vertices = &pair->n.elements[VERTICES_OF(side)];
  const int padded = vertices->padded, edge_padded = pair->n.elements[EDGES_OF(side)].padded;
  if (i >= vertices->count) {
    return;
  }
  const int at = order[i];
  for (int k = 0; k < POINT_PLANES; ++k) {
    real sum = R(0.0);
    if (given & VERTEX_OWN) {
      sum += NUMS(own, pose, POINT_PLANES * padded)[k * padded + i];
    }
    if (given & VERTEX_KEPT) {
      sum += NUMS(kept, pose, POINT_PLANES * padded)[k * padded + at];
    }
    if (given & VERTEX_ENDS) {
      GLOBAL const real *from = NUMS(ends, pose, ENDS_PLANES * edge_padded) + k * edge_padded;
      for (int j = starts[i]; j < starts[i + 1]; ++j) {
        const int edge = incident[j];
        sum += from[(edges[edge] == i ? 0 : POINT_PLANES * edge_padded) + edge];
      }
    }
    ROW(rows, pose, row_stride)[3 * at + k] = sum;
  }
}

// One work-item clears one of the first `count` numbers of a pose's row, for features that are not
// retained.
KERNEL void clear_features(GLOBAL real *rows, int row_stride, int count)
{
  const int i = (int)get_global_id(0);
  if (i < count) {
    ROW(rows, get_global_id(1), row_stride)[i] = R(0.0);
  }
}

// One work-item adds the cotangent of one element's score, scores_bar (poses, padded), to the
// cotangent of the radius or length that enters the score. In a row the elements start at `base`
// and are `step` numbers apart.
KERNEL void scores_by_shape(GLOBAL const real *scores_bar, GLOBAL const pair_head *pair, int of,
                            GLOBAL real *rows, int row_stride, int base, int step)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  if (i < e->count) {
    ROW(rows, pose, row_stride)[base + step * i] += ROW(scores_bar, pose, e->padded)[i];
  }
}
