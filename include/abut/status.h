/* Status codes and error text.
 *
 * Every function of abut that can fail returns an abut_status. OpenCL's own codes (-1 to -1999)
 * pass through unchanged; abut's lie below them. The text of the last failure on the calling
 * thread, with file and line where a file is to blame, is abut_last_error(). The library never
 * prints, exits or aborts.
 */
#ifndef ABUT_STATUS_H
#define ABUT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports. */
#if defined(__GNUC__)
#define ABUT_API __attribute__((visibility("default")))
#else
#define ABUT_API
#endif

typedef int abut_status;

enum {
  ABUT_SUCCESS = 0,
  ABUT_ERROR_ARGUMENT = -2001,  /* an argument is out of its documented range */
  ABUT_ERROR_HANDLE = -2002,    /* a handle is null, stale, or of another context */
  ABUT_ERROR_MEMORY = -2003,    /* host memory ran out */
  ABUT_ERROR_READ = -2004,      /* a file cannot be opened or read */
  ABUT_ERROR_WRITE = -2005,     /* a file cannot be written; nothing is left in its place */
  ABUT_ERROR_FORMAT = -2006,    /* a file's content is wrong; the text names file, line and cause */
  ABUT_ERROR_BODY = -2007,      /* numbers of a body are out of range, or nothing is added */
  ABUT_ERROR_DEVICE = -2008,    /* no such device */
  ABUT_ERROR_PRECISION = -2009, /* the device has no float64 */
  ABUT_ERROR_TOO_LARGE = -2010, /* a single pose does not fit the device's memory */
  ABUT_ERROR_OVERFLOW = -2011,  /* a compact list is too short; its `count` says what is needed */
  ABUT_ERROR_CANCELLED = -2012, /* the caller's progress function asked to stop */
  ABUT_ERROR_TIMEOUT = -2013,   /* a device did not end a chunk in time */
  ABUT_ERROR_SELF_TEST = -2014, /* a device fails a self-test: it answers wrongly */
  ABUT_ERROR_STATE = -2015      /* a device failed, and a state is back at its last saved copy */
};

/* The name of a status, "ABUT_ERROR_ARGUMENT" or "CL_OUT_OF_RESOURCES". Never null. */
ABUT_API const char *abut_status_name(abut_status status);

/* What went wrong last on the calling thread, without a final newline; "" if nothing did.
 * Valid until the next call into abut on the same thread. */
ABUT_API const char *abut_last_error(void);

/* Sets that text, of which the first 16,383 bytes are kept, and returns `status`: for functions
 * that abut calls, and for libraries above it, such as libabut_mpi. `text` may be
 * abut_last_error(). */
ABUT_API abut_status abut_set_error(abut_status status, const char *text);

/* The library's version, "MAJOR.MINOR.PATCH". */
ABUT_API const char *abut_version(void);

#ifdef __cplusplus
}
#endif
#endif
