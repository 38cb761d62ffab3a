/* One answer to the bit, however many equal devices share a batch: test_shares PRECISION
 *
 * The device of ABUT_TEST_DEVICE whole, in parts, whole beside its parts (the host path, which is
 * a thread: three times over), and every one of its platform; odd numbers of poses and chunks. Then
 * what a context of several devices says of itself: progress, timeline, lists, who may not be there
 * twice, and, of PoCL, names. 77 where there is no such device. */
#include "shares.h"

#include "core/slopes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1 << 14, BLOCK = 8 * 2 * 6 };

/* ---- contacts ---- */

static void check_order(const abut_compact *list, const char *what)
{
  bool rises = true;
  for (size_t i = 1; i < list->count; ++i) {
    rises = rises && (list->pose[i] > list->pose[i - 1] ||
                      (list->pose[i] == list->pose[i - 1] && list->slot[i] > list->slot[i - 1]));
  }
  check(rises, "%s: the compact list is not in order", what);
}

/* A list that is too short holds the first entries of the whole one and says how many there are. */
static void check_overflow(const world *w, const double *pose1, const double *pose2,
                           const outputs *whole, const char *what)
{
  outputs o;
  const size_t room = whole->compact.count / 2;
  if (whole->compact.count < 2 ||
      !outputs_create(&o, w->pair, precision, whole->count, room, whole->compact.threshold)) {
    return;
  }
  check(run_poses(w->pair, ABUT_POSE_QUATERNION, pose1, pose2, &o) == ABUT_ERROR_OVERFLOW,
        "%s: a list of %zu of %zu entries is not too short", what, room, whole->compact.count);
  check(o.compact.count == whole->compact.count, "%s: an overflow counts %zu entries, not %zu",
        what, o.compact.count, whole->compact.count);
  check(!memcmp(o.compact.pose, whole->compact.pose, room * sizeof *o.compact.pose) &&
          !memcmp(o.compact.slot, whole->compact.slot, room * sizeof *o.compact.slot) &&
          !memcmp(o.compact.p, whole->compact.p, 3 * room * real_size(precision)),
        "%s: entries before an overflow differ", what);
  outputs_free(&o);
}

static void compare_contacts(const world *alone, const world *shared, size_t count,
                             const char *what)
{
  static double pose1[7 * MOST], pose2[7 * MOST];
  outputs a, b;
  make_poses(pose1, count, 3);
  make_poses(pose2, count, 4);
  if (outputs_create(&a, alone->pair, precision, count, LIST, 0.05) &&
      outputs_create(&b, shared->pair, precision, count, LIST, 0.05)) {
    CHECK_OK(run_poses(alone->pair, ABUT_POSE_QUATERNION, pose1, pose2, &a));
    CHECK_OK(run_poses(shared->pair, ABUT_POSE_QUATERNION, pose1, pose2, &b));
    check(count < 16 || (a.rejected > 0 && a.compact.count > 0), "%s: nothing to see", what);
    outputs_same(&a, &b, what);
    check_order(&b.compact, what);
    check_overflow(shared, pose1, pose2, &b, what);
    outputs_free(&a);
    outputs_free(&b);
  }
}

/* ---- derivatives ---- */

static abut_status run_slopes(slopes *s, int call)
{
  switch (call) {
  case 0:
    return slopes_vjp(s, ALL_BARS);
  case 1:
    return slopes_jvp(s);
  case 2:
  case 3:
  case 4:
  case 5:
    return slopes_gradient(s, (abut_reduction)(call - 2));
  case 6:
    return slopes_vjp_tangent(s, ALL_BARS);
  default:
    return slopes_hessian(s, (abut_reduction)(call - 7));
  }
}

enum { CALLS = 11 };

static bool same_slopes(const slopes *a, const slopes *b)
{
  const size_t real = real_size(precision);
  bool same = true;
  for (int i = 0; i < 2; ++i) {
    same = same && !memcmp(a->gradient[i], b->gradient[i], a->count * a->width * real) &&
           !memcmp(a->product[i], b->product[i], a->count * a->width * real);
  }
  for (int i = 0; i < 4; ++i) {
    same = same && !memcmp(a->tangents[i], b->tangents[i], a->count * slopes_out(a, i) * real);
  }
  return same && !memcmp(a->status, b->status, a->count);
}

static bool slopes_of(const world *w, size_t count, slopes *out)
{
  uint64_t seed = 5;
  const bool made = slopes_create(out, w->pair, precision, ABUT_POSE_TWIST, count, 6);
  for (size_t i = 0; made && i < 2 * count; ++i) {
    double twist[6];
    for (int k = 0; k < 6; ++k) {
      twist[k] = random_uniform(&seed) - 0.5;
    }
    twist[0] = i % 22 == 9 ? (double)INFINITY : twist[0];
    slopes_put(out, i % 2 != 0, i / 2, twist);
  }
  return made;
}

