#include "surface/samples.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "surface/sides.h"
#include "surface/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARP_COSINE 0.8660254037844387 /* 30 degrees */
#define RUN 512                         /* triangles a thread takes at a time */
#define SLAB_SHARE 0.4  /* of its thickness: a thin part's middle is as deep, but near its rim */
#define LOST_SHARE 0.25 /* of its depth: a thin part's middle is at least so deep in a spline */

typedef struct found {
  sample *at;
  size_t count, room;
  abut_status status;
} found;

typedef struct search {
  const sampler *from;
  double spacing;
  size_t level;
  found *of_run;
} search;

static bool lies_in_block(const spline *s, const double x[3], size_t level)
{
  int32_t at[3];
  const double cell = spline_spacing(s, level) * ABUT_GRID_BLOCK;
  for (int k = 0; k < 3; ++k) {
    at[k] = (int32_t)floor((x[k] - s->origin[k]) / cell);
  }
  return !level || spline_find(s, level, at) >= 0;
}

/* What the spline says at a point of the surface whose outer normal is n. */
static void judge(const sampler *q, const double n[3], sample *to)
{
  const double value = spline_value(q->s, to->x, q->s->level_count);
  to->error = fabs(value);
  if (q->edges) {
    const double reach2 = q->edge_reach * q->edge_reach;
    to->at_edge = tree_nearest(q->edges, to->x, reach2).at != UINT32_MAX;
  }
  if (!(q->thin > 0.0)) {
    return;
  }
  const double inward[3] = {-n[0], -n[1], -n[2]};
  const double through = tree_cast(q->inside->near, to->x, inward, 1e-9 * q->of->diagonal,
                                   q->thin);
  const double into = 0.5 * (through < q->thin ? through : q->thin);
  double middle[3];
  for (int k = 0; k < 3; ++k) {
    middle[k] = to->x[k] + into * inward[k];
  }
  const double there = spline_value(q->s, middle, q->s->level_count);
  if (through < q->thin) {
    const double depth = sqrt(tree_nearest(q->inside->near, middle, HUGE_VAL).distance2);
    to->is_thin = true;
    to->is_lost = there > -LOST_SHARE * depth;
    to->is_wedge = through < q->wedge || depth < SLAB_SHARE * through;
    to->error = fmax(to->error, fabs(there + depth));
  } else {
    to->is_lost = to->is_wedge = there > 0.0; /* the surface's other side is no inside */
  }
}

static abut_status take(const search *q, found *to, const double x[3], const double normal[3])
{
  void *memory = to->at;
  if (!lies_in_block(q->from->s, x, q->level)) {
    return ABUT_SUCCESS;
  }
  TRY(grow(&memory, &to->room, to->count + 1, sizeof *to->at));
  to->at = memory;
  sample *one = &to->at[to->count++];
  memset(one, 0, sizeof *one);
  memcpy(one->x, x, sizeof one->x);
  judge(q->from, normal, one);
  return ABUT_SUCCESS;
}

/* Rows along a triangle's longest side. *credit: the share of a point that smaller triangles before
 * it have left over. */
static abut_status take_triangle(const search *q, found *to, const double *c, double *credit)
{
  double side[3][3], length[3], normal[3];
  int longest = 0;
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < 3; ++k) {
      side[a][k] = c[3 * ((a + 1) % 3) + k] - c[3 * a + k];
    }
    length[a] = sqrt(dot(side[a], side[a]));
    longest = length[a] > length[longest] ? a : longest;
  }
  cross(side[0], side[1], normal);
  const double size = sqrt(dot(normal, normal));
  if (!(size > 0.0)) {
    return ABUT_SUCCESS;
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] /= size;
  }
  const double points = 0.5 * size / (q->spacing * q->spacing);
  if (points + *credit < 1.0) {
    *credit += points;
    return ABUT_SUCCESS;
  }
  *credit = points < 1.0 ? points + *credit - 1.0 : 0.0;
  const double *base = c + 3 * longest, *along = side[longest];
  const double *back = side[(longest + 2) % 3]; /* from the far corner to the base's begin */
  const double rows = fmax(1.0, ceil(size / (length[longest] * q->spacing)));
  for (double i = 0.5; i < rows; i += 1.0) {
    const double up = i / rows, left = length[longest] * (1.0 - up);
    const double columns = fmax(1.0, ceil(left / q->spacing));
    for (double j = 0.5; j < columns; j += 1.0) {
      double x[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = base[k] - up * back[k] + (1.0 - up) * j / columns * along[k];
      }
      TRY(take(q, to, x, normal));
    }
  }
  return ABUT_SUCCESS;
}

