/* <abut/mpi.h>, by as many ranks as mpirun starts: test_calls [single|broken]
 *
 * Each rank computes the whole batch by itself, and its sink holds the blocks that it gets to that,
 * bit for bit. `single`: MPI without threads; `broken`: the last rank's device fails, for which
 * broken.c is loaded. */
#include "core/scene.h"

#include <abut/mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 40, ROWS = 9, P = 6, NOT_FINITE = 5, SLOW_ELEMENTS = 1000 };

static int rank, size;
static size_t contacts;
static abut_pair pair;
static double pose1[N][P], pose2[N][P], tangent[N][P];

/* Outputs of any of the calls, of all poses or of a block. */
typedef struct answers {
  double *d, *tangent_d;
  double value[N], g1[N][P], g2[N][P], product[N][P], hessian[N][P][P];
  uint8_t status[N];
} answers;

static answers whole, block_out;
static double *cotangent;

typedef struct job {
  abut_batch batch;
  abut_mpi_source source;
  abut_mpi_sink sink;
  int seen[N];
  bool differs, failed;
  size_t fails_at;   /* a pose; N: none */
  bool refuses_left; /* fails at what comes behind later poses, which others have left */
  uint64_t latest;
  size_t listed, whole_listed; /* entries of lists */
} job;

static abut_status read_block(void *user, uint64_t first, abut_batch *block)
{
  (void)user;
  block->pose1 = pose1[first]; /* they are in memory already */
  block->pose2 = pose2[first];
  return ABUT_SUCCESS;
}

static abut_status write_block(void *user, uint64_t first, const abut_batch *block)
{
  job *j = user;
  const size_t n = block->count;
  const answers *w = &whole, *b = &block_out;
  if ((j->fails_at >= first && j->fails_at < first + n) || (j->refuses_left && first < j->latest)) {
    j->failed = true;
    return abut_set_error(ABUT_ERROR_WRITE, "no room on the disk");
  }
  j->latest = first;
  for (size_t i = 0; i < n; ++i) {
    ++j->seen[first + i];
  }
  j->differs = j->differs || memcmp(b->d, w->d + first * contacts, n * contacts * sizeof *w->d) ||
               memcmp(b->tangent_d, w->tangent_d + first * contacts, n * contacts * sizeof *w->d) ||
               memcmp(b->value, w->value + first, n * sizeof *w->value) ||
               memcmp(b->g1, w->g1[first], n * sizeof *w->g1) ||
               memcmp(b->g2, w->g2[first], n * sizeof *w->g2) ||
               memcmp(b->product, w->product[first], n * sizeof *w->product) ||
               memcmp(b->hessian, w->hessian[first], n * sizeof *w->hessian) ||
               memcmp(b->status, w->status + first, n * sizeof *w->status);
  j->listed += block->compact ? block->compact->count : 0;
  return ABUT_SUCCESS;
}

static abut_batch batch_of(answers *o, size_t rows)
{
  abut_batch b = abut_default_batch();
  b.count = rows;
  b.pose1 = pose1;
  b.pose2 = pose2;
  b.status = o->status;
  return b;
}

static void begin_job(job *j)
{
  *j = (job){.batch = batch_of(&block_out, ROWS), .fails_at = N};
  j->source = (abut_mpi_source){N, read_block, j};
  j->sink = (abut_mpi_sink){write_block, j, false};
  answers *both[] = {&whole, &block_out};
  for (int k = 0; k < 2; ++k) {
    double *d = both[k]->d, *t = both[k]->tangent_d;
    memset(d, 0, N * contacts * sizeof *d);
    memset(t, 0, N * contacts * sizeof *t);
    *both[k] = (answers){.d = d, .tangent_d = t};
  }
}

