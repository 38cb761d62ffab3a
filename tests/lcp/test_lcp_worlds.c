/* Steps with hard contacts: test_lcp_worlds PRECISION ROOT [--or-refused], the folder of golden
 * answers. On the device of ABUT_TEST_DEVICE, which with --or-refused may as well fail its
 * self-test. */
#include "support/check.h"

#include <abut/files.h>
#include <abut/world.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static abut_context context;
static abut_precision precision;

static double either(double in_double, double in_float)
{
  return precision == ABUT_FLOAT64 ? in_double : in_float;
}

static void *room(size_t count, size_t size)
{
  void *at = calloc(count ? count : 1, size);
  REQUIRE(at != NULL);
  return at;
}

static void *reals_room(size_t count)
{
  return room(count, real_size(precision));
}

static double number(const void *array, size_t i)
{
  return real_at(array, precision, i);
}

/* ---- a case ---- */

/* A state with its contacts, and what is expected of it. A world for each of 2 nv cotangents. */
typedef struct hard_case {
  const char *name;
  int state;
  abut_scene scene;
  abut_scene_info info;
  abut_npz inputs, expected;
  abut_given_contacts contacts;
  abut_worlds worlds;
  size_t nv, count, points;
} hard_case;

/* NULL where there is none: states without contacts, steps without a bounce. */
static const abut_array *look_up(const abut_npz *from, const char *name)
{
  for (size_t i = 0; i < from->count; ++i) {
    if (!strcmp(from->arrays[i].name, name)) {
      return &from->arrays[i];
    }
  }
  return NULL;
}

static const double *array_of(const abut_npz *from, const char *name, size_t *count)
{
  const abut_array *a = look_up(from, name);
  if (count) {
    *count = a ? 1 : 0;
    for (size_t i = 0; a && i < a->dimensions; ++i) {
      *count *= a->shape[i];
    }
  }
  REQUIRE(!a || a->type == ABUT_ARRAY_FLOAT64);
  return a ? a->data : NULL;
}

/* The same in each world. */
static void *repeated(const hard_case *c, const char *name)
{
  size_t count;
  const double *from = array_of(&c->inputs, name, &count);
  void *to = reals_room(c->count * count);
  for (size_t i = 0; i < c->count * count; ++i) {
    real_put(to, precision, i, from[i % count]);
  }
  return to;
}

/* Of each contact; a case of one pair says nothing of pairs. */
static int32_t *integers_of(const hard_case *c, const char *name)
{
  const abut_array *a = look_up(&c->inputs, name);
  int32_t *to = room(c->points, sizeof *to);
  const bool absent = !c->points || (!a && c->info.pairs == 1);
  REQUIRE(absent || (a && a->type == ABUT_ARRAY_INT64));
  for (size_t i = 0; i < c->points && !absent; ++i) {
    to[i] = (int32_t)((const int64_t *)a->data)[i];
  }
  return to;
}

static bool case_open(const char *root, const char *name, int state, hard_case *c)
{
  char path[1024];
  *c = (hard_case){.name = name, .state = state};
  snprintf(path, sizeof path, "%s/%s/state%d.npz", root, name, state);
  if (access(path, R_OK)) {
    return false;
  }
  REQUIRE_OK(abut_read_npz(path, &c->inputs));
  snprintf(path, sizeof path, "%s/%s/expected%d.npz", root, name, state);
  REQUIRE_OK(abut_read_npz(path, &c->expected));
  snprintf(path, sizeof path, "%s/%s/scene.json", root, name);
  REQUIRE_OK(abut_load_scene(context, path, &c->scene));
  REQUIRE_OK(abut_get_scene_info(c->scene, &c->info));
  c->nv = c->info.nv;
  c->count = 2 * c->nv;
  size_t distances;
  array_of(&c->inputs, "d", &distances);
  c->points = distances;
  void *activity = reals_room(c->count * c->points);
  for (size_t i = 0; i < c->count * c->points; ++i) {
    real_put(activity, precision, i, 1.0);
  }
  c->contacts = (abut_given_contacts){.count = c->points,
                                      .owner = integers_of(c, "owner"),
                                      .opposing = integers_of(c, "other"),
                                      .pair = integers_of(c, "pair"),
                                      .p = c->points ? repeated(c, "p") : NULL,
                                      .d = c->points ? repeated(c, "d") : NULL,
                                      .n = c->points ? repeated(c, "n") : NULL,
                                      .activity = activity};
  c->worlds = abut_default_worlds();
  c->worlds.count = c->count;
  c->worlds.q = repeated(c, "q");
  c->worlds.v = repeated(c, "v");
  c->worlds.u = repeated(c, "u");
  c->worlds.contacts = &c->contacts;
  return true;
}

/* The arrays that the test itself has made. */
static void let_go(const void *made)
{
  union {
    const void *in;
    void *out;
  } of = {made};
  free(of.out);
}

static void case_close(hard_case *c)
{
  const void *const all[] = {c->contacts.owner,    c->contacts.opposing, c->contacts.pair,
                             c->contacts.p,        c->contacts.d,        c->contacts.n,
                             c->contacts.activity, c->worlds.q,          c->worlds.v,
                             c->worlds.u};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    let_go(all[i]);
  }
  CHECK_OK(abut_destroy_scene(c->scene));
  abut_free_npz(&c->inputs);
  abut_free_npz(&c->expected);
}

