/* Bodies of --also, which are drawn in addition to the pair. */
#ifndef ABUT_CLI_ALSO_H
#define ABUT_CLI_ALSO_H

#include "core/cli.h"

/* Arguments of --also, split into files and poses, in the order of the command line. */
typedef struct also {
  char **paths;
  abut_placed_body *bodies;
  size_t count;
} also;

/* Returns the length of the file name at the start of an argument of --also: up to the last colon
 * if a pose follows. */
size_t also_path_length(const char *word);

/* Refuses invalid poses, unreadable files, and an output that is one of the files. Close it after a
 * failure, too. */
exit_code also_open(also *a, const options *o);
/* Loads the bodies; a file that is already loaded is the same body. */
exit_code also_load(also *a, const session *s, const options *o);
void also_close(also *a);

#endif
