/* Points are spread over a triangle, whatever its shape. */
#ifndef ABUT_SURFACE_PLOT_H
#define ABUT_SURFACE_PLOT_H

#include <stdbool.h>
#include <stddef.h>

/* This is a triangle over its longest side: from `base` along u, the apex up by `rise` above
 * `foot`. Cut into rows of equal height, and those into columns over all of their lower side: no
 * point of the triangle is farther than half a column and a row from the candidate of its cell. */
typedef struct plot {
  const double *base;
  double u[3], rise[3], normal[3];
  double length, height, foot, area;
  double rows, column;
  double cover;  /* how far a point is from a candidate at most */
  double shares; /* sum of the cells' */
  size_t count;  /* of candidates */
} plot;

/* Makes it of the corners c (3, 3). False where it has no area. */
bool plot_set(plot *p, const double *c);

/* Cuts it into rows and columns of at most these lengths [m]. */
void plot_cut(plot *p, double column, double row);

/* Returns how many columns row 0, 1, ... has, and gives the share of the height where it begins. */
double plot_columns(const plot *p, double row, double *low);

/* Gives the candidate of a cell. Returns what the cell counts, of `shares`. */
double plot_place(const plot *p, double low, double columns, double j, double x[3]);

#endif
