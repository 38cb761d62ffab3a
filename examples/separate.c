/* Pulls body B out of body A, from many starts at once: separate A B POSES OUT
 *
 * Gradient descent on the soft depth (minus the soft minimum of the vertices' distances) until no
 * vertex of either body lies inside the other. Takes the first 4096 poses; OUT-start.npz,
 * OUT-middle.npz and OUT-end.npz hold poses that `abut render` draws.
 *
 * The whole descent stays on the devices, in a state: poses, slopes, the length of each start's
 * next step, and what is better so far. The host reads no more than how deep the bodies are, every
 * five steps, to report and to end; the last line of output counts the bytes of all steps between.
 *
 * A narrow soft minimum hears the deepest vertex alone, and two that push in opposite directions
 * hold the body fast. A broad one, of a tenth of the bodies' size, hears them all and finds a way.
 */
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { STARTS_MOST = 4096, STEPS_MOST = 100, STEPS_A_LINE = 5 };

/* The state's arrays. What is found at a pose: the slope of the soft minimum of all distances, that
 * minimum, and the least distance of a vertex, which is minus the depth, or the gap [m]. */
enum {
  FIXED, /* poses of A */
  POSE,
  SLOPE,
  SOFT,
  NEAREST, /* of B now */
  TRIAL,
  TRIAL_SLOPE,
  TRIAL_SOFT,
  TRIAL_NEAREST,
  MIDDLE,
  HALF, /* the last place of at least half the depth; minus that */
  WEIGHTS,
  WAY,
  STEP,
  LONGER,
  LONGEST, /* of the next step */
  NONE,    /* zeros */
  ARRAYS
};

static abut_state state;
static abut_state_array array[ARRAYS];
static float rows[STARTS_MOST * 7], nearest[STARTS_MOST]; /* on their way up or down */
static float starts[STARTS_MOST * 7], fixed[STARTS_MOST * 7];
static size_t count, width; /* starts, and numbers of a pose: 6 or 7 */
static abut_pose_kind kind;
static float size; /* larger bounding diagonal [m] */

static abut_status create(abut_context context)
{
  size_t widths[ARRAYS];
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    widths[i] = i == FIXED || i == POSE || i == SLOPE || i == TRIAL || i == TRIAL_SLOPE ||
                    i == MIDDLE || i == WEIGHTS || i == WAY
                  ? width
                  : 1;
  }
  const abut_status status = abut_create_state(context, count, widths, ARRAYS, NULL, &state);
  for (uint32_t i = 0; !status && i < ARRAYS; ++i) {
    array[i] = (abut_state_array){state, i};
  }
  return status;
}

/* The same row for every start. */
static abut_status put(int which, size_t reals, const float *row)
{
  for (size_t i = 0; i < count * reals; ++i) {
    rows[i] = row[i % reals];
  }
  return abut_write_state(array[which], 0, count, rows);
}

/* Turning counts as the way of a point a third of the size away, so that turning and shifting are
 * weighed alike in bodies of any size. A quaternion turns by twice its own change. */
static abut_status fill(void)
{
  const float lever = (kind == ABUT_POSE_TWIST ? 1.0f : 2.0f) * size / 3.0f;
  const float turn = 1.0f / (lever * lever), first = 0.01f * size, longest = 0.03f * size;
  const float weights[7] = {1.0f, 1.0f, 1.0f, turn, turn, turn, turn};
  abut_status status;
  if ((status = abut_write_state(array[FIXED], 0, count, fixed)) ||
      (status = abut_write_state(array[POSE], 0, count, starts)) ||
      (status = abut_write_state(array[MIDDLE], 0, count, starts)) ||
      (status = put(WEIGHTS, width, weights)) || (status = put(STEP, 1, &first)) ||
      (status = put(LONGEST, 1, &longest))) {
    return status;
  }
  return ABUT_SUCCESS;
}

/* Values and gradients of every start, in one call: four arrays from `pose` on. */
static abut_status look(abut_pair pair, int pose)
{
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, &array[pose + 1]};
  batch.count = count;
  batch.memory = ABUT_MEMORY_STATE;
  batch.poses = kind;
  batch.pose1 = &array[FIXED];
  batch.pose2 = &array[pose];
  batch.reductions.soft_minimum = &array[pose + 2];
  batch.reductions.minimum_distance = &array[pose + 3];
  return abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
}

/* A step up the slope; what is apart stays where it is. */
static abut_status propose(void)
{
  abut_status status;
  if ((status = abut_choose_state(array[STEP], array[NONE], array[NEAREST], array[NONE])) ||
      (status = abut_steepest_state(array[WAY], array[SLOPE], array[WEIGHTS])) ||
      (status = abut_multiply_state(array[WAY], array[WAY], array[STEP])) ||
      (status = abut_combine_state(array[TRIAL], 0.0, array[POSE], 1.0))) {
    return status;
  }
  return abut_combine_state(array[TRIAL], 1.0, array[WAY], 1.0);
}

