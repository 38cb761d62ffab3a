// Where the shapes of a block of rows are: everything is seen from shape 1's own frame.

typedef struct closest_pair {
  frame_r frame[2];      // of the poses, in the world
  lane m[2][9];          // rotations of the shapes' own frames in the world, row by row
  vec3_r offset[2];      // from the poses' origins to those of the shapes' own frames, in the world
  lane r[9];             // of shape 2 in shape 1's own frame
  vec3_r t;
  lane radius[2], spans; // spans: of both shapes, added
  lane x[2][7];          // the poses' numbers
  ilane good;
} closest_pair;

typedef struct closest_rows {
  GLOBAL const int *ints;
  GLOBAL const real *numbers;
  GLOBAL const int *one, *two; // each row's shapes; of all where the stride is 0
  int stride;
  GLOBAL const real *pose1, *pose2;
  int width, count;
} closest_rows;

static closest_shape closest_shape_at(const closest_rows *rows, int side, int row)
{
  GLOBAL const int *which = side ? rows->two : rows->one;
  return closest_shape_of(rows->ints, rows->numbers, which[rows->stride ? row : 0]);
}

// Reads the poses of a side, the identity where one is not good: not finite, or its quaternion 0.
static ilane closest_read_pose(GLOBAL const real *poses, int width, int first, int last, lane x[7])
{
  lane size = lane_lit(R(0.0)), turn = lane_lit(R(0.0));
  for (int i = 0; i < width; ++i) {
    x[i] = gather_part(poses + i, first, last, width);
    size += lane_abs(x[i] * R(0.0));
    turn = i < 3 ? turn : lane_max(turn, lane_abs(x[i]));
  }
  const ilane finite = size == lane_lit(R(0.0));
  const ilane good = width == 7 ? finite & (turn >= lane_lit(REAL_TINY)) : finite;
  for (int i = 0; i < width; ++i) {
    x[i] = lane_select(good, x[i], lane_lit(width == 7 && i == 3 ? R(1.0) : R(0.0)));
  }
  return good;
}

// Makes c = a' b of rotations.
static void closest_turn_back(const lane a[9], const lane b[9], lane c[9])
{
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
    }
  }
}

static vec3_r closest_rotated(const lane m[9], vec3_r v)
{
  return make_r(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

static vec3_r closest_rotated_back(const lane m[9], vec3_r v)
{
  return make_r(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                m[2] * v.x + m[5] * v.y + m[8] * v.z);
}

// Gathers one number of each lane's record.
static lane closest_record(const closest_rows *rows, int side, int first, int at)
{
  real t[LANES];
  for (int l = 0; l < LANES; ++l) {
    const int row = MIN_INT(first + l, rows->count - 1);
    t[l] = closest_shape_at(rows, side, row).record[at];
  }
  return lane_load(t);
}

static void closest_place_side(closest_pair *p, const closest_rows *rows, int side, int first)
{
  lane own[9];
  p->frame[side] = pose_frame_r(p->x[side], rows->width);
  for (int i = 0; i < 9; ++i) {
    own[i] = closest_record(rows, side, first, SHAPE_ROTATION + i);
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const lane *m = p->frame[side].m + 3 * i;
      p->m[side][3 * i + j] = m[0] * own[j] + m[1] * own[3 + j] + m[2] * own[6 + j];
    }
  }
  const vec3_r middle = make_r(closest_record(rows, side, first, SHAPE_OFFSET),
                               closest_record(rows, side, first, SHAPE_OFFSET + 1),
                               closest_record(rows, side, first, SHAPE_OFFSET + 2));
  p->offset[side] = closest_rotated(p->frame[side].m, middle);
  p->radius[side] = closest_record(rows, side, first, SHAPE_RADIUS);
  p->spans += closest_record(rows, side, first, SHAPE_SPAN);
}

// The difference of the positions comes first, so that poses far from the world's origin cost no digits.
static void closest_place(closest_pair *p, const closest_rows *rows, int first)
{
  p->good = closest_read_pose(rows->pose1, rows->width, first, rows->count - 1, p->x[0]) &
            closest_read_pose(rows->pose2, rows->width, first, rows->count - 1, p->x[1]);
  p->spans = lane_lit(R(0.0));
  closest_place_side(p, rows, 0, first);
  closest_place_side(p, rows, 1, first);
  closest_turn_back(p->m[0], p->m[1], p->r);
  const vec3_r apart = limit3_r(sub3_r(p->frame[1].t, p->frame[0].t), SEPARATION_LIMIT);
  p->t = closest_rotated_back(p->m[0], add3_r(apart, sub3_r(p->offset[1], p->offset[0])));
}

// Gathers vectors of rows, of which the last one is repeated.
static vec3_r closest_gather3(GLOBAL const real *p, int first, int last)
{
  return make_r(gather_part(p, first, last, 3), gather_part(p + 1, first, last, 3),
                gather_part(p + 2, first, last, 3));
}

// Returns a power of two that is at least x: multiplying by it or its inverse rounds nothing.
static lane closest_scale(lane x)
{
  return lane_exp2(lane_floor(lane_log2(lane_max(x, lane_lit(R(1e-30))))) + lane_lit(R(1.0)));
}
