#include "dev/gradcheck/gradcheck.h"
#include "dev/commands.h"

#include "dev/bench/bench.h" /* is_scene_file */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POSES_FIRST 16 /* without --all */
#define SEED 0x2545f4914f6cdd1du
/* The largest step, relative to the shortest length of the smoothing. */
#define STEP_SHARE 0.04

#define OUTPUT_NAME(member, id, reals) #member
static const char *const output_names[OUTPUTS] = {CONTACT_OUTPUTS(OUTPUT_NAME, AND_COMMA)};

/* A row's label, and its reference for comparison. */
static const struct {
  int first;
  const char *name, *against;
  const char *const *of;
  double limit;
} groups[] = {{CHECK_JVP, "jvp of", "differences of values", output_names, DIFFERENCE_LIMIT},
              {CHECK_VJP, "vjp of", "jvp times cotangents", output_names, EXACT_LIMIT},
              {CHECK_GRADIENT, "gradient of", "differences of values", reduction_names,
               DIFFERENCE_LIMIT},
              {CHECK_HESSIAN, "Hessian of", "differences of gradients", reduction_names,
               DIFFERENCE_LIMIT},
              {CHECK_JACOBIAN, "Jacobian blocks", "jvp", NULL, EXACT_LIMIT}};
#define GROUPS (sizeof groups / sizeof *groups)

static exit_code choose_step(gradcheck *g)
{
  const session *s = &g->job->session;
  const abut_smoothing *c = &s->smoothing;
  const double lengths[] = {c->union_, c->plane, c->penetration, c->neighbour, c->sort};
  double least = lengths[0], size = 0.0;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    least = fmin(least, lengths[i]);
  }
  for (int i = 0; i < 2; ++i) {
    abut_body_info info;
    CLI_TRY(report_status(abut_get_body_info(s->bodies[i], &info)));
    size = fmax(size, info.diagonal);
  }
  g->step = STEP_SHARE * least;
  CLI_TRY(option_real(g->job->o, OPTION_STEP, 1e-12, 1e9, &g->step));
  g->turn = fmin(g->step / size, 0.1); /* so that points move by about the same distance */
  return EXIT_GOOD;
}

/* Chooses the first valid poses, or all of them. */
static exit_code choose_poses(gradcheck *g)
{
  job *j = g->job;
  const size_t most = j->o->value[OPTION_ALL] ? j->poses.count : POSES_FIRST;
  g->poses = calloc(j->poses.count ? j->poses.count : 1, sizeof *g->poses);
  if (!g->poses) {
    return report(EXIT_RUN, "no memory for %zu poses", j->poses.count);
  }
  job_begin(j, "poses");
  CLI_TRY(job_end(j, abut_contacts(j->session.pair, &j->batch)));
  warn_rejected(&j->batch, "They are skipped.");
  for (size_t i = 0; i < j->poses.count && g->pose_count < most; ++i) {
    if (!(j->batch.status[i] & ABUT_POSE_REJECTED)) {
      g->poses[g->pose_count++] = i;
    }
  }
  return g->pose_count ? EXIT_GOOD
                       : report(EXIT_INPUT, "%s: contains no poses that can be checked",
                                j->o->value[OPTION_POSES]);
}

void print_tally_head(void)
{
  printf("%-26s %-23s %8s %8s %9s %10s %9s\n", "derivative", "against", "worst", "limit", "entries",
         "not smooth", "2nd order");
  fflush(stdout);
}

void print_tally(const char *name, const char *against, const tally *t, double limit,
                 const char *where)
{
  static const char *const verdicts[] = {"ok", "PARTS", "NOT SMOOTH"};
  char order[16] = "-";
  if (t->sloped) {
    snprintf(order, sizeof order, "%.0f %%", 100.0 * (double)t->second_order / (double)t->sloped);
  }
  printf("%-26s %-23s %8.1e %8.0e %9zu %10zu %9s  %-11s", name, against, t->worst, limit,
         t->entries, t->rough, order, verdicts[judge(t, limit)]);
  printf("%s%s\n", judge(t, limit) == VERDICT_PARTS ? "worst at " : "",
         judge(t, limit) == VERDICT_PARTS ? where : "");
}

static void print_row(const gradcheck *g, const char *name, const char *against, const tally *t,
                      double limit)
{
  char where[64] = "-";
  const size_t width = g->job->width;
  if (t->worst > 0.0) {
    snprintf(where, sizeof where, "pose %zu, %s%zu[%zu]", t->at.pose, width == 6 ? "s" : "pose",
             t->at.column / width + 1, t->at.column % width);
  }
  print_tally(name, against, t, limit, where);
}

/* Prints rows as soon as they are complete. */
static void print_rows(gradcheck *g, int first, int end)
{
  for (size_t i = 0; i < GROUPS; ++i) {
    const int stop = i + 1 < GROUPS ? groups[i + 1].first : CHECKS;
    for (int k = groups[i].first; k < stop; ++k) {
      if (k < first || k >= end) {
        continue;
      }
      char name[48];
      snprintf(name, sizeof name, "%s%s%s", groups[i].name, groups[i].of ? " " : "",
               groups[i].of ? groups[i].of[k - groups[i].first] : "");
      print_row(g, name, groups[i].against, &g->tallies[k], groups[i].limit);
      g->bad += judge(&g->tallies[k], groups[i].limit) != VERDICT_OK;
    }
  }
  fflush(stdout);
}

static void print_title(const gradcheck *g)
{
  const job *j = g->job;
  printf("%zu of %zu poses, %zu contacts per pose, float64 on %s\n", g->pose_count, j->poses.count,
         j->session.layout.contacts, session_workers(&j->session).text);
  printf("steps h, h/2, h/4 along each pose parameter, h = %.3g m or %.3g rad; smaller steps if "
         "the quotients do not converge\n",
         g->step, g->turn);
  printf("worst: the largest difference of a smooth entry, relative to the largest entry of its "
         "pose\n\n");
  print_tally_head();
}

static exit_code run(gradcheck *g, const options *o)
{
  static const option_id of_scenes[] = {OPTION_STATES, OPTION_CONTROLS, OPTION_STEPS,
                                        OPTION_WORLDS};
  CLI_TRY(job_check(o));
  for (size_t i = 0; i < sizeof of_scenes / sizeof *of_scenes; ++i) {
    if (o->value[of_scenes[i]]) {
      return usage_error(o->command, "%s works only with a scene, not with two bodies",
                         option_name(of_scenes[i]));
    }
  }
  CLI_TRY(option_real(o, OPTION_STEP, 1e-12, 1e9, &g->step));
  CLI_TRY(job_open(g->job, o, ABUT_FLOAT64));
  CLI_TRY(choose_step(g));
  CLI_TRY(choose_poses(g));
  print_title(g);
  CLI_TRY(gradcheck_run(g, print_rows));
  return g->bad ? report(EXIT_RUN, "%zu of %d derivatives are not confirmed", g->bad, CHECKS)
                : EXIT_GOOD;
}

exit_code cmd_gradcheck(const options *o)
{
  job j = {0};
  gradcheck g = {.job = &j, .random = SEED};
  if (o->operand_count == 1 && is_scene_file(o->operands[0])) {
    return gradcheck_worlds(o);
  }
  CLI_TRY(need_operands(o, 2, "two bodies, A and B, or a scene"));
  const exit_code code = run(&g, o);
  free(g.poses);
  job_close(&j);
  return code;
}
