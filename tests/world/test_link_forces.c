/* Net forces of contacts on links and of pairs: sums of single contacts' forces, momenta, and, with
 * soft contacts, gradients beside differences.
 *   test_link_forces PRECISION */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 3, LINKS = 5, NV = 14, CANDIDATES = 9, ROOM = 4096 };

#define MASS (2.0 * 0.1 * 0.08 * 0.06 * 4.0 * 500.0)

static abut_precision precision;

static double tolerance(double f64, double f32)
{
  return precision == ABUT_FLOAT64 ? f64 : f32;
}

/* A box whose middle is off its link's origin, another one upon it, and an arm whose tip lies on
 * the latter. */
static void write_scene(const char *settings, char *text)
{
  const int used = snprintf(
    text, ROOM,
    "{%s, \"links\": [{\"bodies\": [{\"plane\": [2, 2]}]}, {\"position\": [0, 0, 0.0598], "
    "\"joint\": {\"type\": \"free\"}, \"density\": 500, \"bodies\": [{\"box\": [0.1, 0.08, 0.06], "
    "\"position\": [0.05, 0, 0]}]}, {\"position\": [0.06, 0.01, 0.1694], \"joint\": {\"type\": "
    "\"free\"}, \"density\": 500, \"bodies\": [{\"box\": [0.08, 0.06, 0.05]}]}, {\"position\": "
    "[-0.4, 0, 0.25], \"joint\": {\"type\": \"hinge\", \"axis\": [0, 1, 0]}, \"density\": 500, "
    "\"bodies\": [{\"capsule\": [0.02, 0.1], \"position\": [0.1, 0, 0], \"quaternion\": "
    "[0.7071067811865476, 0, 0.7071067811865476, 0]}]}, {\"parent\": 3, \"position\": [0.42, 0, "
    "0.01], \"joint\": {\"type\": \"hinge\", \"axis\": [0, 1, 0]}, \"density\": 500, \"bodies\": "
    "[{\"sphere\": 0.04}]}], \"automatic\": {\"friction\": 0.4}}",
    settings);
  REQUIRE(used > 0 && used < ROOM);
}

/* What a step gives. */
typedef struct pushed {
  double links[WORLDS * LINKS * 6], pairs[WORLDS * CANDIDATES * 3], normals[WORLDS * CANDIDATES];
  double acceleration[WORLDS * NV];
  uint32_t status[WORLDS];
} pushed;

static abut_worlds worlds_of(const play *p)
{
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = p->q;
  w.v = p->v;
  return w;
}

static void push(const play *p, pushed *f)
{
  abut_worlds w = worlds_of(p);
  w.link_forces = f->links;
  w.pair_forces = f->pairs;
  w.pair_normals = f->normals;
  w.acceleration = f->acceleration;
  w.status = f->status;
  REQUIRE_OK(abut_step_worlds(p->scene, &w));
}

static double number(const double *rows, size_t i)
{
  return real_at(rows, precision, i);
}

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

/* Where the links' centres of mass are in a world. */
static void find_middles(const play *p, size_t world, double middles[LINKS][3])
{
  static const double com[LINKS][3] = {{0}, {0.05, 0, 0}, {0}, {0.1, 0, 0}, {0}};
  double q[16], poses[LINKS][7];
  for (size_t k = 0; k < p->info.nq; ++k) {
    q[k] = play_q(p, world, k);
  }
  REQUIRE_OK(abut_place_links(p->scene, q, poses[0]));
  for (size_t i = 0; i < LINKS; ++i) {
    const double *r = poses[i] + 3;
    double once[3], twice[3];
    cross(r + 1, com[i], once);
    cross(r + 1, once, twice);
    for (int k = 0; k < 3; ++k) {
      middles[i][k] = poses[i][k] + com[i][k] + 2.0 * r[0] * once[k] + 2.0 * twice[k];
    }
  }
}

