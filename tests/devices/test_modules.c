/* Programs of kernels: test_modules PRECISION. Each call builds the programs of its own modules and
 * no others; kernels along six tangents at a time give what they give along one after the other. */
#include "core/scene.h"

#include "body/body.h"
#include "geometry/layout.h"
#include "contact/pair_head.h"
#include "engine/self_test/runner.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is built for what ---- */

enum { REALS = 64, WIDTH = 24, HEIGHT = 18 };

typedef struct fixture {
  abut_context context;
  abut_body body;
  abut_pair pair;
  bool compiles;          /* not the host path */
  double reals[8][REALS]; /* of either precision */
  uint8_t rgb[3 * WIDTH * HEIGHT];
} fixture;

static bool make_fixture(abut_precision precision, fixture *f)
{
  uint64_t seed = 7;
  abut_device_info info;
  const abut_smoothing smoothing = abut_default_smoothing();
  memset(f, 0, sizeof *f);
  if (!test_context(precision, &f->context)) {
    return false;
  }
  CHECK_OK(abut_context_device(f->context, &info));
  f->compiles = info.type != ABUT_DEVICE_HOST;
  for (size_t i = 0; i < 18; ++i) {
    real_put(f->reals[0], precision, i, (double)(i * 7 % 11) / 8.0);
    real_put(f->reals[1], precision, i, (double)(i * 5 % 13) / 8.0);
  }
  return random_body(f->context, &seed, &f->body) &&
         CHECK_OK(abut_create_pair(f->body, f->body, &smoothing, &f->pair));
}

static void builds(const fixture *f, uint64_t programs, const char *what)
{
  abut_counters c = {0};
  CHECK_OK(abut_get_counters(f->context, &c));
  check(c.builds == (f->compiles ? programs : 0), "%s: %llu programs instead of %llu", what,
        (unsigned long long)c.builds, (unsigned long long)programs);
}

static abut_status edges(fixture *f)
{
  const abut_smoothing s = abut_default_smoothing();
  return abut_witness_edges(f->context, &s, 2, f->reals[0], f->reals[1], f->reals[2], f->reals[3],
                            f->reals[4]);
}

static abut_status faces(fixture *f)
{
  const abut_smoothing s = abut_default_smoothing();
  return abut_witness_faces(f->context, &s, 1, f->reals[0], f->reals[1], f->reals[2], NULL, NULL);
}

static abut_status edges_back(fixture *f)
{
  const abut_smoothing s = abut_default_smoothing();
  return abut_witness_edges_vjp(f->context, &s, 2, f->reals[0], f->reals[1], f->reals[0],
                                f->reals[1], NULL, f->reals[2], f->reals[3]);
}

static abut_status edges_along(fixture *f)
{
  const abut_smoothing s = abut_default_smoothing();
  return abut_witness_edges_jvp(f->context, &s, 2, f->reals[0], f->reals[1], f->reals[1],
                                f->reals[0], f->reals[2], f->reals[3], NULL);
}

static abut_status field(fixture *f)
{
  return abut_evaluate_body(f->body, 0.01, 0.01, 3, f->reals[0], f->reals[2], f->reals[3]);
}

static abut_status contacts(fixture *f)
{
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = f->reals[0];
  batch.pose2 = f->reals[1];
  return abut_contacts(f->pair, &batch);
}

static abut_status by_shape(fixture *f)
{
  static double vertices[3 * 16];
  const abut_shape_gradients to = {.vertices = vertices};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = f->reals[0];
  batch.pose2 = f->reals[1];
  return abut_shape_gradient(f->pair, &batch, ABUT_REDUCE_MEAN_DISTANCE, &to, NULL,
                             ABUT_SHAPE_SUMS);
}

static abut_status along_shape(fixture *f)
{
  static double vertices[3 * 16];
  const abut_shape_tangents along = {.vertices = vertices};
  const abut_tangents to = {.d = f->reals[2]};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = f->reals[0];
  batch.pose2 = f->reals[1];
  return abut_shape_jvp(f->pair, &batch, &along, NULL, NULL, &to, ABUT_SHAPE_SUMS);
}

