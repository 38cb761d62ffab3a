/* Reads whole files, and writes files atomically: completely or not at all. */
#ifndef ABUT_FORMAT_WHOLE_FILE_H
#define ABUT_FORMAT_WHOLE_FILE_H

#include <abut/status.h>
#include <stddef.h>

/* Reads all bytes of a file, and appends a zero. The caller frees *bytes. */
abut_status whole_file_read(const char *path, char **bytes, size_t *count);

/* A file during writing. Until it is complete, it has no name if the file system supports that.
 * Otherwise it has a temporary name in the same folder, which abut_remove_unfinished removes. Then
 * it gets the name `target` in one step. Symbolic links are followed, even to a missing file.
 * Character devices and pipes are written in place. Other irregular files are rejected. */
typedef struct whole_file {
  char *target;
  char *temporary; /* its temporary name; NULL while it has none */
  int place;       /* of that name, see unfinished.h */
  int file;        /* for writing; supports seeking */
  int in_place;    /* the device or pipe; -1 for a regular file */
} whole_file;

/* Opens an empty file. */
abut_status whole_file_begin(const char *path, whole_file *f);

/* Appends bytes to the file. */
abut_status whole_file_put(const whole_file *f, const void *bytes, size_t count);

/* If so_far is a success, syncs the file and moves it into place. Otherwise, or if that fails,
 * removes it. Returns so_far or the failure. Frees *f in both cases. */
abut_status whole_file_end(whole_file *f, abut_status so_far);

abut_status whole_file_write(const char *path, const void *bytes, size_t count);

#endif
