// The soft nearest neighbours of edge contacts, and gate weights. Each kernel is followed by its
// adjoint, written by hand.

// A block of rows of the matrix of pairs. A row is one edge of one body against all edges of the
// other. The columns have gate weights if `weighted`. dbar and factor are planes of factors; factor
// is the plane of activities of the rows' body.
typedef struct pair_rows {
  GLOBAL const real *dbar, *factor;
  int stride, first, last, row_step, columns, column_step;
  GLOBAL const real *weights;
  int weights_padded, weighted;
} pair_rows;

static pair_rows rows_of(GLOBAL const pair_sizes *n, int side, GLOBAL const real *factors,
                         GLOBAL const real *weights, int first, int pose)
{
  const pair_matrix m = matrix_of(n, side);
  pair_rows r;
  r.stride = FACTORS_PLANES * n->pair_slots;
  r.dbar = NUMS(factors, pose, r.stride);
  r.factor = r.dbar + (1 + side) * n->pair_slots;
  r.first = first;
  r.last = m.rows - 1;
  r.row_step = m.row_step;
  r.columns = m.columns;
  r.column_step = m.column_step;
  r.weights = NUMS(weights, pose, m.column_slots);
  r.weights_padded = m.column_slots;
  r.weighted = n->elements[EDGES_OF(!side)].weighted;
  return r;
}

// Reads column j of a plane of factors, or of a similar plane.
static num at_column(const pair_rows *m, GLOBAL const real *plane, int stride, int j)
{
  return gather(plane + j * m->column_step, stride, m->first, m->last, m->row_step);
}

static num column_weight(const pair_rows *m, int j)
{
  return load_one(m->weights + j, m->weights_padded);
}

// A row's softmax of -dbar / neighbour over the columns, weighted by their gates (docs/dev/spec.md,
// 6.4). A column of weight 0 is absent. A column therefore enters continuously from 0, however near
// it is.
typedef struct row_softmax {
  num least, share; // the least dbar; 1 / sum of weighted exponentials, 0 without any
} row_softmax;

static num row_dbar(const pair_rows *m, int j)
{
  return at_column(m, m->dbar, m->stride, j);
}

// Returns exp(-(dbar - least) / neighbour), or 0 if the column is absent.
static num row_exponential(const pair_rows *m, int j, num least, GLOBAL const coefficients *c)
{
  const num e = n_exp2(n_scale(n_sub(least, row_dbar(m, j)), c->neighbour_log2e));
  if (!m->weighted) {
    return e;
  }
  return n_select(n_value(column_weight(m, j)) > lane_lit(R(0.0)), e, n_lit(R(0.0)));
}

static row_softmax softmax_over(const pair_rows *m, GLOBAL const coefficients *c)
{
  row_softmax r;
  r.least = n_lit(REAL_BIG);
  for (int j = 0; j < m->columns; ++j) {
    const num x = row_dbar(m, j);
    ilane less = n_value(x) < n_value(r.least);
    if (m->weighted) {
      less = less & (n_value(column_weight(m, j)) > lane_lit(R(0.0)));
    }
    r.least = n_select(less, x, r.least);
  }
  num sum = n_lit(R(0.0));
  for (int j = 0; j < m->columns; ++j) {
    const num e = row_exponential(m, j, r.least, c);
    sum = m->weighted ? n_mad(column_weight(m, j), e, sum) : n_add(sum, e);
  }
  r.share = n_rcp(sum);
  if (m->weighted) {
    r.share = n_select(n_value(sum) > lane_lit(R(0.0)), r.share, n_lit(R(0.0)));
  }
  return r;
}

// Returns the gate weights of the rows' own edges.
static num row_weights_of(GLOBAL const pair_elements *e, GLOBAL const real *weights, int first,
                          int pose)
{
  return gather(NUMS(weights, pose, e->slots), e->slots, first, e->kept - 1, 1);
}

