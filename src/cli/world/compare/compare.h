/* Simulates one world of a scene with several contact laws. */
#ifndef ABUT_CLI_COMPARE_COMPARE_H
#define ABUT_CLI_COMPARE_COMPARE_H

#include "world/worlds.h"

/* Laws by their names in scenes. The library refuses a law that the build does not include, or that
 * does not apply to the scene; it is then left out. */
#define LAWS 3

typedef struct law {
  const char *name;
  bool whole_normals; /* forces are along normals of any length, not normalized */
  bool springs;       /* it uses the array `springs` */
} law;

extern const law laws[LAWS];

/* A world's trajectory with one law. Series are NaN after it stopped. */
typedef struct law_run {
  const law *law;
  abut_scene links;
  bool whole_forces;   /* each pair has one force, in the world's axes: springs between clouds */
  size_t kept;         /* rows before it stopped */
  void *q, *v, *w;     /* (rows, ...) reals */
  void *energy;        /* (rows, 2) reals: kinetic, potential [J] */
  double *penetration; /* (rows) [m] */
  double *force;    /* (rows) sum of contact forces in the step from that row [N]: along normals, or
                       between clouds each pair's total */
  double *gradient; /* (rows, 2 nv) of the final coordinate by q, v at that row */
  double *sensitivity; /* (rows) length of its part by velocities of the same kind [s] */
  uint32_t status;
  double seconds; /* per step */
} law_run;

typedef struct left_out {
  const law *law;
  char reason[1024];
} left_out;

typedef struct comparison {
  worlds worlds;     /* with one world and its initial state */
  abut_scene shapes; /* the scene with a law whose pairs have contacts, for penetration depths */
  bool shaped;       /* `shapes` exists */
  void *row_u;       /* controls of that world */
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

/* Chooses the coordinate of the final state, names it, and finds which velocities are angular. */
exit_code compare_coordinates(comparison *c);
/* Steps the world with a law and measures it on the way; then computes the gradient backwards. */
exit_code compare_run(const comparison *c, law_run *r);
exit_code compare_picture(const comparison *c, const char *path);

/* Returns the names of a status's bits, separated by commas; "ok" for 0. */
typedef struct status_text {
  char text[96];
} status_text;

status_text print_status(uint32_t status);

/* Returns the largest number of a series; NaN if there is none. */
double series_most(const double *x, size_t count);

#endif
