/* The picture in linear light, and functions that draw into it. */
#ifndef ABUT_RENDER_CANVAS_H
#define ABUT_RENDER_CANVAS_H

#include "view/render/trace.h"
#include <abut/render.h>

typedef struct canvas {
  uint32_t width, height;
  colour *light;  /* (height, width) linear */
  sample *centre; /* (height, width) what each pixel's centre shows */
} canvas;

static inline colour colour_mix(colour a, colour b, float share)
{
  return (colour){a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}

/* Draws all bodies, shaded; pixels on edges are averaged over several rays. */
abut_status draw_bodies(canvas *c, tracer *t);

/* The colour of a surface, and that of a matte surface with a given normal. */
colour shade_sample(const scene *s, place at, const sample *from);
colour shade_matt(const camera *c, colour of, v3 normal, v3 ray, float open);

/* Draws contacts of at least the view's activity, with their normals. */
abut_status draw_contacts(canvas *c, const scene *s, const touch *touches, size_t count,
                          const abut_view *view);

/* The colour of an activity in [0, 1], and the bar that explains it. */
colour ramp(double activity);
void draw_bar(canvas *c);

/* Converts linear light to 8 bits. */
void develop(const canvas *c, uint8_t *rgb);

#endif
