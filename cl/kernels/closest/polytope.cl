// A polytope of support points of the Minkowski difference of one row. It grows at the face that is
// nearest to the origin (van den Bergen 2001). Its memory is the work-item's own scratch: corners,
// planes of faces by components, and indices.
//
// Planes and corners are wide numbers, because planes of small faces are too inaccurate if their
// corners are computed in float. Corners computed in wide numbers define the polytope, however
// their support points were rounded.
//
// The origin may be outside by the distance of touching shapes. Distances of planes from the origin
// are then negative, and nothing else differs.

// The share that counts as flat, and the height above a face that counts as zero.
#define FLAT_SHARE ((wide)8 * REAL_EPSILON)
#if REAL_DOUBLE || !WIDE
#define POLYTOPE_SLACK ((wide)4 * REAL_EPSILON)
#else
#define POLYTOPE_SLACK ((wide)R(1e-11))
#endif

typedef struct closest_polytope {
  int corners_most, corners, faces; // faces: number of used slots, including free ones
  int faces_most, free;             // free: number of slots in the list `vacant`
  GLOBAL wide *corner;              // POLYTOPE_CORNER each: the difference, and the point of
                                    // shape 1
  GLOBAL real *key; // each face's distance for the choice of the nearest, or REAL_BIG if the face
                    // is never chosen
  GLOBAL wide *nx, *ny, *nz, *off; // outward unit normals, distances of the planes from the origin
  GLOBAL int *code;                // (corners, 2)
  GLOBAL int *link;                // (corners) the new face that begins at a corner, by `round`
  GLOBAL int *round;               // (corners) the turn in which `link` was set
  GLOBAL int *ends;                // (faces, 3) corners, counterclockwise seen from outside
  GLOBAL int *beside; // (faces, 3) the face across the edge from each corner to the next
  GLOBAL int *seen;   // (faces) the last turn in which the face was visible from a new corner
  GLOBAL int *vacant, *stack; // (faces)
  int turn;                   // counts growths
} closest_polytope;

static closest_polytope closest_polytope_in(GLOBAL wide *reals, GLOBAL int *ints, int corners)
{
  closest_polytope p;
  const int faces = POLYTOPE_FACES(corners);
  p.corners_most = corners;
  p.faces_most = faces;
  p.corners = p.faces = p.free = 0;
  p.nx = reals;
  p.ny = p.nx + faces;
  p.nz = p.ny + faces;
  p.off = p.nz + faces;
  p.corner = p.off + faces;
  p.key = (GLOBAL real *)(p.corner + POLYTOPE_CORNER * corners);
  p.ends = ints;
  p.beside = p.ends + 3 * faces;
  p.seen = p.beside + 3 * faces;
  p.vacant = p.seen + faces;
  p.stack = p.vacant + faces;
  p.code = p.stack + faces;
  p.link = p.code + 2 * corners;
  p.round = p.link + corners;
  p.turn = 0;
  return p;
}

