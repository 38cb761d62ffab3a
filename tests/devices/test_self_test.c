/* Devices that compute wrongly are refused by name: test_self_test KERNELS FOLDER [contacts |
 * derivatives | others].
 *
 * KERNELS is the kernel suite. Copies of it with one wrong number are written to FOLDER and built
 * by PoCL: those that contacts, their derivatives or other families notice, or all. 77 where there
 * is no PoCL. */
#include "brick.h"
#include "support/check.h"
#include "support/suite_copy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UNKNOWN "+ what_nobody_has_declared_and_therefore_does_not_build_"
#define LAST_UNKNOWN "the_last_thing_that_nobody_has_declared"

enum { PATH = 1024, REALS = 1 << 16 };

static const char *kernels, *folder;

/* The kernels, where in `file` the first text `right` is `wrong`. They always lie in one folder:
 * PoCL compiles a program once that has the same text and the same options, of which the folder is
 * one. */
static bool write_suite(const char *file, const char *right, const char *wrong, char path[PATH])
{
  snprintf(path, PATH, "%s/spoilt", folder);
  mkdir(folder, 0777);
  return copy_suite(kernels, path, file, right, wrong);
}

/* ---- scenes ---- */

typedef struct scene {
  abut_context context;
  abut_body body;
  abut_pair pair;
  float poses[2][12];
  float real[2][REALS];
} scene;

static scene s;

static abut_status open_pocl(const char *suite, bool with_host)
{
  abut_device_choice choices[2] = {{0, 0, 0}, {0, 0, 0}};
  abut_context_def def = abut_default_context_def();
  def.kernel_directory = suite;
  CHECK_OK(abut_find_device("pocl", &choices[0].device));
  CHECK_OK(abut_find_device("host", &choices[1].device));
  def.devices = choices;
  def.device_count = with_host ? 2 : 1;
  return abut_create_context(&def, &s.context);
}