// One work-item computes the activities of a block of rows in one pose, activity (poses, contacts).
// The activity of a pair is its factor, times the softmax along the other body's retained edges,
// times both gate weights, less the floor. Lanes run over the edges of body `side`, and each lane
// loops over the other body's edges.
KERNEL void neighbours(GLOBAL const real *factors, GLOBAL const real *row_weights,
                       GLOBAL const real *column_weights, GLOBAL const real *frames,
                       GLOBAL const pair_head *pair, int side, GLOBAL real *activity)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *own = &pair->n.elements[EDGES_OF(side)];
  const int rows = own->kept, contacts = pair->n.contacts;
  if (first >= rows) {
    return;
  }
  const pair_rows m = rows_of(&pair->n, side, factors, column_weights, first, pose);
  const row_softmax s = softmax_over(&m, c);
  num share = s.share;
  if (own->weighted) {
    share = n_mul(share, row_weights_of(own, row_weights, first, pose));
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *out = NUMS(activity, pose, contacts) + own->contact;
  for (int j = 0; j < m.columns; ++j) {
    const num e = row_exponential(&m, j, s.least, c);
    num y = n_mul(n_mul(share, at_column(&m, m.factor, m.stride, j)), e);
    if (m.weighted) { // once in the softmax, once as the edge's own
      const num weight = column_weight(&m, j);
      y = n_mul(n_mul(y, weight), weight);
    }
    if (c->floor > R(0.0)) {
      y = FN(above_floor)(y, c->floor, c->floor_inv);
    }
    store_step(out + first * m.row_step + j * m.column_step, contacts, NO_ORDER, 0, 0, rows - first,
               m.row_step, poisoned(frame, y));
  }
}

// Stores a block of rows' contribution to one column of a plane. With `there` it is added to the
// stored value.
static void give_column(GLOBAL real *to, int stride, int rows, int row_step, int there, num x)
{
  const num sum = there ? n_add(x, gather(to, stride, 0, rows - 1, row_step)) : x;
  store_step(to, stride, NO_ORDER, 0, 0, rows, row_step, bounded(sum, COTANGENT_LIMIT));
}

// The quantities of a column in the adjoints of neighbours and of neighbour_weights. by_weight is
// its exponential over the sum, column its own gate weight, and share the product of both. part is
// the function of the share that enters the result, and factor the pair's factor. The cotangents
// follow: of the product before the floor or the step (bar), of part times factor (weighted), and
// of the share.
typedef struct neighbour {
  num by_weight, column, share, part, factor, bar, weighted, share_bar;
} neighbour;

// weight has the gates of the rows' own edges. bars has the cotangents of their activities or, with
// `weights`, of their weights.
static neighbour neighbour_at(const pair_rows *m, const row_softmax *s, int j, num weight,
                              GLOBAL const real *bars, int bar_stride, const int weights,
                              GLOBAL const coefficients *c)
{
  neighbour r;
  r.by_weight = n_mul(row_exponential(m, j, s->least, c), s->share);
  r.column = n_lit(R(1.0));
  r.share = r.by_weight;
  if (m->weighted) {
    r.column = column_weight(m, j);
    r.share = n_mul(r.by_weight, r.column);
  }
  r.bar = at_column(m, bars, bar_stride, j);
  r.factor = at_column(m, m->factor, m->stride, j);
  if (weights) {
    num among_slope, step_slope;
    const num gates = n_mul(weight, r.column);
    r.part = FN(among_and_slope)(r.share, &among_slope);
    FN(weight_step_and_slope)(n_mul(n_mul(gates, r.part), r.factor), &step_slope);
    r.bar = n_mul(r.bar, step_slope);
    r.weighted = n_mul(r.bar, gates);
    r.share_bar = n_mul(n_mul(r.weighted, r.factor), among_slope);
    return r;
  }
  r.part = r.share;
  if (c->floor > R(0.0)) {
    const num y = n_mul(n_mul(n_mul(weight, r.column), r.share), r.factor);
    num floor_slope;
    FN(above_floor_and_slope)(y, c->floor, c->floor_inv, &floor_slope);
    r.bar = n_mul(r.bar, floor_slope);
  }
  r.weighted = n_mul(r.bar, weight);
  if (m->weighted) {
    r.weighted = n_mul(r.weighted, r.column);
  }
  r.share_bar = n_mul(r.weighted, r.factor);
  return r;
}

