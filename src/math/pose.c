#include <abut/pose.h>

#include "base/error.h"
#include "base/ranges.h"
#include "math/rigid.h"
#include <float.h>
#include <math.h>

#define BLOCK_ROWS 8 /* rows of a contact: p, d, n, activity */

static size_t width_of(abut_pose_kind kind)
{
  return kind == ABUT_POSE_TWIST ? 6 : 7;
}

static double get(abut_precision precision, const void *array, size_t i)
{
  return precision == ABUT_FLOAT64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* Keeps finite numbers finite in float. */
static void put(abut_precision precision, void *array, size_t i, double x)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)array)[i] = x;
  } else if (isfinite(x) && fabs(x) > FLT_MAX) {
    ((float *)array)[i] = x > 0.0 ? FLT_MAX : -FLT_MAX;
  } else {
    ((float *)array)[i] = (float)x;
  }
}

static void get_row(abut_precision precision, const void *array, size_t first, size_t width,
                    double *row)
{
  for (size_t k = 0; k < width; ++k) {
    row[k] = get(precision, array, first + k);
  }
}

static void put_row(abut_precision precision, void *array, size_t first, size_t width,
                    const double *row)
{
  for (size_t k = 0; k < width; ++k) {
    put(precision, array, first + k, row[k]);
  }
}

static chart chart_of(abut_precision precision, abut_pose_kind kind, const void *poses, size_t i)
{
  double numbers[7];
  get_row(precision, poses, i * width_of(kind), width_of(kind), numbers);
  return chart_at(kind, numbers);
}

static void put_pose(abut_precision precision, abut_pose_kind kind, void *poses, size_t i,
                     const rigid *x)
{
  double numbers[7];
  rigid_numbers(x, kind, numbers);
  put_row(precision, poses, i * width_of(kind), width_of(kind), numbers);
}

/* ---- checks ---- */

static abut_status check_terms(abut_precision precision, abut_pose_kind kind)
{
  if (precision != ABUT_FLOAT32 && precision != ABUT_FLOAT64) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown precision %d", (int)precision);
  }
  return kind == ABUT_POSE_TWIST || kind == ABUT_POSE_QUATERNION
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown pose kind %d", (int)kind);
}

static abut_status check_frame(abut_frame frame)
{
  return (int)frame >= ABUT_FRAME_BODY && frame <= ABUT_FRAME_ALIGNED
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown frame %d", (int)frame);
}

/* An array of a call: rows of `width` reals. */
typedef struct pose_array {
  const char *name;
  const void *at;
  size_t width;
} pose_array;

static abut_status check_there(const char *name, size_t count, const void *one, const void *two,
                               const void *three)
{
  return !count || (one && two && three) ? ABUT_SUCCESS
                                         : fail(ABUT_ERROR_ARGUMENT, "%s: an array is NULL", name);
}

/* Refuses missing arrays, and an output that overlaps an input without coinciding with it. A call
 * with one input passes it twice. */
static abut_status check_arrays(const char *name, abut_precision precision, size_t count,
                                pose_array one, pose_array two, pose_array out)
{
  const pose_array arrays[] = {one, two, out};
  memory_range all[3];
  TRY(check_there(name, count, one.at, two.at, out.at));
  for (size_t i = 0; i < 3; ++i) {
    const pose_array *a = &arrays[i];
    const size_t real = precision == ABUT_FLOAT32 ? sizeof(float) : sizeof(double);
    all[i] = (memory_range){a->name, a->at, rows_bytes(count, a->width * real),
                            i < 2 ? MEMORY_REPLACED : MEMORY_WRITTEN};
  }
  return check_ranges(all, 3);
}

/* ---- poses ---- */

