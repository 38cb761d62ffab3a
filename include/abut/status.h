/* Status codes and error text.
 *
 * Every function of abut that can fail returns an abut_status. OpenCL's own codes (-1 to -1999) are
 * passed on unchanged; abut's codes are below them. abut_last_error() returns the text of the last
 * failure on the calling thread, with file and line if a file caused it. The library never prints,
 * exits or aborts.
 */
#ifndef ABUT_STATUS_H
#define ABUT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the shared library exports. */
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
  ABUT_ERROR_WRITE = -2005,     /* a file cannot be written; no partial file is left */
  ABUT_ERROR_FORMAT = -2006,    /* a file's content is wrong; the text names file, line and cause */
  ABUT_ERROR_BODY = -2007,      /* numbers of a body are out of range, or no primitive is added */
  ABUT_ERROR_DEVICE = -2008,    /* no such device */
  ABUT_ERROR_PRECISION = -2009, /* the device has no float64 */
  ABUT_ERROR_TOO_LARGE = -2010, /* a single pose does not fit the device's memory */
  ABUT_ERROR_OVERFLOW = -2011,  /* a compact list is too short; its `count` is the length needed */
  ABUT_ERROR_CANCELLED = -2012, /* the caller's progress function asked to stop */
  ABUT_ERROR_TIMEOUT = -2013,   /* a device did not end a chunk in time */
  ABUT_ERROR_SELF_TEST = -2014, /* a device fails a self-test: its answers are wrong */
  ABUT_ERROR_STATE = -2015      /* a device failed, and a state is back at its last saved copy */
};

/* Returns the name of a status, "ABUT_ERROR_ARGUMENT" or "CL_OUT_OF_RESOURCES". Never NULL. */
ABUT_API const char *abut_status_name(abut_status status);

/* Returns the text of the last error on the calling thread, without a final newline; "" if there
 * was none. The text is valid until the next call into abut on the same thread. */
ABUT_API const char *abut_last_error(void);

/* Sets the text of abut_last_error() and returns `status`. It is for functions that abut calls, and
 * for libraries on top of abut, such as libabut_mpi. The first 16,383 bytes of `text` are kept.
 * `text` may be abut_last_error(). */
ABUT_API abut_status abut_set_error(abut_status status, const char *text);

/* Returns the library's version, "MAJOR.MINOR.PATCH". */
ABUT_API const char *abut_version(void);

#ifdef __cplusplus
}
#endif
#endif
