/* What devices are asked about contacts and their derivatives. */
#include "manifold/self_test_bodies.h"
#include "modules/modules.h"
#include "modules/question.h"
#include <abut/derivatives.h>

#include "manifold/self_test_answers.inl"

#define POSES SELF_TEST_POSES
#define CONTACTS SELF_TEST_CONTACTS
#define POSE_REALS 6
#define BLOCK_ROWS 8 /* of a Jacobian: p, d, n, activity */
#define OUTPUTS 4

/* By PROGRAM_KIND; answers end where there is no name. */
static const answer answers[PROGRAM_KINDS][OUTPUTS] = {
  {{"p", expected_p, CONTACTS, 3, OF_P},
   {"d", expected_d, CONTACTS, 1, OF_D},
   {"n", expected_n, CONTACTS, 3, OF_N},
   {"activity", expected_activity, CONTACTS, 1, OF_ACTIVITY}},
  {{"the VJP by pose1", expected_vjp_1, 1, POSE_REALS, OF_SLOPES},
   {"the VJP by pose2", expected_vjp_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the JVP of p", expected_jvp_p, CONTACTS, 3, OF_SLOPES},
   {"the JVP of d", expected_jvp_d, CONTACTS, 1, OF_SLOPES},
   {"the JVP of n", expected_jvp_n, CONTACTS, 3, OF_SLOPES},
   {"the JVP of activity", expected_jvp_activity, CONTACTS, 1, OF_SLOPES}},
  {{"the Hessian product by pose1", expected_hessian_1, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian product by pose2", expected_hessian_2, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian by pose1 along a tangent", expected_hessian_1, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian by pose2 along a tangent", expected_hessian_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the Jacobian of p along a tangent", expected_jvp_p, CONTACTS, 3, OF_SLOPES},
   {"the Jacobian of d along a tangent", expected_jvp_d, CONTACTS, 1, OF_SLOPES},
   {"the Jacobian of n along a tangent", expected_jvp_n, CONTACTS, 3, OF_SLOPES},
   {"the Jacobian of activity along a tangent", expected_jvp_activity, CONTACTS, 1, OF_SLOPES}},
};

#define ROOM                                                                    \
  (6 * POSES * POSE_REALS + POSES * 4 * POSE_REALS * POSE_REALS +                \
   3 * POSES * CONTACTS * BLOCK_ROWS + POSES * CONTACTS * BLOCK_ROWS * 2 * POSE_REALS)

typedef struct trial {
  question q;
  abut_body bodies[2];
  abut_pair pair;
  abut_batch batch;
  const void *got[OUTPUTS];
} trial;

/* ---- the question ---- */

/* Cotangents of an output: the same for each pose, by the place among its numbers. */
static void *put_cotangents(trial *t, size_t components)
{
  double row[CONTACTS * 3];
  const size_t count = CONTACTS * components;
  for (size_t i = 0; i < count; ++i) {
    row[i] = (double)((int)(i * 7 % 11) - 5) / 4.0;
  }
  return question_put(&t->q, row, POSES * count, count);
}

static void *put_poses(trial *t, const double *from)
{
  return question_put(&t->q, from, POSES * POSE_REALS, POSES * POSE_REALS);
}

static void *ask_for(trial *t, const answer *all, size_t which)
{
  void *room = question_ask(&t->q, POSES * all[which].slots * all[which].components);
  t->got[which] = room;
  return room;
}

static abut_status prepare(trial *t, context *one)
{
  const abut_smoothing smoothing = self_test_smoothing();
  *t = (trial){.batch = abut_default_batch()};
  TRY(question_open(&t->q, one, ROOM));
  for (int i = 0; i < 2; ++i) {
    TRY(self_test_body(question_context(&t->q), i, &t->bodies[i]));
  }
  t->batch.count = POSES;
  t->batch.pose1 = put_poses(t, pose_1);
  t->batch.pose2 = put_poses(t, pose_2);
  return abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &t->pair);
}

static abut_status contacts(trial *t, const answer *all)
{
  t->batch.p = ask_for(t, all, 0);
  t->batch.d = ask_for(t, all, 1);
  t->batch.n = ask_for(t, all, 2);
  t->batch.activity = ask_for(t, all, 3);
  return abut_contacts(t->pair, &t->batch);
}

static abut_status vjp(trial *t, const answer *all)
{
  const abut_cotangents bars = {.p = put_cotangents(t, 3), .d = put_cotangents(t, 1),
                                .n = put_cotangents(t, 3), .activity = put_cotangents(t, 1)};
  const abut_gradients gradients = {ask_for(t, all, 0), ask_for(t, all, 1)};
  return abut_vjp(t->pair, ABUT_SAME_PAIR, &t->batch, &bars, &gradients);
}

static abut_pose_tangents put_tangents(trial *t)
{
  void *const first = put_poses(t, tangent_1);
  return (abut_pose_tangents){first, put_poses(t, tangent_2)};
}

static abut_status jvp(trial *t, const answer *all)
{
  const abut_pose_tangents along = put_tangents(t);
  const abut_tangents tangents = {ask_for(t, all, 0), ask_for(t, all, 1), ask_for(t, all, 2),
                                  ask_for(t, all, 3)};
  return abut_jvp(t->pair, ABUT_SAME_PAIR, &t->batch, &along, &tangents);
}

