/* What a batch of several pairs costs beside the same poses sorted by hand, a call a pair.
 *
 *   mixed [-d DEVICE] [-b BATCH] [-p 4,64] [-r ROUNDS] BODY...
 *
 * Prints CSV, a line a measurement: what (contacts: p, d, n and activity; list: active contacts
 * with all of that; gradient: of the mean distance), pairs, batch, seconds of the mixed call,
 * seconds of the sorted ones, and the median of their ratios, round by round. Pair i is of bodies i
 * % K and i / K % K of the K that are given, float32; entries and poses are random, bodies about as
 * far apart as they are large. Sorting is not timed. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTACTS, LIST, GRADIENT, WHATS };
enum { BODIES = 64, PAIRS = 1024, ROUNDS = 1000, SIZES = 16 };

static const char *const whats[WHATS] = {"contacts", "list", "gradient"};

/* Entries in the caller's order, [0], and sorted by pair, [1]. */
typedef struct entries {
  float *pose1, *pose2;
  uint32_t *pair;
} entries;

typedef struct bench {
  abut_context context;
  abut_body bodies[BODIES];
  double size[BODIES];
  size_t body_count, pair_count, batch, contacts;
  abut_pair pairs[PAIRS];
  size_t first[PAIRS + 1];
  entries of[2];
  float *out;
  uint32_t *places;
} bench;

static int fail_with(const char *what)
{
  fprintf(stderr, "mixed: %s: %s\n", what, abut_last_error());
  return 1;
}

/* Knuth's 64-bit congruence, its upper bits as a number in [-1, 1). */
static double next(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) * 0x1p-23 - 1.0;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
  qsort(numbers, count, sizeof *numbers, compare);
  return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static int make_pairs(bench *b)
{
  b->contacts = 0;
  for (size_t i = 0; i < b->pair_count; ++i) {
    const size_t k = b->body_count;
    const abut_body one = b->bodies[i % k], other = b->bodies[i / k % k];
    abut_smoothing s;
    abut_layout l;
    if (abut_fit_smoothing(one, other, &s) || abut_create_pair(one, other, &s, &b->pairs[i]) ||
        abut_get_layout(b->pairs[i], &l)) {
      return fail_with("a pair");
    }
    b->contacts = l.contacts > b->contacts ? l.contacts : b->contacts;
  }
  return 0;
}

/* Random entries, then the same with those of a pair side by side. */
static void make_entries(bench *b)
{
  uint64_t state = 1;
  for (size_t i = 0; i < b->batch; ++i) {
    const size_t pair = (size_t)((next(&state) + 1.0) / 2.0 * (double)b->pair_count);
    const double apart =
      0.3 * (b->size[pair % b->body_count] + b->size[pair / b->body_count % b->body_count]);
    b->of[0].pair[i] = (uint32_t)pair;
    for (size_t k = 0; k < 6; ++k) {
      b->of[0].pose1[6 * i + k] = k < 3 ? 0.0f : (float)(3.0 * next(&state));
      b->of[0].pose2[6 * i + k] = (float)((k < 3 ? apart : 3.0) * next(&state));
    }
  }
  size_t to = 0;
  for (size_t pair = 0; pair < b->pair_count; ++pair) {
    b->first[pair] = to;
    for (size_t i = 0; i < b->batch; ++i) {
      if (b->of[0].pair[i] == pair) {
        memcpy(b->of[1].pose1 + 6 * to, b->of[0].pose1 + 6 * i, 6 * sizeof(float));
        memcpy(b->of[1].pose2 + 6 * to++, b->of[0].pose2 + 6 * i, 6 * sizeof(float));
      }
    }
  }
  b->first[b->pair_count] = to;
}

static abut_status call(const bench *b, int what, abut_pair pair, abut_batch *batch)
{
  float *const at = b->out;
  const size_t n = batch->count * b->contacts;
  abut_compact list = {.threshold = 1e-3,
                       .capacity = n,
                       .pose = b->places,
                       .slot = b->places + n,
                       .feature = b->places + 2 * n,
                       .p = at,
                       .n = at + 3 * n,
                       .d = at + 6 * n,
                       .activity = at + 7 * n};
  const abut_gradients gradients = {at, at + 6 * batch->count};
  if (what == GRADIENT) {
    return abut_gradient(pair, ABUT_SAME_PAIR, batch, ABUT_REDUCE_MEAN_DISTANCE, &gradients);
  }
  if (what == LIST) {
    batch->compact = &list;
  } else {
    batch->p = at;
    batch->n = at + 3 * n;
    batch->d = at + 6 * n;
    batch->activity = at + 7 * n;
  }
  return abut_contacts(pair, batch);
}

