/* Derivatives by shapes: test_shapes PRECISION.
 *
 * Moving all numbers of a body along a twist is the derivative by its pose; central differences of
 * bodies whose numbers are moved, also with meshes that follow; exactly 0 for what nothing touches;
 * no number that is none for awkward bodies; sums that are the same to the bit whatever the
 * chunks. */
#include "grids.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 18, POSE = 6, CORES = 2, STATED = 6, STATED_EDGES = 6 };
enum {
  VERTICES,
  AXES,
  EXPONENTS,
  POSITION,
  ROTATION,
  PLANE_NORMALS,
  PLANE_POINTS,
  CLOUD_POINTS,
  CLOUD_NORMALS,
  CLOUD_WIDTHS,
  COEFFICIENTS,
  CORE_HALVES,
  CORE_RADII,
  CORE_POSITIONS,
  CORE_ROTATIONS,
  FEATURE_VERTICES,
  VERTEX_RADII,
  EDGE_RADII
};

/* The arrays of one body, for `rows` poses. */
typedef struct arrays {
  size_t rows, counts[NAMES];
  double *of[NAMES];
  abut_shape_gradients to;
} arrays;

static void arrays_make(abut_body body, size_t rows, arrays *a)
{
  static const size_t each[NAMES] = {3, 3, 2, 3, 3, 3, 3, 3, 3, 1, 1, 3, 1, 3, 3, 3, 1, 1};
  abut_shape_sizes s;
  REQUIRE_OK(abut_get_shape_sizes(body, &s));
  const size_t counts[NAMES] = {s.vertices,
                                s.superquadrics,
                                s.superquadrics,
                                s.superquadrics,
                                s.superquadrics,
                                s.planes,
                                s.planes,
                                s.points,
                                s.points,
                                s.points,
                                s.coefficients,
                                s.cores,
                                s.cores,
                                s.cores,
                                s.cores,
                                s.feature_vertices,
                                s.feature_vertices,
                                s.feature_edges};
  a->rows = rows;
  for (int i = 0; i < NAMES; ++i) {
    a->counts[i] = counts[i] * each[i];
    a->of[i] = malloc((rows * a->counts[i] + 1) * sizeof(double));
  }
  a->to = (abut_shape_gradients){a->of[0],  a->of[1],  a->of[2],  a->of[3],  a->of[4],  a->of[5],
                                 a->of[6],  a->of[7],  a->of[8],  a->of[9],  a->of[10], a->of[11],
                                 a->of[12], a->of[13], a->of[14], a->of[15], a->of[16], a->of[17]};
}

static void arrays_free(arrays *a)
{
  for (int i = 0; i < NAMES; ++i) {
    free(a->of[i]);
  }
}

/* A pair with poses near each other, and cotangents of all outputs. */
typedef struct question {
  abut_precision precision;
  abut_body bodies[2];
  abut_pair pair;
  size_t poses, contacts;
  double *numbers[2], *bars[4]; /* as drawn */
  void *pose[2], *bar[4];       /* in the context's precision */
} question;

static void question_make(question *q, abut_precision precision, size_t poses, uint64_t *seed)
{
  abut_layout layout;
  REQUIRE_OK(abut_get_layout(q->pair, &layout));
  q->precision = precision;
  q->poses = poses;
  q->contacts = layout.contacts;
  for (int i = 0; i < 2; ++i) {
    q->numbers[i] = malloc(POSE * poses * sizeof(double));
    for (size_t k = 0; k < POSE * poses; ++k) {
      q->numbers[i][k] = (k % POSE < 3 ? 0.3 : 0.8) * random_normal(seed);
    }
    q->pose[i] = to_reals(q->numbers[i], POSE * poses, precision);
  }
  for (int i = 0; i < 4; ++i) {
    const size_t count = poses * q->contacts * (i % 2 ? 1 : 3);
    q->bars[i] = malloc(count * sizeof(double));
    for (size_t k = 0; k < count; ++k) {
      q->bars[i][k] = random_normal(seed);
    }
    q->bar[i] = to_reals(q->bars[i], count, precision);
  }
}

static void question_free(question *q)
{
  for (int i = 0; i < 2; ++i) {
    free(q->numbers[i]);
    free(q->pose[i]);
  }
  for (int i = 0; i < 4; ++i) {
    free(q->bars[i]);
    free(q->bar[i]);
  }
}

static abut_batch batch_of(const question *q)
{
  abut_batch b = abut_default_batch();
  b.count = q->poses;
  b.pose1 = q->pose[0];
  b.pose2 = q->pose[1];
  return b;
}

static abut_cotangents cotangents_of(const question *q)
{
  return (abut_cotangents){.p = q->bar[0], .d = q->bar[1], .n = q->bar[2], .activity = q->bar[3]};
}

/* Smoothing of every way of selection and every option in turn. */
static abut_smoothing smoothing_of(abut_body a, abut_body b, int way)
{
  abut_smoothing s;
  REQUIRE_OK(abut_fit_edge_pairs(a, b, &s));
  s.select = way % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.edges[0] = way % 3 == 2 ? 0 : 4;
  s.edges[1] = way % 3 == 1 ? 0 : 3;
  s.vertices[0] = way % 2 ? 3 : 0;
  s.vertices[1] = way % 3 ? 0 : 4;
  s.trace = (uint32_t)(way % 3);
  s.inside = way % 2;
  s.floor = way % 4 == 2 ? 1e-3 : 0.0;
  return s;
}

/* The same of edges in fields: with all elements or some, cones, an inset, and depths not divided
 * by the slope. */
static abut_smoothing field_smoothing(abut_body a, abut_body b, int way)
{
  abut_smoothing s;
  REQUIRE_OK(abut_fit_smoothing(a, b, &s));
  s.edge_contacts = ABUT_EDGES_FIELD;
  s.select = ABUT_SELECT_GATE;
  s.penetration = 0.05;
  s.inset = 0.02;
  s.part = 0.1;
  s.gain = 0.03;
  s.tilt = 0.2;
  s.samples = 40; /* so many that no piece has two places where the field is least */
  s.edges[0] = way % 2 ? 4 : 0;
  s.edges[1] = way % 3 == 1 ? 5 : 0;
  s.vertices[0] = way % 2 ? 3 : 0;
  s.vertices[1] = way % 3 == 2 ? 4 : 0;
  s.slope = way % 4 == 3 ? -1.0 : 0.05;
  s.floor = way % 4 == 2 ? 1e-3 : 0.0;
  s.cone_inner = s.cone_outer = s.cone_hold = s.cone_inset = 0.0;
  if (way % 3) {
    s.cone_inner = 30.0;
    s.cone_outer = 100.0;
    s.cone_hold = 2.0;
    s.cone_inset = way % 3 == 2 ? 0.02 : 0.0;
  }
  return s;
}

/* ---- rigid motions ---- */

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

/* Adds what points and directions, with their gradients, give to a wrench. points NULL:
 * directions. */
static void add_wrench(const double *points, const double *directions, const double *by,
                       size_t count, double wrench[6])
{
  for (size_t i = 0; i < count; ++i) {
    double moment[3];
    cross((points ? points : directions) + 3 * i, by + 3 * i, moment);
    for (int k = 0; k < 3; ++k) {
      wrench[k] += points ? by[3 * i + (size_t)k] : 0.0;
      wrench[3 + k] += moment[k];
    }
  }
}

/* Of primitives of all families but grids: numbers whose motion is known. */
typedef struct solid {
  double vertices[24], planes[36], points[42];
  abut_superquadric superquadric;
  abut_polyhedron polyhedron;
  abut_pointcloud cloud;
  abut_core cores[CORES];
  double features[4 * STATED];
  abut_feature_edge feature_edges[STATED_EDGES];
  double vertex_cones[4 * 8], edge_cones[4 * 12];
  abut_body_def def;
} solid;

