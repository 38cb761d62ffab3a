/* The picture in linear light, and what is drawn into it. */
#ifndef ABUT_RENDER_CANVAS_H
#define ABUT_RENDER_CANVAS_H

#include "view/render/trace.h"
#include <abut/render.h>

typedef struct canvas {
  uint32_t width, height;
  colour *light;  /* (height, width) linear */
  sample *centre; /* (height, width) what lies at each pixel's centre */
} canvas;

static inline colour colour_mix(colour a, colour b, float share)
{
  return (colour){a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}

/* All bodies, shaded; pixels on edges are averaged over several rays. */
abut_status draw_bodies(canvas *c, tracer *t);

/* The colour that a surface shows, and what a matt one of some colour does with its normal. */
colour shade_sample(const scene *s, place at, const sample *from);
colour shade_matt(const camera *c, colour of, v3 normal, v3 ray, float open);

/* Contacts of at least the view's activity and their normals. */
abut_status draw_contacts(canvas *c, const scene *s, const touch *touches, size_t count,
                          const abut_view *view);

/* The colour of an activity in [0, 1], and the bar that says so. */
colour ramp(double activity);
void draw_bar(canvas *c);

/* Linear light as 8 bits. */
void develop(const canvas *c, uint8_t *rgb);

#endif
