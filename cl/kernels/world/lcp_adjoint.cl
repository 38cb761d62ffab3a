// From the multipliers y and x of a step with hard contacts to the cotangents of its contacts and
// their groups, LANES contacts at once: docs/dev/lcp-formulas.md, section 6, "one reverse pass".

// Returns the cotangent of a unit normal from those of itself and its tangents: the adjoint of
// hard_tangents.
static vec3_r hard_tangents_adjoint(vec3_r n, const vec3_r bar[3])
{
  const lane one = lane_lit(R(1.0)), two = lane_lit(R(2.0));
  const lane s = lane_select(n.z >= lane_lit(R(-0.55)), one, -one), a = R(1.0) / (R(1.0) + s * n.z);
  const vec3_r t1 = bar[1], t2 = bar[2];
  const lane a_bar = -n.x * n.x * t1.x - n.x * n.y * (t1.y + s * t2.x) - s * n.y * n.y * t2.y;
  return add3_r(bar[0], make_r(-two * a * n.x * t1.x - a * n.y * (t1.y + s * t2.x) - s * t1.z,
                               -a * n.x * (t1.y + s * t2.x) - two * s * a * n.y * t2.y - t2.z,
                               -s * a * a * a_bar));
}

// The gathered data of LANES contacts of a group: points relative to its centre, normals, which are
// not of unit length, and the factors of each of (n, t1, t2) in the wrenches that belong to the
// twists under the multiplier, the acceleration, the velocity, by_loaded and by_freed, (5, 3).
// Wrenches of the last two are mapped to links separately.
#define HARD_AT 0
#define HARD_NORMAL 3
#define HARD_WORTH 6
#define HARD_ADJOINTS 21
#define HARD_TWISTS 5

typedef struct hard_twists {
  real of[HARD_TWISTS][6];
} hard_twists;

// Gathers chosen contact k to lane l, and adds the cotangent of its friction to *friction.
static void hard_gather(const hard *h, const hard_adjoint *back, int k, GLOBAL const real *f,
                        GLOBAL const int *classes, GLOBAL const real *y, int l,
                        real in[HARD_ADJOINTS][LANES], real *friction)
{
  const hard_place at = hard_place_of(h, k);
  const int nv = h->s.n->nv;
  const real step = h->s.reals[WORLD_STEP];
  const int first = hard_row_of(h->tangents, k);
  for (int i = 0; i < 3; ++i) {
    in[HARD_AT + i][l] = at.row[(CONTACT_POINT + i) * at.plane];
    in[HARD_NORMAL + i][l] = at.side * at.row[(CONTACT_FRAME + i) * at.plane];
  }
  for (int i = HARD_WORTH; i < HARD_ADJOINTS; ++i) {
    in[i][l] = R(0.0);
  }
  for (int i = 0; i <= h->tangents; ++i) {
    const int row = first + i, class_ = classes[row];
    const int open = class_ == LCP_SEPARATING || class_ == LCP_TIED;
    const real x = back->x[row];
    const real along[3] = {i ? R(0.0) : R(1.0), h->along[2 * row], h->along[2 * row + 1]};
    for (int j = 0; j < 3; ++j) {
      in[HARD_WORTH + j][l] += along[j] * (open ? R(0.0) : at.side * f[row] / step);
      in[HARD_WORTH + 3 + j][l] -= along[j] * (at.side * step * x);
      in[HARD_WORTH + 6 + j][l] -= along[j] * (at.side * x * (R(1.0) + h->bounce[row]));
      in[HARD_WORTH + 9 + j][l] += along[j] * (at.side * back->freed[row]);
      in[HARD_WORTH + 12 + j][l] += along[j] * (at.side * back->loaded[row]);
    }
    if (lcp_at_bound(classes, row)) {
      const real slid = dot_n(nv, h->J + row * nv, y) * f[first] / step +
                        dot_n(nv, h->J + row * nv, back->by_loaded) * back->freed[first];
      *friction += (class_ == LCP_UPPER ? slid : -slid) * hard_share(h->tangents);
    }
  }
}

static vec3_r lanes3(real in[3][LANES])
{
  return make_r(lane_load(in[0]), lane_load(in[1]), lane_load(in[2]));
}

