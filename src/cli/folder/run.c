#include "folder/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Poses of a block, unless --block says: as many as memory of this size holds, up to a bound. */
#define BLOCK_BYTES ((size_t)64 << 20)
#define BLOCK_MOST ((size_t)1 << 18)
/* Contacts of a pose that are taken to be active, to foresee how long lists become. */
#define ACTIVE_FORESEEN 64

typedef struct running {
  const folder_run *run;
  folder folder;
  abut_poses block; /* which arrays may point to */
  uint32_t *counts; /* entries of each pose, where there are lists */
  uint32_t *poses;  /* and each entry's pose */
  progress progress;
  rejected rejected;
  uint64_t done;    /* poses, of this process */
} running;

exit_code folder_run_open(folder_run *r, const options *o)
{
  r->o = o;
  CLI_TRY(report_status(abut_open_poses(o->value[OPTION_POSES], &r->file, &r->info)));
  warn_empty(o, &(abut_poses){.count = r->info.count});
  if (r->info.pairs && !o->value[OPTION_PAIRS]) {
    warn_pairs();
  }
  if (o->value[OPTION_PAIRS] && !r->info.pairs) {
    return report(EXIT_INPUT, "%s: does not tell the pair of each pose, as an array or a last column `pair`",
                  o->value[OPTION_POSES]);
  }
  return EXIT_GOOD;
}

void folder_run_close(folder_run *r)
{
  abut_close_poses(r->file);
  *r = (folder_run){0};
}

/* ---- what a block is ---- */

static size_t row_bytes(const folder_array *a)
{
  return a->of == OUTPUT_ONCE ? 0 : a->row_bytes;
}

/* Enough that memory is bounded, and little enough that an interruption loses little. */
static exit_code block_poses(const running *w, size_t *block)
{
  const folder_run *r = w->run;
  const size_t width = pose_width(r->info.kind), contacts = r->scene->layout.contacts;
  const size_t active = contacts < ACTIVE_FORESEEN ? contacts : ACTIVE_FORESEEN;
  size_t bytes = 2 * width * (2 * sizeof(double) + real_bytes(r->scene->precision));
  for (size_t i = 0; i < w->folder.count; ++i) {
    const folder_array *a = &w->folder.arrays[i];
    bytes += row_bytes(a) * (a->of == OUTPUT_OF_ENTRIES ? active : 1);
  }
  *block = BLOCK_BYTES / bytes;
  *block = *block < 1 ? 1 : *block > BLOCK_MOST ? BLOCK_MOST : *block;
  return option_whole(r->o, OPTION_BLOCK, 1, UINT32_MAX, block);
}

/* ---- lists ---- */

/* How many entries each pose has, and their poses as the whole batch counts them. */
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
    return report(EXIT_RUN, "no memory for the counts of %zu poses", count);
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
  if (count) {
    CLI_TRY(report_status(abut_read_poses(r->file, (size_t)block->first, count, &w->block)));
  }
  if (!r->o->value[OPTION_PAIRS]) { /* which was warned about once */
    free(w->block.pair);
    w->block.pair = NULL;
  }
  CLI_TRY(r->compute(r->user, &w->block, (size_t)block->first, &w->progress, l));
  return count_entries(w, block, l);
}

static exit_code do_block(running *w, range block)
{
  outputs l = {0};
  w->progress.earlier = (size_t)w->done;
  CLI_TRY(compute(w, &block, &l));
  const size_t status = outputs_find(&l, "status");
  if (status < l.count) {
    rejected_add(&w->rejected, l.arrays[status].data, l.arrays[status].shape[0], (size_t)block.first);
  }
  w->done += block.end - block.first;
  return folder_put(&w->folder, block, &l);
}

static exit_code do_gap(running *w, range gap, size_t block)
{
  for (uint64_t at = gap.first; at < gap.end; at += block) {
    CLI_TRY(do_block(w, (range){at, gap.end - at < block ? gap.end : at + block, 0}));
  }
  return EXIT_GOOD;
}

static exit_code do_part(running *w)
{
  ranges gaps = {0};
  uint64_t shard, shards;
  size_t block = 0;
  CLI_TRY(folder_part(w->run->o, &shard, &shards));
  CLI_TRY(block_poses(w, &block));
  ranges_sort(&w->folder.journal.done);
  exit_code code = ranges_gaps(&w->folder.journal.done, range_of_part(w->folder.poses, shard, shards), &gaps);
  w->progress = progress_begin(w->run->o, w->run->what);
  w->progress.contacts = w->run->scene->layout.contacts;
  w->progress.of_all = (size_t)ranges_total(&gaps);
  for (size_t i = 0; i < gaps.count && code == EXIT_GOOD; ++i) {
    code = do_gap(w, gaps.at[i], block);
  }
  progress_end(&w->progress);
  ranges_free(&gaps);
  return code;
}

/* ---- all of it ---- */

static void sum_up(const running *w, bool complete, double seconds)
{
  const options *o = w->run->o;
  uint64_t shard, shards;
  if (!sums_up(o) || folder_part(o, &shard, &shards) != EXIT_GOOD) {
    return;
  }
  const range part = range_of_part(w->run->info.count, shard, shards);
  if (complete) {
    printf("%s: complete already\n", o->value[OPTION_OUTPUT]);
    return;
  }
  printf("%s: part %" PRIu64 " of %" PRIu64 ", poses %" PRIu64 " to before %" PRIu64 " of %zu, %" PRIu64
         " of them now, %zu contacts a pose, %.3g s on %s, %s\n",
         o->value[OPTION_OUTPUT], shard, shards, part.first, part.end, w->run->info.count, w->done,
         w->run->scene->layout.contacts, seconds, scene_workers(w->run->scene).text,
         precision_name(w->run->scene->precision));
}

static exit_code run(running *w, bool *complete)
{
  const folder_run *r = w->run;
  outputs described = {0};
  range none = {0};
  json_t *manifest = NULL;
  CLI_TRY(compute(w, &none, &described));
  if (outputs_find(&described, "compact_pose") < described.count && r->info.count > UINT32_MAX) {
    return report(EXIT_INPUT, "%s: %zu poses; lists are of at most %" PRIu32, r->o->value[OPTION_POSES], r->info.count,
                  UINT32_MAX);
  }
  CLI_TRY(manifest_make(r->o, r->scene, &r->info, &described, &manifest));
  CLI_TRY(folder_open(&w->folder, r->o, manifest, &described, r->scene->devices, complete));
  if (*complete) {
    return EXIT_GOOD;
  }
  CLI_TRY(do_part(w));
  rejected_warn(&w->rejected, r->effect);
  return EXIT_GOOD;
}

exit_code folder_run_blocks(const folder_run *r)
{
  running w = {.run = r, .folder = {.lock = -1, .journal = {.file = -1}}};
  bool complete = false;
  const double start = now();
  exit_code code = run(&w, &complete);
  const double seconds = now() - start;
  folder_close(&w.folder); /* and with it the journal's lock */
  if (code == EXIT_GOOD && !complete && !r->o->value[OPTION_SHARD]) {
    code = folder_merge(r->o->value[OPTION_OUTPUT], true);
  }
  if (code == EXIT_GOOD) {
    sum_up(&w, complete, seconds);
  }
  abut_free_poses(&w.block);
  free(w.counts);
  free(w.poses);
  return code;
}
