/* Times queries of collision in time by abut, or two meshes between two poses, a batch in one call.
 *
 *   ccd_abut [-d DEVICE] [-p f32|f64] [-r ROUNDS] [-b BATCH] [-s KEEP] [-e ERROR] [-i ITERATIONS]
 *            [-S SEPARATION] [-lagjmq] [-o ANSWERS] PROBLEM
 *
 * PROBLEM and ANSWERS are files of ccd_problem.h. Rows that follow each other and are of one kind
 * are one call, of at most BATCH rows, a million unless told; 20 rounds over all of them, after one
 * that warms up, from host arrays to toi and status in host arrays.
 *
 *   -s  the share of the first distance that is kept, 0        -S  what counts as a touch, 0
 *   -e  the inputs' relative error in units of 2^-53, or 2^-24 in float32; 0
 *   -l  in float32, also what float leaves of the coordinates  -q  no second stage
 *   -a  the additive method        -g  derivatives, too        -i  of each stage, 32
 *   -m  the meshes between their poses, of which each body is one, each vertex straight; -j on arcs
 *
 * Prints JSON, in microseconds a row: "least" and "median" of the rounds, "processor" their median
 * of all threads' processor time; how many rows are undecided and the device. For one core, bind
 * the process to one and set POCL_MAX_PTHREAD_COUNT=1. */
#define _POSIX_C_SOURCE 200809L
#include <abut/ccd.h>
#include <abut/device.h>
#include <math.h>
#include <unistd.h>

#include "ccd_problem.h"

enum { ROUNDS = 1000, VERTICES = 4, TWISTS = 12 };

typedef struct bench {
  abut_context context;
  abut_ccd_mesh mesh;
  problem p;
  size_t real, batch, rounds, undecided, count; /* rows of what is timed */
  double keep, separation, units;
  uint32_t iterations_most;
  bool lows, additive, gradient, plain, meshes, arcs;
  void *x0, *x1, *x0_low, *x1_low, *poses[4];
  void *toi, *d0, *by0, *by1;
  uint8_t *status;
  uint32_t *iterations, *candidates;
} bench;

static int fail_with(const char *what)
{
  fprintf(stderr, "ccd_abut: %s: %s\n", what, abut_last_error());
  return 1;
}

/* Reals of the context's precision, and what these leave. */
static void *reals_of(const bench *b, const double *numbers, size_t count, void *low)
{
  void *array = malloc(count * b->real + 1);
  for (size_t i = 0; array && i < count; ++i) {
    if (b->real == sizeof(double)) {
      ((double *)array)[i] = numbers[i];
      continue;
    }
    const float rounded = (float)numbers[i];
    ((float *)array)[i] = rounded;
    ((float *)low)[i] = (float)(numbers[i] - (double)rounded);
  }
  return array;
}

static double get(const bench *b, const void *array, size_t at)
{
  return b->real == sizeof(double) ? ((const double *)array)[at]
                                   : (double)((const float *)array)[at];
}

static int take_inputs(bench *b)
{
  const size_t reals = QUERY_REALS * b->p.query_count, posed = POSE_REALS * b->p.row_count;
  b->x0_low = calloc(reals + 1, b->real);
  b->x1_low = calloc(reals + 1, b->real);
  void *unused = calloc(posed + 1, b->real);
  if (!b->x0_low || !b->x1_low || !unused) {
    return fail_with("no memory");
  }
  b->x0 = reals_of(b, b->p.x0, reals, b->x0_low);
  b->x1 = reals_of(b, b->p.x1, reals, b->x1_low);
  int good = b->x0 && b->x1;
  for (size_t k = 0; k < 4; ++k) {
    b->poses[k] = reals_of(b, b->p.poses[k], posed, unused);
    good = good && b->poses[k];
  }
  free(unused);
  return good ? 0 : fail_with("no memory");
}

static int take_outputs(bench *b)
{
  const size_t count = b->count, width = b->meshes ? TWISTS : QUERY_REALS;
  b->toi = calloc(count + 1, b->real);
  b->d0 = calloc(count + 1, b->real);
  b->by0 = calloc(width * count + 1, b->real);
  b->by1 = calloc(width * count + 1, b->real);
  b->status = calloc(count + 1, 1);
  b->iterations = calloc(2 * count + 1, sizeof *b->iterations);
  b->candidates = calloc(count + 1, sizeof *b->candidates);
  const int good = b->toi && b->d0 && b->by0 && b->by1 && b->status && b->iterations &&
                   b->candidates;
  return good ? 0 : fail_with("no memory");
}