// Adds the contribution of the direction of sliding, with which the tangents turn, to the parts of
// the velocity's twist. The angle phi of that direction has the cotangent
//   sum over twists of worth_1 (t2 . u) - worth_2 (t1 . u),
// and d phi = (u1 du2 - u2 du1) / (u1^2 + u2^2) for the velocity u.
static void hard_sliding_adjoint(const hard_twists *t, vec3_r p, const vec3_r frame[3],
                                 real in[HARD_ADJOINTS][LANES])
{
  lane phi = lane_lit(R(0.0));
  for (int z = 0; z < HARD_TWISTS; ++z) {
    const vec3_r u = twist_at(t->of[z], p);
    phi += lane_load(in[HARD_WORTH + 3 * z + 1]) * dot3_r(frame[2], u) -
           lane_load(in[HARD_WORTH + 3 * z + 2]) * dot3_r(frame[1], u);
  }
  const vec3_r velocity = twist_at(t->of[2], p);
  const lane u1 = dot3_r(frame[1], velocity), u2 = dot3_r(frame[2], velocity),
             square = u1 * u1 + u2 * u2;
  const lane by =
    lane_select(square > lane_lit(HARD_TURNED * HARD_TURNED), phi / square, lane_lit(R(0.0)));
  lane_store(lane_load(in[HARD_WORTH + 7]) - u2 * by, in[HARD_WORTH + 7]);
  lane_store(lane_load(in[HARD_WORTH + 8]) + u1 * by, in[HARD_WORTH + 8]);
}

// Replaces the gathered points and normals by their cotangents, and adds the three wrenches to
// `sums`.
static void hard_contact_adjoint(int tangents, const hard_twists *t, real in[HARD_ADJOINTS][LANES],
                                 lane sums[18])
{
  const lane zero = lane_lit(R(0.0));
  const vec3_r p = lanes3(in + HARD_AT), normal = lanes3(in + HARD_NORMAL);
  const lane shrink = R(1.0) / lane_sqrt(dot3_r(normal, normal));
  vec3_r p_bar = make_r(zero, zero, zero), row_bar[3] = {p_bar, p_bar, p_bar};
  vec3_r frame[3] = {scale3_r(normal, shrink), p_bar, p_bar};
  hard_tangents(frame[0], &frame[1], &frame[2]);
  if (tangents > 2) {
    hard_sliding_adjoint(t, p, frame, in);
  }
  for (int z = 0; z < HARD_TWISTS; ++z) {
    const vec3_r u = twist_at(t->of[z], p);
    const vec3_r turn = make_r(lane_lit(t->of[z][0]), lane_lit(t->of[z][1]), lane_lit(t->of[z][2]));
    vec3_r push = make_r(zero, zero, zero);
    for (int i = 0; i < 3; ++i) {
      const lane by = lane_load(in[HARD_WORTH + 3 * z + i]);
      push = mad3_r(frame[i], by, push);
      row_bar[i] = mad3_r(u, by, row_bar[i]);
    }
    lane w[6];
    row_wrench(p, push, w);
    for (int i = 0; z < 3 && i < 6; ++i) {
      sums[6 * z + i] += w[i];
    }
    p_bar = add3_r(p_bar, cross3_r(push, turn));
  }
  const vec3_r n_bar = hard_tangents_adjoint(frame[0], row_bar);
  const vec3_r turned =
    scale3_r(sub3_r(n_bar, scale3_r(frame[0], dot3_r(frame[0], n_bar))), shrink);
  lane_store(p_bar.x, in[HARD_AT]);
  lane_store(p_bar.y, in[HARD_AT + 1]);
  lane_store(p_bar.z, in[HARD_AT + 2]);
  lane_store(turned.x, in[HARD_NORMAL]);
  lane_store(turned.y, in[HARD_NORMAL + 1]);
  lane_store(turned.z, in[HARD_NORMAL + 2]);
}