static void normal_of(double *n)
{
  const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; ++k) {
    n[k] /= length;
  }
}

static void solid_make(solid *s, uint64_t *seed, bool hole)
{
  const double half[3] = {0.4, 0.45, 0.5};
  cube_def(half, s->vertices, &s->def);
  for (int i = 0; i < 24; ++i) {
    s->vertices[i] += 0.03 * random_normal(seed);
  }
  s->superquadric = (abut_superquadric){{0.42, 0.35, 0.5},
                                        {0.6, 0.9},
                                        {0.05, -0.02, 0.03},
                                        {0.9, 0.2, -0.3, 0.1},
                                        ABUT_ADD};
  for (int i = 0; i < 6; ++i) {
    double *p = s->planes + 6 * i, *q = s->points + 7 * i;
    for (int k = 0; k < 3; ++k) {
      p[k] = (k == i / 2 ? (i % 2 ? 1.0 : -1.0) : 0.0) + 0.1 * random_normal(seed);
      q[3 + k] = p[k] + 0.1 * random_normal(seed);
    }
    normal_of(p);
    normal_of(q + 3);
    for (int k = 0; k < 3; ++k) {
      p[3 + k] = (hole ? 0.2 : 0.4) * p[k] + (hole ? 0.3 : 0.0) + 0.02 * random_normal(seed);
      q[k] = 0.4 * q[3 + k] + 0.02 * random_normal(seed);
    }
    q[6] = 0.25 + 0.05 * random_uniform(seed);
  }
  s->polyhedron = (abut_polyhedron){s->planes, 6, hole ? ABUT_SUBTRACT : ABUT_ADD};
  s->cloud = (abut_pointcloud){s->points, 6, ABUT_ADD};
  s->cores[0] = (abut_core){ABUT_CORE_BOX,       {0.3, 0.25, 0.35},     0.12,
                            {-0.05, 0.04, 0.02}, {0.8, -0.3, 0.2, 0.4}, ABUT_ADD};
  s->cores[1] = (abut_core){ABUT_CORE_DISC,
                            {0.2, 0.3},
                            0.15,
                            {0.2, 0.1, -0.2},
                            {0.7, 0.5, 0.1, -0.4},
                            hole ? ABUT_SUBTRACT : ABUT_ADD};
  s->def.cores = s->cores;
  s->def.core_count = CORES;
  s->def.superquadrics = &s->superquadric;
  s->def.superquadric_count = 1;
  s->def.polyhedra = &s->polyhedron;
  s->def.polyhedron_count = 1;
  s->def.pointclouds = &s->cloud;
  s->def.pointcloud_count = 1;
}

static const uint32_t cube_edges[12][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3},
                                           {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};

/* Gives the mesh's corners and edges cones that stay as they are where it moves. */
static void solid_cones(solid *s)
{
  for (size_t i = 0; i < 8; ++i) {
    memcpy(s->vertex_cones + 4 * i, s->vertices + 3 * i, 3 * sizeof(double));
    s->vertex_cones[4 * i + 3] = i % 2 ? 50.0 : 20.0;
  }
  for (size_t i = 0; i < 12; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      s->edge_cones[4 * i + k] =
        s->vertices[3 * cube_edges[i][0] + k] + s->vertices[3 * cube_edges[i][1] + k];
    }
    s->edge_cones[4 * i + 3] = i % 2 ? 45.0 : 10.0;
  }
  s->def.cones = ABUT_CONES_GIVEN;
  s->def.vertex_cones = s->vertex_cones;
  s->def.vertex_cone_count = 8;
  s->def.edge_cones = s->edge_cones;
  s->def.edge_cone_ends = cube_edges[0];
  s->def.edge_cone_count = 12;
}

/* States features: sharp and round corners and edges, two arcs, and a circle. */
static void solid_features(solid *s, uint64_t *seed)
{
  static const abut_feature_circle circle = {{0.05, 0.0, -0.3}, {0.1, 0.05, 1.0}, 0.35, 0.02};
  static const double corners[STATED][3] = {{0.4, 0.0, 0.3},    {0.0, 0.4, 0.3},
                                            {-0.4, 0.0, 0.3},   {0.35, 0.3, -0.35},
                                            {-0.4, -0.3, -0.3}, {-0.1, -0.45, 0.2}};
  static const uint32_t ends[STATED_EDGES][2] = {{0, 1}, {1, 2}, {0, 3}, {2, 4}, {3, 4}, {4, 5}};
  for (size_t i = 0; i < STATED; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      s->features[4 * i + k] = corners[i][k] + (i > 2 ? 0.03 * random_normal(seed) : 0.0);
    }
    s->features[4 * i + 3] = i % 2 ? 0.0 : 0.04 + 0.02 * random_uniform(seed);
    memcpy(s->vertex_cones + 4 * i, s->features + 4 * i, 3 * sizeof(double));
    s->vertex_cones[4 * i + 3] = i % 2 ? 50.0 : 20.0;
  }
  for (size_t i = 0; i < STATED_EDGES; ++i) {
    s->feature_edges[i] =
      (abut_feature_edge){.from = ends[i][0], .to = ends[i][1], .radius = i % 3 ? 0.03 : 0.0};
    for (size_t k = 0; k < 3; ++k) {
      s->edge_cones[4 * i + k] = s->features[4 * ends[i][0] + k] + s->features[4 * ends[i][1] + k];
    }
    s->edge_cones[4 * i + 3] = i % 2 ? 45.0 : 10.0;
  }
  for (size_t i = 0; i < 2; ++i) { /* about the axis of z */
    s->feature_edges[i].arc = true;
    s->feature_edges[i].centre[2] = 0.25;
    s->feature_edges[i].axis[2] = 2.0;
  }
  s->def.states_features = true;
  s->def.feature_vertices = s->features;
  s->def.feature_vertex_count = STATED;
  s->def.feature_edges = s->feature_edges;
  s->def.feature_edge_count = STATED_EDGES;
  s->def.feature_circles = &circle;
  s->def.feature_circle_count = 1;
  s->def.cones = ABUT_CONES_GIVEN;
  s->def.vertex_cones = s->vertex_cones;
  s->def.vertex_cone_count = STATED;
  s->def.edge_cones = s->edge_cones;
  s->def.edge_cone_ends = NULL;
  s->def.edge_cone_count = STATED_EDGES;
}

/* The rotation of a unit quaternion times v. */
static void rotate(const double q[4], const double v[3], double out[3])
{
  double t[3], u[3];
  cross(q + 1, v, t);
  cross(q + 1, t, u);
  const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  for (int k = 0; k < 3; ++k) {
    out[k] = v[k] + 2.0 * (q[0] * t[k] + u[k]) / n;
  }
}

