#include "world/body_shapes.h"

#include "base/error.h"
#include "base/limits.h"
#include "family/height_mesh.h"
#include "surface/spline.h"
#include "world/shape_mesh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define CAP_RINGS 8        /* of each end of a capsule */
/* How many cells the rings of a straight side make along it, at least, and at most with few and many
 * points. */
#define SIDE_CELLS_LEAST 2
#define FEW_CELLS_MOST 16
#define MANY_CELLS_MOST 24
/* A grid has MARGIN nodes around the shape, since points beyond it are clipped to its border, where the
 * shape must be far. It has CELLS_MOST cells along the shape's shorter half length or, where a slender
 * shape would need more than NODES_MOST nodes, fewer, down to CELLS_LEAST. */
#define MARGIN 6
#define CELLS_MOST 12
#define CELLS_LEAST 4
#define NODES_MOST ((size_t)1 << 22)

/* ---- boxes ---- */

/* Makes the field of six planes that face outward. */
static abut_status box_field(const double lower[3], const double upper[3], arena *memory,
                             abut_body_def *out)
{
  void *at;
  TRY(arena_allocate(memory, &at, 1, sizeof(abut_polyhedron)));
  abut_polyhedron *p = at;
  TRY(arena_allocate(memory, &at, 6, 6 * sizeof(double)));
  double *planes = at;
  for (int i = 0; i < 6; ++i) {
    const int axis = i / 2;
    planes[6 * i + axis] = i % 2 ? 1.0 : -1.0;
    planes[6 * i + 3 + axis] = (i % 2 ? upper : lower)[axis];
  }
  *p = (abut_polyhedron){.planes = planes, .count = 6, .operation = ABUT_ADD};
  out->polyhedra = p;
  out->polyhedron_count = 1;
  return ABUT_SUCCESS;
}

/* A box's points may lie on all its sides. Slabs, which stand for planes, come with POINTS_NONE and have
 * their corners alone: what lies on a slab has points of its own, and would feel each point of the slab's
 * that it passes over. */
static abut_status make_box(const double lower[3], const double upper[3], side_points points,
                            arena *memory, abut_body_def *out)
{
  TRY(box_field(lower, upper, memory, out));
  return make_box_mesh(lower, upper, points, memory, out);
}

/* ---- balls ---- */

static abut_status make_ball(const double half[3], arena *memory, abut_body_def *out)
{
  void *at;
  TRY(arena_allocate(memory, &at, 1, sizeof(abut_superquadric)));
  abut_superquadric *s = at;
  *s = (abut_superquadric){.exponents = {1.0, 1.0},
                           .quaternion = {1.0, 0.0, 0.0, 0.0},
                           .operation = ABUT_ADD};
  memcpy(s->axes, half, sizeof s->axes);
  out->superquadrics = s;
  out->superquadric_count = 1;
  return make_ball_mesh(half, memory, out);
}

/* ---- capsules and cylinders ---- */

/* Their fields are grids. A superquadric would tell the depth along the ray from its centre, which in a
 * long body is many times the way to its side. */

typedef double (*distance_of)(const double size[3], double across, double along);

static double capsule_distance(const double size[3], double across, double along)
{
  return hypot(across, fmax(fabs(along) - size[1], 0.0)) - size[0];
}

static double cylinder_distance(const double size[3], double across, double along)
{
  const double side = across - size[0], end = fabs(along) - size[1];
  return fmin(fmax(side, end), 0.0) + hypot(fmax(side, 0.0), fmax(end, 0.0));
}

/* Chooses the finest spacing that the number of nodes allows, and how many nodes the grid has along each
 * axis. */
static abut_status choose_nodes(const double half[3], size_t size[3], double *spacing)
{
  const double shorter = fmin(half[0], half[2]);
  for (int cells = CELLS_MOST; cells >= CELLS_LEAST; --cells) {
    double nodes = 1.0, most = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double side = ceil(2.0 * half[k] * cells / shorter - 1e-9) + 1.0 + 2 * MARGIN;
      most = fmax(most, side);
      nodes *= side;
      size[k] = side <= GRID_SIDE_MOST ? (size_t)side : 0;
    }
    if (most <= GRID_SIDE_MOST && nodes <= (double)NODES_MOST) {
      *spacing = shorter / cells;
      return ABUT_SUCCESS;
    }
  }
  return fail(ABUT_ERROR_BODY, "half lengths of %g and %g m are too unlike", half[0], half[2]);
}

static void measure(const spline *s, distance_of distance, const double size[3], double *values)
{
  for (size_t i = 0; i < s->size[0]; ++i) {
    const double x = s->origin[0] + s->spacing * (double)i;
    for (size_t j = 0; j < s->size[1]; ++j) {
      const double across = hypot(x, s->origin[1] + s->spacing * (double)j);
      for (size_t k = 0; k < s->size[2]; ++k) {
        *values++ = distance(size, across, s->origin[2] + s->spacing * (double)k);
      }
    }
  }
}

