/* The manifold computes pairs of one type together, in pair batches, and the broad phase leaves out
 * pairs that cannot touch. The results must be equal to the bit for batches of other sizes, for
 * scenes without a broad phase, and when the pool of contacts grows.
 *   test_pair_batches PRECISION: with ABUT_TEST_USUAL=1 by a quarter of the worlds that fill the
 * pool */
#include "play.h"

#include <stdlib.h>
#include <string.h>

enum { WORLDS = 6, BOXES = 3, LINKS = BOXES + 4, STEPS = 10 };

typedef struct answers {
  char *q, *v, *q_bar, *v_bar, *mass, *friction, *A;
  uint32_t status[WORLDS], counts[WORLDS][ABUT_WORLD_COUNTS];
} answers;

typedef struct trial {
  abut_precision precision;
  const char *law;
  char *q, *v, *cotangent;
  size_t nq, nv, pairs, links;
  uint64_t launches; /* of the first call, a step */
} trial;

/* A floor, boxes above it, a ball, a capsule and a bar on a hinge, each with each: some pairs
 * touch, others never do. */
static void write_scene(const trial *t, bool broad, char *text, size_t room)
{
  static const char *const others[] = {"{\"sphere\": 0.05}", "{\"capsule\": [0.04, 0.06]}"};
  size_t at = (size_t)snprintf(text, room,
                               "{\"contact_model\": \"%s\", \"timestep\": 0.004, \"broad_phase\": "
                               "%s, \"links\": [{\"bodies\": "
                               "[{\"box\": [1, 1, 0.05]}], \"position\": [0, 0, -0.05]}, "
                               "{\"density\": 800, \"joint\": {\"type\": "
                               "\"hinge\", \"axis\": [0, 1, 0]}, \"position\": [0, 0.3, 0.4], "
                               "\"bodies\": [{\"box\": [0.2, 0.03, "
                               "0.03]}]}",
                               t->law, broad ? "true" : "false");
  for (int i = 0; i < BOXES + 2; ++i) {
    at += (size_t)snprintf(text + at, room - at,
                           ", {\"density\": 500, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, %g, 0.2], \"bodies\": [%s]}",
                           0.22 * (i % 3) - 0.2, 0.22 * (i / 3) - 0.2,
                           i < BOXES ? "{\"box\": [0.06, 0.05, 0.04]}" : others[i - BOXES]);
  }
  at += (size_t)snprintf(text + at, room - at, "], \"pairs\": [");
  for (int a = 1, first = 1; a < LINKS; ++a) {
    for (int b = 0; b < a; ++b, first = 0) {
      at +=
        (size_t)snprintf(text + at, room - at, "%s{\"a\": %d, \"b\": %d}", first ? "" : ", ", a, b);
    }
  }
  snprintf(text + at, room - at, "]}");
}

static answers answers_of(const trial *t)
{
  const size_t size = real_size(t->precision), nv = t->nv;
  answers a = {calloc(WORLDS * t->nq, size),
               calloc(WORLDS * nv, size),
               calloc(WORLDS * nv, size),
               calloc(WORLDS * nv, size),
               calloc(WORLDS * t->links, size),
               calloc(WORLDS * t->pairs, size),
               calloc(WORLDS * 4 * nv * nv, size),
               {0},
               {{0}}};
  REQUIRE(a.q && a.v && a.q_bar && a.v_bar && a.mass && a.friction && a.A);
  return a;
}

static void answers_free(answers *a)
{
  free(a->q);
  free(a->v);
  free(a->q_bar);
  free(a->v_bar);
  free(a->mass);
  free(a->friction);
  free(a->A);
}

static uint64_t launches_of(abut_context context)
{
  abut_counters c;
  REQUIRE_OK(abut_get_counters(context, &c));
  return c.launches;
}

static answers ask(trial *t, abut_context context, abut_scene scene)
{
  answers a = answers_of(t);
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = t->q;
  w.v = t->v;
  w.steps = STEPS;
  w.q_next = a.q;
  w.v_next = a.v;
  w.status = a.status;
  CHECK_OK(abut_step_worlds(scene, &w)); /* and self-tests before it */
  const uint64_t before = launches_of(context);
  CHECK_OK(abut_step_worlds(scene, &w));
  t->launches = (launches_of(context) - before) / STEPS;
  w.counts = &a.counts[0][0];
  CHECK_OK(abut_step_worlds(scene, &w));
  CHECK(w.bytes > 0.0);
  w.counts = NULL;
  /* Derivatives are those from the end on, where bodies touch. */
  w.q = a.q;
  w.v = a.v;
  w.steps = 3;
  w.q_next = w.v_next = NULL;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = t->cotangent;
  g.q = a.q_bar;
  g.v = a.v_bar;
  g.mass_scale = a.mass;
  g.friction = a.friction;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = a.A;
  w.steps = 1;
  CHECK_OK(abut_transition_worlds(scene, &w, &m));
  return a;
}

