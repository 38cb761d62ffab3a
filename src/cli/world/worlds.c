#include "world/worlds.h"

#include "core/folder/folder.h"
#include "world/simulated.h"
#include "world/world_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST ((size_t)1 << 40)
#define WORLDS_MOST ((size_t)1 << 31)

exit_code worlds_reals(const worlds *w, size_t a, size_t b, size_t c, void **out)
{
  size_t count = 0;
  const size_t bytes = real_bytes(w->session.precision);
  *out = multiply(a, b, c, &count) ? calloc(count ? count : 1, bytes) : NULL;
  return *out ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu x %zu x %zu numbers", a, b, c);
}

exit_code worlds_status(const worlds *w, uint32_t **out)
{
  *out = calloc(w->count ? w->count : 1, sizeof **out);
  return *out ? EXIT_GOOD : report(EXIT_RUN, "no memory for the status of %zu worlds", w->count);
}

exit_code worlds_check(worlds *w, const options *o, worlds_steps rule)
{
  *w = (worlds){.o = o,
                .rule = rule,
                .precision = ABUT_FLOAT32,
                .count = 1,
                .steps = rule == STEPS_ONE};
  CLI_TRY(need_operands(o, 1, "a scene"));
  CLI_TRY(option_precision(o, &w->precision));
  CLI_TRY(option_whole(o, OPTION_STEPS, rule == STEPS_OR_NONE ? 0 : 1, STEPS_MOST, &w->steps));
  CLI_TRY(option_whole(o, OPTION_WORLDS, 1, WORLDS_MOST, &w->count));
  if (o->value[OPTION_WORLDS] && o->value[OPTION_STATES]) {
    return usage_error(o->command,
                       "--states already determines the number of worlds: leave out --worlds");
  }
  if (o->value[OPTION_START] && o->value[OPTION_STATES]) {
    return usage_error(o->command,
                       "--states already contains the start of the worlds: leave out --start");
  }
  return check_inputs(o);
}

exit_code worlds_need_steps(const worlds *w)
{
  const options *o = w->o;
  return o->value[OPTION_STEPS] || w->each
           ? EXIT_GOOD
           : usage_error(o->command, "--steps T is missing; it is needed unless controls of shape "
                                     "(T, N, nu) give the number of steps");
}

exit_code worlds_check_output(const options *o)
{
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return folder_check_output(o);
}

/* ---- initial states ---- */

#define SIMULATED_NAME(ID, name) #name,
const char *const simulated_names[SIMULATED_COUNT] = {SIMULATED_ARRAYS(SIMULATED_NAME)};

/* Parameters that files of states may contain besides the arrays of an earlier output. */
static const char *const parameter_names[] = {"mass_scale", "friction", "stiffness", "gravity",
                                              "springs"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
  size_t k = 0;
  while (k < count && strcmp(name, names[k]) != 0) {
    ++k;
  }
  return k < count;
}

/* A misspelt name would silently be ignored. */
static void warn_names(const inputs *f)
{
  for (size_t i = 0; i < f->npz.count; ++i) {
    const char *name = f->npz.arrays[i].name;
    if (!is_among(name, simulated_names, SIMULATED_COUNT) &&
        !is_among(name, parameter_names, sizeof parameter_names / sizeof *parameter_names)) {
      warn("%s: array '%s' is not an input of worlds; it is ignored", f->path, name);
    }
  }
}

/* Takes the last row of (rows, worlds, width), or all of (worlds, width). */
static exit_code take_state(worlds *w, const char *name, size_t width, const void **out)
{
  inputs *f = &w->states;
  const abut_array *a = inputs_find(f, name);
  const bool rows = a && a->dimensions == 3 && a->shape[0] > 0;
  const size_t shape[3] = {rows ? a->shape[0] : w->count, rows ? w->count : width, width};
  char what[96];
  snprintf(what, sizeof what, "%zu worlds of %s, whose %s has %zu numbers", w->all, "the scene",
           name, width);
  CLI_TRY(inputs_numbers(f, name, rows ? 3 : 2, shape, what, w->session.precision, out));
  if (rows) {
    const size_t before = (shape[0] - 1) * w->count * width * real_bytes(w->session.precision);
    *out = (const char *)*out + before;
  }
  return EXIT_GOOD;
}

