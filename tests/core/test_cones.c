/* Contacts weighed by normal cones, against closed forms: test_cones PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DEGREE (PI / 180.0)
#define INNER 15.0
#define OUTER 35.0
#define HOLD 2.0

static abut_precision precision;

/* How far a weight may be off, by rounding of the normal and of the cone's cosines. */
static double slack(void)
{
  return precision == ABUT_FLOAT64 ? 1e-12 : 2e-5;
}

static double dot3(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The weight of a contact whose cosine to the axis is c (docs/dev/spec.md, section 11). */
static double weight_at(double c, double half)
{
  const double one = cos(fmin(half + INNER * DEGREE, PI)),
               zero = cos(fmin(half + OUTER * DEGREE, PI));
  const double u = fmin(fmax((c - zero) / (one - zero), 0.0), 1.0);
  return half + INNER * DEGREE >= PI ? 1.0 : u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
}

static abut_smoothing smoothing_of(bool cones)
{
  abut_smoothing s = abut_default_smoothing();
  s.length = 0.05;
  s.union_ = s.plane = 0.0005;
  s.penetration = s.neighbour = s.sort = 0.001;
  s.select = ABUT_SELECT_GATE;
  s.edge_contacts = ABUT_EDGES_FIELD;
  s.inset = 0.001;
  s.part = 0.002;
  s.gain = 0.0005;
  s.cone_inner = INNER;
  s.cone_outer = cones ? OUTER : 0.0;
  s.cone_hold = HOLD;
  return s;
}

/* A box with a mesh of its own, and as its field one core that is rounded by half a millimetre. */
static bool core_box(abut_context context, const double half[3], abut_body_def *def, abut_body *out)
{
  const abut_core core = {.kind = ABUT_CORE_BOX,
                          .half = {half[0] - 5e-4, half[1] - 5e-4, half[2] - 5e-4},
                          .radius = 5e-4,
                          .quaternion = {1.0}};
  double vertices[24];
  abut_body_def own;
  if (!def) {
    cube_def(half, vertices, &own);
    def = &own;
  }
  def->cores = &core;
  def->core_count = 1;
  return CHECK_OK(abut_create_body(context, def, out));
}

/* Two pairs of the same bodies, with cones and without, and what both give. */
typedef struct trial {
  abut_pair pair[2];
  abut_layout layout[2];
  outputs out[2];
} trial;

enum { OFF, ON };

static bool run_both(trial *t, const abut_body bodies[2], const double *pose1, const double *pose2,
                     size_t poses)
{
  bool good = true;
  memset(t, 0, sizeof *t);
  for (int k = 0; k < 2; ++k) {
    const abut_smoothing s = smoothing_of(k == ON);
    good = good && CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &t->pair[k])) &&
           CHECK_OK(abut_get_layout(t->pair[k], &t->layout[k])) &&
           outputs_create(&t->out[k], t->pair[k], precision, poses, poses * t->layout[k].contacts,
                          0.0) &&
           CHECK_OK(run_poses(t->pair[k], ABUT_POSE_QUATERNION, pose1, pose2, &t->out[k]));
  }
  return good;
}

static void free_both(trial *t)
{
  for (int k = 0; k < 2; ++k) {
    outputs_free(&t->out[k]);
    CHECK_OK(abut_destroy_pair(t->pair[k]));
  }
}

static void normal_at(const outputs *o, size_t slot, double n[3])
{
  for (size_t k = 0; k < 3; ++k) {
    n[k] = out_at(o, OUT_N, 3 * slot + k);
  }
}

/* The pose of a turn about x by an angle, at a height. */
static void tilted(double angle, double height, double pose[7])
{
  const double p[7] = {0.003, -0.002, height, cos(0.5 * angle), sin(0.5 * angle), 0.0, 0.0};
  memcpy(pose, p, sizeof p);
}

/* The axis of a slot's feature in the world: of box `side`'s corners, and behind both boxes' of
 * their edges, two slots each. */
