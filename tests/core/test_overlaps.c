/* Outputs that overlap in memory, of every kind of batch: they are refused by the names of both
 * arrays, and nothing is written: test_overlaps PRECISION. */
#include "scene.h"

#include <abut/ccd.h>
#include <abut/closest.h>
#include <abut/lcp.h>
#include <abut/shape.h>
#include <abut/spring.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 2, ROOM = 1 << 15, BYTE = 0x5a };

static size_t real;               /* bytes of one */
static char *memory;              /* what outputs lie in */
static char *free_memory;         /* outputs that overlap nothing */
static char zeros[1 << 12];       /* inputs */
static void *poses, *other_poses; /* (COUNT, 7) */

/* Returns the place behind so many reals of the memory. */
static void *behind(size_t reals)
{
  return memory + reals * real;
}

static void refused(abut_status got, const char *one, const char *two, const char *what)
{
  size_t changed = 0;
  check(got == ABUT_ERROR_ARGUMENT, "%s: %s, not refused", what, abut_status_name(got));
  if (got == ABUT_ERROR_ARGUMENT) {
    check(strstr(abut_last_error(), one) && strstr(abut_last_error(), two) &&
            strstr(abut_last_error(), "overlap"),
          "%s: the text is '%s', without %s or %s", what, abut_last_error(), one, two);
  }
  for (size_t i = 0; i < ROOM; ++i) {
    changed += memory[i] != BYTE;
  }
  check(!changed, "%s: %zu bytes are written", what, changed);
  memset(memory, BYTE, ROOM);
}

/* A box of its own with a box as its primitive. */
static bool make_pair(abut_context context, abut_body *body, abut_pair *pair)
{
  const double half[3] = {0.5, 0.4, 0.3};
  abut_smoothing smoothing;
  return make_box(context, half, body) && CHECK_OK(abut_fit_smoothing(*body, *body, &smoothing)) &&
         CHECK_OK(abut_create_pair(*body, *body, &smoothing, pair));
}

static abut_batch new_batch(void)
{
  abut_batch b = abut_default_batch();
  b.count = COUNT;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = poses;
  b.pose2 = other_poses;
  return b;
}

/* ---- contacts ---- */

static void test_outputs(abut_pair pair, size_t contacts)
{
  const size_t rows = COUNT * contacts;
  abut_batch b = new_batch();
  b.d = b.activity = memory;
  refused(abut_contacts(pair, &b), "d and", "activity", "two outputs that are one");
  b.activity = behind(rows - 1);
  refused(abut_contacts(pair, &b), "d and", "activity", "outputs that share a number");
  b.activity = memory + 1;
  b.d = behind(rows / 2);
  refused(abut_contacts(pair, &b), "d and", "activity", "outputs that share a half");
  b.d = memory;
  b.activity = behind(rows);
  CHECK_OK(abut_contacts(pair, &b)); /* side by side */
  memset(memory, BYTE, ROOM);
  b = new_batch();
  b.n = behind(1);
  b.status = (uint8_t *)memory + real;
  refused(abut_contacts(pair, &b), "n and", "status", "a status in an output");
  b.n = NULL;
  b.contacts = (uint32_t *)(void *)memory;
  b.status = (uint8_t *)memory + 4 * COUNT - 1;
  refused(abut_contacts(pair, &b), "status and", "contacts", "a status in numbers of contacts");
  b = new_batch();
  b.reductions.energy = b.reductions.distance = memory;
  refused(abut_contacts(pair, &b), "energy and", "distance", "two reductions");
  b.reductions.energy = NULL;
  b.p = behind(1);
  refused(abut_contacts(pair, &b), "p and", "distance", "a reduction in an output");
}