static exit_code take_parameters(worlds *w)
{
  const char *of = w->info.automatic ? "one per listed pair, then one per body of automatic pairs"
                                     : "one per pair";
  const struct {
    const char *name, *of;
    size_t width;
    const void **to;
  } all[] = {{"mass_scale", "one per link", w->info.links, &w->mass_scale},
             {"friction", of, w->info.parameters, &w->friction},
             {"stiffness", of, w->info.parameters, &w->stiffness},
             {"gravity", "x, y, z", 3, &w->gravity}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const size_t shape[2] = {w->count, all[i].width};
    CLI_TRY(inputs_numbers(&w->states, all[i].name, 2, shape, all[i].of, w->session.precision,
                           all[i].to));
  }
  return EXIT_GOOD;
}

/* For worlds in blocks, warnings are printed once, when the worlds are described. */
static bool tells(const worlds *w)
{
  return !w->in_blocks || !w->count;
}

static exit_code take_springs(worlds *w)
{
  inputs *f = &w->states;
  const size_t shape[3] = {w->count, w->info.pairs, SPRING_WIDTH};
  if (!w->info.springs && inputs_find(f, "springs")) {
    return report(EXIT_INPUT, "%s: array 'springs': the contacts of the scene are not springs",
                  f->path);
  }
  CLI_TRY(inputs_numbers(f, "springs", 3, shape, "k, mu, v_d, v_s, eps2, eps3 of each pair",
                         w->session.precision, &w->springs));
  if (tells(w) && inputs_find(f, "springs") && inputs_find(f, "friction")) {
    warn("%s: array 'friction' is ignored, because 'springs' contains the mu of every pair",
         f->path);
  }
  return EXIT_GOOD;
}

/* Returns whether one of a world's parameters, from `first` on, is negative, or with `or_zero` not
 * above 0. */
static bool any_below(const worlds *w, const void *numbers, size_t first, bool or_zero,
                      size_t world)
{
  const size_t width = w->info.parameters;
  bool below = false;
  for (size_t k = first; numbers && k < width; ++k) {
    const double x = real_at(numbers, w->session.precision, world * width + k);
    below = below || x < 0.0 || (or_zero && !(x > 0.0));
  }
  return below;
}

/* All numbers must be above 0, except mu, which may be 0. Otherwise no step is finite. */
static bool has_bad_springs(const worlds *w, size_t world)
{
  const size_t width = SPRING_WIDTH * w->info.pairs;
  bool good = true;
  for (size_t k = 0; w->springs && k < width; ++k) {
    const double x = real_at(w->springs, w->session.precision, world * width + k);
    good = good && (x > 0.0 || (k % SPRING_WIDTH == SPRING_MU && x >= 0.0));
  }
  return !good;
}

/* Contacts raise parameters that are too small; springs do not. Springs ignore mu of `friction` if
 * `springs` has it. */
enum {
  BAD_SPRINGS = 1,
  BAD_FRICTION = 2,
  BAD_STIFFNESS = 4,
  SPRING_FRICTION = 8,
  SPRING_STIFFNESS = 16
};

static const struct {
  uint8_t bit;
  const char *name, *what;
} bad_parameters[] = {{BAD_SPRINGS, "springs", "numbers that are not above 0 (mu: below 0)"},
                      {BAD_FRICTION, "friction", "negative numbers, which count as 1e-5"},
                      {BAD_STIFFNESS, "stiffness", "negative numbers, which count as 1e-6"},
                      {SPRING_FRICTION, "friction", "negative numbers"},
                      {SPRING_STIFFNESS, "stiffness", "numbers that are not above 0"}};
#define BAD_PARAMETERS (sizeof bad_parameters / sizeof *bad_parameters)

const status_note parameter_notes[] = {
  {BAD_SPRINGS, BAD_SPRINGS,
   "worlds whose array 'springs' has numbers that are not above 0 (mu: below 0)",
   "They stay at their start."},
  {BAD_FRICTION, BAD_FRICTION, "worlds whose array 'friction' has negative numbers",
   "These count as 1e-5."},
  {BAD_STIFFNESS, BAD_STIFFNESS, "worlds whose array 'stiffness' has negative numbers",
   "These count as 1e-6."},
  {SPRING_FRICTION, SPRING_FRICTION, "worlds whose array 'friction' has negative numbers",
   "They stay at their start."},
  {SPRING_STIFFNESS, SPRING_STIFFNESS,
   "worlds whose array 'stiffness' has numbers that are not above 0", "They stay at their start."},
  {0}};

