/* Each thread has the text of its last failure, which abut_last_error returns. */
#ifndef ABUT_BASE_ERROR_H
#define ABUT_BASE_ERROR_H

#include <abut/status.h>
#include <stddef.h>

/* Size of an error text, which may include a compiler's log. */
#define ERROR_TEXT_BYTES 16384

/* Stores the text of a failure for the calling thread and returns `status`. */
__attribute__((format(printf, 2, 3))) abut_status fail(abut_status status, const char *format, ...);

/* Does the same with "FILE:LINE: text"; line 0 omits the line. */
__attribute__((format(printf, 4, 5))) abut_status fail_at(abut_status status, const char *file,
                                                          size_t line, const char *format, ...);

/* Does the same with "FILE: " and the text of errno. */
abut_status fail_errno(abut_status status, const char *file);

/* Copies the full text of the calling thread's last failure. */
void keep_error_text(char text[ERROR_TEXT_BYTES]);

/* Returns from the function with the status of a failed call. */
#define TRY(call)                      \
  do {                                 \
    abut_status try_status_ = (call);  \
    if (try_status_ != ABUT_SUCCESS) { \
      return try_status_;              \
    }                                  \
  } while (0)

/* Does the same in a function with one exit, labelled `done`, and a variable `status`. */
#define TRY_DONE(call)            \
  do {                            \
    status = (call);              \
    if (status != ABUT_SUCCESS) { \
      goto done;                  \
    }                             \
  } while (0)

#endif
