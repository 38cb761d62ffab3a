/* The content of a picture: bodies in the world, and a camera that frames them. */
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
  pair *pair; /* whose smoothing defines its shape */
  body *of;
  v3_frame frame;
  colour paint;
  bool floor;      /* chequered along its x and y */
  double tile;     /* a square's side [m]; 0: plain */
  v3 lower, upper; /* bounds of its field, in its frame */
  double diagonal; /* of that box */
  double margin;   /* largest distance of the soft union's surface from its primitives */
  v3 *cloud; /* for a body made only of point clouds: their points, which are near its surface */
  double *reach; /* and the distance within which the surface is */
  size_t cloud_count;
  double reach_mean;
} actor;

/* Perspective. Pixels count from the top left corner; (x + 0.5, y + 0.5) is a pixel's centre. */
typedef struct camera {
  uint32_t width, height;
  v3 eye, right, up, forward;
  double scale; /* converts pixels to tangents */
} camera;

typedef struct scene {
  context *context;
  actor *actors;
  size_t count;
  camera camera;
  double size;     /* radius of the framed content [m] */
  double touching; /* the same for only the bodies whose contacts are drawn; it scales the arrows */
} scene;

/* Fill a scene except its camera. scene_of_pair takes a pair, whose poses must be finite, and the
 * bodies around it; scene_of_parts takes any bodies. The caller calls scene_free in either case. */
abut_status scene_of_pair(scene *s, const touch *of, const part *others, size_t count);
abut_status scene_of_parts(scene *s, context *c, const part *parts, size_t count);
void scene_free(scene *s);

/* Saturates at float's range if reals are floats, so that a finite pose remains finite in either
 * precision. */
double in_range(double x, size_t real_bytes);

/* Unit direction of the ray through a place in the picture. */
v3 camera_ray(const camera *c, double x, double y);

/* Projects a point into the picture, with its depth along `forward`. False behind the eye. */
bool camera_project(const camera *c, v3 point, double *x, double *y, double *depth);

#endif
