/* Closest points of four shapes at poses near each other, and their derivatives. */
#include "failures.h"

#include "core/scene.h"
#include <abut/closest.h>
#include <math.h>
#include <string.h>

enum { SHAPES = 4 };

typedef struct start {
  double pose[2][7 * POSES];
  uint32_t one[POSES], two[POSES];
} start;

static abut_status make_shapes(abut_context context, abut_shape shapes[SHAPES])
{
  static const double corners[] = {0.1, 0,    0, -0.1, 0, 0,   0, 0.1, 0,
                                   0,   -0.1, 0, 0,    0, 0.1, 0, 0,   -0.1};
  static const abut_shape_kind kinds[SHAPES] = {ABUT_SHAPE_HULL, ABUT_SHAPE_BOX, ABUT_SHAPE_SPHERE,
                                                ABUT_SHAPE_ELLIPSOID};
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < SHAPES && status == ABUT_SUCCESS; ++i) {
    abut_shape_def def = abut_default_shape_def();
    def.kind = kinds[i];
    def.vertices = kinds[i] == ABUT_SHAPE_HULL ? corners : NULL;
    def.vertex_count = kinds[i] == ABUT_SHAPE_HULL ? 6 : 0;
    def.size[0] = 0.1;
    def.size[1] = 0.07;
    def.size[2] = 0.12;
    status = abut_create_shape(context, &def, &shapes[i]);
  }
  return status;
}

/* One pose is none. */
static abut_closest_batch batch_of(start *s, const abut_shape *shapes)
{
  uint64_t seed = 5;
  for (size_t i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.1, &s->pose[0][7 * i]);
    random_pose(&seed, 0.2, &s->pose[1][7 * i]);
    s->one[i] = (uint32_t)(i % SHAPES);
    s->two[i] = (uint32_t)(i / SHAPES % SHAPES);
  }
  s->pose[1][7 * 9] = (double)NAN;
  abut_closest_batch b = abut_default_closest_batch();
  b.count = POSES;
  b.shapes = shapes;
  b.shape_count = SHAPES;
  b.one = s->one;
  b.two = s->two;
  b.pose1 = s->pose[0];
  b.pose2 = s->pose[1];
  return b;
}

typedef abut_status (*closest_task)(const world *w, abut_closest_batch *b, answer *out);

static abut_status run(const world *w, answer *out, closest_task call)
{
  static start s;
  abut_shape shapes[SHAPES];
  memset(shapes, 0, sizeof shapes);
  start_answer(out);
  abut_status status = make_shapes(w->context, shapes);
  if (status == ABUT_SUCCESS) {
    abut_closest_batch b = batch_of(&s, shapes);
    status = call(w, &b, out);
    out->failures = b.failures;
    out->rejected = b.rejected;
  }
  for (size_t i = 0; i < SHAPES; ++i) {
    if (shapes[i].generation) {
      CHECK_OK(abut_destroy_shape(shapes[i]));
    }
  }
  return status;
}

/* Points of curved shapes are good to the root of the gap, and what a row took to the bit on equal
 * devices alone. */
static abut_status query(const world *w, abut_closest_batch *b, answer *out)
{
  b->d = room(out, POSES, sizeof(double), 1e-9);
  b->n = room(out, 3 * POSES, sizeof(double), 1e-4);
  b->p1 = room(out, 3 * POSES, sizeof(double), 1e-4);
  b->p2 = room(out, 3 * POSES, sizeof(double), 1e-4);
  b->gap = room(out, POSES, sizeof(double), 1e-9);
  b->status = room(out, POSES, 1, -1.0);
  b->iterations = room(out, POSES, sizeof(uint32_t), -1.0);
  b->simplex = room(out, 8 * POSES, sizeof(int32_t), -1.0);
  return abut_closest(w->context, b);
}

static abut_status go_back(const world *w, abut_closest_batch *b, answer *out)
{
  static double bars[3 * POSES];
  abut_closest_smoothing s = abut_default_closest_smoothing();
  s.method = ABUT_CLOSEST_GAUSSIAN;
  for (size_t i = 0; i < 3 * POSES; ++i) {
    bars[i] = cos((double)i);
  }
  const abut_closest_cotangents cotangents = {.n = bars, .d = bars};
  const abut_closest_gradients gradients = {room(out, 12 * POSES, sizeof(double), -1.0),
                                            room(out, 7 * POSES, sizeof(double), -1.0),
                                            room(out, 7 * POSES, sizeof(double), -1.0)};
  b->d = room(out, POSES, sizeof(double), 1e-9);
  return abut_closest_vjp(w->context, b, &s, &cotangents, &gradients);
}

/* By queries: two samples are four launches more. */
static abut_status ask_around(const world *w, abut_closest_batch *b, answer *out)
{
  abut_closest_smoothing s = abut_default_closest_smoothing();
  s.method = ABUT_CLOSEST_ZEROTH;
  s.samples = 2;
  const abut_closest_jacobians jacobians = {.p1 = room(out, 36 * POSES, sizeof(double), -1.0),
                                            .d = room(out, 12 * POSES, sizeof(double), 1e-6)};
  return abut_closest_jacobian(w->context, b, &s, &jacobians);
}

abut_status run_closest(const world *w, answer *out)
{
  return run(w, out, query);
}

abut_status run_closest_vjp(const world *w, answer *out)
{
  return run(w, out, go_back);
}

abut_status run_closest_zeroth(const world *w, answer *out)
{
  return run(w, out, ask_around);
}
