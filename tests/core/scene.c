#include "scene.h"

#include "grids.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool open_context(abut_precision precision, uint32_t chunk, uint64_t scratch, abut_context *out)
{
  abut_context probe;
  abut_device_info info;
  if (!test_context(precision, &probe)) {
    return false;
  }
  CHECK_OK(abut_context_device(probe, &info));
  CHECK_OK(abut_destroy_context(probe));
  abut_context_def def = abut_default_context_def();
  def.device = info.index;
  def.precision = precision;
  def.chunk = chunk;
  def.scratch_bytes = scratch;
  return CHECK_OK(abut_create_context(&def, out));
}

abut_precision precision_of(int argc, char **argv)
{
  return argc > 1 && !strcmp(argv[1], "f32") ? ABUT_FLOAT32 : ABUT_FLOAT64;
}

void cube_def(const double half[3], double vertices[24], abut_body_def *def)
{
  static const uint32_t sizes[6] = {4, 4, 4, 4, 4, 4};
  static const uint32_t corners[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1,
                                       2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) {
      vertices[3 * i + k] = (i >> (2 - k) & 1 ? 1 : -1) * half[k];
    }
  }
  *def = abut_default_body_def();
  def->vertices = vertices;
  def->vertex_count = 8;
  def->face_sizes = sizes;
  def->face_indices = corners;
  def->face_count = 6;
}

abut_status make_cubes(abut_context context, abut_pair *pair)
{
  const double half[3] = {0.5, 0.5, 0.5};
  const abut_superquadric box = {{0.5, 0.5, 0.5}, {0.2, 0.2}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  double vertices[24];
  abut_body bodies[2];
  abut_smoothing s;
  abut_body_def def;
  cube_def(half, vertices, &def);
  def.superquadrics = &box;
  def.superquadric_count = 1;
  abut_status status = abut_create_body(context, &def, &bodies[0]);
  status = status ? status : abut_create_body(context, &def, &bodies[1]);
  status = status ? status : abut_fit_edge_pairs(bodies[0], bodies[1], &s);
  return status ? status : abut_create_pair(bodies[0], bodies[1], &s, pair);
}

bool make_box(abut_context context, const double half[3], abut_body *out)
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

static double between(uint64_t *seed, double low, double high)
{
  return low + (high - low) * random_uniform(seed);
}

static abut_superquadric random_superquadric(uint64_t *seed, abut_operation operation)
{
  abut_superquadric s;
  const double size = operation == ABUT_ADD ? 1.0 : 0.5;
  for (int i = 0; i < 3; ++i) {
    s.axes[i] = size * between(seed, 0.2, 0.5);
    s.position[i] = between(seed, -0.3, 0.3);
  }
  for (int i = 0; i < 2; ++i) {
    s.exponents[i] = between(seed, 0.3, 1.7);
  }
  for (int i = 0; i < 4; ++i) {
    s.quaternion[i] = random_normal(seed);
  }
  s.operation = operation;
  return s;
}

/* A slightly turned box of six planes. */
static void random_planes(uint64_t *seed, double planes[36])
{
  for (int i = 0; i < 6; ++i) {
    double *plane = planes + 6 * i;
    const double side = i % 2 ? 1.0 : -1.0;
    for (int k = 0; k < 3; ++k) {
      plane[k] = (k == i / 2 ? side : 0.0) + 0.15 * random_normal(seed);
      plane[3 + k] = k == i / 2 ? side * between(seed, 0.2, 0.4) : 0.0;
    }
  }
}

/* Points of a sphere with their normals. */
static void random_points(uint64_t *seed, size_t count, double *points)
{
  for (size_t i = 0; i < count; ++i) {
    double *point = points + 7 * i;
    double n[3] = {random_normal(seed), random_normal(seed), random_normal(seed)};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; ++k) {
      point[3 + k] = n[k] / length;
      point[k] = 0.1 + 0.35 * point[3 + k];
    }
    point[6] = between(seed, 0.1, 0.2);
  }
}

