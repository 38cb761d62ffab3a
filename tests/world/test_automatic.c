/* Automatic pairs are those that a list of the same pairs has, to the bit: steps, and derivatives,
 * whose columns of friction and of stiffness bodies share.
 *   test_automatic PRECISION [LAW]: with ABUT_TEST_USUAL=1 fewer balls sweep */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = 10, ROOM = 1 << 18, BODIES_MOST = 32 };

static abut_precision precision;
static const char *law = "cone";
static size_t balls = 3; /* that sweep */

static double by(double wide, double narrow)
{
  return precision == ABUT_FLOAT64 ? wide : narrow;
}

/* What a body states of itself for automatic pairs. */
typedef struct own {
  double friction, margin, solref[2], solimp[2];
  int condim;
} own;

/* A scene's links as text, without the bracket at their end, and what each body states. */
typedef struct links {
  char *text;
  size_t at, bodies;
  own of[BODIES_MOST];
} links;

static links links_begin(const char *settings)
{
  links l = {.text = malloc(ROOM)};
  REQUIRE(l.text);
  l.at = (size_t)snprintf(l.text, ROOM,
                          "{\"contact_model\": \"%s\", \"timestep\": 0.004, %s\"links\": [", law,
                          settings);
  return l;
}

/* Adds a link of one body. `joint` and `shape` are JSON; the body states its numbers where
 * `own_numbers` is set. */
static void add_link(links *l, int parent, const char *joint, const double place[3],
                     const char *shape, const own *of)
{
  const own usual = {strcmp(law, "spring") ? 0.8 : 0.5,
                     0.0,
                     {0.02, 1.0},
                     {0.9, 0.95},
                     3}; /* springs have a mu of their own */
  l->of[l->bodies] = of ? *of : usual;
  l->at +=
    (size_t)snprintf(l->text + l->at, ROOM - l->at,
                     "%s{\"parent\": %d, \"position\": [%.17g, %.17g, %.17g], %s\"bodies\": [{%s",
                     l->bodies ? ",\n" : "", parent, place[0], place[1], place[2], joint, shape);
  if (of) {
    l->at += (size_t)
      snprintf(l->text + l->at, ROOM - l->at,
               ", \"friction\": %.17g, \"margin\": %.17g, \"solref\": [%.17g, %.17g], \"solimp\": "
               "[%.17g, %.17g, 0.001, 0.5, 2], \"condim\": %d",
               of->friction, of->margin, of->solref[0], of->solref[1], of->solimp[0], of->solimp[1],
               of->condim);
  }
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "}]}");
  ++l->bodies;
}

#define FREE "\"density\": 500, \"joint\": {\"type\": \"free\"}, "
#define HINGE(axis) \
  "\"density\": 900, \"joint\": {\"type\": \"hinge\", \"axis\": " axis ", \"damping\": 0.02}, "

/* ---- scenes ---- */

static links boxes_links(const char *settings)
{
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, -0.05}, "\"box\": [1, 1, 0.05]", NULL);
  for (int i = 0; i < BOXES; ++i) {
    const double place[] = {0.09 * (i % 3) + 0.01 * (i / 3), 0.02 * (i % 2), 0.05 + 0.11 * (i / 3)};
    add_link(&l, -1, FREE, place, "\"box\": [0.05, 0.05, 0.05]", NULL);
  }
  return l;
}

