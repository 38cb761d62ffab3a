/* Derivatives through impacts within a step, of scenes with "sweep", against central differences of
 * abut_step_worlds, in float64: test_impacts [all]. What differs is printed. With `all`, also of
 * what takes as long as the rest. */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;

/* Inputs by which is differentiated: columns in this order. The friction of springs is their
 * own. */
enum { BY_Q, BY_V, BY_U, BY_MASS, BY_FRICTION, BY_ALL };
static const char *const by_names[BY_ALL] = {"q", "v", "u", "mass_scale", "friction"};

/* One world of a scene, with all that a call is given. */
typedef struct trial {
  char name[128];
  abut_scene scene;
  abut_scene_info info;
  size_t steps, columns[BY_ALL], first[BY_ALL], all;
  double *q, *v, *u, *mass, *friction, *springs;
  bool steep[128]; /* columns along which other features would meet, to either side: they are not
                      compared */
  double most[2];  /* of the positions and of the velocities to which the steps lead */
  bool spring;
} trial;

static double *numbers(size_t count)
{
  double *out = calloc(count + 1, sizeof *out);
  REQUIRE(out != NULL);
  return out;
}

static void trial_open(trial *t, const char *name, const char *text, size_t steps)
{
  play p;
  play_open_text(&p, context, ABUT_FLOAT64, text, 1);
  *t = (trial){.scene = p.scene,
               .info = p.info,
               .steps = steps,
               .spring = strstr(text, "\"spring\"") != NULL};
  snprintf(t->name, sizeof t->name, "%s", name);
  const size_t columns[BY_ALL] = {p.info.nv, p.info.nv, p.info.nu, p.info.links, p.info.pairs};
  for (int k = 0; k < BY_ALL; ++k) {
    t->columns[k] = columns[k];
    t->first[k] = t->all;
    t->all += columns[k];
  }
  REQUIRE(t->all <= sizeof t->steep / sizeof *t->steep);
  t->q = p.q;
  t->v = p.v;
  t->u = numbers(p.info.nu);
  t->mass = numbers(p.info.links);
  t->friction = numbers(p.info.pairs);
  t->springs = numbers(6 * p.info.pairs);
  for (size_t i = 0; i < p.info.links; ++i) {
    t->mass[i] = 1.0 + 0.1 * (double)i;
  }
  for (size_t i = 0; i < p.info.pairs; ++i) {
    const double usual[6] = {5.0, 0.4, 0.1, 0.01, 5e-4, 2e-4};
    t->friction[i] = 0.4;
    memcpy(t->springs + 6 * i, usual, sizeof usual);
  }
  free(p.w);
  free(p.mass);
  free(p.status);
}

static void trial_close(trial *t)
{
  CHECK_OK(abut_destroy_scene(t->scene));
  free(t->q);
  free(t->v);
  free(t->u);
  free(t->mass);
  free(t->friction);
  free(t->springs);
}

/* ---- many copies of the world ---- */

typedef struct copies {
  size_t count;
  double *q, *v, *u, *mass, *friction, *springs;
} copies;

static double *repeat(const double *from, size_t width, size_t count)
{
  double *to = numbers(width * count);
  for (size_t i = 0; i < width * count; ++i) {
    to[i] = from[i % width];
  }
  return to;
}

static copies copies_of(const trial *t, size_t count)
{
  return (copies){.count = count,
                  .q = repeat(t->q, t->info.nq, count),
                  .v = repeat(t->v, t->info.nv, count),
                  .u = repeat(t->u, t->info.nu, count),
                  .mass = repeat(t->mass, t->info.links, count),
                  .friction = repeat(t->friction, t->info.pairs, count),
                  .springs = repeat(t->springs, 6 * t->info.pairs, count)};
}

static void copies_free(copies *c)
{
  free(c->q);
  free(c->v);
  free(c->u);
  free(c->mass);
  free(c->friction);
  free(c->springs);
}