static void wrench_of(const solid *s, const arrays *a, double wrench[6])
{
  double points[2][18], normals[2][18], turned[3];
  for (size_t i = 0; i < 18; ++i) {
    normals[0][i] = s->planes[i / 3 * 6 + i % 3];
    points[0][i] = s->planes[i / 3 * 6 + 3 + i % 3];
    points[1][i] = s->points[i / 3 * 7 + i % 3];
    normals[1][i] = s->points[i / 3 * 7 + 3 + i % 3];
  }
  memset(wrench, 0, 6 * sizeof *wrench);
  add_wrench(s->vertices, NULL, a->of[VERTICES], 8, wrench);
  add_wrench(s->superquadric.position, NULL, a->of[POSITION], 1, wrench);
  add_wrench(NULL, normals[0], a->of[PLANE_NORMALS], 6, wrench);
  add_wrench(points[0], NULL, a->of[PLANE_POINTS], 6, wrench);
  add_wrench(points[1], NULL, a->of[CLOUD_POINTS], 6, wrench);
  add_wrench(NULL, normals[1], a->of[CLOUD_NORMALS], 6, wrench);
  rotate(s->superquadric.quaternion, a->of[ROTATION], turned);
  for (int k = 0; k < 3; ++k) {
    wrench[3 + k] += turned[k];
  }
  for (size_t i = 0; i < CORES; ++i) {
    add_wrench(s->cores[i].position, NULL, a->of[CORE_POSITIONS] + 3 * i, 1, wrench);
    rotate(s->cores[i].quaternion, a->of[CORE_ROTATIONS] + 3 * i, turned);
    for (int k = 0; k < 3; ++k) {
      wrench[3 + k] += turned[k];
    }
  }
}

static void test_motions(abut_context context, abut_precision precision)
{
  uint64_t seed = 5;
  for (int way = 0; way < 8; ++way) {
    question q = {.precision = precision};
    solid s[2];
    arrays a[2];
    for (int i = 0; i < 2; ++i) {
      solid_make(&s[i], &seed, way % 2 == i);
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
      arrays_make(q.bodies[i], 1, &a[i]);
    }
    /* Edges in fields without cones, which would not turn. */
    const abut_smoothing smoothing = way < 6
                                       ? smoothing_of(q.bodies[0], q.bodies[1], way)
                                       : field_smoothing(q.bodies[0], q.bodies[1], way % 2 ? 3 : 0);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, precision, 1, &seed);
    double along[2][POSE] = {{0}}, gradients[2][POSE];
    abut_batch batch = batch_of(&q);
    const abut_cotangents bars = cotangents_of(&q);
    const abut_gradients to = {gradients[0], gradients[1]};
    CHECK_OK(abut_vjp(q.pair, ABUT_SAME_PAIR, &batch, &bars, &to));
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a[0].to, &a[1].to, ABUT_SHAPE_SUMS));
    for (int i = 0; i < 2; ++i) {
      double wrench[6], worst = 0.0, size = 0.0;
      CHECK_OK(abut_gradient_to_frame(precision, ABUT_POSE_TWIST, ABUT_FRAME_BODY, 1, q.pose[i],
                                      gradients[i], along[i]));
      wrench_of(&s[i], &a[i], wrench);
      for (size_t k = 0; k < 6; ++k) {
        const double want = real_at(along[i], precision, k);
        worst = fmax(worst, fabs(wrench[k] - want));
        size = fmax(size, fabs(want));
      }
      check(worst <= (precision == ABUT_FLOAT64 ? 1e-9 : 5e-3) * size,
            "way %d, body %d: a motion is off by %g of %g", way, i + 1, worst, size);
      arrays_free(&a[i]);
    }
    question_free(&q);
    CHECK_OK(abut_destroy_pair(q.pair));
  }
}

/* ---- along directions ---- */

static abut_shape_tangents tangents_of(const arrays *a)
{
  return (abut_shape_tangents){a->of[0],  a->of[1],  a->of[2],  a->of[3],  a->of[4],  a->of[5],
                               a->of[6],  a->of[7],  a->of[8],  a->of[9],  a->of[10], a->of[11],
                               a->of[12], a->of[13], a->of[14], a->of[15], a->of[16], a->of[17]};
}

/* The outputs' tangents: p, d, n, activity. */
typedef struct outcome {
  void *of[4];
  abut_tangents to;
} outcome;

static void outcome_make(const question *q, outcome *o)
{
  for (int i = 0; i < 4; ++i) {
    o->of[i] = malloc(q->poses * q->contacts * 3 * real_size(q->precision));
  }
  o->to = (abut_tangents){.p = o->of[0], .d = o->of[1], .n = o->of[2], .activity = o->of[3]};
}

static void outcome_free(outcome *o)
{
  for (int i = 0; i < 4; ++i) {
    free(o->of[i]);
  }
}

/* Returns the product of one pose's, or all poses', with the cotangents. */
static double pushed(const question *q, const outcome *o, size_t first, size_t poses)
{
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) {
    const size_t width = q->contacts * (i % 2 ? 1 : 3);
    for (size_t k = first * width; k < (first + poses) * width; ++k) {
      sum += real_at(o->of[i], q->precision, k) * real_at(q->bar[i], q->precision, k);
    }
  }
  return sum;
}

/* ---- differences ---- */

/* A direction of all numbers of a solid with a grid beside, and the sum of outputs times cotangents
 * with body 1 moved along it. */
typedef struct direction {
  double vertices[24], axes[3], exponents[2], position[3], rotation[3], planes[36], points[42];
  double halves[3 * CORES], radii[CORES], places[3 * CORES], turns[3 * CORES];
  double features[4 * STATED], edge_radii[STATED_EDGES];
  double coefficients[SAMPLE_NODES], corrections[SAMPLE_BLOCKS * SAMPLE_BLOCK];
} direction;

static void shift(double *to, const double *from, const double *by, size_t count, double step)
{
  for (size_t i = 0; i < count; ++i) {
    to[i] = from[i] + step * by[i];
  }
}

/* Turns a quaternion by a step of a twist in its own axes, to first order. */
static void turn(const double q[4], const double twist[3], double step, double out[4])
{
  const double w[3] = {0.5 * step * twist[0], 0.5 * step * twist[1], 0.5 * step * twist[2]};
  double across[3];
  cross(q + 1, w, across);
  out[0] = q[0] - (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
  for (int k = 0; k < 3; ++k) {
    out[1 + k] = q[1 + k] + q[0] * w[k] + across[k];
  }
}

static void moved_solid(const solid *s, const direction *d, double step, solid *out)
{
  *out = *s;
  shift(out->vertices, s->vertices, d->vertices, 24, step);
  shift(out->superquadric.axes, s->superquadric.axes, d->axes, 3, step);
  shift(out->superquadric.exponents, s->superquadric.exponents, d->exponents, 2, step);
  shift(out->superquadric.position, s->superquadric.position, d->position, 3, step);
  shift(out->planes, s->planes, d->planes, 36, step);
  shift(out->points, s->points, d->points, 42, step);
  turn(s->superquadric.quaternion, d->rotation, step, out->superquadric.quaternion);
  for (size_t i = 0; i < CORES; ++i) {
    const abut_core *from = &s->cores[i];
    abut_core *to = &out->cores[i];
    shift(to->half, from->half, d->halves + 3 * i, from->kind == ABUT_CORE_BOX ? 3 : 2, step);
    shift(&to->radius, &from->radius, d->radii + i, 1, step);
    shift(to->position, from->position, d->places + 3 * i, 3, step);
    turn(from->quaternion, d->turns + 3 * i, step, to->quaternion);
  }
  if (s->def.states_features) {
    shift(out->features, s->features, d->features, 4 * STATED, step);
    for (size_t i = 0; i < STATED_EDGES; ++i) {
      out->feature_edges[i].radius += step * d->edge_radii[i];
    }
    out->def.feature_vertices = out->features;
    out->def.feature_edges = out->feature_edges;
  }
  out->def.vertex_cones = out->vertex_cones;
  out->def.edge_cones = out->edge_cones;
  out->def.cores = out->cores;
  out->def.vertices = out->vertices;
  out->def.superquadrics = &out->superquadric;
  out->polyhedron.planes = out->planes;
  out->def.polyhedra = &out->polyhedron;
  out->cloud.points = out->points;
  out->def.pointclouds = &out->cloud;
}

static double sum_of(const question *q, abut_context context, const solid *s,
                     const abut_smoothing *smoothing)
{
  abut_body body;
  abut_pair pair;
  const size_t count = q->poses * q->contacts;
  double *out[4], sum = 0.0;
  REQUIRE_OK(abut_create_body(context, &s->def, &body));
  REQUIRE_OK(abut_create_pair(body, q->bodies[1], smoothing, &pair));
  abut_batch batch = batch_of(q);
  for (int i = 0; i < 4; ++i) {
    out[i] = malloc(3 * count * sizeof(double));
  }
  batch.p = out[0];
  batch.d = out[1];
  batch.n = out[2];
  batch.activity = out[3];
  REQUIRE_OK(abut_contacts(pair, &batch));
  for (int i = 0; i < 4; ++i) {
    for (size_t k = 0; k < count * (i % 2 ? 1 : 3); ++k) {
      sum += out[i][k] * q->bars[i][k];
    }
    free(out[i]);
  }
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(body));
  return sum;
}

