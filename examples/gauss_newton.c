/* Lays body B onto body A: gauss_newton A B OUT
 *
 * B falls until A carries it, by Levenberg-Marquardt steps in B's own frame. What is minimised is
 * the height of B's centre, for a weight of 1, and springs of the contacts: 1/2 k (gap - d)^2 of
 * each vertex nearer than the gap, and 1/2 k' a d^2 of each edge that is in another, a its activity
 * (apart, d of edges says little). At the end they carry the weight. Each step solves 6 equations
 * made of the Jacobian blocks of the contacts in a list, which grows as it must.
 *
 * There is no friction: B would slide down any slope, so a soft spring keeps its centre near the
 * vertical line that it began on. It may still tip over.
 * OUT-start.npz and OUT-end.npz hold poses that `abut render` draws.
 */
#include "placing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 300, STEPS_A_LINE = 20 };

#define STEP_MOST 0.03      /* of the size */
#define STEP_LEAST 1e-7     /* of the size: there it ends */
#define GAP 0.002           /* of the size */
#define SOFTNESS 0.002      /* of the size: over what depth edges begin to count */
#define EDGES 10.0          /* edges share their contacts, at 0.1 to 0.3 each */
#define PUSH_LEAST 0.001    /* of the weight, by a contact that counts */
#define ACTIVITY_LEAST 1e-9 /* of a contact in the list; its floor keeps faint ones out */
#define DAMPING_LEAST 1e-6
#define DAMPING_MOST 1e12

/* What is minimised, at one pose of B. */
typedef struct look {
  double value;
  double gradient[6], hessian[6][6]; /* along a step in B's frame */
  double nearest;                    /* how far apart, or how deep [m] */
  size_t touching;                   /* contacts that push */
} look;

/* Adds 1/2 r^2, by the residual r and its row of the Jacobian. */
static void add_square(look *l, double residual, const double row[6])
{
  l->value += 0.5 * residual * residual;
  for (int i = 0; i < 6; ++i) {
    l->gradient[i] += residual * row[i];
    for (int j = 0; j < 6; ++j) {
      l->hessian[i][j] += row[i] * row[j];
    }
  }
}

/* Height, and what keeps B over its place. */
static void add_pulls(const placing *p, const double pose[7], look *l)
{
  const double root = sqrt(1.0 / (PLACING_TETHER * p->size));
  double drift[2], row[6];
  l->value = placing_height(p, pose);
  placing_centre_slope(p, pose, 2, l->gradient);
  placing_drift(p, pose, drift);
  for (int axis = 0; axis < 2; ++axis) {
    placing_centre_slope(p, pose, axis, row);
    for (int i = 0; i < 6; ++i) {
      row[i] *= root;
    }
    add_square(l, root * drift[axis], row);
  }
}

/* The spring of a contact: the residual sqrt(k a) (gap - d), by the rows of d and of a. */
static void add_spring(look *l, double stiffness, double gap, double d, double a,
                       const double *d_row, const double *a_row)
{
  const double near = gap - d, root = sqrt(stiffness * a);
  double row[6];
  if (near <= 0.0 || a <= 0.0) {
    return;
  }
  for (int i = 0; i < 6; ++i) {
    row[i] = -root * d_row[i] + 0.5 * root * near / a * a_row[i];
  }
  add_square(l, root * near, row);
  l->touching += root * root * near > PUSH_LEAST;
}

/* Values and derivatives at B's pose: one call, and the list's blocks turned into steps. */
static abut_status look_at(const placing *p, const double pose[7], abut_compact *list, look *l)
{
  const double gap = GAP * p->size, stiffness = 4.0 / gap;
  abut_batch batch = abut_default_batch();
  abut_status status;
  *l = (look){.touching = 0};
  add_pulls(p, pose, l);
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = p->pose[0];
  batch.pose2 = pose;
  batch.compact = list;
  batch.reductions.distance = &l->nearest;
  if ((status = abut_jacobian(p->pair, ABUT_SAME_PAIR, &batch, NULL)) ||
      (status = abut_jacobian_to_frame(ABUT_FLOAT64, ABUT_FRAME_BODY, ABUT_BODY_2, &batch, NULL,
                                       list->blocks))) { /* rows of 6 where those of 14 were */
    return status;
  }
  const double *d = list->d, *a = list->activity, *rows = list->blocks, none[6] = {0.0};
  for (size_t i = 0; i < list->count; ++i) { /* of the 8 rows d's is the fourth, a's the last */
    const double *row = rows + 48 * i;
    if (list->slot[i] < p->edges) {
      add_spring(l, stiffness, gap, d[i], 1.0, row + 18, none);
    } else {
      add_spring(l, EDGES * stiffness, 0.0, d[i], a[i], row + 18, row + 42);
    }
  }
  return ABUT_SUCCESS;
}

