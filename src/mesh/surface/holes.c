#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/tree.h"
#include <stdlib.h>
#include <string.h>

/* ---- corners on open sides ---- */

/* A corner on an open side of another triangle. along: its position as a share of the side's
 * length. */
typedef struct junction {
  uint32_t side, corner; /* 3 triangle + side */
  double along;
} junction;

typedef struct junctions {
  const surface *s;
  const uint32_t *sides; /* of the tree's triangles, in the order of the input */
  const tree *of;
  uint32_t corner;
  double reach;
  double off_ends; /* [m] within this distance of a side's end, a corner is left to that end */
  bool grown;      /* the reach is above rounding: low triangles could turn over, and are not cut */
  junction *at;
  size_t count, room;
} junctions;

static int compare_junctions(const void *a, const void *b)
{
  const junction *x = a, *y = b;
  return x->side != y->side     ? (x->side < y->side ? -1 : 1)
         : x->along != y->along ? (x->along < y->along ? -1 : 1)
                                : (x->corner < y->corner ? -1 : x->corner > y->corner);
}

/* of a triangle's height: largest distance of a corner from its side */
#define HEIGHT_SHARE 0.3
/* in reaches: within this distance of a side's end, a corner is left to that end */
#define OFF_ENDS 30.0
#define OFF_SHARE 0.1 /* limit of OFF_ENDS as a share of the side */

/* Returns the corner opposite a side in its triangle. */
static uint32_t third_of(const surface *s, uint32_t side)
{
  return s->triangles[3 * (side / 3) + (side + 2) % 3];
}

static abut_status meet_side(void *user, uint32_t at)
{
  junctions *j = user;
  const uint32_t side_at = j->sides[j->of->triangle[at]];
  const uint32_t from = j->s->triangles[side_at];
  const uint32_t to = end_of(j->s, side_at);
  const double *a = point_of(j->s, from), *b = point_of(j->s, to);
  const double *x = point_of(j->s, j->corner);
  double d[3], along = 0.0;
  for (int k = 0; k < 3; ++k) {
    d[k] = b[k] - a[k];
  }
  const double size = length(d);
  for (int k = 0; k < 3; ++k) {
    along += d[k] * (x[k] - a[k]) / size;
  }
  const double off = fmax(j->reach, fmin(j->off_ends, OFF_SHARE * size));
  if (j->corner == from || j->corner == to || along <= off || along >= size - off) {
    return ABUT_SUCCESS;
  }
  if (j->grown) {
    double area[3];
    triangle_area(j->s, side_at / 3, area);
    for (int k = 0; k < 3; ++k) {
      d[k] = x[k] - a[k] - along / size * d[k];
    }
    if (j->corner == third_of(j->s, side_at) ||
        length(d) * size > HEIGHT_SHARE * 2.0 * length(area)) {
      return ABUT_SUCCESS;
    }
  }
  void *memory = j->at;
  TRY(grow(&memory, &j->room, j->count + 1, sizeof *j->at));
  j->at = memory;
  j->at[j->count++] = (junction){side_at, j->corner, along / size};
  return ABUT_SUCCESS;
}

/* Finds all junctions, in order of sides and along each side. */
static abut_status find_junctions(maker *m, junctions *j)
{
  const surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *marks = NULL, *corners = NULL, *names = NULL;
  tree sides = {0};
  size_t count = 0;
  TRY_DONE(allocate(&marks, s->point_count, 1));
  const size_t open = mark_open(m, marks);
  TRY_DONE(allocate(&corners, open, 9 * sizeof(double)));
  TRY_DONE(allocate(&names, open, sizeof(uint32_t)));
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    if (m->across[i] == NONE) {
      double *c = (double *)corners + 9 * count;
      const uint32_t to = end_of(s, i);
      memcpy(c, point_of(s, s->triangles[i]), 3 * sizeof *c);
      memcpy(c + 3, point_of(s, to), 3 * sizeof *c);
      memcpy(c + 6, c + 3, 3 * sizeof *c);
      ((uint32_t *)names)[count++] = (uint32_t)i;
    }
  }
  TRY_DONE(tree_of_corners(corners, count, &sides));
  j->s = s;
  j->of = &sides;
  j->sides = names;
  for (size_t i = 0; i < s->point_count; ++i) {
    if (((unsigned char *)marks)[i]) {
      j->corner = (uint32_t)i;
      TRY_DONE(tree_visit(&sides, point_of(s, j->corner), j->reach, meet_side, j));
    }
  }
  if (j->count) {
    qsort(j->at, j->count, sizeof *j->at, compare_junctions);
  }
