/* What rays through the picture hit. */
#ifndef ABUT_RENDER_TRACE_H
#define ABUT_RENDER_TRACE_H

#include "base/reals.h"
#include "view/render/scene.h"

/* A place in the picture, in pixels. */
typedef struct place {
  float x, y;
} place;

/* The surface seen there. */
typedef struct sample {
  float depth;     /* along the ray [m]; HUGE_VALF if there is none */
  float normal[3]; /* of the surface, in the world */
  float open;      /* 1 if nothing is near the surface, towards 0 in crevices */
  int body;        /* an actor's index, -1 for none */
  int cell;        /* colour of a chequered one: 0 or 1 */
} sample;

/* Room for inputs and outputs of devices, and ray bounds, for one picture. */
typedef struct tracer {
  const scene *scene;
  reals asked;    /* (chunk, RAY_REALS) */
  reals answered; /* (chunk, FIELD_REALS) */
  size_t *order;  /* (chunk) the sample index of each ray */
  float **bounds; /* per actor (height, width, 2): nearest and farthest of a cloud body's points, or
                     NULL */
} tracer;

/* The caller calls tracer_free in either case. */
abut_status tracer_create(tracer *t, const scene *s);
void tracer_free(tracer *t);

/* Fills only depth and body of `samples` for `count` places. */
abut_status trace_depths(tracer *t, const place *places, size_t count, sample *samples);

/* Fills all members. */
abut_status trace_places(tracer *t, const place *places, size_t count, sample *samples);

#endif
