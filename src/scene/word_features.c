#include "scene/word_features.h"

#include "base/error.h"
#include "base/memory.h"
#include "scene/body_shapes.h"
#include <math.h>
#include <string.h>

#define HALF_CUBE 54.735610317245345 /* degrees between a cube's diagonal and its axes */
/* Rows of a definition under construction. */
typedef struct rows {
  double *vertices, *vertex_cones, *edge_cones;
  abut_feature_edge *edges;
} rows;

static abut_status make_room(size_t vertices, size_t edges, arena *memory, abut_body_def *out,
                             rows *r)
{
  void *room;
  TRY(arena_allocate(memory, &room, vertices, 4 * sizeof(double)));
  out->feature_vertices = r->vertices = room;
  TRY(arena_allocate(memory, &room, vertices, 4 * sizeof(double)));
  out->vertex_cones = r->vertex_cones = room;
  TRY(arena_allocate(memory, &room, edges, sizeof *r->edges));
  out->feature_edges = r->edges = room;
  TRY(arena_allocate(memory, &room, edges, 4 * sizeof(double)));
  out->edge_cones = r->edge_cones = room;
  out->states_features = true;
  out->cones = ABUT_CONES_GIVEN;
  out->feature_vertex_count = out->vertex_cone_count = vertices;
  out->feature_edge_count = out->edge_cone_count = edges;
  out->edge_cone_ends = NULL;
  return ABUT_SUCCESS;
}

static void put(double *row, double x, double y, double z, double last)
{
  row[0] = x;
  row[1] = y;
  row[2] = z;
  row[3] = last;
}

static abut_status make_sphere(double r, arena *memory, abut_body_def *out)
{
  rows to;
  TRY(make_room(1, 0, memory, out, &to));
  put(to.vertices, 0.0, 0.0, 0.0, r);
  put(to.vertex_cones, 0.0, 0.0, 1.0, 180.0);
  return ABUT_SUCCESS;
}

static abut_status make_capsule(double r, double h, arena *memory, abut_body_def *out)
{
  rows to;
  TRY(make_room(2, 1, memory, out, &to));
  for (int i = 0; i < 2; ++i) {
    const double side = i ? 1.0 : -1.0;
    put(to.vertices + 4 * i, 0.0, 0.0, side * h, r);
    put(to.vertex_cones + 4 * i, 0.0, 0.0, side, 90.0);
  }
  to.edges[0] = (abut_feature_edge){.from = 0, .to = 1, .radius = r};
  put(to.edge_cones, 0.0, 0.0, 1.0, 180.0);
  return ABUT_SUCCESS;
}

static double sign_of(uint32_t corner, uint32_t axis)
{
  return corner >> axis & 1u ? 1.0 : -1.0;
}

static abut_status make_box(const double half[3], double round, arena *memory, abut_body_def *out)
{
  rows to;
  size_t edge = 0;
  TRY(make_room(8, 12, memory, out, &to));
  for (uint32_t b = 0; b < 8; ++b) {
    double *v = to.vertices + 4 * b, *cone = to.vertex_cones + 4 * b;
    for (uint32_t k = 0; k < 3; ++k) {
      v[k] = sign_of(b, k) * (half[k] - round);
      cone[k] = sign_of(b, k);
    }
    v[3] = round;
    cone[3] = HALF_CUBE;
    for (uint32_t k = 0; k < 3; ++k) {
      if (b >> k & 1u) {
        continue;
      }
      double *of_edge = to.edge_cones + 4 * edge;
      memcpy(of_edge, cone, 3 * sizeof *of_edge);
      of_edge[k] = 0.0; /* The edge is between the faces normal to the other axes. */
      of_edge[3] = 45.0;
      to.edges[edge++] = (abut_feature_edge){.from = b, .to = b | 1u << k, .radius = round};
    }
  }
  return ABUT_SUCCESS;
}