/* Bodies of equal shapes that are not beside each other, with numbers of their own. */
static links mixed_links(const char *settings)
{
  static const char *const shapes[] = {"\"sphere\": 0.05",
                                       "\"box\": [0.06, 0.05, 0.04]",
                                       "\"capsule\": [0.03, 0.04]",
                                       "\"box\": [0.06, 0.05, 0.04]",
                                       "\"sphere\": 0.05",
                                       "\"ellipsoid\": [0.05, 0.04, 0.06]",
                                       "\"cylinder\": [0.05, 0.04]"};
  static const own of[] = {{0.3, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3},
                           {0.9, 0.001, {0.03, 1.2}, {0.8, 0.9}, 3},
                           {0.5, 0.0, {-2000.0, -60.0}, {0.9, 0.95}, 1},
                           {0.9, 0.0, {0.02, 1.0}, {0.9, 0.95}, 1},
                           {0.2, 0.0, {0.02, 1.0}, {0.7, 0.95}, 3},
                           {0.4, 0.002, {0.01, 1.0}, {0.9, 0.95}, 3},
                           {0.6, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3}};
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, 0.0}, "\"plane\": [2, 2]", NULL);
  for (int i = 0; i < 7; ++i) {
    const double place[] = {0.08 * (i % 3) - 0.08, 0.03 * (i % 2), 0.06 + 0.11 * (i / 3)};
    add_link(&l, -1, FREE, place, shapes[i], strcmp(law, "cone") ? NULL : &of[i]);
  }
  return l;
}

/* A figure of capsules on hinges and balls, which falls onto a plane and folds. */
static links figure_links(const char *settings)
{
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, 0.0}, "\"plane\": [2, 2]", NULL);
  add_link(&l, -1, FREE, (const double[]){0.0, 0.0, 0.42}, "\"capsule\": [0.07, 0.1]", NULL);
  for (int side = 0; side < 2; ++side) {
    const double y = side ? -0.09 : 0.09;
    const int thigh = (int)l.bodies;
    add_link(&l, 1,
             "\"density\": 900, \"joint\": {\"type\": \"ball\", \"position\": [0, 0, 0.1], "
             "\"damping\": 0.05}, ",
             (const double[]){0.0, y, -0.22}, "\"capsule\": [0.045, 0.07]", NULL);
    add_link(&l, thigh, HINGE("[0, 1, 0]"), (const double[]){0.02, 0.0, -0.18},
             "\"capsule\": [0.04, 0.06]", NULL);
    const int arm = (int)l.bodies;
    add_link(&l, 1, HINGE("[1, 0, 0]"), (const double[]){0.0, 1.8 * y, 0.05},
             "\"capsule\": [0.03, 0.05]", NULL);
    add_link(&l, arm, HINGE("[0, 1, 0]"), (const double[]){0.0, 0.0, -0.14}, "\"sphere\": 0.035",
             NULL);
  }
  return l;
}

/* Balls that are shot at a thin plate, which stops them within a step. */
static links swept_links(const char *settings)
{
  static const own of[] = {{0.3, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3},
                           {0.6, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3}};
  char more[256];
  snprintf(more, sizeof more, "\"sweep\": true, %s", settings);
  links l = links_begin(more);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, 0.0}, "\"box\": [0.3, 0.3, 0.002]", &of[0]);
  for (size_t i = 0; i < balls; ++i) {
    add_link(&l, -1, FREE, (const double[]){0.12 * (double)i - 0.1, 0.0, 0.06}, "\"sphere\": 0.02",
             &of[i % 2]);
  }
  return l;
}

/* ---- the same pairs, listed ---- */

static void put_softness_of(links *l, const own *a, const own *b)
{
  const bool direct = a->solref[0] <= 0.0 || b->solref[0] <= 0.0;
  double ref[2], imp[2];
  for (int k = 0; k < 2; ++k) {
    ref[k] = direct ? fmin(a->solref[k], b->solref[k]) : 0.5 * a->solref[k] + 0.5 * b->solref[k];
    imp[k] = 0.5 * a->solimp[k] + 0.5 * b->solimp[k];
  }
  l->at +=
    (size_t)snprintf(l->text + l->at, ROOM - l->at,
                     ", \"solref\": [%.17g, %.17g], \"solimp\": [%.17g, %.17g, 0.001, 0.5, 2]",
                     ref[0], ref[1], imp[0], imp[1]);
}

