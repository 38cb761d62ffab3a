#include "device/tuning.h"

#include "base/error.h"
#include "device/discovery.h"
#include "device/tuning_file.h"
#include <abut/tuning.h>
#include <stdio.h>
#include <stdlib.h>

tuning tuning_find(const tuning_file *file, const abut_device_info *info,
                   abut_precision precision, const tuning_row **row)
{
  const tuning_entry *entry = file ? tuning_file_find(file, info, precision) : NULL;
  const tuning_row *found = tuning_row_of(info);
  tuning t = tuning_of_row(found, precision);
  if (entry && info->type == ABUT_DEVICE_HOST) {
    t.scratch_bytes = entry->values.scratch_bytes;
  } else if (entry) {
    t = entry->values;
  }
  if (row) {
    *row = entry ? NULL : found;
  }
  return t;
}

/* Reads the user's file and finds a device; *path is for the caller to free. */
static abut_status find(const abut_device_info *info, abut_precision precision, tuning *out,
                        const tuning_row **row, char **path)
{
  tuning_file file;
  TRY(tuning_file_path(path));
  TRY(tuning_file_read(*path, &file));
  *out = tuning_find(&file, info, precision, row);
  tuning_file_free(&file);
  return ABUT_SUCCESS;
}

abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out)
{
  char *path = NULL;
  const abut_status status = find(info, precision, out, NULL, &path);
  free(path);
  TRY(status);
  if (wanted->lanes == 1 && out->lanes != 1) {
    const abut_device_info any = {.type = ABUT_DEVICE_OTHER};
    const tuning_row *row = tuning_row_of(&any);
    out->group = row->group;
    out->items = row->items;
  }
  out->lanes = wanted->lanes ? wanted->lanes : out->lanes;
  out->group = wanted->group ? wanted->group : out->group;
  out->items = wanted->items ? wanted->items : out->items;
  out->scratch_bytes = wanted->scratch_bytes ? wanted->scratch_bytes : out->scratch_bytes;
  return ABUT_SUCCESS;
}

static abut_status check_precision(abut_precision precision)
{
  return precision == ABUT_FLOAT32 || precision == ABUT_FLOAT64
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "there is no precision %d", (int)precision);
}

abut_status abut_device_tuning(uint32_t device, abut_precision precision, abut_tuning *out)
{
  found_device found;
  tuning t;
  const tuning_row *row = NULL;
  char *path = NULL;
  abut_status status = ABUT_SUCCESS;
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_device_tuning needs a place for its answer");
  }
  TRY(check_precision(precision));
  TRY(discover(device, &found));
  TRY_DONE(find(&found.info, precision, &t, &row, &path));
  *out = (abut_tuning){t.lanes, t.group, t.items, t.scratch_bytes, ""};
  snprintf(out->source, sizeof out->source, row ? "table: %s" : "file %s",
           row ? row->label : path);
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
                             const abut_tuning *values)
{
  found_device found;
  int which = 0;
  const char *range = NULL;
  if (!path || !values) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_save_tuning needs a path and settings");
  }
  TRY(check_precision(precision));
  const tuning t = {values->lanes, values->group, values->items, values->scratch_bytes};
  if (!tuning_holds(&t, &which, &range)) {
    static const char *const names[] = {"lanes", "group", "items", "scratch_bytes"};
    return fail(ABUT_ERROR_ARGUMENT, "tuning: %s is not %s", names[which], range);
  }
  TRY(discover(device, &found));
  return tuning_file_put(path, &found.info, precision, &t);
}
