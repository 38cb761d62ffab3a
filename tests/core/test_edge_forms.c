/* Contacts of edges in fields, against closed forms: test_edge_forms PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { P = 7 };

static abut_precision precision;
static abut_context context;

/* Rounding of a number near 0.1 and of what is made of it. */
static double rounding(void)
{
  return precision == ABUT_FLOAT64 ? 1e-12 : 1e-6;
}

/* ---- bodies ---- */

/* A box grown by `round` of a core that is smaller by it, with its corners and edges `in` inside of
 * the surface. */
static abut_body box_of(const double half[3], double round, bool rounded)
{
  static const abut_feature_edge joins[12] = {{.from = 0, .to = 1}, {.from = 0, .to = 2},
                                              {.from = 0, .to = 4}, {.from = 1, .to = 3},
                                              {.from = 1, .to = 5}, {.from = 2, .to = 3},
                                              {.from = 2, .to = 6}, {.from = 3, .to = 7},
                                              {.from = 4, .to = 5}, {.from = 4, .to = 6},
                                              {.from = 5, .to = 7}, {.from = 6, .to = 7}};
  const double radius = rounded ? round : 0.0;
  abut_core core = {.kind = ABUT_CORE_BOX,
                    .radius = round,
                    .quaternion = {1, 0, 0, 0},
                    .operation = ABUT_ADD};
  double vertices[24], corners[32];
  abut_feature_edge edges[12];
  abut_body_def def;
  abut_body out;
  cube_def(half, vertices, &def);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) {
      corners[4 * i + k] = (i >> k & 1 ? 1 : -1) * (half[k] - radius);
      core.half[k] = half[k] - round;
    }
    corners[4 * i + 3] = radius;
  }
  for (int i = 0; i < 12; ++i) {
    edges[i] = joins[i];
    edges[i].radius = radius;
  }
  def.cores = &core;
  def.core_count = 1;
  def.states_features = true;
  def.feature_vertices = corners;
  def.feature_vertex_count = 8;
  def.feature_edges = edges;
  def.feature_edge_count = 12;
  REQUIRE_OK(abut_create_body(context, &def, &out));
  return out;
}

static abut_body sharp_box(const double half[3])
{
  return box_of(half, 1e-5, false);
}

/* A box whose features are given: a ball's one vertex, or none. */
static abut_body body_with(const double half[3], double round, const double *vertices, size_t count)
{
  const abut_core core = {.kind = ABUT_CORE_BOX,
                          .radius = round,
                          .quaternion = {1, 0, 0, 0},
                          .operation = ABUT_ADD,
                          .half = {half[0] - round, half[1] - round, half[2] - round}};
  double mesh[24];
  abut_body_def def;
  abut_body out;
  cube_def(half, mesh, &def);
  def.cores = &core;
  def.core_count = 1;
  def.states_features = true;
  def.feature_vertices = vertices;
  def.feature_vertex_count = count;
  REQUIRE_OK(abut_create_body(context, &def, &out));
  return out;
}

static abut_body ball_of(double radius)
{
  const double half[3] = {radius, radius, radius}, middle[4] = {0, 0, 0, radius};
  return body_with(half, radius, middle, 1);
}

