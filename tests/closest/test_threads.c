/* Closest points by several threads on one context: test_closest_threads PRECISION
 *
 * Each asks about lists of shapes of its own, more of them than a context keeps, while others make
 * shapes and let them go: answers are to the bit what one thread gets. */
#include "closest/rows.h"

#include "core/scene.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, SOLIDS = 12, ROWS = 60, LISTS = 3, ROUNDS = 8 };

static abut_precision precision;
static abut_context context;
static solid solids[SOLIDS];
static abut_shape shapes[SOLIDS];

/* A thread's lists begin at different shapes; what row i is of is the same in all. */
typedef struct worker {
  pthread_t thread;
  rows expected, got;
  size_t first; /* of its lists */
  bool good;
} worker;

static void list_from(size_t first, abut_shape list[SOLIDS])
{
  for (size_t i = 0; i < SOLIDS; ++i) {
    list[i] = shapes[(first + i) % SOLIDS];
  }
}

static bool ask(rows *r, size_t first)
{
  abut_shape list[SOLIDS];
  list_from(first, list);
  for (size_t i = 0; i < ROWS; ++i) {
    r->one[i] = (uint32_t)((i + SOLIDS - first) % SOLIDS);
    r->two[i] = (uint32_t)((5 * i + 1 + SOLIDS - first) % SOLIDS);
  }
  abut_closest_batch b = rows_batch(r, list, SOLIDS, 0, ROWS);
  return abut_closest(context, &b) == ABUT_SUCCESS;
}

/* Checks count in one thread alone: what went wrong is told at the end. */
static void *work(void *user)
{
  worker *w = user;
  w->good = true;
  for (size_t i = 0; i < ROUNDS * LISTS && w->good; ++i) {
    abut_shape_def def = abut_default_shape_def();
    abut_shape other;
    def.kind = ABUT_SHAPE_BOX;
    def.size[0] = def.size[1] = def.size[2] = 1.0;
    w->good =
      abut_create_shape(context, &def, &other) == ABUT_SUCCESS &&
      ask(&w->got, w->first + i % LISTS) && abut_destroy_shape(other) == ABUT_SUCCESS &&
      !memcmp(w->got.reals[ROW_D], w->expected.reals[ROW_D], ROWS * real_size(precision)) &&
      !memcmp(w->got.reals[ROW_P1], w->expected.reals[ROW_P1], 3 * ROWS * real_size(precision));
  }
  return NULL;
}

static void make_rows(rows *r)
{
  uint64_t seed = 2;
  rows_create(r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, r, i, solids, SOLIDS);
  }
}

int main(int argc, char **argv)
{
  static worker workers[THREADS];
  uint64_t seed = 1;
  precision = precision_of(argc, argv);
  context = require_context(precision);
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &solids[i]);
  }
  REQUIRE(make_shapes(context, solids, SOLIDS, shapes));
  for (size_t i = 0; i < THREADS; ++i) {
    make_rows(&workers[i].expected);
    make_rows(&workers[i].got);
    workers[i].first = LISTS * i;
    CHECK(ask(&workers[i].expected, workers[i].first));
  }
  for (size_t i = 0; i < THREADS; ++i) {
    REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (size_t i = 0; i < THREADS; ++i) {
    pthread_join(workers[i].thread, NULL);
    check(workers[i].good, "thread %zu: a call fails, or gives another answer", i);
    rows_same(&workers[i].got, 0, &workers[i].expected, 0, ROWS, "the last answer");
    rows_free(&workers[i].got);
    rows_free(&workers[i].expected);
  }
  return finish_context(context);
}