/* The same by single contacts. */
static void sum_up(const play *p, pushed *f)
{
  abut_items items;
  abut_compact list = {.threshold = 0.0, .grows = true};
  double middles[WORLDS][LINKS][3];
  memset(f, 0, sizeof *f);
  REQUIRE_OK(abut_find_contacts(p->scene, p->q, WORLDS, &items, &list));
  double *forces = calloc(3 * list.count, sizeof *forces);
  REQUIRE(forces);
  REQUIRE_OK(abut_find_contact_forces(p->scene, WORLDS, p->q, p->v, NULL, &items, &list, forces,
                                      NULL, NULL));
  for (size_t world = 0; world < WORLDS; ++world) {
    find_middles(p, world, middles[world]);
  }
  for (size_t i = 0; i < list.count; ++i) {
    const size_t item = list.pose[i], world = items.items[3 * item];
    const size_t at = world * CANDIDATES + items.candidates[item];
    double force[3], normal = 0.0, length = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      const double n = number(list.n, 3 * i + k);
      force[k] = number(forces, 3 * i + k);
      f->pairs[3 * at + k] += force[k];
      normal += n * force[k];
      length += n * n;
    }
    f->normals[at] += fabs(normal) / sqrt(length > 0.0 ? length : 1.0);
    for (size_t side = 0; side < 2; ++side) { /* each link has one body, of its number */
      const size_t link = items.items[3 * item + 1 + side];
      double arm[3], moment[3];
      for (size_t k = 0; k < 3; ++k) {
        arm[k] = number(list.p, 3 * i + k) - middles[world][link][k];
      }
      cross(arm, force, moment);
      for (size_t k = 0; k < 3; ++k) {
        f->links[6 * (world * LINKS + link) + k] += side ? -force[k] : force[k];
        f->links[6 * (world * LINKS + link) + 3 + k] += side ? -moment[k] : moment[k];
      }
    }
  }
  free(forces);
  abut_free_items(&items);
  abut_free_compact(&list);
}

static void check_sums(const play *p, const char *law)
{
  const double most = tolerance(1e-9, 2e-4) * MASS * 9.81;
  pushed got, wanted;
  double largest = 0.0;
  push(p, &got);
  sum_up(p, &wanted);
  for (size_t i = 0; i < WORLDS * LINKS * 6; ++i) {
    check(fabs(number(got.links, i) - wanted.links[i]) <= most, "%s: link number %zu: %g, not %g",
          law, i, number(got.links, i), wanted.links[i]);
    largest = fmax(largest, fabs(wanted.links[i]));
  }
  for (size_t i = 0; i < WORLDS * CANDIDATES * 3; ++i) {
    check(fabs(number(got.pairs, i) - wanted.pairs[i]) <= most, "%s: pair number %zu: %g, not %g",
          law, i, number(got.pairs, i), wanted.pairs[i]);
  }
  for (size_t i = 0; i < WORLDS * CANDIDATES; ++i) {
    check(fabs(number(got.normals, i) - wanted.normals[i]) <= most, "%s: normal %zu: %g, not %g",
          law, i, number(got.normals, i), wanted.normals[i]);
  }
  CHECK(largest > 0.5 * MASS * 9.81);
}

/* What pushes a free box is what it accelerates by, but for gravity: m a, and I alpha + w x I w
 * about its middle. */
static void check_momentum(const play *p, const char *law)
{
  static const double half[3] = {0.08, 0.06, 0.05};
  const double mass = 8.0 * half[0] * half[1] * half[2] * 500.0;
  pushed f;
  push(p, &f);
  for (size_t world = 0; world < WORLDS; ++world) {
    double axes[3], spin[3], turn[3], momentum[3], r[4], once[3], twice[3];
    for (size_t k = 0; k < 3; ++k) {
      axes[k] = mass / 3.0 *
                (half[(k + 1) % 3] * half[(k + 1) % 3] + half[(k + 2) % 3] * half[(k + 2) % 3]);
      spin[k] = play_v(p, world, 9 + k);
      momentum[k] = axes[k] * spin[k];
    }
    cross(spin, momentum, turn);
    for (size_t k = 0; k < 3; ++k) {
      turn[k] += axes[k] * number(f.acceleration, world * NV + 9 + k);
    }
    for (size_t k = 0; k < 4; ++k) {
      r[k] = play_q(p, world, 10 + k);
    }
    cross(r + 1, turn, once);
    cross(r + 1, once, twice);
    for (size_t k = 0; k < 3; ++k) {
      const double force =
        mass * (number(f.acceleration, world * NV + 6 + k) + (k == 2 ? 9.81 : 0.0));
      const double moment = turn[k] + 2.0 * r[0] * once[k] + 2.0 * twice[k];
      const size_t at = 6 * (world * LINKS + 2) + k;
      check(fabs(number(f.links, at) - force) <= tolerance(1e-8, 5e-3) * mass * 9.81,
            "%s: a force of %g, not %g", law, number(f.links, at), force);
      check(fabs(number(f.links, at + 3) - moment) <= tolerance(1e-8, 5e-3) * mass,
            "%s: a moment of %g, not %g", law, number(f.links, at + 3), moment);
    }
  }
}

