/* This is a surface while it is made, and the steps of surface_create. */
#ifndef ABUT_SURFACE_MAKER_H
#define ABUT_SURFACE_MAKER_H

#include "math/vector.h"
#include "mesh/surface/surface.h"
#include <math.h>

#define WELD_SHARE 1e-6   /* of the diagonal: corners on open edges that lie so near are one, */
#define WELD_MOST 1e-3    /* and those that lie so near where that closes more of the surface */
#define SHEET_VOLUME 1e-6 /* over area to the power 3/2: a shell of less encloses nothing */
#define NONE UINT32_MAX

typedef struct maker {
  surface *s;
  surface_report *report;
  size_t triangle_room, point_room;
  unsigned char *opposed; /* (opposed_count) whether another one was there the other way round */
  size_t opposed_count;
  uint32_t *across; /* (triangle_count, 3): the triangle and side across each side, 4 t + side */
  uint32_t *shell;  /* (triangle_count) */
  size_t shell_count;
  uint32_t *tangles; /* (tangle_count, 2): triangles that meet at an edge of more than two */
  size_t tangle_count, tangle_room;
} maker;

#define TANGLED (UINT32_MAX - 1) /* across such a side are several, or one that no turn suits */

static inline const double *point_of(const surface *s, uint32_t i)
{
  return s->points + 3 * (size_t)i;
}

/* Returns the corner where side 3 t + k of triangle t ends. */
static inline uint32_t end_of(const surface *s, size_t side)
{
  return s->triangles[side % 3 == 2 ? side - 2 : side + 1];
}

void turn(surface *s, size_t triangle);

/* ---- welding ---- */

/* A table holds points, or what else, by where they lie: open addressing, a power of two of
 * places, NONE where there is nothing. */
typedef struct places {
  uint32_t *at;
  size_t mask;
} places;

abut_status places_create(places *p, size_t count);
size_t hash_words(const uint64_t *words, size_t count);

/* to: (count) for each vertex the first one at its place. */
abut_status weld_equal(const double *vertices, size_t count, uint32_t *to);

/* Corners that lie on open sides, or those of `marks` (point_count) if it is given, become one
 * within `size` [m]. Beyond WELD_SHARE of the diagonal no triangle becomes flat by it, or turns
 * over. *any: whether any do. */
abut_status weld_near(maker *m, double size, const unsigned char *marks, bool *any);

/* Marks the corners of open sides. Returns how many sides are open. */
size_t mark_open(const maker *m, unsigned char *is_open);

/* ---- triangles ---- */

abut_status add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t polygon);

/* Cuts a polygon of distinct neighbouring corners. work: room for 4 `size`. */
abut_status add_polygon(maker *m, const uint32_t *corner, size_t size, uint32_t polygon,
                        uint32_t *work);

/* Adds a definition's faces, by the corners that stand for others. */
abut_status add_faces(maker *m, const abut_body_def *def, const uint32_t *to);

/* Drops flat triangles, and those whose corners another one has too. */
abut_status drop_repeated(maker *m);

/* Drops triangles that lie between two solids, which were there from both sides: what is left is
 * one solid. A surface whose faces are all there from both sides keeps one of each. *any: whether
 * any were dropped, which leaves flat ones in their places. */
abut_status drop_walls(maker *m, bool *any);

/* ---- neighbours ---- */

/* Fills in `across`: NONE behind open sides, TANGLED where more than two meet. */
abut_status find_neighbours(maker *m);

/* Whether both run along their common side in opposite directions. */
bool agrees(const surface *s, uint32_t mine, uint32_t other);

/* Gives each triangle its shell, and a mark where it must turn to suit the shell's first one. */
abut_status find_shells(maker *m, unsigned char *turns);

/* Finds the shells anew, and leaves what was reported of the surface before. */
abut_status find_shells_again(maker *m, const surface_report *before);

/* Turns the smaller part, by area, of each shell whose triangles do not agree. */
abut_status orient(maker *m);

/* ---- holes ---- */

/* Cuts triangles where corners of others lie within `reach` [m] of their open sides, as in files of
 * which one program made the faces finer than another one their neighbours. Corners within off_ends
 * [m] of a side's ends are left to these, but for a tenth of the side. */
abut_status cut_open_sides(maker *m, double reach, double off_ends, bool *any);

/* Welds and cuts along open sides, within distances that grow from WELD_SHARE to WELD_MOST of the
 * diagonal while that leaves fewer sides open. */
abut_status join_open(maker *m);

/* Closes the rims of open sides, which run against them. */
abut_status close_holes(maker *m);

/* A surface as it was, should a step make it no better. */
typedef struct snapshot {
  uint32_t *triangles, *polygon;
  unsigned char *opposed;
  size_t triangle_count, opposed_count, welded, repeated;
} snapshot;

abut_status snapshot_take(const maker *m, snapshot *out);

/* Goes back, and empties the snapshot; what lies across sides is found again, and shells are not.
 */
abut_status snapshot_restore(maker *m, snapshot *k);
void snapshot_free(snapshot *k);

/* After triangles have changed, if `any` have: drops those that are flat or repeated by now, and
 * finds what lies across sides again. */
abut_status renew(maker *m, bool any);

/* How many sides are open. */
size_t open_sides(const maker *m);

/* ---- inside and outside ---- */

/* Closes holes and turns shells, and opens the holes again where the surface was nearly closed and
 * what closes them has moved the inside: gaps are narrow then, and rims run along several of them.
 */
abut_status close_surface(maker *m);

/* Gives the place just before a triangle's middle, where it faces. */
void before_face(const surface *s, size_t triangle, double out[3]);

double volume_under(const surface *s, size_t triangle, const double origin[3]);

/* A shell of negative volume is a cavity where it lies in another one, else inside out. */
abut_status turn_shells(maker *m);

#endif
