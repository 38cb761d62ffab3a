/* Pairs that may touch, and contacts of worlds: what is kept is what boxes keep that the test
 * itself holds beside each other, every pair that has a contact is among it, and contacts are those
 * of each pair by itself.
 *   test_items PRECISION */
#include "play.h"

#include "contact/active.h"
#include "contact/pair.h"
#include "world/boxes.h"
#include "world/loaded.h"
#include "scene/place.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORLDS = 23, ROOM = 1 << 14, FREE_LINKS = 7 };

#define ANY 1e-30   /* an activity that everything active has */
#define ACTIVE 0.01 /* one that rounding does not end */

static abut_precision precision;

/* ---- scenes ---- */

static const char *const shapes[FREE_LINKS] = {"\"box\": [0.05, 0.04, 0.03]",
                                               "\"sphere\": 0.05",
                                               "\"box\": [0.05, 0.04, 0.03]",
                                               "\"capsule\": [0.03, 0.05]",
                                               "\"ellipsoid\": [0.05, 0.04, 0.06]",
                                               "\"box\": [0.05, 0.04, 0.03]",
                                               "\"cylinder\": [0.04, 0.05]"};

/* A plane and a block that stand still, free bodies, and a bar on a hinge. */
static void write_scene(const char *more, char *text)
{
  size_t at = (size_t)snprintf(text, ROOM,
                               "{%s, \"links\": [{\"bodies\": [{\"plane\": [1, 1]}]}, {\"bodies\": "
                               "[{\"box\": [0.1, 0.1, 0.05]}]}, "
                               "{\"density\": 800, \"joint\": {\"type\": \"hinge\", \"axis\": [0, "
                               "1, 0]}, \"position\": [0, 0.1, "
                               "0.2], \"bodies\": [{\"box\": [0.2, 0.03, 0.03]}]}",
                               more);
  for (int i = 0; i < FREE_LINKS; ++i) {
    at +=
      (size_t)snprintf(text + at, ROOM - at,
                       ", {\"density\": 500, \"joint\": {\"type\": \"free\"}, \"bodies\": [{%s}]}",
                       shapes[i]);
  }
  snprintf(text + at, ROOM - at, "]}");
}

/* All pairs of links that can move against each other. */
static void write_listed(char *text)
{
  static char more[ROOM];
  size_t at = (size_t)snprintf(more, ROOM, "\"pairs\": [");
  for (int a = 2; a < FREE_LINKS + 3; ++a) {
    for (int b = 0; b < a; ++b) {
      at += (size_t)snprintf(more + at, ROOM - at, "%s{\"a\": %d, \"b\": %d}",
                             a > 2 || b ? ", " : "", a, b);
    }
  }
  snprintf(more + at, ROOM - at, "]");
  write_scene(more, text);
}

/* Bodies anywhere in a box in which they meet some of the others, the bar at any angle. */
static void fill(play *p)
{
  uint64_t random = 5;
  for (size_t w = 0; w < WORLDS; ++w) {
    play_set_q(p, w, 0, 3.0 * random_normal(&random));
    for (size_t i = 1; i < p->info.nq; ++i) {
      const size_t of = (i - 1) % 7;
      play_set_q(p, w, i,
                 of < 3 ? 0.5 * random_uniform(&random) - (of < 2 ? 0.25 : 0.0)
                        : random_normal(&random));
    }
  }
}

/* ---- the test's own broad phase ---- */

typedef struct oracle {
  const loaded_scene *scene;
  body_box (*boxes)[2]; /* of points and of fields, by bodies */
  bool *bounded;        /* by candidates */
  double (*links)[7];
  double *q;
} oracle;

static void join(body_box *all, const body_box *one)
{
  for (int k = 0; k < 3 && one->half[0] >= 0.0; ++k) {
    const bool first = all->half[0] < 0.0 || (k && all->half[k] < 0.0);
    const double low = first ? one->centre[k] - one->half[k]
                             : fmin(all->centre[k] - all->half[k], one->centre[k] - one->half[k]);
    const double high = first ? one->centre[k] + one->half[k]
                              : fmax(all->centre[k] + all->half[k], one->centre[k] + one->half[k]);
    all->centre[k] = 0.5 * (low + high);
    all->half[k] = 0.5 * (high - low);
  }
}