static exit_code judge_parameters(worlds *w)
{
  free(w->bad);
  w->bad = calloc(w->count ? w->count : 1, sizeof *w->bad);
  if (!w->bad) {
    return report(EXIT_RUN, "no memory for %zu worlds", w->count);
  }
  const bool springs = w->info.by_springs;
  const uint8_t friction = springs ? SPRING_FRICTION : BAD_FRICTION,
                stiffness = springs ? SPRING_STIFFNESS : BAD_STIFFNESS;
  for (size_t i = 0; i < w->count; ++i) {
    w->bad[i] =
      (uint8_t)((has_bad_springs(w, i) ? BAD_SPRINGS : 0) |
                (any_below(w, w->friction, w->springs ? w->info.pairs : 0, false, i) ? friction
                                                                                     : 0) |
                (any_below(w, w->stiffness, 0, springs, i) ? stiffness : 0));
  }
  return EXIT_GOOD;
}

/* For a single file; for worlds in blocks the folder warns after all are done. */
static void warn_parameters(const worlds *w)
{
  for (size_t k = 0; k < BAD_PARAMETERS; ++k) {
    named_worlds n = {0};
    for (size_t i = 0; i < w->count; ++i) {
      if (w->bad[i] & bad_parameters[k].bit) {
        name_world(&n, i);
      }
    }
    if (n.found) {
      warn("%s: array '%s': %s %s %s", w->states.path, bad_parameters[k].name,
           print_worlds(&n, w->count).text, n.found == 1 ? "has" : "have", bad_parameters[k].what);
    }
  }
}

static exit_code start_at_rest(worlds *w, void **out)
{
  CLI_TRY(worlds_reals(w, w->count, w->info.nv, 1, &w->start_v));
  *out = w->start_v;
  return EXIT_GOOD;
}

/* Dimension of the worlds in arrays of states; of several states the last one is used. */
static int state_axis(const abut_array *a)
{
  static const char *const of_worlds[] = {"mass_scale", "friction", "stiffness", "gravity",
                                          "springs"};
  if (strlen(a->name) == 1 && strchr("qvw", *a->name)) {
    return a->dimensions == 3 ? 1 : 0;
  }
  for (size_t i = 0; i < sizeof of_worlds / sizeof *of_worlds; ++i) {
    if (strcmp(a->name, of_worlds[i]) == 0) {
      return 0;
    }
  }
  return NOT_WANTED;
}

/* Finds the number of worlds. */
static exit_code open_states(worlds *w)
{
  inputs *f = &w->states;
  const char *path = w->o->value[OPTION_STATES];
  CLI_TRY(w->in_blocks ? inputs_open_rows(f, path, state_axis, 0) : inputs_open(f, path));
  const abut_array *q = inputs_find(f, "q");
  CLI_TRY(q ? inputs_check_type(f, q) : EXIT_GOOD);
  if (!q || (q->dimensions != 2 && q->dimensions != 3)) {
    return report(EXIT_INPUT, "%s: %s", f->path,
                  q ? "array 'q': must have shape (worlds, nq) or (states, worlds, nq)"
                    : "contains no q, the start of the worlds");
  }
  w->count = w->all = f->all = q->shape[q->dimensions - 2];
  f->last = true;
  warn_names(f);
  return EXIT_GOOD;
}

static exit_code take_states(worlds *w)
{
  CLI_TRY(take_state(w, "q", w->info.nq, &w->q));
  CLI_TRY(take_state(w, "v", w->info.nv, &w->v));
  CLI_TRY(take_state(w, "w", w->info.nv, &w->w));
  if (!w->v) {
    void *rest = NULL;
    CLI_TRY(start_at_rest(w, &rest));
    w->v = rest;
  }
  CLI_TRY(take_parameters(w));
  CLI_TRY(take_springs(w));
  CLI_TRY(judge_parameters(w));
  if (!w->in_blocks) {
    warn_parameters(w);
  }
  return EXIT_GOOD;
}

