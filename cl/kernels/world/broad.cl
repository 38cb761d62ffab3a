// The broad phase: which groups of a world go through the manifold. A group is skipped if the
// points of each body are outside the reach of the other body's field, tested by boxes around both;
// docs/dev/world-pairs.md. Skipping does not change the results by a single bit.

#define BROAD_SLACK (R(16.0) * REAL_EPSILON) // rounding slack, relative to sizes and positions
#define BROAD_SKEW R(1e-6) // sides are parallel if their squared cross product is at most this

// ---- boxes aligned with the world's axes ----

// Writes the ends of a box to six numbers of the block. The body is at x with orientation q.
static void box_ends(const world_block *b, int at, vec x, FN(quaternion) q, GLOBAL const real *box)
{
  const vec c = FN(add3)(x, FN(quaternion_rotate)(q, real3(box + BOX_CENTRE)));
  lane h[3] = {lane_lit(R(0.0)), lane_lit(R(0.0)), lane_lit(R(0.0))};
  for (int k = 0; k < 3; ++k) {
    const real side = box[BOX_HALF + k];
    const vec along = FN(quaternion_rotate)(q, lit3(k == 0 ? side : R(0.0), k == 1 ? side : R(0.0),
                                                    k == 2 ? side : R(0.0)));
    h[0] += lane_abs(along.x);
    h[1] += lane_abs(along.y);
    h[2] += lane_abs(along.z);
  }
  // The box centre may be near zero if the body is far from its own origin, so x counts as well.
  const lane size = lane_abs(c.x) + lane_abs(c.y) + lane_abs(c.z) + lane_abs(x.x) + lane_abs(x.y) +
                    lane_abs(x.z) + h[0] + h[1] + h[2];
  const vec half_side =
    FN(make)(h[0] + BROAD_SLACK * size, h[1] + BROAD_SLACK * size, h[2] + BROAD_SLACK * size);
  block_put3(b, at, FN(sub3)(c, half_side));
  block_put3(b, at + 3, FN(add3)(c, half_side));
}

// The numbers of boxes of a block of worlds.
static world_block boxes_at(GLOBAL real *boxes, int bodies, int block, int count)
{
  world_block b;
  b.stride = bodies * BROAD_NUMBERS * LANES;
  b.at = NUMS(boxes, block, b.stride);
  b.first = block * LANES;
  b.last = count - 1;
  return b;
}

// One work-item places one body and its boxes in a block of worlds. `links` (bodies) and `of`
// (bodies, BROAD_REALS) hold the bodies' placements on their links. boxes is (blocks, bodies,
// BROAD_NUMBERS, LANES).
KERNEL void world_boxes(GLOBAL const world_sizes *n, GLOBAL real *scratch, GLOBAL const int *links,
                        GLOBAL const real *of, int bodies, int count, GLOBAL real *boxes)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int body = (int)get_global_id(1), link = links[body], at = body * BROAD_NUMBERS;
  if (b.first > b.last) {
    return;
  }
  const world_block to = boxes_at(boxes, bodies, (int)get_global_id(0), count);
  GLOBAL const real *own = of + BROAD_REALS * body;
  vec x = real3(own);
  FN(quaternion) q = quaternion_real(own + 3);
  if (link >= 0) {
    const FN(quaternion) turn = block_quaternion(&b, n->at_quaternion + 4 * link);
    x = FN(add3)(block_get3(&b, n->at_origin + 3 * link), FN(quaternion_rotate)(turn, x));
    q = FN(quaternion_times)(turn, q);
  }
  block_put3(&to, at, x);
  block_put(&to, at + 3, q.w);
  block_put3(&to, at + 4, q.v);
  box_ends(&to, at + BROAD_POINTS, x, q, own + BROAD_POINTS);
  box_ends(&to, at + BROAD_FIELD, x, q, own + BROAD_FIELD);
}

// Returns the largest gap between two boxes over the world's axes. It is negative if they overlap
// along every axis.
static lane ends_gap(const world_block *b, int one, int other)
{
  lane gap = lane_lit(-REAL_BIG);
  for (int k = 0; k < 3; ++k) {
    gap = lane_max(gap, block_get(b, one + k) - block_get(b, other + 3 + k));
    gap = lane_max(gap, block_get(b, other + k) - block_get(b, one + 3 + k));
  }
  return gap;
}

