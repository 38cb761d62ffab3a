/* Joins adjacent faces. Faces that were meshed separately have corners on their common edges that
 * agree only up to the rounding of a program or file. */
#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

#define OFF_ENDS 30.0             /* in distances: nearer corners may still be welded to the end */
#define GROWTH 3.1622776601683795 /* factor of the distance in each step */

static abut_status copy(const void *from, size_t count, size_t size, void **out)
{
  TRY(allocate(out, count, size));
  memcpy(*out, from, count * size);
  return ABUT_SUCCESS;
}

void snapshot_free(snapshot *k)
{
  free(k->triangles);
  free(k->polygon);
  free(k->opposed);
  *k = (snapshot){0};
}

abut_status snapshot_take(const maker *m, snapshot *k)
{
  abut_status status = ABUT_SUCCESS;
  void *triangles = NULL, *polygon = NULL, *opposed = NULL;
  const size_t count = m->s->triangle_count;
  status = copy(m->s->triangles, count, 3 * sizeof(uint32_t), &triangles);
  status = status ? status : copy(m->s->polygon, count, sizeof(uint32_t), &polygon);
  status = status ? status : copy(m->opposed, m->opposed_count, 1, &opposed);
  *k = (snapshot){triangles,          polygon, opposed, count, m->opposed_count, m->report->welded,
                  m->report->repeated};
  if (status != ABUT_SUCCESS) {
    snapshot_free(k);
  }
  return status;
}

/* The surface takes over the snapshot's memory. */
abut_status snapshot_restore(maker *m, snapshot *k)
{
  free(m->s->triangles);
  free(m->s->polygon);
  free(m->opposed);
  m->s->triangles = k->triangles;
  m->s->polygon = k->polygon;
  m->opposed = k->opposed;
  m->s->triangle_count = m->triangle_room = k->triangle_count;
  m->opposed_count = k->opposed_count;
  m->report->welded = k->welded;
  m->report->repeated = k->repeated;
  *k = (snapshot){0};
  return find_neighbours(m);
}

size_t open_sides(const maker *m)
{
  size_t count = 0;
  for (size_t i = 0; i < 3 * m->s->triangle_count; ++i) {
    count += m->across[i] == NONE;
  }
  return count;
}

abut_status renew(maker *m, bool any)
{
  if (any) {
    TRY(drop_repeated(m));
    TRY(find_neighbours(m));
  }
  return ABUT_SUCCESS;
}

static abut_status join_within(maker *m, double distance)
{
  bool any;
  TRY(weld_near(m, distance, NULL, &any));
  TRY(renew(m, any));
  TRY(cut_open_sides(m, distance, OFF_ENDS * distance, &any));
  return renew(m, any);
}

/* Also cuts where corners are so near a side's end that they might have been welded to it. */
static abut_status cut_near_ends(maker *m, double distance)
{
  bool any;
  TRY(cut_open_sides(m, distance, distance, &any));
  return renew(m, any);
}

/* Marks the corners of shells that have an edge with more than two triangles. Closed shells without
 * such edges are not changed, however thin they are. */
static abut_status mark_tangled(maker *m, unsigned char *marks)
{
  const surface *s = m->s;
  const surface_report before = *m->report;
  void *memory = NULL;
  TRY(find_shells_again(m, &before));
  TRY(allocate(&memory, m->shell_count, 1));
  unsigned char *is_tangled = memory;
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    is_tangled[m->shell[i / 3]] |= m->across[i] == TANGLED;
  }
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    marks[s->triangles[i]] |= is_tangled[m->shell[i / 3]];
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* At this stage, duplicate faces and faces on both sides of a wall between two solids share their
 * rims but not their interior corners. */
static abut_status join_sheets(maker *m, double distance)
{
  abut_status status = ABUT_SUCCESS;
  void *marks = NULL;
  bool any;
  TRY_DONE(allocate(&marks, m->s->point_count, 1));
  TRY_DONE(mark_tangled(m, marks));
  TRY_DONE(weld_near(m, distance, marks, &any));
  TRY_DONE(renew(m, any));
  TRY_DONE(drop_walls(m, &any));
  TRY_DONE(renew(m, any));
done:
  free(marks);
  return status;
}

typedef abut_status (*joining)(maker *m, double distance);

/* Joins, and restores the previous state unless the number of open sides or of edges with many
 * faces decreased. */
static abut_status try_to(maker *m, joining join, double distance, bool *better)
{
  abut_status status = ABUT_SUCCESS;
  snapshot before = {0};
  const size_t open = open_sides(m), tangled = m->report->tangled_edges;
  TRY(snapshot_take(m, &before));
  TRY_DONE(join(m, distance));
  const size_t now = open_sides(m);
  *better = join == join_sheets ? m->report->tangled_edges < tangled && now <= open : now < open;
  TRY_DONE(*better ? ABUT_SUCCESS : snapshot_restore(m, &before));
done:
  snapshot_free(&before);
  return status;
}

abut_status join_open(maker *m)
{
  double reached = WELD_SHARE * m->s->diagonal;
  TRY(join_within(m, reached));
  for (double share = GROWTH * WELD_SHARE; share < 1.01 * WELD_MOST && open_sides(m);
       share *= GROWTH) {
    bool better;
    TRY(try_to(m, join_within, share * m->s->diagonal, &better));
    reached = better ? share * m->s->diagonal : reached;
    m->report->welded_within = better ? reached : m->report->welded_within;
  }
  if (open_sides(m)) {
    bool better;
    TRY(try_to(m, cut_near_ends, WELD_SHARE * m->s->diagonal, &better));
  }
  /* Interior corners of faces may be one step farther apart than corners of rims. */
  const double farthest = m->report->welded_within > 0.0 ? 1.01 * GROWTH * reached : reached;
  for (; m->report->tangled_edges && reached <= farthest; reached *= GROWTH) {
    bool better;
    TRY(try_to(m, join_sheets, reached, &better));
    m->report->welded_within =
      better && reached > 1.01 * WELD_SHARE * m->s->diagonal ? reached : m->report->welded_within;
  }
  return ABUT_SUCCESS;
}
