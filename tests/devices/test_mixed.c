/* Batches whose entries are of several pairs: test_mixed PRECISION
 *
 * Each entry of every call has to the bit what a call of its pair alone gives, on the device of
 * ABUT_TEST_DEVICE, on two and three of its kind, whole and in small chunks; zeros behind; sorted
 * lists, and such as are too short; a second smoothing; what is refused. 77 where there is no such
 * device. */
#include "mixed_calls.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 5, USED = 4, LIST = 1 << 14 };

/* ---- pairs of their own bodies and smoothing ---- */

typedef struct world {
  abut_context context;
  abut_pair pairs[PAIRS], soft[PAIRS];
  abut_layout layouts[PAIRS];
  size_t widest;
} world;

static bool make_pair(world *w, abut_body a, abut_body b, int i)
{
  abut_smoothing s;
  if (!CHECK_OK(abut_fit_smoothing(a, b, &s))) {
    return false;
  }
  s.select = i % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  if (s.select == ABUT_SELECT_SOFTSORT) {
    s.edge_contacts = ABUT_EDGES_PAIRS;
  }
  s.edges[0] = i == 3 ? 0 : (uint32_t)(2 + i);
  s.edges[1] = 3;
  s.vertices[0] = i == 0 ? 4 : 0;
  s.floor = i % 2 ? 1e-3 : 0.0; /* of these what cannot be active is not computed */
  s.edge_edge = i != 1;
  s.two_sided = i != 3;
  if (s.select == ABUT_SELECT_SOFTSORT || !s.edge_edge || !s.two_sided) {
    s.cone_outer = 0.0;
  }
  s.trace = i == 2 ? 1 : 0;
  abut_smoothing soft = s;
  soft.penetration *= 3.0;
  soft.select = i == 2 ? ABUT_SELECT_GATE : soft.select;
  return CHECK_OK(abut_create_pair(a, b, &s, &w->pairs[i])) &&
         CHECK_OK(abut_create_pair(a, b, &soft, &w->soft[i])) &&
         CHECK_OK(abut_get_layout(w->pairs[i], &w->layouts[i]));
}

/* The last pair, the widest, has no entries. */
static bool world_open(const abut_device_choice *choices, size_t count, uint32_t chunk, world *w)
{
  static const double halves[][3] = {{0.4, 0.3, 0.2}, {0.3, 0.5, 0.3}};
  abut_context_def def = abut_default_context_def();
  abut_body bodies[4];
  uint64_t seed = 61;
  memset(w, 0, sizeof *w);
  def.devices = choices;
  def.device_count = (uint32_t)count;
  def.precision = precision;
  def.chunk = chunk;
  def.fallback = ABUT_FALLBACK_NONE;
  bool well =
    CHECK_OK(abut_create_context(&def, &w->context)) &&
    random_body(w->context, &seed, &bodies[0]) && random_body(w->context, &seed, &bodies[1]) &&
    make_box(w->context, halves[0], &bodies[2]) && make_box(w->context, halves[1], &bodies[3]);
  for (int i = 0; well && i < PAIRS; ++i) {
    well = make_pair(w, bodies[i % 4], bodies[(i + 1) % 4], i);
    w->widest = w->layouts[i].contacts > w->widest ? w->layouts[i].contacts : w->widest;
  }
  return well;
}

/* Entries of a few pairs in no order; then sorted, so that rows lie side by side. */
static void make_indices(size_t count, bool sorted, uint32_t *pair)
{
  uint64_t seed = 8;
  for (size_t i = 0; i < count; ++i) {
    pair[i] = sorted ? (uint32_t)(i * USED / count) : (uint32_t)(random_uniform(&seed) * USED);
  }
}

/* ---- a pair alone ---- */

/* The entries of pair k alone, out of `all`; `rows` takes where they were. */
static void take_entries(const set *all, const uint32_t *pair, uint32_t k, const world *w, set *out,
                         size_t *rows)
{
  const size_t real = real_size(precision), contacts = w->layouts[k].contacts;
  size_t count = 0;
  for (size_t i = 0; i < all->count; ++i) {
    if (pair[i] == k) {
      rows[count++] = i;
    }
  }
  set_create(out, count, contacts, LIST);
  for (int a = 0; a < VALUES; ++a) {
    const size_t own = width_of(a, contacts) * real, row = width_of(a, all->contacts) * real;
    for (size_t i = 0; i < count; ++i) {
      memcpy((char *)out->arrays[a] + i * own, (char *)all->arrays[a] + rows[i] * row, own);
    }
  }
}

