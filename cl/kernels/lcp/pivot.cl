// Classes of rows, the answer f that belongs to them, and principal pivoting:
// docs/dev/lcp-formulas.md, sections 3 and 4.

// Writes the f of a classification, f_C = -Q^+ (b_C + A_CU h0) and f_U = E f_C + h0. Returns the
// rank of Q.
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

// Writes the class of each row at f; `tie` times the largest f or b counts as zero. Overwrites w.
// Friction with a parent is never tied. At its bound it follows its parent for any w, and a tied
// row counts as separating, so that the derivatives would omit its force.
static void lcp_classify(const lcp *l, GLOBAL const real *f, real tie, GLOBAL int *classes)
{
  const real force = l->loose * tie * real_max(lcp_largest(l->m, f), LCP_LEAST);
  const real speed = l->loose * tie * real_max(lcp_largest(l->m, l->b), LCP_LEAST);
  for (int i = 0; i < l->m; ++i) {
    l->w[i] = lcp_speed(l, f, i);
    classes[i] = LCP_SEPARATING;
    if (lcp_is_normal(l, i)) {
      classes[i] = f[i] > force                ? LCP_CLAMPING
                   : lcp_abs(l->w[i]) <= speed ? LCP_TIED
                                               : LCP_SEPARATING;
    }
  }
  for (int i = 0; i < l->m; ++i) {
    const int parent = l->parent[i];
    const real bound = lcp_bound(l, f, i);
    if (lcp_is_normal(l, i) || (parent >= 0 && classes[parent] != LCP_CLAMPING) || bound <= force) {
      continue;
    }
    classes[i] = lcp_abs(f[i]) < bound - force             ? LCP_CLAMPING
                 : parent < 0 && lcp_abs(l->w[i]) <= speed ? LCP_TIED
                 : f[i] > R(0.0)                           ? LCP_UPPER
                                                           : LCP_LOWER;
  }
}

// Replaces tied rows of l->classes and writes the result to `classes`. With `clamp`, tied rows
// clamp, as does the friction of tied normals. Without it, tied rows separate.
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

// Replaces a solution f by the one in which redundant contacts share the load: the least-norm f
// with tied rows clamping, or else separating. The first one with a residual of at most `enough` is
// taken. If there is none, f is unchanged. Updates l->f and l->classes and returns the residual.
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

// Makes friction follow its parent. Friction of a normal that does not clamp separates. Friction of
// a clamping normal clamps if it separated before.
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

// Returns the class that a violated row changes to, or its current class if it is not violated.
static int lcp_flip(const lcp *l, int i, int own, real force, real speed)
{
  const real f = l->f[i], w = l->w[i];
  if (lcp_is_normal(l, i)) {
    return own == LCP_CLAMPING ? (f < -force ? LCP_SEPARATING : own)
           : w < -speed        ? LCP_CLAMPING
                               : own;
  }
  if (own == LCP_CLAMPING) {
    const real bound = lcp_bound(l, l->f, i);
    return f > bound + force ? LCP_UPPER : f < -bound - force ? LCP_LOWER : own;
  }
  return (own == LCP_UPPER && w > speed) || (own == LCP_LOWER && w < -speed) ? LCP_CLAMPING : own;
}

// Pivots from l->classes. All violated rows change class while their number falls, with three extra
// rounds allowed; after that only the last violated row changes. Returns the number of rounds, or 0
// if `rounds` was not enough. Updates l->f and l->classes.
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
