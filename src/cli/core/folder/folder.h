/* A folder of results: one .npy per array, as long as the whole batch. Blocks of poses are written
 * into their places, by as many processes at once as there are parts.
 *
 * manifest.json           the inputs of the results, and the list of arrays
 * NAME.npy                an array with one row per pose, or one that is the same for all
 * lists/FIRST-END.npz     a block's entries of lists, which `merge` joins to one .npy each
 * part-I-of-N.journal     blocks of a part that are on disk; with MPI:
 * rank-I-of-N.journal     those of a rank
 * abut.lock               held while the folder is created, joined by a process or merged
 *
 * The last three are removed from a complete folder. */
#ifndef ABUT_CLI_FOLDER_H
#define ABUT_CLI_FOLDER_H

#include "core/folder/behind.h"
#include "core/folder/journal.h"
#include "core/folder/manifest.h"

#define FOLDER_LISTS "lists" /* subfolder with the entries of lists */

/* An array of the folder. */
typedef struct folder_array {
  abut_array about; /* its shape in the folder, without data; its name is owned by the caller that
                       described it */
  output_of of;
  char *header;
  size_t header_bytes, row_bytes;
  size_t states; /* rows per pose, stored side by side for each state; 1 unless they are states */
  int file;      /* of an array with one row per pose; -1 while it is not open */
  bool on_nfs;   /* the open file is on NFS */
} folder_array;

typedef struct folder {
  const char *path; /* ends with '/'; owned by the caller */
  json_t *manifest;
  uint64_t poses;
  bool lists;
  folder_array arrays[OUTPUTS_MOST];
  size_t count;
  int lock;
  journal journal;
  behind behind;
  ranges gaps; /* what was missing, when the folder was opened, from this process's part, or from
                  the work of all ranks */
} folder;

/* Returns whether -o names a folder, which means that it ends with '/'. */
bool folder_is_named(const options *o);
/* Returns whether -o, without a final '/', may be meant as a folder: it is an existing folder, or
 * has no file extension. */
bool folder_is_meant(const options *o);
/* Does check_own_output for commands that can also write folders. Also checks that options for
 * folders are given only with one, and the numbers of --shard. */
exit_code folder_check_output(const options *o);
/* Reads --shard I/N; without it, 0/1. */
exit_code folder_part(const options *o, uint64_t *shard, uint64_t *shards);

/* Opens -o, creates it if necessary, and starts or continues this process's part. Takes ownership
 * of `manifest`. *complete: nothing is left to do, and only the manifest is open. Close it after a
 * failure, too. With ranks, the first one creates it after all ranks have the same version of abut
 * and the same inputs. */
exit_code folder_open(folder *f, const options *o, json_t *manifest, const outputs *described,
                      const char *device, bool *complete);
/* Reads the arrays from the manifest of an existing folder. */
exit_code folder_describe(folder *f);
/* Opens the arrays' files, which must match their descriptions. */
exit_code folder_open_arrays(folder *f);
/* Waits for the folder's lock, up to a minute. */
exit_code folder_lock(folder *f);
void folder_unlock(folder *f);
/* folder_put writes a block's results. They reach the disk, and then the journal, while later
 * blocks are computed. folder_flush waits for this, and folder_close too. */
exit_code folder_put(folder *f, range block, const outputs *l);
exit_code folder_flush(folder *f);
/* Call after folder_flush: returns whether the last block given to folder_put did not reach the
 * disk or the journal. */
bool folder_lost_last(const folder *f);
/* Returns the path of a block's entries, which the caller frees. NULL without memory. */
char *folder_list_path(const folder *f, range block);
/* Returns a path in the folder, which the caller frees. NULL without memory. */
char *folder_file(const folder *f, const char *name, const char *ending);
/* Writes bytes at a position of an open file; `path` is for errors. */
exit_code folder_write_at(const char *path, int file, const void *bytes, size_t count, uint64_t at);
/* Reports errno for a file of a folder. For a full disk, adds that finished work is retained. */
exit_code folder_fail(const char *path);
void folder_close(folder *f);

/* Checks that all parts are complete, joins lists, and marks the folder complete. The path ends
 * with '/'. */
exit_code folder_merge(const char *path, bool quiet);

#endif
