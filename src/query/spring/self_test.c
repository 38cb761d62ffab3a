/* Self-tests of springs: two pairs of rotated cubes, in contact and moving.
 * The expected results are from the reference implementation of the contact model, in float64. */
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/spring.h>

enum { KNOWN = 2, PAIRS = 19, POINTS = 6, ROOM = PAIRS * 256 };

static double normals[3 * POINTS] = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1};
static double points1[3 * POINTS] = {0.05,  0, 0, 0, 0.05,  0, 0, 0, 0.05,
                                     -0.05, 0, 0, 0, -0.05, 0, 0, 0, -0.05};
static double points2[3 * POINTS] = {0.04,  0, 0, 0, 0.04,  0, 0, 0, 0.04,
                                     -0.04, 0, 0, 0, -0.04, 0, 0, 0, -0.04};
static double log_weights[POINTS] = {0, 0.25, 0, 0, -0.5, 0};
static double eps1[POINTS] = {1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3, 1.25e-3};
static double eps2[POINTS] = {8e-4, 8e-4, 8e-4, 8e-4, 8e-4, 8e-4};

static const double pose1[KNOWN * 7] = {0.1,  0.2, 0.3,  1,   0,   0,    0,
                                        -0.1, 0,   0.05, 0.8, 0.1, -0.2, 0.5};
static const double pose2[KNOWN * 7] = {0.102, 0.201, 0.388, 0.9, 0.05, 0.02, 0.3,
                                        -0.1,  0.088, 0.06,  0.7, 0.3,  0.1,  -0.6};
static const double twist1[KNOWN * 6] = {0.02, -0.03, 0.01, 0.5, 0.1,  -0.2,
                                         0,    0.05,  0.02, 0.1, -0.3, 0.2};
static const double twist2[KNOWN * 6] = {0.01, 0.02,  -0.05, -0.3, 0.2, 0.1,
                                         0.03, -0.02, 0.01,  0.2,  0.2, -0.4};

static const double wrenches1[KNOWN * 6] = {-7.166691360695573,   15.152465504043462,
                                            -25.382584779510818,  -0.8051167808470723,
                                            -0.36462801528186783, 0.0090999617255552,
                                            17.28655413710643,    -65.72668385641012,
                                            -0.9629746727537849,  -0.497873968601738,
                                            -0.0293141276303034,  -1.5525922732151791};
static const double wrenches2[KNOWN * 6] = {7.166691360695573,   -15.152465504043462,
                                            25.382584779510818,  -0.5536827682882635,
                                            -0.2152756549003212, 0.028371660643226715,
                                            -17.28655413710643,  65.72668385641012,
                                            0.9629746727537849,  1.070399035963506,
                                            0.20217966900136763, 0.031375509149812686};
static const double distances[KNOWN] = {-0.005412759064487905, -0.010871045855468754};

static void put_pairs(self_test *t, abut_spring *s)
{
  s->count = PAIRS;
  s->eps2 = 5e-3;
  s->eps3 = 2e-3;
  s->pose1 = self_test_put(t, pose1, PAIRS * 7, KNOWN * 7);
  s->pose2 = self_test_put(t, pose2, PAIRS * 7, KNOWN * 7);
  s->twist1 = self_test_put(t, twist1, PAIRS * 6, KNOWN * 6);
  s->twist2 = self_test_put(t, twist2, PAIRS * 6, KNOWN * 6);
}

static abut_status test_forces(self_test *t, abut_spring *s)
{
  static const answer answers[] = {
    {"wrenches of springs on the first body", wrenches1, 1, 6, {2e-4, 1e-10}, true},
    {"wrenches of springs on the second body", wrenches2, 1, 6, {2e-4, 1e-10}, true},
    {"distances of springs", distances, 1, 1, {5e-7, 1e-12}, false}};
  s->wrench1 = self_test_room(t, PAIRS * 6);
  s->wrench2 = self_test_room(t, PAIRS * 6);
  s->distance = self_test_room(t, PAIRS);
  TRY(abut_spring_forces(self_test_context(t), s));
  TRY(self_test_compare(t, &answers[0], s->wrench1, PAIRS, KNOWN));
  TRY(self_test_compare(t, &answers[1], s->wrench2, PAIRS, KNOWN));
  return self_test_compare(t, &answers[2], s->distance, PAIRS, KNOWN);
}

