/* Merges launches of independent tracks into as few launches as possible. Launches of the same
 * kernel that are next in several tracks become one launch of its merged form (MERGED in
 * cl/num/real.h). This form finds the arguments of each launch in a table. */
#include "engine/device/device_private.h"

#include "base/error.h"
#include "base/memory.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES ((size_t)4 << 20) /* per slot; when it is full, its kernels are waited for */
#define STRUCTURE_BYTES 256           /* of a launch's arguments */
#define ROW_HEAD 2                    /* entries of a table's row before the arguments */

typedef struct kept_launch {
  program_id program;
  kernel_id kernel;
  size_t number; /* of its kernel; set by `play` */
  size_t x, y, count;
  launch_argument arguments[KERNEL_ARGUMENTS];
  unsigned char structures[STRUCTURE_BYTES];
} kept_launch;

struct recorder {
  bool on;
  kept_launch *all;
  size_t count, room;
  size_t *tracks; /* start of each in `all` */
  size_t track_count, track_room;
  size_t *heads; /* next launch of each track, in `play` */
  size_t head_room;
  size_t *group; /* launches that are merged */
  size_t group_room;
  size_t *last; /* (kernels, tracks) 1 + index of each kernel's last launch in a track; 0: none */
  size_t last_room;
};

bool device_merges(const device *d)
{
  return d->cl && d->merges;
}

bool device_records(const device *d)
{
  return d->recorder && d->recorder->on;
}

abut_status device_record(device *d)
{
  void *memory = d->recorder;
  if (!device_merges(d)) {
    return ABUT_SUCCESS;
  }
  if (!memory) {
    TRY(allocate(&memory, 1, sizeof(recorder)));
    d->recorder = memory;
  }
  d->recorder->on = true;
  d->recorder->count = d->recorder->track_count = 0;
  return ABUT_SUCCESS;
}

abut_status device_track(device *d)
{
  recorder *r = d->recorder;
  if (!device_records(d)) {
    return ABUT_SUCCESS;
  }
  void *memory = r->tracks;
  TRY(grow(&memory, &r->track_room, r->track_count + 1, sizeof *r->tracks));
  r->tracks = memory;
  r->tracks[r->track_count++] = r->count;
  return ABUT_SUCCESS;
}

abut_status device_keep(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                        const launch_argument *arguments, size_t count)
{
  recorder *r = d->recorder;
  void *memory = r->all;
  size_t used = 0;
  TRY(grow(&memory, &r->room, r->count + 1, sizeof *r->all));
  r->all = memory;
  kept_launch *to = &r->all[r->count];
  to->program = program;
  to->kernel = kernel;
  to->x = x;
  to->y = y;
  to->count = count;
  memcpy(to->arguments, arguments, count * sizeof *arguments);
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].kind == ARGUMENT_STRUCT) {
      if (arguments[i].bytes > STRUCTURE_BYTES - used) {
        return fail(ABUT_ERROR_ARGUMENT, "the structures of a launch have more than %d bytes",
                    STRUCTURE_BYTES);
      }
      memcpy(to->structures + used, arguments[i].structure, arguments[i].bytes);
      used += arguments[i].bytes;
    }
  }
  r->count += 1;
  return ABUT_SUCCESS;
}

/* Sets pointers to structures, because launches no longer move from here on. */
static void find_structures(recorder *r)
{
  for (size_t k = 0; k < r->count; ++k) {
    kept_launch *l = &r->all[k];
    size_t used = 0;
    for (size_t i = 0; i < l->count; ++i) {
      if (l->arguments[i].kind == ARGUMENT_STRUCT) {
        l->arguments[i].structure = l->structures + used;
        used += l->arguments[i].bytes;
      }
    }
  }
}

/* ---- tables ---- */

static bool has_address(const buffer *b)
{
  return b->host && !b->wraps;
}

/* Finds the only buffer of a launch without an address, which is passed separately from the table.
 * Returns false if there are several. */
static bool find_common(const kept_launch *l, buffer **out)
{
  *out = NULL;
  for (size_t i = 0; i < l->count; ++i) {
    buffer *b = l->arguments[i].memory;
    if (b && !has_address(b) && *out && *out != b) {
      return false;
    }
    *out = b && !has_address(b) ? b : *out;
  }
  return true;
}

static size_t slots_of(const launch_argument *a)
{
  return a->kind == ARGUMENT_STRUCT ? (a->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) : 1;
}