static bool all_zero(const char *bytes, size_t count)
{
  while (count && !*bytes) {
    ++bytes;
    --count;
  }
  return !count;
}

static void compare_arrays(const set *all, const set *alone, const size_t *rows, int call,
                           const char *what)
{
  const size_t real = real_size(precision);
  for (int a = VALUES; a < ARRAYS; ++a) {
    const size_t own = width_of(a, alone->contacts) * real, row = width_of(a, all->contacts) * real;
    for (size_t i = 0; writes(call, a) && i < alone->count; ++i) {
      const char *got = (const char *)all->arrays[a] + rows[i] * row;
      if (!check(!memcmp(got, (char *)alone->arrays[a] + i * own, own),
                 "%s, call %d: array %d of entry %zu differs", what, call, a, rows[i]) ||
          !check(all_zero(got + own, row - own), "%s, call %d: array %d of entry %zu: no zeros",
                 what, call, a, rows[i])) {
        return;
      }
    }
  }
  for (size_t i = 0; i < alone->count; ++i) {
    check(all->status[rows[i]] == alone->status[i] && all->own[rows[i]] == alone->contacts &&
            alone->own[i] == alone->contacts,
          "%s, call %d: entry %zu: status %d, %u slots", what, call, rows[i], all->status[rows[i]],
          all->own[rows[i]]);
  }
}

/* Entries of a pair alone are, in their order, those of its poses in the whole list. */
static size_t compare_lists(const set *all, const set *alone, const size_t *rows,
                            const uint32_t *pair, uint32_t k, int call, const char *what)
{
  const abut_compact *x = &all->list, *y = &alone->list;
  const size_t real = real_size(precision), block = BLOCK * real;
  const size_t held = x->count < x->capacity ? x->count : x->capacity;
  size_t at = 0;
  bool same = true;
  for (size_t i = 0; i < held; ++i) {
    if (pair[x->pose[i]] != k) {
      continue;
    }
    same = same && at < y->count && x->pose[i] == rows[y->pose[at]] && x->slot[i] == y->slot[at] &&
           !memcmp(x->feature + 2 * i, y->feature + 2 * at, 8) &&
           !memcmp((char *)x->p + 3 * i * real, (char *)y->p + 3 * at * real, 3 * real) &&
           !memcmp((char *)x->n + 3 * i * real, (char *)y->n + 3 * at * real, 3 * real) &&
           !memcmp((char *)x->d + i * real, (char *)y->d + at * real, real) &&
           !memcmp((char *)x->activity + i * real, (char *)y->activity + at * real, real) &&
           (call != JACOBIAN ||
            !memcmp((char *)all->blocks + i * block, (char *)alone->blocks + at * block, block));
    ++at;
  }
  check(same && (at == y->count || held < x->count), "%s, call %d: the list of pair %u differs",
        what, call, k);
  return y->count;
}

static void check_order(const abut_compact *list, const char *what)
{
  const size_t held = list->count < list->capacity ? list->count : list->capacity;
  bool rises = true;
  for (size_t i = 1; i < held; ++i) {
    rises = rises && (list->pose[i] > list->pose[i - 1] ||
                      (list->pose[i] == list->pose[i - 1] && list->slot[i] > list->slot[i - 1]));
  }
  check(rises, "%s: the list is not in order", what);
}

static void compare_call(const world *alone, const set *all, const uint32_t *pair, bool soft,
                         int call, const char *what)
{
  size_t rows[MOST], rejected = 0, entries = 0;
  const bool listed = gives_list(call);
  for (uint32_t k = 0; k < USED; ++k) {
    set one;
    take_entries(all, pair, k, alone, &one, rows);
    CHECK_OK(run(&one, alone->pairs[k], soft ? alone->soft[k] : ABUT_SAME_PAIR,
                 abut_default_batch(), call));
    compare_arrays(all, &one, rows, call, what);
    entries += listed ? compare_lists(all, &one, rows, pair, k, call, what) : 0;
    rejected += one.rejected;
    set_free(&one);
  }
  check(rejected == all->rejected && (rejected || all->count < 16), "%s: %zu rejected, not %zu",
        what, all->rejected, rejected);
  if (listed) {
    check(entries == all->list.count && (entries || all->count < 16), "%s: %zu entries, not %zu",
          what, all->list.count, entries);
    check_order(&all->list, what);
  }
}

