// Conversion of motions to the poses' numbers: steps, and the blocks of a Jacobian, only on plain
// numbers.

// Writes the translation and rotation of a pose's body by each of the pose's numbers, along the
// axes in `turn`. The adjoint's results for unit wrenches along these axes are the columns.
static void write_steps(const wide x[7], int width, const frame_w *turn, GLOBAL real *to)
{
  const vec3_w none = make_w(R(0.0), R(0.0), R(0.0));
  for (int k = 0; k < MOTIONS; ++k) {
    const vec3_w along = turn ? row_of(turn, k % 3) : axis_of(k % 3);
    wide out[7];
    pose_adjoint_w(x, width, k < 3 ? along : none, k < 3 ? none : along, out);
    for (int i = 0; i < width; ++i) {
      to[i * MOTIONS + k] = gradient_part(out[i], 1);
    }
  }
}

// One work-item computes the data with which the blocks of a Jacobian are converted from motions to
// the numbers of one pair of poses: steps (count, STEPS_REALS).
KERNEL void motion_steps(GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int count,
                         GLOBAL real *steps)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  pose_pair p;
  read_pair(ROW(pose1, pose, width), ROW(pose2, pose, width), width, &p);
  GLOBAL real *row = ROW(steps, pose, STEPS_REALS);
  for (int k = 0; k < 9; ++k) {
    row[STEPS_ROTATION + k] = (real)p.frame1.m[k];
  }
  row[STEPS_ORIGIN] = (real)p.to1.t.x;
  row[STEPS_ORIGIN + 1] = (real)p.to1.t.y;
  row[STEPS_ORIGIN + 2] = (real)p.to1.t.z;
  write_steps(p.x1, width, (const frame_w *)0, row + STEPS_1);
  write_steps(p.x2, width, &p.to1, row + STEPS_2);
}

static vec3_w read_wide3(GLOBAL const real *from)
{
  return make_w((wide)from[0], (wide)from[1], (wide)from[2]);
}

// Writes a column of a block, whose derivatives are rotated from body 1's axes to the world's.
// Products that overflow with opposite signs count as 0.
static void write_block_column(const wide column[BLOCK_ROWS], GLOBAL const real *rotation,
                               int columns, GLOBAL real *to)
{
  for (int k = 0; k < BLOCK_ROWS; ++k) {
    wide x = column[k];
    if (k != VALUE_D && k != VALUE_ACTIVITY) {
      const int base = k < VALUE_N ? VALUE_P : VALUE_N;
      GLOBAL const real *row = rotation + 3 * (k - base);
      x = row[0] * column[base] + row[1] * column[base + 1] + row[2] * column[base + 2];
    }
    to[k * columns] = gradient_part(x == x ? x : R(0.0), 1);
  }
}

// One work-item computes the Jacobian's block of one of `count` entries of a list, starting at
// `first`: blocks (count, BLOCK_ROWS, 2 width). rows (count, 1 + MOTIONS, COMPACT_REALS) has the
// entries' p (3), d, n (3) and activity and their derivatives along all motions. steps has the
// motions that the poses' numbers cause. If a number moves body 1, an entry moves with body 1 and
// against body 2's motion.
KERNEL void jacobian_blocks(GLOBAL const int *list, int first, int count, GLOBAL const real *rows,
                            GLOBAL const real *steps, int width, GLOBAL real *blocks)
{
  const int i = (int)get_global_id(0), columns = 2 * width;
  if (i >= count) {
    return;
  }
  GLOBAL const real *row = rows + (size_t)i * ((1 + MOTIONS) * COMPACT_REALS);
  GLOBAL const real *step = ROW(steps, ROW(list, (size_t)first + i, COMPACT_INTS)[0], STEPS_REALS);
  GLOBAL real *to = ROW(blocks, i, BLOCK_ROWS * columns);
  const vec3_w origin = read_wide3(step + STEPS_ORIGIN), p = read_wide3(row + VALUE_P);
  const vec3_w n = read_wide3(row + VALUE_N);
  for (int column = 0; column < columns; ++column) {
    const int own = column < width;
    GLOBAL const real *by =
      step + (own ? STEPS_1 + column * MOTIONS : STEPS_2 + (column - width) * MOTIONS);
    const vec3_w turn = read_wide3(by + 3);
    vec3_w shift = read_wide3(by);
    wide sums[BLOCK_ROWS] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
    if (own) {
      const vec3_w moved = add3_w(shift, cross3_w(turn, p)), turned = cross3_w(turn, n);
      sums[VALUE_P] = moved.x;
      sums[VALUE_P + 1] = moved.y;
      sums[VALUE_P + 2] = moved.z;
      sums[VALUE_N] = turned.x;
      sums[VALUE_N + 1] = turned.y;
      sums[VALUE_N + 2] = turned.z;
      shift = add3_w(shift, cross3_w(turn, origin));
    }
    const wide sign = own ? R(-1.0) : R(1.0);
    const wide motion[MOTIONS] = {sign * shift.x, sign * shift.y, sign * shift.z,
                                  sign * turn.x,  sign * turn.y,  sign * turn.z};
    for (int k = 0; k < MOTIONS; ++k) {
      GLOBAL const real *slope = row + (1 + k) * COMPACT_REALS;
      for (int j = 0; j < BLOCK_ROWS; ++j) {
        sums[j] += motion[k] * (wide)slope[j];
      }
    }
    write_block_column(sums, step + STEPS_ROTATION, columns, to + column);
  }
}
