#include "core/job.h"

#include <stdio.h>
#include <stdlib.h>

exit_code job_check(const options *o)
{
  abut_precision precision;
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(option_precision(o, &precision));
  if (o->command->bit == COMMAND_GRADCHECK) {
    return check_inputs(o);
  }
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(timeline_check(o));
  return folder_check_output(o);
}

/* Other commands of this kind write only a few numbers per pose. */
static double bytes_of(const job *j)
{
  return j->o->command->bit == COMMAND_JVP ? dense_bytes(&j->session, j->poses.count) : 0.0;
}

exit_code job_open_scene(job *j, const options *o, abut_precision precision, abut_pose_kind kind)
{
  j->o = o;
  j->batch = abut_default_batch();
  j->width = pose_width(kind);
  CLI_TRY(option_temperature(o, &j->batch));
  CLI_TRY(session_open(&j->session, o, precision));
  CLI_TRY(session_load(&j->session, o));
  return session_soft(&j->session, o);
}

exit_code job_open(job *j, const options *o, abut_precision precision)
{
  CLI_TRY(report_status(abut_load_poses(o->value[OPTION_POSES], &j->poses)));
  if (o->command->bit != COMMAND_GRADCHECK) { /* for which this is an error */
    warn_empty(o->value[OPTION_POSES], j->poses.count);
  }
  CLI_TRY(job_open_scene(j, o, precision, j->poses.kind));
  warn_large(&j->session, j->poses.count, bytes_of(j));
  CLI_TRY(timeline_start(&j->session, o));
  return pose_arrays_open(&j->arrays, &j->batch, &j->session, &j->poses);
}

exit_code job_take(job *j, const abut_poses *poses)
{
  pose_arrays_close(&j->arrays);
  j->poses.count = poses->count;
  j->poses.kind = poses->kind;
  return pose_arrays_open(&j->arrays, &j->batch, &j->session, poses);
}

static exit_code run_in_folder(job *j, folder_run *r)
{
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(option_precision(r->o, &precision));
  CLI_TRY(job_open_scene(j, r->o, precision, r->info.kind));
  r->session = &j->session;
  j->all = r->info.count;
  return folder_run_blocks(r);
}

exit_code job_run_in_folder(job *j, const options *o, folder_compute compute, void *user,
                            const char *what)
{
  folder_run r = {.compute = compute,
                  .user = user,
                  .what = what,
                  .notes = pose_notes,
                  .effect = "Their rows are NaN."};
  exit_code code = folder_run_open(&r, o, OPTION_POSES);
  if (code == EXIT_GOOD) {
    code = run_in_folder(j, &r);
  }
  folder_run_close(&r);
  return code;
}

void job_forget_poses(job *j)
{
  const abut_poses was = j->poses;
  abut_free_poses(&j->poses);
  j->poses.count = was.count;
  j->poses.kind = was.kind;
}

void job_close(job *j)
{
  pose_arrays_close(&j->arrays);
  abut_free_poses(&j->poses);
  session_close(&j->session);
}

void job_begin(job *j, const char *what)
{
  j->progress = progress_begin(j->o, what);
  j->progress.contacts = j->session.layout.contacts;
  j->progress.bytes = bytes_of(j);
  job_begin_block(j, &j->progress);
}

void job_begin_block(job *j, progress *p)
{
  j->batch.progress = progress_step;
  j->batch.user = p;
  j->start = now();
}

exit_code job_end(job *j, abut_status status)
{
  j->seconds = now() - j->start;
  if (j->batch.user == &j->progress) {
    progress_end(&j->progress);
  }
  return report_status(status);
}

exit_code job_reals(const job *j, size_t a, size_t b, void **out)
{
  return reals_of("poses", a, b, j->session.precision, out);
}

void job_print_end(const job *j)
{
  printf(", %.3g s on %s, %s\n", j->seconds, session_workers(&j->session).text,
         precision_name(j->session.precision));
}
