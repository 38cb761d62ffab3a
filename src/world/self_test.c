/* Self-tests of worlds: one step of two worlds, repeated until they fill more than whole blocks of
 * lanes, and one step of a large world. */
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include "world/loaded.h"

#include <stdio.h>

#include "world/self_test_answers.inl"

#define KNOWN 2
#define WORLDS 19
#define NQ 9
#define NV 8
#define CONTACTS 3
#define ROOM (WORLDS * (2 * NQ + 5 * NV + 2 + 8 * CONTACTS))

static void *put(self_test *t, const double *from, size_t width)
{
  return self_test_put(t, from, WORLDS * width, KNOWN * width);
}

static abut_status compare(const self_test *t, const answer *a, const void *got)
{
  return self_test_compare(t, a, got, WORLDS, KNOWN);
}

/* Makes the arrays that both self-tests of one step share. The contacts are in the caller's struct.
 */
static abut_worlds known_worlds(self_test *t, abut_given_contacts *contacts)
{
  static const int32_t owner[] = {0, 2, 0}, opposing[] = {-1, -1, 2}, pair[] = {0, 0, 0};
  *contacts = (abut_given_contacts){.count = CONTACTS,
                                    .owner = owner,
                                    .opposing = opposing,
                                    .pair = pair,
                                    .p = put(t, points, 3 * CONTACTS),
                                    .d = put(t, distances, CONTACTS),
                                    .n = put(t, normals, 3 * CONTACTS),
                                    .activity = put(t, activities, CONTACTS)};
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = put(t, start_q, NQ);
  w.v = put(t, start_v, NV);
  w.u = put(t, controls, 1);
  w.contacts = contacts;
  return w;
}

static abut_status step(self_test *t, abut_scene scene)
{
  static const answer answers[] = {{"positions after a step", next_q, 1, NQ, {2e-5, 1e-9}, true},
                                   {"velocities after a step", next_v, 1, NV, {1e-4, 1e-9}, true},
                                   {"accelerations", accelerations, 1, NV, {2e-3, 1e-8}, true}};
  abut_given_contacts contacts;
  abut_worlds w = known_worlds(t, &contacts);
  w.q_next = self_test_room(t, WORLDS * NQ);
  w.v_next = self_test_room(t, WORLDS * NV);
  w.acceleration = self_test_room(t, WORLDS * NV);
  TRY(abut_step_worlds(scene, &w));
  TRY(compare(t, &answers[0], w.q_next));
  TRY(compare(t, &answers[1], w.v_next));
  return compare(t, &answers[2], w.acceleration);
}

static abut_status step_adjoint(self_test *t, abut_scene scene)
{
  static const answer answers[] = {
    {"gradients by positions", q_gradients, 1, NV, {1e-2, 1e-7}, true},
    {"gradients by velocities", v_gradients, 1, NV, {1e-2, 1e-7}, true},
    {"gradients by controls", control_gradients, 1, 1, {1e-2, 1e-7}, true}};
  abut_given_contacts contacts;
  abut_worlds w = known_worlds(t, &contacts);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = put(t, cotangents, 2 * NV);
  g.q = self_test_room(t, WORLDS * NV);
  g.v = self_test_room(t, WORLDS * NV);
  g.u = self_test_room(t, WORLDS);
  TRY(abut_vjp_worlds(scene, &w, &g));
  TRY(compare(t, &answers[0], g.q));
  TRY(compare(t, &answers[1], g.v));
  return compare(t, &answers[2], g.u);
}

/* ---- long loops ---- */

/* A scene of many slides on a link that falls along x; the slides start to fall along z against
 * friction. The link connects them to a tree, so the solver's matrix is full, and the loops of its
 * work-item take about 1.4e5 rounds. Mesa's llvmpipe (22.3) limits all loops of a kernel together
 * to 65535 rounds; it then leaves each loop after one round, and later code may never run. Scenes
 * with contacts reach that limit with a dozen degrees of freedom. */
