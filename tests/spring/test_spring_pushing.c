/* A finger pushes a T about a table: ends of five sequences of strokes against those of MuJoCo's
 * own contacts. test_spring_pushing PRECISION ROOT CASE, the folder of golden answers and the
 * folder there of the T's scene. On the device of ABUT_TEST_DEVICE. */
#include "spring/scenes.h"

#define HALF_TURN 180.0 /* [degrees] */
#define PI 3.14159265358979323846

enum { WORLDS = 5, NV = 5, NU = 2, ROWS = 328, HOLD_MS = 16 };

/* What the ends of an integrator and a step are held to, means of the five: what they are, to
 * within 0.05 cm and 0.3 degrees; or what they are below (`most`); or only that worlds end finite,
 * or stop and say so. */
typedef enum bound { NEAR, MOST, ENDS } bound;

typedef struct motion {
  const char *name, *integrator, *reaction;
  int ms;
  bound bound;
  double cm, degrees;
} motion;

/* t26: of the reference in double; docs/benchmarks/springs.md. */
static const motion motions[] = {
  {"spring-t26-finger", "euler", "point", 2, NEAR, 0.65, 2.6},
  {"spring-t26-finger", "euler", "plane", 2, NEAR, 1.8, 11.9},
  {"spring-t26-finger", "rk4", "point", 2, NEAR, 0.67, 2.4},
  {"spring-t26-finger", "rk4", "point", 8, NEAR, 0.68, 2.4},
  {"spring-t26-finger", "implicit", "point", 2, NEAR, 0.67, 3.4},
  {"spring-t26-finger", "implicit", "point", 8, NEAR, 0.82, 2.7},
  {"spring-t26-finger", "implicit", "point", 16, NEAR, 0.84, 2.4},
  {"spring-t26-finger", "euler", "point", 8, ENDS, 0.0, 0.0},
  {"spring-t26-finger", "euler", "point", 16, ENDS, 0.0, 0.0},
  {"spring-t26-finger", "rk4", "point", 16, ENDS, 0.0, 0.0},
  {"spring-t4k-finger", "euler", "point", 2, MOST, 0.5, 1.5},
  {"spring-t4k-finger", "rk4", "point", 8, MOST, 0.5, 1.5},
  {"spring-t4k-finger", "implicit", "point", 16, MOST, 0.6, 2.0},
};

typedef struct ends {
  double cm, degrees; /* means of the worlds' distances from MuJoCo's ends */
  bool stay;          /* all are finite, or have stopped */
  uint32_t status;    /* of all together */
} ends;

static abut_scene scene_of_motion(const motion *m)
{
  char *text = text_of(m->name, "scene.json"), value[64];
  snprintf(value, sizeof value, "\"%s\"", m->integrator);
  replace_value(text, "integrator", value);
  snprintf(value, sizeof value, "\"%s\"", m->reaction);
  replace_value(text, "reaction", value);
  snprintf(value, sizeof value, "%.3f", m->ms / 1000.0);
  replace_value(text, "timestep", value);
  return scene_of_text(m->name, text);
}

/* Controls of every step: a row holds for HOLD_MS. */
static void *controls_of(const double *rows, size_t hold)
{
  const size_t steps = ROWS * hold;
  double *all = doubles(WORLDS * steps * NU);
  for (size_t i = 0; i < WORLDS * steps; ++i) {
    memcpy(all + NU * i, rows + NU * (i / steps * ROWS + i % steps / hold), NU * sizeof *all);
  }
  void *reals = to_reals(all, WORLDS * steps * NU, precision);
  free(all);
  return reals;
}

static ends compare(const void *q, const double *wanted, const uint32_t *status)
{
  ends e = {.stay = true};
  for (size_t i = 0; i < WORLDS; ++i) {
    const double *to = wanted + NV * i;
    const double x = number(q, NV * i) - to[0], y = number(q, NV * i + 1) - to[1];
    const double turn = number(q, NV * i + 2) - to[2];
    e.cm += 100.0 * hypot(x, y) / WORLDS;
    e.degrees += HALF_TURN / PI * fabs(remainder(turn, 2.0 * PI)) / WORLDS;
    e.status |= status[i];
    for (size_t k = 0; k < NV; ++k) {
      e.stay = e.stay && (isfinite(number(q, NV * i + k)) || status[i]);
    }
  }
  return e;
}

static ends push(const motion *m, const abut_npz *all)
{
  const size_t hold = (size_t)(HOLD_MS / m->ms);
  abut_scene scene = scene_of_motion(m);
  abut_worlds w = abut_default_worlds();
  uint32_t status[WORLDS] = {0};
  void *q = to_reals(reals_of(all, "q0"), NV * WORLDS, precision), *v = room(NV * WORLDS);
  void *u = controls_of(reals_of(all, "controls"), hold);
  w.count = WORLDS;
  w.q = q;
  w.v = v;
  w.u = u;
  w.controls = true;
  w.steps = ROWS * hold;
  w.q_next = room(NV * WORLDS);
  w.status = status;
  CHECK_OK(abut_step_worlds(scene, &w));
  const ends e = compare(w.q_next, reals_of(all, "mujoco_end"), status);
  abut_destroy_scene(scene);
  free(q);
  free(v);
  free(u);
  free(w.q_next);
  return e;
}

static void test_motion(const motion *m, const abut_npz *all)
{
  const ends e = push(m, all);
  char what[64];
  snprintf(what, sizeof what, "%s, %s of %d ms, %s", m->name, m->integrator, m->ms, m->reaction);
  printf("%-46s %8.2f cm %6.1f deg, status %u\n", what, e.cm, e.degrees, (unsigned)e.status);
  check(e.stay, "%s: a world is not finite and does not say so", what);
  if (m->bound == NEAR) {
    check(fabs(e.cm - m->cm) <= 0.05 && fabs(e.degrees - m->degrees) <= 0.3 && !e.status,
          "%s: %g cm, %g deg in place of %g and %g", what, e.cm, e.degrees, m->cm, m->degrees);
  } else if (m->bound == MOST) {
    check(e.cm <= m->cm && e.degrees <= m->degrees && !e.status,
          "%s: %g cm, %g deg are beyond %g and %g", what, e.cm, e.degrees, m->cm, m->degrees);
  }
}

int main(int argc, char **argv)
{
  abut_npz all;
  REQUIRE(argc > 3);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  read_npz("spring-pushing-five", "pushing", &all);
  size_t done = 0;
  for (size_t i = 0; i < sizeof motions / sizeof *motions; ++i) {
    if (strcmp(motions[i].name, argv[3]) == 0) {
      test_motion(motions + i, &all);
      ++done;
    }
  }
  check(done > 0, "%s has no motions", argv[3]);
  abut_free_npz(&all);
  return finish_context(context);
}