/* All poses were seen once, by all ranks together, and as each rank has them. */
static void end_job(job *j, const char *name)
{
  int bad[2] = {j->differs, 0}, seen[N];
  uint64_t listed[2] = {j->listed, 0};
  MPI_Allreduce(j->seen, seen, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&listed[0], &listed[1], 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) {
    bad[1] += seen[i] != 1;
  }
  check(!bad[0] && !bad[1], "%s: %s, %d poses that were not seen once", name,
        bad[0] ? "a block differs" : "well", bad[1]);
  check(listed[1] == j->whole_listed, "%s: %zu entries, not %zu", name, (size_t)listed[1],
        j->whole_listed);
}

/* ---- calls ---- */

static void plain(void)
{
  job j;
  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  all.d = whole.d;
  all.reductions.energy = whole.value;
  j.batch.d = block_out.d;
  j.batch.reductions.energy = block_out.value;
  REQUIRE_OK(abut_contacts(pair, &all));
  REQUIRE_OK(abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink));
  CHECK(all.rejected == 1 && j.batch.rejected == 1 && j.batch.count == ROWS &&
        whole.value[0] > 0.0);
  end_job(&j, "contacts");
}

static void gradients(void)
{
  job j;
  const abut_gradients all_g = {whole.g1, whole.g2}, block_g = {block_out.g1, block_out.g2};
  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  REQUIRE_OK(abut_gradient(pair, ABUT_SAME_PAIR, &all, ABUT_REDUCE_ENERGY, &all_g));
  REQUIRE_OK(abut_mpi_gradient(MPI_COMM_WORLD, pair, ABUT_SAME_PAIR, &j.batch, ABUT_REDUCE_ENERGY,
                               &block_g, &j.source, &j.sink));
  CHECK(fabs(whole.g2[0][2]) > 1e-6);
  end_job(&j, "gradient");
}

/* What a call reads beside the poses comes by the source, too. */
static abut_cotangents block_bars;
static abut_pose_tangents block_along;

static abut_status read_more(void *user, uint64_t first, abut_batch *block)
{
  block_bars.d = cotangent + first * contacts;
  block_along.pose2 = tangent[first];
  return read_block(user, first, block);
}

static void products(void)
{
  job j;
  const abut_gradients all_g = {whole.g1, whole.g2}, block_g = {block_out.g1, block_out.g2};
  const abut_gradients all_p = {NULL, whole.product}, block_p = {NULL, block_out.product};
  const abut_pose_tangents along = {NULL, tangent};
  const abut_cotangents bars = {.d = cotangent};

  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  j.source.read = read_more;
  REQUIRE_OK(abut_vjp(pair, ABUT_SAME_PAIR, &all, &bars, &all_g));
  REQUIRE_OK(abut_mpi_vjp(MPI_COMM_WORLD, pair, ABUT_SAME_PAIR, &j.batch, &block_bars, &block_g,
                          &j.source, &j.sink));
  end_job(&j, "vjp");

  begin_job(&j);
  j.source.read = read_more;
  all = batch_of(&whole, N);
  REQUIRE_OK(abut_jvp(pair, ABUT_SAME_PAIR, &all, &along, &(abut_tangents){.d = whole.tangent_d}));
  REQUIRE_OK(abut_mpi_jvp(MPI_COMM_WORLD, pair, ABUT_SAME_PAIR, &j.batch, &block_along,
                          &(abut_tangents){.d = block_out.tangent_d}, &j.source, &j.sink));
  end_job(&j, "jvp");

  begin_job(&j);
  j.source.read = read_more;
  all = batch_of(&whole, N);
  REQUIRE_OK(abut_hessian_product(pair, &all, ABUT_REDUCE_ENERGY, &along, &all_g, &all_p));
  REQUIRE_OK(abut_mpi_hessian_product(MPI_COMM_WORLD, pair, &j.batch, ABUT_REDUCE_ENERGY,
                                      &block_along, &block_g, &block_p, &j.source, &j.sink));
  end_job(&j, "hessian product");
}

