/* What is refused, by which status, and what the worst finite input gives: test_refusals
 * PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void refuses(abut_status got, abut_status wanted, const char *text, const char *what)
{
  check(got == wanted, "%s gives %s, not %s", what, abut_status_name(got),
        abut_status_name(wanted));
  check(got == ABUT_SUCCESS || strstr(abut_last_error(), text),
        "%s: the text is '%s', without '%s'", what, abut_last_error(), text);
}

/* ---- handles ---- */

static void test_null_handles(void)
{
  const abut_context context = {0, 0};
  const abut_body body = {0, 0};
  const abut_pair pair = {0, 0};
  const abut_smoothing smoothing = abut_default_smoothing();
  const abut_body_def def = abut_default_body_def();
  abut_batch batch = abut_default_batch();
  abut_body_info info;
  abut_counters counters;
  abut_device_info device;
  abut_precision precision;
  abut_layout layout;
  abut_body made;
  abut_body_copy copied;
  abut_field_report report;
  abut_pair joined;
  abut_smoothing fitted;
  const struct {
    abut_status status;
    const char *what;
  } calls[] = {
    {abut_destroy_context(context), "abut_destroy_context"},
    {abut_context_device(context, &device), "abut_context_device"},
    {abut_context_precision(context, &precision), "abut_context_precision"},
    {abut_get_counters(context, &counters), "abut_get_counters"},
    {abut_create_body(context, &def, &made), "abut_create_body"},
    {abut_destroy_body(body), "abut_destroy_body"},
    {abut_get_body_info(body, &info), "abut_get_body_info"},
    {abut_get_body_report(body, &report), "abut_get_body_report"},
    {abut_get_body_mesh(body, NULL, NULL), "abut_get_body_mesh"},
    {abut_copy_body(body, &copied), "abut_copy_body"},
    {abut_evaluate_body(body, 0.1, 0.1, 0, NULL, NULL, NULL), "abut_evaluate_body"},
    {abut_fit_smoothing(body, body, &fitted), "abut_fit_smoothing"},
    {abut_fit_edge_pairs(body, body, &fitted), "abut_fit_edge_pairs"},
    {abut_create_pair(body, body, &smoothing, &joined), "abut_create_pair"},
    {abut_destroy_pair(pair), "abut_destroy_pair"},
    {abut_get_layout(pair, &layout), "abut_get_layout"},
    {abut_contacts(pair, &batch), "abut_contacts"},
    {abut_witness_edges(context, &smoothing, 0, NULL, NULL, NULL, NULL, NULL),
     "abut_witness_edges"},
    {abut_witness_faces(context, &smoothing, 0, NULL, NULL, NULL, NULL, NULL),
     "abut_witness_faces"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    refuses(calls[i].status, ABUT_ERROR_HANDLE, "handle is null", calls[i].what);
  }
}

static void test_stale_handles(abut_precision precision)
{
  const double half[3] = {0.5, 0.5, 0.5};
  const abut_smoothing smoothing = abut_default_smoothing();
  abut_context one, other;
  abut_body a, b, foreign;
  abut_pair pair, last;
  if (!test_context(precision, &one) || !test_context(precision, &other) ||
      !make_box(one, half, &a) || !make_box(one, half, &b) || !make_box(other, half, &foreign)) {
    return;
  }
  refuses(abut_create_pair(a, foreign, &smoothing, &pair), ABUT_ERROR_HANDLE, "different contexts",
          "a pair of two contexts");
  CHECK_OK(abut_create_pair(a, b, &smoothing, &pair));
  CHECK_OK(abut_create_pair(b, b, &smoothing, &last));
  CHECK_OK(abut_destroy_body(b));
  refuses(abut_destroy_body(b), ABUT_ERROR_HANDLE, "stale", "a body destroyed twice");
  double zero[7] = {0, 0, 0, 1, 0, 0, 0};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = batch.pose2 = zero;
  refuses(abut_contacts(pair, &batch), ABUT_ERROR_HANDLE, "stale", "a pair whose body is gone");
  abut_body again;
  if (make_box(one, half, &again)) { /* takes b's place, under another generation */
    check(again.index != b.index || again.generation != b.generation, "a handle is used again");
    refuses(abut_contacts(pair, &batch), ABUT_ERROR_HANDLE, "stale",
            "a pair after its body's place is taken");
  }
  CHECK_OK(abut_destroy_pair(pair));
  refuses(abut_destroy_pair(pair), ABUT_ERROR_HANDLE, "stale", "a pair destroyed twice");
  CHECK_OK(abut_destroy_context(one));
  refuses(abut_destroy_context(one), ABUT_ERROR_HANDLE, "stale", "a context destroyed twice");
  refuses(abut_destroy_pair(last), ABUT_ERROR_HANDLE, "stale", "a pair of a destroyed context");
  refuses(abut_destroy_body(a), ABUT_ERROR_HANDLE, "stale", "a body of a destroyed context");
  CHECK_OK(abut_destroy_context(other));
}

/* ---- arguments ---- */

static void test_contexts(void)
{
  abut_context context;
  size_t count = 0;
  CHECK_OK(abut_list_devices(NULL, 0, &count));
  check(count >= 1, "%zu devices", count);
  abut_context_def def = abut_default_context_def();
  def.device = (uint32_t)count;
  refuses(abut_create_context(&def, &context), ABUT_ERROR_DEVICE, "", "a device out of range");
  def = abut_default_context_def();
  CHECK_OK(abut_find_device("host", &def.device));
  check(def.device + 1 == count, "the host path is device %u, not last", def.device);
  def.lanes = 3;
  refuses(abut_create_context(&def, &context), ABUT_ERROR_ARGUMENT,
          "the lane width is 3; it must be 1, 4, 8 or 16", "three lanes");
  def.lanes = 0;
  for (int i = 0; i < 3; ++i) {
    def.group = (uint32_t[]){3, 2048, 0}[i];
    def.items = i == 2 ? 1025 : 1;
    refuses(abut_create_context(&def, &context), ABUT_ERROR_ARGUMENT, "a power of two",
            "work-items that no work-group has");
  }
  def.group = def.items = 0;
  def.precision = (abut_precision)7;
  refuses(abut_create_context(&def, &context), ABUT_ERROR_ARGUMENT, "precision 7", "a precision");
  def.precision = ABUT_FLOAT32;
  def.cookie ^= 1;
  refuses(abut_create_context(&def, &context), ABUT_ERROR_ARGUMENT, "abut_default_context_def",
          "a definition without its cookie");
  refuses(abut_create_context(NULL, &context), ABUT_ERROR_ARGUMENT,
          "abut_create_context: the definition or the handle is NULL", "no definition");
  uint32_t index;
  refuses(abut_find_device("no such device", &index), ABUT_ERROR_DEVICE, "no such device",
          "an unknown name");
  refuses(abut_find_device("4000000000", &index), ABUT_ERROR_DEVICE, "", "an index out of range");
}

/* Cones need edges in fields and both sides; where they are off their bounds still hold. */
static void refuses_cones(abut_body box)
{
  const struct {
    double inner, outer, hold;
    bool pairs, one_sided, vertices_alone;
    const char *text;
  } cones[] = {{15.0, 35.0, 2.0, .pairs = true, .text = "cones need edge contacts in fields"},
               {15.0, 35.0, 2.0, .one_sided = true, .text = "cones need edge_edge and two_sided"},
               {15.0, 35.0, 2.0, .vertices_alone = true,
                .text = "cones need edge_edge and two_sided"},
               {-1.0, 35.0, 2.0, .text = "cone_inner is -1 degrees"},
               {15.0, 180.5, 2.0, .text = "cone_outer is 180.5 degrees"},
               {15.0, 35.0, NAN, .text = "cone_hold is nan degrees"},
               {15.0, 0.0, 181.0, .text = "cone_hold is 181 degrees"}};
  abut_pair pair;
  abut_smoothing s;
  for (size_t i = 0; i < sizeof cones / sizeof cones[0]; ++i) {
    s = abut_default_smoothing();
    s.cone_inner = cones[i].inner;
    s.cone_outer = cones[i].outer;
    s.cone_hold = cones[i].hold;
    s.edge_contacts = cones[i].pairs ? ABUT_EDGES_PAIRS : ABUT_EDGES_FIELD;
    s.two_sided = !cones[i].one_sided;
    s.edge_edge = !cones[i].vertices_alone;
    refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, cones[i].text, "cones");
  }
  s = abut_default_smoothing();
  s.cone_inner = s.cone_outer = 35.0; /* off */
  if (CHECK_OK(abut_create_pair(box, box, &s, &pair))) {
    CHECK_OK(abut_destroy_pair(pair));
  }
}