static void test_inputs(abut_pair pair, size_t contacts)
{
  const abut_pair pairs[1] = {pair};
  uint32_t index[COUNT] = {0};
  char kept[COUNT * 7 * sizeof(double)];
  abut_batch b = new_batch();
  memcpy(kept, poses, COUNT * 7 * real);
  b.d = free_memory;
  CHECK_OK(abut_contacts(pair, &b));
  memcpy(memory, poses, COUNT * 7 * real);
  b.pose1 = memory;
  b.d = behind(3); /* an input that is overlapped otherwise than as a whole is copied before */
  CHECK_OK(abut_contacts(pair, &b));
  check(!memcmp(b.d, free_memory, COUNT * contacts * real), "an output over a pose is another one");
  memset(memory, BYTE, ROOM);
  b = new_batch();
  b.reductions.distance = poses; /* written piece by piece while poses are read */
  refused(abut_contacts(pair, &b), "distance", "pose1", "a reduction over poses");
  b = new_batch();
  b.status = poses;
  refused(abut_contacts(pair, &b), "status", "pose1", "statuses over poses");
  check(!memcmp(kept, poses, COUNT * 7 * real), "poses are written");
  b = new_batch();
  b.pairs = pairs;
  b.pair_count = 1;
  b.pair = index;
  b.status = (uint8_t *)index + 1;
  refused(abut_contacts(ABUT_BATCH_PAIRS, &b), "status", "pair", "statuses over indices");
}

static void test_lists(abut_pair pair, size_t contacts)
{
  abut_compact list = {.threshold = 0.0, .capacity = COUNT * contacts};
  abut_batch b = new_batch();
  b.compact = &list;
  list.pose = list.slot = (uint32_t *)(void *)memory;
  refused(abut_contacts(pair, &b), "list's pose", "list's slot", "a list's poses and slots");
  list.slot = NULL;
  list.feature = list.pose + 1;
  refused(abut_contacts(pair, &b), "list's pose", "list's feature", "a list's poses and features");
  list.pose = list.feature = NULL;
  list.d = memory;
  b.p = behind(list.capacity - 1);
  refused(abut_contacts(pair, &b), "list's d", "p and", "a list's distances in an output");
  b.p = NULL;
  refused(abut_jacobian(pair, ABUT_SAME_PAIR, &b, behind(1)), "list's d", "blocks",
          "a list's distances in its blocks");
}

static void test_derivatives_of_lists(abut_pair pair)
{
  uint32_t at[2] = {0, 1}, slot[2] = {0, 0};
  const abut_compact list = {.capacity = 2, .count = 2, .pose = at, .slot = slot};
  const abut_cotangents bars = {.d = memory};
  const abut_gradients over = {memory + real, NULL};
  const abut_pose_tangents along = {poses, NULL};
  const abut_tangents same = {.p = memory, .n = memory}, across = {.d = at};
  abut_batch b = new_batch();
  refused(abut_list_vjp(pair, &b, &list, &bars, &over), "the gradient of pose1",
          "the cotangent of d", "a list's gradients over its cotangents");
  refused(abut_list_jvp(pair, &b, &list, &along, &same), "the tangent of p", "the tangent of n",
          "two tangents of a list");
  refused(abut_list_jvp(pair, &b, &list, &along, &across), "the tangent of d", "the list's pose",
          "tangents over a list");
  check(at[0] == 0 && at[1] == 1, "a list is written");
}

