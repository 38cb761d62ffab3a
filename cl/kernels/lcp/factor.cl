// The least-squares solution of least norm by a complete orthogonal factorisation (Golub, Van Loan:
// Matrix Computations, 5.5.2): Householder reflections with column pivoting, then reflections from
// the right. It applies the pseudo-inverse Q^+ of docs/dev/lcp-formulas.md, section 4.
#ifndef KERNELS_LCP_FACTOR
#define KERNELS_LCP_FACTOR

static real lcp_root(real x)
{
  return lane_first(lane_sqrt(lane_lit(x)));
}

// Finds the reflection that maps the vector (first, tail) onto its first component. Returns its
// factor tau. The reflection's vector is 1 followed by *scale times the tail. *to is the new first
// component.
static real reflection(real first, real tail_square, real *scale, real *to)
{
  if (!(tail_square > R(0.0))) {
    *to = first;
    *scale = R(0.0);
    return R(0.0);
  }
  const real length = lcp_root(first * first + tail_square);
  *to = first > R(0.0) ? -length : length;
  *scale = R(1.0) / (first - *to);
  return (*to - first) / *to;
}

static void swap_columns(GLOBAL real *a, GLOBAL real *b, int count)
{
  for (int i = 0; i < count; ++i) {
    const real x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

// Applies the reflection of column k, which acts on rows k and later, to x.
static void reflect(GLOBAL const real *column, real tau, int k, int n, GLOBAL real *x)
{
  real sum = x[k];
  for (int i = k + 1; i < n; ++i) {
    sum += column[i] * x[i];
  }
  sum *= tau;
  x[k] -= sum;
  for (int i = k + 1; i < n; ++i) {
    x[i] -= sum * column[i];
  }
}

// Replaces q (n, n), with columns `stride` apart, by its factor R and the reflections Q. Replaces
// `count` right sides, also `stride` apart, by Q' times them. Columns are taken in the order
// written to `order`, longest first. Stops at the first diagonal entry that is not above `least`
// times the first one, and returns the rank.
static int factor_columns(int n, int stride, GLOBAL real *q, GLOBAL real *tau, GLOBAL int *order,
                          int count, GLOBAL real *right, real least)
{
  real first = R(0.0);
  for (int k = 0; k < n; ++k) {
    order[k] = k;
  }
  for (int k = 0; k < n; ++k) {
    real most = R(-1.0);
    int at = k;
    for (int j = k; j < n; ++j) {
      real square = R(0.0);
      for (int i = k; i < n; ++i) {
        square += q[(size_t)j * stride + i] * q[(size_t)j * stride + i];
      }
      if (square > most) {
        most = square;
        at = j;
      }
    }
    first = k ? first : lcp_root(most);
    if (!(lcp_root(most) > least * first)) {
      return k;
    }
    if (at != k) {
      const int was = order[k];
      order[k] = order[at];
      order[at] = was;
      swap_columns(q + (size_t)k * stride, q + (size_t)at * stride, n);
    }
    GLOBAL real *column = q + (size_t)k * stride;
    real tail = R(0.0), scale, to;
    for (int i = k + 1; i < n; ++i) {
      tail += column[i] * column[i];
    }
    tau[k] = reflection(column[k], tail, &scale, &to);
    for (int i = k + 1; i < n; ++i) {
      column[i] *= scale;
    }
    for (int j = k + 1; j < n; ++j) {
      reflect(column, tau[k], k, n, q + (size_t)j * stride);
    }
    for (int j = 0; j < count; ++j) {
      reflect(column, tau[k], k, n, right + (size_t)j * stride);
    }
    column[k] = to;
  }
  return n;
}

// Eliminates the columns behind the rank: R becomes (T 0) times reflections. Their vectors are
// stored in those columns and their factors in tau.
static void factor_rows(int rank, int n, int stride, GLOBAL real *q, GLOBAL real *tau)
{
  for (int k = rank - 1; k >= 0; --k) {
    real tail = R(0.0), scale, to;
    for (int j = rank; j < n; ++j) {
      tail += q[(size_t)j * stride + k] * q[(size_t)j * stride + k];
    }
    tau[k] = reflection(q[(size_t)k * stride + k], tail, &scale, &to);
    for (int j = rank; j < n; ++j) {
      q[(size_t)j * stride + k] *= scale;
    }
    for (int i = 0; i < k; ++i) {
      real sum = q[(size_t)k * stride + i];
      for (int j = rank; j < n; ++j) {
        sum += q[(size_t)j * stride + k] * q[(size_t)j * stride + i];
      }
      sum *= tau[k];
      q[(size_t)k * stride + i] -= sum;
      for (int j = rank; j < n; ++j) {
        q[(size_t)j * stride + i] -= sum * q[(size_t)j * stride + k];
      }
    }
    q[(size_t)k * stride + k] = to;
  }
}

// Replaces a right side by R's inverse times it, and fills the entries behind the rank with zeros.
// It works by columns, because the numbers of a column are adjacent.
static void back_substitute(int rank, int n, int stride, GLOBAL const real *q, GLOBAL real *right)
{
  for (int j = rank - 1; j >= 0; --j) {
    GLOBAL const real *column = q + (size_t)j * stride;
    const real x = right[j] / column[j];
    for (int i = 0; i < j; ++i) {
      right[i] -= column[i] * x;
    }
    right[j] = x;
  }
  for (int i = rank; i < n; ++i) {
    right[i] = R(0.0);
  }
}

// Applies the reflection of row k, stored in the columns behind the rank, to a right side.
static void reflect_behind(int k, int rank, int n, int stride, GLOBAL const real *q, real tau,
                           GLOBAL real *right)
{
  real sum = right[k];
  for (int j = rank; j < n; ++j) {
    sum += q[(size_t)j * stride + k] * right[j];
  }
  sum *= tau;
  right[k] -= sum;
  for (int j = rank; j < n; ++j) {
    right[j] -= sum * q[(size_t)j * stride + k];
  }
}

// Undoes the column permutation in a right side.
static void put_in_order(int n, GLOBAL const int *order, GLOBAL real *right, GLOBAL real *room)
{
  for (int i = 0; i < n; ++i) {
    room[order[i]] = right[i];
  }
  for (int i = 0; i < n; ++i) {
    right[i] = room[i];
  }
}

// Replaces each of `count` right sides, `stride` apart, by the x of least norm among those that
// minimise the residual of q x = right. Overwrites q (n, n). tau, order and room have n numbers
// each. Returns the rank.
static int least_norm(int n, int stride, GLOBAL real *q, GLOBAL real *tau, GLOBAL int *order,
                      int count, GLOBAL real *right, GLOBAL real *room, real least)
{
  const int rank = factor_columns(n, stride, q, tau, order, count, right, least);
  if (rank < n) {
    factor_rows(rank, n, stride, q, tau);
  }
  // Right sides are the outer loop: with rows outside, Intel's compiler 22.43 crashes.
  for (int c = 0; c < count; ++c) {
    back_substitute(rank, n, stride, q, right + (size_t)c * stride);
    for (int k = 0; rank < n && k < rank; ++k) {
      reflect_behind(k, rank, n, stride, q, tau[k], right + (size_t)c * stride);
    }
    put_in_order(n, order, right + (size_t)c * stride, room);
  }
  return rank;
}

#endif
