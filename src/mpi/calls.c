/* libabut_mpi: see abut/mpi.h. */
#include "mpi/own_device.h"
#include "mpi/shares.h"
#include "mpi/team.h"

#include <abut/abut.h>
#include <abut/mpi.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 4096
/* Bound on numbers that ranks compare, because MPICH 4.0 treats them as signed. */
#define NUMBER_MOST ((uint64_t)INT64_MAX)

__attribute__((format(printf, 2, 3))) static abut_status fail(abut_status status,
                                                              const char *format, ...)
{
  char text[TEXT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return abut_set_error(status, text);
}

static double now(void)
{
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- agreement between ranks ---- */

/* Gives all ranks the failure status and text of the first rank that failed, else ABUT_SUCCESS. */
static abut_status agree(mpi_team *team, abut_status status)
{
  struct {
    int64_t status;
    char text[TEXT_BYTES];
  } said = {0};
  uint64_t failed = status == ABUT_SUCCESS ? NUMBER_MOST : (uint64_t)team_rank(team);
  team_least(team, &failed, 1);
  if (failed == NUMBER_MOST) {
    return ABUT_SUCCESS;
  }
  if (failed == (uint64_t)team_rank(team)) {
    said.status = status;
    snprintf(said.text, sizeof said.text, "rank %d: %.*s", team_rank(team), TEXT_BYTES - 32,
             abut_last_error());
  }
  team_broadcast(team, (int)failed, &said, sizeof said);
  return abut_set_error((abut_status)said.status, said.text);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *text; ++text) {
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  }
  return hash & NUMBER_MOST;
}

/* All ranks get the same result, so the error need not name a rank. */
static abut_status check_alike(mpi_team *team, uint64_t count, const char *function)
{
  const uint64_t own[3] = {hash_of(abut_version()), hash_of(function), count};
  uint64_t ends[6];
  for (int i = 0; i < 3; ++i) {
    ends[2 * i] = own[i];
    ends[2 * i + 1] = NUMBER_MOST - own[i];
  }
  team_least(team, ends, 6);
  if (ends[0] != NUMBER_MOST - ends[1]) {
    return fail(ABUT_ERROR_ARGUMENT, "the ranks run different versions of abut; this rank has %s",
                abut_version());
  }
  if (ends[2] != NUMBER_MOST - ends[3]) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: other ranks called another function", function);
  }
  if (ends[4] != NUMBER_MOST - ends[5]) {
    return fail(ABUT_ERROR_ARGUMENT,
                "%s: the ranks have batches of different sizes, from %" PRIu64 " to %" PRIu64
                " elements",
                function, ends[4], NUMBER_MOST - ends[5]);
  }
  return ABUT_SUCCESS;
}

/* ---- distribution ---- */

/* A batch that is distributed among ranks. */
typedef struct handing {
  const char *function;
  uint64_t count;
  size_t most;
  abut_mpi_work work;
  void *user;
  const bool *leaves; /* whether other ranks may take over the block that `work` has just failed on;
                         NULL: never */
} handing;

/* Consecutive elements of a batch. */
typedef struct piece {
  uint64_t first, count;
} piece;

/* The pieces that one round distributes, numbered consecutively, and the outcome on this rank. */
typedef struct round_of {
  const piece *pieces;
  size_t count;
  bool last;  /* a failure in this round fails the call on all ranks */
  bool known; /* the outcome is already agreed on by all ranks */
  piece left;
} round_of;

static abut_status check_comm(MPI_Comm comm, const char *function)
{
  int started = 0, ended = 0, between = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (!started || ended) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: MPI has %s", function,
                ended ? "ended" : "not been started");
  }
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_test_inter(comm, &between);
  }
  if (comm == MPI_COMM_NULL || between) {
    return fail(ABUT_ERROR_ARGUMENT, "%s needs an intracommunicator (one group of ranks)",
                function);
  }
  return ABUT_SUCCESS;
}

