/* Springs against golden answers: test_spring PRECISION ROOT, the folder of these. On the device of
 * ABUT_TEST_DEVICE. */
#include "spring/golden.h"

/* ---- fields ---- */

/* phi near the cloud, and its gradient, by what section 12 of the text bounds; beyond 1 m
 * relative. */
static void test_field(const char *what, const abut_cloud *c, const double *x, size_t count,
                       const double *phi, const double *gradient, double in_float)
{
  void *points = to_reals(x, 3 * count, precision), *got = room(count), *slope = room(3 * count);
  double near = 0.0, far = 0.0, slopes = 0.0, steepest = 1e-12;
  for (size_t i = 0; gradient && i < 3 * count; ++i) {
    steepest = largest(x + i / 3 * 3, 3) <= 3.0 ? fmax(steepest, fabs(gradient[i])) : steepest;
  }
  CHECK_OK(abut_evaluate_cloud(context, c, count, points, got, gradient ? slope : NULL));
  for (size_t i = 0; i < count; ++i) {
    const double d = fabs(number(got, i) - phi[i]), length = largest(x + 3 * i, 3);
    *(length > 3.0 ? &far : &near) = fmax(length > 3.0 ? far : near, length > 3.0 ? d / length : d);
    for (size_t k = 3 * i; gradient && length <= 3.0 && k < 3 * i + 3; ++k) {
      slopes = fmax(slopes, fabs(number(slope, k) - gradient[k]) / steepest);
    }
  }
  expect(what, near, 1e-12, in_float);
  expect_most(what, (const char *)got + 3 * real_size(precision), phi + 3, count - 3,
              in_float / 5.0);
  expect("  far away, of the distance", far, 1e-9, 1e-7);
  expect("  gradient", slopes, 1e-9, 2e-3);
  free(points);
  free(got);
  free(slope);
}

static void test_boxes(void)
{
  abut_npz all;
  read_npz("spring-box-field", "field3", &all);
  const double *x = reals_of(&all, "x"), *kernels = reals_of(&all, "kernel_eps1");
  abut_cloud quads = cloud_of("spring-box-field", "box", 1.9999999999999998e-4, false);
  abut_cloud triangles = cloud_of("spring-box-field", "box-triangles", 1e-4, true);
  abut_cloud sharp = cloud_of("spring-box-field", "box", 1.9999999999999998e-7, false);
  abut_cloud mean = cloud_of("spring-box-field", "box", 0.0, false);
  check(fabs(mean.eps1[0] - 2e-4) < 1e-16 && mean.count == 94, "eps1 of a mesh's mean area");
  test_field("box of quads", &quads, x, 200, reals_of(&all, "quads_phi"),
             reals_of(&all, "quads_gradient"), 5e-7);
  test_field("box of triangles", &triangles, x, 200, reals_of(&all, "triangles_phi"),
             reals_of(&all, "triangles_gradient"), 5e-7);
  test_field("sharp box", &sharp, x, 200, reals_of(&all, "sharp_phi"),
             reals_of(&all, "sharp_gradient"), 5e-7);
  quads.kernels = doubles(9 * quads.count);
  memcpy(quads.kernels, kernels, 9 * quads.count * sizeof(double));
  test_field("box with kernels", &quads, x, 200, reals_of(&all, "kernel_phi"),
             reals_of(&all, "kernel_gradient"), 5e-7);
  abut_free_cloud(&quads);
  abut_free_cloud(&triangles);
  abut_free_cloud(&sharp);
  abut_free_cloud(&mean);
  abut_free_npz(&all);
}

static void test_squares(void)
{
  static const char *const names[] = {"coarse", "fine", "corners", "flipped"};
  static const char *const sizes[] = {"0.005", "0.05", "0.5", "5.0"};
  abut_npz all;
  read_npz("spring-box-field", "field2", &all);
  for (int n = 0; n < 4; ++n) {
    char name[64];
    snprintf(name, sizeof name, "%s_p", names[n]);
    const size_t count = find_array(&all, name)->shape[0];
    const double *p = reals_of(&all, name);
    snprintf(name, sizeof name, "%s_n", names[n]);
    const double *normals = reals_of(&all, name);
    for (int k = 0; k < 4; ++k) {
      snprintf(name, sizeof name, "%s_%s", names[n], sizes[k]);
      if (n > 1 && k != 1) {
        continue;
      }
      double *points = doubles(7 * count);
      for (size_t i = 0; i < count; ++i) {
        memcpy(points + 7 * i, p + 3 * i, 3 * sizeof *p);
        memcpy(points + 7 * i + 3, normals + 3 * i, 3 * sizeof *p);
        points[7 * i + 6] = strtod(sizes[k], NULL);
      }
      abut_cloud c;
      REQUIRE_OK(abut_make_cloud_of_points(count, points, &c));
      test_field(name, &c, reals_of(&all, "grid"), 1681, reals_of(&all, name), NULL, 2e-6);
      abut_free_cloud(&c);
      free(points);
    }
  }
  abut_free_npz(&all);
}