static double axis_of(const abut_layout *l, size_t slot, const double *const poses[2],
                      double world[3])
{
  const bool edge = slot >= l->edge_offset[0];
  const int side = slot >= (edge ? l->edge_offset[1] : l->vertex_offset[1]);
  double axis[3] = {0.0, 0.0, 0.0};
  if (edge) { /* edges i < j differ in one bit; which edge it is follows from their order */
    static const int along[12][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3},
                                     {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
    const int *e = along[(slot - l->edge_offset[side]) / 2];
    for (int k = 0; k < 3; ++k) {
      axis[k] = (e[0] ^ e[1]) >> (2 - k) & 1 ? 0.0 : (e[0] >> (2 - k) & 1 ? sqrt(0.5) : -sqrt(0.5));
    }
  } else {
    for (int k = 0; k < 3; ++k) {
      axis[k] = ((slot - l->vertex_offset[side]) >> (2 - k) & 1 ? 1.0 : -1.0) / sqrt(3.0);
    }
  }
  apply(poses[side], axis, true, world);
  return edge ? 0.25 * PI : acos(1.0 / sqrt(3.0));
}

/* A slot with cones is that without, but for its weight. Cones that are wider than 30 degrees hold
 * no normals. */
static void compare_slot(const trial *t, size_t pose, size_t slot, const double *const poses[2],
                         size_t *partly)
{
  const size_t at = pose * t->layout[ON].contacts + slot;
  double n[3], axis[3];
  const double half = axis_of(&t->layout[ON], slot, poses, axis);
  for (int array = OUT_P; array <= OUT_N; ++array) {
    const size_t width = array == OUT_D ? 1 : 3;
    for (size_t k = 0; k < width; ++k) {
      check(out_at(&t->out[ON], array, width * at + k) ==
              out_at(&t->out[OFF], array, width * at + k),
            "pose %zu, slot %zu: number %d differs with cones", pose, slot, array);
    }
  }
  normal_at(&t->out[ON], at, n);
  const double share = weight_at(-dot3(n, axis), half),
               before = out_at(&t->out[OFF], OUT_WEIGHT, at);
  const double weight = out_at(&t->out[ON], OUT_WEIGHT, at), d = out_at(&t->out[ON], OUT_D, at);
  check(fabs(weight - share * before) < slack(), "pose %zu, slot %zu: weight %g, not %g of %g",
        pose, slot, weight, share, before);
  check(fabs(out_at(&t->out[ON], OUT_ACTIVITY, at) - weight / (1.0 + exp(d / 0.001))) < slack(),
        "pose %zu, slot %zu: an activity is not its weight times the sigmoid", pose, slot);
  *partly += share > 0.01 && share < 0.99 && before > 0.1;
}

/* A small box on and in a big flat one, flat and tilted. */
static void test_boxes(abut_context context)
{
  const double small[3] = {0.03, 0.04, 0.02}, flat[3] = {0.2, 0.2, 0.01};
  enum { POSES = 9 };
  abut_body bodies[2];
  double poses[2][7 * POSES];
  trial t;
  size_t partly = 0;
  for (size_t i = 0; i < POSES; ++i) {
    tilted(0.0, 0.0, poses[0] + 7 * i);
    memset(poses[0] + 7 * i, 0, 3 * sizeof(double));
    tilted(i * 8.0 * DEGREE, 0.03 - 0.0005 * (double)i, poses[1] + 7 * i);
  }
  poses[1][2] = 0.0285; /* flat and 1.5 mm deep */
  if (!core_box(context, flat, NULL, &bodies[0]) || !core_box(context, small, NULL, &bodies[1])) {
    return;
  }
  if (run_both(&t, bodies, poses[0], poses[1], POSES)) {
    CHECK_EQUAL(t.layout[ON].contacts, t.layout[OFF].contacts);
    for (size_t i = 0; i < POSES; ++i) {
      const double *const own[2] = {poses[0] + 7 * i, poses[1] + 7 * i};
      for (size_t slot = 0; slot < t.layout[ON].contacts; ++slot) {
        compare_slot(&t, i, slot, own, &partly);
      }
    }
    check(partly > 20, "only %zu slots lie between the margins", partly);
    /* Flat: the small box's lower corners count fully, and its upper ones, which lie off their
     * cones, not at all. */
    for (size_t corner = 0; corner < 8; ++corner) {
      const double wanted = corner & 1 ? 0.0 : 1.0;
      const double weight = out_at(&t.out[ON], OUT_WEIGHT, t.layout[ON].vertex_offset[1] + corner);
      check(weight == wanted, "a flat box's corner %zu weighs %.17g", corner, weight);
    }
    free_both(&t);
  }
}

/* The axis of a cone that is given holds a narrow feature's normal. The feature is a ball above the
 * flat box, in whose frame the axis leans. */
static void test_held(abut_context context)
{
  static const double lean[] = {0.0, 5.0, 6.9, 9.0, 15.0, 18.0, 30.0, 50.0};
  enum { POSES = sizeof lean / sizeof lean[0] };
  const double flat[3] = {0.2, 0.2, 0.01}, tiny[3] = {0.005, 0.005, 0.005}, radius = 0.004,
               half = 5.0;
  const double ball[4] = {0.0, 0.0, 0.0, radius}, cone[4] = {0.0, 0.0, -1.0, half};
  double poses[2][7 * POSES] = {{0}}, vertices[24];
  abut_body bodies[2];
  abut_body_def def;
  trial t;
  cube_def(tiny, vertices, &def);
  def.states_features = true;
  def.feature_vertices = ball;
  def.feature_vertex_count = 1;
  def.cones = ABUT_CONES_GIVEN;
  def.vertex_cones = cone;
  def.vertex_cone_count = 1;
  for (size_t i = 0; i < POSES; ++i) {
    poses[0][7 * i + 3] = 1.0;
    tilted(lean[i] * DEGREE, 0.013, poses[1] + 7 * i);
  }
  if (!core_box(context, flat, NULL, &bodies[0]) || !core_box(context, tiny, &def, &bodies[1]) ||
      !run_both(&t, bodies, poses[0], poses[1], POSES)) {
    return;
  }
  for (size_t i = 0; i < POSES; ++i) {
    const size_t slot = t.layout[ON].vertex_offset[1], at = i * t.layout[ON].contacts + slot;
    const size_t off = i * t.layout[OFF].contacts + t.layout[OFF].vertex_offset[1];
    const double angle = lean[i] * DEGREE, H = sin((half + HOLD) * DEGREE), s = sin(angle);
    const double u = fmin(fmax(s / H - 1.0, 0.0), 1.0),
                 S = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
    const double q = s * (1.0 + S * (H / s - 1.0)), off_axis = s > H ? asin(q) : angle;
    double n[3], before[3], across[3], down[3] = {0.0, 0.0, -1.0}, axis[3];
    apply(poses[1] + 7 * i, down, true, axis);
    normal_at(&t.out[ON], at, n);
    normal_at(&t.out[OFF], off, before);
    for (int k = 0; k < 3; ++k) {
      across[k] = n[k] - dot3(n, axis) * axis[k];
    }
    const double held = asin(sqrt(dot3(across, across)));
    check(fabs(held - off_axis) < slack() && fabs(dot3(n, n) - 1.0) < slack(),
          "a normal %g degrees off its axis is held at %g, not %g", lean[i], held / DEGREE,
          off_axis / DEGREE);
    check(s > H || n[2] == before[2], "a normal within its cone is moved");
    check(out_at(&t.out[ON], OUT_D, at) == out_at(&t.out[OFF], OUT_D, off),
          "holding moves a depth");
    check(fabs(out_at(&t.out[ON], OUT_WEIGHT, at) - weight_at(-dot3(before, axis), half * DEGREE)) <
            slack(),
          "%g degrees off: weight %g", lean[i], out_at(&t.out[ON], OUT_WEIGHT, at));
    for (size_t k = 0; k < 3; ++k) { /* the point is the ball's own along the reported normal */
      check(fabs(out_at(&t.out[ON], OUT_P, 3 * at + k) - (poses[1][7 * i + k] - radius * n[k])) <
              1e-8,
            "a held contact's point is off its ball");
    }
  }
  check(out_at(&t.out[ON], OUT_WEIGHT, t.layout[ON].vertex_offset[1]) == 1.0,
        "a true contact weighs less than 1");
  free_both(&t);
}

enum { SQUARES = 8, SIDE = SQUARES + 1, LAYER = SIDE * SIDE };

/* A plate with grids of SQUARES x SQUARES squares above and below, and one row of squares at each
 * side. */
static bool make_plate(abut_context context, abut_body *out)
{
  const double half[3] = {0.08, 0.08, 0.01};
  double vertices[2 * LAYER * 3];
  uint32_t sizes[2 * SQUARES * SQUARES + 4 * SQUARES],
    corners[4 * (2 * SQUARES * SQUARES + 4 * SQUARES)];
  size_t faces = 0;
  abut_body_def def = abut_default_body_def();
  for (uint32_t i = 0; i < 2 * LAYER; ++i) {
    vertices[3 * i] = half[0] * (2.0 * (i % SIDE) / SQUARES - 1.0);
    vertices[3 * i + 1] = half[1] * (2.0 * (i / SIDE % SIDE) / SQUARES - 1.0);
    vertices[3 * i + 2] = i < LAYER ? -half[2] : half[2];
  }
#define FACE(a, b, c, d)                            \
  do {                                              \
    const uint32_t face[4] = {(a), (b), (c), (d)};  \
    memcpy(corners + 4 * faces, face, sizeof face); \
    sizes[faces++] = 4;                             \
  } while (0)
  for (uint32_t i = 0; i < SQUARES; ++i) {
    for (uint32_t j = 0; j < SQUARES; ++j) {
      const uint32_t at = SIDE * i + j;
      FACE(at, at + SIDE, at + SIDE + 1, at + 1);
      FACE(LAYER + at, LAYER + at + 1, LAYER + at + SIDE + 1, LAYER + at + SIDE);
    }
    const uint32_t far = LAYER - SIDE, left = SIDE * i, right = left + SQUARES;
    FACE(i, i + 1, LAYER + i + 1, LAYER + i);
    FACE(far + i + 1, far + i, LAYER + far + i, LAYER + far + i + 1);
    FACE(left + SIDE, left, LAYER + left, LAYER + left + SIDE);
    FACE(right, right + SIDE, LAYER + right + SIDE, LAYER + right);
  }
  def.vertices = vertices;
  def.vertex_count = 2 * LAYER;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = faces;
  return core_box(context, half, &def, out);
}

/* The inner vertices of a flat mesh have no slots, and lists name those that have by the mesh's
 * numbers. */
static void test_flat(abut_context context)
{
  const double half[3] = {0.02, 0.02, 0.02}, pose1[7] = {0, 0, 0, 1, 0, 0, 0},
               pose2[7] = {0.01, 0, 0.029, 1, 0, 0, 0};
  abut_body bodies[2];
  trial t;
  if (!make_plate(context, &bodies[0]) || !core_box(context, half, NULL, &bodies[1]) ||
      !run_both(&t, bodies, pose1, pose2, 1)) {
    return;
  }
  CHECK_EQUAL(t.layout[OFF].vertices[0], 2 * LAYER);
  CHECK_EQUAL(t.layout[ON].vertices[0], 2 * LAYER - 2 * (SQUARES - 1) * (SQUARES - 1));
  CHECK_EQUAL(t.layout[ON].edges[0], t.layout[OFF].edges[0]);
  const abut_compact *list = &t.out[ON].compact;
  CHECK_EQUAL(list->count, t.layout[ON].contacts);
  for (size_t i = 0; i < list->count; ++i) {
    const uint32_t slot = list->slot[i], vertex = list->feature[2 * i];
    if (slot >= t.layout[ON].vertices[0]) {
      continue;
    }
    const uint32_t x = vertex % SIDE, y = vertex / SIDE % SIDE;
    check(x == 0 || x == SQUARES || y == 0 || y == SQUARES, "slot %u is of the flat vertex %u",
          slot, vertex);
    check(real_at(list->activity, precision, i) < 1e-6, "a rim far away is active");
  }
  free_both(&t);
}

/* With cones distances take in what lies in the other body whatever its weight is: none is larger,
 * and others are not compared. */
static void take_distances(trial *t, size_t poses)
{
  for (size_t i = 0; i < poses; ++i) {
    const double on = out_at(&t->out[ON], OUT_DISTANCE, i),
                 off = out_at(&t->out[OFF], OUT_DISTANCE, i);
    check(on <= off, "pose %zu has a distance of %g with cones and of %g without", i, on, off);
  }
  const size_t bytes = poses * (precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float));
  memcpy(t->out[ON].arrays[OUT_DISTANCE], t->out[OFF].arrays[OUT_DISTANCE], bytes);
  memcpy(t->out[ON].arrays[OUT_SOFT_DISTANCE], t->out[OFF].arrays[OUT_SOFT_DISTANCE], bytes);
  memcpy(t->out[ON].status, t->out[OFF].status, poses);
}

