#include "view/render/scene.h"

#include "view/render/camera.h"

#define HALF_FIELD 0.2679491924311227 /* tan 15 deg, for the shorter side */
#define MARGIN 0.90                   /* fraction of the half field that is filled at zoom 1 */
#define ROUNDS 6

v3 camera_ray(const camera *c, double x, double y)
{
  const double u = (x - 0.5 * c->width) * c->scale, v = (0.5 * c->height - y) * c->scale;
  return v3_unit(v3_along(v3_along(c->forward, c->right, u), c->up, v));
}

bool camera_project(const camera *c, v3 point, double *x, double *y, double *depth)
{
  const v3 d = v3_sub(point, c->eye);
  *depth = v3_dot(d, c->forward);
  if (!(*depth > 0.0)) {
    return false;
  }
  *x = 0.5 * c->width + v3_dot(d, c->right) / (*depth * c->scale);
  *y = 0.5 * c->height - v3_dot(d, c->up) / (*depth * c->scale);
  return true;
}

/* Converts a point to the camera's axes. */
static v3 seen(const camera *c, v3 p)
{
  return (v3){v3_dot(p, c->right), v3_dot(p, c->up), v3_dot(p, c->forward)};
}

/* Computes the distance from `centre` (in the camera's axes) at which every point is in the
 * picture, and the middle of the view from there. */
static double fit(const scene *s, const v3 *points, size_t count, v3 centre, const double half[2],
                  v3 *middle)
{
  double distance = 1.01 * s->size;
  for (size_t k = 0; k < count; ++k) {
    const v3 q = v3_sub(seen(&s->camera, points[k]), centre);
    distance = fmax(distance, fabs(q.x) / (MARGIN * half[0]) - q.z);
    distance = fmax(distance, fabs(q.y) / (MARGIN * half[1]) - q.z);
  }
  v3 low = {HUGE_VAL, HUGE_VAL, 0.0}, high = {-HUGE_VAL, -HUGE_VAL, 0.0};
  for (size_t k = 0; k < count; ++k) {
    const v3 q = v3_sub(seen(&s->camera, points[k]), centre);
    const v3 at = v3_scale((v3){q.x, q.y, 0.0}, distance / (distance + q.z));
    low = v3_min(low, at);
    high = v3_max(high, at);
  }
  *middle = v3_add(centre, v3_mix(low, high, 0.5));
  return distance;
}

void camera_frame(scene *s, const abut_view *view, const v3 *points, size_t count)
{
  camera *c = &s->camera;
  const double ca = cos(view->azimuth), sa = sin(view->azimuth);
  const double ce = cos(view->elevation), se = sin(view->elevation);
  c->width = view->width;
  c->height = view->height;
  c->forward = (v3){-ce * ca, -ce * sa, -se};
  c->right = (v3){-sa, ca, 0.0};
  c->up = v3_cross(c->right, c->forward);
  const double shorter = fmin(view->width, view->height);
  const double half[2] = {HALF_FIELD * view->width / shorter, HALF_FIELD * view->height / shorter};
  v3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (size_t k = 0; k < count; ++k) {
    low = v3_min(low, seen(c, points[k]));
    high = v3_max(high, seen(c, points[k]));
  }
  v3 centre = v3_mix(low, high, 0.5), middle = centre;
  const v3 span = v3_sub(high, low);
  s->size = fmax(0.5 * sqrt(v3_dot(span, span)), 1e-9);
  s->touching = s->size;
  double distance = 0.0;
  for (int i = 0; i < ROUNDS; ++i) {
    centre = middle;
    distance = fit(s, points, count, centre, half, &middle);
  }
  c->scale = 2.0 * HALF_FIELD / (shorter * view->zoom);
  c->eye = v3_along(v3_along(v3_scale(c->right, centre.x), c->up, centre.y), c->forward,
                    centre.z - distance);
}

void box_corners(const actor *a, v3 corners[8])
{
  for (int i = 0; i < 8; ++i) {
    const v3 corner = {i & 1 ? a->upper.x : a->lower.x, i & 2 ? a->upper.y : a->lower.y,
                       i & 4 ? a->upper.z : a->lower.z};
    corners[i] = v3_apply(&a->frame, corner);
  }
}