static void closest_cross(const wide a[3], const wide b[3], wide out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static wide closest_dot(const wide a[3], const wide b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void closest_between(const closest_polytope *p, int from, int to, wide out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = p->corner[POLYTOPE_CORNER * to + k] - p->corner[POLYTOPE_CORNER * from + k];
  }
}

static wide closest_height(const closest_polytope *p, int face, const wide x[3])
{
  return p->nx[face] * x[0] + p->ny[face] * x[1] + p->nz[face] * x[2] - p->off[face];
}

// Reserves a slot for a face, or returns -1.
static int closest_new_face(closest_polytope *p)
{
  if (p->free > 0) {
    return p->vacant[--p->free];
  }
  if (p->faces >= p->faces_most) {
    return -1;
  }
#if LANES > 1
  if (p->faces % LANES == 0) {
    lane_store(lane_lit(REAL_BIG), p->key + p->faces);
  }
#endif
  return p->faces++;
}

static void closest_drop_face(closest_polytope *p, int face)
{
  p->key[face] = REAL_BIG;
  p->vacant[p->free++] = face;
}

// Sets a face's corners and plane. A face without area, whose new corner is on its edge's line, is
// never chosen, and gets the plane of the face across that edge.
static void closest_set_face(closest_polytope *p, int face, int a, int b, int c, int across)
{
  wide e1[3], e2[3], normal[3], at[3];
  closest_between(p, a, b, e1);
  closest_between(p, a, c, e2);
  closest_cross(e1, e2, normal);
  const wide nn = closest_dot(normal, normal);
  const wide least =
    (wide)256 * WIDE_EPSILON * WIDE_EPSILON * closest_dot(e1, e1) * closest_dot(e2, e2);
  p->ends[3 * face] = a;
  p->ends[3 * face + 1] = b;
  p->ends[3 * face + 2] = c;
  p->seen[face] = 0;
  if (nn <= least || nn <= REAL_TINY) {
    p->nx[face] = across < 0 ? (wide)0 : p->nx[across];
    p->ny[face] = across < 0 ? (wide)0 : p->ny[across];
    p->nz[face] = across < 0 ? (wide)0 : p->nz[across];
    p->off[face] = across < 0 ? (wide)0 : p->off[across];
    p->key[face] = REAL_BIG;
    return;
  }
  const wide by = (wide)1 / wide_sqrt(nn);
  for (int k = 0; k < 3; ++k) {
    normal[k] *= by;
    at[k] = p->corner[POLYTOPE_CORNER * a + k];
  }
  p->nx[face] = normal[0];
  p->ny[face] = normal[1];
  p->nz[face] = normal[2];
  p->off[face] = closest_dot(normal, at);
  p->key[face] = (real)p->off[face];
}

static void closest_add_corner(closest_polytope *p, const wide x[POLYTOPE_CORNER],
                               const int code[2])
{
  for (int k = 0; k < POLYTOPE_CORNER; ++k) {
    p->corner[POLYTOPE_CORNER * p->corners + k] = x[k];
  }
  p->code[2 * p->corners] = code[0];
  p->code[2 * p->corners + 1] = code[1];
  p->round[p->corners] = 0;
  ++p->corners;
}

// Makes the four faces of the first four corners. Returns whether they form a tetrahedron.
static int closest_set_tetrahedron(closest_polytope *p)
{
  wide e1[3], e2[3], e3[3], normal[3];
  closest_between(p, 0, 1, e1);
  closest_between(p, 0, 2, e2);
  closest_between(p, 0, 3, e3);
  closest_cross(e1, e2, normal);
  const wide volume = closest_dot(normal, e3);
  const int flipped = volume > (wide)0; // corner 3 must be behind the face 0 1 2
  const int b = flipped ? 2 : 1, c = flipped ? 1 : 2;
  for (int i = 0; i < 4; ++i) {
    (void)closest_new_face(p);
  }
  closest_set_face(p, 0, 0, b, c, -1);
  closest_set_face(p, 1, 0, 3, b, -1);
  closest_set_face(p, 2, b, 3, c, -1);
  closest_set_face(p, 3, c, 3, 0, -1);
  const int beside[12] = {1, 2, 3, 3, 2, 0, 1, 3, 0, 2, 1, 0};
  int sound = wide_abs(volume) > FLAT_SHARE * wide_sqrt(closest_dot(normal, normal));
  for (int i = 0; i < 12; ++i) {
    p->beside[i] = beside[i];
    sound = sound && p->key[i / 3] < REAL_BIG;
  }
  return sound;
}

// Returns the face whose plane is nearest to the origin.
static int closest_nearest_face(const closest_polytope *p)
{
#if LANES == 1
  int best = 0;
  for (int i = 1; i < p->faces; ++i) {
    best = p->key[i] < p->key[best] ? i : best;
  }
  return best;
#else
  // Keys exist for whole blocks; those after the last face are never the least.
  lane least = lane_load(p->key), block = lane_lit(R(0.0));
  for (int i = LANES; i < p->faces; i += LANES) {
    const lane key = lane_load(p->key + i);
    const ilane better = key < least;
    least = lane_select(better, key, least);
    block = lane_select(better, lane_lit((real)i), block);
  }
  const ilane is_best = least == lane_lit(lane_least(least));
  if (p->faces <= LANES) {
    return lowest_bit((unsigned int)lane_bits(is_best));
  }
  return (int)lane_least(lane_select(is_best, block + lane_iota(), lane_lit(REAL_BIG)));
#endif
}

// Joins the newest corner to an edge of the border between the visible face `from` and the face
// `across`.
static int closest_join(closest_polytope *p, int from, int edge, int across, int corner)
{
  const int a = p->ends[3 * from + edge], b = p->ends[3 * from + (edge == 2 ? 0 : edge + 1)];
  const int made = closest_new_face(p);
  if (made < 0 || p->round[a] == p->turn) {
    return 0;
  }
  closest_set_face(p, made, a, b, corner, across);
  p->beside[3 * made] = across;
  for (int k = 0; k < 3; ++k) {
    GLOBAL int *beside = p->beside + 3 * across + k;
    *beside = *beside == from && p->ends[3 * across + k] == b ? made : *beside;
  }
  p->round[a] = p->turn;
  p->link[a] = made;
  return 1;
}

// Joins the new faces to each other, once around the border. Returns whether the border is a ring.
static int closest_close_ring(closest_polytope *p, int start, int added)
{
  int corner = start;
  for (int i = 0; i < added; ++i) {
    const int made = p->link[corner], next = p->ends[3 * made + 1];
    if (p->round[next] != p->turn) {
      return 0;
    }
    p->beside[3 * made + 1] = p->link[next];
    p->beside[3 * p->link[next] + 2] = made;
    corner = next;
  }
  return added >= 3 && corner == start;
}

// Adds the newest corner to the polytope: faces visible from it, starting with `face`, are removed,
// and new faces join it to their border. Returns 0 if there is no room or if the border is not a
// ring, which rounding can cause. The polytope is then unusable.
static int closest_grow(closest_polytope *p, int face, wide slack)
{
  const int corner = p->corners - 1, turn = ++p->turn;
  wide x[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = p->corner[POLYTOPE_CORNER * corner + k];
  }
  int count = 1, added = 0, start = -1;
  p->stack[0] = face;
  p->seen[face] = turn;
  for (int at = 0; at < count; ++at) { // loops over the visible faces, which it finds on the way
    const int from = p->stack[at];
    for (int i = 0; i < 3; ++i) {
      const int across = p->beside[3 * from + i];
      if (p->seen[across] == turn) {
        continue;
      }
      if (closest_height(p, across, x) > slack) {
        p->seen[across] = turn;
        p->stack[count++] = across;
        continue;
      }
      start = p->ends[3 * from + i];
      ++added;
      if (!closest_join(p, from, i, across, corner)) {
        return 0;
      }
    }
  }
  for (int at = 0; at < count; ++at) {
    closest_drop_face(p, p->stack[at]);
  }
  return closest_close_ring(p, start, added);
}