/* A cylinder about z with rounded rims of 8 vertices and 8 arcs each. */
static abut_body cylinder_of(double radius, double half, double round, bool circles)
{
  const double inner = radius - round, height = half - round, box[3] = {radius, radius, half};
  const abut_core core = {.kind = ABUT_CORE_DISC,
                          .half = {inner, height, 0},
                          .radius = round,
                          .quaternion = {1, 0, 0, 0},
                          .operation = ABUT_ADD};
  double mesh[24], vertices[64];
  abut_feature_edge arcs[16];
  const abut_feature_circle rims[2] = {{{0, 0, -height}, {0, 0, 1}, inner, round},
                                       {{0, 0, height}, {0, 0, -1}, inner, round}};
  abut_body_def def;
  abut_body out;
  cube_def(box, mesh, &def);
  for (uint32_t i = 0; i < 16; ++i) {
    const double turn = PI / 4.0 * (i % 8), z = i < 8 ? -height : height;
    const double at[4] = {inner * cos(turn), inner * sin(turn), z, round};
    memcpy(vertices + 4 * (size_t)i, at, sizeof at);
    arcs[i] = (abut_feature_edge){.from = i,
                                  .to = i % 8 == 7 ? i - 7 : i + 1,
                                  .radius = round,
                                  .arc = true,
                                  .centre = {0, 0, z},
                                  .axis = {0, 0, 1}};
  }
  def.cores = &core;
  def.core_count = 1;
  def.states_features = true;
  if (circles) {
    def.feature_circles = rims;
    def.feature_circle_count = 2;
  } else {
    def.feature_vertices = vertices;
    def.feature_vertex_count = 16;
    def.feature_edges = arcs;
    def.feature_edge_count = 16;
  }
  REQUIRE_OK(abut_create_body(context, &def, &out));
  return out;
}

static abut_smoothing smoothing_of(double penetration)
{
  abut_smoothing s = abut_default_smoothing();
  s.union_ = s.plane = 0.0005;
  s.sort = 0.001;
  s.penetration = s.inset = penetration;
  s.part = 2.0 * penetration;
  s.gain = 0.5 * penetration;
  s.distance = 1e-12;
  s.select = ABUT_SELECT_GATE;
  s.edge_contacts = ABUT_EDGES_FIELD;
  return s;
}

/* ---- contacts ---- */

/* The contacts of one pose, in double. */
typedef struct manifold {
  abut_layout layout;
  double *p, *d, *n, *activity, *weight;
  double *memory;
} manifold;

static manifold contacts_of(abut_body body1, abut_body body2, const abut_smoothing *s,
                            const double pose2[P])
{
  const double still[P] = {0, 0, 0, 1, 0, 0, 0};
  manifold m;
  abut_pair pair;
  outputs o;
  REQUIRE_OK(abut_create_pair(body1, body2, s, &pair));
  REQUIRE_OK(abut_get_layout(pair, &m.layout));
  const size_t slots = m.layout.contacts;
  REQUIRE(outputs_create(&o, pair, precision, 1, 0, 2.0));
  REQUIRE_OK(run_poses(pair, ABUT_POSE_QUATERNION, still, pose2, &o));
  m.memory = malloc(9 * slots * sizeof(double));
  m.p = m.memory;
  m.n = m.p + 3 * slots;
  m.d = m.n + 3 * slots;
  m.activity = m.d + slots;
  m.weight = m.activity + slots;
  for (size_t i = 0; i < slots; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      m.p[3 * i + k] = out_at(&o, OUT_P, 3 * i + k);
      m.n[3 * i + k] = out_at(&o, OUT_N, 3 * i + k);
    }
    m.d[i] = out_at(&o, OUT_D, i);
    m.activity[i] = out_at(&o, OUT_ACTIVITY, i);
    m.weight[i] = out_at(&o, OUT_WEIGHT, i);
  }
  outputs_free(&o);
  CHECK_OK(abut_destroy_pair(pair));
  return m;
}

static double sum_of(const double *numbers, size_t first, size_t end)
{
  double sum = 0.0;
  for (size_t i = first; i < end; ++i) {
    sum += numbers[i];
  }
  return sum;
}

static double off_by(const double *a, const double *b)
{
  return fmax(fabs(a[0] - b[0]), fmax(fabs(a[1] - b[1]), fabs(a[2] - b[2])));
}

static double sigmoid(double x)
{
  return 1.0 / (1.0 + exp(-x));
}

/* ---- closed forms ---- */

static const double block[3] = {0.1, 0.08, 0.06};