static void compare(const world *alone, const world *w, size_t count, bool sorted, size_t capacity,
                    bool soft, const char *what)
{
  uint32_t pair[MOST];
  make_indices(count, sorted, pair);
  abut_batch b = abut_default_batch();
  b.pairs = w->pairs;
  b.pair_count = PAIRS;
  b.pair = pair;
  b.derivatives = soft ? w->soft : NULL;
  for (int call = 0; call < CALLS; ++call) {
    set all;
    if (soft && ((call >= HESSIANS && call < JACOBIAN) || call >= ACTIVE)) {
      continue;
    }
    set_create(&all, count, w->widest, capacity);
    fill_inputs(&all);
    const abut_status status = run(&all, ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, b, call);
    check(status == (all.list.count > capacity ? ABUT_ERROR_OVERFLOW : ABUT_SUCCESS),
          "%s, call %d gives %d: %s", what, call, status, abut_last_error());
    compare_call(alone, &all, pair, soft, call, what);
    set_free(&all);
  }
}

/* ---- devices ---- */

/* One, two and three of a kind: PoCL's parts beside it, or the host path over and over. */
static size_t find_choices(const char *device, abut_device_choice choices[3])
{
  char divided[64];
  abut_device_info infos[64];
  uint32_t whole = 0;
  size_t count = 0;
  if (abut_find_device(device, &whole) != ABUT_SUCCESS) {
    return 0;
  }
  CHECK_OK(abut_list_devices(infos, 64, &count));
  choices[0] = choices[1] = choices[2] = (abut_device_choice){whole, 0, 0};
  if (infos[whole].type == ABUT_DEVICE_HOST) {
    return 3;
  }
  snprintf(divided, sizeof divided, "%s/1", device);
  count = 0;
  abut_device_choice parts[ABUT_DEVICES_MOST];
  if (abut_find_devices(divided, parts, ABUT_DEVICES_MOST, &count) != ABUT_SUCCESS) {
    return 1;
  }
  count = count < 2 ? count : 2;
  memcpy(choices + 1, parts, count * sizeof *parts);
  return 1 + count;
}

static void test_devices(const world *alone, const abut_device_choice *choices, size_t count)
{
  static const uint32_t chunks[] = {0, 7};
  for (size_t i = 0; i < 2; ++i) {
    char what[64];
    world w;
    snprintf(what, sizeof what, "%zu devices, chunks of %u", count, chunks[i]);
    if (world_open(choices, count, chunks[i], &w)) {
      compare(alone, &w, MOST, false, LIST, false, what);
      compare(alone, &w, MOST, true, 40, false, what);
      compare(alone, &w, 5, false, LIST, true, what);
    }
    CHECK_OK(abut_destroy_context(w.context));
  }
}

/* ---- single things ---- */

/* Poses may be replaced by their own gradients, row by row. */
static void test_in_place(const world *w)
{
  set s;
  uint32_t pair[MOST];
  make_indices(MOST, false, pair);
  set_create(&s, MOST, w->widest, 1);
  fill_inputs(&s);
  abut_batch b = abut_default_batch();
  b.count = MOST;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = s.arrays[POSE];
  b.pose2 = s.arrays[POSE + 1];
  b.pairs = w->pairs;
  b.pair_count = PAIRS;
  b.pair = pair;
  const abut_gradients apart = {s.arrays[GRADIENT], s.arrays[GRADIENT + 1]};
  const abut_gradients over = {s.arrays[POSE], s.arrays[POSE + 1]};
  CHECK_OK(abut_gradient(ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &apart));
  CHECK_OK(abut_gradient(ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &over));
  for (int i = 0; i < 2; ++i) {
    check(!memcmp(s.arrays[GRADIENT + i], s.arrays[POSE + i], MOST * WIDTH * real_size(precision)),
          "gradients in place of poses %d differ", i + 1);
  }
  set_free(&s);
}

static bool count_to(size_t done, size_t total, void *user)
{
  size_t *told = user;
  told[0] = done >= told[0] && total == MOST ? done : SIZE_MAX;
  return done < told[1];
}

static void test_progress(const world *w)
{
  set s;
  uint32_t pair[MOST];
  size_t told[2] = {0, SIZE_MAX};
  make_indices(MOST, false, pair);
  set_create(&s, MOST, w->widest, LIST);
  fill_inputs(&s);
  abut_batch b = abut_default_batch();
  b.pairs = w->pairs;
  b.pair_count = PAIRS;
  b.pair = pair;
  b.progress = count_to;
  b.user = told;
  CHECK_OK(run(&s, ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, b, CONTACTS));
  check(told[0] == MOST, "%zu poses of %d are told of", told[0], MOST);
  told[0] = 0;
  told[1] = 1;
  check(run(&s, ABUT_BATCH_PAIRS, ABUT_SAME_PAIR, b, CONTACTS) == ABUT_ERROR_CANCELLED,
        "a call of several pairs is not stopped");
  set_free(&s);
}