static void test_smoothing(abut_context context)
{
  const double half[3] = {0.5, 0.5, 0.5};
  abut_body box;
  abut_pair pair;
  if (!make_box(context, half, &box)) {
    return;
  }
  abut_smoothing s = abut_default_smoothing();
  const struct {
    double *value;
    const char *name;
  } all[] = {{&s.length, "length"},
             {&s.union_, "union"},
             {&s.plane, "plane"},
             {&s.normal, "normal"},
             {&s.penetration, "penetration"},
             {&s.neighbour, "neighbour"},
             {&s.clash, "clash"},
             {&s.sign, "sign"},
             {&s.sort, "sort"},
             {&s.clip, "clip"},
             {&s.minimum, "minimum"},
             {&s.compare, "compare"},
             {&s.ridge, "ridge"},
             {&s.distance, "distance"}};
  const double bad[] = {0.0, -1.0, 1e-30, 1e30, NAN, INFINITY};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
      s = abut_default_smoothing();
      *all[i].value = bad[k];
      refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, all[i].name,
              "a bad coefficient");
    }
  }
  /* Off is 0; floor is at most a half. */
  const struct {
    double *value;
    const char *name;
    double good[3], bad[4];
  } off[] = {{&s.floor, "floor", {0.0, 1e-300, 0.5}, {-1e-3, 0.51, INFINITY, NAN}}};
  for (size_t i = 0; i < sizeof off / sizeof off[0]; ++i) {
    for (size_t k = 0; k < 4; ++k) {
      s = abut_default_smoothing();
      *off[i].value = off[i].bad[k];
      refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, off[i].name,
              "a bad coefficient that may be 0");
    }
    for (size_t k = 0; k < 3; ++k) {
      *off[i].value = off[i].good[k];
      if (CHECK_OK(abut_create_pair(box, box, &s, &pair))) {
        CHECK_OK(abut_destroy_pair(pair));
      }
    }
  }
  s = abut_default_smoothing();
  s.trace = 65;
  refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, "trace", "65 tracing steps");
  s.trace = 0;
  s.select = (abut_select)2;
  refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, "selection 2", "a selection");
  refuses_cones(box);
  s = abut_default_smoothing();
  s.cookie = 0;
  refuses(abut_create_pair(box, box, &s, &pair), ABUT_ERROR_ARGUMENT, "abut_default_smoothing",
          "smoothing without its cookie");
  refuses(abut_create_pair(box, box, NULL, &pair), ABUT_ERROR_ARGUMENT, "smoothing",
          "no smoothing");
  refuses(abut_evaluate_body(box, -1.0, 0.1, 0, NULL, NULL, NULL), ABUT_ERROR_ARGUMENT, "union",
          "a negative temperature");
  CHECK_OK(abut_destroy_body(box));
}