static double product(const double *a, const double *b, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* Draws a direction; normals turn, for definitions are read with normals of length 1. */
static void draw(const solid *s, uint64_t *seed, direction *d)
{
  double *const all[] = {d->vertices, d->axes,     d->exponents, d->position, d->rotation,
                         d->planes,   d->points,   d->halves,    d->radii,    d->places,
                         d->turns,    d->features, d->edge_radii};
  static const size_t counts[] = {24,        3,          2,           3,     3,
                                  36,        42,         3 * CORES,   CORES, 3 * CORES,
                                  3 * CORES, 4 * STATED, STATED_EDGES};
  const bool stated = s->def.states_features;
  for (int i = 0; i < (stated ? 13 : 11); ++i) {
    for (size_t k = 0; k < counts[i]; ++k) {
      all[i][k] = (i == 2 ? 1.0 : 0.3) * random_normal(seed);
    }
  }
  for (size_t i = 0; i < STATED_EDGES && stated; ++i) { /* what is sharp stays so, which insets
                                                           ask for */
    d->features[4 * i + 3] *= s->features[4 * i + 3] > 0.0;
    d->edge_radii[i] *= s->feature_edges[i].radius > 0.0;
  }
  for (size_t i = 0; i < 6; ++i) {
    double *const turned[2] = {d->planes + 6 * i, d->points + 7 * i + 3};
    const double *const normals[2] = {s->planes + 6 * i, s->points + 7 * i + 3};
    for (int j = 0; j < 2; ++j) {
      const double off = product(turned[j], normals[j], 3);
      for (int k = 0; k < 3; ++k) {
        turned[j][k] -= off * normals[j][k];
      }
    }
  }
}

static double along(const arrays *a, const direction *d)
{
  double sum = product(a->of[VERTICES], d->vertices, 24) + product(a->of[AXES], d->axes, 3) +
               product(a->of[EXPONENTS], d->exponents, 2) +
               product(a->of[POSITION], d->position, 3) + product(a->of[ROTATION], d->rotation, 3) +
               product(a->of[CORE_HALVES], d->halves, 3 * CORES) +
               product(a->of[CORE_RADII], d->radii, CORES) +
               product(a->of[CORE_POSITIONS], d->places, 3 * CORES) +
               product(a->of[CORE_ROTATIONS], d->turns, 3 * CORES);
  for (size_t i = 0; i < 6; ++i) {
    sum += product(a->of[PLANE_NORMALS] + 3 * i, d->planes + 6 * i, 3);
    sum += product(a->of[PLANE_POINTS] + 3 * i, d->planes + 6 * i + 3, 3);
    sum += product(a->of[CLOUD_POINTS] + 3 * i, d->points + 7 * i, 3);
    sum += product(a->of[CLOUD_NORMALS] + 3 * i, d->points + 7 * i + 3, 3);
    sum += a->of[CLOUD_WIDTHS][i] * d->points[7 * i + 6];
  }
  for (size_t i = 0; i < STATED && a->counts[VERTEX_RADII]; ++i) {
    sum += product(a->of[FEATURE_VERTICES] + 3 * i, d->features + 4 * i, 3);
    sum += a->of[VERTEX_RADII][i] * d->features[4 * i + 3];
  }
  return sum +
         (a->counts[EDGE_RADII] ? product(a->of[EDGE_RADII], d->edge_radii, STATED_EDGES) : 0.0);
}

/* Writes a direction of a solid, with so many corrections of a grid's beside, to arrays. */
static void write_direction(arrays *a, const direction *d, size_t corrections)
{
  memcpy(a->of[VERTICES], d->vertices, sizeof d->vertices);
  memcpy(a->of[AXES], d->axes, sizeof d->axes);
  memcpy(a->of[EXPONENTS], d->exponents, sizeof d->exponents);
  memcpy(a->of[POSITION], d->position, sizeof d->position);
  memcpy(a->of[ROTATION], d->rotation, sizeof d->rotation);
  memcpy(a->of[CORE_HALVES], d->halves, sizeof d->halves);
  memcpy(a->of[CORE_RADII], d->radii, sizeof d->radii);
  memcpy(a->of[CORE_POSITIONS], d->places, sizeof d->places);
  memcpy(a->of[CORE_ROTATIONS], d->turns, sizeof d->turns);
  for (size_t i = 0; i < 18; ++i) {
    const size_t one = i / 3, k = i % 3;
    a->of[PLANE_NORMALS][i] = d->planes[6 * one + k];
    a->of[PLANE_POINTS][i] = d->planes[6 * one + 3 + k];
    a->of[CLOUD_POINTS][i] = d->points[7 * one + k];
    a->of[CLOUD_NORMALS][i] = d->points[7 * one + 3 + k];
    a->of[CLOUD_WIDTHS][one] = d->points[7 * one + 6];
  }
  for (size_t i = 0; i < STATED && a->counts[VERTEX_RADII]; ++i) {
    memcpy(a->of[FEATURE_VERTICES] + 3 * i, d->features + 4 * i, 3 * sizeof(double));
    a->of[VERTEX_RADII][i] = d->features[4 * i + 3];
  }
  memcpy(a->of[EDGE_RADII], d->edge_radii, a->counts[EDGE_RADII] * sizeof(double));
  if (a->counts[COEFFICIENTS]) {
    memcpy(a->of[COEFFICIENTS], d->coefficients, sizeof d->coefficients);
    memcpy(a->of[COEFFICIENTS] + SAMPLE_NODES, d->corrections,
           corrections * sizeof *d->corrections);
  }
}

/* Moves the coefficients of a grid that may vary: of its blocks those that are not 0. */
static void move_grid(const grid_sample *from, const direction *d, double step, grid_sample *to)
{
  *to = *from;
  shift(to->coefficients, from->coefficients, d->coefficients, SAMPLE_NODES, step);
  shift(to->corrections[0], from->corrections[0], d->corrections,
        from->levels[0].block_count * SAMPLE_BLOCK, step);
  to->levels[0].coefficients = to->corrections[0];
  to->levels[0].blocks = to->blocks[0];
  to->grid.coefficients = to->coefficients;
  to->grid.levels = to->levels;
}

/* Ways from `PAIRS` on have edges in fields, and of these the odd ones state their features. */
enum { PAIRS = 4, WAYS = 16 };

static abut_smoothing smoothing_by(abut_body a, abut_body b, int way)
{
  return way < PAIRS ? smoothing_of(a, b, way) : field_smoothing(a, b, (way - PAIRS) / 2);
}

static void test_differences(abut_context context)
{
  const double step = 1e-6;
  uint64_t seed = 11;
  for (int way = 0; way < WAYS; ++way) {
    question q = {.precision = ABUT_FLOAT64};
    static solid s[2], ends[2];
    static direction d;
    static grid_sample grid, grids[2];
    arrays a;
    solid_make(&s[0], &seed, way % 2);
    solid_make(&s[1], &seed, false);
    grid_sample_make(&grid, &seed, 1, 0.9, ABUT_ADD);
    s[0].def.grids = &grid.grid;
    s[0].def.grid_count = 1;
    for (int i = 0; i < 2; ++i) {
      if (way >= PAIRS) {
        solid_cones(&s[i]);
      }
      if (way >= PAIRS && way % 2) {
        solid_features(&s[i], &seed);
      }
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
    }
    const abut_smoothing smoothing = smoothing_by(q.bodies[0], q.bodies[1], way);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, ABUT_FLOAT64, 2, &seed);
    arrays_make(q.bodies[0], 1, &a);
    abut_batch batch = batch_of(&q);
    const abut_cotangents bars = cotangents_of(&q);
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS));
    draw(&s[0], &seed, &d);
    const size_t corrections = grid.levels[0].block_count * SAMPLE_BLOCK;
    for (size_t i = 0; i < SAMPLE_NODES; ++i) {
      d.coefficients[i] = 0.1 * random_normal(&seed);
    }
    for (size_t i = 0; i < corrections; ++i) {
      d.corrections[i] = grid.corrections[0][i] == 0.0 ? 0.0 : 0.1 * random_normal(&seed);
    }
    for (int i = 0; i < 2; ++i) {
      moved_solid(&s[0], &d, i ? step : -step, &ends[i]);
      move_grid(&grid, &d, i ? step : -step, &grids[i]);
      ends[i].def.grids = &grids[i].grid;
    }
    const double slope =
      (sum_of(&q, context, &ends[1], &smoothing) - sum_of(&q, context, &ends[0], &smoothing)) /
      (2.0 * step);
    const double got = along(&a, &d) + product(a.of[COEFFICIENTS], d.coefficients, SAMPLE_NODES) +
                       product(a.of[COEFFICIENTS] + SAMPLE_NODES, d.corrections, corrections);
    check(fabs(got - slope) <= 1e-6 * fmax(fabs(slope), 1.0),
          "way %d: the derivative along a direction is %.9g, by differences %.9g", way, got, slope);
    outcome o;
    outcome_make(&q, &o);
    write_direction(&a, &d, corrections);
    const abut_shape_tangents all = tangents_of(&a);
    CHECK_OK(abut_shape_jvp(q.pair, &batch, &all, NULL, NULL, &o.to, ABUT_SHAPE_SUMS));
    const double ahead = pushed(&q, &o, 0, q.poses);
    check(fabs(ahead - slope) <= 1e-6 * fmax(fabs(slope), 1.0),
          "way %d: along a direction outputs change by %.9g, by differences %.9g", way, ahead,
          slope);
    outcome_free(&o);
    arrays_free(&a);
    question_free(&q);
  }
}

