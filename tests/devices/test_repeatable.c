/* A pile is the same to the bit whatever the batch that it is in, its place there, the chunks, the
 * room for pair batches, the devices, the calls that its steps are spread over, and the run; so are
 * derivatives of its steps.
 *   test_repeatable PRECISION
 * On the device of ABUT_TEST_DEVICE, the host by default; 77 where it is not there. */
#include "shares.h"
#include "world/play.h"

#include <stdlib.h>
#include <string.h>

enum { WORLDS = 24, BOXES = 6, STEPS = 24, BACK = 3, RUNS = 20, NQ = 7 * BOXES, NV = 6 * BOXES };

/* Arrays that a run has for each world: from where it starts, where it ends, and the gradients of
 * BACK steps from there on. */
enum { FROM_Q, FROM_V, SEED, TO_Q, TO_V, TO_W, BAR_Q, BAR_V, ARRAYS };
static const size_t width[ARRAYS] = {NQ, NV, 2 * NV, NQ, NV, NV, NV, NV};

typedef struct pile {
  char *at[ARRAYS];
  uint32_t status[WORLDS];
  uint64_t hash; /* of all states on the way */
} pile;

/* How worlds are run. World i of a batch is number (first + i) * order of all, modulo their
 * number. */
typedef struct way {
  const char *name;
  uint32_t chunk;
  uint64_t scratch;
  size_t batch, worlds, order, calls;
} way;

static void write_scene(char *text, size_t room)
{
  size_t at = (size_t)snprintf(
    text, room,
    "{\"timestep\": 0.004, \"automatic\": true, \"links\": [{\"bodies\": [{\"box\": [1, 1, "
    "0.05]}], \"position\": [0, 0, -0.05]}");
  for (int i = 0; i < BOXES; ++i) {
    at += (size_t)snprintf(text + at, room - at,
                           ", {\"density\": 500, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, %g, %g], \"bodies\": "
                           "[{\"box\": [0.05, 0.05, 0.05]}]}",
                           0.04 * (i % 2), 0.05 * (i % 3), 0.08 + 0.09 * i);
  }
  snprintf(text + at, room - at, "]}");
}

static pile pile_of(void)
{
  pile p = {0};
  for (int k = 0; k < ARRAYS; ++k) {
    p.at[k] = calloc(WORLDS * width[k], real_size(precision));
    REQUIRE(p.at[k] != NULL);
  }
  return p;
}

static void pile_free(pile *p)
{
  for (int k = 0; k < ARRAYS; ++k) {
    free(p->at[k]);
  }
}

/* Each world's boxes begin elsewhere, turned otherwise. */
static void fill(pile *p, const double *start)
{
  uint64_t random = 41;
  for (size_t i = 0; i < WORLDS; ++i) {
    for (size_t k = 0; k < NQ; ++k) {
      real_put(p->at[FROM_Q], precision, NQ * i + k,
               start[k] + (k % 7 < 3 ? 0.01 : 0.2) * random_normal(&random));
    }
    for (size_t k = 0; k < NV; ++k) {
      real_put(p->at[FROM_V], precision, NV * i + k, 0.2 * random_normal(&random));
    }
    for (size_t k = 0; k < 2 * NV; ++k) {
      real_put(p->at[SEED], precision, 2 * NV * i + k, random_normal(&random));
    }
  }
}

static char *row(const pile *p, int array, size_t i)
{
  return p->at[array] + i * width[array] * real_size(precision);
}

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count) /* FNV-1a */
{
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  }
  return hash;
}

/* Steps the worlds of one batch, which lie one behind the other in *p, in so many calls, and goes
 * back through the steps behind the last. */
static void run_batch(abut_scene scene, pile *p, size_t worlds, size_t calls)
{
  const size_t size = real_size(precision), steps = STEPS / calls;
  char *q = malloc(worlds * steps * NQ * size), *v = malloc(worlds * steps * NV * size);
  REQUIRE(q && v);
  uint32_t status[WORLDS] = {0}; /* of all calls */
  abut_worlds w = abut_default_worlds();
  w.count = worlds;
  w.steps = steps;
  w.record = 1;
  w.q = p->at[FROM_Q];
  w.v = p->at[FROM_V];
  w.q_next = p->at[TO_Q];
  w.v_next = p->at[TO_V];
  w.w_next = p->at[TO_W];
  w.q_record = q;
  w.v_record = v;
  w.status = p->status;
  for (size_t call = 0; call < calls; ++call) {
    CHECK_OK(abut_step_worlds(scene, &w));
    for (size_t i = 0; i < worlds; ++i) {
      status[i] |= p->status[i];
    }
    p->hash = hash_of(p->hash, q, worlds * steps * NQ * size);
    p->hash = hash_of(p->hash, v, worlds * steps * NV * size);
    p->hash = hash_of(p->hash, p->at[TO_W], worlds * NV * size);
    w.q = p->at[TO_Q];
    w.v = p->at[TO_V];
    w.w = p->at[TO_W];
  }
  memcpy(p->status, status, sizeof status);
  abut_worlds back = abut_default_worlds();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  back.count = worlds;
  back.steps = BACK;
  back.q = p->at[TO_Q];
  back.v = p->at[TO_V];
  back.w = p->at[TO_W];
  g.state = p->at[SEED];
  g.q = p->at[BAR_Q];
  g.v = p->at[BAR_V];
  CHECK_OK(abut_vjp_worlds(scene, &back, &g));
  free(q);
  free(v);
}

/* Copies between a world's rows and those of its place in a batch. */
static void copy(const pile *from, size_t i, pile *to, size_t k, int first, int end)
{
  for (int array = first; array < end; ++array) {
    memcpy(row(to, array, k), row(from, array, i), width[array] * real_size(precision));
  }
}