static void list_pairs(links *l, abut_scene scene, size_t candidates)
{
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "], \"pairs\": [");
  for (size_t i = 0; i < candidates; ++i) {
    size_t of[2], link[2], body[2];
    REQUIRE_OK(abut_get_candidate(scene, i, &of[0], &of[1]));
    for (int side = 0; side < 2; ++side) {
      REQUIRE_OK(abut_get_scene_body(scene, of[side], &link[side], &body[side]));
    }
    const own *a = &l->of[of[0]], *b = &l->of[of[1]];
    l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at,
                              "%s{\"a\": [%zu, %zu], \"b\": [%zu, %zu], \"friction\": %.17g, "
                              "\"margin\": %.17g, \"condim\": %d",
                              i ? ",\n" : "", link[0], body[0], link[1], body[1],
                              fmax(a->friction, b->friction), fmax(a->margin, b->margin),
                              a->condim > b->condim ? a->condim : b->condim);
    put_softness_of(l, a, b);
    l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "}");
  }
  snprintf(l->text + l->at, ROOM - l->at, "]}");
}

/* Opens a scene with automatic pairs, and the one that lists them. */
static void open_both(abut_context context, links (*make)(const char *), const char *automatic,
                      size_t worlds, play out[2])
{
  links l = make("");
  const size_t end = l.at;
  snprintf(l.text + l.at, ROOM - l.at, "], \"automatic\": %s}", automatic);
  play_open_text(&out[0], context, precision, l.text, worlds);
  l.at = end;
  list_pairs(&l, out[0].scene, out[0].info.candidates);
  play_open_text(&out[1], context, precision, l.text, worlds);
  free(l.text);
  CHECK(out[0].info.automatic && !out[1].info.automatic);
  CHECK_EQUAL(out[0].info.pairs, 0);
  CHECK_EQUAL(out[1].info.pairs, out[0].info.candidates);
  CHECK_EQUAL(out[1].info.candidates, out[0].info.candidates);
  CHECK_EQUAL(out[1].info.kinds, out[0].info.kinds);
}

static void set_off(play *p)
{
  for (size_t world = 0; world < p->worlds; ++world) {
    for (size_t k = 0; k < p->info.nv; ++k) {
      play_set_v(p, world, k, 0.3 * sin(1.3 * (double)k + 2.1 * (double)world));
    }
  }
}

static void compare(const play p[2], size_t step)
{
  const size_t size = real_size(precision);
  check(!memcmp(p[0].q, p[1].q, p[0].worlds * p[0].info.nq * size) &&
          !memcmp(p[0].v, p[1].v, p[0].worlds * p[0].info.nv * size),
        "step %zu: positions or velocities differ", step);
  for (size_t i = 0; i < p[0].worlds; ++i) {
    CHECK_EQUAL(p[0].status[i], p[1].status[i]);
    CHECK(!(p[0].status[i] & ABUT_WORLD_STOPS)); /* else nothing would move, and all be alike */
  }
}

static void test_steps(abut_context context, links (*make)(const char *), size_t kinds,
                       size_t steps)
{
  play p[2];
  open_both(context, make, "true", 2, p);
  CHECK_EQUAL(p[0].info.kinds, kinds);
  set_off(&p[0]);
  set_off(&p[1]);
  for (size_t i = 0; i < steps; i += 20) {
    play_step(&p[0], 20);
    play_step(&p[1], 20);
    compare(p, i);
  }
  play_close(&p[0]);
  play_close(&p[1]);
}

/* Pairs that no step leaves out change nothing. */
static void test_kept(abut_context context)
{
  play p[2];
  for (int k = 0; k < 2; ++k) {
    links l = mixed_links(k ? "\"broad_phase\": false, " : "");
    snprintf(l.text + l.at, ROOM - l.at, "], \"automatic\": true}");
    play_open_text(&p[k], context, precision, l.text, 3);
    free(l.text);
    set_off(&p[k]);
    play_step(&p[k], 40);
  }
  compare(p, 40);
  play_close(&p[0]);
  play_close(&p[1]);
}

