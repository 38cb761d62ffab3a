/* The journal of a part, or of a rank: which blocks of poses lie in the folder, on disk. */
#ifndef ABUT_CLI_JOURNAL_H
#define ABUT_CLI_JOURNAL_H

#include "core/folder/ranges.h"

#define SHARDS_MOST 1000000

/* Whose a journal is: part I of N, which are ranges of poses, or rank I of N of a start by MPI,
 * which does any. */
typedef struct journal_of {
  uint64_t shard, shards;
  bool rank;
} journal_of;

typedef struct journal {
  char *path;
  int file; /* open and locked, so that one process alone computes the part */
  journal_of of;
  bool begun;           /* it has its first line */
  char version[64];     /* of the abut that began it */
  uint64_t inputs;      /* see manifest.h */
  char (*devices)[256]; /* that computed */
  size_t device_count;
  ranges done;
} journal;

/* Whose journals a folder has, in their order, ranks behind parts: *out is to be freed. */
exit_code journal_list(const char *folder, journal_of **out, size_t *count);
/* The name of the file in the folder. */
typedef struct journal_name {
  char text[80];
} journal_name;
journal_name journal_name_of(journal_of of);

/* Opens and locks a journal, which must be there unless `create`, and reads it. Refuses one that
 * another process has, and one that is damaged other than at its end, where a process that ended
 * has left half a line. */
exit_code journal_open(journal *j, const char *folder, journal_of of, bool create);
/* Writes the first line, unless it is there, and the device of what follows. */
exit_code journal_begin(journal *j, uint64_t inputs, const char *device);
/* A block is done; all of it must have reached the disk. False: errno tells why not, and nothing
 * was said. */
bool journal_write(const journal *j, range block);
void journal_close(journal *j);

#endif
