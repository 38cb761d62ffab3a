/* Boxes by which pairs are left out, on pairs of bodies of all families: where boxes are apart, all
 * slots of the whole manifold have activities of exactly 0, also where boxes are just apart; and
 * boxes are apart wherever bodies are well apart:
 *   test_boxes PRECISION POSES [FILE...]
 * With files, bodies are those instead. */
#include "core/grids.h"
#include "core/heights.h"
#include "core/scene.h"

#include "contact/active.h"
#include "scene/body_shapes.h"
#include "world/boxes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 11, SMOOTHINGS = 4, IN_FIELDS = 2, CHUNK = 200, PLANES = 40 };
enum {
  CUBE,
  SUPERQUADRIC,
  UNION,
  POLYHEDRON,
  GRID,
  FINE_GRID,
  WILD_GRID,
  CAPSULE,
  MIXTURE,
  GROUND,
  CYLINDER
};

static abut_precision precision;
static abut_context where;

/* ---- bodies ---- */

static const char *const names[BODIES] = {"cube",    "superquadric", "union",     "polyhedron",
                                          "grid",    "fine grid",    "wild grid", "capsule",
                                          "mixture", "ground",       "cylinder"};

/* A mesh of a cube's corners and, between them, the ends of its axes: 14 vertices, 36 edges. */
static void star_mesh(const double half[3], double vertices[42], abut_body_def *def)
{
  static const uint32_t three[24] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
                                     3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
  static const uint32_t sides[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                       {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  static uint32_t corners[72];
  for (size_t i = 0; i < 14; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double corner = i >> (2 - k) & 1 ? 0.7 : -0.7;
      const double end = (i - 8) / 2 == k ? (i % 2 ? 1.0 : -1.0) : 0.0;
      vertices[3 * i + k] = half[k] * (i < 8 ? corner : end);
    }
  }
  for (uint32_t i = 0; i < 24; ++i) {
    corners[3 * i] = sides[i / 4][i % 4];
    corners[3 * i + 1] = sides[i / 4][(i + 1) % 4];
    corners[3 * i + 2] = 8 + i / 4;
  }
  *def = abut_default_body_def();
  def->vertices = vertices;
  def->vertex_count = 14;
  def->face_sizes = three;
  def->face_indices = corners;
  def->face_count = 24;
}

static void random_way(uint64_t *seed, double way[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    way[k] = random_normal(seed);
    sum += way[k] * way[k];
  }
  for (int k = 0; k < 3; ++k) {
    way[k] /= sqrt(sum);
  }
}

/* Planes that touch an ellipsoid all around. */
static void tangent_planes(uint64_t *seed, const double half[3], double planes[6 * PLANES])
{
  for (size_t i = 0; i < PLANES; ++i) {
    double way[3];
    random_way(seed, way);
    for (size_t k = 0; k < 3; ++k) {
      const bool first = i < 6; /* so that they have an end */
      const double n = first ? (i / 2 == k ? (i % 2 ? 1.0 : -1.0) : 0.0) : way[k];
      planes[6 * i + k] = n / half[k];
      planes[6 * i + 3 + k] = n * half[k];
    }
  }
}

static abut_superquadric solid(uint64_t *seed, double size, abut_operation does)
{
  abut_superquadric s = {.exponents = {0.2 + 1.8 * random_uniform(seed),
                                       0.2 + 1.8 * random_uniform(seed)},
                         .operation = does};
  for (int k = 0; k < 4; ++k) {
    s.quaternion[k] = random_normal(seed);
  }
  for (int k = 0; k < 3; ++k) {
    s.axes[k] = size * (0.4 + 0.6 * random_uniform(seed));
    s.position[k] = size * (random_uniform(seed) - 0.5);
  }
  return s;
}

/* Leaves corrections to the middle, as those of a mesh's distance are. In a wild grid they reach
 * its ends. */
static void calm(grid_sample *s)
{
  for (size_t level = 1; level <= s->grid.level_count; ++level) {
    const double scale = (double)(1 << level);
    for (size_t i = 0; i < s->levels[level - 1].block_count * SAMPLE_BLOCK; ++i) {
      const int32_t *block = s->blocks[level - 1] + i / SAMPLE_BLOCK * 3;
      const size_t node[3] = {i % 512 / 64, i % 64 / 8, i % 8};
      for (size_t k = 0; k < 3; ++k) {
        const double at = (8.0 * (double)block[k] + (double)node[k]) / scale;
        if (at < 4.0 || at > (double)s->grid.size[k] - 5.0) {
          s->corrections[level - 1][i] = 0.0;
        }
      }
    }
  }
}

/* What bodies besides cubes and capsules are made of. */
typedef struct parts {
  double half[3], vertices[42], planes[6 * PLANES];
  abut_superquadric solids[4];
  abut_polyhedron polyhedron;
  grid_sample *sample;
  abut_body_def def;
} parts;

static void set_primitives(parts *p, size_t solids, size_t polyhedra, size_t grids)
{
  p->def.superquadrics = p->solids;
  p->def.superquadric_count = solids;
  p->def.polyhedra = &p->polyhedron;
  p->def.polyhedron_count = polyhedra;
  p->def.grids = &p->sample->grid;
  p->def.grid_count = grids;
}

static void make_parts(uint64_t *seed, int which, parts *p)
{
  const double size = which == UNION || which == MIXTURE ? 1.3 : 1.0;
  for (int k = 0; k < 3; ++k) {
    p->half[k] = size * (0.5 - 0.1 * k);
  }
  star_mesh(p->half, p->vertices, &p->def);
  for (int i = 0; i < 4; ++i) {
    p->solids[i] = solid(seed, 0.35, i == 3 ? ABUT_SUBTRACT : ABUT_ADD);
  }
  if (which == SUPERQUADRIC) { /* straight, so that the box touches it */
    p->solids[0] =
      (abut_superquadric){{0.5, 0.4, 0.3}, {0.5, 1.6}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  }
  tangent_planes(seed, p->half, p->planes);
  p->polyhedron = (abut_polyhedron){p->planes, PLANES, ABUT_ADD};
  grid_sample_make(p->sample, seed, which == GRID ? 0 : 2, 0.6, ABUT_ADD);
  if (which != WILD_GRID) {
    calm(p->sample);
  }
  set_primitives(p,
                 which == SUPERQUADRIC ? 1
                 : which == UNION      ? 4
                 : which == MIXTURE    ? 2
                                       : 0,
                 which == POLYHEDRON || which == MIXTURE, which >= GRID);
}

static void make_body(int which, abut_body *out)
{
  static const double box[3] = {0.25, 0.25, 0.25}, capsule[3] = {0.15, 0.3, 0.0},
                      cylinder[3] = {0.2, 0.2, 0.0};
  uint64_t seed = 11 + (uint64_t)which;
  arena memory = {0};
  abut_body_def def;
  if (which == CUBE || which == CAPSULE || which == CYLINDER) {
    const body_shape shape = which == CUBE      ? SHAPE_BOX
                             : which == CAPSULE ? SHAPE_CAPSULE
                                                : SHAPE_CYLINDER;
    const double *size = which == CUBE ? box : which == CAPSULE ? capsule : cylinder;
    REQUIRE_OK(body_shape_make(shape, size, 0.0, &memory, &def));
    REQUIRE_OK(abut_create_body(where, &def, out));
  } else if (which == GROUND) {
    height_sample s;
    height_sample_make(&s, &seed, 0.05, 0.7, ABUT_ADD);
    REQUIRE_OK(body_of_heights(&s.field, &memory, &def));
    REQUIRE_OK(abut_create_body(where, &def, out));
  } else {
    parts p = {.sample = calloc(1, sizeof(grid_sample))};
    REQUIRE(p.sample != NULL);
    make_parts(&seed, which, &p);
    REQUIRE_OK(abut_create_body(where, &p.def, out));
    free(p.sample);
  }
  arena_free(&memory);
}

/* ---- pairs ---- */

/* Above curved ground a height field's slope grows with the height, so that a depth that is divided
 * by it has no bound. */
static bool has_heights(abut_body of)
{
  abut_body_info info;
  REQUIRE_OK(abut_get_body_info(of, &info));
  return info.height_fields > 0;
}

/* Fitted smoothing has a floor of its own; others look elsewhere. From SMOOTHINGS on contacts of
 * edges are those with fields, of all edges, without and with cones like those of scenes; on ground
 * their depths are not divided by slopes. */
static void make_pair(abut_body a, abut_body b, int which, abut_pair *out)
{
  abut_smoothing s;
  REQUIRE_OK(which < SMOOTHINGS ? abut_fit_edge_pairs(a, b, &s) : abut_fit_smoothing(a, b, &s));
  s.floor = which == 1 ? 1e-6 : which == 2 ? 0.02 : 1e-3;
  s.select = ABUT_SELECT_GATE;
  s.edges[0] = s.edges[1] = which < SMOOTHINGS ? 8 : 0;
  s.edge_contacts = which < SMOOTHINGS ? ABUT_EDGES_PAIRS : ABUT_EDGES_FIELD;
  if (which == 1) {
    s.two_sided = false;
  }
  if (which == 2) { /* wide unions and shallow contacts */
    s.union_ *= 20.0;
  }
  if (which == 3) { /* witness points far beyond the edges' ends */
    s.compare = 1.0;
  }
  if (which >= SMOOTHINGS && (has_heights(a) || has_heights(b))) {
    s.slope = -1.0;
  }
  if (which == SMOOTHINGS + 1) {
    s.cone_inner = 15.0;
    s.cone_outer = 35.0;
    s.cone_hold = 2.0;
    s.cone_inset = 3.0 * s.penetration;
  }
  REQUIRE_OK(abut_create_pair(a, b, &s, out));
}

typedef struct trial {
  abut_pair handle;
  pair_boxes boxes;
  double size;  /* of both bodies' diagonals, with what points may lie beyond edges, together
                   half */
  double reach; /* how far activity may reach beyond a field's body, or of features beyond their
                   own radii */
  double eps;
  size_t slots;
} trial;

/* In fields, edges' depths are divided by slopes before radii are taken off. A box reaches farthest
 * at its corners. */
static double reach_in_fields(const pair *p, double reach)
{
  double most = 0.0;
  for (int side = 0; side < 2; ++side) {
    abut_body_info of, field;
    REQUIRE_OK(abut_get_body_info(p->bodies[side], &of));
    REQUIRE_OK(abut_get_body_info(p->bodies[!side], &field));
    const double slope = field_slope(&field);
    most =
      fmax(most, slope * (reach + p->smoothing.cone_inset) + (slope - 1.0) * of.feature_radius);
  }
  return most;
}

static trial trial_of(abut_pair of)
{
  trial t = {.handle = of, .eps = precision == ABUT_FLOAT64 ? DBL_EPSILON : (double)FLT_EPSILON};
  const pair *p = pair_get(of);
  REQUIRE(p != NULL);
  REQUIRE_OK(boxes_of_pair(p, active_cutoff(p, 0.0), &t.boxes));
  CHECK(t.boxes.bounded);
  for (int side = 0; side < 2; ++side) {
    abut_body_info info;
    REQUIRE_OK(abut_get_body_info(p->bodies[side], &info));
    t.size += (0.5 + (is_in_fields(p) ? 0.0 : edge_overshoot(&p->smoothing))) * info.diagonal;
    t.reach = fmax(t.reach, p->smoothing.union_ * log((double)info.primitives));
  }
  const double active = active_reach(&p->smoothing, active_cutoff(p, 0.0));
  t.reach += is_in_fields(p) ? sqrt(3.0) * reach_in_fields(p, active) : active;
  t.slots = p->layout.contacts;
  return t;
}

/* ---- poses ---- */

static void round_pose(double pose[7])
{
  for (int k = 0; precision == ABUT_FLOAT32 && k < 7; ++k) {
    pose[k] = (double)(float)pose[k];
  }
}

static bool left_out(const trial *t, const double a[7], const double b[7])
{
  const pair_boxes *x = &t->boxes;
  return boxes_apart(&x->points[0], a, &x->field[1], b, t->eps) &&
         boxes_apart(&x->field[0], a, &x->points[1], b, t->eps);
}

static void put_at(const double a[7], const double way[3], double distance, double b[7])
{
  for (int k = 0; k < 3; ++k) {
    b[k] = a[k] + distance * way[k];
  }
  round_pose(b);
}

/* The turn by an angle about a direction, after another turn. */
static void twist_about(const double first[7], const double way[3], double angle, double out[7])
{
  const double turn[7] = {0,
                          0,
                          0,
                          cos(angle / 2),
                          sin(angle / 2) * way[0],
                          sin(angle / 2) * way[1],
                          sin(angle / 2) * way[2]};
  const double origin[7] = {0, 0, 0, first[3], first[4], first[5], first[6]};
  compose(turn, origin, out);
}

/* Chooses how two bodies look at each other: as they like; with sides, edges or corners of like
 * bodies towards each other, which lie along the same way of both, and b twisted about it at
 * times. */
static void look(uint64_t *seed, double a[7], double b[7], double way[3])
{
  const int kind = (int)(4.0 * random_uniform(seed));
  double own[3] = {0.0};
  random_pose(seed, 2.0, a);
  random_pose(seed, 2.0, b);
  random_way(seed, way);
  if (random_uniform(seed) < 0.2) { /* upright */
    a[3] = 1.0;
    a[4] = a[5] = a[6] = 0.0;
  }
  if (kind) {
    const int first = (int)(3.0 * random_uniform(seed));
    for (int k = 0; k < kind; ++k) {
      own[(first + k) % 3] = (random_uniform(seed) < 0.5 ? -1.0 : 1.0) / sqrt(kind);
    }
    apply(a, own, true, way);
    twist_about(a, way, random_uniform(seed) < 0.5 ? 0.0 : 6.3 * random_uniform(seed), b);
  }
  if (random_uniform(seed) < 0.05) { /* far from the world's origin */
    a[0] += 100.0;
    a[2] -= 300.0;
  }
  round_pose(a);
  round_pose(b);
}

/* Sends b so far along the way that boxes are just apart: nearer by a ten thousandth they are not.
 * Returns how far that is. */
static double just_apart(const trial *t, const double a[7], const double way[3], double b[7])
{
  double near = 0.0, far = 8.0 * (t->size + t->reach);
  put_at(a, way, far, b);
  require(check(left_out(t, a, b), "bodies of %g m are not left out at %g m", t->size, far));
  while (far - near > 1e-4 * t->size) {
    const double middle = 0.5 * (near + far);
    put_at(a, way, middle, b);
    *(left_out(t, a, b) ? &far : &near) = middle;
  }
  put_at(a, way, far, b);
  return far;
}

/* ---- what is left out ---- */

typedef struct rows {
  double a[7 * CHUNK], b[7 * CHUNK];
  size_t count;
} rows;

static double *activities(const trial *t, const rows *r)
{
  void *p1 = to_reals(r->a, 7 * r->count, precision), *p2 = to_reals(r->b, 7 * r->count, precision);
  void *activity = calloc(r->count * t->slots, real_size(precision));
  double *out = calloc(r->count * t->slots, sizeof *out);
  abut_batch batch = abut_default_batch();
  REQUIRE(p1 && p2 && activity && out);
  batch.count = r->count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = p1;
  batch.pose2 = p2;
  batch.activity = activity;
  REQUIRE_OK(abut_contacts(t->handle, &batch));
  CHECK_EQUAL(batch.rejected, 0);
  for (size_t i = 0; i < r->count * t->slots; ++i) {
    out[i] = real_at(activity, precision, i);
  }
  free(p1);
  free(p2);
  free(activity);
  return out;
}

/* Counts the poses that have a contact, and finds the largest activity. */
static size_t touching(const trial *t, const rows *r, double *most)
{
  double *activity = activities(t, r);
  size_t count = 0;
  for (size_t i = 0; i < r->count; ++i) {
    double of_pose = 0.0;
    for (size_t k = 0; k < t->slots; ++k) {
      of_pose = fmax(of_pose, activity[i * t->slots + k]);
    }
    count += of_pose > 0.0;
    *most = fmax(*most, of_pose);
  }
  free(activity);
  return count;
}

/* Of half the poses boxes are just apart, the others are up to half as far off again. */
static void try_apart(const trial *t, const char *what, size_t poses)
{
  uint64_t seed = 5;
  double most = 0.0, way[3];
  size_t found = 0;
  for (size_t done = 0; done < poses;) {
    rows r = {.count = 0};
    for (; r.count < CHUNK && done < poses; ++r.count, ++done) {
      double *a = r.a + 7 * r.count, *b = r.b + 7 * r.count;
      look(&seed, a, b, way);
      const double distance = just_apart(t, a, way, b);
      put_at(a, way, done % 2 ? distance : distance * (1.0 + 0.5 * random_uniform(&seed)), b);
      require(check(left_out(t, a, b), "%s: boxes that were apart meet farther off", what));
    }
    found += touching(t, &r, &most);
  }
  check(!found, "%s: of %zu poses that are left out %zu have contacts, of activity up to %g", what,
        poses, found, most);
}

/* The share of poses that are left out where so many diagonals and the reach are between the
 * middles of both bodies' points. */
static double share_at(const trial *t, double diagonals, size_t poses)
{
  uint64_t seed = 9;
  size_t out = 0;
  for (size_t i = 0; i < poses; ++i) {
    double a[7], b[7], way[3], from[3], to[3];
    random_pose(&seed, 2.0, a);
    random_pose(&seed, 2.0, b);
    random_way(&seed, way);
    apply(a, t->boxes.points[0].centre, true, from);
    apply(b, t->boxes.points[1].centre, true, to);
    for (int k = 0; k < 3; ++k) {
      b[k] = a[k] + from[k] - to[k] + (diagonals * t->size + t->reach) * way[k];
    }
    out += left_out(t, a, b);
  }
  return (double)out / (double)poses;
}

static void try_shares(const trial *t, const char *what, double least)
{
  static const double at[5] = {0.5, 0.75, 1.0, 1.25, 1.5};
  double share[5];
  for (int i = 0; i < 5; ++i) {
    share[i] = share_at(t, at[i], 2000);
  }
  printf("%-40s %.3f %.3f %.3f %.3f %.3f left out\n", what, share[0], share[1], share[2], share[3],
         share[4]);
  check(share[2] >= least, "%s: %g of all poses are left out at a diagonal", what, share[2]);
  check(share[4] == 1.0, "%s: %g of all poses are left out at one and a half", what, share[4]);
}

/* Whether features of a radius meet a field that is no distance, which has to be looked for much
 * farther off. */
static bool meets_no_distance(abut_pair of)
{
  const pair *p = pair_get(of);
  bool meets = false;
  for (int side = 0; side < 2; ++side) {
    abut_body_info own, field;
    REQUIRE_OK(abut_get_body_info(p->bodies[side], &own));
    REQUIRE_OK(abut_get_body_info(p->bodies[!side], &field));
    meets = meets || (own.feature_radius > 0.0 && (field.polyhedra || field_slope(&field) > 1.0));
  }
  return meets && is_in_fields(p);
}

/* least: the share of poses that must be left out at a diagonal. */
static void try_pair(const char *a, const char *b, abut_body body_a, abut_body body_b,
                     int smoothing, size_t poses, double least)
{
  char what[200];
  abut_pair pair_;
  snprintf(what, sizeof what, "%s, %s, smoothing %d", a, b, smoothing);
  make_pair(body_a, body_b, smoothing, &pair_);
  const trial t = trial_of(pair_);
  if (strcmp(a, names[WILD_GRID]) && strcmp(b, names[WILD_GRID]) && !meets_no_distance(pair_)) {
    try_shares(&t, what, least);
  }
  try_apart(&t, what, poses);
  abut_destroy_pair(pair_);
}

static void try_pairs(size_t count, const char *const *of, const abut_body *bodies, size_t poses,
                      double least)
{
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a; b < count; ++b) {
      try_pair(of[a], of[b], bodies[a], bodies[b], (int)((a + b) % SMOOTHINGS), poses, least);
      try_pair(of[a], of[b], bodies[a], bodies[b], SMOOTHINGS + (int)((a + b) % IN_FIELDS), poses,
               least - 0.01);
    }
  }
}

