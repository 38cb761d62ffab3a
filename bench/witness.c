/* Times batched witness points, from host arrays to host arrays: edge pairs and projections onto
 * triangles.
 *
 *   witness [-d DEVICE] [-p f32|f64] [-l LANES] [-w edges,faces,copy] [-n 10000,100000,1000000]
 *           [-t SECONDS] [-s FOLDER]
 *
 * Prints CSV, a line a measurement: what, queries, precision, seconds a query (the median of rounds
 * that alternate between all of -w), the least of them, and the median of the processor time of all
 * threads, which other programs on the machine disturb less. The device goes to stderr. The ends
 * and corners are random in the unit cube, the smoothing is the default one. All arrays are warm:
 * each call comes once before its clock. "copy" is memcpy of 38 bytes a query in float32, 76 in
 * float64, which reads and writes as many bytes as an edge pair: what memory allows. -s writes the
 * queries and answers of the last -n as raw numbers: edges1, edges2, points1, points2, interior,
 * points, triangles, projected. */
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EDGES, FACES, COPY, WHATS };
enum { EDGES1, EDGES2, POINTS1, POINTS2, INTERIOR, POINTS, TRIANGLES, PROJECTED, COPIED, ARRAYS };

#define LIST 16
#define ROUNDS_LEAST 5
#define ROUNDS_MOST 2000

static const char *const whats[WHATS] = {"edges", "faces", "copy"};
static const struct {
  const char *name;
  size_t width;
  int random;
} arrays[ARRAYS] = {{"edges1", 6, 1},    {"edges2", 6, 1},    {"points1", 3, 0},
                    {"points2", 3, 0},   {"interior", 1, 0},  {"points", 3, 1},
                    {"triangles", 9, 1}, {"projected", 3, 0}, {"copied", 10, 0}};

typedef struct bench {
  abut_context context;
  abut_smoothing smoothing;
  abut_precision precision;
  size_t real, queries;
  void *at[ARRAYS];
} bench;

static int fail_with(const char *what)
{
  fprintf(stderr, "witness: %s: %s\n", what, abut_last_error());
  return 1;
}

static double now(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Knuth's 64-bit congruence, its upper bits as a number in [0, 1). */
static double next(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) * 0x1p-24;
}

static int take_arrays(bench *b)
{
  uint64_t state = 1;
  for (int i = 0; i < ARRAYS; ++i) {
    const size_t count = b->queries * arrays[i].width;
    b->at[i] = malloc(count * b->real + 1);
    if (!b->at[i]) {
      return fail_with("no memory");
    }
    memset(b->at[i], 0, count * b->real);
    for (size_t k = 0; k < count && arrays[i].random; ++k) {
      const double x = next(&state);
      if (b->precision == ABUT_FLOAT64) {
        ((double *)b->at[i])[k] = x;
      } else {
        ((float *)b->at[i])[k] = (float)x;
      }
    }
  }
  return 0;
}