static abut_status mixed(const bench *b, int what)
{
  abut_batch batch = abut_default_batch();
  batch.count = b->batch;
  batch.pose1 = b->of[0].pose1;
  batch.pose2 = b->of[0].pose2;
  batch.pairs = b->pairs;
  batch.pair_count = b->pair_count;
  batch.pair = b->of[0].pair;
  return call(b, what, ABUT_BATCH_PAIRS, &batch);
}

static abut_status sorted(const bench *b, int what)
{
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < b->pair_count && status == ABUT_SUCCESS; ++i) {
    abut_batch batch = abut_default_batch();
    batch.count = b->first[i + 1] - b->first[i];
    batch.pose1 = b->of[1].pose1 + 6 * b->first[i];
    batch.pose2 = b->of[1].pose2 + 6 * b->first[i];
    status = batch.count ? call(b, what, b->pairs[i], &batch) : status;
  }
  return status;
}

static int measure(const bench *b, int what, size_t rounds)
{
  static double times[2][ROUNDS], ratios[ROUNDS];
  for (size_t r = 0; r <= rounds; ++r) { /* the first one warms up */
    const double start = now();
    const abut_status one = mixed(b, what);
    const double middle = now();
    if (one || sorted(b, what)) {
      return fail_with(whats[what]);
    }
    if (r) {
      times[0][r - 1] = middle - start;
      times[1][r - 1] = now() - middle;
      ratios[r - 1] = times[0][r - 1] / times[1][r - 1];
    }
  }
  printf("%s,%zu,%zu,%.4e,%.4e,%.3f\n", whats[what], b->pair_count, b->batch,
         median(times[0], rounds), median(times[1], rounds), median(ratios, rounds));
  fflush(stdout);
  return 0;
}

static int run(bench *b, size_t rounds)
{
  int bad = make_pairs(b);
  const size_t numbers = b->batch * (b->contacts + 2) * 8;
  for (int i = 0; i < 2; ++i) {
    b->of[i] = (entries){calloc(b->batch, 6 * sizeof(float)), calloc(b->batch, 6 * sizeof(float)),
                         calloc(b->batch, sizeof(uint32_t))};
    bad = bad || !b->of[i].pose1 || !b->of[i].pose2 || !b->of[i].pair;
  }
  b->out = calloc(numbers, sizeof *b->out);
  b->places = calloc(numbers / 2, sizeof *b->places);
  bad = bad || !b->out || !b->places;
  if (!bad) {
    make_entries(b);
  }
  for (int what = 0; !bad && what < WHATS; ++what) {
    bad = measure(b, what, rounds);
  }
  for (int i = 0; i < 2; ++i) {
    free(b->of[i].pose1);
    free(b->of[i].pose2);
    free(b->of[i].pair);
  }
  free(b->out);
  free(b->places);
  for (size_t i = 0; i < b->pair_count && !bad; ++i) {
    bad = abut_destroy_pair(b->pairs[i]) != ABUT_SUCCESS;
  }
  return bad;
}

static int load(bench *b, char **paths, int count)
{
  for (int i = 0; i < count && i < BODIES; ++i) {
    abut_body_info info;
    if (abut_load_body(b->context, paths[i], &b->bodies[i]) ||
        abut_get_body_info(b->bodies[i], &info)) {
      return fail_with(paths[i]);
    }
    b->size[i] = info.diagonal;
    ++b->body_count;
  }
  return 0;
}

int main(int argc, char **argv)
{
  static bench b = {.batch = 4096};
  abut_context_def def = abut_default_context_def();
  const char *device = "pocl";
  size_t pairs[SIZES] = {4, 64}, sizes = 2, rounds = 9;
  for (int c; (c = getopt(argc, argv, "d:b:p:r:")) != -1;) {
    if (c == 'd') {
      device = optarg;
    } else if (c == 'b') {
      b.batch = strtoul(optarg, NULL, 10);
    } else if (c == 'r') {
      rounds = strtoul(optarg, NULL, 10);
    } else if (c == 'p') {
      sizes = 0;
      for (char *w = strtok(optarg, ","); w && sizes < SIZES; w = strtok(NULL, ",")) {
        pairs[sizes++] = strtoul(w, NULL, 10);
      }
    } else {
      return 2;
    }
  }
  if (optind == argc || !b.batch || !rounds || rounds > ROUNDS) {
    fprintf(stderr, "mixed: needs bodies, a batch and up to %d rounds\n", ROUNDS);
    return 2;
  }
  if (abut_find_device(device, &def.device) || abut_create_context(&def, &b.context)) {
    return fail_with(device);
  }
  int bad = load(&b, argv + optind, argc - optind);
  printf("what,pairs,batch,seconds_mixed,seconds_sorted,ratio\n");
  for (size_t i = 0; i < sizes && !bad; ++i) {
    b.pair_count = pairs[i] < PAIRS ? pairs[i] : PAIRS;
    bad = run(&b, rounds);
  }
  return abut_destroy_context(b.context) != ABUT_SUCCESS || bad;
}
