/* Devices and contexts.
 *
 * A context is one device, or several devices of any platforms, opened at one precision. It holds
 * their queues, their compiled kernels and everything resident on them. Its devices share every
 * batch: poses, witness queries, points of a field, or rays of a picture. Handles are values and
 * cheap to copy. A handle whose object was destroyed is recognised as stale by its generation and
 * gives ABUT_ERROR_HANDLE.
 *
 * Failures: a device fails if its OpenCL calls fail, if its kernels do not end in time, or if it
 * answers a self-test wrongly. A failed device is not used again. The context's other devices
 * repeat its share of the batch, so that no pose is lost. A device without memory for a body has
 * failed, too. A device without memory for a chunk takes smaller chunks, one at a time, and fails
 * if a single pose does not fit. A device for which a batch is too large leaves the batch to the
 * other devices, or to the host path, and has not failed. abut_context_devices reports which device
 * failed and why.
 *
 * Kernels that do not end in time cannot be stopped. Their memory is left behind when the context
 * is destroyed, and cl_mem of the caller's that they use must not be released before the process
 * ends. Arrays in host memory are copied, except those of abut_witness_edges, abut_witness_faces
 * and their _vjp functions: on CPU devices kernels read and write these arrays directly, unless one
 * overlaps another. If a CPU device fails during such a call, other devices fill the outputs and
 * the call succeeds. A late kernel may still read the inputs and overwrite the outputs, with the
 * same answers up to rounding if the inputs have not changed. Such arrays must then stay allocated
 * until the process ends, and should not be used for anything else.
 *
 * Arrays that overlap: two outputs of a call must not share a byte. In host memory an input of a
 * batch may overlap an output: the input is read as it was before the call, except where a function
 * documents otherwise. Outputs that are not rows of reals in the batch's memory must not overlap an
 * input: statuses, reductions, lists of contacts, sums by shapes. In OpenCL memory an output may
 * overlap an input only if both are the same whole array, with rows of one width, and only if
 * kernels do not work in both. Sub-buffers are compared by their bytes in their common buffer. Any
 * other overlap gives ABUT_ERROR_ARGUMENT, whose text names both arrays, and nothing is written.
 *
 * Threads: different threads may list devices, and open, use and close different contexts, at the
 * same time, from a process's first call on. One thread at a time asks drivers for devices and
 * opens devices. One context, with its bodies, pairs and states, may be used from any threads: its
 * calls take turns, and nothing else of the caller's is locked. A handle that another thread has
 * destroyed in the meantime is found stale. Progress functions are called within a call, from the
 * call's own thread, and should not call the context. Destroying any of the context's objects there
 * is refused (ABUT_ERROR_ARGUMENT).
 *
 * Forks: handles that were opened before fork() are refused in the child (ABUT_ERROR_HANDLE), at
 * once and without a call to a driver. Drivers hang in the child if the parent has used OpenCL. The
 * child then cannot open a context of its own either (ABUT_ERROR_DEVICE), unless it uses only the
 * host path. Start workers by spawn, or fork them before the first call.
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

typedef enum abut_precision { ABUT_FLOAT32 = 0, ABUT_FLOAT64 = 1 } abut_precision;

typedef enum abut_device_type {
  ABUT_DEVICE_HOST = 0, /* the kernels compiled as C11 into the library: slow, always available */
  ABUT_DEVICE_CPU = 1,
  ABUT_DEVICE_GPU = 2,
  ABUT_DEVICE_OTHER = 3
} abut_device_type;

typedef struct abut_device_info {
  uint32_t index; /* position in abut_list_devices */
  abut_device_type type;
  bool has_float64;
  uint32_t compute_units;
  uint32_t clock_mhz;        /* as the driver reports it; 0 where the driver does not report it */
  uint32_t lanes[2];         /* lane width of the kernels, indexed by abut_precision */
  uint64_t memory_bytes;     /* global memory */
  uint64_t allocation_bytes; /* largest single buffer */
  char name[128];            /* "NVIDIA H200", "host" */
  char platform[64];         /* "Portable Computing Language" */
  char vendor[64];
  char driver[64];       /* driver version */
  char version[64];      /* OpenCL version of the device */
  char architecture[32]; /* "sm_90", "gfx90a"; "" where the driver does not report it */
} abut_device_info;

/* Lists every device of every OpenCL platform, then the host path, which is always last.
 *
 * infos     room for `capacity` entries, or NULL to ask only for the count
 * count     set to the number of devices there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_list_devices(abut_device_info *infos, size_t capacity, size_t *count);

/* Value of abut_context_def.device if no device is named. The context takes the default of
 * abut_find_device and, if that device fails, the next devices, one after the other. */
