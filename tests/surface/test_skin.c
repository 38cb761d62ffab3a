/* Contact meshes of shapes whose edges and corners are known, and of files of others where
 * ABUT_SHARED names the folder that holds them. The linker sends the library's calls of malloc and
 * its kin here, so that each can fail once, and what is not freed is counted. */
#include "format/mesh.h"
#include "support/allocations.h"
#include "support/check.h"
#include "surface/measure.h"
#include "surface/shapes.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FARTHEST 1.2 /* spacings of the wanted vertices, from a point of the surface to one */

static skin skin_of(const surface *s, size_t vertices, const char *name)
{
  skin k;
  REQUIRE_OK(skin_create(s, vertices, &k));
  check_sound(&k, name);
  return k;
}

/* The merged mesh alone must have so many vertices and edges. */
static void expect_own(const surface *s, size_t vertices, size_t edges, const char *name)
{
  skin k = skin_of(s, UINT32_MAX, name);
  check(k.vertex_count == vertices && k.edge_count == edges, "%s: %zu vertices, %zu edges", name,
        k.vertex_count, k.edge_count);
  check(!k.added && !k.thinned, "%s: %zu added, %zu thinned", name, k.added, k.thinned);
  skin_free(&k);
}

/* How many coordinates of a point lie on the unit box's faces. */
static int on_box(const double *v)
{
  int on = 0;
  for (int i = 0; i < 3; ++i) {
    on += fabs(v[i]) < 1e-12 || fabs(v[i] - 1.0) < 1e-12;
  }
  return on;
}

static void boxes(void)
{
  static const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
  static const size_t parts[] = {1, 7, 100};
  for (size_t i = 0; i < 3; ++i) {
    shape b = {0};
    shape_box(&b, low, high, parts[i]);
    surface s = shape_surface(&b);
    expect_own(&s, 8, 12, "box");
    skin k = skin_of(&s, 0, "box");
    CHECK_EQUAL(k.merged, s.triangle_count);
    CHECK_EQUAL(k.edge_count, 12);
    CHECK_EQUAL(k.vertex_count, SKIN_VERTICES);
    CHECK_EQUAL(k.added, SKIN_VERTICES - 8);
    CHECK_EQUAL(k.thinned, 0);
    size_t corners = 0, on_edges = 0, off = 0;
    for (size_t v = 0; v < k.vertex_count; ++v) {
      const int on = on_box(k.vertices + 3 * v);
      corners += on == 3 && v < 8;
      on_edges += on == 2;
      off += on == 0;
    }
    CHECK_EQUAL(corners, 8);
    CHECK_EQUAL(off, 0);
    CHECK(on_edges > 12 / spacing_of(&s, SKIN_VERTICES) / 2.0);
    for (size_t e = 0; e < 12; ++e) {
      const double *a = k.vertices + 3 * (size_t)k.edges[2 * e];
      const double *c = k.vertices + 3 * (size_t)k.edges[2 * e + 1];
      CHECK(fabs(fabs(a[0] - c[0]) + fabs(a[1] - c[1]) + fabs(a[2] - c[2]) - 1.0) < 1e-12);
    }
    CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, SKIN_VERTICES));
    skin_free(&k);
    k = skin_of(&s, 8, "box of 8");
    CHECK(k.vertex_count == 8 && k.edge_count == 12 && !k.added);
    skin_free(&k);
    surface_free(&s);
  }
}

/* A mantle of 32 faces has its 32 lines. One of 400, which meet at 0.9 degrees, has those that a
 * polygon within the tolerance needs: runs of no more than three faces. */
static void prisms(void)
{
  shape p = {0};
  shape_prism(&p, 32, 2.0);
  surface s = shape_surface(&p);
  expect_own(&s, 64, 96, "prism of 32");
  skin k = skin_of(&s, 0, "prism of 32");
  CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, SKIN_VERTICES));
  CHECK(off_surface(&s, &k) < 1e-12);
  CHECK_EQUAL(k.edge_count, 96);
  skin_free(&k);
  surface_free(&s);
  shape_prism(&p, 400, 2.0);
  s = shape_surface(&p);
  k = skin_of(&s, UINT32_MAX, "prism of 400");
  CHECK(k.vertex_count >= 2 * 400 / 3 && k.vertex_count <= 400);
  CHECK_EQUAL(k.edge_count, 3 * k.vertex_count / 2);
  CHECK(off_surface(&s, &k) < 1e-12);
  skin_free(&k);
  surface_free(&s);
}

static void plates(void)
{
  shape p = {0};
  shape_plate(&p, 3);
  surface s = shape_surface(&p);
  expect_own(&s, 8 + 2 * 24, 12 + 3 * 24, "plate");
  skin k = skin_of(&s, 0, "plate");
  CHECK_EQUAL(k.vertex_count, SKIN_VERTICES);
  CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, SKIN_VERTICES));
  for (size_t i = 0; i < k.vertex_count; ++i) {
    const double *v = k.vertices + 3 * i;
    CHECK(hypot(v[0], v[1]) > 0.5 * cos(3.14159265358979 / 24) - 1e-12);
  }
  skin_free(&k);
  surface_free(&s);
}