static void oracle_open(oracle *o, abut_scene scene)
{
  const loaded_scene *s = o->scene = scene_get(scene);
  REQUIRE(s != NULL);
  o->boxes = calloc(s->body_count, sizeof *o->boxes);
  o->bounded = calloc(s->def.pair_count, sizeof *o->bounded);
  o->links = calloc(s->def.link_count, sizeof *o->links);
  o->q = calloc((size_t)s->constants.nq, sizeof *o->q);
  REQUIRE(o->boxes && o->bounded && o->links && o->q);
  for (size_t i = 0; i < 2 * s->body_count; ++i) {
    o->boxes[i / 2][i % 2] = (body_box){.half = {-1, -1, -1}};
  }
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const pair *p = pair_get(s->pairs[i]);
    pair_boxes b;
    REQUIRE(p != NULL);
    REQUIRE_OK(boxes_of_pair(p, active_cutoff(p, 0.0), &b));
    o->bounded[i] = b.bounded;
    for (int side = 0; b.bounded && side < 2; ++side) {
      body_box *of = o->boxes[scene_pair_body(&s->def, &s->def.pairs[i], side)];
      join(&of[0], &b.points[side]);
      join(&of[1], &b.field[side]);
    }
  }
}

static void oracle_close(oracle *o)
{
  free(o->boxes);
  free(o->bounded);
  free(o->links);
  free(o->q);
}

static void oracle_place(oracle *o, const play *p, size_t world)
{
  for (size_t i = 0; i < p->info.nq; ++i) {
    o->q[i] = play_q(p, world, i);
  }
  REQUIRE_OK(scene_place_links(o->scene, o->q, o->links[0]));
}

/* Whether a candidate is left out; larger eps leave out less. */
static bool left_out(const oracle *o, size_t candidate, double eps)
{
  const scene_pair *p = &o->scene->def.pairs[candidate];
  const body_box *a = o->boxes[scene_pair_body(&o->scene->def, p, 0)],
                 *b = o->boxes[scene_pair_body(&o->scene->def, p, 1)];
  double pose[2][7];
  for (int side = 0; side < 2; ++side) {
    place_body(scene_side(&o->scene->def, p, side), o->links[p->link[side]], pose[side]);
  }
  return o->bounded[candidate] && boxes_apart(&a[0], pose[0], &b[1], pose[1], eps) &&
         boxes_apart(&a[1], pose[0], &b[0], pose[1], eps);
}

/* ---- what is found ---- */

static bool has(const abut_items *items, size_t world, size_t candidate)
{
  for (size_t i = 0; i < items->count; ++i) {
    if (items->items[3 * i] == world && items->candidates[i] == candidate) {
      return true;
    }
  }
  return false;
}

static void check_order(const play *p, const abut_items *items)
{
  for (size_t i = 0; i < items->count; ++i) {
    size_t a, b;
    REQUIRE_OK(abut_get_candidate(p->scene, items->candidates[i], &a, &b));
    CHECK(items->items[3 * i + 1] == a && items->items[3 * i + 2] == b);
    CHECK(!i || items->items[3 * i - 3] < items->items[3 * i] ||
          (items->items[3 * i - 3] == items->items[3 * i] &&
           items->candidates[i - 1] < items->candidates[i]));
  }
}

/* Nothing that boxes do not put apart is left out, and what they put well apart is. */
static void compare_boxes(const play *p, const abut_items *items)
{
  const double rounding = 64.0 * (precision == ABUT_FLOAT64 ? DBL_EPSILON : (double)FLT_EPSILON);
  size_t kept = 0, left = 0;
  oracle o;
  oracle_open(&o, p->scene);
  for (size_t w = 0; w < WORLDS; ++w) {
    oracle_place(&o, p, w);
    for (size_t i = 0; i < p->info.candidates; ++i) {
      const bool found = has(items, w, i);
      check(found || left_out(&o, i, 0.0), "world %zu, candidate %zu is left out though boxes meet",
            w, i);
      check(!found || !left_out(&o, i, rounding),
            "world %zu, candidate %zu is kept though boxes are apart", w, i);
      kept += found;
      left += !found;
    }
  }
  check(kept > 4 * WORLDS && left > 10 * WORLDS, "%zu are kept, %zu left out: nothing is tested",
        kept, left);
  oracle_close(&o);
}

