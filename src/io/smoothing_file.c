#include "io/smoothing_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "format/json.h"
#include "format/text.h"
#include <abut/files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 2048 /* all keys with numbers of at most 25 bytes */

#define LENGTH(key, member)                                                        \
  {                                                                                \
#key, offsetof(abut_smoothing, member), SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST \
  }
#define OTHER(key, member)                                                  \
  {                                                                         \
#key, offsetof(abut_smoothing, member), SMOOTHING_LEAST, SMOOTHING_MOST \
  }
#define WITHIN(key, least, most)                     \
  {                                                  \
#key, offsetof(abut_smoothing, key), least, most \
  }

typedef struct entry {
  const char *key;
  size_t offset;
  double least, most;
} entry;

static const entry reals[] = {
  LENGTH(length, length),
  LENGTH(union, union_),
  LENGTH(plane, plane),
  OTHER(normal, normal),
  LENGTH(penetration, penetration),
  LENGTH(neighbour, neighbour),
  OTHER(clash, clash),
  OTHER(sign, sign),
  LENGTH(sort, sort),
  OTHER(clip, clip),
  OTHER(minimum, minimum),
  OTHER(compare, compare),
  OTHER(ridge, ridge),
  OTHER(distance, distance),
};

#define REAL_COUNT (sizeof reals / sizeof *reals)

/* These may be absent, and are then 0: off. */
static const entry optional[] = {
  WITHIN(floor, 0.0, FLOOR_MOST),
  WITHIN(margin, -SMOOTHING_MOST, SMOOTHING_MOST),
};

#define OPTIONAL_COUNT (sizeof optional / sizeof *optional)

/* Coefficients of pairs of edges that no longer exist. Files that set them to 0, off, are still
 * valid. */
static const char *const taken_out[] = {"near", "reach", "ends", "agree"};

#define TAKEN_OUT_COUNT (sizeof taken_out / sizeof *taken_out)

static const char *const other_keys[] = {"trace",     "inside",        "select",
                                         "edge_edge", "two_sided",     "edges",
                                         "vertices",  "edge_contacts", "samples"};

#define OTHER_COUNT (sizeof other_keys / sizeof *other_keys)
enum { EDGE_CONTACTS = 7, SAMPLES = 8 }; /* indices into other_keys */

/* These are required if "edge_contacts" is "field", and are otherwise unused. */
static const entry field_reals[] = {
  WITHIN(tilt, TILT_LEAST, TILT_MOST),
  WITHIN(inset, 0.0, SMOOTHING_MOST),
  WITHIN(part, SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST),
  WITHIN(gain, SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST),
  WITHIN(slope, -SMOOTHING_MOST, SMOOTHING_MOST),
};

#define FIELD_COUNT (sizeof field_reals / sizeof *field_reals)

/* These also belong to "field". They may be absent, and are then 0. */
static const entry cone_reals[] = {
  WITHIN(cone_inner, 0.0, CONE_MOST),
  WITHIN(cone_outer, 0.0, CONE_MOST),
  WITHIN(cone_hold, 0.0, CONE_MOST),
  WITHIN(cone_inset, 0.0, SMOOTHING_MOST),
};

#define CONE_COUNT (sizeof cone_reals / sizeof *cone_reals)

/* Keys are numbered in this order. */
#define OPTIONAL_FIRST REAL_COUNT
#define OTHER_FIRST (OPTIONAL_FIRST + OPTIONAL_COUNT)
#define FIELD_FIRST (OTHER_FIRST + OTHER_COUNT)
#define CONE_FIRST (FIELD_FIRST + FIELD_COUNT)
#define KEY_COUNT (CONE_FIRST + CONE_COUNT)

/* Returns the entry of a key of a real number, or NULL. */
static const entry *real_entry(size_t key)
{
  return key < OPTIONAL_FIRST ? &reals[key]
         : key < OTHER_FIRST  ? &optional[key - OPTIONAL_FIRST]
         : key >= CONE_FIRST  ? &cone_reals[key - CONE_FIRST]
         : key >= FIELD_FIRST ? &field_reals[key - FIELD_FIRST]
                              : NULL;
}

