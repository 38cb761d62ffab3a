#include "view/render/trace.h"

#include "base/error.h"
#include "view/render/rays.h"
#include <string.h>

#define CHUNK ((size_t)1 << 16)
#define MARCH_STEPS 320
#define CREEP_LEAST 1e-3 /* of the body's diagonal: two pixels of a typical picture */
#define CREEP_MOST 1e-2
#define CREEP_THIN 0.25 /* of the body's thickness, which a step must not exceed */
#define STEP_MOST 0.25
#define TOLERANCE 2e-5
#define CLOUD_REACH 2.0  /* of a point's width: largest distance from it to the surface */
#define CLOUD_CREEP 0.25 /* of its points' mean width */
#define OPEN_REACH 0.05  /* of the scene's size: distance within which surfaces darken others */
#define OPEN_WEIGHT 0.32
/* outside its box a polyhedron's field is smaller than the distance, by up to a factor sqrt(3) */
#define CORNER_REACH 2.0
#define OPEN_POINTS 256 /* larger clouds darken nothing: their far field is not a distance */

/* The interval of a ray, in the world, in which it may hit an actor. */
typedef struct stretch {
  double near, far;
} stretch;

static stretch clip_box(const actor *a, v3 eye, v3 ray)
{
  const v3 o = v3_apply_back(&a->frame, eye), d = v3_rotate_back(&a->frame, ray);
  const double from[3] = {o.x, o.y, o.z}, along[3] = {d.x, d.y, d.z};
  const double low[3] = {a->lower.x, a->lower.y, a->lower.z};
  const double high[3] = {a->upper.x, a->upper.y, a->upper.z};
  stretch s = {0.0, HUGE_VAL};
  for (int i = 0; i < 3; ++i) {
    if (fabs(along[i]) < 1e-12) {
      s.far = from[i] < low[i] || from[i] > high[i] ? -1.0 : s.far;
      continue;
    }
    const double t0 = (low[i] - from[i]) / along[i], t1 = (high[i] - from[i]) / along[i];
    s.near = fmax(s.near, fmin(t0, t1));
    s.far = fmin(s.far, fmax(t0, t1));
  }
  return s;
}

static stretch clip(const tracer *t, size_t which, place at, v3 ray)
{
  const camera *c = &t->scene->camera;
  stretch s = clip_box(&t->scene->actors[which], c->eye, ray);
  const float *bounds = t->bounds[which];
  if (bounds && s.near < s.far) {
    const size_t pixel = (size_t)at.y * c->width + (size_t)at.x;
    s.near = fmax(s.near, (double)bounds[2 * pixel]);
    s.far = fmin(s.far, (double)bounds[2 * pixel + 1]);
  }
  return s;
}

/* Widens the bounds of the pixels covered by a ball around a cloud's point. */
static void splat(float *bounds, const camera *c, v3 point, double reach)
{
  double x, y, depth;
  if (!camera_project(c, point, &x, &y, &depth)) {
    return;
  }
  const v3 from_eye = v3_sub(point, c->eye);
  const double distance = sqrt(v3_dot(from_eye, from_eye));
  const double radius = reach / (fmax(depth - reach, 0.1 * depth) * c->scale) + 1.0;
  if (!(x + radius >= 0.0 && y + radius >= 0.0 && x - radius < c->width &&
        y - radius < c->height)) {
    return;
  }
  const size_t x0 = (size_t)fmax(x - radius, 0.0), y0 = (size_t)fmax(y - radius, 0.0);
  const size_t x1 = (size_t)fmin(x + radius, c->width - 1.0);
  const size_t y1 = (size_t)fmin(y + radius, c->height - 1.0);
  for (size_t j = y0; j <= y1; ++j) {
    for (size_t i = x0; i <= x1; ++i) {
      const double dx = (double)i + 0.5 - x, dy = (double)j + 0.5 - y;
      if (dx * dx + dy * dy <= radius * radius) {
        float *b = bounds + 2 * (j * c->width + i);
        b[0] = fminf(b[0], (float)(distance - reach));
        b[1] = fmaxf(b[1], (float)(distance + reach));
      }
    }
  }
}

static abut_status bound_clouds(tracer *t, size_t which)
{
  const actor *a = &t->scene->actors[which];
  const camera *c = &t->scene->camera;
  const size_t pixels = (size_t)c->width * c->height;
  if (!a->cloud_count) {
    return ABUT_SUCCESS;
  }
  void *memory = NULL;
  TRY(allocate(&memory, pixels, 2 * sizeof(float)));
  t->bounds[which] = memory;
  for (size_t i = 0; i < pixels; ++i) {
    t->bounds[which][2 * i] = HUGE_VALF;
    t->bounds[which][2 * i + 1] = -HUGE_VALF;
  }
  for (size_t i = 0; i < a->cloud_count; ++i) {
    const double reach = fmin(CLOUD_REACH * a->reach[i], a->diagonal);
    splat(t->bounds[which], c, v3_apply(&a->frame, a->cloud[i]), reach);
  }
  return ABUT_SUCCESS;
}