static void matrices(void)
{
  job j;
  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  REQUIRE_OK(abut_hessian(pair, &all, ABUT_REDUCE_ENERGY, ABUT_BODY_2, NULL, whole.hessian));
  REQUIRE_OK(abut_mpi_hessian(MPI_COMM_WORLD, pair, &j.batch, ABUT_REDUCE_ENERGY, ABUT_BODY_2, NULL,
                              block_out.hessian, &j.source, &j.sink));
  end_job(&j, "hessian");

  abut_compact all_list = {.threshold = 0.5, .grows = true}, list = all_list;
  begin_job(&j);
  all = batch_of(&whole, N);
  all.compact = &all_list;
  j.batch.compact = &list;
  REQUIRE_OK(abut_jacobian(pair, ABUT_SAME_PAIR, &all, NULL));
  REQUIRE_OK(
    abut_mpi_jacobian(MPI_COMM_WORLD, pair, ABUT_SAME_PAIR, &j.batch, NULL, &j.source, &j.sink));
  j.whole_listed = all_list.count;
  CHECK(all_list.count > N / 4);
  end_job(&j, "jacobian");
  abut_free_compact(&all_list);
  abut_free_compact(&list);
}

/* ---- sharing anything ---- */

typedef struct sharing {
  uint64_t done, most;
  bool slow;
} sharing;

static abut_status work(void *user, uint64_t first, size_t count)
{
  sharing *s = user;
  s->most = count > s->most ? count : s->most;
  s->done += count;
  if (s->slow) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  return first + count <= SLOW_ELEMENTS ? ABUT_SUCCESS : ABUT_ERROR_ARGUMENT;
}

