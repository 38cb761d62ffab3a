// Meshes that penetrate each other at time 0: an edge of one passes through the interior of a
// triangle of the other, even if no vertex and no other edge is near. Queries detect crossings near
// the triangle's sides and near the edge's ends.

// Cuts a segment's part down to where a linear function is at least 0. f is its value at the
// segment's begin, g at its end.
static void ccd_cut(wide f, wide g, wide part[2])
{
  if (f < (wide)0 && g < (wide)0) {
    part[0] = (wide)2;
  } else if (f < (wide)0) {
    part[0] = wide_max(part[0], f / (f - g));
  } else if (g < (wide)0) {
    part[1] = wide_min(part[1], f / (f - g));
  }
}

// Cuts a segment's part down to what is in a triangle's plane, within rounding, and inside its
// sides. Returns 0 if nothing is left. Rounding may leave slightly too much.
static int ccd_cut_to_triangle(wide segment[2][3], wide corner[3][3], wide rounding, wide part[2])
{
  wide e[3], f[3], n[3], from[2][3], height[2];
  ccd_wide_sub(corner[1], corner[0], e);
  ccd_wide_sub(corner[2], corner[0], f);
  ccd_wide_cross(e, f, n);
  const wide length = wide_sqrt(ccd_wide_dot(n, n)), slack = rounding * length;
  if (!(length > (wide)0)) { // the triangle is only its edges, which other pairs test
    return 0;
  }
  for (int i = 0; i < 2; ++i) {
    ccd_wide_sub(segment[i], corner[0], from[i]);
    height[i] = ccd_wide_dot(n, from[i]);
  }
  ccd_cut(height[0] + slack, height[1] + slack, part);
  ccd_cut(slack - height[0], slack - height[1], part);
  for (int k = 0; k < 3 && part[0] <= part[1]; ++k) {
    wide side[3], in[3];
    ccd_wide_sub(corner[(k + 1) % 3], corner[k], side);
    ccd_wide_cross(n, side, in);
    for (int i = 0; i < 2; ++i) {
      ccd_wide_sub(segment[i], corner[k], from[i]);
    }
    ccd_cut(ccd_wide_dot(in, from[0]), ccd_wide_dot(in, from[1]), part);
  }
  return part[0] <= part[1];
}

// The positions of vertices at time 0.
static void ccd_begin_of(const ccd_side *s, int count, const int *place, wide (*to)[3])
{
  for (int i = 0; i < count; ++i) {
    GLOBAL const real *spot = ROW(s->spots, place[i], CCD_SPOT_REALS) + CCD_SPOT_FROM;
    for (int k = 0; k < 3; ++k) {
      to[i][k] = (wide)spot[k];
    }
  }
}

// Whether the edge of `pair` passes through the triangle at time 0; the row's kind defines which is
// which. Writes the place. A cut only counts if it is at the triangle within rounding, because for
// slivers the cut can be inaccurate.
static int ccd_pierces(const ccd_row *row, int kind, const int pair[2], wide at[3])
{
  const int head = kind == CCD_TRIANGLE_EDGE; // the side with the edge
  const wide rounding = (wide)row->error;
  wide segment[2][3], part[2] = {(wide)0, (wide)1};
  wide corner[3][3], none[3] = {(wide)0, (wide)0, (wide)0};
  int ends[3], corners[3];
  ccd_corners_of(&row->side[head], 2, pair[head], ends);
  ccd_corners_of(&row->side[!head], 3, pair[!head], corners);
  ccd_begin_of(&row->side[head], 2, ends, segment);
  ccd_begin_of(&row->side[!head], 3, corners, corner);
  if (!ccd_cut_to_triangle(segment, corner, rounding, part)) {
    return 0;
  }
  const wide middle = (part[0] + part[1]) * (wide)0.5;
  ccd_corners c;
  c.first = 1;
  c.second = 3;
  c.size = (wide)0;
  for (int k = 0; k < 3; ++k) {
    c.x[0][k] = segment[0][k] + middle * (segment[1][k] - segment[0][k]);
    for (int i = 0; i < 3; ++i) {
      c.x[1 + i][k] = corner[i][k];
    }
  }
  const ccd_touch touch = ccd_touch_of(&c, none);
  for (int k = 0; k < 3; ++k) {
    at[k] = touch.p[1][k];
  }
  return touch.distance <= (wide)4 * rounding;
}

