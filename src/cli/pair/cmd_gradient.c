#include "core/contact_arrays.h"
#include "core/inputs.h"
#include "core/job.h"
#include "core/outputs.h"
#include "core/reductions.h"
#include "core/shape_arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of all cotangents, separated by commas. */
#define BAR_NAME(member, id, reals) #member "_bar"
#define AND_COMMA_TEXT() ", "

/* In the order of abut_moving. */
static const char *const movings[] = {"both", "1", "2"};
#define MOVINGS (sizeof movings / sizeof *movings)

/* The inputs of the gradient. */
static const char *const ways[] = {"poses", "shape"};

#define WHAT "gradients, poses"

typedef struct gradient {
  job job;
  bool by_shape, each_pose; /* by the numbers of both bodies; for each pose instead of the sum */
  uint32_t want;            /* bits of abut_shape_want */
  shape_arrays shape;
  bool reduces; /* else the gradient is from cotangents */
  abut_reduction reduction;
  inputs bar_file, tangent_file;
  abut_cotangents cotangents;
  abut_pose_tangents tangents;
  bool whole; /* the full Hessian, of `moving` */
  abut_moving moving;
  size_t columns; /* of the Hessian */
  void *value, *g[2], *h[2], *hessian;
} gradient;

static exit_code read_hessian(gradient *g, const options *o)
{
  size_t word = ABUT_BOTH_BODIES;
  CLI_TRY(option_word(o, OPTION_FULL_HESSIAN, movings, MOVINGS, &word));
  g->moving = (abut_moving)word;
  g->whole = o->value[OPTION_FULL_HESSIAN] != NULL;
  if (g->whole && o->value[OPTION_COTANGENTS]) {
    return usage_error(o->command,
                       "--full-hessian works only with a reduction, not with --cotangents");
  }
  if (g->whole && (o->value[OPTION_SOFT] || o->value[OPTION_HESSIAN])) {
    return usage_error(o->command, "--full-hessian cannot be combined with --hessian or --soft");
  }
  return EXIT_GOOD;
}

static exit_code read_way(gradient *g, const options *o)
{
  size_t word = 0;
  CLI_TRY(option_word(o, OPTION_BY, ways, 2, &word));
  g->by_shape = word == 1;
  g->each_pose = o->value[OPTION_EACH_POSE] != NULL;
  g->want = (g->each_pose ? ABUT_SHAPE_EACH_POSE : 0) |
            (o->value[OPTION_FOLLOW] ? ABUT_SHAPE_FOLLOW : 0);
  if (g->want && !g->by_shape) {
    return usage_error(o->command, "%s works only with --by shape",
                       g->each_pose ? "--each-pose" : "--follow");
  }
  if (g->by_shape &&
      (o->value[OPTION_SOFT] || o->value[OPTION_HESSIAN] || o->value[OPTION_FULL_HESSIAN])) {
    return usage_error(o->command,
                       "--by shape cannot be combined with --soft, --hessian or --full-hessian");
  }
  return g->by_shape && g->reduces && g->reduction == ABUT_REDUCE_SOFT_DISTANCE
           ? usage_error(o->command, "the soft distance has no gradient by shape")
           : EXIT_GOOD;
}

static exit_code read_reduction(gradient *g, const options *o)
{
  const bool mean = o->value[OPTION_MEAN_DISTANCE], bar = o->value[OPTION_COTANGENTS];
  size_t word = ABUT_REDUCE_MEAN_DISTANCE;
  CLI_TRY(option_word(o, OPTION_REDUCE, reduction_names, REDUCTIONS_SLOPED, &word));
  if (o->value[OPTION_TEMPERATURE] && word != ABUT_REDUCE_SOFT_DISTANCE) {
    return usage_error(o->command, "--temperature works only with --reduce soft-distance");
  }
  g->reduction = (abut_reduction)word;
  g->reduces = !bar;
  if ((o->value[OPTION_REDUCE] != NULL) + mean + bar != 1) {
    return usage_error(o->command,
                       "gradient needs --reduce NAME, --mean-distance or --cotangents C.npz");
  }
  if (o->value[OPTION_HESSIAN] && bar) {
    return usage_error(o->command, "--hessian works only with a reduction, not with --cotangents");
  }
  if (o->value[OPTION_HESSIAN] && o->value[OPTION_SOFT]) {
    return usage_error(o->command, "--hessian and --soft cannot be combined");
  }
  return EXIT_GOOD;
}

