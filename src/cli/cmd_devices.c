#include "core/cli.h"

#include "core/json_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_COUNT = 9, CELL = 128 };

static const char *const titles[COLUMN_COUNT] = {"index", "name",  "platform", "type",  "float64",
                                                 "units", "lanes", "settings", "driver"};

typedef char row[COLUMN_COUNT][CELL];

/* A device and its settings, by precision. */
typedef struct listed {
  abut_device_info info;
  abut_tuning tuning[2];
  char unusable[256]; /* reason, or "" */
} listed;

static bool from_file(const abut_tuning *t)
{
  return strncmp(t->source, "file ", 5) == 0;
}

/* Writes "file" or "table: ROW", both if the precisions differ, or that the device is unusable. */
static void fill_settings(const listed *d, char *cell)
{
  const abut_tuning *t = d->tuning;
  if (d->unusable[0]) {
    snprintf(cell, CELL, "unusable");
    return;
  }
  const char *first = from_file(&t[0]) ? "file" : t[0].source,
             *second = from_file(&t[1]) ? "file" : t[1].source;
  const bool same = strcmp(first, second) == 0;
  snprintf(cell, CELL, "%s%s%s", first, same ? "" : ", ", same ? "" : second);
}

static void fill_row(const listed *listed_, row r)
{
  const abut_device_info *d = &listed_->info;
  snprintf(r[0], CELL, "%u", d->index);
  snprintf(r[1], CELL, "%s", d->name);
  snprintf(r[2], CELL, "%s", d->platform);
  snprintf(r[3], CELL, "%s", device_type_name(d->type));
  snprintf(r[4], CELL, "%s", d->has_float64 ? "yes" : "no");
  snprintf(r[5], CELL, "%u", d->compute_units);
  snprintf(r[6], CELL, "%u, %u", d->lanes[ABUT_FLOAT32], d->lanes[ABUT_FLOAT64]);
  fill_settings(listed_, r[7]);
  snprintf(r[8], CELL, "%s", d->driver);
}

static void print_row(char (*cells)[CELL], const int widths[COLUMN_COUNT])
{
  for (int i = 0; i < COLUMN_COUNT - 1; ++i) {
    printf("%-*s  ", widths[i], cells[i]);
  }
  printf("%s\n", cells[COLUMN_COUNT - 1]);
}

static void print_file(const listed *list, size_t count)
{
  for (size_t i = 0; i < 2 * count; ++i) {
    const abut_tuning *t = &list[i / 2].tuning[i % 2];
    if (from_file(t)) {
      printf("Settings from %s.\n", t->source);
      return;
    }
  }
}

static void print_unusable(const listed *list, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (list[i].unusable[0]) {
      printf("Unusable: %s.\n", list[i].unusable);
    }
  }
}

/* Printed if only the host path is available, which is slow. */
static void print_missing(size_t count)
{
  if (count == 1) {
    printf("There is no OpenCL device. To use the processor as one, install %s.\n", OPENCL_DRIVER);
  }
}

static exit_code print_table(const listed *list, size_t count, uint32_t preferred)
{
  row *rows = calloc(count + 1, sizeof *rows);
  int widths[COLUMN_COUNT] = {0};
  if (!rows) {
    return report(EXIT_RUN, "no memory for %zu devices", count);
  }
  for (size_t i = 0; i <= count; ++i) {
    if (i) {
      fill_row(&list[i - 1], rows[i]);
    }
    for (int c = 0; c < COLUMN_COUNT; ++c) {
      if (!i) {
        snprintf(rows[0][c], CELL, "%s", titles[c]);
      }
      const int width = (int)strlen(rows[i][c]);
      widths[c] = width > widths[c] ? width : widths[c];
    }
  }
  for (size_t i = 0; i <= count; ++i) {
    print_row(rows[i], widths);
  }
  printf("Default device (without --device): %u. Column lanes: for float32, float64.\n", preferred);
  print_file(list, count);
  print_unusable(list, count);
  print_missing(count);
  free(rows);
  return EXIT_GOOD;
}