/* Gradients of the sum of wrenches and distances with these cotangents. */
static const double wrench1_bar[6] = {0.3, -0.2, 0.5, 1, -2, 0.7}, distance_bar[1] = {30};
static const double wrench2_bar[6] = {-0.4, 0.1, 0.6, 0.5, 1.5, -0.8};
static const double pose1_bars[KNOWN * 7] = {319.5897550716436,   -86.46833258286053,
                                             -1471.4269253435718, 0,
                                             0.7413795843375652,  18.772443667653675,
                                             2.401556876179927,   1418.8563058961151,
                                             2041.4355960992712,  460.82296606672185,
                                             4.363345185369795,   34.63003906360501,
                                             -86.92891545523338,  -48.67892629140596};
static const double pose2_bars[KNOWN * 7] = {-319.58975507164365,  86.46833258286051,
                                             1471.4269253435718,   -0.82168803898862,
                                             4.628098287399971,    27.08375925924789,
                                             -0.11186954821732886, -1418.8563058961151,
                                             -2041.435596099272,   -460.82296606672196,
                                             -93.39910706245979,   -56.72744752412464,
                                             0.5806603282378808,   -137.2325719468924};
static const double twist1_bars[KNOWN * 6] = {-156.59703337713728,  10.681390416599545,
                                              -1.176898996065077,   -0.5060599422151562,
                                              -7.687265740863451,   0.34998214014241746,
                                              -218.94772811946726,  78.94706992719668,
                                              -14.072497785006988,  0.2869302090650585,
                                              0.026307419211995864, 11.603656581706712};
static const double twist2_bars[KNOWN * 6] = {156.59703337713728, -10.681390416599545,
                                              1.176898996065077,  -0.43507931344166906,
                                              -6.090919398332499, -0.1720223259320841,
                                              218.94772811946726, -78.94706992719668,
                                              14.072497785006988, -2.3147807134176404,
                                              -2.215784700406669, 7.663743492806407};
static const double parameter_bars[KNOWN * 6] = {-0.0015432216195667013, -13.830310911708818,
                                                 42.13896426404159,      15.337265941071069,
                                                 -9.264226281815718,     -956.0494870225059,
                                                 0.006240439765949027,   31.72228914386431,
                                                 -96.68570447788704,     -65.53529444458377,
                                                 -836.3290404791139,     483.1858418277807};

static abut_status test_gradients(self_test *t, abut_spring *s)
{
  static const answer answers[] = {
    {"slopes of springs by the first pose", pose1_bars, 1, 7, {2e-3, 1e-9}, true},
    {"slopes of springs by the second pose", pose2_bars, 1, 7, {2e-3, 1e-9}, true},
    {"slopes of springs by the first twist", twist1_bars, 1, 6, {2e-3, 1e-9}, true},
    {"slopes of springs by the second twist", twist2_bars, 1, 6, {2e-3, 1e-9}, true},
    {"slopes of springs by parameters", parameter_bars, 1, 6, {2e-3, 1e-9}, true}};
  abut_spring_gradients g = abut_default_spring_gradients();
  g.wrench1 = self_test_put(t, wrench1_bar, PAIRS * 6, 6);
  g.wrench2 = self_test_put(t, wrench2_bar, PAIRS * 6, 6);
  g.distance = self_test_put(t, distance_bar, PAIRS, 1);
  g.pose1 = self_test_room(t, PAIRS * 7);
  g.pose2 = self_test_room(t, PAIRS * 7);
  g.twist1 = self_test_room(t, PAIRS * 6);
  g.twist2 = self_test_room(t, PAIRS * 6);
  g.parameters = self_test_room(t, PAIRS * 6);
  TRY(abut_spring_vjp(self_test_context(t), s, &g));
  TRY(self_test_compare(t, &answers[0], g.pose1, PAIRS, KNOWN));
  TRY(self_test_compare(t, &answers[1], g.pose2, PAIRS, KNOWN));
  TRY(self_test_compare(t, &answers[2], g.twist1, PAIRS, KNOWN));
  TRY(self_test_compare(t, &answers[3], g.twist2, PAIRS, KNOWN));
  return self_test_compare(t, &answers[4], g.parameters, PAIRS, KNOWN);
}

