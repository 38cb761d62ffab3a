/* The names of files that are being written, for abut_remove_unfinished. */
#ifndef ABUT_FORMAT_UNFINISHED_H
#define ABUT_FORMAT_UNFINISHED_H

/* Takes note of a name before it is made, if there is room. Returns its place, for below. */
int unfinished_add(const char *path);
/* The file has its own name now, or is gone. */
void unfinished_drop(int place);

#endif
