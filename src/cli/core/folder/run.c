#include "core/folder/run.h"

#include "core/folder/ranks.h"
#include "core/folder/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default number of poses per block: as many as fit in this memory, up to a bound. */
#define BLOCK_BYTES ((size_t)64 << 20)
#define BLOCK_MOST ((size_t)1 << 18)
/* Assumed number of active contacts per pose, to estimate the length of lists. */
#define ACTIVE_FORESEEN 64

/* Consecutive poses among those that were missing at the start of the distribution, counted in that
 * order. */
typedef struct stretch {
  uint64_t first, count;
} stretch;

/* A block, and the notes before it. */
typedef struct last_block {
  stretch of;
  noted noted, inputs_noted;
} last_block;

typedef struct running {
  const folder_run *run;
  folder folder;
  abut_poses block; /* arrays may point to it */
  uint32_t *counts; /* entries per pose, if there are lists */
  uint32_t *poses;  /* and the pose of each entry */
  progress progress;
  noted noted, inputs_noted;
  uint64_t done; /* poses done by this process */
  trace trace;
  uint64_t before;    /* poses of all ranks that were started before a block */
  last_block last;    /* the last block that was put */
  bool out;           /* this rank failed, and the others do its work */
  size_t input_bytes; /* bytes per pose besides the pose itself */
} running;

exit_code folder_run_open(folder_run *r, const options *o, option_id input)
{
  r->o = o;
  r->input = input;
  CLI_TRY(report_status(abut_open_poses(o->value[input], &r->file, &r->info)));
  warn_empty(o->value[input], r->info.count);
  if (r->info.pairs && !o->value[OPTION_PAIRS]) {
    warn_pairs();
  }
  if (o->value[OPTION_PAIRS] && !r->info.pairs) {
    return report(
      EXIT_INPUT,
      "%s: does not name the pair of each pose: add an array `pair` or a last column `pair`",
      o->value[input]);
  }
  return EXIT_GOOD;
}

void folder_run_worlds(folder_run *r, const options *o, size_t count)
{
  r->o = o;
  r->input = OPTION_STATES;
  r->info = (abut_pose_file_info){.count = count};
}

void folder_run_close(folder_run *r)
{
  abut_close_poses(r->file);
  *r = (folder_run){0};
}

/* ---- size of blocks ---- */

static size_t row_bytes(const folder_array *a)
{
  return a->of == OUTPUT_ONCE ? 0 : a->row_bytes * a->states;
}

/* Chooses blocks small enough to bound memory and the loss by an interruption. */
static exit_code block_poses(const running *w, size_t *block)
{
  const folder_run *r = w->run;
  const size_t width = pose_width(r->info.kind), contacts = r->session->layout.contacts;
  const size_t active = contacts < ACTIVE_FORESEEN ? contacts : ACTIVE_FORESEEN;
  size_t bytes =
    2 * width * (2 * sizeof(double) + real_bytes(r->session->precision)) + w->input_bytes;
  for (size_t i = 0; i < w->folder.count; ++i) {
    const folder_array *a = &w->folder.arrays[i];
    bytes += row_bytes(a) * (a->of == OUTPUT_OF_ENTRIES ? active : 1);
  }
  *block = BLOCK_BYTES / bytes;
  *block = *block < 1 ? 1 : *block > BLOCK_MOST ? BLOCK_MOST : *block;
  return option_whole(r->o, OPTION_BLOCK, 1, UINT32_MAX, block);
}

/* ---- lists ---- */

/* Counts the entries of each pose, and converts their pose numbers to those of the whole batch. */
static exit_code count_entries(running *w, range *block, outputs *l)
{
  const size_t at = outputs_find(l, "compact_pose"), count = (size_t)(block->end - block->first);
  if (at == l->count) {
    return EXIT_GOOD;
  }
  abut_array *a = &l->arrays[at];
  const uint32_t *of = a->data;
  block->entries = a->shape[0];
  free(w->counts);
  free(w->poses);
  w->counts = calloc(count ? count : 1, sizeof *w->counts);
  w->poses = malloc((a->shape[0] ? a->shape[0] : 1) * sizeof *w->poses);
  if (!w->counts || !w->poses) {
    return report(EXIT_RUN, "not enough memory for the counts of %zu poses", count);
  }
  for (size_t i = 0; i < a->shape[0]; ++i) {
    ++w->counts[of[i]];
    w->poses[i] = (uint32_t)(block->first + of[i]);
  }
  a->data = w->poses;
  outputs_add(l, "compact_count", ABUT_ARRAY_UINT32, w->counts, 1, count, 0, 0);
  return EXIT_GOOD;
}

