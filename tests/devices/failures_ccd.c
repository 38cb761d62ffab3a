/* Collision in time of edges, and of the meshes of two bodies, with derivatives. */
#include "failures.h"

#include "core/scene.h"
#include <abut/ccd.h>
#include <math.h>
#include <string.h>

/* Edges that come near each other, on a grid, of which one row in three hits; one is none. */
static void fill_edges(double x0[12 * POSES], double x1[12 * POSES])
{
  uint64_t seed = 12;
  for (size_t i = 0; i < 12 * POSES; ++i) {
    x0[i] = floor(64.0 * random_uniform(&seed)) / 64.0 + (i % 12 == 2 || i % 12 == 5 ? 1.0 : 0.0);
    x1[i] = floor(64.0 * random_uniform(&seed)) / 64.0 - (i % 12 == 2 || i % 12 == 5 ? 0.5 : 0.0);
  }
  x1[12 * 9] = (double)NAN;
}

static abut_status ask(const world *w, answer *out, bool gradient)
{
  static double x0[12 * POSES], x1[12 * POSES];
  abut_ccd_queries q = abut_default_ccd_queries();
  start_answer(out);
  fill_edges(x0, x1);
  q.kind = ABUT_CCD_EDGE_EDGE;
  q.count = POSES;
  q.x0 = x0;
  q.x1 = x1;
  q.separation = 0.0625;
  q.toi = room(out, POSES, sizeof(double), 1e-9);
  q.status = room(out, POSES, 1, -1.0);
  q.n = room(out, 3 * POSES, sizeof(double), -1.0);
  q.d0 = room(out, POSES, sizeof(double), 1e-9);
  q.iterations = room(out, 2 * POSES, sizeof(uint32_t), -1.0);
  void *by_x0 = gradient ? room(out, 12 * POSES, sizeof(double), -1.0) : NULL;
  const abut_status status = gradient ? abut_ccd_queries_gradient(w->context, &q, by_x0, NULL)
                                      : abut_run_ccd_queries(w->context, &q);
  out->failures = q.failures;
  out->rejected = q.rejected;
  return status;
}

abut_status run_ccd_queries(const world *w, answer *out)
{
  return ask(w, out, false);
}

abut_status run_ccd_queries_gradient(const world *w, answer *out)
{
  return ask(w, out, true);
}

/* ---- meshes ---- */

static void fill_poses(double poses[4][7 * POSES])
{
  uint64_t seed = 13;
  for (size_t i = 0; i < POSES; ++i) {
    for (int k = 0; k < 4; ++k) {
      random_pose(&seed, 0.5, &poses[k][7 * i]);
      poses[k][7 * i] += k == 0 ? 2.0 : k == 1 ? -1.0 : 0.0;
    }
  }
  poses[2][7 * 9] = (double)NAN;
}

static abut_status fall(abut_ccd_mesh one, abut_ccd_mesh two, bool gradient, answer *out)
{
  static double poses[4][7 * POSES];
  abut_ccd_batch b = abut_default_ccd_batch();
  fill_poses(poses);
  b.count = POSES;
  b.from1 = poses[0];
  b.to1 = poses[1];
  b.from2 = poses[2];
  b.to2 = poses[3];
  b.toi = room(out, POSES, sizeof(double), 1e-7);
  b.status = room(out, POSES, 1, -1.0);
  b.kind = room(out, POSES, sizeof(int32_t), -1.0);
  b.p1 = room(out, 3 * POSES, sizeof(double), -1.0);
  b.candidates = room(out, POSES, sizeof(uint32_t), -1.0);
  const abut_ccd_gradients by = {.by1 = gradient ? room(out, 12 * POSES, sizeof(double), -1.0)
                                                 : NULL};
  const abut_status status = gradient ? abut_ccd_gradient(one, two, &b, &by)
                                      : abut_ccd(one, two, &b);
  out->failures = b.failures;
  out->rejected = b.rejected;
  return status;
}

static abut_status run_meshes(const world *w, answer *out, bool gradient)
{
  abut_ccd_mesh meshes[2];
  memset(meshes, 0, sizeof meshes);
  start_answer(out);
  abut_status status = abut_create_body_ccd_mesh(w->bodies[0], &meshes[0]);
  status = status == ABUT_SUCCESS ? abut_create_body_ccd_mesh(w->bodies[1], &meshes[1]) : status;
  status = status == ABUT_SUCCESS ? fall(meshes[0], meshes[1], gradient, out) : status;
  for (size_t i = 0; i < 2; ++i) {
    if (meshes[i].generation) {
      CHECK_OK(abut_destroy_ccd_mesh(meshes[i]));
    }
  }
  return status;
}

abut_status run_ccd(const world *w, answer *out)
{
  return run_meshes(w, out, false);
}

abut_status run_ccd_gradient(const world *w, answer *out)
{
  return run_meshes(w, out, true);
}
