#include "world/film/film.h"

#include "world/worlds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS (3.14159265358979323846 / 180.0)
#define FRAMED_MOST 256 /* states used to place the camera */
#define PIXELS_MOST 4096
#define FRAMES_MOST 1000

static exit_code read_views(film *f, const options *o)
{
  abut_view view = abut_default_view();
  double angles[VIEWS_MOST][2] = {{view.azimuth / RADIANS, view.elevation / RADIANS}};
  size_t width = f->kind == FILM_SHEET ? 320 : 640, height = f->kind == FILM_SHEET ? 240 : 480;
  f->view_count = 1;
  CLI_TRY(option_pairs(o, OPTION_VIEW, VIEWS_MOST, angles, &f->view_count));
  CLI_TRY(option_whole(o, OPTION_WIDTH, 1, PIXELS_MOST, &width));
  CLI_TRY(option_whole(o, OPTION_HEIGHT, 1, PIXELS_MOST, &height));
  CLI_TRY(option_real(o, OPTION_ZOOM, 1e-3, 1e3, &view.zoom));
  CLI_TRY(option_real(o, OPTION_THRESHOLD, 0.0, 1.0, &view.threshold));
  view.contacts = o->value[OPTION_CONTACTS] != NULL;
  if (o->value[OPTION_THRESHOLD] && !view.contacts) {
    return usage_error(o->command, "--threshold works only with --contacts");
  }
  view.width = (uint32_t)width;
  view.height = (uint32_t)height;
  for (size_t i = 0; i < f->view_count; ++i) {
    if (fabs(angles[i][0]) > 360.0 || fabs(angles[i][1]) > 90.0) {
      return usage_error(o->command, "--view: %g,%g is not within +-360 and +-90 degrees",
                         angles[i][0], angles[i][1]);
    }
    view.azimuth = angles[i][0] * RADIANS;
    view.elevation = angles[i][1] * RADIANS;
    f->views[i] = view;
  }
  f->columns = (size_t)ceil(sqrt((double)f->view_count));
  const size_t gap = f->runs > 1 ? RUNS_GAP : 0;
  f->width = (uint32_t)(f->runs * f->columns * width + gap);
  f->height = (uint32_t)((f->view_count + f->columns - 1) / f->columns * height + gap);
  return EXIT_GOOD;
}