static abut_status picture(fixture *f)
{
  static const double here[6] = {0}, there[6] = {0.75, 0.25, 0.5};
  abut_view view = abut_default_view();
  view.width = WIDTH;
  view.height = HEIGHT;
  view.contacts = false;
  return abut_render(f->pair, ABUT_POSE_TWIST, here, there, &view, f->rgb);
}

/* Two balls. */
static abut_status shapes(fixture *f, bool back)
{
  abut_shape_def def = abut_default_shape_def();
  abut_closest_batch b = abut_default_closest_batch();
  const abut_closest_smoothing s = abut_default_closest_smoothing();
  const abut_closest_jacobians to = {.d = f->reals[3]};
  abut_shape balls[2];
  def.kind = ABUT_SHAPE_SPHERE;
  def.size[0] = 0.125;
  CHECK_OK(abut_create_shape(f->context, &def, &balls[0]));
  balls[1] = balls[0];
  b.count = 1;
  b.shapes = balls;
  b.shape_count = 2;
  b.poses = ABUT_POSE_TWIST;
  b.pose1 = f->reals[0];
  b.pose2 = f->reals[1];
  b.d = f->reals[2];
  const abut_status status = back ? abut_closest_jacobian(f->context, &b, &s, &to)
                                  : abut_closest(f->context, &b);
  CHECK_OK(abut_destroy_shape(balls[0]));
  return status;
}

static abut_status closest(fixture *f)
{
  return shapes(f, false);
}

static abut_status closest_by_poses(fixture *f)
{
  return shapes(f, true);
}

/* Two points, and a mesh of one triangle that meets itself. */
static abut_status collision(fixture *f, bool back)
{
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = ABUT_CCD_POINT_POINT;
  q.count = 1;
  q.x0 = f->reals[0];
  q.x1 = f->reals[1];
  q.toi = f->reals[2];
  return back ? abut_ccd_queries_gradient(f->context, &q, f->reals[3], f->reals[4])
              : abut_run_ccd_queries(f->context, &q);
}

static abut_status meshes(fixture *f, bool back)
{
  static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t face[] = {0, 1, 2};
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  abut_ccd_batch b = abut_default_ccd_batch();
  const abut_ccd_gradients to = {.by1 = f->reals[3]};
  abut_ccd_mesh mesh;
  def.vertices = corners;
  def.vertex_count = 3;
  def.face_indices = face;
  def.face_count = 1;
  CHECK_OK(abut_create_ccd_mesh(f->context, &def, &mesh));
  b.count = 1;
  b.poses = ABUT_POSE_TWIST;
  b.from1 = b.to1 = f->reals[0];
  b.from2 = b.to2 = f->reals[1];
  b.toi = f->reals[2];
  const abut_status status = back ? abut_ccd_gradient(mesh, mesh, &b, &to)
                                  : abut_ccd(mesh, mesh, &b);
  CHECK_OK(abut_destroy_ccd_mesh(mesh));
  return status;
}

static abut_status collide(fixture *f)
{
  return collision(f, false);
}
static abut_status collide_back(fixture *f)
{
  return collision(f, true);
}
static abut_status collide_meshes(fixture *f)
{
  return meshes(f, false);
}
static abut_status collide_meshes_back(fixture *f)
{
  return meshes(f, true);
}

/* A tetrahedron as one superquadric. */
static abut_status decompose(fixture *f)
{
  static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t sizes[] = {3, 3, 3, 3}, faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  abut_body_def def = abut_default_body_def();
  abut_decompose_options options = abut_default_decompose_options();
  abut_decomposition d;
  def.vertices = corners;
  def.vertex_count = 4;
  def.face_sizes = sizes;
  def.face_indices = faces;
  def.face_count = 4;
  options.primitives = 1;
  const abut_status status = abut_decompose(f->context, &def, &options, &d);
  if (status == ABUT_SUCCESS) {
    abut_free_decomposition(&d);
  }
  return status;
}

