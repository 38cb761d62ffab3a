/* What a picture shows: bodies in the world, and a camera that frames them. */
#ifndef ABUT_RENDER_SCENE_H
#define ABUT_RENDER_SCENE_H

#include "contact/pair.h"
#include "view/render/parts.h"
#include "view/render/vector.h"

/* In linear light. */
typedef struct colour {
  float r, g, b;
} colour;

/* One body in the picture. */
typedef struct actor {
  pair *pair; /* whose smoothing gives it its shape */
  body *of;
  v3_frame frame;
  colour paint;
  bool floor;      /* chequered across its x and y */
  double tile;     /* a square's side [m]; 0: it is plain */
  v3 lower, upper; /* what its field may fill, in its frame */
  double diagonal; /* of that box */
  double margin;   /* how far the soft union reaches beyond its primitives */
  v3 *cloud;       /* a body of point clouds alone: their points, near which its surface lies */
  double *reach;   /* and how near */
  size_t cloud_count;
  double reach_mean;
} actor;

/* Perspective; pixels are counted from the top left corner, (x + 0.5, y + 0.5) is a pixel's
 * centre. */
typedef struct camera {
  uint32_t width, height;
  v3 eye, right, up, forward;
  double scale; /* pixels to tangents */
} camera;

typedef struct scene {
  context *context;
  actor *actors;
  size_t count;
  camera camera;
  double size;     /* radius of what is framed [m] */
  double touching; /* the same of the bodies alone whose contacts are drawn, by which arrows are as
                      long */
} scene;

/* Fill a scene, but for its camera: of a pair, whose poses are refused where they are not finite,
 * and what stands around it; of any bodies. scene_free is the caller's in either case. */
abut_status scene_of_pair(scene *s, const touch *of, const part *others, size_t count);
abut_status scene_of_parts(scene *s, context *c, const part *parts, size_t count);
void scene_free(scene *s);

/* Saturates beyond float's range where reals are floats, so that a finite pose stays one in either
 * precision. */
double in_range(double x, size_t real_bytes);

/* Unit direction of the ray through a place in the picture. */
v3 camera_ray(const camera *c, double x, double y);

/* Where a point lies in the picture; its depth along `forward`. False behind the eye. */
bool camera_project(const camera *c, v3 point, double *x, double *y, double *depth);

#endif