abut_status abut_pose_exp(abut_precision precision, size_t count, const void *twists, void *poses)
{
  TRY(check_terms(precision, ABUT_POSE_TWIST));
  TRY(check_arrays("abut_pose_exp", precision, count, (pose_array){"twists", twists, 6},
                   (pose_array){"twists", twists, 6}, (pose_array){"poses", poses, 7}));
  for (size_t i = 0; i < count; ++i) {
    const chart c = chart_of(precision, ABUT_POSE_TWIST, twists, i);
    put_pose(precision, ABUT_POSE_QUATERNION, poses, i, &c.x);
  }
  return ABUT_SUCCESS;
}

abut_status abut_pose_log(abut_precision precision, size_t count, const void *poses, void *twists)
{
  TRY(check_terms(precision, ABUT_POSE_TWIST));
  TRY(check_arrays("abut_pose_log", precision, count, (pose_array){"poses", poses, 7},
                   (pose_array){"poses", poses, 7}, (pose_array){"twists", twists, 6}));
  for (size_t i = 0; i < count; ++i) {
    const chart c = chart_of(precision, ABUT_POSE_QUATERNION, poses, i);
    put_pose(precision, ABUT_POSE_TWIST, twists, i, &c.x);
  }
  return ABUT_SUCCESS;
}

abut_status abut_pose_compose(abut_precision precision, abut_pose_kind kind, size_t count,
                              const void *left, const void *right, void *products)
{
  TRY(check_terms(precision, kind));
  TRY(check_arrays("abut_pose_compose", precision, count,
                   (pose_array){"left", left, width_of(kind)},
                   (pose_array){"right", right, width_of(kind)},
                   (pose_array){"products", products, width_of(kind)}));
  for (size_t i = 0; i < count; ++i) {
    const chart a = chart_of(precision, kind, left, i), b = chart_of(precision, kind, right, i);
    const rigid x = rigid_product(&a.x, &b.x);
    put_pose(precision, kind, products, i, &x);
  }
  return ABUT_SUCCESS;
}

abut_status abut_pose_invert(abut_precision precision, abut_pose_kind kind, size_t count,
                             const void *poses, void *inverses)
{
  TRY(check_terms(precision, kind));
  TRY(check_arrays("abut_pose_invert", precision, count,
                   (pose_array){"poses", poses, width_of(kind)},
                   (pose_array){"poses", poses, width_of(kind)},
                   (pose_array){"inverses", inverses, width_of(kind)}));
  for (size_t i = 0; i < count; ++i) {
    const chart c = chart_of(precision, kind, poses, i);
    const rigid x = rigid_inverse(&c.x);
    put_pose(precision, kind, inverses, i, &x);
  }
  return ABUT_SUCCESS;
}

/* Prevents overflow when the step is rotated; the limit is far beyond the saturation of lengths and
 * angles. */
static void limit_step(double xi[6])
{
  for (int i = 0; i < 6; ++i) {
    xi[i] = isfinite(xi[i]) ? fmax(-1e200, fmin(xi[i], 1e200)) : xi[i];
  }
}

abut_status abut_pose_step(abut_precision precision, abut_pose_kind kind, abut_frame frame,
                           size_t count, const void *poses, const void *steps, void *stepped)
{
  TRY(check_terms(precision, kind));
  TRY(check_frame(frame));
  TRY(check_arrays("abut_pose_step", precision, count, (pose_array){"poses", poses, width_of(kind)},
                   (pose_array){"steps", steps, 6},
                   (pose_array){"stepped", stepped, width_of(kind)}));
  for (size_t i = 0; i < count; ++i) {
    const chart at = chart_of(precision, kind, poses, i);
    double xi[6];
    get_row(precision, steps, 6 * i, 6, xi);
    if (frame == ABUT_FRAME_ALIGNED) { /* the same motion along the body's axes */
      limit_step(xi);
      rigid_turn_back(&at.x, xi, xi);
      rigid_turn_back(&at.x, xi + 3, xi + 3);
    }
    const chart step = chart_at(ABUT_POSE_TWIST, xi);
    const rigid x = frame == ABUT_FRAME_WORLD ? rigid_product(&step.x, &at.x)
                                              : rigid_product(&at.x, &step.x);
    put_pose(precision, kind, stepped, i, &x);
  }
  return ABUT_SUCCESS;
}

