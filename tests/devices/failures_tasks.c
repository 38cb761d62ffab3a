/* Every kind of call, with its answer. */
#include "failures.h"

#include "brick.h"
#include "core/scene.h"
#include <math.h>
#include <string.h>

#define QUERIES 40
#define WIDTH 24
#define HEIGHT 18
#define LIST 1024

/* The same poses for every call: near and in one another, and one that is rejected. */
static void start_batch(answer *out, abut_batch *batch, double poses[2][POSES * 7])
{
  uint64_t seed = 5;
  for (size_t i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.2, &poses[0][7 * i]);
    random_pose(&seed, 0.4, &poses[1][7 * i]);
  }
  poses[1][7 * 9] = NAN;
  start_answer(out);
  *batch = abut_default_batch();
  batch->count = POSES;
  batch->poses = ABUT_POSE_QUATERNION;
  batch->pose1 = poses[0];
  batch->pose2 = poses[1];
}

static abut_status end_batch(answer *out, const abut_batch *batch, abut_status status)
{
  out->failures = batch->failures;
  out->rejected = batch->rejected;
  return status;
}

static void make_list(answer *out, abut_compact *list)
{
  *list = (abut_compact){.threshold = 0.02, .capacity = LIST};
  list->pose = room(out, LIST, sizeof(uint32_t), -1.0);
  list->slot = room(out, LIST, sizeof(uint32_t), -1.0);
  list->feature = room(out, 2 * LIST, sizeof(uint32_t), -1.0);
  list->p = room(out, 3 * LIST, sizeof(double), -1.0);
  list->d = room(out, LIST, sizeof(double), -1.0);
}

/* Two pairs, and entries of the first beside each other and apart. */
static void mix(const world *w, abut_batch *batch, abut_pair pairs[2], uint32_t pair[POSES])
{
  pairs[0] = w->other;
  pairs[1] = w->pair;
  for (size_t i = 0; i < POSES; ++i) {
    pair[i] = i < POSES / 2 ? i % 3 > 0 : 0;
  }
  batch->pairs = pairs;
  batch->pair_count = 2;
  batch->pair = pair;
}

static abut_status run_values(const world *w, bool mixed, answer *out)
{
  double poses[2][POSES * 7];
  abut_pair pairs[2];
  uint32_t pair[POSES];
  abut_batch batch;
  abut_layout layout;
  abut_compact list;
  start_batch(out, &batch, poses);
  const abut_status status = abut_get_layout(w->pair, &layout);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  if (mixed) {
    mix(w, &batch, pairs, pair);
  }
  const size_t all = POSES * layout.contacts;
  batch.p = room(out, 3 * all, sizeof(double), 1e-9);
  batch.d = room(out, all, sizeof(double), 1e-9);
  batch.n = room(out, 3 * all, sizeof(double), 1e-8);
  batch.activity = room(out, all, sizeof(double), 1e-9);
  batch.weight = room(out, all, sizeof(double), 1e-9);
  batch.status = room(out, POSES, 1, -1.0);
  batch.reductions.energy = room(out, POSES, sizeof(double), 1e-9);
  batch.reductions.soft_minimum = room(out, POSES, sizeof(double), 1e-9);
  batch.reductions.distance = room(out, POSES, sizeof(double), 1e-9);
  make_list(out, &list);
  batch.compact = &list;
  return end_batch(out, &batch, abut_contacts(mixed ? ABUT_BATCH_PAIRS : w->pair, &batch));
}

static abut_status run_contacts(const world *w, answer *out)
{
  return run_values(w, false, out);
}

static abut_status run_mixed(const world *w, answer *out)
{
  return run_values(w, true, out);
}

/* A pair of the bodies whose edges are in fields, which is made and goes again. */
static abut_status make_fields(const world *w, abut_pair *pair, abut_layout *layout)
{
  abut_smoothing s = smoothing_of_pair();
  s.select = ABUT_SELECT_GATE;
  s.edge_contacts = ABUT_EDGES_FIELD;
  const abut_status status = abut_create_pair(w->bodies[0], w->bodies[1], &s, pair);
  return status == ABUT_SUCCESS ? abut_get_layout(*pair, layout) : status;
}

