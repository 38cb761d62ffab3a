/* One step of every golden world, against what the reference says of it:
 *   test_steps PRECISION ROOT [CASE | --or-refused]
 *
 * With CASE of that one alone. With --or-refused the device may as well fail its self-test, which
 * says that its answers would be wrong. */
#include "multipliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_of {
  abut_context context;
  bool steps_alone; /* without derivatives */
} run_of;

/* The lower triangle is what the library gives. */
static void mirror(void *m, abut_precision precision, size_t worlds, size_t nv)
{
  for (size_t w = 0; w < worlds; ++w) {
    for (size_t i = 0; i < nv; ++i) {
      for (size_t k = i + 1; k < nv; ++k) {
        real_put(m, precision, (w * nv + i) * nv + k, real_at(m, precision, (w * nv + k) * nv + i));
      }
    }
  }
}

static bool give_contacts(const golden_case *c, abut_given_contacts *g)
{
  size_t count;
  g->owner = golden_indices(c, "owner", &count);
  g->opposing = golden_indices(c, "opposing", &count);
  g->pair = golden_indices(c, "pair", &count);
  g->count = count;
  g->p = golden_input(c, "p", NULL);
  g->d = golden_input(c, "d", NULL);
  g->n = golden_input(c, "n", NULL);
  g->activity = golden_input(c, "activity", NULL);
  return g->owner && g->p;
}

/* Steps from the same start, each of which is kept, where the case has them. */
static void roll(const golden_case *c, abut_scene scene, const abut_worlds *inputs, answers *out)
{
  for (size_t i = 0; i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    if (strcmp(a->name, "rollout_q")) {
      continue;
    }
    void *controls = golden_input(c, "u_rollout", NULL);
    abut_worlds all = *inputs;
    all.count = a->shape[0];
    all.steps = a->shape[1];
    all.record = 1;
    all.u = controls ? controls : inputs->u;
    all.controls = controls != NULL;
    all.q_record = answers_put(out, "rollout_q", NULL);
    all.v_record = answers_put(out, "rollout_v", NULL);
    CHECK_OK(abut_step_worlds(scene, &all));
    free(controls);
  }
}

/* Gradients of one step, of cotangents of the state and of the acceleration; then of a rollout,
 * also with all states kept. */
static void differentiate(const golden_case *c, abut_scene scene, const abut_worlds *inputs,
                          size_t nv, answers *out)
{
  const size_t size = real_size(c->precision);
  abut_worlds one = *inputs;
  void *cotangent = golden_input(c, "cotangent", NULL);
  void *both = answers_put(out, "vjp_state", NULL);
  char *q = calloc(one.count * nv, size), *v = calloc(one.count * nv, size);
  REQUIRE(q && v);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = cotangent;
  g.q = q;
  g.v = v;
  g.u = answers_put(out, "vjp_u", NULL);
  g.mass_scale = answers_put(out, "vjp_mass_scale", NULL);
  g.friction = answers_put(out, "vjp_friction", NULL);
  g.stiffness = answers_put(out, "vjp_stiffness", NULL);
  g.gravity = answers_put(out, "vjp_gravity", NULL);
  CHECK_OK(abut_vjp_worlds(scene, &one, &g));
  for (size_t i = 0; both && i < one.count; ++i) {
    memcpy((char *)both + 2 * i * nv * size, q + i * nv * size, nv * size);
    memcpy((char *)both + (2 * i + 1) * nv * size, v + i * nv * size, nv * size);
  }
  free(cotangent);
  free(q);
  free(v);
  cotangent = golden_input(c, "cotangent_qacc", NULL);
  if (cotangent) {
    g = abut_default_worlds_gradients();
    g.acceleration = cotangent;
    g.p = answers_put(out, "qacc_vjp_p", NULL);
    g.d = answers_put(out, "qacc_vjp_d", NULL);
    g.n = answers_put(out, "qacc_vjp_n", NULL);
    g.activity = answers_put(out, "qacc_vjp_activity", NULL);
    CHECK_OK(abut_vjp_worlds(scene, &one, &g));
    free(cotangent);
  }
}