#define SLIDES 64
#define SLIDE_TEXT                                                                           \
  "{\"parent\": 0, \"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": " \
  "{\"type\": \"slide\", \"axis\": [0, 0, 1], \"frictionloss\": 20}}"
#define SLIDES_TEXT                                                                         \
  "{\"timestep\": 0.01, \"gravity\": [-1, 0, -10], \"links\": [{\"mass\": 1, \"inertia\": " \
  "[[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}}"

static void write_slides(char *to, size_t bytes)
{
  size_t at = (size_t)snprintf(to, bytes, "%s", SLIDES_TEXT);
  for (int i = 1; i < SLIDES; ++i) {
    at += (size_t)snprintf(to + at, bytes - at, ", %s", SLIDE_TEXT);
  }
  snprintf(to + at, bytes - at, "]}");
}

/* A friction loss of 20 N could hold the 10 N of each slide. With its impedance d(0) = 0.9 it takes
 * only that share of the acceleration, so a tenth of gravity remains (docs/dev/cone-formulas.md,
 * section 8). */
static abut_status fall(self_test *t, abut_scene scene)
{
  static const double still[] = {0.0}, expected[] = {-0.01};
  const answer velocity = {"velocities of many links", expected, 1, 1, {1e-4, 1e-9}, true};
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = self_test_put(t, still, SLIDES, 1);
  w.v = self_test_put(t, still, SLIDES, 1);
  w.v_next = self_test_room(t, SLIDES);
  TRY(abut_step_worlds(scene, &w));
  return self_test_compare(t, &velocity, w.v_next, SLIDES, 1);
}

static abut_status test_of(context *one, const char *text,
                           abut_status (*of_scene)(self_test *, abut_scene))
{
  self_test t;
  abut_scene scene;
  TRY(self_test_open(&t, one, ROOM));
  abut_status status = scene_of_text(self_test_context(&t), text, &scene);
  if (status == ABUT_SUCCESS) {
    status = of_scene(&t, scene);
    abut_destroy_scene(scene);
  }
  self_test_close(&t);
  return status;
}

static abut_status test(context *one)
{
  char slides[sizeof SLIDES_TEXT + SLIDES * sizeof SLIDE_TEXT + 2 * SLIDES];
  TRY(test_of(one, scene_text, step));
  write_slides(slides, sizeof slides);
  return test_of(one, slides, fall);
}

static abut_status test_adjoints(context *one)
{
  return test_of(one, scene_text, step_adjoint);
}

/* ---- hard contacts ---- */

/* Two worlds of a mass on two slides that touches the floor. In the first it is 0.5 mm deep and
 * slides; in the second it comes down and sticks. The expected values are derived by hand: f_n = s
 * - v_z + g h, with the target s a fifth of the depth over h; v'_x = v_x - mu f_n, or 0 when it
 * sticks (docs/dev/lcp-formulas.md, section 1). */
#define HARD_TEXT                                                                                \
  "{\"contact_model\": \"lcp\", \"timestep\": 0.01, \"gravity\": [0, 0, -10], \"links\": ["      \
  "{\"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}}, {\"parent\": 0, \"mass\": 1, "       \
  "\"inertia\": "                                                                                \
  "[[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": {\"type\": \"slide\", \"axis\": [0, 0, 1]}}], " \
  "\"pairs\": [{\"friction\": 0.5}]}"
#define SLIDE_NV 2

static abut_worlds hard_worlds(self_test *t, abut_given_contacts *contacts)
{
  static const int32_t owner[] = {1}, opposing[] = {-1}, pair[] = {0};
  static const double at[6] = {0.0}, depth[] = {-5e-4, -1e-3}, up[] = {0, 0, 1, 0, 0, 1},
                      one[] = {1, 1};
  static const double speed[] = {1, 0, 0.01, -1};
  *contacts = (abut_given_contacts){.count = 1,
                                    .owner = owner,
                                    .opposing = opposing,
                                    .pair = pair,
                                    .p = put(t, at, 3),
                                    .d = put(t, depth, 1),
                                    .n = put(t, up, 3),
                                    .activity = put(t, one, 1)};
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = put(t, at, SLIDE_NV);
  w.v = put(t, speed, SLIDE_NV);
  w.contacts = contacts;
  return w;
}

static abut_status step_hard(self_test *t, abut_scene scene)
{
  static const double position[] = {0.00945, 1e-4, 0, 2e-4}, velocity[] = {0.945, 0.01, 0, 0.02};
  static const answer answers[] = {
    {"positions with hard contacts", position, 1, SLIDE_NV, {1e-5, 1e-11}, true},
    {"velocities with hard contacts", velocity, 1, SLIDE_NV, {1e-5, 1e-11}, true}};
  abut_given_contacts contacts;
  abut_worlds w = hard_worlds(t, &contacts);
  w.q_next = self_test_room(t, WORLDS * SLIDE_NV);
  w.v_next = self_test_room(t, WORLDS * SLIDE_NV);
  TRY(abut_step_worlds(scene, &w));
  TRY(compare(t, &answers[0], w.q_next));
  return compare(t, &answers[1], w.v_next);
}

/* The gradient of v'_x + 2 v'_z. */
static abut_status step_hard_adjoint(self_test *t, abut_scene scene)
{
  static const double bars[] = {0, 0, 1, 2, 0, 0, 1, 2};
  static const double by_v[] = {1, 0.5, 0, 0}, by_d[] = {-30, -40}, by_friction[] = {-0.11, 0};
  static const answer answers[] = {
    {"gradients by velocities, of hard contacts", by_v, 1, SLIDE_NV, {1e-4, 1e-10}, true},
    {"gradients by distances", by_d, 1, 1, {1e-4, 1e-10}, true},
    {"gradients by friction", by_friction, 1, 1, {1e-4, 1e-10}, true}};
  abut_given_contacts contacts;
  abut_worlds w = hard_worlds(t, &contacts);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = put(t, bars, 2 * SLIDE_NV);
  g.v = self_test_room(t, WORLDS * SLIDE_NV);
  g.d = self_test_room(t, WORLDS);
  g.friction = self_test_room(t, WORLDS);
  TRY(abut_vjp_worlds(scene, &w, &g));
  TRY(compare(t, &answers[0], g.v));
  TRY(compare(t, &answers[1], g.d));
  return compare(t, &answers[2], g.friction);
}

static abut_status test_hard(context *one)
{
  return test_of(one, HARD_TEXT, step_hard);
}

static abut_status test_hard_adjoint(context *one)
{
  return test_of(one, HARD_TEXT, step_hard_adjoint);
}

/* ---- springs ---- */

/* The expected values of a scene on two slides, with the names used by
 * tools/make_world_self_test.py. */
typedef struct spring_answers {
  const char *text;
  const double *q, *v, *bars, *euler_q, *euler_v, *implicit_q, *implicit_v, *q_gradients,
    *v_gradients, *law_gradients;
} spring_answers;

#define ANSWERS(of)                                                                    \
  {                                                                                    \
    of##_text, of##_q, of##_v, of##_bars, of##_euler_q, of##_euler_v, of##_implicit_q, \
      of##_implicit_v, of##_q_gradients, of##_v_gradients, of##_law_gradients          \
  }

static const spring_answers of_clouds = ANSWERS(spring), of_contacts = ANSWERS(ball);

static abut_worlds spring_worlds(self_test *t, const spring_answers *a)
{
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = put(t, a->q, SLIDE_NV);
  w.v = put(t, a->v, SLIDE_NV);
  return w;
}

static abut_status step_springs(self_test *t, const spring_answers *a, abut_scene scene,
                                bool implicit)
{
  const answer positions = {"positions with springs",
                            implicit ? a->implicit_q : a->euler_q,
                            1,
                            SLIDE_NV,
                            {1e-5, 1e-11},
                            true};
  const answer velocities = {"velocities with springs",
                             implicit ? a->implicit_v : a->euler_v,
                             1,
                             SLIDE_NV,
                             {1e-4, 1e-10},
                             true};
  abut_worlds w = spring_worlds(t, a);
  w.q_next = self_test_room(t, WORLDS * SLIDE_NV);
  w.v_next = self_test_room(t, WORLDS * SLIDE_NV);
  TRY(abut_step_worlds(scene, &w));
  TRY(compare(t, &positions, w.q_next));
  return compare(t, &velocities, w.v_next);
}

static abut_status step_springs_adjoint(self_test *t, const spring_answers *a, abut_scene scene)
{
  const answer answers[] = {
    {"gradients by positions, of springs", a->q_gradients, 1, SLIDE_NV, {1e-3, 1e-9}, true},
    {"gradients by velocities, of springs", a->v_gradients, 1, SLIDE_NV, {1e-3, 1e-9}, true},
    {"gradients by springs", a->law_gradients, 1, SPRING_NUMBERS, {1e-3, 1e-9}, true}};
  abut_worlds w = spring_worlds(t, a);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = put(t, a->bars, 2 * SLIDE_NV);
  g.q = self_test_room(t, WORLDS * SLIDE_NV);
  g.v = self_test_room(t, WORLDS * SLIDE_NV);
  g.springs = self_test_room(t, WORLDS * SPRING_NUMBERS);
  TRY(abut_vjp_worlds(scene, &w, &g));
  TRY(compare(t, &answers[0], g.q));
  TRY(compare(t, &answers[1], g.v));
  return compare(t, &answers[2], g.springs);
}

static abut_status step_clouds(self_test *t, abut_scene scene)
{
  return step_springs(t, &of_clouds, scene, false);
}

static abut_status step_clouds_implicitly(self_test *t, abut_scene scene)
{
  return step_springs(t, &of_clouds, scene, true);
}

static abut_status step_clouds_adjoint(self_test *t, abut_scene scene)
{
  return step_springs_adjoint(t, &of_clouds, scene);
}

static abut_status step_balls(self_test *t, abut_scene scene)
{
  return step_springs(t, &of_contacts, scene, false);
}

static abut_status step_balls_implicitly(self_test *t, abut_scene scene)
{
  return step_springs(t, &of_contacts, scene, true);
}

static abut_status step_balls_adjoint(self_test *t, abut_scene scene)
{
  return step_springs_adjoint(t, &of_contacts, scene);
}

/* Forward kernels are tested with explicit steps, since implicit steps also run kernels of
 * derivatives. */
#define EXPLICITLY "{\"integrator\": \"euler\", "

static abut_status test_explicitly(context *one, const spring_answers *a,
                                   abut_status (*of_scene)(self_test *, abut_scene))
{
  char text[sizeof spring_text + sizeof ball_text + sizeof EXPLICITLY];
  snprintf(text, sizeof text, "%s%s", EXPLICITLY, a->text + 1);
  return test_of(one, text, of_scene);
}

static abut_status test_clouds(context *one)
{
  return test_explicitly(one, &of_clouds, step_clouds);
}

static abut_status test_clouds_adjoint(context *one)
{
  TRY(test_of(one, spring_text, step_clouds_implicitly));
  return test_explicitly(one, &of_clouds, step_clouds_adjoint);
}

static abut_status test_balls(context *one)
{
  return test_explicitly(one, &of_contacts, step_balls);
}

static abut_status test_balls_adjoint(context *one)
{
  TRY(test_of(one, ball_text, step_balls_implicitly));
  return test_explicitly(one, &of_contacts, step_balls_adjoint);
}

/* ---- impacts within a step ---- */

/* Two equal boxes slide along one line, and the rear one hits the front one within the step. Both
 * then move at their mean speed, wherever and whenever they meet, so the derivatives with respect
 * to both positions and both speeds are 1/2. */
#define SLIDING_BOX(x)                                                                    \
  "{\"position\": [" x ", 0, 0], \"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}, " \
  "\"density\": 1000, \"bodies\": "                                                       \
  "[{\"box\": [0.02, 0.02, 0.02]}]}"
#define SWEPT_TEXT                                                                          \
  "{\"timestep\": 0.01, \"gravity\": [0, 0, 0], \"sweep\": true, \"links\": [" SLIDING_BOX( \
    "-0.2") ", " SLIDING_BOX("0") "], "                                                     \
                                  "\"pairs\": [{\"a\": 0, \"b\": 1}]}"

static abut_worlds swept_worlds(self_test *t)
{
  static const double q[2 * SLIDE_NV] = {0.0, 0.0, 0.03, -0.02},
                            v[2 * SLIDE_NV] = {50.0, 10.0, 60.0, -5.0};
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = put(t, q, SLIDE_NV);
  w.v = put(t, v, SLIDE_NV);
  return w;
}

/* Tangents and cotangents of q, then of v. A position moves by half the sum of both displacements,
 * plus half of the time step times the sum of both speed changes. */
static abut_status step_swept(self_test *t, abut_scene scene)
{
  static const double q_along[] = {1.0, 2.0, 3.0, -1.0}, v_along[] = {100.0, -300.0, 200.0, 500.0};
  static const double bars[] = {1.0, 2.0, 100.0, 300.0, 3.0, -1.0, 200.0, -500.0};
  static const double q_ahead[] = {0.5, 0.5, 4.5, 4.5}, v_ahead[] = {-100.0, -100.0, 350.0, 350.0};
  static const double q_back[] = {1.5, 1.5, 1.0, 1.0},
                      v_back[] = {200.015, 200.015, -149.99, -149.99};
  static const answer answers[] = {
    {"positions' tangents through an impact", q_ahead, 1, SLIDE_NV, {1e-3, 1e-9}, true},
    {"velocities' tangents through an impact", v_ahead, 1, SLIDE_NV, {1e-2, 1e-8}, true},
    {"gradients by positions, through an impact", q_back, 1, SLIDE_NV, {1e-3, 1e-9}, true},
    {"gradients by velocities, through an impact", v_back, 1, SLIDE_NV, {1e-2, 1e-8}, true}};
  abut_worlds w = swept_worlds(t);
  abut_worlds_tangents along = abut_default_worlds_tangents();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  along.q = put(t, q_along, SLIDE_NV);
  along.v = put(t, v_along, SLIDE_NV);
  along.q_next = self_test_room(t, WORLDS * SLIDE_NV);
  along.v_next = self_test_room(t, WORLDS * SLIDE_NV);
  g.state = put(t, bars, 2 * SLIDE_NV);
  g.q = self_test_room(t, WORLDS * SLIDE_NV);
  g.v = self_test_room(t, WORLDS * SLIDE_NV);
  TRY(abut_jvp_worlds(scene, &w, &along));
  TRY(compare(t, &answers[0], along.q_next));
  TRY(compare(t, &answers[1], along.v_next));
  TRY(abut_vjp_worlds(scene, &w, &g));
  TRY(compare(t, &answers[2], g.q));
  return compare(t, &answers[3], g.v);
}

static abut_status test_swept(context *one)
{
  return test_of(one, SWEPT_TEXT, step_swept);
}

const module_self_tests world_self_tests = {
  {[SELF_TEST_MAIN] = {test, test_adjoints, [PROGRAM_KIND(PROGRAM_DUAL, true)] = test_swept},
   [SELF_TEST_HARD] = {test_hard, test_hard_adjoint},
   [SELF_TEST_SPRING] = {test_clouds, test_clouds_adjoint},
   [SELF_TEST_SPRING_CONTACTS] = {test_balls, test_balls_adjoint}}};
