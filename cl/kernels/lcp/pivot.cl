// Classes of rows, the answer that belongs to them, and principal pivoting.

// The f of a classification, least squares of least norm, to `f`.
static int lcp_answer(const lcp *l, GLOBAL const int *classes, GLOBAL real *f)
{
  const int count = lcp_clamping(l, classes);
  lcp_matrix(l, classes, count);
  const int rank = least_norm(count, l->m, l->q, l->tau, l->order, 1, l->right, l->w, LCP_RANK);
  for (int i = 0; i < l->m; ++i) {
    f[i] = R(0.0);
  }
  for (int k = 0; k < count; ++k) {
    f[l->clamping[k]] = l->right[k];
  }
  for (int i = 0; i < l->m; ++i) {
    if (lcp_at_bound(classes, i)) {
      const real parent = l->parent[i] >= 0 ? f[l->parent[i]] : R(0.0);
      f[i] = lcp_share(l, classes, i) * parent + lcp_held(l, classes, i);
    }
  }
  return rank;
}

// A class a row, `tie` of the largest f and b being nothing. Leaves w.
static void lcp_classify(const lcp *l, GLOBAL const real *f, real tie, GLOBAL int *classes)
{
  const real force = l->loose * tie * real_max(lcp_largest(l->m, f), LCP_LEAST);
  const real speed = l->loose * tie * real_max(lcp_largest(l->m, l->b), LCP_LEAST);
  for (int i = 0; i < l->m; ++i) {
    l->w[i] = lcp_speed(l, f, i);
    classes[i] = LCP_SEPARATING;
    if (lcp_is_normal(l, i)) {
      classes[i] = f[i] > force ? LCP_CLAMPING : lcp_abs(l->w[i]) <= speed ? LCP_TIED : LCP_SEPARATING;
    }
  }
  for (int i = 0; i < l->m; ++i) {
    const int parent = l->parent[i];
    const real bound = lcp_bound(l, f, i);
    if (lcp_is_normal(l, i) || (parent >= 0 && classes[parent] != LCP_CLAMPING) || bound <= force) {
      continue;
    }
    classes[i] = lcp_abs(f[i]) < bound - force   ? LCP_CLAMPING
                 : lcp_abs(l->w[i]) <= speed ? LCP_TIED
                 : f[i] > R(0.0)              ? LCP_UPPER
                                              : LCP_LOWER;
  }
}

// Of l->classes: tied rows clamp, and the friction of tied normals sticks, or they separate.
static void lcp_settle(const lcp *l, int clamp, GLOBAL int *classes)
{
  for (int i = 0; i < l->m; ++i) {
    const int own = l->classes[i], parent = l->parent[i];
    classes[i] = own == LCP_TIED ? (clamp ? LCP_CLAMPING : LCP_SEPARATING) : own;
    if (clamp && own == LCP_SEPARATING && parent >= 0 && l->classes[parent] == LCP_TIED &&
        l->mu[i] > R(0.0)) {
      classes[i] = LCP_CLAMPING;
    }
  }
}

static void lcp_copy(int count, GLOBAL const real *from, GLOBAL real *to)
{
  for (int i = 0; i < count; ++i) {
    to[i] = from[i];
  }
}

// The answer in which redundant contacts share, of one that solves the problem: tied rows first as
// clamping, then as separating, and the first that holds; else f as it is. To l->f and l->classes;
// returns its residual.
static real lcp_stabilise(const lcp *l, real enough)
{
  const real ties[4] = {LCP_TIE, R(1e2) * LCP_TIE, R(1e4) * LCP_TIE, R(1e-2) * LCP_TIE};
  for (int t = 0; t < 4; ++t) {
    lcp_classify(l, l->f, ties[t], l->classes);
    for (int clamp = 1; clamp >= 0; --clamp) {
      lcp_settle(l, clamp, l->next);
      lcp_answer(l, l->next, l->trial);
      const real residual = lcp_residual(l, l->trial);
      if (residual <= enough) {
        lcp_copy(l->m, l->trial, l->f);
        lcp_classify(l, l->f, LCP_TIE, l->classes);
        return residual;
      }
    }
  }
  lcp_classify(l, l->f, LCP_TIE, l->classes);
  return lcp_residual(l, l->f);
}

// ---- principal pivoting ----

// Friction of a parent that does not clamp is 0, that of one that does is not.
static void lcp_follow(const lcp *l, GLOBAL int *classes)
{
  for (int i = 0; i < l->m; ++i) {
    const int parent = l->parent[i];
    if (!lcp_is_normal(l, i)) {
      const int dead = (parent >= 0 && (classes[parent] != LCP_CLAMPING || l->mu[i] <= R(0.0))) ||
                       l->dead[i];
      classes[i] = dead ? LCP_SEPARATING : classes[i] == LCP_SEPARATING ? LCP_CLAMPING : classes[i];
    }
  }
}

// What a row's class would be that is violated, else its own.
static int lcp_flip(const lcp *l, int i, int own, real force, real speed)
{
  const real f = l->f[i], w = l->w[i];
  if (lcp_is_normal(l, i)) {
    return own == LCP_CLAMPING ? (f < -force ? LCP_SEPARATING : own) : w < -speed ? LCP_CLAMPING : own;
  }
  if (own == LCP_CLAMPING) {
    const real bound = lcp_bound(l, l->f, i);
    return f > bound + force ? LCP_UPPER : f < -bound - force ? LCP_LOWER : own;
  }
  return (own == LCP_UPPER && w > speed) || (own == LCP_LOWER && w < -speed) ? LCP_CLAMPING : own;
}

// From l->classes: all violated rows flip while their number falls, with three tries of grace, then the
// last one alone. Returns how many rounds it took, 0 where so many did not suffice; l->f and l->classes.
static int lcp_pivot(const lcp *l, int rounds)
{
  const real speed = l->loose * LCP_FLIP * real_max(lcp_largest(l->m, l->b), LCP_LEAST);
  int fewest = l->m + 1, grace = 3;
  for (int round = 1; round <= rounds; ++round) {
    lcp_follow(l, l->classes);
    lcp_answer(l, l->classes, l->f);
    const real force = l->loose * LCP_FLIP * real_max(lcp_largest(l->m, l->f), LCP_LEAST);
    int wrong = 0, last = -1;
    for (int i = 0; i < l->m; ++i) {
      l->w[i] = lcp_speed(l, l->f, i);
      l->next[i] = lcp_flip(l, i, l->classes[i], force, speed);
      if (l->next[i] != l->classes[i]) {
        ++wrong;
        last = i;
      }
    }
    if (!wrong) {
      return round;
    }
    grace = wrong < fewest ? 3 : grace - 1;
    fewest = wrong < fewest ? wrong : fewest;
    for (int i = 0; i < l->m; ++i) {
      if (grace >= 0 || i == last) {
        l->classes[i] = l->next[i];
      }
    }
  }
  return 0;
}
