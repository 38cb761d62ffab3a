/* The user's own device settings, in a JSON file.
 *
 * {"devices": [{"name": "NVIDIA H200", "platform": "NVIDIA CUDA", "precision": "f32", "lanes": 1,
 * "group": 64, "items": 64, "scratch_bytes": 536870912, "driver": "570.86"}]}
 *
 * An entry applies to the device with exactly that name on exactly that platform, at one precision.
 * `driver`, which was used for the measurement, is optional and only informative. An entry with
 * "module": "manifold" applies to that module's kernels, has priority over one without, and has no
 * `lanes`. */
#ifndef ABUT_DEVICE_TUNING_FILE_H
#define ABUT_DEVICE_TUNING_FILE_H

#include "engine/device/tuning.h"

typedef struct tuning_entry {
  char name[sizeof((abut_device_info *)0)->name];
  char platform[sizeof((abut_device_info *)0)->platform];
  char driver[sizeof((abut_device_info *)0)->driver];
  abut_precision precision;
  char module[32]; /* "": all */
  tuning values;   /* `lanes` is unused if there is a module */
} tuning_entry;

typedef struct tuning_file {
  tuning_entry *entries;
  size_t count;
} tuning_file;

/* Returns the path that the environment selects, see <abut/tuning.h>, or NULL for none. The caller
 * frees it. */
abut_status tuning_file_path(char **path);

/* Reads a file. A missing file or a NULL path gives an empty result. On failure *out is empty. */
abut_status tuning_file_read(const char *path, tuning_file *out);
abut_status tuning_file_parse(const char *name, const char *bytes, size_t count, tuning_file *out);
void tuning_file_free(tuning_file *f);

/* Returns the entry of a module, or the one for all modules if `module` is NULL. Returns NULL if
 * the file has none. */
const tuning_entry *tuning_file_find(const tuning_file *f, const abut_device_info *info,
                                     abut_precision precision, const char *module);

/* Reads a file, sets the values, and writes the whole file again. */
abut_status tuning_file_put(const char *path, const abut_device_info *info,
                            abut_precision precision, const char *module, const tuning *values);

#endif
