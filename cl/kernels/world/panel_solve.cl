// The factor of the panels and both substitutions (panels.cl): by one item with lanes, or by the
// items of a work-group.

// The degrees of freedom of a panel's columns.
static GLOBAL const int *panel_dofs(const panels *p, const panel *q)
{
  return q->rows ? mass_tree_of(p->n, p->tables, q->tree).dofs : p->tables;
}

#if WG == 1
#define PANEL_PARTS 1

// Replaces a panel by its columns of the factor, and updates the panels of its later neighbours.
// The tree's island fails if a pivot is not positive.
static void panel_eliminate(const panels *p, const panel *q, const team *t)
{
  if (!panel_factor(q)) {
    panel_fails(p, q);
  } else if (q->dofs) {
    panel_update(p, q, t);
  }
}

// Copies the entries of x (nv) of a panel's rows to `room`, followed by zeros.
static void panel_gather(const panels *p, const panel *q, GLOBAL const real *x, GLOBAL real *room)
{
  for (int i = LANES_AT(q->rows); i < q->stride; ++i) {
    room[i] = R(0.0);
  }
  if (!q->rows) {
    return;
  }
  for (panel_walk w = walk_start(p, q->tree); w.tree >= 0; walk_on(p, &w)) {
    const mass_tree of = mass_tree_of(p->n, p->tables, w.tree);
    for (int i = 0; i < of.count; ++i) {
      room[w.row + i] = x[of.dofs[i]];
    }
  }
}

static void panel_scatter(const panels *p, const panel *q, GLOBAL const real *room, GLOBAL real *x)
{
  if (!q->rows) {
    return;
  }
  for (panel_walk w = walk_start(p, q->tree); w.tree >= 0; walk_on(p, &w)) {
    const mass_tree of = mass_tree_of(p->n, p->tables, w.tree);
    for (int i = 0; i < of.count; ++i) {
      x[of.dofs[i]] = room[w.row + i];
    }
  }
}

// One item processes LANES rows at a time and keeps them in registers, because a load of whole
// lanes soon after a store of one number would stall.
static void panel_forward_alone(const panel *q, GLOBAL real *room)
{
  real part[LANES];
  for (int first = 0; first < q->stride; first += LANES) {
    const int end = MIN_INT(first + LANES, q->dofs);
    lane left = lane_load(room + first);
    for (int k = 0; k < MIN_INT(first, q->dofs); ++k) {
      left -= lane_load(q->at + k * q->stride + first) * room[k];
    }
    for (int k = first; k < end; ++k) {
      GLOBAL const real *column = q->at + k * q->stride;
      lane_store(left, part);
      room[k] = part[k - first] * column[k];
      left -= lane_load(column + first) * room[k];
    }
    lane_store(left, part);
    for (int k = MAX_INT(first, end); k < first + LANES; ++k) {
      room[k] = part[k - first];
    }
  }
}

// Like panel_forward_alone, for the backward substitution. `room` has the results of later trees
// and the panel's own right sides.
static void panel_backward_alone(const panels *p, const panel *q, GLOBAL real *room, GLOBAL real *x)
{
  GLOBAL const int *dofs = panel_dofs(p, q);
  for (int begin = LANES_AT(q->dofs - 1); begin >= 0 && q->dofs; begin -= LANES) {
    const int end = MIN_INT(begin + LANES, q->dofs);
    lane there = lane_select(LANES_FROM(end - begin), lane_load(room + begin), lane_lit(R(0.0)));
    for (int k = end - 1; k >= begin; --k) {
      GLOBAL const real *column = q->at + k * q->stride;
      lane sum = lane_load(column + begin) * there;
      for (int first = begin + LANES; first < q->stride; first += LANES) {
        sum += lane_load(column + first) * lane_load(room + first);
      }
      const real y = (room[k] - lane_sum(sum)) * column[k];
      there = lane_select(LANES_ONLY(k - begin), lane_lit(y), there);
      x[dofs[k]] = y;
    }
    lane_store(there, room + begin);
  }
}

// Replaces a tree's part of x (nv) by inv(L) x, and subtracts its effect from its later neighbours.
static void panel_forward(const panels *p, const panel *q, const team *t, GLOBAL real *room,
                          GLOBAL real *x)
{
  (void)t;
  panel_gather(p, q, x, room);
  panel_forward_alone(q, room);
  panel_scatter(p, q, room, x);
}

// Replaces a tree's part of x (nv) by inv(L') x, after that has been done for its later neighbours.
static void panel_backward(const panels *p, const panel *q, const team *t, GLOBAL real *room,
                           GLOBAL real *x)
{
  (void)t;
  panel_gather(p, q, x, room);
  panel_backward_alone(p, q, room, x);
}
#else
// A group takes CHUNK columns at a time. Each item factors or solves their diagonal block in its
// registers, because that takes less time than the barriers that would divide it among items.
#define CHUNK 8
#define CHUNK_NUMBERS (CHUNK * (CHUNK + 1) / 2)