static void test_cores(abut_context context)
{
  static const double origin[3] = {0, 0, 0};
  const abut_core good = {ABUT_CORE_BOX, {1, 0, 1}, 0.1, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_core c = good;
  abut_body_def def = abut_default_body_def();
  abut_body body;
  def.vertices = origin;
  def.vertex_count = 1;
  def.cores = &c;
  def.core_count = 1;
  c.half[1] = -1e-6;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "core 0: length 1 of its box is -1e-06", "a length below 0");
  c.half[1] = NAN;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "length 1 of its box is nan",
          "has length 0");
  c.half[1] = 0.0;
  c.kind = ABUT_CORE_DISC;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "length 1 of its disc is 0",
          "a flat disc");
  c.kind = (abut_core_kind)2;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "core 0: unknown kind 2",
          "a kind");
  static const double radii[] = {0.0, -1.0, 9e-10, 2e6, INFINITY, NAN};
  for (size_t i = 0; i < sizeof radii / sizeof *radii; ++i) {
    c = good;
    c.radius = radii[i];
    refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "core 0: radius is",
            "a radius");
  }
  c = good;
  c.position[0] = 2e6;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "core 0: position is 2e+06 0 0",
          "a position");
  c = good;
  c.quaternion[0] = 0.0;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "core 0: the quaternion ",
          "no quaternion");
  c = good;
  c.operation = ABUT_SUBTRACT;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "the body has no primitive with the operation \"add\"", "a body of a hole");
  c = good;
  def.cores = NULL;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_ARGUMENT,
          "the count of a kind of primitives is above 0, but their array is NULL", "no cores");
}