#include "query/spring/self_test_second.inl"

static abut_status test_second(self_test *t, abut_spring *s)
{
  static const double direction[12] = {0.01, -0.02, 0.015, 0.3, 0.2,  -0.1,
                                       0.05, -0.1,  0.08,  1,   -0.5, 0.7};
  static const answer answers[] = {
    {"second derivatives of springs", second_answers, 1, 126, {5e-3, 1e-9}, true}};
  abut_spring_gradients g = abut_default_spring_gradients();
  g.direction = self_test_put(t, direction, PAIRS * 12, 12);
  g.jacobian_along = self_test_room(t, PAIRS * 126);
  TRY(abut_spring_vjp(self_test_context(t), s, &g));
  return self_test_compare(t, &answers[0], g.jacobian_along, PAIRS, KNOWN);
}

static abut_status test_of(context *one, abut_status (*of)(self_test *, abut_spring *))
{
  const abut_cloud clouds[2] = {{.count = POINTS,
                                 .points = points1,
                                 .normals = normals,
                                 .log_weights = log_weights,
                                 .eps1 = eps1},
                                {.count = POINTS,
                                 .points = points2,
                                 .normals = normals,
                                 .log_weights = log_weights,
                                 .eps1 = eps2}};
  abut_spring s = abut_default_spring();
  self_test t;
  s.clouds = clouds;
  s.cloud_count = 2;
  TRY(self_test_open(&t, one, ROOM));
  put_pairs(&t, &s);
  const abut_status status = of(&t, &s);
  self_test_close(&t);
  return status;
}

/* ---- long loops ---- */

/* With this many points, the loops of a work-item exceed 65535 iterations, the limit of Mesa's
 * llvmpipe (22.3) for all loops of a kernel together. The planes of half of the points have the
 * distance z, and those of the others x. */
enum { MANY = 40000 };

static abut_status test_many_of(self_test *t, const abut_cloud *cloud)
{
  static const double place[3] = {0.5, 0, 0.25}, phi[1] = {0.375};
  static const answer answers[] = {{"the field of many points", phi, 1, 1, {1e-5, 1e-12}, false}};
  const void *at = self_test_put(t, place, 3, 3);
  void *got = self_test_room(t, 1);
  TRY(abut_evaluate_cloud(self_test_context(t), cloud, 1, at, got, NULL));
  return self_test_compare(t, &answers[0], got, 1, 1);
}

static abut_status test_many(context *one)
{
  void *memory = NULL;
  abut_cloud cloud;
  self_test t;
  TRY(allocate(&memory, 7 * MANY, sizeof(double)));
  double *points = memory;
  for (size_t i = 0; i < MANY; ++i) {
    points[7 * i + (i < MANY / 2 ? 5 : 3)] = 1.0;
    points[7 * i + 6] = 1.0;
  }
  abut_status status = abut_make_cloud_of_points(MANY, points, &cloud);
  free(memory);
  TRY(status);
  status = self_test_open(&t, one, 8);
  if (status == ABUT_SUCCESS) {
    status = test_many_of(&t, &cloud);
    self_test_close(&t);
  }
  abut_free_cloud(&cloud);
  return status;
}

static abut_status test_plain(context *one)
{
  TRY(test_of(one, test_forces));
  return test_many(one);
}

static abut_status test_adjoints(context *one)
{
  return test_of(one, test_gradients);
}

static abut_status test_dual(context *one)
{
  return test_of(one, test_second);
}

const module_self_tests spring_self_tests = {{{test_plain, test_adjoints, test_dual, test_dual}}};
