#include "surface/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "surface/sides.h"
#include "surface/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.5     /* winding number */
#define TWICE 1.4      /* beyond it a place lies in two shells */
#define OFF_FACE 1e-5  /* of the diagonal: how far before a face its outside is asked about */
#define ON_PLANE 1e-9  /* of the diagonal: corners so near a plane lie on it */

/* ---- open edges ---- */

typedef struct open_side {
  uint32_t low, high;
  int32_t turn;        /* 1: from low to high, else -1 */
} open_side;

static int compare_open(const void *a, const void *b)
{
  const open_side *x = a, *y = b;
  return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

/* The sides that are not paired with one that runs back. */
static abut_status list_open(const surface *s, open_side **out, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t sides = 3 * s->triangle_count;
  void *list = NULL;
  *count = 0;
  for (size_t i = 0; i < sides; ++i) {
    *count += s->across[i] >= SIDE_TANGLED;
  }
  TRY_DONE(allocate(&list, *count, sizeof(open_side)));
  *out = list;
  *count = 0;
  for (uint32_t i = 0; i < sides; ++i) {
    const uint32_t a = s->triangles[i], b = s->triangles[side_next(i)];
    if (s->across[i] >= SIDE_TANGLED) {
      (*out)[(*count)++] = (open_side){a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
    }
  }
  qsort(*out, *count, sizeof **out, compare_open);
done:
  return status;
}

/* The border of all triangles together is a chain of edges, of length l, in a ball of radius r. A
 * cone over it from the ball's middle closes the surface and has an area of l r / 2 at most, so at
 * a distance d from the ball the winding number is a whole one but for l r / (8 pi d^2): a tenth
 * where d^2 = 0.4 l r. */
static abut_status find_blur(const surface *s, solid *out)
{
  open_side *list = NULL;
  size_t count = 0, used = 0;
  double length = 0.0, lower[3], upper[3], radius2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    lower[k] = HUGE_VAL;
    upper[k] = -HUGE_VAL;
  }
  out->blur_radius = -1.0;
  TRY(list_open(s, &list, &count));
  for (size_t i = 0, end = 0; i < count; i = end) {
    int32_t sum = 0;
    for (end = i; end < count && !compare_open(&list[i], &list[end]); ++end) {
      sum += list[end].turn;
    }
    const double *p = s->points + 3 * (size_t)list[i].low, *q = s->points + 3 * (size_t)list[i].high;
    double length2 = 0.0;
    for (int k = 0; k < 3 && sum; ++k) {
      length2 += (p[k] - q[k]) * (p[k] - q[k]);
      lower[k] = fmin(lower[k], fmin(p[k], q[k]));
      upper[k] = fmax(upper[k], fmax(p[k], q[k]));
    }
    length += sqrt(length2) * abs(sum);
    used += sum != 0;
  }
  if (used) {
    for (int k = 0; k < 3; ++k) {
      out->blur_centre[k] = 0.5 * (lower[k] + upper[k]);
      radius2 += 0.25 * (upper[k] - lower[k]) * (upper[k] - lower[k]);
    }
    const double radius = sqrt(radius2);
    out->blur_radius = radius + sqrt(0.4 * length * radius);
  }
  free(list);
  return ABUT_SUCCESS;
}

abut_status solid_create(solid *out, const surface *s)
{
  memset(out, 0, sizeof *out);
  atomic_init(&out->overlaps, 0);
  TRY(tree_create(s, NULL, s->triangle_count, &out->all));
  out->near = &out->all;
  out->diagonal = s->diagonal;
  return find_blur(s, out);
}

void solid_free(solid *s)
{
  tree_free(&s->all);
  tree_free(&s->border);
}

static bool is_inside(solid *s, const double x[3])
{
  const double winding = tree_winding(&s->all, x);
  if (winding > TWICE) {
    atomic_store_explicit(&s->overlaps, 1, memory_order_relaxed);
  }
  return winding > INSIDE;
}

double solid_distance(solid *s, const double x[3])
{
  const double distance = sqrt(tree_nearest(s->near, x, HUGE_VAL).distance2);
  return is_inside(s, x) ? -distance : distance;
}

/* Whether the sign of a node follows from one beside it: the surface is nearer to one of both where
 * it passes between them. */
static bool follows(double distance, double beside, double spacing)
{
  return distance + fabs(beside) > spacing * (1.0 + 1e-9);
}

/* Whether signs follow around x, nodes being so far apart. */
static bool is_clear(const solid *s, const double x[3], double spacing)
{
  const double reach = s->blur_radius + spacing;
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += (x[k] - s->blur_centre[k]) * (x[k] - s->blur_centre[k]);
  }
  return s->blur_radius < 0.0 || sum > reach * reach;
}

