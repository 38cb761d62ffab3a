/* Worlds of springs with free and ball joints, whose steps are composed here of abut_spring_forces'
 * wrenches and of a rigid body's closed form: test_spring_motion PRECISION SCENES
 *
 * Two links each with a body that is displaced and turned on it, with centres of mass of their own;
 * reactions at points and at planes' centres, dissipation of either kind. */
#include "spring/golden.h"
#include <abut/world.h>
#include <unistd.h>

enum { WORLDS = 40, NQ = 11, NV = 9 };

static const char *scenes;

/* ---- numbers ---- */

/* q is w, x, y, z. */
static void turn(const double q[4], const double a[3], double out[3])
{
  double t[3], u[3];
  cross(q + 1, a, t);
  for (int k = 0; k < 3; ++k) {
    t[k] = 2.0 * t[k];
  }
  cross(q + 1, t, u);
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] + q[0] * t[k] + u[k];
  }
}

static void turn_back(const double q[4], const double a[3], double out[3])
{
  const double back[4] = {q[0], -q[1], -q[2], -q[3]};
  turn(back, a, out);
}

static void product(const double a[4], const double b[4], double out[4])
{
  double v[3];
  cross(a + 1, b + 1, v);
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  for (int k = 0; k < 3; ++k) {
    out[1 + k] = a[0] * b[1 + k] + b[0] * a[1 + k] + v[k];
  }
}

static void add_cross(const double a[3], const double b[3], double factor, double out[3])
{
  double c[3];
  cross(a, b, c);
  for (int k = 0; k < 3; ++k) {
    out[k] += factor * c[k];
  }
}

static void times(double M[3][3], const double a[3], double out[3])
{
  for (int i = 0; i < 3; ++i) {
    out[i] = M[i][0] * a[0] + M[i][1] * a[1] + M[i][2] * a[2];
  }
}

/* By Cramer's rule. */
static void solve(double M[3][3], const double b[3], double out[3])
{
  double c[3][3];
  cross(M[1], M[2], c[0]);
  cross(M[2], M[0], c[1]);
  cross(M[0], M[1], c[2]);
  const double det = M[0][0] * c[0][0] + M[0][1] * c[0][1] + M[0][2] * c[0][2];
  for (int i = 0; i < 3; ++i) {
    out[i] = (c[0][i] * b[0] + c[1][i] * b[1] + c[2][i] * b[2]) / det;
  }
}

/* ---- the two links ---- */

static const double step = 0.002, gravity[3] = {0.5, -0.3, -9.81};

typedef struct body {
  const char *file;
  double mass, com[3], inertia[3][3]; /* about com, in the link */
  double position[3], quaternion[4];  /* of the cloud on the link */
} body;

static const body bodies[2] = {{"lower-brick",
                                1.3,
                                {0.03, -0.02, 0.05},
                                {{0.02, 1e-3, 0}, {1e-3, 0.03, 2e-3}, {0, 2e-3, 0.025}},
                                {0.02, -0.01, 0.03},
                                {0.96, 0, 0, 0.28}},
                               {"upper-brick",
                                0.7,
                                {-0.02, 0.01, 0.04},
                                {{0.006, 0, 5e-4}, {0, 0.008, 0}, {5e-4, 0, 0.007}},
                                {-0.03, 0.02, 0.01},
                                {0.8, 0, 0, -0.6}}};

static const double pivot[3] = {0.05, 0.02, 0.2093}; /* of the second link, where its joint is */

typedef struct placed {
  double origin[3], quaternion[4]; /* of the link */
  double speed[3], spin[3];        /* in the world */
  double pose[7], twist[6];        /* of the cloud */
} placed;

/* A free link, or one that turns about its pivot, `own` numbers of q and v. */
static placed place(int link, const double *q, const double *v)
{
  placed p = {.speed = {0.0}};
  double arm[3];
  memcpy(p.origin, link ? pivot : q, sizeof p.origin);
  memcpy(p.quaternion, link ? q : q + 3, sizeof p.quaternion);
  if (!link) {
    memcpy(p.speed, v, sizeof p.speed);
  }
  turn(p.quaternion, link ? v : v + 3, p.spin);
  turn(p.quaternion, bodies[link].position, arm);
  for (int k = 0; k < 3; ++k) {
    p.pose[k] = p.origin[k] + arm[k];
    p.twist[k] = p.speed[k];
    p.twist[3 + k] = p.spin[k];
  }
  product(p.quaternion, bodies[link].quaternion, p.pose + 3);
  add_cross(p.spin, arm, 1.0, p.twist);
  return p;
}

