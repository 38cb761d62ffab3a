#include "world/compare/compare.h"

#include "core/json_text.h"
#include "core/outputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const law laws[LAWS] = {{"cone", true, false}, {"lcp", false, false}, {"spring", false, true}};

static const struct {
  uint32_t bit;
  const char *name;
} status_names[] = {{ABUT_WORLD_NOT_FINITE, "must be finite"},
                    {ABUT_WORLD_DIVERGED, "diverged"},
                    {ABUT_WORLD_OVERFLOW, "contacts left out"},
                    {ABUT_WORLD_NOT_CONVERGED, "not solved"},
                    {ABUT_WORLD_SINGULAR, "singular"},
                    {ABUT_WORLD_BAD_INPUT, "bad input"},
                    {ABUT_WORLD_SQUEEZED, "squeezed"},
                    {ABUT_WORLD_FAST, "too fast"},
                    {ABUT_WORLD_GAINED, "gained energy"},
                    {ABUT_WORLD_SWEPT, "swept"},
                    {ABUT_WORLD_SWEEP_LIMIT, "too many impacts"},
                    {ABUT_WORLD_DEEP, "deep"}};

status_text print_status(uint32_t status)
{
  status_text t = {"ok"};
  size_t used = 0;
  for (size_t i = 0; i < sizeof status_names / sizeof *status_names; ++i) {
    if (status & status_names[i].bit) {
      used += (size_t)snprintf(t.text + used, sizeof t.text - used, "%s%s", used ? ", " : "",
                               status_names[i].name);
    }
  }
  return t;
}

double series_most(const double *x, size_t count)
{
  double most = (double)NAN;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, x[i]);
  }
  return most;
}

/* ---- options ---- */

/* Chooses the laws of --models, in the order of the table, or all. */
static exit_code choose_laws(const options *o, bool chosen[LAWS])
{
  const char *names[LAWS];
  size_t list[LIST_ROOM] = {0}, count = 0;
  for (size_t i = 0; i < LAWS; ++i) {
    names[i] = laws[i].name;
    chosen[i] = !o->value[OPTION_MODELS];
  }
  CLI_TRY(option_word_list(o, OPTION_MODELS, names, LAWS, list, &count));
  for (size_t i = 0; i < count; ++i) {
    if (chosen[list[i]]) {
      return usage_error(o->command, "--models names %s twice", names[list[i]]);
    }
    chosen[list[i]] = true;
  }
  return EXIT_GOOD;
}

static exit_code check_usage(comparison *c, const options *o, bool chosen[LAWS])
{
  CLI_TRY(worlds_check(&c->worlds, o, STEPS_OF_CONTROLS));
  CLI_TRY(choose_laws(o, chosen));
  CLI_TRY(option_whole(o, OPTION_RECORD, 1, SIZE_MAX / 2, &c->record));
  CLI_TRY(option_whole(o, OPTION_COORDINATE, 0, SIZE_MAX, &c->coordinate));
  CLI_TRY(option_whole(o, OPTION_WORLD, 0, SIZE_MAX, &c->world));
  c->default_coordinate = !o->value[OPTION_COORDINATE];
  if (o->value[OPTION_WORLD] && !o->value[OPTION_STATES]) {
    return usage_error(o->command, "--world works only with --states");
  }
  if (!o->value[OPTION_CONTROLS]) {
    CLI_TRY(worlds_need_steps(&c->worlds));
  }
  if (o->value[OPTION_OUTPUT]) {
    CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
    CLI_TRY(check_own_output(o));
  }
  if (o->value[OPTION_SERIES]) {
    CLI_TRY(check_not_input(o, o->value[OPTION_SERIES]));
    CLI_TRY(check_series(o));
  }
  return EXIT_GOOD;
}

/* ---- laws ---- */

