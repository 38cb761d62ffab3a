#include "render/camera.h"

#include "base/error.h"
#include "render/trace.h"

#define SIDE 192u /* pixels of the small picture */
#define RAYS ((size_t)SIDE * SIDE)
#define ACTORS 2 /* those of a pair */

typedef struct sketch {
  place places[RAYS];
  sample samples[RAYS];
  v3 points[RAYS + 8 * ACTORS]; /* of the world, to be framed */
  size_t count;
} sketch;

/* Where rays met the bodies; the box of a body that none met. */
static void collect(const scene *s, sketch *k)
{
  size_t met[ACTORS] = {0};
  for (size_t i = 0; i < RAYS; ++i) {
    const sample *at = &k->samples[i];
    if (at->body >= 0) {
      ++met[at->body];
      k->points[k->count++] =
        v3_along(s->camera.eye, camera_ray(&s->camera, k->places[i].x, k->places[i].y),
                 (double)at->depth);
    }
  }
  for (int i = 0; i < ACTORS; ++i) {
    if (!met[i]) {
      box_corners(&s->actors[i], k->points + k->count);
      k->count += 8;
    }
  }
}

abut_status frame_bodies(scene *s, const abut_view *view)
{
  abut_status status = ABUT_SUCCESS;
  tracer t = {0};
  v3 corners[8 * ACTORS];
  abut_view afar = *view;
  afar.width = afar.height = SIDE;
  afar.zoom = 1.0;
  box_corners(&s->actors[0], corners);
  box_corners(&s->actors[1], corners + 8);
  camera_frame(s, &afar, corners, 8 * ACTORS);
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(sketch)));
  sketch *k = memory;
  for (size_t i = 0; i < RAYS; ++i) {
    k->places[i] = (place){(float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f};
  }
  TRY_DONE(tracer_create(&t, s));
  TRY_DONE(trace_depths(&t, k->places, RAYS, k->samples));
  collect(s, k);
  camera_frame(s, view, k->points, k->count);
done:
  tracer_free(&t);
  free(k);
  return status;
}
