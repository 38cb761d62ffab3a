// Edge-edge contacts (docs/spec.md, section 6): witness points, then fields there (field.cl), then
// contacts and their soft nearest neighbours. Behind each kernel stands its adjoint, by hand.
//
// Pairs of kept edges run with slot k of body 1 varying slowest. In most kernels one work-item has
// a block of LANES pairs of one pose. `witness` has rows of witness_stride numbers a pose, planes
// of pair_slots in body 1's frame: e1 and e2 before sphere tracing, con at WITNESS_CON, and behind
// them what tracing makes of the points, as far as the host asks for it.

typedef struct edge_ends {
  vec p0, p1, q0, q1; // p in body 1's frame, q in body 2's
} edge_ends;

// Reads the ends of a block of pairs, six planes a body, in its own frame.
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

// One work-item finds the witness points of a block of pairs: of the ends of both bodies' kept
// edges it writes the planes e1, e2 and con of `witness`.
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
// planes of pair_slots, 0 past the last pair. The kernel writes wrenches and, where `ends` is set,
// ends_bar (poses, 12, pair_slots), the cotangents of each pair's ends in their own frames.
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

// The matrix of pairs as a body sees it: its own kept edges are the rows, the other body's the
// columns.
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

// One work-item adds up the cotangents of a block of one body's kept edges in one pose, of its part
// of ends_bar over the other body's edges. Lanes run over the body's own edges; out has ENDS_PLANES
// planes of whole blocks.
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

// What a pair's contacts are made of: points e1 and e2, both bodies' normals there, con and
// distances. The kernel and its adjoint both load it.
typedef struct pair_inputs {
  vec e1, e2, m1, m2; // in body 1's frame
  num con;
  FN(pair_depths) at;
} pair_inputs;

static pair_inputs load_pair(GLOBAL const real *witness, int base, int witness_stride,
                             GLOBAL const real *own1, GLOBAL const real *own2, int own_stride,
                             GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                             int opposing_stride, int active, GLOBAL const real *frame,
                             GLOBAL const pair_head *pair, int block, int pose)
{
  pair_inputs r;
  const int pair_padded = pair->n.pair_slots;
  GLOBAL const real *at = NUMS(witness, pose, witness_stride) + block * LANES;
  GLOBAL const real *row1 = NUMS(own1, pose, own_stride) + block * LANES;
  GLOBAL const real *row2 = NUMS(own2, pose, own_stride) + block * LANES;
  r.e1 = load3(at + base, witness_stride, pair_padded);
  r.e2 = load3(at + base + WITNESS_E2 * pair_padded, witness_stride, pair_padded);
  r.con = load(at + WITNESS_CON * pair_padded, witness_stride);
  r.m1 = load3(row1 + pair_padded, own_stride, pair_padded);
  r.m2 = turn(frame + FRAME_2_TO_1, load3(row2 + pair_padded, own_stride, pair_padded));
  r.at.own1 = load(row1, own_stride);
  r.at.own2 = load(row2, own_stride);
  r.at.opposing1 = r.at.opposing2 = n_lit(R(0.0));
  if (active) {
    GLOBAL const real *from1 = NUMS(opposing1, pose, opposing_stride) + block * LANES;
    GLOBAL const real *from2 = NUMS(opposing2, pose, opposing_stride) + block * LANES;
    r.at.opposing1 = load(from1, opposing_stride);
    r.at.opposing2 = load(from2, opposing_stride);
  }
  return r;
}

