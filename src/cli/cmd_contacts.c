#include "contacts_store.h"

#include <stdio.h>
#include <stdlib.h>

/* What the summary calls active where --compact does not say. A vertex on the surface has 0.5,
 * but pairs of edges share one contact's activity: a crossing of two edges, fully in contact,
 * may have 0.15 each. */
#define ACTIVE 0.1

static exit_code prepare(contacts_store *c, const scene *s, const abut_poses *poses)
{
  const size_t numbers = poses->count * pose_width(poses->kind);
  CLI_TRY(poses_to_reals(poses->pose1, numbers, s->precision, &c->pose1));
  CLI_TRY(poses_to_reals(poses->pose2, numbers, s->precision, &c->pose2));
  c->status = calloc(poses->count ? poses->count : 1, sizeof *c->status);
  if (!c->status) {
    return report(EXIT_RUN, "no memory for the status of %zu poses", poses->count);
  }
  c->batch.count = poses->count;
  c->batch.poses = poses->kind;
  c->batch.pose1 = c->pose1;
  c->batch.pose2 = c->pose2;
  c->batch.status = c->status;
  CLI_TRY(store_reductions(c, s));
  return c->is_compact ? store_compact(c, s, guess_capacity(s, poses->count)) : store_dense(c, s);
}

/* seconds: of the call that succeeded, alone. */
static exit_code compute(contacts_store *c, const scene *s, const options *o, double *seconds)
{
  progress p = progress_begin(o, "contacts, poses");
  abut_status status = ABUT_SUCCESS;
  for (int attempt = 0; attempt < 2; ++attempt) {
    c->batch.progress = progress_step;
    c->batch.user = &p;
    const double start = now();
    status = abut_contacts(s->pair, &c->batch);
    *seconds = now() - start;
    if (status != ABUT_ERROR_OVERFLOW || attempt) {
      break;
    }
    progress_end(&p);
    CLI_TRY(store_compact(c, s, c->compact.count));
  }
  progress_end(&p);
  return report_status(status);
}

/* One line a kind of refusal. */
static void warn_rejected(const contacts_store *c)
{
  static const char *const reasons[] = {
    [ABUT_POSE_OK] = "", [ABUT_POSE_NOT_FINITE] = "that are not finite",
    [ABUT_POSE_NO_QUATERNION] = "with a quaternion of length 0"};
  for (int kind = ABUT_POSE_NOT_FINITE; kind <= ABUT_POSE_NO_QUATERNION; ++kind) {
    size_t count = 0, first = 0;
    for (size_t i = c->batch.count; i-- > 0;) {
      if (c->status[i] == kind) {
        ++count;
        first = i;
      }
    }
    if (count) {
      warn("poses %s: %zu of %zu, the first has index %zu. %s", reasons[kind], count,
           c->batch.count, first,
           c->is_compact ? "They have no contacts in the list." : "Their rows are NaN.");
    }
  }
}

static void summarise(const contacts_store *c, const scene *s, double seconds)
{
  const double threshold = c->is_compact ? c->compact.threshold : ACTIVE;
  double least = 0.0;
  printf("%zu poses, %zu contacts a pose, %zu active in all (activity >= %g), ", c->batch.count,
         s->layout.contacts, count_active(c, s, threshold), threshold);
  if (least_distance(c, s, &least)) {
    printf("least vertex distance %.4g m, ", least);
  }
  printf("%.3g s on %s, %s\n", seconds, s->device.name, precision_name(s->precision));
}

static exit_code run(contacts_store *c, scene *s, const options *o, const abut_poses *poses)
{
  double seconds = 0.0;
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(scene_open(s, o, precision));
  CLI_TRY(scene_load(s, o));
  CLI_TRY(prepare(c, s, poses));
  CLI_TRY(compute(c, s, o, &seconds));
  warn_rejected(c);
  progress p = progress_begin(o, "");
  progress_say(&p, "writing %s", o->value[OPTION_OUTPUT]);
  const exit_code code = store_write(c, s, o->value[OPTION_OUTPUT]);
  progress_end(&p);
  if (code == EXIT_GOOD && !o->value[OPTION_QUIET]) {
    summarise(c, s, seconds);
  }
  return code;
}

static exit_code check_usage(contacts_store *c, const options *o)
{
  abut_precision precision;
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(option_real(o, OPTION_COMPACT, 0.0, 1.0, &c->compact.threshold));
  c->is_compact = o->value[OPTION_COMPACT] != NULL;
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o));
  return check_output(o->value[OPTION_OUTPUT]);
}

exit_code cmd_contacts(const options *o)
{
  contacts_store c = {.batch = abut_default_batch()};
  abut_poses poses = {0};
  scene s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(&c, o));
  CLI_TRY_DONE(report_status(abut_load_poses(o->value[OPTION_POSES], &poses)));
  CLI_TRY_DONE(run(&c, &s, o, &poses));
done:
  store_free(&c);
  abut_free_poses(&poses);
  scene_close(&s);
  return code;
}