// Writes the results of lane l to the place of chosen contact k in bars.
static void hard_scatter(const hard *h, const hard_adjoint *back, int k, int l,
                         real in[HARD_ADJOINTS][LANES], GLOBAL real *bars)
{
  const hard_place at = hard_place_of(h, k);
  GLOBAL real *to = bars + at.at;
  for (int i = 0; i < 3; ++i) {
    to[(BAR_P + i) * at.plane] = in[HARD_AT + i][l];
    to[(BAR_N + i) * at.plane] = in[HARD_NORMAL + i][l];
  }
  const int row = hard_row_of(h->tangents, k);
  to[BAR_D * at.plane] = back->x[row] * h->slope[row];
}

// Finds the cotangents of all chosen contacts of a world pair in `bars`, which must contain zeros,
// and writes those of its group to `to` (GROUP_ADJOINT). f, classes and y are those of its world.
static void hard_pull_pair(const hard *h, const hard_adjoint *back, int world_pair,
                           GLOBAL const real *f, GLOBAL const int *classes, GLOBAL const real *y,
                           const hard_twists *t, GLOBAL real *bars, GLOBAL real *to)
{
  const int chosen = h->chosen[HARD_COUNT];
  real in[HARD_ADJOINTS][LANES], friction = R(0.0);
  lane sums[18];
  int places[LANES];
  for (int i = 0; i < 18; ++i) {
    sums[i] = lane_lit(R(0.0));
  }
  for (int k = 0; k < chosen;) {
    int some = 0;
    for (int i = 0; i < HARD_ADJOINTS; ++i) { // lanes without a contact have no weight
      lane_store(lane_lit(i == HARD_NORMAL + 2 ? R(1.0) : R(0.0)), in[i]);
    }
    for (; k < chosen && some < LANES; ++k) {
      if (h->chosen[HARD_CHOSEN + 2 * k] == world_pair) {
        hard_gather(h, back, k, f, classes, y, some, in, &friction);
        places[some++] = k;
      }
    }
    if (some) {
      hard_contact_adjoint(h->tangents, t, in, sums);
    }
    for (int l = 0; l < some; ++l) {
      hard_scatter(h, back, places[l], l, in, bars);
    }
  }
  for (int i = 0; i < GROUP_ADJOINT; ++i) {
    to[i] = i < 18 ? lane_sum(sums[i]) : R(0.0);
  }
  to[BACK_FRICTION] = friction;
}

// After world_hard_multipliers, one work-item finds the cotangents of the contacts of one of
// `count` world pairs, starting at `first`, in `bars`, and those of their group in group_adjoint
// (world pairs, GROUP_ADJOINT), whose rows are offset by `at`.
ADJOINT_KERNEL void world_hard_contacts_adjoint(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *v, GLOBAL const real *acceleration, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL real *work, GLOBAL real *numbers, GLOBAL int *chosen,
  GLOBAL int *parents, GLOBAL const real *f, GLOBAL const int *classes, GLOBAL int *places,
  GLOBAL real *back, GLOBAL const int *good, GLOBAL const real *y, int first, GLOBAL real *bars,
  GLOBAL real *group_adjoint, int at, int count)
{
  const int world_pair = first + (int)get_global_id(0), nv = n->nv;
  if (world_pair >= first + count) {
    return;
  }
  const int world = ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_WORLD];
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  const hard_adjoint k = hard_back_of(&h, back, places);
  const newton_group g = bare_group(&s, world_pair);
  GLOBAL real *to = ROW(group_adjoint, at + world_pair, GROUP_ADJOINT),
              *rows = ROW(bars, g.world_pair[WORLD_PAIR_AT], BAR_PLANES);
  hard_twists t;
  for (int i = 0; i < BAR_PLANES; ++i) {
    for (int j = 0; j < g.count; ++j) {
      rows[i * g.plane + j] = R(0.0);
    }
  }
  group_twist(&s, &g, ROW(y, world, nv), t.of[0]);
  group_twist(&s, &g, ROW(acceleration, world, nv), t.of[1]);
  group_twist(&s, &g, ROW(v, world, nv), t.of[2]);
  group_twist(&s, &g, k.by_loaded, t.of[3]);
  group_twist(&s, &g, k.by_freed, t.of[4]);
  if (good[world]) {
    hard_pull_pair(&h, &k, world_pair, ROW(f, world, h.most), ROW(classes, world, h.most),
                   ROW(y, world, nv), &t, rows, to);
    return;
  }
  for (int i = 0; i < GROUP_ADJOINT; ++i) {
    to[i] = R(0.0);
  }
}