static abut_worlds call_of(const trial *t, const copies *c)
{
  abut_worlds w = abut_default_worlds();
  w.count = c->count;
  w.steps = t->steps;
  w.q = c->q;
  w.v = c->v;
  w.u = t->info.nu ? c->u : NULL;
  w.mass_scale = c->mass;
  w.friction = t->info.pairs && !t->spring ? c->friction : NULL;
  w.springs = t->spring ? c->springs : NULL;
  return w;
}

/* Moves a world along a column. */
static void move(const trial *t, copies *c, size_t world, size_t column, double by)
{
  double *step = numbers(t->info.nv);
  if (column < t->first[BY_V]) {
    step[column] = by;
    REQUIRE_OK(
      abut_add_positions(t->scene, 1, c->q + world * t->info.nq, step, c->q + world * t->info.nq));
  } else if (column < t->first[BY_U]) {
    c->v[world * t->info.nv + column - t->first[BY_V]] += by;
  } else if (column < t->first[BY_MASS]) {
    c->u[world * t->info.nu + column - t->first[BY_U]] += by;
  } else if (column < t->first[BY_FRICTION]) {
    c->mass[world * t->info.links + column - t->first[BY_MASS]] += by;
  } else {
    const size_t pair = column - t->first[BY_FRICTION];
    c->friction[world * t->info.pairs + pair] += by;
    c->springs[6 * (world * t->info.pairs + pair) + 1] += by;
  }
  free(step);
}

/* ---- differences ---- */

enum { SIDES = 4 };
static const double sides[SIDES] = {1.0, -1.0, 0.5, -0.5};

/* Fills by (all, 2 nv). All worlds must have the same status, and an impact within a step. Returns
 * it. */
static uint32_t difference(trial *t, double length, double *by)
{
  const size_t nv = t->info.nv, n = 2 * nv, count = 1 + SIDES * t->all;
  copies c = copies_of(t, count);
  double *base = numbers(count * t->info.nq), *moved = numbers(count * nv),
         *v = numbers(count * nv);
  double *q = numbers(count * t->info.nq);
  uint32_t *status = calloc(count, sizeof *status);
  for (size_t k = 0; k < t->all; ++k) {
    for (size_t i = 0; i < SIDES; ++i) {
      move(t, &c, 1 + SIDES * k + i, k, length * sides[i]);
    }
  }
  abut_worlds w = call_of(t, &c);
  w.q_next = q;
  w.v_next = v;
  w.status = status;
  REQUIRE_OK(abut_step_worlds(t->scene, &w));
  for (size_t i = 0; i < count; ++i) {
    memcpy(base + i * t->info.nq, q, t->info.nq * sizeof *q);
    check((status[i] & ABUT_WORLD_SWEPT) && (status[i] == status[0] || t->steep[(i - 1) / SIDES]),
          "%s: world %zu has status %u, world 0 %u", t->name, i, status[i], status[0]);
  }
  REQUIRE_OK(abut_subtract_positions(t->scene, count, q, base, moved));
  for (size_t i = 0; i < t->info.nq; ++i) {
    t->most[0] = fmax(t->most[0], fabs(q[i]));
  }
  for (size_t i = 0; i < nv; ++i) {
    t->most[1] = fmax(t->most[1], fabs(v[i]));
  }
  for (size_t k = 0; k < t->all; ++k) {
    for (size_t i = 0; i < n; ++i) {
      const double *of = (i < nv ? moved : v) + (1 + SIDES * k) * nv + i % nv;
      const double far = (of[0] - of[nv]) / (2.0 * length),
                   near = (of[2 * nv] - of[3 * nv]) / length;
      by[k * n + i] = (4.0 * near - far) / 3.0;
    }
  }
  const uint32_t found = status[0];
  copies_free(&c);
  free(base);
  free(moved);
  free(v);
  free(q);
  free(status);
  return found;
}

/* ---- what the library says, (all, 2 nv) each ---- */

static double unit_at(size_t i, size_t k)
{
  return i == k ? 1.0 : 0.0;
}

