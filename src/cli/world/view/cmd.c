#include "core/inputs.h"
#include "world/view/live.h"
#include "world/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".scene.json"
#define LEAST_THRESHOLD (1.0 / 255.0) /* see abut_page_options.threshold */

/* The content of a page. */
typedef struct view {
  const options *o;
  bool of_scene, serves;
  size_t index, world;
  abut_page_options page;
  session session;
  abut_poses poses; /* for a pair */
  abut_scene links; /* for a scene, like all that follows */
  abut_scene_info info;
  inputs states, controls;
  double *q, *energy, *v; /* (rows, nq), (rows, 2), (rows, nv) of the world; the last two or NULL */
  double *u;              /* (rows, nu) of the step from each state; NULL: unknown */
  size_t rows;
  char *html;
  size_t bytes;
} view;

static bool is_scene(const char *path)
{
  return ends_with(path, ENDING);
}

static exit_code check_no_server(const options *o)
{
  static const option_id of_servers[] = {OPTION_LISTEN, OPTION_OPEN, OPTION_PORT};
  for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; ++i) {
    if (o->value[of_servers[i]]) {
      return usage_error(o->command,
                         "%s works only with a server: with -o a page is written and not served",
                         option_name(of_servers[i]));
    }
  }
  return EXIT_GOOD;
}

static exit_code check_usage(view *v, const options *o)
{
  v->o = o;
  v->page = abut_default_page_options();
  CLI_TRY(
    need_operands(o, 2,
                  "two bodies, A and B, or a scene and the states of it that simulate wrote"));
  v->of_scene = is_scene(o->operands[0]);
  if (v->of_scene && o->value[OPTION_POSES]) {
    return usage_error(
      o->command,
      "--poses works only with two bodies; with a scene, the states are the second argument");
  }
  v->serves = !o->value[OPTION_OUTPUT];
  if (v->serves) { /* a user of the server has WebGL, or can use `render` */
    v->page.picture_width = v->page.picture_height = 0;
  }
  CLI_TRY(v->of_scene || v->serves ? EXIT_GOOD : need_option(o, OPTION_POSES));
  if (!v->of_scene && (o->value[OPTION_WORLD] || o->value[OPTION_CONTROLS])) {
    return usage_error(o->command, "%s works only with a scene",
                       o->value[OPTION_WORLD] ? "--world" : "--controls");
  }
  CLI_TRY(v->serves ? server_check(o) : check_no_server(o));
  CLI_TRY(option_real(o, OPTION_THRESHOLD, LEAST_THRESHOLD, 1.0, &v->page.threshold));
  CLI_TRY(option_whole(o, OPTION_INDEX, 0, (size_t)-1, &v->index));
  CLI_TRY(option_whole(o, OPTION_WORLD, 0, (size_t)-1, &v->world));
  CLI_TRY(check_inputs(o));
  if (v->serves) {
    return EXIT_GOOD;
  }
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return check_own_output(o);
}

static exit_code check_index(const view *v, const char *path, const char *what, size_t count)
{
  return v->index < count ? EXIT_GOOD : report_beyond(path, what, v->index, count);
}

/* ---- a pair ---- */

static bool are_finite(const double *numbers, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(numbers[i])) {
      return false;
    }
  }
  return true;
}

static uint8_t status_of(const double *pose, size_t width)
{
  if (!are_finite(pose, width)) {
    return ABUT_POSE_NOT_FINITE;
  }
  const bool empty = width == 7 && pose[3] == 0.0 && pose[4] == 0.0 && pose[5] == 0.0 &&
                     pose[6] == 0.0;
  return empty ? ABUT_POSE_NO_QUATERNION : ABUT_POSE_OK;
}

/* A page cannot show the status of its poses. */
static void warn_poses(const abut_poses *poses)
{
  const size_t width = pose_width(poses->kind);
  noted n = {0};
  for (size_t i = 0; i < poses->count; ++i) {
    const uint8_t one = status_of(poses->pose1 + i * width, width),
                  two = status_of(poses->pose2 + i * width, width);
    const uint8_t both = one == ABUT_POSE_OK || two == ABUT_POSE_NOT_FINITE ? two : one;
    noted_add(&n, pose_notes, &(abut_array){"status", ABUT_ARRAY_UINT8, 1, {1}, &both}, i);
  }
  noted_warn(&n, pose_notes, "Their frames lack a body and have no contacts.");
}