done:
  tree_free(&sides);
  free(marks);
  free(corners);
  free(names);
  return status;
}

/* Cuts a triangle at corners on its sides into fans. ring[0], ring[b] and ring[c] are its own
 * corners. One fan is around c over the side from a to b. Fans over the other sides replace its
 * last and first triangles. Thus no triangle is flat, in whichever direction corners deviate from
 * their side. */
static abut_status add_fans(maker *m, const uint32_t *ring, size_t b, size_t c, size_t size,
                            uint32_t polygon)
{
  const bool on_second = c - b > 1, on_third = size - c > 1;
  for (size_t i = 0; i < b; ++i) {
    const bool gives_way = (i + 1 == b && on_second) || (i == 0 && on_third);
    if (!gives_way) {
      TRY(add_triangle(m, ring[i], ring[i + 1], ring[c], polygon));
    }
  }
  for (size_t i = b; on_second && i < c; ++i) {
    if (i + 1 < c || b > 1 || !on_third) {
      TRY(add_triangle(m, ring[i], ring[i + 1], ring[b - 1], polygon));
    }
  }
  const uint32_t last = b > 1 ? ring[1] : ring[c - 1];
  for (size_t i = c; on_third && i < size; ++i) {
    TRY(add_triangle(m, ring[i], ring[i + 1 < size ? i + 1 : 0], last, polygon));
  }
  return ABUT_SUCCESS;
}

abut_status cut_open_sides(maker *m, double reach, double off_ends, bool *any)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *ring = NULL;
  junctions j = {.reach = reach, .off_ends = off_ends, .grown = reach > WELD_SHARE * s->diagonal};
  TRY_DONE(find_junctions(m, &j));
  *any = j.count > 0;
  if (!j.count) {
    goto done;
  }
  TRY_DONE(allocate(&ring, j.count + 3, sizeof(uint32_t)));
  for (size_t i = 0; i < j.count;) {
    const uint32_t triangle = j.at[i].side / 3;
    uint32_t *r = ring;
    size_t size = 0, own[3];
    for (uint32_t k = 0; k < 3; ++k) {
      own[k] = size;
      r[size++] = s->triangles[3 * (size_t)triangle + k];
      for (; i < j.count && j.at[i].side == 3 * triangle + k; ++i) {
        if (j.at[i].corner != r[size - 1]) {
          r[size++] = j.at[i].corner;
        }
      }
    }
    TRY_DONE(add_fans(m, r, own[1], own[2], size, s->polygon[triangle]));
    uint32_t *t = s->triangles + 3 * (size_t)triangle;
    t[1] = t[2] = t[0]; /* dropped later with other degenerate triangles */
  }
done:
  free(j.at);
  free(ring);
  return status;
}

/* ---- holes ---- */

/* Adds a point at the centre of a rim. */
static abut_status add_middle(maker *m, const uint32_t *rim, size_t size, uint32_t *out)
{
  surface *s = m->s;
  void *points = s->points;
  TRY(grow(&points, &m->point_room, s->point_count + 1, 3 * sizeof(double)));
  s->points = points;
  double *to = s->points + 3 * s->point_count;
  to[0] = to[1] = to[2] = 0.0;
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      to[k] += point_of(s, rim[i])[k] / (double)size;
    }
  }
  *out = (uint32_t)s->point_count++;
  return ABUT_SUCCESS;
}

#define RIM_CUT 2000 /* longer rims are closed by a fan around their centre */

/* The closing triangles of a shell. */
typedef struct closing {
  double volume, area, widest;
  size_t rims;
} closing;

