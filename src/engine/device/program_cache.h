/* Keeps compiled programs on disk for later processes.
 *
 * A program is identified by its text, its options, the device, the driver and the library's
 * version. Any failure, on disk or in the driver, only means that the program is compiled. */
#ifndef ABUT_DEVICE_PROGRAM_CACHE_H
#define ABUT_DEVICE_PROGRAM_CACHE_H

#include "base/cache_folder.h"
#include <CL/cl.h>
#include <stdbool.h>

extern const cache_kind program_cache_kind;

/* What a program is built from. The text includes no files. */
typedef struct program_recipe {
  cl_context context;
  cl_device_id device;
  const char *text, *options;
} program_recipe;

/* Returns whether caching pays for the device. It does not if the driver's own cache is better. */
bool program_cache_serves(cl_device_id device);

/* Returns the built program, or NULL if it must be compiled. */
cl_program program_cache_load(const program_recipe *recipe);

/* Stores what was built from the recipe. */
void program_cache_store(const program_recipe *recipe, cl_program built);

#endif
