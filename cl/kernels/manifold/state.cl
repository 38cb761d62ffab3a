// Operations between the steps of loops over arrays that stay on a device, only on plain numbers.
// Input and output arrays may be the same: a work-item reads its row, or its number, before it
// writes there.
#if defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define real_fma(a, b, c) fma(a, b, c)
#else
#define real_fma(a, b, c) fmaf(a, b, c)
#endif

// One work-item replaces one number of y (count) by a x + b y. A term whose factor is 0 is not
// read, as it may be NaN.
KERNEL void state_combine(GLOBAL real *y, real b, GLOBAL const real *x, real a, int count)
{
  const int i = (int)get_global_id(0);
  if (i < count) {
    const real rest = b != R(0.0) ? b * y[i] : R(0.0);
    y[i] = a != R(0.0) ? real_fma(a, x[i], rest) : rest;
  }
}

// One work-item replaces one row of y (rows, width) by x times z. z is (rows, factors), where
// factors is width or 1.
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

// One work-item replaces one row of y (rows, width) by that of x if left > right.
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

// One work-item replaces one row of y (rows, width) by w x / sqrt(w x . x), the step of steepest
// descent of length 1 in the metric 1 / w.
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

// One work-item copies the number of one row in a column of table (rows, width) to out (rows).
KERNEL void state_column(GLOBAL const real *table, int width, int column, int rows,
                         GLOBAL real *out)
{
  const int row = (int)get_global_id(0);
  if (row < rows) {
    out[row] = ROW(table, row, width)[column];
  }
}
