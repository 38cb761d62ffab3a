/* The user's own settings of devices are a JSON file.
 *
 *   {"devices": [{"name": "NVIDIA H200", "platform": "NVIDIA CUDA", "precision": "f32", "lanes": 1,
 *                 "group": 64, "items": 64, "scratch_bytes": 536870912, "driver": "570.86"}]}
 *
 * An entry is of the device with that very name on that very platform, at one precision. `driver`,
 * the one that was measured with, may be missing and is for the reader. An entry with "module":
 * "manifold" is of that module's kernels, before one without, and has no `lanes`. */
#ifndef ABUT_DEVICE_TUNING_FILE_H
#define ABUT_DEVICE_TUNING_FILE_H

#include "engine/device/tuning.h"

typedef struct tuning_entry {
  char name[sizeof((abut_device_info *)0)->name];
  char platform[sizeof((abut_device_info *)0)->platform];
  char driver[sizeof((abut_device_info *)0)->driver];
  abut_precision precision;
  char module[32]; /* "": all */
  tuning values;   /* of a module, lanes mean nothing */
} tuning_entry;

typedef struct tuning_file {
  tuning_entry *entries;
  size_t count;
} tuning_file;

/* Gives the path that the environment asks for, see <abut/tuning.h>; NULL for none. Free it. */
abut_status tuning_file_path(char **path);

/* Reads a file. One that is not there, or a NULL path, holds nothing. On failure *out is empty. */
abut_status tuning_file_read(const char *path, tuning_file *out);
abut_status tuning_file_parse(const char *name, const char *bytes, size_t count, tuning_file *out);
void tuning_file_free(tuning_file *f);

/* Returns the entry of a module, or with NULL the one for all; NULL where the file has none. */
const tuning_entry *tuning_file_find(const tuning_file *f, const abut_device_info *info,
                                     abut_precision precision, const char *module);

/* Reads a file, puts the values in, and writes it whole. */
abut_status tuning_file_put(const char *path, const abut_device_info *info,
                            abut_precision precision, const char *module, const tuning *values);

#endif
