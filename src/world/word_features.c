#include "world/word_features.h"

#include "base/error.h"
#include "base/memory.h"
#include <math.h>
#include <string.h>

#define HALF_CUBE 54.735610317245345 /* degrees between a cube's diagonal and its axes */
#define RIM 8                        /* vertices of a rim */
#define RIM_STEP 0.78539816339744831 /* 45 degrees [rad] */
#define RIM_VERTEX 67.5              /* degrees: 45, and half of what a rim turns by from vertex to vertex */
/* Degrees from the axis of an arc's cone, halfway between the end's normal and the side's at the arc's middle, to the
 * side's normal at an end of the arc: the arc cosine of cos(22.5 degrees) / sqrt(2). */
#define RIM_ARC 49.210529059074716

/* Rows of a definition in the making. */
typedef struct rows {
  double *vertices, *vertex_cones, *edge_cones;
  abut_feature_edge *edges;
} rows;

static abut_status make_room(size_t vertices, size_t edges, arena *memory, abut_body_def *out, rows *r)
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
      of_edge[k] = 0.0; /* The two faces are those across the other axes. */
      of_edge[3] = 45.0;
      to.edges[edge++] = (abut_feature_edge){.from = b, .to = b | 1u << k, .radius = round};
    }
  }
  return ABUT_SUCCESS;
}

/* Puts the arc from vertex i of a rim to vertex j, of which one follows the other. */
static void put_arc(rows *to, size_t edge, uint32_t rim, uint32_t i, uint32_t j, double z, double round)
{
  const bool onward = j == i + 1;
  const double middle = RIM_STEP * (onward ? i + 0.5 : j + 0.5);
  to->edges[edge] = (abut_feature_edge){.from = rim + i, .to = rim + j, .radius = round, .arc = true,
                                        .centre = {0.0, 0.0, z}, .axis = {0.0, 0.0, onward ? 1.0 : -1.0}};
  put(to->edge_cones + 4 * edge, cos(middle), sin(middle), z < 0.0 ? -1.0 : 1.0, RIM_ARC);
}

static abut_status make_cylinder(const double size[2], double round, arena *memory, abut_body_def *out)
{
  rows to;
  size_t edge = 0;
  TRY(make_room(2 * RIM, 2 * RIM, memory, out, &to));
  for (uint32_t rim = 0; rim < 2 * RIM; rim += RIM) {
    const double side = rim ? 1.0 : -1.0, z = side * (size[1] - round), radius = size[0] - round;
    for (uint32_t i = 0; i < RIM; ++i) {
      const double x = cos(RIM_STEP * i), y = sin(RIM_STEP * i);
      put(to.vertices + 4 * (rim + i), radius * x, radius * y, z, round);
      put(to.vertex_cones + 4 * (rim + i), x, y, side, RIM_VERTEX);
      if (i + 1 < RIM) {
        put_arc(&to, edge++, rim, i, i + 1, z, round);
      }
      if (i == 0) {
        put_arc(&to, edge++, rim, 0, RIM - 1, z, round);
      }
    }
  }
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
           : fail(ABUT_ERROR_BODY, "round is %g, neither 0 nor in [%g, %g)", round, ROUND_LEAST * least, least);
}

abut_status word_features_make(body_shape shape, const double size[3], double round, arena *memory, abut_body_def *out)
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
