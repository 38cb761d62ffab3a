/* Parses a page's requests; runs in the server's thread. */
#include "world/view/live_parts.h"

#include "core/reductions.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_pose(const json_t *root, const char *name, size_t *width, double *out,
                      answer *refusal)
{
  const json_t *pose = json_object_get(root, name);
  const size_t count = json_array_size(pose);
  if (!json_is_array(pose) || (count != 6 && count != PLACE)) {
    answer_text(refusal, BAD,
                "%s: has %zu numbers, expected 6 (a twist) or 7 (a position and a quaternion)",
                name, count);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const json_t *number = json_array_get(pose, i);
    if (!json_is_number(number)) {
      answer_text(refusal, BAD, "%s: number %zu (0-based) is not a number", name, i);
      return false;
    }
    out[i] = json_number_value(number);
  }
  if (*width && *width != count) {
    answer_text(refusal, BAD, "pose1 has %zu numbers, but %s has %zu", *width, name, count);
    return false;
  }
  *width = count;
  return true;
}

static bool read_threshold(const json_t *root, double *out, answer *refusal)
{
  const json_t *value = json_object_get(root, "threshold");
  *out = value ? json_number_value(value) : 0.0;
  if (value && (!json_is_number(value) || !(*out >= 0.0 && *out <= 1.0))) {
    answer_text(refusal, BAD, "threshold: must be a number from 0 to 1");
    return false;
  }
  return true;
}

static bool read_reduction(const json_t *root, int *out, answer *refusal)
{
  const json_t *value = json_object_get(root, "reduction");
  *out = -1;
  for (int i = 0; json_is_string(value) && i < REDUCTIONS_SLOPED; ++i) {
    *out = strcmp(json_string_value(value), reduction_names[i]) == 0 ? i : *out;
  }
  if (value && *out < 0) {
    answer_text(refusal, BAD, "reduction: there is no reduction with this name");
    return false;
  }
  return true;
}

static bool has_other_keys(const json_t *root, answer *refusal)
{
  static const char *const keys[] = {"pose1",   "pose2",     "frame",     "curves",
                                     "contact", "threshold", "reduction", "smoothing"};
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)root, key, value)
  {
    size_t i = 0;
    while (i < sizeof keys / sizeof *keys && strcmp(key, keys[i]) != 0) {
      ++i;
    }
    if (i == sizeof keys / sizeof *keys) {
      answer_text(refusal, BAD, "`%s`: unknown key of a request", key);
      return true;
    }
  }
  return false;
}

/* Reads `count` whole numbers below 2^32; a single one is not in an array. Without the key *there
 * is false. */
static bool read_wholes(const json_t *root, const char *name, size_t count, size_t *out,
                        bool *there, answer *refusal)
{
  const json_t *value = json_object_get(root, name);
  *there = value != NULL;
  bool good = !value || count == 1 || json_array_size(value) == count;
  for (size_t i = 0; value && good && i < count; ++i) {
    const json_t *one = count == 1 ? value : json_array_get(value, i);
    good = json_is_integer(one) && json_integer_value(one) >= 0 &&
           json_integer_value(one) <= UINT32_MAX;
    out[i] = good ? (size_t)json_integer_value(one) : 0;
  }
  if (!good) {
    answer_text(refusal, BAD, "%s: must be %zu whole number%s of 32 bits", name, count,
                count == 1 ? "" : "s");
  }
  return good;
}

/* Reads the requested frames, or the poses of an additional frame. */
static bool read_frames(const json_t *root, request *r, answer *refusal)
{
  size_t rows[2] = {0, 1}, width = 0;
  bool has_frame = false, has_curves = false;
  if (!read_wholes(root, "frame", 1, rows, &has_frame, refusal) ||
      !read_wholes(root, "curves", 2, rows, &has_curves, refusal) ||
      !read_wholes(root, "contact", 2, r->contact, &r->follows, refusal)) {
    return false;
  }
  r->first = rows[0];
  r->count = rows[1];
  r->what = has_curves ? OF_CURVES : has_frame ? OF_FRAME : OF_POSES;
  if (has_frame && has_curves) {
    answer_text(refusal, BAD, "a request must be for one frame or for curves, not for both");
    return false;
  }
  if (r->follows && !has_curves) {
    answer_text(refusal, BAD, "contact: works only with curves");
    return false;
  }
  if (has_curves && (!r->count || r->count > CURVE_FRAMES_MOST)) {
    answer_text(refusal, BAD, "curves: %zu frames are not in [1, %d]", r->count, CURVE_FRAMES_MOST);
    return false;
  }
  if (r->what != OF_POSES) {
    if (json_object_get(root, "pose1") || json_object_get(root, "pose2")) {
      answer_text(refusal, BAD, "a request must have poses, a frame or curves");
      return false;
    }
    return true;
  }
  if (!read_pose(root, "pose1", &width, r->pose1, refusal) ||
      !read_pose(root, "pose2", &width, r->pose2, refusal)) {
    return false;
  }
  r->kind = width == PLACE ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  return true;
}

static request *read_request(const json_t *root, answer *refusal)
{
  request r = {0};
  if (!json_is_object(root)) {
    answer_text(refusal, BAD, "a request must be an object");
    return NULL;
  }
  if (has_other_keys(root, refusal) || !read_frames(root, &r, refusal) ||
      !read_threshold(root, &r.threshold, refusal) ||
      !read_reduction(root, &r.reduction, refusal)) {
    return NULL;
  }
  const json_t *smoothing = json_object_get(root, "smoothing");
  if (smoothing && !json_is_object(smoothing)) {
    answer_text(refusal, BAD, "smoothing: must be an object");
    return NULL;
  }
  char *text = smoothing ? json_dumps(smoothing, JSON_COMPACT | JSON_REAL_PRECISION(17))
                         : strdup("");
  const size_t bytes = text ? strlen(text) + 1 : 0;
  request *out = text ? malloc(sizeof *out + bytes) : NULL;
  if (out) {
    *out = r;
    memcpy(out->smoothing, text, bytes);
  } else {
    answer_text(refusal, FAILED, "no memory");
  }
  free(text);
  return out;
}

void *live_parse(const char *bytes, size_t count, answer *refusal)
{
  json_error_t error;
  json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
  if (!root) {
    answer_text(refusal, BAD, "line %d of the request: %s", error.line, error.text);
    return NULL;
  }
  request *r = read_request(root, refusal);
  json_decref(root);
  return r;
}
