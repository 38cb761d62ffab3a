#include "scene/shape_clouds.h"

#include "base/error.h"
#include "geometry/spring.h"
#include "scene/shape_mesh.h"
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define ARC (2.0 * PI / SHAPE_SIDES)
/* No cell of a box is longer than the longest side over BOX_CELLS. In slender boxes, cells should
 * not be longer than the shortest half length either. This is relaxed if it would take more than
 * BOX_POINTS square cells to cover the box. */
#define BOX_CELLS 8
#define BOX_POINTS 768
/* Cells along a cylinder's side may have half the side's length over SIDE_CELLS, but no more than
 * the radius, unless half the side, or that of a capsule, is longer than SIDE_CELLS_MOST radii. */
#define SIDE_CELLS 8
#define SIDE_CELLS_MOST 32
#define CAP_RINGS 8 /* per end of a capsule */
#define GROWTH 1.5  /* largest ratio of a cell to its neighbour nearer to an edge */
#define UNLIKE 1e5  /* largest ratio of a shape's longest length to its shortest */
/* the most cells along a line: by then they have grown by more than UNLIKE */
#define STEPS_MOST 128
#define EPS1_SHARE 8.0 /* eps1 is a cell's area divided by this */

/* ---- lines of cells ---- */

/* The boundaries of cells along a line from -half to half, symmetric about its middle. */
typedef struct line {
  double at[STEPS_MOST + 1];
  size_t cells;
} line;

static void put_mirrored(line *l, size_t from_end, double x)
{
  l->at[from_end] = -x;
  l->at[l->cells - from_end] = x;
}

/* Divides a line. The cells at both ends have the length `first` <= half, and those inside grow up
 * to `most`. */
static void make_line(double half, double first, double most, line *l)
{
  const double inner = half - first, second = fmin(GROWTH * first, most);
  double size = first, sum = 0.0;
  size_t grown = 0;
  if (inner <= 0.05 * first) { /* a cell between them would be a sliver */
    *l = (line){{-half, 0.0, half}, 2};
    return;
  }
  if (2.0 * inner <= second) {
    *l = (line){{-half, -inner, inner, half}, 3};
    return;
  }
  while (sum < inner * (1.0 - 1e-9) && grown < STEPS_MOST / 2 - 1) {
    size = fmin(GROWTH * size, most);
    sum += size;
    ++grown;
  }
  l->cells = 2 * (grown + 1);
  l->at[grown + 1] = 0.0;
  put_mirrored(l, 0, half);
  double x = inner;
  size = first;
  for (size_t i = 1; i <= grown; ++i) {
    put_mirrored(l, i, x);
    size = fmin(GROWTH * size, most);
    x -= size * inner / sum;
  }
}

/* ---- faces ---- */

/* A mesh under construction, whose faces share no corners. `begin` allocates all the room that it
 * needs. */
typedef struct faces {
  double *vertices;
  uint32_t *sizes, *corners;
  size_t vertex_count, face_count;
} faces;

static abut_status begin(arena *memory, size_t face_count, size_t vertex_count, faces *f)
{
  void *at;
  *f = (faces){0};
  TRY(arena_allocate(memory, &at, vertex_count, 3 * sizeof(double)));
  f->vertices = at;
  TRY(arena_allocate(memory, &at, face_count, sizeof(uint32_t)));
  f->sizes = at;
  TRY(arena_allocate(memory, &at, vertex_count, sizeof(uint32_t)));
  f->corners = at;
  return ABUT_SUCCESS;
}

static void put_corner(faces *f, double x, double y, double z)
{
  double *to = f->vertices + 3 * f->vertex_count;
  to[0] = x;
  to[1] = y;
  to[2] = z;
  f->corners[f->vertex_count] = (uint32_t)f->vertex_count;
  ++f->vertex_count;
  ++f->sizes[f->face_count];
}

static abut_status cloud_of(const faces *f, double eps1, bool area_weight, abut_cloud *out)
{
  return abut_make_cloud(f->vertex_count, f->vertices, f->face_count, f->sizes, f->corners, eps1,
                         area_weight, out);
}

/* ---- boxes ---- */

