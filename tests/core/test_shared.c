/* One context in several threads at once: test_shared PRECISION
 *
 * Eight threads call contacts, gradients and lists of one pair, read its bodies and counters, make
 * and destroy pairs and bodies beside it; what each is given agrees to the bit with what a single
 * thread is given. At the end the context goes while all of them go on calling. */
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 12, POSES = 5, NUMBERS = 12 * POSES };

typedef struct shared {
  abut_context context;
  abut_pair pair;
  abut_body body;
  abut_precision precision;
  size_t contacts;
  void *pose1, *pose2;
  void *d, *gradient; /* of a single thread: (POSES, contacts), (2, POSES, 6) */
  atomic_int refused; /* threads that have found the context gone */
} shared;

typedef struct work {
  shared *of;
  int kind, failures; /* check() belongs to the main thread */
  char text[256];
  pthread_t thread;
} work;

static void fail_work(work *w, const char *what)
{
  snprintf(w->text, sizeof w->text, "%s: %s", what, abut_last_error());
  ++w->failures;
}

static abut_batch batch_of(const shared *s)
{
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = s->pose1;
  batch.pose2 = s->pose2;
  return batch;
}

static abut_status distances(const shared *s, void *d)
{
  abut_batch batch = batch_of(s);
  batch.d = d;
  return abut_contacts(s->pair, &batch);
}

static abut_status gradient(const shared *s, void *out)
{
  abut_batch batch = batch_of(s);
  const abut_gradients gradients = {out, (char *)out + 6 * POSES * real_size(s->precision)};
  return abut_gradient(s->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
}

static void compare(work *w, const void *got, const void *wanted, size_t count, const char *what)
{
  if (memcmp(got, wanted, count * real_size(w->of->precision)) != 0) {
    fail_work(w, what);
  }
}

static void call_once(work *w, int round)
{
  const shared *s = w->of;
  const size_t real = real_size(s->precision), count = POSES * s->contacts;
  void *room = calloc(count > NUMBERS ? count : NUMBERS, real);
  abut_body_info info;
  abut_counters counters;
  abut_pair own;
  abut_smoothing smoothing;
  switch ((w->kind + round) % 4) {
  case 0:
    if (distances(s, room) != ABUT_SUCCESS) {
      fail_work(w, "distances");
    }
    compare(w, room, s->d, count, "other distances");
    break;
  case 1:
    if (gradient(s, room) != ABUT_SUCCESS) {
      fail_work(w, "a gradient");
    }
    compare(w, room, s->gradient, NUMBERS, "another gradient");
    break;
  case 2:
    if (abut_get_body_info(s->body, &info) != ABUT_SUCCESS || info.vertices != 8 ||
        abut_get_counters(s->context, &counters) != ABUT_SUCCESS || !counters.resident) {
      fail_work(w, "a body's numbers");
    }
    break;
  default:
    if (abut_fit_smoothing(s->body, s->body, &smoothing) != ABUT_SUCCESS ||
        abut_create_pair(s->body, s->body, &smoothing, &own) != ABUT_SUCCESS ||
        abut_destroy_pair(own) != ABUT_SUCCESS || abut_destroy_pair(own) != ABUT_ERROR_HANDLE) {
      fail_work(w, "a pair of a thread's own");
    }
  }
  free(room);
}

static void *run(void *user)
{
  work *w = user;
  for (int i = 0; i < ROUNDS; ++i) {
    call_once(w, i);
  }
  return NULL;
}

/* Calls until the context has gone. */
static void *run_on(void *user)
{
  work *w = user;
  void *room = calloc(POSES * w->of->contacts, real_size(w->of->precision));
  abut_status status;
  do {
    status = distances(w->of, room);
  } while (status == ABUT_SUCCESS);
  if (status == ABUT_ERROR_HANDLE) {
    atomic_fetch_add(&w->of->refused, 1);
  }
  free(room);
  return NULL;
}

/* From within a call nothing of its context is destroyed. */
static bool destroy_within(size_t done, size_t total, void *user)
{
  const shared *s = user;
  (void)done;
  (void)total;
  CHECK_EQUAL(abut_destroy_pair(s->pair), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_destroy_body(s->body), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_destroy_context(s->context), ABUT_ERROR_ARGUMENT);
  return true;
}

static void within(shared *s)
{
  abut_batch batch = batch_of(s);
  void *d = calloc(POSES * s->contacts, real_size(s->precision));
  batch.d = d;
  batch.progress = destroy_within;
  batch.user = s;
  CHECK_OK(abut_contacts(s->pair, &batch));
  CHECK(!memcmp(d, s->d, POSES * s->contacts * real_size(s->precision)));
  free(d);
}

/* Objects of two contexts do not go together, and the other one's are not looked into. */
static void strangers(shared *s)
{
  abut_context other;
  abut_pair pair, pairs[2] = {s->pair, {0, 0}};
  abut_body body;
  abut_smoothing smoothing;
  const double half[3] = {0.5, 0.5, 0.5};
  const uint32_t which[POSES] = {0};
  REQUIRE(test_context(s->precision, &other));
  REQUIRE(make_box(other, half, &body));
  REQUIRE_OK(make_cubes(other, &pairs[1]));
  CHECK_OK(abut_fit_smoothing(s->body, body, &smoothing));
  CHECK_EQUAL(abut_create_pair(s->body, body, &smoothing, &pair), ABUT_ERROR_HANDLE);
  abut_batch batch = batch_of(s);
  batch.d = s->d;
  batch.pairs = pairs;
  batch.pair_count = 2;
  batch.pair = which;
  CHECK_EQUAL(abut_contacts(ABUT_BATCH_PAIRS, &batch), ABUT_ERROR_HANDLE);
  CHECK_OK(abut_destroy_context(other));
}

static void start(work *works, shared *s, void *(*what)(void *))
{
  for (int i = 0; i < THREADS; ++i) {
    works[i] = (work){.of = s, .kind = i};
    check(!pthread_create(&works[i].thread, NULL, what, &works[i]), "thread %d starts", i);
  }
}

static void join(work *works)
{
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(works[i].thread, NULL);
    check(!works[i].failures, "thread %d: %d failures, %s", i, works[i].failures, works[i].text);
  }
}

