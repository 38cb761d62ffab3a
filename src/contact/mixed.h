/* A batch whose entries have different pairs. */
#ifndef ABUT_CONTACT_MIXED_H
#define ABUT_CONTACT_MIXED_H

#include "contact/pair.h"

/* Returns whether a batch has its own pairs. */
bool is_mixed(const abut_batch *b);

/* Rejects lists that cannot be computed. *most: the largest number of contacts of the pairs. */
abut_status mixed_check(const abut_batch *b, size_t *most);

/* Writes each entry's own number of contacts if the batch wants it. */
void mixed_count(const abut_batch *b);

#endif