/* Without faces every normal is within a cone, and all counts as without cones. */
static void test_everything(abut_context context)
{
  const double half[3] = {0.02, 0.03, 0.04};
  enum { POSES = 40 };
  double vertices[24], poses[2][7 * POSES];
  abut_body bodies[2];
  abut_body_def def;
  uint64_t seed = 9;
  trial t;
  cube_def(half, vertices, &def);
  def.face_count = 0;
  for (size_t i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.03, poses[0] + 7 * i);
    random_pose(&seed, 0.03, poses[1] + 7 * i);
  }
  if (core_box(context, half, &def, &bodies[0]) && core_box(context, half, &def, &bodies[1]) &&
      run_both(&t, bodies, poses[0], poses[1], POSES)) {
    take_distances(&t, POSES);
    outputs_same(&t.out[OFF], &t.out[ON], "cones of every normal");
    free_both(&t);
  }
}

/* Returns the energies of two poses of a box with features, 6 numbers each, along a step. */
static bool energies(abut_pair pair, const double *pose1, const double *pose2, size_t count,
                     double *energy)
{
  void *p1 = to_reals(pose1, 6 * count, precision), *p2 = to_reals(pose2, 6 * count, precision);
  abut_batch batch = abut_default_batch();
  batch.count = count;
  batch.poses = ABUT_POSE_TWIST;
  batch.pose1 = p1;
  batch.pose2 = p2;
  batch.reductions.energy = energy;
  const bool good = CHECK_OK(abut_contacts(pair, &batch));
  free(p1);
  free(p2);
  return good;
}

