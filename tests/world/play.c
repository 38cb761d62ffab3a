#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *zeros(size_t count, abut_precision precision)
{
  void *out = calloc(count + 1, real_size(precision));
  REQUIRE(out != NULL);
  return out;
}

void play_open(play *p, abut_context context, abut_precision precision, const char *path,
               size_t worlds)
{
  *p = (play){.precision = precision, .worlds = worlds};
  REQUIRE_OK(abut_load_scene(context, path, &p->scene));
  REQUIRE_OK(abut_get_scene_info(p->scene, &p->info));
  const size_t nq = p->info.nq, nv = p->info.nv;
  double *start = calloc(nq + 1, sizeof *start);
  REQUIRE(start != NULL);
  REQUIRE_OK(abut_get_scene_start(p->scene, start));
  p->q = zeros(worlds * nq, precision);
  p->v = zeros(worlds * nv, precision);
  p->w = zeros(worlds * nv, precision);
  p->mass = zeros(worlds * nv * nv, precision);
  p->status = calloc(worlds, sizeof *p->status);
  p->fast_links = calloc(2 * worlds, sizeof *p->fast_links);
  REQUIRE(p->status != NULL && p->fast_links != NULL);
  for (size_t i = 0; i < worlds * nq; ++i) {
    real_put(p->q, precision, i, start[i % nq]);
  }
  free(start);
}