// One work-item makes everything of the contacts of a block of pairs that each pair alone decides.
// own1 and own2 have the planes phi and normal of each body at its own point, and, where `active`
// is set, opposing1 and opposing2 phi of the other body there. base is where the points lie that
// tracing leaves. p and n are (poses, contacts, 3), d (poses, contacts), and factors (poses, 3,
// pair_slots) are the planes dbar and both activities without the neighbour's softmax.
KERNEL void edge_contacts(GLOBAL const real *witness, int base, int witness_stride,
                          GLOBAL const real *own1, GLOBAL const real *own2, int own_stride,
                          GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                          int opposing_stride, int active, GLOBAL const real *frames,
                          GLOBAL const pair_head *pair, int want, GLOBAL real *p, GLOBAL real *d,
                          GLOBAL real *n, GLOBAL real *factors)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES, pairs = pair->n.pairs, pair_padded = pair->n.pair_slots;
  const int contacts = pair->n.contacts;
  const int slot1 = pair->n.elements[EDGES_OF(0)].contact;
  const int slot2 = pair->n.elements[EDGES_OF(1)].contact;
  if (first >= pairs) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const pair_inputs in = load_pair(witness, base, witness_stride, own1, own2, own_stride, opposing1,
                                   opposing2, opposing_stride, active, frame, pair, block, pose);
  const FN(edge_contact) r = FN(edge_pair)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, &pair->c);
  if (active) {
    const int stride = FACTORS_PLANES * pair_padded;
    store3(NUMS(factors, pose, stride) + first, stride, pair_padded,
           steady3(FN(make)(r.dbar, r.a1, r.a2), COTANGENT_LIMIT));
  }
  if (want & WANT_P) {
    GLOBAL real *row = NUMS(p, pose, 3 * contacts);
    const vec w1 = poisoned3(frame, place(frame + FRAME_WORLD_1, in.e1));
    const vec w2 = poisoned3(frame, place(frame + FRAME_WORLD_1, in.e2));
    store_row3(row + 3 * slot1, 3 * contacts, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, 3 * contacts, NO_ORDER, 0, first, pairs, w2);
  }
  if (want & WANT_D) {
    GLOBAL real *row = NUMS(d, pose, contacts);
    store_row(row + slot1, contacts, NO_ORDER, 0, first, pairs, poisoned(frame, r.d1));
    store_row(row + slot2, contacts, NO_ORDER, 0, first, pairs, poisoned(frame, r.d2));
  }
  if (want & WANT_N) {
    GLOBAL real *row = NUMS(n, pose, 3 * contacts);
    const vec w1 = poisoned3(frame, turn(frame + FRAME_WORLD_1, r.n1));
    const vec w2 = poisoned3(frame, turn(frame + FRAME_WORLD_1, r.n2));
    store_row3(row + 3 * slot1, 3 * contacts, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, 3 * contacts, NO_ORDER, 0, first, pairs, w2);
  }
}

// The cotangents of a block of a pose's outputs. `have` says which there are (WANT_*); rows are as
// in vertex_adjoint.
typedef struct output_bars {
  int have, slot1, slot2, contacts, d_stride, first, pairs, pose;
  GLOBAL const real *p, *d, *n, *frame;
} output_bars;

// Reads cotangents of vectors in the world, and turns them into body 1's frame.
static vec world_bar(const output_bars *b, GLOBAL const real *rows, int slot)
{
  GLOBAL const real *row = NUMS(rows, b->pose, 3 * b->contacts) + 3 * slot;
  return turn_back(b->frame + FRAME_WORLD_1,
                   cotangent3(row, 3 * b->contacts, NO_ORDER, 0, b->first, b->pairs));
}

