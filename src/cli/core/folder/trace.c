#include "core/folder/trace.h"

#include "core/folder/ranks.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of spans of all processes together, to bound memory; and a minimum per process. */
#define SPANS_MOST ((size_t)1 << 20)
#define SPANS_LEAST 64

static const char *const kind_names[TRACE_KINDS] = {"ask", "compute", "write", "end"};

void trace_begin(trace *t, const options *o)
{
  *t = (trace){.on = o->value[OPTION_TIMELINE] != NULL, .most = SPANS_MOST / ranks_count()};
  t->most = t->most > SPANS_LEAST ? t->most : SPANS_LEAST;
  if (ranks_started()) {
    t->on = ranks_from_first(t->on) != 0;
    ranks_wait(); /* synchronizes, because clocks of different machines have no common origin */
  }
  t->start = now();
}

static uint64_t nanoseconds(double seconds)
{
  return seconds > 0.0 ? (uint64_t)(1e9 * seconds) : 0;
}

exit_code trace_add(trace *t, trace_kind kind, double begin, double end, range poses)
{
  if (!t->on || t->count == t->most) {
    t->cut = t->on;
    return EXIT_GOOD;
  }
  if (t->count == t->room) {
    const size_t room = t->room ? 2 * t->room : 256;
    uint64_t *more = realloc(t->numbers, room * TRACE_NUMBERS * sizeof *more);
    if (!more) {
      return report(EXIT_RUN, "not enough memory for a timeline");
    }
    t->numbers = more;
    t->room = room;
  }
  const uint64_t span[TRACE_NUMBERS] = {(uint64_t)kind, nanoseconds(begin - t->start),
                                        nanoseconds(end - begin), poses.first, poses.end};
  memcpy(t->numbers + TRACE_NUMBERS * t->count++, span, sizeof span);
  return EXIT_GOOD;
}

/* Gathers the same number of spans from each process; missing ones have no length and no kind. The
 * result is cut if any process's spans were cut. */
static exit_code gather(trace *t, uint64_t **all, size_t *each)
{
  uint64_t least[2] = {RANKS_MOST - (uint64_t)t->count, !t->cut};
  if (ranks_started()) {
    ranks_least(least, 2);
  }
  *each = (size_t)(RANKS_MOST - least[0]);
  t->cut = !least[1];
  const size_t own = *each * TRACE_NUMBERS, count = ranks_count() * own;
  *all = calloc(count ? count : 1, sizeof **all);
  CLI_TRY(ranks_agree(*all ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for a timeline")));
  for (size_t i = 0; i < *each; ++i) {
    uint64_t *to = *all + ranks_own() * own + i * TRACE_NUMBERS;
    to[0] = TRACE_KINDS;
    if (i < t->count) {
      memcpy(to, t->numbers + i * TRACE_NUMBERS, TRACE_NUMBERS * sizeof *to);
    }
  }
  if (ranks_started()) {
    ranks_sum(*all, (int)count); /* each number is nonzero on one rank only */
  }
  return EXIT_GOOD;
}

static json_t *track(size_t rank)
{
  char name[64] = "process";
  if (ranks_started()) {
    snprintf(name, sizeof name, "rank %zu", rank);
  }
  return json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "name", "process_name", "ph", "M", "pid",
                   (json_int_t)rank, "tid", (json_int_t)0, "args", "name", name);
}

/* Times are in microseconds. */
static json_t *event(size_t rank, const uint64_t *span)
{
  char name[96];
  const char *kind = kind_names[span[0]];
  if (span[3] < span[4]) {
    snprintf(name, sizeof name, "%s %" PRIu64 " to %" PRIu64, kind, span[3], span[4] - 1);
  } else {
    snprintf(name, sizeof name, "%s", kind);
  }
  return json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:{s:I, s:I}}", "name", name, "cat", kind,
                   "ph", "X", "ts", 1e-3 * (double)span[1], "dur", 1e-3 * (double)span[2], "pid",
                   (json_int_t)rank, "tid", (json_int_t)0, "args", "first", (json_int_t)span[3],
                   "count", (json_int_t)(span[4] - span[3]));
}

static bool add_events(json_t *events, const uint64_t *all, size_t each)
{
  bool good = true;
  for (size_t rank = 0; rank < ranks_count(); ++rank) {
    good = good && json_array_append_new(events, track(rank)) == 0;
    for (size_t i = 0; i < each; ++i) {
      const uint64_t *span = all + (rank * each + i) * TRACE_NUMBERS;
      good = good &&
             (span[0] >= TRACE_KINDS || json_array_append_new(events, event(rank, span)) == 0);
    }
  }
  return good;
}

static exit_code write_events(const options *o, const uint64_t *all, size_t each)
{
  char *path = timeline_file(o->value[OPTION_TIMELINE], ".json");
  json_t *root = json_pack("{s:[], s:s}", "traceEvents", "displayTimeUnit", "ms");
  json_t *events = json_object_get(root, "traceEvents");
  exit_code code = path && events && add_events(events, all, each)
                     ? EXIT_GOOD
                     : report(EXIT_RUN, "not enough memory for a timeline");
  if (code == EXIT_GOOD &&
      json_dump_file(root, path, JSON_COMPACT | JSON_REAL_PRECISION(12)) != 0) {
    remove(path);
    code = report(EXIT_RUN, "%s: cannot be written", path);
  }
  json_decref(root);
  free(path);
  return code;
}

exit_code trace_write(trace *t, const options *o)
{
  uint64_t *all = NULL;
  size_t each = 0;
  if (!t->on) {
    return EXIT_GOOD;
  }
  exit_code code = gather(t, &all, &each);
  if (code == EXIT_GOOD && t->cut) {
    warn("--timeline: %s contains only the first %zu entries of each process; larger blocks make "
         "fewer entries",
         o->value[OPTION_TIMELINE], t->most);
  }
  if (code == EXIT_GOOD && ranks_own() == 0) {
    code = write_events(o, all, each);
  }
  free(all);
  return ranks_agree(code);
}

void trace_free(trace *t)
{
  free(t->numbers);
  *t = (trace){.on = false};
}