static int call(const bench *b, size_t what)
{
  void *const *at = b->at;
  if (what == COPY) {
    memcpy(at[COPIED], at[EDGES1], b->queries * 6 * b->real);
    memcpy((char *)at[COPIED] + b->queries * 6 * b->real, at[TRIANGLES],
           b->queries * 7 / 2 * b->real);
    return 0;
  }
  if (what == FACES) {
    return abut_witness_faces(b->context, &b->smoothing, b->queries, at[POINTS], at[TRIANGLES],
                              at[PROJECTED], NULL, NULL) != ABUT_SUCCESS;
  }
  return abut_witness_edges(b->context, &b->smoothing, b->queries, at[EDGES1], at[EDGES2],
                            at[POINTS1], at[POINTS2], at[INTERIOR]) != ABUT_SUCCESS;
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

static int time_size(const bench *b, const size_t *what, size_t count, double seconds_wanted)
{
  static double seconds[WHATS][ROUNDS_MOST], processor[WHATS][ROUNDS_MOST];
  double total = 0.0;
  size_t rounds = 0;
  while (rounds < ROUNDS_MOST &&
         (rounds <= ROUNDS_LEAST || total < seconds_wanted * (double)count)) {
    for (size_t i = 0; i < count; ++i) {
      const double start = now(CLOCK_MONOTONIC), spent = now(CLOCK_PROCESS_CPUTIME_ID);
      if (call(b, what[i])) {
        return fail_with(whats[what[i]]);
      }
      seconds[i][rounds] = now(CLOCK_MONOTONIC) - start;
      processor[i][rounds] = now(CLOCK_PROCESS_CPUTIME_ID) - spent;
      total += rounds ? seconds[i][rounds] : 0.0;
    }
    ++rounds;
  }
  for (size_t i = 0; i < count; ++i) {
    double *from = seconds[i] + 1; /* the first round warms up */
    const double n = (double)b->queries, wall = median(from, rounds - 1);
    printf("%s,%zu,%s,%.4e,%.4e,%.4e\n", whats[what[i]], b->queries,
           b->precision == ABUT_FLOAT64 ? "f64" : "f32", wall / n, from[0] / n,
           median(processor[i] + 1, rounds - 1) / n);
  }
  fflush(stdout);
  return 0;
}

static int save(const bench *b, const char *folder)
{
  for (int i = 0; i < COPIED; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, arrays[i].name);
    FILE *file = fopen(path, "wb");
    const size_t count = b->queries * arrays[i].width;
    const int bad = !file || fwrite(b->at[i], b->real, count, file) != count;
    if ((file && fclose(file)) || bad) {
      fprintf(stderr, "witness: %s cannot be written\n", path);
      return 1;
    }
  }
  return 0;
}

static int run_size(bench *b, size_t queries, const size_t *what, size_t count, double seconds,
                    const char *folder)
{
  b->queries = queries;
  int bad = take_arrays(b);
  bad = bad || time_size(b, what, count, seconds) || (folder && save(b, folder));
  for (int i = 0; i < ARRAYS; ++i) {
    free(b->at[i]);
    b->at[i] = NULL;
  }
  return bad;
}

/* Words of a list with commas: numbers, or places in `names`. */
static size_t read_list(char *text, const char *const *names, size_t *out)
{
  size_t count = 0;
  for (char *word = strtok(text, ","); word && count < LIST; word = strtok(NULL, ",")) {
    if (!names) {
      out[count++] = strtoul(word, NULL, 10);
    }
    for (size_t i = 0; names && i < WHATS; ++i) {
      if (!strcmp(word, names[i])) {
        out[count++] = i;
      }
    }
  }
  return count;
}

int main(int argc, char **argv)
{
  bench b = {.smoothing = abut_default_smoothing()};
  abut_context_def def = abut_default_context_def();
  const char *device = "pocl", *folder = NULL;
  size_t what[LIST] = {EDGES, FACES, COPY}, count = WHATS, queries[LIST] = {10000, 100000, 1000000},
         sizes = 3;
  double seconds = 1.0;
  for (int o = getopt(argc, argv, "d:p:l:w:n:t:s:k:"); o != -1;
       o = getopt(argc, argv, "d:p:l:w:n:t:s:k:")) {
    switch (o) {
    case 'd':
      device = optarg;
      break;
    case 'p':
      b.precision = strcmp(optarg, "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
      break;
    case 'l':
      def.lanes = (uint32_t)strtoul(optarg, NULL, 10);
      break;
    case 'k':
      def.kernel_directory = optarg;
      break;
    case 'w':
      count = read_list(optarg, whats, what);
      break;
    case 'n':
      sizes = read_list(optarg, NULL, queries);
      break;
    case 't':
      seconds = strtod(optarg, NULL);
      break;
    case 's':
      folder = optarg;
      break;
    default:
      return 2;
    }
  }
  def.precision = b.precision;
  b.real = b.precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
  if (abut_find_device(device, &def.device) || abut_create_context(&def, &b.context)) {
    return fail_with(device);
  }
  abut_device_info info;
  if (abut_context_device(b.context, &info) == ABUT_SUCCESS) {
    fprintf(stderr, "%s, %s %s\n", info.name, info.platform, info.driver);
  }
  printf("what,queries,precision,seconds_per_query,least,processor\n");
  int bad = 0;
  for (size_t i = 0; i < sizes && !bad; ++i) {
    bad = run_size(&b, queries[i], what, count < WHATS ? count : WHATS, seconds,
                   i + 1 == sizes ? folder : NULL);
  }
  return (abut_destroy_context(b.context) != ABUT_SUCCESS) || bad;
}
