/* Devices and contexts.
 *
 * A context is one device, or several of any platforms, opened at one precision: their queues,
 * compiled kernels and everything resident on them. Every batch, of poses, witness queries, points
 * of a field or rays of a picture, is shared among its devices.
 * Handles are values, cheap to copy; a handle whose object was destroyed is found stale by its
 * generation and gives ABUT_ERROR_HANDLE.
 *
 * Failures: a device whose OpenCL calls fail, whose kernels do not end in time, or which answers a
 * self-test wrongly, is not used any more; the context's other devices do its share of the batch
 * again, so that no pose is lost. A device without memory for a body has failed, too; one without
 * memory for a chunk takes smaller chunks, one at a time, and fails where one pose does not fit. A
 * device for which a batch is too large leaves it to the others, or to the host path, and has not
 * failed. abut_context_devices says which device failed and why.
 * Kernels that do not end in time cannot be stopped: what is theirs is left behind when the context
 * goes, and cl_mem of the caller's that they use must not go before the process does. Arrays in
 * host memory are copied, but for those of abut_witness_edges, abut_witness_faces and their _vjp:
 * on CPU devices kernels work in them, inputs and outputs, unless one overlaps another. Where such
 * a call has cost a CPU device, others have filled the outputs, and it succeeds; yet a late kernel
 * may still read the inputs and write the outputs over, with the same answers up to rounding if the
 * inputs have not changed. Until the process ends, such arrays must then stay, and should not be
 * used for anything else.
 *
 * Arrays that overlap: two outputs of a call may not have a byte in common. In host memory an input
 * of a batch may: it is read as it was before the call, except where a function says otherwise, and
 * except for outputs that are no rows of reals in the batch's memory: statuses, reductions, lists
 * of contacts, sums by shapes. In OpenCL memory an output may lie where an input does only as a
 * whole, in rows of one width, and only where kernels do not work in both; cl_mem that are parts of
 * one buffer count as what they are parts of. All else is ABUT_ERROR_ARGUMENT, whose text names
 * both arrays, and nothing is written.
 *
 * Threads: devices may be listed, and different contexts opened, used and closed, from different
 * threads at once, from a process's first call on; drivers are asked for devices and opened by one
 * thread at a time. One context, with its bodies, pairs and states, may be used from any threads:
 * its calls take turns, and nothing else of the caller's is locked. A handle that another thread
 * has destroyed meanwhile is found stale. Progress functions are called within a call, from its own
 * thread, and should not call the context; to destroy anything of it there is refused
 * (ABUT_ERROR_ARGUMENT).
 *
 * Forks: what was opened before fork() is refused in the child (ABUT_ERROR_HANDLE), at once and
 * without a word to a driver. Where OpenCL was asked before, drivers hang in the child: a context
 * of its own is refused too (ABUT_ERROR_DEVICE) unless it is of the host path alone. Workers are
 * started by spawn, or forked before the first call.
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
  ABUT_DEVICE_HOST = 0, /* the kernels compiled as C11 into the library: slow, always there */
  ABUT_DEVICE_CPU = 1,
  ABUT_DEVICE_GPU = 2,
  ABUT_DEVICE_OTHER = 3
} abut_device_type;

typedef struct abut_device_info {
  uint32_t index; /* position in abut_list_devices */
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
  char driver[64];       /* driver version */
  char version[64];      /* OpenCL version of the device */
  char architecture[32]; /* "sm_90", "gfx90a"; "" where the driver does not tell */
} abut_device_info;

/* Lists every device of every OpenCL platform, then the host path, always last.
 *
 * infos     room for `capacity` entries, or NULL to ask for the count alone
 * count     set to the number of devices there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_list_devices(abut_device_info *infos, size_t capacity, size_t *count);

/* abut_context_def.device where none is named: the default of abut_find_device, and where that one
 * fails the devices behind it, one after the other. */
#define ABUT_DEVICE_DEFAULT UINT32_MAX

