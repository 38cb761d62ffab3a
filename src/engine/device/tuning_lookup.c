#include "engine/device/tuning.h"

#include "base/error.h"
#include "engine/device/discovery.h"
#include "engine/device/kernels.h"
#include "engine/device/tuning_file.h"
#include <abut/tuning.h>
#include <stdio.h>
#include <stdlib.h>

/* The host path always works without groups and with one lane, whatever a file states. */
static void apply_tuning(const tuning *from, const abut_device_info *info, tuning *to)
{
  if (info->type != ABUT_DEVICE_HOST) {
    to->group = from->group;
    to->items = from->items;
  }
  to->scratch_bytes = from->scratch_bytes;
}

tuning tuning_find(const tuning_file *file, const abut_device_info *info, abut_precision precision,
                   const char *module, const tuning_row **row)
{
  const tuning_entry *all = file ? tuning_file_find(file, info, precision, NULL) : NULL;
  const tuning_entry *own = file && module ? tuning_file_find(file, info, precision, module) : NULL;
  const tuning_entry *entry = own ? own : all;
  const tuning_row *found = tuning_row_of(info, module);
  tuning t = tuning_of_row(found, info, precision);
  t.lanes = tuning_row_of(info, NULL)->lanes[precision];
  if (all && info->type != ABUT_DEVICE_HOST) {
    t.lanes = all->values.lanes;
  }
  if (entry) {
    apply_tuning(&entry->values, info, &t);
  }
  if (row) {
    *row = entry ? NULL : found;
  }
  return t;
}

static abut_status read_users_file(char **path, tuning_file *file)
{
  TRY(tuning_file_path(path));
  return tuning_file_read(*path, file);
}

static void apply_wanted(const tuning *wanted, tuning *out)
{
  if (wanted->lanes == 1 && out->lanes != 1) {
    const abut_device_info any = {.type = ABUT_DEVICE_OTHER};
    const tuning_row *row = tuning_row_of(&any, NULL);
    out->group = row->group;
    out->items = row->items;
  }
  out->lanes = wanted->lanes ? wanted->lanes : out->lanes;
  out->group = wanted->group ? wanted->group : out->group;
  out->items = wanted->items ? wanted->items : out->items;
  out->scratch_bytes = wanted->scratch_bytes ? wanted->scratch_bytes : out->scratch_bytes;
}

abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out)
{
  char *path = NULL;
  tuning_file file;
  const abut_status status = read_users_file(&path, &file);
  free(path);
  TRY(status);
  for (int i = 0; i < MODULE_COUNT; ++i) {
    out[i] = tuning_find(&file, info, precision, module_name((module_id)i), NULL);
    apply_wanted(wanted, &out[i]);
  }
  tuning_file_free(&file);
  return ABUT_SUCCESS;
}

static abut_status check_precision(abut_precision precision)
{
  return precision == ABUT_FLOAT32 || precision == ABUT_FLOAT64
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown precision %d", (int)precision);
}

static abut_status check_module(const char *module)
{
  return !module || module_named(module) != MODULE_COUNT
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "there is no kernel module \"%s\"", module);
}

abut_status abut_device_tuning(uint32_t device, abut_precision precision, const char *module,
                               abut_tuning *out)
{
  found_device found;
  tuning_file file;
  const tuning_row *row = NULL;
  char *path = NULL;
  abut_status status = ABUT_SUCCESS;
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_device_tuning needs a place for its answer");
  }
  TRY(check_precision(precision));
  TRY(check_module(module));
  TRY(discover(device, &found));
  TRY_DONE(read_users_file(&path, &file));
  const tuning t = tuning_find(&file, &found.info, precision, module, &row);
  tuning_file_free(&file);
  *out = (abut_tuning){t.lanes, t.group, t.items, t.scratch_bytes, ""};
  snprintf(out->source, sizeof out->source, row ? "table: %s" : "file %s", row ? row->label : path);
done:
  free(path);
  return status;
}

abut_status abut_tuning_path(char **path)
{
  return path ? tuning_file_path(path)
              : fail(ABUT_ERROR_ARGUMENT, "abut_tuning_path needs a place for its answer");
}

abut_status abut_save_tuning(const char *path, uint32_t device, abut_precision precision,
                             const char *module, const abut_tuning *values)
{
  found_device found;
  int which = 0;
  const char *range = NULL;
  if (!path || !values) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_save_tuning: the path or the settings are NULL");
  }
  TRY(check_precision(precision));
  TRY(check_module(module));
  const tuning t = {module ? 1 : values->lanes, values->group, values->items,
                    values->scratch_bytes};
  if (!tuning_holds(&t, &which, &range)) {
    static const char *const names[] = {"lanes", "group", "items", "scratch_bytes"};
    return fail(ABUT_ERROR_ARGUMENT, "tuning: %s must be %s", names[which], range);
  }
  TRY(discover(device, &found));
  return tuning_file_put(path, &found.info, precision, module, &t);
}