// One work-item tests, in a block of worlds, one run of candidates (runs, CANDIDATE_RUN,
// CANDIDATE_INTS) by boxes aligned with the world's axes. masks (worlds, runs) gets one bit per
// retained candidate.
KERNEL void world_candidates(GLOBAL const int *candidates, GLOBAL real *boxes, int bodies, int runs,
                             GLOBAL int *masks, int count)
{
  const world_block b = boxes_at(boxes, bodies, (int)get_global_id(0), count);
  const int run = (int)get_global_id(1);
  unsigned int kept[LANES];
  if (b.first > b.last) {
    return;
  }
  for (int l = 0; l < LANES; ++l) {
    kept[l] = 0u;
  }
  for (int i = 0; i < CANDIDATE_RUN; ++i) {
    GLOBAL const int *c = candidates + (size_t)CANDIDATE_INTS * (run * CANDIDATE_RUN + i);
    if (c[CANDIDATE_GROUP] < 0) {
      break;
    }
    const int first = BROAD_NUMBERS * c[CANDIDATE_A], second = BROAD_NUMBERS * c[CANDIDATE_B];
    const lane gap = lane_min(ends_gap(&b, first + BROAD_POINTS, second + BROAD_FIELD),
                              ends_gap(&b, first + BROAD_FIELD, second + BROAD_POINTS));
    real gaps[LANES];
    lane_store(gap, gaps);
    for (int l = 0; l < LANES; ++l) { // a NaN gap retains the candidate
      kept[l] |= gaps[l] > R(0.0) && !c[CANDIDATE_KEPT] ? 0u : 1u << i;
    }
  }
  for (int l = 0; l < LANES && b.first + l <= b.last; ++l) {
    ROW(masks, b.first + l, runs)[run] = (int)kept[l];
  }
}

// ---- oriented boxes ----

// The pose of a body in one world: its position and its axes.
typedef struct broad_place {
  real x[3], axis[3][3];
} broad_place;

static broad_place broad_place_of(GLOBAL const real *boxes, int bodies, int world, int body)
{
  GLOBAL const real *at = ROW(boxes, world / LANES, bodies * BROAD_NUMBERS * LANES) +
                          (size_t)body * BROAD_NUMBERS * LANES + world % LANES;
  broad_place p;
  real q[4];
  for (int k = 0; k < 3; ++k) {
    p.x[k] = at[k * LANES];
  }
  for (int k = 0; k < 4; ++k) {
    q[k] = at[(3 + k) * LANES];
  }
  for (int k = 0; k < 3; ++k) {
    const real unit[3] = {k == 0 ? R(1.0) : R(0.0), k == 1 ? R(1.0) : R(0.0),
                          k == 2 ? R(1.0) : R(0.0)};
    sweep_turn(q, unit, p.axis[k]);
  }
  return p;
}

static void broad_centre(const broad_place *p, GLOBAL const real *box, real out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = p->x[k];
    for (int i = 0; i < 3; ++i) {
      out[k] += box[BOX_CENTRE + i] * p->axis[i][k];
    }
  }
}

// Returns whether two oriented boxes are separated along one of their own axes or a cross product
// of these. turn[i][j] is axis i of the first times axis j of the second.
static int broad_apart(const broad_place *a, GLOBAL const real *box, const broad_place *b,
                       GLOBAL const real *other, real turn[3][3])
{
  GLOBAL const real *h = box + BOX_HALF, *g = other + BOX_HALF;
  real from[3], to[3], way[3], t[3], size = R(0.0);
  broad_centre(a, box, from);
  broad_centre(b, other, to);
  for (int k = 0; k < 3; ++k) {
    way[k] = to[k] - from[k];
    size +=
      real_abs(from[k]) + real_abs(to[k]) + real_abs(a->x[k]) + real_abs(b->x[k]) + h[k] + g[k];
  }
  const real slack = BROAD_SLACK * size;
  int apart = 0;
  for (int i = 0; i < 3; ++i) {
    t[i] = sweep_dot(way, a->axis[i]);
    const real reach = h[i] + g[0] * real_abs(turn[i][0]) + g[1] * real_abs(turn[i][1]) +
                       g[2] * real_abs(turn[i][2]);
    const real back = g[i] + h[0] * real_abs(turn[0][i]) + h[1] * real_abs(turn[1][i]) +
                      h[2] * real_abs(turn[2][i]);
    apart |= real_abs(t[i]) > reach + slack || real_abs(sweep_dot(way, b->axis[i])) > back + slack;
  }
  for (int i = 0; !apart && i < 3; ++i) { // most are separated along their own axes
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const real reach = h[i1] * real_abs(turn[i2][j]) + h[i2] * real_abs(turn[i1][j]) +
                         g[j1] * real_abs(turn[i][j2]) + g[j2] * real_abs(turn[i][j1]);
      const int skew = R(1.0) - turn[i][j] * turn[i][j] > BROAD_SKEW;
      apart |= skew && real_abs(t[i2] * turn[i1][j] - t[i1] * turn[i2][j]) > reach + slack;
    }
  }
  return apart;
}

static int broad_left_out(GLOBAL const real *of, GLOBAL const real *boxes, int bodies, int world,
                          GLOBAL const int *candidate)
{
  const int one = candidate[CANDIDATE_A], two = candidate[CANDIDATE_B];
  if (candidate[CANDIDATE_KEPT]) {
    return 0;
  }
  GLOBAL const real *first = of + BROAD_REALS * one, *second = of + BROAD_REALS * two;
  const broad_place a = broad_place_of(boxes, bodies, world, one),
                    b = broad_place_of(boxes, bodies, world, two);
  real turn[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      turn[i][j] = sweep_dot(a.axis[i], b.axis[j]);
    }
  }
  return broad_apart(&a, first + BROAD_POINTS, &b, second + BROAD_FIELD, turn) &&
         broad_apart(&a, first + BROAD_FIELD, &b, second + BROAD_POINTS, turn);
}

