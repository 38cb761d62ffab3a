/* Forces of single contacts: what they add up to is what bodies at rest weigh and what friction
 * holds, whatever the contact model, the direction of gravity and the way in which pairs are found.
 *   test_contact_forces PRECISION */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 2, ROOM = 4096 };

#define MU 0.3
/* of a box below, by its half lengths and density */
#define MASS (2.0 * 0.1 * 0.08 * 0.06 * 4.0 * 500.0)

static abut_precision precision;

static void check_near(double got, double wanted, double most, int line)
{
  check(fabs(got - wanted) <= most, "line %d: %g, not %g", line, got, wanted);
}
#define CHECK_NEAR(got, wanted, most) check_near(got, wanted, most, __LINE__)

/* Two boxes, one upon the other, on a plane that is turned by a quarter about y where `wall` is
 * set. */
static void write_scene(const char *model, const double g[3], bool automatic, bool wall, char *text)
{
  const char *pairs = automatic ? "\"automatic\": {\"friction\": 0.3}"
                                : "\"pairs\": [{\"a\": 0, \"b\": 1, \"friction\": 0.3}, {\"a\": 1, "
                                  "\"b\": 2, \"friction\": 0.3}]";
  const char *box =
    "\"density\": 500, \"joint\": {\"type\": \"free\"}, \"bodies\": [{\"box\": [0.1, 0.08, 0.06]}]";
  const char *turned = wall ? "\"quaternion\": [0.70710678118654752, 0, 0.70710678118654752, 0]"
                            : "\"quaternion\": [1, 0, 0, 0]";
  const int used =
    snprintf(text, ROOM,
             "{\"contact_model\": \"%s\", \"gravity\": [%.17g, %.17g, %.17g], \"links\": "
             "[{\"bodies\": [{\"plane\": [2, 2], %s}]}, "
             "{\"position\": [%g, 0, %g], %s, %s}, {\"position\": [%g, 0.01, %g], %s, %s}], %s}",
             model, g[0], g[1], g[2], turned, wall ? 0.06 : 0.0, wall ? 0.0 : 0.06, turned, box,
             wall ? 0.18 : 0.0, wall ? 0.0 : 0.18, turned, box, pairs);
  REQUIRE(used > 0 && used < ROOM);
}

/* Contacts of worlds where they are, and what these push with. */
typedef struct found {
  abut_items items;
  abut_compact list;
  void *forces, *pushes;
  uint32_t status[WORLDS];
  double sums[3][3][3]; /* of world 0, on a body by another: links */
} found;

static void find(const play *p, found *f)
{
  memset(f, 0, sizeof *f);
  f->list = (abut_compact){.threshold = 0.0, .grows = true};
  REQUIRE_OK(abut_find_contacts(p->scene, p->q, WORLDS, &f->items, &f->list));
  f->forces = calloc(3 * f->list.count, sizeof(double));
  f->pushes = calloc(WORLDS * p->info.links * 3, sizeof(double));
  REQUIRE(f->list.count && f->forces && f->pushes);
  REQUIRE_OK(abut_find_contact_forces(p->scene, WORLDS, p->q, p->v, NULL, &f->items, &f->list,
                                      f->forces, f->pushes, f->status));
  for (size_t i = 0; i < f->list.count; ++i) {
    const uint32_t *item = f->items.items + 3 * f->list.pose[i];
    for (size_t k = 0; k < 3 && item[0] == 0; ++k) { /* each link has one body, of its number */
      const double force = real_at(f->forces, precision, 3 * i + k);
      f->sums[item[1]][item[2]][k] += force;
      f->sums[item[2]][item[1]][k] -= force;
    }
  }
}

static void release(found *f)
{
  abut_free_items(&f->items);
  abut_free_compact(&f->list);
  free(f->forces);
  free(f->pushes);
}

/* The force on a box by all others. */
static double on_box(const found *f, size_t link, size_t k)
{
  return f->sums[link][0][k] + f->sums[link][1][k] + f->sums[link][2][k];
}

/* What single contacts push each box with adds up to its push, and to what its momentum changes by
 * in a step but for gravity. */
static void check_sums(const play *p, const found *f, const double g[3], double most)
{
  abut_worlds w = abut_default_worlds();
  void *next = calloc(WORLDS * p->info.nv, sizeof(double));
  REQUIRE(next);
  w.count = WORLDS;
  w.q = p->q;
  w.v = p->v;
  w.v_next = next;
  REQUIRE_OK(abut_step_worlds(p->scene, &w));
  for (size_t link = 1; link < 3; ++link) {
    for (size_t k = 0; k < 3; ++k) {
      const size_t at = 6 * (link - 1) + k;
      const double gain =
        (real_at(next, precision, at) - real_at(p->v, precision, at)) / p->info.timestep - g[k];
      CHECK_NEAR(on_box(f, link, k), real_at(f->pushes, precision, 3 * link + k), most);
      CHECK_NEAR(on_box(f, link, k), MASS * gain,
                 precision == ABUT_FLOAT64 ? most : 1e-2 * MASS * 9.81);
    }
  }
  CHECK(!(f->status[0] & ABUT_WORLD_STOPS));
  free(next);
}

