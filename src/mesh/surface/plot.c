#include "mesh/surface/plot.h"

#include "math/vector.h"
#include <math.h>

bool plot_set(plot *p, const double *c)
{
  double side[3][3], square[3], vector[3];
  int longest = 0;
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < 3; ++k) {
      side[a][k] = c[3 * ((a + 1) % 3) + k] - c[3 * a + k];
    }
    square[a] = dot(side[a], side[a]);
    longest = square[a] > square[longest] ? a : longest;
  }
  cross(side[0], side[1], vector);
  const double size = sqrt(dot(vector, vector));
  if (!(size > 0.0)) {
    return false;
  }
  const double *back = side[(longest + 2) % 3]; /* from the apex to the start of the base */
  p->base = c + 3 * longest;
  p->length = sqrt(square[longest]);
  p->height = size / p->length;
  p->area = 0.5 * size;
  for (int k = 0; k < 3; ++k) {
    p->normal[k] = vector[k] / size;
    p->u[k] = side[longest][k] / p->length;
  }
  p->foot = fmin(fmax(-dot(back, p->u), 0.0), p->length);
  for (int k = 0; k < 3; ++k) {
    p->rise[k] = -back[k] - p->foot * p->u[k];
  }
  return true;
}

double plot_columns(const plot *p, double row, double *low)
{
  *low = row / p->rows;
  return fmax(1.0, ceil(p->length * (1.0 - *low) / p->column - 1e-9));
}

double plot_place(const plot *p, double low, double columns, double j, double x[3])
{
  const double from = low * p->foot, across = p->length * (1.0 - low);
  const double at = from + across * (j + 0.5) / columns;
  const double top = at < p->foot ? at / p->foot : (p->length - at) / (p->length - p->foot);
  const double high = fmax(low, fmin(low + 1.0 / p->rows, top));
  for (int k = 0; k < 3; ++k) {
    x[k] = p->base[k] + at * p->u[k] + 0.5 * (low + high) * p->rise[k];
  }
  return (high - low) * across / columns;
}

void plot_cut(plot *p, double column, double row)
{
  double low, x[3];
  p->rows = fmax(1.0, ceil(p->height / row - 1e-9));
  p->column = column;
  p->shares = 0.0;
  p->count = 0;
  for (double i = 0.0; i < p->rows; i += 1.0) {
    const double columns = plot_columns(p, i, &low);
    for (double j = 0.0; j < columns; j += 1.0, ++p->count) {
      p->shares += plot_place(p, low, columns, j, x);
    }
  }
  const double widest = fmin(column, p->length), high = p->height / p->rows;
  p->cover = sqrt(0.25 * widest * widest + high * high);
}
