/* abut as called by XLA: one handler for all calls of python/calls.h. It does not use Python,
 * because XLA's threads do not hold Python's lock.
 *
 * Attributes, 64-bit integers:
 * - call: an abutpy_call
 * - record: the bytes of its record, without its arrays
 * - count: position of the number of entries in the record, in bytes
 * - axes: number of trailing axes of the first argument that belong to one entry; the others count
 *   entries
 * - handles: handles of the library, index in the lower half, generation in the upper one
 * - list: position of the handles' address in the record; -1: none
 * - places: for each argument, then each result: the position of its address in the record, the
 *   numbers per entry, and their type as an index of `types`
 */
#include "calls.h"
#include "xla_ffi.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* 0 is the type of the first argument: float or double. */
static const int types[] = {0, XLA_U8, XLA_S32, XLA_U32};
enum { TYPES = sizeof types / sizeof *types, PLACE = 3 };

typedef union any_record {
  abutpy_contacts_record contacts;
  abutpy_ccd_record ccd;
  abutpy_ccd_queries_record queries;
  abutpy_closest_record closest;
  abutpy_steps_record steps;
  abutpy_positions_record positions;
  char bytes[1];
} any_record;

typedef struct call {
  const xla_frame *frame;
  int type;          /* of real numbers */
  size_t count;      /* number of entries */
  size_t size;       /* of the record */
  any_record record; /* the call's own record */
  char text[256];    /* error text; "" if there is no error */
} call;

/* Records an error; the first one is retained. */
__attribute__((format(printf, 2, 3))) static void refuse(call *c, const char *format, ...)
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

/* ---- attributes ---- */

static const void *attribute(call *c, const char *name, int kind)
{
  const xla_attributes *all = &c->frame->attributes;
  const size_t length = strlen(name);
  for (int64_t i = 0; i < all->count; ++i) {
    if (all->kinds[i] == kind && all->names[i]->length == length &&
        !memcmp(all->names[i]->characters, name, length)) {
      return all->items[i];
    }
  }
  refuse(c, "abut was called without %s", name);
  return NULL;
}

static int64_t number(call *c, const char *name)
{
  const xla_scalar *scalar = attribute(c, name, XLA_ATTRIBUTE_SCALAR);
  return scalar && scalar->type == XLA_S64 ? *(const int64_t *)scalar->value : -1;
}

static xla_array numbers(call *c, const char *name)
{
  const xla_array *array = attribute(c, name, XLA_ATTRIBUTE_ARRAY);
  return array && array->type == XLA_S64 ? *array : (xla_array){XLA_S64, 0, NULL};
}

/* ---- the record ---- */

static void put(call *c, int64_t where, const void *bytes, size_t size)
{
  if (where < 0 || (size_t)where + size > c->size) {
    refuse(c, "abut was called with a place that its record does not have");
  } else if (!c->text[0]) {
    memcpy(c->record.bytes + where, bytes, size);
  }
}

static void copy_record(call *c, int64_t which)
{
  const xla_array bytes = numbers(c, "record");
  c->size = abutpy_record_size((int)which);
  if (!c->size || bytes.count * sizeof(int64_t) != c->size) {
    refuse(c, "abut has no such call, or was another one when this program was made");
    return;
  }
  memcpy(&c->record, bytes.data, c->size);
}

/* Reads the number of entries and the type of real numbers from the first argument. */
static void read_first(call *c)
{
  const xla_buffers *all = &c->frame->arguments;
  const xla_buffer *first = all->count && all->kinds[0] == XLA_BUFFER ? all->items[0] : NULL;
  const int64_t axes = number(c, "axes");
  if (!first || axes < 0 || first->rank < axes ||
      (first->type != XLA_F32 && first->type != XLA_F64)) {
    refuse(c, "abut was called without numbers");
    return;
  }
  c->type = first->type;
  c->count = 1;
  for (int64_t i = 0; i < first->rank - axes; ++i) {
    c->count *= (size_t)first->shape[i];
  }
  put(c, number(c, "count"), &c->count, sizeof c->count);
}

static void read_handles(call *c)
{
  const int64_t list = number(c, "list");
  if (list >= 0) {
    const xla_array handles = numbers(c, "handles");
    const void *data = handles.data;
    put(c, list, &data, sizeof data);
  }
}

static size_t size_of(const xla_buffer *buffer)
{
  size_t size = 1;
  for (int64_t i = 0; i < buffer->rank; ++i) {
    size *= (size_t)buffer->shape[i];
  }
  return size;
}

/* Writes addresses of arrays into the record; NULL if an entry has no numbers. */
static void place_arrays(call *c, const xla_buffers *all, const int64_t *places)
{
  for (int64_t i = 0; i < all->count && !c->text[0]; ++i) {
    const int64_t *place = places + i * PLACE;
    const size_t size = c->count * (size_t)place[1];
    const int type = place[2] < 0 || place[2] >= TYPES ? -1 : place[2] ? types[place[2]] : c->type;
    const xla_buffer *buffer = all->kinds[i] == XLA_BUFFER ? all->items[i] : NULL;
    if (!buffer || buffer->type != type || size_of(buffer) != size) {
      refuse(c, "array %lld of a call of abut has %zu entries of type %d, not %zu of type %d",
             (long long)i, buffer ? size_of(buffer) : 0, buffer ? buffer->type : -1, size, type);
      return;
    }
    const void *data = place[1] ? buffer->data : NULL;
    put(c, place[0], &data, sizeof data);
  }
}

static xla_error *execute(const xla_frame *frame)
{
  call c;
  c.frame = frame;
  c.text[0] = '\0';
  const int64_t which = number(&c, "call");
  const xla_array places = numbers(&c, "places");
  copy_record(&c, which);
  read_first(&c);
  read_handles(&c);
  if (places.count != (size_t)(frame->arguments.count + frame->results.count) * PLACE) {
    refuse(&c, "abut was called with another number of arrays than it has places for");
  } else if (!c.text[0]) {
    const int64_t *first = places.data;
    place_arrays(&c, &frame->arguments, first);
    place_arrays(&c, &frame->results, first + frame->arguments.count * PLACE);
  }
  if (!c.text[0] && !abutpy_fits((int)which, &c.record)) {
    refuse(&c, "arrays of a call of abut are not of the sizes that it has now");
  }
  return c.text[0] ? error_of(frame, XLA_INVALID_ARGUMENT, c.text)
                   : error_of_status(frame, abutpy_run((int)which, &c.record));
}

/* ---- the handler ---- */

/* At registration, XLA asks for the handler's interface version. */
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

/* XLA's threads flush subnormal numbers to zero. The handler restores the default, so that results
 * do not depend on the thread. */
static xla_error *handle(xla_frame *frame)
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

uintptr_t abutpy_xla_handler(void)
{
  return (uintptr_t)handle;
}
