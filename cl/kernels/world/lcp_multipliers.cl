// Derivatives of a step with hard contacts: of the boxed problem with constant classes, and of
// collisions in time; docs/dev/lcp-formulas.md, sections 6, 8 and 9. One work-item has one world.

#if REAL_DOUBLE
#define HARD_LARGER R(1e-12) // gradients that are larger by less differ by rounding
#else
#define HARD_LARGER R(1e-5)
#endif

// A work-item's memory for the derivatives of its world, in HARD_ADJOINT numbers and LCP_PLACES
// places. In the notation of section 8, shift is S minus the unit matrix, and turn is D. Both have
// rows of `width`: nv numbers, and one per control of moved links, which also change the distance
// of bounces. inverse, q and right are matrices by columns, `most` apart: the inverse of Q, Q
// itself, and right sides. tau are the factor's coefficients, x is that of section 6, one per row,
// room is scratch memory, and pushed (m, nv) is the effect of each bounce's impulse on velocities.
// freed (m) is J~' g and loaded (m) is h, one per row; by_freed and by_loaded (nv) are inv(M) times
// their forces: section 6, how contacts share. The list hits has the rows that bounce. The list
// rest has the clamping rows of contacts that do not bounce.
typedef struct hard_adjoint {
  int width;
  GLOBAL real *shift, *turn;
  GLOBAL real *inverse, *q, *right;
  GLOBAL real *tau, *x, *room, *pushed;
  GLOBAL real *freed, *loaded, *by_freed, *by_loaded;
  GLOBAL int *hits, *clamping, *order, *rest;
} hard_adjoint;

static hard_adjoint hard_back_of(const hard *h, GLOBAL real *back, GLOBAL int *places)
{
  hard_adjoint k;
  const int nv = h->s.n->nv, m = h->most, moved = h->s.n->nu - h->s.n->actuators;
  GLOBAL real *own = ROW(back, h->s.world, HARD_ADJOINT(m, nv, moved));
  GLOBAL int *lists = ROW(places, h->s.world, LCP_PLACES(m));
  k.width = nv + moved;
  k.shift = own;
  k.turn = own + nv * k.width;
  k.inverse = own + 2 * nv * k.width;
  k.q = k.inverse + m * m;
  k.right = k.q + m * m;
  k.tau = k.right + m * m;
  k.x = k.tau + m;
  k.room = k.x + m;
  k.pushed = k.room + m;
  k.freed = k.pushed + m * nv;
  k.loaded = k.freed + m;
  k.by_loaded = k.loaded + m;
  k.by_freed = k.by_loaded + nv;
  k.hits = lists;
  k.clamping = lists + m;
  k.order = lists + 2 * m;
  k.rest = lists + 3 * m;
  return k;
}

// Returns the world's boxed problem with these classes, as input of lcp_matrix.
static lcp hard_lcp(const hard *h, const hard_adjoint *k, GLOBAL const real *A,
                    GLOBAL const real *b, GLOBAL const real *mu, GLOBAL const real *box,
                    GLOBAL int *classes, int squeezed)
{
  lcp l;
  const int world = h->s.world, most = h->most;
  l.m = h->m;
  l.loose = R(1.0);
  l.soft = squeezed ? LCP_SOFT : R(0.0);
  l.A = ROW(A, world, most * most);
  l.b = ROW(b, world, most);
  l.mu = ROW(mu, world, most);
  l.box = ROW(box, world, most);
  l.parent = h->parents + 1;
  l.classes = ROW(classes, world, most);
  l.q = k->q;
  l.right = k->room;
  l.tau = k->tau;
  l.clamping = k->clamping;
  l.order = k->order;
  l.next = k->hits;
  l.dead = k->rest;
  l.f = l.w = l.trial = l.best = k->room;
  return l;
}

// Writes a unit matrix, by columns `stride` apart.
static void hard_unit(int count, int stride, GLOBAL real *out)
{
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < count; ++i) {
      out[(size_t)j * stride + i] = i == j ? R(1.0) : R(0.0);
    }
  }
}

