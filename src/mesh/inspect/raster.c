#include "mesh/inspect/raster.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>

#define FILLED 0.9 /* share of the picture's width or height */
#define SHADE 0.4f /* share of a colour without light */

static const colour white = {1.0f, 1.0f, 1.0f}, dark = {0.086f, 0.094f, 0.114f};

static double extent(const double axis[3], const double half[3])
{
  return fabs(axis[0]) * half[0] + fabs(axis[1]) * half[1] + fabs(axis[2]) * half[2];
}

static void set_camera(raster *r, const abut_fit_view *v, const double lower[3],
                       const double upper[3])
{
  const double ca = cos(v->azimuth), sa = sin(v->azimuth), ce = cos(v->elevation),
               se = sin(v->elevation);
  const double towards[3] = {ca * ce, sa * ce, se}, right[3] = {-sa, ca, 0.0};
  double half[3];
  for (int k = 0; k < 3; ++k) {
    r->towards[k] = towards[k];
    r->right[k] = right[k];
    half[k] = 0.5 * (upper[k] - lower[k]);
    r->middle[k] = lower[k] + half[k];
  }
  cross(towards, right, r->up);
  r->scale = FILLED * fmin(0.5 * (double)r->width / extent(r->right, half),
                           0.5 * (double)r->height / extent(r->up, half));
}

abut_status raster_create(const abut_fit_view *v, const double lower[3], const double upper[3],
                          raster *out)
{
  void *memory;
  *out = (raster){.width = RASTER_FINE * v->width,
                  .height = RASTER_FINE * v->height,
                  .ground = v->dark ? dark : white};
  set_camera(out, v, lower, upper);
  const size_t samples = (size_t)out->width * out->height;
  TRY(allocate(&memory, samples, sizeof(float)));
  out->depth = memory;
  const abut_status status = allocate(&memory, samples, sizeof(colour));
  if (status != ABUT_SUCCESS) {
    raster_free(out);
    return status;
  }
  out->sample = memory;
  raster_clear(out);
  return ABUT_SUCCESS;
}

void raster_free(raster *r)
{
  free(r->depth);
  free(r->sample);
  *r = (raster){0};
}

void raster_clear(raster *r)
{
  for (size_t i = 0; i < (size_t)r->width * r->height; ++i) {
    r->depth[i] = -INFINITY;
    r->sample[i] = r->ground;
  }
}

/* Projects a point: samples from the left and from the top, and metres towards the viewer. */
static void project(const raster *r, const double x[3], double out[3])
{
  double d[3];
  difference(x, r->middle, d);
  out[0] = 0.5 * (double)r->width + r->scale * dot(d, r->right);
  out[1] = 0.5 * (double)r->height - r->scale * dot(d, r->up);
  out[2] = dot(d, r->towards);
}

/* Both sides of a face are lit. */
static colour shaded(const raster *r, const double *corners, colour c)
{
  double n[3], light[3];
  corners_area(corners, n);
  for (int k = 0; k < 3; ++k) {
    light[k] = 0.75 * r->towards[k] + 0.5 * r->up[k] - 0.43 * r->right[k];
  }
  const double size = sqrt(dot(n, n)), facing = dot(n, r->towards);
  const double lit = size > 0.0 ? fmax((facing < 0.0 ? -1.0 : 1.0) * dot(n, light) / size, 0.0)
                                : 0.0;
  const float share = SHADE + (1.0f - SHADE) * (float)lit;
  return (colour){c.r * share, c.g * share, c.b * share};
}

static void draw_one(raster *r, const double *corners, colour c)
{
  double p[3][3], low[2], high[2];
  for (int k = 0; k < 3; ++k) {
    project(r, corners + 3 * k, p[k]);
  }
  const double area =
    (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
  for (int a = 0; a < 2; ++a) {
    const double size = a ? (double)r->height : (double)r->width;
    low[a] = fmax(ceil(fmin(p[0][a], fmin(p[1][a], p[2][a])) - 0.5), 0.0);
    high[a] = fmin(floor(fmax(p[0][a], fmax(p[1][a], p[2][a])) - 0.5), size - 1.0);
  }
  if (!(fabs(area) > 0.0)) {
    return;
  }
  const colour lit = shaded(r, corners, c);
  for (double y = low[1]; y <= high[1]; y += 1.0) {
    for (double x = low[0]; x <= high[0]; x += 1.0) {
      const double at[2] = {x + 0.5, y + 0.5};
      double share[3], depth = 0.0;
      for (int k = 0; k < 3; ++k) {
        const double *b = p[(k + 1) % 3], *e = p[(k + 2) % 3];
        share[k] = ((e[0] - b[0]) * (at[1] - b[1]) - (at[0] - b[0]) * (e[1] - b[1])) / area;
        depth += share[k] * p[k][2];
      }
      const size_t place = (size_t)y * r->width + (size_t)x;
      if (share[0] >= 0.0 && share[1] >= 0.0 && share[2] >= 0.0 && (float)depth > r->depth[place]) {
        r->depth[place] = (float)depth;
        r->sample[place] = lit;
      }
    }
  }
}

void raster_draw(raster *r, const double *corners, const colour *colours, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    draw_one(r, corners + 9 * i, colours[i]);
  }
}

static uint8_t byte_of(float x)
{
  return (uint8_t)(fminf(fmaxf(x, 0.0f), 1.0f) * 255.0f + 0.5f);
}

void raster_picture(const raster *r, uint8_t *rgb)
{
  const uint32_t width = r->width / RASTER_FINE, height = r->height / RASTER_FINE;
  const float share = 1.0f / (RASTER_FINE * RASTER_FINE);
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      colour sum = {0.0f, 0.0f, 0.0f};
      for (size_t s = 0; s < RASTER_FINE * RASTER_FINE; ++s) {
        const colour *c = &r->sample[(y * RASTER_FINE + s / RASTER_FINE) * r->width +
                                     x * RASTER_FINE + s % RASTER_FINE];
        sum = (colour){sum.r + share * c->r, sum.g + share * c->g, sum.b + share * c->b};
      }
      uint8_t *to = rgb + 3 * (y * width + x);
      to[0] = byte_of(sum.r);
      to[1] = byte_of(sum.g);
      to[2] = byte_of(sum.b);
    }
  }
}