bool random_body(abut_context context, uint64_t *seed, abut_body *out)
{
  static const uint32_t sizes[5] = {3, 3, 4, 3, 3};
  static const uint32_t corners[16] = {0, 1, 2, 1, 3, 2, 2, 3, 5, 4, 4, 5, 6, 0, 4, 6};
  double vertices[30], planes[36], points[7 * 20];
  abut_superquadric solids[3];
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 7 + (size_t)(4 * random_uniform(seed));
  for (size_t i = 0; i < 3 * def.vertex_count; ++i) {
    vertices[i] = between(seed, -0.5, 0.5);
  }
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 5;
  def.superquadrics = solids;
  def.superquadric_count = 3;
  for (int i = 0; i < 3; ++i) {
    solids[i] = random_superquadric(seed, i < 2 ? ABUT_ADD : ABUT_SUBTRACT);
  }
  random_planes(seed, planes);
  random_points(seed, 20, points);
  const abut_polyhedron polyhedron = {planes, 6, ABUT_ADD};
  const abut_pointcloud cloud = {points, 20, ABUT_ADD};
  def.polyhedra = &polyhedron;
  def.polyhedron_count = random_uniform(seed) < 0.6;
  def.pointclouds = &cloud;
  def.pointcloud_count = random_uniform(seed) < 0.6;
  return CHECK_OK(abut_create_body(context, &def, out));
}

bool smooth_body(abut_context context, uint64_t *seed, abut_body *out)
{
  static const uint32_t sizes[4] = {3, 3, 4, 3};
  static const uint32_t corners[13] = {0, 1, 2, 1, 3, 2, 2, 3, 5, 4, 4, 5, 6};
  double vertices[21], planes[36], points[7 * 20];
  abut_superquadric solids[3];
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 7;
  for (size_t i = 0; i < 21; ++i) {
    vertices[i] = between(seed, -0.5, 0.5);
  }
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 4;
  def.superquadrics = solids;
  def.superquadric_count = 3;
  for (int i = 0; i < 3; ++i) {
    solids[i] = random_superquadric(seed, i < 2 ? ABUT_ADD : ABUT_SUBTRACT);
    solids[i].exponents[0] = random_uniform(seed) < 0.5 ? 0.5 : 1.0;
    solids[i].exponents[1] = random_uniform(seed) < 0.5 ? 0.5 : 1.0;
  }
  random_planes(seed, planes);
  random_points(seed, 20, points);
  const abut_polyhedron polyhedron = {planes, 6, ABUT_ADD};
  const abut_pointcloud cloud = {points, 20, ABUT_ADD};
  def.polyhedra = &polyhedron;
  def.polyhedron_count = random_uniform(seed) < 0.6;
  def.pointclouds = &cloud;
  def.pointcloud_count = random_uniform(seed) < 0.6;
  return CHECK_OK(abut_create_body(context, &def, out));
}

/* Faces of three or four different vertices. */
static size_t random_faces(uint64_t *seed, size_t vertices, size_t faces, uint32_t *sizes,
                           uint32_t *corners)
{
  size_t at = 0;
  for (size_t i = 0; i < faces; ++i) {
    sizes[i] = vertices > 3 && random_uniform(seed) < 0.5 ? 4 : 3;
    const uint32_t first = (uint32_t)((double)vertices * random_uniform(seed));
    for (uint32_t k = 0; k < sizes[i]; ++k) {
      corners[at++] = (first + k) % (uint32_t)vertices;
    }
  }
  return at;
}

/* The body with a grid besides, in every third: added, or subtracted where `kind` is small. It
 * draws numbers of its own, so that the caller's stay what they are. */
static bool create_with_grid(abut_context context, abut_body_def *def, double kind, abut_body *out)
{
  grid_sample *sample = calloc(1, sizeof *sample);
  uint64_t seed = 1 + (uint64_t)(1e9 * kind);
  REQUIRE(sample != NULL);
  if (kind > 0.2 && kind < 0.5) {
    grid_sample_make(sample, &seed, 1 + (kind < 0.35), 0.7, kind < 0.3 ? ABUT_SUBTRACT : ABUT_ADD);
    def->grids = &sample->grid;
    def->grid_count = 1;
  }
  const bool made = CHECK_OK(abut_create_body(context, def, out));
  free(sample);
  return made;
}