#define ABUT_DEVICE_DEFAULT UINT32_MAX

/* Finds a device by the text that a user types.
 *
 * text      an index ("0"), a type ("cpu", "gpu", "host"), or part of the device's or the
 *           platform's name, case ignored ("pocl" means PoCL). NULL or "" means the default: a GPU,
 *           else PoCL, else another CPU device, else another device, else the host path. The
 *           function does not check that the device works, and a context on the index that it
 *           returns takes only this device. Use ABUT_DEVICE_DEFAULT for a context that passes over
 *           devices that fail.
 * Errors: ABUT_ERROR_DEVICE if no device fits.
 */
ABUT_API abut_status abut_find_device(const char *text, uint32_t *index);

/* A device, or an equal part of one. CPU devices of PoCL and of Intel can be divided. */
typedef struct abut_device_choice {
  uint32_t device; /* index from abut_list_devices */
  uint32_t units;  /* compute units of the part; 0 takes the whole device */
  uint32_t part;   /* number of the part among the parts of that size, from 0 */
} abut_device_choice;

/* Largest number of devices of one context. */
#define ABUT_DEVICES_MOST 64

/* Finds one or more devices by the text that a user types.
 *
 * text      one name as for abut_find_device, which may contain blanks; it is not a list of names.
 *           "all" means every OpenCL device. "/UNITS" after the name divides each device into parts
 *           of so many compute units, which become devices of their own. "/UNITS.PART" takes one of
 *           these parts: "pocl/1" is every core that PoCL sees, "pocl/1.0" the first.
 * choices   room for `capacity` entries, or NULL to ask only for the count. For several names, call
 *           the function for each and append the results
 * count     set to the number of devices found, which may exceed `capacity`
 * Errors: ABUT_ERROR_DEVICE if no device fits, or if a device cannot be divided so.
 */
ABUT_API abut_status abut_find_devices(const char *text, abut_device_choice *choices,
                                       size_t capacity, size_t *count);

typedef struct abut_context {
  uint32_t index, generation;
} abut_context;

/* What happens when every device of a context has failed or is too small for a batch. */
typedef enum abut_fallback {
  ABUT_FALLBACK_HOST = 0, /* the host path finishes the batch: slow, and correct. With
                             ABUT_DEVICE_DEFAULT, all other devices are tried first. */
  ABUT_FALLBACK_NONE = 1  /* the call fails: with ABUT_ERROR_TOO_LARGE if a device was too small,
                             else with the error of the device that failed last */
} abut_fallback;

typedef struct abut_context_def {
  uint32_t device;                   /* index from abut_list_devices, or ABUT_DEVICE_DEFAULT */
  const abut_device_choice *devices; /* (device_count) several devices instead of `device`, or
                                        NULL. No device may be there twice, except the host path,
                                        of which each entry is a thread. A device and parts of it
                                        may be there together: they compete. Only
                                        abut_create_context reads the array: it need not last. */
  uint32_t device_count;
  void *opencl_queue;           /* the caller's in-order cl_command_queue, or NULL. Its context
                                   and device are then this context's only ones. Retained. */
  abut_precision precision;     /* of kernels and of every array documented as `real` */
  uint32_t lanes;               /* 1 (as on GPUs), 4, 8 or 16; 0 takes the value of the measured
                                   table */
  uint64_t scratch_bytes;       /* device memory for one chunk of poses or of queries; 0 takes the
                                   default */
  uint32_t chunk;               /* largest number of poses or queries in one chunk; 0: bounded
                                   only by memory */
  abut_fallback fallback;       /* ignored with a queue of the caller's, which has
                                   ABUT_FALLBACK_NONE */
  double timeout;               /* a device has failed if one chunk takes longer than this [s],
                                   or one part of the blocks of a Jacobian or of the steps of
                                   worlds; 0 takes 300 s */
  const char *kernel_directory; /* load kernel sources from here (development); NULL: embedded */
  uint32_t group;               /* work-items of a work-group for kernels that work in groups: a
                                   power of two up to 1024; 0 takes the value of the measured
                                   table */
  uint32_t items;               /* work-items of a work-group of other kernels, up to 1024; 0:
                                   likewise */
  /* Called before an OpenCL device builds and tests kernels that a call is the first to need,
     and once more after that (done). The first time on a machine this may take a minute, later a
     part of a second; drivers do not report which. `what` names the kernels and the device. The
     device's thread calls the function, for several devices at the same time, and it must not
     call abut. May be NULL. */
  void (*building)(void *user, const char *what, bool done);
  void *user;
  uint32_t cookie; /* set by abut_default_context_def */
} abut_context_def;