/* Fills an array (count, width) in which world `first` + i is 1 at i. */
static double *units(size_t count, size_t first, size_t width)
{
  double *out = numbers(count * width);
  for (size_t i = 0; i < count * width; ++i) {
    out[i] = unit_at(i / width, first + i % width);
  }
  return out;
}

static void by_tangents(const trial *t, double *by)
{
  const size_t nv = t->info.nv;
  copies c = copies_of(t, t->all);
  double *seeds[BY_ALL], *q = numbers(t->all * nv), *v = numbers(t->all * nv);
  for (int k = 0; k < BY_ALL; ++k) {
    seeds[k] = units(t->all, t->first[k], t->columns[k] ? t->columns[k] : 1);
  }
  abut_worlds w = call_of(t, &c);
  abut_worlds_tangents g = abut_default_worlds_tangents();
  g.q = seeds[BY_Q];
  g.v = seeds[BY_V];
  g.u = t->info.nu ? seeds[BY_U] : NULL;
  g.mass_scale = seeds[BY_MASS];
  g.friction = t->info.pairs && !t->spring ? seeds[BY_FRICTION] : NULL;
  g.q_next = q;
  g.v_next = v;
  CHECK_OK(abut_jvp_worlds(t->scene, &w, &g));
  for (size_t i = 0; i < t->all * nv; ++i) {
    by[i / nv * 2 * nv + i % nv] = q[i];
    by[i / nv * 2 * nv + nv + i % nv] = v[i];
  }
  for (int k = 0; k < BY_ALL; ++k) {
    free(seeds[k]);
  }
  free(q);
  free(v);
  copies_free(&c);
}

static void by_gradients(const trial *t, size_t segment, double *by)
{
  const size_t n = 2 * t->info.nv;
  copies c = copies_of(t, n);
  double *state = units(n, 0, n), *to[BY_ALL], *springs = numbers(6 * t->info.pairs * n);
  for (int k = 0; k < BY_ALL; ++k) {
    to[k] = numbers(n * t->columns[k]);
  }
  abut_worlds w = call_of(t, &c);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = state;
  g.segment = segment;
  g.q = to[BY_Q];
  g.v = to[BY_V];
  g.u = t->info.nu ? to[BY_U] : NULL;
  g.mass_scale = to[BY_MASS];
  g.friction = t->info.pairs && !t->spring ? to[BY_FRICTION] : NULL;
  g.springs = t->spring ? springs : NULL;
  CHECK_OK(abut_vjp_worlds(t->scene, &w, &g));
  for (int k = 0; k < BY_ALL; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < t->columns[k]; ++j) {
        by[(t->first[k] + j) * n + i] = k == BY_FRICTION && t->spring
                                          ? springs[6 * (i * t->info.pairs + j) + 1]
                                          : to[k][i * t->columns[k] + j];
      }
    }
    free(to[k]);
  }
  free(springs);
  free(state);
  copies_free(&c);
}

static void by_matrix(const trial *t, double *by)
{
  const size_t n = 2 * t->info.nv;
  copies c = copies_of(t, 1);
  double *at[4];
  const size_t widths[] = {n, t->info.nu, t->info.links, t->info.pairs};
  const size_t first[] = {0, t->first[BY_U], t->first[BY_MASS], t->first[BY_FRICTION]};
  for (int k = 0; k < 4; ++k) {
    at[k] = numbers(n * widths[k]);
  }
  abut_worlds w = call_of(t, &c);
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = at[0];
  m.B = t->info.nu ? at[1] : NULL;
  m.mass_scale = at[2];
  m.friction = t->info.pairs && !t->spring ? at[3] : NULL;
  CHECK_OK(abut_transition_worlds(t->scene, &w, &m));
  for (int k = 0; k < 4; ++k) {
    for (size_t i = 0; i < n * widths[k]; ++i) {
      by[(first[k] + i % widths[k]) * n + i / widths[k]] = at[k][i];
    }
    free(at[k]);
  }
  copies_free(&c);
}

/* ---- all of it ---- */

