#include "world/simulate/simulate.h"

#include "core/folder/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Target duration of a call of the library, so that progress is shown [s], and the memory for
 * recorded states besides the output [bytes]. */
#define CALL_SECONDS 0.3
#define CALL_BYTES ((size_t)64 << 20)

/* The number of steps in a call, and how many states it records besides its final one. */
typedef struct call_size {
  size_t steps, record, kept;
} call_size;

/* Returns the size of a world's row of reals in bytes. */
static size_t row_of(const simulation *s, size_t width)
{
  return width * real_bytes(s->worlds.session.precision);
}

static exit_code take_memory(simulation *s)
{
  worlds *w = &s->worlds;
  const size_t nq = w->info.nq, nv = w->info.nv;
  CLI_TRY(worlds_reals(w, s->rows, w->count, nq, &s->q));
  CLI_TRY(worlds_reals(w, s->rows, w->count, nv, &s->v));
  CLI_TRY(worlds_reals(w, s->rows, w->count, 2, &s->energy));
  CLI_TRY(worlds_reals(w, w->count, 2, 1, &s->held_energy));
  for (int i = 0; i < 2; ++i) {
    CLI_TRY(worlds_reals(w, w->count, nq, 1, &s->at[i].q));
    CLI_TRY(worlds_reals(w, w->count, nv, 1, &s->at[i].v));
    CLI_TRY(worlds_reals(w, w->count, nv, 1, &s->at[i].w));
  }
  s->status = calloc(w->count ? w->count : 1, sizeof *s->status);
  s->call_status = calloc(w->count ? w->count : 1, sizeof *s->call_status);
  s->status_step = calloc(w->count ? w->count : 1, ABUT_WORLD_STATUSES * sizeof *s->status_step);
  s->call_step = calloc(w->count ? w->count : 1, ABUT_WORLD_STATUSES * sizeof *s->call_step);
  s->fast_links = calloc(w->count ? w->count : 1, 2 * sizeof *s->fast_links);
  s->call_links = calloc(w->count ? w->count : 1, 2 * sizeof *s->call_links);
  s->time = calloc(s->rows, sizeof *s->time);
  if (!s->status || !s->call_status || !s->status_step || !s->call_step || !s->fast_links ||
      !s->call_links || !s->time) {
    return report(EXIT_RUN, "no memory for the status of %zu worlds", w->count);
  }
  for (size_t i = 0; i < ABUT_WORLD_STATUSES * w->count; ++i) {
    s->status_step[i] = ABUT_WORLD_NEVER;
  }
  memcpy(s->at[0].q, w->q, w->count * row_of(s, nq));
  memcpy(s->at[0].v, w->v, w->count * row_of(s, nv));
  if (w->w) {
    memcpy(s->at[0].w, w->w, w->count * row_of(s, nv));
  }
  memcpy(s->q, w->q, w->count * row_of(s, nq));
  memcpy(s->v, w->v, w->count * row_of(s, nv));
  for (size_t i = 0; i < s->rows; ++i) {
    const size_t steps = i * s->record < w->steps ? i * s->record : w->steps;
    s->time[i] = (double)steps * w->info.timestep;
  }
  return EXIT_GOOD;
}

/* ---- one call ---- */

/* The initial state, every state of --record, and the final state even if it is not a multiple of
 * --record, so that a later run can continue from the file. */
static size_t count_rows(const simulation *s)
{
  const size_t steps = s->worlds.steps;
  return steps / s->record + (steps % s->record != 0) + 1;
}

/* A call ends at a recorded state, or before. If it covers several recorded states, the library
 * records them. */
static call_size size_of_call(const simulation *s, size_t done, size_t wanted)
{
  const size_t left = s->worlds.steps - done, next = s->record - done % s->record;
  const size_t ahead = next < left ? next : left;
  call_size c = {wanted < left ? wanted : left, 0, 0};
  if (ahead < s->record || c.steps < s->record) {
    c.steps = c.steps < ahead ? c.steps : ahead;
    c.record = c.steps == ahead ? c.steps : 0;
  } else {
    c.steps -= c.steps % s->record;
    c.record = s->record;
  }
  c.kept = c.record ? c.steps / c.record : 0;
  return c;
}

