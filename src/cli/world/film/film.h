/* Films and pictures of simulated worlds. */
#ifndef ABUT_CLI_FILM_FILM_H
#define ABUT_CLI_FILM_FILM_H

#include "core/inputs.h"
#include "world/film/marks.h"
#include "world/film/video.h"

#define VIEWS_MOST 16
#define RUNS_MOST 4
#define RUNS_GAP 8 /* pixels, to the right of and below a picture of several runs */

typedef enum film_kind { FILM_VIDEO, FILM_FOLDER, FILM_SHEET } film_kind;

typedef struct film {
  const options *o;
  film_kind kind;
  abut_view views[VIEWS_MOST]; /* side by side in each picture */
  size_t view_count, columns;  /* per run */
  uint32_t width, height;      /* of a picture with all its runs and views */
  size_t world, frames;        /* frames: number in a sheet */
  double rate;
  session session; /* only its context is used */
  abut_scene links;
  abut_scene_info info;
  inputs files[RUNS_MOST];
  size_t runs;        /* files, side by side in each picture */
  size_t rows;        /* recorded states per run */
  double *q, *framed; /* (runs, rows, nq), (framed_count, nq) of the world */
  const void *time;   /* (rows) */
  int decimals;       /* of times that are shown */
  double gravity[3];  /* [m/s^2] */
  size_t framed_count;
  uint8_t *view_rgb, *rgb; /* of one view; (height, width, 3) */
  uint8_t *sheet;
  video video;
  size_t drawn; /* number of pictures */
} film;

/* Returns the output's kind from its name. */
film_kind kind_of_film(const char *path);
/* Checks an output of that kind before anything is drawn. */
exit_code check_film_output(const film *f);

/* Draws and writes all pictures. */
exit_code film_make(film *f);

#endif