static void test_bodies(abut_context context)
{
  double vertices[24];
  const double half[3] = {1, 1, 1};
  const abut_superquadric good = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def;
  abut_body body;
  cube_def(half, vertices, &def);
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "the body has no primitive with the operation \"add\"", "a body of no field");
  abut_superquadric s = good;
  def.superquadrics = &s;
  def.superquadric_count = 1;
  s.operation = ABUT_SUBTRACT;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "the body has no primitive with the operation \"add\"", "a body of a hole");
  s = good;
  s.axes[1] = 0.0;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "axis 1", "an axis of 0");
  s = good;
  s.exponents[0] = 2.5;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "exponent 0", "an exponent");
  s = good;
  s.position[2] = NAN;
  vertices[0] = NAN; /* as of a mesh that was made about it */
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "superquadric 0: position is 0 0 nan", "a position");
  vertices[0] = -1.0;
  s = good;
  s.quaternion[0] = 0.0;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "superquadric 0: the quaternion 0 0 0 0 has a length of 0, or one that is not finite",
          "no quaternion");
  s.quaternion[0] = INFINITY;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY,
          "superquadric 0: the quaternion inf 0 0 0 has a length of 0", "no rotation");
  s = good;
  def.union_ = -1e-3;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "union", "a union below 0");
  def.union_ = 0.0;
  vertices[5] = INFINITY;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "vertex 1", "a vertex");
  vertices[5] = 1.0;
  const uint32_t sizes[1] = {3}, corners[3] = {0, 1, 8};
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 1;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "vertex 8", "a face's vertex");
  def.vertex_count = 0;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_BODY, "no vertices", "no mesh");
  def.cookie = 1;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_ARGUMENT, "abut_default_body_def",
          "a definition without its cookie");
}

static void refuses_features(abut_context context, const abut_body_def *def, const char *part,
                             const char *what)
{
  abut_body body;
  refuses(abut_create_body(context, def, &body), ABUT_ERROR_BODY, part, what);
}

