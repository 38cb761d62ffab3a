// The solver of docs/dev/lcp-formulas.md, section 3, in two kernels. The first tries guessed
// classes, then pivoting. The second solves the remaining problems by Lemke's method.

// Returns one of many problems. With `own`, `parent` holds m + 1 ints per problem: its number of
// rows, at most m, then the parents of its rows. Its rows of A have that length too. Without `own`
// all problems have m rows and the same parents (m).
static lcp lcp_of(GLOBAL const real *A, GLOBAL const real *b, GLOBAL const real *mu,
                  GLOBAL const real *box, GLOBAL const int *parent, int own, int m, real loose,
                  int problem, GLOBAL real *numbers, GLOBAL int *places, GLOBAL real *f,
                  GLOBAL real *w, GLOBAL int *classes)
{
  lcp l;
  l.loose = loose;
  GLOBAL real *room = ROW(numbers, problem, LCP_NUMBERS(m));
  GLOBAL int *list = ROW(places, problem, LCP_PLACES(m));
  l.m = own ? ROW(parent, problem, m + 1)[0] : m;
  l.soft = R(0.0);
  l.A = ROW(A, problem, m * m);
  l.b = ROW(b, problem, m);
  l.mu = ROW(mu, problem, m);
  l.box = ROW(box, problem, m);
  l.parent = own ? ROW(parent, problem, m + 1) + 1 : parent;
  l.f = ROW(f, problem, m);
  l.w = ROW(w, problem, m);
  l.classes = ROW(classes, problem, m);
  l.q = room;
  l.tau = room + m * m;
  l.right = l.tau + m;
  l.trial = l.right + m;
  l.best = l.trial + m;
  l.next = list;
  l.clamping = list + m;
  l.order = list + 2 * m;
  l.dead = list + 3 * m;
  return l;
}

// Returns whether the problem is valid: all numbers finite, coefficients and boxes at least 0.
static int lcp_is_good(const lcp *l)
{
  int good = 1;
  for (int i = 0; i < l->m * l->m; ++i) {
    good &= real_isfinite(l->A[i]) ? 1 : 0;
  }
  for (int i = 0; i < l->m; ++i) {
    good &= real_isfinite(l->b[i]) && l->mu[i] >= R(0.0) && real_isfinite(l->mu[i]) &&
            l->box[i] >= R(0.0) && real_isfinite(l->box[i]);
  }
  return good;
}

// Marks friction rows that stay 0, and starts with f = 0.
static void lcp_start(const lcp *l)
{
  real most = R(0.0);
  for (int i = 0; i < l->m; ++i) {
    most = real_max(most, l->A[(size_t)i * l->m + i]);
  }
  for (int i = 0; i < l->m; ++i) {
    const int slips = l->parent[i] >= 0 && !(l->mu[i] > R(0.0));
    l->dead[i] = !lcp_is_normal(l, i) && (slips || !(l->A[(size_t)i * l->m + i] > R(1e-12) * most));
    l->f[i] = R(0.0);
  }
}

static void lcp_all(const lcp *l, int class_)
{
  for (int i = 0; i < l->m; ++i) {
    l->classes[i] = class_;
  }
}

// Returns the largest speed that an impulse gives its own row.
static real lcp_heaviest(const lcp *l)
{
  real most = R(0.0);
  for (int i = 0; i < l->m; ++i) {
    most = real_max(most, lcp_diagonal(l, i) * lcp_abs(l->f[i]));
  }
  return most;
}

static int lcp_is_heavy(const lcp *l, real scale)
{
  return !(lcp_heaviest(l) <= LCP_HEAVY * scale);
}

// Tries the guessed classes. Returns 0 if the f that belongs to them does not solve the problem.
static int lcp_guess(const lcp *l, GLOBAL const int *guess, real scale)
{
  for (int i = 0; i < l->m; ++i) {
    l->classes[i] = guess[i] >= LCP_SEPARATING && guess[i] <= LCP_LOWER ? guess[i] : LCP_SEPARATING;
  }
  lcp_answer(l, l->classes, l->f);
  if (!(lcp_residual(l, l->f) <= LCP_GUESSED * scale) || lcp_is_heavy(l, scale)) {
    return 0;
  }
  lcp_classify(l, l->f, LCP_TIE, l->classes);
  return 1;
}