static void refused(const world *w, abut_pair pair, abut_pair second, abut_batch b, int call,
                    abut_status right, const char *words)
{
  set s;
  set_create(&s, 3, w->widest, 8);
  fill_inputs(&s);
  const abut_status status = run(&s, pair, second, b, call);
  check(status == right && strstr(abut_last_error(), words), "\"%s\": gives %d, \"%s\"", words,
        status, status == ABUT_SUCCESS ? "" : abut_last_error());
  set_free(&s);
}

static void test_refusals(const abut_device_choice *choices)
{
  world w, other;
  uint32_t pair[3] = {0, PAIRS, 1};
  abut_pair pairs[PAIRS], gone;
  abut_body body;
  abut_smoothing fitted = abut_default_smoothing();
  const double half[3] = {0.1, 0.1, 0.1};
  if (!world_open(choices, 1, 0, &w) || !world_open(choices, 1, 0, &other) ||
      !make_box(w.context, half, &body) ||
      !CHECK_OK(abut_create_pair(body, body, &fitted, &gone))) {
    return;
  }
  const abut_pair one = w.pairs[0], batch = ABUT_BATCH_PAIRS, same = ABUT_SAME_PAIR;
  memcpy(pairs, w.pairs, sizeof pairs);
  abut_batch b = abut_default_batch();
  b.pairs = pairs;
  b.pair_count = PAIRS;
  refused(&w, batch, same, b, CONTACTS, ABUT_ERROR_ARGUMENT, "a pair index for each entry");
  b.pair = pair;
  refused(&w, batch, same, b, CONTACTS, ABUT_ERROR_ARGUMENT, "entry 1 names pair 5");
  pair[1] = 2;
  refused(&w, one, same, b, CONTACTS, ABUT_ERROR_ARGUMENT, "ABUT_BATCH_PAIRS");
  refused(&w, batch, one, b, VJP, ABUT_ERROR_ARGUMENT, "ABUT_SAME_PAIR");
  b.derivatives = w.soft;
  refused(&w, batch, same, b, HESSIANS, ABUT_ERROR_ARGUMENT, "does not take a second smoothing");
  b.derivatives = other.soft;
  refused(&w, batch, same, b, VJP, ABUT_ERROR_ARGUMENT, "other bodies");
  b.derivatives = NULL;
  pairs[3] = other.pairs[3];
  refused(&w, batch, same, b, JVP, ABUT_ERROR_HANDLE,
          "pair 3 of the batch's list belongs to another");
  pairs[3] = gone;
  CHECK_OK(abut_destroy_body(body));
  refused(&w, batch, same, b, REDUCTIONS, ABUT_ERROR_HANDLE, "a body of pair 3");
  CHECK_OK(abut_destroy_pair(gone));
  refused(&w, batch, same, b, JACOBIAN, ABUT_ERROR_HANDLE, "pair 3 of the batch's list is null");
  b.pairs = NULL;
  refused(&w, one, same, b, CONTACTS, ABUT_ERROR_ARGUMENT, "needs a list");
  b.pair = NULL;
  b.derivatives = w.soft;
  refused(&w, one, same, b, CONTACTS, ABUT_ERROR_ARGUMENT, "also needs a list of pairs for values");
  b = abut_default_batch();
  b.pairs = w.pairs;
  b.pair_count = PAIRS;
  CHECK_OK(abut_contacts(batch, &b)); /* no entries */
  CHECK_OK(abut_destroy_context(w.context));
  CHECK_OK(abut_destroy_context(other.context));
}

int main(int argc, char **argv)
{
  const char *device = getenv("ABUT_TEST_DEVICE");
  abut_device_choice choices[3];
  precision = precision_of(argc, argv);
  const size_t count = find_choices(device ? device : "host", choices);
  if (!count) {
    printf("not run: %s\n", abut_last_error());
    return 77;
  }
  world alone;
  if (world_open(choices, 1, 0, &alone)) {
    for (size_t i = 1; i <= count; ++i) {
      test_devices(&alone, choices, i);
    }
    test_in_place(&alone);
    test_progress(&alone);
  }
  CHECK_OK(abut_destroy_context(alone.context));
  test_refusals(choices);
  return check_finish();
}
