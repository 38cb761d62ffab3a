#include "body/family/height_spline.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/family/bernstein.h"
#include "geometry/layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- coefficients ---- */

/* Fits one row: c[i - 1] + 4 c[i] + c[i + 1] = 6 h[i] for all n heights, where c[-1] and c[n] are
 * beyond the ends. Zero curvature at an end means c[-1] = 2 c[0] - c[1], and so c[0] = h[0]. The
 * others are the solution of a tridiagonal system. `out` has HEIGHT_BORDER coefficients before
 * c[0]; the repeated ones are set, too. factor: (n), for the elimination. */
static void fit_row(const double *h, size_t n, double *factor, double *out)
{
  double *c = out + HEIGHT_BORDER;
  const size_t last = n - 1;
  c[0] = h[0];
  c[last] = h[last];
  factor[0] = 0.0;
  for (size_t i = 1; i < last; ++i) {
    factor[i] = 1.0 / (4.0 - factor[i - 1]);
    c[i] = (6.0 * h[i] - c[i - 1]) * factor[i];
  }
  for (size_t i = last - 1; i >= 1 && i < last; --i) {
    c[i] -= factor[i] * c[i + 1];
  }
  for (size_t i = 0; i < HEIGHT_BORDER; ++i) {
    out[i] = 2.0 * c[0] - c[1];
    c[n + i] = 2.0 * c[last] - c[last - 1];
  }
}

static abut_status fit(const abut_height_field *h, height_spline *s)
{
  const size_t rows = h->rows, columns = h->columns, side = s->side[0];
  const size_t most = rows > columns ? rows : columns;
  void *memory = NULL;
  TRY(allocate(&memory, 2 * most + HEIGHT_SIDE(most), sizeof(double)));
  double *factor = memory, *line = factor + most, *fitted = line + most;
  for (size_t r = 0; r < rows; ++r) {
    fit_row(h->heights + r * columns, columns, factor,
            s->coefficients + (r + HEIGHT_BORDER) * side);
  }
  for (size_t c = 0; c < side; ++c) {
    for (size_t r = 0; r < rows; ++r) {
      line[r] = s->coefficients[(r + HEIGHT_BORDER) * side + c];
    }
    fit_row(line, rows, factor, fitted);
    for (size_t r = 0; r < s->side[1]; ++r) {
      s->coefficients[r * side + c] = fitted[r];
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* ---- bounds ---- */

typedef void along_row(const double *c, size_t stride, double *out);

/* Transforms rows along x, then along y, of 4 x 4 coefficients. */
static void transform(const double c[16], along_row *x, along_row *y, double out[16])
{
  double between[16];
  for (size_t i = 0; i < 4; ++i) {
    x(c + 4 * i, 1, between + 4 * i);
  }
  for (size_t i = 0; i < 4; ++i) {
    y(between + i, 4, out + i);
  }
}

/* Widens the bounds by those of a cell. Returns an upper bound on sqrt(1 + |slope|^2) in it. The
 * slope is a mean of the 16 vectors of both derivatives' coefficients. */
static double bound_cell(height_spline *s, const double c[16])
{
  double h[16], x[16], y[16], most = 0.0;
  transform(c, bernstein, bernstein, h);
  transform(c, bernstein_slope, bernstein, x);
  transform(c, bernstein, bernstein_slope, y);
  for (size_t i = 0; i < 16; ++i) {
    const double dx = x[i] * s->cells[0], dy = y[i] * s->cells[1];
    most = fmax(most, dx * dx + dy * dy);
    s->most = fmax(s->most, h[i]);
    s->least = fmin(s->least, h[i]);
  }
  return sqrt(1.0 + most);
}

static void bound(height_spline *s)
{
  double c[16];
  s->most = -HUGE_VAL;
  s->least = HUGE_VAL;
  for (size_t j = 0; j + 3 < s->side[1]; ++j) {
    for (size_t i = 0; i + 3 < s->side[0]; ++i) {
      for (size_t n = 0; n < 16; ++n) {
        c[n] = s->coefficients[(j + n / 4) * s->side[0] + i + n % 4];
      }
      double *block = &s->map[j / HEIGHT_MAP_CELLS * s->map_side[0] + i / HEIGHT_MAP_CELLS];
      *block = fmax(*block, bound_cell(s, c));
      s->slant = fmax(s->slant, *block);
    }
  }
}

/* ---- all of it ---- */

abut_status height_spline_make(const abut_height_field *h, height_spline *out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  *out = (height_spline){.nodes = {h->columns, h->rows}};
  for (size_t k = 0; k < 2; ++k) {
    out->side[k] = HEIGHT_SIDE(out->nodes[k]);
    out->map_side[k] = HEIGHT_MAP_SIDE(out->nodes[k]);
    out->cells[k] = (double)(out->nodes[k] - 1) / (2.0 * h->size[k]);
  }
  TRY_DONE(allocate(&memory, out->side[0] * out->side[1], sizeof(double)));
  out->coefficients = memory;
  TRY_DONE(allocate(&memory, out->map_side[0] * out->map_side[1], sizeof(double)));
  out->map = memory;
  TRY_DONE(fit(h, out));
  bound(out);
  return ABUT_SUCCESS;
done:
  height_spline_free(out);
  return status;
}

void height_spline_free(height_spline *s)
{
  free(s->coefficients);
  free(s->map);
  memset(s, 0, sizeof *s);
}
