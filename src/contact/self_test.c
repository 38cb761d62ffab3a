/* The self-tests of contacts and their derivatives. */
#include "geometry/layout.h"
#include "engine/self_test/bodies.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/derivatives.h>
#include <string.h>

#include "contact/self_test_answers.inl"
#include "contact/self_test_fields.inl"
#include "contact/self_test_lists.inl"

#define POSES SELF_TEST_POSES
#define CONTACTS SELF_TEST_CONTACTS
#define TOUCHING SELF_TEST_TOUCHING /* contacts of the pair with edges in fields */
/* contacts of the pair whose active contacts are listed */
#define LISTED SELF_TEST_LISTED
#define ENTRIES (sizeof list_slots / sizeof *list_slots)
#define POSE_REALS 6
#define ANSWERS 7 /* maximum per self-test */

/* The known answers by PROGRAM_KIND, up to the first without a name. */
static const answer answers[PROGRAM_KINDS][ANSWERS] = {
  {{"p", expected_p, CONTACTS, 3, OF_P},
   {"d", expected_d, CONTACTS, 1, OF_D},
   {"n", expected_n, CONTACTS, 3, OF_N},
   {"activity", expected_activity, CONTACTS, 1, OF_ACTIVITY},
   {"weight", expected_weight, CONTACTS, 1, OF_WEIGHT},
   {"distance", expected_distance, 1, 1, OF_D},
   {"the soft distance", expected_soft_distance, 1, 1, OF_D}},
  {{"the VJP by pose1", expected_vjp_1, 1, POSE_REALS, OF_SLOPES},
   {"the VJP by pose2", expected_vjp_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the JVP of p", expected_jvp_p, CONTACTS, 3, OF_SLOPES},
   {"the JVP of d", expected_jvp_d, CONTACTS, 1, OF_SLOPES},
   {"the JVP of n", expected_jvp_n, CONTACTS, 3, OF_SLOPES},
   {"the JVP of activity", expected_jvp_activity, CONTACTS, 1, OF_SLOPES},
   {"the JVP of weight", expected_jvp_weight, CONTACTS, 1, OF_SLOPES}},
  {{"the Hessian product by pose1", expected_hessian_1, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian product by pose2", expected_hessian_2, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian by pose1 along a tangent", expected_hessian_1, 1, POSE_REALS, OF_SLOPES},
   {"the Hessian by pose2 along a tangent", expected_hessian_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the Jacobian of p along a tangent", expected_jvp_p, CONTACTS, 3, OF_SLOPES},
   {"the Jacobian of d along a tangent", expected_jvp_d, CONTACTS, 1, OF_SLOPES},
   {"the Jacobian of n along a tangent", expected_jvp_n, CONTACTS, 3, OF_SLOPES},
   {"the Jacobian of activity along a tangent", expected_jvp_activity, CONTACTS, 1, OF_SLOPES}},
};

/* Second derivatives of edges in fields are known by differences, to about 1e-5. */
#define OF_BENDS {2e-3, 1e-4}, true

/* The same for edges in fields. */
static const answer field_answers[PROGRAM_KINDS][ANSWERS] = {
  {{"p of edges in fields", field_p, TOUCHING, 3, OF_P},
   {"d of edges in fields", field_d, TOUCHING, 1, OF_D},
   {"n of edges in fields", field_n, TOUCHING, 3, OF_N},
   {"activity of edges in fields", field_activity, TOUCHING, 1, OF_ACTIVITY},
   {"weight of edges in fields", field_weight, TOUCHING, 1, OF_WEIGHT},
   {"distance by edges in fields", field_distance, 1, 1, OF_D},
   {"the soft distance by edges in fields", field_soft_distance, 1, 1, OF_D}},
  {{"the VJP of edges in fields by pose1", field_vjp_1, 1, POSE_REALS, OF_SLOPES},
   {"the VJP of edges in fields by pose2", field_vjp_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the JVP of p of edges in fields", field_jvp_p, TOUCHING, 3, OF_SLOPES},
   {"the JVP of d of edges in fields", field_jvp_d, TOUCHING, 1, OF_SLOPES},
   {"the JVP of n of edges in fields", field_jvp_n, TOUCHING, 3, OF_SLOPES},
   {"the JVP of activity of edges in fields", field_jvp_activity, TOUCHING, 1, OF_SLOPES},
   {"the JVP of weight of edges in fields", field_jvp_weight, TOUCHING, 1, OF_SLOPES}},
  {{"the Hessian product of edges in fields by pose1", field_hessian_1, 1, POSE_REALS, OF_BENDS},
   {"the Hessian product of edges in fields by pose2", field_hessian_2, 1, POSE_REALS, OF_BENDS},
   {"the Hessian of edges in fields by pose1 along a tangent", field_hessian_1, 1, POSE_REALS,
    OF_BENDS},
   {"the Hessian of edges in fields by pose2 along a tangent", field_hessian_2, 1, POSE_REALS,
    OF_BENDS}},
  {{"the Jacobian of p of edges in fields along a tangent", field_jvp_p, TOUCHING, 3, OF_SLOPES},
   {"the Jacobian of d of edges in fields along a tangent", field_jvp_d, TOUCHING, 1, OF_SLOPES},
   {"the Jacobian of n of edges in fields along a tangent", field_jvp_n, TOUCHING, 3, OF_SLOPES},
   {"the Jacobian of activity of edges in fields along a tangent", field_jvp_activity, TOUCHING, 1,
    OF_SLOPES}},
};

/* The same for entries of a list, at their places among all contacts, with zeros elsewhere. */
static const answer list_answers[PROGRAM_KINDS][ANSWERS] = {
  {{"p of active contacts", list_p, LISTED, 3, OF_P},
   {"d of active contacts", list_d, LISTED, 1, OF_D},
   {"n of active contacts", list_n, LISTED, 3, OF_N},
   {"active contacts", list_activity, LISTED, 1, OF_ACTIVITY}},
  {{"the VJP of a list by pose1", list_vjp_1, 1, POSE_REALS, OF_SLOPES},
   {"the VJP of a list by pose2", list_vjp_2, 1, POSE_REALS, OF_SLOPES}},
  {{"the JVP of a list's p", list_jvp_p, LISTED, 3, OF_SLOPES},
   {"the JVP of a list's d", list_jvp_d, LISTED, 1, OF_SLOPES},
   {"the JVP of a list's n", list_jvp_n, LISTED, 3, OF_SLOPES},
   {"the JVP of a list's activity", list_jvp_activity, LISTED, 1, OF_SLOPES}},
  {{NULL, NULL, 0, 0, OF_SLOPES}},
  {{"the Jacobian of a list's p along a tangent", list_jvp_p, LISTED, 3, OF_SLOPES},
   {"the Jacobian of a list's d along a tangent", list_jvp_d, LISTED, 1, OF_SLOPES},
   {"the Jacobian of a list's n along a tangent", list_jvp_n, LISTED, 3, OF_SLOPES},
   {"the Jacobian of a list's activity along a tangent", list_jvp_activity, LISTED, 1, OF_SLOPES}},
};

#define ROOM                                                      \
  (6 * POSES * POSE_REALS + POSES * 4 * POSE_REALS * POSE_REALS + \
   4 * POSES * LISTED * BLOCK_ROWS + POSES * LISTED * BLOCK_ROWS * 2 * POSE_REALS)

/* Which pair is tested. */
typedef enum trial_kind { TRIAL_ALL, TRIAL_LISTS, TRIAL_FIELDS } trial_kind;

_Static_assert(SELF_TEST_CONTACTS <= SELF_TEST_LISTED && SELF_TEST_TOUCHING <= SELF_TEST_LISTED,
               "there is room for the contacts of each pair");

typedef struct trial {
  self_test test;
  size_t contacts; /* of the pair */
  abut_body bodies[2];
  abut_pair pair;
  abut_batch batch;
  const void *got[ANSWERS];
  uint32_t pose[POSES * LISTED], slot[POSES * LISTED]; /* for a list made by the device */
} trial;

/* ---- all contacts ---- */

static double cotangent(size_t i)
{
  return (double)((int)(i * 7 % 11) - 5) / 4.0;
}

/* Puts cotangents of an output. They depend on the index among a pose's numbers and are the same
 * for each pose. */
static void *put_cotangents(trial *t, size_t components)
{
  double row[LISTED * 3];
  const size_t count = t->contacts * components;
  for (size_t i = 0; i < count; ++i) {
    row[i] = cotangent(i);
  }
  return self_test_put(&t->test, row, POSES * count, count);
}

static void *put_poses(trial *t, const double *from)
{
  return self_test_put(&t->test, from, POSES * POSE_REALS, POSES * POSE_REALS);
}

static void *room_for(trial *t, const answer *all, size_t which)
{
  void *room = self_test_room(&t->test, POSES * all[which].slots * all[which].components);
  t->got[which] = room;
  return room;
}

static abut_status prepare(trial *t, context *one, trial_kind kind)
{
  static const size_t contacts[] = {CONTACTS, LISTED, TOUCHING};
  abut_smoothing smoothing = self_test_smoothing();
  memset(t, 0, sizeof *t);
  t->contacts = contacts[kind];
  if (kind == TRIAL_LISTS) {
    set_list_smoothing(&smoothing);
  } else if (kind == TRIAL_FIELDS) {
    set_field_smoothing(&smoothing);
  }
  t->batch = abut_default_batch();
  TRY(self_test_open(&t->test, one, ROOM));
  for (int i = 0; i < 2; ++i) {
    TRY((kind == TRIAL_FIELDS ? self_test_touching_body
                              : self_test_body)(self_test_context(&t->test), i, &t->bodies[i]));
  }
  t->batch.count = POSES;
  t->batch.pose1 = put_poses(t, pose_1);
  t->batch.pose2 = put_poses(t, pose_2);
  return abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &t->pair);
}

static abut_status contacts(trial *t, const answer *all)
{
  t->batch.p = room_for(t, all, 0);
  t->batch.d = room_for(t, all, 1);
  t->batch.n = room_for(t, all, 2);
  t->batch.activity = room_for(t, all, 3);
  t->batch.weight = room_for(t, all, 4);
  t->batch.reductions.distance = room_for(t, all, 5);
  t->batch.reductions.soft_distance = room_for(t, all, 6);
  return abut_contacts(t->pair, &t->batch);
}

static abut_status vjp(trial *t, const answer *all)
{
  const abut_cotangents bars = {.p = put_cotangents(t, 3),
                                .d = put_cotangents(t, 1),
                                .n = put_cotangents(t, 3),
                                .activity = put_cotangents(t, 1),
                                .weight = put_cotangents(t, 1)};
  const abut_gradients gradients = {room_for(t, all, 0), room_for(t, all, 1)};
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
  const abut_tangents tangents = {.p = room_for(t, all, 0),
                                  .d = room_for(t, all, 1),
                                  .n = room_for(t, all, 2),
                                  .activity = room_for(t, all, 3),
                                  .weight = room_for(t, all, 4)};
  return abut_jvp(t->pair, ABUT_SAME_PAIR, &t->batch, &along, &tangents);
}

/* Multiplies a row of 2 POSE_REALS numbers from `first` on by the tangent of a pose. */
static double row_along(const trial *t, const void *rows, size_t first, size_t pose)
{
  const double *const along[2] = {tangent_1, tangent_2};
  double sum = 0.0;
  for (size_t k = 0; k < 2 * POSE_REALS; ++k) {
    sum += self_test_number(&t->test, rows, first + k) *
           along[k / POSE_REALS][pose * POSE_REALS + k % POSE_REALS];
  }
  return sum;
}

/* Whole Hessians times the tangent must equal the products. */
static abut_status whole_hessian(trial *t)
{
  void *rows = self_test_room(&t->test, POSES * 4 * POSE_REALS * POSE_REALS);
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
  const abut_gradients products = {room_for(t, all, 0), room_for(t, all, 1)};
  TRY(abut_hessian_product(t->pair, &t->batch, ABUT_REDUCE_MEAN_DISTANCE, &along, NULL, &products));
  return whole_hessian(t);
}

/* Index of a contact's outputs among a Jacobian block's rows. */
#define BLOCK_ROW(member, id, reals) VALUE_##id
static const size_t block_rows[OUTPUTS_LISTED] = {LISTED_OUTPUTS(BLOCK_ROW, AND_COMMA)};

/* A block times a tangent must equal the JVP. */
static double block_along(const trial *t, const void *blocks, size_t entry, size_t row, size_t pose)
{
  return row_along(t, blocks, (entry * BLOCK_ROWS + row) * 2 * POSE_REALS, pose);
}

/* With a threshold of 0, every contact has a block. */
static abut_status jacobian(trial *t, const answer *all)
{
  abut_compact list = {.threshold = 0.0, .capacity = POSES * t->contacts};
  void *blocks = self_test_room(&t->test, POSES * t->contacts * BLOCK_ROWS * 2 * POSE_REALS);
  double along[POSES * LISTED * 3];
  t->batch.compact = &list;
  TRY(abut_jacobian(t->pair, ABUT_SAME_PAIR, &t->batch, blocks));
  for (size_t which = 0; which < OUTPUTS_LISTED; ++which) {
    const size_t components = all[which].components, count = POSES * t->contacts * components;
    for (size_t i = 0; i < count; ++i) {
      const size_t entry = i / components;
      along[i] =
        block_along(t, blocks, entry, block_rows[which] + i % components, entry / t->contacts);
    }
    t->got[which] = self_test_put(&t->test, along, count, count);
  }
  return ABUT_SUCCESS;
}

/* ---- active contacts ---- */

/* Returns an empty list for active contacts, which the device fills. */
static abut_compact empty_list(trial *t)
{
  return (abut_compact){.threshold = SELF_TEST_THRESHOLD,
                        .capacity = POSES * LISTED,
                        .pose = t->pose,
                        .slot = t->slot};
}

/* Returns the known list. */
static abut_compact known_list(void)
{
  return (abut_compact){.count = ENTRIES,
                        .pose = (uint32_t *)(uintptr_t)list_poses,
                        .slot = (uint32_t *)(uintptr_t)list_slots};
}

/* Puts numbers of a list's entries, `components` each, at their places among all contacts. Invalid
 * places, which a faulty device may list, are ignored. */
static void *put_dense(trial *t, const abut_compact *list, const double *numbers, size_t components)
{
  double dense[POSES * LISTED * 3] = {0.0};
  for (size_t i = 0; i < list->count; ++i) {
    const size_t at = list->pose[i] * LISTED + list->slot[i];
    for (size_t k = 0; list->pose[i] < POSES && list->slot[i] < LISTED && k < components; ++k) {
      dense[at * components + k] = numbers[i * components + k];
    }
  }
  return self_test_put(&t->test, dense, POSES * LISTED * components, POSES * LISTED * components);
}

/* Does the same with an array filled by the device. */
static void *put_entries(trial *t, const abut_compact *list, const void *array, size_t components)
{
  double numbers[POSES * LISTED * 3];
  for (size_t i = 0; i < list->count * components; ++i) {
    numbers[i] = self_test_number(&t->test, array, i);
  }
  return put_dense(t, list, numbers, components);
}

static void *room_for_entries(trial *t, size_t components)
{
  return self_test_room(&t->test, POSES * LISTED * components);
}

static abut_status list_contacts(trial *t, const answer *all)
{
  abut_compact list = empty_list(t);
  void *const arrays[OUTPUTS_LISTED] = {list.p = room_for_entries(t, 3),
                                        list.d = room_for_entries(t, 1),
                                        list.n = room_for_entries(t, 3),
                                        list.activity = room_for_entries(t, 1)};
  t->batch.compact = &list;
  TRY(abut_contacts(t->pair, &t->batch));
  for (size_t i = 0; i < OUTPUTS_LISTED; ++i) {
    t->got[i] = put_entries(t, &list, arrays[i], all[i].components);
  }
  return ABUT_SUCCESS;
}

/* Puts cotangents of a list's entries: those of all contacts at the same places. */
static void *put_entry_cotangents(trial *t, size_t components)
{
  double rows[ENTRIES * 3];
  for (size_t i = 0; i < ENTRIES * components; ++i) {
    rows[i] = cotangent(list_slots[i / components] * components + i % components);
  }
  return self_test_put(&t->test, rows, ENTRIES * components, ENTRIES * components);
}

static abut_status list_vjp(trial *t, const answer *all)
{
  const abut_compact list = known_list();
  const abut_cotangents bars = {.p = put_entry_cotangents(t, 3),
                                .d = put_entry_cotangents(t, 1),
                                .n = put_entry_cotangents(t, 3),
                                .activity = put_entry_cotangents(t, 1)};
  const abut_gradients gradients = {room_for(t, all, 0), room_for(t, all, 1)};
  return abut_list_vjp(t->pair, &t->batch, &list, &bars, &gradients);
}

static abut_status list_jvp(trial *t, const answer *all)
{
  const abut_compact list = known_list();
  const abut_pose_tangents along = put_tangents(t);
  void *const arrays[OUTPUTS_LISTED] = {room_for_entries(t, 3), room_for_entries(t, 1),
                                        room_for_entries(t, 3), room_for_entries(t, 1)};
  const abut_tangents tangents = {.p = arrays[0],
                                  .d = arrays[1],
                                  .n = arrays[2],
                                  .activity = arrays[3]};
  TRY(abut_list_jvp(t->pair, &t->batch, &list, &along, &tangents));
  for (size_t i = 0; i < OUTPUTS_LISTED; ++i) {
    t->got[i] = put_entries(t, &list, arrays[i], all[i].components);
  }
  return ABUT_SUCCESS;
}

static abut_status list_jacobian(trial *t, const answer *all)
{
  abut_compact list = empty_list(t);
  void *blocks = self_test_room(&t->test, POSES * LISTED * BLOCK_ROWS * 2 * POSE_REALS);
  double along[POSES * LISTED * 3];
  t->batch.compact = &list;
  TRY(abut_jacobian(t->pair, ABUT_SAME_PAIR, &t->batch, blocks));
  for (size_t which = 0; which < OUTPUTS_LISTED; ++which) {
    const size_t components = all[which].components;
    for (size_t i = 0; i < list.count * components; ++i) {
      const size_t entry = i / components, pose = t->pose[entry];
      along[i] = pose < POSES
                   ? block_along(t, blocks, entry, block_rows[which] + i % components, pose)
                   : 0.0;
    }
    t->got[which] = put_dense(t, &list, along, components);
  }
  return ABUT_SUCCESS;
}

/* ---- the answers ---- */

static abut_status compare(const trial *t, const answer *all)
{
  if (t->batch.rejected) {
    return fail(ABUT_ERROR_SELF_TEST,
                "device %s gives wrong results: it rejects %zu of %d valid poses",
                device_info(t->test.one->members[0].device)->name, t->batch.rejected, POSES);
  }
  for (size_t i = 0; i < ANSWERS && all[i].name; ++i) {
    TRY(self_test_compare(&t->test, &all[i], t->got[i], POSES, POSES));
  }
  return ABUT_SUCCESS;
}

typedef abut_status self_test_call(trial *, const answer *);

static abut_status test_one(context *one, self_test_call *call, const answer *all, trial_kind kind)
{
  trial t;
  abut_status status = prepare(&t, one, kind);
  if (status == ABUT_SUCCESS) {
    status = call(&t, all);
  }
  if (status == ABUT_ERROR_OVERFLOW) {
    status = fail(ABUT_ERROR_SELF_TEST,
                  "device %s gives wrong results: it lists more contacts than exist",
                  device_info(one->members[0].device)->name);
  }
  if (status == ABUT_SUCCESS) {
    status = compare(&t, all);
  }
  self_test_close(&t.test);
  return status;
}

static abut_status test(context *one, int kind, self_test_call *call)
{
  return test_one(one, call, answers[kind], TRIAL_ALL);
}

static abut_status test_active(context *one, int kind, self_test_call *call)
{
  return test_one(one, call, list_answers[kind], TRIAL_LISTS);
}

static abut_status test_fields(context *one, int kind, self_test_call *call)
{
  return test_one(one, call, field_answers[kind], TRIAL_FIELDS);
}

static abut_status test_contacts(context *one)
{
  return test(one, PROGRAM_KIND(PROGRAM_PLAIN, false), contacts);
}

static abut_status test_vjp(context *one)
{
  return test(one, PROGRAM_KIND(PROGRAM_PLAIN, true), vjp);
}

static abut_status test_jvp(context *one)
{
  return test(one, PROGRAM_KIND(PROGRAM_DUAL, false), jvp);
}

static abut_status test_hessian(context *one)
{
  return test(one, PROGRAM_KIND(PROGRAM_DUAL, true), hessian);
}

static abut_status test_jacobian(context *one)
{
  return test(one, PROGRAM_KIND(PROGRAM_DUAL6, false), jacobian);
}

static abut_status test_list(context *one)
{
  return test_active(one, PROGRAM_KIND(PROGRAM_PLAIN, false), list_contacts);
}

static abut_status test_list_vjp(context *one)
{
  return test_active(one, PROGRAM_KIND(PROGRAM_PLAIN, true), list_vjp);
}

static abut_status test_list_jvp(context *one)
{
  return test_active(one, PROGRAM_KIND(PROGRAM_DUAL, false), list_jvp);
}

static abut_status test_list_jacobian(context *one)
{
  return test_active(one, PROGRAM_KIND(PROGRAM_DUAL6, false), list_jacobian);
}

static abut_status test_field_contacts(context *one)
{
  return test_fields(one, PROGRAM_KIND(PROGRAM_PLAIN, false), contacts);
}

static abut_status test_field_vjp(context *one)
{
  return test_fields(one, PROGRAM_KIND(PROGRAM_PLAIN, true), vjp);
}

static abut_status test_field_jvp(context *one)
{
  return test_fields(one, PROGRAM_KIND(PROGRAM_DUAL, false), jvp);
}

static abut_status test_field_hessian(context *one)
{
  return test_fields(one, PROGRAM_KIND(PROGRAM_DUAL, true), hessian);
}

static abut_status test_field_jacobian(context *one)
{
  return test_fields(one, PROGRAM_KIND(PROGRAM_DUAL6, false), jacobian);
}

const module_self_tests manifold_self_tests = {{
  [SELF_TEST_MAIN] =
    {
      [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_contacts,
      [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test_vjp,
      [PROGRAM_KIND(PROGRAM_DUAL, false)] = test_jvp,
      [PROGRAM_KIND(PROGRAM_DUAL, true)] = test_hessian,
      [PROGRAM_KIND(PROGRAM_DUAL6, false)] = test_jacobian,
    },
  [SELF_TEST_ACTIVE] =
    {
      [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_list,
      [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test_list_vjp,
      [PROGRAM_KIND(PROGRAM_DUAL, false)] = test_list_jvp,
      [PROGRAM_KIND(PROGRAM_DUAL6, false)] = test_list_jacobian,
    },
  [SELF_TEST_FIELDS] =
    {
      [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_field_contacts,
      [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test_field_vjp,
      [PROGRAM_KIND(PROGRAM_DUAL, false)] = test_field_jvp,
      [PROGRAM_KIND(PROGRAM_DUAL, true)] = test_field_hessian,
      [PROGRAM_KIND(PROGRAM_DUAL6, false)] = test_field_jacobian,
    },
}};