/* Transition matrices; and tangents through them and through the cotangents' gradients agree. */
static void linearize(const golden_case *c, abut_scene scene, const abut_worlds *inputs,
                      const abut_scene_info *info, answers *out)
{
  const size_t size = real_size(c->precision), nv = info->nv, nu = info->nu;
  const size_t count = inputs->count;
  abut_worlds one = *inputs;
  abut_worlds_transition t = abut_default_worlds_transition();
  t.A = answers_put(out, "A", NULL);
  t.B = answers_put(out, "B", NULL);
  t.mass_scale = answers_put(out, "P_mass_scale", NULL);
  t.friction = answers_put(out, "P_friction", NULL);
  t.stiffness = answers_put(out, "P_stiffness", NULL);
  t.gravity = answers_put(out, "P_gravity", NULL);
  CHECK_OK(abut_transition_worlds(scene, &one, &t));
  char *tangents = calloc(count * (2 * nv + nu), size), *ahead = calloc(count * 2 * nv, size);
  char *gradients = calloc(count * (2 * nv + nu), size);
  void *cotangent = golden_input(c, "cotangent", NULL);
  REQUIRE(tangents && ahead && gradients && cotangent);
  uint64_t random = 5;
  for (size_t i = 0; i < count * (2 * nv + nu); ++i) {
    real_put(tangents, c->precision, i, random_normal(&random));
  }
  abut_worlds_tangents along = abut_default_worlds_tangents();
  along.q = tangents;
  along.v = tangents + count * nv * size;
  along.u = nu ? tangents + count * 2 * nv * size : NULL;
  along.q_next = ahead;
  along.v_next = ahead + count * nv * size;
  one.steps = c->manifold ? 1 : 3;
  CHECK_OK(abut_jvp_worlds(scene, &one, &along));
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = cotangent;
  g.q = gradients;
  g.v = gradients + count * nv * size;
  g.u = nu ? gradients + count * 2 * nv * size : NULL;
  CHECK_OK(abut_vjp_worlds(scene, &one, &g));
  for (size_t i = 0; i < count; ++i) {
    double forward = 0.0, back = 0.0, scale = 1e-30;
    for (size_t k = 0; k < nv; ++k) {
      for (size_t part = 0; part < 2; ++part) {
        const size_t at = (part * count + i) * nv + k;
        const double a = real_at(cotangent, c->precision, (2 * i + part) * nv + k);
        forward += a * real_at(ahead, c->precision, at);
        scale += fabs(a * real_at(ahead, c->precision, at));
        back += real_at(tangents, c->precision, at) * real_at(gradients, c->precision, at);
        scale += fabs(real_at(tangents, c->precision, at) * real_at(gradients, c->precision, at));
      }
    }
    for (size_t k = 0; k < nu; ++k) {
      const size_t at = 2 * count * nv + i * nu + k;
      back += real_at(tangents, c->precision, at) * real_at(gradients, c->precision, at);
    }
    const double limit = c->precision == ABUT_FLOAT64 ? 1e-10 : 2e-3;
    check(fabs(forward - back) <= limit * scale, "%s: world %zu: JVP and VJP differ by %.1e",
          c->name, i, fabs(forward - back) / scale);
  }
  free(tangents);
  free(ahead);
  free(gradients);
  free(cotangent);
}