/* A ball 1 that is `depth` deep in the upper face of a box 2. */
static void ball_on_box(void)
{
  const double radius = 0.03, depth = 0.002;
  const double pose2[P] = {-0.01, 0.02, -(block[2] + radius - depth), 1, 0, 0, 0};
  const double up[3] = {0, 0, 1}, lowest[3] = {0, 0, -radius};
  const abut_smoothing s = smoothing_of(0.001);
  const manifold m = contacts_of(ball_of(radius), sharp_box(block), &s, pose2);
  CHECK_EQUAL(m.layout.contacts, 1 + 8 + 24);
  CHECK_EQUAL(m.layout.edge_slots[0], 0);
  CHECK_EQUAL(m.layout.edge_slots[1], 24);
  /* The field is off the distance by a share of the box's rounding of 1e-5. */
  check(fabs(m.d[0] + depth) < 1e-8 + rounding(), "a ball in a face: d is %.9g", m.d[0]);
  check(off_by(m.n, up) < 1e-6 + rounding(), "a ball in a face: n is %g %g %g", m.n[0], m.n[1],
        m.n[2]);
  check(off_by(m.p, lowest) < 1e-7 + rounding(), "a ball in a face: p is %g %g %g", m.p[0], m.p[1],
        m.p[2]);
  check(fabs(m.activity[0] - sigmoid(depth / 0.001)) < 1e-4, "a ball in a face: activity %g",
        m.activity[0]);
  check(sum_of(m.activity, 1, m.layout.contacts) < 1e-6, "the box touches the ball by %g",
        sum_of(m.activity, 1, m.layout.contacts));
  free(m.memory);
}

/* Two bars that lie on their edges and cross by an angle: lines whose distance and normal are
 * known. */
static const double bar[3] = {0.2, 0.02, 0.02};

static void crossing_pose(double gap, double angle, double pose2[P])
{
  /* Body 1 is as it is: body 2 lies along the diagonal of its cross section. */
  const double eighth[P] = {0, 0, 0, cos(PI / 8.0), sin(PI / 8.0), 0, 0};
  const double back[P] = {0, 0, 0, cos(PI / 8.0), -sin(PI / 8.0), 0, 0};
  const double turn[P] = {0.003, -0.004,          2.0 * 0.02 * sqrt(2.0) + gap, cos(0.5 * angle), 0,
                          0,     sin(0.5 * angle)};
  double upper[P];
  compose(turn, eighth, upper);
  compose(back, upper, pose2);
}

static void crossing_bars(void)
{
  static const double gaps[] = {0.001, 0.0, -0.0005, -0.002, -0.006},
                      angles[] = {0.5 * PI, 1.4, 0.7};
  const abut_body one = sharp_box(bar);
  abut_smoothing s = smoothing_of(0.001);
  s.slope = 0.0;                                      /* the distance is then that of the lines */
  const double down[3] = {0, -sqrt(0.5), -sqrt(0.5)}; /* from body 2 to body 1's edge, in body 1's
                                                         frame */
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; ++i) {
    for (size_t k = 0; k < sizeof angles / sizeof *angles; ++k) {
      double pose2[P];
      crossing_pose(gaps[i], angles[k], pose2);
      const manifold m = contacts_of(one, one, &s, pose2);
      size_t found = 0;
      CHECK_EQUAL(m.layout.contacts, 8 + 8 + 24 + 24);
      for (size_t slot = 16; slot < m.layout.contacts; ++slot) {
        const bool of_1 = slot < m.layout.edge_offset[1];
        const double wanted[3] = {0, of_1 ? down[1] : -down[1], of_1 ? down[2] : -down[2]};
        if (m.activity[slot] < 0.2) { /* at touch it is 1/4 */
          continue;
        }
        ++found;
        check(fabs(m.weight[slot] - 0.5) < 1e-3, "crossing bars: weight %g", m.weight[slot]);
        /* Two sharp edges read 0.4 of the rounding of 1e-5 too shallow. */
        check(fabs(m.d[slot] - gaps[i]) < 1e-5, "crossing bars %g deep: d is %.9g", -gaps[i],
              m.d[slot]);
        check(off_by(m.n + 3 * slot, wanted) < 0.02, "crossing bars %g deep: n is %g %g %g",
              -gaps[i], m.n[3 * slot], m.n[3 * slot + 1], m.n[3 * slot + 2]);
      }
      check(found == (gaps[i] <= 0.0 ? 4 : 0), "crossing bars %g apart at %g: %zu contacts",
            gaps[i], angles[k], found);
      check(sum_of(m.activity, 0, 16) < 1e-6, "crossing bars touch by vertices");
      free(m.memory);
    }
  }
}

