/* Strict parsing of option values. */
#include "core/cli.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtod also accepts blanks, hexadecimal, "inf" and "nan"; these are refused. */
bool read_real(const char *text, double *out)
{
  char *end = NULL;
  if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) {
    return false;
  }
  *out = strtod(text, &end);
  return !*end && isfinite(*out);
}

static bool read_whole(const char *text, size_t count, size_t *out)
{
  size_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t digit = (size_t)(text[i] - '0');
    if (text[i] < '0' || text[i] > '9' || value > (SIZE_MAX - digit) / 10) {
      return false;
    }
    value = 10 * value + digit;
  }
  *out = value;
  return count > 0;
}

exit_code option_real(const options *o, option_id id, double least, double most, double *out)
{
  const char *text = o->value[id];
  double value = 0.0;
  if (!text) {
    return EXIT_GOOD;
  }
  if (!read_real(text, &value)) {
    return usage_error(o->command, "%s: `%s` is not a number", option_name(id), text);
  }
  if (!(value >= least && value <= most)) {
    return usage_error(o->command, "%s: %s is not in [%g, %g]", option_name(id), text, least, most);
  }
  *out = value;
  return EXIT_GOOD;
}

exit_code option_temperature(const options *o, abut_batch *batch)
{
  return option_real(o, OPTION_TEMPERATURE, 1e-12, 1e9, &batch->reductions.temperature);
}

static exit_code whole_in(const options *o, option_id id, const char *text, size_t length,
                          size_t least, size_t most, size_t *out)
{
  size_t value = 0;
  if (!read_whole(text, length, &value)) {
    return usage_error(o->command, "%s: `%.*s` is not a whole number of at least 0",
                       option_name(id), (int)length, text);
  }
  if (value < least || value > most) {
    return usage_error(o->command, "%s: %zu is not in [%zu, %zu]", option_name(id), value, least,
                       most);
  }
  *out = value;
  return EXIT_GOOD;
}

exit_code option_whole(const options *o, option_id id, size_t least, size_t most, size_t *out)
{
  const char *text = o->value[id];
  return text ? whole_in(o, id, text, strlen(text), least, most, out) : EXIT_GOOD;
}

/* Returns the length of the next entry of a comma-separated list, and the start of the one after
 * it. */
static size_t entry_length(const char *at, const char **next)
{
  const size_t length = strcspn(at, ",");
  *next = at[length] ? at + length + 1 : NULL;
  return length;
}

exit_code option_pairs(const options *o, option_id id, size_t room, double (*out)[2], size_t *count)
{
  const char *text = o->value[id];
  size_t numbers = 0;
  char word[64];
  if (!text) {
    return EXIT_GOOD;
  }
  for (const char *at = text, *next; at; at = next, ++numbers) {
    const size_t length = entry_length(at, &next);
    if (numbers == 2 * room) {
      return usage_error(o->command, "%s: more than %zu pairs of numbers", option_name(id), room);
    }
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
    if (length >= sizeof word || !read_real(word, &out[numbers / 2][numbers % 2])) {
      return usage_error(o->command, "%s: `%.*s` is not a number", option_name(id), (int)length,
                         at);
    }
  }
  if (numbers % 2) {
    return usage_error(o->command, "%s: `%s` must be pairs of numbers", option_name(id), text);
  }
  *count = numbers / 2;
  return EXIT_GOOD;
}

exit_code option_reals(const options *o, option_id id, size_t count, double *out)
{
  const char *text = o->value[id];
  size_t numbers = 0;
  char word[64];
  for (const char *at = text, *next; at; at = next, ++numbers) {
    const size_t length = entry_length(at, &next);
    double value = 0.0;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
    if (length >= sizeof word || !read_real(word, &value)) {
      return usage_error(o->command, "%s: `%.*s` is not a number", option_name(id), (int)length,
                         at);
    }
    if (numbers < count) {
      out[numbers] = value;
    }
  }
  return !text || numbers == count
           ? EXIT_GOOD
           : usage_error(o->command, "%s: `%s` must be %zu numbers", option_name(id), text, count);
}

static const char *const precision_words[] = {"f32", "f64"};

exit_code option_precision(const options *o, abut_precision *out)
{
  const char *text = o->value[OPTION_PRECISION];
  for (int i = 0; text && i < 2; ++i) {
    if (strcmp(text, precision_words[i]) == 0) {
      *out = (abut_precision)i;
      return EXIT_GOOD;
    }
  }
  return text ? usage_error(o->command, "--precision: `%s` must be f32 or f64", text) : EXIT_GOOD;
}

static exit_code too_many(const options *o, option_id id)
{
  return usage_error(o->command, "%s: more than %d entries", option_name(id), LIST_ROOM);
}

exit_code option_whole_list(const options *o, option_id id, size_t *out, size_t *count)
{
  if (!o->value[id]) {
    return EXIT_GOOD;
  }
  *count = 0;
  for (const char *at = o->value[id], *next; at; at = next) {
    const size_t length = entry_length(at, &next);
    if (*count == LIST_ROOM) {
      return too_many(o, id);
    }
    CLI_TRY(whole_in(o, id, at, length, 1, (size_t)1 << 31, &out[*count]));
    ++*count;
  }
  return EXIT_GOOD;
}

static exit_code no_such_word(const options *o, option_id id, const char *word, size_t length,
                              const char *const *words, size_t word_count)
{
  char possible[256] = "";
  for (size_t i = 0, used = 0; i < word_count && used < sizeof possible; ++i) {
    used +=
      (size_t)snprintf(possible + used, sizeof possible - used, "%s%s", i ? ", " : "", words[i]);
  }
  return usage_error(o->command, "%s: unknown value `%.*s`; possible values: %s", option_name(id),
                     (int)length, word, possible);
}

static size_t find_word(const char *word, size_t length, const char *const *words, size_t count)
{
  size_t found = 0;
  while (found < count &&
         (strlen(words[found]) != length || strncmp(words[found], word, length) != 0)) {
    ++found;
  }
  return found;
}

exit_code option_word(const options *o, option_id id, const char *const *words, size_t word_count,
                      size_t *out)
{
  const char *word = o->value[id];
  if (!word) {
    return EXIT_GOOD;
  }
  const size_t length = strlen(word), found = find_word(word, length, words, word_count);
  if (found == word_count) {
    return no_such_word(o, id, word, length, words, word_count);
  }
  *out = found;
  return EXIT_GOOD;
}

exit_code option_word_list(const options *o, option_id id, const char *const *words,
                           size_t word_count, size_t *out, size_t *count)
{
  if (!o->value[id]) {
    return EXIT_GOOD;
  }
  *count = 0;
  for (const char *at = o->value[id], *next; at; at = next) {
    const size_t length = entry_length(at, &next);
    const size_t found = find_word(at, length, words, word_count);
    if (found == word_count) {
      return no_such_word(o, id, at, length, words, word_count);
    }
    if (*count == LIST_ROOM) {
      return too_many(o, id);
    }
    out[(*count)++] = found;
  }
  return EXIT_GOOD;
}