/* The next contact of a list from `at` on that is active enough to be in another list whatever
 * rounding does. */
static size_t next_of(const abut_compact *list, size_t at)
{
  while (at < list->count && real_at(list->activity, precision, at) < ACTIVE) {
    ++at;
  }
  return at;
}

/* Contacts of what may touch are all that there are: those of every slot of every candidate that
 * are active. */
static void compare_contacts(const play *p, const abut_items *items)
{
  const double most = precision == ABUT_FLOAT64 ? 1e-9 : 1e-3;
  abut_items some, all;
  abut_compact found = {.threshold = ANY, .grows = true}, every = {.threshold = 0.0, .grows = true};
  size_t same = 0;
  REQUIRE_OK(abut_find_contacts(p->scene, p->q, WORLDS, &some, &found));
  REQUIRE_OK(abut_find_contacts(p->scene, p->q, WORLDS, &all, &every));
  CHECK_EQUAL(some.count, items->count);
  CHECK(!memcmp(some.items, items->items, 3 * items->count * sizeof *items->items));
  CHECK_EQUAL(all.count, WORLDS * p->info.candidates);
  size_t at = next_of(&found, 0), i = next_of(&every, 0);
  for (; at < found.count && i < every.count;
       at = next_of(&found, at + 1), i = next_of(&every, i + 1)) {
    const uint32_t item = found.pose[at], of = every.pose[i];
    const double apart =
      real_at(found.activity, precision, at) - real_at(every.activity, precision, i);
    if (some.items[3 * item] != all.items[3 * of] || some.candidates[item] != all.candidates[of] ||
        found.slot[at] != every.slot[i] || !(fabs(apart) <= most)) {
      check(false, "world %u, candidate %u, slot %u is not among the contacts, or is off by %g",
            all.items[3 * of], all.candidates[of], every.slot[i], apart);
      break;
    }
    ++same;
  }
  check(at == found.count && i == every.count && same > WORLDS, "%zu contacts are the same, of %zu",
        same, found.count);
  abut_free_items(&some);
  abut_free_items(&all);
  abut_free_compact(&found);
  abut_free_compact(&every);
}

/* Contacts of listed pairs are those of each pair's own batch. */
static void compare_pairs(const play *p)
{
  double pose[2][512];
  abut_items items;
  abut_compact all = {.threshold = 0.05, .grows = true};
  double *q = calloc(p->info.nq, sizeof *q);
  size_t at = 0;
  REQUIRE(q && 7 * p->info.pairs <= 512);
  REQUIRE_OK(abut_find_contacts(p->scene, p->q, WORLDS, &items, &all));
  for (size_t w = 0; w < WORLDS; ++w) {
    for (size_t i = 0; i < p->info.nq; ++i) {
      q[i] = play_q(p, w, i);
    }
    REQUIRE_OK(abut_place_pairs(p->scene, q, pose[0], pose[1]));
    for (size_t i = 0; i < p->info.pairs; ++i) {
      abut_compact own = {.threshold = 0.05, .grows = true};
      abut_batch b = abut_default_batch();
      abut_scene_pair own_pair;
      char real[2][7 * sizeof(double)];
      for (int k = 0; k < 14; ++k) {
        real_put(real[k / 7], precision, (size_t)k % 7, pose[k / 7][7 * i + (size_t)k % 7]);
      }
      REQUIRE_OK(abut_get_scene_pair(p->scene, i, &own_pair));
      b.count = 1;
      b.poses = ABUT_POSE_QUATERNION;
      b.pose1 = real[0];
      b.pose2 = real[1];
      b.compact = &own;
      REQUIRE_OK(abut_contacts(own_pair.pair, &b));
      for (size_t k = 0; k < own.count; ++k, ++at) {
        const size_t bytes = real_size(precision);
        REQUIRE(at < all.count);
        CHECK(items.items[3 * all.pose[at]] == w && items.candidates[all.pose[at]] == i &&
              all.slot[at] == own.slot[k]);
        CHECK(!memcmp((char *)all.d + at * bytes, (char *)own.d + k * bytes, bytes));
      }
      abut_free_compact(&own);
    }
  }
  CHECK(at == all.count && at > 0);
  abut_free_items(&items);
  abut_free_compact(&all);
  free(q);
}

