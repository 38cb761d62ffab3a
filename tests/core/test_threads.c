/* Contexts in several threads at once: test_threads PRECISION
 *
 * Each thread makes its own context, bodies and pair, and its results agree to the bit with those
 * of the same work done alone. */
#include "scene.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 3, POSES = 7 };

/* What a thread works on. It keeps failures for the main thread, to which check() belongs. */
typedef struct work {
  struct work *twin; /* of the work done alone: the same for a thread, whose arrays it makes */
  abut_precision precision;
  uint32_t device;
  uint64_t seed;
  outputs out;
  void *pose1, *pose2;
  abut_status status;
  char text[256];
  pthread_t thread;
} work;

/* Cubes of a size that depends on the seed. */
static abut_status create_bodies(const work *w, abut_context context, abut_body bodies[2])
{
  for (int i = 0; i < 2; ++i) {
    const double size = 0.3 + 0.1 * i + 0.01 * (double)w->seed;
    const double half[3] = {size, size, 0.5 * size};
    double vertices[24];
    abut_body_def def;
    cube_def(half, vertices, &def);
    const abut_superquadric box = {{size, size, 0.5 * size},
                                   {0.2, 0.3},
                                   {0, 0, 0},
                                   {1, 0, 0, 0},
                                   ABUT_ADD};
    def.superquadrics = &box;
    def.superquadric_count = 1;
    const abut_status status = abut_create_body(context, &def, &bodies[i]);
    if (status != ABUT_SUCCESS) {
      return status;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status contacts(work *w, abut_context context)
{
  abut_body bodies[2];
  abut_pair pair;
  abut_smoothing s;
  abut_status status = create_bodies(w, context, bodies);
  if (status == ABUT_SUCCESS) {
    status = abut_fit_smoothing(bodies[0], bodies[1], &s);
  }
  if (status == ABUT_SUCCESS) {
    status = abut_create_pair(bodies[0], bodies[1], &s, &pair);
  }
  for (int i = 0; status == ABUT_SUCCESS && i < ROUNDS; ++i) {
    abut_batch batch = abut_default_batch();
    batch.count = POSES;
    batch.poses = ABUT_POSE_QUATERNION;
    batch.pose1 = w->pose1;
    batch.pose2 = w->pose2;
    if (i == 0 && w->twin &&
        !(outputs_create(&w->out, pair, w->precision, POSES, 8192, 0.05) &&
          outputs_create(&w->twin->out, pair, w->precision, POSES, 8192, 0.05))) {
      return ABUT_ERROR_MEMORY;
    }
    outputs_attach(&w->out, &batch, 0, OUT_ALL);
    status = abut_contacts(pair, &batch);
    w->out.rejected = batch.rejected;
  }
  return status;
}

static void *run(void *user)
{
  work *w = user;
  abut_context context;
  abut_context_def def = abut_default_context_def();
  def.device = w->device;
  def.precision = w->precision;
  w->status = abut_create_context(&def, &context);
  if (w->status == ABUT_SUCCESS) {
    w->status = contacts(w, context);
    snprintf(w->text, sizeof w->text, "%s", w->status == ABUT_SUCCESS ? "" : abut_last_error());
    abut_destroy_context(context);
  } else {
    snprintf(w->text, sizeof w->text, "%s", abut_last_error());
  }
  return NULL;
}

static void fill(work *w, abut_precision precision, uint32_t device, uint64_t seed)
{
  double pose1[7 * POSES], pose2[7 * POSES];
  uint64_t random = 17 + seed;
  *w = (work){.precision = precision, .device = device, .seed = seed};
  for (int i = 0; i < POSES; ++i) {
    random_pose(&random, 0.2, pose1 + 7 * i);
    random_pose(&random, 0.2, pose2 + 7 * i);
  }
  w->pose1 = to_reals(pose1, 7 * POSES, precision);
  w->pose2 = to_reals(pose2, 7 * POSES, precision);
}

static void test_threads(abut_precision precision, uint32_t device)
{
  work together[THREADS], alone[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    fill(&together[i], precision, device, (uint64_t)i);
    fill(&alone[i], precision, device, (uint64_t)i);
    alone[i].twin = &together[i];
    run(&alone[i]);
    if (!check(alone[i].status == ABUT_SUCCESS, "alone %d: %s", i, alone[i].text)) {
      return;
    }
  }
  for (int i = 0; i < THREADS; ++i) {
    check(!pthread_create(&together[i].thread, NULL, run, &together[i]), "thread %d starts", i);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(together[i].thread, NULL);
    if (check(together[i].status == ABUT_SUCCESS, "thread %d: %s", i, together[i].text)) {
      outputs_same(&alone[i].out, &together[i].out, "a thread beside others");
    }
  }
  check(out_at(&alone[0].out, OUT_SUM, 0) != out_at(&alone[1].out, OUT_SUM, 0),
        "threads have different work");
  for (int i = 0; i < 2 * THREADS; ++i) {
    work *w = i < THREADS ? &alone[i] : &together[i - THREADS];
    outputs_free(&w->out);
    free(w->pose1);
    free(w->pose2);
  }
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  const char *name = getenv("ABUT_TEST_DEVICE");
  uint32_t device;
  abut_context probe = require_context(precision);
  CHECK_OK(abut_destroy_context(probe));
  if (CHECK_OK(abut_find_device(name ? name : "host", &device))) {
    test_threads(precision, device);
  }
  return check_finish();
}
