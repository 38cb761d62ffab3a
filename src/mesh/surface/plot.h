/* Spreads points over a triangle of any shape. */
#ifndef ABUT_SURFACE_PLOT_H
#define ABUT_SURFACE_PLOT_H

#include <stdbool.h>
#include <stddef.h>

/* A triangle over its longest side: the base runs from `base` along u, and the apex is `rise` above
 * `foot`. It is cut into rows of equal height, and each row into columns along its lower side.
 * Every point of the triangle is within half a column and one row of the candidate of its cell. */
typedef struct plot {
  const double *base;
  double u[3], rise[3], normal[3];
  double length, height, foot, area;
  double rows, column;
  double cover;  /* largest distance of a point from a candidate */
  double shares; /* sum over the cells */
  size_t count;  /* number of candidates */
} plot;

/* Initialises a plot from the corners c (3, 3). Returns false if the area is zero. */
bool plot_set(plot *p, const double *c);

/* Cuts the triangle into rows and columns of at most these lengths [m]. */
void plot_cut(plot *p, double column, double row);

/* Returns the number of columns of a row (0, 1, ...), and gives its lower end as a share of the
 * height. */
double plot_columns(const plot *p, double row, double *low);

/* Gives the candidate of a cell. Returns the cell's part of `shares`. */
double plot_place(const plot *p, double low, double columns, double j, double x[3]);

#endif