/* Stated vertices and edges: places (3, 4), and an edge and an arc. */
static void refuses_edges(abut_context context, const abut_body_def *def, double *places,
                          abut_feature_edge *edges)
{
  places[11] = -1.0;
  refuses_features(context, def, "feature vertex 2: its radius is -1", "a radius below 0");
  places[11] = NAN;
  refuses_features(context, def, "feature vertex 2: its radius is nan", "no radius");
  places[11] = 0.0;
  places[4] = INFINITY;
  refuses_features(context, def, "feature vertex 1: its place is inf 0 0", "a place");
  places[4] = 1.1;
  refuses_features(context, def, "feature edge 1: its ends are 1 and 1.1 from the axis",
                   "an arc of two radii");
  places[4] = 1.0;
  places[6] = 0.1;
  refuses_features(
    context, def,
    "feature edge 1: its ends are at 0 and -0.1 along the axis, so they are not on one circle",
    "an arc that climbs");
  places[6] = 0.0;
  edges[1].axis[2] = 1.0;
  refuses_features(context, def, "feature edge 1: it turns by -1.570796 rad",
                   "an arc the other way");
  edges[1].axis[2] = NAN;
  refuses_features(context, def, "feature edge 1: its axis is 0 0 nan", "an arc without an axis");
  edges[1].axis[2] = -1.0;
  places[9] = -1.0 / 1024.0;
  places[8] = -sqrt(1.0 - places[9] * places[9]);
  refuses_features(context, def, "feature edge 1: it turns by", "an arc of half a turn");
  places[8] = -1.0 / 1024.0;
  places[9] = sqrt(1.0 - places[8] * places[8]);
  refuses_features(context, def, "feature edge 1: it turns by 1.571773 rad",
                   "an arc of more than a quarter turn");
  places[8] = 0.0;
  places[9] = 1.0;
  edges[0].to = 3;
  refuses_features(context, def, "feature edge 0: it uses vertex 3, but there are only 3 vertices",
                   "an edge's vertex");
  edges[0].to = 0;
  refuses_features(context, def, "feature edge 0: both of its ends are vertex 0",
                   "an edge of one vertex");
  edges[0].from = 2;
  edges[0].to = 1;
  refuses_features(context, def, "feature edge 1 has the same ends as edge 0", "equal edges");
  edges[0].from = 0;
  edges[0].radius = -1e-3;
  refuses_features(context, def, "feature edge 0: its radius is -0.001", "an edge's radius");
  edges[0].radius = 0.0;
}

/* Sources and numbers of cones, for 3 stated vertices and 2 edges, and for a cube's own. */
static void refuses_given_cones(abut_context context, abut_body_def *def)
{
  static const uint32_t ends[4] = {0, 1, 7, 0};
  double cones[32] = {0};
  abut_body body;
  for (int i = 0; i < 8; ++i) {
    cones[4 * i + 3] = 180.0;
  }
  def->sharp = 180.0;
  refuses_features(context, def, "sharp is 180", "an angle of sharp edges");
  def->sharp = NAN;
  refuses_features(context, def, "sharp is nan", "no angle of sharp edges");
  def->sharp = 20.0;
  def->cones = (abut_cone_source)3;
  refuses_features(context, def, "unknown source of cones 3", "a source of cones");
  def->cones = ABUT_CONES_GIVEN;
  def->vertex_cone_count = 2;
  refuses(abut_create_body(context, def, &body), ABUT_ERROR_ARGUMENT,
          "the count of cones is above 0, but their array is NULL", "no cones");
  def->vertex_cones = cones;
  refuses_features(context, def, "2 cones are given for 3 vertices", "too few cones");
  def->vertex_cone_count = 3;
  cones[7] = 181.0;
  refuses_features(context, def, "cone of vertex 1: its half angle is 181 degrees", "a half angle");
  cones[7] = 90.0;
  refuses_features(context, def, "cone of vertex 1: its axis is 0 0 0", "no axis");
  cones[7] = 180.0;
  def->edge_cones = cones;
  def->edge_cone_count = 1;
  refuses_features(context, def, "1 cones are given for 2 stated edges", "too few cones of edges");
  def->edge_cone_count = 2;
  cones[4] = NAN;
  refuses_features(context, def, "cone of vertex 1: its axis is nan 0 0", "an axis");
  def->vertex_cone_count = 0;
  refuses_features(context, def, "edge cone 1: its axis is nan 0 0", "an edge's axis");
  cones[4] = 0.0;
  CHECK_OK(abut_create_body(context, def, &body));
  CHECK_OK(abut_destroy_body(body));
  def->edge_cone_ends = ends;
  refuses_features(context, def, "edge cone 1 names vertices 7 and 0, but no edge joins them",
                   "cones of no edge");
  def->states_features = false;
  def->feature_vertex_count = def->feature_edge_count = 0;
  def->vertex_cone_count = 8;
  refuses_features(context, def, "edge cone 1 names vertices 7 and 0, but no edge joins them",
                   "cones of a diagonal");
  def->edge_cone_count = 1;
  CHECK_OK(abut_create_body(context, def, &body));
  CHECK_OK(abut_destroy_body(body));
}