/* Finds a device by the words that a user types.
 *
 * text      an index ("0"), a type ("cpu", "gpu", "host"), or part of the name or of the platform's
 *           name, case ignored ("pocl" means PoCL). NULL or "" means the default: a GPU, else PoCL,
 *           else another CPU device, else another device, else the host path. Whether it works
 *           is not asked, and by its index it is named: a context that is to pass over what
 *           fails takes ABUT_DEVICE_DEFAULT instead.
 * Errors: ABUT_ERROR_DEVICE where nothing fits.
 */
ABUT_API abut_status abut_find_device(const char *text, uint32_t *index);

/* A device, or an equal part of one: CPU devices of PoCL's and Intel's can be divided. */
typedef struct abut_device_choice {
  uint32_t device; /* index from abut_list_devices */
  uint32_t units;  /* compute units of the part; 0 takes the whole device */
  uint32_t part;   /* which of the parts of so many units, from 0 */
} abut_device_choice;

/* Most devices of one context. */
#define ABUT_DEVICES_MOST 64

/* Finds one or more devices by the words that a user types.
 *
 * text      one name as for abut_find_device, blanks and all: no list of names; "all" means every
 *           OpenCL device. "/UNITS" after it divides each device into parts of so many compute
 *           units, which become devices of their own; "/UNITS.PART" takes one of them: "pocl/1" is
 *           every core that PoCL sees, "pocl/1.0" the first.
 * choices   room for `capacity` entries, or NULL to ask for the count alone; for several names, ask
 *           for each and put what is found one behind the other
 * count     set to how many are found, which may exceed `capacity`
 * Errors: ABUT_ERROR_DEVICE where nothing fits, or a device cannot be divided so.
 */
ABUT_API abut_status abut_find_devices(const char *text, abut_device_choice *choices,
                                       size_t capacity, size_t *count);

typedef struct abut_context {
  uint32_t index, generation;
} abut_context;

/* What happens when every device of a context has failed, or is too small for a batch. */
typedef enum abut_fallback {
  ABUT_FALLBACK_HOST = 0, /* the host path finishes the batch: slow, and right. With
                             ABUT_DEVICE_DEFAULT, all other devices are tried before it. */
  ABUT_FALLBACK_NONE = 1  /* the call fails: with ABUT_ERROR_TOO_LARGE where a
                                device was too small, else with the error of the one that failed
                                last */
} abut_fallback;

typedef struct abut_context_def {
  uint32_t device;                   /* index from abut_list_devices, or ABUT_DEVICE_DEFAULT */
  const abut_device_choice *devices; /* (device_count) instead of `device`, several, none of them
                                   twice but the host path, each of which is a thread; or NULL. A
                                   device and parts of it may be there: they compete. Read by
                                   abut_create_context alone: it need not last. */
  uint32_t device_count;
  void *opencl_queue;           /* the caller's cl_command_queue, in order, whose context and device
                                   are then this context's only ones; or NULL. Retained. */
  abut_precision precision;     /* of kernels and of every array named `real` */
  uint32_t lanes;               /* 1 (as on GPUs), 4, 8 or 16; 0 takes the measured table's */
  uint64_t scratch_bytes;       /* device memory for one chunk of poses or of queries; 0 takes the
                                   default */
  uint32_t chunk;               /* most poses or queries in one chunk; 0 for no bound but memory */
  abut_fallback fallback;       /* no effect with a queue of the caller's: ABUT_FALLBACK_NONE */
  double timeout;               /* a device that takes longer for one chunk, or for a part of
                                   the blocks of a Jacobian or of the steps of worlds, has failed
                                   [s]; 0 takes 300 s */
  const char *kernel_directory; /* load kernel sources from here (development); NULL: embedded */
  uint32_t group;               /* work-items of a work-group where a kernel works in groups: a
                                   power of two up to 1024; 0 takes the measured table's */
  uint32_t items;               /* work-items of a work-group elsewhere, up to 1024; 0: likewise */
  /* Called before an OpenCL device builds and tests kernels that a call is the first to need, and
     once more when it has (done). The first time on a machine that may take a minute, later a part
     of a second: drivers do not say which. `what` names the kernels and the device. It is called by
     the device's thread, of several devices at the same time, and must not call abut. May be
     NULL. */
  void (*building)(void *user, const char *what, bool done);
  void *user;
  uint32_t cookie; /* set by abut_default_context_def */
} abut_context_def;