// One work-item removes from a run's mask in one world the candidates that oriented boxes exclude.
KERNEL void world_candidates_again(GLOBAL const int *candidates, GLOBAL const real *of,
                                   GLOBAL const real *boxes, int bodies, int runs,
                                   GLOBAL int *masks, int count)
{
  const int world = (int)get_global_id(0), run = (int)get_global_id(1);
  if (world >= count) {
    return;
  }
  GLOBAL int *mask = ROW(masks, world, runs) + run;
  unsigned int kept = (unsigned int)*mask;
  for (int i = 0; i < CANDIDATE_RUN; ++i) {
    if ((kept >> i & 1u) &&
        broad_left_out(of, boxes, bodies, world,
                       candidates + (size_t)CANDIDATE_INTS * (run * CANDIDATE_RUN + i))) {
      kept &= ~(1u << i);
    }
  }
  *mask = (int)kept;
}

// ---- world pairs ----

// One work-item counts the world pairs of one type in one world, counts (types + 1, worlds). A type
// consists of its first run and its number of runs.
KERNEL void world_pair_counts(GLOBAL const int *types, GLOBAL const int *masks, int runs,
                              GLOBAL int *counts, int worlds)
{
  const int world = (int)get_global_id(0), type = (int)get_global_id(1);
  if (world >= worlds) {
    return;
  }
  GLOBAL const int *of = types + TYPE_INTS * type;
  int count = 0;
  for (int run = of[TYPE_RUN]; run < of[TYPE_RUN] + of[TYPE_RUNS]; ++run) {
    for (unsigned int kept = (unsigned int)ROW(masks, world, runs)[run]; kept; kept &= kept - 1u) {
      ++count;
    }
  }
  ROW(counts, type, worlds)[world] = count;
}

// One work-item adds up the counts of all types in one world, in the last row of counts (types + 1,
// worlds).
KERNEL void world_pair_counts_of_all(GLOBAL int *counts, int types, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  int sum = 0;
  for (int type = 0; type < types; ++type) {
    sum += ROW(counts, type, worlds)[world];
  }
  ROW(counts, types, worlds)[world] = sum;
}

// One work-item adds up the counts of COUNT_BLOCK worlds, sums (rows, blocks). firsts (rows,
// worlds) gets, for each world, the count of the worlds before it in its block.
KERNEL void world_pair_sums(GLOBAL const int *counts, int blocks, GLOBAL int *firsts,
                            GLOBAL int *sums, int worlds)
{
  const int block = (int)get_global_id(0), row = (int)get_global_id(1);
  if (block >= blocks) {
    return;
  }
  int sum = 0;
  for (int i = block * COUNT_BLOCK; i < worlds && i < (block + 1) * COUNT_BLOCK; ++i) {
    ROW(firsts, row, worlds)[i] = sum;
    sum += ROW(counts, row, worlds)[i];
  }
  ROW(sums, row, blocks)[block] = sum;
}

// One work-item converts sums (types + 1, blocks) to the number of world pairs before each block.
// The world pairs are ordered by type and then by world, but in the last row by world only. totals
// (types) gets the number of world pairs of each type.
KERNEL void world_pair_totals(GLOBAL int *sums, int blocks, GLOBAL int *totals, int types)
{
  int before = 0;
  if (get_global_id(0)) {
    return;
  }
  for (int type = 0; type <= types; ++type) {
    before = type == types ? 0 : before;
    const int first = before;
    for (int i = 0; i < blocks; ++i) {
      const int own = ROW(sums, type, blocks)[i];
      ROW(sums, type, blocks)[i] = before;
      before += own;
    }
    if (type < types) {
      totals[type] = before - first;
    }
  }
}

// One work-item completes firsts (types + 1, worlds) for one row in one world. If the row is that
// of a type, it also writes the type's world pairs.
KERNEL void world_kept_pairs(GLOBAL const int *candidates, GLOBAL const int *type_runs,
                             GLOBAL const int *masks, int runs, GLOBAL const int *sums, int blocks,
                             int types, GLOBAL int *firsts, GLOBAL int *world_pairs, int worlds)
{
  const int world = (int)get_global_id(0), type = (int)get_global_id(1);
  if (world >= worlds) {
    return;
  }
  int at = ROW(firsts, type, worlds)[world] + ROW(sums, type, blocks)[world / COUNT_BLOCK];
  ROW(firsts, type, worlds)[world] = at;
  if (type == types) {
    return;
  }
  GLOBAL const int *of = type_runs + TYPE_INTS * type;
  for (int run = of[TYPE_RUN]; run < of[TYPE_RUN] + of[TYPE_RUNS]; ++run) {
    const unsigned int kept = (unsigned int)ROW(masks, world, runs)[run];
    for (int i = 0; i < CANDIDATE_RUN && kept >> i; ++i) {
      if (kept >> i & 1u) {
        start_world_pair(world_pair_at(world_pairs, at++), world,
                         candidates[CANDIDATE_INTS * (run * CANDIDATE_RUN + i) + CANDIDATE_GROUP]);
      }
    }
  }
}
