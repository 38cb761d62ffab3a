/* Contacts that the caller gives and that are no contacts: test_given PRECISION ROOT, the folder of
 * golden worlds. On the device of ABUT_TEST_DEVICE. */
#include "support/check.h"

#include <abut/world.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static abut_context context;
static abut_precision precision;

enum { GIVEN = 3, NUMBERS = 8, MOST = 64 };

typedef struct bad_contact {
  size_t number; /* of p, d, n, activity */
  double value;
} bad_contact;

static void put_contacts(const bad_contact *bad, double given[4][3 * GIVEN])
{
  static const double contact[NUMBERS] = {0.0, 0.0, 0.0, -0.001, 0.0, 0.0, 1.0, 1.0};
  static const size_t at[] = {0, 3, 4, 7}, width[] = {3, 1, 3, 1};
  for (size_t k = 0; k < 4; ++k) {
    for (size_t i = 0; i < GIVEN * width[k]; ++i) {
      const size_t number = at[k] + i % width[k];
      const bool is_bad = number == bad->number && i / width[k] == 1;
      real_put(given[k], precision, i, is_bad ? bad->value : contact[number]);
    }
  }
}

/* Of the second of three worlds: it stops, alone, and its gradients are 0. */
static void check_bad_contact(abut_scene scene, const abut_scene_info *info, const bad_contact *bad,
                              abut_worlds w, const void *good)
{
  const size_t size = real_size(precision), row = info->nq * size;
  double next[GIVEN * MOST] = {0}, ones[2 * GIVEN * MOST], bars[5][GIVEN * MOST] = {{0}};
  double given[4][3 * GIVEN];
  uint32_t status[GIVEN], step[ABUT_WORLD_STATUSES * GIVEN];
  abut_given_contacts c = *w.contacts;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  put_contacts(bad, given);
  c.p = given[0];
  c.d = given[1];
  c.n = given[2];
  c.activity = given[3];
  w.contacts = &c;
  w.q_next = next;
  w.status = status;
  w.status_step = step;
  CHECK_OK(abut_step_worlds(scene, &w));
  CHECK(status[0] == 0 && status[1] == ABUT_WORLD_BAD_INPUT && status[2] == 0);
  for (size_t i = 0; i < ABUT_WORLD_STATUSES * GIVEN; ++i) {
    CHECK_EQUAL(step[i], i == ABUT_WORLD_STATUSES + 5 ? 0 : ABUT_WORLD_NEVER);
  }
  const char *own = (const char *)next;
  CHECK(!memcmp(own, good, row) && !memcmp(own + 2 * row, (const char *)good + 2 * row, row));
  CHECK(!memcmp(own + row, (const char *)w.q + row, row));
  for (size_t i = 0; i < 2 * GIVEN * info->nv; ++i) {
    real_put(ones, precision, i, 1.0);
  }
  g.state = ones;
  g.v = bars[0];
  g.friction = bars[1];
  g.stiffness = bars[2];
  g.d = bars[3];
  g.p = bars[4];
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  const size_t widths[] = {info->nv, info->pairs, info->pairs, 1, 3};
  for (size_t k = 0; k < 5; ++k) {
    for (size_t i = widths[k]; i < 2 * widths[k]; ++i) {
      CHECK(k == 0 || real_at(bars[k], precision, i) == 0.0);
      CHECK(isfinite(real_at(bars[k], precision, i)));
    }
  }
}

static void check_given(const char *root)
{
  static const bad_contact none = {NUMBERS, 0.0};
  static const bad_contact bad[] = {{0, NAN},       {1, INFINITY},  {3, NAN},      {3, INFINITY},
                                    {3, -INFINITY}, {4, NAN},       {6, INFINITY}, {7, NAN},
                                    {7, INFINITY},  {7, -INFINITY}, {7, -0.5},     {7, 1.5}};
  char path[1024];
  abut_scene scene;
  abut_scene_info info;
  double q[GIVEN * MOST] = {0}, v[GIVEN * MOST] = {0}, good[GIVEN * MOST] = {0}, start[MOST];
  double given[4][3 * GIVEN];
  const int32_t owner[] = {0}, opposing[] = {-1}, pair[] = {0};
  abut_given_contacts c = {1, owner, opposing, pair, given[0], given[1], given[2], given[3]};
  abut_worlds w = abut_default_worlds();
  snprintf(path, sizeof path, "%s/cone-given-contacts/scene.json", root);
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  REQUIRE(info.nq <= MOST && info.pairs <= MOST);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  for (size_t i = 0; i < GIVEN * info.nq; ++i) {
    real_put(q, precision, i, start[i % info.nq]);
  }
  put_contacts(&none, given);
  w.count = GIVEN;
  w.q = q;
  w.v = v;
  w.q_next = good;
  w.contacts = &c;
  CHECK_OK(abut_step_worlds(scene, &w));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    check_bad_contact(scene, &info, &bad[i], w, good);
  }
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  check_given(argv[2]);
  return finish_context(context);
}
