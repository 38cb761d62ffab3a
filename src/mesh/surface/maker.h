/* A surface during construction, and the steps of surface_create. */
#ifndef ABUT_SURFACE_MAKER_H
#define ABUT_SURFACE_MAKER_H

#include "math/vector.h"
#include "mesh/surface/surface.h"
#include <math.h>

/* of the diagonal: corners on open edges within this distance are merged, */
#define WELD_SHARE 1e-6
#define WELD_MOST 1e-3    /* and within this distance if that closes more of the surface */
#define SHEET_VOLUME 1e-6 /* over area to the power 3/2: shells with less are sheets */
#define NONE UINT32_MAX

typedef struct maker {
  surface *s;
  surface_report *report;
  size_t triangle_room, point_room;
  unsigned char *opposed; /* (opposed_count) whether an opposite duplicate existed */
  size_t opposed_count;
  uint32_t *across; /* (triangle_count, 3): the triangle and side across each side, 4 t + side */
  uint32_t *shell;  /* (triangle_count) */
  size_t shell_count;
  uint32_t *tangles; /* (tangle_count, 2): triangles at edges of more than two */
  size_t tangle_count, tangle_room;
} maker;

/* several sides are across, or one that no orientation matches */
#define TANGLED (UINT32_MAX - 1)

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

/* Hash table of points or other items by position: open addressing, a power of two of entries, NONE
 * for empty ones. */
typedef struct places {
  uint32_t *at;
  size_t mask;
} places;

abut_status places_create(places *p, size_t count);
size_t hash_words(const uint64_t *words, size_t count);

/* to: (count) the first vertex at the position of each vertex. */
abut_status weld_equal(const double *vertices, size_t count, uint32_t *to);

/* Merges corners within `size` [m] of each other: those on open sides, or those in `marks`
 * (point_count) if given. If `size` exceeds WELD_SHARE of the diagonal, no triangle becomes flat or
 * turns over. *any: whether corners were merged. */
abut_status weld_near(maker *m, double size, const unsigned char *marks, bool *any);

/* Marks the corners of open sides. Returns the number of open sides. */
size_t mark_open(const maker *m, unsigned char *is_open);

/* ---- triangles ---- */

abut_status add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t polygon);

/* Cuts a polygon whose consecutive corners are distinct. work: room for 4 `size`. */
abut_status add_polygon(maker *m, const uint32_t *corner, size_t size, uint32_t polygon,
                        uint32_t *work);

/* Adds a definition's faces, with corners replaced by `to`. */
abut_status add_faces(maker *m, const abut_body_def *def, const uint32_t *to);

/* Drops flat triangles and duplicates. */
abut_status drop_repeated(maker *m);

/* Drops triangles between two solids, which existed on both sides. The result is one solid. If all
 * faces of a surface exist on both sides, one of each is retained. *any: whether any were dropped;
 * flat triangles are left in their place. */
abut_status drop_walls(maker *m, bool *any);

/* ---- neighbours ---- */

/* Fills in `across`: NONE for open sides, TANGLED at edges of more than two triangles. */
abut_status find_neighbours(maker *m);

/* Whether two triangles traverse their common side in opposite directions. */
bool agrees(const surface *s, uint32_t mine, uint32_t other);

/* Gives each triangle its shell, and marks triangles that must turn to match the first of their
 * shell. */
abut_status find_shells(maker *m, unsigned char *turns);

/* Recomputes the shells without changing the report. */
abut_status find_shells_again(maker *m, const surface_report *before);

/* In each inconsistently oriented shell, turns the part with the smaller area. */
abut_status orient(maker *m);

/* ---- holes ---- */

/* Cuts triangles where corners of others are within `reach` [m] of their open sides, as in files
 * whose adjacent faces were meshed at different resolutions. Corners within off_ends [m] of a
 * side's ends, but at most a tenth of the side, are left to these ends. */
abut_status cut_open_sides(maker *m, double reach, double off_ends, bool *any);

/* Welds and cuts along open sides. The distance grows from WELD_SHARE to WELD_MOST of the diagonal
 * while the number of open sides decreases. */
abut_status join_open(maker *m);

/* Closes the rims of open sides. The new sides run in the opposite direction. */
abut_status close_holes(maker *m);

/* A copy of a surface, restored if a step does not improve it. */
typedef struct snapshot {
  uint32_t *triangles, *polygon;
  unsigned char *opposed;
  size_t triangle_count, opposed_count, welded, repeated;
} snapshot;

abut_status snapshot_take(const maker *m, snapshot *out);

/* Restores the surface, and empties the snapshot. Recomputes `across` but not the shells. */
abut_status snapshot_restore(maker *m, snapshot *k);
void snapshot_free(snapshot *k);

/* If `any` triangles have changed: drops flat and duplicate triangles, and recomputes `across`. */
abut_status renew(maker *m, bool any);

/* Returns the number of open sides. */
size_t open_sides(const maker *m);

/* ---- inside and outside ---- */

/* Closes holes and turns shells. The holes are opened again if the surface was almost closed and
 * closing moved the inside: then gaps are narrow and rims run along several of them. */
abut_status close_surface(maker *m);

/* Gives the point just in front of a triangle's centre. */
void before_face(const surface *s, size_t triangle, double out[3]);

double volume_under(const surface *s, size_t triangle, const double origin[3]);

/* A shell of negative volume is a cavity if it is inside another shell, and else inside out. */
abut_status turn_shells(maker *m);

#endif