static void test_features(abut_context context)
{
  static const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  const double half[3] = {1, 1, 1};
  double vertices[24], places[12] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
  abut_feature_edge edges[2] = {{.from = 0, .to = 1},
                                {.from = 2, .to = 1, .arc = true, .axis = {0, 0, -1}}};
  abut_body_def def;
  abut_body body;
  cube_def(half, vertices, &def);
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  def.feature_vertices = places;
  def.feature_vertex_count = 3;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_ARGUMENT, "states_features",
          "features that are not stated");
  def.states_features = true;
  def.feature_edge_count = 2;
  refuses(abut_create_body(context, &def, &body), ABUT_ERROR_ARGUMENT,
          "the count of features is above 0, but their array is NULL", "no edges");
  def.feature_edges = edges;
  CHECK_OK(abut_create_body(context, &def, &body));
  CHECK_OK(abut_destroy_body(body));
  refuses_edges(context, &def, places, edges);
  refuses_given_cones(context, &def);
}

static void test_batches(abut_context context)
{
  const double half[3] = {0.5, 0.5, 0.5};
  const abut_smoothing smoothing = abut_default_smoothing();
  double zero[14] = {0};
  abut_body box;
  abut_pair pair;
  if (!make_box(context, half, &box) || !CHECK_OK(abut_create_pair(box, box, &smoothing, &pair))) {
    return;
  }
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = zero;
  refuses(abut_contacts(pair, &batch), ABUT_ERROR_ARGUMENT,
          "the count is 1 poses, but their array is NULL", "one pose of two");
  batch.pose2 = zero;
  batch.poses = (abut_pose_kind)2;
  refuses(abut_contacts(pair, &batch), ABUT_ERROR_ARGUMENT, "pose kind 2", "a pose kind");
  batch.poses = ABUT_POSE_TWIST;
  batch.cookie = 0;
  refuses(abut_contacts(pair, &batch), ABUT_ERROR_ARGUMENT, "abut_default_batch",
          "a batch without its cookie");
  refuses(abut_contacts(pair, NULL), ABUT_ERROR_ARGUMENT, "abut_default_batch", "no batch");
}

/* ---- poses that are not finite ---- */

static void test_rejected(abut_context context, abut_precision precision)
{
  enum { POSES = 37 };
  uint64_t seed = 8;
  abut_body bodies[2];
  abut_pair pair;
  abut_smoothing s = abut_default_smoothing();
  s.edges[0] = 4;
  s.vertices[1] = 3;
  s.penetration = 0.1;
  double pose1[7 * POSES], pose2[7 * POSES];
  outputs good = {0}, some = {0};
  if (!random_body(context, &seed, &bodies[0]) || !random_body(context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair)) ||
      !outputs_create(&good, pair, precision, POSES, 40000, 0.1) ||
      !outputs_create(&some, pair, precision, POSES, 40000, 0.1)) {
    return;
  }
  for (int i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.3, pose1 + 7 * i);
    random_pose(&seed, 0.3, pose2 + 7 * i);
  }
  CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1, pose2, &good));
  check(good.rejected == 0, "%zu good poses are refused", good.rejected);
  pose1[7 * 3 + 1] = NAN;
  pose2[7 * 5 + 6] = INFINITY;
  pose2[7 * 16] = -INFINITY;
  memset(pose1 + 7 * 20 + 3, 0, 4 * sizeof *pose1);
  memset(pose2 + 7 * 36 + 3, 0, 4 * sizeof *pose2);
  for (int k = 3; k < 7; ++k) { /* below the smallest normal number, which counts as zero */
    pose2[7 * 36 + k] = precision == ABUT_FLOAT64 ? 1e-310 : 1e-40;
  }
  pose1[7 * 21 + 5] = NAN;
  memset(pose2 + 7 * 21 + 3, 0, 4 * sizeof *pose2);
  CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1, pose2, &some));
  const size_t real = real_size(precision);
  size_t rejected = 0, listed = 0;
  for (size_t i = 0; i < POSES; ++i) {
    const bool infinite = i == 3 || i == 5 || i == 16 || i == 21, empty = i == 20 || i == 36;
    rejected += infinite || empty;
    check(some.status[i] == (infinite ? ABUT_POSE_NOT_FINITE
                             : empty  ? ABUT_POSE_NO_QUATERNION
                                      : ABUT_POSE_OK),
          "pose %zu has status %u", i, some.status[i]);
    for (int array = 0; array < OUT_ARRAYS; ++array) {
      const size_t width = out_width(&some, array);
      if (infinite || empty) {
        size_t numbers = 0;
        for (size_t k = 0; k < width; ++k) {
          numbers += !isnan(out_at(&some, array, i * width + k));
        }
        check(!numbers, "pose %zu, array %d has %zu numbers", i, array, numbers);
      } else {
        check(!memcmp((char *)some.arrays[array] + i * width * real,
                      (char *)good.arrays[array] + i * width * real, width * real),
              "pose %zu, array %d is touched by others", i, array);
      }
    }
  }
  check(some.rejected == rejected, "%zu poses are refused, not %zu", some.rejected, rejected);
  for (size_t i = 0; i < some.compact.count; ++i) {
    listed += some.status[some.compact.pose[i]] != ABUT_POSE_OK;
  }
  check(!listed && some.compact.count && some.compact.count < good.compact.count,
        "%zu contacts of refused poses are listed", listed);
  outputs_free(&good);
  outputs_free(&some);
}