/* A polyhedron's field is no distance: it is less off corners. Two cubes corner to corner have
 * contacts as far apart as a vertex before a side has none. */
static void corner_to_corner(void)
{
  static const double box[3] = {0.25, 0.25, 0.25};
  static const double planes[36] = {1, 0,  0, 0.25, 0,     0,    0,  1, 0,  0,     0.25, 0,
                                    0, 0,  1, 0,    0,     0.25, -1, 0, 0,  -0.25, 0,    0,
                                    0, -1, 0, 0,    -0.25, 0,    0,  0, -1, 0,     0,    -0.25};
  const abut_polyhedron polyhedron = {planes, 6, ABUT_ADD};
  rows r = {.count = 1};
  double most = 0.0;
  abut_pair pair_;
  abut_body cube;
  arena memory = {0};
  abut_body_def def;
  REQUIRE_OK(body_shape_make(SHAPE_BOX, box, 0.0, &memory, &def));
  def.core_count = 0;
  def.polyhedra = &polyhedron;
  def.polyhedron_count = 1;
  REQUIRE_OK(abut_create_body(where, &def, &cube));
  arena_free(&memory);
  make_pair(cube, cube, 0, &pair_);
  const trial t = trial_of(pair_);
  for (int k = 0; k < 3; ++k) {
    r.b[k] = 0.5 + (t.reach + 1e-6) / sqrt(3.0);
  }
  r.a[3] = r.b[3] = 1.0;
  CHECK(touching(&t, &r, &most) == 1 && !left_out(&t, r.a, r.b));
  check(most > 5e-3, "two cubes corner to corner are active by %g", most);
  r.b[1] = r.b[2] = 0.0;
  r.b[0] = 0.5 + t.reach + 1e-6;
  CHECK(!touching(&t, &r, &most));
  abut_destroy_pair(pair_);
  abut_destroy_body(cube);
}

static void of_families(size_t poses)
{
  abut_body bodies[BODIES];
  for (int i = 0; i < BODIES; ++i) {
    make_body(i, &bodies[i]);
  }
  corner_to_corner();
  try_pairs(BODIES, names, bodies, poses, 0.99);
}

static void of_files(size_t count, const char *const *paths, size_t poses)
{
  abut_body *bodies = calloc(count, sizeof *bodies);
  REQUIRE(bodies != NULL);
  for (size_t i = 0; i < count; ++i) {
    REQUIRE_OK(abut_load_body(where, paths[i], &bodies[i]));
  }
  try_pairs(count, paths, bodies, poses, 0.9); /* fields may go beyond the points */
  free(bodies);
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  const size_t poses = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
  if (!test_context(precision, &where)) {
    return check_finish();
  }
  if (argc > 3) {
    of_files((size_t)argc - 3, (const char *const *)argv + 3, poses);
  } else {
    of_families(poses);
  }
  abut_destroy_context(where);
  return check_finish();
}
