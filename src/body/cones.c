#include "body/cones.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/features.h"
#include "body/parts.h"
#include "math/vector.h"
#include <stdlib.h>
#include <string.h>

#define WELD 1e-7       /* share of the extent within which vertices coincide */
#define AREA_LEAST 1e-9 /* least area of a face, as a share of its longest side squared */
/* At a vertex, faces with a smaller angle (0.5 degrees) are ignored. */
#define SLIVER 8.7266462599716477e-3
/* Beyond this half angle (100 degrees), a cone contains every normal. */
#define WIDE 1.7453292519943295
/* share of the weights below which the normals cancel and there is no axis */
#define AXIS_SUM_LEAST 1e-6
#define BACK_TO_BACK 1e-6 /* [rad] tolerance for opposite normals */

static const double every[4] = {0.0, 0.0, 1.0, CONE_EVERY};

void cones_of_every(double *cones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    memcpy(cones + 4 * i, every, sizeof every);
  }
}

/* ---- welding ---- */

typedef struct placed {
  int64_t cell[3];
  uint32_t point;
} placed;

static int compare_placed(const void *a, const void *b)
{
  const placed *x = a, *y = b;
  for (int k = 0; k < 3; ++k) {
    if (x->cell[k] != y->cell[k]) {
      return x->cell[k] < y->cell[k] ? -1 : 1;
    }
  }
  return x->point < y->point ? -1 : x->point > y->point;
}

/* The points of a mesh: its vertices, then the others. */
typedef struct points {
  const abut_surface *of;
  const double *others;
  size_t stride;
} points;

static const double *point_at(const points *p, size_t i)
{
  return i < p->of->vertex_count ? p->of->vertices + 3 * i
                                 : p->others + p->stride * (i - p->of->vertex_count);
}

/* Finds the box of all points, and returns its longest side. */
static double find_extent(const points *p, size_t count, double lower[3])
{
  double extent = 0.0;
  for (int k = 0; k < 3; ++k) {
    double high = lower[k] = point_at(p, 0)[k];
    for (size_t i = 1; i < count; ++i) {
      lower[k] = fmin(lower[k], point_at(p, i)[k]);
      high = fmax(high, point_at(p, i)[k]);
    }
    extent = fmax(extent, high - lower[k]);
  }
  return extent;
}

