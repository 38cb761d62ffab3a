// Two meshes between two poses each: data shared by all steps of a work-item for a row.

typedef struct ccd_side {
  GLOBAL const int *ints;
  GLOBAL const real *numbers;
  GLOBAL real *spots; // (vertices, CCD_SPOT_REALS)
  ccd_path path;
  ccd_moment ends[2];       // of the path
  real box[CCD_BOX_PLANES]; // of all vertices
} ccd_side;

// The first pair that touches, found so far.
typedef struct ccd_first {
  real toi, n[3];
  int status, kind, feature[2]; // places in the sorted order
} ccd_first;

typedef struct ccd_row {
  ccd_side side[2];
  real separation, keep, tolerance, error, margin;
  real origin[3];  // of all places, in world coordinates
  wide axes[3][3]; // of boxes; the last one is the relative displacement of the meshes
  real horizon;    // the time up to which boxes reach: nothing after the first touch matters
  int most, candidates;
  // whether times are advanced from certified ones to those at which the distance is exactly the
  // kept one
  int exact;
  // Features of mesh 2 that may meet: boxes in planes of `plane` numbers, boxes of groups of
  // CCD_GROUP features, and the features' indices.
  GLOBAL real *boxes, *groups;
  GLOBAL int *places, *queue;
  int plane, group_plane, listed;
  int kind;  // of the current features
  int waits; // pairs in the queue
  ccd_first first;
} ccd_row;

#define CCD_WINDOWS_MOST 24

// Whether features are examined only at time 0. Both of their boxes are then the same.
#define CCD_BEGINS(row) ((row)->kind >= CCD_EDGE_TRIANGLE)

static int ccd_vertices(const ccd_side *s)
{
  return s->ints[CCD_MESH_VERTICES];
}

// Writes the corners of a feature as indices of vertices, and returns their number.
static int ccd_corners_of(const ccd_side *s, int corners, int at, int to[3])
{
  if (corners == 1) {
    to[0] = at;
    return 1;
  }
  GLOBAL const int *ends =
    s->ints + s->ints[corners == 2 ? CCD_MESH_EDGE_ENDS : CCD_MESH_TRIANGLE_ENDS] + corners * at;
  for (int i = 0; i < corners; ++i) {
    to[i] = ends[i];
  }
  return corners;
}

static int ccd_corners_on(int kind, int side)
{
  // the side that has the triangle
  const int triangle = kind != CCD_TRIANGLE_VERTEX && kind != CCD_TRIANGLE_EDGE;
  return kind == CCD_EDGES ? 2 : side == triangle ? 3 : kind >= CCD_EDGE_TRIANGLE ? 2 : 1;
}

static int ccd_features_on(const ccd_side *s, int corners)
{
  return s->ints[corners == 1   ? CCD_MESH_VERTICES
                 : corners == 2 ? CCD_MESH_EDGES
                                : CCD_MESH_TRIANGLES];
}

#define CCD_LESS(a, b) ((a) < (b) ? (a) : (b))
#define CCD_MORE(a, b) ((a) > (b) ? (a) : (b))

// Boxes of a feature at time 0 and at the horizon: the boxes of its vertices, widened by their
// deviation from their chords, by half of the queried distance and by the error of a coordinate.
static void ccd_boxes_of(const ccd_row *row, int side, int corners, int at,
                         real box[CCD_BOX_PLANES])
{
  const ccd_side *s = &row->side[side];
  int ends[3];
  ccd_corners_of(s, corners, at, ends);
  GLOBAL const real *a = ROW(s->spots, ends[0], CCD_SPOT_REALS);
  GLOBAL const real *b = corners > 1 ? ROW(s->spots, ends[1], CCD_SPOT_REALS) : a;
  GLOBAL const real *c = corners > 2 ? ROW(s->spots, ends[2], CCD_SPOT_REALS) : a;
  const real bend = CCD_MORE(a[CCD_SPOT_BEND], b[CCD_SPOT_BEND]);
  const real around = (CCD_BEGINS(row) ? R(0.0) : CCD_MORE(bend, c[CCD_SPOT_BEND])) + row->margin;
  const int planes = CCD_BEGINS(row) ? 3 : 6;
  for (int k = 0; k < planes; ++k) {
    const real less = CCD_LESS(a[k], b[k]), more = CCD_MORE(a[k], b[k]);
    box[k] = CCD_LESS(less, c[k]) - around;
    box[6 + k] = CCD_MORE(more, c[k]) + around;
  }
  for (int k = planes; k < 6; ++k) {
    box[k] = box[k - 3];
    box[6 + k] = box[3 + k];
  }
}

// The same for a group of features at time 0 only, by the ball around it.
static void ccd_group_boxes_at_begin(const ccd_row *row, const ccd_side *s, GLOBAL const real *ball,
                                     real box[CCD_BOX_PLANES])
{
  const wide x[3] = {(wide)ball[0], (wide)ball[1], (wide)ball[2]};
  const real around = (ball[3] + 2 * row->margin) * (R(1.0) + 16 * CCD_U);
  wide begin[3];
  ccd_move(&s->path.frame[0], x, begin);
  for (int k = 0; k < 3; ++k) {
    const real from = (real)ccd_wide_dot(row->axes[k], begin);
    box[k] = box[3 + k] = from - around;
    box[6 + k] = box[9 + k] = from + around;
  }
}

// Boxes of a group of features, by the ball around it.
static void ccd_group_boxes_of(const ccd_row *row, int side, int corners, int group,
                               real box[CCD_BOX_PLANES])
{
  const ccd_side *s = &row->side[side];
  const int which = corners == 1   ? CCD_MESH_VERTEX_BALLS
                    : corners == 2 ? CCD_MESH_EDGE_BALLS
                                   : CCD_MESH_TRIANGLE_BALLS;
  GLOBAL const real *ball = s->numbers + s->ints[which] + CCD_BALL_REALS * group;
  const wide x[3] = {(wide)ball[0], (wide)ball[1], (wide)ball[2]}, angle = s->path.angle;
  if (CCD_BEGINS(row)) {
    ccd_group_boxes_at_begin(row, s, ball, box);
    return;
  }
  const real radius = ball[3],
             bend = ccd_bend(&s->path, x) + (real)(angle * angle) * radius * R(0.126);
  // The margin is doubled, because a centre may be farther from the origin than any vertex, and
  // then has a larger rounding error.
  const real around = (radius + bend + 2 * row->margin) * (R(1.0) + 16 * CCD_U);
  wide begin[3], end[3];
  ccd_point(&s->path, &s->ends[0], x, begin);
  ccd_point(&s->path, &s->ends[1], x, end);
  for (int k = 0; k < 3; ++k) {
    const wide from = ccd_wide_dot(row->axes[k], begin), to = ccd_wide_dot(row->axes[k], end);
    const real until = (real)(from + (to - from) * row->horizon);
    box[k] = (real)from - around;
    box[3 + k] = until - around;
    box[6 + k] = (real)from + around;
    box[9 + k] = until + around;
  }
}

// Whether two features may meet. They cannot if an axis separates them on the same side at both
// ends, and thus throughout.
static int ccd_meets(const real a[CCD_BOX_PLANES], const real b[CCD_BOX_PLANES])
{
  int meets = 1;
  for (int k = 0; k < 3; ++k) {
    meets &= (a[k] <= b[6 + k]) | (a[3 + k] <= b[9 + k]);
    meets &= (b[k] <= a[6 + k]) | (b[3 + k] <= a[9 + k]);
  }
  return meets;
}
