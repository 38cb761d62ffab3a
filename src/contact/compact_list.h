/* The compact list of a batch, put together from chunks that end in any order. */
#ifndef ABUT_CONTACT_COMPACT_LIST_H
#define ABUT_CONTACT_COMPACT_LIST_H

#include <abut/manifold.h>

/* The entries of one chunk of poses. */
typedef struct piece {
  struct piece *next;
  size_t first, poses;
  size_t found;   /* how many contacts of the chunk are active */
  size_t entries; /* how many of these are here: at most as many as the list has room for */
  int *ints;      /* (entries, COMPACT_INTS) */
  char *reals;    /* (entries, COMPACT_REALS) */
  char *blocks;   /* (entries, block_bytes), or NULL */
} piece;

typedef struct compact_list {
  abut_compact *out;
  size_t real_bytes;
  size_t block_bytes;   /* bytes of an entry's block; 0: it has none */
  char *blocks;         /* where the blocks are to go, or NULL */
  piece *waiting;       /* pieces in order that wait for those before them, or for the end */
  const uint32_t *rows; /* the pose of each element, where that is not its place; or NULL */
  size_t poses;         /* how many the caller's list holds so far */
} compact_list;

/* Refuses a list that grows but has arrays of the caller's. NULL is allowed. */
abut_status compact_list_check(const abut_compact *l);

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out);
void piece_free(piece *p); /* NULL is allowed */

/* Takes a piece over, and moves those pieces to the caller's list whose turn it is. Where elements
 * are not in the order of their poses, or the list grows, all pieces wait for the end. */
void compact_list_add(compact_list *l, piece *p);

/* Moves what waits to the caller's list, after the last piece of so many poses. A list that grows
 * gets the room for it first. */
abut_status compact_list_finish(compact_list *l, size_t poses);

void compact_list_free(compact_list *l);

#endif