/* An error in the scene itself is the same for every law. */
static exit_code nothing_left(const comparison *c)
{
  const char *first = c->out[0].reason;
  bool alike = true;
  for (size_t i = 1; i < c->out_count; ++i) {
    alike = alike && strcmp(c->out[i].reason, first) == 0;
  }
  if (alike) {
    return report(EXIT_INPUT, "%s", first);
  }
  for (size_t i = 0; i < c->out_count; ++i) {
    warn("%s: %s", c->out[i].law->name, c->out[i].reason);
  }
  return report(EXIT_INPUT, "%s: there is no contact law to compare", c->worlds.o->operands[0]);
}

static exit_code load_law(comparison *c, const law *l, progress *p)
{
  law_run *r = &c->runs[c->run_count];
  abut_scene_options how = abut_default_scene_options();
  how.contact_model = l->name;
  how.progress = progress_share;
  how.user = p;
  r->law = l;
  const abut_status status =
    abut_load_scene_with(c->worlds.session.context, c->worlds.o->operands[0], &how, &r->links);
  if (status == ABUT_SUCCESS) {
    abut_scene_info info;
    ++c->run_count;
    CLI_TRY(report_status(abut_get_scene_info(r->links, &info)));
    CLI_TRY(need_listed("compare", c->worlds.o, &info)); /* before any warnings */
    r->whole_forces = info.clouds;
    warn_coarse(c->worlds.o->operands[0], &info);
    if (c->run_count == 1) { /* the bodies are the same for each law */
      warn_diagnostics(c->worlds.o->operands[0], &info);
    }
    CLI_TRY(warn_sinking(c->worlds.o->operands[0], r->links, &info));
    char path[512];
    snprintf(path, sizeof path, "%s by \"%s\"", c->worlds.o->operands[0], l->name);
    return warn_suspicions(path, r->links);
  }
  if (status_exit_code(status) != EXIT_INPUT) {
    return report_status(status);
  }
  left_out *out = &c->out[c->out_count++];
  out->law = l;
  snprintf(out->reason, sizeof out->reason, "%s", abut_last_error());
  return EXIT_GOOD;
}

/* Penetration depths need a scene whose pairs have contacts. If all laws are springs between
 * clouds, the scene is loaded once more, with laws[0]. */
static exit_code find_shapes(comparison *c)
{
  abut_scene_options how = abut_default_scene_options();
  for (size_t i = 0; i < c->run_count && !c->shaped; ++i) {
    c->shaped = !c->runs[i].whole_forces;
    c->shapes = c->runs[i].links;
  }
  if (c->shaped) {
    return EXIT_GOOD;
  }
  how.contact_model = laws[0].name;
  const abut_status status =
    abut_load_scene_with(c->worlds.session.context, c->worlds.o->operands[0], &how, &c->shapes);
  c->shaped = status == ABUT_SUCCESS;
  if (!c->shaped && status_exit_code(status) != EXIT_INPUT) {
    return report_status(status);
  }
  if (!c->shaped) {
    warn("the penetration depth of the bodies cannot be computed: %s", abut_last_error());
  }
  return EXIT_GOOD;
}

static exit_code load_laws(comparison *c, const bool chosen[LAWS])
{
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(c->worlds.o, c->worlds.o->operands[0]);
  progress_say(&p, "reading %s", c->worlds.o->operands[0]);
  for (size_t i = 0; i < LAWS && code == EXIT_GOOD; ++i) {
    code = chosen[i] ? load_law(c, &laws[i], &p) : EXIT_GOOD;
  }
  progress_end(&p);
  CLI_TRY(code);
  CLI_TRY(c->run_count ? EXIT_GOOD : nothing_left(c));
  for (size_t i = 0; i < c->out_count; ++i) {
    warn("%s is skipped: %s", c->out[i].law->name, c->out[i].reason);
  }
  CLI_TRY(find_shapes(c));
  c->worlds.links = c->runs[0].links;
  CLI_TRY(report_status(abut_get_scene_info(c->worlds.links, &c->worlds.info)));
  for (size_t i = 0; i < c->run_count; ++i) { /* numbers of springs apply to one law only; values
                                                 that other laws raise would stop this one */
    c->worlds.info.springs = c->runs[i].law->springs ? c->worlds.info.pairs
                                                     : c->worlds.info.springs;
    c->worlds.info.by_springs = c->worlds.info.by_springs && c->runs[i].law->springs;
  }
  return EXIT_GOOD;
}

