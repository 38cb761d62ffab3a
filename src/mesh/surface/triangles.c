#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/polygon.h"
#include <stdlib.h>
#include <string.h>

/* height over longest side: lower triangles are lines */
#define FLAT_SHARE 1e-9
#define TRIANGLES_MOST ((size_t)1 << 28) /* their number times four must fit in 32 bits */

void triangle_area(const surface *s, size_t triangle, double area[3])
{
  const uint32_t *t = s->triangles + 3 * triangle;
  const double *a = point_of(s, t[0]), *b = point_of(s, t[1]), *c = point_of(s, t[2]);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    area[i] = 0.5 * ((b[j] - a[j]) * (c[l] - a[l]) - (b[l] - a[l]) * (c[j] - a[j]));
  }
}

abut_status add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t polygon)
{
  surface *s = m->s;
  size_t room = m->triangle_room;
  if (s->triangle_count >= TRIANGLES_MOST) {
    return fail(ABUT_ERROR_BODY, "the mesh has more than %zu triangles", TRIANGLES_MOST);
  }
  if (s->triangle_count == room) {
    void *triangles = s->triangles, *polygons = s->polygon;
    size_t room_too = room;
    TRY(grow(&triangles, &m->triangle_room, room + 1, 3 * sizeof(uint32_t)));
    s->triangles = triangles;
    TRY(grow(&polygons, &room_too, m->triangle_room, sizeof(uint32_t)));
    s->polygon = polygons;
  }
  uint32_t *t = s->triangles + 3 * s->triangle_count;
  t[0] = a;
  t[1] = b;
  t[2] = c;
  s->polygon[s->triangle_count++] = polygon;
  return ABUT_SUCCESS;
}

abut_status add_polygon(maker *m, const uint32_t *corner, size_t size, uint32_t polygon,
                        uint32_t *work)
{
  const size_t count = polygon_cut(m->s->points, corner, size, work);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t *t = work + 3 * i;
    TRY(add_triangle(m, corner[t[0]], corner[t[1]], corner[t[2]], polygon));
  }
  return ABUT_SUCCESS;
}

abut_status add_faces(maker *m, const abut_body_def *def, const uint32_t *to)
{
  abut_status status = ABUT_SUCCESS;
  void *ring = NULL, *work = NULL;
  size_t most = 3;
  for (size_t f = 0; f < def->face_count; ++f) {
    most = def->face_sizes[f] > most ? def->face_sizes[f] : most;
  }
  TRY_DONE(allocate(&ring, most, sizeof(uint32_t)));
  TRY_DONE(allocate(&work, most, 4 * sizeof(uint32_t)));
  const uint32_t *corner = def->face_indices;
  for (size_t f = 0; f < def->face_count; corner += def->face_sizes[f], ++f) {
    uint32_t *r = ring;
    size_t size = 0;
    for (uint32_t k = 0; k < def->face_sizes[f]; ++k) {
      const uint32_t v = to[corner[k]];
      if (!size || r[size - 1] != v) {
        r[size++] = v;
      }
    }
    while (size > 1 && r[size - 1] == r[0]) {
      --size;
    }
    if (size >= 3) {
      TRY_DONE(add_polygon(m, r, size, (uint32_t)f, work));
    }
  }
done:
  free(ring);
  free(work);
  return status;
}

/* Whether a triangle is almost a line, or has two equal corners. cut_open_sides closes the gap that
 * it leaves between its neighbours. */
static bool is_flat(const surface *s, size_t triangle)
{
  const uint32_t *t = s->triangles + 3 * triangle;
  double area[3], longest = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double *a = point_of(s, t[i]), *b = point_of(s, t[(i + 1) % 3]);
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    longest = fmax(longest, length(d));
  }
  triangle_area(s, triangle, area);
  return !(2.0 * length(area) > FLAT_SHARE * longest * longest);
}

abut_status drop_repeated(maker *m)
{
  surface *s = m->s;
  places p;
  void *marks = NULL;
  TRY(allocate(&marks, s->triangle_count, 1));
  if (m->opposed) {
    memcpy(marks, m->opposed, m->opposed_count); /* triangles have only been added behind them */
  }
  free(m->opposed);
  m->opposed = marks;
  TRY(places_create(&p, s->triangle_count));
  size_t kept = 0;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    const uint32_t *t = s->triangles + 3 * i;
    if (is_flat(s, i)) {
      continue;
    }
    uint32_t low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    const uint32_t least = t[2] < low ? t[2] : low, most = t[2] > high ? t[2] : high;
    const uint32_t middle = t[0] ^ t[1] ^ t[2] ^ least ^ most;
    const uint64_t words[2] = {(uint64_t)least << 32 | middle, most};
    size_t at = hash_words(words, 2) & p.mask;
    bool is_there = false;
    for (; p.at[at] != NONE && !is_there; at = (at + 1) & p.mask) {
      const uint32_t *o = s->triangles + 3 * (size_t)p.at[at];
      size_t same = 0, first = 0;
      for (size_t a = 0; a < 3; ++a) {
        same += o[a] == t[0] || o[a] == t[1] || o[a] == t[2];
        first = o[a] == t[0] ? a : first;
      }
      is_there = same == 3;
      if (is_there && o[(first + 1) % 3] != t[1]) {
        m->opposed[p.at[at]] = 1;
      }
    }
    if (is_there) {
      ++m->report->repeated;
      continue;
    }
    p.at[at] = (uint32_t)kept;
    memmove(s->triangles + 3 * kept, t, 3 * sizeof *t);
    m->opposed[kept] = m->opposed[i];
    s->polygon[kept++] = s->polygon[i];
  }
  s->triangle_count = m->opposed_count = kept;
  free(p.at);
  return ABUT_SUCCESS;
}

/* Marks a connected patch of opposed triangles. Returns whether they are only walls between solids:
 * the whole rim of the patch is at edges of more than two faces. */
static bool mark_patch(const maker *m, uint32_t from, uint32_t *queue, size_t *count)
{
  bool meets_many = false, meets_one = false;
  size_t head = 0, tail = 0;
  queue[tail++] = from;
  m->opposed[from] = 2;
  while (head < tail) {
    const size_t t = queue[head++];
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t other = m->across[3 * t + k];
      if (other == TANGLED) {
        meets_many = true;
      } else if (other == NONE || !m->opposed[other / 4]) {
        meets_one = true;
      } else if (m->opposed[other / 4] == 1) {
        m->opposed[other / 4] = 2;
        queue[tail++] = other / 4;
      }
    }
  }
  *count = tail;
  return meets_many && !meets_one;
}

abut_status drop_walls(maker *m, bool *any)
{
  surface *s = m->s;
  void *memory = NULL;
  *any = false;
  TRY(allocate(&memory, s->triangle_count, sizeof(uint32_t)));
  uint32_t *queue = memory;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    size_t count = 0;
    if (m->opposed[i] == 1 && mark_patch(m, (uint32_t)i, queue, &count)) {
      for (size_t k = 0; k < count; ++k) {
        uint32_t *t = s->triangles + 3 * (size_t)queue[k];
        t[1] = t[2] = t[0]; /* dropped with flat triangles */
      }
      *any = true;
    }
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    m->opposed[i] = m->opposed[i] != 0; /* for the next call */
  }
  free(memory);
  return ABUT_SUCCESS;
}
