/* The arrays that `contacts` and `jacobian` compute into and write. */
#ifndef ABUT_CLI_CONTACTS_STORE_H
#define ABUT_CLI_CONTACTS_STORE_H

#include "core/outputs.h"
#include "pair/pair_list.h"

typedef struct contacts_store {
  abut_batch batch;
  abut_compact compact; /* used where is_compact */
  bool is_compact;      /* a list instead of dense arrays */
  void *block;          /* else all arrays of the contacts, in one */
  size_t columns;       /* of a Jacobian block; 0: none are wanted */
  pose_arrays poses;
  pair_list pairs;   /* of --pairs */
  uint32_t *own;     /* with them: each pose's number of contacts */
  uint32_t *numbers; /* of layouts, as arrays have them */
  void *reduced;     /* REDUCED_REALS numbers a pose, one array after the other */
} contacts_store;

/* Room for all contacts of all poses. */
exit_code store_dense(contacts_store *c, const session *s);
/* A list of active contacts, which makes its own room. */
void store_compact(contacts_store *c);
/* With --pairs: what the batch takes of them; poses must stay. */
exit_code store_pairs(contacts_store *c, const abut_poses *poses);
/* Room for the per-pose numbers. */
exit_code store_reductions(contacts_store *c, const session *s);
/* Least distance of all poses; false where no pose has one. */
bool least_distance(const contacts_store *c, const session *s, double *least);
/* Contacts of at least this activity. */
size_t count_active(const contacts_store *c, const session *s, double threshold);
/* Everything as arrays, which are the store's; src/cli/help/commands.txt describes each of them. */
exit_code store_outputs(contacts_store *c, const session *s, outputs *l);
/* Frees what is of the batch's poses, so that others may take their place. */
void store_empty(contacts_store *c);
void store_free(contacts_store *c);

#endif