/* Returns the sum over all poses of a reduction, with body 1 as it is given. */
static double reduced(const question *q, abut_context context, const solid *s,
                      const abut_smoothing *smoothing, abut_reduction reduction)
{
  abut_body body;
  abut_pair pair;
  double values[8], sum = 0.0;
  REQUIRE(q->poses <= 8);
  REQUIRE_OK(abut_create_body(context, &s->def, &body));
  REQUIRE_OK(abut_create_pair(body, q->bodies[1], smoothing, &pair));
  abut_batch batch = batch_of(q);
  void **const to[] = {[ABUT_REDUCE_MEAN_DISTANCE] = &batch.reductions.mean_distance,
                       [ABUT_REDUCE_ACTIVITY] = &batch.reductions.activity,
                       [ABUT_REDUCE_ENERGY] = &batch.reductions.energy,
                       [ABUT_REDUCE_SOFT_MINIMUM] = &batch.reductions.soft_minimum,
                       [ABUT_REDUCE_DISTANCE] = &batch.reductions.distance};
  *to[reduction] = values;
  REQUIRE_OK(abut_contacts(pair, &batch));
  for (size_t i = 0; i < q->poses; ++i) {
    sum += values[i];
  }
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(body));
  return sum;
}

/* Gradients of reductions of edges in fields. The bodies lie apart, or overlap by their rims, so
 * that no distance is of a body's middle, which does not vary. */
static void test_reductions(abut_context context)
{
  static const abut_reduction all[] = {ABUT_REDUCE_MEAN_DISTANCE, ABUT_REDUCE_ACTIVITY,
                                       ABUT_REDUCE_ENERGY, ABUT_REDUCE_SOFT_MINIMUM,
                                       ABUT_REDUCE_DISTANCE};
  const double step = 1e-6;
  uint64_t seed = 53;
  for (int way = 0; way < 3; ++way) {
    question q = {.precision = ABUT_FLOAT64};
    static solid s[2], ends[2];
    static direction d;
    arrays a;
    for (int i = 0; i < 2; ++i) {
      solid_make(&s[i], &seed, false);
      solid_cones(&s[i]);
      if (way % 2) {
        solid_features(&s[i], &seed);
      }
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
    }
    const abut_smoothing smoothing = field_smoothing(q.bodies[0], q.bodies[1], way + 1);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, ABUT_FLOAT64, 3, &seed);
    for (size_t i = 0; i < q.poses; ++i) {
      real_put(q.pose[1], ABUT_FLOAT64, POSE * i, q.numbers[0][POSE * i] + 0.9);
      real_put(q.pose[1], ABUT_FLOAT64, POSE * i + 1, q.numbers[0][POSE * i + 1]);
    }
    arrays_make(q.bodies[0], 1, &a);
    draw(&s[0], &seed, &d);
    for (int i = 0; i < 2; ++i) {
      moved_solid(&s[0], &d, i ? step : -step, &ends[i]);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
      abut_batch batch = batch_of(&q);
      CHECK_OK(abut_shape_gradient(q.pair, &batch, all[k], &a.to, NULL, ABUT_SHAPE_SUMS));
      const double slope = (reduced(&q, context, &ends[1], &smoothing, all[k]) -
                            reduced(&q, context, &ends[0], &smoothing, all[k])) /
                           (2.0 * step);
      const double got = along(&a, &d);
      check(fabs(got - slope) <= 1e-6 * fmax(fabs(slope), 1.0),
            "way %d: the derivative of reduction %d is %.9g, by differences %.9g", way, (int)all[k],
            got, slope);
    }
    arrays_free(&a);
    question_free(&q);
  }
}

/* ---- meshes that follow ---- */

/* Puts vertices on the zero set of their body's field: by Newton's method along the gradient where
 * they are first. Returns how far off they stay. */
