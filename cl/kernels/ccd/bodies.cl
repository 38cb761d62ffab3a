// How far two meshes may move between two poses. Each work-item handles several rows and has its
// own scratch.

// Adds the displacement of a mesh's middle, times `by`.
static void ccd_add_way(const ccd_side *s, wide by, wide to[3])
{
  const int groups = CCD_GROUPS(ccd_vertices(s));
  GLOBAL const real *ball = s->numbers + s->ints[CCD_MESH_VERTEX_BALLS];
  wide middle[3] = {(wide)0, (wide)0, (wide)0}, from[3], end[3];
  for (int g = 0; g < groups; ++g, ball += CCD_BALL_REALS) {
    for (int k = 0; k < 3; ++k) {
      middle[k] += ball[k] / (wide)groups;
    }
  }
  ccd_point(&s->path, &s->ends[0], middle, from);
  ccd_point(&s->path, &s->ends[1], middle, end);
  for (int k = 0; k < 3; ++k) {
    to[k] += by * (end[k] - from[k]);
  }
}

// Sets the axes of boxes along and across the relative displacement of the meshes, so that a long
// displacement widens no box across it. Axes need not be exact, because any axis can show that
// features are separate.
static void ccd_set_axes(ccd_row *row)
{
  wide way[3] = {(wide)0, (wide)0, (wide)0}, (*axes)[3] = row->axes, other[3];
  ccd_add_way(&row->side[0], (wide)1, way);
  ccd_add_way(&row->side[1], (wide)-1, way);
  const wide length = wide_sqrt(ccd_wide_dot(way, way));
  const int some = length > (wide)row->error && length < (wide)REAL_BIG;
  for (int k = 0; k < 3; ++k) {
    axes[2][k] = some ? way[k] / length : (wide)(k == 2);
  }
  const wide x = wide_abs(axes[2][0]), y = wide_abs(axes[2][1]), z = wide_abs(axes[2][2]);
  const int least = x <= y && x <= z ? 0 : y <= z ? 1 : 2;
  for (int k = 0; k < 3; ++k) {
    other[k] = (wide)(k == least);
  }
  ccd_wide_cross(other, axes[2], axes[0]);
  const wide across = wide_sqrt(ccd_wide_dot(axes[0], axes[0]));
  for (int k = 0; k < 3; ++k) {
    axes[0][k] /= across;
  }
  ccd_wide_cross(axes[2], axes[0], axes[1]);
}

// Places all vertices of a mesh at both ends.
static void ccd_place_mesh(const ccd_row *row, ccd_side *s)
{
  for (int v = 0; v < ccd_vertices(s); ++v) {
    GLOBAL real *spot = ROW(s->spots, v, CCD_SPOT_REALS);
    wide x[3], from[3], to[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->numbers[CCD_MESH_POINTS + 3 * v + k];
    }
    ccd_point(&s->path, &s->ends[0], x, from);
    ccd_point(&s->path, &s->ends[1], x, to);
    for (int k = 0; k < 3; ++k) {
      spot[CCD_SPOT_FROM + k] = (real)from[k];
      spot[CCD_SPOT_TO + k] = (real)to[k];
      spot[CCD_SPOT_BOX_FROM + k] = (real)ccd_wide_dot(row->axes[k], from);
      spot[CCD_SPOT_BOX_TO + k] = (real)ccd_wide_dot(row->axes[k], to);
    }
    spot[CCD_SPOT_BEND] = ccd_bend(&s->path, x);
  }
}

// The least distance at time 0 between the vertices of mesh 1 and those of mesh 2, starting at
// `first` and `step` apart.
static real ccd_least(const ccd_row *row, const int first[2], const int end[2], int step,
                      int best[2])
{
  real least = REAL_MOST;
  for (int a = first[0]; a < end[0]; a += step) {
    GLOBAL const real *x = ROW(row->side[0].spots, a, CCD_SPOT_REALS) + CCD_SPOT_FROM;
    for (int b = first[1]; b < end[1]; b += step) {
      GLOBAL const real *y = ROW(row->side[1].spots, b, CCD_SPOT_REALS) + CCD_SPOT_FROM;
      const real d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]},
                 square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (square < least) {
        least = square;
        best[0] = a;
        best[1] = b;
      }
    }
  }
  return real_sqrt(least);
}