/* Finds the number of the initial state named by --start. */
static exit_code find_start(const worlds *w, size_t *out)
{
  const char *wanted = w->o->value[OPTION_START], *name;
  char known[512] = "";
  for (*out = 0; *out < w->info.starts; ++*out) {
    CLI_TRY(report_status(abut_get_named_start(w->links, *out, &name, NULL, NULL, NULL)));
    if (strcmp(name, wanted) == 0) {
      return EXIT_GOOD;
    }
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s`%s`", used ? ", " : "", name);
  }
  return report(EXIT_INPUT, "%s: there is no start `%s`: %s%s", w->o->operands[0], wanted,
                w->info.starts ? "the starts of the scene are " : "the scene has no starts", known);
}

/* Gives every world the same row. */
static exit_code repeat_row(const worlds *w, const double *row, size_t width, void **out)
{
  CLI_TRY(worlds_reals(w, w->count, width, 1, out));
  for (size_t i = 0; i < w->count * width; ++i) {
    if (w->session.precision == ABUT_FLOAT64) {
      ((double *)*out)[i] = row[i % width];
    } else {
      ((float *)*out)[i] = (float)row[i % width];
    }
  }
  return EXIT_GOOD;
}

/* Gives all worlds the scene's initial state, or the one named by --start. Its controls apply
 * unless others are given. */
static exit_code start_worlds(worlds *w)
{
  const size_t nq = w->info.nq, nv = w->info.nv, nu = w->info.nu;
  double *q = calloc(nq + nv + nu + 1, sizeof *q), *const v = q + nq, *const u = v + nv;
  exit_code code = EXIT_GOOD;
  if (!q) {
    return report(EXIT_RUN, "no memory for %zu numbers", nq + nv + nu);
  }
  if (w->o->value[OPTION_START]) {
    size_t i;
    CLI_TRY_DONE(find_start(w, &i));
    CLI_TRY_DONE(report_status(abut_get_named_start(w->links, i, NULL, q, v, u)));
    CLI_TRY_DONE(repeat_row(w, u, nu, &w->start_u));
  } else {
    CLI_TRY_DONE(report_status(abut_get_scene_start(w->links, q)));
  }
  CLI_TRY_DONE(repeat_row(w, q, nq, &w->start_q));
  CLI_TRY_DONE(repeat_row(w, v, nv, &w->start_v));
  w->q = w->start_q;
  w->v = w->start_v;
  w->u = w->start_u;
done:
  free(q);
  return code;
}

static int control_axis(const abut_array *a)
{
  return strcmp(a->name, "u") != 0 ? NOT_WANTED : a->dimensions == 3 ? 1 : 0;
}

static exit_code open_controls(worlds *w)
{
  const char *path = w->o->value[OPTION_CONTROLS];
  return w->in_blocks ? inputs_open_rows(&w->controls, path, control_axis, w->all)
                      : inputs_open(&w->controls, path);
}

static exit_code take_controls(worlds *w)
{
  const inputs *const f = &w->controls;
  char what[128];
  const abut_array *u = inputs_find(f, "u");
  if (!u) {
    return report(EXIT_INPUT, "%s: contains no u, the controls", f->path);
  }
  w->each = u->dimensions == 3;
  if (w->each && w->rule != STEPS_ONE && !w->o->value[OPTION_STEPS]) {
    w->steps = u->shape[0];
  }
  if (w->each && !u->shape[0] && w->rule != STEPS_OR_NONE) {
    return report(EXIT_INPUT, "%s: array 'u': must have at least one step", f->path);
  }
  const size_t held[2] = {w->count, w->info.nu}, each[3] = {w->steps, w->count, w->info.nu};
  snprintf(what, sizeof what, "%zu step%s of %zu world%s, and %zu control%s", w->steps,
           w->steps == 1 ? "" : "s", w->all, w->all == 1 ? "" : "s", w->info.nu,
           w->info.nu == 1 ? "" : "s");
  CLI_TRY(inputs_numbers(&w->controls, "u", w->each ? 3 : 2, w->each ? each : held, what,
                         w->session.precision, &w->u));
  if (!w->info.nu && tells(w)) {
    warn("%s: the scene has no controls; the file is ignored", f->path);
  }
  return EXIT_GOOD;
}