static double put_back(abut_context context, solid *s, const abut_smoothing *smoothing)
{
  const double h = 1e-5;
  double g[24], points[24 * 6], phi[48], at[8];
  abut_body body;
  REQUIRE_OK(abut_create_body(context, &s->def, &body));
  for (size_t i = 0; i < 48; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      points[3 * i + k] = s->vertices[i / 6 * 3 + k] + (i % 6 / 2 == k ? (i % 2 ? h : -h) : 0.0);
    }
  }
  CHECK_OK(abut_evaluate_body(body, smoothing->union_, smoothing->plane, 48, points, phi, NULL));
  for (size_t i = 0; i < 24; ++i) {
    g[i] = (phi[2 * i + 1] - phi[2 * i]) / (2.0 * h);
  }
  for (int turn = 0; turn < 12; ++turn) {
    CHECK_OK(
      abut_evaluate_body(body, smoothing->union_, smoothing->plane, 8, s->vertices, at, NULL));
    for (size_t i = 0; i < 24; ++i) {
      const double *n = g + i / 3 * 3;
      s->vertices[i] -= at[i / 3] * g[i] / (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
  }
  double worst = 0.0;
  for (size_t i = 0; i < 8; ++i) {
    worst = fmax(worst, fabs(at[i]));
  }
  CHECK_OK(abut_destroy_body(body));
  return worst;
}

static void test_follow(abut_context context)
{
  const double step = 4e-7;
  uint64_t seed = 29;
  for (int way = 0; way < 2; ++way) {
    question q = {.precision = ABUT_FLOAT64};
    solid s[2], ends[2];
    direction d;
    arrays a, each;
    for (int i = 0; i < 2; ++i) {
      solid_make(&s[i], &seed, false);
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
    }
    const abut_smoothing smoothing = smoothing_of(q.bodies[0], q.bodies[1], way);
    double off = 1.0;
    for (int turn = 0; turn < 20 && off > 1e-12; ++turn) {
      off = put_back(context, &s[0], &smoothing);
    }
    CHECK(off <= 1e-12);
    CHECK_OK(abut_destroy_body(q.bodies[0]));
    REQUIRE_OK(abut_create_body(context, &s[0].def, &q.bodies[0]));
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, ABUT_FLOAT64, 1, &seed);
    arrays_make(q.bodies[0], 1, &a);
    arrays_make(q.bodies[0], 1, &each);
    abut_batch batch = batch_of(&q);
    const abut_cotangents bars = cotangents_of(&q);
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_FOLLOW));
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &each.to, NULL,
                            ABUT_SHAPE_FOLLOW | ABUT_SHAPE_EACH_POSE));
    for (int i = 0; i < NAMES; ++i) {
      CHECK(!memcmp(a.of[i], each.of[i], a.counts[i] * sizeof(double)));
    }
    draw(&s[0], &seed, &d);
    memset(d.vertices, 0, sizeof d.vertices);
    for (int i = 0; i < 2; ++i) {
      moved_solid(&s[0], &d, i ? step : -step, &ends[i]);
      CHECK(put_back(context, &ends[i], &smoothing) <= 1e-12);
    }
    const double slope =
      (sum_of(&q, context, &ends[1], &smoothing) - sum_of(&q, context, &ends[0], &smoothing)) /
      (2.0 * step);
    const double got = along(&a, &d);
    check(fabs(got - slope) <= 1e-6 * fmax(fabs(slope), 1.0),
          "way %d: with the mesh the derivative is %.9g, by differences %.9g", way, got, slope);
    outcome o;
    outcome_make(&q, &o);
    write_direction(&a, &d, 0);
    abut_shape_tangents field = tangents_of(&a);
    field.vertices = NULL;
    CHECK_OK(abut_shape_jvp(q.pair, &batch, &field, NULL, NULL, &o.to, ABUT_SHAPE_FOLLOW));
    const double ahead = pushed(&q, &o, 0, q.poses);
    check(fabs(ahead - slope) <= 1e-6 * fmax(fabs(slope), 1.0),
          "way %d: with the mesh outputs change by %.9g, by differences %.9g", way, ahead, slope);
    outcome_free(&o);
    arrays_free(&a);
    arrays_free(&each);
    question_free(&q);
  }
}

/* ---- transposes, and motions once more ---- */

/* Adds the product of a body's gradients with its direction, of one row each, and how large its
 * terms are. */
static void pull(const arrays *gradients, size_t row, const arrays *along, double *sum,
                 double *size)
{
  for (int i = 0; i < NAMES; ++i) {
    for (size_t k = 0; k < along->counts[i]; ++k) {
      const double term = gradients->of[i][row * along->counts[i] + k] *
                          along->of[i][(row % along->rows) * along->counts[i] + k];
      *sum += term;
      *size += fabs(term);
    }
  }
}

static void draw_all(arrays *a, uint64_t *seed)
{
  for (int i = 0; i < NAMES; ++i) {
    for (size_t k = 0; k < a->rows * a->counts[i]; ++k) {
      a->of[i][k] = (i == COEFFICIENTS ? 0.1 : 0.3) * random_normal(seed);
    }
  }
}

/* The product of the cotangents with the outputs' tangents is that of the gradients with the
 * direction: of shapes and poses together, one direction for all poses or one each, with meshes
 * that follow or not. */
static void test_transposes(abut_context context, abut_precision precision)
{
  enum { POSES = 3 };
  uint64_t seed = 41;
  for (int way = 0; way < 12; ++way) {
    question q = {.precision = precision};
    static solid s[2];
    static grid_sample grid;
    arrays gradients[2], along[2];
    solid_make(&s[0], &seed, way % 2);
    solid_make(&s[1], &seed, false);
    grid_sample_make(&grid, &seed, 1, 0.9, ABUT_ADD);
    s[1].def.grids = &grid.grid;
    s[1].def.grid_count = 1;
    const bool each = way % 2;
    const uint32_t want = (each ? ABUT_SHAPE_EACH_POSE : 0) | (way / 2 % 2 ? ABUT_SHAPE_FOLLOW : 0);
    for (int i = 0; i < 2; ++i) {
      if (way >= 6) {
        solid_cones(&s[i]);
      }
      if (way >= 6 && (way + i) % 2) {
        solid_features(&s[i], &seed);
      }
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
      arrays_make(q.bodies[i], POSES, &gradients[i]);
      arrays_make(q.bodies[i], each ? POSES : 1, &along[i]);
      draw_all(&along[i], &seed);
    }
    const abut_smoothing smoothing = way < 6 ? smoothing_of(q.bodies[0], q.bodies[1], way)
                                             : field_smoothing(q.bodies[0], q.bodies[1], way - 6);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, precision, POSES, &seed);
    void *g[2], *turns[2];
    double numbers[POSES * POSE];
    for (int i = 0; i < 2; ++i) {
      for (size_t k = 0; k < POSES * POSE; ++k) {
        numbers[k] = 0.3 * random_normal(&seed);
      }
      turns[i] = to_reals(numbers, POSES * POSE, precision);
      g[i] = malloc(sizeof numbers);
    }
    outcome o;
    outcome_make(&q, &o);
    abut_batch batch = batch_of(&q);
    const abut_cotangents bars = cotangents_of(&q);
    const abut_gradients to = {g[0], g[1]};
    const abut_pose_tangents by = {turns[0], turns[1]};
    const abut_shape_tangents of[2] = {tangents_of(&along[0]), tangents_of(&along[1])};
    CHECK_OK(abut_vjp(q.pair, ABUT_SAME_PAIR, &batch, &bars, &to));
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &gradients[0].to, &gradients[1].to,
                            want | ABUT_SHAPE_EACH_POSE));
    CHECK_OK(abut_shape_jvp(q.pair, &batch, &of[0], &of[1], &by, &o.to, want));
    for (size_t pose = 0; pose < POSES; ++pose) {
      double pulled = 0.0, size = 0.0;
      for (int i = 0; i < 2; ++i) {
        pull(&gradients[i], pose, &along[i], &pulled, &size);
        for (size_t k = pose * POSE; k < (pose + 1) * POSE; ++k) {
          const double term = real_at(g[i], precision, k) * real_at(turns[i], precision, k);
          pulled += term;
          size += fabs(term);
        }
      }
      const double got = pushed(&q, &o, pose, 1);
      check(fabs(got - pulled) <= (precision == ABUT_FLOAT64 ? 1e-9 : 5e-3) * size,
            "way %d, pose %zu: the product along a direction is %.12g, by gradients %.12g of %g",
            way, pose, got, pulled, size);
    }
    for (int i = 0; i < 2; ++i) {
      free(g[i]);
      free(turns[i]);
      arrays_free(&gradients[i]);
      arrays_free(&along[i]);
    }
    outcome_free(&o);
    question_free(&q);
    CHECK_OK(abut_destroy_pair(q.pair));
  }
}

