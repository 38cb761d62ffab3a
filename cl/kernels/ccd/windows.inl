// Pairs of features of two meshes, LANES at a time. Each pair is tested in windows of its time,
// with a query of straight motion in each. The file is included for points against triangles and
// for edges, on plain numbers.

// A lane's pair, and its current window.
typedef struct CN(ccd_windows) {
  int pair[LANES][2]; // features of meshes 1 and 2, as indices; -1: none
  int turns[LANES];
  // off: upper bound of the deviation from the chord
  real t[LANES], w[LANES], until[LANES], off[LANES], r[LANES], bend[LANES];
} CN(ccd_windows);

// Writes the vertices of the pair in the query's order, as indices, and the mesh of each.
static void CN(ccd_corners_in_order)(const ccd_row *row, const int pair[2], int place[4],
                                     int mesh[4])
{
  const int head = row->kind == CCD_TRIANGLE_VERTEX; // the query begins with the vertex
  int corner[3];
  for (int part = 0, at = 0; part < 2; ++part) {
    const int which = part ? !head : head;
    const int count =
      ccd_corners_of(&row->side[which], ccd_corners_on(row->kind, which), pair[which], corner);
    for (int i = 0; i < count; ++i, ++at) {
      place[at] = corner[i];
      mesh[at] = which;
    }
  }
}

// Writes the positions of the pair's vertices at time t, which is an end of a window, into lane l.
// Positions at times 0 and 1 are already stored.
static void CN(ccd_put)(const ccd_row *row, const int place[4], const int mesh[4], real t,
                        FN(ccd_lanes) *s, int l, int end)
{
  const int ready = t == R(0.0) || t == R(1.0);
  ccd_moment at[2];
  for (int side = 0; side < 2 && !ready; ++side) {
    at[side] = ccd_moment_at(&row->side[side].path, (wide)t);
  }
  for (int i = 0; i < CCD_FIRST + CCD_SECOND; ++i) {
    const ccd_side *from = &row->side[mesh[i]];
    if (ready) {
      const int at_end = t == R(0.0) ? CCD_SPOT_FROM : CCD_SPOT_TO;
      GLOBAL const real *spot = ROW(from->spots, place[i], CCD_SPOT_REALS) + at_end;
      for (int k = 0; k < 3; ++k) {
        s->x[0][end][3 * i + k][l] = spot[k];
      }
    } else {
      wide x[3], y[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = from->numbers[CCD_MESH_POINTS + 3 * place[i] + k];
      }
      ccd_point(&from->path, &at[mesh[i]], x, y);
      for (int k = 0; k < 3; ++k) {
        s->x[0][end][3 * i + k][l] = (real)y[k];
      }
    }
  }
}

// Starts the query of a lane's current window. Nothing after the first touch so far matters.
// Straight paths are queried over the whole motion up to there.
static void CN(ccd_open)(const ccd_row *row, CN(ccd_windows) * w, FN(ccd_lanes) *s, int l)
{
  int place[4], mesh[4];
  const int arc = row->side[0].path.arc, measures = w->r[l] < R(0.0);
  const real last = real_min(row->first.toi * (R(1.0) + 64 * CCD_U), R(1.0)),
             by_window = w->t[l] + w->w[l];
  w->until[l] = arc ? real_min(by_window, last) : R(1.0);
  const real length = w->until[l] - w->t[l];
  real(*at)[LANES] = s->at + CCD_AT_SETTINGS;
  w->off[l] = w->bend[l] * length * length * (R(1.0) + 8 * CCD_U);
  FN(ccd_begin)(s, l);
  CN(ccd_corners_in_order)(row, w->pair[l], place, mesh);
  CN(ccd_put)(row, place, mesh, w->t[l], s, l, 0);
  CN(ccd_put)(row, place, mesh, w->until[l], s, l, 1);
  at[CCD_SEPARATION][l] = measures ? row->separation : (w->r[l] + w->off[l]) * (R(1.0) + 8 * CCD_U);
  at[CCD_KEEP][l] = measures ? row->keep : R(0.0);
  at[CCD_TOLERANCE][l] = R(0.0);
  at[CCD_END][l] = arc ? R(1.0) : last;
  at[CCD_ERROR][l] = row->error;
  at[CCD_RELATIVE_ERROR][l] = R(0.0);
}

// Once the distance at time 0 is known, sets r from it, for the current window and all others.
static void CN(ccd_measure)(const ccd_row *row, CN(ccd_windows) * w, FN(ccd_lanes) *s, int l)
{
  const real above = ccd_d0(s->at, l) - row->separation * (R(1.0) + 16 * CCD_U);
  w->r[l] =
    (row->separation + (above > R(0.0) ? row->keep * above : R(0.0))) * (R(1.0) + 16 * CCD_U);
  const real asked = (w->r[l] + w->off[l]) * (R(1.0) + 8 * CCD_U) * s->at[CCD_AT_DOWN][l] *
                     s->at[CCD_AT_DOWN + 1][l];
  s->at[CCD_AT_SETTINGS + CCD_KEEP][l] = R(0.0);
  s->at[CCD_AT_SEPARATION][l] = asked;
  s->at[CCD_AT_R][l] = s->at[CCD_AT_REACH][l] = asked * (R(1.0) + 16 * CCD_U);
}