/* ---- blocks ---- */

static exit_code compute(running *w, range *block, outputs *l)
{
  const folder_run *r = w->run;
  const size_t count = (size_t)(block->end - block->first);
  abut_free_poses(&w->block);
  w->block.kind = r->info.kind;
  w->block.count = r->file ? 0 : count;
  if (count && r->file) {
    CLI_TRY(report_status(abut_read_poses(r->file, (size_t)block->first, count, &w->block)));
  }
  if (!r->o->value[OPTION_PAIRS]) { /* a warning was printed once */
    free(w->block.pair);
    w->block.pair = NULL;
  }
  CLI_TRY(r->compute(r->user, &w->block, (size_t)block->first, &w->progress, l));
  return count_entries(w, block, l);
}

/* Adds the statuses of a block to the notes. */
static void add_notes(running *w, range block, const outputs *l)
{
  const size_t status = outputs_find(l, "status");
  if (status < l->count) {
    noted_add(&w->noted, w->run->notes, &l->arrays[status], (size_t)block.first);
  }
  if (l->input_status) {
    const abut_array inputs = {.type = ABUT_ARRAY_UINT8,
                               .shape = {(size_t)(block.end - block.first)},
                               .data = l->input_status};
    noted_add(&w->inputs_noted, w->run->input_notes, &inputs, (size_t)block.first);
  }
}

static exit_code do_block(running *w, range block)
{
  outputs l = {0};
  const double start = now();
  w->progress.earlier = (size_t)w->before;
  CLI_TRY(compute(w, &block, &l));
  const double computed = now();
  CLI_TRY(folder_put(&w->folder, block, &l));
  w->last = (last_block){{w->before, block.end - block.first}, w->noted, w->inputs_noted};
  w->done += w->last.of.count;
  w->before += w->last.of.count;
  add_notes(w, block, &l);
  CLI_TRY(trace_add(&w->trace, TRACE_COMPUTE, start, computed, block));
  return trace_add(&w->trace, TRACE_WRITE, computed, now(), block);
}

static exit_code do_gap(running *w, range gap, size_t block)
{
  for (uint64_t at = gap.first; at < gap.end; at += block) {
    CLI_TRY(do_block(w, (range){at, gap.end - at < block ? gap.end : at + block, 0}));
  }
  return EXIT_GOOD;
}

static exit_code do_gaps(running *w, size_t block)
{
  const ranges *gaps = &w->folder.gaps;
  for (size_t i = 0; i < gaps->count; ++i) {
    CLI_TRY(do_gap(w, gaps->at[i], block));
  }
  const double start = now();
  CLI_TRY(folder_flush(&w->folder));
  return trace_add(&w->trace, TRACE_END, start, now(), (range){0});
}

/* Adds the poses of a stretch, which may span several gaps. */
static exit_code add_stretch(const ranges *gaps, stretch s, ranges *out)
{
  const uint64_t end = s.first + s.count;
  uint64_t at = 0;
  for (size_t i = 0; i < gaps->count && at < end; ++i) {
    const range gap = gaps->at[i];
    const uint64_t length = gap.end - gap.first, first = s.first > at ? s.first - at : 0;
    const uint64_t last = end - at < length ? end - at : length;
    if (first < last) {
      CLI_TRY(ranges_add(out, (range){gap.first + first, gap.first + last, 0}));
    }
    at += length;
  }
  return EXIT_GOOD;
}

static exit_code do_stretch(running *w, stretch s, size_t block)
{
  ranges parts = {0};
  w->before = s.first;
  exit_code code = add_stretch(&w->folder.gaps, s, &parts);
  for (size_t i = 0; i < parts.count && code == EXIT_GOOD; ++i) {
    code = do_gap(w, parts.at[i], block);
  }
  ranges_free(&parts);
  return code;
}

static exit_code ask(running *w, double speed, uint64_t of[2])
{
  const double start = now();
  ranks_take(speed, of);
  return trace_add(&w->trace, TRACE_ASK, start, now(), (range){0});
}

/* The unfinished work of a rank that failed: the rest of its stretch, and the previous block if
 * that did not reach the disk. */
typedef struct left {
  stretch rest, before;
} left;

/* Runs one round, in which each rank takes work as it becomes free. *ended: when this rank had no
 * more to compute. */