// ---- how redundant contacts share ----
//
// These three kernels add h' dQ g to the reverse pass, except the parts of contact points and
// normals: docs/dev/lcp-formulas.md, section 6. They run before world_tree_adjoint_start.

// One work-item starts this pass in a block of worlds, with -by_loaded' M by_freed of `back`
// (worlds, HARD_ADJOINT).
ADJOINT_KERNEL void world_hard_shares_start(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                            GLOBAL const real *reals, GLOBAL const real *parameters,
                                            int shared, GLOBAL const real *back,
                                            GLOBAL real *scratch, GLOBAL real *memory, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, moved = n->nu - n->actuators;
  const int width = HARD_ADJOINT(n->hard_rows, nv, moved),
            at = HARD_SHARES(n->hard_rows, nv, moved);
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < nv; ++i) {
    block_put(&k, n->at_back_y + i, n_neg(row_get(&b, back, width, at + i)));
    block_put(&k, n->at_back_z + i, row_get(&b, back, width, at + nv + i));
  }
  for (int i = n->actuators; i < n->nu; ++i) {
    block_put(&k, n->at_back_u + i, n_lit(R(0.0)));
  }
  still_start(&b, &k, n, ints, reals, parameters, shared, n->at_back_y, n->at_back_z);
}

// Maps the wrench of one number per row at a contact, as the cotangent of a twist there, to the
// links of its group.
static void hard_wrench_adjoint(const world_one *o, const back_one *k, GLOBAL const world_sizes *n,
                                const hard_contact *c, const real along[3], num sign, int twist,
                                int place)
{
  vec push = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < 3; ++i) {
    push = FN(mad3)(c->f[i], lane_lit(c->side * along[i]), push);
  }
  const vec moment = FN(cross3)(c->p, push);
  const vec centre = one_get3(o, n->at_origin + 3 * group_centre(c->ints));
  for (int side = 0; side < 2; ++side) {
    const int link = c->ints[side ? GROUP_B : GROUP_A];
    if (link >= 0) {
      pair_wrench_adjoint(o, k, n, link, side ? n_neg(sign) : sign, centre, moment, push,
                          back_one_get3(k, link_adjoint(n, link) + twist), place);
    }
  }
}

// One work-item adds the contributions of the rows of one world's contacts.
ADJOINT_KERNEL void world_hard_shares_contacts(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *scratch, GLOBAL const real *contacts, GLOBAL const int *world_pairs,
  GLOBAL const int *list, GLOBAL const int *active_pairs, GLOBAL real *work, GLOBAL real *numbers,
  GLOBAL int *chosen, GLOBAL int *parents, GLOBAL int *places, GLOBAL real *back,
  GLOBAL const int *good, GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || !good[world]) {
    return;
  }
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  const hard_adjoint a = hard_back_of(&h, back, places);
  const back_one k = back_one_at(memory, n, world);
  for (int i = 0; i < h.chosen[HARD_COUNT]; ++i) {
    const hard_contact c = hard_contact_of(&h, i);
    const int row = hard_row_of(h.tangents, i);
    real along[3];
    hard_along_frame(h.tangents, a.freed + row, h.along + 2 * row, along);
    // In the tree, y is minus by_loaded.
    hard_wrench_adjoint(&s.tree, &k, n, &c, along, n_lit(R(-1.0)), LINK_BACK_TWIST_Y, LINK_BACK_Y);
    hard_along_frame(h.tangents, a.loaded + row, h.along + 2 * row, along);
    hard_wrench_adjoint(&s.tree, &k, n, &c, along, n_lit(R(1.0)), LINK_BACK_TWIST_Z, LINK_BACK_Z);
  }
}

// One work-item completes this pass in a block of worlds: it adds the sums of links to the
// cotangents of q.
ADJOINT_KERNEL void world_hard_shares(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                      GLOBAL const real *v, GLOBAL real *scratch,
                                      GLOBAL real *memory, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  if (b.first <= b.last) {
    back_sweep(&b, &k, n, ints, n->at_back_y, n->at_back_z, v);
  }
}
