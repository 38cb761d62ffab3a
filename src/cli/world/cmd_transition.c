#include "core/folder/run.h"
#include "world/world_inputs.h"

#include <stdio.h>
#include <stdlib.h>

/* Inputs from the first parameter on, and the names of the matrices by them. */
enum { PARAMETERS_FIRST = BY_MASS_SCALE, PARAMETERS_END = BY_GRAVITY + 1 };
static const char *const matrix_names[PARAMETERS_END] = {[BY_MASS_SCALE] = "P_mass_scale",
                                                         [BY_FRICTION] = "P_friction",
                                                         [BY_STIFFNESS] = "P_stiffness",
                                                         [BY_GRAVITY] = "P_gravity"};

typedef struct transition {
  worlds worlds;
  bool all;                        /* also by parameters */
  void *A, *B, *P[PARAMETERS_END]; /* (worlds, 2 nv, ...) */
  uint32_t *status;
  double seconds;
} transition;

static exit_code take_memory(transition *t)
{
  const worlds *w = &t->worlds;
  const size_t side = 2 * w->info.nv;
  CLI_TRY(worlds_reals(w, w->count, side, side, &t->A));
  CLI_TRY(worlds_reals(w, w->count, side, w->info.nu, &t->B));
  for (int i = PARAMETERS_FIRST; i < PARAMETERS_END && t->all; ++i) {
    CLI_TRY(worlds_reals(w, w->count, side, world_input_width(&w->info, i), &t->P[i]));
  }
  return worlds_status(w, &t->status);
}

static exit_code compute(transition *t)
{
  const worlds *w = &t->worlds;
  abut_worlds a = worlds_describe(w);
  abut_worlds_transition to = abut_default_worlds_transition();
  a.u = w->u; /* (worlds, nu) and (1, worlds, nu) have the same layout */
  a.status = t->status;
  to.A = t->A;
  to.B = t->B;
  to.mass_scale = t->P[BY_MASS_SCALE];
  to.friction = t->P[BY_FRICTION];
  to.stiffness = t->P[BY_STIFFNESS];
  to.gravity = t->P[BY_GRAVITY];
  const double start = now();
  const abut_status status = abut_transition_worlds(w->links, &a, &to);
  t->seconds += now() - start;
  return report_status(status);
}

static void add_outputs(const transition *t, outputs *l)
{
  const worlds *w = &t->worlds;
  const abut_array_type real = real_type(&w->session);
  const size_t side = 2 * w->info.nv;
  outputs_add(l, "A", real, t->A, 3, w->count, side, side);
  outputs_add(l, "B", real, t->B, 3, w->count, side, w->info.nu);
  for (int i = PARAMETERS_FIRST; i < PARAMETERS_END && t->all; ++i) {
    outputs_add(l, matrix_names[i], real, t->P[i], 3, w->count, side,
                world_input_width(&w->info, i));
  }
  outputs_add(l, "status", ABUT_ARRAY_UINT32, t->status, 1, w->count, 0, 0);
}

static void free_memory(transition *t)
{
  for (int i = PARAMETERS_FIRST; i < PARAMETERS_END; ++i) {
    free(t->P[i]);
    t->P[i] = NULL;
  }
  free(t->A);
  free(t->B);
  free(t->status);
  t->A = t->B = NULL;
  t->status = NULL;
}

static void summarise(const transition *t)
{
  const worlds *w = &t->worlds;
  const size_t side = 2 * w->info.nv;
  printf("%zu world%s, A of %zu x %zu, B of %zu x %zu, %.3g s on %s, %s\n", w->count,
         w->count == 1 ? "" : "s", side, side, side, w->info.nu, t->seconds,
         session_workers(&w->session).text, precision_name(w->precision));
}

/* ---- a folder of results ---- */

static exit_code compute_block(void *user, const abut_poses *block, size_t first, progress *p,
                               outputs *l)
{
  transition *t = user;
  worlds *w = &t->worlds;
  free_memory(t);
  CLI_TRY(worlds_read_block(w, first, block->count));
  CLI_TRY(take_memory(t));
  if (block->count) {
    CLI_TRY(compute(t));
    progress_step(block->count, block->count, p);
  }
  l->input_status = w->bad;
  l->input_bytes = inputs_row_bytes(&w->states) + inputs_row_bytes(&w->controls);
  add_outputs(t, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(transition *t, const options *o)
{
  folder_run r = {.session = &t->worlds.session,
                  .compute = compute_block,
                  .user = t,
                  .what = "matrices, worlds",
                  .notes = world_notes(),
                  .effect = "The matrices of stopped worlds are 0.",
                  .input_notes = parameter_notes};
  CLI_TRY(worlds_open_blocks(&t->worlds, o));
  folder_run_worlds(&r, o, t->worlds.all);
  return folder_run_blocks(&r);
}

/* ---- one file ---- */

static exit_code compute_shown(transition *t)
{
  progress p = progress_begin(t->worlds.o, "");
  progress_say(&p, "matrices of %zu worlds", t->worlds.count);
  const exit_code code = compute(t);
  progress_end(&p);
  return code;
}

static exit_code run(transition *t, const options *o)
{
  CLI_TRY(worlds_check(&t->worlds, o, STEPS_ONE));
  CLI_TRY(worlds_check_output(o));
  t->all = o->value[OPTION_PARAMETERS] != NULL;
  if (folder_is_named(o)) {
    return run_in_folder(t, o);
  }
  CLI_TRY(worlds_open(&t->worlds, o));
  CLI_TRY(take_memory(t));
  CLI_TRY(compute_shown(t));
  warn_worlds(t->status, NULL, NULL, t->worlds.count);
  outputs l = {0};
  add_outputs(t, &l);
  CLI_TRY(outputs_write(&l, &t->worlds.session, o));
  if (sums_up(o)) {
    summarise(t);
  }
  return EXIT_GOOD;
}

exit_code cmd_transition(const options *o)
{
  transition t = {0};
  const exit_code code = run(&t, o);
  free_memory(&t);
  worlds_close(&t.worlds);
  return code;
}
