/* JSON files with the line number in every error. */
#ifndef ABUT_FORMAT_JSON_H
#define ABUT_FORMAT_JSON_H

#include <abut/status.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The caller owns the text, which must outlive the file: line numbers are computed from it. */
typedef struct json_file {
  const char *name;
  const char *bytes;
  size_t count;
  json_t *root;
} json_file;

/* A value and its path: a member of its parent, or an element if key is NULL. */
typedef struct json_at {
  const struct json_at *parent; /* NULL for the root */
  const char *key;
  size_t index;
  json_t *value;
} json_at;

/* Parses the text, after an optional byte order mark. The root must be an object, and keys must be
 * unique. *root refers to it. */
abut_status json_file_open(json_file *f, const char *name, const char *bytes, size_t count,
                           json_at *root);

/* Does the same for an array as the root. */
abut_status json_file_open_array(json_file *f, const char *name, const char *bytes, size_t count,
                                 json_at *root);
void json_file_close(json_file *f);

/* Fails with "FILE:LINE: path: text", where the line is that of the key or the element. */
__attribute__((format(printf, 3, 4))) abut_status json_fail(const json_file *f, const json_at *at,
                                                            const char *format, ...);

/* Fails unless `at` is an object with only these keys. */
abut_status json_check_keys(const json_file *f, const json_at *at, const char *const *keys,
                            size_t count);

/* Finds an optional member; returns false if it is missing. */
bool json_find(const json_at *parent, const char *key, json_at *out);

/* Finds a required member. */
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