/* A slow rank leaves its part to the others, be it the first or the last. */
static void shared(int slow)
{
  sharing s = {.slow = size > 1 && rank == slow};
  uint64_t sum = 0, by_slow;
  REQUIRE_OK(abut_mpi_share(MPI_COMM_WORLD, SLOW_ELEMENTS, 7, work, &s));
  MPI_Allreduce(&s.done, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  by_slow = s.done;
  MPI_Bcast(&by_slow, 1, MPI_UINT64_T, slow, MPI_COMM_WORLD);
  CHECK(sum == SLOW_ELEMENTS && s.most <= 7);
  check(size == 1 || 4 * by_slow < SLOW_ELEMENTS, "the slow rank %d did %d of %d", slow,
        (int)by_slow, SLOW_ELEMENTS);
}

static void few(void)
{
  for (uint64_t n = 0; n < 4; ++n) {
    sharing s = {0};
    uint64_t sum = 0;
    REQUIRE_OK(abut_mpi_share(MPI_COMM_WORLD, n, 1, work, &s));
    MPI_Allreduce(&s.done, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, n);
  }
}

/* Each half of the ranks does a batch of its own at once. */
static void halves(void)
{
  MPI_Comm half;
  job j;
  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  all.d = whole.d;
  j.batch.d = block_out.d;
  REQUIRE_OK(abut_contacts(pair, &all));
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  CHECK_OK(abut_mpi_contacts(half, pair, &j.batch, &j.source, &j.sink));
  int sum[N] = {0}, wrong = 0;
  MPI_Allreduce(j.seen, sum, N, MPI_INT, MPI_SUM, half);
  for (int i = 0; i < N; ++i) {
    wrong += sum[i] != 1;
  }
  CHECK(wrong == 0 && !j.differs);
  MPI_Comm_free(&half);
}

/* ---- failures ---- */

/* All ranks have the same status, and the text of the rank that says it is the one. */
static void expect(abut_status status, abut_status wanted, bool own, const char *text)
{
  char first[256] = "";
  int said = -1, owns = own, all = 0;
  snprintf(first, sizeof first, "%s", abut_last_error());
  const char *behind = strstr(first, ": ");
  CHECK_EQUAL(status, wanted);
  check(sscanf(first, "rank %d: ", &said) == 1 && behind && strstr(behind, text),
        "%s is not said of a rank: %s", text, first);
  CHECK(!own || said <= rank); /* of several that failed the first one speaks */
  MPI_Allreduce(&owns, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all >= 1);
}

static abut_status read_nothing(void *user, uint64_t first, abut_batch *block)
{
  (void)user;
  (void)first;
  (void)block;
  return 7;
}

static bool stop(size_t done, size_t total, void *user)
{
  (void)done;
  job *j = user;
  j->failed = true;
  return total != N; /* of all poses, not of a block */
}

/* Sources and sinks call abut with a copy of their block, whose progress and user are the
 * caller's. */
typedef struct watched {
  job j;
  size_t own, of_batch; /* what a callback computes, and the batch */
  bool foreign;         /* the block had another progress or user */
  int first_reads;      /* of pose 0 */
} watched;

static bool watch(size_t done, size_t total, void *user)
{
  watched *w = user;
  (void)done;
  w->of_batch += total == N;
  w->own += total == 1;
  return true;
}

static abut_status compute_one(watched *w, const abut_batch *block)
{
  double energy;
  abut_batch one = *block;
  w->foreign = w->foreign || block->progress != watch || block->user != w;
  if (w->foreign) {
    return ABUT_SUCCESS;
  }
  one.count = 1;
  one.d = NULL; /* the block's results are not written over */
  one.status = NULL;
  one.reductions.energy = &energy;
  return abut_contacts(pair, &one);
}

static abut_status read_and_watch(void *user, uint64_t first, abut_batch *block)
{
  watched *w = user;
  w->first_reads += first == 0;
  read_block(user, first, block);
  return compute_one(w, block);
}

static abut_status watch_and_write(void *user, uint64_t first, const abut_batch *block)
{
  watched *w = user;
  const abut_status status = compute_one(w, block);
  return status ? status : write_block(&w->j, first, block);
}

static void callbacks(void)
{
  watched w = {.own = 0};
  begin_job(&w.j);
  abut_batch all = batch_of(&whole, N);
  all.d = whole.d;
  w.j.batch.d = block_out.d;
  w.j.batch.progress = watch;
  w.j.batch.user = &w;
  w.j.source = (abut_mpi_source){N, read_and_watch, &w};
  w.j.sink = (abut_mpi_sink){watch_and_write, &w, false};
  REQUIRE_OK(abut_contacts(pair, &all));
  REQUIRE_OK(abut_mpi_contacts(MPI_COMM_WORLD, pair, &w.j.batch, &w.j.source, &w.j.sink));
  int seen = 0, reads = 0;
  MPI_Allreduce(&w.first_reads, &reads, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(reads, 1); /* nothing is computed beside the batch */
  for (int i = 0; i < N; ++i) {
    seen += w.j.seen[i];
  }
  check(!w.foreign, "a callback was given another progress or user than the caller's");
  CHECK(w.j.batch.progress == watch && w.j.batch.user == &w);
  check(!seen || (w.own && w.of_batch),
        "progress was called %zu times of a callback's own call, %zu of the batch", w.own,
        w.of_batch);
  end_job(&w.j, "callbacks");
}

static void failures(void)
{
  job j;
  begin_job(&j);
  j.fails_at = N / 2;
  j.differs = false;
  abut_status status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  expect(status, ABUT_ERROR_WRITE, j.failed, "no room on the disk");

  begin_job(&j);
  j.source.read = read_nothing;
  status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  expect(status, 7, rank == 0, "the source returned status 7 for elements 0 to before 1");

  begin_job(&j);
  j.batch.progress = stop;
  j.batch.user = &j;
  status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  expect(status, ABUT_ERROR_CANCELLED, j.failed, "");

  begin_job(&j);
  status =
    abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, rank == size - 1 ? NULL : &j.source, &j.sink);
  expect(status, ABUT_ERROR_ARGUMENT, rank == size - 1,
         ": the source, the sink or the work is NULL");

  begin_job(&j);
  j.batch.count = 0;
  status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  expect(status, ABUT_ERROR_ARGUMENT, rank == 0, "in blocks of at most 0");

  status = abut_mpi_agree(MPI_COMM_WORLD, rank == size - 1
                                            ? abut_set_error(ABUT_ERROR_READ, "no such file")
                                            : ABUT_SUCCESS);
  expect(status, ABUT_ERROR_READ, rank == size - 1, "no such file");
  CHECK_EQUAL(abut_mpi_agree(MPI_COMM_WORLD, ABUT_SUCCESS), ABUT_SUCCESS);
  CHECK_EQUAL(abut_mpi_share(MPI_COMM_NULL, 1, 1, work, NULL), ABUT_ERROR_ARGUMENT);
}

/* Ranks whose lists are too short fail while they compute. The others wait for each to have been
 * given a block. */
static abut_status read_slowly(void *user, uint64_t first, abut_batch *block)
{
  nanosleep(&(struct timespec){0, 5000000}, NULL);
  return read_block(user, first, block);
}

static abut_status lists_of(job *j, bool short_here, bool lasts, bool refuses_left)
{
  /* of every pose that is finite */
  abut_compact all_list = {.threshold = 1e-9, .grows = true}, list = all_list;
  begin_job(j);
  abut_batch all = batch_of(&whole, N);
  all.compact = &all_list;
  REQUIRE_OK(abut_contacts(pair, &all));
  j->whole_listed = all_list.count;
  if (short_here) {
    list = (abut_compact){.threshold = 1e-9};
  } else {
    j->source.read = read_slowly;
  }
  j->batch.compact = &list;
  j->sink.lasts = lasts;
  j->refuses_left = refuses_left;
  const abut_status status =
    abut_mpi_contacts(MPI_COMM_WORLD, pair, &j->batch, &j->source, &j->sink);
  abut_free_compact(&all_list);
  abut_free_compact(&list);
  return status;
}

/* A rank that cannot compute leaves its blocks to the others, be it rank 0, which hands them out,
 * or the last one. */
static void left_to_others(void)
{
  job j;
  const bool last = rank == size - 1;
  if (size == 1) {
    CHECK_EQUAL(lists_of(&j, true, true, false), ABUT_ERROR_OVERFLOW);
    return;
  }
  const abut_status status = lists_of(&j, last, true, false);
  CHECK_EQUAL(status, last ? ABUT_ERROR_OVERFLOW : ABUT_SUCCESS);
  if (last) {
    int said = -1;
    check(sscanf(abut_last_error(), "rank %d: ", &said) == 1 && said == rank, "%s",
          abut_last_error());
    for (int i = 0; i < N; ++i) {
      CHECK(i == NOT_FINITE || !j.seen[i]);
    }
  }
  CHECK_EQUAL(j.batch.rejected, 1);
  end_job(&j, "left to others");
  expect(lists_of(&j, last, false, false), ABUT_ERROR_OVERFLOW, last, "");
  expect(lists_of(&j, true, true, false), ABUT_ERROR_OVERFLOW, true, "");
  const abut_status late = lists_of(&j, last, true, true);
  /* what fails by others, too, ends all */
  expect(late, ABUT_ERROR_WRITE, j.failed, "no room on the disk");
}

/* A device that fails, without another one in its context. */
static void broken(void)
{
  job j;
  const bool last = rank == size - 1;
  begin_job(&j);
  abut_batch all = batch_of(&whole, N);
  all.d = whole.d;
  j.batch.d = block_out.d;
  j.sink.lasts = true;
  REQUIRE_OK(abut_contacts(pair, &all));
  if (last) {
    setenv("ABUT_TEST_BROKEN", "yes", 1);
  } else {
    j.source.read = read_slowly;
  }
  const abut_status status = abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  check(last ? status != ABUT_SUCCESS && strstr(abut_last_error(), "rank ")
             : status == ABUT_SUCCESS,
        "status %d: %s", status, abut_last_error());
  end_job(&j, "a device that fails");
}

static void unlike(void)
{
  job j;
  sharing s = {0};
  begin_job(&j);
  j.source.count -= rank == 0;
  CHECK_EQUAL(abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink),
              ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "abut_mpi_contacts: ranks have batches of 39 and of 40 elements");
  begin_job(&j);
  const abut_status status =
    rank == 0 ? abut_mpi_share(MPI_COMM_WORLD, N, 1, work, &s)
              : abut_mpi_contacts(MPI_COMM_WORLD, pair, &j.batch, &j.source, &j.sink);
  CHECK_EQUAL(status, ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "another function") && s.done == 0);
}