/* A stated corner with a cone of no width is the end of edges, and has no slot, with selections of
 * vertices either: the others are ranked, and gradients of energy are those of differences. */
static void test_ends(abut_context context, uint32_t kept)
{
  static const int along[12][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3},
                                   {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
  const double half[3] = {0.03, 0.02, 0.025}, step = 1e-6;
  double vertices[24], corners[8][4], cones[8][4], edge_cones[12][4];
  double pose1[6 * 13], pose2[6 * 13], energy[13], gradient[6];
  abut_feature_edge edges[12] = {{0}};
  abut_smoothing s = smoothing_of(true);
  abut_layout layout;
  abut_body bodies[2];
  abut_body_def def;
  abut_pair pair;
  cube_def(half, vertices, &def);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) {
      corners[i][k] = vertices[3 * i + k];
      cones[i][k] = vertices[3 * i + k] > 0.0 ? 1.0 : -1.0;
    }
    corners[i][3] = 0.0;
    cones[i][3] = i == 0 || i == 5 ? 0.5 : acos(1.0 / sqrt(3.0)) / DEGREE;
  }
  for (int i = 0; i < 12; ++i) {
    edges[i].from = (uint32_t)along[i][0];
    edges[i].to = (uint32_t)along[i][1];
    for (int k = 0; k < 3; ++k) {
      edge_cones[i][k] = cones[along[i][0]][k] + cones[along[i][1]][k];
    }
    edge_cones[i][3] = 45.0;
  }
  def.states_features = true;
  def.feature_vertices = corners[0];
  def.feature_vertex_count = 8;
  def.feature_edges = edges;
  def.feature_edge_count = 12;
  def.cones = ABUT_CONES_GIVEN;
  def.vertex_cones = cones[0];
  def.vertex_cone_count = 8;
  def.edge_cones = edge_cones[0];
  def.edge_cone_count = 12;
  for (int i = 0; i < 2; ++i) {
    s.vertices[i] = kept;
  }
  s.sort = 0.004;
  if (!core_box(context, half, &def, &bodies[0]) || !core_box(context, half, NULL, &bodies[1]) ||
      !CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair)) ||
      !CHECK_OK(abut_get_layout(pair, &layout))) {
    return;
  }
  CHECK_EQUAL(layout.vertices[0], kept ? kept : 6);
  CHECK_EQUAL(layout.edges[0], 12);
  for (int i = 0; i < 13; ++i) { /* the one at rest, and both ways along each number */
    const double at1[6] = {0.001, -0.002, 0.0005, 0.3, -0.2, 0.1},
                 at2[6] = {0.03, 0.02, 0.041, -0.4, 0.25, 0.6};
    memcpy(pose1 + 6 * i, at1, sizeof at1);
    memcpy(pose2 + 6 * i, at2, sizeof at2);
    if (i) {
      pose1[6 * i + (i - 1) / 2] += i & 1 ? step : -step;
    }
  }
  abut_gradients g = {.pose1 = gradient};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = ABUT_POSE_TWIST;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  if (precision == ABUT_FLOAT64 && energies(pair, pose1, pose2, 13, energy) &&
      CHECK_OK(abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_ENERGY, &g))) {
    check(energy[0] > 1e-8, "bodies that overlap have an energy of %g", energy[0]);
    for (int k = 0; k < 6; ++k) {
      const double wanted = (energy[1 + 2 * k] - energy[2 + 2 * k]) / (2.0 * step);
      check(fabs(gradient[k] - wanted) < 1e-5 * energy[0] / 0.001,
            "%u kept: gradient %d is %g, not %g", kept, k, gradient[k], wanted);
    }
  }
  CHECK_OK(abut_destroy_pair(pair));
}

