#include "xla_call.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void xla_refuse(xla_call *c, const char *format, ...)
{
  if (!c->text[0]) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->text, sizeof c->text, format, list);
    va_end(list);
  }
}

/* ---- errors ---- */

static xla_error *error_of(const xla_frame *frame, int code, const char *text)
{
  xla_error_args args = {sizeof args, NULL, text, code};
  return frame->api->create_error(&args);
}

static xla_error *error_of_status(const xla_frame *frame, abut_status status)
{
  if (!status) {
    return NULL;
  }
  char text[1024];
  snprintf(text, sizeof text, "%s: %s", abut_status_name(status), abut_last_error());
  switch (status) {
  case ABUT_ERROR_ARGUMENT:
  case ABUT_ERROR_HANDLE:
    return error_of(frame, XLA_INVALID_ARGUMENT, text);
  case ABUT_ERROR_MEMORY:
  case ABUT_ERROR_TOO_LARGE:
    return error_of(frame, XLA_RESOURCE_EXHAUSTED, text);
  default:
    return error_of(frame, XLA_INTERNAL, text);
  }
}

xla_error *xla_end(const xla_call *c, abut_status status)
{
  return c->text[0] ? error_of(c->frame, XLA_INVALID_ARGUMENT, c->text)
                    : error_of_status(c->frame, status);
}

/* ---- attributes ---- */

const void *xla_attribute(const xla_frame *frame, const char *name, int kind)
{
  const xla_attributes *all = &frame->attributes;
  const size_t length = strlen(name);
  for (int64_t i = 0; i < all->count; ++i) {
    if (all->names[i]->length == length && !memcmp(all->names[i]->characters, name, length)) {
      return all->kinds[i] == kind ? all->items[i] : NULL;
    }
  }
  return NULL;
}

int64_t xla_number(const xla_frame *frame, const char *name)
{
  const xla_scalar *scalar = xla_attribute(frame, name, XLA_ATTRIBUTE_SCALAR);
  return scalar && scalar->type == XLA_S64 ? *(const int64_t *)scalar->value : 0;
}

xla_handle xla_handle_of(int64_t number)
{
  const uint64_t bits = (uint64_t)number;
  return (xla_handle){(uint32_t)bits, (uint32_t)(bits >> 32)};
}

/* ---- arrays ---- */

size_t xla_size(const xla_buffer *buffer)
{
  size_t size = 1;
  for (int64_t i = 0; i < buffer->rank; ++i) {
    size *= (size_t)buffer->shape[i];
  }
  return size;
}

void *xla_next(xla_call *c, const xla_buffers *all, int64_t *place, int type, size_t width)
{
  const int64_t i = (*place)++;
  if (c->text[0]) {
    return NULL;
  }
  if (i >= all->count || all->kinds[i] != XLA_BUFFER) {
    xla_refuse(c, "abut was called with %lld arrays, which are too few", (long long)all->count);
    return NULL;
  }
  const xla_buffer *buffer = all->items[i];
  if (buffer->type != type || xla_size(buffer) != c->count * width) {
    xla_refuse(c, "array %lld of a call of abut has %zu entries of type %d, not %zu of type %d",
               (long long)i, xla_size(buffer), buffer->type, c->count * width, type);
    return NULL;
  }
  return buffer->data;
}

void *xla_argument(xla_call *c, size_t width)
{
  return xla_next(c, &c->frame->arguments, &c->argument, c->type, width);
}

void *xla_result(xla_call *c, size_t width)
{
  return xla_next(c, &c->frame->results, &c->result, c->type, width);
}

/* ---- the call ---- */

/* XLA asks at registration which version of its interface a handler is of. */
static bool answers_metadata(const xla_frame *frame)
{
  const xla_extension *extension = frame->extensions;
  if (!extension || extension->kind != XLA_EXTENSION_METADATA) {
    return false;
  }
  xla_metadata *metadata = ((const xla_metadata_query *)(const void *)extension)->metadata;
  metadata->version = (xla_version){sizeof metadata->version, NULL, XLA_MAJOR, XLA_MINOR};
  metadata->traits = 0;
  return true;
}

/* XLA's threads make subnormal numbers zero; the library's results are those of any thread. */
xla_error *xla_handle_call(xla_frame *frame, xla_error *(*execute)(const xla_frame *frame))
{
  if (answers_metadata(frame) || frame->stage != XLA_STAGE_EXECUTE) {
    return NULL;
  }
  fenv_t kept;
  fegetenv(&kept);
  fesetenv(FE_DFL_ENV);
  xla_error *error = execute(frame);
  fesetenv(&kept);
  return error;
}
