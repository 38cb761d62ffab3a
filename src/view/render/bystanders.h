/* Other bodies around a pair in its picture. */
#ifndef ABUT_RENDER_BYSTANDERS_H
#define ABUT_RENDER_BYSTANDERS_H

#include "view/render/parts.h"

typedef struct bystanders {
  part *parts;
  abut_pair *lent; /* (count) pairs created for bodies that the pair does not have */
  size_t count;
} bystanders;

/* Makes parts of bodies. Refuses bodies of another context and poses that are not finite. The
 * caller calls bystanders_free in either case. */
abut_status bystanders_create(bystanders *o, const pair *around, const abut_placed_body *bodies,
                              size_t count);
void bystanders_free(bystanders *o);

#endif
