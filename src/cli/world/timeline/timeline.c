/* The work of each device on each chunk: as a trace for browsers' trace viewers (the Trace Event
 * Format of Chromium), and as a picture. */
#include "world/timeline/timeline.h"

#include "core/json_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const phase_names[PHASES] = {"upload", "compute", "download"};

/* NAME, NAME.json and NAME.png all mean NAME. */
char *timeline_file(const char *name, const char *ending)
{
  size_t length = strlen(name);
  if (length > 5 && strcmp(name + length - 5, ".json") == 0) {
    length -= 5;
  } else if (length > 4 && strcmp(name + length - 4, ".png") == 0) {
    length -= 4;
  }
  const size_t bytes = length + strlen(ending) + 1;
  char *out = malloc(bytes);
  if (out) {
    snprintf(out, bytes, "%.*s%s", (int)length, name, ending);
  }
  return out;
}

exit_code timeline_check(const options *o)
{
  static const char *const endings[] = {".json", ".png"};
  for (size_t i = 0; o->value[OPTION_TIMELINE] && i < 2; ++i) {
    char *path = timeline_file(o->value[OPTION_TIMELINE], endings[i]);
    exit_code code = path ? check_not_input(o, path) : report(EXIT_RUN, "no memory");
    if (code == EXIT_GOOD && strcmp(path, o->value[OPTION_OUTPUT]) == 0) {
      code = usage_error(o->command, "-o and --timeline both name %s", path);
    }
    code = code == EXIT_GOOD ? check_output(path) : code;
    free(path);
    CLI_TRY(code);
  }
  return EXIT_GOOD;
}

exit_code timeline_start(const session *s, const options *o)
{
  return o->value[OPTION_TIMELINE] ? report_status(abut_start_timeline(s->context)) : EXIT_GOOD;
}

/* ---- the trace ---- */

static json_t *metadata(const char *what, size_t pid, size_t tid, const char *name)
{
  return json_pack("{s:s, s:s, s:I, s:I, s:{s:o}}", "name", what, "ph", "M", "pid", (json_int_t)pid,
                   "tid", (json_int_t)tid, "args", "name", json_text(name));
}

/* One process per device, one thread per phase: phases of different chunks overlap. */
static bool add_names(json_t *events, const timeline *t)
{
  bool good = true;
  for (size_t d = 0; d < t->device_count; ++d) {
    const abut_device_info *info = &t->devices[d].info;
    char name[sizeof info->name + sizeof info->platform + 8];
    snprintf(name, sizeof name, "%s (%s)", info->name, info->platform);
    good = good && json_array_append_new(events, metadata("process_name", d, 0, name)) == 0;
    for (size_t k = 0; k < PHASES; ++k) {
      good = good &&
             json_array_append_new(events, metadata("thread_name", d, k, phase_names[k])) == 0;
    }
  }
  return good;
}

/* In microseconds, rounded to nanoseconds, the clock's resolution. */
static double microseconds(double seconds)
{
  return round(1e9 * seconds) / 1e3;
}

static json_t *event(const abut_span *s)
{
  char name[64];
  snprintf(name, sizeof name, "%llu to %llu", (unsigned long long)s->first,
           (unsigned long long)(s->first + s->count - 1));
  return json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:{s:I, s:I}}", "name", name, "cat",
                   phase_names[s->phase], "ph", "X", "ts", microseconds(s->begin), "dur",
                   microseconds(s->end - s->begin), "pid", (json_int_t)s->device, "tid",
                   (json_int_t)s->phase, "args", "first", (json_int_t)s->first, "count",
                   (json_int_t)s->count);
}

static exit_code write_trace(const timeline *t, const char *path)
{
  json_t *root = json_pack("{s:[], s:s}", "traceEvents", "displayTimeUnit", "ms");
  json_t *events = json_object_get(root, "traceEvents");
  bool good = events && add_names(events, t);
  for (size_t i = 0; good && i < t->span_count; ++i) {
    good = json_array_append_new(events, event(&t->spans[i])) == 0;
  }
  if (!good) {
    json_decref(root);
    return report(EXIT_RUN, "not enough memory for a timeline");
  }
  const bool written = json_dump_file(root, path, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0;
  json_decref(root);
  if (!written) {
    remove(path);
  }
  return written ? EXIT_GOOD : report(EXIT_RUN, "%s: cannot be written", path);
}

/* ---- both outputs ---- */

static exit_code read_timeline(timeline *t, const session *s)
{
  size_t there = 0;
  CLI_TRY(report_status(abut_context_devices(s->context, t->devices, DEVICES, &t->device_count)));
  CLI_TRY(report_status(abut_get_timeline(s->context, NULL, 0, &there)));
  t->spans = calloc(there ? there : 1, sizeof *t->spans);
  if (!t->spans) {
    return report(EXIT_RUN, "not enough memory for a timeline");
  }
  return report_status(abut_get_timeline(s->context, t->spans, there, &t->span_count));
}

exit_code timeline_write(const session *s, const options *o)
{
  const char *name = o->value[OPTION_TIMELINE];
  timeline t = {0};
  char *trace = NULL, *picture = NULL;
  exit_code code = EXIT_GOOD;
  if (!name) {
    return EXIT_GOOD;
  }
  trace = timeline_file(name, ".json");
  picture = timeline_file(name, ".png");
  CLI_TRY_DONE(trace && picture ? EXIT_GOOD : report(EXIT_RUN, "no memory"));
  CLI_TRY_DONE(read_timeline(&t, s));
  CLI_TRY_DONE(write_trace(&t, trace));
  CLI_TRY_DONE(draw_timeline(&t, picture));
done:
  free(t.spans);
  free(trace);
  free(picture);
  return code;
}
