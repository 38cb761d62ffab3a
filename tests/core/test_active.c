/* Lists of active contacts, which bounds keep short, against the full manifold's: test_active
 * PRECISION GOLDEN_FOLDER. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 160, CAPACITY = 400000 };

static abut_precision precision;

/* A list, all of whose arrays are there. */
typedef struct list {
  abut_compact c;
} list;

static bool list_create(list *l, double threshold, size_t capacity)
{
  const size_t real = real_size(precision);
  l->c = (abut_compact){.threshold = threshold, .capacity = capacity};
  l->c.pose = calloc(capacity, sizeof(uint32_t));
  l->c.slot = calloc(capacity, sizeof(uint32_t));
  l->c.feature = calloc(capacity, 2 * sizeof(uint32_t));
  l->c.p = calloc(capacity, 3 * real);
  l->c.n = calloc(capacity, 3 * real);
  l->c.d = calloc(capacity, real);
  l->c.activity = calloc(capacity, real);
  return l->c.pose && l->c.slot && l->c.feature && l->c.p && l->c.n && l->c.d && l->c.activity;
}

static void list_free(list *l)
{
  free(l->c.pose);
  free(l->c.slot);
  free(l->c.feature);
  free(l->c.p);
  free(l->c.n);
  free(l->c.d);
  free(l->c.activity);
}

/* Touching, overlapping, far, astronomically far; some in another's place. */
static void make_poses(double size, double *pose1, double *pose2)
{
  uint64_t seed = 5;
  for (size_t i = 0; i < POSES; ++i) {
    static const double reaches[] = {0.05, 0.3, 0.6, 1.0, 2.0, 30.0, 1e6, 0.0};
    random_pose(&seed, 0.3 * size, pose1 + 7 * i);
    random_pose(&seed, reaches[i % 8] * size, pose2 + 7 * i);
    for (int k = 0; k < 3; ++k) {
      pose2[7 * i + (size_t)k] += pose1[7 * i + (size_t)k];
    }
  }
}

static void compare_entries(const list *full, const list *active, const char *what)
{
  const abut_compact *a = &full->c, *b = &active->c;
  const bool wide = precision == ABUT_FLOAT64;
  const double edge = wide ? 1e-9 : 1e-3; /* of the threshold: either side may round over it */
  double worst[4] = {0.0, 0.0, 0.0, 0.0};
  size_t missing = 0, extra = 0, i = 0, k = 0;
  while (i < a->count || k < b->count) {
    const bool left = i < a->count, right = k < b->count;
    const uint64_t at = left ? ((uint64_t)a->pose[i] << 32) + a->slot[i] : UINT64_MAX;
    const uint64_t other = right ? ((uint64_t)b->pose[k] << 32) + b->slot[k] : UINT64_MAX;
    if (at != other) {
      const double activity = at < other ? real_at(a->activity, precision, i++)
                                         : real_at(b->activity, precision, k++);
      const bool close = fabs(activity / a->threshold - 1.0) < edge;
      missing += at < other && !close;
      extra += at > other && !close;
      continue;
    }
    check(a->feature[2 * i] == b->feature[2 * k] && a->feature[2 * i + 1] == b->feature[2 * k + 1],
          "%s: entry %zu has other features", what, i);
    for (size_t j = 0; j < 3; ++j) {
      worst[0] = fmax(worst[0], fabs(real_at(a->p, precision, 3 * i + j) -
                                     real_at(b->p, precision, 3 * k + j)));
      worst[1] = fmax(worst[1], fabs(real_at(a->n, precision, 3 * i + j) -
                                     real_at(b->n, precision, 3 * k + j)));
    }
    worst[2] = fmax(worst[2], fabs(real_at(a->d, precision, i) - real_at(b->d, precision, k)));
    worst[3] =
      fmax(worst[3], fabs(real_at(a->activity, precision, i) - real_at(b->activity, precision, k)));
    ++i;
    ++k;
  }
  check(!missing && !extra, "%s: of %zu entries %zu are missing, and %zu are too many", what,
        a->count, missing, extra);
  check(worst[0] <= (wide ? 1e-11 : 1e-4), "%s: p is off by %.3g", what, worst[0]);
  check(worst[1] <= (wide ? 1e-9 : 1e-2), "%s: n is off by %.3g", what, worst[1]);
  check(worst[2] <= (wide ? 1e-10 : 1e-3), "%s: d is off by %.3g", what, worst[2]);
  check(worst[3] <= (wide ? 1e-10 : 1e-4), "%s: activity is off by %.3g", what, worst[3]);
}

