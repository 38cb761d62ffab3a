/* The journal of a part: which blocks of poses lie in the folder, on disk. */
#ifndef ABUT_CLI_JOURNAL_H
#define ABUT_CLI_JOURNAL_H

#include "folder/ranges.h"

#define SHARDS_MOST 1000000

typedef struct journal {
  char *path;
  int file;                /* open and locked, so that one process alone computes the part */
  uint64_t shard, shards;
  bool begun;              /* it has its first line */
  char version[64];        /* of the abut that began it */
  uint64_t inputs;         /* see manifest.h */
  char (*devices)[256];    /* that computed */
  size_t device_count;
  ranges done;
} journal;

/* The parts whose journals a folder has, in their order: *out, pairs of part and number of parts, is to be freed. */
exit_code journal_list(const char *folder, uint64_t (**out)[2], size_t *count);

/* Opens and locks a journal, which must be there unless `create`, and reads it. Refuses one that another process has, and
 * one that is damaged other than at its end, where a process that ended has left half a line. */
exit_code journal_open(journal *j, const char *folder, uint64_t shard, uint64_t shards, bool create);
/* Writes the first line, unless it is there, and the device of what follows. */
exit_code journal_begin(journal *j, uint64_t inputs, const char *device);
/* A block is done; all of it must have reached the disk. */
exit_code journal_add(journal *j, range block);
void journal_close(journal *j);

#endif