/* Contacts given by the caller with each step are not available here. */
static exit_code check_pairs(const comparison *c)
{
  for (size_t i = 0; i < c->worlds.info.pairs; ++i) {
    abut_scene_pair p;
    CLI_TRY(report_status(abut_get_scene_pair(c->worlds.links, i, &p)));
    if (p.link[0] == -1 && p.link[1] == -1) {
      return report(EXIT_INPUT, "%s: pairs[%zu] has no bodies, so there are no contacts to compare",
                    c->worlds.o->operands[0], i);
    }
  }
  return EXIT_GOOD;
}

/* ---- the world ---- */

static const void *row_of(const comparison *c, const void *rows, size_t width)
{
  return rows ? (const char *)rows + c->world * width * real_bytes(c->worlds.session.precision)
              : NULL;
}

/* Takes one of all worlds in the files. */
static exit_code take_world(comparison *c)
{
  worlds *w = &c->worlds;
  const size_t nu = w->info.nu;
  if (c->world >= w->count) {
    return report_beyond(w->o->value[OPTION_STATES], "world", c->world, w->count);
  }
  if (w->u && w->each) {
    CLI_TRY(worlds_reals(w, w->steps, nu, 1, &c->row_u));
    const size_t row = nu * real_bytes(w->session.precision);
    for (size_t i = 0; i < w->steps; ++i) {
      memcpy((char *)c->row_u + i * row, (const char *)w->u + (i * w->count + c->world) * row, row);
    }
    w->u = c->row_u;
  } else {
    w->u = row_of(c, w->u, nu);
  }
  w->q = row_of(c, w->q, w->info.nq);
  w->v = row_of(c, w->v, w->info.nv);
  w->w = row_of(c, w->w, w->info.nv);
  w->mass_scale = row_of(c, w->mass_scale, w->info.links);
  w->friction = row_of(c, w->friction, w->info.parameters);
  w->stiffness = row_of(c, w->stiffness, w->info.parameters);
  w->gravity = row_of(c, w->gravity, 3);
  w->springs = row_of(c, w->springs, SPRING_WIDTH * w->info.pairs);
  w->count = 1;
  return EXIT_GOOD;
}

/* Depths are computed from positions only, but moved links are elsewhere. */
static void leave_depths(comparison *c)
{
  if (c->shaped && worlds_moved(&c->worlds).any) {
    warn("%s: controls move a link: the deepest penetration is not computed "
         "(docs/scenes.md#moved-links)",
         c->worlds.o->operands[0]);
    c->shaped = false;
  }
}

static exit_code take_times(comparison *c)
{
  const worlds *w = &c->worlds;
  c->rows = w->steps / c->record + (w->steps % c->record != 0) + 1;
  c->time = calloc(c->rows, sizeof *c->time);
  if (!c->time) {
    return report(EXIT_RUN, "no memory for %zu states", c->rows);
  }
  for (size_t i = 0; i < c->rows; ++i) {
    c->time[i] = (double)(i * c->record < w->steps ? i * c->record : w->steps) * w->info.timestep;
  }
  return EXIT_GOOD;
}

/* ---- output ---- */

static double end_energy(const comparison *c, const law_run *r)
{
  const abut_precision precision = c->worlds.session.precision;
  const size_t i = 2 * (c->rows - 1);
  return real_at(r->energy, precision, i) + real_at(r->energy, precision, i + 1);
}