static void compare(const trial *t, const answers *a, const answers *b, const char *what)
{
  const size_t size = real_size(t->precision), nv = t->nv;
  check(!memcmp(a->q, b->q, WORLDS * t->nq * size) && !memcmp(a->v, b->v, WORLDS * nv * size) &&
          !memcmp(a->status, b->status, sizeof a->status),
        "%s, %s: states differ", t->law, what);
  check(!memcmp(a->q_bar, b->q_bar, WORLDS * nv * size) &&
          !memcmp(a->v_bar, b->v_bar, WORLDS * nv * size) &&
          !memcmp(a->mass, b->mass, WORLDS * t->links * size) &&
          !memcmp(a->friction, b->friction, WORLDS * t->pairs * size),
        "%s, %s: gradients differ", t->law, what);
  check(!memcmp(a->A, b->A, WORLDS * 4 * nv * nv * size), "%s, %s: matrices differ", t->law, what);
}

/* A broad phase counts fewer pairs, and no other contacts; each island has a body that moves, and
 * panels hold at least its own matrix. Hard contacts have no islands. */
static void compare_counts(const trial *t, const answers *all, const answers *kept)
{
  const bool cone = !strcmp(t->law, "cone");
  for (size_t i = 0; i < WORLDS; ++i) {
    const uint32_t *a = all->counts[i], *b = kept->counts[i];
    CHECK(a[ABUT_COUNT_SOLVES] == STEPS && b[ABUT_COUNT_SOLVES] == STEPS);
    CHECK_EQUAL(a[ABUT_COUNT_ITEMS], STEPS * t->pairs);
    CHECK(b[ABUT_COUNT_ITEMS] < a[ABUT_COUNT_ITEMS] &&
          b[ABUT_COUNT_ITEMS] >= b[ABUT_COUNT_ENTRIES]);
    CHECK(!memcmp(a + ABUT_COUNT_ENTRIES, b + ABUT_COUNT_ENTRIES, 4 * sizeof *a));
    CHECK(b[ABUT_COUNT_ENTRIES] > 0 && b[ABUT_COUNT_CONTACTS] >= b[ABUT_COUNT_ENTRIES]);
    CHECK(cone ? b[ABUT_COUNT_ISLANDS] > 0 && b[ABUT_COUNT_ISLANDS] <= STEPS * (BOXES + 3) &&
                   b[ABUT_COUNT_PANEL_NUMBERS] >= STEPS * (36 * (BOXES + 2) + 1)
               : !b[ABUT_COUNT_ISLANDS] && !b[ABUT_COUNT_PANEL_NUMBERS]);
  }
}

/* Bodies lie low and beside each other, each world's otherwise. */
static void fill_states(trial *t, abut_scene scene)
{
  const size_t size = real_size(t->precision);
  double *start = calloc(t->nq, sizeof *start);
  uint64_t random = 23;
  t->q = calloc(WORLDS * t->nq, size);
  t->v = calloc(WORLDS * t->nv, size);
  t->cotangent = calloc(WORLDS * 2 * t->nv, size);
  REQUIRE(start && t->q && t->v && t->cotangent);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  for (size_t i = 0; i < WORLDS; ++i) {
    for (size_t k = 0; k < t->nq; ++k) {
      const size_t of = k ? (k - 1) % 7 : 0; /* the hinge is first */
      const double by = !k ? 1.0 : of < 2 ? 0.05 : of == 2 ? 0.03 : 0.3;
      real_put(t->q, t->precision, i * t->nq + k,
               start[k] + by * random_normal(&random) - (k && of == 2 ? 0.12 : 0.0));
    }
    for (size_t k = 0; k < t->nv; ++k) {
      real_put(t->v, t->precision, i * t->nv + k, 0.3 * random_normal(&random));
    }
    for (size_t k = 0; k < 2 * t->nv; ++k) {
      real_put(t->cotangent, t->precision, 2 * i * t->nv + k, random_normal(&random));
    }
  }
  free(start);
}

static abut_scene open_scene(trial *t, abut_context context, bool broad)
{
  char text[8192];
  play p;
  write_scene(t, broad, text, sizeof text);
  play_open_text(&p, context, t->precision, text, 1);
  t->nq = p.info.nq;
  t->nv = p.info.nv;
  t->pairs = p.info.pairs;
  t->links = p.info.links;
  return play_keep_scene(&p);
}