static abut_status grid_of(const spline *s, arena *memory, abut_body_def *out)
{
  void *at;
  const size_t nodes = s->size[0] * s->size[1] * s->size[2];
  TRY(arena_allocate(memory, &at, 1, sizeof(abut_grid)));
  abut_grid *g = at;
  TRY(arena_allocate(memory, &at, nodes, sizeof(double)));
  double *coefficients = at;
  for (size_t i = 0; i < nodes; ++i) {
    coefficients[i] = (double)s->coarse[i];
  }
  *g = (abut_grid){.coefficients = coefficients, .spacing = s->spacing, .operation = ABUT_ADD};
  memcpy(g->size, s->size, sizeof g->size);
  memcpy(g->origin, s->origin, sizeof g->origin);
  out->grids = g;
  out->grid_count = 1;
  return ABUT_SUCCESS;
}

static abut_status grid_field(distance_of distance, const double size[3], const double half[3],
                              arena *memory, abut_body_def *out)
{
  abut_status status = ABUT_SUCCESS;
  double origin[3], spacing = 0.0;
  size_t nodes[3];
  void *values = NULL;
  spline s = {0};
  TRY(choose_nodes(half, nodes, &spacing));
  for (int k = 0; k < 3; ++k) {
    origin[k] = -0.5 * spacing * (double)(nodes[k] - 1);
  }
  TRY_DONE(spline_create(&s, nodes, origin, spacing));
  TRY_DONE(allocate(&values, nodes[0] * nodes[1] * nodes[2], sizeof(double)));
  measure(&s, distance, size, values);
  spline_fit(&s, values);
  status = grid_of(&s, memory, out);
done:
  free(values);
  spline_free(&s);
  return status;
}

/* Puts rings along a straight side from -h to h, with its ends, about a radius apart or, for many points,
 * half a radius. Without rings between the ends a body that lies across the side would meet no vertices. */
static size_t put_side(double r, double h, side_points points, double (*rings)[2])
{
  const bool many = points == POINTS_MANY;
  const double whole = ceil((many ? 4.0 : 2.0) * h / r - 1e-9);
  const size_t cells =
    (size_t)fmin(fmax(whole, SIDE_CELLS_LEAST), many ? MANY_CELLS_MOST : FEW_CELLS_MOST);
  for (size_t i = 0; i <= cells; ++i) {
    const double part = (double)i / (double)cells;
    rings[i][0] = r;
    rings[i][1] = part * h - (1.0 - part) * h;
  }
  return cells + 1;
}

static abut_status make_capsule(const double size[3], side_points points, arena *memory,
                                abut_body_def *out)
{
  const double r = size[0], straight = size[1], half[3] = {r, r, r + straight};
  double rings[2 * CAP_RINGS + MANY_CELLS_MOST][2];
  const size_t side = put_side(r, straight, points, rings + CAP_RINGS - 1);
  const size_t last = 2 * (CAP_RINGS - 1) + side - 1;
  for (size_t i = 0; i + 1 < CAP_RINGS; ++i) {
    const double angle = 0.5 * PI * (double)(CAP_RINGS - 1 - i) / CAP_RINGS;
    double *below = rings[i], *above = rings[last - i];
    above[0] = below[0] = r * cos(angle);
    above[1] = straight + r * sin(angle);
    below[1] = -above[1];
  }
  TRY(grid_field(capsule_distance, size, half, memory, out));
  return make_turned_mesh(rings, last + 1, r + straight, points, memory, out);
}

static abut_status make_cylinder(const double size[3], side_points points, arena *memory,
                                 abut_body_def *out)
{
  const double half[3] = {size[0], size[0], size[1]};
  double rings[MANY_CELLS_MOST + 1][2];
  TRY(grid_field(cylinder_distance, size, half, memory, out));
  return make_turned_mesh(rings, put_side(size[0], size[1], points, rings), 0.0, points, memory, out);
}

/* ---- all ---- */

static abut_status check_sizes(body_shape shape, const double size[3])
{
  if (shape <= SHAPE_FILE || shape >= SHAPE_HEIGHT_FIELD) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no shape %d of lengths", (int)shape);
  }
  for (size_t k = 0; k < body_shape_sizes[shape]; ++k) {
    if (!(size[k] >= AXIS_LEAST && size[k] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "length %zu of a shape \"%s\" is %g, not in [%g, %g]",
                  k, body_shape_words[shape], size[k], AXIS_LEAST, COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

abut_status body_shape_make(body_shape shape, const double size[3], side_points points,
                           arena *memory, abut_body_def *out)
{
  *out = abut_default_body_def();
  TRY(check_sizes(shape, size));
  const double lower[3] = {-size[0], -size[1], -size[2]};
  const double ball[3] = {size[0], size[0], size[0]};
  const double slab[3] = {-size[0], -size[1], -fmin(size[0], size[1])};
  const double top[3] = {size[0], size[1], 0.0};
  switch (shape) {
  case SHAPE_BOX:
    return make_box(lower, size, points, memory, out);
  case SHAPE_SPHERE:
    return make_ball(ball, memory, out);
  case SHAPE_CAPSULE:
    return make_capsule(size, points, memory, out);
  case SHAPE_CYLINDER:
    return make_cylinder(size, points, memory, out);
  case SHAPE_ELLIPSOID:
    return make_ball(size, memory, out);
  default:
    return make_box(slab, top, POINTS_NONE, memory, out);
  }
}

abut_status body_of_heights(const abut_height_field *h, arena *memory, abut_body_def *out)
{
  *out = abut_default_body_def();
  out->height_fields = h;
  out->height_field_count = 1;
  return height_mesh_add(memory, out);
}
