/* Draws coloured triangles on the host: parallel projection, a depth buffer, a light from the upper
 * left, and antialiased edges. */
#ifndef ABUT_INSPECT_RASTER_H
#define ABUT_INSPECT_RASTER_H

#include <abut/inspect.h>

typedef struct colour {
  float r, g, b; /* in [0, 1], as screens use them */
} colour;

typedef struct raster {
  uint32_t width, height;             /* in samples, RASTER_FINE per side of a pixel */
  double right[3], up[3], towards[3]; /* unit; towards the viewer */
  double middle[3], scale;            /* [m] the point in the picture's middle; samples per metre */
  float *depth;                       /* (height, width) towards the viewer; -INFINITY: nothing */
  colour *sample;                     /* likewise */
  colour ground;
} raster;

#define RASTER_FINE 2

/* Begins pictures in which a box fills the view. */
abut_status raster_create(const abut_fit_view *view, const double lower[3], const double upper[3],
                          raster *out);
void raster_free(raster *r);

/* Clears the picture. */
void raster_clear(raster *r);

/* Draws triangles (count, 3, 3), each in its colour. */
void raster_draw(raster *r, const double *corners, const colour *colours, size_t count);

/* Gives the picture, uint8 (view height, view width, 3). */
void raster_picture(const raster *r, uint8_t *rgb);

#endif