// ---- collisions in time ----

// Lists clamping rows that bounce in hits, and clamping rows of everything except bouncing contacts
// in rest. Returns the number of hits, and the number of the others in *rest.
static int hard_find_hits(const hard *h, const hard_adjoint *k, GLOBAL const int *classes,
                          int *rest)
{
  int hits = 0;
  *rest = 0;
  for (int i = 0; i < h->m; ++i) {
    if (classes[i] == LCP_CLAMPING) {
      const int normal = h->parents[1 + i] >= 0 ? h->parents[1 + i] : i;
      if (h->bounce[i] > R(0.0)) {
        k->hits[hits++] = i;
      } else if (!(h->bounce[normal] > R(0.0))) {
        k->rest[(*rest)++] = i;
      }
    }
  }
  return hits;
}

// Fills the rows of `pushed`, W' of section 8: the effect on velocities of the impulse of each
// bounce, with its friction, after the response of the resting rows.
static void hard_pushed(const hard *h, const hard_adjoint *k, GLOBAL const real *f, int hits,
                        int rest)
{
  const int nv = h->s.n->nv, m = h->m;
  for (int j = 0; j < hits; ++j) {
    const int row = k->hits[j];
    GLOBAL real *w = k->pushed + j * nv;
    for (int i = 0; i < nv; ++i) {
      w[i] = h->Y[row * nv + i];
      for (int t = row + 1; t <= row + h->tangents; ++t) {
        w[i] += f[t] / f[row] * h->Y[t * nv + i];
      }
    }
    for (int i = 0; i < rest; ++i) {
      k->right[(size_t)j * m + i] = dot_n(nv, h->J + k->rest[i] * nv, w);
    }
  }
  for (int j = 0; j < rest; ++j) {
    for (int i = 0; i < rest; ++i) {
      k->q[(size_t)j * m + i] = dot_n(nv, h->J + k->rest[i] * nv, h->Y + k->rest[j] * nv);
    }
  }
  least_norm(rest, m, k->q, k->tau, k->order, hits, k->right, k->room, LCP_RANK);
  for (int j = 0; j < hits; ++j) {
    for (int i = 0; i < rest; ++i) {
      for (int a = 0; a < nv; ++a) {
        k->pushed[j * nv + a] -= k->right[(size_t)j * m + i] * h->Y[k->rest[i] * nv + a];
      }
    }
  }
}

// Returns the moved link that carries a link, or -1.
static int hard_moved_root(const hard *h, int link)
{
  int root = -1;
  for (int i = link; i >= 0;) {
    const tree_link l = link_at(h->s.n, h->s.ints, i);
    root = l.u >= 0 ? i : -1;
    i = l.parent;
  }
  return root;
}

// Finds the effect of the controls u of the moved link that carries side 0 or 1 of a contact on the
// distance of its bodies: `by` (6). Returns their offset among the controls of moved links, or -1.
static int hard_moved_row(const hard *h, const hard_contact *c, int side, GLOBAL const real *u,
                          real by[6])
{
  GLOBAL const world_sizes *n = h->s.n;
  const int link = hard_moved_root(h, c->ints[side ? GROUP_B : GROUP_A]);
  if (link < 0) {
    return -1;
  }
  const int at = link_at(n, h->s.ints, link).u;
  const vec3_r from = one_get3(&h->s.tree, n->at_origin + 3 * group_centre(c->ints));
  const vec3_r arm = add3_r(c->p, sub3_r(from, one_get3(&h->s.tree, n->at_origin + 3 * link)));
  const vec3_r force = scale3_r(c->f[0], lane_lit(side ? -c->side : c->side));
  const vec3_r turn = moved_torque(rotation_part(u + at + 3), cross3_r(arm, force));
  by[0] = lane_first(force.x);
  by[1] = lane_first(force.y);
  by[2] = lane_first(force.z);
  by[3] = lane_first(turn.x);
  by[4] = lane_first(turn.y);
  by[5] = lane_first(turn.z);
  return at - n->actuators;
}