/* ABUT_DEVICE_DEFAULT, float32, everything else by measurement. Asks no driver. */
ABUT_API abut_context_def abut_default_context_def(void);

/* Opens devices. Kernels are built by the call that first needs them, a program for each of their
 * modules (tuning.h) and for each kind of derivative, or taken from the folder of compiled programs
 * (abut.1, ABUT_CACHE_DIR), without which nothing fails; and each device is then asked what is
 * known. One that does not build a program, or answers wrongly (ABUT_ERROR_SELF_TEST), or not in
 * time, has failed in that call. Where it was the last one, abut_last_error() holds the compiler's
 * log. With ABUT_DEVICE_DEFAULT and ABUT_FALLBACK_HOST, a device that fails, cannot be opened or
 * does not have the precision is passed over for the next one in the order of preference that can;
 * each is opened when it is needed. abut_context_devices tells which one failed and why, and which
 * one works: after the first call at the earliest, since opening builds nothing. Where no OpenCL
 * driver is there, the host path is the default: abut_context_device tells. Errors:
 * ABUT_ERROR_ARGUMENT for what the definition says, a device that it names twice among it;
 * ABUT_ERROR_DEVICE and ABUT_ERROR_PRECISION where there is no such device or number on it;
 * ABUT_ERROR_READ and ABUT_ERROR_FORMAT for the user's file of settings (tuning.h);
 * ABUT_ERROR_MEMORY; and OpenCL's codes. The text names the device. */
ABUT_API abut_status abut_create_context(const abut_context_def *def, abut_context *context);

/* Frees a context with every body, pair and state made in it. */
ABUT_API abut_status abut_destroy_context(abut_context context);

/* The first device of a context, also where it has failed. */
ABUT_API abut_status abut_context_device(abut_context context, abut_device_info *info);

/* How a device of a context is doing. */
typedef struct abut_device_report {
  abut_device_info info;
  abut_status status; /* ABUT_SUCCESS, or why it is not used any more */
  char text[1024];    /* the same in words, cut where they are more; "" */
  uint64_t chunks;    /* of batches, done by it */
  uint64_t elements;  /* poses, queries, points in them */
} abut_device_report;

/* Reports on every device of a context, and behind them on those that stand in for them, the host
 * path last, once they do: each took over where those before it had failed or were too small.
 *
 * reports   room for `capacity` entries, or NULL to ask for the count alone
 * count     set to the number of devices there are, which may exceed `capacity`
 */
ABUT_API abut_status abut_context_devices(abut_context context, abut_device_report *reports,
                                          size_t capacity, size_t *count);
/* Says in which precision a context computes. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_context_precision(abut_context context, abut_precision *precision);

/* What a device did with a chunk of a batch. Two chunks may be under way on a device; the kernels
 * of one count from when those of the chunk before it had ended, so that computes do not overlap.
 * A list's count until its entries are there, a Jacobian's until its last blocks are.
 * Where a chunk ends before an earlier one of its device, its compute has begin == end. */
typedef enum abut_phase {
  ABUT_PHASE_UPLOAD = 0,
  ABUT_PHASE_COMPUTE = 1,
  ABUT_PHASE_DOWNLOAD = 2
} abut_phase;

typedef struct abut_span {
  uint32_t device; /* place in abut_context_devices */
  abut_phase phase;
  uint64_t first, count; /* the chunk: elements of the batch */
  double begin, end;     /* since the timeline was started [s] */
} abut_span;

/* Starts to record what each device does with each chunk; what was recorded before is dropped. */
ABUT_API abut_status abut_start_timeline(abut_context context);

/* Records no more; what was recorded stays until a timeline is started again, or the context goes.
 * Nothing where none was started. */
ABUT_API abut_status abut_stop_timeline(abut_context context);

/* What was recorded so far, in the order in which it was recorded.
 *
 * spans     room for `capacity` entries, or NULL to ask for the count alone
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
  uint64_t chunks;     /* of batches */
  uint64_t resident;   /* device bytes allocated now */
} abut_counters;

/* Says what a context has done so far. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_counters(abut_context context, abut_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