static void compare_lists(abut_pair pair, double threshold, const double *pose1,
                          const double *pose2, const char *what)
{
  abut_layout layout;
  list full, active;
  CHECK_OK(abut_get_layout(pair, &layout));
  void *x1 = to_reals(pose1, 7 * POSES, precision), *x2 = to_reals(pose2, 7 * POSES, precision);
  void *d = calloc(POSES * layout.contacts, real_size(precision));
  if (!check(list_create(&full, threshold, CAPACITY) && list_create(&active, threshold, CAPACITY) &&
               d,
             "no memory")) {
    return;
  }
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = x1;
  batch.pose2 = x2;
  batch.compact = &active.c;
  CHECK_OK(abut_contacts(pair, &batch));
  batch.d = d; /* all contacts are asked for: none is left out */
  batch.compact = &full.c;
  CHECK_OK(abut_contacts(pair, &batch));
  compare_entries(&full, &active, what);
  list_free(&full);
  list_free(&active);
  free(x1);
  free(x2);
  free(d);
}

/* Ways of choosing, with and without what the activities may be multiplied by. */
static void compare_pair(const abut_body bodies[2], const char *name)
{
  static const uint32_t keeps[][2] = {{18, 18}, {0, 0}, {5, 0}, {1, 40}};
  static double pose1[7 * POSES], pose2[7 * POSES];
  abut_body_info info[2];
  abut_smoothing s;
  char what[128];
  CHECK_OK(abut_get_body_info(bodies[0], &info[0]));
  CHECK_OK(abut_get_body_info(bodies[1], &info[1]));
  CHECK_OK(abut_fit_edge_pairs(bodies[0], bodies[1], &s));
  make_poses(fmax(info[0].diagonal, info[1].diagonal), pose1, pose2);
  for (int i = 0; i < 8; ++i) {
    const uint32_t *keep = keeps[i % 4];
    if ((!keep[0] && info[0].edges > 100) || (!keep[1] && info[1].edges > 100)) {
      continue; /* all pairs of all edges */
    }
    static const double thresholds[] = {1e-3, 0.1, 1e-5, 0.6};
    s.select = ABUT_SELECT_GATE;
    s.edges[0] = keep[0];
    s.edges[1] = keep[1];
    s.floor = i & 4 ? 1e-2 : 0.0;
    s.inside = i == 5;
    s.margin = i == 4 ? 3.0 * s.penetration : 0.0;
    s.two_sided = i != 6;
    s.edge_edge = i != 7;
    abut_pair pair;
    snprintf(what, sizeof what, "%s, way %d", name, i);
    if (CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair))) {
      compare_lists(pair, thresholds[i % 4], pose1, pose2, what);
      CHECK_OK(abut_destroy_pair(pair));
    }
  }
}

/* Edges in fields, all of them or, of which lists cannot leave any out, some; of features with
 * radii and arcs, and with cones, too. */
static void compare_fields(const abut_body bodies[2], const char *name)
{
  static double pose1[7 * POSES], pose2[7 * POSES];
  abut_body_info info[2];
  abut_smoothing s;
  char what[128];
  CHECK_OK(abut_get_body_info(bodies[0], &info[0]));
  CHECK_OK(abut_get_body_info(bodies[1], &info[1]));
  CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &s));
  make_poses(fmax(info[0].diagonal, info[1].diagonal), pose1, pose2);
  for (int i = 0; i < 6; ++i) {
    static const double thresholds[] = {1e-3, 0.1, 1e-5, 0.6, 1e-3, 0.1};
    abut_pair pair;
    s.edge_contacts = ABUT_EDGES_FIELD;
    s.select = ABUT_SELECT_GATE;
    s.edges[0] = s.edges[1] = i == 2 ? 5 : 0;
    s.samples = i == 1 ? 4 : 1;
    s.floor = i & 1 ? 1e-2 : 0.0;
    s.two_sided = i != 3;
    s.cone_inner = 15.0;
    s.cone_outer = i > 3 ? 35.0 : 0.0;
    s.cone_hold = 2.0;
    s.cone_inset = i > 4 ? 2.0 * s.penetration : 0.0;
    s.margin = i == 4 ? 5.0 * s.penetration : i == 3 ? -2.0 * s.penetration : 0.0;
    snprintf(what, sizeof what, "%s in fields, way %d", name, i);
    if (CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair))) {
      compare_lists(pair, thresholds[i], pose1, pose2, what);
      CHECK_OK(abut_destroy_pair(pair));
    }
  }
}

