/* The names of files that are being written, for abut_remove_unfinished. */
#ifndef ABUT_FORMAT_UNFINISHED_H
#define ABUT_FORMAT_UNFINISHED_H

/* Records a name before the file is created, if there is room. Returns its index for
 * unfinished_drop. */
int unfinished_add(const char *path);
/* The file has its final name now, or was removed. */
void unfinished_drop(int place);

#endif
