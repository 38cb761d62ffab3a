/* The compact list of a batch, assembled from chunks that end in any order. */
#ifndef ABUT_CONTACT_COMPACT_LIST_H
#define ABUT_CONTACT_COMPACT_LIST_H

#include <abut/manifold.h>

/* The entries of one chunk of poses. */
typedef struct piece {
  struct piece *next;
  size_t first, poses;
  size_t found;   /* number of active contacts in the chunk */
  size_t entries; /* number of these stored here, at most the capacity of the list */
  int *ints;      /* (entries, COMPACT_INTS) */
  char *reals;    /* (entries, COMPACT_REALS) */
  char *blocks;   /* (entries, block_bytes), or NULL */
} piece;

typedef struct compact_list {
  abut_compact *out;
  size_t real_bytes;
  size_t block_bytes;   /* bytes of an entry's block; 0: none */
  char *blocks;         /* destination of the blocks, or NULL */
  piece *waiting;       /* pieces, in order, that wait for earlier ones or for the end */
  const uint32_t *rows; /* the pose of each element if it differs from its index; or NULL */
  size_t poses;         /* number of poses in the caller's list so far */
} compact_list;

/* Rejects a growing list that has arrays of the caller. NULL is allowed. */
abut_status compact_list_check(const abut_compact *l);

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out);
void piece_free(piece *p); /* NULL is allowed */

/* Takes a piece over, and moves all pieces that are next in order to the caller's list. If elements
 * are not in the order of their poses, or if the list grows, all pieces wait for the end. */
void compact_list_add(compact_list *l, piece *p);

/* Moves pending pieces to the caller's list, after the last piece of `poses` poses. A growing list
 * is enlarged first. */
abut_status compact_list_finish(compact_list *l, size_t poses);

void compact_list_free(compact_list *l);

#endif