/* H x = b by Cholesky's decomposition, into b; false where H is not positive definite. */
static bool solve(double h[6][6], double b[6])
{
  for (int j = 0; j < 6; ++j) {
    for (int i = j; i < 6; ++i) {
      for (int k = 0; k < j; ++k) {
        h[i][j] -= h[i][k] * h[j][k];
      }
      if (i == j && !(h[j][j] > 0.0)) {
        return false;
      }
      h[i][j] = i == j ? sqrt(h[j][j]) : h[i][j] / h[j][j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < i; ++k) {
      b[i] -= h[i][k] * b[k];
    }
    b[i] /= h[i][i];
  }
  for (int i = 5; i >= 0; --i) {
    for (int k = i + 1; k < 6; ++k) {
      b[i] -= h[k][i] * b[k];
    }
    b[i] /= h[i][i];
  }
  return true;
}

/* The damped step down, no longer than it may be. */
static bool find_step(const placing *p, const look *l, double damping, double step[6])
{
  double h[6][6];
  memcpy(h, l->hessian, sizeof h);
  for (int i = 0; i < 6; ++i) { /* as much as bends a spring of the weight over the size */
    h[i][i] += damping / p->size * (i < 3 ? 1.0 : p->lever * p->lever);
    step[i] = -l->gradient[i];
  }
  if (!solve(h, step)) {
    return false;
  }
  const double length = placing_length(p, step), most = STEP_MOST * p->size;
  for (int i = 0; length > most && i < 6; ++i) {
    step[i] *= most / length;
  }
  return true;
}

static void report(const placing *p, int steps, const look *l, double damping)
{
  printf("step %3d: centre at %.4f m, least distance %8.5f m, %zu contacts push, "
         "damping %.0e\n",
         steps, placing_height(p, p->pose[1]), l->nearest, l->touching, damping);
}

/* Marquardt's rule: less damping after a step down, more where the step would go up. */
static abut_status descend(placing *p, abut_compact *list, look *now)
{
  double damping = 1.0;
  int steps = 0;
  abut_status status = look_at(p, p->pose[1], list, now);
  while (!status && steps < STEPS_MOST && damping < DAMPING_MOST) {
    double step[6], pose[7];
    look then = {.value = HUGE_VAL};
    if (steps % STEPS_A_LINE == 0) {
      report(p, steps, now, damping);
    }
    if (find_step(p, now, damping, step)) {
      status = abut_pose_step(ABUT_FLOAT64, ABUT_POSE_QUATERNION, ABUT_FRAME_BODY, 1, p->pose[1],
                              step, pose);
      status = status ? status : look_at(p, pose, list, &then);
    }
    ++steps;
    if (!(then.value < now->value)) {
      damping *= 4.0;
      continue;
    }
    const bool ends = placing_length(p, step) < STEP_LEAST * p->size;
    memcpy(p->pose[1], pose, sizeof pose);
    *now = then;
    damping = fmax(0.5 * damping, DAMPING_LEAST);
    if (ends) {
      break;
    }
  }
  report(p, steps, now, damping);
  return status;
}

int main(int arguments, char **argument)
{
  placing p;
  look l;
  bool placed = false;
  abut_compact list = {.threshold = ACTIVITY_LEAST, .grows = true};
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* lines as they come, into a pipe, too */
  if (arguments != 4) {
    fprintf(stderr, "usage: gauss_newton A B OUT\n");
    return 2;
  }
  if (placing_open(&p, argument[1], argument[2], SOFTNESS) ||
      placing_save(&p, argument[3], "start") || descend(&p, &list, &l) ||
      placing_save(&p, argument[3], "end") || placing_judge(&p, l.gradient, &placed)) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  abut_free_compact(&list);
  return abut_destroy_context(p.context) != ABUT_SUCCESS || !placed;
}
