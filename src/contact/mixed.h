/* A batch whose entries are of several pairs. */
#ifndef ABUT_CONTACT_MIXED_H
#define ABUT_CONTACT_MIXED_H

#include "contact/pair.h"

/* Tells whether a batch has pairs of its own. */
bool is_mixed(const abut_batch *b);

/* Refuses lists that cannot be computed. *most becomes the largest number of contacts among the
 * pairs. */
abut_status mixed_check(const abut_batch *b, size_t *most);

/* Writes each entry's own number of contacts, where the batch asks for it. */
void mixed_count(const abut_batch *b);

#endif
