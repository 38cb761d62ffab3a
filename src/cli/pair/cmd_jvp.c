#include "core/contact_arrays.h"
#include "core/inputs.h"
#include "core/job.h"
#include "core/outputs.h"
#include "core/shape_arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the tangents are taken along. */
static const char *const ways[] = {"poses", "shape"};

#define WHAT "tangents, poses"

typedef struct jvp {
  job job;
  bool by_shape; /* also along the numbers of both bodies */
  uint32_t want; /* bits of abut_shape_want */
  inputs tangent_file;
  abut_pose_tangents along;
  abut_shape_tangents shape[2];
  abut_tangents tangents;
} jvp;

static exit_code read_way(jvp *v, const options *o)
{
  size_t word = 0;
  CLI_TRY(option_word(o, OPTION_BY, ways, 2, &word));
  v->by_shape = word == 1;
  v->want = (o->value[OPTION_EACH_POSE] ? ABUT_SHAPE_EACH_POSE : 0) |
            (o->value[OPTION_FOLLOW] ? ABUT_SHAPE_FOLLOW : 0);
  if (v->want && !v->by_shape) {
    return usage_error(o->command, "%s works only with --by shape",
                       o->value[OPTION_EACH_POSE] ? "--each-pose" : "--follow");
  }
  return v->by_shape && o->value[OPTION_SOFT]
           ? usage_error(o->command, "--by shape cannot be combined with --soft")
           : EXIT_GOOD;
}

/* Reads the directions: of shapes, of poses, or of both. */
static exit_code take_directions(jvp *v)
{
  inputs *f = &v->tangent_file;
  const job *j = &v->job;
  const bool poses = inputs_find(f, "tangent") || inputs_find(f, "tangent1") ||
                     inputs_find(f, "tangent2");
  const size_t rows = v->want & ABUT_SHAPE_EACH_POSE ? j->poses.count : 0;
  bool found = false;
  if (v->by_shape) {
    CLI_TRY(shape_read(f, &j->session, rows, v->shape, &found));
  }
  if (v->by_shape && !found) {
    return report(EXIT_INPUT,
                  "%s: contains no direction of a body's numbers, such as a_vertices or b_axes",
                  f->path);
  }
  return poses || !v->by_shape
           ? inputs_tangents(f, j->poses.count, j->width, j->session.precision, &v->along)
           : EXIT_GOOD;
}

/* Warns of ignored arrays. Arrays that `gradient --by shape` writes besides directions are
 * expected, but a misspelt name would silently lose a direction. */
static void warn_left_out(const jvp *v)
{
  const inputs *f = &v->tangent_file;
  for (size_t i = 0; v->by_shape && i < f->npz.count; ++i) {
    const char *name = f->npz.arrays[i].name;
    if (!shape_is_name(name) && strncmp(name, "tangent", 7) != 0 && strcmp(name, "value") != 0 &&
        strcmp(name, "status") != 0 && strcmp(name, "smoothing") != 0) {
      warn("%s: array '%s' is not a direction; it is ignored", f->path, name);
    }
  }
}

static exit_code compute(jvp *v)
{
  job *j = &v->job;
  return job_end(j, v->by_shape ? abut_shape_jvp(j->session.pair, &j->batch, &v->shape[0],
                                                 &v->shape[1], &v->along, &v->tangents, v->want)
                                : abut_jvp(j->session.pair, j->session.derivatives, &j->batch,
                                           &v->along, &v->tangents));
}

static exit_code take_memory(jvp *v)
{
  const size_t poses = v->job.poses.count, contacts = v->job.session.layout.contacts;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_array *o = &contact_arrays[i];
    size_t numbers = 0;
    void *array = NULL;
    if (!multiply(contacts, o->components, 1, &numbers)) {
      return report(EXIT_RUN, "there are too many contacts per pose: %zu", contacts);
    }
    CLI_TRY(job_reals(&v->job, poses, numbers, &array));
    put_array(&v->tangents, o->in_tangents, array);
  }
  return EXIT_GOOD;
}

