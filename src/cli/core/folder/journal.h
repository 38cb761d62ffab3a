/* The journal of a part or of a rank: the blocks of poses that are in the folder, on disk. */
#ifndef ABUT_CLI_JOURNAL_H
#define ABUT_CLI_JOURNAL_H

#include "core/folder/ranges.h"

#define SHARDS_MOST 1000000

/* The owner of a journal: part I of N, which are ranges of poses, or rank I of N of an MPI start,
 * which may compute any poses. */
typedef struct journal_of {
  uint64_t shard, shards;
  bool rank;
} journal_of;

typedef struct journal {
  char *path;
  int file; /* open and locked, so that only one process computes the part */
  journal_of of;
  bool begun;           /* it has its first line */
  char version[64];     /* version of abut that started it */
  uint64_t inputs;      /* see manifest.h */
  char (*devices)[256]; /* that computed */
  size_t device_count;
  ranges done;
} journal;

/* Lists the journals in a folder in order, ranks after parts. The caller frees *out. */
exit_code journal_list(const char *folder, journal_of **out, size_t *count);
/* The name of the file in the folder. */
typedef struct journal_name {
  char text[80];
} journal_name;
journal_name journal_name_of(journal_of of);

/* Opens and locks a journal, which must exist unless `create` is set, and reads it. Refuses one
 * that another process has locked, and one that is damaged except at its end, where an interrupted
 * process may leave half a line. */
exit_code journal_open(journal *j, const char *folder, journal_of of, bool create);
/* Writes the first line unless it exists, and the device of the following blocks. */
exit_code journal_begin(journal *j, uint64_t inputs, const char *device);
/* Records a finished block, all of which must have reached the disk. On failure returns false with
 * errno set, without a message. */
bool journal_write(const journal *j, range block);
void journal_close(journal *j);

#endif
