/* Measured launch parameters: the user's file has priority over the built-in table. */
#ifndef ABUT_DEVICE_TUNING_H
#define ABUT_DEVICE_TUNING_H

#include <abut/device.h>
#include <stddef.h>

/* Settings of one device at one precision, for one module of kernels. The layout of bodies in
 * memory depends on `lanes`, which is therefore the same for all modules. */
typedef struct tuning {
  uint32_t lanes;         /* elements per work-item */
  uint32_t group;         /* work-items per work-group in kernels that work in groups */
  uint32_t items;         /* work-items per work-group in other kernels */
  uint64_t scratch_bytes; /* device memory for one chunk of poses */
} tuning;

/* ---- the table ---- */

/* NULL texts and ANY_TYPE match everything. Other texts must be part of the device's own name or
 * description; an architecture must match exactly. */
#define ANY_TYPE (-1)
typedef struct tuning_row {
  const char *label; /* for human readers */
  const char *name, *architecture, *vendor, *platform;
  int type;
  uint32_t lanes[2]; /* by abut_precision */
  uint32_t group, items;
  uint64_t scratch_bytes; /* 0: by the device's memory */
  const char *module;     /* module that the row applies to, except `lanes`; NULL: all */
} tuning_row;

/* Returns the most specific row for a device. A row for the module has priority over one for the
 * device's name, then its architecture, its vendor or platform, its type; the first of equals is
 * used. module: NULL for only the rows of all modules. Returns NULL if none matches. */
const tuning_row *tuning_pick(const tuning_row *rows, size_t count, const abut_device_info *info,
                              const char *module);

/* Does the same with the library's own table, which has a row for every device. */
const tuning_row *tuning_row_of(const abut_device_info *info, const char *module);
tuning tuning_of_row(const tuning_row *row, const abut_device_info *info, abut_precision precision);

/* Returns whether a context accepts the numbers. Otherwise `what` is the allowed range of the first
 * bad one, and *which its index in the struct. */
bool tuning_holds(const tuning *t, int *which, const char **what);

/* ---- file and table ---- */

struct tuning_file;

/* Returns the file's settings of the device for a module, else its settings for all modules, else
 * the table's. `file` may be NULL. `module` may be NULL for the settings of all modules. *row
 * becomes NULL for the file's settings; `row` may be NULL. */
tuning tuning_find(const struct tuning_file *file, const abut_device_info *info,
                   abut_precision precision, const char *module, const tuning_row **row);

/* Does the same with the user's file for every module in turn. Nonzero values of the caller have
 * priority. With one lane, every OpenCL device works in the GPUs' way, with their work-groups, so
 * that a CPU can test it. */
abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out);

#endif
