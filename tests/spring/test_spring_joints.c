/* Worlds of springs with limits, springs, actuators and friction losses in their joints, and
 * several bodies a link, against golden answers: test_spring_joints PRECISION ROOT, the folder of
 * these. On the device of ABUT_TEST_DEVICE. */
#include "spring/golden.h"
#include <abut/world.h>
#include <unistd.h>

enum { NV = 3, NU = 3, LINKS = 4, PAIRS = 3, LAW = 6, STEPS = 20, INPUTS = 6 };

/* What is given to a world, and by what its gradients are. */
static const char *const names[INPUTS] = {"q", "v", "u", "springs", "mass_scale", "gravity"};
static const size_t widths[INPUTS] = {NV, NV, NU, LAW *PAIRS, LINKS, 3};
enum { OF_Q, OF_V, OF_U, OF_SPRINGS, OF_MASS, OF_GRAVITY };

typedef struct trial {
  const char *integrator;
  abut_npz all;
  abut_scene scene;
  size_t count;
  void *in[INPUTS];
} trial;

static const double *answer_of(const trial *t, const char *what)
{
  char name[64];
  REQUIRE(snprintf(name, sizeof name, "%s_%s", t->integrator, what) < (int)sizeof name);
  return reals_of(&t->all, name);
}

/* The scene as it stands, with the integrator. */
static void open_scene(trial *t, const char *name)
{
  char path[1024], own[1024];
  snprintf(path, sizeof path, "%s/%s/scene.json", root, name);
  snprintf(own, sizeof own, "joints-%ld.scene.json", (long)getpid());
  FILE *from = fopen(path, "rb"), *to = fopen(own, "wb");
  char line[512];
  REQUIRE(from && to);
  while (fgets(line, sizeof line, from)) {
    char *file = strstr(line, "\"file\": \"");
    if (strstr(line, "\"integrator\"")) {
      REQUIRE(fprintf(to, "\"integrator\": \"%s\",\n", t->integrator) > 0);
    } else if (file) {
      REQUIRE(fprintf(to, "\"file\": \"%s/%s/%s", root, name, file + 9) > 0);
    } else {
      REQUIRE(fputs(line, to) >= 0);
    }
  }
  REQUIRE(fclose(from) == 0 && fclose(to) == 0);
  REQUIRE_OK(abut_load_scene(context, own, &t->scene));
  remove(own);
}

static abut_worlds worlds_of(const trial *t)
{
  abut_worlds w = abut_default_worlds();
  w.count = t->count;
  w.q = t->in[OF_Q];
  w.v = t->in[OF_V];
  w.u = t->in[OF_U];
  w.springs = t->in[OF_SPRINGS];
  w.mass_scale = t->in[OF_MASS];
  w.gravity = t->in[OF_GRAVITY];
  return w;
}

/* One that is no number is beyond all bounds. */
static double worse(double most, double difference)
{
  const double d = fabs(difference);
  return d <= most ? most : isfinite(d) ? d : 1e300;
}

/* States are (2 nv): q, then v. */
static double state_off(const trial *t, const void *q, const void *v, const double *wanted,
                        bool of_v)
{
  double worst = 0.0;
  for (size_t i = 0; i < t->count * NV; ++i) {
    const double got = number(of_v ? v : q, i), want = wanted[i / NV * 2 * NV + of_v * NV + i % NV];
    worst = worse(worst, got - want);
  }
  return worst;
}

static void test_step(const trial *t)
{
  void *q = room(NV * t->count), *v = room(NV * t->count);
  const double *step = answer_of(t, "step");
  abut_worlds w = worlds_of(t);
  w.q_next = q;
  w.v_next = v;
  CHECK_OK(abut_step_worlds(t->scene, &w));
  expect("step: q", state_off(t, q, v, step, false), 1e-12, 1e-6);
  expect("step: v", state_off(t, q, v, step, true), 1e-12, 2e-5);
  free(q);
  free(v);
}