static void print_table(const comparison *c)
{
  const worlds *w = &c->worlds;
  printf("%zu step%s of %g s, %zu states; gradient of the end's %s; on %s, %s\n\n", w->steps,
         w->steps == 1 ? "" : "s", w->info.timestep, c->rows, c->label,
         session_workers(&w->session).text, precision_name(w->session.precision));
  printf("%-8s %10s %15s %14s %18s %14s  %s\n", "law", "ms a step", "end energy [J]",
         "deepest [mm]", "largest force [N]", "gradient [s]", "status");
  for (size_t i = 0; i < c->run_count; ++i) {
    const law_run *r = &c->runs[i];
    printf("%-8s %10.3g %15.6g %14.4g %18.5g %14.5g  %s\n", r->law->name, 1e3 * r->seconds,
           end_energy(c, r), 1e3 * series_most(r->penetration, c->rows),
           series_most(r->force, c->rows), r->sensitivity[0], print_status(r->status).text);
  }
}

/* JSON cannot represent numbers that are not finite. */
static json_t *number(double x)
{
  return isfinite(x) ? json_real(x) : json_null();
}

static json_t *describe_run(const comparison *c, const law_run *r)
{
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "model", r->law->name,
                   "seconds_per_step", number(r->seconds), "end_energy", number(end_energy(c, r)),
                   "largest_penetration", number(series_most(r->penetration, c->rows)),
                   "largest_force", number(series_most(r->force, c->rows)), "gradient_at_start",
                   number(r->sensitivity[0]), "largest_gradient",
                   number(series_most(r->sensitivity, c->rows)), "status", (json_int_t)r->status,
                   "status_text", print_status(r->status).text);
}

static exit_code print_json(const comparison *c)
{
  const worlds *w = &c->worlds;
  json_t *all = json_array(), *out = json_array();
  bool good = all && out;
  for (size_t i = 0; i < c->run_count && good; ++i) {
    good = json_array_append_new(all, describe_run(c, &c->runs[i])) == 0;
  }
  for (size_t i = 0; i < c->out_count && good; ++i) {
    good = json_array_append_new(out, json_pack("{s:s, s:o}", "model", c->out[i].law->name,
                                                "reason", json_text(c->out[i].reason))) == 0;
  }
  json_t *root = json_pack("{s:o, s:s, s:f, s:I, s:I, s:I, s:s, s:o, s:o}", "device",
                           json_text(session_workers(&w->session).text), "precision",
                           precision_name(w->session.precision), "timestep", w->info.timestep,
                           "steps", (json_int_t)w->steps, "states", (json_int_t)c->rows,
                           "coordinate", (json_int_t)c->coordinate, "coordinate_text", c->label,
                           "laws", all, "left_out", out);
  good = good && root && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
  json_decref(root);
  if (good) {
    printf("\n");
  }
  return good ? EXIT_GOOD : report(EXIT_RUN, "the results cannot be printed");
}

/* ---- time series ---- */

/* Puts rows first, then laws, like the output of simulate for as many worlds. */
static exit_code gather(const comparison *c, size_t width, size_t bytes,
                        const void *const from[LAWS], void **out)
{
  size_t count = 0;
  const size_t row = width * bytes;
  *out = multiply(c->rows, c->run_count, width, &count) ? calloc(count + 1, bytes) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu states of %zu laws", c->rows, c->run_count);
  }
  for (size_t i = 0; i < c->rows; ++i) {
    for (size_t k = 0; k < c->run_count; ++k) {
      memcpy((char *)*out + (i * c->run_count + k) * row, (const char *)from[k] + i * row, row);
    }
  }
  return EXIT_GOOD;
}