bool any_body(abut_context context, uint64_t *seed, abut_body *out)
{
  enum { VERTICES = 9, FACES = 4, KINDS = 3, EACH = 2, POINTS = 12 };
  double vertices[3 * VERTICES], planes[EACH][36], points[EACH][7 * POINTS];
  uint32_t sizes[FACES], corners[4 * FACES];
  abut_superquadric solids[EACH];
  abut_polyhedron polyhedra[EACH];
  abut_pointcloud clouds[EACH];
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 3 + (size_t)(7.0 * random_uniform(seed));
  for (size_t i = 0; i < 3 * def.vertex_count; ++i) {
    vertices[i] = between(seed, -0.5, 0.5);
  }
  const double kind = random_uniform(seed);
  if (kind < 0.2) {
    memcpy(vertices, vertices + 3, 3 * sizeof *vertices); /* an edge of no length */
  }
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 1 + (size_t)(FACES * random_uniform(seed));
  random_faces(seed, def.vertex_count, def.face_count, sizes, corners);
  const int first = (int)(KINDS * random_uniform(seed));
  for (int i = 0; i < EACH; ++i) {
    const abut_operation operation = i == 0 ? ABUT_ADD : ABUT_SUBTRACT;
    solids[i] = random_superquadric(seed, operation);
    random_planes(seed, planes[i]);
    random_points(seed, POINTS, points[i]);
    polyhedra[i] = (abut_polyhedron){planes[i], 6, operation};
    clouds[i] = (abut_pointcloud){points[i], POINTS, operation};
  }
  def.superquadrics = solids;
  def.polyhedra = polyhedra;
  def.pointclouds = clouds;
  size_t *const counts[KINDS] = {&def.superquadric_count, &def.polyhedron_count,
                                 &def.pointcloud_count};
  for (int i = 0; i < KINDS; ++i) {
    *counts[i] = (size_t)(random_uniform(seed) * (i == first ? 2.0 : 1.4)) + (i == first);
  }
  def.cloud_from_mesh = kind > 0.9;
  return create_with_grid(context, &def, kind, out);
}

bool awkward_bodies(abut_context context, abut_body bodies[AWKWARD])
{
  static const double twice[] = {0, 0,   0, 0.5, 0,   0, 0.5, 0,    0,
                                 0, 0.5, 0, 0.5, 0.5, 0, 1e6, -1e6, 1e6};
  static const uint32_t sizes[] = {3, 4, 3}, corners[] = {0, 1, 2, 0, 1, 4, 3, 1, 2, 5};
  static const double planes[] = {0, 0, 1, 0, 0, 0.5, 0, 0, -1, 0, 0, -0.5, 1, 0, 0, 0.5, 0, 0};
  static const double points[] = {0, 0, 0, 0, 0, 1, 1e-6, 0.5, 0, 0, 0, 0, 1, 0.1};
  static const double narrow[] = {0, 0, 0, 0, 0, 1, 1e-6, 0.5, 0, 0, 1, 0, 0, 1e-6};
  /* The last vertex is of no face: it makes the mesh larger, by which its cloud is sampled, else of
   * thousands of points. */
  static const double small[] = {0, 0, 0, 1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3, 8e-3, 0, 0};
  static const double half[] = {0.5, 0.5, 0.5};
  static const uint32_t small_sizes[] = {3, 3, 3, 3};
  static const uint32_t small_corners[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  const abut_superquadric sharp = {{0.5, 0.5, 0.5},
                                   {0.01, 0.01},
                                   {0, 0, 0},
                                   {1, 0, 0, 0},
                                   ABUT_ADD};
  const abut_superquadric pointed = {{0.5, 0.3, 0.5}, {2, 2}, {0, 0, 0}, {1, 1, 0, 0}, ABUT_ADD};
  const abut_superquadric vast[2] = {
    {{1e6, 1e-6, 1e6}, {0.1, 1.9}, {1e6, 0, -1e6}, {1, 0, 2, 0}, ABUT_ADD},
    {{1e-6, 1e-6, 1e-6}, {1e-3, 2}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_SUBTRACT}};
  const abut_polyhedron slab = {planes, 3, ABUT_ADD};
  const abut_pointcloud clouds[2] = {{points, 2, ABUT_ADD}, {narrow, 2, ABUT_ADD}};
  for (int i = 0; i < AWKWARD - 1; ++i) {
    abut_body_def def = abut_default_body_def();
    def.vertices = i == 7 ? small : twice;
    def.vertex_count = i == 3 ? 1 : i == 7 ? 5 : 6;
    def.face_sizes = i == 7 ? small_sizes : sizes;
    def.face_indices = i == 7 ? small_corners : corners;
    def.face_count = i == 3 || i == 4 ? 0 : i == 7 ? 4 : 3;
    def.superquadrics = i == 1 ? &pointed : i == 2 ? vast : &sharp;
    def.superquadric_count = i == 2 ? 2 : i >= 4 ? 0 : 1;
    def.polyhedra = &slab;
    def.polyhedron_count = i == 4;
    def.pointclouds = &clouds[i == 6];
    def.pointcloud_count = i == 5 || i == 6;
    def.cloud_from_mesh = i == 7;
    if (!CHECK_OK(abut_create_body(context, &def, &bodies[i]))) {
      return false;
    }
  }
  return make_box(context, half, &bodies[AWKWARD - 1]);
}

/* ---- poses ---- */

void random_pose(uint64_t *seed, double reach, double pose[7])
{
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    pose[i] = between(seed, -reach, reach);
  }
  for (int i = 3; i < 7; ++i) {
    pose[i] = random_normal(seed);
    sum += pose[i] * pose[i];
  }
  for (int i = 3; i < 7; ++i) {
    pose[i] /= sqrt(sum);
  }
}