static void open_scene(play *p, abut_context c, const char *text)
{
  play_open_text(p, c, precision, text, WORLDS);
  fill(p);
}

static void test_scene(abut_context c, const char *text, bool listed)
{
  abut_items items;
  play p;
  open_scene(&p, c, text);
  CHECK_EQUAL(p.info.automatic, !listed);
  REQUIRE_OK(abut_find_items(p.scene, p.q, WORLDS, &items));
  check_order(&p, &items);
  compare_boxes(&p, &items);
  compare_contacts(&p, &items);
  if (listed) {
    compare_pairs(&p);
  }
  abut_free_items(&items);
  CHECK(!items.count && !items.items && !items.candidates);
  play_close(&p);
}

/* Where nothing is left out, all candidates are there. */
static void test_all(abut_context c, const char *text)
{
  abut_items items;
  play p;
  open_scene(&p, c, text);
  REQUIRE_OK(abut_find_items(p.scene, p.q, WORLDS, &items));
  CHECK_EQUAL(items.count, WORLDS * p.info.candidates);
  check_order(&p, &items);
  abut_free_items(&items);
  play_close(&p);
}

/* However a batch is cut into chunks. */
static void test_chunks(const char *text)
{
  const char *on = getenv("ABUT_TEST_DEVICE");
  abut_items found[2];
  for (int i = 0; i < 2; ++i) {
    abut_context_def def = abut_default_context_def();
    abut_context c;
    play p;
    REQUIRE_OK(abut_find_device(on && *on ? on : "host", &def.device));
    def.precision = precision;
    def.chunk = i ? 3 : 0;
    REQUIRE_OK(abut_create_context(&def, &c));
    open_scene(&p, c, text);
    REQUIRE_OK(abut_find_items(p.scene, p.q, WORLDS, &found[i]));
    play_close(&p);
    CHECK_OK(abut_destroy_context(c));
  }
  CHECK(found[0].count == found[1].count && found[0].count > 0 &&
        !memcmp(found[0].items, found[1].items, 3 * found[0].count * sizeof(uint32_t)) &&
        !memcmp(found[0].candidates, found[1].candidates, found[0].count * sizeof(uint32_t)));
  abut_free_items(&found[0]);
  abut_free_items(&found[1]);
}

static bool same_lists(const abut_items *a, const abut_items *b, const abut_compact *one,
                       const abut_compact *other)
{
  const size_t real = precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
  return a->count == b->count && one->count == other->count &&
         !memcmp(one->slot, other->slot, one->count * sizeof *one->slot) &&
         !memcmp(one->d, other->d, one->count * real) &&
         !memcmp(one->activity, other->activity, one->count * real);
}

/* By the scene's own pairs contacts are those of the scene; by softer ones of one kind that kind's
 * are more, and the others' the same. */