static void differentiate_roll(const golden_case *c, abut_scene scene, const abut_worlds *inputs,
                               size_t nv, answers *out)
{
  const size_t size = real_size(c->precision);
  void *cotangent = golden_input(c, "cotangent_rollout", NULL);
  void *controls = golden_input(c, "u_rollout", NULL);
  for (size_t i = 0; cotangent && i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    if (strcmp(a->name, "rollout_q")) {
      continue;
    }
    abut_worlds all = *inputs;
    all.count = a->shape[0];
    all.steps = a->shape[1];
    all.u = controls ? controls : inputs->u;
    all.controls = controls != NULL;
    abut_worlds_gradients g = abut_default_worlds_gradients();
    g.state = cotangent;
    g.q = answers_put(out, "rollout_grad_q", NULL);
    g.v = answers_put(out, "rollout_grad_v", NULL);
    g.u = answers_put(out, "rollout_grad_u", NULL);
    g.mass_scale = answers_put(out, "rollout_grad_mass_scale", NULL);
    g.friction = answers_put(out, "rollout_grad_friction", NULL);
    g.stiffness = answers_put(out, "rollout_grad_stiffness", NULL);
    g.gravity = answers_put(out, "rollout_grad_gravity", NULL);
    CHECK_OK(abut_vjp_worlds(scene, &all, &g));
    void *kept = calloc(all.count * nv, size), *few = calloc(all.count * nv, size);
    REQUIRE(kept && few && g.q);
    abut_worlds_gradients other = abut_default_worlds_gradients();
    other.state = cotangent;
    other.q = kept;
    other.segment = all.steps;
    CHECK_OK(abut_vjp_worlds(scene, &all, &other));
    other.q = few;
    other.segment = 3;
    CHECK_OK(abut_vjp_worlds(scene, &all, &other));
    check(!memcmp(g.q, kept, all.count * nv * size) && !memcmp(kept, few, all.count * nv * size),
          "%s: gradients depend on segments", c->name);
    free(kept);
    free(few);
  }
  free(cotangent);
  free(controls);
}

static bool solve(const golden_case *c, answers *out, void *data)
{
  const run_of *r = data;
  abut_scene scene;
  abut_scene_info info;
  abut_given_contacts given = {0};
  if (!CHECK_OK(abut_load_scene(r->context, c->scene, &scene))) {
    return false;
  }
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  abut_worlds w = abut_default_worlds();
  w.count = c->worlds;
  w.q = golden_input(c, "q", NULL);
  w.v = golden_input(c, "v", NULL);
  w.w = golden_input(c, "w", NULL);
  w.u = golden_input(c, "u", NULL);
  w.mass_scale = golden_input(c, "par_mass_scale", NULL);
  w.friction = golden_input(c, "par_friction", NULL);
  w.stiffness = golden_input(c, "par_stiffness", NULL);
  w.gravity = golden_input(c, "par_gravity", NULL);
  w.contacts = c->given && give_contacts(c, &given) ? &given : NULL;
  const abut_worlds inputs_alone = w;
  w.mass = answers_put(out, "M", NULL);
  w.bias = answers_put(out, "bias", NULL);
  w.smooth = answers_put(out, "qacc_smooth", NULL);
  w.acceleration = answers_put(out, "qacc", NULL);
  w.constraint = answers_put(out, "constraint", NULL);
  w.energy = answers_put(out, "energy", NULL);
  w.momentum = answers_put(out, "momentum", NULL);
  w.q_next = answers_put(out, "q1", NULL);
  w.v_next = answers_put(out, "v1", NULL);
  w.status = answers_put(out, "status", NULL);
  const size_t slots = w.contacts ? given.count : info.contacts;
  w.multipliers = slots ? calloc(c->worlds * slots * 3, real_size(c->precision)) : NULL;
  const bool done = CHECK_OK(abut_step_worlds(scene, &w));
  if (w.multipliers) {
    keep_multipliers(c, scene, w.contacts, w.multipliers, slots, out);
    free(w.multipliers);
  }
  if (w.mass) {
    mirror(w.mass, c->precision, c->worlds, info.nv);
  }
  roll(c, scene, &inputs_alone, out);
  if (!r->steps_alone) {
    differentiate(c, scene, &inputs_alone, info.nv, out);
    linearize(c, scene, &inputs_alone, &info, out);
    differentiate_roll(c, scene, &inputs_alone, info.nv, out);
  }
  CHECK_OK(abut_destroy_scene(scene));
  const void *const inputs[] = {w.q,        w.v,         w.w,       w.u,         w.mass_scale,
                                w.friction, w.stiffness, w.gravity, given.owner, given.opposing,
                                given.pair, given.p,     given.d,   given.n,     given.activity};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    free((void *)(uintptr_t)inputs[i]);
  }
  return done;
}