/* ---- finite extremes ---- */

static void check_finite(const outputs *o, const char *what)
{
  for (int array = 0; array < OUT_ARRAYS; ++array) {
    size_t infinite = 0, out = 0;
    for (size_t i = 0; i < o->count * out_width(o, array); ++i) {
      const double x = out_at(o, array, i);
      infinite += !isfinite(x);
      out += array == OUT_ACTIVITY && !(x >= 0.0 && x <= 1.0);
      out += array == OUT_N && !(fabs(x) <= 1.001);
    }
    check(!infinite, "%s: array %d has %zu numbers that are not finite", what, array, infinite);
    check(!out, "%s: array %d has %zu numbers out of range", what, array, out);
  }
  check(o->rejected == 0, "%s: %zu poses are refused", what, o->rejected);
}

enum { HARD = AWKWARD - 1 };

static void test_extremes(abut_context context, abut_precision precision)
{
  enum { POSES = 14 };
  const bool wide = precision == ABUT_FLOAT64;
  const double far = wide ? 1e300 : 1e30, farthest = wide ? 1.7e308 : 3.4e38;
  const double turns = 1e20, tiny = wide ? 1e-310 : 1e-40;
  const double poses[POSES][6] = {{0, 0, 0, 0, 0, 0},
                                  {0.5, 0, 0, 0, 0, 0},
                                  {1.0, 0, 0, 0, 0, 0},
                                  {far, 0, 0, 0, 0, 0},
                                  {-far, far, far, 1, 2, 3},
                                  {farthest, farthest, farthest, 0, 0, 0},
                                  {-farthest, farthest, -farthest, 3, -1, 2},
                                  {0.1, 0.2, 0.3, turns, 0, 0},
                                  {0.1, 0.2, 0.3, turns, -turns, turns},
                                  {1, 1, 1, farthest, farthest, farthest},
                                  {tiny, tiny, -tiny, tiny, tiny, tiny},
                                  {far, 1, 1, 1e-20, 0, 0},
                                  {1e6, -1e6, 1e6, 0.1, 0.2, 0.3},
                                  {0, 0, 0, 1.5707963267948966, 0, 0}};
  double pose1[6 * POSES * 3] = {0}, pose2[6 * POSES * 3] = {0};
  for (int i = 0; i < POSES; ++i) {
    memcpy(pose1 + 6 * i, poses[i], sizeof poses[i]);
    memcpy(pose2 + 6 * (POSES + i), poses[i], sizeof poses[i]);
    memcpy(pose1 + 6 * (2 * POSES + i), poses[i], sizeof poses[i]);
    memcpy(pose2 + 6 * (2 * POSES + i), poses[(i * 5 + 3) % POSES], sizeof poses[i]);
  }
  abut_body bodies[AWKWARD];
  if (!awkward_bodies(context, bodies)) {
    return;
  }
  for (int k = 0; k < 4 * HARD * HARD; ++k) {
    abut_smoothing s = abut_default_smoothing();
    s.select = k % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
    s.edges[0] = s.edges[1] = s.vertices[0] = s.vertices[1] = k / 2 % 2 ? 2 : 0;
    s.trace = (uint32_t)(k % 3);
    s.inside = k % 5 == 0;
    const int first = k / 4 / HARD, second = k / 4 % HARD;
    abut_pair pair;
    outputs o = {0};
    char what[64];
    snprintf(what, sizeof what, "bodies %d and %d, %d", first, second, k % 4);
    if (CHECK_OK(abut_create_pair(bodies[first], bodies[second], &s, &pair)) &&
        outputs_create(&o, pair, precision, 3 * POSES, 0, 2.0) &&
        CHECK_OK(run_poses(pair, ABUT_POSE_TWIST, pose1, pose2, &o))) {
      check_finite(&o, what);
    }
    outputs_free(&o);
    CHECK_OK(abut_destroy_pair(pair));
  }
}