static abut_status run_fields(const world *w, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_pair pair;
  abut_layout layout;
  start_batch(out, &batch, poses);
  abut_status status = make_fields(w, &pair, &layout);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  const size_t all = POSES * layout.contacts;
  batch.p = room(out, 3 * all, sizeof(double), 1e-9);
  batch.d = room(out, all, sizeof(double), 1e-9);
  batch.activity = room(out, all, sizeof(double), 1e-9);
  batch.weight = room(out, all, sizeof(double), 1e-9);
  batch.reductions.energy = room(out, POSES, sizeof(double), 1e-9);
  status = end_batch(out, &batch, abut_contacts(pair, &batch));
  CHECK_OK(abut_destroy_pair(pair));
  return status;
}

static abut_status run_fields_vjp(const world *w, answer *out)
{
  enum { MOST = 32 };
  static double bars[3 * MOST * POSES], along[POSES * 7];
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_pair pair;
  abut_layout layout;
  start_batch(out, &batch, poses);
  abut_status status = make_fields(w, &pair, &layout);
  if (status != ABUT_SUCCESS ||
      !check(layout.contacts <= MOST, "%zu contacts are too many", layout.contacts)) {
    return status;
  }
  for (size_t i = 0; i < sizeof bars / sizeof *bars; ++i) {
    bars[i] = sin((double)i);
    along[i % (POSES * 7)] = cos((double)i);
  }
  const abut_cotangents cotangents = {.p = bars, .d = bars, .activity = bars},
                        tangents = {.d = bars};
  const abut_pose_tangents of_poses = {along, NULL};
  const abut_gradients gradients = {room(out, POSES * 7, sizeof(double), 1e-7), NULL};
  const abut_gradients seconds = {NULL, room(out, POSES * 7, sizeof(double), 1e-5)};
  status = end_batch(out, &batch,
                     abut_vjp_tangent(pair, &batch, &cotangents, &tangents, &of_poses, &gradients,
                                      &seconds));
  CHECK_OK(abut_destroy_pair(pair));
  return status;
}

static abut_status run_gradient(const world *w, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  start_batch(out, &batch, poses);
  const abut_gradients gradients = {room(out, POSES * 7, sizeof(double), 1e-7),
                                    room(out, POSES * 7, sizeof(double), 1e-7)};
  batch.reductions.soft_minimum = room(out, POSES, sizeof(double), 1e-9);
  return end_batch(out, &batch,
                   abut_gradient(w->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM,
                                 &gradients));
}

static abut_status run_jvp(const world *w, answer *out)
{
  static double along[POSES * 7];
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_layout layout;
  start_batch(out, &batch, poses);
  const abut_status status = abut_get_layout(w->pair, &layout);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  for (size_t i = 0; i < POSES * 7; ++i) {
    along[i] = sin((double)i);
  }
  const abut_pose_tangents tangents = {NULL, along};
  const abut_tangents wanted = {.d = room(out, POSES * layout.contacts, sizeof(double), -1.0)};
  return end_batch(out, &batch, abut_jvp(w->pair, ABUT_SAME_PAIR, &batch, &tangents, &wanted));
}

/* By the superquadrics and vertices of body 1. */
static abut_status run_shapes(const world *w, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_shape_sizes sizes;
  start_batch(out, &batch, poses);
  const abut_status status = abut_get_shape_sizes(w->bodies[0], &sizes);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  const abut_shape_gradients to = {.vertices = room(out, 3 * sizes.vertices, sizeof(double), 1e-7),
                                   .axes =
                                     room(out, 3 * sizes.superquadrics, sizeof(double), 1e-7)};
  return end_batch(out, &batch,
                   abut_shape_gradient(w->pair, &batch, ABUT_REDUCE_MEAN_DISTANCE, &to, NULL,
                                       ABUT_SHAPE_SUMS));
}