static FN(edge_contact) contact_bars(const output_bars *b, GLOBAL const real *factors_bar,
                                     int factors_stride, int pair_padded, int active)
{
  const num zero = n_lit(R(0.0));
  const vec zero3 = FN(make)(zero, zero, zero);
  FN(edge_contact) bar = {zero, zero, zero, zero3, zero3, zero, zero};
  if (b->have & WANT_D) {
    GLOBAL const real *row = NUMS(b->d, b->pose, b->d_stride);
    bar.d1 = cotangent(row + b->slot1, b->d_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.d2 = cotangent(row + b->slot2, b->d_stride, NO_ORDER, 0, b->first, b->pairs);
  }
  if (b->have & WANT_N) {
    bar.n1 = world_bar(b, b->n, b->slot1);
    bar.n2 = world_bar(b, b->n, b->slot2);
  }
  if (active) {
    GLOBAL const real *row = NUMS(factors_bar, b->pose, factors_stride);
    bar.dbar = cotangent(row, factors_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.a1 = cotangent(row + pair_padded, factors_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.a2 = cotangent(row + 2 * pair_padded, factors_stride, NO_ORDER, 0, b->first, b->pairs);
  }
  return bar;
}

// Goes back through both bodies' own fields, with jets at their own points, to the points: body 1's
// in its own frame, body 2's across.
static void own_fields_adjoint(const pair_inputs *in, GLOBAL const real *jet1,
                               GLOBAL const real *jet2, GLOBAL const real *to_2, int pair_padded,
                               int active, FN(edge_pair_bar) *r, wrench *relative)
{
  const int stride = JET_PLANES * pair_padded, gradient = JET_PLANE_GRADIENT * pair_padded;
  r->e1 = FN(add3)(r->e1, adjoint_normal(jet1, pair_padded, r->m1));
  vec across = adjoint_normal(jet2, pair_padded, turn(to_2, r->m2));
  if (active) {
    r->e1 = FN(mad3)(load3(jet1 + gradient, stride, pair_padded), r->at.own1, r->e1);
    across = FN(mad3)(load3(jet2 + gradient, stride, pair_padded), r->at.own2, across);
  }
  across = turn_back(to_2, across);
  r->e2 = FN(add3)(r->e2, across);
  push_at(relative, in->e2, FN(neg3)(across));
  twist_direction(relative, in->m2, r->m2);
}

// Goes back through the other body's field at each point (planes phi, gradient) to the points.
static void opposing_fields_adjoint(const pair_inputs *in, GLOBAL const real *field1,
                                    GLOBAL const real *field2, GLOBAL const real *to_2,
                                    int pair_padded, FN(edge_pair_bar) *r, wrench *relative)
{
  const int stride = FIELD_PLANES * pair_padded;
  const vec slope2 = load3(field1 + pair_padded, stride, pair_padded);
  const vec slope1 = load3(field2 + pair_padded, stride, pair_padded);
  const vec push = turn_back(to_2, FN(scale3)(slope2, r->at.opposing1));
  r->e1 = FN(add3)(r->e1, push);
  push_at(relative, in->e1, FN(neg3)(push));
  r->e2 = FN(mad3)(slope1, r->at.opposing2, r->e2);
}

// Adds what turning both bodies does to the normals of a pair: they turn with everything that they
// are made of.
static void twist_pair(vec e1, vec e2, vec m1, vec m2, const FN(edge_pair_bar) *r, wrench *carried)
{
  twist_direction(carried, e1, r->e1);
  twist_direction(carried, e2, r->e2);
  twist_direction(carried, m1, r->m1);
  twist_direction(carried, m2, r->m2);
}

// Stores a block's cotangents for edge_witnesses_adjoint.
static void store_pair_bars(GLOBAL real *bars, int pair_padded, int first, int pose,
                            const FN(edge_pair_bar) *r)
{
  const int stride = WITNESS_PLANES * pair_padded;
  GLOBAL real *to = NUMS(bars, pose, stride) + first;
  store3(to, stride, pair_padded, bounded3(r->e1, COTANGENT_LIMIT));
  store3(to + WITNESS_E2 * pair_padded, stride, pair_padded, bounded3(r->e2, COTANGENT_LIMIT));
  store(to + WITNESS_CON * pair_padded, stride, bounded(r->con, COTANGENT_LIMIT));
}

// Writes the sites of a block of pairs: each body's own field at its own point, and at the other's.
static void store_pair_sites(const field_sites *at, GLOBAL real *sites1, GLOBAL real *sites2,
                             int first, int pose, int active, const pair_inputs *in,
                             GLOBAL const real *to_2, const FN(edge_pair_bar) *r)
{
  const num zero = n_lit(R(0.0));
  store_sites(sites1, at->count[0], at->own[0] + first, pose, in->e1, active ? r->at.own1 : zero,
              r->m1);
  store_sites(sites2, at->count[1], at->own[1] + first, pose, place(to_2, in->e2),
              active ? r->at.own2 : zero, turn(to_2, r->m2));
  if (active) {
    store_sites(sites1, at->count[0], at->opposing[0] + first, pose, in->e2, r->at.opposing2,
                no_bar());
    store_sites(sites2, at->count[1], at->opposing[1] + first, pose, place(to_2, in->e1),
                r->at.opposing1, no_bar());
  }
}

// The adjoint of edge_contacts and of the fields under it. own1 and own2 have the planes of
// field_jet; where activities have cotangents, opposing1 and opposing2 have those of
// field_gradient. `have` and the rows ..._bar are as in vertex_adjoint; factors_bar has the
// cotangents of factors. The kernel writes `bars` (see edge_witnesses_adjoint), wrenches, and sites
// of both bodies' fields, as `at` says.
ADJOINT_KERNEL void edge_contacts_adjoint(
  GLOBAL const real *witness, int base, int witness_stride, GLOBAL const real *own1,
  GLOBAL const real *own2, GLOBAL const real *opposing1, GLOBAL const real *opposing2,
  GLOBAL const real *frames, GLOBAL const pair_head *pair, int have, GLOBAL const real *p_bar,
  GLOBAL const real *d_bar, int d_shared, GLOBAL const real *n_bar, GLOBAL const real *factors_bar,
  GLOBAL real *bars, field_sites at, GLOBAL real *sites1, GLOBAL real *sites2,
  GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES, pairs = pair->n.pairs, pair_padded = pair->n.pair_slots;
  const int contacts = pair->n.contacts, active = (have & WANT_ACTIVITY) != 0;
  const int slot1 = pair->n.elements[EDGES_OF(0)].contact;
  const int slot2 = pair->n.elements[EDGES_OF(1)].contact;
  GLOBAL const coefficients *c = &pair->c;
  if (first >= pair_padded) {
    return;
  }
  const int jet = JET_PLANES * pair_padded, flat = FIELD_PLANES * pair_padded;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *to_2 = frame + FRAME_1_TO_2;
  const pair_inputs in = load_pair(witness, base, witness_stride, own1, own2, jet, opposing1,
                                   opposing2, flat, active, frame, pair, block, pose);
  const output_bars out = {have,  slot1, slot2, contacts, d_shared ? 0 : contacts,
                           first, pairs, pose,  p_bar,    d_bar,
                           n_bar, frame};
  const FN(edge_contact) bar = contact_bars(&out, factors_bar,
                                            FACTORS_BAR_PLANES(pair->n.gated) * pair_padded,
                                            pair_padded, active);
  FN(edge_pair_bar) r =
    active ? FN(edge_pair_adjoint)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, c, &bar, 1)
           : FN(edge_pair_adjoint)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, c, &bar, 0);
  wrench relative = no_wrench(), carried = relative;
  if (have & WANT_N) {
    twist_pair(in.e1, in.e2, in.m1, in.m2, &r, &carried);
  }
  own_fields_adjoint(&in, NUMS(own1, pose, jet) + first, NUMS(own2, pose, jet) + first, to_2,
                     pair_padded, active, &r, &relative);
  if (active) {
    opposing_fields_adjoint(&in, NUMS(opposing1, pose, flat) + first,
                            NUMS(opposing2, pose, flat) + first, to_2, pair_padded, &r, &relative);
  }
  store_pair_sites(&at, sites1, sites2, first, pose, active, &in, to_2, &r);
  if (have & WANT_P) {
    const vec push1 = world_bar(&out, p_bar, slot1), push2 = world_bar(&out, p_bar, slot2);
    push_at(&carried, in.e1, push1);
    push_at(&carried, in.e2, push2);
    r.e1 = FN(add3)(r.e1, push1);
    r.e2 = FN(add3)(r.e2, push2);
  }
  store_pair_bars(bars, pair_padded, first, pose, &r);
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, carried);
}