// Adds S - 1 = -W (N W)^+ (1 + R) N to shift and D to turn, for all bounces at once (section 8).
static void hard_collision(const hard *h, const hard_adjoint *k, GLOBAL const real *v,
                           GLOBAL const real *u, int hits)
{
  const int nv = h->s.n->nv, m = h->m;
  const real step = h->s.reals[WORLD_STEP];
  for (int j = 0; j < hits; ++j) {
    for (int i = 0; i < hits; ++i) {
      k->q[(size_t)j * m + i] = dot_n(nv, h->J + k->hits[i] * nv, k->pushed + j * nv);
    }
  }
  hard_unit(hits, m, k->right);
  least_norm(hits, m, k->q, k->tau, k->order, hits, k->right, k->room, LCP_RANK);
  for (int i = 0; i < hits; ++i) {
    const int row = k->hits[i];
    GLOBAL const real *N = h->J + row * nv;
    const real speed = dot_n(nv, N, v), rate = (dot_n(nv, N, h->vector) - speed) / step;
    const hard_contact contact = hard_contact_of(h, row / (1 + h->tangents));
    real by[2][6];
    int moved[2];
    for (int side = 0; side < 2; ++side) {
      moved[side] = hard_moved_row(h, &contact, side, u, by[side]);
    }
    for (int a = 0; a < nv; ++a) {
      real gain = R(0.0);
      for (int j = 0; j < hits; ++j) {
        gain += k->pushed[j * nv + a] * k->right[(size_t)i * m + j];
      }
      gain *= R(1.0) + h->bounce[row];
      for (int c = 0; c < nv; ++c) {
        k->shift[a * k->width + c] -= gain * N[c];
        k->turn[a * k->width + c] += gain * rate / speed * N[c];
      }
      for (int c = 0; c < 12; ++c) {
        const int side = c / 6, at = a * k->width + nv + moved[side] + c % 6;
        if (moved[side] >= 0) {
          k->shift[at] -= gain * by[side][c % 6];
          k->turn[at] += gain * rate / speed * by[side][c % 6];
        }
      }
    }
  }
}

// Adds to shift, minus 1, the matrix nearest to 1 that reverses the approach of each bounce
// (section 8, "paper", after Werling et al. 2021):
//   sum_i y_i N_i (N_i^+)', (K o K^+) y = -e - diag(K K^+), K = N N'.
static void hard_least_squares(const hard *h, const hard_adjoint *k, int hits)
{
  const int nv = h->s.n->nv, m = h->m;
  for (int j = 0; j < hits; ++j) {
    for (int i = 0; i < hits; ++i) {
      k->q[(size_t)j * m + i] = dot_n(nv, h->J + k->hits[i] * nv, h->J + k->hits[j] * nv);
    }
  }
  hard_unit(hits, m, k->right);
  least_norm(hits, m, k->q, k->tau, k->order, hits, k->right, k->room, LCP_RANK);
  for (int i = 0; i < hits; ++i) { // N_i^+ goes to pushed, -e_i - N_i . N_i^+ to x
    GLOBAL const real *N = h->J + k->hits[i] * nv;
    GLOBAL real *to = k->pushed + i * nv;
    for (int a = 0; a < nv; ++a) {
      to[a] = R(0.0);
      for (int j = 0; j < hits; ++j) {
        to[a] += k->right[(size_t)i * m + j] * h->J[k->hits[j] * nv + a];
      }
    }
    k->x[i] = -h->bounce[k->hits[i]] - dot_n(nv, N, to);
  }
  for (int j = 0; j < hits; ++j) {
    for (int i = 0; i < hits; ++i) {
      const real K = dot_n(nv, h->J + k->hits[i] * nv, h->J + k->hits[j] * nv);
      k->q[(size_t)j * m + i] = K * k->right[(size_t)j * m + i];
    }
  }
  least_norm(hits, m, k->q, k->tau, k->order, 1, k->x, k->room, LCP_RANK);
  for (int i = 0; i < hits; ++i) {
    for (int a = 0; a < nv; ++a) {
      for (int c = 0; c < nv; ++c) {
        k->shift[a * k->width + c] += k->x[i] * h->J[k->hits[i] * nv + a] * k->pushed[i * nv + c];
      }
    }
  }
}