static bool make_round(abut_context context, abut_core core, const double *vertices,
                       size_t vertex_count, const abut_feature_edge *edges, size_t edge_count,
                       abut_body *out)
{
  double cube[24];
  const double half[3] = {0.3, 0.2, 0.4};
  abut_body_def def;
  cube_def(half, cube, &def);
  core.quaternion[0] = 1.0;
  def.cores = &core;
  def.core_count = 1;
  def.states_features = true;
  def.feature_vertices = vertices;
  def.feature_vertex_count = vertex_count;
  def.feature_edges = edges;
  def.feature_edge_count = edge_count;
  return CHECK_OK(abut_create_body(context, &def, out));
}

static void compare_round(abut_context context)
{
  static const double ball[4] = {0, 0, 0, 0.3};
  static const double capsule[8] = {0, 0, -0.3, 0.1, 0, 0, 0.3, 0.1};
  static const double rim[8] = {0.3, 0, 0.2, 0.0, 0, 0.3, 0.2, 0.0};
  static const abut_feature_edge rod = {0, 1, 0.1, false, {0, 0, 0}, {0, 0, 0}};
  static const abut_feature_edge arc = {0, 1, 0.0, true, {0, 0, 0.2}, {0, 0, 1}};
  abut_body b[3];
  if (!make_round(context, (abut_core){.kind = ABUT_CORE_BOX, .radius = 0.3}, ball, 1, NULL, 0,
                  &b[0]) ||
      !make_round(context, (abut_core){.kind = ABUT_CORE_BOX, .half = {0, 0, 0.3}, .radius = 0.1},
                  capsule, 2, &rod, 1, &b[1]) ||
      !make_round(context,
                  (abut_core){.kind = ABUT_CORE_DISC, .half = {0.295, 0.195}, .radius = 0.005}, rim,
                  2, &arc, 1, &b[2])) {
    return;
  }
  for (int i = 0; i < 9; ++i) {
    char name[32];
    snprintf(name, sizeof name, "round bodies %d, %d", i / 3, i % 3);
    compare_fields((const abut_body[]){b[i / 3], b[i % 3]}, name);
  }
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(abut_destroy_body(b[i]));
  }
}

static void compare_golden(abut_context context, const char *folder, const char *name)
{
  abut_body bodies[2];
  char path[4096];
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%s/%c.body.json", folder, name, "ab"[i]);
    if (!CHECK_OK(abut_load_body(context, path, &bodies[i]))) {
      return;
    }
  }
  compare_pair(bodies, name);
  compare_fields(bodies, name);
  CHECK_OK(abut_destroy_body(bodies[0]));
  CHECK_OK(abut_destroy_body(bodies[1]));
}

static void compare_random(abut_context context)
{
  uint64_t seed = 91;
  for (int i = 0; i < 12; ++i) {
    abut_body bodies[2];
    char what[32];
    snprintf(what, sizeof what, "random bodies %d", i);
    if (any_body(context, &seed, &bodies[0]) && any_body(context, &seed, &bodies[1])) {
      compare_pair(bodies, what);
      compare_fields(bodies, what);
      CHECK_OK(abut_destroy_body(bodies[0]));
      CHECK_OK(abut_destroy_body(bodies[1]));
    }
  }
}