// An upper bound of the meshes' distance at time 0: the distance of the nearest vertices of two
// nearby groups.
static real ccd_distance_at_most(const ccd_row *row)
{
  const int none[2] = {0, 0}, all[2] = {ccd_vertices(&row->side[0]), ccd_vertices(&row->side[1])};
  int best[2] = {0, 0}, first[2], end[2];
  ccd_least(row, none, all, CCD_GROUP, best);
  for (int side = 0; side < 2; ++side) {
    first[side] = best[side];
    end[side] = MIN_INT(best[side] + CCD_GROUP, all[side]);
  }
  return ccd_least(row, first, end, 1, best) * (R(1.0) + 16 * CCD_U) + 4 * row->error;
}

// Sets the ends of boxes to a time, on the vertices' chords. Vertices deviate from their chords by
// at most their bend.
static void ccd_set_horizon(ccd_row *row, real horizon)
{
  row->horizon = horizon;
  for (int side = 0; side < 2; ++side) {
    ccd_side *s = &row->side[side];
    real around = R(0.0);
    for (int k = 0; k < 6; ++k) {
      s->box[k] = REAL_MOST;
      s->box[6 + k] = -REAL_MOST;
    }
    for (int v = 0; v < ccd_vertices(s); ++v) {
      GLOBAL real *spot = ROW(s->spots, v, CCD_SPOT_REALS);
      around = CCD_MORE(around, spot[CCD_SPOT_BEND]);
      for (int k = 0; k < 3; ++k) {
        const real from = spot[CCD_SPOT_BOX_FROM + k], to = spot[CCD_SPOT_BOX_TO + k];
        const real until = horizon < R(1.0) ? from + (to - from) * horizon : to;
        spot[CCD_SPOT_BOX_UNTIL + k] = until;
        s->box[k] = CCD_LESS(s->box[k], from);
        s->box[3 + k] = CCD_LESS(s->box[3 + k], until);
        s->box[6 + k] = CCD_MORE(s->box[6 + k], from);
        s->box[9 + k] = CCD_MORE(s->box[9 + k], until);
      }
    }
    for (int k = 0; k < CCD_BOX_PLANES; ++k) {
      s->box[k] += (k < 6 ? R(-1.0) : R(1.0)) * (around + row->margin);
    }
  }
}

// Lists the features of mesh 2 that may meet mesh 1, and boxes around each CCD_GROUP of them.
// Places up to the next whole group have boxes that meet nothing.
static void ccd_list_second(ccd_row *row)
{
  const ccd_side *s = &row->side[1];
  const int corners = ccd_corners_on(row->kind, 1), features = ccd_features_on(s, corners);
  int count = 0;
  for (int at = 0; at < features; ++at) {
    real box[CCD_BOX_PLANES];
    if (at % CCD_GROUP == 0) {
      ccd_group_boxes_of(row, 1, corners, at / CCD_GROUP, box);
      if (!ccd_meets(box, row->side[0].box)) {
        at += CCD_GROUP - 1;
        continue;
      }
    }
    ccd_boxes_of(row, 1, corners, at, box);
    if (ccd_meets(box, row->side[0].box)) {
      for (int k = 0; k < CCD_BOX_PLANES; ++k) {
        row->boxes[k * row->plane + count] = box[k];
      }
      row->places[count++] = at;
    }
  }
  row->listed = count;
  const int groups = (count + CCD_GROUP - 1) / CCD_GROUP,
            slots = (groups + CCD_GROUP - 1) / CCD_GROUP * CCD_GROUP;
  for (int k = 0; k < CCD_BOX_PLANES; ++k) {
    const int is_least = k < 6;
    GLOBAL real *plane = row->boxes + k * row->plane;
    for (int i = count; i < groups * CCD_GROUP; ++i) {
      plane[i] = is_least ? REAL_MOST : -REAL_MOST;
    }
    for (int g = 0; g < slots; ++g) {
      real end = is_least ? REAL_MOST : -REAL_MOST;
      for (int i = g * CCD_GROUP; g < groups && i < (g + 1) * CCD_GROUP; ++i) {
        end = is_least ? CCD_LESS(end, plane[i]) : CCD_MORE(end, plane[i]);
      }
      row->groups[k * row->group_plane + g] = end;
    }
  }
}

