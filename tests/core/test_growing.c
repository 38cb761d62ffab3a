/* Lists that grow: the same entries to the bit as in arrays of the caller's, for call after call,
 * and nothing left where a call fails: test_growing PRECISION. */
#include "slopes.h"

#include <stdlib.h>
#include <string.h>

enum { POSES = 11 };

typedef struct scene {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair, other; /* a wider one, by gates alone: its blocks are of the list's contacts */
  slopes s;
} scene;

static bool make_scene(abut_precision precision, abut_pose_kind kind, uint32_t chunk, scene *t)
{
  uint64_t seed = 77;
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.penetration = smoothing.neighbour = 0.05;
  smoothing.edges[0] = smoothing.edges[1] = 4;
  smoothing.vertices[0] = 3;
  if (!open_context(precision, chunk, 0, &t->context) ||
      !random_body(t->context, &seed, &t->bodies[0]) ||
      !random_body(t->context, &seed, &t->bodies[1]) ||
      !CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &t->pair))) {
    return false;
  }
  smoothing.vertices[0] = 0;
  smoothing.select = ABUT_SELECT_GATE;
  if (!CHECK_OK(abut_create_pair(t->bodies[1], t->bodies[0], &smoothing, &t->other)) ||
      !slopes_create(&t->s, t->pair, precision, kind, POSES, seed)) {
    return false;
  }
  for (size_t i = 0; i < 2 * POSES; ++i) {
    double pose[7];
    random_pose(&seed, 0.3, pose);
    slopes_put(&t->s, (int)(i % 2), i / 2, pose);
  }
  real_put(t->s.pose[1], precision, 4 * t->s.width, 0.0 / 0.0);
  return true;
}

static void end_scene(scene *t)
{
  slopes_free(&t->s);
  CHECK_OK(abut_destroy_context(t->context));
}

/* Arrays of the caller's, of all of a list's entries. */
static void take_list(const scene *t, size_t capacity, double threshold, abut_compact *l)
{
  const size_t real = real_size(t->s.precision);
  *l = (abut_compact){.threshold = threshold, .capacity = capacity};
  l->pose = calloc(capacity + 1, sizeof(uint32_t));
  l->slot = calloc(capacity + 1, sizeof(uint32_t));
  l->feature = calloc(capacity + 1, 2 * sizeof(uint32_t));
  l->p = calloc(capacity + 1, 3 * real);
  l->d = calloc(capacity + 1, real);
  l->n = calloc(capacity + 1, 3 * real);
  l->activity = calloc(capacity + 1, real);
  l->blocks = calloc(capacity + 1, 16 * t->s.width * real);
}

static void drop_list(abut_compact *l)
{
  free(l->pose);
  free(l->slot);
  free(l->feature);
  free(l->p);
  free(l->d);
  free(l->n);
  free(l->activity);
  free(l->blocks);
}

static bool equal(const void *a, const void *b, size_t bytes)
{
  return bytes == 0 || (a && b && !memcmp(a, b, bytes));
}

static void same_list(const scene *t, const abut_compact *a, const abut_compact *b, bool blocks,
                      const char *what)
{
  const size_t real = real_size(t->s.precision), n = b->count;
  check(a->count == n && a->capacity == n, "%s: %zu entries in room for %zu, not %zu", what,
        a->count, a->capacity, n);
  check(equal(a->pose, b->pose, n * sizeof(uint32_t)) &&
          equal(a->slot, b->slot, n * sizeof(uint32_t)) &&
          equal(a->feature, b->feature, 2 * n * sizeof(uint32_t)),
        "%s: other entries", what);
  check(equal(a->p, b->p, 3 * n * real) && equal(a->n, b->n, 3 * n * real) &&
          equal(a->d, b->d, n * real) && equal(a->activity, b->activity, n * real),
        "%s: other values", what);
  check(blocks ? equal(a->blocks, b->blocks, n * 16 * t->s.width * real) : !a->blocks,
        "%s: other blocks", what);
}

