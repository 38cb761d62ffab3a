/* Files without a name, which nothing need remove: Linux has them, on most of its file systems. */
#ifndef ABUT_FORMAT_UNNAMED_FILE_H
#define ABUT_FORMAT_UNNAMED_FILE_H

/* Opens one of a folder for writing, with the mode that the umask asks for. Below 0 where the
 * system or the folder's file system has none that could take a name later. */
int unnamed_file_open(const char *folder);

/* Gives it a name, which must be free, in the same file system. As link: below 0, and errno. */
int unnamed_file_link(int file, const char *name);

#endif