/* A cube on an equal one, turned by an eighth: no corner lies inside the other one. */
static void turned_cube(void)
{
  const double half[3] = {0.05, 0.05, 0.05}, depth = 0.002, penetration = 0.0002;
  const double pose2[P] = {0, 0, 0.1 - depth, cos(PI / 8.0), 0, 0, sin(PI / 8.0)};
  const abut_body cube = sharp_box(half);
  const abut_smoothing s = smoothing_of(penetration);
  const manifold m = contacts_of(cube, cube, &s, pose2);
  size_t found[2] = {0, 0};
  check(sum_of(m.activity, 0, 16) < 1e-6, "a turned cube: vertices are active by %g",
        sum_of(m.activity, 0, 16));
  for (size_t slot = 16; slot < m.layout.contacts; ++slot) {
    const int side = slot >= m.layout.edge_offset[1];
    const double wanted[3] = {0, 0, side ? 1 : -1};
    if (m.activity[slot] > 0.5) {
      ++found[side];
      check(fabs(m.d[slot] + depth) < 1e-6, "a turned cube: d is %.9g", m.d[slot]);
      check(off_by(m.n + 3 * slot, wanted) < 1e-3, "a turned cube: n is %g %g %g", m.n[3 * slot],
            m.n[3 * slot + 1], m.n[3 * slot + 2]);
    } else {
      check(m.activity[slot] < 1e-4, "a turned cube: slot %zu is active by %g", slot,
            m.activity[slot]);
    }
  }
  /* Four edges of either cube pass two corners of the octagon that both faces have in common. */
  check(found[0] == 8 && found[1] == 8, "a turned cube: %zu and %zu contacts of edges", found[0],
        found[1]);
  free(m.memory);
}

/* A cylinder on its side, rolled about its axis in small steps, `depth` deep in a floor. Whatever
 * carries it, an arc or the vertex between two, is as deep as the cylinder. The sum of activities
 * changes by a third over an eighth of a turn, as the reference's does, and is the same an eighth
 * later. */
static void rolling(double round)
{
  const double radius = 0.05, half = 0.06, depth = 0.0005, floor_half[3] = {0.3, 0.3, 0.05};
  const abut_body cylinder = cylinder_of(radius, half, round, false),
                  ground = sharp_box(floor_half);
  const abut_smoothing s = smoothing_of(0.0005);
  enum { STEPS = 144, EIGHTH = STEPS / 8 };
  double least = HUGE_VAL, most = 0.0, mean = 0.0, sums[STEPS];
  for (int i = 0; i < STEPS; ++i) {
    /* The floor is turned about the cylinder, which is as it is. */
    const double turn = 2.0 * PI * (i + 0.3) / STEPS;
    const double spin[P] = {0, 0, 0, cos(0.5 * turn), 0, 0, sin(0.5 * turn)};
    const double side[P] = {0, floor_half[2] + radius - depth, 0, sqrt(0.5), -sqrt(0.5), 0, 0};
    double pose2[P], deepest = 0.0;
    compose(spin, side, pose2);
    const manifold m = contacts_of(cylinder, ground, &s, pose2);
    CHECK_EQUAL(m.layout.contacts, 16 + 8 + 32 + 24);
    for (size_t slot = 0; slot < m.layout.contacts; ++slot) {
      deepest = m.activity[slot] > 0.1 ? fmin(deepest, m.d[slot]) : deepest;
    }
    const double sum = sum_of(m.activity, 0, m.layout.contacts);
    check(deepest > -1.001 * depth && deepest < -0.94 * depth,
          "rolling, round %g, step %d: %g deep", round, i, -deepest);
    const double before = i < EIGHTH ? sum : sums[i - EIGHTH];
    check(fabs(sum - before) < 1e4 * rounding(),
          "rolling, round %g, step %d: activities of %g, not %g", round, i, sum, before);
    sums[i] = sum;
    least = fmin(least, sum);
    most = fmax(most, sum);
    mean += sum / STEPS;
    free(m.memory);
  }
  check(least > 0.75 * mean && most < 1.3 * mean,
        "rolling, round %g: the sum of activities goes from %g to %g", round, least, most);
  printf("rolling, round %g: sum of activities %g to %g, mean %g\n", round, least, most, mean);
}