/* Returns the largest number of steps per call that the memory for recorded states allows. */
static size_t most_steps(const simulation *s)
{
  const size_t width = s->worlds.info.nq + s->worlds.info.nv + s->worlds.info.nu;
  const size_t bytes = s->worlds.count * row_of(s, width ? width : 1);
  const size_t states = bytes && bytes < CALL_BYTES ? CALL_BYTES / bytes : 1;
  const size_t kept = s->record < SIZE_MAX / states ? s->record * states : SIZE_MAX;
  return s->worlds.each ? (states < kept ? states : kept) : kept;
}

/* Converts controls from rows of steps to rows of worlds, as the library expects. */
static void turn_controls(const simulation *s, size_t first, size_t steps, char *to)
{
  const size_t count = s->worlds.count, row = row_of(s, s->worlds.info.nu);
  const char *from = s->worlds.u;
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < steps; ++k) {
      memcpy(to + (i * steps + k) * row, from + ((first + k) * count + i) * row, row);
    }
  }
}

/* Converts recorded states from rows of worlds to rows of states. A world that stopped before keeps
 * its last state. */
static void turn_records(const simulation *s, const call_size *c, size_t row, const char *from,
                         const char *before, char *to)
{
  const size_t count = s->worlds.count;
  for (size_t i = 0; i < count; ++i) {
    const bool stopped = s->status[i] & ABUT_WORLD_STOPS;
    for (size_t k = 0; k < c->kept; ++k) {
      memcpy(to + (k * count + i) * row,
             stopped ? before + i * row : from + (i * c->kept + k) * row, row);
    }
  }
}

static void hold_stopped(const simulation *s, size_t row, const char *before, char *after)
{
  for (size_t i = 0; i < s->worlds.count; ++i) {
    if (s->status[i] & ABUT_WORLD_STOPS) {
      memcpy(after + i * row, before + i * row, row);
    }
  }
}

/* Additional memory besides the next state. */
typedef struct call_memory {
  void *q, *v, *u, *energy;
} call_memory;

static exit_code call_open(const simulation *s, const call_size *c, call_memory *m)
{
  const worlds *w = &s->worlds;
  CLI_TRY(worlds_reals(w, c->kept, w->count, w->info.nq, &m->q));
  CLI_TRY(worlds_reals(w, c->kept, w->count, w->info.nv, &m->v));
  CLI_TRY(worlds_reals(w, c->kept, w->count, 2, &m->energy));
  return w->each ? worlds_reals(w, c->steps, w->count, w->info.nu, &m->u) : EXIT_GOOD;
}

static void call_close(call_memory *m)
{
  free(m->q);
  free(m->v);
  free(m->u);
  free(m->energy);
}

/* Describes worlds with their parameters in their current state. */
static abut_worlds describe_start(const simulation *s)
{
  abut_worlds a = worlds_describe(&s->worlds);
  a.steps = 1;
  a.q = s->at[0].q;
  a.v = s->at[0].v;
  a.w = s->at[0].w;
  return a;
}

/* Computes the energy of the current states with a step whose other results are not used. */
static exit_code measure(const simulation *s, void *energy)
{
  abut_worlds a = describe_start(s);
  a.energy = energy;
  return report_status(abut_step_worlds(s->worlds.links, &a));
}

static abut_worlds describe(const simulation *s, const call_size *c, const call_memory *m)
{
  const worlds *w = &s->worlds;
  const state *to = &s->at[1];
  abut_worlds a = describe_start(s);
  a.steps = c->steps;
  a.u = w->each ? m->u : w->u;
  a.controls = w->each;
  a.q_next = to->q;
  a.v_next = to->v;
  a.w_next = to->w;
  a.record = c->record;
  a.q_record = c->kept ? m->q : NULL;
  a.v_record = c->kept ? m->v : NULL;
  a.energy_record = c->kept ? m->energy : NULL;
  a.status = s->call_status;
  a.status_step = s->call_step;
  a.fast_links = s->call_links;
  return a;
}