void play_open_text(play *p, abut_context context, abut_precision precision, const char *text,
                    size_t worlds)
{
  char path[64];
  snprintf(path, sizeof path, "play-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  play_open(p, context, precision, path, worlds);
  remove(path);
}

abut_scene play_keep_scene(play *p)
{
  free(p->q);
  free(p->v);
  free(p->w);
  free(p->mass);
  free(p->status);
  free(p->fast_links);
  free(p->friction);
  free(p->gravity);
  return p->scene;
}

void play_close(play *p)
{
  CHECK_OK(abut_destroy_scene(play_keep_scene(p)));
}

abut_context play_context(abut_precision precision, uint64_t scratch)
{
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  abut_context_def def = abut_default_context_def();
  abut_context context;
  REQUIRE_OK(abut_find_device(wanted && *wanted ? wanted : "host", &def.device));
  def.precision = precision;
  def.fallback = ABUT_FALLBACK_NONE;
  def.scratch_bytes = scratch;
  REQUIRE_OK(abut_create_context(&def, &context));
  return context;
}

static abut_worlds call_of(const play *p)
{
  abut_worlds w = abut_default_worlds();
  w.count = p->worlds;
  w.q = p->q;
  w.v = p->v;
  w.w = p->w;
  w.friction = p->friction;
  w.gravity = p->gravity;
  return w;
}

void play_step(play *p, size_t steps)
{
  abut_worlds w = call_of(p);
  uint32_t *status = calloc(p->worlds, sizeof *status);
  w.steps = steps;
  w.q_next = p->q;
  w.v_next = p->v;
  w.w_next = p->w;
  w.status = status;
  w.fast_links = p->fast_links;
  if (steps) {
    REQUIRE_OK(abut_step_worlds(p->scene, &w));
  }
  for (size_t i = 0; i < p->worlds; ++i) {
    p->status[i] |= status[i];
  }
  p->time += (double)steps * p->info.timestep;
  free(status);
}

void play_for(play *p, double seconds)
{
  play_step(p, (size_t)floor(seconds / p->info.timestep + 0.5));
}

double play_q(const play *p, size_t world, size_t i)
{
  return real_at(p->q, p->precision, world * p->info.nq + i);
}

double play_v(const play *p, size_t world, size_t i)
{
  return real_at(p->v, p->precision, world * p->info.nv + i);
}

void play_set_q(play *p, size_t world, size_t i, double value)
{
  real_put(p->q, p->precision, world * p->info.nq + i, value);
}

void play_set_v(play *p, size_t world, size_t i, double value)
{
  real_put(p->v, p->precision, world * p->info.nv + i, value);
}

void play_set_gravity(play *p, size_t world, const double g[3])
{
  p->gravity = p->gravity ? p->gravity : zeros(3 * p->worlds, p->precision);
  for (size_t i = 0; i < 3; ++i) {
    real_put(p->gravity, p->precision, 3 * world + i, g[i]);
  }
}

void play_set_friction(play *p, size_t world, double friction)
{
  const size_t pairs = p->info.pairs;
  p->friction = p->friction ? p->friction : zeros(pairs * p->worlds, p->precision);
  for (size_t i = 0; i < pairs; ++i) {
    real_put(p->friction, p->precision, pairs * world + i, friction);
  }
}

/* ---- what the test says of them ---- */

/* The states stay as they are. */
void play_weigh(play *p)
{
  abut_worlds w = call_of(p);
  w.mass = p->mass;
  REQUIRE_OK(abut_step_worlds(p->scene, &w));
}

/* An entry of a world's mass matrix, of which the lower triangle is given. */
static double mass_at(const play *p, size_t world, size_t i, size_t k)
{
  const size_t nv = p->info.nv, row = i > k ? i : k, column = i > k ? k : i;
  return real_at(p->mass, p->precision, (world * nv + row) * nv + column);
}

static void rotation(const play *p, size_t world, size_t free_link, double r[3][3])
{
  double q[4], length = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    q[i] = play_q(p, world, 7 * free_link + 3 + i);
    length += q[i] * q[i];
  }
  const double w = q[0], x = q[1], y = q[2], z = q[3], s = 2.0 / length;
  const double all[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                            {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                            {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
  memcpy(r, all, sizeof all);
}

static void turn(double r[3][3], const double a[3], double out[3])
{
  for (int i = 0; i < 3; ++i) {
    out[i] = r[i][0] * a[0] + r[i][1] * a[1] + r[i][2] * a[2];
  }
}

static void add_cross(const double a[3], const double b[3], double out[3])
{
  for (int i = 0; i < 3; ++i) {
    out[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  }
}

/* M of a free link is ((m, -m R [c]), (., J)) in link axes [c] the cross product with the centre of
 * mass: m c is read from R' of its corner. M v is the momentum, angular about the link's origin. */
link_state play_link(const play *p, size_t world, size_t free_link)
{
  const size_t at = 6 * free_link;
  link_state s = {.mass = mass_at(p, world, at, at)};
  double r[3][3], about[3], corner[3][3], c[3], origin[3];
  rotation(p, world, free_link, r);
  for (size_t i = 0; i < 3; ++i) {
    origin[i] = play_q(p, world, 7 * free_link + i);
    about[i] = s.linear[i] = 0.0;
    for (size_t k = 0; k < p->info.nv; ++k) {
      s.linear[i] += mass_at(p, world, at + i, k) * play_v(p, world, k);
      about[i] += mass_at(p, world, at + 3 + i, k) * play_v(p, world, k);
    }
    for (size_t k = 0; k < 3; ++k) { /* R' of the corner, by its transpose below the diagonal */
      corner[i][k] = 0.0;
      for (size_t l = 0; l < 3; ++l) {
        corner[i][k] -= r[l][i] * mass_at(p, world, at + l, at + 3 + k) / s.mass;
      }
    }
  }
  const double offset[3] = {corner[2][1], corner[0][2], corner[1][0]};
  turn(r, offset, c);
  turn(r, about, s.angular);
  add_cross(origin, s.linear, s.angular);
  for (int i = 0; i < 3; ++i) {
    s.com[i] = origin[i] + c[i];
  }
  return s;
}

double play_kinetic(const play *p, size_t world)
{
  double sum = 0.0;
  for (size_t i = 0; i < p->info.nv; ++i) {
    for (size_t k = 0; k < p->info.nv; ++k) {
      sum += 0.5 * play_v(p, world, i) * mass_at(p, world, i, k) * play_v(p, world, k);
    }
  }
  return sum;
}

double play_potential(const play *p, size_t world, const double gravity[3])
{
  double sum = 0.0;
  for (size_t i = 0; i < p->info.nv / 6; ++i) {
    const link_state s = play_link(p, world, i);
    for (int k = 0; k < 3; ++k) {
      sum -= s.mass * gravity[k] * s.com[k];
    }
  }
  return sum;
}

double play_fastest(const play *p, size_t world, bool angular)
{
  double most = 0.0;
  for (size_t i = 0; i < p->info.nv / 6; ++i) {
    double square = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      const double v = play_v(p, world, 6 * i + 3 * angular + k);
      square += v * v;
    }
    most = fmax(most, sqrt(square));
  }
  return most;
}

double play_turned(const play *p, size_t world, size_t free_link, const double from[4])
{
  double q[4], vector[3] = {0.0};
  for (size_t i = 0; i < 4; ++i) {
    q[i] = play_q(p, world, 7 * free_link + 3 + i);
  }
  add_cross(&q[1], &from[1], vector);
  double sine = 0.0, cosine = q[0] * from[0];
  for (int i = 0; i < 3; ++i) {
    const double x = vector[i] + from[0] * q[1 + i] - q[0] * from[1 + i];
    sine += x * x;
    cosine += q[1 + i] * from[1 + i];
  }
  return 2.0 * atan2(sqrt(sine), fabs(cosine));
}

bool play_line(const char *what, double value, double limit)
{
  printf("  %-64s %10.3g of %.3g\n", what, value, limit);
  return check(value <= limit, "%s: %g of %g", what, value, limit); /* a NaN fails */
}