static answers ask_with(trial *t, uint64_t scratch, bool broad)
{
  const abut_context context = play_context(t->precision, scratch);
  const abut_scene scene = open_scene(t, context, broad);
  if (!t->q) {
    fill_states(t, scene);
  }
  const answers a = ask(t, context, scene);
  CHECK_OK(abut_destroy_scene(scene));
  CHECK_OK(abut_destroy_context(context));
  return a;
}

static void test_law(abut_precision precision, const char *law)
{
  trial t = {.precision = precision, .law = law};
  answers all = ask_with(&t, 0, false), kept = ask_with(&t, (uint64_t)1 << 30, true);
  const uint64_t launches = t.launches;
  answers small = ask_with(&t, (uint64_t)12 << 20, true);
  CHECK(memcmp(all.q, t.q, WORLDS * t.nq * real_size(precision))); /* something has moved */
  compare(&t, &all, &kept, "with and without a broad phase");
  compare(&t, &all, &small, "in short pair batches");
  compare_counts(&t, &all, &kept);
  /* A kind of pairs is launched once, however many pairs it has: boxes meet boxes, the floor, the
   * bar, the ball and the capsule, and of the other four each meets each. */
  const char *device = getenv("ABUT_TEST_DEVICE");
  const bool merges = device && !strcmp(device, "pocl"); /* where a kernel is launched once for
                                                            all kinds */
  const uint64_t kinds = merges ? 1 : 5 + 6;
  check(launches <= 25 + 45 * kinds, "%s: a step has %llu launches", law,
        (unsigned long long)launches);
  answers_free(&all);
  answers_free(&kept);
  answers_free(&small);
  free(t.q);
  free(t.v);
  free(t.cotangent);
}

/* ---- the pool ---- */

enum { CROWD = 48, BALLS = 8, CROWD_STEPS = 2 };
static size_t crowd_size = CROWD;
/* reals: enough for a crowd's guess, and not for its contacts */
#define BUDGET (((size_t)8 << 20) * crowd_size / CROWD)

/* A block with many balls on one link well inside of it: far more contacts than a link is expected
 * to have. Pairs of edges are stated, by which all vertices of the balls' meshes are in contact:
 * features of their own would give one a ball. */
static void write_crowd(int most, char *text, size_t room)
{
  size_t at = (size_t)snprintf(text, room,
                               "{\"timestep\": 0.001, \"most_contacts\": %d, \"links\": "
                               "[{\"bodies\": [{\"box\": [1, 1, 0.5]}]}, "
                               "{\"joint\": {\"type\": \"free\"}, \"density\": 800, \"bodies\": [",
                               most);
  for (int i = 0; i < BALLS; ++i) {
    at += (size_t)snprintf(text + at, room - at, "%s{\"sphere\": 0.1, \"position\": [%g, %g, 0]}",
                           i ? ", " : "", 0.2 * (i % 4) - 0.3, 0.2 * (i / 4) - 0.1);
  }
  at += (size_t)snprintf(text + at, room - at, "]}], \"pairs\": [");
  for (int i = 0; i < BALLS; ++i) {
    at += (size_t)
      snprintf(text + at, room - at,
               "%s{\"a\": 0, \"b\": [1, %d], \"smoothing\": {\"edge_contacts\": \"pairs\"}}",
               i ? ", " : "", i);
  }
  snprintf(text + at, room - at, "]}");
}

typedef struct crowd {
  char *q, *v, *cotangent, *next, *bar; /* (CROWD, 7), (CROWD, 6), (CROWD, 12), (CROWD, 7),
                                           (CROWD, 6) */
  uint32_t status[CROWD];
} crowd;

static crowd crowd_of(abut_precision precision)
{
  const size_t size = real_size(precision);
  uint64_t random = 7;
  crowd c = {calloc(CROWD * 7, size), calloc(CROWD * 6, size), calloc(CROWD * 12, size),
             calloc(CROWD * 7, size), calloc(CROWD * 6, size), {0}};
  REQUIRE(c.q && c.v && c.cotangent && c.next && c.bar);
  for (size_t i = 0; i < CROWD; ++i) {
    for (size_t k = 0; k < 7; ++k) {
      real_put(c.q, precision, 7 * i + k, (k == 3 ? 1.0 : 0.0) + 0.02 * random_normal(&random));
    }
    for (size_t k = 0; k < 12; ++k) {
      real_put(c.cotangent, precision, 12 * i + k, random_normal(&random));
    }
  }
  return c;
}

static void crowd_free(crowd *c)
{
  free(c->q);
  free(c->v);
  free(c->cotangent);
  free(c->next);
  free(c->bar);
}