// Returns bits of the lanes that may meet a feature. Planes of boxes are `plane` numbers apart.
static int ccd_meeting(GLOBAL const real *boxes, int plane, const real box[CCD_BOX_PLANES])
{
  ilane meets = (ilane)(-1);
  for (int k = 0; k < 3; ++k) {
    GLOBAL const real *low = boxes + k * plane, *high = low + 6 * plane;
    meets &= (lane_load(low) <= lane_lit(box[6 + k])) |
             (lane_load(low + 3 * plane) <= lane_lit(box[9 + k]));
    meets &= (lane_load(high) >= lane_lit(box[k])) |
             (lane_load(high + 3 * plane) >= lane_lit(box[3 + k]));
  }
  return lane_bits(meets);
}

static void ccd_flush_kind(ccd_row *row)
{
  if (row->kind >= CCD_EDGE_TRIANGLE) {
    ccd_flush_pierced(row);
  } else if (row->kind == CCD_EDGES) {
    ccd_flush_r_ee(row);
  } else {
    ccd_flush_r_pt(row);
  }
}

// Queues the listed features of a group that meet a feature of mesh 1.
static void ccd_queue_group(ccd_row *row, int one, int group, const real box[CCD_BOX_PLANES])
{
  for (int first = group * CCD_GROUP; first < (group + 1) * CCD_GROUP; first += LANES) {
    int bits = ccd_meeting(row->boxes + first, row->plane, box);
    for (; bits; bits &= bits - 1) {
      row->queue[2 * row->waits] = one;
      row->queue[2 * row->waits + 1] = row->places[first + lowest_bit((unsigned)bits)];
      ++row->waits;
      ++row->candidates;
      if (row->waits == CCD_QUEUE) {
        ccd_flush_kind(row);
      }
    }
  }
}

// If a touch is nearer than the boxes' reach by this factor, the boxes of both meshes are computed
// again. Boxes are compared at both ends, so all must reach to the same time.
#define CCD_NEARER R(0.75)

static int ccd_come_nearer(ccd_row *row)
{
  const int nearer = row->first.toi < CCD_NEARER * row->horizon;
  if (nearer) {
    ccd_set_horizon(row, row->first.toi * (R(1.0) + 64 * CCD_U));
  }
  return nearer;
}

static void ccd_pair_features(ccd_row *row, int kind)
{
  row->kind = kind;
  ccd_come_nearer(row);
  ccd_list_second(row);
  const int corners = ccd_corners_on(kind, 0), features = ccd_features_on(&row->side[0], corners);
  for (int at = 0; row->listed && at < features; ++at) {
    real box[CCD_BOX_PLANES];
    if (ccd_come_nearer(row)) {
      ccd_list_second(row);
    }
    if (at % CCD_GROUP == 0) {
      ccd_group_boxes_of(row, 0, corners, at / CCD_GROUP, box);
      if (!ccd_meets(box, row->side[1].box)) {
        at += CCD_GROUP - 1;
        continue;
      }
    }
    ccd_boxes_of(row, 0, corners, at, box);
    if (!ccd_meets(box, row->side[1].box)) {
      continue;
    }
    const int groups = CCD_GROUPS(row->listed);
    for (int first = 0; first < groups; first += LANES) {
      int bits = ccd_meeting(row->groups + first, row->group_plane, box);
      for (; bits; bits &= bits - 1) {
        const int group = first + lowest_bit((unsigned)bits);
        if (group < groups) {
          ccd_queue_group(row, at, group, box);
        }
      }
    }
  }
  ccd_flush_kind(row);
}

