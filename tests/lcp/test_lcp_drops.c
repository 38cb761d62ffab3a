/* Bodies by a word dropped onto each other and onto a plane, as they come, with hard contacts:
 * test_lcp_drops PRECISION COUNT. On the device of ABUT_TEST_DEVICE.
 *
 * None may become no number or be left unsolved; how many were squeezed or had more contacts than
 * there is room for is printed, and what energy any gained, which contacts that are pushed apart
 * give. */
#include "support/check.h"
#include <abut/world.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = 5, STEPS = 300, EVERY = 10, KEPT = STEPS / EVERY };

static const char *const words[KINDS] = {"\"box\": [0.06, 0.05, 0.04]", "\"sphere\": 0.05",
                                         "\"capsule\": [0.03, 0.05]", "\"cylinder\": [0.04, 0.05]",
                                         "\"ellipsoid\": [0.06, 0.05, 0.04]"};

static abut_context context;
static abut_precision precision;

typedef struct tally {
  size_t worlds, status[8], lost;
  double gain; /* as a share of what was there to fall with */
} tally;

static abut_scene load(int first, int second)
{
  char path[64];
  snprintf(path, sizeof path, "drops-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fprintf(
    file,
    "{\"contact_model\": \"lcp\", \"links\": [{\"bodies\": [{\"plane\": [2, 2]}]},"
    "{\"joint\": {\"type\": \"free\"}, \"density\": 500, \"bodies\": [{%s}]},"
    "{\"joint\": {\"type\": \"free\"}, \"density\": 800, \"bodies\": [{%s}]}],"
    "\"pairs\": [{\"a\": 1, \"b\": 0, \"friction\": 0.6}, {\"a\": 2, \"b\": 0, \"friction\": 0.3}, "
    "{\"a\": 2, \"b\": 1, \"friction\": 0.5, \"restitution\": 0.3}]}",
    words[first], words[second]);
  REQUIRE(fclose(file) == 0);
  abut_scene scene;
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  remove(path);
  return scene;
}

static void *reals(size_t count)
{
  void *at = calloc(count, real_size(precision));
  REQUIRE(at != NULL);
  return at;
}

/* One above the other, any way round, thrown a little. */
static void start(void *q, void *v, size_t count, uint64_t *random)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t body = 0; body < 2; ++body) {
      const size_t at = 14 * i + 7 * body;
      real_put(q, precision, at, 0.04 * (random_uniform(random) - 0.5));
      real_put(q, precision, at + 1, 0.04 * (random_uniform(random) - 0.5));
      real_put(q, precision, at + 2, 0.09 + 0.18 * (double)body);
      for (size_t k = 3; k < 7; ++k) {
        real_put(q, precision, at + k, random_normal(random));
      }
      for (size_t k = 0; k < 6; ++k) {
        real_put(v, precision, 12 * i + 6 * body + k, (k < 3 ? 0.3 : 3.0) * random_normal(random));
      }
    }
  }
}

static void judge(const void *energy, const void *q, const uint32_t *status, size_t count, tally *t)
{
  for (size_t i = 0; i < count; ++i) {
    double least = INFINITY, most = 0.0;
    for (size_t k = 0; k < KEPT; ++k) {
      const size_t at = 2 * (i * KEPT + k);
      const double now = real_at(energy, precision, at) + real_at(energy, precision, at + 1);
      most = k ? most : now;
      t->gain = fmax(t->gain, (now - least) / most);
      least = fmin(least, now);
    }
    bool finite = true;
    for (size_t k = 0; k < 14; ++k) {
      finite = finite && isfinite(real_at(q, precision, 14 * i + k));
    }
    t->lost += !finite;
    for (int bit = 0; bit < 8; ++bit) {
      t->status[bit] += status[i] >> bit & 1;
    }
  }
  t->worlds += count;
}

static void drop(int first, int second, size_t count, uint64_t *random, tally *t)
{
  abut_scene scene = load(first, second);
  void *q = reals(14 * count), *v = reals(12 * count), *energy = reals(2 * count * KEPT);
  void *to = reals(14 * count);
  uint32_t *status = calloc(count, sizeof *status);
  REQUIRE(status != NULL);
  start(q, v, count, random);
  abut_worlds w = abut_default_worlds();
  w.count = count;
  w.steps = STEPS;
  w.record = EVERY;
  w.q = q;
  w.v = v;
  w.q_next = to;
  w.energy_record = energy;
  w.status = status;
  CHECK_OK(abut_step_worlds(scene, &w));
  judge(energy, to, status, count, t);
  CHECK_OK(abut_destroy_scene(scene));
  free(q);
  free(v);
  free(energy);
  free(to);
  free(status);
}

int main(int argc, char **argv)
{
  uint64_t random = 3;
  tally t = {.gain = 0.0};
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  const size_t count = (size_t)atoi(argv[2]),
               scenes = count < KINDS * KINDS ? count : KINDS * KINDS;
  for (size_t i = 0; i < scenes; ++i) {
    const size_t kind = i * 7 % (KINDS * KINDS); /* few are not all of one first word */
    drop((int)(kind / KINDS), (int)(kind % KINDS), (count + i) / scenes, &random, &t);
  }
  printf("%zu drops of %d steps: %zu squeezed, %zu beyond `most`, energy gained at most %.3g of "
         "what fell\n",
         t.worlds, STEPS, t.status[6], t.status[2], t.gain);
  CHECK_EQUAL(t.worlds, count);
  CHECK_EQUAL(t.lost, 0);
  CHECK_EQUAL(t.status[0], 0);
  CHECK_EQUAL(t.status[1], 0);
  CHECK_EQUAL(t.status[3], 0);
  CHECK_EQUAL(t.status[4], 0);
  return finish_context(context);
}
