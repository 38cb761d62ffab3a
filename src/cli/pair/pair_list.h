/* The pairs of --pairs: bodies by their files, each uploaded to the device once. */
#ifndef ABUT_CLI_PAIR_LIST_H
#define ABUT_CLI_PAIR_LIST_H

#include "core/cli.h"

typedef struct pair_list {
  const char *path;
  abut_pair_files files;
  abut_pair *pairs;     /* (files.count) */
  abut_layout *layouts; /* (files.count) */
  char *smoothing; /* the fitted values of all pairs as a list in JSON; NULL with --smoothing */
} pair_list;

/* Reads the list, and checks that its files are readable and that none is the output; opens
 * nothing. */
exit_code pair_list_read(pair_list *l, const options *o);

/* Checks that the pair of every pose is in the list. The file has `first` poses before these. */
exit_code pair_list_check(const pair_list *l, const options *o, const abut_poses *poses,
                          size_t first);

/* Opens bodies, smoothing and pairs on the session's device; its layout becomes the widest one. */
exit_code pair_list_open(pair_list *l, session *s, const options *o);

void pair_list_free(pair_list *l);

#endif