/* Worlds that have moved a little, of which two are thrown. */
static void open_moved(play *p, abut_context c, const char *settings)
{
  char text[ROOM];
  write_scene(settings, text);
  play_open_text(p, c, precision, text, WORLDS);
  REQUIRE(p->info.nv == NV && p->info.candidates == CANDIDATES && p->info.links == LINKS);
  play_step(p, 40);
  for (size_t world = 1; world < WORLDS; ++world) {
    for (size_t k = 0; k < NV; ++k) {
      play_set_v(p, world, k, 0.1 * sin((double)(3 * k + world)));
    }
  }
}

static void test_law(abut_context c, const char *law, bool keeps_up)
{
  char settings[128];
  play p;
  snprintf(settings, sizeof settings, "\"contact_model\": \"%s\"", law);
  open_moved(&p, c, settings);
  check_sums(&p, law);
  if (keeps_up) { /* hard contacts act at the step's end, and implicit springs within it */
    check_momentum(&p, law);
  }
  play_close(&p);
}

/* ---- gradients ---- */

/* The sum of forces times their cotangents, and an acceleration's and a state's, in each world. */
static void sum_loss(const play *p, const double *q, const double *v, const double *bars,
                     double loss[WORLDS])
{
  double links[WORLDS * LINKS * 6], pairs[WORLDS * CANDIDATES * 3], acceleration[WORLDS * NV];
  abut_worlds w = worlds_of(p);
  w.q = q;
  w.v = v;
  w.link_forces = links;
  w.pair_forces = pairs;
  w.acceleration = acceleration;
  REQUIRE_OK(abut_step_worlds(p->scene, &w));
  for (size_t world = 0; world < WORLDS; ++world) {
    loss[world] = 0.0;
    for (size_t k = 0; k < LINKS * 6; ++k) {
      loss[world] += links[world * LINKS * 6 + k] * bars[world * LINKS * 6 + k];
    }
    for (size_t k = 0; k < CANDIDATES * 3; ++k) {
      loss[world] += pairs[world * CANDIDATES * 3 + k] * bars[1000 + world * CANDIDATES * 3 + k];
    }
    for (size_t k = 0; k < NV; ++k) {
      loss[world] += acceleration[world * NV + k] * bars[2000 + world * NV + k];
    }
  }
}

static void test_gradients(abut_context c, const char *settings)
{
  const double h = 1e-6;
  double bars[2000 + WORLDS * NV], along[WORLDS * NV], q[WORLDS * 16];
  double by_q[WORLDS * NV], by_v[WORLDS * NV], ends[2][WORLDS], v[WORLDS * NV], d[WORLDS * NV];
  uint64_t seed = 5;
  play p;
  open_moved(&p, c, settings);
  for (size_t i = 0; i < sizeof bars / sizeof *bars; ++i) {
    bars[i] = random_normal(&seed);
  }
  abut_worlds w = worlds_of(&p);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.link_forces = bars;
  g.pair_forces = bars + 1000;
  g.acceleration = bars + 2000;
  g.q = by_q;
  g.v = by_v;
  REQUIRE_OK(abut_vjp_worlds(p.scene, &w, &g));

  for (int moved = 0; moved < 2; ++moved) {
    for (size_t i = 0; i < WORLDS * NV; ++i) {
      along[i] = random_normal(&seed);
    }
    for (int side = 0; side < 2; ++side) {
      for (size_t i = 0; i < WORLDS * NV; ++i) {
        d[i] = (side ? h : -h) * along[i];
        v[i] = play_v(&p, i / NV, i % NV) + (moved ? d[i] : 0.0);
      }
      REQUIRE_OK(abut_add_positions(p.scene, WORLDS, p.q, d, q));
      sum_loss(&p, moved ? p.q : q, v, bars, ends[side]);
    }
    for (size_t world = 0; world < WORLDS; ++world) {
      const double slope = (ends[1][world] - ends[0][world]) / (2.0 * h);
      double sum = 0.0, size = 0.0;
      for (size_t k = 0; k < NV; ++k) {
        const double part = (moved ? by_v : by_q)[world * NV + k] * along[world * NV + k];
        sum += part;
        size += fabs(part);
      }
      check(fabs(sum - slope) <= 2e-6 * size, "%s: by %c in world %zu: %.10g, not %.10g", settings,
            moved ? 'v' : 'q', world, sum, slope);
    }
  }
  play_close(&p);
}