static exit_code do_round(running *w, size_t block, left *l, double *ended)
{
  uint64_t of[2] = {0, 0};
  double speed = 0.0;
  exit_code code = EXIT_GOOD;
  CLI_TRY(ranks_handing_begin(ranges_total(&w->folder.gaps), block));
  for (bool more = !w->out; more; more = code == EXIT_GOOD && of[1]) {
    code = ask(w, speed, of);
    l->rest = (stretch){of[0], of[1]};
    if (code == EXIT_GOOD && of[1]) {
      const double start = now();
      code = do_stretch(w, l->rest, block);
      l->rest = (stretch){w->before, of[0] + of[1] - w->before};
      speed = (double)of[1] / (now() - start);
    }
  }
  *ended = now();
  const exit_code flushed = folder_flush(&w->folder);
  if (!w->out && folder_lost_last(&w->folder)) {
    l->before = w->last.of;
    w->done -= w->last.of.count;
    w->noted = w->last.noted;
    w->inputs_noted = w->last.inputs_noted;
  }
  ranks_handing_end();
  return code == EXIT_GOOD ? flushed : code;
}

/* Replaces the gaps by the unfinished work of failed ranks, equally on all ranks. */
static exit_code gather_left(running *w, const left *own)
{
  const size_t count = ranks_count();
  ranges all = {0};
  left *of = calloc(count, sizeof *of);
  exit_code code = ranks_agree(
    of ? EXIT_GOOD
       : report(EXIT_RUN, "not enough memory for the remaining work of %zu ranks", count));
  if (code != EXIT_GOOD) {
    free(of);
    return code;
  }
  of[ranks_own()] = *own;
  ranks_sum(&of->rest.first, (int)(count * sizeof *of / sizeof(uint64_t)));
  for (size_t i = 0; i < count && code == EXIT_GOOD; ++i) {
    code = add_stretch(&w->folder.gaps, of[i].rest, &all);
    code = code == EXIT_GOOD ? add_stretch(&w->folder.gaps, of[i].before, &all) : code;
  }
  free(of);
  ranges_sort(&all);
  ranges_free(&w->folder.gaps);
  w->folder.gaps = all;
  return ranks_agree(code);
}

/* Determines the outcome of a round for all ranks. *again: some ranks failed and others did not,
 * for the first time. A failure in the second round is not specific to a rank. */
static exit_code judge(running *w, exit_code code, size_t *lost, bool *again)
{
  uint64_t counts[2] = {code == EXIT_GOOD && !w->out, code != EXIT_GOOD};
  ranks_sum(counts, 2);
  *again = counts[0] && counts[1] && !*lost;
  if (!*again) {
    return ranks_agree(code);
  }
  *lost = (size_t)counts[1];
  if (code != EXIT_GOOD) {
    report_kept();
    w->out = true;
  }
  return EXIT_GOOD;
}

/* Runs a second round, in which the other ranks do the unfinished work of failed ranks. */
static exit_code do_handed(running *w, size_t block)
{
  bool again = true;
  size_t lost = 0;
  double ended = 0.0;
  trace_begin(&w->trace, w->run->o);
  while (again) {
    left l = {.rest = {0, 0}};
    const exit_code code = do_round(w, block, &l, &ended);
    CLI_TRY(judge(w, code, &lost, &again));
    CLI_TRY(again ? gather_left(w, &l) : EXIT_GOOD);
  }
  if (lost) {
    warn("%zu of %zu ranks failed; the other ranks did their work", lost, ranks_count());
  }
  return trace_add(&w->trace, TRACE_END, ended, now(), (range){0});
}

static exit_code do_part(running *w)
{
  size_t block = 0;
  CLI_TRY(ranks_agree(block_poses(w, &block)));
  w->progress = progress_begin(w->run->o, w->run->what);
  w->progress.contacts = w->run->session->layout.contacts;
  w->progress.of_all = (size_t)ranges_total(&w->folder.gaps);
  if (!ranks_started()) {
    trace_begin(&w->trace, w->run->o);
  }
  const exit_code code = ranks_agree(ranks_started() ? do_handed(w, block) : do_gaps(w, block));
  progress_end(&w->progress);
  /* collective: either all ranks continue or none */
  return code == EXIT_GOOD ? trace_write(&w->trace, w->run->o) : code;
}

