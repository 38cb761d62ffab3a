/* A recorded timeline, and its picture. */
#ifndef ABUT_CLI_TIMELINE_TIMELINE_H
#define ABUT_CLI_TIMELINE_TIMELINE_H

#include "core/cli.h"

#define PHASES 3
#define DEVICES (ABUT_DEVICES_MOST + 1)

extern const char *const phase_names[PHASES];

typedef struct timeline {
  abut_device_report devices[DEVICES];
  size_t device_count;
  abut_span *spans;
  size_t span_count;
} timeline;

/* Draws a row for each phase of each device, over time in milliseconds, and a legend. */
exit_code draw_timeline(const timeline *t, const char *path);

#endif