void apply(const double pose[7], const double x[3], bool turn_only, double out[3])
{
  const double w = pose[3], *v = pose + 4;
  const double u[3] = {v[1] * x[2] - v[2] * x[1], v[2] * x[0] - v[0] * x[2],
                       v[0] * x[1] - v[1] * x[0]};
  const double t[3] = {v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2],
                       v[0] * u[1] - v[1] * u[0]};
  for (int i = 0; i < 3; ++i) {
    out[i] = x[i] + 2.0 * (w * u[i] + t[i]) + (turn_only ? 0.0 : pose[i]);
  }
}

void compose(const double first[7], const double second[7], double out[7])
{
  const double *a = first + 3, *b = second + 3;
  double position[3];
  apply(first, second, false, position);
  const double q[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                       a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                       a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                       a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
  memcpy(out, position, sizeof position);
  memcpy(out + 3, q, sizeof q);
}

void exponential(const double twist[6], double pose[7])
{
  const double *r = twist, *w = twist + 3;
  const double t = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const double b = t > 1e-3 ? (1.0 - cos(t)) / (t * t) : 0.5 - t * t / 24.0;
  const double c = t > 1e-3 ? (t - sin(t)) / (t * t * t) : 1.0 / 6.0 - t * t / 120.0;
  const double u[3] = {w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2],
                       w[0] * r[1] - w[1] * r[0]};
  const double v[3] = {w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2],
                       w[0] * u[1] - w[1] * u[0]};
  const double half = t > 1e-8 ? sin(0.5 * t) / t : 0.5;
  pose[3] = cos(0.5 * t);
  for (int i = 0; i < 3; ++i) {
    pose[i] = r[i] + b * u[i] + c * v[i];
    pose[4 + i] = half * w[i];
  }
}

/* ---- outputs ---- */

size_t out_width(const outputs *o, int array)
{
  const size_t widths[OUT_ARRAYS] = {
    3 * o->contacts, o->contacts, 3 * o->contacts, o->contacts, 1, 1, 1, 1, 1, 1, 1, o->contacts};
  return widths[array];
}

double out_at(const outputs *o, int array, size_t i)
{
  return real_at(o->arrays[array], o->precision, i);
}

static void *room(size_t count, size_t size)
{
  void *memory = calloc(count ? count : 1, size);
  check(memory != NULL, "no memory for %zu elements", count);
  return memory;
}

