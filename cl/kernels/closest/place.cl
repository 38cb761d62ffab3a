// The positions of the shapes of a block of rows, relative to shape 1's own frame.

// Shapes whose distance is smaller count as touching, as a share of both spans. The tolerance
// limits this distance too.
#if REAL_DOUBLE
#define TOUCHING 1e-12
#else
#define TOUCHING 1e-6f
#endif

typedef struct closest_pair {
  frame_r frame[2]; // of the poses, in the world
  lane m[2][9];     // rotations of the shapes' own frames in the world, row by row
  vec3_r offset[2]; // from the poses' origins to those of the shapes' own frames, in the world
  lane r[9];        // of shape 2 in shape 1's own frame
  vec3_r t;
  lane radius[2], spans; // spans: of both shapes, added
  lane x[2][7];          // the poses' numbers
  ilane good;
} closest_pair;

typedef struct closest_rows {
  GLOBAL const int *ints;
  GLOBAL const real *numbers;
  GLOBAL const int *one, *two; // each row's shapes; one shape for all rows if the stride is 0
  int stride;
  GLOBAL const real *pose1, *pose2;
  int width, count;
} closest_rows;

static closest_shape closest_shape_at(const closest_rows *rows, int side, int row)
{
  GLOBAL const int *which = side ? rows->two : rows->one;
  return closest_shape_of(rows->ints, rows->numbers, which[rows->stride ? row : 0]);
}

// The lanes' shapes. placing has the bits that any shape of a side has.
typedef struct closest_sides {
  closest_shape of[2][LANES];
  int placing[2];
} closest_sides;

static void closest_take_shapes(closest_sides *s, const closest_rows *rows, int first)
{
  for (int side = 0; side < 2; ++side) {
    s->placing[side] = 0;
    for (int l = 0; l < LANES; ++l) {
      s->of[side][l] = closest_shape_at(rows, side, MIN_INT(first + l, rows->count - 1));
      s->placing[side] |= s->of[side][l].placing;
    }
  }
}

// Reads the poses of a side. A bad pose, which is not finite or has a zero quaternion, is replaced
// by the identity.
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

// Computes c = a' b of rotations.
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
static lane closest_record(const closest_shape of[LANES], int at)
{
#if LANES == 1
  return of[0].record[at];
#else
  real t[LANES];
  for (int l = 0; l < LANES; ++l) {
    t[l] = of[l].record[at];
  }
  return lane_load(t);
#endif
}

static void closest_place_side(closest_pair *p, const closest_rows *rows,
                               const closest_sides *shapes, int side)
{
  const closest_shape *of = shapes->of[side];
  const lane zero = lane_lit(R(0.0));
  p->frame[side] = pose_frame_r(p->x[side], rows->width);
  for (int i = 0; i < 9; ++i) {
    p->m[side][i] = p->frame[side].m[i];
  }
  if (shapes->placing[side] & SHAPE_TURNED) {
    lane own[9];
    for (int i = 0; i < 9; ++i) {
      own[i] = closest_record(of, SHAPE_ROTATION + i);
    }
    for (int i = 0; i < 3; ++i) {
      const lane *m = p->frame[side].m + 3 * i;
      for (int j = 0; j < 3; ++j) {
        p->m[side][3 * i + j] = m[0] * own[j] + m[1] * own[3 + j] + m[2] * own[6 + j];
      }
    }
  }
  p->offset[side] = make_r(zero, zero, zero);
  if (shapes->placing[side] & SHAPE_MOVED) {
    const vec3_r middle = make_r(closest_record(of, SHAPE_OFFSET),
                                 closest_record(of, SHAPE_OFFSET + 1),
                                 closest_record(of, SHAPE_OFFSET + 2));
    p->offset[side] = closest_rotated(p->frame[side].m, middle);
  }
  p->radius[side] = closest_record(of, SHAPE_RADIUS);
  p->spans += closest_record(of, SHAPE_SPAN);
}