static abut_status check_handing(const mpi_team *team, const handing *h)
{
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (team_size(team) > 1 && level < MPI_THREAD_SERIALIZED) {
    return fail(ABUT_ERROR_ARGUMENT,
                "%s needs MPI_THREAD_SERIALIZED: call MPI_Init_thread, not MPI_Init", h->function);
  }
  if (!h->work) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: the source, the sink or the work is NULL", h->function);
  }
  if (h->count > NUMBER_MOST || (h->count && !h->most)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "%s: %" PRIu64 " elements in blocks of at most %zu are not possible", h->function,
                h->count, h->most);
  }
  return ABUT_SUCCESS;
}

static void answer(void *user, int rank, double asked, uint64_t out[2])
{
  shares_next(user, (size_t)rank, asked, out);
}

/* Adds an error text to the status of a caller's function if the function has set none. */
static abut_status said_of(abut_status status, const char *who, uint64_t first, uint64_t count)
{
  if (status == ABUT_SUCCESS || *abut_last_error()) {
    return status;
  }
  return fail(status, "the %s returned status %d for elements %" PRIu64 " to before %" PRIu64, who,
              status, first, first + count);
}

/* Processes distributed elements, which may span several pieces. */
static abut_status do_stretch(const handing *h, round_of *r, const uint64_t of[2])
{
  const uint64_t end = of[0] + of[1];
  uint64_t at = 0;
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < r->count && status == ABUT_SUCCESS; at += r->pieces[i++].count) {
    const uint64_t behind = at + r->pieces[i].count, first = of[0] > at ? of[0] : at,
                   last = end < behind ? end : behind;
    if (first < last) {
      r->left = (piece){r->pieces[i].first + first - at, last - first};
      abut_set_error(ABUT_SUCCESS, "");
      status = said_of(h->work(h->user, r->left.first, (size_t)r->left.count), "work",
                       r->left.first, r->left.count);
    }
  }
  return status;
}

/* r->left is empty unless this rank leaves elements to the others. */
static abut_status do_blocks(mpi_team *team, const handing *h, round_of *r)
{
  uint64_t of[2];
  double speed = 0.0;
  abut_status status = ABUT_SUCCESS;
  while (status == ABUT_SUCCESS && (team_ask(team, speed, of), of[1])) {
    const double start = now(), least = 1e-9;
    status = do_stretch(h, r, of);
    const double took = now() - start;
    speed = (double)of[1] / (took > least ? took : least);
  }
  const bool leaves = status != ABUT_SUCCESS && !r->last && h->leaves && *h->leaves;
  if (!leaves) {
    r->left = (piece){0, 0};
  }
  if (status != ABUT_SUCCESS && !leaves) { /* the others only finish their current blocks */
    team_ask(team, -1.0, of);
  }
  return status;
}

/* `out`: this rank has failed, takes no work, and only answers requests. */
static abut_status do_round(mpi_team *team, const handing *h, round_of *r, uint64_t most, bool out)
{
  shares s = {0};
  uint64_t total = 0;
  for (size_t i = 0; i < r->count; ++i) {
    total += r->pieces[i].count;
  }
  const bool there = shares_begin(&s, total, most, (size_t)team_size(team));
  abut_status status =
    agree(team, there ? ABUT_SUCCESS
                      : fail(ABUT_ERROR_MEMORY, "not enough memory for %d ranks", team_size(team)));
  if (status == ABUT_SUCCESS) {
    team_asking_begin(team, answer, &s);
    status = out ? ABUT_SUCCESS : do_blocks(team, h, r);
    team_asking_end(team);
  } else {
    r->known = true;
  }
  shares_end(&s);
  return status;
}

/* Distributes what failed ranks have left to the others. A second failure is not specific to a rank
 * and fails the call. */
