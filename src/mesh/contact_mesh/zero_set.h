/* The surface of a body's field, its largest piece alone. */
#ifndef ABUT_CONTACT_MESH_ZERO_SET_H
#define ABUT_CONTACT_MESH_ZERO_SET_H

#include "mesh/contact_mesh/probe.h"

typedef struct zero_set {
  surface fine; /* one piece, closed, its sides paired */
  int64_t genus;
  size_t others;       /* pieces left out */
  double others_share; /* their volume, of that of all */
} zero_set;

/* Makes it with cells of 1/110 of the diagonal of the box of the primitives, or of half of that
 * where that finds another genus. b: that box. */
abut_status zero_set_create(const field_of *f, const box *b, zero_set *out);
void zero_set_free(zero_set *z);

#endif
