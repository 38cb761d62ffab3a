/* Pictures of any number of bodies. A place is seven numbers: position, and quaternion (w, x, y, z)
 * of length 1. */
#ifndef ABUT_RENDER_PARTS_H
#define ABUT_RENDER_PARTS_H

#include "contact/pair.h"
#include <abut/render.h>

/* A body on a side of a pair, whose smoothing defines the body's shape. */
typedef struct part {
  pair *pair;
  int side;
  double place[7];
  size_t paint; /* parts with the same number have the same colour */
  bool floor;   /* chequered, and not framed */
} part;

/* The bodies of a pair whose contacts are drawn. */
typedef struct touch {
  pair *pair;
  abut_pose_kind kind;
  const double *pose1, *pose2;
} touch;

typedef struct parts_picture {
  context *context;
  const part *parts;
  size_t part_count;
  const touch *touches; /* used if the view shows contacts */
  size_t touch_count;
  const double *framed; /* (framed_count, 3) points that the camera keeps in view, at least one */
  size_t framed_count;
} parts_picture;

abut_status check_view(const abut_view *view);

/* As abut_render. */
abut_status draw_parts(const parts_picture *p, const abut_view *view, uint8_t *rgb);

#endif
