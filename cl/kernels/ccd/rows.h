// The rows of a batch of queries, and their outputs.

typedef struct ccd_rows {
  GLOBAL const real *x[2], *low[2];     // (count, V, 3); low: read if `lows` is set
  GLOBAL const real *all;               // CCD_SETTINGS for all rows
  GLOBAL const real *own[CCD_SETTINGS]; // (count) each, read if `given` has the bit
  int given, lows, count;
  GLOBAL real *toi, *n, *d0;
  GLOBAL unsigned char *status;
  GLOBAL int *rounds; // (count, 2)
} ccd_rows;

static real ccd_setting(const ccd_rows *rows, int which, int row)
{
  return rows->given >> which & 1 ? rows->own[which][row] : rows->all[which];
}

// Writes the direction with unit length, or 0 if there is none.
static void ccd_write_direction(GLOBAL real *to, real x, real y, real z)
{
  const real most = real_max(real_abs(x), real_max(real_abs(y), real_abs(z)));
  const int some = most >= REAL_TINY && most < REAL_BIG;
  const real by = some ? R(1.0) / most : R(0.0), a = x * by, b = y * by, c = z * by;
  const real length = some ? real_sqrt(a * a + b * b + c * c) : R(1.0);
  to[0] = some ? a / length : R(0.0);
  to[1] = some ? b / length : R(0.0);
  to[2] = some ? c / length : R(0.0);
}

static void ccd_write_bad(const ccd_rows *rows, int row)
{
  rows->status[row] = CCD_BAD_INPUT;
  rows->toi[row] = rows->d0[row] = R(0.0);
  ccd_write_direction(ROW(rows->n, row, 3), R(0.0), R(0.0), R(0.0));
  rows->rounds[2 * (size_t)row] = rows->rounds[2 * (size_t)row + 1] = 0;
}
