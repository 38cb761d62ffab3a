/* Finds the border of overlapping shells. Each triangle is cut where others cross it, until each
 * piece is entirely inside or entirely outside. Pieces outside are retained.
 *
 * Each piece has a list of the triangles that may cross it, which is a subset of its parent's list.
 * Pieces with many such triangles are halved; pieces with few are cut by the triangles' planes. */
#include "mesh/surface/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/surface/polygon.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.5 /* winding number */
/* share of the diagonal: distance in front of a face where the winding number is evaluated */
#define OFF_FACE 1e-5
#define ON_PLANE 1e-9    /* share of the diagonal within which a corner is on a plane */
#define RUN 64           /* triangles per piece of work */
#define FEW 16           /* triangles whose planes cut a piece one after another */
#define CUTS_MOST 262144 /* per piece of work */
#define HALVINGS 40

typedef struct piece {
  double corner[3][3];
} piece;

typedef struct pieces {
  piece *at;
  size_t count, room;
} pieces;

typedef struct plane {
  double normal[3], offset;
} plane;

typedef struct cutter {
  const solid *s;
  double least, on; /* [m]: smaller pieces are not cut; nearer to a plane is on it */
  pieces *to;
  plane own;      /* of the triangle that is cut */
  uint32_t *list; /* a stack of lists: for each piece, the triangles that may cross it */
  size_t count, room, cuts;
} cutter;

static abut_status add_piece(pieces *p, const piece *one)
{
  void *memory = p->at;
  TRY(grow(&memory, &p->room, p->count + 1, sizeof *p->at));
  p->at = memory;
  p->at[p->count++] = *one;
  return ABUT_SUCCESS;
}

static plane plane_of(const double *c)
{
  plane p;
  corners_area(c, p.normal);
  const double size = sqrt(dot(p.normal, p.normal));
  for (int k = 0; k < 3; ++k) {
    p.normal[k] /= size;
  }
  p.offset = dot(p.normal, c);
  return p;
}

/* Makes the plane through a triangle's side and perpendicular to the triangle, positive outside. */
static plane side_of(const double *c, const double normal[3], int side)
{
  const double *a = c + 3 * side, *b = c + 3 * ((side + 1) % 3);
  const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  plane p;
  cross(d, normal, p.normal);
  const double size = sqrt(dot(p.normal, p.normal));
  for (int k = 0; k < 3; ++k) {
    p.normal[k] /= size;
  }
  p.offset = dot(p.normal, a);
  return p;
}

/* Finds the corners' heights over a plane, 0 for those on it. Returns -1 if none is above, 1 if
 * none is below, 0 if the plane cuts the triangle, and -1 if all are on it. */
static int heights(const double *c, const plane *p, double on, double out[3])
{
  bool above = false, below = false;
  for (int i = 0; i < 3; ++i) {
    const double height = dot(p->normal, c + 3 * i) - p->offset;
    out[i] = fabs(height) <= on ? 0.0 : height;
    above = above || out[i] > 0.0;
    below = below || out[i] < 0.0;
  }
  return above ? (below ? 0 : 1) : -1;
}

/* Finds the interval along direction d in which a triangle meets a plane that cuts it. */
static void meet(const double *c, const double height[3], const double d[3], double range[2])
{
  range[0] = HUGE_VAL;
  range[1] = -HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    double at = dot(c + 3 * i, d);
    if (height[i] * height[j] < 0.0) {
      at += height[i] / (height[i] - height[j]) * (dot(c + 3 * j, d) - at);
    } else if (height[i] != 0.0) {
      continue;
    }
    range[0] = fmin(range[0], at);
    range[1] = fmax(range[1], at);
  }
}

/* Whether a triangle is in the piece's plane with opposite orientation (as where two boxes touch)
 * and covers part of the piece. Gives the plane of a side that cuts the piece. */
static bool covers_part(const cutter *c, const piece *p, const double *other, const plane *facing,
                        plane *by)
{
  double h[3];
  bool found = false;
  for (int a = 0; a < 3; ++a) {
    const plane mine = side_of(p->corner[0], c->own.normal, a);
    const plane its = side_of(other, facing->normal, a);
    const int side = heights(p->corner[0], &its, c->on, h);
    if (side == 1 || heights(other, &mine, c->on, h) == 1) {
      return false;
    }
    if (side == 0 && !found) {
      *by = its;
      found = true;
    }
  }
  return found;
}