/* v' of a link that a wrench about its cloud's origin acts on. About a free link's centre of mass,
 * or a ball's pivot: J w' + w x J w = moment; the origin moves as the centre of mass less w' x c +
 * w x (w x c). */
static void move(int link, const placed *p, const double wrench[6], const double *v, double *out)
{
  const body *b = &bodies[link];
  double c[3], moment[3], local[3], J[3][3], Jw[3], spin[3], square = 0.0, alpha[3];
  turn(p->quaternion, b->com, c);
  for (int k = 0; k < 3; ++k) {
    moment[k] = wrench[3 + k];
    square += b->com[k] * b->com[k];
  }
  for (int i = 0; i < 3; ++i) {
    const double arm = p->pose[i] - p->origin[i] - (link ? 0.0 : c[i]);
    local[i] = arm;
    for (int k = 0; k < 3; ++k) {
      J[i][k] = b->inertia[i][k] +
                (link ? b->mass * ((i == k ? square : 0.0) - b->com[i] * b->com[k]) : 0.0);
    }
  }
  add_cross(local, wrench, 1.0, moment);
  if (link) {
    add_cross(c, gravity, b->mass, moment);
  }
  turn_back(p->quaternion, moment, local);
  turn_back(p->quaternion, p->spin, spin);
  times(J, spin, Jw);
  add_cross(spin, Jw, -1.0, local);
  solve(J, local, alpha);
  double *turned = link ? out : out + 3;
  for (int k = 0; k < 3; ++k) {
    turned[k] = (link ? v : v + 3)[k] + step * alpha[k];
  }
  if (!link) {
    double world[3], inner[3] = {0.0}, a[3];
    turn(p->quaternion, alpha, world);
    add_cross(p->spin, c, 1.0, inner);
    for (int k = 0; k < 3; ++k) {
      a[k] = wrench[k] / b->mass + gravity[k];
    }
    add_cross(world, c, -1.0, a);
    add_cross(p->spin, inner, -1.0, a);
    for (int k = 0; k < 3; ++k) {
      out[k] = v[k] + step * a[k];
    }
  }
}

/* ---- the scene, and its states ---- */

static void write_link(FILE *f, int link)
{
  const body *b = &bodies[link];
  fprintf(f, "{\"mass\": %g, \"com\": [%g, %g, %g], \"inertia\": [", b->mass, b->com[0], b->com[1],
          b->com[2]);
  for (int i = 0; i < 3; ++i) {
    fprintf(f, "%s[%g, %g, %g]", i ? ", " : "", b->inertia[i][0], b->inertia[i][1],
            b->inertia[i][2]);
  }
  fprintf(f,
          "], \"bodies\": [{\"file\": \"%s/%s.obj\", \"position\": [%g, %g, %g], \"quaternion\": "
          "[%g, %g, %g, %g]}], ",
          scenes, b->file, b->position[0], b->position[1], b->position[2], b->quaternion[0],
          b->quaternion[1], b->quaternion[2], b->quaternion[3]);
  if (link) {
    fprintf(f, "\"position\": [%g, %g, %g], \"joint\": {\"type\": \"ball\"}}", pivot[0], pivot[1],
            pivot[2]);
  } else {
    fprintf(f, "\"joint\": {\"type\": \"free\"}}");
  }
}

static abut_scene make_scene(const char *dissipation, const char *reaction)
{
  char path[64];
  abut_scene scene;
  snprintf(path, sizeof path, "motion-%ld.scene.json", (long)getpid());
  FILE *f = fopen(path, "w");
  REQUIRE(f != NULL);
  fprintf(f,
          "{\"contact_model\": \"spring\", \"clouds\": true, \"integrator\": \"euler\", "
          "\"timestep\": %g, \"gravity\": "
          "[%g, %g, %g], \"links\": [",
          step, gravity[0], gravity[1], gravity[2]);
  write_link(f, 0);
  fputs(", ", f);
  write_link(f, 1);
  fprintf(
    f,
    "], \"pairs\": [{\"a\": 0, \"b\": 1, \"contact\": {\"dissipation\": \"%s\", \"reaction\": "
    "\"%s\"}}]}",
    dissipation, reaction);
  REQUIRE(fclose(f) == 0);
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  remove(path);
  return scene;
}

/* In touch, more or less: the lower one's top is 0.13 high in its link, the upper one's bottom 0.07
 * low. */