// Fills shift and turn by the scene's method. Least squares ignore controls.
static void hard_elastic(const hard *h, const hard_adjoint *k, GLOBAL const int *classes,
                         GLOBAL const real *f, GLOBAL const real *v, GLOBAL const real *u)
{
  const int elastic = h->s.n->elastic;
  for (int i = 0; i < 2 * h->s.n->nv * k->width; ++i) {
    k->shift[i] = R(0.0); // also clears turn
  }
  int rest;
  const int hits = elastic ? hard_find_hits(h, k, classes, &rest) : 0;
  if (hits && elastic == HARD_PAPER) {
    hard_least_squares(h, k, hits);
  } else if (hits) {
    hard_pushed(h, k, f, hits, rest);
    hard_collision(h, k, v, u, hits);
  }
}

// One work-item prepares the derivatives of one world's step, back (worlds, HARD_ADJOINT), at the
// answer f (worlds, hard_rows) with these classes (worlds, hard_rows): Q^+, and S - 1 and D of
// collisions in time. With with_elastic 0, S - 1 and D are already known. good (worlds) is 0 if
// there are no derivatives, else 1.
ADJOINT_KERNEL void world_hard_factor(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *v, GLOBAL const real *u, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL real *work, GLOBAL real *numbers, GLOBAL int *chosen,
  GLOBAL int *parents, GLOBAL const real *A, GLOBAL const real *b, GLOBAL const real *mu,
  GLOBAL const real *box, GLOBAL const real *f, GLOBAL int *classes, GLOBAL const int *how,
  int with_elastic, GLOBAL int *places, GLOBAL real *back, GLOBAL const int *status,
  GLOBAL int *good, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  const hard_adjoint k = hard_back_of(&h, back, places);
  GLOBAL const real *own = ROW(f, world, h.most);
  good[world] = !(status[world] & WORLD_STOPPED) && how[world] != LCP_BAD;
  if (!good[world]) {
    for (int i = 0; i < 2 * n->nv * k.width; ++i) {
      k.shift[i] = R(0.0);
    }
    return;
  }
  if (with_elastic) {
    hard_elastic(&h, &k, ROW(classes, world, h.most), own, ROW(v, world, n->nv),
                 ROW(u, world, n->nu));
  }
  const lcp l = hard_lcp(&h, &k, A, b, mu, box, classes, how[world] == LCP_SQUEEZED);
  const int count = lcp_clamping(&l, l.classes);
  lcp_matrix(&l, l.classes, count);
  hard_unit(count, h.m, k.inverse);
  least_norm(count, h.m, k.q, k.tau, k.order, count, k.inverse, k.room, LCP_RANK);
}

