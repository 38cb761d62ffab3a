#include "core/also.h"

#include "mesh/fields.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POSITION 3
#define POSE 7
#define NUMBER_ROOM 64
#define POSE_FORMS "a pose is x,y,z or x,y,z,qw,qx,qy,qz"

/* ---- parsing ---- */

/* Counts the numbers between commas and reads the first POSE of them. If one is not a number,
 * returns 0 and its position. */
static size_t read_numbers(const char *text, double out[POSE], const char **bad)
{
  size_t count = 0;
  char word[NUMBER_ROOM];
  for (const char *at = text; at; ++count) {
    const size_t length = strcspn(at, ",");
    double unused;
    memcpy(word, at, length < sizeof word ? length : 0);
    word[length < sizeof word ? length : 0] = '\0';
    if (!read_real(word, count < POSE ? &out[count] : &unused)) {
      *bad = at;
      return 0;
    }
    at = at[length] ? at + length + 1 : NULL;
  }
  return count;
}

static const char *last_colon(const char *word)
{
  return strrchr(word, ':');
}

size_t also_path_length(const char *word)
{
  const char *colon = last_colon(word), *bad;
  double pose[POSE];
  const size_t count = colon ? read_numbers(colon + 1, pose, &bad) : 0;
  return count == POSITION || count == POSE ? (size_t)(colon - word) : strlen(word);
}

/* Returns whether the text after the last colon is more likely a mistyped pose than part of a file
 * name. */
static bool is_like_pose(const char *text)
{
  return !strchr(text, '/') && (!*text || strchr(text, ',') || strchr("+-.0123456789", *text));
}

/* Refuses a word that is not a file and whose pose cannot be read. */
static exit_code refuse_pose(const options *o, const char *word)
{
  const char *text = last_colon(word) + 1, *bad = NULL;
  double pose[POSE];
  const size_t count = read_numbers(text, pose, &bad);
  return bad
           ? usage_error(o->command, "--also: `%s`: `%.*s` is not a number; " POSE_FORMS, word,
                         (int)strcspn(bad, ","), bad)
           : usage_error(o->command, "--also: `%s`: %zu number%s after the last colon; " POSE_FORMS,
                         word, count, count == 1 ? "" : "s");
}

static exit_code read_pose(const options *o, const char *word, size_t length, double pose[POSE])
{
  const char *bad;
  memcpy(pose, (double[POSE]){0.0, 0.0, 0.0, 1.0}, POSE * sizeof *pose);
  if (!word[length]) {
    return EXIT_GOOD;
  }
  read_numbers(word + length + 1, pose, &bad);
  return pose[3] != 0.0 || pose[4] != 0.0 || pose[5] != 0.0 || pose[6] != 0.0
           ? EXIT_GOOD
           : usage_error(o->command, "--also: `%s`: the quaternion has length 0", word);
}

static exit_code read_word(also *a, const options *o, const char *word)
{
  const size_t length = also_path_length(word);
  const bool whole = !word[length];
  if (!length) {
    return usage_error(o->command, "--also: `%s` does not name a body", word);
  }
  if (whole && last_colon(word) && access(word, F_OK) != 0 && is_like_pose(last_colon(word) + 1)) {
    return refuse_pose(o, word);
  }
  CLI_TRY(read_pose(o, word, length, a->bodies[a->count].pose));
  char *path = strndup(word, length);
  if (!path) {
    return report(EXIT_RUN, "not enough memory for the command line");
  }
  a->paths[a->count++] = path;
  CLI_TRY(check_readable(path));
  return check_not_body(o->value[OPTION_OUTPUT], path);
}

exit_code also_open(also *a, const options *o)
{
  *a = (also){0};
  if (!o->also_count) {
    return EXIT_GOOD;
  }
  a->paths = calloc((size_t)o->also_count, sizeof *a->paths);
  a->bodies = calloc((size_t)o->also_count, sizeof *a->bodies);
  if (!a->paths || !a->bodies) {
    return report(EXIT_RUN, "not enough memory for the command line");
  }
  for (int i = 0; i < o->also_count; ++i) {
    CLI_TRY(read_word(a, o, o->also[i]));
  }
  return EXIT_GOOD;
}

/* ---- bodies ---- */

static const abut_body *loaded_before(const also *a, const session *s, const options *o,
                                      size_t which)
{
  for (int i = 0; i < 2; ++i) {
    if (strcmp(o->operands[i], a->paths[which]) == 0) {
      return &s->bodies[i];
    }
  }
  for (size_t i = 0; i < which; ++i) {
    if (strcmp(a->paths[i], a->paths[which]) == 0) {
      return &a->bodies[i].body;
    }
  }
  return NULL;
}

exit_code also_load(also *a, const session *s, const options *o)
{
  for (size_t i = 0; i < a->count; ++i) {
    const abut_body *before = loaded_before(a, s, o, i);
    if (before) {
      a->bodies[i].body = *before;
    } else {
      CLI_TRY(report_status(load_body(s, o, a->paths[i], &a->bodies[i].body)));
    }
  }
  return EXIT_GOOD;
}

void also_close(also *a)
{
  for (size_t i = 0; i < a->count; ++i) {
    free(a->paths[i]);
  }
  free(a->paths);
  free(a->bodies);
  *a = (also){0};
}