/* Cubes of 0.2 m aside, flush or turned, and crossing plates: how far apart they truly are, and
 * whether contacts have less than half of that. */
typedef struct overlap {
  double half[3], pose[7], truth;
  bool deep;
} overlap;

static const overlap overlaps[] = {
  {{0.1, 0.1, 0.1}, {0.15, 0, 0, 1, 0, 0, 0}, -0.05, true},
  {{0.1, 0.1, 0.1}, {0.1, 0, 0, 1, 0, 0, 0}, -0.1, true},
  {{0.1, 0.1, 0.1}, {0.05, 0, 0, 1, 0, 0, 0}, -0.15, true},
  {{0.1, 0.1, 0.1}, {0.01, 0, 0, 1, 0, 0, 0}, -0.19, true},
  {{0.1, 0.1, 0.1}, {0.05, 0.03, 0.02, 1, 0, 0, 0}, -0.15, true},
  /* by 0.3 */
  {{0.1, 0.1, 0.1},
   {0.05, 0.03, 0.02, 0.98877107793604229, 0, 0, 0.14943813247359922},
   -0.16,
   true},
  {{0.1, 0.1, 0.1}, {0.1, 0.1, 0.199, 1, 0, 0, 0}, -0.001, false},
  {{0.1, 0.1, 0.1}, {0.1, 0.1, 0.25, 1, 0, 0, 0}, 0.05, false},
  {{0.15, 0.1, 0.002},
   {0.013, 0.021, 0.05, 0.70710678118654752, 0.70710678118654752, 0, 0},
   -0.05,
   true},
  {{0.15, 0.005, 0.005},
   {0.013, 0.021, 0.003, 0.76484218728448842, 0, 0, 0.64421768723769105},
   -0.007,
   true},
};
#define OVERLAPS (sizeof overlaps / sizeof *overlaps)
/* poses of each: as it is, and a step along each number of its twist, there and back */
#define MOVED 13

