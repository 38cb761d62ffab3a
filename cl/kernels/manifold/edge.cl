// Contacts of pairs of edges, computed from their witness points and the fields there
// (docs/dev/spec.md, section 6). Each kernel is followed by its adjoint, written by hand.

// The inputs of a pair's contacts: points e1 and e2, both bodies' normals there, con and distances.
// The kernel and its adjoint both load them.
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

// One work-item computes, for the contacts of a block of pairs, everything that depends only on the
// pair itself. own1 and own2 have the planes phi and normal of each body at its own point. If
// `active` is set, opposing1 and opposing2 have phi of the other body there. base is the offset of
// the points that tracing writes. p and n are (poses, contacts, 3) and d is (poses, contacts).
// factors (poses, 3, pair_slots) has the planes dbar and both activities without the neighbour's
// softmax.
KERNEL void edge_contacts(GLOBAL const real *witness, int base, int witness_stride,
                          GLOBAL const real *own1, GLOBAL const real *own2, int own_stride,
                          GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                          int opposing_stride, int active, GLOBAL const real *frames,
                          GLOBAL const pair_head *pair, int want, OUTPUT_ARRAYS_TO_WRITE,
                          GLOBAL real *factors)
{
  CONTACT_OUTPUTS(OUTPUT_MAY_STAY, AND_NOTHING) // the neighbour's kernels write the others
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

// The cotangents of a block of a pose's outputs. `have` states which exist (WANT_*); rows are as in
// vertex_adjoint.
typedef struct output_bars {
  int have, slot1, slot2, contacts, d_stride, first, pairs, pose;
  GLOBAL const real *p, *d, *n, *frame;
} output_bars;

// Reads cotangents of vectors in the world, and rotates them into body 1's frame.
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

// Goes back through both bodies' own fields, using jets at their own points, to the points. Body
// 1's points are in its own frame, body 2's in the other frame.
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

// Adds the effect of rotating both bodies on the normals of a pair: the normals rotate with all
// vectors from which they are computed.
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

// Writes the sites of a block of pairs: each body's own field at its own point, and at the other
// body's point.
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

// The adjoint of edge_contacts and of the fields that it uses. own1 and own2 have the planes of
// field_jet. If activities have cotangents, opposing1 and opposing2 have the planes of
// field_gradient. `have` and the rows ..._bar are as in vertex_adjoint; factors_bar has the
// cotangents of factors. The kernel writes `bars` (see edge_witnesses_adjoint), wrenches, and sites
// of both bodies' fields at the places that `at` gives.
ADJOINT_KERNEL void edge_contacts_adjoint(
  GLOBAL const real *witness, int base, int witness_stride, GLOBAL const real *own1,
  GLOBAL const real *own2, GLOBAL const real *opposing1, GLOBAL const real *opposing2,
  GLOBAL const real *frames, GLOBAL const pair_head *pair, int have, OUTPUT_BARS_TO_READ,
  int d_shared, GLOBAL const real *factors_bar, GLOBAL real *bars, field_sites at,
  GLOBAL real *sites1, GLOBAL real *sites2, GLOBAL real *wrenches, int wrench_stride,
  int wrench_block)
{
  CONTACT_OUTPUTS(OUTPUT_BARS_MAY_STAY, AND_NOTHING)
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
  if (have & WANT_NORMALS) {
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