static void test_builds(abut_precision precision)
{
  const struct {
    const char *name;
    abut_status (*call)(fixture *);
    uint64_t programs; /* until then */
  } steps[] = {{"edges", edges, 1},
               {"faces", faces, 1},
               {"the VJP of edges", edges_back, 2},
               {"the JVP of edges", edges_along, 3},
               {"a field", field, 4},
               {"contacts", contacts, 5},
               {"a picture", picture, 6},
               {"closest points", closest, 7},
               {"their Jacobians", closest_by_poses, 8},
               {"collision", collide, 9},
               {"its gradient", collide_back, 10},
               {"collision of meshes", collide_meshes, 10},
               {"their gradient", collide_meshes_back, 10},
               {"a decomposition", decompose, 11},
               {"a gradient by shape", by_shape, 13},
               {"along a shape", along_shape, 15},
               {"edges again", edges, 15}};
  fixture f;
  if (!make_fixture(precision, &f)) {
    return;
  }
  builds(&f, 0, "a context, a body and a pair");
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    check_ok(steps[i].call(&f), steps[i].name);
    builds(&f, steps[i].programs, steps[i].name);
  }
  CHECK_OK(abut_destroy_context(f.context));
  if (make_fixture(precision, &f)) { /* a picture alone takes the poses' frames from contacts */
    CHECK_OK(picture(&f));
    builds(&f, 2, "a picture alone");
    CHECK_OK(abut_destroy_context(f.context));
  }
}

/* ---- six tangents at a time ---- */

enum { POSES = 3, TANGENTS = 6, PARTS = 1 + TANGENTS, STAGES = 7, KEPT = 3 };

/* What a chain of kernels leaves: rows of numbers. */
typedef struct stage {
  const char *name;
  size_t rows, stride; /* numbers a row */
  buffer *memory;
  reals six, one;
} stage;

/* Room for any input and any unread output. */
enum { ROOM = 16 * 6 * PARTS };

typedef struct chain {
  abut_precision precision;
  device *device;
  const resident_body *body;
  size_t lanes, real, slots, pairs, vertices;
  buffer *head, *status, *poses[2], *moves[2], *edges[2], *spare[2];
  stage stages[STAGES];
} chain;

enum { FRAMES, FIELD, P, D, N, WITNESS, EDGES };

static void add_stage(chain *c, int i, const char *name, size_t rows, size_t stride)
{
  stage *s = &c->stages[i];
  *s = (stage){.name = name, .rows = rows, .stride = stride};
  CHECK_OK(reals_create(&s->six, rows * stride * PARTS, c->real));
  CHECK_OK(reals_create(&s->one, rows * stride * 2, c->real));
  CHECK_OK(buffer_create(c->device, rows * stride * PARTS * c->real, &s->memory));
}

/* Numbers between -1/2 and 1/2, with zeros behind them. */
static void upload(const chain *c, uint64_t seed, size_t count, buffer **out)
{
  reals r;
  CHECK_OK(reals_create(&r, ROOM, c->real));
  for (size_t i = 0; i < ROOM; ++i) {
    reals_set(&r, i, i < count ? random_uniform(&seed) - 0.5 : 0.0);
  }
  CHECK_OK(buffer_upload(c->device, ROOM * c->real, r.data, out));
  free(r.data);
}

/* Contacts of all vertices of body 1 alone, and pairs of the first KEPT edges of both. */
static pair_sizes sizes_of(const chain *c)
{
  const int vertices = (int)c->vertices, slots = (int)c->slots, edges = (int)c->body->edge_padded;
  const pair_elements kept = {.padded = edges, .kept = KEPT, .plane = edges};
  const pair_elements all = {.count = vertices,
                             .padded = slots,
                             .kept = vertices,
                             .slots = slots,
                             .plane = slots,
                             .held = vertices};
  return (
    pair_sizes){.contacts = vertices,
                .pairs = KEPT * KEPT,
                .pair_slots = (int)c->pairs,
                .elements = {[VERTICES_OF(0)] = all, [EDGES_OF(0)] = kept, [EDGES_OF(1)] = kept}};
}

