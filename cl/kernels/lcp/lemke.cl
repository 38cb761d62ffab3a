// Lemke's method with a lexicographic ratio test on the copositive form of a boxed problem, for the
// problems that pivoting has not solved (docs/dev/lcp-formulas.md, sections 2 and 3; Stewart,
// Trinkle 1996). The unknowns are z = (f_n, beta+, beta-, lambda), where f_t = beta+ - beta-. It
// computes in double if the device supports it, because a tableau accumulates rounding errors.

#if REAL_DOUBLE || WIDE
#define LEMKE_SAME 1e-13  // ratios that differ by no more count as equal
#define LEMKE_PIVOT 1e-11 // the least pivot, relative to the largest entry
#else
#define LEMKE_SAME 1e-6f
#define LEMKE_PIVOT 1e-6f
#endif
#define LEMKE_PIVOTS 20 // the most pivots, per row of the standard problem
#define LEMKE_FRESH 20  // pivots between refactorisations of the tableau, in attempts that use them

// The standard problem w = M z + q of n rows as a tableau, table (n, 2 n + 2): columns of w, of z,
// the covering column, and q. `live` lists the active rows of the boxed problem, normals first.
// basis (n) holds the basic column of each row.
typedef struct lemke {
  int n, normals, frictions, width;
  GLOBAL wide *table;
  GLOBAL int *live, *basis, *was;
} lemke;

// Returns the row of the boxed problem that owns row i of the standard problem. *sign is 1 for f_n
// and beta+, -1 for beta-, and 0 for the row of a bound.
static int lemke_row(const lemke *t, int i, real *sign)
{
  const int k = i - t->normals, part = k < 0 ? 0 : k / t->frictions;
  *sign = part == 0 ? R(1.0) : part == 1 ? R(-1.0) : R(0.0);
  return k < 0 ? t->live[i] : t->live[t->normals + k % t->frictions];
}

// Returns the unit of f in which a row's diagonal of A is 1, so that one problem can mix light and
// heavy links.
static wide lemke_unit(const lcp *l, int row)
{
  const real a = l->A[(size_t)row * l->m + row];
  return a > R(0.0) ? (wide)(R(1.0) / lane_first(lane_sqrt(lane_lit(a)))) : (wide)1;
}

// Returns entry (i, j) of M, with `mix` times A's diagonal added.
static wide lemke_entry(const lcp *l, const lemke *t, real mix, int i, int j)
{
  real own, other;
  const int row = lemke_row(t, i, &own), column = lemke_row(t, j, &other);
  const wide unit = lemke_unit(l, row), of = lemke_unit(l, column);
  if (own != R(0.0) && other != R(0.0)) {
    const wide a = (wide)l->A[(size_t)row * l->m + column] * unit * of;
    return (wide)(own * other) * (row == column ? a + (wide)mix * a : a);
  }
  if (own == R(0.0) && other == R(0.0)) {
    return (wide)0;
  }
  if (own == R(0.0)) { // mu f_parent + box - beta+ - beta-
    return (wide)(j < t->normals
                    ? (l->parent[row] == column ? (wide)l->mu[row] * of / unit : (wide)0)
                  : row == column ? (wide)-1
                                  : (wide)0);
  }
  return (wide)(i >= t->normals && row == column); // lambda in the rows of beta
}

// Fills the tableau with w as the basis.
static void lemke_fill(const lcp *l, const lemke *t, real mix)
{
  for (int i = 0; i < t->n; ++i) {
    GLOBAL wide *row = t->table + (size_t)i * t->width;
    real own;
    const int of = lemke_row(t, i, &own);
    for (int j = 0; j < t->n; ++j) {
      row[j] = i == j ? (wide)1 : (wide)0;
      row[t->n + j] = -lemke_entry(l, t, mix, i, j);
    }
    row[2 * t->n] = (wide)-1;
    row[2 * t->n + 1] = own != R(0.0) ? (wide)(own * l->b[of]) * lemke_unit(l, of)
                                      : (wide)l->box[of] / lemke_unit(l, of);
  }
}

static void lemke_begin(const lcp *l, lemke *t, real mix)
{
  t->normals = t->frictions = 0;
  for (int i = 0; i < l->m; ++i) {
    if (lcp_is_normal(l, i)) {
      t->live[t->normals++] = i;
    }
  }
  for (int i = 0; i < l->m; ++i) {
    if (!lcp_is_normal(l, i) && !l->dead[i]) {
      t->live[t->normals + t->frictions++] = i;
    }
  }
  t->n = t->normals + 3 * t->frictions;
  t->width = 2 * t->n + 2;
  lemke_fill(l, t, mix);
  for (int i = 0; i < t->n; ++i) {
    t->basis[i] = i;
  }
}

