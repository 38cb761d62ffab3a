/* A probe evaluates the field of a body in double, on the host. */
#ifndef ABUT_CONTACT_MESH_PROBE_H
#define ABUT_CONTACT_MESH_PROBE_H

#include "body/family/family.h"
#include "mesh/inspect/field_at.h"

#define PROBE_MOST 512 /* points per call */

typedef struct probe {
  int *head;
  reals shape, coefficients;
  double *points, *field; /* planes: (3, PROBE_MOST), (4, PROBE_MOST) */
  double reach;           /* [m]: the longest step towards the surface */
} probe;

/* Copies the required parts of the body. Primitives given in double keep their precision; others
 * have the precision of the context. box: bounds the added primitives. */
abut_status probe_create(const field_of *f, probe *out, box *b);
void probe_free(probe *p);

/* Gives the field [m] at points (count, 3), and unit normals (count, 3) unless normal is NULL. */
void probe_field(probe *p, const double *points, size_t count, double *field, double *normal);

/* Moves at most PROBE_POINTS points onto the surface by steps along the normal, and gives the
 * normal there. done: whether each point reached the surface. */
#define PROBE_POINTS 16
void probe_project(probe *p, double *points, size_t count, double *normal, bool *done);

#endif