static abut_status weld_points(const points *p, size_t count, uint32_t *place)
{
  void *memory = NULL;
  double lower[3];
  TRY(allocate(&memory, count, sizeof(placed)));
  placed *at = memory;
  const double cell = WELD * find_extent(p, count, lower);
  for (size_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      at[i].cell[k] = cell > 0.0 ? llround((point_at(p, i)[k] - lower[k]) / cell) : 0;
    }
    at[i].point = (uint32_t)i;
  }
  qsort(at, count, sizeof *at, compare_placed);
  for (size_t i = 0, first = 0; i < count; ++i) {
    first = i && memcmp(at[i].cell, at[first].cell, sizeof at->cell) == 0 ? first : i;
    place[at[i].point] = at[first].point;
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* ---- faces ---- */

/* Gives twice the area vector of a face, and the square of its longest side. */
static double face_area(const abut_surface *s, const uint32_t *corner, uint32_t sides,
                        double out[3])
{
  double longest = 0.0;
  const double *first = s->vertices + 3 * (size_t)corner[0];
  out[0] = out[1] = out[2] = 0.0;
  for (uint32_t k = 0; k < sides; ++k) {
    const double *at = s->vertices + 3 * (size_t)corner[k],
                 *next = s->vertices + 3 * (size_t)corner[(k + 1) % sides];
    double side[3], here[3], there[3], area[3];
    difference(next, at, side);
    longest = fmax(longest, dot(side, side));
    difference(at, first, here);
    difference(next, first, there);
    cross(here, there, area);
    for (int i = 0; i < 3; ++i) {
      out[i] += area[i];
    }
  }
  return longest;
}

/* Six times the volume under a face, seen from a point. */
static double face_volume(const abut_surface *s, const uint32_t *corner, uint32_t sides,
                          const double from[3])
{
  double volume = 0.0;
  double a[3], b[3], c[3], across[3];
  difference(s->vertices + 3 * (size_t)corner[0], from, a);
  for (uint32_t k = 1; k + 1 < sides; ++k) {
    difference(s->vertices + 3 * (size_t)corner[k], from, b);
    difference(s->vertices + 3 * (size_t)corner[k + 1], from, c);
    cross(b, c, across);
    volume += dot(a, across);
  }
  return volume;
}

/* Whether faces enclose a negative volume, seen from the middle of the box. The faces that would
 * close holes have an area vector that cancels the sum of all others. They add at most the volume
 * under this area to half of the diagonal. */
static bool is_inside_out(const abut_surface *s)
{
  double lower[3], middle[3], open[3] = {0.0, 0.0, 0.0}, volume = 0.0, square = 0.0;
  const points p = {s, NULL, 0};
  find_extent(&p, s->vertex_count, lower);
  for (int k = 0; k < 3; ++k) {
    double high = lower[k];
    for (size_t i = 0; i < s->vertex_count; ++i) {
      high = fmax(high, s->vertices[3 * i + (size_t)k]);
    }
    middle[k] = 0.5 * (lower[k] + high);
    square += (high - lower[k]) * (high - lower[k]);
  }
  const uint32_t *corner = s->face_indices;
  for (size_t i = 0; i < s->face_count; corner += s->face_sizes[i], ++i) {
    double area[3];
    face_area(s, corner, s->face_sizes[i], area);
    volume += face_volume(s, corner, s->face_sizes[i], middle);
    for (int k = 0; k < 3; ++k) {
      open[k] += area[k];
    }
  }
  return volume < -0.5 * sqrt(square) * sqrt(dot(open, open));
}

static int compare_sides(const void *a, const void *b)
{
  const face_side *x = a, *y = b;
  if (x->code != y->code) {
    return x->code < y->code ? -1 : 1;
  }
  return x->face < y->face ? -1 : x->face > y->face;
}

static void find_faces(mesh_faces *m)
{
  const abut_surface *s = &m->of;
  const uint32_t *corner = s->face_indices;
  for (size_t i = 0; i < s->face_count; corner += s->face_sizes[i], ++i) {
    const uint32_t sides = s->face_sizes[i];
    double *n = m->normals + 3 * i;
    const double longest = face_area(s, corner, sides, n), area = sqrt(dot(n, n));
    const bool left_out = !(area > AREA_LEAST * longest);
    for (int k = 0; k < 3; ++k) {
      n[k] = left_out ? 0.0 : m->sense * n[k] / area;
    }
    for (uint32_t k = 0; !left_out && k < sides; ++k) {
      const uint32_t a = m->place[corner[k]], b = m->place[corner[(k + 1) % sides]];
      if (a != b) {
        double side[3];
        difference(s->vertices + 3 * (size_t)b, s->vertices + 3 * (size_t)a, side);
        const double width = (sides == 3 ? area : 0.5 * area) / length(side);
        m->sides[m->side_count++] = (face_side){edge_code(a, b), width, (uint32_t)i, a < b};
      }
    }
  }
  qsort(m->sides, m->side_count, sizeof *m->sides, compare_sides);
}

abut_status mesh_faces_make(const abut_surface *of, bool weld, const double *others, size_t stride,
                            size_t extra_count, mesh_faces *out)
{
  abut_status status = ABUT_SUCCESS;
  const points p = {of, others, stride};
  size_t corners = 0;
  void *memory = NULL;
  *out = (mesh_faces){.of = *of, .point_count = of->vertex_count + extra_count};
  for (size_t i = 0; i < of->face_count; ++i) {
    corners += of->face_sizes[i];
  }
  TRY_DONE(allocate(&memory, out->point_count, sizeof *out->place));
  out->place = memory;
  TRY_DONE(allocate(&memory, of->face_count, 3 * sizeof *out->normals));
  out->normals = memory;
  TRY_DONE(allocate(&memory, corners, sizeof *out->sides));
  out->sides = memory;
  for (size_t i = 0; i < out->point_count; ++i) {
    out->place[i] = (uint32_t)i;
  }
  if (weld) {
    TRY_DONE(weld_points(&p, out->point_count, out->place));
  }
  out->sense = is_inside_out(of) ? -1.0 : 1.0;
  find_faces(out);
done:
  if (status != ABUT_SUCCESS) {
    mesh_faces_free(out);
  }
  return status;
}

void mesh_faces_free(mesh_faces *m)
{
  free(m->place);
  free(m->normals);
  free(m->sides);
  *m = (mesh_faces){0};
}

/* ---- edges ---- */

/* Finds the sides with a code: the first, and their number. */
static size_t find_sides(const mesh_faces *m, uint64_t code, size_t *first)
{
  size_t low = 0, high = m->side_count, end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (m->sides[middle].code < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (end = low; end < m->side_count && m->sides[end].code == code; ++end) {
  }
  *first = low;
  return end - low;
}

/* How two faces meet at a side. */
static fold fold_of(const mesh_faces *m, const face_side *side)
{
  fold out = {.kind = FOLD_HOLLOW};
  double turn[3], along[3];
  /* its face traverses the edge from the lower end */
  const double *n = m->normals + 3 * (size_t)side[side[0].forward ? 0 : 1].face;
  const double *other = m->normals + 3 * (size_t)side[side[0].forward ? 1 : 0].face;
  const uint32_t low = (uint32_t)(side->code >> 32), high = (uint32_t)side->code;
  memcpy(out.cone, every, sizeof every);
  cross(n, other, turn);
  difference(m->of.vertices + 3 * (size_t)high, m->of.vertices + 3 * (size_t)low, along);
  out.angle = atan2(sqrt(dot(turn, turn)), dot(n, other));
  out.length = length(along);
  memcpy(out.normals[0], n, sizeof out.normals[0]);
  memcpy(out.normals[1], other, sizeof out.normals[1]);
  out.width = fmax(side[0].width, side[1].width);
  /* the rim of a sheet with two layers */
  const bool back_to_back = out.angle > CONE_EVERY - BACK_TO_BACK;
  if (back_to_back || m->sense * dot(turn, along) > 0.0) {
    out.kind = FOLD_CONVEX;
  }
  if (out.kind == FOLD_CONVEX && !back_to_back) {
    const double both = 2.0 * cos(0.5 * out.angle);
    for (int k = 0; k < 3; ++k) {
      out.cone[k] = (n[k] + other[k]) / both;
    }
    out.cone[3] = 0.5 * out.angle;
  }
  return out;
}

fold mesh_fold(const mesh_faces *m, uint32_t from, uint32_t to)
{
  size_t first;
  const size_t count = find_sides(m, edge_code(m->place[from], m->place[to]), &first);
  const face_side *side = m->sides + first;
  fold out = {.kind = count ? FOLD_OPEN : FOLD_BARE};
  memcpy(out.cone, every, sizeof every);
  return count == 2 && side[0].forward != side[1].forward ? fold_of(m, side) : out;
}

/* ---- vertices ---- */

/* The angle of a face at a corner, up to 2 pi. A slightly negative angle from rounding is not
 * changed. */
static double corner_angle(const mesh_faces *m, const uint32_t *corner, uint32_t sides, uint32_t k,
                           const double *normal)
{
  const double *at = m->of.vertices + 3 * (size_t)corner[k];
  double next[3], last[3], turn[3];
  difference(m->of.vertices + 3 * (size_t)corner[(k + 1) % sides], at, next);
  difference(m->of.vertices + 3 * (size_t)corner[(k + sides - 1) % sides], at, last);
  cross(next, last, turn);
  const double angle = atan2(m->sense * dot(turn, normal), dot(next, last));
  return angle < -SLIVER ? angle + 2.0 * CONE_EVERY : angle;
}

/* Sums over the faces around a point. `open`: an edge there does not have exactly two faces. */
typedef struct gathered {
  double axis[3], weight, least;
  bool open;
} gathered;

/* Visits the corners of all faces. Sums their normals at each point, or finds the normal farthest
 * from the axis. */
static void walk_corners(const mesh_faces *m, gathered *at, bool sum)
{
  const uint32_t *corner = m->of.face_indices;
  for (size_t i = 0; i < m->of.face_count; corner += m->of.face_sizes[i], ++i) {
    const double *n = m->normals + 3 * i;
    const bool left_out = n[0] == 0.0 && n[1] == 0.0 && n[2] == 0.0;
    for (uint32_t k = 0; !left_out && k < m->of.face_sizes[i]; ++k) {
      gathered *g = &at[m->place[corner[k]]];
      const double angle = corner_angle(m, corner, m->of.face_sizes[i], k, n);
      if (!(angle > SLIVER)) {
        continue;
      }
      if (!sum) {
        g->least = fmin(g->least, dot(n, g->axis));
        continue;
      }
      g->weight += angle;
      for (int c = 0; c < 3; ++c) {
        g->axis[c] += angle * n[c];
      }
    }
  }
}

static void mark_open(const mesh_faces *m, gathered *at)
{
  for (size_t first = 0, end; first < m->side_count; first = end) {
    const face_side *side = m->sides + first;
    for (end = first; end < m->side_count && m->sides[end].code == side->code; ++end) {
    }
    if (end - first != 2 || side[0].forward == side[1].forward) {
      at[side->code >> 32].open = at[(uint32_t)side->code].open = true;
    }
  }
}

/* Normalises the axis. A point without an axis is open. */
static void settle_axis(gathered *g)
{
  const double length = sqrt(dot(g->axis, g->axis));
  g->least = 1.0;
  g->open = g->open || !(g->weight > 0.0 && length >= AXIS_SUM_LEAST * g->weight);
  for (int k = 0; k < 3 && !g->open; ++k) {
    g->axis[k] /= length;
  }
}

abut_status mesh_vertex_cones(const mesh_faces *m, double *cones)
{
  void *memory = NULL;
  TRY(allocate(&memory, m->point_count, sizeof(gathered)));
  gathered *at = memory;
  mark_open(m, at);
  walk_corners(m, at, true);
  for (size_t i = 0; i < m->point_count; ++i) {
    settle_axis(&at[i]);
  }
  walk_corners(m, at, false);
  cones_of_every(cones, m->point_count);
  for (size_t i = 0; i < m->point_count; ++i) {
    const gathered *g = &at[m->place[i]];
    const double half = acos(fmax(-1.0, fmin(1.0, g->least)));
    if (!g->open && half <= WIDE) {
      memcpy(cones + 4 * i, g->axis, sizeof g->axis);
      cones[4 * i + 3] = half;
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}