static abut_status run(const scene *t, abut_pair pair, bool blocks, abut_compact *l)
{
  abut_batch batch = slopes_batch(&t->s);
  const abut_pair pairs[2] = {t->pair, t->other};
  uint32_t pair_of[POSES];
  for (size_t i = 0; i < POSES; ++i) {
    pair_of[i] = i % 2;
  }
  batch.compact = l;
  if (!pair.generation) { /* several in one batch */
    batch.pairs = pairs;
    batch.pair_count = 2;
    batch.pair = pair_of;
  }
  return blocks ? abut_jacobian(pair, ABUT_SAME_PAIR, &batch, l->grows ? NULL : l->blocks)
                : abut_contacts(pair, &batch);
}

/* One list for all calls, beside arrays that are as long as they may ever need to be. */
static void test_same(const scene *t, abut_compact *list)
{
  static const double thresholds[] = {0.05, 0.0, 0.9, 1.0};
  const abut_pair pairs[] = {t->pair, t->other, ABUT_BATCH_PAIRS};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 8; ++k) {
      abut_compact own;
      char what[64];
      snprintf(what, sizeof what, "pair %d, threshold %g", i, thresholds[k / 2]);
      take_list(t, POSES * 200, thresholds[k / 2], &own);
      list->threshold = thresholds[k / 2];
      if (CHECK_OK(run(t, pairs[i], k % 2, &own)) && CHECK_OK(run(t, pairs[i], k % 2, list))) {
        same_list(t, list, &own, k % 2, what);
        check(k / 2 > 0 || own.count > 20, "%s: %zu active contacts", what, own.count);
      }
      drop_list(&own);
    }
  }
}

static bool is_empty(const abut_compact *l)
{
  return !l->count && !l->capacity && !l->pose && !l->slot && !l->feature && !l->p && !l->d &&
         !l->n && !l->activity && !l->blocks;
}

static bool stop(size_t done, size_t total, void *user)
{
  (void)done;
  (void)total;
  (void)user;
  return false;
}

static void test_failures(const scene *t, abut_compact *list)
{
  abut_batch batch = slopes_batch(&t->s);
  list->threshold = 0.05;
  CHECK_OK(run(t, t->pair, true, list));
  check(list->count > 0 && list->blocks, "no blocks");
  batch.compact = list;
  check(abut_jacobian(t->pair, ABUT_SAME_PAIR, &batch, list->blocks) == ABUT_ERROR_ARGUMENT &&
          strstr(abut_last_error(), "pass NULL"),
        "blocks of the caller's: %s", abut_last_error());
  check(list->count > 0, "a refused call empties the list");
  batch.progress = stop;
  check(abut_jacobian(t->pair, ABUT_SAME_PAIR, &batch, NULL) == ABUT_ERROR_CANCELLED &&
          is_empty(list),
        "a call that is stopped leaves something");
  uint32_t mine[4] = {0};
  abut_compact foreign = {.grows = true, .pose = mine};
  batch.compact = &foreign;
  check(abut_contacts(t->pair, &batch) == ABUT_ERROR_ARGUMENT &&
          strstr(abut_last_error(),
                 "a list that grows must start with NULL arrays: the library allocates them"),
        "the caller's array: %s", abut_last_error());
  abut_free_compact(&foreign);
  check(foreign.pose == mine, "the caller's array is freed");
}

/* No poses make an empty list; freeing does so, too, and may be repeated. */
static void test_nothing(const scene *t)
{
  abut_compact list = {.threshold = 0.05, .grows = true};
  abut_batch batch = slopes_batch(&t->s);
  batch.count = 0;
  batch.compact = &list;
  CHECK_OK(abut_jacobian(t->pair, ABUT_SAME_PAIR, &batch, NULL));
  check(!list.count && !list.capacity, "%zu entries of no poses", list.count);
  CHECK_OK(run(t, t->pair, true, &list));
  abut_free_compact(&list);
  check(is_empty(&list) && list.grows && list.threshold == 0.05, "a freed list is not empty");
  abut_free_compact(&list);
  abut_free_compact(NULL);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  for (int i = 0; i < 2; ++i) { /* whole, and in chunks of three */
    scene t;
    abut_compact list = {.grows = true};
    const abut_pose_kind kind = i ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
    if (make_scene(precision, kind, i ? 3 : 0, &t)) {
      test_same(&t, &list);
      test_failures(&t, &list);
      test_nothing(&t);
      abut_free_compact(&list);
    }
    end_scene(&t);
  }
  return check_finish();
}