/* ---- wrenches ---- */

/* The wrenches of all pairs, relative to the largest of each. */
static void test_wrenches(const char *what, const pairs *p, const double *wanted)
{
  double *got = world_wrenches(p), worst = 0.0, force = 0.0;
  for (size_t i = 0; i < p->count; ++i) {
    const double *w = wanted + 12 * i;
    for (int part = 0; part < 4; ++part) { /* forces and moments have units of their own */
      const double most = fmax(largest(w + 3 * part, 3), 1e-9);
      const double d = off_doubles(got + 12 * i + 3 * part, w + 3 * part, 3) / most;
      worst = part % 2 ? fmax(worst, off_doubles(got + 12 * i + 3 * part, w + 3 * part, 3) /
                                       fmax(largest(w, 12), 1e-9))
                       : worst;
      force = part % 2 ? force : fmax(force, d);
    }
  }
  char name[96];
  snprintf(name, sizeof name, "%s: forces", what);
  expect(name, force, 1e-10, 2e-4);
  snprintf(name, sizeof name, "%s: moments", what);
  expect(name, worst, 1e-10, 2e-4);
  free(got);
}

static void place_spheres(pairs *p, const double *pose, const double *twist)
{
  const double nowhere[3] = {0};
  for (size_t i = 0; i < p->count; ++i) {
    const double *t = twist + 12 * i;
    quaternion_pose(pose + 6 * i + 3, pose + 6 * i, p->pose2 + 7 * i);
    own_twist(t, t + 3, nowhere, p->twist1 + 6 * i);
    own_twist(t + 6, t + 9, p->pose2 + 7 * i, p->twist2 + 6 * i);
  }
  pairs_put(p);
}

static void spheres(abut_cloud out[2])
{
  out[0] = cloud_of("spring-sphere-sphere", "a", 0.0, false);
  out[1] = cloud_of("spring-sphere-sphere", "b", 0.0, false);
}