/* A misspelt name would silently lose a cotangent. */
static exit_code check_names(const inputs *f)
{
  size_t found = 0;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    found += inputs_find(f, contact_arrays[i].cotangent) != NULL;
  }
  if (!found) {
    return report(EXIT_INPUT, "%s: contains none of " CONTACT_OUTPUTS(BAR_NAME, AND_COMMA_TEXT),
                  f->path);
  }
  for (size_t i = 0; found < f->npz.count && i < f->npz.count; ++i) {
    const char *name = f->npz.arrays[i].name;
    bool known = false;
    for (size_t k = 0; k < OUTPUTS; ++k) {
      known = known || &f->npz.arrays[i] == inputs_find(f, contact_arrays[k].cotangent);
    }
    if (!known) {
      warn("%s: array '%s' is not a cotangent; it is ignored", f->path, name);
    }
  }
  return EXIT_GOOD;
}

static exit_code open_files(gradient *g, const options *o)
{
  if (o->value[OPTION_COTANGENTS]) {
    CLI_TRY(inputs_open(&g->bar_file, o->value[OPTION_COTANGENTS]));
    CLI_TRY(check_names(&g->bar_file));
  }
  return o->value[OPTION_HESSIAN] ? inputs_open(&g->tangent_file, o->value[OPTION_HESSIAN])
                                  : EXIT_GOOD;
}

static exit_code take_files(gradient *g)
{
  if (g->by_shape && !g->reduces && inputs_find(&g->bar_file, "weight_bar")) {
    return report(EXIT_INPUT, "%s: weight_bar has no gradient by shape", g->bar_file.path);
  }
  const session *s = &g->job.session;
  const size_t poses = g->job.poses.count;
  for (size_t i = 0; i < OUTPUTS && !g->reduces; ++i) {
    const contact_array *o = &contact_arrays[i];
    const void *array = NULL;
    CLI_TRY(inputs_cotangent(&g->bar_file, o->cotangent, o->components > 1 ? 3 : 2, poses,
                             s->layout.contacts, s->precision, &array));
    put_array(&g->cotangents, o->in_cotangents, array);
  }
  return g->tangent_file.path
           ? inputs_tangents(&g->tangent_file, poses, g->job.width, s->precision, &g->tangents)
           : EXIT_GOOD;
}

static exit_code take_memory(gradient *g)
{
  const size_t poses = g->job.poses.count;
  if (g->by_shape) {
    CLI_TRY(shape_room(&g->shape, &g->job.session, g->each_pose ? poses : 0));
  }
  for (int i = 0; i < 2 && !g->by_shape; ++i) {
    CLI_TRY(job_reals(&g->job, poses, g->job.width, &g->g[i]));
    if (g->tangent_file.path) {
      CLI_TRY(job_reals(&g->job, poses, g->job.width, &g->h[i]));
    }
  }
  if (g->whole) {
    g->columns = (g->moving == ABUT_BOTH_BODIES ? 2 : 1) * g->job.width;
    CLI_TRY(job_reals(&g->job, poses, g->columns * g->columns, &g->hessian));
  }
  if (g->reduces) {
    CLI_TRY(job_reals(&g->job, poses, 1, &g->value));
    want_reduction(&g->job.batch, g->reduction, g->value);
  }
  return EXIT_GOOD;
}

static exit_code compute(gradient *g)
{
  job *j = &g->job;
  const abut_gradients to = {g->g[0], g->g[1]}, products = {g->h[0], g->h[1]};
  if (g->by_shape) {
    const abut_shape_gradients *by = g->shape.to;
    return job_end(j, g->reduces ? abut_shape_gradient(j->session.pair, &j->batch, g->reduction,
                                                       &by[0], &by[1], g->want)
                                 : abut_shape_vjp(j->session.pair, &j->batch, &g->cotangents,
                                                  &by[0], &by[1], g->want));
  }
  if (!g->reduces) {
    return job_end(j, abut_vjp(j->session.pair, j->session.derivatives, &j->batch, &g->cotangents,
                               &to));
  }
  if (g->tangent_file.path) {
    return job_end(j, abut_hessian_product(j->session.pair, &j->batch, g->reduction, &g->tangents,
                                           &to, &products));
  }
  if (g->whole) {
    return job_end(j, abut_hessian(j->session.pair, &j->batch, g->reduction, g->moving, &to,
                                   g->hessian));
  }
  return job_end(j, abut_gradient(j->session.pair, j->session.derivatives, &j->batch, g->reduction,
                                  &to));
}

static void add_outputs(const gradient *g, outputs *l)
{
  static const char *const g_names[] = {"g1", "g2"}, *const h_names[] = {"h1", "h2"};
  const session *s = &g->job.session;
  const size_t poses = g->job.poses.count;
  if (g->by_shape) {
    shape_add(&g->shape, l);
  }
  for (int i = 0; i < 2 && g->g[0]; ++i) {
    outputs_add(l, g_names[i], real_type(s), g->g[i], 2, poses, g->job.width, 0);
  }
  for (int i = 0; i < 2 && g->h[0]; ++i) {
    outputs_add(l, h_names[i], real_type(s), g->h[i], 2, poses, g->job.width, 0);
  }
  if (g->whole) {
    outputs_add(l, "hessian", real_type(s), g->hessian, 3, poses, g->columns, g->columns);
  }
  if (g->reduces) {
    outputs_add(l, "value", real_type(s), g->value, 1, poses, 0, 0);
  }
  outputs_add(l, "status", ABUT_ARRAY_UINT8, g->job.batch.status, 1, poses, 0, 0);
}