/* Goes on from what was tried where that is better; else the next try goes half as far. */
static abut_status judge(void)
{
  abut_status status;
  if ((status = abut_combine_state(array[LONGER], 0.0, array[STEP], 1.5)) ||
      (status = abut_choose_state(array[LONGER], array[LONGEST], array[LONGER], array[LONGEST])) ||
      (status = abut_combine_state(array[STEP], 0.5, array[STEP], 0.0)) ||
      (status = abut_choose_state(array[STEP], array[LONGER], array[TRIAL_SOFT], array[SOFT]))) {
    return status;
  }
  static const int better[] = {POSE, SLOPE, NEAREST, SOFT}; /* by which it is judged: last */
  for (int i = 0; !status && i < 4; ++i) {
    status = abut_choose_state(array[better[i]], array[better[i] + TRIAL - POSE], array[TRIAL_SOFT],
                               array[SOFT]);
  }
  return status ? status
                : abut_choose_state(array[MIDDLE], array[POSE], array[HALF], array[NEAREST]);
}

/* How many are apart, in *apart. */
static abut_status report(int steps, size_t *apart)
{
  float mean = 0.0f, deepest = 0.0f;
  const abut_status status = abut_read_state(array[NEAREST], 0, count, nearest);
  *apart = 0;
  for (size_t i = 0; !status && i < count; ++i) {
    *apart += nearest[i] > 0.0f;
    mean += fmaxf(-nearest[i], 0.0f) / (float)count;
    deepest = fmaxf(-nearest[i], deepest);
  }
  if (!status) {
    printf("step %3d: %zu of %zu apart, depth %.4f m in the mean, %.4f m at most\n", steps, *apart,
           count, mean, deepest);
  }
  return status;
}

/* Up to the next report; adds to *moved what goes up to devices and down from them meanwhile. */
static abut_status go_on(abut_context context, abut_pair pair, uint64_t *moved)
{
  abut_counters before, after;
  abut_status status = abut_get_counters(context, &before);
  for (int i = 0; !status && i < STEPS_A_LINE; ++i) {
    if ((status = propose()) || (status = look(pair, TRIAL))) {
      return status;
    }
    status = judge();
  }
  status = status ? status : abut_get_counters(context, &after);
  *moved += status ? 0 : after.bytes_up + after.bytes_down - before.bytes_up - before.bytes_down;
  return status;
}

static double seconds(void)
{
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A device that fails costs what was done since the state was saved last: it is done again. */
static abut_status descend(abut_context context, abut_pair pair)
{
  size_t apart = 0;
  uint64_t moved = 0;
  int steps = 0;
  abut_status status = look(pair, POSE); /* kernels are built */
  const double begin = seconds();
  if (status || (status = look(pair, POSE)) ||
      (status = abut_combine_state(array[HALF], 0.0, array[NEAREST], 0.5)) ||
      (status = abut_save_state(state)) || (status = report(0, &apart))) {
    return status;
  }
  while (apart < count && steps < STEPS_MOST) {
    status = go_on(context, pair, &moved);
    status = status ? status : report(steps + STEPS_A_LINE, &apart);
    status = status ? status : abut_save_state(state);
    if (status == ABUT_ERROR_STATE) {
      fprintf(stderr, "%s\n", abut_last_error());
    } else if (status) {
      return status;
    } else {
      steps += STEPS_A_LINE;
    }
  }
  printf("%.3f s\n", seconds() - begin);
  printf("%llu bytes went up or down in %d steps\n", (unsigned long long)moved, steps);
  return ABUT_SUCCESS;
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
    starts[i] = (float)poses.pose2[i];
  }
  abut_free_poses(&poses);
  return ABUT_SUCCESS;
}

static abut_status save(const char *out, const char *name, const float *poses)
{
  char path[4096];
  const bool twist = kind == ABUT_POSE_TWIST;
  const abut_array arrays[2] = {
    {twist ? "s1" : "pose1", ABUT_ARRAY_FLOAT32, 2, {count, width}, fixed},
    {twist ? "s2" : "pose2", ABUT_ARRAY_FLOAT32, 2, {count, width}, poses}};
  snprintf(path, sizeof path, "%s-%s.npz", out, name);
  return abut_write_npz(path, arrays, 2);
}

static abut_status save_array(const char *out, const char *name, int which)
{
  const abut_status status = abut_read_state(array[which], 0, count, rows);
  return status ? status : save(out, name, rows);
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
      load_poses(argument[3]) || create(context) || fill() || descend(context, pair) ||
      save(argument[4], "start", starts) || save_array(argument[4], "middle", MIDDLE) ||
      save_array(argument[4], "end", POSE)) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  return abut_destroy_context(context) != ABUT_SUCCESS;
}