static void test_gradients(abut_pair pair)
{
  const abut_gradients same = {memory, memory}, one = {memory, NULL},
                       free_one = {NULL, free_memory};
  const abut_pose_tangents along = {zeros, NULL};
  const abut_tangents tangents = {.d = memory, .activity = behind(1)};
  const abut_shape_gradients shape = {.axes = (double *)(void *)memory,
                                      .position = (double *)(void *)memory + 2};
  const abut_cotangents bars = {.d = zeros};
  abut_batch b = new_batch();
  refused(abut_gradient(pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &same), "pose1", "pose2",
          "gradients of both poses");
  refused(abut_vjp(pair, ABUT_SAME_PAIR, &b, &bars, &same), "pose1", "pose2",
          "gradients of a product");
  refused(abut_hessian_product(pair, &b, ABUT_REDUCE_ENERGY, &along, &one, &one),
          "the gradient of pose1", "derivative of the gradient of pose1",
          "a gradient and a product");
  refused(abut_hessian(pair, &b, ABUT_REDUCE_ENERGY, ABUT_BODY_1, &one, behind(6)),
          "the gradient of pose1", "the Hessian", "a Hessian and a gradient");
  refused(abut_jvp(pair, ABUT_SAME_PAIR, &b, &along, &tangents), "the tangent of d",
          "the tangent of activity", "two tangents");
  refused(abut_shape_vjp(pair, &b, &bars, &shape, NULL, 0), "axes of body 1", "position of body 1",
          "gradients by a shape");
  refused(abut_shape_gradient(pair, &b, ABUT_REDUCE_ENERGY, &shape, &shape, ABUT_SHAPE_EACH_POSE),
          "body", "body", "gradients by two shapes");
  memcpy(memory, other_poses, COUNT * 7 * real);
  b.pose2 = memory;
  CHECK_OK(abut_gradient(pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &free_one));
  const abut_gradients replaced = {NULL, memory};
  CHECK_OK(abut_gradient(pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &replaced));
  check(!memcmp(memory, free_memory, COUNT * 7 * real),
        "a gradient in its poses' place is another");
  memset(memory, BYTE, ROOM);
}

/* ---- queries ---- */

static void test_witness(abut_context context, abut_body body)
{
  const abut_smoothing s = abut_default_smoothing();
  refused(abut_witness_edges(context, &s, COUNT, zeros, zeros, memory, behind(5), NULL), "points1",
          "points2", "witness points of edges");
  refused(abut_witness_faces(context, &s, COUNT, zeros, zeros, memory, (uint8_t *)memory + 3, NULL),
          "projected", "status", "projections onto faces");
  refused(abut_witness_edges_vjp(context, &s, COUNT, zeros, zeros, zeros, NULL, NULL, memory,
                                 memory),
          "edges1", "edges2", "cotangents of edges");
  refused(abut_evaluate_body(body, 0.01, 0.01, COUNT, zeros, memory, behind(1)), "distance",
          "normal", "a field's distances and normals");
}

static void test_closest(abut_context context)
{
  abut_shape_def def = abut_default_shape_def();
  abut_shape shapes[2];
  abut_closest_batch b = abut_default_closest_batch();
  const abut_closest_smoothing s = abut_default_closest_smoothing();
  const abut_closest_cotangents bars = {.d = zeros};
  const abut_closest_gradients same = {.pose1 = memory, .pose2 = behind(1)};
  def.kind = ABUT_SHAPE_SPHERE;
  def.size[0] = 0.5;
  if (!CHECK_OK(abut_create_shape(context, &def, &shapes[0]))) {
    return;
  }
  shapes[1] = shapes[0];
  b.shapes = shapes;
  b.shape_count = 2;
  b.count = COUNT;
  b.pose1 = poses;
  b.pose2 = other_poses;
  b.p1 = memory;
  b.p2 = behind(3);
  refused(abut_closest(context, &b), "p1", "p2", "closest points");
  b.p2 = NULL;
  b.status = (uint8_t *)memory;
  refused(abut_closest(context, &b), "p1", "status", "closest points and statuses");
  b.p1 = b.status = NULL;
  refused(abut_closest_vjp(context, &b, &s, &bars, &same), "gradient of pose1", "gradient of pose2",
          "gradients of closest points");
  CHECK_OK(abut_destroy_shape(shapes[0]));
}