void solid_lattice(solid *s, const double origin[3], double spacing, const size_t size[3],
                   double *out)
{
  const size_t step[3] = {size[1] * size[2], size[2], 1};
  uint32_t before = UINT32_MAX, row = UINT32_MAX; /* nearest of the last node, of the row's first */
  size_t at = 0;
  for (size_t i = 0; i < size[0]; ++i) {
    for (size_t j = 0; j < size[1]; ++j) {
      for (size_t k = 0; k < size[2]; ++k, ++at) {
        const size_t place[3] = {i, j, k};
        const double x[3] = {origin[0] + spacing * (double)i, origin[1] + spacing * (double)j,
                             origin[2] + spacing * (double)k};
        const nearest found = tree_nearest_from(s->near, x, k ? before : row);
        const double distance = sqrt(found.distance2);
        before = found.at;
        row = k ? row : before;
        const bool clear = is_clear(s, x, spacing);
        int known = -1;
        for (int a = 0; a < 3 && known < 0 && clear; ++a) {
          known = place[a] && follows(distance, out[at - step[a]], spacing) ? a : -1;
        }
        const bool inside = known < 0 ? is_inside(s, x) : out[at - step[known]] < 0.0;
        out[at] = inside ? -distance : distance;
      }
    }
  }
}

/* ---- the border of overlapping shells ---- */

typedef struct piece {
  double corner[3][3];
} piece;

typedef struct pieces {
  piece *at;
  size_t count, room;
} pieces;

static abut_status add_piece(pieces *p, const piece *one)
{
  void *memory = p->at;
  TRY(grow(&memory, &p->room, p->count + 1, sizeof *p->at));
  p->at = memory;
  p->at[p->count++] = *one;
  return ABUT_SUCCESS;
}

static void normal_of(const double *c, double n[3])
{
  corners_area(c, n);
  const double size = sqrt(dot(n, n));
  for (int k = 0; k < 3; ++k) {
    n[k] /= size;
  }
}

/* How far three corners reach below and above a plane. */
static void reach(const double *c, const double n[3], const double on[3], double *low, double *high)
{
  *low = HUGE_VAL;
  *high = -HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    double side = 0.0;
    for (int k = 0; k < 3; ++k) {
      side += n[k] * (c[3 * i + k] - on[k]);
    }
    *low = fmin(*low, side);
    *high = fmax(*high, side);
  }
}

/* Whether something else may cross a piece: a triangle near it through whose plane the piece
 * reaches as it does through the piece's, or one that lies in that the other way round, as where two
 * boxes touch. */
typedef struct crossing {
  const solid *s;
  const piece *p;
  const double *normal;
  bool found;
} crossing;

static abut_status look_at(void *user, uint32_t at)
{
  crossing *c = user;
  const double *corner = c->s->all.corners + 9 * (size_t)at;
  const double least = ON_PLANE * c->s->diagonal;
  double low, high, other[3];
  reach(corner, c->normal, c->p->corner[0], &low, &high);
  if (low < -least && high > least) {
    normal_of(corner, other);
    reach(c->p->corner[0], other, corner, &low, &high);
    c->found = low < -least && high > least;
  } else if (low >= -least && high <= least) {
    normal_of(corner, other);
    c->found = dot(other, c->normal) < 0.0;
  }
  return c->found ? ABUT_ERROR_CANCELLED : ABUT_SUCCESS; /* nothing more is to be looked at */
}

static void middle_of(const piece *p, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = (p->corner[0][k] + p->corner[1][k] + p->corner[2][k]) / 3.0;
  }
}