/* The same with rims that are circles: the sum of activities hardly changes over a turn. Those of
 * the floor's own edges and corners are none. */
static void rolling_on_circles(double round)
{
  const double radius = 0.05, half = 0.06, depth = 0.0005, floor_half[3] = {0.3, 0.3, 0.05};
  const abut_body cylinder = cylinder_of(radius, half, round, true), ground = sharp_box(floor_half);
  const abut_smoothing s = smoothing_of(0.0005);
  double least = HUGE_VAL, most = 0.0;
  for (int i = 0; i < 144; ++i) {
    const double turn = 2.0 * PI * (i + 0.3) / 144;
    const double spin[P] = {0, 0, 0, cos(0.5 * turn), 0, 0, sin(0.5 * turn)};
    const double side[P] = {0, floor_half[2] + radius - depth, 0, sqrt(0.5), -sqrt(0.5), 0, 0};
    double pose2[P], deepest = 0.0, z = 0.0;
    compose(spin, side, pose2);
    const manifold m = contacts_of(cylinder, ground, &s, pose2);
    CHECK_EQUAL(m.layout.edge_slots[0], 2 * 8);
    for (size_t slot = 0; slot < m.layout.contacts; ++slot) {
      deepest = m.activity[slot] > 0.1 ? fmin(deepest, m.d[slot]) : deepest;
      z += m.activity[slot] * m.p[3 * slot + 2];
    }
    const double sum = sum_of(m.activity, 0, m.layout.contacts);
    check(deepest > -1.001 * depth && deepest < -0.97 * depth,
          "circles, round %g, step %d: %g deep", round, i, -deepest);
    check(fabs(z) < 1e-3 * half * sum,
          "circles, round %g, step %d: the middle of contacts is %g aside", round, i, z / sum);
    least = fmin(least, sum);
    most = fmax(most, sum);
    free(m.memory);
  }
  check(least > 0.97 * most && least > 1.0,
        "circles, round %g: the sum of activities goes from %g to %g", round, least, most);
}

/* A cylinder that stands on a floor has eight equal contacts around its lower rim. */
static void standing_on_a_circle(void)
{
  const double radius = 0.05, half = 0.06, depth = 0.0005, floor_half[3] = {0.3, 0.3, 0.05};
  const abut_body cylinder = cylinder_of(radius, half, 0.002, true), ground = sharp_box(floor_half);
  const abut_smoothing s = smoothing_of(0.0005);
  const double below[P] = {0, 0, -half - floor_half[2] + depth, 1, 0, 0, 0};
  const manifold m = contacts_of(cylinder, ground, &s, below);
  double middle[2] = {0};
  for (size_t slot = 0; slot < m.layout.contacts; ++slot) {
    const double *p = m.p + 3 * slot;
    if (m.activity[slot] > 1e-3) {
      check(fabs(m.d[slot] + depth) < 1e-6 && fabs(m.activity[slot] - sigmoid(1.0)) < 1e-3,
            "slot %zu: d %g, activity %g", slot, m.d[slot], m.activity[slot]);
      middle[0] += p[0];
      middle[1] += p[1];
    }
  }
  check(fabs(sum_of(m.activity, 0, m.layout.contacts) - 8.0 * sigmoid(1.0)) < 0.02,
        "standing: activities of %g", sum_of(m.activity, 0, m.layout.contacts));
  check(hypot(middle[0], middle[1]) < 1e-6, "standing: the contacts lie %g aside",
        hypot(middle[0], middle[1]));
  free(m.memory);
}

