/* A folder of results: an .npy an array, as long as the whole batch, which blocks of poses are
 * written into at their places, by as many processes at once as there are parts.
 *
 *   manifest.json           what the results are of, and which arrays there are
 *   NAME.npy                an array with a row a pose, or one that is the same for all
 *   lists/FIRST-END.npz     a block's entries of lists, which `merge` joins to an .npy each
 *   part-I-of-N.journal     which blocks of a part are on disk; of ranks by MPI rank-I-of-N.journal
 *   abut.lock               held while the folder is made, joined or joined in
 *
 * The last three are gone from a folder that is complete. */
#ifndef ABUT_CLI_FOLDER_H
#define ABUT_CLI_FOLDER_H

#include "core/folder/behind.h"
#include "core/folder/journal.h"
#include "core/folder/manifest.h"

#define FOLDER_LISTS "lists" /* a folder of this name holds the entries of lists */

/* An array of the folder. */
typedef struct folder_array {
  abut_array about; /* its shape in the folder, without data; its name belongs to whoever
                       described it */
  output_of of;
  char *header;
  size_t header_bytes, row_bytes;
  size_t states; /* how many rows each pose has, those of a state side by side; 1 unless they
                    are of states */
  int file;      /* of a row a pose; -1 while it is not open */
  bool on_nfs;   /* where it is open */
} folder_array;

typedef struct folder {
  const char *path; /* ends with '/'; the caller's */
  json_t *manifest;
  uint64_t poses;
  bool lists;
  folder_array arrays[OUTPUTS_MOST];
  size_t count;
  int lock;
  journal journal;
  behind behind;
  ranges gaps; /* what is missing of this process's part, or of what all ranks do, since it
                  was opened */
} folder;

/* Whether -o names a folder: it ends with '/'. */
bool folder_is_named(const options *o);
/* Whether -o, which does not end so, may have been meant as a folder: it is one, or has no ending
 * as files have. */
bool folder_is_meant(const options *o);
/* check_own_output, of commands that also take folders; that options of folders are given with one
 * alone; and --shard's numbers. */
exit_code folder_check_output(const options *o);
/* --shard I/N; of the whole 0/1. */
exit_code folder_part(const options *o, uint64_t *shard, uint64_t *shards);

/* Opens -o, makes it where it is not there, and begins or goes on with this process's part.
 * `manifest` is taken over. *complete: nothing is left to do, and only the manifest is open. Close
 * it after a failure, too. Of ranks the first makes it, once all are seen to be of one version of
 * abut and of the same inputs. */
exit_code folder_open(folder *f, const options *o, json_t *manifest, const outputs *described,
                      const char *device, bool *complete);
/* Takes the arrays as the manifest of a folder that is there describes them. */
exit_code folder_describe(folder *f);
/* Opens the arrays' files, which must be as they are described. */
exit_code folder_open_arrays(folder *f);
/* Waits for the folder's lock, for up to a minute. */
exit_code folder_lock(folder *f);
void folder_unlock(folder *f);
/* Writes what a block of poses has. It reaches the disk, and then the journal, while others are
 * computed: no later than folder_flush, which waits for it, and folder_close. */
exit_code folder_put(folder *f, range block, const outputs *l);
exit_code folder_flush(folder *f);
/* After folder_flush: whether the last block that folder_put took did not reach the disk or the
 * journal. */
bool folder_lost_last(const folder *f);
/* Where the entries of a block are; to be freed. NULL without memory. */
char *folder_list_path(const folder *f, range block);
/* A name in the folder; to be freed. NULL without memory. */
char *folder_file(const folder *f, const char *name, const char *ending);
/* Writes bytes at a place of an open file, whose path is for errors. */
exit_code folder_write_at(const char *path, int file, const void *bytes, size_t count, uint64_t at);
/* Reports what errno says of a file of a folder, and that what is done stays where the disk is
 * full. */
exit_code folder_fail(const char *path);
void folder_close(folder *f);

/* Checks that all parts are whole, joins lists, and marks the folder complete. The path ends with
 * '/'. */
exit_code folder_merge(const char *path, bool quiet);

#endif
