/* A batch whose entries are of several pairs: in which order they are computed. */
#ifndef ABUT_MANIFOLD_MIXED_H
#define ABUT_MANIFOLD_MIXED_H

#include "manifold/pair.h"
#include "schedule/schedule.h"

/* Entries kind by kind (of pairs, of scenes), those of one in the caller's order. */
typedef struct mixed {
  uint32_t *rows;    /* (N) the entry that is computed at each place */
  job_group *groups; /* of kinds that have entries; without rates */
  uint32_t *kinds;   /* of each group, in the caller's list */
  size_t group_count;
} mixed;

/* Whether a batch has pairs of its own. */
bool is_mixed(const abut_batch *b);

/* Refuses lists that cannot be computed. *most: the largest number of contacts among the pairs. */
abut_status mixed_check(const abut_batch *b, size_t *most);

/* Of entries' kinds, each below kind_count; *out is empty on failure. */
abut_status mixed_create(size_t count, size_t kind_count, const uint32_t *kind, mixed *out);
void mixed_free(mixed *m);

/* Each entry's own number of contacts, where the batch asks for it. */
void mixed_count(const abut_batch *b);

#endif
