#include "format/json.h"

#include "base/error.h"
#include "format/json_line.h"
#include "format/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static abut_status parse(json_file *f, const char *name, const char *bytes, size_t count,
                         json_at *root)
{
  json_error_t error;
  const size_t mark = text_mark(bytes, count);
  *f = (json_file){name, bytes + mark, count - mark, NULL};
  f->root = json_loadb(f->bytes, f->count, JSON_REJECT_DUPLICATES, &error);
  *root = (json_at){.value = f->root};
  if (!f->root && json_error_code(&error) == json_error_out_of_memory) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", name);
  }
  if (!f->root) {
    return fail_at(ABUT_ERROR_FORMAT, name, error.line > 0 ? (size_t)error.line : 1, "%s",
                   error.text);
  }
  return ABUT_SUCCESS;
}

abut_status json_file_open(json_file *f, const char *name, const char *bytes, size_t count,
                           json_at *root)
{
  TRY(parse(f, name, bytes, count, root));
  return json_is_object(f->root) ? ABUT_SUCCESS : json_fail(f, root, "must be an object");
}

abut_status json_file_open_array(json_file *f, const char *name, const char *bytes, size_t count,
                                 json_at *root)
{
  TRY(parse(f, name, bytes, count, root));
  return json_check_array(f, root, 0);
}

void json_file_close(json_file *f)
{
  json_decref(f->root);
  f->root = NULL;
}

static void append(char *path, size_t room, const char *text)
{
  size_t used = strlen(path);
  snprintf(path + used, room - used, "%s", text);
}

static void write_path(const json_at *at, char *path, size_t room)
{
  if (!at->parent) {
    return;
  }
  write_path(at->parent, path, room);
  if (at->key) {
    append(path, room, *path ? "." : "");
    append(path, room, string_shown(at->key).text);
  } else {
    char index[32];
    snprintf(index, sizeof index, "[%zu]", at->index);
    append(path, room, index);
  }
}

abut_status json_fail(const json_file *f, const json_at *at, const char *format, ...)
{
  char path[256] = "", cause[512];
  write_path(at, path, sizeof path);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  return fail_at(ABUT_ERROR_FORMAT, f->name, json_line(f, at), "%s%s%s", path, *path ? ": " : "",
                 cause);
}

abut_status json_check_keys(const json_file *f, const json_at *at, const char *const *keys,
                            size_t count)
{
  const char *key;
  json_t *value;
  if (!json_is_object(at->value)) {
    return json_fail(f, at, "must be an object");
  }
  json_object_foreach(at->value, key, value)
  {
    size_t i = 0;
    while (i < count && strcmp(keys[i], key) != 0) {
      i++;
    }
    if (i == count) {
      json_at unknown = {at, key, 0, value};
      return json_fail(f, &unknown, "unknown key");
    }
  }
  return ABUT_SUCCESS;
}

bool json_find(const json_at *parent, const char *key, json_at *out)
{
  *out = (json_at){parent, key, 0, json_object_get(parent->value, key)};
  return out->value != NULL;
}

abut_status json_need(const json_file *f, const json_at *parent, const char *key, json_at *out)
{
  return json_find(parent, key, out) ? ABUT_SUCCESS
                                     : json_fail(f, parent, "the key '%s' is missing", key);
}

abut_status json_check_array(const json_file *f, const json_at *at, size_t length)
{
  if (!json_is_array(at->value)) {
    return json_fail(f, at, "must be an array");
  }
  size_t size = json_array_size(at->value);
  if (length && size != length) {
    return json_fail(f, at, "has %zu elements, expected %zu", size, length);
  }
  return ABUT_SUCCESS;
}

json_at json_element(const json_at *array, size_t index)
{
  return (json_at){array, NULL, index, json_array_get(array->value, index)};
}

abut_status json_number(const json_file *f, const json_at *at, double *out)
{
  if (!json_is_number(at->value)) {
    return json_fail(f, at, "must be a number");
  }
  *out = json_number_value(at->value);
  return isfinite(*out) ? ABUT_SUCCESS : json_fail(f, at, "must be finite");
}

abut_status json_numbers(const json_file *f, const json_at *at, size_t count, double *out)
{
  TRY(json_check_array(f, at, count));
  for (size_t i = 0; i < count; i++) {
    json_at element = json_element(at, i);
    TRY(json_number(f, &element, &out[i]));
  }
  return ABUT_SUCCESS;
}

abut_status json_flag(const json_file *f, const json_at *at, bool *out)
{
  *out = json_is_true(at->value);
  return json_is_boolean(at->value) ? ABUT_SUCCESS : json_fail(f, at, "must be true or false");
}

abut_status json_whole(const json_file *f, const json_at *at, json_int_t limit, json_int_t *out)
{
  *out = json_integer_value(at->value);
  if (!json_is_integer(at->value) || *out < 0 || *out > limit) {
    return json_fail(f, at, "must be a whole number from 0 to %lld", (long long)limit);
  }
  return ABUT_SUCCESS;
}

abut_status json_text(const json_file *f, const json_at *at, const char **out)
{
  *out = json_string_value(at->value);
  return *out ? ABUT_SUCCESS : json_fail(f, at, "must be a string");
}
