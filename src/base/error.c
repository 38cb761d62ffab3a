#include "base/error.h"

#include <abut/abut.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_text[ERROR_TEXT_BYTES];

abut_status fail(abut_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_text, sizeof last_text, format, arguments);
  va_end(arguments);
  return status;
}

abut_status fail_at(abut_status status, const char *file, size_t line, const char *format, ...)
{
  int used = line ? snprintf(last_text, sizeof last_text, "%s:%zu: ", file, line)
                  : snprintf(last_text, sizeof last_text, "%s: ", file);
  if (used < 0 || (size_t)used >= sizeof last_text) {
    return status;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_text + used, sizeof last_text - (size_t)used, format, arguments);
  va_end(arguments);
  return status;
}

abut_status fail_errno(abut_status status, const char *file)
{
  char cause[128];
  const int error = errno;
  if (strerror_r(error, cause, sizeof cause) != 0) {
    snprintf(cause, sizeof cause, "error %d", error);
  }
  return fail_at(status, file, 0, "%s", cause);
}

void keep_error_text(char text[ERROR_TEXT_BYTES])
{
  memcpy(text, last_text, sizeof last_text);
}

const char *abut_last_error(void)
{
  return last_text;
}

abut_status abut_set_error(abut_status status, const char *text)
{
  const size_t length = text ? strnlen(text, sizeof last_text - 1) : 0;
  if (length) {
    memmove(last_text, text, length);
  }
  last_text[length] = '\0';
  return status;
}

const char *abut_version(void)
{
  return ABUT_VERSION;
}