// The place of an entry in a lower triangle that is packed row by row.
#define CHUNK_AT(row, column) ((row) * ((row) + 1) / 2 + (column))

// Items per column of a chunk in the backward substitution, and the numbers that they exchange.
#define CHUNK_SHARES MAX_INT(1, WG / CHUNK)
#define PANEL_PARTS (CHUNK * CHUNK_SHARES)

// A chunk of a panel: `count` columns from `begin` on, and the rows from `end` on below its
// diagonal block.
typedef struct chunk {
  int begin, count, end;
} chunk;

static chunk chunk_at(const panel *q, int begin)
{
  chunk c;
  c.begin = begin;
  c.count = MIN_INT(CHUNK, q->dofs - begin);
  c.end = begin + c.count;
  return c;
}

// Reads the lower triangle of the diagonal block, with unit columns behind the last one.
static void chunk_load(const panel *q, const chunk *c, real l[CHUNK_NUMBERS])
{
  for (int i = 0; i < CHUNK; ++i) {
    for (int k = 0; k <= i; ++k) {
      l[CHUNK_AT(i, k)] = i < c->count ? q->at[(c->begin + k) * q->stride + c->begin + i]
                          : i == k     ? R(1.0)
                                       : R(0.0);
    }
  }
}

// Replaces a lower triangle by its Cholesky factor, with the inverses of the roots on the diagonal.
// Returns 0 if a pivot is not positive.
static int chunk_factor(real l[CHUNK_NUMBERS])
{
  int good = 1;
  for (int i = 0; i < CHUNK; ++i) {
    for (int k = 0; k <= i; ++k) {
      real sum = l[CHUNK_AT(i, k)];
      for (int j = 0; j < k; ++j) {
        sum -= l[CHUNK_AT(i, j)] * l[CHUNK_AT(k, j)];
      }
      good = good && (i != k || sum > R(0.0));
      l[CHUNK_AT(i, k)] = i == k ? R(1.0) / lane_first(lane_sqrt(lane_lit(sum)))
                                 : sum * l[CHUNK_AT(k, k)];
    }
  }
  return good;
}

// Replaces y by inv(L) y.
static void chunk_forward(const real l[CHUNK_NUMBERS], real y[CHUNK])
{
  for (int i = 0; i < CHUNK; ++i) {
    for (int k = 0; k < i; ++k) {
      y[i] -= l[CHUNK_AT(i, k)] * y[k];
    }
    y[i] *= l[CHUNK_AT(i, i)];
  }
}

// Replaces y by inv(L') y.
static void chunk_backward(const real l[CHUNK_NUMBERS], real y[CHUNK])
{
  for (int turn = 0; turn < CHUNK; ++turn) {
    const int i = CHUNK - 1 - turn;
    for (int k = i + 1; k < CHUNK; ++k) {
      y[i] -= l[CHUNK_AT(k, i)] * y[k];
    }
    y[i] *= l[CHUNK_AT(i, i)];
  }
}

// Replaces the rows below the diagonal block by those of the factor.
static void chunk_rows(const panel *q, const team *t, const chunk *c, const real l[CHUNK_NUMBERS])
{
  for (int row = c->end + t->item; row < q->rows; row += t->items) {
    GLOBAL real *at = q->at + c->begin * q->stride + row;
    real y[CHUNK];
    for (int k = 0; k < CHUNK; ++k) {
      y[k] = k < c->count ? at[k * q->stride] : R(0.0);
    }
    chunk_forward(l, y);
    for (int k = 0; k < CHUNK; ++k) {
      if (k < c->count) {
        at[k * q->stride] = y[k];
      }
    }
  }
}

// Writes the lower triangle of the diagonal block.
static void chunk_store(const panel *q, const chunk *c, const real l[CHUNK_NUMBERS])
{
  for (int i = 0; i < CHUNK; ++i) {
    for (int k = 0; k <= i; ++k) {
      if (i < c->count) {
        q->at[(c->begin + k) * q->stride + c->begin + i] = l[CHUNK_AT(i, k)];
      }
    }
  }
}

// Subtracts a factored chunk's products from the later columns of its panel.
static void chunk_update(const panel *q, const team *t, const chunk *c)
{
  for (int row = c->end + t->item; row < q->rows; row += t->items) {
    for (int to = c->end; to < q->dofs && to <= row; ++to) {
      real sum = R(0.0);
      for (int k = c->begin; k < c->end; ++k) {
        sum += q->at[k * q->stride + row] * q->at[k * q->stride + to];
      }
      q->at[to * q->stride + row] -= sum;
    }
  }
}