// The difference of the positions is taken first, so that poses far from the world's origin lose no
// digits.
static void closest_place(closest_pair *p, const closest_rows *rows, const closest_sides *shapes,
                          int first)
{
  p->good = closest_read_pose(rows->pose1, rows->width, first, rows->count - 1, p->x[0]) &
            closest_read_pose(rows->pose2, rows->width, first, rows->count - 1, p->x[1]);
  p->spans = lane_lit(R(0.0));
  closest_place_side(p, rows, shapes, 0);
  closest_place_side(p, rows, shapes, 1);
  closest_turn_back(p->m[0], p->m[1], p->r);
  const vec3_r apart = limit3_r(sub3_r(p->frame[1].t, p->frame[0].t), SEPARATION_LIMIT);
  p->t = closest_rotated_back(p->m[0], add3_r(apart, sub3_r(p->offset[1], p->offset[0])));
}

static void closest_place_block(closest_pair *p, const closest_rows *rows, int first)
{
  closest_sides shapes;
  closest_take_shapes(&shapes, rows, first);
  closest_place(p, rows, &shapes, first);
}

// ---- single rows ----

// The same for a single row, in wide numbers.
typedef struct closest_spot {
  wide m[9], at[3]; // of shape 1's own frame in the world
  wide r[9], t[3];  // of shape 2 in it
  wide radius[2], spans;
} closest_spot;

static void closest_place_one(const closest_rows *rows, int side, int row, const closest_shape *s,
                              wide m[9], wide position[3], wide offset[3])
{
  GLOBAL const real *pose = ROW(side ? rows->pose2 : rows->pose1, row, rows->width);
  GLOBAL const real *own = s->record + SHAPE_ROTATION, *middle = s->record + SHAPE_OFFSET;
  wide x[7] = {(wide)0, (wide)0, (wide)0, (wide)0, (wide)0, (wide)0, (wide)0};
  for (int i = 0; i < rows->width; ++i) {
    x[i] = (wide)pose[i];
  }
  const frame_w f = pose_frame_w(x, rows->width);
  position[0] = f.t.x;
  position[1] = f.t.y;
  position[2] = f.t.z;
  for (int i = 0; i < 3; ++i) {
    const wide *row_i = f.m + 3 * i;
    offset[i] = row_i[0] * middle[0] + row_i[1] * middle[1] + row_i[2] * middle[2];
    for (int j = 0; j < 3; ++j) {
      m[3 * i + j] = s->placing & SHAPE_TURNED
                       ? row_i[0] * own[j] + row_i[1] * own[3 + j] + row_i[2] * own[6 + j]
                       : row_i[j];
    }
  }
}

static void closest_place_row(closest_spot *p, const closest_rows *rows,
                              const closest_shape shapes[2], int row)
{
  wide m2[9], position[2][3], offset[2][3];
  closest_place_one(rows, 0, row, &shapes[0], p->m, position[0], offset[0]);
  closest_place_one(rows, 1, row, &shapes[1], m2, position[1], offset[1]);
  for (int i = 0; i < 3; ++i) {
    p->t[i] = (wide)0;
    for (int j = 0; j < 3; ++j) {
      p->r[3 * i + j] = p->m[i] * m2[j] + p->m[3 + i] * m2[3 + j] + p->m[6 + i] * m2[6 + j];
      p->t[i] +=
        p->m[3 * j + i] * ((position[1][j] - position[0][j]) + (offset[1][j] - offset[0][j]));
    }
    p->at[i] = position[0][i] + offset[0][i];
  }
  p->radius[0] = shapes[0].record[SHAPE_RADIUS];
  p->radius[1] = shapes[1].record[SHAPE_RADIUS];
  p->spans = (wide)shapes[0].record[SHAPE_SPAN] + shapes[1].record[SHAPE_SPAN];
}

// ---- more functions for blocks ----

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