typedef struct trial {
  run_of run;
  abut_precision precision;
} trial;

/* In float32: h times an acceleration from stiff contacts that is off by its own limit of 2e-3 is
 * more than v's limit of the largest v. A bar that is nearly balanced comes to 0.9 mm/s in a step,
 * of which 0.4 % are rounding. */
static double allowed(const golden_case *c, const char *array, double limit)
{
  static const struct {
    const char *name;
    double limit;
  } stiff[] = {{"cone-given-pyramidal", 3e-3}, {"cone-crossed-bars", 6e-3}};
  if (c->precision != ABUT_FLOAT32 || strcmp(array, "v1")) {
    return limit;
  }
  for (size_t i = 0; i < sizeof stiff / sizeof *stiff; ++i) {
    if (!strcmp(c->name, stiff[i].name)) {
      return stiff[i].limit;
    }
  }
  return c->given ? 2e-4 : limit;
}

static void report(const golden_case *c, const answers *a)
{
  for (size_t i = 0; i < c->expected.count; ++i) {
    const abut_array *of = &c->expected.arrays[i];
    if (a->there[i]) {
      const agreement g = golden_compare(c, of, a->memory[i], NULL);
      const double limit = allowed(c, of->name, g.limit);
      check(g.holds || g.worst <= limit, "%s: %s is off by %.2e of %.1e, world %zu, entry %zu",
            c->name, of->name, g.worst, limit, g.world, g.entry);
    }
  }
}

static void visit(const char *folder, void *data)
{
  trial *t = data;
  golden_case c;
  answers out;
  REQUIRE(golden_open(folder, t->precision, &c));
  REQUIRE(answers_create(&c, &out));
  if (solve(&c, &out, &t->run)) {
    report(&c, &out);
  }
  answers_free(&out);
  golden_close(&c);
}

