/* A probe asks for the field of a body in double, on the host. */
#ifndef ABUT_CONTACT_MESH_PROBE_H
#define ABUT_CONTACT_MESH_PROBE_H

#include "body/family/family.h"
#include "mesh/inspect/field_at.h"

#define PROBE_MOST 512 /* points a call */

typedef struct probe {
  int *head;
  reals shape, coefficients;
  double *points, *field; /* planes: (3, PROBE_MOST), (4, PROBE_MOST) */
  double reach;           /* [m]: the longest step towards the surface */
} probe;

/* Copies what is needed of the body. Primitives that were given in double are taken as they were
 * given, others as the context has them. box: of the added primitives. */
abut_status probe_create(const field_of *f, probe *out, box *b);
void probe_free(probe *p);

/* Gives the field [m] at points (count, 3), and unit normals (count, 3) unless that is NULL. */
void probe_field(probe *p, const double *points, size_t count, double *field, double *normal);

/* Moves points onto the surface by steps along the normal, and gives it there. done: whether each
 * has come there. At most PROBE_POINTS points. */
#define PROBE_POINTS 16
void probe_project(probe *p, double *points, size_t count, double *normal, bool *done);

#endif
