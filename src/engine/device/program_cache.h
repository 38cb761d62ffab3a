/* Compiled programs are kept on disk from one process to the next.
 *
 * A program is found again by its text, its options, the device, the driver and the library's
 * version. Whatever does not work, on disk or in the driver, means no more than that the program is
 * compiled. */
#ifndef ABUT_DEVICE_PROGRAM_CACHE_H
#define ABUT_DEVICE_PROGRAM_CACHE_H

#include "base/cache_folder.h"
#include <CL/cl.h>
#include <stdbool.h>

extern const cache_kind program_cache_kind;

/* A program is built from these. The text includes no files. */
typedef struct program_recipe {
  cl_context context;
  cl_device_id device;
  const char *text, *options;
} program_recipe;

/* Whether it is worth it for the device. It is not where the driver does better by itself. */
bool program_cache_serves(cl_device_id device);

/* Returns the built program, or NULL where it has to be compiled. */
cl_program program_cache_load(const program_recipe *recipe);

/* Keeps what was built from the recipe. */
void program_cache_store(const program_recipe *recipe, cl_program built);

#endif