/* Many steps of one call are as many calls, to the bit, and so is any split of the batch. */
static void check_splits(const trial *t, const char *root)
{
  enum { WORLDS = 9, STEPS = 4 };
  char path[1024];
  abut_scene scene;
  abut_scene_info info;
  double start[64];
  snprintf(path, sizeof path, "%s/cone-boxes-stack/scene.json", root);
  REQUIRE_OK(abut_load_scene(t->run.context, path, &scene));
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  REQUIRE(info.nq <= 64);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  const size_t size = real_size(t->precision);
  char *q[3], *v[3], *w = calloc(WORLDS * info.nv, size),
                     *kept = calloc(STEPS * WORLDS * info.nq, size);
  for (int i = 0; i < 3; ++i) {
    q[i] = calloc(WORLDS * info.nq, size);
    v[i] = calloc(WORLDS * info.nv, size);
    REQUIRE(q[i] && v[i] && w && kept);
  }
  uint64_t random = 3;
  for (size_t i = 0; i < WORLDS * info.nq; ++i) {
    real_put(q[0], t->precision, i, start[i % info.nq]);
  }
  for (size_t i = 0; i < WORLDS * info.nv; ++i) {
    real_put(v[0], t->precision, i, 0.2 * random_normal(&random));
  }
  memcpy(q[2], q[0], WORLDS * info.nq * size);
  memcpy(v[2], v[0], WORLDS * info.nv * size);
  abut_worlds all = abut_default_worlds();
  all.count = WORLDS;
  all.steps = STEPS;
  all.q = q[0];
  all.v = v[0];
  all.q_next = q[1];
  all.v_next = v[1];
  all.record = 2;
  all.q_record = kept;
  CHECK_OK(abut_step_worlds(scene, &all));
  for (int step = 0; step < STEPS; ++step) {
    abut_worlds one = abut_default_worlds();
    one.count = WORLDS;
    one.q = one.q_next = q[2];
    one.v = one.v_next = v[2];
    one.w = one.w_next = w;
    CHECK_OK(abut_step_worlds(scene, &one));
    for (size_t i = 0; step == 1 && i < WORLDS; ++i) {
      CHECK(!memcmp(kept + 2 * i * info.nq * size, q[2] + i * info.nq * size, info.nq * size));
    }
  }
  CHECK(!memcmp(q[1], q[2], WORLDS * info.nq * size) && memcmp(q[0], q[1], info.nq * size));
  CHECK(!memcmp(v[1], v[2], WORLDS * info.nv * size));
  for (size_t i = 0; i < WORLDS; ++i) { /* each world alone */
    abut_worlds one = abut_default_worlds();
    one.count = 1;
    one.steps = STEPS;
    one.q = q[0] + i * info.nq * size;
    one.v = v[0] + i * info.nv * size;
    one.q_next = q[2];
    one.v_next = v[2];
    CHECK_OK(abut_step_worlds(scene, &one));
    CHECK(!memcmp(q[1] + i * info.nq * size, q[2], info.nq * size));
  }
  CHECK_OK(abut_destroy_scene(scene));
  for (int i = 0; i < 3; ++i) {
    free(q[i]);
    free(v[i]);
  }
  free(w);
  free(kept);
}

/* What fails in the midst of a scene is told, and what was made before is gone without a word. */
static void check_cause(const trial *t)
{
  static const char text[] = "{\"links\": [{\"joint\": {\"type\": \"free\"}, \"density\": 500, "
                             "\"bodies\": [{\"sphere\": 1}]},"
                             " {\"bodies\": [{\"plane\": [5, 5]}, {\"plane\": [5, 5]}, {\"file\": "
                             "\"missing.body.json\"}]}]}";
  char path[64];
  abut_scene scene;
  snprintf(path, sizeof path, "cause-%d.scene.json", (int)t->precision);
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  CHECK(abut_load_scene(t->run.context, path, &scene) == ABUT_ERROR_READ);
  check(strstr(abut_last_error(), "missing.body.json") != NULL, "the cause is `%s`",
        abut_last_error());
  CHECK(remove(path) == 0);
}

