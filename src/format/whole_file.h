/* Files read at once, and files that appear whole or not at all. */
#ifndef ABUT_FORMAT_WHOLE_FILE_H
#define ABUT_FORMAT_WHOLE_FILE_H

#include <abut/status.h>
#include <stddef.h>

/* All bytes of a file, with a zero behind them. Free *bytes. */
abut_status whole_file_read(const char *path, char **bytes, size_t *count);

/* A file in the making. It has no name until it is whole, where the file system can do that, else
 * one of its own in the same folder, which abut_remove_unfinished removes; then it takes the name
 * `target` in one step. A symbolic link is followed, also to a file that is not there yet.
 * Character devices and pipes are written in place; anything else that is no regular file is
 * refused. */
typedef struct whole_file {
  char *target;
  char *temporary; /* its name in the meantime; NULL while it has none */
  int place;       /* of that name, see unfinished.h */
  int file;        /* to be written to; may be sought in */
  int in_place;    /* the device or pipe; -1 for a regular file */
} whole_file;

/* Opens the file, empty. */
abut_status whole_file_begin(const char *path, whole_file *f);

/* Adds bytes to a file that was begun. */
abut_status whole_file_put(const whole_file *f, const void *bytes, size_t count);

/* With so_far a success, syncs the file and moves it into place; else, or where that fails, removes
 * it. Returns so_far or the failure. Frees *f either way. */
abut_status whole_file_end(whole_file *f, abut_status so_far);

abut_status whole_file_write(const char *path, const void *bytes, size_t count);

#endif