int main(int argc, char **argv)
{
  shared s = {.precision = precision_of(argc, argv)};
  const double half[3] = {0.5, 0.5, 0.5};
  double poses[2][6 * POSES];
  uint64_t seed = 5;
  work works[THREADS];
  abut_layout layout;
  s.context = require_context(s.precision);
  REQUIRE(make_box(s.context, half, &s.body));
  REQUIRE_OK(make_cubes(s.context, &s.pair));
  REQUIRE_OK(abut_get_layout(s.pair, &layout));
  s.contacts = layout.contacts;
  for (int i = 0; i < 12 * POSES; ++i) {
    poses[i / (6 * POSES)][i % (6 * POSES)] = random_uniform(&seed) - 0.5;
  }
  s.pose1 = to_reals(poses[0], 6 * POSES, s.precision);
  s.pose2 = to_reals(poses[1], 6 * POSES, s.precision);
  s.d = calloc(POSES * s.contacts, real_size(s.precision));
  s.gradient = calloc(NUMBERS, real_size(s.precision));
  REQUIRE_OK(distances(&s, s.d));
  REQUIRE_OK(gradient(&s, s.gradient));
  within(&s);
  strangers(&s);
  start(works, &s, run);
  join(works);
  start(works, &s, run_on);
  CHECK_OK(abut_destroy_context(s.context));
  join(works);
  CHECK_EQUAL(atomic_load(&s.refused), THREADS);
  free(s.pose1);
  free(s.pose2);
  free(s.d);
  free(s.gradient);
  return check_finish();
}