static void free_memory(jvp *v)
{
  for (size_t i = 0; i < OUTPUTS; ++i) {
    free(array_in(&v->tangents, contact_arrays[i].in_tangents));
  }
  v->tangents = (abut_tangents){0};
}

static void add_outputs(const jvp *v, outputs *l)
{
  const session *s = &v->job.session;
  const size_t poses = v->job.poses.count, contacts = s->layout.contacts;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_array *o = &contact_arrays[i];
    const bool vector = o->components > 1;
    outputs_add(l, o->tangent, real_type(s), array_in(&v->tangents, o->in_tangents), vector ? 3 : 2,
                poses, contacts, vector ? o->components : 0);
  }
  outputs_add(l, "status", ABUT_ARRAY_UINT8, v->job.batch.status, 1, poses, 0, 0);
}

/* ---- a folder of results ---- */

/* Directions of shapes are common to all poses. */
static int direction_axis(const abut_array *a)
{
  return shape_is_name(a->name) ? SAME_FOR_ALL : inputs_tangents_axis(a);
}

static exit_code take_directions_of_block(jvp *v, size_t first, size_t count)
{
  inputs *f = &v->tangent_file;
  CLI_TRY(f->path
            ? EXIT_GOOD
            : inputs_open_rows(f, v->job.o->value[OPTION_TANGENTS],
                               v->by_shape ? direction_axis : inputs_tangents_axis, v->job.all));
  CLI_TRY(inputs_read_rows(f, first, count));
  return take_directions(v);
}

static exit_code compute_block(void *user, const abut_poses *poses, size_t first, progress *p,
                               outputs *l)
{
  jvp *v = user;
  job *j = &v->job;
  free_memory(v);
  CLI_TRY(job_take(j, poses));
  CLI_TRY(take_directions_of_block(v, first, poses->count));
  l->input_bytes = inputs_row_bytes(&v->tangent_file);
  CLI_TRY(take_memory(v));
  if (poses->count) {
    job_begin_block(j, p);
    CLI_TRY(compute(v));
  } else {
    warn_left_out(v); /* once, before the first block */
  }
  add_outputs(v, l);
  return EXIT_GOOD;
}

static exit_code run(jvp *v, const options *o)
{
  abut_precision precision = ABUT_FLOAT32;
  job *j = &v->job;
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_TANGENTS));
  CLI_TRY(read_way(v, o));
  CLI_TRY(job_check(o));
  if (folder_is_named(o)) {
    if (v->want & ABUT_SHAPE_EACH_POSE) {
      return usage_error(o->command, "a folder of results needs directions that are the same for "
                                     "all poses: leave out --each-pose");
    }
    return job_run_in_folder(j, o, compute_block, v, WHAT);
  }
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(inputs_open(&v->tangent_file, o->value[OPTION_TANGENTS]));
  CLI_TRY(job_open(j, o, precision));
  job_forget_poses(j);
  CLI_TRY(take_directions(v));
  warn_left_out(v);
  CLI_TRY(take_memory(v));
  job_begin(j, WHAT);
  CLI_TRY(compute(v));
  warn_rejected(&j->batch, "Their rows are NaN.");
  outputs l = {0};
  add_outputs(v, &l);
  CLI_TRY(outputs_write(&l, &j->session, o));
  if (sums_up(o)) {
    printf("%zu pose%s, %zu contacts per pose, derivatives along tangents%s", j->poses.count,
           j->poses.count == 1 ? "" : "s", j->session.layout.contacts,
           v->by_shape ? " by shape" : "");
    job_print_end(j);
  }
  return EXIT_GOOD;
}

exit_code cmd_jvp(const options *o)
{
  jvp v = {0};
  const exit_code code = run(&v, o);
  free_memory(&v);
  inputs_close(&v.tangent_file);
  job_close(&v.job);
  return code;
}