#define GAP_MOST 0.045 /* adequate meshes are below: abut_scene_info.cloud_gap */

void warn_coarse(const char *path, const abut_scene_info *info)
{
  if (info->cloud_gap > GAP_MOST) {
    warn(
      "%s: links[%zu].bodies[%zu]: the error of the field of its cloud is up to %.2g %% of its "
      "diagonal, at its faces or in its hollows: the mesh is too coarse or too hollow for springs, "
      "so bodies may fall through it, rest on its openings or gain energy (docs/scenes.md#springs)",
      path, info->cloud_link, info->cloud_body, 100.0 * info->cloud_gap);
  }
}

#define SINKING_MOST 0.01 /* of the smaller body's diagonal */

/* Writes the place of a pair, or of the bodies of an automatic one. */
static exit_code name_pair(abut_scene links, const abut_scene_info *info, size_t i, char *text,
                           size_t room)
{
  size_t of[2], link[2], body[2];
  if (i < info->pairs) {
    snprintf(text, room, "pairs[%zu]", i);
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(abut_get_candidate(links, i, &of[0], &of[1])));
  for (int side = 0; side < 2; ++side) {
    CLI_TRY(report_status(abut_get_scene_body(links, of[side], &link[side], &body[side])));
  }
  snprintf(text, room, "links[%zu].bodies[%zu] and links[%zu].bodies[%zu]", link[0], body[0],
           link[1], body[1]);
  return EXIT_GOOD;
}

exit_code warn_sinking(const char *path, abut_scene links, const abut_scene_info *info)
{
  if (info->sinking_share > SINKING_MOST) {
    char others[48] = "", pair[160];
    CLI_TRY(name_pair(links, info, info->sinking_pair, pair, sizeof pair));
    if (info->sinking_pairs > 1) {
      snprintf(others, sizeof others, ", and %zu more by less", info->sinking_pairs - 1);
    }
    warn("%s: %s: at rest its spring gives way by %.2g mm, which is %.2g %% of the smaller body's "
         "diagonal%s; with k = %.2g N/m it is 1 %% (docs/spring.md#worlds)",
         path, pair, 1e3 * info->sinking, 100.0 * info->sinking_share, others, info->sinking_k);
  }
  return EXIT_GOOD;
}

void warn_diagnostics(const char *path, const abut_scene_info *info)
{
  char others[64] = "";
  if (info->suspicious_bodies > 1) {
    snprintf(others, sizeof others, "; %zu more bodies have such warnings",
             info->suspicious_bodies - 1);
  }
  for (uint32_t bit = 1; bit && bit <= info->report.suspicions; bit <<= 1) {
    char text[512];
    if (abut_suspicion_text(&info->report, (abut_suspicion)bit, text, sizeof text)) {
      warn("%s: links[%zu].bodies[%zu]: %s%s", path, info->suspicious_link, info->suspicious_body,
           text, others);
    }
  }
}

exit_code warn_suspicions(const char *path, abut_scene links)
{
  size_t count;
  CLI_TRY(report_status(abut_check_scene(links, &count)));
  for (size_t i = 0; i < count; ++i) {
    const char *text;
    CLI_TRY(report_status(abut_get_scene_warning(links, i, &text)));
    warn("%s: %s", path, text);
  }
  return EXIT_GOOD;
}

exit_code load_scene(const session *s, const options *o, abut_scene *links, abut_scene_info *info)
{
  progress p = progress_begin(o, o->operands[0]);
  abut_scene_options how = abut_default_scene_options();
  how.progress = progress_share;
  how.user = &p;
  progress_say(&p, "reading %s", o->operands[0]);
  const abut_status status = abut_load_scene_with(s->context, o->operands[0], &how, links);
  progress_end(&p);
  CLI_TRY(report_status(status));
  CLI_TRY(report_status(abut_get_scene_info(*links, info)));
  warn_coarse(o->operands[0], info);
  warn_diagnostics(o->operands[0], info);
  CLI_TRY(warn_sinking(o->operands[0], *links, info));
  return warn_suspicions(o->operands[0], *links);
}

exit_code need_listed(const char *what, const options *o, const abut_scene_info *info)
{
  return info->automatic
           ? report(EXIT_INPUT,
                    "%s: %s needs listed pairs, but the scene has automatic ones: list them in "
                    "`pairs`, as `abut import --list-pairs` does (docs/scenes.md#automatic-pairs)",
                    o->operands[0], what)
           : EXIT_GOOD;
}

