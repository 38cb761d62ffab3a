/* Pictures and small bodies for the tests of abut_render. */
#ifndef ABUT_TESTS_PICTURE_H
#define ABUT_TESTS_PICTURE_H

#include "support/check.h"

typedef struct picture {
  uint32_t width, height;
  uint8_t *rgb;
} picture;

/* What a pixel shows. */
typedef enum shown {
  PAPER,
  FIRST,  /* body 1, blue */
  SECOND, /* body 2, sand */
  OTHER
} shown;

shown shown_at(const picture *p, uint32_t x, uint32_t y);
size_t count_shown(const picture *p, shown what);

/* Mean absolute difference of bytes; how many pixels differ by more than `more` in a channel. */
double mean_difference(const picture *a, const picture *b);
size_t count_different(const picture *a, const picture *b, int more);

/* Draws a pair at two twists; the picture is empty after a failed check. picture_free is the
 * caller's. */
picture draw(abut_pair pair, const abut_view *view, const double pose1[6], const double pose2[6]);
/* The same with others around it. */
picture draw_with(abut_pair pair, const abut_view *view, const double pose1[6],
                  const double pose2[6], const abut_placed_body *others, size_t count);
void picture_free(picture *p);

/* A ball of radius 1 with an octahedron as mesh, a cube of half length 1 with a hole of radius 0.5
 * along x, and a ball of radius 1 that is the point cloud of its mesh. */
bool make_ball(abut_context context, abut_body *out);
bool make_drilled(abut_context context, abut_body *out);
bool make_cloud_ball(abut_context context, abut_body *out);

/* The same ball as a grid. */
bool make_grid_ball(abut_context context, abut_body *out);

/* Draws in every lane width of a context's device, each in a context of its own, and compares with
 * the host path in double, whose picture `judge` is given first. */
void check_devices(abut_context context, abut_precision precision, picture (*draw_in)(abut_context),
                   void (*judge)(const picture *wanted));

/* A pair with the smoothing that fits. */
bool make_pair(abut_body body1, abut_body body2, abut_pair *out);

#endif
