/* Springs between two octahedra, near touch, and their gradients. */
#include "failures.h"

#include <abut/spring.h>
#include <math.h>
#include <string.h>

enum { FACES = 8, PAIRS = 37 };

static abut_status octahedron(double size, abut_cloud *out)
{
  static const uint32_t sizes[FACES] = {3, 3, 3, 3, 3, 3, 3, 3};
  static const uint32_t corners[3 * FACES] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                              2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
  double vertices[18] = {0};
  for (size_t i = 0; i < 6; ++i) {
    vertices[3 * i + i / 2] = i % 2 ? -size : size;
  }
  return abut_make_cloud(6, vertices, FACES, sizes, corners, 0.0, true, out);
}

typedef struct start {
  double pose1[7 * PAIRS], pose2[7 * PAIRS], twist1[6 * PAIRS], bar[6 * PAIRS];
} start;

static void fill(start *s)
{
  memset(s, 0, sizeof *s);
  for (size_t i = 0; i < PAIRS; ++i) {
    s->pose1[7 * i + 3] = s->pose2[7 * i + 3] = 1.0;
    s->pose1[7 * i + 4] = sin((double)i);
    s->pose2[7 * i] = 0.13 + 0.02 * cos(3.0 * (double)i);
    s->pose2[7 * i + 6] = cos((double)(i * i));
    for (size_t k = 6 * i; k < 6 * i + 6; ++k) {
      s->twist1[k] = 0.1 * sin(1.0 + (double)(k * k));
      s->bar[k] = cos(2.0 + (double)k);
    }
  }
}

static abut_status run(const world *w, const abut_cloud *clouds, answer *out)
{
  static start s;
  abut_spring p = abut_default_spring();
  abut_spring_gradients g = abut_default_spring_gradients();
  fill(&s);
  p.clouds = clouds;
  p.cloud_count = 2;
  p.count = PAIRS;
  p.pose1 = s.pose1;
  p.pose2 = s.pose2;
  p.twist1 = s.twist1;
  p.eps2 = 5e-3;
  p.eps3 = 2e-3;
  p.wrench1 = room(out, 6 * PAIRS, sizeof(double), 1e-9);
  p.distance = room(out, PAIRS, sizeof(double), 1e-12);
  p.width = 2 * FACES;
  p.weights = room(out, 2 * FACES * PAIRS, sizeof(double), 1e-10);
  g.wrench1 = s.bar;
  g.pose2 = room(out, 7 * PAIRS, sizeof(double), 1e-7);
  g.parameters = room(out, 6 * PAIRS, sizeof(double), 1e-7);
  const abut_status status = abut_spring_vjp(w->context, &p, &g);
  out->failures = p.failures;
  return status;
}

abut_status run_spring(const world *w, answer *out)
{
  abut_cloud clouds[2] = {0};
  start_answer(out);
  abut_status status = octahedron(0.1, &clouds[0]);
  if (status == ABUT_SUCCESS) {
    status = octahedron(0.07, &clouds[1]);
  }
  if (status == ABUT_SUCCESS) {
    status = run(w, clouds, out);
  }
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
  return status;
}
