/* Files read at once, and files that appear whole or not at all. */
#ifndef ABUT_IO_WHOLE_FILE_H
#define ABUT_IO_WHOLE_FILE_H

#include <abut/status.h>
#include <stddef.h>

/* All bytes of a file, with a zero behind them. Free *bytes. */
abut_status whole_file_read(const char *path, char **bytes, size_t *count);

/* A file in the making: it is written under `temporary`, in the same folder, and then takes the
 * name `target` in one step. A symbolic link is followed, also to a file that is not there yet.
 * Anything but a regular file is refused, so that no device is replaced. */
typedef struct whole_file {
  char *target, *temporary;
} whole_file;

/* Makes the temporary file, empty. */
abut_status whole_file_begin(const char *path, whole_file *f);

/* With so_far a success, moves the synced temporary file into place; else, or where that fails,
 * removes it. Returns so_far or the failure. Frees *f either way. */
abut_status whole_file_end(whole_file *f, abut_status so_far);

abut_status whole_file_write(const char *path, const void *bytes, size_t count);

#endif