// One work-item finds the contribution of collisions in time to the cotangents of one world's q and
// of its moved links' controls, out (worlds, nv + moved), from those of q' and v', state (worlds, 2
// nv): (S - 1)' F_w' of the former and D' of the latter. room (worlds, nv) is scratch memory.
ADJOINT_KERNEL void world_hard_elastic_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                               GLOBAL const real *reals, GLOBAL const real *next_v,
                                               GLOBAL const real *state, GLOBAL const real *back,
                                               GLOBAL real *room, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  const int moved = n->nu - n->actuators, width = nv + moved;
  if (world >= worlds) {
    return;
  }
  GLOBAL const real *shift = ROW(back, world, HARD_ADJOINT(n->hard_rows, nv, moved)),
                    *turn = shift + nv * width;
  GLOBAL const real *bar = ROW(state, world, 2 * nv), *v = ROW(next_v, world, nv);
  GLOBAL real *by = ROW(room, world, nv), *to = ROW(out, world, width);
  for (int i = 0; i < nv; ++i) {
    by[i] = bar[i];
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      vec3_r q_bar, s_bar;
      moved_adjoint(scale3_r(rotation_part(v + at), lane_lit(reals[WORLD_STEP])),
                    rotation_part(bar + at), &q_bar, &s_bar);
      put_part(by + at, s_bar);
    }
  }
  for (int i = 0; i < width; ++i) {
    real sum = R(0.0);
    for (int k = 0; k < nv; ++k) {
      sum += shift[k * width + i] * by[k] + turn[k * width + i] * bar[nv + k];
    }
    to[i] = sum;
  }
}

// Adds the contributions of limits and friction losses to q and v, from the x of their rows.
static void hard_rows_adjoint(const hard *h, GLOBAL const real *x, GLOBAL real *out)
{
  const int nv = h->s.n->nv, contacts = hard_row_of(h->tangents, h->chosen[HARD_COUNT]);
  for (int i = contacts; i < h->m; ++i) {
    GLOBAL const int *of = h->s.ints + h->s.n->at_rows + ROW_INTS * hard_table_row(h, i - contacts);
    const int dof = of[ROW_V];
    const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
    out[ROW_BACK_Q * nv + dof] += side * x[i] * h->slope[i];
    out[ROW_BACK_V * nv + dof] -= side * x[i];
  }
}

// Writes the sum of inv(M) J' times one number per row.
static void hard_push(const hard *h, GLOBAL const real *of, GLOBAL real *out)
{
  for (int i = 0; i < h->s.n->nv; ++i) {
    out[i] = R(0.0);
    for (int row = 0; row < h->m; ++row) {
      out[i] += of[row] * h->Y[row * h->s.n->nv + i];
    }
  }
}

// Extends numbers of clamping rows to all rows: a row at its bound follows its parent.
static void hard_follow(const hard *h, GLOBAL const int *class_, GLOBAL const real *mu,
                        GLOBAL real *of)
{
  for (int i = 0; i < h->m; ++i) {
    const int normal = h->parents[1 + i];
    if (class_[i] != LCP_CLAMPING) {
      of[i] = R(0.0);
    }
    if (lcp_at_bound(class_, i) && normal >= 0 && class_[normal] == LCP_CLAMPING) {
      of[i] = (class_[i] == LCP_UPPER ? mu[i] : -mu[i]) * of[normal];
    }
  }
}

// Fills freed and loaded and their effects, from the first `count` numbers of room, J~ inv(M) b of
// the clamping rows, divided by the step's length. If `with` is 0, all results are 0.
static void hard_shares(const hard *h, const hard_adjoint *k, GLOBAL const int *class_,
                        GLOBAL const real *mu, GLOBAL const real *f, int count, int with)
{
  const int nv = h->s.n->nv;
  const real step = h->s.reals[WORLD_STEP];
  for (int i = 0; i < h->m; ++i) {
    k->freed[i] = k->loaded[i] = R(0.0);
  }
  for (int c = 0; c < count && with; ++c) {
    k->freed[k->clamping[c]] = k->room[c] / step;
  }
  hard_follow(h, class_, mu, k->freed);
  hard_push(h, k->freed, k->by_freed);
  for (int c = 0; c < count && with; ++c) { // Q z, to be subtracted as Q^+ Q z
    k->room[c] = dot_n(nv, h->J + k->clamping[c] * nv, k->by_freed);
  }
  for (int c = 0; c < count && with; ++c) {
    real sum = k->freed[k->clamping[c]];
    for (int i = 0; i < count; ++i) {
      sum -= k->inverse[(size_t)i * h->m + c] * k->room[i];
    }
    k->freed[k->clamping[c]] = sum;
  }
  hard_follow(h, class_, mu, k->freed);
  hard_push(h, k->freed, k->by_freed);
  for (int c = 0; c < count && with; ++c) {
    k->room[c] = f[k->clamping[c]];
  }
  for (int c = 0; c < count && with; ++c) {
    k->loaded[k->clamping[c]] = dot_n(count, k->inverse + (size_t)c * h->m, k->room);
  }
  hard_push(h, k->loaded, k->by_loaded);
}

