/* Derivatives of steps and of rollouts against central differences of abut_step_worlds itself, in
 * float64: test_derivatives SCENES ASSETS quick | full
 *
 * Prints for each scene the largest difference of each array, relative to the largest entry of the
 * world's array, and which columns were left out: those at borders of zones. */
#include "derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT 1e-5
#define ROLL_LIMIT 1e-4
#define PAIRING_LIMIT 1e-10
#define ROLL_STEPS 20
#define FAINT 1e-4 /* of arrays whose largest entry is less, differences are mostly rounding */

static abut_context context;
static const char *scenes, *assets;
static bool full;

/* What is as it stands is told by the scene: joints of all kinds with springs, dampers, armature,
 * friction loss in both zones, limits in and out of touch, actuators of all kinds; bodies by all
 * words; bodies of files. */
static const struct trial {
  derive_scene scene;
  double scatter[2];
  bool quick, rolls; /* also in the short test; with rollouts there */
} trials[] = {
  {{"derive-tree", "", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"integrator\": \"rk4\"", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"limit_smoothing\": 0.02", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"diagonal\": \"exact\"", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5, \"limit_smoothing\": 0.02, "
    "\"integrator\": \"rk4\"", 3}, {0.3, 0.5}, false, false},
  {{"derive-words", "", 3}, {0.01, 0.2}, true, false},
  {{"derive-words", "\"integrator\": \"rk4\"", 3}, {0.01, 0.2}, false, false},
  {{"derive-words", "\"cone_smoothing\": 0.5, \"limit_smoothing\": 0.01", 3},
   {0.01, 0.2}, true, true},
  {{"derive-words", "\"cone_smoothing\": 0.5, \"impratio\": 4", 3}, {0.01, 0.2}, false, false},
  {{"derive-words", "\"diagonal\": \"exact\"", 3}, {0.01, 0.2}, true, false},
  {{"derive-words", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5, \"integrator\": \"rk4\"", 3},
   {0.01, 0.2}, false, false},
  {{"derive-words", "\"cone\": \"pyramidal\"", 3}, {0.01, 0.2}, true, false},
  {{"derive-words", "\"cone\": \"pyramidal\", \"diagonal\": \"exact\", \"impratio\": 2", 3},
   {0.01, 0.2}, false, false},
  {{"derive-words", "\"cone\": \"pyramidal\", \"cone_smoothing\": 0.5", 3},
   {0.01, 0.2}, false, false},
  {{"derive-words", "\"impratio\": 5", 3}, {0.01, 0.2}, false, false},
  {{"derive-words", "", 1}, {0.01, 0.2}, true, false},
  {{"derive-words", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5", 1},
   {0.01, 0.2}, false, false},
  {{"derive-assets", "", 3}, {0.01, 0.2}, false, false},
  {{"derive-assets", "\"cone_smoothing\": 0.5", 3}, {0.01, 0.2}, false, false},
  {{"derive-assets", "\"cone\": \"pyramidal\", \"diagonal\": \"exact\"", 3},
   {0.01, 0.2}, false, false},
  {{"derive-assets", "\"integrator\": \"rk4\"", 1}, {0.01, 0.2}, false, false},
};

static void *zeros(size_t count, size_t size)
{
  void *out = calloc(count + 1, size);
  REQUIRE(out != NULL);
  return out;
}

/* ---- one step: A, B, P ---- */

typedef struct tally {
  double worst[BY_ALL], largest[BY_ALL]; /* difference; entry */
  size_t compared, left_out[BY_ALL], world[BY_ALL];
} tally;

/* The array of a world by one of the inputs: `got` (2 nv, columns), `want` (columns, 2 nv). */
static void compare_world(const derive *d, size_t i, int by, const double *got, const double *want,
                          const bool *border, tally *t)
{
  const size_t n = 2 * d->info.nv, columns = d->columns[by];
  double scale = 0.0;
  for (size_t e = 0; e < n * columns; ++e) {
    scale = fmax(scale, fabs(got[e]));
  }
  t->largest[by] = fmax(t->largest[by], scale);
  for (size_t c = 0; c < columns; ++c) {
    t->left_out[by] += border[c];
    t->compared += !border[c];
    for (size_t k = 0; k < n && !border[c]; ++k) {
      const double off = fabs(got[k * columns + c] - want[c * n + k]);
      const double relative = off / fmax(scale, FAINT);
      if (!(relative <= t->worst[by])) {
        t->worst[by] = relative;
        t->world[by] = i;
      }
    }
  }
}

/* A (2 nv, 2 nv) is two arrays here. */
static void split(const derive *d, const double *A, double *by_q, double *by_v)
{
  const size_t nv = d->info.nv;
  for (size_t row = 0; row < 2 * nv; ++row) {
    memcpy(by_q + row * nv, A + row * 2 * nv, nv * sizeof *A);
    memcpy(by_v + row * nv, A + row * 2 * nv + nv, nv * sizeof *A);
  }
}

static void check_steps(const derive *d, const double *want, const bool *border, tally *t)
{
  const size_t n = 2 * d->info.nv;
  double *got[BY_ALL], *A = zeros(d->count * n * n, sizeof *A);
  for (int k = 0; k < BY_ALL; ++k) {
    got[k] = zeros(d->count * n * d->columns[k], sizeof(double));
  }
  abut_worlds w = derive_call(d);
  abut_worlds_transition of = abut_default_worlds_transition();
  of.A = A;
  of.B = got[BY_U];
  of.mass_scale = got[BY_MASS_SCALE];
  of.friction = d->info.pairs ? got[BY_FRICTION] : NULL;
  of.stiffness = d->info.pairs ? got[BY_STIFFNESS] : NULL;
  of.gravity = got[BY_GRAVITY];
  CHECK_OK(abut_transition_worlds(d->scene, &w, &of));
  for (size_t i = 0; i < d->count; ++i) {
    split(d, A + i * n * n, got[BY_Q] + i * n * n / 2, got[BY_V] + i * n * n / 2);
    for (int k = 0; k < BY_ALL; ++k) {
      const size_t at = i * d->all + d->first[k];
      compare_world(d, i, k, got[k] + i * n * d->columns[k], want + at * n, border + at, t);
    }
  }
  for (int k = 0; k < BY_ALL; ++k) {
    free(got[k]);
  }
  free(A);
}

/* ---- many steps: gradients and tangents ---- */

typedef struct directions {
  double *cotangent, *tangent[BY_ALL], *gradient[BY_ALL], *ahead;
} directions;

static void directions_open(const derive *d, directions *to, uint64_t *random)
{
  const size_t n = 2 * d->info.nv;
  to->cotangent = zeros(d->count * n, sizeof(double));
  to->ahead = zeros(d->count * n, sizeof(double));
  for (size_t i = 0; i < d->count * n; ++i) {
    to->cotangent[i] = random_normal(random);
  }
  for (int k = 0; k < BY_ALL; ++k) {
    to->tangent[k] = zeros(d->count * d->columns[k], sizeof(double));
    to->gradient[k] = zeros(d->count * d->columns[k], sizeof(double));
    for (size_t i = 0; i < d->count * d->columns[k]; ++i) {
      to->tangent[k][i] = random_normal(random);
    }
  }
}

static void directions_close(directions *to)
{
  for (int k = 0; k < BY_ALL; ++k) {
    free(to->tangent[k]);
    free(to->gradient[k]);
  }
  free(to->cotangent);
  free(to->ahead);
}

static void differentiate(const derive *d, directions *to)
{
  abut_worlds w = derive_call(d);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = to->cotangent;
  g.q = to->gradient[BY_Q];
  g.v = to->gradient[BY_V];
  g.u = d->info.nu ? to->gradient[BY_U] : NULL;
  g.mass_scale = to->gradient[BY_MASS_SCALE];
  g.friction = d->info.pairs ? to->gradient[BY_FRICTION] : NULL;
  g.stiffness = d->info.pairs ? to->gradient[BY_STIFFNESS] : NULL;
  g.gravity = to->gradient[BY_GRAVITY];
  CHECK_OK(abut_vjp_worlds(d->scene, &w, &g));
  abut_worlds_tangents along = abut_default_worlds_tangents();
  const size_t half = d->count * d->info.nv;
  along.q = to->tangent[BY_Q];
  along.v = to->tangent[BY_V];
  along.u = d->info.nu ? to->tangent[BY_U] : NULL;
  along.mass_scale = to->tangent[BY_MASS_SCALE];
  along.friction = d->info.pairs ? to->tangent[BY_FRICTION] : NULL;
  along.stiffness = d->info.pairs ? to->tangent[BY_STIFFNESS] : NULL;
  along.gravity = to->tangent[BY_GRAVITY];
  along.q_next = to->ahead;
  along.v_next = to->ahead + half;
  CHECK_OK(abut_jvp_worlds(d->scene, &w, &along));
}

static double ahead_of(const derive *d, const directions *to, size_t i, size_t k)
{
  const size_t nv = d->info.nv;
  return k < nv ? to->ahead[i * nv + k] : to->ahead[d->count * nv + i * nv + k - nv];
}

/* cotangent . J tangent both ways. */
static double pairing(const derive *d, const directions *to, size_t i)
{
  double forward = 0.0, back = 0.0, scale = 1e-300;
  for (size_t k = 0; k < 2 * d->info.nv; ++k) {
    const double term = to->cotangent[i * 2 * d->info.nv + k] * ahead_of(d, to, i, k);
    forward += term;
    scale += fabs(term);
  }
  for (int by = 0; by < BY_ALL; ++by) {
    for (size_t c = 0; c < d->columns[by]; ++c) {
      const size_t at = i * d->columns[by] + c;
      back += to->gradient[by][at] * to->tangent[by][at];
      scale += fabs(to->gradient[by][at] * to->tangent[by][at]);
    }
  }
  return fabs(forward - back) / scale;
}

/* Of a world: the gradient of each input against cotangent . differences, and the tangent against
 * the differences' sum where no column is left out. */
static void compare_roll(const derive *d, const directions *to, size_t i, const double *want,
                         const bool *border, tally *t, double *tangent)
{
  const size_t n = 2 * d->info.nv;
  double *sum = zeros(n, sizeof *sum), most = 0.0;
  bool whole = true;
  for (int by = 0; by < BY_ALL; ++by) {
    double off = 0.0, scale = 0.0;
    for (size_t c = 0; c < d->columns[by]; ++c) {
      const size_t column = i * d->all + d->first[by] + c, at = i * d->columns[by] + c;
      double dot = 0.0;
      for (size_t k = 0; k < n; ++k) {
        dot += to->cotangent[i * n + k] * want[column * n + k];
        sum[k] += to->tangent[by][at] * want[column * n + k];
      }
      scale = fmax(scale, fabs(to->gradient[by][at]));
      off = fmax(off, border[column] ? 0.0 : fabs(dot - to->gradient[by][at]));
      t->left_out[by] += border[column];
      t->compared += !border[column];
      whole = whole && !border[column];
    }
    t->largest[by] = fmax(t->largest[by], scale);
    t->worst[by] = fmax(t->worst[by], off / fmax(scale, FAINT));
  }
  for (size_t k = 0; k < n; ++k) {
    most = fmax(most, fabs(sum[k]));
  }
  for (size_t k = 0; k < n && whole; ++k) {
    *tangent = fmax(*tangent, fabs(ahead_of(d, to, i, k) - sum[k]) / most);
  }
  free(sum);
}

/* ---- all ---- */

static void report(const struct trial *of, const derive *d, const tally *t, double limit)
{
  size_t left_out = 0;
  printf("%s {%s}%s, %zu steps, %zu worlds:", of->scene.file, of->scene.options,
         of->scene.condim == 1 ? " condim 1" : "", d->steps, d->count);
  for (int k = 0; k < BY_ALL; ++k) {
    left_out += t->left_out[k];
    if (d->columns[k]) {
      printf(" %s %.1e (%zu)", derive_names[k], t->worst[k], t->left_out[k]);
    }
    check(t->worst[k] <= limit, "%s {%s} condim %d: by %s off by %.2e, world %zu", of->scene.file,
          of->scene.options, of->scene.condim, derive_names[k], t->worst[k], t->world[k]);
    const bool none = !d->columns[k] || (k == BY_FRICTION && of->scene.condim == 1);
    check(none == (t->largest[k] == 0.0), "%s {%s} condim %d: by %s at most %g", of->scene.file,
          of->scene.options, of->scene.condim, derive_names[k], t->largest[k]);
  }
  printf("; (left out) of %zu\n", left_out + t->compared);
  const double share = (double)left_out / (double)(left_out + t->compared);
  check(d->count > 0 && share <= 0.1, "%s {%s}: %.3g of the columns are left out", of->scene.file,
        of->scene.options, share);
}

static void check_rolls(const struct trial *of, const derive *d, uint64_t *random)
{
  directions to;
  tally t = {.compared = 0};
  double tangent = 0.0, off = 0.0;
  double *want = zeros(d->count * d->all * 2 * d->info.nv, sizeof *want);
  bool *border = zeros(d->count * d->all, sizeof *border);
  derive_differences(d, want, border);
  directions_open(d, &to, random);
  differentiate(d, &to);
  if (d->steps == 1) {
    check_steps(d, want, border, &t);
  }
  for (size_t i = 0; i < d->count; ++i) {
    tally gradients = {.compared = 0};
    compare_roll(d, &to, i, want, border, d->steps == 1 ? &gradients : &t, &tangent);
    off = fmax(off, pairing(d, &to, i));
  }
  report(of, d, &t, d->steps == 1 ? STEP_LIMIT : ROLL_LIMIT);
  printf("  tangents %.1e, both ways %.1e\n", tangent, off);
  check(tangent <= (d->steps == 1 ? STEP_LIMIT : ROLL_LIMIT), "%s {%s}: tangents are off by %.2e",
        of->scene.file, of->scene.options, tangent);
  check(off <= PAIRING_LIMIT, "%s {%s}: VJP and JVP differ by %.2e", of->scene.file,
        of->scene.options, off);
  directions_close(&to);
  free(want);
  free(border);
}

static void run_trial(const struct trial *of, uint64_t *random)
{
  abut_scene scene;
  derive d;
  REQUIRE_OK(derive_load(scenes, assets, &of->scene, context, &scene));
  derive_open(&d, scene, full ? 8 : 4, full ? 3 : 1, 20, of->scatter, random);
  check_rolls(of, &d, random);
  const size_t count = d.count, few = full ? 4 : 1;
  d.steps = ROLL_STEPS;
  d.count = count < few ? count : few;
  if (full || of->rolls) {
    check_rolls(of, &d, random);
  }
  derive_close(&d);
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  uint64_t random = 17;
  REQUIRE(argc > 3);
  scenes = argv[1];
  assets = argv[2];
  full = !strcmp(argv[3], "full");
  if (full && argc == 4 && !getenv("ABUT_TEST_ALL")) {
    printf("not run: all scenes take minutes; ABUT_TEST_ALL=1 lets them\n");
    return 77;
  }
  if (!test_context(ABUT_FLOAT64, &context)) {
    return 77;
  }
  for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
    if (argc > 4 ? strstr(trials[i].scene.file, argv[4]) != NULL : full || trials[i].quick) {
      run_trial(&trials[i], &random);
    }
  }
  CHECK_OK(abut_destroy_context(context));
  return check_finish();
}