static void test_ccd(abut_context context)
{
  static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t face[3] = {0, 1, 2};
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  abut_ccd_queries q = abut_default_ccd_queries();
  abut_ccd_batch b = abut_default_ccd_batch();
  const abut_ccd_gradients same = {.by1 = memory, .by2 = behind(23)};
  abut_ccd_mesh mesh;
  q.count = COUNT;
  q.x0 = q.x1 = zeros;
  q.toi = memory;
  q.d0 = behind(1);
  refused(abut_run_ccd_queries(context, &q), "toi", "d0", "times of impact");
  q.toi = q.d0 = NULL;
  refused(abut_ccd_queries_gradient(context, &q, memory, memory), "toi_by_x0", "toi_by_x1",
          "gradients of times of impact");
  def.vertices = corners;
  def.vertex_count = 3;
  def.face_indices = face;
  def.face_count = 1;
  if (!CHECK_OK(abut_create_ccd_mesh(context, &def, &mesh))) {
    return;
  }
  b.count = COUNT;
  b.from1 = b.to1 = poses;
  b.from2 = b.to2 = other_poses;
  b.feature1 = b.feature2 = (uint32_t *)(void *)memory;
  refused(abut_ccd(mesh, mesh, &b), "feature1", "feature2", "features of meshes");
  b.feature1 = b.feature2 = NULL;
  refused(abut_ccd_gradient(mesh, mesh, &b, &same), "by1", "by2", "gradients by meshes");
  CHECK_OK(abut_destroy_ccd_mesh(mesh));
}

static void test_lcp(abut_context context)
{
  static const int32_t parent[1] = {ABUT_LCP_NORMAL};
  abut_lcp p = abut_default_lcp();
  p.count = COUNT;
  p.rows = 1;
  p.A = p.b = zeros;
  p.parent = parent;
  p.f = memory;
  p.w = behind(1);
  refused(abut_solve_lcp(context, &p), "f and", "w", "forces and speeds");
}

static void test_spring(abut_context context)
{
  static const double points[2][7] = {{0, 0, 0, 0, 0, 1, 1e-4}, {1, 0, 0, 0, 0, 1, 1e-4}};
  abut_spring s = abut_default_spring();
  abut_spring_gradients g = abut_default_spring_gradients();
  abut_cloud clouds[2];
  if (!CHECK_OK(abut_make_cloud_of_points(2, points[0], &clouds[0]))) {
    return;
  }
  clouds[1] = clouds[0];
  s.clouds = clouds;
  s.cloud_count = 2;
  s.count = COUNT;
  s.pose1 = poses;
  s.pose2 = other_poses;
  s.wrench1 = memory;
  s.wrench2 = behind(11);
  refused(abut_spring_forces(context, &s), "wrench1", "wrench2", "wrenches");
  s.wrench1 = s.wrench2 = NULL;
  g.wrench1 = zeros;
  g.pose1 = g.twist1 = memory;
  refused(abut_spring_vjp(context, &s, &g), "pose1", "twist1", "gradients of wrenches");
  refused(abut_evaluate_cloud(context, clouds, COUNT, zeros, memory, memory), "phi", "gradient",
          "a cloud's field");
  abut_free_cloud(&clouds[0]);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  abut_body body;
  abut_pair pair;
  abut_layout layout;
  real = real_size(precision);
  memory = malloc(ROOM);
  free_memory = malloc(ROOM);
  poses = calloc(COUNT * 7, sizeof(double));
  other_poses = calloc(COUNT * 7, sizeof(double));
  if (!memory || !free_memory || !poses || !other_poses || !make_pair(context, &body, &pair) ||
      !CHECK_OK(abut_get_layout(pair, &layout))) {
    return finish_context(context);
  }
  memset(memory, BYTE, ROOM);
  for (size_t i = 0; i < COUNT; ++i) {
    real_put(poses, precision, 7 * i + 3, 1.0);
    real_put(other_poses, precision, 7 * i + 3, 1.0);
    real_put(other_poses, precision, 7 * i + 2, 0.59);
  }
  check(4 * COUNT * layout.contacts * real <= ROOM, "%zu contacts are too many", layout.contacts);
  test_outputs(pair, layout.contacts);
  test_inputs(pair, layout.contacts);
  test_lists(pair, layout.contacts);
  test_derivatives_of_lists(pair);
  test_gradients(pair);
  test_witness(context, body);
  test_closest(context);
  test_ccd(context);
  test_lcp(context);
  test_spring(context);
  free(memory);
  free(free_memory);
  free(poses);
  free(other_poses);
  return finish_context(context);
}