static void take_steps(simulation *s, size_t world, size_t done)
{
  for (size_t k = ABUT_WORLD_STATUSES * world; k < ABUT_WORLD_STATUSES * (world + 1); ++k) {
    if (s->status_step[k] == ABUT_WORLD_NEVER && s->call_step[k] != ABUT_WORLD_NEVER) {
      const size_t step = done + s->call_step[k];
      s->status_step[k] = step < ABUT_WORLD_NEVER ? (uint32_t)step : ABUT_WORLD_NEVER - 1;
    }
  }
}

/* Merges the status of a call after `done` steps. Returns whether a world has newly stopped. */
static bool take_status(simulation *s, size_t done)
{
  bool stops = false;
  for (size_t i = 0; i < s->worlds.count; ++i) {
    if (!(s->status[i] & ABUT_WORLD_STOPS)) {
      if (s->call_status[i] & ~s->status[i] & ABUT_WORLD_FAST) {
        memcpy(s->fast_links + 2 * i, s->call_links + 2 * i, 2 * sizeof *s->fast_links);
      }
      s->status[i] |= s->call_status[i];
      take_steps(s, i, done);
      stops = stops || (s->status[i] & ABUT_WORLD_STOPS);
    }
  }
  return stops;
}

/* Copies the states of a call into their rows; its final state is the next call's initial one. */
static void take_call(simulation *s, const call_size *c, const call_memory *m, size_t done)
{
  const worlds *w = &s->worlds;
  const size_t q = row_of(s, w->info.nq), v = row_of(s, w->info.nv), e = row_of(s, 2);
  const size_t end = done + c->steps;
  const size_t row = end / s->record + (end % s->record != 0) + 1 - c->kept; /* the first of them */
  turn_records(s, c, q, m->q, s->at[0].q, (char *)s->q + row * w->count * q);
  turn_records(s, c, v, m->v, s->at[0].v, (char *)s->v + row * w->count * v);
  turn_records(s, c, e, m->energy, s->held_energy, (char *)s->energy + row * w->count * e);
  hold_stopped(s, q, s->at[0].q, s->at[1].q);
  hold_stopped(s, v, s->at[0].v, s->at[1].v);
  hold_stopped(s, v, s->at[0].w, s->at[1].w);
  const state was = s->at[0];
  s->at[0] = s->at[1];
  s->at[1] = was;
}

static exit_code step_once(simulation *s, const call_size *c, size_t done)
{
  call_memory m = {NULL, NULL, NULL, NULL};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(call_open(s, c, &m));
  if (s->worlds.each) {
    turn_controls(s, done, c->steps, m.u);
  }
  abut_worlds a = describe(s, c, &m);
  CLI_TRY_DONE(report_status(abut_step_worlds(s->worlds.links, &a)));
  take_call(s, c, &m, done);
  if (take_status(s, done)) {
    CLI_TRY_DONE(measure(s, s->held_energy));
  }
done:
  call_close(&m);
  return code;
}

/* For a block of worlds, converts progress in steps to a number of worlds. */
static void tell_progress(const simulation *s, size_t done, progress *p)
{
  const size_t steps = s->worlds.steps, count = s->worlds.count;
  if (s->worlds.in_blocks) {
    progress_step((size_t)((double)count * (double)done / (double)steps), count, p);
  } else {
    progress_step(done, steps, p);
  }
}

/* Later calls become longer until each takes a while. */
static exit_code step_all(simulation *s, progress *p)
{
  const size_t most = most_steps(s);
  size_t done = 0, wanted = 1;
  const double start = now();
  CLI_TRY(measure(s, s->energy));
  while (done < s->worlds.steps) {
    const call_size c = size_of_call(s, done, wanted < most ? wanted : most);
    const double before = now();
    CLI_TRY(step_once(s, &c, done));
    const double seconds = now() - before;
    done += c.steps;
    tell_progress(s, done, p);
    if (seconds < CALL_SECONDS && wanted < SIZE_MAX / 2) {
      wanted *= 2;
    } else if (seconds > 4.0 * CALL_SECONDS && wanted > 1) {
      wanted /= 2;
    }
  }
  s->seconds += now() - start;
  return EXIT_GOOD;
}

