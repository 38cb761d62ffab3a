#include "base/error.h"
#include "base/call_lock.h"
#include "base/memory.h"
#include "view/render/camera.h"
#include "view/render/canvas.h"
#include "view/render/bystanders.h"
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070005u
#define SIDE_MOST 16384
#define ZOOM_LEAST 1e-3
#define ZOOM_MOST 1e3
#define TILE 0.5 /* relative to the scene's size */

abut_view abut_default_view(void)
{
  abut_view v;
  memset(&v, 0, sizeof v);
  v.width = 900;
  v.height = 700;
  v.azimuth = 0.6;
  v.elevation = 0.35;
  v.zoom = 1.0;
  v.threshold = 0.05;
  v.contacts = true;
  v.cookie = COOKIE;
  return v;
}

abut_status check_view(const abut_view *v)
{
  if (v->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the view was not made by abut_default_view");
  }
  if (!v->width || !v->height || v->width > SIDE_MOST || v->height > SIDE_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "a picture has %u x %u pixels; each side must have 1 to %d",
                v->width, v->height, SIDE_MOST);
  }
  if (!isfinite(v->azimuth) || !isfinite(v->elevation)) {
    return fail(ABUT_ERROR_ARGUMENT, "the camera's azimuth or elevation is not finite");
  }
  if (!(v->zoom >= ZOOM_LEAST && v->zoom <= ZOOM_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "the zoom is %g, not in [%g, %g]", v->zoom, ZOOM_LEAST,
                ZOOM_MOST);
  }
  if (!(v->threshold >= 0.0 && v->threshold <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the threshold is %g, not in [0, 1]", v->threshold);
  }
  return ABUT_SUCCESS;
}

static abut_status canvas_create(canvas *c, const abut_view *v)
{
  const size_t pixels = (size_t)v->width * v->height;
  void *memory = NULL;
  c->width = v->width;
  c->height = v->height;
  TRY(allocate(&memory, pixels, sizeof(colour)));
  c->light = memory;
  TRY(allocate(&memory, pixels, sizeof(sample)));
  c->centre = memory;
  return ABUT_SUCCESS;
}

/* A picture to draw, and the bodies that may touch in it. */
typedef struct drawing {
  const touch *touches;
  size_t touch_count;
  const abut_view *view;
  uint8_t *rgb;
} drawing;

/* Draws a scene whose camera is placed. */
static abut_status draw(const drawing *d, const scene *s)
{
  abut_status status = ABUT_SUCCESS;
  tracer t = {0};
  canvas c = {0};
  TRY_DONE(tracer_create(&t, s));
  TRY_DONE(canvas_create(&c, d->view));
  TRY_DONE(draw_bodies(&c, &t));
  if (d->view->contacts) {
    TRY_DONE(draw_contacts(&c, s, d->touches, d->touch_count, d->view));
  }
  develop(&c, d->rgb);
done:
  free(c.light);
  free(c.centre);
  tracer_free(&t);
  return status;
}

static abut_status draw_pair(const touch *of, const abut_placed_body *around, size_t count,
                             const abut_view *view, uint8_t *rgb)
{
  abut_status status = ABUT_SUCCESS;
  scene s = {0};
  bystanders o = {0};
  const drawing d = {of, 1, view, rgb};
  TRY_DONE(bystanders_create(&o, of->pair, around, count));
  TRY_DONE(scene_of_pair(&s, of, o.parts, count));
  TRY_DONE(frame_bodies(&s, view));
  TRY_DONE(draw(&d, &s));
done:
  scene_free(&s);
  bystanders_free(&o);
  return status;
}

/* Returns 1, 2 or 5 times a power of ten, about a fixed fraction of the framed size, so that
 * several tiles are visible. */
static double tile_of(double size)
{
  const double wanted = TILE * size, power = pow(10.0, floor(log10(wanted)));
  return wanted < 2.0 * power ? power : wanted < 5.0 * power ? 2.0 * power : 5.0 * power;
}

static void frame_points(scene *s, const parts_picture *p, const abut_view *view, v3 *points)
{
  for (size_t i = 0; i < p->framed_count; ++i) {
    points[i] = (v3){p->framed[3 * i], p->framed[3 * i + 1], p->framed[3 * i + 2]};
  }
  camera_frame(s, view, points, p->framed_count);
  for (size_t i = 0; i < s->count; ++i) {
    s->actors[i].tile = s->actors[i].floor ? tile_of(s->size) : 0.0;
  }
}

abut_status draw_parts(const parts_picture *p, const abut_view *view, uint8_t *rgb)
{
  abut_status status = ABUT_SUCCESS;
  scene s = {0};
  void *points = NULL;
  const drawing d = {p->touches, p->touch_count, view, rgb};
  TRY_DONE(scene_of_parts(&s, p->context, p->parts, p->part_count));
  TRY_DONE(allocate(&points, p->framed_count, sizeof(v3)));
  frame_points(&s, p, view, points);
  TRY_DONE(draw(&d, &s));
done:
  free(points);
  scene_free(&s);
  return status;
}

abut_status abut_render_with(abut_pair handle_, abut_pose_kind kind, const double *pose1,
                             const double *pose2, const abut_placed_body *others, size_t count,
                             const abut_view *view, uint8_t *rgb)
{
  ENTER(pair_pool, handle_);
  if (!pose1 || !pose2 || !view || !rgb) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a picture of a pair: a pose, the view or the picture is NULL");
  }
  if (count && !others) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_render_with: the array of the %zu surrounding bodies is NULL", count);
  }
  if (kind != ABUT_POSE_TWIST && kind != ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown pose kind %d", (int)kind);
  }
  TRY(check_view(view));
  const touch of = {pair_get(handle_), kind, pose1, pose2};
  return of.pair ? draw_pair(&of, others, count, view, rgb) : ABUT_ERROR_HANDLE;
}

abut_status abut_render(abut_pair handle_, abut_pose_kind kind, const double *pose1,
                        const double *pose2, const abut_view *view, uint8_t *rgb)
{
  return abut_render_with(handle_, kind, pose1, pose2, NULL, 0, view, rgb);
}