abut_status tracer_create(tracer *t, const scene *s)
{
  memset(t, 0, sizeof *t);
  t->scene = s;
  const size_t size = context_real_bytes(s->context);
  void *memory = NULL;
  TRY(reals_create(&t->asked, CHUNK * RAY_REALS, size));
  TRY(reals_create(&t->answered, CHUNK * FIELD_REALS, size));
  TRY(allocate(&memory, CHUNK, sizeof(size_t)));
  t->order = memory;
  TRY(allocate(&memory, s->count, sizeof *t->bounds));
  t->bounds = memory;
  for (size_t i = 0; i < s->count; ++i) {
    TRY(bound_clouds(t, i));
  }
  return ABUT_SUCCESS;
}

void tracer_free(tracer *t)
{
  free(t->asked.data);
  free(t->answered.data);
  free(t->order);
  for (size_t i = 0; t->bounds && i < t->scene->count; ++i) {
    free(t->bounds[i]);
  }
  free(t->bounds);
}

static double answer(const tracer *t, size_t i)
{
  return t->answered.size == sizeof(double) ? ((const double *)t->answered.data)[i]
                                            : (double)((const float *)t->answered.data)[i];
}

/* Writes three numbers of the input, starting at number i. */
static void put(tracer *t, size_t i, v3 v)
{
  reals_set(&t->asked, i, v.x);
  reals_set(&t->asked, i + 1, v.y);
  reals_set(&t->asked, i + 2, v.z);
}

static abut_status march(tracer *t, const actor *a, size_t count)
{
  const double size = a->diagonal, thickness = a->of->info.thickness;
  ray_steps steps = {.creep = fmin(fmax(a->margin / 3.0, CREEP_LEAST * size), CREEP_MOST * size),
                     .longest = STEP_MOST * size,
                     .tolerance = TOLERANCE * size,
                     .most = MARCH_STEPS};
  if (thickness > 0.0) {
    steps.creep = fmin(steps.creep, CREEP_THIN * thickness);
    steps.tolerance = fmin(steps.tolerance, CREEP_THIN * thickness);
  }
  if (a->cloud_count) {
    steps.creep = fmin(CLOUD_CREEP * a->reach_mean, CREEP_MOST * size);
  }
  return march_rays(t->scene, a, &steps, count, t->asked.data, t->answered.data);
}

/* Traces rays to one actor; nearer hits replace the samples. */
static abut_status meet(tracer *t, size_t which, const place *places, size_t count, sample *samples)
{
  const scene *s = t->scene;
  const actor *a = &s->actors[which];
  size_t rays = 0;
  for (size_t i = 0; i < count; ++i) {
    const stretch on = clip(t, which, places[i], camera_ray(&s->camera, places[i].x, places[i].y));
    if (on.near < on.far && on.near < (double)samples[i].depth) {
      t->order[rays++] = i;
    }
  }
  if (!rays) {
    return ABUT_SUCCESS;
  }
  for (size_t k = 0; k < rays; ++k) {
    const place at = places[t->order[k]];
    const v3 ray = camera_ray(&s->camera, at.x, at.y);
    const stretch on = clip(t, which, at, ray);
    put(t, k * RAY_REALS, v3_apply_back(&a->frame, v3_along(s->camera.eye, ray, on.near)));
    put(t, k * RAY_REALS + 3, v3_rotate_back(&a->frame, ray));
    reals_set(&t->asked, k * RAY_REALS + 6, on.far - on.near);
  }
  TRY(march(t, a, rays));
  for (size_t k = 0; k < rays; ++k) {
    sample *to = &samples[t->order[k]];
    const place at = places[t->order[k]];
    const stretch on = clip(t, which, at, camera_ray(&s->camera, at.x, at.y));
    const double entry = answer(t, k), depth = on.near + entry;
    if (entry >= 0.0 && depth < (double)to->depth) {
      to->depth = (float)depth;
      to->body = (int)which;
    }
  }
  return ABUT_SUCCESS;
}

static v3 point_of(const scene *s, place at, float depth)
{
  return v3_along(s->camera.eye, camera_ray(&s->camera, at.x, at.y), (double)depth);
}

/* Returns the colour index, 0 or 1, of a point of a floor's frame. */
static int cell_of(const actor *a, v3 at)
{
  return a->tile > 0.0 && fmod(floor(at.x / a->tile) + floor(at.y / a->tile), 2.0) != 0.0;
}

