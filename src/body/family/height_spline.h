/* The bicubic spline through a height field's heights, and bounds of it. */
#ifndef ABUT_FAMILY_HEIGHT_SPLINE_H
#define ABUT_FAMILY_HEIGHT_SPLINE_H

#include <abut/body.h>
#include <abut/status.h>

typedef struct height_spline {
  size_t nodes[2], side[2];  /* along x and y: of heights, and of coefficients (HEIGHT_SIDE) */
  size_t map_side[2];        /* of the map's first level */
  double cells[2];           /* a metre */
  double *coefficients;      /* (side[1], side[0]) */
  double *map;               /* (map_side[1], map_side[0]): per block the largest sqrt(1 +
                                |slope|^2) */
  double most, least, slant; /* the highest and the lowest place, and the largest of the map, at
                                most */
} height_spline;

/* Makes the spline that has no curvature across its ends, the natural one: beyond them it stays
 * near the heights, however rough these are. *out is empty on failure. */
abut_status height_spline_make(const abut_height_field *h, height_spline *out);
void height_spline_free(height_spline *s);

#endif
