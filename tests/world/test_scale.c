/* Small bodies beside large ones, thin walls and close fits with the fitted smoothing: test_scale
 * PRECISION
 *
 * Contacts are no larger than the smaller, thinner body of a pair, so neither may the smoothing be.
 * On the device of ABUT_TEST_DEVICE, the host by default. */
#include "play.h"

#include <abut/manifold.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BALL 0.01        /* radius of the ball above slabs [m] */
#define THROWN 0.05      /* of the one that is thrown */
#define CLEARANCE 0.2e-3 /* of the peg [m] */

static abut_context context;
static abut_precision precision;

/* ---- a ball above slabs ---- */

/* Sums of activities at so many places of the second body, which is not turned. */
static void sums_at(abut_pair pair, const double *places, size_t count, double *sums)
{
  double poses[2][8][7];
  void *reals[2], *sum = calloc(count, real_size(precision));
  abut_batch batch = abut_default_batch();
  REQUIRE(count <= 8 && sum);
  for (size_t i = 0; i < count; ++i) {
    const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
    memcpy(poses[0][i], rest, sizeof rest);
    memcpy(poses[1][i], rest, sizeof rest);
    memcpy(poses[1][i], places + 3 * i, 3 * sizeof *places);
  }
  for (int k = 0; k < 2; ++k) {
    reals[k] = to_reals(poses[k][0], 7 * count, precision);
  }
  batch.count = count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = reals[0];
  batch.pose2 = reals[1];
  batch.reductions.activity = sum;
  REQUIRE_OK(abut_contacts(pair, &batch));
  for (size_t i = 0; i < count; ++i) {
    sums[i] = real_at(sum, precision, i);
  }
  free(reals[0]);
  free(reals[1]);
  free(sum);
}

static void test_slab(double thick)
{
  const double above[3] = {0.005, 0.02, 0.05}, most[3] = {0.3, 1e-3, 1e-6};
  double places[6][3], sums[6];
  char text[512], what[96];
  abut_scene_pair pair;
  play p;
  snprintf(
    text, sizeof text,
    "{\"links\": [{\"bodies\": [{\"box\": [1, 1, %g]}]}, {\"joint\": {\"type\": \"free\"}, "
    "\"density\": 1000, \"bodies\": [{\"sphere\": %g}]}], \"pairs\": [{\"a\": 0, \"b\": 1}]}",
    0.5 * thick, BALL);
  play_open_text(&p, context, precision, text, 1);
  REQUIRE_OK(abut_get_scene_pair(p.scene, 0, &pair));
  for (int i = 0; i < 6; ++i) { /* above its middle and near its rim */
    places[i][0] = i < 3 ? 0.013 : 0.97;
    places[i][1] = i < 3 ? 0.007 : 0.5;
    places[i][2] = 0.5 * thick + BALL + above[i % 3];
  }
  sums_at(pair.pair, places[0], 6, sums);
  for (int i = 0; i < 3; ++i) {
    snprintf(what, sizeof what, "sum of activities %g mm above a slab of %g mm", 1e3 * above[i],
             1e3 * thick);
    play_line(what, fmax(sums[i], sums[i + 3]), most[i]);
  }
  play_close(&p);
}

/* ---- a ball against walls ---- */