static void check_refusals(const trial *t, const char *root)
{
  char path[1024];
  abut_scene scene, gone;
  abut_scene_info info;
  abut_worlds w = abut_default_worlds(), zero;
  double q[64] = {0.0}, friction[4] = {0.0}, gravity[3] = {0.0};
  const double stated[4] = {0.8, 0.4, 0.6, 0.8}; /* the last by itself */
  memset(&zero, 0, sizeof zero);
  snprintf(path, sizeof path, "%s/cone-given-contacts/scene.json", root);
  CHECK(abut_load_scene(t->run.context, NULL, &scene) == ABUT_ERROR_ARGUMENT);
  abut_scene_options options = abut_default_scene_options();
  CHECK(abut_load_scene_with(t->run.context, NULL, &options, &scene) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_load_scene_with(t->run.context, path, NULL, &scene) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_load_scene_with(t->run.context, path, &options, NULL) == ABUT_ERROR_ARGUMENT);
  options.cookie = 0;
  CHECK(abut_load_scene_with(t->run.context, path, &options, &scene) == ABUT_ERROR_ARGUMENT);
  options = abut_default_scene_options();
  options.contact_model = "soft";
  CHECK(abut_load_scene_with(t->run.context, path, &options, &scene) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_load_scene(t->run.context, "none.scene.json", &scene) == ABUT_ERROR_READ);
  REQUIRE_OK(abut_load_scene(t->run.context, path, &scene));
  CHECK(abut_get_scene_info(scene, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_get_scene_start(scene, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_get_named_start(scene, 0, NULL, NULL, NULL, NULL) ==
        ABUT_ERROR_ARGUMENT); /* of none */
  CHECK(abut_get_named_start((abut_scene){0, 0}, 0, NULL, NULL, NULL, NULL) == ABUT_ERROR_HANDLE);
  REQUIRE_OK(abut_get_scene_parameters(scene, friction, gravity));
  CHECK_OK(abut_get_scene_parameters(scene, NULL, NULL));
  for (int i = 0; i < 4; ++i) {
    CHECK(friction[i] == stated[i]);
  }
  CHECK(gravity[0] == 0.0 && gravity[1] == 0.0 && gravity[2] == -9.81);
  CHECK(abut_get_scene_springs(scene, q) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the contacts of the scene are not springs");
  CHECK(abut_step_worlds(scene, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_step_worlds(scene, &zero) == ABUT_ERROR_ARGUMENT);
  w.count = 1;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT); /* neither q nor v */
  w.q = w.v = q;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT); /* no contacts */
  int32_t link[] = {0}, none[] = {-1}, other[] = {99}, pair[] = {0};
  abut_given_contacts c = {1, link, link, pair, q, q, q, q};
  w.contacts = &c;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT); /* a link against itself */
  c.opposing = other;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT);
  c.opposing = none;
  c.pair = other;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT);
  c.p = NULL;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT);
  c = (abut_given_contacts){.count = 0};
  CHECK_OK(abut_step_worlds(scene, &w)); /* none at all */
  w.steps = 0;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT);
  w.steps = 1;
  w.memory = (abut_memory)7;
  CHECK(abut_step_worlds(scene, &w) == ABUT_ERROR_ARGUMENT);
  gone = scene;
  CHECK_OK(abut_destroy_scene(scene));
  CHECK(abut_destroy_scene(gone) == ABUT_ERROR_HANDLE);
  CHECK(abut_get_scene_info(gone, &info) == ABUT_ERROR_HANDLE);
  CHECK(abut_get_scene_parameters(gone, friction, gravity) == ABUT_ERROR_HANDLE);
  CHECK(abut_get_scene_springs(gone, q) == ABUT_ERROR_HANDLE);
  CHECK(abut_step_worlds(gone, &w) == ABUT_ERROR_HANDLE);
}

static bool is_refused(const trial *t, const char *root)
{
  char path[1024];
  double q[64] = {0.0};
  abut_scene scene;
  abut_worlds w = abut_default_worlds();
  snprintf(path, sizeof path, "%s/cone-boxes-stack/scene.json", root);
  REQUIRE_OK(abut_load_scene(t->run.context, path, &scene));
  w.count = 1;
  w.q = w.v = q;
  const abut_status status = abut_step_worlds(scene, &w);
  if (status == ABUT_ERROR_SELF_TEST) {
    printf("refused: %s\n", abut_last_error());
  } else {
    CHECK_OK(status);
  }
  CHECK_OK(abut_destroy_scene(scene));
  return status == ABUT_ERROR_SELF_TEST;
}

static void check_all(trial *t, const char *root)
{
  CHECK(golden_each(root, visit, t) > 0);
  check_splits(t, root);
  check_cause(t);
  check_refusals(t, root);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  trial t = {.precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64};
  t.run.context = require_context(t.precision);
  t.run.steps_alone = argc > 4 && !strcmp(argv[4], "--steps");
  if (argc > 3 && strcmp(argv[3], "--or-refused")) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", argv[2], argv[3]);
    visit(path, &t);
  } else if (argc == 3 || !is_refused(&t, argv[2])) {
    check_all(&t, argv[2]);
  }
  return finish_context(t.run.context);
}