/* ---- the whole command ---- */

static void free_memory(simulation *s)
{
  for (int i = 0; i < 2; ++i) {
    free(s->at[i].q);
    free(s->at[i].v);
    free(s->at[i].w);
    s->at[i] = (state){NULL, NULL, NULL};
  }
  free(s->q);
  free(s->v);
  free(s->status);
  free(s->call_status);
  free(s->status_step);
  free(s->fast_links);
  free(s->call_links);
  free(s->call_step);
  free(s->time);
  free(s->energy);
  free(s->held_energy);
  s->q = s->v = s->energy = s->held_energy = NULL;
  s->status = s->call_status = s->status_step = s->call_step = s->fast_links = s->call_links = NULL;
  s->time = NULL;
}

static void add_outputs(const simulation *s, outputs *l)
{
  const worlds *w = &s->worlds;
  const abut_array_type real = real_type(&w->session);
  outputs_add_of(l, OUTPUT_OF_STATES, simulated_names[SIMULATED_Q], real, s->q, 3, s->rows,
                 w->count, w->info.nq);
  outputs_add_of(l, OUTPUT_OF_STATES, simulated_names[SIMULATED_V], real, s->v, 3, s->rows,
                 w->count, w->info.nv);
  outputs_add(l, simulated_names[SIMULATED_W], real, s->at[0].w, 2, w->count, w->info.nv, 0);
  outputs_add_of(l, OUTPUT_ONCE, simulated_names[SIMULATED_TIME], ABUT_ARRAY_FLOAT64, s->time, 1,
                 s->rows, 0, 0);
  outputs_add_of(l, OUTPUT_OF_STATES, simulated_names[SIMULATED_ENERGY], real, s->energy, 3,
                 s->rows, w->count, 2);
  outputs_add(l, simulated_names[SIMULATED_STATUS], ABUT_ARRAY_UINT32, s->status, 1, w->count, 0,
              0);
  outputs_add(l, simulated_names[SIMULATED_STATUS_STEP], ABUT_ARRAY_UINT32, s->status_step, 2,
              w->count, ABUT_WORLD_STATUSES, 0);
}

static exit_code write(const simulation *s)
{
  outputs l = {0};
  add_outputs(s, &l);
  if (s->contacts) {
    add_contacts(&l, s->contacts, s);
  }
  add_readings(&l, s);
  return outputs_write(&l, &s->worlds.session, s->worlds.o);
}

static void summarise(const simulation *s)
{
  const worlds *w = &s->worlds;
  printf("%zu world%s, %zu step%s of %g s, %zu state%s of each stored", w->count, plural(w->count),
         w->steps, plural(w->steps), w->info.timestep, s->rows, plural(s->rows));
  if (s->contacts) {
    printf(" with %zu contact%s in total", s->contacts->list.count,
           plural(s->contacts->list.count));
  }
  if (w->info.automatic) {
    printf(", %zu pair%s of %zu bodies that may touch, of %zu kind%s", w->info.candidates,
           plural(w->info.candidates), w->info.bodies, w->info.kinds, plural(w->info.kinds));
  }
  printf(", %.3g s on %s, %s\n", s->seconds, session_workers(&w->session).text,
         precision_name(w->session.precision));
}

/* ---- a folder of results ---- */

static exit_code read_block(simulation *s, size_t first, size_t count)
{
  free_memory(s);
  CLI_TRY(worlds_read_block(&s->worlds, first, count));
  return worlds_need_steps(&s->worlds);
}