/* The largest difference as a share of what the same outputs depend on the same inputs at most. */
static double compare(const trial *t, const char *what, const double *got, const double *want,
                      double limit, bool no_friction)
{
  const size_t nv = t->info.nv, n = 2 * nv;
  double worst = 0.0;
  for (int k = 0; k < BY_ALL; ++k) {
    for (size_t half = 0; half < 2 && !(k == BY_FRICTION && no_friction); ++half) {
      double scale = 1e-2 * t->most[half]; /* less than a millionth of it is the differences'
                                              rounding */
      for (size_t i = 0; i < t->columns[k] * nv; ++i) {
        scale = fmax(scale, fabs(want[(t->first[k] + i / nv) * n + half * nv + i % nv]));
      }
      for (size_t i = 0; i < t->columns[k] * nv; ++i) {
        if (t->steep[t->first[k] + i / nv]) {
          continue;
        }
        const size_t at = (t->first[k] + i / nv) * n + half * nv + i % nv;
        const double off = fabs(got[at] - want[at]) / scale;
        check(off <= limit, "%s, %s: %c %zu by %s %zu is %.10g, not %.10g, off by %.1e", t->name,
              what, half ? 'v' : 'q', i % nv, by_names[k], i / nv, got[at], want[at], off);
        worst = fmax(worst, off);
      }
    }
  }
  return worst;
}

static void run(trial *t)
{
  const size_t n = 2 * t->info.nv;
  double *want = numbers(t->all * n), *ahead = numbers(t->all * n), *got = numbers(t->all * n);
  const uint32_t status = difference(t, 1e-5, want);
  by_tangents(t, ahead);
  printf("%s, %zu steps, status %u: tangents %.1e", t->name, t->steps, status,
         compare(t, "tangents", ahead, want, 1e-6, t->spring));
  for (size_t segment = 1; segment <= t->steps; ++segment) {
    by_gradients(t, segment, got);
    printf(", gradients %.1e", compare(t, "gradients", got, want, 1e-6, false));
    printf(" (transposed %.1e)", compare(t, "transposed", got, ahead, 1e-10, t->spring));
  }
  if (t->steps == 1) {
    by_matrix(t, got);
    printf(", matrix %.1e", compare(t, "matrix", got, ahead, 1e-12, t->spring));
  }
  printf("\n");
  free(want);
  free(ahead);
  free(got);
}

static void scene_of(char *text, size_t room, const char *law, const char *more, double step,
                     const char *rest)
{
  snprintf(text, room, "{\"contact_model\": \"%s\", %s \"timestep\": %g, \"sweep\": true, %s}", law,
           more, step, rest);
}

#define WALL "{\"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}"
#define CUBE                                                                                   \
  "\"mass\": 1, \"inertia\": [[1.2e-4, 0, 0], [0, 1.1e-4, 0], [0, 0, 1.3e-4]], \"bodies\": [{" \
  "\"box\": [0.01, 0.012, 0.014]}]"

static void turn(trial *t, size_t at, double x, double y, double z)
{
  const double angle = sqrt(x * x + y * y + z * z), by = sin(0.5 * angle) / angle;
  t->q[at] = cos(0.5 * angle);
  t->q[at + 1] = by * x;
  t->q[at + 2] = by * y;
  t->q[at + 3] = by * z;
}

/* A ball of 20 mm flies along x at a wall of 10 mm around x = 0. */
static void test_ball(const char *law, const char *more)
{
  char text[1024], name[128];
  trial t;
  snprintf(name, sizeof name, "ball, %s %s", law, more);
  scene_of(
    text, sizeof text, law, more, 1.0 / 60.0,
    "\"links\": [" WALL
    ", {\"position\": [-0.4, 0.013, 0.004], \"joint\": {\"type\": \"free\"}, \"density\": 1000, "
    "\"bodies\": [{\"sphere\": 0.01}]}], \"pairs\": [{\"a\": 1, \"b\": 0, \"contact\": {\"k\": "
    "5}}]");
  trial_open(&t, name, text, 1);
  t.v[0] = 40.0;
  t.v[1] = 3.0;
  t.v[2] = 2.0;
  run(&t);
  trial_close(&t);
}

