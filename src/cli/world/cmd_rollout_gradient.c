#include "core/folder/run.h"
#include "world/world_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rollout {
  worlds worlds;
  inputs file;         /* cotangents */
  size_t record, kept; /* interval in steps between states with cotangents, and their number without
                          the initial state */
  const void *state;   /* (worlds, 2 nv) for the final state; or NULL */
  const void *records; /* (kept + 1, worlds, 2 nv), as in the file; or NULL */
  void *joined;        /* `state` joined from q and v */
  void *turned;        /* `records` without the initial state, world by world */
  void *turned_u;      /* controls, world by world */
  void *g[WORLD_INPUTS]; /* (worlds, ...) */
  uint32_t *status;
  double seconds;
} rollout;

/* ---- cotangents ---- */

static const char *const known[] = {"state", "q", "v", "record"};
#define KNOWN (sizeof known / sizeof *known)

/* A misspelt name would silently lose a cotangent. */
static exit_code check_names(const inputs *f)
{
  size_t found = 0;
  for (size_t i = 0; i < f->npz.count; ++i) {
    size_t k = 0;
    while (k < KNOWN && strcmp(f->npz.arrays[i].name, known[k]) != 0) {
      ++k;
    }
    found += k < KNOWN;
    if (k == KNOWN) {
      warn("%s: array '%s' is not a cotangent; it is ignored", f->path, f->npz.arrays[i].name);
    }
  }
  if (!found) {
    return report(EXIT_INPUT, "%s: contains none of state, q, v and record", f->path);
  }
  return inputs_find(f, "state") && (inputs_find(f, "q") || inputs_find(f, "v"))
           ? report(EXIT_INPUT, "%s: contains both state and q or v; give one form", f->path)
           : EXIT_GOOD;
}

/* Joins the halves of `state`, one of which may be missing. */
static exit_code join_state(rollout *r, const void *q, const void *v)
{
  const worlds *w = &r->worlds;
  const size_t half = w->info.nv * real_bytes(w->precision);
  CLI_TRY(worlds_reals(w, w->count, 2, w->info.nv, &r->joined));
  for (size_t i = 0; i < w->count; ++i) {
    char *row = (char *)r->joined + 2 * i * half;
    if (q) {
      memcpy(row, (const char *)q + i * half, half);
    }
    if (v) {
      memcpy(row + half, (const char *)v + i * half, half);
    }
  }
  r->state = r->joined;
  return EXIT_GOOD;
}

static exit_code take_cotangents(rollout *r)
{
  const worlds *w = &r->worlds;
  inputs *f = &r->file;
  const size_t nv = w->info.nv, whole[2] = {w->count, 2 * nv}, half[2] = {w->count, nv};
  const size_t records[3] = {r->kept + 1, w->count, 2 * nv};
  const void *q = NULL, *v = NULL;
  char ends[96], all[256];
  snprintf(ends, sizeof ends, "%zu world%s of %zu velocities", w->all, w->all == 1 ? "" : "s", nv);
  snprintf(all, sizeof all, "the start and each state of --record %zu in %zu steps, %s", r->record,
           w->steps, ends);
  CLI_TRY(inputs_finite(f, "state", 2, whole, ends, w->precision, &r->state));
  CLI_TRY(inputs_finite(f, "q", 2, half, ends, w->precision, &q));
  CLI_TRY(inputs_finite(f, "v", 2, half, ends, w->precision, &v));
  if (!r->record) {
    return inputs_find(f, "record") ? report(EXIT_INPUT,
                                             "%s: array 'record' has cotangents of every K-th "
                                             "state: state this K with --record K",
                                             f->path)
           : q || v                 ? join_state(r, q, v)
                                    : EXIT_GOOD;
  }
  CLI_TRY(inputs_finite(f, "record", 3, records, all, w->precision, &r->records));
  if (!r->records) {
    return report(EXIT_INPUT, "%s: contains no record, the cotangents of --record %zu", f->path,
                  r->record);
  }
  return q || v ? join_state(r, q, v) : EXIT_GOOD;
}

/* ---- gradients ---- */

