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
  size_t real_bytes, block_bytes;
  char *blocks; /* the caller's, or NULL */
  piece *waiting; /* in order, for those before them */
  size_t poses;   /* that the caller's list holds so far */
} compact_list;

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out);
void piece_free(piece *p); /* NULL is allowed */

/* Takes a piece over, and moves what is next in turn to the caller's list. */
void compact_list_add(compact_list *l, piece *p);

void compact_list_free(compact_list *l);

#endif