/* A cube flies with a corner ahead, and turns. */
static void test_corner(const char *law, const char *more, double friction, double along,
                        double spin)
{
  char text[1024], name[128];
  trial t;
  snprintf(name, sizeof name, "corner, %s %s, friction %g, along %g, spin %g", law, more, friction,
           along, spin);
  scene_of(text, sizeof text, law, more, 0.01,
           "\"links\": [" WALL
           ", {\"position\": [-0.2, 0.1, 0.07], \"joint\": {\"type\": \"free\"}, " CUBE
           "}], \"pairs\": "
           "[{\"a\": 1, \"b\": 0, \"restitution\": 0.4}]");
  trial_open(&t, name, text, 1);
  turn(&t, 3, 0.1, 0.6, -0.7);
  t.friction[0] = t.springs[1] = friction;
  t.v[0] = 30.0;
  t.v[1] = along;
  t.v[3] = 0.7 * spin;
  t.v[4] = -spin;
  t.v[5] = 0.4 * spin;
  run(&t);
  trial_close(&t);
}

/* A cube flies at a wall that controls have moved, with a corner ahead; another one moves it
 * too. */
static void test_moved_wall(const char *law, size_t steps)
{
  static const double control[7] = {3.0, 0.01, 0.02, -0.03, 0.02, 0.1, -0.15};
  char text[1024], name[128];
  trial t;
  snprintf(name, sizeof name, "moved wall, %s", law);
  scene_of(text, sizeof text, law, "", 0.01,
           "\"links\": [{\"joint\": {\"type\": \"moved\"}, \"bodies\": [{\"box\": [0.005, 0.5, "
           "0.5]}]}, {\"position\": [-0.2, 0.1, 0.07], \"joint\": {\"type\": \"free\"}, " CUBE
           "}], \"actuators\": [{\"kind\": \"motor\", \"joint\": 1, \"dof\": 1}], \"pairs\": "
           "[{\"a\": 1, \"b\": 0, \"restitution\": 0.4}]");
  trial_open(&t, name, text, steps);
  REQUIRE(t.info.nu == 7);
  memcpy(t.u, control, sizeof control);
  turn(&t, 3, 0.1, 0.6, -0.7);
  t.v[0] = 30.0;
  t.v[1] = 3.0;
  t.v[3] = 7.0;
  t.v[4] = -10.0;
  run(&t);
  trial_close(&t);
}

/* Two cubes fly at each other, and both turn. */
static void test_two(const char *law, const char *more, size_t steps, double from)
{
  char rest[1024], text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "two, %s %s", law, more);
  snprintf(rest, sizeof rest,
           "\"gravity\": [0, 0, -9.81], \"links\": [{\"position\": [%g, 0.1, 0.07], \"joint\": "
           "{\"type\": \"free\"}, " CUBE "}, "
           "{\"position\": [0.0, 0.103, 0.068], \"joint\": {\"type\": \"free\"}, \"density\": 900, "
           "\"bodies\": [{\"box\": "
           "[0.02, 0.015, 0.018], \"position\": [0.003, -0.002, 0.004], \"quaternion\": [0.9, 0.1, "
           "-0.2, 0.3]}]}], "
           "\"pairs\": [{\"a\": 0, \"b\": 1, \"restitution\": 0.3}]",
           from);
  scene_of(text, sizeof text, law, more, 0.01, rest);
  trial_open(&t, name, text, steps);
  turn(&t, 3, 0.3, 0.2, -0.4);
  turn(&t, 10, -0.2, 0.5, 0.3);
  t.v[0] = 30.0;
  t.v[1] = 1.0;
  t.v[4] = 20.0;
  t.v[6] = -15.0;
  t.v[9] = 25.0;
  t.v[11] = -10.0;
  run(&t);
  trial_close(&t);
}

/* A cube flies at a wall with a corner ahead, and an equality holds another one behind it, which is
 * not quite where that wants it. */