/* It comes back or rests, and its middle never passes the wall's face. */
static void test_wall(const char *law, double thick)
{
  static const double speeds[2] = {0.1, 1.0};
  double nearest[2] = {HUGE_VAL, HUGE_VAL};
  char text[512], what[96];
  play p;
  snprintf(
    text, sizeof text,
    "{\"timestep\": 0.001, \"gravity\": [0, 0, 0], \"contact_model\": \"%s\", \"links\": "
    "[{\"bodies\": [{\"box\": [1, 1, %g]}]}, {\"joint\": {\"type\": \"free\"}, \"density\": 1000, "
    "\"bodies\": [{\"sphere\": %g}]}], \"pairs\": [{\"a\": 0, \"b\": 1}]}",
    law, 0.5 * thick, THROWN);
  play_open_text(&p, context, precision, text, 2);
  for (size_t w = 0; w < 2; ++w) {
    play_set_q(&p, w, 0, 0.11);
    play_set_q(&p, w, 1, 0.07);
    /* As far as it goes in 10 ms, so that slow ones do not take long to come. */
    play_set_q(&p, w, 2, 0.5 * thick + THROWN + 0.01 * speeds[w]);
    play_set_v(&p, w, 2, -speeds[w]);
  }
  while (p.time < 0.15) {
    play_step(&p, 20);
    for (size_t w = 0; w < 2; ++w) {
      nearest[w] = fmin(nearest[w], play_q(&p, w, 2) - 0.5 * thick);
    }
  }
  for (size_t w = 0; w < 2; ++w) {
    const double deep = THROWN + 0.5 * thick - play_q(&p, w, 2);
    snprintf(what, sizeof what, "%s, wall of %g mm, %g m/s: still goes in [m/s]", law, 1e3 * thick,
             speeds[w]);
    play_line(what, fmax(-play_v(&p, w, 2), 0.0), 1e-3);
    play_line("  the ball's middle behind the face [m]", -nearest[w], 0.0);
    printf("  deepest %.2g mm, at the end %.2g mm\n", 1e3 * (THROWN - nearest[w]), 1e3 * deep);
  }
  play_close(&p);
}

/* ---- a peg in a hole ---- */

enum { SIDES = 8, RINGS = 4, SLAB = 6 };

/* Corners of a prism around z whose sides touch a circle, and its planes. */
static void add_ring(double vertices[][3], size_t *count, const double radius[2], double z)
{
  for (int i = 0; i < SIDES; ++i) {
    const double a = 2.0 * acos(-1.0) * (i + 0.5) / SIDES, c = cos(a), s = sin(a);
    /* radius[1] > 0: the outline of a square. */
    const double r = radius[1] > 0.0 ? radius[1] / fmax(fabs(c), fabs(s))
                                     : radius[0] / cos(acos(-1.0) / SIDES);
    memcpy(vertices[(*count)++], (const double[3]){r * c, r * s, z}, 3 * sizeof(double));
  }
}

/* Around each ring, and from each corner of one of two to that of the other. */
static size_t ring_edges(size_t rings, const size_t joined[][2], size_t joints, uint32_t edges[][2])
{
  size_t count = 0;
  for (size_t r = 0; r < rings; ++r) {
    for (uint32_t i = 0; i < SIDES; ++i, ++count) {
      edges[count][0] = (uint32_t)(r * SIDES) + i;
      edges[count][1] = (uint32_t)(r * SIDES) + (i + 1) % SIDES;
    }
  }
  for (size_t j = 0; j < joints; ++j) {
    for (uint32_t i = 0; i < SIDES; ++i, ++count) {
      edges[count][0] = (uint32_t)(joined[j][0] * SIDES) + i;
      edges[count][1] = (uint32_t)(joined[j][1] * SIDES) + i;
    }
  }
  return count;
}

static void prism_planes(double radius, double height, double planes[SIDES + 2][6])
{
  memset(planes, 0, (SIDES + 2) * sizeof *planes);
  for (int i = 0; i < SIDES; ++i) {
    const double a = 2.0 * acos(-1.0) * i / SIDES;
    for (int k = 0; k < 2; ++k) {
      planes[i][k] = k ? sin(a) : cos(a);
      planes[i][3 + k] = radius * planes[i][k];
    }
  }
  for (int k = 0; k < 2; ++k) {
    planes[SIDES + k][2] = k ? -1.0 : 1.0;
    planes[SIDES + k][5] = height * planes[SIDES + k][2];
  }
}

