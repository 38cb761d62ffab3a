/* Each allocation of meshes of collision in time, and of a line search that needs no device, fails
 * once: an error, no crash, nothing left behind. */
#include "body/ccd_mesh.h"
#include "support.h"
#include "support/allocations.h"

static abut_context home;
static abut_body body;
static const char *path;

static const double vertices[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 1.5, 0, 0, 0, 2};
static const uint32_t sizes[] = {5, 3, 3}, corners[] = {0, 1, 2, 4, 3, 0, 1, 5, 1, 1, 5},
                      edges[] = {3, 5};

static abut_status end(abut_status status, abut_ccd_mesh made)
{
  if (status == ABUT_SUCCESS) {
    CHECK_OK(abut_destroy_ccd_mesh(made));
  } else {
    CHECK(!made.index && !made.generation);
  }
  return status;
}

static abut_status make(void)
{
  abut_ccd_mesh made = {0, 0};
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = vertices;
  def.vertex_count = 6;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 3;
  def.edges = edges;
  def.edge_count = 1;
  const abut_status status = abut_create_ccd_mesh(home, &def, &made);
  if (status != ABUT_SUCCESS) {
    return end(status, made);
  }
  ccd_mesh *m = ccd_mesh_get(made);
  const abut_status there = ccd_mesh_on(m, context_first(context_get(home)));
  CHECK_OK(abut_destroy_ccd_mesh(made));
  return there;
}

static abut_status make_of_body(void)
{
  abut_ccd_mesh made = {0, 0};
  const abut_status status = abut_create_body_ccd_mesh(body, &made);
  return end(status, made);
}

static abut_status load(void)
{
  abut_ccd_mesh made = {7, 7};
  const abut_status status = abut_load_ccd_mesh(home, path, &made);
  return end(status, made);
}

static abut_status make_body(void)
{
  static const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  abut_body made = {0, 0};
  def.vertices = vertices;
  def.vertex_count = 6;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 3;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  def.surface = (abut_surface){vertices, 6, sizes, corners, 3};
  const abut_status status = abut_create_body(home, &def, &made);
  if (status == ABUT_SUCCESS) {
    CHECK_OK(abut_destroy_body(made));
  }
  return status;
}

static abut_status load_body(void)
{
  abut_body made = {0, 0};
  const abut_status status = abut_load_body(home, path, &made);
  if (status == ABUT_SUCCESS) {
    CHECK_OK(abut_destroy_body(made));
  }
  return status;
}

/* The one pair is left out. */
static abut_status filter_step(void)
{
  static const double still[18] = {0};
  static const uint32_t pair[2] = {0, 5};
  static const abut_ccd_lanes lanes = {ABUT_CCD_POINT_POINT, 1, pair};
  abut_step_filter_def def = abut_default_step_filter_def();
  abut_step_filter_result r = {.share = 7};
  def.vertex_count = 6;
  def.x = vertices;
  def.step = still;
  def.lanes = &lanes;
  def.lanes_count = 1;
  const abut_status status = abut_step_filter(home, &def, &r);
  CHECK(r.share == (status == ABUT_SUCCESS ? 1 : 7) && !r.asked);
  return status;
}

static size_t owned_objects(void)
{
  size_t count = 0;
  for (const owned *o = context_get(home)->newest; o; o = o->next) {
    ++count;
  }
  return count;
}

/* Until nothing fails any more. */
static void each_failure(abut_status (*once)(void), const char *what, long least)
{
  long allowed = 0;
  abut_status status;
  const size_t before = owned_objects();
  const long held = allocations_held();
  do {
    allocations_fail_after(allowed++);
    status = once();
    allocations_end();
    require(check(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY, "%s gives %s: %s", what,
                  abut_status_name(status), abut_last_error()));
    CHECK_EQUAL(owned_objects(), before);
    check(status == ABUT_SUCCESS || allocations_held() <= held, "%s leaves %ld allocations", what,
          allocations_held() - held);
  } while (status != ABUT_SUCCESS);
  check(allowed > least, "%s allocates %ld times", what, allowed);
}

int main(void)
{
  folder_make();
  write_text("m.obj",
             "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 1\nf 1 2 3 4\nf 1 2 5\nl 3 5\n");
  path = write_text(
    "m.body.json",
    "{\"mesh\": \"m.obj\", \"superquadrics\": [{\"axes\": [1, 1, 1], \"exponents\": [1, 1],\n"
    "\"position\": [0, 0, 0], \"quaternion\": [1, 0, 0, 0]}]}\n");
  if (test_context(ABUT_FLOAT64, &home)) {
    abut_ccd_mesh first;
    REQUIRE_OK(abut_load_body(home, path, &body));
    REQUIRE_OK(abut_create_body_ccd_mesh(body, &first)); /* pools have room from now on */
    CHECK_OK(abut_destroy_ccd_mesh(first));
    each_failure(make, "making a mesh", 10);
    each_failure(make_of_body, "making a body's mesh", 8);
    each_failure(load, "loading a mesh", 12);
    each_failure(make_body, "making a body", 10);
    each_failure(load_body, "loading a body", 10);
    each_failure(filter_step, "filtering a step", 5);
    CHECK_OK(abut_destroy_context(home));
  }
  folder_remove();
  return check_finish();
}