static void devices(void)
{
  abut_device_choice choice = {0, 0, 0};
  abut_context_def def = abut_default_context_def();
  abut_context context;
  uint32_t idle = 9999;
  CHECK_OK(abut_mpi_find_device(MPI_COMM_WORLD, &choice, &idle));
  CHECK(idle < 9999);
  def.devices = &choice;
  def.device_count = 1;
  CHECK_OK(abut_create_context(&def, &context));
  CHECK_OK(abut_destroy_context(context));
  CHECK_EQUAL(abut_mpi_find_device(MPI_COMM_WORLD, NULL, &idle), ABUT_ERROR_ARGUMENT);
}

static void texts(void)
{
  static char lengthy[20000];
  memset(lengthy, 'x', sizeof lengthy - 1);
  CHECK_EQUAL(abut_set_error(ABUT_ERROR_READ, lengthy), ABUT_ERROR_READ);
  CHECK_EQUAL(strlen(abut_last_error()), 16383);
  CHECK_EQUAL(abut_set_error(3, "short"), 3);
  CHECK_EQUAL(abut_set_error(4, abut_last_error()), 4);
  CHECK_TEXT(abut_last_error(), "short");
  abut_set_error(ABUT_SUCCESS, NULL);
  CHECK_TEXT(abut_last_error(), "");
}

