#include "base/error.h"
#include "view/render/canvas.h"

#define SIDE 3 /* rays along a side of a pixel on an edge */
#define RAYS (SIDE * SIDE)
#define BATCH ((size_t)4096) /* pixels refined at a time */
#define EDGE_DEPTH 0.02      /* of the scene's size between neighbours */
#define EDGE_COSINE 0.92f    /* between neighbours' normals */
#define PAPER ((colour){1.0f, 1.0f, 1.0f})

#define SECOND_TILE 0.82f /* of a floor's colour */

colour shade_matt(const camera *c, colour of, v3 normal, v3 ray, float open)
{
  /* The key light is above the viewer's left shoulder; the sky lights surfaces that face up. */
  const v3 behind = v3_along(v3_scale(c->forward, -0.75), c->right, -0.45);
  const v3 key = v3_unit(v3_along(behind, c->up, 0.75));
  const double facing = fmax(v3_dot(normal, key), 0.0);
  const double sky = 0.5 + 0.5 * v3_dot(normal, c->up);
  const double towards = fmax(-v3_dot(normal, ray), 0.0);
  const double edge = 1.0 - fmin(towards, 1.0);
  const v3 half = v3_unit(v3_sub(key, ray));
  const double gloss = 0.05 * pow(fmax(v3_dot(normal, half), 0.0), 40.0);
  const float lit = (float)(0.92 * facing + 0.28 * (0.5 + 0.5 * sky)) * (0.25f + 0.75f * open);
  const float extra = (float)(gloss + 0.06 * edge * edge * edge) * open;
  return (colour){of.r * lit + extra, of.g * lit + extra, of.b * lit + extra};
}

colour shade_sample(const scene *s, place at, const sample *from)
{
  if (from->body < 0) {
    return PAPER;
  }
  const v3 n = {(double)from->normal[0], (double)from->normal[1], (double)from->normal[2]};
  const colour paint = s->actors[from->body].paint;
  const float share = from->cell ? SECOND_TILE : 1.0f;
  return shade_matt(&s->camera, (colour){share * paint.r, share * paint.g, share * paint.b}, n,
                    camera_ray(&s->camera, at.x, at.y), from->open);
}

static bool differ(const scene *s, const sample *a, const sample *b)
{
  if (a->body != b->body || a->cell != b->cell) {
    return true;
  }
  if (a->body < 0) {
    return false;
  }
  const float cosine =
    a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2];
  const double step = fabs((double)a->depth - (double)b->depth);
  return !(cosine > EDGE_COSINE) || step > EDGE_DEPTH * s->size;
}

static bool on_edge(const canvas *c, const scene *s, size_t x, size_t y)
{
  const sample *at = c->centre + y * c->width + x;
  return (x > 0 && differ(s, at, at - 1)) || (x + 1 < c->width && differ(s, at, at + 1)) ||
         (y > 0 && differ(s, at, at - c->width)) ||
         (y + 1 < c->height && differ(s, at, at + c->width));
}

/* Room for the rays of a batch of edge pixels. */
typedef struct refining {
  size_t pixels[BATCH];
  place places[BATCH * RAYS];
  sample samples[BATCH * RAYS];
} refining;

static abut_status refine_batch(canvas *c, tracer *t, refining *r, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < RAYS; ++k) {
      const size_t pixel = r->pixels[i];
      r->places[i * RAYS + k] =
        (place){(float)(pixel % c->width) + ((float)(k % SIDE) + 0.5f) / SIDE,
                (float)(pixel / c->width) + ((float)(k / SIDE) + 0.5f) / SIDE};
    }
  }
  TRY(trace_places(t, r->places, count * RAYS, r->samples));
  for (size_t i = 0; i < count; ++i) {
    colour sum = {0.0f, 0.0f, 0.0f};
    for (size_t k = 0; k < RAYS; ++k) {
      const colour one = shade_sample(t->scene, r->places[i * RAYS + k], &r->samples[i * RAYS + k]);
      sum = (colour){sum.r + one.r, sum.g + one.g, sum.b + one.b};
    }
    c->light[r->pixels[i]] = (colour){sum.r / RAYS, sum.g / RAYS, sum.b / RAYS};
  }
  return ABUT_SUCCESS;
}

static abut_status refine_edges(canvas *c, tracer *t)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(refining)));
  refining *r = memory;
  abut_status status = ABUT_SUCCESS;
  size_t count = 0;
  for (size_t y = 0; y < c->height; ++y) {
    for (size_t x = 0; x < c->width; ++x) {
      if (on_edge(c, t->scene, x, y)) {
        r->pixels[count++] = y * c->width + x;
      }
      if (count == BATCH || (count && y + 1 == c->height && x + 1 == c->width)) {
        TRY_DONE(refine_batch(c, t, r, count));
        count = 0;
      }
    }
  }
done:
  free(r);
  return status;
}

abut_status draw_bodies(canvas *c, tracer *t)
{
  void *memory = NULL;
  const size_t rows = 1 + ((size_t)1 << 16) / c->width;
  TRY(allocate(&memory, rows * c->width, sizeof(place)));
  place *places = memory;
  abut_status status = ABUT_SUCCESS;
  for (size_t y = 0; y < c->height; y += rows) {
    const size_t count = (c->height - y < rows ? c->height - y : rows) * c->width;
    const size_t first = y * c->width;
    for (size_t i = 0; i < count; ++i) {
      places[i] = (place){(float)(i % c->width) + 0.5f, (float)(y + i / c->width) + 0.5f};
    }
    TRY_DONE(trace_places(t, places, count, c->centre + first));
    for (size_t i = 0; i < count; ++i) {
      c->light[first + i] = shade_sample(t->scene, places[i], &c->centre[first + i]);
    }
  }
  TRY_DONE(refine_edges(c, t));
done:
  free(places);
  return status;
}

static uint8_t to_byte(float light)
{
  const float x = fminf(fmaxf(light, 0.0f), 1.0f);
  const float s = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
  return (uint8_t)(255.0f * s + 0.5f);
}

void develop(const canvas *c, uint8_t *rgb)
{
  for (size_t i = 0; i < (size_t)c->width * c->height; ++i) {
    rgb[3 * i] = to_byte(c->light[i].r);
    rgb[3 * i + 1] = to_byte(c->light[i].g);
    rgb[3 * i + 2] = to_byte(c->light[i].b);
  }
}