static size_t row_of(const kept_launch *l)
{
  size_t width = ROW_HEAD;
  for (size_t i = 0; i < l->count; ++i) {
    width += slots_of(&l->arguments[i]);
  }
  return width;
}

static void put_argument(const device *d, const launch_argument *a, uint64_t *to)
{
  const float narrow = (float)a->number;
  *to = 0;
  if (a->kind == ARGUMENT_BUFFER) {
    *to = a->memory && has_address(a->memory) ? (uint64_t)(uintptr_t)a->memory->host : 0;
  } else if (a->kind == ARGUMENT_INT) {
    memcpy(to, &a->integer, sizeof a->integer);
  } else if (a->kind == ARGUMENT_STRUCT) {
    memcpy(to, a->structure, a->bytes);
  } else if (d->precision == ABUT_FLOAT64) {
    memcpy(to, &a->number, sizeof a->number);
  } else {
    memcpy(to, &narrow, sizeof narrow);
  }
}

static void put_row(const device *d, const kept_launch *l, size_t first, uint64_t *to)
{
  size_t at = ROW_HEAD;
  to[0] = first;
  to[1] = l->x;
  for (size_t i = 0; i < l->count; ++i) {
    put_argument(d, &l->arguments[i], to + at);
    at += slots_of(&l->arguments[i]);
  }
}

/* Makes room for a table that kernels read when they run. *out is NULL if it cannot be shared. */
static abut_status table_room(device *d, size_t bytes, uint64_t **out)
{
  launch_table *t = &d->tables[d->slot];
  *out = NULL;
  if (!t->memory) {
    TRY(buffer_create(d, TABLE_BYTES, &t->memory));
  }
  if (!has_address(t->memory) || bytes > TABLE_BYTES) {
    return ABUT_SUCCESS;
  }
  if (bytes > TABLE_BYTES - t->used) {
    TRY(device_end(d));
    t->used = 0;
  }
  *out = (uint64_t *)((char *)t->memory->host + t->used);
  t->used += bytes;
  return ABUT_SUCCESS;
}

/* ---- launches ---- */

static abut_status launch_alone(device *d, const kept_launch *l)
{
  return device_launch(d, l->program, l->kernel, l->x, l->y, l->arguments, l->count);
}

/* Leaves in `group` the first `count` launches that can be merged, and launches the others. */
static abut_status sift(device *d, size_t *group, size_t *count, buffer **common)
{
  const recorder *r = d->recorder;
  const kept_launch *first = &r->all[group[0]];
  const bool merges = kernel_entry_of(first->kernel)->merged && *count > 1 &&
                      !device_runs_on_host(d, first->kernel);
  size_t kept = 0, items = 0;
  bool some = false;
  for (size_t i = 0; i < *count; ++i) {
    const kept_launch *l = &r->all[group[i]];
    buffer *own;
    const bool fits = merges && find_common(l, &own) && (!own || !some || own == *common) &&
                      l->x <= INT_MAX / 2 / l->y && items <= INT_MAX / 2 - l->x * l->y;
    if (!fits) {
      TRY(launch_alone(d, l));
      continue;
    }
    *common = own ? own : *common;
    some = some || own;
    items += l->x * l->y;
    group[kept++] = group[i];
  }
  *count = kept;
  return ABUT_SUCCESS;
}

static abut_status launch_group(device *d, size_t *group, size_t count)
{
  const recorder *r = d->recorder;
  buffer *common = NULL;
  uint64_t *table = NULL;
  size_t items = 0;
  bool built = false;
  TRY(sift(d, group, &count, &common));
  if (!count) {
    return ABUT_SUCCESS;
  }
  const kept_launch *first = &r->all[group[0]];
  const size_t row = row_of(first);
  TRY(count > 1 ? table_room(d, count * row * sizeof *table, &table) : ABUT_SUCCESS);
  if (!table) {
    for (size_t i = 0; i < count; ++i) {
      TRY(launch_alone(d, &r->all[group[i]]));
    }
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < count; ++i) {
    const kept_launch *l = &r->all[group[i]];
    put_row(d, l, items, table + i * row);
    items += l->x * l->y;
  }
  ++d->counters.launches;
  TRY(opencl_need(d->cl, first->program, first->kernel, &built));
  d->counters.builds += built;
  buffer *beside = common ? common : d->tables[d->slot].memory;
  const opencl_argument arguments[MERGED_ARGUMENTS] = {{.shared = table},
                                                       {.integer = (int)count},
                                                       {.integer = (int)row},
                                                       {.integer = (int)items},
                                                       {.memory = beside->memory,
                                                        .shared = has_address(beside) ? beside->host
                                                                                      : NULL}};
  return opencl_launch_merged(d->cl, first->program, first->kernel, items, arguments);
}