/* ---- derivatives ---- */

enum { SLOPE_STEPS = 4, COLUMNS_MOST = 128 };

typedef struct slopes {
  void *state, *friction, *stiffness; /* state: (2 nv) by q, then by v */
} slopes;

/* How much each velocity at the end counts. */
static double weight_of(size_t i)
{
  return 0.5 + sin(1.9 * (double)i);
}

static slopes slopes_of(const play *p, const void *friction, const void *stiffness)
{
  const size_t nv = p->info.nv, size = real_size(precision);
  slopes out = {calloc(2 * nv, size), calloc(p->info.parameters + 1, size),
                calloc(p->info.parameters + 1, size)};
  void *bar = calloc(2 * nv, size);
  REQUIRE(out.state && out.friction && out.stiffness && bar);
  for (size_t i = 0; i < nv; ++i) {
    real_put(bar, precision, nv + i, weight_of(i));
  }
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p->q;
  w.v = p->v;
  w.friction = friction;
  w.stiffness = stiffness;
  w.steps = SLOPE_STEPS;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = bar;
  g.q = out.state;
  g.v = (char *)out.state + nv * size;
  g.friction = out.friction;
  g.stiffness = out.stiffness;
  CHECK_OK(abut_vjp_worlds(p->scene, &w, &g));
  free(bar);
  return out;
}

static void slopes_free(slopes *s)
{
  free(s->state);
  free(s->friction);
  free(s->stiffness);
}

/* Which column of an automatic scene a body has. */
static size_t column_of(const play *p, size_t body)
{
  static bool in[BODIES_MOST];
  size_t column = p->info.pairs;
  memset(in, 0, sizeof in);
  for (size_t i = p->info.pairs; i < p->info.candidates; ++i) {
    size_t a, b;
    REQUIRE_OK(abut_get_candidate(p->scene, i, &a, &b));
    in[a] = in[b] = true;
  }
  REQUIRE(in[body]);
  for (size_t i = 0; i < body; ++i) {
    column += in[i];
  }
  return column;
}

/* Hard contacts ask for their friction only where they slide, which they do after 36 steps and not
 * after 40. */
static void begin_near(play *p)
{
  set_off(p);
  play_step(p, !strcmp(law, "spring") ? 10 : !strcmp(law, "lcp") ? 36 : 40);
}

static void begin_fast(play *p)
{
  for (size_t i = 0; i < balls; ++i) {
    play_set_v(p, 0, 6 * i, 60.0 + (double)i);
    play_set_v(p, 0, 6 * i + 2, -25.0);
  }
  abut_worlds w = abut_default_worlds();
  uint32_t status;
  w.count = 1;
  w.q = p->q;
  w.v = p->v;
  w.steps = SLOPE_STEPS;
  w.status = &status;
  REQUIRE_OK(abut_step_worlds(p->scene, &w));
  CHECK(status & ABUT_WORLD_SWEPT);
}