static abut_body make_peg(double radius, double height)
{
  static const size_t joined[][2] = {{0, 1}};
  double vertices[2 * SIDES][3], planes[SIDES + 2][6];
  uint32_t edges[3 * SIDES][2];
  size_t count = 0;
  abut_body body;
  abut_body_def def = abut_default_body_def();
  add_ring(vertices, &count, (const double[2]){radius, 0.0}, -height);
  add_ring(vertices, &count, (const double[2]){radius, 0.0}, height);
  prism_planes(radius, height, planes);
  const abut_polyhedron solid = {planes[0], SIDES + 2, ABUT_ADD};
  def.vertices = vertices[0];
  def.vertex_count = count;
  def.edges = edges[0];
  def.edge_count = ring_edges(2, joined, 1, edges);
  def.polyhedra = &solid;
  def.polyhedron_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  return body;
}

/* A plate of so many half lengths with the hole. */
static abut_body make_plate(double half, double height, double radius)
{
  static const size_t joined[][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
  double vertices[RINGS * SIDES][3], hole[SIDES + 2][6], box[SLAB][6] = {{0}};
  uint32_t edges[2 * RINGS * SIDES][2];
  size_t count = 0;
  abut_body body;
  abut_body_def def = abut_default_body_def();
  for (int r = 0; r < RINGS; ++r) { /* bore and outline, below and above */
    add_ring(vertices, &count, (const double[2]){radius, r % 2 ? half : 0.0},
             r / 2 ? height : -height);
  }
  for (int i = 0; i < SLAB; ++i) {
    box[i][i / 2] = i % 2 ? -1.0 : 1.0;
    box[i][3 + i / 2] = box[i][i / 2] * (i / 2 == 2 ? height : half);
  }
  prism_planes(radius, 4.0 * height, hole);
  const abut_polyhedron solids[2] = {{box[0], SLAB, ABUT_ADD}, {hole[0], SIDES + 2, ABUT_SUBTRACT}};
  def.vertices = vertices[0];
  def.vertex_count = count;
  def.edges = edges[0];
  def.edge_count = ring_edges(RINGS, joined, 4, edges);
  def.polyhedra = solids;
  def.polyhedron_count = 2;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  return body;
}

/* Nothing touches while the peg moves in the hole of a plate that is much larger. */
static void test_peg(double half)
{
  const double radius = 0.004, heights[3] = {0.0, 0.002, 0.004};
  abut_body bodies[2] = {make_plate(half, 0.0065, radius + CLEARANCE), make_peg(radius, 0.012)};
  abut_smoothing smoothing;
  abut_pair pair;
  abut_layout layout;
  REQUIRE_OK(abut_fit_smoothing(bodies[0], bodies[1], &smoothing));
  REQUIRE_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &pair));
  REQUIRE_OK(abut_get_layout(pair, &layout));
  for (int i = 0; i < 3; ++i) {
    const double rest[7] = {0, 0, 0, 1, 0, 0, 0}, at[7] = {0, 0, heights[i], 1, 0, 0, 0};
    void *pose1 = to_reals(rest, 7, precision), *pose2 = to_reals(at, 7, precision);
    void *activity = calloc(layout.contacts, real_size(precision));
    double most = 0.0;
    char what[96];
    abut_batch batch = abut_default_batch();
    batch.count = 1;
    batch.poses = ABUT_POSE_QUATERNION;
    batch.pose1 = pose1;
    batch.pose2 = pose2;
    batch.activity = activity;
    REQUIRE_OK(abut_contacts(pair, &batch));
    for (size_t k = 0; k < layout.contacts; ++k) {
      most = fmax(most, real_at(activity, precision, k));
    }
    snprintf(what, sizeof what, "peg %g mm up in a plate of %g mm: largest activity",
             1e3 * heights[i], 2e3 * half);
    play_line(what, most, 0.3);
    free(pose1);
    free(pose2);
    free(activity);
  }
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(bodies[0]));
  CHECK_OK(abut_destroy_body(bodies[1]));
}

int main(int argc, char **argv)
{
  static const double walls[] = {0.006, 0.010, 0.015};
  static const char *const laws[] = {"cone", "lcp", "spring"};
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  test_slab(0.01);
  test_slab(0.1);
  test_peg(0.01);
  test_peg(0.1);
  for (int i = 0; i < 9; ++i) {
    test_wall(laws[i % 3], walls[i / 3]);
  }
  return finish_context(context);
}