// The error of a coordinate from rounding of rotations, of coordinates relative to the row's origin
// and of vertices, in units of u.
#if WIDE && !REAL_DOUBLE
#define CCD_ROUNDINGS(width, arc) ((width) == 7 ? 8 : (arc) ? 64 : 32)
#else
#define CCD_ROUNDINGS(width, arc) ((void)(width), (arc) ? 64 : 32)
#endif

#define CCD_WIDE_ROUNDINGS 32 // of WIDE_EPSILON, while places are relative to the world's origin

// An upper bound of the angle error of a rotation with rounded numbers, in units of u. The numbers
// of the identity rotation are exact.
static real ccd_turned_by_rounding(const wide *turn, int width)
{
  const int first = width == 7;
  const wide v = wide_abs(turn[first]) + wide_abs(turn[first + 1]) + wide_abs(turn[first + 2]);
  const wide whole = v + wide_abs(turn[0]), share = v / whole; // of a quaternion
  return (real)(width == 7 ? (wide)8 * share : v);
}

static real ccd_placing_error(const ccd_row *row, int width, int arc)
{
  real most = R(0.0), turns = R(0.0); // a twist's angle is rounded in proportion to its turns
  real off = R(0.0), whole = R(0.0);
  for (int side = 0; side < 2; ++side) {
    const ccd_side *s = &row->side[side];
    real near = R(0.0), far = R(0.0), rounded = R(0.0), centre = R(0.0), own = R(0.0);
    for (int k = 0; k < 3; ++k) {
      centre += (real)wide_abs(s->path.c[k]);
      own += (real)wide_abs(s->path.o[k]);
    }
    for (int e = 0; e < 2; ++e) {
      const wide *number = s->path.number[e];
      const vec3_w t = s->path.frame[e].t;
      near = real_max(near, (real)wide_max(wide_abs(t.x), wide_max(wide_abs(t.y), wide_abs(t.z))));
      far = real_max(far, (real)wide_max(wide_abs(number[0]),
                                         wide_max(wide_abs(number[1]), wide_abs(number[2]))));
      rounded = real_max(rounded, ccd_turned_by_rounding(number + 3, width));
      turns =
        width == 6
          ? real_max(turns, (real)(wide_abs(number[3]) + wide_abs(number[4]) + wide_abs(number[5])))
          : turns;
    }
    most = real_max(most, s->numbers[CCD_MESH_SIZE] + centre + near);
    off = real_max(off, far + rounded * own);
    whole = real_max(whole, own + centre + far);
  }
  return most * ((CCD_ROUNDINGS(width, arc) + 4 * turns) * CCD_U) + off * (CCD_U * R(1.001)) +
         whole * ((CCD_WIDE_ROUNDINGS + 4 * turns) * (real)WIDE_EPSILON);
}

typedef struct ccd_answers {
  GLOBAL real *toi, *p1, *p2, *n;
  GLOBAL unsigned char *status;
  GLOBAL int *kind, *feature1, *feature2, *candidates, *places;
} ccd_answers;

static int ccd_id(const ccd_side *s, int corners, int place)
{
  const int at = corners == 1   ? CCD_MESH_VERTEX_IDS
                 : corners == 2 ? CCD_MESH_EDGE_IDS
                                : CCD_MESH_TRIANGLE_IDS;
  return s->ints[s->ints[at] + place];
}