/* Derivatives along tangents of bodies' numbers, and along those that pairs have by them. */
static void compare_tangents(const play p[2], const double *friction)
{
  double by_body[2][COLUMNS_MOST], by_pair[2][COLUMNS_MOST];
  void *v[2], *q[2];
  REQUIRE(p[0].info.candidates <= COLUMNS_MOST);
  for (size_t i = 0; i < p[0].info.parameters; ++i) {
    by_body[0][i] = weight_of(i + 3);
    by_body[1][i] = weight_of(i + 50);
  }
  for (size_t i = 0; i < p[0].info.candidates; ++i) {
    size_t of[2];
    REQUIRE_OK(abut_get_candidate(p[0].scene, i, &of[0], &of[1]));
    const size_t a = column_of(&p[0], of[0]), b = column_of(&p[0], of[1]);
    const double share = friction[a] > friction[b] ? 1.0 : friction[a] < friction[b] ? 0.0 : 0.5;
    by_pair[0][i] = share * by_body[0][a] + (1.0 - share) * by_body[0][b];
    by_pair[1][i] = 0.5 * by_body[1][a] + 0.5 * by_body[1][b];
  }
  for (int k = 0; k < 2; ++k) {
    const size_t columns = p[k].info.parameters, size = real_size(precision);
    void *f = to_reals((k ? by_pair : by_body)[0], columns, precision),
         *s = to_reals((k ? by_pair : by_body)[1], columns, precision);
    q[k] = calloc(p[k].info.nv, size);
    v[k] = calloc(p[k].info.nv, size);
    abut_worlds w = abut_default_worlds();
    w.count = 1;
    w.q = p[k].q;
    w.v = p[k].v;
    w.steps = SLOPE_STEPS;
    abut_worlds_tangents t = abut_default_worlds_tangents();
    t.friction = f;
    t.stiffness = s;
    t.q_next = q[k];
    t.v_next = v[k];
    CHECK_OK(abut_jvp_worlds(p[k].scene, &w, &t));
    free(f);
    free(s);
  }
  double most = 0.0;
  for (size_t i = 0; i < p[0].info.nv; ++i) {
    const double a = real_at(v[0], precision, i), b = real_at(v[1], precision, i);
    most = fmax(most, fabs(b));
    check(fabs(a - b) <= by(1e-10, 1e-3) * (1.0 + fabs(b)),
          "velocity %zu moves by %.12g, of pairs %.12g", i, a, b);
  }
  CHECK(most > 1e-4);
  for (int k = 0; k < 2; ++k) {
    free(q[k]);
    free(v[k]);
  }
}

/* The gradient by each pair's own numbers, taken to the bodies': the larger friction has all, half
 * where two are equal, and stiffnesses of 1 have half each. */
static void test_shared(abut_context context, links (*make)(const char *), void (*begin)(play *p))
{
  play p[2];
  slopes found[2];
  double friction[COLUMNS_MOST], by_friction[COLUMNS_MOST] = {0}, by_stiffness[COLUMNS_MOST] = {0},
                                 some = 0.0;
  open_both(context, make, "true", 1, p);
  for (int k = 0; k < 2; ++k) {
    begin(&p[k]);
    found[k] = slopes_of(&p[k], NULL, NULL);
  }
  REQUIRE(p[0].info.parameters <= COLUMNS_MOST);
  CHECK(!memcmp(found[0].state, found[1].state, 2 * p[0].info.nv * real_size(precision)));
  REQUIRE_OK(abut_get_scene_parameters(p[0].scene, friction, NULL));
  for (size_t i = 0; i < p[0].info.candidates; ++i) {
    size_t of[2];
    REQUIRE_OK(abut_get_candidate(p[0].scene, i, &of[0], &of[1]));
    for (int side = 0; side < 2; ++side) {
      const size_t at = column_of(&p[0], of[side]), other = column_of(&p[0], of[!side]);
      const double share = friction[at] > friction[other]   ? 1.0
                           : friction[at] < friction[other] ? 0.0
                                                            : 0.5;
      by_friction[at] += share * real_at(found[1].friction, precision, i);
      by_stiffness[at] += 0.5 * real_at(found[1].stiffness, precision, i);
    }
  }
  for (size_t i = 0; i < p[0].info.parameters; ++i) {
    const double f = real_at(found[0].friction, precision, i),
                 k = real_at(found[0].stiffness, precision, i);
    check(fabs(f - by_friction[i]) <= by(1e-12, 1e-4) * (1.0 + fabs(f)),
          "column %zu: friction %.12g, of pairs %.12g", i, f, by_friction[i]);
    check(fabs(k - by_stiffness[i]) <= by(1e-12, 1e-4) * (1.0 + fabs(k)),
          "column %zu: stiffness %.12g, of pairs %.12g", i, k, by_stiffness[i]);
    some += fabs(f);
  }
  check(some > 1e-3, "no friction acts");
  compare_tangents(p, friction);
  for (int k = 0; k < 2; ++k) {
    slopes_free(&found[k]);
    play_close(&p[k]);
  }
}

