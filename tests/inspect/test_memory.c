/* Memory that runs out while surfaces of fields and contact meshes are made: each allocation fails
 * once, and nothing is left behind. Calls that ask devices may go on without some memory: they must
 * end with a success or say that memory is short. */
#include "mesh/contact_mesh/relax.h"
#include "support/allocations.h"
#include "support/check.h"
#include "mesh/surface/level_set.h"
#include "mesh/surface/thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAU 1e-2 /* [m] */
#define SIDE 14  /* nodes along a side, of whose cells some cut off a few per cent of a ball */

static abut_context context;

static abut_body ball(void)
{
  static const double vertices[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0};
  static const uint32_t sizes[] = {3, 3}, indices[] = {0, 1, 2, 2, 1, 3};
  static const abut_superquadric one = {.axes = {1, 1, 1},
                                        .exponents = {1, 1},
                                        .quaternion = {1, 0, 0, 0}};
  abut_body_def def = abut_default_body_def();
  abut_body body;
  def.vertices = vertices;
  def.vertex_count = 4;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 2;
  def.superquadrics = &one;
  def.superquadric_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  return body;
}

/* The unit sphere's distance on a small lattice. */
static lattice small_lattice(float *values)
{
  const lattice l = {{-1.3, -1.3, -1.3}, 2.6 / (SIDE - 1), {SIDE, SIDE, SIDE}};
  for (size_t i = 0; i < SIDE * SIDE * SIDE; ++i) {
    double square = 0.0;
    const size_t place[3] = {i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE};
    for (int k = 0; k < 3; ++k) {
      const double x = l.origin[k] + l.spacing * (double)place[k];
      square += x * x;
    }
    values[i] = (float)(sqrt(square) - 1.0);
  }
  return l;
}

static surface thinned(const surface *fine)
{
  thinner t;
  surface out;
  REQUIRE_OK(thin_create(fine, &t));
  thin_to(&t, 24);
  REQUIRE_OK(thin_surface(&t, &out));
  thin_free(&t);
  REQUIRE_OK(surface_pair_sides(&out));
  return out;
}

static void surfaces(void)
{
  static float values[SIDE * SIDE * SIDE];
  const lattice l = small_lattice(values);
  const field_of field = {ball(), TAU, TAU};
  surface fine;
  probe p;
  box b;
  abut_status status;
  long allowed = 0;
  do {
    const long before = allocations_held();
    allocations_fail_after(allowed++);
    status = level_set_create(&l, values, &fine);
    const bool met = allocations_end();
    REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
    if (met) {
      CHECK_EQUAL(allocations_held(), before);
    }
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 10);
  CHECK_EQUAL(fine.point_count - fine.triangle_count / 2, 2);
  check(fabs(fine.volume - 4.0 / 3.0 * 3.14159265358979) < 0.12, "the volume is %g", fine.volume);
  REQUIRE_OK(surface_pair_sides(&fine));
  allowed = 0;
  do {
    const long before = allocations_held();
    allocations_fail_after(allowed++);
    status = probe_create(&field, &p, &b);
    const bool met = allocations_end();
    REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
    if (met) {
      CHECK_EQUAL(allocations_held(), before);
    }
  } while (status != ABUT_SUCCESS);
  p.reach = 0.02 * fine.diagonal;
  allowed = 0;
  do {
    surface mesh = thinned(&fine);
    const long before = allocations_held();
    allocations_fail_after(allowed++);
    status = relax(&p, &fine, 2, &mesh);
    const bool met = allocations_end();
    REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
    CHECK_EQUAL(allocations_held(), before);
    for (size_t i = 0; status == ABUT_SUCCESS && i < mesh.point_count; ++i) {
      const double *x = mesh.points + 3 * i;
      CHECK(fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1.0) < 1e-9);
    }
    surface_free(&mesh);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 10);
  probe_free(&p);
  surface_free(&fine);
  CHECK_OK(abut_destroy_body(field.body));
}

static abut_status measure(abut_body body)
{
  abut_mesh_quality q;
  return abut_measure_mesh(body, TAU, TAU, &q);
}

static abut_status suggest(abut_body body)
{
  const abut_smoothing smoothing = abut_default_smoothing();
  abut_suggest_options options = abut_default_suggest_options();
  abut_suggestion s;
  options.poses = 2;
  const abut_status status = abut_suggest_kept(body, body, &smoothing, &options, &s);
  abut_free_suggestion(&s);
  return status;
}

static void calls_on_devices(void)
{
  abut_status (*const calls[])(abut_body) = {measure, suggest};
  const abut_body body = ball();
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    long allowed = 0;
    bool met;
    REQUIRE_OK(calls[i](body)); /* what stays with the context is there now */
    const long before = allocations_held();
    do {
      allocations_fail_after(allowed++);
      const abut_status status = calls[i](body);
      met = allocations_end();
      check(status == ABUT_SUCCESS || (met && status == ABUT_ERROR_MEMORY),
            "call %zu: status %d without "
            "allocation %ld: %s",
            i, (int)status, allowed, abut_last_error());
      CHECK_EQUAL(allocations_held(), before);
    } while (met);
    CHECK(allowed > 10);
  }
  CHECK_OK(abut_destroy_body(body));
}

int main(void)
{
  context = require_context(ABUT_FLOAT64);
  surfaces();
  calls_on_devices();
  return finish_context(context);
}
