/* Each thread has a text of its last failure, which abut_last_error tells. */
#ifndef ABUT_BASE_ERROR_H
#define ABUT_BASE_ERROR_H

#include <abut/status.h>
#include <stddef.h>

/* A text has so much room, because a compiler's log may be one. */
#define ERROR_TEXT_BYTES 16384

/* Stores the text of a failure for the calling thread and returns `status`. */
__attribute__((format(printf, 2, 3))) abut_status fail(abut_status status, const char *format, ...);

/* Stores "FILE:LINE: text" likewise; line 0 leaves the line out. */
__attribute__((format(printf, 4, 5))) abut_status fail_at(abut_status status, const char *file,
                                                          size_t line, const char *format, ...);

/* Stores "FILE: what errno says" likewise. */
abut_status fail_errno(abut_status status, const char *file);

/* Copies the text of the calling thread's last failure, whole. */
void keep_error_text(char text[ERROR_TEXT_BYTES]);

/* Returns the status of a call that fails. */
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