static void test_held(const char *law, const char *kind, size_t steps)
{
  char rest[1024], text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "held, %s, %s", law, kind);
  snprintf(
    rest, sizeof rest,
    "\"gravity\": [0, 0, -9.81], \"links\": [" WALL
    ", {\"position\": [-0.2, 0.1, 0.07], \"joint\": {\"type\": \"free\"}, " CUBE
    "}, {\"position\": [-0.24, 0.1, 0.07], \"joint\": {\"type\": \"free\"}, " CUBE
    "}], \"equalities\": [{\"kind\": \"%s\", \"a\": 1, \"b\": 2, \"position_a\": [-0.02, 0.003, "
    "0.001]}], \"pairs\": [{\"a\": 1, \"b\": 0, \"restitution\": 0.4}]",
    kind);
  scene_of(text, sizeof text, law, "", 0.01, rest);
  trial_open(&t, name, text, steps);
  turn(&t, 3, 0.1, 0.6, -0.7);
  turn(&t, 10, 0.15, 0.5, -0.6);
  t.q[7] += 0.003;
  t.v[0] = t.v[6] = 30.0;
  t.v[1] = 3.0;
  t.v[3] = 7.0;
  t.v[4] = -10.0;
  t.v[7] = 2.0;
  t.v[10] = 4.0;
  run(&t);
  trial_close(&t);
}

/* Two rods cross: edges meet. */
static void test_edges(const char *law)
{
  char text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "edges, %s", law);
  scene_of(text, sizeof text, law, "", 0.01,
           "\"gravity\": [0, 0, 0], \"links\": [{\"position\": [-0.2, 0, 0], \"joint\": {\"type\": "
           "\"free\"}, \"density\": 1000, "
           "\"bodies\": [{\"box\": [0.006, 0.006, 0.1], \"quaternion\": [0.92388, 0, 0, "
           "0.38268]}]}, {\"joint\": {\"type\": "
           "\"free\"}, \"density\": 3000, \"bodies\": [{\"box\": [0.006, 0.1, 0.006], "
           "\"quaternion\": [0.92388, 0, 0.38268, 0]}]}], "
           "\"pairs\": [{\"a\": 0, \"b\": 1, \"restitution\": 0.3}]");
  trial_open(&t, name, text, 1);
  turn(&t, 3, 0.03, 0.02, 0.04);
  t.q[2] = 0.03;
  t.q[1] = 0.02;
  t.v[0] = 30.0;
  t.v[3] = 2.0;
  t.v[4] = 3.0;
  t.v[11] = 1.0;
  run(&t);
  trial_close(&t);
}

#define PLATE(x)                                                                         \
  "{\"position\": [" x                                                                   \
  ", 0, 0], \"joint\": {\"type\": \"free\"}, \"density\": 1000, \"bodies\": [{\"box\": " \
  "[0.002, 0.1, 0.1]}]}"

/* A small box flies at two thin ones in a row, and drives them on. */
static void test_bullet(const char *law)
{
  char text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "bullet, %s", law);
  scene_of(
    text, sizeof text, law, "", 0.01,
    "\"gravity\": [0, 0, -9.81], \"links\": [{\"position\": [-0.5, 0.003, 0.002], \"joint\": "
    "{\"type\": \"free\"}, "
    "\"density\": 10000, \"bodies\": [{\"box\": [0.008, 0.009, 0.007]}]}, " PLATE("0.0") ", " PLATE(
      "0.05") "], "
              "\"pairs\": [{\"a\": 0, \"b\": 1}, {\"a\": 0, \"b\": 2}, {\"a\": 1, \"b\": 2}]");
  trial_open(&t, name, text, 1);
  t.v[0] = 80.0;
  t.v[1] = 2.0;
  turn(&t, 10, 0.01, 0.03, 0.02);
  turn(&t, 17, -0.02, 0.01, 0.03);
  turn(&t, 3, 0.4, -0.2, 0.3);
  run(&t);
  trial_close(&t);
}

