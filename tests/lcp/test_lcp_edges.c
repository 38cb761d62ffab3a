/* What calls of worlds with hard contacts say where little is as usual: bodies that are squeezed,
 * more contacts than there is room for, contacts that are the same, worlds that are no numbers:
 * test_lcp_edges PRECISION. On the device of ABUT_TEST_DEVICE. */
#include "world/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static abut_context context;
static abut_precision precision;

static double either(double in_double, double in_float)
{
  return precision == ABUT_FLOAT64 ? in_double : in_float;
}

static void *reals(size_t count)
{
  void *at = calloc(count + 1, real_size(precision));
  REQUIRE(at != NULL);
  return at;
}

/* ---- squeezed ---- */

/* A box in a gap that is 2 mm too narrow: both walls push, and there is no solution. In a gap that
 * is wide enough there is one. */
static void test_squeezed(double gap, uint32_t want)
{
  char text[1024];
  play p;
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"lcp\", \"gravity\": [0, 0, 0], \"lcp\": {\"most\": 32}, \"links\": ["
    "{\"position\": [%.17g, 0, 0], \"bodies\": [{\"box\": [0.1, 0.2, 0.2]}]}, "
    "{\"position\": [%.17g, 0, 0], \"bodies\": [{\"box\": [0.1, 0.2, 0.2]}]}, "
    "{\"mass\": 1, \"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}, \"bodies\": "
    "[{\"box\": [0.05, 0.05, 0.05]}]}], \"pairs\": [{\"a\": 2, \"b\": 0}, {\"a\": 2, \"b\": 1}]}",
    -0.1 - 0.5 * gap, 0.1 + 0.5 * gap);
  play_open_text(&p, context, precision, text, 1);
  play_step(&p, 10);
  CHECK_EQUAL(p.status[0] & ABUT_WORLD_SQUEEZED, want);
  CHECK_EQUAL(p.status[0] & (ABUT_WORLD_NOT_FINITE | ABUT_WORLD_NOT_CONVERGED), 0);
  CHECK(fabs(play_q(&p, 0, 0)) < 1e-3 && fabs(play_v(&p, 0, 0)) < 0.1); /* it stays where it is */
  play_close(&p);
}

/* ---- room ---- */

/* A box on a plane, whose side has 25 points: with room for four of them it rests as with all, and
 * no world complains of the others. With one alone, which the deepest is in turn, it rests as well;
 * but where it comes down fast, those that are left out go in. */
static void test_room(int most)
{
  char text[1024];
  play p;
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"lcp\", \"lcp\": {\"most\": %d}, \"links\": [{\"bodies\": [{\"plane\": "
    "[2, 2]}]}, {\"position\": [0, 0, 0.0599], \"joint\": {\"type\": \"free\"}, \"density\": 400, "
    "\"bodies\": [{\"box\": [0.12, 0.1, 0.06]}]}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
    most);
  play_open_text(&p, context, precision, text, 1);
  void *forces = reals(3 * p.info.contacts);
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p.q;
  w.v = p.v;
  w.multipliers = forces;
  if (most == 1) {
    uint32_t status;
    w.status = &status;
    real_put(p.v, precision, 2, -1.0);
    CHECK_OK(abut_step_worlds(p.scene, &w));
    CHECK_EQUAL(status, ABUT_WORLD_OVERFLOW);
    real_put(p.v, precision, 2, 0.0);
    w.status = NULL;
  }
  CHECK_OK(abut_step_worlds(p.scene, &w));
  int pushing = 0;
  for (size_t i = 0; i < p.info.contacts; ++i) {
    pushing += real_at(forces, precision, 3 * i) != 0.0;
  }
  CHECK(pushing > 0 && pushing <= most && (pushing > 2 || most == 1));
  play_for(&p, 0.5);
  CHECK_EQUAL(p.status[0], 0);
  play_line("off where it lies [m]", fabs(play_q(&p, 0, 2) - 0.06), most == 1 ? 1e-3 : 1e-4);
  play_line("speed [m/s]", play_fastest(&p, 0, false), most == 1 ? 0.1 : either(1e-6, 1e-3));
  free(forces);
  play_close(&p);
}

/* ---- contacts that are the same ---- */

/* A four-sided spike whose tip is four vertices, `apart` from each other: nearer than a thousandth
 * of the larger body's diagonal they are one contact. */