// One work-item finds the multipliers of one world for the cotangent b (worlds, nv) of its
// acceleration: y (worlds, nv) = inv(M) P' b, and in `back` x = Q^+' J~ inv(M) b / h, one per row
// (section 6). row_adjoint (worlds, ROW_ADJOINT, nv) gets the contributions of limits and friction
// losses to q and v. If with_extra is set, q also gets the first nv numbers of extra (worlds, nv +
// moved).
ADJOINT_KERNEL void world_hard_multipliers(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *scratch, GLOBAL const real *contacts, GLOBAL const int *world_pairs,
  GLOBAL const int *list, GLOBAL const int *active_pairs, GLOBAL real *work, GLOBAL real *numbers,
  GLOBAL int *chosen, GLOBAL int *parents, GLOBAL const real *mu, GLOBAL const real *f,
  GLOBAL const int *classes, GLOBAL const int *how, GLOBAL int *places, GLOBAL real *back,
  GLOBAL const int *good, GLOBAL const real *b, GLOBAL const real *extra, int with_extra,
  GLOBAL real *y, GLOBAL real *row_adjoint, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  const hard_adjoint k = hard_back_of(&h, back, places);
  GLOBAL real *own = ROW(row_adjoint, world, ROW_ADJOINT * nv), *to = ROW(y, world, nv);
  GLOBAL const int *class_ = ROW(classes, world, h.most);
  int count = 0;
  for (int i = 0; i < nv; ++i) {
    own[i] = good[world] && with_extra ? ROW(extra, world, nv + n->nu - n->actuators)[i] : R(0.0);
    own[nv + i] = own[2 * nv + i] = R(0.0);
    to[i] = good[world] ? ROW(b, world, nv)[i] : R(0.0);
  }
  for (int i = 0; i < nv; ++i) {
    k.by_freed[i] = k.by_loaded[i] = R(0.0);
  }
  if (!good[world]) {
    return;
  }
  hard_solve(&s, to);
  for (int i = 0; i < h.m; ++i) {
    k.x[i] = class_[i] == LCP_CLAMPING || lcp_at_bound(class_, i) ? dot_n(nv, h.J + i * nv, to)
                                                                  : R(0.0);
  }
  for (int i = 0; i < h.m; ++i) { // a row at its bound follows its parent: x is J~ inv(M) b
    const int normal = h.parents[1 + i];
    if (lcp_at_bound(class_, i)) {
      const real share = ROW(mu, world, h.most)[i] * k.x[i];
      k.x[i] = R(0.0);
      if (normal >= 0 && class_[normal] == LCP_CLAMPING) {
        k.x[normal] += class_[i] == LCP_UPPER ? share : -share;
      }
    }
  }
  for (int i = 0; i < h.m; ++i) {
    if (class_[i] == LCP_CLAMPING) {
      k.room[count++] = k.x[i];
    }
  }
  for (int c = 0; c < count; ++c) {
    k.x[k.clamping[c]] = dot_n(count, k.inverse + (size_t)c * h.m, k.room) / reals[WORLD_STEP];
  }
  for (int c = 0; c < count; ++c) {
    for (int i = 0; i < nv; ++i) {
      to[i] -= reals[WORLD_STEP] * k.x[k.clamping[c]] * h.Y[k.clamping[c] * nv + i];
    }
  }
  hard_rows_adjoint(&h, k.x, own);
  hard_shares(&h, &k, class_, ROW(mu, world, h.most), ROW(f, world, h.most), count,
              how[world] != LCP_SQUEEZED);
}