static void ccd_write_row(const ccd_answers *to, int at, const ccd_row *row)
{
  const ccd_first *f = &row->first;
  const int some = f->kind >= 0, *feature = f->feature;
  to->toi[at] = f->toi;
  to->status[at] = (unsigned char)f->status;
  to->kind[at] = f->kind;
  to->candidates[at] = row->candidates;
  to->feature1[at] = some ? ccd_id(&row->side[0], ccd_corners_on(f->kind, 0), feature[0]) : 0;
  to->feature2[at] = some ? ccd_id(&row->side[1], ccd_corners_on(f->kind, 1), feature[1]) : 0;
  to->places[2 * (size_t)at] = feature[0];
  to->places[2 * (size_t)at + 1] = feature[1];
  for (int k = 0; k < 3; ++k) {
    ROW(to->p1, at, 3)[k] = ROW(to->p2, at, 3)[k] = ROW(to->n, at, 3)[k] = R(0.0);
  }
  if (f->kind >= CCD_EDGE_TRIANGLE) {
    wide through[3];
    ccd_pierces(row, f->kind, feature, through);
    for (int k = 0; k < 3; ++k) {
      ROW(to->p1, at, 3)[k] = ROW(to->p2, at, 3)[k] = (real)(through[k] + row->origin[k]);
    }
  } else if (some) {
    const int turned = f->kind == CCD_TRIANGLE_VERTEX;
    const real sign = turned ? R(-1.0) : R(1.0);
    const ccd_found found = ccd_find(row->side, f->kind, feature, (wide)f->toi);
    wide given[3];
    ccd_write_direction(ROW(to->n, at, 3), sign * f->n[0], sign * f->n[1], sign * f->n[2]);
    for (int k = 0; k < 3; ++k) {
      given[k] = ROW(to->n, at, 3)[k];
    }
    const ccd_touch touch = ccd_touch_of(&found.c, given);
    for (int k = 0; k < 3; ++k) {
      ROW(to->p1, at, 3)[k] = (real)(touch.p[turned][k] + row->origin[k]);
      ROW(to->p2, at, 3)[k] = (real)(touch.p[!turned][k] + row->origin[k]);
      ROW(to->n, at, 3)[k] = sign * (real)touch.n[k];
    }
  }
}

// Checks whether the meshes penetrate each other at time 0, with boxes of only that time.
static void ccd_find_pierced(ccd_row *row)
{
  const int candidates = row->candidates;
  row->margin = 3 * row->error * (R(1.0) + 16 * CCD_U);
  row->horizon = R(0.0);
  for (int side = 0; side < 2; ++side) {
    real *box = row->side[side].box;
    for (int k = 0; k < 3; ++k) {
      box[3 + k] = box[k];
      box[9 + k] = box[6 + k];
    }
  }
  if (ccd_meets(row->side[0].box, row->side[1].box)) {
    ccd_pair_features(row, CCD_EDGE_TRIANGLE);
  }
  if (row->first.status != CCD_WITHIN && ccd_meets(row->side[0].box, row->side[1].box)) {
    ccd_pair_features(row, CCD_TRIANGLE_EDGE);
  }
  row->candidates = candidates;
}

