/* A mesh's surface becomes a closed, oriented set of triangles, whatever the file held.
 *
 * What is done, in this order: vertices at one place are welded, polygons cut into triangles,
 * repeated faces and those without area dropped, corners that nearly meet on open sides welded and
 * triangles cut where corners of others lie on these, neighbours turned to one orientation, holes
 * closed, shells that are inside out turned. */
#ifndef ABUT_SURFACE_SURFACE_H
#define ABUT_SURFACE_SURFACE_H

#include <abut/body.h>

typedef struct surface {
  double *points; /* (point_count, 3) */
  size_t point_count;
  uint32_t *triangles; /* (triangle_count, 3), counterclockwise seen from outside */
  size_t triangle_count;
  size_t closing_count; /* the last of them close holes */
  uint32_t *across;     /* (triangle_count, 3) sides across sides, by sides_pair */
  uint32_t *shell;      /* (triangle_count) below shell_count; NULL of what is derived */
  size_t shell_count;
  uint32_t *polygon; /* (triangle_count) the face each is cut from; NO_POLYGON: closes */
  double lower[3], upper[3], diagonal;
  double area, volume; /* of the faces without those that close; the sum over shells */
} surface;

#define NO_POLYGON 0xffffffffu

/* This is what was found and done. */
typedef struct surface_report {
  size_t welded;   /* vertices that another one stands for */
  size_t repeated; /* faces that were there already */
  size_t turned;   /* triangles against their neighbours' orientation */
  size_t shells;
  size_t shells_turned; /* that were inside out */
  size_t holes;         /* closed */
  double hole_share;    /* of the area that closes them, of the whole */
  double hole_widest;   /* [m] */
  size_t sheets;        /* shells that were all rim and enclose nothing */
  double sheet_widest;  /* [m] */
  double welded_within; /* [m] how far apart corners were that became one, beyond rounding; or 0 */
  double doubt;         /* of the inside, how much what closes the holes has moved; 0: little */
  size_t open_edges;    /* of no loop, which stay open */
  size_t tangled_edges; /* of more than two triangles, or that no orientation suits */
} surface_report;

/* Makes the surface of a definition's mesh; fails with ABUT_ERROR_BODY where it encloses
 * nothing. */
abut_status surface_create(const abut_body_def *def, surface *out, surface_report *report);
void surface_free(surface *s);

/* Fills in what lies across each side. */
abut_status surface_pair_sides(surface *s);

/* Finds the volume of the solid, in which shells that overlap count once. */
abut_status surface_solid_volume(const surface *s, const surface_report *report, double *out);

/* Counts the shells that lie within others and are turned as these are, so that they add nothing.
 * `winding` tells how often the surface winds around a place. */
abut_status surface_nested(const surface *s, double (*winding)(const void *user, const double x[3]),
                           const void *user, size_t *nested);

/* Gives the area vector of a triangle [m^2]. */
void triangle_area(const surface *s, size_t triangle, double area[3]);

#endif
