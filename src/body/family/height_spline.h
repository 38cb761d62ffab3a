/* The bicubic spline through a height field's heights, and its bounds. */
#ifndef ABUT_FAMILY_HEIGHT_SPLINE_H
#define ABUT_FAMILY_HEIGHT_SPLINE_H

#include <abut/body.h>
#include <abut/status.h>

typedef struct height_spline {
  size_t nodes[2], side[2];  /* along x and y: heights, and coefficients (HEIGHT_SIDE) */
  size_t map_side[2];        /* of the map's first level */
  double cells[2];           /* per metre */
  double *coefficients;      /* (side[1], side[0]) */
  double *map;               /* (map_side[1], map_side[0]): per block the largest sqrt(1 +
                                |slope|^2) */
  double most, least, slant; /* highest and lowest point, largest slant: bounds */
} height_spline;

/* Makes the natural spline, which has no curvature across its ends. Beyond the ends it stays near
 * the heights, however rough they are. *out is empty on failure. */
abut_status height_spline_make(const abut_height_field *h, height_spline *out);
void height_spline_free(height_spline *s);

#endif