/* Whether a triangle cuts a piece. Gives the plane of the cut. */
static bool parts(const cutter *c, const piece *p, const double *other, plane *by)
{
  double h[3], other_h[3], d[3], mine[2], its[2];
  const plane facing = plane_of(other);
  const int side = heights(other, &c->own, c->on, other_h);
  if (side == -1 && other_h[0] == 0.0 && other_h[1] == 0.0 && other_h[2] == 0.0) {
    return dot(facing.normal, c->own.normal) < 0.0 && covers_part(c, p, other, &facing, by);
  }
  if (side != 0 || heights(p->corner[0], &facing, c->on, h) != 0) {
    return false;
  }
  cross(c->own.normal, facing.normal, d);
  const double size = sqrt(dot(d, d));
  for (int k = 0; k < 3; ++k) {
    d[k] /= size;
  }
  meet(p->corner[0], h, d, mine);
  meet(other, other_h, d, its);
  *by = facing;
  return fmin(mine[1], its[1]) - fmax(mine[0], its[0]) > c->on;
}

static abut_status list_one(void *user, uint32_t at)
{
  cutter *c = user;
  void *memory = c->list;
  TRY(grow(&memory, &c->room, c->count + 1, sizeof *c->list));
  c->list = memory;
  c->list[c->count++] = at;
  return ABUT_SUCCESS;
}

static void middle_of(const piece *p, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = (p->corner[0][k] + p->corner[1][k] + p->corner[2][k]) / 3.0;
  }
}

/* Lists all triangles near an uncut triangle. */
static abut_status list_near(cutter *c, const piece *p)
{
  double middle[3], radius2 = 0.0;
  middle_of(p, middle);
  for (int i = 0; i < 3; ++i) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      sum += (p->corner[i][k] - middle[k]) * (p->corner[i][k] - middle[k]);
    }
    radius2 = fmax(radius2, sum);
  }
  c->count = 0;
  return tree_visit(&c->s->all, middle, sqrt(radius2), list_one, c);
}

/* Whether the space in front of a piece is outside. */
static bool is_border(const cutter *c, const piece *p)
{
  double x[3];
  middle_of(p, x);
  for (int k = 0; k < 3; ++k) {
    x[k] += OFF_FACE * c->s->diagonal * c->own.normal[k];
  }
  return tree_winding(&c->s->all, x) <= INSIDE;
}

static double side_length2(const piece *p, int side)
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double d = p->corner[side][k] - p->corner[(side + 1) % 3][k];
    sum += d * d;
  }
  return sum;
}

static int longest_side(const piece *p)
{
  int longest = 0;
  for (int a = 1; a < 3; ++a) {
    longest = side_length2(p, a) > side_length2(p, longest) ? a : longest;
  }
  return longest;
}

/* Halves a piece across its longest side. */
static size_t halve(const piece *p, piece out[3])
{
  const int longest = longest_side(p), next = (longest + 1) % 3;
  out[0] = out[1] = *p;
  for (int k = 0; k < 3; ++k) {
    out[0].corner[next][k] = out[1].corner[longest][k] =
      0.5 * (p->corner[longest][k] + p->corner[next][k]);
  }
  return 2;
}

/* Makes the pieces on both sides of a plane that cuts a piece. */
static size_t cut(const cutter *c, const piece *p, const plane *by, piece out[3])
{
  double h[3], on[2][3];
  int alone = 0;
  heights(p->corner[0], by, c->on, h);
  for (int i = 0; i < 3; ++i) {
    /* The corner with no other on its side. If a corner is on the plane, either of the others. */
    alone = h[i] != 0.0 && h[(i + 1) % 3] * h[i] <= 0.0 && h[(i + 2) % 3] * h[i] <= 0.0 ? i : alone;
  }
  const int next = (alone + 1) % 3, last = (alone + 2) % 3;
  for (int i = 0; i < 2; ++i) {
    const int to = i ? last : next;
    const double share = h[to] != 0.0 ? h[alone] / (h[alone] - h[to]) : 1.0;
    for (int k = 0; k < 3; ++k) {
      on[i][k] = share == 1.0
                   ? p->corner[to][k]
                   : p->corner[alone][k] + share * (p->corner[to][k] - p->corner[alone][k]);
    }
  }
  size_t count = 0;
  out[count] = *p;
  memcpy(out[count].corner[next], on[0], sizeof on[0]);
  memcpy(out[count++].corner[last], on[1], sizeof on[1]);
  if (h[next] != 0.0) {
    out[count] = *p;
    memcpy(out[count].corner[alone], on[0], sizeof on[0]);
    if (h[last] != 0.0) {
      memcpy(out[count + 1].corner[alone], on[0], sizeof on[0]);
      memcpy(out[count + 1].corner[next], p->corner[last], sizeof on[0]);
      memcpy(out[count + 1].corner[last], on[1], sizeof on[1]);
      ++count;
    }
    ++count;
  } else {
    out[count] = *p;
    memcpy(out[count++].corner[alone], on[1], sizeof on[1]);
  }
  return count;
}