/* Along a direction of the same numbers, of each pose; the mesh follows. */
static abut_status run_shapes_along(const world *w, answer *out)
{
  enum { MOST = 24 * POSES }; /* of the eight vertices of the cubes, and more than their axes */
  static double numbers[2][MOST];
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_layout layout;
  start_batch(out, &batch, poses);
  const abut_status status = abut_get_layout(w->pair, &layout);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  for (size_t i = 0; i < MOST; ++i) {
    numbers[0][i] = sin((double)i);
    numbers[1][i] = cos((double)i);
  }
  const abut_shape_tangents along = {.vertices = numbers[0], .axes = numbers[1]};
  const abut_tangents wanted = {.d = room(out, POSES * layout.contacts, sizeof(double), 1e-7)};
  return end_batch(out, &batch,
                   abut_shape_jvp(w->pair, &batch, &along, NULL, NULL, &wanted,
                                  ABUT_SHAPE_EACH_POSE | ABUT_SHAPE_FOLLOW));
}

/* Normals bend so much that second derivatives reach 1e7. */
static abut_status run_vjp_tangent(const world *w, answer *out)
{
  enum { MOST = 200 };
  static double bars[3 * MOST * POSES], along[POSES * 7];
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_layout layout;
  start_batch(out, &batch, poses);
  const abut_status status = abut_get_layout(w->pair, &layout);
  if (status != ABUT_SUCCESS ||
      !check(layout.contacts <= MOST, "%zu contacts are too many", layout.contacts)) {
    return status;
  }
  for (size_t i = 0; i < sizeof bars / sizeof *bars; ++i) {
    bars[i] = sin((double)i);
    along[i % (POSES * 7)] = cos((double)i);
  }
  const abut_cotangents cotangents = {.d = bars, .n = bars}, tangents = {.n = bars, .p = bars};
  const abut_pose_tangents of_poses = {along, NULL};
  const abut_gradients gradients = {room(out, POSES * 7, sizeof(double), 1e-7), NULL};
  const abut_gradients seconds = {NULL, room(out, POSES * 7, sizeof(double), 1e-5)};
  return end_batch(out, &batch,
                   abut_vjp_tangent(w->pair, &batch, &cotangents, &tangents, &of_poses, &gradients,
                                    &seconds));
}

static abut_status run_hessian(const world *w, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  start_batch(out, &batch, poses);
  const abut_gradients gradients = {NULL, room(out, POSES * 7, sizeof(double), -1.0)};
  void *hessian = room(out, POSES * 14 * 14, sizeof(double), -1.0);
  batch.status = room(out, POSES, 1, -1.0);
  return end_batch(out, &batch,
                   abut_hessian(w->pair, &batch, ABUT_REDUCE_SOFT_MINIMUM, ABUT_BOTH_BODIES,
                                &gradients, hessian));
}

static abut_status run_blocks(const world *w, size_t count, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_compact list;
  start_batch(out, &batch, poses);
  make_list(out, &list);
  batch.compact = &list;
  batch.count = count;
  list.capacity = LIST / 8;
  void *blocks = room(out, LIST / 8 * 8 * 14, sizeof(double), -1.0);
  return end_batch(out, &batch, abut_jacobian(w->pair, ABUT_SAME_PAIR, &batch, blocks));
}

/* The library's own arrays, of which there is nothing where the call fails. */
static abut_status run_growing(const world *w, answer *out)
{
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_compact list = {.threshold = 0.02, .grows = true};
  start_batch(out, &batch, poses);
  uint32_t *places = room(out, 2 * LIST, sizeof(uint32_t), -1.0);
  double *blocks = room(out, LIST / 8 * 8 * 14, sizeof(double), -1.0);
  batch.compact = &list;
  batch.count = BLOCK_POSES;
  const abut_status status =
    end_batch(out, &batch, abut_jacobian(w->pair, ABUT_SAME_PAIR, &batch, NULL));
  check(list.count <= LIST / 8, "%zu blocks", list.count);
  check(status == ABUT_SUCCESS || (!list.count && !list.pose && !list.blocks),
        "a call that fails leaves %zu blocks", list.count);
  for (size_t i = 0; i < list.count && i < LIST / 8; ++i) {
    places[2 * i] = list.pose[i];
    places[2 * i + 1] = list.slot[i];
    memcpy(blocks + i * 8 * 14, (double *)list.blocks + i * 8 * 14, 8 * 14 * sizeof(double));
  }
  abut_free_compact(&list);
  return status;
}