// A block of rows of the matrix of pairs, each an edge of one body against all of the other's, with
// the columns' gate weights where `weighted`. dbar and factor are planes of factors, the latter
// that of the activities of the rows' body.
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

// Reads a plane of factors, or one like it, at column j.
static num at_column(const pair_rows *m, GLOBAL const real *plane, int stride, int j)
{
  return gather(plane + j * m->column_step, stride, m->first, m->last, m->row_step);
}

static num column_weight(const pair_rows *m, int j)
{
  return load_one(m->weights + j, m->weights_padded);
}

// A row's softmax of -dbar / neighbour over the columns, weighted by their gates (docs/spec.md,
// 6.4). A column of weight 0 is absent, so that one enters with 0 however near it is.
typedef struct row_softmax {
  num least, share; // the least dbar; 1 / sum of weighted exponentials, 0 without any
} row_softmax;

static num row_dbar(const pair_rows *m, int j)
{
  return at_column(m, m->dbar, m->stride, j);
}

// Returns exp(-(dbar - least) / neighbour), 0 where the column is absent.
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

// One work-item makes the activities of a block of rows in one pose, activity (poses, contacts): of
// each pair its factor, times the softmax along the other body's kept edges, times both gate
// weights, less the floor. Lanes run over the edges of body `side`, and each walks the other's.
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