/* Relative to the array's largest entry. */
static void compare(const hard_case *c, const char *name, const double *got, double tolerance)
{
  size_t count;
  double most = 0.0, worst = 0.0;
  const double *expected = array_of(&c->expected, name, &count);
  REQUIRE(expected || !count);
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(expected[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    worst = fmax(worst, fabs(got[i] - expected[i]) / (most < 1e-12 ? 1.0 : most));
  }
  check(worst <= tolerance, "%s, state %d: %s is off by %g, more than %g", c->name, c->state, name,
        worst, tolerance);
}

static void compare_reals(const hard_case *c, const char *name, const void *got, double tolerance)
{
  size_t count;
  array_of(&c->expected, name, &count);
  double *x = room(count, sizeof *x);
  for (size_t i = 0; i < count; ++i) {
    x[i] = number(got, i);
  }
  compare(c, name, x, tolerance);
  free(x);
}

/* ---- a step ---- */

static void test_step(hard_case *c)
{
  abut_worlds w = c->worlds;
  const size_t nq = c->info.nq, nv = c->nv;
  uint32_t *status = room(c->count, sizeof *status);
  w.q_next = reals_room(c->count * nq);
  w.v_next = reals_room(c->count * nv);
  w.smooth = reals_room(c->count * nv);
  w.constraint = reals_room(c->count * nv);
  w.status = status;
  CHECK_OK(abut_step_worlds(c->scene, &w));
  for (size_t i = 0; i < c->count; ++i) {
    CHECK_EQUAL(status[i], 0);
  }
  compare_reals(c, "v1", w.v_next, either(1e-9, 1e-3));
  compare_reals(c, "q1", w.q_next, either(1e-10, 1e-5));
  free(status);
  free(w.q_next);
  free(w.v_next);
  free(w.smooth);
  free(w.constraint);
}

/* ---- derivatives ---- */

/* An output's gradient by q: with what it asks of the contacts, which move with q. */
static double by_position(const hard_case *c, const abut_worlds_gradients *g, size_t row, size_t k)
{
  const size_t nv = c->nv, points = c->points;
  double sum = number(g->q, row * nv + k);
  const double *dp = array_of(&c->inputs, "dp", NULL), *dd = array_of(&c->inputs, "dd", NULL);
  const double *dn = array_of(&c->inputs, "dn", NULL);
  for (size_t i = 0; i < points; ++i) {
    sum += number(g->d, row * points + i) * dd[i * nv + k];
    for (size_t j = 3 * i; j < 3 * i + 3; ++j) {
      sum += number(g->p, row * 3 * points + j) * dp[j * nv + k];
      sum += number(g->n, row * 3 * points + j) * dn[j * nv + k];
    }
  }
  return sum;
}

/* Cotangents are rows of a unit matrix: gradients are rows of A and B. */
static void test_derivatives(hard_case *c)
{
  const size_t nv = c->nv, nu = c->info.nu, links = c->info.links, n = c->count, points = c->points;
  const size_t pairs = c->info.pairs;
  const bool elastic = look_up(&c->expected, "elastic_A") != NULL;
  abut_worlds w = c->worlds;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  void *unit = reals_room(n * 2 * nv);
  double *A = room(n * 2 * nv, sizeof *A), *B = room(n * nu, sizeof *B);
  double *friction = room(nv * pairs, sizeof *friction), *mass = room(nv * links, sizeof *mass);
  for (size_t i = 0; i < n; ++i) {
    real_put(unit, precision, i * 2 * nv + i, 1.0);
  }
  g.state = unit;
  g.q = reals_room(n * nv);
  g.v = reals_room(n * nv);
  g.u = reals_room(n * nu);
  g.friction = reals_room(n * pairs);
  g.mass_scale = reals_room(n * links);
  g.p = reals_room(n * 3 * points);
  g.d = reals_room(n * points);
  g.n = reals_room(n * 3 * points);
  CHECK_OK(abut_vjp_worlds(c->scene, &w, &g));
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < nv; ++k) {
      A[i * 2 * nv + k] = by_position(c, &g, i, k);
      A[i * 2 * nv + nv + k] = number(g.v, i * nv + k);
    }
    for (size_t k = 0; k < nu; ++k) {
      B[i * nu + k] = number(g.u, i * nu + k);
    }
  }
  for (size_t i = 0; i < nv; ++i) {
    for (size_t k = 0; k < pairs; ++k) {
      friction[i * pairs + k] = number(g.friction, (nv + i) * pairs + k);
    }
    for (size_t k = 0; k < links; ++k) {
      mass[i * links + k] = number(g.mass_scale, (nv + i) * links + k);
    }
  }
  const double tolerance = either(1e-7, 1e-2);
  compare(c, elastic ? "elastic_A" : "A", A, tolerance);
  compare(c, elastic ? "elastic_B" : "B", B, tolerance);
  compare(c, "dv_dmu", friction, tolerance);
  if (look_up(&c->expected, "dv_dscale")) { /* others tell it of a kilogram */
    compare(c, "dv_dscale", mass, tolerance);
  }

  /* With the contacts held, the transition matrices say the same. */
  abut_worlds one = c->worlds;
  abut_worlds_transition t = abut_default_worlds_transition();
  one.count = 1;
  t.A = reals_room(n * 2 * nv);
  t.B = reals_room(n * nu);
  t.mass_scale = reals_room(n * links);
  t.friction = reals_room(n * pairs);
  CHECK_OK(abut_transition_worlds(c->scene, &one, &t));
  double worst = 0.0, most = 1e-12;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < nv; ++k) {
      const double by_q = number(g.q, i * nv + k), by_v = number(g.v, i * nv + k);
      most = fmax(most, fmax(fabs(by_q), fabs(by_v)));
      worst = fmax(worst, fmax(fabs(number(t.A, i * 2 * nv + k) - by_q),
                               fabs(number(t.A, i * 2 * nv + nv + k) - by_v)));
    }
    for (size_t k = 0; k < nu; ++k) {
      worst = fmax(worst, fabs(number(t.B, i * nu + k) - B[i * nu + k]));
    }
    for (size_t k = i * pairs; k < (i + 1) * pairs; ++k) {
      worst = fmax(worst, fabs(number(t.friction, k) - number(g.friction, k)));
    }
    for (size_t k = 0; k < links; ++k) {
      worst = fmax(worst,
                   fabs(number(t.mass_scale, i * links + k) - number(g.mass_scale, i * links + k)));
    }
  }
  check(worst <= either(1e-11, 1e-4) * most, "%s, state %d: matrices are off by %g of %g", c->name,
        c->state, worst, most);
  void *const all[] = {unit, A,   B,          friction,     mass,      g.q,
                       g.v,  g.u, g.friction, g.mass_scale, g.p,       g.d,
                       g.n,  t.A, t.B,        t.mass_scale, t.friction};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