static void search_run(void *user, size_t i)
{
  search *q = user;
  const tree *t = q->from->inside->near;
  const size_t end = (i + 1) * RUN < t->count ? (i + 1) * RUN : t->count;
  found *to = &q->of_run[i];
  double credit = 0.5;
  for (size_t at = i * RUN; at < end && to->status == ABUT_SUCCESS; ++at) {
    /* What closes a hole is a guess: nobody's faces. */
    const bool is_border = t == &q->from->inside->border;
    if (is_border || q->from->of->polygon[t->triangle[at]] != NO_POLYGON) {
      to->status = take_triangle(q, to, t->corners + 9 * at, &credit);
    }
  }
}

abut_status samples_take(const sampler *from, double spacing, size_t level, sample **out,
                         size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t runs = (from->inside->near->count + RUN - 1) / RUN;
  void *memory = NULL, *all = NULL;
  *out = NULL;
  *count = 0;
  TRY_DONE(allocate(&memory, runs, sizeof(found)));
  search q = {from, spacing, level, memory};
  parallel_for(runs, search_run, &q);
  for (size_t i = 0; i < runs; ++i) {
    *count += q.of_run[i].count;
    status = q.of_run[i].status != ABUT_SUCCESS ? ABUT_ERROR_MEMORY : status;
  }
  if (status != ABUT_SUCCESS) {
    status = fail(status, "no memory for points of the surface");
    goto done;
  }
  TRY_DONE(allocate(&all, *count, sizeof(sample)));
  *out = all;
  for (size_t i = 0; i < runs; ++i) {
    if (q.of_run[i].count) {
      memcpy(all, q.of_run[i].at, q.of_run[i].count * sizeof(sample));
      all = (sample *)all + q.of_run[i].count;
    }
  }
done:
  for (size_t i = 0; memory && i < runs; ++i) {
    free(((found *)memory)[i].at);
  }
  free(memory);
  return status;
}

/* ---- sharp sides ---- */

static bool normal_of(const surface *s, size_t triangle, double n[3])
{
  triangle_area(s, triangle, n);
  const double size = sqrt(dot(n, n));
  for (int k = 0; k < 3; ++k) {
    n[k] /= size > 0.0 ? size : 1.0;
  }
  return size > 0.0;
}

/* Sides of more than two triangles are sharp. */
static bool is_sharp(const surface *s, uint32_t side, uint32_t across)
{
  double m[3], n[3];
  return across == SIDE_TANGLED ||
         (across < SIDE_TANGLED && side < across && normal_of(s, side / 3, m) &&
          normal_of(s, across / 3, n) && dot(m, n) < SHARP_COSINE);
}

abut_status sharp_sides(const surface *s, double **corners, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t sides = 3 * s->triangle_count;
  void *memory = NULL, *out = NULL;
  *corners = NULL;
  *count = 0;
  TRY_DONE(allocate(&memory, sides, sizeof(uint32_t)));
  uint32_t *sharp = memory;
  for (uint32_t i = 0; i < sides; ++i) {
    if (is_sharp(s, i, s->across[i])) {
      sharp[(*count)++] = i;
    }
  }
  TRY_DONE(allocate(&out, *count, 9 * sizeof(double)));
  *corners = out;
  for (size_t i = 0; i < *count; ++i) {
    double *to = *corners + 9 * i;
    memcpy(to, s->points + 3 * (size_t)s->triangles[sharp[i]], 3 * sizeof *to);
    memcpy(to + 3, s->points + 3 * (size_t)s->triangles[side_next(sharp[i])], 3 * sizeof *to);
    memcpy(to + 6, to + 3, 3 * sizeof *to);
  }
done:
  free(memory);
  return status;
}