/* Writes what a twist (v, w) of a solid's own frame does to points, or directions, `from`, `stride`
 * apart. */
static void carry(const double twist[6], const double *from, size_t count, size_t stride,
                  bool points, double *to)
{
  for (size_t i = 0; i < count; ++i) {
    cross(twist + 3, from + i * stride, to + 3 * i);
    for (int k = 0; k < 3; ++k) {
      to[3 * i + (size_t)k] += points ? twist[k] : 0.0;
    }
  }
}

/* Moving all numbers of a body along a twist is the derivative along its pose. */
static void test_carried(abut_context context, abut_precision precision)
{
  uint64_t seed = 47;
  for (int way = 0; way < 4; ++way) {
    const int moved = way % 2;
    question q = {.precision = precision};
    solid s[2];
    arrays along;
    for (int i = 0; i < 2; ++i) {
      solid_make(&s[i], &seed, i != moved);
      REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
    }
    const abut_smoothing smoothing = smoothing_of(q.bodies[0], q.bodies[1], way + 1);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, precision, 1, &seed);
    double twist[6], tangent[6];
    for (size_t k = 0; k < 6; ++k) {
      twist[k] = random_normal(&seed);
      if (k > 2) {
        real_put(q.pose[moved], precision, k, 0.0); /* where exp(s) = (rho, 1) and its derivative
                                                       is simple */
        q.numbers[moved][k] = 0.0;
      }
    }
    cross(twist + 3, q.numbers[moved], tangent);
    for (int k = 0; k < 3; ++k) {
      tangent[k] = twist[k] - 0.5 * tangent[k];
      tangent[3 + k] = twist[3 + k];
    }
    arrays_make(q.bodies[moved], 1, &along);
    const solid *m = &s[moved];
    const double *u = m->superquadric.quaternion, back[4] = {u[0], -u[1], -u[2], -u[3]};
    carry(twist, m->vertices, 8, 3, true, along.of[VERTICES]);
    carry(twist, m->superquadric.position, 1, 3, true, along.of[POSITION]);
    carry(twist, m->planes, 6, 6, false, along.of[PLANE_NORMALS]);
    carry(twist, m->planes + 3, 6, 6, true, along.of[PLANE_POINTS]);
    carry(twist, m->points, 6, 7, true, along.of[CLOUD_POINTS]);
    carry(twist, m->points + 3, 6, 7, false, along.of[CLOUD_NORMALS]);
    rotate(back, twist + 3, along.of[ROTATION]);
    for (size_t i = 0; i < CORES; ++i) {
      const double *w = m->cores[i].quaternion, inverse[4] = {w[0], -w[1], -w[2], -w[3]};
      carry(twist, m->cores[i].position, 1, 3, true, along.of[CORE_POSITIONS] + 3 * i);
      rotate(inverse, twist + 3, along.of[CORE_ROTATIONS] + 3 * i);
    }
    abut_shape_tangents t = tangents_of(&along);
    t.axes = t.exponents = t.cloud_widths = t.core_half = t.core_radius = NULL;
    void *by = to_reals(tangent, 6, precision);
    outcome o[2];
    outcome_make(&q, &o[0]);
    outcome_make(&q, &o[1]);
    abut_batch batch = batch_of(&q);
    const abut_pose_tangents poses = {moved ? NULL : by, moved ? by : NULL};
    CHECK_OK(
      abut_shape_jvp(q.pair, &batch, moved ? NULL : &t, moved ? &t : NULL, NULL, &o[0].to, 0));
    CHECK_OK(abut_jvp(q.pair, ABUT_SAME_PAIR, &batch, &poses, &o[1].to));
    for (int i = 0; i < 4; ++i) {
      double worst = 0.0, size = 0.0;
      for (size_t k = 0; k < q.contacts * (i % 2 ? 1 : 3); ++k) {
        const double want = real_at(o[1].of[i], precision, k);
        worst = fmax(worst, fabs(real_at(o[0].of[i], precision, k) - want));
        size = fmax(size, fabs(want));
      }
      check(size > 0.0 && worst <= (precision == ABUT_FLOAT64 ? 1e-9 : 5e-3) * size,
            "way %d, output %d: a motion is off by %g of %g", way, i, worst, size);
    }
    free(by);
    arrays_free(&along);
    outcome_free(&o[0]);
    outcome_free(&o[1]);
    question_free(&q);
    CHECK_OK(abut_destroy_pair(q.pair));
  }
}

/* ---- zeros, awkward bodies, bits ---- */

static void test_untouched(abut_context context, abut_precision precision)
{
  uint64_t seed = 3;
  question q = {.precision = precision};
  solid s;
  arrays a;
  solid_make(&s, &seed, false);
  const abut_superquadric both[2] =
    {s.superquadric, {{0.3, 0.3, 0.3}, {1, 1}, {40.0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD}};
  s.def.superquadrics = both;
  s.def.superquadric_count = 2;
  for (int i = 0; i < 2; ++i) {
    REQUIRE_OK(abut_create_body(context, &s.def, &q.bodies[i]));
  }
  abut_smoothing smoothing = smoothing_of(q.bodies[0], q.bodies[1], 0);
  smoothing.edge_edge = false;
  smoothing.vertices[0] = smoothing.vertices[1] = 0;
  smoothing.union_ = smoothing.plane = 0.01;
  REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
  question_make(&q, precision, 1, &seed);
  arrays_make(q.bodies[0], 1, &a);
  for (size_t i = 0; i < q.contacts; ++i) { /* of vertex 2 alone */
    real_put(q.bar[1], precision, i, i == 2);
  }
  const abut_cotangents bars = {.d = q.bar[1]};
  abut_batch batch = batch_of(&q);
  CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS));
  for (size_t i = 0; i < 24; ++i) {
    CHECK(i / 3 == 2 ? fabs(a.of[VERTICES][i]) <= 1.1 : a.of[VERTICES][i] == 0.0);
  }
  for (size_t i = 0; i < 6; ++i) {
    CHECK(a.of[POSITION][i] == 0.0); /* its field is not asked for */
  }
  real_put(q.bar[1], precision, 2, 0.0);
  real_put(q.bar[1], precision, 10, 1.0); /* a vertex of body 2 */
  CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS));
  double size = 0.0;
  for (size_t i = 0; i < 24; ++i) {
    CHECK(a.of[VERTICES][i] == 0.0);
  }
  for (size_t k = 0; k < 3; ++k) {
    size += fabs(a.of[POSITION][k]) + fabs(a.of[PLANE_NORMALS][k]);
    CHECK(a.of[AXES][3 + k] == 0.0 && a.of[POSITION][3 + k] == 0.0 && a.of[ROTATION][3 + k] == 0.0);
  }
  CHECK(size > 0.0);
  arrays_free(&a);
  question_free(&q);
}