bool outputs_create(outputs *o, abut_pair pair, abut_precision precision, size_t count,
                    size_t capacity, double threshold)
{
  memset(o, 0, sizeof *o);
  abut_layout layout;
  if (!CHECK_OK(abut_get_layout(pair, &layout))) {
    return false;
  }
  o->precision = precision;
  o->count = count;
  o->contacts = layout.contacts;
  for (int i = 0; i < OUT_ARRAYS; ++i) {
    o->arrays[i] = room(count * out_width(o, i), real_size(precision));
  }
  o->status = room(count, 1);
  o->compact.threshold = threshold;
  o->compact.capacity = capacity;
  o->compact.pose = room(capacity, sizeof(uint32_t));
  o->compact.slot = room(capacity, sizeof(uint32_t));
  o->compact.feature = room(capacity, 2 * sizeof(uint32_t));
  o->compact.p = room(capacity, 3 * real_size(precision));
  o->compact.n = room(capacity, 3 * real_size(precision));
  o->compact.d = room(capacity, real_size(precision));
  o->compact.activity = room(capacity, real_size(precision));
  o->compact.weight = room(capacity, real_size(precision));
  return true;
}

void outputs_free(outputs *o)
{
  for (int i = 0; i < OUT_ARRAYS; ++i) {
    free(o->arrays[i]);
  }
  free(o->status);
  free(o->compact.pose);
  free(o->compact.slot);
  free(o->compact.feature);
  free(o->compact.p);
  free(o->compact.n);
  free(o->compact.d);
  free(o->compact.activity);
  free(o->compact.weight);
  memset(o, 0, sizeof *o);
}

void outputs_attach(const outputs *o, abut_batch *batch, size_t first, unsigned wanted)
{
  void **const to[OUT_ARRAYS] = {
    &batch->p,
    &batch->d,
    &batch->n,
    &batch->activity,
    &batch->reductions.mean_distance,
    &batch->reductions.activity,
    &batch->reductions.energy,
    &batch->reductions.minimum_distance,
    &batch->reductions.soft_minimum,
    &batch->reductions.distance,
    &batch->reductions.soft_distance,
    &batch->weight,
  };
  for (int i = 0; i < OUT_ARRAYS; ++i) {
    char *array = o->arrays[i];
    *to[i] = wanted & 1u << i ? array + first * out_width(o, i) * real_size(o->precision) : NULL;
  }
}

abut_status run_poses(abut_pair pair, abut_pose_kind kind, const double *pose1, const double *pose2,
                      outputs *o)
{
  const size_t width = kind == ABUT_POSE_TWIST ? 6 : 7;
  void *p1 = to_reals(pose1, width * o->count, o->precision);
  void *p2 = to_reals(pose2, width * o->count, o->precision);
  abut_batch batch = abut_default_batch();
  batch.count = o->count;
  batch.poses = kind;
  batch.pose1 = p1;
  batch.pose2 = p2;
  batch.status = o->status;
  batch.compact = &o->compact;
  outputs_attach(o, &batch, 0, OUT_ALL);
  const abut_status status = abut_contacts(pair, &batch);
  o->rejected = batch.rejected;
  free(p1);
  free(p2);
  return status;
}

static bool lists_same(const abut_compact *a, const abut_compact *b, size_t real)
{
  const size_t n = a->count < a->capacity ? a->count : a->capacity;
  return a->count == b->count && !memcmp(a->pose, b->pose, n * sizeof *a->pose) &&
         !memcmp(a->slot, b->slot, n * sizeof *a->slot) &&
         !memcmp(a->feature, b->feature, 2 * n * sizeof *a->feature) &&
         !memcmp(a->p, b->p, 3 * n * real) && !memcmp(a->n, b->n, 3 * n * real) &&
         !memcmp(a->d, b->d, n * real) && !memcmp(a->activity, b->activity, n * real) &&
         !memcmp(a->weight, b->weight, n * real);
}

bool outputs_same(const outputs *a, const outputs *b, const char *what)
{
  const size_t real = real_size(a->precision);
  bool same = true;
  for (int i = 0; i < OUT_ARRAYS; ++i) {
    const size_t bytes = a->count * out_width(a, i) * real;
    same = check(!memcmp(a->arrays[i], b->arrays[i], bytes), "%s: array %d differs", what, i) &&
           same;
  }
  same = check(!memcmp(a->status, b->status, a->count), "%s: statuses differ", what) && same;
  same = check(a->rejected == b->rejected, "%s: rejected poses differ", what) && same;
  return check(lists_same(&a->compact, &b->compact, real), "%s: compact lists differ", what) &&
         same;
}