static abut_status run_jacobian(const world *w, answer *out)
{
  return run_blocks(w, 1, out);
}

static abut_status run_jacobians(const world *w, answer *out)
{
  return run_blocks(w, BLOCK_POSES, out);
}

/* Inputs of queries last as long as a launch that hangs. */
static abut_status run_field(const world *w, answer *out)
{
  static double points[3 * QUERIES];
  start_answer(out);
  for (size_t i = 0; i < 3 * QUERIES; ++i) {
    points[i] = sin(1.0 + (double)i);
  }
  return abut_evaluate_body(w->bodies[0], 1e-2, 1e-2, QUERIES, points,
                            room(out, QUERIES, sizeof(double), 1e-9),
                            room(out, 3 * QUERIES, sizeof(double), 1e-8));
}

static abut_status run_witness(const world *w, answer *out)
{
  static double edges[2][6 * QUERIES];
  const abut_smoothing smoothing = abut_default_smoothing();
  start_answer(out);
  for (size_t i = 0; i < 6 * QUERIES; ++i) {
    edges[0][i] = sin(2.0 + (double)i);
    edges[1][i] = cos(1.0 + (double)(i * i));
  }
  return abut_witness_edges(w->context, &smoothing, QUERIES, edges[0], edges[1],
                            room(out, 3 * QUERIES, sizeof(double), 1e-9),
                            room(out, 3 * QUERIES, sizeof(double), 1e-9),
                            room(out, QUERIES, sizeof(double), 1e-9));
}

/* A contact on a free point each: some stick, some slide, some let go. */
static abut_status run_lcp(const world *w, answer *out)
{
  static double A[9 * QUERIES], b[3 * QUERIES], mu[3 * QUERIES];
  static const int32_t parent[3] = {ABUT_LCP_NORMAL, 0, 0};
  abut_lcp p = abut_default_lcp();
  start_answer(out);
  for (size_t i = 0; i < 3 * QUERIES; ++i) {
    A[3 * i + i % 3] = 1.0 + (double)(i % 5);
    b[i] = sin(2.0 + (double)(i * i));
    mu[i] = 0.5;
  }
  p.count = QUERIES;
  p.rows = 3;
  p.A = A;
  p.b = b;
  p.mu = mu;
  p.parent = parent;
  p.f = room(out, 3 * QUERIES, sizeof(double), 1e-12);
  p.w = room(out, 3 * QUERIES, sizeof(double), 1e-12);
  p.classes = room(out, 3 * QUERIES, sizeof(int32_t), 0.0);
  const abut_status status = abut_solve_lcp(w->context, &p);
  out->failures = p.failures;
  return status;
}

static abut_status run_render(const world *w, answer *out)
{
  static const double pose1[6] = {0}, pose2[6] = {0.1, 0.2, 0.6, 0.1, 0.2, 0.3};
  abut_view view = abut_default_view();
  view.width = WIDTH;
  view.height = HEIGHT;
  start_answer(out);
  return abut_render(w->pair, ABUT_POSE_TWIST, pose1, pose2, &view,
                     room(out, 3 * WIDTH * HEIGHT, 1, -1.0));
}