static void ccd_solve_row(ccd_row *row, int width, int arc)
{
  row->first.toi = R(1.0);
  row->first.status = CCD_FREE;
  row->first.kind = -1;
  row->first.feature[0] = row->first.feature[1] = 0;
  row->candidates = row->waits = 0;
  if (!(row->side[0].path.good && row->side[1].path.good)) {
    row->first.status = CCD_BAD_INPUT;
    row->first.toi = R(0.0);
    return;
  }
  row->error = ccd_placing_error(row, width, arc);
  // The axes round a coordinate once more, by less than twice the rounding of placing.
  row->margin = (row->separation * R(0.5) + 3 * row->error) * (R(1.0) + 16 * CCD_U);
  for (int side = 0; side < 2; ++side) {
    row->side[side].ends[0] = ccd_moment_at(&row->side[side].path, (wide)0);
    row->side[side].ends[1] = ccd_moment_at(&row->side[side].path, (wide)1);
  }
  ccd_set_axes(row);
  ccd_place_mesh(row, &row->side[0]);
  ccd_place_mesh(row, &row->side[1]);
  // Pairs that boxes exclude retain that share of the meshes' own distance.
  if (row->keep > R(0.0)) {
    row->margin +=
      real_max(ccd_distance_at_most(row) - row->separation, R(0.0)) * row->keep * R(0.5);
  }
  ccd_set_horizon(row, R(1.0));
  if (ccd_meets(row->side[0].box, row->side[1].box)) {
    ccd_pair_features(row, CCD_VERTEX_TRIANGLE);
    ccd_pair_features(row, CCD_TRIANGLE_VERTEX);
    ccd_pair_features(row, CCD_EDGES);
    if (row->first.status != CCD_WITHIN && !ccd_are_apart(row)) {
      ccd_find_pierced(row);
    }
  }
}

static ccd_side ccd_side_of(GLOBAL const int *ints, GLOBAL const real *numbers)
{
  ccd_side s;
  s.ints = ints;
  s.numbers = numbers;
  s.spots = (GLOBAL real *)0;
  return s;
}

KERNEL void ccd_bodies(GLOBAL const int *ints1, GLOBAL const real *numbers1,
                       GLOBAL const int *ints2, GLOBAL const real *numbers2,
                       GLOBAL const real *from1, GLOBAL const real *to1, GLOBAL const real *from2,
                       GLOBAL const real *to2, int width, int arc, GLOBAL const real *settings,
                       int count, int workers, int most, GLOBAL real *reals, int reals_each,
                       GLOBAL int *places_and_queues, int ints_each, int plane, GLOBAL real *toi,
                       GLOBAL unsigned char *status, GLOBAL int *kind, GLOBAL int *feature1,
                       GLOBAL int *feature2, GLOBAL real *p1, GLOBAL real *p2, GLOBAL real *n,
                       GLOBAL int *candidates, GLOBAL int *places)
{
  const int worker = (int)get_global_id(0);
  const ccd_answers answers = {toi,  p1,       p2,       n,          status,
                               kind, feature1, feature2, candidates, places};
  ccd_row row;
  row.side[0] = ccd_side_of(ints1, numbers1);
  row.side[1] = ccd_side_of(ints2, numbers2);
  row.separation = settings[CCD_BODIES_SEPARATION];
  row.keep = settings[CCD_BODIES_KEEP];
  row.tolerance = settings[CCD_BODIES_TOLERANCE];
  row.exact = settings[CCD_BODIES_EXACT] > R(0.0);
  row.most = most;
  row.plane = plane;
  row.group_plane = CCD_GROUP_PLANE(plane);
  row.side[0].spots = ROW(reals, worker, reals_each);
  row.side[1].spots = row.side[0].spots + ccd_vertices(&row.side[0]) * CCD_SPOT_REALS;
  row.boxes = row.side[1].spots + ccd_vertices(&row.side[1]) * CCD_SPOT_REALS;
  row.groups = row.boxes + CCD_BOX_PLANES * plane;
  row.places = ROW(places_and_queues, worker, ints_each);
  row.queue = row.places + plane;
  for (int at = worker; worker < workers && at < count; at += workers) {
    GLOBAL const real *centres = settings + CCD_BODIES_CENTRES;
    ccd_set_path(&row.side[0].path, ROW(from1, at, width), ROW(to1, at, width), width, arc, centres,
                 numbers1);
    ccd_set_path(&row.side[1].path, ROW(from2, at, width), ROW(to2, at, width), width, arc,
                 centres + 3, numbers2);
    ccd_set_origin(&row.side[0].path, &row.side[1].path, row.origin);
    ccd_solve_row(&row, width, arc);
    ccd_write_row(&answers, at, &row);
  }
}