static exit_code compute_block(void *user, const abut_poses *block, size_t first, progress *p,
                               outputs *l)
{
  simulation *s = user;
  const worlds *w = &s->worlds;
  CLI_TRY(read_block(s, first, block->count));
  s->rows = count_rows(s);
  CLI_TRY(take_memory(s));
  if (block->count) {
    CLI_TRY(step_all(s, p));
  }
  l->input_status = w->bad;
  l->input_bytes = inputs_row_bytes(&w->states) + inputs_row_bytes(&w->controls);
  add_outputs(s, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(simulation *s, const options *o)
{
  folder_run r = {.session = &s->worlds.session,
                  .compute = compute_block,
                  .user = s,
                  .what = "worlds",
                  .notes = world_notes(),
                  .effect = "status_step contains the steps.",
                  .input_notes = parameter_notes};
  if (o->value[OPTION_CONTACTS]) {
    return usage_error(o->command,
                       "a folder of results can contain only states: --contacts needs an .npz");
  }
  if (asks_readings(o)) {
    return usage_error(o->command, "a folder of results can contain only states: --distances, "
                                   "--forces and --link-poses need an .npz");
  }
  CLI_TRY(worlds_open_blocks(&s->worlds, o));
  folder_run_worlds(&r, o, s->worlds.all);
  return folder_run_blocks(&r);
}

/* ---- one file ---- */

static exit_code step_shown(simulation *s)
{
  progress p = progress_begin(s->worlds.o, "steps");
  const exit_code code = step_all(s, &p);
  progress_end(&p);
  return code;
}

/* Quantities computed from positions would place moved links differently than the steps. */
static exit_code need_still_links(const worlds *w, const options *o)
{
  CLI_TRY(o->value[OPTION_CONTACTS] ? need_still("--contacts", w) : EXIT_GOOD);
  CLI_TRY(o->value[OPTION_DISTANCES] ? need_still("--distances", w) : EXIT_GOOD);
  return o->value[OPTION_LINK_POSES] ? need_still("--link-poses", w) : EXIT_GOOD;
}

static exit_code run(simulation *s, const options *o, kept_contacts *contacts)
{
  CLI_TRY(worlds_check(&s->worlds, o, STEPS_OR_NONE));
  CLI_TRY(o->value[OPTION_CONTROLS] ? EXIT_GOOD : worlds_need_steps(&s->worlds));
  CLI_TRY(worlds_check_output(o));
  CLI_TRY(option_whole(o, OPTION_RECORD, 1, SIZE_MAX / 2, &s->record));
  CLI_TRY(option_real(o, OPTION_THRESHOLD, 0.0, 1.0, &contacts->list.threshold));
  if (o->value[OPTION_THRESHOLD] && !o->value[OPTION_CONTACTS]) {
    return usage_error(o->command, "--threshold works only with --contacts");
  }
  if (folder_is_named(o)) {
    return run_in_folder(s, o);
  }
  CLI_TRY(worlds_open(&s->worlds, o));
  CLI_TRY(worlds_need_steps(&s->worlds));
  CLI_TRY(o->value[OPTION_CONTACTS] ? need_contacts("--contacts", o, &s->worlds.info) : EXIT_GOOD);
  CLI_TRY(need_still_links(&s->worlds, o));
  s->rows = count_rows(s);
  CLI_TRY(take_memory(s));
  CLI_TRY(step_shown(s));
  warn_worlds(s->status, s->status_step, s->fast_links, s->worlds.count);
  if (o->value[OPTION_CONTACTS]) {
    s->contacts = contacts;
    CLI_TRY(find_contacts(contacts, s));
  }
  CLI_TRY(find_readings(s));
  CLI_TRY(write(s));
  if (sums_up(o)) {
    summarise(s);
  }
  return EXIT_GOOD;
}

exit_code cmd_simulate(const options *o)
{
  simulation s = {.record = 1};
  kept_contacts contacts = {.list = {.threshold = 0.05, .grows = true}};
  const exit_code code = run(&s, o, &contacts);
  free_memory(&s);
  free_contacts(&contacts);
  free_readings(&s.read);
  worlds_close(&s.worlds);
  return code;
}
