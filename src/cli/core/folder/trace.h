/* The work of each process on each block, as a trace for browsers' trace viewers (the Trace Event
 * Format of Chromium): --timeline for a folder of results. Each process or rank is a track. */
#ifndef ABUT_CLI_TRACE_H
#define ABUT_CLI_TRACE_H

#include "core/folder/ranges.h"

typedef enum {
  TRACE_ASK,     /* asking for the next block, until the answer */
  TRACE_COMPUTE, /* reading and computing */
  TRACE_WRITE,   /* writing, and waiting for the previous block to reach the disk */
  TRACE_END, /* waiting for this process's last blocks to reach the disk, and for the other ranks */
  TRACE_KINDS
} trace_kind;

typedef struct trace {
  bool on;
  double start;
  uint64_t *numbers; /* TRACE_NUMBERS per span */
  size_t count, room, most;
  bool cut; /* there were more */
} trace;

#define TRACE_NUMBERS 5

/* Collective over all ranks, like trace_write. Starts the time count. */
void trace_begin(trace *t, const options *o);
/* Times are from now(). */
exit_code trace_add(trace *t, trace_kind kind, double begin, double end, range poses);
/* The first process writes the work of all processes to NAME.json. */
exit_code trace_write(trace *t, const options *o);
void trace_free(trace *t);

#endif