/* Sums over all ranks. */
static void add_noted(noted *n)
{
  uint64_t sums[NOTES_MOST + 1] = {n->rows}, first[NOTES_MOST];
  for (int i = 0; i < NOTES_MOST; ++i) {
    sums[1 + i] = n->counts[i];
    first[i] = n->counts[i] ? n->first[i] : RANKS_MOST;
  }
  ranks_sum(sums, NOTES_MOST + 1);
  ranks_least(first, NOTES_MOST);
  n->rows = (size_t)sums[0];
  for (int i = 0; i < NOTES_MOST; ++i) {
    n->counts[i] = (size_t)sums[1 + i];
    n->first[i] = (size_t)first[i];
  }
}

/* Sums the work of all ranks. */
static void add_ranks(running *w)
{
  ranks_sum(&w->done, 1);
  add_noted(&w->noted);
  add_noted(&w->inputs_noted);
}

/* ---- the whole run ---- */

static void sum_up(const running *w, bool complete, double seconds)
{
  const options *o = w->run->o;
  const size_t count = w->run->info.count, contacts = w->run->session->layout.contacts;
  const char *rows = w->run->file ? "poses" : "worlds";
  char each[64] = "";
  uint64_t shard, shards;
  if (!sums_up(o) || folder_part(o, &shard, &shards) != EXIT_GOOD) {
    return;
  }
  const range part = range_of_part(count, shard, shards);
  if (complete) {
    printf("%s: already complete\n", o->value[OPTION_OUTPUT]);
    return;
  }
  if (contacts) {
    snprintf(each, sizeof each, ", %zu contacts per pose", contacts);
  }
  if (ranks_started()) {
    printf("%s: %" PRIu64
           " of %zu %s in this run, by %zu ranks%s, %.3g s on %s by the first rank, %s\n",
           o->value[OPTION_OUTPUT], w->done, count, rows, ranks_count(), each, seconds,
           session_workers(w->run->session).text, precision_name(w->run->session->precision));
    return;
  }
  printf("%s: part %" PRIu64 " of %" PRIu64 ", %s %" PRIu64 " up to but not including %" PRIu64
         " of %zu, %" PRIu64 " of them in this run%s, %.3g s on %s, %s\n",
         o->value[OPTION_OUTPUT], shard, shards, rows, part.first, part.end, count, w->done, each,
         seconds, session_workers(w->run->session).text,
         precision_name(w->run->session->precision));
}

static exit_code run(running *w, bool *complete)
{
  const folder_run *r = w->run;
  outputs described = {0};
  range none = {0};
  json_t *manifest = NULL;
  CLI_TRY(compute(w, &none, &described));
  w->input_bytes = described.input_bytes;
  if (outputs_find(&described, "compact_pose") < described.count && r->info.count > UINT32_MAX) {
    return report(EXIT_INPUT, "%s: has %zu poses; lists can have at most %" PRIu32,
                  r->o->value[r->input], r->info.count, UINT32_MAX);
  }
  CLI_TRY(manifest_make(r->o, r->session, r->input, &r->info, &described, &manifest));
  CLI_TRY(folder_open(&w->folder, r->o, manifest, &described, r->session->devices, complete));
  if (*complete) {
    return EXIT_GOOD;
  }
  ranks_check_cores(r->session);
  CLI_TRY(do_part(w));
  if (ranks_started()) {
    add_ranks(w);
  }
  if (r->input_notes) {
    noted_warn(&w->inputs_noted, r->input_notes, "");
  }
  noted_warn(&w->noted, r->notes, r->effect);
  return EXIT_GOOD;
}

exit_code folder_run_blocks(const folder_run *r)
{
  running w = {.run = r, .folder = {.lock = -1, .journal = {.file = -1}}};
  bool complete = false;
  const double start = now();
  exit_code code = run(&w, &complete);
  const double seconds = now() - start;
  folder_close(&w.folder); /* also releases the journal's lock */
  if (code == EXIT_GOOD && !complete && ranks_started()) {
    ranks_wait(); /* until all journals are closed */
  }
  if (code == EXIT_GOOD && !complete && !r->o->value[OPTION_SHARD] && ranks_own() == 0) {
    code = folder_merge(r->o->value[OPTION_OUTPUT], true);
  }
  code = ranks_agree(code);
  if (code == EXIT_GOOD) {
    sum_up(&w, complete, seconds);
  }
  abut_free_poses(&w.block);
  trace_free(&w.trace);
  free(w.counts);
  free(w.poses);
  return code;
}
