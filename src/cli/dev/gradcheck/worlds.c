#include "dev/gradcheck/gradcheck.h"
#include "dev/gradcheck/worlds_check_up.h"
#include "core/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS_FIRST 16 /* of --states, without --all */
#define WORLDS_NEAR 4   /* without --states */
#define ROLLOUT_STEPS 10
#define STEP 1e-4
#define SEED 0x2545f4914f6cdd1du
/* Distance of random worlds from the scene's initial state [m, rad] and from rest [m/s, rad/s]. */
#define NEAR_Q 2e-3
#define NEAR_V 0.1

static const char *const span_names[SPANS] = {"step", "rollout"};

/* ---- initial states of worlds ---- */

/* Copies given reals, else those of the scene, or 1. */
static exit_code copy_input(worlds_check_up *g, world_input input, const void *from,
                            const double *session_has)
{
  const size_t width = input_width(g, input), numbers = g->worlds.count * width;
  void *to = NULL;
  CLI_TRY(worlds_reals(&g->worlds, g->worlds.count, width, 1, &to));
  g->x[input] = to;
  for (size_t i = 0; i < numbers; ++i) {
    g->x[input][i] = from ? ((const double *)from)[i] : session_has ? session_has[i % width] : 1.0;
  }
  return EXIT_GOOD;
}

static exit_code copy_controls(worlds_check_up *g)
{
  const worlds *w = &g->worlds;
  void *to = NULL;
  CLI_TRY(worlds_reals(w, w->count, input_width(g, BY_U), 1, &to));
  g->x[BY_U] = to;
  if (w->u) {
    const size_t steps = w->each ? w->steps : 1;
    worlds_swap(w, steps, w->count, w->info.nu, w->u, to);
  }
  return EXIT_GOOD;
}

#define FRICTIONS_APART 0.01 /* relative spread of the frictions of bodies */

/* An automatic pair uses the larger friction of its bodies. This has a kink where they are equal,
 * as they are in most scenes. */
static void spread_frictions(const abut_scene_info *info, double *friction)
{
  for (size_t i = info->pairs; i < info->parameters; ++i) {
    friction[i] *=
      1.0 + FRICTIONS_APART * (double)(i - info->pairs) / (double)(info->parameters - info->pairs);
  }
}

static exit_code copy_parameters(worlds_check_up *g)
{
  const worlds *w = &g->worlds;
  double gravity[3], *friction = calloc(w->info.parameters + 1, sizeof *friction);
  double *springs = calloc(w->info.springs + 1, SPRING_WIDTH * sizeof *springs);
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(friction && springs
                 ? EXIT_GOOD
                 : report(EXIT_RUN, "not enough memory for %zu parameters", w->info.parameters));
  CLI_TRY_DONE(report_status(abut_get_scene_parameters(w->links, friction, gravity)));
  spread_frictions(&w->info, friction);
  CLI_TRY_DONE(copy_input(g, BY_MASS_SCALE, w->mass_scale, NULL));
  CLI_TRY_DONE(copy_input(g, BY_FRICTION, w->friction, friction));
  CLI_TRY_DONE(copy_input(g, BY_STIFFNESS, w->stiffness, NULL));
  CLI_TRY_DONE(copy_input(g, BY_GRAVITY, w->gravity, gravity));
  CLI_TRY_DONE(w->info.springs ? report_status(abut_get_scene_springs(w->links, springs))
                               : EXIT_GOOD);
  CLI_TRY_DONE(copy_input(g, BY_SPRINGS, w->springs, springs));
done:
  free(friction);
  free(springs);
  return code;
}

/* The first world is at the scene's initial position, but not at rest. */
static exit_code leave_start(worlds_check_up *g)
{
  const worlds *w = &g->worlds;
  const size_t nv = w->info.nv;
  void *memory = NULL;
  exit_code code = worlds_reals(w, w->count, nv, 1, &memory);
  double *away = memory;
  for (size_t i = 0; code == EXIT_GOOD && i < w->count * nv; ++i) {
    away[i] = i < nv ? 0.0 : NEAR_Q * random_normal(&g->random);
    g->x[BY_V][i] = NEAR_V * random_normal(&g->random);
  }
  if (code == EXIT_GOOD) {
    code = report_status(abut_add_positions(w->links, w->count, g->x[BY_Q], away, g->x[BY_Q]));
  }
  free(memory);
  return code;
}

static exit_code take_inputs(worlds_check_up *g)
{
  CLI_TRY(copy_input(g, BY_Q, g->worlds.q, NULL));
  CLI_TRY(copy_input(g, BY_V, g->worlds.v, NULL));
  CLI_TRY(copy_controls(g));
  CLI_TRY(copy_parameters(g));
  return g->worlds.o->value[OPTION_STATES] ? EXIT_GOOD : leave_start(g);
}

/* Computes the status of a rollout of all worlds. */
static exit_code try_worlds(const worlds_check_up *g, uint32_t *status)
{
  const worlds *w = &g->worlds;
  abut_worlds a = worlds_describe(w);
  a.q = g->x[BY_Q];
  a.v = g->x[BY_V];
  a.u = g->x[BY_U];
  a.controls = w->each;
  a.status = status;
  return report_status(abut_step_worlds(w->links, &a));
}