/* A body of the pair, and one that it lacks, for which a pair is made and goes again. */
static abut_status run_render_with(const world *w, answer *out)
{
  static const double pose1[6] = {0}, pose2[6] = {0.1, 0.2, 0.6, 0.1, 0.2, 0.3};
  static const double half[3] = {0.4, 0.4, 0.2};
  const abut_superquadric solid = {{0.4, 0.4, 0.2}, {0.1, 0.1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  double vertices[24];
  abut_body_def def;
  abut_body other;
  abut_view view = abut_default_view();
  view.width = WIDTH;
  view.height = HEIGHT;
  start_answer(out);
  uint8_t *rgb = room(out, 3 * WIDTH * HEIGHT, 1, -1.0);
  cube_def(half, vertices, &def);
  def.superquadrics = &solid;
  def.superquadric_count = 1;
  abut_status status = abut_create_body(w->context, &def, &other);
  if (status == ABUT_SUCCESS) {
    const abut_placed_body others[3] = {{w->bodies[0], {0.0, 1.0, 0.0, 1.0}},
                                        {other, {0.0, -1.0, 0.0, 1.0, 0.5}},
                                        {other, {0.0, 0.0, -1.0, 1.0}}};
    status = abut_render_with(w->pair, ABUT_POSE_TWIST, pose1, pose2, others, 3, &view, rgb);
    CHECK_OK(abut_destroy_body(other));
  }
  return status;
}

/* ---- a loop on a state ---- */

enum { POSE1, POSE2, SLOPE, SOFT, LOOP_ARRAYS };
enum { LOOP_STEPS = 3, SAVED_AFTER = 1 };

typedef struct loop loop;
struct loop {
  abut_status (*step)(const world *w, loop *l);
  abut_state state;
  abut_state_array arrays[LOOP_ARRAYS];
  size_t failures;
};

static abut_status start_loop(const world *w, loop *l)
{
  static const size_t widths[LOOP_ARRAYS] = {7, 7, 7, 1};
  static answer unused; /* 1 MiB */
  double poses[2][POSES * 7];
  abut_batch batch;
  start_batch(&unused, &batch, poses);
  abut_status status = abut_create_state(w->context, POSES, widths, LOOP_ARRAYS, NULL, &l->state);
  if (status != ABUT_SUCCESS) {
    l->state = (abut_state){0, 0};
    return status;
  }
  for (uint32_t i = 0; i < LOOP_ARRAYS; ++i) {
    l->arrays[i] = (abut_state_array){l->state, i};
  }
  status = abut_write_state(l->arrays[POSE1], 0, POSES, poses[0]);
  return status == ABUT_SUCCESS ? abut_write_state(l->arrays[POSE2], 0, POSES, poses[1]) : status;
}

/* Two changes, with few calls of OpenCL. */
static abut_status step_alone(const world *w, loop *l)
{
  (void)w;
  const abut_status status =
    abut_multiply_state(l->arrays[SLOPE], l->arrays[POSE2], l->arrays[POSE1]);
  return status == ABUT_SUCCESS ? abut_combine_state(l->arrays[POSE2], 1.0, l->arrays[SLOPE], 0.01)
                                : status;
}

static abut_status step_down(const world *w, loop *l)
{
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, &l->arrays[SLOPE]};
  batch.count = POSES;
  batch.memory = ABUT_MEMORY_STATE;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = &l->arrays[POSE1];
  batch.pose2 = &l->arrays[POSE2];
  batch.reductions.soft_minimum = &l->arrays[SOFT];
  const abut_status status =
    abut_gradient(w->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
  l->failures += batch.failures;
  return status == ABUT_SUCCESS ? abut_combine_state(l->arrays[POSE2], 1.0, l->arrays[SLOPE], 0.01)
                                : status;
}

/* Where it stands, by its number of changes: two a step. Right only between steps. */
static abut_status steps_done(const loop *l, uint64_t *done)
{
  abut_state_info info;
  const abut_status status = abut_get_state_info(l->state, &info);
  *done = info.changes / 2;
  return status;
}

/* Goes on from where a failure has led back to. */
static abut_status do_loop(const world *w, loop *l, void *const to[LOOP_ARRAYS])
{
  abut_status status = ABUT_SUCCESS;
  for (uint64_t done = 0; status == ABUT_SUCCESS || status == ABUT_ERROR_STATE;) {
    if ((status = steps_done(l, &done)) != ABUT_SUCCESS) {
      break;
    }
    if (done < LOOP_STEPS) {
      status = l->step(w, l);
      status = status == ABUT_SUCCESS && done + 1 == SAVED_AFTER ? abut_save_state(l->state)
                                                                 : status;
      continue;
    }
    for (size_t i = POSE2; i < LOOP_ARRAYS && status == ABUT_SUCCESS; ++i) {
      status = abut_read_state(l->arrays[i], 0, POSES, to[i]);
    }
    if (status == ABUT_SUCCESS) {
      break;
    }
  }
  return status;
}

static abut_status run_loop(const world *w, answer *out,
                            abut_status (*step)(const world *w, loop *l))
{
  loop l = {.step = step};
  start_answer(out);
  void *const to[LOOP_ARRAYS] = {NULL, room(out, POSES * 7, sizeof(double), 1e-7),
                                 room(out, POSES * 7, sizeof(double), 1e-7),
                                 room(out, POSES, sizeof(double), 1e-9)};
  abut_status status = start_loop(w, &l);
  status = status == ABUT_SUCCESS ? do_loop(w, &l, to) : status;
  out->failures = l.failures;
  if (l.state.generation) {
    abut_destroy_state(l.state);
  }
  return status;
}

static abut_status run_state(const world *w, answer *out)
{
  return run_loop(w, out, step_alone);
}

static abut_status run_descent(const world *w, answer *out)
{
  return run_loop(w, out, step_down);
}

/* Entries of each pose, of whatever activity: the first and last vertices and edge pairs. */
static void name_entries(const abut_layout *l, abut_compact *list)
{
  for (size_t i = 0; i < list->count; ++i) {
    const size_t which = i % 4;
    list->pose[i] = (uint32_t)(i / 4);
    list->slot[i] = (uint32_t)(which == 0   ? 1
                               : which == 1 ? l->vertex_offset[1] + 2
                               : which == 2 ? l->edge_offset[0] + 3
                                            : l->contacts - 1);
  }
}

/* A list of active contacts with sums of them, the gradient of one, and VJP and JVP of entries. */
static abut_status run_lists_of(abut_pair pair, answer *out)
{
  enum { ENTRIES = 4 * POSES };
  static double along[POSES * 7], bars[ENTRIES];
  uint32_t pose[ENTRIES], slot[ENTRIES];
  double poses[2][POSES * 7];
  abut_batch batch;
  abut_compact list, entries = {.count = ENTRIES, .pose = pose, .slot = slot};
  abut_layout layout;
  start_batch(out, &batch, poses);
  make_list(out, &list);
  void *gradients[4], *sum = room(out, POSES, sizeof(double), 1e-9);
  for (int i = 0; i < 4; ++i) {
    gradients[i] = room(out, POSES * 7, sizeof(double), 1e-7);
  }
  for (size_t i = 0; i < POSES * 7; ++i) {
    along[i] = (double)(i % 5) - 2.0;
  }
  for (size_t i = 0; i < ENTRIES; ++i) {
    bars[i] = (double)(i % 3) + 0.5;
  }
  const abut_gradients of_sum = {gradients[0], gradients[1]};
  const abut_gradients of_entries = {gradients[2], gradients[3]};
  const abut_cotangents cotangents = {.d = bars, .activity = bars};
  const abut_pose_tangents tangents = {.pose2 = along};
  const abut_tangents wanted = {.d = room(out, ENTRIES, sizeof(double), 1e-7)};
  abut_status status = abut_get_layout(pair, &layout);
  if (status == ABUT_SUCCESS) {
    name_entries(&layout, &entries);
    batch.compact = &list;
    batch.reductions.activity = sum;
    status = end_batch(out, &batch, abut_contacts(pair, &batch));
  }
  batch.compact = NULL;
  size_t failures = out->failures;
  if (status == ABUT_SUCCESS) {
    status = abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_ACTIVITY, &of_sum);
    failures += batch.failures;
  }
  batch.reductions.activity = NULL;
  if (status == ABUT_SUCCESS) {
    status = abut_list_vjp(pair, &batch, &entries, &cotangents, &of_entries);
    failures += batch.failures;
  }
  if (status == ABUT_SUCCESS) {
    status = abut_list_jvp(pair, &batch, &entries, &tangents, &wanted);
  }
  end_batch(out, &batch, status);
  out->failures += failures;
  return status;
}

/* Of a pair that bounds can decide about. */
static abut_status run_lists(const world *w, answer *out)
{
  abut_smoothing smoothing = smoothing_of_pair();
  abut_pair pair;
  smoothing.select = ABUT_SELECT_GATE;
  smoothing.vertices[0] = smoothing.vertices[1] = 0;
  smoothing.floor = 1e-3;
  abut_status status = abut_create_pair(w->bodies[0], w->bodies[1], &smoothing, &pair);
  if (status == ABUT_SUCCESS) {
    status = run_lists_of(pair, out);
    CHECK_OK(abut_destroy_pair(pair));
  }
  return status;
}

/* A box as one polyhedron, of which figures are compared: devices round fits in their own ways. */
static abut_status run_decompose(const world *w, answer *out)
{
  abut_decompose_options options = abut_default_decompose_options();
  const abut_body_def def = brick_def();
  abut_decomposition d;
  start_answer(out);
  options.primitives = 1;
  options.family = ABUT_DECOMPOSE_AUTO;
  double *iou = room(out, 1, sizeof(double), 1e-2);
  const abut_status status = abut_decompose(w->context, &def, &options, &d);
  if (status == ABUT_SUCCESS) {
    *iou = d.report.iou;
    out->failures = d.report.failures;
    abut_free_decomposition(&d);
  }
  return status;
}

/* Two devices with a pose each make twice the calls of a Jacobian; pictures take long. */
const task tasks[TASKS] = {
  {"contacts", run_contacts, POSES, 1, 2, 20},
  {"gradient", run_gradient, POSES, 3, 2, 20},
  {"jvp", run_jvp, POSES, 2, 1, 20},
  {"jacobian", run_jacobian, 1, 1, 5, 20},
  {"jacobians", run_jacobians, BLOCK_POSES, 29, 1, 20},
  {"hessian", run_hessian, POSES, 29, 2, 20},
  {"vjp-tangent", run_vjp_tangent, POSES, 5, 3, 20},
  {"edges-in-fields", run_fields, POSES, 3, 2, 20},
  {"edges-in-fields-vjp", run_fields_vjp, POSES, 7, 3, 20},
  {"shapes", run_shapes, POSES, 5, 2, 20},
  {"shapes-along", run_shapes_along, POSES, 4, 2, 20},
  {"growing", run_growing, BLOCK_POSES, 3, 1, 20},
  {"field", run_field, QUERIES, 1, 1, 3},
  {"witness", run_witness, QUERIES, 1, 1, 3},
  {"lcp", run_lcp, QUERIES, 1, 1, 3},
  {"decompose", run_decompose, 0, 2003, 3, 60},
  {"spring", run_spring, 37, 1, 3, 8},
  {"closest", run_closest, POSES, 1, 3, 6},
  {"closest-vjp", run_closest_vjp, POSES, 3, 2, 10},
  {"closest-zeroth", run_closest_zeroth, POSES, 11, 2, 20},
  {"ccd-queries", run_ccd_queries, POSES, 1, 3, 6},
  {"ccd-queries-gradient", run_ccd_queries_gradient, POSES, 3, 2, 9},
  {"ccd", run_ccd, POSES, 1, 3, 3},
  {"ccd-gradient", run_ccd_gradient, POSES, 3, 2, 6},
  {"render", run_render, 0, 7, 2, 1},
  {"render-with", run_render_with, 0, 29, 2, 1},
  {"mixed", run_mixed, POSES, 3, 1, 20},
  {"state", run_state, 0, 1, 1, 3},
  {"descent", run_descent, 0, 61, 1, 20},
  {"lists", run_lists, 0, 11, 2, 20},
  {"worlds", run_worlds, 2 * POSES, 211, 2, 20},
  {"worlds-vjp", run_worlds_vjp, POSES, 1999, 2, 20},
  {"worlds-hard", run_hard_worlds, 2 * POSES, 613, 2, 20},
  {"worlds-hard-vjp", run_hard_worlds_vjp, POSES, 4999, 2, 20},
  {"worlds-contacts", run_world_contacts, 0, 97, 2, 20},
  {"worlds-distances", run_world_distances, 0, 97, 2, 20},
  {"worlds-springs", run_spring_worlds, POSES, 401, 2, 20},
  {"worlds-springs-vjp", run_spring_worlds_vjp, POSES, 3989, 2, 20},
};

const task *task_named(const char *name)
{
  int i = 0;
  while (i < TASKS - 1 && strcmp(tasks[i].name, name) != 0) {
    ++i;
  }
  check(!strcmp(tasks[i].name, name), "there is no task %s", name);
  return &tasks[i];
}
