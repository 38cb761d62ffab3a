/* Pulls body B out of body A, from many starts at once: separate A B POSES OUT
 *
 * Gradient descent on the soft depth (minus the soft minimum of the vertices' distances) until no
 * vertex of either body lies inside the other. Takes the first 4096 poses; OUT-start.npz,
 * OUT-middle.npz and OUT-end.npz hold poses that `abut render` draws.
 *
 * A narrow soft minimum hears the deepest vertex alone, and two that push in opposite directions
 * hold the body fast. A broad one, of a tenth of the bodies' size, hears them all and finds a way.
 */
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STARTS_MOST = 4096, STEPS_MOST = 100, STEPS_A_LINE = 5 };

/* Where body B is and what was found there, for each start. */
typedef struct state {
  float pose[STARTS_MOST * 7], slope[STARTS_MOST * 7]; /* (count, width) */
  float soft[STARTS_MOST];    /* soft minimum of the distances, whose gradient is the slope [m] */
  float nearest[STARTS_MOST]; /* least distance of a vertex: minus the depth, or the gap [m] */
} state;

static state start, middle, now, trial;
static float fixed[STARTS_MOST * 7], step[STARTS_MOST]; /* poses of A; next steps' lengths [m] */
static size_t count, width; /* starts, and numbers of a pose: 6 or 7 */
static abut_pose_kind kind;
static float size;          /* larger bounding diagonal [m] */

/* Values and gradients of every start, in one call. */
static abut_status look(abut_pair pair, state *at)
{
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, at->slope};
  batch.count = count;
  batch.poses = kind;
  batch.pose1 = fixed;
  batch.pose2 = at->pose;
  batch.reductions.soft_minimum = at->soft;
  batch.reductions.minimum_distance = at->nearest;
  return abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
}

static void keep(state *to, const state *from, size_t i)
{
  memcpy(to->pose + i * width, from->pose + i * width, width * sizeof(float));
  memcpy(to->slope + i * width, from->slope + i * width, width * sizeof(float));
  to->soft[i] = from->soft[i];
  to->nearest[i] = from->nearest[i];
}

/* Turning counts as the way of a point a third of the size away, so that turning and shifting are
 * weighed alike in bodies of any size. A quaternion turns by twice its own change. */
static void propose(size_t i)
{
  const float *from = now.pose + i * width, *slope = now.slope + i * width;
  const float third = (kind == ABUT_POSE_TWIST ? 1.0f : 2.0f) * size / 3.0f;
  float way[7], square = 0.0f;
  for (size_t k = 0; k < width; ++k) {
    const float lever = k < 3 ? 1.0f : third;
    way[k] = slope[k] / (lever * lever);
    square += slope[k] * way[k];
  }
  for (size_t k = 0; k < width; ++k) {
    trial.pose[i * width + k] = from[k] + (square > 0.0f ? step[i] * way[k] / sqrtf(square) : 0.0f);
  }
}

/* Goes on from what was tried where that is better; else the next try goes half as far. */
static void judge(size_t i)
{
  if (trial.soft[i] > now.soft[i]) {
    keep(&now, &trial, i);
    step[i] = fminf(1.5f * step[i], 0.03f * size);
  } else {
    step[i] *= 0.5f;
  }
  if (now.nearest[i] <= 0.5f * start.nearest[i]) {
    keep(&middle, &now, i); /* the last place of at least half the depth */
  }
}

static size_t report(int steps)
{
  size_t apart = 0;
  float mean = 0.0f, deepest = 0.0f;
  for (size_t i = 0; i < count; ++i) {
    apart += now.nearest[i] > 0.0f;
    mean += fmaxf(-now.nearest[i], 0.0f) / (float)count;
    deepest = fmaxf(-now.nearest[i], deepest);
  }
  if (steps % STEPS_A_LINE == 0 || apart == count) {
    printf("step %3d: %zu of %zu apart, depth %.4f m in the mean, %.4f m at most\n", steps, apart,
           count, mean, deepest);
  }
  return apart;
}

static abut_status descend(abut_pair pair)
{
  abut_status status = look(pair, &now);
  start = middle = now;
  for (size_t i = 0; i < count; ++i) {
    step[i] = 0.01f * size;
  }
  for (int steps = 0; !status && report(steps) < count && steps < STEPS_MOST; ++steps) {
    for (size_t i = 0; i < count; ++i) {
      propose(i);
    }
    status = look(pair, &trial);
    for (size_t i = 0; i < count; ++i) {
      if (!(now.nearest[i] > 0.0f)) { /* what is apart stays where it is */
        judge(i);
      }
    }
  }
  return status;
}

static abut_status load_pair(abut_context context, char **bodies, abut_pair *pair)
{
  abut_body a, b;
  abut_body_info info[2];
  abut_smoothing smoothing;
  abut_status status;
  if ((status = abut_load_body(context, bodies[0], &a)) ||
      (status = abut_load_body(context, bodies[1], &b)) ||
      (status = abut_get_body_info(a, &info[0])) || (status = abut_get_body_info(b, &info[1])) ||
      (status = abut_fit_smoothing(a, b, &smoothing))) {
    return status;
  }
  size = (float)fmax(info[0].diagonal, info[1].diagonal);
  smoothing.penetration = 0.1 * size; /* the soft minimum's temperature */
  return abut_create_pair(a, b, &smoothing, pair);
}

static abut_status load_poses(const char *path)
{
  abut_poses poses;
  const abut_status status = abut_load_poses(path, &poses);
  if (status) {
    return status;
  }
  kind = poses.kind;
  width = kind == ABUT_POSE_TWIST ? 6 : 7;
  count = poses.count < STARTS_MOST ? poses.count : STARTS_MOST;
  for (size_t i = 0; i < count * width; ++i) {
    fixed[i] = (float)poses.pose1[i];
    now.pose[i] = (float)poses.pose2[i];
  }
  abut_free_poses(&poses);
  return ABUT_SUCCESS;
}

static abut_status save(const char *out, const char *name, const state *at)
{
  char path[4096];
  const bool twist = kind == ABUT_POSE_TWIST;
  const abut_array arrays[2] = {
    {twist ? "s1" : "pose1", ABUT_ARRAY_FLOAT32, 2, {count, width}, fixed},
    {twist ? "s2" : "pose2", ABUT_ARRAY_FLOAT32, 2, {count, width}, at->pose}};
  snprintf(path, sizeof path, "%s-%s.npz", out, name);
  return abut_write_npz(path, arrays, 2);
}

int main(int arguments, char **argument)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_pair pair;
  if (arguments != 5) {
    fprintf(stderr, "usage: separate A B POSES OUT\n");
    return 2;
  }
  if (abut_create_context(&def, &context) || load_pair(context, argument + 1, &pair) ||
      load_poses(argument[3]) || descend(pair) || save(argument[4], "start", &start) ||
      save(argument[4], "middle", &middle) || save(argument[4], "end", &now)) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  return abut_destroy_context(context) != ABUT_SUCCESS;
}
