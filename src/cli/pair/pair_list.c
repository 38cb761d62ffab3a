#include "pair/pair_list.h"

#include "mesh/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the list ---- */

static exit_code check_line(const pair_list *l, const options *o, size_t i)
{
  for (size_t k = 0; k < 2; ++k) {
    const char *path = l->files.bodies[2 * i + k];
    if (access(path, R_OK) != 0) {
      return report(EXIT_INPUT, "%s:%zu: %s: %s", l->path, l->files.lines[i], path,
                    strerror(errno));
    }
    CLI_TRY(check_not_body(o->value[OPTION_OUTPUT], path));
  }
  return EXIT_GOOD;
}

exit_code pair_list_read(pair_list *l, const options *o)
{
  l->path = o->value[OPTION_PAIRS];
  CLI_TRY(report_status(abut_load_pairs(l->path, &l->files)));
  for (size_t i = 0; i < l->files.count; ++i) {
    CLI_TRY(check_line(l, o, i));
  }
  return EXIT_GOOD;
}

static exit_code wrong_pair(const pair_list *l, const char *path, const abut_poses *poses, size_t i,
                            size_t first)
{
  if (poses->lines) {
    return report(EXIT_INPUT, "%s:%zu: there is no pair %u (0-based); %s contains %zu", path,
                  poses->lines[i], poses->pair[i], l->path, l->files.count);
  }
  return report(EXIT_INPUT,
                "%s: array 'pair', row %zu: there is no pair %u (both 0-based); %s contains %zu",
                path, first + i, poses->pair[i], l->path, l->files.count);
}

exit_code pair_list_check(const pair_list *l, const options *o, const abut_poses *poses,
                          size_t first)
{
  const char *path = o->value[OPTION_POSES];
  if (!poses->pair) {
    return report(
      EXIT_INPUT,
      "%s: does not name the pair of each pose: add an array `pair` or a last column `pair`", path);
  }
  for (size_t i = 0; i < poses->count; ++i) {
    if (poses->pair[i] >= l->files.count) {
      return wrong_pair(l, path, poses, i, first);
    }
  }
  return EXIT_GOOD;
}

/* ---- on the device ---- */

/* Reports the status of a call about line i of the list. */
static exit_code at_line(const pair_list *l, size_t i, abut_status status)
{
  if (status == ABUT_SUCCESS) {
    return EXIT_GOOD;
  }
  return report(status_exit_code(status), "%s:%zu: %s", l->path, l->files.lines[i],
                abut_last_error());
}

/* A file that occurs twice in the list is the same body. */
static exit_code load_bodies(const pair_list *l, const session *s, const options *o,
                             abut_body *bodies)
{
  char **names = l->files.bodies;
  for (size_t i = 0; i < 2 * l->files.count; ++i) {
    size_t first = 0;
    while (strcmp(names[first], names[i]) != 0) {
      ++first;
    }
    if (first < i) {
      bodies[i] = bodies[first];
      continue;
    }
    CLI_TRY(at_line(l, i / 2, load_body(s, o, names[i], &bodies[i])));
  }
  return EXIT_GOOD;
}

/* Appends an object, or the end of the list, to the text of all smoothing. */
static exit_code append(char **text, const char *before, const char *object)
{
  const size_t had = *text ? strlen(*text) : 0;
  char *longer = realloc(*text, had + strlen(before) + strlen(object) + 1);
  if (!longer) {
    return report(EXIT_RUN, "no memory for the text of all smoothing");
  }
  memcpy(longer + had, before, strlen(before));
  memcpy(longer + had + strlen(before), object, strlen(object) + 1);
  *text = longer;
  return EXIT_GOOD;
}

static exit_code fit(pair_list *l, size_t i, const abut_body *bodies, abut_smoothing *smoothing)
{
  char *text = NULL;
  CLI_TRY(at_line(l, i, abut_fit_smoothing(bodies[2 * i], bodies[2 * i + 1], smoothing)));
  CLI_TRY(report_status(abut_format_smoothing(smoothing, &text)));
  const exit_code code = append(&l->smoothing, i ? "," : "[", text);
  abut_free(text);
  return code;
}

/* Fitted smoothing is a list; given smoothing is common to all pairs. */
static exit_code tell(pair_list *l, const session *s, const options *o)
{
  char *given = NULL;
  if (l->smoothing) {
    CLI_TRY(append(&l->smoothing, "]\n", ""));
  } else {
    CLI_TRY(report_status(abut_format_smoothing(&s->smoothing, &given)));
  }
  tell_fitted(o, ", separately for each pair", given ? given : l->smoothing);
  abut_free(given);
  return EXIT_GOOD;
}

static exit_code create_pairs(pair_list *l, session *s, const options *o, const abut_body *bodies)
{
  const char *path = o->value[OPTION_SMOOTHING];
  for (size_t i = 0; i < l->files.count; ++i) {
    abut_smoothing smoothing;
    if (path) {
      CLI_TRY(report_status(
        abut_load_fitted_smoothing(path, bodies[2 * i], bodies[2 * i + 1], &smoothing)));
      s->smoothing = smoothing;
    } else {
      CLI_TRY(fit(l, i, bodies, &smoothing));
    }
    CLI_TRY(
      at_line(l, i, abut_create_pair(bodies[2 * i], bodies[2 * i + 1], &smoothing, &l->pairs[i])));
    CLI_TRY(report_status(abut_get_layout(l->pairs[i], &l->layouts[i])));
    if (l->layouts[i].contacts > s->layout.contacts) {
      s->layout = l->layouts[i];
    }
  }
  return tell(l, s, o);
}

exit_code pair_list_open(pair_list *l, session *s, const options *o)
{
  const size_t count = l->files.count;
  exit_code code = EXIT_GOOD;
  abut_body *bodies = calloc(2 * count, sizeof *bodies);
  l->pairs = calloc(count, sizeof *l->pairs);
  l->layouts = calloc(count, sizeof *l->layouts);
  if (!bodies || !l->pairs || !l->layouts) {
    code = report(EXIT_RUN, "no memory for %zu pairs", count);
  }
  code = code == EXIT_GOOD ? load_bodies(l, s, o, bodies) : code;
  code = code == EXIT_GOOD ? create_pairs(l, s, o, bodies) : code;
  free(bodies);
  s->pair = ABUT_BATCH_PAIRS;
  s->smoothing_text = l->smoothing;
  return code;
}

void pair_list_free(pair_list *l)
{
  abut_free_pairs(&l->files);
  free(l->pairs);
  free(l->layouts);
  free(l->smoothing);
  *l = (pair_list){0};
}
