/* The arrays that `contacts` and `jacobian` compute into and write. */
#ifndef ABUT_CLI_CONTACTS_STORE_H
#define ABUT_CLI_CONTACTS_STORE_H

#include "cli.h"

typedef struct contacts_store {
  abut_batch batch;
  abut_compact compact; /* used where is_compact */
  bool is_compact;      /* a list instead of dense arrays */
  void *block;          /* all arrays of the contacts, in one */
  size_t columns;       /* of a Jacobian block; 0: none are wanted */
  void *jacobian;       /* real (capacity of the list, 8, columns) */
  pose_arrays poses;
  void *reduced;        /* REDUCTIONS numbers a pose, one array after the other */
} contacts_store;

/* Per-pose numbers that are always written. */
enum { REDUCTION_LEAST, REDUCTION_SOFT, REDUCTION_ENERGY, REDUCTION_ACTIVITY, REDUCTIONS };

/* Room for all contacts of all poses. */
exit_code store_dense(contacts_store *c, const scene *s);
/* Room for `capacity` active contacts; what was there goes. */
exit_code store_compact(contacts_store *c, const scene *s, size_t capacity);
/* Room for the per-pose numbers. */
exit_code store_reductions(contacts_store *c, const scene *s);
/* Least vertex distance of all poses; false where no pose has one. */
bool least_distance(const contacts_store *c, const scene *s, double *least);
/* How many contacts may well be active: enough for most pairs, small beside the dense arrays. */
size_t guess_capacity(const scene *s, size_t poses);
/* Contacts of at least this activity. */
size_t count_active(const contacts_store *c, const scene *s, double threshold);
/* Everything in one .npz; what each array holds stands in docs/abut.1. */
exit_code store_write(const contacts_store *c, const scene *s, const options *o);
void store_free(contacts_store *c);

#endif
