// The boxed linear complementarity problem of docs/dev/lcp-formulas.md, section 2: w = A f + b,
// where f >= 0, w >= 0 and f w = 0 in rows without a parent, and |f| <= mu f_parent + box in the
// others, with w >= 0 at the lower bound, w <= 0 at the upper one, and w = 0 between.
#ifndef KERNELS_LCP_PROBLEM
#define KERNELS_LCP_PROBLEM

#define LCP_LEAST R(1e-12) // lower bound of the largest f or b in tolerances
// Tolerances. RANK is that of least_norm. The others are relative to the largest f or b and are
// multiplied by the problem's `loose`: TIE counts as zero in classes, FLIP in pivoting, ENOUGH is
// the residual at which stabilising ends, PASS that of a solved problem, GUESSED that of a correct
// guess. MIX is the first nonzero share of A's diagonal that Lemke's method adds.
#if REAL_DOUBLE
#define LCP_RANK R(1e-10)
#define LCP_TIE R(1e-9)
#define LCP_FLIP R(1e-11)
#define LCP_ENOUGH R(1e-11)
#define LCP_PASS R(1e-10)
#define LCP_GUESSED R(1e-9)
#define LCP_NEAR R(1e3) // times LCP_PASS: accepted for a world if nothing is better
#define LCP_MIX R(1e-10)
#define LCP_HEAVY R(1e13)
#else
#define LCP_RANK R(1e-5)
#define LCP_TIE R(1e-5)
#define LCP_FLIP R(1e-5)
#define LCP_ENOUGH R(1e-5)
#define LCP_PASS R(1e-4)
#define LCP_GUESSED R(1e-4)
#define LCP_NEAR R(1e1)
#define LCP_MIX R(1e-6)
#define LCP_HEAVY R(1e6)
#endif
// LCP_HEAVY: impulses whose speeds exceed b by this factor cancel up to rounding only, and are no
// answer.
#define LCP_SOFT R(1e-3)    // the share of A's diagonal that is added for squeezed bodies
#define LCP_ROUNDS 32       // the most rounds of pivoting
#define LCP_ROUNDS_LAST 200 // the same if Lemke's method has found nothing
#define LCP_SWEEPS 300      // sweeps of the Gauss-Seidel method

// A problem of m rows and its solver's memory. A is (m, m), by rows, with `soft` times its diagonal
// added. b, mu, box and parent are (m).
typedef struct lcp {
  int m;
  real soft;
  real loose; // factor on all tolerances, normally 1
  GLOBAL const real *A, *b, *mu, *box;
  GLOBAL const int *parent;
  GLOBAL real *f, *w, *trial, *best;
  GLOBAL real *q, *tau, *right; // the matrix of clamping rows and its factor, and a right side
  GLOBAL int *classes, *next, *clamping, *order;
  GLOBAL int *dead; // 1 if friction is 0: the row has no coefficient or moves nothing
} lcp;

static real lcp_abs(real x)
{
  return x < R(0.0) ? -x : x;
}

static int lcp_is_normal(const lcp *l, int i)
{
  return l->parent[i] == LCP_NO_PARENT;
}

// Returns the bound of |f_i|, which is infinite for a normal.
static real lcp_bound(const lcp *l, GLOBAL const real *f, int i)
{
  if (lcp_is_normal(l, i)) {
    return REAL_BIG;
  }
  return (l->parent[i] >= 0 ? l->mu[i] * f[l->parent[i]] : R(0.0)) + l->box[i];
}

static real lcp_diagonal(const lcp *l, int i)
{
  const real a = l->A[(size_t)i * l->m + i];
  return a + l->soft * a;
}

// Returns w_i = (A f + b)_i.
static real lcp_speed(const lcp *l, GLOBAL const real *f, int i)
{
  GLOBAL const real *row = l->A + (size_t)i * l->m;
  real sum = l->b[i] + l->soft * row[i] * f[i];
  for (int k = 0; k < l->m; ++k) {
    sum += row[k] * f[k];
  }
  return sum;
}

static real lcp_largest(int count, GLOBAL const real *x)
{
  real most = R(0.0);
  for (int i = 0; i < count; ++i) {
    most = real_max(most, lcp_abs(x[i]));
  }
  return most;
}

// Returns the residual of section 2, the largest violation in units of w, and writes w = A f + b.
// It is REAL_BIG if f or w is NaN.
static real lcp_residual(const lcp *l, GLOBAL const real *f)
{
  real most = R(0.0);
  for (int i = 0; i < l->m; ++i) {
    const real a = lcp_diagonal(l, i), w = lcp_speed(l, f, i);
    l->w[i] = w;
    if (a > R(0.0)) {
      const real high = real_max(lcp_bound(l, f, i), R(0.0)),
                 low = lcp_is_normal(l, i) ? R(0.0) : -high;
      const real to = f[i] - w / a;
      const real off = a * lcp_abs(f[i] - real_min(real_max(to, low), high));
      most = off <= most ? most : off <= REAL_BIG ? off : REAL_BIG;
    }
  }
  return most;
}

// ---- rows of a classification ----

// Lists the clamping rows in order and returns their number.
static int lcp_clamping(const lcp *l, GLOBAL const int *classes)
{
  int count = 0;
  for (int i = 0; i < l->m; ++i) {
    if (classes[i] == LCP_CLAMPING) {
      l->clamping[count++] = i;
    }
  }
  return count;
}

// The next two functions return E and h0 of a row at its bound (section 4): its f is E times its
// parent's, plus h0.
static real lcp_share(const lcp *l, GLOBAL const int *classes, int i)
{
  return l->parent[i] < 0 ? R(0.0) : classes[i] == LCP_UPPER ? l->mu[i] : -l->mu[i];
}

static real lcp_held(const lcp *l, GLOBAL const int *classes, int i)
{
  return classes[i] == LCP_UPPER ? l->box[i] : -l->box[i];
}

static int lcp_at_bound(GLOBAL const int *classes, int i)
{
  return classes[i] == LCP_UPPER || classes[i] == LCP_LOWER;
}

// Fills Q = A_CC + A_CU E, by columns, and the right side -(b_C + A_CU h0); section 4.
static void lcp_matrix(const lcp *l, GLOBAL const int *classes, int count)
{
  for (int k = 0; k < count; ++k) {
    const int row = l->clamping[k];
    GLOBAL const real *a = l->A + (size_t)row * l->m;
    real right = -l->b[row];
    for (int j = 0; j < count; ++j) {
      l->q[(size_t)j * l->m + k] = a[l->clamping[j]];
    }
    l->q[(size_t)k * l->m + k] = lcp_diagonal(l, row);
    for (int i = 0; i < l->m; ++i) {
      if (lcp_at_bound(classes, i)) {
        right -= a[i] * lcp_held(l, classes, i);
        for (int j = 0; l->parent[i] >= 0 && j < count; ++j) {
          if (l->clamping[j] == l->parent[i]) {
            l->q[(size_t)j * l->m + k] += a[i] * lcp_share(l, classes, i);
          }
        }
      }
    }
    l->right[k] = right;
  }
}

#endif