static int make_mesh(bench *b)
{
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = b->p.vertices;
  def.vertex_count = b->p.vertex_count;
  def.face_indices = b->p.faces;
  def.face_count = b->p.face_count;
  return abut_create_ccd_mesh(b->context, &def, &b->mesh) == ABUT_SUCCESS ? 0
                                                                          : fail_with("the mesh");
}

static void *from(const bench *b, void *array, size_t first, size_t width)
{
  return (char *)array + first * width * b->real;
}

static double relative_error(const bench *b)
{
  if (b->lows) {
    return ldexp(b->units, -48);
  }
  return ldexp(b->units, b->real == sizeof(double) ? -53 : -24);
}

/* `all` asks for iterations and d0, too. */
static int ask_queries(bench *b, size_t first, size_t count, bool all)
{
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = (abut_ccd_kind)b->p.kind[first];
  q.count = count;
  q.x0 = from(b, b->x0, first, QUERY_REALS);
  q.x1 = from(b, b->x1, first, QUERY_REALS);
  q.x0_low = b->lows ? from(b, b->x0_low, first, QUERY_REALS) : NULL;
  q.x1_low = b->lows ? from(b, b->x1_low, first, QUERY_REALS) : NULL;
  q.separation = b->separation;
  q.keep = b->keep;
  q.relative_error = relative_error(b);
  q.method = b->additive ? ABUT_CCD_ADDITIVE : ABUT_CCD_CERTIFIED;
  q.iterations_most = b->iterations_most;
  q.plain = b->plain;
  q.toi = from(b, b->toi, first, 1);
  q.status = b->status + first;
  q.d0 = all ? from(b, b->d0, first, 1) : NULL;
  q.iterations = all ? b->iterations + 2 * first : NULL;
  const abut_status done =
    b->gradient ? abut_ccd_queries_gradient(b->context, &q, from(b, b->by0, first, QUERY_REALS),
                                            from(b, b->by1, first, QUERY_REALS))
                : abut_run_ccd_queries(b->context, &q);
  b->undecided += q.undecided;
  return done == ABUT_SUCCESS ? 0 : fail_with("queries");
}

static int ask_meshes(bench *b, size_t first, size_t count, bool all)
{
  abut_ccd_batch q = abut_default_ccd_batch();
  q.count = count;
  q.poses = ABUT_POSE_QUATERNION;
  q.from1 = from(b, b->poses[0], first, POSE_REALS);
  q.to1 = from(b, b->poses[1], first, POSE_REALS);
  q.from2 = from(b, b->poses[2], first, POSE_REALS);
  q.to2 = from(b, b->poses[3], first, POSE_REALS);
  q.motion = b->arcs ? ABUT_CCD_ARC : ABUT_CCD_LINEAR;
  q.separation = b->separation;
  q.keep = b->keep;
  q.iterations_most = b->iterations_most;
  q.toi = from(b, b->toi, first, 1);
  q.status = b->status + first;
  q.candidates = all ? b->candidates + first : NULL;
  const abut_ccd_gradients g = {.by1 = from(b, b->by0, first, TWISTS),
                                .by2 = from(b, b->by1, first, TWISTS)};
  const abut_status done = b->gradient ? abut_ccd_gradient(b->mesh, b->mesh, &q, &g)
                                       : abut_ccd(b->mesh, b->mesh, &q);
  b->undecided += q.undecided;
  return done == ABUT_SUCCESS ? 0 : fail_with("meshes");
}

/* How many rows from `first` on are one call. */
static size_t rows_from(const bench *b, size_t first)
{
  size_t end = first + 1;
  while (end < b->count && end - first < b->batch &&
         (b->meshes || b->p.kind[end] == b->p.kind[first])) {
    ++end;
  }
  return end - first;
}

static int ask_all(bench *b, bool all)
{
  b->undecided = 0;
  for (size_t first = 0, rows; first < b->count; first += rows) {
    rows = rows_from(b, first);
    if (b->meshes ? ask_meshes(b, first, rows, all) : ask_queries(b, first, rows, all)) {
      return 1;
    }
  }
  return 0;
}

