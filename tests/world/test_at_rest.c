/* Derivatives of a step of a box that rests on a plane, by each contact law, against one-sided
 * differences of steps, in float64. Hard contacts have a kink there: their derivatives are those of
 * a gap that closes. */
#include "play.h"

#include <math.h>
#include <string.h>

enum { NQ = 7, NV = 6, STATE = 12, COLUMNS = 13 };

#define STEP 0.002
#define LENGTH 1e-7 /* of differences */
#define LIFT 1e-5   /* so far above rest every turn of the box leaves gaps alone */
#define LIMIT 1e-4

static abut_context context;

/* A state and the control that lifts the box. */
typedef struct state {
  double q[NQ], v[NV], u;
} state;

static state moved(const play *p, const state *from, const double by[COLUMNS])
{
  state to = *from;
  CHECK_OK(abut_add_positions(p->scene, 1, from->q, by, to.q));
  for (int i = 0; i < NV; ++i) {
    to.v[i] += by[NV + i];
  }
  to.u += by[STATE];
  return to;
}

static state after(const play *p, const state *from)
{
  state to = *from;
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = from->q;
  w.v = from->v;
  w.u = &from->u;
  w.q_next = to.q;
  w.v_next = to.v;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  return to;
}

/* How the state after a step changes by each number of that before: columns. */
static void differences(const play *p, const state *from, double length, double by[COLUMNS][STATE])
{
  const state end = after(p, from);
  for (int c = 0; c < COLUMNS; ++c) {
    double step[COLUMNS] = {0.0}, d[NV];
    step[c] = length;
    const state other = moved(p, from, step), to = after(p, &other);
    CHECK_OK(abut_subtract_positions(p->scene, 1, to.q, end.q, d));
    for (int i = 0; i < NV; ++i) {
      by[c][i] = d[i] / length;
      by[c][NV + i] = (to.v[i] - end.v[i]) / length;
    }
  }
}

static void transition(const play *p, const state *from, double by[COLUMNS][STATE])
{
  double A[STATE * STATE], B[STATE];
  abut_worlds w = abut_default_worlds();
  abut_worlds_transition of = abut_default_worlds_transition();
  w.count = 1;
  w.q = from->q;
  w.v = from->v;
  w.u = &from->u;
  of.A = A;
  of.B = B;
  CHECK_OK(abut_transition_worlds(p->scene, &w, &of));
  for (int i = 0; i < STATE; ++i) {
    for (int c = 0; c < STATE; ++c) {
      by[c][i] = A[i * STATE + c];
    }
    by[STATE][i] = B[i];
  }
}

/* Gradients of each number of the state after a step: rows. */
static void gradients(const play *p, const state *from, double by[COLUMNS][STATE])
{
  for (int i = 0; i < STATE; ++i) {
    double bar[STATE] = {0.0}, q[NV], v[NV], u;
    abut_worlds w = abut_default_worlds();
    abut_worlds_gradients g = abut_default_worlds_gradients();
    bar[i] = 1.0;
    w.count = 1;
    w.q = from->q;
    w.v = from->v;
    w.u = &from->u;
    g.state = bar;
    g.q = q;
    g.v = v;
    g.u = &u;
    CHECK_OK(abut_vjp_worlds(p->scene, &w, &g));
    for (int c = 0; c < NV; ++c) {
      by[c][i] = q[c];
      by[NV + c][i] = v[c];
    }
    by[STATE][i] = u;
  }
}

/* Velocities count by what a step makes of them, and so do those that a state begins with. */
static double farthest(double a[COLUMNS][STATE], double b[COLUMNS][STATE])
{
  double most = 0.0;
  for (int c = 0; c < COLUMNS; ++c) {
    for (int i = 0; i < STATE; ++i) {
      const double scale = (i < NV ? 1.0 : STEP) / (c < NV || c == STATE ? 1.0 : STEP);
      most = fmax(most, scale * fabs(a[c][i] - b[c][i]));
    }
  }
  return most;
}

static void rest(play *p, const char *law, state *at)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"timestep\": %g, \"links\": [{\"bodies\": [{\"plane\": "
           "[1, 1]}]}, {\"position\": [0, 0, 0.06], \"joint\": {\"type\": \"free\"}, \"density\": "
           "400, \"bodies\": [{\"box\": [0.12, 0.1, 0.06]}]}], \"actuators\": [{\"kind\": "
           "\"motor\", \"joint\": 1, \"dof\": 2}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
           law, STEP);
  play_open_text(p, context, ABUT_FLOAT64, text, 1);
  CHECK_EQUAL(p->info.nv, NV);
  play_for(p, 2.0);
  CHECK_EQUAL(p->status[0], 0);
  for (int i = 0; i < NQ; ++i) {
    at->q[i] = play_q(p, 0, (size_t)i);
  }
  for (int i = 0; i < NV; ++i) {
    at->v[i] = play_v(p, 0, (size_t)i);
  }
  at->u = 0.0;
}

static void test_law(const char *law)
{
  const bool hard = !strcmp(law, "lcp");
  static double want[COLUMNS][STATE], below[COLUMNS][STATE], A[COLUMNS][STATE],
    back[COLUMNS][STATE];
  play p;
  state at;
  rest(&p, law, &at);
  transition(&p, &at, A);
  gradients(&p, &at, back);
  printf("%s, a box at rest\n", law);
  play_line("gradients are off A and B by", farthest(back, A), 1e-9);
  differences(&p, &at, LENGTH, want);
  play_line("height by height is off by, from above", fabs(A[2][2] - want[2][2]), LIMIT);
  play_line("velocity by height", STEP * fabs(A[2][NV + 2] - want[2][NV + 2]), LIMIT);
  if (hard) {
    const double lift[COLUMNS] = {0.0, 0.0, LIFT};
    const state above = moved(&p, &at, lift);
    differences(&p, &above, LENGTH, want);
    CHECK(fabs(want[2][2]) < LIMIT); /* a gap closes */
  } else {
    differences(&p, &at, -LENGTH, below);
    play_line("off differences to the other side", farthest(A, below), LIMIT);
  }
  play_line("off differences", farthest(A, want), LIMIT);
  play_close(&p);
}

int main(void)
{
  context = require_context(ABUT_FLOAT64);
  test_law("lcp");
  test_law("cone");
  test_law("spring");
  return finish_context(context);
}
