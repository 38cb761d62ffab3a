#include "surface/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.5     /* winding number */
#define TWICE 1.4      /* beyond it a place lies in two shells */
#define OFF_FACE 1e-5  /* of the diagonal: how far before a face its outside is asked about */
#define ON_PLANE 1e-9  /* of the diagonal: corners so near a plane lie on it */

abut_status solid_create(solid *out, const surface *s)
{
  memset(out, 0, sizeof *out);
  atomic_init(&out->overlaps, 0);
  TRY(tree_create(s, NULL, s->triangle_count, &out->all));
  out->near = &out->all;
  out->diagonal = s->diagonal;
  out->is_open = s->is_open;
  return ABUT_SUCCESS;
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
        int known = -1;
        for (int a = 0; a < 3 && known < 0 && !s->is_open; ++a) {
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

/* Whether something else may cross a piece: a triangle near it that reaches through its plane, or
 * lies in it the other way round, as where two boxes touch. */
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
  double side[3], u[3], v[3], along = 0.0;
  for (int i = 0; i < 3; ++i) {
    side[i] = 0.0;
    for (int k = 0; k < 3; ++k) {
      side[i] += c->normal[k] * (corner[3 * i + k] - c->p->corner[0][k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    u[k] = corner[3 + k] - corner[k];
    v[k] = corner[6 + k] - corner[k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    along += c->normal[k] * (u[i] * v[j] - u[j] * v[i]);
  }
  const double low = fmin(side[0], fmin(side[1], side[2]));
  const double high = fmax(side[0], fmax(side[1], side[2]));
  c->found = c->found || (low < -least && high > least) ||
             (low >= -least && high <= least && along < 0.0);
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

#define RUN 256     /* triangles a thread takes at a time */
#define CUTS_MOST 65536 /* of a run: pieces that are left then are as large as they are */
#define HALVINGS 40

/* Cuts a triangle until nothing crosses a piece, or it is small; keeps those that lie outside. */
static abut_status keep_outside(const search *q, pieces *to, const piece *whole, size_t *cuts)
{
  double u[3], v[3], normal[3], size = 0.0;
  piece stack[HALVINGS + 2];
  size_t depth = 0;
  for (int k = 0; k < 3; ++k) {
    u[k] = whole->corner[1][k] - whole->corner[0][k];
    v[k] = whole->corner[2][k] - whole->corner[0][k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = u[i] * v[j] - u[j] * v[i];
    size += normal[k] * normal[k];
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] /= sqrt(size);
  }
  stack[depth++] = *whole;
  while (depth) {
    const piece now = stack[--depth];
    const bool is_small = longest_side(&now) <= q->least || depth >= HALVINGS ||
                          *cuts >= CUTS_MOST;
    if (!is_small && may_be_crossed(q->s, &now, normal)) {
      ++*cuts;
      stack[depth++] = half_of(&now, 0);
      stack[depth++] = half_of(&now, 1);
    } else if (is_border(q->s, &now, normal)) {
      TRY(add_piece(to, &now));
    }
  }
  return ABUT_SUCCESS;
}

static void search_run(void *user, size_t i)
{
  search *q = user;
  const tree *all = &q->s->all;
  const size_t end = (i + 1) * RUN < all->count ? (i + 1) * RUN : all->count;
  size_t cuts = 0;
  for (size_t t = i * RUN; t < end && q->status[i] == ABUT_SUCCESS; ++t) {
    piece whole;
    memcpy(whole.corner, all->corners + 9 * t, sizeof whole.corner);
    q->status[i] = keep_outside(q, &q->found[i], &whole, &cuts);
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