/* ---- gradients ---- */

/* Computes position x force, the difference between the moments about the world's and the body's
 * origin. */
static void lever(const rigid *x, const double force[3], double out[3])
{
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = x->t[j] * force[k] - x->t[k] * force[j];
  }
}

/* Converts a wrench from the body's frame to the convention of `frame`. */
static void to_frame(const rigid *x, abut_frame frame, double wrench[6])
{
  double more[3];
  if (frame == ABUT_FRAME_BODY) {
    return;
  }
  rigid_turn(x, wrench, wrench);
  rigid_turn(x, wrench + 3, wrench + 3);
  lever(x, wrench, more);
  for (int i = 0; frame == ABUT_FRAME_WORLD && i < 3; ++i) {
    wrench[3 + i] += more[i];
  }
}

static void from_frame(const rigid *x, abut_frame frame, double wrench[6])
{
  double more[3];
  if (frame == ABUT_FRAME_BODY) {
    return;
  }
  lever(x, wrench, more);
  for (int i = 0; frame == ABUT_FRAME_WORLD && i < 3; ++i) {
    wrench[3 + i] -= more[i];
  }
  rigid_turn_back(x, wrench, wrench);
  rigid_turn_back(x, wrench + 3, wrench + 3);
}

abut_status abut_gradient_to_frame(abut_precision precision, abut_pose_kind kind, abut_frame frame,
                                   size_t count, const void *poses, const void *gradients,
                                   void *steps)
{
  const size_t width = width_of(kind);
  TRY(check_terms(precision, kind));
  TRY(check_frame(frame));
  TRY(check_arrays("abut_gradient_to_frame", precision, count, (pose_array){"poses", poses, width},
                   (pose_array){"gradients", gradients, width}, (pose_array){"steps", steps, 6}));
  for (size_t i = 0; i < count; ++i) {
    const chart c = chart_of(precision, kind, poses, i);
    double gradient[7], wrench[6];
    get_row(precision, gradients, i * width, width, gradient);
    chart_wrench(&c, gradient, wrench);
    to_frame(&c.x, frame, wrench);
    put_row(precision, steps, 6 * i, 6, wrench);
  }
  return ABUT_SUCCESS;
}

abut_status abut_gradient_from_frame(abut_precision precision, abut_pose_kind kind,
                                     abut_frame frame, size_t count, const void *poses,
                                     const void *steps, void *gradients)
{
  const size_t width = width_of(kind);
  TRY(check_terms(precision, kind));
  TRY(check_frame(frame));
  TRY(check_arrays("abut_gradient_from_frame", precision, count,
                   (pose_array){"poses", poses, width}, (pose_array){"steps", steps, 6},
                   (pose_array){"gradients", gradients, width}));
  for (size_t i = 0; i < count; ++i) {
    const chart c = chart_of(precision, kind, poses, i);
    double gradient[7], wrench[6];
    get_row(precision, steps, 6 * i, 6, wrench);
    from_frame(&c.x, frame, wrench);
    chart_gradient(&c, wrench, gradient);
    put_row(precision, gradients, i * width, width, gradient);
  }
  return ABUT_SUCCESS;
}

/* ---- Jacobian blocks ---- */

/* The moving bodies, in the order of their columns. */
typedef struct movers {
  size_t count;
  size_t body[2]; /* 0 or 1 */
  const void *poses[2];
} movers;

static movers movers_of(abut_moving moving, const abut_batch *batch)
{
  const movers one = {1, {0}, {batch->pose1}};
  const movers two = {1, {1}, {batch->pose2}};
  const movers both = {2, {0, 1}, {batch->pose1, batch->pose2}};
  return moving == ABUT_BODY_1 ? one : moving == ABUT_BODY_2 ? two : both;
}

static size_t entries_of(const abut_compact *list)
{
  return list->count < list->capacity ? list->count : list->capacity;
}