// The adjoint of neighbours, or with `weights` of neighbour_weights, for the block of rows starting
// at `first`.
static void neighbours_back(GLOBAL const real *factors, GLOBAL const real *row_weights,
                            GLOBAL const real *column_weights, GLOBAL const pair_head *pair,
                            int side, int first, int pose, GLOBAL const real *from, int bar_stride,
                            const int weights, GLOBAL real *factors_bar)
{
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *own = &pair->n.elements[EDGES_OF(side)];
  const int pair_padded = pair->n.pair_slots, gated = pair->n.gated, rows = own->kept - first;
  if (rows <= 0) {
    return;
  }
  const int out_stride = FACTORS_BAR_PLANES(gated) * pair_padded;
  GLOBAL const real *bars = NUMS(from, pose, bar_stride) + own->contact;
  GLOBAL real *out = NUMS(factors_bar, pose, out_stride);
  const pair_rows m = rows_of(&pair->n, side, factors, column_weights, first, pose);
  const row_softmax s = softmax_over(&m, c);
  num weight = n_lit(R(1.0));
  if (own->weighted) {
    weight = row_weights_of(own, row_weights, first, pose);
  }
  num mean = n_lit(R(0.0)); // of the shares' cotangents, weighted by the shares
  for (int turn = 0; turn < 2 * m.columns; ++turn) { // one loop, so that the code is compiled once
    const int j = turn % m.columns;
    const neighbour at = neighbour_at(&m, &s, j, weight, bars, bar_stride, weights, c);
    if (turn < m.columns) {
      mean = n_mad(at.share, at.share_bar, mean);
      continue;
    }
    GLOBAL real *to = out + first * m.row_step + j * m.column_step;
    const num slope = n_scale(n_mul(at.share, n_sub(mean, at.share_bar)), c->neighbour_log2e * LN2);
    give_column(to, out_stride, rows, m.row_step, side, slope);
    store_step(to + (1 + side) * pair_padded, out_stride, NO_ORDER, 0, 0, rows, m.row_step,
               n_mul(at.weighted, at.part));
    if (gated) {
      const num whole = n_mul(n_mul(at.bar, at.factor), at.part);
      const num by_softmax = n_mul(at.by_weight, n_sub(at.share_bar, mean));
      GLOBAL real *weights_bar = to + FACTORS_BAR_WEIGHTS * pair_padded;
      give_column(weights_bar + side * pair_padded, out_stride, rows, m.row_step, side,
                  n_mul(whole, at.column));
      give_column(weights_bar + !side * pair_padded, out_stride, rows, m.row_step, side,
                  n_mad(whole, weight, by_softmax));
    }
  }
}

// The adjoint of neighbours. It maps the cotangents of activities to factors_bar, which has the
// planes dbar, both factors and, with gates, each pair's contribution to the gate weights of its
// edge of body 1 and of body 2. Body 2's pass adds to body 1's results in all planes except those
// of the factors.
ADJOINT_KERNEL void neighbours_adjoint(GLOBAL const real *factors, GLOBAL const real *row_weights,
                                       GLOBAL const real *column_weights,
                                       GLOBAL const pair_head *pair, int side,
                                       GLOBAL const real *activity_bar, int a_shared,
                                       GLOBAL real *factors_bar)
{
  neighbours_back(factors, row_weights, column_weights, pair, side, (int)get_global_id(0) * LANES,
                  (int)get_global_id(1), activity_bar, a_shared ? 0 : pair->n.contacts, 0,
                  factors_bar);
}

// One work-item adds up the cotangents of a block of one body's gate weights in one pose, from its
// plane of factors_bar. With `there` the sum is added to the stored values.
ADJOINT_KERNEL void weights_adjoint(GLOBAL const real *factors_bar, GLOBAL const pair_head *pair,
                                    int side, int there, GLOBAL real *weights_bar)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const pair_matrix m = matrix_of(&pair->n, side);
  const int pair_padded = pair->n.pair_slots, padded = m.row_slots;
  if (first >= m.rows) {
    return;
  }
  const int stride = FACTORS_BAR_PLANES(1) * pair_padded;
  GLOBAL const real *from =
    NUMS(factors_bar, pose, stride) + (FACTORS_BAR_WEIGHTS + side) * pair_padded;
  num sum = n_lit(R(0.0));
  for (int j = 0; j < m.columns; ++j) {
    sum = n_add(sum, gather(from + j * m.column_step, stride, first, m.rows - 1, m.row_step));
  }
  GLOBAL real *to = NUMS(weights_bar, pose, padded) + first;
  store(to, padded, there ? n_add(sum, load(to, padded)) : sum);
}