static void run_scene(abut_scene scene, const way *a, pile *p)
{
  pile batch = pile_of();
  p->hash = batch.hash = 0xcbf29ce484222325u;
  for (size_t first = 0; first < a->worlds; first += a->batch) {
    const size_t count = a->worlds - first < a->batch ? a->worlds - first : a->batch;
    for (size_t i = 0; i < count; ++i) {
      copy(p, (first + i) * a->order % WORLDS, &batch, i, FROM_Q, TO_Q);
    }
    run_batch(scene, &batch, count, a->calls);
    for (size_t i = 0; i < count; ++i) {
      const size_t to = (first + i) * a->order % WORLDS;
      copy(&batch, i, p, to, TO_Q, ARRAYS);
      p->status[to] = batch.status[i];
    }
  }
  p->hash = batch.hash;
  pile_free(&batch);
}

static abut_scene open_on(const variant *v, const way *a, abut_context *context)
{
  abut_context_def def = abut_default_context_def();
  char text[4096];
  play p;
  def.devices = v->choices;
  def.device_count = (uint32_t)v->count;
  def.precision = precision;
  def.chunk = a->chunk;
  def.scratch_bytes = a->scratch;
  def.fallback = ABUT_FALLBACK_NONE;
  REQUIRE_OK(abut_create_context(&def, context));
  write_scene(text, sizeof text);
  play_open_text(&p, *context, precision, text, 1);
  REQUIRE(p.info.nq == NQ && p.info.nv == NV);
  return play_keep_scene(&p);
}

static void close_scene(abut_scene scene, abut_context context)
{
  CHECK_OK(abut_destroy_scene(scene));
  CHECK_OK(abut_destroy_context(context));
}

static void check_way(const variant *v, const way *a, const pile *whole)
{
  abut_context context;
  const abut_scene scene = open_on(v, a, &context);
  pile p = pile_of();
  for (size_t i = 0; i < WORLDS; ++i) {
    copy(whole, i, &p, i, FROM_Q, TO_Q);
  }
  run_scene(scene, a, &p);
  close_scene(scene, context);
  for (size_t first = 0; first < a->worlds; ++first) {
    const size_t i = first * a->order % WORLDS;
    for (int array = TO_Q; array < ARRAYS; ++array) {
      check(!memcmp(row(&p, array, i), row(whole, array, i), width[array] * real_size(precision)),
            "%s, %s: array %d of world %zu differs", v->name, a->name, array, i);
    }
    check(p.status[i] == whole->status[i], "%s, %s: world %zu has status %u", v->name, a->name, i,
          p.status[i]);
  }
  pile_free(&p);
}

/* So many runs, every fifth in a context of its own, end with the same hash of all states on their
 * way. */
static void test_runs(const variant *v, const way *a, const pile *whole)
{
  pile p = pile_of();
  abut_context context;
  abut_scene scene = open_on(v, a, &context);
  for (size_t i = 0; i < WORLDS; ++i) {
    copy(whole, i, &p, i, FROM_Q, TO_Q);
  }
  for (int run = 1; run < RUNS; ++run) {
    if (run % 5 == 0) {
      close_scene(scene, context);
      scene = open_on(v, a, &context);
    }
    run_scene(scene, a, &p);
    check(p.hash == whole->hash, "run %d: the hash is %016llx, not %016llx", run,
          (unsigned long long)p.hash, (unsigned long long)whole->hash);
  }
  close_scene(scene, context);
  pile_free(&p);
}

int main(int argc, char **argv)
{
  static const way straight = {"all at once", 0, 0, WORLDS, WORLDS, 1, 1};
  static const way ways[] = {
    {"permuted", 0, 0, WORLDS, WORLDS, 11, 1},
    {"batches of 7", 0, 0, 7, WORLDS, 11, 1},
    {"one by one", 0, 0, 1, 4, 11, 1},
    {"chunks of a world", 1, 0, WORLDS, WORLDS, 1, 1},
    {"chunks of 5", 5, 0, WORLDS, WORLDS, 11, 1},
    {"short pair batches", 0, (uint64_t)12 << 20, WORLDS, WORLDS, 1, 1},
    {"two calls", 0, 0, WORLDS, WORLDS, 1, 2},
  };
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  variant v[VARIANTS] = {0};
  abut_context context;
  double start[NQ];
  REQUIRE(argc == 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  if (!find_variants(wanted && *wanted ? wanted : "host", v)) {
    return 77;
  }
  pile whole = pile_of();
  const abut_scene scene = open_on(&v[WHOLE], &straight, &context);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  fill(&whole, start);
  run_scene(scene, &straight, &whole);
  close_scene(scene, context);
  for (size_t i = 0; i < WORLDS; ++i) {
    check(!(whole.status[i] & ~(uint32_t)ABUT_WORLD_DEEP), "world %zu has status %u", i,
          whole.status[i]);
    CHECK(memcmp(row(&whole, TO_Q, i), row(&whole, FROM_Q, i), NQ * real_size(precision)));
    CHECK(
      memcmp(row(&whole, TO_Q, i), row(&whole, TO_Q, (i + 1) % WORLDS), NQ * real_size(precision)));
  }
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    check_way(&v[WHOLE], &ways[i], &whole);
  }
  for (int i = PARTS; i < ALL; ++i) {
    if (v[i].count) {
      check_way(&v[i], &straight, &whole);
      check_way(&v[i], &ways[4], &whole);
    }
  }
  test_runs(&v[WHOLE], &straight, &whole);
  pile_free(&whole);
  return check_finish();
}