static size_t spike_contacts(double apart)
{
  char text[2048], file[64];
  snprintf(file, sizeof file, "edges-%ld.obj", (long)getpid());
  FILE *mesh = fopen(file, "w");
  REQUIRE(mesh != NULL);
  for (int i = 0; i < 8; ++i) {
    const double wide = i < 4 ? 0.5 * apart : 0.1, x = i % 4 == 1 || i % 4 == 2 ? wide : -wide;
    fprintf(mesh, "v %.12g %.12g %g\n", x, i % 4 > 1 ? wide : -wide, i < 4 ? 0.0 : 0.2);
  }
  fprintf(mesh, "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\n");
  for (int i = 0; i < 4; ++i) {
    const int k = (i + 1) % 4;
    fprintf(mesh, "f %d %d %d\nf %d %d %d\n", i + 1, k + 1, k + 5, i + 1, k + 5, i + 5);
  }
  REQUIRE(fclose(mesh) == 0);
  snprintf(text, sizeof text,
           "{\"contact_model\": \"lcp\", \"links\": [{\"bodies\": [{\"plane\": [0.3, 0.3]}]}, "
           "{\"mass\": 1, "
           "\"position\": [0, 0, -1e-4], \"joint\": {\"type\": \"slide\"}, \"bodies\": [{\"file\": "
           "\"%s\"}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": 0}]}",
           file);
  play p;
  play_open_text(&p, context, precision, text, 1);
  remove(file);
  void *forces = reals(3 * p.info.contacts);
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p.q;
  w.v = p.v;
  w.multipliers = forces;
  CHECK_OK(abut_step_worlds(p.scene, &w));
  size_t pushing = 0;
  for (size_t i = 0; i < p.info.contacts; ++i) {
    pushing += real_at(forces, precision, 3 * i) > 0.0;
  }
  free(forces);
  play_close(&p);
  return pushing;
}

/* ---- no numbers ---- */

/* What a world that is no numbers, or not of this world, does to those beside it: nothing. */
static void test_lost(void)
{
  enum { WORLDS = 5, STEPS = 20 };
  play p;
  play_open_text(
    &p, context, precision,
    "{\"contact_model\": \"lcp\", \"links\": [{\"bodies\": [{\"plane\": [2, 2]}]}, {\"position\": "
    "[0, 0, 0.07], \"joint\": {\"type\": \"free\"}, \"density\": 400, \"bodies\": [{\"box\": "
    "[0.12, 0.1, 0.06]}]}], \"pairs\": [{\"a\": 1, \"b\": 0, \"restitution\": 0.5}]}",
    WORLDS);
  uint64_t random = 8;
  for (size_t i = 0; i < WORLDS; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      play_set_v(&p, i, k, 0.3 * random_normal(&random) - (k == 2 ? 1.0 : 0.0));
    }
  }
  const size_t nq = 7, nv = 6, one = real_size(precision);
  void *bar = reals(WORLDS * 2 * nv), *q[2], *v[2], *by[2];
  uint32_t status[2][WORLDS];
  for (size_t i = 0; i < WORLDS * 2 * nv; ++i) {
    real_put(bar, precision, i, random_normal(&random));
  }
  for (int lost = 0; lost < 2; ++lost) {
    q[lost] = reals(WORLDS * nq);
    v[lost] = reals(WORLDS * nv);
    by[lost] = reals(WORLDS * nv);
    if (lost) {
      play_set_v(&p, 1, 2, NAN);
      play_set_q(&p, 3, 0, INFINITY);
    }
    abut_worlds w = abut_default_worlds();
    abut_worlds_gradients g = abut_default_worlds_gradients();
    w.count = WORLDS;
    w.steps = STEPS;
    w.q = p.q;
    w.v = p.v;
    w.q_next = q[lost];
    w.v_next = v[lost];
    w.status = status[lost];
    g.state = bar;
    g.v = by[lost];
    CHECK_OK(abut_vjp_worlds(p.scene, &w, &g));
  }
  for (size_t i = 0; i < WORLDS; ++i) {
    const bool gone = i == 1 || i == 3;
    const size_t at = i * nv * one;
    CHECK_EQUAL(status[0][i] & ~(uint32_t)ABUT_WORLD_OVERFLOW, 0);
    CHECK_EQUAL((status[1][i] & ABUT_WORLD_BAD_INPUT) != 0, gone);
    const bool same = !memcmp((char *)q[0] + i * nq * one, (char *)q[1] + i * nq * one, nq * one) &&
                      !memcmp((char *)v[0] + at, (char *)v[1] + at, nv * one) &&
                      !memcmp((char *)by[0] + at, (char *)by[1] + at, nv * one);
    check(gone || same, "world %zu is changed by others that are lost", i);
    for (size_t k = 0; gone && k < nv; ++k) {
      CHECK(real_at(by[1], precision, i * nv + k) == 0.0);
    }
  }
  for (int i = 0; i < 2; ++i) {
    free(q[i]);
    free(v[i]);
    free(by[i]);
  }
  free(bar);
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  test_squeezed(0.098, ABUT_WORLD_SQUEEZED);
  test_squeezed(0.102, 0);
  test_room(1);
  test_room(4);
  test_room(32);
  CHECK_EQUAL(spike_contacts(1e-4), 1);
  CHECK(spike_contacts(0.02) >= 4);
  test_lost();
  return finish_context(context);
}
