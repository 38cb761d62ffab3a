#include "pair/random_poses.h"
#include "core/random.h"

#include <math.h>
#include <stdlib.h>

#define SEED 0x9e3779b97f4a7c15u
/* The second body is moved towards the first, or away, by up to this share of the diagonal. */
#define DEPTH 0.05

static void unit_vector(uint64_t *state, int size, double *out)
{
  double square = 0.0;
  for (int i = 0; i < size; ++i) {
    out[i] = random_normal(state);
    square += out[i] * out[i];
  }
  for (int i = 0; i < size; ++i) {
    out[i] /= sqrt(square);
  }
}

/* Rotates u into the frame of a body rotated by q: q^-1 u q. */
static void turn_back(const double q[4], const double u[3], double out[3])
{
  const double w = q[0], *v = q + 1;
  const double c[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
  const double dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  for (int i = 0; i < 3; ++i) {
    out[i] = (w * w - square) * u[i] + 2.0 * dot * v[i] + 2.0 * w * c[i];
  }
}

/* Returns how far the mesh, rotated by q, extends along sign * u. */
static double reach(const double *vertices, size_t count, const double q[4], const double u[3],
                    double sign)
{
  double direction[3], farthest = -INFINITY;
  turn_back(q, u, direction);
  for (size_t i = 0; i < count; ++i) {
    const double *v = vertices + 3 * i;
    const double along = v[0] * direction[0] + v[1] * direction[1] + v[2] * direction[2];
    farthest = sign * along > farthest ? sign * along : farthest;
  }
  return farthest;
}

static exit_code copy_mesh(abut_body body, abut_body_info *info, double **vertices)
{
  CLI_TRY(report_status(abut_get_body_info(body, info)));
  *vertices = calloc(info->vertices ? info->vertices : 1, 3 * sizeof **vertices);
  return *vertices ? report_status(abut_get_body_mesh(body, *vertices, NULL))
                   : report(EXIT_RUN, "no memory for %zu vertices", info->vertices);
}

/* `apart`: as in random_poses. */
static void place(const abut_body_info info[2], double *const vertices[2], double apart,
                  uint64_t *state, double pose[2][7])
{
  const double size = fmin(info[0].diagonal, info[1].diagonal);
  double u[3];
  unit_vector(state, 3, u);
  unit_vector(state, 4, pose[0] + 3);
  unit_vector(state, 4, pose[1] + 3);
  const double depth = DEPTH * (2.0 * random_uniform(state) - 1.0);
  const double distance = reach(vertices[0], info[0].vertices, pose[0] + 3, u, 1.0) +
                          reach(vertices[1], info[1].vertices, pose[1] + 3, u, -1.0) +
                          size * (apart == RANDOM_APART ? -depth : apart);
  for (int i = 0; i < 3; ++i) {
    pose[0][i] = 0.0;
    pose[1][i] = distance * u[i];
  }
}

exit_code random_poses(const abut_body bodies[2], size_t count, double apart, abut_poses *out)
{
  abut_body_info info[2];
  double *vertices[2] = {NULL, NULL};
  uint64_t state = SEED;
  exit_code code = EXIT_GOOD;
  *out = (abut_poses){count,
                      ABUT_POSE_QUATERNION,
                      calloc(count, 7 * sizeof(double)),
                      calloc(count, 7 * sizeof(double)),
                      NULL,
                      NULL};
  if (!out->pose1 || !out->pose2) {
    code = report(EXIT_RUN, "no memory for %zu poses", count);
    goto done;
  }
  CLI_TRY_DONE(copy_mesh(bodies[0], &info[0], &vertices[0]));
  CLI_TRY_DONE(copy_mesh(bodies[1], &info[1], &vertices[1]));
  for (size_t i = 0; i < count; ++i) {
    double pose[2][7];
    place(info, vertices, apart, &state, pose);
    for (int j = 0; j < 7; ++j) {
      out->pose1[7 * i + (size_t)j] = pose[0][j];
      out->pose2[7 * i + (size_t)j] = pose[1][j];
    }
  }
done:
  free(vertices[0]);
  free(vertices[1]);
  return code;
}