/* Steps `count` worlds from world `first` on, and goes back. */
static void run_crowd(abut_scene scene, abut_precision precision, crowd *c, size_t first,
                      size_t count)
{
  const size_t size = real_size(precision);
  abut_worlds w = abut_default_worlds();
  w.count = count;
  w.steps = CROWD_STEPS;
  w.q = c->q + 7 * first * size;
  w.v = c->v + 6 * first * size;
  w.q_next = c->next + 7 * first * size;
  w.status = c->status + first;
  CHECK_OK(abut_step_worlds(scene, &w));
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = c->cotangent + 12 * first * size;
  g.q = c->bar + 6 * first * size;
  w.q_next = NULL;
  w.status = NULL;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
}

/* Contacts of a batch for which the pool is too short at first are those of worlds one by one, for
 * which it is not; once it is long enough no pair batch runs twice. */
static void test_pool(abut_precision precision, int most)
{
  const size_t size = real_size(precision);
  crowd one = crowd_of(precision), all = crowd_of(precision);
  /* one chunk has all worlds */
  const abut_context context = play_context(precision, (uint64_t)1 << 31);
  char text[4096];
  play p;
  write_crowd(most, text, sizeof text);
  play_open_text(&p, context, precision, text, 1);
  for (size_t i = 0; i < crowd_size; ++i) {
    run_crowd(p.scene, precision, &one, i, 1);
  }
  const uint64_t start = launches_of(context);
  run_crowd(p.scene, precision, &all, 0, crowd_size);
  const uint64_t first = launches_of(context) - start;
  check(!memcmp(one.next, all.next, crowd_size * 7 * size) &&
          !memcmp(one.bar, all.bar, crowd_size * 6 * size) &&
          !memcmp(one.status, all.status, crowd_size * sizeof *all.status),
        "a pool that grows, most_contacts %d: other results", most);
  run_crowd(p.scene, precision, &all, 0, crowd_size);
  const uint64_t again = launches_of(context) - start - first;
  check(again < first, "the pool did not grow: %llu launches, then %llu", (unsigned long long)first,
        (unsigned long long)again);
  check(!memcmp(one.next, all.next, crowd_size * 7 * size) &&
          !memcmp(one.bar, all.bar, crowd_size * 6 * size),
        "a pool that has grown, most_contacts %d: other results", most);
  for (size_t i = 0; i < crowd_size; ++i) {
    CHECK_EQUAL((all.status[i] & ABUT_WORLD_OVERFLOW) != 0, most != 0);
  }
  play_close(&p);
  CHECK_OK(abut_destroy_context(context));
  crowd_free(&one);
  crowd_free(&all);
}

/* A chunk that was sized by a guess, and finds more contacts than its memory is meant for, is done
 * again in smaller ones, with the same results. Else far more would lie on the device. */
static void test_budget(abut_precision precision)
{
  const size_t size = real_size(precision);
  crowd whole = crowd_of(precision), parts = crowd_of(precision);
  char text[4096];
  uint64_t chunks[2] = {0}, resident = 0;
  write_crowd(0, text, sizeof text);
  for (int small = 0; small < 2; ++small) {
    const abut_context context =
      play_context(precision, (uint64_t)(small ? BUDGET * size : (size_t)1 << 31));
    abut_counters before, first;
    play p;
    play_open_text(&p, context, precision, text, 1);
    REQUIRE_OK(abut_get_counters(context, &before));
    run_crowd(p.scene, precision, small ? &parts : &whole, 0, crowd_size);
    REQUIRE_OK(abut_get_counters(context, &first));
    chunks[small] = first.chunks - before.chunks;
    resident = first.resident;
    play_close(&p);
    CHECK_OK(abut_destroy_context(context));
  }
  check(chunks[0] == 2 && chunks[1] > 2, "%llu chunks of a large budget, %llu of a small one",
        (unsigned long long)chunks[0], (unsigned long long)chunks[1]);
  check(4 * resident < 5 * BUDGET * size, "%llu bytes lie on the device, of %zu",
        (unsigned long long)resident, BUDGET * size);
  check(!memcmp(whole.next, parts.next, crowd_size * 7 * size) &&
          !memcmp(whole.bar, parts.bar, crowd_size * 6 * size) &&
          !memcmp(whole.status, parts.status, crowd_size * sizeof *whole.status),
        "chunks that are done again give other results");
  crowd_free(&whole);
  crowd_free(&parts);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  const abut_precision precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  crowd_size = usual_share() ? CROWD / 4 : CROWD;
  test_law(precision, "cone");
  test_law(precision, "lcp");
  test_pool(precision, 0);
  test_pool(precision, 100);
  test_budget(precision);
  return check_finish();
}
