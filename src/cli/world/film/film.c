#include "world/film/film.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define CHANNELS 3
#define SHEET_COLUMNS 4
#define SIDE_MOST 16384 /* largest side of a picture with several views */

film_kind kind_of_film(const char *path)
{
  return ends_with(path, ".mp4") ? FILM_VIDEO : ends_with(path, ".png") ? FILM_SHEET : FILM_FOLDER;
}

/* ---- output ---- */

/* The folder must be empty, because frames of an earlier film would mix with the new ones. */
static exit_code check_folder(const char *path)
{
  DIR *folder = opendir(path);
  if (!folder) {
    return report(EXIT_RUN, "%s: %s", path, strerror(errno));
  }
  bool empty = true;
  for (const struct dirent *e; empty && (e = readdir(folder));) {
    empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
  }
  closedir(folder);
  return empty ? EXIT_GOOD : report(EXIT_INPUT, "%s: the folder is not empty", path);
}

/* Checks whether the folder can be created; its parent must exist. */
static exit_code check_new_folder(const char *path)
{
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') {
    --length;
  }
  char *plain = strndup(path, length);
  const exit_code code = plain ? check_output(plain) : report(EXIT_RUN, "no memory");
  free(plain);
  return code;
}

/* A folder's name must end with '/' unless it exists, so that a misspelt extension does not create
 * a folder. */
exit_code check_film_output(const film *f)
{
  const char *path = f->o->value[OPTION_OUTPUT];
  struct stat info;
  if (f->kind != FILM_FOLDER) {
    CLI_TRY(check_output(path));
    return f->kind == FILM_VIDEO ? video_check(path) : EXIT_GOOD;
  }
  const bool there = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  if (!there && (!*path || path[strlen(path) - 1] != '/')) {
    return usage_error(
      f->o->command,
      "-o %s: the output of film must be NAME.mp4, SHEET.png or a folder with a / at the end",
      path);
  }
  return there ? check_folder(path) : check_new_folder(path);
}

static exit_code make_folder(const char *path)
{
  return mkdir(path, 0777) == 0 || errno == EEXIST
           ? EXIT_GOOD
           : report(EXIT_RUN, "%s: %s", path, strerror(errno));
}

static exit_code write_frame(const film *f, size_t number)
{
  const char *folder = f->o->value[OPTION_OUTPUT];
  const bool slash = folder[strlen(folder) - 1] == '/';
  char path[4096];
  if (snprintf(path, sizeof path, "%s%s%06zu.png", folder, slash ? "" : "/", number) >=
      (int)sizeof path) {
    return report(EXIT_RUN, "%s: the name is too long", folder);
  }
  return report_status(abut_write_png(path, f->width, f->height, f->rgb));
}

static size_t sheet_columns(const film *f)
{
  return f->frames < SHEET_COLUMNS ? f->frames : SHEET_COLUMNS;
}

static size_t sheet_rows(const film *f)
{
  return (f->frames + sheet_columns(f) - 1) / sheet_columns(f);
}

/* Copies a picture into a larger one. */
static void paste(const uint8_t *from, size_t width, size_t height, uint8_t *to, size_t to_width,
                  size_t column, size_t row)
{
  for (size_t y = 0; y < height; ++y) {
    memcpy(to + CHANNELS * ((row * height + y) * to_width + column * width),
           from + CHANNELS * y * width, CHANNELS * width);
  }
}

static exit_code begin(film *f)
{
  const char *path = f->o->value[OPTION_OUTPUT];
  if (f->kind == FILM_VIDEO) {
    return video_begin(&f->video, path, f->width, f->height, f->rate);
  }
  if (f->kind == FILM_FOLDER) {
    return make_folder(path);
  }
  const size_t width = sheet_columns(f) * f->width, height = sheet_rows(f) * f->height;
  if (width > SIDE_MOST || height > SIDE_MOST) {
    return report(EXIT_INPUT,
                  "%s: a sheet of %zu x %zu pixels is too large; a side can have at most %d", path,
                  width, height, SIDE_MOST);
  }
  f->sheet = malloc(CHANNELS * width * height);
  if (!f->sheet) {
    return report(EXIT_RUN, "not enough memory for %zu x %zu pixels", width, height);
  }
  memset(f->sheet, 255, CHANNELS * width * height);
  return EXIT_GOOD;
}