static void open_chain(const fixture *f, abut_precision precision, chain *c)
{
  const abut_smoothing smoothing = abut_default_smoothing();
  const double none[PAIR_REALS] = {0.0};
  *c = (chain){.precision = precision, .device = context_get(f->context)->members[0].device};
  c->real = device_real_bytes(c->device);
  c->lanes = device_lanes(c->device);
  CHECK_OK(body_on(body_get(f->body), 0, &c->body));
  c->slots = c->body->vertex_padded;
  c->vertices = c->body->info->vertices;
  c->pairs = padded(KEPT * KEPT, (uint32_t)c->lanes);
  const pair_sizes sizes = sizes_of(c);
  CHECK_OK(upload_head(c->device, &smoothing, none, &sizes, NULL, &c->head));
  CHECK_OK(buffer_create(c->device, POSES * sizeof(int), &c->status));
  for (uint64_t i = 0; i < 2; ++i) {
    upload(c, 3 + i, POSES * 6, &c->poses[i]);
    upload(c, 0, 0, &c->moves[i]);
    upload(c, 5 + i, 6 * c->lanes, &c->edges[i]);
    upload(c, 0, 0, &c->spare[i]);
  }
  add_stage(c, FRAMES, "frames", POSES, FRAME_STRIDE);
  add_stage(c, FIELD, "a field", POSES, 4 * c->slots);
  add_stage(c, P, "p", POSES, 3 * c->vertices);
  add_stage(c, D, "d", POSES, c->vertices);
  add_stage(c, N, "n", POSES, 3 * c->vertices);
  add_stage(c, WITNESS, "edges' witness points", POSES, WITNESS_PLANES * c->pairs);
  add_stage(c, EDGES, "witness points alone", 1, 3 * c->lanes);
}

static void close_chain(chain *c)
{
  for (int i = 0; i < STAGES; ++i) {
    buffer_destroy(c->stages[i].memory);
    free(c->stages[i].six.data);
    free(c->stages[i].one.data);
  }
  for (int i = 0; i < 2; ++i) {
    buffer_destroy(c->poses[i]);
    buffer_destroy(c->moves[i]);
    buffer_destroy(c->edges[i]);
    buffer_destroy(c->spare[i]);
  }
  buffer_destroy(c->head);
  buffer_destroy(c->status);
}

/* `rows` rows of six numbers, 1 at `which`. */
static void put_units(const chain *c, buffer *to, size_t first, size_t rows, size_t which)
{
  reals r;
  CHECK_OK(reals_create(&r, rows * 6, c->real));
  for (size_t i = 0; i < r.count; ++i) {
    reals_set(&r, i, i % 6 == which ? 1.0 : 0.0);
  }
  CHECK_OK(buffer_write(to, first * 6 * c->real, r.count * c->real, r.data));
  free(r.data);
}

/* Body 1's poses move along parameter `which`, or along each of the six in turn; so do the edges of
 * body 1, whose derivatives follow all their values, tangent by tangent. */
static void put_tangents(const chain *c, size_t tangents, size_t which)
{
  for (size_t i = 0; i < tangents; ++i) {
    const size_t parameter = tangents == 1 ? which : i;
    for (size_t pose = 0; pose < POSES; ++pose) {
      put_units(c, c->moves[0], pose * tangents + i, 1, parameter);
    }
    put_units(c, c->edges[0], (1 + i) * c->lanes, c->lanes, parameter);
  }
}