static double weighed(const play *p, const double *friction, const double *stiffness)
{
  const size_t columns = p->info.parameters, nv = p->info.nv;
  void *f = to_reals(friction, columns, precision), *k = to_reals(stiffness, columns, precision);
  void *q = calloc(p->info.nq, real_size(precision)), *v = calloc(nv, real_size(precision));
  double sum = 0.0;
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p->q;
  w.v = p->v;
  w.friction = f;
  w.stiffness = k;
  w.steps = SLOPE_STEPS;
  w.q_next = q;
  w.v_next = v;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  for (size_t i = 0; i < nv; ++i) {
    sum += weight_of(i) * real_at(v, precision, i);
  }
  free(f);
  free(k);
  free(q);
  free(v);
  return sum;
}

/* Of a body's column central differences are half of the steeper side's where frictions are equal,
 * as the gradient is. */
static void test_differences(abut_context context)
{
  links l = mixed_links("\"cone_smoothing\": 0.01, \"tolerance\": 1e-12, ");
  play p;
  double x[2][COLUMNS_MOST];
  snprintf(l.text + l.at, ROOM - l.at,
           "], \"automatic\": true, \"pairs\": [{\"a\": 1, \"b\": 0, \"friction\": 0.7}]}");
  play_open_text(&p, context, precision, l.text, 1);
  free(l.text);
  CHECK_EQUAL(p.info.pairs, 1);
  CHECK_EQUAL(p.info.parameters, 1 + 8);
  CHECK_EQUAL(p.info.candidates, 8 * 7 / 2);
  REQUIRE_OK(abut_get_scene_parameters(p.scene, x[0], NULL));
  for (size_t i = 0; i < p.info.parameters; ++i) {
    x[1][i] = 1.0 + 0.1 * (double)i;
  }
  set_off(&p);
  play_step(&p, 40);
  void *friction = to_reals(x[0], p.info.parameters, precision),
       *stiffness = to_reals(x[1], p.info.parameters, precision);
  slopes found = slopes_of(&p, friction, stiffness);
  for (int which = 0; which < 2; ++which) {
    for (size_t i = 0; i < p.info.parameters; ++i) {
      const double h = 1e-5, at = x[which][i];
      x[which][i] = at + h;
      const double more = weighed(&p, x[0], x[1]);
      x[which][i] = at - h;
      const double less = weighed(&p, x[0], x[1]);
      x[which][i] = at;
      const double wanted = (more - less) / (2.0 * h);
      const double got = real_at(which ? found.stiffness : found.friction, precision, i);
      check(fabs(got - wanted) <= 1e-5 * (1.0 + fabs(wanted)),
            "%s of column %zu: %.9g, by differences %.9g", which ? "stiffness" : "friction", i, got,
            wanted);
    }
  }
  free(friction);
  free(stiffness);
  slopes_free(&found);
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  law = argc > 2 ? argv[2] : law;
  abut_context context = require_context(precision);
  balls = usual_share() ? 1 : balls;
  const bool springs = !strcmp(law, "spring");
  if (!springs) {
    test_steps(context, boxes_links, 2, 100);
    test_steps(context, figure_links, 17, 100);
  }
  /* by cone of each margin */
  test_steps(context, mixed_links, strcmp(law, "cone") ? 17 : 21, springs ? 20 : 100);
  test_kept(context);
  test_shared(context, mixed_links, begin_near);
  if (!springs) {
    test_shared(context, swept_links, begin_fast);
  }
  if (precision == ABUT_FLOAT64 && !strcmp(law, "cone")) {
    test_differences(context);
  }
  return finish_context(context);
}
