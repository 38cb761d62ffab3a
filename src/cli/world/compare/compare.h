/* One world of a scene by several contact laws. */
#ifndef ABUT_CLI_COMPARE_COMPARE_H
#define ABUT_CLI_COMPARE_COMPARE_H

#include "world/worlds.h"

/* Laws by the names that scenes have for them. One that a build does not compute, or that a scene
 * has no meaning for, is refused by the library when the scene is read, and left out. */
#define LAWS 3

typedef struct law {
  const char *name;
  bool whole_normals; /* forces are along normals of any length, not of length 1 */
  bool springs;       /* it takes the array `springs` */
} law;

extern const law laws[LAWS];

/* A world's way by one law. Series have NaN behind where it stopped. */
typedef struct law_run {
  const law *law;
  abut_scene links;
  bool whole_forces;   /* each pair has one force, in the world's axes: springs between clouds */
  size_t kept;         /* rows that it came to */
  void *q, *v, *w;     /* (rows, ...) reals */
  void *energy;        /* (rows, 2) reals: kinetic, potential [J] */
  double *penetration; /* (rows) [m] */
  double *force;       /* (rows) of contacts along normals, between clouds all of each pair's,
                          summed, in the step from there [N] */
  double *gradient;    /* (rows, 2 nv) of the end coordinate by q, v there */
  double *sensitivity; /* (rows) length of that by velocities of the coordinate's own kind [s] */
  uint32_t status;
  double seconds; /* of a step */
} law_run;

typedef struct left_out {
  const law *law;
  char reason[1024];
} left_out;

typedef struct comparison {
  worlds worlds;     /* one of them, where it begins */
  abut_scene shapes; /* the scene by a law whose pairs have contacts, for how deep bodies are */
  bool shaped;       /* there is one */
  void *row_u;       /* controls of that one */
  size_t world, record, rows, coordinate;
  bool default_coordinate;
  bool *turns;    /* (nv) which velocities are angular */
  char label[64]; /* of the coordinate */
  double *time;   /* (rows) [s] */
  law_run runs[LAWS];
  size_t run_count;
  left_out out[LAWS];
  size_t out_count;
} comparison;

/* Which coordinate the end is seen by, its name, and which velocities turn. */
exit_code compare_coordinates(comparison *c);
/* Steps a world by a law, measures it on the way, and goes back for the gradient. */
exit_code compare_run(const comparison *c, law_run *r);
exit_code compare_picture(const comparison *c, const char *path);

/* What a status means, its bits' names separated by commas; "ok" of none. */
typedef struct status_text {
  char text[96];
} status_text;

status_text print_status(uint32_t status);

/* The greatest of a series' numbers; NaN where there is none. */
double series_most(const double *x, size_t count);

#endif