/* ---- selections and variants ---- */

static bool same_contact(const manifold *a, size_t i, const manifold *b, size_t k)
{
  return off_by(a->p + 3 * i, b->p + 3 * k) < rounding() && fabs(a->d[i] - b->d[k]) < rounding() &&
         off_by(a->n + 3 * i, b->n + 3 * k) < 1e-5 && fabs(a->activity[i] - b->activity[k]) < 1e-5;
}

/* Gates keep edges in the order of their scores, each with its two slots. */
static void selected(void)
{
  const abut_body one = sharp_box(bar);
  abut_smoothing s = smoothing_of(0.001);
  double pose2[P];
  crossing_pose(-0.002, 1.2, pose2);
  const manifold all = contacts_of(one, one, &s, pose2);
  for (uint32_t kept = 1; kept <= 20; kept += kept < 12 ? 1 : 8) {
    s.edges[0] = s.edges[1] = kept;
    const manifold m = contacts_of(one, one, &s, pose2);
    const size_t edges = kept < 12 ? kept : 12;
    CHECK_EQUAL(m.layout.edges[0], edges);
    CHECK_EQUAL(m.layout.edge_slots[0], 2 * edges);
    CHECK_EQUAL(m.layout.contacts, 16 + 4 * edges);
    for (int side = 0; side < 2; ++side) {
      const size_t first = all.layout.edge_offset[side], kept_first = m.layout.edge_offset[side];
      for (size_t i = 0; i < 24; ++i) {
        bool there = all.activity[first + i] < 1e-3;
        for (size_t k = 0; !there && k < 2 * edges; ++k) {
          there = same_contact(&all, first + i, &m, kept_first + k);
        }
        check(there, "%u kept edges: slot %zu of body %d is lost", kept, i, side + 1);
      }
      const double lost = sum_of(all.activity, first, first + 24) -
                          sum_of(m.activity, kept_first, kept_first + 2 * edges);
      check(fabs(lost) < 1e-5, "%u kept edges: activity of %g is lost", kept, lost);
    }
    free(m.memory);
  }
  free(all.memory);
}

/* Groups that are off have no slots, and leave the others as they are. */
static void variants(void)
{
  const abut_body one = sharp_box(block);
  const double pose2[P] = {0.03, 0.02, 2.0 * block[2] - 0.002, cos(0.3), 0, 0, sin(0.3)};
  abut_smoothing s = smoothing_of(0.001);
  const manifold all = contacts_of(one, one, &s, pose2);
  s.two_sided = false;
  const manifold first = contacts_of(one, one, &s, pose2);
  CHECK_EQUAL(first.layout.contacts, 8 + 24);
  CHECK_EQUAL(first.layout.edge_offset[0], 8);
  for (size_t i = 0; i < 8 + 24; ++i) {
    check(same_contact(&first, i, &all, i < 8 ? i : i + 8), "one-sided: slot %zu differs", i);
  }
  s.edge_edge = false;
  const manifold vertices = contacts_of(one, one, &s, pose2);
  CHECK_EQUAL(vertices.layout.contacts, 8);
  s.two_sided = true;
  const manifold both = contacts_of(one, one, &s, pose2);
  CHECK_EQUAL(both.layout.contacts, 16);
  for (size_t i = 0; i < 16; ++i) {
    check(same_contact(&both, i, &all, i), "vertices alone: slot %zu differs", i);
  }
  free(all.memory);
  free(first.memory);
  free(vertices.memory);
  free(both.memory);
}

