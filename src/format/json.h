/* JSON files whose every fault is told with its line. */
#ifndef ABUT_FORMAT_JSON_H
#define ABUT_FORMAT_JSON_H

#include <abut/status.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The text stays the caller's and must outlive it: lines are looked up in it. */
typedef struct json_file {
  const char *name;
  const char *bytes;
  size_t count;
  json_t *root;
} json_file;

/* A value and how it is reached: a member of its parent, or an element where key is NULL. */
typedef struct json_at {
  const struct json_at *parent; /* NULL for the root */
  const char *key;
  size_t index;
  json_t *value;
} json_at;

/* Parses, behind a byte order mark; the root must be an object, keys must be unique. *root reaches
 * it. */
abut_status json_file_open(json_file *f, const char *name, const char *bytes, size_t count,
                           json_at *root);

/* Does the same where the root must be an array. */
abut_status json_file_open_array(json_file *f, const char *name, const char *bytes, size_t count,
                                 json_at *root);
void json_file_close(json_file *f);

/* "FILE:LINE: path: text", of the line where the key or the element stands. */
__attribute__((format(printf, 3, 4))) abut_status json_fail(const json_file *f, const json_at *at,
                                                            const char *format, ...);

/* Fails unless `at` is an object that has no other keys than these. */
abut_status json_check_keys(const json_file *f, const json_at *at, const char *const *keys,
                            size_t count);

/* A member that may be missing: false then. */
bool json_find(const json_at *parent, const char *key, json_at *out);

/* A member that must be there. */
abut_status json_need(const json_file *f, const json_at *parent, const char *key, json_at *out);

/* Fails unless it is an array; `length` 0 allows any. */
abut_status json_check_array(const json_file *f, const json_at *at, size_t length);
json_at json_element(const json_at *array, size_t index);

abut_status json_number(const json_file *f, const json_at *at, double *out);
abut_status json_numbers(const json_file *f, const json_at *at, size_t count, double *out);
abut_status json_flag(const json_file *f, const json_at *at, bool *out);
abut_status json_whole(const json_file *f, const json_at *at, json_int_t limit, json_int_t *out);
abut_status json_text(const json_file *f, const json_at *at, const char **out);

#endif