static exit_code check_usage(film *f, const options *o)
{
  f->o = o;
  f->frames = 12;
  f->rate = 30.0;
  const int runs = o->operand_count < 2 ? 1 : o->operand_count - 1;
  f->runs = (size_t)(runs < RUNS_MOST ? runs : RUNS_MOST);
  CLI_TRY(need_operands(o, 1 + (int)f->runs, "a scene, and the states of it that simulate wrote"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  f->kind = kind_of_film(o->value[OPTION_OUTPUT]);
  CLI_TRY(read_views(f, o));
  CLI_TRY(option_whole(o, OPTION_WORLD, 0, (size_t)-1, &f->world));
  CLI_TRY(option_whole(o, OPTION_FRAMES, 1, FRAMES_MOST, &f->frames));
  CLI_TRY(option_real(o, OPTION_RATE, 1e-3, 1e4, &f->rate));
  if (o->value[OPTION_FRAMES] && f->kind != FILM_SHEET) {
    return usage_error(o->command,
                       "--frames works only with a sheet; a film has --rate R pictures per second");
  }
  if (o->value[OPTION_RATE] && f->kind == FILM_SHEET) {
    return usage_error(o->command,
                       "--rate works only with a film; a sheet has --frames N pictures");
  }
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return check_film_output(f);
}

/* ---- files of simulate ---- */

static exit_code check_times(const film *f, const inputs *file, const double *time)
{
  for (size_t i = 0; i < f->rows; ++i) {
    if (!isfinite(time[i]) || (i && !(time[i] > time[i - 1]))) {
      return report(EXIT_INPUT,
                    "%s: array 'time': number %zu (0-based) must be larger than the previous one",
                    file->path, i);
    }
    if (time[i] != ((const double *)f->time)[i]) {
      return report(EXIT_INPUT, "%s: its times differ from those of %s", file->path,
                    f->files[0].path);
    }
  }
  return EXIT_GOOD;
}

/* Takes the states of a run for the drawn world. */
static exit_code take_world(film *f, size_t run, const abut_array *q)
{
  const size_t nq = f->info.nq, count = q->shape[1];
  const size_t shape[3] = {f->rows, count, nq};
  const void *all = NULL;
  char what[96];
  snprintf(what, sizeof what, "the scene has %zu positions per world", nq);
  CLI_TRY(inputs_numbers(&f->files[run], "q", 3, shape, what, ABUT_FLOAT64, &all));
  for (size_t i = 0; i < f->rows; ++i) {
    memcpy(f->q + (run * f->rows + i) * nq, (const double *)all + (i * count + f->world) * nq,
           nq * sizeof *f->q);
  }
  return EXIT_GOOD;
}

/* Chooses the states that the camera keeps in view: evenly spaced, including the first and the
 * last. */
static exit_code frame_worlds(film *f)
{
  const size_t nq = f->info.nq, most = FRAMED_MOST / f->runs;
  const size_t each = f->rows < most ? f->rows : most, last = each > 1 ? each - 1 : 1;
  f->framed = malloc((FRAMED_MOST * nq + 1) * sizeof *f->framed);
  if (!f->framed) {
    return report(EXIT_RUN, "no memory for %zu states", f->rows);
  }
  f->framed_count = f->runs * each;
  for (size_t i = 0; i < f->framed_count; ++i) {
    const double share = (double)(i % each) / (double)last;
    const size_t row = i / each * f->rows + (size_t)(share * (double)(f->rows - 1) + 0.5);
    memcpy(f->framed + i * nq, f->q + row * nq, nq * sizeof *f->q);
  }
  return EXIT_GOOD;
}

static exit_code take_states(film *f)
{
  size_t numbers = 0;
  f->q = multiply(f->runs, f->rows, f->info.nq, &numbers) ? malloc((numbers + 1) * sizeof *f->q)
                                                          : NULL;
  return f->q ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu states", f->rows);
}

static exit_code read_run(film *f, size_t run)
{
  inputs *file = &f->files[run];
  const void *time = NULL;
  CLI_TRY(inputs_open(file, f->o->operands[1 + run]));
  const abut_array *q = inputs_find(file, "q");
  if (!q || !inputs_find(file, "time") || q->dimensions != 3 || !q->shape[0]) {
    return report(EXIT_INPUT,
                  "%s: contains no q of shape (states, worlds, nq) and time of shape (states); use "
                  "the output of simulate",
                  file->path);
  }
  if (f->world >= q->shape[1]) {
    return report_beyond(file->path, "world", f->world, q->shape[1]);
  }
  if (run && q->shape[0] != f->rows) {
    return report(EXIT_INPUT, "%s: its times differ from those of %s", file->path,
                  f->files[0].path);
  }
  f->rows = q->shape[0];
  CLI_TRY(inputs_numbers(file, "time", 1, &f->rows, "one of each state", ABUT_FLOAT64, &time));
  f->time = run ? f->time : time;
  CLI_TRY(check_times(f, file, time));
  CLI_TRY(run ? EXIT_GOOD : take_states(f));
  return take_world(f, run, q);
}

static exit_code read_states(film *f)
{
  for (size_t i = 0; i < f->runs; ++i) {
    CLI_TRY(read_run(f, i));
  }
  return frame_worlds(f);
}

static exit_code take_memory(film *f)
{
  size_t one = 0, all = 0;
  if (multiply(f->views[0].width, f->views[0].height, 3, &one) &&
      multiply(f->width, f->height, 3, &all)) {
    f->view_rgb = malloc(one);
    f->rgb = malloc(all);
  }
  if (!f->view_rgb || !f->rgb) {
    return report(EXIT_RUN, "not enough memory for %u x %u pixels", f->width, f->height);
  }
  memset(f->rgb, 255, all); /* where there is no view */
  return EXIT_GOOD;
}

static exit_code run(film *f, const options *o)
{
  CLI_TRY(check_usage(f, o));
  CLI_TRY(session_open(&f->session, o, ABUT_FLOAT32));
  CLI_TRY(load_scene(&f->session, o, &f->links, &f->info));
  if (f->info.moved) {
    warn("%s: links of type \"moved\" are drawn at the poses in the scene, because files of states "
         "have no controls (docs/scenes.md#moved-links)",
         o->operands[0]);
  }
  CLI_TRY(f->views[0].contacts ? need_contacts("--contacts", o, &f->info) : EXIT_GOOD);
  CLI_TRY(report_status(abut_get_scene_parameters(f->links, NULL, f->gravity)));
  CLI_TRY(read_states(f));
  CLI_TRY(take_memory(f));
  const double *time = f->time;
  f->decimals = decimals_of(time[f->rows - 1] - time[0]);
  const double start = now();
  CLI_TRY(film_make(f));
  if (sums_up(o)) {
    printf("world %zu, %zu picture%s of %u x %u pixels, %.3g s on %s\n", f->world, f->drawn,
           f->drawn == 1 ? "" : "s", f->width, f->height, now() - start,
           session_workers(&f->session).text);
  }
  return EXIT_GOOD;
}

exit_code cmd_film(const options *o)
{
  film f = {0};
  const exit_code code = run(&f, o);
  free(f.q);
  free(f.framed);
  free(f.view_rgb);
  free(f.rgb);
  free(f.sheet);
  for (size_t i = 0; i < f.runs; ++i) {
    inputs_close(&f.files[i]);
  }
  session_close(&f.session);
  return code;
}