static void make_states(double *q, double *v)
{
  uint64_t random = 9;
  for (size_t i = 0; i < WORLDS; ++i) {
    double *own = q + NQ * i, size[2] = {0.0};
    for (size_t k = 0; k < NQ; ++k) {
      own[k] = (k < 3 ? 1e-3 : 5e-3) * random_normal(&random) + (k == 3 || k == 7 ? 1.0 : 0.0);
      own[k] += k == 2 ? 0.0093 : 0.0;
    }
    for (size_t k = 3; k < NQ; ++k) {
      size[k > 6] += own[k] * own[k];
    }
    for (size_t k = 3; k < NQ; ++k) {
      own[k] /= sqrt(size[k > 6]);
    }
    for (size_t k = 0; k < NV; ++k) {
      v[NV * i + k] = 0.1 * random_normal(&random);
    }
  }
}

/* ---- steps beside each other ---- */

static void compose(const double *q, const double *v, const abut_cloud clouds[2], int dissipation,
                    int reaction, double *out)
{
  static placed at[2][WORLDS];
  pairs p = pairs_new(WORLDS, clouds);
  for (size_t i = 0; i < WORLDS; ++i) {
    for (int link = 0; link < 2; ++link) {
      at[link][i] = place(link, q + NQ * i + 7 * link, v + NV * i + 6 * link);
      memcpy((link ? p.pose2 : p.pose1) + 7 * i, at[link][i].pose, sizeof at[link][i].pose);
      memcpy((link ? p.twist2 : p.twist1) + 6 * i, at[link][i].twist, sizeof at[link][i].twist);
    }
  }
  pairs_put(&p);
  p.call.dissipation = dissipation;
  p.call.reaction = reaction;
  CHECK_OK(abut_spring_forces(context, &p.call));
  double most = 0.0, least = 1e9;
  for (size_t i = 0; i < WORLDS; ++i) {
    for (int link = 0; link < 2; ++link) {
      double wrench[6];
      for (size_t k = 0; k < 6; ++k) {
        wrench[k] = number(link ? p.call.wrench2 : p.call.wrench1, 6 * i + k);
      }
      most = fmax(most, fabs(wrench[2]));
      least = fmin(least, fabs(wrench[2]));
      move(link, &at[link][i], wrench, v + NV * i + 6 * link, out + NV * i + 6 * link);
    }
  }
  check(most > 5.0 && least < 1.0, "forces are between %g and %g N", least, most);
  pairs_free(&p);
}

static void test_law(int dissipation, int reaction)
{
  static const char *const kinds[] = {"c1", "smooth"}, *const reactions[] = {"point", "plane"};
  const abut_cloud clouds[2] = {cloud_of(".", bodies[0].file, 0.0, false),
                                cloud_of(".", bodies[1].file, 0.0, false)};
  double *q = doubles(NQ * WORLDS), *v = doubles(NV * WORLDS), *wanted = doubles(NV * WORLDS);
  make_states(q, v);
  void *in_q = to_reals(q, NQ * WORLDS, precision), *in_v = to_reals(v, NV * WORLDS, precision);
  abut_scene scene = make_scene(kinds[dissipation], reactions[reaction]);
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = in_q;
  w.v = in_v;
  w.v_next = room(NV * WORLDS);
  w.q_next = room(NQ * WORLDS);
  CHECK_OK(abut_step_worlds(scene, &w));
  for (size_t i = 0; i < NQ * WORLDS; ++i) { /* as they have been rounded */
    q[i] = number(in_q, i);
  }
  for (size_t i = 0; i < NV * WORLDS; ++i) {
    v[i] = number(in_v, i);
  }
  compose(q, v, clouds, dissipation, reaction, wanted);
  printf("%s, %s\n", kinds[dissipation], reactions[reaction]);
  expect("  velocities", off(w.v_next, wanted, NV * WORLDS), 1e-12, 5e-5);
  double worst = 0.0;
  for (size_t i = 0; i < WORLDS; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double d =
        fabs(number(w.q_next, NQ * i + k) - q[NQ * i + k] - step * wanted[NV * i + k]);
      worst = d <= worst ? worst : isfinite(d) ? d : 1e300;
    }
  }
  expect("  positions", worst, 1e-14, 1e-7);
  abut_destroy_scene(scene);
  for (int k = 0; k < 2; ++k) {
    abut_cloud c = clouds[k];
    abut_free_cloud(&c);
  }
  free(q);
  free(v);
  free(wanted);
  free(in_q);
  free(in_v);
  free(w.q_next);
  free(w.v_next);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = scenes = argv[2];
  context = require_context(precision);
  for (int i = 0; i < 4; ++i) {
    test_law(i % 2, i / 2);
  }
  return finish_context(context);
}
