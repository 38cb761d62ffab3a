/* Coloured triangles are drawn on the host: parallel projection, nearest first, a light from the
 * upper left, edges smoothed. */
#ifndef ABUT_INSPECT_RASTER_H
#define ABUT_INSPECT_RASTER_H

#include <abut/inspect.h>

typedef struct colour {
  float r, g, b; /* in [0, 1], as screens have them */
} colour;

typedef struct raster {
  uint32_t width, height;             /* of samples, RASTER_FINE a pixel's side */
  double right[3], up[3], towards[3]; /* unit; towards the viewer */
  double middle[3], scale;            /* [m] of what is in the picture's middle; samples a metre */
  float *depth;                       /* (height, width) towards the viewer; -INFINITY: nothing */
  colour *sample;                     /* likewise */
  colour ground;
} raster;

#define RASTER_FINE 2

/* Begins pictures of a box, which fills them. */
abut_status raster_create(const abut_fit_view *view, const double lower[3], const double upper[3],
                          raster *out);
void raster_free(raster *r);

/* Forgets what was drawn. */
void raster_clear(raster *r);

/* Draws triangles (count, 3, 3), each in its colour. */
void raster_draw(raster *r, const double *corners, const colour *colours, size_t count);

/* Gives the picture, uint8 (view height, view width, 3). */
void raster_picture(const raster *r, uint8_t *rgb);

#endif