/* An arm of a ball joint and two hinges, with motors, whose end is thrown against a plate. */
static void test_arm(const char *law, const char *more, size_t steps)
{
  char text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "arm, %s %s", law, more);
  scene_of(text, sizeof text, law, more, 0.005,
           "\"gravity\": [0, 0, -9.81], \"links\": [{\"density\": 1000, \"joint\": {\"type\": "
           "\"ball\", \"position\": [-0.2, 0, 0], "
           "\"damping\": 0.01, \"armature\": 0.001}, \"position\": [0.2, 0, 0], \"bodies\": "
           "[{\"box\": [0.2, 0.01, 0.012]}]}, "
           "{\"parent\": 0, \"name\": \"elbow\", \"position\": [0.35, 0, 0], \"density\": 1000, "
           "\"joint\": {\"type\": "
           "\"hinge\", \"axis\": [0, 0.8, 0.6], "
           "\"position\": [-0.15, 0, 0]}, \"bodies\": [{\"box\": [0.14, 0.01, 0.01]}]}, "
           "{\"parent\": 1, \"position\": [0.25, 0, 0], \"density\": 1000, \"joint\": {\"type\": "
           "\"slide\", \"axis\": [1, 0, 0]}, "
           "\"bodies\": [{\"box\": [0.1, 0.008, 0.01]}]}, "
           "{\"position\": [0.75, 0.02, 0.02], \"bodies\": [{\"box\": [0.2, 0.2, 0.004]}]}], "
           "\"actuators\": [{\"joint\": \"elbow\", \"kind\": \"motor\", \"gear\": 3}], "
           "\"pairs\": [{\"a\": 2, \"b\": 3, \"restitution\": 0.2}]");
  trial_open(&t, name, text, steps);
  turn(&t, 0, 0.1, 0.08, 0.05);
  t.q[4] = 0.1;
  t.q[5] = 0.01;
  t.v[1] = -30.0;
  t.v[0] = 2.0;
  t.v[3] = -20.0;
  t.v[4] = 1.0;
  t.u[0] = 2.0;
  run(&t);
  trial_close(&t);
}

/* A box on two slides lands flat on a part of a plate on a hinge: the middle of the patch is hit,
 * whose place is that of vertices of both. What would tilt the plate has other features meet, to
 * either side. */
static void test_flat(const char *law)
{
  char text[2048], name[128];
  trial t;
  snprintf(name, sizeof name, "flat, %s", law);
  scene_of(
    text, sizeof text, law, "", 0.01,
    "\"gravity\": [0, 0, 0], \"links\": [{\"mass\": 0.01, \"inertia\": [[1e-4, 0, 0], [0, 1e-4, "
    "0], [0, 0, 1e-4]], "
    "\"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}}, "
    "{\"parent\": 0, \"density\": 1000, \"joint\": {\"type\": \"slide\", \"axis\": [0, 1, 0]}, "
    "\"bodies\": [{\"box\": [0.03, 0.03, 0.03]}]}, "
    "{\"position\": [0.2, 0.07, 0.01], \"density\": 1000, \"joint\": {\"type\": \"hinge\", "
    "\"axis\": [0, 0, 1], \"position\": "
    "[0, 0.1, 0]}, \"bodies\": [{\"box\": [0.01, 0.06, 0.05]}]}], \"pairs\": [{\"a\": 1, \"b\": 2, "
    "\"restitution\": 0.3}]");
  trial_open(&t, name, text, 1);
  t.v[0] = 40.0;
  t.v[1] = 3.0;
  t.steep[2] = t.steep[3 + 2] = true;
  run(&t);
  trial_close(&t);
}

/* ---- float32 ---- */

/* Sets the gradient of the sum of the state after two steps of a cube that flies with a corner
 * ahead, by q and by v. */