static abut_status do_left(mpi_team *team, const handing *h, const piece *own, uint64_t most)
{
  const size_t ranks = (size_t)team_size(team);
  piece *all = calloc(ranks, sizeof *all);
  abut_status status =
    agree(team, all ? ABUT_SUCCESS
                    : fail(ABUT_ERROR_MEMORY,
                           "not enough memory for the remaining work of %zu ranks", ranks));
  if (status == ABUT_SUCCESS) {
    all[team_rank(team)] = *own;
    team_sum(team, &all->first, (int)(ranks * sizeof *all / sizeof(uint64_t)));
    round_of r = {.pieces = all, .count = ranks, .last = true};
    status = do_round(team, h, &r, most, own->count != 0);
    status = r.known ? status : agree(team, status);
  }
  free(all);
  return status;
}

/* *done: the batch is complete. All ranks agree on it, although this one may have failed. */
static abut_status do_all(mpi_team *team, const handing *h, uint64_t most, bool *done)
{
  char text[TEXT_BYTES];
  const piece whole = {0, h->count};
  round_of r = {.pieces = &whole, .count = 1};
  const abut_status status = do_round(team, h, &r, most, false);
  if (r.known) {
    *done = false;
    return status;
  }
  uint64_t counts[3] = {status == ABUT_SUCCESS, r.left.count != 0,
                        status != ABUT_SUCCESS && !r.left.count};
  snprintf(text, sizeof text, "rank %d: %.*s", team_rank(team), TEXT_BYTES - 32, abut_last_error());
  team_sum(team, counts, 3);
  if (!counts[0] || !counts[1] || counts[2]) {
    const abut_status all = agree(team, status);
    *done = all == ABUT_SUCCESS;
    return all;
  }
  const abut_status rest = do_left(team, h, &r.left, most);
  *done = rest == ABUT_SUCCESS;
  return rest == ABUT_SUCCESS && status != ABUT_SUCCESS ? abut_set_error(status, text) : rest;
}

static abut_status hand_out(mpi_team *team, const handing *h, bool *done)
{
  uint64_t most = h->most < NUMBER_MOST ? h->most : NUMBER_MOST;
  abut_status status = agree(team, check_handing(team, h));
  status = status ? status : check_alike(team, h->count, h->function);
  *done = status == ABUT_SUCCESS && h->count == 0;
  if (status != ABUT_SUCCESS || h->count == 0) {
    return status;
  }
  team_least(team, &most, 1);
  return do_all(team, h, most, done);
}

abut_status abut_mpi_share(MPI_Comm comm, uint64_t count, size_t most, abut_mpi_work work,
                           void *user)
{
  const handing h = {.function = "abut_mpi_share",
                     .count = count,
                     .most = most,
                     .work = work,
                     .user = user};
  mpi_team team;
  abut_status status = check_comm(comm, h.function);
  if (status == ABUT_SUCCESS) {
    bool done;
    team_begin(&team, comm);
    status = hand_out(&team, &h, &done);
    team_end(&team);
  }
  return status;
}

/* ---- calls of a pair ---- */

typedef enum call_kind {
  CALL_CONTACTS,
  CALL_VJP,
  CALL_JVP,
  CALL_GRADIENT,
  CALL_HESSIAN_PRODUCT,
  CALL_HESSIAN,
  CALL_JACOBIAN
} call_kind;

static const char *const call_names[] = {
  "abut_mpi_contacts",        "abut_mpi_vjp",     "abut_mpi_jvp",     "abut_mpi_gradient",
  "abut_mpi_hessian_product", "abut_mpi_hessian", "abut_mpi_jacobian"};

/* A call's arguments besides the batch. */
typedef struct pair_call {
  call_kind kind;
  abut_pair pair, derivatives;
  abut_reduction reduction;
  abut_moving moving;
  const abut_cotangents *cotangents;
  const abut_pose_tangents *along;
  const abut_tangents *tangents;
  const abut_gradients *gradients, *products;
  void *numbers; /* Hessians or blocks */
} pair_call;