// One work-item solves one problem of m rows. It reads A (problems, m, m), b, mu, box and guess
// (problems, m), and writes f, w and classes (problems, m), how and residual (problems). If it
// finds no answer, `how` is LCP_LEFT and lcp_rest continues. numbers (problems, LCP_NUMBERS) and
// places (problems, LCP_PLACES) are scratch memory. own and parent are those of lcp_of.
KERNEL void lcp_solve(GLOBAL const real *A, GLOBAL const real *b, GLOBAL const real *mu,
                      GLOBAL const real *box, GLOBAL const int *parent, int own,
                      GLOBAL const int *guess, int with_guess, int m, real loose,
                      GLOBAL real *numbers, GLOBAL int *places, GLOBAL real *f, GLOBAL real *w,
                      GLOBAL int *classes, GLOBAL int *how, GLOBAL real *residual, int problems)
{
  const int problem = (int)get_global_id(0);
  if (problem >= problems) {
    return;
  }
  const lcp l =
    lcp_of(A, b, mu, box, parent, own, m, loose, problem, numbers, places, f, w, classes);
  const real scale = loose * real_max(lcp_largest(l.m, l.b), LCP_LEAST);
  int found = LCP_LEFT;
  lcp_start(&l);
  lcp_all(&l, LCP_SEPARATING);
  if (!lcp_is_good(&l)) {
    found = LCP_BAD;
  } else if (with_guess && lcp_guess(&l, ROW(guess, problem, m), scale)) {
    found = LCP_WARM;
  } else {
    lcp_all(&l, with_guess ? LCP_SEPARATING : LCP_CLAMPING);
    for (int i = 0; with_guess && i < l.m; ++i) {
      const int first = ROW(guess, problem, m)[i];
      l.classes[i] = first >= LCP_SEPARATING && first <= LCP_LOWER ? first : LCP_CLAMPING;
    }
    if (lcp_pivot(&l, LCP_ROUNDS) && lcp_stabilise(&l, LCP_ENOUGH * scale) <= LCP_PASS * scale &&
        !lcp_is_heavy(&l, scale)) {
      found = LCP_PIVOTED;
    }
  }
  how[problem] = found;
  residual[problem] = found == LCP_BAD ? REAL_BIG : lcp_residual(&l, l.f);
  for (int i = 0; found == LCP_BAD && i < l.m; ++i) {
    l.w[i] = R(0.0);
  }
}

// Pivots again from all rows clamping, with more rounds.
static int lcp_anew(const lcp *l)
{
  lcp_all(l, LCP_CLAMPING);
  return lcp_pivot(l, LCP_ROUNDS_LAST) > 0;
}

// Saves l->f in l->best if its residual is below the least one so far. Returns the least residual.
static real lcp_keep(const lcp *l, real residual, real least)
{
  if (residual < least) {
    lcp_copy(l->m, l->f, l->best);
    return residual;
  }
  return least;
}

// Gauss-Seidel sweeps from the best answer so far: each row in turn gets the f that solves that row
// only. The sweeps do not converge exactly, but may find the right classes.
static int lcp_sweep(const lcp *l, real least)
{
  for (int i = 0; i < l->m; ++i) {
    l->f[i] = least < REAL_BIG ? l->best[i] : R(0.0);
  }
  for (int sweep = 0; sweep < LCP_SWEEPS; ++sweep) {
    for (int i = 0; i < l->m; ++i) {
      const real a = lcp_diagonal(l, i);
      if (a > R(0.0) && !l->dead[i]) {
        const real high = real_max(lcp_bound(l, l->f, i), R(0.0)),
                   low = lcp_is_normal(l, i) ? R(0.0) : -high;
        l->f[i] = real_min(real_max(l->f[i] - lcp_speed(l, l->f, i) / a, low), high);
      }
    }
  }
  return 1;
}

