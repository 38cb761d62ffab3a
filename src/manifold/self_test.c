#include "manifold/self_test.h"

#include "base/error.h"
#include "base/reals.h"
#include <abut/derivatives.h>
#include <math.h>
#include <string.h>

#include "manifold/self_test_answers.inl"

#define POSES SELF_TEST_POSES
#define CONTACTS SELF_TEST_CONTACTS
#define POSE_REALS 6
#define OUTPUTS 4

/* What comes back from a program: for each pose, slots of some components. */
typedef struct answer {
  const char *name;
  const double *expected;
  size_t slots, components;
  double tolerances[2]; /* by precision */
  bool relative;        /* these are parts of the largest number expected */
} answer;

/* The table of docs/spec.md, section 9, in float32 its line for 99 % of the entries. PoCL, Intel's
 * CPU runtime and the host path keep to a twentieth of that, in float64 to a two hundredth. */
#define OF_P {3e-5, 1e-9}, false
#define OF_D {2e-4, 1e-9}, false
#define OF_N {1e-3, 1e-8}, false
#define OF_ACTIVITY {3e-5, 1e-9}, false
#define OF_SLOPES {2e-3, 1e-7}, true

/* By PROGRAM_OF; answers end where there is no name. */
static const answer answers[PROGRAM_COUNT][OUTPUTS] = {
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
   {"the Hessian product by pose2", expected_hessian_2, 1, POSE_REALS, OF_SLOPES}},
};

/* Everything is taken from one array, in the context's precision. */
#define ROOM (4 * POSES * POSE_REALS + 2 * POSES * CONTACTS * (3 + 1 + 3 + 1))

typedef struct question {
  context *one; /* of the member alone */
  abut_body bodies[2];
  abut_pair pair;
  abut_precision precision;
  reals room;
  size_t used;
  size_t got[OUTPUTS]; /* where each answer begins */
} question;

/* ---- numbers ---- */

static void *take(question *q, size_t count)
{
  char *at = (char *)q->room.data + q->used * q->room.size;
  q->used += count;
  return at;
}

static void *put(question *q, const double *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    reals_set(&q->room, q->used + i, from[i]);
  }
  return take(q, count);
}

/* Cotangents of an output: the same for each pose, by the place among its numbers. */
static void *put_cotangents(question *q, size_t components)
{
  const size_t count = CONTACTS * components;
  for (size_t i = 0; i < POSES * count; ++i) {
    reals_set(&q->room, q->used + i, (double)((int)(i % count * 7 % 11) - 5) / 4.0);
  }
  return take(q, POSES * count);
}

/* Room for an answer, which a device that does nothing leaves without numbers. */
static void *ask(question *q, const answer *all, size_t which)
{
  const size_t count = POSES * all[which].slots * all[which].components;
  q->got[which] = q->used;
  for (size_t i = 0; i < count; ++i) {
    reals_set(&q->room, q->used + i, NAN);
  }
  return take(q, count);
}

static double number(const question *q, size_t i)
{
  return q->precision == ABUT_FLOAT64 ? ((const double *)q->room.data)[i]
                                      : (double)((const float *)q->room.data)[i];
}

/* ---- the question ---- */