static abut_status compute(const pair_call *c, abut_batch *b)
{
  switch (c->kind) {
  case CALL_CONTACTS:
    return abut_contacts(c->pair, b);
  case CALL_VJP:
    return abut_vjp(c->pair, c->derivatives, b, c->cotangents, c->gradients);
  case CALL_JVP:
    return abut_jvp(c->pair, c->derivatives, b, c->along, c->tangents);
  case CALL_GRADIENT:
    return abut_gradient(c->pair, c->derivatives, b, c->reduction, c->gradients);
  case CALL_HESSIAN_PRODUCT:
    return abut_hessian_product(c->pair, b, c->reduction, c->along, c->gradients, c->products);
  case CALL_HESSIAN:
    return abut_hessian(c->pair, b, c->reduction, c->moving, c->gradients, c->numbers);
  case CALL_JACOBIAN:
    return abut_jacobian(c->pair, c->derivatives, b, c->numbers);
  }
  return fail(ABUT_ERROR_ARGUMENT, "unknown call");
}

/* A call in progress on this rank. */
typedef struct running {
  const pair_call *call;
  const abut_batch *batch;
  const abut_mpi_source *source;
  const abut_mpi_sink *sink;
  uint64_t first, rejected, failures;
  bool leaves; /* the last failure left nothing in the sink, so another rank may repeat the block */
} running;

static bool go_on(size_t done, size_t total, void *user)
{
  const running *r = user;
  (void)total;
  return r->batch->progress((size_t)r->first + done, (size_t)r->source->count, r->batch->user);
}

/* Returns whether an error may be specific to this rank. Cancellation by the caller and wrong
 * arguments, which all ranks share, are not. */
static bool is_own(abut_status status)
{
  return status != ABUT_SUCCESS && status != ABUT_ERROR_CANCELLED &&
         status != ABUT_ERROR_ARGUMENT && status != ABUT_ERROR_HANDLE;
}

/* The source and the sink always receive the caller's progress function and user data, even if they
 * change the block. */
static abut_status read_and_compute(running *r, uint64_t first, size_t count, abut_batch *block)
{
  *block = *r->batch;
  block->count = count;
  r->first = first;
  r->leaves = false;
  abut_set_error(ABUT_SUCCESS, "");
  abut_status status =
    said_of(r->source->read(r->source->user, first, block), "source", first, count);
  if (status == ABUT_SUCCESS) {
    abut_batch computed = *block;
    if (r->batch->progress) {
      computed.progress = go_on;
      computed.user = r;
    }
    status = compute(r->call, &computed);
    r->leaves = r->sink->lasts && is_own(status);
    computed.progress = r->batch->progress;
    computed.user = r->batch->user;
    *block = computed;
  }
  return status;
}

static abut_status do_poses(void *user, uint64_t first, size_t count)
{
  abut_batch block;
  running *r = user;
  const abut_status status = read_and_compute(r, first, count, &block);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  r->rejected += block.rejected;
  r->failures += block.failures;
  abut_set_error(ABUT_SUCCESS, "");
  return said_of(r->sink->write(r->sink->user, first, &block), "sink", first, count);
}

static abut_status run(MPI_Comm comm, const pair_call *c, abut_batch *batch,
                       const abut_mpi_source *source, const abut_mpi_sink *sink)
{
  running r = {.call = c, .batch = batch, .source = source, .sink = sink};
  const bool whole = batch && source && source->read && sink && sink->write;
  const handing h = {.function = call_names[c->kind],
                     .count = source ? source->count : 0,
                     .most = batch ? batch->count : 0,
                     .work = whole ? do_poses : NULL,
                     .user = &r,
                     .leaves = &r.leaves};
  mpi_team team;
  bool done;
  abut_status status = check_comm(comm, h.function);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  team_begin(&team, comm);
  status = hand_out(&team, &h, &done);
  if (done) {
    uint64_t sums[2] = {r.rejected, r.failures};
    team_sum(&team, sums, 2);
    batch->rejected = (size_t)sums[0];
    batch->failures = (size_t)sums[1];
  }
  team_end(&team);
  return status;
}