static const char *key_name(size_t key)
{
  const entry *e = real_entry(key);
  return e ? e->key : other_keys[key - OTHER_FIRST];
}

/* Returns whether a coefficient is 0 if its key is absent. */
static bool is_off_if_absent(size_t key)
{
  return (key >= OPTIONAL_FIRST && key < OTHER_FIRST) || key >= CONE_FIRST;
}

/* Returns whether a key only applies to edges in fields, and is optional in other files. */
static bool is_of_fields(size_t key)
{
  return key >= FIELD_FIRST || key == OTHER_FIRST + EDGE_CONTACTS || key == OTHER_FIRST + SAMPLES;
}

static abut_status check_taken_out(const json_file *f, const json_at *at)
{
  double value;
  TRY(json_number(f, at, &value));
  return value == 0.0 ? ABUT_SUCCESS
                      : json_fail(f, at,
                                  "this key was removed in version 0.3: use edge contacts in "
                                  "fields (\"edge_contacts\": \"field\")");
}

static abut_status check_keys(const json_file *f, const json_at *root)
{
  const char *keys[KEY_COUNT + TAKEN_OUT_COUNT];
  json_at at;
  for (size_t i = 0; i < KEY_COUNT; i++) {
    keys[i] = key_name(i);
  }
  memcpy(keys + KEY_COUNT, taken_out, sizeof taken_out);
  TRY(json_check_keys(f, root, keys, KEY_COUNT + TAKEN_OUT_COUNT));
  for (size_t i = 0; i < TAKEN_OUT_COUNT; i++) {
    TRY(json_find(root, taken_out[i], &at) ? check_taken_out(f, &at) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

static abut_status read_real(const json_file *f, const json_at *at, const entry *e,
                             abut_smoothing *out)
{
  double value;
  TRY(json_number(f, at, &value));
  if (!(value >= e->least && value <= e->most)) {
    return json_fail(f, at, "%.9g is not in [%g, %g]", value, e->least, e->most);
  }
  memcpy((char *)out + e->offset, &value, sizeof value);
  return ABUT_SUCCESS;
}

static abut_status read_select(const json_file *f, const json_at *at, abut_select *out)
{
  const char *select;
  TRY(json_text(f, at, &select));
  if (strcmp(select, "softsort") != 0 && strcmp(select, "gate") != 0) {
    return json_fail(f, at, "must be \"softsort\" or \"gate\"");
  }
  *out = strcmp(select, "gate") == 0 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  return ABUT_SUCCESS;
}

static abut_status read_edge_contacts(const json_file *f, const json_at *at,
                                      abut_edge_contacts *out)
{
  const char *text;
  TRY(json_text(f, at, &text));
  if (strcmp(text, "pairs") != 0 && strcmp(text, "field") != 0) {
    return json_fail(f, at, "must be \"pairs\" or \"field\"");
  }
  *out = strcmp(text, "field") == 0 ? ABUT_EDGES_FIELD : ABUT_EDGES_PAIRS;
  return ABUT_SUCCESS;
}

static abut_status read_pair(const json_file *f, const json_at *at, uint32_t *out)
{
  TRY(json_check_array(f, at, 2));
  for (size_t i = 0; i < 2; i++) {
    json_at element = json_element(at, i);
    json_int_t value;
    TRY(json_whole(f, &element, UINT32_MAX, &value));
    out[i] = (uint32_t)value;
  }
  return ABUT_SUCCESS;
}

static abut_status read_trace(const json_file *f, const json_at *at, uint32_t *out)
{
  json_int_t trace;
  TRY(json_whole(f, at, TRACE_MOST, &trace));
  *out = (uint32_t)trace;
  return ABUT_SUCCESS;
}

static abut_status read_samples(const json_file *f, const json_at *at, uint32_t *out)
{
  json_int_t samples;
  TRY(json_whole(f, at, ABUT_SAMPLES_MOST, &samples));
  if (!samples) {
    return json_fail(f, at, "0 is not in [1, %d]", ABUT_SAMPLES_MOST);
  }
  *out = (uint32_t)samples;
  return ABUT_SUCCESS;
}

/* `which` is an index into other_keys. */
static abut_status read_other(const json_file *f, const json_at *at, size_t which,
                              abut_smoothing *out)
{
  switch (which) {
  case 0:
    return read_trace(f, at, &out->trace);
  case 1:
    return json_flag(f, at, &out->inside);
  case 2:
    return read_select(f, at, &out->select);
  case 3:
    return json_flag(f, at, &out->edge_edge);
  case 4:
    return json_flag(f, at, &out->two_sided);
  case 5:
    return read_pair(f, at, out->edges);
  case 6:
    return read_pair(f, at, out->vertices);
  case EDGE_CONTACTS:
    return read_edge_contacts(f, at, &out->edge_contacts);
  default:
    return read_samples(f, at, &out->samples);
  }
}

static abut_status read_key(const json_file *f, const json_at *at, size_t key, abut_smoothing *out)
{
  const entry *e = real_entry(key);
  return e ? read_real(f, at, e, out) : read_other(f, at, key - OTHER_FIRST, out);
}

abut_status smoothing_read(const json_file *f, const json_at *root, abut_smoothing *out)
{
  TRY(check_keys(f, root));
  out->edge_contacts = ABUT_EDGES_PAIRS; /* default; its key precedes the keys that depend on it */
  for (size_t i = 0; i < KEY_COUNT; i++) {
    json_at at;
    const bool there = json_find(root, key_name(i), &at);
    if (is_off_if_absent(i) && !there) {
      const double off = 0.0;
      memcpy((char *)out + real_entry(i)->offset, &off, sizeof off);
      continue;
    }
    if (is_of_fields(i) && !there &&
        (i == OTHER_FIRST + EDGE_CONTACTS || out->edge_contacts == ABUT_EDGES_PAIRS)) {
      continue;
    }
    TRY(json_need(f, root, key_name(i), &at));
    TRY(read_key(f, &at, i, out));
  }
  return ABUT_SUCCESS;
}

abut_status smoothing_read_some(const json_file *f, const json_at *root, abut_smoothing *out,
                                uint64_t *stated)
{
  _Static_assert(KEY_COUNT < 64, "a bit a key");
  bool all = true;
  *stated = 0;
  for (size_t i = 0; i < KEY_COUNT; i++) {
    json_at at;
    const bool is_there = json_find(root, key_name(i), &at);
    *stated |= is_there ? UINT64_C(1) << i : 0;
    all = all && (is_there || is_off_if_absent(i) || is_of_fields(i));
  }
  if (all) {
    *stated = UINT64_MAX;
    return smoothing_read(f, root, out);
  }
  TRY(check_keys(f, root));
  for (size_t i = 0; i < KEY_COUNT; i++) {
    json_at at;
    if (*stated >> i & 1) {
      TRY(json_need(f, root, key_name(i), &at));
      TRY(read_key(f, &at, i, out));
    }
  }
  return ABUT_SUCCESS;
}

static void copy_other(const abut_smoothing *from, size_t which, abut_smoothing *to)
{
  switch (which) {
  case 0:
    to->trace = from->trace;
    break;
  case 1:
    to->inside = from->inside;
    break;
  case 2:
    to->select = from->select;
    break;
  case 3:
    to->edge_edge = from->edge_edge;
    break;
  case 4:
    to->two_sided = from->two_sided;
    break;
  case 5:
    memcpy(to->edges, from->edges, sizeof to->edges);
    break;
  case EDGE_CONTACTS:
    to->edge_contacts = from->edge_contacts;
    break;
  case SAMPLES:
    to->samples = from->samples;
    break;
  default:
    memcpy(to->vertices, from->vertices, sizeof to->vertices);
  }
}

void smoothing_copy_some(const abut_smoothing *from, uint64_t stated, abut_smoothing *to)
{
  for (size_t i = 0; i < KEY_COUNT; i++) {
    if (!(stated >> i & 1)) {
      continue;
    }
    const entry *e = real_entry(i);
    if (e) {
      memcpy((char *)to + e->offset, (const char *)from + e->offset, sizeof(double));
    } else {
      copy_other(from, i - OTHER_FIRST, to);
    }
  }
}

abut_status smoothing_parse_some(const char *name, const char *bytes, size_t count,
                                 abut_smoothing *out, uint64_t *stated)
{
  json_file f;
  json_at root;
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = smoothing_read_some(&f, &root, out, stated);
  }
  json_file_close(&f);
  return status;
}

abut_status smoothing_parse(const char *name, const char *bytes, size_t count, abut_smoothing *out)
{
  json_file f;
  json_at root;
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = smoothing_read(&f, &root, out);
  }
  json_file_close(&f);
  return status;
}

static size_t write_real(char *text, size_t room, const char *key, double value)
{
  char number[32];
  number_format(value, number);
  return (size_t)snprintf(text, room, " \"%s\": %s,\n", key, number);
}

/* Returns whether a key is a real number that the smoothing's file contains. */
static bool is_written(const abut_smoothing *s, size_t key)
{
  return real_entry(key) && (!is_of_fields(key) || s->edge_contacts == ABUT_EDGES_FIELD);
}

static size_t write_reals(const abut_smoothing *s, char *text, size_t used)
{
  for (size_t i = 0; i < KEY_COUNT; i++) {
    if (is_written(s, i)) {
      double value;
      memcpy(&value, (const char *)s + real_entry(i)->offset, sizeof value);
      used += write_real(text + used, TEXT_BYTES - used, real_entry(i)->key, value);
    }
  }
  return used;
}

static void write_others(const abut_smoothing *s, char *text, size_t used)
{
  static const char *const flags[] = {"false", "true"};
  if (s->edge_contacts == ABUT_EDGES_FIELD) {
    used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                             " \"edge_contacts\": \"field\",\n \"samples\": %u,\n", s->samples);
  }
  snprintf(text + used, TEXT_BYTES - used,
           " \"trace\": %u,\n \"inside\": %s,\n \"select\": \"%s\",\n \"edge_edge\": %s,\n"
           " \"two_sided\": %s,\n \"edges\": [%u, %u],\n \"vertices\": [%u, %u]\n}\n",
           s->trace, flags[s->inside], s->select == ABUT_SELECT_GATE ? "gate" : "softsort",
           flags[s->edge_edge], flags[s->two_sided], s->edges[0], s->edges[1], s->vertices[0],
           s->vertices[1]);
}

static abut_status check_reals(const abut_smoothing *s)
{
  for (size_t i = 0; i < KEY_COUNT; i++) {
    double value = 0.0;
    if (is_written(s, i)) {
      memcpy(&value, (const char *)s + real_entry(i)->offset, sizeof value);
    }
    if (!isfinite(value)) {
      return fail(ABUT_ERROR_ARGUMENT, "smoothing: %s is not finite", real_entry(i)->key);
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_format_smoothing(const abut_smoothing *smoothing, char **text)
{
  number_locale locale = {0};
  abut_status status = ABUT_SUCCESS;
  if (!smoothing || !text) {
    return fail(ABUT_ERROR_ARGUMENT, "smoothing or text is NULL");
  }
  *text = NULL;
  TRY(check_reals(smoothing));
  TRY_DONE(number_locale_enter(&locale));
  *text = malloc(TEXT_BYTES);
  if (!*text) {
    status = fail(ABUT_ERROR_MEMORY, "not enough memory for %d bytes", TEXT_BYTES);
    goto done;
  }
  strcpy(*text, "{\n");
  write_others(smoothing, *text, write_reals(smoothing, *text, 2));
done:
  number_locale_leave(&locale);
  return status;
}