static abut_status close_rim(maker *m, const uint32_t *rim, size_t size, uint32_t *work,
                             closing *of)
{
  surface *s = m->s;
  const size_t first = s->triangle_count;
  double widest = 0.0, area = 0.0;
  if (size <= RIM_CUT) {
    TRY(add_polygon(m, rim, size, NO_POLYGON, work));
  } else {
    uint32_t middle;
    TRY(add_middle(m, rim, size, &middle));
    for (size_t i = 0; i < size; ++i) {
      TRY(add_triangle(m, rim[i], rim[(i + 1) % size], middle, NO_POLYGON));
    }
  }
  for (size_t i = first; i < s->triangle_count; ++i) {
    double vector[3];
    triangle_area(s, i, vector);
    area += length(vector);
    of->volume += volume_under(s, i, s->lower);
  }
  for (size_t i = 0; i < size; ++i) {
    double d[3];
    for (int k = 0; k < 3; ++k) {
      d[k] = point_of(s, rim[i])[k] - point_of(s, rim[0])[k];
    }
    widest = fmax(widest, length(d));
  }
  s->closing_count += s->triangle_count - first;
  m->report->hole_share += area; /* divided by the total area at the end */
  of->area += area;
  of->widest = fmax(of->widest, widest);
  ++of->rims;
  return ABUT_SUCCESS;
}

static void measure_open(const maker *m, closing *shells)
{
  for (size_t i = 0; i < m->s->triangle_count; ++i) {
    double vector[3];
    triangle_area(m->s, i, vector);
    shells[m->shell[i]].area += length(vector);
    shells[m->shell[i]].volume += volume_under(m->s, i, m->s->lower);
  }
}

/* If a closed shell encloses nothing, it is a sheet, and its rims are not holes. */
static void report_closed(maker *m, const closing *shells)
{
  surface_report *r = m->report;
  for (size_t i = 0; i < m->shell_count; ++i) {
    const closing *c = &shells[i];
    if (c->rims && fabs(c->volume) <= SHEET_VOLUME * c->area * sqrt(c->area)) {
      ++r->sheets;
      r->sheet_widest = fmax(r->sheet_widest, c->widest);
    } else if (c->rims) {
      r->holes += c->rims;
      r->hole_widest = fmax(r->hole_widest, c->widest);
    }
  }
}

/* Returns the open side that precedes an open side at the corner where that begins. Returns NONE if
 * edges of several faces are in the way. */
static uint32_t next_open(const maker *m, uint32_t open)
{
  uint32_t at = open;
  for (size_t i = 0; i < m->s->triangle_count; ++i) {
    at = at % 3 == 0 ? at + 2 : at - 1; /* the side that ends at the corner */
    const uint32_t other = m->across[at];
    if (other == NONE) {
      return at;
    }
    if (other == TANGLED || !agrees(m->s, 4 * (at / 3) + at % 3, other)) {
      return NONE;
    }
    at = 3 * (other / 4) + other % 4;
  }
  return NONE;
}

abut_status close_holes(maker *m)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *marks = NULL, *rim_memory = NULL, *work = NULL, *shells = NULL;
  const size_t sides = 3 * s->triangle_count, open = open_sides(m);
  if (!open) {
    goto done;
  }
  TRY_DONE(allocate(&marks, sides, 1));
  TRY_DONE(allocate(&rim_memory, open, sizeof(uint32_t)));
  TRY_DONE(allocate(&work, open < RIM_CUT ? open + 3 : RIM_CUT + 3, 4 * sizeof(uint32_t)));
  TRY_DONE(allocate(&shells, m->shell_count, sizeof(closing)));
  unsigned char *seen = marks;
  uint32_t *rim = rim_memory;
  measure_open(m, shells);
  for (size_t i = 0; i < sides; ++i) {
    size_t size = 0;
    uint32_t at = (uint32_t)i;
    while (m->across[i] == NONE && at != NONE && !seen[at]) {
      seen[at] = 1;
      rim[size++] = end_of(s, at);
      at = next_open(m, at);
    }
    if (size >= 3 && at == (uint32_t)i) {
      TRY_DONE(close_rim(m, rim, size, work, (closing *)shells + m->shell[i / 3]));
    } else {
      m->report->open_edges += size;
    }
  }
  report_closed(m, shells);
done:
  free(marks);
  free(rim_memory);
  free(work);
  free(shells);
  return status;
}