static void without_threads(void)
{
  sharing s = {0};
  const abut_status status = abut_mpi_share(MPI_COMM_WORLD, 9, 1, work, &s);
  if (size == 1) {
    CHECK(status == ABUT_SUCCESS && s.done == 9);
  } else {
    expect(status, ABUT_ERROR_ARGUMENT, true,
           "needs MPI_THREAD_SERIALIZED: call MPI_Init_thread, not MPI_Init");
  }
}

static void make_inputs(void)
{
  abut_context context;
  abut_layout layout;
  REQUIRE(test_context(ABUT_FLOAT64, &context));
  REQUIRE_OK(make_cubes(context, &pair));
  REQUIRE_OK(abut_get_layout(pair, &layout));
  contacts = layout.contacts;
  srand(3);
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < P; ++k) {
      pose2[i][k] = 0.1 * rand() / RAND_MAX + (k == 2 ? 0.9 : 0.0);
      tangent[i][k] = (double)rand() / RAND_MAX;
    }
  }
  pose2[NOT_FINITE][1] = NAN;
  double **made[] = {&whole.d, &whole.tangent_d, &block_out.d, &block_out.tangent_d, &cotangent};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i) {
    *made[i] = calloc(N * contacts, sizeof(double));
    REQUIRE(*made[i] != NULL);
  }
  for (size_t i = 0; i < N * contacts; ++i) {
    cotangent[i] = (double)rand() / RAND_MAX;
  }
}

int main(int argc, char **argv)
{
  int level = MPI_THREAD_SINGLE;
  uint32_t device;
  const bool single = argc > 1 && strcmp(argv[1], "single") == 0;
  CHECK_EQUAL(abut_mpi_agree(MPI_COMM_WORLD, ABUT_SUCCESS), ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "MPI has not been started"));
  if (single) {
    MPI_Init(&argc, &argv);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && !single && abut_find_device("pocl", &device) != ABUT_SUCCESS) {
    printf("skipped: %s\n", abut_last_error());
    MPI_Finalize();
    return 77;
  }
  if (single) {
    without_threads();
  } else if (argc > 1) {
    make_inputs();
    broken();
  } else {
    make_inputs();
    plain();
    gradients();
    products();
    matrices();
    shared(0);
    shared(size - 1);
    few();
    halves();
    callbacks();
    failures();
    left_to_others();
    if (size > 1) {
      unlike();
    }
    devices();
    texts();
  }
  const int good = check_finish() == 0;
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return !all;
}