static exit_code take_memory(rollout *r)
{
  const worlds *w = &r->worlds;
  const size_t each = w->each ? w->steps : 1, nv = w->info.nv, nu = w->info.nu;
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    const size_t width = world_input_width(&w->info, i);
    CLI_TRY(worlds_reals(w, w->count, width, i == BY_U ? each : 1, &r->g[i]));
  }
  if (w->each) {
    CLI_TRY(worlds_reals(w, w->count, w->steps, nu, &r->turned_u));
    worlds_swap(w, w->steps, w->count, nu, w->u, r->turned_u);
  }
  if (r->kept) {
    const size_t start = w->count * 2 * nv * real_bytes(w->precision);
    CLI_TRY(worlds_reals(w, w->count, r->kept, 2 * nv, &r->turned));
    worlds_swap(w, r->kept, w->count, 2 * nv, (const char *)r->records + start, r->turned);
  }
  return worlds_status(w, &r->status);
}

static exit_code compute(rollout *r)
{
  const worlds *w = &r->worlds;
  abut_worlds a = worlds_describe(w);
  abut_worlds_gradients g = world_gradients(r->g);
  a.u = w->each ? r->turned_u : w->u;
  a.controls = w->each;
  a.record = r->kept ? r->record : 0;
  a.status = r->status;
  g.state = r->state;
  g.record = r->kept ? r->turned : NULL;
  g.springs = w->info.springs ? r->g[BY_SPRINGS] : NULL;
  const double start = now();
  const abut_status status = abut_vjp_worlds(w->links, &a, &g);
  r->seconds += now() - start;
  return report_status(status);
}

static void add_real(void *to, const void *from, abut_precision precision, size_t i, size_t k)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)to)[i] += ((const double *)from)[k];
  } else {
    ((float *)to)[i] += ((const float *)from)[k];
  }
}

/* The initial state is q and v, so its cotangents are added to the gradients with respect to them.
 */
static void add_start(const rollout *r)
{
  const worlds *w = &r->worlds;
  const size_t nv = w->info.nv;
  for (size_t i = 0; r->records && i < w->count * nv; ++i) {
    const size_t world = i / nv, k = 2 * world * nv + i % nv;
    if (!(r->status[world] & ABUT_WORLD_STOPS)) {
      add_real(r->g[BY_Q], r->records, w->precision, i, k);
      add_real(r->g[BY_V], r->records, w->precision, i, k + nv);
    }
  }
}

/* ---- the whole command ---- */

/* Steps are the first dimension, as in the file. */
static exit_code turn_gradient(rollout *r)
{
  const worlds *w = &r->worlds;
  void *u = NULL;
  if (!w->each) {
    return EXIT_GOOD;
  }
  CLI_TRY(worlds_reals(w, w->steps, w->count, w->info.nu, &u));
  worlds_swap(w, w->count, w->steps, w->info.nu, r->g[BY_U], u);
  free(r->g[BY_U]);
  r->g[BY_U] = u;
  return EXIT_GOOD;
}

static void add_outputs(const rollout *r, outputs *l)
{
  const worlds *w = &r->worlds;
  const abut_array_type real = real_type(&w->session);
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    const char *name = world_input_names[i];
    if (i == BY_U && w->each) {
      outputs_add_of(l, OUTPUT_OF_STATES, name, real, r->g[i], 3, w->steps, w->count, w->info.nu);
    } else if (i == BY_SPRINGS && w->info.springs) {
      outputs_add(l, name, real, r->g[i], 3, w->count, w->info.springs, SPRING_WIDTH);
    } else if (i != BY_SPRINGS) {
      outputs_add(l, name, real, r->g[i], 2, w->count, world_input_width(&w->info, i), 0);
    }
  }
  outputs_add(l, "status", ABUT_ARRAY_UINT32, r->status, 1, w->count, 0, 0);
}

static void free_memory(rollout *r)
{
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    free(r->g[i]);
    r->g[i] = NULL;
  }
  free(r->joined);
  free(r->turned);
  free(r->turned_u);
  free(r->status);
  r->joined = r->turned = r->turned_u = NULL;
  r->status = NULL;
}

static void summarise(const rollout *r)
{
  const worlds *w = &r->worlds;
  printf("%zu world%s, %zu step%s of %g s, gradients of ", w->count, w->count == 1 ? "" : "s",
         w->steps, w->steps == 1 ? "" : "s", w->info.timestep);
  if (r->records) {
    printf("%zu states", r->kept + 1);
  } else {
    printf("the last state");
  }
  printf(", %.3g s on %s, %s\n", r->seconds, session_workers(&w->session).text,
         precision_name(w->precision));
}

