#include "world/view/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_text(answer *a, unsigned status, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  free(a->bytes);
  a->status = status;
  a->bytes = strdup(text);
  a->count = a->bytes ? strlen(a->bytes) : 0;
}