static void test_spheres(void)
{
  static const char *const names[] = {"point_c1_wrench", "point_smooth_wrench", "plane_c1_wrench",
                                      "plane_smooth_wrench"};
  abut_cloud clouds[2];
  abut_npz all;
  read_npz("spring-sphere-sphere", "wrench", &all);
  spheres(clouds);
  pairs p = pairs_new(24, clouds);
  place_spheres(&p, reals_of(&all, "pose_b"), reals_of(&all, "twist"));
  for (int k = 0; k < 4; ++k) {
    p.call.dissipation = k % 2 ? ABUT_DISSIPATION_SMOOTH : ABUT_DISSIPATION_C1;
    p.call.reaction = k / 2 ? ABUT_REACTION_PLANE : ABUT_REACTION_POINT;
    CHECK_OK(abut_spring_forces(context, &p.call));
    test_wrenches(names[k], &p, reals_of(&all, names[k]));
  }
  pairs_free(&p);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* Force and distance of two spheres over a grid: everywhere, near and far. */
static void test_profile(void)
{
  static const char *const names[] = {"sharp", "smooth"};
  abut_cloud clouds[2];
  abut_npz all;
  char name[64];
  read_npz("spring-sphere-sphere", "profile", &all);
  spheres(clouds);
  pairs p = pairs_new(1089, clouds);
  for (size_t i = 0; i < p.count; ++i) {
    memcpy(p.pose2 + 7 * i, reals_of(&all, "grid") + 3 * i, 3 * sizeof(double));
  }
  pairs_put(&p);
  for (int k = 0; k < 2; ++k) {
    snprintf(name, sizeof name, "%s_eps", names[k]);
    p.call.eps2 = reals_of(&all, name)[0];
    p.call.eps3 = reals_of(&all, name)[1];
    CHECK_OK(abut_spring_forces(context, &p.call));
    snprintf(name, sizeof name, "%s_wrench_on_b", names[k]);
    const double *wanted = reals_of(&all, name), most = largest(wanted, 6 * p.count);
    double *got = world_wrenches(&p), worst = 0.0;
    for (size_t i = 0; i < p.count; ++i) {
      worst = fmax(worst, off_doubles(got + 12 * i + 6, wanted + 6 * i, 6) / most);
    }
    expect(name, worst, 1e-10, 2e-4);
    snprintf(name, sizeof name, "%s_distance", names[k]);
    expect(name, off(p.call.distance, reals_of(&all, name), p.count), 1e-12, 5e-7);
    free(got);
  }
  pairs_free(&p);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* Soft collision points and what they are made of; a number behind the vertices stays 0. */
static void test_points(pairs *p, const abut_npz *all)
{
  enum { VERTICES = 588, POINTS = 8 };
  const double *z = reals_of(all, "z");
  double worst = 0.0;
  p->call.soft_points = (size_t)reals_of(all, "parameters")[1];
  p->call.tau = reals_of(all, "parameters")[2];
  p->call.vertex_width = VERTICES + 1;
  p->call.vertex_weights = room(p->count * (VERTICES + 1));
  p->call.points = room(p->count * POINTS * 3);
  CHECK_EQUAL(p->call.soft_points, POINTS);
  CHECK_OK(abut_spring_forces(context, &p->call));
  for (size_t i = 0; i < p->count * (VERTICES + 1); ++i) {
    const size_t at = i % (VERTICES + 1);
    const double wanted = at < VERTICES ? z[i / (VERTICES + 1) * VERTICES + at] : 0.0;
    worst = fmax(worst, fabs(number(p->call.vertex_weights, i) - wanted));
  }
  expect("horseshoe: weights of vertices", worst, 1e-10, 1e-4);
  /* 1e-6 of z is 5e-4 of tau, by which the vertices' shares go. */
  expect("horseshoe: soft points",
         off(p->call.points, reals_of(all, "points"), p->count * POINTS * 3), 1e-12, 1e-5);
  p->call.soft_points = VERTICES + 1;
  check(abut_spring_forces(context, &p->call) == ABUT_ERROR_ARGUMENT, "more points than vertices");
  free(p->call.points);
  free(p->call.vertex_weights);
  p->call.points = p->call.vertex_weights = NULL;
}

static void test_horseshoe(void)
{
  abut_cloud clouds[2] = {cloud_of("spring-horseshoe-box", "horseshoe", 0.0, false),
                          cloud_of("spring-horseshoe-box", "box", 0.0, false)};
  abut_npz all;
  read_npz("spring-horseshoe-box", "expected", &all);
  pairs p = pairs_new(8, clouds);
  for (size_t i = 0; i < p.count; ++i) {
    const double at[3] = {0.0, reals_of(&all, "y")[0], 0.0};
    const double turn[3] = {0.0, 0.0, reals_of(&all, "yaw")[i]};
    quaternion_pose(at, turn, p.pose1 + 7 * i);
  }
  p.call.eps2 = reals_of(&all, "parameters")[0];
  pairs_put(&p);
  CHECK_OK(abut_spring_forces(context, &p.call));
  CHECK_EQUAL(p.points, 584);
  expect("horseshoe: Phi", off(p.call.separation, reals_of(&all, "Phi"), 8 * 584), 1e-12, 5e-7);
  expect_most("horseshoe: Phi", p.call.separation, reals_of(&all, "Phi"), 8 * 584, 1e-7);
  expect_most("horseshoe: beta", p.call.weights, reals_of(&all, "beta"), 8 * 584, 1e-5);
  expect("horseshoe: beta", off(p.call.weights, reals_of(&all, "beta"), 8 * 584), 1e-10, 1e-4);
  expect("horseshoe: distance", off(p.call.distance, reals_of(&all, "distance"), 8), 1e-12, 5e-7);
  test_wrenches("horseshoe", &p, reals_of(&all, "wrench"));
  test_points(&p, &all);
  pairs_free(&p);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* The T on slides and a hinge, the finger on slides. */
static void test_finger(const char *name, const char *mesh, double eps1)
{
  abut_cloud clouds[2] = {cloud_of(name, mesh, eps1, false), cloud_of(name, "finger", 0.0, false)};
  abut_npz all;
  char what[64];
  read_npz(name, "force", &all);
  const size_t count = find_array(&all, "q")->shape[0];
  pairs p = pairs_new(count, clouds);
  for (size_t i = 0; i < count; ++i) {
    const double *q = reals_of(&all, "q") + 5 * i, *v = reals_of(&all, "v") + 5 * i;
    const double at[3] = {q[0], q[1], 0.0}, turn[3] = {0.0, 0.0, q[2]};
    quaternion_pose(at, turn, p.pose1 + 7 * i);
    memcpy(p.pose2 + 7 * i, q + 3, 2 * sizeof *q);
    memcpy(p.twist1 + 6 * i, v, 2 * sizeof *v);
    p.twist1[6 * i + 5] = v[2];
    memcpy(p.twist2 + 6 * i, v + 3, 2 * sizeof *v);
  }
  pairs_put(&p);
  CHECK_OK(abut_spring_forces(context, &p.call));
  snprintf(what, sizeof what, "%s: Phi", mesh);
  expect(what, off(p.call.separation, reals_of(&all, "Phi"), 2 * p.points), 1e-12, 5e-7);
  expect_most(what, p.call.separation, reals_of(&all, "Phi"), 2 * p.points, 1e-7);
  snprintf(what, sizeof what, "%s: beta", mesh);
  expect(what, off(p.call.weights, reals_of(&all, "beta"), 2 * p.points), 1e-10, 1e-4);
  snprintf(what, sizeof what, "%s: distance", mesh);
  expect(what, off(p.call.distance, reals_of(&all, "distance"), count), 1e-12, 5e-7);
  test_wrenches(mesh, &p, reals_of(&all, "wrench"));
  pairs_free(&p);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  test_boxes();
  test_squares();
  test_spheres();
  test_profile();
  test_horseshoe();
  test_finger("spring-t26-finger", "t26", 1e-4);
  test_finger("spring-t4k-finger", "t4k", 0.0);
  return finish_context(context);
}
