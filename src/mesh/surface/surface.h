/* Converts any mesh to a closed, oriented set of triangles.
 *
 * The steps, in this order: vertices at the same position are welded; polygons are cut into
 * triangles; duplicate faces and faces without area are dropped; almost coinciding corners on open
 * sides are welded, and triangles are cut at corners of others on their open sides; neighbours are
 * oriented consistently; holes are closed; inside-out shells are turned. */
#ifndef ABUT_SURFACE_SURFACE_H
#define ABUT_SURFACE_SURFACE_H

#include <abut/body.h>

typedef struct surface {
  double *points; /* (point_count, 3) */
  size_t point_count;
  uint32_t *triangles; /* (triangle_count, 3), counterclockwise seen from outside */
  size_t triangle_count;
  size_t closing_count; /* the last ones close holes */
  uint32_t *across;     /* (triangle_count, 3) sides across sides, from sides_pair */
  uint32_t *shell;      /* (triangle_count) below shell_count; NULL for derived surfaces */
  size_t shell_count;
  uint32_t *polygon; /* (triangle_count) the face each is cut from; NO_POLYGON: closes a hole */
  double lower[3], upper[3], diagonal;
  double area, volume; /* area without closing triangles; volume as the sum over shells */
} surface;

#define NO_POLYGON 0xffffffffu

/* Findings and repairs. */
typedef struct surface_report {
  size_t welded;   /* vertices replaced by another one */
  size_t repeated; /* duplicate faces */
  size_t turned;   /* triangles whose orientation was opposite to their neighbours' */
  size_t shells;
  size_t shells_turned; /* that were inside out */
  size_t holes;         /* closed */
  double hole_share;    /* area of the closing triangles, as a share of the total */
  double hole_widest;   /* [m] */
  size_t sheets;        /* open shells that enclose nothing */
  double sheet_widest;  /* [m] */
  double welded_within; /* [m] largest distance of merged corners, beyond rounding; or 0 */
  double doubt;         /* share of the inside that closing the holes has moved; 0: little */
  size_t open_edges;    /* edges that form no loop, which stay open */
  size_t tangled_edges; /* edges of more than two triangles, or that no orientation matches */
} surface_report;

/* Makes the surface of a definition's mesh. Fails with ABUT_ERROR_BODY if it encloses nothing. */
abut_status surface_create(const abut_body_def *def, surface *out, surface_report *report);
void surface_free(surface *s);

/* Fills in `across`. */
abut_status surface_pair_sides(surface *s);

/* Finds the volume of the solid, where overlapping shells are counted once. */
abut_status surface_solid_volume(const surface *s, const surface_report *report, double *out);

/* Counts the shells inside others with the same orientation, which contribute nothing. `winding`
 * returns the surface's winding number at a point. */
abut_status surface_nested(const surface *s, double (*winding)(const void *user, const double x[3]),
                           const void *user, size_t *nested);

/* Gives the area vector of a triangle [m^2]. */
void triangle_area(const surface *s, size_t triangle, double area[3]);

#endif