static exit_code write(const gradient *g)
{
  outputs l = {0};
  add_outputs(g, &l);
  return outputs_write(&l, &g->job.session, g->job.o);
}

static void summarise(const gradient *g)
{
  const size_t numbers = g->job.poses.count * g->job.width;
  double largest = shape_largest(&g->shape);
  for (size_t i = 0; i < 2 * numbers && g->g[0]; ++i) {
    const void *of = g->g[i / numbers];
    largest = fmax(largest, fabs(real_at(of, g->job.session.precision, i % numbers)));
  }
  printf("%zu pose%s, %zu contacts per pose, gradient of %s%s, largest entry %.4g",
         g->job.poses.count, g->job.poses.count == 1 ? "" : "s", g->job.session.layout.contacts,
         g->reduces ? reduction_names[g->reduction] : "cotangents", g->by_shape ? " by shape" : "",
         largest);
  job_print_end(&g->job);
}

/* ---- a folder of results ---- */

static void free_rows(gradient *g)
{
  for (int i = 0; i < 2; ++i) {
    free(g->g[i]);
    free(g->h[i]);
    g->g[i] = g->h[i] = NULL;
  }
  free(g->value);
  free(g->hessian);
  g->value = g->hessian = NULL;
}

static int bar_axis(const abut_array *a)
{
  for (size_t i = 0; i < OUTPUTS; ++i) {
    if (strcmp(a->name, contact_arrays[i].cotangent) == 0) {
      return a->dimensions ? 0 : SAME_FOR_ALL;
    }
  }
  return NOT_WANTED;
}

/* Reads a block's rows of the files besides the poses. */
static exit_code read_files(gradient *g, size_t first, size_t count)
{
  const options *o = g->job.o;
  if (o->value[OPTION_COTANGENTS] && !g->bar_file.path) {
    CLI_TRY(inputs_open_rows(&g->bar_file, o->value[OPTION_COTANGENTS], bar_axis, g->job.all));
    CLI_TRY(check_names(&g->bar_file));
  }
  if (o->value[OPTION_HESSIAN] && !g->tangent_file.path) {
    CLI_TRY(inputs_open_rows(&g->tangent_file, o->value[OPTION_HESSIAN], inputs_tangents_axis,
                             g->job.all));
  }
  CLI_TRY(g->bar_file.path ? inputs_read_rows(&g->bar_file, first, count) : EXIT_GOOD);
  CLI_TRY(g->tangent_file.path ? inputs_read_rows(&g->tangent_file, first, count) : EXIT_GOOD);
  return take_files(g);
}

static exit_code compute_block(void *user, const abut_poses *poses, size_t first, progress *p,
                               outputs *l)
{
  gradient *g = user;
  free_rows(g);
  CLI_TRY(job_take(&g->job, poses));
  CLI_TRY(read_files(g, first, poses->count));
  l->input_bytes = inputs_row_bytes(&g->bar_file) + inputs_row_bytes(&g->tangent_file);
  CLI_TRY(take_memory(g));
  if (poses->count) {
    job_begin_block(&g->job, p);
    CLI_TRY(compute(g));
  }
  add_outputs(g, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(gradient *g, const options *o)
{
  if (g->by_shape) {
    return usage_error(
      o->command,
      "a folder of results can contain only gradients by poses; --by shape needs an .npz");
  }
  return job_run_in_folder(&g->job, o, compute_block, g, WHAT);
}

static exit_code run(gradient *g, const options *o)
{
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(read_reduction(g, o));
  CLI_TRY(read_hessian(g, o));
  CLI_TRY(read_way(g, o));
  CLI_TRY(job_check(o));
  if (folder_is_named(o)) {
    return run_in_folder(g, o);
  }
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(open_files(g, o));
  CLI_TRY(job_open(&g->job, o, precision));
  job_forget_poses(&g->job);
  CLI_TRY(take_files(g));
  CLI_TRY(take_memory(g));
  job_begin(&g->job, WHAT);
  CLI_TRY(compute(g));
  warn_rejected(&g->job.batch,
                g->by_shape && !g->each_pose ? "They are not in the sums." : "Their rows are NaN.");
  CLI_TRY(write(g));
  if (sums_up(o)) {
    summarise(g);
  }
  return EXIT_GOOD;
}

exit_code cmd_gradient(const options *o)
{
  gradient g = {0};
  const exit_code code = run(&g, o);
  free_rows(&g);
  shape_free(&g.shape);
  inputs_close(&g.bar_file);
  inputs_close(&g.tangent_file);
  job_close(&g.job);
  return code;
}
