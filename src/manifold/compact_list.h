/* The compact list of a batch, put together from chunks that end in any order. */
#ifndef ABUT_MANIFOLD_COMPACT_LIST_H
#define ABUT_MANIFOLD_COMPACT_LIST_H

#include <abut/manifold.h>

/* The entries of one chunk of poses. */
typedef struct piece {
  struct piece *next;
  size_t first, poses;
  size_t found;   /* active contacts */
  size_t entries; /* of them that are here: as many as the whole list could take */
  int *ints;      /* (entries, COMPACT_INTS) */
  char *reals;    /* (entries, COMPACT_REALS) */
  char *blocks;   /* (entries, block_bytes), or NULL */
} piece;

typedef struct compact_list {
  abut_compact *out;
  size_t real_bytes;
  size_t block_bytes; /* of an entry; 0: it has none */
  char *blocks; /* what they come to, or NULL */
  piece *waiting; /* in order, for those before them; or all of them */
  const uint32_t *rows; /* the pose of each element, where that is not its place; or NULL */
  size_t poses;   /* that the caller's list holds so far */
} compact_list;

/* Refuses a list that grows with arrays of the caller's. NULL is allowed. */
abut_status compact_list_check(const abut_compact *l);

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out);
void piece_free(piece *p); /* NULL is allowed */

/* Takes a piece over, and moves what is next in turn to the caller's list. Where elements are not
 * in the order of their poses, or the list grows, all pieces wait for the end. */
void compact_list_add(compact_list *l, piece *p);

/* After the last piece of so many poses: moves what waits to the caller's list, which grows to it
 * first where it is to. */
abut_status compact_list_finish(compact_list *l, size_t poses);

void compact_list_free(compact_list *l);

#endif