abut_status abut_mpi_contacts(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                              const abut_mpi_source *source, const abut_mpi_sink *sink)
{
  return run(comm, &(pair_call){.kind = CALL_CONTACTS, .pair = pair}, batch, source, sink);
}

abut_status abut_mpi_vjp(MPI_Comm comm, abut_pair pair, abut_pair derivatives, abut_batch *batch,
                         const abut_cotangents *cotangents, const abut_gradients *gradients,
                         const abut_mpi_source *source, const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_VJP,
                          .pair = pair,
                          .derivatives = derivatives,
                          .cotangents = cotangents,
                          .gradients = gradients},
             batch, source, sink);
}

abut_status abut_mpi_jvp(MPI_Comm comm, abut_pair pair, abut_pair derivatives, abut_batch *batch,
                         const abut_pose_tangents *along, const abut_tangents *tangents,
                         const abut_mpi_source *source, const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_JVP,
                          .pair = pair,
                          .derivatives = derivatives,
                          .along = along,
                          .tangents = tangents},
             batch, source, sink);
}

abut_status abut_mpi_gradient(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                              abut_batch *batch, abut_reduction reduction,
                              const abut_gradients *gradients, const abut_mpi_source *source,
                              const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_GRADIENT,
                          .pair = pair,
                          .derivatives = derivatives,
                          .reduction = reduction,
                          .gradients = gradients},
             batch, source, sink);
}

abut_status abut_mpi_hessian_product(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                                     abut_reduction reduction, const abut_pose_tangents *along,
                                     const abut_gradients *gradients,
                                     const abut_gradients *products, const abut_mpi_source *source,
                                     const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_HESSIAN_PRODUCT,
                          .pair = pair,
                          .reduction = reduction,
                          .along = along,
                          .gradients = gradients,
                          .products = products},
             batch, source, sink);
}

abut_status abut_mpi_hessian(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                             abut_reduction reduction, abut_moving moving,
                             const abut_gradients *gradients, void *hessian,
                             const abut_mpi_source *source, const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_HESSIAN,
                          .pair = pair,
                          .reduction = reduction,
                          .moving = moving,
                          .gradients = gradients,
                          .numbers = hessian},
             batch, source, sink);
}

abut_status abut_mpi_jacobian(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                              abut_batch *batch, void *blocks, const abut_mpi_source *source,
                              const abut_mpi_sink *sink)
{
  return run(comm,
             &(pair_call){.kind = CALL_JACOBIAN,
                          .pair = pair,
                          .derivatives = derivatives,
                          .numbers = blocks},
             batch, source, sink);
}

/* ---- other calls ---- */

abut_status abut_mpi_agree(MPI_Comm comm, abut_status status)
{
  mpi_team team;
  const abut_status good = check_comm(comm, "abut_mpi_agree");
  if (good != ABUT_SUCCESS) {
    return good;
  }
  team_begin(&team, comm);
  status = agree(&team, status);
  team_end(&team);
  return status;
}

abut_status abut_mpi_find_device(MPI_Comm comm, abut_device_choice *choice, uint32_t *idle)
{
  own_device own = {0};
  mpi_team team;
  abut_status status = check_comm(comm, "abut_mpi_find_device");
  if (status != ABUT_SUCCESS) {
    return status;
  }
  team_begin(&team, comm);
  status = choice
             ? find_own_device((size_t)team_node_rank(&team), (size_t)team_node_size(&team), &own)
             : fail(ABUT_ERROR_ARGUMENT, "abut_mpi_find_device: the output pointer is NULL");
  status = agree(&team, status);
  team_end(&team);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  *choice = own.choice;
  if (idle) {
    *idle = own.idle;
  }
  return ABUT_SUCCESS;
}