/* Returns ABUT_DEVICE_DEFAULT, float32, and measured values for everything else. No driver is
 * called. */
ABUT_API abut_context_def abut_default_context_def(void);

/* Opens devices.
 *
 * A call that first needs kernels builds them: a program for each module of kernels (tuning.h) and
 * for each kind of derivative. Built programs are kept in the folder of compiled programs (abut.1,
 * ABUT_CACHE_DIR) and taken from there; no call fails if that folder is missing. Each device then
 * answers a self-test. A device that does not build a program, answers wrongly
 * (ABUT_ERROR_SELF_TEST), or does not answer in time has failed in that call. If it was the last
 * device, abut_last_error() holds the compiler's log.
 *
 * With ABUT_DEVICE_DEFAULT and ABUT_FALLBACK_HOST, a device that fails, cannot be opened or does
 * not have the precision is passed over for the next usable one in the order of preference. Each
 * device is opened when it is needed. abut_context_devices reports which one failed and why, and
 * which one works. It reports this after the first call at the earliest, since opening builds
 * nothing. If there is no OpenCL driver, the host path is the default, which abut_context_device
 * shows.
 *
 * Errors: ABUT_ERROR_ARGUMENT for a value of the definition that is out of range or a device that
 * it names twice; ABUT_ERROR_DEVICE if there is no such device; ABUT_ERROR_PRECISION if the device
 * has no such precision; ABUT_ERROR_READ and ABUT_ERROR_FORMAT for the user's file of settings
 * (tuning.h); ABUT_ERROR_MEMORY; and OpenCL's codes. The text names the device. */
ABUT_API abut_status abut_create_context(const abut_context_def *def, abut_context *context);

/* Destroys a context with every body, pair and state made in it. */
ABUT_API abut_status abut_destroy_context(abut_context context);

/* Gets the first device of a context, even if that device has failed. */
ABUT_API abut_status abut_context_device(abut_context context, abut_device_info *info);

/* State of a device of a context. */
typedef struct abut_device_report {
  abut_device_info info;
  abut_status status; /* ABUT_SUCCESS, or why the device is not used any more */
  char text[1024];    /* the same in words, truncated to fit; "" on success */
  uint64_t chunks;    /* chunks of batches that the device has done */
  uint64_t elements;  /* poses, queries and points in these chunks */
} abut_device_report;

/* Reports on every device of a context, and after them on the devices that replace them, the host
 * path last. A replacement is listed once it has taken over from devices that failed or were too
 * small.
 *
 * reports   room for `capacity` entries, or NULL to ask only for the count
 * count     set to the number of devices there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_context_devices(abut_context context, abut_device_report *reports,
                                          size_t capacity, size_t *count);
/* Gets the precision in which a context computes. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_context_precision(abut_context context, abut_precision *precision);

/* What a device did with a chunk of a batch. A device may work on two chunks at a time; the kernels
 * of one count from the end of the kernels of the chunk before it, so that compute spans do not
 * overlap. The compute span of a list ends when its entries are there, that of a Jacobian when its
 * last blocks are. If a chunk ends before an earlier one of its device, its compute span has begin
 * == end. */
typedef enum abut_phase {
  ABUT_PHASE_UPLOAD = 0,
  ABUT_PHASE_COMPUTE = 1,
  ABUT_PHASE_DOWNLOAD = 2
} abut_phase;

typedef struct abut_span {
  uint32_t device; /* index in abut_context_devices */
  abut_phase phase;
  uint64_t first, count; /* the chunk: first element of the batch, and number of elements */
  double begin, end;     /* since the timeline was started [s] */
} abut_span;

/* Starts to record what each device does with each chunk. Earlier records are dropped. */
ABUT_API abut_status abut_start_timeline(abut_context context);

/* Stops the recording. The records stay until a timeline is started again or the context is
 * destroyed. Does nothing if no timeline was started. */
ABUT_API abut_status abut_stop_timeline(abut_context context);

/* Gets the records so far, in the order in which they were made.
 *
 * spans     room for `capacity` entries, or NULL to ask only for the count
 * count     set to the number of spans there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_get_timeline(abut_context context, abut_span *spans, size_t capacity,
                                       size_t *count);

/* What a context has done since it was created, on all its devices. */
typedef struct abut_counters {
  uint64_t bytes_up;   /* host to device */
  uint64_t bytes_down; /* device to host */
  uint64_t launches;   /* kernel launches */
  uint64_t builds;     /* programs built, or taken from disk */
  uint64_t chunks;     /* chunks of batches */
  uint64_t resident;   /* device bytes allocated now */
} abut_counters;

/* Gets the counters of what a context has done so far. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_counters(abut_context context, abut_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