static bool make_pair(void)
{
  static const double tetrahedron[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t sizes[] = {3, 3, 3, 3}, corners[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  const abut_superquadric ball = {{0.5, 0.5, 0.5},
                                  {1, 1},
                                  {0.25, 0.25, 0.25},
                                  {1, 0, 0, 0},
                                  ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  const abut_smoothing smoothing = abut_default_smoothing();
  def.vertices = tetrahedron;
  def.vertex_count = 4;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 4;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  const float turned[6] = {0.5f, 0.25f, 0.125f, 0.25f, 0.5f, -0.25f};
  memcpy(s.poses[1], turned, sizeof turned);
  memcpy(s.poses[1] + 6, turned, sizeof turned);
  return CHECK_OK(abut_create_body(s.context, &def, &s.body)) &&
         CHECK_OK(abut_create_pair(s.body, s.body, &smoothing, &s.pair));
}

static abut_batch batch(void)
{
  abut_batch b = abut_default_batch();
  b.count = 2;
  b.pose1 = s.poses[0];
  b.pose2 = s.poses[1];
  return b;
}

static abut_status contacts(abut_batch *b)
{
  b->d = s.real[0];
  return abut_contacts(s.pair, b);
}

static abut_status gradient(abut_batch *b)
{
  const abut_gradients gradients = {s.real[0], s.real[1]};
  return abut_gradient(s.pair, ABUT_SAME_PAIR, b, ABUT_REDUCE_MEAN_DISTANCE, &gradients);
}

static abut_status jvp(abut_batch *b)
{
  const abut_pose_tangents along = {s.poses[1], s.poses[1]};
  const abut_tangents tangents = {.d = s.real[0]};
  return abut_jvp(s.pair, ABUT_SAME_PAIR, b, &along, &tangents);
}

static abut_status hessian(abut_batch *b)
{
  const abut_pose_tangents along = {s.poses[1], s.poses[1]};
  const abut_gradients products = {s.real[0], s.real[1]};
  return abut_hessian_product(s.pair, b, ABUT_REDUCE_MEAN_DISTANCE, &along, NULL, &products);
}

static abut_status vjp_tangent(abut_batch *b)
{
  static float bars[REALS];
  const abut_cotangents cotangents = {.d = bars};
  const abut_pose_tangents along = {s.poses[1], s.poses[1]};
  const abut_gradients tangents = {s.real[0], s.real[1]};
  for (size_t i = 0; i < REALS; ++i) {
    bars[i] = (float)(i % 5) - 1.0f;
  }
  return abut_vjp_tangent(s.pair, b, &cotangents, NULL, &along, NULL, &tangents);
}

/* By body 1's superquadrics. */
static abut_status by_shape(abut_batch *b)
{
  static double numbers[REALS];
  const abut_shape_gradients to = {.position = numbers};
  const abut_status status =
    abut_shape_gradient(s.pair, b, ABUT_REDUCE_MEAN_DISTANCE, &to, NULL, ABUT_SHAPE_SUMS);
  for (size_t i = 0; i < REALS; ++i) {
    s.real[0][i] = (float)numbers[i];
  }
  return status;
}

/* Along a direction of their axes. */
static abut_status along_shape(abut_batch *b)
{
  static double numbers[REALS];
  for (size_t i = 0; i < REALS; ++i) {
    numbers[i] = (double)(i % 5);
  }
  const abut_shape_tangents along = {.axes = numbers};
  const abut_tangents to = {.d = s.real[0]};
  return abut_shape_jvp(s.pair, b, &along, NULL, NULL, &to, ABUT_SHAPE_SUMS);
}

static abut_status witness(abut_batch *b)
{
  (void)b;
  static const float edges[2][6] = {{0, 0, 0, 1, 0, 0}, {0, 1, 1, 0, -1, 1}};
  static const float bar[3] = {1, 2, 3};
  const abut_smoothing smoothing = abut_default_smoothing();
  return abut_witness_edges_vjp(s.context, &smoothing, 1, edges[0], edges[1], bar, NULL, NULL,
                                s.real[0], s.real[1]);
}

static abut_status field(abut_batch *b)
{
  (void)b;
  return abut_evaluate_body(s.body, 0.01, 0.01, 2, s.poses[1], s.real[0], s.real[1]);
}

static abut_status picture(abut_batch *b)
{
  static const double here[6] = {0}, there[6] = {0.75, 0.25, 0.5};
  abut_view view = abut_default_view();
  (void)b;
  view.width = 24;
  view.height = 18;
  view.contacts = false;
  return abut_render(s.pair, ABUT_POSE_TWIST, here, there, &view, (uint8_t *)s.real[0]);
}

/* The known answers of lists are asked for where contacts' are. */
static abut_status list(abut_batch *b)
{
  abut_compact l = {.threshold = 0.25, .capacity = REALS, .d = s.real[0], .activity = s.real[1]};
  b->compact = &l;
  return abut_contacts(s.pair, b);
}

/* The same body in the field of itself. */
static abut_status in_fields(abut_batch *b, bool back)
{
  abut_smoothing smoothing = abut_default_smoothing();
  abut_pair pair;
  smoothing.select = ABUT_SELECT_GATE;
  smoothing.edge_contacts = ABUT_EDGES_FIELD;
  abut_status status = abut_create_pair(s.body, s.body, &smoothing, &pair);
  if (status == ABUT_SUCCESS) {
    const abut_gradients gradients = {s.real[0], s.real[1]};
    b->d = back ? NULL : s.real[0];
    status = back ? abut_gradient(pair, ABUT_SAME_PAIR, b, ABUT_REDUCE_MEAN_DISTANCE, &gradients)
                  : abut_contacts(pair, b);
    CHECK_OK(abut_destroy_pair(pair));
  }
  return status;
}

static abut_status edges_in_fields(abut_batch *b)
{
  return in_fields(b, false);
}

static abut_status edges_in_fields_back(abut_batch *b)
{
  return in_fields(b, true);
}

static abut_status list_vjp(abut_batch *b)
{
  static const uint32_t pose[] = {0, 1}, slot[] = {1, 2};
  static const float bar[] = {1, 2};
  const abut_compact l = {.count = 2,
                          .pose = (uint32_t *)(uintptr_t)pose,
                          .slot = (uint32_t *)(uintptr_t)slot};
  const abut_cotangents bars = {.d = bar};
  const abut_gradients gradients = {s.real[0], s.real[1]};
  return abut_list_vjp(s.pair, b, &l, &bars, &gradients);
}

/* A box and a ball, apart and inside each other. */
static abut_status shapes(abut_batch *b, bool back)
{
  static const float here[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  static const float there[14] = {2, 0.125f, 0, 1, 0, 0, 0, 0.25f, 0.125f, 0, 1, 0, 0, 0};
  static const abut_shape_kind kinds[2] = {ABUT_SHAPE_BOX, ABUT_SHAPE_SPHERE};
  abut_closest_batch c = abut_default_closest_batch();
  abut_closest_smoothing smoothing = abut_default_closest_smoothing();
  abut_shape both[2];
  for (size_t i = 0; i < 2; ++i) {
    abut_shape_def def = abut_default_shape_def();
    def.kind = kinds[i];
    def.size[0] = def.size[1] = def.size[2] = 0.5;
    CHECK_OK(abut_create_shape(s.context, &def, &both[i]));
  }
  smoothing.method = ABUT_CLOSEST_EXACT;
  c.count = 2;
  c.shapes = both;
  c.shape_count = 2;
  c.pose1 = here;
  c.pose2 = there;
  c.d = s.real[0];
  const abut_closest_jacobians to = {.d = s.real[1]};
  const abut_status status = back ? abut_closest_jacobian(s.context, &c, &smoothing, &to)
                                  : abut_closest(s.context, &c);
  b->failures = c.failures;
  return status;
}

static abut_status closest(abut_batch *b)
{
  return shapes(b, false);
}

static abut_status closest_by_poses(abut_batch *b)
{
  return shapes(b, true);
}

/* Edges that cross, and edges that pass. */
static abut_status edges(abut_batch *b, bool back)
{
  static const float x0[24] = {-1, -1, 3, 1, 1, 3, -1, 1, 0, 3, -3, 0,
                               -1, -1, 3, 1, 1, 3, -1, 1, 0, 3, -3, 0};
  static const float x1[24] = {-1, -1, -1, 1, 1, -1, -1, 1, 0, 3, -3, 0,
                               8,  -1, -1, 9, 1, -1, -1, 1, 0, 3, -3, 0};
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = ABUT_CCD_EDGE_EDGE;
  q.count = 2;
  q.separation = 0.5;
  q.x0 = x0;
  q.x1 = x1;
  q.toi = s.real[0];
  const abut_status status = back ? abut_ccd_queries_gradient(s.context, &q, s.real[1], NULL)
                                  : abut_run_ccd_queries(s.context, &q);
  b->failures = q.failures;
  return status;
}

static abut_status collision(abut_batch *b)
{
  return edges(b, false);
}

static abut_status collision_by_vertices(abut_batch *b)
{
  return edges(b, true);
}

/* A tetrahedron that falls on another one. */
static abut_status fall(abut_batch *b, bool back)
{
  static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  static const float high[7] = {0.125f, 0.0625f, 3, 1}, low[7] = {0.125f, 0.0625f, -1, 1},
                     still[7] = {0, 0, 0, 1};
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  abut_ccd_batch c = abut_default_ccd_batch();
  abut_ccd_mesh mesh;
  const abut_ccd_gradients by = {.by1 = s.real[1]};
  def.vertices = corners;
  def.vertex_count = 4;
  def.face_indices = faces;
  def.face_count = 4;
  CHECK_OK(abut_create_ccd_mesh(s.context, &def, &mesh));
  c.count = 1;
  c.from1 = high;
  c.to1 = low;
  c.from2 = c.to2 = still;
  c.toi = s.real[0];
  const abut_status status = back ? abut_ccd_gradient(mesh, mesh, &c, &by)
                                  : abut_ccd(mesh, mesh, &c);
  b->failures = c.failures;
  return status;
}

static abut_status meshes(abut_batch *b)
{
  return fall(b, false);
}

static abut_status meshes_by_poses(abut_batch *b)
{
  return fall(b, true);
}

/* A box as one superquadric, of which the figures are all that is compared. */
static abut_status decompose(abut_batch *b)
{
  abut_decompose_options options = abut_default_decompose_options();
  const abut_body_def def = brick_def();
  abut_decomposition d;
  options.primitives = 1;
  const abut_status status = abut_decompose(s.context, &def, &options, &d);
  if (status == ABUT_SUCCESS) {
    s.real[0][0] = (float)d.report.iou;
    b->failures = d.report.failures;
    abut_free_decomposition(&d);
  }
  return status;
}

static bool says(const char *text, const char *part)
{
  return check(strstr(text, part) != NULL, "\"%s\" does not say %s", text, part);
}

/* ---- who answers wrongly ---- */

static const struct {
  const char *name, *output;
  abut_status (*call)(abut_batch *);
} calls[] = {{"contacts", "gives wrong results: p,", contacts},
             {"gradient", "VJP", gradient},
             {"jvp", "JVP", jvp},
             {"hessian", "Hessian", hessian},
             {"witness", "edges of body 2", witness},
             {"field", "distance to body", field},
             {"picture", "where rays enter", picture},
             {"list", "wrong results: active contacts", list},
             {"list VJP", "VJP of a list", list_vjp},
             {"VJP's tangent", "Hessian", vjp_tangent},
             {"weights", "gives wrong results: weight,", contacts},
             {"closest points", "wrong results: distances of shapes", closest},
             {"their Jacobians", "the Jacobian of distances", closest_by_poses},
             {"collision", "wrong results: collision of edges", collision},
             {"its gradient", "times of impact by vertices", collision_by_vertices},
             {"meshes", "wrong results: collision of meshes", meshes},
             {"their gradient", "times of impact by the poses", meshes_by_poses},
             {"decomposition", "a derivative of the fit", decompose},
             {"shapes", "derivatives by position of body 1", by_shape},
             {"along shapes", "products along directions of body 1", along_shape},
             {"edges in fields", "wrong results: p of edges in fields", edges_in_fields},
             {"their gradient", "the VJP of edges in fields", edges_in_fields_back}};
enum {
  CONTACTS,
  GRADIENT,
  JVP,
  HESSIAN,
  WITNESS,
  FIELD,
  PICTURE,
  LIST,
  LIST_VJP,
  VJP_TANGENT,
  WEIGHTS,
  CLOSEST,
  CLOSEST_BY_POSES,
  COLLISION,
  COLLISION_BY_VERTICES,
  MESHES,
  MESHES_BY_POSES,
  DECOMPOSITION,
  SHAPES,
  ALONG_SHAPES,
  EDGES_IN_FIELDS,
  EDGES_IN_FIELDS_BACK
};

static bool has_answer(int which, float expected[2][REALS])
{
  abut_context_def def = abut_default_context_def();
  abut_batch b = batch();
  memset(s.real, 0, sizeof s.real);
  CHECK_OK(abut_find_device("host", &def.device));
  const bool has = CHECK_OK(abut_create_context(&def, &s.context)) && make_pair() &&
                   CHECK_OK(calls[which].call(&b));
  memcpy(expected, s.real, sizeof s.real);
  return CHECK_OK(abut_destroy_context(s.context)) && has;
}

/* Contacts, that a spoilt part of the kernels leaves right, come from PoCL. */
static bool contacts_are_right(void)
{
  abut_batch b = batch();
  return CHECK_OK(contacts(&b)) && check(b.failures == 0, "contacts fail");
}

/* A call's program of PoCL's is refused in the call; the host path, beside it or standing in, gives
 * what it gives alone. */
static void taken_over(const char *suite, int which, bool with_host)
{
  static float expected[2][REALS];
  abut_device_report reports[3];
  size_t count = 0;
  if (!has_answer(which, expected) || !CHECK_OK(open_pocl(suite, with_host))) {
    return;
  }
  abut_batch b = batch();
  memset(s.real, 0, sizeof s.real);
  /* contacts, too */
  const bool wrong_fields = which == CONTACTS || which == FIELD || which == WEIGHTS;
  if (make_pair() && (wrong_fields || contacts_are_right())) {
    memset(s.real, 0, sizeof s.real);
    b = batch();
    CHECK_OK(calls[which].call(&b));
    const bool counts = which < WITNESS || which > PICTURE;
    check(!counts || b.failures == 1, "%s: %zu failures", calls[which].name, b.failures);
    check(!memcmp(expected, s.real, sizeof expected), "%s: not the host's", calls[which].name);
    CHECK_OK(abut_context_devices(s.context, reports, 3, &count));
    check(count == 2 && reports[0].status == ABUT_ERROR_SELF_TEST &&
            reports[1].status == ABUT_SUCCESS,
          "%s: %d is PoCL's status", calls[which].name, reports[0].status);
    says(reports[0].text, "gives wrong results:");
    says(reports[0].text, reports[0].info.name);
    says(reports[0].text, calls[which].output);
  }
  CHECK_OK(abut_destroy_context(s.context));
}

static void no_fallback(const char *suite, int which)
{
  abut_context_def def = abut_default_context_def();
  abut_batch b = batch();
  CHECK_OK(abut_find_device("pocl", &def.device));
  def.kernel_directory = suite;
  def.fallback = ABUT_FALLBACK_NONE;
  if (CHECK_OK(abut_create_context(&def, &s.context))) {
    const bool refused = make_pair() && calls[which].call(&b) == ABUT_ERROR_SELF_TEST;
    check(refused, "%s: a wrong answer is given", calls[which].name);
    says(abut_last_error(), "gives wrong results:");
    CHECK_OK(abut_destroy_context(s.context));
  }
}

/* A program that a call needs first does not build: all of the compiler's words are there, also
 * those that a report has no room for. */
static void says_why(const char *suite)
{
  abut_context_def def = abut_default_context_def();
  abut_device_report report;
  abut_batch b = batch();
  size_t count = 0;
  CHECK_OK(abut_find_device("pocl", &def.device));
  def.kernel_directory = suite;
  def.fallback = ABUT_FALLBACK_NONE;
  if (!CHECK_OK(abut_create_context(&def, &s.context))) {
    return;
  }
  if (make_pair()) {
    const abut_status status = gradient(&b);
    check(status < 0 && status > -2000, "what does not build gives %d", status);
    says(abut_last_error(), "the kernels do not compile:");
    says(abut_last_error(), LAST_UNKNOWN);
    CHECK_OK(abut_context_devices(s.context, &report, 1, &count));
    check(report.status == status && strlen(report.text) > 255, "a report of %zu characters",
          strlen(report.text));
    says(report.text, "the kernels do not compile:");
  }
  CHECK_OK(abut_destroy_context(s.context));
}

/* What the test leaves: nothing but the programs that were built. */
static void leaves_nothing(const char *device)
{
  abut_context_def def = abut_default_context_def();
  abut_counters before, after;
  CHECK_OK(abut_find_device(device, &def.device));
  if (!CHECK_OK(abut_create_context(&def, &s.context))) {
    return;
  }
  CHECK_OK(abut_get_counters(s.context, &before));
  check(!before.bytes_up && !before.bytes_down && !before.launches && !before.chunks &&
          !before.builds && !before.resident,
        "%s: a new context has counted", device);
  abut_batch b = batch();
  if (make_pair() && CHECK_OK(gradient(&b))) {
    CHECK_OK(abut_get_counters(s.context, &before));
    check(before.chunks == 1, "%s: %d chunks for one", device, (int)before.chunks);
    CHECK_OK(gradient(&b));
    CHECK_OK(abut_get_counters(s.context, &after));
    check(after.launches == 2 * before.launches && after.chunks == 2 &&
            after.builds == before.builds && after.resident == before.resident,
          "%s: the first gradient does not count as the second", device);
  }
  CHECK_OK(abut_destroy_context(s.context));
}

/* Kernels of collision in time that are built as their certificate does not allow, or that round
 * so. The suite's folder is the last of the compiler's options, so that others can follow it. */
static void round_wrongly(char path[PATH])
{
  static const struct {
    const char *file, *right, *wrong;
  } parts[] = {
    /* sums, products, differences, what is no number, late times */
    {"doubled.h", "r.lo = (a - (r.hi - other)) + (b - other);", "r.lo = lane_lit(R(0.0));"},
    {"doubled.h", "#ifdef LANE_FMA", "r.lo = lane_lit(R(0.0));\n  return r;\n#ifdef LANE_FMA"},
    {"front.inl", "doubled_sum(exact.hi, exact.lo + low)", "doubled_sum(exact.hi, low)"},
    {"front.inl", "all += c * R(0.0);", "all += R(0.0);"},
    {"front.inl", "s->at[CCD_AT_T_LOW][l] < R(0.0) ? t - t * (2 * CCD_U)",
     "s->at[CCD_AT_T_LOW][l] < R(0.0) ? t"}};
  static const char *const options[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (write_suite(parts[i].file, parts[i].right, parts[i].wrong, path)) {
      taken_over(path, COLLISION, false);
    }
  }
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
    char with_option[2 * PATH];
    snprintf(with_option, sizeof with_option, "%s %s", kernels, options[i]);
    no_fallback(with_option, COLLISION);
  }
}

static void collide_wrongly(char path[PATH])
{
  if (write_suite("ccd/gradient.cl", "-sign * touch.n", "sign * touch.n", path)) {
    taken_over(path, COLLISION_BY_VERTICES, true);
  }
  if (write_suite("windows.inl", "at[CCD_END][l] = arc ? R(1.0) : last;",
                  "at[CCD_END][l] = R(0.25);", path)) {
    taken_over(path, MESHES, false);
  }
  if (write_suite("ccd/slopes.cl", "(wide)-1 / rate", "(wide)1 / rate", path)) {
    taken_over(path, MESHES_BY_POSES, false);
  }
}

static void decompose_wrongly(char path[PATH])
{
  if (write_suite("jet.cl", "R(0.5) * across", "R(0.4) * across", path)) {
    taken_over(path, DECOMPOSITION, false);
  }
}

static void contacts_wrongly(char path[PATH])
{
  if (write_suite("superquadric.inl", "R(-0.5)", "R(-0.499)", path)) {
    taken_over(path, CONTACTS, true);
    taken_over(path, CONTACTS, false);
    taken_over(path, FIELD, false);
    no_fallback(path, CONTACTS);
  }
  if (write_suite("reduce.cl", "#if WITH_ADJOINT",
                  "#if WITH_ADJOINT\nstatic real broken(real x)\n{\n  return x " UNKNOWN
                  "1 " UNKNOWN "2 " UNKNOWN "3 " UNKNOWN "4 + " LAST_UNKNOWN ";\n}\n#endif\n"
                  "#if WITH_ADJOINT",
                  path)) {
    says_why(path);
  }
  if (write_suite("listed.cl", "FN(edge_pair)(e1, e2, n_lit(R(1.0))",
                  "FN(edge_pair)(e1, e2, n_lit(R(0.99))", path)) {
    taken_over(path, LIST, false);
  }
  if (write_suite("edge_field.inl", "n_lit(c->inset), length", "n_lit(R(1.1) * c->inset), length",
                  path)) {
    taken_over(path, EDGES_IN_FIELDS, true);
  }
  if (write_suite("edge_weight.inl", "R(1.25)", "R(1.24)", path)) {
    taken_over(path, WEIGHTS, false);
  }
  if (write_suite("witness/witness.cl", "count, bar + 2)", "count, bar + 1)", path)) {
    taken_over(path, WITNESS, false);
  }
  if (write_suite("render.cl", "BIG), entry,", "BIG), R(1.1) * entry,", path)) {
    taken_over(path, PICTURE, false);
  }
}

static void derive_wrongly(char path[PATH])
{
  /* the sign of distances' cotangents, which are of the adjoint alone */
  if (write_suite("vertex.cl", "n_add(phi_bar, vertex_bar(", "n_sub(phi_bar, vertex_bar(", path)) {
    taken_over(path, GRADIENT, true);
    taken_over(path, HESSIAN, false);
    taken_over(path, VJP_TANGENT, false);
    no_fallback(path, GRADIENT);
  }
  if (write_suite("dual.inl", "DN(chain)(a, v, R(0.5) / v)", "DN(chain)(a, v, R(0.49) / v)",
                  path)) {
    taken_over(path, JVP, true);
  }
  /* the normal's Jacobian, with which fields go on to duals' tangents */
  if (write_suite("superquadric.inl", "R(2.0) * s[SUPERQUADRIC_E1_INV]",
                  "R(1.97) * s[SUPERQUADRIC_E1_INV]", path)) {
    taken_over(path, JVP, false);
  }
  if (write_suite("listed_adjoint.cl", "phi_bar = bar_of(&in, VALUE_D);",
                  "phi_bar = n_neg(bar_of(&in, VALUE_D));", path)) {
    taken_over(path, LIST_VJP, true);
  }
  if (write_suite("edge_field.cl", "n_add(won_bar, drawn_bar));", "n_sub(drawn_bar, won_bar));",
                  path)) {
    taken_over(path, EDGES_IN_FIELDS_BACK, false);
  }
  if (write_suite("shape/superquadrics.cl", "-moved.x,", "moved.x,", path)) {
    taken_over(path, SHAPES, true);
  }
  if (write_suite("shape/along.cl", "steep = r * k * k, out", "steep = r * k, out", path)) {
    taken_over(path, ALONG_SHAPES, false);
  }
}

static void find_points_wrongly(char path[PATH])
{
  if (write_suite("support.cl", "closest_signed(size[k], u[k])",
                  "closest_signed(R(0.99) * size[k], u[k])", path)) {
    taken_over(path, CLOSEST, true);
    no_fallback(path, CLOSEST);
  }
  if (write_suite("derivatives.cl", "s.d = -dot3_r", "s.d = dot3_r", path)) {
    taken_over(path, CLOSEST_BY_POSES, false);
  }
}

int main(int argc, char **argv)
{
  static char path[PATH];
  const char *which = argc > 3 ? argv[3] : "";
  uint32_t index;
  kernels = argc > 2 ? argv[1] : "cl";
  folder = argc > 2 ? argv[2] : "suites";
  leaves_nothing("host");
  if (abut_find_device("pocl", &index) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    return 77;
  }
  leaves_nothing("pocl");
  if (!*which || strcmp(which, "contacts") == 0) {
    contacts_wrongly(path);
  }
  if (!*which || strcmp(which, "derivatives") == 0) {
    derive_wrongly(path);
  }
  if (!*which || strcmp(which, "others") == 0) {
    find_points_wrongly(path);
    round_wrongly(path);
    collide_wrongly(path);
    decompose_wrongly(path);
  }
  return check_finish();
}
