#include "view/render/camera.h"

#include "base/error.h"
#include "view/render/trace.h"

#define SIDE 192u /* pixels of the small picture */
#define RAYS ((size_t)SIDE * SIDE)
#define CORNERS 8

typedef struct sketch {
  place places[RAYS];
  sample samples[RAYS];
  size_t count;
  v3 points[]; /* points of the world to frame: room for all rays and all boxes */
} sketch;

static abut_status create_sketch(sketch **out, size_t actors)
{
  void *memory = NULL;
  if (actors > SIZE_MAX / CORNERS / sizeof(v3) / 2) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory to frame %zu bodies", actors);
  }
  TRY(allocate(&memory, 1, sizeof(sketch) + (RAYS + CORNERS * actors) * sizeof(v3)));
  sketch *k = memory;
  for (size_t i = 0; i < RAYS; ++i) {
    k->places[i] = (place){(float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f};
  }
  *out = k;
  return ABUT_SUCCESS;
}

static void add_corners(sketch *k, const actor *a)
{
  box_corners(a, k->points + k->count);
  k->count += CORNERS;
}

static bool is_met(const sketch *k, size_t which)
{
  size_t i = 0;
  while (i < RAYS && k->samples[i].body != (int)which) {
    ++i;
  }
  return i < RAYS;
}

/* Collects the points where rays hit the bodies, and the box of a body that no ray hits. */
static void collect(const scene *s, sketch *k)
{
  k->count = 0;
  for (size_t i = 0; i < RAYS; ++i) {
    const sample *at = &k->samples[i];
    if (at->body >= 0) {
      k->points[k->count++] = v3_along(s->camera.eye,
                                       camera_ray(&s->camera, k->places[i].x, k->places[i].y),
                                       (double)at->depth);
    }
  }
  for (size_t i = 0; i < s->count; ++i) {
    if (!is_met(k, i)) {
      add_corners(k, &s->actors[i]);
    }
  }
}

/* Returns the size of the pair only, because larger bodies may be around it. Its boxes are slightly
 * larger than the bodies. */
static double touching_size(const scene *s)
{
  v3 corners[2 * CORNERS], low, high;
  box_corners(&s->actors[0], corners);
  box_corners(&s->actors[1], corners + CORNERS);
  low = high = corners[0];
  for (size_t i = 1; i < 2 * CORNERS; ++i) {
    low = v3_min(low, corners[i]);
    high = v3_max(high, corners[i]);
  }
  const v3 span = v3_sub(high, low);
  return fmin(s->size, 0.5 * sqrt(v3_dot(span, span)));
}

abut_status frame_bodies(scene *s, const abut_view *view)
{
  abut_status status = ABUT_SUCCESS;
  tracer t = {0};
  sketch *k = NULL;
  abut_view afar = *view;
  afar.width = afar.height = SIDE;
  afar.zoom = 1.0;
  TRY(create_sketch(&k, s->count));
  for (size_t i = 0; i < s->count; ++i) {
    add_corners(k, &s->actors[i]);
  }
  camera_frame(s, &afar, k->points, k->count);
  TRY_DONE(tracer_create(&t, s));
  TRY_DONE(trace_depths(&t, k->places, RAYS, k->samples));
  collect(s, k);
  camera_frame(s, view, k->points, k->count);
  s->touching = s->count > 2 ? touching_size(s) : s->size;
done:
  tracer_free(&t);
  free(k);
  return status;
}