static void test_by(abut_context c, const char *text)
{
  abut_items items[3];
  abut_compact lists[3];
  size_t kinds = 0, more[2] = {0, 0};
  play p;
  open_scene(&p, c, text);
  abut_pair *pairs = calloc(p.info.kinds, sizeof *pairs), own;
  uint32_t *kind = calloc(p.info.candidates, sizeof *kind);
  REQUIRE(pairs && kind);
  REQUIRE_OK(abut_get_kinds(p.scene, kind, pairs, &kinds));
  CHECK(kinds > 1 && kinds <= p.info.kinds);
  for (int i = 0; i < 3; ++i) {
    lists[i] = (abut_compact){.threshold = i == 2 ? 0.0 : 0.05, .grows = true};
  }
  REQUIRE_OK(abut_find_contacts(p.scene, p.q, 2, &items[0], &lists[0]));
  REQUIRE_OK(abut_find_contacts_by(p.scene, pairs, kinds, p.q, 2, &items[1], &lists[1]));
  CHECK(lists[0].count > 0 && same_lists(&items[0], &items[1], &lists[0], &lists[1]));
  abut_free_items(&items[1]);
  abut_free_compact(&lists[1]);

  abut_smoothing softer;
  abut_body bodies[2];
  own = pairs[0];
  REQUIRE_OK(abut_get_smoothing(own, &softer));
  REQUIRE_OK(abut_get_pair_bodies(own, &bodies[0], &bodies[1]));
  CHECK_OK(abut_get_pair_bodies(own, NULL, NULL));
  softer.penetration *= 4.0;
  REQUIRE_OK(abut_create_pair(bodies[0], bodies[1], &softer, &pairs[0]));
  lists[1] = (abut_compact){.threshold = 0.0, .grows = true};
  REQUIRE_OK(abut_find_contacts(p.scene, p.q, 2, &items[2], &lists[2]));
  REQUIRE_OK(abut_find_contacts_by(p.scene, pairs, kinds, p.q, 2, &items[1], &lists[1]));
  CHECK(lists[1].count == lists[2].count);
  for (size_t i = 0; i < lists[1].count && i < lists[2].count; ++i) {
    const bool changed = kind[items[1].candidates[lists[1].pose[i]]] == 0;
    const double apart =
      real_at(lists[1].activity, precision, i) - real_at(lists[2].activity, precision, i);
    more[changed] += changed ? apart > 1e-3 : apart != 0.0;
  }
  check(!more[0] && more[1],
        "%zu contacts of other kinds differ; %zu of the kind have more activity", more[0], more[1]);
  abut_items none;
  abut_compact list = {.threshold = 0.05, .grows = true};
  CHECK(abut_find_contacts_by(p.scene, pairs, kinds - 1, p.q, 1, &none, &list) ==
        ABUT_ERROR_ARGUMENT);
  CHECK(abut_find_contacts_by(p.scene, NULL, kinds, p.q, 1, &none, &list) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_get_kinds(p.scene, kind, pairs, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK_OK(abut_destroy_pair(pairs[0]));
  CHECK(abut_find_contacts_by(p.scene, pairs, kinds, p.q, 1, &none, &list) == ABUT_ERROR_HANDLE);
  pairs[0] = pairs[1];
  CHECK(abut_find_contacts_by(p.scene, pairs, kinds, p.q, 1, &none, &list) == ABUT_ERROR_ARGUMENT &&
        strstr(abut_last_error(), "are not those of its kind of candidates"));
  for (int i = 0; i < 3; ++i) {
    abut_free_items(&items[i]);
    abut_free_compact(&lists[i]);
  }
  free(pairs);
  free(kind);
  play_close(&p);
}

static void refuse(abut_status status, abut_status as, const char *says)
{
  check(status == as && strstr(abut_last_error(), says), "%s: %s", says,
        status ? abut_last_error() : "done");
}

static void test_refused(abut_context c, const char *text)
{
  abut_items items = {.count = 1};
  abut_compact list = {.threshold = 0.05};
  play p;
  open_scene(&p, c, text);
  refuse(abut_find_items(p.scene, p.q, 1, NULL), ABUT_ERROR_ARGUMENT,
         "candidate pairs: the output pointer is NULL");
  refuse(abut_find_items(p.scene, NULL, 1, &items), ABUT_ERROR_ARGUMENT, "need positions");
  refuse(abut_find_contacts(p.scene, p.q, 1, &items, &list), ABUT_ERROR_ARGUMENT,
         "need a list that grows");
  refuse(abut_find_contacts(p.scene, p.q, 1, &items, NULL), ABUT_ERROR_ARGUMENT,
         "need a list that grows");
  CHECK_OK(abut_find_items(p.scene, NULL, 0, &items));
  CHECK_EQUAL(items.count, 0);
  abut_free_items(&items);
  abut_free_items(NULL);
  play_set_q(&p, 5, 2, (double)NAN);
  refuse(abut_find_items(p.scene, p.q, WORLDS, &items), ABUT_ERROR_ARGUMENT,
         "world 5: position 2 (0-based) is nan; it must be finite");
  for (size_t k = 4; k < 8; ++k) {
    play_set_q(&p, 4, k, 0.0);
  }
  refuse(abut_find_items(p.scene, p.q, WORLDS, &items), ABUT_ERROR_ARGUMENT,
         "world 4: the quaternion of link 3 has length 0");
  CHECK(!items.count && !items.items);
  const abut_scene gone = p.scene;
  play_close(&p);
  CHECK_EQUAL(abut_find_items(gone, p.q, 0, &items), ABUT_ERROR_HANDLE);
}

/* Whether a kind of pairs of free links has been brought to the device. */
static bool is_brought(const loaded_scene *s, size_t kind)
{
  const pair *p = pair_get(s->parts[s->pair_order[s->pair_types[kind].first]].pair);
  REQUIRE(p);
  return p->on[0] && p->on[0]->head;
}

static bool is_free(const loaded_scene *s, size_t kind)
{
  const scene_pair *p = &s->def.pairs[s->pair_order[s->pair_types[kind].first]];
  return p->link[0] > 2 && p->link[1] > 2;
}

/* Steps bring what is near, and nothing else. */
static void test_brought(abut_context c, const char *text)
{
  play p;
  size_t near = 0, far = 0;
  play_open_text(&p, c, precision, text, 1);
  const loaded_scene *s = scene_get(p.scene);
  REQUIRE(s);
  for (size_t i = 0; i < FREE_LINKS; ++i) { /* the first and the second meet */
    play_set_q(&p, 0, 1 + 7 * i, i == 1 ? 0.05 : 10.0 * (double)i);
    play_set_q(&p, 0, 1 + 7 * i + 2, 5.0);
    play_set_q(&p, 0, 1 + 7 * i + 3, 1.0);
  }
  for (size_t kind = 0; kind < s->pair_type_count; ++kind) {
    CHECK(!is_brought(s, kind));
  }
  play_step(&p, 1);
  for (size_t kind = 0; kind < s->pair_type_count; ++kind) {
    near += is_free(s, kind) && is_brought(s, kind);
    far += is_free(s, kind) && !is_brought(s, kind);
  }
  check(near == 1 && far > 5, "%zu kinds of free links were brought, and %zu were not", near, far);
  play_close(&p);
}

/* ---- loading ---- */

typedef struct told {
  size_t calls, end; /* the call that ends it, or 0 */
  double last;
  bool named;
} told;

static bool tell(void *user, const char *what, double share)
{
  told *t = user;
  ++t->calls;
  check(share >= t->last && share < 1.0, "%s: %g after %g", what, share, t->last);
  t->last = share;
  t->named = t->named || strncmp(what, "links[2].bodies[0]", 18) == 0;
  return t->calls != t->end;
}

static void test_told(abut_context c, const char *text)
{
  char path[64];
  abut_scene scene;
  abut_scene_options options = abut_default_scene_options();
  told all = {0}, some = {.end = 3};
  snprintf(path, sizeof path, "items-%d-%ld.scene.json", (int)precision, (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  options.progress = tell;
  options.user = &all;
  REQUIRE_OK(abut_load_scene_with(c, path, &options, &scene));
  CHECK_OK(abut_destroy_scene(scene));
  check(all.named && all.calls > 3 && all.last > 0.5, "%zu calls came to %g", all.calls, all.last);
  options.user = &some;
  CHECK_EQUAL(abut_load_scene_with(c, path, &options, &scene), ABUT_ERROR_CANCELLED);
  check(strstr(abut_last_error(), "cancelled"), "it says %s", abut_last_error());
  CHECK_EQUAL(some.calls, 3);
  remove(path);
}

int main(int argc, char **argv)
{
  static char automatic[ROOM], listed[ROOM], all[ROOM], few[ROOM];
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  abut_context c = require_context(precision);
  write_scene("\"automatic\": true", automatic);
  write_scene("\"automatic\": true, \"broad_phase\": false", all);
  write_scene("\"pairs\": [{\"a\": 3, \"b\": 0}, {\"a\": 4, \"b\": 1}]", few);
  write_listed(listed);
  test_scene(c, automatic, false);
  test_scene(c, listed, true);
  test_all(c, all);
  test_all(c, few);
  test_by(c, listed);
  test_refused(c, automatic);
  test_brought(c, automatic);
  test_told(c, automatic);
  CHECK_OK(abut_destroy_context(c));
  test_chunks(automatic);
  return check_finish();
}