static void *blocks_of(const slopes *s, abut_compact *list)
{
  abut_batch batch = slopes_batch(s);
  void *blocks = calloc((size_t)LIST * BLOCK, real_size(precision));
  batch.compact = list;
  list->threshold = 0.1;
  list->capacity = LIST;
  if (check(blocks != NULL, "no memory for blocks")) {
    CHECK_OK(abut_jacobian(s->pair, ABUT_SAME_PAIR, &batch, blocks));
  }
  return blocks;
}

static void compare_jacobians(const slopes *a, const slopes *b, const char *what)
{
  abut_compact lists[2];
  memset(lists, 0, sizeof lists);
  void *blocks[2] = {blocks_of(a, &lists[0]), blocks_of(b, &lists[1])};
  check(lists[0].count == lists[1].count && (a->count < 16 || lists[0].count) && blocks[0] &&
          blocks[1] && !memcmp(blocks[0], blocks[1], lists[0].count * BLOCK * real_size(precision)),
        "%s: Jacobian blocks differ", what);
  free(blocks[0]);
  free(blocks[1]);
}

static void compare_derivatives(const world *alone, const world *shared, size_t count,
                                const char *what)
{
  slopes a, b;
  if (!slopes_of(alone, count, &a) || !slopes_of(shared, count, &b)) {
    return;
  }
  for (int call = 0; call < CALLS; ++call) {
    CHECK_OK(run_slopes(&a, call));
    CHECK_OK(run_slopes(&b, call));
    check(same_slopes(&a, &b), "%s: derivative call %d differs", what, call);
  }
  compare_jacobians(&a, &b, what);
  slopes_free(&a);
  slopes_free(&b);
}

/* ---- queries ---- */

enum { QUERIES = 20011, QUERY_ARRAYS = 9 };

/* Witness points and a field; points are projected in place. */
static void run_queries(const world *w, char *const in[2], char *out[QUERY_ARRAYS])
{
  const abut_smoothing smoothing = abut_default_smoothing();
  const size_t row = 3 * QUERIES * real_size(precision);
  for (int i = 3; i < 6; ++i) { /* the third of these also begins where its triangles do */
    memcpy(out[i], in[i == 5], i == 5 ? 3 * row : row);
  }
  CHECK_OK(
    abut_witness_edges(w->context, &smoothing, QUERIES, in[0], in[1], out[0], out[1], out[2]));
  CHECK_OK(abut_witness_faces(w->context, &smoothing, QUERIES, out[3], in[1], out[3], NULL, NULL));
  CHECK_OK(abut_witness_faces_jvp(w->context, &smoothing, QUERIES, out[4], in[1], out[4], NULL,
                                  out[4], NULL, NULL));
  CHECK_OK(abut_witness_faces(w->context, &smoothing, QUERIES, in[0], out[5], out[5], NULL, NULL));
  CHECK_OK(abut_witness_edges_vjp(w->context, &smoothing, QUERIES, in[0], in[1], in[0] + row, NULL,
                                  NULL, out[6], NULL));
  CHECK_OK(abut_evaluate_body(w->body, 1e-2, 1e-2, QUERIES, in[0], out[7], out[8]));
}

static void compare_queries(const world *alone, const world *shared, const char *what)
{
  const size_t real = real_size(precision), bytes = 9 * QUERIES * real;
  char *out[2][QUERY_ARRAYS], *in[2];
  uint64_t seed = 9;
  double *numbers = malloc(9 * QUERIES * sizeof *numbers);
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < 9 * QUERIES; ++k) {
      numbers[k] = random_uniform(&seed) - 0.5;
    }
    in[i] = to_reals(numbers, 9 * QUERIES, precision);
  }
  for (int i = 0; i < QUERY_ARRAYS; ++i) {
    out[0][i] = calloc(bytes, 1);
    out[1][i] = calloc(bytes, 1);
  }
  run_queries(alone, in, out[0]);
  run_queries(shared, in, out[1]);
  for (int i = 0; i < QUERY_ARRAYS; ++i) {
    check(!memcmp(out[0][i], out[1][i], bytes), "%s: array %d of queries differs", what, i);
    free(out[0][i]);
    free(out[1][i]);
  }
  free(in[0]);
  free(in[1]);
  free(numbers);
}

static void compare(const variant *whole, const variant *v, uint32_t chunk, abut_select select)
{
  static const size_t counts[] = {1, 2, 31, 127, MOST}, few[] = {1, 2, 31, 127};
  world alone, shared;
  char what[160];
  if (!world_open(whole, 0, select, &alone) || !world_open(v, chunk, select, &shared)) {
    return;
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    snprintf(what, sizeof what, "%s, select %d, chunks of %u, %zu poses", v->name, (int)select,
             chunk, counts[i]);
    compare_contacts(&alone, &shared, counts[i], what);
  }
  for (size_t i = 0; i < sizeof few / sizeof *few; ++i) {
    if (chunk != 1 || few[i] < 100) {
      snprintf(what, sizeof what, "%s, select %d, chunks of %u, %zu poses", v->name, (int)select,
               chunk, few[i]);
      compare_derivatives(&alone, &shared, few[i], what);
    }
  }
  if (chunk != 1) {
    snprintf(what, sizeof what, "%s, chunks of %u", v->name, chunk);
    compare_queries(&alone, &shared, what);
  }
  world_close(&alone);
  world_close(&shared);
}

