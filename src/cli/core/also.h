/* Bodies of --also, which are drawn beside the pair. */
#ifndef ABUT_CLI_ALSO_H
#define ABUT_CLI_ALSO_H

#include "core/cli.h"

/* Words of --also, cut into files and poses, by the command line's order. */
typedef struct also {
  char **paths;
  abut_placed_body *bodies;
  size_t count;
} also;

/* How long the file's name is at the begin of a word of --also: up to the last colon, where a pose
 * stands behind that. */
size_t also_path_length(const char *word);

/* Refuses poses that are none, files that cannot be read, and an output that is one of them. Close
 * it after a failure, too. */
exit_code also_open(also *a, const options *o);
/* A file that was loaded before is the same body. */
exit_code also_load(also *a, const session *s, const options *o);
void also_close(also *a);

#endif