static exit_code make_pair_page(view *v)
{
  const options *o = v->o;
  const char *path = o->value[OPTION_POSES];
  CLI_TRY(path ? report_status(abut_load_poses(path, &v->poses)) : EXIT_GOOD);
  CLI_TRY(check_index(v, path ? path : "without --poses", "pose", path ? v->poses.count : 1));
  if (v->poses.pair) {
    warn_pairs();
  }
  warn_poses(&v->poses);
  CLI_TRY(session_open(&v->session, o, ABUT_FLOAT32));
  CLI_TRY(session_load(&v->session, o));
  CLI_TRY(path ? EXIT_GOOD : live_poses(&v->session, &v->poses));
  v->page.live = v->serves;
  v->page.first = v->index;
  v->page.names[0] = base_name(o->operands[0]); /* not in the body of a bare mesh */
  v->page.names[1] = base_name(o->operands[1]);
  v->rows = v->poses.count;
  progress p = progress_begin(o, "");
  progress_say(&p, v->serves ? "a page of %zu poses" : "contacts of %zu poses", v->rows);
  const abut_status status = abut_format_pair_page(v->session.pair, v->poses.kind, v->rows,
                                                   v->poses.pose1, v->poses.pose2, &v->page,
                                                   &v->html, &v->bytes);
  progress_end(&p);
  return report_status(status);
}

/* ---- a scene ---- */

/* Takes the rows of one world from an array (states, worlds, width). */
static exit_code take_world(view *v, const char *name, size_t count, size_t width, const char *what,
                            double **out)
{
  const size_t shape[3] = {v->rows, count, width};
  const void *all = NULL;
  size_t numbers = 0;
  CLI_TRY(inputs_numbers(&v->states, name, 3, shape, what, ABUT_FLOAT64, &all));
  if (!all) {
    return EXIT_GOOD;
  }
  *out = multiply(v->rows, width, 1, &numbers) ? calloc(numbers + 1, sizeof **out) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu states", v->rows);
  }
  for (size_t i = 0; i < v->rows; ++i) {
    memcpy(*out + i * width, (const double *)all + (i * count + v->world) * width,
           width * sizeof **out);
  }
  return EXIT_GOOD;
}

static exit_code check_times(const view *v, const double *time)
{
  for (size_t i = 0; i < v->rows; ++i) {
    if (!isfinite(time[i]) || (i && !(time[i] > time[i - 1]))) {
      return report(EXIT_INPUT,
                    "%s: array 'time': number %zu (0-based) must be larger than the previous one",
                    v->states.path, i);
    }
  }
  return EXIT_GOOD;
}

static void warn_states(const view *v)
{
  size_t bad = 0, first = 0;
  for (size_t i = v->rows; i-- > 0;) {
    if (!are_finite(v->q + i * v->info.nq, v->info.nq)) {
      ++bad;
      first = i;
    }
  }
  if (bad) {
    warn("%s: positions that are not finite: %zu of %zu states; the first one has index %zu. Their "
         "frames are empty.",
         v->states.path, bad, v->rows, first);
  }
}

/* Finds the row of controls for the step from a state; after the last step, its row applies. */
static exit_code find_row(const view *v, const double *time, size_t state, size_t steps,
                          size_t *row)
{
  const double step = nearbyint(time[state] / v->info.timestep);
  if (!(step >= 0.0 && step <= (double)steps)) {
    return report(EXIT_INPUT,
                  "%s: array 'u': has %zu steps, but state %zu (0-based) of %s is at step %g",
                  v->controls.path, steps, state, v->states.path, step);
  }
  *row = (size_t)step < steps ? (size_t)step : steps - 1;
  return EXIT_GOOD;
}

static exit_code read_controls(view *v, const double *time, size_t count)
{
  const size_t nu = v->info.nu;
  const void *all = NULL;
  char what[96];
  CLI_TRY(inputs_open(&v->controls, v->o->value[OPTION_CONTROLS]));
  const abut_array *u = inputs_find(&v->controls, "u");
  if (!u || u->dimensions < 2 || u->dimensions > 3 || !u->shape[0]) {
    return report(EXIT_INPUT,
                  "%s: contains no controls u of shape (worlds, nu) or (steps, worlds, nu)",
                  v->controls.path);
  }
  const bool each = u->dimensions == 3;
  const size_t steps = each ? u->shape[0] : 1, shape[3] = {steps, count, nu};
  snprintf(what, sizeof what, "%zu world%s, and %zu control%s", count, count == 1 ? "" : "s", nu,
           nu == 1 ? "" : "s");
  CLI_TRY(inputs_finite(&v->controls, "u", each ? 3 : 2, each ? shape : shape + 1, what,
                        ABUT_FLOAT64, &all));
  if (!nu) {
    warn("%s: the scene has no controls; the file is ignored", v->controls.path);
    return EXIT_GOOD;
  }
  size_t numbers = 0;
  v->u = multiply(v->rows, nu, 1, &numbers) ? calloc(numbers + 1, sizeof *v->u) : NULL;
  if (!v->u) {
    return report(EXIT_RUN, "no memory for the controls of %zu states", v->rows);
  }
  for (size_t i = 0; i < v->rows; ++i) {
    size_t row = 0;
    CLI_TRY(each ? find_row(v, time, i, steps, &row) : EXIT_GOOD);
    memcpy(v->u + i * nu, (const double *)all + (row * count + v->world) * nu, nu * sizeof *v->u);
  }
  return EXIT_GOOD;
}

