// What loops over arrays that stay on a device do between their steps. Plain numbers only. Arrays
// may be the same: a work-item reads what it needs of a row, or a number, before it writes there.
#if defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define real_fma(a, b, c) fma(a, b, c)
#else
#define real_fma(a, b, c) fmaf(a, b, c)
#endif

// y <- a x + b y over `count` numbers. What is not asked for is not read: it may be no number.
KERNEL void state_combine(GLOBAL real *y, real b, GLOBAL const real *x, real a, int count)
{
  const int i = (int)get_global_id(0);
  if (i < count) {
    const real rest = b != R(0.0) ? b * y[i] : R(0.0);
    y[i] = a != R(0.0) ? real_fma(a, x[i], rest) : rest;
  }
}

// y <- x z over rows of `width`; z has `factors` numbers a row, as many or 1.
KERNEL void state_multiply(GLOBAL real *y, GLOBAL const real *x, GLOBAL const real *z, int factors,
                           int width, int rows)
{
  const int row = (int)get_global_id(0);
  if (row >= rows) {
    return;
  }
  for (int k = 0; k < width; ++k) {
    const real factor = ROW(z, row, factors)[factors > 1 ? k : 0];
    ROW(y, row, width)[k] = ROW(x, row, width)[k] * factor;
  }
}

// y <- x in the rows of `width` where left > right.
KERNEL void state_choose(GLOBAL real *y, GLOBAL const real *x, GLOBAL const real *left,
                         GLOBAL const real *right, int width, int rows)
{
  const int row = (int)get_global_id(0);
  if (row >= rows || !(left[row] > right[row])) {
    return;
  }
  for (int k = 0; k < width; ++k) {
    ROW(y, row, width)[k] = ROW(x, row, width)[k];
  }
}

// y <- w x / sqrt(w x . x) in rows of `width`.
KERNEL void state_steepest(GLOBAL real *y, GLOBAL const real *x, GLOBAL const real *w, int width,
                           int rows)
{
  const int row = (int)get_global_id(0);
  if (row >= rows) {
    return;
  }
  real square = R(0.0);
  for (int k = 0; k < width; ++k) {
    const real u = ROW(x, row, width)[k];
    square = real_fma(ROW(w, row, width)[k] * u, u, square);
  }
  const real scale = square > R(0.0) ? R(1.0) / wide_sqrt(square) : R(0.0);
  for (int k = 0; k < width; ++k) {
    ROW(y, row, width)[k] = ROW(w, row, width)[k] * ROW(x, row, width)[k] * scale;
  }
}

// One column of a table with rows of `width`.
KERNEL void state_column(GLOBAL const real *table, int width, int column, int rows,
                         GLOBAL real *out)
{
  const int row = (int)get_global_id(0);
  if (row < rows) {
    out[row] = ROW(table, row, width)[column];
  }
}