/* A box as a thin superquadric, whose values inside say little of depth. */
static bool make_thin(abut_context context, const double half[3], abut_body *out)
{
  double vertices[24];
  abut_body_def def;
  cube_def(half, vertices, &def);
  const abut_superquadric solid = {{half[0], half[1], half[2]},
                                   {0.1, 0.1},
                                   {0, 0, 0},
                                   {1, 0, 0, 0},
                                   ABUT_ADD};
  def.superquadrics = &solid;
  def.superquadric_count = 1;
  return CHECK_OK(abut_create_body(context, &def, out));
}

/* Every pose holds a grain within the plate or close to it. */
static void put_grains(double thickness, double *pose1, double *pose2)
{
  uint64_t seed = 77;
  for (size_t i = 0; i < POSES; ++i) {
    const double inside[3] = {0.45 * (2.0 * random_uniform(&seed) - 1.0),
                              0.35 * (2.0 * random_uniform(&seed) - 1.0),
                              1.5 * thickness * (2.0 * random_uniform(&seed) - 1.0)};
    random_pose(&seed, 0.5, pose1 + 7 * i);
    random_pose(&seed, 0.0, pose2 + 7 * i);
    apply(pose1 + 7 * i, inside, false, pose2 + 7 * i);
  }
}

/* Thresholds above one half ask for depth, of which bounds know nothing: in a plate's middle a
 * superquadric's depth, along the ray from its centre, is many times that below the face. */
static void try_deep_thresholds(abut_context context)
{
  static const double thresholds[] = {0.5, 0.6, 0.8, 0.95}, thicknesses[] = {0.2, 0.02, 0.003};
  static const double grain[3] = {0.01, 0.01, 0.01};
  static double pose1[7 * POSES], pose2[7 * POSES];
  for (size_t i = 0; i < 3; ++i) {
    abut_body bodies[2];
    abut_smoothing s;
    abut_pair pair;
    const double plate[3] = {0.5, 0.4, thicknesses[i]};
    put_grains(thicknesses[i], pose1, pose2);
    if (!make_thin(context, plate, &bodies[0]) || !make_thin(context, grain, &bodies[1]) ||
        !CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &s))) {
      return;
    }
    s.penetration = 2.0 * grain[0];
    if (!CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair))) {
      return;
    }
    for (size_t k = 0; k < 4; ++k) {
      char what[64];
      snprintf(what, sizeof what, "thickness %g, threshold %g", thicknesses[i], thresholds[k]);
      compare_lists(pair, thresholds[k], pose1, pose2, what);
    }
    CHECK_OK(abut_destroy_pair(pair));
    CHECK_OK(abut_destroy_body(bodies[0]));
    CHECK_OK(abut_destroy_body(bodies[1]));
  }
}

/* The first list of a context, and nothing can be in it. */
static void try_nothing(abut_context context)
{
  const double half[3] = {0.5, 0.5, 0.5};
  abut_body box;
  abut_pair pair;
  abut_smoothing s = abut_default_smoothing();
  list l;
  if (!make_box(context, half, &box) || !CHECK_OK(abut_create_pair(box, box, &s, &pair))) {
    return;
  }
  const double here[7] = {0, 0, 0, 1, 0, 0, 0}, far[7] = {9, 9, 9, 1, 0, 0, 0};
  void *x1 = to_reals(here, 7, precision), *x2 = to_reals(far, 7, precision);
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = x1;
  batch.pose2 = x2;
  batch.compact = &l.c;
  if (check(list_create(&l, 1e-3, 10), "no memory")) {
    CHECK_OK(abut_contacts(pair, &batch));
    check(l.c.count == 0, "boxes far apart have %zu active contacts", l.c.count);
    list_free(&l);
  }
  free(x1);
  free(x2);
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(box));
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  abut_context context;
  if (argc < 3 || !test_context(precision, &context)) {
    return 77;
  }
  try_nothing(context);
  compare_golden(context, argv[2], "figure-gate");
  compare_golden(context, argv[2], "box-on-box");
  compare_golden(context, argv[2], "grids");
  compare_golden(context, argv[2], "grids-fine");
  if (!usual_share()) {
    compare_golden(context, argv[2], "airplane-drill");
    compare_golden(context, argv[2], "composed");
  }
  compare_random(context);
  compare_round(context);
  try_deep_thresholds(context);
  return finish_context(context);
}