// ---- classes that gradient descent would choose ----

// One work-item saves, in a block of worlds, the initial state of a reverse pass, or restores it if
// `again` is set: the cotangents of the state and of parameters, in kept (worlds, HARD_ESCAPE).
ADJOINT_KERNEL void world_hard_keep(GLOBAL const world_sizes *n, int again, GLOBAL real *state,
                                    GLOBAL real *memory, GLOBAL real *kept, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, parameters = PARAMETERS(n->links, n->columns),
            width = HARD_ESCAPE(nv, parameters);
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < 2 * nv; ++i) {
    if (again) {
      row_put(&k, state, 2 * nv, i, row_get(&k, kept, width, i));
    } else {
      row_put(&k, kept, width, i, row_get(&k, state, 2 * nv, i));
    }
  }
  for (int i = 0; i < parameters; ++i) {
    if (again) {
      block_put(&k, n->at_back_parameters + i, row_get(&k, kept, width, 2 * nv + i));
    } else {
      row_put(&k, kept, width, 2 * nv + i, block_get(&k, n->at_back_parameters + i));
    }
  }
}

// One work-item makes the classes that gradient descent would choose in one world, other (worlds,
// hard_rows), from the cotangent b (worlds, nv) of its acceleration. Clamping normals with o = J
// inv(M) b below 0 separate, as does all friction (section 9).
ADJOINT_KERNEL void world_hard_open(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                    GLOBAL const real *reals, GLOBAL const real *scratch,
                                    GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                                    GLOBAL const int *list, GLOBAL const int *active_pairs,
                                    GLOBAL real *work, GLOBAL real *numbers, GLOBAL int *chosen,
                                    GLOBAL int *parents, GLOBAL const real *b,
                                    GLOBAL const int *classes, GLOBAL int *other, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  for (int i = 0; i < h.m; ++i) {
    const int holds = h.parents[1 + i] == LCP_NO_PARENT &&
                      ROW(classes, world, h.most)[i] == LCP_CLAMPING &&
                      dot_n(n->nv, h.Y + i * n->nv, ROW(b, world, n->nv)) >= R(0.0);
    ROW(other, world, h.most)[i] = holds ? LCP_CLAMPING : LCP_SEPARATING;
  }
}

// One work-item finds the size of one world's gradient with respect to velocities and controls,
// |g_v| + |g_u| / h (section 9). Without with_other the reverse pass used the answer's own classes,
// and the size is saved. With it, the size is compared with the saved one. If it is larger, escaped
// (worlds) becomes 1; otherwise `other` gets the answer's own classes. `first` is set if no step
// has set escaped yet.
ADJOINT_KERNEL void world_hard_larger(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                      GLOBAL const real *state, GLOBAL const real *controls,
                                      int with_other, int first, GLOBAL const int *classes,
                                      GLOBAL int *other, GLOBAL real *kept, GLOBAL int *escaped,
                                      int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  GLOBAL real *size = ROW(kept, world, HARD_ESCAPE(nv, PARAMETERS(n->links, n->columns))) + 2 * nv +
                      PARAMETERS(n->links, n->columns);
  GLOBAL const real *v = ROW(state, world, 2 * nv) + nv, *u = ROW(controls, world, n->nu);
  const real now =
    lcp_root(dot_n(nv, v, v)) + lcp_root(dot_n(n->actuators, u, u)) / reals[WORLD_STEP];
  if (!with_other) {
    *size = now;
    return;
  }
  const int larger = now > *size * (R(1.0) + HARD_LARGER);
  for (int i = 0; i < n->hard_rows && !larger; ++i) {
    ROW(other, world, n->hard_rows)[i] = ROW(classes, world, n->hard_rows)[i];
  }
  escaped[world] = (first ? 0 : escaped[world]) | larger;
}