/* Chooses the first worlds with status 0, or all of them. */
static exit_code choose_worlds(worlds_check_up *g, uint32_t *status)
{
  const worlds *w = &g->worlds;
  const size_t most = w->o->value[OPTION_ALL] ? w->count : WORLDS_FIRST;
  size_t left_out = 0;
  CLI_TRY(try_worlds(g, status));
  warn_worlds(status, NULL, NULL, w->count);
  for (size_t i = 0; i < w->count; ++i) {
    left_out += status[i] != 0;
    if (!status[i] && g->chosen_count < most) {
      g->chosen[g->chosen_count++] = i;
    }
  }
  if (left_out) {
    warn("%zu of %zu worlds are skipped: derivatives do not describe everything that they do",
         left_out, w->count);
  }
  return g->chosen_count
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: contains no worlds that can be checked",
                    w->o->value[OPTION_STATES] ? w->o->value[OPTION_STATES] : w->o->operands[0]);
}

static exit_code find_worlds(worlds_check_up *g)
{
  const size_t count = g->worlds.count;
  uint32_t *status = calloc(count ? count : 1, sizeof *status);
  g->chosen = calloc(count ? count : 1, sizeof *g->chosen);
  const exit_code code = status && g->chosen ? choose_worlds(g, status)
                                             : report(EXIT_RUN, "no memory for %zu worlds", count);
  free(status);
  return code;
}

/* ---- report ---- */

static void print_title(const worlds_check_up *g)
{
  const worlds *w = &g->worlds;
  printf("%zu of %zu worlds, a step and a rollout of %zu steps, float64 on %s\n", g->chosen_count,
         w->count, w->steps, session_workers(&w->session).text);
  printf("steps h, h/2, h/4 along random directions, h = %g for q, mass_scale, friction, "
         "stiffness; %g for v, u; %g for gravity; smaller steps if the quotients do not converge\n",
         g->step, 10.0 * g->step, 100.0 * g->step);
  printf("not smooth: %s is nearer than the smallest h; derivatives keep such choices fixed\n\n",
         w->info.springs
           ? "a limit of forces, or a pose after which worlds diverge,"
           : "a border where a step chooses (zones of the cone, limits, limits of forces)");
  print_tally_head();
}

static void print_check(worlds_check_up *g, const char *what, int span, int input,
                        const char *against, const tally *t, double limit)
{
  char name[48], where[64];
  snprintf(name, sizeof name, "%s: %s %s", span_names[span], what, world_input_names[input]);
  snprintf(where, sizeof where, "world %zu, direction %zu", t->at.pose, t->at.column);
  print_tally(name, against, t, limit, where);
  g->bad += judge(t, limit) != VERDICT_OK;
  ++g->checks;
}

static void print_span(worlds_check_up *g, int span)
{
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    if (tangent_width(g, i)) {
      print_check(g, "vjp by", span, i, "differences of states", &g->gradients[span][i],
                  DIFFERENCE_LIMIT);
    }
  }
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    if (tangent_width(g, i) && i != BY_SPRINGS) {
      print_check(g, "jvp by", span, i, "vjp", &g->tangents[span][i], EXACT_LIMIT);
    }
  }
  fflush(stdout);
}

/* ---- the whole check ---- */

static exit_code check_options(worlds_check_up *g, const options *o)
{
  static const option_id of_pairs[] = {OPTION_POSES, OPTION_SMOOTHING, OPTION_SHOW_SMOOTHING};
  for (size_t i = 0; i < sizeof of_pairs / sizeof *of_pairs; ++i) {
    if (o->value[of_pairs[i]]) {
      return usage_error(o->command, "%s works only with two bodies, not with a scene",
                         option_name(of_pairs[i]));
    }
  }
  CLI_TRY(worlds_check(&g->worlds, o, STEPS_OF_CONTROLS));
  CLI_TRY(option_real(o, OPTION_STEP, 1e-12, 1e9, &g->step));
  g->worlds.precision = ABUT_FLOAT64;
  g->worlds.steps = o->value[OPTION_STEPS] ? g->worlds.steps : ROLLOUT_STEPS;
  g->worlds.count = o->value[OPTION_WORLDS] ? g->worlds.count : WORLDS_NEAR;
  return EXIT_GOOD;
}

static exit_code run(worlds_check_up *g, const options *o)
{
  CLI_TRY(check_options(g, o));
  CLI_TRY(worlds_open(&g->worlds, o));
  CLI_TRY(take_inputs(g));
  CLI_TRY(find_worlds(g));
  print_title(g);
  for (int span = 0; span < SPANS; ++span) {
    CLI_TRY(compare_worlds(g, span));
    print_span(g, span);
  }
  return g->bad ? report(EXIT_RUN, "%zu of %zu derivatives are not confirmed", g->bad, g->checks)
                : EXIT_GOOD;
}

exit_code gradcheck_worlds(const options *o)
{
  worlds_check_up g = {.step = STEP, .random = SEED};
  const exit_code code = run(&g, o);
  for (int i = 0; i < WORLD_INPUTS; ++i) {
    free(g.x[i]);
  }
  free(g.chosen);
  worlds_close(&g.worlds);
  return code;
}