static void spheres(void)
{
  shape b = {0};
  shape_sphere(&b, 6);
  surface s = shape_surface(&b);
  const size_t wanted[] = {100, 500, 2000};
  for (size_t i = 0; i < 3; ++i) {
    skin k = skin_of(&s, wanted[i], "sphere");
    check(k.vertex_count <= wanted[i] && k.vertex_count >= wanted[i] * 9 / 10,
          "sphere: %zu vertices of %zu", k.vertex_count, wanted[i]);
    CHECK(k.edge_count <= 3 * (k.vertex_count - k.added) - 6);
    CHECK(k.edge_count > 2 * (k.vertex_count - k.added));
    CHECK(off_surface(&s, &k) < 1e-9);
    CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, wanted[i]));
    skin_free(&k);
  }
  /* Neighbours lean by less than a degree, but a cap within the deviation of a plane, to both of
   * its sides, has a radius of sqrt(4 deviation). */
  skin k = skin_of(&s, UINT32_MAX, "fine sphere");
  CHECK(k.merged > s.triangle_count / 2);
  CHECK(covering_radius(&s, &k) < 2.0 * sqrt(4.0 * 1e-4 * s.diagonal));
  skin_free(&k);
  surface_free(&s);
  shape_sphere(&b, 3);
  s = shape_surface(&b);
  k = skin_of(&s, 700, "coarse sphere"); /* its own are as near as 700 need to be */
  CHECK(k.vertex_count == 642 && k.edge_count == 1920 && !k.added && !k.thinned);
  skin_free(&k);
  surface_free(&s);
}

/* Side by side, one in the other, and two that touch along an edge. */
static void shells(void)
{
  static const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, inner[3] = {0.25, 0.25, 0.25};
  static const double outer[3] = {0.75, 0.75, 0.75}, beside[3] = {3, 0, 0}, end[3] = {4, 1, 1};
  static const double diagonal[3] = {1, 1, 0}, far[3] = {2, 2, 1};
  shape b = {0};
  shape_box(&b, low, high, 4);
  shape_box(&b, beside, end, 4);
  surface s = shape_surface(&b);
  expect_own(&s, 16, 24, "two boxes");
  surface_free(&s);
  shape_box(&b, low, high, 4);
  shape_box(&b, inner, outer, 4);
  for (size_t i = b.face_count / 2; i < b.face_count; ++i) {
    const uint32_t corner = b.faces[3 * i];
    b.faces[3 * i] = b.faces[3 * i + 1];
    b.faces[3 * i + 1] = corner;
  }
  s = shape_surface(&b);
  expect_own(&s, 16, 24, "hollow box");
  surface_free(&s);
  shape_box(&b, low, high, 2);
  shape_box(&b, diagonal, far, 2);
  s = shape_surface(&b);
  /* The edge in common is left as it is: in two halves. */
  expect_own(&s, 15, 24, "boxes that share an edge");
  skin k = skin_of(&s, 10, "boxes that share an edge");
  CHECK(k.vertex_count < 15 && k.edge_count > 0);
  skin_free(&k);
  surface_free(&s);
}

/* A needle, a triangle without area, and a missing face. */
static void dropped_pieces(void)
{
  shape b = {0};
  for (int x = 0; x < 8; ++x) {
    shape_vertex(&b, x & 1, x >> 1 & 1, x >> 2 & 1);
  }
  const uint32_t middle = shape_vertex(&b, 0.5, 0, 0), lifted = shape_vertex(&b, 0.5, 0.5, 1e-7);
  shape_quad(&b, 4, 5, 7, 6);
  shape_quad(&b, 0, 4, 6, 2);
  shape_quad(&b, 1, 3, 7, 5);
  shape_quad(&b, 2, 6, 7, 3);
  shape_quad(&b, 0, 1, 5, 4);   /* has 0-1 whole; the bottom has it in halves */
  shape_face(&b, 0, middle, 1); /* without area */
  shape_face(&b, 0, 2, middle);
  shape_face(&b, 1, middle, 3);
  shape_face(&b, middle, 2, lifted); /* a needle beside 2-middle and one beside middle-3 */
  shape_face(&b, middle, lifted, 3);
  shape_face(&b, 2, 3, lifted);
  surface s = shape_surface(&b);
  expect_own(&s, 8, 12, "box with a triangle without area");
  surface_free(&s);

  shape_box(&b, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1}, 3);
  b.face_count -= 18; /* the top */
  s = shape_surface(&b);
  CHECK(s.closing_count > 0);
  expect_own(&s, 8, 12, "open box");
  skin k = skin_of(&s, 0, "open box");
  size_t on_top = 0;
  for (size_t i = 0; i < k.vertex_count; ++i) {
    on_top += k.vertices[3 * i + 2] > 1.0 - 1e-9 && on_box(k.vertices + 3 * i) < 2;
  }
  CHECK_EQUAL(on_top, 0);
  CHECK(k.vertex_count > SKIN_VERTICES * 9 / 10);
  skin_free(&k);
  surface_free(&s);
}

