/* Launch parameters come from measurements: the user's file above a table. */
#ifndef ABUT_DEVICE_TUNING_H
#define ABUT_DEVICE_TUNING_H

#include <abut/device.h>
#include <stddef.h>

/* These are of one device at one precision, for a module of kernels. Bodies lie in memory by lanes,
 * which are therefore one for all modules. */
typedef struct tuning {
  uint32_t lanes;         /* elements a work-item carries */
  uint32_t group;         /* work-items of a work-group where a kernel works in groups */
  uint32_t items;         /* work-items of a work-group elsewhere */
  uint64_t scratch_bytes; /* device memory for one chunk of poses */
} tuning;

/* ---- the table ---- */

/* NULL texts and ANY_TYPE fit all; the others must be part of what the device calls itself, an
 * architecture all of it. */
#define ANY_TYPE (-1)
typedef struct tuning_row {
  const char *label; /* for a reader */
  const char *name, *architecture, *vendor, *platform;
  int type;
  uint32_t lanes[2]; /* by abut_precision */
  uint32_t group, items;
  uint64_t scratch_bytes;
  const char *module; /* whose kernels they are for, their lanes aside; NULL: all */
} tuning_row;

/* Returns the row that says most about a device: the module's own, before the device's name, before
 * its architecture, before its vendor or platform, before its type; of equals the first. module:
 * NULL for the rows of all modules alone. NULL where none fits. */
const tuning_row *tuning_pick(const tuning_row *rows, size_t count, const abut_device_info *info,
                              const char *module);

/* Returns that of the library's own table, which has a row for everything. */
const tuning_row *tuning_row_of(const abut_device_info *info, const char *module);
tuning tuning_of_row(const tuning_row *row, abut_precision precision);

/* Whether the numbers are ones that a context takes; `what` becomes the range of the one that is
 * not, and *which its place in the struct. */
bool tuning_holds(const tuning *t, int *which, const char **what);

/* ---- both ---- */

struct tuning_file;

/* Returns the file's settings of the device for a module, else its settings for all, else the
 * table's. `file` may be NULL, as may `module`: what holds for all. *row becomes NULL for the
 * file's; `row` may be NULL. */
tuning tuning_find(const struct tuning_file *file, const abut_device_info *info,
                   abut_precision precision, const char *module, const tuning_row **row);

/* Finds the same by the user's file for every module in turn, with values of the caller's where
 * they are not 0. One lane is the GPUs' way on every OpenCL device, with their work-groups: so a
 * CPU can test it. */
abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out);

#endif