static abut_status make_body(abut_context c, int which, abut_body *out)
{
  const abut_polyhedron polyhedron = {planes, sizeof planes / (6 * sizeof *planes), ABUT_ADD};
  const abut_pointcloud pointcloud = {cloud, sizeof cloud / (7 * sizeof *cloud), ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  def.vertices = which ? vertices_2 : vertices_1;
  def.vertex_count = sizeof vertices_1 / (3 * sizeof *vertices_1);
  def.face_sizes = face_sizes;
  def.face_indices = face_indices;
  def.face_count = sizeof face_sizes / sizeof *face_sizes;
  if (which) {
    def.superquadrics = superquadrics_2;
    def.superquadric_count = sizeof superquadrics_2 / sizeof *superquadrics_2;
    def.pointclouds = &pointcloud;
    def.pointcloud_count = 1;
  } else {
    def.superquadrics = superquadrics_1;
    def.superquadric_count = sizeof superquadrics_1 / sizeof *superquadrics_1;
    def.polyhedra = &polyhedron;
    def.polyhedron_count = 1;
  }
  return abut_create_body(c, &def, out);
}

static abut_status prepare(question *q, context *c, size_t place)
{
  abut_smoothing smoothing = abut_default_smoothing();
  set_smoothing(&smoothing);
  q->precision = c->def.precision;
  TRY(reals_create(&q->room, ROOM, context_real_bytes(c)));
  TRY(context_lend(c, place, &q->one));
  memset(q->one->members[0].tested, true, sizeof q->one->members[0].tested); /* it is asked now */
  const abut_context handle_ = {q->one->self.index, q->one->self.generation};
  for (int i = 0; i < 2; ++i) {
    TRY(make_body(handle_, i, &q->bodies[i]));
  }
  return abut_create_pair(q->bodies[0], q->bodies[1], &smoothing, &q->pair);
}

static abut_status contacts(question *q, abut_batch *batch)
{
  batch->p = ask(q, answers[0], 0);
  batch->d = ask(q, answers[0], 1);
  batch->n = ask(q, answers[0], 2);
  batch->activity = ask(q, answers[0], 3);
  return abut_contacts(q->pair, batch);
}

static abut_status vjp(question *q, abut_batch *batch)
{
  const answer *all = answers[PROGRAM_OF(PROGRAM_PLAIN, true)];
  const abut_cotangents bars = {.p = put_cotangents(q, 3), .d = put_cotangents(q, 1),
                                .n = put_cotangents(q, 3), .activity = put_cotangents(q, 1)};
  const abut_gradients gradients = {ask(q, all, 0), ask(q, all, 1)};
  return abut_vjp(q->pair, ABUT_SAME_PAIR, batch, &bars, &gradients);
}

static abut_pose_tangents put_tangents(question *q)
{
  void *const first = put(q, tangent_1, POSES * POSE_REALS);
  return (abut_pose_tangents){first, put(q, tangent_2, POSES * POSE_REALS)};
}

static abut_status jvp(question *q, abut_batch *batch)
{
  const answer *all = answers[PROGRAM_OF(PROGRAM_DUAL, false)];
  const abut_pose_tangents along = put_tangents(q);
  const abut_tangents tangents = {ask(q, all, 0), ask(q, all, 1), ask(q, all, 2), ask(q, all, 3)};
  return abut_jvp(q->pair, ABUT_SAME_PAIR, batch, &along, &tangents);
}

static abut_status hessian(question *q, abut_batch *batch)
{
  const answer *all = answers[PROGRAM_OF(PROGRAM_DUAL, true)];
  const abut_pose_tangents along = put_tangents(q);
  const abut_gradients products = {ask(q, all, 0), ask(q, all, 1)};
  return abut_hessian_product(q->pair, batch, ABUT_REDUCE_MEAN_DISTANCE, &along, NULL, &products);
}

/* ---- the answers ---- */

static double largest(const answer *a)
{
  double most = 0.0;
  for (size_t i = 0; i < POSES * a->slots * a->components; ++i) {
    most = fmax(most, fabs(a->expected[i]));
  }
  return most;
}

static abut_status compare(const question *q, const answer *a, size_t begin)
{
  const double tolerance = a->tolerances[q->precision] * (a->relative ? largest(a) : 1.0);
  const size_t row = a->slots * a->components;
  for (size_t i = 0; i < POSES * row; ++i) {
    const double got = number(q, begin + i);
    if (!(fabs(got - a->expected[i]) <= tolerance)) { /* nor is it NaN */
      return fail(ABUT_ERROR_SELF_TEST,
                  "device %s answers wrongly: %s, pose %zu, slot %zu, number %zu, is %.9g where "
                  "%.9g is right",
                  device_info(q->one->members[0].device)->name, a->name, i / row,
                  i % row / a->components, i % a->components, got, a->expected[i]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status ask_all(question *q, int program)
{
  static abut_status (*const calls[PROGRAM_COUNT])(question *, abut_batch *) = {contacts, vjp, jvp,
                                                                                hessian};
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = put(q, pose_1, POSES * POSE_REALS);
  batch.pose2 = put(q, pose_2, POSES * POSE_REALS);
  TRY(calls[program](q, &batch));
  if (batch.rejected) {
    return fail(ABUT_ERROR_SELF_TEST, "device %s answers wrongly: it refuses %zu of %d good poses",
                device_info(q->one->members[0].device)->name, batch.rejected, POSES);
  }
  for (size_t i = 0; i < OUTPUTS && answers[program][i].name; ++i) {
    TRY(compare(q, &answers[program][i], q->got[i]));
  }
  return ABUT_SUCCESS;
}

/* A device that fails on the way says so by its own words. */
static abut_status explain(const question *q, abut_status status)
{
  const member *m = q->one ? &q->one->members[0] : NULL;
  return m && m->status != ABUT_SUCCESS
           ? fail(m->status, "device %s cannot answer the self-test: %s",
                  device_info(m->device)->name, m->text)
           : status;
}

abut_status test_member(context *c, size_t place, program_id program, bool reverse)
{
  const int which = PROGRAM_OF(program, reverse);
  member *m = &c->members[place];
  if (m->tested[which]) {
    return ABUT_SUCCESS;
  }
  question q = {0};
  abut_counters *counters = device_counters(m->device), before = *counters;
  abut_status status = prepare(&q, c, place);
  if (status == ABUT_SUCCESS) {
    status = ask_all(&q, which);
  }
  status = explain(&q, status);
  context_take_back(q.one);
  free(q.room.data);
  before.builds = counters->builds;
  before.resident = counters->resident;
  *counters = before;
  m->tested[which] = status == ABUT_SUCCESS;
  return status;
}
