#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_COUNT = 8, CELL = 128 };

static const char *const titles[COLUMN_COUNT] = {"index", "name",  "platform", "type",
                                                 "float64", "units", "lanes",  "driver"};

typedef char row[COLUMN_COUNT][CELL];

static void fill_row(const abut_device_info *d, row r)
{
  snprintf(r[0], CELL, "%u", d->index);
  snprintf(r[1], CELL, "%s", d->name);
  snprintf(r[2], CELL, "%s", d->platform);
  snprintf(r[3], CELL, "%s", device_type_name(d->type));
  snprintf(r[4], CELL, "%s", d->has_float64 ? "yes" : "no");
  snprintf(r[5], CELL, "%u", d->compute_units);
  snprintf(r[6], CELL, "%u, %u", d->lanes[ABUT_FLOAT32], d->lanes[ABUT_FLOAT64]);
  snprintf(r[7], CELL, "%s", d->driver);
}

static void print_row(char (*cells)[CELL], const int widths[COLUMN_COUNT])
{
  for (int i = 0; i < COLUMN_COUNT - 1; ++i) {
    printf("%-*s  ", widths[i], cells[i]);
  }
  printf("%s\n", cells[COLUMN_COUNT - 1]);
}

static exit_code print_table(const abut_device_info *infos, size_t count, uint32_t preferred)
{
  row *rows = calloc(count + 1, sizeof *rows);
  int widths[COLUMN_COUNT] = {0};
  if (!rows) {
    return report(EXIT_RUN, "no memory for %zu devices", count);
  }
  for (size_t i = 0; i <= count; ++i) {
    if (i) {
      fill_row(&infos[i - 1], rows[i]);
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
  printf("Without --device: %u. lanes: of float32, float64.\n", preferred);
  free(rows);
  return EXIT_GOOD;
}

/* A driver may call itself anything; what is not UTF-8 becomes "?". */
static json_t *text(const char *s)
{
  json_t *value = json_string(s);
  return value ? value : json_string("?");
}

static json_t *describe(const abut_device_info *d, bool preferred)
{
  return json_pack("{s:i, s:o, s:o, s:o, s:s, s:b, s:i, s:i, s:{s:i, s:i}, s:I, s:I, s:o, s:o,"
                   " s:b}",
                   "index", (int)d->index, "name", text(d->name), "platform", text(d->platform),
                   "vendor", text(d->vendor), "type", device_type_name(d->type), "float64",
                   (int)d->has_float64, "compute_units", (int)d->compute_units, "clock_mhz",
                   (int)d->clock_mhz, "lanes", "f32", (int)d->lanes[0], "f64", (int)d->lanes[1],
                   "memory_bytes", (json_int_t)d->memory_bytes, "allocation_bytes",
                   (json_int_t)d->allocation_bytes, "driver", text(d->driver), "version",
                   text(d->version), "default", (int)preferred);
}

static exit_code print_json(const abut_device_info *infos, size_t count, uint32_t preferred)
{
  json_t *list = json_array();
  bool good = list != NULL;
  for (size_t i = 0; i < count; ++i) {
    good = good && json_array_append_new(list, describe(&infos[i], i == preferred)) == 0;
  }
  good = good && json_dumpf(list, stdout, JSON_INDENT(1)) == 0;
  json_decref(list);
  putchar('\n');
  return good ? EXIT_GOOD
              : report(EXIT_RUN, "no memory for %zu devices, or no place for their text", count);
}

exit_code cmd_devices(const options *o)
{
  size_t count = 0, room = 0;
  uint32_t preferred = 0;
  CLI_TRY(need_operands(o, 0, ""));
  CLI_TRY(report_status(abut_list_devices(NULL, 0, &count)));
  abut_device_info *infos = calloc(count, sizeof *infos);
  if (!infos) {
    return report(EXIT_RUN, "no memory for %zu devices", count);
  }
  room = count;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(report_status(abut_list_devices(infos, room, &count)));
  CLI_TRY_DONE(report_status(abut_find_device(NULL, &preferred)));
  count = count < room ? count : room;
  code = o->value[OPTION_JSON] ? print_json(infos, count, preferred)
                               : print_table(infos, count, preferred);
done:
  free(infos);
  return code;
}