/* ---- more numbers than kernels count ---- */

enum { SIDES = 2800 }; /* of a prism: three times as many edges */

static bool make_prism(abut_context context, abut_body *out)
{
  static double vertices[6 * SIDES];
  static uint32_t sizes[SIDES + 2], corners[6 * SIDES];
  const abut_superquadric solid = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  for (uint32_t i = 0; i < SIDES; ++i) {
    const uint32_t next = (i + 1) % SIDES;
    for (uint32_t k = 0; k < 2; ++k) {
      double *v = &vertices[3 * (i + k * SIDES)];
      v[0] = cos(2.0 * acos(-1.0) * i / SIDES);
      v[1] = sin(2.0 * acos(-1.0) * i / SIDES);
      v[2] = k ? 0.5 : -0.5;
      corners[4 * SIDES + k * SIDES + (k ? i : SIDES - 1 - i)] = i + k * SIDES;
    }
    const uint32_t side[4] = {i, next, next + SIDES, i + SIDES};
    memcpy(&corners[4 * i], side, sizeof side);
    sizes[i] = 4;
  }
  sizes[SIDES] = sizes[SIDES + 1] = SIDES;
  def.vertices = vertices;
  def.vertex_count = 2 * SIDES;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = SIDES + 2;
  def.superquadrics = &solid;
  def.superquadric_count = 1;
  return CHECK_OK(abut_create_body(context, &def, out));
}

/* 7e7 edge pairs a pose, of sixteen numbers each for a gradient: more than int counts, of duals. */
static void test_too_many_numbers(abut_context context)
{
  static const double pose[6] = {0};
  abut_smoothing smoothing = abut_default_smoothing();
  abut_batch batch = abut_default_batch();
  abut_body body;
  abut_pair pair;
  double gradient[6];
  const abut_gradients gradients = {gradient, NULL};
  if (!make_prism(context, &body) || !CHECK_OK(abut_create_pair(body, body, &smoothing, &pair))) {
    return;
  }
  batch.count = 1;
  batch.pose1 = batch.pose2 = pose; /* zeros in any precision */
  refuses(abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_ENERGY, &gradients),
          ABUT_ERROR_TOO_LARGE, "keep fewer", "a gradient through 7e7 edge pairs");
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(body));
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  test_null_handles();
  test_stale_handles(precision);
  test_contexts();
  test_smoothing(context);
  test_bodies(context);
  test_cores(context);
  test_features(context);
  test_batches(context);
  test_rejected(context, precision);
  test_extremes(context, precision);
  test_too_many_numbers(context);
  return finish_context(context);
}