/* Cuts a piece until nothing crosses it, and retains the parts outside. first, end: range in the
 * list of triangles that may cross it. *is_whole: all of it is outside; it is then stored as one
 * piece. */
static abut_status keep_outside(cutter *c, const piece *now, size_t first, size_t end, int halvings,
                                bool *is_whole)
{
  const size_t before = c->to->count, mine = c->count;
  plane by = {{0.0, 0.0, 0.0}, 0.0};
  piece part[3];
  for (size_t i = first; i < end; ++i) {
    plane one;
    const uint32_t at = c->list[i];
    if (parts(c, now, c->s->all.corners + 9 * (size_t)at, &one)) {
      by = c->count == mine ? one : by;
      TRY(list_one(c, at));
    }
  }
  const size_t crossed = c->count - mine;
  const bool is_small = sqrt(side_length2(now, longest_side(now))) <= c->least ||
                        halvings == HALVINGS;
  if (!crossed || (crossed > FEW && is_small)) {
    c->count = mine;
    *is_whole = is_border(c, now);
    return *is_whole ? add_piece(c->to, now) : ABUT_SUCCESS;
  }
  if (++c->cuts > CUTS_MOST) {
    return ABUT_ERROR_BODY;
  }
  const bool by_halves = crossed > FEW;
  const size_t count = by_halves ? halve(now, part) : cut(c, now, &by, part);
  *is_whole = true;
  for (size_t i = 0; i < count; ++i) {
    bool is_part = false;
    TRY(keep_outside(c, &part[i], mine, mine + crossed, halvings + by_halves, &is_part));
    *is_whole = *is_whole && is_part;
  }
  c->count = mine;
  if (*is_whole) {
    c->to->count = before;
    TRY(add_piece(c->to, now));
  }
  return ABUT_SUCCESS;
}

typedef struct search {
  const solid *s;
  double least;
  pieces *found; /* for each run of triangles */
  abut_status *status;
} search;

static void search_run(void *user, size_t i)
{
  search *q = user;
  const tree *all = &q->s->all;
  const size_t end = (i + 1) * RUN < all->count ? (i + 1) * RUN : all->count;
  cutter c = {.s = q->s, .least = q->least, .on = ON_PLANE * q->s->diagonal, .to = &q->found[i]};
  for (size_t t = i * RUN; t < end && q->status[i] == ABUT_SUCCESS; ++t) {
    piece whole;
    bool is_whole;
    memcpy(whole.corner, all->corners + 9 * t, sizeof whole.corner);
    c.own = plane_of(whole.corner[0]);
    q->status[i] = list_near(&c, &whole);
    if (q->status[i] == ABUT_SUCCESS) {
      q->status[i] = keep_outside(&c, &whole, 0, c.count, 0, &is_whole);
    }
  }
  free(c.list);
}

static abut_status border_failed(abut_status status)
{
  return status == ABUT_ERROR_BODY
           ? fail(status,
                  "the shells of the mesh cross each other in too many places (%d pieces of %d "
                  "triangles); merge them into one shell (a union) first",
                  CUTS_MOST, RUN)
           : fail(status, "not enough memory for a border");
}

abut_status solid_find_border(solid *s, double least)
{
  abut_status status = ABUT_SUCCESS;
  const size_t runs = (s->all.count + RUN - 1) / RUN;
  size_t count = 0;
  void *found = NULL, *statuses = NULL, *corners = NULL;
  TRY_DONE(allocate(&found, runs, sizeof(pieces)));
  TRY_DONE(allocate(&statuses, runs, sizeof(abut_status)));
  search q = {s, least, found, statuses};
  parallel_for(runs, search_run, &q);
  for (size_t i = 0; i < runs; ++i) {
    status = status == ABUT_SUCCESS ? q.status[i] : status;
    count += q.found[i].count;
  }
  if (status != ABUT_SUCCESS) {
    status = border_failed(status);
    goto done;
  }
  TRY_DONE(allocate(&corners, count, sizeof(piece)));
  piece *to = corners;
  for (size_t i = 0; i < runs; ++i) {
    if (q.found[i].count) {
      memcpy(to, q.found[i].at, q.found[i].count * sizeof *to);
      to += q.found[i].count;
    }
  }
  TRY_DONE(tree_of_corners(corners, count, &s->border));
  s->near = count ? &s->border : &s->all;
done:
  for (size_t i = 0; found && i < runs; ++i) {
    free(((pieces *)found)[i].at);
  }
  free(found);
  free(statuses);
  free(corners);
  return status;
}
