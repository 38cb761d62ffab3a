/* The largest piece of the surface of a body's field. */
#ifndef ABUT_CONTACT_MESH_ZERO_SET_H
#define ABUT_CONTACT_MESH_ZERO_SET_H

#include "mesh/contact_mesh/probe.h"

typedef struct zero_set {
  surface fine; /* one closed piece with paired sides */
  int64_t genus;
  size_t others;       /* number of pieces left out */
  double others_share; /* their share of the total volume */
} zero_set;

/* Makes the surface with cells of 1/110 of the diagonal of the primitives' box b. Cells of half
 * that size are used if they give another genus. */
abut_status zero_set_create(const field_of *f, const box *b, zero_set *out);
void zero_set_free(zero_set *z);

#endif