static void CN(ccd_note)(ccd_row *row, const CN(ccd_windows) * w, FN(ccd_lanes) *s, int l,
                         int status)
{
  ccd_first *f = &row->first;
  const int *pair = w->pair[l];
  const int is_before =
    row->kind < f->kind ||
    (row->kind == f->kind &&
     (pair[0] < f->feature[0] || (pair[0] == f->feature[0] && pair[1] < f->feature[1])));
  real t = w->t[l];
  if (row->exact && status == CCD_HIT && t <= f->toi) {
    const wide given[3] = {(wide)s->at[CCD_AT_N][l], (wide)s->at[CCD_AT_N + 1][l],
                           (wide)s->at[CCD_AT_N + 2][l]};
    // The certificate's allowance for the errors of coordinates remains between the features.
    t = ccd_exact_time(row->side, row->kind, pair, t, (wide)w->r[l] + 4 * (wide)row->error, given);
  }
  if (t < f->toi || (t == f->toi && (f->kind < 0 || is_before))) {
    const real sign = row->kind == CCD_TRIANGLE_VERTEX ? R(-1.0) : R(1.0);
    f->toi = t;
    f->status = status;
    f->kind = row->kind;
    f->feature[0] = pair[0];
    f->feature[1] = pair[1];
    for (int k = 0; k < 3; ++k) {
      f->n[k] = sign * s->at[CCD_AT_N + k][l];
    }
  }
}

// Handles the result of a lane's query. Returns whether another window follows.
static int CN(ccd_go_on)(ccd_row *row, CN(ccd_windows) * w, FN(ccd_lanes) *s, int l)
{
  const int is_free = s->at[CCD_AT_OUTCOME][l] == (real)CCD_FREE, arc = row->side[0].path.arc;
  const real at = s->at[CCD_AT_T][l], before = w->t[l];
  // Differences overflow: nothing is certified from this time on.
  if (s->at[CCD_AT_OUTCOME][l] == (real)CCD_BAD_INPUT) {
    CN(ccd_note)(row, w, s, l, w->t[l] == R(0.0) ? CCD_WITHIN : CCD_HIT);
    return 0;
  }
  if (is_free) {
    w->t[l] = w->until[l];
    w->w[l] = real_min(2 * w->w[l], R(1.0));
    const int is_open = arc && w->t[l] < R(1.0) && w->t[l] < row->first.toi;
    const int is_used_up = is_open && ++w->turns[l] >= CCD_WINDOWS_MOST;
    if (is_used_up) {
      CN(ccd_note)(row, w, s, l, CCD_LIMIT);
    }
    return is_open && !is_used_up;
  }
  w->t[l] = real_max(before, (before + at * (w->until[l] - before)) * (R(1.0) - 8 * CCD_U));
  w->w[l] = w->w[l] * R(0.125);
  if (!arc || w->off[l] <= row->tolerance) {
    const int is_within = w->t[l] == R(0.0) && ccd_is_inside(s->at, l);
    CN(ccd_note)(row, w, s, l, is_within ? CCD_WITHIN : CCD_HIT);
    return 0;
  }
  if (++w->turns[l] >= CCD_WINDOWS_MOST) {
    CN(ccd_note)(row, w, s, l, CCD_LIMIT);
    return 0;
  }
  return w->t[l] <= row->first.toi;
}

// Loads the next pair of the queue into a lane, and returns whether there was one.
static int CN(ccd_pull)(ccd_row *row, CN(ccd_windows) * w, FN(ccd_lanes) *s, int l, int *next)
{
  if (*next < row->waits) {
    real bend = R(0.0);
    for (int side = 0; side < 2; ++side) {
      const int at = row->queue[2 * *next + side], corners = ccd_corners_on(row->kind, side);
      int ends[3];
      real most = R(0.0);
      ccd_corners_of(&row->side[side], corners, at, ends);
      for (int i = 0; i < corners; ++i) {
        most = real_max(most, ROW(row->side[side].spots, ends[i], CCD_SPOT_REALS)[CCD_SPOT_BEND]);
      }
      w->pair[l][side] = at;
      bend += most;
    }
    ++*next;
    w->turns[l] = 0;
    w->t[l] = R(0.0);
    w->w[l] = R(1.0);
    w->bend[l] = bend * (R(1.0) + 4 * CCD_U);
    w->r[l] = row->keep > R(0.0) ? R(-1.0) : row->separation;
    CN(ccd_open)(row, w, s, l);
    return 1;
  }
  w->pair[l][0] = -1;
  return 0;
}

// Empties the queue.
static void CN(ccd_flush)(ccd_row *row)
{
  FN(ccd_lanes) s;
  CN(ccd_windows) w;
  int next = 0, busy = 0;
  FN(ccd_idle)(&s);
  for (int l = 0; l < LANES; ++l) {
    busy += CN(ccd_pull)(row, &w, &s, l, &next);
  }
  while (busy) {
    CN(ccd_prepare)(&s);
    CN(ccd_step)(&s, 0, 0);
    for (int l = 0; l < LANES; ++l) {
      if (w.pair[l][0] < 0) {
        continue;
      }
      if (w.r[l] < R(0.0)) {
        CN(ccd_measure)(row, &w, &s, l);
      } else if (s.at[CCD_AT_OUTCOME][l] >= R(0.0) || s.at[CCD_AT_ROUNDS][l] >= (real)row->most) {
        if (CN(ccd_go_on)(row, &w, &s, l)) {
          CN(ccd_open)(row, &w, &s, l);
        } else {
          busy -= !CN(ccd_pull)(row, &w, &s, l, &next);
        }
      }
    }
  }
  row->waits = 0;
}
