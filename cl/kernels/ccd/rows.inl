// The loop over rows of queries of a kind. A lane that is done takes the next row, so that a slow
// row does not hold up the others. The file is included once for each kind of features and of
// numbers.

// Loads a row into a lane. In doubled numbers a row continues at the time that plain numbers
// reached, with the same r.
static void CN(ccd_take)(const ccd_rows *rows, int row, FN(ccd_lanes) *s, int l)
{
  enum { NUMBERS = 3 * (CCD_FIRST + CCD_SECOND) };
  FN(ccd_begin)(s, l);
  for (int e = 0; e < 2; ++e) {
    for (int i = 0; i < NUMBERS; ++i) {
      s->x[0][e][i][l] = ROW(rows->x[e], row, NUMBERS)[i];
#ifdef NUM_DOUBLED
      s->x[1][e][i][l] = rows->lows ? ROW(rows->low[e], row, NUMBERS)[i] : R(0.0);
#endif
    }
  }
  for (int i = 0; i < CCD_SETTINGS; ++i) {
    s->at[CCD_AT_SETTINGS + i][l] = ccd_setting(rows, i, row);
  }
  if (rows->lows) { // plain numbers omit the lower parts, and doubled ones round their differences
    s->at[CCD_AT_SETTINGS + CCD_RELATIVE_ERROR][l] += CCD_STAGE ? 2 * CCD_U * CCD_U : CCD_U;
#ifndef NUM_DOUBLED
    // a lower part that is too large for its number, or NaN, is invalid
    for (int i = 0; i < 2 * NUMBERS; ++i) {
      const real low = real_abs(ROW(rows->low[i / NUMBERS], row, NUMBERS)[i % NUMBERS]);
      const real most =
        real_abs(ROW(rows->x[i / NUMBERS], row, NUMBERS)[i % NUMBERS]) * (CCD_U * R(1.0001)) +
        REAL_TINY;
      s->at[CCD_AT_SETTINGS + CCD_KEEP][l] = low <= most ? s->at[CCD_AT_SETTINGS + CCD_KEEP][l]
                                                         : R(-1.0);
    }
#endif
  }
#ifdef NUM_DOUBLED
  s->at[CCD_AT_T][l] = rows->toi[row];
  s->at[CCD_AT_D0][l] = ccd_setting(rows, CCD_KEEP, row) > R(0.0) ? rows->d0[row] : R(-1.0);
#endif
}

// Writes the result of a lane's row. `certain`: its boxes have shown that it is free. `plain`: the
// row is not examined again.
static void CN(ccd_leave)(const ccd_rows *rows, int row, FN(ccd_lanes) *s, int l, int certain,
                          int plain)
{
  const real toi = FN(ccd_toi)(s, l), reach = s->at[CCD_AT_REACH][l] - s->at[CCD_AT_R][l];
  int status = certain ? CCD_FREE : (int)s->at[CCD_AT_OUTCOME][l];
  if (status == CCD_BAD_INPUT) {
    ccd_write_bad(rows, row);
    return;
  }
  status = status < 0 ? CCD_LIMIT : status;
  status = status != CCD_FREE && toi == R(0.0) && ccd_is_inside(s->at, l) ? CCD_WITHIN : status;
#ifdef NUM_DOUBLED
  (void)plain;
  (void)reach;
#else
  const int exact = s->at[CCD_AT_SETTINGS + CCD_ERROR][l] == R(0.0);
  status |= status != CCD_FREE && !plain && exact && reach < 100 * CCD_U ? CCD_UNDECIDED : 0;
  rows->rounds[2 * (size_t)row + 1] = 0;
#endif
  rows->status[row] = (unsigned char)status;
  rows->toi[row] = certain ? ccd_setting(rows, CCD_END, row) : toi;
  if (s->at[CCD_AT_D0][l] >= R(0.0)) {
    rows->d0[row] = ccd_d0(s->at, l);
  }
  ccd_write_direction(ROW(rows->n, row, 3), s->at[CCD_AT_N][l], s->at[CCD_AT_N + 1][l],
                      s->at[CCD_AT_N + 2][l]);
  rows->rounds[2 * (size_t)row + CCD_STAGE] = (int)s->at[CCD_AT_ROUNDS][l];
}

// Advances `count` rows until all are decided. A row that is listed as ~row is certain to be free.
static void CN(ccd_run)(const ccd_rows *rows, const int *list, int count, int additive, int most,
                        int plain)
{
  FN(ccd_lanes) s;
  int row[LANES], next = 0, busy = 0;
  FN(ccd_idle)(&s);
  for (int l = 0; l < LANES; ++l) {
    row[l] = -1;
  }
  do {
    int comes = 0;
    for (int l = 0; l < LANES && next < count; ++l) {
      if (row[l] < 0) {
        CN(ccd_take)(rows, list[next] < 0 ? ~list[next] : list[next], &s, l);
        row[l] = next++;
        comes = 1;
        ++busy;
      }
    }
    if (comes) {
      CN(ccd_prepare)(&s);
    }
    if (busy) {
      CN(ccd_step)(&s, additive, 1);
    }
    for (int l = 0; l < LANES; ++l) {
      if (row[l] >= 0 &&
          (s.at[CCD_AT_OUTCOME][l] >= R(0.0) || s.at[CCD_AT_ROUNDS][l] >= (real)most)) {
        const int at = list[row[l]];
        CN(ccd_leave)(rows, at < 0 ? ~at : at, &s, l, at < 0, plain);
        row[l] = -1;
        --busy;
      }
    }
  } while (busy || next < count);
}