static exit_code write_series(const comparison *c)
{
  enum { Q, V, ENERGY, PENETRATION, FORCE, GRADIENT, ARRAYS };
  static const char *const names[ARRAYS] = {"q", "v", "energy", "penetration", "force", "gradient"};
  const size_t nq = c->worlds.info.nq, nv = c->worlds.info.nv;
  const size_t widths[ARRAYS] = {nq, nv, 2, 1, 1, 2 * nv};
  void *made[ARRAYS] = {NULL};
  uint32_t status[LAWS];
  char models[64] = "";
  outputs l = {0};
  exit_code code = EXIT_GOOD;
  for (size_t a = 0; a < ARRAYS; ++a) {
    const void *from[LAWS];
    const bool reals = a <= ENERGY;
    const size_t bytes = reals ? real_bytes(c->worlds.session.precision) : sizeof(double);
    for (size_t k = 0; k < c->run_count; ++k) {
      const law_run *r = &c->runs[k];
      const void *const all[ARRAYS] = {r->q,           r->v,     r->energy,
                                       r->penetration, r->force, r->gradient};
      from[k] = all[a];
    }
    CLI_TRY_DONE(gather(c, widths[a], bytes, from, &made[a]));
    outputs_add(&l, names[a], reals ? real_type(&c->worlds.session) : ABUT_ARRAY_FLOAT64, made[a],
                a == PENETRATION || a == FORCE ? 2 : 3, c->rows, c->run_count, widths[a]);
  }
  for (size_t k = 0, used = 0; k < c->run_count; ++k) {
    status[k] = c->runs[k].status;
    used += (size_t)snprintf(models + used, sizeof models - used, "%s%s", k ? "," : "",
                             c->runs[k].law->name);
  }
  outputs_add(&l, "time", ABUT_ARRAY_FLOAT64, c->time, 1, c->rows, 0, 0);
  outputs_add(&l, "status", ABUT_ARRAY_UINT32, status, 1, c->run_count, 0, 0);
  outputs_add(&l, "models", ABUT_ARRAY_TEXT, models, 1, strlen(models), 0, 0);
  CLI_TRY_DONE(report_status(abut_write_npz(c->worlds.o->value[OPTION_SERIES], l.arrays, l.count)));
done:
  for (size_t a = 0; a < ARRAYS; ++a) {
    free(made[a]);
  }
  return code;
}

/* ---- the whole command ---- */

static exit_code run_laws(comparison *c)
{
  for (size_t i = 0; i < c->run_count; ++i) {
    CLI_TRY(compare_run(c, &c->runs[i]));
  }
  return EXIT_GOOD;
}

static exit_code run(comparison *c, const options *o)
{
  bool chosen[LAWS];
  CLI_TRY(check_usage(c, o, chosen));
  CLI_TRY(session_open(&c->worlds.session, o, c->worlds.precision));
  CLI_TRY(load_laws(c, chosen));
  CLI_TRY(check_pairs(c));
  CLI_TRY(worlds_read(&c->worlds));
  CLI_TRY(worlds_need_steps(&c->worlds));
  CLI_TRY(take_world(c));
  leave_depths(c);
  CLI_TRY(take_times(c));
  CLI_TRY(compare_coordinates(c));
  CLI_TRY(run_laws(c));
  CLI_TRY(o->value[OPTION_SERIES] ? write_series(c) : EXIT_GOOD);
  CLI_TRY(o->value[OPTION_OUTPUT] ? compare_picture(c, o->value[OPTION_OUTPUT]) : EXIT_GOOD);
  if (!keeps_stdout(o)) {
    return EXIT_GOOD;
  }
  if (o->value[OPTION_JSON]) {
    return print_json(c);
  }
  print_table(c);
  return EXIT_GOOD;
}

exit_code cmd_compare(const options *o)
{
  comparison c = {.record = 1};
  const exit_code code = run(&c, o);
  for (size_t i = 0; i < LAWS; ++i) {
    law_run *r = &c.runs[i];
    free(r->q);
    free(r->v);
    free(r->w);
    free(r->energy);
    free(r->penetration);
    free(r->force);
    free(r->gradient);
    free(r->sensitivity);
  }
  free(c.row_u);
  free(c.turns);
  free(c.time);
  worlds_close(&c.worlds);
  return code;
}