/* The same contacts push with the same, to the bit, whether their pairs are listed or found. */
static void compare(const found f[2])
{
  const size_t size = real_size(precision);
  size_t at = 0, pushing = 0;
  for (size_t i = 0; i < f[0].list.count; ++i, ++at) {
    const uint32_t *item = f[0].items.items + 3 * f[0].list.pose[i];
    while (at < f[1].list.count &&
           memcmp(item, f[1].items.items + 3 * f[1].list.pose[at], 3 * sizeof *item) != 0) {
      ++at; /* of boxes that are not listed as a pair */
    }
    REQUIRE(at < f[1].list.count && f[0].list.slot[i] == f[1].list.slot[at]);
    CHECK(
      !memcmp((char *)f[0].forces + 3 * size * i, (char *)f[1].forces + 3 * size * at, 3 * size));
    pushing += real_at(f[0].forces, precision, 3 * i) != 0.0 ||
               real_at(f[0].forces, precision, 3 * i + 2) != 0.0;
  }
  CHECK(pushing > 4);
}

/* Boxes that lie on each other are held against gravity, by friction alone on a wall. */
static void test_held(abut_context c, const char *model, const double g[3], bool wall)
{
  char text[ROOM];
  found f[2];
  play p;
  for (int automatic = 0; automatic < 2; ++automatic) {
    write_scene(model, g, automatic, wall, text);
    play_open_text(&p, c, precision, text, WORLDS);
    play_step(&p, 25);
    find(&p, &f[automatic]);
    check_sums(&p, &f[automatic], g, (precision == ABUT_FLOAT64 ? 1e-9 : 1e-4) * MASS * 9.81);
    play_close(&p);
  }
  compare(f);
  release(&f[0]);
  release(&f[1]);
}

/* At rest each box weighs what it weighs, and the lower one bears the upper one. */
static void test_rest(abut_context c)
{
  static const double g[3] = {0.0, 0.0, -9.81};
  const double weight = MASS * 9.81;
  char text[ROOM];
  found f;
  play p;
  write_scene("cone", g, true, false, text);
  play_open_text(&p, c, precision, text, WORLDS);
  play_step(&p, 150);
  find(&p, &f);
  for (size_t k = 0; k < 3; ++k) {
    const double up = k == 2 ? weight : 0.0;
    CHECK_NEAR(on_box(&f, 1, k), up, 2e-3 * weight);
    CHECK_NEAR(on_box(&f, 2, k), up, 2e-3 * weight);
    CHECK_NEAR(f.sums[1][0][k], 2.0 * up, 4e-3 * weight);
    CHECK_NEAR(f.sums[1][2][k], -up, 2e-3 * weight);
  }
  release(&f);
  play_close(&p);
}

/* A box that slides is rubbed against its way with MU times what it is pressed with, at each
 * contact. */
static void test_sliding(abut_context c, const char *model)
{
  static const double g[3] = {0.0, 0.0, -9.81};
  char text[ROOM];
  double most = 0.0;
  found f;
  play p;
  write_scene(model, g, true, false, text);
  play_open_text(&p, c, precision, text, WORLDS);
  play_step(&p, 25);
  for (size_t link = 0; link < 2; ++link) {
    play_set_v(&p, 0, 6 * link, 1.0);
  }
  find(&p, &f);
  check_sums(&p, &f, g, (precision == ABUT_FLOAT64 ? 1e-9 : 1e-4) * MASS * 9.81);
  for (size_t i = 0; i < f.list.count; ++i) {
    const uint32_t *item = f.items.items + 3 * f.list.pose[i];
    const double x = real_at(f.forces, precision, 3 * i),
                 y = real_at(f.forces, precision, 3 * i + 1),
                 z = real_at(f.forces, precision, 3 * i + 2);
    if (item[0] == 0 && item[1] == 0) { /* on the plane, whose normal is z */
      most = fmax(most, fabs(z));
      CHECK_NEAR(sqrt(x * x + y * y), MU * fabs(z), 1e-4 * MASS * 9.81);
    }
  }
  CHECK(most > 0.05 * MASS * 9.81);
  CHECK_NEAR(f.sums[1][0][0], -MU * f.sums[1][0][2], 1e-3 * MASS * 9.81);
  release(&f);
  play_close(&p);
}

/* A box that a weld holds in the air is pushed by no contact. One that rests is pushed by what it
 * and the box that hangs on it by a hinge weigh, and that one by what is its own. By springs only
 * the free links of worlds of clouds have pushes. */
