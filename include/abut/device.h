/* Devices and contexts.
 *
 * A context is one device opened at one precision: its queue, its compiled kernels and everything
 * resident on it. Handles are values, cheap to copy; a handle whose object was destroyed is found
 * stale by its generation and gives ABUT_ERROR_HANDLE.
 *
 * Threads: different contexts may be used from different threads at once; one context, with its
 * bodies and pairs, by one thread at a time.
 */
#ifndef ABUT_DEVICE_H
#define ABUT_DEVICE_H

#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum abut_precision {
  ABUT_FLOAT32 = 0,
  ABUT_FLOAT64 = 1
} abut_precision;

typedef enum abut_device_type {
  ABUT_DEVICE_HOST = 0, /* the kernels compiled as C11 into the library: slow, always there */
  ABUT_DEVICE_CPU = 1,
  ABUT_DEVICE_GPU = 2,
  ABUT_DEVICE_OTHER = 3
} abut_device_type;

typedef struct abut_device_info {
  uint32_t index;            /* position in abut_list_devices */
  abut_device_type type;
  bool has_float64;
  uint32_t compute_units;
  uint32_t clock_mhz;        /* as the driver tells it; 0 where it does not */
  uint32_t lanes[2];         /* lane width of the kernels, by abut_precision */
  uint64_t memory_bytes;     /* global memory */
  uint64_t allocation_bytes; /* largest single buffer */
  char name[128];            /* "NVIDIA H200", "host" */
  char platform[64];         /* "Portable Computing Language" */
  char vendor[64];
  char driver[64];           /* driver version */
  char version[64];          /* OpenCL version of the device */
  char architecture[32];     /* "sm_90", "gfx90a"; "" where the driver does not tell */
} abut_device_info;

/* Lists every device of every OpenCL platform, then the host path, always last.
 *
 * infos     room for `capacity` entries, or NULL to ask for the count alone
 * count     set to the number of devices there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_list_devices(abut_device_info *infos, size_t capacity, size_t *count);

/* Finds a device by the words that a user types.
 *
 * text      an index ("0"), a type ("cpu", "gpu", "host"), or part of the name or of the platform's
 *           name, case ignored ("pocl" means PoCL). NULL or "" means the default: a GPU, else PoCL,
 *           else another CPU device, else the host path.
 * Errors: ABUT_ERROR_DEVICE where nothing fits.
 */
ABUT_API abut_status abut_find_device(const char *text, uint32_t *index);

typedef struct abut_context {
  uint32_t index, generation;
} abut_context;

typedef struct abut_context_def {
  uint32_t device;              /* index from abut_list_devices */
  abut_precision precision;     /* of kernels and of every array named `real` */
  uint32_t lanes;               /* 1 (as on GPUs), 4, 8 or 16; 0 takes the measured table's */
  uint64_t scratch_bytes;       /* device memory for one chunk of poses; 0 takes the default */
  uint32_t chunk;               /* most poses in one chunk; 0 for no bound but memory */
  const char *kernel_directory; /* load kernel sources from here (development); NULL: embedded */
  uint32_t group;               /* work-items of a work-group where a kernel works in groups: a
                                   power of two up to 1024; 0 takes the measured table's */
  uint32_t items;               /* work-items of a work-group elsewhere, up to 1024; 0: likewise */
  uint32_t cookie;              /* set by abut_default_context_def */
} abut_context_def;

/* The default device, float32, everything else by measurement. */
ABUT_API abut_context_def abut_default_context_def(void);

/* Opens a device and builds the kernels for it.
 * Errors: ABUT_ERROR_DEVICE, ABUT_ERROR_PRECISION, ABUT_ERROR_ARGUMENT, OpenCL's codes. After a
 * failed build, abut_last_error() holds the compiler's log. */
ABUT_API abut_status abut_create_context(const abut_context_def *def, abut_context *context);

/* Frees a context with every body and pair made in it. */
ABUT_API abut_status abut_destroy_context(abut_context context);

ABUT_API abut_status abut_context_device(abut_context context, abut_device_info *info);
ABUT_API abut_status abut_context_precision(abut_context context, abut_precision *precision);

/* What a context has done since it was created. */
typedef struct abut_counters {
  uint64_t bytes_up;   /* host to device */
  uint64_t bytes_down; /* device to host */
  uint64_t launches;   /* kernel launches */
  uint64_t builds;     /* programs built */
  uint64_t chunks;     /* chunks of poses */
  uint64_t resident;   /* device bytes allocated now */
} abut_counters;

ABUT_API abut_status abut_get_counters(abut_context context, abut_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
