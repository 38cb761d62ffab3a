#include "engine/device/tuning_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/device/kernels.h"
#include "format/json.h"
#include "format/whole_file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- path ---- */

static abut_status join(const char *folder, const char *rest, char **path)
{
  const size_t room = strlen(folder) + strlen(rest) + 1;
  void *memory = NULL;
  TRY(allocate(&memory, room, 1));
  *path = memory;
  snprintf(*path, room, "%s%s", folder, rest);
  return ABUT_SUCCESS;
}

abut_status tuning_file_path(char **path)
{
  const char *named = getenv("ABUT_TUNING"), *config = getenv("XDG_CONFIG_HOME"),
             *home = getenv("HOME");
  *path = NULL;
  if (named) {
    return *named ? join(named, "", path) : ABUT_SUCCESS;
  }
  if (config && config[0] == '/') { /* the XDG specification ignores relative paths */
    return join(config, "/abut/tuning.json", path);
  }
  return home && *home ? join(home, "/.config/abut/tuning.json", path) : ABUT_SUCCESS;
}

/* ---- reading ---- */

/* A driver's names may contain any bytes, but JSON allows only UTF-8. */
static void plain(char *to, size_t room, const char *from)
{
  size_t i = 0;
  for (; from[i] && i + 1 < room; ++i) {
    to[i] = (char)(from[i] >= ' ' && from[i] <= '~' ? from[i] : '?');
  }
  to[i] = '\0';
}

static abut_status read_text(const json_file *f, const json_at *at, char *to, size_t room)
{
  const char *text = NULL;
  TRY(json_text(f, at, &text));
  if (strlen(text) >= room) {
    return json_fail(f, at, "is longer than %zu bytes", room - 1);
  }
  strcpy(to, text);
  return ABUT_SUCCESS;
}

static abut_status need_text(const json_file *f, const json_at *entry, const char *key, char *to,
                             size_t room)
{
  json_at at;
  TRY(json_need(f, entry, key, &at));
  return read_text(f, &at, to, room);
}

static abut_status read_precision(const json_file *f, const json_at *entry, abut_precision *out)
{
  json_at at;
  const char *text = NULL;
  TRY(json_need(f, entry, "precision", &at));
  TRY(json_text(f, &at, &text));
  if (strcmp(text, "f32") != 0 && strcmp(text, "f64") != 0) {
    return json_fail(f, &at, "must be \"f32\" or \"f64\"");
  }
  *out = strcmp(text, "f64") == 0 ? ABUT_FLOAT64 : ABUT_FLOAT32;
  return ABUT_SUCCESS;
}

static const char *const value_keys[] = {"lanes", "group", "items", "scratch_bytes"};

/* `lanes` is common to all modules. */
static abut_status read_module(const json_file *f, const json_at *entry, tuning_entry *e)
{
  json_at at;
  *e->module = '\0';
  if (!json_find(entry, "module", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(read_text(f, &at, e->module, sizeof e->module));
  if (module_named(e->module) == MODULE_COUNT) {
    return json_fail(f, &at, "unknown kernel module");
  }
  return json_find(entry, "lanes", &at)
           ? json_fail(f, &at, "must not be given with a module: all modules share the lanes")
           : ABUT_SUCCESS;
}

static abut_status read_values(const json_file *f, const json_at *entry, bool lanes, tuning *out)
{
  json_at at[4];
  json_int_t numbers[4] = {1};
  for (int i = lanes ? 0 : 1; i < 4; ++i) {
    TRY(json_need(f, entry, value_keys[i], &at[i]));
    TRY(json_whole(f, &at[i], (json_int_t)1 << 40, &numbers[i]));
    numbers[i] = i < 3 && numbers[i] > UINT32_MAX ? 0 : numbers[i]; /* which no range contains */
  }
  *out = (tuning){(uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2],
                  (uint64_t)numbers[3]};
  int which = 0;
  const char *range = NULL;
  return tuning_holds(out, &which, &range) ? ABUT_SUCCESS
                                           : json_fail(f, &at[which], "must be %s", range);
}

static abut_status read_entry(const json_file *f, const json_at *at, tuning_entry *e)
{
  static const char *const keys[] = {"name",  "platform", "precision",     "module", "lanes",
                                     "group", "items",    "scratch_bytes", "driver"};
  json_at driver;
  TRY(json_check_keys(f, at, keys, sizeof keys / sizeof *keys));
  TRY(need_text(f, at, "name", e->name, sizeof e->name));
  TRY(need_text(f, at, "platform", e->platform, sizeof e->platform));
  TRY(read_precision(f, at, &e->precision));
  TRY(read_module(f, at, e));
  TRY(read_values(f, at, !*e->module, &e->values));
  return json_find(at, "driver", &driver) ? read_text(f, &driver, e->driver, sizeof e->driver)
                                          : ABUT_SUCCESS;
}

static bool same_device(const tuning_entry *a, const tuning_entry *b)
{
  return a->precision == b->precision && strcmp(a->module, b->module) == 0 &&
         strcmp(a->name, b->name) == 0 && strcmp(a->platform, b->platform) == 0;
}

static abut_status read_root(const json_file *f, const json_at *root, tuning_file *out)
{
  static const char *const keys[] = {"devices"};
  json_at list;
  void *memory = NULL;
  TRY(json_check_keys(f, root, keys, 1));
  TRY(json_need(f, root, "devices", &list));
  TRY(json_check_array(f, &list, 0));
  const size_t count = json_array_size(list.value);
  TRY(allocate(&memory, count, sizeof *out->entries));
  out->entries = memory;
  for (; out->count < count; ++out->count) {
    const json_at at = json_element(&list, out->count);
    tuning_entry *e = &out->entries[out->count];
    TRY(read_entry(f, &at, e));
    for (size_t i = 0; i < out->count; ++i) {
      if (same_device(e, &out->entries[i])) {
        return json_fail(f, &at, "names the same device as devices[%zu]", i);
      }
    }
  }
  return ABUT_SUCCESS;
}

abut_status tuning_file_parse(const char *name, const char *bytes, size_t count, tuning_file *out)
{
  json_file f;
  json_at root;
  *out = (tuning_file){NULL, 0};
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = read_root(&f, &root, out);
  }
  json_file_close(&f);
  if (status != ABUT_SUCCESS) {
    tuning_file_free(out);
  }
  return status;
}

abut_status tuning_file_read(const char *path, tuning_file *out)
{
  struct stat info;
  char *bytes = NULL;
  size_t count = 0;
  *out = (tuning_file){NULL, 0};
  if (!path || (stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR))) {
    return ABUT_SUCCESS;
  }
  TRY(whole_file_read(path, &bytes, &count));
  const abut_status status = tuning_file_parse(path, bytes, count, out);
  free(bytes);
  return status;
}