// Stores what a block of rows gives to one column of a plane, or, with `there`, adds it to what is
// there.
static void give_column(GLOBAL real *to, int stride, int rows, int row_step, int there, num x)
{
  const num sum = there ? n_add(x, gather(to, stride, 0, rows - 1, row_step)) : x;
  store_step(to, stride, NO_ORDER, 0, 0, rows, row_step, bounded(sum, COTANGENT_LIMIT));
}

// How a column enters the adjoint of neighbours. by_weight is its exponential over the sum, column
// its own gate weight, share the product of both, and factor the pair's factor. Then come the
// cotangents: of the activity before the floor (bar), of share times factor (weighted), and of the
// share.
typedef struct neighbour {
  num by_weight, column, share, factor, bar, weighted, share_bar;
} neighbour;

// weight are the gates of the rows' own edges, bars the cotangents of their activities.
static neighbour neighbour_at(const pair_rows *m, const row_softmax *s, int j, num weight,
                              GLOBAL const real *bars, int bar_stride, GLOBAL const coefficients *c)
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

// The adjoint of neighbours: from the cotangents of activities to factors_bar, planes dbar, both
// factors and, with gates, what each pair gives to the gate weights of its edge of body 1 and of
// body 2. Body 2's pass adds to what body 1's has left in all planes but those of the factors.
ADJOINT_KERNEL void neighbours_adjoint(GLOBAL const real *factors, GLOBAL const real *row_weights,
                                       GLOBAL const real *column_weights,
                                       GLOBAL const pair_head *pair, int side,
                                       GLOBAL const real *activity_bar, int a_shared,
                                       GLOBAL real *factors_bar)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *own = &pair->n.elements[EDGES_OF(side)];
  const int pair_padded = pair->n.pair_slots, gated = pair->n.gated, rows = own->kept - first;
  if (rows <= 0) {
    return;
  }
  const int bar_stride = a_shared ? 0 : pair->n.contacts;
  const int out_stride = FACTORS_BAR_PLANES(gated) * pair_padded;
  GLOBAL const real *bars = NUMS(activity_bar, pose, bar_stride) + own->contact;
  GLOBAL real *out = NUMS(factors_bar, pose, out_stride);
  const pair_rows m = rows_of(&pair->n, side, factors, column_weights, first, pose);
  const row_softmax s = softmax_over(&m, c);
  num weight = n_lit(R(1.0));
  if (own->weighted) {
    weight = row_weights_of(own, row_weights, first, pose);
  }
  num mean = n_lit(R(0.0));                          // of the shares' cotangents, by the shares
  for (int turn = 0; turn < 2 * m.columns; ++turn) { // one loop, so that the text is compiled once
    const int j = turn % m.columns;
    const neighbour at = neighbour_at(&m, &s, j, weight, bars, bar_stride, c);
    if (turn < m.columns) {
      mean = n_mad(at.share, at.share_bar, mean);
      continue;
    }
    GLOBAL real *to = out + first * m.row_step + j * m.column_step;
    const num slope = n_scale(n_mul(at.share, n_sub(mean, at.share_bar)), c->neighbour_log2e * LN2);
    give_column(to, out_stride, rows, m.row_step, side, slope);
    store_step(to + (1 + side) * pair_padded, out_stride, NO_ORDER, 0, 0, rows, m.row_step,
               n_mul(at.weighted, at.share));
    if (gated) {
      const num whole = n_mul(n_mul(at.bar, at.factor), at.share);
      const num by_softmax = n_mul(at.by_weight, n_sub(at.share_bar, mean));
      GLOBAL real *weights_bar = to + FACTORS_BAR_WEIGHTS * pair_padded;
      give_column(weights_bar + side * pair_padded, out_stride, rows, m.row_step, side,
                  n_mul(whole, at.column));
      give_column(weights_bar + !side * pair_padded, out_stride, rows, m.row_step, side,
                  n_mad(whole, weight, by_softmax));
    }
  }
}

// One work-item adds up the cotangents of a block of one body's gate weights in one pose, of its
// plane of factors_bar; with `there` it adds to what is there.
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