static bool may_be_crossed(const solid *s, const piece *p, const double normal[3])
{
  crossing c = {s, p, normal, false};
  double middle[3], radius2 = 0.0;
  middle_of(p, middle);
  for (int i = 0; i < 3; ++i) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      sum += (p->corner[i][k] - middle[k]) * (p->corner[i][k] - middle[k]);
    }
    radius2 = fmax(radius2, sum);
  }
  tree_visit(&s->all, middle, sqrt(radius2), look_at, &c);
  return c.found;
}

/* Whether what lies before a piece is outside. */
static bool is_border(const solid *s, const piece *p, const double normal[3])
{
  double x[3];
  middle_of(p, x);
  for (int k = 0; k < 3; ++k) {
    x[k] += OFF_FACE * s->diagonal * normal[k];
  }
  return tree_winding(&s->all, x) <= INSIDE;
}

static double longest_side(const piece *p)
{
  double longest2 = 0.0;
  for (int a = 0; a < 3; ++a) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double d = p->corner[a][k] - p->corner[(a + 1) % 3][k];
      sum += d * d;
    }
    longest2 = fmax(longest2, sum);
  }
  return sqrt(longest2);
}

/* The half of a piece, cut across its longest side. */
static piece half_of(const piece *p, int which)
{
  int longest = 0;
  double most = -1.0;
  for (int a = 0; a < 3; ++a) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double d = p->corner[a][k] - p->corner[(a + 1) % 3][k];
      sum += d * d;
    }
    longest = sum > most ? a : longest;
    most = sum > most ? sum : most;
  }
  piece half = *p;
  const int moved = which ? longest : (longest + 1) % 3;
  for (int k = 0; k < 3; ++k) {
    half.corner[moved][k] = 0.5 * (p->corner[longest][k] + p->corner[(longest + 1) % 3][k]);
  }
  return half;
}

typedef struct search {
  solid *s;
  double least;
  pieces *found; /* of each run of triangles */
  abut_status *status;
} search;

#define RUN 64          /* triangles a thread takes at a time */
#define CUTS_MOST 65536 /* of a run: pieces that are left then are as large as they are */
#define HALVINGS 40

typedef struct cutter {
  const search *of;
  pieces *to;
  double normal[3];
  size_t cuts;
} cutter;

/* Cuts a piece until nothing crosses it, or it is small; keeps what lies outside. *is_whole: all of
 * it does; it is one piece then, however it was cut. */
static abut_status keep_outside(cutter *c, const piece *now, int halvings, bool *is_whole)
{
  const solid *s = c->of->s;
  const bool is_small = longest_side(now) <= c->of->least || halvings == HALVINGS ||
                        c->cuts >= CUTS_MOST;
  if (is_small || !may_be_crossed(s, now, c->normal)) {
    *is_whole = is_border(s, now, c->normal);
    return *is_whole ? add_piece(c->to, now) : ABUT_SUCCESS;
  }
  const size_t before = c->to->count;
  *is_whole = true;
  ++c->cuts;
  for (int i = 0; i < 2; ++i) {
    const piece half = half_of(now, i);
    bool is_half = false;
    TRY(keep_outside(c, &half, halvings + 1, &is_half));
    *is_whole = *is_whole && is_half;
  }
  if (*is_whole) {
    c->to->count = before;
    TRY(add_piece(c->to, now));
  }
  return ABUT_SUCCESS;
}

static void search_run(void *user, size_t i)
{
  search *q = user;
  const tree *all = &q->s->all;
  const size_t end = (i + 1) * RUN < all->count ? (i + 1) * RUN : all->count;
  cutter c = {.of = q, .to = &q->found[i]};
  for (size_t t = i * RUN; t < end && q->status[i] == ABUT_SUCCESS; ++t) {
    piece whole;
    memcpy(whole.corner, all->corners + 9 * t, sizeof whole.corner);
    bool is_whole;
    normal_of(whole.corner[0], c.normal);
    q->status[i] = keep_outside(&c, &whole, 0, &is_whole);
  }
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
    status = q.status[i] != ABUT_SUCCESS ? fail(q.status[i], "no memory for a border") : status;
    count += q.found[i].count;
  }
  TRY_DONE(status);
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