#define SHORT_CORE 0.02 /* of the radius: a shorter core is a ball */

/* The contact features of a cylinder's side between its rims: balls inside the cylinder, which do
 * not extend beyond the body. In a long cylinder they form a capsule. In a flat one they form a
 * ring about the axis. */
static abut_status make_core(const double size[2], arena *memory, abut_body_def *out,
                             abut_feature_circle *ring)
{
  const double longer = size[1] - size[0];
  const bool is_ball = fabs(longer) <= SHORT_CORE * size[0], is_ring = longer < 0.0 && !is_ball;
  const size_t ends = is_ring ? 0 : is_ball ? 1 : 2;
  rows to;
  TRY(make_room(ends, ends == 2, memory, out, &to));
  for (size_t i = 0; i < ends; ++i) {
    put(to.vertices + 4 * i, 0.0, 0.0,
        is_ball ? 0.0
        : i     ? longer
                : -longer,
        fmin(size[0], size[1]));
    put(to.vertex_cones + 4 * i, 0.0, 0.0, 1.0, 180.0);
  }
  if (ends == 2) {
    to.edges[0] = (abut_feature_edge){.from = 0, .to = 1, .radius = size[0]};
    put(to.edge_cones, 0.0, 0.0, 1.0, 180.0);
  }
  if (is_ring) {
    *ring = (abut_feature_circle){.axis = {0.0, 0.0, 1.0}, .size = -longer, .radius = size[1]};
  }
  out->feature_circle_count = is_ring;
  return ABUT_SUCCESS;
}

/* The rims have the rounding of the field, so that a cylinder that is flush on an equal one finds
 * the face and not the side. */
static abut_status make_cylinder(const double size[2], double round, arena *memory,
                                 abut_body_def *out)
{
  void *room;
  TRY(arena_allocate(memory, &room, 3, sizeof(abut_feature_circle)));
  abut_feature_circle *circles = room;
  const double own = round > 0.0 ? round : SHAPE_SHARP * fmin(size[0], size[1]);
  TRY(make_core(size, memory, out, &circles[2]));
  for (int i = 0; i < 2; ++i) {
    const double side = i ? 1.0 : -1.0;
    circles[i] = (abut_feature_circle){.centre = {0.0, 0.0, side * (size[1] - own)},
                                       .axis = {0.0, 0.0, 1.0},
                                       .size = size[0] - own,
                                       .radius = own};
  }
  out->feature_circles = circles;
  out->feature_circle_count += 2;
  return ABUT_SUCCESS;
}

static abut_status check_round(body_shape shape, const double size[3], double round)
{
  double least = size[0];
  for (size_t k = 1; k < body_shape_sizes[shape]; ++k) {
    least = fmin(least, size[k]);
  }
  if (round == 0.0) {
    return ABUT_SUCCESS;
  }
  if (shape != SHAPE_BOX && shape != SHAPE_CYLINDER) {
    return fail(ABUT_ERROR_BODY, "a shape \"%s\" has no corners to round", body_shape_words[shape]);
  }
  return round >= ROUND_LEAST * least && round < least
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "round is %g; it must be 0 or in [%g, %g)", round,
                  ROUND_LEAST * least, least);
}

abut_status word_features_make(body_shape shape, const double size[3], double round, arena *memory,
                               abut_body_def *out)
{
  rows unused;
  TRY(check_round(shape, size, round));
  switch (shape) {
  case SHAPE_SPHERE:
    return make_sphere(size[0], memory, out);
  case SHAPE_CAPSULE:
    return make_capsule(size[0], size[1], memory, out);
  case SHAPE_BOX:
    return make_box(size, round, memory, out);
  case SHAPE_CYLINDER:
    return make_cylinder(size, round, memory, out);
  case SHAPE_PLANE:
    return make_room(0, 0, memory, out, &unused);
  default:
    return ABUT_SUCCESS;
  }
}
