/* The text behind abut_last_error. */
#ifndef ABUT_BASE_ERROR_H
#define ABUT_BASE_ERROR_H

#include <abut/status.h>
#include <stddef.h>

/* Room for a text, a compiler's log among them. */
#define ERROR_TEXT_BYTES 16384

/* Stores the text of a failure for the calling thread and returns `status`. */
__attribute__((format(printf, 2, 3))) abut_status fail(abut_status status, const char *format, ...);

/* "FILE:LINE: text"; line 0 leaves the line out. */
__attribute__((format(printf, 4, 5))) abut_status fail_at(abut_status status, const char *file,
                                                         size_t line, const char *format, ...);

/* Copies the text of the calling thread's last failure, whole. */
void keep_error_text(char text[ERROR_TEXT_BYTES]);

#define TRY(call)                             \
  do {                                        \
    abut_status try_status_ = (call);         \
    if (try_status_ != ABUT_SUCCESS) {        \
      return try_status_;                     \
    }                                         \
  } while (0)

/* The same in a function with one exit, labelled `done`, and a variable `status`. */
#define TRY_DONE(call)               \
  do {                               \
    status = (call);                 \
    if (status != ABUT_SUCCESS) {    \
      goto done;                     \
    }                                \
  } while (0)

#endif