static abut_status find_normals(tracer *t, size_t which, const place *places, size_t count,
                                sample *samples)
{
  const actor *a = &t->scene->actors[which];
  const v3_frame *frame = &a->frame;
  size_t hits = 0;
  for (size_t i = 0; i < count; ++i) {
    if (samples[i].body == (int)which) {
      t->order[hits++] = i;
    }
  }
  if (!hits) {
    return ABUT_SUCCESS;
  }
  for (size_t k = 0; k < hits; ++k) {
    const size_t i = t->order[k];
    const v3 at = v3_apply_back(frame, point_of(t->scene, places[i], samples[i].depth));
    put(t, 3 * k, at);
    samples[i].cell = cell_of(a, at);
  }
  TRY(field_at_points(t->scene, a, true, hits, t->asked.data, t->answered.data));
  for (size_t k = 0; k < hits; ++k) {
    const size_t at = k * FIELD_REALS;
    const v3 n = {answer(t, at + 1), answer(t, at + 2), answer(t, at + 3)};
    const v3 world = v3_unit(v3_rotate(frame, n));
    float *to = samples[t->order[k]].normal;
    to[0] = (float)world.x;
    to[1] = (float)world.y;
    to[2] = (float)world.z;
  }
  return ABUT_SUCCESS;
}

static bool near_box(const actor *a, v3 at, double reach)
{
  return at.x > a->lower.x - reach && at.x < a->upper.x + reach && at.y > a->lower.y - reach &&
         at.y < a->upper.y + reach && at.z > a->lower.z - reach && at.z < a->upper.z + reach;
}

/* Darkens surfaces: if the point at `height` above a surface is nearer than `height` to actor `of`,
 * the surface is darkened. */
static abut_status darken(tracer *t, size_t of, double height, double weight, const place *places,
                          size_t count, sample *samples)
{
  const scene *s = t->scene;
  const actor *a = &s->actors[of];
  if (a->cloud_count > OPEN_POINTS) {
    return ABUT_SUCCESS;
  }
  size_t hits = 0;
  for (size_t i = 0; i < count; ++i) {
    if (samples[i].body < 0) {
      continue;
    }
    const float *n = samples[i].normal;
    const v3 above = v3_along(point_of(s, places[i], samples[i].depth),
                              (v3){(double)n[0], (double)n[1], (double)n[2]}, height);
    const v3 at = v3_apply_back(&a->frame, above);
    if (near_box(a, at, CORNER_REACH * height)) {
      put(t, 3 * hits, at);
      t->order[hits++] = i;
    }
  }
  if (!hits) {
    return ABUT_SUCCESS;
  }
  TRY(field_at_points(s, a, false, hits, t->asked.data, t->answered.data));
  for (size_t k = 0; k < hits; ++k) {
    const double free_height = fmin(fmax(answer(t, k) / height, 0.0), 1.0);
    samples[t->order[k]].open *= (float)(1.0 - weight * (1.0 - free_height));
  }
  return ABUT_SUCCESS;
}

static abut_status chunk_depths(tracer *t, const place *places, size_t count, sample *samples)
{
  for (size_t i = 0; i < count; ++i) {
    samples[i] = (sample){HUGE_VALF, {0.0f, 0.0f, 0.0f}, 1.0f, -1, 0};
  }
  for (size_t which = 0; which < t->scene->count; ++which) {
    TRY(meet(t, which, places, count, samples));
  }
  return ABUT_SUCCESS;
}

static abut_status chunk_all(tracer *t, const place *places, size_t count, sample *samples)
{
  TRY(chunk_depths(t, places, count, samples));
  const double reach = OPEN_REACH * t->scene->size;
  for (size_t which = 0; which < t->scene->count; ++which) {
    TRY(find_normals(t, which, places, count, samples));
  }
  for (size_t of = 0; of < t->scene->count; ++of) {
    TRY(darken(t, of, reach, OPEN_WEIGHT, places, count, samples));
    TRY(darken(t, of, 3.0 * reach, OPEN_WEIGHT, places, count, samples));
  }
  return ABUT_SUCCESS;
}

static size_t chunk_at(size_t first, size_t count)
{
  return count - first < CHUNK ? count - first : CHUNK;
}

abut_status trace_depths(tracer *t, const place *places, size_t count, sample *samples)
{
  for (size_t first = 0; first < count; first += CHUNK) {
    TRY(chunk_depths(t, places + first, chunk_at(first, count), samples + first));
  }
  return ABUT_SUCCESS;
}

abut_status trace_places(tracer *t, const place *places, size_t count, sample *samples)
{
  for (size_t first = 0; first < count; first += CHUNK) {
    TRY(chunk_all(t, places + first, chunk_at(first, count), samples + first));
  }
  return ABUT_SUCCESS;
}