static void launch_chain(const chain *c, program_id numbers)
{
  device *d = c->device;
  const resident_body *b = c->body;
  const size_t blocks = c->slots / c->lanes;
  const stage *s = c->stages;
  CHECK_OK(LAUNCH_IN(d, numbers, KERNEL_POSES, POSES, 1, ARG_BUFFER(c->poses[0]),
                     ARG_BUFFER(c->poses[1]), ARG_BUFFER(c->moves[0]), ARG_BUFFER(c->moves[1]),
                     ARG_INT(6), ARG_INT(POSES), ARG_BUFFER(s[FRAMES].memory),
                     ARG_BUFFER(c->status)));
  CHECK_OK(LAUNCH_IN(d, numbers, KERNEL_FIELD, blocks, POSES, ARG_BUFFER(b->sorted_planes),
                     ARG_INT(0), ARG_INT(0), ARG_INT(c->slots), ARG_BUFFER(s[FRAMES].memory),
                     ARG_INT(FRAME_1_TO_2), ARG_BUFFER(b->head), ARG_BUFFER(b->shape),
                     ARG_BUFFER(c->head), ARG_BUFFER(s[FIELD].memory)));
  CHECK_OK(LAUNCH_IN(d, numbers, KERNEL_VERTEX_CONTACTS, blocks, POSES,
                     ARG_BUFFER(b->sorted_planes), ARG_BUFFER(b->order),
                     ARG_BUFFER(s[FIELD].memory), ARG_INT(4 * c->slots), ARG_BUFFER(NULL),
                     ARG_BUFFER(NULL), ARG_BUFFER(NULL), ARG_BUFFER(s[FRAMES].memory),
                     ARG_BUFFER(c->head), ARG_INT(0), ARG_INT(WANT_P | WANT_D | WANT_N),
                     ARG_BUFFER(s[P].memory), ARG_BUFFER(s[D].memory), ARG_BUFFER(s[N].memory),
                     ARG_BUFFER(NULL), ARG_BUFFER(NULL)));
  CHECK_OK(LAUNCH_IN(d, numbers, KERNEL_EDGE_WITNESSES, c->pairs / c->lanes, POSES,
                     ARG_BUFFER(b->edge_ends), ARG_BUFFER(b->edge_ends),
                     ARG_BUFFER(s[FRAMES].memory), ARG_BUFFER(c->head),
                     ARG_BUFFER(s[WITNESS].memory), ARG_INT(WITNESS_PLANES * c->pairs)));
  CHECK_OK(LAUNCH_IN(d, numbers, KERNEL_WITNESS_EDGES, 1, 1, ARG_BUFFER(c->edges[0]),
                     ARG_BUFFER(c->edges[1]), ARG_INT(c->lanes), ARG_INT(c->lanes),
                     ARG_BUFFER(c->head), ARG_BUFFER(s[EDGES].memory), ARG_BUFFER(c->spare[0]),
                     ARG_BUFFER(c->spare[1])));
}

static double at(const reals *r, size_t i)
{
  return r->size == sizeof(double) ? ((const double *)r->data)[i]
                                   : (double)((const float *)r->data)[i];
}

/* Values, and the derivatives along tangent `which`, of all rows; these must be some. */
static void compare(const chain *c, const stage *s, size_t which)
{
  const double tolerance = c->precision == ABUT_FLOAT64 ? 1e-11 : 1e-4;
  double worst = 0.0, most = 0.0;
  for (size_t i = 0; i < 2 * s->rows * s->stride; ++i) {
    const size_t row = i / (2 * s->stride), part = i / s->stride % 2;
    const size_t of_six = (row * PARTS + (part ? 1 + which : 0)) * s->stride + i % s->stride;
    const double one = at(&s->one, i), difference = fabs(at(&s->six, of_six) - one);
    worst = difference <= worst ? worst : difference; /* a NaN stays */
    most = part ? fmax(most, fabs(one)) : most;
  }
  check(most > 1e-3, "%s: nothing moves along tangent %zu", s->name, which);
  check(worst <= tolerance * fmax(most, 1.0), "%s along tangent %zu: %g off, of %g", s->name, which,
        worst, most);
}

static void test_six_tangents(abut_precision precision)
{
  fixture f;
  chain c;
  if (!make_fixture(precision, &f)) {
    return;
  }
  open_chain(&f, precision, &c);
  check(number_parts(PROGRAM_PLAIN) == 1 && number_parts(PROGRAM_DUAL) == 2 &&
          number_parts(PROGRAM_DUAL6) == PARTS,
        "numbers have other parts");
  put_tangents(&c, TANGENTS, 0);
  launch_chain(&c, PROGRAM_DUAL6);
  for (int i = 0; i < STAGES; ++i) {
    stage *s = &c.stages[i];
    CHECK_OK(buffer_read(s->memory, 0, s->six.count * c.real, s->six.data));
  }
  for (size_t which = 0; which < TANGENTS; ++which) {
    put_tangents(&c, 1, which);
    launch_chain(&c, PROGRAM_DUAL);
    for (int i = 0; i < STAGES; ++i) {
      stage *s = &c.stages[i];
      CHECK_OK(buffer_read(s->memory, 0, s->one.count * c.real, s->one.data));
      compare(&c, s, which);
    }
  }
  close_chain(&c);
  CHECK_OK(abut_destroy_context(f.context));
}

/* Adjoint kernels, and those of plain numbers or of one tangent alone, are not in a program on six
 * tangents. */