// Replaces a panel by its columns of the factor, and updates the panels of its later neighbours.
// The tree's island fails if a pivot is not positive. Entries above the diagonal are not used.
static void panel_eliminate(const panels *p, const panel *q, const team *t)
{
  int good = 1;
  for (int begin = 0; HAS_TURN(begin, good ? q->dofs : 0); begin += CHUNK) {
    const chunk c = chunk_at(q, begin);
    real l[CHUNK_NUMBERS];
    chunk_load(q, &c, l);
    good = chunk_factor(l);
    chunk_rows(q, t, &c, l);
    MEET;
    if (t->item == 0) {
      chunk_store(q, &c, l);
    }
    if (good && c.end < q->dofs) {
      chunk_update(q, t, &c);
    } else if (good && q->dofs) {
      panel_update(p, q, t);
    } else if (!good && t->item == 0) {
      panel_fails(p, q);
    }
    MEET;
  }
}

// Reads a chunk's entries of x (nv).
static void chunk_gather(const chunk *c, GLOBAL const int *dofs, GLOBAL const real *x,
                         real y[CHUNK])
{
  for (int i = 0; i < CHUNK; ++i) {
    y[i] = i < c->count ? x[dofs[c->begin + i]] : R(0.0);
  }
}

static void chunk_scatter(const chunk *c, GLOBAL const int *dofs, const real y[CHUNK],
                          GLOBAL real *x)
{
  for (int i = 0; i < CHUNK; ++i) {
    if (i < c->count) {
      x[dofs[c->begin + i]] = y[i];
    }
  }
}

// Returns the first row from `row` on that belongs to one of `sharers`, to which rows are dealt in
// turn.
static int row_from(int row, int sharer, int sharers)
{
  return row + (sharer + sharers - row % sharers) % sharers;
}

// Replaces a tree's part of x (nv) by inv(L) x, and subtracts its effect from its later neighbours.
// Items must meet before its own part is read.
static void panel_forward(const panels *p, const panel *q, const team *t, GLOBAL real *room,
                          GLOBAL real *x)
{
  GLOBAL const int *dofs = panel_dofs(p, q);
  (void)room;
  for (int begin = 0; HAS_TURN(begin, q->dofs); begin += CHUNK) {
    const chunk c = chunk_at(q, begin);
    real l[CHUNK_NUMBERS], y[CHUNK];
    chunk_load(q, &c, l);
    chunk_gather(&c, dofs, x, y);
    chunk_forward(l, y);
    for (panel_walk w = walk_start(p, q->tree); q->rows && w.tree >= 0; walk_on(p, &w)) {
      const mass_tree of = mass_tree_of(p->n, p->tables, w.tree);
      for (int row = row_from(MAX_INT(w.row, c.end), t->item, t->items); row < w.row + of.count;
           row += t->items) {
        real sum = R(0.0);
        for (int k = 0; k < CHUNK; ++k) {
          sum += k < c.count ? q->at[(begin + k) * q->stride + row] * y[k] : R(0.0);
        }
        x[of.dofs[row - w.row]] -= sum;
      }
    }
    MEET;
    if (t->item == 0) { // no item reads this before the backward substitution
      chunk_scatter(&c, dofs, y, x);
    }
  }
}

// Returns a share of the product of a panel's column and the entries of x (nv) in its rows from
// `end` on.
static real column_share_times(const panels *p, const panel *q, int column, int end, int share,
                               GLOBAL const real *x)
{
  real sum = R(0.0);
  for (panel_walk w = walk_start(p, q->tree); w.tree >= 0; walk_on(p, &w)) {
    const mass_tree of = mass_tree_of(p->n, p->tables, w.tree);
    for (int row = row_from(MAX_INT(w.row, end), share, CHUNK_SHARES); row < w.row + of.count;
         row += CHUNK_SHARES) {
      sum += q->at[column * q->stride + row] * x[of.dofs[row - w.row]];
    }
  }
  return sum;
}

// Replaces a tree's part of x (nv) by inv(L') x, after that has been done for its later neighbours.
static void panel_backward(const panels *p, const panel *q, const team *t, GLOBAL real *room,
                           GLOBAL real *x)
{
  GLOBAL const int *dofs = panel_dofs(p, q);
  const int chunks = (q->dofs + CHUNK - 1) / CHUNK;
  (void)room;
  for (int turn = 0; HAS_TURN(turn, chunks); ++turn) {
    const chunk c = chunk_at(q, CHUNK * MAX_INT(chunks - 1 - turn, 0));
    real l[CHUNK_NUMBERS], y[CHUNK];
    for (int i = t->item; i < PANEL_PARTS; i += t->items) {
      const int column = i / CHUNK_SHARES;
      t->part[i] = column < c.count
                     ? column_share_times(p, q, c.begin + column, c.end, i % CHUNK_SHARES, x)
                     : R(0.0);
    }
    chunk_load(q, &c, l);
    chunk_gather(&c, dofs, x, y);
    BARRIER;
    for (int i = 0; i < CHUNK; ++i) {
      for (int k = 0; k < CHUNK_SHARES; ++k) {
        y[i] -= t->part[i * CHUNK_SHARES + k];
      }
    }
    chunk_backward(l, y);
    if (t->item == 0) {
      chunk_scatter(&c, dofs, y, x);
    }
    MEET;
  }
}
#endif
