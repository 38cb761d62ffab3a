/* Lays body B onto body A by a library's L-BFGS: lbfgs A B OUT
 *
 * What is minimised, over the six numbers of B's twist, is the height of B's centre, for a weight
 * of 1, the tether of placing.h, and two penalties: the square of what the soft minimum of the
 * vertices' distances lacks to a small gap, and the energy, which knows of edges. Both come with
 * their gradients from abut_gradient, by those same six numbers; forces of our own become gradients
 * by them through abut_gradient_from_frame.
 *
 * A body in free fall has no minimum nearby, and a line search would shoot through A. So it goes in
 * rounds, each of which also minimises the squared way since its begin: a body in honey.
 * OUT-start.npz and OUT-end.npz hold poses that `abut render` draws.
 */
#include "placing.h"

#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS_MOST = 100, ROUNDS_A_LINE = 10, ITERATIONS = 40 };

#define UNIT 0.01       /* of the size: what L-BFGS counts as 1 */
#define FALL 0.05       /* of the size: how far B falls in a round */
#define SOFTNESS 0.0005 /* of the size: so that the soft minimum is nearly the least distance */
#define GAP 0.002       /* of the size: nearer, the soft minimum costs */
#define SINK 0.0005     /* of the size: how far the weight pushes B into that */
#define WAY_LEAST 1e-4  /* of the size: of the last round */

typedef struct job {
  placing p;
  double begin[6]; /* twist at the begin of the round */
  double units[6]; /* of the twist's numbers: of L-BFGS's 1 */
  double soft;     /* least distance, softly [m] */
  size_t evaluations;
  abut_status status;
} job;

/* The penalty by a reduction, and its gradient. */
static abut_status add_reduction(job *j, const double twist[6], abut_reduction reduction,
                                 double *value, double gradient[6])
{
  const double size = j->p.size;
  double still[6] = {0.0}, reduced = 0.0, slope[6], by_value, by_slope;
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, slope};
  batch.count = 1;
  batch.pose1 = still;
  batch.pose2 = twist;
  if (reduction == ABUT_REDUCE_ENERGY) {
    batch.reductions.energy = &reduced;
  } else {
    batch.reductions.soft_minimum = &reduced;
  }
  const abut_status status =
    abut_gradient(j->p.pair, ABUT_SAME_PAIR, &batch, reduction, &gradients);
  if (reduction == ABUT_REDUCE_ENERGY) {
    by_slope = 5.0 / (SINK * size); /* edges share their contacts, at 0.1 to 0.3 each */
    by_value = by_slope * reduced;
  } else {
    const double lack = fmin(reduced - GAP * size, 0.0);
    j->soft = reduced;
    by_slope = lack / (SINK * size);
    by_value = 0.5 * by_slope * lack;
  }
  *value += by_value;
  for (int i = 0; i < 6; ++i) {
    gradient[i] += by_slope * slope[i];
  }
  return status;
}

/* Weight and tether: forces at B's centre, in B's frame, and then by the twist's numbers. */
static abut_status add_pulls(job *j, const double twist[6], double *value, double gradient[6])
{
  double pose[7], drift[2], slope[6], force[6], numbers[6];
  abut_status status = abut_pose_exp(ABUT_FLOAT64, 1, twist, pose);
  placing_drift(&j->p, pose, drift);
  placing_centre_slope(&j->p, pose, 2, force);
  *value += placing_height(&j->p, pose);
  for (int axis = 0; axis < 2; ++axis) {
    const double pull = drift[axis] / (PLACING_TETHER * j->p.size);
    *value += 0.5 * pull * drift[axis];
    placing_centre_slope(&j->p, pose, axis, slope);
    for (int i = 0; i < 6; ++i) {
      force[i] += pull * slope[i];
    }
  }
  status = status ? status
                  : abut_gradient_from_frame(ABUT_FLOAT64, ABUT_POSE_TWIST, ABUT_FRAME_BODY, 1,
                                             twist, force, numbers);
  for (int i = 0; !status && i < 6; ++i) {
    gradient[i] += numbers[i];
  }
  return status;
}