/* ---- names ---- */

static void refused(const char *text, const char *why)
{
  abut_device_choice choices[ABUT_DEVICES_MOST];
  size_t count = 0;
  const abut_status status = abut_find_devices(text, choices, ABUT_DEVICES_MOST, &count);
  check(status == ABUT_ERROR_DEVICE && strstr(abut_last_error(), why), "\"%s\" gives %d: %s", text,
        status, abut_last_error());
}

static void test_names(const variant *v)
{
  static const char *const wrong[][2] = {
    {"pocl/0", "\" is not a division of a device: use /UNITS or /UNITS.PART"},
    {"pocl/1.", "\" is not a division of a device: use /UNITS or /UNITS.PART"},
    {"pocl/1.x", "\" is not a division of a device: use /UNITS or /UNITS.PART"},
    {"pocl/1.1.1", "\" is not a division of a device: use /UNITS or /UNITS.PART"},
    {"pocl/1x", "\" is not a division of a device: use /UNITS or /UNITS.PART"},
    {"pocl/1.900", "has no part 900: with 1 units per part it has"},
    {"pocl/99999", "cannot be divided into parts of 99999 compute units: it has"},
    {"pocl/99999.0", "cannot be divided into parts of 99999 compute units: it has"},
    {"no such device", "no device is called"},
    {"no such device/1", "no device is called"},
    {"host/1", "cannot be divided"},
    {"99999", "no device"},
    {"99999/1", "no device"}};
  abut_device_choice choices[ABUT_DEVICES_MOST];
  size_t count = 0, there = 0;
  CHECK_OK(abut_list_devices(NULL, 0, &there));
  CHECK_OK(abut_find_devices("pocl", choices, ABUT_DEVICES_MOST, &count));
  check(count == 1 && choices[0].device == v[WHOLE].choices[0].device && !choices[0].units,
        "\"pocl\" gives %zu devices", count);
  CHECK_OK(abut_find_devices("host", choices, ABUT_DEVICES_MOST, &count));
  check(count == 1 && choices[0].device == there - 1 && !choices[0].units,
        "\"host\" gives %zu devices", count);
  CHECK_OK(abut_find_devices("ALL", choices, ABUT_DEVICES_MOST, &count));
  check(count == there - 1, "\"ALL\" gives %zu of %zu devices", count, there - 1);
  for (size_t i = 0; i < v[PARTS].count; ++i) {
    const abut_device_choice *part = &v[PARTS].choices[i];
    char text[64];
    check(part->device == v[WHOLE].choices[0].device && part->units == 1 && part->part == i,
          "part %zu of \"pocl/1\" is part %u", i, part->part);
    snprintf(text, sizeof text, "pocl/1.%zu", i);
    CHECK_OK(abut_find_devices(text, choices, ABUT_DEVICES_MOST, &count));
    check(count == 1 && !memcmp(choices, part, sizeof *part), "%s is another part", text);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    refused(wrong[i][0], wrong[i][1]);
  }
}

/* A device has one place in a context, and so has each of its parts. */
static void refused_twice(const abut_device_choice *choice)
{
  const abut_device_choice choices[3] = {*choice, {choice->device, 1, 99}, *choice};
  abut_context_def def = abut_default_context_def();
  abut_context context;
  def.devices = choices;
  def.device_count = 3;
  def.precision = precision;
  const abut_status status = abut_create_context(&def, &context);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), "named twice"),
        "part %u of %u units of device %u twice gives %d: %s", choice->part, choice->units,
        choice->device, status, abut_last_error());
}

int main(int argc, char **argv)
{
  static const uint32_t chunks[] = {0, 1, 7};
  const char *device = getenv("ABUT_TEST_DEVICE");
  variant v[VARIANTS];
  device = device ? device : "pocl";
  precision = precision_of(argc, argv);
  if (!find_variants(device, v)) {
    return 77;
  }
  if (strcmp(device, "pocl") == 0) {
    test_names(v);
  }
  if (strcmp(device, "host") != 0) {
    refused_twice(&v[WHOLE].choices[0]);
    for (size_t i = 0; i < v[PARTS].count; ++i) {
      refused_twice(&v[PARTS].choices[i]);
    }
  }
  for (int i = PARTS; i < VARIANTS; ++i) {
    if (v[i].count < 2) {
      printf("%s: no second one\n", v[i].name);
      continue;
    }
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k += usual_share() ? 2 : 1) {
      compare(&v[WHOLE], &v[i], chunks[k], k ? ABUT_SELECT_SOFTSORT : ABUT_SELECT_GATE);
      test_timeline(&v[i], chunks[k]);
    }
    test_progress(&v[i]);
  }
  return check_finish();
}