exit_code worlds_open(worlds *w, const options *o)
{
  CLI_TRY(session_open(&w->session, o, w->precision));
  CLI_TRY(load_scene(&w->session, o, &w->links, &w->info));
  return worlds_read(w);
}

exit_code worlds_read(worlds *w)
{
  w->all = w->count;
  if (w->o->value[OPTION_STATES]) {
    CLI_TRY(open_states(w));
    CLI_TRY(take_states(w));
  } else {
    CLI_TRY(start_worlds(w));
  }
  if (!w->o->value[OPTION_CONTROLS]) {
    return EXIT_GOOD;
  }
  CLI_TRY(open_controls(w));
  return take_controls(w);
}

exit_code worlds_open_blocks(worlds *w, const options *o)
{
  w->in_blocks = true;
  CLI_TRY(session_open(&w->session, o, w->precision));
  CLI_TRY(load_scene(&w->session, o, &w->links, &w->info));
  w->all = w->count;
  CLI_TRY(o->value[OPTION_STATES] ? open_states(w) : EXIT_GOOD);
  return o->value[OPTION_CONTROLS] ? open_controls(w) : EXIT_GOOD;
}

static void free_start(worlds *w)
{
  free(w->start_q);
  free(w->start_v);
  free(w->start_u);
  w->start_q = w->start_v = w->start_u = NULL;
}

exit_code worlds_read_block(worlds *w, size_t first, size_t count)
{
  free_start(w);
  w->count = count;
  if (w->states.path) {
    CLI_TRY(inputs_read_rows(&w->states, first, count));
    CLI_TRY(take_states(w));
  } else {
    CLI_TRY(start_worlds(w));
  }
  if (!w->controls.path) {
    return EXIT_GOOD;
  }
  CLI_TRY(inputs_read_rows(&w->controls, first, count));
  return take_controls(w);
}

exit_code need_contacts(const char *what, const options *o, const abut_scene_info *info)
{
  return info->clouds ? report(EXIT_INPUT,
                               "%s: %s: its contacts are springs between whole bodies, which have "
                               "no list of contacts",
                               o->operands[0], what)
                      : EXIT_GOOD;
}

moved_control worlds_moved(const worlds *w)
{
  const size_t nu = w->info.nu, moved = 6 * w->info.moved,
               rows = (w->each ? w->steps : 1) * w->count;
  for (size_t i = 0; w->u && moved && i < rows; ++i) {
    for (size_t k = nu - moved; k < nu; ++k) {
      if (real_at(w->u, w->session.precision, i * nu + k) != 0.0) {
        return (moved_control){true, i / w->count, i % w->count, k};
      }
    }
  }
  return (moved_control){.any = false};
}

exit_code need_still(const char *what, const worlds *w)
{
  const moved_control m = worlds_moved(w);
  return m.any
           ? report(EXIT_INPUT,
                    "%s: %s: control %zu of world %zu in step %zu moves a link, but this option "
                    "uses stored states, which have moved links only at the poses in the scene "
                    "(docs/scenes.md#moved-links)",
                    w->o->operands[0], what, m.control, m.world, m.step)
           : EXIT_GOOD;
}

void worlds_close(worlds *w)
{
  free_start(w);
  free(w->bad);
  inputs_close(&w->states);
  inputs_close(&w->controls);
  session_close(&w->session);
}

abut_worlds worlds_describe(const worlds *w)
{
  abut_worlds a = abut_default_worlds();
  a.count = w->count;
  a.steps = w->steps;
  a.q = w->q;
  a.v = w->v;
  a.w = w->w;
  a.mass_scale = w->mass_scale;
  a.friction = w->friction;
  a.stiffness = w->stiffness;
  a.gravity = w->gravity;
  a.springs = w->springs;
  return a;
}

void worlds_swap(const worlds *w, size_t a, size_t b, size_t width, const void *from, void *to)
{
  const size_t row = width * real_bytes(w->precision);
  for (size_t i = 0; i < a * b; ++i) {
    memcpy((char *)to + (i % b * a + i / b) * row, (const char *)from + i * row, row);
  }
}