/* What is minimised but for the rounds. */
static abut_status look_at(job *j, const double twist[6], double *value, double gradient[6])
{
  abut_status status;
  *value = 0.0;
  memset(gradient, 0, 6 * sizeof *gradient);
  ++j->evaluations;
  if ((status = add_pulls(j, twist, value, gradient)) ||
      (status = add_reduction(j, twist, ABUT_REDUCE_SOFT_MINIMUM, value, gradient))) {
    return status;
  }
  return add_reduction(j, twist, ABUT_REDUCE_ENERGY, value, gradient);
}

/* Of x, the way since the begin of the round, in units. NaN ends the round. */
static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient,
                                const int count, const lbfgsfloatval_t length)
{
  job *j = user;
  const double unit = UNIT * j->p.size, honey = 1.0 / (FALL * j->p.size);
  double twist[6], slope[6] = {0.0}, value = 0.0;
  (void)length;
  (void)count; /* 6 */
  for (int i = 0; i < 6; ++i) {
    twist[i] = j->begin[i] + x[i] * j->units[i];
  }
  j->status = j->status ? j->status : look_at(j, twist, &value, slope);
  for (int i = 0; i < 6; ++i) {
    const double way = x[i] * unit;
    value += 0.5 * honey * way * way;
    gradient[i] = slope[i] * j->units[i] + honey * way * unit;
  }
  return j->status ? NAN : value;
}

/* One round from j->begin, which moves on; the way that B has gone, in *way. */
static abut_status do_round(job *j, double *way)
{
  lbfgs_parameter_t rules;
  double x[6] = {0.0}, value, sum = 0.0;
  lbfgs_parameter_init(&rules);
  rules.max_iterations = ITERATIONS;
  rules.epsilon = 0.003 * UNIT * j->p.size; /* of the weight */
  /* Whatever it ends with, x is the best that it has found. */
  lbfgs(6, x, &value, evaluate, NULL, j, &rules);
  for (int i = 0; i < 6; ++i) {
    sum += x[i] * x[i];
    j->begin[i] += x[i] * j->units[i];
  }
  *way = sqrt(sum) * UNIT * j->p.size;
  return j->status ? j->status : abut_pose_exp(ABUT_FLOAT64, 1, j->begin, j->p.pose[1]);
}

static abut_status descend(job *j, double rest[6])
{
  double way = HUGE_VAL, value, gradient[6];
  abut_status status = abut_pose_log(ABUT_FLOAT64, 1, j->p.pose[1], j->begin);
  int rounds = 0;
  for (int i = 0; i < 6; ++i) {
    j->units[i] = UNIT * j->p.size / (i < 3 ? 1.0 : j->p.lever);
  }
  while (!status && rounds < ROUNDS_MOST && way > WAY_LEAST * j->p.size) {
    status = do_round(j, &way);
    if (++rounds % ROUNDS_A_LINE == 1 || way <= WAY_LEAST * j->p.size) {
      printf("round %3d, %4zu evaluations: centre at %.4f m, least distance about %8.5f m\n",
             rounds, j->evaluations, placing_height(&j->p, j->p.pose[1]), j->soft);
    }
  }
  status = status ? status : look_at(j, j->begin, &value, gradient);
  return status ? status
                : abut_gradient_to_frame(ABUT_FLOAT64, ABUT_POSE_TWIST, ABUT_FRAME_BODY, 1,
                                         j->begin, gradient, rest);
}

int main(int arguments, char **argument)
{
  job j = {.evaluations = 0};
  double rest[6];
  bool placed = false;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* lines as they come, into a pipe, too */
  if (arguments != 4) {
    fprintf(stderr, "usage: lbfgs A B OUT\n");
    return 2;
  }
  if (placing_open(&j.p, argument[1], argument[2], SOFTNESS) ||
      placing_save(&j.p, argument[3], "start") || descend(&j, rest) ||
      placing_save(&j.p, argument[3], "end") || placing_judge(&j.p, rest, &placed)) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  return abut_destroy_context(j.p.context) != ABUT_SUCCESS || !placed;
}