static int time_rounds(bench *b)
{
  double wall[ROUNDS], processor[ROUNDS];
  abut_device_info info = {0};
  if (ask_all(b, true) || ask_all(b, false) ||
      abut_context_device(b->context, &info) != ABUT_SUCCESS) {
    return 1;
  }
  for (size_t i = 0; i < b->rounds; ++i) {
    const double start = seconds_now(), spent = processor_seconds();
    if (ask_all(b, false)) {
      return 1;
    }
    processor[i] = processor_seconds() - spent;
    wall[i] = seconds_now() - start;
  }
  const double each = 1e6 / (double)(b->count ? b->count : 1);
  const double median = each * median_of(wall, b->rounds);
  printf("{\"device\": \"%s\", \"rows\": %zu, \"least\": %.5g, \"median\": %.5g, "
         "\"processor\": %.5g, \"undecided\": %zu}\n",
         info.name, b->count, each * wall[0], median, each * median_of(processor, b->rounds),
         b->undecided);
  return 0;
}

static int write_all(const bench *b, const char *path)
{
  double *answers = calloc(b->count * ANSWER_WIDTH + 1, sizeof *answers);
  for (size_t i = 0; answers && i < b->count; ++i) {
    double *row = answers + ANSWER_WIDTH * i;
    row[ANSWER_TOI] = get(b, b->toi, i);
    row[ANSWER_STATUS] = b->status[i];
    row[ANSWER_D0] = get(b, b->d0, i);
    row[ANSWER_FIRST] = b->iterations[2 * i];
    row[ANSWER_SECOND] = b->meshes ? b->candidates[i] : b->iterations[2 * i + 1];
  }
  const int good = answers && write_answers(path, answers, b->count);
  free(answers);
  return good ? 0 : fail_with(path);
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

/* Arrays are freed with the process. */
static int run(bench *b, const char *path, const char *answers)
{
  if (!read_problem(path, &b->p)) {
    fprintf(stderr, "ccd_abut: %s is no file of questions\n", path);
    return 1;
  }
  b->count = b->meshes ? b->p.row_count : b->p.query_count;
  return (b->meshes && make_mesh(b)) || take_inputs(b) || take_outputs(b) || time_rounds(b) ||
         (answers && write_all(b, answers));
}

static bool take_flag(bench *b, int letter)
{
  switch (letter) {
  case 'l':
    return b->lows = true;
  case 'a':
    return b->additive = true;
  case 'g':
    return b->gradient = true;
  case 'q':
    return b->plain = true;
  case 'j':
    b->arcs = true;
    return b->meshes = true;
  case 'm':
    return b->meshes = true;
  default:
    return false;
  }
}

static bool take_number(bench *b, int letter, const char *number)
{
  switch (letter) {
  case 'r':
    b->rounds = strtoul(number, NULL, 10);
    return true;
  case 'b':
    b->batch = strtoul(number, NULL, 10);
    return true;
  case 'i':
    b->iterations_most = (uint32_t)strtoul(number, NULL, 10);
    return true;
  case 's':
    b->keep = strtod(number, NULL);
    return true;
  case 'S':
    b->separation = strtod(number, NULL);
    return true;
  case 'e':
    b->units = strtod(number, NULL);
    return true;
  default:
    return false;
  }
}

int main(int argc, char **argv)
{
  bench b = {.batch = 1000000, .rounds = 20};
  const char *device = "pocl", *answers = NULL;
  abut_precision precision = ABUT_FLOAT32;
  for (int o = getopt(argc, argv, "d:p:b:r:s:S:e:i:o:lagjmq"); o != -1;
       o = getopt(argc, argv, "d:p:b:r:s:S:e:i:o:lagjmq")) {
    if (o == 'd') {
      device = optarg;
    } else if (o == 'o') {
      answers = optarg;
    } else if (o == 'p') {
      precision = strcmp(optarg, "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
    } else if (!take_flag(&b, o) && !take_number(&b, o, optarg)) {
      return 2;
    }
  }
  if (optind + 1 != argc || !b.batch || !b.rounds || b.rounds > ROUNDS) {
    return 2;
  }
  b.real = precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
  b.lows = b.lows && precision == ABUT_FLOAT32;
  if (open_context(&b, device, precision)) {
    return 1;
  }
  const int bad = run(&b, argv[optind], answers);
  return (abut_destroy_context(b.context) != ABUT_SUCCESS) || bad;
}
