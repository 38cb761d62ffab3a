/* The arrays that `contacts` and `jacobian` compute and write. */
#ifndef ABUT_CLI_CONTACTS_STORE_H
#define ABUT_CLI_CONTACTS_STORE_H

#include "core/outputs.h"
#include "pair/pair_list.h"

typedef struct contacts_store {
  abut_batch batch;
  abut_compact compact; /* used if is_compact */
  bool is_compact;      /* a list instead of dense arrays */
  void *block;          /* for dense arrays: all of them in one allocation */
  size_t columns;       /* of a Jacobian block; 0: not wanted */
  pose_arrays poses;
  pair_list pairs;   /* of --pairs */
  uint32_t *own;     /* with --pairs: number of contacts of each pose */
  uint32_t *numbers; /* numbers of layouts, in the form of the output arrays */
  void *reduced;     /* REDUCED_REALS numbers per pose, one array after the other */
} contacts_store;

/* Allocates all contacts of all poses. */
exit_code store_dense(contacts_store *c, const session *s);
/* Prepares a list of active contacts, which allocates its own memory. */
void store_compact(contacts_store *c);
/* With --pairs: sets the batch's pairs; `poses` must remain valid. */
exit_code store_pairs(contacts_store *c, const abut_poses *poses);
/* Allocates the numbers per pose. */
exit_code store_reductions(contacts_store *c, const session *s);
/* Finds the least distance of all poses; returns false if no pose has one. */
bool least_distance(const contacts_store *c, const session *s, double *least);
/* Counts contacts with at least this activity. */
size_t count_active(const contacts_store *c, const session *s, double threshold);
/* Lists all results as arrays owned by the store; src/cli/help/commands.txt describes them. */
exit_code store_outputs(contacts_store *c, const session *s, outputs *l);
/* Frees the data of the batch's poses, so that others can replace them. */
void store_empty(contacts_store *c);
void store_free(contacts_store *c);

#endif