/* Warns if forces are unknown, and returns whether it did. The page shows moved links at their
 * stated poses, which a step would not use. */
static bool warn_forces(const view *v)
{
  if (v->info.moved) {
    warn("%s: the scene has moved links: forces are not shown, even with --controls",
         v->o->operands[0]);
    return true;
  }
  if (v->info.nu && !v->o->value[OPTION_CONTROLS]) {
    warn("%s does not contain the scene's controls: forces are shown only with --controls",
         v->states.path);
    return true;
  }
  return false;
}

static exit_code read_states(view *v)
{
  const void *time = NULL;
  char what[96];
  CLI_TRY(inputs_open(&v->states, v->o->operands[1]));
  const abut_array *q = inputs_find(&v->states, "q");
  if (!q || !inputs_find(&v->states, "time") || q->dimensions != 3) {
    return report(EXIT_INPUT,
                  "%s: contains no q of shape (states, worlds, nq) and time of shape (states); use "
                  "the output of simulate",
                  v->states.path);
  }
  const size_t count = q->shape[1];
  v->rows = q->shape[0];
  CLI_TRY(check_index(v, v->states.path, "state", v->rows));
  if (v->world >= count) {
    return report_beyond(v->states.path, "world", v->world, count);
  }
  snprintf(what, sizeof what, "the scene has %zu positions per world", v->info.nq);
  CLI_TRY(take_world(v, "q", count, v->info.nq, what, &v->q));
  CLI_TRY(take_world(v, "energy", count, 2, "kinetic and potential of each state", &v->energy));
  if (!warn_forces(v)) { /* without velocities neither the page nor its server computes forces */
    snprintf(what, sizeof what, "the scene has %zu velocities per world", v->info.nv);
    CLI_TRY(take_world(v, "v", count, v->info.nv, what, &v->v));
  }
  CLI_TRY(
    inputs_numbers(&v->states, "time", 1, &v->rows, "one of each state", ABUT_FLOAT64, &time));
  CLI_TRY(check_times(v, time));
  CLI_TRY(v->o->value[OPTION_CONTROLS] ? read_controls(v, time, count) : EXIT_GOOD);
  warn_states(v);
  v->page.time = time;
  v->page.energy = v->energy;
  v->page.v = v->v;
  v->page.u = v->u;
  return EXIT_GOOD;
}

static exit_code make_scene_page(view *v)
{
  const options *o = v->o;
  CLI_TRY(session_open(&v->session, o, ABUT_FLOAT32));
  CLI_TRY(load_scene(&v->session, o, &v->links, &v->info));
  CLI_TRY(read_states(v));
  v->page.live = v->serves;
  v->page.first = v->index;
  progress p = progress_begin(o, "");
  progress_say(&p, v->serves ? "a page of %zu states" : "contacts of %zu states", v->rows);
  const abut_status status =
    abut_format_scene_page(v->links, v->rows, v->q, &v->page, &v->html, &v->bytes);
  progress_end(&p);
  return report_status(status);
}

/* Serves the page, and answers its requests. */
static exit_code serve(const view *v)
{
  live l = {.rows = v->rows,
            .first = v->index,
            .threshold = v->page.threshold,
            .session = &v->session,
            .poses = &v->poses,
            .of_world = v->of_scene,
            .links = v->links,
            .info = v->info,
            .q = v->q,
            .v = v->v,
            .u = v->u};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(live_begin(&l));
  const server_work work = {.page = v->html,
                            .page_bytes = v->bytes,
                            .parse = live_parse,
                            .warm_up = live_warm_up,
                            .compute = live_compute,
                            .user = &l};
  code = server_run(v->o, &work);
done:
  live_end(&l);
  return code;
}

exit_code cmd_view(const options *o)
{
  view v = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(&v, o));
  const double start = now();
  CLI_TRY_DONE(v.of_scene ? make_scene_page(&v) : make_pair_page(&v));
  if (v.serves) {
    code = serve(&v);
    goto done;
  }
  CLI_TRY_DONE(report_status(abut_write_file(o->value[OPTION_OUTPUT], v.html, v.bytes)));
  if (sums_up(o)) {
    printf("%zu %s%s, a page of %.3g MB, %.3g s on %s\n", v.rows, v.of_scene ? "state" : "pose",
           v.rows == 1 ? "" : "s", 1e-6 * (double)v.bytes, now() - start,
           session_workers(&v.session).text);
  }
done:
  abut_free(v.html);
  abut_free_poses(&v.poses);
  inputs_close(&v.states);
  inputs_close(&v.controls);
  free(v.q);
  free(v.v);
  free(v.u);
  free(v.energy);
  session_close(&v.session);
  return code;
}
