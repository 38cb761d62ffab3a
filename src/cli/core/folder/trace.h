/* What each process did with each block, as a trace that browsers' trace viewers open (the Trace
 * Event Format of Chromium): --timeline of a folder of results. A process, of ranks a rank, is a
 * track. */
#ifndef ABUT_CLI_TRACE_H
#define ABUT_CLI_TRACE_H

#include "core/folder/ranges.h"

typedef enum {
  TRACE_ASK,     /* for the next block, and the answer */
  TRACE_COMPUTE, /* read and computed */
  TRACE_WRITE,   /* written, and waited for the block before to reach the disk */
  TRACE_END,     /* waited for the last blocks of this process to reach the disk, then for the
                    other ranks */
  TRACE_KINDS
} trace_kind;

typedef struct trace {
  bool on;
  double start;
  uint64_t *numbers; /* TRACE_NUMBERS of each span */
  size_t count, room, most;
  bool cut; /* there were more */
} trace;

#define TRACE_NUMBERS 5

/* Of all ranks at once, as is trace_write: from then on seconds are counted. */
void trace_begin(trace *t, const options *o);
/* Times by now(). */
exit_code trace_add(trace *t, trace_kind kind, double begin, double end, range poses);
/* The first process writes what all have done to NAME.json. */
exit_code trace_write(trace *t, const options *o);
void trace_free(trace *t);

#endif
