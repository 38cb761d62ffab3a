/* Files without a name, which need not be removed. Linux supports them on most file systems. */
#ifndef ABUT_FORMAT_UNNAMED_FILE_H
#define ABUT_FORMAT_UNNAMED_FILE_H

/* Opens such a file in a folder for writing, with the mode of the umask. Negative if the system or
 * the folder's file system does not support such files or naming them later. */
int unnamed_file_open(const char *folder);

/* Gives the file an unused name in the same file system. Returns a negative number and sets errno,
 * like link. */
int unnamed_file_link(int file, const char *name);

#endif