static abut_status check_batch(const abut_batch *batch, abut_moving moving)
{
  if (!batch || batch->cookie != abut_default_batch().cookie || !batch->compact) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_jacobian_to_frame: the batch was not made by "
                                     "abut_default_batch, or has no compact list");
  }
  if (batch->memory != ABUT_MEMORY_HOST) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_jacobian_to_frame: the poses must be in host memory");
  }
  return (int)moving >= ABUT_BOTH_BODIES && moving <= ABUT_BODY_2
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown value %d for the bodies to move", (int)moving);
}

static abut_status check_entries(const abut_batch *batch, const movers *m, const void *blocks,
                                 const void *steps)
{
  const size_t entries = entries_of(batch->compact);
  TRY(check_there("abut_jacobian_to_frame", entries, batch->compact->pose, blocks, steps));
  TRY(check_there("abut_jacobian_to_frame", entries, m->poses[0], m->poses[m->count - 1], steps));
  for (size_t i = 0; i < entries; ++i) {
    if (batch->compact->pose[i] >= batch->count) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "entry %zu of the list names pose %u, but there are only %zu poses", i,
                  (unsigned)batch->compact->pose[i], batch->count);
    }
  }
  return ABUT_SUCCESS;
}

/* Refuses steps that overlap an input, unless they start where the blocks do. */
static abut_status check_steps(abut_precision precision, const abut_batch *batch, const movers *m,
                               const void *blocks, const void *steps)
{
  const size_t real = precision == ABUT_FLOAT32 ? sizeof(float) : sizeof(double);
  const size_t entries = entries_of(batch->compact), pose = width_of(batch->poses) * real;
  const memory_range all[] = {{"pose1", batch->pose1, rows_bytes(batch->count, pose), MEMORY_READ},
                              {"pose2", batch->pose2, rows_bytes(batch->count, pose), MEMORY_READ},
                              {"the list's pose", batch->compact->pose,
                               rows_bytes(entries, sizeof *batch->compact->pose), MEMORY_READ},
                              {"blocks", blocks == steps ? NULL : blocks,
                               rows_bytes(entries, BLOCK_ROWS * 2 * pose), MEMORY_READ},
                              {"steps", steps,
                               rows_bytes(entries, BLOCK_ROWS * 6 * m->count * real),
                               MEMORY_WRITTEN}};
  return check_ranges(all, sizeof all / sizeof *all);
}

/* Steps may overwrite blocks: each row is read before it is written, and output rows are no longer
 * than input rows. */
static void turn_row(abut_precision precision, abut_frame frame, const movers *m, const chart at[2],
                     const void *blocks, void *steps, size_t row)
{
  const size_t width = width_of(at[0].kind);
  double all[14], out[12];
  get_row(precision, blocks, row * 2 * width, 2 * width, all);
  for (size_t k = 0; k < m->count; ++k) {
    chart_wrench(&at[k], all + m->body[k] * width, out + 6 * k);
    to_frame(&at[k].x, frame, out + 6 * k);
  }
  put_row(precision, steps, row * 6 * m->count, 6 * m->count, out);
}

abut_status abut_jacobian_to_frame(abut_precision precision, abut_frame frame, abut_moving moving,
                                   const abut_batch *batch, const void *blocks, void *steps)
{
  TRY(check_batch(batch, moving));
  TRY(check_terms(precision, batch->poses));
  TRY(check_frame(frame));
  const abut_compact *list = batch->compact;
  const movers m = movers_of(moving, batch);
  const void *from = blocks ? blocks : list->blocks;
  TRY(check_entries(batch, &m, from, steps));
  TRY(check_steps(precision, batch, &m, from, steps));
  for (size_t i = 0; i < entries_of(list); ++i) {
    chart at[2];
    for (size_t k = 0; k < m.count; ++k) {
      at[k] = chart_of(precision, batch->poses, m.poses[k], list->pose[i]);
    }
    for (size_t row = 0; row < BLOCK_ROWS; ++row) {
      turn_row(precision, frame, &m, at, from, steps, BLOCK_ROWS * i + row);
    }
  }
  return ABUT_SUCCESS;
}