static void test_awkward(abut_context context, abut_precision precision)
{
  abut_body bodies[AWKWARD];
  uint64_t seed = 17;
  if (!CHECK(awkward_bodies(context, bodies))) {
    return;
  }
  for (int way = 0; way < 2 * AWKWARD; ++way) {
    const abut_body one = bodies[way % AWKWARD];
    question q = {.precision = precision, .bodies = {one, one}};
    arrays a[2];
    abut_smoothing smoothing = way < AWKWARD ? smoothing_of(one, one, way % 2 ? 4 : 0)
                                             : field_smoothing(one, one, way);
    abut_body_info info;
    CHECK_OK(abut_get_body_info(q.bodies[0], &info));
    smoothing.length = fmax(smoothing.length, 1e-2 * info.diagonal);
    REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
    question_make(&q, precision, 3, &seed);
    for (size_t k = 0; k < POSE; ++k) { /* in one place, so that vertices lie at centres */
      real_put(q.pose[0], precision, k, 0.0);
      real_put(q.pose[1], precision, k, 0.0);
    }
    abut_batch batch = batch_of(&q);
    const abut_cotangents bars = cotangents_of(&q);
    arrays_make(q.bodies[0], 3, &a[0]);
    arrays_make(q.bodies[1], 3, &a[1]);
    CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a[0].to, &a[1].to, ABUT_SHAPE_EACH_POSE));
    for (int side = 0; side < 2; ++side) {
      size_t none = 0;
      for (int i = 0; i < NAMES; ++i) {
        for (size_t k = 0; k < 3 * a[side].counts[i]; ++k) {
          none += !isfinite(a[side].of[i][k]);
        }
      }
      check(none == 0, "awkward bodies %d: %zu numbers of body %d are none", way, none, side + 1);
      draw_all(&a[side], &seed);
    }
    outcome o;
    outcome_make(&q, &o);
    const abut_shape_tangents along[2] = {tangents_of(&a[0]), tangents_of(&a[1])};
    CHECK_OK(
      abut_shape_jvp(q.pair, &batch, &along[0], &along[1], NULL, &o.to, ABUT_SHAPE_EACH_POSE));
    size_t wrong = 0;
    for (int i = 0; i < 4; ++i) {
      for (size_t k = 0; k < q.poses * q.contacts * (i % 2 ? 1 : 3); ++k) {
        wrong += !isfinite(real_at(o.of[i], precision, k));
      }
    }
    check(wrong == 0, "awkward bodies %d: %zu tangents are none", way, wrong);
    outcome_free(&o);
    arrays_free(&a[0]);
    arrays_free(&a[1]);
    question_free(&q);
  }
}

/* Sums of 600 poses, one of them not finite, in chunks of so many. */
static void sums_in_chunks(abut_precision precision, bool fields, uint32_t chunk, arrays *a)
{
  enum { POSES = 600 };
  abut_context context;
  question q = {.precision = precision};
  solid s[2];
  uint64_t seed = 23;
  REQUIRE(open_context(precision, chunk, 0, &context));
  for (int i = 0; i < 2; ++i) {
    solid_make(&s[i], &seed, i);
    if (fields && i) {
      solid_features(&s[i], &seed);
    }
    REQUIRE_OK(abut_create_body(context, &s[i].def, &q.bodies[i]));
  }
  const abut_smoothing smoothing = fields ? field_smoothing(q.bodies[0], q.bodies[1], 5)
                                          : smoothing_of(q.bodies[0], q.bodies[1], 1);
  REQUIRE_OK(abut_create_pair(q.bodies[0], q.bodies[1], &smoothing, &q.pair));
  question_make(&q, precision, POSES, &seed);
  real_put(q.pose[0], precision, 300 * POSE + 1, (double)NAN);
  abut_batch batch = batch_of(&q);
  arrays_make(q.bodies[0], 1, &a[0]);
  arrays_make(q.bodies[1], 1, &a[1]);
  CHECK_OK(
    abut_shape_gradient(q.pair, &batch, ABUT_REDUCE_ENERGY, &a[0].to, &a[1].to, ABUT_SHAPE_SUMS));
  CHECK_EQUAL(batch.rejected, 1);
  question_free(&q);
  CHECK_OK(abut_destroy_context(context));
}

static void test_bits(abut_precision precision, bool fields)
{
  static const uint32_t chunks[] = {0, 37, 300};
  arrays first[2];
  sums_in_chunks(precision, fields, chunks[0], first);
  for (int c = 1; c < (usual_share() ? 2 : 3); ++c) {
    arrays a[2];
    sums_in_chunks(precision, fields, chunks[c], a);
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < NAMES; ++i) {
        CHECK(!memcmp(a[side].of[i], first[side].of[i], a[side].counts[i] * sizeof(double)));
      }
      arrays_free(&a[side]);
    }
  }
  CHECK(fabs(first[0].of[POSITION][0]) > 0.0 && isfinite(first[0].of[POSITION][0]));
  CHECK(!fields ||
        (fabs(first[1].of[EDGE_RADII][1]) > 0.0 && fabs(first[1].of[VERTEX_RADII][0]) > 0.0));
  arrays_free(&first[0]);
  arrays_free(&first[1]);
}

static void test_refusals(abut_context context, abut_precision precision)
{
  question q = {.precision = precision};
  uint64_t seed = 1;
  arrays a;
  abut_shape_sizes sizes;
  const abut_shape_gradients none = {0};
  REQUIRE_OK(make_cubes(context, &q.pair));
  question_make(&q, precision, 1, &seed);
  REQUIRE(make_box(context, (const double[3]){1, 1, 1}, &q.bodies[0]));
  arrays_make(q.bodies[0], 1, &a);
  abut_batch batch = batch_of(&q);
  const abut_cotangents bars = cotangents_of(&q), weights = {.weight = q.bar[1]}, nothing = {0};
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &bars, NULL, NULL, ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &bars, &none, &none, ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &weights, &a.to, NULL, ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &nothing, &a.to, NULL, ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_gradient(q.pair, &batch, ABUT_REDUCE_SOFT_DISTANCE, &a.to, NULL,
                                  ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_vjp((abut_pair){0, 0}, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS),
              ABUT_ERROR_HANDLE);
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, 4), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_get_shape_sizes((abut_body){0, 0}, &sizes), ABUT_ERROR_HANDLE);
  CHECK_EQUAL(abut_get_shape_sizes(q.bodies[0], NULL), ABUT_ERROR_ARGUMENT);
  outcome o;
  outcome_make(&q, &o);
  draw_all(&a, &seed);
  abut_shape_tangents along = tangents_of(&a);
  CHECK_EQUAL(abut_shape_jvp(q.pair, &batch, NULL, NULL, NULL, &o.to, 0), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_jvp(q.pair, &batch, &along, NULL, NULL, NULL, 0), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_jvp(q.pair, &batch, &along, NULL, NULL, &o.to, 4), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_jvp((abut_pair){0, 0}, &batch, &along, NULL, NULL, &o.to, 0),
              ABUT_ERROR_HANDLE);
  a.of[AXES][1] = (double)NAN;
  CHECK_EQUAL(abut_shape_jvp(q.pair, &batch, NULL, &along, NULL, &o.to, 0), ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "body 2's axes: number 1 is not finite"));
  a.of[AXES][1] = 0.0;
  CHECK_OK(abut_shape_jvp(q.pair, &batch, &along, NULL, NULL, &o.to, 0));
  abut_compact list = {.capacity = 0};
  batch.compact = &list;
  CHECK_EQUAL(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS),
              ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_shape_jvp(q.pair, &batch, &along, NULL, NULL, &o.to, 0), ABUT_ERROR_ARGUMENT);
  outcome_free(&o);
  batch = batch_of(&q);
  batch.count = 0;
  CHECK_OK(abut_shape_vjp(q.pair, &batch, &bars, &a.to, NULL, ABUT_SHAPE_SUMS));
  CHECK(a.of[AXES][0] == 0.0);
  arrays_free(&a);
  question_free(&q);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  test_motions(context, precision);
  test_transposes(context, precision);
  test_carried(context, precision);
  if (precision == ABUT_FLOAT64) {
    test_differences(context);
    test_reductions(context);
    test_follow(context);
  }
  test_untouched(context, precision);
  test_awkward(context, precision);
  test_refusals(context, precision);
  CHECK_OK(abut_destroy_context(context));
  test_bits(precision, false);
  test_bits(precision, true);
  return check_finish();
}