/* What descent would choose: the larger gradient, and whether it was taken. */
static void test_escape(hard_case *c)
{
  const size_t nv = c->nv, nu = c->info.nu;
  size_t count;
  const double *loss_q = array_of(&c->expected, "loss_q", &count),
               *loss_v = array_of(&c->expected, "loss_v", NULL);
  if (!count) {
    return;
  }
  abut_worlds one = c->worlds;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  void *state = reals_room(c->count * 2 * nv);
  double *q = room(nv, sizeof *q);
  for (size_t i = 0; i < c->count * 2 * nv; ++i) {
    const size_t k = i % (2 * nv);
    real_put(state, precision, i, k < nv ? loss_q[k] : loss_v[k - nv]);
  }
  g.state = state;
  g.q = reals_room(c->count * nv);
  g.v = reals_room(c->count * nv);
  g.u = reals_room(c->count * nu);
  g.p = reals_room(c->count * 3 * c->points);
  g.d = reals_room(c->count * c->points);
  g.n = reals_room(c->count * 3 * c->points);
  g.escape = true;
  g.escaped = room(c->count, sizeof *g.escaped);
  CHECK_OK(abut_vjp_worlds(c->scene, &one, &g));
  for (size_t k = 0; k < nv; ++k) {
    q[k] = by_position(c, &g, 0, k);
  }
  compare(c, "escape_q", q, either(1e-7, 1e-2));
  compare_reals(c, "escape_v", g.v, either(1e-7, 1e-2));
  compare_reals(c, "escape_u", g.u, either(1e-7, 1e-2));
  const abut_array *taken = look_up(&c->expected, "escape_taken");
  REQUIRE(taken && taken->type == ABUT_ARRAY_UINT8);
  for (size_t i = 0; i < c->count; ++i) {
    CHECK_EQUAL(g.escaped[i], *(const uint8_t *)taken->data);
  }
  void *const all[] = {state, q, g.q, g.v, g.u, g.p, g.d, g.n, g.escaped};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

static bool is_refused(const char *root)
{
  hard_case c;
  REQUIRE(case_open(root, "lcp-ball", 0, &c));
  const abut_status status = abut_step_worlds(c.scene, &c.worlds);
  case_close(&c);
  return status == ABUT_ERROR_SELF_TEST;
}

int main(int count, char **words)
{
  static const char *const names[] = {"lcp-box",
                                      "lcp-ball",
                                      "lcp-cart",
                                      "lcp-two-balls",
                                      "lcp-jumpworm",
                                      "lcp-escape-circle",
                                      "lcp-escape-platform",
                                      "lcp-dome",
                                      "lcp-ball-on-ball",
                                      "lcp-losses"};
  if (count < 3) {
    return 2;
  }
  precision = strcmp(words[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  if (count > 3 && is_refused(words[2])) {
    printf("the device is refused\n");
    return finish_context(context);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    hard_case c;
    int state = 0;
    for (; case_open(words[2], names[i], state, &c); ++state) {
      test_step(&c);
      test_derivatives(&c);
      test_escape(&c);
      case_close(&c);
    }
    CHECK(state > 0);
  }
  return finish_context(context);
}