static void narrow_gradient(const char *law, abut_precision precision, double out[12])
{
  static const double q[] = {-0.35, 0.1, 0.07, 0.9, 0.05, 0.3, -0.35},
                      v[] = {30.0, 3.0, 1.0, 2.0, -3.0, 1.0};
  char text[1024];
  abut_context own;
  play p;
  REQUIRE(test_context(precision, &own));
  scene_of(text, sizeof text, law, "", 0.01,
           "\"links\": [" WALL ", {\"joint\": {\"type\": \"free\"}, " CUBE
           "}], \"pairs\": [{\"a\": 1, \"b\": 0, \"restitution\": "
           "0.4}]");
  play_open_text(&p, own, precision, text, 1);
  const size_t size = real_size(precision);
  void *ones = calloc(12, size), *by[2] = {calloc(6, size), calloc(6, size)};
  REQUIRE(ones && by[0] && by[1]);
  for (size_t i = 0; i < 12; ++i) {
    real_put(ones, precision, i, 1.0);
  }
  for (size_t i = 0; i < 7; ++i) {
    play_set_q(&p, 0, i, q[i]);
  }
  for (size_t i = 0; i < 6; ++i) {
    play_set_v(&p, 0, i, v[i]);
  }
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.steps = 2;
  w.q = p.q;
  w.v = p.v;
  w.status = p.status;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = ones;
  g.q = by[0];
  g.v = by[1];
  CHECK_OK(abut_vjp_worlds(p.scene, &w, &g));
  CHECK_EQUAL(p.status[0], ABUT_WORLD_SWEPT);
  for (size_t i = 0; i < 12; ++i) {
    out[i] = real_at(by[i / 6], precision, i % 6);
  }
  free(ones);
  free(by[0]);
  free(by[1]);
  play_close(&p);
  CHECK_OK(abut_destroy_context(own));
}

static void test_narrow(const char *law)
{
  double wide[12], narrow[12], most[2] = {0.0, 0.0}, worst = 0.0;
  narrow_gradient(law, ABUT_FLOAT64, wide);
  narrow_gradient(law, ABUT_FLOAT32, narrow);
  for (size_t i = 0; i < 12; ++i) {
    most[i / 6] = fmax(most[i / 6], fabs(wide[i]));
  }
  for (size_t i = 0; i < 12; ++i) {
    const double off = fabs(narrow[i] - wide[i]) / most[i / 6];
    worst = fmax(worst, off);
    check(off < 1e-3, "%s: by %c %zu float32 says %g, float64 %g", law, i < 6 ? 'q' : 'v', i % 6,
          narrow[i], wide[i]);
  }
  CHECK(most[0] > 100.0);
  printf("%s: float32 %.1e\n", law, worst);
}

int main(int argc, char **argv)
{
  static const char *const laws[] = {"cone", "lcp", "spring"};
  static const char rk4[] = "\"integrator\": \"rk4\",", euler[] = "\"integrator\": \"euler\",";
  context = require_context(ABUT_FLOAT64);
  for (int i = 0; i < 3; ++i) {
    test_ball(laws[i], "");
    test_corner(laws[i], "", 0.3, 3.0, 0.0);
    test_corner(laws[i], "", 0.8, 3.0, 10.0);
    test_corner(laws[i], "", 0.1, 20.0, 30.0);
    test_arm(laws[i], "", 1);
    test_arm(laws[i], "", 3);
    test_flat(laws[i]);
    test_moved_wall(laws[i], 1);
    test_moved_wall(laws[i], 2);
    test_narrow(laws[i]);
  }
  for (int i = 0; i < 2; ++i) {
    test_two(laws[i], "", 1, -0.2);
    test_two(laws[i], "", 3, -0.75);
    test_edges(laws[i]);
    for (size_t steps = 1; steps <= 2; ++steps) {
      test_held(laws[i], "weld", steps);
      test_held(laws[i], "connect", steps);
    }
  }
  if (argc > 1 && !strcmp(argv[1], "all")) {
    test_bullet("cone");
  }
  test_ball("spring", euler);
  test_corner("spring", euler, 0.3, 3.0, 10.0);
  test_two("cone", rk4, 1, -0.3); /* no stage is where they overlap, for the law is steep there */
  test_arm("cone", rk4, 2);
  test_arm("spring", rk4, 2);
  return finish_context(context);
}