/* ---- what is refused ---- */

static void test_refused(abut_context c)
{
  char text[ROOM];
  double forces[WORLDS * CANDIDATES * 6] = {0}, by_v[WORLDS * NV];
  play p;
  write_scene("\"contact_model\": \"lcp\"", text);
  play_open_text(&p, c, precision, text, WORLDS);
  abut_worlds w = worlds_of(&p);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.link_forces = forces;
  g.v = by_v;
  CHECK(abut_vjp_worlds(p.scene, &w, &g) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "forces of contacts have gradients only with soft contacts "
                                "(\"cone\"), not with \"lcp\"");
  const uint32_t which[WORLDS] = {0};
  w.scenes = &p.scene;
  w.scene_count = 1;
  w.scene = which;
  w.pair_normals = forces;
  CHECK(abut_step_worlds(p.scene, &w) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "forces of pairs need worlds that all have the same scene");
  play_close(&p);
  write_scene("\"contact_model\": \"spring\", \"clouds\": true", text);
  char *plane = strstr(text, "{\"plane\": [2, 2]}");
  REQUIRE(plane);
  memcpy(plane, "{\"box\":[1,1,0.1]}", strlen("{\"box\":[1,1,0.1]}"));
  char *automatic = strstr(text, "\"automatic\": {\"friction\": 0.4}");
  REQUIRE(automatic);
  strcpy(automatic, "\"pairs\": [{\"a\": 1, \"b\": 0}]}");
  play_open_text(&p, c, precision, text, WORLDS);
  w = worlds_of(&p);
  w.link_forces = forces;
  CHECK(abut_step_worlds(p.scene, &w) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(),
             "springs between point clouds have no forces on links and no forces of pairs");
  play_close(&p);
}

/* A world that stops has no forces, and none of the others'. */
static void test_stopped(abut_context c)
{
  play p;
  pushed was, is;
  open_moved(&p, c, "\"contact_model\": \"cone\"");
  push(&p, &was);
  play_set_q(&p, 1, 2, (double)NAN);
  push(&p, &is);
  CHECK(is.status[1] & ABUT_WORLD_BAD_INPUT);
  for (size_t i = 0; i < WORLDS * LINKS * 6; ++i) {
    CHECK(number(is.links, i) == (i / (LINKS * 6) == 1 ? 0.0 : number(was.links, i)));
  }
  for (size_t i = 0; i < WORLDS * CANDIDATES; ++i) {
    CHECK(number(is.normals, i) == (i / CANDIDATES == 1 ? 0.0 : number(was.normals, i)));
  }
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f32") == 0 ? ABUT_FLOAT32 : ABUT_FLOAT64;
  abut_context c = play_context(precision, 0);
  test_law(c, "cone", true);
  test_law(c, "cone\", \"cone\": \"pyramidal", true);
  test_law(c, "lcp", false);
  test_law(c, "spring\", \"integrator\": \"euler", false);
  test_law(c, "spring", false);
  if (precision == ABUT_FLOAT64) {
    test_gradients(c, "\"contact_model\": \"cone\"");
    test_gradients(c, "\"cone\": \"pyramidal\"");
    test_gradients(c, "\"integrator\": \"rk4\"");
    test_gradients(c, "\"diagonal\": \"exact\"");
    test_gradients(c, "\"equalities\": [{\"kind\": \"joint\", \"a\": 4, \"b\": 3}]");
  }
  test_refused(c);
  test_stopped(c);
  return finish_context(c);
}