static void lemke_pivot(const lemke *t, int at, int column)
{
  GLOBAL wide *own = t->table + (size_t)at * t->width;
  const wide inverse = (wide)1 / own[column];
  for (int j = 0; j < t->width; ++j) {
    own[j] *= inverse;
  }
  for (int i = 0; i < t->n; ++i) {
    GLOBAL wide *row = t->table + (size_t)i * t->width;
    const wide share = row[column];
    if (i != at && share != (wide)0) {
      for (int j = 0; j < t->width; ++j) {
        row[j] -= share * own[j];
      }
    }
  }
  t->basis[at] = column;
}

// Recomputes the tableau of the current basis from the problem, by elimination with the largest
// pivot of each column. This removes the rounding errors of earlier pivots.
static void lemke_refresh(const lcp *l, const lemke *t, real mix)
{
  lemke_fill(l, t, mix);
  for (int i = 0; i < t->n; ++i) {
    t->was[i] = t->basis[i];
    t->basis[i] = -1;
  }
  for (int k = 0; k < t->n; ++k) {
    wide most = (wide)-1;
    int at = 0;
    for (int i = 0; i < t->n; ++i) {
      const wide x = wide_abs(t->table[(size_t)i * t->width + t->was[k]]);
      if (t->basis[i] < 0 && x > most) {
        most = x;
        at = i;
      }
    }
    lemke_pivot(t, at, t->was[k]);
  }
}

// Returns whether row a, divided by over_a, precedes row b, divided by over_b, in lexicographic
// order of w's columns.
static int lemke_before(const lemke *t, int a, wide over_a, int b, wide over_b)
{
  GLOBAL const wide *x = t->table + (size_t)a * t->width, *y = t->table + (size_t)b * t->width;
  for (int j = 0; j < t->n; ++j) {
    const wide p = x[j] / over_a, q = y[j] / over_b;
    if (p != q) {
      return p < q;
    }
  }
  return 0;
}

// Returns the row that leaves the basis for `column`, or -1 if there is none.
static int lemke_leaves(const lemke *t, int column, wide least)
{
  const int right = 2 * t->n + 1;
  wide low = (wide)REAL_BIG;
  for (int i = 0; i < t->n; ++i) {
    GLOBAL const wide *row = t->table + (size_t)i * t->width;
    if (row[column] > least) {
      const wide ratio = row[right] / row[column];
      low = ratio < low ? ratio : low;
    }
  }
  const wide same = low + LEMKE_SAME * ((wide)1 + wide_abs(low));
  int found = -1;
  for (int i = 0; i < t->n; ++i) {
    GLOBAL const wide *row = t->table + (size_t)i * t->width;
    if (!(row[column] > least) || !(row[right] / row[column] <= same)) {
      continue;
    }
    if (t->basis[i] == 2 * t->n) {
      return i; // the covering column leaves: solved
    }
    if (found < 0 ||
        lemke_before(t, i, row[column], found, t->table[(size_t)found * t->width + column])) {
      found = i;
    }
  }
  return found;
}

// Solves the problem, with `mix` times A's diagonal added, and writes the answer to f (m). Returns
// whether the covering column left the basis within the limit of pivots. The tableau is recomputed
// after every `fresh` pivots, or never if `fresh` is 0.
static int lemke_solve(const lcp *l, lemke *t, real mix, int fresh, GLOBAL real *f)
{
  lemke_begin(l, t, mix);
  const int cover = 2 * t->n, right = cover + 1;
  wide largest = (wide)1, least_q = (wide)0;
  int at = 0, done = 0;
  for (int i = 0; i < l->m; ++i) {
    f[i] = R(0.0);
  }
  for (int i = 0; i < t->n; ++i) {
    GLOBAL const wide *row = t->table + (size_t)i * t->width;
    for (int j = t->n; j < cover; ++j) {
      largest = wide_abs(row[j]) > largest ? wide_abs(row[j]) : largest;
    }
    least_q = row[right] < least_q ? row[right] : least_q;
    const wide best = t->table[(size_t)at * t->width + right];
    // the last of equal entries wins
    at = row[right] < best || (row[right] == best && i > at) ? i : at;
  }
  if (least_q >= (wide)0) {
    return 1;
  }
  int leaving = t->basis[at];
  lemke_pivot(t, at, cover);
  for (int k = 0; k < LEMKE_PIVOTS * t->n && !done; ++k) {
    const int entering = leaving < t->n ? leaving + t->n : leaving - t->n;
    at = lemke_leaves(t, entering, LEMKE_PIVOT * largest);
    if (at < 0) {
      return 0;
    }
    leaving = t->basis[at];
    lemke_pivot(t, at, entering);
    done = leaving == cover;
    if (fresh && (done || k % fresh == fresh - 1)) {
      lemke_refresh(l, t, mix);
    }
  }
  for (int i = 0; done && i < t->n; ++i) {
    const int z = t->basis[i] - t->n;
    real sign;
    if (z >= 0 && z < t->n) {
      const int row = lemke_row(t, z, &sign);
      f[row] += sign * (real)(t->table[(size_t)i * t->width + right] * lemke_unit(l, row));
    }
  }
  return done;
}
