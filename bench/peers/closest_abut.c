/* Times signed distances of pairs of convex shapes by abut, or their derivatives, a batch in one
 * call.
 *
 *   closest_abut [-d DEVICE] [-p f32|f64] [-b BATCH] [-r ROUNDS] [-o ANSWERS] [-j METHOD] PROBLEM
 *
 * PROBLEM and ANSWERS are files of closest_problem.h. Shapes and poses are made before the clock
 * runs, and a call warms up; then 20 calls over all pairs unless told, in batches of 10,000, from
 * host arrays to d, n, p1, p2, gap and status in host arrays. Nothing is warm-started. METHOD, a
 * number as abut_closest_method has them, or 11, gumbel at level 2, times Jacobians of d, n, p1
 * and p2 instead: the first three of answers that are there already, the others with the
 * queries that they make. Prints
 * JSON, in microseconds a pair: "least" and "median" of the rounds, "processor" their median of
 * all threads' processor time; how many rows did not settle, and the device. For one core, bind
 * the process to one and set POCL_MAX_PTHREAD_COUNT=1, or name a part: -d pocl/1.0. */
#define _POSIX_C_SOURCE 200809L
#include <abut/closest.h>
#include <abut/device.h>
#include <unistd.h>

#include "closest_problem.h"

enum { ROUNDS = 1000, QUERY = -1, LEVEL_2 = 11 };

typedef struct bench {
  abut_context context;
  abut_shape *shapes;
  problem p;
  size_t real, batch, rounds, unsettled;
  long method; /* QUERY, or of the derivatives that are timed */
  void *pose1, *pose2, *d, *n, *p1, *p2, *gap, *of_d, *of_n, *of_p1, *of_p2;
  uint8_t *status;
} bench;

static int fail_with(const char *what)
{
  fprintf(stderr, "closest_abut: %s: %s\n", what, abut_last_error());
  return 1;
}

static int make_shapes(bench *b)
{
  const double *vertices = b->p.vertices;
  b->shapes = malloc(b->p.shape_count * sizeof *b->shapes + 1);
  for (size_t i = 0; b->shapes && i < b->p.shape_count; ++i) {
    const problem_shape *s = &b->p.shapes[i];
    abut_shape_def def = abut_default_shape_def();
    def.kind = (abut_shape_kind)s->kind;
    def.vertices = vertices;
    def.vertex_count = s->vertex_count;
    memcpy(def.size, s->size, sizeof def.size);
    memcpy(def.exponents, s->exponents, sizeof def.exponents);
    def.radius = s->radius;
    if (abut_create_shape(b->context, &def, &b->shapes[i]) != ABUT_SUCCESS) {
      return fail_with("a shape");
    }
    vertices += 3 * (size_t)s->vertex_count;
  }
  return b->shapes ? 0 : fail_with("no memory");
}

/* A real of the context's precision. */
static void put(const bench *b, void *array, size_t at, double value)
{
  if (b->real == sizeof(double)) {
    ((double *)array)[at] = value;
  } else {
    ((float *)array)[at] = (float)value;
  }
}

static double get(const bench *b, const void *array, size_t at)
{
  return b->real == sizeof(double) ? ((const double *)array)[at]
                                   : (double)((const float *)array)[at];
}

static int take_arrays(bench *b)
{
  const size_t count = b->p.pair_count;
  void **const arrays[] = {&b->pose1, &b->pose2, &b->d,    &b->n,     &b->p1,   &b->p2,
                           &b->gap,   &b->of_d,  &b->of_n, &b->of_p1, &b->of_p2};
  const size_t widths[] = {7, 7, 1, 3, 3, 3, 1, 12, 36, 36, 36};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
    *arrays[i] = calloc(count * widths[i] + 1, b->real);
    if (!*arrays[i]) {
      return fail_with("no memory");
    }
  }
  b->status = calloc(count + 1, 1);
  for (size_t i = 0; i < 7 * count; ++i) {
    put(b, b->pose1, i, b->p.pose1[i]);
    put(b, b->pose2, i, b->p.pose2[i]);
  }
  return b->status ? 0 : fail_with("no memory");
}

static void *from(const bench *b, void *array, size_t first, size_t width)
{
  return (char *)array + first * width * b->real;
}

/* A batch of the query; derivatives by queries of their own have no answers. */
static abut_closest_batch batch_of(bench *b, size_t first, size_t count)
{
  abut_closest_batch batch = abut_default_closest_batch();
  batch.count = count;
  batch.shapes = b->shapes;
  batch.shape_count = b->p.shape_count;
  batch.one = b->p.one + first;
  batch.two = b->p.two + first;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = from(b, b->pose1, first, 7);
  batch.pose2 = from(b, b->pose2, first, 7);
  if (b->method < ABUT_CLOSEST_ZEROTH || b->method == LEVEL_2) {
    batch.d = from(b, b->d, first, 1);
    batch.n = from(b, b->n, first, 3);
    batch.p1 = from(b, b->p1, first, 3);
    batch.p2 = from(b, b->p2, first, 3);
    batch.status = b->status + first;
  }
  return batch;
}

static int query_batch(bench *b, size_t first, size_t count)
{
  abut_closest_batch batch = batch_of(b, first, count);
  batch.gap = from(b, b->gap, first, 1);
  const abut_status status = abut_closest(b->context, &batch);
  b->unsettled += batch.unsettled;
  return status == ABUT_SUCCESS ? 0 : fail_with("abut_closest");
}