static json_t *describe_tuning(const abut_tuning *t)
{
  return json_pack("{s:I, s:I, s:I, s:I, s:o}", "lanes", (json_int_t)t->lanes, "group",
                   (json_int_t)t->group, "items", (json_int_t)t->items, "scratch_bytes",
                   (json_int_t)t->scratch_bytes, "source", json_text(t->source));
}

static json_t *describe_settings(const listed *d)
{
  return d->unusable[0] ? json_null()
                        : json_pack("{s:o, s:o}", "f32", describe_tuning(&d->tuning[0]), "f64",
                                    describe_tuning(&d->tuning[1]));
}

static json_t *describe(const listed *listed_, bool preferred)
{
  const abut_device_info *d = &listed_->info;
  return json_pack("{s:i, s:o, s:o, s:o, s:s, s:b, s:i, s:i, s:{s:i, s:i}, s:I, s:I, s:o, s:o,"
                   " s:s, s:o, s:o, s:b}",
                   "index", (int)d->index, "name", json_text(d->name), "platform",
                   json_text(d->platform), "vendor", json_text(d->vendor), "type",
                   device_type_name(d->type), "float64", (int)d->has_float64, "compute_units",
                   (int)d->compute_units, "clock_mhz", (int)d->clock_mhz, "lanes", "f32",
                   (int)d->lanes[0], "f64", (int)d->lanes[1], "memory_bytes",
                   (json_int_t)d->memory_bytes, "allocation_bytes", (json_int_t)d->allocation_bytes,
                   "driver", json_text(d->driver), "version", json_text(d->version), "architecture",
                   d->architecture, "settings", describe_settings(listed_), "unusable",
                   listed_->unusable[0] ? json_text(listed_->unusable) : json_null(), "default",
                   (int)preferred);
}

static exit_code print_json(const listed *all, size_t count, uint32_t preferred)
{
  json_t *list = json_array();
  bool good = list != NULL;
  for (size_t i = 0; i < count; ++i) {
    good = good && json_array_append_new(list, describe(&all[i], i == preferred)) == 0;
  }
  good = good && json_dumpf(list, stdout, JSON_INDENT(1)) == 0;
  json_decref(list);
  putchar('\n');
  return good ? EXIT_GOOD
              : report(EXIT_RUN, "not enough memory for %zu devices or their text", count);
}

/* A driver that does not respond only affects the settings of its own devices. */
static exit_code find_settings(listed *d)
{
  for (int p = 0; p < 2; ++p) {
    const abut_status status =
      abut_device_tuning(d->info.index, (abut_precision)p, NULL, &d->tuning[p]);
    const bool of_opencl = status < 0 && status > ABUT_ERROR_ARGUMENT;
    if (!of_opencl) {
      CLI_TRY(report_status(status));
      continue;
    }
    snprintf(d->unusable, sizeof d->unusable, "%s", abut_last_error());
  }
  return EXIT_GOOD;
}

static exit_code list_devices(listed *list, abut_device_info *infos, size_t *count)
{
  const size_t room = *count;
  CLI_TRY(report_status(abut_list_devices(infos, room, count)));
  *count = *count < room ? *count : room;
  for (size_t i = 0; i < *count; ++i) {
    list[i].info = infos[i];
    CLI_TRY(find_settings(&list[i]));
  }
  return EXIT_GOOD;
}

exit_code cmd_devices(const options *o)
{
  size_t count = 0;
  uint32_t preferred = 0;
  CLI_TRY(need_operands(o, 0, ""));
  CLI_TRY(report_status(abut_list_devices(NULL, 0, &count)));
  abut_device_info *infos = calloc(count, sizeof *infos);
  listed *list = calloc(count, sizeof *list);
  exit_code code = EXIT_GOOD;
  if (!infos || !list) {
    code = report(EXIT_RUN, "no memory for %zu devices", count);
    goto done;
  }
  CLI_TRY_DONE(list_devices(list, infos, &count));
  CLI_TRY_DONE(report_status(abut_find_device(NULL, &preferred)));
  code = o->value[OPTION_JSON] ? print_json(list, count, preferred)
                               : print_table(list, count, preferred);
done:
  free(infos);
  free(list);
  return code;
}