/* Controls may determine the number of steps. */
static exit_code count_steps(rollout *r)
{
  const worlds *w = &r->worlds;
  CLI_TRY(worlds_need_steps(w));
  r->kept = r->record ? w->steps / r->record : 0;
  return EXIT_GOOD;
}

/* ---- a folder of results ---- */

static int cotangent_axis(const abut_array *a)
{
  return strcmp(a->name, "record") == 0 ? 1
         : strcmp(a->name, "state") == 0 || strcmp(a->name, "q") == 0 || strcmp(a->name, "v") == 0
           ? 0
           : NOT_WANTED;
}

static exit_code read_block(rollout *r, size_t first, size_t count)
{
  free_memory(r);
  CLI_TRY(worlds_read_block(&r->worlds, first, count));
  CLI_TRY(count_steps(r));
  CLI_TRY(inputs_read_rows(&r->file, first, count));
  return take_cotangents(r);
}

static exit_code compute_block(void *user, const abut_poses *block, size_t first, progress *p,
                               outputs *l)
{
  rollout *r = user;
  const worlds *w = &r->worlds;
  CLI_TRY(read_block(r, first, block->count));
  CLI_TRY(take_memory(r));
  if (block->count) {
    CLI_TRY(compute(r));
    add_start(r);
    progress_step(block->count, block->count, p);
  }
  CLI_TRY(turn_gradient(r));
  l->input_status = w->bad;
  l->input_bytes =
    inputs_row_bytes(&w->states) + inputs_row_bytes(&w->controls) + inputs_row_bytes(&r->file);
  add_outputs(r, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(rollout *r, const options *o)
{
  folder_run run = {.session = &r->worlds.session,
                    .compute = compute_block,
                    .user = r,
                    .what = "gradients, worlds",
                    .notes = world_notes(),
                    .effect = "The gradients of stopped worlds are 0.",
                    .input_notes = parameter_notes};
  CLI_TRY(worlds_open_blocks(&r->worlds, o));
  CLI_TRY(inputs_open_rows(&r->file, o->value[OPTION_COTANGENTS], cotangent_axis, r->worlds.all));
  CLI_TRY(check_names(&r->file));
  folder_run_worlds(&run, o, r->worlds.all);
  return folder_run_blocks(&run);
}

/* ---- one file ---- */

static exit_code compute_shown(rollout *r)
{
  progress p = progress_begin(r->worlds.o, "");
  progress_say(&p, "gradients of %zu worlds over %zu steps", r->worlds.count, r->worlds.steps);
  const exit_code code = compute(r);
  progress_end(&p);
  return code;
}

static exit_code run(rollout *r, const options *o)
{
  CLI_TRY(worlds_check(&r->worlds, o, STEPS_OF_CONTROLS));
  CLI_TRY(need_option(o, OPTION_COTANGENTS));
  CLI_TRY(worlds_check_output(o));
  CLI_TRY(option_whole(o, OPTION_RECORD, 1, SIZE_MAX / 2, &r->record));
  if (!o->value[OPTION_CONTROLS]) {
    CLI_TRY(count_steps(r));
  }
  if (folder_is_named(o)) {
    return run_in_folder(r, o);
  }
  CLI_TRY(inputs_open(&r->file, o->value[OPTION_COTANGENTS]));
  CLI_TRY(check_names(&r->file));
  CLI_TRY(worlds_open(&r->worlds, o));
  CLI_TRY(count_steps(r));
  CLI_TRY(take_cotangents(r));
  CLI_TRY(take_memory(r));
  CLI_TRY(compute_shown(r));
  warn_worlds(r->status, NULL, NULL, r->worlds.count);
  add_start(r);
  CLI_TRY(turn_gradient(r));
  outputs l = {0};
  add_outputs(r, &l);
  CLI_TRY(outputs_write(&l, &r->worlds.session, o));
  if (sums_up(o)) {
    summarise(r);
  }
  return EXIT_GOOD;
}

exit_code cmd_rollout_gradient(const options *o)
{
  rollout r = {0};
  const exit_code code = run(&r, o);
  free_memory(&r);
  inputs_close(&r.file);
  worlds_close(&r.worlds);
  return code;
}
