#include "base/error.h"
#include "scene/parts.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const bound bound_any = {-DBL_MAX, false};
const bound bound_not_negative = {0.0, false};
const bound bound_positive = {0.0, true};

static abut_status in_bound(const json_file *f, const json_at *at, bound b, double x)
{
  return (b.open ? x > b.least : x >= b.least)
           ? ABUT_SUCCESS
           : json_fail(f, at, "%.9g must be %s %g", x, b.open ? "above" : "at least", b.least);
}

abut_status scene_number(const json_file *f, const json_at *parent, const char *key, bound b,
                         double *out)
{
  json_at at;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_number(f, &at, out));
  return in_bound(f, &at, b, *out);
}

abut_status scene_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                         double *out)
{
  json_at at;
  return json_find(parent, key, &at) ? json_numbers(f, &at, count, out) : ABUT_SUCCESS;
}

abut_status scene_count(const json_file *f, const json_at *parent, const char *key, int least,
                        int *out)
{
  json_at at;
  json_int_t value;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_whole(f, &at, INT32_MAX, &value));
  *out = (int)value;
  return value >= least ? ABUT_SUCCESS
                        : json_fail(f, &at, "is %d; it must be at least %d", *out, least);
}

abut_status scene_unit(const json_file *f, const json_at *parent, const char *key, size_t count,
                       double *out)
{
  json_at at;
  double most = 0.0, square = 0.0;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, count, out));
  for (size_t k = 0; k < count; ++k) {
    most = fmax(most, fabs(out[k]));
  }
  if (!(most >= DBL_MIN)) {
    return json_fail(f, &at, "has length 0");
  }
  for (size_t k = 0; k < count; ++k) { /* against overflow and underflow */
    out[k] /= most;
    square += out[k] * out[k];
  }
  for (size_t k = 0; k < count; ++k) {
    out[k] /= sqrt(square);
  }
  return ABUT_SUCCESS;
}

abut_status scene_range(const json_file *f, const json_at *parent, const char *key, double out[2],
                        bool *there)
{
  json_at at;
  *there = json_find(parent, key, &at);
  if (!*there) {
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, 2, out));
  return out[0] < out[1] ? ABUT_SUCCESS
                         : json_fail(f, &at, "the lower end %.9g must be below the upper end %.9g",
                                     out[0], out[1]);
}

abut_status scene_word(const json_file *f, const json_at *parent, const char *key,
                       const char *const *words, int count, int *out)
{
  json_at at;
  const char *text;
  char known[128] = "";
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(f, &at, &text));
  for (int i = 0; i < count; ++i) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s\"%s\"", i ? ", " : "", words[i]);
    if (strcmp(text, words[i]) == 0) {
      *out = i;
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, &at, "must be one of %s", known);
}

/* ---- softness ---- */

static const softness default_softness = {{0.02, 1.0}, {0.9, 0.95, 0.001, 0.5, 2.0}};

static double clip(double x)
{
  return fmin(fmax(x, 1e-4), 0.9999);
}

abut_status scene_softness(const json_file *f, const json_at *parent, const char *solref,
                           const char *solimp, softness *out)
{
  *out = default_softness;
  return scene_softness_over(f, parent, solref, solimp, out);
}

abut_status scene_softness_over(const json_file *f, const json_at *parent, const char *solref,
                                const char *solimp, softness *out)
{
  json_at at;
  TRY(scene_vector(f, parent, solref, 2, out->solref));
  const double *r = out->solref;
  if (!((r[0] > 0.0 && r[1] > 0.0) || (r[0] <= 0.0 && r[1] <= 0.0))) {
    json_find(parent, solref, &at);
    return json_fail(f, &at, "%.9g and %.9g must both be above 0, or neither", r[0], r[1]);
  }
  TRY(scene_vector(f, parent, solimp, 5, out->solimp));
  double *d = out->solimp;
  d[0] = clip(d[0]);
  d[1] = clip(d[1]);
  d[3] = clip(d[3]);
  d[4] = fmax(d[4], 1.0);
  return ABUT_SUCCESS;
}

abut_status scene_condim(const json_file *f, const json_at *parent, int *out)
{
  json_at at;
  TRY(scene_count(f, parent, "condim", 1, out));
  if (*out != 1 && *out != 3) {
    json_find(parent, "condim", &at);
    return json_fail(f, &at, "%d must be 1 or 3", *out);
  }
  return ABUT_SUCCESS;
}

abut_status scene_bits(const json_file *f, const json_at *parent, const char *key, uint32_t *out)
{
  json_at at;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  if (!json_is_integer(at.value)) {
    return json_fail(f, &at, "must be a whole number");
  }
  const json_int_t value = json_integer_value(at.value);
  if (value < 0 || value > (json_int_t)UINT32_MAX) {
    return json_fail(f, &at, "%lld is not between 0 and %lld", (long long)value,
                     (long long)UINT32_MAX);
  }
  *out = (uint32_t)value;
  return ABUT_SUCCESS;
}

abut_status scene_refuse(const json_file *f, const json_at *parent, const char *key, bool allowed,
                         const char *why)
{
  json_at at;
  return allowed || !json_find(parent, key, &at) ? ABUT_SUCCESS : json_fail(f, &at, "%s", why);
}

/* ---- texts and lists ---- */

/* Copies the first `folder` bytes of `before`, and then a text, to the scene's memory. */
static abut_status hold(reader *r, const char *before, size_t folder, const char *text, char **out)
{
  void *memory;
  const size_t length = strlen(text);
  TRY(arena_allocate(&r->s->memory, &memory, folder + length + 1, 1));
  *out = memory;
  memcpy(*out, before, folder);
  memcpy(*out + folder, text, length + 1);
  return ABUT_SUCCESS;
}

abut_status scene_text(reader *r, const char *text, char **out)
{
  return hold(r, "", 0, text, out);
}

abut_status scene_path(reader *r, const json_at *at, char **out)
{
  const char *text;
  TRY(json_text(r->file, at, &text));
  if (!*text) {
    return json_fail(r->file, at, "the path is empty");
  }
  const char *slash = strrchr(r->file->name, '/');
  const size_t folder = slash && *text != '/' ? (size_t)(slash - r->file->name) + 1 : 0;
  return hold(r, r->file->name, folder, text, out);
}

abut_status scene_list(reader *r, const json_at *root, const char *key, size_t size, size_t most,
                       json_at *list, void **out, size_t *count)
{
  *out = NULL;
  *count = 0;
  if (!json_find(root, key, list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(r->file, list, 0));
  const size_t given = json_array_size(list->value);
  if (given > most) {
    return json_fail(r->file, list, "has %zu entries; at most %zu are possible", given, most);
  }
  TRY(arena_allocate(&r->s->memory, out, given, size));
  *count = given;
  return ABUT_SUCCESS;
}