// Tests the queued pairs. A penetrating pair ends the row.
static void ccd_flush_pierced(ccd_row *row)
{
  ccd_first *f = &row->first;
  for (int i = 0; i < row->waits && f->status != CCD_WITHIN; ++i) {
    const int pair[2] = {row->queue[2 * i], row->queue[2 * i + 1]};
    wide at[3];
    if (ccd_pierces(row, row->kind, pair, at)) {
      f->toi = R(0.0);
      f->status = CCD_WITHIN;
      f->kind = row->kind;
      f->feature[0] = pair[0];
      f->feature[1] = pair[1];
      f->n[0] = f->n[1] = f->n[2] = R(0.0);
      row->listed = 0;
    }
  }
  row->waits = 0;
}

// Writes the position of the mesh's vertex that is farthest along a direction at time 0. Groups
// that end before the current maximum are skipped.
static void ccd_farthest(const ccd_side *s, const wide way[3], wide to[3])
{
  GLOBAL const real *points = s->numbers + CCD_MESH_POINTS;
  GLOBAL const real *ball = s->numbers + s->ints[CCD_MESH_VERTEX_BALLS];
  const wide *m = s->path.frame[0].m;
  real own[3], most = -REAL_MOST;
  int best = 0;
  for (int k = 0; k < 3; ++k) {
    own[k] = (real)(m[k] * way[0] + m[3 + k] * way[1] + m[6 + k] * way[2]);
  }
  for (int first = 0; first < ccd_vertices(s); first += CCD_GROUP, ball += CCD_BALL_REALS) {
    if (own[0] * ball[0] + own[1] * ball[1] + own[2] * ball[2] + ball[3] <= most) {
      continue;
    }
    for (int v = first; v < MIN_INT(first + CCD_GROUP, ccd_vertices(s)); ++v) {
      const real far =
        own[0] * points[3 * v] + own[1] * points[3 * v + 1] + own[2] * points[3 * v + 2];
      best = far > most ? v : best;
      most = real_max(most, far);
    }
  }
  const wide x[3] = {(wide)points[3 * best], (wide)points[3 * best + 1],
                     (wide)points[3 * best + 2]};
  ccd_move(&s->path.frame[0], x, to);
}

#define CCD_PLANES_MOST 12 // planes tried between two meshes

// Whether a plane is found that separates the meshes at time 0, so that their features need not be
// tested. The directions are those of Chung and Wang: each is the last one, mirrored if its
// farthest vertices overlap.
static int ccd_are_apart(const ccd_row *row)
{
  wide way[3] = {(wide)0, (wide)0, (wide)0}, length;
  // from middle to middle of both boxes, which have their own axes
  for (int k = 0; k < 3; ++k) {
    const real *a = row->side[0].box, *b = row->side[1].box;
    const wide apart = (wide)(b[k] + b[6 + k] - a[k] - a[6 + k]);
    for (int i = 0; i < 3; ++i) {
      way[i] += apart * row->axes[k][i];
    }
  }
  length = ccd_wide_dot(way, way);
  for (int turn = 0; turn < CCD_PLANES_MOST && length > (wide)REAL_TINY; ++turn) {
    wide first[3], second[3], between[3], back[3];
    for (int k = 0; k < 3; ++k) {
      way[k] /= wide_sqrt(length);
      back[k] = -way[k];
    }
    ccd_farthest(&row->side[0], way, first);
    ccd_farthest(&row->side[1], back, second);
    ccd_wide_sub(second, first, between);
    const wide along = ccd_wide_dot(way, between), square = ccd_wide_dot(between, between);
    if (along > (wide)(16 * row->error)) {
      return 1;
    }
    for (int k = 0; k < 3 && square > (wide)REAL_TINY; ++k) {
      way[k] -= (wide)2 * along * between[k] / square;
    }
    length = ccd_wide_dot(way, way);
  }
  return 0;
}