static bool same_kernel(const kept_launch *a, const kept_launch *b)
{
  return a->kernel == b->kernel && a->program == b->program;
}

static size_t end_of(const recorder *r, size_t track)
{
  return track + 1 < r->track_count ? r->tracks[track + 1] : r->count;
}

/* Numbers the kernels, and finds the last launch of each in every track. */
static abut_status find_last(recorder *r)
{
  size_t kernels = 0;
  for (size_t i = 0; i < r->count; ++i) {
    size_t before = i; /* launches usually repeat a recent kernel */
    while (before > 0 && !same_kernel(&r->all[before - 1], &r->all[i])) {
      --before;
    }
    r->all[i].number = before ? r->all[before - 1].number : kernels++;
  }
  void *memory = r->last;
  TRY(grow(&memory, &r->last_room, kernels * r->track_count + 1, sizeof *r->last));
  r->last = memory;
  memset(r->last, 0, kernels * r->track_count * sizeof *r->last);
  for (size_t t = 0; t < r->track_count; ++t) {
    for (size_t i = r->tracks[t]; i < end_of(r, t); ++i) {
      r->last[r->all[i].number * r->track_count + t] = i + 1;
    }
  }
  return ABUT_SUCCESS;
}

/* Returns whether some track has the launch's kernel later but not next. It is then better to wait
 * for it. */
static bool occurs_later(const recorder *r, const kept_launch *of)
{
  const size_t *last = &r->last[of->number * r->track_count];
  for (size_t t = 0; t < r->track_count; ++t) {
    const size_t head = r->heads[t];
    if (last[t] > head + 1 && !same_kernel(&r->all[head], of)) {
      return true;
    }
  }
  return false;
}

/* Returns the next launch of some track whose kernel is to be launched now, or NULL at the end. */
static const kept_launch *choose(const recorder *r)
{
  const kept_launch *any = NULL, *last = NULL;
  bool differ = false;
  for (size_t t = 0; t < r->track_count; ++t) {
    if (r->heads[t] < end_of(r, t)) {
      const kept_launch *l = &r->all[r->heads[t]];
      differ = differ || (any && !same_kernel(any, l));
      any = any ? any : l;
    }
  }
  for (size_t t = 0; differ && t < r->track_count; ++t) {
    if (r->heads[t] < end_of(r, t)) {
      const kept_launch *l = &r->all[r->heads[t]];
      if ((!last || !same_kernel(last, l)) && !occurs_later(r, l)) {
        return l;
      }
      last = l;
    }
  }
  return any;
}

static abut_status play(device *d)
{
  recorder *r = d->recorder;
  void *memory = r->heads;
  TRY(grow(&memory, &r->head_room, r->track_count + 1, sizeof *r->heads));
  r->heads = memory;
  memory = r->group;
  TRY(grow(&memory, &r->group_room, r->track_count + 1, sizeof *r->group));
  r->group = memory;
  find_structures(r);
  TRY(find_last(r));
  for (size_t t = 0; t < r->track_count; ++t) {
    r->heads[t] = r->tracks[t];
  }
  for (const kept_launch *next = choose(r); next; next = choose(r)) {
    size_t count = 0;
    for (size_t t = 0; t < r->track_count; ++t) {
      if (r->heads[t] < end_of(r, t) && same_kernel(&r->all[r->heads[t]], next)) {
        r->group[count++] = r->heads[t]++;
      }
    }
    TRY(launch_group(d, r->group, count));
  }
  return ABUT_SUCCESS;
}

abut_status device_play(device *d, abut_status status)
{
  const bool records = device_records(d);
  if (d->recorder) {
    d->recorder->on = false;
  }
  return status == ABUT_SUCCESS && records ? play(d) : status;
}

void recorder_free(recorder *r)
{
  if (r) {
    free(r->all);
    free(r->tracks);
    free(r->heads);
    free(r->group);
    free(r->last);
    free(r);
  }
}