static void test_pushes(abut_context c, const char *settings, bool welded, bool clouds)
{
  static const char box[] = "\"density\": 500, \"bodies\": [{\"box\": [0.1, 0.08, 0.06]}]";
  enum { LINKS = 4 };
  const double weight = MASS * 9.81;
  char text[ROOM];
  void *pushes = calloc((size_t)WORLDS * LINKS * 3, sizeof(double));
  play p;
  const int used =
    snprintf(text, ROOM,
             "{%s, \"gravity\": [0, 0, -9.81], \"links\": [{\"bodies\": [{\"plane\": [2, 2]}]}, "
             "{\"position\": [0, 0, 2], \"joint\": {\"type\": \"free\"}, %s}, "
             "{\"position\": [0, 0, 0.06], \"joint\": {\"type\": \"free\"}, %s}, "
             "{\"parent\": 2, \"position\": [0.3, 0, 0], \"joint\": {\"type\": \"hinge\", "
             "\"position\": [-0.15, 0, 0], \"axis\": [0, 1, 0]}, %s}], "
             "\"pairs\": [{\"a\": 0, \"b\": 1}, {\"a\": 0, \"b\": 2}, {\"a\": 0, \"b\": 3}]%s}",
             settings, box, box, box,
             welded ? ", \"equalities\": [{\"kind\": \"weld\", \"a\": 1}]" : "");
  REQUIRE(pushes && used > 0 && used < ROOM);
  play_open_text(&p, c, precision, text, WORLDS);
  play_step(&p, 300);
  play_set_q(&p, 1, 0, NAN); /* a world that stops */
  REQUIRE_OK(
    abut_find_contact_forces(p.scene, WORLDS, p.q, p.v, NULL, NULL, NULL, NULL, pushes, NULL));
  for (size_t k = 0; k < 3; ++k) {
    const double up = k == 2 ? weight : 0.0, own = real_at(pushes, precision, 9 + k);
    CHECK(real_at(pushes, precision, 3 + k) == 0.0);
    CHECK_NEAR(real_at(pushes, precision, 6 + k), 2.0 * up, 1e-2 * weight);
    if (clouds) {
      CHECK(isnan(own));
    } else {
      CHECK_NEAR(own, up, 1e-2 * weight);
    }
  }
  for (size_t i = 0; i < (size_t)LINKS * 3; ++i) {
    CHECK(isnan(real_at(pushes, precision, 3 * LINKS + i)));
  }
  play_close(&p);
  free(pushes);
}

static void test_refused(abut_context c)
{
  static const double g[3] = {0.0, 0.0, -9.81};
  char text[ROOM], clouds[ROOM + 20];
  double force[3];
  abut_items items = {0};
  abut_compact list = {.threshold = 0.05, .grows = true};
  uint32_t pose = 0, slot = 0;
  play p;
  write_scene("cone", g, true, false, text);
  play_open_text(&p, c, precision, text, WORLDS);
  CHECK_OK(abut_find_contact_forces(p.scene, 0, NULL, NULL, NULL, &items, &list, NULL, NULL, NULL));
  CHECK(abut_find_contact_forces(p.scene, 1, NULL, NULL, NULL, &items, &list, force, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT);
  CHECK(abut_find_contact_forces(p.scene, 1, p.q, NULL, NULL, NULL, &list, force, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT);
  char *const pushes = calloc(WORLDS * p.info.links * 3 + 1, sizeof(double));
  REQUIRE(pushes);
  CHECK(abut_find_contact_forces(p.scene, WORLDS, p.q, NULL, NULL, NULL, NULL, NULL, pushes,
                                 (uint32_t *)(void *)(pushes + 4)) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the outputs pushes and status overlap in memory");
  free(pushes);
  list = (abut_compact){.count = 1, .pose = &pose, .slot = &slot};
  CHECK(abut_find_contact_forces(p.scene, 1, p.q, NULL, NULL, &items, &list, NULL, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT);
  CHECK(abut_find_contact_forces(p.scene, 1, p.q, NULL, NULL, &items, &list, force, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "contact 0 belongs to no pair"));
  const abut_scene gone = p.scene;
  play_close(&p);
  CHECK(abut_find_contact_forces(gone, 0, NULL, NULL, NULL, &items, &list, force, NULL, NULL) ==
        ABUT_ERROR_HANDLE);
  write_scene("spring", g, false, false, text);
  snprintf(clouds, sizeof clouds, "{\"clouds\": true, %s", text + 1);
  play_open_text(&p, c, precision, clouds, WORLDS);
  CHECK(abut_find_contact_forces(p.scene, 1, p.q, NULL, NULL, &items, &list, force, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "springs"));
  play_close(&p);
}

int main(int argc, char **argv)
{
  static const double oblique[3] = {1.0, -0.7, -9.0}, against[3] = {-9.5, 0.8, -1.2};
  abut_context c;
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f32") == 0 ? ABUT_FLOAT32 : ABUT_FLOAT64;
  c = play_context(precision, 0);
  test_rest(c);
  for (int law = 0; law < 3; ++law) {
    static const char *const laws[] = {"cone", "lcp", "spring\", \"integrator\": \"euler"};
    test_held(c, laws[law], oblique, false);
    test_held(c, laws[law], against, true);
  }
  test_sliding(c, "cone");
  test_sliding(c, "lcp");
  test_pushes(c, "\"contact_model\": \"cone\"", true, false);
  test_pushes(c, "\"contact_model\": \"lcp\"", true, false);
  test_pushes(c, "\"contact_model\": \"spring\"", false, false);
  test_pushes(c, "\"contact_model\": \"spring\", \"clouds\": true", false, true);
  test_refused(c);
  return finish_context(c);
}