static void test_refusals(abut_precision precision)
{
  fixture f;
  if (!make_fixture(precision, &f)) {
    return;
  }
  device *d = context_get(f.context)->members[0].device;
  check(kernel_is_on(KERNEL_POSES, PROGRAM_DUAL6) &&
          kernel_is_on(KERNEL_POSES_ADJOINT, PROGRAM_DUAL) &&
          !kernel_is_on(KERNEL_POSES_ADJOINT, PROGRAM_DUAL6) &&
          !kernel_is_on(KERNEL_MARCH, PROGRAM_DUAL) && kernel_is_on(KERNEL_MARCH, PROGRAM_PLAIN) &&
          kernel_is_on(KERNEL_WORLD_IMPACT_TANGENTS, PROGRAM_DUAL) &&
          !kernel_is_on(KERNEL_WORLD_IMPACT_TANGENTS, PROGRAM_DUAL6) &&
          !kernel_is_on(KERNEL_WORLD_IMPACT_TANGENTS, PROGRAM_PLAIN),
        "kernels are in other programs");
  check(LAUNCH_IN(d, PROGRAM_DUAL6, KERNEL_OFFSETS, 1, 1, ARG_BUFFER(NULL), ARG_INT(0),
                  ARG_BUFFER(NULL)) == ABUT_ERROR_ARGUMENT,
        "a plain kernel is launched");
  builds(&f, 0, "a refused launch");
  CHECK_OK(abut_destroy_context(f.context));
}

/* ---- self-tests ---- */

/* Every module has one for its plain numbers, which runs once; programs without one are refused. */
static void test_self_tests(abut_precision precision)
{
  static const struct {
    module_id module;
    program_id numbers;
    bool adjoint, tested;
  } programs[] = {
    {MODULE_MANIFOLD, PROGRAM_DUAL6, false, true}, {MODULE_MANIFOLD, PROGRAM_DUAL, true, true},
    {MODULE_MANIFOLD, PROGRAM_DUAL6, true, false}, {MODULE_WITNESS, PROGRAM_PLAIN, true, true},
    {MODULE_WITNESS, PROGRAM_DUAL, true, false},   {MODULE_FIELD, PROGRAM_DUAL, false, false},
    {MODULE_CLOSEST, PROGRAM_PLAIN, true, true},   {MODULE_CLOSEST, PROGRAM_DUAL, false, false},
    {MODULE_SHAPE, PROGRAM_DUAL, false, true},     {MODULE_SHAPE, PROGRAM_DUAL, true, false},
    {MODULE_WORLD, PROGRAM_DUAL, true, true},      {MODULE_WORLD, PROGRAM_DUAL, false, false},
    {MODULE_RENDER, PROGRAM_DUAL, false, false}};
  fixture f;
  if (!make_fixture(precision, &f)) {
    return;
  }
  context *c = context_get(f.context);
  for (int i = 0; i < MODULE_COUNT; ++i) {
    const module_id module = (module_id)i;
    CHECK_OK(test_member(c, 0, module, PROGRAM_PLAIN, false, SELF_TEST_MAIN));
    check(module_named(module_name(module)) == module, "%s is another module", module_name(module));
    const int program = PROGRAM_OF(module, PROGRAM_PLAIN, false);
    check(c->members[0].tested[SELF_TEST_MAIN][program], "%s is tested once more",
          module_name(module));
  }
  /* Derivatives by shapes begin with the adjoint of contacts. */
  builds(&f, MODULE_COUNT + 1, "the self-tests of all modules");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {
    const abut_status status = test_member(c, 0, programs[i].module, programs[i].numbers,
                                           programs[i].adjoint, SELF_TEST_MAIN);
    check(status == (programs[i].tested ? ABUT_SUCCESS : ABUT_ERROR_SELF_TEST),
          "program %zu gives %d: %s", i, status, abut_last_error());
  }
  check(module_named("no") == MODULE_COUNT, "there is a module of no name");
  CHECK_OK(abut_destroy_context(f.context));
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context there = require_context(precision);
  CHECK_OK(abut_destroy_context(there));
  test_builds(precision);
  test_six_tangents(precision);
  test_refusals(precision);
  test_self_tests(precision);
  return check_finish();
}