/* Adds the cells of a side, counterclockwise seen from outside. */
static void put_box_side(faces *f, const line lines[3], const double half[3], int axis, bool upper)
{
  static const size_t turns[2][4][2] = {{{0, 0}, {0, 1}, {1, 1}, {1, 0}},
                                        {{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  double x[3];
  x[axis] = upper ? half[axis] : -half[axis];
  for (size_t i = 0; i < lines[u].cells; ++i) {
    for (size_t j = 0; j < lines[v].cells; ++j) {
      for (size_t k = 0; k < 4; ++k) {
        x[u] = lines[u].at[i + turns[upper][k][0]];
        x[v] = lines[v].at[j + turns[upper][k][1]];
        put_corner(f, x[0], x[1], x[2]);
      }
      ++f->face_count;
    }
  }
}

/* Returns the largest length of a cell of a box. Only points make contacts, so for two crossed bars
 * one must have points within the other's width. Cells of slender bars are therefore no longer than
 * half their width. */
static double longest_cell(const double half[3], double shortest)
{
  const double longest = fmax(fmax(half[0], half[1]), half[2]);
  const double area = 8.0 * (half[0] * half[1] + half[1] * half[2] + half[2] * half[0]);
  return fmin(2.0 * longest / BOX_CELLS, fmax(shortest, sqrt(area / BOX_POINTS)));
}

static abut_status make_box(const double half[3], double eps1, arena *memory, abut_cloud *out)
{
  const double shortest = fmin(fmin(half[0], half[1]), half[2]);
  const double most = longest_cell(half, shortest);
  const double first = shortest / ceil(fmax(shortest / most - 1e-9, 0.5));
  line lines[3];
  size_t cells = 0;
  faces f;
  for (int k = 0; k < 3; ++k) {
    make_line(half[k], first, most, &lines[k]);
  }
  for (int k = 0; k < 3; ++k) {
    cells += 2 * lines[k].cells * lines[(k + 1) % 3].cells;
  }
  TRY(begin(memory, cells, 4 * cells, &f));
  for (int k = 0; k < 6; ++k) {
    put_box_side(&f, lines, half, k / 2, k % 2);
  }
  return cloud_of(&f, eps1 > 0.0 ? eps1 : first * first / EPS1_SHARE, false, out);
}

/* ---- cylinders ---- */

static void put_around(faces *f, double r, size_t step, double z)
{
  const double angle = ARC * (double)(step % SHAPE_SIDES);
  put_corner(f, r * cos(angle), r * sin(angle), z);
}

static void put_side(faces *f, double r, const line *along)
{
  for (size_t i = 0; i < along->cells; ++i) {
    for (size_t k = 0; k < SHAPE_SIDES; ++k) {
      put_around(f, r, k, along->at[i]);
      put_around(f, r, k + 1, along->at[i]);
      put_around(f, r, k + 1, along->at[i + 1]);
      put_around(f, r, k, along->at[i + 1]);
      ++f->face_count;
    }
  }
}

/* Adds a cell of a ring, `steps` sides wide from side `step` on, with all corners that its
 * neighbours have there. */
static void put_end_cell(faces *f, const double ring[2], size_t step, size_t steps, double z)
{
  const bool upper = z > 0.0;
  for (size_t k = 0; k <= steps; ++k) {
    put_around(f, ring[1], step + (upper ? k : steps - k), z);
  }
  for (size_t k = 0; ring[0] > 0.0 && k <= steps; ++k) {
    put_around(f, ring[0], step + (upper ? steps - k : k), z);
  }
  if (ring[0] <= 0.0) {
    put_corner(f, 0.0, 0.0, z);
  }
  ++f->face_count;
}

/* Adds a ring between two radii, with cells about as wide as deep. The outermost ring has one cell
 * per side of the cylinder, because cells on both sides of the rim must match. */
static void put_end_ring(faces *f, const double ring[2], bool outermost, double z)
{
  size_t steps = 1;
  while (!outermost && steps < SHAPE_SIDES / 4 &&
         ARC * (double)steps * (ring[0] + ring[1]) < 1.4 * (ring[1] - ring[0])) {
    steps *= 2;
  }
  for (size_t k = 0; k < SHAPE_SIDES; k += steps) {
    put_end_cell(f, ring, k, steps, z);
  }
}

static void put_end(faces *f, const line *across, double z)
{
  for (size_t i = across->cells; i > 0 && across->at[i] > 0.0; --i) {
    const double ring[2] = {fmax(across->at[i - 1], 0.0), across->at[i]};
    put_end_ring(f, ring, i == across->cells, z);
  }
}

static abut_status make_cylinder(const double size[3], double eps1, arena *memory, abut_cloud *out)
{
  const double r = size[0], half = size[1], wide = ARC * r;
  const double first = half / ceil(fmax(half / wide - 1e-9, 0.5));
  line along, across;
  faces f;
  make_line(half, first, fmax(2.0 * wide, fmax(fmin(half / SIDE_CELLS, r), half / SIDE_CELLS_MOST)),
            &along);
  make_line(r, first, 2.0 * wide, &across);
  const size_t cells = SHAPE_SIDES * (along.cells + 2 * across.cells);
  TRY(begin(memory, cells, 4 * cells, &f));
  put_side(&f, r, &along);
  put_end(&f, &across, -half);
  put_end(&f, &across, half);
  return cloud_of(&f, eps1 > 0.0 ? eps1 : first * first / EPS1_SHARE, true, out);
}

/* ---- round bodies ---- */

static abut_status of_mesh(const abut_body_def *m, double eps1, abut_cloud *out)
{
  return abut_make_cloud(m->vertex_count, m->vertices, m->face_count, m->face_sizes,
                         m->face_indices, eps1, true, out);
}

static abut_status make_ball(const double half[3], double eps1, arena *memory, abut_cloud *out)
{
  abut_body_def m = abut_default_body_def();
  TRY(make_ball_mesh(half, memory, &m));
  return of_mesh(&m, eps1, out);
}

static abut_status make_capsule(const double size[3], double eps1, arena *memory, abut_cloud *out)
{
  const double r = size[0], straight = size[1], arc = 0.5 * PI / CAP_RINGS;
  double rings[2 * CAP_RINGS + STEPS_MOST][2];
  abut_body_def m = abut_default_body_def();
  line along;
  make_line(straight, fmin(arc * r, straight), fmax(r, straight / SIDE_CELLS_MOST), &along);
  const size_t last = 2 * (CAP_RINGS - 1) + along.cells;
  for (size_t i = 0; i + 1 < CAP_RINGS; ++i) {
    const double angle = arc * (double)(CAP_RINGS - 1 - i);
    double *below = rings[i], *above = rings[last - i];
    above[0] = below[0] = r * cos(angle);
    above[1] = straight + r * sin(angle);
    below[1] = -above[1];
  }
  for (size_t i = 0; i <= along.cells; ++i) {
    rings[CAP_RINGS - 1 + i][0] = r;
    rings[CAP_RINGS - 1 + i][1] = along.at[i];
  }
  TRY(make_turned_mesh(rings, last + 1, straight + r, memory, &m));
  return of_mesh(&m, eps1 > 0.0 ? eps1 : arc * r * arc * r / EPS1_SHARE, out);
}

/* ---- planes ---- */

static abut_status make_plane(double eps1, abut_cloud *out)
{
  const double point[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0, eps1 > 0.0 ? eps1 : 1.0};
  TRY(abut_make_cloud_of_points(1, point, out));
  out->log_weights[0] = -SPRING_NEVER;
  return ABUT_SUCCESS;
}

/* ---- all shapes ---- */

static abut_status check_likeness(body_shape shape, const double *size)
{
  double least = size[0], most = size[0];
  for (size_t k = 1; k < body_shape_sizes[shape]; ++k) {
    least = fmin(least, size[k]);
    most = fmax(most, size[k]);
  }
  return shape == SHAPE_PLANE || most <= UNLIKE * least
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "the lengths %g and %g m differ too much", least, most);
}

static abut_status make(body_shape shape, const double size[3], double eps1, arena *memory,
                        abut_cloud *out)
{
  const double ball[3] = {size[0], size[0], size[0]};
  switch (shape) {
  case SHAPE_BOX:
    return make_box(size, eps1, memory, out);
  case SHAPE_SPHERE:
    return make_ball(ball, eps1, memory, out);
  case SHAPE_CAPSULE:
    return make_capsule(size, eps1, memory, out);
  case SHAPE_CYLINDER:
    return make_cylinder(size, eps1, memory, out);
  case SHAPE_ELLIPSOID:
    return make_ball(size, eps1, memory, out);
  default:
    return make_plane(eps1, out);
  }
}

abut_status shape_cloud_make(body_shape shape, const double size[3], double eps1, abut_cloud *out)
{
  arena memory = {0};
  memset(out, 0, sizeof *out);
  abut_status status = check_likeness(shape, size);
  if (status == ABUT_SUCCESS) {
    status = make(shape, size, eps1, &memory, out);
  }
  arena_free(&memory);
  return status;
}
