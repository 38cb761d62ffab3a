#include "inputs.h"
#include "job.h"
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct jvp {
  job job;
  inputs tangent_file;
  abut_pose_tangents along;
  abut_tangents tangents;
} jvp;

static exit_code take_memory(jvp *v)
{
  const size_t poses = v->job.poses.count, contacts = v->job.scene.layout.contacts;
  size_t points = 0;
  if (!multiply(contacts, 3, 1, &points)) {
    return report(EXIT_RUN, "%zu contacts a pose are too many", contacts);
  }
  CLI_TRY(job_reals(&v->job, poses, points, &v->tangents.p));
  CLI_TRY(job_reals(&v->job, poses, contacts, &v->tangents.d));
  CLI_TRY(job_reals(&v->job, poses, points, &v->tangents.n));
  CLI_TRY(job_reals(&v->job, poses, contacts, &v->tangents.activity));
  return job_reals(&v->job, poses, contacts, &v->tangents.weight);
}

static exit_code write(const jvp *v)
{
  const scene *s = &v->job.scene;
  const size_t poses = v->job.poses.count, contacts = s->layout.contacts;
  const abut_tangents *t = &v->tangents;
  outputs l = {0};
  outputs_add(&l, "jvp_p", real_type(s), t->p, 3, poses, contacts, 3);
  outputs_add(&l, "jvp_d", real_type(s), t->d, 2, poses, contacts, 0);
  outputs_add(&l, "jvp_n", real_type(s), t->n, 3, poses, contacts, 3);
  outputs_add(&l, "jvp_activity", real_type(s), t->activity, 2, poses, contacts, 0);
  outputs_add(&l, "jvp_weight", real_type(s), t->weight, 2, poses, contacts, 0);
  outputs_add(&l, "status", ABUT_ARRAY_UINT8, v->job.batch.status, 1, poses, 0, 0);
  return outputs_write(&l, s, v->job.o);
}

static exit_code run(jvp *v, const options *o)
{
  abut_precision precision = ABUT_FLOAT32;
  job *j = &v->job;
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_TANGENTS));
  CLI_TRY(job_check(o));
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(inputs_open(&v->tangent_file, o->value[OPTION_TANGENTS]));
  CLI_TRY(job_open(j, o, precision));
  job_forget_poses(j);
  CLI_TRY(inputs_tangents(&v->tangent_file, j->poses.count, j->width, precision, &v->along));
  CLI_TRY(take_memory(v));
  job_begin(j, "tangents, poses");
  CLI_TRY(job_end(j, abut_jvp(j->scene.pair, j->scene.derivatives, &j->batch, &v->along,
                              &v->tangents)));
  warn_rejected(&j->batch, "Their rows are NaN.");
  CLI_TRY(write(v));
  if (sums_up(o)) {
    printf("%zu pose%s, %zu contacts a pose, derivatives along tangents", j->poses.count,
           j->poses.count == 1 ? "" : "s", j->scene.layout.contacts);
    job_print_end(j);
  }
  return EXIT_GOOD;
}

exit_code cmd_jvp(const options *o)
{
  jvp v = {0};
  const exit_code code = run(&v, o);
  free(v.tangents.p);
  free(v.tangents.d);
  free(v.tangents.n);
  free(v.tangents.activity);
  free(v.tangents.weight);
  inputs_close(&v.tangent_file);
  job_close(&v.job);
  return code;
}