// Solves a problem that pivoting has not solved, in this order:
// 1. Lemke's method with 0 and then growing shares of A's diagonal added, with and without
// recomputed tableaus;
// 2. pivoting again; 3. sweeps;
// 4. for a world's problem (`own`), the best answer if its residual is small enough;
// 5. the problem with LCP_SOFT of the diagonal added.
// The last problem always has a solution. Its residual is compared with the largest impulse,
// because the rounding of large impulses that cancel exceeds LCP_PASS on some devices. Returns how
// the problem was solved.
static int lcp_by_lemke(lcp *l, lemke *t, real scale, int own)
{
  const real mixes[5] = {R(0.0), LCP_MIX, R(1e2) * LCP_MIX, R(1e3) * LCP_MIX, R(1e4) * LCP_MIX};
  real least = REAL_BIG;
  for (int k = 0; k < 12; ++k) {
    if (k < 10    ? lemke_solve(l, t, mixes[k % 5], k < 5 ? 0 : LEMKE_FRESH, l->f)
        : k == 10 ? lcp_anew(l)
                  : lcp_sweep(l, least)) {
      const real residual = lcp_stabilise(l, LCP_ENOUGH * scale);
      least = lcp_keep(l, lcp_is_heavy(l, scale) ? REAL_BIG : residual, least);
      if (least <= LCP_PASS * scale) {
        return k < 10 ? LCP_BY_LEMKE : LCP_PIVOTED;
      }
    }
  }
  if (own && least <= LCP_NEAR * LCP_PASS * scale) {
    lcp_copy(l->m, l->best, l->f);
    lcp_classify(l, l->f, LCP_TIE, l->classes);
    return LCP_BY_LEMKE;
  }
  l->soft = LCP_SOFT;
  for (int k = 0; k < 2; ++k) {
    if (k ? lemke_solve(l, t, R(0.0), LEMKE_FRESH, l->f) : lcp_anew(l)) {
      const real residual = lcp_stabilise(l, LCP_ENOUGH * scale);
      const real heaviest = lcp_heaviest(l);
      if (heaviest < REAL_BIG && residual <= LCP_PASS * real_max(scale, heaviest)) {
        return LCP_SQUEEZED;
      }
    }
  }
  l->soft = R(0.0);
  for (int i = 0; i < l->m; ++i) {
    l->f[i] = least < REAL_BIG ? l->best[i] : R(0.0);
  }
  lcp_classify(l, l->f, LCP_TIE, l->classes);
  return LCP_FAILED;
}

// One work-item solves, with one tableau, those of LCP_SHARED problems that lcp_solve has not
// solved. tables (shares, LCP_TABLE) and table_places (shares, LCP_TABLE_PLACES) are the tableaus'
// memory. The other arrays are those of lcp_solve.
KERNEL void lcp_rest(GLOBAL const real *A, GLOBAL const real *b, GLOBAL const real *mu,
                     GLOBAL const real *box, GLOBAL const int *parent, int own, int m, real loose,
                     GLOBAL real *numbers, GLOBAL int *places, GLOBAL wide *tables,
                     GLOBAL int *table_places, GLOBAL real *f, GLOBAL real *w, GLOBAL int *classes,
                     GLOBAL int *how, GLOBAL real *residual, int problems)
{
  const int share = (int)get_global_id(0);
  lemke t;
  t.table = ROW(tables, share, LCP_TABLE(m));
  t.live = ROW(table_places, share, LCP_TABLE_PLACES(m));
  t.basis = t.live + m;
  t.was = t.live + 4 * m;
  for (int problem = share * LCP_SHARED; problem < MIN_INT((share + 1) * LCP_SHARED, problems);
       ++problem) {
    if (how[problem] != LCP_LEFT) {
      continue;
    }
    lcp l = lcp_of(A, b, mu, box, parent, own, m, loose, problem, numbers, places, f, w, classes);
    how[problem] = lcp_by_lemke(&l, &t, loose * real_max(lcp_largest(l.m, l.b), LCP_LEAST), own);
    residual[problem] = lcp_residual(&l, l.f);
  }
}