void tuning_file_free(tuning_file *f)
{
  free(f->entries);
  *f = (tuning_file){NULL, 0};
}

static tuning_entry entry_of(const abut_device_info *info, abut_precision precision,
                             const char *module)
{
  tuning_entry e = {.precision = precision};
  plain(e.module, sizeof e.module, module ? module : "");
  plain(e.name, sizeof e.name, info->name);
  plain(e.platform, sizeof e.platform, info->platform);
  plain(e.driver, sizeof e.driver, info->driver);
  return e;
}

const tuning_entry *tuning_file_find(const tuning_file *f, const abut_device_info *info,
                                     abut_precision precision, const char *module)
{
  const tuning_entry wanted = entry_of(info, precision, module);
  for (size_t i = 0; i < f->count; ++i) {
    if (same_device(&wanted, &f->entries[i])) {
      return &f->entries[i];
    }
  }
  return NULL;
}

/* ---- writing ---- */

static json_t *describe(const tuning_entry *e)
{
  json_t *o = json_pack("{s:s, s:s, s:s}", "name", e->name, "platform", e->platform, "precision",
                        e->precision == ABUT_FLOAT64 ? "f64" : "f32");
  json_t *first = *e->module ? json_pack("{s:s}", "module", e->module)
                             : json_pack("{s:I}", value_keys[0], (json_int_t)e->values.lanes);
  json_t *rest = json_pack("{s:I, s:I, s:I}", value_keys[1], (json_int_t)e->values.group,
                           value_keys[2], (json_int_t)e->values.items, value_keys[3],
                           (json_int_t)e->values.scratch_bytes);
  if (!first || !rest || json_object_update(o, first) != 0 || json_object_update(o, rest) != 0) {
    json_decref(o);
    o = NULL;
  }
  json_decref(first);
  json_decref(rest);
  if (o && *e->driver && json_object_set_new(o, "driver", json_string(e->driver)) != 0) {
    json_decref(o);
    o = NULL;
  }
  return o;
}

static abut_status write_entries(const char *path, const tuning_file *f)
{
  json_t *list = json_array(), *root = list ? json_pack("{s:o}", "devices", list) : NULL;
  bool good = root != NULL;
  for (size_t i = 0; good && i < f->count; ++i) {
    good = json_array_append_new(list, describe(&f->entries[i])) == 0;
  }
  char *text = good ? json_dumps(root, JSON_INDENT(1)) : NULL;
  const abut_status status = text ? whole_file_write(path, text, strlen(text))
                                  : fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", path);
  free(text);
  json_decref(root);
  return status;
}

abut_status tuning_file_put(const char *path, const abut_device_info *info,
                            abut_precision precision, const char *module, const tuning *values)
{
  tuning_file f;
  abut_status status = ABUT_SUCCESS;
  TRY(tuning_file_read(path, &f));
  tuning_entry e = entry_of(info, precision, module);
  e.values = *values;
  size_t i = 0, room = f.count;
  while (i < f.count && !same_device(&e, &f.entries[i])) {
    ++i;
  }
  if (i == f.count) {
    void *entries = f.entries;
    status = grow(&entries, &room, f.count + 1, sizeof *f.entries);
    f.entries = entries;
    TRY_DONE(status);
    ++f.count;
  }
  f.entries[i] = e;
  status = write_entries(path, &f);
done:
  tuning_file_free(&f);
  return status;
}