/* What is left out must not blunt the box's corners, nor leave its plain sides bare. */
static void rough_boxes(void)
{
  shape b = {0};
  shape_rough_box(&b, 40, 0.02);
  surface s = shape_surface(&b);
  skin k = skin_of(&s, 400, "rough box");
  CHECK(k.thinned > 1000);
  check(k.vertex_count <= 400 && k.vertex_count > 380, "rough box: %zu vertices", k.vertex_count);
  for (int corner = 0; corner < 8; ++corner) {
    const double x[3] = {corner & 1, corner >> 1 & 1, corner >> 2 & 1};
    double least = HUGE_VAL;
    for (size_t i = 0; i < k.vertex_count; ++i) {
      const double *v = k.vertices + 3 * i;
      least = fmin(least, hypot(hypot(v[0] - x[0], v[1] - x[1]), v[2] - x[2]));
    }
    check(least < 0.002 * s.diagonal, "corner %d of the rough box is %g off", corner, least);
  }
  CHECK(off_surface(&s, &k) < 1e-9);
  CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, 400));
  skin again = skin_of(&s, 400, "rough box");
  CHECK(again.vertex_count == k.vertex_count && again.edge_count == k.edge_count);
  CHECK(!memcmp(again.vertices, k.vertices, k.vertex_count * 3 * sizeof(double)));
  CHECK(!memcmp(again.edges, k.edges, k.edge_count * 2 * sizeof(uint32_t)));
  skin_free(&again);
  skin_free(&k);
  surface_free(&s);
}

/* Nothing of this collapses without a fold, and two vertices have thousands of neighbours. */
static void spindles(void)
{
  shape b = {0};
  shape_spindle(&b, 5000);
  surface s = shape_surface(&b);
  skin k = skin_of(&s, 200, "spindle");
  CHECK_EQUAL(k.vertex_count, 200);
  CHECK(off_surface(&s, &k) < 1e-9);
  CHECK(covering_radius(&s, &k) < FARTHEST * spacing_of(&s, 200));
  skin_free(&k);
  surface_free(&s);
}

/* ---- memory ---- */

static void each_allocation_fails(void)
{
  static const size_t wanted[] = {UINT32_MAX, 100, 2000};
  shape b = {0};
  shape_rough_box(&b, 12, 0.02);
  surface s = shape_surface(&b);
  for (size_t i = 0; i < 3; ++i) {
    long allowed = 0;
    abut_status status;
    do {
      skin k;
      const long before = allocations_held();
      allocations_fail_after(allowed++);
      status = skin_create(&s, wanted[i], &k);
      const bool met = allocations_end();
      REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
      skin_free(&k);
      CHECK_EQUAL(allocations_held(), before);
    } while (status != ABUT_SUCCESS);
    CHECK(allowed > 15);
  }
  surface_free(&s);
}

/* ---- files of others ---- */

static void real_mesh(const char *path, const char *name)
{
  mesh m;
  surface s;
  surface_report report;
  abut_body_def def = abut_default_body_def();
  REQUIRE_OK(mesh_read(path, &m));
  def.vertices = m.vertices;
  def.vertex_count = m.vertex_count;
  def.face_sizes = m.face_sizes;
  def.face_indices = m.face_indices;
  def.face_count = m.face_count;
  REQUIRE_OK(surface_create(&def, &s, &report));
  skin k = skin_of(&s, 0, name);
  check(k.vertex_count > 900 && k.vertex_count <= SKIN_VERTICES, "%s: %zu vertices", name,
        k.vertex_count);
  const double off = off_surface(&s, &k) / s.diagonal;
  check(off < 1e-9, "%s: a vertex is %g of the diagonal off", name, off);
  const double far = covering_radius(&s, &k) / spacing_of(&s, SKIN_VERTICES);
  check(far < FARTHEST, "%s: a point is %.2f spacings from a vertex", name, far);
  skin_free(&k);
  k = skin_of(&s, UINT32_MAX, name);
  check(k.vertex_count <= m.vertex_count && !k.added && !k.thinned, "%s: all of its own", name);
  skin_free(&k);
  surface_free(&s);
  mesh_free(&m);
}

static void real_meshes(const char *shared)
{
  char folder[1024], path[2048];
  size_t read = 0;
  snprintf(folder, sizeof folder, "%s/data/meshes", shared);
  DIR *d = opendir(folder);
  REQUIRE(d);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    if (e->d_name[0] != '.') {
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      real_mesh(path, e->d_name);
      ++read;
    }
  }
  closedir(d);
  CHECK(read >= 12);
}

int main(void)
{
  boxes();
  prisms();
  plates();
  spheres();
  shells();
  dropped_pieces();
  rough_boxes();
  spindles();
  each_allocation_fails();
  if (!usual_share() && getenv("ABUT_SHARED")) {
    real_meshes(getenv("ABUT_SHARED"));
  }
  return check_finish();
}