/* The distances of a pair at MOVED poses, and their gradients at the first. */
static bool distances(abut_pair pair, const double *pose1, const double *pose2, double *distance,
                      double *soft, double *gradient, abut_reduction of, uint8_t *status)
{
  abut_batch batch = abut_default_batch();
  const abut_gradients g = {.pose2 = gradient};
  batch.count = MOVED;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.status = status;
  batch.reductions.distance = distance;
  batch.reductions.soft_distance = soft;
  return CHECK_OK(abut_gradient(pair, ABUT_SAME_PAIR, &batch, of, &g));
}

/* Differences along the numbers of a quaternion pose. */
static void compare_gradient(const double *values, const double gradient[7], double step, size_t i,
                             const char *what)
{
  for (int k = 0; k < 6; ++k) {
    const double wanted = (values[1 + 2 * k] - values[2 + 2 * k]) / (2.0 * step);
    check(fabs(gradient[k] - wanted) < 2e-5, "overlap %zu: gradient %d of the %s is %g, not %g", i,
          k, what, gradient[k], wanted);
  }
}

/* Distances have the sign of the truth and claim no more depth, and their gradients are those of
 * differences. */
static void test_deep(abut_context context)
{
  const double step = 1e-6;
  for (size_t i = 0; i < OVERLAPS; ++i) {
    const overlap *o = &overlaps[i];
    double pose1[7 * MOVED] = {0}, pose2[7 * MOVED], distance[MOVED], soft[MOVED],
                     gradient[7 * MOVED];
    float narrow1[7 * MOVED], narrow2[7 * MOVED], narrow[2][MOVED];
    uint8_t status[MOVED];
    abut_smoothing s = smoothing_of(true);
    abut_body body;
    abut_pair pair;
    s.penetration = 0.0056 * 8.0 * 2.0 * fmin(o->half[0], o->half[2]);
    s.inset = s.cone_inset = s.penetration;
    if (!core_box(context, o->half, NULL, &body) ||
        !CHECK_OK(abut_create_pair(body, body, &s, &pair))) {
      return;
    }
    for (int j = 0; j < MOVED; ++j) {
      pose1[7 * j + 3] = 1.0;
      memcpy(pose2 + 7 * j, o->pose, sizeof o->pose);
      if (j) {
        pose2[7 * j + (j - 1) / 2] += j & 1 ? step : -step;
      }
      for (int k = 0; k < 7; ++k) {
        narrow1[7 * j + k] = (float)pose1[7 * j + k];
        narrow2[7 * j + k] = (float)pose2[7 * j + k];
      }
    }
    if (precision == ABUT_FLOAT64) {
      if (distances(pair, pose1, pose2, distance, soft, gradient, ABUT_REDUCE_SOFT_DISTANCE,
                    status)) {
        compare_gradient(soft, gradient, step, i, "soft distance");
      }
    } else {
      abut_batch batch = abut_default_batch();
      batch.count = MOVED;
      batch.poses = ABUT_POSE_QUATERNION;
      batch.pose1 = narrow1;
      batch.pose2 = narrow2;
      batch.status = status;
      batch.reductions.distance = narrow[0];
      batch.reductions.soft_distance = narrow[1];
      CHECK_OK(abut_contacts(pair, &batch));
      CHECK_EQUAL(batch.rejected, 0);
      distance[0] = (double)narrow[0][0];
    }
    check((distance[0] < 0.0) == (o->truth < 0.0), "overlap %zu has a distance of %g, truly %g", i,
          distance[0], o->truth);
    check(distance[0] > o->truth - 3e-4, "overlap %zu has a distance of %g, truly %g", i,
          distance[0], o->truth);
    check((status[0] == ABUT_POSE_DEEP) == o->deep, "overlap %zu has the status %u", i, status[0]);
    CHECK_OK(abut_destroy_pair(pair));
    CHECK_OK(abut_destroy_body(body));
  }
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  abut_context context;
  if (!test_context(precision, &context)) {
    return check_finish();
  }
  test_boxes(context);
  test_held(context);
  test_flat(context);
  test_everything(context);
  test_ends(context, 0);
  test_ends(context, 4);
  test_deep(context);
  return finish_context(context);
}
