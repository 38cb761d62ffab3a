/* Bodies of the project's own dropped onto each other, as they come: test_physics_drops PRECISION
 * ASSETS COUNT
 *
 * Each ends without status, at rest on the other, still rocking, or falling beside it; none gains
 * energy beyond what contacts that are pushed in hold. On the device of ABUT_TEST_DEVICE. With
 * ABUT_TEST_USUAL=1 one of them in five, for 0.8 s. */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81
#define APART -1.0 /* [m] */

/* What falls, on what lies there: how far the one's vertices are from its middle at most, the
 * other's highest point, and how it lies. */
typedef struct drop {
  const char *above, *below;
  double reach, top;
  const char *lies;
} drop;

static const drop drops[] = {
  {"figure", "figure", 0.75, 0.21, "[0.70710678, 0.70710678, 0, 0]"},
  {"figure", "box", 0.75, 0.09, "[1, 0, 0, 0]"},
  {"box", "figure", 0.21, 0.21, "[0.70710678, 0.70710678, 0, 0]"},
  {"ring", "part", 0.24, 0.16, "[1, 0, 0, 0]"},
  {"part", "ring", 0.44, 0.07, "[1, 0, 0, 0]"},
};
enum { DROPS = sizeof drops / sizeof *drops };

static abut_context context;
static abut_precision precision;
static const char *assets;
static double seconds = 2.0;

typedef struct tally {
  size_t resting, rocking, apart, statuses;
  double gain; /* the most of any, as a share of what it fell with */
} tally;

static double random_between(uint64_t *random, double low, double high)
{
  return low + (high - low) * random_uniform(random);
}

/* Any way round, the centre of mass above the other's middle, and thrown a little. */
static void start(play *p, const drop *d, uint64_t *random)
{
  const double high = d->top + d->reach;
  for (size_t i = 0; i < p->worlds; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      play_set_q(p, i, k, 0.0);
    }
    for (size_t k = 3; k < 7; ++k) {
      play_set_q(p, i, k, random_normal(random));
    }
  }
  play_weigh(p);
  for (size_t i = 0; i < p->worlds; ++i) {
    const link_state s = play_link(p, i, 0);
    play_set_q(p, i, 0, random_between(random, -0.1, 0.1) - s.com[0]);
    play_set_q(p, i, 1, random_between(random, -0.1, 0.1) - s.com[1]);
    play_set_q(p, i, 2, high - s.com[2]);
    for (size_t k = 0; k < 6; ++k) {
      play_set_v(p, i, k, (k < 3 ? 0.2 : 1.0) * random_normal(random));
    }
  }
}

static double energy(const play *p, size_t i)
{
  static const double gravity[3] = {0.0, 0.0, -G};
  return play_kinetic(p, i) + play_potential(p, i, gravity);
}

/* Looks at energies every 20 ms. */
static void fall(play *p, const drop *d, tally *t)
{
  double *before = calloc(p->worlds, sizeof *before);
  REQUIRE(before != NULL);
  for (int look = 0; p->time < seconds; ++look) {
    play_weigh(p);
    for (size_t i = 0; i < p->worlds; ++i) {
      const double mass = play_link(p, i, 0).mass, fell = mass * G * (d->top + d->reach);
      before[i] = look ? before[i] : energy(p, i);
      t->gain = fmax(t->gain, (energy(p, i) - before[i]) / fell);
    }
    play_for(p, 0.02);
  }
  free(before);
}

static void judge(const play *p, tally *t)
{
  for (size_t i = 0; i < p->worlds; ++i) {
    const bool slow = play_fastest(p, i, false) < 1e-2 && play_fastest(p, i, true) < 1e-1;
    const bool apart = play_q(p, i, 2) < APART;
    t->resting += slow;
    t->apart += apart;
    t->rocking += !slow && !apart;
    t->statuses += p->status[i] != 0;
    if (p->status[i]) {
      printf("world %zu has status %u\n", i, p->status[i]);
    }
  }
}

static void run_drop(const drop *d, size_t count, uint64_t *random)
{
  char text[2048];
  tally t = {.gain = 0.0};
  play p;
  snprintf(text, sizeof text,
           "{\"links\": [{\"joint\": {\"type\": \"free\"}, \"density\": 500, \"bodies\": "
           "[{\"file\": \"%s/%s.body.json\"}]}, {\"quaternion\": %s, \"bodies\": [{\"file\": "
           "\"%s/%s.body.json\"}]}], \"pairs\": [{\"a\": 0, \"b\": 1}]}",
           assets, d->above, d->lies, assets, d->below);
  play_open_text(&p, context, precision, text, count);
  start(&p, d, random);
  fall(&p, d, &t);
  judge(&p, &t);
  printf("%s on %s: %zu drops, %zu at rest, %zu rock, %zu apart, %zu with a status\n", d->above,
         d->below, count, t.resting, t.rocking, t.apart, t.statuses);
  play_line("energy that is gained [share]", t.gain, 0.01);
  CHECK_EQUAL(t.statuses, 0);
  play_close(&p);
}

int main(int argc, char **argv)
{
  uint64_t random = 11;
  REQUIRE(argc > 3);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  assets = argv[2];
  context = require_context(precision);
  const bool usual = usual_share();
  seconds = usual ? 0.8 : seconds;
  for (int i = usual ? DROPS - 2 : 0; i < (usual ? DROPS - 1 : DROPS); ++i) {
    run_drop(&drops[i], (size_t)atoi(argv[3]), &random);
  }
  return finish_context(context);
}