/* A row of 2 POSE_REALS numbers, from `first` on, times the tangent of a pose. */
static double row_along(const trial *t, const void *rows, size_t first, size_t pose)
{
  const double *const along[2] = {tangent_1, tangent_2};
  double sum = 0.0;
  for (size_t k = 0; k < 2 * POSE_REALS; ++k) {
    sum += question_number(&t->q, rows, first + k) *
           along[k / POSE_REALS][pose * POSE_REALS + k % POSE_REALS];
  }
  return sum;
}

/* Whole ones times the tangent are products, too. */
static abut_status whole_hessian(trial *t)
{
  void *rows = question_ask(&t->q, POSES * 4 * POSE_REALS * POSE_REALS);
  double along[2][POSES * POSE_REALS];
  TRY(abut_hessian(t->pair, &t->batch, ABUT_REDUCE_MEAN_DISTANCE, ABUT_BOTH_BODIES, NULL, rows));
  for (size_t i = 0; i < 2 * POSES * POSE_REALS; ++i) {
    const size_t pose = i / (2 * POSE_REALS), row = i % (2 * POSE_REALS);
    along[row / POSE_REALS][pose * POSE_REALS + row % POSE_REALS] =
      row_along(t, rows, i * 2 * POSE_REALS, pose);
  }
  t->got[2] = put_poses(t, along[0]);
  t->got[3] = put_poses(t, along[1]);
  return ABUT_SUCCESS;
}

static abut_status hessian(trial *t, const answer *all)
{
  const abut_pose_tangents along = put_tangents(t);
  const abut_gradients products = {ask_for(t, all, 0), ask_for(t, all, 1)};
  TRY(abut_hessian_product(t->pair, &t->batch, ABUT_REDUCE_MEAN_DISTANCE, &along, NULL,
                           &products));
  return whole_hessian(t);
}

/* Where an output of a contact lies among a Jacobian block's rows. */
static const size_t block_rows[OUTPUTS] = {0, 3, 4, 7};

/* A block times a tangent is what the JVP gives. */
static double block_along(const trial *t, const void *blocks, size_t entry, size_t row)
{
  return row_along(t, blocks, (entry * BLOCK_ROWS + row) * 2 * POSE_REALS, entry / CONTACTS);
}

/* Every contact has a block, for none is less active than 0. */
static abut_status jacobian(trial *t, const answer *all)
{
  abut_compact list = {.threshold = 0.0, .capacity = POSES * CONTACTS};
  void *blocks = question_ask(&t->q, POSES * CONTACTS * BLOCK_ROWS * 2 * POSE_REALS);
  double along[POSES * CONTACTS * 3];
  t->batch.compact = &list;
  TRY(abut_jacobian(t->pair, ABUT_SAME_PAIR, &t->batch, blocks));
  for (size_t which = 0; which < OUTPUTS; ++which) {
    const size_t components = all[which].components, count = POSES * CONTACTS * components;
    for (size_t i = 0; i < count; ++i) {
      along[i] = block_along(t, blocks, i / components, block_rows[which] + i % components);
    }
    t->got[which] = question_put(&t->q, along, count, count);
  }
  return ABUT_SUCCESS;
}

/* ---- the answers ---- */

static abut_status compare(const trial *t, const answer *all)
{
  if (t->batch.rejected) {
    return fail(ABUT_ERROR_SELF_TEST, "device %s answers wrongly: it refuses %zu of %d good poses",
                device_info(t->q.one->members[0].device)->name, t->batch.rejected, POSES);
  }
  for (size_t i = 0; i < OUTPUTS && all[i].name; ++i) {
    TRY(question_compare(&t->q, &all[i], t->got[i], POSES, POSES));
  }
  return ABUT_SUCCESS;
}

static abut_status ask(context *one, abut_status (*call)(trial *, const answer *),
                       const answer *all)
{
  trial t;
  abut_status status = prepare(&t, one);
  if (status == ABUT_SUCCESS) {
    status = call(&t, all);
  }
  if (status == ABUT_SUCCESS) {
    status = compare(&t, all);
  }
  question_close(&t.q);
  return status;
}

static abut_status ask_contacts(context *one)
{
  return ask(one, contacts, answers[PROGRAM_KIND(PROGRAM_PLAIN, false)]);
}

static abut_status ask_vjp(context *one)
{
  return ask(one, vjp, answers[PROGRAM_KIND(PROGRAM_PLAIN, true)]);
}

static abut_status ask_jvp(context *one)
{
  return ask(one, jvp, answers[PROGRAM_KIND(PROGRAM_DUAL, false)]);
}

static abut_status ask_hessian(context *one)
{
  return ask(one, hessian, answers[PROGRAM_KIND(PROGRAM_DUAL, true)]);
}

static abut_status ask_jacobian(context *one)
{
  return ask(one, jacobian, answers[PROGRAM_KIND(PROGRAM_DUAL6, false)]);
}

const module_questions manifold_questions = {{
  [PROGRAM_KIND(PROGRAM_PLAIN, false)] = ask_contacts,
  [PROGRAM_KIND(PROGRAM_PLAIN, true)] = ask_vjp,
  [PROGRAM_KIND(PROGRAM_DUAL, false)] = ask_jvp,
  [PROGRAM_KIND(PROGRAM_DUAL, true)] = ask_hessian,
  [PROGRAM_KIND(PROGRAM_DUAL6, false)] = ask_jacobian,
}};