/* A plane has a field and no features. */
static void no_features(void)
{
  const double floor_half[3] = {0.5, 0.5, 0.05}, depth = 0.001;
  const double pose2[P] = {0, 0, -(block[2] + floor_half[2] - depth), 1, 0, 0, 0};
  const abut_body plane = body_with(floor_half, 0.001, NULL, 0), box = sharp_box(block);
  const abut_smoothing s = smoothing_of(0.001);
  const manifold m = contacts_of(box, plane, &s, pose2);
  abut_pair pair;
  CHECK_EQUAL(m.layout.contacts, 8 + 24);
  CHECK_EQUAL(m.layout.vertices[1], 0);
  for (size_t i = 0; i < 8; ++i) { /* corners 0 to 3 are the lower ones */
    check(i > 3 || fabs(m.d[i] + depth) < 1e-6, "corner %zu is %g deep in a plane", i, -m.d[i]);
    check(fabs(m.activity[i] - (i > 3 ? 0.0 : sigmoid(1.0))) < 1e-3, "corner %zu is active by %g",
          i, m.activity[i]);
  }
  /* Edges that lie wholly on a face are their corners' alone. */
  check(sum_of(m.activity, 8, m.layout.contacts) < 1e-3, "flat edges are active by %g",
        sum_of(m.activity, 8, m.layout.contacts));
  free(m.memory);
  CHECK(abut_create_pair(plane, plane, &s, &pair) == ABUT_ERROR_ARGUMENT);
  check(strstr(abut_last_error(), "neither body has vertices or edges") != NULL, "%s",
        abut_last_error());
}

/* Pairs of edges are of the meshes, whatever features the bodies state. */
static void pairs_are_of_meshes(void)
{
  const abut_body round = box_of(block, 0.01, true), sharp = sharp_box(block);
  abut_smoothing s = smoothing_of(0.001);
  abut_pair pair;
  abut_layout l;
  s.edge_contacts = ABUT_EDGES_PAIRS;
  CHECK_OK(abut_create_pair(sharp, round, &s, &pair));
  CHECK_OK(abut_get_layout(pair, &l));
  CHECK_EQUAL(l.edge_slots[0], l.edges[0] * l.edges[1]);
  s.edge_contacts = ABUT_EDGES_FIELD;
  CHECK_OK(abut_create_pair(sharp, round, &s, &pair));
  CHECK_OK(abut_get_layout(pair, &l));
  CHECK_EQUAL(l.edge_slots[0], 2 * l.edges[0]);
}

/* Fitted smoothing has edges in fields with cones, and coefficients that follow the penetration;
 * the other fit has pairs of edges without cones, of some edges where a body has many. */
static void fitted(void)
{
  const abut_body round = box_of(block, 0.01, true), sharp = sharp_box(block);
  abut_body rough;
  abut_smoothing s;
  uint64_t seed = 4;
  REQUIRE(random_body(context, &seed, &rough));
  CHECK_OK(abut_fit_smoothing(sharp, sharp, &s));
  CHECK_EQUAL(s.edge_contacts, ABUT_EDGES_FIELD);
  CHECK(s.cone_inner == 15.0 && s.cone_outer == 35.0 && s.cone_hold == 2.0 &&
        s.cone_inset == 3.0 * s.penetration);
  CHECK_EQUAL(s.samples, 1);
  CHECK(s.inset == s.penetration && s.part == 2.0 * s.penetration && s.gain == 0.5 * s.penetration);
  CHECK(s.tilt == 0.05 && s.slope == 0.05);
  CHECK_OK(abut_fit_smoothing(sharp, round, &s));
  CHECK_EQUAL(s.edge_contacts, ABUT_EDGES_FIELD);
  CHECK_OK(abut_fit_smoothing(round, rough, &s));
  CHECK_EQUAL(s.samples, 8);
  CHECK(!s.edges[0] && !s.edges[1]);
  CHECK_OK(abut_fit_edge_pairs(sharp, rough, &s));
  CHECK_EQUAL(s.edge_contacts, ABUT_EDGES_PAIRS);
  CHECK(s.cone_outer == 0.0 && s.cone_inset == 0.0);
  CHECK_EQUAL(s.edges[0], 0);
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  context = require_context(precision);
  ball_on_box();
  crossing_bars();
  turned_cube();
  rolling(0.005);
  rolling(0.0005);
  rolling_on_circles(0.005);
  rolling_on_circles(0.0005);
  standing_on_a_circle();
  selected();
  variants();
  no_features();
  pairs_are_of_meshes();
  fitted();
  return finish_context(context);
}