static exit_code add(film *f, size_t number)
{
  if (f->kind == FILM_VIDEO) {
    return video_add(&f->video, f->rgb, CHANNELS * (size_t)f->width * f->height);
  }
  if (f->kind == FILM_FOLDER) {
    return write_frame(f, number);
  }
  paste(f->rgb, f->width, f->height, f->sheet, sheet_columns(f) * f->width,
        number % sheet_columns(f), number / sheet_columns(f));
  return EXIT_GOOD;
}

static exit_code end(film *f)
{
  if (f->kind == FILM_VIDEO) {
    return video_end(&f->video, true);
  }
  return f->kind == FILM_FOLDER
           ? EXIT_GOOD
           : report_status(abut_write_png(f->o->value[OPTION_OUTPUT],
                                          (uint32_t)(sheet_columns(f) * f->width),
                                          (uint32_t)(sheet_rows(f) * f->height), f->sheet));
}

/* ---- pictures ---- */

static double time_at(const film *f, size_t row)
{
  return ((const double *)f->time)[row];
}

static size_t frame_count(const film *f)
{
  const double seconds = time_at(f, f->rows - 1) - time_at(f, 0);
  return f->kind == FILM_SHEET ? f->frames : (size_t)floor(seconds * f->rate + 1e-6) + 1;
}

/* Returns the recorded state nearest to a frame's time, starting at that of the previous frame. */
static size_t row_of(const film *f, size_t frame, size_t from)
{
  const double first = time_at(f, 0), seconds = time_at(f, f->rows - 1) - first;
  const double share = f->frames > 1 ? (double)frame / (double)(f->frames - 1) : 0.0;
  const double at = first + (f->kind == FILM_SHEET ? seconds * share : (double)frame / f->rate);
  while (from + 1 < f->rows && fabs(time_at(f, from + 1) - at) <= fabs(time_at(f, from) - at)) {
    ++from;
  }
  return from;
}

static exit_code draw_run(film *f, size_t run, size_t row)
{
  const double *q = f->q + (run * f->rows + row) * f->info.nq;
  const bool follow = f->o->value[OPTION_FOLLOW];
  for (size_t i = 0; i < f->view_count; ++i) {
    const abut_view *view = &f->views[i];
    const abut_status status = abut_render_scene(f->links, q, follow ? NULL : f->framed,
                                                 follow ? 0 : f->framed_count, view, f->view_rgb);
    if (status != ABUT_SUCCESS) {
      return report(status_exit_code(status), "%s: state %zu of world %zu: %s", f->files[run].path,
                    row, f->world, abut_last_error());
    }
    if (!f->o->value[OPTION_PLAIN]) {
      mark_gravity(f->view_rgb, view, f->gravity);
    }
    paste(f->view_rgb, view->width, view->height, f->rgb, f->width,
          run * f->columns + i % f->columns, i / f->columns);
  }
  return EXIT_GOOD;
}

static exit_code draw(film *f, size_t row)
{
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < f->runs && code == EXIT_GOOD; ++i) {
    code = draw_run(f, i, row);
  }
  if (code == EXIT_GOOD && !f->o->value[OPTION_PLAIN]) {
    mark_time(f->rgb, f->width, f->views, time_at(f, row), f->decimals);
  }
  return code;
}

static exit_code make_frames(film *f)
{
  const size_t frames = frame_count(f);
  progress p = progress_begin(f->o, "drawing, pictures");
  exit_code code = EXIT_GOOD;
  size_t row = 0, before = SIZE_MAX;
  for (size_t i = 0; i < frames; ++i) {
    row = row_of(f, i, row);
    CLI_TRY_DONE(row == before ? EXIT_GOOD : draw(f, row));
    CLI_TRY_DONE(add(f, i));
    before = row;
    progress_step(i + 1, frames, &p);
    ++f->drawn;
  }
done:
  progress_end(&p);
  return code;
}

exit_code film_make(film *f)
{
  exit_code code = begin(f);
  code = code == EXIT_GOOD ? make_frames(f) : code;
  code = code == EXIT_GOOD ? end(f) : code;
  if (f->video.process) {
    video_end(&f->video, false);
  }
  return code;
}