static void test_matrices(const trial *t)
{
  void *a = room(4 * NV * NV * t->count), *b = room(2 * NV * NU * t->count);
  const double *A = answer_of(t, "A"), *B = answer_of(t, "B");
  abut_worlds w = worlds_of(t);
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = a;
  m.B = b;
  CHECK_OK(abut_transition_worlds(t->scene, &w, &m));
  const size_t as = 4 * NV * NV * t->count, bs = 2 * NV * NU * t->count;
  expect("  A", off(a, A, as) / largest(A, as), 1e-9, 2e-3);
  expect("  B", off(b, B, bs) / largest(B, bs), 1e-9, 2e-3);
  free(a);
  free(b);
}

static void test_roll(const trial *t)
{
  void *q = room(NV * t->count), *v = room(NV * t->count);
  const double *roll = answer_of(t, "roll");
  abut_worlds w = worlds_of(t);
  w.steps = STEPS;
  w.q_next = q;
  w.v_next = v;
  CHECK_OK(abut_step_worlds(t->scene, &w));
  expect("rollout: q", state_off(t, q, v, roll, false), 1e-12, 1e-6);
  expect("rollout: v", state_off(t, q, v, roll, true), 1e-11, 2e-4);
  free(q);
  free(v);
}

static void test_gradients(const trial *t)
{
  void *bars[INPUTS], *bar = to_reals(reals_of(&t->all, "bar"), 2 * NV * t->count, precision);
  abut_worlds w = worlds_of(t);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  for (int k = 0; k < INPUTS; ++k) {
    bars[k] = room(widths[k] * t->count);
  }
  w.steps = STEPS;
  g.state = bar;
  g.q = bars[OF_Q];
  g.v = bars[OF_V];
  g.u = bars[OF_U];
  g.springs = bars[OF_SPRINGS];
  g.mass_scale = bars[OF_MASS];
  g.gravity = bars[OF_GRAVITY];
  CHECK_OK(abut_vjp_worlds(t->scene, &w, &g));
  for (int k = 0; k < INPUTS; ++k) {
    char name[64];
    snprintf(name, sizeof name, "%s_bar", names[k]);
    const double *wanted = answer_of(t, name);
    const size_t each = k == OF_SPRINGS ? LAW : 1, all = widths[k] * t->count;
    for (size_t part = 0; part < each; ++part) { /* numbers of other units */
      double worst = 0.0, most = 0.0;
      for (size_t i = part; i < all; i += each) {
        worst = worse(worst, number(bars[k], i) - wanted[i]);
        most = fmax(most, fabs(wanted[i]));
      }
      snprintf(name, sizeof name, "  by %s %zu", names[k], part);
      expect(name, worst / most, 1e-7, 2e-2);
    }
    free(bars[k]);
  }
  free(bar);
}

static void test_case(const char *name, const char *integrator)
{
  trial t = {.integrator = integrator};
  read_npz(name, "expected", &t.all);
  const abut_array *q = find_array(&t.all, "q");
  REQUIRE(q != NULL);
  t.count = q->shape[0];
  for (int k = 0; k < INPUTS; ++k) {
    t.in[k] = to_reals(reals_of(&t.all, names[k]), widths[k] * t.count, precision);
  }
  printf("%s, %s\n", name, integrator);
  open_scene(&t, name);
  test_step(&t);
  test_roll(&t);
  test_matrices(&t);
  test_gradients(&t);
  CHECK_OK(abut_destroy_scene(t.scene));
  for (int k = 0; k < INPUTS; ++k) {
    free(t.in[k]);
  }
  abut_free_npz(&t.all);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  test_case("spring-joints", "euler");
  test_case("spring-joints", "rk4");
  test_case("spring-joints-smooth", "euler");
  test_case("spring-joints", "implicit");
  test_case("spring-joints-smooth", "implicit");
  return finish_context(context);
}