#ifdef NUM_DOUBLED
// Handles the rows of a segment of `each` rows that plain numbers left undecided.
static void CN(ccd_decide)(const ccd_rows *rows, int segment, int each, int most)
{
  int list[CCD_SEGMENT_AGAIN(LANES)], count = 0;
  for (int i = segment * each; i < MIN_INT((segment + 1) * each, rows->count); ++i) {
    if (rows->status[i] & CCD_UNDECIDED) {
      list[count++] = i;
    }
  }
  if (count) {
    CN(ccd_run)(rows, list, count, 0, most, 0);
  }
}
#else
// Tests the features' boxes of LANES rows. If an axis separates the boxes at both ends, on the same
// side, it separates the features throughout. Returns bits of the lanes for which this is certain.
static int CN(ccd_boxes)(const ccd_rows *rows, int first)
{
  const int last = rows->count - 1, width = 3 * (CCD_FIRST + CCD_SECOND);
  lane apart = lane_lit(R(-1.0)), size = lane_lit(R(0.0)), far = lane_lit(R(0.0)),
       settings[CCD_SETTINGS];
  real x[2][3 * (CCD_FIRST + CCD_SECOND)][LANES];
  for (int l = 0; l < LANES; ++l) {
    for (int i = 0; i < width; ++i) {
      x[0][i][l] = ROW(rows->x[0], MIN_INT(first + l, last), width)[i];
      x[1][i][l] = ROW(rows->x[1], MIN_INT(first + l, last), width)[i];
    }
  }
  for (int i = 0; i < CCD_SETTINGS; ++i) {
    settings[i] = rows->given >> i & 1 ? gather_part(rows->own[i], first, last, 1)
                                       : lane_lit(rows->all[i]);
  }
  for (int k = 0; k < 3; ++k) {
    lane up = lane_lit(REAL_MOST), down = lane_lit(REAL_MOST), begun = lane_lit(R(0.0));
    for (int e = 0; e < 2; ++e) {
      lane low[2] = {lane_lit(REAL_MOST), lane_lit(REAL_MOST)},
           high[2] = {lane_lit(-REAL_MOST), lane_lit(-REAL_MOST)};
      for (int i = 0; i < CCD_FIRST + CCD_SECOND; ++i) {
        const int side = i >= CCD_FIRST;
        const lane c = lane_load(x[e][3 * i + k]);
        low[side] = lane_min(low[side], c);
        high[side] = lane_max(high[side], c);
        size += lane_abs(c);
        begun = e == 0 && i == 0 ? c : begun;
        far += e == 0 && i == CCD_FIRST ? lane_abs(begun - c) : lane_lit(R(0.0));
      }
      up = lane_min(up, low[0] - high[1]);
      down = lane_min(down, low[1] - high[0]);
    }
    apart = lane_max(apart, lane_max(up, down));
  }
  // The error of a coordinate is error + relative_error |c|, where |c| is below `size`. Rows with
  // lower parts are not tested here.
  const lane off = settings[CCD_ERROR] * R(2.0) + settings[CCD_RELATIVE_ERROR] * size * R(2.0);
  // The distance to retain is a share of the distance at time 0, which is at most `far`, the sum of
  // the components of the difference of two vertices.
  const lane keep = settings[CCD_KEEP], kept = keep * (far * (R(1.0) + 8 * CCD_U) + off * R(3.0));
  const lane touching = (settings[CCD_SEPARATION] + kept + off) * (R(1.0) + 64 * CCD_U) + CCD_TINY;
  const ilane in_order =
    (keep >= lane_lit(R(0.0))) & (keep < lane_lit(R(1.0))) &
    (settings[CCD_TOLERANCE] >= lane_lit(R(0.0))) & (settings[CCD_SEPARATION] >= lane_lit(R(0.0))) &
    (settings[CCD_ERROR] >= lane_lit(R(0.0))) & (settings[CCD_RELATIVE_ERROR] >= lane_lit(R(0.0))) &
    (settings[CCD_END] >= lane_lit(R(0.0))) & (settings[CCD_END] <= lane_lit(R(1.0))) &
    (size < lane_lit(REAL_BIG));
  return lane_bits(in_order & (apart * (R(1.0) - 8 * CCD_U) > touching));
}

// Handles a segment of rows. If the distance at time 0 and the direction are requested
// (`detailed`), or rounds are compared (`additive`), boxes do not end any row.
static void CN(ccd_segment)(const ccd_rows *rows, int segment, int detailed, int additive, int most,
                            int plain)
{
  enum { ROWS = CCD_SEGMENT(LANES) };
  int list[ROWS], count = 0;
  for (int first = segment * ROWS; first < MIN_INT((segment + 1) * ROWS, rows->count);
       first += LANES) {
    const int free = additive || rows->lows ? 0 : CN(ccd_boxes)(rows, first);
    for (int i = 0; i < MIN_INT(LANES, rows->count - first); ++i) {
      const int row = first + i, certain = free >> i & 1;
      if (certain && !detailed) {
        rows->status[row] = CCD_FREE;
        rows->toi[row] = ccd_setting(rows, CCD_END, row);
        rows->rounds[2 * (size_t)row] = 1;
        rows->rounds[2 * (size_t)row + 1] = 0;
      } else {
        list[count++] = certain ? ~row : row;
      }
    }
  }
  CN(ccd_run)(rows, list, count, additive, most, plain);
}
#endif