static int differentiate_batch(bench *b, size_t first, size_t count)
{
  abut_closest_batch batch = batch_of(b, first, count);
  abut_closest_smoothing how = abut_default_closest_smoothing();
  how.method = b->method == LEVEL_2 ? ABUT_CLOSEST_GUMBEL : (abut_closest_method)b->method;
  how.level = b->method == LEVEL_2 ? 2 : 1;
  how.solved = batch.d != NULL;
  const abut_closest_jacobians to = {.p1 = from(b, b->of_p1, first, 36),
                                     .p2 = from(b, b->of_p2, first, 36),
                                     .n = from(b, b->of_n, first, 36),
                                     .d = from(b, b->of_d, first, 12)};
  const abut_status status = abut_closest_jacobian(b->context, &batch, &how, &to);
  return status == ABUT_SUCCESS ? 0 : fail_with("abut_closest_jacobian");
}

static int ask_all(bench *b, int (*ask)(bench *, size_t, size_t))
{
  b->unsettled = 0;
  for (size_t first = 0; first < b->p.pair_count; first += b->batch) {
    const size_t left = b->p.pair_count - first;
    if (ask(b, first, left < b->batch ? left : b->batch)) {
      return 1;
    }
  }
  return 0;
}

static int time_rounds(bench *b)
{
  double wall[ROUNDS], processor[ROUNDS];
  int (*const timed)(bench *, size_t, size_t) = b->method == QUERY ? query_batch
                                                                   : differentiate_batch;
  if (ask_all(b, query_batch) || ask_all(b, timed)) {
    return 1;
  }
  for (size_t i = 0; i < b->rounds; ++i) {
    const double start = seconds_now(), spent = processor_seconds();
    if (ask_all(b, timed)) {
      return 1;
    }
    processor[i] = processor_seconds() - spent;
    wall[i] = seconds_now() - start;
  }
  abut_device_info info = {0};
  if (abut_context_device(b->context, &info) != ABUT_SUCCESS) {
    return fail_with("its device");
  }
  const double each = 1e6 / (double)(b->p.pair_count ? b->p.pair_count : 1);
  const double median = each * median_of(wall, b->rounds);
  printf("{\"device\": \"%s\", \"queries\": %zu, \"least\": %.4f, \"median\": %.4f, "
         "\"processor\": %.4f, \"unsettled\": %zu}\n",
         info.name, (size_t)b->p.pair_count, each * wall[0], median,
         each * median_of(processor, b->rounds), b->unsettled);
  return 0;
}

static int write_all(const bench *b, const char *path)
{
  const size_t count = b->p.pair_count;
  double *answers = malloc(count * ANSWER_WIDTH * sizeof *answers + 1);
  for (size_t i = 0; answers && i < count; ++i) {
    double *row = answers + ANSWER_WIDTH * i;
    row[ANSWER_D] = get(b, b->d, i);
    for (size_t k = 0; k < 3; ++k) {
      row[ANSWER_N + k] = get(b, b->n, 3 * i + k);
      row[ANSWER_P1 + k] = get(b, b->p1, 3 * i + k);
      row[ANSWER_P2 + k] = get(b, b->p2, 3 * i + k);
    }
    row[ANSWER_GAP] = get(b, b->gap, i);
    row[ANSWER_STATUS] = b->status[i];
  }
  const int good = answers && write_answers(path, answers, count);
  free(answers);
  return good ? 0 : fail_with(path);
}

/* Shapes and arrays are freed with the context and the process. */
static int run(bench *b, const char *path, const char *answers)
{
  if (!read_problem(path, &b->p)) {
    fprintf(stderr, "closest_abut: %s is no file of pairs\n", path);
    return 1;
  }
  return make_shapes(b) || take_arrays(b) || time_rounds(b) || (answers && write_all(b, answers));
}

static int open_context(bench *b, const char *device, abut_precision precision)
{
  abut_device_choice choice;
  size_t found = 0;
  abut_context_def def = abut_default_context_def();
  def.precision = precision;
  def.devices = &choice;
  def.device_count = 1;
  if (abut_find_devices(device, &choice, 1, &found) != ABUT_SUCCESS ||
      abut_create_context(&def, &b->context) != ABUT_SUCCESS) {
    return fail_with(device);
  }
  return 0;
}

int main(int argc, char **argv)
{
  bench b = {.batch = 10000, .rounds = 20, .method = QUERY};
  const char *device = "pocl", *answers = NULL;
  abut_precision precision = ABUT_FLOAT32;
  for (int o = getopt(argc, argv, "d:p:b:r:o:j:"); o != -1;
       o = getopt(argc, argv, "d:p:b:r:o:j:")) {
    switch (o) {
    case 'd':
      device = optarg;
      break;
    case 'p':
      precision = strcmp(optarg, "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
      break;
    case 'b':
      b.batch = strtoul(optarg, NULL, 10);
      break;
    case 'r':
      b.rounds = strtoul(optarg, NULL, 10);
      break;
    case 'o':
      answers = optarg;
      break;
    case 'j':
      b.method = strtol(optarg, NULL, 10);
      break;
    default:
      return 2;
    }
  }
  if (optind + 1 != argc || !b.batch || !b.rounds || b.rounds > ROUNDS) {
    return 2;
  }
  b.real = precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
  if (open_context(&b, device, precision)) {
    return 1;
  }
  const int bad = run(&b, argv[optind], answers);
  return (abut_destroy_context(b.context) != ABUT_SUCCESS) || bad;
}
